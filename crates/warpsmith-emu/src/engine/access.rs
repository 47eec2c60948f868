//! Loads and stores: addresses of a warp, bounds, alignment, and the movement of data.

use warpsmith_ir::Scalar;

use super::block::{Block, Group};
use super::lanes::{self, Index, Pattern};
use super::launch::Machine;
use super::races::{Kind, Touch};
use crate::api::{Finding, Rule};
use crate::compile::lir::{Access, Home, Opd, words};
use crate::compile::places::OFFSET_BITS;
use crate::compile::split_pointer;

/// An object's bytes as the running block sees them.
#[derive(Clone, Copy)]
pub struct View {
    pub handle: u64,
    pub home: Home,
    pub bytes: *mut u8,
    pub len: u64,
    /// One byte for each byte of the object, not zero where it is undefined; null: all defined.
    pub poison: *mut u8,
}

/// The addresses of one warp, checked.
pub struct Warp<'o> {
    pub view: View,
    pub offsets: &'o [u64; 32],
    pub mask: u32,
    pub pattern: Pattern,
    pub warp: u32,
    pub size: u64,
}

impl Machine<'_> {
    /// The bytes of an object; `None` when the pointer leads nowhere.
    pub fn view(&mut self, b: &mut Block, handle: u64) -> Option<View> {
        let home = self.home(handle);
        let null = std::ptr::null_mut();
        let (bytes, len, poison) = match home {
            Home::Invalid => return None,
            Home::Buffer(i) => {
                let buffer = self.memory.buffers.get_mut(i as usize)?;
                let poison = if self.any_buffer_poison && buffer.poison.len() == buffer.bytes.len()
                {
                    buffer.poison.as_mut_ptr().cast()
                } else {
                    null
                };
                (buffer.bytes.as_mut_ptr(), buffer.bytes.len() as u64, poison)
            }
            Home::Variable { index, .. } => {
                let buffer = self.memory.globals.get_mut(index as usize)?;
                let poison = if self.any_buffer_poison && buffer.poison.len() == buffer.bytes.len()
                {
                    buffer.poison.as_mut_ptr().cast()
                } else {
                    null
                };
                (buffer.bytes.as_mut_ptr(), buffer.bytes.len() as u64, poison)
            }
            Home::Shared { base, size } => {
                let at = base as usize;
                let poison = if b.shared_undefined > 0 {
                    b.shared_poison.as_mut_ptr().wrapping_add(at)
                } else {
                    null
                };
                (b.shared.as_mut_ptr().wrapping_add(at), size.into(), poison)
            }
            Home::Local { size, .. } => (null, size.into(), null),
        };
        Some(View { handle, home, bytes, len, poison })
    }

    /// The part of an address that all threads have in common.
    fn common_address(&self, g: &Group, a: &Access) -> u64 {
        let mut sum = a.disp as u64;
        if !matches!(a.base, Opd::V(_)) {
            sum = sum.wrapping_add(self.scalar(g, a.base));
        }
        for t in &a.terms {
            if !matches!(t.index, Opd::V(_)) {
                let i = extend(self.scalar(g, t.index), t.ty);
                sum = sum.wrapping_add(i.wrapping_mul(t.scale as u64));
            }
        }
        sum
    }

    fn is_uniform(a: &Access) -> bool {
        !matches!(a.base, Opd::V(_)) && a.terms.iter().all(|t| !matches!(t.index, Opd::V(_)))
    }

    /// The addresses of the lanes of a warp.
    fn addresses(&self, b: &mut Block, a: &Access, common: u64, warp: u32) -> [u64; 32] {
        let mut out = [common; 32];
        let at = warp as usize * 32;
        let mut add = |o: Opd, width: Index, scale: i64| {
            if let Opd::V(v) = o {
                let row = b.row(v, self.width);
                // SAFETY: the row holds all warps of the block.
                unsafe {
                    let index = match width {
                        Index::I64 => row.cast::<u64>().add(at).cast(),
                        _ => row.add(at),
                    };
                    lanes::add_index(&mut out, index, width, scale);
                }
            }
        };
        add(a.base, Index::I64, 1);
        for t in &a.terms {
            let width = match t.ty {
                Scalar::I32 => Index::I32,
                Scalar::I64 | Scalar::U64 => Index::I64,
                _ => Index::U32,
            };
            add(t.index, width, t.scale);
        }
        out
    }

    pub fn load(&mut self, b: &mut Block, g: &mut Group, access: u32, pc: usize) {
        let a = &self.program.accesses[access as usize];
        if self.check_poison
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
            self.acquire_at(b, g, a, common);
        }
        if self.load_words(b, g, a, common, pc) {
            return;
        }
        if matches!(a.values.first(), Some(Opd::S(_))) {
            if !self.load_unwatched_scalar(b, g, a, common) {
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
        let handle = split_pointer(common).0;
        let watched = self.check_races && self.races.watches(handle);
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
            simple && unsafe { lanes::load_words(l, n) }
        };
        self.plans[pc] = plan;
        if done && self.check_poison {
            self.define(b, g, a.values[0], pc);
        }
        done
    }

    /// A load in the form of [`lanes::WordLoad`] by whole warps, with the rows it writes and is indexed by and the
    /// object's poison.
    fn word_load(
        &mut self,
        b: &mut Block,
        g: &Group,
        a: &Access,
        common: u64,
    ) -> Option<(u32, u32, lanes::WordLoad, *const u8)> {
        let ([Opd::V(dst)], 4, 1) = (a.values.as_slice(), a.elem.bytes(), a.count) else {
            return None;
        };
        let mut varying = a.terms.iter().filter(|t| matches!(t.index, Opd::V(_)));
        let (Some(t), None) = (varying.next(), varying.next()) else { return None };
        let (Opd::V(index), Scalar::I32 | Scalar::U32) = (t.index, t.ty) else { return None };
        let (handle, offset) = split_pointer(common);
        if matches!(a.base, Opd::V(_)) || t.scale % 4 != 0 || offset % 4 != 0 {
            return None;
        }
        let warps = g.lo as usize..g.hi as usize;
        if g.mask.warps[warps].iter().any(|m| *m != u32::MAX) {
            return None;
        }
        let view = self.view(b, handle)?;
        if matches!(view.home, Home::Local { .. }) {
            return None;
        }
        let first = g.lo as usize * 32;
        let l = lanes::WordLoad {
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
        let (handle, offset) = split_pointer(common);
        if a.volatile || !Self::is_uniform(a) || self.check_races && self.races.watches(handle) {
            return false;
        }
        let Some(view) = self.view(b, handle) else { return false };
        let n = u64::from(a.elem.bytes());
        let size = n * u64::from(a.count);
        let inside = u64::try_from(offset)
            .is_ok_and(|at| at.checked_add(size).is_some_and(|end| end <= view.len));
        let direct = view.poison.is_null() && !matches!(view.home, Home::Local { .. });
        let all_scalars = a.values.iter().all(|v| matches!(v, Opd::S(_)));
        if !inside || !direct || !all_scalars || offset as u64 % size.max(1) != 0 {
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
                    undefined |= m.check_poison && m.is_undefined(b, w, at, n, lane);
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
                        self.scalar_origin = o;
                    }
                }
                other => self.write_scalar(b, g, *other, words(a.elem) == 2, *v, pc),
            }
        }
    }

    pub fn store(&mut self, b: &mut Block, g: &mut Group, access: u32, pc: usize) {
        let a = &self.program.accesses[access as usize];
        if self.check_poison
            && let Some(left) = self.use_in_address(b, g, a, pc)
        {
            return self.with_threads(b, g, a, left, pc, |m, b, g| m.store_to(b, g, a, pc));
        }
        self.store_to(b, g, a, pc);
    }

    fn store_to(&mut self, b: &mut Block, g: &mut Group, a: &Access, pc: usize) {
        let common = self.common_address(g, a);
        if a.volatile {
            self.release_at(b, g, a, common, false);
        }
        let kind = if a.volatile { Kind::VolatileWrite } else { Kind::Write };
        self.each_warp(b, g, a, common, pc, kind, &mut |m, b, g, w| m.move_out(b, g, a, w, pc));
    }

    /// Calls `f` for each warp of the group with its checked addresses. Lanes that may not make the
    /// access are reported and left out.
    #[expect(clippy::too_many_arguments, reason = "one access of one group")]
    pub fn each_warp(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        common: u64,
        pc: usize,
        kind: Kind,
        f: &mut dyn FnMut(&mut Self, &mut Block, &mut Group, &Warp<'_>),
    ) {
        let size = u64::from(a.elem.bytes()) * u64::from(a.count);
        let uniform = Self::is_uniform(a);
        let mut cached: Option<View> = None;
        for warp in g.lo..g.hi {
            let mut mask = g.mask.warps[warp as usize];
            if mask == 0 {
                continue;
            }
            let mut addresses =
                if uniform { [common; 32] } else { self.addresses(b, a, common, warp) };
            // Lanes may be in different objects: one object at a time.
            while mask != 0 {
                let first = addresses[mask.trailing_zeros() as usize];
                let handle = split_pointer(first).0;
                let view = match cached {
                    Some(v) if v.handle == handle => Some(v),
                    _ => self.view(b, handle),
                };
                let base = handle << OFFSET_BITS;
                let mut offsets = addresses;
                let limit = view.map_or(0, |v| v.len.wrapping_sub(size));
                let fits = view.is_some_and(|v| v.len >= size);
                let mut now = mask;
                let pattern = lanes::classify(&mut offsets, mask, base, limit, size - 1, size);
                if fits && pattern != Pattern::Bad {
                    cached = view;
                    let view = view.unwrap_or(View::NOWHERE);
                    let w = Warp { view, offsets: &offsets, mask, pattern, warp, size };
                    self.checked(b, g, a, &w, kind, pc, f);
                    break;
                }
                cached = None;
                now &= self.judge(b, g, a, &mut addresses, warp, mask, handle, pc, kind);
                let good = now & !self.refused;
                mask &= !now;
                if good != 0 {
                    let Some(view) = self.view(b, handle) else { continue };
                    let mut offsets = addresses;
                    let limit = view.len.wrapping_sub(size);
                    let pattern = lanes::classify(&mut offsets, good, base, limit, size - 1, size);
                    if pattern != Pattern::Bad {
                        let w = Warp { view, offsets: &offsets, mask: good, pattern, warp, size };
                        self.checked(b, g, a, &w, kind, pc, f);
                    }
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one access of one warp")]
    fn checked(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        w: &Warp<'_>,
        kind: Kind,
        pc: usize,
        f: &mut dyn FnMut(&mut Self, &mut Block, &mut Group, &Warp<'_>),
    ) {
        if self.check_races && !matches!(w.view.home, Home::Local { .. }) {
            self.touch(b, g, a, &Touch { kind, pc, warp: w });
        }
        if self.watching && matches!(kind, Kind::Write | Kind::VolatileWrite) {
            self.count_change(b, g, a, w);
        }
        f(self, b, g, w);
    }

    /// Looks at the lanes that point into `handle` one by one, reports those that may not make the
    /// access and leaves them in `refused`. Gives the lanes looked at.
    #[expect(clippy::too_many_arguments, reason = "one access of one warp")]
    fn judge(
        &mut self,
        b: &mut Block,
        g: &mut Group,
        a: &Access,
        addresses: &mut [u64; 32],
        warp: u32,
        mask: u32,
        handle: u64,
        pc: usize,
        kind: Kind,
    ) -> u32 {
        let size = u64::from(a.elem.bytes()) * u64::from(a.count);
        let mut seen = 0;
        self.refused = 0;
        for k in (0..32).filter(|k| mask >> k & 1 == 1) {
            let (h, offset) = split_pointer(addresses[k]);
            if h != handle {
                continue;
            }
            seen |= 1 << k;
            let thread = warp * 32 + k as u32;
            let Some(view) = self.view(b, h) else {
                self.refuse(b, a, thread, h, offset, pc, kind, Rule::InvalidPointer);
                self.refused |= 1 << k;
                continue;
            };
            let inside =
                offset >= 0 && (offset as u64).checked_add(size).is_some_and(|end| end <= view.len);
            if !inside && !self.grow(h, offset, size) {
                self.refuse(b, a, thread, h, offset, pc, kind, Rule::OutOfBounds);
                self.refused |= 1 << k;
            } else if offset as u64 & (size - 1) != 0 {
                self.refuse(b, a, thread, h, offset, pc, kind, Rule::Misaligned);
                self.refused |= 1 << k;
            }
        }
        // A load that does not happen gives an undefined value.
        if self.refused != 0 && !a.is_store {
            self.undefined_result(b, g, a, warp, self.refused, pc);
        }
        seen
    }

    /// Makes a growing buffer long enough.
    pub fn grow(&mut self, handle: u64, offset: i64, size: u64) -> bool {
        let Home::Buffer(i) = self.home(handle) else { return false };
        let Some(buffer) = self.memory.buffers.get_mut(i as usize) else { return false };
        let Some(end) = u64::try_from(offset).ok().and_then(|o| o.checked_add(size)) else {
            return false;
        };
        if !buffer.grows {
            return false;
        }
        let want = end.next_power_of_two().max(256);
        let more = want.saturating_sub(buffer.bytes.len() as u64);
        if self.used.saturating_add(more) > self.options.max_memory {
            self.limit.get_or_insert(crate::api::Limit::Memory);
            return false;
        }
        self.used += more;
        buffer.bytes.resize(want as usize, 0);
        if !buffer.poison.is_empty() {
            buffer.poison.resize(want as usize, false);
        }
        true
    }

    #[expect(clippy::too_many_arguments, reason = "one access of one thread")]
    pub fn refuse(
        &mut self,
        b: &Block,
        a: &Access,
        thread: u32,
        handle: u64,
        offset: i64,
        pc: usize,
        kind: Kind,
        rule: Rule,
    ) {
        let key = (rule, pc as u32, handle);
        if let Some(&at) = self.known_refusals.get(&key) {
            return self.report.count(at, 1);
        }
        let size = u64::from(a.elem.bytes()) * u64::from(a.count);
        let what = kind.name();
        let (text, name) = (self.element_text(handle, offset), self.object_name(handle));
        let message = match rule {
            Rule::OutOfBounds => {
                let extent = self.extent_text(handle);
                format!("{what} of `{text}` is outside of `{name}`, which has {extent}")
            }
            Rule::Misaligned => format!(
                "{what} of {size} bytes at `{text}`, byte {offset} of `{name}`, is not aligned to {size}"
            ),
            _ if offset == 0 && handle == 0 => format!("{what} through a null pointer"),
            _ => format!("{what} through a pointer that leads to no object"),
        };
        let known = rule != Rule::InvalidPointer;
        let place = self.place(b, pc, what, Some(thread));
        let index = if known { self.element_index(handle, offset) } else { vec![] };
        let at = self.report.add(Finding {
            rule,
            kind: None,
            message,
            accesses: vec![place],
            array: known.then_some(name),
            index,
            interval: Some(b.interval),
            count: 1,
        });
        self.known_refusals.insert(key, at);
    }

    /// How large an object is, in its own elements.
    fn extent_text(&self, handle: u64) -> String {
        let Some(o) = self.program.objects.get(handle as usize) else { return String::new() };
        let bytes = match o.home {
            Home::Buffer(i) => self.memory.buffers.get(i as usize).map_or(0, |b| b.bytes.len()),
            Home::Variable { index, .. } => {
                self.memory.globals.get(index as usize).map_or(0, |b| b.bytes.len())
            }
            Home::Shared { size, .. } | Home::Local { size, .. } => size as usize,
            Home::Invalid => 0,
        };
        if o.extents.len() > 1 {
            let dims: String = o.extents.iter().map(|e| format!("[{e}]")).collect();
            return format!("the extents {dims}");
        }
        match bytes as u64 / o.element_bytes.max(1) {
            1 => "1 element".to_string(),
            n => format!("{n} elements"),
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
            if self.check_poison {
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

    /// Moves the values of a store to memory, and their poison.
    fn move_out(&mut self, b: &mut Block, g: &mut Group, a: &Access, w: &Warp<'_>, pc: usize) {
        let n = u64::from(a.elem.bytes());
        for (c, src) in a.values.iter().enumerate() {
            let shift = c as u64 * n;
            if self.check_poison {
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
    fn count_change(&mut self, b: &mut Block, g: &Group, a: &Access, w: &Warp<'_>) {
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
                    self.changes += 1;
                    return;
                }
            }
        }
    }

    /// Visits the lanes of an access one by one with the pointer of each.
    pub fn pointers(&self, b: &mut Block, g: &Group, a: &Access) -> Vec<(u32, u64)> {
        let common = self.common_address(g, a);
        let mut out = vec![];
        for warp in g.lo..g.hi {
            let addresses = self.addresses(b, a, common, warp);
            let mask = g.mask.warps[warp as usize];
            out.extend(
                (0..32)
                    .filter(|k| mask >> k & 1 == 1)
                    .map(|k| (warp * 32 + k, addresses[k as usize])),
            );
        }
        out
    }

    pub fn address_of_group(&self, g: &Group, a: &Access) -> u64 {
        self.common_address(g, a)
    }
}

impl View {
    const NOWHERE: View = View {
        handle: 0,
        home: Home::Invalid,
        bytes: std::ptr::null_mut(),
        len: 0,
        poison: std::ptr::null_mut(),
    };
}

/// Bits that a type has in memory.
pub fn from_bits(v: u64, elem: Scalar) -> u64 {
    v & (u64::MAX >> (64 - 8 * elem.bytes()))
}

/// A narrow value from memory, extended as registers hold it.
fn from_memory(bits: u32, elem: Scalar) -> u64 {
    match elem {
        Scalar::Bool => u64::from(bits & 0xff != 0),
        Scalar::I8 => (bits as i8 as i32 as u32).into(),
        Scalar::U8 => (bits & 0xff).into(),
        Scalar::I16 => (bits as i16 as i32 as u32).into(),
        _ => (bits & 0xffff).into(),
    }
}

/// Reads a scalar in register form.
///
/// # Safety
/// The pointer is valid for the bytes of the type.
#[inline(always)]
pub unsafe fn read_scalar(p: *const u8, elem: Scalar) -> u64 {
    // SAFETY: as the caller promises.
    unsafe {
        match elem.bytes() {
            8 => p.cast::<u64>().read_unaligned(),
            4 => p.cast::<u32>().read_unaligned().into(),
            2 => from_memory(p.cast::<u16>().read_unaligned().into(), elem),
            _ => from_memory(p.read().into(), elem),
        }
    }
}

/// Writes a scalar from register form.
///
/// # Safety
/// The pointer is valid for the bytes of the type.
#[inline(always)]
pub unsafe fn write_scalar(p: *mut u8, elem: Scalar, v: u64) {
    // SAFETY: as the caller promises.
    unsafe {
        match elem.bytes() {
            8 => p.cast::<u64>().write_unaligned(v),
            4 => p.cast::<u32>().write_unaligned(v as u32),
            2 => p.cast::<u16>().write_unaligned(v as u16),
            _ => p.write(v as u8),
        }
    }
}

/// An index register as 64 bits.
fn extend(v: u64, ty: Scalar) -> u64 {
    match ty {
        Scalar::I32 => v as u32 as i32 as i64 as u64,
        Scalar::I64 | Scalar::U64 => v,
        _ => v & 0xffff_ffff,
    }
}
