//! Every cover is run before it is handed out: what was emitted against the script on the CPU, at several numbers of elements.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_emu::Finding;
use warpsmith_fuse::library::Library;
use warpsmith_fuse::plan::{Covered, kernels};
use warpsmith_fuse::script::Program;
use warpsmith_ir::{Diagnostic, Scalar, SourceMap};

use super::reference::{Expected, References};
use super::witness::Witness;
use crate::tune::compare;

/// Numbers of elements: one, around the size of a block, and several blocks with a rest.
pub fn counts(cover: &Covered) -> Vec<usize> {
    let sizes = || kernels(&cover.launches).into_iter().map(|k| (k.elements * k.batch) as usize);
    let (least, most) = (sizes().min().unwrap_or(1), sizes().max().unwrap_or(1));
    let mut all = vec![1, least.saturating_sub(1).max(1), least, most + 1, 2 * most + 5];
    all.sort_unstable();
    all.dedup();
    all
}

/// Data and results of the script on the CPU for the largest number of elements; fewer elements are a part of them.
pub struct Data {
    inputs: Vec<Vec<f32>>,
    expected: Expected,
    count: usize,
}

impl Data {
    /// Runs the references on random data.
    ///
    /// # Errors
    /// W541: a reference that cannot be run.
    pub fn new(
        program: &Program,
        library: &Library,
        references: &References,
        count: usize,
        seed: u64,
    ) -> Result<Data, Diagnostic> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let floats = |v: &warpsmith_fuse::script::VarId| {
            library.elements(program.variables[v.0].ty) as usize * count
        };
        let inputs: Vec<Vec<f32>> = program
            .inputs
            .iter()
            .map(|v| (0..floats(v)).map(|_| random(&mut rng)).collect())
            .collect();
        let expected = references.run(program, library, &inputs, count)?;
        Ok(Data { inputs, expected, count })
    }

    pub fn count(&self) -> usize {
        self.count
    }
}

/// Between -1 and 1, with all bits of the mantissa.
fn random(rng: &mut Xoshiro256PlusPlus) -> f32 {
    let bits = rng.next_u64() >> 40;
    bits as f32 / (1u64 << 23) as f32 - 1.0
}

/// Runs a cover's files at several numbers of elements; returns those.
///
/// # Errors
/// W540: the text is not understood, a check found something, or a result is not the reference's.
pub fn verify(
    name: &str,
    files: &[(String, String)],
    program: &Program,
    library: &Library,
    (data, counts): (&Data, &[usize]),
    sources: &mut SourceMap,
) -> Result<(), Vec<Diagnostic>> {
    let witness = Witness::parse(name, files, sources)?;
    let size =
        |v: &warpsmith_fuse::script::VarId| library.elements(program.variables[v.0].ty) as usize;
    for count in counts {
        let part = |(v, floats): (&warpsmith_fuse::script::VarId, &Vec<f32>)| {
            floats[..size(v) * count].to_vec()
        };
        let inputs: Vec<Vec<f32>> = program.inputs.iter().zip(&data.inputs).map(part).collect();
        let lengths: Vec<usize> = program.outputs.iter().map(|v| size(v) * count).collect();
        let (results, findings) = witness.run(*count, &inputs, &lengths).map_err(|why| {
            vec![
                Diagnostic::error("W540", format!("the kernels do not run in the emulator: {why}"))
                    .note(format!("with {count} elements")),
            ]
        })?;
        if let Some(finding) = findings.first() {
            return Err(vec![found(finding, *count)]);
        }
        for (k, v) in program.outputs.iter().enumerate() {
            let output = &program.variables[v.0].name;
            same(output, size(v), &results[k], &data.expected, k, *count).map_err(|d| vec![d])?;
        }
    }
    Ok(())
}

fn found(finding: &Finding, count: usize) -> Diagnostic {
    let d = Diagnostic::error("W540", format!("{}: {}", finding.rule.name(), finding.message))
        .note(format!(
            "found by the emulator with {count} elements, in the text as it was emitted"
        ));
    let places = finding.accesses.iter().filter_map(|a| Some((a.span?, a.what)));
    places.fold(d, |d, (span, what)| d.label(span, what))
}

fn same(
    output: &str,
    size: usize,
    actual: &[f32],
    expected: &Expected,
    number: usize,
    count: usize,
) -> Result<(), Diagnostic> {
    let bytes = |floats: &[f32]| floats.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>();
    let wanted = &expected.outputs[number][..actual.len()];
    let allowed = |i: u64| {
        let bound = expected.bounds[number][i as usize];
        compare::of_a_sum(Scalar::F32, bound) + compare::of_math_functions(bound)
    };
    let Some(d) = compare::first_difference(Scalar::F32, &bytes(wanted), &bytes(actual), &allowed)
    else {
        return Ok(());
    };
    let (element, float) = (d.index as usize / size, d.index as usize % size);
    Err(Diagnostic::error("W540", format!("`{output}` is not what the CPU references give"))
        .note(format!("element {element}, float {float}: {} in place of {}, with {count} elements", d.actual, d.expected))
        .help("`--max-fusion 1` makes each call a kernel of its own: a function that is wrong for itself is then found"))
}
