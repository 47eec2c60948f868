//! Whether two arrays hold the same.

use warpsmith_emu::Buffer;
use warpsmith_ir::{Scalar, Type, Value};

/// Bit for bit, but for reals that are no numbers: which of its operands' bits a sum of such has is not said anywhere.
pub fn holds_same(a: &Buffer, b: &Buffer) -> bool {
    let real = a.element.as_ref().and_then(Type::scalar).filter(|s| s.is_float());
    match real {
        _ if a.bytes == b.bytes => true,
        Some(ty) if a.bytes.len() == b.bytes.len() => {
            let size = ty.bytes() as usize;
            let pairs = a.bytes.chunks_exact(size).zip(b.bytes.chunks_exact(size));
            let mut pairs = pairs.filter(|(a, b)| a != b);
            pairs.all(|(a, b)| is_nan(ty, a) && is_nan(ty, b))
        }
        _ => false,
    }
}

fn is_nan(ty: Scalar, bytes: &[u8]) -> bool {
    let mut bits = [0; 8];
    bits[..bytes.len()].copy_from_slice(bytes);
    Value { ty, bits: u64::from_le_bytes(bits) }.as_f64().is_nan()
}
