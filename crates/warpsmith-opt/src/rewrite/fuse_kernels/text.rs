//! The kernel that runs both nests.

use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Expr, ExprKind, ForLoop, LoopKind, MathFn, Origin, Place, Scalar,
    Stmt, Type, Value, Var, VarId, VarKind,
};

use super::launch::Grid;
use super::pair::{Pair, Sweep, Window};
use super::{LegalFuseKernels, launch};
use crate::build::arithmetic::{offset, plus, times};
use crate::build::conditions::{all_of, select};
use crate::build::counters;
use crate::build::stmts::{self, barrier, declare, element_at, element_of, looped, set, undefined};
use crate::kernel::Kernel;
use crate::walk;

/// The two nests, as statements.
#[derive(Clone)]
pub(super) struct Nests {
    pub first: Stmt,
    pub second: Stmt,
    /// An array that they read, and another one that stands in its place.
    pub copy: Option<[VarId; 2]>,
}

impl Nests {
    /// As they stand in the function.
    pub fn of(kernel: &Kernel, pair: &Pair) -> Option<Nests> {
        let nest = |sweep: &Sweep| walk::loop_stmt(&kernel.func().body, sweep.root).cloned();
        Some(Nests { first: nest(&pair.first)?, second: nest(&pair.second)?, copy: None })
    }
}

impl LegalFuseKernels<'_> {
    /// Elements of a tile along the thread's axis of this number, its border included.
    pub(super) fn extent(&self, axis: usize) -> u32 {
        self.shape.block[axis] * self.shape.each(axis)
    }

    /// Iterations of a tile along the thread's axis of this number.
    pub(super) fn inner(&self, axis: usize) -> u32 {
        self.extent(axis) - self.border(axis).width()
    }

    /// What a tile has around its iterations along the thread's axis of this number.
    pub(super) fn border(&self, axis: usize) -> Window {
        match &self.ring {
            Some(ring) => ring.border(&self.pair, axis),
            None => self.pair.window(axis),
        }
    }

    /// Whether what the first nest computes is stored: two iterations of a loop around both are followed by another.
    pub(super) fn stores(&self) -> bool {
        self.pair.is_kept && self.turns.is_none()
    }

    /// Planes that a thread has of its own column: those before a group that its iterations read, and the group.
    fn own_planes(&self) -> u32 {
        match &self.ring {
            Some(_) => (self.pair.behind() - self.pair.along(0).low) as u32 + 1,
            None => self.pair.along(0).width() + self.shape.group,
        }
    }

    /// Planes of what the first nest computes that are in shared memory.
    fn slots(&self) -> u32 {
        match &self.ring {
            Some(_) => self.pair.ring_slots(),
            None => self.pair.slots(self.shape.group),
        }
    }
}

/// Counters and positions along one of the axes on which threads stand beside each other.
pub(super) struct Across {
    /// The thread's number in the block, and the iteration that is its own, or the first of them.
    pub(super) thread: VarId,
    pub(super) at: VarId,
    window: Window,
    /// Threads of the block, and those of them that have iterations of the second nest.
    threads: Expr,
    inner: u32,
}

pub(super) struct Maker<'k, 'l> {
    pub(super) kernel: &'k mut Kernel,
    pub(super) legal: &'l LegalFuseKernels<'l>,
    pub(super) grid: &'l Grid,
    /// The innermost loop's axis comes first.
    pub(super) across: Vec<Across>,
    block: VarId,
    /// Counters of groups of planes, and of the planes of a group; the number of the plane in the block.
    group: VarId,
    of_group: VarId,
    pub(super) step: VarId,
    /// The first plane of the block, and the plane that the first nest is at.
    pub(super) begin: VarId,
    pub(super) plane: VarId,
    /// What the thread has of its own column, and the block of all columns.
    pub(super) own: VarId,
    pub(super) planes: Option<VarId>,
    /// Neighbours along the innermost loop move together.
    pub(super) vectors: bool,
    /// All arrays in shared memory.
    pub(super) shared: Vec<VarId>,
}

/// A window of the iteration alone.
pub(super) const ITSELF: Window = Window { low: 0, high: 0 };

/// The nest of blocks and threads that runs both nests, with vectors where each thread has several elements and they lie at
/// multiples of their length.
pub(super) fn fused(
    kernel: &mut Kernel,
    legal: &LegalFuseKernels<'_>,
    nests: Nests,
    grid: &Grid,
    vectors: bool,
) -> Stmt {
    let origin = nests.first.origin.by("fuse_kernels");
    let mut maker = Maker { vectors, ..Maker::new(kernel, legal, grid) };
    let text = match &legal.ring {
        Some(ring) => maker.ring(ring, nests),
        None => maker.text(nests),
    };
    Stmt { origin, ..maker.around(text) }
}

/// The loop with bounds of its counter's type.
pub(super) fn with_type(l: ForLoop, ty: &Type) -> ForLoop {
    let ty = ty.scalar().unwrap_or(Scalar::I32);
    ForLoop { first: Expr::int(ty, 0), step: Expr::int(ty, 1), ..l }
}

fn long(n: i64) -> Expr {
    Expr::int(Scalar::I64, n)
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
                thread: stmts::local(kernel.func_mut(), thread, Type::I32),
                at: stmts::local(kernel.func_mut(), at, legal.place_type()),
                window: legal.border(axis),
                threads: kernel.constant(size, legal.shape.block[axis], comment),
                inner: legal.inner(axis),
            });
        }
        let element = Type::Scalar(pair.element);
        let plane = |extent: &dyn Fn(usize) -> u32| {
            let axes = 0..across.len();
            axes.fold(element.clone(), |ty, axis| Type::array(ty, extent(axis).into()))
        };
        let of_thread = match &legal.ring {
            Some(_) => plane(&|axis| legal.shape.each(axis)),
            None => element.clone(),
        };
        let own = Type::array(of_thread, legal.own_planes().into());
        let slots = legal.slots();
        let planes = (slots > 0).then(|| {
            let ty = Type::array(plane(&|axis| legal.extent(axis)), slots.into());
            kernel.func_mut().add_var(Var::new(format!("{name}_planes"), ty, VarKind::Shared))
        });
        let own = stmts::local(kernel.func_mut(), &format!("{name}_own"), own);
        let block = stmts::local(kernel.func_mut(), "block", Type::I64);
        let [group, step] =
            ["group", "step"].map(|n| stmts::local(kernel.func_mut(), n, grid.planes.ty.clone()));
        let of_group = stmts::local(kernel.func_mut(), "at", Type::I32);
        let [begin, plane] =
            ["begin", "plane"].map(|n| stmts::local(kernel.func_mut(), n, Type::I64));
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
            vectors: true,
            shared: planes.into_iter().collect(),
        }
    }

    pub(super) fn number(&self, v: VarId) -> Expr {
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
        for var in &self.shared {
            let comment = match self.planes {
                Some(planes) if planes == *var => {
                    "what the first nest computed last, plane by plane"
                }
                _ => "what it reads, plane by plane",
            };
            body.insert(0, undefined(*var).comment(comment));
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
        let computes = ("computes", Some(self.columns(first, false)));
        let finishes = ("finishes", Some(self.columns(second, true)));
        let window = self.legal.pair.along(0);
        let most = i64::from(window.width());
        let computes = self.steps_of(computes, &first.loops[0], [0, 0, most]);
        let finishes = self.steps_of(finishes, &second.loops[0], [window.high, most, most]);
        text.extend(computes.1);
        text.extend(finishes.1);
        text.push(undefined(self.own));
        for k in 0..self.legal.own_planes() {
            let zero = Value::int(self.legal.pair.element, 0);
            text.push(set(self.own_at(k.into(), &Expr::i32(0)), Expr::constant(zero)));
        }
        let body = self.of_group(nests, computes.0, finishes.0);
        let steps = offset(self.grid.planes.clone(), most);
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
    pub(super) fn positions(&mut self) -> Vec<Stmt> {
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
            let each = long(self.legal.shape.each(axis).into());
            let own = times(self.number(of.thread).cast(Type::I64), each);
            let at = plus(plus(first, tile), own);
            stmts.push(declare(of.at, at.cast(self.legal.place_type())));
        }
        let slice = digits[0].clone().cast(Type::I64);
        let planes = times(slice, self.grid.planes.clone().cast(Type::I64));
        let before = self.legal.ring.as_ref().map_or(0, |ring| ring.reads.along(0).low);
        let low = self.legal.pair.along(0).low + before;
        let begin = plus(self.begins(0, low), planes);
        stmts.push(declare(self.begin, begin));
        stmts
    }

    /// Where the first tile begins along a loop, with its border.
    pub(super) fn begins(&self, depth: usize, low: i64) -> Expr {
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
        all_of(conditions).unwrap_or_else(|| Expr::constant(Value::bool(true)))
    }

    /// The steps at which a thread has iterations of a nest: from the first to before the second number. `late` planes
    /// behind the newest one, not before the `least` step, and `most` steps more than the block has planes at most.
    pub(super) fn steps_of(
        &mut self,
        (name, columns): (&str, Option<Expr>),
        l: &ForLoop,
        [late, least, most]: [i64; 3],
    ) -> ([VarId; 2], Vec<Stmt>) {
        let ty = self.grid.planes.ty.clone();
        let [from, to] = ["from", "to"].map(|end| {
            let mut var = Var::new(format!("{name}_{end}"), ty.clone(), VarKind::Local);
            var.constant = true;
            self.kernel.func_mut().add_var(var)
        });
        let [first, last] = self.range(l, Window { low: late, high: late });
        let from_begin = |e: Expr| Expr::binary(BinaryOp::Sub, e, self.number(self.begin));
        let both = |f: MathFn, a: Expr, b: Expr| {
            Expr::new(ExprKind::Call(f, vec![a, b]), Type::I64, Origin::default())
        };
        let first = both(MathFn::Max, from_begin(first), long(least));
        let all = offset(self.grid.planes.clone().cast(Type::I64), most);
        let last = both(MathFn::Max, both(MathFn::Min, from_begin(last), all), long(0));
        let last = match columns {
            Some(columns) => select(columns, last, long(0)),
            None => last,
        };
        let stmts = vec![declare(from, first.cast(ty.clone())), declare(to, last.cast(ty))];
        ([from, to], stmts)
    }

    /// The thread has an iteration at this step.
    pub(super) fn is_at(&self, [from, to]: [VarId; 2]) -> Expr {
        let step = || self.number(self.step);
        let first = Expr::binary(BinaryOp::Ge, step(), self.number(from));
        let last = Expr::binary(BinaryOp::Lt, step(), self.number(to));
        Expr::binary(BinaryOp::LogicalAnd, first, last)
    }

    /// The tiles begin with the first iteration of a loop.
    fn begins_with(&self, l: &ForLoop, depth: usize) -> bool {
        launch::apart(&self.grid.first[depth], &launch::range(self.kernel.func(), l).0) == Some(0)
    }

    /// The thread is none of the tile's border.
    pub(super) fn in_tile(&self, of: &Across) -> Vec<Expr> {
        let thread = || self.number(of.thread);
        let low = Expr::binary(BinaryOp::Ge, thread(), Expr::i32(-of.window.low as i32));
        let high = offset(of.threads.clone(), -of.window.high);
        let high = Expr::binary(BinaryOp::Lt, thread(), high);
        let wanted = [(of.window.low != 0, low), (of.window.high != 0, high)];
        wanted.into_iter().filter(|(wanted, _)| *wanted).map(|(_, e)| e).collect()
    }

    /// A position lies in the range of a loop, made larger by a window.
    pub(super) fn within(&self, l: &ForLoop, at: Expr, window: Window) -> [Expr; 2] {
        let [first, end] = self.range(l, window);
        [Expr::binary(BinaryOp::Ge, at.clone(), first), Expr::binary(BinaryOp::Lt, at, end)]
    }

    /// The first number of a loop and the first past it, each moved by an end of a window.
    fn range(&self, l: &ForLoop, window: Window) -> [Expr; 2] {
        let function = self.kernel.func();
        let (first, end) = launch::range(function, l);
        let moved = [offset(first, window.low), offset(end, window.high)];
        moved.map(|e| counters::tidy(function, e, Scalar::I64))
    }

    /// A group of planes of the first nest, and one of the second.
    fn of_group(&mut self, nests: Nests, computes: [VarId; 2], finishes: [VarId; 2]) -> Vec<Stmt> {
        let group = self.legal.shape.group;
        let mut stmts = if group == 1 { vec![self.plane()] } else { vec![] };
        for k in 0..self.legal.pair.along(0).width() {
            let next = Expr::read(self.own_at(k.into(), &Expr::i32(group as i32)));
            stmts.push(set(self.own_at(k.into(), &Expr::i32(0)), next));
        }
        let first = self.first(&nests.first, computes);
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
    pub(super) fn at(&self) -> Expr {
        if self.legal.shape.group == 1 { Expr::i32(0) } else { self.number(self.of_group) }
    }

    /// A number of the type of steps.
    pub(super) fn steps(&self, n: i64) -> Expr {
        Expr::int(self.grid.planes.ty.scalar().unwrap_or(Scalar::I32), n)
    }

    /// What the thread has of a plane of its column, behind a number of others.
    pub(super) fn own_at(&self, plane: i64, behind: &Expr) -> Place {
        let at = match behind.as_const() {
            Some(n) => Expr::i32((n.as_i64() + plane) as i32),
            None => offset(behind.clone(), plane),
        };
        element_of(self.kernel.func(), self.own, at)
    }

    /// What the block has of a plane, at distances from the iteration of the second nest; the newest is the window's last.
    pub(super) fn shared_at(&self, plane: i64, beside: &[i64]) -> Place {
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
        element_at(self.kernel.func(), var, [slot].into_iter().chain(columns))
    }
}
