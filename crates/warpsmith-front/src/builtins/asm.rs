//! Inline PTX: the asynchronous copies that people write by hand.
//!
//! [`parse`] takes the text between the parentheses of an `asm` statement apart; the lowerer evaluates the operands it
//! names; [`lower`] gives the statements. Supported are `cp.async.ca` and `cp.async.cg` from global to shared memory,
//! `cp.async.commit_group`, `cp.async.wait_group N` and `cp.async.wait_all`, several in one text.

use warpsmith_ir::{Diagnostic, Expr, ExprKind, Scalar, Space, Span, StmtKind, Type};

use super::memory::underlying_pointer;
use crate::sema::builtin_api::BuiltinContext;

/// An `asm` statement as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asm {
    /// The joined string literals.
    pub template: String,
    pub operands: Vec<Operand>,
}

/// `"r"(expression)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// `r`, `l`, `n`, `=r` …
    pub constraint: String,
    /// The expression's text and where it begins in the text given to [`parse`].
    pub text: String,
    pub offset: usize,
}

/// Takes the text of an `asm` statement apart: `"…" "…" : outputs : inputs : clobbers`. A leading `asm volatile (` and
/// the closing parenthesis may be included. `None` when it has not this form.
pub fn parse(text: &str) -> Option<Asm> {
    let open = text.find('"')?;
    let mut scanner = Scanner { text, at: open };
    let mut template = String::new();
    while let Some(piece) = scanner.string() {
        template.push_str(&piece);
    }
    let mut operands = vec![];
    // Outputs, inputs; clobbers carry no values.
    for _ in 0..2 {
        if !scanner.eat(':') {
            break;
        }
        while let Some(constraint) = scanner.string() {
            let (text, offset) = scanner.parenthesised()?;
            operands.push(Operand { constraint, text, offset });
            scanner.eat(',');
        }
    }
    Some(Asm { template, operands })
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        self.blank();
        let found = self.rest().starts_with(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }

    /// A string literal, escapes resolved.
    fn string(&mut self) -> Option<String> {
        if !self.eat('"') {
            return None;
        }
        let mut out = String::new();
        let mut chars = self.text.get(self.at..)?.char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Some(out);
                }
                '\\' => match chars.next()?.1 {
                    'n' | 't' | 'r' => out.push('\n'),
                    other => out.push(other),
                },
                _ => out.push(c),
            }
        }
        None
    }

    /// `( … )`: the text inside and where it begins.
    fn parenthesised(&mut self) -> Option<(String, usize)> {
        if !self.eat('(') {
            return None;
        }
        let start = self.at;
        let mut depth = 1;
        for (i, c) in self.text.get(start..)?.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at = start + i + 1;
                return Some((self.text.get(start..start + i)?.to_string(), start));
            }
        }
        None
    }
}

/// Lowers the statement; `values` are the operands' values in order.
///
/// # Errors
/// W109 for PTX outside the supported forms.
pub fn lower(
    asm: &Asm,
    values: &[Expr],
    span: Span,
    cx: &mut dyn BuiltinContext,
) -> Result<(), Diagnostic> {
    let statements = asm
        .template
        .split([';', '\n'])
        .map(str::trim)
        .filter(|s| !s.is_empty() && *s != "{" && *s != "}");
    for statement in statements {
        instruction(statement, values, span, cx)?;
    }
    Ok(())
}

fn unsupported(text: &str, span: Span) -> Diagnostic {
    Diagnostic::error("W109", format!("this PTX is not supported: `{text}`"))
        .label(span, "inline assembly")
        .help("supported are cp.async.ca/cg.shared.global, cp.async.commit_group, cp.async.wait_group and cp.async.wait_all")
}

fn instruction(
    text: &str,
    values: &[Expr],
    span: Span,
    cx: &mut dyn BuiltinContext,
) -> Result<(), Diagnostic> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let operands: Vec<&str> =
        rest.split(',').map(|o| o.trim().trim_matches(['[', ']']).trim()).collect();
    match name {
        "cp.async.commit_group" => cx.emit(StmtKind::AsyncCommit, span),
        "cp.async.wait_all" => cx.emit(StmtKind::AsyncWait(0), span),
        "cp.async.wait_group" => {
            let n = operands.first().and_then(|o| number(o, values, cx));
            match n.and_then(|n| u32::try_from(n).ok()) {
                Some(n) => cx.emit(StmtKind::AsyncWait(n), span),
                None => return Err(unsupported(text, span)),
            }
        }
        _ if is_copy(name) => copy(text, &operands, values, span, cx)?,
        _ => return Err(unsupported(text, span)),
    }
    Ok(())
}

/// `cp.async.cg.shared.global` with hints for the second-level cache.
fn is_copy(name: &str) -> bool {
    let mut words = name.split('.');
    words.next() == Some("cp")
        && words.next() == Some("async")
        && matches!(words.next(), Some("ca" | "cg"))
        && matches!(words.next(), Some("shared" | "shared::cta"))
        && words.next() == Some("global")
        && words.all(|w| w.starts_with("L2::"))
}

/// `%0` as the operand, a number as itself.
fn value(text: &str, values: &[Expr]) -> Option<Expr> {
    match text.strip_prefix('%') {
        Some(n) => values.get(n.parse::<usize>().ok()?).cloned(),
        None => text.parse::<i32>().ok().map(Expr::i32),
    }
}

fn number(text: &str, values: &[Expr], cx: &dyn BuiltinContext) -> Option<i64> {
    cx.fold(&value(text, values)?).map(|v| v.as_i64())
}

fn copy(
    text: &str,
    operands: &[&str],
    values: &[Expr],
    span: Span,
    cx: &mut dyn BuiltinContext,
) -> Result<(), Diagnostic> {
    let bad = || unsupported(text, span);
    let (to, from, size, source_size) = match operands {
        [to, from, size] => (to, from, size, None),
        [to, from, size, used] => (to, from, size, Some(used)),
        _ => return Err(bad()),
    };
    let bytes = number(size, values, cx).filter(|n| matches!(n, 4 | 8 | 16)).ok_or_else(bad)?;
    let destination = pointer(value(to, values).ok_or_else(bad)?, Space::Shared, span)?;
    let source = pointer(value(from, values).ok_or_else(bad)?, Space::Global, span)?;
    let bytes = Expr::i32(bytes as i32);
    // The PTX operand says how many bytes are read; what is kept here is how many are zeros.
    let zero_fill = match source_size {
        None => None,
        Some(used) => {
            let used =
                cx.convert(value(used, values).ok_or_else(bad)?, &Type::Scalar(Scalar::I32), span)?;
            Some(Expr::binary(warpsmith_ir::BinaryOp::Sub, bytes.clone(), used))
        }
    };
    cx.emit(StmtKind::AsyncCopy { destination, source, bytes, zero_fill }, span);
    Ok(())
}

/// The pointer behind an address operand: the one that was cast, or the 64-bit number made a pointer again.
fn pointer(e: Expr, space: Space, span: Span) -> Result<Expr, Diagnostic> {
    if let Some(p) = underlying_pointer(&e) {
        return Ok(p.clone());
    }
    if e.ty == Type::U64 || e.ty == Type::I64 {
        let ty = Type::pointer(Type::Scalar(Scalar::U8), space);
        return Ok(Expr::new(ExprKind::Cast(e), ty, span));
    }
    Err(Diagnostic::error("W109", "the address in this PTX cannot be traced to a pointer")
        .label(span, "inline assembly")
        .help("write `__cvta_generic_to_shared(pointer)` in the operand itself"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asm_statement_is_taken_apart() {
        let text = r#"asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" :: "r"(f(a, b)), "l"(src), "n"(16) : "memory")"#;
        let asm = parse(text).unwrap();
        assert_eq!(asm.template, "cp.async.cg.shared.global [%0], [%1], %2;\n");
        let texts: Vec<&str> = asm.operands.iter().map(|o| o.text.as_str()).collect();
        assert_eq!(texts, ["f(a, b)", "src", "16"]);
        assert_eq!(&text[asm.operands[1].offset..][..3], "src");
    }

    #[test]
    fn damaged_text_is_no_asm_statement() {
        for text in ["", "asm(", "asm(\"unclosed", "\"x\" : \"r\"(a"] {
            assert!(parse(text).is_none_or(|a| a.operands.is_empty()), "{text}");
        }
    }
}
