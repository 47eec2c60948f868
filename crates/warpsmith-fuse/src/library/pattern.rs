//! Access patterns: which offsets of a shared-memory argument each thread touches.

use warpsmith_ir::{Diagnostic, Span};

use super::expr::Expr;

/// `start "ty*9+tx*3", block "1", stride "1", count 3, noreg 0`
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Offset of the first element.
    pub start: Expr,
    /// Consecutive elements that each step touches; `i` is the step's number.
    pub block: Expr,
    /// By how much the offset moves after step `i`.
    pub stride: Expr,
    /// Elements of the pattern.
    pub count: u32,
    /// The variable must not be kept in registers.
    pub noreg: bool,
    /// Where it is written.
    pub span: Span,
}

/// More offsets than any element has.
const MAX_OFFSETS: usize = 1 << 16;

impl Pattern {
    /// Reads the value of a metadata line. `span` is that of the value.
    ///
    /// # Errors
    /// W524 with what is wrong.
    pub fn parse(text: &str, span: Span) -> Result<Pattern, Diagnostic> {
        let wrong = |what: String| {
            Diagnostic::error("W524", format!("this access pattern {what}"))
                .label(span, "here")
                .help("write: start \"ty*9+tx*3\", block \"1\", stride \"1\", count 3, noreg 0")
        };
        let mut fields: [Option<&str>; 5] = [None; 5];
        const NAMES: [&str; 5] = ["start", "block", "stride", "count", "noreg"];
        for field in fields_of(text) {
            let field = field.trim();
            let (name, value) = field.split_once(char::is_whitespace).unwrap_or((field, ""));
            let Some(at) = NAMES.iter().position(|n| *n == name) else {
                return Err(wrong(format!("has the unknown part `{name}`")));
            };
            if fields[at].replace(value.trim()).is_some() {
                return Err(wrong(format!("has `{name}` twice")));
            }
        }
        let field = |at: usize| fields[at].ok_or_else(|| wrong(format!("has no `{}`", NAMES[at])));
        let expr = |at: usize| {
            let text = field(at)?;
            let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
            Expr::parse(inner)
                .ok_or_else(|| wrong(format!("has a `{}` that is no expression", NAMES[at])))
        };
        let (start, block, stride) = (expr(0)?, expr(1)?, expr(2)?);
        let count =
            field(3)?.parse::<u32>().ok().filter(|c| *c >= 1 && (*c as usize) <= MAX_OFFSETS);
        let count =
            count.ok_or_else(|| wrong("has a `count` that is no number from 1 on".into()))?;
        let noreg = match fields[4] {
            None | Some("0") => false,
            Some("1") => true,
            Some(_) => return Err(wrong("has a `noreg` that is neither 0 nor 1".into())),
        };
        Ok(Pattern { start, block, stride, count, noreg, span })
    }

    /// The pattern with the values of macros in place of their names.
    pub fn with(self, known: &dyn Fn(&str) -> Option<Expr>) -> Pattern {
        let [start, block, stride] =
            [&self.start, &self.block, &self.stride].map(|e| e.with(known));
        Pattern { start, block, stride, ..self }
    }

    /// The offsets that a thread touches, step by step; names as for [`Expr::value`], `i` aside.
    /// `None`: an expression has no value, or there are too many offsets.
    pub fn offsets(&self, names: &dyn Fn(&str) -> Option<i64>) -> Option<Vec<i64>> {
        let mut at = self.start.value(names)?;
        let mut all = vec![];
        for step in 0..i64::from(self.count) {
            let with_step = |name: &str| if name == "i" { Some(step) } else { names(name) };
            let length = self.block.value(&with_step)?;
            if length < 0 || all.len() + length as usize > MAX_OFFSETS {
                return None;
            }
            all.extend(at..at.checked_add(length)?);
            at = at.checked_add(self.stride.value(&with_step)?)?;
        }
        Some(all)
    }
}

/// The parts between commas outside of quotes.
fn fields_of(text: &str) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span() -> Span {
        Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 }
    }

    fn offsets(text: &str) -> Option<Vec<i64>> {
        let names = |name: &str| match name {
            "tx" => Some(1),
            "ty" => Some(2),
            "BY" => Some(16),
            _ => None,
        };
        Pattern::parse(text, span()).ok()?.offsets(&names)
    }

    #[test]
    fn steps_are_blocks_a_stride_apart() {
        let text = r#"start "ty*3+tx", block "1", stride "3*BY", count 3, noreg 0"#;
        assert_eq!(offsets(text), Some(vec![7, 55, 103]));
        let rows = r#"start "0", block "i+1", stride "10", count 3"#;
        assert_eq!(offsets(rows), Some(vec![0, 10, 11, 20, 21, 22]));
        let widening = r#"start "0", block "1", stride "i+1", count 4"#;
        assert_eq!(offsets(widening), Some(vec![0, 1, 3, 6]));
    }

    #[test]
    fn damaged_patterns_are_refused() {
        for text in [
            "",
            r#"start "tx", block "1", stride "1", count 3, colour 4"#,
            r#"start "tx", block "1", stride "1""#,
            r#"start "tx", start "tx", block "1", stride "1", count 3"#,
            r#"start "tx+", block "1", stride "1", count 3"#,
            r#"start "tx", block "1", stride "1", count 0"#,
            r#"start "tx", block "1", stride "1", count 3, noreg 2"#,
        ] {
            let error = Pattern::parse(text, span()).err().map(|d| d.code);
            assert_eq!(error, Some("W524"), "{text}");
        }
    }
}
