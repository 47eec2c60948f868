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
