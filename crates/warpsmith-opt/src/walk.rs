//! Walks that hand out references into the function, and questions about control flow.
//!
//! The general walkers and editors are those of [`warpsmith_ir::visit`].

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, LoopId, Place, PlaceKind, Stmt, StmtKind, VarId,
};

/// The blocks directly inside a statement.
pub fn blocks(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
        StmtKind::For(f) => vec![&f.body],
        StmtKind::Loop { condition, body, step, .. } => {
            condition.iter().map(|c| &c.before).chain([body, step]).collect()
        }
        StmtKind::Switch { cases, .. } => cases.iter().map(|c| &c.body).collect(),
        StmtKind::Scope(block) => vec![block],
        _ => vec![],
    }
}

/// The blocks directly inside a statement, to be changed.
pub fn blocks_mut(stmt: &mut Stmt) -> Vec<&mut Block> {
    match &mut stmt.kind {
        StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
        StmtKind::For(f) => vec![&mut f.body],
        StmtKind::Loop { condition, body, step, .. } => {
            condition.iter_mut().map(|c| &mut c.before).chain([body, step]).collect()
        }
        StmtKind::Switch { cases, .. } => cases.iter_mut().map(|c| &mut c.body).collect(),
        StmtKind::Scope(block) => vec![block],
        _ => vec![],
    }
}

/// Visits every statement of a block, outer ones before those inside, in source order.
pub fn each_stmt<'a>(block: &'a Block, f: &mut dyn FnMut(&'a Stmt)) {
    for stmt in &block.stmts {
        f(stmt);
        for inner in blocks(stmt) {
            each_stmt(inner, f);
        }
    }
}

/// What a statement itself computes, without the statements inside it: the values it reads, and the place it writes.
pub struct Operands<'a> {
    /// Values that it reads.
    pub reads: Vec<&'a Expr>,
    /// The place that it writes.
    pub writes: Option<&'a Place>,
    /// Variables that receive a result.
    pub results: Vec<VarId>,
}

impl<'a> Operands<'a> {
    fn new(
        reads: impl IntoIterator<Item = &'a Expr>,
        writes: Option<&'a Place>,
        results: impl IntoIterator<Item = VarId>,
    ) -> Operands<'a> {
        let (reads, results) = (reads.into_iter().collect(), results.into_iter().collect());
        Operands { reads, writes, results }
    }

    fn reading(reads: Vec<&'a Expr>) -> Operands<'a> {
        Operands { reads, writes: None, results: vec![] }
    }
}

/// The operands of one statement.
pub fn operands(stmt: &Stmt) -> Operands<'_> {
    match &stmt.kind {
        StmtKind::Decl { var, init } => Operands::new(init, None, [*var]),
        StmtKind::Assign { place, value } => Operands::new([value], Some(place), None),
        StmtKind::If { cond, .. } => Operands::reading(vec![cond]),
        StmtKind::For(f) => Operands::new([&f.first, &f.limit, &f.step], None, [f.var]),
        StmtKind::Loop { condition, .. } => {
            Operands::reading(condition.iter().map(|c| &c.expr).collect())
        }
        StmtKind::Switch { selector, .. } => Operands::reading(vec![selector]),
        StmtKind::Return(value) => Operands::reading(value.iter().collect()),
        StmtKind::Call { args, result, .. } => Operands::new(args, result.as_ref(), None),
        StmtKind::Atomic { pointer, value, compare, result, .. } => {
            Operands::new([pointer, value].into_iter().chain(compare), None, *result)
        }
        StmtKind::Warp { mask, args, result, .. } => {
            Operands::new([mask].into_iter().chain(args), None, *result)
        }
        StmtKind::Barrier { operand, result, .. } => Operands::new(operand, None, *result),
        StmtKind::AsyncCopy { destination, source, bytes, zero_fill } => {
            Operands::reading([destination, source, bytes].into_iter().chain(zero_fill).collect())
        }
        StmtKind::Printf { args, .. } => Operands::reading(args.iter().collect()),
        StmtKind::Assert { cond, .. } | StmtKind::Assume { cond, .. } => {
            Operands::reading(vec![cond])
        }
        StmtKind::CopyToGlobal { destination, source } => {
            Operands::new([source], Some(destination), None)
        }
        StmtKind::Collective(c) => Operands::new(c.operands(), c.written(), c.results()),
        StmtKind::Runtime(call) => Operands::new(call.operands(), call.written(), None),
        StmtKind::Launch(l) => Operands::reading(
            l.grid.iter().chain(&l.block).chain([&l.shared]).chain(&l.args).collect(),
        ),
        StmtKind::Scope(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Fence(_)
        | StmtKind::AsyncCommit
        | StmtKind::AsyncWait(_)
        | StmtKind::Trap => Operands::reading(vec![]),
    }
}

/// What a statement itself stores to, or updates atomically.
pub fn changed(stmt: &Stmt) -> Option<&Place> {
    match &stmt.kind {
        StmtKind::Atomic { pointer, .. } => match &*pointer.kind {
            ExprKind::AddressOf(place) => Some(place),
            _ => None,
        },
        _ => operands(stmt).writes,
    }
}

/// Whether anything in a block is updated atomically.
pub fn updates(block: &Block) -> bool {
    let mut found = false;
    each_stmt(block, &mut |s| found |= matches!(s.kind, StmtKind::Atomic { .. }));
    found
}

/// Visits an expression and everything inside it, outer parts first.
pub fn each_expr<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(expr);
    match &*expr.kind {
        ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => {}
        ExprKind::Read(p) | ExprKind::AddressOf(p) => each_expr_of_place(p, f),
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Bitcast(a)
        | ExprKind::Member(a, _) => each_expr(a, f),
        ExprKind::Binary(_, a, b) | ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
            each_expr(a, f);
            each_expr(b, f);
        }
        ExprKind::Select(c, a, b) => {
            each_expr(c, f);
            each_expr(a, f);
            each_expr(b, f);
        }
        ExprKind::Call(_, args) | ExprKind::Make(args) => {
            args.iter().for_each(|a| each_expr(a, f));
        }
    }
}

/// Visits the index and pointer expressions of a place.
pub fn each_expr_of_place<'a>(place: &'a Place, f: &mut dyn FnMut(&'a Expr)) {
    match &*place.kind {
        PlaceKind::Var(_) | PlaceKind::Global(_) => {}
        PlaceKind::Deref(e) => each_expr(e, f),
        PlaceKind::Elem { pointer, index, dims } => {
            each_expr(pointer, f);
            index.iter().chain(dims).for_each(|e| each_expr(e, f));
        }
        PlaceKind::Index(p, e) => {
            each_expr_of_place(p, f);
            each_expr(e, f);
        }
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => each_expr_of_place(p, f),
    }
}

/// Visits every variable that an expression mentions.
pub fn each_var(expr: &Expr, f: &mut dyn FnMut(VarId)) {
    each_expr(expr, &mut |e| {
        if let ExprKind::Read(p) | ExprKind::AddressOf(p) = &*e.kind
            && let Some(v) = p.root_var()
        {
            f(v);
        }
    });
}

/// Visits every variable a block mentions in any role: read, written, declared, counted.
pub fn each_var_of_block(block: &Block, f: &mut dyn FnMut(VarId)) {
    each_stmt(block, &mut |stmt| each_var_of_stmt(stmt, f));
}

/// Whether an expression has something to do with a variable.
pub fn mentions(e: &Expr, var: VarId) -> bool {
    let mut found = false;
    each_var(e, &mut |v| found |= v == var);
    found
}

/// The parts of `a && b && …`.
pub fn conjuncts(e: &Expr) -> Vec<&Expr> {
    match &*e.kind {
        ExprKind::Binary(BinaryOp::LogicalAnd, a, b) => [conjuncts(a), conjuncts(b)].concat(),
        _ => vec![e],
    }
}

/// As [`each_var_of_block`] for one statement without those inside it.
pub fn each_var_of_stmt(stmt: &Stmt, f: &mut dyn FnMut(VarId)) {
    let o = operands(stmt);
    o.reads.iter().for_each(|e| each_var(e, f));
    if let Some(place) = o.writes {
        place.root_var().into_iter().for_each(&mut *f);
        each_expr_of_place(place, &mut |e| {
            if let ExprKind::Read(p) | ExprKind::AddressOf(p) = &*e.kind {
                p.root_var().into_iter().for_each(&mut *f);
            }
        });
    }
    o.results.into_iter().for_each(f);
}

/// Whether the variable is written anywhere in the block, counters included.
pub fn writes_var(block: &Block, var: VarId) -> bool {
    let mut found = false;
    each_stmt(block, &mut |stmt| {
        let o = operands(stmt);
        found |= o.results.contains(&var) || o.writes.and_then(|p| p.root_var()) == Some(var);
    });
    found
}

/// How often a variable is set in the block; an address that is taken counts as well.
pub fn times_set(block: &Block, var: VarId) -> usize {
    let mut count = 0;
    each_set(block, &mut |v| count += usize::from(v == var));
    count
}

/// As [`times_set`], for every variable that is set at all.
pub fn times_set_each(block: &Block) -> BTreeMap<VarId, usize> {
    let mut times = BTreeMap::new();
    each_set(block, &mut |v| *times.entry(v).or_default() += 1);
    times
}

fn each_set(block: &Block, f: &mut dyn FnMut(VarId)) {
    each_stmt(block, &mut |s| {
        let o = operands(s);
        let target = o.writes.and_then(|p| p.root_var());
        o.results.iter().copied().chain(target).for_each(&mut *f);
        for e in &o.reads {
            each_expr(e, &mut |e| {
                if let ExprKind::AddressOf(p) = &*e.kind
                    && let Some(v) = p.root_var()
                {
                    f(v);
                }
            });
        }
    });
}

/// The expressions that say which part of an object a place is; a pointer that it goes through is not among them.
pub fn subscripts(place: &Place) -> Vec<&Expr> {
    match &*place.kind {
        PlaceKind::Elem { index, .. } => index.iter().collect(),
        PlaceKind::Index(inner, e) => {
            let mut found = subscripts(inner);
            found.push(e);
            found
        }
        PlaceKind::Field(inner, _) | PlaceKind::Component(inner, _) => subscripts(inner),
        PlaceKind::Var(_) | PlaceKind::Global(_) | PlaceKind::Deref(_) => vec![],
    }
}

/// Variables that a block declares, counters of its loops among them.
pub fn declared(block: &Block) -> Vec<VarId> {
    let mut found = vec![];
    each_stmt(block, &mut |stmt| match &stmt.kind {
        StmtKind::Decl { var, .. } => found.push(*var),
        StmtKind::For(l) if l.declares => found.push(l.var),
        _ => {}
    });
    found
}

/// Variables that come into being in a block, and counters of its loops, whoever declares them.
pub fn own_variables(block: &Block) -> BTreeSet<VarId> {
    let mut own = BTreeSet::new();
    each_stmt(block, &mut |s| match &s.kind {
        StmtKind::Decl { var, .. } => _ = own.insert(*var),
        StmtKind::For(l) => _ = own.insert(l.var),
        _ => {}
    });
    own
}

/// Whether the expression reads memory through a pointer, or a variable that is an array.
pub fn reads_memory(expr: &Expr) -> bool {
    fn is_variable(place: &Place) -> bool {
        match &*place.kind {
            PlaceKind::Var(_) => true,
            PlaceKind::Field(whole, _) => is_variable(whole),
            _ => false,
        }
    }
    let mut found = false;
    each_expr(expr, &mut |e| found |= matches!(&*e.kind, ExprKind::Read(p) if !is_variable(p)));
    found
}

/// All counted loops of a block, outer before inner, in source order.
pub fn for_loops(block: &Block) -> Vec<&ForLoop> {
    let mut loops = vec![];
    each_stmt(block, &mut |stmt| {
        if let StmtKind::For(f) = &stmt.kind {
            loops.push(f);
        }
    });
    loops
}

/// The loop of this number in a block.
pub fn find_loop(block: &Block, id: LoopId) -> Option<&ForLoop> {
    for_loops(block).into_iter().find(|f| f.id == id)
}

/// The statement that is a counted loop, wherever it stands.
pub fn loop_stmt(block: &Block, id: LoopId) -> Option<&Stmt> {
    let mut found = None;
    each_stmt(block, &mut |stmt| {
        if matches!(&stmt.kind, StmtKind::For(l) if l.id == id) {
            found = Some(stmt);
        }
    });
    found
}

/// A `return`, or a `break` that belongs to a loop around the block: how control leaves it for good. A `continue`
/// only ends the iteration.
pub fn leaves(block: &Block) -> Option<&Stmt> {
    fn inside(block: &Block, breakable: bool) -> Option<&Stmt> {
        block.stmts.iter().find_map(|stmt| match &stmt.kind {
            StmtKind::Return(_) => Some(stmt),
            StmtKind::Break if !breakable => Some(stmt),
            StmtKind::For(_) | StmtKind::Loop { .. } | StmtKind::Switch { .. } => {
                blocks(stmt).into_iter().find_map(|b| inside(b, true))
            }
            _ => blocks(stmt).into_iter().find_map(|b| inside(b, breakable)),
        })
    }
    inside(block, false)
}

/// A `continue` of the loop whose body the block is.
pub fn continues(block: &Block) -> Option<&Stmt> {
    block.stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Continue => Some(stmt),
        StmtKind::For(_) | StmtKind::Loop { .. } => None,
        _ => blocks(stmt).into_iter().find_map(continues),
    })
}

/// Whether a block runs such a statement whenever it is run itself, and once.
pub fn stands_at_top(block: &Block, is: &impl Fn(&Stmt) -> bool) -> bool {
    block.stmts.iter().any(|s| match &s.kind {
        StmtKind::Scope(inner) => stands_at_top(inner, is),
        _ => is(s),
    })
}

/// A `return` anywhere in the block.
pub fn returns(block: &Block) -> Option<&Stmt> {
    let mut found = None;
    each_stmt(block, &mut |stmt| {
        if matches!(stmt.kind, StmtKind::Return(_)) && found.is_none() {
            found = Some(stmt);
        }
    });
    found
}

/// How often a block mentions a variable.
pub fn times_mentioned(block: &Block, var: VarId) -> usize {
    let mut count = 0;
    each_var_of_block(block, &mut |v| count += usize::from(v == var));
    count
}

/// The pointer `p` of a place `*p` or `p[0]`.
pub fn single_element(place: &Place) -> Option<VarId> {
    let pointer = match &*place.kind {
        PlaceKind::Deref(e) => e,
        PlaceKind::Elem { pointer, index, .. } => match index.as_slice() {
            [i] if i.as_const().is_some_and(|v| !v.ty.is_float() && v.as_i64() == 0) => pointer,
            _ => return None,
        },
        _ => return None,
    };
    match &*pointer.kind {
        ExprKind::Read(p) => match &*p.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        _ => None,
    }
}

/// Calls `f` with every place that evaluating an expression reads, whatever its conditions come to.
pub fn always_read(e: &Expr, f: &mut dyn FnMut(&Place)) {
    match &*e.kind {
        ExprKind::Read(p) => f(p),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => always_read(a, f),
        ExprKind::Binary(op, a, b) => {
            always_read(a, f);
            if !op.is_logical() {
                always_read(b, f);
            }
        }
        ExprKind::Select(cond, _, _) => always_read(cond, f),
        ExprKind::Call(_, args) => args.iter().for_each(|a| always_read(a, f)),
        _ => {}
    }
}

/// Changes the statement that is the counted loop `id`; tells whether there is one.
pub fn with_loop(block: &mut Block, id: LoopId, f: &mut dyn FnMut(&mut Stmt)) -> bool {
    for stmt in &mut block.stmts {
        if matches!(&stmt.kind, StmtKind::For(l) if l.id == id) {
            f(stmt);
            return true;
        }
        if blocks_mut(stmt).into_iter().any(|b| with_loop(b, id, f)) {
            return true;
        }
    }
    false
}

/// Variables that the statements of a group set.
pub fn set_in(body: &Block) -> BTreeSet<VarId> {
    let mut set = BTreeSet::new();
    each_stmt(body, &mut |s| {
        let o = operands(s);
        set.extend(o.results);
        set.extend(o.writes.and_then(Place::root_var));
        if let StmtKind::Decl { var, .. } = &s.kind {
            set.insert(*var);
        }
    });
    set
}

/// The block that holds a loop, and where in it the loop stands.
pub fn block_of(block: &Block, id: LoopId) -> Option<(&Block, usize)> {
    match block.stmts.iter().position(|s| is_loop(s, id)) {
        Some(at) => Some((block, at)),
        None => block.stmts.iter().flat_map(blocks).find_map(|b| block_of(b, id)),
    }
}

/// Calls `f` with the block that holds a loop, and where in it the loop stands.
pub fn with_block_of(block: &mut Block, id: LoopId, f: &mut dyn FnMut(&mut Block, usize)) -> bool {
    if let Some(at) = block.stmts.iter().position(|s| is_loop(s, id)) {
        f(block, at);
        return true;
    }
    let mut inner = block.stmts.iter_mut().flat_map(blocks_mut);
    inner.any(|b| with_block_of(b, id, f))
}

/// Whether a statement is the counted loop `id`.
pub fn is_loop(stmt: &Stmt, id: LoopId) -> bool {
    matches!(&stmt.kind, StmtKind::For(l) if l.id == id)
}
