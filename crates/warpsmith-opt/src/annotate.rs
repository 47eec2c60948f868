//! The function as people read it: what is decided about its loops, and what threads do together, as comments of statements
//! that C has.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::visit::map_stmts;
use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Binding, Block, Collective, Combine, DimOrder, Expr, ExprKind, Fill,
    ForLoop, Layout, LoopId, LoopKind, Module, Origin, Scalar, Stmt, StmtKind, Value, VarId,
};

use crate::kernel::{Kernel, Nest, Order, Stage};
use crate::refusal::clause_name;
use crate::walk;

/// The module, whose function has what is decided about its loops in comments. Collective statements are written as the
/// loops that they stand for.
pub fn annotated(kernel: &Kernel) -> Module {
    let mut module = kernel.module.clone();
    let function = &mut module.functions[kernel.function.0 as usize];
    map_stmts(&mut function.body, &mut |stmt| comment(kernel, stmt));
    collectives(kernel, &mut function.body);
    module
}

/// Says in comments what a loop is bound to, and what holds for the nest that it begins.
fn comment(kernel: &Kernel, stmt: &mut Stmt) {
    let StmtKind::For(l) = &mut stmt.kind else { return };
    let mut lines = kernel.nests.get(&l.id).map_or(vec![], |nest| notes(kernel, nest));
    match &l.kind {
        LoopKind::Parallel(_) => lines.push("parallel".into()),
        LoopKind::Bound(b) => lines.push(bound(b)),
        LoopKind::Vector => lines.push("a statement for all iterations, then the next".into()),
        LoopKind::Serial | LoopKind::Unrolled(_) => return,
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

/// Puts C in place of collective statements.
fn collectives(kernel: &Kernel, block: &mut Block) {
    let mut pending = vec![];
    for mut stmt in std::mem::take(&mut block.stmts) {
        walk::blocks_mut(&mut stmt).into_iter().for_each(|b| collectives(kernel, b));
        match &stmt.kind {
            StmtKind::Collective(Collective::Combine(combine)) => {
                pending.append(&mut stmt.comment);
                pending.push(combination(kernel, combine));
                continue;
            }
            StmtKind::Collective(Collective::Fill(fill)) => {
                stmt.comment.push(moved(fill));
                stmt.kind = elementwise(kernel, fill);
            }
            _ => {}
        }
        stmt.comment.splice(0..0, pending.drain(..));
        block.stmts.push(stmt);
    }
    if !pending.is_empty() {
        let end = Stmt::new(StmtKind::Scope(Block::default()), Origin::default());
        block.stmts.push(Stmt { comment: pending, ..end });
    }
}

fn combination(kernel: &Kernel, combine: &Combine) -> String {
    let name = |v| format!("`{}`", kernel.name_of(v));
    let along = |(level, axis): &(BindLevel, Axis)| {
        let who = match level {
            BindLevel::Grid => "blocks",
            BindLevel::Block | BindLevel::Thread => "threads",
            BindLevel::Warp => "warps",
            BindLevel::Lane => "lanes",
        };
        format!("{who} along {}", axis.name())
    };
    let over: Vec<String> = combine.over.iter().map(along).collect();
    let with = combine.at.map_or(String::new(), |at| format!(", with {}", name(at)));
    let op = clause_name(combine.op);
    if let (Some(before), Some(slope)) = (combine.before, combine.slope) {
        let (slope, value) = (kernel.name_of(slope), kernel.name_of(combine.value));
        let over = over.join(" and ");
        return format!(
            "{}: what the maps `x -> {slope} * x + {value}` of the {over} before make of it, one after the other; `{slope}` and `{value}`: the map of all",
            name(before)
        );
    }
    if let Some(before) = combine.before {
        return format!(
            "{}: the values of the {} before combined by `{op}`; {}: those of all",
            name(before),
            over.join(" and "),
            name(combine.value)
        );
    }
    format!("{} of all {}{with}: combined by `{op}`", name(combine.value), over.join(" and "))
}

fn moved(fill: &Fill) -> String {
    let width = match fill.vector {
        0 | 1 => String::new(),
        n => format!(", {n} at a time"),
    };
    let later = if fill.asynchronous { ", asynchronously" } else { "" };
    format!("by all threads of the block together{width}{later}")
}

/// The loops over the elements of a box.
fn elementwise(kernel: &Kernel, fill: &Fill) -> StmtKind {
    let ty = fill.destination.ty.clone();
    let value = match &fill.within {
        Some(within) => {
            let zero = ty.scalar().map_or(Value::int(Scalar::I32, 0), |s| Value::int(s, 0));
            let kind = ExprKind::Select(within.clone(), fill.source.clone(), Expr::constant(zero));
            Expr::new(kind, ty, Origin::default())
        }
        None => fill.source.clone(),
    };
    let store = StmtKind::Assign { place: fill.destination.clone(), value };
    fill.counters.iter().rev().fold(store, |inner, (var, count)| {
        let ty = kernel.func().var(*var).ty.scalar().unwrap_or(Scalar::I32);
        StmtKind::For(ForLoop {
            id: LoopId(u32::MAX),
            var: *var,
            declares: true,
            first: Expr::int(ty, 0),
            compare: BinaryOp::Lt,
            limit: Expr::int(ty, i64::from(*count)),
            step: Expr::int(ty, 1),
            kind: LoopKind::Serial,
            body: Block::new(vec![Stmt::new(inner, Origin::default())]),
        })
    })
}

/// What is noted for a nest.
fn notes(kernel: &Kernel, nest: &Nest) -> Vec<String> {
    let name = |id: &LoopId| format!("`{}`", kernel.loop_name(*id));
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
    lines.extend(copies(kernel, nest));
    lines.extend(way_of_blocks(nest));
    lines
}

/// What is noted of arrays that threads have nearer than global memory.
fn copies(kernel: &Kernel, nest: &Nest) -> Vec<String> {
    let name = |id: &LoopId| format!("`{}`", kernel.loop_name(*id));
    let mut lines: Vec<String> = nest.stages.iter().map(|stage| staged(kernel, stage)).collect();
    let constants = kernel.constants.iter().filter(|v| reads(kernel, nest, **v));
    lines.extend(constants.map(|v| format!("`{}` is in constant memory", kernel.name_of(*v))));
    let cut = || nest.stages.iter().filter_map(|s| Some((s.strip?.0, s)));
    let piped: BTreeMap<LoopId, u32> =
        cut().filter(|(_, s)| s.slots > 1).map(|(l, s)| (l, s.slots)).collect();
    lines.extend(piped.iter().map(|(l, n)| format!("{n} strips of {} in shared memory", name(l))));
    let buffered: BTreeSet<LoopId> = cut().filter(|(_, s)| s.ahead).map(|(l, _)| l).collect();
    lines.extend(buffered.iter().map(|l| format!("{} reads ahead into registers", name(l))));
    let streams = nest.streams.iter();
    lines.extend(
        streams.map(|(l, along)| {
            format!("rows of {} stay in registers along {}", name(l), name(along))
        }),
    );
    lines
}

/// What is noted of how blocks go through a nest.
fn way_of_blocks(nest: &Nest) -> Vec<String> {
    let mut lines = vec![];
    match nest.order {
        Order::Rows => {}
        Order::Groups(n) => lines.push(format!("blocks run in groups of {n} rows")),
        Order::Strides => lines.push("threads along x go on in strides of the grid".into()),
    }
    if let Some(blocks) = nest.resident {
        lines.push(format!(
            "{blocks} blocks at most, each of which goes over several tiles in strides of the grid"
        ));
    }
    if nest.peel {
        lines.push("blocks whose iterations all exist run without conditions".into());
    }
    lines
}

/// How an array goes through shared memory.
fn staged(kernel: &Kernel, stage: &Stage) -> String {
    let mut text = format!("`{}` goes through shared memory", kernel.name_of(stage.array));
    if let Some((l, n)) = stage.strip {
        text += &format!(" in strips of {n} iterations of `{}`", kernel.loop_name(l));
    }
    let Layout { pad, order, swizzled } = stage.layout;
    let counted = |n: u32, what: &str| (n > 0).then(|| format!("{what} {n}"));
    let said = |yes: bool, what: &str| yes.then(|| what.to_string());
    let more = [
        said(order == DimOrder::Transposed, "transposed"),
        said(order == DimOrder::Turned, "with the first dimension last"),
        counted(pad, "rows padded by"),
        said(swizzled, "columns permuted from row to row"),
        counted(stage.vector.saturating_sub(1).min(1) * stage.vector, "in vectors of"),
        said(stage.asynchronous, "asynchronously"),
    ];
    more.into_iter().flatten().fold(text, |text, more| format!("{text}, {more}"))
}

/// Whether a nest mentions a variable.
fn reads(kernel: &Kernel, nest: &Nest, var: VarId) -> bool {
    let root = nest.axes.first().and_then(|(id, _)| kernel.find_loop(*id));
    let mut found = false;
    if let Some(root) = root {
        walk::each_var_of_block(&root.body, &mut |v| found |= v == var);
    }
    found
}
