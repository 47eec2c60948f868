//! Diagnostics: what is said to the user about their source, and the one place that renders it.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::printable::printable;
use crate::span::{SourceMap, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong: something to know.
    Note,
    /// The result can be used, but may not be what the user wants.
    Warning,
    /// What was asked for cannot be done, or the program is wrong.
    Error,
}

/// A span of the source with a short text beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The text that is underlined.
    pub span: Span,
    /// What is said beside it; may be empty.
    pub text: String,
}

/// One message: what is wrong, where, and what to do about it.
///
/// `code` is stable across versions (`W` and three digits); `labels[0]` is the place the caret goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is: the first word of the message.
    pub severity: Severity,
    /// The code, such as `W210`.
    pub code: &'static str,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Places in the source, the primary one first; empty when there is none.
    pub labels: Vec<Label>,
    /// Reasons and circumstances, each rendered as `= note:`.
    pub notes: Vec<String>,
    /// What to do about it, each rendered as `= help:`.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message)
    }

    /// A warning without a place.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message)
    }

    /// A message without a place, notes or help.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        Diagnostic { severity, code, message, labels: vec![], notes: vec![], help: vec![] }
    }

    /// Adds a labelled span; the first one is the primary location.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a reason or a circumstance.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds what the user can do about it.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }

    /// The message as shown on a terminal: source line, caret, notes and hints.
    pub fn render(&self, sources: &SourceMap, color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let message = printable(&self.message);
        let mut group = Group::with_title(level.primary_title(message.as_ref()).id(self.code));
        let spelled: Vec<String> =
            self.notes.iter().chain(&self.help).map(|text| printable(text).into_owned()).collect();
        let (notes, help) = spelled.split_at(self.notes.len());
        for (file, labels) in self.labels_by_file() {
            let Some(source) = sources.get(file) else {
                continue;
            };
            let mut snippet = Snippet::source(shown(&source.text)).path(printable(&source.path));
            for (primary, label) in labels {
                let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                let range = clamp_to_chars(&source.text, label.span);
                snippet = snippet.annotation(kind.span(range).label(printable(&label.text)));
            }
            group = group.element(snippet);
        }
        for note in notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        for help in help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// Labels grouped by file, in order of first appearance; the flag marks the primary one.
    fn labels_by_file(&self) -> Vec<(crate::FileId, Vec<(bool, &Label)>)> {
        let mut groups: Vec<(crate::FileId, Vec<(bool, &Label)>)> = vec![];
        for (i, label) in self.labels.iter().enumerate() {
            match groups.iter_mut().find(|(file, _)| *file == label.span.file) {
                Some((_, list)) => list.push((i == 0, label)),
                None => groups.push((label.span.file, vec![(i == 0, label)])),
            }
        }
        groups
    }
}

/// A source text in which the characters that the renderer lets act on a terminal are others of the same length, so that
/// labels stay where they are.
fn shown(text: &str) -> Cow<'_, str> {
    let left = |c: char| matches!(c, '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}');
    if !text.chars().any(left) {
        return text.into();
    }
    let other = |c: char| match c {
        c if !left(c) => c,
        '\u{80}'..='\u{9f}' => '¿',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(other).collect::<String>().into()
}

/// A byte range that the renderer can slice: inside the text and on character boundaries.
fn clamp_to_chars(text: &str, span: Span) -> std::ops::Range<usize> {
    let floor = |mut i: usize| {
        i = i.min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_message_reaches_the_terminal_as_a_command() {
        let mut sources = SourceMap::new();
        let file = sources.add("a\u{1b}[2J.json", "{\"\u{1b}]0;title\u{7}\": \u{9b}31m}\n");
        let shown = Diagnostic::error("W411", "no \u{1b}[31m`name`")
            .label(Span { file, start: 0, end: 1 }, "here \u{1b}[0m")
            .note("first\nsecond \u{9b}2J")
            .help("do \u{1b}c")
            .render(&sources, false);
        let bad: Vec<char> = shown.chars().filter(|c| c.is_control() && *c != '\n').collect();
        assert!(bad.is_empty(), "{shown:?}");
        assert_eq!(super::shown("a\u{9b}b\u{200f}").len(), "a\u{9b}b\u{200f}".len());
        assert!(shown.contains("first\n") && shown.contains("second \\u{9b}2J"), "{shown}");
    }
}
