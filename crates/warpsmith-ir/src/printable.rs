//! Text from files and databases on its way to a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that would do something instead of being shown spelled out, as `\u{1b}`: escape sequences
/// in a name could recolour, retitle or rewrite the user's terminal. Line feeds and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return text.into();
    }
    let mut made = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match acts(c) {
            // Writing to memory does not fail.
            true => drop(write!(made, "\\u{{{:x}}}", u32::from(c))),
            false => made.push(c),
        }
    }
    made.into()
}

/// Control characters, and those that turn the direction of what follows.
pub fn acts(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelled_out() {
        assert_eq!(printable("a\tb\né µ"), "a\tb\né µ");
        assert_eq!(printable("\u{1b}[2Jx\r\u{7f}"), "\\u{1b}[2Jx\\u{d}\\u{7f}");
        // One character that begins an escape sequence, and one that turns the direction.
        assert_eq!(printable("\u{9b}31m\u{202e}"), "\\u{9b}31m\\u{202e}");
    }
}
