//! Which blocks of a launch write given elements, as far as that follows from sizes and position.

use std::collections::BTreeMap;

use warpsmith_device::TrafficKind;
use warpsmith_ir::{FuncId, Module, Value, VarId};

use super::address::Object;
use super::run::{Request, Run, Watch};
use super::values::{Extents, Vars};
use super::views::Argument;

/// Blocks of a grid that are looked at.
const BLOCKS: u64 = 1 << 20;
/// Of those that begin before an element, the nearest that are walked through.
const NEAREST: usize = 8192;
/// Statements and iterations of threads for one element.
const STEPS: u64 = 20_000_000;

/// A launch whose stores to one array are asked for.
pub struct Writers<'a> {
    module: &'a Module,
    kernel: FuncId,
    at: Extents,
    /// Arguments that are numbers.
    vars: Vars<Value>,
    /// Parameters that point into the array, and the byte that they point to.
    pointers: BTreeMap<VarId, i64>,
    /// The first byte that the first thread of a block stores to, and the block, in order.
    begins: Vec<(i64, u32)>,
}

/// What one thread or block stores to the array.
struct Stores<'p> {
    pointers: &'p BTreeMap<VarId, i64>,
    wanted: i64,
    found: bool,
    first: Option<i64>,
}

impl Watch<Value> for Stores<'_> {
    const ENDS: bool = true;

    fn request(&mut self, r: &Request<'_, Value>) {
        if !matches!(r.kind, TrafficKind::Store) {
            return;
        }
        for address in r.lanes.iter().flatten().flatten() {
            let Object::Var(v) = address.object else { continue };
            let Some(start) = self.pointers.get(&v) else { continue };
            let at = start + address.offset.as_i64();
            self.first.get_or_insert(at);
            self.found |= (at..at + r.bytes as i64).contains(&self.wanted);
        }
    }
}

impl<'a> Writers<'a> {
    /// Of the stores to an array. `None` where the grid is too large, or nothing is known of what its blocks store.
    pub fn new(
        module: &'a Module,
        kernel: FuncId,
        [grid, block]: [[u32; 3]; 2],
        args: &[Argument],
        array: &str,
    ) -> Option<Writers<'a>> {
        let (mut vars, mut pointers) = (Vars::default(), BTreeMap::new());
        for (param, arg) in module.function(kernel).params.iter().zip(args) {
            match arg {
                Argument::Value(value) => vars.set(*param, Some(*value)),
                Argument::Pointer { array: name, offset } if name == array => {
                    _ = pointers.insert(*param, *offset);
                }
                _ => {}
            }
        }
        let blocks: u64 = grid.iter().map(|n| u64::from(*n)).product();
        if blocks > BLOCKS {
            return None;
        }
        let at = Extents { grid, block };
        let mut writers = Writers { module, kernel, at, vars, pointers, begins: vec![] };
        let begin = |number| Some((writers.stores(number, &[[0; 3]], 0).first?, number));
        let mut begins: Vec<(i64, u32)> = (0..blocks as u32).filter_map(begin).collect();
        begins.sort_unstable();
        writers.begins = begins;
        Some(writers).filter(|w| !w.begins.is_empty())
    }

    fn stores(&self, number: u32, threads: &[[u32; 3]], wanted: i64) -> Stores<'_> {
        let watch = Stores { pointers: &self.pointers, wanted, found: false, first: None };
        let function = self.module.function(self.kernel);
        let mut run = Run::new(self.module, function, self.at, watch, STEPS);
        let [x, y, _] = self.at.grid;
        run.one_block([number % x, number / x % y, number / (x * y)], threads, &self.vars);
        run.watch
    }

    /// A block that stores to a byte of the array.
    pub fn of(&self, byte: u64) -> Option<u32> {
        let wanted = i64::try_from(byte).ok()?;
        let [x, y, z] = self.at.block;
        let threads: Vec<[u32; 3]> =
            (0..x * y * z).map(|t| [t % x, t / x % y, t / (x * y)]).collect();
        let before = self.begins.partition_point(|(begin, _)| *begin <= wanted);
        let nearest = self.begins[..before].iter().rev().take(NEAREST);
        let mut writes = nearest.filter(|(_, b)| self.stores(*b, &threads, wanted).found);
        writes.next().map(|(_, b)| *b)
    }
}
