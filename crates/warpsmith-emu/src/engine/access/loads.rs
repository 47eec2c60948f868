//! Loads: from memory to registers.

use warpsmith_ir::{Scalar, Scope};

use super::Warp;
use super::values::{from_memory, read_scalar};
use crate::compile::lir::{Access, Home, Opd, words};
use crate::engine::block::{Block, Group};
use crate::engine::lanes::{self, Pattern};
use crate::engine::launch::Machine;
use crate::engine::races::Kind;
use crate::engine::word_loads;

impl Machine<'_> {
    pub fn load(&mut self, b: &mut Block, g: &mut Group, access: u32, pc: usize) {
        let a = &self.program.accesses[access as usize];
        if self.checks.poison
            && let Some(left) = self.use_in_address(b, g, a, pc)
        {
            return self.with_threads(b, g, a, left, pc, |m, b, g| m.load_from(b, g, a, pc));
        }
        self.load_from(b, g, a, pc);
    }

    fn load_from(&mut self, b: &mut Block, g: &mut Group, a: &Access, pc: usize) {
        let common = self.common_address(g, a);
        let kind = match (a.volatile, a.polling) {
            (true, true) => Kind::Poll,
            (true, false) => Kind::VolatileRead,
            _ => Kind::Read,
        };
        if a.volatile {
            self.read_anew(b, g, a);
            self.acquire_at(b, g, a, Scope::System, false);
        }
        // The shortcuts do not look at the requests of warps.
        let counting = self.found.counting.is_some();
        if !counting && self.load_words(b, g, a, common, pc) {
            return;
        }
        if matches!(a.values.first(), Some(Opd::S(_))) {
            if counting || !self.load_unwatched_scalar(b, g, a, common) {
                self.load_scalar(b, g, a, common, kind, pc);
            }
            return;
        }
        self.each_warp(b, g, a, common, pc, kind, &mut |m, b, g, w| m.move_in(b, g, a, w, pc));
    }

    /// The common form of a load, for all warps at once: 4 bytes at a scalar plus one index. False: it is
    /// another form, or some lane needs a closer look.
    fn load_words(&mut self, b: &mut Block, g: &Group, a: &Access, common: u64, pc: usize) -> bool {
        let Some((dst, index, l, poison)) = self.word_load(b, g, a, common) else { return false };
        let handle = self.program.locate(common).0;
        let watched = self.checks.races && self.races.watches(handle);
        if watched && a.volatile {
            return false;
        }
        let n = (g.hi - g.lo) as usize * 32;
        // SAFETY: the row holds all warps of the block.
        let row = unsafe { std::slice::from_raw_parts(l.index, n) };
        let mut plan = std::mem::take(&mut self.plans[pc]);
        // A destination that is the index too would be lost for a second look.
        // SAFETY: poison has a byte for each byte of the object.
        let planned = plan.fits(row, l.signed, l.scale)
            && index != dst
            && (poison.is_null() || unsafe { plan.is_defined(&l, poison) });
        let done = if planned && (!watched || self.touch_plan(b, g, &plan, &l, handle, pc)) {
            // SAFETY: the rows hold all warps of the block, apart from memory; they are disjoint.
            unsafe { plan.load(l) }
        } else {
            let simple = !watched && index != dst && poison.is_null();
            // SAFETY: as above.
            simple && unsafe { word_loads::load_words(l, n) }
        };
        self.plans[pc] = plan;
        if done && self.checks.poison {
            self.define(b, g, a.values[0], pc);
        }
        done
    }

    /// A load in the form of [`word_loads::WordLoad`] by whole warps, with the rows it writes and is indexed by and the
    /// object's poison.
    fn word_load(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        common: u64,
    ) -> Option<(u32, u32, word_loads::WordLoad, *const u8)> {
        let ([Opd::V(dst)], 4, 1) = (a.values.as_slice(), a.elem.bytes(), a.count) else {
            return None;
        };
        let mut varying = a.terms.iter().filter(|t| matches!(t.index, Opd::V(_)));
        let (Some(t), None) = (varying.next(), varying.next()) else { return None };
        let (Opd::V(index), Scalar::I32 | Scalar::U32) = (t.index, t.ty) else { return None };
        let (handle, offset) = self.program.locate(common);
        if matches!(a.base, Opd::V(_)) || t.scale % 4 != 0 || offset % 4 != 0 {
            return None;
        }
        let mut warps = g.lo as usize..g.hi as usize;
        if warps.any(|w| g.mask.warps[w] != u32::MAX) {
            return None;
        }
        let view = self.view(b, handle).filter(|_| !self.is_heap(handle))?;
        if matches!(view.home, Home::Local { .. }) {
            return None;
        }
        let first = g.lo as usize * 32;
        let l = word_loads::WordLoad {
            bytes: view.bytes,
            len: view.len,
            offset,
            scale: t.scale,
            signed: t.ty == Scalar::I32,
            index: b.row(index, self.width).wrapping_add(first),
            dst: b.row(*dst, self.width).wrapping_add(first),
        };
        Some((*dst, index, l, view.poison.cast_const()))
    }

    /// One value for the whole group, at one defined address of memory that no thread writes. False: it is
    /// something else, or needs a closer look.
    fn load_unwatched_scalar(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        common: u64,
    ) -> bool {
        let (handle, offset) = self.program.locate(common);
        if a.volatile || !Self::is_uniform(a) || self.checks.races && self.races.watches(handle) {
            return false;
        }
        let Some(view) = self.plain_view(b, handle) else { return false };
        let n = u64::from(a.elem.bytes());
        let size = n * u64::from(a.count);
        let inside = u64::try_from(offset)
            .is_ok_and(|at| at.checked_add(size).is_some_and(|end| end <= view.len));
        let direct = view.poison.is_null() && !matches!(view.home, Home::Local { .. });
        let all_scalars = a.values.iter().all(|v| matches!(v, Opd::S(_)));
        if !inside || !direct || !all_scalars || !(offset as u64).is_multiple_of(size.max(1)) {
            return false;
        }
        for (c, dst) in a.values.iter().enumerate() {
            let Opd::S(s) = *dst else { continue };
            let at = offset as usize + c * n as usize;
            // SAFETY: all elements lie inside of the object.
            g.scalars[s as usize] = unsafe { read_scalar(view.bytes.add(at), a.elem) };
            g.poison[s as usize] = false;
        }
        true
    }

    /// One value for the whole group.
    fn load_scalar(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        common: u64,
        kind: Kind,
        pc: usize,
    ) {
        let n = u64::from(a.elem.bytes());
        let mut found = None;
        self.each_warp(b, g, a, common, pc, kind, &mut |m, b, _, w| {
            if found.is_none() {
                let lane = w.mask.trailing_zeros() & 31;
                let mut values = [0u64; 4];
                let mut undefined = false;
                for (c, v) in values.iter_mut().enumerate().take(usize::from(a.count)) {
                    let at = w.offsets[lane as usize] + c as u64 * n;
                    *v = m.read_element(b, w, a.elem, at, lane);
                    undefined |= m.checks.poison && m.is_undefined(b, w, at, n, lane);
                }
                let origin = undefined
                    .then(|| m.read_origin(b, w.view.handle, w.offsets[lane as usize], pc));
                found = Some((values, origin));
            }
        });
        let (values, origin) = found.unwrap_or(([0; 4], None));
        for (v, dst) in values.iter().zip(&a.values) {
            match dst {
                Opd::S(s) => {
                    g.scalars[*s as usize] = *v;
                    g.poison[*s as usize] = origin.is_some();
                    if let Some(o) = origin {
                        g.any_poison = true;
                        self.undefined.scalar = o;
                    }
                }
                other => self.write_scalar(b, g, *other, words(a.elem) == 2, *v, pc),
            }
        }
    }

    /// Moves the values of a load to its registers.
    fn move_in(&mut self, b: &mut Block, g: &mut Group, a: &Access, w: &Warp<'_>, pc: usize) {
        let keep = self.program.masked[pc] && !(g.full && w.mask == g.mask.warps[w.warp as usize]);
        let n = u64::from(a.elem.bytes());
        for (c, dst) in a.values.iter().enumerate() {
            let Opd::V(o) = *dst else { continue };
            let shift = c as u64 * n;
            let write =
                if keep || w.mask != g.mask.warps[w.warp as usize] { w.mask } else { u32::MAX };
            if a.elem.bytes() == 4 && write == u32::MAX {
                self.move_words(b, w, shift, o);
            } else {
                self.move_elements(b, w, a.elem, shift, o, write);
            }
            if self.checks.poison {
                self.load_poison(b, w, *dst, shift, n, pc);
            }
        }
    }

    /// All 32 lanes of 4-byte values; lanes that take no part have an address that may be read.
    fn move_words(&mut self, b: &mut Block, w: &Warp<'_>, shift: u64, dst: u32) {
        let lane0 = w.warp as usize * 32;
        let row = b.row(dst, self.width).wrapping_add(lane0);
        let first = (w.offsets[0] + shift) as usize;
        if let Home::Local { base, .. } = w.view.home {
            let width = self.width as usize;
            if w.pattern == Pattern::Same {
                let at = (w.offsets[0] + shift + u64::from(base)) as usize / 4 * width + lane0;
                if let Some(words) = b.local.get(at..at + 32) {
                    // SAFETY: the row holds all warps of the block.
                    unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), row, 32) };
                }
                return;
            }
            for k in 0..32 {
                let at = (w.offsets[k] + shift + u64::from(base)) as usize / 4;
                let v = b.local[at * width + lane0 + k];
                // SAFETY: the row holds all warps of the block.
                unsafe { row.add(k).write(v) };
            }
            return;
        }
        let bytes = w.view.bytes;
        // SAFETY: `classify` found all offsets inside of the object, with room for the access.
        unsafe {
            match w.pattern {
                Pattern::Row if shift == 0 && w.size == 4 => {
                    std::ptr::copy_nonoverlapping(bytes.add(first), row.cast::<u8>(), 128);
                }
                Pattern::Same => {
                    lanes::fill32(row, bytes.add(first).cast::<u32>().read_unaligned(), 32);
                }
                _ => {
                    for (k, offset) in w.offsets.iter().enumerate() {
                        let at = bytes.add((offset + shift) as usize).cast::<u32>();
                        row.add(k).write(at.read_unaligned());
                    }
                }
            }
        }
    }

    fn move_elements(
        &mut self,
        b: &mut Block,
        w: &Warp<'_>,
        elem: Scalar,
        shift: u64,
        dst: u32,
        lanes: u32,
    ) {
        let (width, wide) = (self.width, words(elem) == 2);
        for k in (0..32).filter(|k| lanes >> k & 1 == 1) {
            let v = self.read_element(b, w, elem, w.offsets[k as usize] + shift, k);
            b.set_lane(dst, width, wide, w.warp * 32 + k, v);
        }
    }

    /// An element of the object at a checked offset, in register form.
    pub fn read_element(
        &mut self,
        b: &mut Block,
        w: &Warp<'_>,
        elem: Scalar,
        offset: u64,
        lane: u32,
    ) -> u64 {
        if let Home::Local { base, .. } = w.view.home {
            return self.read_local(b, elem, u64::from(base) + offset, w.warp * 32 + lane);
        }
        // SAFETY: the offset was checked with the size of the access.
        unsafe { read_scalar(w.view.bytes.add(offset as usize), elem) }
    }

    fn read_local(&self, b: &Block, elem: Scalar, at: u64, thread: u32) -> u64 {
        let word = |i: u64| {
            let at = (i as usize) * self.width as usize + thread as usize;
            b.local.get(at).copied().unwrap_or(0)
        };
        let (first, byte) = (at / 4, at % 4);
        match elem.bytes() {
            8 => u64::from(word(first)) | u64::from(word(first + 1)) << 32,
            4 => word(first).into(),
            _ => from_memory(word(first) >> (8 * byte), elem),
        }
    }
}
