//! Types with stars or `const` as defaults of template parameters, `typename P = const T *`, which the grammar does not read: they
//! are written as the argument of an alias that stands for it.

use std::collections::HashSet;

use crate::pp::{Token, TokenKind};

/// `template <typename T> using __0type = T;`
pub const TYPE_OF: &str = "__0type";
/// Tokens of such a type, at most.
const LONGEST: usize = 128;

/// Where such types begin and end.
#[derive(Default)]
pub struct DefaultTypes {
    pub begins: HashSet<usize>,
    pub ends: HashSet<usize>,
}

pub fn find(tokens: &[Token]) -> DefaultTypes {
    let text = |at: usize| tokens.get(at).map_or("", |t| &*t.text);
    let introduces = |at: usize| matches!(text(at), "typename" | "class");
    let mut found = DefaultTypes::default();
    for at in (1..tokens.len()).filter(|at| text(*at) == "=") {
        let named = at >= 2 && tokens[at - 1].kind == TokenKind::Word && introduces(at - 2);
        if (named || introduces(at - 1))
            && let Some(end) = end_of_type(tokens, at + 1)
        {
            found.begins.insert(at + 1);
            found.ends.insert(end - 1);
        }
    }
    found
}

/// Behind the type that begins here, when the grammar does not read it.
fn end_of_type(tokens: &[Token], begin: usize) -> Option<usize> {
    let (mut depth, mut unread) = (0usize, false);
    for (at, token) in tokens.iter().enumerate().skip(begin).take(LONGEST) {
        match &*token.text {
            "," | ">" if depth == 0 => return (unread && at > begin).then_some(at),
            "<" | "(" | "[" => depth += 1,
            ">" | ")" | "]" => depth = depth.checked_sub(1)?,
            ">>" => depth = depth.checked_sub(2)?,
            "*" | "&" | "&&" | "const" | "volatile" => unread |= depth == 0,
            ";" | "{" => return None,
            _ => {}
        }
    }
    None
}
