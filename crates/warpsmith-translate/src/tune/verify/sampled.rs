//! Arrays of a fixed size that are too large to be computed whole by the emulator: a few blocks are, and what they write
//! is compared.

use std::time::Duration;

use warpsmith_emu as emu;
use warpsmith_ir::interp::{Arg, Memory};

use super::host_c::ArgBytes;
use super::oversized;
use super::part::Part;
use super::points;
use super::variant::Variant;
use super::witness::{How, WitnessRun};
use super::{Failed, Reference, Verifier};
use crate::data::scalar_from_bytes;
use crate::tune::recompute;
use crate::tune::sizes::Point;

/// Thread instructions that a launcher may take to be run whole.
const WHOLE: u64 = 400_000_000;
/// Time for the C function, compiled.
const HOST: Duration = Duration::from_secs(60);

/// What came of a few blocks.
pub enum Sampled {
    /// They agree with the C function: their run, and its name in reports.
    Agrees { run: Box<WitnessRun>, name: String, with_host: bool },
    /// All blocks are cheap enough to be run.
    RunWhole,
    /// Nothing: launches depend on each other, or nothing says what the blocks must write.
    Unknown,
}

/// Runs a few blocks of each launch at a point.
///
/// # Errors
/// [`Failed`], where they are wrong.
pub fn verify(
    verifier: &Verifier<'_>,
    point: &Point,
    variant: Variant<'_>,
) -> Result<Sampled, Failed> {
    if verifier.written.is_some() || verifier.result_type().is_some() {
        return Ok(Sampled::Unknown);
    }
    let inputs = verifier.inputs(point)?;
    let part = Part::new(true);
    let how = How { unaligned: variant.is_unaligned(), part: Some(part) };
    let options = emu::Options { max_total_steps: 4 * WHOLE, ..verifier.options.clone() };
    let name = variant.name(&points::name(point));
    let text = variant.text(verifier.witness);
    let run = match verifier.run_as(text, &inputs, &options, &name, how) {
        Ok(run) => run,
        Err(Failed::Interrupted) => return Err(Failed::Interrupted),
        // Findings come with the run; a launcher that cannot be run in part says nothing here.
        Err(_) => return Ok(Sampled::Unknown),
    };
    let (blocks, of, whole) = run.whole;
    if whole <= WHOLE {
        return Ok(Sampled::RunWhole);
    }
    let name = format!("{name} ({blocks} of {of} blocks, at corners, edges and inside)");
    let with_host = match oversized::compiled(verifier, &inputs, HOST) {
        Some(mut reference) => {
            only_changed(&inputs, &run, &mut reference);
            verifier.against_witness(&run, &reference, &name)?;
            true
        }
        None => {
            if !against_samples(verifier, &inputs, &run, &name)? {
                return Ok(Sampled::Unknown);
            }
            false
        }
    };
    Ok(Sampled::Agrees { run: Box::new(run), name, with_host })
}

/// Elements that no block of the run changed are taken as they were: whether they should have been is not known.
fn only_changed(inputs: &[ArgBytes], run: &WitnessRun, reference: &mut Reference) {
    let arrays = inputs.iter().zip(&run.args).filter_map(|(before, after)| match (before, after) {
        (ArgBytes::Array(before), ArgBytes::Array(after)) => Some((before, after)),
        _ => None,
    });
    for (expected, (before, after)) in reference.memory.buffers.iter_mut().zip(arrays) {
        for ((expected, before), after) in expected.iter_mut().zip(before).zip(after) {
            if before == after {
                *expected = *before;
            }
        }
    }
}

/// Compares with elements that the interpreter computes one by one. False: none of them was written by these blocks.
fn against_samples(
    verifier: &Verifier<'_>,
    inputs: &[ArgBytes],
    run: &WitnessRun,
    name: &str,
) -> Result<bool, Failed> {
    let function = verifier.function();
    let (mut args, mut memory) = (vec![], Memory::default());
    for (input, param) in inputs.iter().zip(&function.params) {
        args.push(match input {
            ArgBytes::Array(bytes) => {
                memory.buffers.push(bytes.clone());
                Arg::Pointer { buffer: memory.buffers.len() - 1, offset: 0 }
            }
            ArgBytes::Value(bytes) => match function.var(*param).ty.scalar() {
                Some(scalar) => Arg::Value(scalar_from_bytes(scalar, bytes)),
                None => return Ok(false),
            },
        });
    }
    let (module, seed) = (verifier.module(), verifier.sources.seed);
    let found = recompute::samples(module, verifier.function, &args, &mut memory, seed);
    let Ok(samples) = found else { return Ok(false) };
    verifier.findings(run, name)?;
    let arrays = |args: &[ArgBytes]| -> Vec<Vec<u8>> {
        let arrays = args.iter().filter_map(|a| match a {
            ArgBytes::Array(bytes) => Some(bytes.clone()),
            ArgBytes::Value(_) => None,
        });
        arrays.collect()
    };
    let (before, after) = (arrays(inputs), arrays(&run.args));
    let names: Vec<&str> = function
        .params
        .iter()
        .map(|p| function.var(*p))
        .filter(|v| v.ty.is_pointer())
        .map(|v| v.name.as_str())
        .collect();
    let mut compared = 0;
    for sample in samples {
        let (width, at) = (sample.ty.bytes() as usize, sample.index as usize);
        let range = at * width..(at + 1) * width;
        let (Some(old), Some(new)) = (
            before.get(sample.buffer).and_then(|b| b.get(range.clone())),
            after.get(sample.buffer).and_then(|b| b.get(range)),
        ) else {
            continue;
        };
        if old == new {
            continue;
        }
        compared += 1;
        let array = names.get(sample.buffer).copied().unwrap_or("?");
        if let Some(d) = recompute::compare(&[sample], new, array) {
            let message = format!(
                "`{}` differs at index {}: the C function computes {}, the kernel {}",
                d.array, d.index, d.cpu, d.device
            );
            return Err(Failed::Wrong { point: name.to_string(), message, notes: vec![] });
        }
    }
    Ok(compared > 0)
}
