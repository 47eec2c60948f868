//! What a block reads of an array: a box of elements, by the subscripts of its reads.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{ForLoop, LoopId, Origin, Type, VarId};

use super::access::{Access, AccessKind, Base, Scope, View};
pub use super::boxes::{Counter, Dim, Footprint};
use super::elements;
use super::loops::{outer_loops, unit_step};
use super::shapes::shaped;
use super::written_boxes;
use crate::kernel::{Kernel, Nest, STATIC_SHARED, Stage};
use crate::walk;

/// Bytes at whose multiples the copies in dynamic shared memory begin: the widest access.
pub const DYNAMIC_ALIGN: u64 = 16;

/// Why there is no footprint.
#[derive(Clone, Debug)]
pub struct Unfit {
    /// What is in the way, as a sentence goes on.
    pub why: String,
    /// The access that does not fit.
    pub at: Option<Origin>,
}

/// What a block reads of the staged array, all reads of the group together.
///
/// # Errors
/// The first read that does not fit.
pub fn of(kernel: &Kernel, root: LoopId, nest: &Nest, stage: &Stage) -> Result<Footprint, Unfit> {
    let refuse =
        |why: String, at: Option<&Access<'_>>| Err(Unfit { why, at: at.map(|a| a.origin.clone()) });
    let Some(l) = kernel.find_loop(root) else { return refuse("its nest is gone".into(), None) };
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let accesses = scope.accesses();
    let touches = |a: &&Access<'_>| a.base == Base::Var(stage.array) || a.base == Base::Anything;
    let groups = groups(&scope, &accesses, stage.array);
    let written = accesses.iter().filter(touches).any(|a| a.kind != AccessKind::Read);
    let (mut found, mut own_accesses, mut outside): (Option<Footprint>, _, _) =
        (None, vec![], vec![]);
    for a in accesses.iter().filter(touches) {
        if a.kind == AccessKind::Atomic || a.base == Base::Anything {
            return refuse("the nest may write it".into(), Some(a));
        }
        let inside = stage.strip.is_none_or(|(id, _)| a.loops.iter().any(|l| l.id == id));
        let elsewhere = || group_of(&scope, a).is_none_or(|g| groups.get(stage.part) != Some(&g));
        if written && inside && elsewhere() {
            return refuse("the nest writes it, and accesses it in several ways".into(), Some(a));
        }
        if !inside {
            outside.push(a);
            continue;
        }
        if elsewhere() && group_of(&scope, a).is_some() {
            continue;
        }
        own_accesses.push(a);
        let own = of_read(kernel, &scope, (nest, stage), a)?;
        match &mut found {
            None => found = Some(own),
            Some(f) => f.join(own),
        }
    }
    let Some(mut f) = found else {
        return refuse("nothing reads it there".into(), None);
    };
    is_one_box(&mut f).map_err(|why| Unfit { why: why.into(), at: None })?;
    let counter = |id| kernel.find_loop(id).map(|l| l.var);
    if !written {
        f.join_fixed_rows(counter).ok_or_else(|| Unfit { why: OVERFLOW.into(), at: None })?;
        return Ok(f);
    }
    if f.partial {
        return refuse("the nest writes it, and accesses it under a condition".into(), None);
    }
    are_apart(kernel, nest, &f, &own_accesses)?;
    let group = groups.get(stage.part);
    if let Some(a) = outside.iter().find(|a| !stays_in_own(&scope, &f, group, a)) {
        return refuse("blocks would write back what others may write".into(), Some(a));
    }
    f.written = true;
    f.elsewhere = !outside.is_empty();
    let outer: Vec<LoopId> = outer_loops(kernel, root, nest).iter().map(|l| l.id).collect();
    let box_of = (l, outer.as_slice(), stage.strip.map(|s| s.0));
    f.filled = !written_boxes::covers(box_of, &f, &own_accesses);
    Ok(f)
}

/// Whether blocks write elements of their own.
fn are_apart(
    kernel: &Kernel,
    nest: &Nest,
    f: &Footprint,
    own: &[&Access<'_>],
) -> Result<(), Unfit> {
    let counter = |id| kernel.find_loop(id).map(|l| l.var);
    let moves = |d: &Dim| {
        nest.axes.iter().any(|(id, _)| counter(*id).is_none_or(|v| d.invariant.mentions(v)))
    };
    if f.dims.iter().any(moves) {
        let why = "blocks that write it might have elements in common".into();
        return Err(Unfit { why, at: None });
    }
    let moves_inside = |d: &Dim| own.iter().any(|a| moves_inside_of_bound(nest, a, &d.invariant));
    let at = || own.first().map(|a| a.origin.clone());
    written_boxes::are_apart(nest, f, &moves_inside).map_err(|why| Unfit { why, at: at() })
}

/// Whether all reads together are a box that shared memory may hold.
fn is_one_box(f: &mut Footprint) -> Result<(), &'static str> {
    if f.rows.is_some() && f.reads.windows(2).any(|w| w[0].1 != w[1].1) {
        // Seen as one row, the corners of the box need not be elements.
        return Err("its reads differ, and its shape is not declared");
    }
    if f.rows.is_some() && !f.independent() {
        return Err("a counter moves its rows and its columns, and its shape is not declared");
    }
    if f.measured() { Ok(()) } else { Err("a block reads too much of it") }
}

/// Whether an invariant mentions a loop around an access that stands inside of the bound ones.
fn moves_inside_of_bound(nest: &Nest, a: &Access<'_>, invariant: &Poly) -> bool {
    let around = a.loops.iter().skip_while(|l| !nest.binds(l.id));
    let mut inside = around.filter(|l| !nest.binds(l.id));
    inside.any(|l| invariant.mentions(l.var))
}

/// Whether what a block accesses outside of the strips is what it alone writes.
fn stays_in_own(scope: &Scope<'_>, f: &Footprint, group: Option<&Group>, a: &Access<'_>) -> bool {
    let (Some(group), Ok((index, rows))) = (group, subscripts(scope, a)) else { return false };
    rows == group.1 && written_boxes::stays_in_own(f, &group.0, &index)
}

/// What a block reads by one of the reads.
fn of_read(
    kernel: &Kernel,
    scope: &Scope<'_>,
    (nest, stage): (&Nest, &Stage),
    a: &Access<'_>,
) -> Result<Footprint, Unfit> {
    let refuse = |why: String| Unfit { why, at: Some(a.origin.clone()) };
    let Some(place) = a.place else {
        return Err(refuse("a called function reads it".into()));
    };
    if place.ty.scalar().is_none() {
        return Err(refuse("its elements are no numbers".into()));
    }
    let conditional = !a.guards.is_empty() || !a.implied.is_empty();
    let partial = conditional && !elements::is_inside(kernel, scope, a);
    if partial && kernel.func().var(stage.array).shape.is_none() {
        return Err(refuse("it is read under a condition, and its extents are not known".into()));
    }
    let (index, rows) = subscripts(scope, a).map_err(refuse)?;
    let dims = index.iter().map(|poly| dim(kernel, scope, nest, stage, a, poly));
    let dims: Vec<Dim> = dims.collect::<Result<_, _>>().map_err(refuse)?;
    let constants = dims.iter().map(|d| d.constants.0).collect();
    let reads = vec![(place.clone(), constants)];
    Ok(Footprint { dims, rows, reads, written: false, filled: true, elsewhere: false, partial })
}

/// Whether copies of so many bytes together need dynamic shared memory.
pub fn is_dynamic(bytes: u64) -> bool {
    bytes > STATIC_SHARED.into()
}

/// Shared memory that a copy takes, with all its strips, in bytes.
pub fn copy_bytes(kernel: &Kernel, stage: &Stage, f: &Footprint) -> u64 {
    let element = kernel.func().var(stage.array).ty.pointee().cloned().unwrap_or(Type::Void);
    let size = warpsmith_ir::layout::layout_of(&kernel.module, &element).size;
    let size = size.saturating_mul(stage.slots.into());
    shared_shape(f, stage).iter().fold(size, |n, e| n.saturating_mul(*e))
}

/// Extents of the array in shared memory, outermost first.
pub fn shared_shape(f: &Footprint, stage: &Stage) -> Vec<u64> {
    let mut shape: Vec<u64> = f.dims.iter().map(|d| d.extent).collect();
    stage.layout.order.arrange(&mut shape);
    if let Some(last) = shape.last_mut() {
        *last += u64::from(stage.layout.pad);
    }
    shape
}

type Subscripts = (Vec<Poly>, Option<Vec<Poly>>);

/// A group of reads that differ by constants: their subscripts without these, and the lengths of rows where the place has
/// none.
pub type Group = Subscripts;

/// The groups of an array's reads in a nest, in source order; reads with other subscripts than sums belong to none.
pub fn groups(scope: &Scope<'_>, accesses: &[Access<'_>], array: VarId) -> Vec<Group> {
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

/// The group that an access belongs to; `None` for one whose subscripts are no linear sums.
pub fn group_of(scope: &Scope<'_>, a: &Access<'_>) -> Option<Group> {
    let (index, rows) = subscripts(scope, a).ok()?;
    let free = |p: &Poly| p.sub(&Poly::constant(p.constant_term()));
    Some((index.iter().map(free).collect::<Option<Vec<Poly>>>()?, rows))
}

/// The subscripts of a read; a single one that is a row number times a length plus a column is taken apart, with that
/// length, and so is the row number.
fn subscripts(scope: &Scope<'_>, a: &Access<'_>) -> Result<Subscripts, String> {
    match &a.view {
        View::Unknown(why) => Err(why.clone()),
        View::Affine { index, .. } if index.len() > 1 => Ok((index.clone(), None)),
        View::Affine { index, .. } => {
            let Some(only) = index.first() else { return Err("it has no subscript".into()) };
            let counters: Vec<VarId> =
                a.loops.iter().map(|l| l.var).chain(scope.outer.iter().map(|l| l.var)).collect();
            let (index, lengths) = shaped(only, &counters).ok_or(OVERFLOW)?;
            Ok((index, (!lengths.is_empty()).then_some(lengths)))
        }
    }
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
        let term = Poly::product(monomial, factor).ok_or(OVERFLOW)?;
        // Of the loops around the bound ones a block has one iteration.
        let own = a.loops.iter().skip_while(|l| !nest.binds(l.id));
        let mentioned = own.filter(|l| term.mentions(l.var));
        let moving: Vec<_> = mentioned.filter(|l| !stays(nest, stage, l)).collect();
        let single = |l: &&&ForLoop| {
            let alone = |atom: &Atom| matches!(atom, Atom::Var(_)) || !atom.mentions(l.var);
            nest.block_extent(l.id) == Some(1) && monomial.iter().all(alone)
        };
        match (moving.as_slice(), monomial) {
            ([], []) => {}
            ([l], [Atom::Var(_)]) => terms.push((counter(kernel, scope, nest, stage, l)?, factor)),
            (moving, _) => match moving.iter().find(|l| !single(l)) {
                None => invariant = invariant.add(&term).ok_or(OVERFLOW)?,
                Some(l) => {
                    let name = kernel.name_of(l.var);
                    return Err(format!("a subscript is not a constant times `{name}`"));
                }
            },
        }
    }
    let constant = poly.constant_term();
    Ok(Dim { terms, invariant, constants: (constant, constant), extent: 0 })
}

const OVERFLOW: &str = "its subscript overflows";

/// Whether a loop has one iteration while a strip is copied and used: it runs around the strips.
fn stays(nest: &Nest, stage: &Stage, l: &ForLoop) -> bool {
    let Some((id, _)) = stage.strip else { return false };
    !nest.binds(l.id) && l.id != id && walk::find_loop(&l.body, id).is_some()
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
    // Its accesses are within the array only where it runs.
    if high < low {
        return Err(format!("a subscript depends on `{name}`, which has no iteration"));
    }
    let count = u32::try_from(high - low + 1).map_err(|_| format!("loop `{name}` is too long"))?;
    Ok(Counter::Constant(l.id, low, count))
}
