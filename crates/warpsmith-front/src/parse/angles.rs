//! Template arguments that the grammar takes for comparisons.
//!
//! `a::two<7>::value` reads as `a::two < 7 > ::value`, `a::two<7> x;` as `a::two < 7 > x`, which are expressions, too. An argument that can only be a type,
//! written behind the others, tells them apart; the syntax tree does not have it.

use std::collections::HashSet;

use super::names::{Names, Tokens};
use crate::pp::TokenKind;

/// The argument that is written behind the others.
pub const TYPE_ARGUMENT: &str = "const __0args";

/// The braces of a launch, `k<<<grid, {32, 8}>>>(…)`, which make a `dim3`: the grammar wants that said.
pub fn extents_in_braces(all: &Tokens) -> HashSet<usize> {
    const MOST: usize = 256;
    let text = |at: usize| all.tokens.get(at).map_or("", |t| &*t.text);
    let glued = |at: usize| all.tokens.get(at).is_some_and(|t| t.glued);
    let mut found = HashSet::new();
    for open in (1..all.tokens.len()).filter(|i| text(*i) == "<" && glued(*i)) {
        if text(open - 1) != "<<" {
            continue;
        }
        let mut at = open + 1;
        while at < open + MOST && !(text(at) == ">>" && text(at + 1) == ">" && glued(at + 1)) {
            let begins = matches!(text(at - 1), "," | "<");
            if text(at) == "{" && begins {
                found.insert(at);
            }
            at = match text(at) {
                ";" | "" => break,
                _ => all.group_end(at),
            };
        }
    }
    found
}

/// The tokens `>` before which it is written.
pub fn find(all: &Tokens, names: &Names) -> HashSet<usize> {
    let text = |at: usize| all.tokens.get(at).map_or("", |t| &*t.text);
    let mut found = HashSet::new();
    for at in (2..all.tokens.len()).filter(|i| text(*i) == "<") {
        let named =
            all.tokens[at - 1].kind == TokenKind::Word && matches!(text(at - 2), "::" | "template");
        if !named || names.is_comparison(all, at) || text(at + 1) == ">" {
            continue;
        }
        let end = all.angles_end(at);
        let is_word = |at: usize| all.tokens.get(at).is_some_and(|t| t.kind == TokenKind::Word);
        // `a::two<7> x(1);` declares `x`: nobody compares a name with a number, and the outcome with `x(1)`.
        let declares = is_word(end) || matches!(text(end), "*" | "&") && is_word(end + 1);
        let template = || names.is_template(all, at - 1);
        if text(end - 1) == ">" && (text(end) == "::" || declares && template()) {
            found.insert(end - 1);
        }
    }
    found
}
