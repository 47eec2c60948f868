//! Strips whose copies run ahead of their use.

use warpsmith_ir::{
    BarrierKind, BinaryOp, Block, Expr, ForLoop, LoopKind, Origin, Stmt, StmtKind, Type, VarId,
    poly::Atom,
};

use crate::analysis::loops::unit_step;
use crate::build::stmts::barrier;
use crate::build::stmts::declare;
use crate::build::{counters, trips};
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::expansion::{Expansion, type_of};

impl Draft<'_> {
    /// How many strips are in shared memory at a time, as a named constant.
    pub(crate) fn strips_in_flight(&mut self, strips: u32) -> Expr {
        self.scope.constant(
            "STAGES",
            strips,
            "strips in shared memory: one in use, the others on their way",
        )
    }
}

/// Before a strip is read: its copies have come, and the strip that the next ones replace has been read.
fn awaited(strips: u32) -> [Stmt; 2] {
    let wait = Stmt::new(StmtKind::AsyncWait(strips - 2), Origin::default())
        .comment("this strip has come, and everyone has read the one that the next copy replaces");
    let kind = StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None };
    [wait, Stmt::new(kind, Origin::default())]
}

impl Expansion<'_, '_> {
    /// A serial loop in strips: the first copies start before it; in it, each thread waits for its part of the strip,
    /// meets the others, starts a later copy, and goes through the strip.
    pub(crate) fn pipelined(
        &mut self,
        l: &ForLoop,
        stmt: &Stmt,
        copies: &[usize],
        strips: u32,
    ) -> Vec<Stmt> {
        let Some((_, length)) = self.copies.get(copies[0]).and_then(|c| c.stage.strip) else {
            return vec![];
        };
        let ty = type_of(self.draft, l);
        let name = self.draft.scope.host.var(l.var).name.clone();
        let size = self.draft.strip_constant(&name, length).cast(Type::Scalar(ty));
        let start = self.draft.scope.local(&format!("{name}_block"), Type::Scalar(ty));
        let (mut out, narrow) = self.narrowed_ahead(l, &size, strips);
        let narrowed = narrow.first != l.first || narrow.limit != l.limit;
        out.extend(self.first_strips(&narrow, copies, strips, &size, narrowed));
        let start_value = || Expr::var(start, Type::Scalar(ty));
        let mut body = awaited(strips).to_vec();
        let number = self.strip_number(&narrow, start_value(), &size);
        let slot = self.slot_variable("slot", number.clone(), strips, &mut body);
        let next = self.next_strip(&narrow, copies, strips, &size, start, number);
        self.strips.starts.insert(l.id, start);
        self.strips.slots.insert(l.id, slot);
        let before = self.staged.len();
        self.staged.extend(copies);
        let (first, iterations) = self.strip_iterations(l, &size, length, start, narrowed);
        body.extend(first.into_iter().chain(next).chain(iterations));
        self.staged.truncate(before);
        self.strips.starts.remove(&l.id);
        self.strips.slots.remove(&l.id);
        let main = self.draft.over_strips(l, narrow, start, size, body);
        let (origin, comment) = (stmt.origin.by("pipeline"), stmt.comment.clone());
        out.push(Stmt { kind: StmtKind::For(main), origin, comment });
        let axes: Vec<_> = self.nest.axes.iter().map(|(id, _)| *id).collect();
        let around = self.draft.source.loops_around(l.id);
        if around.iter().any(|outer| !axes.contains(&outer.id)) {
            out.push(barrier(
                "everyone is done with the last strips before the first ones come again",
            ));
        }
        out
    }

    /// Starts the copies of the first strips, all but one of those that fit; `sure`: they exist in every block.
    fn first_strips(
        &mut self,
        l: &ForLoop,
        copies: &[usize],
        strips: u32,
        size: &Expr,
        sure: bool,
    ) -> Vec<Stmt> {
        let ty = type_of(self.draft, l);
        let name = self.draft.scope.host.var(l.var).name.clone();
        let strip = self.draft.scope.local("strip", Type::I32);
        let start = self.draft.scope.local(&format!("{name}_block"), Type::Scalar(ty));
        self.draft.scope.host.vars[start.0 as usize].constant = true;
        let number = Expr::var(strip, Type::I32);
        let offset =
            Expr::binary(BinaryOp::Mul, number.clone().cast(size.ty.clone()), size.clone());
        let wide = Type::Scalar(counters::strips_type(l, ty));
        let first = match counters::is_const(&l.first, 0) {
            true => offset,
            false => {
                let [first, offset] = [l.first.clone(), offset].map(|e| e.cast(wide.clone()));
                Expr::binary(BinaryOp::Add, first, offset)
            }
        };
        // In 64 bits where it may lie behind all numbers of the counter's type.
        let position = match wide == Type::Scalar(ty) {
            true => Expr::var(start, Type::Scalar(ty)),
            false => first.clone(),
        };
        let exists = Expr::binary(l.compare, position, l.limit.clone().cast(wide));
        let first = first.cast(Type::Scalar(ty));
        let mut body = vec![declare(start, first)];
        match sure || self.are_there(l, copies, strips) {
            true => body.extend(self.copies_to(l, copies, start, number)),
            false => body.push(self.guarded_copies(l, copies, exists, start, number)),
        }
        body.push(Stmt::new(StmtKind::AsyncCommit, Origin::default()));
        let limit = self.ahead(strips);
        let ahead = ForLoop {
            id: self.draft.scope.host.fresh_loop(),
            var: strip,
            declares: true,
            first: Expr::i32(0),
            compare: BinaryOp::Lt,
            limit,
            step: Expr::i32(1),
            kind: LoopKind::Unrolled(None),
            body: Block::new(body),
        };
        vec![Stmt::new(StmtKind::For(ahead), Origin::default()).comment("the first strips set out")]
    }

    /// Whether the first strips, all but one of those that fit, exist wherever a block does, because the loop runs as
    /// often as one over blocks.
    fn are_there(&self, l: &ForLoop, copies: &[usize], strips: u32) -> bool {
        let Some((_, length)) = self.copies.get(copies[0]).and_then(|c| c.stage.strip) else {
            return false;
        };
        let count = |l: &ForLoop| {
            let ty = type_of(self.draft, l);
            unit_step(l).then(|| trips::sum(l, ty)).flatten()
        };
        let Some(iterations) = count(l) else { return false };
        let least = u64::from(strips.saturating_sub(2)) * u64::from(length) + 1;
        let params = &self.draft.scope.host.params;
        let mut atoms = iterations.atoms().into_iter();
        let fixed = atoms.all(|a| matches!(a, Atom::Var(v) if params.contains(v)));
        let blocks = self.draft.source.loops_around(l.id);
        let blocks = blocks.iter().filter(|b| self.nest.binds(b.id));
        fixed
            && blocks.into_iter().any(|b| count(b).as_ref() == Some(&iterations))
            && self.nest.multiples.divide(&iterations, least.next_power_of_two())
    }

    /// Starts the copies of the strip that comes after all those on their way.
    fn next_strip(
        &mut self,
        l: &ForLoop,
        copies: &[usize],
        strips: u32,
        size: &Expr,
        start: VarId,
        number: Expr,
    ) -> Vec<Stmt> {
        let ty = type_of(self.draft, l);
        let name = self.draft.scope.host.var(l.var).name.clone();
        let next = self.draft.scope.local(&format!("{name}_next"), Type::Scalar(ty));
        self.draft.scope.host.vars[next.0 as usize].constant = true;
        let ahead = self.ahead(strips);
        let from = Expr::var(start, Type::Scalar(ty));
        let distance = match strips {
            2 => size.clone(),
            _ => Expr::binary(BinaryOp::Mul, ahead.clone().cast(size.ty.clone()), size.clone()),
        };
        // Not `next < end`, which could overflow.
        let left = Expr::binary(BinaryOp::Sub, counters::end_of(l, ty), from.clone());
        let exists = Expr::binary(BinaryOp::Gt, left, distance.clone());
        let later = Expr::binary(BinaryOp::Add, number, ahead);
        let mut then = vec![declare(next, Expr::binary(BinaryOp::Add, from, distance))];
        let slot = self.slot_variable("next_slot", later, strips, &mut then);
        let copies = self.copies_to(l, copies, next, slot);
        then.extend(copies);
        let kind =
            StmtKind::If { cond: exists, then: Block::new(then), otherwise: Block::default() };
        vec![
            Stmt::new(kind, Origin::default()),
            Stmt::new(StmtKind::AsyncCommit, Origin::default()),
        ]
    }

    fn guarded_copies(
        &mut self,
        l: &ForLoop,
        copies: &[usize],
        exists: Expr,
        start: VarId,
        slot: Expr,
    ) -> Stmt {
        let then = Block::new(self.copies_to(l, copies, start, slot));
        let kind = StmtKind::If { cond: exists, then, otherwise: Block::default() };
        Stmt::new(kind, Origin::default())
    }

    /// The copies of the strip that begins at `start`, to a slot.
    fn copies_to(&mut self, l: &ForLoop, copies: &[usize], start: VarId, slot: Expr) -> Vec<Stmt> {
        self.strips.starts.insert(l.id, start);
        self.strips.slots.insert(l.id, slot);
        let stmts = copies.iter().flat_map(|k| self.copy(*k)).collect();
        self.strips.starts.remove(&l.id);
        self.strips.slots.remove(&l.id);
        stmts
    }

    /// Strips on their way while one is in use.
    fn ahead(&mut self, strips: u32) -> Expr {
        let strips = self.draft.strips_in_flight(strips);
        Expr::binary(BinaryOp::Sub, strips, Expr::i32(1))
    }

    /// The number of the strip that begins at `start`.
    fn strip_number(&self, l: &ForLoop, start: Expr, size: &Expr) -> Expr {
        let from = match counters::is_const(&l.first, 0) {
            true => start,
            false => Expr::binary(BinaryOp::Sub, start, l.first.clone()),
        };
        Expr::binary(BinaryOp::Div, from, size.clone()).cast(Type::I32)
    }

    /// Declares where a strip lies.
    fn slot_variable(
        &mut self,
        name: &str,
        number: Expr,
        strips: u32,
        body: &mut Vec<Stmt>,
    ) -> Expr {
        let strips = self.draft.strips_in_flight(strips);
        let var = self.draft.scope.local(name, Type::I32);
        self.draft.scope.host.vars[var.0 as usize].constant = true;
        body.push(declare(var, Expr::binary(BinaryOp::Rem, number, strips)));
        Expr::var(var, Type::I32)
    }
}
