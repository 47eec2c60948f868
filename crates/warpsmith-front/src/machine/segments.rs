//! Statements taken apart into segments: each is straight text and says at its end which one runs next.

use std::collections::{BTreeMap, HashMap};

use warpsmith_ir::visit::{for_each_stmt_of, map_stmts, rename_vars, renew_loops};
use warpsmith_ir::{
    BinaryOp, Block, Case, Expr, FuncId, Function, LoopCondition, Origin, Place, Scalar, Span,
    Stmt, StmtKind, Type, VarId, VarKind,
};

use super::{Depth, Entries, Mark, assigned, local, mark};

/// One of the functions that a machine is made of.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub id: FuncId,
    pub function: Function,
}

impl Member {
    pub fn has_shared(&self) -> bool {
        let shared = |k| matches!(k, VarKind::Shared | VarKind::DynamicShared);
        self.function.vars.iter().any(|v| shared(v.kind))
    }
}

/// Where `break` and `continue` go.
#[derive(Clone, Copy, Debug, Default)]
struct Ways {
    leave: Option<u32>,
    next: Option<u32>,
}

/// What is in the making.
pub(super) struct Segments {
    /// The function that comes of it, with the variables of all members.
    pub out: Function,
    pub segments: Vec<Vec<Stmt>>,
    current: u32,
    /// First segments.
    pub entries: Entries,
    pub state: VarId,
    /// Of the stack of calls.
    pub depth: Option<Depth>,
    /// Variables for results, in the order of the members.
    pub results: BTreeMap<FuncId, VarId>,
    /// Parameters of the members, as variables of `out`.
    pub parameters: HashMap<FuncId, Vec<VarId>>,
    labels: HashMap<u32, u32>,
    /// The member whose text is taken apart.
    member: FuncId,
}

impl Segments {
    pub fn new(entry: &Member, members: &[Member], stack: bool) -> Segments {
        let mut out = entry.function.clone();
        let state = local(&mut out, "state", Type::U32);
        let depth = stack.then(|| Depth {
            level: local(&mut out, "level", Type::I32),
            back: local(&mut out, "back", Type::U32),
        });
        let mut s = Segments {
            out,
            segments: vec![],
            current: 0,
            entries: Entries::new(),
            state,
            depth,
            results: BTreeMap::new(),
            parameters: HashMap::new(),
            labels: HashMap::new(),
            member: entry.id,
        };
        let bodies: Vec<Block> = members.iter().map(|m| s.variables(m, entry.id)).collect();
        for (m, mut body) in members.iter().zip(bodies) {
            s.counted_loops(&mut body);
            s.results_apart(&mut body);
            s.member = m.id;
            s.current = s.entries[&m.id];
            s.block(&body, Ways::default());
            s.leave(None, None);
        }
        s.labels_without_place();
        s
    }

    fn segment(&mut self) -> u32 {
        self.segments.push(vec![]);
        self.segments.len() as u32 - 1
    }

    /// The text of a member, whose variables get names of their own unless it is the one that `out` was made from.
    fn variables(&mut self, m: &Member, entry: FuncId) -> Block {
        let first = self.segment();
        self.entries.insert(m.id, first);
        if m.function.ret != Type::Void {
            let result = local(&mut self.out, "result", m.function.ret.clone());
            self.results.insert(m.id, result);
        }
        let mut body = m.function.body.clone();
        let mut parameters = m.function.params.clone();
        if m.id != entry {
            let moved = {
                let offset = self.out.vars.len() as u32;
                move |v: VarId| VarId(v.0 + offset)
            };
            for v in &m.function.vars {
                let mut v = v.clone();
                v.kind = VarKind::Local;
                v.reference = false;
                self.out.add_var(v);
            }
            parameters.iter_mut().for_each(|v| *v = moved(*v));
            rename_vars(&mut body, &mut |v| moved(v));
            renew_loops(&mut self.out, &mut body);
        }
        self.parameters.insert(m.id, parameters);
        body
    }

    /// Counted loops that are taken apart, or whose counter outlives them, as loops with a condition.
    fn counted_loops(&mut self, body: &mut Block) {
        let apart: Vec<bool> = {
            let mut list = vec![];
            map_stmts(&mut body.clone(), &mut |s| {
                if let StmtKind::For(l) = &s.kind {
                    list.push(!l.declares || self.is_apart(s));
                }
            });
            list
        };
        let mut at = 0;
        let out = &mut self.out;
        map_stmts(body, &mut |s| {
            if let StmtKind::For(l) = &s.kind {
                if apart.get(at).copied().unwrap_or(true) {
                    s.kind = with_condition(out, l, s.origin.span);
                }
                at += 1;
            }
        });
    }

    /// Operations that set a variable without a place set one of their own, whose value is then assigned.
    fn results_apart(&mut self, body: &mut Block) {
        let out = &mut self.out;
        map_stmts(body, &mut |s| {
            let (StmtKind::Atomic { result, .. }
            | StmtKind::Warp { result, .. }
            | StmtKind::Barrier { result, .. }) = &mut s.kind
            else {
                return;
            };
            let Some(wanted) = *result else { return };
            let ty = out.var(wanted).ty.clone();
            let own = local(out, "old", ty.clone());
            *result = Some(own);
            let operation = Stmt::new(s.kind.clone(), s.origin.clone());
            let kept = assigned(out, wanted, Expr::var(own, ty));
            let stmts = vec![
                Stmt::new(StmtKind::Decl { var: own, init: None }, s.origin.clone()),
                operation,
                Stmt::new(kept, s.origin.clone()),
            ];
            s.kind = StmtKind::Scope(Block::new(stmts));
        });
    }

    fn push(&mut self, kind: StmtKind, span: Option<Span>) {
        let stmt = Stmt::new(kind, span.map_or_else(Origin::default, Origin::from));
        self.segments[self.current as usize].push(stmt);
    }

    fn go(&mut self, to: u32, span: Option<Span>) {
        let kind = assigned(&self.out, self.state, number(to));
        self.push(kind, span);
    }

    fn continue_in(&mut self, segment: u32) {
        self.current = segment;
    }

    /// Ends the current segment by a choice.
    fn choose(&mut self, cond: Expr, yes: u32, no: u32, span: Option<Span>) {
        let to = |s: &Self, n| {
            Block::new(vec![Stmt::new(assigned(&s.out, s.state, number(n)), s.out.origin.clone())])
        };
        let (then, otherwise) = (to(self, yes), to(self, no));
        self.push(StmtKind::If { cond, then, otherwise }, span);
    }

    /// Whether a statement is taken apart: it holds a jump, a label, a call among the members or, where calls have
    /// levels, the end of one; or a `break` or `continue` of a loop around it, which is taken apart, too.
    fn is_apart(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        for_each_stmt_of(stmt, &mut |s| {
            found |= match &s.kind {
                StmtKind::Return(_) => self.depth.is_some(),
                StmtKind::Call { function, .. } => {
                    mark(&s.kind).is_some()
                        || self.depth.is_some() && self.entries.contains_key(function)
                }
                _ => false,
            };
        });
        found || leaves(stmt)
    }

    fn block(&mut self, block: &Block, ways: Ways) {
        for stmt in &block.stmts {
            match self.is_apart(stmt) {
                true => self.apart(stmt, ways),
                false => self.segments[self.current as usize].push(stmt.clone()),
            }
        }
    }

    fn apart(&mut self, stmt: &Stmt, ways: Ways) {
        let span = stmt.origin.span;
        match &stmt.kind {
            StmtKind::Scope(b) => self.block(b, ways),
            StmtKind::If { cond, then, otherwise } => {
                let (yes, no, end) = (self.segment(), self.segment(), self.segment());
                self.choose(cond.clone(), yes, no, span);
                for (first, arm) in [(yes, then), (no, otherwise)] {
                    self.continue_in(first);
                    self.block(arm, ways);
                    self.go(end, span);
                }
                self.continue_in(end);
            }
            StmtKind::Loop { condition, body, step, .. } => {
                self.repeat(condition.as_ref(), body, step, span);
            }
            StmtKind::Switch { selector, cases } => self.switch(selector, cases, ways, span),
            StmtKind::Break => self.away(ways.leave, span),
            StmtKind::Continue => self.away(ways.next, span),
            StmtKind::Return(value) => {
                self.leave(value.as_ref(), span);
                let dead = self.segment();
                self.continue_in(dead);
            }
            StmtKind::Call { function, args, result } => match mark(&stmt.kind) {
                Some(Mark::Jump(to)) => {
                    let to = self.label(to);
                    self.away(Some(to), span);
                }
                Some(Mark::Label(number)) => {
                    let here = self.label(number);
                    self.go(here, span);
                    self.continue_in(here);
                }
                None => self.call(*function, args, result.as_ref(), span),
            },
            _ => self.segments[self.current as usize].push(stmt.clone()),
        }
    }

    fn label(&mut self, number: u32) -> u32 {
        match self.labels.get(&number) {
            Some(segment) => *segment,
            None => {
                let segment = self.segment();
                self.labels.insert(number, segment);
                segment
            }
        }
    }

    /// A statement with an error in it may have held a label; the error is reported.
    fn labels_without_place(&mut self) {
        for segment in self.labels.values() {
            let stmts = &mut self.segments[*segment as usize];
            if stmts.is_empty() {
                stmts.push(Stmt::new(StmtKind::Trap, self.out.origin.clone()));
            }
        }
    }

    /// Goes elsewhere for good: what follows is reached by a label only.
    fn away(&mut self, to: Option<u32>, span: Option<Span>) {
        if let Some(to) = to {
            self.go(to, span);
        }
        let dead = self.segment();
        self.continue_in(dead);
    }

    fn repeat(
        &mut self,
        condition: Option<&LoopCondition>,
        body: &Block,
        step: &Block,
        span: Option<Span>,
    ) {
        let [head, inside, next, end] = [(); 4].map(|()| self.segment());
        let at_end = condition.is_some_and(|c| c.at_end);
        self.go(if at_end { inside } else { head }, span);
        let ways = Ways { leave: Some(end), next: Some(next) };
        self.continue_in(head);
        match condition {
            Some(c) => {
                self.block(&c.before, Ways::default());
                self.choose(c.expr.clone(), inside, end, span);
            }
            None => self.go(inside, span),
        }
        self.continue_in(inside);
        self.block(body, ways);
        self.go(next, span);
        self.continue_in(next);
        self.block(step, Ways::default());
        self.go(head, span);
        self.continue_in(end);
    }

    fn switch(&mut self, selector: &Expr, cases: &[Case], ways: Ways, span: Option<Span>) {
        let firsts: Vec<u32> = cases.iter().map(|_| self.segment()).collect();
        let end = self.segment();
        let mut chosen = vec![];
        let mut has_default = false;
        for (case, first) in cases.iter().zip(&firsts) {
            has_default |= case.is_default;
            chosen.push(self.way(case.values.clone(), case.is_default, *first));
        }
        if !has_default {
            chosen.push(self.way(vec![], true, end));
        }
        self.push(StmtKind::Switch { selector: selector.clone(), cases: chosen }, span);
        for (at, case) in cases.iter().enumerate() {
            self.continue_in(firsts[at]);
            self.block(&case.body, Ways { leave: Some(end), next: ways.next });
            self.go(firsts.get(at + 1).copied().unwrap_or(end), span);
        }
        self.continue_in(end);
    }

    fn way(&self, values: Vec<i64>, is_default: bool, to: u32) -> Case {
        let origin = self.out.origin.clone();
        let stmts = vec![
            Stmt::new(assigned(&self.out, self.state, number(to)), origin.clone()),
            Stmt::new(StmtKind::Break, origin.clone()),
        ];
        Case { values, is_default, body: Block::new(stmts) }
    }

    /// The end of a member: its result is kept, and the level below goes on.
    fn leave(&mut self, value: Option<&Expr>, span: Option<Span>) {
        let result = self.results.get(&self.member).copied();
        if let (Some(result), Some(value)) = (result, value) {
            let kind = assigned(&self.out, result, value.clone());
            self.push(kind, span);
        }
        let Some(d) = self.depth else { return self.go(END, span) };
        let level = Expr::var(d.level, Type::I32);
        let lower =
            assigned(&self.out, d.level, Expr::binary(BinaryOp::Sub, level.clone(), Expr::i32(1)));
        let back = Expr::var(d.back, Type::U32);
        let origin = self.out.origin.clone();
        let then = Block::new(vec![
            Stmt::new(lower, origin.clone()),
            Stmt::new(assigned(&self.out, self.state, back), origin.clone()),
        ]);
        let otherwise = Block::new(vec![Stmt::new(
            assigned(&self.out, self.state, number(END)),
            origin.clone(),
        )]);
        let cond = Expr::binary(BinaryOp::Gt, level, Expr::i32(0));
        self.push(StmtKind::If { cond, then, otherwise }, span);
    }

    /// A call among the members: the level above begins, and the result is taken when this one goes on.
    fn call(&mut self, callee: FuncId, args: &[Expr], result: Option<&Place>, span: Option<Span>) {
        let Some(d) = self.depth else { return };
        let mut values = vec![];
        for arg in args {
            let value = local(&mut self.out, "argument", arg.ty.clone());
            self.push(StmtKind::Decl { var: value, init: Some(arg.clone()) }, span);
            values.push(Expr::var(value, arg.ty.clone()));
        }
        let after = self.segment();
        let kind = assigned(&self.out, d.back, number(after));
        self.push(kind, span);
        let higher = Expr::binary(BinaryOp::Add, Expr::var(d.level, Type::I32), Expr::i32(1));
        let kind = assigned(&self.out, d.level, higher);
        self.push(kind, span);
        // What bounds the depth is put in when the size of a level is known.
        let cond = Expr::constant(warpsmith_ir::Value { ty: Scalar::Bool, bits: 1 });
        let text = format!("{DEPTH}{}", self.out.name);
        self.push(StmtKind::Assert { cond, text }, span);
        let entry = self.entries[&callee];
        self.calls_with(callee, values, span);
        self.go(entry, span);
        self.continue_in(after);
        let value = self.results.get(&callee).map(|r| Expr::var(*r, self.out.var(*r).ty.clone()));
        if let (Some(place), Some(value)) = (result, value) {
            self.push(StmtKind::Assign { place: place.clone(), value }, span);
        }
    }

    /// Parameters are assigned as variables of the level that begins.
    fn calls_with(&mut self, callee: FuncId, values: Vec<Expr>, span: Option<Span>) {
        let parameters = self.parameters_of(callee);
        for (parameter, value) in parameters.into_iter().zip(values) {
            let ty = self.out.var(parameter).ty.clone();
            let value = if value.ty == ty { value } else { value.cast(ty) };
            let kind = assigned(&self.out, parameter, value);
            self.push(kind, span);
        }
    }

    fn parameters_of(&self, callee: FuncId) -> Vec<VarId> {
        self.parameters.get(&callee).cloned().unwrap_or_default()
    }
}

/// The state at the end: no segment has this number.
pub(super) const END: u32 = u32::MAX;
/// Begins the text of an assertion whose bound is not known yet.
const DEPTH: &str = "depth of ";

fn number(n: u32) -> Expr {
    Expr::int(Scalar::U32, i64::from(n))
}

/// Puts the bound on levels into the assertions that wait for it.
pub(super) fn bound_depth(segments: &mut [Vec<Stmt>], level: VarId, levels: u64) {
    for stmt in segments.iter_mut().flatten() {
        if let StmtKind::Assert { cond, text } = &mut stmt.kind
            && let Some(name) = text.strip_prefix(DEPTH)
        {
            *text = format!("the stack holds {levels} calls of {name}, one in the other");
            let bound = Expr::i32(levels as i32);
            *cond = Expr::binary(BinaryOp::Lt, Expr::var(level, Type::I32), bound);
        }
    }
}

/// Whether a statement has a `break` or `continue` that leaves it.
fn leaves(stmt: &Stmt) -> bool {
    fn any(block: &Block, breaks: bool, continues: bool) -> bool {
        block.stmts.iter().any(|s| of(s, breaks, continues))
    }
    fn of(s: &Stmt, breaks: bool, continues: bool) -> bool {
        match &s.kind {
            StmtKind::Break => breaks,
            StmtKind::Continue => continues,
            StmtKind::If { then, otherwise, .. } => {
                any(then, breaks, continues) || any(otherwise, breaks, continues)
            }
            StmtKind::Scope(b) => any(b, breaks, continues),
            StmtKind::Switch { cases, .. } => cases.iter().any(|c| any(&c.body, false, continues)),
            _ => false,
        }
    }
    of(stmt, true, true)
}

/// A counted loop as one with a condition; limit and step are computed once, as there.
fn with_condition(out: &mut Function, l: &warpsmith_ir::ForLoop, span: Option<Span>) -> StmtKind {
    let ty = l.first.ty.clone();
    let origin = span.map_or_else(Origin::default, Origin::from);
    let (limit, step) = (local(out, "limit", ty.clone()), local(out, "step", ty.clone()));
    let counter = Expr::var(l.var, ty.clone());
    let mut stmts = vec![
        Stmt::new(StmtKind::Decl { var: limit, init: Some(l.limit.clone()) }, origin.clone()),
        Stmt::new(StmtKind::Decl { var: step, init: Some(l.step.clone()) }, origin.clone()),
    ];
    let first = match l.declares {
        true => StmtKind::Decl { var: l.var, init: Some(l.first.clone()) },
        false => assigned(out, l.var, l.first.clone()),
    };
    stmts.push(Stmt::new(first, origin.clone()));
    let expr = Expr::binary(l.compare, counter.clone(), Expr::var(limit, ty.clone()));
    let condition = LoopCondition { before: Block::default(), expr, at_end: false };
    let next = Expr::binary(BinaryOp::Add, counter, Expr::var(step, ty));
    let step = Block::new(vec![Stmt::new(assigned(out, l.var, next), origin.clone())]);
    let looped =
        StmtKind::Loop { id: l.id, condition: Some(condition), body: l.body.clone(), step };
    stmts.push(Stmt::new(looped, origin.clone()));
    StmtKind::Scope(Block::new(stmts))
}
