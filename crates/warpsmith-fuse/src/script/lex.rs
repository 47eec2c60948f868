//! Tokens of a script.

use warpsmith_ir::{Diagnostic, FileId, Span};
use winnow::ascii::{digit1, multispace1};
use winnow::combinator::{alt, opt, preceded, repeat};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{one_of, rest, take_until, take_while};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Word(String),
    Number(i64),
    Symbol(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

type Input<'a> = LocatingSlice<&'a str>;

/// The longer ones first.
const SYMBOLS: [&str; 14] =
    ["++", "+=", "<=", "=", "<", ";", ",", "(", ")", "{", "}", "+", "-", "*"];

/// All tokens, with `End` last.
///
/// # Errors
/// W500: a comment without end, a character that means nothing, a number too large.
pub(super) fn tokens(text: &str, file: FileId) -> Result<Vec<Token>, Diagnostic> {
    let mut input = LocatingSlice::new(text);
    let mut list = vec![];
    loop {
        let start = input.current_token_start();
        if blanks(&mut input).is_err() {
            let at = input.current_token_start().max(start);
            return Err(syntax(file, at, at + 2, "this comment has no end", "close it with `*/`"));
        }
        let start = input.current_token_start();
        let span = |end: usize| Span { file, start: start as u32, end: end as u32 };
        if input.is_empty() {
            list.push(Token { kind: Kind::End, span: span(start) });
            return Ok(list);
        }
        let Ok(kind) = token(&mut input) else {
            let length = text[start..].chars().next().map_or(1, char::len_utf8);
            let what = "this means nothing in a script, or is a number that is too large";
            return Err(syntax(
                file,
                start,
                start + length,
                what,
                "a script has names, calls and counted loops",
            ));
        };
        list.push(Token { kind, span: span(input.current_token_start()) });
    }
}

fn syntax(file: FileId, start: usize, end: usize, what: &str, help: &str) -> Diagnostic {
    let span = Span { file, start: start as u32, end: end as u32 };
    Diagnostic::error("W500", what).label(span, "here").help(help)
}

/// Blanks and comments.
fn blanks(input: &mut Input<'_>) -> ModalResult<()> {
    let line = ("//", take_while(0.., |c| c != '\n')).void();
    let block = ("/*", winnow::combinator::cut_err((take_until(0.., "*/"), "*/"))).void();
    // A byte order mark is no text.
    let mark = '\u{feff}'.void();
    repeat(0.., alt((multispace1.void(), line, block, mark))).parse_next(input)
}

fn token(input: &mut Input<'_>) -> ModalResult<Kind> {
    let word = (one_of(|c: char| c.is_ascii_alphabetic() || c == '_'), take_while(0.., word_part))
        .take()
        .map(|w: &str| Kind::Word(w.to_string()));
    let number = digit1.try_map(|n: &str| n.parse::<i64>()).map(Kind::Number);
    alt((word, number, symbol)).parse_next(input)
}

fn word_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn symbol(input: &mut Input<'_>) -> ModalResult<Kind> {
    for symbol in SYMBOLS {
        if opt(symbol).parse_next(input)?.is_some() {
            return Ok(Kind::Symbol(symbol));
        }
    }
    // Nothing fits: fails without taking anything.
    preceded(one_of(|_| false), rest.void()).map(|()| Kind::End).parse_next(input)
}
