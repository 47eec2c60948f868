//! The walk that finds the accesses of a loop, with the conditions around each.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Origin, Place, PlaceKind, Stmt, StmtKind, VarId,
};

use super::{
    Access, AccessKind, Base, Guard, Scope, View, base_of, base_of_pointer, effects_of_call,
};
use crate::walk;

/// Whether control never comes to the end of a block.
fn ends(block: &Block) -> bool {
    block.stmts.last().is_some_and(|last| match &last.kind {
        StmtKind::Continue | StmtKind::Break | StmtKind::Return(_) => true,
        StmtKind::Scope(inner) => ends(inner),
        StmtKind::If { then, otherwise, .. } => ends(then) && ends(otherwise),
        _ => false,
    })
}

/// All accesses of a scope's loop.
pub fn accesses<'a>(scope: &Scope<'a>) -> Vec<Access<'a>> {
    let mut collector = Collector {
        scope,
        loops: vec![scope.root],
        guards: vec![],
        implied: vec![],
        found: vec![],
    };
    collector.block(&scope.root.body);
    collector.found
}

struct Collector<'s, 'a> {
    scope: &'s Scope<'a>,
    loops: Vec<&'a ForLoop>,
    guards: Vec<Guard<'a>>,
    implied: Vec<Guard<'a>>,
    found: Vec<Access<'a>>,
}

impl<'a> Collector<'_, 'a> {
    fn block(&mut self, block: &'a Block) {
        let outside = self.implied.len();
        self.stmts(block);
        self.implied.truncate(outside);
    }

    /// What a condition excludes by leaving the iteration holds for the rest of the block.
    fn stmts(&mut self, block: &'a Block) {
        for stmt in &block.stmts {
            if let StmtKind::Scope(inner) = &stmt.kind {
                self.stmts(inner);
                continue;
            }
            self.stmt(stmt);
            if let StmtKind::If { cond, then, otherwise } = &stmt.kind {
                for (block, negated) in [(then, true), (otherwise, false)] {
                    if ends(block) {
                        self.implied.push(Guard { cond, negated });
                    }
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        let o = walk::operands(stmt);
        o.reads.iter().for_each(|e| self.expr(e));
        if let Some(place) = o.writes {
            walk::each_expr_of_place(place, &mut |e| self.own_read(e));
            self.access(place, AccessKind::Write, &stmt.origin);
        }
        match &stmt.kind {
            StmtKind::Atomic { pointer, .. } => match &*pointer.kind {
                ExprKind::AddressOf(place) => {
                    self.access(place, AccessKind::Atomic, &stmt.origin);
                }
                _ => {
                    let view = View::Unknown("it is an atomic operation".into());
                    let base = base_of_pointer(pointer);
                    self.push(base, AccessKind::Atomic, view, None, &stmt.origin);
                }
            },
            StmtKind::Call { function, args, .. } => {
                let name = &self.scope.module.function(*function).name;
                for (base, writes) in effects_of_call(self.scope.module, *function, args) {
                    let kind = if writes { AccessKind::Write } else { AccessKind::Read };
                    let view = View::Unknown(format!("`{name}` is called with a pointer"));
                    self.push(base, kind, view, None, &stmt.origin);
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                for (block, negated) in [(then, false), (otherwise, true)] {
                    self.guards.push(Guard { cond, negated });
                    self.block(block);
                    self.guards.pop();
                }
            }
            StmtKind::For(l) => {
                self.loops.push(l);
                self.block(&l.body);
                self.loops.pop();
            }
            _ => walk::blocks(stmt).into_iter().for_each(|b| self.block(b)),
        }
    }

    /// The reads of an expression, those of operands that are not always evaluated under their condition.
    fn expr(&mut self, expr: &'a Expr) {
        let mut guarded = |cond, negated, e: &'a Expr| {
            self.implied.push(Guard { cond, negated });
            self.expr(e);
            self.implied.pop();
        };
        match &*expr.kind {
            ExprKind::Select(cond, a, b) => {
                guarded(cond, false, a);
                guarded(cond, true, b);
                self.expr(cond);
            }
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                guarded(a, *op == BinaryOp::LogicalOr, b);
                self.expr(a);
            }
            ExprKind::Unary(_, a)
            | ExprKind::Cast(a)
            | ExprKind::Bitcast(a)
            | ExprKind::Member(a, _) => self.expr(a),
            ExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Call(_, args) | ExprKind::Make(args) => {
                args.iter().for_each(|a| self.expr(a))
            }
            _ => walk::each_expr(expr, &mut |e| self.own_read(e)),
        }
    }

    fn own_read(&mut self, e: &'a Expr) {
        if let ExprKind::Read(place) = &*e.kind {
            self.access(place, AccessKind::Read, &e.origin);
        }
    }

    fn access(&mut self, place: &'a Place, kind: AccessKind, origin: &Origin) {
        if matches!(&*place.kind, PlaceKind::Var(_)) {
            return;
        }
        let origin = if place.origin.span.is_some() { &place.origin } else { origin };
        let view = self.view(place).unwrap_or_else(View::Unknown);
        self.push(base_of(place), kind, view, Some(place), origin);
    }

    fn push(
        &mut self,
        base: Base,
        kind: AccessKind,
        view: View,
        place: Option<&'a Place>,
        origin: &Origin,
    ) {
        let order = self.found.len();
        let (loops, guards) = (self.loops.clone(), self.guards.clone());
        let implied = self.implied.clone();
        self.found.push(Access {
            base,
            kind,
            view,
            place,
            loops,
            guards,
            implied,
            origin: origin.clone(),
            order,
        });
    }

    fn view(&self, place: &Place) -> Result<View, String> {
        match &*place.kind {
            PlaceKind::Deref(pointer) => self.through(pointer, vec![], &[]),
            PlaceKind::Elem { pointer, index, dims } => {
                let index: Result<Vec<Poly>, String> =
                    index.iter().map(|i| self.scope.normalise(i)).collect();
                self.through(pointer, index?, dims)
            }
            PlaceKind::Index(array, i) => {
                let mut index = vec![self.scope.normalise(i)?];
                let mut extents = vec![];
                let mut at = array;
                while let PlaceKind::Index(outer, i) = &*at.kind {
                    index.insert(0, self.scope.normalise(i)?);
                    let extent = at.ty.extents().first().copied().unwrap_or(0);
                    extents.insert(0, Poly::constant(extent.into()));
                    at = outer;
                }
                match &*at.kind {
                    PlaceKind::Var(_) | PlaceKind::Global(_) => {
                        Ok(View::Affine { index, extents: Some(extents) })
                    }
                    // An array in an element of an array of structures: the element's subscripts, then its own.
                    PlaceKind::Field(of, _) => {
                        extents.insert(
                            0,
                            Poly::constant(at.ty.extents().first().copied().unwrap_or(0).into()),
                        );
                        match self.view(of)? {
                            View::Affine { index: mut all, extents: Some(mut outer) } => {
                                outer.extend(extents);
                                all.extend(index);
                                Ok(View::Affine { index: all, extents: Some(outer) })
                            }
                            View::Affine { .. } => Err("its shape is not known".into()),
                            unknown => Ok(unknown),
                        }
                    }
                    _ => Err("it is an array inside another object".into()),
                }
            }
            PlaceKind::Global(_) => Ok(View::Affine { index: vec![Poly::zero()], extents: None }),
            PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => self.view(p),
            // A structure as a whole.
            PlaceKind::Var(_) => {
                Ok(View::Affine { index: vec![Poly::zero()], extents: Some(vec![]) })
            }
        }
    }

    /// The element behind a pointer that is a parameter, or such a pointer plus an offset.
    fn through(&self, pointer: &Expr, index: Vec<Poly>, dims: &[Expr]) -> Result<View, String> {
        let index = if index.is_empty() { vec![Poly::zero()] } else { index };
        match &*pointer.kind {
            ExprKind::Read(p) if matches!(&*p.kind, PlaceKind::Var(_)) => {
                let var = p.root_var().unwrap_or(VarId(0));
                if self.scope.changed.contains(&var) {
                    let name = &self.scope.function.var(var).name;
                    return Err(format!("the loop changes the pointer `{name}`"));
                }
                let extents: Result<Vec<Poly>, String> =
                    dims.iter().map(|d| self.scope.normalise(d)).collect();
                Ok(View::Affine { index, extents: extents.ok() })
            }
            ExprKind::PtrOffset(base, offset) if index.len() == 1 => {
                let offset = self.scope.normalise(offset)?;
                let sum = index[0].add(&offset).ok_or("its subscript overflows")?;
                self.through(base, vec![sum], &[])
            }
            ExprKind::AddressOf(p) if index.len() == 1 => match self.view(p)? {
                View::Affine { index: mut at, extents } => {
                    let last = at.pop().ok_or("it has no subscript")?;
                    at.push(last.add(&index[0]).ok_or("its subscript overflows")?);
                    // A subscript beyond its row is no longer inside its dimension: see it as one row.
                    let whole = View::Affine { index: at, extents };
                    let linear = whole.linear().ok_or("its shape is not known")?;
                    Ok(View::Affine { index: vec![linear], extents: Some(vec![]) })
                }
                unknown => Ok(unknown),
            },
            _ => Err("it goes through a computed pointer".into()),
        }
    }
}
