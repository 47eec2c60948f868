//! One thread on its way through the unmodified and the rewritten kernel side by side.
//!
//! Both texts are the same but for reads, copies, barriers, and stores that nothing needs any more. If every read that
//! differs gives the same value, all variables have the same values in both, so that one state is enough.

use warpsmith_ir::visit::for_each_stmt_of;
use warpsmith_ir::{
    BarrierKind, Block, Expr, FuncId, Module, Place, PlaceKind, Span, Stmt, StmtKind, Type, VarId,
    VarKind,
};

mod carried;
mod loops;
mod statements;
mod written;

use statements::{alike, for_each_expr_of, root, set_by};

use super::differ;
use super::eval::{Eval, Frame, Held, Memory};
use super::formula::{Sum, Truth};
use super::poly::Poly;
use super::tree::{Array, MAKE, PARAMETER, Tree};

/// Something that happens in order with barriers.
#[derive(Clone, Debug)]
pub struct Event {
    pub what: What,
    /// When it happens to a thread.
    pub when: Truth,
    /// The loops with barriers that it is in, outermost first.
    pub loops: Vec<usize>,
    /// The outermost loop without barriers that it is in, whose iterations are not told apart, by a number of its own.
    pub unbarred: Option<u32>,
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

pub struct Walker<'a> {
    eval: Eval<'a>,
    old: &'a Module,
    new: &'a Module,
    out: Walked,
    /// Loops with barriers around, by number.
    turns: Vec<usize>,
    /// The outermost loop without barriers around.
    unbarred: Option<u32>,
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
        written: written::arrays(old.0, before),
        objects: Default::default(),
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
    let mut walker = Walker {
        eval,
        old: old.0,
        new: new.0,
        out,
        turns: vec![],
        unbarred: None,
        depth: 0,
        calls: 0,
    };
    walker.parameters(before);
    for v in written::objects(before) {
        let var = before.var(v);
        let object = var.ty.pointee().map(|ty| walker.value(ty, &v.0.to_string(), &var.name));
        walker.eval.objects.extend(object.map(|o| (Array::Variable(v.0), o)));
    }
    walker.variables();
    walker.block(&before.body.stmts, &after.body.stmts)?;
    walker.out.loads = walker.eval.loads;
    walker.out.shared_reads = walker.eval.shared_reads;
    Ok(walker.out)
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
                ty => Held::Tree(self.value(ty, &p.0.to_string(), &var.name)),
            };
            self.eval.frame.vars.insert(p.0, held);
        }
    }

    /// Variables of the device that the kernel leaves alone hold what a launch gives them, as parameters do.
    fn variables(&mut self) {
        let globals = self.eval.module.globals.iter().enumerate();
        for (n, global) in globals.filter(|(_, g)| !matches!(g.ty, Type::Array(..))) {
            let array = Array::Global(n as u32);
            if !self.eval.written.contains(&array) {
                let held = self.value(&global.ty, &format!("g{n}"), &global.name);
                self.eval.objects.insert(array, held);
            }
        }
    }

    /// A value that all threads have: its whole numbers are sizes, what else it holds does not matter.
    fn value(&mut self, ty: &Type, number: &str, name: &str) -> Tree {
        let parts: Vec<(Type, String)> = match ty {
            Type::Scalar(s) if s.is_integer() => {
                let size = format!("u_{number}");
                self.out.sizes.push((size.clone(), name.to_string()));
                if !s.is_signed() {
                    self.out.naturals.push(size.clone());
                }
                return Tree::Whole(Poly::size(&size));
            }
            Type::Vector(s, n) => {
                let letters = ["x", "y", "z", "w"].into_iter().take((*n).into());
                letters.map(|l| (Type::Scalar(*s), l.to_string())).collect()
            }
            Type::Struct(id) => {
                let fields = &self.eval.module.structs[id.0 as usize].fields;
                fields.iter().map(|f| (f.ty.clone(), f.name.clone())).collect()
            }
            _ => return Tree::Apply(format!("{PARAMETER}{name}"), vec![]),
        };
        let part = |(n, (ty, field)): (usize, &(Type, String))| {
            self.value(ty, &format!("{number}_{n}"), &format!("{name}.{field}"))
        };
        let parts: Vec<Tree> = parts.iter().enumerate().map(part).collect();
        Tree::Apply(format!("{MAKE}{number}"), parts)
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
                (_, Some(b))
                    if self.is_copy(b)
                        && !old[i..].iter().any(|a| self.is_copy(a) && alike(a, b)) =>
                {
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
        self.out.events.push(Event { what, when, loops, unbarred: self.unbarred });
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
        for differ::Pair { old: a, new: b, under } in differ::exprs(old, new) {
            let noting = std::mem::replace(&mut self.eval.noting, false);
            let before = self.eval.path.clone();
            for (condition, holds) in under {
                let truth = self.eval.truth(condition);
                let truth = if holds { truth } else { truth.negated() };
                self.eval.path = self.eval.path.and(&truth);
            }
            let (was, is) = (self.eval.tree(a), self.eval.tree(b));
            self.eval.noting = noting;
            let mut at: Vec<Span> = b.origin.span.into_iter().collect();
            for_each_expr_of(b, &mut |e| at.extend(e.origin.span));
            self.event(What::Read { old: was, new: is, at });
            self.eval.path = before;
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
            // Elements of arrays of the thread are not followed.
            Memory::Local => {}
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
