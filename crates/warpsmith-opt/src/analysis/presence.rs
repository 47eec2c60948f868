//! What is there: arrays that callers need not pass, and elements that nothing need touch.
//!
//! C asks of an array only what is done with it. `if (has) v += bias[j]` is right without `bias` where `has` is zero, and a sum without
//! iterations is right wherever its element would be. What rewrites read and store beside that has to be there for another reason.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::visit::{self, Access, Visitor};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, Place, PlaceKind, Stmt, StmtKind, VarId,
    VarKind,
};

use crate::build::trips;
use crate::kernel::Kernel;
use crate::walk;

/// Array parameters with which everything is done under conditions that ask for more than positions and sizes: callers may pass null.
pub fn optional(function: &Function) -> BTreeSet<VarId> {
    let mut finder = Finder { known: Known::of(function), asked: false, touched: BTreeMap::new() };
    finder.block(&function.body);
    finder.touched.into_iter().filter(|(_, always)| !always).map(|(array, _)| array).collect()
}

/// Has the launcher ask for arrays that callers need not pass, where a step reads or stores them without asking what the function asks.
pub fn ask_for_arrays(before: &Kernel, after: &mut Kernel) {
    let known = after.optional.take().unwrap_or_else(|| optional(before.func()));
    if known.is_empty() {
        after.optional = Some(known);
        return;
    }
    let still = optional(after.func());
    let copied = |v| after.nests.values().any(|n| n.stages.iter().any(|s| s.array == v));
    // Rows are read ahead of the iterations that ask.
    let ahead = after.nests.values().any(|n| !n.streams.is_empty());
    let asks =
        |v: &VarId| !ahead && still.contains(v) && !after.constants.contains(v) && !copied(*v);
    let (open, needed): (BTreeSet<VarId>, BTreeSet<VarId>) = known.into_iter().partition(asks);
    after.optional = Some(open);
    for array in needed {
        after.func_mut().vars[array.0 as usize].not_null = true;
    }
}

/// What tells whether loops around an access to an element run; `None`: they do, or the element is there although they do not.
///
/// # Errors
/// Inner ones whose bounds change from one iteration of the outer ones to the next, and iterations that may end early.
pub fn condition(
    function: &Function,
    loops: &[&ForLoop],
    place: &Place,
) -> Result<Option<Expr>, NotKnown> {
    if is_sure(function, place) {
        return Ok(None);
    }
    // An iteration that ends early may come to nothing.
    let early = |l: &&ForLoop| walk::continues(&l.body).or(walk::leaves(&l.body)).is_some();
    if loops.iter().any(early) {
        return Err(NotKnown);
    }
    let open = trips::all_run(function, loops.iter().copied());
    if open.is_none() {
        return Ok(None);
    }
    let Some((outer, inner)) = loops.split_first() else { return Ok(None) };
    let changes = |e: &Expr| {
        let mut changes = walk::reads_memory(e);
        walk::each_var(e, &mut |v| changes |= v == outer.var || walk::writes_var(&outer.body, v));
        changes
    };
    let known = inner.iter().flat_map(|l| [&l.first, &l.limit]).all(|e| !changes(e));
    if known { Ok(open) } else { Err(NotKnown) }
}

/// Nothing tells before a loop whether it comes to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotKnown;

/// An element of a block that need not be there where counters of loops and sizes say that one is.
pub fn doubtful(function: &Function, block: &Block) -> Option<Place> {
    let mut found = None;
    visit::for_each_place(block, &mut |place, _| {
        if found.is_none() && !is_sure(function, place) {
            found = Some(place.clone());
        }
    });
    found
}

/// Whether an element is there wherever counters of loops and sizes say that one is: its subscripts are made of nothing else.
pub fn is_sure(function: &Function, place: &Place) -> bool {
    let known = Known::of(function);
    walk::subscripts(place).into_iter().all(|e| !known.is_foreign(e))
}

/// Variables whose values positions and sizes say.
struct Known<'f> {
    function: &'f Function,
    /// Counters, and parameters in bounds of loops and extents.
    positions: BTreeSet<VarId>,
    /// What others are declared with, where nothing changes them.
    values: BTreeMap<VarId, &'f Expr>,
}

impl<'f> Known<'f> {
    fn of(function: &'f Function) -> Known<'f> {
        let mut positions = BTreeSet::new();
        let mut values = BTreeMap::new();
        let mut see = |e: &Expr| walk::each_var(e, &mut |v| _ = positions.insert(v));
        for param in &function.params {
            function.var(*param).shape.iter().flatten().for_each(&mut see);
        }
        for l in walk::for_loops(&function.body) {
            [&l.first, &l.limit].into_iter().for_each(&mut see);
            see(&Expr::var(l.var, function.var(l.var).ty.clone()));
        }
        let set = walk::times_set_each(&function.body);
        walk::each_stmt(&function.body, &mut |s| {
            if let StmtKind::Decl { var, init: Some(init) } = &s.kind
                && set.get(var) == Some(&1)
            {
                values.insert(*var, init);
            }
        });
        let given = |v: &VarId| function.var(*v).kind == VarKind::Param;
        positions.retain(|v| given(v) || !values.contains_key(v));
        Known { function, positions, values }
    }

    /// Whether a value depends on anything but positions and sizes.
    fn is_foreign(&self, e: &Expr) -> bool {
        let mut foreign = false;
        walk::each_expr(e, &mut |e| {
            if let ExprKind::Read(place) = &*e.kind {
                foreign |= match &*place.kind {
                    PlaceKind::Var(v) if self.positions.contains(v) => false,
                    PlaceKind::Var(v) => match self.values.get(v) {
                        Some(value) => self.is_foreign(value),
                        None => true,
                    },
                    _ => true,
                };
            }
        });
        foreign
    }

    fn is_array(&self, v: VarId) -> bool {
        let var = self.function.var(v);
        var.kind == VarKind::Param && var.ty.is_pointer()
    }
}

struct Finder<'f> {
    known: Known<'f>,
    /// What stands here is under a condition that asks for more than positions and sizes.
    asked: bool,
    /// Arrays, and whether anything is done with them under no such condition.
    touched: BTreeMap<VarId, bool>,
}

impl Finder<'_> {
    /// What is only looked at where a condition says so.
    fn under(&mut self, cond: &Expr, see: impl FnOnce(&mut Self)) {
        let before = self.asked;
        self.asked |= self.known.is_foreign(cond);
        see(self);
        self.asked = before;
    }
}

impl Visitor for Finder<'_> {
    fn block(&mut self, block: &Block) {
        let before = self.asked;
        for stmt in &block.stmts {
            self.stmt(stmt);
            // Who is still here has been asked.
            if let StmtKind::If { cond, then, otherwise } = &stmt.kind {
                self.asked |= self.known.is_foreign(cond) && (leaves(then) || leaves(otherwise));
            }
        }
        self.asked = before;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                self.expr(cond);
                self.under(cond, |f| [then, otherwise].into_iter().for_each(|b| f.block(b)));
            }
            StmtKind::Switch { selector, .. } => {
                self.under(selector, |f| visit::walk_stmt(f, stmt));
            }
            _ => visit::walk_stmt(self, stmt),
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Select(cond, a, b) => {
                self.expr(cond);
                self.under(cond, |f| [a, b].into_iter().for_each(|e| f.expr(e)));
            }
            ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, a, b) => {
                self.expr(a);
                self.under(a, |f| f.expr(b));
            }
            // Whether it is there.
            ExprKind::Binary(op, a, _) if op.is_comparison() && a.ty.is_pointer() => {}
            _ => visit::walk_expr(self, e),
        }
    }

    fn place(&mut self, place: &Place, access: Access) {
        if let PlaceKind::Var(v) = *place.kind
            && self.known.is_array(v)
        {
            *self.touched.entry(v).or_default() |= !self.asked;
        }
        visit::walk_place(self, place, access);
    }
}

fn leaves(block: &Block) -> bool {
    let last = block.stmts.last().map(|s| &s.kind);
    matches!(last, Some(StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue))
}
