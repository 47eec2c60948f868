//! Atomic updates by several iterations of a thread: what they do to one element is put together in a register first.
//!
//! ```text
//!     for ti in 0..4 { atomicAdd(&s[j], f(i, j)) }
//!       ==> part = 0;  for ti in 0..4 { part += f(i, j) }  atomicAdd(&s[j], part)
//! ```
//!
//! That pays wherever the element does not depend on a counter of which the thread has several iterations. Updates of one
//! array by one operation may be done in any order, and nothing else of the nest looks at it.

use warpsmith_ir::{
    AtomicOp, Block, Expr, Place, ReduceOp, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

use crate::analysis::axes::Axes;
use crate::analysis::loops::written_bases;
use crate::analysis::{scalars, updates};
use crate::build::operators::combine;
use crate::build::stmts::declare;
use crate::names::fresh_name;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::walk;

impl Expansion<'_, '_> {
    /// Whether each of the thread's iterations updates something by itself when it runs a statement, whatever that mentions.
    pub(crate) fn updates_each_time(&self, stmt: &Stmt) -> bool {
        if !self.together.any {
            return false;
        }
        let mut found = false;
        walk::each_stmt(&Block::new(vec![stmt.clone()]), &mut |s| match &s.kind {
            StmtKind::Atomic { value, .. } => {
                found |= !self.together.parts.iter().any(|part| scalars::reads(value, *part));
            }
            _ => found |= self.adds_for_update(s),
        });
        found
    }

    /// Whether a statement adds what one iteration does to an element.
    pub(crate) fn adds_for_update(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Assign { place, .. } => {
                place.root_var().is_some_and(|v| self.together.parts.contains(&v))
            }
            _ => false,
        }
    }

    /// A block with what its updates do put together, and done at its end where that is possible.
    pub(crate) fn updated_once(&mut self, block: &Block) -> Block {
        let (mut first, mut stmts, mut last) = (vec![], vec![], vec![]);
        for (at, stmt) in block.stmts.iter().enumerate() {
            let Some([begin, add, update]) = self.in_register(stmt) else {
                stmts.push(stmt.clone());
                continue;
            };
            first.push(begin);
            stmts.push(add);
            match walk::changed(stmt).is_some_and(|p| stays(p, &block.stmts[at + 1..])) {
                true => last.push(update),
                false => stmts.push(update),
            }
        }
        first.extend(stmts);
        first.extend(last);
        Block::new(first)
    }

    /// An update of an element that several of the thread's iterations have in common, as the start of a variable, what
    /// an iteration does to it, and the update by it.
    fn in_register(&mut self, stmt: &Stmt) -> Option<[Stmt; 3]> {
        let StmtKind::Atomic { op, value, .. } = &stmt.kind else { return None };
        let array = updates::updated(stmt)?;
        let axes = self.axes_of_place(walk::changed(stmt)?) & self.tiled;
        let ty = value.ty.scalar()?;
        let identity = updates::identity(*op, value)?;
        let added = match op {
            AtomicOp::Add | AtomicOp::Sub => ReduceOp::Add,
            AtomicOp::Min => ReduceOp::Min,
            AtomicOp::Max => ReduceOp::Max,
            AtomicOp::And => ReduceOp::BitAnd,
            AtomicOp::Or => ReduceOp::BitOr,
            AtomicOp::Xor => ReduceOp::BitXor,
            _ => return None,
        };
        if axes == self.tiled || updates::only_update(self.variables.unset.body(), array).is_err() {
            return None;
        }
        let part = self.part_of(array, axes, Type::Scalar(ty));
        let own = || Expr::var(part, Type::Scalar(ty));
        let sum = combine(added, ty, own(), value.clone());
        let place = Place::var(part, Type::Scalar(ty));
        let add = Stmt { kind: StmtKind::Assign { place, value: sum }, ..stmt.clone() };
        let mut update = Stmt { comment: vec![], ..stmt.clone() };
        if let StmtKind::Atomic { value, .. } = &mut update.kind {
            *value = own();
        }
        Some([declare(part, Expr::constant(identity)), add, update])
    }

    /// A variable for what a thread does to an element of the array, which depends on these loops.
    fn part_of(&mut self, array: VarId, axes: Axes, ty: Type) -> VarId {
        let host = &mut self.draft.scope.host;
        let name = fresh_name(host, &format!("{}_part", host.var(array).name));
        let part = host.add_var(Var::new(name, ty, VarKind::Local));
        self.together.parts.insert(part);
        if axes != 0 {
            self.variables.depends.insert(part, axes);
        }
        part
    }

    fn axes_of_place(&self, place: &Place) -> Axes {
        let mut axes = 0;
        walk::each_expr_of_place(place, &mut |e| axes |= self.axes_of_expr(e));
        axes
    }
}

/// Whether a place is the same after some statements.
fn stays(place: &Place, after: &[Stmt]) -> bool {
    let after = Block::new(after.to_vec());
    let (mut same, stores) = (true, !written_bases(&after).is_empty());
    walk::each_expr_of_place(place, &mut |e| {
        walk::each_var(e, &mut |v| same &= !walk::writes_var(&after, v));
        same &= !(stores && walk::reads_memory(e));
    });
    same
}
