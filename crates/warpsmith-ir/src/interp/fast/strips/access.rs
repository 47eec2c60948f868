//! How many iterations go through memory.

use super::super::super::Unknown;
use super::super::super::bounds::Track;
use super::super::super::exec::Interp;
use super::super::super::memory::{OWN, Pointer};
use super::super::code::{Address, Op};
use super::super::run::{Reach, Registers, address, bits_of, put_bits};
use super::lanes::At;
use super::trace::Strip;
use crate::types::Scalar;
use crate::value::Value;

/// The elements that an access touches in iterations that follow each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// The operation; spots of the strip come after all of them.
    op: usize,
    /// The lanes that hold the pointers.
    at: usize,
    stores: bool,
    size: u64,
    first: u64,
    /// From each to the next, where that is always the same.
    stride: Option<i64>,
}

impl Way {
    /// The bytes it touches, as pointers.
    fn range(&self, lanes: &[Vec<u64>], n: usize) -> (u64, u64) {
        let of = |all: &[u64]| {
            let (low, high) = all.iter().fold((u64::MAX, 0), |(l, h), p| (l.min(*p), h.max(*p)));
            (low, high + self.size)
        };
        match self.stride {
            Some(stride) => {
                let last = self.first.wrapping_add(stride.wrapping_mul(n as i64 - 1) as u64);
                of(&[self.first, last])
            }
            None => of(&lanes[self.at][..n]),
        }
    }

    fn is_row(&self) -> bool {
        self.stride == Some(self.size as i64)
    }
}

/// Whether no iteration touches what one before it, or it itself earlier, writes.
pub(super) fn apart(ways: &[Way], lanes: &[Vec<u64>], n: usize) -> bool {
    ways.iter().enumerate().all(|(i, x)| {
        ways[..i].iter().all(|y| match (x.stores, y.stores) {
            (false, false) => true,
            (true, false) => are_apart(y, x, lanes, n),
            _ => are_apart(x, y, lanes, n),
        })
    })
}

fn are_apart(one: &Way, store: &Way, lanes: &[Vec<u64>], n: usize) -> bool {
    let ((low, high), (from, to)) = (one.range(lanes, n), store.range(lanes, n));
    if high <= from || to <= low {
        return true;
    }
    let (Some(stride), true) = (store.stride, store.stride == one.stride) else { return false };
    let every = stride.unsigned_abs();
    if stride == 0 || every < one.size || every < store.size {
        return false;
    }
    let ahead = one.first.wrapping_sub(store.first) as i64;
    let between = ahead.rem_euclid(every as i64) as u64;
    if between >= store.size && between + one.size <= every {
        return true;
    }
    // What is read before it is written, in the same iteration or in a later one.
    let read_first = ahead == 0 && one.op < store.op || ahead != 0 && ahead / stride > 0;
    !one.stores && one.size == store.size && between == 0 && read_first
}

impl<T: Track> Interp<'_, '_, T> {
    /// The object, and where in it so many bytes lie that the host may use without being asked.
    fn place(&self, r: &mut Registers, to: u64, size: usize) -> Option<(u32, usize)> {
        let p = Pointer::from_bits(to);
        let id = p.object?;
        let start = usize::try_from(p.offset).ok()?;
        (start.checked_add(size)? <= self.length(r, id)?).then_some((id, start))
    }

    fn length(&self, r: &mut Registers, id: u32) -> Option<usize> {
        match id.checked_sub(OWN) {
            Some(own) => self.objects.get(own as usize).map(|o| o.image.bytes.len()),
            None if matches!(self.reach(r, id), Reach::Asks | Reach::InFlight) => None,
            None => self.memory.buffers.get(id as usize).map(Vec::len),
        }
    }

    /// As [`Self::load_at`], of what nobody has to be asked for.
    pub(super) fn element(&self, r: &mut Registers, to: u64, ty: Scalar) -> Option<u64> {
        self.place(r, to, ty.bytes() as usize)?;
        self.load_at(r, to, ty)
    }

    /// The values that the first iteration finds.
    pub(super) fn first_values(
        &self,
        strip: &Strip,
        r: &mut Registers,
        lanes: &[Vec<u64>],
    ) -> Option<Vec<u64>> {
        let first = |from: Result<u32, usize>| match from {
            Ok(reg) => Some(r.get(reg)),
            Err(spot) => {
                let spot = &strip.spots[spot];
                let to = address(spot.at, |v| lanes[v as usize][0])?;
                self.element(r, to, spot.ty)
            }
        };
        strip.carried.iter().map(|c| c.from).map(first).collect()
    }

    /// Follows an access through `n` iterations; as many of them stay inside one object.
    pub(super) fn way_of(
        &self,
        strip: &Strip,
        op: usize,
        (r, lanes, ways): At<'_>,
        n: usize,
    ) -> usize {
        let (at, size, stores) = match &strip.ops[op] {
            Op::Load { ty, at, .. } => (*at, ty.bytes(), false),
            Op::Store { ty, at, .. } => (*at, ty.bytes(), true),
            _ => return 0,
        };
        let place = strip.values - strip.ops.len() + op;
        let mut to = std::mem::take(&mut lanes[place]);
        let n = addresses(at, lanes, &mut to[..n]);
        let first = to[0];
        let stride = if n > 1 { to[1].wrapping_sub(first) as i64 } else { size as i64 };
        let gaps = to[..n].windows(2);
        let even = gaps.fold(0, |any, p| any | (p[1].wrapping_sub(p[0]) ^ stride as u64)) == 0;
        let length = Pointer::object_in(first).checked_sub(1).and_then(|id| self.length(r, id));
        let fits = |p: &u64| {
            let offset = Pointer::from_bits(*p).offset;
            offset >= 0 && (offset as u64).saturating_add(size.into()) <= length.unwrap_or(0) as u64
        };
        let n = match length {
            None => 0,
            Some(_) if even && n > 0 && fits(&to[0]) && fits(&to[n - 1]) => n,
            Some(_) => to[..n].iter().position(|p| !fits(p)).unwrap_or(n),
        };
        let stride = even.then_some(stride);
        ways.push(Way { op, at: place, stores, size: size.into(), first, stride });
        lanes[place] = to;
        n
    }

    /// Does a load, or finds the address of a place, for as many iterations as there is room for; as many go on.
    pub(super) fn fetch(
        &self,
        strip: &Strip,
        op: usize,
        (r, lanes, ways): At<'_>,
        out: &mut [u64],
    ) -> usize {
        let ty = match &strip.ops[op] {
            Op::Offset { at, .. } => {
                return (0..out.len())
                    .position(|k| match address(*at, |v| lanes[v as usize][k]) {
                        Some(bits) => {
                            out[k] = bits;
                            false
                        }
                        None => true,
                    })
                    .unwrap_or(out.len());
            }
            Op::Load { ty, .. } => *ty,
            _ => return 0,
        };
        let n = self.way_of(strip, op, (r, lanes, ways), out.len());
        let Some(way) = ways.last().filter(|_| n > 0) else { return 0 };
        let Some(content) = Pointer::from_bits(way.first).object.and_then(|id| self.content(id))
        else {
            return 0;
        };
        match way.is_row() {
            true => row(&content, way.first, ty, &mut out[..n]),
            false => anywhere(&content, &lanes[way.at][..n], ty, out),
        }
    }

    /// The bytes of an object.
    fn content(&self, id: u32) -> Option<Content<'_>> {
        match id.checked_sub(OWN) {
            Some(own) => {
                let image = &self.objects.get(own as usize)?.image;
                Some(Content { bytes: &image.bytes, marks: Marks::Known(&image.known) })
            }
            None => {
                let bytes = self.memory.buffers.get(id as usize)?;
                let unknown = self.memory.host.unknown.get(id as usize);
                Some(Content { bytes, marks: unknown.map_or(Marks::None, Marks::Unknown) })
            }
        }
    }

    /// Adds the ways of the spots; whether each that is written can be, and none of them is another's.
    pub(super) fn spots_apart(
        &self,
        strip: &Strip,
        r: &mut Registers,
        lanes: &[Vec<u64>],
        ways: &mut Vec<Way>,
    ) -> bool {
        for (i, spot) in strip.spots.iter().enumerate() {
            let size = spot.ty.bytes();
            let Some(first) = address(spot.at, |v| lanes[v as usize][0]) else { return false };
            if self.place(r, first, size as usize).is_none() {
                return false;
            }
            let (op, stores) = (strip.ops.len() + i, spot.left.is_some());
            ways.push(Way { op, at: 0, stores, size: size.into(), first, stride: Some(0) });
        }
        true
    }

    /// Writes what `n` iterations leave in memory.
    pub(super) fn leave(
        &mut self,
        strip: &Strip,
        r: &mut Registers,
        lanes: &[Vec<u64>],
        ways: &[Way],
        n: usize,
    ) {
        for way in ways.iter().filter(|way| way.stores) {
            let Some(Op::Store { ty, a, .. }) = strip.ops.get(way.op) else { continue };
            let values = &lanes[*a as usize][..n];
            if way.is_row() {
                self.write_row(way, values);
                continue;
            }
            for (to, bits) in lanes[way.at].iter().zip(values) {
                let done = self.store_at(r, *to, Value { ty: *ty, bits: *bits });
                debug_assert!(done.is_some());
            }
        }
        for spot in &strip.spots {
            let at = address(spot.at, |v| lanes[v as usize][0]);
            if let (Some(left), Some(to)) = (spot.left, at) {
                let value = Value { ty: spot.ty, bits: lanes[left as usize][n - 1] };
                let done = self.store_at(r, to, value);
                debug_assert!(done.is_some());
            }
        }
    }

    fn write_row(&mut self, way: &Way, values: &[u64]) {
        let p = Pointer::from_bits(way.first);
        let (Some(id), start, size) = (p.object, p.offset as usize, way.size as usize) else {
            return;
        };
        let range = start..start + size * values.len();
        let bytes = match id.checked_sub(OWN) {
            Some(own) => {
                let image = &mut self.objects[own as usize].image;
                image.known[range.clone()].fill(true);
                &mut image.bytes[range]
            }
            None => {
                self.memory.host.mark(id as usize, start, range.len(), false);
                &mut self.memory.buffers[id as usize][range]
            }
        };
        match size {
            4 => {
                for (to, bits) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(values) {
                    *to = (*bits as u32).to_le_bytes();
                }
            }
            _ => {
                for (to, bits) in bytes.chunks_exact_mut(size).zip(values) {
                    put_bits(to, *bits);
                }
            }
        }
    }
}

/// The bytes of an object, and which of them hold something.
struct Content<'a> {
    bytes: &'a [u8],
    marks: Marks<'a>,
}

/// What is known of the bytes of an object.
enum Marks<'a> {
    /// All.
    None,
    Known(&'a [bool]),
    Unknown(&'a Unknown),
}

impl Content<'_> {
    /// The first of some bytes that holds nothing.
    fn empty(&self, range: std::ops::Range<usize>) -> Option<usize> {
        match self.marks {
            Marks::None => None,
            Marks::Known(known) => {
                let part = known.get(range)?;
                // Without a branch for each, since most often there is none.
                let all = part.iter().fold(true, |all, known| all & known);
                if all { None } else { part.iter().position(|known| !known) }
            }
            Marks::Unknown(unknown) => unknown.first(range),
        }
    }
}

/// Reads elements that lie beside each other; as many of them hold something.
fn row(content: &Content<'_>, first: u64, ty: Scalar, out: &mut [u64]) -> usize {
    let size = ty.bytes() as usize;
    let start = Pointer::from_bits(first).offset as usize;
    let range = start..start + size * out.len();
    let n = content.empty(range.clone()).map_or(out.len(), |byte| byte / size);
    let Some(bytes) = content.bytes.get(range) else { return 0 };
    match (ty, size) {
        (Scalar::Bool, _) | (_, 1 | 2) => {
            for (to, from) in out[..n].iter_mut().zip(bytes.chunks_exact(size)) {
                *to = bits_of(ty, from).unwrap_or_default();
            }
        }
        (_, 4) => {
            for (to, from) in out[..n].iter_mut().zip(bytes.as_chunks::<4>().0) {
                *to = u32::from_le_bytes(*from).into();
            }
        }
        _ => {
            for (to, from) in out[..n].iter_mut().zip(bytes.as_chunks::<8>().0) {
                *to = u64::from_le_bytes(*from);
            }
        }
    }
    n
}

/// Reads elements wherever they lie; as many of them hold something.
fn anywhere(content: &Content<'_>, at: &[u64], ty: Scalar, out: &mut [u64]) -> usize {
    let size = ty.bytes() as usize;
    for (k, (at, to)) in at.iter().zip(out).enumerate() {
        let start = Pointer::from_bits(*at).offset as usize;
        let range = start..start + size;
        let bits = content.bytes.get(range.clone()).and_then(|bytes| bits_of(ty, bytes));
        match bits {
            Some(bits) if content.empty(range).is_none() => *to = bits,
            _ => return k,
        }
    }
    at.len()
}

/// The pointers of an access in as many iterations as stay in the object of the first.
fn addresses(at: Address, lanes: &[Vec<u64>], to: &mut [u64]) -> usize {
    let n = to.len();
    let base = &lanes[at.base as usize][..n];
    let add = |base: u64, bytes: i64| base.wrapping_add(bytes.wrapping_add(at.offset) as u64);
    match at.index {
        Some(i) if i.narrow => {
            let index = &lanes[i.of as usize][..n];
            for ((to, base), index) in to.iter_mut().zip(base).zip(index) {
                *to = add(*base, i64::from(*index as i32).wrapping_mul(i.scale));
            }
        }
        Some(i) => {
            let index = &lanes[i.of as usize][..n];
            for ((to, base), index) in to.iter_mut().zip(base).zip(index) {
                *to = add(*base, (*index as i64).wrapping_mul(i.scale));
            }
        }
        None => to.iter_mut().zip(base).for_each(|(to, base)| *to = add(*base, 0)),
    }
    let Some(first) = base.first().map(|p| Pointer::object_in(*p)) else { return 0 };
    let leaves = |to: &u64, base: &u64| {
        (Pointer::object_in(*to) ^ first) | (Pointer::object_in(*base) ^ first)
    };
    match to.iter().zip(base).fold(0, |any, (to, base)| any | leaves(to, base)) {
        0 => n,
        _ => to.iter().zip(base).position(|(to, base)| leaves(to, base) != 0).unwrap_or(n),
    }
}
