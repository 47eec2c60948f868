//! Streaming through registers: what one iteration reads ahead, the next ones have.

use std::collections::HashMap;

use warpsmith_front::ast;

use super::cut;
use super::find::{self, Access};
use super::outer::Outer;
use super::plans::{Kernel, Plan, replaced};
use crate::source::patch::{Patch, indentation};
use crate::source::{marks, scope};

/// Reads of one column: of the plane before, the plane itself and the plane after.
struct Column<'a> {
    below: Vec<&'a Access>,
    here: Vec<&'a Access>,
    above: Vec<&'a Access>,
}

/// Planes kept in registers along the outermost loop. With `ahead`, each is read so many iterations before it is needed, so that a
/// thread waits for memory while it computes, and for several planes at a time.
pub fn plan(
    kernel: &Kernel<'_>,
    array: &str,
    element: &str,
    all: &[&Access],
    ahead: u32,
) -> Option<Plan> {
    let outer = Outer::around(kernel, all).filter(|o| !o.bare)?;
    let holds = |s: &&ast::Stmt| {
        all.iter().any(|a| (s.span.start..s.span.end).contains(&(a.whole.start as u32)))
    };
    let first = outer.stmts().iter().find(holds)?.span.start as usize;
    let last = outer.stmts().iter().rev().find(holds)?.span.end as usize;
    if outer.goes_on_before(last) {
        return None;
    }
    let reader = Reader { array, element, vector: false };
    let queue = queue(kernel, &outer, reader, all, ahead)?;
    let mut patch = Patch::default();
    queue.held.iter().for_each(|(a, name)| patch.replace(a.whole.clone(), name.clone()));
    patch.replace(outer.start()..outer.start(), queue.before);
    let inner = indentation(kernel.text, first);
    let reads: String = queue.reads.iter().map(|l| format!("{l}\n{inner}")).collect();
    let mut turns: String = queue.turns.iter().map(|t| format!("\n{inner}{t}")).collect();
    if !matches!(outer.body.kind, ast::StmtKind::Block(_)) {
        // The only statement gets neighbours, and so braces.
        let tokens = marks::tokens(kernel.text);
        let end = tokens.iter().map(|t| t.at.end).filter(|end| *end <= first).max()?;
        patch.replace(end..end, " {");
        turns += &format!("\n{}}}", indentation(kernel.text, outer.stmt.span.start as usize));
    }
    patch.replace(first..first, reads);
    patch.replace(last..last, turns);
    let name = match ahead {
        0 => format!("`{array}` through registers"),
        1 => format!("`{array}` through registers, read early"),
        n => format!("`{array}` through registers, read {n} iterations early"),
    };
    let text = patch.apply(kernel.text).ok()?;
    Some(Plan { name, text, ahead, ..Plan::default() })
}

/// How elements of an array are read: one by one, or as vectors of the type `element`.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub array: &'a str,
    pub element: &'a str,
    pub vector: bool,
}

impl Reader<'_> {
    pub fn read(&self, index: &str) -> String {
        match self.vector {
            true => format!("*(const {} *)&{}[{index}]", self.element, self.array),
            false => format!("{}[{index}]", self.array),
        }
    }
}

/// The parts of a loop along which an array goes through registers.
pub struct Queue<'a> {
    /// Reads, and the variables that hold what they read.
    pub held: Vec<(&'a Access, String)>,
    /// What stands before the loop, at the beginning of an iteration and at its end.
    pub before: String,
    pub reads: Vec<String>,
    pub turns: Vec<String>,
}

/// The parts for the columns of an array; `None` where it has none.
pub fn queue<'a>(
    kernel: &Kernel<'_>,
    outer: &Outer<'_>,
    reader: Reader<'_>,
    all: &[&'a Access],
    ahead: u32,
) -> Option<Queue<'a>> {
    let columns = columns(all);
    if columns.is_empty() {
        return None;
    }
    let streamed = Streamed::new(kernel, outer, reader, ahead)?;
    let mut lines = Lines::default();
    let mut held = vec![];
    for (n, column) in columns.iter().enumerate() {
        let suffix = if columns.len() > 1 { (n + 1).to_string() } else { String::new() };
        let names = Names::new(reader.array, &suffix, ahead);
        streamed.column(column, &names, &mut lines)?;
        let above = &names.queue[0];
        for (list, name) in
            [(&column.below, &names.below), (&column.here, &names.here), (&column.above, above)]
        {
            held.extend(list.iter().map(|a| (*a, name.clone())));
        }
    }
    let before = streamed.before(&lines);
    Some(Queue { held, before, reads: lines.reads, turns: lines.turns })
}

/// Variables of one column: the plane before, the plane itself, and those after it.
struct Names {
    below: String,
    here: String,
    /// The plane after, and those that are read ahead.
    queue: Vec<String>,
    /// The last of them, as it is read in an iteration.
    next: String,
}

impl Names {
    fn new(array: &str, suffix: &str, ahead: u32) -> Names {
        let name = |what: &str| format!("{array}_{what}{suffix}");
        let further = (2..=ahead).map(|n| format!("{array}_above{suffix}_{n}"));
        Names {
            below: name("below"),
            here: name("here"),
            queue: std::iter::once(name("above")).chain(further).collect(),
            next: name("next"),
        }
    }
}

/// What is written before the loop, at its beginning and at its end.
#[derive(Default)]
struct Lines {
    declared: Vec<String>,
    loads: Vec<String>,
    reads: Vec<String>,
    turns: Vec<String>,
}

/// A loop along which an array goes through registers.
struct Streamed<'a> {
    kernel: &'a Kernel<'a>,
    outer: &'a Outer<'a>,
    reader: Reader<'a>,
    /// What is declared before the loop, and what variables of its body are.
    declared: Vec<String>,
    values: HashMap<String, String>,
    /// The next iterations, as far as is read ahead.
    next: Vec<Next>,
}

impl<'a> Streamed<'a> {
    fn new(
        kernel: &'a Kernel<'a>,
        outer: &'a Outer<'a>,
        reader: Reader<'a>,
        ahead: u32,
    ) -> Option<Streamed<'a>> {
        let values = find::initialisers(kernel.body, kernel.sources);
        let declared = scope::site(kernel.unit, kernel.sources, outer.start())?.declared;
        let next = (1..=ahead).map(|n| Next::new(kernel, outer, (&declared, &values), n));
        let next = next.collect::<Option<Vec<_>>>()?;
        Some(Streamed { kernel, outer, reader, declared, values, next })
    }

    /// A subscript from what is declared before the loop and the counter.
    fn at_first(&self, index: &str) -> Option<String> {
        let known = |n: &String| self.declared.contains(n) || *n == self.outer.counter;
        let mut index = index.to_string();
        for _ in 0..4 {
            let names = scope::names(&index);
            if names.iter().filter(|n| self.kernel.is_variable(n)).all(known) {
                return Some(index);
            }
            index = replaced(&index, &self.values);
        }
        None
    }

    fn column(&self, column: &Column<'_>, names: &Names, lines: &mut Lines) -> Option<()> {
        let Reader { element, .. } = self.reader;
        let read = |index: &str| self.reader.read(index);
        let Names { below, here, queue, next } = names;
        let above = self.at_first(&column.above[0].index)?;
        let first = |a: &Access| Some(read(&self.at_first(&a.index)?));
        lines.loads.push(format!("{below} = {};", first(column.below[0])?));
        lines.loads.push(format!("{here} = {};", first(column.here[0])?));
        lines.turns.push(format!("{below} = {here};"));
        lines.turns.push(format!("{here} = {};", queue[0]));
        let Some(furthest) = self.next.last() else {
            lines.declared.push(format!("{below}, {here}"));
            let value = read(&column.above[0].index);
            lines.reads.push(format!("const {element} {} = {value};", queue[0]));
            return Some(());
        };
        lines.declared.push(format!("{below}, {here}, {}", queue.join(", ")));
        lines.loads.push(format!("{} = {};", queue[0], read(&above)));
        let later = |next: &Next, otherwise: &str| {
            let value = read(&replaced(&above, &next.values));
            format!("{} ? {value} : {otherwise};", next.cond)
        };
        for (pair, next) in queue.windows(2).zip(&self.next) {
            lines.loads.push(format!("{} = {}", pair[1], later(next, &pair[0])));
            lines.turns.push(format!("{} = {};", pair[0], pair[1]));
        }
        let last = queue.last()?;
        lines.reads.push(format!("const {element} {next} = {}", later(furthest, last)));
        lines.turns.push(format!("{last} = {next};"));
        Some(())
    }

    /// Declarations and the planes of the first iteration. A loop without iterations reads nothing.
    fn before(&self, lines: &Lines) -> String {
        let indent = indentation(self.kernel.text, self.outer.start());
        let (counter, ty) = (self.outer.counter, &self.outer.ty);
        let value = self.kernel.sources.text(self.outer.first.span);
        let cond = self.kernel.sources.text(self.outer.cond.span);
        format!(
            "// Planes go through registers: each is read once.\n{indent}{} {};\n{indent}{{\n{indent}    const {ty} {counter} = {value};\n{indent}    if ({cond}) {{\n{indent}        {}\n{indent}    }}\n{indent}}}\n{indent}",
            self.reader.element,
            lines.declared.join(", "),
            lines.loads.join(&format!("\n{indent}        ")),
        )
    }
}

/// What texts are some iterations later.
struct Next {
    /// That there is such an iteration.
    cond: String,
    /// The counter, and variables that move with it.
    values: HashMap<String, String>,
}

impl Next {
    fn new(
        kernel: &Kernel<'_>,
        outer: &Outer<'_>,
        (declared, known): (&[String], &HashMap<String, String>),
        later: u32,
    ) -> Option<Next> {
        let counter = outer.counter.to_string();
        let mut values = HashMap::from([(counter.clone(), format!("{counter} + {later}"))]);
        for (name, (sign, by)) in cut::moved(kernel, outer).ok()? {
            let by = match (later, by.as_str()) {
                (1, _) => cut::operand(&by),
                (n, "1") => n.to_string(),
                (n, by) => format!("{n} * {}", cut::operand(by)),
            };
            values.insert(name.clone(), format!("{name} {sign} {by}"));
        }
        let fixed = |n: &String| declared.contains(n) || *n == counter || known.contains_key(n);
        let cond = kernel.sources.text(outer.cond.span);
        let names = scope::names(cond);
        let cond = replaced(cond, &values);
        let all = names.iter().filter(|n| kernel.is_variable(n)).all(fixed);
        all.then(|| Next { cond: format!("({cond})"), values })
    }
}

/// Reads that are three planes of one column.
fn columns<'a>(all: &[&'a Access]) -> Vec<Column<'a>> {
    let value = |a: &Access, n| a.value_at([2, 2, 0], n);
    let one_loop = |a: &&&Access| a.loops().is_some_and(|l| l.len() == 1);
    let mut columns: Vec<Column<'a>> = vec![];
    for here in all.iter().filter(one_loop) {
        let now = value(here, 3);
        let like = |n: i64, to: Option<i64>| -> Vec<&'a Access> {
            let alike = |a: &&&'a Access| value(a, n) == to && to.is_some();
            all.iter().filter(one_loop).filter(alike).copied().collect()
        };
        // What is here in the third iteration is below in the fourth, and was above in the second.
        let (below, above) = (like(4, now), like(2, now));
        let moves = value(here, 2) != now;
        let known = columns.iter().any(|c| c.here.iter().any(|a| value(a, 3) == now));
        if moves && !known && !below.is_empty() && !above.is_empty() {
            columns.push(Column { below, here: like(3, now), above });
        }
    }
    columns
}
