//! From the library's tokens to ours: spelling, kind, place.

use rucc_lex::{PpTokenKind, TokenFlags};
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use super::{MAX_TOKENS, Raw, messages};

/// Preprocessing tokens ([lex.pptoken] of the C++ standard), by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or a keyword.
    Word,
    /// A preprocessing number.
    Number,
    /// Character or string literal, raw ones included.
    Literal,
    /// An operator or a punctuator.
    Punct,
    /// A byte that begins no token of the language.
    Stray,
}

/// One token after preprocessing.
#[derive(Clone, Debug)]
pub struct Token {
    /// Which kind.
    pub kind: TokenKind,
    /// The characters.
    pub text: Box<str>,
    /// Where the user wrote it, or the name of the macro that brought it.
    pub span: Span,
    /// For a token out of a macro: where it is spelled.
    pub spelled: Option<Span>,
    /// It follows the token before it without a blank, in the same text.
    pub glued: bool,
    /// It is the first of a line of the source.
    pub line_start: bool,
}

/// A `#pragma` or `_Pragma`.
#[derive(Clone, Debug)]
pub struct PragmaLine {
    /// It stands before the token with this index.
    pub before: usize,
    /// What follows `#pragma`.
    pub text: String,
    /// Where the line stands.
    pub span: Span,
}

/// What the preprocessor makes of a program.
#[derive(Clone, Debug, Default)]
pub struct Preprocessed {
    /// After all macros are expanded.
    pub tokens: Vec<Token>,
    /// Lines that are left to the parser.
    pub pragmas: Vec<PragmaLine>,
    /// Macros without parameters that are defined at the end, with their values.
    pub macros: std::collections::HashMap<String, String>,
    /// What does not stop the translation.
    pub warnings: Vec<Diagnostic>,
    /// Headers that were not found, when it goes on without them.
    pub missing: Vec<Diagnostic>,
}

/// Where the library's positions are in our files.
pub(super) struct Places {
    /// Start and end in the library's space, and our file.
    files: Vec<(u32, u32, FileId)>,
}

impl Places {
    fn register(raw: &Raw, main: FileId, sources: &mut SourceMap) -> Places {
        let mut files = vec![];
        for file in raw.sources.files() {
            let id = if file.id == raw.main {
                main
            } else {
                let text = String::from_utf8_lossy(file.bytes()).into_owned();
                sources.add(file.name.clone(), text)
            };
            files.push((file.start, file.end, id));
        }
        Places { files }
    }

    /// A span of ours; nothing for the library's own invented positions.
    pub(super) fn span(&self, span: rucc_diag::Span) -> Option<Span> {
        if span.is_dummy() {
            return None;
        }
        let at = self.files.partition_point(|f| f.0 <= span.lo).checked_sub(1)?;
        let (start, end, file) = *self.files.get(at)?;
        let lo = span.lo.min(end) - start;
        Some(Span { file, start: lo, end: (span.hi.clamp(start, end) - start).max(lo) })
    }
}

/// Converts a run, or says why it failed.
pub(super) fn convert(
    raw: Raw,
    main: FileId,
    cpp: bool,
    sources: &mut SourceMap,
) -> Result<Preprocessed, Vec<Diagnostic>> {
    let places = Places::register(&raw, main, sources);
    let (errors, warnings) = messages::convert(&raw.diagnostics, &places, sources, main);
    if !errors.is_empty() {
        return Err(errors);
    }
    if raw.tokens.len() > MAX_TOKENS {
        return Err(vec![
            Diagnostic::error("W006", "the program is too large after preprocessing")
                .label(Span { file: main, start: 0, end: 0 }, "in this file")
                .note(format!("{} tokens, and the limit is {MAX_TOKENS}", raw.tokens.len())),
        ]);
    }
    let mut builder = Builder {
        raw: &raw,
        places,
        main,
        cpp,
        out: Preprocessed { warnings, ..Default::default() },
    };
    builder.build();
    let unclosed = unclosed_literals(&builder.out.tokens);
    if unclosed.is_empty() { Ok(builder.out) } else { Err(unclosed) }
}

/// Literals that the end of their line cuts off and that no conditional leaves out.
fn unclosed_literals(tokens: &[Token]) -> Vec<Diagnostic> {
    let cut = tokens.iter().filter(|t| t.kind == TokenKind::Stray && t.text.contains(['"', '\'']));
    cut.take(messages::MAX_ERRORS)
        .map(|token| {
            let what = if token.text.contains('"') { "string" } else { "character" };
            Diagnostic::error("W012", format!("this {what} literal is never closed"))
                .label(token.span, "the line ends before the closing quote")
        })
        .collect()
}

struct Builder<'a> {
    raw: &'a Raw,
    places: Places,
    main: FileId,
    /// The text is C++.
    cpp: bool,
    out: Preprocessed,
}

impl Builder<'_> {
    fn build(&mut self) {
        let tokens = &self.raw.tokens;
        let mut at = 0;
        while at < tokens.len() {
            if self.is_pragma(at) {
                at = self.pragma(at);
                continue;
            }
            if self.is_false_digraph(at) {
                at = self.split_digraph(at);
                continue;
            }
            if let Some(token) = self.token(at) {
                self.out.tokens.push(token);
            }
            at += 1;
        }
    }

    fn spelling(&self, at: usize) -> &str {
        let Some(tok) = self.raw.tokens.get(at) else {
            return "";
        };
        match tok.kind {
            PpTokenKind::Punct(p) => p.as_str(),
            _ => tok.value.map_or("", |v| self.raw.interner.resolve(v)),
        }
    }

    fn is_pragma(&self, at: usize) -> bool {
        let first = self.raw.tokens.get(at);
        first.is_some_and(|t| t.flags.has(TokenFlags::START_OF_LINE))
            && self.spelling(at) == "#"
            && self.spelling(at + 1) == "pragma"
    }

    /// True for the `<:` and `:` of a `<::`, which C++ reads as `<` and `::`.
    fn is_false_digraph(&self, at: usize) -> bool {
        let (Some(first), Some(second)) = (self.raw.tokens.get(at), self.raw.tokens.get(at + 1))
        else {
            return false;
        };
        self.cpp
            && first.flags.has(TokenFlags::DIGRAPH)
            && self.spelling(at) == "["
            && self.spelling(at + 1) == ":"
            && first.span.hi == second.span.lo
    }

    fn split_digraph(&mut self, at: usize) -> usize {
        let parts = (self.token(at), self.token(at + 1));
        if let (Some(mut less), Some(mut colons)) = parts {
            less.text = "<".into();
            colons.text = "::".into();
            // Out of a macro both stand at its use.
            if less.spelled.is_none() {
                less.span.end -= 1;
                colons.span.start -= 1;
            }
            self.out.tokens.extend([less, colons]);
        }
        at + 2
    }

    /// Takes the pragma whose `#` is at `at`; returns the index after it.
    fn pragma(&mut self, at: usize) -> usize {
        let tokens = &self.raw.tokens;
        let mut end = at + 2;
        let mut text = String::new();
        let mut before = None;
        while let Some(tok) = tokens.get(end).filter(|t| !t.flags.has(TokenFlags::START_OF_LINE)) {
            let place = self.places.span(tok.report_span());
            if !text.is_empty() {
                let gap = blanks_between(before, place)
                    .unwrap_or_else(|| usize::from(tok.flags.has(TokenFlags::LEADING_SPACE)));
                text.extend(std::iter::repeat_n(' ', gap));
            }
            before = place;
            text.push_str(self.spelling(end));
            end += 1;
        }
        let first = self.places.span(tokens[at].report_span());
        let last = self.places.span(tokens[end - 1].report_span());
        let span = match (first, last) {
            // The words of a `_Pragma` have positions of their own that mean nothing.
            (Some(a), Some(b)) if a.file == b.file && a.start <= b.start && self.one_line(a, b) => {
                a.to(b)
            }
            (Some(a), _) => a,
            _ => Span { file: self.main, start: 0, end: 0 },
        };
        self.out.pragmas.push(PragmaLine { before: self.out.tokens.len(), text, span });
        end
    }

    /// A plausible extent of one directive, continued lines included.
    fn one_line(&self, first: Span, last: Span) -> bool {
        last.end - first.start < 4096
    }

    fn token(&self, at: usize) -> Option<Token> {
        let tok = self.raw.tokens.get(at)?;
        let kind = match tok.kind {
            PpTokenKind::Ident => TokenKind::Word,
            PpTokenKind::Number => TokenKind::Number,
            PpTokenKind::CharConst | PpTokenKind::StringLit | PpTokenKind::HeaderName => {
                TokenKind::Literal
            }
            PpTokenKind::Punct(_) => TokenKind::Punct,
            PpTokenKind::Other => TokenKind::Stray,
            PpTokenKind::Eof => return None,
        };
        let span = self.places.span(tok.report_span());
        let span = span.unwrap_or(Span { file: self.main, start: 0, end: 0 });
        let from_macro = !tok.expansion.is_dummy();
        let previous = at.checked_sub(1).and_then(|i| self.raw.tokens.get(i));
        let glued = previous.is_some_and(|p| p.span.hi == tok.span.lo && p.trace == tok.trace);
        let mut text: Box<str> = self.spelling(at).into();
        if let Some((_, raw)) = (&*text == "\"\"" && span.file == self.main)
            .then(|| self.raw.raw_strings.iter().find(|(start, _)| *start == span.start))
            .flatten()
        {
            text = raw.as_str().into();
        }
        Some(Token {
            kind,
            text,
            span,
            spelled: if from_macro { self.places.span(tok.span) } else { None },
            glued,
            line_start: tok.flags.has(TokenFlags::START_OF_LINE),
        })
    }
}

/// Blanks that stand for what is between two words of a pragma, so that places in its text are
/// places in the source. `None` when the words do not follow each other there.
fn blanks_between(before: Option<Span>, after: Option<Span>) -> Option<usize> {
    let (before, after) = (before?, after?);
    let gap = after.start.checked_sub(before.end)?;
    (before.file == after.file && gap < 1024).then_some(gap as usize)
}
