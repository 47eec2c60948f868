//! What the arguments of steps are written with.

use winnow::ascii::{dec_uint, space0, space1};
use winnow::combinator::{alt, opt, preceded, separated};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::token::take_while;
use winnow::{ModalResult, Parser};

use warpsmith_ir::Axis;

/// What a message says is wanted where a text cannot be read.
pub(crate) fn wanted(text: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(text))
}

/// The name of a loop, an array or a parameter; `i#2` is the second of that name.
pub(in crate::rewrite) fn name(input: &mut &str) -> ModalResult<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '#';
    take_while(1.., word)
        .context(wanted("a name is wanted here"))
        .map(str::to_string)
        .parse_next(input)
}

pub(in crate::rewrite) fn comma<'s>() -> impl Parser<&'s str, (), ErrMode<ContextError>> {
    (space0, ',', space0).void()
}

pub(in crate::rewrite) fn axis(input: &mut &str) -> ModalResult<Axis> {
    alt(("x".value(Axis::X), "y".value(Axis::Y), "z".value(Axis::Z)))
        .context(wanted("an axis, `x`, `y` or `z`, is wanted here"))
        .parse_next(input)
}

pub(in crate::rewrite) fn number(input: &mut &str) -> ModalResult<u32> {
    dec_uint
        .context(wanted("a whole number, 0 or more and less than 2^32, is wanted here"))
        .parse_next(input)
}

/// A number behind a word, as in `by 4`; the text says what is wanted where it is missing.
pub(in crate::rewrite) fn counted<'s>(
    word: &'static str,
    text: &'static str,
) -> impl Parser<&'s str, u32, ErrMode<ContextError>> {
    preceded((space1, word, space1), number).context(wanted(text))
}

/// A number behind a word, or one where the word is missing.
pub(in crate::rewrite) fn counted_or_one<'s>(
    word: &'static str,
) -> impl Parser<&'s str, u32, ErrMode<ContextError>> {
    opt(preceded((space1, word, space1), number)).map(|n| n.unwrap_or(1))
}

/// One to three numbers, along x, y, z.
pub(in crate::rewrite) fn extents(input: &mut &str) -> ModalResult<[u32; 3]> {
    let sizes: Vec<u32> = separated(1..=3, number, 'x').parse_next(input)?;
    let mut extents = [1u32; 3];
    extents.iter_mut().zip(&sizes).for_each(|(e, s)| *e = *s);
    Ok(extents)
}

/// Numbers as [`extents`] reads them.
pub(in crate::rewrite) fn by_x(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}
