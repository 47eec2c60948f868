//! A rough scanner of C and C++ text: just enough to tell comments, literals, words and brackets apart.
//!
//! It serves the questions that are about the text as written and not about its meaning: where the
//! comments are, which names occur, how deep brackets nest. It never fails: what it does not know
//! is a [`Piece::Other`] byte.

use std::ops::Range;

/// What one stretch of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// `// …` up to the line end, or `/* … */`.
    Comment,
    /// A string or character literal with its quotes; closed or cut off by the line end.
    Literal,
    /// `R"x(…)x"`.
    RawString,
    /// An identifier or a keyword.
    Word,
    /// A preprocessing number.
    Number,
    /// The end of a line that no backslash continues.
    Newline,
    /// One byte of anything else but blanks.
    Other(u8),
}

/// Iterates over the pieces of a text, blanks left out.
pub struct Scanner<'a> {
    text: &'a [u8],
    pos: usize,
    raw_strings: bool,
}

impl<'a> Scanner<'a> {
    /// `raw_strings` says whether `R"…"` is one literal, as in C++.
    pub fn new(text: &'a str, raw_strings: bool) -> Scanner<'a> {
        Scanner { text: text.as_bytes(), pos: 0, raw_strings }
    }

    fn at(&self, offset: usize) -> u8 {
        self.text.get(self.pos + offset).copied().unwrap_or(0)
    }

    /// The length of a backslash and the line end after it, if that is what stands `offset` bytes on.
    fn continuation(&self, offset: usize) -> Option<usize> {
        match (self.at(offset), self.at(offset + 1), self.at(offset + 2)) {
            (b'\\', b'\n', _) => Some(2),
            (b'\\', b'\r', b'\n') => Some(3),
            _ => None,
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            if let Some(len) = self.continuation(0) {
                self.pos += len;
            } else if matches!(self.at(0), b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
                self.pos += 1;
            } else {
                return;
            }
        }
    }

    fn line_comment(&mut self) {
        while self.pos < self.text.len() && self.at(0) != b'\n' {
            self.pos += self.continuation(0).unwrap_or(1);
        }
    }

    fn block_comment(&mut self) {
        self.pos += 2;
        while self.pos < self.text.len() {
            if self.at(0) == b'*' && self.at(1) == b'/' {
                self.pos += 2;
                return;
            }
            self.pos += 1;
        }
    }

    fn quoted(&mut self, quote: u8) {
        self.pos += 1;
        while self.pos < self.text.len() && self.at(0) != b'\n' {
            if let Some(len) = self.continuation(0) {
                self.pos += len;
                continue;
            }
            match self.at(0) {
                b'\\' => self.pos += 2,
                c => {
                    self.pos += 1;
                    if c == quote {
                        return;
                    }
                }
            }
        }
        self.pos = self.pos.min(self.text.len());
    }

    /// Moves past a raw string whose `"` is at the current position; false when it is not one.
    fn raw_string(&mut self) -> bool {
        let rest = &self.text[self.pos + 1..];
        let Some(open) = rest.iter().take(17).position(|&b| b == b'(') else {
            return false;
        };
        let mut close = vec![b')'];
        close.extend_from_slice(&rest[..open]);
        close.push(b'"');
        let body = &rest[open + 1..];
        match body.windows(close.len()).position(|w| w == close) {
            Some(end) => self.pos += 1 + open + 1 + end + close.len(),
            None => self.pos = self.text.len(),
        }
        true
    }

    fn word(&mut self) -> Piece {
        let start = self.pos;
        while is_word(self.at(0)) {
            self.pos += 1;
        }
        let word = &self.text[start..self.pos];
        match self.at(0) {
            b'"' if self.raw_strings && matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") => {
                if self.raw_string() {
                    Piece::RawString
                } else {
                    Piece::Word
                }
            }
            quote @ (b'"' | b'\'') if matches!(word, b"L" | b"u" | b"U" | b"u8") => {
                self.quoted(quote);
                Piece::Literal
            }
            _ => Piece::Word,
        }
    }

    fn number(&mut self) {
        loop {
            match self.at(0) {
                b'e' | b'E' | b'p' | b'P' if matches!(self.at(1), b'+' | b'-') => self.pos += 2,
                b'\'' if is_word(self.at(1)) => self.pos += 2,
                c if is_word(c) || c == b'.' => self.pos += 1,
                _ => return,
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl Iterator for Scanner<'_> {
    type Item = (Piece, Range<usize>);

    fn next(&mut self) -> Option<(Piece, Range<usize>)> {
        self.skip_blanks();
        let start = self.pos;
        if start >= self.text.len() {
            return None;
        }
        let piece = match (self.at(0), self.at(1)) {
            (b'\n', _) => {
                self.pos += 1;
                Piece::Newline
            }
            (b'/', b'/') => {
                self.line_comment();
                Piece::Comment
            }
            (b'/', b'*') => {
                self.block_comment();
                Piece::Comment
            }
            (quote @ (b'"' | b'\''), _) => {
                self.quoted(quote);
                Piece::Literal
            }
            (b'0'..=b'9', _) | (b'.', b'0'..=b'9') => {
                self.number();
                Piece::Number
            }
            (c, _) if is_word(c) => self.word(),
            (c, _) => {
                self.pos += 1;
                Piece::Other(c)
            }
        };
        self.pos = self.pos.min(self.text.len());
        Some((piece, start..self.pos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(Piece, &str)> {
        Scanner::new(text, true).map(|(p, r)| (p, &text[r])).collect()
    }

    #[test]
    fn comments_in_strings_are_not_comments() {
        let text = "f(\"// no\", '\"', '\\''); // yes";
        let comments: Vec<&str> =
            pieces(text).into_iter().filter(|p| p.0 == Piece::Comment).map(|p| p.1).collect();
        assert_eq!(comments, ["// yes"]);
    }

    #[test]
    fn digit_separators_do_not_open_a_literal() {
        assert_eq!(pieces("1'000;'x'")[0], (Piece::Number, "1'000"));
        assert_eq!(pieces("1'000;'x'")[2], (Piece::Literal, "'x'"));
    }

    #[test]
    fn a_raw_string_may_hold_anything() {
        assert_eq!(pieces("R\"a( )\" // \n)a\" x")[0], (Piece::RawString, "R\"a( )\" // \n)a\""));
    }

    #[test]
    fn a_continued_line_comment_goes_on() {
        assert_eq!(pieces("// a \\\n b\nc").len(), 3);
    }
}
