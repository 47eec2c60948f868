//! Shares a serial loop among threads of the block: products of a matrix and a vector, norms of rows, softmax.
//!
//! ```text
//!     i = i_block + threadIdx.y;   s = 0;   for j in 0..m { s += A[i][j] * x[j] }   y[i] = s
//!       ==> share j -> x by 32
//!     i = i_block + threadIdx.y;   s = 0;   for j in threadIdx.x..m step 32 { s += A[i][j] * x[j] }
//!     s = the sum of the 32 threads' s;   if (threadIdx.x == 0) y[i] = s
//! ```
//!
//! The block gets so many threads along an axis that no loop is bound to. All of them compute what stands outside of
//! the loop, one of them what is stored there. Along x, up to 32 threads combine their sums by shuffles, and more of
//! them what their warps have, through shared memory; along y and z all goes through shared memory, and neighbours
//! along x read neighbouring elements of what the loop runs down. Several loops of a nest may be shared by the same
//! threads.
//!
//! Legal for a serial loop of a bound nest that counts up by one and that all threads of a block come to alike. What it
//! changes of variables that live on is only combined by one operation, `+`, `-`, `*`, `&`, `|`, `^`, `&&`, `||`,
//! minimum or maximum (also `if (x > m) m = x`, and `if (x > m) { m = x; at = j; }`, which keeps the first of several), and
//! seen by nothing else in the loop; where it stores, its iterations are proved independent. Arrays may be staged that the
//! nest only reads: of a strip of the loop itself each thread takes its turns. A loop that is streamed stands inside a shared one.
//! Sums and products of reals are reassociated: they are compared with a tolerance.

pub(crate) mod chunks;
mod part;
pub(crate) mod sharing;
mod sums;
pub(crate) mod team;

use std::collections::BTreeSet;
use std::fmt;

use warpsmith_ir::{Axis, Block, ForLoop, LoopId, Place, SourceMap, Stmt, StmtKind, visit};

use super::question::conditions;
use super::question::conditions::{bound_nest, check_tiles_or_updates};
use super::step::grammar::{axis, comma, counted, name, wanted};
use super::step::{About, Law, Rewrite, StepError, loops_named};
use super::{Rewritten, bind};
use crate::analysis::access::{Base, base_of};
use crate::analysis::loops::{unit_step, written_bases};
use crate::analysis::scalars;
use crate::build::threads::WARP;
use crate::kernel::{Kernel, Nest, SharedLoop, Team};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space0;
use winnow::combinator::separated;

pub(super) use part::{joined, own_part, reassociated};
use sums::region_of;
pub(super) use sums::{
    accumulated, check_iterations, check_others, check_truth, seen_before_the_end, sums_of,
};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// Serial loops beside each other.
    pub loops: Vec<String>,
    /// An axis that no loop is bound to.
    pub axis: Axis,
    /// Threads that share the loop.
    pub threads: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} by {}", self.loops.join(", "), self.axis.name(), self.threads)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "share",
        example: "share k -> x by 32",
        does: "gives the iterations of a serial loop to threads of the block along an axis that no loop is bound to: they combine what they summed up by shuffles or through shared memory, and one of them goes on with what is stored; rows are then read side by side",
        legal: "the loop counts up by one, runs under no condition, and its iterations are independent but for variables that each combines something with by one operation; sums of reals are then compared with a tolerance",
        law: Law {
            before: "\
void rows(int n, int m, const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            sum += A[i][j];
        s[i] = sum;
    }
}
",
            steps: "bind i -> y block 1x8\nshare j -> x by 32",
            after: "\
void rows(int n, int m, const float *A, float *s) {
    // 32 threads along x have the iterations of `j` among themselves
    // threads of the grid along y, 8 a block
    for (int i = 0; i < n; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < m; ++j) {
            sum += A[(size_t)i * m + j];
        }
        s[i] = sum;
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let loops: Vec<String> = separated(1.., name, comma()).parse_next(input)?;
        (space0, "->", space0)
            .context(wanted("`->` and the axis of the threads are wanted here"))
            .parse_next(input)?;
        let axis = axis.parse_next(input)?;
        let text = "`by` and the number of threads are wanted here";
        let threads = counted("by", text).parse_next(input)?;
        Ok(Args { loops, axis, threads })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let loops = loops_named(kernel, &self.loops)?;
        Ok(apply(check(kernel, &loops, self.axis, self.threads)?))
    }
}

/// Why a later step must leave a loop alone.
pub(super) const SHARED: &str =
    "threads of the block share its iterations: take this step before `share`";
/// The verdict on a `share`, which alone allows it.
pub struct LegalShare<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    axis: Axis,
    threads: u32,
    shared: Vec<SharedLoop>,
}

/// Asks whether `threads` threads of the block along `axis` can share the iterations of the loops, which are of one
/// nest.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(
    kernel: &'k Kernel,
    targets: &[LoopId],
    axis: Axis,
    threads: u32,
) -> Result<LegalShare<'k>, Refusal> {
    let target = targets.first().copied().unwrap_or(LoopId(u32::MAX));
    if !threads.is_power_of_two() || !(2..=1024).contains(&threads) {
        return refused(target, "the threads must be a power of two, 2 to 1024".into());
    }
    let (root, nest, body) = nest_around(kernel, target)?;
    check_tiles_or_updates(kernel, root, nest)?;
    let mut with = nest.clone();
    let mut shared = vec![];
    for target in targets {
        let Some(l) = walk::find_loop(body, *target) else {
            return refused(*target, "it is not of the same nest".into());
        };
        if !kernel.runs_in_thread(*target) {
            return Err(Refusal::NotSerial { loop_id: *target });
        }
        check_nest(kernel, &with, *target, (axis, threads))?;
        check_loop(kernel, l, nest, body)?;
        let sums = sums_of(kernel, l)?;
        check_iterations(kernel, l, &sums)?;
        let region = region_of(body, *target, &sums);
        check_truth(kernel, *target, region, &sums)?;
        let found = SharedLoop { target: *target, region, sums };
        join(&mut with, axis, threads, found.clone());
        shared.push(found);
    }
    check_memory(kernel, target, &with, body)?;
    conditions::check_room(kernel, target, &with)?;
    conditions::check(kernel, root, &with)?;
    Ok(LegalShare { kernel, root, axis, threads, shared })
}

/// For messages.
pub(super) const VERB: &str = "share";

fn refused<T>(target: LoopId, why: String) -> Result<T, Refusal> {
    Err(Refusal::of_loop(VERB, target, why))
}

/// The bound nest that a serial loop stands in, and the body of its innermost bound loop.
fn nest_around(kernel: &Kernel, target: LoopId) -> Result<(LoopId, &Nest, &Block), Refusal> {
    let around = kernel.loops_around(target);
    let innermost = |n: &Nest| n.axes.last().map(|(id, _)| *id);
    let ends_here = |l: &&&ForLoop| kernel.nests.values().any(|n| innermost(n) == Some(l.id));
    let Some(l) = around.iter().find(ends_here) else {
        return refused(target, "it is not inside a bound nest: take `bind` first".into());
    };
    let (root, nest) = bound_nest(kernel, l.id)?;
    Ok((root, nest, &kernel.find_loop(l.id).unwrap_or(l).body))
}

/// The threads fit beside those of the nest.
fn check_nest(
    kernel: &Kernel,
    nest: &Nest,
    target: LoopId,
    (axis, threads): (Axis, u32),
) -> Result<(), Refusal> {
    let refuse = |why: String| refused(target, why);
    if nest.lanes.is_some() {
        return refuse("the lanes of its nest's warps are laid out: take `warp` after it".into());
    }
    if let Some((id, _)) = nest.axes.iter().find(|(_, a)| *a == axis) {
        let why = format!(
            "axis {} belongs to loop `{}`: bind that to another one",
            axis.name(),
            kernel.loop_name(*id)
        );
        return refuse(why);
    }
    if let Some(team) = &nest.team {
        let own = kernel.find_loop(target).map(|l| &l.body);
        let inside = |id| own.is_some_and(|b| walk::find_loop(b, id).is_some());
        let around: Vec<LoopId> = kernel.loops_around(target).iter().map(|l| l.id).collect();
        for other in &team.loops {
            if other.target == target {
                return refuse("threads share it already".into());
            }
            let nested = inside(other.target)
                || around.contains(&other.target)
                || around.contains(&other.region);
            if nested {
                let name = kernel.loop_name(other.target);
                return refuse(format!("threads share loop `{name}` in the same loops"));
            }
        }
        if (team.axis, team.threads) != (axis, threads) {
            return refuse(format!(
                "another loop of its nest is shared by {} threads along {}",
                team.threads,
                team.axis.name()
            ));
        }
    }
    let mut block = nest.block;
    block[axis.index()] = threads;
    bind::check_block(block)?;
    let all: u32 = block.iter().product();
    match axis == Axis::X && !all.is_multiple_of(WARP) {
        true => refuse(format!("a block would have {all} threads, no whole number of warps")),
        false => Ok(()),
    }
}

/// All threads come to the loop alike, and its iterations can be counted out.
fn check_loop(kernel: &Kernel, l: &ForLoop, nest: &Nest, body: &Block) -> Result<(), Refusal> {
    let refuse = |why: &str| refused(l.id, why.into());
    if !unit_step(l) {
        return refuse("it does not count up by one");
    }
    if walk::leaves(&l.body).is_some() {
        return refuse("it may end early");
    }
    if scalars::counter_outlives(kernel.func(), l) {
        return refuse("its counter is read after it");
    }
    let written = written_bases(body);
    for e in [&l.first, &l.limit] {
        let mut changes = false;
        walk::each_var(e, &mut |v| changes |= v == l.var || walk::writes_var(&l.body, v));
        visit::for_each_place_in_expr(e, &mut |p, _| {
            changes |= p.root_var().is_none() && written.contains(&base_of(p));
        });
        if changes {
            return refuse("its nest may change its bounds");
        }
    }
    match conditions::reached_by_all(kernel, body, nest, l.id, false) {
        true => Ok(()),
        false => refuse("not all threads of a block come to it alike"),
    }
}

/// What is stored outside of shared loops can be left to one thread.
fn check_memory(kernel: &Kernel, target: LoopId, nest: &Nest, body: &Block) -> Result<(), Refusal> {
    let refuse = |why: String| refused(target, why);
    let mut nameless = false;
    visit::for_each_place(body, &mut |p, _| nameless |= base_of(p) == Base::Anything);
    let mut call = false;
    walk::each_stmt(body, &mut |s| {
        call |= matches!(&s.kind, StmtKind::Call { args, .. } if args.iter().any(|a| a.ty.is_pointer()));
    });
    if nameless {
        return refuse("its nest uses a pointer that has no name".into());
    }
    if call {
        return refuse("its nest calls a function that may store something".into());
    }
    let mut left = vec![];
    left_to_one(body, nest, &mut left);
    for stmt in left {
        let alone = Block::new(vec![stmt.clone()]);
        let own = walk::own_variables(&alone);
        let mut set = BTreeSet::new();
        walk::each_stmt(&alone, &mut |s| {
            let o = walk::operands(s);
            set.extend(o.results);
            set.extend(o.writes.and_then(Place::root_var));
        });
        for v in set.difference(&own) {
            if walk::times_mentioned(body, *v) > walk::times_mentioned(&alone, *v) {
                return refuse(format!(
                    "a statement of its nest both stores and sets `{}`, which others use",
                    kernel.name_of(*v)
                ));
            }
        }
    }
    Ok(())
}

/// Statements with others inside that store something, other than shared loops and those around them.
fn left_to_one<'a>(block: &'a Block, nest: &Nest, found: &mut Vec<&'a Stmt>) {
    for stmt in &block.stmts {
        let own = matches!(&stmt.kind, StmtKind::For(l) if nest.shared_loop(l.id).is_some());
        let inner = walk::blocks(stmt);
        if own || inner.is_empty() {
            continue;
        }
        let mut loops = inner.iter().flat_map(|b| walk::for_loops(b));
        let holds = loops.any(|l| nest.shared_loop(l.id).is_some());
        match (&stmt.kind, holds) {
            (StmtKind::Scope(_), _) | (_, true) => {
                inner.into_iter().for_each(|b| left_to_one(b, nest, found));
            }
            _ if inner.iter().any(|b| !written_bases(b).is_empty()) => found.push(stmt),
            _ => {}
        }
    }
}

/// Adds a loop to those that the team shares.
fn join(nest: &mut Nest, axis: Axis, threads: u32, shared: SharedLoop) {
    nest.block[axis.index()] = threads;
    nest.team.get_or_insert(Team { axis, threads, loops: vec![] }).loops.push(shared);
}

/// Lets every thread begin its sums at the identity, and notes the loop; it is written out when the nest is lowered.
pub fn apply(legal: LegalShare<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let innermost = legal.kernel.nests.get(&legal.root).and_then(|n| n.axes.last()).map(|a| a.0);
    for mut shared in legal.shared {
        for sum in &mut shared.sums {
            let l = innermost.and_then(|id| kernel.find_loop(id));
            let written = l.map(|l| reassociated(&kernel, &l.body, sum)).unwrap_or_default();
            kernel.reassociated.extend(written);
            *sum = own_part(&mut kernel, shared.region, *sum);
        }
        if let Some(nest) = kernel.nests.get_mut(&legal.root) {
            join(nest, legal.axis, legal.threads, shared);
        }
    }
    Rewritten::same_loops(kernel)
}
