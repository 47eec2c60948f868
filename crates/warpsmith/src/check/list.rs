//! `--list`: the kernels and launches of files, as text.

use std::path::Path;

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::sema;
use warpsmith_ir::{SourceMap, Span};

use super::program::StepProgram;
use super::shown;

/// One line a kernel, then one a launch: of directives and options, else of host code.
pub fn lines(
    path: &Path,
    unit: &TranslationUnit,
    steps: &[StepProgram],
    sources: &SourceMap,
) -> String {
    let at = |s: Span| sources.line_column(s.file, s.start).0;
    let mut text = String::new();
    for kernel in sema::kernels_of(unit) {
        let template = if kernel.is_template { " (a template)" } else { "" };
        text += &format!("{}:{}: kernel {}{template}\n", shown(path), at(kernel.span), kernel.name);
    }
    for planned in steps.iter().flat_map(|s| &s.launches) {
        let line = planned.span.map_or(String::new(), |s| format!(":{}", at(s)));
        text += &format!("{}{line}: launch of {}\n", shown(path), planned.kernel);
    }
    if steps.is_empty() {
        for site in sema::launches_of(unit) {
            let inside = if site.function.is_empty() { "a method" } else { &site.function };
            text += &format!(
                "{}:{}: launch of {} in {inside}\n",
                shown(path),
                at(site.span),
                site.kernel
            );
        }
    }
    text
}
