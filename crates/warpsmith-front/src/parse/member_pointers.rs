//! Pointers to members, for which the grammar has no rule: `float Point::*m` is read as `__0member<float, Point> m`, and
//! `float (Point::*f)(int) const` as `float (*f)(Point *, int)`: a method is a function whose first argument is the object.

use std::collections::{HashMap, HashSet};

use super::names::Tokens;
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
    /// Tokens of pointers to methods that are left out: the class and its `::`, and `const` behind the parameters.
    pub dropped: HashSet<usize>,
    /// What stands behind the `(` of their parameters.
    pub objects: HashMap<usize, String>,
}

/// All of a text.
pub fn find(all: &Tokens<'_>) -> MemberPointers {
    let tokens = all.tokens;
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
        } else if class < at && class > 0 && text(class - 1) == "(" {
            to_method(all, (class, at), &mut found);
        }
    }
    found
}

/// `(C::*f)(int) const`; between the numbers is the name of the class.
fn to_method(all: &Tokens<'_>, (class, end): (usize, usize), found: &mut MemberPointers) {
    let tokens = all.tokens;
    let text = |at: usize| tokens.get(at).map_or("", |t| &*t.text);
    let Some(params) = closing(all, class - 1).map(|close| close + 1) else { return };
    let Some(last) = closing(all, params).filter(|_| text(params) == "(") else { return };
    let is_const = text(last + 1) == "const";
    let name: String = tokens[class..end].iter().map(|t| format!("{} ", t.text)).collect();
    let none = last == params + 1 || text(params + 1) == "void" && last == params + 2;
    let comma = if none { "" } else { "," };
    let before = if is_const { " const " } else { " " };
    found.objects.insert(params, format!("{before}{name}*{comma}"));
    found.dropped.extend(class..=end);
    if none {
        found.dropped.extend(params + 1..last);
    }
    if is_const {
        found.dropped.insert(last + 1);
    }
}

/// The `)` that belongs to a `(`; `None`: there is none.
fn closing(all: &Tokens<'_>, open: usize) -> Option<usize> {
    let end = all.group_end(open);
    (end > open + 1).then_some(end - 1)
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
