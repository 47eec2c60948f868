//! Takes the uniform parts out of varying address indices.
//!
//! `A[k * n + col]` has one index that changes with `k` in every lane. Written as two terms, `k * n` is
//! added once for the group and `col` is the same row of lanes in every iteration, whose address pattern
//! the machine remembers. A signed sum that overflows is undefined, so its parts may be extended to 64
//! bits one by one (C11 6.5p5); unsigned 32-bit sums wrap and stay whole.

use warpsmith_ir::{BinaryOp, Scalar};

use super::lir::*;
use super::lower::Lower;

/// How far back the instruction is looked for that computes an index.
const WINDOW: usize = 48;
/// Sums nested deeper than this stay whole.
const DEPTH: usize = 6;

/// Splits the indices of all accesses. `uniform`: for each virtual register.
pub(super) fn split_indices(l: &mut Lower<'_>, uniform: &[bool]) {
    for at in 0..l.code.len() {
        let accesses = match l.code[at].op {
            Op::Load { access } | Op::Store { access } | Op::Atomic { access, .. } => [access; 2],
            Op::AsyncCopy { destination, source, .. } => [destination, source],
            _ => continue,
        };
        for access in accesses {
            for _ in 0..DEPTH {
                if !split_once(l, uniform, at, access as usize) {
                    break;
                }
            }
        }
    }
}

/// What a term's index is made of.
enum Parts {
    /// The same number in fewer bits.
    Narrow(Opd, Scalar),
    /// A lane vector plus something uniform, each times the term's scale and this sign.
    Sum { varying: (Opd, i64), uniform: (Opd, i64) },
}

/// Splits the first term that can be. False: there is none.
fn split_once(l: &mut Lower<'_>, uniform: &[bool], at: usize, access: usize) -> bool {
    for i in 0..l.out.accesses[access].terms.len() {
        let term = l.out.accesses[access].terms[i];
        let Some(parts) = parts(l, uniform, at, term) else { continue };
        let a = &mut l.out.accesses[access];
        match parts {
            Parts::Narrow(index, ty) => a.terms[i] = Term { index, ty, scale: term.scale },
            Parts::Sum { varying, uniform } => {
                let scaled = |sign: i64| term.scale.wrapping_mul(sign);
                a.terms[i] = Term { index: varying.0, ty: term.ty, scale: scaled(varying.1) };
                let scale = scaled(uniform.1);
                if let Opd::K(k) = uniform.0 {
                    let value = from_register(term.ty, k).as_i64();
                    a.disp = a.disp.wrapping_add(value.wrapping_mul(scale));
                } else {
                    a.terms.push(Term { index: uniform.0, ty: term.ty, scale });
                }
            }
        }
        return true;
    }
    false
}

fn parts(l: &mut Lower<'_>, uniform: &[bool], at: usize, term: Term) -> Option<Parts> {
    let varies = |o: Opd| matches!(o, Opd::R(r) if !uniform[r as usize]);
    if !varies(term.index) || !matches!(term.ty, Scalar::I32 | Scalar::I64) {
        return None;
    }
    let op = definition(l, at, term.index)?;
    match op {
        Op::Cast { from: from @ (Scalar::I32 | Scalar::U32), to, a, .. }
            if words(to) == 2 && words(term.ty) == 2 =>
        {
            Some(Parts::Narrow(a, from))
        }
        Op::Bin { op, ty, a, b, .. } if same_width(ty, term.ty) => {
            let sign = match op {
                BinaryOp::Add => 1,
                BinaryOp::Sub => -1,
                _ => return None,
            };
            match (varies(a), varies(b)) {
                (true, false) => Some(Parts::Sum { varying: (a, 1), uniform: (b, sign) }),
                (false, true) => Some(Parts::Sum { varying: (b, sign), uniform: (a, 1) }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Sums of this type mean the same in the term's: modulo 2^64, or signed and thus without overflow.
fn same_width(ty: Scalar, term: Scalar) -> bool {
    match term {
        Scalar::I32 => ty == Scalar::I32,
        _ => matches!(ty, Scalar::I64 | Scalar::U64),
    }
}

/// The pure instruction before `at`, in the same straight-line code, that computes the register, when its
/// operands still have the same values at `at`.
fn definition(l: &mut Lower<'_>, at: usize, register: Opd) -> Option<Op> {
    let mut found: Option<usize> = None;
    for j in (at.saturating_sub(WINDOW)..at).rev() {
        let op = &mut l.code[j].op;
        if op.ends_segment() {
            return None;
        }
        let mut defines = false;
        op.operands(&mut l.out.accesses, &mut |o, role| {
            defines |= role == Role::Def && *o == register;
        });
        if defines {
            found = op.is_pure().then_some(j);
            break;
        }
    }
    let from = found?;
    let mut wanted = vec![];
    l.code[from].op.operands(&mut l.out.accesses, &mut |o, role| {
        if role == Role::Use {
            wanted.push(*o);
        }
    });
    let mut changed = false;
    for ins in &mut l.code[from..at] {
        ins.op.operands(&mut l.out.accesses, &mut |o, role| {
            changed |= role == Role::Def && wanted.contains(o);
        });
    }
    (!changed).then(|| l.code[from].op.clone())
}
