//! Arithmetic without a result: integers divided by zero, and shifts by as many bits as there are or more ([expr.mul],
//! [expr.shift] of the C++ standard).

use warpsmith_ir::{BinaryOp, Scalar};

use super::block::{Block, Group};
use super::launch::Machine;
use crate::api::{Finding, Rule};
use crate::compile::lir::{Op, Opd};

/// What the right operand of an operation may not be.
#[derive(Clone, Copy)]
enum Forbidden {
    Zero,
    /// This many bits or more; a negative number is one of the largest.
    Bits(u64),
}

impl Forbidden {
    fn holds(self, value: u64) -> bool {
        match self {
            Forbidden::Zero => value == 0,
            Forbidden::Bits(width) => value >= width,
        }
    }

    fn of(op: BinaryOp, ty: Scalar) -> Option<Forbidden> {
        match op {
            BinaryOp::Div | BinaryOp::Rem if !ty.is_float() => Some(Forbidden::Zero),
            // Smaller types are promoted.
            BinaryOp::Shl | BinaryOp::Shr => Some(Forbidden::Bits((ty.bytes().max(4) * 8).into())),
            _ => None,
        }
    }
}

impl Machine<'_> {
    /// Reports the lanes of a division of integers or a shift whose right operand has no result; those that hold nothing
    /// defined are reported where that is used.
    #[inline]
    pub fn check_defined(&mut self, b: &mut Block, g: &Group, op: &Op, pc: usize) {
        let Op::Bin { op, ty, b: right, .. } = op else { return };
        let Some(forbidden) = Forbidden::of(*op, *ty).filter(|_| self.checks.poison) else {
            return;
        };
        match right {
            Opd::K(k) if !forbidden.holds(*k) => {}
            Opd::S(s) if !forbidden.holds(g.scalars[*s as usize]) => {}
            _ => self.find_forbidden(b, g, (*right, ty.bytes() == 8), forbidden, pc),
        }
    }

    fn find_forbidden(
        &mut self,
        b: &mut Block,
        g: &Group,
        (right, wide): (Opd, bool),
        forbidden: Forbidden,
        pc: usize,
    ) {
        let (mut count, mut first) = (0, None);
        for warp in g.lo..g.hi {
            let undefined = self.undefined_lanes(b, g, right, warp);
            let mut lanes = g.mask.warps[warp as usize] & !undefined;
            while lanes != 0 {
                let thread = warp * 32 + lanes.trailing_zeros();
                lanes &= lanes - 1;
                let value = self.lane_value(b, g, right, wide, thread);
                if forbidden.holds(value) {
                    count += 1;
                    first.get_or_insert((thread, value));
                }
            }
        }
        let Some((thread, value)) = first else { return };
        let (message, what) = match forbidden {
            Forbidden::Zero => ("an integer is divided by zero".to_string(), "division"),
            Forbidden::Bits(width) => {
                let by = if wide { value as i64 } else { i64::from(value as u32 as i32) };
                (format!("a number of {width} bits is shifted by {by}"), "shift")
            }
        };
        self.found_undefined(b, (None, message, what), (thread, count), pc);
    }

    /// Reports what an instruction computed that C gives no value: the kind, the message and what it is called; by the first of so many threads.
    pub(super) fn found_undefined(
        &mut self,
        b: &Block,
        (kind, message, what): (Option<&'static str>, String, &'static str),
        (thread, count): (u32, u64),
        pc: usize,
    ) {
        let key = (Rule::UndefinedArithmetic, pc as u32, u64::from(kind.is_some()));
        if let Some(&at) = self.refusals.known.get(&key) {
            return self.found.report.count(at, count);
        }
        let place = self.place(b, pc, what, Some(thread));
        let at = self.found.report.add(Finding {
            rule: Rule::UndefinedArithmetic,
            kind,
            message,
            accesses: vec![place],
            array: None,
            index: vec![],
            interval: Some(b.interval),
            count,
        });
        self.refusals.known.insert(key, at);
    }
}
