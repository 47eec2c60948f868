//! The text of a routine for one shape of block and one placement of its arguments.

use crate::library::subscripts::{Start, relative, subscripts};
use crate::library::{Expr, Param, Routine};
use crate::words::{has_word, replace_words};
use warpsmith_front::pp::{Piece, Scanner};

/// Where an argument lives and how the text numbers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// In an array of shared memory.
    Shared,
    /// In registers, counted from the start of its pattern.
    Register(Numbering),
}

/// How a routine's text says where an argument's pattern starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numbering {
    /// With `APIN0` and its like.
    Placeholder,
    /// Plainly, in its subscripts.
    Written(Start),
}

/// The text of a routine, called `name`, with sizes and starts put in.
pub fn specialised(routine: &Routine, name: &str, shape: [u32; 3], places: &[Place]) -> String {
    let (head, mut body) = match routine.text.find('{') {
        Some(at) => (routine.text[..at].to_string(), routine.text[at..].to_string()),
        None => (routine.text.clone(), String::new()),
    };
    let sizes = |word: &str| {
        let macros = word.starts_with(&routine.macros);
        macros.then(|| routine.block_size(word, shape)).flatten()
    };
    for (argument, place) in places.iter().enumerate() {
        if let Place::Register(Numbering::Written(start)) = place {
            body = renumbered(&body, routine.argument_name(argument), *start, &sizes);
        }
    }
    let replace = |word: &str| {
        if word == routine.name {
            return Some(name.to_string());
        }
        let argument = (0..places.len()).find(|a| routine.placeholder(*a) == word);
        if let Some(argument) = argument {
            return match places[argument] {
                Place::Shared => {
                    let pattern = routine.patterns[argument].as_ref()?;
                    Some(format!("({})", start_text(&pattern.start, routine, shape)))
                }
                Place::Register(_) => Some("0".into()),
            };
        }
        sizes(word).map(|n| n.to_string())
    };
    let head = replace_words(&head, &replace);
    let mut body = replace_words(&body, &replace);
    if places.iter().any(|p| *p != Place::Shared) {
        body = unrolled(&body);
    }
    format!("{}{body}", inlined(&head))
}

/// The head of a function that is inlined: an array in registers can only be handed to such a one.
fn inlined(head: &str) -> String {
    let mut words = Scanner::new(head, true).filter(|(piece, _)| *piece == Piece::Word);
    match words.find(|(_, range)| &head[range.clone()] == "void") {
        Some((_, range)) => format!("static __device__ __forceinline__ {}", &head[range.start..]),
        None => head.to_string(),
    }
}

/// Every loop with a request to unroll it: an array whose subscripts are not known to the compiler is not kept in registers.
fn unrolled(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let (mut done, mut asked) = (0, false);
    for (piece, range) in Scanner::new(body, true) {
        match piece {
            Piece::Word if &body[range.clone()] == "pragma" => {
                asked = body[range.end..].trim_start().starts_with("unroll");
            }
            Piece::Word if &body[range.clone()] == "for" => {
                if !asked {
                    let line = body[..range.start].rfind('\n').map_or(0, |n| n + 1);
                    let before = &body[line..range.start];
                    out.push_str(body[done..range.start].trim_end_matches([' ', '\t']));
                    // A loop that begins its line stays where it is.
                    let indent: String = before.chars().take_while(|c| c.is_whitespace()).collect();
                    let end = if before.trim().is_empty() { "" } else { "\n" };
                    out.push_str(&format!("{end}{indent}#pragma unroll\n{indent}"));
                    done = range.start;
                }
                asked = false;
            }
            _ => {}
        }
    }
    out.push_str(&body[done..]);
    out
}

/// Subscripts of an argument counted from its pattern's start.
fn renumbered(body: &str, name: &str, start: Start, sizes: &dyn Fn(&str) -> Option<i64>) -> String {
    let Some(mut ranges) = subscripts(body, name) else { return body.to_string() };
    ranges.sort_by_key(|r| r.start);
    let mut out = String::new();
    let mut done = 0;
    for range in ranges {
        out.push_str(&body[done..range.start]);
        out.push_str(&relative(&body[range.clone()], start, sizes));
        done = range.end;
    }
    out.push_str(&body[done..]);
    out
}

/// A pattern's start as C, with sizes of the block put in.
fn start_text(start: &Expr, routine: &Routine, shape: [u32; 3]) -> String {
    match start {
        Expr::Number(n) => n.to_string(),
        Expr::Name(name) => match routine.block_size(name, shape) {
            Some(n) => n.to_string(),
            None => name.clone(),
        },
        Expr::Negative(e) => format!("-({})", start_text(e, routine, shape)),
        Expr::Binary(op, a, b) => {
            let side = |e: &Expr| {
                let text = start_text(e, routine, shape);
                let sum = matches!(e, Expr::Binary('+' | '-', ..));
                let bare = !matches!(e, Expr::Binary(..))
                    || (matches!(op, '+')
                        || (*op == '*' && !sum && !matches!(e, Expr::Binary('/' | '%', ..))));
                if bare { text } else { format!("({text})") }
            };
            format!("{} {op} {}", side(a), side(b))
        }
    }
}

impl Routine {
    /// The name of an argument that has a pattern.
    pub fn argument_name(&self, argument: usize) -> &str {
        let at = self.params.iter().position(|p| *p == Param::Element(argument));
        at.and_then(|at| self.names.get(at)).map_or("", |n| n)
    }

    /// Whether the body says where an argument's pattern starts by its placeholder.
    pub fn uses_placeholder(&self, argument: usize) -> bool {
        has_word(&self.text, &self.placeholder(argument))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_without_a_request_get_one() {
        let body = "{\n    for (;;) a;\n    #pragma unroll\n    for (;;) for (;;) b; // for\n}";
        assert_eq!(
            unrolled(body),
            "{\n    #pragma unroll\n    for (;;) a;\n    #pragma unroll\n    for (;;)\n    #pragma unroll\n    for (;;) b; // for\n}"
        );
    }

    #[test]
    fn heads_are_inlined_whatever_they_say() {
        let expected = "static __device__ __forceinline__ void f(int tx)";
        for before in [
            "__device__",
            "__device__ inline",
            "static __noinline__ __device__",
            "extern \"C\" __device__",
        ] {
            assert_eq!(inlined(&format!("{before} void f(int tx)")), expected);
        }
    }
}
