//! Undefined bytes of memory: what loads take from them, and what stores leave.

use std::ops::Range;

use super::{ENDED, Origin, UNDEFINED};
use crate::compile::lir::{Access, Home, Op, Opd};
use crate::engine::access::Warp;
use crate::engine::arithmetic::destination;
use crate::engine::block::{Block, Group};
use crate::engine::lanes::Pattern;
use crate::engine::launch::Machine;

impl Machine<'_> {
    /// A local object comes into being without a value in the group's threads, or its scope ends.
    pub fn undefine_local(&mut self, b: &mut Block, g: &Group, object: u32, why: u8) {
        let Home::Local { base, size } = self.home(object.into()) else { return };
        if !self.checks.poison {
            return;
        }
        b.local_undefined = true;
        let width = self.width as usize;
        for word in base as usize / 4..(base + size).div_ceil(4) as usize {
            let row = word * width * 4;
            if g.full {
                b.local_poison[row..row + width * 4].fill(why);
                continue;
            }
            for t in g.mask.threads() {
                let at = row + t as usize * 4;
                b.local_poison[at..at + 4].fill(why);
            }
        }
    }

    /// Any of the `n` bytes at an offset is undefined for a lane.
    pub fn is_undefined(&self, b: &Block, w: &Warp<'_>, offset: u64, n: u64, lane: u32) -> bool {
        if let Home::Local { base, .. } = w.view.home {
            let thread = (w.warp * 32 + lane) as usize;
            if n == 4 {
                let word = (u64::from(base) + offset) as usize / 4;
                let at = (word * self.width as usize + thread) * 4;
                return b.local_poison.get(at..at + 4).is_some_and(|p| p != [0; 4]);
            }
            return (0..n).any(|i| {
                let at = u64::from(base) + offset + i;
                let byte = (at / 4) as usize * self.width as usize * 4 + thread * 4;
                b.local_poison.get(byte + (at % 4) as usize).copied().unwrap_or(0) != 0
            });
        }
        if w.view.poison.is_null() {
            return false;
        }
        if n == 4 {
            // SAFETY: as below.
            return unsafe {
                w.view.poison.add(offset as usize).cast::<u32>().read_unaligned() != 0
            };
        }
        // SAFETY: the offset was checked with the size of the access, and there is one byte of
        // poison for each byte of the object.
        (0..n).any(|i| unsafe { w.view.poison.add((offset + i) as usize).read() } != 0)
    }

    /// The scope of the local object that a lane reads has ended.
    fn has_ended(&self, b: &Block, w: &Warp<'_>, offset: u64, lane: u32) -> bool {
        let Home::Local { base, .. } = w.view.home else { return false };
        let (at, thread) = (u64::from(base) + offset, (w.warp * 32 + lane) as usize);
        let byte = ((at / 4) as usize * self.width as usize + thread) * 4 + (at % 4) as usize;
        b.local_poison.get(byte) == Some(&ENDED)
    }

    /// The poison of one word of local memory in all lanes of a warp, when all access that word.
    fn local_row<'b>(
        &self,
        b: &'b mut Block,
        w: &Warp<'_>,
        shift: u64,
    ) -> Option<&'b mut [u8; 128]> {
        let (Home::Local { base, .. }, Pattern::Same) = (w.view.home, w.pattern) else {
            return None;
        };
        let word = (u64::from(base) + w.offsets[0] + shift) as usize / 4;
        let at = (word * self.width as usize + w.warp as usize * 32) * 4;
        b.local_poison.get_mut(at..)?.first_chunk_mut()
    }

    /// Undefined lanes of a load, to the destination.
    pub fn load_poison(
        &mut self,
        b: &mut Block,
        w: &Warp<'_>,
        dst: Opd,
        shift: u64,
        n: u64,
        pc: usize,
    ) {
        let Opd::V(row) = dst else { return };
        let local = matches!(w.view.home, Home::Local { .. });
        let mut bits = 0u32;
        let clean = local && n == 4 && self.local_row(b, w, shift).is_some_and(|p| *p == [0; 128]);
        if !clean && (!w.view.poison.is_null() || local && b.local_undefined) {
            for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
                if self.is_undefined(b, w, w.offsets[k as usize] + shift, n, k) {
                    bits |= 1 << k;
                }
            }
        }
        if bits == 0 && b.origin[row as usize] == 0 {
            return;
        }
        let lane = bits.trailing_zeros() & 31;
        let origin = match bits {
            0 => 0,
            _ => {
                let offset = w.offsets[lane as usize] + shift;
                let name = u32::from(self.has_ended(b, w, offset, lane));
                let handle = w.view.handle;
                self.origin(Origin { pc: pc as u32, handle, offset, name })
            }
        };
        self.set_bits(b, row, w.warp, w.mask, bits, origin);
        if bits == 0 {
            self.settle(b, row);
        }
    }

    /// Loads that were refused give undefined values without blaming them again.
    pub fn undefined_result(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        warp: u32,
        lanes: u32,
        _pc: usize,
    ) {
        let wide = crate::compile::lir::words(a.elem) == 2;
        for dst in &a.values {
            match *dst {
                Opd::V(row) => {
                    for k in (0..32).filter(|k| lanes >> k & 1 == 1) {
                        b.set_lane(row, self.width, wide, warp * 32 + k, 0);
                    }
                    if self.checks.poison && b.origin[row as usize] != 0 {
                        self.set_bits(b, row, warp, lanes, 0, 0);
                        self.settle(b, row);
                    }
                }
                Opd::S(s) => {
                    g.scalars[s as usize] = 0;
                    g.poison[s as usize] = false;
                }
                _ => {}
            }
        }
    }

    /// Poison of a store: to local memory, and from shared to shared memory, it is carried; elsewhere it is a finding.
    #[expect(clippy::too_many_arguments, reason = "one access of one warp")]
    pub fn store_poison(
        &mut self,
        b: &mut Block,
        g: &Group,
        w: &Warp<'_>,
        src: Opd,
        shift: u64,
        n: u64,
        pc: usize,
    ) {
        let origin = self.poison_of(b, g, src);
        let bits = if origin == 0 { 0 } else { self.poison_bits(b, g, src, w.warp) & w.mask };
        if let Home::Local { base, .. } = w.view.home {
            if !b.local_undefined && bits == 0 {
                return;
            }
            b.local_undefined = true;
            if n == 4
                && bits == 0
                && w.mask == u32::MAX
                && let Some(row) = self.local_row(b, w, shift)
            {
                *row = [0; 128];
                return;
            }
            for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
                let thread = (w.warp * 32 + k) as usize;
                for i in 0..n {
                    let at = u64::from(base) + w.offsets[k as usize] + shift + i;
                    let row = (at / 4) as usize * self.width as usize * 4;
                    let byte = row + thread * 4 + (at % 4) as usize;
                    if let Some(p) = b.local_poison.get_mut(byte) {
                        *p = (bits >> k & 1) as u8;
                    }
                }
            }
            return;
        }
        let is_copy = bits != 0 && self.is_copy_within_shared(w, origin, src, pc);
        if bits != 0 && !is_copy {
            let thread = w.warp * 32 + bits.trailing_zeros();
            self.report_undefined(b, origin, pc, "a store", thread, bits.count_ones());
        }
        self.define_memory(b, w, shift, n);
        if is_copy {
            self.undefine_shared(b, w, bits, shift..shift + n);
        }
    }

    /// The stored value is what a load took from shared memory, unchanged: who moves planes of a tile along uses no value.
    fn is_copy_within_shared(&self, w: &Warp<'_>, origin: u32, src: Opd, pc: usize) -> bool {
        let Some(o) = self.undefined.origins.get(origin as usize - 1) else { return false };
        let is_shared = |home| matches!(home, Home::Shared { .. });
        if w.view.poison.is_null() || !is_shared(w.view.home) || !is_shared(self.home(o.handle)) {
            return false;
        }
        let Some(between) = self.program.code.get(o.pc as usize + 1..pc) else { return false };
        let mut value = src;
        for op in between.iter().rev() {
            match op {
                Op::Mov { dst, a, .. } if *dst == value => value = *a,
                _ if destination(op).is_some_and(|(dst, _)| dst == value) => return false,
                _ => {}
            }
        }
        match self.program.code[o.pc as usize] {
            Op::Load { access } => self.program.accesses[access as usize].values.contains(&value),
            _ => false,
        }
    }

    /// Bytes of shared memory hold no value (again) after a store of some lanes.
    fn undefine_shared(&mut self, b: &mut Block, w: &Warp<'_>, lanes: u32, bytes: Range<u64>) {
        for k in (0..32).filter(|k| lanes >> k & 1 == 1) {
            for i in bytes.clone() {
                // SAFETY: as in `is_undefined`.
                unsafe {
                    let p = w.view.poison.add((w.offsets[k as usize] + i) as usize);
                    b.shared_undefined += u64::from(1 - p.read());
                    p.write(UNDEFINED);
                }
            }
        }
    }

    /// The bytes of a store are defined from now on.
    pub fn define_memory(&mut self, b: &mut Block, w: &Warp<'_>, shift: u64, n: u64) {
        if w.view.poison.is_null() {
            return;
        }
        let mut defined = 0;
        for k in (0..32).filter(|k| w.mask >> k & 1 == 1) {
            if n == 4 {
                // SAFETY: as in `is_undefined`; each of the four bytes is 0 or 1.
                unsafe {
                    let p =
                        w.view.poison.add((w.offsets[k as usize] + shift) as usize).cast::<u32>();
                    defined += u64::from(p.read_unaligned().count_ones());
                    p.write_unaligned(0);
                }
                continue;
            }
            for i in 0..n {
                // SAFETY: as in `is_undefined`.
                unsafe {
                    let p = w.view.poison.add((w.offsets[k as usize] + shift + i) as usize);
                    defined += u64::from(p.read());
                    p.write(0);
                }
            }
        }
        if matches!(w.view.home, Home::Shared { .. }) {
            b.shared_undefined = b.shared_undefined.saturating_sub(defined);
        }
    }
}
