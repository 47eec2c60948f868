//! The statements that fill a place of a window's tile.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind};
use warpsmith_front::sema::walk;

use super::guards::{self, Guards, Reach};
use super::sum::Sum;
use super::{Border, Read, Value, Variable, Ways, Window};
use crate::auto::cut::AXES;
use crate::auto::{declarations, outer, plans, transposes};
use crate::source::marks::{self, Bytes};
use crate::source::patch::Patch;
use crate::source::scope;

impl Window<'_> {
    /// The lines; those behind the first begin with an indentation.
    pub(super) fn copy(
        &self,
        way: &Ways,
        block: Option<[u32; 3]>,
        place: &str,
        border: Border,
        indent: &str,
    ) -> Option<Vec<String>> {
        let edits = self.edits(way, block)?;
        let plain = |e: &ast::Expr| edits.text(self.kernel.text, &bytes(e));
        // Names of what they are equal to in the copy.
        let mut same: HashMap<String, String> = HashMap::new();
        // A place is copied as the thread that stands there reads its own.
        let around = self.counters.iter().filter_map(|c| Some((c, c.around.as_ref()?)));
        same.extend(around.map(|(c, a)| (c.name.clone(), a.position.clone())));
        let lines = self.declared(&edits, &mut same);
        let text = |e: &ast::Expr| plans::replaced(&plain(e), &same);
        let every: Vec<&Read<'_>> = self.all.iter().collect();
        let guards = Guards {
            named: self.named(&edits, &same),
            reach: self.reach(way, &every)?,
            text: &text,
        };
        let conditions = self.conditions(way, block, border, guards)?;
        // One in the loops: what others are written with may not be moved back into the array.
        let moved = |r: &&Read<'_>| r.offset == [0; 3] && r.arms.iter().all(|a| *a != [0; 3]);
        let read = self.all.iter().find(moved)?.access;
        let from = self.kernel.text[read.whole.clone()].find(&read.open)? + read.open.len();
        let from = read.whole.start + from;
        let blanks = self.kernel.text[from..].len() - self.kernel.text[from..].trim_start().len();
        let at = from + blanks..from + blanks + read.index.len();
        let index = plans::replaced(&edits.text(self.kernel.text, &at), &same);
        let statement = format!("{place} = {};", read.with(&index));
        let last = guards::guarded(&conditions, &statement, indent);
        // Counters that the copy still names stand at zero.
        let zero = self.at_zero().into_iter().map(|n| format!("const int {n} = 0;"));
        let mut all = declarations::needed(zero.chain(lines).collect(), &last);
        all.push(last);
        let whole = all.join(" ");
        let used = scope::names(&whole);
        let unknown = |v: &Variable<'_>| matches!(v.value, Value::Unknown);
        let missing = self.variables.iter().any(|v| unknown(v) && used.contains(&v.name));
        let threads = self.begins.iter().all(|b| self.is_own(way, b.axis));
        (!missing && (threads || !stray_thread(self, way, &whole))).then_some(all)
    }

    /// Declarations of the copy, and changes of what they declare; what only names something else is noted.
    fn declared(&self, edits: &Edits, same: &mut HashMap<String, String>) -> Vec<String> {
        let (mut lines, mut changed) = (vec![], vec![]);
        for Variable { name, ty, value } in &self.variables {
            let value = match value {
                Value::Is(value) => value,
                Value::Unknown => continue,
                Value::Changes(s) => {
                    let at = s.span.start as usize..s.span.end as usize;
                    lines.push(plans::replaced(&edits.text(self.kernel.text, &at), same));
                    continue;
                }
            };
            let stays = !self.changes(name);
            let own = edits.text(self.kernel.text, &bytes(value));
            // What is declared above and no other in the copy is not declared again.
            let as_it_is = own == self.kernel.sources.text(value.span)
                && (value.span.end as usize) < self.home
                && scope::names(&own).iter().all(|n| !changed.contains(n));
            if as_it_is && stays {
                continue;
            }
            changed.push(name.clone());
            let value = plans::replaced(&own, same);
            let space = if ty.ends_with('*') { "" } else { " " };
            match guards::name(&value) {
                Some(other) if stays => _ = same.insert(name.clone(), other.to_string()),
                _ if stays => lines.push(format!("const {ty}{space}{name} = {value};")),
                _ => lines.push(format!("{ty}{space}{name} = {value};")),
            }
        }
        lines
    }

    /// What is asked before an element is copied.
    fn conditions(
        &self,
        way: &Ways,
        block: Option<[u32; 3]>,
        border: Border,
        mut guards: Guards<'_>,
    ) -> Option<Vec<String>> {
        let outer = match border {
            Border::Open => vec![],
            Border::Same => guards.same(&self.outer),
            Border::Near => guards.nearby(&self.outer, false)?,
            Border::Apart => guards.nearby(&self.outer, true)?,
            Border::Cross { apart } => {
                let boxes = self.boxes();
                let mut all = vec![];
                for one in boxes.iter().filter(|_| boxes.len() > 1) {
                    guards.reach = self.reach(way, one)?;
                    let near = guards.nearby(&self.outer, apart)?;
                    // Where nothing is asked of threads, places say which corners nobody reads.
                    let asked = !near.is_empty() || !self.is_star;
                    all.push(if asked { near } else { self.beside(way, one, block)? });
                }
                guards::any(all)?
            }
        };
        let around = self.counters.iter().filter_map(|c| c.around.as_ref());
        let inside = around.flat_map(|a| a.conditions.clone());
        let mut conditions = vec![];
        for c in outer.into_iter().chain(guards.same(&self.inner)).chain(inside) {
            if !conditions.contains(&c) {
                conditions.push(c);
            }
        }
        Some(conditions)
    }

    /// What stands in the copy otherwise than in the kernel: positions are those of the place, counters are zero.
    fn edits(&self, way: &Ways, block: Option<[u32; 3]>) -> Option<Edits> {
        let mut edits = Edits::default();
        for begin in &self.begins {
            let axis = begin.axis;
            if self.is_own(way, axis) {
                continue;
            }
            let before = self.span(way, axis)?[0].behind();
            let at = format!("{}{before}", self.cell(way, axis));
            let own = self.kernel.extent(axis, block)?;
            let text = match &begin.base {
                Some(_) if begin.strict => format!("(int)(blockIdx.{} * {own}) + {at}", AXES[axis]),
                Some(base) if base.starts_with("(int)") => format!("{base} + {at}"),
                Some(base) => format!("(int)({base}) + {at}"),
                None => format!("({at})"),
            };
            edits.all.push((begin.at.clone(), text));
        }
        let names = self.at_zero();
        walk::block(self.kernel.body, &mut |e| {
            // `(y + dy)` is `y`.
            if let ExprKind::Paren(inner) = &*e.kind
                && let ExprKind::Binary { op, left, right } = &*inner.kind
                && matches!(op.as_str(), "+" | "-")
                && let Some(name) = outer::name(left).filter(|_| is_zero(right, &names))
                && edits.all.iter().all(|(at, _)| *at != bytes(left))
                && e.span.file.0 == 0
                // Parentheses that a macro brings do not stand there.
                && self.kernel.sources.text(e.span).starts_with('(')
            {
                edits.all.push((bytes(e), name.to_string()));
            }
            let ExprKind::Binary { op, left, right } = &*e.kind else { return };
            if e.span.file.0 != 0 || !["+", "-"].contains(&op.as_str()) {
                return;
            }
            let (l, r) = (bytes(left), bytes(right));
            match (is_zero(left, &names), is_zero(right, &names), op.as_str()) {
                (false, true, _) => edits.all.push((l.end..r.end, String::new())),
                (true, false, "+") => edits.all.push((l.start..r.start, String::new())),
                (true, false, _) => edits.all.push((l.start..r.start, "-".into())),
                _ => {}
            }
        });
        edits.counters = names.into_iter().cloned().collect();
        Some(edits)
    }

    /// The counters that are zero where a thread reads its own place.
    fn at_zero(&self) -> Vec<&String> {
        let counters = self.counters.iter().filter(|c| c.around.is_none()).map(|c| &c.name);
        counters.chain(self.turns.iter().map(|t| &t.name)).collect()
    }

    /// Whether a statement on the way gives a variable another value.
    fn changes(&self, name: &str) -> bool {
        let changes = |v: &Variable<'_>| v.name == name && matches!(v.value, Value::Changes(_));
        self.variables.iter().any(changes)
    }

    /// What names a position in the copy, by axis.
    fn named(&self, edits: &Edits, same: &HashMap<String, String>) -> HashMap<String, usize> {
        let mut named: HashMap<String, usize> = HashMap::new();
        for Variable { name, value, .. } in &self.variables {
            let Value::Is(value) = value else { continue };
            if self.changes(name) {
                continue;
            }
            let whole = bytes(value);
            let begin = self.begins.iter().find(|b| b.at == whole);
            let other = plans::replaced(&edits.text(self.kernel.text, &whole), same);
            let axis = begin.map(|b| b.axis).or_else(|| named.get(&other).copied());
            named.extend(axis.map(|a| (name.clone(), a)));
        }
        named
    }

    /// How far the threads are from a place that read it by some reads.
    fn reach(&self, way: &Ways, reads: &[&Read<'_>]) -> Option<[Reach; 3]> {
        let mut all: [Reach; 3] = Default::default();
        for (axis, reach) in all.iter_mut().enumerate() {
            let [furthest, nearest] =
                self.range(way, axis, reads)?.map(|p| Sum::default().minus(&p));
            *reach = Reach { furthest, nearest };
        }
        Some(all)
    }
}

/// Whether the thread's own number is left in a copy along an axis that places go over.
fn stray_thread(window: &Window<'_>, way: &Ways, text: &str) -> bool {
    (0..3).any(|a| !window.is_own(way, a) && text.contains(&format!("threadIdx.{}", AXES[a])))
}

/// Whether an expression is zero when some names are.
fn is_zero(e: &ast::Expr, names: &[&String]) -> bool {
    match &*e.kind {
        ExprKind::Path(_) => outer::name(e).is_some_and(|n| names.iter().any(|m| *m == n)),
        ExprKind::Paren(e) | ExprKind::Cast { operand: e, .. } => is_zero(e, names),
        ExprKind::Binary { op, left, right } => match op.as_str() {
            "*" => is_zero(left, names) || is_zero(right, names),
            "+" | "-" => is_zero(left, names) && is_zero(right, names),
            _ => false,
        },
        _ => false,
    }
}

fn bytes(e: &ast::Expr) -> Bytes {
    e.span.start as usize..e.span.end as usize
}

/// Replacements by place, of which those inside of others do not count.
#[derive(Default)]
struct Edits {
    all: Vec<(Bytes, String)>,
    /// Names that are zero in the copy.
    counters: Vec<String>,
}

impl Edits {
    /// A part of a text with them.
    fn text(&self, text: &str, part: &Bytes) -> String {
        let inside = |a: &Bytes, b: &Bytes| b.start <= a.start && a.end <= b.end;
        let mut patch = Patch::default();
        for (at, new) in self.all.iter().filter(|(at, _)| inside(at, part)) {
            let outer = |o: &&(Bytes, String)| inside(at, &o.0) && *at != o.0 && inside(&o.0, part);
            if !self.all.iter().any(|o| outer(&o)) {
                patch.replace(at.start - part.start..at.end - part.start, new.clone());
            }
        }
        let whole = text.get(part.clone()).unwrap_or_default();
        let edited = patch.apply(whole).unwrap_or_else(|_| whole.to_string());
        let edited = without_terms(edited.trim(), &self.counters);
        transposes::unwrapped(&edited)
    }
}

/// A text without names that are added or subtracted alone: what macros make of their arguments has no places to edit.
fn without_terms(text: &str, names: &[String]) -> String {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let mut patch = Patch::default();
    for i in 1..tokens.len() {
        let named = names.iter().any(|n| *n == word(i));
        let added =
            ["+", "-"].contains(&word(i - 1)) && i > 1 && !["(", ",", "*"].contains(&word(i - 2));
        let ends =
            ["", ")", "]", ",", "+", "-", ";", "<", ">", "=", "&", "|"].contains(&word(i + 1));
        if named && added && ends {
            patch.replace(tokens[i - 2].at.end..tokens[i].at.end, "");
        }
    }
    patch.apply(text).unwrap_or_else(|_| text.to_string())
}
