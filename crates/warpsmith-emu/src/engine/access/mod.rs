//! Memory accesses of a group: the addresses of a warp, their checks, and the order they are made in.

mod loads;
mod refusals;
mod stores;
mod values;

use warpsmith_ir::Scalar;

use self::values::extend;
pub use self::values::from_bits;
use super::block::{Block, Group};
use super::lanes::{self, Index, Pattern};
use super::launch::Machine;
use super::races::{Kind, Touch};
use crate::compile::lir::{Access, Home, Opd};

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
                let poison =
                    if self.undefined.in_buffers && buffer.poison.len() == buffer.bytes.len() {
                        buffer.poison.as_mut_ptr().cast()
                    } else {
                        null
                    };
                (buffer.bytes.as_mut_ptr(), buffer.bytes.len() as u64, poison)
            }
            Home::Variable { index, .. } => {
                let buffer = self.memory.globals.get_mut(index as usize)?;
                let poison =
                    if self.undefined.in_buffers && buffer.poison.len() == buffer.bytes.len() {
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
            Home::Cluster { .. } => return self.cluster_view(b, handle, home),
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
                let (handle, offset) = self.program.locate(first);
                let view = match cached {
                    Some(v) if v.handle == handle => Some(v),
                    _ => self.plain_view(b, handle),
                };
                let base = first.wrapping_sub(offset as u64);
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
                let good = now & !self.refusals.lanes;
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
        if self.found.counting.is_some() {
            self.count_access(b, w, kind, pc);
        }
        if self.checks.races && !matches!(w.view.home, Home::Local { .. }) {
            self.touch(b, g, a, &Touch { kind, pc, warp: w });
        }
        if self.checks.races && matches!(w.view.home, Home::Cluster { .. }) {
            self.reach(b, w, kind, pc);
        }
        if self.progress.watching && matches!(kind, Kind::Write | Kind::VolatileWrite) {
            self.count_change(b, g, a, w);
        }
        f(self, b, g, w);
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

    /// A read of what others may write meanwhile: of a loop that is watched, whether the host is one of them.
    pub fn read_anew(&self, b: &mut Block, g: &mut Group, a: &Access) {
        if !g.spin.armed || g.spin.reads_host != Some(false) {
            return;
        }
        let of_host = |pointer| {
            let buffer = match self.home(self.program.locate(pointer).0) {
                Home::Buffer(i) => self.memory.buffers.get(i as usize),
                Home::Variable { index, .. } => self.memory.globals.get(index as usize),
                _ => None,
            };
            buffer.is_some_and(|b| b.host_writes)
        };
        g.spin.reads_host = Some(self.pointers(b, g, a).into_iter().any(|(_, p)| of_host(p)));
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
