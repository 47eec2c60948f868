//! Why a step cannot be taken, and the one place that says it in the user's words.

mod marks;

use warpsmith_ir::{Axis, Diagnostic, LoopId, Origin, ReduceOp, Reduction, Span, VarId};

use crate::analysis::contributions::Misuse;
use crate::kernel::{Kernel, STATIC_SHARED};

use marks::{misused, mixed_updates, order_matters, shared_variable};

/// A step that does not apply. Carries ids; [`Refusal::diagnostic`] renders it.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are what the sentence names")]
pub enum Refusal {
    /// Two iterations of a loop touch one element.
    Carried(Box<CarriedDependence>),
    /// Whether two iterations touch one element follows from sizes and counters, and is not known.
    Undecided(Box<UndecidedMark>),
    /// Iterations share a variable that they write.
    SharedVariable { loop_id: LoopId, shared: Box<crate::analysis::scalars::SharedVariable> },
    /// Iterations update an element in two ways, or use it beside the updates.
    MixedUpdates { loop_id: LoopId, name: String, mixed: Box<crate::analysis::atomics::Mixed> },
    /// The loop has no mark, and its independence was not proved.
    NotParallel { loop_id: LoopId, reasons: Vec<String> },
    /// `break`, `return` out of a parallel loop.
    LeavesLoop { loop_id: LoopId, at: Origin },
    /// The sign of the step is not known, so the number of iterations is not either.
    UnknownStep { loop_id: LoopId },
    /// The loops of a step are not nested one directly in the other.
    NotNested { outer: LoopId, inner: LoopId },
    /// The bounds of the inner loop depend on the outer counter.
    DependentBounds { outer: LoopId, inner: LoopId },
    /// More threads than a block can have, or more along an axis.
    BlockTooLarge { threads: u64, axis: Option<Axis> },
    /// Several threads along an axis that no loop is bound to.
    IdleThreads { threads: u32, axis: Axis },
    /// Not a power of two.
    BlockNotPowerOfTwo { threads: u64 },
    /// A reduction by no block, or by more than the last one can combine.
    ReductionGrid { blocks: u64 },
    /// The values of a block's threads do not fit its shared memory.
    ReductionShared { bytes: u64 },
    /// A reduction over more axes than its nest has loops, or over the axes of a nest of more than three.
    ReductionAxes { loop_id: LoopId, loops: usize, axes: usize },
    /// The loop is already part of a nest that is bound.
    AlreadyBound { loop_id: LoopId },
    /// The loops are inside other parallel loops, or are not the outermost of their nest.
    NotOutermost { loop_id: LoopId },
    /// The nest has a reduction, which needs the step `reduce`.
    HasReduction { loop_id: LoopId, var: VarId },
    /// No nest reduces the variable.
    NoReduction { name: String },
    /// Iterations do more with a reduced variable than contribute to it.
    Misused { loop_id: LoopId, reduction: Reduction, found: Box<Misuse> },
    /// Nothing of this name is accumulated in a serial loop.
    NothingAccumulated { name: String },
    /// What keeps a reference from being kept in a register.
    CannotAccumulate {
        name: String,
        why: String,
        /// The reference, and what stands in the way.
        places: Box<(Origin, Option<(Origin, String)>)>,
    },
    /// Two iterations that would change places conflict.
    OrderMatters {
        outer: LoopId,
        inner: LoopId,
        dependence: Option<Box<CarriedDependence>>,
        reason: Option<String>,
    },
    /// The loop is not bound to threads.
    NotBound { loop_id: LoopId },
    /// The loop is not run by each thread on its own.
    NotSerial { loop_id: LoopId },
    /// A number of iterations for a thread or a strip that cannot be.
    TileFactor { loop_id: LoopId, factor: u32, most: u32 },
    /// The nest cannot be computed tile by tile; where it says so.
    NotTiled { loop_id: LoopId, why: String, at: Box<Option<Origin>> },
    /// What keeps an array from being copied to shared memory.
    CannotStage { name: String, why: String, at: Box<Option<Origin>> },
    /// What cannot be done to a loop (`verb`: "cut"), and why.
    LoopRefused { verb: &'static str, loop_id: LoopId, why: String },
    /// What keeps an array from constant memory.
    CannotBeConstant { name: String, why: String, at: Box<Option<Origin>> },
    /// What keeps an array from being worked on in another shape (`verb`: "pitch"), and why.
    CannotCopy { name: String, verb: &'static str, why: String, at: Box<Option<Origin>> },
    /// What keeps the reals of the function from being computed in another type.
    CannotConvert { to: &'static str, why: String, at: Box<Option<Origin>> },
    /// What keeps the arrays of a nest from being padded to whole tiles.
    CannotPad { loop_id: LoopId, why: String, at: Box<Option<Origin>> },
    /// What keeps the copy of a staged array from moving several elements at a time.
    CannotVectorise { name: String, why: String },
    /// No nest is computed in tiles.
    NothingTiled,
    /// A size that a kernel cannot be made for.
    SizeRefused { name: String, why: String },
    /// The verifier found the result of a step malformed: a bug of ours.
    Malformed { step: String, errors: Vec<String> },
}

/// Two accesses of different iterations to one element, with an example.
#[derive(Clone, Debug)]
pub struct CarriedDependence {
    /// The loop that carries it.
    pub loop_id: LoopId,
    /// The array.
    pub array: String,
    /// The access of the earlier iteration.
    pub first: End,
    /// The access of the later iteration.
    pub second: End,
    /// Where the mark of the loop stands.
    pub mark: Option<Span>,
    /// Parameters for which it happens.
    pub sizes: Vec<(String, i128)>,
    /// Subscripts of the element, in an example.
    pub element: Vec<i128>,
    /// The accesses accumulate into one element.
    pub accumulates: bool,
}

/// Two accesses of a marked loop about which analysis says neither yes nor no.
#[derive(Clone, Debug)]
pub struct UndecidedMark {
    /// The marked loop.
    pub loop_id: LoopId,
    /// The array.
    pub array: String,
    /// The one access.
    pub first: End,
    /// The other.
    pub second: End,
    /// Where the mark of the loop stands.
    pub mark: Option<Span>,
    /// Why nothing is proved.
    pub reason: String,
}

/// One side of a dependence.
#[derive(Clone, Debug)]
pub struct End {
    /// Where the access stands in the source.
    pub span: Option<Span>,
    /// Whether it writes.
    pub writes: bool,
    /// Counters of the analysed loop and those inside it.
    pub iteration: Vec<(String, i128)>,
    /// The access as C text.
    pub text: String,
}

impl End {
    fn iteration_text(&self) -> String {
        let parts: Vec<String> =
            self.iteration.iter().map(|(name, x)| format!("{name} = {x}")).collect();
        match parts.as_slice() {
            [only] => only.clone(),
            _ => format!("({})", parts.join(", ")),
        }
    }

    fn verb(&self) -> &'static str {
        if self.writes { "writes" } else { "reads" }
    }
}

impl Refusal {
    /// What cannot be done to a loop (`verb`: "cut"), and why.
    pub fn of_loop(verb: &'static str, loop_id: LoopId, why: impl Into<String>) -> Refusal {
        Refusal::LoopRefused { verb, loop_id, why: why.into() }
    }

    /// What another step (`verb`: "share") was asked for this one.
    pub fn instead_of(self, other: &'static str, verb: &'static str) -> Refusal {
        match self {
            Refusal::LoopRefused { verb: own, loop_id, why } if own == other => {
                Refusal::LoopRefused { verb, loop_id, why }
            }
            more => more,
        }
    }

    /// What the user is told.
    pub fn diagnostic(&self, kernel: &Kernel) -> Diagnostic {
        match self {
            Refusal::Carried(d) => d.diagnostic(kernel),
            Refusal::Undecided(d) => d.diagnostic(kernel),
            Refusal::SharedVariable { loop_id, shared } => shared_variable(kernel, *loop_id, shared),
            Refusal::MixedUpdates { loop_id, name, mixed } => {
                mixed_updates(kernel, *loop_id, name, mixed)
            }
            Refusal::OrderMatters { outer, inner, dependence, reason } => {
                order_matters(kernel, *outer, *inner, dependence.as_deref(), reason.as_deref())
            }
            Refusal::CannotAccumulate { name, why, places } => {
                let (at, other) = &**places;
                let mut d = Diagnostic::error("W219", format!("cannot keep `{name}` in a register: {why}"));
                d = label(d, at.span, "this reference");
                if let Some((origin, text)) = other {
                    d = label(d, origin.span, text);
                }
                d
            }
            Refusal::NothingAccumulated { name } => Diagnostic::error(
                "W218",
                format!("nothing to accumulate: no serial loop updates one element of `{name}`"),
            )
            .help("the step needs a form like `for (k …) C[i][j] += …;` where `C[i][j]` does not change with `k`"),
            Refusal::NoReduction { name } => {
                Diagnostic::error("W220", format!("no marked loop has a reduction of `{name}`"))
                    .help(format!("write `reduction(+: {name})` at the loop"))
            }
            _ => self.about_arrays(kernel),
        }
    }

    fn about_arrays(&self, kernel: &Kernel) -> Diagnostic {
        match self {
            Refusal::CannotStage { name, why, at } => {
                let d = Diagnostic::error("W261", format!("cannot stage `{name}`: {why}"));
                label(d, at.as_ref().as_ref().and_then(|o| o.span), "this access")
            }
            Refusal::SizeRefused { name, why } => {
                Diagnostic::error("W266", format!("cannot make a kernel for a size `{name}`: {why}"))
            }
            Refusal::CannotBeConstant { name, why, at } => {
                let message = format!("cannot read `{name}` from constant memory: {why}");
                let at = at.as_ref().as_ref().and_then(|o| o.span);
                label(Diagnostic::error("W267", message), at, "here")
            }
            Refusal::CannotCopy { name, verb, why, at } => {
                let d = Diagnostic::error("W269", format!("cannot {verb} `{name}`: {why}"));
                label(d, at.as_ref().as_ref().and_then(|o| o.span), "here")
            }
            Refusal::CannotConvert { to, why, at } => {
                let d = Diagnostic::error("W271", format!("cannot compute in `{to}`: {why}"));
                label(d, at.as_ref().as_ref().and_then(|o| o.span), "here")
            }
            Refusal::CannotPad { loop_id, why, at } => {
                let name = kernel.loop_name(*loop_id);
                let d = Diagnostic::error("W270", format!("cannot pad the arrays of the nest of `{name}`: {why}"));
                match at.as_ref() {
                    Some(origin) => label(d, origin.span, "here"),
                    None => at_loop(kernel, d, *loop_id, "this nest"),
                }
                .help("`bounds peel` needs no copies, `bounds guard` works for every nest")
            }
            Refusal::CannotVectorise { name, why } => {
                Diagnostic::error("W275", format!("cannot copy `{name}` in vectors: {why}"))
            }
            Refusal::NothingTiled => Diagnostic::error("W268", "no nest is computed in tiles")
                .note("a thread with one iteration asks once whether it exists: nothing can be spared there")
                .help("take this step after `register_tile` or `stage`"),
            Refusal::NotTiled { loop_id, why, at } => {
                let name = kernel.loop_name(*loop_id);
                let d = Diagnostic::error("W260", format!("cannot compute the nest of `{name}` in tiles: {why}"));
                match at.as_ref() {
                    Some(origin) => label(d, origin.span, "here"),
                    None => at_loop(kernel, d, *loop_id, "this nest"),
                }
            }
            Refusal::Malformed { step, errors } => {
                let d = Diagnostic::error("W299", format!("`{step}` made a malformed program: a bug in warpsmith"));
                errors.iter().fold(d, |d, e| d.note(e.clone()))
            }
            _ => self.about_loops(kernel),
        }
    }

    fn about_loops(&self, kernel: &Kernel) -> Diagnostic {
        let name = |id: &LoopId| kernel.loop_name(*id);
        match self {
            Refusal::NotBound { loop_id } => {
                let message = format!("loop `{}` is not bound to threads", name(loop_id));
                at_loop(kernel, Diagnostic::error("W262", message), *loop_id, "this loop")
                    .help("bind its nest first, for example with `bind i, j -> y, x block 16x16`")
            }
            Refusal::LoopRefused { verb, loop_id, why } => {
                let message = format!("cannot {verb} loop `{}`: {why}", name(loop_id));
                at_loop(kernel, Diagnostic::error("W265", message), *loop_id, "this loop")
            }
            Refusal::NotSerial { loop_id } => {
                let message = format!(
                    "loop `{}` is shared by threads: only a serial loop can be cut or unrolled",
                    name(loop_id)
                );
                at_loop(kernel, Diagnostic::error("W263", message), *loop_id, "this loop")
            }
            Refusal::TileFactor { loop_id, factor, most } => {
                let message = format!(
                    "{factor} iterations of `{}` are too few or too many: at most {most} make sense here",
                    name(loop_id)
                );
                at_loop(kernel, Diagnostic::error("W264", message), *loop_id, "this loop")
            }
            Refusal::NotParallel { loop_id, reasons } => {
                let message = format!(
                    "loop `{}` is not marked parallel, and its iterations are not proved independent",
                    name(loop_id)
                );
                let d = at_loop(kernel, Diagnostic::error("W212", message), *loop_id, "this loop");
                let d = reasons.iter().fold(d, |d, r| d.note(r.clone()));
                d.help("if you know that they are, write `#pragma omp parallel for` before it")
            }
            Refusal::LeavesLoop { loop_id, at } => {
                let d = Diagnostic::error(
                    "W213",
                    format!("loop `{}` may be left before its end", name(loop_id)),
                );
                let d = label(d, at.span, "control leaves the loop here");
                let d = at_loop(kernel, d, *loop_id, "the step needs all iterations of this loop");
                d.help(
                    "let the iteration do nothing instead: put the rest of the body under an `if`",
                )
            }
            Refusal::UnknownStep { loop_id } => {
                let message = format!("the direction of loop `{}` is not known", name(loop_id));
                at_loop(
                    kernel,
                    Diagnostic::error("W214", message),
                    *loop_id,
                    "compares with `!=` and has a step that is no constant",
                )
                .help("compare with `<` or `>`")
            }
            _ => self.about_nests(kernel),
        }
    }

    fn about_nests(&self, kernel: &Kernel) -> Diagnostic {
        let name = |id: &LoopId| kernel.loop_name(*id);
        match self {
            Refusal::NotNested { outer, inner } if outer == inner => {
                let message = format!("no loop is directly inside loop `{}`", name(outer));
                at_loop(
                    kernel,
                    Diagnostic::error("W215", message),
                    *outer,
                    "its body is more or other than one loop",
                )
            }
            Refusal::NotNested { outer, inner } => {
                let message =
                    format!("loop `{}` is not directly inside loop `{}`", name(inner), name(outer));
                let d = at_loop(
                    kernel,
                    Diagnostic::error("W215", message),
                    *inner,
                    "not the only statement of the other loop",
                );
                at_loop(kernel, d, *outer, "the outer loop")
            }
            Refusal::DependentBounds { outer, inner } => {
                let message =
                    format!("the bounds of loop `{}` depend on `{}`", name(inner), name(outer));
                let d = at_loop(
                    kernel,
                    Diagnostic::error("W216", message),
                    *inner,
                    "not the same for all iterations of the outer loop",
                );
                at_loop(kernel, d, *outer, "the outer loop")
            }
            _ => self.about_bound_loops(kernel),
        }
    }

    fn about_bound_loops(&self, kernel: &Kernel) -> Diagnostic {
        let name = |id: &LoopId| kernel.loop_name(*id);
        match self {
            Refusal::AlreadyBound { loop_id } => {
                let message = format!("loop `{}` is bound already", name(loop_id));
                at_loop(
                    kernel,
                    Diagnostic::error("W222", message),
                    *loop_id,
                    "an earlier step bound this loop",
                )
            }
            Refusal::NotOutermost { loop_id } => {
                let message = format!("loop `{}` is inside another parallel loop", name(loop_id));
                at_loop(
                    kernel,
                    Diagnostic::error("W223", message),
                    *loop_id,
                    "runs inside a thread",
                )
                .help("bind the outermost parallel loop of the nest")
            }
            Refusal::Misused { loop_id, reduction, found } => {
                misused(kernel, *loop_id, reduction, found)
            }
            Refusal::HasReduction { loop_id, var } => {
                let variable = kernel.name_of(*var);
                let message = format!("loop `{}` reduces `{variable}`", name(loop_id));
                at_loop(
                    kernel,
                    Diagnostic::error("W224", message),
                    *loop_id,
                    "its iterations share a result",
                )
                .help(format!("use the step `reduce {variable}`"))
            }
            _ => self.about_blocks(kernel),
        }
    }

    fn about_blocks(&self, kernel: &Kernel) -> Diagnostic {
        match self {
            Refusal::BlockTooLarge { threads, axis } => {
                let message = match axis {
                    Some(a) if *threads == 0 => format!("a block without threads along {}", a.name()),
                    Some(a) => format!("a block of {threads} threads along {} is too large", a.name()),
                    None => format!("a block of {threads} threads is too large"),
                };
                Diagnostic::error("W217", message).note("a block has at most 1024 threads, at most 64 of them along z, and at least one along each axis")
            }
            Refusal::IdleThreads { threads, axis } => {
                let axis = axis.name();
                Diagnostic::error("W217", format!("{threads} threads of a block along {axis} would have nothing to do"))
                    .help(format!("no loop is bound to {axis}: give the block one thread along it; a later `share` brings its own"))
            }
            Refusal::ReductionGrid { blocks } => {
                Diagnostic::error("W217", format!("a reduction by {blocks} blocks does not work"))
                    .note("the last block combines what the others leave: take from 1 to 65536 blocks, at most 65535 of them along y or z")
            }
            Refusal::ReductionShared { bytes } => {
                let message = format!("the values of a block's threads take {bytes} bytes of shared memory");
                Diagnostic::error("W217", message)
                    .note(format!("a block has {STATIC_SHARED}: take fewer threads"))
            }
            Refusal::ReductionAxes { loop_id, loops, axes } => {
                let have = if *loops == 1 { "one parallel loop".into() } else { format!("{loops} parallel loops") };
                let message = format!("{have} with bounds of their own cannot be reduced along {axes} axes");
                at_loop(kernel, Diagnostic::error("W217", message), *loop_id, "loops from here on count whose bounds do not depend on counters around them")
                    .note("each loop goes to an axis of its own, so there are from as many loops as axes to three")
                    .help("with one number for `block` and one for `grid` all iterations are numbered")
            }
            Refusal::BlockNotPowerOfTwo { threads } => {
                Diagnostic::error("W217", format!("a reduction by {threads} threads does not work"))
                    .note("the threads of a block combine their values in pairs: take a power of two from 32 to 1024")
            }
            _ => Diagnostic::error("W200", "the step does not apply"),
        }
    }
}

/// The operation as an OpenMP clause spells it.
pub fn clause_name(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Add => "+",
        ReduceOp::Mul => "*",
        ReduceOp::Min => "min",
        ReduceOp::Max => "max",
        ReduceOp::BitAnd => "&",
        ReduceOp::BitOr => "|",
        ReduceOp::BitXor => "^",
        ReduceOp::LogicalAnd => "&&",
        ReduceOp::LogicalOr => "||",
    }
}

fn label(d: Diagnostic, span: Option<Span>, text: &str) -> Diagnostic {
    match span {
        Some(span) => d.label(span, text),
        None => d,
    }
}

fn at_loop(kernel: &Kernel, d: Diagnostic, id: LoopId, text: &str) -> Diagnostic {
    let stmt = crate::walk::loop_stmt(&kernel.func().body, id);
    let counter = kernel.find_loop(id).and_then(|l| l.first.origin.span);
    // The whole statement may be long: the head is enough where it is known.
    label(d, counter.or(stmt.and_then(|s| s.origin.span)), text)
}
