//! Scalars between memory and the form that registers hold.

use warpsmith_ir::Scalar;

/// Bits that a type has in memory.
pub fn from_bits(v: u64, elem: Scalar) -> u64 {
    v & (u64::MAX >> (64 - 8 * elem.bytes()))
}

/// A narrow value from memory, extended as registers hold it.
pub(super) fn from_memory(bits: u32, elem: Scalar) -> u64 {
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
pub(super) fn extend(v: u64, ty: Scalar) -> u64 {
    match ty {
        Scalar::I32 => v as u32 as i32 as i64 as u64,
        Scalar::I64 | Scalar::U64 => v,
        _ => v & 0xffff_ffff,
    }
}
