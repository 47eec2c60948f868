//! The data on which covers are measured, and elements of the results computed on the CPU.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_fuse::library::Library;
use warpsmith_fuse::script::{Node, Program, Region, VarId};
use warpsmith_gpu::protocol::{BufferSpec, Contents, Element, Problem, Tolerance};
use warpsmith_ir::{Diagnostic, Scalar};

use super::super::data::random;
use super::super::reference::{Expected, References};
use super::super::verify::{index, laid_out};
use crate::search::{Compared, Task};
use warpsmith_translate::tune::verify::compare;

/// Elements that tell how far results may be apart: those of other covers are summed in another order.
const JUDGED: u64 = 64;
/// Elements of the winner's results that the CPU computes, too: the first, the last, and some between.
const EDGE: u64 = 256;
const BETWEEN: u64 = 512;
/// Calls of references that the CPU does for that, a few seconds.
const CALLS: u64 = 200_000;

/// Inputs of a program for so many elements.
pub struct Inputs<'a> {
    pub program: &'a Program,
    pub library: &'a Library,
    pub references: &'a References,
    pub count: u64,
    arrays: Vec<Vec<f32>>,
}

impl<'a> Inputs<'a> {
    /// Random numbers, the same for the same seed.
    pub fn new(
        (program, library): (&'a Program, &'a Library),
        references: &'a References,
        count: u64,
        seed: u64,
    ) -> Inputs<'a> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let array = |v: &VarId| {
            let floats = u64::from(library.elements(program.variables[v.0].ty)) * count;
            (0..floats).map(|_| random(&mut rng)).collect()
        };
        let arrays = program.inputs.iter().map(array).collect();
        Inputs { program, library, references, count, arrays }
    }

    fn size(&self, v: VarId) -> u64 {
        self.library.elements(self.program.variables[v.0].ty).into()
    }

    /// Floats that must be read and written at least.
    pub fn floats(&self) -> u64 {
        let all = self.program.inputs.iter().chain(&self.program.outputs);
        all.map(|v| self.size(*v)).sum::<u64>() * self.count
    }

    /// Arrays of inputs, then of outputs, then room for a workspace.
    ///
    /// # Errors
    /// W541: a reference that cannot be run.
    pub fn task(&self, workspace: u64) -> Result<Task, Diagnostic> {
        let (mut buffers, mut blobs, mut outputs) = (vec![], vec![], vec![]);
        let name = |v: &VarId| self.program.variables[v.0].name.clone();
        for (v, array) in self.program.inputs.iter().zip(&self.arrays) {
            let contents = Contents::Blob(blobs.len());
            let floats = laid_out(self.program, *v, self.size(*v) as usize, array);
            blobs.push(floats.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
            buffers.push(BufferSpec { name: name(v), bytes: array.len() as u64 * 4, contents });
        }
        let judged = (CALLS / calls(&self.program.body).max(1)).clamp(1, JUDGED);
        let first: Vec<u64> = (0..self.count.min(judged)).collect();
        let judged = self.on_cpu(&first)?;
        for (k, v) in self.program.outputs.iter().enumerate() {
            outputs.push(compared(buffers.len(), &judged, k));
            let bytes = self.size(*v) * self.count * 4;
            buffers.push(BufferSpec { name: name(v), bytes, contents: Contents::Poison });
        }
        let contents = Contents::Poison;
        buffers.push(BufferSpec { name: "workspace".into(), bytes: workspace.max(16), contents });
        let label = format!("{} elements", self.count);
        let problem = Problem { buffers, expected: vec![] };
        Ok(Task { label, problem, blobs, nearby: vec![], outputs, reference: None })
    }

    /// The results for some elements, by the references.
    fn on_cpu(&self, elements: &[u64]) -> Result<Expected, Diagnostic> {
        let part = |(v, array): (&VarId, &Vec<f32>)| {
            let size = self.size(*v) as usize;
            let of = |e: &u64| &array[*e as usize * size..(*e as usize + 1) * size];
            elements.iter().flat_map(of).copied().collect::<Vec<f32>>()
        };
        let inputs: Vec<Vec<f32>> =
            self.program.inputs.iter().zip(&self.arrays).map(part).collect();
        self.references.run(self.program, self.library, &inputs, elements.len())
    }

    /// Elements that are worth a look: those of the first and last blocks, and some between.
    pub fn samples(&self) -> Vec<u64> {
        let n = self.count;
        let step = (n / BETWEEN).max(1);
        let between = (0..n).step_by(step as usize);
        let mut all: Vec<u64> =
            (0..n.min(EDGE)).chain(between).chain(n.saturating_sub(EDGE)..n).collect();
        all.sort_unstable();
        all.dedup();
        // Every element is as many calls on the CPU as the script has, loops included.
        let most = (CALLS / calls(&self.program.body).max(1)).max(2) as usize;
        let step = all.len().div_ceil(most).max(1);
        all.into_iter().step_by(step).collect()
    }

    /// Flat indices of elements in each output.
    pub fn indices(&self, elements: &[u64]) -> Vec<Vec<u64>> {
        let of = |v: &VarId| {
            let (size, layout) = (self.size(*v) as usize, self.program.variables[v.0].layout);
            let place = |e: usize, k: usize| index(layout, (e, k), size, self.count as usize);
            let floats =
                |e: &u64| (0..size).map(|k| place(*e as usize, k) as u64).collect::<Vec<_>>();
            elements.iter().flat_map(floats).collect()
        };
        self.program.outputs.iter().map(of).collect()
    }

    /// Compares what a device has at these elements with the CPU.
    ///
    /// # Errors
    /// W544: an element that differs; W541: a reference that cannot be run.
    pub fn same(&self, elements: &[u64], device: &[Vec<u8>]) -> Result<(), Diagnostic> {
        let expected = self.on_cpu(elements)?;
        for (k, v) in self.program.outputs.iter().enumerate() {
            let wanted: Vec<u8> =
                expected.outputs[k].iter().flat_map(|x| x.to_le_bytes()).collect();
            let allowed = |i: u64| allowed(&expected, k, i as usize);
            let found = compare::first_difference(Scalar::F32, &wanted, &device[k], &allowed);
            let Some(d) = found else { continue };
            let (element, float) = (d.index / self.size(*v), d.index % self.size(*v));
            let element = elements.get(element as usize).copied().unwrap_or(0);
            let name = &self.program.variables[v.0].name;
            let what = format!("on the device `{name}` is not what the CPU references give");
            return Err(Diagnostic::error("W544", what).note(format!(
                "element {element}, float {float}: {} in place of {}, with {} elements",
                d.actual, d.expected, self.count
            )));
        }
        Ok(())
    }
}

/// Calls of one element, loops as often as they run.
fn calls(region: &Region) -> u64 {
    let one = |node: &Node| match node {
        Node::Call(_) => 1,
        Node::Loop(l) => l.trips.saturating_mul(calls(&l.body)),
    };
    region.nodes.iter().map(one).fold(0, u64::saturating_add)
}

/// How far a float of an output may be from the CPU's.
fn allowed(expected: &Expected, output: usize, i: usize) -> f64 {
    super::super::verify::allowed(expected.outputs[output][i], expected.bounds[output][i])
}

/// Covers may differ by what rounding explains, as a share of the largest element: twice what the references say of some.
fn compared(buffer: usize, judged: &Expected, output: usize) -> Compared {
    let floats = judged.outputs[output].iter().enumerate();
    let (largest, most) = floats.fold((0.0f64, 0.0f64), |(largest, most), (i, x)| {
        (largest.max(f64::from(x.abs())), most.max(allowed(judged, output, i)))
    });
    let share = if largest > 0.0 { 2.0 * most / largest } else { 0.0 };
    let of_largest = if share.is_finite() { share } else { 0.0 };
    let absolute = if largest > 0.0 { 0.0 } else { most };
    let tolerance = Tolerance { absolute, relative: 0.0, ..Tolerance::default() };
    Compared { buffer, element: Element::F32, tolerance, of_largest }
}
