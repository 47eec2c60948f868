//! Values of integer expressions for the lanes of a warp, and how they change from one iteration to the next.

use std::collections::HashMap;

use warpsmith_ir::{
    BinaryOp, Builtin, Expr, ExprKind, Module, PlaceKind, Scalar, UnaryOp, Value, VarId, eval,
};

use super::address::Address;

/// Loops around a statement, at most; what stands deeper counts as unchanging.
pub const MAX_LOOPS: usize = 16;

/// What a scalar expression is evaluated to: its value, and perhaps more about it.
pub trait Number: Copy {
    fn constant(value: Value) -> Self;
    fn value(self) -> Value;
    fn unary(op: UnaryOp, a: Self) -> Self;
    fn binary(op: BinaryOp, a: Self, b: Self) -> Self;
    fn cast(self, to: Scalar) -> Self;
}

impl Number for Value {
    fn constant(value: Value) -> Value {
        value
    }

    fn value(self) -> Value {
        self
    }

    fn unary(op: UnaryOp, a: Value) -> Value {
        eval::unary(op, a)
    }

    fn binary(op: BinaryOp, a: Value, b: Value) -> Value {
        eval::binary(op, a, b)
    }

    fn cast(self, to: Scalar) -> Value {
        eval::cast(self, to)
    }
}

/// An integer with its change for one iteration of each loop around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    pub value: Value,
    pub change: [i64; MAX_LOOPS],
}

impl Number for Dual {
    fn constant(value: Value) -> Dual {
        Dual { value, change: [0; MAX_LOOPS] }
    }

    fn value(self) -> Value {
        self.value
    }

    fn unary(op: UnaryOp, a: Dual) -> Dual {
        let change = match op {
            UnaryOp::Neg => a.change.map(i64::wrapping_neg),
            _ => [0; MAX_LOOPS],
        };
        Dual { value: eval::unary(op, a.value), change }
    }

    fn binary(op: BinaryOp, a: Dual, b: Dual) -> Dual {
        Dual { value: eval::binary(op, a.value, b.value), change: changed(op, a, b) }
    }

    fn cast(self, to: Scalar) -> Dual {
        Dual { value: eval::cast(self.value, to), change: self.change }
    }
}

/// The values of variables, by their numbers.
#[derive(Clone, Debug)]
pub struct Vars<N>(Vec<Option<N>>);

impl<N> Default for Vars<N> {
    fn default() -> Vars<N> {
        Vars(vec![])
    }
}

impl<N: Copy> Vars<N> {
    pub fn get(&self, var: VarId) -> Option<N> {
        self.0.get(var.0 as usize).copied().flatten()
    }

    /// `None`: the value is not known any more.
    pub fn set(&mut self, var: VarId, value: Option<N>) {
        let at = var.0 as usize;
        if at >= self.0.len() && value.is_some() {
            self.0.resize(at + 1, None);
        }
        if let Some(slot) = self.0.get_mut(at) {
            *slot = value;
        }
    }

    /// All that are known.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut N> {
        self.0.iter_mut().flatten()
    }
}

/// A thread: where it is, and what its variables hold; what depends on memory is not known.
#[derive(Clone, Debug)]
pub struct Thread<N> {
    pub thread: [u32; 3],
    pub block: [u32; 3],
    pub vars: Vars<N>,
    /// Where pointer variables point to, other than those that are objects themselves.
    pub pointers: HashMap<VarId, Address<N>>,
}

impl<N> Default for Thread<N> {
    fn default() -> Thread<N> {
        Thread { thread: [0; 3], block: [0; 3], vars: Vars::default(), pointers: HashMap::new() }
    }
}

/// Extents of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

impl<N: Number> Thread<N> {
    /// The value of a scalar expression, where it follows from the sizes and the position.
    pub fn eval(&self, module: &Module, at: Extents, e: &Expr) -> Option<N> {
        match &*e.kind {
            ExprKind::Const(v) => Some(N::constant(*v)),
            ExprKind::Named(c) => module.constants.get(c.0 as usize).map(|c| N::constant(c.value)),
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => self.vars.get(*v),
                _ => None,
            },
            ExprKind::Builtin(b) => self.builtin(at, *b),
            ExprKind::Unary(op, a) => Some(N::unary(*op, self.eval(module, at, a)?)),
            ExprKind::Cast(a) => Some(self.eval(module, at, a)?.cast(e.ty.scalar()?)),
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                let a = self.eval(module, at, a)?;
                // The right side need not be known where the left one decides.
                match a.value().is_true() == (*op == BinaryOp::LogicalAnd) {
                    true => self.eval(module, at, b),
                    false => Some(a),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.eval(module, at, a)?, self.eval(module, at, b)?);
                Some(N::binary(*op, a, b))
            }
            ExprKind::Select(c, a, b) => {
                let c = self.eval(module, at, c)?;
                self.eval(module, at, if c.value().is_true() { a } else { b })
            }
            ExprKind::Call(f, args) => {
                let args: Option<Vec<Value>> =
                    args.iter().map(|a| self.eval(module, at, a).map(N::value)).collect();
                Some(N::constant(eval::math(*f, &args?)))
            }
            _ => None,
        }
    }

    fn builtin(&self, at: Extents, b: Builtin) -> Option<N> {
        let number = |v: u32| Some(N::constant(Value::int(Scalar::U32, v.into())));
        let flat = || {
            let [x, y, z] = self.thread;
            x + at.block[0] * (y + at.block[1] * z)
        };
        match b {
            Builtin::ThreadIdx(a) => number(self.thread[a.index()]),
            Builtin::BlockIdx(a) => number(self.block[a.index()]),
            Builtin::BlockDim(a) => number(at.block[a.index()]),
            Builtin::GridDim(a) => number(at.grid[a.index()]),
            Builtin::WarpSize => number(32),
            Builtin::LaneId => number(flat() % 32),
            _ => None,
        }
    }
}

/// The change of a sum, difference, product or exclusive or; that of anything else counts as none.
fn changed(op: BinaryOp, a: Dual, b: Dual) -> [i64; MAX_LOOPS] {
    if a.value.ty.is_float() {
        return [0; MAX_LOOPS];
    }
    let (x, y) = (a.value.as_i64(), b.value.as_i64());
    std::array::from_fn(|k| match op {
        BinaryOp::Add => a.change[k].wrapping_add(b.change[k]),
        BinaryOp::Sub => a.change[k].wrapping_sub(b.change[k]),
        BinaryOp::Mul => a.change[k].wrapping_mul(y).wrapping_add(x.wrapping_mul(b.change[k])),
        // Columns of swizzled tiles.
        BinaryOp::BitXor => {
            (x.wrapping_add(a.change[k]) ^ y.wrapping_add(b.change[k])).wrapping_sub(x ^ y)
        }
        _ => 0,
    })
}
