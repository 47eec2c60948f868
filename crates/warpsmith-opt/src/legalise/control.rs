//! Host loops and conditions around nests.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    BinaryOp, Block, CopyWay, Diagnostic, Expr, ExprKind, ForLoop, LoopCondition, LoopKind, Origin,
    Place, Runtime, Scalar, Space, Stmt, StmtKind, Type, VarId, visit,
};

use super::Lowering;
use super::scope::Lowered;
use crate::walk;

impl Lowering<'_> {
    /// A statement with nests (or a `return`) inside, which the host must be able to steer.
    pub(super) fn control(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> Lowered<()> {
        let kind = match &stmt.kind {
            StmtKind::Scope(block) => StmtKind::Scope(self.block(block)?),
            StmtKind::If { cond, then, otherwise } => {
                let cond = self.known(cond, out);
                let (then, otherwise) = (self.block(then)?, self.block(otherwise)?);
                StmtKind::If { cond, then, otherwise }
            }
            StmtKind::For(l) => {
                let [first, limit, step] =
                    [&l.first, &l.limit, &l.step].map(|e| self.known(e, out));
                let body = self.block(&l.body)?;
                StmtKind::For(ForLoop {
                    first,
                    limit,
                    step,
                    body,
                    kind: LoopKind::Serial,
                    ..l.clone()
                })
            }
            StmtKind::Loop { id, condition, body, step } => {
                let condition = match condition {
                    Some(c) => {
                        let mut before = self.block(&c.before)?.stmts;
                        let expr = self.known(&c.expr, &mut before);
                        let before = Block::new(before);
                        Some(LoopCondition { before, expr, at_end: c.at_end })
                    }
                    None => None,
                };
                let (body, step) = (self.block(body)?, self.block(step)?);
                StmtKind::Loop { id: *id, condition, body, step }
            }
            _ => return Err(self.around_nests(stmt)),
        };
        out.push(Stmt { kind, origin: stmt.origin.clone(), comment: stmt.comment.clone() });
        Ok(())
    }

    /// The expression for the host. Values that only the device has are brought to it first, for which it waits.
    fn known(&mut self, e: &Expr, out: &mut Vec<Stmt>) -> Expr {
        if self.placement.host_known(e) {
            return e.clone();
        }
        let mut e = e.clone();
        let mut wanted = BTreeSet::new();
        if walk::reads_memory(&e) {
            // What reads arrays is computed where they are.
            let decision = self.decision(&e, out);
            let value = Expr::var(decision, self.scope.host.var(decision).ty.clone());
            e = match e.ty.scalar() {
                Some(Scalar::Bool) => Expr::binary(BinaryOp::Ne, value, Expr::i32(0)),
                _ => value,
            };
            wanted.insert(decision);
        } else {
            walk::each_var(&e, &mut |v| {
                _ = self.placement.device.contains(&v).then(|| wanted.insert(v))
            });
        }
        let mut fetched = BTreeMap::new();
        for var in wanted {
            fetched.insert(var, self.fetch(var, out));
        }
        let synchronize = Stmt::new(StmtKind::Runtime(Runtime::Synchronize), Origin::default());
        out.push(synchronize);
        self.synchronises = true;
        visit::rename_vars_in_expr(&mut e, &mut |v| fetched.get(&v).copied().unwrap_or(v));
        e
    }

    /// A variable of the device that gets the value of an expression.
    fn decision(&mut self, e: &Expr, out: &mut Vec<Stmt>) -> VarId {
        let ty = match e.ty.scalar() {
            Some(Scalar::Bool) | None => Type::I32,
            Some(scalar) => Type::Scalar(scalar),
        };
        let var = self.scope.local("decision", ty.clone());
        let pointer = self.scope.slot("decision", ty.clone(), 1);
        self.scope.pointers.insert(var, pointer);
        let place = self.scope.deref(pointer);
        let kind = StmtKind::Assign { place, value: e.clone().cast(ty) };
        let mut block = Block::new(vec![Stmt::new(kind, e.origin.clone())]);
        self.move_to_device(&mut block);
        self.single_thread(block.stmts, out);
        var
    }

    /// Copies a variable of the device to one of the host.
    fn fetch(&mut self, var: VarId, out: &mut Vec<Stmt>) -> VarId {
        let pointer = self.scope.pointer_to(var);
        let pointer_type = self.scope.host.var(pointer).ty.clone();
        let ty = pointer_type.pointee().cloned().unwrap_or(Type::Void);
        let name = format!("{}_now", self.scope.host.var(var).name);
        let copy = self.scope.local(&name, ty.clone());
        let declare = Stmt::new(StmtKind::Decl { var: copy, init: None }, Origin::default());
        let name = &self.scope.host.var(var).name;
        out.push(declare.comment(format!("the host waits for {name}, by which it goes on")));
        let place = Place::var(copy, ty.clone());
        let to = Type::pointer(ty.clone(), Space::Local);
        let destination = Expr::new(ExprKind::AddressOf(place), to, Origin::default());
        let size = warpsmith_ir::layout::layout_of(&self.scope.module, &ty).size;
        let call = Runtime::Copy {
            way: CopyWay::ToHost,
            destination,
            source: Expr::var(pointer, pointer_type),
            bytes: Expr::int(Scalar::U64, size as i64),
            asynchronous: true,
        };
        out.push(Stmt::new(StmtKind::Runtime(call), Origin::default()));
        copy
    }

    fn around_nests(&self, stmt: &Stmt) -> Box<Diagnostic> {
        let what =
            if matches!(stmt.kind, StmtKind::Switch { .. }) { "`switch`" } else { "statement" };
        let d = Diagnostic::error("W240", format!("a {what} stands around parallel loops"));
        let d = stmt.origin.span.into_iter().fold(d, |d, span| d.label(span, "this statement"));
        Box::new(d.help("write `if` and `else`"))
    }
}
