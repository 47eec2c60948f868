//! The text of a kernel of two steps, part by part.

use super::{Store, Writer, body_bytes};
use crate::source::marks::Bytes;
use crate::source::patch::{Patch, indentation};
use crate::source::scope;

/// The texts of the two steps.
pub(super) struct Parts<'a> {
    pub(super) writer: &'a Writer<'a>,
    pub(super) extents: &'a [Option<String>; 3],
    pub(super) reach: u32,
    pub(super) between: &'a str,
    pub(super) tile: &'a str,
    pub(super) marked: bool,
}

impl Parts<'_> {
    fn axes(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> {
        self.extents.iter().enumerate().filter_map(|(a, e)| Some((a, e.as_deref()?)))
    }

    /// The thread's own place in the tile.
    fn place(&self) -> String {
        let letters = crate::auto::cut::AXES;
        let places: String =
            self.axes().rev().map(|(a, _)| format!("[threadIdx.{}]", letters[a])).collect();
        format!("{}{places}", self.tile)
    }

    /// A place of the tile so far from the thread's own.
    fn beside(&self, far: &[String]) -> String {
        let letters = crate::auto::cut::AXES;
        let places = self.axes().zip(far);
        let places = places.map(|((a, _), far)| format!("[threadIdx.{} + ({far})]", letters[a]));
        let places: Vec<String> = places.collect();
        format!("{}{}", self.tile, places.into_iter().rev().collect::<String>())
    }

    /// What the stores to the array between the steps are.
    pub(super) fn stores(&self) -> Vec<String> {
        let store =
            |s: &Store<'_>| format!("{}[{}] = {};", self.between, s.access.index, self.place());
        self.writer.stores.iter().map(store).collect()
    }

    pub(super) fn body(&self) -> String {
        let w = self.writer;
        let text = w.kernel.text;
        let indent = indentation(text, w.rest.start);
        let extents: String = self.axes().rev().map(|(_, e)| format!("[{e}]")).collect();
        let (reach, letters) = (self.reach, crate::auto::cut::AXES);
        let by = 2 * reach;
        let mut first: Vec<String> = self
            .axes()
            .map(|(a, e)| {
                let x = letters[a];
                format!("blockIdx.{x} * ({e} - {by}) + threadIdx.{x} >= {reach}")
            })
            .collect();
        let mut second: Vec<String> = self
            .axes()
            .map(|(a, e)| {
                let x = letters[a];
                format!("threadIdx.{x} >= {reach} && threadIdx.{x} < {e} - {reach}")
            })
            .collect();
        for (_, condition) in &w.returns {
            first.push(format!("!({condition})"));
            second.push(format!("!({condition})"));
        }
        let plural = if reach == 1 { "one element" } else { "elements" };
        let steps = [self.step(true), self.step(false)];
        let conditions = [first.join(" && "), second.join(" && ")];
        let used = [steps.join("\n"), conditions.join("\n")].concat();
        let declarations = without_unused(&self.declarations(), &used);
        format!(
            "{{\n{indent}__shared__ {} {}{extents};{}\n{indent}// The first step, with {plural} more on each side than the second one is for.\n{indent}if ({}) {{\n{indent}    {}\n{indent}}}\n{indent}__syncthreads();\n{indent}// The second step reads what the first one has left in shared memory.\n{indent}if ({}) {{\n{indent}    {}\n{indent}}}\n}}",
            w.element, self.tile, declarations, conditions[0], steps[0], conditions[1], steps[1],
        )
    }

    /// What stands before the steps: positions are those of blocks that overlap.
    fn declarations(&self) -> String {
        let w = self.writer;
        let start = body_bytes(w.kernel).start + 1;
        let mut patch = Patch::default();
        self.replace_positions(start..w.rest.start, start, &mut patch);
        for (at, _) in &w.returns {
            let line = w.kernel.text[..at.start].trim_end_matches([' ', '\t']).len();
            let line = if w.kernel.text[..line].ends_with('\n') { line - 1 } else { at.start };
            patch.replace(line.max(start) - start..at.end - start, "");
        }
        let text = w.kernel.text.get(start..w.rest.start).unwrap_or("");
        patch.apply(text).unwrap_or_default().trim_end().to_string()
    }

    fn replace_positions(&self, within: Bytes, base: usize, patch: &mut Patch) {
        for p in self.writer.positions.iter().filter(|p| within.contains(&p.at.start)) {
            let Some(extent) = &self.extents[p.axis] else { continue };
            let (x, by) = (crate::auto::cut::AXES[p.axis], 2 * self.reach);
            let text =
                format!("(int)(blockIdx.{x} * ({extent} - {by}) + threadIdx.{x}) - {}", self.reach);
            let whole = &self.writer.kernel.text[p.at.clone()];
            let text = if whole.starts_with('(') { format!("({text})") } else { text };
            patch.replace(p.at.start - base..p.at.end - base, text);
        }
    }

    /// The statements of a step.
    fn step(&self, first: bool) -> String {
        let w = self.writer;
        let base = w.rest.start;
        let mut patch = Patch::default();
        if first {
            for s in &w.stores {
                let inner = indentation(w.kernel.text, s.start);
                let target = s.access.whole.start - base..s.access.whole.end - base;
                let (open, close) = if s.bare { ("{ ", " }") } else { ("", "") };
                patch.replace(target, format!("{open}{}", self.place()));
                if !self.marked {
                    let end = s.end - base;
                    patch.replace(end..end, close);
                    continue;
                }
                let store = format!("{}[{}] = {};", self.between, s.access.index, self.place());
                let end = s.end - base;
                patch.replace(end..end, format!("\n{inner}{store}{close}"));
            }
        } else {
            for (n, r) in w.reads.iter().enumerate() {
                let at = r.whole.start - base..r.whole.end - base;
                let text = match w.places.get(n).filter(|_| !self.marked) {
                    Some(far) => self.beside(far),
                    None => format!("__opt__({}[{}])", self.between, r.index),
                };
                patch.replace(at, text);
            }
        }
        let text = patch.apply(&w.kernel.text[w.rest.clone()]).unwrap_or_default();
        text.replace('\n', "\n    ")
    }
}

/// Declarations without the lines whose variables nothing mentions any more, neither later lines nor the steps.
fn without_unused(declarations: &str, steps: &str) -> String {
    let mut used = scope::names(steps);
    let mut kept: Vec<&str> = vec![];
    for line in declarations.lines().rev() {
        let unused = declared(line).is_some_and(|names| !names.iter().any(|n| used.contains(n)));
        if !unused {
            used.extend(scope::names(line));
            kept.push(line);
        }
    }
    kept.reverse();
    kept.join("\n")
}

/// The whole numbers that a line declares from expressions without calls, if it does nothing else.
fn declared(line: &str) -> Option<Vec<String>> {
    let rest = line.trim().strip_suffix(';')?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    let types = ["unsigned int ", "unsigned ", "int ", "size_t ", "auto "];
    let rest = types.iter().find_map(|t| rest.strip_prefix(t))?;
    let calls = rest.as_bytes().windows(2).any(|w| w[1] == b'(' && w[0].is_ascii_alphanumeric());
    if calls || rest.contains([';', '{', '?']) {
        return None;
    }
    let name = |part: &str| {
        let (name, _) = part.split_once('=')?;
        let name = name.trim();
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (plain && !name.is_empty()).then(|| name.to_string())
    };
    rest.split(',').map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_nothing_needs_are_left_out() {
        let lines = "\n    const int tx = threadIdx.x, ty = threadIdx.y;\n    int x = 3 * ty;\n    int y = f(2);\n    int z = 1, w = 2;";
        assert_eq!(without_unused(lines, "a[x] = w;"), lines);
        assert_eq!(
            without_unused(lines, "a[z] = 1;"),
            "\n    int y = f(2);\n    int z = 1, w = 2;"
        );
    }
}
