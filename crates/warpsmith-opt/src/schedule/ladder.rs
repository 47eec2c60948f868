//! The ladder: schedules for a sum of products, each one idea better than the one before, as a course would teach them.
//!
//! The ideas are those of a lecture on matrix multiplication: one thread an element; square tiles in shared memory; the
//! inner loop unrolled; Volkov's column a thread, a sum of outer products; the tile of one operand transposed, with a
//! padding column. What they need is read off the nest: which loops are rows and columns, which loop sums, which arrays
//! are its two operands, in whatever order their subscripts stand.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    Axis, Block, Diagnostic, DimOrder, Layout, LoopId, LoopKind, Place, Scalar, SourceMap,
    StmtKind, VarId,
};

use super::candidates::{accumulated, serial_loops};
use super::orders::{self, Orders, Sum};
use super::template::schedule_of;
use super::{Schedule, StepKind, derive, take};
use crate::analysis::access::{Access, AccessKind, Base, Scope, base_of};
use crate::analysis::footprint;
use crate::build::{counters, trips};
use crate::kernel::Kernel;
use crate::rewrite::bounds::Edges;
use crate::rewrite::{bind, bounds, pitch, register_tile, stage, stride, unroll};
use crate::walk;

/// What a course would say of a nest.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// The versions, simplest first.
    pub rungs: Vec<Rung>,
    /// What a library for dense matrices would be asked for; `None` where the nest is no plain product.
    pub product: Option<Product>,
    /// The loops in every order; `None` where the nest does more than to sum.
    pub orders: Option<Orders>,
}

/// A product of two dense matrices.
#[derive(Clone, Debug)]
pub struct Product {
    /// Rows, columns and terms, over the parameters of the function.
    pub extents: [Poly; 3],
    /// Of all three matrices.
    pub element: Scalar,
    /// The left operand is stored by columns.
    pub left_transposed: bool,
    /// The right operand is stored by columns.
    pub right_transposed: bool,
}

/// One version of the kernel.
#[derive(Clone, Debug)]
pub struct Rung {
    /// A few words for a file name.
    pub name: &'static str,
    /// The step of the lecture that it is.
    pub lecture: Option<u32>,
    /// What it does that the one before did not.
    pub idea: String,
    /// All steps up to this one.
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
    /// The same for the right operand: neighbouring threads then read elements that are a row apart.
    right_by_rows: bool,
    /// The loop that sums does the same in all iterations: what a thread's elements have in common is read once.
    straight: bool,
    /// `accumulate` where the sum is an element of an array.
    accumulate: Vec<StepKind>,
    /// What pads the arrays and moves their rows apart; nothing where they cannot be padded.
    padded: Vec<StepKind>,
}

/// Side of a square tile.
const SQUARE: u32 = 32;
/// The lecture's tile of Volkov's kernel: rows, terms of the sum, columns.
const VOLKOV: [u32; 3] = [16, 32, 64];
/// Rows of padded matrices begin at multiples of so many elements: those of `float` as `cudaMallocPitch` puts them.
const PITCH: u32 = 128;

const DIRECT: &str =
    "one thread computes one element; where the grid ends, the threads go on in its strides";
const ACCUMULATOR: &str =
    "the element stays in a register while the thread sums, and is stored once";
const SQUARES: &str = "the block copies square tiles of both operands to shared memory, where its threads share them; every copy is guarded, and a block has one tile of the result instead of strides";
const PADDED: &str = "the kernel works on copies of the matrices, padded with zeros to whole tiles, their rows apart: nobody asks which rows and columns of the result exist";
const UNROLLED: &str =
    "the loop over the tile is unrolled: fewer counters and branches for each multiplication";
const OUTER: &str = "a thread computes a column of the tile in registers, as a sum of outer products; fewer threads, more work each (Volkov)";
const TRANSPOSED: &str = "the tile in shared memory is transposed, with one padding column: a thread reads consecutive words, and the column moves its rows apart, against bank conflicts of the copies to it";

/// The ladder of the first nest that is a contraction; other nests keep their direct translation.
///
/// # Errors
/// What is wrong with the marks of the loops, or W235: no nest is a contraction.
pub fn lesson(kernel: &Kernel, sources: &SourceMap) -> Result<Lesson, Vec<Diagnostic>> {
    let direct = derive(kernel, sources)?;
    let steps: Vec<StepKind> = direct.steps.iter().map(|s| s.kind.clone()).collect();
    let mut state = kernel.clone();
    for (at, step) in steps.iter().enumerate() {
        let Some(root) = state.open_roots().first().copied() else { break };
        let Ok(next) = take(&state, step, sources) else { break };
        if let StepKind::Bind(bind::Args { loops, axes, .. }) = step
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
            let rungs = list.map(|(rung, nest)| Rung { schedule: whole(nest), ..rung }).collect();
            let sum = found.sum(&state, root);
            let product = sum.as_ref().and_then(|s| found.product(&state, s));
            let orders = sum.and_then(|s| s.orders(&state));
            return Ok(Lesson { rungs, product, orders });
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
        d = d.label(span, lacking(kernel));
    }
    d.note("a contraction has two parallel loops, one directly in the other, and a serial loop inside that sums over two arrays, each read with the counter of the sum and of one of the two loops")
        .help("`warpsmith tune` takes any nest")
}

/// What the first nest lacks.
fn lacking(kernel: &Kernel) -> &'static str {
    let Some(root) = kernel.marked_roots().first().copied() else { return "this nest is none" };
    let Some(l) = kernel.find_loop(root) else { return "this nest is none" };
    let inner = walk::for_loops(&l.body);
    let parallel = inner.iter().any(|l| matches!(l.kind, LoopKind::Parallel(_)));
    match (parallel, inner.len(), serial_loops(kernel, root).is_empty()) {
        (_, 0, _) => "it is one loop",
        (true, _, true) => "no loop inside of its parallel ones sums",
        (true, ..) => "no two arrays in it are read as a product reads them",
        (false, 1, _) => "one loop of it is parallel",
        (false, ..) => {
            "its outermost loop alone is marked: `collapse(2)` marks the one inside as well"
        }
    }
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
            let name = |a: &Access<'_>| staged_name(kernel, &scope, &accesses, a);
            return Some(Contraction {
                loops: loops.to_vec(),
                axes: axes.to_vec(),
                row,
                column,
                sum: kernel.loop_name(sum.id),
                left: name(left)?,
                right: name(right)?,
                right_by_rows: right.view.linear().is_some_and(|p| moves_by_one(&p, sum.var)),
                left_by_rows: left.view.linear().is_some_and(|p| moves_by_one(&p, sum.var)),
                straight: is_straight(&sum.body),
                accumulate: accumulated(kernel, root),
                padded: vec![],
            })
            .filter(|c| {
                stage::check(kernel, &c.left, Some((sum.id, SQUARE)), Layout::default(), false)
                    .is_ok()
            });
        }
        None
    }

    /// The nest as a sum in memory, where it is no more than that.
    fn sum<'k>(&self, kernel: &'k Kernel, root: LoopId) -> Option<Sum<'k>> {
        let outer = kernel.find_loop(root).filter(|_| kernel.loops_around(root).is_empty())?;
        let (row, column) = (kernel.loop_named(&self.row)?, kernel.loop_named(&self.column)?);
        let inner = if row.id == outer.id { column } else { row };
        Sum::of(kernel, [outer, inner, kernel.loop_named(&self.sum)?])
    }

    /// The nest as a product of matrices.
    fn product(&self, kernel: &Kernel, sum: &Sum<'_>) -> Option<Product> {
        let factors = orders::factors(sum)?;
        let name = |place: &Place| match base_of(place) {
            Base::Var(v) => kernel.name_of(v).to_string(),
            _ => String::new(),
        };
        let names = factors.map(name);
        let array = |operand: &String| operand.split('#').next().unwrap_or_default().to_string();
        let operands = [array(&self.left), array(&self.right)];
        let both = operands.iter().all(|o| names.contains(o)) && names[0] != names[1];
        let element = sum.element.ty.scalar().filter(|s| matches!(s, Scalar::F32 | Scalar::F64));
        let alike = factors.iter().all(|f| f.ty.scalar() == element);
        let extent = |name: &str| {
            let l = kernel.loop_named(name)?;
            trips::sum(l, counters::counter_type(kernel.func(), l))
        };
        let extents = [extent(&self.row)?, extent(&self.column)?, extent(&self.sum)?];
        Some(Product {
            extents,
            element: element.filter(|_| both && alike)?,
            left_transposed: !self.left_by_rows,
            right_transposed: self.right_by_rows,
        })
    }

    /// `bounds pad` after square tiles, and a pitch for each matrix in the workspace; nothing where that is not legal.
    fn padding(&self, kernel: &Kernel, sources: &SourceMap) -> Vec<StepKind> {
        let pad = StepKind::Bounds(bounds::Args { edges: Edges::Pad });
        let stage = |array| self.stage(array, SQUARE, Layout::default());
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
        let pitches = copies.map(|array| StepKind::Pitch(pitch::Args { array, unit: PITCH }));
        [pad].into_iter().chain(pitches).collect()
    }

    /// The steps of the lecture, each with those of the one before and one idea more.
    fn rungs(&self) -> Vec<(Rung, Vec<StepKind>)> {
        let unroll = StepKind::Unroll(unroll::Args { target: self.sum.clone(), factor: None });
        let mut square = vec![
            self.stage(&self.left, SQUARE, Layout::default()),
            self.stage(&self.right, SQUARE, self.right_layout()),
        ];
        let mut list = vec![];
        let mut add = |name, lecture, idea: &str, nest: Vec<StepKind>| {
            let schedule = Schedule { steps: vec![] };
            list.push((Rung { name, lecture, idea: idea.to_string(), schedule }, nest));
        };
        let stride = StepKind::Stride(stride::Args::of(self.column.clone()));
        let direct = vec![self.bind([SQUARE, SQUARE]), stride];
        add("direct", Some(3), DIRECT, direct.clone());
        if !self.accumulate.is_empty() {
            add("accumulator", Some(3), ACCUMULATOR, [direct, self.accumulate.clone()].concat());
        }
        let tiles = format!(
            "{SQUARES}{}",
            if self.right_by_rows {
                ", with a padding column, since the lanes of a warp read a column of the second one"
            } else {
                ""
            }
        );
        add("square-tiles", Some(4), &tiles, self.nest([SQUARE, SQUARE], &square));
        if !self.padded.is_empty() {
            square.extend(self.padded.iter().cloned());
            add("padded-tiles", Some(5), PADDED, self.nest([SQUARE, SQUARE], &square));
        }
        square.push(unroll.clone());
        add("unrolled", Some(6), UNROLLED, self.nest([SQUARE, SQUARE], &square));
        add(
            "outer-products",
            Some(7),
            &self.outer_products(),
            self.volkov(Layout::default(), &unroll),
        );
        if self.left_by_rows {
            let layout = Layout { pad: 1, order: DimOrder::Transposed, ..Layout::default() };
            add("transposed-tile", Some(8), TRANSPOSED, self.volkov(layout, &unroll));
        }
        list
    }

    /// What the step to outer products does with each operand.
    fn outer_products(&self) -> String {
        let second = match self.right_by_rows {
            true => {
                "; both operands come from shared memory, since neighbouring threads' elements of the second one are far apart"
            }
            false if self.straight => {
                "; one operand comes from shared memory, the other straight to a register"
            }
            false => {
                "; one operand comes from shared memory, the other is read for each element again, since the loop has conditions"
            }
        };
        // An operand that is stored by columns lies in its tile as it should already.
        let done = match self.left_by_rows {
            true => "",
            false => {
                "; the first operand is stored by columns, so its tile is transposed as it comes, and step 8 of the lecture has nothing left to do"
            }
        };
        format!("{OUTER}{second}{done}")
    }

    /// A column of elements a thread, the tile of the left operand in shared memory.
    fn volkov(&self, layout: Layout, unroll: &StepKind) -> Vec<StepKind> {
        let [rows, terms, columns] = VOLKOV;
        let mut own = vec![StepKind::RegisterTile(register_tile::Args::of(self.row.clone(), rows))];
        own.push(self.stage(&self.left, terms, layout));
        if self.right_by_rows {
            own.push(self.stage(&self.right, terms, self.right_layout()));
        }
        own.extend(self.padded.iter().cloned());
        own.push(unroll.clone());
        self.nest([columns, 1], &own)
    }

    fn stage(&self, array: &str, terms: u32, layout: Layout) -> StepKind {
        let strip = Some((self.sum.clone(), terms));
        StepKind::Stage(stage::Args {
            array: array.to_string(),
            strip,
            layout,
            asynchronous: false,
        })
    }

    /// How the tile of the right operand lies in shared memory: lanes that read one of its columns need a padding column.
    fn right_layout(&self) -> Layout {
        Layout { pad: u32::from(self.right_by_rows), ..Layout::default() }
    }

    fn bind(&self, [x, y]: [u32; 2]) -> StepKind {
        StepKind::Bind(bind::Args {
            loops: self.loops.clone(),
            axes: self.axes.clone(),
            block: [x, y, 1],
        })
    }

    fn nest(&self, block: [u32; 2], steps: &[StepKind]) -> Vec<StepKind> {
        let mut all = vec![self.bind(block)];
        all.extend(self.accumulate.iter().cloned());
        all.extend(steps.iter().cloned());
        all
    }
}

/// The name that `stage` knows the array of a read by: with a number where the nest reads it in several ways.
fn staged_name(
    kernel: &Kernel,
    scope: &Scope<'_>,
    accesses: &[Access<'_>],
    read: &Access<'_>,
) -> Option<String> {
    let Base::Var(array) = read.base else { return None };
    let name = kernel.name_of(array);
    let groups = footprint::groups(scope, accesses, array);
    if groups.len() < 2 {
        return Some(name.to_string());
    }
    let own = footprint::group_of(scope, read)?;
    let at = groups.iter().position(|g| *g == own)?;
    Some(format!("{name}#{}", at + 1))
}

/// Whether a body has no conditions.
fn is_straight(body: &Block) -> bool {
    let mut straight = true;
    walk::each_stmt(body, &mut |s| straight &= !matches!(s.kind, StmtKind::If { .. }));
    straight
}

/// Whether the subscripts of an access mention a counter.
fn mentions(access: &Access<'_>, var: VarId) -> bool {
    access.view.linear().is_some_and(|p| p.mentions(var))
}

/// Whether neighbours along a counter are neighbours in memory.
fn moves_by_one(subscript: &Poly, var: VarId) -> bool {
    subscript.split(&Atom::Var(var)).is_some_and(|(step, _)| step.as_constant() == Some(1))
}

/// What the steps of a schedule that was chosen for a nest are for, in the order in which they are taught: each version
/// has the steps of those before and its own, so that the last one is the schedule itself.
const BEYOND: [(&str, &str, &[&str]); 5] = [
    (
        "vectors",
        "a kernel for sizes and addresses that are multiples moves several elements with one instruction; the general one stays for the rest",
        &["specialise", "vectorise", "align"],
    ),
    (
        "warp-tiles",
        "the lanes of a warp lie as a rectangle: a warp reads a compact tile",
        &["warp"],
    ),
    ("pipeline", "copies of the next strip are on their way while this one is used", &["pipeline"]),
    (
        "double-buffer",
        "what the next iteration reads of shared memory is read before this one is computed",
        &["double_buffer"],
    ),
    (
        "rasterised",
        "the blocks that run together form a square: they share what is in L2",
        &["rasterise"],
    ),
];

/// The first of these versions: the tiles of a chosen schedule, called what they are.
fn tiles(chosen: &Schedule) -> (&'static str, &'static str, &'static [&'static str]) {
    let steps: &[&str] = &["bind", "accumulate", "register_tile", "stage", "unroll"];
    let has = |name: &str| chosen.steps.iter().filter(|s| s.kind.name() == name).count();
    let (name, idea) = match (has("register_tile"), has("stage")) {
        (0, 0) => (
            "chosen-block",
            "a thread computes one element from global memory, in a block of the extents that the device model ranks first",
        ),
        (0, _) => (
            "chosen-tiles",
            "a thread computes one element, its operands in shared memory, in a block and strips of the extents that the device model ranks first",
        ),
        (1, _) => (
            "register-tiles",
            "a thread computes several elements along one axis in registers, in the number and the block that the device model ranks first",
        ),
        _ => (
            "register-tiles",
            "a thread computes a tile in registers along several axes, as large as the chosen schedule has it: each value that it reads is used several times",
        ),
    };
    (name, idea, steps)
}

/// The way from the lecture's versions to a schedule that was chosen: its steps, idea by idea. Steps of other kinds make
/// one last version; a version without a new step is left out.
pub fn beyond(chosen: &Schedule) -> Vec<Rung> {
    let kinds: Vec<&StepKind> = chosen.steps.iter().map(|s| &s.kind).collect();
    let mut taken = vec![false; kinds.len()];
    let mut list = vec![];
    let mut add = |name, idea: &str, taken: &[bool]| {
        let steps = kinds.iter().zip(taken).filter(|(_, t)| **t).map(|(k, _)| (*k).clone());
        let schedule = schedule_of(&[steps.collect()]);
        list.push(Rung { name, lecture: None, idea: idea.to_string(), schedule });
    };
    for (name, idea, words) in [tiles(chosen)].into_iter().chain(BEYOND) {
        let mut more = false;
        for (k, kind) in kinds.iter().enumerate() {
            let new = !taken[k] && words.contains(&kind.name());
            taken[k] |= new;
            more |= new;
        }
        if more {
            add(name, idea, &taken);
        }
    }
    if taken.contains(&false) {
        taken.fill(true);
        add("chosen", "all steps of the schedule that the device model ranks first", &taken);
    }
    list
}
