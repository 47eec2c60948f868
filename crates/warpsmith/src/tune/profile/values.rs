//! Values of integer expressions for the lanes of a warp, and how they change from one iteration to the next.

use std::collections::HashMap;

use warpsmith_ir::{
    Axis, BinaryOp, Builtin, Expr, ExprKind, Module, PlaceKind, Scalar, UnaryOp, Value, VarId, eval,
};

/// Loops around a statement, at most; what stands deeper counts as unchanging.
pub const MAX_LOOPS: usize = 16;

/// An integer with its change for one iteration of each loop around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    pub value: Value,
    pub change: [i64; MAX_LOOPS],
}

impl Dual {
    pub fn constant(value: Value) -> Dual {
        Dual { value, change: [0; MAX_LOOPS] }
    }

    pub fn int(ty: Scalar, value: i64) -> Dual {
        Dual::constant(Value::int(ty, value))
    }
}

/// A thread: where it is, and what its variables hold; what depends on memory is not known.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub thread: [u32; 3],
    pub block: [u32; 3],
    pub vars: HashMap<VarId, Dual>,
}

/// Extents of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl Thread {
    /// The value of a scalar expression, where it follows from the sizes and the position.
    pub fn eval(&self, module: &Module, at: Extents, e: &Expr) -> Option<Dual> {
        match &*e.kind {
            ExprKind::Const(v) => Some(Dual::constant(*v)),
            ExprKind::Named(c) => {
                module.constants.get(c.0 as usize).map(|c| Dual::constant(c.value))
            }
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => self.vars.get(v).copied(),
                _ => None,
            },
            ExprKind::Builtin(b) => self.builtin(at, *b),
            ExprKind::Unary(op, a) => {
                let a = self.eval(module, at, a)?;
                let change = match op {
                    UnaryOp::Neg => a.change.map(i64::wrapping_neg),
                    _ => [0; MAX_LOOPS],
                };
                Some(Dual { value: eval::unary(*op, a.value), change })
            }
            ExprKind::Cast(a) => {
                let to = e.ty.scalar()?;
                let a = self.eval(module, at, a)?;
                Some(Dual { value: eval::cast(a.value, to), change: a.change })
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.eval(module, at, a)?, self.eval(module, at, b)?);
                Some(Dual {
                    value: eval::binary(*op, a.value, b.value),
                    change: changed(*op, a, b),
                })
            }
            ExprKind::Select(c, a, b) => {
                let c = self.eval(module, at, c)?;
                self.eval(module, at, if c.value.is_true() { a } else { b })
            }
            ExprKind::Call(f, args) => {
                let args: Option<Vec<Value>> =
                    args.iter().map(|a| self.eval(module, at, a).map(|d| d.value)).collect();
                Some(Dual::constant(eval::math(*f, &args?)))
            }
            _ => None,
        }
    }

    fn builtin(&self, at: Extents, b: Builtin) -> Option<Dual> {
        let of = |v: [u32; 3], a: Axis| Some(Dual::int(Scalar::U32, v[a.index()].into()));
        match b {
            Builtin::ThreadIdx(a) => of(self.thread, a),
            Builtin::BlockIdx(a) => of(self.block, a),
            Builtin::BlockDim(a) => of(at.block, a),
            Builtin::GridDim(a) => of(at.grid, a),
            Builtin::WarpSize => Some(Dual::int(Scalar::U32, 32)),
            _ => None,
        }
    }
}

/// The change of a sum, difference or product; that of anything else counts as none.
fn changed(op: BinaryOp, a: Dual, b: Dual) -> [i64; MAX_LOOPS] {
    if a.value.ty.is_float() {
        return [0; MAX_LOOPS];
    }
    let (x, y) = (a.value.as_i64(), b.value.as_i64());
    std::array::from_fn(|k| match op {
        BinaryOp::Add => a.change[k].wrapping_add(b.change[k]),
        BinaryOp::Sub => a.change[k].wrapping_sub(b.change[k]),
        BinaryOp::Mul => a.change[k].wrapping_mul(y).wrapping_add(x.wrapping_mul(b.change[k])),
        _ => 0,
    })
}
