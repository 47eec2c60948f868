//! Copies to shared memory, the strip-mined loops around them, and the reads from there.

use std::collections::BTreeMap;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, LoopId, LoopKind, Origin, Place, PlaceKind, Scalar, Stmt,
    StmtKind, Type, VarId, visit,
};

use crate::analysis::footprint::{Counter, Dim, Footprint};
use crate::analysis::loops::is_even;
use crate::build::arithmetic::offset;
use crate::build::arithmetic::product;
use crate::build::conditions::{all_of, select};
use crate::build::counters;
use crate::build::stmts::barrier;
use crate::build::stmts::{declare, when};
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::expansion::{Expansion, type_of};
use crate::rewrite::register_tile::tile::{Replica, Tile};
use crate::rewrite::stage::strips::Ahead;
use crate::walk;

impl Draft<'_> {
    /// The iterations of a strip of the loop over `counter`, as a named constant.
    pub(crate) fn strip_constant(&mut self, counter: &str, length: u32) -> Expr {
        self.scope.constant(
            &format!("TILE_{}", counter.to_uppercase()),
            length,
            &format!("iterations of `{counter}` whose elements are in shared memory at a time"),
        )
    }

    /// The extents of a footprint, by the names of the constants that they come from.
    pub(crate) fn extents(&mut self, f: &Footprint, tiles: &[Tile]) -> Vec<Expr> {
        let mut extents = vec![];
        for d in &f.dims {
            // Σ |factor| · (count - 1) + distance of the constants + 1, with the named counts apart.
            let mut rest = d.constants.1 - d.constants.0 + 1;
            let mut named: Option<Expr> = None;
            for (c, factor) in &d.terms {
                rest += factor.abs() * (i128::from(c.count()) - 1);
                let Some(count) = self.named_count(c, tiles) else { continue };
                rest -= factor.abs() * i128::from(c.count());
                let size = i64::try_from(factor.abs()).unwrap_or(i64::MAX);
                let term = match size {
                    1 => count,
                    n => Expr::binary(BinaryOp::Mul, Expr::int(Scalar::I32, n), count),
                };
                named = named
                    .into_iter()
                    .chain([term])
                    .reduce(|a, b| Expr::binary(BinaryOp::Add, a, b));
            }
            let rest = i64::try_from(rest).unwrap_or(i64::MAX);
            extents.push(match named {
                None => Expr::int(Scalar::I32, rest),
                Some(e) => offset(e, rest),
            });
        }
        extents
    }

    fn named_count(&mut self, c: &Counter, tiles: &[Tile]) -> Option<Expr> {
        match c {
            Counter::Bound(id, _) => {
                let tile = tiles.iter().find(|t| t.source.id == *id)?;
                Some(tile.extent.clone().cast(Type::I32))
            }
            Counter::Strip(id, n) => {
                let l = self.source.find_loop(*id)?;
                let name = self.scope.host.var(l.var).name.clone();
                Some(self.strip_constant(&name, *n))
            }
            Counter::Constant(..) => None,
        }
    }
}

impl Expansion<'_, '_> {
    /// A serial loop in strips: copies, barrier, the strip's iterations, barrier.
    pub(crate) fn strip(&mut self, l: &ForLoop, stmt: &Stmt, copies: &[usize]) -> Vec<Stmt> {
        let Some((_, length)) = self.copies.get(copies[0]).and_then(|c| c.stage.strip) else {
            return vec![];
        };
        let ty = type_of(self.draft, l);
        let name = self.draft.scope.host.var(l.var).name.clone();
        let size = self.draft.strip_constant(&name, length).cast(Type::Scalar(ty));
        let start = self.draft.scope.local(&format!("{name}_block"), Type::Scalar(ty));
        self.strips.starts.insert(l.id, start);
        let (ends, narrow) = self.narrowed(l, &size);
        let mut body = vec![];
        let filled = copies.iter().any(|k| self.copies[*k].footprint.filled);
        for k in copies {
            body.extend(self.copy(*k));
        }
        body.extend(filled.then(|| barrier("the strip is there before anyone reads it")));
        let before = self.staged.len();
        self.staged.extend(copies);
        let (first, iterations) = self.strip_iterations(l, &size, length, start, true);
        body.extend(first.into_iter().chain(iterations));
        self.staged.truncate(before);
        body.extend(self.copied_back(copies));
        self.strips.starts.remove(&l.id);
        body.push(barrier("everyone has read the strip before the next one takes its place"));
        let strips = self.draft.over_strips(l, narrow, start, size, body);
        let comment = stmt.comment.clone();
        let strips = Stmt { kind: StmtKind::For(strips), origin: stmt.origin.by("stage"), comment };
        let early = copies.iter().map(|k| &self.copies[*k].footprint);
        let early = early.into_iter().any(|f| f.written && f.filled && f.elsewhere);
        let early =
            early.then(|| barrier("what threads wrote before is seen by those that copy it"));
        early.into_iter().chain(ends).chain([strips]).collect()
    }

    /// The iterations of a strip, a constant number but for the last one; and what may be done before anything else. `narrow`: strips
    /// in which no iteration of the block counts are left out already.
    pub(crate) fn strip_iterations(
        &mut self,
        l: &ForLoop,
        size: &Expr,
        length: u32,
        start: VarId,
        narrow: bool,
    ) -> (Vec<Stmt>, Vec<Stmt>) {
        let ty = type_of(self.draft, l);
        let whole = self.draft.fills_blocks(l, self.nest, length.into());
        let inside = self.inside(l, size, start);
        let free = inside.as_ref().map_or(l, |(_, free)| free);
        let (first, full) = self.strip_loop(free, size.clone(), start, ty, true);
        let mut stmts = vec![];
        let mut limit = size.clone();
        let mut conditions: Vec<Expr> = inside.iter().map(|(holds, _)| holds.clone()).collect();
        if !whole {
            let (declare, left) = self.left_of(l, start, ty);
            let shorter = Expr::binary(BinaryOp::Lt, left.clone(), size.clone());
            limit = match inside {
                None => left.clone(),
                Some(_) => select(shorter, left.clone(), size.clone()),
            };
            conditions.push(Expr::binary(BinaryOp::Ge, left, size.clone()));
            stmts.push(declare);
        }
        let Some(cond) = all_of(conditions) else { return (first, vec![full]) };
        let (_, mut partial) = self.strip_loop(l, limit, start, ty, false);
        if inside.is_some()
            && !narrow
            && let Some(cond) = self.not_outside(l, size, start)
        {
            partial = when(cond, vec![partial]);
        }
        let (then, otherwise) = (Block::new(vec![full]), Block::new(vec![partial]));
        let kind = StmtKind::If { cond, then, otherwise };
        let mut split = Stmt::new(kind, Origin::default());
        split.comment.extend(inside.map(|_| "in this strip every iteration counts".to_string()));
        stmts.push(split);
        (first, stmts)
    }

    /// The iterations that are left from the start of a strip on.
    fn left_of(&mut self, l: &ForLoop, start: VarId, ty: Scalar) -> (Stmt, Expr) {
        let name = self.draft.scope.host.var(l.var).name.clone();
        let left = self.draft.scope.local(&format!("{name}_left"), Type::Scalar(ty));
        self.draft.scope.host.vars[left.0 as usize].constant = true;
        let start = Expr::var(start, Type::Scalar(ty));
        let rest = Expr::binary(BinaryOp::Sub, counters::end_of(l, ty), start);
        let declare = declare(left, rest).comment("the last strip may be shorter");
        (declare, Expr::var(left, Type::Scalar(ty)))
    }

    /// Declares a counter with its value before statements that mention it.
    fn counted_as(&mut self, counter: VarId, value: Expr, body: &mut Block) {
        let mut mentioned = false;
        walk::each_var_of_block(body, &mut |v| mentioned |= v == counter);
        if !mentioned {
            return;
        }
        let host = &mut self.draft.scope.host;
        let own = host.add_var(host.var(counter).clone());
        host.vars[own.0 as usize].constant = true;
        visit::rename_vars(body, &mut |v| if v == counter { own } else { v });
        body.stmts.insert(0, declare(own, value));
    }

    fn strip_loop(
        &mut self,
        l: &ForLoop,
        limit: Expr,
        start: VarId,
        ty: Scalar,
        full: bool,
    ) -> (Vec<Stmt>, Stmt) {
        let host = &mut self.draft.scope.host;
        let (name, counter_type) = (host.var(l.var).name.clone(), Type::Scalar(ty));
        let offset = self.draft.scope.local(&format!("{name}_strip"), counter_type.clone());
        let mut source = l.body.clone();
        let turns = self.turns(l, ty);
        let ids = visit::renew_loops(&mut self.draft.scope.host, &mut source);
        let copied: Vec<_> = ids.iter().map(|(old, new)| (*new, self.original(*old))).collect();
        self.originals.extend(copied);
        let team = self.renumbered(&ids);
        let entered = self.entered(l);
        self.strips.starts.insert(l.id, offset);
        let ahead = full && self.nest.staged_at(l.id).any(|s| s.ahead) && is_even(&l.kind);
        self.strips.ahead = ahead.then(|| Ahead {
            id: l.id,
            counter: Expr::var(offset, counter_type.clone()),
            length: limit.clone(),
            first: vec![],
        });
        let inner = self.block(&source);
        self.left(entered);
        self.with_team(team);
        let first = self.strips.ahead.take().map(|a| a.first).unwrap_or_default();
        self.strips.starts.insert(l.id, start);
        let mut body = Block::new(inner);
        let [start, counted] = [start, offset].map(|v| Expr::var(v, counter_type.clone()));
        self.counted_as(l.var, Expr::binary(BinaryOp::Add, start, counted), &mut body);
        let kind = match (full, &l.kind) {
            (true, LoopKind::Unrolled(n)) => LoopKind::Unrolled(*n),
            _ => LoopKind::Serial,
        };
        let id = self.draft.scope.host.fresh_loop();
        let (own, step) = turns.unwrap_or((Expr::int(ty, 0), Expr::int(ty, 1)));
        let l = ForLoop {
            id,
            var: offset,
            declares: true,
            first: own,
            compare: BinaryOp::Lt,
            limit,
            step,
            kind,
            body,
        };
        (first, Stmt::new(StmtKind::For(l), Origin::default()))
    }

    /// Threads of a block, by the names of its extents.
    pub(crate) fn threads_expr(&self) -> Expr {
        let along = self.tiles.iter().rev().map(|t| t.threads.clone());
        let team = self.sharing.iter().map(|s| s.size.clone());
        let widths: Vec<Expr> = along.chain(team).map(|e| e.cast(Type::I32)).collect();
        product(&widths)
    }

    fn loop_of(&self, id: LoopId) -> Option<ForLoop> {
        self.draft.source.find_loop(id).cloned()
    }

    pub(crate) fn index_type(&self, d: &Dim) -> Scalar {
        let wide = d
            .terms
            .iter()
            .filter_map(|(c, _)| self.loop_of(c.id()))
            .any(|l| type_of(self.draft, &l).bytes() == 8);
        let wide = wide
            || d.invariant.atoms().iter().any(|a| match a {
                warpsmith_ir::poly::Atom::Var(v) => {
                    self.draft.scope.host.var(*v).ty.scalar().is_some_and(|s| s.bytes() == 8)
                }
                _ => true,
            });
        if wide { Scalar::I64 } else { Scalar::I32 }
    }

    /// The first value of a counter in the block or strip, and whether the variable holds it.
    fn start_of(&self, c: &Counter) -> Poly {
        match c {
            Counter::Bound(id, _) => {
                let tile = self.tiles.iter().find(|t| t.source.id == *id);
                tile.map_or_else(Poly::zero, |t| Poly::var(t.place.first))
            }
            Counter::Strip(id, _) => {
                self.strips.starts.get(id).map_or_else(Poly::zero, |v| Poly::var(*v))
            }
            Counter::Constant(_, first, _) => Poly::constant(*first),
        }
    }

    fn to_expr(&self, p: &Poly, ty: Scalar) -> Expr {
        let host = &self.draft.scope.host;
        p.to_expr(ty, &|v| host.var(v).ty.scalar().unwrap_or(ty))
    }

    /// What does not change in a block, by the block's own variables.
    fn in_block(&self, p: &Poly) -> Poly {
        self.tiles.iter().fold(p.clone(), |p, t| {
            p.substitute(t.source.var, &Poly::var(t.place.first)).unwrap_or(p)
        })
    }

    /// The least subscript of the box.
    pub(crate) fn lowest(&self, d: &Dim, ty: Scalar) -> Expr {
        let invariant = self.in_block(&d.invariant);
        let mut sum = invariant.add(&Poly::constant(d.constants.0)).unwrap_or_default();
        for (c, factor) in &d.terms {
            let mut at = self.start_of(c);
            if *factor < 0 {
                at = at.add(&Poly::constant(i128::from(c.count()) - 1)).unwrap_or_default();
            }
            sum = at.scale(*factor).and_then(|t| sum.add(&t)).unwrap_or(sum);
        }
        self.to_expr(&sum, ty)
    }

    /// All iterations of a block or strip exist.
    fn complete(&self, c: &Counter) -> bool {
        match c {
            Counter::Constant(..) => true,
            Counter::Bound(id, _) => self.tiles.iter().any(|t| t.source.id == *id && t.filled),
            Counter::Strip(id, n) => self
                .loop_of(*id)
                .is_some_and(|l| self.draft.fills_blocks(&l, self.nest, (*n).into())),
        }
    }

    /// How many subscripts at the low end of the box belong to iterations past the end; `None`: there are none, as no
    /// subscript falls with a counter.
    pub(crate) fn missing(&self, d: &Dim, ty: Scalar) -> Option<Expr> {
        let mut count = Poly::zero();
        let mut falls = false;
        for (c, factor) in d.terms.iter().filter(|(c, f)| *f < 0 && !self.complete(c)) {
            let l = self.loop_of(c.id())?;
            let end = Poly::from_expr(&counters::end_of(&l, type_of(self.draft, &l)))?;
            let past = self.start_of(c).add(&Poly::constant(c.count().into()))?.sub(&end)?;
            count = count.add(&past.scale(factor.abs())?)?;
            falls = true;
        }
        falls.then(|| self.to_expr(&count, ty))
    }

    /// How many subscripts from the lowest on belong to iterations that exist; `None`: all of the box.
    pub(crate) fn valid(&self, d: &Dim, ty: Scalar) -> Option<Expr> {
        if d.terms.iter().all(|(c, _)| self.complete(c)) {
            return None;
        }
        // Greatest subscript minus lowest, plus one: constants of loops and of the reads cancel out.
        let mut count = Poly::constant(d.constants.1 - d.constants.0 + 1);
        for (c, factor) in &d.terms {
            let last = match c {
                Counter::Constant(_, first, n) => Poly::constant(first + i128::from(*n) - 1),
                _ if self.complete(c) => {
                    self.start_of(c).add(&Poly::constant(i128::from(c.count()) - 1))?
                }
                _ => {
                    let l = self.loop_of(c.id())?;
                    let end = Poly::from_expr(&counters::end_of(&l, type_of(self.draft, &l)))?;
                    end.sub(&Poly::constant(1))?
                }
            };
            // A falling subscript is greatest at the first iteration of the block, which always exists; its lowest is
            // that of an iteration past the end where the block is cut off.
            let term = match *factor > 0 {
                true => last.sub(&self.start_of(c))?.scale(*factor)?,
                false => Poly::constant((i128::from(c.count()) - 1) * factor.abs()),
            };
            count = count.add(&term)?;
        }
        Some(self.to_expr(&count, ty))
    }

    /// The array's element with these subscripts.
    pub(crate) fn global_place(&self, at: usize, index: Vec<Expr>) -> Place {
        let copy = &self.copies[at];
        let (place, _) = &copy.footprint.reads[0];
        let mut place = place.clone();
        if let PlaceKind::Elem { index: old, dims, .. } = &mut *place.kind {
            if let Some(rows) = &copy.footprint.rows {
                let ty = index.first().and_then(|e| e.ty.scalar()).unwrap_or(Scalar::I64);
                *dims = rows.iter().map(|p| self.to_expr(p, ty)).collect();
            }
            *old = index;
        }
        place
    }

    /// Puts elements in shared memory in place of those of staged arrays.
    pub(crate) fn use_copies(&self, body: &mut Block, replicas: &BTreeMap<usize, Replica>) {
        if !self.staged.is_empty() {
            visit::Rewriter::block(&mut UseCopies { all: self, replicas }, body);
        }
    }

    /// The same in an expression that stands in none of the loops over a thread's iterations.
    pub(crate) fn use_copies_in(&self, e: &mut Expr) {
        visit::Rewriter::expr(&mut UseCopies { all: self, replicas: &self.pinned }, e);
    }

    /// The staged copy that holds an element, and the constants of the read's subscripts.
    pub(crate) fn staged_read(&self, place: &Place) -> Option<(usize, &[i128])> {
        self.staged.iter().find_map(|k| {
            let reads = &self.copies[*k].footprint.reads;
            let (_, constants) = reads.iter().find(|(known, _)| known == place)?;
            Some((*k, constants.as_slice()))
        })
    }

    pub(crate) fn staged_element(
        &self,
        at: usize,
        constants: &[i128],
        replicas: &BTreeMap<usize, Replica>,
    ) -> Place {
        let copy = &self.copies[at];
        let index = copy
            .footprint
            .dims
            .iter()
            .zip(constants)
            .map(|(d, constant)| self.local_subscript(d, *constant, replicas))
            .collect();
        self.laid_out(at, index)
    }

    /// The subscript of a read, counted from the lowest of the box.
    fn local_subscript(
        &self,
        d: &Dim,
        constant: i128,
        replicas: &BTreeMap<usize, Replica>,
    ) -> Expr {
        let mut rest = constant - d.constants.0;
        let mut sum: Option<Expr> = None;
        for (c, factor) in &d.terms {
            let local = self.local_counter(c, replicas);
            let ty = local.ty.scalar().unwrap_or(Scalar::I32);
            let size = i64::try_from(factor.unsigned_abs()).unwrap_or(i64::MAX);
            let term = match size {
                1 => local,
                n => Expr::binary(BinaryOp::Mul, local, Expr::int(ty, n)),
            };
            if *factor < 0 {
                rest += (i128::from(c.count()) - 1) * factor.abs();
            }
            let op = if *factor < 0 { BinaryOp::Sub } else { BinaryOp::Add };
            sum = Some(match sum {
                None if *factor < 0 => {
                    let start = Expr::int(ty, i64::try_from(rest).unwrap_or(0));
                    rest = 0;
                    Expr::binary(op, start, term)
                }
                None => term,
                Some(s) => Expr::binary(op, s.clone(), term.cast(s.ty)),
            });
        }
        let Some(sum) = sum else {
            return Expr::int(Scalar::I32, i64::try_from(rest).unwrap_or(0));
        };
        let ty = sum.ty.scalar().unwrap_or(Scalar::I32);
        match i64::try_from(rest).unwrap_or(0) {
            0 => sum,
            n => Expr::binary(BinaryOp::Add, sum, Expr::int(ty, n)),
        }
    }

    /// A counter from the start of the block, the strip or its loop.
    pub(crate) fn local_counter(&self, c: &Counter, replicas: &BTreeMap<usize, Replica>) -> Expr {
        match c {
            Counter::Bound(id, _) => {
                let found = self.tiles.iter().enumerate().find(|(_, t)| t.source.id == *id);
                found.map_or_else(|| Expr::i32(0), |(k, t)| t.local(replicas.get(&k)))
            }
            Counter::Strip(id, _) if self.strips.offsets.contains_key(id) => {
                self.strips.offsets[id].clone()
            }
            Counter::Strip(id, _) => {
                let ty = |v: VarId| self.draft.scope.host.var(v).ty.clone();
                self.strips.starts.get(id).map_or_else(|| Expr::i32(0), |v| Expr::var(*v, ty(*v)))
            }
            Counter::Constant(id, first, _) => {
                let Some(l) = self.loop_of(*id) else { return Expr::i32(0) };
                let counter = Expr::var(l.var, self.draft.scope.host.var(l.var).ty.clone());
                let ty = type_of(self.draft, &l);
                match i64::try_from(*first).unwrap_or(0) {
                    0 => counter,
                    n if n < 0 => Expr::binary(BinaryOp::Add, counter, Expr::int(ty, -n)),
                    n => Expr::binary(BinaryOp::Sub, counter, Expr::int(ty, n)),
                }
            }
        }
    }
}

/// Puts elements in shared memory in place of those of staged arrays.
pub(crate) struct UseCopies<'u, 'r, 'k> {
    pub all: &'u Expansion<'r, 'k>,
    pub replicas: &'u BTreeMap<usize, Replica>,
}

impl visit::Rewriter for UseCopies<'_, '_, '_> {
    fn place(&mut self, place: &mut Place) {
        match self.all.staged_read(place) {
            Some((k, constants)) => {
                *place = self.all.staged_element(k, constants, self.replicas);
            }
            None => visit::rewrite_place(self, place),
        }
    }
}
