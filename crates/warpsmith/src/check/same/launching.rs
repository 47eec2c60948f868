//! How a side is launched at given sizes: as its host code says, as a launch that somebody wrote for some sizes scales, or
//! by as many blocks as its positions need.

use std::collections::BTreeSet;

use warpsmith_front::ast::TranslationUnit;
use warpsmith_ir::{
    Axis, Builtin, Diagnostic, ExprKind, FuncId, Function, Module, SourceMap, VarKind, visit,
};
use warpsmith_stage::program::Program;
use warpsmith_stage::strides;
use warpsmith_stage::usage::{self, Usage};

use super::host_numbers::{self, HostLaunch};
use crate::check::args::LaunchArgs;
use crate::check::plan::base_name;
use crate::data::ArgSpec;
use warpsmith_translate::tune::sizes::{self, Point};

/// Threads of a block where nobody says it.
const BLOCKS: [[u32; 3]; 3] = [[128, 1, 1], [16, 8, 1], [8, 4, 4]];
/// Blocks along an axis of a kernel whose threads go on in strides of the grid: few, so that they do.
const STRIDED: u32 = 3;

/// One launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
}

/// Why there is no launch at some sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoShape {
    /// A grid without blocks.
    Empty,
    /// The host code is written for other sizes.
    OtherSizes,
    /// An extent that no launch has.
    Impossible,
}

/// How a kernel is launched.
#[derive(Clone, Debug)]
pub enum Launching {
    Host(Box<HostLaunch>),
    Rule(Rule),
}

/// Blocks that cover sizes.
#[derive(Clone, Debug)]
pub struct Rule {
    grid: [Blocks; 3],
    block: [u32; 3],
    shared: u32,
    /// For the report, where nobody wrote the launch as it is run.
    pub derived: bool,
}

/// The blocks along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Blocks {
    Fixed(u32),
    /// As many as the largest of the parameters needs.
    Cover {
        params: Vec<String>,
        tile: i64,
    },
}

/// What a launching is made from.
pub struct Kernel<'a> {
    pub unit: &'a TranslationUnit,
    pub module: &'a Module,
    pub function: FuncId,
    pub name: &'a str,
}

impl Kernel<'_> {
    fn ir(&self) -> &Function {
        self.module.function(self.function)
    }

    /// The launching of a kernel from options and directives, host code, or its own text.
    ///
    /// # Errors
    /// W309 where none of them tells it.
    pub fn launching(&self, args: &LaunchArgs) -> Result<Launching, Diagnostic> {
        if let (Some(grid), Some(block)) = (args.grid, args.block) {
            return self.scaled(grid.0, block.0, args).map(Launching::Rule);
        }
        if args.grid.is_none() && args.block.is_none() {
            let ones = vec![Some(1 << 20); self.ir().params.len()];
            let values: Vec<Option<i64>> =
                self.is_number().into_iter().zip(ones).map(|(n, v)| v.filter(|_| n)).collect();
            let found = host_numbers::launches(self.unit, base_name(self.name)).into_iter();
            let f = self.ir();
            let names: Vec<&str> = f.params.iter().map(|p| f.var(*p).name.as_str()).collect();
            let fields = f.params.iter().flat_map(|p| {
                let var = f.var(*p);
                sizes::fields(self.module, &var.name, &var.ty, 0)
            });
            let fields: Point = fields.map(|field| (field.name, 1 << 20)).collect();
            let known = found
                .filter(|l| l.numbers(self.unit, &values, &l.fields(&names, &fields)).is_some());
            if let Some(launch) = known.into_iter().next() {
                return Ok(Launching::Host(launch.into()));
            }
        }
        self.derived(args).map(Launching::Rule)
    }

    fn is_number(&self) -> Vec<bool> {
        let f = self.ir();
        f.params.iter().map(|p| f.var(*p).ty.is_integer()).collect()
    }

    /// The hardware values that the kernel and its functions read.
    fn builtins(&self) -> BTreeSet<(u8, usize)> {
        let mut found = BTreeSet::new();
        for f in &self.module.functions {
            visit::for_each_expr(&f.body, &mut |e| {
                if let ExprKind::Builtin(b) = &*e.kind {
                    found.extend(key(*b));
                }
            });
        }
        found
    }

    fn usage(&self) -> Usage {
        usage::usage(self.unit, self.name)
    }

    /// Parameters that bound the positions along an axis.
    fn bounds_of(&self, usage: &Usage, axis: usize) -> Vec<String> {
        let f = self.ir();
        // Parameters in their order, of structures the fields.
        let of = |name: &String, param: &str| {
            name.strip_prefix(param).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let bounds = f.params.iter().flat_map(|p| {
            let param = &f.var(*p).name;
            usage.roles.iter().filter(move |(n, r)| r.axes[axis] && of(n, param))
        });
        bounds.map(|(n, _)| n.clone()).collect()
    }

    /// A launch that was written for some sizes, for any.
    fn scaled(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        args: &LaunchArgs,
    ) -> Result<Rule, Diagnostic> {
        let (usage, reads) = (self.usage(), self.builtins());
        let mut axes = grid.map(Blocks::Fixed);
        for (a, axis) in axes.iter_mut().enumerate() {
            let bounds = self.bounds_of(&usage, a);
            if usage.strides || bounds.is_empty() || !reads.contains(&(BLOCK_IDX, a)) {
                continue;
            }
            let given = bounds.iter().filter_map(|n| match args.spec(n) {
                Some(ArgSpec::Number(text)) => text.parse::<i64>().ok(),
                _ => None,
            });
            let Some(size) = given.max() else {
                let message =
                    format!("for which `{}` is this grid of `{}` meant?", bounds[0], self.name);
                let help = format!(
                    "give the size beside the grid: --arg {}=256; the launches at other sizes follow from it",
                    bounds[0]
                );
                return Err(Diagnostic::error("W309", message).help(help));
            };
            let step = self.strides(block)[a];
            *axis = Blocks::Cover { params: bounds, tile: tile(size, grid[a], block[a], step) };
        }
        Ok(Rule { grid: axes, block, shared: args.shared.unwrap_or(0), derived: false })
    }

    /// Positions a block along each axis, as far as the kernel's conditions tell.
    fn strides(&self, block: [u32; 3]) -> [i64; 3] {
        let program = Program {
            max_steps: warpsmith_stage::program::MAX_STEPS,
            module: self.module.clone(),
            kernel: self.function,
            unit: TranslationUnit::default(),
            sources: SourceMap::new(),
        };
        strides::of(&program, block).blocks
    }

    /// A launch that nobody wrote.
    fn derived(&self, args: &LaunchArgs) -> Result<Rule, Diagnostic> {
        let unknown = |why: &str| {
            Diagnostic::error("W309", format!("nothing tells how `{}` is launched", self.name))
                .note(why.to_string())
                .help("write `// warpsmith: grid=4 block=64 arg n=256` before it in its own file, or keep the host code that launches it there; --grid and --block, with the sizes they are meant for, are for the kernel that is checked and not for its reference")
        };
        let (usage, reads) = (self.usage(), self.builtins());
        let f = self.ir();
        let shared =
            f.vars.iter().any(|v| matches!(v.kind, VarKind::Shared | VarKind::DynamicShared));
        let threads = (0..3).filter(|a| reads.contains(&(THREAD_IDX, *a)));
        let block = match args.block {
            Some(block) => block.0,
            None if shared => {
                return Err(unknown("it has shared memory, whose size depends on the block"));
            }
            None if !threads.clone().all(|a| reads.contains(&(BLOCK_DIM, a))) => {
                return Err(unknown(
                    "its positions do not depend on the size of the block (`blockDim`)",
                ));
            }
            None => {
                let most = f.launch_bounds.map_or(1024, |b| b.max_threads);
                let block = BLOCKS[threads.max().unwrap_or(0)];
                if block.iter().product::<u32>() <= most { block } else { [most.min(32), 1, 1] }
            }
        };
        let steps = self.strides(block);
        let mut grid = [const { Blocks::Fixed(1) }; 3];
        for (a, axis) in grid.iter_mut().enumerate() {
            if !reads.contains(&(BLOCK_IDX, a)) {
                continue;
            }
            let params = self.bounds_of(&usage, a);
            *axis = match args.grid {
                _ if usage.strides => Blocks::Fixed(STRIDED),
                Some(grid) => Blocks::Fixed(grid.0[a]),
                None if params.is_empty() => {
                    return Err(unknown("no parameter bounds the positions of its blocks"));
                }
                None => {
                    let tile = if steps[a] > 0 { steps[a] } else { block[a].into() };
                    Blocks::Cover { params, tile }
                }
            };
        }
        Ok(Rule { grid, block, shared: args.shared.unwrap_or(0), derived: true })
    }
}

const THREAD_IDX: u8 = 0;
const BLOCK_IDX: u8 = 1;
const BLOCK_DIM: u8 = 2;

fn key(b: Builtin) -> Option<(u8, usize)> {
    let index = |a: Axis| a.index();
    match b {
        Builtin::ThreadIdx(a) => Some((THREAD_IDX, index(a))),
        Builtin::BlockIdx(a) => Some((BLOCK_IDX, index(a))),
        Builtin::BlockDim(a) => Some((BLOCK_DIM, index(a))),
        _ => None,
    }
}

/// Positions a block, when so many blocks of so many threads are meant for a size: what the kernel's conditions say if that
/// fits, else as many as threads, some a thread, or some threads a position.
fn tile(size: i64, blocks: u32, threads: u32, step: i64) -> i64 {
    let (blocks, threads) = (i64::from(blocks), i64::from(threads));
    let needed = |tile: i64| (size + tile - 1).div_euclid(tile);
    if step > 0 && needed(step) <= blocks {
        return step;
    }
    let wide = (1..=64).map(|k| threads * k);
    let narrow = (1..=10).map(|k| threads >> k).take_while(|t| *t > 0);
    let fits = wide.chain(narrow).find(|t| needed(*t) == blocks);
    fits.unwrap_or_else(|| needed(blocks).max(1))
}

impl Launching {
    /// The launch at given values of the kernel's parameters, in order and by name, and of sizes of the host function.
    ///
    /// # Errors
    /// [`NoShape`].
    pub fn at(
        &self,
        unit: &TranslationUnit,
        function: &Function,
        sizes: &Point,
        of_host: &Point,
    ) -> Result<Shape, NoShape> {
        let (grid, block, shared) = match self {
            Launching::Rule(rule) => {
                let along = |b: &Blocks| match b {
                    Blocks::Fixed(n) => i128::from(*n),
                    Blocks::Cover { params, tile } => {
                        let size = params.iter().filter_map(|p| sizes.get(p)).max().copied();
                        i128::from((size.unwrap_or(0).max(0) + tile - 1) / tile)
                    }
                };
                let grid = [along(&rule.grid[0]), along(&rule.grid[1]), along(&rule.grid[2])];
                (grid, rule.block.map(i128::from), i128::from(rule.shared))
            }
            Launching::Host(launch) => {
                let value = |p| sizes.get(&function.var(p).name).copied();
                let values: Vec<Option<i64>> = function.params.iter().map(|p| value(*p)).collect();
                let names: Vec<&str> =
                    function.params.iter().map(|p| function.var(*p).name.as_str()).collect();
                let mut more = launch.fields(&names, sizes);
                more.extend(of_host.iter().map(|(n, v)| (n.clone(), *v)));
                let numbers = launch.numbers(unit, &values, &more).ok_or(NoShape::Impossible)?;
                if numbers.cut {
                    return Err(NoShape::OtherSizes);
                }
                (numbers.grid, numbers.block, numbers.shared)
            }
        };
        if grid.contains(&0) || block.contains(&0) {
            return Err(NoShape::Empty);
        }
        let dims = |d: [i128; 3]| -> Option<[u32; 3]> {
            let mut out = [0; 3];
            for (to, from) in out.iter_mut().zip(d) {
                *to = u32::try_from(from).ok()?;
            }
            Some(out)
        };
        let shape = dims(grid).zip(dims(block)).zip(u32::try_from(shared).ok());
        let shape = shape.map(|((grid, block), shared)| Shape { grid, block, shared });
        let most = |s: &Shape| s.block.iter().map(|n| u64::from(*n)).product::<u64>() <= 1024;
        shape.filter(most).ok_or(NoShape::Impossible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_launches_as_they_are_written() {
        assert_eq!(tile(256, 4, 64, 0), 64);
        assert_eq!(tile(250, 4, 64, 0), 64);
        // Four positions a thread; a warp a row; what the text says.
        assert_eq!(tile(1024, 4, 64, 0), 256);
        assert_eq!(tile(100, 13, 256, 0), 8);
        assert_eq!(tile(1000, 5, 256, 240), 240);
    }
}
