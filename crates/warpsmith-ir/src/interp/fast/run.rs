//! Runs a translated loop as far as it goes.

use super::super::bounds::Track;
use super::super::exec::{Interp, Run};
use super::super::memory::{OWN, Pointer, Val};
use super::code::{Address, Code, Op, Pc, Reg};
use crate::eval;
use crate::span::Origin;
use crate::types::Scalar;
use crate::value::Value;

/// The registers, and which of them hold something.
#[derive(Default)]
pub(crate) struct Registers {
    pub bits: Vec<u64>,
    pub known: Vec<bool>,
    /// What is known of the buffers; forgotten whenever the interpreter had its turn.
    pub buffers: Vec<Reach>,
    /// Values of many iterations, kept for those who need places for them.
    pub lanes: Vec<Vec<u64>>,
}

/// How the host reaches a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Unasked,
    /// All of it holds something.
    Open,
    /// Parts of it may hold nothing.
    Masked,
    /// Something that the host has not waited for touches it.
    InFlight,
    /// As the interpreter says.
    Asks,
}

/// Why the operations stopped.
pub(super) enum Stop {
    End,
    /// The site of this operation has to go on.
    At(Pc),
    /// A function ended without a value: that of the call.
    NoValue(u32),
}

/// Where the operations go on.
pub(super) enum Next {
    At(Pc),
    Stops(Stop),
}

impl Registers {
    #[inline]
    pub fn get(&self, r: u32) -> u64 {
        self.bits[r as usize]
    }

    #[inline]
    pub fn set(&mut self, r: u32, bits: u64) {
        self.bits[r as usize] = bits;
        self.known[r as usize] = true;
    }

    #[inline]
    fn address(&self, at: Address) -> Option<u64> {
        address(at, |reg| self.get(reg))
    }
}

/// The pointer to a place; `None` where it would leave the range that belongs to its object.
#[inline]
pub(super) fn address(at: Address, get: impl Fn(Reg) -> u64) -> Option<u64> {
    let base = get(at.base);
    let bytes = match at.index {
        Some(i) if i.narrow => i64::from(get(i.of) as i32).wrapping_mul(i.scale),
        Some(i) => (get(i.of) as i64).wrapping_mul(i.scale),
        None => 0,
    };
    let bytes = bytes.wrapping_add(at.offset);
    let to = base.wrapping_add(bytes as u64);
    (Pointer::object_in(base) == Pointer::object_in(to)).then_some(to)
}

impl<T: Track> Interp<'_, '_, T> {
    /// Runs operations from `pc` on until one cannot go on.
    pub(super) fn operations(
        &mut self,
        code: &Code<'_>,
        r: &mut Registers,
        mut pc: Pc,
        origin: &Origin,
    ) -> Run<Stop> {
        loop {
            let next = match &code.ops[pc as usize] {
                Op::Again { to, head } => self.again(code, r, (*to, *head), origin)?,
                op => self.step(code, r, (pc, op), origin)?,
            };
            pc = match next {
                Next::At(pc) => pc,
                Next::Stops(stop) => return Ok(stop),
            };
        }
    }

    /// Runs one operation.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        code: &Code<'_>,
        r: &mut Registers,
        (here, op): (Pc, &Op),
        origin: &Origin,
    ) -> Run<Next> {
        let stops = Ok(Next::Stops(Stop::At(here)));
        match op {
            Op::Copy { to, a } => r.set(*to, r.get(*a)),
            Op::Binary { f, to, a, b } => r.set(*to, (f.one)(r.get(*a), r.get(*b))),
            Op::Branch { f, a, b, when, to } => {
                if ((f.one)(r.get(*a), r.get(*b)) != 0) == *when {
                    return Ok(Next::At(*to));
                }
            }
            Op::Load { ty, to, at } => match self.loaded(r, *at, *ty) {
                Some(bits) => r.set(*to, bits),
                None => return stops,
            },
            Op::Store { ty, at, a } => {
                if self.stored(r, *at, Value { ty: *ty, bits: r.get(*a) }).is_none() {
                    return stops;
                }
            }
            Op::Offset { to, at } => match r.address(*at) {
                Some(bits) => r.set(*to, bits),
                None => return stops,
            },
            Op::Check { a } if r.known[*a as usize] => {}
            Op::InRange { index, length, end } if inside(r.get(*index), r.get(*length), *end) => {}
            Op::Check { .. } | Op::InRange { .. } | Op::Interpret => return stops,
            Op::Jump { to } | Op::Again { to, .. } => return Ok(Next::At(*to)),
            Op::JumpIf { a, when, to } => {
                if (r.get(*a) != 0) == *when {
                    return Ok(Next::At(*to));
                }
            }
            Op::Tick { steps } => self.ticks((*steps).into(), origin)?,
            Op::Unset { first, end } => r.known[*first as usize..*end as usize].fill(false),
            Op::Library { enters, site } => self.library(code, *enters, *site),
            Op::NoValue { call } => return Ok(Next::Stops(Stop::NoValue(*call))),
            Op::End => return Ok(Next::Stops(Stop::End)),
            op => {
                if let Some((to, bits)) = computed(op, |a| r.get(a)) {
                    r.set(to, bits);
                }
            }
        }
        Ok(Next::At(here + 1))
    }

    fn library(&mut self, code: &Code<'_>, enters: bool, site: u32) {
        if !enters {
            self.in_library -= 1;
            return;
        }
        if self.in_library == 0
            && let super::code::Work::Stmt(stmt) = code.sites[site as usize].work
        {
            self.library_call = stmt.origin.clone();
        }
        self.in_library += 1;
    }

    #[inline]
    fn loaded(&self, r: &mut Registers, at: Address, ty: Scalar) -> Option<u64> {
        let to = r.address(at)?;
        self.load_at(r, to, ty)
    }

    /// What lies where a pointer points to.
    #[inline]
    pub(super) fn load_at(&self, r: &mut Registers, to: u64, ty: Scalar) -> Option<u64> {
        let p = Pointer::from_bits(to);
        let id = p.object?;
        let size = ty.bytes() as usize;
        let start = usize::try_from(p.offset).ok()?;
        let bytes = match id.checked_sub(OWN) {
            None => {
                let reach = self.reach(r, id);
                if reach == Reach::InFlight {
                    return None;
                }
                if reach == Reach::Asks {
                    return self.load_scalar(p, ty).ok().map(|(v, _)| v.bits);
                }
                let range = start..start.checked_add(size)?;
                if reach == Reach::Masked {
                    let unknown = self.memory.host.unknown.get(id as usize)?;
                    if !unknown.knows(range.clone()) {
                        return None;
                    }
                }
                self.memory.buffers.get(id as usize)?.get(range)?
            }
            Some(own) => {
                let image = &self.objects.get(own as usize)?.image;
                let range = start..start.checked_add(size)?;
                if !all(image.known.get(range.clone())?) {
                    return None;
                }
                image.bytes.get(range)?
            }
        };
        bits_of(ty, bytes)
    }

    fn stored(&mut self, r: &mut Registers, at: Address, value: Value) -> Option<()> {
        let to = r.address(at)?;
        self.store_at(r, to, value)
    }

    /// Puts a value where a pointer points to.
    #[inline]
    pub(super) fn store_at(&mut self, r: &mut Registers, to: u64, value: Value) -> Option<()> {
        let p = Pointer::from_bits(to);
        let id = p.object?;
        let reach = if id < OWN { self.reach(r, id) } else { Reach::Asks };
        if reach == Reach::InFlight {
            return None;
        }
        if reach != Reach::Asks {
            let start = usize::try_from(p.offset).ok()?;
            let size = value.ty.bytes() as usize;
            let buffer = self.memory.buffers.get_mut(id as usize)?;
            let to = buffer.get_mut(start..start.checked_add(size)?)?;
            put_bits(to, value.bits);
            self.memory.host.mark(id as usize, start, size, false);
            return Some(());
        }
        self.store(p, (Val::Num(value), T::input(value))).ok()
    }

    #[inline]
    pub(super) fn reach(&self, r: &mut Registers, buffer: u32) -> Reach {
        let buffer = buffer as usize;
        match r.buffers.get(buffer) {
            Some(Reach::Unasked) | None => {}
            Some(reach) => return *reach,
        }
        let host = &self.memory.host;
        let reach = match host.unknown.contains(buffer) {
            _ if !host.reaches(buffer) => Reach::Asks,
            _ if host.shared.contains(buffer) && self.launcher.in_flight(Some(buffer)) => {
                Reach::InFlight
            }
            true => Reach::Masked,
            false => Reach::Open,
        };
        if r.buffers.len() <= buffer {
            r.buffers.resize(buffer + 1, Reach::Unasked);
        }
        r.buffers[buffer] = reach;
        reach
    }
}

#[inline]
fn all(few: &[bool]) -> bool {
    few.iter().fold(true, |all, one| all & one)
}

/// The bits of a value that lies in memory.
#[inline]
pub(super) fn bits_of(ty: Scalar, bytes: &[u8]) -> Option<u64> {
    Some(match (ty, bytes) {
        (Scalar::Bool, [b]) => u64::from(*b != 0),
        (_, [b]) => u64::from(*b),
        (_, [a, b]) => u64::from(u16::from_le_bytes([*a, *b])),
        (_, [a, b, c, d]) => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => u64::from_le_bytes(bytes.try_into().ok()?),
    })
}

/// Writes as many bytes of the value as there are.
#[inline]
pub(super) fn put_bits(to: &mut [u8], bits: u64) {
    match to {
        [b] => *b = bits as u8,
        [a, b] => [*a, *b] = (bits as u16).to_le_bytes(),
        [a, b, c, d] => [*a, *b, *c, *d] = (bits as u32).to_le_bytes(),
        _ => to.copy_from_slice(&bits.to_le_bytes()),
    }
}

#[inline]
pub(super) fn inside(index: u64, length: u64, end: bool) -> bool {
    let (i, n) = (index as i64, length as i64);
    i >= 0 && (i < n || end && i == n)
}

/// Where an operation's result goes and what it is, of those that compute something and always go on.
#[inline]
pub(super) fn computed(op: &Op, get: impl Fn(Reg) -> u64) -> Option<(Reg, u64)> {
    Some(match op {
        Op::Binary { f, to, a, b } => (*to, (f.one)(get(*a), get(*b))),
        Op::AnyBinary { op, types: [left, right], to, a, b } => {
            let (a, b) = (get(*a), get(*b));
            let (a, b) = (Value { ty: *left, bits: a }, Value { ty: *right, bits: b });
            (*to, eval::binary(*op, a, b).bits)
        }
        Op::Unary { op, ty, to, a } => {
            (*to, eval::unary(*op, Value { ty: *ty, bits: get(*a) }).bits)
        }
        Op::Cast { from, ty, to, a } => {
            (*to, eval::cast(Value { ty: *from, bits: get(*a) }, *ty).bits)
        }
        Op::Bits { ty, to, a } => {
            (*to, eval::bitcast(Value { ty: Scalar::U64, bits: get(*a) }, *ty).bits)
        }
        Op::Extend { to, a } => (*to, i64::from(get(*a) as i32) as u64),
        Op::Math { function, to, args, count } => {
            let values = args.map(|(a, ty)| Value { ty, bits: get(a) });
            (*to, eval::math(*function, &values[..usize::from(*count)]).bits)
        }
        Op::Difference { to, a, b, size } => {
            (*to, ((get(*a).wrapping_sub(get(*b)) as i64) / size) as u64)
        }
        _ => return None,
    })
}
