//! Data given to kernels: the `NAME=SPEC` language of `--arg`, generators, and `.npy` files.

mod fill;
mod npy;
mod spec;

pub use fill::{fill, parse_scalar, scalar_bytes, scalar_from_bytes, scalars_of};
pub use npy::{Array, read_npy, write_npy};
pub use spec::{ArgSpec, Element, Init, NamedSpec, eval_extent};
