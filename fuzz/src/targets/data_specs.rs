//! Any text as an argument, an extent, a number, a size of time or memory, a launch shape, or an array file.

use std::collections::HashMap;

use warpsmith::check::args::{Dim3, Expect, parse_bytes, parse_duration};
use warpsmith::data::{NamedSpec, eval_extent, parse_scalar, read_npy};
use warpsmith::tune::sizes;
use warpsmith_ir::Scalar;

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let path = std::env::temp_dir().join(format!("warpsmith-fuzz-{}.npy", std::process::id()));
    std::fs::write(&path, bytes).expect("a writable folder");
    drop(read_npy(&path));
    let Ok(text) = str::from_utf8(bytes) else { return };
    drop(text.parse::<NamedSpec>());
    let scalars = HashMap::from([("n".to_string(), 7), ("m".to_string(), i128::from(u64::MAX))]);
    drop(eval_extent(text, &scalars));
    for ty in [Scalar::Bool, Scalar::I8, Scalar::U64, Scalar::I64, Scalar::F16, Scalar::F64] {
        drop(parse_scalar(text, ty));
    }
    drop((text.parse::<Dim3>(), text.parse::<Expect>()));
    drop((parse_bytes(text), parse_duration(text), sizes::parse(text)));
}
