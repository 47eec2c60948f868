//! Kernels without calls of functions that are one expression.
//!
//! A call stands before the statement that needs its value, with a temporary between. A marked read that calls a function has other
//! temporaries than what was written in its place, so that the two kernels could not be compared statement by statement. Here what
//! temporaries hold goes to where they are used, as long as nothing happens in between.

use std::collections::BTreeSet;

use warpsmith_ir::visit::{
    Rewriter, for_each_stmt, for_each_subexpr, rename_vars, rename_vars_in_expr, rewrite_place,
    substitute_var, substitute_var_in_expr, vars_of_expr,
};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, FuncId, Function, Module, Place, PlaceKind, Stmt, StmtKind,
    UnaryOp, VarId, VarKind,
};

/// Values of temporaries that nothing has changed since.
type Pending = Vec<(VarId, Expr)>;

/// Expressions that values may have, at most, and calls in calls.
const MAX_SIZE: usize = 300;
const MAX_CALLS: u32 = 6;
/// Numbers that variables of a function have while those of its caller are put in.
const APART: u32 = 1 << 20;

/// A module whose kernel has no such calls; `None` where a value is needed after something that may change it.
pub fn kernel(module: &Module, id: FuncId) -> Option<Module> {
    let mut function = module.function(id).clone();
    let mut inliner = Inliner::new(module, &function, 0);
    let body = inliner.block(&function.body.stmts, vec![])?.0;
    let Inliner { gone, .. } = inliner;
    function.body = Block::new(body);
    let mentioned = mentioned(&mut function.body);
    if !gone.is_disjoint(&mentioned) {
        return None;
    }
    renumber(&mut function, &mentioned);
    let mut out = module.clone();
    out.functions[id.0 as usize] = function;
    Some(out)
}

/// Takes out temporaries that nothing mentions; the others have one name, since their numbers mean nothing.
fn renumber(function: &mut Function, mentioned: &BTreeSet<VarId>) {
    let mut new = vec![VarId(0); function.vars.len()];
    let mut vars = vec![];
    for (i, mut var) in std::mem::take(&mut function.vars).into_iter().enumerate() {
        new[i] = VarId(vars.len() as u32);
        let temporary = is_temporary(&var.name);
        if temporary && !mentioned.contains(&VarId(i as u32)) && var.kind == VarKind::Local {
            continue;
        }
        if temporary {
            var.name = "tmp".into();
        }
        vars.push(var);
    }
    function.vars = vars;
    rename_vars(&mut function.body, &mut |v| new[v.0 as usize]);
    function.params.iter_mut().for_each(|p| *p = new[p.0 as usize]);
}

/// A name that lowering gives; a variable of the user that is called so is treated alike, which does no harm.
fn is_temporary(name: &str) -> bool {
    let number = name.strip_prefix("tmp");
    matches!(name, "chosen" | "both")
        || number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

struct Inliner<'a> {
    module: &'a Module,
    function: &'a Function,
    /// Temporaries whose values were put in.
    gone: BTreeSet<VarId>,
    /// Temporaries whose declarations wait for a statement that needs them.
    undeclared: Vec<Stmt>,
    calls: u32,
}

impl<'a> Inliner<'a> {
    fn new(module: &'a Module, function: &'a Function, calls: u32) -> Inliner<'a> {
        Inliner { module, function, gone: BTreeSet::new(), undeclared: vec![], calls }
    }

    /// Whether the value of a variable may go to where it is used: it is set by so many statements, all known.
    fn moves(&self, v: VarId, sets: usize) -> bool {
        let var = self.function.var(v);
        let local = var.kind == VarKind::Local && (self.calls > 0 || is_temporary(&var.name));
        let mut count = 0;
        for_each_stmt(&self.function.body, &mut |s| {
            count += match &s.kind {
                StmtKind::Assign { place, .. } => usize::from(place.root_var() == Some(v)),
                StmtKind::Decl { var, init } => usize::from(*var == v && init.is_some()),
                StmtKind::Call { result: Some(p), .. } => usize::from(p.root_var() == Some(v)),
                StmtKind::For(l) => 2 * usize::from(l.var == v),
                _ => 0,
            };
        });
        local && count == sets
    }

    /// The statements that are left, and what is pending after them.
    fn block(&mut self, stmts: &[Stmt], mut pending: Pending) -> Option<(Vec<Stmt>, Pending)> {
        let mut left: Vec<Stmt> = vec![];
        let mut rest = stmts.iter();
        while let Some(s) = rest.next() {
            if let Some(both) = self.both(s, rest.as_slice().first(), &pending)? {
                rest.next();
                self.gone.insert(both.0);
                pending.push(both);
                continue;
            }
            if let Some((steps, chosen)) = self.adjusted(s, rest.as_slice(), &pending)? {
                rest.nth(steps - 1);
                self.gone.insert(chosen.0);
                pending.push(chosen);
                continue;
            }
            let mut s = s.clone();
            self.inside(&mut s, &pending)?;
            if let StmtKind::Decl { var, init: None } = &s.kind
                && self.function.var(*var).kind == VarKind::Local
                && is_temporary(&self.function.var(*var).name)
            {
                self.undeclared.push(s);
            } else if let Some((var, value)) = self.value(&s) {
                let mut size = 0;
                for_each_subexpr(&value, &mut |_| size += 1);
                (size <= MAX_SIZE).then_some(())?;
                self.gone.insert(var);
                pending.push((var, value));
            } else {
                // One of two arms that choose a value is declared before them, if at all.
                let arm = |s: &Stmt| match &s.kind {
                    StmtKind::Assign { place, .. } => whole(place).filter(|v| self.moves(*v, 2)),
                    _ => None,
                };
                if arm(&s).is_none() {
                    self.declare(&s, &mut left);
                }
                // Who goes on finds everything as it was.
                let stays = only_returns(&s);
                left.push(s);
                if !stays {
                    pending.clear();
                }
            }
        }
        Some((left, pending))
    }

    /// A declaration with statements behind it that may give the variable another value, `int r = x; if (r < 0) r = 0;`: how many
    /// these are, and what they make of it.
    fn adjusted(
        &self,
        first: &Stmt,
        rest: &[Stmt],
        pending: &Pending,
    ) -> Option<Option<(usize, (VarId, Expr))>> {
        let StmtKind::Decl { var, init: Some(init) } = &first.kind else { return Some(None) };
        let steps = rest.iter().take_while(|s| sets_alone(s, *var)).count();
        if steps == 0 || !self.moves(*var, 1 + steps) {
            return Some(None);
        }
        let mut value = init.clone();
        put(&mut value, pending)?;
        for s in &rest[..steps] {
            let mut known = pending.clone();
            known.push((*var, value.clone()));
            let with = |e: &Expr| {
                let mut e = e.clone();
                put(&mut e, &known).map(|()| e)
            };
            let (ty, origin) = (value.ty.clone(), s.origin.clone());
            value = match &s.kind {
                StmtKind::If { cond, then, .. } => {
                    let select = ExprKind::Select(with(cond)?, with(assigned(then)?)?, value);
                    Expr::new(select, ty, origin)
                }
                StmtKind::Assign { value, .. } => with(value)?,
                _ => return None,
            };
        }
        Some(Some((steps, (*var, value))))
    }

    /// `a && b` or `a || b` where `b` takes statements: a declaration with the value of `a`, and a branch that may set it to `b`.
    fn both(
        &mut self,
        first: &Stmt,
        second: Option<&Stmt>,
        pending: &Pending,
    ) -> Option<Option<(VarId, Expr)>> {
        let (
            StmtKind::Decl { var, init: Some(a) },
            Some(Stmt { kind: StmtKind::If { cond, then, otherwise }, .. }),
        ) = (&first.kind, second)
        else {
            return Some(None);
        };
        let held = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if whole(p) == Some(*var));
        let op = match &*cond.kind {
            ExprKind::Unary(UnaryOp::Not, e) if held(e) => BinaryOp::LogicalOr,
            _ if held(cond) => BinaryOp::LogicalAnd,
            _ => return Some(None),
        };
        if !self.moves(*var, 2) || !otherwise.stmts.is_empty() {
            return Some(None);
        }
        let mut a = a.clone();
        put(&mut a, pending)?;
        let arm = self.block(&then.stmts, pending.clone())?.0;
        let [Stmt { kind: StmtKind::Assign { place, value }, .. }] = arm.as_slice() else {
            return None;
        };
        let ty = a.ty.clone();
        let value = ExprKind::Binary(op, a, value.clone());
        let both = (*var, Expr::new(value, ty, first.origin.clone()));
        (whole(place) == Some(*var)).then_some(Some(both))
    }

    /// Puts pending values into a statement, and goes through the blocks in it.
    fn inside(&mut self, s: &mut Stmt, pending: &Pending) -> Option<()> {
        match &mut s.kind {
            StmtKind::If { cond, then, otherwise } => {
                put(cond, pending)?;
                for b in [then, otherwise] {
                    b.stmts = self.block(&b.stmts, pending.clone())?.0;
                }
            }
            StmtKind::Scope(b) => b.stmts = self.block(&b.stmts, pending.clone())?.0,
            // Expressions of loops are looked at again in each iteration.
            StmtKind::For(l) => l.body.stmts = self.block(&l.body.stmts, vec![])?.0,
            StmtKind::Loop { condition, body, step, .. } => {
                if let Some(c) = condition {
                    let (before, pending) = self.block(&c.before.stmts, vec![])?;
                    c.before.stmts = before;
                    put(&mut c.expr, &pending)?;
                }
                for b in [body, step] {
                    b.stmts = self.block(&b.stmts, vec![])?.0;
                }
            }
            StmtKind::Switch { .. } => {}
            _ => {
                let mut one = Block::new(vec![s.clone()]);
                for (var, value) in pending {
                    substitute_var(&mut one, *var, value).then_some(())?;
                }
                *s = one.stmts.pop()?;
                plain_places(s);
            }
        }
        Some(())
    }

    /// The value that a statement does nothing but give to a temporary.
    fn value(&self, s: &Stmt) -> Option<(VarId, Expr)> {
        match &s.kind {
            StmtKind::Decl { var, init: Some(init) } if self.moves(*var, 1) => {
                Some((*var, init.clone()))
            }
            StmtKind::Call { function, args, result: Some(place) } => {
                let var = whole(place).filter(|v| self.moves(*v, 1))?;
                Some((var, self.called(*function, args)?))
            }
            StmtKind::If { cond, then, otherwise } => {
                let arm = |b: &Block| match b.stmts.as_slice() {
                    [Stmt { kind: StmtKind::Assign { place, value }, .. }] => {
                        Some((whole(place)?, value.clone()))
                    }
                    _ => None,
                };
                let ((v, a), (w, b)) = (arm(then)?, arm(otherwise)?);
                let ty = a.ty.clone();
                let select = ExprKind::Select(cond.clone(), a, b);
                (v == w && self.moves(v, 2)).then(|| (v, Expr::new(select, ty, s.origin.clone())))
            }
            _ => None,
        }
    }

    /// What a function gives back, as an expression of its caller.
    fn called(&self, id: FuncId, args: &[Expr]) -> Option<Expr> {
        let function = self.module.function(id);
        let shared = |k| matches!(k, VarKind::Shared | VarKind::DynamicShared);
        if self.calls >= MAX_CALLS || function.vars.iter().any(|v| shared(v.kind)) {
            return None;
        }
        let mut inner = Inliner::new(self.module, function, self.calls + 1);
        let (left, _) = inner.block(&function.body.stmts, vec![])?;
        let mut value = given_back(&left)?;
        rename_vars_in_expr(&mut value, &mut |v| VarId(v.0 + APART));
        for (p, arg) in function.params.iter().zip(args) {
            substitute_var_in_expr(&mut value, VarId(p.0 + APART), arg).then_some(())?;
        }
        let mut one = Stmt::new(StmtKind::Return(Some(value)), function.origin.clone());
        plain_places(&mut one);
        let StmtKind::Return(Some(value)) = one.kind else { return None };
        vars_of_expr(&value).iter().all(|v| v.0 < APART).then_some(value)
    }

    /// Puts declarations that were left out before the first statement that needs them.
    fn declare(&mut self, s: &Stmt, left: &mut Vec<Stmt>) {
        let mentioned = mentioned(&mut Block::new(vec![s.clone()]));
        let needed =
            |d: &Stmt| matches!(&d.kind, StmtKind::Decl { var, .. } if mentioned.contains(var));
        let (now, later) = std::mem::take(&mut self.undeclared).into_iter().partition(needed);
        self.undeclared = later;
        left.extend::<Vec<Stmt>>(now);
    }
}

/// What statements give back that do nothing else: `if (c) return a; return b;` is `c ? a : b`.
fn given_back(stmts: &[Stmt]) -> Option<Expr> {
    let (first, rest) = stmts.split_first()?;
    let on = |b: &Block| given_back(&[b.stmts.as_slice(), rest].concat());
    match &first.kind {
        StmtKind::Return(value) => value.clone(),
        StmtKind::Scope(b) => on(b),
        StmtKind::If { cond, then, otherwise } => {
            let (yes, no) = (on(then)?, on(otherwise)?);
            let ty = yes.ty.clone();
            Some(Expr::new(ExprKind::Select(cond.clone(), yes, no), ty, first.origin.clone()))
        }
        _ => None,
    }
}

/// Whether a statement does nothing but end the function, or not.
fn only_returns(s: &Stmt) -> bool {
    let all = |b: &Block| b.stmts.iter().all(only_returns);
    match &s.kind {
        StmtKind::Return(_) => true,
        StmtKind::Scope(b) => all(b),
        StmtKind::If { then, otherwise, .. } => all(then) && all(otherwise),
        _ => false,
    }
}

/// What the only statement of a block assigns.
fn assigned(block: &Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [Stmt { kind: StmtKind::Assign { value, .. }, .. }] => Some(value),
        _ => None,
    }
}

/// Whether a statement does nothing but give a variable another value, perhaps under a condition.
fn sets_alone(s: &Stmt, var: VarId) -> bool {
    match &s.kind {
        StmtKind::Assign { place, .. } => whole(place) == Some(var),
        StmtKind::If { then, otherwise, .. } => {
            let alone = assigned(then).is_some() && otherwise.stmts.is_empty();
            alone && then.stmts.iter().all(|s| sets_alone(s, var))
        }
        _ => false,
    }
}

fn put(e: &mut Expr, pending: &Pending) -> Option<()> {
    pending.iter().try_for_each(|(var, value)| substitute_var_in_expr(e, *var, value).then_some(()))
}

/// The variables that a block declares, reads or sets; the block stays as it is.
fn mentioned(block: &mut Block) -> BTreeSet<VarId> {
    let mut all = BTreeSet::new();
    rename_vars(block, &mut |v| {
        all.insert(v);
        v
    });
    all
}

/// The variable that a place is as a whole.
fn whole(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Var(v) => Some(*v),
        _ => None,
    }
}

/// What a reference leads to in the place of the reference.
fn plain_places(s: &mut Stmt) {
    struct Plain;
    impl Rewriter for Plain {
        fn place(&mut self, place: &mut Place) {
            rewrite_place(self, place);
            let PlaceKind::Deref(pointer) = &*place.kind else { return };
            // A pointer to what is only read.
            let pointer = match &*pointer.kind {
                ExprKind::Cast(other) if other.ty.is_pointer() => other,
                _ => pointer,
            };
            if let ExprKind::AddressOf(inner) = &*pointer.kind
                && inner.ty == place.ty
            {
                *place = inner.clone();
            }
        }
    }
    Plain.stmt(s);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Compiler, Settings};
    use warpsmith_ir::visit::for_each_stmt;

    /// The calls and variables that are left of a kernel `f`; `None` where a value would move past a change.
    fn left(text: &str) -> Option<(usize, Vec<String>)> {
        let compiler = Compiler::new(Settings { path: "f.cu".into(), ..Settings::default() });
        let program = compiler.compile(text, &[], "f").expect("it is compiled");
        let module = kernel(&program.module, program.kernel)?;
        let function = module.function(program.kernel);
        let mut calls = 0;
        for_each_stmt(&function.body, &mut |s| {
            calls += usize::from(matches!(s.kind, StmtKind::Call { .. }));
        });
        Some((calls, function.vars.iter().map(|v| v.name.clone()).collect()))
    }

    #[test]
    fn calls_become_expressions() {
        let text = "struct S { int w; };
__device__ int at(const S &s, int x) { return x < 0 ? 0 : x * s.w; }
__device__ bool in(int x, int n) { return x < n; }
__global__ void f(float *a, S s, int n) {
    if (in(n, 3) && in(n, 4) || in(n, 5)) a[at(s, n)] = n > 2 ? a[at(s, at(s, n - 1))] : a[0];
}";
        assert_eq!(left(text), Some((0, ["a", "s", "n"].map(String::from).to_vec())));
    }

    #[test]
    fn functions_that_return_early_or_adjust_a_value_are_expressions() {
        let text = "__device__ float at(const float *p, int x, int y, int w, int h) {
    if (x < 0 || x >= w) return 0.0f;
    int r = y;
    if (r < 0) r = 0;
    if (r >= h) r = h - 1;
    if (r == 3) { return 1.0f; } else { float v = 2.0f; if (x > 4) v = p[r * w + x]; return v; }
}
__global__ void f(float *a, int n) { a[0] = at(a, n, 2, 7, 9) + at(a, 1, n, 7, 9); }";
        assert_eq!(left(text), Some((0, ["a", "n"].map(String::from).to_vec())));
        // What a loop or a store is part of is no expression.
        let text = "__device__ float at(float *p, int x) { if (x < 0) { p[0] = 1; return 0; } return p[x]; }
__global__ void f(float *a, int n) { a[0] = at(a, n); }";
        assert_eq!(left(text).map(|l| l.0), Some(1));
    }

    #[test]
    fn values_do_not_move_past_changes() {
        // The function is none: what it gives back is not one expression.
        let text =
            "__device__ int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
__global__ void f(int *a, int n) { a[0] = sum(n); }";
        assert_eq!(left(text), Some((1, ["a", "n", "tmp"].map(String::from).to_vec())));
        // The name of a temporary in a user's text: its value is from before the store.
        let text = "__global__ void f(int *a, int n) { int tmp = a[0]; a[0] = n; a[1] = tmp; }";
        assert_eq!(left(text), None);
    }
}
