//! Objects, pointers and typed access to them.

use super::bounds::{Bounds, Track};
use super::exec::Interp;
use super::races::Kind;
use super::{InterpErrorKind, Memory, Unknown};
use crate::eval::{from_bytes, to_bytes};
use crate::layout::layout_of;
use crate::span::Origin;
use crate::types::{Scalar, Type};
use crate::value::Value;

/// Objects with ids from here on belong to the interpreter; those below are the caller's buffers.
pub(crate) const OWN: u32 = 1 << 23;

/// As an integer a pointer is one more than its object's number, times 2 to the power of this, plus the offset, which may
/// be negative. The emulator writes pointers in the same way, so that they may lie in memory that both use.
const OFFSET_BITS: u32 = 40;
const HALF: u64 = 1 << (OFFSET_BITS - 1);

/// A place in memory. Without an object it is the null pointer plus an offset, or an integer in disguise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub object: Option<u32>,
    pub offset: i64,
}

impl Pointer {
    pub const NULL: Pointer = Pointer { object: None, offset: 0 };

    pub fn add(self, bytes: i64) -> Pointer {
        Pointer { offset: self.offset.wrapping_add(bytes), ..self }
    }

    pub fn to_bits(self) -> u64 {
        match self.object {
            None => self.offset as u64,
            Some(id) => ((u64::from(id) + 1) << OFFSET_BITS).wrapping_add(self.offset as u64),
        }
    }

    /// One more than the number of the object; 0: there is none.
    #[inline]
    pub fn object_in(bits: u64) -> u32 {
        (bits.wrapping_add(HALF) >> OFFSET_BITS) as u32
    }

    #[inline]
    pub fn from_bits(bits: u64) -> Pointer {
        match Pointer::object_in(bits) {
            0 => Pointer { object: None, offset: bits as i64 },
            n => {
                let offset = bits.wrapping_sub(u64::from(n) << OFFSET_BITS);
                Pointer { object: Some(n - 1), offset: offset as i64 }
            }
        }
    }
}

/// A value of any type. Vectors, structs and arrays are their bytes.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    Num(Value),
    Ptr(Pointer),
    Bytes(Box<Image>),
}

/// A copy of a piece of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    pub bytes: Vec<u8>,
    /// Which bytes have been written.
    pub known: Vec<bool>,
    pub bounds: Bounds,
}

impl Image {
    pub fn new(size: usize, known: bool) -> Image {
        Image { bytes: vec![0; size], known: vec![known; size], bounds: Bounds::default() }
    }

    /// Which bytes have not been written.
    pub fn unknown(&self) -> Unknown {
        match self.known.contains(&false) {
            true => self.known.iter().map(|known| !known).collect::<Vec<_>>().into(),
            false => Unknown::none(self.known.len()),
        }
    }

    /// A piece of the image; the caller has checked the range.
    pub fn part(&self, at: usize, size: usize) -> Image {
        let range = at as u64..(at + size) as u64;
        let mut bounds = Bounds::default();
        if !self.bounds.is_empty() {
            let inside = self.bounds.iter().filter(|(k, _)| range.contains(k));
            bounds.extend(inside.map(|(k, b)| (k - range.start, *b)));
        }
        let (bytes, known) = (&self.bytes[at..at + size], &self.known[at..at + size]);
        Image { bytes: bytes.to_vec(), known: known.to_vec(), bounds }
    }

    /// Overwrites a piece; the caller has checked the range.
    pub fn put(&mut self, at: usize, part: &Image) {
        let range = at as u64..(at + part.bytes.len()) as u64;
        self.bytes[at..at + part.bytes.len()].copy_from_slice(&part.bytes);
        self.known[at..at + part.bytes.len()].copy_from_slice(&part.known);
        if !self.bounds.is_empty() {
            self.bounds.retain(|k, _| !range.contains(k));
        }
        self.bounds.extend(part.bounds.iter().map(|(k, b)| (k + range.start, *b)));
    }
}

/// An object of the interpreter: a global or local variable.
#[derive(Debug)]
pub(crate) struct Object<'m> {
    pub name: &'m str,
    pub image: Image,
}

/// Images of variables that ended and are kept for the next ones: so many, each of so many bytes at most.
const SPARE: usize = 64;
const SPARE_BYTES: usize = 256;

/// What the host may not do.
const DEVICE_ACCESS: &str = "an access of the host to memory of the device";

type Fault<T> = Result<T, InterpErrorKind>;

impl Memory {
    fn map(&mut self, buffer: usize) -> &mut Bounds {
        if self.bounds.len() <= buffer {
            self.bounds.resize_with(buffer + 1, Bounds::default);
        }
        &mut self.bounds[buffer]
    }
}

impl<'m, T: Track> Interp<'m, '_, T> {
    /// Makes an object of the interpreter's own and returns its id.
    pub fn allocate(
        &mut self,
        name: &'m str,
        ty: &Type,
        known: bool,
        origin: &Origin,
    ) -> super::exec::Run<u32> {
        let size = layout_of(self.module, ty).size;
        self.local_bytes = self.local_bytes.saturating_add(size);
        if self.local_bytes > self.limits.max_local_bytes || self.objects.len() >= OWN as usize - 2
        {
            return Err(
                self.error(InterpErrorKind::MemoryLimit(self.limits.max_local_bytes), origin)
            );
        }
        let mut image = self.spare_images.pop().unwrap_or_default();
        image.bytes.resize(size as usize, 0);
        image.known.resize(size as usize, known);
        self.objects.push(Object { name, image });
        Ok(OWN + self.objects.len() as u32 - 1)
    }

    pub fn object_mut(&mut self, id: u32) -> Option<&mut Object<'m>> {
        self.objects.get_mut(id.checked_sub(OWN)? as usize)
    }

    /// Drops the objects made since there were `count` of them; pointers to them dangle.
    pub fn release(&mut self, count: usize) {
        for object in self.objects.drain(count..) {
            let mut image = object.image;
            self.local_bytes -= image.bytes.len() as u64;
            if self.spare_images.len() < SPARE && image.bytes.len() <= SPARE_BYTES {
                image.bytes.clear();
                image.known.clear();
                image.bounds.clear();
                self.spare_images.push(image);
            }
        }
    }

    /// The object and the start of an access of `size` bytes that lies inside it.
    pub fn check(&self, p: Pointer, size: u64) -> Fault<(u32, usize)> {
        let Some(id) = p.object else {
            return Err(InterpErrorKind::NullPointer);
        };
        let (name, length) = match id.checked_sub(OWN) {
            None => {
                let length = self.memory.buffers.get(id as usize).map_or(0, Vec::len);
                (None, length)
            }
            Some(own) => match self.objects.get(own as usize) {
                Some(o) => (Some(o.name), o.image.bytes.len()),
                None => (None, 0),
            },
        };
        let start = u64::try_from(p.offset).ok();
        let inside = |s: u64| s.checked_add(size).is_some_and(|end| end <= length as u64);
        match start {
            Some(start) if inside(start) => Ok((id, start as usize)),
            _ => Err(InterpErrorKind::OutOfBounds {
                object: match name {
                    Some(name) => format!("`{name}`"),
                    None if id < OWN => format!("buffer {id}"),
                    None => "a variable that is gone".into(),
                },
                buffer: (id < OWN).then_some(id as usize),
                offset: p.offset,
                bytes: size,
                size: length as u64,
            }),
        }
    }

    /// Notes an access where threads run.
    fn touch(&self, at: (u32, usize), bytes: usize, kind: Kind) -> Fault<()> {
        let Some(races) = &self.races else { return Ok(()) };
        let name = || match at.0.checked_sub(OWN) {
            None => format!("buffer {}", at.0),
            Some(own) => {
                self.objects.get(own as usize).map_or("?".into(), |o| format!("`{}`", o.name))
            }
        };
        races.borrow_mut().touch(at, bytes, kind, &name)
    }

    /// Reads a scalar.
    pub fn load_scalar(&self, p: Pointer, ty: Scalar) -> Fault<(Value, T::Bound)> {
        let size = ty.bytes() as usize;
        let (id, at) = self.check(p, size as u64)?;
        self.touch((id, at), size, Kind::Read)?;
        let (bytes, bounds) = if id < OWN {
            self.host_may_read(id, at, size)?;
            let bounds = self.memory.bounds.get(id as usize);
            (&self.memory.buffers[id as usize][at..at + size], bounds)
        } else {
            let o = &self.objects[(id - OWN) as usize];
            if o.image.known[at..at + size].contains(&false) {
                return Err(InterpErrorKind::Uninitialized(format!("`{}`", o.name)));
            }
            (&o.image.bytes[at..at + size], Some(&o.image.bounds))
        };
        let value = from_bytes(ty, bytes).unwrap_or(Value { ty, bits: 0 });
        Ok((value, T::load(bounds, at as u64, value)))
    }

    /// Memory of the host that a program allocated has to be written before it is read, and memory of the device is out of
    /// its reach.
    fn host_may_read(&self, id: u32, at: usize, size: usize) -> Fault<()> {
        if self.working.is_none() {
            return Ok(());
        }
        let host = &self.memory.host;
        if self.through_library(id) && !host.reaches(id as usize) {
            self.streams.reached.set(true);
            return match self.launcher.unwritten(id as usize, at, size) {
                None => Ok(()),
                Some(_) => Err(InterpErrorKind::Uninitialized("an element of an array".into())),
            };
        }
        if !host.reaches(id as usize) {
            return Err(InterpErrorKind::Unsupported(DEVICE_ACCESS.into()));
        }
        match host.knows(id as usize, at, size) {
            true => Ok(()),
            false => Err(InterpErrorKind::Uninitialized("an element of an array".into())),
        }
    }

    /// Algorithms of libraries stand for what runs on the device, and their vectors hand elements to the host.
    fn through_library(&self, id: u32) -> bool {
        self.in_library > 0 || self.memory.host.of_library.contains(id as usize)
    }

    fn host_may_write(&mut self, id: u32, at: usize, size: usize) -> Fault<()> {
        if self.working.is_none() {
            return Ok(());
        }
        if self.through_library(id) && !self.memory.host.reaches(id as usize) {
            self.streams.reached.set(true);
            self.launcher.filled(id as usize, at, size);
            return Ok(());
        }
        if !self.memory.host.reaches(id as usize) {
            return Err(InterpErrorKind::Unsupported(DEVICE_ACCESS.into()));
        }
        self.memory.host.mark(id as usize, at, size, false);
        Ok(())
    }

    /// Reads a value of any type.
    pub fn load(&self, p: Pointer, ty: &Type) -> Fault<(Val, T::Bound)> {
        match ty {
            Type::Scalar(s) => self.load_scalar(p, *s).map(|(v, b)| (Val::Num(v), b)),
            Type::Pointer { .. } => {
                let (v, b) = self.load_scalar(p, Scalar::U64)?;
                Ok((Val::Ptr(Pointer::from_bits(v.bits)), b))
            }
            _ => {
                let size = layout_of(self.module, ty).size as usize;
                let (id, at) = self.check(p, size as u64)?;
                self.touch((id, at), size, Kind::Read)?;
                let image = if id < OWN {
                    let all = &self.memory.buffers[id as usize];
                    let mut image = Image::new(size, true);
                    image.bytes.copy_from_slice(&all[at..at + size]);
                    let unknown = self.memory.host.part(id as usize, at, size);
                    if !unknown.is_none() {
                        image.known = unknown.to_marks().iter().map(|mark| !mark).collect();
                    }
                    if let Some(bounds) =
                        self.memory.bounds.get(id as usize).filter(|b| !b.is_empty())
                    {
                        let keys = at as u64..(at + size) as u64;
                        image.bounds = keys
                            .filter_map(|k| bounds.get(&k).map(|b| (k - at as u64, *b)))
                            .collect();
                    }
                    image
                } else {
                    self.objects[(id - OWN) as usize].image.part(at, size)
                };
                Ok((Val::Bytes(Box::new(image)), T::input(Value::i32(0))))
            }
        }
    }

    /// Writes a value of any type.
    pub fn store(&mut self, p: Pointer, (value, bound): (Val, T::Bound)) -> Fault<()> {
        let number = match value {
            Val::Num(v) => v,
            Val::Ptr(q) => Value { ty: Scalar::U64, bits: q.to_bits() },
            Val::Bytes(image) => return self.store_image(p, &image),
        };
        let size = number.ty.bytes() as usize;
        let (id, at) = self.check(p, size as u64)?;
        self.touch((id, at), size, Kind::Write)?;
        let bytes = to_bytes(number);
        if id < OWN {
            self.host_may_write(id, at, size)?;
            self.memory.buffers[id as usize][at..at + size].copy_from_slice(&bytes[..size]);
            self.memory.note_write(id, at, size);
            if self.limits.track_bounds {
                T::store(self.memory.map(id as usize), at as u64, (number, bound));
            }
        } else {
            let image = &mut self.objects[(id - OWN) as usize].image;
            image.bytes[at..at + size].copy_from_slice(&bytes[..size]);
            image.known[at..at + size].fill(true);
            T::store(&mut image.bounds, at as u64, (number, bound));
        }
        Ok(())
    }

    pub fn store_image(&mut self, p: Pointer, image: &Image) -> Fault<()> {
        let size = image.bytes.len();
        let (id, at) = self.check(p, size as u64)?;
        self.touch((id, at), size, Kind::Write)?;
        if id >= OWN {
            self.objects[(id - OWN) as usize].image.put(at, image);
            return Ok(());
        }
        // The caller's buffers have no notion of unwritten bytes; padding is copied as it is.
        if let Some(mask) = self.memory.host.unknown.get_mut(id as usize) {
            mask.put(at, &image.unknown());
        }
        self.memory.buffers[id as usize][at..at + size].copy_from_slice(&image.bytes);
        self.memory.note_write(id, at, size);
        if self.limits.track_bounds {
            let map = self.memory.map(id as usize);
            let keys = at as u64..(at + size) as u64;
            for key in keys {
                match image.bounds.get(&(key - at as u64)) {
                    Some(b) => map.insert(key, *b),
                    None => map.remove(&key),
                };
            }
        }
        Ok(())
    }
}
