//! The kernel that runs both nests.

use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Block, Expr, ExprKind, ForLoop, LoopKind, MathFn, Origin, Place,
    PlaceKind, Scalar, SourceMap, Stmt, StmtKind, Type, Value, Var, VarId, VarKind,
};

use super::launch::{Grid, end, grid, wide};
use super::pair::{Sweep, Window};
use super::{LegalFuseKernels, elements, launch, turns};
use crate::build::arithmetic::{offset, plus, times};
use crate::build::counters;
use crate::build::stmts::{self, barrier, declare, element_of, looped, set, undefined, when};
use crate::kernel::Kernel;
use crate::rewrite::specialise::general_copy;
use crate::rewrite::{Rewritten, bind, copy, runs};
use crate::walk;

pub(super) fn apply(legal: &LegalFuseKernels<'_>, sources: &SourceMap) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    bind::record(&mut kernel, legal.findings.clone(), sources);
    kernel.numbers.push(legal.shape.slices);
    kernel.numbers.extend((0..legal.pair.rank() - 1).map(|axis| legal.inner(axis)));
    let grid = grid(&mut kernel, legal);
    if let Some(turns) = &legal.turns {
        turns::apply(&mut kernel, legal, turns, &grid);
        return Rewritten::same_loops(kernel);
    }
    let [first, second] = [&legal.pair.first, &legal.pair.second].map(|s| s.root);
    let nest = |id| walk::loop_stmt(&kernel.func().body, id).cloned();
    let nests = Nests { first: nest(first), second: nest(second) };
    let comment = nests.first.as_ref().map(|s| s.comment.clone()).unwrap_or_default();
    let stmt = Stmt { comment, ..fused(&mut kernel, legal, nests, &grid) };
    copy::replace_loop(&mut kernel, second, vec![]);
    copy::replace_loop(&mut kernel, first, vec![stmt]);
    Rewritten::same_loops(kernel)
}

/// The two nests, as statements.
pub(super) struct Nests {
    pub first: Option<Stmt>,
    pub second: Option<Stmt>,
}

impl LegalFuseKernels<'_> {
    /// Iterations of a tile along the thread's axis of this number.
    pub(super) fn inner(&self, axis: usize) -> u32 {
        self.shape.block[axis] - self.pair.window(axis).width()
    }

    /// Whether what the first nest computes is stored: two iterations of a loop around both are followed by another.
    pub(super) fn stores(&self) -> bool {
        self.pair.is_kept && self.turns.is_none()
    }

    /// Planes that a thread has of its own column: those before a group that its iterations read, and the group.
    fn own_planes(&self) -> u32 {
        self.pair.along(0).width() + self.shape.group
    }
}

/// Counters and positions along one of the axes on which threads stand beside each other.
struct Across {
    /// The thread's number in the block, and the iteration that is its own.
    thread: VarId,
    at: VarId,
    window: Window,
    /// Threads of the block, and those of them that have iterations of the second nest.
    threads: Expr,
    inner: u32,
}

struct Maker<'k, 'l> {
    kernel: &'k mut Kernel,
    legal: &'l LegalFuseKernels<'l>,
    grid: &'l Grid,
    /// The innermost loop's axis comes first.
    across: Vec<Across>,
    block: VarId,
    /// Counters of groups of planes, and of the planes of a group; the number of the plane in the block.
    group: VarId,
    of_group: VarId,
    step: VarId,
    /// The first plane of the block, and the plane that the first nest is at.
    begin: VarId,
    plane: VarId,
    /// What the thread has of its own column, and the block of all columns.
    own: VarId,
    planes: Option<VarId>,
}

/// A window of the iteration alone.
const ITSELF: Window = Window { low: 0, high: 0 };

/// The nest of blocks and threads that runs both nests.
pub(super) fn fused(
    kernel: &mut Kernel,
    legal: &LegalFuseKernels<'_>,
    nests: Nests,
    grid: &Grid,
) -> Stmt {
    let origin = nests.first.as_ref().map(|s| s.origin.clone()).unwrap_or_default();
    let mut maker = Maker::new(kernel, legal, grid);
    let text = maker.text(nests);
    Stmt { origin: origin.by("fuse_kernels"), ..maker.around(text) }
}

fn local(kernel: &mut Kernel, name: &str, ty: Type) -> VarId {
    kernel.func_mut().add_var(Var::new(name, ty, VarKind::Local))
}

/// The loop with bounds of its counter's type.
fn with_type(l: ForLoop, ty: &Type) -> ForLoop {
    let ty = ty.scalar().unwrap_or(Scalar::I32);
    ForLoop { first: Expr::int(ty, 0), step: Expr::int(ty, 1), ..l }
}

fn long(n: i64) -> Expr {
    Expr::int(Scalar::I64, n)
}

fn all(conditions: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    conditions.into_iter().reduce(|a, b| Expr::binary(BinaryOp::LogicalAnd, a, b))
}

impl<'k, 'l> Maker<'k, 'l> {
    fn new(kernel: &'k mut Kernel, legal: &'l LegalFuseKernels<'l>, grid: &'l Grid) -> Self {
        let pair = &legal.pair;
        let name = legal.kernel.name_of(pair.array).to_string();
        let names = [("column", "x"), ("row", "y")];
        let sizes = [
            ("TILE_X", "threads of a block along the innermost loop"),
            ("TILE_Y", "and along the one around it"),
        ];
        let mut across = vec![];
        for axis in 0..pair.rank() - 1 {
            let (thread, at) = names[axis];
            let (size, comment) = sizes[axis];
            across.push(Across {
                thread: local(kernel, thread, Type::I32),
                at: local(kernel, at, Type::I64),
                window: pair.window(axis),
                threads: kernel.constant(size, legal.shape.block[axis], comment),
                inner: legal.inner(axis),
            });
        }
        let element = Type::Scalar(pair.element);
        let own = Type::array(element.clone(), legal.own_planes().into());
        let slots = pair.slots(legal.shape.group);
        let planes = (slots > 0).then(|| {
            let rows = across.iter().zip(legal.shape.block).map(|(_, n)| n);
            let plane = rows.fold(element, |ty, n| Type::array(ty, n.into()));
            let ty = Type::array(plane, slots.into());
            kernel.func_mut().add_var(Var::new(format!("{name}_planes"), ty, VarKind::Shared))
        });
        let own = local(kernel, &format!("{name}_own"), own);
        let block = local(kernel, "block", Type::I64);
        let [group, step] = ["group", "step"].map(|n| local(kernel, n, grid.planes.ty.clone()));
        let of_group = local(kernel, "at", Type::I32);
        let [begin, plane] = ["begin", "plane"].map(|n| local(kernel, n, Type::I64));
        Maker {
            kernel,
            legal,
            grid,
            across,
            block,
            group,
            of_group,
            step,
            begin,
            plane,
            own,
            planes,
        }
    }

    fn number(&self, v: VarId) -> Expr {
        Expr::var(v, self.kernel.func().var(v).ty.clone())
    }

    /// Blocks and threads around the text of a thread.
    fn around(&mut self, text: Vec<Stmt>) -> Stmt {
        let mut body = text;
        for (axis, k) in [Axis::X, Axis::Y].into_iter().zip(0..self.across.len()) {
            let (var, limit) = (self.across[k].thread, self.across[k].threads.clone());
            let extent = Some(self.legal.shape.block[k]);
            let function = self.kernel.func_mut();
            body = vec![looped(stmts::bound(
                function,
                var,
                (BindLevel::Block, axis),
                extent,
                limit,
                body,
            ))];
        }
        if let Some(planes) = self.planes {
            let stmt = undefined(planes);
            body.insert(0, stmt.comment("what the first nest computed last, plane by plane"));
        }
        let limit = self.grid.blocks.clone();
        let at = (BindLevel::Grid, Axis::X);
        let l = stmts::bound(self.kernel.func_mut(), self.block, at, None, limit, body);
        looped(with_type(l, &Type::I64))
    }

    /// What a thread does.
    fn text(&mut self, nests: Nests) -> Vec<Stmt> {
        let mut text = self.positions();
        let (first, second) = (&self.legal.pair.first, &self.legal.pair.second);
        let computes = ("computes", self.columns(first, false));
        let finishes = ("finishes", self.columns(second, true));
        let window = self.legal.pair.along(0);
        let behind = (window.high, i64::from(window.width()));
        let computes = self.steps_of(computes, &first.loops[0], (0, 0));
        let finishes = self.steps_of(finishes, &second.loops[0], behind);
        text.extend(computes.1);
        text.extend(finishes.1);
        text.push(undefined(self.own));
        for k in 0..self.legal.own_planes() {
            let zero = Value::int(self.legal.pair.element, 0);
            text.push(set(self.own_at(k.into(), &Expr::i32(0)), Expr::constant(zero)));
        }
        let body = self.of_group(nests, computes.0, finishes.0);
        let border = i64::from(self.legal.pair.along(0).width());
        let steps = offset(self.grid.planes.clone(), border);
        let limit = match self.legal.shape.group {
            1 => steps,
            n => {
                let up = offset(steps, i64::from(n) - 1);
                Expr::binary(BinaryOp::Div, up, self.steps(n.into()))
            }
        };
        let counter = if self.legal.shape.group == 1 { self.step } else { self.group };
        let function = self.kernel.func_mut();
        let l = stmts::counted(function, counter, limit, LoopKind::Serial, body);
        text.push(looped(with_type(l, &self.grid.planes.ty)));
        text
    }

    /// Where the thread's column is, and the block's first plane.
    fn positions(&mut self) -> Vec<Stmt> {
        let mut extents = vec![Expr::i32(1)];
        extents.extend(self.grid.across.iter().rev().cloned());
        let ty = self.grid.across[0].ty.clone();
        let digits = counters::digits(self.number(self.block).cast(ty), &extents);
        let rank = self.legal.pair.rank();
        let mut stmts = vec![];
        for (axis, of) in self.across.iter().enumerate().rev() {
            let depth = rank - 1 - axis;
            let tile = times(digits[depth].clone().cast(Type::I64), long(of.inner.into()));
            let first = self.begins(depth, of.window.low);
            let at = plus(plus(first, tile), self.number(of.thread).cast(Type::I64));
            stmts.push(declare(of.at, at));
        }
        let slice = digits[0].clone().cast(Type::I64);
        let planes = times(slice, self.grid.planes.clone().cast(Type::I64));
        let low = self.legal.pair.along(0).low;
        let begin = plus(self.begins(0, low), planes);
        stmts.push(declare(self.begin, begin));
        stmts
    }

    /// Where the first tile begins along a loop, with its border.
    fn begins(&self, depth: usize, low: i64) -> Expr {
        let first = offset(self.grid.first[depth].clone(), low);
        counters::tidy(self.kernel.func(), first, Scalar::I64)
    }

    /// Whether the thread's column lies in a nest, and in the tile without its border.
    fn columns(&self, sweep: &Sweep, inside: bool) -> Expr {
        let rank = self.legal.pair.rank();
        let mut conditions = vec![];
        for (axis, of) in self.across.iter().enumerate() {
            let l = &sweep.loops[rank - 1 - axis];
            let [first, last] = self.within(l, self.number(of.at), ITSELF);
            // Iterations of tiles come after the first one.
            if !inside || !self.begins_with(l, rank - 1 - axis) {
                conditions.push(first);
            }
            conditions.push(last);
            if inside {
                conditions.extend(self.in_tile(of));
            }
        }
        all(conditions).unwrap_or_else(|| Expr::constant(Value::bool(true)))
    }

    /// The steps at which a thread has iterations of a nest: from the first to before the second number. `late` planes
    /// behind the first nest, and not before the `least` step.
    fn steps_of(
        &mut self,
        (name, columns): (&str, Expr),
        l: &ForLoop,
        (late, least): (i64, i64),
    ) -> ([VarId; 2], Vec<Stmt>) {
        let ty = self.grid.planes.ty.clone();
        let [from, to] = ["from", "to"].map(|end| {
            let mut var = Var::new(format!("{name}_{end}"), ty.clone(), VarKind::Local);
            var.constant = true;
            self.kernel.func_mut().add_var(var)
        });
        let window = self.legal.pair.along(0);
        let (begin, function) = (self.number(self.begin), self.kernel.func());
        let at = |e: Expr| {
            let e = counters::tidy(function, offset(e, late), Scalar::I64);
            Expr::binary(BinaryOp::Sub, e, begin.clone())
        };
        let both = |f: MathFn, a: Expr, b: Expr| {
            Expr::new(ExprKind::Call(f, vec![a, b]), Type::I64, Origin::default())
        };
        let border = i64::from(window.width());
        let first = both(MathFn::Max, at(wide(&l.first)), long(least));
        let all = offset(self.grid.planes.clone().cast(Type::I64), border);
        let last = both(MathFn::Max, both(MathFn::Min, at(end(function, l)), all), long(0));
        let last =
            Expr::new(ExprKind::Select(columns, last, long(0)), Type::I64, Origin::default());
        let stmts = vec![declare(from, first.cast(ty.clone())), declare(to, last.cast(ty))];
        ([from, to], stmts)
    }

    /// The thread has an iteration at this step.
    fn is_at(&self, [from, to]: [VarId; 2]) -> Expr {
        let step = || self.number(self.step);
        let first = Expr::binary(BinaryOp::Ge, step(), self.number(from));
        let last = Expr::binary(BinaryOp::Lt, step(), self.number(to));
        Expr::binary(BinaryOp::LogicalAnd, first, last)
    }

    /// The tiles begin with the first iteration of a loop.
    fn begins_with(&self, l: &ForLoop, depth: usize) -> bool {
        launch::apart(&self.grid.first[depth], &wide(&l.first)) == Some(0)
    }

    /// The thread is none of the tile's border.
    fn in_tile(&self, of: &Across) -> Vec<Expr> {
        let thread = || self.number(of.thread);
        let low = Expr::binary(BinaryOp::Ge, thread(), Expr::i32(-of.window.low as i32));
        let high = offset(of.threads.clone(), -of.window.high);
        let high = Expr::binary(BinaryOp::Lt, thread(), high);
        let wanted = [(of.window.low != 0, low), (of.window.high != 0, high)];
        wanted.into_iter().filter(|(wanted, _)| *wanted).map(|(_, e)| e).collect()
    }

    /// A position lies in the range of a loop, made larger by a window.
    fn within(&self, l: &ForLoop, at: Expr, window: Window) -> [Expr; 2] {
        let function = self.kernel.func();
        let first = counters::tidy(function, offset(wide(&l.first), window.low), Scalar::I64);
        let end = counters::tidy(function, offset(end(function, l), window.high), Scalar::I64);
        [Expr::binary(BinaryOp::Ge, at.clone(), first), Expr::binary(BinaryOp::Lt, at, end)]
    }

    /// A group of planes of the first nest, and one of the second.
    fn of_group(&mut self, nests: Nests, computes: [VarId; 2], finishes: [VarId; 2]) -> Vec<Stmt> {
        let group = self.legal.shape.group;
        let mut stmts = if group == 1 { vec![self.plane()] } else { vec![] };
        for k in 0..self.legal.pair.along(0).width() {
            let next = Expr::read(self.own_at(k.into(), &Expr::i32(group as i32)));
            stmts.push(set(self.own_at(k.into(), &Expr::i32(0)), next));
        }
        let first = self.first(nests.first, computes);
        stmts.extend(self.each_plane(first));
        if self.planes.is_some() {
            stmts.push(barrier(if group == 1 {
                "the plane is whole"
            } else {
                "the planes are whole"
            }));
        }
        let second = self.second(nests.second, finishes);
        stmts.extend(self.each_plane(second));
        stmts
    }

    /// What is done for a plane, for all of the group.
    fn each_plane(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let group = self.legal.shape.group;
        if group == 1 {
            return body;
        }
        let before = times(self.number(self.group), self.steps(group.into()));
        let of_group = self.number(self.of_group).cast(self.grid.planes.ty.clone());
        let mut stmts = vec![declare(self.step, plus(before, of_group)), self.plane()];
        stmts.extend(body);
        let counter = self.of_group;
        vec![stmts::unrolled(self.kernel.func_mut(), counter, group, stmts)]
    }

    fn plane(&self) -> Stmt {
        let step = self.number(self.step).cast(Type::I64);
        declare(self.plane, plus(self.number(self.begin), step))
    }

    /// Which plane of the group it is.
    fn at(&self) -> Expr {
        if self.legal.shape.group == 1 { Expr::i32(0) } else { self.number(self.of_group) }
    }

    /// A number of the type of steps.
    fn steps(&self, n: i64) -> Expr {
        Expr::int(self.grid.planes.ty.scalar().unwrap_or(Scalar::I32), n)
    }

    /// What the thread has of a plane of its column, behind a number of others.
    fn own_at(&self, plane: i64, behind: &Expr) -> Place {
        let at = match behind.as_const() {
            Some(n) => Expr::i32((n.as_i64() + plane) as i32),
            None => offset(behind.clone(), plane),
        };
        element_of(self.kernel.func(), self.own, at)
    }

    /// What the block has of a plane, at distances from the iteration of the second nest; the newest is the window's last.
    fn shared_at(&self, plane: i64, beside: &[i64]) -> Place {
        let Some(var) = self.planes else { return self.own_at(0, &self.at()) };
        let back = plane - self.legal.pair.along(0).high;
        let slots = self.steps(self.legal.pair.slots(self.legal.shape.group).into());
        let slot = Expr::binary(BinaryOp::Rem, offset(self.number(self.step), back), slots);
        let columns = self
            .across
            .iter()
            .rev()
            .enumerate()
            .map(|(k, of)| offset(self.number(of.thread), beside.get(k).copied().unwrap_or(0)));
        let mut ty = self.kernel.func().var(var).ty.clone();
        let mut place = Place::var(var, ty.clone());
        for index in [slot].into_iter().chain(columns) {
            ty = match ty {
                Type::Array(element, _) => (*element).clone(),
                other => other,
            };
            place = Place::new(PlaceKind::Index(place, index), ty.clone(), Origin::default());
        }
        place
    }

    /// Declarations of a nest's counters at a plane and the thread's column.
    fn counters(&self, loops: &[ForLoop], plane: Expr) -> Vec<Stmt> {
        let across = self.across.iter().rev().map(|of| self.number(of.at));
        let positions = [plane].into_iter().chain(across);
        let counter = |(l, at): (&ForLoop, Expr)| {
            declare(l.var, at.cast(self.kernel.func().var(l.var).ty.clone()))
        };
        loops.iter().zip(positions).map(counter).collect()
    }

    /// The first nest's iteration, or what the array has where it has none.
    fn first(&mut self, nest: Option<Stmt>, computes: [VarId; 2]) -> Vec<Stmt> {
        let pair = &self.legal.pair;
        let window = pair.along(0);
        let newest = self.own_at(window.high - window.low, &self.at());
        let Some(loops) = nest.map(|s| self.loops_of(&s)) else { return vec![] };
        let mut body = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        self.keep(&mut body, &newest);
        let mut inside = self.counters(&loops, self.number(self.plane));
        inside.extend(elements::by_distance(self.kernel, &loops, &mut body));
        inside.extend(body.stmts);
        let mut inside = Block::new(inside);
        runs::drop_unread(&mut inside);
        let cond = self.is_at(computes);
        let otherwise = self.stale(&newest);
        let kind = StmtKind::If { cond, then: inside, otherwise };
        let mut stmts = vec![Stmt::new(kind, Origin::default()).comment("the first nest")];
        if self.planes.is_some() {
            stmts.push(set(self.shared_at(window.high, &[]), Expr::read(newest)));
        }
        stmts
    }

    /// The value that is stored goes to a variable, and on to the array by the thread whose column it is.
    fn keep(&self, body: &mut Block, newest: &Place) {
        let mut stmts = vec![];
        for stmt in std::mem::take(&mut body.stmts) {
            match stmt.kind {
                StmtKind::Assign { place, value } if place.root_var().is_none() => {
                    stmts.push(Stmt {
                        kind: set(newest.clone(), value).kind,
                        ..Stmt::new(StmtKind::Scope(Block::default()), stmt.origin.clone())
                    });
                    if self.legal.stores() {
                        stmts.push(self.stored(place, newest));
                    }
                }
                _ => stmts.push(stmt),
            }
        }
        body.stmts = stmts;
    }

    fn stored(&self, place: Place, newest: &Place) -> Stmt {
        let window = self.legal.pair.along(0);
        let step = || self.number(self.step);
        let mut conditions: Vec<Expr> =
            self.across.iter().flat_map(|of| self.in_tile(of)).collect();
        if window.low != 0 {
            conditions.push(Expr::binary(BinaryOp::Ge, step(), self.steps(-window.low)));
        }
        if window.high != 0 || self.legal.shape.group > 1 {
            let last = offset(self.grid.planes.clone(), -window.low);
            conditions.push(Expr::binary(BinaryOp::Lt, step(), last));
        }
        let store = set(place, Expr::read(newest.clone()));
        match all(conditions) {
            Some(cond) => when(cond, vec![store]),
            None => store,
        }
    }

    /// What the array has where the second nest reads and the first one has no iteration.
    fn stale(&self, newest: &Place) -> Block {
        let pair = &self.legal.pair;
        let (a, b) = (&pair.first.loops, &pair.second.loops);
        let function = self.kernel.func();
        let covers = (0..pair.rank()).all(|depth| {
            let (a, b, window) = (&a[depth], &b[depth], pair.along(depth));
            let low = launch::apart(&wide(&a.first), &wide(&b.first));
            let high = launch::apart(&end(function, b), &end(function, a));
            low.is_some_and(|n| n + i128::from(window.low) >= 0)
                && high.is_some_and(|n| n - i128::from(window.high) >= 0)
        });
        if covers {
            return Block::default();
        }
        let rank = pair.rank();
        let mut conditions = vec![];
        let mut index = vec![];
        for depth in 0..rank {
            let at = match depth {
                0 => self.number(self.plane),
                _ => self.number(self.across[rank - 1 - depth].at),
            };
            conditions.extend(self.within(&b[depth], at.clone(), pair.along(depth)));
            index.push(offset(at, pair.stored_at[depth]));
        }
        let var = function.var(pair.array);
        let dims = var.shape.as_deref().and_then(|s| s.get(1..)).unwrap_or_default().to_vec();
        let pointer = Expr::var(pair.array, var.ty.clone());
        let kind = PlaceKind::Elem { pointer, index, dims };
        let element = Place::new(kind, Type::Scalar(pair.element), Origin::default());
        let load = set(newest.clone(), Expr::read(element));
        Block::new(match all(conditions) {
            Some(cond) => vec![when(cond, vec![load])],
            None => vec![load],
        })
    }

    /// The second nest's iteration, as far behind as it reads ahead.
    fn second(&mut self, nest: Option<Stmt>, finishes: [VarId; 2]) -> Vec<Stmt> {
        let Some(mut nest) = nest else { return vec![] };
        let pair = &self.legal.pair;
        let window = pair.along(0);
        let places = pair.reads.iter().map(|(place, d)| {
            let own = d[1..].iter().all(|n| *n == 0);
            let held = if own {
                self.own_at(d[0] - window.low, &self.at())
            } else {
                self.shared_at(d[0], &d[1..])
            };
            (place.clone(), held)
        });
        let mut held = Held { places: places.collect() };
        let mut block = Block::new(vec![nest]);
        held.block(&mut block);
        nest = block.stmts.remove(0);
        let loops = self.loops_of(&nest);
        let plane = offset(self.number(self.plane), -window.high);
        let mut body = loops.last().map(|l| l.body.clone()).unwrap_or_default();
        let mut inside = self.counters(&loops, plane);
        inside.extend(elements::by_distance(self.kernel, &loops, &mut body));
        inside.extend(body.stmts);
        let mut inside = Block::new(inside);
        runs::drop_unread(&mut inside);
        let cond = self.is_at(finishes);
        vec![when(cond, inside.stmts).comment("the second nest")]
    }

    /// The loops of a nest once more, with loops and variables of their own.
    fn loops_of(&mut self, nest: &Stmt) -> Vec<ForLoop> {
        let (copied, ..) = general_copy(self.kernel, nest);
        let mut block = Block::new(vec![copied]);
        let mut outside = vec![];
        walk::each_stmt(&block, &mut |s| {
            if let StmtKind::For(l) = &s.kind
                && !l.declares
            {
                outside.push(l.var);
            }
        });
        for v in outside {
            let var = Var { kind: VarKind::Local, ..self.kernel.func().var(v).clone() };
            let own = self.kernel.func_mut().add_var(var);
            visit::rename_vars(&mut block, &mut |w| if w == v { own } else { w });
        }
        declare_counters(&mut block);
        let outermost = match block.stmts.first().map(|s| &s.kind) {
            Some(StmtKind::For(l)) => Some(l.clone()),
            _ => None,
        };
        let inner = |l: &ForLoop| crate::kernel::only_loop(&l.body).cloned();
        std::iter::successors(outermost, inner).take(self.legal.pair.rank()).collect()
    }
}

fn declare_counters(block: &mut Block) {
    for stmt in &mut block.stmts {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.declares = true;
        }
        walk::blocks_mut(stmt).into_iter().for_each(declare_counters);
    }
}

/// Puts what threads and blocks hold in the place of elements of the array.
struct Held {
    places: Vec<(Place, Place)>,
}

impl Rewriter for Held {
    fn place(&mut self, place: &mut Place) {
        match self.places.iter().find(|(from, _)| from == place) {
            Some((_, to)) => *place = to.clone(),
            None => visit::rewrite_place(self, place),
        }
    }
}
