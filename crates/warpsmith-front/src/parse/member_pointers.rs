//! Pointers to data members, for which the grammar has no rule: `float Point::*m` is read as `__0member<float, Point> m`.

use std::collections::HashSet;

use crate::pp::{Token, TokenKind};

/// The template that stands for such a pointer.
pub const MEMBER_OF: &str = "__0member";

/// Words of a declaration that are no part of its type.
const NO_TYPE: [&str; 8] =
    ["static", "constexpr", "inline", "extern", "return", "typedef", "typename", "using"];

/// Where the parts of such types are, by token.
#[derive(Debug, Default)]
pub struct MemberPointers {
    /// What the member is begins here.
    pub types: HashSet<usize>,
    /// Its class begins here.
    pub classes: HashSet<usize>,
    /// The `::` of `::*`.
    pub ends: HashSet<usize>,
}

/// All of a text; those of functions, `(C::*f)(int)`, are left as they are.
pub fn find(tokens: &[Token]) -> MemberPointers {
    let mut found = MemberPointers::default();
    let text = |at: usize| tokens.get(at).map_or("", |t| &*t.text);
    for at in 1..tokens.len() {
        if text(at) != "::" || text(at + 1) != "*" {
            continue;
        }
        let class = start(tokens, at, &|text| text == "::");
        let ty = start(tokens, class, &|text| matches!(text, "::" | "*" | "&"));
        if class < at && ty < class {
            found.types.insert(ty);
            found.classes.insert(class);
            found.ends.insert(at);
        }
    }
    found
}

/// Where the words, template arguments and given signs before a token begin.
fn start(tokens: &[Token], before: usize, sign: &dyn Fn(&str) -> bool) -> usize {
    let mut at = before;
    // One word does for the name of a class; those of a type may be several.
    let many = sign("*");
    let mut after_word = false;
    while let Some(previous) = at.checked_sub(1) {
        let text = &*tokens[previous].text;
        let word = tokens[previous].kind == TokenKind::Word && !NO_TYPE.contains(&text);
        if text == ">" {
            match opening(tokens, previous) {
                Some(open) => at = open,
                None => break,
            }
            continue;
        }
        if !(word && (many || !after_word) || sign(text)) {
            break;
        }
        after_word = word;
        at = previous;
    }
    at
}

/// The `<` of template arguments that end here.
fn opening(tokens: &[Token], end: usize) -> Option<usize> {
    const MOST: usize = 64;
    let mut depth = 0;
    for at in (end.saturating_sub(MOST)..=end).rev() {
        match &*tokens[at].text {
            ">" => depth += 1,
            "<" => depth -= 1,
            ";" | "{" | "}" => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
