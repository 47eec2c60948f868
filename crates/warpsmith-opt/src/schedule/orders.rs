//! The six orders of a contraction's three loops, as serial functions: what a CPU makes of each, and why.
//!
//! All of them sum the same terms into the elements of the result, which lie in memory: only in some orders could the
//! sum stay in a register.

use std::collections::BTreeSet;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, Function, LoopKind, Module, Origin, Place, PlaceKind,
    Stmt, StmtKind, VarId, VarKind,
};

use crate::analysis::access::{Base, Scope, base_of};
use crate::kernel::Kernel;
use crate::walk;

/// Every order of the loops over rows, columns and terms.
#[derive(Clone, Debug)]
pub struct Orders {
    /// Has a function for each order, with the parameters of the source.
    pub module: Module,
    /// The source's order first.
    pub list: Vec<Order>,
}

/// One order.
#[derive(Clone, Debug)]
pub struct Order {
    /// The counters, outermost loop first.
    pub loops: Vec<String>,
    /// The function in [`Orders::module`].
    pub function: String,
    /// For each array: how far apart the elements of two neighbouring iterations of the innermost loop are.
    pub innermost: Vec<(String, Stride)>,
}

/// The way through an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// All iterations want the same element.
    Same,
    /// The next element in memory.
    Next,
    /// An element that is a row apart.
    Row,
}

impl Stride {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Stride::Same => "one element",
            Stride::Next => "along a row",
            Stride::Row => "down a column",
        }
    }
}

/// What a nest of two parallel loops around a serial one sums, and where.
pub(super) struct Sum<'k> {
    pub loops: [&'k ForLoop; 3],
    /// The element that the terms are added to.
    pub element: Place,
    /// Its value before the first term, where the nest sets it.
    first: Option<Expr>,
    /// Adds one term to the element.
    pub term: Block,
}

impl<'k> Sum<'k> {
    /// Reads a nest whose loops have bounds of their own; `None` where something else happens in it.
    pub fn of(kernel: &Kernel, [outer, inner, sum]: [&'k ForLoop; 3]) -> Option<Sum<'k>> {
        if walk::for_loops(&outer.body).len() != 2 || walk::for_loops(&inner.body).len() != 1 {
            return None;
        }
        let counters = [outer.var, inner.var, sum.var];
        let own_bounds = [outer, inner, sum].iter().all(|l| {
            let mut fixed = true;
            for e in [&l.first, &l.limit, &l.step] {
                fixed &= !walk::reads_memory(e);
                walk::each_var(e, &mut |v| fixed &= kernel.func().var(v).kind == VarKind::Param);
            }
            fixed
        });
        let (element, first, mut term) = match accumulator(sum)? {
            Accumulator::Element(place) => {
                let first = set_before(inner, sum, &|p| *p == place);
                (place, first, sum.body.clone())
            }
            Accumulator::Variable(var) => {
                let mut term = sum.body.clone();
                let place = stored_after(inner, sum, var)?;
                InPlaceOf { var, place: &place }.block(&mut term);
                let is_own = |p: &Place| matches!(&*p.kind, PlaceKind::Var(v) if *v == var);
                (place, Some(set_before(inner, sum, &is_own)?), term)
            }
        };
        term.stmts.iter_mut().for_each(|stmt| stmt.comment.clear());
        let mut known: BTreeSet<VarId> = counters.into_iter().collect();
        known.extend(walk::declared(&term));
        let free = |v: VarId| known.contains(&v) || kernel.func().var(v).kind == VarKind::Param;
        let mut closed = own_bounds;
        walk::each_var_of_block(&term, &mut |v| closed &= free(v));
        if let Some(e) = &first {
            walk::each_var(e, &mut |v| closed &= free(v) && v != sum.var);
        }
        closed.then_some(Sum { loops: [outer, inner, sum], element, first, term })
    }

    /// The functions of all orders.
    pub fn orders(&self, kernel: &Kernel) -> Option<Orders> {
        const ALL: [[usize; 3]; 6] =
            [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let mut module = kernel.module.clone();
        let source = kernel.func().clone();
        let mut list = vec![];
        for order in ALL {
            let loops = order.map(|k| self.loops[k]);
            let names = loops.map(|l| source.var(l.var).name.clone());
            let mut function = self.function(&source, loops);
            function.name = format!("{}_{}", source.name, names.join("_"));
            list.push(Order {
                innermost: self.strides(kernel, loops[2])?,
                function: function.name.clone(),
                loops: names.to_vec(),
            });
            // Nothing calls the source itself: the first order takes its place.
            match list.len() {
                1 => *module.functions.get_mut(kernel.function.0 as usize)? = function,
                _ => module.functions.push(function),
            }
        }
        Some(Orders { module, list })
    }

    fn function(&self, source: &Function, loops: [&ForLoop; 3]) -> Function {
        let nest = |loops: &[&ForLoop], body: Block| {
            loops.iter().rev().fold(body, |body, l| {
                let serial =
                    ForLoop { kind: LoopKind::Serial, declares: true, body, ..(*l).clone() };
                Block::new(vec![Stmt::new(StmtKind::For(serial), Origin::default())])
            })
        };
        let mut function = Function { body: Block::default(), ..source.clone() };
        let mut sum = nest(&loops, self.term.clone());
        if let Some(value) = &self.first {
            let kind = StmtKind::Assign { place: self.element.clone(), value: value.clone() };
            let set = Block::new(vec![Stmt::new(kind, Origin::default())]);
            function.body.stmts.extend(nest(&self.loops[..2], set).stmts);
            visit::renew_loops(&mut function, &mut sum);
        }
        function.body.stmts.extend(sum.stmts);
        function
    }

    fn strides(&self, kernel: &Kernel, innermost: &ForLoop) -> Option<Vec<(String, Stride)>> {
        let scope = Scope::new(&kernel.module, kernel.func(), vec![], self.loops[0]);
        let mut list: Vec<(String, Stride)> = vec![];
        let mut add = |base: Base, subscript: &Poly| {
            let Base::Var(array) = base else { return };
            let step = subscript.split(&Atom::Var(innermost.var)).map(|(step, _)| step);
            let stride = match step.as_ref().and_then(Poly::as_constant) {
                Some(0) => Stride::Same,
                Some(1) => Stride::Next,
                _ => Stride::Row,
            };
            let name = kernel.name_of(array).to_string();
            if !list.contains(&(name.clone(), stride)) {
                list.push((name, stride));
            }
        };
        let accesses = scope.accesses();
        for a in accesses.iter().filter(|a| a.base != base_of(&self.element)) {
            add(a.base, &a.view.linear()?);
        }
        let element = accesses.iter().find(|a| a.base == base_of(&self.element))?;
        add(element.base, &element.view.linear()?);
        Some(list)
    }
}

/// What a loop adds to.
enum Accumulator {
    Element(Place),
    Variable(VarId),
}

/// The only thing outside of it that the loop's body changes.
fn accumulator(sum: &ForLoop) -> Option<Accumulator> {
    let own: BTreeSet<VarId> = walk::declared(&sum.body).into_iter().collect();
    let (mut changed, mut other): (Vec<Place>, bool) = (vec![], false);
    walk::each_stmt(&sum.body, &mut |s| match &s.kind {
        StmtKind::Decl { .. } | StmtKind::If { .. } | StmtKind::Scope(_) => {}
        StmtKind::Assign { place, .. } => {
            let local = matches!(&*place.kind, PlaceKind::Var(v) if own.contains(v));
            if !local && !changed.contains(place) {
                changed.push(place.clone());
            }
        }
        _ => other = true,
    });
    let [place] = <[Place; 1]>::try_from(changed).ok().filter(|_| !other)?;
    match &*place.kind {
        PlaceKind::Var(v) => Some(Accumulator::Variable(*v)),
        _ => {
            let mut moves = false;
            walk::each_expr_of_place(&place, &mut |e| moves |= walk::mentions(e, sum.var));
            (!moves).then_some(Accumulator::Element(place))
        }
    }
}

/// The value that a place gets before the loop, if it is set there once.
fn set_before(inner: &ForLoop, sum: &ForLoop, is: &dyn Fn(&Place) -> bool) -> Option<Expr> {
    let before = inner.body.stmts.iter().take_while(|s| !is_loop(s, sum));
    let mut values = before.filter_map(|s| match &s.kind {
        StmtKind::Assign { place, value } if is(place) => Some(value.clone()),
        StmtKind::Decl { var, init: Some(value) } => {
            let place = Place {
                kind: Box::new(PlaceKind::Var(*var)),
                ty: value.ty.clone(),
                origin: Origin::default(),
            };
            is(&place).then(|| value.clone())
        }
        _ => None,
    });
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

fn is_loop(stmt: &Stmt, l: &ForLoop) -> bool {
    matches!(&stmt.kind, StmtKind::For(found) if found.id == l.id)
}

/// The element of an array that gets the variable's value after the loop, or something computed of it.
fn stored_after(inner: &ForLoop, sum: &ForLoop, var: VarId) -> Option<Place> {
    let after = inner.body.stmts.iter().skip_while(|s| !is_loop(s, sum)).skip(1);
    let mut places = after.filter_map(|s| match &s.kind {
        StmtKind::Assign { place, value } if walk::mentions(value, var) => Some(place.clone()),
        _ => None,
    });
    let place = places.next().filter(|p| !matches!(&*p.kind, PlaceKind::Var(_)))?;
    places.next().is_none().then_some(place)
}

/// Puts an element in the place of a variable.
struct InPlaceOf<'a> {
    var: VarId,
    place: &'a Place,
}

impl Rewriter for InPlaceOf<'_> {
    fn place(&mut self, place: &mut Place) {
        match &*place.kind {
            PlaceKind::Var(v) if *v == self.var => *place = self.place.clone(),
            _ => visit::rewrite_place(self, place),
        }
    }
}

/// The two factors where a term is their product, added to the element.
pub(super) fn factors<'s>(sum: &'s Sum<'_>) -> Option<[&'s Place; 2]> {
    let [stmt] = sum.term.stmts.as_slice() else { return None };
    let StmtKind::Assign { place, value } = &stmt.kind else { return None };
    let ExprKind::Binary(BinaryOp::Add, a, b) = &*value.kind else { return None };
    let read = |e: &'s Expr| match &*e.kind {
        ExprKind::Read(p) => Some(p),
        _ => None,
    };
    let product = match (read(a) == Some(place), read(b) == Some(place)) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    let ExprKind::Binary(BinaryOp::Mul, x, y) = &*product.kind else { return None };
    Some([read(x)?, read(y)?])
}
