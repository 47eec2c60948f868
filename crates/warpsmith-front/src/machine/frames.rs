//! Variables of a machine: what must outlive the segment it is set in, and where it lies for each level of calls.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::visit::{
    Access, Rewriter, Visitor, map_stmts, rewrite_place, walk_place, walk_stmt,
};
use warpsmith_ir::{
    Block, Expr, Function, Module, Place, PlaceKind, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use super::{declared, element};

/// The variables that a segment mentions, and those whose address it takes.
#[derive(Default)]
struct Mentions {
    all: HashSet<VarId>,
    addressed: HashSet<VarId>,
}

impl Visitor for Mentions {
    fn place(&mut self, place: &Place, access: Access) {
        if let PlaceKind::Var(v) = &*place.kind {
            self.all.insert(*v);
            if access == Access::Address {
                self.addressed.insert(*v);
            }
        }
        walk_place(self, place, access);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        walk_stmt(self, stmt);
    }

    fn sets(&mut self, var: VarId) {
        self.all.insert(var);
    }
}

/// Variables that several segments mention, or that a pointer may reach from another one, in their order.
pub(super) fn kept(
    out: &Function,
    segments: &[Vec<Stmt>],
    always: &[VarId],
    never: &[VarId],
) -> Vec<VarId> {
    let mut times: HashMap<VarId, u32> = HashMap::new();
    let mut escaping: HashSet<VarId> = always.iter().copied().collect();
    for stmts in segments {
        let mut mentions = Mentions::default();
        stmts.iter().for_each(|s| mentions.stmt(s));
        // What is declared inside a statement of the segment is gone after it.
        let outer = stmts.iter().filter_map(|s| match &s.kind {
            StmtKind::Decl { var, .. } => Some(*var),
            _ => None,
        });
        escaping.extend(outer.filter(|v| mentions.addressed.contains(v)));
        mentions.all.into_iter().for_each(|v| *times.entry(v).or_default() += 1);
    }
    let of_file = |k| matches!(k, VarKind::Shared | VarKind::DynamicShared);
    let all = (0..out.vars.len() as u32).map(VarId);
    let outlives = |v: &VarId| escaping.contains(v) || times.get(v).is_some_and(|n| *n > 1);
    all.filter(|v| outlives(v) && !never.contains(v) && !of_file(out.var(*v).kind)).collect()
}

/// How many levels a stack of so many bytes has.
pub(super) fn levels(
    module: &Module,
    out: &Function,
    kept: &[VarId],
    stack: u64,
    (least, most): (u64, u64),
) -> u64 {
    let bytes: u64 = kept.iter().map(|v| layout_of(module, &out.var(*v).ty).size).sum();
    (stack / bytes.max(1)).clamp(least, most)
}

/// Declares what is kept before all segments, as arrays with an element for each level where there are levels, and
/// lets the segments use that. Gives the declarations.
pub(super) fn place(
    out: &mut Function,
    segments: &mut [Vec<Stmt>],
    kept: &[VarId],
    levels: Option<(VarId, u64)>,
    parameters: &[VarId],
) -> Vec<Stmt> {
    let mut start = vec![];
    let mut slots = HashMap::new();
    for v in kept {
        let Some((_, n)) = levels else {
            if out.var(*v).kind == VarKind::Local {
                out.vars[v.0 as usize].constant = false;
                start.push(declared(out, *v, None));
            }
            continue;
        };
        let var = out.var(*v);
        let mut array = Var::new(&var.name, Type::array(var.ty.clone(), n), VarKind::Local);
        array.origin = var.origin.clone();
        let slot = out.add_var(array);
        slots.insert(*v, slot);
        start.push(declared(out, slot, None));
    }
    let is_local = |v: &VarId| out.var(*v).kind == VarKind::Local || slots.contains_key(v);
    let assigned: HashSet<VarId> = kept.iter().copied().filter(is_local).collect();
    for stmts in segments.iter_mut() {
        let mut block = Block::new(std::mem::take(stmts));
        shared_once(out, &mut block, &mut start);
        map_stmts(&mut block, &mut |s| assign_declared(out, &assigned, s));
        if let Some((level, _)) = levels {
            AtLevel { out, slots: &slots, level }.block(&mut block);
        }
        *stmts = block.stmts;
    }
    if let Some((level, _)) = levels {
        for p in parameters {
            let Some(slot) = slots.get(p) else { continue };
            let value = Expr::var(*p, out.var(*p).ty.clone());
            let place = element(out, *slot, level);
            start.push(Stmt::new(StmtKind::Assign { place, value }, out.origin.clone()));
        }
    }
    start
}

/// Declarations of shared variables stand before all segments.
fn shared_once(out: &Function, block: &mut Block, start: &mut Vec<Stmt>) {
    let shared = |s: &Stmt| match &s.kind {
        StmtKind::Decl { var, .. } => {
            matches!(out.var(*var).kind, VarKind::Shared | VarKind::DynamicShared)
        }
        _ => false,
    };
    let (moved, left) = std::mem::take(&mut block.stmts).into_iter().partition(shared);
    block.stmts = left;
    start.extend::<Vec<Stmt>>(moved);
}

/// What is declared before all segments is only assigned where it was declared.
fn assign_declared(out: &Function, assigned: &HashSet<VarId>, s: &mut Stmt) {
    let StmtKind::Decl { var, init } = &mut s.kind else { return };
    if !assigned.contains(var) {
        return;
    }
    s.kind = match init.take() {
        Some(value) => {
            StmtKind::Assign { place: Place::var(*var, out.var(*var).ty.clone()), value }
        }
        None => StmtKind::Scope(Block::default()),
    };
}

/// Puts the element of the running level in the place of a variable.
struct AtLevel<'a> {
    out: &'a Function,
    slots: &'a HashMap<VarId, VarId>,
    level: VarId,
}

impl Rewriter for AtLevel<'_> {
    fn place(&mut self, place: &mut Place) {
        rewrite_place(self, place);
        if let PlaceKind::Var(v) = &*place.kind
            && let Some(slot) = self.slots.get(v)
        {
            let origin = place.origin.clone();
            *place = element(self.out, *slot, self.level);
            place.origin = origin;
        }
    }
}
