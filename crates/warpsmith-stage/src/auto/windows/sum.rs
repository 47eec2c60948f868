//! Sums as they stand in a text: names and products that are added or subtracted, and a number.

use crate::source::marks;

/// A sum, with terms in the order of the text; equal ones that cancel are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    terms: Vec<(i64, String)>,
    number: i64,
}

impl Sum {
    pub fn number(number: i64) -> Sum {
        Sum { terms: vec![], number }
    }

    /// The terms of a text; what is no plain sum is one term.
    pub fn of(text: &str) -> Sum {
        let mut sum = Sum::default();
        let (mut depth, mut start, mut sign) = (0i32, 0, 1);
        let tokens = marks::tokens(text);
        let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
        for i in 0..tokens.len() {
            match word(i) {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                "?" | "<" | ">" | "=" | "&" | "|" | "^" | "," if depth == 0 => {
                    return Sum { terms: vec![(1, format!("({})", text.trim()))], number: 0 };
                }
                // What follows an operator is a sign.
                op @ ("+" | "-") if depth == 0 && !["*", "/", "%"].contains(&before(&word, i)) => {
                    sum.add(sign, text[start..tokens[i].at.start].trim());
                    start = tokens[i].at.end;
                    sign = if op == "+" { 1 } else { -1 };
                }
                _ => {}
            }
        }
        sum.add(sign, text[start..].trim());
        sum
    }

    fn add(&mut self, sign: i64, term: &str) {
        if term.is_empty() {
            return;
        }
        let inner = term.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        if let Some(inner) = inner.filter(|t| !t.contains(['(', ')', '?', '<', '>', '&', '|'])) {
            *self = self.plus(sign, &Sum::of(inner));
            return;
        }
        match term.parse::<i64>() {
            Ok(n) => self.number += sign * n,
            Err(_) => match term.split_once(" * ").map(|(n, t)| (n.parse::<i64>(), t)) {
                Some((Ok(n), t)) => self.more(sign * n, t),
                _ => self.more(sign, term),
            },
        }
    }

    fn more(&mut self, count: i64, term: &str) {
        match self.terms.iter().position(|(_, t)| t == term) {
            Some(at) => {
                self.terms[at].0 += count;
                self.terms.retain(|(count, _)| *count != 0);
            }
            None if count == 0 => {}
            None => self.terms.push((count, term.to_string())),
        }
    }

    /// This and some times another.
    pub fn plus(&self, times: i64, other: &Sum) -> Sum {
        let mut sum = self.clone();
        other.terms.iter().for_each(|(count, t)| sum.more(times * count, t));
        sum.number += times * other.number;
        sum
    }

    /// This so many times as a constant says.
    pub fn times(&self, constant: &str) -> Sum {
        let mut all = Sum::default().plus(self.number, &Sum::of(constant));
        self.terms.iter().for_each(|(count, t)| all.more(*count, &format!("{t} * {constant}")));
        all
    }

    pub fn minus(&self, other: &Sum) -> Sum {
        self.plus(-1, other)
    }

    pub fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.number == 0
    }

    /// The number that it is.
    pub fn value(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.number)
    }

    /// What stands behind another term: ` + R - 1`.
    pub fn behind(&self) -> String {
        let mut text = String::new();
        for (count, term) in &self.terms {
            let sign = if *count < 0 { '-' } else { '+' };
            text += &match count.abs() {
                1 => format!(" {sign} {term}"),
                n => format!(" {sign} {n} * {}", factor(term)),
            };
        }
        match self.number {
            0 => {}
            n if n < 0 => text += &format!(" - {}", -n),
            n => text += &format!(" + {n}"),
        }
        text
    }

    /// The sum alone.
    pub fn text(&self) -> String {
        let behind = self.behind();
        match behind.get(..3) {
            None => "0".into(),
            Some(" + ") => behind[3..].to_string(),
            _ => format!("-{}", &behind[3..]),
        }
    }
}

fn before<'a>(word: &impl Fn(usize) -> &'a str, i: usize) -> &'a str {
    if i == 0 { "" } else { word(i - 1) }
}

/// A term that can stand behind `*`.
fn factor(term: &str) -> String {
    let simple = !term.contains([' ', '/', '%']);
    if simple { term.to_string() } else { format!("({term})") }
}

/// A comparison of whole numbers in the form that people write: what both sides have is gone, numbers stand on the right.
pub fn compared(left: &Sum, op: &str, right: &Sum) -> String {
    let (mut left, mut right, mut op) = (left.clone(), right.clone(), op.to_string());
    let common: Vec<(i64, String)> =
        left.terms.iter().filter(|t| right.terms.contains(t)).cloned().collect();
    let common = Sum { terms: common, number: left.number };
    (left, right) = (left.minus(&common), right.minus(&common));
    if left.terms.is_empty() && !right.terms.is_empty() {
        let number = Sum::number(right.number);
        (left, right) = (right.minus(&number), left.minus(&number));
        op = turned(&op).to_string();
    }
    // `x > -1` is `x >= 0`, `x < 1 - 1` has gone the same way.
    match (op.as_str(), right.value()) {
        (">", Some(n)) if n < 0 => (op, right) = (">=".into(), Sum::number(n + 1)),
        ("<=", Some(n)) if n < 0 => (op, right) = ("<".into(), Sum::number(n + 1)),
        _ => {}
    }
    format!("{} {op} {}", left.text(), right.text())
}

/// The comparison with its sides changed.
pub fn turned(op: &str) -> &str {
    match op {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        same => same,
    }
}

/// The comparison that holds where another does not.
pub fn opposite(op: &str) -> Option<&'static str> {
    Some(match op {
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        ">=" => "<",
        "==" => "!=",
        "!=" => "==",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_written_as_people_write_them() {
        let text = |t: &str| Sum::of(t).text();
        assert_eq!(text("R + R"), "2 * R");
        assert_eq!(text("(K) - 1"), "K - 1");
        assert_eq!(text("2 * R + 1 - (R - 1)"), "R + 2");
        assert_eq!(text("-R"), "-R");
        assert_eq!(text("f(a, b) + x[i + 1]"), "f(a, b) + x[i + 1]");
        assert_eq!(Sum::of("a * -2").text(), "a * -2");
        assert_eq!(text("a < b ? a : b"), "(a < b ? a : b)");
        assert_eq!(Sum::of("R").minus(&Sum::of("-R")).behind(), " + 2 * R");
        assert_eq!(Sum::of("R").plus(0, &Sum::of("N - 8")).text(), "R");
        assert_eq!(Sum::of("n / 2").plus(2, &Sum::of("n / 2")).text(), "3 * (n / 2)");
    }

    #[test]
    fn comparisons_have_no_numbers_that_cancel() {
        let of = |a: &str, op: &str, b: &str| compared(&Sum::of(a), op, &Sum::of(b));
        assert_eq!(of("c + 1", ">", "0"), "c >= 0");
        assert_eq!(of("c - 1", "<", "cols - 1"), "c < cols");
        assert_eq!(of("x - R", "<", "w - R"), "x < w");
        assert_eq!(of("1", "<", "cols - 1"), "cols > 2");
        assert_eq!(of("x + 2", ">=", "2"), "x >= 0");
    }
}
