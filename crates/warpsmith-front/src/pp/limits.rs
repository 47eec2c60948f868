//! Bounds on the work of the preprocessor, checked before it runs.
//!
//! The expander stops only after sixteen million steps of one invocation, and it recurses over
//! nested arguments. A few lines of macros that double each other would therefore take gigabytes,
//! and deep nesting the stack. So the size and depth of all expansions are estimated first, from
//! the definitions as written: conditionals are ignored and of several definitions the largest
//! counts, which makes the estimate an upper bound in all but contrived uses of `##`.

use std::collections::HashMap;
use std::ops::Range;

use super::scan::{Piece, Scanner};

/// How many tokens the macros of one file may expand to.
const MAX_EXPANDED: u64 = 1 << 20;
/// How many macros may be nested in each other's bodies.
const MAX_MACRO_DEPTH: usize = 200;
/// How deep brackets may nest in a file.
const MAX_BRACKETS: usize = 1500;
/// How long one conditional expression may be, in pieces.
const MAX_CONDITION: usize = 4000;

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Brackets nest too deep; the place of the first bracket too many.
    Brackets(Range<usize>),
    /// The `#if` at this place is too long.
    Condition(Range<usize>),
    /// Expansions would be too large or too deep.
    Expansion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tok<'a> {
    Word(&'a str),
    Open,
    Close,
    Paste,
    Other,
}

#[derive(Debug)]
struct Definition<'a> {
    /// `None` for a macro without parameters list.
    params: Option<Vec<&'a str>>,
    body: Vec<Tok<'a>>,
}

/// The size of an expansion: `fixed + per_argument × (tokens of the arguments)`.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    fixed: u64,
    per_argument: u64,
}

/// The definitions of all files of a run and what they expand to.
#[derive(Debug, Default)]
pub struct Estimate<'a> {
    definitions: HashMap<&'a str, Vec<Definition<'a>>>,
    sizes: HashMap<&'a str, Size>,
    active: Vec<&'a str>,
    exceeded: bool,
}

impl<'a> Estimate<'a> {
    /// Reads the definitions of a text and checks what can be checked without expanding.
    pub fn add(&mut self, text: &'a str, raw_strings: bool) -> Result<(), Excess> {
        let mut depth = 0usize;
        let mut line: Vec<(Tok<'a>, Range<usize>)> = vec![];
        for (piece, range) in Scanner::new(text, raw_strings) {
            if piece == Piece::Newline {
                self.define(text, &line)?;
                line.clear();
                continue;
            }
            if let Piece::Other(b'(' | b'[' | b'{') = piece {
                depth += 1;
                if depth > MAX_BRACKETS {
                    return Err(Excess::Brackets(range));
                }
            }
            if let Piece::Other(b')' | b']' | b'}') = piece {
                depth = depth.saturating_sub(1);
            }
            let directive = line.first().is_some_and(|(_, r)| &text[r.clone()] == "#");
            if piece != Piece::Comment && (directive || line.is_empty()) {
                line.push((token(text, piece, &range), range));
            }
        }
        self.define(text, &line)
    }

    /// Reads one line, when it is a `#define` or a condition.
    fn define(&mut self, text: &'a str, line: &[(Tok<'a>, Range<usize>)]) -> Result<(), Excess> {
        let [(_, hash), (Tok::Word(directive), at), rest @ ..] = line else {
            return Ok(());
        };
        if &text[hash.clone()] != "#" {
            return Ok(());
        }
        if matches!(*directive, "if" | "elif") && rest.len() > MAX_CONDITION {
            return Err(Excess::Condition(at.clone()));
        }
        let ("define", [(Tok::Word(name), name_at), rest @ ..]) = (*directive, rest) else {
            return Ok(());
        };
        let mut body: Vec<Tok<'a>> = pastes(rest, text);
        let function = rest.first().is_some_and(|(t, r)| *t == Tok::Open && r.start == name_at.end);
        let params = function.then(|| {
            let close = body.iter().position(|t| *t == Tok::Close).unwrap_or(body.len());
            let rest = body.split_off((close + 1).min(body.len()));
            let head = std::mem::replace(&mut body, rest);
            let mut names: Vec<&str> = words(&head).collect();
            names.extend(["__VA_ARGS__", "__VA_OPT__"]);
            names
        });
        self.definitions.entry(name).or_default().push(Definition { params, body });
        Ok(())
    }

    /// Checks what the text outside of directives expands to.
    pub fn check(&mut self, text: &'a str, raw_strings: bool) -> Result<(), Excess> {
        let mut tokens = vec![];
        let mut directive = None;
        for (piece, range) in Scanner::new(text, raw_strings) {
            match piece {
                Piece::Newline => directive = None,
                Piece::Comment => {}
                _ => {
                    let skip = *directive.get_or_insert(piece == Piece::Other(b'#'));
                    if !skip {
                        tokens.push(token(text, piece, &range));
                    }
                }
            }
        }
        let size = self.sequence(&tokens, &[]);
        let grown = size.fixed.saturating_sub(tokens.len() as u64);
        if self.exceeded || grown > MAX_EXPANDED { Err(Excess::Expansion) } else { Ok(()) }
    }

    fn sequence(&mut self, tokens: &[Tok<'a>], params: &[&str]) -> Size {
        let mut size = Size::default();
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at];
            at += 1;
            let Tok::Word(name) = token else {
                size.fixed = size.fixed.saturating_add(1);
                continue;
            };
            if params.contains(&name) {
                size.per_argument = size.per_argument.saturating_add(1);
                continue;
            }
            let group = group_end(tokens, at);
            let takes_arguments = self.takes_arguments(name);
            if takes_arguments && group.is_none() {
                size.fixed = size.fixed.saturating_add(1);
                continue;
            }
            let own = self.macro_size(name);
            size.fixed = size.fixed.saturating_add(own.fixed);
            if let (true, Some(end)) = (takes_arguments, group) {
                let inner = self.sequence(&tokens[at + 1..end - 1], params);
                let times = own.per_argument.max(1);
                size.fixed = size.fixed.saturating_add(times.saturating_mul(inner.fixed));
                size.per_argument =
                    size.per_argument.saturating_add(times.saturating_mul(inner.per_argument));
                at = end;
            }
        }
        size
    }

    fn takes_arguments(&self, name: &str) -> bool {
        self.definitions.get(name).is_some_and(|list| list.iter().all(|d| d.params.is_some()))
    }

    /// What one use of a name becomes; a name in its own expansion stays as it is.
    fn macro_size(&mut self, name: &'a str) -> Size {
        let plain = Size { fixed: 1, per_argument: 0 };
        if let Some(size) = self.sizes.get(name) {
            return *size;
        }
        if self.active.contains(&name) {
            return plain;
        }
        let Some(definitions) = self.definitions.remove(name) else {
            return plain;
        };
        if self.active.len() >= MAX_MACRO_DEPTH {
            self.exceeded = true;
            self.definitions.insert(name, definitions);
            return plain;
        }
        self.active.push(name);
        let mut size = Size::default();
        for definition in &definitions {
            let params = definition.params.as_deref().unwrap_or(&[]);
            let one = self.sequence(&definition.body, params);
            let pasted = self.pasted(&definition.body, params);
            size.fixed = size.fixed.max(one.fixed.saturating_add(pasted));
            size.per_argument = size.per_argument.max(one.per_argument);
        }
        self.active.pop();
        self.definitions.insert(name, definitions);
        self.sizes.insert(name, size);
        size
    }

    /// What names made with `##` may become, where one side of it is a name as written.
    fn pasted(&mut self, body: &[Tok<'a>], params: &[&str]) -> u64 {
        let mut total = 0u64;
        for triple in body.windows(3) {
            let [left, Tok::Paste, right] = triple else {
                continue;
            };
            let literal = |tok: &Tok<'a>| match tok {
                Tok::Word(w) if !params.contains(w) => Some(*w),
                _ => None,
            };
            let (prefix, suffix) = (literal(left), literal(right));
            if prefix.is_none() && suffix.is_none() {
                continue;
            }
            let made: Vec<&'a str> = self
                .definitions
                .keys()
                .filter(|n| prefix.is_none_or(|p| n.starts_with(p)))
                .filter(|n| suffix.is_none_or(|s| n.ends_with(s)))
                .copied()
                .collect();
            let largest = made.into_iter().map(|n| self.macro_size(n).fixed).max();
            total = total.saturating_add(largest.unwrap_or(1));
        }
        total
    }
}

fn token<'a>(text: &'a str, piece: Piece, range: &Range<usize>) -> Tok<'a> {
    match piece {
        Piece::Word => Tok::Word(&text[range.clone()]),
        Piece::Other(b'(') => Tok::Open,
        Piece::Other(b')') => Tok::Close,
        _ => Tok::Other,
    }
}

fn words<'a, 't>(tokens: &'t [Tok<'a>]) -> impl Iterator<Item = &'a str> + 't {
    tokens.iter().filter_map(|t| match t {
        Tok::Word(w) => Some(*w),
        _ => None,
    })
}

/// The tokens of a line with each `##` made one.
fn pastes<'a>(line: &[(Tok<'a>, Range<usize>)], text: &str) -> Vec<Tok<'a>> {
    let hash = |i: usize| line.get(i).is_some_and(|(_, r)| &text[r.clone()] == "#");
    let mut tokens = vec![];
    let mut at = 0;
    while at < line.len() {
        if hash(at) && hash(at + 1) {
            tokens.push(Tok::Paste);
            at += 2;
        } else {
            tokens.push(line[at].0);
            at += 1;
        }
    }
    tokens
}

/// Where the bracketed group that opens at `at` ends, one past its `)`.
fn group_end(tokens: &[Tok<'_>], at: usize) -> Option<usize> {
    if tokens.get(at) != Some(&Tok::Open) {
        return None;
    }
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(at) {
        match token {
            Tok::Open => depth += 1,
            Tok::Close => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Result<(), Excess> {
        let mut estimate = Estimate::default();
        estimate.add(text, true)?;
        estimate.check(text, true)
    }

    #[test]
    fn doubling_macros_are_refused() {
        let mut text = String::from("#define A0 x\n");
        for i in 1..40 {
            text += &format!("#define A{i} A{} A{}\n", i - 1, i - 1);
        }
        assert_eq!(verdict(&format!("{text}int y;\n")), Ok(()), "unused macros do no harm");
        assert_eq!(verdict(&format!("{text}A39\n")), Err(Excess::Expansion));
    }

    #[test]
    fn doubling_by_arguments_and_by_pasting_is_refused() {
        let nested = format!("#define F(x) x x\n{}y{}\n", "F(".repeat(30), ")".repeat(30));
        assert_eq!(verdict(&nested), Err(Excess::Expansion));
        let mut text = String::from("#define A0 x\n");
        for i in 1..40 {
            text += &format!("#define A{i} A{} A{}\n", i - 1, i - 1);
        }
        let cat = "#define CAT(n) A##n\n";
        assert_eq!(verdict(&format!("{cat}{text}CAT(39)\n")), Err(Excess::Expansion));
        // CAT is not expanded again inside of its own expansion, so this stays small.
        let mut text = String::from("#define A0 x\n");
        for i in 1..40 {
            text += &format!("#define A{i} CAT({}) CAT({})\n", i - 1, i - 1);
        }
        assert_eq!(verdict(&format!("{cat}{text}A39\n")), Ok(()));
    }

    #[test]
    fn ordinary_macros_pass() {
        let text = "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n\
                    #define MAX(a, b) ((a) > (b) ? (a) : (b))\nMAX(MAX(1, 2), CAT(x, 3))\n";
        assert_eq!(verdict(text), Ok(()));
    }

    #[test]
    fn deep_brackets_are_refused() {
        let deep = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(matches!(verdict(&deep), Err(Excess::Brackets(_))));
    }
}
