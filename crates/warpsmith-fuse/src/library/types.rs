//! Element types: `typedef float *matrix3x3; // warpsmith: elements 9`.

use warpsmith_front::ast::{AliasDecl, Comment, ItemKind, TypeKind, TypeName};
use warpsmith_front::parse::{Language, ParseOptions, parse};
use warpsmith_ir::{Diagnostic, SourceMap};

use super::{ElementType, Files, TYPES};

/// The most floats of one element: what a block of few elements still has room for.
const MAX_ELEMENTS: u32 = 4096;

pub(super) fn read(
    files: &Files,
    sources: &mut SourceMap,
) -> Result<Vec<ElementType>, Vec<Diagnostic>> {
    let Some(text) = files.get(TYPES) else {
        let message = format!("the library `{}` has no `{TYPES}`", files.folder);
        return Err(vec![
            Diagnostic::error("W520", message)
                .help("it holds the element types: typedef float *NAME; // warpsmith: elements N"),
        ]);
    };
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse(&files.path(TYPES), text.as_bytes(), &options, files, sources)?;
    let mut types: Vec<ElementType> = vec![];
    for item in &parsed.unit.items {
        let ItemKind::Alias(alias) = &item.kind else { continue };
        let element = element_type(alias, &parsed.unit.comments, sources).map_err(|d| vec![d])?;
        if let Some(before) = types.iter().find(|t| t.name.eq_ignore_ascii_case(&element.name)) {
            let message = format!("the element type `{}` is declared twice", element.name);
            return Err(vec![
                Diagnostic::error("W521", message)
                    .label(element.span, "again here")
                    .label(before.span, "first here")
                    .note("names of types are compared without regard to case"),
            ]);
        }
        types.push(element);
    }
    match types.is_empty() {
        false => Ok(types),
        true => Err(vec![Diagnostic::error(
            "W521",
            format!("`{}` declares no element type", files.path(TYPES)),
        )]),
    }
}

fn element_type(
    alias: &AliasDecl,
    comments: &[Comment],
    sources: &SourceMap,
) -> Result<ElementType, Diagnostic> {
    let example = "write `typedef float *matrix3x3; // warpsmith: elements 9`";
    let wrong = |what: &str, label: &str| {
        Err(Diagnostic::error("W521", format!("the element type `{}` {what}", alias.name))
            .label(alias.span, label)
            .help(example))
    };
    if !is_float_pointer(&alias.ty) {
        return wrong("is no pointer to float", "not `float *`");
    }
    let (line, _) = sources.line_column(alias.span.file, alias.span.end.saturating_sub(1));
    let beside = comments.iter().find(|c| sources.line_column(c.span.file, c.span.start).0 == line);
    let Some(comment) = beside else {
        return wrong("has no size", "no comment beside it says how long it is");
    };
    let words: Vec<&str> = comment.text.split_whitespace().collect();
    let count = match words.as_slice() {
        ["warpsmith:", "elements", n] => {
            n.parse::<u32>().ok().filter(|n| (1..=MAX_ELEMENTS).contains(n))
        }
        _ => None,
    };
    match count {
        Some(elements) => Ok(ElementType { name: alias.name.clone(), elements, span: alias.span }),
        None => Err(Diagnostic::error(
            "W521",
            format!("the size of `{}` is not understood", alias.name),
        )
        .label(
            comment.span,
            format!("expected `warpsmith: elements N` with N from 1 to {MAX_ELEMENTS}"),
        )
        .help(example)),
    }
}

/// `float *`, with or without `const`.
pub(super) fn is_float_pointer(ty: &TypeName) -> bool {
    match &ty.kind {
        TypeKind::Pointer { to, .. } => {
            matches!(&to.kind, TypeKind::Builtin(words) if words == &["float"])
        }
        _ => false,
    }
}
