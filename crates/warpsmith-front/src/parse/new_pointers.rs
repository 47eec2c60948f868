//! `new T *[n]`, for which the grammar has no rule: the stars are taken out before it reads the text.

use crate::pp::{Token, TokenKind};

/// Tokens of a type with template arguments, at most.
const LONGEST: usize = 64;

/// Whether the token is a star between the type and the length of an array that `new` makes.
pub fn is_star_of_new(tokens: &[Token], at: usize) -> bool {
    let text = |i: usize| tokens.get(i).map_or("", |t| &*t.text);
    if text(at) != "*" {
        return false;
    }
    let mut after = at;
    while text(after) == "*" {
        after += 1;
    }
    if text(after) != "[" {
        return false;
    }
    let mut before = at;
    while before > 0 && text(before) == "*" {
        before -= 1;
    }
    ends_type_of_new(tokens, before)
}

/// Whether a type that ends here stands behind `new`.
fn ends_type_of_new(tokens: &[Token], last: usize) -> bool {
    let mut depth = 0usize;
    for token in tokens[..=last.min(tokens.len().saturating_sub(1))].iter().rev().take(LONGEST) {
        match &*token.text {
            "new" => return depth == 0,
            ">" => depth += 1,
            ">>" => depth += 2,
            "<" => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            "::" => {}
            "," | "*" if depth > 0 => {}
            _ if token.kind == TokenKind::Word || depth > 0 => {}
            _ => return false,
        }
    }
    false
}
