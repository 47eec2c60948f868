//! Operations for many iterations, and values that each iteration has from the one before.

use super::super::super::bounds::Track;
use super::super::super::exec::Interp;
use super::super::code::{Binary, Op};
use super::super::run::{Registers, address, computed, inside};
use super::super::scalar;
use super::LANES;
use super::access::Way;
use super::trace::{Cycle, Strip};
use crate::expr::{BinaryOp, MathFn};
use crate::types::Scalar;

/// What operations on lanes change: registers, values, ways through memory.
pub(super) type At<'a> = (&'a mut Registers, &'a mut [Vec<u64>], &'a mut Vec<Way>);

impl<T: Track> Interp<'_, '_, T> {
    /// Puts what is the same for all iterations into all lanes; `false`: not even one goes that way.
    pub(super) fn uniform(
        &mut self,
        strip: &Strip,
        r: &mut Registers,
        lanes: &mut [Vec<u64>],
    ) -> bool {
        for (reg, value) in &strip.fixed {
            lanes[*value as usize].fill(r.get(*reg));
        }
        for op in &strip.uniform {
            let get = |v: u32| lanes[v as usize][0];
            let computed = match &strip.ops[*op] {
                Op::Load { ty, to, at } => {
                    let bits = address(*at, get).and_then(|p| self.element(r, p, *ty));
                    bits.map(|bits| (*to, bits))
                }
                Op::Offset { to, at } => address(*at, get).map(|bits| (*to, bits)),
                op => match (holds(op, get), computed(op, get)) {
                    (Some(false), _) => None,
                    (Some(true), _) => continue,
                    (None, computed) => computed,
                },
            };
            let Some((to, bits)) = computed else { return false };
            lanes[to as usize].fill(bits);
        }
        true
    }

    /// Does an operation for `n` iterations; as many of them go on.
    pub(super) fn each(
        &mut self,
        strip: &Strip,
        op: usize,
        (r, lanes, ways): At<'_>,
        n: usize,
    ) -> usize {
        match &strip.ops[op] {
            Op::Binary { f, to, a, b } => {
                let mut out = std::mem::take(&mut lanes[*to as usize]);
                (f.many)(&lanes[*a as usize][..n], &lanes[*b as usize][..n], &mut out[..n]);
                lanes[*to as usize] = out;
                n
            }
            Op::Cast { from, ty, to, a } => {
                let mut out = std::mem::take(&mut lanes[*to as usize]);
                scalar::cast(*from, *ty, &lanes[*a as usize][..n], &mut out[..n]);
                lanes[*to as usize] = out;
                n
            }
            Op::Load { to, .. } | Op::Offset { to, .. } => {
                let mut out = std::mem::take(&mut lanes[*to as usize]);
                let n = self.fetch(strip, op, (r, lanes, ways), &mut out[..n]);
                lanes[*to as usize] = out;
                n
            }
            Op::Store { .. } => self.way_of(strip, op, (r, lanes, ways), n),
            Op::Branch { f, a, b, when, .. } => {
                let (a, b) = (&lanes[*a as usize][..n], &lanes[*b as usize][..n]);
                let mut goes = [0; LANES];
                (f.many)(a, b, &mut goes[..n]);
                goes[..n].iter().position(|g| (*g != 0) != *when).unwrap_or(n)
            }
            op => others(op, lanes, n),
        }
    }
}

/// Whether a condition holds that an operation asks for; `None`: it asks for none.
fn holds(op: &Op, get: impl Fn(u32) -> u64) -> Option<bool> {
    Some(match op {
        Op::Branch { f, a, b, when, .. } => ((f.one)(get(*a), get(*b)) != 0) == *when,
        Op::JumpIf { a, when, .. } => (get(*a) != 0) == *when,
        Op::InRange { index, length, end } => inside(get(*index), get(*length), *end),
        _ => return None,
    })
}

fn others(op: &Op, lanes: &mut [Vec<u64>], n: usize) -> usize {
    if let Op::Math { function: MathFn::Abs, to, args: [(a, ty), ..], .. } = op
        && let Some(sign) = scalar::sign(*ty)
    {
        let mut out = std::mem::take(&mut lanes[*to as usize]);
        for (out, a) in out[..n].iter_mut().zip(&lanes[*a as usize]) {
            *out = a & !sign;
        }
        lanes[*to as usize] = out;
        return n;
    }
    (0..n).find(|k| !one(op, lanes, *k)).unwrap_or(n)
}

/// Does an operation in one iteration; whether that goes the noted way.
fn one(op: &Op, lanes: &mut [Vec<u64>], k: usize) -> bool {
    let get = |v: u32| lanes[v as usize][k];
    let goes_on = holds(op, get);
    if goes_on.is_none()
        && let Some((to, bits)) = computed(op, get)
    {
        lanes[to as usize][k] = bits;
    }
    goes_on.unwrap_or(true)
}

/// Does what depends on itself, one iteration after the other, from the first values of what is carried on.
pub(super) fn cycle(
    strip: &Strip,
    cycle: &Cycle,
    first: &[u64],
    lanes: &mut [Vec<u64>],
    n: usize,
) -> usize {
    if let ([carried], [op]) = (&cycle.carried[..], &cycle.ops[..])
        && let Op::Binary { f, to, a, b } = &strip.ops[*op]
    {
        let (value, start) = (strip.carried[*carried].value, first[*carried]);
        if *a == value && *b != value {
            alone(f, (value, *b, *to), start, (lanes, n));
            return n;
        }
    }
    for k in 0..n {
        for carried in &cycle.carried {
            let c = &strip.carried[*carried];
            let last = k.checked_sub(1).map(|before| lanes[c.last as usize][before]);
            lanes[c.value as usize][k] = last.unwrap_or(first[*carried]);
        }
        for op in &cycle.ops {
            let get = |v: u32| lanes[v as usize][k];
            let made = match &strip.ops[*op] {
                Op::Offset { to, at } => address(*at, get).map(|bits| (*to, bits)),
                op => computed(op, get),
            };
            let Some((to, bits)) = made else { return k };
            lanes[to as usize][k] = bits;
        }
    }
    n
}

/// `value = value f b`, of which iterations find `value` and leave `to`.
fn alone(
    f: &Binary,
    (value, b, to): (u32, u32, u32),
    start: u64,
    (lanes, n): (&mut [Vec<u64>], usize),
) {
    let mut found = std::mem::take(&mut lanes[value as usize]);
    let mut left = std::mem::take(&mut lanes[to as usize]);
    let by = &lanes[b as usize][..n];
    let narrow = matches!(f.ty, Scalar::I32 | Scalar::U32);
    let counts = f.op == BinaryOp::Add && (narrow || matches!(f.ty, Scalar::I64 | Scalar::U64));
    let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
    if counts && by.iter().all(|x| *x == by[0]) {
        for k in 0..n {
            found[k] = start.wrapping_add(by[0].wrapping_mul(k as u64)) & mask;
            left[k] = start.wrapping_add(by[0].wrapping_mul(k as u64 + 1)) & mask;
        }
    } else {
        let mut now = start;
        for ((found, left), b) in found.iter_mut().zip(&mut left).zip(by) {
            *found = now;
            now = (f.one)(now, *b);
            *left = now;
        }
    }
    lanes[value as usize] = found;
    lanes[to as usize] = left;
}
