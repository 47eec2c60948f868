//! One thread on its way through the unmodified and the rewritten kernel side by side.
//!
//! Both texts are the same but for reads, copies, barriers, and stores that nothing needs any more. If every read that
//! differs gives the same value, all variables have the same values in both, so that one state is enough.

use std::collections::BTreeSet;

use warpsmith_ir::visit::{for_each_expr, for_each_stmt, for_each_stmt_of};
use warpsmith_ir::{
    BarrierKind, BinaryOp, Block, Expr, ExprKind, ForLoop, FuncId, Module, Place, PlaceKind, Span,
    Stmt, StmtKind, Type, VarId, VarKind,
};

use super::differ;
use super::eval::{Eval, Frame, Held, Memory};
use super::formula::{Sum, Truth};
use super::poly::Poly;
use super::tree::{Array, Tree};

/// Something that happens in order with barriers.
#[derive(Clone, Debug)]
pub struct Event {
    pub what: What,
    /// When it happens to a thread.
    pub when: Truth,
    /// The loops with barriers that it is in, outermost first.
    pub loops: Vec<usize>,
}

#[derive(Clone, Debug)]
pub enum What {
    Barrier,
    /// A store to a shared array.
    Store {
        array: Array,
        at: Poly,
        value: Tree,
        extra: bool,
    },
    /// A store of the unmodified kernel to global memory.
    Result {
        array: Array,
        at: Poly,
        value: Tree,
        span: Option<Span>,
    },
    /// A read that differs: what it gave, and what it gives now.
    Read {
        old: Tree,
        new: Tree,
        /// Where it stands now: the whole, then its parts.
        at: Vec<Span>,
    },
}

/// A loop with barriers: its events.
#[derive(Clone, Debug)]
pub struct Turns {
    pub first: usize,
    pub end: usize,
    /// The name of the number of the iteration.
    pub counter: String,
}

/// What both kernels do.
pub struct Walked {
    pub events: Vec<Event>,
    pub loops: Vec<Turns>,
    pub loads: Vec<super::eval::Loaded>,
    /// Elements of shared arrays that both kernels read.
    pub shared_reads: Vec<super::eval::Loaded>,
    /// Arrays of which stores are gone.
    pub dropped: Vec<Array>,
    /// A barrier of the unmodified kernel is gone.
    pub unbarred: bool,
    /// Sums that are not below zero: unsigned parameters.
    pub naturals: Vec<String>,
    /// Whole parameters of the kernel: name in formulas, name in the text.
    pub sizes: Vec<(String, String)>,
}

/// Why nothing is proved of a kernel.
pub type Refused = String;

/// Iterations of a loop that are looked at one by one, at most.
const MAX_UNROLLED: i64 = 80;

pub struct Walker<'a> {
    eval: Eval<'a>,
    old: &'a Module,
    new: &'a Module,
    out: Walked,
    /// Loops with barriers around, by number.
    turns: Vec<usize>,
    /// Conditions around.
    depth: u32,
    calls: u32,
}

/// Walks both kernels.
///
/// # Errors
/// A construct that proofs do not cover.
pub fn walk(
    old: (&Module, FuncId),
    new: (&Module, FuncId),
    block: [u32; 3],
) -> Result<Walked, Refused> {
    let (before, after) = (old.0.function(old.1), new.0.function(new.1));
    let names = |f: &warpsmith_ir::Function| -> Vec<(String, Type)> {
        f.vars.iter().map(|v| (v.name.clone(), v.ty.clone())).collect()
    };
    if names(before) != names(after) {
        return Err("the rewritten kernel has other variables".into());
    }
    let others = old.0.functions.iter().enumerate().filter(|(i, _)| *i != old.1.0 as usize);
    let shared = |f: &warpsmith_ir::Function| {
        f.vars.iter().any(|v| matches!(v.kind, VarKind::Shared | VarKind::DynamicShared))
    };
    if others.clone().any(|(_, f)| shared(f)) {
        return Err("functions have shared arrays of their own".into());
    }
    if before.vars.iter().filter(|v| v.kind == VarKind::DynamicShared).count() > 1 {
        return Err("several dynamic shared arrays lie at one place".into());
    }
    let eval = Eval {
        module: old.0,
        block,
        frame: Frame { function: old.1.0 as usize, ..Frame::default() },
        path: Truth::Always,
        fresh: 0,
        written: written(before),
        loads: vec![],
        shared_reads: vec![],
        noting: true,
        known: Default::default(),
    };
    let out = Walked {
        events: vec![],
        loops: vec![],
        loads: vec![],
        shared_reads: vec![],
        dropped: vec![],
        unbarred: false,
        naturals: vec![],
        sizes: vec![],
    };
    let mut walker =
        Walker { eval, old: old.0, new: new.0, out, turns: vec![], depth: 0, calls: 0 };
    walker.parameters(before);
    walker.block(&before.body.stmts, &after.body.stmts)?;
    walker.out.loads = walker.eval.loads;
    walker.out.shared_reads = walker.eval.shared_reads;
    Ok(walker.out)
}

/// Arrays that a kernel may write: parameters that are used in another way than to be read from.
fn written(f: &warpsmith_ir::Function) -> Vec<Array> {
    let mut uses = vec![0i32; f.vars.len()];
    for_each_expr(&f.body, &mut |e| {
        let ExprKind::Read(place) = &*e.kind else { return };
        match &*place.kind {
            PlaceKind::Var(v) => uses[v.0 as usize] += 1,
            PlaceKind::Elem { pointer, .. } | PlaceKind::Deref(pointer) => {
                if let Some(v) = variable(pointer) {
                    uses[v.0 as usize] -= 1;
                }
            }
            _ => {}
        }
    });
    let changes = |p: &&VarId| {
        let var = f.var(**p);
        let fixed = matches!(var.ty, Type::Pointer { readonly: true, volatile: false, .. });
        var.ty.is_pointer() && !fixed && uses[p.0 as usize] > 0
    };
    f.params.iter().filter(changes).map(|p| Array::Variable(p.0)).collect()
}

fn variable(e: &Expr) -> Option<VarId> {
    match &*e.kind {
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Walker<'a> {
    fn parameters(&mut self, f: &warpsmith_ir::Function) {
        for p in &f.params {
            let var = f.var(*p);
            let held = match &var.ty {
                Type::Scalar(warpsmith_ir::Scalar::Bool) => {
                    Held::Truth(Truth::Name(format!("u_{}", p.0).into()))
                }
                Type::Scalar(s) if s.is_integer() => {
                    let name = format!("u_{}", p.0);
                    self.out.sizes.push((name.clone(), var.name.clone()));
                    if !s.is_signed() {
                        self.out.naturals.push(name.clone());
                    }
                    Held::Whole(Poly::size(&name))
                }
                Type::Pointer { .. } => {
                    Held::Pointer(Memory::Global(Array::Variable(p.0)), Poly::default())
                }
                // One value for all threads: what it is does not matter.
                _ => Held::Tree(Tree::Apply(format!("parameter {}", p.0), vec![])),
            };
            self.eval.frame.vars.insert(p.0, held);
        }
    }

    fn block(&mut self, old: &'a [Stmt], new: &'a [Stmt]) -> Result<(), Refused> {
        let (mut i, mut j) = (0, 0);
        while i < old.len() || j < new.len() {
            match (old.get(i), new.get(j)) {
                (Some(a), Some(b)) if alike(a, b) => {
                    self.both(a, b)?;
                    i += 1;
                    j += 1;
                }
                (_, Some(b)) if self.is_copy(b) && !old[i..].iter().any(|a| alike(a, b)) => {
                    self.copy(b)?;
                    j += 1;
                }
                (
                    _,
                    Some(Stmt { kind: StmtKind::Barrier { kind: BarrierKind::Block, .. }, .. }),
                ) => {
                    self.barrier()?;
                    j += 1;
                }
                (
                    Some(Stmt { kind: StmtKind::Barrier { kind: BarrierKind::Block, .. }, .. }),
                    _,
                ) => {
                    self.out.unbarred = true;
                    i += 1;
                }
                (Some(Stmt { kind: StmtKind::Assign { place, value }, .. }), _) => {
                    self.gone(place, value)?;
                    i += 1;
                }
                // Blocks without anything in them.
                (Some(Stmt { kind: StmtKind::Scope(b), .. }), _) if b.stmts.is_empty() => i += 1,
                (_, Some(Stmt { kind: StmtKind::Scope(b), .. })) if b.stmts.is_empty() => j += 1,
                _ => return Err("the rewritten kernel has other statements".into()),
            }
        }
        Ok(())
    }

    fn kernel_var(&self, v: VarId) -> &warpsmith_ir::Var {
        &self.old.functions[self.eval.frame.function].vars[v.0 as usize]
    }

    /// A store to shared memory, or such under a condition.
    fn is_copy(&self, s: &Stmt) -> bool {
        let mut copy = true;
        let mut any = false;
        for_each_stmt_of(s, &mut |s| match &s.kind {
            StmtKind::Assign { place, .. } => {
                let shared = root(place).is_some_and(|v| {
                    matches!(self.kernel_var(v).kind, VarKind::Shared | VarKind::DynamicShared)
                });
                any = true;
                copy &= shared;
            }
            StmtKind::If { .. } | StmtKind::Scope(_) => {}
            _ => copy = false,
        });
        copy && any && self.calls == 0
    }

    fn copy(&mut self, s: &'a Stmt) -> Result<(), Refused> {
        match &s.kind {
            StmtKind::Assign { place, value } => {
                let noting = std::mem::replace(&mut self.eval.noting, false);
                let (memory, at) = self.eval.address(place);
                let value = self.eval.tree(value);
                self.eval.noting = noting;
                if let Memory::Shared(array) = memory {
                    self.event(What::Store { array, at, value, extra: true });
                }
            }
            StmtKind::Scope(b) => b.stmts.iter().try_for_each(|s| self.copy(s))?,
            StmtKind::If { cond, then, otherwise } => {
                let noting = std::mem::replace(&mut self.eval.noting, false);
                let c = self.eval.truth(cond);
                self.eval.noting = noting;
                let before = self.eval.path.clone();
                self.eval.path = before.and(&c);
                then.stmts.iter().try_for_each(|s| self.copy(s))?;
                self.eval.path = before.and(&c.negated());
                otherwise.stmts.iter().try_for_each(|s| self.copy(s))?;
                self.eval.path = before;
            }
            _ => {}
        }
        Ok(())
    }

    /// A store of the unmodified kernel that is gone.
    fn gone(&mut self, place: &Place, value: &Expr) -> Result<(), Refused> {
        let (memory, at) = self.eval.address(place);
        let Memory::Global(array) = memory else {
            return Err("the rewritten kernel has other statements".into());
        };
        let value = self.eval.tree(value);
        if !self.out.dropped.contains(&array) {
            self.out.dropped.push(array.clone());
        }
        self.event(What::Result { array, at, value, span: place.origin.span });
        Ok(())
    }

    fn event(&mut self, what: What) {
        let (when, loops) = (self.eval.path.clone(), self.turns.clone());
        self.out.events.push(Event { what, when, loops });
    }

    fn barrier(&mut self) -> Result<(), Refused> {
        if self.depth > 0 {
            return Err("a barrier is under a condition".into());
        }
        self.event(What::Barrier);
        Ok(())
    }

    /// An expression of both texts: what differs is noted; its value is the old one.
    fn compared(&mut self, old: &'a Expr, new: &'a Expr) {
        let mut pairs = vec![];
        differ::exprs(old, new, &mut pairs);
        for (a, b) in pairs {
            let noting = std::mem::replace(&mut self.eval.noting, false);
            let (was, is) = (self.eval.tree(a), self.eval.tree(b));
            self.eval.noting = noting;
            let mut at: Vec<Span> = b.origin.span.into_iter().collect();
            for_each_expr_of(b, &mut |e| at.extend(e.origin.span));
            self.event(What::Read { old: was, new: is, at });
        }
    }

    fn both(&mut self, old: &'a Stmt, new: &'a Stmt) -> Result<(), Refused> {
        match (&old.kind, &new.kind) {
            (StmtKind::Decl { var, init }, StmtKind::Decl { init: after, .. }) => {
                let held = match (init, after) {
                    (Some(a), Some(b)) => {
                        self.compared(a, b);
                        self.eval.held(a)
                    }
                    _ => {
                        let ty = self.kernel_var(*var).ty.clone();
                        self.eval.unknown_of(&ty)
                    }
                };
                self.eval.frame.vars.insert(var.0, held);
                Ok(())
            }
            (StmtKind::Assign { place, value }, StmtKind::Assign { value: after, .. }) => {
                self.compared(value, after);
                self.assign(place, value)
            }
            (
                StmtKind::If { cond, then, otherwise },
                StmtKind::If { cond: c, then: t, otherwise: o },
            ) => {
                self.compared(cond, c);
                self.branch(cond, (then, t), (otherwise, o))
            }
            (StmtKind::Scope(a), StmtKind::Scope(b)) => self.block(&a.stmts, &b.stmts),
            (StmtKind::For(a), StmtKind::For(b)) => self.counted(a, b),
            (StmtKind::Loop { .. }, StmtKind::Loop { .. }) => self.other_loop(old, new),
            (StmtKind::Barrier { kind: BarrierKind::Block, .. }, _) => self.barrier(),
            (StmtKind::Return(value), StmtKind::Return(after)) => {
                let held = match (value, after) {
                    (Some(a), Some(b)) => {
                        self.compared(a, b);
                        Some(self.eval.held(a))
                    }
                    _ => None,
                };
                let when = std::mem::replace(&mut self.eval.path, Truth::Never);
                self.eval.frame.returned.push((when, held));
                Ok(())
            }
            (StmtKind::Break | StmtKind::Continue, _) => {
                self.eval.path = Truth::Never;
                Ok(())
            }
            (StmtKind::Call { function, args, result }, StmtKind::Call { args: after, .. }) => {
                args.iter().zip(after).for_each(|(a, b)| self.compared(a, b));
                self.call(*function, args, result.as_ref())
            }
            (StmtKind::Printf { .. } | StmtKind::Assert { .. } | StmtKind::Fence(_), _) => Ok(()),
            (StmtKind::Assume { cond, .. }, _) => {
                let c = self.eval.truth(cond);
                self.eval.path = self.eval.path.and(&c);
                Ok(())
            }
            _ => Err("the kernel has a statement that proofs do not cover".into()),
        }
    }

    fn assign(&mut self, place: &'a Place, value: &'a Expr) -> Result<(), Refused> {
        if let PlaceKind::Var(v) = &*place.kind
            && !matches!(place.ty, Type::Array(..))
            && self.kernel_var(*v).kind != VarKind::Shared
        {
            let held = self.eval.held(value);
            self.eval.frame.vars.insert(v.0, held);
            return Ok(());
        }
        let (memory, at) = self.eval.address(place);
        let value = self.eval.tree(value);
        match memory {
            Memory::Shared(array) => self.event(What::Store { array, at, value, extra: false }),
            Memory::Global(array) => {
                self.event(What::Result { array, at, value, span: place.origin.span });
            }
            Memory::Other => match root(place) {
                // A part of a variable of the thread.
                Some(v) if self.kernel_var(v).kind == VarKind::Local => {
                    let ty = self.kernel_var(v).ty.clone();
                    let held = self.eval.unknown_of(&ty);
                    self.eval.frame.vars.insert(v.0, held);
                }
                _ => return Err("it is not known what a pointer of the kernel writes to".into()),
            },
        }
        Ok(())
    }

    fn branch(
        &mut self,
        cond: &'a Expr,
        then: (&'a Block, &'a Block),
        otherwise: (&'a Block, &'a Block),
    ) -> Result<(), Refused> {
        let c = self.eval.truth(cond);
        let before = self.eval.path.clone();
        let vars = self.eval.frame.vars.clone();
        self.depth += 1;
        self.eval.path = before.and(&c);
        let whole = self.eval.path.clone();
        self.block(&then.0.stmts, &then.1.stmts)?;
        let (first, first_vars) =
            (self.eval.path.clone(), std::mem::replace(&mut self.eval.frame.vars, vars));
        self.eval.path = before.and(&c.negated());
        let rest = self.eval.path.clone();
        self.block(&otherwise.0.stmts, &otherwise.1.stmts)?;
        self.depth -= 1;
        let second = self.eval.path.clone();
        self.eval.path = match first == whole && second == rest {
            true => before,
            false => first.or(&second),
        };
        self.merge(&c, first_vars);
        Ok(())
    }

    /// Variables after a branch: those of `yes` where the condition holds, else those that are there.
    fn merge(&mut self, c: &Truth, yes: std::collections::HashMap<u32, Held>) {
        let mut names: Vec<u32> = yes.keys().copied().collect();
        names.sort_unstable();
        for v in names {
            let Some(no) = self.eval.frame.vars.get(&v).cloned() else { continue };
            let a = &yes[&v];
            if *a == no {
                continue;
            }
            let held = match (a, &no) {
                (Held::Whole(a), Held::Whole(b)) => Held::Whole(Poly::choose(c, a, b)),
                (Held::Truth(a), Held::Truth(b)) => Held::Truth(c.negated().or(a).and(&c.or(b))),
                (Held::Tree(a), Held::Tree(b)) => Held::Tree(Tree::choose(c, a.clone(), b.clone())),
                (Held::Pointer(m, a), Held::Pointer(n, b)) if m == n => {
                    Held::Pointer(m.clone(), Poly::choose(c, a, b))
                }
                _ => {
                    let ty = self.kernel_var(VarId(v)).ty.clone();
                    self.eval.unknown_of(&ty)
                }
            };
            self.eval.frame.vars.insert(v, held);
        }
    }

    /// Variables that statements set hold anything.
    fn forget(&mut self, blocks: &[&Block]) {
        for v in set_by(blocks) {
            if (v as usize) < self.old.functions[self.eval.frame.function].vars.len() {
                let ty = self.kernel_var(VarId(v)).ty.clone();
                let held = self.eval.unknown_of(&ty);
                self.eval.frame.vars.insert(v, held);
            }
        }
    }

    fn counted(&mut self, old: &'a ForLoop, new: &'a ForLoop) -> Result<(), Refused> {
        let (first, limit, step) = (
            self.eval.whole(&old.first),
            self.eval.whole(&old.limit),
            self.eval.whole(&old.step).constant(),
        );
        let Some(step) = step.filter(|s| *s != 0) else {
            let step = self.eval.whole(&old.step);
            return self.anywhere(old, new, &[&first, &limit, &step]);
        };
        if let Some(count) = self.unrolled(old, new, &first, &limit, step) {
            return self.one_by_one(old, new, &first, &limit, step, count);
        }
        let barred = has_barrier(self.new, &new.body);
        if barred && (is_own(&first.sum()) || is_own(&limit.sum()) || self.depth > 0) {
            return Err("threads go through a loop with a barrier differently".into());
        }
        self.eval.fresh += 1;
        let name = format!("{}_n{}", if barred { "u" } else { "t" }, self.eval.fresh);
        let n = Poly::of(Sum::name(&name));
        let before = self.eval.frame.vars.clone();
        self.forget(&[&old.body]);
        self.inductive(&old.body, None, &before, &n);
        let counter = first.plus(&n, step);
        self.eval.frame.vars.insert(old.var.0, Held::Whole(counter.clone()));
        let goes = self.goes_on(old.compare, &counter, &limit);
        self.turn(barred.then_some(name), goes, &[(&old.body, &new.body)])?;
        self.forget(&[&old.body]);
        let ty = self.kernel_var(old.var).ty.clone();
        let held = self.eval.unknown_of(&ty);
        self.eval.frame.vars.insert(old.var.0, held);
        Ok(())
    }

    /// A loop in steps that are not constant, of the grid, say: its counter may be anything, the same for all threads where
    /// they go through barriers together.
    fn anywhere(
        &mut self,
        old: &'a ForLoop,
        new: &'a ForLoop,
        made_from: &[&Poly],
    ) -> Result<(), Refused> {
        let barred = has_barrier(self.new, &new.body);
        if barred && (made_from.iter().any(|p| is_own(&p.sum())) || self.depth > 0) {
            return Err("threads go through a loop with a barrier differently".into());
        }
        self.eval.fresh += 1;
        let name = format!("{}_v{}", if barred { "u" } else { "t" }, self.eval.fresh);
        self.forget(&[&old.body]);
        let counter = Poly::of(Sum::name(&name));
        self.eval.frame.vars.insert(old.var.0, Held::Whole(counter.clone()));
        let goes = self.goes_on(old.compare, &counter, made_from[1]);
        self.turn(barred.then_some(name), goes, &[(&old.body, &new.body)])?;
        self.forget(&[&old.body]);
        let ty = self.kernel_var(old.var).ty.clone();
        let held = self.eval.unknown_of(&ty);
        self.eval.frame.vars.insert(old.var.0, held);
        Ok(())
    }

    fn goes_on(&self, compare: BinaryOp, counter: &Poly, limit: &Poly) -> Truth {
        let (a, b) = (counter.sum(), limit.sum());
        match compare {
            BinaryOp::Lt => Truth::below(&a, &b),
            BinaryOp::Le => Truth::at_most(&a, &b),
            BinaryOp::Gt => Truth::below(&b, &a),
            BinaryOp::Ge => Truth::at_most(&b, &a),
            _ => Truth::equal(&a, &b).negated(),
        }
    }

    /// Variables to which the same is added in every iteration.
    fn inductive(
        &mut self,
        body: &'a Block,
        step: Option<&'a Block>,
        before: &std::collections::HashMap<u32, Held>,
        n: &Poly,
    ) {
        let blocks: Vec<&Block> = std::iter::once(body).chain(step).collect();
        let set = set_by(&blocks);
        for s in blocks.iter().flat_map(|b| &b.stmts) {
            let StmtKind::Assign { place, value } = &s.kind else { continue };
            let PlaceKind::Var(v) = &*place.kind else { continue };
            let Some(Held::Whole(start)) = before.get(&v.0) else { continue };
            let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = &*value.kind else {
                continue;
            };
            let by = match (variable(a), variable(b)) {
                (Some(x), _) if x == *v => b,
                (_, Some(x)) if x == *v && *op == BinaryOp::Add => a,
                _ => continue,
            };
            let mut fixed = sets_once(&blocks, *v) && !has_jump(body);
            for_each_expr_of(by, &mut |e| {
                fixed &= match &*e.kind {
                    ExprKind::Read(p) => match &*p.kind {
                        PlaceKind::Var(x) => !set.contains(&x.0),
                        _ => false,
                    },
                    _ => true,
                };
            });
            if fixed {
                let by = self.eval.whole(by);
                let sign = if *op == BinaryOp::Add { 1 } else { -1 };
                let held = Held::Whole(start.plus(&n.times(&by), sign));
                self.eval.frame.vars.insert(v.0, held);
            }
        }
    }

    /// One iteration that stands for all.
    fn turn(
        &mut self,
        counter: Option<String>,
        goes: Truth,
        parts: &[(&'a Block, &'a Block)],
    ) -> Result<(), Refused> {
        let barred = counter.is_some();
        let jumps = parts.iter().any(|(b, _)| has_jump(b));
        let leaves = parts.iter().any(|(b, _)| has_return(b));
        let stores = parts.iter().any(|(_, b)| self.stores_shared(b));
        if (barred || stores) && (jumps || leaves) {
            return Err("a loop with shared memory in it is left in the middle".into());
        }
        let before = self.eval.path.clone();
        let first = self.out.events.len();
        let number = self.out.loops.len();
        if let Some(counter) = counter {
            self.out.loops.push(Turns { first, end: first, counter });
            self.turns.push(number);
        }
        let depth = self.depth;
        if !barred {
            self.depth += 1;
        }
        self.eval.path = before.and(&goes);
        for (a, b) in parts {
            self.block(&a.stmts, &b.stmts)?;
        }
        self.depth = depth;
        if barred {
            self.turns.pop();
            self.out.loops[number].end = self.out.events.len();
        }
        self.eval.path = match leaves {
            true => {
                let any = self.eval.unknown_of(&Type::BOOL);
                match any {
                    Held::Truth(t) => before.and(&t),
                    _ => before,
                }
            }
            false => before,
        };
        Ok(())
    }

    fn stores_shared(&self, b: &Block) -> bool {
        let mut any = false;
        for_each_stmt(b, &mut |s| {
            if let StmtKind::Assign { place, .. } = &s.kind {
                let local = root(place).is_some_and(|v| {
                    self.old.functions[self.eval.frame.function]
                        .vars
                        .get(v.0 as usize)
                        .is_some_and(|v| matches!(v.kind, VarKind::Shared | VarKind::DynamicShared))
                });
                any |= local;
            }
            any |= matches!(s.kind, StmtKind::Call { .. });
        });
        any
    }

    /// How many iterations a loop has at most, when they are to be looked at one by one: few, with stores to shared memory.
    fn unrolled(
        &self,
        old: &ForLoop,
        new: &ForLoop,
        first: &Poly,
        limit: &Poly,
        step: i64,
    ) -> Option<i64> {
        let stores = self.stores_shared(&new.body) || self.stores_shared(&old.body);
        let upwards = step > 0 && matches!(old.compare, BinaryOp::Lt | BinaryOp::Le);
        if !stores || !upwards || has_barrier(self.new, &new.body) || has_jump(&old.body) {
            return None;
        }
        let limit = limit.constant()? + i64::from(old.compare == BinaryOp::Le);
        let sum = first.sum();
        let mut known = true;
        sum.names(&mut |n| known &= ["t_x", "t_y", "t_z"].contains(&n));
        if !known {
            return None;
        }
        // The sum is least where no thread index is above zero, if all count up.
        super::eval::natural(&sum).then_some(())?;
        let least = sum.value(&|_| 0);
        let count = (limit - least + step - 1).div_euclid(step).max(0);
        (count <= MAX_UNROLLED).then_some(count)
    }

    fn one_by_one(
        &mut self,
        old: &'a ForLoop,
        new: &'a ForLoop,
        first: &Poly,
        limit: &Poly,
        step: i64,
        count: i64,
    ) -> Result<(), Refused> {
        let before = self.eval.path.clone();
        self.depth += 1;
        for n in 0..count {
            let counter = first.plus(&Poly::number(n * step), 1);
            let goes = self.goes_on(old.compare, &counter, limit);
            let vars = self.eval.frame.vars.clone();
            self.eval.frame.vars.insert(old.var.0, Held::Whole(counter));
            self.eval.path = before.and(&goes);
            self.block(&old.body.stmts, &new.body.stmts)?;
            let after = std::mem::replace(&mut self.eval.frame.vars, vars);
            self.merge(&goes, after);
        }
        self.depth -= 1;
        self.eval.path = before;
        let ty = self.kernel_var(old.var).ty.clone();
        let held = self.eval.unknown_of(&ty);
        self.eval.frame.vars.insert(old.var.0, held);
        Ok(())
    }

    fn other_loop(&mut self, old: &'a Stmt, new: &'a Stmt) -> Result<(), Refused> {
        let StmtKind::Loop { condition, body, step, .. } = &old.kind else { return Ok(()) };
        let StmtKind::Loop { condition: c, body: b, step: s, .. } = &new.kind else {
            return Ok(());
        };
        let barred = has_barrier(self.new, b) || has_barrier(self.new, s);
        let at_head = condition.as_ref().filter(|c| !c.at_end && c.before.stmts.is_empty());
        if barred && (at_head.is_none() || self.depth > 0) {
            return Err("threads go through a loop with a barrier differently".into());
        }
        self.eval.fresh += 1;
        let name = format!("{}_n{}", if barred { "u" } else { "t" }, self.eval.fresh);
        let n = Poly::of(Sum::name(&name));
        let before = self.eval.frame.vars.clone();
        let mut blocks = vec![body, step];
        blocks.extend(condition.iter().map(|c| &c.before));
        self.forget(&blocks);
        self.inductive(body, Some(step), &before, &n);
        let mut goes = Truth::Always;
        if let (Some(a), Some(b)) = (condition, c) {
            self.compared(&a.expr, &b.expr);
            if at_head.is_some() {
                goes = self.eval.truth(&a.expr);
            } else {
                self.eval.note(&a.expr);
            }
        }
        let mut own = false;
        goes.names(&mut |n| own |= n.starts_with("t_"));
        if barred && own {
            return Err("threads go through a loop with a barrier differently".into());
        }
        self.turn(barred.then_some(name), goes, &[(body, b), (step, s)])?;
        self.forget(&blocks);
        Ok(())
    }

    fn call(
        &mut self,
        function: FuncId,
        args: &'a [Expr],
        result: Option<&'a Place>,
    ) -> Result<(), Refused> {
        self.calls += 1;
        if self.calls > 8 {
            return Err("calls are nested too deeply".into());
        }
        let old = self.old.function(function);
        let new = self.new.functions.get(function.0 as usize).filter(|f| f.name == old.name);
        let Some(new) = new.filter(|f| f.vars.len() == old.vars.len()) else {
            return Err("the rewritten kernel calls other functions".into());
        };
        let mut frame = Frame { function: function.0 as usize, ..Frame::default() };
        for (p, a) in old.params.iter().zip(args) {
            frame.vars.insert(p.0, self.eval.held(a));
        }
        let outer = std::mem::replace(&mut self.eval.frame, frame);
        let path = self.eval.path.clone();
        self.depth += 1;
        self.block(&old.body.stmts, &new.body.stmts)?;
        self.depth -= 1;
        let inner = std::mem::replace(&mut self.eval.frame, outer);
        self.eval.path = path;
        self.calls -= 1;
        if let Some(place) = result {
            let PlaceKind::Var(v) = &*place.kind else {
                return Err("the result of a call goes to memory".into());
            };
            let held = match one_of(&inner.returned) {
                Some(held) => held,
                None => self.eval.unknown_of(&place.ty),
            };
            self.eval.frame.vars.insert(v.0, held);
        }
        Ok(())
    }
}

/// What a function gives back: the value of the first `return` that is come to.
fn one_of(returned: &[(Truth, Option<Held>)]) -> Option<Held> {
    let (_, last) = returned.last()?;
    let mut held = last.clone()?;
    for (when, value) in returned.iter().rev().skip(1) {
        held = match (value.as_ref()?, held) {
            (Held::Whole(a), Held::Whole(b)) => Held::Whole(Poly::choose(when, a, &b)),
            (Held::Truth(a), Held::Truth(b)) => Held::Truth(when.negated().or(a).and(&when.or(&b))),
            (Held::Tree(a), Held::Tree(b)) => Held::Tree(Tree::choose(when, a.clone(), b)),
            _ => return None,
        };
    }
    Some(held)
}

/// Whether a sum has names of one thread.
pub fn is_own(sum: &Sum) -> bool {
    let mut own = false;
    sum.names(&mut |n| own |= n.starts_with("t_"));
    own
}

/// Statements that do the same but for what they read.
fn alike(old: &Stmt, new: &Stmt) -> bool {
    match (&old.kind, &new.kind) {
        (StmtKind::Decl { var: a, init: x }, StmtKind::Decl { var: b, init: y }) => {
            a == b && x.is_some() == y.is_some()
        }
        (StmtKind::Assign { place: a, .. }, StmtKind::Assign { place: b, .. }) => a == b,
        (
            StmtKind::If { cond: a, otherwise: x, .. },
            StmtKind::If { cond: b, otherwise: y, .. },
        ) => {
            let mut pairs = vec![];
            differ::exprs(a, b, &mut pairs);
            let reads = pairs.iter().all(|(old, _)| !std::ptr::eq(*old, a));
            reads && x.stmts.is_empty() == y.stmts.is_empty()
        }
        (StmtKind::For(a), StmtKind::For(b)) => {
            (a.var, &a.first, a.compare, &a.limit, &a.step)
                == (b.var, &b.first, b.compare, &b.limit, &b.step)
        }
        (StmtKind::Loop { .. }, StmtKind::Loop { .. })
        | (StmtKind::Scope(_), StmtKind::Scope(_))
        | (StmtKind::Break, StmtKind::Break)
        | (StmtKind::Continue, StmtKind::Continue) => true,
        (StmtKind::Return(a), StmtKind::Return(b)) => a.is_some() == b.is_some(),
        (
            StmtKind::Call { function: f, result: r, .. },
            StmtKind::Call { function: g, result: s, .. },
        ) => f == g && r == s,
        (a, b) => a == b,
    }
}

/// The variable that a place is a part of.
fn root(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Var(v) => Some(*v),
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => root(p),
        _ => None,
    }
}

fn set_by(blocks: &[&Block]) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    for b in blocks {
        for_each_stmt(b, &mut |s| match &s.kind {
            StmtKind::Assign { place, .. } => set.extend(root(place).map(|v| v.0)),
            StmtKind::Decl { var, .. } => _ = set.insert(var.0),
            StmtKind::For(f) => _ = set.insert(f.var.0),
            StmtKind::Call { result: Some(p), .. } => set.extend(root(p).map(|v| v.0)),
            _ => {}
        });
    }
    set
}

fn sets_once(blocks: &[&Block], v: VarId) -> bool {
    let mut count = 0;
    for b in blocks {
        for_each_stmt(b, &mut |s| {
            count += match &s.kind {
                StmtKind::Assign { place, .. } => u32::from(root(place) == Some(v)),
                StmtKind::Decl { var, .. } => 2 * u32::from(*var == v),
                StmtKind::For(f) => 2 * u32::from(f.var == v),
                StmtKind::Call { result: Some(p), .. } => 2 * u32::from(root(p) == Some(v)),
                _ => 0,
            };
        });
    }
    count == 1
}

fn has_barrier(module: &Module, b: &Block) -> bool {
    let mut any = false;
    for_each_stmt(b, &mut |s| match &s.kind {
        StmtKind::Barrier { .. } => any = true,
        StmtKind::Call { function, .. } => {
            any |= has_barrier(module, &module.function(*function).body)
        }
        _ => {}
    });
    any
}

/// `break` and `continue`, of whatever loop.
fn has_jump(b: &Block) -> bool {
    let mut any = false;
    for_each_stmt(b, &mut |s| any |= matches!(s.kind, StmtKind::Break | StmtKind::Continue));
    any
}

fn has_return(b: &Block) -> bool {
    let mut any = false;
    for_each_stmt(b, &mut |s| any |= matches!(s.kind, StmtKind::Return(_)));
    any
}

fn for_each_expr_of(e: &Expr, see: &mut dyn FnMut(&Expr)) {
    warpsmith_ir::visit::for_each_subexpr(e, see);
}
