//! The macros of a library's file that mention what the contract puts in: sizes of blocks and starts of patterns.
//!
//! `#define WIDTH MADD_1_BX` means another number in each block, and `#define AT(i) A[APIN0 + (i)]` another place in each
//! placement. Such macros are expanded where a routine uses them, so that all that looks at routines sees the contract's own words.
//! So are those that hide a subscript of an argument: they mention it, or take an array. The others stay as they are written.

use warpsmith_front::pp::{Piece, Scanner};

use super::leftover::{directive, name_and_rest};
use super::subscripts::subscripts;

/// How deep macros may stand in one another: one that mentions itself has an end, too.
const MAX_DEPTH: usize = 16;

struct Macro {
    name: String,
    /// `None`: it takes no arguments.
    params: Option<Vec<String>>,
    body: String,
}

impl Macro {
    /// Whether a parameter has a subscript: `#define AT(a, i) (a)[3 * (i)]`.
    fn takes_array(&self) -> bool {
        let mut params = self.params.iter().flatten();
        params.any(|p| subscripts(&self.body, p).is_some_and(|found| !found.is_empty()))
    }
}

/// Macros to be expanded.
pub(super) struct Macros(Vec<Macro>);

impl Macros {
    /// Those of a text that lead to a word of the contract, also by way of others. One that pastes or quotes words is left alone.
    pub(super) fn of(text: &str, is_contract: &dyn Fn(&str) -> bool) -> Macros {
        let all: Vec<Macro> = logical_lines(text).iter().filter_map(|line| parsed(line)).collect();
        let mut leads: Vec<bool> = all
            .iter()
            .map(|m| {
                let own = |word: &str| m.params.iter().flatten().any(|p| p == word);
                words(&m.body).any(|word| !own(word) && is_contract(word)) || m.takes_array()
            })
            .collect();
        loop {
            let by_way = |m: &Macro| {
                words(&m.body).any(|w| all.iter().zip(&leads).any(|(o, l)| *l && o.name == w))
            };
            let more: Vec<bool> = all.iter().zip(&leads).map(|(m, l)| *l || by_way(m)).collect();
            if more == leads {
                break;
            }
            leads = more;
        }
        let kept = all.into_iter().zip(leads).filter(|(_, leads)| *leads).map(|(m, _)| m);
        Macros(kept.collect())
    }

    /// The text with these macros expanded.
    pub(super) fn expand(&self, text: &str) -> String {
        match self.0.is_empty() {
            true => text.to_string(),
            false => self.expanded(text, &mut vec![]),
        }
    }

    /// `open` are the macros that are being expanded: as in C they are not expanded in themselves.
    fn expanded<'m>(&'m self, text: &str, open: &mut Vec<&'m str>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (piece, range) in Scanner::new(text, true) {
            if piece != Piece::Word || range.start < done {
                continue;
            }
            // The last definition counts, as it does for the text below it.
            let found = self.0.iter().rev().find(|m| m.name == text[range.clone()]);
            let Some(found) = found else { continue };
            if open.len() >= MAX_DEPTH || open.contains(&found.name.as_str()) {
                continue;
            }
            let (values, end) = match &found.params {
                None => (vec![], range.end),
                Some(params) => match arguments(text, range.end) {
                    Some((values, end)) if values.len() == params.len() => (values, end),
                    _ => continue,
                },
            };
            let values: Vec<String> = values.iter().map(|v| self.expanded(v, open)).collect();
            let params = found.params.as_deref().unwrap_or(&[]);
            let put_in = |word: &str| {
                params.iter().position(|p| p == word).and_then(|k| values.get(k).cloned())
            };
            let body = crate::words::replace_words(&found.body, &put_in);
            open.push(&found.name);
            out.push_str(&text[done..range.start]);
            out.push_str(&self.expanded(&body, open));
            open.pop();
            done = end;
        }
        out.push_str(&text[done..]);
        out
    }
}

/// Lines, those that end in a backslash with the next.
fn logical_lines(text: &str) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    let mut goes_on = false;
    for line in text.lines() {
        let (part, more) = match line.trim_end().strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match all.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(part),
            None => all.push(part.to_string()),
        }
        goes_on = more;
    }
    all
}

/// A definition, if the line is one of those that can be expanded.
fn parsed(line: &str) -> Option<Macro> {
    let (name, rest) = name_and_rest(directive(line, "define")?);
    let (params, body) = match rest.strip_prefix('(') {
        Some(list) => {
            let (list, body) = list.split_once(')')?;
            let names = list.split(',').map(|p| p.trim().to_string());
            (Some(names.filter(|p| !p.is_empty()).collect::<Vec<_>>()), body)
        }
        None => (None, rest),
    };
    let plain = !body.contains('#') && params.iter().flatten().all(|p| p != "...");
    let body = without_comments(body).trim().to_string();
    (plain && !name.is_empty()).then(|| Macro { name: name.to_string(), params, body })
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut done = 0;
    for (piece, range) in Scanner::new(text, true) {
        if piece == Piece::Comment {
            out.push_str(&text[done..range.start]);
            out.push(' ');
            done = range.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let pieces = Scanner::new(text, true);
    pieces.filter(|(piece, _)| *piece == Piece::Word).map(|(_, range)| &text[range])
}

/// The arguments between the parentheses that open behind `at`, and where they end.
fn arguments(text: &str, at: usize) -> Option<(Vec<String>, usize)> {
    let rest = &text[at..];
    let (mut depth, mut start) = (0usize, 0);
    let mut values = vec![];
    for (piece, range) in Scanner::new(rest, true) {
        match piece {
            Piece::Newline | Piece::Comment => {}
            Piece::Other(b'(') => {
                depth += 1;
                if depth == 1 {
                    start = range.end;
                }
            }
            _ if depth == 0 => return None,
            Piece::Other(b',') if depth == 1 => {
                values.push(rest[start..range.start].trim().to_string());
                start = range.end;
            }
            Piece::Other(b')') if depth == 1 => {
                let last = rest[start..range.start].trim();
                if !(values.is_empty() && last.is_empty()) {
                    values.push(last.to_string());
                }
                return Some((values, at + range.end));
            }
            Piece::Other(b')') => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(defines: &str, text: &str) -> String {
        Macros::of(defines, &|word| word.starts_with("F_1_") || word == "APIN0").expand(text)
    }

    #[test]
    fn macros_that_lead_to_the_contract_are_expanded_and_others_are_not() {
        let defines = "#define N 7\n#define WIDTH F_1_BX // threads\n#define ALL (N * WIDTH)\n\
                       #define AT(i, \\\n  j) a[APIN0 + (i) * N + (j)]\n#define CAT(a, b) a##b\n";
        let text = "x = AT(f(k, 1), N) + ALL; // ALL";
        assert_eq!(
            expanded(defines, text),
            "x = a[APIN0 + (f(k, 1)) * N + (N)] + (N * F_1_BX); // ALL"
        );
        // Without arguments it is another name, and what is not a macro of the contract stays.
        assert_eq!(expanded(defines, "AT; CAT(a, b); N"), "AT; CAT(a, b); N");
        assert_eq!(expanded(defines, "AT(1)"), "AT(1)");
    }

    #[test]
    fn macros_that_hide_subscripts_are_expanded() {
        let defines = "#define RE(a, i) ((a)[2 * (i)])\n#define SQ(APIN0) ((APIN0) * (APIN0))\n";
        assert_eq!(expanded(defines, "RE(A, k) + SQ(x)"), "((A)[2 * (k)]) + SQ(x)");
    }

    #[test]
    fn a_macro_that_mentions_itself_ends() {
        let defines = "#define A (B + F_1_BX)\n#define B (A + 1)\n";
        assert_eq!(expanded(defines, "A B"), "((A + 1) + F_1_BX) ((B + F_1_BX) + 1)");
    }
}
