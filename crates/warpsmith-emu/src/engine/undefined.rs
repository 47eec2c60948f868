//! Arithmetic without a result: integers divided by zero.

use warpsmith_ir::{BinaryOp, Scalar};

use super::block::{Block, Group};
use super::launch::Machine;
use crate::api::{Finding, Rule};
use crate::compile::lir::{Op, Opd};

impl Machine<'_> {
    /// Reports the lanes of a division of integers whose divisor is zero; those that hold nothing defined are reported where
    /// that is used.
    #[inline]
    pub fn check_division(&mut self, b: &mut Block, g: &Group, op: &Op, pc: usize) {
        let Op::Bin { op: BinaryOp::Div | BinaryOp::Rem, ty, b: divisor, .. } = op else { return };
        if !self.check_poison || ty.is_float() || matches!(divisor, Opd::K(k) if *k != 0) {
            return;
        }
        self.find_zeros(b, g, *divisor, *ty, pc);
    }

    fn find_zeros(&mut self, b: &mut Block, g: &Group, divisor: Opd, ty: Scalar, pc: usize) {
        let wide = ty.bytes() == 8;
        let (mut count, mut first) = (0, None);
        for warp in g.lo..g.hi {
            let undefined = self.undefined_lanes(b, g, divisor, warp);
            let mut lanes = g.mask.warps[warp as usize] & !undefined;
            while lanes != 0 {
                let thread = warp * 32 + lanes.trailing_zeros();
                lanes &= lanes - 1;
                if self.lane_value(b, g, divisor, wide, thread) == 0 {
                    count += 1;
                    first.get_or_insert(thread);
                }
            }
        }
        let Some(thread) = first else { return };
        let key = (Rule::UndefinedArithmetic, pc as u32, 0);
        if let Some(&at) = self.known_refusals.get(&key) {
            return self.report.count(at, count);
        }
        let place = self.place(b, pc, "division", Some(thread));
        let at = self.report.add(Finding {
            rule: Rule::UndefinedArithmetic,
            kind: None,
            message: "an integer is divided by zero".to_string(),
            accesses: vec![place],
            array: None,
            index: vec![],
            interval: Some(b.interval),
            count,
        });
        self.known_refusals.insert(key, at);
    }
}
