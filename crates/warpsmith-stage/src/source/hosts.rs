//! Names in host code that stand for numbers and types: constants of a function, and parameters of its template.
//!
//! `multiply<block_size><<<grid, threads>>>` says nothing unless one knows that `const int block_size = 32;` stands above it, and
//! `stencil<T, 5>` nothing unless some other function calls `run<float>(n)`.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind, Initializer, ItemKind, StmtKind, TranslationUnit};
use warpsmith_front::pp::Piece;
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::marks;
use super::shape::base_name;

/// What names of one function stand for, as text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    known: HashMap<String, String>,
    /// Parameters of its template of which nothing is known.
    unknown: Vec<String>,
}

impl Names {
    /// A text with all of them put in.
    pub fn put_in(&self, text: &str) -> String {
        let mut out = text.to_string();
        // Constants are made of constants; what goes in circles ends.
        for _ in 0..4 {
            let before = out.clone();
            out = self.once(&out);
            if out == before {
                break;
            }
        }
        out
    }

    fn once(&self, text: &str) -> String {
        let (mut out, mut done) = (String::new(), 0);
        for t in marks::tokens(text).iter().filter(|t| t.piece == Piece::Word) {
            if let Some(value) = self.known.get(&text[t.at.clone()]) {
                out.push_str(&text[done..t.at.start]);
                out.push_str(value);
                done = t.at.end;
            }
        }
        out.push_str(&text[done..]);
        out
    }

    /// A name in a text that stands for something unknown.
    pub fn unknown_in<'n>(&'n self, text: &str) -> Option<&'n str> {
        let tokens = marks::tokens(text);
        let word = |name: &&String| {
            tokens.iter().any(|t| t.piece == Piece::Word && text[t.at.clone()] == **name)
        };
        self.unknown.iter().find(word).map(String::as_str)
    }
}

/// Functions of a file that are no kernels, each with what its names stand for: once for every way in which its template is called.
pub fn each_function(
    unit: &TranslationUnit,
    sources: &SourceMap,
    see: &mut dyn FnMut(&ast::Block, &Names),
) {
    let functions = functions(&unit.items);
    for f in &functions {
        let Some(body) = &f.body else { continue };
        let mut known = HashMap::new();
        constants(body, sources, &mut known);
        let params: Vec<String> =
            f.template.iter().flat_map(|t| &t.params).filter_map(|p| p.name.clone()).collect();
        let calls = match params.is_empty() {
            true => vec![vec![]],
            false => calls(&functions, name_of(f), sources),
        };
        if calls.is_empty() {
            see(body, &Names { known: known.clone(), unknown: params.clone() });
        }
        for call in calls {
            let mut known = known.clone();
            known.extend(params.iter().cloned().zip(call.iter().cloned()));
            let unknown = params.iter().skip(call.len()).cloned().collect();
            see(body, &Names { known, unknown });
        }
    }
}

/// Functions that are no kernels, in namespaces, too, with a body or without.
pub fn functions(items: &[ast::Item]) -> Vec<&ast::FunctionDecl> {
    let mut all = vec![];
    for item in items {
        match &item.kind {
            ItemKind::Function(f) if !f.attrs.global => all.push(f),
            ItemKind::Namespace { items, .. } => all.extend(functions(items)),
            ItemKind::Struct(class) => methods(class, &mut all),
            _ => {}
        }
    }
    all
}

/// Those of a class and of the classes in it.
fn methods<'a>(class: &'a ast::StructDecl, all: &mut Vec<&'a ast::FunctionDecl>) {
    for member in class.members.iter().flatten() {
        match member {
            ast::Member::Method(f) => all.push(f),
            ast::Member::Struct(inner) => methods(inner, all),
            _ => {}
        }
    }
}

/// The name of a function, without that of its namespace; empty for operators.
pub fn name_of(f: &ast::FunctionDecl) -> &str {
    match &f.name {
        ast::FunctionName::Plain(path) => path.segments.last().map_or("", |s| s.name.as_str()),
        _ => "",
    }
}

/// Constants that a body declares, with their initialisers.
fn constants(block: &ast::Block, sources: &SourceMap, known: &mut HashMap<String, String>) {
    for s in &block.stmts {
        match &s.kind {
            StmtKind::Vars(vars) => {
                for d in &vars.declarators {
                    let fixed = vars.attrs.is_constexpr || d.ty.is_const;
                    if let (true, Some(Initializer::Expr(e))) = (fixed, &d.init) {
                        let text = sources.text(e.span);
                        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                        let text = if plain { text.to_string() } else { format!("({text})") };
                        known.insert(d.name.clone(), text);
                    }
                }
            }
            StmtKind::Block(b) => constants(b, sources, known),
            _ => {}
        }
    }
}

/// The template arguments of all calls of a function that name some, as they are written, each once.
fn calls(functions: &[&ast::FunctionDecl], name: &str, sources: &SourceMap) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![];
    for body in functions.iter().filter_map(|f| f.body.as_ref()) {
        walk::block(body, &mut |e| {
            let ExprKind::Call { callee, .. } = &*e.kind else { return };
            let text = sources.text(callee.span);
            if base_name(text) == name
                && let Some(arguments) = template_arguments(text)
                && !all.contains(&arguments)
            {
                all.push(arguments);
            }
        });
    }
    all
}

/// The arguments between the outermost angle brackets of `f<a, b>`.
pub fn template_arguments(text: &str) -> Option<Vec<String>> {
    let inside = text.split_once('<')?.1.trim_end().strip_suffix('>')?;
    let (mut depth, mut start, mut all) = (0i32, 0, vec![]);
    for (i, c) in inside.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(inside[start..i].trim().to_string());
                start = i + 1;
            }
            _ => {}
        }
    }
    all.push(inside[start..].trim().to_string());
    Some(all)
}
