//! The part of a user's file that runs on a device: what a run-time compiler gets.
//!
//! Functions of the host become blanks, and so do headers that only they need; every other byte stays where it is, so that lines
//! in messages are those of the file.

use warpsmith_front::ast::{self, ItemKind};
use warpsmith_ir::{Diagnostic, SourceMap};
use warpsmith_stage::program::Compiler;
use warpsmith_stage::source::marks;

/// Headers that device code may need; what else stands between `<` and `>` is for the host.
const NEEDED: [&str; 9] = [
    "cuda_fp16.h",
    "cuda_bf16.h",
    "cuda_fp8.h",
    "cooperative_groups.h",
    "mma.h",
    "math.h",
    "cmath",
    "cfloat",
    "climits",
];

/// Leaves out what is for the host.
///
/// # Errors
/// The parser's messages.
pub fn device_text(compiler: &Compiler, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut sources = SourceMap::new();
    let unit = compiler.parse(text, &[], &mut sources)?;
    let mut bytes = text.as_bytes().to_vec();
    let tokens = marks::tokens(text);
    blank_hosts(&unit.items, &tokens, &mut bytes);
    let text = String::from_utf8(bytes).unwrap_or_default();
    let lines = text.lines().map(|line| if is_for_hosts(line) { "" } else { line });
    Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
}

fn blank_hosts(items: &[ast::Item], tokens: &[marks::Tok], bytes: &mut [u8]) {
    for item in items.iter().filter(|i| i.span.file.0 == 0) {
        match &item.kind {
            ItemKind::Namespace { items, .. } => blank_hosts(items, tokens, bytes),
            ItemKind::Function(f) if !f.attrs.global && !f.attrs.device => {
                let end = item.span.end as usize;
                let start = beginning(tokens, bytes, item.span.start as usize);
                for t in tokens.iter().filter(|t| !t.directive) {
                    if start <= t.at.start && t.at.end <= end {
                        bytes[t.at.clone()]
                            .iter_mut()
                            .filter(|b| **b != b'\n')
                            .for_each(|b| *b = b' ');
                    }
                }
            }
            _ => {}
        }
    }
}

/// Where a function begins, with what stands before its type: `static`, `template <…>`.
fn beginning(tokens: &[marks::Tok], bytes: &[u8], at: usize) -> usize {
    let ends = |t: &&marks::Tok| {
        t.at.end <= at && (t.directive || matches!(&bytes[t.at.clone()], b";" | b"}" | b"{"))
    };
    tokens.iter().rfind(ends).map_or(0, |t| t.at.end)
}

fn is_for_hosts(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("using namespace std") {
        return true;
    }
    let Some(rest) = line.strip_prefix('#').map(str::trim_start) else { return false };
    let Some(name) = rest.strip_prefix("include").map(str::trim_start) else { return false };
    let Some(name) = name.strip_prefix('<').and_then(|n| n.split_once('>')) else { return false };
    !NEEDED.contains(&name.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_stage::program::Settings;

    #[test]
    fn what_is_for_the_host_becomes_blanks() {
        let text = "#include <vector>\n#include <cuda_fp16.h>\nusing namespace std;\n#define N 4\nstatic void fill(vector<float> &v) { v[0] = N; }\n\
                    namespace k {\n__device__ float half_of(float x) { return x / 2; }\ntemplate <class T> void run(T n) { (void)n; }\n\
                    template <class T>\n__global__ void f(T *p) { p[0] = half_of(p[0]); }\n}\n\
                    int main() { k::f<float><<<1, 1>>>(nullptr); /* bye */ }\n";
        let compiler = Compiler::new(Settings { path: "f.cu".into(), ..Settings::default() });
        let found = device_text(&compiler, text).expect("it is parsed");
        for gone in ["vector", "fill", "run", "main", "using"] {
            assert!(!found.contains(gone), "{gone}\n{found}");
        }
        for kept in [
            "cuda_fp16.h",
            "#define N 4",
            "namespace k {",
            "half_of",
            "template <class T>\n__global__ void f",
        ] {
            assert!(found.contains(kept), "{kept}\n{found}");
        }
        assert_eq!(found.lines().count(), text.lines().count());
    }
}
