//! What stands in for the libraries that host code uses, as source: containers, numbers, strings and devices.
//!
//! Programs are run for their kernels, so this has what sizes and data come from, and of the rest only the form: streams
//! print nothing and clocks stand still. Memory comes from `malloc`, which the lowerer knows.

use warpsmith_ir::SourceMap;

use crate::ast::TranslationUnit;
use crate::parse::{self, DiskLoader, Language, ParseOptions};

const TEXT: &str = concat!(
    include_str!("prelude/host.cuh"),
    include_str!("prelude/textures.cuh"),
    include_str!("prelude/device.cuh"),
    include_str!("prelude/cub_device.cuh"),
    include_str!("prelude/files.cuh"),
    include_str!("prelude/tuples.cuh"),
    include_str!("prelude/containers.cuh"),
    include_str!("prelude/thrust.cuh"),
    include_str!("prelude/thrust_iterators.cuh"),
    include_str!("prelude/thrust_algorithms.cuh"),
    include_str!("prelude/host_algorithms.cuh"),
    include_str!("prelude/alternatives.cuh"),
    include_str!("prelude/cuda_std.cuh"),
    include_str!("prelude/barriers.cuh"),
    include_str!("prelude/matrices.cuh"),
    include_str!("prelude/simd.cuh"),
    include_str!("prelude/special.cuh"),
    include_str!("prelude/raw_halves.cuh"),
    include_str!("prelude/rounding.cuh"),
    include_str!("prelude/math_values.cuh"),
    include_str!("prelude/callables.cuh"),
    include_str!("prelude/samples.cuh"),
    include_str!("prelude/runtime.cuh"),
    include_str!("prelude/driver_memory.cuh"),
    include_str!("prelude/graphs.cuh"),
    include_str!("prelude/graph_conditions.cuh"),
    include_str!("prelude/curand_host.cuh"),
    include_str!("prelude/processes.cuh")
);

/// The path that the text has among the sources.
pub const LIBRARIES: &str = "(libraries of the host)";

/// The declarations, parsed; the text becomes one of the sources.
///
/// # Panics
/// Never: a test parses it.
pub fn unit(sources: &mut SourceMap) -> TranslationUnit {
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse::parse(LIBRARIES, TEXT.as_bytes(), &options, &DiskLoader, sources);
    parsed.map(|p| p.unit).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_understood() {
        let options = ParseOptions::new(Language::Cuda);
        let mut sources = SourceMap::new();
        let parsed = parse::parse("prelude", TEXT.as_bytes(), &options, &DiskLoader, &mut sources);
        assert!(parsed.is_ok_and(|p| p.suppressed.is_empty() && p.unit.items.len() > 20));
    }
}
