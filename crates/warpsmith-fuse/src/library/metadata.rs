//! Metadata comments: `/*# NAME_IMPL metadata` … `#*/`.

use warpsmith_ir::{Diagnostic, FileId, Span};

/// A size that metadata give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// This number, and no other.
    Fixed(u32),
    /// `size`, perhaps with what the author recommends.
    Free {
        /// What is taken where nothing else is said.
        recommended: Option<u32>,
    },
}

/// One comment.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    /// Whose it is: `mmul33_2` or `mmul33_2_load_1`.
    pub subject: String,
    pub lines: Vec<Line>,
    pub span: Span,
}

/// `KEY = value`
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub key: String,
    pub value: String,
    pub key_span: Span,
    pub span: Span,
}

/// All metadata comments of a file.
///
/// # Errors
/// W524: a comment without end or heading, or a line that is no `KEY = value`.
pub(super) fn scan(text: &str, file: FileId) -> Result<Vec<Metadata>, Diagnostic> {
    let mut all: Vec<Metadata> = vec![];
    let mut at = 0;
    while let Some(found) = text[at..].find("/*#") {
        let start = at + found;
        let Some(length) = text[start..].find("#*/") else {
            return Err(Diagnostic::error("W524", "these metadata have no end")
                .label(span(file, start, start + 3), "opened here")
                .help("close them with `#*/`"));
        };
        at = start + length + 3;
        let one = comment(text, file, start, at)?;
        if let Some(before) = all.iter().find(|m| m.subject == one.subject) {
            return Err(Diagnostic::error("W524", format!("`{}` has metadata twice", one.subject))
                .label(one.span, "again here")
                .label(before.span, "first here"));
        }
        all.push(one);
    }
    Ok(all)
}

fn span(file: FileId, start: usize, end: usize) -> Span {
    Span { file, start: start as u32, end: end as u32 }
}

fn comment(text: &str, file: FileId, start: usize, end: usize) -> Result<Metadata, Diagnostic> {
    let mut at = start + 3;
    let mut subject = None;
    let mut lines = vec![];
    for raw in text[start + 3..end - 3].split('\n') {
        let (from, line) = (at + raw.len() - raw.trim_start().len(), raw.trim());
        at += raw.len() + 1;
        if line.is_empty() {
            continue;
        }
        if subject.is_none() {
            let name = line.strip_suffix("metadata").map(str::trim).filter(|n| is_name(n));
            subject = name.map(str::to_string);
            if subject.is_none() {
                return Err(Diagnostic::error("W524", "metadata begin with whose they are")
                    .label(span(file, from, from + line.len()), "expected `NAME_IMPL metadata`"));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(Diagnostic::error("W524", "this line of metadata is no `KEY = value`")
                .label(span(file, from, from + line.len()), "no `=`"));
        };
        let words: Vec<&str> = key.split_whitespace().collect();
        let value_at = from + key.len() + 1 + value.len() - value.trim_start().len();
        lines.push(Line {
            key: words.join(" "),
            value: value.trim().to_string(),
            key_span: span(file, from, from + key.trim_end().len()),
            span: span(file, value_at, from + line.len()),
        });
    }
    let span = span(file, start, end);
    match subject {
        Some(subject) => Ok(Metadata { subject, lines, span }),
        None => Err(Diagnostic::error("W524", "metadata begin with whose they are")
            .label(span, "expected `NAME_IMPL metadata`")),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

impl Metadata {
    /// The line of a key.
    pub fn line(&self, key: &str) -> Option<&Line> {
        self.lines.iter().find(|l| l.key == key)
    }

    /// A line that must be there.
    ///
    /// # Errors
    /// W524.
    pub fn need(&self, key: &str) -> Result<&Line, Diagnostic> {
        self.line(key).ok_or_else(|| {
            Diagnostic::error("W524", format!("the metadata of `{}` have no `{key}`", self.subject))
                .label(self.span, format!("`{key} = …` is missing"))
        })
    }

    /// A size; `least` is the smallest that makes sense.
    ///
    /// # Errors
    /// W524: it is missing or neither a number nor `size`.
    pub fn extent(&self, key: &str) -> Result<Extent, Diagnostic> {
        let line = self.need(key)?;
        let number =
            |text: &str| text.trim().parse::<u32>().ok().filter(|n| (1..=1 << 16).contains(n));
        let wrong = || {
            Diagnostic::error("W524", format!("`{key}` is neither a number nor `size`"))
                .label(line.span, "not understood")
                .help(format!(
                    "write `{key} = 3`, `{key} = size` or `{key} = size (recommended 16)`"
                ))
        };
        let Some(rest) = line.value.strip_prefix("size") else {
            return number(&line.value).map(Extent::Fixed).ok_or_else(wrong);
        };
        let rest = rest.trim();
        if rest.is_empty() {
            return Ok(Extent::Free { recommended: None });
        }
        let inner = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')'));
        let recommended = inner.and_then(|r| r.trim().strip_prefix("recommended")).and_then(number);
        let recommended = Some(recommended.ok_or_else(wrong)?);
        Ok(Extent::Free { recommended })
    }

    /// Refuses keys that mean nothing here, and those that stand twice.
    ///
    /// # Errors
    /// W524.
    pub fn only(&self, known: &dyn Fn(&str) -> bool, what: &str) -> Result<(), Diagnostic> {
        for (i, line) in self.lines.iter().enumerate() {
            let problem = match self.lines[..i].iter().any(|l| l.key == line.key) {
                true => "stands twice",
                false if known(&line.key) => continue,
                false => "is no key",
            };
            return Err(Diagnostic::error(
                "W524",
                format!("`{}` {problem} in these metadata", line.key),
            )
            .label(line.key_span, "here")
            .help(format!("the keys are {what}")));
        }
        Ok(())
    }
}
