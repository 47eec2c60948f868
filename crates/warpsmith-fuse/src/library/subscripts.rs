//! Subscripts of a parameter in a routine's text, and what they are when counted from another start.

use std::ops::Range;

use warpsmith_front::pp::{Piece, Scanner};

use super::Expr;
use super::routine::Coordinate;

type Pieces = Vec<(Piece, Range<usize>)>;

/// The offsets in all uses of a parameter: what stands between brackets, or behind `+` where a pointer is made of it. `None`: it
/// is used otherwise.
pub fn subscripts(body: &str, name: &str) -> Option<Vec<Range<usize>>> {
    let pieces: Pieces = Scanner::new(body, true)
        .filter(|(p, _)| !matches!(p, Piece::Comment | Piece::Newline))
        .collect();
    let mut found = vec![];
    for (i, (piece, range)) in pieces.iter().enumerate() {
        if *piece != Piece::Word || &body[range.clone()] != name {
            continue;
        }
        let after_dot = i > 0 && matches!(pieces[i - 1].0, Piece::Other(b'.'));
        if after_dot {
            continue;
        }
        let behind = parenthesised(&pieces, i).unwrap_or(i) + 1;
        found.push(bracketed(&pieces, behind).or_else(|| added(body, &pieces, i))?);
    }
    Some(found)
}

/// The parenthesis that closes around nothing but the piece: `(A)[i]`. What stands before the other one must not make a call of it.
fn parenthesised(pieces: &[(Piece, Range<usize>)], at: usize) -> Option<usize> {
    let is = |k: usize, byte: u8| pieces.get(k).is_some_and(|(p, _)| *p == Piece::Other(byte));
    let before = at.checked_sub(1)?;
    let called = before
        .checked_sub(1)
        .is_some_and(|k| matches!(pieces[k].0, Piece::Word | Piece::Other(b')' | b']' | b'>')));
    (is(before, b'(') && is(at + 1, b')') && is(at + 2, b'[') && !called).then_some(at + 1)
}

/// The sum behind the `+` after a parameter: `float *row = A + ty * 9;`, `f(A + tx * 3, …)`, `*(A + k)`. Not where the pointer is
/// cast: an array in registers has floats, and is aligned as such.
fn added(body: &str, pieces: &Pieces, at: usize) -> Option<Range<usize>> {
    let is = |k: usize, byte: u8| pieces.get(k).is_some_and(|(p, _)| *p == Piece::Other(byte));
    let before = at.checked_sub(1)?;
    let opens = is(before, b'(') && !before.checked_sub(1).is_some_and(|k| is(k, b')'));
    if !(is(at + 1, b'+') && (opens || is(before, b'=') || is(before, b','))) {
        return None;
    }
    let start = pieces.get(at + 2)?.1.start;
    let mut depth = 0;
    for (piece, range) in &pieces[at + 2..] {
        match piece {
            Piece::Other(b'(' | b'[') => depth += 1,
            Piece::Other(b')' | b']' | b',' | b';') if depth == 0 => {
                let text = body[start..range.start].trim_end();
                // A comparison, a choice and the like is no offset.
                return Expr::parse(text).map(|_| start..start + text.len());
            }
            Piece::Other(b')' | b']') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What stands between the bracket at a piece and the one that closes it.
fn bracketed(pieces: &[(Piece, Range<usize>)], at: usize) -> Option<Range<usize>> {
    let (Piece::Other(b'['), open) = pieces.get(at)? else { return None };
    let mut depth = 1;
    for (piece, range) in &pieces[at + 1..] {
        match piece {
            Piece::Other(b'[') => depth += 1,
            Piece::Other(b']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open.end..range.start);
        }
    }
    None
}

/// A start that is linear in the thread's coordinates: a constant and three coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// What is always added.
    pub constant: i64,
    /// Factors of the positions along x, y and z.
    pub by: [i64; 3],
}

impl Start {
    /// As C.
    pub fn text(&self) -> String {
        let mut terms: Vec<String> = vec![];
        for (axis, c) in self.by.iter().enumerate().rev() {
            let name = Coordinate::Thread(axis).name();
            match c {
                0 => {}
                1 => terms.push(name.to_string()),
                c => terms.push(format!("{name} * {c}")),
            }
        }
        if self.constant != 0 || terms.is_empty() {
            terms.push(self.constant.to_string());
        }
        terms.join(" + ")
    }
}

/// A subscript minus a start, simplified where the start's terms stand in it. `sizes` gives macros their values.
pub fn relative(subscript: &str, start: Start, sizes: &dyn Fn(&str) -> Option<i64>) -> String {
    let trimmed = subscript.trim();
    if start == (Start { constant: 0, by: [0; 3] }) {
        return trimmed.to_string();
    }
    let fallback = || format!("({trimmed}) - ({})", start.text());
    let Some(expr) = Expr::parse(trimmed) else { return fallback() };
    let mut terms = vec![];
    flatten(&expr, 1, &mut terms);
    let mut by = [0i64; 3];
    let mut constant = -start.constant;
    let mut rest = vec![];
    for (sign, term) in terms {
        match linear(term, sizes) {
            Some((Some(axis), c)) => by[axis] += sign * c,
            Some((None, c)) => constant += sign * c,
            None => rest.push((sign, term)),
        }
    }
    if by != start.by {
        return fallback();
    }
    let mut text = String::new();
    for (sign, term) in rest {
        let term = print(term, false);
        match (text.is_empty(), sign) {
            (true, 1) => text.push_str(&term),
            (true, _) => text.push_str(&format!("-{term}")),
            (false, 1) => text.push_str(&format!(" + {term}")),
            (false, _) => text.push_str(&format!(" - {term}")),
        }
    }
    match (text.is_empty(), constant) {
        (true, c) => c.to_string(),
        (false, 0) => text,
        (false, c) if c < 0 => format!("{text} - {}", -c),
        (false, c) => format!("{text} + {c}"),
    }
}

fn flatten<'a>(e: &'a Expr, sign: i64, terms: &mut Vec<(i64, &'a Expr)>) {
    match e {
        Expr::Binary('+', a, b) => {
            flatten(a, sign, terms);
            flatten(b, sign, terms);
        }
        Expr::Binary('-', a, b) => {
            flatten(a, sign, terms);
            flatten(b, -sign, terms);
        }
        Expr::Negative(a) => flatten(a, -sign, terms),
        other => terms.push((sign, other)),
    }
}

/// A product of constants and at most one coordinate of the thread: which one, and the factor.
fn linear(e: &Expr, sizes: &dyn Fn(&str) -> Option<i64>) -> Option<(Option<usize>, i64)> {
    match e {
        Expr::Number(n) => Some((None, *n)),
        Expr::Name(name) => match Coordinate::named(name) {
            Some(Coordinate::Thread(axis)) => Some((Some(axis), 1)),
            _ => sizes(name).map(|n| (None, n)),
        },
        Expr::Binary('*', a, b) => match (linear(a, sizes)?, linear(b, sizes)?) {
            ((axis, x), (None, y)) | ((None, x), (axis, y)) => Some((axis, x.checked_mul(y)?)),
            _ => None,
        },
        _ => None,
    }
}

fn print(e: &Expr, inner: bool) -> String {
    match e {
        Expr::Number(n) => n.to_string(),
        Expr::Name(name) => name.clone(),
        Expr::Negative(a) => format!("-{}", print(a, true)),
        Expr::Binary(op, a, b) => {
            let text = format!("{} {op} {}", print(a, true), print(b, true));
            let simple = !inner;
            if simple { text } else { format!("({text})") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Start = Start { constant: 0, by: [3, 9, 0] };

    fn sizes(name: &str) -> Option<i64> {
        (name == "F_1_BY").then_some(4)
    }

    #[test]
    fn the_terms_of_the_start_go() {
        assert_eq!(relative("ty * 9 + tx * 3 + k", ROW, &sizes), "k");
        assert_eq!(relative("k * 2 + 3 * tx + ty * 9 + 1", ROW, &sizes), "k * 2 + 1");
        assert_eq!(relative("3 * tx + 9 * ty", ROW, &sizes), "0");
        assert_eq!(relative("i * (j + 1) - 2 + tx*3 + ty*9", ROW, &sizes), "i * (j + 1) - 2");
        let tile = Start { constant: 0, by: [1, 3, 0] };
        assert_eq!(relative("i * 3 * F_1_BY + ty * 3 + tx", tile, &sizes), "(i * 3) * F_1_BY");
    }

    #[test]
    fn what_does_not_fit_is_subtracted() {
        assert_eq!(relative("o + k", ROW, &sizes), "(o + k) - (ty * 9 + tx * 3)");
        assert_eq!(relative("(int)ty", ROW, &sizes), "((int)ty) - (ty * 9 + tx * 3)");
        assert_eq!(relative("k", Start { constant: 0, by: [0; 3] }, &sizes), "k");
    }

    #[test]
    fn only_subscripts_count() {
        let body = "{ A[i[2]] = p.A + B[1]; /* A */ }";
        assert_eq!(subscripts(body, "B").map(|s| s.len()), Some(1));
        let of_a = subscripts(body, "A").unwrap();
        assert_eq!(&body[of_a[0].clone()], "i[2]");
        assert_eq!(subscripts("{ f(A); }", "A"), None);
        assert_eq!(subscripts("{ x = 2 * (A)[i] + ((A)[3]); }", "A").map(|s| s.len()), Some(2));
        assert_eq!(subscripts("{ x = f(A)[i]; }", "A"), None);
    }

    #[test]
    fn pointers_with_an_offset_count_too() {
        let offsets = |body: &str| -> Option<Vec<String>> {
            Some(subscripts(body, "A")?.into_iter().map(|r| body[r].to_string()).collect())
        };
        let body = "{ float *p = A + tx * 9 , *q = A + (k + 1) * 2; f(A + 3, *(A + tx)); A[1]; }";
        assert_eq!(offsets(body).unwrap(), ["tx * 9", "(k + 1) * 2", "3", "tx", "1"]);
        for body in [
            "{ p = A; }",
            "{ p = A - 1; }",
            "{ p = c ? A + 1 : B; }",
            "{ x = A + 1 < B; }",
            "{ y = *(float4 *)(A + tx * 4); }",
            "{ A += 3; }",
        ] {
            assert_eq!(offsets(body), None, "{body}");
        }
    }
}
