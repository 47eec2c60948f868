//! Arrays that change places: `float *t = a; a = b; b = t;`, or `t = a; a = b; b = c; c = t;` of three.
//!
//! A pointer may move in no other way. After each such exchange different names still stand for different arrays, so
//! that everything that is known of the names inside a nest stays true.

use std::collections::BTreeSet;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{Diagnostic, Expr, Place, PlaceKind, Span, StmtKind, Type, Var, VarId, VarKind};

use super::cx::{Binding, Cx, Frame, Low};
use super::scan;
use crate::ast;

/// Each array takes the place of the one before it, and the last that of the first, which `keeper` holds meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    pub keeper: String,
    pub arrays: Vec<String>,
    /// Statements that it consists of.
    pub statements: usize,
    span: Span,
}

/// The exchange that a list of statements begins with.
pub fn at_start(list: &[ast::Stmt]) -> Option<Swap> {
    let mut pairs: Vec<(String, String)> = vec![];
    let mut statements = 0;
    let closed = |pairs: &[(String, String)]| {
        pairs.len() > 2 && pairs.first().map(|p| &p.0) == pairs.last().map(|p| &p.1)
    };
    while !closed(&pairs) && pairs.len() <= MAX_ARRAYS {
        let stmt = list.get(statements).filter(|s| s.pragmas.is_empty())?;
        assignments(stmt, &mut pairs)?;
        statements += 1;
    }
    let linked = pairs.windows(2).all(|w| w[1].0 == w[0].1);
    let (keeper, arrays) = pairs.split_first().map(|(first, rest)| {
        (first.0.clone(), rest.iter().map(|p| p.0.clone()).collect::<Vec<_>>())
    })?;
    let names: BTreeSet<&String> = arrays.iter().chain([&keeper]).collect();
    let different = names.len() == arrays.len() + 1;
    let span = list[0].span;
    (closed(&pairs) && linked && different).then_some(Swap { keeper, arrays, statements, span })
}

/// Arrays that change places at a time.
const MAX_ARRAYS: usize = 8;

/// Adds what a statement assigns by names alone; `None`: it is something else.
fn assignments(stmt: &ast::Stmt, pairs: &mut Vec<(String, String)>) -> Option<()> {
    match &stmt.kind {
        ast::StmtKind::Expr(e) => assigned(e, pairs),
        ast::StmtKind::Vars(decl) => {
            let [d] = decl.declarators.as_slice() else { return None };
            let ast::TypeKind::Pointer { .. } = d.ty.kind else { return None };
            let Some(ast::Initializer::Expr(e)) = &d.init else { return None };
            pairs.push((d.name.clone(), name(e)?.to_string()));
            Some(())
        }
        _ => None,
    }
}

fn assigned(e: &ast::Expr, pairs: &mut Vec<(String, String)>) -> Option<()> {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => assigned(inner, pairs),
        ast::ExprKind::Comma(a, b) => {
            assigned(a, pairs)?;
            assigned(b, pairs)
        }
        ast::ExprKind::Assign { op, target, value } if op == "=" => {
            let target = name(target).or_else(|| declared(target))?;
            pairs.push((target.to_string(), name(value)?.to_string()));
            Some(())
        }
        _ => None,
    }
}

/// `p` of `float (*p)[m]`, which C++ reads as an element of a conversion.
fn declared(e: &ast::Expr) -> Option<&str> {
    match &*e.kind {
        ast::ExprKind::Index { base, .. } => declared(base),
        ast::ExprKind::Construct { args, .. } => match args.as_slice() {
            [ast::Initializer::Expr(e)] => match &*e.kind {
                ast::ExprKind::Unary { op, operand } if op == "*" => name(operand),
                _ => None,
            },
            _ => None,
        },
        ast::ExprKind::Call { callee, args } => match (&*callee.kind, args.as_slice()) {
            (ast::ExprKind::Path(_), [e]) => match &*e.kind {
                ast::ExprKind::Unary { op, operand } if op == "*" => name(operand),
                _ => None,
            },
            _ => None,
        },
        ast::ExprKind::Cast { operand, .. } => match &*operand.kind {
            ast::ExprKind::Unary { op, operand } if op == "*" => name(operand),
            _ => None,
        },
        _ => None,
    }
}

fn name(e: &ast::Expr) -> Option<&str> {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => name(inner),
        ast::ExprKind::Path(path) => path.as_name(),
        _ => None,
    }
}

/// All exchanges in statements, nested ones included.
fn all_in(list: &[ast::Stmt], found: &mut Vec<Swap>) {
    for (i, stmt) in list.iter().enumerate() {
        found.extend(at_start(&list[i..]));
        inner_lists(stmt, &mut |inner| all_in(inner, found));
    }
}

fn inner_lists(stmt: &ast::Stmt, f: &mut dyn FnMut(&[ast::Stmt])) {
    use ast::StmtKind as S;
    match &stmt.kind {
        S::Block(b) => f(&b.stmts),
        S::If { then, otherwise, .. } => {
            inner_lists(then, f);
            otherwise.iter().for_each(|o| inner_lists(o, f));
        }
        S::For { body, .. } | S::While { body, .. } | S::DoWhile { body, .. } => {
            inner_lists(body, f)
        }
        _ => {}
    }
}

/// How often statements speak of a name.
fn mentions(list: &[ast::Stmt], wanted: &str) -> usize {
    fn count(e: &ast::Expr, wanted: &str, n: &mut usize) {
        *n +=
            usize::from(matches!(&*e.kind, ast::ExprKind::Path(p) if p.as_name() == Some(wanted)));
        scan::for_each_child(e, &mut |c| count(c, wanted, n));
    }
    let mut n = 0;
    for stmt in list {
        scan::for_each_expr(stmt, &mut |e| count(e, wanted, &mut n));
    }
    n
}

/// Whether a pointer without a value serves nothing but exchanges in the statements that follow.
pub fn only_keeps(pointer: &str, following: &[ast::Stmt]) -> bool {
    let mut swaps = vec![];
    all_in(following, &mut swaps);
    let kept = swaps.iter().filter(|s| s.keeper == pointer).count();
    kept > 0 && mentions(following, pointer) == 2 * kept
}

/// Whether all assignments of a pointer in these statements belong to exchanges with others.
fn only_swapped(pointer: &str, following: &[ast::Stmt]) -> bool {
    let mut swaps = vec![];
    all_in(following, &mut swaps);
    let swapped = swaps.iter().filter(|s| s.arrays.iter().any(|a| a == pointer)).count();
    swapped > 0
}

impl<'u> Cx<'u> {
    /// Lowers the exchange that the statements begin with; the number of statements that were lowered, 0 where there is
    /// none or it is none of arrays.
    pub fn swap(&mut self, list: &'u [ast::Stmt]) -> Low<usize> {
        let Some(swap) = at_start(list) else { return Ok(0) };
        let mut arrays = vec![];
        for name in &swap.arrays {
            match self.array_named(name)? {
                Some(array) => arrays.push(array),
                None => return Ok(0),
            }
        }
        let Some(&first) = arrays.first() else { return Ok(0) };
        let rest = &list[swap.statements..];
        let declared = matches!(list[0].kind, ast::StmtKind::Vars(_));
        if declared && mentions(rest, &swap.keeper) > 0 {
            return Ok(0);
        }
        if let Some(Frame::Marked(mark)) =
            self.frames.iter().find(|f| matches!(f, Frame::Marked(_))).copied()
        {
            let d = Diagnostic::error("W143", "pointers change places inside a parallel loop")
                .label(swap.span, "here")
                .label(mark, "marked here");
            return Err(self.fail(d.help("exchange them after the loop")));
        }
        if let Some(other) = arrays.iter().position(|b| !self.alike(first, *b)) {
            let message = format!(
                "`{}` and `{}` change places, but they are not declared alike",
                swap.arrays[0], swap.arrays[other]
            );
            let d = Diagnostic::error("W143", message).label(swap.span, "here");
            return Err(self.fail(d.help("give both the same element type and the same extents")));
        }
        let ty = self.function.var(first).ty.clone();
        for var in &arrays {
            self.function.vars[var.0 as usize].restrict = false;
        }
        let mut keeper = Var::new(swap.keeper.clone(), ty.clone(), VarKind::Local);
        keeper.origin = swap.span.into();
        let keeper = self.function.add_var(keeper);
        let read = |v: VarId| Expr::var(v, ty.clone()).with_origin(swap.span);
        let place = |v: VarId| Place::new(PlaceKind::Var(v), ty.clone(), swap.span);
        self.push(StmtKind::Decl { var: keeper, init: Some(read(first)) }, swap.span);
        for (to, from) in arrays.iter().zip(arrays.iter().skip(1).chain([&keeper])) {
            self.push(StmtKind::Assign { place: place(*to), value: read(*from) }, swap.span);
        }
        Ok(swap.statements)
    }

    /// The array parameter that a name stands for.
    fn array_named(&mut self, name: &str) -> Low<Option<VarId>> {
        Ok(match self.lookup_quietly(name)? {
            Some(Binding::Var(v)) if self.function.var(v).ty.is_pointer() => Some(v),
            _ => None,
        })
    }

    /// Whether two arrays have the same elements and extents.
    fn alike(&self, a: VarId, b: VarId) -> bool {
        let same = |x: &[Expr], y: &[Expr]| {
            let equal = |(x, y): (&Expr, &Expr)| {
                let (x, y) = (Poly::from_expr(x), Poly::from_expr(y));
                x.zip(y).and_then(|(x, y)| x.sub(&y)).is_some_and(|d| d.is_zero())
            };
            x.len() == y.len() && x.iter().zip(y).all(equal)
        };
        let dims = |v: VarId| self.dims.get(&v).map_or(&[][..], Vec::as_slice);
        let shape = |v: VarId| self.function.var(v).shape.as_deref();
        let shapes = match (shape(a), shape(b)) {
            (Some(x), Some(y)) => same(x, y),
            (x, y) => x.is_none() && y.is_none(),
        };
        self.function.var(a).ty == self.function.var(b).ty && same(dims(a), dims(b)) && shapes
    }

    /// `float *now = u;` where `now` changes places with others later on and nobody speaks of `u` any more: another name
    /// of the parameter. `None`: it is something else.
    pub fn renamed(&mut self, name: &str, init: &ast::Expr) -> Option<VarId> {
        let own = self::name(init)?;
        let Ok(Some(Binding::Var(v))) = self.lookup_quietly(own) else { return None };
        let array = self.function.params.contains(&v)
            && matches!(self.function.var(v).ty, Type::Pointer { .. });
        let following = self.following;
        (array && only_swapped(name, following) && mentions(following, own) == 0).then_some(v)
    }
}
