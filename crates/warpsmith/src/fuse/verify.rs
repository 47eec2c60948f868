//! Every cover is run before it is handed out: what was emitted against the script on the CPU, at several numbers of elements.

use warpsmith_emu::Finding;
use warpsmith_fuse::plan::{Covered, kernels};
use warpsmith_fuse::script::{Layout, Program, VarId};
use warpsmith_ir::interp::Bound;
use warpsmith_ir::{Diagnostic, Scalar};

use super::data::Data;
use super::witness::Witness;
use warpsmith_translate::tune::verify::compare;

/// Elements at least, for there to be several of each kind.
const KINDS: usize = 45;

/// Numbers of elements: one, around the size of a block, and several blocks with a rest.
pub fn counts(cover: &Covered) -> Vec<usize> {
    let sizes = || kernels(&cover.launches).into_iter().map(|k| (k.elements * k.batch) as usize);
    let (least, most) = (sizes().min().unwrap_or(1), sizes().max().unwrap_or(1));
    let mut all =
        vec![1, least.saturating_sub(1).max(1), least, most + 1, (2 * most + 5).max(KINDS)];
    all.sort_unstable();
    all.dedup();
    all
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
        let data = &*data;
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
            let output = (variable.name.as_str(), k);
            same(output, size, &actual, data, *count).map_err(|d| vec![d])?;
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

/// How far a float may be from the CPU's: sums in another order, products contracted.
pub fn allowed(expected: f32, bound: Bound) -> f64 {
    // Sums of nothing but zeros have the sign that their order gives, and what is smaller than all numbers is rounded away.
    let least = f64::from(f32::MIN_POSITIVE);
    // Where the terms are beyond all numbers only the number of roundings is known.
    let terms = match bound.magnitude.is_finite() {
        true => bound,
        false => Bound { magnitude: f64::from(expected.abs()), ..bound },
    };
    least + compare::of_a_sum(Scalar::F32, terms) + compare::of_math_functions(bound)
}

/// Compares an output, given with its number.
fn same(
    (output, number): (&str, usize),
    size: usize,
    actual: &[f32],
    Data { expected, kinds, .. }: &Data<'_>,
    count: usize,
) -> Result<(), Diagnostic> {
    let bytes = |floats: &[f32]| floats.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>();
    let wanted = &expected.outputs[number][..actual.len()];
    let allowed = |i: u64| allowed(wanted[i as usize], expected.bounds[number][i as usize]);
    let Some(d) = compare::first_difference(Scalar::F32, &bytes(wanted), &bytes(actual), &allowed)
    else {
        return Ok(());
    };
    let (element, float) = (d.index as usize / size, d.index as usize % size);
    Err(Diagnostic::error("W540", format!("`{output}` is not what the CPU references give"))
        .note(format!(
            "element {element}, float {float}: {} in place of {}, with {count} elements",
            d.actual, d.expected
        ))
        .note(format!("its inputs are {}", kinds[element].describe())))
}
