//! Sets of accesses in the annotations of verifiers: `__read(a)`, `__write_offset(a)`, `__writes_to(a)` and their like.
//!
//! A verifier's `__write(a)` says of the thread at hand that it has written to the array `a` since the last barrier, and
//! `__write_offset_bytes(a)` where. Whoever is asked for such a thing gets a variable of the thread; once the function is
//! complete, statements that keep these variables up to date are put before its accesses. Of several accesses the latest is
//! known: what a condition says of any of them it says of that one. A promise that a function accesses nothing but
//! some arrays is broken by the access that is put into words here.
//!
//! Accesses are those that name the array: `a[i]`, `*(a + i)`. What goes through other pointers, or in functions that are
//! called, is not known.

use warpsmith_ir::visit::{self, Access, Visitor};
use warpsmith_ir::{
    BarrierKind, BinaryOp, Block, Expr, ExprKind, Function, Place, PlaceKind, Scalar, Span, Stmt,
    StmtKind, Type, VarId, VarKind,
};

use super::Sema;
use super::model::*;
use crate::ast;

/// What a function's annotations ask of its accesses.
#[derive(Debug, Default)]
pub(crate) struct AccessSets {
    tracked: Vec<Tracked>,
    contracts: Vec<Contract>,
}

/// The latest access of one kind of an array.
#[derive(Debug)]
struct Tracked {
    array: VarId,
    way: Access,
    /// A pointer to the first element.
    base: Expr,
    /// `bool`: there has been one since the last barrier.
    happened: VarId,
    /// `i64`: where, in bytes.
    offset: VarId,
}

/// The only arrays that the function may access in that way.
#[derive(Debug)]
struct Contract {
    way: Access,
    name: String,
    arrays: Vec<VarId>,
    span: Span,
}

/// Promises of the arrays that a function accesses, and what they are about.
fn contract(name: &str) -> Option<Access> {
    match name {
        "__reads_from" | "__reads_from_local" => Some(Access::Read),
        "__writes_to" | "__writes_to_local" | "__modifies" => Some(Access::Write),
        _ => None,
    }
}

impl<'a> Sema<'a> {
    /// A function of access sets in an annotation, or a promise of them; `None` when the name is none.
    pub(crate) fn access_set(
        &mut self,
        name: &str,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        if let Some(way) = contract(name) {
            return Some(self.contract(name, way, args, span));
        }
        let inner = name.strip_prefix("__")?;
        let (no, inner) = match inner.strip_prefix("no_") {
            Some(rest) => (true, rest),
            None => (false, inner),
        };
        let (way, asked) = match inner.strip_prefix("read") {
            Some(asked) => (Access::Read, asked),
            None => (Access::Write, inner.strip_prefix("write")?),
        };
        Some(match (no, asked, args) {
            (_, "", [array]) => self.happened(array, way).map(|e| match no {
                true => Operand::Value(super::expr_ops::negated(e, span)),
                false => Operand::Value(e),
            }),
            (false, "_implies", [array, e]) => self.implied(array, e, way, span),
            (false, "_offset_bytes", [array]) => self.accessed_at(array, way, false, span),
            (false, "_offset", [array]) => self.accessed_at(array, way, true, span),
            _ => return None,
        })
    }

    fn happened(&mut self, array: &'a ast::Expr, way: Access) -> Res<Expr> {
        let at = self.tracked(array, way)?;
        let happened = self.f().sets.tracked[at].happened;
        Ok(Expr::var(happened, Type::Scalar(Scalar::Bool)).with_origin(array.span))
    }

    fn implied(
        &mut self,
        array: &'a ast::Expr,
        e: &'a ast::Expr,
        way: Access,
        span: Span,
    ) -> Res<Operand<'a>> {
        let none = super::expr_ops::negated(self.happened(array, way)?, span);
        let e = self.truth_of(e)?;
        let either = super::convert::binary_folded(BinaryOp::LogicalOr, none, e, span);
        Ok(Operand::Value(either))
    }

    fn accessed_at(
        &mut self,
        array: &'a ast::Expr,
        way: Access,
        in_elements: bool,
        span: Span,
    ) -> Res<Operand<'a>> {
        let at = self.tracked(array, way)?;
        let tracked = &self.f().sets.tracked[at];
        let bytes = Expr::var(tracked.offset, Type::I64).with_origin(span);
        let element = tracked.base.ty.pointee().cloned().unwrap_or(Type::Void);
        let size = match in_elements {
            true => warpsmith_ir::layout::layout_of(&self.module, &element).size.max(1),
            false => 1,
        };
        let size = Expr::int(Scalar::I64, size as i64).with_origin(span);
        let value = super::convert::binary_folded(BinaryOp::Div, bytes, size, span);
        Ok(Operand::Value(value))
    }

    /// The number of what is kept of an array's accesses.
    fn tracked(&mut self, array: &'a ast::Expr, way: Access) -> Res<usize> {
        let (var, base) = self.named_array(array)?;
        let known = |t: &Tracked| t.array == var && t.way == way;
        if let Some(at) = self.f().sets.tracked.iter().position(known) {
            return Ok(at);
        }
        let happened = self.fresh_var("accessed", Type::Scalar(Scalar::Bool), array.span);
        let offset = self.fresh_var("accessed_at", Type::I64, array.span);
        let sets = &mut self.f().sets;
        sets.tracked.push(Tracked { array: var, way, base, happened, offset });
        Ok(sets.tracked.len() - 1)
    }

    /// The parameter or shared variable that an annotation names, and a pointer to its first element.
    fn named_array(&mut self, array: &'a ast::Expr) -> Res<(VarId, Expr)> {
        let pointer = self.rvalue(array)?;
        match root_of_pointer(&pointer).filter(|_| pointer.ty.is_pointer()) {
            Some(var) => Ok((var, pointer)),
            None => {
                let d = error("W063", array.span, "this is no array that the function names");
                Err(d.help("name a parameter or a shared array").into())
            }
        }
    }

    fn contract(
        &mut self,
        name: &str,
        way: Access,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let mut arrays = vec![];
        for array in args {
            arrays.push(self.named_array(array)?.0);
        }
        self.f().sets.contracts.push(Contract { way, name: name.to_string(), arrays, span });
        Ok(Operand::Void)
    }
}

/// Puts in what keeps the variables of the annotations up to date, and what says that a promise is broken.
pub(crate) fn keep(function: &mut Function, sets: &AccessSets) {
    if sets.tracked.is_empty() && sets.contracts.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut function.body);
    block(&mut body, function, sets);
    let mut stmts: Vec<Stmt> = vec![];
    for t in &sets.tracked {
        let origin = t.base.origin.clone();
        let none = Expr::constant(warpsmith_ir::Value::int(Scalar::Bool, 0));
        let zero = Expr::int(Scalar::I64, 0);
        for (var, init) in [(t.happened, none), (t.offset, zero)] {
            stmts.push(Stmt::new(StmtKind::Decl { var, init: Some(init) }, origin.clone()));
        }
    }
    stmts.append(&mut body.stmts);
    function.body = Block::new(stmts);
}

fn block(b: &mut Block, function: &Function, sets: &AccessSets) {
    let mut out = vec![];
    for mut stmt in std::mem::take(&mut b.stmts) {
        let barrier = is_barrier(&stmt);
        accesses_of(&stmt, function, sets, &mut out);
        inner_blocks(&mut stmt, function, sets);
        out.push(stmt);
        if barrier {
            out.extend(sets.tracked.iter().map(|t| {
                let none = Expr::constant(warpsmith_ir::Value::int(Scalar::Bool, 0));
                assign(t.happened, Type::Scalar(Scalar::Bool), none, &t.base)
            }));
        }
    }
    b.stmts = out;
}

fn is_barrier(stmt: &Stmt) -> bool {
    let of_warp = |kind: &BarrierKind| matches!(kind, BarrierKind::Warp);
    matches!(&stmt.kind, StmtKind::Barrier { kind, .. } if !of_warp(kind))
}

fn inner_blocks(stmt: &mut Stmt, function: &Function, sets: &AccessSets) {
    match &mut stmt.kind {
        StmtKind::If { then, otherwise, .. } => {
            block(then, function, sets);
            block(otherwise, function, sets);
        }
        StmtKind::For(l) => block(&mut l.body, function, sets),
        StmtKind::Loop { condition, body, step, .. } => {
            if let Some(c) = condition {
                block(&mut c.before, function, sets);
                let mut found = vec![];
                note(&c.expr, function, sets, &mut found);
                c.before.stmts.extend(found);
            }
            block(body, function, sets);
            block(step, function, sets);
        }
        StmtKind::Switch { cases, .. } => {
            cases.iter_mut().for_each(|c| block(&mut c.body, function, sets));
        }
        StmtKind::Scope(b) => block(b, function, sets),
        _ => {}
    }
}

/// What the accesses of a statement itself, without those of its blocks, change.
fn accesses_of(stmt: &Stmt, function: &Function, sets: &AccessSets, out: &mut Vec<Stmt>) {
    match &stmt.kind {
        StmtKind::If { cond, .. } => note(cond, function, sets, out),
        StmtKind::Switch { selector, .. } => note(selector, function, sets, out),
        StmtKind::For(l) => {
            [&l.first, &l.limit, &l.step].into_iter().for_each(|e| note(e, function, sets, out));
        }
        StmtKind::Loop { .. } | StmtKind::Scope(_) => {}
        // What is asserted of the program is none of its accesses.
        StmtKind::Assert { .. } | StmtKind::Assume { .. } => {}
        StmtKind::Atomic { pointer, value, .. } => {
            note(value, function, sets, out);
            note(pointer, function, sets, out);
            if let Some(var) = root_of_pointer(pointer) {
                for way in [Access::Read, Access::Write] {
                    found(var, way, pointer.clone(), sets, out);
                }
            }
        }
        _ => {
            let mut finder = Finder { function, sets, out };
            visit::walk_stmt(&mut finder, stmt);
        }
    }
}

fn note(e: &Expr, function: &Function, sets: &AccessSets, out: &mut Vec<Stmt>) {
    Finder { function, sets, out }.expr(e);
}

/// Finds accesses that name an array.
struct Finder<'s> {
    function: &'s Function,
    sets: &'s AccessSets,
    out: &'s mut Vec<Stmt>,
}

impl Visitor for Finder<'_> {
    fn place(&mut self, place: &Place, way: Access) {
        let array = root(place).filter(|v| is_array(self.function, *v));
        if let Some(var) = array.filter(|_| way != Access::Address) {
            let address = Expr::new(
                ExprKind::AddressOf(place.clone()),
                Type::pointer(place.ty.clone(), warpsmith_ir::Space::Generic),
                place.origin.clone(),
            );
            found(var, way, address, self.sets, self.out);
        }
        self.subscripts(place);
    }
}

impl Finder<'_> {
    /// The expressions inside of a place; the places it is a part of are the same access.
    fn subscripts(&mut self, place: &Place) {
        match &*place.kind {
            PlaceKind::Var(_) | PlaceKind::Global(_) => {}
            PlaceKind::Deref(e) => self.expr(e),
            PlaceKind::Elem { pointer, index, dims } => {
                self.expr(pointer);
                index.iter().chain(dims).for_each(|e| self.expr(e));
            }
            PlaceKind::Index(base, index) => {
                self.subscripts(base);
                self.expr(index);
            }
            PlaceKind::Field(base, _) | PlaceKind::Component(base, _) => self.subscripts(base),
        }
    }
}

fn found(var: VarId, way: Access, address: Expr, sets: &AccessSets, out: &mut Vec<Stmt>) {
    for t in sets.tracked.iter().filter(|t| t.array == var && t.way == way) {
        let yes = Expr::constant(warpsmith_ir::Value::int(Scalar::Bool, 1));
        out.push(assign(t.happened, Type::Scalar(Scalar::Bool), yes, &address));
        let bytes = Type::pointer(Type::Scalar(Scalar::I8), warpsmith_ir::Space::Generic);
        let origin = address.origin.clone();
        let as_bytes =
            |e: &Expr| Expr::new(ExprKind::Cast(e.clone()), bytes.clone(), origin.clone());
        let kind = ExprKind::PtrDiff(as_bytes(&address), as_bytes(&t.base));
        let distance = Expr::new(kind, Type::I64, origin.clone());
        out.push(assign(t.offset, Type::I64, distance, &address));
    }
    let of_way = |c: &&Contract| c.way == way;
    if sets.contracts.iter().any(|c| c.way == way && c.arrays.contains(&var)) {
        return;
    }
    if let Some(c) = sets.contracts.iter().find(of_way) {
        let cond = Expr::constant(warpsmith_ir::Value::int(Scalar::Bool, 0));
        let done = if way == Access::Read { "reads" } else { "writes" };
        let text = format!("{}: it {done} no other array", c.name);
        let at = address.origin.span.unwrap_or(c.span);
        out.push(Stmt::new(StmtKind::Assert { cond, text }, at));
    }
}

fn assign(var: VarId, ty: Type, value: Expr, like: &Expr) -> Stmt {
    let place = Place::new(PlaceKind::Var(var), ty, like.origin.clone());
    Stmt::new(StmtKind::Assign { place, value }, like.origin.clone())
}

/// Whether accesses of the variable, or through it, are those of an array.
fn is_array(function: &Function, var: VarId) -> bool {
    let v = function.var(var);
    v.ty.is_pointer() && !v.reference || matches!(v.kind, VarKind::Shared | VarKind::DynamicShared)
}

/// The pointer or array that a place is reached through.
fn root(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Deref(e) => root_of_pointer(e),
        PlaceKind::Elem { pointer, .. } => root_of_pointer(pointer),
        PlaceKind::Index(base, _) | PlaceKind::Field(base, _) | PlaceKind::Component(base, _) => {
            root(base).or_else(|| base.root_var())
        }
        PlaceKind::Var(_) | PlaceKind::Global(_) => None,
    }
}

fn root_of_pointer(e: &Expr) -> Option<VarId> {
    match &*e.kind {
        ExprKind::Read(p) => match &*p.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        ExprKind::Cast(a) | ExprKind::PtrOffset(a, _) => root_of_pointer(a),
        ExprKind::AddressOf(p) => root(p).or_else(|| p.root_var()),
        _ => None,
    }
}
