//! What is said about names that look predefined and are not supported.

use warpsmith_ir::Diagnostic;

use super::call::{Call, Lowered};
use super::{
    async_copy, atomic, barrier, bits, convert, groups, half, integer, math, memory, misc, shuffle,
    stdlib, vector,
};

/// Functions of CUDA that have no counterpart here.
const UNSUPPORTED: &[&str] = &[
    "erfinv",
    "erfcinv",
    "erfcx",
    "normcdfinv",
    "j0",
    "j1",
    "jn",
    "y0",
    "y1",
    "yn",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
    "remquo",
    "norm",
    "rnorm",
    "nan",
    "tex1D",
    "tex2D",
    "tex3D",
    "tex1Dfetch",
    "surf2Dread",
    "surf2Dwrite",
    "surf1Dread",
    "surf1Dwrite",
    "malloc",
    "free",
    "cudaDeviceSynchronize",
    "__nv_aligned_device_malloc",
    "__managed__",
];

fn all_names() -> impl Iterator<Item = &'static str> {
    math::names()
        .chain(integer::names())
        .chain(convert::names())
        .chain(bits::names())
        .chain(half::names())
        .chain(vector::names())
        .chain(atomic::names())
        .chain(shuffle::names())
        .chain(barrier::names())
        .chain(memory::names())
        .chain(async_copy::names())
        .chain(misc::names())
        .chain(groups::cluster_names())
        .chain(stdlib::names())
}

/// A diagnostic for names that only CUDA can have meant; `None` for all others, which are the caller's to report.
pub fn refuse(c: &Call<'_>) -> Option<Lowered> {
    let name = c.name;
    if UNSUPPORTED.contains(&name)
        || name.strip_suffix('f').is_some_and(|n| UNSUPPORTED.contains(&n))
    {
        return Some(Err(math::unsupported(c)));
    }
    if name.starts_with("cuda::") || c.path.starts_with("cuda::") || name.starts_with("nvcuda::") {
        return Some(Err(math::unsupported(c)));
    }
    let looks_predefined = name.starts_with("__") || name.starts_with("atomic");
    if !looks_predefined {
        return None;
    }
    Some(Err(unknown(c)))
}

fn unknown(c: &Call<'_>) -> Diagnostic {
    let d = c.error("W100", format!("unknown function `{}`", c.path));
    match crate::spelling::nearest(c.name, all_names()) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help(
            "it is neither declared in the source nor a function of CUDA that warpsmith knows",
        ),
    }
}
