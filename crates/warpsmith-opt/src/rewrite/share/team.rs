//! Threads of a block that share serial loops: the loops' strides, what combines the threads' sums, and what one of the
//! threads does alone.

use std::collections::BTreeMap;

use warpsmith_ir::{
    Axis, BarrierKind, BinaryOp, Block, Builtin, Expr, ForLoop, LoopId, LoopKind, Origin, Place,
    Scalar, Stmt, StmtKind, Type, Var, VarId, VarKind, visit,
};

use crate::analysis::access::{Base, base_of};
use crate::analysis::axes::Axes;
use crate::analysis::loops::written_bases;
use crate::build::arithmetic::{offset, times};
use crate::build::conditions::all_of;
use crate::build::counters;
use crate::build::pairs::{exchanged, halving, join};
use crate::build::stmts::barrier;
use crate::build::stmts::{declare, element_at, set, when};
use crate::build::threads::WARP;
use crate::kernel::{Nest, SharedLoop, Sum, Team};
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::rewrite::register_tile::tile::{Replica, Tile};
use crate::rewrite::share::sharing::{Role, Sharing};
use crate::{names, walk};

/// Makes statements for the thread's iterations that are given.
type Make<'m, R> = dyn FnMut(&mut R, &BTreeMap<usize, Replica>) -> Vec<Stmt> + 'm;

/// How often statements mention each object in memory.
fn touched(block: &Block) -> BTreeMap<Base, usize> {
    let mut count = BTreeMap::new();
    visit::for_each_place(block, &mut |p, _| {
        if p.root_var().is_none() {
            *count.entry(base_of(p)).or_default() += 1;
        }
    });
    count
}

/// Whether a statement writes memory, itself or in statements inside it.
fn stores(stmt: &Stmt) -> bool {
    !written_bases(&Block::new(vec![stmt.clone()])).is_empty()
}

impl Draft<'_> {
    /// The threads of a team as a named constant.
    pub(crate) fn team_size(&mut self, team: &Team) -> Expr {
        let (name, comment) = match team.axis {
            Axis::X if team.threads <= WARP => ("LANES", "lanes of a warp that share a sum"),
            _ => ("TEAM", "threads of a block that share a sum"),
        };
        self.scope.constant(name, team.threads, comment)
    }

    /// Lets the shared loops of the body run in strides; declarations go to `stmts`.
    pub(crate) fn sharing(
        &mut self,
        nest: &Nest,
        tiles: &[Tile],
        body: &mut Vec<Stmt>,
        stmts: &mut Vec<Stmt>,
    ) -> Option<Sharing> {
        let team = nest.team.clone()?;
        let lanes = team.axis == Axis::X && team.threads <= WARP;
        let wanted = if lanes { "lane" } else { "member" };
        let name = names::fresh_name(self.source.func(), wanted);
        let member = self.scope.local(&name, Type::I32);
        self.scope.host.vars[member.0 as usize].constant = true;
        let number = Expr::builtin(Builtin::ThreadIdx(team.axis)).cast(Type::I32);
        let why = match lanes {
            true => "the lanes of a team compute the same rows, each a part of every sum",
            false => "the threads of a team compute the same elements, each a part of every sum",
        };
        stmts.push(declare(member, number).comment(why));
        let size = self.team_size(&team);
        let mut whole = Block::new(std::mem::take(body));
        // In strips, threads take their turns in each.
        let whole_loops = team.loops.iter().filter(|s| nest.staged_at(s.target).next().is_none());
        for shared in whole_loops {
            self.stride(nest, shared, (member, &size), &mut whole);
        }
        let mut parts = BTreeMap::new();
        if team.parts() > 1 {
            for sum in team.loops.iter().flat_map(|s| &s.sums).flat_map(Sum::vars) {
                parts.entry(sum).or_insert_with(|| self.parts_array(nest, &team, tiles, sum));
            }
        }
        let arrays = parts
            .values()
            .map(|v| Stmt::new(StmtKind::Decl { var: *v, init: None }, Origin::default()));
        stmts.splice(0..0, arrays);
        let touched = touched(&whole);
        *body = whole.stmts;
        Some(Sharing { team, member, size, parts, touched, inside: false, depth: 0 })
    }

    /// Each thread of the team takes every so-manieth iteration, or group of iterations.
    fn stride(
        &mut self,
        nest: &Nest,
        shared: &SharedLoop,
        (member, size): (VarId, &Expr),
        body: &mut Block,
    ) {
        let Some(mut l) = walk::find_loop(body, shared.target).cloned() else { return };
        let width = nest.vectors.get(&l.id).copied().unwrap_or(1);
        if width > 1 {
            l.body = self.chunked(nest, &l, width);
        }
        let ty = counters::counter_type(&self.scope.host, &l);
        let most = i64::from(i32::MAX) - i64::from(width) * 1024;
        let near = l.limit.as_const().is_none_or(|v| v.as_i64() > most);
        let mut inner = std::mem::take(&mut l.body);
        let (l, ty) = match ty.bytes() {
            // Near the greatest number of its type the next stride would leave its range.
            4 if near => (self.widened(&l, &mut inner), Scalar::I64),
            _ => (l, ty),
        };
        let wide = |e: Expr| e.cast(Type::Scalar(ty));
        let groups = |e: Expr| times(e, Expr::i32(width as i32));
        let own = wide(groups(Expr::var(member, Type::I32)));
        let first = match counters::is_const(&l.first, 0) {
            true => own,
            false => Expr::binary(BinaryOp::Add, l.first.clone(), own),
        };
        let strided =
            ForLoop { first, step: wide(groups(size.clone())), declares: true, body: inner, ..l };
        walk::with_loop(body, shared.target, &mut |stmt| {
            let kind = match strided.kind {
                LoopKind::Unrolled(n) => LoopKind::Unrolled(n),
                _ => LoopKind::Serial,
            };
            stmt.kind = StmtKind::For(ForLoop { kind, ..strided.clone() });
        });
    }

    /// The array for the parts of a sum: those of a team side by side where they are of its warps; else a row for each
    /// thread of the team, so that neighbours along x have different banks.
    fn parts_array(&mut self, nest: &Nest, team: &Team, tiles: &[Tile], sum: VarId) -> VarId {
        let var = self.scope.host.var(sum).clone();
        let factors = tiles.iter().filter(|t| t.factor > 1);
        let mut shape: Vec<(u64, Expr)> =
            factors.map(|t| (t.factor.into(), t.factor_expr.clone())).collect();
        let others = along_others(tiles);
        let others = others
            .iter()
            .map(|t| (u64::from(nest.block[t.axis.index()]), t.threads.clone().cast(Type::I32)));
        shape.extend(others);
        let parts = self.parts_count(team);
        let at = if team.axis == Axis::X { shape.len() } else { 0 };
        shape.insert(at, (team.parts().into(), parts));
        let ty = shape.iter().rev().fold(var.ty.clone(), |ty, (n, _)| Type::array(ty, *n));
        let name = self.scope.fresh_name(&format!("{}_shared", var.name));
        let mut array = Var::new(name, ty, VarKind::Shared);
        array.shape = Some(shape.into_iter().map(|(_, e)| e).collect());
        array.origin = var.origin.by("share");
        self.scope.host.add_var(array)
    }

    fn parts_count(&mut self, team: &Team) -> Expr {
        let size = self.team_size(team);
        match team.axis {
            Axis::X => {
                let warp = self.warp_size();
                Expr::binary(BinaryOp::Div, size, warp)
            }
            _ => size,
        }
    }

    fn warp_size(&mut self) -> Expr {
        self.scope.constant("WARP", WARP, "threads of a warp")
    }
}

/// The bound loops along which a block has several threads, the axis that varies fastest last.
fn along_others(tiles: &[Tile]) -> Vec<&Tile> {
    let mut others: Vec<&Tile> =
        tiles.iter().filter(|t| !counters::is_const(&t.threads, 1)).collect();
    others.sort_by_key(|t| std::cmp::Reverse(t.axis.index()));
    others
}

impl Expansion<'_, '_> {
    /// Who runs the statements of a block. One thread of the team runs those that store, and declarations right before
    /// them that nothing else needs.
    pub(crate) fn roles(&self, block: &Block) -> Vec<Role> {
        let shared = self.sharing.as_ref().filter(|s| !s.inside);
        let Some(sharing) = shared else { return vec![Role::All; block.stmts.len()] };
        let role = |s: &Stmt| match self.holds_shared(s) {
            false if stores(s) => Role::One,
            _ if sharing.begins(s) => Role::Start,
            _ => Role::All,
        };
        let mut roles: Vec<Role> = block.stmts.iter().map(role).collect();
        for at in (0..block.stmts.len().saturating_sub(1)).rev() {
            let StmtKind::Decl { var, init: Some(_) } = &block.stmts[at].kind else { continue };
            let run = roles[at + 1..].iter().take_while(|r| **r == Role::One).count();
            let (inside, after) = block.stmts[at + 1..].split_at(run);
            let count = |stmts: &[Stmt]| walk::times_mentioned(&Block::new(stmts.to_vec()), *var);
            if run > 0 && count(inside) > 0 && count(after) == 0 {
                roles[at] = Role::One;
            }
        }
        roles
    }

    /// Whether a statement is a loop that the team shares, or one around it.
    pub(crate) fn holds_shared(&self, stmt: &Stmt) -> bool {
        let Some(sharing) = &self.sharing else { return false };
        let block = Block::new(vec![stmt.clone()]);
        sharing.team.loops.iter().any(|s| walk::find_loop(&block, s.target).is_some())
    }

    /// Whether a statement is a loop that the team shares.
    pub(crate) fn shared_loop(&self, stmt: &Stmt) -> bool {
        let StmtKind::For(l) = &stmt.kind else { return false };
        let sharing = self.sharing.as_ref();
        sharing.is_some_and(|s| s.team.loops.iter().any(|s| s.target == l.id))
    }

    /// Whether a shared loop stands in the body of a loop.
    pub(crate) fn holds_inside(&self, l: &ForLoop) -> bool {
        let sharing = self.sharing.as_ref();
        sharing.is_some_and(|s| {
            s.team.loops.iter().any(|s| walk::find_loop(&l.body, s.target).is_some())
        })
    }

    /// Whether more than what one thread does alone, right after the region at `at`, reads the sums.
    pub(crate) fn needed_by_all(
        &self,
        region: &SharedLoop,
        block: &Block,
        at: usize,
        roles: &[Role],
    ) -> bool {
        region.sums.iter().flat_map(Sum::vars).any(|sum| {
            let declared = |s: &Stmt| matches!(&s.kind, StmtKind::Decl { var, .. } if *var == sum);
            let reads = |(s, role): (&Stmt, &Role)| {
                *role != Role::One && walk::times_mentioned(&Block::new(vec![s.clone()]), sum) > 0
            };
            !block.stmts[..at].iter().any(declared)
                || block.stmts.iter().zip(roles).skip(at + 1).any(reads)
        })
    }

    /// Notes that the walk enters a serial loop; what to give to [`Expansion::left`].
    pub(crate) fn entered(&mut self, l: &ForLoop) -> bool {
        let Some(sharing) = &mut self.sharing else { return false };
        let before = sharing.inside;
        sharing.inside |= sharing.team.loops.iter().any(|s| s.target == l.id);
        sharing.depth += 1;
        before
    }

    pub(crate) fn left(&mut self, before: bool) {
        if let Some(sharing) = &mut self.sharing {
            sharing.inside = before;
            sharing.depth -= 1;
        }
    }

    /// In a strip of a loop that the team shares: where a thread begins, and how far it goes on each time.
    pub(crate) fn turns(&self, l: &ForLoop, ty: Scalar) -> Option<(Expr, Expr)> {
        let sharing = self.sharing.as_ref()?;
        sharing.team.loops.iter().find(|s| s.target == l.id)?;
        let of = |e: Expr| e.cast(Type::Scalar(ty));
        Some((of(Expr::var(sharing.member, Type::I32)), of(sharing.size.clone())))
    }

    /// Gives the shared loops other numbers, those of a copy of the loops; what to give to [`Expansion::with_team`].
    pub(crate) fn renumbered(&mut self, ids: &[(LoopId, LoopId)]) -> Option<Team> {
        let sharing = self.sharing.as_mut()?;
        let before = sharing.team.clone();
        let new = |id: LoopId| ids.iter().find(|(old, _)| *old == id).map_or(id, |(_, new)| *new);
        for shared in &mut sharing.team.loops {
            (shared.target, shared.region) = (new(shared.target), new(shared.region));
        }
        Some(before)
    }

    pub(crate) fn with_team(&mut self, before: Option<Team>) {
        if let (Some(sharing), Some(team)) = (&mut self.sharing, before) {
            sharing.team = team;
        }
    }

    /// The loop after which a statement's sums are complete.
    pub(crate) fn region(&self, stmt: &Stmt) -> Option<SharedLoop> {
        let StmtKind::For(l) = &stmt.kind else { return None };
        let sharing = self.sharing.as_ref()?;
        sharing.team.loops.iter().find(|s| s.region == l.id).cloned()
    }

    /// The condition of a group that one thread of the team runs alone.
    pub(crate) fn first_member(&self, guard: Option<Expr>) -> Option<Expr> {
        let Some(sharing) = &self.sharing else { return guard };
        let member = Expr::var(sharing.member, Type::I32);
        let first = Expr::binary(BinaryOp::Eq, member, Expr::i32(0));
        let all = std::iter::once(first).chain(guard);
        all_of(all)
    }

    /// What keeps other threads of the team from what a group or a shared loop stores, before and after it: nothing where
    /// it alone touches that.
    pub(crate) fn apart(&self, stmts: &[Stmt], shared: bool) -> Option<Stmt> {
        let sharing = self.sharing.as_ref().filter(|s| !s.inside)?;
        let block = Block::new(stmts.to_vec());
        let (own, written) = (touched(&block), written_bases(&block));
        let again = shared && sharing.depth > 0;
        let elsewhere = |b: &Base| own.get(b) != sharing.touched.get(b);
        let conflict = written.iter().any(|b| again || elsewhere(b));
        let why = "the team's threads see what the others stored";
        conflict.then(|| match sharing.team.axis {
            Axis::X if sharing.team.threads <= WARP => {
                let mask = Some(Expr::int(Scalar::U32, 0xffff_ffff));
                let kind =
                    StmtKind::Barrier { kind: BarrierKind::Warp, operand: mask, result: None };
                Stmt::new(kind, Origin::default()).comment(why)
            }
            _ => barrier(why),
        })
    }

    /// Combines the sums of the team's threads; with `all`, every thread gets the results.
    pub(crate) fn combined(&mut self, shared: &SharedLoop, all: bool) -> Vec<Stmt> {
        let Some(sharing) = self.sharing.clone() else { return vec![] };
        let typed = |s: &&Sum| s.vars().all(|v| self.sum_type(v).is_some());
        let sums: Vec<Sum> = shared.sums.iter().filter(typed).copied().collect();
        if sums.is_empty() {
            return vec![];
        }
        let mut stmts = vec![];
        if sharing.team.axis == Axis::X {
            stmts.extend(self.shuffles(&sharing, &sums));
        }
        if sharing.team.parts() > 1 {
            stmts.extend(self.through_shared(&sharing, &sums, all));
        }
        stmts
    }

    /// The type of a sum's elements.
    fn sum_type(&self, sum: VarId) -> Option<Scalar> {
        self.draft.scope.host.var(sum).ty.innermost().scalar()
    }

    /// Statements about sums for all of the thread's iterations.
    fn for_sums(&mut self, sums: &[Sum], make: &mut Make<'_, Self>) -> Vec<Stmt> {
        let axes: Axes =
            sums.iter().flat_map(Sum::vars).fold(0, |m, v| m | self.axes_of_var(v)) & self.tiled;
        let replicas = self.replicas(axes);
        let mut body = Block::new(make(self, &replicas));
        self.use_arrays(&mut body, &replicas);
        self.wrapped(body, None, &replicas)
    }

    /// `for (offset = width / 2; offset > 0; offset /= 2) s += __shfl_xor_sync(…, s, offset);`
    fn shuffles(&mut self, sharing: &Sharing, sums: &[Sum]) -> [Stmt; 2] {
        let offset = self.draft.scope.local("offset", Type::I32);
        let body = self.for_sums(sums, &mut |own, _| {
            sums.iter().flat_map(|sum| own.exchange(*sum, offset)).collect()
        });
        let width = match sharing.team.threads {
            n if n <= WARP => sharing.size.clone(),
            _ => self.draft.warp_size(),
        };
        halving(&mut self.draft.scope.host, offset, width, body)
    }

    /// Combines a sum with that of the lane whose number differs in one bit.
    fn exchange(&mut self, sum: Sum, offset: VarId) -> Vec<Stmt> {
        let mut stmts = vec![];
        let mut of_lane = |var: VarId| {
            let other = self.other(var);
            stmts.extend(exchanged(Expr::var(var, self.of_sum(var)), other, offset));
            Expr::read(self.place_of(other))
        };
        let value = of_lane(sum.var);
        let position = sum.at.map(of_lane);
        stmts.push(self.combine_with(sum, value, position));
        stmts
    }

    /// The type of a sum's elements.
    fn of_sum(&self, sum: VarId) -> Type {
        self.draft.scope.host.var(sum).ty.innermost().clone()
    }

    fn place_of(&self, sum: VarId) -> Place {
        Place::var(sum, self.of_sum(sum))
    }

    /// A constant for what another thread has of a variable.
    fn other(&mut self, var: VarId) -> VarId {
        let name = format!("{}_other", self.draft.scope.host.var(var).name);
        let ty = self.of_sum(var);
        let other = self.draft.scope.local(&name, ty);
        self.draft.scope.host.vars[other.0 as usize].constant = true;
        other
    }

    /// Takes in what another thread has of a sum.
    fn combine_with(&self, sum: Sum, value: Expr, position: Option<Expr>) -> Stmt {
        let ty = self.sum_type(sum.var).unwrap_or(Scalar::F64);
        let own = (self.place_of(sum.var), sum.at.map(|at| self.place_of(at)));
        join(sum.op, ty, own, (value, position))
    }

    /// The parts of the warps, or of all threads of the team, through shared memory.
    fn through_shared(&mut self, sharing: &Sharing, sums: &[Sum], all: bool) -> Vec<Stmt> {
        let member = || Expr::var(sharing.member, Type::I32);
        let by_warps = sharing.team.axis == Axis::X;
        let warp = by_warps.then(|| self.draft.warp_size());
        let count = self.draft.parts_count(&sharing.team);
        let own = match &warp {
            Some(warp) => Expr::binary(BinaryOp::Div, member(), warp.clone()),
            None => member(),
        };
        let store = self.for_sums(sums, &mut |replicas, of| {
            let one = |v: VarId| {
                let place = replicas.part(sharing, v, own.clone(), of);
                set(place, Expr::read(replicas.place_of(v)))
            };
            sums.iter().flat_map(Sum::vars).map(one).collect()
        });
        let mut stmts = match warp {
            Some(warp) => {
                let lane = Expr::binary(BinaryOp::Rem, member(), warp);
                vec![when(Expr::binary(BinaryOp::Eq, lane, Expr::i32(0)), store)]
            }
            None => store,
        };
        stmts.push(barrier("the parts of the whole team are there"));
        let gather = self.gather(sharing, sums, count);
        match self.first_member(None) {
            Some(cond) if !all => stmts.push(when(cond, gather)),
            _ => stmts.extend(gather),
        }
        if sharing.depth > 0 || sharing.again(sums) {
            stmts.push(barrier("everyone has the sum before the next parts take their place"));
        }
        stmts
    }

    /// `s = s_shared[…][0]; for (part = 1; …) s += s_shared[…][part];`
    fn gather(&mut self, sharing: &Sharing, sums: &[Sum], count: Expr) -> Vec<Stmt> {
        self.for_sums(sums, &mut |replicas, of| {
            let part = replicas.draft.scope.local("part", Type::I32);
            let read = |own: &Self, v: VarId, at: Expr| Expr::read(own.part(sharing, v, at, of));
            let mut stmts: Vec<Stmt> = sums
                .iter()
                .flat_map(Sum::vars)
                .map(|v| set(replicas.place_of(v), read(replicas, v, Expr::i32(0))))
                .collect();
            let mut body = vec![];
            for sum in sums {
                let next = |own: &Self, v: VarId| read(own, v, Expr::var(part, Type::I32));
                let (value, position) = match sum.at {
                    None => (next(replicas, sum.var), None),
                    Some(at) => {
                        let mut named = |v: VarId| {
                            let other = replicas.other(v);
                            body.push(declare(other, next(replicas, v)));
                            Expr::read(replicas.place_of(other))
                        };
                        (named(sum.var), Some(named(at)))
                    }
                };
                body.push(replicas.combine_with(*sum, value, position));
            }
            let body = Block::new(body);
            let l = ForLoop {
                id: replicas.draft.scope.host.fresh_loop(),
                var: part,
                declares: true,
                first: Expr::i32(1),
                compare: BinaryOp::Lt,
                limit: count.clone(),
                step: Expr::i32(1),
                kind: LoopKind::Serial,
                body,
            };
            stmts.push(Stmt::new(StmtKind::For(l), Origin::default()));
            stmts
        })
    }

    /// Where a part of a sum lies in shared memory.
    fn part(
        &self,
        sharing: &Sharing,
        sum: VarId,
        number: Expr,
        replicas: &BTreeMap<usize, Replica>,
    ) -> Place {
        let Some(array) = sharing.parts.get(&sum).copied() else {
            return Place::var(sum, self.draft.scope.host.var(sum).ty.clone());
        };
        let tiles = self.tiles.iter().enumerate().filter(|(_, t)| t.factor > 1);
        let mut at: Vec<Expr> = tiles
            .map(|(k, _)| replicas.get(&k).map_or_else(|| Expr::i32(0), |r| offset(r.number(), 0)))
            .collect();
        let thread = |t: &&Tile| Expr::builtin(Builtin::ThreadIdx(t.axis)).cast(Type::I32);
        at.extend(along_others(self.tiles).iter().map(thread));
        let place = if sharing.team.axis == Axis::X { at.len() } else { 0 };
        at.insert(place, number);
        element_at(&self.draft.scope.host, array, at)
    }
}
