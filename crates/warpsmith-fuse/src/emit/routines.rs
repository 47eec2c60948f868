//! What kernels and references take from the library's files.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Emitter, kernel};
use crate::library::leftover::{defined_macros, definitions_in, without_includes};
use crate::library::{Function, FunctionId, TYPES};
use crate::words::has_word;

/// The library's part of the kernels' file.
pub(super) struct Routines {
    /// Includes of files that are none of the library's.
    pub includes: Vec<String>,
    /// The element types, where something mentions one.
    pub types: String,
    pub text: String,
}

impl Emitter<'_> {
    /// The variants of device functions, function by function, each between the macros of its file. A file with functions of its
    /// own gets a namespace: they may be called as those of another file.
    pub(super) fn routines(&self) -> Routines {
        let functions: BTreeSet<usize> =
            self.kernels.iter().flat_map(|k| &k.calls).map(|c| c.function.0).collect();
        let mut includes = vec![];
        let mut text = String::new();
        for (_, header) in self.headers() {
            let rest = hoisted(header, &mut includes);
            let _ = writeln!(text, "{rest}");
        }
        for f in functions.into_iter().map(FunctionId) {
            let variants = self.variants(f);
            if variants.is_empty() {
                continue;
            }
            let function = self.planner.library.function(f);
            let leftover = hoisted(&function.leftover.text, &mut includes);
            let inner = match leftover.is_empty() {
                true => variants,
                false => format!("{leftover}\n{variants}"),
            };
            match has_namespace(function) {
                true => _ = writeln!(text, "namespace {} {{\n\n{inner}}}\n", function.name),
                false => text.push_str(&inner),
            }
            for name in defined_macros(&function.leftover.text) {
                let _ = writeln!(text, "#undef {name}");
            }
        }
        let types = self.types(&text);
        Routines { includes, types, text }
    }

    fn variants(&self, f: FunctionId) -> String {
        let mut written = BTreeSet::new();
        let mut text = String::new();
        for kernel in &self.kernels {
            for variant in kernel::variants(self.planner, kernel, f) {
                if written.insert(variant.name.clone()) {
                    let _ = writeln!(text, "{}\n", variant.text);
                }
            }
        }
        text
    }

    /// The file of the element types, unless it holds nothing else and the text mentions none of them.
    fn types(&self, routines: &str) -> String {
        let library = self.planner.library;
        let types = library.files.get(TYPES).map_or("", |t| t);
        let lines = types.lines().map(str::trim_end).filter(|l| *l != "#pragma once");
        let is_more = |l: &str| !l.is_empty() && !l.starts_with("typedef") && !l.starts_with("//");
        let needed = lines.clone().any(is_more)
            || library.type_names().iter().any(|name| has_word(routines, name));
        let mut text = String::new();
        for line in lines.filter(|_| needed) {
            if !line.is_empty() || !text.ends_with("\n\n") {
                let _ = writeln!(text, "{line}");
            }
        }
        if needed { text.trim_end().to_string() + "\n\n" } else { text }
    }

    /// Headers of the library that functions include, each once.
    pub(super) fn headers(&self) -> Vec<&(String, String)> {
        let called: BTreeSet<usize> =
            self.kernels.iter().flat_map(|k| &k.calls).map(|c| c.function.0).collect();
        let mut all: Vec<&(String, String)> = vec![];
        for header in
            called.into_iter().flat_map(|f| &self.planner.library.functions()[f].leftover.headers)
        {
            if all.iter().all(|(name, _)| *name != header.0) {
                all.push(header);
            }
        }
        all
    }
}

/// A text without its includes, which are noted, each once.
pub(super) fn hoisted(text: &str, includes: &mut Vec<String>) -> String {
    let (found, rest) = without_includes(text);
    for include in found {
        if !includes.iter().any(|i| i == include) {
            includes.push(include.to_string());
        }
    }
    rest
}

/// Whether what the emitted file takes from a function's file stands in a namespace called after the function.
pub(super) fn has_namespace(function: &Function) -> bool {
    definitions_in(&function.leftover.text) > 0
}
