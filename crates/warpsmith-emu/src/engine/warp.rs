//! Shuffles, votes and other operations of the lanes of a warp, and `__syncwarp`.
//!
//! All lanes that the mask names and that have not ended take part together. Lanes that come early
//! wait for the others.

use warpsmith_ir::{BarrierKind, BinaryOp, Scalar, WarpOp, eval};

use super::block::{Block, Group, Mask, Wait};
use super::launch::Machine;
use crate::compile::lir::{Op, Opd, from_register, to_register, words};

/// Lanes of a warp that gave the same mask.
struct Party {
    warp: u32,
    mask: u32,
    lanes: u32,
}

impl Machine<'_> {
    /// The group is at a warp operation. True: its (remaining) threads have done it and go on.
    pub fn at_warp_operation(&mut self, b: &mut Block, g: &mut Group) -> bool {
        self.join_waiting(b, g);
        let parties = self.parties(b, g);
        let mut late = Mask::default();
        for p in &parties {
            let need = p.mask & b.alive.warps[p.warp as usize];
            if need & !p.lanes != 0 {
                late.warps[p.warp as usize] |= p.lanes;
            }
        }
        if late == g.mask {
            g.wait = Wait::Warp;
            return false;
        }
        if !late.is_empty() {
            let mut rest = g.clone();
            rest.mask = late.clone();
            rest.wait = Wait::Warp;
            rest.update(&b.alive);
            g.mask = g.mask.without(&late);
            g.update(&b.alive);
            b.groups.push(rest);
        }
        for p in &parties {
            if late.warps[p.warp as usize] & p.lanes == 0 {
                self.check_mask(b, g, p);
                if b.abandoned {
                    return false;
                }
                self.perform(b, g, p);
            }
        }
        true
    }

    /// Takes threads along that wait for this group at the same instruction.
    pub fn join_waiting(&mut self, b: &mut Block, g: &mut Group) {
        while let Some(at) = b
            .groups
            .iter()
            .position(|o| o.wait == Wait::Warp && o.pc == g.pc && o.agrees(g, self.program))
        {
            let other = b.groups.swap_remove(at);
            g.join(&other);
            g.update(&b.alive);
        }
    }

    fn parties(&mut self, b: &mut Block, g: &Group) -> Vec<Party> {
        let operand = match self.program.code.get(g.pc as usize) {
            Some(Op::Warp { mask, .. }) => *mask,
            Some(Op::Barrier { operand, .. }) => *operand,
            _ => return vec![],
        };
        let mut out: Vec<Party> = vec![];
        for warp in g.lo..g.hi {
            let active = g.mask.warps[warp as usize];
            let first = out.len();
            if active != 0 && !matches!(operand, Opd::V(_)) {
                let mask = self.scalar(g, operand) as u32;
                out.push(Party { warp, mask, lanes: active });
                continue;
            }
            for k in (0..32).filter(|k| active >> k & 1 == 1) {
                let mask = self.lane_value(b, g, operand, false, warp * 32 + k) as u32;
                match out[first..].iter_mut().find(|p| p.mask == mask) {
                    Some(p) => p.lanes |= 1 << k,
                    None => out.push(Party { warp, mask, lanes: 1 << k }),
                }
            }
        }
        out
    }

    /// A lane must be in its own mask, and lanes that passed by must not be.
    fn check_mask(&mut self, b: &mut Block, g: &Group, p: &Party) {
        let outside = p.lanes & !p.mask;
        if outside != 0 {
            let m = Mask::of(p.warp, outside);
            let message = "a lane executes a warp operation whose mask does not name it";
            self.report_barrier(b, g.pc, &m, None, Some("warp-mask"), message);
            self.abandon(b);
            return;
        }
        let existing = Mask::first(self.threads).warps[p.warp as usize];
        let gone = p.mask & existing & !b.alive.warps[p.warp as usize];
        for k in (0..32).filter(|k| gone >> k & 1 == 1) {
            let exit = b.exits[(p.warp * 32 + k) as usize];
            if exit < super::barriers::STOPPED && self.leads_around(exit, g.pc) {
                let m = Mask::of(p.warp, p.lanes);
                let message =
                    "the mask of a warp operation names lanes that end without reaching it";
                self.report_barrier(b, g.pc, &m, Some(exit), Some("warp-mask"), message);
                self.abandon(b);
                return;
            }
        }
    }

    /// Lanes that others of their warp wait for never come.
    pub fn report_missing_lanes(&mut self, b: &Block, g: &Group, elsewhere: Option<u32>) {
        let whole = matches!(
            self.program.code.get(g.pc as usize),
            Some(Op::Barrier { kind: BarrierKind::Named | BarrierKind::NamedArrive, .. })
        );
        let message = match whole {
            true => "a warp comes to a barrier as a whole, and some of its lanes do not",
            false => "the mask of a warp operation names lanes that do not reach it",
        };
        let kind = if whole { "named" } else { "warp-mask" };
        self.report_barrier(b, g.pc, &g.mask, elsewhere, Some(kind), message);
    }

    fn perform(&mut self, b: &mut Block, g: &mut Group, p: &Party) {
        self.warp_order(b, p.warp, p.lanes);
        let Some(Op::Warp { op, ty, args, result, .. }) = self.program.code.get(g.pc as usize)
        else {
            return;
        };
        let (op, ty, args, result) = (*op, *ty, *args, *result);
        if is_shuffle(op) {
            return self.shuffle(b, g, p, op, ty, args, result);
        }
        let mut values = [0u64; 32];
        for k in lanes_of(p.lanes) {
            values[k as usize] = self.lane_value(b, g, args[0], words(ty) == 2, p.warp * 32 + k);
        }
        let undefined = self.undefined_lanes(b, g, args[0], p.warp) & p.lanes;
        let Some(dst) = result else { return };
        let (out, out_ty) = collective(op, ty, &values, p.lanes);
        for k in lanes_of(p.lanes) {
            self.put_lane(b, dst, words(out_ty) == 2, p.warp * 32 + k, out[k as usize]);
        }
        let bits = if undefined != 0 { u32::MAX } else { 0 };
        self.set_result_poison(b, g, dst, p.warp, (p.lanes, bits), args[0]);
    }

    fn put_lane(&self, b: &mut Block, dst: Opd, wide: bool, thread: u32, value: u64) {
        if let Opd::V(row) = dst {
            b.set_lane(row, self.width, wide, thread, value);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "operands of one instruction")]
    fn shuffle(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        p: &Party,
        op: WarpOp,
        ty: Scalar,
        args: [Opd; 3],
        result: Option<Opd>,
    ) {
        let wide = words(ty) == 2;
        if p.lanes == u32::MAX && !wide && self.shuffle_whole_warp(b, g, p.warp, op, args, result) {
            return;
        }
        let mut values = [0u64; 32];
        for k in lanes_of(p.lanes) {
            values[k as usize] = self.lane_value(b, g, args[0], wide, p.warp * 32 + k);
        }
        if self.checks.poison {
            let undefined = self.undefined_lanes(b, g, args[1], p.warp) & p.lanes;
            if undefined != 0 {
                let pc = g.pc as usize;
                self.report_use(b, g, args[1], pc, "the lane of a shuffle");
            }
        }
        let undefined = self.undefined_lanes(b, g, args[0], p.warp);
        let Some(dst) = result else { return };
        let mut bits = 0;
        let mut out = [0u64; 32];
        for k in lanes_of(p.lanes) {
            let which = self.lane_value(b, g, args[1], false, p.warp * 32 + k) as u32;
            let width = self.lane_value(b, g, args[2], false, p.warp * 32 + k) as u32;
            let from = source_lane(op, k, which, width);
            if p.lanes >> from & 1 == 1 {
                out[k as usize] = values[from as usize];
                bits |= (undefined >> from & 1) << k;
            } else {
                // An inactive source: the value is undefined.
                bits |= 1 << k;
            }
        }
        for k in lanes_of(p.lanes) {
            self.put_lane(b, dst, wide, p.warp * 32 + k, out[k as usize]);
        }
        self.set_result_poison(b, g, dst, p.warp, (p.lanes, bits), args[0]);
    }
}

impl Machine<'_> {
    /// A shuffle of defined 4-byte values by all lanes with one distance and width. False: it is another form.
    fn shuffle_whole_warp(
        &mut self,
        b: &mut Block,
        g: &Group,
        warp: u32,
        op: WarpOp,
        args: [Opd; 3],
        result: Option<Opd>,
    ) -> bool {
        let [Opd::V(src), which, width] = args else { return false };
        let Some(Opd::V(dst)) = result else { return false };
        if matches!(which, Opd::V(_)) || matches!(width, Opd::V(_)) {
            return false;
        }
        let undefined = |o: Opd| match o {
            Opd::V(row) => b.origin[row as usize] != 0,
            Opd::S(s) => g.poison[s as usize],
            _ => false,
        };
        if self.checks.poison && args.into_iter().chain(result).any(undefined) {
            return false;
        }
        let (which, width) = (self.scalar(g, which) as u32, self.scalar(g, width) as u32);
        let at = warp as usize * 32;
        let (from, to) = (b.row(src, self.width), b.row(dst, self.width));
        // SAFETY: both rows hold all warps of the block.
        unsafe {
            let values = from.add(at).cast::<[u32; 32]>().read_unaligned();
            let out: [u32; 32] = std::array::from_fn(|k| {
                values[source_lane(op, k as u32, which, width) as usize & 31]
            });
            to.add(at).cast::<[u32; 32]>().write_unaligned(out);
        }
        true
    }
}

fn lanes_of(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |k| mask >> k & 1 == 1)
}

fn is_shuffle(op: WarpOp) -> bool {
    use WarpOp::{Shuffle, ShuffleDown, ShuffleUp, ShuffleXor};
    matches!(op, Shuffle | ShuffleUp | ShuffleDown | ShuffleXor)
}

/// The lane a shuffle reads; its own one where the source lies outside of its segment.
fn source_lane(op: WarpOp, lane: u32, which: u32, width: u32) -> u32 {
    let width = if width.is_power_of_two() && width <= 32 { width } else { 32 };
    let start = lane & !(width - 1);
    match op {
        WarpOp::Shuffle => start | which & (width - 1),
        WarpOp::ShuffleUp => {
            if which <= lane - start {
                lane - which
            } else {
                lane
            }
        }
        WarpOp::ShuffleDown => {
            if which < start + width - lane {
                lane + which
            } else {
                lane
            }
        }
        _ => {
            let from = lane ^ which & 31;
            if from < start + width && which < 32 { from } else { lane }
        }
    }
}

/// Operations in which every lane sees the values of all.
fn collective(op: WarpOp, ty: Scalar, values: &[u64; 32], lanes: u32) -> ([u64; 32], Scalar) {
    let mut ballot = 0u32;
    for k in lanes_of(lanes) {
        ballot |= u32::from(values[k as usize] & 0xff != 0) << k;
    }
    let equal =
        |v: u64| lanes_of(lanes).filter(|k| values[*k as usize] == v).fold(0u32, |m, k| m | 1 << k);
    let first = values[(lanes.trailing_zeros() & 31) as usize];
    let everywhere = |v: u64| [v; 32];
    match op {
        WarpOp::Ballot => (everywhere(ballot.into()), Scalar::U32),
        WarpOp::All => (everywhere((ballot == lanes).into()), Scalar::Bool),
        WarpOp::Any => (everywhere((ballot != 0).into()), Scalar::Bool),
        WarpOp::MatchAny => (std::array::from_fn(|k| equal(values[k]).into()), Scalar::U32),
        WarpOp::MatchAll => {
            let all = if equal(first) == lanes { lanes } else { 0 };
            (everywhere(all.into()), Scalar::U32)
        }
        _ => {
            let mut sum = from_register(ty, first);
            for k in lanes_of(lanes & lanes.wrapping_sub(1)) {
                let v = from_register(ty, values[k as usize]);
                let less = eval::binary(BinaryOp::Lt, v, sum).bits != 0;
                sum = match op {
                    WarpOp::ReduceMin => {
                        if less {
                            v
                        } else {
                            sum
                        }
                    }
                    WarpOp::ReduceMax => {
                        if less {
                            sum
                        } else {
                            v
                        }
                    }
                    WarpOp::ReduceAnd => eval::binary(BinaryOp::BitAnd, sum, v),
                    WarpOp::ReduceOr => eval::binary(BinaryOp::BitOr, sum, v),
                    WarpOp::ReduceXor => eval::binary(BinaryOp::BitXor, sum, v),
                    _ => eval::binary(BinaryOp::Add, sum, v),
                };
            }
            (everywhere(to_register(sum)), ty)
        }
    }
}
