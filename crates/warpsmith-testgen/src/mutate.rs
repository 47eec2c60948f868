//! Damaged sources: a valid program with tokens or bytes deleted, doubled, swapped or replaced.

use crate::choice::Choice;

/// Text that often upsets a front end.
const SPLINTERS: [&str; 28] = [
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    ";",
    ",",
    "*",
    "&",
    "::",
    "template<",
    "#if 1\n",
    "#define X X X\n",
    "<<<",
    ">>>",
    "0x",
    "1e999",
    "'",
    "\"",
    "/*",
    "//",
    "\\\n",
    "__shared__ ",
    "struct ",
    "operator",
    "\u{1F600}",
    "\0",
];

/// The source after one to eight random edits; may no longer be UTF-8.
pub fn mutate_source(source: &str, bytes: &[u8]) -> Vec<u8> {
    let mut choice = Choice::new(bytes);
    let mut tokens = tokens(source);
    for _ in 0..1 + choice.below(8) {
        if tokens.is_empty() {
            break;
        }
        let at = choice.below(tokens.len());
        match choice.below(6) {
            0 => drop(tokens.remove(at)),
            1 => {
                let token = tokens[at].clone();
                tokens.insert(at, token);
            }
            2 => {
                let other = choice.below(tokens.len());
                tokens.swap(at, other);
            }
            3 => {
                let other = choice.below(tokens.len());
                tokens[at] = tokens[other].clone();
            }
            4 => tokens.insert(at, choice.pick(&SPLINTERS).as_bytes().to_vec()),
            _ => {
                let position = choice.below(tokens[at].len().max(1));
                if let Some(byte) = tokens[at].get_mut(position) {
                    *byte = choice.below(256) as u8;
                }
            }
        }
    }
    tokens.concat()
}

/// Words, runs of blanks, and single other characters.
fn tokens(source: &str) -> Vec<Vec<u8>> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens: Vec<(u8, String)> = vec![];
    for c in source.chars() {
        match tokens.last_mut() {
            Some((last, text)) if *last == class(c) && *last != 2 => text.push(c),
            _ => tokens.push((class(c), c.to_string())),
        }
    }
    tokens.into_iter().map(|(_, text)| text.into_bytes()).collect()
}
