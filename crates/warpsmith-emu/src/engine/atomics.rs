//! Atomic read-modify-write operations.

use warpsmith_ir::{AtomicOp, BinaryOp, Scalar, Scope, Value, eval};

use super::access::from_bits;
use super::block::{Block, Group};
use super::launch::Machine;
use super::races::Kind;
use super::schedule::Turns;
use crate::compile::lir::{Home, Op, Opd, from_register, to_register, words};

impl Machine<'_> {
    /// Executes an atomic for the threads of the group, in order of their numbers.
    pub fn atomic(&mut self, b: &mut Block, g: &mut Group, op: &Op, pc: usize) {
        let Op::Atomic { access, .. } = op else { return };
        let a = &self.program.accesses[*access as usize];
        if self.checks.poison
            && let Some(left) = self.use_in_address(b, g, a, pc)
        {
            return self.with_threads(b, g, a, left, pc, |m, b, g| m.atomic_at(b, g, op, pc));
        }
        self.atomic_at(b, g, op, pc);
    }

    fn atomic_at(&mut self, b: &mut Block, g: &mut Group, op: &Op, pc: usize) {
        let Op::Atomic { op, access, value, compare, result, scope } = op else { return };
        let (op, value, compare, result, scope) = (*op, *value, *compare, *result, *scope);
        let reads = reads_only(op, value);
        let a = &self.program.accesses[*access as usize];
        if self.checks.poison {
            self.undefined_operand(b, g, value, pc);
            self.undefined_operand(b, g, compare, pc);
        }
        self.read_anew(b, g, a);
        let common = self.address_of_group(g, a);
        if self.races.tracks_order {
            if !reads {
                self.release_at(b, g, a, true, scope);
            }
            self.acquire_at(b, g, a, scope, op == AtomicOp::Load);
        }
        let (elem, wide) = (a.elem, words(a.elem) == 2);
        if let Some(Opd::V(row)) = result {
            // Lanes whose access is refused read zero.
            for t in g.mask.threads() {
                b.set_lane(row, self.width, wide, t, 0);
            }
        }
        let kind = match (reads, scope == Scope::Block) {
            (true, false) => Kind::AtomicRead,
            (false, false) => Kind::Atomic,
            (true, true) => Kind::BlockAtomicRead,
            (false, true) => Kind::BlockAtomic,
        };
        self.each_warp(b, g, a, common, pc, kind, &mut |m, b, g, w| {
            let mut undefined = 0;
            for k in (0..32u32).filter(|k| w.mask >> k & 1 == 1) {
                let thread = w.warp * 32 + k;
                let offset = w.offsets[k as usize];
                let new = m.lane_value(b, g, value, wide, thread);
                let wanted = m.lane_value(b, g, compare, wide, thread);
                let old = m.read_element(b, w, elem, offset, k);
                let poisoned = m.checks.poison
                    && op != AtomicOp::Store
                    && m.is_undefined(b, w, offset, elem.bytes().into(), k);
                undefined |= u32::from(poisoned) << k;
                if let Some(next) = updated(op, elem, old, new, wanted) {
                    if (m.progress.watching || m.progress.by_turns != Turns::None)
                        && from_bits(next, elem) != from_bits(old, elem)
                    {
                        m.progress.changes += 1;
                        m.progress.shown |= !matches!(w.view.home, Home::Local { .. });
                    }
                    m.write_element(b, w, elem, offset, k, next);
                }
                if let Some(Opd::V(row)) = result {
                    b.set_lane(row, m.width, wide, thread, old);
                }
            }
            if m.checks.poison {
                m.atomic_poison(b, w, result, undefined, op, pc);
            }
        });
    }

    /// An undefined operand that an atomic would store.
    fn undefined_operand(&mut self, b: &mut Block, g: &mut Group, o: Opd, pc: usize) {
        self.report_use(b, g, o, pc, "an atomic operation");
    }

    fn atomic_poison(
        &mut self,
        b: &mut Block,
        w: &super::access::Warp<'_>,
        result: Option<Opd>,
        undefined: u32,
        op: AtomicOp,
        pc: usize,
    ) {
        if let Some(Opd::V(row)) = result {
            self.load_poison(b, w, Opd::V(row), 0, w.size, pc);
        }
        let writes = !matches!(op, AtomicOp::Load);
        if undefined != 0 && !matches!(op, AtomicOp::Load | AtomicOp::Exchange) {
            // A sum with an undefined value is stored.
            self.report_read_of_undefined(b, w, undefined, pc);
        }
        if writes && !matches!(w.view.home, Home::Local { .. }) {
            self.define_memory(b, w, 0, w.size);
        }
    }

    fn report_read_of_undefined(
        &mut self,
        b: &mut Block,
        w: &super::access::Warp<'_>,
        lanes: u32,
        pc: usize,
    ) {
        let lane = lanes.trailing_zeros() & 31;
        let origin = self.read_origin(b, w.view.handle, w.offsets[lane as usize], pc);
        let thread = w.warp * 32 + lane;
        self.report_undefined(b, origin, pc, "an atomic operation", thread, lanes.count_ones());
    }
}

/// A load; adding a constant zero is how one was written before there were others.
fn reads_only(op: AtomicOp, value: Opd) -> bool {
    let nothing = matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor);
    op == AtomicOp::Load || nothing && matches!(value, Opd::K(0))
}

/// What memory holds after the operation; `None`: it is left as it is.
fn updated(op: AtomicOp, ty: Scalar, old: u64, new: u64, compare: u64) -> Option<u64> {
    // Counters are most of what kernels do with atomics.
    match (op, ty) {
        (AtomicOp::Add, Scalar::I32 | Scalar::U32) => {
            return Some((old as u32).wrapping_add(new as u32).into());
        }
        (AtomicOp::Add, Scalar::F32) => {
            let sum = f32::from_bits(old as u32) + f32::from_bits(new as u32);
            if !sum.is_nan() {
                return Some(sum.to_bits().into());
            }
        }
        _ => {}
    }
    let (x, y) = (from_register(ty, old), from_register(ty, new));
    let bin = |op| to_register(eval::binary(op, x, y));
    let less = |a: Value, b: Value| eval::binary(BinaryOp::Lt, a, b).bits != 0;
    Some(match op {
        AtomicOp::Add => bin(BinaryOp::Add),
        AtomicOp::Sub => bin(BinaryOp::Sub),
        AtomicOp::Mul => bin(BinaryOp::Mul),
        AtomicOp::And => bin(BinaryOp::BitAnd),
        AtomicOp::Or => bin(BinaryOp::BitOr),
        AtomicOp::Xor => bin(BinaryOp::BitXor),
        AtomicOp::Min | AtomicOp::Lower => {
            if less(y, x) {
                new
            } else {
                old
            }
        }
        AtomicOp::Max | AtomicOp::Raise => {
            if less(x, y) {
                new
            } else {
                old
            }
        }
        AtomicOp::Exchange | AtomicOp::Store => new,
        AtomicOp::Cas => {
            return (from_bits(old, ty) == from_bits(compare, ty)).then_some(new);
        }
        AtomicOp::Inc => {
            let one = Value::int(ty, 1);
            if less(x, y) { to_register(eval::binary(BinaryOp::Add, x, one)) } else { 0 }
        }
        AtomicOp::Dec => {
            let one = Value::int(ty, 1);
            let wraps = x.bits == 0 || less(y, x);
            if wraps { new } else { to_register(eval::binary(BinaryOp::Sub, x, one)) }
        }
        AtomicOp::Load => return None,
    })
}
