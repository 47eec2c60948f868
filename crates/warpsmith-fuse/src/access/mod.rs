//! Access patterns: which offsets of its arguments each thread of a routine touches.
//!
//! They are derived from the code: the routine's text is lowered and run for every thread of the block, with coordinates for
//! numbers and nothing for data ([`trace`]). Where the metadata give a pattern, both must say the same. A pattern that cannot
//! be derived, since it depends on data, is taken from the metadata; without those the argument stays in shared memory, with
//! barriers around every use.

mod affine;
mod derive;
mod numbering;
mod probe;
mod text;
mod touch;
mod trace;

use std::collections::HashMap;
use std::rc::Rc;

use warpsmith_ir::{Diagnostic, SourceMap};

use crate::library::{FunctionId, Library, Routine};
use derive::Derive;
pub use text::{Numbering, Place, specialised};
pub use touch::{Touch, TouchId, Touches};

/// What all routines of an implementation do, in a block of so many elements.
#[derive(Clone, Debug)]
pub struct ImplementationAccess {
    /// Threads of a block.
    pub shape: [u32; 3],
    /// Routines that load arguments.
    pub loads: Vec<RoutineAccess>,
    /// The routine that computes.
    pub compute: RoutineAccess,
    /// The routine that saves the result.
    pub save: RoutineAccess,
}

impl ImplementationAccess {
    /// Threads of a block, all axes together.
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
    /// What one thread does in it.
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
    /// Sets of offsets, each kept once.
    pub touches: Touches,
    known: HashMap<Key, Rc<ImplementationAccess>>,
    /// Elements of a block of which all sizes are given.
    counts: HashMap<(FunctionId, usize), u32>,
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
        let candidates = library.function(function).implementations[implementation].fixed_counts();
        if candidates.len() < 2 {
            return self.with_elements(library, (function, implementation, elements), sources);
        }
        if let Some(count) = self.counts.get(&(function, implementation)).copied() {
            let key = (function, implementation, elements);
            return if count == elements {
                self.with_elements(library, key, sources)
            } else {
                Ok(None)
            };
        }
        let mut first = None;
        for count in candidates {
            match self.with_elements(library, (function, implementation, count), sources) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    self.counts.insert((function, implementation), count);
                    return Ok((count == elements).then_some(found));
                }
                // With other elements it may touch what its block has, and all of that.
                Err(list) if list.iter().all(|d| matches!(d.code, "W525" | "W527")) => {
                    first = first.or(Some(list));
                }
                Err(list) => return Err(list),
            }
        }
        first.map_or(Ok(None), Err)
    }

    fn with_elements(
        &mut self,
        library: &Library,
        key: Key,
        sources: &mut SourceMap,
    ) -> Result<Option<Rc<ImplementationAccess>>, Vec<Diagnostic>> {
        let (function, implementation, elements) = key;
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
