//! Bodies of host functions, which say nothing of a kernel: left out of the texts that it is compiled from again and again.

use std::borrow::Cow;
use std::collections::HashSet;

use warpsmith_front::ast::{self, FunctionName, ItemKind, TranslationUnit};
use warpsmith_ir::{FileId, SourceMap};

use super::scope;

/// Functions of the main file with their bodies, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostBodies {
    functions: Vec<Function>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    /// From its name to the end of its body: with fewer words it might be taken for another one.
    text: String,
    /// Where its body begins in that.
    body: usize,
}

impl HostBodies {
    /// The host functions of a file that no kernel can need.
    pub fn of(unit: &TranslationUnit, sources: &SourceMap) -> HostBodies {
        let mut found = Found { sources, hosts: vec![], used: HashSet::new() };
        found.items(&unit.items);
        let Found { hosts, used, .. } = found;
        let unused = hosts.into_iter().filter(|(name, _)| !used.contains(name));
        HostBodies { functions: unused.map(|(_, f)| f).collect() }
    }

    /// A text in which blanks stand in the bodies: as long as it was, with all lines where they were. A body that was edited stays.
    pub fn left_out<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for f in &self.functions {
            let mut places = text.match_indices(f.text.as_str());
            let (Some((at, _)), None) = (places.next(), places.next()) else { continue };
            let (start, end) = (at + f.body + 1, at + f.text.len() - 1);
            let blank = |c: u8| if c == b'\n' { '\n' } else { ' ' };
            let blanks: String = text.as_bytes()[start..end].iter().map(|c| blank(*c)).collect();
            out.to_mut().replace_range(start..end, &blanks);
        }
        out
    }
}

struct Found<'a> {
    sources: &'a SourceMap,
    hosts: Vec<(String, Function)>,
    /// Words of everything else: a function that is named there may be called by a kernel.
    used: HashSet<String>,
}

impl Found<'_> {
    fn items(&mut self, items: &[ast::Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Namespace { items, .. } => self.items(items),
                ItemKind::Function(f) => match self.host(f) {
                    Some(found) => self.hosts.push(found),
                    None => self.used.extend(scope::names(self.sources.text(item.span))),
                },
                _ => self.used.extend(scope::names(self.sources.text(item.span))),
            }
        }
    }

    /// A function that runs on the host only, whose result does not depend on what is in its body, and that holds no directive.
    fn host(&self, f: &ast::FunctionDecl) -> Option<(String, Function)> {
        let a = &f.attrs;
        let body = f.body.as_ref()?.span?;
        let device = a.global || a.device || a.is_constexpr;
        let FunctionName::Plain(path) = &f.name else { return None };
        let [name] = path.segments.as_slice() else { return None };
        let main = body.file == FileId(0) && f.head_span.file == FileId(0);
        if device || f.ret.is_none() || !main || f.head_span.start >= body.start {
            return None;
        }
        let whole = warpsmith_ir::Span { start: f.head_span.start, ..body };
        let text = self.sources.text(whole).to_string();
        let body = (body.start - f.head_span.start) as usize;
        let whole = text.get(body..)?.starts_with('{') && text.ends_with('}');
        let plain = !text.contains('#') && text.len() > body + 1;
        (whole && plain).then(|| (name.name.clone(), Function { text, body }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Compiler, Settings};

    fn left_out(text: &str) -> String {
        let compiler = Compiler::new(Settings { path: "a.cu".into(), ..Settings::default() });
        let mut sources = SourceMap::new();
        let unit = compiler.parse(text, &[], &mut sources).expect("it is parsed");
        let bodies = HostBodies::of(&unit, &sources);
        let out = bodies.left_out(text).into_owned();
        assert_eq!(out.len(), text.len());
        out
    }

    #[test]
    fn bodies_of_the_host_are_blank() {
        let kernel = "__global__ void k(int *a) { a[0] = 1; }\n";
        let text = format!("{kernel}int main() {{\n  return 0;\n}}\n");
        let blank = format!("{kernel}int main() {{\n           \n}}\n");
        assert_eq!(left_out(&text), blank);
    }

    #[test]
    fn what_a_kernel_may_need_stays() {
        for text in [
            "constexpr int two() { return 2; }\n__global__ void k(int *a) { a[0] = two(); }\n",
            "int two() { return 2; }\n__global__ void k(int *a) { a[0] = two(); }\n",
            "__global__ void k(int *a) { a[0] = 1; }\nint main() {\n#define N 2\n  return N;\n}\n",
            "__device__ int f() { return 2; }\n__global__ void k(int *a) { a[0] = f(); }\n",
        ] {
            assert_eq!(left_out(text), text);
        }
    }

    #[test]
    fn a_body_that_was_edited_stays() {
        let text = "__global__ void k(int *a) { a[0] = 1; }\nint main() { return 0; }\n";
        let compiler = Compiler::new(Settings { path: "a.cu".into(), ..Settings::default() });
        let mut sources = SourceMap::new();
        let unit = compiler.parse(text, &[], &mut sources).expect("it is parsed");
        let edited = text.replace("return 0", "return 1");
        assert_eq!(HostBodies::of(&unit, &sources).left_out(&edited), edited);
    }
}
