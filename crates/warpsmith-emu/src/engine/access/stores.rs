//! Stores: from registers to memory.

use warpsmith_ir::{Scalar, Scope};

use super::Warp;
use super::values::{from_bits, write_scalar};
use crate::compile::lir::{Access, Home, Opd, words};
use crate::engine::block::{Block, Group};
use crate::engine::lanes::Pattern;
use crate::engine::launch::Machine;
use crate::engine::races::Kind;

impl Machine<'_> {
    pub fn store(&mut self, b: &mut Block, g: &mut Group, access: u32, pc: usize) {
        let a = &self.program.accesses[access as usize];
        if self.checks.poison
            && let Some(left) = self.use_in_address(b, g, a, pc)
        {
            return self.with_threads(b, g, a, left, pc, |m, b, g| m.store_to(b, g, a, pc));
        }
        self.store_to(b, g, a, pc);
    }

    fn store_to(&mut self, b: &mut Block, g: &mut Group, a: &Access, pc: usize) {
        let common = self.common_address(g, a);
        if a.volatile {
            self.release_at(b, g, a, false, Scope::System);
            self.progress.shown = true;
        }
        let kind = if a.volatile { Kind::VolatileWrite } else { Kind::Write };
        self.each_warp(b, g, a, common, pc, kind, &mut |m, b, g, w| m.move_out(b, g, a, w, pc));
    }

    /// Moves the values of a store to memory, and their poison.
    fn move_out(&mut self, b: &mut Block, g: &mut Group, a: &Access, w: &Warp<'_>, pc: usize) {
        let n = u64::from(a.elem.bytes());
        for (c, src) in a.values.iter().enumerate() {
            let shift = c as u64 * n;
            if self.checks.poison {
                self.store_poison(b, g, w, *src, shift, n, pc);
            }
            if a.elem.bytes() == 4 && w.mask == u32::MAX && self.store_local_row(b, w, shift, *src)
            {
                continue;
            }
            let fast = a.elem.bytes() == 4
                && a.count == 1
                && w.pattern == Pattern::Row
                && !matches!(w.view.home, Home::Local { .. });
            if let (true, Opd::V(o)) = (fast, *src) {
                let row = b.row(o, self.width).wrapping_add(w.warp as usize * 32);
                // SAFETY: `classify` found the row inside of the object; registers are apart from memory.
                unsafe {
                    let at = w.view.bytes.add(w.offsets[0] as usize);
                    std::ptr::copy_nonoverlapping(row.cast::<u8>(), at, 128);
                }
                continue;
            }
            let words_to_memory = a.elem.bytes() == 4 && !matches!(w.view.home, Home::Local { .. });
            if let (true, Opd::V(o)) = (words_to_memory, *src) {
                let row = b.row(o, self.width).wrapping_add(w.warp as usize * 32);
                for (k, offset) in w.offsets.iter().enumerate() {
                    if w.mask >> k & 1 == 1 {
                        // SAFETY: `classify` found the offsets inside of the object; the row holds
                        // all warps of the block.
                        unsafe {
                            let at = w.view.bytes.add((offset + shift) as usize).cast::<u32>();
                            at.write_unaligned(row.add(k).read());
                        }
                    }
                }
                continue;
            }
            let wide = words(a.elem) == 2;
            for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
                let v = self.lane_value(b, g, *src, wide, w.warp * 32 + k);
                self.write_element(b, w, a.elem, w.offsets[k as usize] + shift, k, v);
            }
        }
    }

    /// A row of registers to the same word of every lane's local memory. False: it is another form.
    fn store_local_row(&mut self, b: &mut Block, w: &Warp<'_>, shift: u64, src: Opd) -> bool {
        let (Home::Local { base, .. }, Pattern::Same, Opd::V(o)) = (w.view.home, w.pattern, src)
        else {
            return false;
        };
        let lane0 = w.warp as usize * 32;
        let row = b.row(o, self.width).wrapping_add(lane0);
        let word = (w.offsets[0] + shift + u64::from(base)) as usize / 4;
        let at = word * self.width as usize + lane0;
        let Some(words) = b.local.get_mut(at..at + 32) else { return false };
        // SAFETY: the row holds all warps of the block; registers are apart from local memory.
        unsafe { std::ptr::copy_nonoverlapping(row, words.as_mut_ptr(), 32) };
        true
    }

    pub fn write_element(
        &mut self,
        b: &mut Block,
        w: &Warp<'_>,
        elem: Scalar,
        offset: u64,
        lane: u32,
        value: u64,
    ) {
        if let Home::Local { base, .. } = w.view.home {
            return self.write_local(b, elem, u64::from(base) + offset, w.warp * 32 + lane, value);
        }
        // SAFETY: the offset was checked with the size of the access.
        unsafe { write_scalar(w.view.bytes.add(offset as usize), elem, value) }
    }

    fn write_local(&self, b: &mut Block, elem: Scalar, at: u64, thread: u32, value: u64) {
        let width = self.width as usize;
        let index = |i: u64| (i as usize) * width + thread as usize;
        let (first, byte) = (at / 4, at % 4);
        let mut put = |i: u64, v: u32| {
            if let Some(word) = b.local.get_mut(index(i)) {
                *word = v;
            }
        };
        match elem.bytes() {
            8 => {
                put(first, value as u32);
                put(first + 1, (value >> 32) as u32);
            }
            4 => put(first, value as u32),
            n => {
                let mask = (u32::MAX >> (32 - 8 * n)) << (8 * byte);
                if let Some(word) = b.local.get_mut(index(first)) {
                    *word = *word & !mask | (value as u32) << (8 * byte) & mask;
                }
            }
        }
    }

    /// Counts a store that changes memory, while a loop is watched.
    pub(super) fn count_change(&mut self, b: &mut Block, g: &Group, a: &Access, w: &Warp<'_>) {
        if matches!(w.view.home, Home::Local { .. }) {
            return;
        }
        let n = u64::from(a.elem.bytes());
        for (c, src) in a.values.iter().enumerate() {
            for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
                let at = w.offsets[k as usize] + c as u64 * n;
                let old = self.read_element(b, w, a.elem, at, k);
                let new = self.lane_value(b, g, *src, words(a.elem) == 2, w.warp * 32 + k);
                if from_bits(old, a.elem) != from_bits(new, a.elem) {
                    self.progress.changes += 1;
                    return;
                }
            }
        }
    }
}
