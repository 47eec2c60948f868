//! Every cover is run before it is handed out: what was emitted against the script on the CPU, at several numbers of elements.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_emu::Finding;
use warpsmith_fuse::plan::{Covered, Planner, kernels};
use warpsmith_fuse::script::{Layout, Program, VarId};
use warpsmith_ir::{Diagnostic, Scalar};

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

/// Random inputs, and what the references make of them: for the largest number of elements so far; fewer are a part of them.
pub struct Data<'a> {
    planner: &'a Planner<'a>,
    references: &'a References,
    rngs: Vec<Xoshiro256PlusPlus>,
    inputs: Vec<Vec<f32>>,
    expected: Expected,
    count: usize,
}

impl<'a> Data<'a> {
    pub fn new(planner: &'a Planner<'a>, references: &'a References, seed: u64) -> Data<'a> {
        // One for each input, so that more elements go on where fewer end.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let inputs = planner.program.inputs.len();
        let rngs = (0..inputs).map(|_| Xoshiro256PlusPlus::seed_from_u64(rng.next_u64()));
        let rngs = rngs.collect();
        let expected = Expected { outputs: vec![], bounds: vec![] };
        Data { planner, references, rngs, inputs: vec![vec![]; inputs], expected, count: 0 }
    }

    fn size(&self, v: VarId) -> usize {
        self.planner.library.elements(self.planner.program.variables[v.0].ty) as usize
    }

    /// Makes sure that there are so many elements.
    ///
    /// # Errors
    /// W541: a reference that cannot be run.
    fn grow(&mut self, count: usize) -> Result<(), Diagnostic> {
        if count <= self.count {
            return Ok(());
        }
        let sizes: Vec<usize> = self.planner.program.inputs.iter().map(|v| self.size(*v)).collect();
        for ((array, rng), size) in self.inputs.iter_mut().zip(&mut self.rngs).zip(sizes) {
            // A reference that could not be run left more behind.
            let more = (size * count).saturating_sub(array.len());
            array.extend((0..more).map(|_| random(rng)));
        }
        let (program, library) = (self.planner.program, self.planner.library);
        self.expected = self.references.run(program, library, &self.inputs, count)?;
        self.count = count;
        Ok(())
    }
}

/// Floats of `count` elements as a variable has them in memory, from an array of structures.
pub fn laid_out(program: &Program, v: VarId, size: usize, floats: &[f32]) -> Vec<f32> {
    match program.variables[v.0].layout {
        Layout::Aos => floats.to_vec(),
        Layout::Soa => {
            let count = floats.len() / size.max(1);
            (0..size).flat_map(|k| (0..count).map(move |e| floats[e * size + k])).collect()
        }
    }
}

/// Where float `k` of element `e` of `count` stands.
pub fn index(layout: Layout, (e, k): (usize, usize), size: usize, count: usize) -> usize {
    match layout {
        Layout::Aos => e * size + k,
        Layout::Soa => k * count + e,
    }
}

/// Between -1 and 1, with all bits of the mantissa.
pub fn random(rng: &mut Xoshiro256PlusPlus) -> f32 {
    let bits = rng.next_u64() >> 40;
    bits as f32 / (1u64 << 23) as f32 - 1.0
}

/// Runs a cover's files at several numbers of elements.
///
/// # Errors
/// W540: the text is not understood, a check found something, or a result is not the reference's; W541.
pub fn verify(
    name: &str,
    files: &[(String, String)],
    data: &mut Data<'_>,
    counts: &[usize],
) -> Result<(), Vec<Diagnostic>> {
    let most = counts.iter().copied().max().unwrap_or(1);
    data.grow(most).map_err(|d| vec![d])?;
    let witness = Witness::parse(name, files, &mut data.planner.sources.borrow_mut())?;
    let program = data.planner.program;
    for count in counts {
        let part = |(v, floats): (&VarId, &Vec<f32>)| {
            laid_out(program, *v, data.size(*v), &floats[..data.size(*v) * count])
        };
        let inputs: Vec<Vec<f32>> = program.inputs.iter().zip(&data.inputs).map(part).collect();
        let lengths: Vec<usize> = program.outputs.iter().map(|v| data.size(*v) * count).collect();
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
            let (variable, size) = (&program.variables[v.0], data.size(*v));
            let place = |i: usize| index(variable.layout, (i / size, i % size), size, *count);
            let actual: Vec<f32> = (0..size * count).map(|i| results[k][place(i)]).collect();
            same(&variable.name, size, &actual, &data.expected, k, *count).map_err(|d| vec![d])?;
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
