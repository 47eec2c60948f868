//! `--benchmark`: every routine of every implementation, alone, in blocks of several sizes and with growing shared memory, on the
//! present GPU.
//!
//! What is measured is a kernel with the routine and one without it; the difference is the routine's.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use warpsmith_device::Gpu;
use warpsmith_fuse::access::Accesses;
use warpsmith_fuse::emit::{self, Heading};
use warpsmith_fuse::library::{FunctionId, Library};
use warpsmith_fuse::plan::{
    Action, KernelPlan, Layouts, Options, Planner, Reading, Step, Unusable,
};
use warpsmith_fuse::script::{Node, Program};
use warpsmith_ir::SourceMap;

use super::alone::one_call;
use super::curves::{self, Curve};
use super::measure::{self, Inputs, Texts};
use super::model::Model;
use super::reference::References;
use crate::search;
use crate::status::Failure;

/// Elements a block for which routines are measured.
const ELEMENTS: [u32; 5] = [16, 32, 64, 128, 256];
/// Bytes of shared memory that a kernel has beyond its own, as far as the device has them.
const ADDITIONAL: [u32; 7] = [0, 8 << 10, 24 << 10, 48 << 10, 80 << 10, 128 << 10, 190 << 10];

/// A kernel to be timed.
struct Timed {
    /// Of the routine; `None`: a kernel that does nothing else.
    key: Option<Key>,
    /// The kernel without the routine.
    without: usize,
    additional: u32,
    files: Vec<(String, String)>,
}

/// Routine, floats moved, elements a block.
type Key = (String, u32, u32);

/// Measures a function's routines.
///
/// # Errors
/// What is wrong with the library or the device.
pub fn curves_of(
    function: FunctionId,
    library: &Library,
    (gpu, elements): (&'static Gpu, u64),
    options: &search::Options,
    sources: &mut SourceMap,
) -> Result<Vec<Curve>, Failure> {
    let program = one_call(function, library);
    let references = References::new(&program, library, sources)?;
    let inputs = Inputs::new((&program, library), &references, elements, 0);
    let mut task = inputs.task(0)?;
    task.outputs.clear();
    let model = Model::new(gpu, elements);
    let name = format!("time_{}", library.function(function).name);
    let cell = RefCell::new(std::mem::take(sources));
    let texts = texts(&program, library, (gpu, &model), &name, &cell);
    *sources = cell.into_inner();
    let texts = texts?;
    let arrays = task.problem.buffers.len() - 1;
    let files = texts.iter().map(|t| t.files.clone()).collect();
    let seconds =
        measure::seconds(Texts { name, files, task: [task], count: elements, arrays }, options)?;
    let source = curves::source_of(library, &library.function(function).name);
    Ok(curves(&texts, &seconds, source))
}

fn texts(
    program: &Program,
    library: &Library,
    (gpu, model): (&'static Gpu, &Model),
    name: &str,
    sources: &RefCell<SourceMap>,
) -> Result<Vec<Timed>, Failure> {
    let Some(Node::Call(call)) = program.body.nodes.first() else { return Ok(vec![]) };
    let accesses = RefCell::new(Accesses::default());
    let unusable = RefCell::new(Unusable::new());
    let heading = Heading { name: name.to_string(), arch: gpu.arch.to_string(), elements: 1 << 20 };
    let mut all = vec![];
    let mut known: BTreeSet<Key> = BTreeSet::new();
    // First the library's own routines, everything in shared memory; then our copies.
    for baseline in [true, false] {
        let options = Options { baseline, ..Options::default() };
        let planner = Planner {
            program,
            library,
            options: &options,
            times: model,
            accesses: &accesses,
            sources,
            unusable: &unusable,
        };
        for k in 0..library.function(call.function).implementations.len() {
            for elements in ELEMENTS {
                let reading =
                    Reading { calls: vec![(0, call)], needed_after: program.outputs.clone() };
                let plan = planner.kernel(&reading, &[k], elements, &mut Layouts::new())?;
                let Some(plan) = plan.filter(|p| p.batch == 1 && p.shared_floats > 0) else {
                    continue;
                };
                let steps: Vec<Step> = plan
                    .steps
                    .iter()
                    .filter(|s| baseline || is_ours(&s.action))
                    .filter(|s| known.insert(key(&planner, &plan, s)))
                    .cloned()
                    .collect();
                if !steps.is_empty() {
                    timed(&planner, &heading, (&plan, &steps), gpu, &mut all);
                }
            }
        }
    }
    Ok(all)
}

fn is_ours(action: &Action) -> bool {
    matches!(action, Action::Load { by, .. } | Action::Save { by, .. } if by.is_ours())
}

fn key(planner: &Planner<'_>, plan: &KernelPlan, step: &Step) -> Key {
    let one = planner.routine_use(plan, &step.action);
    (one.name.to_string(), one.moved, one.elements)
}

fn timed(
    planner: &Planner<'_>,
    heading: &Heading,
    (plan, steps): (&KernelPlan, &[Step]),
    gpu: &Gpu,
    all: &mut Vec<Timed>,
) {
    let own = plan.shared_floats * 4;
    let limit = gpu.architecture().shared_per_block_optin;
    for more in ADDITIONAL.into_iter().filter(|more| own + more <= limit) {
        let files = |steps: Vec<Step>| {
            let kernel = KernelPlan { steps, ..plan.clone() };
            emit::timing_files(planner, heading, kernel, more)
        };
        let without = all.len();
        all.push(Timed { key: None, without, additional: more, files: files(vec![]) });
        for step in steps {
            let additional = planner.routine_use(plan, &step.action).additional_shared + more;
            let alone = Step { barrier: None, ..step.clone() };
            let (key, files) = (Some(key(planner, plan, step)), files(vec![alone]));
            all.push(Timed { key, without, additional, files });
        }
    }
}

/// What the routines take: with them minus without them.
fn curves(texts: &[Timed], seconds: &[Option<f64>], source: Option<String>) -> Vec<Curve> {
    let mut points: BTreeMap<&Key, Vec<(u32, f64)>> = BTreeMap::new();
    for (text, with) in texts.iter().zip(seconds) {
        let (Some(key), Some(with)) = (&text.key, with) else { continue };
        let Some(without) = seconds.get(text.without).copied().flatten() else { continue };
        points.entry(key).or_default().push((text.additional, (with - without).max(0.0)));
    }
    let curve = |((routine, moved, elements), mut points): (&Key, Vec<(u32, f64)>)| {
        points.sort_by_key(|p| p.0);
        points.dedup_by_key(|p| p.0);
        let own = matches!(routine.as_str(), "load" | "save");
        Curve {
            routine: routine.clone(),
            source: source.clone().filter(|_| !own),
            moved: *moved,
            elements_per_block: *elements,
            points,
        }
    };
    points.into_iter().map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_takes_without_the_routine_is_taken_off() {
        let text = |key: Option<&str>, without, additional| Timed {
            key: key.map(|k| (k.to_string(), 9, 32)),
            without,
            additional,
            files: vec![],
        };
        let texts = [
            text(None, 0, 0),
            text(Some("d_f_1_load_1"), 0, 100),
            text(Some("save"), 0, 50),
            text(None, 3, 8),
            text(Some("d_f_1_load_1"), 3, 20),
            text(Some("save"), 3, 60),
        ];
        let seconds = [Some(1.0), Some(4.0), Some(0.5), Some(2.0), Some(4.5), None];
        let found = curves(&texts, &seconds, Some("s".into()));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].points, [(20, 2.5), (100, 3.0)]);
        assert_eq!(
            (found[1].source.as_deref(), found[1].points.as_slice()),
            (None, &[(50, 0.0)][..])
        );
    }
}
