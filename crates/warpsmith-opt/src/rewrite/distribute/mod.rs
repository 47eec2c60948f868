//! Makes loops of their own of the parts of a loop's body.
//!
//! ```text
//!     parallel for i in I { S(i); for j in J(i) { T(i, j) } }
//!       ==> distribute i
//!     parallel for i in I { S(i) };  parallel for i in I { for j in J(i) { T(i, j) } }
//! ```
//!
//! Of a marked loop each loop directly in the body becomes a part, and so do the statements between two of them. A nest that
//! had something beside its inner loop, as a correlation sets its diagonal, can then have both loops on axes, be tiled and
//! staged. Of a serial loop each statement is a part: a product can be taken apart from what is combined of its results. What an iteration stores
//! is read there by later parts, where that takes them apart.
//!
//! A declaration of what any part can compute goes to each that uses it. A number that one part of the body sets
//! and later ones read is kept in the workspace, an element for each iteration, and so are arrays that an iteration has
//! for itself. Parts that share other variables stay together. Declarations in front of a part's loop go into it where it is
//! around others: it can then have an axis.
//!
//! What iterations reduce belongs to the one part that adds to it.
//!
//! Legal for a marked loop that is not bound, whose bounds the launcher knows, with iterations that are proved independent
//! and do not end early; for a serial loop whose iterations are independent but for sums that nothing looks at.

mod left;
mod parts;
mod stored;
mod sunk;

use warpsmith_ir::{Block, ForLoop, LoopId, LoopKind, Scalar, Stmt, StmtKind, Var, VarId, visit};

use self::left::Left;
use self::parts::Parts;
use super::edit::copy;
use super::question::independence;
use super::step::{About, Law, LoopArgs, OfLoop};
use super::{Rewritten, share};
use crate::analysis::loops::{bounds_independent, unit_step};
use crate::kernel::{Kernel, is_marked};
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: a marked loop, or a serial one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "distribute",
        example: "distribute i",
        does: "makes loops of their own of the loops in a parallel loop's body and of what stands between them, so that a nest with something beside its inner loop (the diagonal of a correlation) can have both loops on axes; what one of them leaves to another is kept in the workspace. Of a serial loop it makes one for each statement",
        legal: "the loop is not bound, its iterations do not end early, the launcher knows its bounds, and they are proved independent; a serial loop may have sums besides",
        law: Law {
            before: "\
void diagonal(int n, const float u[n], float A[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        A[i][i] = 1.0f;
        for (int j = 0; j < i; j++)
            A[i][j] = u[j];
    }
}
",
            steps: "distribute i",
            after: "\
void diagonal(int n, const float *u, float *A) {
    // parallel
    for (int i = 0; i < n; ++i) {
        A[(size_t)i * n + i] = 1.0f;
    }

    // parallel
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            A[(size_t)i * n + j] = u[j];
        }
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `distribute`, which alone allows it.
pub struct LegalDistribute<'k> {
    kernel: &'k Kernel,
    target: &'k ForLoop,
    parts: Parts,
    /// Marked loops around the target, and the target: what is left has an element for each of their iterations.
    around: Vec<ForLoop>,
}

fn refused<T>(loop_id: LoopId, why: &str) -> Result<T, Refusal> {
    Err(Refusal::of_loop("distribute", loop_id, why))
}

/// Asks whether the parts of a loop's body can have loops of their own.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalDistribute<'_>, Refusal> {
    let serial = |l: &&ForLoop| matches!(l.kind, LoopKind::Serial) && unit_step(l);
    let Some(l) = kernel.find_loop(target).filter(|l| is_marked(l) || serial(l)) else {
        return refused(target, "it is neither a marked nor a serial loop that counts by one");
    };
    if kernel.loops_around(target).iter().chain([&l]).any(|l| kernel.nests.contains_key(&l.id)) {
        return refused(target, "its nest is bound already");
    }
    let body = &l.body;
    if walk::leaves(body).or(walk::continues(body)).or(walk::returns(body)).is_some() {
        return refused(target, "an iteration may end early");
    }
    let (group, _) = independence::group_of(kernel, target);
    let around = around(kernel, &group, l);
    let parts = parts::of(l, &|v| kernel.func().var(v).ty.clone(), !around.is_empty());
    if parts.parts.len() < 2 {
        return match parts.kept_by {
            Some(v) => {
                let name = kernel.name_of(v);
                refused(target, &format!("the parts of its body share `{name}`"))
            }
            None => refused(target, "nothing stands beside the loop in its body"),
        };
    }
    if let LoopKind::Parallel(clauses) = &l.kind {
        let parts = |v: VarId| {
            { parts.parts.iter() }
                .filter(|p| walk::times_mentioned(&Block::new(p.to_vec()), v) > 0)
                .count()
        };
        if let Some(r) = clauses.reductions.iter().find(|r| parts(r.var) > 1) {
            let name = kernel.name_of(r.var);
            return refused(target, &format!("several parts of its body add to `{name}`"));
        }
    }
    match is_marked(l) {
        true => check_marked(kernel, l, &group)?,
        false => share::sums_of(kernel, l)
            .and_then(|sums| share::check_iterations(kernel, l, &sums))
            .map_err(|why| why.instead_of(share::VERB, "distribute"))?,
    }
    Ok(LegalDistribute { kernel, target: l, parts, around })
}

fn check_marked(kernel: &Kernel, l: &ForLoop, group: &[LoopId]) -> Result<(), Refusal> {
    if ![&l.first, &l.limit, &l.step].iter().all(|e| kernel.known_at_start(e)) {
        return refused(l.id, "the launcher does not know its bounds when it starts");
    }
    let (_, clauses) = independence::group_of(kernel, l.id);
    if !clauses.first_private.is_empty() || !clauses.last_private.is_empty() {
        return refused(l.id, "its clauses carry values");
    }
    match independence::check(kernel, l.id, group, &clauses)?.proved() {
        true => Ok(()),
        false => refused(l.id, "its iterations are not proved independent"),
    }
}

/// The marked loops from the outermost one down to a loop, where the launcher knows how many iterations each has; else none.
fn around(kernel: &Kernel, group: &[LoopId], l: &ForLoop) -> Vec<ForLoop> {
    let outside = kernel.loops_around(l.id).into_iter().skip_while(|o| !is_marked(o));
    let found: Vec<&ForLoop> = outside.chain([l]).collect();
    // Other loops between them would run in several threads at a time, all with the same elements.
    if !found.iter().all(|o| is_marked(o) || group.contains(&o.id) || o.id == l.id) {
        return vec![];
    }
    let counted = |l: &&ForLoop| {
        let known = [&l.first, &l.limit].into_iter().all(|e| kernel.known_at_start(e));
        // Of other unsigned ones it is not proved that iterations have elements of their own.
        let signed = kernel.func().var(l.var).ty.scalar().is_some_and(Scalar::is_signed);
        let known = known && (signed || l.first.as_const().is_some_and(|v| v.as_i64() == 0));
        let others = found.iter().filter(|o| o.id != l.id);
        unit_step(l) && known && { others }.all(|o| bounds_independent(kernel, l.id, o.id))
    };
    match found.len() > 1 || is_marked(l) {
        true if found.iter().all(counted) => found.into_iter().cloned().collect(),
        _ => vec![],
    }
}

/// Puts the loops over the parts in place of the one over all.
pub fn apply(legal: LegalDistribute<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, legal.target.id).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    let of = |kernel: &mut Kernel, vars: &[VarId]| -> Vec<Left> {
        vars.iter().map(|v| Left::of(kernel, &legal.around, *v)).collect()
    };
    let numbers = of(&mut kernel, &legal.parts.left);
    let arrays = of(&mut kernel, &legal.parts.arrays);
    let mut loops = vec![];
    for (at, part) in legal.parts.parts.into_iter().enumerate() {
        let mut body = Block::new(part);
        arrays.iter().for_each(|left| left.move_elements(&kernel, &mut body));
        numbers.iter().for_each(|left| left.keep(&mut kernel, &mut body));
        repeat(&mut kernel, &legal.parts.repeated, &mut body);
        sunk::into_loops(&mut body);
        if !body.stmts.is_empty() {
            loops.push(part_loop(&mut kernel, legal.target, &stmt, (at, body)));
        }
    }
    copy::replace_loop(&mut kernel, legal.target.id, loops);
    Rewritten::same_loops(kernel)
}

/// Declares in a part what it uses of what any part can compute.
fn repeat(kernel: &mut Kernel, repeated: &[Stmt], part: &mut Block) {
    for stmt in repeated.iter().rev() {
        let StmtKind::Decl { var, .. } = stmt.kind else { continue };
        if walk::times_mentioned(part, var) > 0 {
            left::declare(part, stmt.clone(), var);
            let own = kernel.func().var(var).clone();
            let own = kernel.func_mut().add_var(own);
            visit::rename_vars(part, &mut |v| if v == var { own } else { v });
        }
    }
}

/// The loop over one part; the first one keeps the counter and the name.
fn part_loop(
    kernel: &mut Kernel,
    target: &ForLoop,
    stmt: &Stmt,
    (at, body): (usize, Block),
) -> Stmt {
    let mut l = ForLoop { body, ..target.clone() };
    if let LoopKind::Parallel(clauses) = &mut l.kind {
        clauses.reductions.retain(|r| walk::times_mentioned(&l.body, r.var) > 0);
    }
    if at > 0 && l.declares {
        let var = Var { ..kernel.func().var(l.var).clone() };
        let (old, new) = (l.var, kernel.func_mut().add_var(var));
        visit::rename_vars(&mut l.body, &mut |v| if v == old { new } else { v });
        l.var = new;
    }
    let comment = if at == 0 { stmt.comment.clone() } else { vec![] };
    let origin = stmt.origin.by("distribute");
    let mut looped = Block::new(vec![Stmt { kind: StmtKind::For(l), origin, comment }]);
    if at > 0 {
        let new = kernel.func_mut().fresh_loop();
        visit::rename_loops(&mut looped, &[(target.id, new)]);
    }
    looped.stmts.remove(0)
}
