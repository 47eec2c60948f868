//! Pure instructions: on scalars of the group once, on lane vectors for whole warps.

use warpsmith_ir::{BinaryOp, MathFn, Scalar, UnaryOp, eval};

use super::block::{Block, Group};
use super::lanes::{self, FastCast, Src};
use super::launch::Machine;
use crate::compile::lir::{Op, Opd, from_register, to_register, words};

/// Where a vector instruction reads and writes: the warps of its group.
#[derive(Clone, Copy)]
struct Window {
    width: u32,
    /// First lane.
    first: usize,
    lanes: usize,
}

impl Machine<'_> {
    /// A scalar operand.
    #[inline(always)]
    pub fn scalar(&self, g: &Group, o: Opd) -> u64 {
        match o {
            Opd::K(k) => k,
            Opd::S(s) => g.scalars[s as usize],
            _ => 0,
        }
    }

    /// One lane of any operand.
    pub fn lane_value(&self, b: &mut Block, g: &Group, o: Opd, wide: bool, lane: u32) -> u64 {
        match o {
            Opd::V(v) => b.lane(v, self.width, wide, lane),
            other => self.scalar(g, other),
        }
    }

    /// Executes a pure instruction and carries its operands' poison on.
    pub fn arithmetic(&mut self, b: &mut Block, g: &mut Group, op: &Op, pc: usize) {
        let Some((dst, ty)) = destination(op) else { return };
        self.check_defined(b, g, op, pc);
        match dst {
            Opd::S(s) => {
                let value = self.scalar_result(g, op);
                g.scalars[s as usize] = value;
            }
            Opd::V(o) => self.vector(b, g, op, o, ty, pc),
            _ => return,
        }
        if self.checks.poison {
            self.carry_poison(b, g, op, dst, pc);
        }
    }

    fn vector(&mut self, b: &mut Block, g: &Group, op: &Op, dst: u32, ty: Scalar, pc: usize) {
        let w = Window {
            width: self.width,
            first: g.lo as usize * 32,
            lanes: (g.hi - g.lo) as usize * 32,
        };
        let wide = words(ty) == 2;
        let row = b.row(dst, w.width);
        let keep = self.program.masked[pc] && !g.full;
        let target = if keep { b.scratch.as_mut_ptr().cast::<u32>() } else { row };
        let d = if wide { target.wrapping_add(2 * w.first) } else { target.wrapping_add(w.first) };
        self.compute(b, g, op, d, w);
        if !keep {
            return;
        }
        for warp in g.lo as usize..g.hi as usize {
            let mask = g.mask.warps[warp];
            if mask == 0 {
                continue;
            }
            // SAFETY: both rows hold all warps of the block; scratch is as wide as a wide row.
            unsafe {
                if wide {
                    let at = warp * 32;
                    lanes::blend64(row.cast::<u64>().add(at), target.cast::<u64>().add(at), mask);
                } else {
                    lanes::blend32(row.add(warp * 32), target.add(warp * 32), mask);
                }
            }
        }
    }

    /// Computes all lanes of the window into `d`.
    fn compute(&self, b: &mut Block, g: &Group, op: &Op, d: *mut u32, w: Window) {
        let fast = match op {
            Op::Bin { op, ty, a, b: y, count_ty, .. } => {
                self.binary(b, g, *op, *ty, *count_ty, [*a, *y], d, w)
            }
            Op::MulAdd { ty, a, b: y, c, .. } => self.mul_add(b, g, *ty, [*a, *y, *c], d, w),
            Op::Mov { ty, a, .. } => {
                self.copy(b, g, *ty, *a, d, w);
                true
            }
            Op::Select { ty, c, a, b: y, .. } => self.pick_lanes(b, g, *ty, [*c, *a, *y], d, w),
            Op::Cast { from, to, a, .. } => self.convert(b, g, *from, *to, *a, d, w),
            Op::Un { op, ty, a, .. } => self.unary(b, g, *op, *ty, *a, d, w),
            Op::Math { f, ty, args, .. } => self.fast_math(b, g, *f, *ty, *args, d, w),
            _ => false,
        };
        if !fast {
            self.lane_by_lane(b, g, op, d, w);
        }
    }

    fn src32(&self, b: &mut Block, g: &Group, o: Opd, w: Window) -> Src<u32> {
        match o {
            Opd::V(v) => Src::V(b.row(v, w.width).wrapping_add(w.first)),
            other => Src::S(self.scalar(g, other) as u32),
        }
    }

    fn src64(&self, b: &mut Block, g: &Group, o: Opd, w: Window) -> Src<u64> {
        match o {
            Opd::V(v) => Src::V(b.row(v, w.width).cast::<u64>().wrapping_add(w.first)),
            other => Src::S(self.scalar(g, other)),
        }
    }

    /// A vector operand; a scalar is spread over scratch row `n`.
    fn vec32(&self, b: &mut Block, g: &Group, o: Opd, w: Window, n: usize) -> *const u32 {
        match self.src32(b, g, o, w) {
            Src::V(p) => p,
            Src::S(v) => {
                let p = b.scratch.as_mut_ptr().wrapping_add(n * w.width as usize).cast::<u32>();
                // SAFETY: scratch holds three wide rows.
                unsafe { lanes::fill32(p, v, w.lanes) };
                p
            }
        }
    }

    fn vec64(&self, b: &mut Block, g: &Group, o: Opd, w: Window, n: usize) -> *const u64 {
        match self.src64(b, g, o, w) {
            Src::V(p) => p,
            Src::S(v) => {
                let p = b.scratch.as_mut_ptr().wrapping_add(n * w.width as usize);
                // SAFETY: scratch holds three wide rows.
                unsafe { lanes::fill64(p, v, w.lanes) };
                p
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "operands and place of one instruction")]
    fn binary(
        &self,
        b: &mut Block,
        g: &Group,
        op: BinaryOp,
        ty: Scalar,
        count_ty: Scalar,
        [x, y]: [Opd; 2],
        d: *mut u32,
        w: Window,
    ) -> bool {
        use BinaryOp::{BitAnd, BitOr, BitXor, Eq, Ne, Shl, Shr};
        if matches!(op, Shl | Shr) && words(ty) != words(count_ty) {
            return false;
        }
        let n = w.lanes;
        // A vector operand goes first, which spares spreading the scalar.
        let swap = matches!(op, BinaryOp::Add | BinaryOp::Mul | BitAnd | BitOr | BitXor | Eq | Ne);
        let (x, y) = match x {
            Opd::V(_) => (x, y),
            _ if swap && matches!(y, Opd::V(_)) => (y, x),
            _ => (x, y),
        };
        // SAFETY: all rows hold the lanes of the window, which are whole warps; register places are
        // equal or disjoint.
        unsafe {
            match ty {
                Scalar::F32 => {
                    let a = self.vec32(b, g, x, w, 1).cast::<f32>();
                    let y = real32(self.src32(b, g, y, w));
                    if op.is_comparison() {
                        lanes::compare_real32(op, d, a, y, n);
                        return true;
                    }
                    lanes::real32(op, d.cast(), a, y, n)
                }
                Scalar::F64 => {
                    let a = self.vec64(b, g, x, w, 1).cast::<f64>();
                    let y = real64(self.src64(b, g, y, w));
                    if op.is_comparison() {
                        lanes::compare_real64(op, d, a, y, n);
                        return true;
                    }
                    lanes::real64(op, d.cast(), a, y, n)
                }
                Scalar::F16 | Scalar::BF16 => false,
                Scalar::I64 | Scalar::U64 => {
                    let a = self.vec64(b, g, x, w, 1);
                    let y = self.src64(b, g, y, w);
                    if op.is_comparison() {
                        lanes::compare_int64(op, ty.is_signed(), d, a, y, n);
                        return true;
                    }
                    lanes::int64(op, ty.is_signed(), d.cast(), a, y, n)
                }
                _ => {
                    // Narrow results would need wrapping, except where no bit beyond can appear.
                    let narrow = ty.bytes() < 4;
                    if narrow && !op.is_comparison() && !matches!(op, BitAnd | BitOr | BitXor) {
                        return false;
                    }
                    if ty == Scalar::Bool && !matches!(op, BitAnd | BitOr | BitXor | Eq | Ne) {
                        return false;
                    }
                    let a = self.vec32(b, g, x, w, 1);
                    let y = self.src32(b, g, y, w);
                    if op.is_comparison() {
                        lanes::compare_int32(op, ty.is_signed(), d, a, y, n);
                        return true;
                    }
                    lanes::int32(op, ty.is_signed(), d, a, y, n)
                }
            }
        }
    }

    fn mul_add(
        &self,
        b: &mut Block,
        g: &Group,
        ty: Scalar,
        [x, y, z]: [Opd; 3],
        d: *mut u32,
        w: Window,
    ) -> bool {
        // Products commute: the vector goes first.
        let (x, y) = if matches!(x, Opd::V(_)) { (x, y) } else { (y, x) };
        // SAFETY: as in `binary`.
        unsafe {
            match ty {
                Scalar::F32 => {
                    let a = self.vec32(b, g, x, w, 1).cast();
                    let y = real32(self.src32(b, g, y, w));
                    let z = real32(self.src32(b, g, z, w));
                    lanes::mul_add32(d.cast(), a, y, z, w.lanes);
                    true
                }
                Scalar::F64 => {
                    let a = self.vec64(b, g, x, w, 1).cast();
                    let y = real64(self.src64(b, g, y, w));
                    let z = real64(self.src64(b, g, z, w));
                    lanes::mul_add64(d.cast(), a, y, z, w.lanes);
                    true
                }
                _ => false,
            }
        }
    }

    fn copy(&self, b: &mut Block, g: &Group, ty: Scalar, x: Opd, d: *mut u32, w: Window) {
        // SAFETY: the rows hold the window's lanes; equal rows are not copied.
        unsafe {
            if words(ty) == 2 {
                let d = d.cast::<u64>();
                match self.src64(b, g, x, w) {
                    Src::V(p) => std::ptr::copy(p, d, w.lanes),
                    Src::S(v) => lanes::fill64(d, v, w.lanes),
                }
            } else {
                match self.src32(b, g, x, w) {
                    Src::V(p) => std::ptr::copy(p, d, w.lanes),
                    Src::S(v) => lanes::fill32(d, v, w.lanes),
                }
            }
        }
    }

    fn pick_lanes(
        &self,
        b: &mut Block,
        g: &Group,
        ty: Scalar,
        [c, x, y]: [Opd; 3],
        d: *mut u32,
        w: Window,
    ) -> bool {
        let c = self.vec32(b, g, c, w, 1);
        // SAFETY: as in `binary`.
        unsafe {
            if words(ty) == 2 {
                let (x, y) = (self.src64(b, g, x, w), self.src64(b, g, y, w));
                lanes::select64(d.cast(), c, x, y, w.lanes);
            } else {
                let (x, y) = (self.src32(b, g, x, w), self.src32(b, g, y, w));
                lanes::select32(d, c, x, y, w.lanes);
            }
        }
        true
    }

    #[expect(clippy::too_many_arguments, reason = "operands and place of one instruction")]
    fn convert(
        &self,
        b: &mut Block,
        g: &Group,
        from: Scalar,
        to: Scalar,
        x: Opd,
        d: *mut u32,
        w: Window,
    ) -> bool {
        let Some(kind) = fast_cast(from, to) else { return false };
        let a = if words(from) == 2 {
            self.vec64(b, g, x, w, 1).cast()
        } else {
            self.vec32(b, g, x, w, 1)
        };
        // SAFETY: as in `binary`; rows of different widths are disjoint.
        unsafe { lanes::cast(kind, d, a, w.lanes) };
        true
    }

    #[expect(clippy::too_many_arguments, reason = "operands and place of one instruction")]
    fn unary(
        &self,
        b: &mut Block,
        g: &Group,
        op: UnaryOp,
        ty: Scalar,
        x: Opd,
        d: *mut u32,
        w: Window,
    ) -> bool {
        // Written as a binary operation with a constant.
        let (ty, op, k) = match (op, ty) {
            (_, Scalar::Bool) => (Scalar::U32, BinaryOp::BitXor, 1),
            (UnaryOp::Neg, Scalar::F32) => (Scalar::U32, BinaryOp::BitXor, 1 << 31),
            (UnaryOp::Neg, Scalar::F64) => (Scalar::U64, BinaryOp::BitXor, 1 << 63),
            (UnaryOp::Neg, Scalar::I32 | Scalar::U32) => (Scalar::I32, BinaryOp::Mul, u64::MAX),
            (UnaryOp::Neg, Scalar::I64 | Scalar::U64) => (Scalar::I64, BinaryOp::Mul, u64::MAX),
            (UnaryOp::BitNot, Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64) => {
                (ty, BinaryOp::BitXor, u64::MAX)
            }
            _ => return false,
        };
        self.binary(b, g, op, ty, ty, [x, Opd::K(k)], d, w)
    }

    #[expect(clippy::too_many_arguments, reason = "operands and place of one instruction")]
    fn fast_math(
        &self,
        b: &mut Block,
        g: &Group,
        f: MathFn,
        ty: Scalar,
        args: [Opd; 3],
        d: *mut u32,
        w: Window,
    ) -> bool {
        match (f, ty) {
            (MathFn::Abs, Scalar::F32) => {
                let k = Opd::K(0x7fff_ffff);
                let ty = Scalar::U32;
                self.binary(b, g, BinaryOp::BitAnd, ty, ty, [args[0], k], d, w)
            }
            (MathFn::Abs, Scalar::F64) => {
                let k = Opd::K(u64::MAX >> 1);
                let ty = Scalar::U64;
                self.binary(b, g, BinaryOp::BitAnd, ty, ty, [args[0], k], d, w)
            }
            (MathFn::Min | MathFn::Max, Scalar::I32 | Scalar::U32) => {
                let a = self.vec32(b, g, args[0], w, 1);
                let y = self.src32(b, g, args[1], w);
                // SAFETY: as in `binary`.
                unsafe { lanes::extremum32(f == MathFn::Max, ty == Scalar::I32, d, a, y, w.lanes) };
                true
            }
            (MathFn::Sqrt, Scalar::F32) => {
                let a = self.vec32(b, g, args[0], w, 1);
                // SAFETY: as in `binary`.
                unsafe { lanes::sqrt32(d.cast(), a.cast(), w.lanes) };
                true
            }
            (MathFn::Fma, Scalar::F32) => {
                let a = self.vec32(b, g, args[0], w, 1).cast();
                let y = real32(self.src32(b, g, args[1], w));
                let z = real32(self.src32(b, g, args[2], w));
                // SAFETY: as in `binary`.
                unsafe { lanes::fma32(d.cast(), a, y, z, w.lanes) };
                true
            }
            _ => false,
        }
    }

    /// What no loop over lanes is written for: the shared definitions, one lane at a time.
    fn lane_by_lane(&self, b: &mut Block, g: &Group, op: &Op, d: *mut u32, w: Window) {
        let Some((_, ty)) = destination(op) else { return };
        let wide = words(ty) == 2;
        for k in 0..w.lanes {
            let lane = (w.first + k) as u32;
            let active = g.mask.warps[lane as usize / 32] >> (lane % 32) & 1 == 1;
            if !active {
                continue;
            }
            let v = evaluate(op, &mut |o, wide| self.lane_value(b, g, o, wide, lane));
            // SAFETY: `d` holds the lanes of the window.
            unsafe {
                if wide {
                    d.cast::<u64>().add(k).write_unaligned(v);
                } else {
                    d.add(k).write(v as u32);
                }
            }
        }
    }

    fn scalar_result(&self, g: &Group, op: &Op) -> u64 {
        let get = |o| self.scalar(g, o);
        // The common cases of loop counters and addresses first.
        match op {
            Op::Mov { a, .. } => return get(*a),
            Op::Bin { op, ty: ty @ (Scalar::I32 | Scalar::U32), a, b, .. } => {
                let (x, y) = (get(*a) as u32, get(*b) as u32);
                let signed = *ty == Scalar::I32;
                let r = match op {
                    BinaryOp::Add => x.wrapping_add(y),
                    BinaryOp::Sub => x.wrapping_sub(y),
                    BinaryOp::Mul => x.wrapping_mul(y),
                    BinaryOp::Lt if signed => ((x as i32) < y as i32).into(),
                    BinaryOp::Lt => (x < y).into(),
                    BinaryOp::Eq => (x == y).into(),
                    BinaryOp::Ne => (x != y).into(),
                    _ => return evaluate(&op_of(*op, *ty, *a, *b), &mut |o, _| get(o)),
                };
                return r.into();
            }
            _ => {}
        }
        evaluate(op, &mut |o, _| get(o))
    }

    /// Writes a scalar result to whatever holds the destination.
    pub fn write_scalar(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        dst: Opd,
        wide: bool,
        value: u64,
        pc: usize,
    ) {
        match dst {
            Opd::S(s) => {
                g.scalars[s as usize] = value;
                g.poison[s as usize] = false;
            }
            Opd::V(o) => {
                let width = self.width;
                let keep = self.program.masked[pc] && !g.full;
                for warp in g.lo..g.hi {
                    let mask = if keep { g.mask.warps[warp as usize] } else { u32::MAX };
                    for k in 0..32 {
                        if mask >> k & 1 == 1 {
                            b.set_lane(o, width, wide, warp * 32 + k, value);
                        }
                    }
                }
                self.define(b, g, dst, pc);
            }
            _ => {}
        }
    }
}

fn op_of(op: BinaryOp, ty: Scalar, a: Opd, b: Opd) -> Op {
    Op::Bin { op, ty, dst: Opd::K(0), a, b, count_ty: ty }
}

fn real32(s: Src<u32>) -> Src<f32> {
    match s {
        Src::V(p) => Src::V(p.cast()),
        Src::S(v) => Src::S(f32::from_bits(v)),
    }
}

fn real64(s: Src<u64>) -> Src<f64> {
    match s {
        Src::V(p) => Src::V(p.cast()),
        Src::S(v) => Src::S(f64::from_bits(v)),
    }
}

/// Destination and result type of a pure instruction.
pub fn destination(op: &Op) -> Option<(Opd, Scalar)> {
    Some(match op {
        Op::Bin { op, ty, dst, .. } => (*dst, if op.is_comparison() { Scalar::Bool } else { *ty }),
        Op::MulAdd { ty, dst, .. }
        | Op::Un { ty, dst, .. }
        | Op::Mov { ty, dst, .. }
        | Op::Select { ty, dst, .. } => (*dst, *ty),
        Op::Cast { to, dst, .. } | Op::Bitcast { to, dst, .. } => (*dst, *to),
        Op::Math { result, dst, .. } => (*dst, *result),
        _ => return None,
    })
}

/// A pure instruction on one lane, by the shared definitions.
fn evaluate(op: &Op, get: &mut dyn FnMut(Opd, bool) -> u64) -> u64 {
    let mut value = |o: Opd, ty: Scalar| from_register(ty, get(o, words(ty) == 2));
    let result = match op {
        Op::Bin { op, ty, a, b, count_ty, .. } => {
            let second = if matches!(op, BinaryOp::Shl | BinaryOp::Shr) { *count_ty } else { *ty };
            eval::binary(*op, value(*a, *ty), value(*b, second))
        }
        Op::MulAdd { ty, a, b, c, .. } => {
            let product = eval::binary(BinaryOp::Mul, value(*a, *ty), value(*b, *ty));
            eval::binary(BinaryOp::Add, product, value(*c, *ty))
        }
        Op::Un { op, ty, a, .. } => eval::unary(*op, value(*a, *ty)),
        Op::Mov { ty, a, .. } => value(*a, *ty),
        Op::Cast { from, to, a, .. } => eval::cast(value(*a, *from), *to),
        Op::Bitcast { from, to, a, .. } => eval::bitcast(value(*a, *from), *to),
        Op::Select { ty, c, a, b, .. } => {
            if value(*c, Scalar::Bool).bits != 0 {
                value(*a, *ty)
            } else {
                value(*b, *ty)
            }
        }
        Op::Math { f, ty, args, .. } => {
            let second = if *f == MathFn::Ldexp { Scalar::I32 } else { *ty };
            let values = [value(args[0], *ty), value(args[1], second), value(args[2], *ty)];
            eval::math(*f, &values[..f.arity().clamp(1, 3)])
        }
        _ => return 0,
    };
    to_register(result)
}

/// The lane loop for a conversion, where there is one.
fn fast_cast(from: Scalar, to: Scalar) -> Option<FastCast> {
    use Scalar::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    Some(match (from, to) {
        (I8 | I16 | I32, I64 | U64) => FastCast::I32ToI64,
        (Bool | U8 | U16 | U32, I64 | U64) => FastCast::U32ToU64,
        (I64 | U64, I32 | U32) => FastCast::I64ToI32,
        (I8 | I16 | I32, F32) => FastCast::I32ToF32,
        (Bool | U8 | U16 | U32, F32) => FastCast::U32ToF32,
        (F32, I32) => FastCast::F32ToI32,
        (F32, U32) => FastCast::F32ToU32,
        (F32, F64) => FastCast::F32ToF64,
        (F64, F32) => FastCast::F64ToF32,
        (I8 | I16 | I32, F64) => FastCast::I32ToF64,
        (Bool | U8 | U16 | U32, F64) => FastCast::U32ToF64,
        (F64, I32) => FastCast::F64ToI32,
        (I8 | U8 | I16 | U16 | I32 | U32, Bool) => FastCast::AnyToBool32,
        _ => return None,
    })
}
