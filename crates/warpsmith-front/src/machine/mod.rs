//! Functions as state machines: what structured statements and calls in place cannot say.
//!
//! A `goto` and a function of the device that calls itself are both taken apart into pieces of straight text
//! (`segments`), one of which runs next: `while (state != done) switch (state) { … }`. Calls among functions that call
//! each other become steps to the first piece of the callee; what a call must keep lies in an array with one element for
//! each level (`frames`), as on the stack of a thread.
//!
//! Statements that hold neither jumps nor such calls stay as they are, inside of their piece.

mod frames;
mod segments;

use std::collections::{BTreeSet, HashMap};

use warpsmith_ir::visit::{for_each_stmt, map_stmts};
use warpsmith_ir::{
    BinaryOp, Block, Expr, FuncId, Function, FunctionKind, LoopCondition, Module, Place, PlaceKind,
    Scalar, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use segments::{Member, Segments};

/// Until a function is complete, its jumps and labels are calls of functions that no module has.
const JUMPS: u32 = 0x8000_0000;
const LABELS: u32 = 0xc000_0000;

/// `goto` to the label of that number.
pub(crate) fn jump(label: u32) -> StmtKind {
    StmtKind::Call { function: FuncId(JUMPS | label), args: vec![], result: None }
}

/// The place that jumps to the number go to.
pub(crate) fn label(label: u32) -> StmtKind {
    StmtKind::Call { function: FuncId(LABELS | label), args: vec![], result: None }
}

/// What a statement is to a machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mark {
    Jump(u32),
    Label(u32),
}

pub(crate) fn mark(kind: &StmtKind) -> Option<Mark> {
    match kind {
        StmtKind::Call { function: FuncId(n), .. } if *n >= LABELS => {
            Some(Mark::Label(n & !LABELS))
        }
        StmtKind::Call { function: FuncId(n), .. } if *n >= JUMPS => Some(Mark::Jump(n & !JUMPS)),
        _ => None,
    }
}

/// Gives a function whose jumps are marked its structured form.
pub(crate) fn without_jumps(function: &mut Function) {
    returns_for_jumps_to_the_end(function);
    let mut jumps = false;
    for_each_stmt(&function.body, &mut |s| jumps |= matches!(mark(&s.kind), Some(Mark::Jump(_))));
    if jumps {
        let own = Member { id: FuncId(u32::MAX), function: function.clone() };
        *function = machine(&own, std::slice::from_ref(&own), None);
        return;
    }
    let empty = StmtKind::Scope(Block::default());
    map_stmts(&mut function.body, &mut |s| {
        if mark(&s.kind).is_some() {
            s.kind = empty.clone();
        }
    });
}

/// A jump to a label behind which nothing is done ends the function: threads that have gone there do not hold up others.
fn returns_for_jumps_to_the_end(function: &mut Function) {
    if function.ret != Type::Void {
        return;
    }
    let mut last = BTreeSet::new();
    for s in function.body.stmts.iter().rev() {
        match (mark(&s.kind), &s.kind) {
            (Some(Mark::Label(number)), _) => {
                last.insert(number);
            }
            (None, StmtKind::Return(None)) => {}
            (None, StmtKind::Scope(b)) if b.stmts.is_empty() => {}
            _ => break,
        }
    }
    map_stmts(&mut function.body, &mut |s| match mark(&s.kind) {
        Some(Mark::Jump(to)) if last.contains(&to) => s.kind = StmtKind::Return(None),
        _ => {}
    });
}

/// Bytes of a thread's stack for the calls of one recursive function, and the levels that there are at least and at most.
const STACK: u64 = 16 << 10;
const LEVELS: (u64, u64) = (24, 512);

/// Puts machines in the place of functions of the device that call themselves, directly or through others.
///
/// # Errors
/// Names a function that cannot be one: it, or one it calls, has shared variables of its own.
pub(crate) fn without_recursion(module: &mut Module) -> Result<(), FuncId> {
    let groups = groups(module);
    let mut made = vec![];
    for group in &groups {
        let members: Vec<Member> = group
            .iter()
            .map(|id| Member { id: *id, function: module.function(*id).clone() })
            .collect();
        if let Some(m) = members.iter().find(|m| m.has_shared()) {
            return Err(m.id);
        }
        for entry in &members {
            made.push((entry.id, machine(entry, &members, Some(module))));
        }
    }
    for (id, function) in made {
        module.functions[id.0 as usize] = function;
    }
    Ok(())
}

/// The functions of the device that call themselves, those that call each other together.
fn groups(module: &Module) -> Vec<Vec<FuncId>> {
    let callees: Vec<BTreeSet<u32>> = module.functions.iter().map(callees).collect();
    let on_device = |at: &usize| module.functions[*at].kind == FunctionKind::Device;
    let reached: Vec<BTreeSet<u32>> = (0..callees.len())
        .map(|start| if on_device(&start) { reached(&callees, start) } else { BTreeSet::new() })
        .collect();
    let mut groups = vec![];
    let mut done: BTreeSet<u32> = BTreeSet::new();
    for at in 0..module.functions.len() {
        let id = at as u32;
        if !reached[at].contains(&id) || done.contains(&id) {
            continue;
        }
        let together = |other: &u32| reached.get(*other as usize).is_some_and(|r| r.contains(&id));
        let group: Vec<u32> = reached[at].iter().copied().filter(together).collect();
        done.extend(&group);
        groups.push(group.into_iter().map(FuncId).collect());
    }
    groups
}

fn callees(function: &Function) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    for_each_stmt(&function.body, &mut |s| {
        if let StmtKind::Call { function, .. } = &s.kind {
            all.insert(function.0);
        }
    });
    all
}

fn reached(callees: &[BTreeSet<u32>], start: usize) -> BTreeSet<u32> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start as u32];
    while let Some(at) = open.pop() {
        for next in callees.get(at as usize).into_iter().flatten() {
            if seen.insert(*next) {
                open.push(*next);
            }
        }
    }
    seen
}

/// A function that begins as `entry` and does what `members` do. With a module its calls among them are levels of a
/// stack; without one there are none.
fn machine(entry: &Member, members: &[Member], stack: Option<&Module>) -> Function {
    let made = Segments::new(entry, members, stack.is_some());
    let first = made.entries[&entry.id];
    let Segments { mut out, mut segments, state, depth, results, parameters, .. } = made;
    let mut never: Vec<VarId> = results.values().copied().chain([state]).collect();
    never.extend(depth.map(|d| d.level));
    let mut always: Vec<VarId> = vec![];
    if let Some(d) = depth {
        always.extend(parameters.values().flatten().copied().chain([d.back]));
    }
    let kept = frames::kept(&out, &segments, &always, &never);
    let levels = stack.map_or(1, |module| frames::levels(module, &out, &kept, STACK, LEVELS));
    let mut start = vec![declared(&out, state, Some(Expr::int(Scalar::U32, first.into())))];
    start.extend(results.values().map(|v| declared(&out, *v, None)));
    if let Some(d) = depth {
        start.push(declared(&out, d.level, Some(Expr::i32(0))));
        segments::bound_depth(&mut segments, d.level, levels);
    }
    let level = depth.map(|d| (d.level, levels));
    start.extend(frames::place(&mut out, &mut segments, &kept, level, &entry.function.params));
    start.push(running(&mut out, state, segments));
    if let Some(result) = results.get(&entry.id) {
        let value = Expr::var(*result, out.ret.clone());
        start.push(Stmt::new(StmtKind::Return(Some(value)), out.origin.clone()));
    }
    out.body = Block::new(start);
    out
}

/// The loop over the segments, which ends when none comes next.
fn running(out: &mut Function, state: VarId, segments: Vec<Vec<Stmt>>) -> Stmt {
    let origin = out.origin.clone();
    let selector = Expr::var(state, Type::U32);
    let end = Expr::int(Scalar::U32, i64::from(segments::END));
    let expr = Expr::binary(BinaryOp::Ne, selector.clone(), end);
    let switch = Stmt::new(StmtKind::Switch { selector, cases: cases(segments) }, origin.clone());
    let condition = LoopCondition { before: Block::default(), expr, at_end: false };
    let (id, condition) = (out.fresh_loop(), Some(condition));
    let (body, step) = (Block::new(vec![switch]), Block::default());
    Stmt::new(StmtKind::Loop { id, condition, body, step }, origin.clone())
}

fn declared(function: &Function, var: VarId, init: Option<Expr>) -> Stmt {
    Stmt::new(StmtKind::Decl { var, init }, function.var(var).origin.clone())
}

fn cases(segments: Vec<Vec<Stmt>>) -> Vec<warpsmith_ir::Case> {
    let case = |(number, mut stmts): (usize, Vec<Stmt>)| {
        let origin = stmts.last().map_or(Default::default(), |s| s.origin.clone());
        stmts.push(Stmt::new(StmtKind::Break, origin.clone()));
        warpsmith_ir::Case {
            values: vec![number as i64],
            is_default: false,
            body: Block::new(stmts),
        }
    };
    segments.into_iter().enumerate().map(case).collect()
}

/// `variable = value;`
fn assigned(function: &Function, var: VarId, value: Expr) -> StmtKind {
    let place = Place::var(var, function.var(var).ty.clone());
    StmtKind::Assign { place, value }
}

/// The index of the level that runs, and where each level goes on.
#[derive(Clone, Copy, Debug)]
struct Depth {
    level: VarId,
    back: VarId,
}

/// A new variable of a thread.
fn local(out: &mut Function, name: &str, ty: Type) -> VarId {
    let mut var = Var::new(name, ty, VarKind::Local);
    var.origin = out.origin.clone();
    out.add_var(var)
}

/// `array[level]`.
fn element(out: &Function, array: VarId, level: VarId) -> Place {
    let ty = out.var(array).ty.clone();
    let inner = match &ty {
        Type::Array(inner, _) => (**inner).clone(),
        other => other.clone(),
    };
    let index = Expr::var(level, Type::I32);
    Place::new(PlaceKind::Index(Place::var(array, ty), index), inner, out.origin.clone())
}

/// Numbers of segments by function.
type Entries = HashMap<FuncId, u32>;
