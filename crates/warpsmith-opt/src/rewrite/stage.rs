//! Copies what a block reads of an array to shared memory first.
//!
//! ```text
//!     for k in K { … A[i][k] … }
//!       ==> stage A at k tile 16
//!     for k_block in K step 16 {
//!         barrier; all threads copy A[i_block …][k_block …] to A_shared; barrier
//!         for k in k_block … min(k_block + 16, end of K) { … A_shared[i - i_block][k - k_block] … }
//!     }
//! ```
//!
//! With a loop (AutoGPU's case) the loop is cut into strips and each strip has its own copy; without one (`stage u`) all
//! that the block reads is copied once. Reads of several threads that overlap (stencils, convolutions) are one copy with
//! a halo. `pad n` adds unused elements to each row, `transposed` swaps the last two dimensions, `swizzled` permutes the
//! columns of each row (see [`super::swizzle`]). `async` copies past the registers, by `cp.async`, so that a thread has all
//! its elements on their way at once.
//!
//! Reads that differ by more than a constant (`A[i][k] * A[j][k]`) have copies of their own: `stage A` makes one for each
//! such group of reads, `stage A#2` that of the second group in source order.
//!
//! Legal where nothing in the nest writes the array; every subscript of every read is a sum of counters with constant
//! factors; the counters are those of the bound loops, of the strip loop, of serial loops around it, or
//! of loops with constant bounds; the loop is run by all threads of the block alike; and the copies fit in
//! the shared memory of a block. What exceeds 48 KB is dynamic shared memory, which the launcher asks for.

use std::fmt;
use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{Expr, ForLoop, Layout, LoopId, Place, SourceMap, Stmt, StmtKind, Type, VarId};

use super::grammar::{name, number, wanted};
use super::register_tile::{check_tiles, unit_step};
use super::share::SHARED_NEST;
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, align, pipeline, stream, swizzle, vectorise};
use crate::analysis::access::{Access, AccessKind, Base, Scope, View};
use crate::kernel::{Kernel, Nest, STATIC_SHARED, Stage};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::{alt, cut_err, opt, preceded};
use winnow::stream::Stream;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The array; `A#2` is the second group of its reads.
    pub array: String,
    /// A serial loop and the iterations of a strip; else all that a block reads.
    pub strip: Option<(String, u32)>,
    pub layout: Layout,
    /// By `cp.async`.
    pub asynchronous: bool,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.array)?;
        if let Some((name, tile)) = &self.strip {
            write!(f, " at {name} tile {tile}")?;
        }
        if self.layout.pad > 0 {
            write!(f, " pad {}", self.layout.pad)?;
        }
        f.write_str(if self.layout.transposed { " transposed" } else { "" })?;
        f.write_str(if self.layout.swizzled { " swizzled" } else { "" })?;
        f.write_str(if self.asynchronous { " async" } else { "" })
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "stage",
        example: "stage A at k tile 16 pad 1",
        does: "copies what a block reads of an array to shared memory, in strips of a serial loop or all at once, with padding, `transposed`, or `swizzled` (columns permuted from row to row, against bank conflicts); all at once also `async`, by `cp.async`; reads that differ by more than a constant have copies of their own, of which `stage A#2` makes the second",
        legal: "nothing in the nest writes the array, its subscripts are sums of counters, and the copies fit in the shared memory that the architecture gives a block; to swizzle, rows have a power of two of elements and no padding",
        law: Law {
            before: "\
void product(int n, const float A[n][n], const float B[n][n], float C[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int k = 0; k < n; k++)
                sum += A[i][k] * B[k][j];
            C[i][j] = sum;
        }
}
",
            steps: "bind i, j -> y, x block 16x16\nstage A at k tile 16",
            after: "\
void product(int n, const float *A, const float *B, float *C) {
    // `A` goes through shared memory in strips of 16 iterations of `k`
    // threads of the grid along y, 16 a block
    for (int i = 0; i < n; ++i) {
        // threads of the grid along x, 16 a block
        for (int j = 0; j < n; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k) {
                sum += A[(size_t)i * n + k] * B[(size_t)k * n + j];
            }
            C[(size_t)i * n + j] = sum;
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let array = name.parse_next(input)?;
        let strip = opt((
            preceded((space1, "at", space1), cut_err(name)),
            cut_err(preceded((space1, "tile", space1), number))
                .context(wanted("`tile` and the iterations of a strip are wanted here")),
        ))
        .parse_next(input)?;
        let mut args = Args { array, strip, layout: Layout::default(), asynchronous: false };
        let mut given = vec![];
        loop {
            let before = input.checkpoint();
            let words = alt(("pad", "transposed", "swizzled", "async"));
            let Some(word) = opt(preceded(space1, words)).parse_next(input)? else { break };
            if given.contains(&word) {
                // Twice the same: not understood from here on.
                input.reset(&before);
                break;
            }
            given.push(word);
            match word {
                "pad" => args.layout.pad = cut_err(preceded(space1, number)).parse_next(input)?,
                "transposed" => args.layout.transposed = true,
                "swizzled" => args.layout.swizzled = true,
                _ => args.asynchronous = true,
            }
        }
        Ok(args)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let strip = match &self.strip {
            Some((name, tile)) => Some((loop_named(kernel, name)?, *tile)),
            None => None,
        };
        Ok(apply(check(kernel, &self.array, strip, self.layout, self.asynchronous)?))
    }
}

/// More elements along a dimension than any shared memory holds.
const MOST: u64 = 1 << 20;
/// Bytes at whose multiples the copies in dynamic shared memory begin: the widest access.
pub(crate) const DYNAMIC_ALIGN: u64 = 16;

/// The verdict on a `stage`, which alone allows it.
pub struct LegalStage<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    /// One for each group of reads.
    stages: Vec<Stage>,
    /// The array has other groups of reads.
    several: bool,
}

impl LegalStage<'_> {
    /// What the copies are called in later steps.
    pub fn names(&self) -> Vec<String> {
        self.stages.iter().map(|s| self.name(s)).collect()
    }

    /// The names of the copies with such rows.
    pub fn names_where(&self, wanted: impl Fn(&Dim) -> bool) -> Vec<String> {
        let Some(nest) = self.kernel.nests.get(&self.root) else { return vec![] };
        let has = |s: &&Stage| {
            let footprint = footprint(self.kernel, self.root, nest, s);
            footprint.is_ok_and(|f| f.dims.last().is_some_and(&wanted))
        };
        self.stages.iter().filter(has).map(|s| self.name(s)).collect()
    }

    fn name(&self, s: &Stage) -> String {
        match self.several {
            true => format!("{}#{}", self.kernel.name_of(s.array), s.part + 1),
            false => self.kernel.name_of(s.array).to_string(),
        }
    }
}

/// What a block reads of an array: a box of elements.
#[derive(Clone, Debug)]
pub struct Footprint {
    pub dims: Vec<Dim>,
    /// Lengths of the rows of the array seen in these dimensions (one fewer), where they are not those of the place.
    pub rows: Option<Vec<Poly>>,
    /// The reads, each with the constants of its subscripts.
    pub reads: Vec<(Place, Vec<i128>)>,
}

impl Footprint {
    /// Whether some thread of a block reads what another one or another iteration reads, too.
    pub fn is_shared(&self, nest: &Nest) -> bool {
        let terms = || self.dims.iter().flat_map(|d| &d.terms);
        let used = |id: LoopId| terms().any(|(counter, _)| counter.id() == id);
        let several = |id: LoopId| nest.block_extent(id).is_none_or(|n| n > 1);
        let own = self.reads.len() == 1
            && self.dims.iter().all(|d| d.terms.len() < 2)
            && nest.axes.iter().all(|(id, _)| used(*id) || !several(*id));
        !own
    }
}

/// One dimension of a footprint: `Σ factor · counter + invariant + constant`.
#[derive(Clone, Debug, PartialEq)]
pub struct Dim {
    pub terms: Vec<(Counter, i128)>,
    pub invariant: Poly,
    /// Least and greatest constant of the reads.
    pub constants: (i128, i128),
    /// Elements.
    pub extent: u64,
}

/// A counter that a subscript may depend on.
#[derive(Clone, Debug, PartialEq)]
pub enum Counter {
    /// A bound loop; the iterations of a block.
    Bound(LoopId, u32),
    /// The strip loop; the iterations of a strip.
    Strip(LoopId, u32),
    /// A serial loop with constant first value and number of iterations.
    Constant(LoopId, i128, u32),
}

impl Counter {
    pub fn count(&self) -> u32 {
        match self {
            Counter::Bound(_, n) | Counter::Strip(_, n) | Counter::Constant(_, _, n) => *n,
        }
    }

    pub fn id(&self) -> LoopId {
        match self {
            Counter::Bound(id, _) | Counter::Strip(id, _) | Counter::Constant(id, ..) => *id,
        }
    }
}

/// The array parameter of a name, and the group of its reads where the name says which: `A`, `A#2`.
pub(crate) fn named(kernel: &Kernel, name: &str) -> Option<(VarId, Option<usize>)> {
    let (array, part) = match name.split_once('#') {
        Some((array, part)) => (array, Some(part.parse::<usize>().ok()?.checked_sub(1)?)),
        None => (name, None),
    };
    let function = kernel.func();
    let mut arrays = function.params.iter().filter(|v| function.var(**v).ty.is_pointer());
    let found = arrays.find(|v| function.var(**v).name == array)?;
    Some((*found, part))
}

/// Asks whether the array `name` can be staged; `strip`: the serial loop to cut and the iterations of a strip;
/// `asynchronous`: by `cp.async`.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(
    kernel: &'k Kernel,
    name: &str,
    strip: Option<(LoopId, u32)>,
    layout: Layout,
    asynchronous: bool,
) -> Result<LegalStage<'k>, Refusal> {
    let refuse =
        |why: String| Err(Refusal::CannotStage { name: name.into(), why, at: Box::default() });
    let Some((array, part)) = named(kernel, name) else {
        return refuse("the function has no array parameter of this name".into());
    };
    let Some((root, nest)) = nest_of(kernel, array, strip.map(|s| s.0)) else {
        return refuse("no bound nest reads it there: bind its loops first".into());
    };
    check_tiles(kernel, root, nest)?;
    if nest.team.is_some() {
        return refuse(SHARED_NEST.into());
    }
    let Some(l) = kernel.find_loop(root) else { return refuse("its nest is gone".into()) };
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let groups = groups(&scope, &scope.accesses(), array);
    let Some(parts) = parts(kernel, &groups, part, strip) else {
        return match groups.len() {
            1 => refuse("all its reads are alike".into()),
            n => refuse(format!("it has {n} groups of reads that differ by more than a constant")),
        };
    };
    if nest.stages.iter().any(|s| s.array == array && parts.contains(&s.part)) {
        return refuse("it is staged already".into());
    }
    if asynchronous && strip.is_some() {
        return refuse(
            "strips run ahead with `pipeline`: `async` is for copies of all that a block reads"
                .into(),
        );
    }
    let stage = |part| Stage { array, part, strip, layout, vector: 1, asynchronous };
    let stages: Vec<Stage> = parts.into_iter().map(stage).collect();
    if let Some(first) = stages.first() {
        check_strip(kernel, nest, first)?;
    }
    let mut staged = nest.clone();
    staged.stages.extend(stages.iter().cloned());
    check_all(kernel, root, &staged)?;
    Ok(LegalStage { kernel, root, stages, several: groups.len() > 1 })
}

/// Notes the copy; it is written out when the nest is lowered.
pub fn apply(legal: LegalStage<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.stages.extend(legal.stages);
    }
    Rewritten::same_loops(kernel)
}

/// A group of reads that differ by constants: their subscripts without these, and the lengths of rows where the place has
/// none.
type Group = Subscripts;

/// The groups of an array's reads in a nest, in source order; reads with other subscripts than sums belong to none.
fn groups(scope: &Scope<'_>, accesses: &[Access<'_>], array: VarId) -> Vec<Group> {
    let mut groups = vec![];
    for a in accesses.iter().filter(|a| a.base == Base::Var(array)) {
        if let Some(group) = group_of(scope, a)
            && !groups.contains(&group)
        {
            groups.push(group);
        }
    }
    groups
}

fn group_of(scope: &Scope<'_>, a: &Access<'_>) -> Option<Group> {
    let (index, rows) = subscripts(scope, a).ok()?;
    let free = |p: &Poly| p.sub(&Poly::constant(p.constant_term()));
    Some((index.iter().map(free).collect::<Option<Vec<Poly>>>()?, rows))
}

/// The groups that a step stages: the one it names; all; of several, those that move with the strip.
fn parts(
    kernel: &Kernel,
    groups: &[Group],
    named: Option<usize>,
    strip: Option<(LoopId, u32)>,
) -> Option<Vec<usize>> {
    if let Some(part) = named {
        return (groups.len() > 1 && part < groups.len()).then(|| vec![part]);
    }
    let counter = strip.and_then(|(id, _)| kernel.find_loop(id)).map(|l| l.var);
    let moves = |g: &Group| counter.is_some_and(|v| g.0.iter().any(|p| p.mentions(v)));
    let moving: Vec<usize> = (0..groups.len()).filter(|k| moves(&groups[*k])).collect();
    Some(match moving.is_empty() {
        // Where nothing is read that can be staged, the first footprint says why.
        true => (0..groups.len().max(1)).collect(),
        false => moving,
    })
}

/// The bound nest with the strip loop, or the first that reads the array.
fn nest_of(kernel: &Kernel, array: VarId, strip: Option<LoopId>) -> Option<(LoopId, &Nest)> {
    let reads = |root: LoopId| {
        let mut found = false;
        let body = kernel.find_loop(root).map(|l| &l.body);
        body.inspect(|b| walk::each_var_of_block(b, &mut |v| found |= v == array));
        found
    };
    let within = |root: LoopId| {
        strip.is_none_or(|id| {
            kernel.find_loop(root).is_some_and(|l| walk::find_loop(&l.body, id).is_some())
        })
    };
    let mut nests = kernel.nests.iter().filter(|(_, n)| n.reduce.is_none());
    nests.find(|(root, _)| reads(**root) && within(**root)).map(|(root, nest)| (*root, nest))
}

/// All threads of a block run the strip loop alike, in strips of one length.
fn check_strip(kernel: &Kernel, nest: &Nest, stage: &Stage) -> Result<(), Refusal> {
    let Some((id, tile)) = stage.strip else { return Ok(()) };
    let name = kernel.name_of(stage.array).to_string();
    let refuse =
        |why: String| Err(Refusal::CannotStage { name: name.clone(), why, at: Box::default() });
    let loop_name = kernel.loop_name(id);
    let Some(l) = kernel.find_loop(id) else { return refuse("the loop is gone".into()) };
    if !kernel.runs_in_thread(id) || nest.axes.iter().any(|(a, _)| *a == id) {
        return Err(Refusal::NotSerial { loop_id: id });
    }
    if !(1..=1024).contains(&tile) {
        return Err(Refusal::TileFactor { loop_id: id, factor: tile, most: 1024 });
    }
    if !unit_step(l) {
        return refuse(format!("loop `{loop_name}` does not count up by one"));
    }
    if walk::leaves(&l.body).is_some() {
        return refuse(format!(
            "loop `{loop_name}` may end early, before the copy for other threads"
        ));
    }
    for other in &nest.stages {
        if let Some((known, length)) = other.strip
            && known == id
            && length != tile
        {
            return refuse(format!("loop `{loop_name}` is cut into strips of {length} already"));
        }
    }
    let Some(body) = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id)).map(|l| &l.body)
    else {
        return Ok(());
    };
    match reached_by_all(kernel, body, nest, id, true) {
        true => Ok(()),
        false => refuse(format!("not all threads of a block run loop `{loop_name}` alike")),
    }
}

/// The loop stands under no condition, in loops whose bounds are the same for all threads; with `own`, its own are, too.
pub(super) fn reached_by_all(
    kernel: &Kernel,
    body: &warpsmith_ir::Block,
    nest: &Nest,
    id: LoopId,
    own: bool,
) -> bool {
    let uniform = |e: &Expr| {
        let mut same = !walk::reads_memory(e);
        walk::each_var(e, &mut |v| {
            // A block with one iteration of a loop has one value of its counter.
            let several = nest.axes.iter().filter(|(id, _)| nest.block_extent(*id) != Some(1));
            let mut several = several.filter_map(|(id, _)| kernel.find_loop(*id));
            same &= several.all(|l| l.var != v);
            let written = walk::writes_var(body, v);
            let counter = walk::for_loops(body).iter().any(|l| l.var == v);
            same &= !written || counter;
        });
        same
    };
    fn path<'a>(block: &'a warpsmith_ir::Block, id: LoopId, found: &mut Vec<&'a Stmt>) -> bool {
        for stmt in &block.stmts {
            let here = matches!(&stmt.kind, StmtKind::For(l) if l.id == id);
            if here || walk::blocks(stmt).into_iter().any(|b| path(b, id, found)) {
                found.push(stmt);
                return true;
            }
        }
        false
    }
    let mut around = vec![];
    path(body, id, &mut around);
    !around.is_empty()
        && around.iter().skip(usize::from(!own)).all(|s| match &s.kind {
            StmtKind::For(l) => {
                walk::leaves(&l.body).is_none()
                    && [&l.first, &l.limit, &l.step].into_iter().all(uniform)
            }
            StmtKind::Scope(_) => true,
            _ => false,
        })
}

/// Whether all copies of a nest, with its tiles as they are, can be made and fit in shared memory together, and its
/// streams be as they are.
///
/// # Errors
/// [`Refusal::CannotStage`] for the last copy, [`Refusal::LoopRefused`] for a stream.
pub(super) fn check_all(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<(), Refusal> {
    stream::check_all(kernel, nest)?;
    align::check_stages(kernel, nest)?;
    let mut bytes = 0u64;
    let mut uneven = None;
    for s in &nest.stages {
        check_strip(kernel, nest, s)?;
        let footprint = footprint(kernel, root, nest, s)?;
        vectorise::check_copy(kernel, nest, s, &footprint)?;
        swizzle::check(kernel, nest, s, &footprint)?;
        let shape = shared_shape(&footprint, s);
        pipeline::check_copies(kernel, nest, s, shape.last().copied().unwrap_or(1))?;
        let size = copy_bytes(kernel, nest, s, &footprint);
        if !size.is_multiple_of(DYNAMIC_ALIGN) {
            uneven = uneven.or(Some(s));
        }
        bytes = bytes.saturating_add(size);
    }
    let refuse = |stage: &Stage, why: String| {
        let name = kernel.name_of(stage.array).to_string();
        Err(Refusal::CannotStage { name, why, at: Box::default() })
    };
    let limit = kernel.shared_limit;
    match (nest.stages.last(), uneven) {
        (Some(last), _) if bytes > limit.into() => refuse(
            last,
            format!(
                "the copies of a block would take {bytes} bytes of shared memory, of which there are {limit}"
            ),
        ),
        (_, Some(uneven)) if is_dynamic(bytes) => refuse(
            uneven,
            format!(
                "in more than {STATIC_SHARED} bytes of shared memory copies lie at multiples of {DYNAMIC_ALIGN} bytes, and this one has no such size"
            ),
        ),
        _ => Ok(()),
    }
}

/// Whether copies of so many bytes together need dynamic shared memory.
pub(crate) fn is_dynamic(bytes: u64) -> bool {
    bytes > STATIC_SHARED.into()
}

/// Shared memory that a copy takes, with all its strips, in bytes.
pub(crate) fn copy_bytes(kernel: &Kernel, nest: &Nest, stage: &Stage, f: &Footprint) -> u64 {
    let element = kernel.func().var(stage.array).ty.pointee().cloned().unwrap_or(Type::Void);
    let size = warpsmith_ir::layout::layout_of(&kernel.module, &element).size;
    let size = size.saturating_mul(nest.strips(stage).into());
    shared_shape(f, stage).iter().fold(size, |n, e| n.saturating_mul(*e))
}

/// Extents of the array in shared memory, outermost first.
pub fn shared_shape(f: &Footprint, stage: &Stage) -> Vec<u64> {
    let mut shape: Vec<u64> = f.dims.iter().map(|d| d.extent).collect();
    let n = shape.len();
    if stage.layout.transposed && n >= 2 {
        shape.swap(n - 1, n - 2);
    }
    if let Some(last) = shape.last_mut() {
        *last += u64::from(stage.layout.pad);
    }
    shape
}

/// What a block reads of the staged array, all reads of the group together.
///
/// # Errors
/// [`Refusal::CannotStage`] with the read that does not fit.
pub fn footprint(
    kernel: &Kernel,
    root: LoopId,
    nest: &Nest,
    stage: &Stage,
) -> Result<Footprint, Refusal> {
    let name = kernel.name_of(stage.array).to_string();
    let refuse = |why: String, at: Option<&Access<'_>>| {
        let at = at.map(|a| a.origin.clone());
        Err(Refusal::CannotStage { name: name.clone(), why, at: Box::new(at) })
    };
    let Some(l) = kernel.find_loop(root) else { return refuse("its nest is gone".into(), None) };
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let accesses = scope.accesses();
    let touches = |a: &&Access<'_>| a.base == Base::Var(stage.array) || a.base == Base::Anything;
    let groups = groups(&scope, &accesses, stage.array);
    let mut found: Option<Footprint> = None;
    for a in accesses.iter().filter(touches) {
        if a.kind != AccessKind::Read || a.base == Base::Anything {
            return refuse("the nest may write it".into(), Some(a));
        }
        let inside = stage.strip.is_none_or(|(id, _)| a.loops.iter().any(|l| l.id == id));
        let elsewhere = || group_of(&scope, a).is_some_and(|g| groups.get(stage.part) != Some(&g));
        if !inside || elsewhere() {
            continue;
        }
        let Some(place) = a.place else {
            return refuse("a called function reads it".into(), Some(a));
        };
        if place.ty.scalar().is_none() {
            return refuse("its elements are no numbers".into(), Some(a));
        }
        if !a.guards.is_empty() {
            return refuse("it is read under a condition".into(), Some(a));
        }
        let (index, rows) = match subscripts(&scope, a) {
            Ok(found) => found,
            Err(why) => return refuse(why, Some(a)),
        };
        let mut dims = vec![];
        for poly in &index {
            match dim(kernel, &scope, nest, stage, a, poly) {
                Ok(d) => dims.push(d),
                Err(why) => return refuse(why, Some(a)),
            }
        }
        let constants: Vec<i128> = dims.iter().map(|d| d.constants.0).collect();
        let read = (place.clone(), constants);
        match &mut found {
            None => found = Some(Footprint { dims, rows, reads: vec![read] }),
            Some(f) => {
                for (x, y) in f.dims.iter_mut().zip(&dims) {
                    x.constants.0 = x.constants.0.min(y.constants.0);
                    x.constants.1 = x.constants.1.max(y.constants.1);
                }
                f.reads.push(read);
            }
        }
    }
    let Some(mut f) = found else {
        return refuse("nothing reads it there".into(), None);
    };
    if f.rows.is_some() && f.reads.windows(2).any(|w| w[0].1 != w[1].1) {
        // Seen as one row, the corners of the box need not be elements.
        return refuse("its reads differ, and its shape is not declared".into(), None);
    }
    for d in &mut f.dims {
        let spread =
            d.terms.iter().try_fold(d.constants.1 - d.constants.0 + 1, |n, (c, factor)| {
                factor.abs().checked_mul(i128::from(c.count()) - 1)?.checked_add(n)
            });
        let Some(extent) = spread.and_then(|n| u64::try_from(n).ok()).filter(|n| *n <= MOST) else {
            return refuse("a block reads too much of it".into(), None);
        };
        d.extent = extent;
    }
    Ok(f)
}

type Subscripts = (Vec<Poly>, Option<Vec<Poly>>);

/// The subscripts of a read; a single one that is a row number times a length plus a column is taken apart, with that
/// length.
fn subscripts(scope: &Scope<'_>, a: &Access<'_>) -> Result<Subscripts, String> {
    match &a.view {
        View::Unknown(why) => Err(why.clone()),
        View::Affine { index, .. } if index.len() > 1 => Ok((index.clone(), None)),
        View::Affine { index, .. } => {
            let Some(only) = index.first() else { return Err("it has no subscript".into()) };
            let counters: Vec<VarId> =
                a.loops.iter().map(|l| l.var).chain(scope.outer.iter().map(|l| l.var)).collect();
            match rows_and_columns(only, &counters) {
                Some((row, column, length)) => Ok((vec![row, column], Some(vec![length]))),
                None => Ok((vec![only.clone()], None)),
            }
        }
    }
}

/// `p = row * length + column` with a length that is one variable.
fn rows_and_columns(p: &Poly, counters: &[VarId]) -> Option<(Poly, Poly, Poly)> {
    let is_counter = |a: &Atom| matches!(a, Atom::Var(v) if counters.contains(v));
    let length = p.terms().find_map(|(monomial, _)| match monomial {
        [a, b] if is_counter(a) != is_counter(b) => Some(if is_counter(a) { b } else { a }.clone()),
        _ => None,
    })?;
    let (row, column) = p.split(&length)?;
    let clean = !row.atoms().contains(&length) && !column.atoms().contains(&length);
    clean.then(|| (row, column, Poly::atom(length)))
}

/// One subscript as a sum of counters.
fn dim(
    kernel: &Kernel,
    scope: &Scope<'_>,
    nest: &Nest,
    stage: &Stage,
    a: &Access<'_>,
    poly: &Poly,
) -> Result<Dim, String> {
    let mut terms = vec![];
    let mut invariant = Poly::zero();
    for (monomial, factor) in poly.terms() {
        // Of the loops around the bound ones a block has one iteration.
        let bound = |l: &&&ForLoop| nest.axes.iter().any(|(id, _)| *id == l.id);
        let own = || a.loops.iter().skip_while(|l| !bound(l));
        let inner = monomial.iter().find_map(|atom| own().find(|l| atom.mentions(l.var)));
        let Some(l) = inner.filter(|l| !stays(kernel, scope, nest, stage, l)) else {
            let mut term = Poly::constant(factor);
            for atom in monomial {
                term = term.mul(&Poly::atom(atom.clone())).ok_or("its subscript overflows")?;
            }
            if !monomial.is_empty() {
                invariant = invariant.add(&term).ok_or("its subscript overflows")?;
            }
            continue;
        };
        if !matches!(monomial, [Atom::Var(v)] if *v == l.var) {
            let name = kernel.name_of(l.var);
            return Err(format!("a subscript is not a constant times `{name}`"));
        }
        terms.push((counter(kernel, scope, nest, stage, l)?, factor));
    }
    let constant = poly.constant_term();
    Ok(Dim { terms, invariant, constants: (constant, constant), extent: 0 })
}

/// Whether a loop has one iteration while a strip is copied and used: it runs around the strips. Of loops with constant
/// bounds the copy holds all iterations instead.
fn stays(kernel: &Kernel, scope: &Scope<'_>, nest: &Nest, stage: &Stage, l: &ForLoop) -> bool {
    let Some((id, _)) = stage.strip else { return false };
    let bound = nest.axes.iter().any(|(b, _)| *b == l.id);
    !bound
        && l.id != id
        && walk::find_loop(&l.body, id).is_some()
        && counter(kernel, scope, nest, stage, l).is_err()
}

fn counter(
    kernel: &Kernel,
    scope: &Scope<'_>,
    nest: &Nest,
    stage: &Stage,
    l: &ForLoop,
) -> Result<Counter, String> {
    if let Some(n) = nest.block_extent(l.id) {
        return Ok(Counter::Bound(l.id, n));
    }
    if let Some((id, n)) = stage.strip.filter(|s| s.0 == l.id) {
        return Ok(Counter::Strip(id, n));
    }
    let name = kernel.loop_name(l.id);
    let (low, high) = scope.range(l);
    let constant = |p: Option<Poly>| p.and_then(|p| p.as_constant());
    let (Some(low), Some(high), true) = (constant(low), constant(high), unit_step(l)) else {
        return Err(format!(
            "a subscript depends on `{name}`, whose number of iterations is not constant"
        ));
    };
    let count =
        u32::try_from((high - low + 1).max(1)).map_err(|_| format!("loop `{name}` is too long"))?;
    Ok(Counter::Constant(l.id, low, count))
}
