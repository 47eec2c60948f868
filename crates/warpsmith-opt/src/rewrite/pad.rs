//! Pads arrays with zeros to whole tiles, so that no block asks which of its iterations exist.
//!
//! ```text
//!     for i in 0..n, in blocks of 32 { if (i < n) C[i] = e(A[i]) }
//!       ==> bounds pad
//!     n_padded = (n + 31) / 32 * 32; copy A to A_padded, zeros behind
//!     for i in 0..n_padded, in blocks of 32 { C_padded[i] = e(A_padded[i]) }
//!     copy the first n elements of C_padded to C
//! ```
//!
//! All loops of one length are rounded up to a multiple of all their tiles. The copies live in the workspace; what the
//! kernel does in the additional iterations is thrown away.
//!
//! Legal where the additional iterations can do no harm: every subscript that depends on a rounded loop is its counter
//! plus something else, under no condition, in arrays with extents that the launcher knows at its start; what is written
//! lies behind the end of the array there; no loop inside depends on the counter or on data; and nothing divides
//! integers. The serial loop of a strip is rounded up too where its additional terms are products of zeros that are added
//! to a sum which begins with a number; else it keeps its guards.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, Origin, Place, PlaceKind, Scalar, Stmt,
    StmtKind, Type, UnaryOp, VarId,
};

use super::copy::Side;
use super::share::SHARED_NEST;
use super::{copy, pitch, stage};
use crate::analysis::access::{Access, AccessKind, Base, Scope, View};
use crate::analysis::loops;
use crate::analysis::loops::unit_step;
use crate::assumption::Assumption;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;
use crate::walk;

/// Tiles of one length with a greatest common multiple beyond this are not worth it.
const MOST: u64 = 4096;

/// A loop that is rounded up.
struct Round {
    /// Iterations, before.
    count: Poly,
    /// Behind the last value of the counter, before.
    end: Poly,
    var: VarId,
    /// Whether threads run it.
    bound: bool,
}

/// What is to be done with one nest.
#[derive(Default)]
struct Plan {
    rounds: BTreeMap<LoopId, Round>,
    /// Lengths with the numbers that they become multiples of.
    lengths: Vec<(Poly, u64)>,
    /// Arrays, and for each dimension the length that grows.
    arrays: BTreeMap<VarId, Vec<Option<Poly>>>,
}

/// The kernel with all tiled nests padded.
///
/// # Errors
/// [`Refusal::NothingTiled`], or [`Refusal::CannotPad`] for the first nest that cannot be padded.
pub fn padded(kernel: &Kernel) -> Result<Kernel, Refusal> {
    let tiled = kernel.nests.iter().filter(|(_, n)| n.is_tiled());
    let roots: Vec<LoopId> = tiled.map(|(root, _)| *root).collect();
    if roots.is_empty() {
        return Err(Refusal::NothingTiled);
    }
    let mut result = kernel.clone();
    let mut none = true;
    for root in &roots {
        let Some(nest) = kernel.nests.get(root) else { continue };
        let plan = plan(kernel, *root, nest)?;
        if plan.rounds.is_empty() {
            continue;
        }
        none = false;
        apply(&mut result, *root, &plan);
        if let Some(nest) = result.nests.get(root) {
            stage::check_all(&result, *root, nest)?;
        }
    }
    match (none, roots.first()) {
        (true, Some(root)) => refuse(*root, "all its blocks are full already", None),
        _ => Ok(result),
    }
}

fn refuse<T>(loop_id: LoopId, why: impl Into<String>, at: Option<&Origin>) -> Result<T, Refusal> {
    Err(Refusal::CannotPad { loop_id, why: why.into(), at: Box::new(at.cloned()) })
}

/// Iterations of a loop that counts up by one, and the end of its counter.
fn count_of(kernel: &Kernel, l: &ForLoop) -> Option<(Poly, Poly)> {
    if !unit_step(l) || ![&l.first, &l.limit].into_iter().all(|e| kernel.known_at_start(e)) {
        return None;
    }
    let signed = kernel.func().var(l.var).ty.scalar().is_some_and(Scalar::is_signed);
    let from_zero = l.first.as_const().is_some_and(|v| v.as_i64() == 0);
    if !signed && !from_zero {
        return None;
    }
    let one = i128::from(l.compare == BinaryOp::Le);
    let end = Poly::from_expr(&l.limit)?.add(&Poly::constant(one))?;
    Some((end.sub(&Poly::from_expr(&l.first)?)?, end))
}

fn plan(kernel: &Kernel, root: LoopId, nest: &Nest) -> Result<Plan, Refusal> {
    let mut plan = Plan::default();
    if nest.team.is_some() {
        return refuse(root, SHARED_NEST, None);
    }
    if let Some(id) = nest.aligned.keys().next() {
        let why =
            format!("loop `{}` is aligned, and its rows end where they do", kernel.loop_name(*id));
        return refuse(root, why, None);
    }
    for (id, _) in &nest.axes {
        let (Some(l), Some(extent)) = (kernel.find_loop(*id), nest.block_extent(*id)) else {
            continue;
        };
        let Some((count, end)) = count_of(kernel, l) else {
            let name = kernel.loop_name(*id);
            let why = format!("the length of loop `{name}` is not known when the launcher starts");
            return refuse(root, why, None);
        };
        if fills(&count, extent, nest) {
            continue;
        }
        plan.rounds.insert(*id, Round { count, end, var: l.var, bound: true });
    }
    let Some(l) = kernel.find_loop(root) else { return Ok(plan) };
    let innermost = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id));
    let body = innermost.map(|l| &l.body).unwrap_or(&l.body);
    let strips: BTreeSet<(LoopId, u32)> = nest.stages.iter().filter_map(|s| s.strip).collect();
    for (id, length) in &strips {
        let Some(strip) = kernel.find_loop(*id) else { continue };
        let Some((count, end)) = count_of(kernel, strip) else { continue };
        let round = Round { count, end, var: strip.var, bound: false };
        if fills(&round.count, *length, nest) || !adds_zeros(kernel, l, body, strip, &round) {
            continue;
        }
        plan.rounds.insert(*id, round);
    }
    check_statements(root, body, &plan)?;
    lengths(root, nest, &mut plan)?;
    arrays(kernel, l, &mut plan)?;
    Ok(plan)
}

fn fills(count: &Poly, extent: u32, nest: &Nest) -> bool {
    nest.multiples.divide(count, extent.into())
}

/// The multiple that each length is rounded up to.
fn lengths(root: LoopId, nest: &Nest, plan: &mut Plan) -> Result<(), Refusal> {
    let strips = nest.stages.iter().filter_map(|s| s.strip);
    let extents = nest.axes.iter().filter_map(|(id, _)| Some((*id, nest.block_extent(*id)?)));
    for (id, extent) in extents.chain(strips) {
        let Some(round) = plan.rounds.get(&id) else { continue };
        let at = match plan.lengths.iter().position(|(p, _)| *p == round.count) {
            Some(at) => at,
            None => {
                plan.lengths.push((round.count.clone(), 1));
                plan.lengths.len() - 1
            }
        };
        let known = plan.lengths[at].1;
        let multiple = known / gcd(known, extent.into()) * u64::from(extent);
        if multiple > MOST {
            return refuse(
                root,
                format!("its tiles fit together only every {multiple} elements"),
                None,
            );
        }
        plan.lengths[at].1 = multiple;
    }
    Ok(())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What no iteration may do that works on zeros.
fn check_statements(root: LoopId, body: &Block, plan: &Plan) -> Result<(), Refusal> {
    let rounded: Vec<VarId> = plan.rounds.values().map(|r| r.var).collect();
    let counters: Vec<VarId> = walk::for_loops(body).iter().map(|l| l.var).collect();
    let mut bad: Option<(&str, Origin)> = None;
    walk::each_stmt(body, &mut |s| {
        let mut found = |why| bad = bad.take().or(Some((why, s.origin.clone())));
        match &s.kind {
            StmtKind::For(l) => {
                for e in [&l.first, &l.limit, &l.step] {
                    let mut depends = walk::reads_memory(e);
                    walk::each_var(e, &mut |v| {
                        depends |= rounded.contains(&v);
                        depends |= walk::writes_var(body, v) && !counters.contains(&v);
                    });
                    if depends {
                        found("a loop depends on the iteration or on data");
                    }
                }
            }
            StmtKind::Loop { .. } | StmtKind::Switch { .. } => found("a loop depends on data"),
            StmtKind::Call { .. } => found("an iteration calls a function"),
            StmtKind::Assert { .. } | StmtKind::Trap => found("an iteration may stop the kernel"),
            _ => {}
        }
        for e in walk::operands(s).reads {
            walk::each_expr(e, &mut |e| {
                if let ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, by) = &*e.kind
                    && e.ty.is_integer()
                    && by.as_const().is_none_or(|v| v.as_i64() == 0)
                {
                    found("an integer is divided by something that may be zero there");
                }
            });
        }
    });
    match bad {
        Some((why, at)) => refuse(root, why, Some(&at)),
        None => Ok(()),
    }
}

/// Which dimensions of which arrays grow.
fn arrays(kernel: &Kernel, root: &ForLoop, plan: &mut Plan) -> Result<(), Refusal> {
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root.id), root);
    let accesses = scope.accesses();
    for a in &accesses {
        let at = Some(&a.origin);
        let var = match a.base {
            Base::Var(v) if kernel.func().var(v).ty.is_pointer() => Some(v),
            // Variables of the thread.
            Base::Var(_) => continue,
            Base::Global(_) => None,
            Base::Anything => return refuse(root.id, "it goes through a computed pointer", at),
        };
        let grown = match grown_dims(&scope, a, plan) {
            Ok(grown) => grown,
            Err(why) => return refuse(root.id, why, at),
        };
        if a.kind != AccessKind::Read {
            written_behind(kernel, root.id, a, plan)?;
        }
        if grown.iter().all(Option::is_none) {
            continue;
        }
        if !a.guards.is_empty() {
            return refuse(root.id, "an array is used under a condition", at);
        }
        let Some(array) = var else {
            return refuse(root.id, "a variable of the module cannot grow", at);
        };
        let name = kernel.name_of(array);
        let shape = kernel.func().var(array).shape.as_deref().unwrap_or_default();
        let whole = a.place.is_some_and(|p| copy::element_of(p, array, shape).is_some());
        if !whole || !shape.iter().all(|e| kernel.known_at_start(e)) {
            let why = format!("the extents of `{name}` are not known when the launcher starts");
            return refuse(root.id, why, at);
        }
        if kernel.constants.contains(&array) {
            return refuse(root.id, format!("`{name}` is read from constant memory"), at);
        }
        let known = plan.arrays.entry(array).or_insert_with(|| vec![None; shape.len()]);
        for (old, new) in known.iter_mut().zip(grown) {
            match (&old, &new) {
                (Some(x), Some(y)) if x != y => {
                    let why =
                        format!("loops of different lengths run over one dimension of `{name}`");
                    return refuse(root.id, why, at);
                }
                _ => *old = old.take().or(new),
            }
        }
    }
    for array in plan.arrays.keys() {
        let shape = kernel.func().var(*array).shape.as_deref().unwrap_or_default();
        let body = Block::new(
            walk::loop_stmt(&kernel.func().body, root.id).cloned().into_iter().collect(),
        );
        let uses = copy::uses(&body, *array, shape);
        if uses.otherwise {
            let why =
                format!("`{}` is used otherwise than by its elements", kernel.name_of(*array));
            return refuse(root.id, why, None);
        }
        let filled = !uses.writes || set_first(kernel, root.id, *array, shape);
        if kernel.scratch.iter().any(|s| s.var == *array) && !filled {
            let why =
                format!("`{}` holds nothing yet that a copy could have", kernel.name_of(*array));
            return refuse(root.id, why, None);
        }
    }
    Ok(())
}

/// For each subscript, the length of the rounded loop that it depends on.
fn grown_dims(scope: &Scope<'_>, a: &Access<'_>, plan: &Plan) -> Result<Vec<Option<Poly>>, String> {
    let View::Affine { index, .. } = &a.view else {
        return match &a.view {
            View::Unknown(why) => Err(why.clone()),
            View::Affine { .. } => Ok(vec![]),
        };
    };
    let mut grown = vec![];
    for p in index {
        let mut length = None;
        for round in plan.rounds.values().filter(|r| p.mentions(r.var)) {
            let name = &scope.function.var(round.var).name;
            if length.is_some() || offset_of(p, round.var).is_none() {
                return Err(format!("a subscript is not `{name}` plus something that stays"));
            }
            length = Some(round.count.clone());
        }
        grown.push(length);
    }
    Ok(grown)
}

/// `p - counter`, where that does not depend on the counter.
fn offset_of(p: &Poly, counter: VarId) -> Option<Poly> {
    let (factor, rest) = p.split(&Atom::Var(counter))?;
    (factor.as_constant() == Some(1) && !rest.mentions(counter)).then_some(rest)
}

/// What an additional iteration writes lies behind the array, in some dimension.
fn written_behind(
    kernel: &Kernel,
    root: LoopId,
    a: &Access<'_>,
    plan: &Plan,
) -> Result<(), Refusal> {
    let View::Affine { index, .. } = &a.view else { return Ok(()) };
    let shape = match a.base {
        Base::Var(v) => kernel.func().var(v).shape.as_deref().unwrap_or_default(),
        _ => &[],
    };
    for round in plan.rounds.values().filter(|r| r.bound) {
        let behind = index.iter().zip(shape).any(|(p, extent)| lies_behind(p, extent, round));
        if !behind {
            let name = kernel.name_of(round.var);
            let why = format!(
                "an iteration of `{name}` past the end would write an element of the array"
            );
            return refuse(root, why, Some(&a.origin));
        }
    }
    Ok(())
}

/// The subscript is not less than the extent in all iterations past the end.
fn lies_behind(p: &Poly, extent: &Expr, round: &Round) -> bool {
    let distance = || {
        let least = offset_of(p, round.var)?.add(&round.end)?;
        least.sub(&Poly::from_expr(extent)?)?.as_constant()
    };
    distance().is_some_and(|d| d >= 0)
}

/// Iterations of the strip's loop past its end add products of zeros to sums that begin with a number.
fn adds_zeros(kernel: &Kernel, root: &ForLoop, body: &Block, l: &ForLoop, round: &Round) -> bool {
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root.id), root);
    let accesses = scope.accesses();
    let mut zeros = Zeros { kernel, accesses: &accesses, round, variables: BTreeSet::new() };
    let Some(block) = block_of(body, l.id) else { return false };
    let at = block.stmts.iter().position(|s| matches!(&s.kind, StmtKind::For(x) if x.id == l.id));
    let mut sums = vec![];
    zeros.block(&l.body, &mut sums)
        && sums.iter().all(|place| begins_with_number(&block.stmts[..at.unwrap_or(0)], place))
}

/// The block of which the loop is a statement.
fn block_of(block: &Block, id: LoopId) -> Option<&Block> {
    if block.stmts.iter().any(|s| matches!(&s.kind, StmtKind::For(l) if l.id == id)) {
        return Some(block);
    }
    block.stmts.iter().flat_map(walk::blocks).find_map(|b| block_of(b, id))
}

/// The last statement that sets the place gives it an integer, or a real other than minus zero.
fn begins_with_number(before: &[Stmt], place: &Place) -> bool {
    if place.ty.is_integer() {
        return true;
    }
    for stmt in before.iter().rev() {
        let value = match &stmt.kind {
            StmtKind::Assign { place: p, value } if p == place => Some(value),
            StmtKind::Decl { var, init } if *place.kind == PlaceKind::Var(*var) => init.as_ref(),
            StmtKind::Decl { .. } => continue,
            _ => return false,
        };
        let number = value.and_then(Expr::as_const).map(|v| v.as_f64());
        return number.is_some_and(|x| !(x == 0.0 && x.is_sign_negative()));
    }
    false
}

/// Finds expressions that are zero in all iterations past the end of a loop.
struct Zeros<'z, 'k> {
    kernel: &'k Kernel,
    accesses: &'z [Access<'k>],
    round: &'z Round,
    variables: BTreeSet<VarId>,
}

impl Zeros<'_, '_> {
    /// The statements only add zeros; to what goes to `sums`.
    fn block(&mut self, block: &Block, sums: &mut Vec<Place>) -> bool {
        block.stmts.iter().all(|s| match &s.kind {
            StmtKind::Scope(b) => self.block(b, sums),
            StmtKind::For(l) => self.block(&l.body, sums),
            StmtKind::Decl { var, init } => {
                if init.as_ref().is_some_and(|e| self.zero(e)) {
                    self.variables.insert(*var);
                }
                true
            }
            StmtKind::Assign { place, value } => {
                let own = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if p == place);
                let adds = match &*value.kind {
                    ExprKind::Binary(BinaryOp::Add, a, b) => {
                        own(a) && self.zero(b) || own(b) && self.zero(a)
                    }
                    ExprKind::Binary(BinaryOp::Sub, a, b) => own(a) && self.zero(b),
                    _ => false,
                };
                sums.push(place.clone());
                adds
            }
            _ => false,
        })
    }

    fn zero(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Const(v) => v.as_f64() == 0.0,
            ExprKind::Read(p) => match *p.kind {
                PlaceKind::Var(v) => self.variables.contains(&v),
                _ => self.padding(p),
            },
            ExprKind::Unary(UnaryOp::Neg, a) | ExprKind::Cast(a) => self.zero(a),
            // Zero times infinity is no number.
            ExprKind::Binary(BinaryOp::Mul, a, b) if e.ty.is_integer() => {
                self.zero(a) || self.zero(b)
            }
            ExprKind::Binary(BinaryOp::Mul | BinaryOp::Add | BinaryOp::Sub, a, b) => {
                self.zero(a) && self.zero(b)
            }
            _ => false,
        }
    }

    /// The element lies in the zeros behind the array.
    fn padding(&self, place: &Place) -> bool {
        let same = |a: &&Access<'_>| a.place.is_some_and(|p| std::ptr::eq(p, place));
        let Some(a) = self.accesses.iter().find(same) else { return false };
        let (View::Affine { index, .. }, Base::Var(v)) = (&a.view, a.base) else { return false };
        let shape = self.kernel.func().var(v).shape.as_deref().unwrap_or_default();
        a.kind == AccessKind::Read
            && index.len() == shape.len()
            && index.iter().zip(shape).any(|(p, extent)| lies_behind(p, extent, self.round))
    }
}

/// Rounds the loops up, makes the copies, and lets the nest work on them.
fn apply(kernel: &mut Kernel, root: LoopId, plan: &Plan) {
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, root).cloned() else { return };
    let mut whole = Block::new(vec![stmt]);
    let mut rounded: Vec<(Poly, VarId)> = vec![];
    for (count, multiple) in &plan.lengths {
        rounded.push((count.clone(), add_length(kernel, plan, count, *multiple)));
    }
    for (id, round) in &plan.rounds {
        let Some(length) = rounded.iter().find(|(p, _)| *p == round.count).map(|(_, v)| *v) else {
            continue;
        };
        let value = Expr::var(length, kernel.func().var(length).ty.clone());
        walk::with_loop(&mut whole, *id, &mut |s| {
            if let StmtKind::For(l) = &mut s.kind {
                let ty = l.first.ty.clone();
                l.compare = BinaryOp::Lt;
                l.limit = match l.first.as_const().map(|v| v.as_i64()) {
                    Some(0) => value.clone().cast(ty),
                    _ => Expr::binary(BinaryOp::Add, l.first.clone(), value.clone().cast(ty)),
                };
            }
        });
    }
    let multiples: Vec<(VarId, u32)> = plan
        .lengths
        .iter()
        .zip(&rounded)
        .map(|((_, multiple), (_, var))| (*var, u32::try_from(*multiple).unwrap_or(1)))
        .collect();
    let (mut before, mut after) = (vec![], vec![]);
    for (array, grown) in &plan.arrays {
        let shape = kernel.func().var(*array).shape.clone().unwrap_or_default();
        let uses = copy::uses(&whole, *array, &shape);
        let needed = !set_first(kernel, root, *array, &shape);
        let padded = padded_copy(kernel, *array, grown, &rounded);
        copy::use_copy(kernel, &mut whole, *array, padded);
        let name = kernel.name_of(*array).to_string();
        let large = kernel.func().var(padded).shape.clone().unwrap_or_default();
        let old = Side { array: *array, extents: shape };
        if needed {
            let new = Side { array: padded, extents: large };
            let why = format!("`{name}`, with zeros up to whole tiles");
            let copy = copy::copy_nest(kernel, &new, &old, why);
            // Blocks that the rounded rows fill need no guard.
            if let StmtKind::For(l) = &copy.kind
                && let Some(nest) = kernel.nests.get_mut(&l.id)
            {
                nest.multiples.extend(multiples.iter().copied());
            }
            before.push(copy);
        }
        if uses.writes {
            let part = Side { array: padded, extents: old.extents.clone() };
            after.push(copy::copy_nest(
                kernel,
                &old,
                &part,
                format!("`{name}` without its padding"),
            ));
        }
        if let Some(nest) = kernel.nests.get_mut(&root) {
            nest.stages.iter_mut().filter(|s| s.array == *array).for_each(|s| s.array = padded);
        }
    }
    if let Some(nest) = kernel.nests.get_mut(&root) {
        nest.peel = false;
        nest.multiples.extend(multiples);
    }
    let padded = whole.stmts.remove(0);
    walk::with_loop(&mut kernel.func_mut().body, root, &mut |s| *s = padded.clone());
    copy::put_around(kernel, root, before, after);
}

/// `n_padded`, with an assumption that it fits its type.
fn add_length(kernel: &mut Kernel, plan: &Plan, count: &Poly, multiple: u64) -> VarId {
    let user = plan.rounds.values().find(|r| r.count == *count);
    let ty = user.and_then(|r| kernel.func().var(r.var).ty.scalar()).unwrap_or(Scalar::I32);
    let function = kernel.func();
    let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
    let name = match count.as_atom() {
        Some(Atom::Var(v)) => kernel.name_of(*v).to_string(),
        _ => user.map_or("length".into(), |r| kernel.name_of(r.var).to_string()),
    };
    let length = count.to_expr(ty, &var_type);
    let unit = u32::try_from(multiple).unwrap_or(1);
    let value = pitch::rounded_up(&length, unit);
    kernel.numbers.push(unit);
    let counter = user.map_or("?", |r| kernel.name_of(r.var)).to_string();
    kernel.assume(Assumption::RoundedLoop { counter, unit });
    kernel.add_length(&format!("{name}_padded"), value, format!("whole tiles of {unit}"))
}

/// The larger copy of an array.
fn padded_copy(
    kernel: &mut Kernel,
    array: VarId,
    grown: &[Option<Poly>],
    rounded: &[(Poly, VarId)],
) -> VarId {
    let var = kernel.func().var(array).clone();
    let shape = var.shape.clone().unwrap_or_default();
    let mut extents = vec![];
    for (extent, length) in shape.iter().zip(grown) {
        let found = length.as_ref().and_then(|p| rounded.iter().find(|(q, _)| q == p));
        let ty = extent.ty.scalar().unwrap_or(Scalar::I32);
        let larger = found.and_then(|(count, new)| {
            let more = Poly::var(*new).sub(count)?;
            let function = kernel.func();
            let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
            Some(Poly::from_expr(extent)?.add(&more)?.to_expr(ty, &var_type))
        });
        extents.push(larger.unwrap_or_else(|| extent.clone()));
    }
    let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
    let comment = format!("`{}` in whole tiles", var.name);
    kernel.add_scratch(&format!("{}_padded", var.name), element, extents, comment)
}

/// Every iteration sets its own element before anything reads it, and together the iterations set all elements.
fn set_first(kernel: &Kernel, root: LoopId, array: VarId, shape: &[Expr]) -> bool {
    let Some(nest) = kernel.nests.get(&root) else { return false };
    let Some(l) = kernel.find_loop(root) else { return false };
    let innermost = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id)).unwrap_or(l);
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let accesses = scope.accesses();
    let mut own = accesses.iter().filter(|a| a.base == Base::Var(array));
    let Some(first) = own.next().filter(|a| a.kind == AccessKind::Write) else { return false };
    let Some(place) = first.place else { return false };
    let at_top =
        innermost.body.stmts.iter().any(
            |s| matches!(&s.kind, StmtKind::Assign { place: p, .. } if std::ptr::eq(p, place)),
        );
    let View::Affine { index, .. } = &first.view else { return false };
    let mut counters = vec![];
    let exact = index.len() == shape.len()
        && index.iter().zip(shape).all(|(p, extent)| {
            let Some(Atom::Var(v)) = p.as_atom() else { return false };
            let bound = nest.axes.iter().filter_map(|(id, _)| kernel.find_loop(*id));
            let mut shared = bound.chain(loops::outer_loops(kernel, root, nest));
            let Some(l) = shared.find(|l| l.var == *v) else { return false };
            let from_zero = l.first.as_const().is_some_and(|v| v.as_i64() == 0);
            let whole = count_of(kernel, l).map(|(n, _)| n) == Poly::from_expr(extent);
            let fresh = !counters.contains(v);
            counters.push(*v);
            from_zero && whole && fresh
        });
    at_top && exact && own.all(|a| a.place == Some(place))
}
