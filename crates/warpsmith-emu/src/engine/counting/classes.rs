//! The class of an instruction.

use warpsmith_ir::{BarrierKind, BinaryOp, MathFn, Scalar, WarpOp};

use crate::compile::lir::Op;
use crate::counters::InstructionClass as Class;

/// The unit that executes an instruction; `None`: it is no instruction of a device, or an access to memory, which is
/// counted for itself.
pub fn class(op: &Op) -> Option<Class> {
    Some(match op {
        Op::Bin { op, ty, .. } => binary(*op, *ty),
        Op::MulAdd { ty, .. } => real(*ty, Class::Fp32Fma, Class::Fp64Fma),
        Op::Un { ty, .. } => real(*ty, Class::Fp32Other, Class::Fp64Other),
        Op::Cast { from, to, .. } => cast(*from, *to),
        Op::Math { f, ty, .. } => math(*f, *ty),
        Op::Bitcast { .. } | Op::Mov { .. } | Op::Select { .. } | Op::Special { .. } => Class::Move,
        Op::Warp { op, .. } => match op {
            WarpOp::Shuffle | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor => {
                Class::Shuffle
            }
            _ => Class::Vote,
        },
        Op::Barrier { kind: BarrierKind::Warp, .. } => Class::WarpBarrier,
        Op::Barrier { .. } => Class::BlockBarrier,
        Op::Fence(_) => Class::Fence,
        Op::Jump(_) | Op::LoopBack { .. } | Op::BranchFalse { .. } | Op::BranchTrue { .. } => {
            Class::Branch
        }
        _ => return None,
    })
}

/// The class by the type of the operands.
fn real(ty: Scalar, single: Class, double: Class) -> Class {
    match ty {
        Scalar::F32 => single,
        Scalar::F64 => double,
        Scalar::F16 | Scalar::BF16 => Class::Fp16,
        _ => Class::Integer,
    }
}

fn binary(op: BinaryOp, ty: Scalar) -> Class {
    match op {
        BinaryOp::Add | BinaryOp::Sub => real(ty, Class::Fp32Add, Class::Fp64Add),
        BinaryOp::Mul => real(ty, Class::Fp32Mul, Class::Fp64Mul),
        BinaryOp::Div | BinaryOp::Rem if ty.is_float() => Class::SpecialFunction,
        _ => real(ty, Class::Fp32Other, Class::Fp64Other),
    }
}

fn cast(from: Scalar, to: Scalar) -> Class {
    if from.is_float() || to.is_float() {
        Class::Conversion
    } else if from.bytes() == to.bytes() {
        Class::Move
    } else {
        Class::Integer
    }
}

fn math(f: MathFn, ty: Scalar) -> Class {
    use MathFn as M;
    match f {
        M::Fma => real(ty, Class::Fp32Fma, Class::Fp64Fma),
        M::Abs | M::Min | M::Max | M::Copysign | M::Fdim | M::Saturate => {
            real(ty, Class::Fp32Other, Class::Fp64Other)
        }
        M::IsNan | M::IsInf | M::IsFinite | M::SignBit => {
            real(ty, Class::Fp32Other, Class::Fp64Other)
        }
        M::Floor | M::Ceil | M::Trunc | M::Round | M::Rint => Class::Conversion,
        _ if ty.is_float() => Class::SpecialFunction,
        _ => Class::Integer,
    }
}
