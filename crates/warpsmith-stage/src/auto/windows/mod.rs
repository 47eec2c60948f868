//! Windows: what loops of constant length read around each thread goes to a tile with as wide a halo.
//!
//! A place of the tile holds what a thread that stands there would read with its counters at zero. Which loop goes along which axis
//! is tried; whether the tile is right, the emulator says. Where a thread has several outputs, a block apart, the tile holds what all
//! of them read:
//!
//! ```text
//! for (int i = 0; i < STEPS; i++) { int x = x0 + i * BX; … in[y * w + x + j] … }
//!   ==>
//! for (int in_x = threadIdx.x; in_x < STEPS * BX + 2 * R; in_x += BX) { … in_tile[threadIdx.y][in_x] = in[y * w + x]; }
//! __syncthreads();
//! for (int i = 0; i < STEPS; i++) { … in_tile[threadIdx.y][threadIdx.x + i * BX + j + R] … }
//! ```
//!
//! One loop may go along several axes: `u[i - r] + u[i + r] + u[i - r * nx] + u[i + r * nx]` is a star ([`star`]).

mod copy;
mod guards;
mod star;
pub(super) mod sum;
mod way;

use warpsmith_front::ast;
use warpsmith_ir::Span;

use super::cut::AXES;
use super::find::{self, Access};
use super::plans::{Kernel, Plan};
use super::positions::{self, Begin};
use super::{banks, transposes, unused};
use crate::source::marks;
use crate::source::patch::{Patch, indentation};
use crate::source::scope;
pub(super) use guards::asked;
use sum::Sum;
pub(super) use way::goes_on;
use way::{Counter, Step, Turn};

/// Tiles for the reads of an array, one for each way that loops may go along axes and threads at the border may be treated.
pub fn plans(kernel: &Kernel<'_>, array: &str, element: &str, all: &[&Access]) -> Vec<Plan> {
    let Some(window) = Window::new(kernel, array, element, all) else { return vec![] };
    let mut plans: Vec<Plan> = vec![];
    // Where threads at the border do not come to the loops, their neighbours must not be read.
    let mut borders = [
        Border::Open,
        Border::Same,
        Border::Near,
        Border::Apart,
        Border::Cross { apart: false },
        Border::Cross { apart: true },
    ];
    if window.is_star {
        // Corners are left out first.
        borders.rotate_right(2);
    }
    for border in borders {
        for way in &window.ways() {
            let made = window.plan(way, border);
            plans.extend(made.filter(|m| plans.iter().all(|p| p.text != m.text)));
        }
    }
    plans
}

/// What is asked of the conditions around the loops before an element is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Border {
    /// Nothing.
    Open,
    /// That the thread which would stand at the place comes to the loops.
    Same,
    /// That the nearest thread does.
    Near,
    /// That the nearest thread comes to the loops, and that there is any.
    Apart,
    /// The same of the reads along each axis: corners that nobody reads are left out.
    Cross { apart: bool },
}

/// The axis of each loop around the threads and of each that goes on by the block.
#[derive(Clone, Debug)]
struct Ways {
    counters: Vec<usize>,
    turns: Vec<usize>,
}

struct Window<'a> {
    kernel: &'a Kernel<'a>,
    array: &'a str,
    element: &'a str,
    all: Vec<Read<'a>>,
    /// Addresses say along which axes each loop moves each read.
    exact: bool,
    /// They are not moved alike.
    is_star: bool,
    counters: Vec<Counter>,
    turns: Vec<Turn>,
    /// Declarations on the way, in order.
    variables: Vec<Variable<'a>>,
    /// Conditions inside of the loops around the threads, and outside.
    inner: Vec<(&'a ast::Expr, bool)>,
    outer: Vec<(&'a ast::Expr, bool)>,
    begins: Vec<Begin>,
    /// Where the copy stands.
    home: usize,
}

/// What stands on the way to the reads of a variable.
struct Variable<'a> {
    name: String,
    ty: String,
    value: Value<'a>,
}

#[derive(Clone, Copy)]
enum Value<'a> {
    Unknown,
    Is(&'a ast::Expr),
    /// A statement gives it another one.
    Changes(&'a ast::Stmt),
}

impl Value<'_> {
    fn span(self) -> Option<Span> {
        match self {
            Value::Unknown => None,
            Value::Is(e) => Some(e.span),
            Value::Changes(s) => Some(s.span),
        }
    }
}

/// A read that the tile serves.
#[derive(Debug)]
struct Read<'a> {
    access: &'a Access,
    /// How far it is from the first one in the same iteration; where addresses say that, with all counters at zero.
    offset: [i64; 3],
    /// By how much an iteration of each loop moves it along each axis, where addresses say that.
    arms: Vec<[i64; 3]>,
}

/// Most threads that a read is away from the first one.
const FAR: i64 = 8;

impl<'a> Window<'a> {
    fn new(
        kernel: &'a Kernel<'a>,
        array: &'a str,
        element: &'a str,
        all: &[&'a Access],
    ) -> Option<Window<'a>> {
        let way = |a: &Access| {
            let mut steps = vec![];
            way::path(kernel, &kernel.body.stmts, a.whole.start, false, &mut steps)?;
            let looped = steps.iter().any(|s| matches!(s, Step::Loop(_) | Step::Turn(_)));
            looped.then_some(steps)
        };
        let (read, steps) = all.iter().copied().find_map(|a| Some((a, way(a)?)))?;
        let mut window = Window {
            kernel,
            array,
            element,
            all: vec![],
            exact: false,
            is_star: false,
            counters: vec![],
            turns: vec![],
            variables: vec![],
            inner: vec![],
            outer: way::active(kernel, read.whole.start),
            begins: positions::begins(kernel),
            home: way::home(kernel)?,
        };
        for step in steps {
            match step {
                Step::Variable { name, ty, value } => {
                    let value = value.map_or(Value::Unknown, Value::Is);
                    window.variables.push(Variable { name, ty, value });
                }
                Step::Change { name, statement } => {
                    let value = Value::Changes(statement);
                    window.variables.push(Variable { name, ty: String::new(), value });
                }
                Step::Loop(counter) => window.counters.push(counter),
                Step::Turn(turn) => window.turns.push(turn),
                Step::Condition(e, holds) if window.counters.is_empty() => {
                    window.outer.push((e, holds));
                }
                Step::Condition(e, holds) => window.inner.push((e, holds)),
            }
        }
        window.uses(&read.named())?;
        let exact = window.exact(all, read);
        window.exact = exact.is_some();
        window.spread(&read.named());
        window.is_star = exact.as_ref().is_some_and(|reads| star::is_star(reads));
        window.all = exact.unwrap_or_else(|| {
            let near = |a: &&'a Access| {
                Some(Read { access: a, offset: window.offset(a, read)?, arms: vec![] })
            };
            all.iter().filter_map(near).collect()
        });
        let around = !window.counters.is_empty() || window.all.iter().any(|r| r.offset != [0; 3]);
        around.then_some(window)
    }

    /// Counters that are multiplied by constants go so much further, where addresses do not say it.
    fn spread(&mut self, index: &str) {
        let texts = self.texts(index);
        for counter in self.counters.iter_mut().filter(|_| !self.exact) {
            counter.spread(self.kernel, &texts);
        }
    }

    /// The subscript, and what it is made from and asked for.
    fn texts(&self, index: &str) -> String {
        let text = |s: Span| self.kernel.sources.text(s);
        let values = self.variables.iter().filter_map(|v| Some(text(v.value.span()?)));
        let all = values.chain(self.inner.iter().map(|(e, _)| text(e.span)));
        all.fold(index.to_string(), |all, t| format!("{all} ; {t}"))
    }

    /// Keeps what the subscript is made from: other loops repeat the same reads. `None`: it is made from data, or from too much.
    fn uses(&mut self, index: &str) -> Option<()> {
        let text = |e: &ast::Expr| self.kernel.sources.text(e.span).to_string();
        let mut needed = scope::names(index);
        let mut texts = index.to_string();
        for Variable { name, value, .. } in self.variables.iter().rev() {
            if needed.contains(name) {
                let value = self.kernel.sources.text(value.span()?);
                needed.extend(scope::names(value));
                texts += &format!(" ; {value}");
            }
        }
        self.counters.retain(|c| needed.contains(&c.name));
        self.turns.retain(|t| needed.contains(&t.name));
        let loops: Vec<String> = self
            .counters
            .iter()
            .map(|c| c.name.clone())
            .chain(self.turns.iter().map(|t| t.name.clone()))
            .collect();
        // What asks for counters alone leaves out reads, not elements.
        let alone = |e: &ast::Expr| {
            let names = scope::names(&text(e));
            names.iter().all(|n| loops.contains(n) || !self.kernel.is_variable(n))
        };
        self.inner.retain(|(e, _)| !alone(e));
        self.outer.retain(|(e, _)| !alone(e));
        for (e, _) in &self.inner {
            texts += &format!(" ; {}", text(e));
        }
        // What is read is no part of what it is read for.
        let asked = self.inner.iter().chain(&self.outer);
        needed.extend(asked.flat_map(|(e, _)| scope::names(&text(e))));
        for Variable { name, value, .. } in self.variables.iter().rev() {
            if needed.contains(name) {
                let text = value.span().map_or("", |s| self.kernel.sources.text(s));
                needed.extend(scope::names(text));
            }
        }
        self.variables.retain(|v| needed.contains(&v.name));
        self.counters.iter_mut().for_each(|c| c.falls = is_subtracted(&texts, &c.name));
        let usable = !loops.is_empty() && !texts.contains('[');
        usable.then_some(())
    }

    /// How far a read is from the first one in the same iteration; `None`: it stays as it is.
    fn offset(&self, a: &Access, first: &Access) -> Option<[i64; 3]> {
        if a.index == first.index && a.open == first.open {
            return Some([0; 3]);
        }
        let looped = a.loops()? == first.loops()?;
        let offset = a.offset(first).filter(|_| looped)?;
        offset.iter().all(|d| d.abs() <= FAR).then_some(offset)
    }

    /// All ways to give each loop an axis, those around the threads one of its own.
    fn ways(&self) -> Vec<Ways> {
        if self.exact {
            return vec![Ways { counters: vec![], turns: vec![] }];
        }
        let axes: Vec<usize> = (0..3).filter(|a| self.kernel.axes[*a]).collect();
        let mut counters: Vec<Vec<usize>> = vec![vec![]];
        // The innermost loop most likely goes along x.
        for _ in &self.counters {
            let longer = |c: &Vec<usize>| {
                let free = axes.iter().filter(|a| !c.contains(a));
                free.map(|a| [&[*a], c.as_slice()].concat()).collect::<Vec<_>>()
            };
            counters = counters.iter().flat_map(longer).collect();
        }
        let mut turns: Vec<Vec<usize>> = vec![vec![]];
        for turn in &self.turns {
            let with = |t: &Vec<usize>| {
                let free = turn.axes.iter().filter(|a| self.kernel.axes[**a] && !t.contains(a));
                free.map(|a| [t.as_slice(), &[*a]].concat()).collect::<Vec<_>>()
            };
            turns = turns.iter().flat_map(with).collect();
        }
        let both = |c: &Vec<usize>| {
            let of = |t: &Vec<usize>| Ways { counters: c.clone(), turns: t.clone() };
            turns.iter().map(of).collect::<Vec<_>>()
        };
        counters.iter().flat_map(both).collect()
    }

    /// The loop that goes around the threads along an axis.
    fn counter(&self, way: &Ways, axis: usize) -> Option<&Counter> {
        way.counters.iter().position(|a| *a == axis).map(|n| &self.counters[n])
    }

    fn turn(&self, way: &Ways, axis: usize) -> Option<&Turn> {
        way.turns.iter().position(|a| *a == axis).map(|n| &self.turns[n])
    }

    /// The loops that move a read along an axis, and by how much an iteration does.
    fn moved(&self, way: &Ways, read: &Read<'_>, axis: usize) -> Vec<(&Counter, i64)> {
        if self.exact {
            let all = self.counters.iter().zip(read.arms.iter().map(|a| a[axis]));
            return all.filter(|(_, by)| *by != 0).collect();
        }
        let counter = self.counter(way, axis);
        counter.map(|c| (c, if c.falls { -1 } else { 1 })).into_iter().collect()
    }

    /// The first and the last place that some reads are at along an axis, from the thread's own.
    fn range(&self, way: &Ways, axis: usize, reads: &[&Read<'_>]) -> Option<[Sum; 2]> {
        let of = |read: &&Read<'_>| {
            let mut places = [Sum::default(), Sum::default()];
            for (c, by) in self.moved(way, read, axis) {
                let ends = if by < 0 { [&c.last, &c.first] } else { [&c.first, &c.last] };
                places = [places[0].plus(by, ends[0]), places[1].plus(by, ends[1])];
            }
            places.map(|p| p.plus(1, &Sum::number(read.offset[axis])))
        };
        let mut all = reads.iter().map(of);
        let mut range = all.next()?;
        for [low, high] in all {
            let above = |a: &Sum, b: &Sum| Some(self.kernel.value(&a.minus(b).text())? > 0);
            if above(&range[0], &low)? {
                range[0] = low;
            }
            if above(&high, &range[1])? {
                range[1] = high;
            }
        }
        Some(range)
    }

    /// The first place of the tile from where the block begins, and by how much the tile is longer than the block.
    fn span(&self, way: &Ways, axis: usize) -> Option<[Sum; 2]> {
        let [low, high] = self.range(way, axis, &self.all.iter().collect::<Vec<_>>())?;
        let length = high.minus(&low);
        Some([low, length])
    }

    /// Reads that lie in boxes: the arms of a star, else those of one row together, and rows that go equally far.
    fn boxes(&self) -> Vec<Vec<&Read<'_>>> {
        if self.is_star {
            return self.arms();
        }
        let along = |row: &[&Read<'_>]| {
            let all = row.iter().map(|r| r.offset[0]);
            [all.clone().min(), all.max()]
        };
        let mut rows: Vec<Vec<&Read<'_>>> = vec![];
        for read in &self.all {
            match rows.iter_mut().find(|r| r[0].offset[1..] == read.offset[1..]) {
                Some(row) => row.push(read),
                None => rows.push(vec![read]),
            }
        }
        let mut boxes: Vec<Vec<&Read<'_>>> = vec![];
        for row in rows {
            match boxes.iter_mut().find(|b| along(b) == along(&row)) {
                Some(whole) => whole.extend(row),
                None => boxes.push(row),
            }
        }
        boxes
    }

    /// Whether a tile has as many places along an axis as the block has threads.
    fn is_own(&self, way: &Ways, axis: usize) -> bool {
        let alone = self.span(way, axis).is_some_and(|s| s[1].is_zero());
        self.turn(way, axis).is_none() && alone
    }

    fn tile(&self) -> String {
        format!("{}_tile", find::plain_name(self.array))
    }

    /// The variable that goes along an axis of the tile.
    fn cell(&self, way: &Ways, axis: usize) -> String {
        match self.is_own(way, axis) {
            true => format!("threadIdx.{}", AXES[axis]),
            false => format!("{}_{}", find::plain_name(self.array), AXES[axis]),
        }
    }

    /// The place of the tile that serves a read.
    fn place(&self, way: &Ways, read: &Read<'_>, block: Option<[u32; 3]>) -> Option<String> {
        let mut place = self.tile();
        for axis in (0..3).rev().filter(|a| self.kernel.axes[*a]) {
            let own = self.kernel.extent(axis, block)?;
            let turn = self.turn(way, axis).map_or(String::new(), |t| t.beside(&own));
            let moved = self.moved(way, read, axis);
            let around = moved.iter().fold(Sum::default(), |s, (c, by)| s.plus(*by, &c.from()));
            // What the counter begins with and the offset are one number.
            let more = Sum::number(read.offset[axis]).minus(&self.span(way, axis)?[0]);
            let around = around.plus(1, &more).behind();
            place += &format!("[threadIdx.{}{turn}{around}]", AXES[axis]);
        }
        Some(place)
    }

    /// What constants of the file have to keep to, so that blocks go down a tile in whole steps.
    fn whole_steps(&self, way: &Ways, block: Option<[u32; 3]>) -> Option<Vec<String>> {
        let mut all = vec![];
        for (turn, axis) in self.turns.iter().zip(&way.turns).filter(|(t, _)| !t.multiplied) {
            let own = self.kernel.extent(*axis, block)?;
            all.push(transposes::whole_steps(&turn.end, &own));
        }
        // Numbers go together or do not: the emulator says that.
        all.retain(|_| self.kernel.extents.iter().any(|e| e.constant().is_some()));
        Some(all)
    }

    fn plan(&self, way: &Ways, border: Border) -> Option<Plan> {
        let kernel = self.kernel;
        let block = kernel.written(false);
        let (mut extents, mut cells, mut why) = (String::new(), String::new(), String::new());
        let mut loops = vec![];
        for axis in (0..3).rev().filter(|a| kernel.axes[*a]) {
            let (x, own) = (AXES[axis], kernel.extent(axis, block)?);
            let base = self.turn(way, axis).map_or(own.clone(), |t| t.length(&own));
            let extent = format!("{base}{}", self.span(way, axis)?[1].behind());
            let longer = banks::padding(kernel, self.element, &own, &extent).filter(|_| axis == 0);
            let [more, reason] = longer.unwrap_or_default();
            extents += &format!("[{extent}{more}]");
            why += &reason;
            let cell = self.cell(way, axis);
            cells += &format!("[{cell}]");
            if !self.is_own(way, axis) {
                loops.push(format!(
                    "for (int {cell} = threadIdx.{x}; {cell} < {extent}; {cell} += {own})"
                ));
            }
        }
        let text = kernel.text;
        let mut patch = Patch::default();
        for read in &self.all {
            patch.replace(read.access.whole.clone(), self.place(way, read, block)?);
        }
        // What the subscripts alone were made of stands in the copy.
        let changes = self.variables.iter().filter_map(|v| match v.value {
            Value::Changes(s) => Some((v.name.as_str(), s)),
            _ => None,
        });
        unused::without_changes(kernel, &changes.collect::<Vec<_>>(), &mut patch);
        unused::without(kernel, &(0..self.home), &|_| 0, &mut patch);
        let indent = indentation(text, self.home).to_string();
        let start = kernel.body.span.map_or(0, |s| s.start as usize) + 1;
        let first = kernel.body.stmts.first().map_or(start, |s| s.span.start as usize);
        let inner = indentation(text, first);
        let tile = self.tile();
        patch.replace(
            start..start,
            format!("\n{inner}__shared__ {} {tile}{extents};{why}", self.element),
        );
        let deep = format!("{indent}{}", "    ".repeat(loops.len()));
        let copy = self.copy(way, block, &format!("{tile}{cells}"), border, &deep)?;
        let mut lines =
            format!("// What the loops below read around the block's elements.\n{indent}");
        let braced = copy.len() > 1 || copy.iter().any(|l| l.contains('\n'));
        for (n, l) in loops.iter().enumerate() {
            let brace = if n + 1 == loops.len() && braced { " {" } else { "" };
            lines += &format!("{l}{brace}\n{indent}{}", "    ".repeat(n + 1));
        }
        lines += &copy.join(&format!("\n{deep}"));
        if braced {
            let outer = "    ".repeat(loops.len().saturating_sub(1));
            lines += &format!("\n{indent}{outer}}}");
        }
        lines += &format!("\n{indent}__syncthreads();\n{indent}");
        patch.replace(self.home..self.home, lines);
        let whole = self.whole_steps(way, block)?;
        patch.replace(
            start..start,
            whole.iter().map(|w| format!("\n{inner}{w}")).collect::<String>(),
        );
        let used = scope::names(text);
        let cell =
            |a: usize| used.contains(&format!("{}_{}", find::plain_name(self.array), AXES[a]));
        let taken = (0..3).any(cell) || used.contains(&tile);
        let text = patch.apply(text).ok().filter(|_| !taken)?;
        let name = format!("window of `{}`", self.array);
        Some(Plan { name, text, block, asserts: !whole.is_empty(), ..Plan::default() })
    }
}

/// Whether a name is subtracted somewhere.
fn is_subtracted(text: &str, name: &str) -> bool {
    let tokens = marks::tokens(text);
    tokens.windows(2).any(|t| text[t[0].at.clone()] == *"-" && text[t[1].at.clone()] == *name)
}
