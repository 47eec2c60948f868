//! Branches and loops: what is known after either of two ways, and of what a loop changes.

use std::collections::BTreeMap;
use warpsmith_ir::poly::{Atom, Poly};

use warpsmith_ir::{BinaryOp, Block, Case, Expr, ForLoop, PlaceKind, Stmt, StmtKind, VarId};

use super::{MAX_GUESSES, State, Walk, written_in};
use crate::analysis::extents::known;

impl<'m> Walk<'m> {
    pub(super) fn branch(
        &mut self,
        cond: &'m Expr,
        then: &'m Block,
        otherwise: &'m Block,
        st: &mut State,
    ) -> bool {
        self.value(cond, st);
        let mark = self.mark();
        let (mut yes, mut no) = (st.branch(), st.branch());
        self.assume(cond, false, &mut yes);
        self.assume(cond, true, &mut no);
        match (self.block(then, &mut yes), self.block(otherwise, &mut no)) {
            (true, true) => {
                let mut values = BTreeMap::new();
                for (v, a) in &yes.values {
                    // What only one side has was declared there.
                    let Some(b) = no.values.get(v) else { continue };
                    values.insert(*v, self.joined((a, &yes), (b, &no), mark, st));
                }
                let one_sided = |from: &State, to: &State| -> Vec<VarId> {
                    from.values.keys().filter(|v| !to.values.contains_key(v)).copied().collect()
                };
                let mut single = [one_sided(&yes, &no), one_sided(&no, &yes)].concat();
                st.values = values;
                // A parameter that one side changed.
                single.retain(|v| self.own_param(*v));
                for v in single {
                    self.forget(v, st);
                }
                true
            }
            (true, false) => {
                *st = yes;
                true
            }
            (false, true) => {
                *st = no;
                true
            }
            (false, false) => false,
        }
    }

    pub(super) fn switch(&mut self, cases: &'m [Case], st: &mut State) {
        let written = written_in(cases.iter().map(|c| &c.body));
        self.exits.push(vec![]);
        for case in cases {
            let mut there = st.branch();
            written.iter().for_each(|v| _ = self.forget(*v, &mut there));
            self.block(&case.body, &mut there);
        }
        self.exits.pop();
        written.iter().for_each(|v| _ = self.forget(*v, st));
    }

    pub(super) fn counted(&mut self, l: &'m ForLoop, st: &mut State) {
        let (first, limit) = (self.value(&l.first, st), self.value(&l.limit, st));
        let step = self.value(&l.step, st).as_constant();
        let counter = self.fresh_for(l.var, matches!(step, Some(1 | -1)));
        let fixed = [&first, &limit].into_iter().all(|p| known::newest(p).is_none());
        let added = match step {
            Some(1) => self.added_by(l, st),
            _ => vec![],
        };
        self.around(&[&l.body], st, &mut |walk, inside| {
            let plus = |c: i128| limit.add(&Poly::constant(c));
            let (lower, upper) = match (l.compare, step) {
                (BinaryOp::Lt, _) => (Some(first.clone()), plus(-1)),
                (BinaryOp::Le, _) => (Some(first.clone()), Some(limit.clone())),
                (BinaryOp::Gt, _) => (plus(1), Some(first.clone())),
                (BinaryOp::Ge, _) => (Some(limit.clone()), Some(first.clone())),
                (_, Some(1)) => (Some(first.clone()), plus(-1)),
                (_, Some(-1)) => (plus(1), Some(first.clone())),
                _ => (None, None),
            };
            inside.known.bound(counter, lower, upper);
            inside.values.insert(l.var, Poly::var(counter));
            let before = Poly::var(counter).sub(&first);
            for (v, begin, most) in &added {
                let end = before.as_ref().and_then(|n| n.mul(most)?.add(begin));
                let symbol = inside.values.get(v).and_then(as_symbol);
                if let (Some(symbol), Some(end)) = (symbol, end) {
                    inside.known.bound(symbol, None, Some(end));
                }
            }
            inside.sure &= fixed;
            walk.block(&l.body, inside)
        });
        if l.declares {
            st.values.remove(&l.var);
        } else {
            self.forget(l.var, st);
        }
    }

    /// The variables to which a loop only adds numbers, what each holds before it, and the most that one iteration adds.
    fn added_by(&mut self, l: &'m ForLoop, st: &State) -> Vec<(VarId, Poly, Poly)> {
        let mut found = vec![];
        for v in written_in([&l.body].into_iter()) {
            let Some(begin) = st.values.get(&v) else { continue };
            let most = self.most_added(&l.body, v, st).filter(|most| !most.is_zero());
            found.extend(most.map(|most| (v, begin.clone(), most)));
        }
        found
    }

    /// The most that a block adds to a variable; `None`: it sets it in another way, or nobody knows how often.
    fn most_added(&mut self, block: &'m Block, v: VarId, st: &State) -> Option<Poly> {
        let mut sum = Poly::zero();
        for stmt in &block.stmts {
            let more = match &stmt.kind {
                StmtKind::For(l) if written_in([&l.body].into_iter()).contains(&v) => {
                    self.times(l, st)?.mul(&self.most_added(&l.body, v, st)?)?
                }
                StmtKind::If { then, otherwise, .. } => {
                    let both = [then, otherwise].map(|b| self.most_added(b, v, st));
                    both.into_iter().try_fold(Poly::zero(), |sum, one| sum.add(&one?))?
                }
                StmtKind::Scope(inner) => self.most_added(inner, v, st)?,
                _ => added(stmt, v)?,
            };
            sum = sum.add(&more)?;
        }
        Some(sum)
    }

    /// No fewer than the iterations of a loop whose bounds are sizes, and never less than none.
    fn times(&mut self, l: &'m ForLoop, st: &State) -> Option<Poly> {
        let mut st = st.clone();
        let [first, limit, step] =
            [&l.first, &l.limit, &l.step].map(|e| self.quietly(|walk| walk.value(e, &mut st)));
        let more = Poly::constant((l.compare == BinaryOp::Le).into());
        let count = limit.sub(&first)?.add(&more)?;
        let taken = count.constant_term().min(0);
        let count = count.sub(&Poly::constant(taken))?;
        let counted = matches!(l.compare, BinaryOp::Lt | BinaryOp::Le);
        let known = counted && known::newest(&count).is_none() && step.as_constant() == Some(1);
        (known && st.known.facts.provably_nonnegative(&count)).then_some(count)
    }

    pub(super) fn general(&mut self, stmt: &'m Stmt, st: &mut State) {
        let StmtKind::Loop { condition, body, step, .. } = &stmt.kind else { return };
        let before = condition.iter().map(|c| &c.before);
        let blocks: Vec<&Block> = before.chain([body, step]).collect();
        self.around(&blocks, st, &mut |walk, inside| {
            inside.sure = false;
            if let Some(c) = condition.as_ref().filter(|c| !c.at_end) {
                walk.block(&c.before, inside);
                walk.value(&c.expr, inside);
                walk.assume(&c.expr, false, inside);
            }
            let reached = walk.block(body, inside);
            if let Some(c) = condition.as_ref().filter(|c| c.at_end) {
                walk.block(&c.before, inside);
                walk.value(&c.expr, inside);
            }
            // `continue` goes to the step as well; there it may not even hold what the body's end holds.
            let mut from_continue = inside.clone();
            if !step.stmts.is_empty() {
                let skips = walk.exits.last().is_some_and(|e| !e.is_empty());
                if skips {
                    for v in written_in(blocks.iter().copied()) {
                        walk.forget(v, &mut from_continue);
                    }
                    walk.block(step, &mut from_continue);
                    walk.exits
                        .iter_mut()
                        .last()
                        .into_iter()
                        .for_each(|e| e.push(from_continue.clone()));
                }
                walk.block(step, inside);
            }
            reached || !step.stmts.is_empty()
        });
    }

    /// Walks through the body of a loop. What it writes is not known inside, but for bounds that every iteration keeps:
    /// they are guessed, and those that an iteration breaks are dropped until none is left that does not hold.
    fn around(
        &mut self,
        blocks: &[&'m Block],
        st: &mut State,
        run: &mut dyn FnMut(&mut Walk<'m>, &mut State) -> bool,
    ) {
        let written: Vec<VarId> = written_in(blocks.iter().copied())
            .into_iter()
            .filter(|v| self.function.var(*v).ty.scalar().is_some_and(|s| s.is_integer()))
            .filter(|v| st.values.contains_key(v) || self.own_param(*v))
            .collect();
        let mut guesses: Vec<(VarId, bool, Poly)> = vec![];
        if self.guesses < MAX_GUESSES {
            for v in &written {
                let entry = st.values.get(v).cloned().unwrap_or_else(|| Poly::var(*v));
                guesses.push((*v, false, entry.clone()));
                guesses.push((*v, true, entry));
                guesses.push((*v, false, Poly::zero()));
            }
            let kept = |g: &(VarId, bool, Poly), s: &State| {
                let value = s.values.get(&g.0).cloned().unwrap_or_else(|| Poly::var(g.0));
                let facts = &s.known.facts;
                if g.1 { facts.provably_le(&value, &g.2) } else { facts.provably_le(&g.2, &value) }
            };
            guesses.retain(|g| kept(g, st));
            // A variable that is set to one of several values, as the row of a pivot is, lies between their ends.
            let outer = self.set_to.replace(vec![]);
            let mut first = true;
            while !written.is_empty() && (first || !guesses.is_empty()) {
                let ends = self.quietly(|walk| walk.one_pass(&written, &guesses, st, run));
                let before = guesses.len();
                guesses.retain(|g| ends.iter().all(|s| kept(g, s)));
                let mut more = self.set_to.replace(vec![]).filter(|_| first).unwrap_or_default();
                more.retain(|g| written.contains(&g.0) && !guesses.contains(g) && kept(g, st));
                more.sort();
                more.dedup();
                first = false;
                if guesses.len() == before && more.is_empty() {
                    break;
                }
                guesses.extend(more);
            }
            self.set_to = outer;
        }
        self.one_pass(&written, &guesses, st, run);
        for v in &written {
            let symbol = self.forget(*v, st);
            hold(&guesses, *v, symbol, st);
        }
    }

    /// The body once, from what is known at the head of every iteration; gives the states it ends in.
    fn one_pass(
        &mut self,
        written: &[VarId],
        guesses: &[(VarId, bool, Poly)],
        st: &State,
        run: &mut dyn FnMut(&mut Walk<'m>, &mut State) -> bool,
    ) -> Vec<State> {
        let mut inside = st.clone();
        for v in written {
            let symbol = self.forget(*v, &mut inside);
            hold(guesses, *v, symbol, &mut inside);
        }
        self.guesses += 1;
        self.exits.push(vec![]);
        let reached = run(self, &mut inside);
        let mut ends = self.exits.pop().unwrap_or_default();
        self.guesses -= 1;
        if reached {
            ends.push(inside);
        }
        ends
    }
}

/// The number that a statement adds to a variable, none where it takes some away; `None`: it sets it in another way.
fn added(stmt: &Stmt, v: VarId) -> Option<Poly> {
    if !written_in([&Block::new(vec![stmt.clone()])].into_iter()).contains(&v) {
        return Some(Poly::zero());
    }
    let StmtKind::Assign { place, value } = &stmt.kind else { return None };
    let more = Poly::from_expr(value)?.sub(&Poly::var(v))?.as_constant()?;
    (*place.kind == PlaceKind::Var(v)).then(|| Poly::constant(more.max(0)))
}

/// The variable that a polynomial is.
fn as_symbol(p: &Poly) -> Option<VarId> {
    match p.as_atom() {
        Some(Atom::Var(v)) => Some(*v),
        _ => None,
    }
}

/// States of a symbol what was guessed of a variable.
fn hold(guesses: &[(VarId, bool, Poly)], v: VarId, symbol: VarId, st: &mut State) {
    for (_, upper, p) in guesses.iter().filter(|g| g.0 == v) {
        let p = Some(p.clone());
        let (low, high) = if *upper { (None, p) } else { (p, None) };
        st.known.bound(symbol, low, high);
    }
}
