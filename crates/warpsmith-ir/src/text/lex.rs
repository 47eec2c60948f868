//! Tokens of the text form.

use winnow::combinator::{alt, delimited, dispatch, fail, opt, peek, preceded, repeat};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location};
use winnow::token::{any, literal, none_of, one_of, rest, take_till, take_while};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok {
    /// A name or word. Words are those without suffix and quotes.
    Name {
        name: String,
        suffix: u32,
        quoted: bool,
    },
    /// Digits with point and exponent, and the letters right after them.
    Number {
        digits: String,
        suffix: String,
    },
    Str(String),
    /// `'7`.
    Label(u32),
    Symbol(&'static str),
    End,
}

/// A token with its byte range and the comments before it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub tok: Tok,
    pub start: u32,
    pub end: u32,
    pub comments: Vec<String>,
}

type Input<'a> = LocatingSlice<&'a str>;

/// The longer ones first.
const SYMBOLS: &[&str] = &[
    "..>=", "..!=", "..=", "..>", "..", "::", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "=", "(", ")", "[", "]", "{", "}",
    ",", ";", ":", ".", "@", "$", "#",
];

/// All tokens, with `End` as the last; or the byte at which no token starts.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, u32> {
    let mut input = LocatingSlice::new(text);
    let mut list = vec![];
    loop {
        let comments = comments(&mut input);
        let start = input.current_token_start() as u32;
        if input.is_empty() {
            list.push(Token { tok: Tok::End, start, end: start, comments });
            return Ok(list);
        }
        let tok = token.parse_next(&mut input).map_err(|_| start)?;
        // `previous_token_end` would count what a failed alternative looked at.
        let end = input.current_token_start() as u32;
        list.push(Token { tok, start, end, comments });
    }
}

/// Skips blanks and returns the comment lines among them, without `//` and one blank.
fn comments(input: &mut Input<'_>) -> Vec<String> {
    let mut lines = vec![];
    loop {
        let blanks: winnow::Result<&str> = take_while(0.., char::is_whitespace).parse_next(input);
        let comment: winnow::Result<&str> =
            preceded("//", alt((take_till(0.., '\n'), rest))).parse_next(input);
        match (blanks, comment) {
            (Ok(_), Ok(line)) => lines.push(line.strip_prefix(' ').unwrap_or(line).to_string()),
            _ => return lines,
        }
    }
}

fn token(input: &mut Input<'_>) -> winnow::Result<Tok> {
    dispatch! {peek(any);
        'a'..='z' | 'A'..='Z' | '_' => (word, suffix)
            .map(|(name, suffix): (&str, _)| Tok::Name { name: name.into(), suffix, quoted: false }),
        '`' => (quoted('`'), suffix).map(|(name, suffix)| Tok::Name { name, suffix, quoted: true }),
        '0'..='9' => number,
        '"' => quoted('"').map(Tok::Str),
        '\'' => preceded('\'', digits.try_map(str::parse)).map(Tok::Label),
        _ => symbol.map(Tok::Symbol),
    }
    .parse_next(input)
}

fn word<'a>(input: &mut Input<'a>) -> winnow::Result<&'a str> {
    take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_').parse_next(input)
}

fn digits<'a>(input: &mut Input<'a>) -> winnow::Result<&'a str> {
    take_while(1.., |c: char| c.is_ascii_digit()).parse_next(input)
}

/// `.2` after a name.
fn suffix(input: &mut Input<'_>) -> winnow::Result<u32> {
    opt(preceded('.', digits.try_map(str::parse))).map(Option::unwrap_or_default).parse_next(input)
}

fn number(input: &mut Input<'_>) -> winnow::Result<Tok> {
    // A point needs a digit after it, so that `0..n` is a range.
    let fraction = opt(('.', digits));
    let exponent = opt((one_of(['e', 'E']), opt(one_of(['+', '-'])), digits));
    let digits = (digits, fraction, exponent).take();
    (digits, opt(word))
        .map(|(digits, suffix)| Tok::Number {
            digits: digits.into(),
            suffix: suffix.unwrap_or("").into(),
        })
        .parse_next(input)
}

fn quoted<'a>(quote: char) -> impl FnMut(&mut Input<'a>) -> winnow::Result<String> {
    move |input: &mut Input<'a>| {
        let plain = none_of([quote, '\\', '\n']);
        let character = alt((plain, preceded('\\', escaped)));
        delimited(quote, repeat(0.., character), quote).parse_next(input)
    }
}

/// The character for what stands after a backslash.
fn escaped(input: &mut Input<'_>) -> winnow::Result<char> {
    let code = |hex: &str| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
    let hex = take_while(1..=6, |c: char| c.is_ascii_hexdigit());
    alt((
        'n'.value('\n'),
        't'.value('\t'),
        'r'.value('\r'),
        preceded('u', delimited('{', hex.verify_map(code), '}')),
        one_of(['\\', '`', '"']),
    ))
    .parse_next(input)
}

fn symbol(input: &mut Input<'_>) -> winnow::Result<&'static str> {
    let Some(symbol) = SYMBOLS.iter().find(|s| input.starts_with(**s)) else {
        return fail.parse_next(input);
    };
    literal(*symbol).value(*symbol).parse_next(input)
}
