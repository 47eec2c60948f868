//! Tokens, one after the other, and what is wrong with them.

use super::{Labels, MAX_DEPTH, Name, Parsed, Parser, SYNTAX};
use crate::diag::Diagnostic;
use crate::span::{Origin, Span};
use crate::text::lex::Tok;
use crate::text::words::Words;

impl Parser {
    pub fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    pub fn peek_at(&self, ahead: usize) -> &Tok {
        self.tokens.get(self.at + ahead).map_or(&Tok::End, |t| &t.tok)
    }

    pub(super) fn advance(&mut self) {
        // The last token is `End` and stays.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// The comments before the next token.
    pub fn comments(&self) -> Vec<String> {
        self.tokens[self.at].comments.clone()
    }

    /// Where the next token starts.
    pub fn here(&self) -> u32 {
        self.tokens[self.at].start
    }

    /// From a start to the end of the last token taken.
    pub fn span(&self, start: u32) -> Span {
        let end = self.at.checked_sub(1).map_or(start, |i| self.tokens[i].end);
        Span { file: self.file, start, end: end.max(start) }
    }

    pub fn origin(&self, start: u32) -> Origin {
        Origin::at(self.span(start))
    }

    pub(super) fn token_span(&self) -> Span {
        let t = &self.tokens[self.at];
        Span { file: self.file, start: t.start, end: t.end }
    }

    pub fn fail<T>(&self, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(Box::new(Diagnostic::error(SYNTAX, message).label(span, "here")))
    }

    pub fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.fail(self.token_span(), format!("expected {what}"))
    }

    pub fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Tok::Symbol(s) if *s == symbol)
    }

    pub fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat_symbol(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    /// Any symbol for which `f` has an answer.
    pub fn symbol_as<T>(&mut self, f: impl Fn(&str) -> Option<T>) -> Option<T> {
        let Tok::Symbol(s) = self.peek() else {
            return None;
        };
        let found = f(s)?;
        self.advance();
        Some(found)
    }

    pub fn word_at(&self, ahead: usize) -> Option<&str> {
        match self.peek_at(ahead) {
            Tok::Name { name, suffix: 0, quoted: false } => Some(name),
            _ => None,
        }
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.word_at(0) == Some(word)
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub fn word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// A word of an enumeration.
    pub fn word_of<W: Words>(&mut self, what: &str) -> Parsed<W> {
        let found = match self.peek() {
            Tok::Symbol(s) => W::from_word(s),
            _ => self.word_at(0).and_then(W::from_word),
        };
        match found {
            Some(w) => {
                self.advance();
                Ok(w)
            }
            None => self.expected(what),
        }
    }

    pub fn name(&mut self) -> Parsed<Name> {
        match self.peek().clone() {
            Tok::Name { name, suffix, .. } => {
                self.advance();
                Ok((name, suffix))
            }
            _ => self.expected("a name"),
        }
    }

    pub fn string(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Tok::Str(s) => {
                self.advance();
                Ok(s)
            }
            _ => self.expected("a string"),
        }
    }

    /// A plain number.
    pub fn integer<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let start = self.here();
        let sign = if self.eat_symbol("-") { "-" } else { "" };
        let Tok::Number { digits, suffix } = self.peek().clone() else {
            return self.expected("a number");
        };
        self.advance();
        match format!("{sign}{digits}{suffix}").parse() {
            Ok(n) => Ok(n),
            Err(_) => self.fail(self.span(start), "this number does not fit here"),
        }
    }

    /// The number that a name stands for.
    pub fn look_up(&mut self, labels: fn(&Parser) -> &Labels, what: &str) -> Parsed<u32> {
        let span = self.token_span();
        let name = self.name()?;
        match labels(self).get(&name) {
            Some(id) => Ok(*id),
            None => self.fail(span, format!("there is no {what} `{}`", name.0)),
        }
    }

    /// Runs a parser of something that can contain itself.
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Parser) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail(self.token_span(), "this is nested too deeply");
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// What `f` reads, separated by commas, up to the symbol `end`.
    pub fn list<T>(
        &mut self,
        end: &str,
        mut f: impl FnMut(&mut Parser) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = vec![];
        while !self.eat_symbol(end) {
            items.push(f(self)?);
            if !self.eat_symbol(",") {
                self.symbol(end)?;
                break;
            }
        }
        Ok(items)
    }
}
