//! What a file of the library has beside routines and kernels: macros, helper functions, headers.

use std::collections::HashMap;
use std::ops::Range;

use warpsmith_front::pp::{Piece, Scanner};

use super::{Expr, Files, TYPES};

/// A text without what is known of it, and the headers of the library that it includes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leftover {
    /// What is left, as the library has it.
    pub text: String,
    /// Name and text, each header once and after those that it includes.
    pub headers: Vec<(String, String)>,
}

impl Leftover {
    /// All of it, headers first.
    pub fn whole(&self) -> String {
        let headers: String = self.headers.iter().map(|(_, text)| text.as_str()).collect();
        headers + &self.text
    }
}

/// The text without the given ranges, comments and includes of the library's own headers.
pub(super) fn leftover(text: &str, taken: &[Range<usize>], files: &Files) -> Leftover {
    let mut headers = vec![];
    let text = stripped(text, taken, files, &mut headers, &mut vec![]);
    Leftover { text, headers }
}

/// The text with blanks in place of comments and some ranges.
fn blanked(text: &str, taken: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let comments = Scanner::new(text, true).filter(|(piece, _)| *piece == Piece::Comment);
    let comments: Vec<Range<usize>> = comments.map(|(_, r)| r).collect();
    for range in taken.iter().chain(&comments) {
        for byte in &mut bytes[range.clone()] {
            // Line ends stay, so that a directive does not run into what follows it.
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// What stands behind `#word` at the start of a line.
pub(super) fn directive<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(word)?;
    (!rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')).then(|| rest.trim())
}

/// A macro's name, and what follows it in its definition.
pub(super) fn name_and_rest(definition: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    definition.split_at(definition.find(|c| !is_part(c)).unwrap_or(definition.len()))
}

/// How a line changes the depth of conditions.
fn opens(line: &str) -> i32 {
    let any = |words: &[&str]| words.iter().any(|w| directive(line, w).is_some());
    i32::from(any(&["if", "ifdef", "ifndef"])) - i32::from(directive(line, "endif").is_some())
}

/// A macro that a text defines twice, with different bodies and under no condition, and where the second one stands.
pub(super) fn second_meaning(text: &str) -> Option<(String, Range<usize>)> {
    let blanked = blanked(text, &[]);
    let mut known: HashMap<String, String> = HashMap::new();
    let (mut depth, mut at) = (0, 0);
    let mut lines = blanked.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let mut whole = line.trim_end().to_string();
        while whole.ends_with('\\') {
            whole.pop();
            let Some(next) = lines.next() else { break };
            at += next.len();
            whole += next.trim_end();
        }
        depth += opens(&whole);
        let Some(rest) = directive(&whole, "define").filter(|_| depth == 0) else { continue };
        let (name, meaning) = name_and_rest(rest);
        let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        match known.get(name) {
            Some(first) if *first != meaning => {
                return Some((name.to_string(), start..start + line.trim_end().len()));
            }
            _ => _ = known.insert(name.to_string(), meaning),
        }
    }
    None
}

/// `open` are the headers that are being read: one that includes itself is not read again.
fn stripped(
    text: &str,
    taken: &[Range<usize>],
    files: &Files,
    headers: &mut Vec<(String, String)>,
    open: &mut Vec<String>,
) -> String {
    let blanked = blanked(text, taken);
    let own = defined_macros(&blanked);
    let mut depth = 0;
    let mut out = String::new();
    for line in blanked.lines() {
        depth += opens(line);
        // A macro of the file has one meaning, which routines that are put together anew still need.
        if depth == 0 && directive(line, "undef").is_some_and(|name| own.contains(&name)) {
            continue;
        }
        match quoted_include(line) {
            Some(TYPES) => {}
            Some(name) if files.get(name).is_some() => {
                let known =
                    headers.iter().any(|(n, _)| n == name) || open.iter().any(|n| n == name);
                if !known {
                    open.push(name.to_string());
                    let inner = files.get(name).map_or("", |t| t);
                    let inner = stripped(inner, &[], files, headers, open);
                    headers.push((name.to_string(), inner));
                }
            }
            _ if line.trim().is_empty() || line.trim() == "#pragma once" => {}
            _ => {
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
    }
    out
}

/// The name in `#include "name"`.
fn quoted_include(line: &str) -> Option<&str> {
    directive(line, "include")?.strip_prefix('"')?.strip_suffix('"')
}

/// The includes of files that are none of the library's, and the text without them.
pub fn without_includes(text: &str) -> (Vec<&str>, String) {
    let is_include = |line: &&str| {
        let rest = line.trim_start().strip_prefix('#');
        rest.is_some_and(|r| r.trim_start().starts_with("include"))
    };
    let (includes, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(is_include);
    (includes, rest.iter().map(|line| format!("{line}\n")).collect())
}

/// How many functions, variables and types a text defines, macros aside: closing braces and semicolons outside of all braces.
pub fn definitions_in(text: &str) -> usize {
    let (mut depth, mut count) = (0usize, 0);
    let mut directive = false;
    for (piece, range) in Scanner::new(text, true) {
        match piece {
            Piece::Newline => directive &= text[..range.start].ends_with('\\'),
            Piece::Other(b'#') => directive = true,
            _ if directive => {}
            Piece::Other(b'{' | b'(') => depth += 1,
            Piece::Other(b'}') => {
                depth = depth.saturating_sub(1);
                count += usize::from(depth == 0);
            }
            Piece::Other(b')') => depth = depth.saturating_sub(1),
            Piece::Other(b';') => count += usize::from(depth == 0),
            _ => {}
        }
    }
    count
}

/// The definitions of macros in a text, with the lines that continue them.
pub(super) fn definitions(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        let directive = line.trim_start().strip_prefix('#');
        inside |= directive.is_some_and(|d| d.trim_start().starts_with("define"));
        if inside {
            out.push_str(line);
            out.push('\n');
        }
        inside &= line.ends_with('\\');
    }
    out
}

/// The macros of a text that are numbers, or made of such.
pub(super) fn constants(text: &str) -> HashMap<String, Expr> {
    let mut all: HashMap<String, Expr> = HashMap::new();
    for line in text.lines() {
        let rest = directive(line, "define").and_then(|r| r.split_once(char::is_whitespace));
        let Some((name, value)) = rest else { continue };
        let value = value.split("//").next().and_then(|v| v.split("/*").next()).unwrap_or("");
        if let Some(value) = Expr::parse(value.trim()) {
            let value = value.with(&|name| all.get(name).cloned());
            if value.value(&|_| None).is_some() {
                all.insert(name.to_string(), value);
            }
        }
    }
    all
}

/// The macros that a text defines.
pub fn defined_macros(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = vec![];
    for definition in text.lines().filter_map(|line| directive(line, "define")) {
        let (name, _) = name_and_rest(definition);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_taken_stays() {
        let text = "#include \"types.cuh\"\n#include <math.h>\n#define N 3 // three\n/* a */ int taken;\n__device__ int f();\n";
        let start = text.find("int taken").unwrap();
        let taken = start..start + 10;
        let left = leftover(text, std::slice::from_ref(&taken), &Files::default());
        assert_eq!(left.text, "#include <math.h>\n#define N 3\n__device__ int f();\n");
        assert_eq!(defined_macros(&left.text), ["N"]);
    }

    #[test]
    fn macros_keep_their_one_meaning() {
        let text = "#define AT(i) a[i]\nint x;\n#undef AT\n#undef OTHER\n";
        assert_eq!(
            leftover(text, &[], &Files::default()).text,
            "#define AT(i) a[i]\nint x;\n#undef OTHER\n"
        );
        assert_eq!(second_meaning("#define A 1 // one\n#undef A\n#define A  1\n"), None);
        let either = "#ifdef X\n#define A 1\n#else\n#define A 2\n#endif\n";
        assert_eq!(second_meaning(either), None);
        let text = "#define AT(i) a[i]\n#undef AT\n#define AT(i) \\\n  b[i]\n";
        let (name, range) = second_meaning(text).unwrap();
        assert_eq!((name.as_str(), &text[range]), ("AT", "#define AT(i) \\"));
    }

    #[test]
    fn macros_that_are_numbers_have_values() {
        let text = "#define N 3 // three\n# define LEN ( N * N )\n#define F(x) x\n#define T float\n#define M LATER\n";
        let found = constants(text);
        let value = |name: &str| found.get(name).and_then(|e| e.value(&|_| None));
        assert_eq!((value("N"), value("LEN")), (Some(3), Some(9)));
        assert_eq!((value("F"), value("T"), value("M")), (None, None, None));
    }

    #[test]
    fn definitions_are_counted_outside_of_directives() {
        let text = "#include <cmath>\n#define F(x) { \\\n  x; }\nstatic int f(int a) { return a; }\nfloat t[2] = { 1, 2 };\n";
        // An initialiser's brace and its semicolon count twice; one function alone is one.
        assert_eq!(definitions_in(text), 3);
        assert_eq!(definitions_in("// a;\nvoid f(void) { if (1) { g(); } }\n"), 1);
        let (includes, rest) = without_includes(text);
        assert_eq!(includes, ["#include <cmath>"]);
        assert!(rest.starts_with("#define F"));
    }

    #[test]
    fn headers_come_once_and_in_order() {
        let file = |name: &str, text: &str| super::super::LibraryFile {
            name: name.into(),
            text: text.into(),
        };
        let files = Files {
            folder: String::new(),
            files: vec![
                file("a.cuh", "#pragma once\n#include \"b.cuh\"\nint a;\n"),
                file("b.cuh", "#include \"a.cuh\"\nint b;\n"),
            ],
        };
        let left = leftover("#include \"a.cuh\"\n#include \"b.cuh\"\nint c;\n", &[], &files);
        assert_eq!(left.whole(), "int b;\nint a;\nint c;\n");
    }
}
