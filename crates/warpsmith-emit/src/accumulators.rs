//! Accumulators of the test program's reference in double.
//!
//! The reference adds one term after the other, the device in the order of a tree. Over millions of terms it is the
//! reference whose rounding errors are large, and a tolerance that allows for them would allow for anything. So
//! variables of `reduction(+: …)` and `reduction(*: …)` clauses keep more digits there than the user's type has:
//!
//! ```text
//! float s = 0.0f; … s += x * x; … return s;
//!   ==>
//! double s = 0.0f; … s += x * x; … return (float)s;
//! ```
//!
//! Every term is still computed as the user wrote it; minima and maxima are exact in any order and stay as they are.

use std::collections::HashSet;

use warpsmith_ir::visit::{self, Access, Rewriter, Visitor};
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, FuncId, Function, LoopKind, Module, Place, PlaceKind, ReduceOp,
    Scalar, Stmt, StmtKind, Type, Value, VarId, VarKind,
};

/// The same module with sums and products of the function's clauses in double, and whether there are any.
pub(crate) fn widen(module: &Module, function: FuncId) -> (Module, bool) {
    let mut module = module.clone();
    let Some(function) = module.functions.get_mut(function.0 as usize) else {
        return (module, false);
    };
    let vars = accumulators(function);
    for var in &vars {
        if let Some(v) = function.vars.get_mut(var.0 as usize) {
            v.ty = Type::F64;
        }
    }
    let mut body = std::mem::take(&mut function.body);
    Widen { vars: &vars }.block(&mut body);
    function.body = body;
    (module, !vars.is_empty())
}

/// Local variables of a type with fewer digits than double that are summed by a clause, and that only assignments set.
fn accumulators(function: &Function) -> HashSet<VarId> {
    let mut uses = Uses::default();
    uses.block(&function.body);
    let narrow = |v: &VarId| {
        let var = function.var(*v);
        let real = var.ty.scalar().is_some_and(|s| s.is_float() && s != Scalar::F64);
        real && var.kind == VarKind::Local
    };
    uses.reduced.into_iter().filter(|v| narrow(v) && !uses.fixed.contains(v)).collect()
}

#[derive(Default)]
struct Uses {
    /// In a clause with `+` or `*`.
    reduced: Vec<VarId>,
    /// The type cannot change: set by something other than an assignment, or its address is taken.
    fixed: HashSet<VarId>,
}

impl Visitor for Uses {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For(l) => {
                if let LoopKind::Parallel(p) = &l.kind {
                    let sums = p.reductions.iter();
                    let sums = sums.filter(|r| matches!(r.op, ReduceOp::Add | ReduceOp::Mul));
                    self.reduced.extend(sums.map(|r| r.var));
                }
            }
            StmtKind::Decl { init, .. } => {
                init.iter().for_each(|e| self.expr(e));
                return;
            }
            StmtKind::Call { result: Some(place), .. } => {
                self.fixed.extend(place.root_var());
            }
            _ => {}
        }
        visit::walk_stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, access: Access) {
        if access == Access::Address {
            self.fixed.extend(place.root_var());
        }
        visit::walk_place(self, place, access);
    }

    fn sets(&mut self, var: VarId) {
        self.fixed.insert(var);
    }
}

struct Widen<'v> {
    vars: &'v HashSet<VarId>,
}

impl Widen<'_> {
    fn is_wide(&self, place: &Place) -> bool {
        matches!(&*place.kind, PlaceKind::Var(v) if self.vars.contains(v))
    }

    /// The value in double: sums and products that the variable is part of are computed there, all else as before.
    fn wide(&mut self, mut e: Expr) -> Expr {
        if let Some(value) = e.as_const().filter(|v| v.ty.is_float()) {
            let wide = Expr::constant(Value::float(Scalar::F64, value.as_f64()));
            return Expr { origin: e.origin, ..wide };
        }
        let real = e.ty.scalar().is_some_and(Scalar::is_float);
        match *e.kind {
            ExprKind::Read(mut place) if self.is_wide(&place) => {
                place.ty = Type::F64;
                Expr { kind: Box::new(ExprKind::Read(place)), ty: Type::F64, origin: e.origin }
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b)
                if real && (self.mentions(&a) || self.mentions(&b)) =>
            {
                let kind = ExprKind::Binary(op, self.wide(a), self.wide(b));
                Expr { kind: Box::new(kind), ty: Type::F64, origin: e.origin }
            }
            kind => {
                e.kind = Box::new(kind);
                self.expr(&mut e);
                e.cast(Type::F64)
            }
        }
    }

    /// Whether the expression is one of the variables, or a sum or product that one of them is part of.
    fn mentions(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::Read(place) => self.is_wide(place),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
                self.mentions(a) || self.mentions(b)
            }
            _ => false,
        }
    }
}

impl Rewriter for Widen<'_> {
    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Decl { var, init: Some(value) } if self.vars.contains(var) => {
                *value = self.wide(value.clone());
            }
            StmtKind::Assign { place, value } if self.is_wide(place) => {
                place.ty = Type::F64;
                *value = self.wide(value.clone());
            }
            _ => visit::rewrite_stmt(self, stmt),
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        match &*e.kind {
            ExprKind::Read(place) if self.is_wide(place) => {
                let ty = e.ty.clone();
                *e = self.wide(e.clone()).cast(ty);
            }
            _ => visit::rewrite_expr(self, e),
        }
    }
}
