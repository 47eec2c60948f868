//! The body of a tiled nest for one thread: every statement for all iterations the thread has.
//!
//! Serial loops that all iterations run alike stay outside; inside them each group of statements that depend on the same
//! tiled counters stands in loops over the thread's iterations. Variables that depend on a tiled counter and live longer
//! than a group are arrays.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, LoopId, LoopKind, Origin, Place, PlaceKind, Scalar, Stmt,
    StmtKind, Type, VarId, visit,
};

use crate::analysis::axes;
use crate::analysis::axes::{Axes, mask_of, spread};
use crate::build::conditions::all_of;
use crate::build::counters;
use crate::build::stmts::{barrier, when};
use crate::kernel::Nest;
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::elements::UseArrays;
use crate::rewrite::register_tile::tile::{Replica, Tile};
use crate::rewrite::register_tile::together::Together;
use crate::rewrite::register_tile::unset::Unset;
use crate::rewrite::share::sharing::{Role, Sharing};
use crate::rewrite::stage::copied::Copy;
use crate::rewrite::stage::strips::Strips;
use crate::rewrite::stream::window::Window;
use crate::walk;

/// What is known of the variables of an iteration.
pub(crate) struct Variables {
    /// The bound loops that a variable depends on.
    pub depends: BTreeMap<VarId, Axes>,
    /// Variables declared before the group that sets them, with the loops they have an element for.
    arrays: BTreeMap<VarId, Axes>,
    /// Variables that excess threads do not set.
    pub unset: Unset,
}

pub(crate) struct Expansion<'r, 'k> {
    pub draft: &'r mut Draft<'k>,
    pub nest: &'r Nest,
    pub tiles: &'r [Tile],
    pub copies: Vec<Copy>,
    pub block_threads: BlockThreads,
    /// Loops with several iterations a thread.
    pub(crate) tiled: Axes,
    pub variables: Variables,
    pub(crate) together: Together,
    /// Copies that are in shared memory where the walk stands.
    pub staged: Vec<usize>,
    pub strips: Strips,
    /// Iterations of tiled loops that a streamed loop around has chosen.
    pub pinned: BTreeMap<usize, Replica>,
    /// What the row of a streamed loop around holds in registers.
    pub windows: Vec<Window>,
    /// Threads of the block that share serial loops.
    pub sharing: Option<Sharing>,
    /// Bound loops whose excess iterations a condition around keeps away from where the walk stands.
    pub(crate) guarded: Axes,
    /// Numbers that loops have in the source, by those of their copies.
    pub originals: BTreeMap<LoopId, LoopId>,
}

/// The threads of a block.
#[derive(Clone, Copy)]
pub(crate) struct BlockThreads {
    /// Variable: the thread's number in the block.
    pub own: VarId,
    pub count: u32,
}

/// Statements that stand in the same loops over the thread's iterations.
#[derive(Default)]
struct Group {
    axes: Axes,
    /// Which threads of a team run it.
    role: Role,
    stmts: Vec<Stmt>,
}

impl<'r, 'k> Expansion<'r, 'k> {
    pub fn new(
        draft: &'r mut Draft<'k>,
        nest: &'r Nest,
        tiles: &'r [Tile],
        copies: Vec<Copy>,
        block_threads: BlockThreads,
        body: &[Stmt],
    ) -> Expansion<'r, 'k> {
        let bit = |k: usize, on: bool| if on { 1 << k } else { 0 };
        let tiled = tiles.iter().enumerate().fold(0, |m, (k, t)| m | bit(k, t.factor > 1));
        let mut depends: BTreeMap<VarId, Axes> =
            tiles.iter().enumerate().map(|(k, t)| (t.source.var, 1 << k)).collect();
        let block = Block::new(body.to_vec());
        spread(&block, &mut depends);
        let together = Together { any: walk::updates(&block), parts: BTreeSet::new() };
        Expansion {
            draft,
            nest,
            tiles,
            copies,
            block_threads,
            tiled,
            variables: Variables { depends, arrays: BTreeMap::new(), unset: Unset::new(block) },
            together,
            staged: vec![],
            strips: Strips::default(),
            pinned: BTreeMap::new(),
            windows: vec![],
            sharing: None,
            guarded: 0,
            originals: BTreeMap::new(),
        }
    }

    /// The number that a loop has in the source.
    pub(crate) fn original(&self, id: LoopId) -> LoopId {
        self.originals.get(&id).copied().unwrap_or(id)
    }

    /// The whole body.
    pub fn kernel(&mut self, body: &Block) -> Vec<Stmt> {
        let mut stmts = vec![];
        let whole: Vec<usize> =
            (0..self.copies.len()).filter(|k| self.copies[*k].stage.strip.is_none()).collect();
        if !whole.is_empty() {
            let filled = whole.iter().any(|k| self.copies[*k].footprint.filled);
            for k in &whole {
                stmts.extend(self.copy(*k));
            }
            if whole.iter().any(|k| self.copies[*k].stage.asynchronous) {
                let wait = [StmtKind::AsyncCommit, StmtKind::AsyncWait(0)];
                stmts.extend(wait.map(|kind| Stmt::new(kind, Origin::default())));
            }
            let there = || barrier("everything is there before anyone reads it");
            stmts.extend(filled.then(there));
            self.staged.extend(whole.iter().copied());
        }
        let inner = self.block(body);
        stmts.extend(self.plain_counters(&inner));
        stmts.extend(inner);
        stmts.extend(self.copied_back(&whole));
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
                self.draft.scope.host.vars[tile.source.var.0 as usize].constant = true;
                let kind = StmtKind::Decl { var: tile.source.var, init: Some(tile.counter(None)) };
                stmts.push(Stmt::new(kind, Origin::default()));
            }
        }
        stmts
    }

    /// The bound loops that a variable depends on.
    pub(crate) fn axes_of_var(&self, var: VarId) -> Axes {
        self.variables.depends.get(&var).copied().unwrap_or(0)
    }

    pub(crate) fn axes_of_expr(&self, e: &Expr) -> Axes {
        mask_of(e, &self.variables.depends)
    }

    fn axes_of(&self, stmt: &Stmt) -> Axes {
        match self.updates_each_time(stmt) {
            true => self.tiled | axes::mentioned(stmt, &self.variables.depends),
            false => axes::mentioned(stmt, &self.variables.depends),
        }
    }

    /// The statements of a block for all of the thread's iterations.
    pub fn block(&mut self, block: &Block) -> Vec<Stmt> {
        let put_together = self.together.any.then(|| self.updated_once(block));
        let block = put_together.as_ref().unwrap_or(block);
        self.choose_arrays(block);
        let mut out = vec![];
        let mut group = Group::default();
        let roles = self.roles(block);
        for (at, stmt) in block.stmts.iter().enumerate() {
            let axes = self.axes_of(stmt) & self.tiled;
            let shared = self.shared_loop(stmt);
            if shared || self.goes_outside(stmt, axes) {
                // What the statement may do depends on what those before it set.
                self.flush(&mut group, &mut out);
            }
            let apart = if shared { self.apart(std::slice::from_ref(stmt), true) } else { None };
            out.extend(apart.clone());
            match self.outside(stmt, axes) {
                Some(stmts) => out.extend(stmts),
                None => {
                    if (group.axes, group.role) != (axes, roles[at]) {
                        self.flush(&mut group, &mut out);
                    }
                    (group.axes, group.role) = (axes, roles[at]);
                    group.stmts.push(stmt.clone());
                }
            }
            if shared {
                self.flush(&mut group, &mut out);
                out.extend(apart);
            }
            if let Some(region) = self.region(stmt) {
                let all = self.needed_by_all(&region, block, at, &roles);
                out.extend(self.combined(&region, all));
            }
        }
        self.flush(&mut group, &mut out);
        out
    }

    /// A statement that goes around the loops over the thread's iterations; `None`: it goes inside.
    fn outside(&mut self, stmt: &Stmt, axes: Axes) -> Option<Vec<Stmt>> {
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
                    return Some(match self.copies[copies[0]].stage.slots {
                        1 => self.strip(l, stmt, &copies),
                        strips => self.pipelined(l, stmt, &copies, strips),
                    });
                }
                let open = self.without_ends(l);
                if open != 0 {
                    return Some(vec![self.guarded_loop(l, stmt, open)]);
                }
                if let Some(along) = self.streamed_along(l)
                    && let Some(stmts) = self.streamed(l, along, stmt)
                {
                    return Some(stmts);
                }
                Some(vec![self.serial_loop(l, stmt)])
            }
            StmtKind::If { cond, then, otherwise } => {
                let ahead = self.strips.ahead.take();
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                self.strips.ahead = ahead;
                let (then, otherwise) = (Block::new(then), Block::new(otherwise));
                Some(vec![same(stmt, StmtKind::If { cond: cond.clone(), then, otherwise })])
            }
            // The array is declared where the variable was.
            StmtKind::Decl { var, .. } => {
                self.variables.unset.declared(*var);
                Some(vec![self.declare_array(*var, &stmt.origin)])
            }
            _ => None,
        }
    }

    /// A loop around the loops over the thread's iterations.
    fn serial_loop(&mut self, l: &ForLoop, stmt: &Stmt) -> Stmt {
        // What stands in an inner loop is not read once for each iteration of the strip.
        let ahead = self.strips.ahead.take();
        let entered = self.entered(l);
        let body = Block::new(self.block(&l.body));
        self.left(entered);
        self.strips.ahead = ahead;
        let kind = match l.kind {
            LoopKind::Unrolled(n) => LoopKind::Unrolled(n),
            _ => LoopKind::Serial,
        };
        same(stmt, StmtKind::For(ForLoop { body, kind, ..l.clone() }))
    }

    /// The same for ends that excess iterations of `open` loops do not have, as those of rows that are read from memory.
    fn guarded_loop(&mut self, l: &ForLoop, stmt: &Stmt, open: Axes) -> Stmt {
        let cond = all_of(self.chosen(open).into_iter().map(|(_, tile)| tile.inside(None)));
        let mut l = l.clone();
        for end in [&mut l.first, &mut l.limit, &mut l.step] {
            self.use_copies_in(end);
        }
        let outside = self.guarded;
        self.guarded |= open;
        let inner = self.serial_loop(&l, stmt);
        self.guarded = outside;
        match cond {
            Some(cond) => when(cond, vec![inner]),
            None => inner,
        }
    }

    /// The copies that are made for each strip of a loop.
    fn copies_at(&self, l: &ForLoop) -> Vec<usize> {
        let here = |k: &usize| self.copies[*k].stage.is_cut_at(l.id);
        (0..self.copies.len()).filter(here).collect()
    }

    fn holds_strip(&self, body: &Block) -> bool {
        let strips = self.copies.iter().filter_map(|c| c.stage.strip);
        strips.into_iter().any(|(id, _)| walk::find_loop(body, id).is_some())
    }

    /// Variables declared in this block that more than one group mentions get a declaration of their own, as arrays
    /// where they depend on tiled counters.
    fn choose_arrays(&mut self, block: &Block) {
        let roles = self.roles(block);
        for (at, stmt) in block.stmts.iter().enumerate() {
            let StmtKind::Decl { var, init } = &stmt.kind else { continue };
            let axes = self.axes_of_var(*var) & self.tiled;
            let own = init.is_some().then(|| (self.axes_of(stmt) & self.tiled, roles[at]));
            let mut together = own.is_some();
            let mut broken = false;
            for (later, role) in block.stmts.iter().zip(&roles).skip(at + 1) {
                let here = self.axes_of(later) & self.tiled;
                let apart = self.shared_loop(later) || self.goes_outside(later, here);
                broken |= apart || Some((here, *role)) != own;
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
                let open = self.without_ends(l);
                let known = open == 0 || open & self.tiled == 0 && !self.meets_inside(l);
                let bounds = bounds.into_iter().fold(0, |m, e| m | self.axes_of_expr(e));
                let alike = bounds & self.tiled == 0
                    && known
                    && walk::leaves(&l.body).is_none()
                    && walk::continues(&l.body).is_none();
                let holds = axes != 0 || self.holds_strip(&l.body) || self.holds_inside(l);
                !self.copies_at(l).is_empty() || alike && holds
            }
            StmtKind::If { cond, .. } => {
                axes != 0 && self.axes_of_expr(cond) == 0 && !walk::reads_memory(cond)
            }
            _ => false,
        }
    }

    /// The bound loops in whose iterations past the end a loop has no ends.
    fn without_ends(&self, l: &ForLoop) -> Axes {
        [&l.first, &l.limit, &l.step].into_iter().fold(0, |open, e| open | self.without_value(e))
    }

    /// Whether threads of the block may have to wait for each other in the body of a loop.
    fn meets_inside(&self, l: &ForLoop) -> bool {
        self.sharing.is_some() || self.holds_strip(&l.body)
    }

    /// The bound loops in whose iterations past the end an expression has no value: it is no sum of counters, and depends on
    /// loops that have such iterations.
    fn without_value(&self, e: &Expr) -> Axes {
        let unfilled = self.chosen(self.axes_of_expr(e)).into_iter().filter(|(_, t)| !t.filled);
        let open = unfilled.fold(0, |axes, (k, _)| axes | 1 << k) & !self.guarded;
        let counter = |v: VarId| self.tiles.iter().any(|t| t.source.var == v);
        let plain = |a: &Atom| match a {
            Atom::Var(v) => counter(*v) || !self.variables.depends.contains_key(v),
            _ => false,
        };
        match Poly::from_expr(e).is_some_and(|p| p.atoms().iter().all(|a| plain(a))) {
            true => 0,
            false => open,
        }
    }

    /// Gives a variable an element for each of the thread's iterations.
    fn make_array(&mut self, var: VarId, axes: Axes) {
        if self.variables.arrays.insert(var, axes).is_some() {
            return;
        }
        let mut ty = self.draft.scope.host.var(var).ty.clone();
        for (_, tile) in self.chosen(axes).into_iter().rev() {
            ty = Type::array(ty, tile.factor.into());
        }
        let extents = self.chosen(axes).into_iter().map(|(_, t)| t.factor_expr.clone()).collect();
        let v = &mut self.draft.scope.host.vars[var.0 as usize];
        v.ty = ty;
        v.shape = (axes != 0).then_some(extents);
        v.constant = false;
    }

    /// A variable has an element for each of the thread's iterations, or is declared before the group that sets it.
    pub(crate) fn is_array(&self, var: VarId) -> bool {
        self.variables.arrays.contains_key(&var)
    }

    fn declare_array(&self, var: VarId, origin: &Origin) -> Stmt {
        Stmt::new(StmtKind::Decl { var, init: None }, origin.by("register_tile"))
    }

    pub(crate) fn chosen(&self, axes: Axes) -> Vec<(usize, &'r Tile)> {
        self.tiles.iter().enumerate().filter(|(k, _)| axes >> k & 1 == 1).collect()
    }

    /// Writes out a group: declarations of its arrays, then the loops over the thread's iterations.
    fn flush(&mut self, group: &mut Group, out: &mut Vec<Stmt>) {
        let group = std::mem::take(group);
        if group.stmts.is_empty() {
            return;
        }
        let apart = match group.role {
            Role::One => self.apart(&group.stmts, false),
            _ => None,
        };
        out.extend(apart.clone());
        self.write_out(group, out);
        out.extend(apart);
    }

    fn write_out(&mut self, group: Group, out: &mut Vec<Stmt>) {
        let Group { axes, role, stmts } = group;
        let alone = role == Role::One;
        let together =
            self.vector_group(&stmts, axes, alone).or_else(|| self.row_group(&stmts, axes, alone));
        if let Some(stmts) = together {
            out.extend(stmts);
            return;
        }
        let replicas = self.replicas(axes);
        let mut body = Block::new(stmts);
        self.use_windows(&mut body, &replicas);
        let fragments = match alone {
            true => vec![],
            false => self.fragments(&body, axes, out),
        };
        self.use_fragments(&mut body, &fragments, &replicas);
        self.use_copies(&mut body, &replicas);
        let guard = self.guard(&body, &replicas);
        let guard = if alone { self.first_member(guard) } else { guard };
        let under = self.needed(&body) | self.guarded;
        self.variables.unset.enter(&body);
        let mut inner = match guard.is_some() && !alone {
            true => self.zeros_first(&body),
            false => vec![],
        };
        self.variables.unset.note(&body, under);
        if guard.is_none() && replicas.is_empty() {
            // Nothing goes around the statements: declarations stay where they are.
            out.extend(body.stmts);
            return;
        }
        let mut own = vec![];
        for stmt in body.stmts {
            match &stmt.kind {
                StmtKind::Decl { var, init } if self.variables.arrays.contains_key(var) => {
                    let mut declaration = self.declare_array(*var, &stmt.origin);
                    declaration.comment = stmt.comment.clone();
                    out.push(declaration);
                    let Some(value) = init.clone() else { continue };
                    let ty = value.ty.clone();
                    let place = Place::new(PlaceKind::Var(*var), ty, stmt.origin.clone());
                    own.push(Stmt::new(StmtKind::Assign { place, value }, stmt.origin));
                }
                _ => own.push(stmt),
            }
        }
        inner.extend(under_condition(guard, own));
        let mut body = Block::new(inner);
        self.use_arrays(&mut body, &replicas);
        out.extend(self.wrapped(body, None, &replicas));
    }

    /// Counters for the thread's iterations of some loops; and those that are chosen already.
    pub(crate) fn replicas(&mut self, axes: Axes) -> BTreeMap<usize, Replica> {
        let mut replicas = self.pinned.clone();
        for (k, tile) in self.chosen(axes) {
            if replicas.contains_key(&k) {
                continue;
            }
            let name = format!("t{}", self.draft.scope.host.var(tile.source.var).name);
            let var = self.draft.scope.local(&name, Type::I32);
            replicas.insert(k, Replica { var, at: None });
        }
        replicas
    }

    /// The loops over the thread's iterations around a group, with its counters and its condition.
    pub(crate) fn wrapped(
        &mut self,
        body: Block,
        guard: Option<Expr>,
        replicas: &BTreeMap<usize, Replica>,
    ) -> Vec<Stmt> {
        let body = Block::new(under_condition(guard, body.stmts));
        let mut mentioned = BTreeSet::new();
        walk::each_var_of_block(&body, &mut |v| _ = mentioned.insert(v));
        let mut stmts = body.stmts;
        let mut counters = vec![];
        let own = |k: &usize| !self.pinned.contains_key(k);
        let replicas: Vec<_> = replicas.iter().filter(|(k, _)| own(k)).collect();
        for (k, replica) in &replicas {
            let tile = &self.tiles[**k];
            let var = tile.source.var;
            if mentioned.contains(&var) {
                let own = self.draft.scope.host.var(var).clone();
                let own = self.draft.scope.host.add_var(own);
                self.draft.scope.host.vars[own.0 as usize].constant = true;
                let mut block = Block::new(stmts);
                visit::rename_vars(&mut block, &mut |v| if v == var { own } else { v });
                stmts = block.stmts;
                let kind = StmtKind::Decl { var: own, init: Some(tile.counter(Some(replica))) };
                counters.push((**k, Stmt::new(kind, Origin::default())));
            }
        }
        for (k, replica) in replicas.into_iter().rev() {
            if let Some(at) = counters.iter().position(|(c, _)| c == k) {
                stmts.insert(0, counters.remove(at).1);
            }
            let l = ForLoop {
                id: self.draft.scope.host.fresh_loop(),
                var: replica.var,
                declares: true,
                first: Expr::i32(0),
                compare: BinaryOp::Lt,
                limit: self.tiles[*k].factor_expr.clone(),
                step: Expr::i32(if replica.at.is_some() { self.tiles[*k].width as i32 } else { 1 }),
                kind: LoopKind::Unrolled(None),
                body: Block::new(stmts),
            };
            stmts = vec![Stmt::new(StmtKind::For(l), Origin::default())];
        }
        stmts
    }

    /// Puts elements in place of variables that became arrays.
    pub(crate) fn use_arrays(&self, body: &mut Block, replicas: &BTreeMap<usize, Replica>) {
        visit::Rewriter::block(&mut self.arrays_rewriter(replicas), body);
    }

    pub(crate) fn arrays_rewriter<'u>(
        &'u self,
        replicas: &'u BTreeMap<usize, Replica>,
    ) -> UseArrays<'u> {
        UseArrays { arrays: &self.variables.arrays, replicas, host: &self.draft.scope.host }
    }
}

/// Statements that run where a condition holds, if there is one.
fn under_condition(guard: Option<Expr>, stmts: Vec<Stmt>) -> Vec<Stmt> {
    match guard {
        Some(cond) => vec![when(cond, stmts)],
        None => stmts,
    }
}

/// A statement in place of another.
fn same(stmt: &Stmt, kind: StmtKind) -> Stmt {
    Stmt { kind, origin: stmt.origin.clone(), comment: stmt.comment.clone() }
}

/// The type of a loop's counter.
pub(crate) fn type_of(draft: &Draft<'_>, l: &ForLoop) -> Scalar {
    counters::counter_type(&draft.scope.host, l)
}
