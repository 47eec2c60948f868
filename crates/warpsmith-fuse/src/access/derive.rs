//! What a routine touches, derived from its code, and compared with what its metadata say.

use warpsmith_ir::{Diagnostic, FuncId, Module};

use super::affine::Affine;
use super::numbering::{from_lowest, written};
use super::trace::{self, Access, Given, Stop, Trace};
use super::{ArgumentAccess, RoutineAccess, Touch, Touches, Work};
use crate::library::{Coordinate, Implementation, Param, Role, Routine};

/// The routines of an implementation in a block of so many elements.
pub(super) struct Derive<'a> {
    pub touches: &'a mut Touches,
    pub module: &'a Module,
    pub one: &'a Implementation,
    pub shape: [u32; 3],
    pub elements: u32,
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
    pub(super) fn routine(
        &mut self,
        routine: &Routine,
        sizes: &[u32],
    ) -> Result<RoutineAccess, Diagnostic> {
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
            self.whole_elements(routine, &arguments, sizes)?;
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

    /// Threads together touch every float of what a routine makes or brings away: else some are never written, or lost.
    fn whole_elements(
        &self,
        routine: &Routine,
        arguments: &[ArgumentAccess],
        sizes: &[u32],
    ) -> Result<(), Diagnostic> {
        let last = arguments.len() - 1;
        let Some(touch) = arguments[last].touch else { return Ok(()) };
        let mut touched = vec![false; (sizes[last] * self.elements) as usize];
        for offset in self.touches.get(touch).threads.iter().flatten() {
            touched[*offset as usize] = true;
        }
        let Some(missing) = touched.iter().position(|t| !t) else { return Ok(()) };
        let name = routine.argument_name(last);
        let what = format!("`{}` leaves out `{name}[{missing}]`", routine.name);
        let label = "no thread of a block touches it";
        let d = Diagnostic::error("W527", what).label(routine.span, label);
        Err(match &routine.patterns[last] {
            Some(pattern) if routine.uses_placeholder(last) => {
                d.label(pattern.span, "where it starts is said here")
            }
            _ => d,
        })
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
    match Coordinate::named(name) {
        Some(Coordinate::Thread(axis)) => Some(thread[axis].into()),
        Some(Coordinate::Block(_)) => Some(0),
        None => routine.block_size(name, shape),
    }
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
