//! Any bytes as a C file: diagnostics, or a function whose translation prints and is read again.

use crate::{is_read_again, is_sound, read_c};
use warpsmith_ir::SourceMap;

/// Looks at one input.
pub fn run(bytes: &[u8]) {
    let mut sources = SourceMap::new();
    let Some(input) = read_c(bytes, &mut sources) else { return };
    match warpsmith_opt::translate(&input.module, input.function, &sources) {
        Ok((program, _)) => {
            is_sound(&program.module);
            is_read_again(&program.module);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            errors.iter().for_each(|e| drop(e.render(&sources, false)));
        }
    }
}
