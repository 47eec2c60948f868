//! The ladder: schedules for a sum of products, each one idea better than the one before, as a course would teach them.
//!
//! The ideas are those of a lecture on matrix multiplication: one thread an element; square tiles in shared memory; the
//! inner loop unrolled; Volkov's column a thread, a sum of outer products; the tile of one operand transposed, with a
//! padding column. What they need is read off the nest: which loops are rows and columns, which loop sums, which arrays
//! are its two operands, in whatever order their subscripts stand.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{Axis, Diagnostic, Layout, LoopId, SourceMap, VarId};

use super::template::{accumulated, schedule_of, serial_loops};
use super::{Schedule, StepKind, derive, take};
use crate::analysis::access::{Access, AccessKind, Base, Scope};
use crate::kernel::Kernel;
use crate::rewrite::bounds::Edges;
use crate::rewrite::{pitch, stage};
use crate::walk;

/// One version of the kernel.
#[derive(Clone, Debug)]
pub struct Rung {
    /// A few words for a file name.
    pub name: &'static str,
    /// What it does that the one before did not.
    pub idea: &'static str,
    pub schedule: Schedule,
}

/// A nest that sums products, `C[i][j] += A[i][l] * B[l][j]` or the like.
struct Contraction {
    /// The loops bound to the grid, as the direct translation binds them.
    loops: Vec<String>,
    axes: Vec<Axis>,
    /// The loop over rows: bound to y.
    row: String,
    /// The loop over columns: bound to x.
    column: String,
    /// The loop that sums.
    sum: String,
    /// The operand that all threads of a row share, and the one that those of a column share.
    left: String,
    right: String,
    /// The loop that sums walks along the rows of the left operand's memory.
    left_by_rows: bool,
    /// `accumulate` where the sum is an element of an array.
    accumulate: Vec<StepKind>,
    /// What pads the arrays and moves their rows apart; nothing where they cannot be padded.
    padded: Vec<StepKind>,
}

/// Side of a square tile.
const SQUARE: u32 = 32;
/// The lecture's tile of Volkov's kernel: rows, terms of the sum, columns.
const VOLKOV: [u32; 3] = [16, 32, 64];
/// A tile of outputs for each thread, and the terms of the sum that are staged at a time.
const REGISTERS: u32 = 8;
const TERMS: u32 = 16;
/// Rows of padded matrices begin at multiples of so many elements: those of `float` as `cudaMallocPitch` puts them.
const PITCH: u32 = 128;
/// The name of the version whose matrices are padded.
const PADDED: &str = "padded-tiles";
/// The name of the version whose tile is transposed.
const TRANSPOSED: &str = "transposed-tile";

/// The ladder of the first nest that is a contraction; other nests keep their direct translation.
///
/// # Errors
/// What is wrong with the marks of the loops, or W235: no nest is a contraction.
pub fn rungs(kernel: &Kernel, sources: &SourceMap) -> Result<Vec<Rung>, Vec<Diagnostic>> {
    let direct = derive(kernel, sources)?;
    let steps: Vec<StepKind> = direct.steps.iter().map(|s| s.kind.clone()).collect();
    let mut state = kernel.clone();
    for (at, step) in steps.iter().enumerate() {
        let Some(root) = state.marked_roots().first().copied() else { break };
        let Ok(next) = take(&state, step, sources) else { break };
        if let StepKind::Bind { loops, axes, .. } = step
            && let Some(found) = Contraction::find(&next.kernel, root, loops, axes)
        {
            let mut found = found;
            found.padded = found.padding(&state, sources);
            let whole = |nest: Vec<StepKind>| {
                let mut parts: Vec<Vec<StepKind>> = steps.iter().map(|s| vec![s.clone()]).collect();
                parts[at] = nest;
                schedule_of(&parts)
            };
            let list = found.rungs().into_iter();
            return Ok(list
                .map(|(name, idea, nest)| Rung { name, idea, schedule: whole(nest) })
                .collect());
        }
        state = next.kernel;
    }
    Err(vec![no_contraction(kernel)])
}

fn no_contraction(kernel: &Kernel) -> Diagnostic {
    let message = format!("no nest of `{}` is a contraction", kernel.func().name);
    let mut d = Diagnostic::error("W235", message);
    let first = kernel.marked_roots().first().and_then(|root| kernel.find_loop(*root));
    let span = first.and_then(|l| walk::loop_stmt(&kernel.func().body, l.id)?.origin.span);
    if let Some(span) = span {
        d = d.label(span, "this nest is none");
    }
    d.note("a contraction has two parallel loops, one directly in the other, and a serial loop inside that sums over two arrays, each read with the counter of the sum and of one of the two loops")
        .help("`warpsmith tune` takes any nest")
}

impl Contraction {
    /// Looks for the parts of a contraction in a bound nest.
    fn find(kernel: &Kernel, root: LoopId, loops: &[String], axes: &[Axis]) -> Option<Contraction> {
        let l = kernel.find_loop(root)?;
        let on = |axis: Axis| {
            let at = axes.iter().position(|a| *a == axis)?;
            Some((loops[at].clone(), kernel.loop_named(&loops[at])?.var))
        };
        let ((row, row_var), (column, column_var)) = (on(Axis::Y)?, on(Axis::X)?);
        let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
        let accesses = scope.accesses();
        let read_only = |a: &&Access<'_>| {
            let written = accesses.iter().any(|o| o.base == a.base && o.kind != AccessKind::Read);
            a.kind == AccessKind::Read && !written
        };
        let reads: Vec<&Access<'_>> = accesses.iter().filter(read_only).collect();
        for sum in serial_loops(kernel, root) {
            let operand = |own: VarId, other: VarId| {
                reads
                    .iter()
                    .copied()
                    .find(|a| mentions(a, own) && mentions(a, sum.var) && !mentions(a, other))
            };
            let (Some(left), Some(right)) =
                (operand(row_var, column_var), operand(column_var, row_var))
            else {
                continue;
            };
            let name = |a: &Access<'_>| match a.base {
                Base::Var(v) => Some(kernel.name_of(v).to_string()),
                _ => None,
            };
            return Some(Contraction {
                loops: loops.to_vec(),
                axes: axes.to_vec(),
                row,
                column,
                sum: kernel.loop_name(sum.id),
                left: name(left)?,
                right: name(right)?,
                left_by_rows: left.view.linear().is_some_and(|p| moves_by_one(&p, sum.var)),
                accumulate: accumulated(kernel, root),
                padded: vec![],
            })
            .filter(|c| {
                stage::check(kernel, &c.left, Some((sum.id, TERMS)), Layout::default(), false)
                    .is_ok()
            });
        }
        None
    }

    /// `bounds pad` after square tiles, and a pitch for each matrix in the workspace; nothing where that is not legal.
    fn padding(&self, kernel: &Kernel, sources: &SourceMap) -> Vec<StepKind> {
        let stage = |array: &String| StepKind::Stage {
            array: array.clone(),
            strip: Some((self.sum.clone(), SQUARE)),
            layout: Layout::default(),
            asynchronous: false,
        };
        let pad = StepKind::Bounds { edges: Edges::Pad };
        let steps = [stage(&self.left), stage(&self.right), pad.clone()];
        let mut state = kernel.clone();
        for step in self.nest([SQUARE, SQUARE], &steps) {
            match take(&state, &step, sources) {
                Ok(next) => state = next.kernel,
                Err(_) => return vec![],
            }
        }
        let copies = state.scratch.iter().map(|s| state.name_of(s.var).to_string());
        let copies = copies.filter(|name| pitch::check(&state, name, PITCH).is_ok());
        let pitches = copies.map(|array| StepKind::Pitch { array, unit: PITCH });
        [pad].into_iter().chain(pitches).collect()
    }

    fn rungs(&self) -> Vec<(&'static str, &'static str, Vec<StepKind>)> {
        let tile = |target: &String, factor: u32| StepKind::RegisterTile {
            target: target.clone(),
            factor,
        };
        let stage = |array: &String, tile: u32, pad: u32, transposed: bool| StepKind::Stage {
            array: array.clone(),
            strip: Some((self.sum.clone(), tile)),
            layout: Layout { pad, transposed, ..Layout::default() },
            asynchronous: false,
        };
        let unroll = StepKind::Unroll { target: self.sum.clone(), factor: None };
        let square = |more: &[StepKind]| {
            let own = [stage(&self.left, SQUARE, 0, false), stage(&self.right, SQUARE, 0, false)];
            self.nest([SQUARE, SQUARE], &[&own[..], more].concat())
        };
        let [rows, terms, columns] = VOLKOV;
        let volkov = |pad: u32, transposed: bool| {
            let own =
                [tile(&self.row, rows), stage(&self.left, terms, pad, transposed), unroll.clone()];
            self.nest([columns, 1], &own)
        };
        let registers = [
            tile(&self.row, REGISTERS),
            tile(&self.column, REGISTERS),
            stage(&self.left, TERMS, u32::from(self.left_by_rows), self.left_by_rows),
            stage(&self.right, TERMS, 0, false),
            unroll.clone(),
        ];
        let mut list = vec![
            ("direct", "one thread computes one element", vec![self.bind([16, 16])]),
            (
                "square-tiles",
                "the block copies square tiles of both operands to shared memory, where its threads share them; every copy is guarded",
                square(&[]),
            ),
            (
                PADDED,
                "copies of the matrices, padded with zeros to whole tiles, their rows apart: nobody asks which elements exist",
                square(&self.padded),
            ),
            (
                "unrolled",
                "the loop over the tile is unrolled: fewer counters and branches for each multiplication",
                square(std::slice::from_ref(&unroll)),
            ),
            (
                "outer-products",
                "a thread computes a column of the tile in registers, as a sum of outer products: one operand from shared memory, the other straight to a register; fewer threads, more work each (Volkov)",
                volkov(0, false),
            ),
            (
                TRANSPOSED,
                "the tile in shared memory is transposed, with one padding column: a thread reads consecutive words, and the copies have no bank conflicts",
                volkov(1, true),
            ),
            (
                "register-tiles",
                "a thread computes a square tile in registers: each value from shared memory is used several times",
                self.nest([16, 16], &registers),
            ),
        ];
        // An operand that is stored by columns lies in its tile as it should already.
        list.retain(|(name, ..)| self.left_by_rows || *name != TRANSPOSED);
        list.retain(|(name, ..)| !self.padded.is_empty() || *name != PADDED);
        list
    }

    fn bind(&self, [x, y]: [u32; 2]) -> StepKind {
        StepKind::Bind { loops: self.loops.clone(), axes: self.axes.clone(), block: [x, y, 1] }
    }

    fn nest(&self, block: [u32; 2], steps: &[StepKind]) -> Vec<StepKind> {
        let mut all = vec![self.bind(block)];
        all.extend(self.accumulate.iter().cloned());
        all.extend(steps.iter().cloned());
        all
    }
}

/// Whether the subscripts of an access mention a counter.
fn mentions(access: &Access<'_>, var: VarId) -> bool {
    access.view.linear().is_some_and(|p| p.mentions(var))
}

/// Whether neighbours along a counter are neighbours in memory.
fn moves_by_one(subscript: &Poly, var: VarId) -> bool {
    subscript.split(&Atom::Var(var)).is_some_and(|(step, _)| step.as_constant() == Some(1))
}
