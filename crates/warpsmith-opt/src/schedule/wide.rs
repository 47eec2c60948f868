//! Schedules that move data in vectors: contractions by warp tiles with copies that run ahead, and rows of elements.

use std::collections::BTreeSet;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    Axis, DimOrder, ExprKind, ForLoop, Layout, LoopId, PlaceKind, Scalar, SourceMap, StmtKind,
    Type, VarId,
};

use super::candidates::{groups_of, may_have_strip};
use super::{StepKind, take};
use crate::analysis::access::{Access, AccessKind, Base, Scope, View};
use crate::build::vectors::WIDEST;
use crate::facts::Multiples;
use crate::kernel::Kernel;
use crate::rewrite::bounds::Edges;
use crate::rewrite::specialise::Fact;
use crate::rewrite::{
    bind, bounds, constant, double_buffer, pipeline, rasterise, register_tile, specialise, stage,
    unroll, vectorise, warp,
};
use crate::walk;

/// The fewest iterations of a strip.
const SHORT_STRIP: u32 = 8;

/// How a block computes a tile of a contraction.
struct Shape {
    /// Threads along x and y.
    block: [u32; 2],
    /// Iterations of a thread along y and x.
    tile: [u32; 2],
    /// Lanes of a warp along y and x.
    lanes: [u32; 2],
}

const fn shape(block: [u32; 2], tile: [u32; 2], lanes: [u32; 2]) -> Shape {
    Shape { block, tile, lanes }
}

/// Shapes that good kernels use, small blocks first.
const SHAPES: &[Shape] = &[
    shape([16, 8], [4, 4], [8, 4]),
    shape([16, 16], [4, 4], [8, 4]),
    shape([16, 8], [8, 4], [8, 4]),
    shape([8, 8], [8, 8], [8, 4]),
    shape([16, 8], [8, 8], [8, 4]),
    shape([16, 16], [8, 8], [8, 4]),
    shape([32, 8], [8, 8], [8, 4]),
    shape([8, 8], [8, 16], [8, 4]),
    shape([8, 16], [8, 16], [8, 4]),
    shape([16, 8], [8, 16], [8, 4]),
    shape([16, 16], [8, 16], [8, 4]),
];

/// What the templates know of a nest when they ask for wide schedules.
pub(super) struct Nest<'n> {
    pub kernel: &'n Kernel,
    pub root: LoopId,
    pub loops: &'n [String],
    pub axes: &'n [Axis],
    pub kept: &'n [StepKind],
}

impl Nest<'_> {
    pub(super) fn bind(&self, block: [u32; 3]) -> StepKind {
        StepKind::Bind(bind::Args { loops: self.loops.to_vec(), axes: self.axes.to_vec(), block })
    }

    /// The loops bound to y and x, in which the tiles of a product lie; x belongs to the innermost one.
    fn plane(&self) -> Option<[&String; 2]> {
        let y = self.axes.iter().position(|a| *a == Axis::Y)?;
        let on_x = self.axes.last() == Some(&Axis::X);
        on_x.then_some([&self.loops[y], self.loops.last()?])
    }

    /// Elements of the widest arrays that fit an access, from those of the nest.
    pub fn width(&self) -> Option<u32> {
        let bytes =
            self.arrays().iter().filter_map(|v| self.element(*v)).map(Scalar::bytes).max()?;
        [4, 2].into_iter().find(|w| w * bytes <= WIDEST)
    }

    fn element(&self, array: VarId) -> Option<Scalar> {
        self.kernel.func().var(array).ty.pointee().and_then(Type::scalar)
    }

    /// Arrays that the nest accesses, but those it keeps in constant memory: their address is no kernel's business.
    fn arrays(&self) -> Vec<VarId> {
        let mut found = vec![];
        let constant = |v: VarId| {
            let name = self.kernel.name_of(v);
            self.kept.iter().any(
                |s| matches!(s, StepKind::Constant(constant::Args { array }) if *array == name),
            )
        };
        self.each_access(&mut |a| {
            if let Base::Var(v) = a.base
                && self.kernel.func().var(v).ty.is_pointer()
                && !constant(v)
                && !found.contains(&v)
            {
                found.push(v);
            }
        });
        found
    }

    pub fn each_access(&self, f: &mut dyn FnMut(&Access<'_>)) {
        let Some(l) = self.kernel.find_loop(self.root) else { return };
        let around = self.kernel.loops_around(self.root);
        let scope = Scope::new(&self.kernel.module, self.kernel.func(), around, l);
        scope.accesses().iter().for_each(f);
    }

    /// What a kernel must know so that rows of all arrays can be moved in vectors: the lengths of rows, the limits of the
    /// loops that run along them, and the addresses.
    pub fn facts(&self, width: u32, along: &[&ForLoop]) -> Vec<(String, Fact)> {
        let function = self.kernel.func();
        let mut sizes: BTreeSet<VarId> = BTreeSet::new();
        let mut parameters = |e: &warpsmith_ir::Expr| {
            walk::each_var(e, &mut |v| {
                let integer = function.var(v).ty.is_integer();
                if integer && function.params.contains(&v) {
                    sizes.insert(v);
                }
            });
        };
        along.iter().for_each(|l| parameters(&l.limit));
        self.each_access(&mut |a| {
            if let Some(PlaceKind::Elem { dims, .. }) = a.place.map(|p| &*p.kind)
                && let Some(last) = dims.last()
            {
                parameters(last);
            }
        });
        let sizes = sizes.into_iter().map(|v| (v, width));
        let arrays = self.arrays().into_iter();
        let arrays = arrays.filter_map(|v| Some((v, self.element(v)?.bytes() * width)));
        let named = |(v, n): (VarId, u32)| (self.kernel.name_of(v).to_string(), Fact::Multiple(n));
        sizes.chain(arrays).map(named).collect()
    }
}

impl Nest<'_> {
    /// The facts, with the limits of the loops along the tile multiples of it where they are parameters: no guards are
    /// left then.
    fn whole_tiles(
        &self,
        plan: &Plan<'_>,
        along: &[&ForLoop],
        facts: &[(String, Fact)],
    ) -> Vec<(String, Fact)> {
        let extents =
            [plan.s.block[1] * plan.s.tile[0], plan.s.block[0] * plan.s.tile[1], plan.length];
        let mut facts = facts.to_vec();
        for (l, extent) in along.iter().zip(extents) {
            whole(self.kernel, l, extent, &mut facts);
        }
        facts
    }
}

/// Adds that the limit of a bound loop is a multiple, where it is a parameter.
pub(super) fn whole(kernel: &Kernel, l: &ForLoop, extent: u32, facts: &mut Vec<(String, Fact)>) {
    let ExprKind::Read(p) = &*l.limit.kind else { return };
    let Some(name) = p.root_var().map(|v| kernel.name_of(v).to_string()) else { return };
    match facts.iter_mut().find(|(known, _)| *known == name) {
        Some((_, Fact::Multiple(n))) => *n = (*n).max(extent),
        _ => facts.push((name, Fact::Multiple(extent))),
    }
}

/// Contractions: strips of what is staged, computed by warp tiles; `cut` are the arrays, `strip` the loop of their strips;
/// by the first `shapes` shapes.
pub(super) fn products(
    nest: &Nest<'_>,
    state: &Kernel,
    cut: &[String],
    strip: (&str, LoopId),
    shapes: usize,
) -> Vec<Vec<StepKind>> {
    let (Some(width), Some([i, j])) = (nest.width(), nest.plane()) else { return vec![] };
    if cut.is_empty() {
        return vec![];
    }
    let strip_loop: Vec<&ForLoop> = state.find_loop(strip.1).into_iter().collect();
    let inner = [i, j].into_iter().filter_map(|name| state.loop_named(name));
    let along: Vec<&ForLoop> = inner.chain(strip_loop).collect();
    let aligned = nest.facts(width, along.get(1..).unwrap_or_default());
    let cut = &in_order(nest, state, cut, [i, j], strip.1);
    let mut found = vec![];
    let lengths = [SHORT_STRIP, 2 * SHORT_STRIP].into_iter();
    let lengths: Vec<u32> = lengths.filter(|n| may_have_strip(state, strip.1, *n)).collect();
    for s in SHAPES.iter().take(shapes) {
        for length in lengths.iter().copied() {
            let plan = Plan { s, length, width, outer: [i, j], strip, cut };
            let tiled = plan.tiled(nest);
            let mut any_size = tiled.clone();
            any_size.extend(plan.groups());
            any_size.push(plan.lanes());
            any_size.extend(plan.ahead(2));
            found.push(any_size);
            // Where blocks end in the middle: those that do not go without guards, or arrays are padded so that all do.
            if length == SHORT_STRIP && shapes >= SHAPES.len() {
                for edges in [Edges::Peel, Edges::Pad] {
                    let mut steps = tiled.clone();
                    steps.push(StepKind::Bounds(bounds::Args { edges }));
                    steps.extend(plan.groups());
                    steps.push(plan.lanes());
                    steps.extend(plan.ahead(2));
                    found.push(steps);
                }
            }
            let whole = nest.whole_tiles(&plan, &along, &aligned);
            // Measured: copies that do not run ahead are never faster, and three short strips no better than two.
            let stages: &[u32] = if length == SHORT_STRIP { &[2] } else { &[3, 2] };
            for facts in [&aligned, &whole] {
                found.extend(stages.iter().map(|n| plan.in_vectors(nest, facts, *n)));
            }
        }
    }
    found
}

/// A contraction by one shape, for sizes that vectors fit: strips of 16, of which three are in shared memory at a time.
pub(super) fn product(
    nest: &Nest<'_>,
    state: &Kernel,
    cut: &[String],
    strip: (&str, LoopId),
    (block, tile): ([u32; 2], [u32; 2]),
) -> Option<Vec<StepKind>> {
    let (width, [i, j]) = (nest.width()?, nest.plane()?);
    // Parts of a sum may have any length: what runs along a strip is copied word by word.
    let facts = nest.facts(width, &state.loop_named(j).into_iter().collect::<Vec<_>>());
    let s = &Shape { block, tile, lanes: [8, 4] };
    let cut = &in_order(nest, state, cut, [i, j], strip.1);
    let plan = Plan { s, length: 2 * SHORT_STRIP, width, outer: [i, j], strip, cut };
    Some(plan.in_vectors(nest, &facts, 3))
}

/// One way to compute a contraction.
struct Plan<'p> {
    s: &'p Shape,
    /// Iterations of a strip.
    length: u32,
    width: u32,
    /// The loops bound to y and x.
    outer: [&'p String; 2],
    strip: (&'p str, LoopId),
    /// Staged arrays, and the order of their dimensions.
    cut: &'p [(&'p String, DimOrder)],
}

impl Plan<'_> {
    /// Register tiles and stages, which need to know nothing of the sizes.
    fn tiled(&self, nest: &Nest<'_>) -> Vec<StepKind> {
        let mut steps = vec![nest.bind([self.s.block[0], self.s.block[1], 1])];
        steps.extend(nest.kept.iter().cloned());
        for (name, factor) in self.outer.into_iter().zip(self.s.tile) {
            steps.push(StepKind::RegisterTile(register_tile::Args::of(name.clone(), factor)));
        }
        for (array, order) in self.cut.iter().copied() {
            let turned_over = order != DimOrder::Straight;
            steps.push(StepKind::Stage(stage::Args {
                array: array.clone(),
                strip: Some((self.strip.0.to_string(), self.length)),
                layout: Layout {
                    pad: if turned_over { self.width } else { 0 },
                    order,
                    ..Layout::default()
                },
                asynchronous: false,
            }));
        }
        steps.push(StepKind::Unroll(unroll::Args {
            target: self.strip.0.to_string(),
            factor: None,
        }));
        steps
    }

    /// The same for sizes with these facts: rows are moved in vectors, so many strips at a time, blocks take turns in groups.
    fn in_vectors(&self, nest: &Nest<'_>, facts: &[(String, Fact)], stages: u32) -> Vec<StepKind> {
        let mut steps = self.tiled(nest);
        steps.push(StepKind::Specialise(specialise::Args { facts: facts.to_vec() }));
        steps.extend(self.groups());
        steps.extend(self.copies_in_vectors());
        steps.push(self.lanes());
        steps.extend(self.ahead(stages));
        let target = self.outer[0].clone();
        let raster = StepKind::Rasterise(rasterise::Args::of(target, 8));
        steps.extend((nest.loops.len() == 2).then_some(raster));
        steps
    }

    fn groups(&self) -> [StepKind; 2] {
        self.outer
            .map(|l| StepKind::Vectorise(vectorise::Args { target: l.clone(), width: self.width }))
    }

    fn lanes(&self) -> StepKind {
        let loops = self.outer.iter().map(|l| (*l).clone()).collect();
        StepKind::Warp(warp::Args { loops, lanes: self.s.lanes.to_vec() })
    }

    /// Copies strips ahead, of which so many are in shared memory at a time; reads an iteration ahead.
    fn ahead(&self, stages: u32) -> [StepKind; 2] {
        let target = self.strip.0.to_string();
        [
            StepKind::Pipeline(pipeline::Args::of(target.clone(), stages)),
            StepKind::DoubleBuffer(double_buffer::Args::of(target)),
        ]
    }

    fn copies_in_vectors(&self) -> impl Iterator<Item = StepKind> {
        let straight = self.cut.iter().filter(|(_, order)| *order == DimOrder::Straight);
        straight.map(|(array, _)| {
            let target = (*array).clone();
            StepKind::Vectorise(vectorise::Args { target, width: self.width })
        })
    }
}

/// The arrays, each in the order in which what a thread reads for its neighbouring iterations of the `outer` loops lies side by side.
fn in_order<'a>(
    nest: &Nest<'_>,
    state: &Kernel,
    cut: &'a [String],
    outer: [&String; 2],
    strip: LoopId,
) -> Vec<(&'a String, DimOrder)> {
    let strip: Vec<VarId> = state.find_loop(strip).map(|l| l.var).into_iter().collect();
    let outer: Vec<VarId> =
        outer.into_iter().filter_map(|l| state.loop_named(l)).map(|l| l.var).collect();
    let order = |array: &String| {
        let groups = groups_of(state, nest.root, array);
        match groups.first().map_or(&[][..], |(index, _)| index.as_slice()) {
            // Rows run along the strip, so that neighbouring threads want elements a row apart.
            [_, .., last] if moves(last, &strip) => DimOrder::Transposed,
            [first, _, .., last] if moves(first, &outer) && !moves(last, &outer) => {
                DimOrder::Turned
            }
            _ => DimOrder::Straight,
        }
    };
    cut.iter().map(|array| (array, order(array))).collect()
}

fn moves(p: &Poly, counters: &[VarId]) -> bool {
    counters.iter().any(|v| p.mentions(*v))
}

/// Nests that go through rows once: each thread a vector, or several.
pub(super) fn rows(nest: &Nest<'_>, sources: &SourceMap) -> Vec<Vec<StepKind>> {
    let (Some(width), Some(inner)) = (nest.width(), nest.loops.last()) else { return vec![] };
    let Ok(state) = take(nest.kernel, &nest.bind([32, 1, 1]), sources) else { return vec![] };
    let Some(l) = state.kernel.loop_named(inner) else { return vec![] };
    // Groups that lie across two vectors are for schedules that align them.
    let across = Multiples::default().past_multiple(&l.first, width).is_some_and(|past| past > 0);
    if nest.axes.last() != Some(&Axis::X) || across || !stores_rows(nest, l) {
        return vec![];
    }
    let facts = nest.facts(width, &[l]);
    let blocks: &[[u32; 3]] = match nest.loops.len() {
        1 => &[[128, 1, 1], [256, 1, 1], [512, 1, 1]],
        // Narrow ones for short rows.
        _ => &[[8, 32, 1], [16, 16, 1], [32, 4, 1], [32, 8, 1], [64, 4, 1], [256, 1, 1]],
    };
    let (outer, planes) = match nest.loops {
        [outer, _, _] if is_shared_along(nest, outer) || overlaps_along(nest, outer) => {
            (Some(outer), &PLANES[..])
        }
        [outer, _] if overlaps_along(nest, outer) => (Some(outer), &PLANES[..]),
        _ => (None, &PLANES[..1]),
    };
    let way = |block: [u32; 3], groups: u32, planes: u32| {
        let mut steps = vec![nest.bind(block)];
        steps.extend(nest.kept.iter().cloned());
        steps.push(StepKind::Specialise(specialise::Args { facts: facts.clone() }));
        if let (Some(outer), 2..) = (outer, planes) {
            steps.push(StepKind::RegisterTile(register_tile::Args::of(outer.clone(), planes)));
        }
        steps.push(StepKind::RegisterTile(register_tile::Args::of(inner.clone(), width * groups)));
        steps.push(StepKind::Vectorise(vectorise::Args { target: inner.clone(), width }));
        steps
    };
    let mut found = vec![];
    for block in blocks {
        for groups in [1, 2] {
            found.extend(planes.iter().map(|planes| way(*block, groups, *planes)));
        }
    }
    found
}

/// Whether neighbouring iterations of a loop read the same elements: an array is read at several distances from its
/// counter.
pub(super) fn overlaps_along(nest: &Nest<'_>, name: &str) -> bool {
    let Some(counter) = nest.kernel.loop_named(name).map(|l| l.var) else { return false };
    let mut known: Vec<(Base, Poly)> = vec![];
    let mut found = false;
    nest.each_access(&mut |a| {
        let (AccessKind::Read, View::Affine { index, .. }) = (a.kind, &a.view) else { return };
        for p in index.iter().filter(|p| p.mentions(counter)) {
            let apart = |(base, other): &(Base, Poly)| {
                let distance = p.sub(other).and_then(|d| d.as_constant());
                *base == a.base && distance.is_some_and(|d| d != 0)
            };
            found |= known.iter().any(apart);
            known.push((a.base, p.clone()));
        }
    });
    found
}

/// Iterations of a thread along the outermost loop, where they read the same elements.
const PLANES: [u32; 3] = [1, 4, 8];

/// Whether something is read that is the same for all iterations of a loop and not for those of the loops inside.
pub(super) fn is_shared_along(nest: &Nest<'_>, name: &str) -> bool {
    let Some(counter) = nest.kernel.loop_named(name).map(|l| l.var) else { return false };
    let mut found = false;
    nest.each_access(&mut |a| {
        if let (AccessKind::Read, View::Affine { index, .. }) = (a.kind, &a.view) {
            let moves = a.loops.iter().filter(|l| index.iter().any(|p| p.mentions(l.var))).count();
            found |= moves > 2 && !index.iter().any(|p| p.mentions(counter));
        }
    });
    found
}

/// Something is stored with the loop's counter as its last subscript.
pub(super) fn stores_rows(nest: &Nest<'_>, l: &ForLoop) -> bool {
    let mut found = false;
    nest.each_access(&mut |a| {
        if let Some(PlaceKind::Elem { index, .. }) = a.place.map(|p| &*p.kind)
            && let Some(ExprKind::Read(p)) = index.last().map(|e| &*e.kind)
        {
            found |=
                a.kind == AccessKind::Write && matches!(*p.kind, PlaceKind::Var(v) if v == l.var);
        }
    });
    // A step that a value decides would end iterations apart.
    found && !l.body.stmts.iter().any(|s| matches!(s.kind, StmtKind::Continue))
}
