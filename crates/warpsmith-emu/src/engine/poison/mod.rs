//! Undefined values: where they come from, how they spread, and where using them is a finding.
//!
//! A register row has a bit for each lane that holds no defined value, and remembers one origin.
//! Carrying such a value is fine, and so is a copy within shared memory; it is reported when it decides a branch,
//! forms an address, or is stored to shared or global memory.

mod memory;
mod report;

use warpsmith_ir::{BinaryOp, MathFn, Scalar};

use super::arithmetic::destination;
use super::block::{Block, Group, Mask};
use super::launch::Machine;
use crate::compile::lir::{Access, Op, Opd};

/// Where an undefined value came into being.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub pc: u32,
    /// The object it was read from; 0: a variable in a register.
    pub handle: u64,
    pub offset: u64,
    /// Index into the names, for variables; of an object of the thread: 1 where its scope had ended.
    pub name: u32,
}

/// What the shadow of local memory holds: bytes that have no value yet, and those whose object is gone.
pub const UNDEFINED: u8 = 1;
pub const ENDED: u8 = 2;

impl Machine<'_> {
    /// The number of an origin, from 1.
    fn origin(&mut self, o: Origin) -> u32 {
        let key = (o.pc, o.handle, o.name);
        if let Some(&n) = self.undefined.numbers.get(&key) {
            return n;
        }
        self.undefined.origins.push(o);
        let n = self.undefined.origins.len() as u32;
        self.undefined.numbers.insert(key, n);
        n
    }

    pub fn read_origin(&mut self, _b: &Block, handle: u64, offset: u64, pc: usize) -> u32 {
        self.origin(Origin { pc: pc as u32, handle, offset, name: 0 })
    }

    /// The origin of an operand's poison; 0: all its lanes are defined.
    #[inline(always)]
    fn poison_of(&self, b: &Block, g: &Group, o: Opd) -> u32 {
        match o {
            Opd::V(v) => b.origin[v as usize],
            Opd::S(s) if g.any_poison && g.poison[s as usize] => self.undefined.scalar.max(1),
            _ => 0,
        }
    }

    #[inline(always)]
    fn poison_bits(&self, b: &Block, g: &Group, o: Opd, warp: u32) -> u32 {
        match o {
            Opd::V(v) if b.origin[v as usize] != 0 => {
                b.poison[(v * (self.width / 32) + warp) as usize]
            }
            Opd::S(s) if g.poison[s as usize] => u32::MAX,
            _ => 0,
        }
    }

    /// Sets the poison of some lanes of a vector.
    fn set_bits(&mut self, b: &mut Block, row: u32, warp: u32, lanes: u32, bits: u32, origin: u32) {
        let at = (row * (self.width / 32) + warp) as usize;
        if b.origin[row as usize] == 0 {
            if bits & lanes == 0 {
                return;
            }
            // A place that held defined values: other warps may have stale bits.
            let first = (row * (self.width / 32)) as usize;
            b.poison[first..first + (self.width / 32) as usize].fill(0);
        }
        b.poison[at] = b.poison[at] & !lanes | bits & lanes;
        if bits & lanes != 0 {
            b.origin[row as usize] = origin;
        }
    }

    /// The row has defined values only, as far as its bits say.
    fn settle(&mut self, b: &mut Block, row: u32) {
        let n = (self.width / 32) as usize;
        let first = row as usize * n;
        if b.poison[first..first + n].iter().all(|w| *w == 0) {
            b.origin[row as usize] = 0;
        }
    }

    /// The destination got a defined value in all threads of the group.
    pub fn define(&mut self, b: &mut Block, g: &Group, dst: Opd, pc: usize) {
        let Opd::V(row) = dst else { return };
        if !self.checks.poison || b.origin[row as usize] == 0 {
            return;
        }
        let masked = self.program.masked[pc] && !g.full;
        for warp in g.lo..g.hi {
            let lanes = if masked { g.mask.warps[warp as usize] } else { u32::MAX };
            self.set_bits(b, row, warp, lanes, 0, 0);
        }
        self.settle(b, row);
    }

    /// A pure instruction: its result is undefined where an operand is.
    #[inline]
    pub fn carry_poison(&mut self, b: &mut Block, g: &mut Group, op: &Op, dst: Opd, pc: usize) {
        let (operands, n) = operands_of(op);
        let mut origin = 0;
        for o in &operands[..n] {
            origin = origin.max(self.poison_of(b, g, *o));
        }
        if origin != 0 && self.checks.operands && is_arithmetic(op) {
            operands[..n].iter().for_each(|o| self.report_use(b, g, *o, pc, "arithmetic"));
        }
        match dst {
            Opd::S(s) if g.any_poison || origin != 0 => {
                let undefined = self.scalar_is_undefined(g, op, &operands[..n]);
                g.poison[s as usize] = undefined;
                g.any_poison |= undefined;
            }
            Opd::V(row) => {
                if origin == 0 {
                    if b.origin[row as usize] != 0 {
                        self.define(b, g, dst, pc);
                    }
                    return;
                }
                self.carry_vector(b, g, op, &operands[..n], row, origin, pc);
            }
            _ => {}
        }
    }

    fn scalar_is_undefined(&self, g: &Group, op: &Op, operands: &[Opd]) -> bool {
        let undefined = |o: &Opd| matches!(o, Opd::S(s) if g.poison[*s as usize]);
        match op {
            Op::Select { c, a, b, .. } if !undefined(c) => {
                undefined(if self.scalar(g, *c) != 0 { a } else { b })
            }
            Op::Bin {
                op: op @ (BinaryOp::BitAnd | BinaryOp::BitOr),
                ty: Scalar::Bool,
                a,
                b,
                ..
            } => {
                let decides = |o: &Opd| {
                    !undefined(o) && (self.scalar(g, *o) == 0) == (*op == BinaryOp::BitAnd)
                };
                (undefined(a) || undefined(b)) && !decides(a) && !decides(b)
            }
            _ => operands.iter().any(undefined),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one instruction of one group")]
    fn carry_vector(
        &mut self,
        b: &mut Block,
        g: &Group,
        op: &Op,
        operands: &[Opd],
        row: u32,
        origin: u32,
        pc: usize,
    ) {
        let masked = self.program.masked[pc] && !g.full;
        for warp in g.lo..g.hi {
            let mut bits = 0;
            if let Op::Select { c, a, b: y, .. } = op {
                let unsure = self.poison_bits(b, g, *c, warp);
                let mut chosen = 0;
                for k in 0..32 {
                    if self.lane_value(b, g, *c, false, warp * 32 + k) != 0 {
                        chosen |= 1 << k;
                    }
                }
                bits = unsure
                    | chosen & self.poison_bits(b, g, *a, warp)
                    | !chosen & self.poison_bits(b, g, *y, warp);
            } else if let Op::Bin {
                op: op @ (BinaryOp::BitAnd | BinaryOp::BitOr),
                ty: Scalar::Bool,
                a,
                b: y,
                ..
            } = op
            {
                // One defined operand may decide: `false && undefined` is false.
                let (ua, uy) = (self.poison_bits(b, g, *a, warp), self.poison_bits(b, g, *y, warp));
                let neutral = u64::from(*op == BinaryOp::BitAnd);
                let (va, vy) = (
                    self.lanes_equal(b, g, *a, neutral, warp),
                    self.lanes_equal(b, g, *y, neutral, warp),
                );
                bits = ua & uy | ua & vy | uy & va;
            } else {
                for o in operands {
                    bits |= self.poison_bits(b, g, *o, warp);
                }
            }
            let active = g.mask.warps[warp as usize];
            let lanes = if masked { active } else { u32::MAX };
            self.set_bits(b, row, warp, lanes, bits & active, origin);
        }
        if b.origin[row as usize] != 0 {
            self.settle(b, row);
        }
    }

    /// Lanes of a warp in which a `bool` operand has the given value.
    fn lanes_equal(&self, b: &mut Block, g: &Group, o: Opd, value: u64, warp: u32) -> u32 {
        let mut is = |k: &u32| self.lane_value(b, g, o, false, warp * 32 + k) == value;
        (0..32).filter(|k| is(k)).fold(0, |m, k| m | 1 << k)
    }

    /// The variable comes into being without a value.
    pub fn undefine(&mut self, b: &mut Block, g: &mut Group, dst: Opd, name: u32, pc: usize) {
        match dst {
            Opd::S(s) => {
                g.scalars[s as usize] = 0;
                if self.checks.poison {
                    g.poison[s as usize] = true;
                    g.any_poison = true;
                    let o = Origin { pc: pc as u32, handle: 0, offset: 0, name };
                    self.undefined.scalar = self.origin(o);
                }
            }
            Opd::V(row) if self.checks.poison => {
                let o = Origin { pc: pc as u32, handle: 0, offset: 0, name };
                let origin = self.origin(o);
                for warp in g.lo..g.hi {
                    let lanes = g.mask.warps[warp as usize];
                    self.set_bits(b, row, warp, lanes, u32::MAX, origin);
                }
            }
            _ => {}
        }
    }

    /// Runs an access for some threads of the group only; loads give the others zero.
    pub fn with_threads(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        left: Mask,
        pc: usize,
        f: impl FnOnce(&mut Self, &mut Block, &mut Group),
    ) {
        let rest = g.mask.without(&left);
        for warp in g.lo..g.hi {
            let lanes = rest.warps[warp as usize];
            if lanes != 0 && !a.is_store {
                self.undefined_result(b, g, a, warp, lanes, pc);
            }
        }
        if left.is_empty() {
            return;
        }
        let mask = std::mem::replace(&mut g.mask, left);
        g.update(&b.alive);
        f(self, b, g);
        g.mask = mask;
        g.update(&b.alive);
    }

    /// Lanes of an operand that are undefined, for warp operations.
    pub fn undefined_lanes(&self, b: &Block, g: &Group, o: Opd, warp: u32) -> u32 {
        if self.checks.poison { self.poison_bits(b, g, o, warp) } else { 0 }
    }

    /// Gives lanes of a result their poison.
    pub fn set_result_poison(
        &mut self,
        b: &mut Block,
        g: &Group,
        dst: Opd,
        warp: u32,
        (lanes, bits): (u32, u32),
        from: Opd,
    ) {
        let Opd::V(row) = dst else { return };
        if !self.checks.poison {
            return;
        }
        let origin = match self.poison_of(b, g, from) {
            0 if bits != 0 => {
                self.origin(Origin { pc: g.pc, handle: 0, offset: 0, name: u32::MAX })
            }
            o => o,
        };
        self.set_bits(b, row, warp, lanes, bits, origin);
        if b.origin[row as usize] != 0 {
            self.settle(b, row);
        }
    }
}

/// Computes with its operands: no copy, no choice, and no logical operation, of which one side may decide.
fn is_arithmetic(op: &Op) -> bool {
    match op {
        Op::Bin { ty, .. } => *ty != Scalar::Bool,
        Op::MulAdd { .. } | Op::Un { .. } | Op::Math { .. } => true,
        _ => false,
    }
}

/// The operands of a pure instruction.
fn operands_of(op: &Op) -> ([Opd; 3], usize) {
    debug_assert!(destination(op).is_some());
    let k = Opd::K(0);
    match op {
        Op::Bin { a, b, .. } => ([*a, *b, k], 2),
        Op::MulAdd { a, b, c, .. } | Op::Select { c: a, a: b, b: c, .. } => ([*a, *b, *c], 3),
        Op::Un { a, .. } | Op::Mov { a, .. } | Op::Cast { a, .. } | Op::Bitcast { a, .. } => {
            ([*a, k, k], 1)
        }
        // Its result is defined, whatever its operand is.
        Op::Math { f: MathFn::Settled, .. } => ([k; 3], 0),
        Op::Math { args, .. } => (*args, 3),
        _ => ([k; 3], 0),
    }
}
