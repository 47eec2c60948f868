//! The library's messages in our words.

use rucc_diag::Severity;
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use super::tokens::Places;

/// How many errors of one run are worth reading.
pub(super) const MAX_ERRORS: usize = 5;

/// Errors and warnings of a run, without repetitions.
pub(super) fn convert(
    messages: &[rucc_diag::Diagnostic],
    places: &Places,
    sources: &SourceMap,
    main: FileId,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let (mut errors, mut warnings): (Vec<Diagnostic>, Vec<Diagnostic>) = (vec![], vec![]);
    for message in messages {
        let fatal = message.severity.is_fatal();
        if !fatal && (message.severity != Severity::Warning || !wanted(message)) {
            continue;
        }
        let span = places.span(message.span);
        let span = span.unwrap_or(Span { file: main, start: 0, end: 0 });
        let diagnostic = one(message, whole_directive(span, sources), sources);
        let list = if fatal { &mut errors } else { &mut warnings };
        if list.len() < MAX_ERRORS && !list.contains(&diagnostic) {
            list.push(diagnostic);
        }
    }
    (errors, warnings)
}

/// The directive whose `#` is all that a span covers.
fn whole_directive(span: Span, sources: &SourceMap) -> Span {
    let Some(rest) = sources.get(span.file).and_then(|f| f.text.get(span.start as usize..)) else {
        return span;
    };
    if !rest.starts_with('#') || span.end - span.start > 1 {
        return span;
    }
    let line = rest.lines().next().unwrap_or("").trim_end();
    Span { end: span.start + line.len() as u32, ..span }
}

/// Warnings that say something about the user's program and not about conformance.
fn wanted(message: &rucc_diag::Diagnostic) -> bool {
    matches!(message.code, Some("W0331" | "W0335" | "W0301"))
}

fn one(message: &rucc_diag::Diagnostic, span: Span, sources: &SourceMap) -> Diagnostic {
    let text = message.message.as_str();
    let about = sources.text(span);
    match message.code {
        Some("E0338") => Diagnostic::error("W008", format!("#error: {text}"))
            .label(span, "this line is reached")
            .help("define what it asks for with `-D NAME=VALUE`"),
        Some("W0331" | "W0335") => {
            Diagnostic::warning("W011", format!("#warning: {text}")).label(span, "")
        }
        Some("W0301") => Diagnostic::warning("W011", text).label(span, "the later one counts"),
        Some("E0330") => Diagnostic::error("W009", "this conditional is never closed")
            .label(span, "opened here")
            .help("add the missing `#endif`"),
        Some("E0333" | "E0334") => {
            Diagnostic::error("W009", text).label(span, "no `#if` is open for it")
        }
        Some("E0341") => Diagnostic::error("W007", format!("cannot include {}", quoted(text)))
            .label(span, "not found")
            .help("give the folder it is in with `-I`"),
        Some("E0310") => Diagnostic::error("W006", "this macro expands to too much text")
            .label(span, "used here"),
        Some("E0332") => Diagnostic::error("W010", format!("`#{about}` is no directive"))
            .label(span, "not understood"),
        Some(code) if code.starts_with("E01") || code.starts_with("E02") => {
            Diagnostic::error("W012", text).label(span, "here")
        }
        _ => Diagnostic::error("W010", text).label(span, "here"),
    }
}

/// The name in a message such as "`x.h` not found", with its quotes.
fn quoted(text: &str) -> String {
    match text.split('`').nth(1) {
        Some(name) => format!("`{name}`"),
        None => "this file".to_owned(),
    }
}
