//! `--show-steps`: what each step of a schedule makes of the function, as C-like text.
//!
//! A step that is an edit of the function shows in its lines; loops that are bound say to what. What a step notes for the
//! nest as a whole stands in a comment above it.

use warpsmith_ir::visit::map_stmts;
use warpsmith_ir::{Axis, BindLevel, Binding, LoopId, LoopKind, SourceMap, Stmt, StmtKind};
use warpsmith_opt::kernel::{Kernel, Nest};
use warpsmith_opt::{Schedule, schedule};

use crate::ladder::diff;

/// The function after a step.
#[derive(Clone, Debug)]
pub struct Shown {
    pub step: String,
    /// Lines that the step added begin with `+`, those that it removed with `-`.
    pub text: String,
}

/// All steps of a schedule, from the function as it is.
pub fn show(kernel: &Kernel, steps: &Schedule, sources: &SourceMap) -> Vec<Shown> {
    let mut before = text(kernel);
    let mut shown =
        vec![Shown { step: "the function".into(), text: diff::marked(&before, &before) }];
    let mut kernel = kernel.clone();
    for step in &steps.steps {
        let Ok(next) = schedule::advance(&kernel, &step.kind, sources) else { break };
        let after = text(&next);
        shown.push(Shown { step: step.kind.to_string(), text: diff::marked(&before, &after) });
        (before, kernel) = (after, next);
    }
    shown
}

/// The function with what is decided about its loops in comments.
fn text(kernel: &Kernel) -> String {
    let mut module = kernel.module.clone();
    let function = &mut module.functions[kernel.function.0 as usize];
    map_stmts(&mut function.body, &mut |stmt| comment(kernel, stmt));
    warpsmith_emit::module_file(&module).unwrap_or_else(|why| format!("{why}\n"))
}

/// Says in comments what a loop is bound to, and what holds for the nest that it begins.
fn comment(kernel: &Kernel, stmt: &mut Stmt) {
    let StmtKind::For(l) = &mut stmt.kind else { return };
    let mut lines = kernel.nests.get(&l.id).map_or(vec![], |nest| notes(kernel, nest));
    match &l.kind {
        LoopKind::Parallel(_) => lines.push("parallel".into()),
        LoopKind::Bound(b) => lines.push(bound(b)),
        _ => return,
    }
    l.kind = LoopKind::Serial;
    stmt.comment.extend(lines);
}

fn bound(b: &Binding) -> String {
    let axis = b.axis.name();
    let threads = b.extent.map_or(String::new(), |n| format!(", {n} a block"));
    match b.level {
        BindLevel::Grid => format!("blocks along {axis}"),
        BindLevel::Block => format!("threads of the block along {axis}"),
        BindLevel::Thread => format!("threads of the grid along {axis}{threads}"),
        BindLevel::Warp => format!("warps along {axis}"),
        BindLevel::Lane => format!("lanes along {axis}"),
    }
}

/// What is noted for a nest.
fn notes(kernel: &Kernel, nest: &Nest) -> Vec<String> {
    let name = |id: &LoopId| format!("`{}`", kernel.loop_name(*id));
    let array = |v| format!("`{}`", kernel.name_of(v));
    let mut lines = vec![];
    if let Some(shape) = nest.reduce {
        lines.push(format!(
            "{} blocks of {} threads combine their values",
            shape.blocks(),
            shape.threads()
        ));
    }
    lines.extend(
        nest.tiles.iter().map(|(l, n)| format!("a thread computes {n} iterations of {}", name(l))),
    );
    lines.extend(
        nest.vectors.iter().map(|(l, n)| format!("{n} neighbours of {} together", name(l))),
    );
    lines.extend(
        nest.aligned
            .iter()
            .map(|(l, n)| format!("blocks of {} begin at multiples of {n}", name(l))),
    );
    if let Some(lanes) = nest.lanes {
        let along = Axis::ALL.iter().zip(lanes).map(|(a, n)| format!("{n} along {}", a.name()));
        lines.push(format!("lanes of a warp: {}", along.collect::<Vec<_>>().join(", ")));
    }
    if let Some(team) = &nest.team {
        let loops: Vec<String> = team.loops.iter().map(|s| name(&s.target)).collect();
        lines.push(format!(
            "{} threads along {} have the iterations of {} among themselves",
            team.threads,
            team.axis.name(),
            loops.join(", ")
        ));
    }
    for stage in &nest.stages {
        let strips = match stage.strip {
            Some((l, n)) => format!(" in strips of {n} iterations of {}", name(&l)),
            None => String::new(),
        };
        lines.push(format!("{} goes through shared memory{strips}", array(stage.array)));
    }
    lines.extend(
        nest.pipelines.iter().map(|(l, n)| format!("{n} strips of {} in shared memory", name(l))),
    );
    let buffered = nest.double_buffers.iter();
    lines.extend(buffered.map(|l| format!("{} reads ahead into registers", name(l))));
    let streams = nest.streams.iter();
    lines.extend(
        streams.map(|(l, along)| {
            format!("rows of {} stay in registers along {}", name(l), name(along))
        }),
    );
    if nest.raster > 1 {
        lines.push(format!("blocks run in groups of {} rows", nest.raster));
    }
    if nest.peel {
        lines.push("blocks whose iterations all exist run without conditions".into());
    }
    lines
}
