//! Access patterns: which offsets of its arguments each thread of a routine touches.
//!
//! They are derived from the code: the routine's text is lowered and run for every thread of the block, with coordinates for
//! numbers and nothing for data ([`trace`]). Where the metadata give a pattern, both must say the same. A pattern that cannot
//! be derived, since it depends on data, is taken from the metadata; without those the argument stays in shared memory, with
//! barriers around every use.

mod affine;
mod probe;
mod text;
mod touch;
mod trace;

use std::collections::HashMap;
use std::rc::Rc;

use warpsmith_ir::{Diagnostic, FuncId, Module, SourceMap};

use crate::library::subscripts::{Start, subscripts};
use crate::library::{FunctionId, Implementation, Library, Param, Role, Routine};
use affine::Affine;
pub use text::{Numbering, Place, specialised};
pub use touch::{Touch, TouchId, Touches};
use trace::{Access, Given, Stop, Trace};

/// What all routines of an implementation do, in a block of so many elements.
#[derive(Clone, Debug)]
pub struct ImplementationAccess {
    pub shape: [u32; 3],
    pub loads: Vec<RoutineAccess>,
    pub compute: RoutineAccess,
    pub save: RoutineAccess,
}

impl ImplementationAccess {
    pub fn threads(&self) -> u32 {
        self.shape.iter().product()
    }
}

/// What one routine does.
#[derive(Clone, Debug)]
pub struct RoutineAccess {
    /// For each argument with a pattern.
    pub arguments: Vec<ArgumentAccess>,
    /// It moves the elements of the block, all of them and nothing else, to the same offsets.
    pub plain_copy: bool,
    pub work: Work,
}

/// How an argument is touched.
#[derive(Clone, Debug)]
pub struct ArgumentAccess {
    /// `None`: it is not known; compatible with nothing.
    pub touch: Option<TouchId>,
    /// How its registers would be numbered, or why it must stay in shared memory.
    pub numbering: Result<Numbering, &'static str>,
}

/// Work of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Arithmetic on reals, a thread.
    pub flops: f64,
    /// Calls of functions such as square roots, a thread.
    pub functions: f64,
    /// Floats of arguments that a thread reads and writes.
    pub shared: f64,
    /// Floats of global memory that a thread reads and writes.
    pub global: f64,
}

type Key = (FunctionId, usize, u32);

/// Access patterns, derived when they are first asked for.
#[derive(Debug, Default)]
pub struct Accesses {
    pub touches: Touches,
    known: HashMap<Key, Rc<ImplementationAccess>>,
}

impl Accesses {
    /// Of an implementation in a block of so many elements; `None` when it has no such block.
    ///
    /// # Errors
    /// W525: metadata and code disagree; W527: a routine that cannot be used; what lowering says.
    pub fn of(
        &mut self,
        library: &Library,
        function: FunctionId,
        implementation: usize,
        elements: u32,
        sources: &mut SourceMap,
    ) -> Result<Option<Rc<ImplementationAccess>>, Vec<Diagnostic>> {
        let key = (function, implementation, elements);
        if let Some(known) = self.known.get(&key) {
            return Ok(Some(known.clone()));
        }
        let f = library.function(function);
        let one = &f.implementations[implementation];
        let Some(shape) = one.shape(elements) else { return Ok(None) };
        let module = probe::module(library, f, one, shape, sources)?;
        let mut derive =
            Derive { touches: &mut self.touches, module: &module, one, shape, elements };
        let sizes = |types: &[crate::library::TypeId]| -> Vec<u32> {
            types.iter().map(|t| library.elements(*t)).collect()
        };
        let moved = |r: &Routine| sizes(&[r.data_type.unwrap_or(f.output)]);
        let loads =
            one.loads.iter().map(|r| derive.routine(r, &moved(r))).collect::<Result<_, _>>();
        let compute: Vec<_> = f.inputs.iter().copied().chain([f.output]).collect();
        let result = ImplementationAccess {
            shape,
            loads: loads.map_err(|d| vec![d])?,
            compute: derive.routine(&one.compute, &sizes(&compute)).map_err(|d| vec![d])?,
            save: derive.routine(&one.save, &moved(&one.save)).map_err(|d| vec![d])?,
        };
        let result = Rc::new(result);
        self.known.insert(key, result.clone());
        Ok(Some(result))
    }
}

struct Derive<'a> {
    touches: &'a mut Touches,
    module: &'a Module,
    one: &'a Implementation,
    shape: [u32; 3],
    elements: u32,
}

/// One trace for all threads, or one for each.
enum Traces {
    Linear(Trace),
    Each(Vec<Trace>),
}

impl Traces {
    fn of(&self, thread: usize) -> &Trace {
        match self {
            Traces::Linear(one) => one,
            Traces::Each(all) => &all[thread],
        }
    }
}

impl Derive<'_> {
    /// `sizes`: floats of an element of each argument.
    fn routine(&mut self, routine: &Routine, sizes: &[u32]) -> Result<RoutineAccess, Diagnostic> {
        let traces = match self.traces(routine) {
            Ok(traces) => Some(traces),
            Err(Stop::Refused(why)) => {
                return Err(Diagnostic::error(
                    "W527",
                    format!("`{}` cannot be fused: {why}", routine.name),
                )
                .label(routine.span, "this routine"));
            }
            Err(_) => None,
        };
        let mut arguments = vec![];
        for (argument, size) in sizes.iter().enumerate() {
            let derived = match &traces {
                Some(traces) => self.derived(routine, argument, traces, *size)?,
                None => None,
            };
            arguments.push(self.argument(routine, argument, derived, *size)?);
        }
        if let Some(traces) = &traces {
            self.only_output_is_written(routine, traces)?;
        }
        let plain_copy = traces.as_ref().is_some_and(|t| self.plain_copy(routine, t, sizes[0]));
        let work = traces.as_ref().map(|t| self.work(routine, t)).unwrap_or_default();
        Ok(RoutineAccess { arguments, plain_copy, work })
    }

    fn threads(&self) -> impl Iterator<Item = [u32; 3]> + use<> {
        let [x, y, z] = self.shape;
        (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
    }

    fn traces(&self, routine: &Routine) -> Result<Traces, Stop> {
        let name = &routine.name;
        let found = self.module.find_function(name);
        let function = found.ok_or_else(|| Stop::Unknown(format!("`{name}` was not lowered")))?;
        match self.trace(routine, function, None) {
            Ok(trace) => Ok(Traces::Linear(trace)),
            Err(Stop::NotLinear) => {
                let each = self.threads().map(|t| self.trace(routine, function, Some(t)));
                each.collect::<Result<_, _>>().map(Traces::Each)
            }
            Err(other) => Err(other),
        }
    }

    fn trace(
        &self,
        routine: &Routine,
        function: FuncId,
        thread: Option<[u32; 3]>,
    ) -> Result<Trace, Stop> {
        use crate::library::Coordinate;
        let given = routine.params.iter().map(|p| match p {
            Param::Global | Param::Element(_) => Given::Array,
            Param::Coordinate(Coordinate::Thread(axis)) => Given::Number(match thread {
                Some(t) => Affine::constant(t[*axis].into()),
                None => Affine::coordinate(*axis),
            }),
            Param::Coordinate(Coordinate::Block(axis)) => {
                Given::Number(Affine::coordinate(3 + axis))
            }
        });
        trace::trace(self.module, function, &given.collect::<Vec<_>>(), thread.is_none())
    }

    /// The offsets that the code touches. `None`: they are not the same in all blocks.
    fn derived(
        &self,
        routine: &Routine,
        argument: usize,
        traces: &Traces,
        size: u32,
    ) -> Result<Option<Touch>, Diagnostic> {
        let param = param_of(routine, Param::Element(argument));
        let end = i64::from(size) * i64::from(self.elements);
        let mut threads = vec![];
        for (flat, thread) in self.threads().enumerate() {
            let mut offsets = vec![];
            for access in traces.of(flat).accesses.iter().filter(|a| a.argument == param) {
                let Some(at) = access.at.at_thread(thread).filter(|_| access.at.by[3..] == [0; 3])
                else {
                    return Ok(None);
                };
                if at < 0 || at + access.length > end {
                    return Err(self.outside(routine, argument, thread, at, end));
                }
                offsets.extend((at..at + access.length).map(|o| o as u32));
            }
            offsets.sort_unstable();
            offsets.dedup();
            threads.push(offsets);
        }
        Ok(Some(Touch { threads }))
    }

    fn outside(
        &self,
        routine: &Routine,
        argument: usize,
        thread: [u32; 3],
        at: i64,
        end: i64,
    ) -> Diagnostic {
        let [x, y, z] = thread;
        let name = routine.argument_name(argument);
        let d = Diagnostic::error(
            "W527",
            format!("`{}` touches `{name}[{at}]`, beyond what its block holds", routine.name),
        )
        .label(routine.span, format!("thread ({x}, {y}, {z})"))
        .note(format!("a block of {} elements has {end} floats of it", self.elements));
        match &routine.patterns[argument] {
            Some(pattern) if routine.uses_placeholder(argument) => {
                d.label(pattern.span, "where it starts is said here")
            }
            _ => d,
        }
    }

    /// What the metadata say of an argument.
    fn said(
        &self,
        routine: &Routine,
        argument: usize,
        size: u32,
    ) -> Result<Option<(Touch, Vec<i64>)>, Diagnostic> {
        let Some(pattern) = &routine.patterns[argument] else { return Ok(None) };
        let end = i64::from(size) * i64::from(self.elements);
        let (mut threads, mut starts) = (vec![], vec![]);
        for thread in self.threads() {
            let names = |name: &str| names_of(routine, self.shape, thread, name);
            let offsets = pattern.offsets(&names);
            let start = pattern.start.value(&names);
            let Some((offsets, start)) = offsets.zip(start) else {
                return Err(Diagnostic::error("W524", "this access pattern has no value")
                    .label(pattern.span, "an unknown name, a division by zero, or too many offsets")
                    .help("it may use tx, ty, tz, bx, by, bz, BX, BY, BZ and the sizes of this implementation"));
            };
            if let Some(bad) = offsets.iter().find(|o| **o < 0 || **o >= end) {
                let [x, y, z] = thread;
                return Err(Diagnostic::error("W525", format!("this access pattern leaves the {end} floats that a block of {} elements has", self.elements))
                    .label(pattern.span, format!("thread ({x}, {y}, {z}) would touch offset {bad}")));
            }
            let mut offsets: Vec<u32> = offsets.into_iter().map(|o| o as u32).collect();
            offsets.sort_unstable();
            offsets.dedup();
            threads.push(offsets);
            starts.push(start);
        }
        Ok(Some((Touch { threads }, starts)))
    }

    fn argument(
        &mut self,
        routine: &Routine,
        argument: usize,
        derived: Option<Touch>,
        size: u32,
    ) -> Result<ArgumentAccess, Diagnostic> {
        let said = self.said(routine, argument, size)?;
        if let (Some(derived), Some((said, _))) = (&derived, &said) {
            self.agree(routine, argument, derived, said)?;
        }
        let noreg = routine.patterns[argument].as_ref().is_some_and(|p| p.noreg);
        let numbering = match (&derived, &said) {
            _ if noreg => Err("its metadata forbid registers"),
            (None, None) => Err("which of its offsets a thread touches depends on data"),
            (_, Some((touch, starts))) if routine.uses_placeholder(argument) => {
                from_lowest(touch, starts)
            }
            (None, _) => Err("its subscripts are not understood"),
            (Some(touch), _) => written(routine, argument, touch, || self.threads()),
        };
        let touch = derived.or(said.map(|(touch, _)| touch)).map(|t| self.touches.id(t));
        Ok(ArgumentAccess { touch, numbering })
    }

    fn agree(
        &self,
        routine: &Routine,
        argument: usize,
        derived: &Touch,
        said: &Touch,
    ) -> Result<(), Diagnostic> {
        let differ = self
            .threads()
            .zip(derived.threads.iter().zip(&said.threads))
            .find(|(_, (d, s))| d != s);
        let Some(([x, y, z], (code, pattern))) = differ else { return Ok(()) };
        let name = routine.argument_name(argument);
        let span = routine.patterns[argument].as_ref().map_or(routine.span, |p| p.span);
        let key = routine.pattern_key(argument);
        Err(Diagnostic::error(
            "W525",
            format!("{key} says something else than the code of `{}`", routine.name),
        )
        .label(span, format!("thread ({x}, {y}, {z}) would touch {}", list(pattern)))
        .label(routine.span, format!("it touches {} of `{name}`", list(code)))
        .help("correct the pattern, or delete it: it is derived from the code"))
    }

    /// Loads and computations write to their last element argument alone, saves to none.
    fn only_output_is_written(&self, routine: &Routine, traces: &Traces) -> Result<(), Diagnostic> {
        let output = match routine.role {
            Role::Load => param_of(routine, Param::Element(0)),
            Role::Compute => param_of(routine, Param::Element(routine.patterns.len() - 1)),
            Role::Save => param_of(routine, Param::Global),
        };
        let each: &[Trace] = match traces {
            Traces::Linear(one) => std::slice::from_ref(one),
            Traces::Each(all) => all,
        };
        let wrong = each.iter().flat_map(|t| &t.accesses).find(|a| a.write && a.argument != output);
        match wrong {
            None => Ok(()),
            Some(access) => {
                let name = &routine.names[access.argument];
                Err(Diagnostic::error(
                    "W527",
                    format!("`{}` writes to `{name}`, which it may only read", routine.name),
                )
                .label(routine.span, "this routine"))
            }
        }
    }

    /// Whether the routine moves each float of the block from where it is to the same offset.
    fn plain_copy(&self, routine: &Routine, traces: &Traces, size: u32) -> bool {
        if routine.role == Role::Compute {
            return false;
        }
        let floats = size as usize * self.elements as usize;
        let (element, global) =
            (param_of(routine, Param::Element(0)), param_of(routine, Param::Global));
        let axis = 3 + self.one.data_axis();
        let mut moved = vec![false; floats];
        let offset_of = |access: &Access, thread: [u32; 3]| -> Option<(i64, i64)> {
            let (from, source) = access.copies?;
            let (inside, outside) = match routine.role {
                Role::Load if from == global => (access.at, source),
                Role::Save if from == element => (source, access.at),
                _ => return None,
            };
            let blocks = (3..6).all(|a| outside.by[a] == if a == axis { floats as i64 } else { 0 });
            let (o, g) = (inside.at_thread(thread)?, outside.at_thread(thread)?);
            (blocks && o == g && inside.by[3..] == [0; 3]).then_some((o, access.length))
        };
        for (flat, thread) in self.threads().enumerate() {
            for access in traces.of(flat).accesses.iter().filter(|a| a.write) {
                let Some((at, length)) = offset_of(access, thread) else { return false };
                let range = at.max(0) as usize..(at + length).max(0) as usize;
                let Some(part) = moved.get_mut(range) else { return false };
                part.fill(true);
            }
        }
        moved.into_iter().all(|m| m)
    }

    fn work(&self, routine: &Routine, traces: &Traces) -> Work {
        let global = routine.params.iter().position(|p| *p == Param::Global);
        let one = |t: &Trace| {
            let floats = |outside: bool| -> i64 {
                let fits = |a: &&Access| (Some(a.argument) == global) == outside;
                t.accesses.iter().filter(fits).map(|a| a.length).sum()
            };
            Work {
                flops: t.flops as f64,
                functions: t.functions as f64,
                shared: floats(false) as f64,
                global: floats(true) as f64,
            }
        };
        match traces {
            Traces::Linear(t) => one(t),
            Traces::Each(all) => {
                let mut sum = Work::default();
                for w in all.iter().map(one) {
                    sum.flops += w.flops;
                    sum.functions += w.functions;
                    sum.shared += w.shared;
                    sum.global += w.global;
                }
                let n = all.len().max(1) as f64;
                Work {
                    flops: sum.flops / n,
                    functions: sum.functions / n,
                    shared: sum.shared / n,
                    global: sum.global / n,
                }
            }
        }
    }
}

fn param_of(routine: &Routine, param: Param) -> usize {
    // Every routine has the parameters of its role: its signature was checked.
    routine.params.iter().position(|p| *p == param).unwrap_or(usize::MAX)
}

/// A name in a pattern: coordinates of a thread in block 0, sizes of the block.
fn names_of(routine: &Routine, shape: [u32; 3], thread: [u32; 3], name: &str) -> Option<i64> {
    use crate::library::Coordinate;
    match Coordinate::named(name) {
        Some(Coordinate::Thread(axis)) => Some(thread[axis].into()),
        Some(Coordinate::Block(_)) => Some(0),
        None => routine.block_size(name, shape),
    }
}

/// Registers are numbered from the start of a pattern, which must be its lowest offset: then all that are compatible number
/// alike.
fn from_lowest(touch: &Touch, starts: &[i64]) -> Result<Numbering, &'static str> {
    let lowest = |(offsets, start): (&Vec<u32>, &i64)| {
        offsets.first().is_none_or(|o| i64::from(*o) == *start)
    };
    match touch.threads.iter().zip(starts).all(lowest) {
        true => Ok(Numbering::Placeholder),
        false => Err("its pattern does not start at the lowest offset"),
    }
}

/// The start of a pattern that is written in subscripts.
fn written<I: Iterator<Item = [u32; 3]>>(
    routine: &Routine,
    argument: usize,
    touch: &Touch,
    threads: impl Fn() -> I,
) -> Result<Numbering, &'static str> {
    let body = routine.text.find('{').map_or("", |at| &routine.text[at..]);
    if subscripts(body, routine.argument_name(argument)).is_none() {
        return Err("it is used otherwise than with subscripts");
    }
    let lowest: Vec<([u32; 3], i64)> = threads()
        .zip(&touch.threads)
        .filter_map(|(thread, offsets)| Some((thread, i64::from(*offsets.first()?))))
        .collect();
    let start =
        fitted(&lowest).ok_or("its lowest offset is not linear in the thread's coordinates")?;
    let used = (0..3).filter(|axis| start.by[*axis] != 0);
    let coordinate = |axis: usize| Param::Coordinate(crate::library::Coordinate::Thread(axis));
    for axis in used {
        if !routine.params.contains(&coordinate(axis)) {
            return Err("its start depends on a coordinate that it does not take");
        }
    }
    Ok(Numbering::Written(start))
}

/// The linear function through the lowest offsets of all threads.
fn fitted(lowest: &[([u32; 3], i64)]) -> Option<Start> {
    let (first, base) = lowest.first()?;
    let mut by = [0; 3];
    for (axis, slope) in by.iter_mut().enumerate() {
        let differs = |(t, _): &&([u32; 3], i64)| {
            (0..3).all(|a| if a == axis { t[a] != first[a] } else { t[a] == first[a] })
        };
        if let Some((t, at)) = lowest.iter().find(differs) {
            let (d, n) = (at - base, i64::from(t[axis]) - i64::from(first[axis]));
            (d % n == 0).then_some(())?;
            *slope = d / n;
        }
    }
    let value = |t: &[u32; 3]| -> i64 { by.iter().zip(t).map(|(c, t)| c * i64::from(*t)).sum() };
    let start = Start { constant: base - value(first), by };
    lowest.iter().all(|(t, at)| start.constant + value(t) == *at).then_some(start)
}

/// `offsets 3, 4, 5`, not too many of them.
fn list(offsets: &[u32]) -> String {
    let mut shown: Vec<String> = offsets.iter().take(9).map(u32::to_string).collect();
    if offsets.len() > 9 {
        shown.push("…".into());
    }
    match shown.is_empty() {
        true => "nothing".into(),
        false => format!("offsets {}", shown.join(", ")),
    }
}
