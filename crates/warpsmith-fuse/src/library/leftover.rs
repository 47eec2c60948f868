//! What a file of the library has beside routines and kernels: macros, helper functions, headers.

use std::ops::Range;

use warpsmith_front::pp::{Piece, Scanner};

use super::{Files, TYPES};

/// The text without the given ranges, comments and includes of element types; headers of the library are put in place.
pub(super) fn leftover(text: &str, taken: &[Range<usize>], files: &Files) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let comments =
        Scanner::new(text, true).filter(|(piece, _)| *piece == Piece::Comment).map(|(_, r)| r);
    let comments: Vec<Range<usize>> = comments.collect();
    for range in taken.iter().chain(&comments) {
        for byte in &mut bytes[range.clone()] {
            // Line ends stay, so that a directive does not run into what follows it.
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    let blanked = String::from_utf8(bytes).unwrap_or_default();
    let mut out = String::new();
    for line in blanked.lines() {
        match quoted_include(line) {
            Some(TYPES) => {}
            Some(name) if files.get(name).is_some() => {
                let inner = files.get(name).map_or("", |t| t);
                out.push_str(inner.trim_end());
                out.push('\n');
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
    let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
    rest.strip_prefix('"')?.strip_suffix('"')
}

/// The macros that a text defines.
pub fn defined_macros(text: &str) -> Vec<&str> {
    let define = |line: &'_ str| -> Option<usize> {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        Some(line.len() - rest.trim_start().len())
    };
    let mut names: Vec<&str> = vec![];
    for line in text.lines() {
        let Some(at) = define(line) else { continue };
        let rest = &line[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if !names.contains(&&rest[..end]) {
            names.push(&rest[..end]);
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
        assert_eq!(left, "#include <math.h>\n#define N 3\n__device__ int f();\n");
        assert_eq!(defined_macros(&left), ["N"]);
    }
}
