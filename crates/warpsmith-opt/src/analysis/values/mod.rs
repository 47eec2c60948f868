//! What values an array of integers may hold, from what a function does with them.
//!
//! Data that nobody has given must keep the function inside its arrays, or nothing can be said about a kernel: a column
//! index lies below the extent of the array that it indexes, offsets of rows do not decrease, a divisor is not zero. Every
//! use of an element gives a bound, a polynomial of the sizes:
//!
//! ```text
//! for (k = start[i]; k < start[i + 1]; k++) y[i] += value[k] * x[column[k]];
//!   ==>  start: 0 … entries, not decreasing        column: 0 … n - 1
//! ```

mod bounds;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, FuncId, Function, LoopKind, Module, Place, PlaceKind,
    Scalar, Stmt, StmtKind, Type, VarId,
};

use crate::analysis::scalars;
use crate::walk;

/// Iterations of a loop whose number comes from data and says nothing else.
const SHORT: i128 = 16;
/// How many definitions a bound is followed through.
const DEPTH: usize = 6;

/// How the elements of an array stand to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Nothing is known of the order.
    #[default]
    Any,
    /// Each is at least the one before it; the first is the least value, the last the greatest.
    Rising,
    /// No two are equal: elements that iterations write by these indices are their own.
    Distinct,
}

/// The values of one array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// No value is below any of these, polynomials of scalar parameters.
    pub at_least: Vec<Poly>,
    /// Upper bounds of the values.
    pub at_most: Vec<Poly>,
    /// How values follow each other.
    pub order: Order,
    /// Reals in [0, 1): an index is made of them, or something is divided by their sum.
    pub fraction: bool,
}

/// The numbers of an array parameter, or those in one field of its structures: the fields' numbers on the way.
pub type Slot = (VarId, Vec<u32>);

/// For each array parameter, or field of its structures, of which the function asks something, what that is.
pub fn of_arrays(module: &Module, function: &Function) -> BTreeMap<Slot, Values> {
    let mut finder = Finder::new(module, function);
    finder.block(&function.body);
    finder.defaults();
    finder.found
}

/// Whether a statement computes what it stores from the element that it overwrites.
fn updates(stmt: &Stmt, place: &Place) -> bool {
    let StmtKind::Assign { value, .. } = &stmt.kind else { return false };
    let mut found = false;
    walk::each_expr(value, &mut |e| {
        found |= matches!(&*e.kind, ExprKind::Read(p) if p.kind == place.kind);
    });
    found
}

/// A name with its range: a counter, or a variable that a loop's condition bounds.
#[derive(Clone)]
struct Range {
    var: VarId,
    least: Option<Poly>,
    most: Option<Poly>,
}

struct Finder<'a> {
    module: &'a Module,
    function: &'a Function,
    /// What is assigned to local variables.
    definitions: BTreeMap<VarId, Vec<&'a Expr>>,
    counters: BTreeSet<VarId>,
    ranges: Vec<Range>,
    /// Marked loops around.
    parallel: usize,
    /// Arrays whose elements bound a loop.
    counts: BTreeSet<Slot>,
    /// Arrays whose elements a condition around asks about: it keeps bad ones away, and shall meet some.
    guarded: Vec<Slot>,
    /// Numbers that elements are compared with, and that small ones above zero all lie on one side of.
    compared: BTreeMap<Slot, Vec<i128>>,
    found: BTreeMap<Slot, Values>,
}

/// Values that nothing is asked of lie from zero up to this.
const USUAL: i128 = 99;

impl<'a> Finder<'a> {
    fn new(module: &'a Module, function: &'a Function) -> Finder<'a> {
        let mut definitions = BTreeMap::<VarId, Vec<&Expr>>::new();
        let mut counters = BTreeSet::new();
        walk::each_stmt(&function.body, &mut |s| match &s.kind {
            StmtKind::Decl { var, init: Some(e) } => definitions.entry(*var).or_default().push(e),
            StmtKind::Assign { place, value } => {
                if let PlaceKind::Var(v) = &*place.kind {
                    definitions.entry(*v).or_default().push(value);
                }
            }
            StmtKind::For(l) => {
                counters.insert(l.var);
            }
            _ => {}
        });
        Finder {
            module,
            function,
            definitions,
            counters,
            ranges: vec![],
            parallel: 0,
            counts: BTreeSet::new(),
            guarded: vec![],
            compared: BTreeMap::new(),
            found: BTreeMap::new(),
        }
    }

    fn block(&mut self, block: &'a Block) {
        block.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        let o = walk::operands(stmt);
        let depth = self.guarded.len();
        for e in &o.reads {
            walk::each_expr(e, &mut |inside| match &*inside.kind {
                ExprKind::Select(c, ..)
                | ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, c, _) => {
                    self.guard(c, DEPTH);
                }
                _ => {}
            });
        }
        o.reads.iter().for_each(|e| self.uses(e));
        if let Some(place) = o.writes {
            walk::each_expr_of_place(place, &mut |e| self.own_use(e));
            self.subscripts(place);
            // What is updated by data that repeat is a race, not an order that the data are expected to have.
            if self.parallel > 0 && !updates(stmt, place) {
                self.targets(place);
            }
        }
        if let StmtKind::If { cond, .. } = &stmt.kind {
            self.guard(cond, DEPTH);
        }
        if let StmtKind::Call { function, args, .. } = &stmt.kind {
            self.called(*function, args);
        }
        match &stmt.kind {
            StmtKind::For(l) => self.counted(l),
            StmtKind::Loop { condition, body, step, .. } => {
                let bounds = condition.as_ref().map_or(vec![], |c| self.conditions(&c.expr));
                let depth = self.ranges.len();
                self.ranges.extend(bounds);
                condition.iter().for_each(|c| self.block(&c.before));
                self.block(body);
                self.ranges.truncate(depth);
                self.block(step);
            }
            StmtKind::Switch { selector, cases } => {
                let last = cases.iter().flat_map(|c| c.values.iter().copied()).max().unwrap_or(0);
                self.within(selector, 0, i128::from(last) + 1);
                cases.iter().for_each(|c| self.block(&c.body));
            }
            _ => walk::blocks(stmt).into_iter().for_each(|b| self.block(b)),
        }
        self.guarded.truncate(depth);
    }

    /// What a function asks of the arrays that it is handed, as far as its arguments say it.
    fn called(&mut self, id: FuncId, args: &'a [Expr]) {
        // The verifier refuses recursion.
        let callee = self.module.function(id);
        for ((param, fields), values) in of_arrays(self.module, callee) {
            let at = callee.params.iter().position(|p| *p == param);
            let Some(array) = at.and_then(|k| args.get(k)).and_then(array_handed) else { continue };
            let outside = |bounds: &[Poly]| -> Vec<Poly> {
                bounds.iter().filter_map(|p| self.outside(callee, args, p)).collect()
            };
            let (at_least, at_most) = (outside(&values.at_least), outside(&values.at_most));
            if !self.is_array(&(array, fields.clone())) && !values.fraction {
                continue;
            }
            let own = self.found.entry((array, fields)).or_default();
            own.at_least.extend(at_least);
            own.at_most.extend(at_most);
            own.fraction |= values.fraction;
        }
    }

    /// A bound over a called function's parameters, over ours.
    fn outside(&self, callee: &Function, args: &[Expr], bound: &Poly) -> Option<Poly> {
        let mut p = bound.clone();
        for (param, arg) in callee.params.iter().zip(args).filter(|(v, _)| bound.mentions(**v)) {
            // Numbers of variables in two functions mean different things: one at a time.
            if bound.atoms().len() > 1 {
                return None;
            }
            p = p.substitute(*param, &self.poly(arg)?)?;
        }
        Some(p).filter(|p| self.is_known(p))
    }

    /// Notes the arrays of which elements stand in a condition.
    fn guard(&mut self, cond: &'a Expr, depth: usize) {
        if depth == 0 {
            return;
        }
        let mut reads: Vec<&'a Place> = vec![];
        walk::each_expr(cond, &mut |e| {
            if let ExprKind::Read(place) = &*e.kind {
                reads.push(place);
            }
        });
        for place in reads {
            match &*place.kind {
                PlaceKind::Var(v) if !self.counters.contains(v) => {
                    let known = self.definitions.get(v).cloned().unwrap_or_default();
                    known.into_iter().for_each(|d| self.guard(d, depth - 1));
                }
                _ => self.guarded.extend(slot_of(place)),
            }
        }
    }

    fn counted(&mut self, l: &'a ForLoop) {
        let (first, limit) = (self.poly(&l.first), self.poly(&l.limit));
        let plus = |p: &Option<Poly>, c: i128| p.as_ref()?.add(&Poly::constant(c));
        let (least, most) = match l.compare {
            BinaryOp::Lt | BinaryOp::Ne => (first.clone(), plus(&limit, -1)),
            BinaryOp::Le => (first.clone(), limit.clone()),
            BinaryOp::Gt => (plus(&limit, 1), first.clone()),
            _ => (limit.clone(), first.clone()),
        };
        if let (Some(a), Some(b)) = (&first, &limit) {
            self.rows(a, b);
        }
        for bound in [&first, &limit].into_iter().flatten() {
            let arrays = self.arrays_in(bound);
            self.counts.extend(arrays);
        }
        let parallel = usize::from(matches!(l.kind, LoopKind::Parallel(_)));
        self.ranges.push(Range { var: l.var, least, most });
        self.parallel += parallel;
        self.block(&l.body);
        self.parallel -= parallel;
        self.ranges.pop();
    }

    /// A loop from one element of an array to the next one: rows.
    fn rows(&mut self, first: &Poly, limit: &Poly) {
        let element = |p: &Poly| {
            let mut reads = p.atoms().into_iter().filter_map(read_of);
            let (array, index) = reads.next()?;
            Some((array, Poly::from_expr(index)?))
        };
        let (Some((a, i)), Some((b, j))) = (element(first), element(limit)) else { return };
        if a == b && j.sub(&i).and_then(|d| d.as_constant()) == Some(1) {
            let values = self.found.entry(a).or_default();
            values.order = values.order.max(Order::Rising);
        }
    }

    /// `v < limit` and its like, of variables.
    fn conditions(&self, cond: &Expr) -> Vec<Range> {
        let ExprKind::Binary(op, a, b) = &*cond.kind else { return vec![] };
        if *op == BinaryOp::LogicalAnd {
            return [self.conditions(a), self.conditions(b)].concat();
        }
        let ExprKind::Read(place) = &*a.kind else { return vec![] };
        let (Some(var), Some(limit)) = (place.root_var(), self.poly(b)) else { return vec![] };
        let most = match op {
            BinaryOp::Lt => limit.add(&Poly::constant(-1)),
            BinaryOp::Le => Some(limit),
            _ => return vec![],
        };
        vec![Range { var, least: None, most }]
    }

    fn uses(&mut self, expr: &'a Expr) {
        walk::each_expr(expr, &mut |e| self.own_use(e));
    }

    fn own_use(&mut self, e: &'a Expr) {
        match &*e.kind {
            // Atomic updates get the address of what they change.
            ExprKind::Read(place) | ExprKind::AddressOf(place) => self.subscripts(place),
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor) if e.ty.is_integer() => {
                if let Some(p) = self.poly(divisor) {
                    self.above(&p, &Poly::constant(1), DEPTH);
                }
            }
            ExprKind::Binary(BinaryOp::Div, _, divisor) if e.ty.is_float() => {
                self.divided_by(divisor);
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() && a.ty.is_integer() => {
                self.compares(a, b, DEPTH);
                self.compares(b, a, DEPTH);
            }
            ExprKind::Binary(BinaryOp::Shl | BinaryOp::Shr, _, amount) => {
                let bits = e.ty.scalar().map_or(31, |s| 8 * i128::from(s.bytes()) - 1);
                self.within(amount, 0, bits);
            }
            _ => {}
        }
    }

    /// Notes that what comes from an array is compared with a number.
    fn compares(&mut self, e: &'a Expr, with: &Expr, depth: usize) {
        let number = with.without_casts().as_const().map(|v| i128::from(v.as_i64()));
        let Some(number) = number.filter(|n| !(1..USUAL).contains(n)) else { return };
        let ExprKind::Read(place) = &*e.without_casts().kind else { return };
        match &*place.kind {
            PlaceKind::Var(v) if depth > 0 && !self.counters.contains(v) => {
                if let [one] = self.definitions.get(v).map_or(&[][..], Vec::as_slice) {
                    self.compares(one, with, depth - 1);
                }
            }
            _ => {
                if let Some(slot) = slot_of(place).filter(|s| self.is_array(s)) {
                    self.compared.entry(slot).or_default().push(number);
                }
            }
        }
    }

    fn within(&mut self, e: &'a Expr, low: i128, high: i128) {
        if let Some(p) = self.poly(e) {
            self.above(&p, &Poly::constant(low), DEPTH);
            self.below(&p, &Poly::constant(high), DEPTH);
        }
    }

    /// Every subscript lies inside its dimension.
    fn subscripts(&mut self, place: &'a Place) {
        for (index, extent) in self.dimensions(place) {
            self.fractions(index, DEPTH);
            let Some(p) = self.poly(index) else { continue };
            self.above(&p, &Poly::zero(), DEPTH);
            if let Some(last) = extent.and_then(|e| e.add(&Poly::constant(-1))) {
                self.below(&p, &last, DEPTH);
            }
        }
    }

    /// The subscripts of an element of a parameter, with their extents where these are known.
    fn dimensions(&self, place: &'a Place) -> Vec<(&'a Expr, Option<Poly>)> {
        let (pointer, index) = match &*place.kind {
            PlaceKind::Elem { pointer, index, .. } => (pointer, index.as_slice()),
            PlaceKind::Deref(e) => match &*e.kind {
                ExprKind::PtrOffset(p, i) => (p, std::slice::from_ref(i)),
                _ => return vec![],
            },
            PlaceKind::Index(inner, i) => {
                let length = inner.ty.extents().first().map(|n| Poly::constant(i128::from(*n)));
                let mut all = self.dimensions(inner);
                all.push((i, length));
                return all;
            }
            PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => return self.dimensions(p),
            _ => return vec![],
        };
        let shape = match &*pointer.kind {
            ExprKind::Read(p) => p.root_var().and_then(|v| self.function.var(v).shape.as_ref()),
            _ => None,
        };
        let extents: Option<Vec<Poly>> =
            shape.and_then(|s| s.iter().map(|e| self.poly(e)).collect());
        let one = |k: usize| {
            let extents = extents.as_ref()?;
            match (index.len(), extents.len()) {
                (a, b) if a == b => extents.get(k).cloned(),
                (1, _) => extents.iter().try_fold(Poly::constant(1), |n, e| n.mul(e)),
                _ => None,
            }
        };
        index.iter().enumerate().map(|(k, e)| (e, one(k))).collect()
    }

    /// Arrays that say which element a marked loop writes.
    fn targets(&mut self, place: &'a Place) {
        for (index, _) in self.dimensions(place) {
            let Some(p) = self.poly(index) else { continue };
            for array in self.arrays_in(&p) {
                self.found.entry(array).or_default().order = Order::Distinct;
            }
        }
    }

    /// Arrays of reals of which an index is made.
    fn fractions(&mut self, index: &'a Expr, depth: usize) {
        if depth == 0 {
            return;
        }
        let mut inside: Vec<&'a Expr> = vec![];
        walk::each_expr(index, &mut |e| inside.push(e));
        for e in inside {
            let ExprKind::Read(place) = &*e.kind else { continue };
            match &*place.kind {
                PlaceKind::Var(v) if !self.counters.contains(v) => {
                    let known = self.definitions.get(v).cloned().unwrap_or_default();
                    known.into_iter().for_each(|d| self.fractions(d, depth - 1));
                }
                _ if e.ty.is_float() => {
                    if let Some(slot) = slot_of(place) {
                        self.found.entry(slot).or_default().fraction = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// Arrays whose elements are added up to a divisor: terms that cancel would leave little but roundings to divide by.
    fn divided_by(&mut self, divisor: &'a Expr) {
        let mut inside: Vec<&'a Expr> = vec![];
        walk::each_expr(divisor, &mut |e| inside.push(e));
        for e in inside {
            let ExprKind::Read(place) = &*e.kind else { continue };
            let PlaceKind::Var(v) = *place.kind else { continue };
            for sum in self.definitions.get(&v).cloned().unwrap_or_default() {
                let ExprKind::Binary(BinaryOp::Add, a, b) = &*sum.kind else { continue };
                let [a, b] = [a, b].map(Expr::without_casts);
                let term = if scalars::reads(a, v) { b } else { a };
                if let ExprKind::Read(place) = &*term.kind
                    && let Some(slot) = slot_of(place).filter(|_| term.ty.is_float())
                {
                    self.found.entry(slot).or_default().fraction = true;
                }
            }
        }
    }

    /// The polynomial of an integer, with variables of one definition replaced by it.
    fn poly(&self, e: &Expr) -> Option<Poly> {
        let mut p = Poly::from_expr(e)?;
        for _ in 0..DEPTH {
            let next = p.atoms().into_iter().find_map(|atom| {
                let Atom::Var(v) = atom else { return None };
                let [only] = self.definitions.get(v)?.as_slice() else { return None };
                let known = !self.counters.contains(v) && !only.ty.is_pointer();
                Some((*v, Poly::from_expr(only).filter(|d| known && !d.mentions(*v))?))
            });
            let Some((v, value)) = next else { break };
            p = p.substitute(v, &value)?;
        }
        Some(p)
    }

    /// The arrays of which elements stand in a polynomial.
    fn arrays_in(&self, p: &Poly) -> Vec<Slot> {
        let reads = p.atoms().into_iter().filter_map(read_of);
        reads.map(|(slot, _)| slot).filter(|slot| self.is_array(slot)).collect()
    }

    /// Whether a read integer is one of a parameter's.
    fn is_array(&self, (v, fields): &Slot) -> bool {
        let element = self.function.var(*v).ty.pointee();
        let integers = || element.and_then(Type::scalar).is_some_and(Scalar::is_integer);
        self.function.params.contains(v) && (!fields.is_empty() || integers())
    }

    /// Both ends for all, and a few iterations where only the number of them is asked for.
    fn defaults(&mut self) {
        for array in std::mem::take(&mut self.counts) {
            let values = self.found.entry(array).or_default();
            if values.at_most.is_empty() {
                values.at_most.push(Poly::constant(SHORT));
            }
            if values.at_least.is_empty() {
                values.at_least.push(Poly::zero());
            }
        }
        self.found.retain(|_, v| v.fraction || !v.at_least.is_empty() || !v.at_most.is_empty());
        // On both sides of what they are compared with, where nothing else is asked of them.
        for (array, numbers) in std::mem::take(&mut self.compared) {
            let ends = numbers.iter().min().zip(numbers.iter().max());
            if let (Some((low, high)), false) = (ends, self.found.contains_key(&array)) {
                let element = self.function.var(array.0).ty.pointee().and_then(Type::scalar);
                let signed = element.is_none_or(Scalar::is_signed);
                let low = if signed { low - USUAL / 2 } else { (low - USUAL / 2).max(0) };
                let values = self.found.entry(array).or_default();
                values.at_least.push(Poly::constant(low));
                values.at_most.push(Poly::constant(high + USUAL / 2));
            }
        }
    }
}

/// The array and the subscript of an element of a parameter with one subscript, or the last of several.
fn read_of(atom: &Atom) -> Option<(Slot, &Expr)> {
    let Atom::Symbol(s) = atom else { return None };
    let mut e = s.expr();
    while let ExprKind::Cast(inner) = &*e.kind {
        e = inner;
    }
    let ExprKind::Read(place) = &*e.kind else { return None };
    let PlaceKind::Elem { index, .. } = &*element_of(place).kind else { return None };
    Some((slot_of(place)?, index.last()?))
}

/// The element of an array that a place is, or is a part of.
fn element_of(place: &Place) -> &Place {
    match &*place.kind {
        PlaceKind::Field(inner, _) | PlaceKind::Index(inner, _) => element_of(inner),
        _ => place,
    }
}

/// The variable behind whose pointer a place lies, and the fields that lead to it there.
fn slot_of(place: &Place) -> Option<Slot> {
    match &*place.kind {
        PlaceKind::Field(inner, field) => {
            let (array, mut fields) = slot_of(inner)?;
            fields.push(*field);
            Some((array, fields))
        }
        PlaceKind::Index(inner, _) => slot_of(inner),
        PlaceKind::Elem { pointer, .. } => match &*pointer.kind {
            ExprKind::Read(p) => Some((p.root_var()?, vec![])),
            _ => None,
        },
        _ => None,
    }
}

/// The array that a pointer leads into.
fn array_handed(pointer: &Expr) -> Option<VarId> {
    match &*pointer.kind {
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        ExprKind::AddressOf(place) => slot_of(place).filter(|(_, f)| f.is_empty()).map(|(v, _)| v),
        ExprKind::PtrOffset(inner, _) | ExprKind::Cast(inner) => array_handed(inner),
        _ => None,
    }
}
