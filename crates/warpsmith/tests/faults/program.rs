//! Faults of a rewrite: one small change to a lowered program.

use warpsmith::ir::visit::{Rewriter, rewrite_expr, rewrite_place, rewrite_stmt};
use warpsmith::ir::{
    AtomicOp, Axis, BinaryOp, Block, Builtin, Expr, ExprKind, FunctionKind, Launch, Module, Place,
    PlaceKind, Scalar, Stmt, StmtKind, Type, Value, VarKind, WarpOp,
};

/// Every program with one change, and the change's name.
pub fn faults(module: &Module) -> Vec<(&'static str, Module)> {
    let mut count = Walk { target: None, count: 0, names: vec![], constants: &module.constants };
    count.module(&mut module.clone());
    let change = |target: usize| {
        let mut changed = module.clone();
        let constants = &module.constants;
        Walk { target: Some(target), count: 0, names: vec![], constants }.module(&mut changed);
        changed
    };
    count.names.iter().enumerate().map(|(k, name)| (*name, change(k))).collect()
}

/// Counts places in a fixed order and changes the one whose number is the target.
struct Walk<'m> {
    target: Option<usize>,
    count: usize,
    names: Vec<&'static str>,
    constants: &'m [warpsmith::ir::NamedConst],
}

impl Walk<'_> {
    fn module(&mut self, module: &mut Module) {
        for function in &mut module.functions {
            for var in function.vars.iter_mut().filter(|v| v.kind == VarKind::Shared) {
                if self.here("shared array one shorter")
                    && let Some(shorter) = shorter(&var.ty)
                {
                    (var.ty, var.shape) = (shorter, None);
                }
            }
            self.block(&mut function.body);
            let kernel = function.kind == FunctionKind::Kernel;
            let params = &mut function.params;
            for k in 1..if kernel { params.len() } else { 0 } {
                let ty = |at: usize| &function.vars[params[at].0 as usize].ty;
                if ty(k - 1) == ty(k) && self.here("parameters swapped") {
                    params.swap(k - 1, k);
                }
            }
        }
    }

    /// Notes a place; true when this is the one to change.
    fn here(&mut self, name: &'static str) -> bool {
        self.count += 1;
        self.names.push(name);
        self.target == Some(self.count - 1)
    }

    fn moved_by_one(&mut self, e: &mut Expr, names: [&'static str; 2]) {
        for (name, step) in names.into_iter().zip([1, -1]) {
            if self.here(name) {
                let scalar = e.ty.scalar().unwrap_or(Scalar::I32);
                *e = Expr::binary(BinaryOp::Add, e.clone(), Expr::int(scalar, step));
            }
        }
    }

    fn statement(&mut self, block: &mut Block, i: usize) {
        let stmts = &mut block.stmts;
        let blank = Stmt::new(StmtKind::Scope(Block::default()), stmts[i].origin.clone());
        let drop = match &stmts[i].kind {
            StmtKind::Barrier { .. } => "barrier dropped",
            StmtKind::Assign { .. } => "assignment dropped",
            StmtKind::If { .. } | StmtKind::Return(_) => "guard and what it guards dropped",
            StmtKind::For(_) => "loop dropped",
            StmtKind::Launch(_) => "launch dropped",
            StmtKind::Warp { .. } | StmtKind::Atomic { .. } => "exchange dropped",
            StmtKind::CopyToGlobal { .. } | StmtKind::AsyncCopy { .. } => "copy dropped",
            StmtKind::AsyncWait(_) | StmtKind::AsyncCommit => "pipeline step dropped",
            StmtKind::Continue | StmtKind::Break => "jump dropped",
            _ => return,
        };
        if self.here(drop) {
            stmts[i] = blank;
            return;
        }
        if let StmtKind::If { then, .. } = &stmts[i].kind
            && !matches!(then.stmts.first().map(|s| &s.kind), Some(StmtKind::Return(_)))
            && self.here("guard dropped")
        {
            stmts[i].kind = StmtKind::Scope(then.clone());
        }
        if let StmtKind::Barrier { .. } = &stmts[i].kind {
            let movable = |s: &Stmt| !matches!(s.kind, StmtKind::Decl { .. });
            if i > 0 && movable(&stmts[i - 1]) && self.here("barrier moved up") {
                stmts.swap(i - 1, i);
            } else if i + 1 < stmts.len()
                && movable(&stmts[i + 1])
                && self.here("barrier moved down")
            {
                stmts.swap(i, i + 1);
            }
        }
    }

    fn launch(&mut self, l: &mut Launch) {
        for axis in 0..3 {
            if l.grid[axis].as_const().is_none() && self.here("grid one smaller") {
                l.grid[axis] =
                    Expr::binary(BinaryOp::Sub, l.grid[axis].clone(), one(&l.grid[axis]));
            }
            if self.here("block one smaller") {
                l.block[axis] =
                    Expr::binary(BinaryOp::Sub, l.block[axis].clone(), one(&l.block[axis]));
            }
        }
        if self.here("grid axes swapped") {
            l.grid.swap(0, 1);
        }
        if self.here("block axes swapped") {
            l.block.swap(0, 1);
        }
        for k in 1..l.args.len() {
            if l.args[k - 1].ty == l.args[k].ty && self.here("arguments swapped") {
                l.args.swap(k - 1, k);
            }
        }
    }

    fn binary(&mut self, expr: &mut Expr) {
        let ExprKind::Binary(op, a, b) = &mut *expr.kind else { return };
        let integer = a.ty.is_integer();
        match *op {
            BinaryOp::Add | BinaryOp::Sub => {
                let other = if *op == BinaryOp::Add { BinaryOp::Sub } else { BinaryOp::Add };
                if self.here("sign of a term") {
                    *op = other;
                } else if self.here("term dropped") {
                    *expr = a.clone();
                }
            }
            BinaryOp::Mul if self.here("product became a sum") => *op = BinaryOp::Add,
            BinaryOp::Mul if integer && self.here("stride dropped") => *expr = a.clone(),
            BinaryOp::Div if self.here("quotient dropped") => *expr = a.clone(),
            BinaryOp::Rem if self.here("remainder dropped") => *expr = a.clone(),
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr => {
                if self.here("left condition dropped") {
                    *expr = b.clone();
                } else if self.here("right condition dropped") {
                    *expr = a.clone();
                }
            }
            other => {
                if let Some(shifted) = shifted(other).filter(|_| integer)
                    && self.here("comparison shifted")
                {
                    *op = shifted;
                }
            }
        }
    }

    fn leaf(&mut self, expr: &mut Expr) {
        match &*expr.kind {
            ExprKind::Const(v) if v.ty != Scalar::Bool => {
                let v = *v;
                for (name, step) in [("constant + 1", 1), ("constant - 1", -1)] {
                    if self.here(name) {
                        let next = match v.ty.is_float() {
                            true => Value::float(v.ty, v.as_f64() + step as f64),
                            false => Value::int(v.ty, v.as_i64().wrapping_add(step)),
                        };
                        *expr = Expr::constant(next);
                    }
                }
            }
            ExprKind::Named(id) => {
                let value = self.constants[id.0 as usize].value;
                for (name, step) in [("extent + 1", 1), ("extent - 1", -1)] {
                    if self.here(name) {
                        let scalar = expr.ty.scalar().unwrap_or(Scalar::I32);
                        *expr = Expr::int(scalar, value.as_i64() + step);
                    }
                }
            }
            ExprKind::Builtin(b) => {
                let turned = |axis: &Axis| match axis {
                    Axis::X => Axis::Y,
                    _ => Axis::X,
                };
                let (name, other) = match b {
                    Builtin::ThreadIdx(a) => ("thread axis", Builtin::ThreadIdx(turned(a))),
                    Builtin::BlockIdx(a) => ("block axis", Builtin::BlockIdx(turned(a))),
                    Builtin::BlockDim(a) => ("block extent axis", Builtin::BlockDim(turned(a))),
                    Builtin::GridDim(a) => ("grid extent axis", Builtin::GridDim(turned(a))),
                    _ => return,
                };
                if self.here(name) {
                    *expr.kind = ExprKind::Builtin(other);
                }
            }
            _ => {}
        }
    }
}

impl Rewriter for Walk<'_> {
    fn block(&mut self, block: &mut Block) {
        for i in 0..block.stmts.len() {
            self.statement(block, i);
            self.stmt(&mut block.stmts[i]);
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::For(l) => {
                if let Some(shifted) = shifted(l.compare)
                    && self.here("loop bound shifted")
                {
                    l.compare = shifted;
                }
                if self.here("loop begins one later") {
                    l.first = Expr::binary(BinaryOp::Add, l.first.clone(), one(&l.first));
                }
                if self.here("loop step doubled") {
                    l.step = Expr::binary(BinaryOp::Add, l.step.clone(), l.step.clone());
                }
            }
            StmtKind::Launch(l) => self.launch(l),
            StmtKind::AsyncWait(n) if self.here("waits for one group less") => *n += 1,
            StmtKind::Atomic { op, .. } if self.here("atomic of another kind") => {
                *op = if *op == AtomicOp::Exchange { AtomicOp::Add } else { AtomicOp::Exchange };
            }
            StmtKind::Warp { op, .. } if self.here("exchange of another kind") => {
                *op = match op {
                    WarpOp::ShuffleDown => WarpOp::ShuffleUp,
                    _ => WarpOp::ShuffleDown,
                };
            }
            _ => {}
        }
        rewrite_stmt(self, stmt);
    }

    fn expr(&mut self, expr: &mut Expr) {
        self.binary(expr);
        self.leaf(expr);
        match &mut *expr.kind {
            ExprKind::Select(_, a, b) if self.here("choice swapped") => std::mem::swap(a, b),
            ExprKind::Cast(inner)
                if inner.ty.scalar().is_some()
                    && expr.ty.scalar().is_some()
                    && self.here("conversion dropped") =>
            {
                *expr = inner.clone();
            }
            _ => {}
        }
        rewrite_expr(self, expr);
    }

    fn place(&mut self, place: &mut Place) {
        const NAMES: [&str; 2] = ["index + 1", "index - 1"];
        match &mut *place.kind {
            PlaceKind::Elem { index, dims, .. } => {
                index.iter_mut().for_each(|e| self.moved_by_one(e, NAMES));
                let last = index.len();
                if last > 1 && self.here("indices swapped") {
                    index.swap(last - 1, last - 2);
                }
                for d in dims {
                    self.moved_by_one(d, ["row length + 1", "row length - 1"]);
                }
            }
            PlaceKind::Index(inner, index) => {
                self.moved_by_one(index, NAMES);
                if let PlaceKind::Index(_, outer) = &mut *inner.kind
                    && self.here("indices swapped")
                {
                    std::mem::swap(outer, index);
                }
            }
            _ => {}
        }
        rewrite_place(self, place);
    }
}

fn one(like: &Expr) -> Expr {
    Expr::int(like.ty.scalar().unwrap_or(Scalar::I32), 1)
}

/// An array type with one element less in its last dimension.
fn shorter(ty: &Type) -> Option<Type> {
    let Type::Array(element, n) = ty else { return None };
    match shorter(element) {
        Some(inner) => Some(Type::array(inner, *n)),
        None => Some(Type::array((**element).clone(), n.checked_sub(1).filter(|n| *n > 0)?)),
    }
}

fn shifted(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Gt,
        _ => return None,
    })
}
