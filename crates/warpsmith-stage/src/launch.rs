//! Launches that show what a kernel does: small, with sizes that all differ, chosen from how the kernel uses its parameters.

use std::collections::BTreeMap;

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind, TranslationUnit};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use crate::source::scope;
use crate::source::shape::{Extent, base_name};

/// One launch: the block shape with the constants that make it, and the integers that are passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub block: [u32; 3],
    pub grid: [u32; 3],
    /// Values of constants of the file.
    pub constants: Vec<(String, i64)>,
    /// Values of integer parameters by name.
    pub integers: BTreeMap<String, i64>,
    pub dynamic_shared: u32,
}

impl Launch {
    /// For reports: `block 5x4, grid 3x2, nx=14, ny=7`.
    pub fn describe(&self) -> String {
        let dims = |d: [u32; 3]| match d {
            [x, 1, 1] => x.to_string(),
            [x, y, 1] => format!("{x}x{y}"),
            [x, y, z] => format!("{x}x{y}x{z}"),
        };
        let sizes: String = self.integers.iter().map(|(n, v)| format!(", {n}={v}")).collect();
        format!("block {}, grid {}{sizes}", dims(self.block), dims(self.grid))
    }
}

/// What an integer parameter is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// It bounds positions along these axes, alone.
    pub axes: [bool; 3],
    /// It bounds positions that come from several axes together.
    pub product: [bool; 3],
    /// It bounds a loop.
    pub depth: bool,
}

/// How a kernel uses its integers and its axes.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    pub roles: BTreeMap<String, Role>,
    /// Axes of blocks and threads that the kernel asks for.
    pub axes: [bool; 3],
    /// Positions along an axis advance by less than the block: `blockIdx.x * (D - 2)`.
    pub overlaps: bool,
}

/// Reads how the parameters of a kernel bound its positions.
pub fn usage(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Usage {
    let mut usage = Usage::default();
    let Some(function) = scope::kernel(unit, base_name(kernel)) else { return usage };
    let Some(body) = &function.body else { return usage };
    let mut finder =
        Finder { sources, axes: BTreeMap::new(), loops: vec![], params: vec![], usage: &mut usage };
    finder.params = function.params.iter().filter_map(|p| p.name.clone()).collect();
    body.stmts.iter().for_each(|s| finder.stmt(s));
    let text = body.span.map_or("", |s| sources.text(s));
    for (i, axis) in ["x", "y", "z"].iter().enumerate() {
        usage.axes[i] = text.contains(&format!("threadIdx.{axis}"))
            || text.contains(&format!("blockIdx.{axis}"));
    }
    let squeezed: String = text.split_whitespace().collect();
    usage.overlaps = ["blockIdx.x*(", "blockIdx.y*("].iter().any(|t| squeezed.contains(t));
    usage
}

struct Finder<'a> {
    sources: &'a SourceMap,
    /// Axes that variables depend on.
    axes: BTreeMap<String, [bool; 3]>,
    /// Counters of loops.
    loops: Vec<String>,
    params: Vec<String>,
    usage: &'a mut Usage,
}

impl Finder<'_> {
    fn stmt(&mut self, s: &ast::Stmt) {
        match &s.kind {
            StmtKind::Vars(vars) => self.vars(vars),
            StmtKind::Expr(e) => self.assigned(e),
            StmtKind::Block(b) => b.stmts.iter().for_each(|s| self.stmt(s)),
            StmtKind::If { init, cond, then, otherwise, .. } => {
                init.iter().for_each(|s| self.stmt(s));
                self.compared(cond);
                self.stmt(then);
                otherwise.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::For { init, cond, body, .. } => {
                if let Some(ast::Stmt { kind: StmtKind::Vars(vars), .. }) = init.as_deref() {
                    self.vars(vars);
                    self.loops.extend(vars.declarators.iter().map(|d| d.name.clone()));
                }
                cond.iter().for_each(|c| self.compared(c));
                self.stmt(body);
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.compared(cond);
                self.stmt(body);
            }
            _ => {}
        }
    }

    fn vars(&mut self, vars: &ast::VarDecl) {
        for d in &vars.declarators {
            if let Some(Initializer::Expr(e)) = &d.init {
                let axes = self.axes_of(e);
                self.axes.insert(d.name.clone(), axes);
                self.compared(e);
            }
        }
    }

    fn assigned(&mut self, e: &ast::Expr) {
        self.compared(e);
        if let ExprKind::Assign { target, value, .. } = &*e.kind
            && let ExprKind::Path(p) = &*target.kind
            && let Some(name) = p.as_name()
        {
            let axes = self.axes_of(value);
            let known = self.axes.entry(name.to_string()).or_default();
            (0..3).for_each(|i| known[i] |= axes[i]);
        }
    }

    fn axes_of(&self, e: &ast::Expr) -> [bool; 3] {
        let text = self.sources.text(e.span);
        let mut axes = [false; 3];
        for (i, axis) in ["x", "y", "z"].iter().enumerate() {
            axes[i] = text.contains(&format!("threadIdx.{axis}"))
                || text.contains(&format!("blockIdx.{axis}"));
        }
        for name in scope::names(text) {
            if let Some(more) = self.axes.get(&name) {
                (0..3).for_each(|i| axes[i] |= more[i]);
            }
        }
        axes
    }

    /// Comparisons anywhere in an expression.
    fn compared(&mut self, e: &ast::Expr) {
        let mut pairs = vec![];
        walk::expr(e, &mut |e| match &*e.kind {
            ExprKind::Binary { op, left, right }
                if matches!(op.as_str(), "<" | "<=" | ">" | ">=" | "==" | "!=") =>
            {
                pairs.push((left.clone(), right.clone()));
                pairs.push((right.clone(), left.clone()));
            }
            ExprKind::Call { callee, args } if args.len() == 2 => {
                let name = self.sources.text(callee.span);
                if matches!(name.trim_start_matches("std::"), "min" | "max") {
                    pairs.push((args[0].clone(), args[1].clone()));
                    pairs.push((args[1].clone(), args[0].clone()));
                }
            }
            _ => {}
        });
        for (position, bound) in pairs {
            self.bounds(&position, &bound);
        }
    }

    fn bounds(&mut self, position: &ast::Expr, bound: &ast::Expr) {
        let names = scope::names(self.sources.text(bound.span));
        let axes = self.axes_of(position);
        let count = axes.iter().filter(|a| **a).count();
        let loops =
            scope::names(self.sources.text(position.span)).iter().any(|n| self.loops.contains(n));
        for name in names.iter().filter(|n| self.params.contains(n) && !self.axes.contains_key(*n))
        {
            let role = self.usage.roles.entry(name.clone()).or_default();
            match count {
                0 => role.depth |= loops,
                1 => (0..3).for_each(|i| role.axes[i] |= axes[i]),
                _ => (0..3).for_each(|i| role.product[i] |= axes[i]),
            }
        }
    }
}

/// How sizes lie to the blocks that cover them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The last block of an axis is cut off.
    Ragged(u32),
    /// Blocks cover the sizes exactly.
    Exact,
    /// The last block of an axis has one position.
    Single,
    /// There are more blocks than the sizes need, by the halo of overlapping blocks.
    Overlapping(u32),
}

/// What a launch is made from.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    pub usage: &'a Usage,
    pub extents: &'a [Extent; 3],
    /// Integer parameters of the kernel, in order.
    pub parameters: &'a [String],
    /// Values that the user gives.
    pub pinned: &'a BTreeMap<String, i64>,
    pub grid: Option<[u32; 3]>,
}

/// The launch of a block shape, some blocks a side, and a fit. `None` when constants tie extents that differ.
pub fn launch(wanted: &Wanted<'_>, block: [u32; 3], blocks: u32, fit: Fit) -> Option<Launch> {
    let mut constants: Vec<(String, i64)> = vec![];
    for (extent, size) in wanted.extents.iter().zip(block) {
        match extent {
            Extent::Free => {}
            Extent::Number(n) if *n == size => {}
            Extent::Number(_) => return None,
            Extent::Constant(name) => match constants.iter().find(|(n, _)| n == name) {
                Some((_, v)) if *v != i64::from(size) => return None,
                Some(_) => {}
                None => constants.push((name.clone(), size.into())),
            },
        }
    }
    let mut grid = [1; 3];
    let mut size = [1i64; 3];
    for a in (0..3).filter(|a| wanted.usage.axes[*a]) {
        let count = [blocks + 1, blocks, 2][a];
        let whole = i64::from(block[a] * count);
        (grid[a], size[a]) = match fit {
            Fit::Exact => (count, whole),
            Fit::Single => (count, whole - i64::from(block[a]) + 1),
            Fit::Ragged(by) => {
                let cut = i64::from((by + a as u32).min(block[a].saturating_sub(1)));
                (count, whole - cut)
            }
            Fit::Overlapping(by) => {
                let step = block[a].saturating_sub(by).max(1);
                let size = whole - 1 - a as i64;
                ((size.max(1) as u32).div_ceil(step), size.max(1))
            }
        };
    }
    let integers = integers(wanted, size, blocks);
    let grid = wanted.grid.unwrap_or(grid);
    Some(Launch { block, grid, constants, integers, dynamic_shared: 0 })
}

fn integers(wanted: &Wanted<'_>, size: [i64; 3], blocks: u32) -> BTreeMap<String, i64> {
    let mut used: Vec<i64> = vec![];
    let mut all = BTreeMap::new();
    for name in wanted.parameters {
        if let Some(v) = wanted.pinned.get(name) {
            all.insert(name.clone(), *v);
            continue;
        }
        let role = wanted.usage.roles.get(name).cloned().unwrap_or_default();
        let first = (0..3).find(|a| role.axes[*a]);
        let value = match (first, role.product.contains(&true)) {
            (Some(a), _) => size[a],
            (None, true) => (0..3).filter(|a| role.product[*a]).map(|a| size[a]).product(),
            (None, false) if role.depth => 4 + i64::from(blocks % 3),
            // A row of an array, say.
            (None, false) => size[0],
        };
        let loose = first.is_none() && !role.product.contains(&true);
        let mut value = value;
        while loose && role.depth && used.contains(&value) {
            value += 1;
        }
        used.push(value);
        all.insert(name.clone(), value);
    }
    all
}

/// Small block shapes to profile, most telling first: neither square nor alike, then square, then larger ones.
pub const SMALL: [[u32; 2]; 8] =
    [[5, 4], [4, 6], [6, 6], [8, 4], [4, 8], [8, 8], [16, 4], [16, 16]];
/// The same for kernels of one axis.
pub const SMALL_ROWS: [[u32; 2]; 5] = [[5, 1], [8, 1], [6, 1], [16, 1], [32, 1]];
/// Shapes that people launch, which no profile has seen.
pub const USUAL: [[u32; 2]; 6] = [[16, 16], [32, 8], [64, 8], [96, 4], [128, 4], [32, 4]];
/// The same for kernels of one axis.
pub const USUAL_ROWS: [[u32; 2]; 4] = [[32, 1], [64, 1], [128, 1], [256, 1]];
