//! Parentheses that mislead the grammar.
//!
//! `(n)-1`, `(n) && (m)` read as casts to a type `n` unless one knows that `n` is none: such parentheses are left out.
//! `a + (T)-r` reads as a sum and a difference although `T` is a type: the cast gets parentheses of its own.
//! `m<T>[i]` reads as two comparisons, the second with a lambda, although `m` is a template of variables: it gets parentheses.
//! `(i += 2, i)` reads as the start of a fold over a pack: its assignments get parentheses of their own.

use std::collections::{HashMap, HashSet};

use super::names::{Names, Tokens};
use crate::pp::{Token, TokenKind};

/// Indices of tokens.
#[derive(Debug, Default)]
pub struct Parens {
    /// Parentheses that are not written.
    pub dropped: HashSet<usize>,
    /// Tokens with additional `(` before them, and how many.
    pub opened: HashMap<usize, usize>,
    /// Tokens with additional `)` after them, and how many.
    pub closed: HashMap<usize, usize>,
}

impl Parens {
    /// Puts the tokens from `first` to `last` into parentheses.
    fn wrap(&mut self, first: usize, last: usize) {
        *self.opened.entry(first).or_default() += 1;
        *self.closed.entry(last).or_default() += 1;
    }
}

/// Finds them; `groups` is the table of [`super::names::bracket_ends`].
pub fn find(tokens: &[Token], groups: &[u32], names: &Names) -> Parens {
    let finder = Finder { tokens, groups, names };
    let mut found = Parens::default();
    for at in 0..tokens.len() {
        if let Some(last) = finder.element_of_template(at) {
            found.wrap(at, last);
        }
        if finder.text(at) != "(" {
            continue;
        }
        if let Some(close) = finder.value_in_parentheses(at) {
            found.dropped.extend([at, close]);
        } else if let Some(last) = finder.cast_after_operator(at) {
            found.wrap(at, last);
        } else {
            finder.assignments_in_list(at, &mut found);
        }
    }
    found
}

struct Finder<'a> {
    tokens: &'a [Token],
    groups: &'a [u32],
    names: &'a Names,
}

impl Finder<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| &t.text)
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|t| t.kind == TokenKind::Word)
    }

    /// The `>` of `m<T>[i]`, where `m` at `at` is a template of variables.
    fn element_of_template(&self, at: usize) -> Option<usize> {
        let is_name = self.is_word(at) && self.text(at + 1) == "<";
        let qualified = matches!(self.text(at.checked_sub(1)?), "::" | "." | "->" | "new");
        let all = Tokens { tokens: self.tokens, groups: self.groups };
        if !is_name
            || qualified
            || self.names.is_type(self.text(at))
            || !self.names.is_template(&all, at)
        {
            return None;
        }
        let end = all.angles_end(at + 1);
        (self.text(end) == "[" && self.text(end - 1) == ">").then_some(end - 1)
    }

    /// `(n)` or `(a[i])` before an operator that is also a prefix, where a value may stand and `n` is no type: the index
    /// of what closes it.
    fn value_in_parentheses(&self, at: usize) -> Option<usize> {
        if !self.is_word(at + 1) {
            return None;
        }
        let mut close = at + 2;
        while self.text(close) == "[" {
            close = self.groups.get(close).map(|e| *e as usize).filter(|e| *e > close + 1)?;
        }
        let ambiguous = matches!(self.text(close + 1), "-" | "+" | "*" | "&" | "&&");
        // `((a) * (b)) + c` of a macro: once `(a)` is written as `a`, `a *(b)` reads as the type of a function.
        let behind = at.checked_sub(1).map_or("", |b| self.text(b));
        let second = matches!(behind, "*" | "&") && self.text(close + 1) == ")";
        if !(ambiguous || second) || self.text(close) != ")" {
            return None;
        }
        let name = self.text(at + 1);
        // A type nobody declares is the library's; those of C end in `_t`.
        let may_be_type =
            is_keyword(name) || self.names.is_type(name) || name.ends_with("_t") || name == "this";
        (!may_be_type && self.value_may_follow(at)).then_some(close)
    }

    /// The last token of `(T)-x` behind a binary operator, where `T` is a type.
    fn cast_after_operator(&self, at: usize) -> Option<usize> {
        const OPERATORS: &[&str] = &[
            "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!=",
            "&&", "||",
        ];
        let end = self.groups.get(at).map(|e| *e as usize).filter(|e| *e > at + 2)?;
        let behind_operator = OPERATORS.contains(&self.text(at.checked_sub(1)?));
        let ambiguous = matches!(self.text(end), "-" | "+" | "*" | "&");
        let inside = at + 1..end - 1;
        let named = inside.clone().all(|i| self.is_word(i) || self.text(i) == "::");
        let is_type = self.names.is_type(self.text(end - 2)) || self.text(end - 2).ends_with("_t");
        if !(behind_operator && ambiguous && named && is_type) {
            return None;
        }
        let mut i = end;
        // Prefixes and further casts.
        loop {
            let group = self.groups.get(i).map(|e| *e as usize).filter(|e| *e > i + 1);
            match (self.text(i), group) {
                ("-" | "+" | "*" | "&" | "~" | "!", _) => i += 1,
                ("(", Some(e)) if self.is_word(e) || self.text(e) == "(" => i = e,
                _ => break,
            }
        }
        let operand = self.tokens.get(i)?;
        let mut last = match (&*operand.text, operand.kind) {
            ("(", _) => (*self.groups.get(i)? as usize).checked_sub(1)?,
            (_, TokenKind::Word | TokenKind::Number) => i,
            _ => return None,
        };
        // What is applied to the operand before the cast.
        loop {
            let next = last + 1;
            last = match self.text(next) {
                "(" | "[" => {
                    (*self.groups.get(next)? as usize).checked_sub(1).filter(|l| *l > next)?
                }
                "." | "->" | "::" => next + 1,
                "++" | "--" => next,
                _ => return Some(last),
            };
        }
    }

    /// Whether the parenthesis at `at` begins an operand: no call, no condition, no declarator.
    fn value_may_follow(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        match self.text(before) {
            // `(float)(n)-1`: what is closed must be a cast.
            ")" => self.closes_a_cast(before),
            "]" | ">" | "}" | ";" | "{" => false,
            "return" | "case" => true,
            _ => self.tokens[before].kind == TokenKind::Punct,
        }
    }

    /// Whether the parenthesis at `close` ends a cast: `(unsigned int)`, `(const T *)`, `(ns::real)`.
    fn closes_a_cast(&self, close: usize) -> bool {
        const MOST: usize = 16;
        let mut open = close;
        loop {
            let Some(before) = open.checked_sub(1).filter(|b| b + MOST > close) else {
                return false;
            };
            open = before;
            match self.text(open) {
                "(" => break,
                "::" | "*" | "<" | ">" | "," => {}
                _ if self.is_word(open) => {}
                _ => return false,
            }
        }
        if open + 1 >= close || !self.is_word(open + 1) {
            return false;
        }
        let last = self.text(close - 1);
        let is_type = is_keyword(last) || self.names.is_type(last) || last.ends_with("_t");
        // Nothing but a type ends with a star.
        let cast = last == "*" || (is_type && (open + 1..close).all(|i| self.text(i) != ","));
        cast && open.checked_sub(1).is_none_or(|b| {
            (!self.is_word(b) && !matches!(self.text(b), ">" | ")" | "]"))
                || self.text(b) == "return"
        })
    }

    /// Puts the assignments of `(a = b, c)` into parentheses when the parenthesis is that of an expression.
    fn assignments_in_list(&self, at: usize, found: &mut Parens) {
        let Some(end) = self.groups.get(at).map(|e| *e as usize).filter(|e| *e > at + 1) else {
            return;
        };
        let expression = at.checked_sub(1).is_some_and(|b| match self.text(b) {
            "return" | "if" | "while" | "switch" => true,
            ")" | "]" | ">" | "}" => false,
            ";" | "{" => true,
            _ => self.tokens[b].kind == TokenKind::Punct,
        });
        if !expression {
            return;
        }
        let (mut start, mut assigns, mut parts) = (at + 1, false, vec![]);
        let mut i = at + 1;
        while i + 1 < end {
            match self.text(i) {
                ";" => return,
                "," => {
                    parts.push((start, i - 1, assigns));
                    (start, assigns) = (i + 1, false);
                }
                "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => {
                    assigns = true;
                }
                "(" | "[" | "{" => {
                    i = self.groups.get(i).map_or(i + 1, |e| (*e as usize).max(i + 1));
                    continue;
                }
                _ => {}
            }
            i += 1;
        }
        if parts.is_empty() {
            return;
        }
        parts.push((start, end - 2, assigns));
        for (first, last, _) in parts.into_iter().filter(|(f, l, assigns)| *assigns && f <= l) {
            found.wrap(first, last);
        }
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "int"
            | "unsigned"
            | "signed"
            | "long"
            | "short"
            | "char"
            | "float"
            | "double"
            | "bool"
            | "void"
            | "auto"
            | "size_t"
    )
}

/// Whether `unsigned` or `long` begins a value behind a parenthesis that groups: `(unsigned(x) & 3)`, which the grammar would take for a cast to
/// a function. It takes `((unsigned)(x) & 3)`, which is the same.
pub fn is_grouped_value(tokens: &[Token], at: usize) -> bool {
    let text = |i: usize| tokens.get(i).map_or("", |t| &*t.text);
    let converts = matches!(text(at), "unsigned" | "long") && text(at + 1) == "(";
    if !converts || at < 2 || text(at - 1) != "(" || matches!(text(at + 2), "*" | "&" | "&&" | ")")
    {
        return false;
    }
    match text(at - 2) {
        ")" | "]" | ">" => false,
        "return" => true,
        _ => tokens[at - 2].kind != TokenKind::Word,
    }
}
