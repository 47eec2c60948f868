//! Variables that grow by the same amount in every iteration of a counted loop, as expressions of its counter.
//!
//! ```text
//! long at = 0;                                    for (int j = 0; j < m; j++)
//! for (int j = 0; j < m; j++) { x[at] = j; at++; }  ==>   x[j] = j;
//! ```
//!
//! Done for offsets of moving pointers, and for integers that are used in subscripts and nowhere written but there.

use std::collections::HashSet;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, LoopKind, MathFn, Place, PlaceKind, Stmt,
    StmtKind, Type, VarId, VarKind, visit,
};

/// Resolves what can be resolved, inner loops first.
pub fn resolve(function: &mut Function, moving: &HashSet<VarId>) {
    let used = subscripts(function);
    let mut candidates: Vec<VarId> = (0..function.vars.len() as u32)
        .map(VarId)
        .filter(|v| moving.contains(v) || used.contains(v))
        .collect();
    candidates.retain(|v| steps_of(&function.body, *v) > 0);
    for var in candidates {
        let mut body = std::mem::take(&mut function.body);
        let whole = body.clone();
        let mut pass = Pass { function, var, whole: &whole };
        pass.block(&mut body, &[]);
        function.body = body;
        put_in_place(function, var);
    }
}

/// Local integers of which subscripts are made, or variables that stand in subscripts.
fn subscripts(function: &Function) -> HashSet<VarId> {
    let mut found = HashSet::new();
    visit::for_each_place(&function.body, &mut |place, _| {
        if let PlaceKind::Elem { index, .. } = &*place.kind {
            found.extend(index.iter().flat_map(visit::vars_of_expr));
        }
    });
    // `x[k++]` reads `k` into a variable first.
    visit::for_each_stmt(&function.body, &mut |s| {
        if let StmtKind::Decl { var, init: Some(e) } = &s.kind
            && found.contains(var)
        {
            found.extend(visit::vars_of_expr(e));
        }
    });
    found.retain(|v| {
        let v = function.var(*v);
        v.kind == VarKind::Local && v.ty.is_integer() && v.ty != Type::BOOL
    });
    found
}

fn mentions(e: &Expr, var: VarId) -> bool {
    visit::vars_of_expr(e).contains(&var)
}

/// How many statements add something to the variable.
fn steps_of(block: &Block, var: VarId) -> usize {
    let mut found = 0;
    visit::for_each_stmt(block, &mut |s| found += usize::from(step(s, var).is_some()));
    found
}

/// The amount, and whether it is subtracted, of `var = var + amount`.
fn step(stmt: &Stmt, var: VarId) -> Option<(BinaryOp, &Expr)> {
    let StmtKind::Assign { place, value } = &stmt.kind else { return None };
    if *place.kind != PlaceKind::Var(var) {
        return None;
    }
    let own = |e: &Expr| matches!(&*e.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(var));
    let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = &*value.kind else {
        return None;
    };
    (own(a) && !mentions(b, var)).then_some((*op, b))
}

fn writes(block: &Block, var: VarId) -> usize {
    let mut found = 0;
    visit::for_each_stmt(block, &mut |s| {
        found += usize::from(match &s.kind {
            StmtKind::Decl { var: v, .. } => *v == var,
            StmtKind::For(l) => l.var == var,
            StmtKind::Assign { place, .. } => place.root_var() == Some(var),
            StmtKind::Call { result, .. } => result.as_ref().and_then(Place::root_var) == Some(var),
            StmtKind::Atomic { result, .. } | StmtKind::Warp { result, .. } => *result == Some(var),
            _ => false,
        });
    });
    let mut addressed = 0;
    visit::for_each_place(block, &mut |p, access| {
        addressed += usize::from(access == visit::Access::Address && p.root_var() == Some(var));
    });
    found + addressed
}

fn uses(block: &Block, var: VarId) -> usize {
    let mut found = 0;
    visit::rename_vars(&mut block.clone(), &mut |v| {
        found += usize::from(v == var);
        v
    });
    found
}

struct Pass<'f, 'b> {
    function: &'f mut Function,
    var: VarId,
    /// The body of the function before anything changed.
    whole: &'b Block,
}

impl Pass<'_, '_> {
    /// `around` are the loops that the block stands in, outermost first.
    fn block(&mut self, block: &mut Block, around: &[ForLoop]) {
        let mut at = 0;
        while at < block.stmts.len() {
            let mut tail = None;
            match &mut block.stmts[at].kind {
                StmtKind::For(l) => {
                    let shell = ForLoop { body: Block::default(), ..l.clone() };
                    let inner = [around, &[shell]].concat();
                    self.block(&mut l.body, &inner);
                    tail = self.loop_step(l, around);
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.block(then, around);
                    self.block(otherwise, around);
                }
                StmtKind::Scope(b) => self.block(b, around),
                StmtKind::Loop { body, .. } => self.block(body, around),
                _ => {}
            }
            if let Some(stmt) = tail {
                at += 1;
                block.stmts.insert(at, stmt);
            }
            at += 1;
        }
    }

    /// Takes the step out of a loop; gives what is left to do after it.
    fn loop_step(&mut self, l: &mut ForLoop, around: &[ForLoop]) -> Option<Stmt> {
        let var = self.var;
        let unit = l.step.as_const().map(|s| s.as_i64()).filter(|s| s.abs() == 1)?;
        if matches!(l.kind, LoopKind::Parallel(_)) || writes(&l.body, var) != 1 || jumps(&l.body) {
            return None;
        }
        let position = l.body.stmts.iter().position(|s| step(s, var).is_some())?;
        let (op, amount) = step(&l.body.stmts[position], var)?;
        let amount = amount.clone();
        let fixed = |e: &Expr, body: &Block| {
            visit::vars_of_expr(e).into_iter().all(|v| writes(body, v) == 0 && v != l.var)
                && !reads_memory(e)
        };
        let own = mentions(&l.first, var) || mentions(&l.limit, var);
        if own || !fixed(&amount, &l.body) || !fixed(&l.first, &l.body) {
            return None;
        }
        let ty = self.function.var(var).ty.clone();
        let counter = Expr::var(l.var, self.function.var(l.var).ty.clone());
        let done = distance(&counter, &l.first, unit, &ty);
        let origin = l.body.stmts[position].origin.clone();
        let advanced = |times: Expr| {
            let by = product(times, amount.clone().cast(ty.clone()));
            let start = Expr::var(var, ty.clone());
            sum(op, start, by).with_origin(origin.clone())
        };
        let (before, after) = (advanced(done.clone()), advanced(plus_one(done)));
        l.body.stmts.remove(position);
        for (k, stmt) in l.body.stmts.iter_mut().enumerate() {
            let value = if k < position { &before } else { &after };
            let mut one = Block::new(vec![stmt.clone()]);
            visit::substitute_var(&mut one, var, value);
            if let Some(s) = one.stmts.pop() {
                *stmt = s;
            }
        }
        self.is_needed_after(l).then(|| {
            let times = self.trips(l, unit, &ty, around);
            let place = Place::new(PlaceKind::Var(var), ty.clone(), origin.clone());
            Stmt::new(StmtKind::Assign { place, value: advanced(times) }, origin.clone())
        })
    }

    /// Whether anything outside of the loop knows the variable, but for its declaration with a value.
    fn is_needed_after(&self, l: &ForLoop) -> bool {
        let inside = find(self.whole, l).map_or(0, |b| uses(b, self.var));
        let mut declared_beside = 0;
        let mut siblings = vec![self.whole];
        while let Some(block) = siblings.pop() {
            let holds =
                block.stmts.iter().any(|s| matches!(&s.kind, StmtKind::For(f) if f.id == l.id));
            for s in &block.stmts {
                if let StmtKind::Decl { var, init: Some(_) } = &s.kind
                    && holds
                    && *var == self.var
                {
                    declared_beside += 1;
                }
                siblings.extend(inner_blocks(s));
            }
        }
        uses(self.whole, self.var) != inside + declared_beside || declared_beside == 0
    }

    /// How often the loop runs. Where it does not run, nothing inside asks.
    fn trips(&self, l: &ForLoop, unit: i64, ty: &Type, around: &[ForLoop]) -> Expr {
        let limit = match l.compare {
            BinaryOp::Le => plus_one(l.limit.clone().cast(ty.clone())),
            BinaryOp::Ge => sum(BinaryOp::Sub, l.limit.clone().cast(ty.clone()), one(ty)),
            _ => l.limit.clone().cast(ty.clone()),
        };
        let times = distance(&limit, &l.first, unit, ty);
        let inside = find(self.whole, l).map_or(0, |b| reads(b, self.var));
        let steady = |e: &Expr| {
            visit::vars_of_expr(e)
                .into_iter()
                .all(|v| around.iter().all(|f| f.var != v) && writes(self.whole, v) == 0)
        };
        if reads(self.whole, self.var) == inside && steady(&l.first) && steady(&l.limit) {
            return times;
        }
        let zero = Expr::int(scalar(ty), 0);
        let args = vec![times, zero];
        Expr::new(ExprKind::Call(MathFn::Max, args), ty.clone(), l.limit.origin.clone())
    }
}

/// Mentions of the variable that are not its own steps or declarations.
fn reads(block: &Block, var: VarId) -> usize {
    let mut own = 0;
    visit::for_each_stmt(block, &mut |s| {
        own += match &s.kind {
            StmtKind::Decl { var: v, .. } if *v == var => 1,
            _ if step(s, var).is_some() => 2,
            _ => 0,
        };
    });
    uses(block, var) - own
}

/// The body of a loop as it was.
fn find<'b>(block: &'b Block, l: &ForLoop) -> Option<&'b Block> {
    block.stmts.iter().find_map(|s| match &s.kind {
        StmtKind::For(f) if f.id == l.id => Some(&f.body),
        _ => inner_blocks(s).into_iter().find_map(|b| find(b, l)),
    })
}

fn inner_blocks(s: &Stmt) -> Vec<&Block> {
    match &s.kind {
        StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
        StmtKind::For(f) => vec![&f.body],
        StmtKind::Loop { body, .. } => vec![body],
        StmtKind::Scope(b) => vec![b],
        _ => vec![],
    }
}

/// `continue`, `break` or `return` anywhere inside: the step may be left out.
fn jumps(block: &Block) -> bool {
    let mut found = false;
    visit::for_each_stmt(block, &mut |s| {
        found |= matches!(s.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_));
    });
    found
}

fn reads_memory(e: &Expr) -> bool {
    let mut found = false;
    visit::for_each_place_in_expr(e, &mut |p, _| found |= !matches!(&*p.kind, PlaceKind::Var(_)));
    found
}

fn scalar(ty: &Type) -> warpsmith_ir::Scalar {
    ty.scalar().unwrap_or(warpsmith_ir::Scalar::I64)
}

fn one(ty: &Type) -> Expr {
    Expr::int(scalar(ty), 1)
}

fn plus_one(e: Expr) -> Expr {
    let ty = e.ty.clone();
    sum(BinaryOp::Add, e, one(&ty))
}

/// `end - first`, or `first - end` counting down.
fn distance(end: &Expr, first: &Expr, unit: i64, ty: &Type) -> Expr {
    let (end, first) = (end.clone().cast(ty.clone()), first.clone().cast(ty.clone()));
    if unit > 0 { sum(BinaryOp::Sub, end, first) } else { sum(BinaryOp::Sub, first, end) }
}

fn is(e: &Expr, n: i64) -> bool {
    match &*e.kind {
        ExprKind::Const(v) => v.ty.is_integer() && v.as_i64() == n,
        ExprKind::Cast(inner) => inner.ty.is_integer() && is(inner, n),
        _ => false,
    }
}

/// A sum or difference without zeros.
fn sum(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    match op {
        _ if is(&b, 0) => a,
        BinaryOp::Add if is(&a, 0) => b,
        _ => Expr::binary(op, a, b),
    }
}

fn product(a: Expr, b: Expr) -> Expr {
    if is(&b, 1) {
        return a;
    }
    if is(&a, 1) {
        return b;
    }
    Expr::binary(BinaryOp::Mul, a, b)
}

/// A variable that only its declaration sets any more stands for that value, where what it is made of stays as it is.
fn put_in_place(function: &mut Function, var: VarId) {
    if writes(&function.body, var) != 1 {
        return;
    }
    let mut init = None;
    visit::for_each_stmt(&function.body, &mut |s| {
        if let StmtKind::Decl { var: v, init: Some(e) } = &s.kind
            && *v == var
        {
            init = Some(e.clone());
        }
    });
    let Some(init) = init else { return };
    let set_once = set_where_declared(&function.body);
    let fixed = |v: VarId| match writes(&function.body, v) {
        0 => true,
        // It has one value wherever the variable is known.
        1 => set_once.contains(&v),
        _ => false,
    };
    if reads_memory(&init) || !visit::vars_of_expr(&init).into_iter().all(fixed) {
        return;
    }
    let mut body = std::mem::take(&mut function.body);
    remove_declaration(&mut body, var);
    visit::substitute_var(&mut body, var, &init);
    visit::map_exprs(&mut body, &mut |e| {
        // `0 + j` of a pointer that began at its array.
        if let ExprKind::Binary(BinaryOp::Add, a, b) = &*e.kind
            && is(a, 0)
            && a.ty == b.ty
        {
            *e = b.clone();
        }
    });
    function.body = body;
}

/// Counters that their loops declare, and variables declared with a value.
fn set_where_declared(block: &Block) -> HashSet<VarId> {
    let mut found = HashSet::new();
    visit::for_each_stmt(block, &mut |s| {
        match &s.kind {
            StmtKind::For(l) if l.declares => found.insert(l.var),
            StmtKind::Decl { var, init: Some(_) } => found.insert(*var),
            _ => false,
        };
    });
    found
}

fn remove_declaration(block: &mut Block, var: VarId) {
    block.stmts.retain(|s| !matches!(&s.kind, StmtKind::Decl { var: v, .. } if *v == var));
    visit::map_stmts(block, &mut |s| {
        let inner: Vec<&mut Block> = match &mut s.kind {
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::For(f) => vec![&mut f.body],
            StmtKind::Loop { body, step, .. } => vec![body, step],
            StmtKind::Switch { cases, .. } => cases.iter_mut().map(|c| &mut c.body).collect(),
            StmtKind::Scope(b) => vec![b],
            _ => vec![],
        };
        for b in inner {
            b.stmts.retain(|s| !matches!(&s.kind, StmtKind::Decl { var: v, .. } if *v == var));
        }
    });
}
