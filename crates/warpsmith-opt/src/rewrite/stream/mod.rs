//! Streams what a serial loop reads through registers: rows that several of a thread's iterations share are read once.
//!
//! ```text
//!     for ty in 0..TY { for dy in 0..3 { sum[ty] += f[dy] * u_shared[y_thread + ty + dy] } }
//!       ==> stream dy along y
//!     for row in 0..TY + 2 {
//!         u_row = u_shared[y_thread + row]
//!         for ty in 0..TY { dy = row - ty;   if (0 <= dy < 3) { sum[ty] += f[dy] * u_row } }
//!     }
//! ```
//!
//! A thread's iterations of the bound loop become neighbours, so that iteration `ty` reads at `dy` what iteration
//! `ty + 1` reads at `dy - 1`. Going through the rows (`a·ty + b·dy` where a subscript is `a·y + b·dy`) instead of
//! through `dy` brings these reads together. Everything is unrolled: the condition costs nothing, and what a row holds
//! of a staged array is read into registers first, in vectors where they are aligned. This is how direct convolutions
//! and long stencils come to be limited by arithmetic.
//!
//! Legal where a thread has several iterations of the bound loop; the serial loop counts up by one through a constant
//! range, is run by all threads alike and is not cut into strips; something in it is read at a constant multiple of both
//! counters; and what it writes belongs to one iteration of the bound loop. Each iteration still goes through the serial
//! loop in order, so that sums are the same to the last bit.

pub(crate) mod streamed;
pub(crate) mod window;

use std::collections::BTreeMap;
use std::fmt;

use warpsmith_ir::{Block, ForLoop, LoopId, Place, SourceMap, StmtKind, VarId};

use super::grammar::{name, wanted};
use super::register_tile::{bound_nest, check_tiles};
use super::share::SHARED_NEST;
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, stage};
use crate::analysis::axes::spread;
use crate::analysis::loops::unit_step;
use crate::analysis::rows;
use crate::kernel::{Kernel, Nest, Team};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::preceded;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A serial loop.
    pub inner: String,
    /// A bound loop of which a thread has several iterations.
    pub along: String,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} along {}", self.inner, self.along)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "stream",
        example: "stream dy along y",
        does: "goes through what a serial loop reads row by row, so that a row that several of a thread's iterations share is read once, into registers where its array is staged",
        legal: "a thread has several iterations of the bound loop; the serial loop has a constant range, is run by all threads alike and not cut into strips, something in it is read at a sum of both counters, and what it sets belongs to one iteration",
        law: Law {
            before: "\
void column(int n, int m, const float u[n + 2][m], float v[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            float s = 0.0f;
            for (int dy = 0; dy < 3; dy++)
                s += u[y + dy][x];
            v[y][x] = s;
        }
}
",
            steps: "bind y, x -> y, x block 32x4\nregister_tile y by 4\nstream dy along y",
            after: "\
void column(int n, int m, const float *u, float *v) {
    // a thread computes 4 iterations of `y`
    // 4 neighbours of `y` together
    // rows of `dy` stay in registers along `y`
    // threads of the grid along y, 4 a block
    for (int y = 0; y < n; ++y) {
        // threads of the grid along x, 32 a block
        for (int x = 0; x < m; ++x) {
            float s = 0.0f;
            for (int dy = 0; dy < 3; ++dy) {
                s += u[(size_t)(y + dy) * m + x];
            }
            v[(size_t)y * m + x] = s;
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let inner = name.parse_next(input)?;
        let along = preceded((space1, "along", space1), name)
            .context(wanted("`along` and a bound loop are wanted here"))
            .parse_next(input)?;
        Ok(Args { inner, along })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        let (inner, along) = (loop_named(kernel, &self.inner)?, loop_named(kernel, &self.along)?);
        Ok(apply(check(kernel, inner, along)?))
    }
}

/// The verdict on a `stream`, which alone allows it.
pub struct LegalStream<'k> {
    kernel: &'k Kernel,
    root: LoopId,
    inner: LoopId,
    along: LoopId,
    factor: u32,
}

/// Asks whether the serial loop `inner` can be streamed along a thread's iterations of the bound loop `along`.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, inner: LoopId, along: LoopId) -> Result<LegalStream<'_>, Refusal> {
    let (root, nest) = bound_nest(kernel, along)?;
    check_tiles(kernel, root, nest)?;
    let factor = nest.tiles.get(&along).copied().unwrap_or(1);
    let mut streamed = nest.clone();
    streamed.vectors.insert(along, factor);
    streamed.streams.insert(inner, along);
    stage::check_all(kernel, root, &streamed)?;
    Ok(LegalStream { kernel, root, inner, along, factor })
}

/// Notes the stream; the nest is written out when it is lowered.
pub fn apply(legal: LegalStream<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    if let Some(nest) = kernel.nests.get_mut(&legal.root) {
        nest.vectors.insert(legal.along, legal.factor);
        nest.streams.insert(legal.inner, legal.along);
    }
    Rewritten::same_loops(kernel)
}

/// Whether the streams of a nest can be as its tiles and stages are.
pub(super) fn check_all(kernel: &Kernel, nest: &Nest) -> Result<(), Refusal> {
    for (inner, along) in &nest.streams {
        check_one(kernel, nest, *inner, *along)?;
    }
    Ok(())
}

/// Whether a loop stands in one that threads share.
fn stands_in(kernel: &Kernel, team: &Team, inner: LoopId) -> bool {
    let mut bodies = team.loops.iter().map(|s| kernel.find_loop(s.target).map(|l| &l.body));
    bodies.any(|b| b.is_some_and(|b| walk::find_loop(b, inner).is_some()))
}

fn check_one(kernel: &Kernel, nest: &Nest, inner: LoopId, along: LoopId) -> Result<(), Refusal> {
    let refuse = |why: String| Err(Refusal::LoopRefused { verb: "stream", loop_id: inner, why });
    if nest.team.as_ref().is_some_and(|team| !stands_in(kernel, team, inner)) {
        return refuse(format!("{SHARED_NEST}, and it does not stand in that"));
    }
    let name = kernel.loop_name(along);
    let Some(bound) = nest.axes.last().and_then(|(id, _)| kernel.find_loop(*id)) else {
        return Err(Refusal::NotBound { loop_id: along });
    };
    let Some(l) = walk::find_loop(&bound.body, inner).filter(|_| kernel.runs_in_thread(inner))
    else {
        return refuse(format!("it is no serial loop inside of `{name}`"));
    };
    match (nest.tiles.get(&along), nest.vectors.get(&along)) {
        (Some(factor), Some(width)) if factor == width => {}
        (Some(_), _) => {
            return refuse(format!("a thread's iterations of `{name}` must all be neighbours"));
        }
        (None, _) => {
            return refuse(format!(
                "a thread has one iteration of `{name}`: take `register_tile` first"
            ));
        }
    }
    if nest.streams.iter().any(|(other, _)| *other != inner && nested(l, *other)) {
        return refuse("a loop inside of it is streamed already".into());
    }
    if !unit_step(l) || !l.declares {
        return refuse("it does not count a variable of its own up by one".into());
    }
    if walk::leaves(&l.body).or_else(|| walk::continues(&l.body)).is_some() {
        return refuse("its iterations may end early".into());
    }
    let mut strips = nest.stages.iter().filter_map(|s| s.strip);
    if strips.any(|(id, _)| id == inner || nested(l, id)) {
        return refuse("an array is staged in strips of it or of a loop inside of it".into());
    }
    if !stage::reached_by_all(kernel, &bound.body, nest, inner, false) {
        return refuse("not all threads of a block run it alike".into());
    }
    let Some(rows) = rows::of(kernel, inner, along) else {
        return refuse(format!(
            "nothing in it is read at a constant multiple of its counter and that of `{name}`, or it has more than {} iterations",
            rows::MOST
        ));
    };
    let factor = i128::from(nest.tiles.get(&along).copied().unwrap_or(1));
    if rows.number(factor) > 2 * rows::MOST {
        return refuse(format!("it passes {} rows, too many to unroll", rows.number(factor)));
    }
    match shared_variable(kernel, &bound.body, l, along) {
        Some(var) => refuse(format!(
            "it sets `{}`, which is the same for all iterations of `{name}`",
            kernel.name_of(var)
        )),
        None => Ok(()),
    }
}

fn nested(l: &ForLoop, id: LoopId) -> bool {
    walk::find_loop(&l.body, id).is_some()
}

/// A variable from outside the loop that the loop sets and that does not depend on the bound counter: going through the
/// rows would set it once for each of the thread's iterations.
fn shared_variable(kernel: &Kernel, body: &Block, l: &ForLoop, along: LoopId) -> Option<VarId> {
    let counter = kernel.find_loop(along)?.var;
    let mut depends = BTreeMap::from([(counter, 1)]);
    spread(body, &mut depends);
    let mut declared = vec![];
    let mut set = vec![];
    walk::each_stmt(&l.body, &mut |s| {
        match &s.kind {
            StmtKind::Decl { var, .. } => declared.push(*var),
            StmtKind::For(inner) if inner.declares => declared.push(inner.var),
            StmtKind::For(inner) => set.push(inner.var),
            _ => {}
        }
        let o = walk::operands(s);
        set.extend(o.results.iter().copied());
        set.extend(o.writes.and_then(Place::root_var));
    });
    set.into_iter().find(|v| !declared.contains(v) && !depends.contains_key(v))
}
