//! The script on the CPU: the library's references, run by the interpreter element by element.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::resume_unwind;

use warpsmith_front::parse::{self, Language, ParseOptions};
use warpsmith_front::sema::{self, KernelSelection, Request};
use warpsmith_fuse::library::{FunctionId, Library};
use warpsmith_fuse::script::{Call, Node, Program, Region, VarId};
use warpsmith_ir::interp::{self, Arg, Bound, Limits, Memory, NoLaunch};
use warpsmith_ir::{Diagnostic, FuncId, Module, Scalar, SourceMap};

/// Statements that a reference may take for one element: one that takes more never ends.
const MOST_STEPS: u64 = 5_000_000;

/// The references of all functions that a program calls.
pub struct References {
    of: HashMap<FunctionId, (Module, FuncId)>,
}

/// What a run gave: for each output its floats, and how far each may be from another order of the same sums.
pub struct Expected {
    pub outputs: Vec<Vec<f32>>,
    pub bounds: Vec<Vec<Bound>>,
}

impl Expected {
    /// Whether the results and what they are sums of are numbers.
    pub fn is_finite(&self) -> bool {
        let known = |b: &Bound| b.magnitude.is_finite() && !b.slack.is_nan();
        self.outputs.iter().flatten().all(|x| x.is_finite())
            && self.bounds.iter().flatten().all(known)
    }
}

impl References {
    /// Lowers the references.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn new(
        program: &Program,
        library: &Library,
        sources: &mut SourceMap,
    ) -> Result<References, Vec<Diagnostic>> {
        let mut of = HashMap::new();
        let mut calls = vec![];
        all_calls(&program.body, &mut calls);
        for call in calls {
            if of.contains_key(&call.function) {
                continue;
            }
            let f = library.function(call.function);
            let path = f.reference.path.display().to_string();
            let options = ParseOptions::new(Language::Cuda);
            let parsed = parse::parse(
                &path,
                f.reference.source.whole().as_bytes(),
                &options,
                &library.files,
                sources,
            )?;
            let name = format!("{}_cpu", f.name);
            let request = Request {
                kernels: KernelSelection::Named(vec![]),
                host_functions: vec![name.clone()],
            };
            let lowered = sema::lower_cuda(&parsed.unit, &request)?;
            let Some(function) = lowered.module.find_function(&name) else {
                return Err(vec![Diagnostic::error(
                    "W522",
                    format!("`{name}` is not in `{path}`"),
                )]);
            };
            of.insert(call.function, (lowered.module, function));
        }
        Ok(References { of })
    }

    /// Runs a program on so many elements. `inputs` holds the arrays of its inputs.
    ///
    /// # Errors
    /// W541: a reference cannot be run, as a sentence and a place.
    pub fn run(
        &self,
        program: &Program,
        library: &Library,
        inputs: &[Vec<f32>],
        count: usize,
    ) -> Result<Expected, Diagnostic> {
        let sizes: Vec<usize> =
            program.variables.iter().map(|v| library.elements(v.ty) as usize).collect();
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
        let share = count.div_ceil(workers).max(1);
        let sizes = &sizes;
        let parts: Vec<Result<Expected, Diagnostic>> = std::thread::scope(|scope| {
            let part = |first: usize| {
                let range = first..(first + share).min(count);
                scope.spawn(move || self.part(program, sizes, inputs, range))
            };
            let running: Vec<_> = (0..count).step_by(share).map(part).collect();
            let joined = running.into_iter().map(|worker| worker.join());
            joined.map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let outputs = program.outputs.len();
        let mut all = Expected { outputs: vec![vec![]; outputs], bounds: vec![vec![]; outputs] };
        for part in parts {
            let part = part?;
            for k in 0..outputs {
                all.outputs[k].extend(&part.outputs[k]);
                all.bounds[k].extend(&part.bounds[k]);
            }
        }
        Ok(all)
    }

    /// Some of the elements.
    fn part(
        &self,
        program: &Program,
        sizes: &[usize],
        inputs: &[Vec<f32>],
        elements: Range<usize>,
    ) -> Result<Expected, Diagnostic> {
        let mut outputs: Vec<Vec<f32>> = vec![vec![]; program.outputs.len()];
        let mut bounds: Vec<Vec<Bound>> = vec![vec![]; program.outputs.len()];
        for e in elements {
            // A buffer for each variable: bounds go from call to call.
            let mut memory = Memory::new(sizes.iter().map(|size| vec![0; size * 4]).collect());
            for (v, input) in program.inputs.iter().zip(inputs) {
                let part = &input[e * sizes[v.0]..(e + 1) * sizes[v.0]];
                memory.buffers[v.0] = part.iter().flat_map(|x| x.to_le_bytes()).collect();
            }
            let mut run = Run { references: self, memory, copies: HashMap::new() };
            run.region(&program.body)?;
            for (k, v) in program.outputs.iter().enumerate() {
                let at = run.buffer(*v);
                for i in 0..sizes[v.0] {
                    let bytes = &run.memory.buffers[at][i * 4..i * 4 + 4];
                    outputs[k].push(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
                    let bound = run.memory.bound(at, i as u64 * 4, Scalar::F32);
                    bounds[k].push(bound.unwrap_or(Bound {
                        magnitude: 0.0,
                        terms: 1,
                        factors: 1,
                        slack: 0.0,
                    }));
                }
            }
        }
        Ok(Expected { outputs, bounds })
    }
}

fn all_calls<'a>(region: &'a Region, calls: &mut Vec<&'a Call>) {
    for node in &region.nodes {
        match node {
            Node::Call(call) => calls.push(call),
            Node::Loop(l) => all_calls(&l.body, calls),
        }
    }
}

struct Run<'a> {
    references: &'a References,
    memory: Memory,
    /// Variables that are other names for buffers: what a loop carries.
    copies: HashMap<VarId, usize>,
}

impl Run<'_> {
    fn buffer(&self, v: VarId) -> usize {
        self.copies.get(&v).copied().unwrap_or(v.0)
    }

    fn region(&mut self, region: &Region) -> Result<(), Diagnostic> {
        for node in &region.nodes {
            match node {
                Node::Call(call) => self.call(call)?,
                Node::Loop(l) => {
                    let mut carried: Vec<usize> =
                        l.carried.iter().map(|c| self.buffer(c.before)).collect();
                    for _ in 0..l.trips {
                        for (c, at) in l.carried.iter().zip(&carried) {
                            self.copies.insert(c.inside, *at);
                        }
                        self.region(&l.body)?;
                        // The next iteration writes to a buffer of its own, or it would write over what it reads.
                        carried = l.carried.iter().map(|c| self.kept(c.next)).collect();
                    }
                    for (inner, after) in &l.results {
                        let last =
                            l.carried.iter().position(|c| c.next == *inner).map(|k| carried[k]);
                        let at = last.unwrap_or_else(|| self.kept(*inner));
                        self.copies.insert(*after, at);
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves what a variable holds to a new buffer, with its bounds: by handing the old one over.
    fn kept(&mut self, v: VarId) -> usize {
        let at = self.buffer(v);
        let size = self.memory.buffers[at].len();
        self.memory.buffers.push(vec![0; size]);
        // From now on the variable is written elsewhere.
        self.copies.insert(v, self.memory.buffers.len() - 1);
        at
    }

    fn call(&mut self, call: &Call) -> Result<(), Diagnostic> {
        let Some((module, function)) = self.references.of.get(&call.function) else {
            return Err(Diagnostic::error("W541", "a function has no reference"));
        };
        let ids = call.arguments.iter().chain([&call.result]);
        let args: Vec<Arg> =
            ids.map(|v| Arg::Pointer { buffer: self.buffer(*v), offset: 0 }).collect();
        let limits = Limits { track_bounds: true, max_steps: MOST_STEPS, ..Limits::default() };
        interp::call(module, *function, &args, &mut self.memory, &limits, &mut NoLaunch)
            .map(drop)
            .map_err(|e| {
                let d = e.to_diagnostic();
                Diagnostic { code: "W541", ..d }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::shipped;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use warpsmith_fuse::script;
    use warpsmith_testgen::looped_script;

    /// What a script gives on the CPU for two elements, as bits.
    fn results(text: &str, rng: &mut Xoshiro256PlusPlus) -> Vec<Vec<u32>> {
        let mut sources = SourceMap::new();
        let file = sources.add("case.ws", text);
        let script = script::parse(text, file).unwrap();
        let mut library = Library::open(shipped::files(), &mut sources).unwrap();
        library.load(crate::fuse::called(&script.body), &mut sources).unwrap();
        let program = script::resolve(&script, &library, &mut vec![]).unwrap();
        let references = References::new(&program, &library, &mut sources).unwrap();
        let floats = |v: &VarId| library.elements(program.variables[v.0].ty) as usize * 2;
        let mut random = |v| (0..floats(v)).map(|_| crate::fuse::data::random(rng)).collect();
        let inputs: Vec<Vec<f32>> = program.inputs.iter().map(&mut random).collect();
        let expected = references.run(&program, &library, &inputs, 2).unwrap();
        let bits = |floats: &Vec<f32>| floats.iter().map(|f| f.to_bits()).collect();
        expected.outputs.iter().map(bits).collect()
    }

    #[test]
    fn loops_mean_what_writing_them_out_means() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(8);
        for _ in 0..150 {
            let bytes: Vec<u8> = (0..120).map(|_| rng.next_u64() as u8).collect();
            let script = looped_script(&bytes);
            let seed = rng.next_u64();
            let run = |text| results(text, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
            assert_eq!(run(&script.with_loops), run(&script.written_out), "{}", script.with_loops);
        }
    }
}
