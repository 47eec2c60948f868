//! Attributes: taken out of the text, remembered by position, their arguments kept as lists of their own.

use super::{ARGUMENTS, MarkKind, Masker};
use crate::parse::map::Segment;
use crate::pp::{Language, TokenKind};

impl Masker<'_> {
    /// Takes out an attribute that begins at the current word; false when it is none.
    pub(super) fn attribute(&mut self, word: &str) -> bool {
        let cuda = self.language == Language::Cuda;
        let simple = match word {
            "__global__" => Some(MarkKind::Global),
            "__device__" => Some(MarkKind::Device),
            "__host__" => Some(MarkKind::Host),
            "__shared__" => Some(MarkKind::Shared),
            "__constant__" => Some(MarkKind::Constant),
            "__managed__" => Some(MarkKind::Managed),
            "__forceinline__" | "__inline_hint__" => Some(MarkKind::Inline),
            "__spec" => Some(MarkKind::Spec),
            _ => None,
        };
        if let Some(kind) = simple.filter(|_| cuda) {
            self.mark(kind);
            self.at += 1;
            return true;
        }
        let next = self.at + 1;
        let end = self.group_end(next);
        match word {
            "__noinline__" | "__grid_constant__" | "__nv_pure__" | "__extension__"
            | "_Noreturn" | "__local__" | "__cdecl" | "__stdcall" | "CUDART_CB" | "CUDARTAPI" => {
                self.at = next
            }
            "__launch_bounds__" | "__cluster_dims__" if cuda && end > next => {
                let list = self.arguments(next + 1, end - 1);
                self.mark(match word {
                    "__launch_bounds__" => MarkKind::LaunchBounds(list),
                    _ => MarkKind::ClusterDims(list),
                });
                self.at = end;
            }
            "__align__" | "__builtin_align__" | "alignas" | "_Alignas" if end > next => {
                let list = self.alignment(next + 1, end - 1);
                self.mark(MarkKind::Align(list));
                self.at = end;
            }
            "__attribute__" | "__attribute" | "__declspec" if end > next => {
                self.aligned_in(next + 1, end - 1);
                self.at = end;
            }
            "__block_size__" | "__maxnreg__" if end > next => self.at = end,
            "asm" | "__asm__" | "__asm" => return self.asm(),
            _ => return false,
        }
        true
    }

    /// `[[…]]`, which never begins an index or a lambda that C++ allows.
    pub(super) fn standard_attribute(&mut self) -> bool {
        let opens = self.text(self.at + 1) == "["
            && self.tokens.get(self.at + 2).is_some_and(|t| t.kind == TokenKind::Word);
        if self.language == Language::C || !opens {
            return false;
        }
        let end = self.group_end(self.at);
        let closes = end >= self.at + 4 && self.text(end - 2) == "]";
        let lambda = (self.at + 2..end).any(|i| matches!(self.text(i), "{" | "&" | "="));
        if !closes || lambda {
            return false;
        }
        self.at = end;
        true
    }

    /// Finds `aligned(n)` or `align(n)` among the tokens of a compiler's attribute.
    fn aligned_in(&mut self, start: usize, end: usize) {
        for i in start..end {
            if matches!(self.text(i), "packed" | "__packed__") {
                // An alignment of 0 is none that anything could have.
                let number = self.list_count;
                self.list_count += 1;
                self.lists.push_str(&format!("int {ARGUMENTS}{number} = f(0);\n"));
                self.mark(MarkKind::Align(number));
                return;
            }
            if matches!(self.text(i), "aligned" | "__aligned__" | "align") {
                let close = self.group_end(i + 1);
                if close > i + 1 && close <= end {
                    let list = self.arguments(i + 2, close - 1);
                    self.mark(MarkKind::Align(list));
                }
            }
        }
    }

    /// The argument of `alignas`: words of a built-in type are no argument of a call, so they become `alignof(T)`.
    fn alignment(&mut self, start: usize, end: usize) -> usize {
        const WORDS: [&str; 11] = [
            "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned",
            "void", "typename",
        ];
        let is_type = WORDS.contains(&self.text(start));
        let (opens, closes) = if is_type { ("f(alignof(", "));\n") } else { ("f(", ");\n") };
        self.list_of(start..end, opens, closes)
    }

    /// Keeps the tokens from `start` to `end` as an argument list of their own.
    fn arguments(&mut self, start: usize, end: usize) -> usize {
        self.list_of(start..end, "f(", ");\n")
    }

    fn list_of(&mut self, tokens: std::ops::Range<usize>, opens: &str, closes: &str) -> usize {
        let number = self.list_count;
        self.list_count += 1;
        self.lists.push_str(&format!("int {ARGUMENTS}{number} = {opens}"));
        for token in &self.tokens[tokens] {
            if !token.glued {
                self.lists.push(' ');
            }
            let at = self.lists.len() as u32;
            self.lists.push_str(&token.text);
            self.list_segments.push(Segment {
                start: at,
                end: self.lists.len() as u32,
                span: token.span,
            });
        }
        self.lists.push_str(closes);
        number
    }
}
