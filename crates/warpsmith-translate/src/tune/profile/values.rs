//! Values of integer expressions for the lanes of a warp, and how they change from one iteration to the next.

use std::collections::HashMap;

use warpsmith_ir::{
    BinaryOp, Builtin, Expr, ExprKind, MathFn, Module, Place, PlaceKind, Scalar, Space, Type,
    UnaryOp, Value, VarId, eval, layout::layout_of,
};

use super::address::{Address, Object};
use crate::data::scalar_from_bytes;

/// Loops around a statement, at most; what stands deeper counts as unchanging.
pub const MAX_LOOPS: usize = 16;

/// What is left of 64 bits so that numbers of rows stay below a million.
const SCATTERED_BITS: i64 = 44;

/// What a scalar expression is evaluated to: its value, and perhaps more about it.
pub trait Number: Clone {
    fn constant(value: Value) -> Self;
    /// The value, where there is but one: threads may have different ones.
    fn same(&self) -> Option<Value>;
    fn unary(op: UnaryOp, a: Self) -> Self;
    fn binary(op: BinaryOp, a: Self, b: Self) -> Self;
    fn cast(self, to: Scalar) -> Self;

    /// An integer, perhaps beyond the range of its type.
    fn int(ty: Scalar, value: i64) -> Self {
        Self::constant(Value::int(ty, value))
    }

    fn math(function: MathFn, args: &[Self]) -> Self;

    /// One of two values, by a condition; where nobody asks for one, it need not be known.
    fn choose(
        cond: &Self,
        then: impl FnOnce() -> Option<Self>,
        otherwise: impl FnOnce() -> Option<Self>,
    ) -> Option<Self> {
        if cond.same()?.is_true() { then() } else { otherwise() }
    }
}

/// Of one thread.
pub trait Single: Number + Copy {
    fn value(self) -> Value;
}

impl Single for Value {
    fn value(self) -> Value {
        self
    }
}

impl Number for Value {
    fn constant(value: Value) -> Value {
        value
    }

    fn same(&self) -> Option<Value> {
        Some(*self)
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

    fn math(function: MathFn, args: &[Value]) -> Value {
        eval::math(function, args)
    }
}

/// An integer with its change for one iteration of each loop around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual {
    pub value: Value,
    pub change: [i64; MAX_LOOPS],
    /// Loops in strides of the grid that it follows, one bit each.
    pub strides: u32,
}

impl Number for Dual {
    fn constant(value: Value) -> Dual {
        Dual { value, change: [0; MAX_LOOPS], strides: 0 }
    }

    fn same(&self) -> Option<Value> {
        Some(self.value)
    }

    fn unary(op: UnaryOp, a: Dual) -> Dual {
        let change = match op {
            UnaryOp::Neg => a.change.map(i64::wrapping_neg),
            _ => [0; MAX_LOOPS],
        };
        Dual { value: eval::unary(op, a.value), change, strides: a.strides }
    }

    fn binary(op: BinaryOp, a: Dual, b: Dual) -> Dual {
        let strides = a.strides | b.strides;
        Dual { value: eval::binary(op, a.value, b.value), change: changed(op, a, b), strides }
    }

    fn cast(self, to: Scalar) -> Dual {
        Dual { value: eval::cast(self.value, to), ..self }
    }

    fn math(function: MathFn, args: &[Dual]) -> Dual {
        let args: Vec<Value> = args.iter().map(|a| a.value).collect();
        Dual::constant(eval::math(function, &args))
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

impl<N: Clone> Vars<N> {
    pub fn get(&self, var: VarId) -> Option<N> {
        self.0.get(var.0 as usize).cloned().flatten()
    }

    /// The same variables with what is made of each value.
    pub fn map<M>(&self, of: impl Fn(N) -> M) -> Vars<M> {
        Vars(self.0.iter().map(|v| v.clone().map(&of)).collect())
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
    pub thread: [N; 3],
    pub block: [u32; 3],
    /// A parameter of a kernel that points to starts of rows has the number of elements from one to the next.
    pub vars: Vars<N>,
    /// Where pointer variables point to, other than those that are objects themselves, and arrays in shared memory that are
    /// copies: what element 0 is a copy of.
    pub pointers: HashMap<VarId, Address<N>>,
    /// Integers in arrays and vectors of the thread, by variable and byte.
    pub cells: HashMap<(VarId, i64), N>,
    /// Whether integers in memory that are not known are taken to be any: an address through data is one of many.
    pub scatters: bool,
}

impl<N: Number> Default for Thread<N> {
    fn default() -> Thread<N> {
        Thread {
            thread: [0; 3].map(number),
            block: [0; 3],
            vars: Vars::default(),
            pointers: HashMap::new(),
            cells: HashMap::new(),
            scatters: false,
        }
    }
}

/// Extents of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extents {
    pub grid: [u32; 3],
    pub block: [u32; 3],
}

/// A position or an extent.
pub fn number<N: Number>(value: u32) -> N {
    N::constant(Value::int(Scalar::U32, value.into()))
}

impl<N: Number> Thread<N> {
    /// A thread of a block that knows its parameters.
    pub fn new(block: [u32; 3], thread: [u32; 3], vars: Vars<N>) -> Thread<N> {
        Thread { thread: thread.map(number), block, vars, ..Thread::default() }
    }

    /// A variable's value is not known any more.
    pub fn forget(&mut self, var: VarId) {
        self.vars.set(var, None);
        self.pointers.remove(&var);
        if !self.cells.is_empty() {
            self.cells.retain(|(v, _), _| *v != var);
        }
    }

    /// Gives a variable the value of an expression.
    pub fn assign(&mut self, module: &Module, at: Extents, var: VarId, e: &Expr) {
        match &e.ty {
            Type::Pointer { .. } => match self.pointer(module, at, e) {
                Some(p) => _ = self.pointers.insert(var, p),
                None => _ = self.pointers.remove(&var),
            },
            Type::Array(..) | Type::Vector(..) => {
                let cells = self.cells_of(module, at, e);
                self.forget(var);
                self.cells.extend(cells.into_iter().map(|(byte, n)| ((var, byte), n)));
            }
            _ => self.vars.set(var, self.eval(module, at, e)),
        }
    }

    /// The integers that an array or vector is made of, by byte.
    fn cells_of(&self, module: &Module, at: Extents, e: &Expr) -> Vec<(i64, N)> {
        let size = |ty: &Type| layout_of(module, ty).size as i64;
        match &*e.kind {
            ExprKind::Make(parts) => {
                let integers = parts.iter().enumerate().filter(|(_, part)| part.ty.is_integer());
                let cell = |(k, part): (usize, &Expr)| {
                    Some((size(&part.ty) * k as i64, self.eval(module, at, part)?))
                };
                integers.filter_map(cell).collect()
            }
            ExprKind::Read(place) => {
                let Some(Address { object: Object::Var(v), offset }) =
                    self.address(module, at, place)
                else {
                    return vec![];
                };
                let Some(first) = offset.same().map(Value::as_i64) else { return vec![] };
                let own = first..first + size(&e.ty);
                let cells =
                    self.cells.iter().filter(|((of, byte), _)| *of == v && own.contains(byte));
                cells.map(|((_, byte), n)| (byte - first, n.clone())).collect()
            }
            _ => vec![],
        }
    }

    /// Writes an expression's value to a place, of which only those in `local` variables are kept.
    pub fn store(
        &mut self,
        module: &Module,
        at: Extents,
        place: &Place,
        e: &Expr,
        local: impl Fn(VarId) -> bool,
    ) {
        match (self.address(module, at, place), place.root_var()) {
            (Some(Address { object: Object::Var(v), offset }), _) if local(v) => {
                let Some(byte) = offset.same() else { return self.forget(v) };
                let key = (v, byte.as_i64());
                match self.eval(module, at, e).filter(|_| place.ty.is_integer()) {
                    Some(value) => _ = self.cells.insert(key, value),
                    None => _ = self.cells.remove(&key),
                }
            }
            (Some(_), _) => {}
            (None, Some(v)) => self.forget(v),
            // Through a pointer that may point anywhere.
            (None, None) => self.cells.clear(),
        }
    }

    /// What lies so many bytes after a place of the thread's own.
    fn cell(&self, module: &Module, at: Extents, place: &Place, bytes: i64) -> Option<N> {
        if self.cells.is_empty() {
            return None;
        }
        let address = self.address(module, at, place)?;
        let Object::Var(v) = address.object else { return None };
        self.cells.get(&(v, address.offset.same()?.as_i64() + bytes)).cloned()
    }

    /// An integer of a table of constants.
    fn of_table(&self, module: &Module, at: Extents, place: &Place) -> Option<N> {
        let ty = place.ty.scalar().filter(|ty| ty.is_integer())?;
        let Address { object: Object::Global(id), offset } = self.address(module, at, place)?
        else {
            return None;
        };
        let table = module.globals.get(id.0 as usize).filter(|g| g.space == Space::Constant)?;
        let start = usize::try_from(offset.same()?.as_i64()).ok()?;
        let bytes = table.init.as_deref()?.get(start..start + ty.bytes() as usize)?;
        Some(N::constant(scalar_from_bytes(ty, bytes)))
    }

    /// The start of a row that is read from memory, where a parameter holds how far such are apart ([`super::rows`]).
    fn row_start(&self, module: &Module, at: Extents, place: &Place) -> Option<N> {
        let (array, row) = match &*place.kind {
            PlaceKind::Elem { pointer, index, .. } => {
                let [row] = index.as_slice() else { return None };
                (self.pointer(module, at, pointer)?, self.eval(module, at, row)?)
            }
            PlaceKind::Index(copy, row) => {
                let PlaceKind::Var(copy) = &*copy.kind else { return None };
                (self.pointers.get(copy)?.clone(), self.eval(module, at, row)?)
            }
            _ => return None,
        };
        let Object::Var(starts) = array.object else { return None };
        let length = self.vars.get(starts)?;
        let bytes = N::int(Scalar::I64, layout_of(module, &place.ty).size as i64);
        let before = N::binary(BinaryOp::Div, array.offset, bytes);
        let row = N::binary(BinaryOp::Add, before, row.cast(Scalar::I64));
        let start = N::binary(BinaryOp::Mul, row, length);
        Some(start.cast(place.ty.scalar()?))
    }

    /// An integer that stands for one in memory: the same for the same address, and anything for others.
    fn scattered(&self, module: &Module, at: Extents, place: &Place) -> Option<N> {
        let ty = place.ty.scalar().filter(|ty| ty.is_integer())?;
        let offset = self.address(module, at, place)?.offset.cast(Scalar::U64);
        let golden = N::int(Scalar::U64, 0x9E37_79B9_7F4A_7C15_u64 as i64);
        let mixed = N::binary(BinaryOp::Mul, offset, golden);
        Some(N::binary(BinaryOp::Shr, mixed, N::int(Scalar::U64, SCATTERED_BITS)).cast(ty))
    }

    /// The value of a scalar expression, where it follows from the sizes and the position.
    pub fn eval(&self, module: &Module, at: Extents, e: &Expr) -> Option<N> {
        match &*e.kind {
            ExprKind::Const(v) => Some(N::constant(*v)),
            ExprKind::Named(c) => module.constants.get(c.0 as usize).map(|c| N::constant(c.value)),
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => self.vars.get(*v),
                _ => {
                    let known = || self.row_start(module, at, p);
                    let known = self.cell(module, at, p, 0).or_else(known);
                    let known = known.or_else(|| self.of_table(module, at, p));
                    known.or_else(|| self.scattered(module, at, p).filter(|_| self.scatters))
                }
            },
            ExprKind::Member(a, k) => match &*a.kind {
                ExprKind::Make(parts) => self.eval(module, at, parts.get(*k as usize)?),
                ExprKind::Read(p) => {
                    let size = layout_of(module, &e.ty).size as i64;
                    self.cell(module, at, p, size * i64::from(*k))
                }
                _ => None,
            },
            ExprKind::Builtin(b) => self.builtin(at, *b),
            ExprKind::Unary(op, a) => Some(N::unary(*op, self.eval(module, at, a)?)),
            ExprKind::Cast(a) => Some(self.eval(module, at, a)?.cast(e.ty.scalar()?)),
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                let a = self.eval(module, at, a)?;
                // The right side need not be known where the left one decides.
                let (left, right) = (|| Some(a.clone()), || self.eval(module, at, b));
                match op {
                    BinaryOp::LogicalAnd => N::choose(&a, right, left),
                    _ => N::choose(&a, left, right),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.eval(module, at, a)?, self.eval(module, at, b)?);
                Some(N::binary(*op, a, b))
            }
            ExprKind::Select(c, a, b) => {
                let side = |e| move || self.eval(module, at, e);
                N::choose(&self.eval(module, at, c)?, side(a), side(b))
            }
            ExprKind::Call(f, args) => {
                let args: Option<Vec<N>> = args.iter().map(|a| self.eval(module, at, a)).collect();
                Some(N::math(*f, &args?))
            }
            _ => None,
        }
    }

    fn builtin(&self, at: Extents, b: Builtin) -> Option<N> {
        match b {
            Builtin::ThreadIdx(a) => Some(self.thread[a.index()].clone()),
            Builtin::BlockIdx(a) => Some(number(self.block[a.index()])),
            Builtin::BlockDim(a) => Some(number(at.block[a.index()])),
            Builtin::GridDim(a) => Some(number(at.grid[a.index()])),
            Builtin::WarpSize => Some(number(32)),
            Builtin::LaneId => Some(N::binary(BinaryOp::Rem, self.flat(at), number(32))),
            _ => None,
        }
    }

    /// The thread's number in its block.
    fn flat(&self, at: Extents) -> N {
        let [x, y, z] = self.thread.clone();
        let row = |columns, rows, row| {
            N::binary(BinaryOp::Add, columns, N::binary(BinaryOp::Mul, number(rows), row))
        };
        row(x, at.block[0], row(y, at.block[1], z))
    }
}

/// The change of a sum, difference, product or exclusive or; that of anything else counts as none.
fn changed(op: BinaryOp, a: Dual, b: Dual) -> [i64; MAX_LOOPS] {
    if a.value.ty.is_float() {
        return [0; MAX_LOOPS];
    }
    let (x, y) = (a.value.as_i64(), b.value.as_i64());
    let each = |of: &dyn Fn(i64, i64) -> i64| -> [i64; MAX_LOOPS] {
        std::array::from_fn(|k| of(a.change[k], b.change[k]))
    };
    match op {
        BinaryOp::Add => each(&i64::wrapping_add),
        BinaryOp::Sub => each(&i64::wrapping_sub),
        BinaryOp::Mul => each(&|da, db| da.wrapping_mul(y).wrapping_add(x.wrapping_mul(db))),
        // Columns of swizzled tiles.
        BinaryOp::BitXor => {
            each(&|da, db| (x.wrapping_add(da) ^ y.wrapping_add(db)).wrapping_sub(x ^ y))
        }
        BinaryOp::Div | BinaryOp::Rem => moved_on(op, a, b),
        _ => [0; MAX_LOOPS],
    }
}

/// The change of rows and columns of a counter: of one that goes on by whole rows, or with the grid. Of one that goes along rows
/// the next step says nothing about the others; but columns that it reaches by less than a row are others, as those of the vectors of
/// a thread's tile.
fn moved_on(op: BinaryOp, a: Dual, b: Dual) -> [i64; MAX_LOOPS] {
    let of = |(x, y): (i64, i64)| match op {
        BinaryOp::Div => x.checked_div(y),
        _ => x.checked_rem(y),
    };
    let (x, y) = (a.value.as_i64(), b.value.as_i64());
    std::array::from_fn(|k| {
        let (dx, dy) = (a.change[k], b.change[k]);
        let whole = dy == 0 && dx.checked_rem(y) == Some(0);
        let along = op == BinaryOp::Rem && dy == 0 && dx.unsigned_abs() < y.unsigned_abs();
        let next = (x.wrapping_add(dx), y.wrapping_add(dy));
        let ends = of(next).zip(of((x, y))).filter(|_| whole || along || a.strides >> k & 1 == 1);
        ends.map_or(0, |(next, now)| next.wrapping_sub(now))
    })
}
