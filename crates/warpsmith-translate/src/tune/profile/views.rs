//! Access views of a launch, in full: every access of every thread to global and shared memory, with the addresses
//! that follow from sizes and position.
//!
//! The device model looks at one block and enters each loop once; this walk goes through all of them, with the same
//! addresses, and gives what the emulator counts. Where control flow or an address depends on data, the view says so.

use std::collections::{BTreeMap, HashMap};

use warpsmith_device::{TrafficKind, l1_wavefronts, shared_wavefronts};
use warpsmith_ir::{FuncId, Function, Module, Space, Span, Value, VarId, VarKind};

use super::address::{Address, Object};
use super::footprint;
use super::run::{Request, Run, Watch};
use super::values::{Extents, Vars};

/// What a kernel is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number, passed by value.
    Value(Value),
    /// A byte of an array.
    Pointer {
        /// The array's name, as views show it.
        array: String,
        /// Distance from the start of the array, in bytes.
        offset: i64,
    },
    /// A struct, a null pointer: nothing that addresses are made of.
    Other,
}

/// One access in the source to one array.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The place of the access in the source.
    pub span: Option<Span>,
    /// The array's name: of a parameter, as the arguments have it; else of the variable.
    pub array: String,
    /// In shared memory; else in global memory.
    pub shared: bool,
    /// Load, store or atomic operation.
    pub kind: TrafficKind,
    /// Bytes a lane.
    pub bytes: u32,
    /// Warp instructions, and their active lanes.
    pub requests: u64,
    /// Active lanes of all `requests` together.
    pub threads: u64,
    /// Global memory: sectors of 32 bytes.
    pub sectors: u64,
    /// Wavefronts: passes through the first-level cache or the banks of shared memory, all requests together.
    pub wavefronts: f64,
    /// Shared memory: wavefronts that bank conflicts cost.
    pub conflicts: f64,
    /// The bytes that the lanes of one warp touch, from the array's start: of the first request with the most lanes.
    pub lanes: Vec<Option<u64>>,
    /// The address, or whether the access happens, depends on data: the counts say nothing.
    pub by_data: bool,
}

/// All views of a launch, in order of place in the source, then array; `None` when that takes more steps: a step is a
/// statement or an iteration of a thread.
pub fn views(
    module: &Module,
    kernel: FuncId,
    [grid, block]: [[u32; 3]; 2],
    args: &[Argument],
    max_steps: u64,
) -> Option<Vec<View>> {
    let function = module.function(kernel);
    let mut names = HashMap::new();
    let mut vars = Vars::default();
    for (param, arg) in function.params.iter().zip(args) {
        match arg {
            Argument::Value(value) => vars.set(*param, Some(*value)),
            Argument::Pointer { array, offset } => {
                _ = names.insert(*param, (array.clone(), *offset));
            }
            Argument::Other => {}
        }
    }
    let at = Extents { grid, block };
    let watch = Views { names, found: BTreeMap::new() };
    let mut run = Run::new(module, function, at, watch, max_steps);
    let [x, y, z] = block;
    let threads: Vec<[u32; 3]> = (0..x * y * z).map(|t| [t % x, t / x % y, t / (x * y)]).collect();
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                run.one_block([x, y, z], &threads, &vars);
            }
        }
    }
    (run.steps_left > 0).then(|| run.watch.found.into_values().collect())
}

/// What tells accesses apart: place, array, memory, kind, bytes.
type Key = (Option<Span>, String, bool, u8, u32);

/// Collects the views.
struct Views {
    /// The arrays of pointer parameters, and the byte that they point to.
    names: HashMap<VarId, (String, i64)>,
    found: BTreeMap<Key, View>,
}

impl Views {
    /// The array of an object, whether it lies in shared memory, and the byte at which the object begins in it; `None`:
    /// neither in global nor in shared memory.
    fn memory(
        &self,
        module: &Module,
        function: &Function,
        object: Object,
    ) -> Option<(String, bool, i64)> {
        match object {
            Object::Var(v) => {
                let var = function.var(v);
                match var.kind {
                    VarKind::Shared | VarKind::DynamicShared => Some((var.name.clone(), true, 0)),
                    _ => self.names.get(&v).map(|(name, at)| (name.clone(), false, *at)),
                }
            }
            Object::Global(g) => {
                let global = module.globals.get(g.0 as usize)?;
                (global.space == Space::Global).then(|| (global.name.clone(), false, 0))
            }
        }
    }
}

impl Watch<Value> for Views {
    fn request(&mut self, r: &Request<'_, Value>) {
        let unknown = r.unsure || r.lanes.contains(&Some(None));
        let object = r.lanes.iter().flatten().flatten().map(|a| a.object).next().or(r.base);
        let found = object.and_then(|o| self.memory(r.module, r.function, o));
        let Some((array, shared, start)) = found else { return };
        let key = (r.span, array.clone(), shared, r.kind as u8, r.bytes as u32);
        let view = self.found.entry(key).or_insert(View {
            span: r.span,
            array,
            shared,
            kind: r.kind,
            bytes: r.bytes as u32,
            requests: 0,
            threads: 0,
            sectors: 0,
            wavefronts: 0.0,
            conflicts: 0.0,
            lanes: vec![],
            by_data: false,
        });
        view.by_data |= unknown;
        if view.by_data {
            return;
        }
        for warp in r.lanes.chunks(32) {
            let byte = |a: &Option<Option<Address<Value>>>| {
                a.flatten().map(|a| (a.offset.as_i64() + start) as u64)
            };
            let lanes: Vec<Option<u64>> = warp.iter().map(byte).collect();
            view.add(&lanes);
        }
    }
}

impl View {
    /// One request of a warp.
    fn add(&mut self, lanes: &[Option<u64>]) {
        let active = lanes.iter().flatten().count() as u64;
        if active == 0 {
            return;
        }
        if self.lanes.iter().flatten().count() < active as usize {
            self.lanes = lanes.to_vec();
        }
        self.requests += 1;
        self.threads += active;
        let bytes = u64::from(self.bytes);
        if self.shared {
            let used = shared_wavefronts(lanes, bytes, self.kind == TrafficKind::Atomic);
            self.wavefronts += f64::from(used.wavefronts);
            self.conflicts += f64::from(used.wavefronts - used.ideal);
        } else {
            let addresses = lanes.iter().flatten().copied();
            let signed = addresses.clone().map(|a| a as i64);
            self.sectors += footprint::sectors(signed, bytes as i64).len() as u64;
            self.wavefronts += l1_wavefronts(addresses, bytes);
        }
    }
}
