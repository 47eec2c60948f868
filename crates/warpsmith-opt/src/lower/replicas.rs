//! The body of a tiled nest for one thread: every statement for all iterations the thread has.
//!
//! Serial loops that all iterations run alike stay outside; inside them each group of statements that depend on the same
//! tiled counters stands in loops over the thread's iterations. Variables that depend on a tiled counter and live longer
//! than a group are arrays.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopKind, Origin, Place, PlaceKind, Scalar, Stmt,
    StmtKind, Type, VarId, VarKind, visit,
};

use super::tiled::{Copy, Tile};
use super::{Lowering, index};
use crate::kernel::Nest;
use crate::walk;

/// A set of bound loops, one bit each.
type Axes = u8;

pub(super) struct Replicas<'r, 'k> {
    pub lowering: &'r mut Lowering<'k>,
    pub nest: &'r Nest,
    pub tiles: &'r [Tile],
    pub copies: Vec<Copy>,
    /// Variable: the thread's number in the block.
    pub thread: VarId,
    /// Threads of a block.
    pub threads: u32,
    /// The bound loops that a variable depends on.
    depends: BTreeMap<VarId, Axes>,
    /// Loops with several iterations a thread.
    tiled: Axes,
    /// Variables declared before the group that sets them, with the loops they have an element for.
    arrays: BTreeMap<VarId, Axes>,
    /// Copies that are in shared memory where the walk stands.
    pub staged: Vec<usize>,
    /// For strip loops around: the variable that counts from the start of the strip.
    pub strips: BTreeMap<warpsmith_ir::LoopId, VarId>,
}

/// Statements that stand in the same loops over the thread's iterations.
#[derive(Default)]
struct Group {
    axes: Axes,
    stmts: Vec<Stmt>,
}

impl<'r, 'k> Replicas<'r, 'k> {
    pub fn new(
        lowering: &'r mut Lowering<'k>,
        nest: &'r Nest,
        tiles: &'r [Tile],
        copies: Vec<Copy>,
        thread: VarId,
        threads: u32,
        body: &[Stmt],
    ) -> Replicas<'r, 'k> {
        let bit = |k: usize, on: bool| if on { 1 << k } else { 0 };
        let tiled = tiles.iter().enumerate().fold(0, |m, (k, t)| m | bit(k, t.factor > 1));
        let mut depends: BTreeMap<VarId, Axes> =
            tiles.iter().enumerate().map(|(k, t)| (t.source.var, 1 << k)).collect();
        let block = Block::new(body.to_vec());
        spread(&block, &mut depends);
        let (arrays, staged, strips) = (BTreeMap::new(), vec![], BTreeMap::new());
        Replicas {
            lowering,
            nest,
            tiles,
            copies,
            thread,
            threads,
            depends,
            tiled,
            arrays,
            staged,
            strips,
        }
    }

    /// The whole body.
    pub fn kernel(&mut self, body: &Block) -> Vec<Stmt> {
        let mut stmts = vec![];
        let whole: Vec<usize> =
            (0..self.copies.len()).filter(|k| self.copies[*k].stage.strip.is_none()).collect();
        if !whole.is_empty() {
            for k in &whole {
                stmts.extend(self.copy(*k));
            }
            stmts.push(super::copies::barrier("everything is there before anyone reads it"));
            self.staged.extend(whole);
        }
        let inner = self.block(body);
        stmts.extend(self.plain_counters(&inner));
        stmts.extend(inner);
        stmts
    }

    /// Counters of which a thread has one value.
    fn plain_counters(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let block = Block::new(body.to_vec());
        let mut mentioned = BTreeSet::new();
        walk::each_var_of_block(&block, &mut |v| _ = mentioned.insert(v));
        let mut stmts = vec![];
        for tile in self.tiles.iter().filter(|t| t.factor == 1) {
            if mentioned.contains(&tile.source.var) {
                self.lowering.host.vars[tile.source.var.0 as usize].constant = true;
                let kind = StmtKind::Decl { var: tile.source.var, init: Some(tile.counter(None)) };
                stmts.push(Stmt::new(kind, Origin::default()));
            }
        }
        stmts
    }

    fn axes_of_expr(&self, e: &Expr) -> Axes {
        mask_of(e, &self.depends)
    }

    fn axes_of(&self, stmt: &Stmt) -> Axes {
        mentioned(stmt, &self.depends)
    }

    /// The statements of a block for all of the thread's iterations.
    pub fn block(&mut self, block: &Block) -> Vec<Stmt> {
        self.choose_arrays(block);
        let mut out = vec![];
        let mut group = Group::default();
        for stmt in &block.stmts {
            let axes = self.axes_of(stmt) & self.tiled;
            match self.outside(stmt, axes) {
                Some(stmts) => {
                    self.flush(&mut group, &mut out);
                    out.extend(stmts);
                }
                None => {
                    if group.axes != axes {
                        self.flush(&mut group, &mut out);
                    }
                    group.axes = axes;
                    group.stmts.push(stmt.clone());
                }
            }
        }
        self.flush(&mut group, &mut out);
        out
    }

    /// A statement that goes around the loops over the thread's iterations; `None`: it goes inside.
    fn outside(&mut self, stmt: &Stmt, axes: Axes) -> Option<Vec<Stmt>> {
        let same = |stmt: &Stmt, kind| Stmt {
            kind,
            origin: stmt.origin.clone(),
            comment: stmt.comment.clone(),
        };
        if !self.goes_outside(stmt, axes) {
            return None;
        }
        match &stmt.kind {
            StmtKind::Scope(b) => {
                let inner = self.block(b);
                Some(vec![same(stmt, StmtKind::Scope(Block::new(inner)))])
            }
            StmtKind::For(l) => {
                let copies = self.copies_at(l);
                if !copies.is_empty() {
                    return Some(self.strip(l, stmt, &copies));
                }
                let body = Block::new(self.block(&l.body));
                let kind = match l.kind {
                    LoopKind::Unrolled(n) => LoopKind::Unrolled(n),
                    _ => LoopKind::Serial,
                };
                Some(vec![same(stmt, StmtKind::For(ForLoop { body, kind, ..l.clone() }))])
            }
            StmtKind::If { cond, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                let (then, otherwise) = (Block::new(then), Block::new(otherwise));
                Some(vec![same(stmt, StmtKind::If { cond: cond.clone(), then, otherwise })])
            }
            // The array is declared where the variable was.
            StmtKind::Decl { var, .. } => Some(vec![self.declare_array(*var, &stmt.origin)]),
            _ => None,
        }
    }

    /// The copies that are made for each strip of a loop.
    fn copies_at(&self, l: &ForLoop) -> Vec<usize> {
        let here = |k: &usize| self.copies[*k].stage.strip.is_some_and(|(id, _)| id == l.id);
        (0..self.copies.len()).filter(here).collect()
    }

    fn holds_strip(&self, body: &Block) -> bool {
        let strips = self.copies.iter().filter_map(|c| c.stage.strip);
        strips.into_iter().any(|(id, _)| walk::find_loop(body, id).is_some())
    }

    /// Variables declared in this block that more than one group mentions get a declaration of their own, as arrays
    /// where they depend on tiled counters.
    fn choose_arrays(&mut self, block: &Block) {
        for (at, stmt) in block.stmts.iter().enumerate() {
            let StmtKind::Decl { var, init } = &stmt.kind else { continue };
            let axes = self.depends.get(var).copied().unwrap_or(0) & self.tiled;
            let own = init.is_some().then(|| self.axes_of(stmt) & self.tiled);
            let mut together = own.is_some();
            let mut broken = false;
            for later in &block.stmts[at + 1..] {
                let here = self.axes_of(later) & self.tiled;
                let alone = self.goes_outside(later, here);
                broken |= alone || Some(here) != own;
                let mut mentions = false;
                walk::each_var_of_block(&Block::new(vec![later.clone()]), &mut |v| {
                    mentions |= v == *var
                });
                together &= !(mentions && broken);
            }
            if !together {
                self.make_array(*var, axes);
            }
        }
    }

    /// Whether a statement with these tiled axes goes around the loops over the thread's iterations: all of them run
    /// it alike, and something in it is for each of them.
    fn goes_outside(&self, stmt: &Stmt, axes: Axes) -> bool {
        match &stmt.kind {
            StmtKind::Scope(_) | StmtKind::Decl { init: None, .. } => true,
            StmtKind::For(l) => {
                let bounds = [&l.first, &l.limit, &l.step];
                let bounds = bounds.into_iter().fold(0, |m, e| m | self.axes_of_expr(e));
                let alike = bounds & self.tiled == 0
                    && walk::leaves(&l.body).is_none()
                    && walk::continues(&l.body).is_none();
                !self.copies_at(l).is_empty() || alike && (axes != 0 || self.holds_strip(&l.body))
            }
            StmtKind::If { cond, .. } => {
                axes != 0 && self.axes_of_expr(cond) == 0 && !walk::reads_memory(cond)
            }
            _ => false,
        }
    }

    /// Gives a variable an element for each of the thread's iterations.
    fn make_array(&mut self, var: VarId, axes: Axes) {
        if self.arrays.insert(var, axes).is_some() {
            return;
        }
        let mut ty = self.lowering.host.var(var).ty.clone();
        for (_, tile) in self.chosen(axes).into_iter().rev() {
            ty = Type::array(ty, tile.factor.into());
        }
        let v = &mut self.lowering.host.vars[var.0 as usize];
        v.ty = ty;
        v.constant = false;
    }

    fn declare_array(&self, var: VarId, origin: &Origin) -> Stmt {
        Stmt::new(StmtKind::Decl { var, init: None }, origin.by("register_tile"))
    }

    fn chosen(&self, axes: Axes) -> Vec<(usize, &'r Tile)> {
        self.tiles.iter().enumerate().filter(|(k, _)| axes >> k & 1 == 1).collect()
    }

    /// Writes out a group: declarations of its arrays, then the loops over the thread's iterations.
    fn flush(&mut self, group: &mut Group, out: &mut Vec<Stmt>) {
        let Group { axes, stmts } = std::mem::take(group);
        if stmts.is_empty() {
            return;
        }
        let mut replicas = BTreeMap::new();
        for (k, tile) in self.chosen(axes) {
            let name = format!("t{}", self.lowering.host.var(tile.source.var).name);
            replicas.insert(k, self.lowering.local(&name, Type::I32));
        }
        let mut body = Block::new(stmts);
        self.use_copies(&mut body, &replicas);
        let guard = self.guard(&body, &replicas);
        if guard.is_none() && replicas.is_empty() {
            // Nothing goes around the statements: declarations stay where they are.
            out.extend(body.stmts);
            return;
        }
        let mut inner = vec![];
        for stmt in body.stmts {
            match &stmt.kind {
                StmtKind::Decl { var, init } if self.arrays.contains_key(var) => {
                    out.push(self.declare_array(*var, &stmt.origin));
                    let Some(value) = init.clone() else { continue };
                    let ty = value.ty.clone();
                    let place = Place::new(PlaceKind::Var(*var), ty, stmt.origin.clone());
                    let kind = StmtKind::Assign { place, value };
                    inner.push(Stmt { kind, origin: stmt.origin, comment: stmt.comment });
                }
                _ => inner.push(stmt),
            }
        }
        let mut body = Block::new(inner);
        self.use_arrays(&mut body, &replicas);
        out.extend(self.wrapped(body, guard, &replicas));
    }

    /// The loops over the thread's iterations around a group, with its counters and its condition.
    fn wrapped(
        &mut self,
        body: Block,
        guard: Option<Expr>,
        replicas: &BTreeMap<usize, VarId>,
    ) -> Vec<Stmt> {
        let mut mentioned = BTreeSet::new();
        walk::each_var_of_block(&body, &mut |v| _ = mentioned.insert(v));
        let mut stmts = body.stmts;
        let mut counters = vec![];
        for (k, replica) in replicas {
            let tile = &self.tiles[*k];
            let var = tile.source.var;
            if mentioned.contains(&var) {
                let own = self.lowering.host.var(var).clone();
                let own = self.lowering.host.add_var(own);
                self.lowering.host.vars[own.0 as usize].constant = true;
                let mut block = Block::new(stmts);
                visit::rename_vars(&mut block, &mut |v| if v == var { own } else { v });
                stmts = block.stmts;
                let kind = StmtKind::Decl { var: own, init: Some(tile.counter(Some(*replica))) };
                counters.push((*k, Stmt::new(kind, Origin::default())));
            }
        }
        if let Some(cond) = guard {
            let then = Block::new(stmts);
            let kind = StmtKind::If { cond, then, otherwise: Block::default() };
            stmts = vec![Stmt::new(kind, Origin::default())];
        }
        for (k, replica) in replicas.iter().rev() {
            if let Some(at) = counters.iter().position(|(c, _)| c == k) {
                stmts.insert(0, counters.remove(at).1);
            }
            let l = ForLoop {
                id: self.lowering.host.fresh_loop(),
                var: *replica,
                declares: true,
                first: Expr::i32(0),
                compare: BinaryOp::Lt,
                limit: self.tiles[*k].factor_expr.clone(),
                step: Expr::i32(1),
                kind: LoopKind::Unrolled(None),
                body: Block::new(stmts),
            };
            stmts = vec![Stmt::new(StmtKind::For(l), Origin::default())];
        }
        stmts
    }

    /// Puts elements in place of variables that became arrays.
    fn use_arrays(&self, body: &mut Block, replicas: &BTreeMap<usize, VarId>) {
        struct Use<'u> {
            arrays: &'u BTreeMap<VarId, Axes>,
            replicas: &'u BTreeMap<usize, VarId>,
            host: &'u warpsmith_ir::Function,
        }
        impl visit::Rewriter for Use<'_> {
            fn place(&mut self, place: &mut Place) {
                if let PlaceKind::Var(v) = *place.kind
                    && let Some(axes) = self.arrays.get(&v)
                {
                    let origin = place.origin.clone();
                    let mut at =
                        Place::new(PlaceKind::Var(v), self.host.var(v).ty.clone(), origin.clone());
                    for (k, replica) in self.replicas {
                        if axes >> k & 1 == 1
                            && let Type::Array(element, _) = at.ty.clone()
                        {
                            let index = Expr::var(*replica, Type::I32);
                            let kind = PlaceKind::Index(at, index);
                            at = Place::new(kind, element.as_ref().clone(), origin.clone());
                        }
                    }
                    *place = at;
                    return;
                }
                visit::rewrite_place(self, place);
            }
        }
        let mut rewriter = Use { arrays: &self.arrays, replicas, host: &self.lowering.host };
        visit::Rewriter::block(&mut rewriter, body);
    }

    /// What excess threads must not do: touch memory, divide, call.
    fn guard(&self, body: &Block, replicas: &BTreeMap<usize, VarId>) -> Option<Expr> {
        let (mut reads, mut acts) = (false, false);
        let shared = |p: &Place| {
            p.root_var().is_some_and(|v| {
                matches!(self.lowering.host.var(v).kind, VarKind::Shared | VarKind::Local)
            })
        };
        walk::each_stmt(body, &mut |s| {
            let o = walk::operands(s);
            acts |= o.writes.is_some_and(|p| p.root_var().is_none());
            acts |= matches!(
                s.kind,
                StmtKind::Call { .. } | StmtKind::Assert { .. } | StmtKind::Loop { .. }
            );
            let places = o.writes.into_iter();
            let mut look = |e: &Expr| match &*e.kind {
                ExprKind::Read(p) => reads |= !matches!(&*p.kind, PlaceKind::Var(_)) && !shared(p),
                ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => reads |= e.ty.is_integer(),
                _ => {}
            };
            places.for_each(|p| walk::each_expr_of_place(p, &mut look));
            o.reads.into_iter().for_each(|e| walk::each_expr(e, &mut look));
        });
        if !reads && !acts {
            return None;
        }
        let mut axes: Axes = 0;
        walk::each_var_of_block(body, &mut |v| axes |= self.depends.get(&v).copied().unwrap_or(0));
        let needed = if acts { Axes::MAX } else { axes };
        let chosen = self.chosen(needed).into_iter().filter(|(_, tile)| !tile.filled);
        let conditions = chosen.map(|(k, tile)| tile.inside(replicas.get(&k).copied()));
        conditions.reduce(|a, b| Expr::binary(BinaryOp::LogicalAnd, a, b))
    }
}

fn mask_of(e: &Expr, depends: &BTreeMap<VarId, Axes>) -> Axes {
    let mut axes = 0;
    walk::each_var(e, &mut |v| axes |= depends.get(&v).copied().unwrap_or(0));
    axes
}

/// Adds the variables that depend on those given, and on which bound loops: through values, subscripts and conditions.
pub(crate) fn spread(block: &Block, depends: &mut BTreeMap<VarId, Axes>) {
    loop {
        let before = depends.clone();
        spread_once(block, 0, depends);
        if before == *depends {
            return;
        }
    }
}

fn spread_once(block: &Block, around: Axes, depends: &mut BTreeMap<VarId, Axes>) {
    for stmt in &block.stmts {
        let o = walk::operands(stmt);
        let mut axes = o.reads.iter().fold(around, |m, e| m | mask_of(e, depends));
        if let Some(place) = o.writes {
            walk::each_expr_of_place(place, &mut |e| {
                if let ExprKind::Read(p) = &*e.kind {
                    axes |= p.root_var().and_then(|v| depends.get(&v)).copied().unwrap_or(0);
                }
            });
        }
        let written = o.writes.and_then(Place::root_var);
        for v in o.results.iter().copied().chain(written) {
            if axes != 0 {
                *depends.entry(v).or_default() |= axes;
            }
        }
        let inner = match &stmt.kind {
            StmtKind::Scope(_) => around,
            _ if runs_as_a_whole(stmt, depends) => axes | mentioned(stmt, depends),
            _ => axes,
        };
        walk::blocks(stmt).into_iter().for_each(|b| spread_once(b, inner, depends));
    }
}

/// A statement that each iteration runs by itself, once for each: what it writes then differs between iterations that
/// differ in anything it mentions, be it only in the jump that ended it.
fn runs_as_a_whole(stmt: &Stmt, depends: &BTreeMap<VarId, Axes>) -> bool {
    match &stmt.kind {
        StmtKind::Loop { .. } | StmtKind::Switch { .. } => true,
        StmtKind::For(l) => {
            let bounds = [&l.first, &l.limit, &l.step];
            let differ = bounds.into_iter().any(|e| mask_of(e, depends) != 0);
            differ || walk::leaves(&l.body).is_some() || walk::continues(&l.body).is_some()
        }
        StmtKind::If { cond, .. } => mask_of(cond, depends) != 0 || walk::reads_memory(cond),
        _ => false,
    }
}

/// The bound loops that anything in a statement depends on, statements inside it included.
fn mentioned(stmt: &Stmt, depends: &BTreeMap<VarId, Axes>) -> Axes {
    let mut axes = 0;
    walk::each_var_of_block(&Block::new(vec![stmt.clone()]), &mut |v| {
        axes |= depends.get(&v).copied().unwrap_or(0);
    });
    axes
}

/// `limit` of a loop that counts up by one, exclusive.
pub(super) fn end_of(l: &ForLoop, ty: Scalar) -> Expr {
    match l.compare {
        BinaryOp::Le => Expr::binary(BinaryOp::Add, l.limit.clone(), Expr::int(ty, 1)),
        _ => l.limit.clone(),
    }
}

/// The type of a loop's counter.
pub(super) fn type_of(lowering: &Lowering<'_>, l: &ForLoop) -> Scalar {
    index::counter_type(&lowering.host, l)
}
