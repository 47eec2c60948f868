//! `asm` statements: calls stand for them, with the operands as arguments.

use super::{ASM, Asm, Masker};
use crate::pp::TokenKind;

impl Masker<'_> {
    /// `asm volatile (…)`: a call that stands for it, with the operands as arguments.
    pub(super) fn asm(&mut self) -> bool {
        let mut open = self.at + 1;
        while matches!(
            self.text(open),
            "volatile" | "__volatile__" | "__volatile" | "goto" | "inline"
        ) {
            open += 1;
        }
        let end = self.group_end(open);
        if end == open || self.text(open) != "(" {
            return false;
        }
        let mut asm = Asm::default();
        let mut at = open + 1;
        while let Some(piece) = self.quoted(at) {
            asm.template.push_str(&piece);
            at += 1;
        }
        let name = format!("{ASM}{}", self.out.asm.len());
        let first = self.at;
        self.write(first, &name);
        self.last = None;
        self.write(open, "(");
        // A number first, so that the call cannot be read as a declaration.
        self.out.text.push('0');
        // Outputs and inputs; clobbers carry no values.
        let mut colons = 0;
        while at < end - 1 {
            colons += self.text(at).chars().filter(|c| *c == ':').count();
            let close = self.group_end(at + 1);
            match self.quoted(at) {
                Some(constraint) if colons <= 2 && close > at + 1 => {
                    asm.constraints.push(constraint);
                    self.out.text.push_str(", (");
                    self.last = None;
                    self.at = at + 2;
                    while self.at < close - 1 {
                        self.step();
                    }
                    self.out.text.push(')');
                    at = close;
                }
                _ => at += 1,
            }
        }
        self.last = None;
        self.write(end - 1, ")");
        self.out.asm.push(asm);
        self.at = end;
        true
    }

    /// The text of a string literal, escapes resolved; `None` for another token.
    fn quoted(&self, at: usize) -> Option<String> {
        let token = self.tokens.get(at).filter(|t| t.kind == TokenKind::Literal)?;
        if let Some(raw) = token.text.strip_prefix("R\"") {
            let inner = raw.split_once('(')?.1;
            return Some(inner.rsplit_once(')')?.0.to_owned());
        }
        let inner = token.text.strip_prefix('"')?.strip_suffix('"')?;
        let mut out = String::new();
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next()? {
                    'n' | 't' | 'r' => out.push('\n'),
                    other => out.push(other),
                },
                _ => out.push(c),
            }
        }
        Some(out)
    }
}
