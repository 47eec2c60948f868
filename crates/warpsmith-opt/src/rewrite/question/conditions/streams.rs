//! Whether serial loops can be passed row by row with a nest's tiles and copies as they are.

use std::collections::BTreeMap;

use warpsmith_ir::{Block, ForLoop, LoopId, Place, StmtKind, VarId};

use super::reached::reached_by_all;
use super::team::SHARED_NEST;
use crate::analysis::axes::spread;
use crate::analysis::loops::unit_step;
use crate::analysis::rows;
use crate::kernel::{Kernel, Nest, Team};
use crate::refusal::Refusal;
use crate::walk;

/// Whether the streams of a nest can be as its tiles and stages are.
pub(super) fn check(kernel: &Kernel, nest: &Nest) -> Result<(), Refusal> {
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
    let refuse = |why: String| Err(Refusal::of_loop("stream", inner, why));
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
    if !reached_by_all(kernel, &bound.body, nest, inner, false) {
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
