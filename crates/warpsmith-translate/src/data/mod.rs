//! Data given to kernels: the `NAME=SPEC` language of `--arg`, generators, and `.npy` files.

mod fill;
mod npy;
mod spec;

pub use fill::{fill, parse_scalar, scalar_bytes, scalar_from_bytes, scalars_of};
pub use npy::{Array, read_npy, write_npy};
pub use spec::{ArgSpec, Element, Init, NamedSpec, eval_extent, eval_number, scalar_name};

/// FNV-1a of a text: seeds that differ from buffer to buffer, ids that are stable across runs.
pub fn name_hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// A hash of data that may have gigabytes: FNV-1a, eight bytes at a time.
pub fn content_hash(blobs: &[Vec<u8>]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for blob in blobs {
        for chunk in blob.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x100_0000_01b3);
        }
        hash = (hash ^ blob.len() as u64).wrapping_mul(0x100_0000_01b3);
    }
    hash
}
