//! What is read beyond a border: an element of an array, or a constant in its place, as conditions say.

use warpsmith_front::pp::Piece;

use super::{elements, marks, scope};

/// An expression that is an element, or chooses between elements and constants: `i < 0 ? 0.0f : a[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padded {
    /// An element, as it is written, and with macros written out.
    Element(String, String),
    Constant(String),
    /// A condition, and what is meant where it holds and where not.
    Either(String, Box<Padded>, Box<Padded>),
}

/// Conditions in conditions that are followed.
const MAX_DEPTH: u32 = 8;

/// What an expression is when macros defined before a byte of the text are written out; `None`: something else, or constants alone.
pub fn padded(text: &str, expression: &str, before: usize) -> Option<Padded> {
    let found = part(text, expression, before, MAX_DEPTH)?;
    found.element().is_some().then_some(found)
}

fn part(text: &str, expression: &str, before: usize, depth: u32) -> Option<Padded> {
    let expression = bare(expression);
    if let Some(element) = elements::element(text, expression, before) {
        return Some(Padded::Element(expression.to_string(), element));
    }
    let inner = |e: &str| part(text, e, before, depth.checked_sub(1)?).map(Box::new);
    match arms(expression) {
        Some([condition, a, b]) if is_plain(text, condition) => {
            Some(Padded::Either(condition.to_string(), inner(a)?, inner(b)?))
        }
        None if is_plain(text, expression) => Some(Padded::Constant(expression.to_string())),
        _ => None,
    }
}

impl Padded {
    /// The first element, as it is written.
    fn element(&self) -> Option<&str> {
        match self {
            Padded::Element(written, _) => Some(written),
            Padded::Constant(_) => None,
            Padded::Either(_, a, b) => a.element().or_else(|| b.element()),
        }
    }

    /// Whether it may be a constant.
    pub fn is_padded(&self) -> bool {
        match self {
            Padded::Element(..) => false,
            Padded::Constant(_) => true,
            Padded::Either(_, a, b) => a.is_padded() || b.is_padded(),
        }
    }

    /// The names that it is made of.
    pub fn names(&self) -> Vec<String> {
        match self {
            Padded::Element(_, element) => scope::names(element),
            Padded::Constant(text) => scope::names(text),
            Padded::Either(condition, a, b) => {
                [scope::names(condition), a.names(), b.names()].concat()
            }
        }
    }

    /// Two expressions: where the element is, or what names the constant, and whether it is a constant.
    pub fn found(&self) -> [String; 2] {
        let like = self.element().unwrap_or_default();
        self.said(&format!("&({like})"))
    }

    /// The same; constants are of the type that a pointer leads to.
    fn said(&self, like: &str) -> [String; 2] {
        match self {
            Padded::Element(written, _) => [format!("(long long)&({written})"), "0".into()],
            Padded::Constant(text) => [format!("__ws_name({like}, {text})"), "1".into()],
            Padded::Either(condition, a, b) => {
                let (a, b) = (a.said(like), b.said(like));
                [0, 1].map(|i| format!("(({condition}) ? {} : {})", a[i], b[i]))
            }
        }
    }
}

/// An expression without parentheses around it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let tokens = marks::tokens(text);
    let mut depth = 0;
    let around = text.starts_with('(')
        && tokens.iter().enumerate().all(|(n, t)| {
            depth += opens(&text[t.at.clone()]);
            depth > 0 || n + 1 == tokens.len()
        });
    match around {
        true => bare(&text[1..text.len() - 1]),
        false => text,
    }
}

fn opens(piece: &str) -> i32 {
    match piece {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

/// Condition and arms of `c ? a : b`.
fn arms(text: &str) -> Option<[&str; 3]> {
    let tokens = marks::tokens(text);
    let (mut depth, mut inner, mut asks) = (0, 0, None);
    for t in &tokens {
        let piece = &text[t.at.clone()];
        depth += opens(piece);
        match (piece, &asks) {
            ("?", None) if depth == 0 => asks = Some(t.at.clone()),
            ("?", Some(_)) if depth == 0 => inner += 1,
            (":", Some(_)) if depth == 0 && inner > 0 => inner -= 1,
            (":", Some(asks)) if depth == 0 => {
                return Some([&text[..asks.start], &text[asks.end..t.at.start], &text[t.at.end..]]);
            }
            _ => {}
        }
    }
    None
}

/// Whether an expression reads variables alone, changes nothing, calls nothing but what makes a value of one, and names no macro but
/// those of numbers.
fn is_plain(text: &str, expression: &str) -> bool {
    let tokens = marks::tokens(expression);
    let piece = |i: usize| tokens.get(i).map_or("", |t: &marks::Tok| &expression[t.at.clone()]);
    let word = |i: usize| tokens.get(i).is_some_and(|t| t.piece == Piece::Word);
    // Tokens are single letters here.
    let is_and =
        |i: usize| tokens.get(i).is_some_and(|t| expression[t.at.start..].starts_with("&&"));
    // The parenthesis around a token.
    let opener = |end: usize| {
        let mut depth = 0;
        (0..end).rev().find(|j| {
            depth += opens(piece(*j));
            depth > 0
        })
    };
    let simple = |i: usize| match piece(i) {
        // A call, or what a pointer leads to.
        "(" => i == 0 || !word(i - 1) || makes_value(text, piece(i - 1)),
        "&" if is_and(i) || i > 0 && is_and(i - 1) => true,
        // Between arguments, and not where it drops a value.
        "," => opener(i).is_some_and(|j| j > 0 && word(j - 1)),
        "*" | "&" => i > 0 && (word(i - 1) || piece(i - 1) == ")" || is_number(piece(i - 1))),
        _ => true,
    };
    let without = |text: String, op: &&str| text.replace(op, " ");
    let rest = ["==", "!=", "<=", ">="].iter().fold(expression.to_string(), without);
    let changes = ["<<=", ">>="].iter().any(|op| expression.contains(op));
    let other = ["=", "++", "--", "->", "[", "?", "{", "\""];
    !tokens.is_empty()
        && !changes
        && !other.iter().any(|op| rest.contains(op))
        && (0..tokens.len()).all(simple)
        && scope::names(expression).iter().all(|n| is_no_macro(text, n))
}

/// Whether what is written like a call makes a value of others: a type, or a conversion that the compiler knows.
fn makes_value(text: &str, name: &str) -> bool {
    const TYPES: [&str; 9] =
        ["float", "double", "int", "unsigned", "short", "char", "bool", "half", "__half"];
    const CALLS: [&str; 6] =
        ["make_", "__float2", "__int2", "__int_as_", "__float_as_", "__double2"];
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let is_parameter = |i: usize| matches!(word(i), "typename" | "class") && word(i + 1) == name;
    TYPES.contains(&name)
        || CALLS.iter().any(|c| name.starts_with(c))
        || (0..tokens.len()).any(is_parameter)
}

fn is_number(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a file does not define a name, or as what has no names in it.
fn is_no_macro(text: &str, name: &str) -> bool {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let defined = |i: &usize| word(*i) == "define" && tokens[*i].directive && word(i + 1) == name;
    (0..tokens.len()).filter(defined).all(|i| {
        let line = text[tokens[i + 1].at.end..].lines().next().unwrap_or_default();
        scope::names(line).is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "template <typename V>\n#define N 100\n#define LAST (n - 1)\n#define AT(a, i) a[i]\n";

    fn found(expression: &str) -> Option<[String; 2]> {
        padded(TEXT, expression, TEXT.len()).map(|p| p.found())
    }

    #[test]
    fn conditions_choose_between_elements_and_constants() {
        let [at, constant] =
            found("(i < 0 || i >= N ? -1.0f : (j == 2 * k ? AT(a, i) : a[j]))").unwrap();
        assert_eq!(
            at,
            "((i < 0 || i >= N ) ? __ws_name(&(AT(a, i)), -1.0f) : ((j == 2 * k ) ? (long long)&(AT(a, i)) : (long long)&(a[j])))"
        );
        assert_eq!(constant, "((i < 0 || i >= N ) ? 1 : ((j == 2 * k ) ? 0 : 0))");
        assert_eq!(found("a[i]"), Some(["(long long)&(a[i])".into(), "0".into()]));
        for value in ["V(0)", "make_float2(0.0f, (float)k)", "__float2half(0.0f)", "float(k)"] {
            assert!(found(&format!("i < 0 ? {value} : a[i]")).is_some(), "{value}");
        }
        assert!(found("i >= 0 && (i & 1) && i < N ? a[i] : 0.0f").is_some());
    }

    #[test]
    fn what_is_not_certain_to_be_harmless_is_left_alone() {
        for other in [
            "0.0f",
            "f(i) ? a[i] : 0",
            "i++ ? a[i] : 0",
            "*p ? a[i] : 0",
            "i > 0 && *p ? a[i] : 0",
            "b[i] ? a[i] : 0",
            "i == LAST ? 0 : a[i]",
            "i <<= 1 ? 0 : a[i]",
            "i < 0 ? 0 : a[i] + 1",
            "i < 0 ? zero() : a[i]",
            "i < 0 ? (i, 0) : a[i]",
            "i < 0 ? U(0) : a[i]",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
