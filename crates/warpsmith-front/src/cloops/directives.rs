//! `// warpsmith: size n=1024` and `// warpsmith: arg x=random` in the source.

use warpsmith_ir::{Diagnostic, FileId, Span};

use crate::ast::Comment;

/// A default for `--size`: a scalar parameter and the values to tune for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeDefault {
    /// The size parameter.
    pub name: String,
    /// The values that it is tried with.
    pub values: Vec<u64>,
    /// Where the directive stands.
    pub span: Span,
}

/// A default for `--arg`: a parameter and what to fill it with, as the command line writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgDefault {
    /// The parameter.
    pub name: String,
    /// What is given to it, as the command line has it.
    pub spec: String,
    /// Where the directive stands.
    pub span: Span,
}

/// The defaults a file states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Values of sizes.
    pub sizes: Vec<SizeDefault>,
    /// Values of other parameters.
    pub args: Vec<ArgDefault>,
}

/// Reads all directives. Names are checked by the caller, who knows the parameters.
///
/// # Errors
/// W131 for a directive that cannot be read.
pub fn read(comments: &[Comment]) -> (Defaults, Vec<Diagnostic>) {
    let mut defaults = Defaults::default();
    let mut errors = vec![];
    for comment in comments {
        let Some(text) = comment.text.trim_start().strip_prefix("warpsmith:") else { continue };
        if let Err(d) = directive(text, comment, &mut defaults) {
            errors.push(*d);
        }
    }
    (defaults, errors)
}

fn directive(text: &str, comment: &Comment, out: &mut Defaults) -> Result<(), Box<Diagnostic>> {
    let mut words = text.split_whitespace();
    let mut kind = "";
    let mut used = false;
    for word in words.by_ref() {
        let span = word_span(comment, text, word);
        match word.trim_start_matches("--") {
            k @ ("size" | "arg") if !word.contains('=') => {
                kind = k;
                used = false;
            }
            // Directives for other commands (`grid=4 block=64`, `allow …`, `run …`) are theirs to read.
            _ if kind.is_empty() => return Ok(()),
            pair => {
                entry(kind, pair, span, out)?;
                used = true;
            }
        }
    }
    if kind.is_empty() || used {
        return Ok(());
    }
    Err(bad(format!("`{kind}` names nothing"), comment.span).into())
}

fn entry(kind: &str, pair: &str, span: Span, out: &mut Defaults) -> Result<(), Box<Diagnostic>> {
    let Some((name, value)) =
        pair.trim_end_matches(',').split_once('=').filter(|(n, v)| !n.is_empty() && !v.is_empty())
    else {
        return Err(bad(format!("`{pair}` is not of the form name=value"), span).into());
    };
    if kind == "arg" {
        out.args.push(ArgDefault { name: name.into(), spec: value.into(), span });
        return Ok(());
    }
    let values: Result<Vec<u64>, _> = value.split(',').map(str::parse).collect();
    match values {
        Ok(values) => out.sizes.push(SizeDefault { name: name.into(), values, span }),
        Err(_) => return Err(bad(format!("`{value}` is not a size"), span).into()),
    }
    Ok(())
}

fn bad(message: String, span: Span) -> Diagnostic {
    Diagnostic::error("W131", message)
        .label(span, "in this comment")
        .help("for example `// warpsmith: size n=1024 m=512`")
}

/// The place of a word, when the comment's text is found in its span as written; else the comment.
fn word_span(comment: &Comment, text: &str, word: &str) -> Span {
    let whole = comment.span;
    let offset =
        word.as_ptr() as usize - text.as_ptr() as usize + (comment.text.len() - text.len());
    let len = whole.end.saturating_sub(whole.start) as usize;
    // `// text`: two slashes and a blank, or none, precede the text.
    let Some(lead) = len.checked_sub(comment.text.len()).filter(|n| *n <= 4) else { return whole };
    let start = whole.start + (lead + offset) as u32;
    Span { file: FileId(whole.file.0), start, end: start + word.len() as u32 }
}
