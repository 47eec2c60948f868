//! Signed overflow where a subscript depends on it ([expr.pre] 4 of the C++ standard: there is no result).

use warpsmith_ir::BinaryOp;

use super::block::{Block, Group};
use super::launch::Machine;
use crate::compile::lir::Opd;

/// The exact result; operands of `int` fit.
fn exact(op: BinaryOp, x: i32, y: i32) -> i64 {
    let (x, y) = (i64::from(x), i64::from(y));
    match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        _ => x * y,
    }
}

fn overflows(op: BinaryOp, x: i32, y: i32) -> bool {
    let exact = exact(op, x, y);
    exact != i64::from(exact as i32)
}

impl Machine<'_> {
    /// Reports the lanes in which a sum, difference or product is no `int`; those that hold nothing defined are reported
    /// where that is used.
    pub fn check_overflow(
        &mut self,
        b: &mut Block,
        g: &Group,
        (op, x, y): (BinaryOp, Opd, Opd),
        pc: usize,
    ) {
        if !self.checks.poison {
            return;
        }
        let varies = |o| matches!(o, Opd::V(_));
        if !varies(x)
            && !varies(y)
            && !overflows(op, self.scalar(g, x) as i32, self.scalar(g, y) as i32)
        {
            return;
        }
        let (mut count, mut first) = (0, None);
        for warp in g.lo..g.hi {
            let (left, right) = (self.ints(b, g, x, warp), self.ints(b, g, y, warp));
            let mut lanes = 0u32;
            for k in 0..32 {
                lanes |= u32::from(overflows(op, left[k], right[k])) << k;
            }
            lanes &= g.mask.warps[warp as usize];
            if lanes == 0 {
                continue;
            }
            lanes &= !(self.undefined_lanes(b, g, x, warp) | self.undefined_lanes(b, g, y, warp));
            if lanes != 0 {
                let k = lanes.trailing_zeros();
                count += u64::from(lanes.count_ones());
                first.get_or_insert((warp * 32 + k, left[k as usize], right[k as usize]));
            }
        }
        if let Some((thread, left, right)) = first {
            self.found_overflow(b, (op, left, right), (thread, count), pc);
        }
    }

    /// The lanes of a warp.
    fn ints(&self, b: &mut Block, g: &Group, o: Opd, warp: u32) -> [i32; 32] {
        match o {
            Opd::V(v) => {
                let row = b.row(v, self.width).wrapping_add(warp as usize * 32);
                // SAFETY: the row holds all warps of the block.
                unsafe { row.cast::<[i32; 32]>().read() }
            }
            other => [self.scalar(g, other) as i32; 32],
        }
    }

    fn found_overflow(
        &mut self,
        b: &Block,
        (op, left, right): (BinaryOp, i32, i32),
        (thread, count): (u32, u64),
        pc: usize,
    ) {
        let (sign, what) = match op {
            BinaryOp::Add => ("+", "sum"),
            BinaryOp::Sub => ("-", "difference"),
            _ => ("*", "product"),
        };
        let message = format!("{left} {sign} {right} is no `int`, and a subscript depends on it");
        self.found_undefined(b, (Some("overflow"), message, what), (thread, count), pc);
    }
}
