//! A small program around the routines of an implementation, so that the front end lowers them.

use std::fmt::Write;

use warpsmith_front::parse::{Language, ParseOptions, parse};
use warpsmith_front::sema::{Request, lower_cuda};
use warpsmith_ir::{Diagnostic, Module, SourceMap};

use super::text::{Place, specialised};
use crate::library::{Function, Implementation, Library, Param, Routine, TYPES};

/// Lowers all routines of an implementation, everything in shared memory.
///
/// # Errors
/// W524 for a placeholder without a pattern; what parsing and lowering say.
pub(super) fn module(
    library: &Library,
    function: &Function,
    one: &Implementation,
    shape: [u32; 3],
    sources: &mut SourceMap,
) -> Result<Module, Vec<Diagnostic>> {
    let mut text = format!("#include \"{TYPES}\"\n{}\n", function.leftover.whole());
    let mut kernels = String::new();
    for (k, routine) in one.loads.iter().chain([&one.compute, &one.save]).enumerate() {
        placeholders_have_starts(routine).map_err(|d| vec![d])?;
        let places = vec![Place::Shared; routine.patterns.len()];
        // Messages show the lines that it has in its file, where they can.
        let line = sources.line_column(routine.span.file, routine.span.start).0 as usize;
        let before = text.matches('\n').count() + 1;
        text.push_str(&"\n".repeat(line.saturating_sub(before)));
        text.push_str(&specialised(routine, &routine.name, shape, &places));
        text.push('\n');
        kernels.push_str(&kernel(routine, k));
    }
    text.push_str(&kernels);
    // What is wrong is said of the text as it was expanded: it names the file it comes from.
    let path = library.files.path(&format!("{}.cu", function.name));
    let path = format!("{path} (block {}x{}x{})", shape[0], shape[1], shape[2]);
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse(&path, text.as_bytes(), &options, &library.files, sources)?;
    let lowered = lower_cuda(&parsed.unit, &Request::all_kernels())?;
    Ok(lowered.module)
}

fn placeholders_have_starts(routine: &Routine) -> Result<(), Diagnostic> {
    for (argument, pattern) in routine.patterns.iter().enumerate() {
        if pattern.is_none() && routine.uses_placeholder(argument) {
            let (word, key) = (routine.placeholder(argument), routine.pattern_key(argument));
            return Err(Diagnostic::error(
                "W524",
                format!("`{}` uses `{word}`, but has no {key}", routine.name),
            )
            .label(routine.span, format!("`{word}` stands for the start of {key}"))
            .help("give the pattern, or write the offsets in the code, from which it is derived"));
        }
    }
    Ok(())
}

fn kernel(routine: &Routine, number: usize) -> String {
    let (mut params, mut args) = (vec![], vec![]);
    for (i, param) in routine.params.iter().enumerate() {
        let ty = if matches!(param, Param::Coordinate(_)) { "int " } else { "float *" };
        params.push(format!("{ty}p{i}"));
        args.push(format!("p{i}"));
    }
    let mut text = String::new();
    let _ = writeln!(text, "__global__ void warpsmith_probe_{number}({})", params.join(", "));
    let _ = writeln!(text, "{{\n    {}({});\n}}\n", routine.name, args.join(", "));
    text
}
