//! From source text to verified IR, for the tests of the lowerer.
#![allow(dead_code, reason = "each test file uses its own part")]

use warpsmith_front::parse::{DiskLoader, Language, ParseOptions, parse};
use warpsmith_front::sema::{KernelSelection, Lowered, Request, kernels_of, lower_cuda};
use warpsmith_ir::{Diagnostic, SourceMap, verify};

/// Kernels that directives of a file name with template arguments.
pub fn named_in_directives(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|l| l.trim_start().starts_with("// warpsmith:"));
    let names = lines.filter_map(|l| {
        let rest = &l[l.find("kernel=")? + 7..];
        let end = match rest.strip_prefix('\'') {
            Some(quoted) => return Some(quoted[..quoted.find('\'')?].to_string()),
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        Some(rest[..end].to_string())
    });
    let mut all: Vec<String> = names.filter(|n| n.contains('<')).collect();
    all.dedup();
    all
}

/// Lowers a source; errors are rendered.
pub fn lower_with(path: &str, text: &str, request: &Request) -> Result<Lowered, String> {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let render = |list: Vec<Diagnostic>, sources: &SourceMap| {
        list.iter().map(|d| d.render(sources, false)).collect::<Vec<_>>().join("\n\n")
    };
    let parsed = match parse(path, text.as_bytes(), &options, &DiskLoader, &mut sources) {
        Ok(p) => p,
        Err(list) => return Err(render(list, &sources)),
    };
    let lowered = lower_cuda(&parsed.unit, request).map_err(|list| render(list, &sources))?;
    if let Err(violations) = verify::verify(&lowered.module) {
        let list: Vec<Diagnostic> = violations.iter().map(|v| v.to_diagnostic()).collect();
        return Err(format!("VERIFIER\n{}", render(list, &sources)));
    }
    Ok(lowered)
}

/// All kernels, those of directives included.
pub fn lower_file(path: &str, text: &str) -> Result<Lowered, String> {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse(path, text.as_bytes(), &options, &DiskLoader, &mut sources);
    let mut names: Vec<String> = match &parsed {
        Ok(p) => {
            kernels_of(&p.unit).into_iter().filter(|k| !k.is_template).map(|k| k.name).collect()
        }
        Err(_) => vec![],
    };
    names.extend(named_in_directives(text));
    lower_with(
        path,
        text,
        &Request { kernels: KernelSelection::Named(names), host_functions: vec![] },
    )
}

/// Lowers all kernels of a snippet; panics with the rendered errors.
pub fn lower(text: &str) -> Lowered {
    lower_with("test.cu", text, &Request::all_kernels()).unwrap_or_else(|e| panic!("{e}"))
}

/// The rendered errors of a snippet.
pub fn errors(text: &str) -> String {
    match lower_with("test.cu", text, &Request::all_kernels()) {
        Ok(_) => panic!("this should not be accepted:\n{text}"),
        Err(e) => e,
    }
}
