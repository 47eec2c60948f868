//! Integer expressions as polynomials over unknowns, with what ties the unknowns together.
//!
//! Every operation has its exact meaning: a quotient `p / c` is an unknown `q` with `p = c q + r` and bounds of `r`, by
//! cases where the sign of `p` is not known; a mask keeps runs of bits, each a quotient and a remainder; what an
//! unsigned operation wraps around is an unknown multiple of 2³². Two things are taken on trust: that signed arithmetic
//! does not overflow (C makes it undefined), and that the subscripts themselves and products of sizes stay inside their
//! types (launchers guard 32-bit indices).

mod bits;
mod condition;
mod division;

use std::collections::BTreeMap;

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Expr, ExprKind, MathFn, Place, PlaceKind, Scalar, UnaryOp, VarId};

use super::formula::{Branch, Clause, Fact};
use crate::analysis::access::{Base, Scope, base_of};
use bits::Xor;

/// What an unknown stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A value that all iterations share: a parameter, the counter of a loop around, the power of two of one.
    Size,
    /// A number of one iteration.
    Counter,
    /// What an array holds.
    Data,
    /// A value that the analysis does not look into.
    Opaque,
}

#[derive(Clone, Debug)]
pub struct Unknown {
    pub role: Role,
    /// The variable of the function whose value it is.
    pub var: Option<VarId>,
    low: Option<i128>,
    high: Option<i128>,
    /// The unknown is less than the first where the others, divisors on the way to it, are positive.
    below: Option<(Poly, Vec<Poly>)>,
    /// Unknowns that it is computed from.
    pub from: Vec<VarId>,
}

/// The values of the counters in one of the two iterations.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub counters: BTreeMap<VarId, Poly>,
}

/// An element of an array that a subscript or condition reads.
struct Element {
    base: Base,
    index: Vec<Poly>,
    /// The loop does not write the array.
    stable: bool,
    value: Poly,
}

/// The unknowns and what is known about them.
pub struct Terms<'s, 'a> {
    pub scope: &'s Scope<'a>,
    pub unknowns: Vec<Unknown>,
    pub facts: Vec<Fact>,
    pub clauses: Vec<Clause>,
    shared: BTreeMap<VarId, Poly>,
    quotients: BTreeMap<(Poly, Poly, bool), (Poly, Poly)>,
    powers: BTreeMap<Poly, Poly>,
    elements: Vec<Element>,
    xors: Vec<Xor>,
    /// Definitions being followed, against those that refer to themselves.
    depth: u32,
    /// A condition on counters or sizes was not understood.
    pub skipped: bool,
    /// What was computed before the loop is followed to what it was computed from, instead of being a size like others.
    pub follows: bool,
    /// Something was computed before the loop and not followed.
    pub stopped: bool,
    /// Variables that something is divided by and whose sign is not known.
    pub open_divisors: Vec<VarId>,
}

/// The sum. Coefficients begin below 2⁹⁶, see [`product`], so that no sum of a program's length overflows.
pub fn plus(a: &Poly, b: &Poly) -> Poly {
    a.add(b).expect("coefficients are small")
}

/// The difference, as [`plus`].
pub fn minus(a: &Poly, b: &Poly) -> Poly {
    a.sub(b).expect("coefficients are small")
}

/// The product; `None` where coefficients get too large for sums of such.
pub fn product(a: &Poly, b: &Poly) -> Option<Poly> {
    a.mul(b).filter(|p| p.terms().all(|(_, c)| c.unsigned_abs() < 1 << 96))
}

pub fn number(c: i128) -> Poly {
    Poly::constant(c)
}

impl<'s, 'a> Terms<'s, 'a> {
    pub fn new(scope: &'s Scope<'a>, follows: bool) -> Terms<'s, 'a> {
        Terms {
            scope,
            unknowns: vec![],
            facts: vec![],
            clauses: vec![],
            shared: BTreeMap::new(),
            quotients: BTreeMap::new(),
            powers: BTreeMap::new(),
            elements: vec![],
            xors: vec![],
            depth: 0,
            skipped: false,
            follows,
            stopped: false,
            open_divisors: vec![],
        }
    }

    /// A new unknown with constant bounds, both inclusive, which become facts.
    pub fn fresh(&mut self, role: Role, low: Option<i128>, high: Option<i128>) -> Poly {
        self.derived(role, low, high, &[])
    }

    /// As [`Terms::fresh`], for what is computed from other values.
    pub fn derived(
        &mut self,
        role: Role,
        low: Option<i128>,
        high: Option<i128>,
        from: &[&Poly],
    ) -> Poly {
        let id = VarId(self.unknowns.len() as u32);
        let from = from.iter().flat_map(|p| variables(p)).collect();
        self.unknowns.push(Unknown { role, var: None, low, high, below: None, from });
        let value = Poly::var(id);
        self.facts.extend(low.map(|l| Fact::at_least(&value, &number(l))));
        self.facts.extend(high.map(|h| Fact::at_least(&number(h), &value)));
        value
    }

    /// The value of a variable that no iteration changes.
    pub fn size(&mut self, var: VarId) -> Poly {
        if let Some(known) = self.shared.get(&var) {
            return known.clone();
        }
        let (low, high) = match self.scope.function.var(var).ty.scalar() {
            Some(s) if s.is_integer() && (!s.is_signed() || s.bytes() < 4) => range_of(s),
            _ => (None, None),
        };
        let high = high.filter(|h| *h < 1 << 32);
        let value = self.fresh(Role::Size, low, high);
        self.name(&value, var);
        self.shared.insert(var, value.clone());
        value
    }

    /// States whose value an unknown is.
    pub fn name(&mut self, unknown: &Poly, var: VarId) {
        if let Some(Atom::Var(id)) = unknown.as_atom() {
            self.unknowns[id.0 as usize].var = Some(var);
        }
    }

    /// States that an unknown is less than a product, for quotients of it.
    pub fn below(&mut self, unknown: &Poly, limit: Poly) {
        if let Some(Atom::Var(id)) = unknown.as_atom() {
            self.unknowns[id.0 as usize].below = Some((limit, vec![]));
        }
    }

    /// That signed variables of the function have values of their types. It is left out at first: it makes questions
    /// harder, and is only needed to tell that an example is none.
    pub fn stay_in_their_types(&mut self) {
        for (k, unknown) in self.unknowns.iter().enumerate() {
            let ty = unknown.var.and_then(|v| self.scope.function.var(v).ty.scalar());
            let Some(ty) = ty.filter(|ty| ty.is_integer()) else { continue };
            let (value, (low, high)) = (Poly::var(VarId(k as u32)), range_of(ty));
            self.facts.extend(low.map(|l| Fact::at_least(&value, &number(l))));
            self.facts.extend(high.map(|h| Fact::at_least(&number(h), &value)));
        }
    }

    /// Whether a point gives all variables of the function values of their types.
    pub fn in_their_types(&self, point: &[i128]) -> bool {
        self.unknowns.iter().zip(point).all(|(unknown, x)| {
            let ty = unknown.var.and_then(|v| self.scope.function.var(v).ty.scalar());
            let (low, high) = ty.filter(|ty| ty.is_integer()).map_or((None, None), range_of);
            low.is_none_or(|l| *x >= l) && high.is_none_or(|h| *x <= h)
        })
    }

    fn unknown(&self, id: VarId) -> &Unknown {
        &self.unknowns[id.0 as usize]
    }

    /// Whether all iterations share a value.
    fn is_shared(&self, p: &Poly) -> bool {
        variables(p).into_iter().all(|v| self.unknown(v).role == Role::Size)
    }

    fn reads_data(&self, expr: &Expr) -> bool {
        let mut data = false;
        self.each_value(expr, &mut |e| {
            data |= matches!(&*e.kind, ExprKind::Read(p) if !matches!(&*p.kind, PlaceKind::Var(_)));
        });
        data
    }

    /// Whether a value is an element that the loop writes: of which nothing is known anywhere.
    fn reads_written(&self, expr: &Expr) -> bool {
        let ExprKind::Read(place) = &*expr.kind else { return false };
        let element = !matches!(&*place.kind, PlaceKind::Var(_));
        element && self.scope.is_written(base_of(place))
    }

    fn opaque(&mut self, expr: &Expr, instance: &Instance) -> Poly {
        let data = self.reads_data(expr);
        let mut shared = !data;
        crate::walk::each_var(expr, &mut |v| {
            shared &= !instance.counters.contains_key(&v) && !self.scope.is_changed(v);
        });
        let role = match (data, shared) {
            (true, _) => Role::Data,
            (false, true) => Role::Size,
            (false, false) => Role::Opaque,
        };
        let (low, high) = match expr.ty.scalar() {
            Some(Scalar::Bool) => (Some(0), Some(1)),
            Some(s) if s.is_integer() && !s.is_signed() => (Some(0), None),
            _ => (None, None),
        };
        self.fresh(role, low, high)
    }

    /// Visits an expression, and those that define the variables it reads.
    fn each_value(&self, expr: &Expr, f: &mut dyn FnMut(&Expr)) {
        fn go(scope: &Scope<'_>, expr: &Expr, depth: u32, f: &mut dyn FnMut(&Expr)) {
            crate::walk::each_expr(expr, &mut |e| {
                f(e);
                if let ExprKind::Read(p) = &*e.kind
                    && let PlaceKind::Var(v) = &*p.kind
                    && depth > 0
                {
                    for value in scope.values_of(*v) {
                        go(scope, value, depth - 1, f);
                    }
                }
            });
        }
        go(self.scope, expr, 4, f);
    }

    /// The value of an integer expression in an iteration.
    pub fn value(&mut self, expr: &Expr, at: &Instance) -> Poly {
        let Some(scalar) = expr.ty.scalar().filter(|s| s.is_integer()) else {
            return self.opaque(expr, at);
        };
        match &*expr.kind {
            ExprKind::Const(v) if scalar == Scalar::U64 => number(v.bits.into()),
            ExprKind::Const(v) => number(v.as_i64().into()),
            ExprKind::Named(id) => match self.scope.module.constants.get(id.0 as usize) {
                Some(c) if c.value.ty.is_integer() => number(c.value.as_i64().into()),
                _ => self.opaque(expr, at),
            },
            ExprKind::Read(place) => self.read(expr, place, at),
            ExprKind::Unary(UnaryOp::Neg, a) => {
                let a = self.value(a, at);
                minus(&Poly::zero(), &a)
            }
            ExprKind::Unary(UnaryOp::BitNot, a) if scalar.is_signed() => {
                let a = self.value(a, at);
                minus(&number(-1), &a)
            }
            ExprKind::Cast(a) => self.cast(expr, a, scalar, at),
            ExprKind::Select(c, a, b) => {
                let (x, y) = (self.value(a, at), self.value(b, at));
                self.choice(c, x, y, at)
            }
            ExprKind::Call(f, args) => self.call(expr, *f, args, at),
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, (a, b), scalar, at),
            _ => self.opaque(expr, at),
        }
    }

    fn read(&mut self, expr: &Expr, place: &Place, at: &Instance) -> Poly {
        let PlaceKind::Var(v) = &*place.kind else { return self.element(expr, place, at) };
        if let Some(counter) = at.counters.get(v) {
            return counter.clone();
        }
        let before = self.scope.set_before(*v);
        self.stopped |= before.is_some() && !self.follows;
        let followed = before.filter(|_| self.follows);
        if let Some(definition) = self.scope.definition(*v).or(followed) {
            if self.depth > 12 {
                return self.opaque(expr, at);
            }
            self.depth += 1;
            let value = self.value(definition, at);
            self.depth -= 1;
            return value;
        }
        if self.scope.is_changed(*v) { self.opaque(expr, at) } else { self.size(*v) }
    }

    /// What an array holds: the same value for the same subscripts, unless the loop writes the array.
    fn element(&mut self, expr: &Expr, place: &Place, at: &Instance) -> Poly {
        let base = base_of(place);
        let Some(path) = self.place(place, at) else { return self.opaque(expr, at) };
        let index: Vec<Poly> = path.index.into_iter().chain(path.fields).collect();
        let stable = !self.scope.is_written(base);
        let same = |e: &&Element| e.base == base && e.stable && e.index == index;
        if let Some(known) = self.elements.iter().find(same).filter(|_| stable) {
            return known.value.clone();
        }
        let low = expr.ty.scalar().filter(|s| !s.is_signed()).map(|_| 0);
        let shared = stable && index.iter().all(|i| self.is_shared(i));
        let value = self.fresh(if shared { Role::Size } else { Role::Data }, low, None);
        let mut clauses = vec![];
        for other in &self.elements {
            let comparable = other.base == base && other.index.len() == index.len();
            if !(stable && comparable) {
                continue;
            }
            // Another element, or the same value.
            let mut alternatives = vec![Branch::fact(Fact::equal(&other.value, &value))];
            for (x, y) in other.index.iter().zip(&index) {
                alternatives.push(Branch::fact(Fact::less(x, y)));
                alternatives.push(Branch::fact(Fact::less(y, x)));
            }
            clauses.push(alternatives);
        }
        self.clauses.extend(clauses);
        self.elements.push(Element { base, index, stable, value: value.clone() });
        value
    }

    fn cast(&mut self, expr: &Expr, inner: &Expr, to: Scalar, at: &Instance) -> Poly {
        let Some(from) = inner.ty.scalar().filter(|s| s.is_integer()) else {
            return self.opaque(expr, at);
        };
        if from == Scalar::Bool {
            let (one, zero) = (number(1), number(0));
            return self.choice(inner, one, zero, at);
        }
        if to == Scalar::Bool {
            return self.opaque(expr, at);
        }
        let value = self.value(inner, at);
        let (from_low, from_high) = range_of(from);
        let (to_low, to_high) = range_of(to);
        if from_low >= to_low && from_high <= to_high {
            return value;
        }
        // From int to size_t and the like only negative values change, and what looks at the sign comes back here.
        if to.bytes() < from.bytes() || to.bytes() < 4 { self.wrapped(value, to) } else { value }
    }

    /// The value as the type holds it: less a multiple of 2 to the power of its bits.
    fn wrapped(&mut self, value: Poly, ty: Scalar) -> Poly {
        let (low, high) = range_of(ty);
        let (Some(low), Some(high)) = (low, high) else { return value };
        if self.proved(&Fact::at_least(&value, &number(low)))
            && self.proved(&Fact::at_least(&number(high), &value))
        {
            return value;
        }
        let held = self.derived(Role::Counter, Some(low), Some(high), &[&value]);
        let turns = self.fresh(Role::Counter, None, None);
        let span = product(&turns, &number(high - low + 1));
        self.facts.extend(span.map(|s| Fact::equal(&value, &plus(&held, &s))));
        held
    }

    /// What an operation that is no ring operation sees of an unsigned value, which may have wrapped around.
    fn seen(&mut self, value: Poly, ty: Scalar) -> Poly {
        let products = value.terms().any(|(atoms, _)| atoms.len() > 1);
        if ty.is_signed() || products || value.as_constant().is_some() || value.as_atom().is_some()
        {
            return value;
        }
        self.wrapped(value, ty)
    }

    /// Whether a fact follows from the others, cheaply.
    fn proved(&self, fact: &Fact) -> bool {
        let (low, _) = self.interval(&fact.poly);
        if low.is_some_and(|l| l >= 0) {
            return true;
        }
        let mut facts = self.facts.clone();
        facts.extend(fact.negated());
        super::decide::linear(self.unknowns.len(), &facts)
            == crate::analysis::integer::Outcome::Empty
    }

    /// Constant bounds of a value.
    fn interval(&self, p: &Poly) -> (Option<i128>, Option<i128>) {
        let (mut low, mut high) = (Some(0i128), Some(0i128));
        for (atoms, c) in p.terms() {
            let (l, h) = match atoms {
                [] => (Some(1), Some(1)),
                [Atom::Var(v)] => (self.unknown(*v).low, self.unknown(*v).high),
                // A product of values that are not negative is not.
                _ => {
                    let positive = atoms.iter().all(|a| {
                        matches!(a, Atom::Var(v) if self.unknown(*v).low.is_some_and(|l| l >= 0))
                    });
                    (positive.then_some(0), None)
                }
            };
            let (l, h) = if c < 0 { (h, l) } else { (l, h) };
            let add = |sum: Option<i128>, x: Option<i128>| {
                sum.zip(x).and_then(|(s, x)| s.checked_add(x.checked_mul(c)?))
            };
            (low, high) = (add(low, l), add(high, h));
        }
        (low, high)
    }

    fn call(&mut self, expr: &Expr, f: MathFn, args: &[Expr], at: &Instance) -> Poly {
        match (f, args) {
            (MathFn::Min | MathFn::Max, [a, b]) => {
                let (a, b) = (self.value(a, at), self.value(b, at));
                let least = f == MathFn::Min;
                self.extreme(a, b, least)
            }
            (MathFn::Abs, [a]) => {
                let a = self.value(a, at);
                let negative = minus(&Poly::zero(), &a);
                self.extreme(a, negative, false)
            }
            _ => self.opaque(expr, at),
        }
    }

    fn extreme(&mut self, a: Poly, b: Poly, least: bool) -> Poly {
        let value = self.derived(Role::Counter, None, None, &[&a, &b]);
        let side = |taken: &Poly, other: &Poly| {
            let order = match least {
                true => Fact::at_least(other, taken),
                false => Fact::at_least(taken, other),
            };
            Branch::facts(vec![Fact::equal(&value, taken), order])
        };
        self.clauses.push(vec![side(&a, &b), side(&b, &a)]);
        value
    }

    fn choice(&mut self, cond: &Expr, yes: Poly, no: Poly, at: &Instance) -> Poly {
        if yes == no {
            return yes;
        }
        let value = self.derived(Role::Counter, None, None, &[&yes, &no]);
        let mut branch = |negated: bool, taken: &Poly| {
            let mut branch = self.condition(cond, negated, at);
            branch.facts.push(Fact::equal(&value, taken));
            branch
        };
        let clause = vec![branch(false, &yes), branch(true, &no)];
        self.clauses.push(clause);
        value
    }

    fn binary(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        (a, b): (&Expr, &Expr),
        ty: Scalar,
        at: &Instance,
    ) -> Poly {
        use BinaryOp::*;
        match op {
            Add | Sub | Mul => {
                let (x, y) = (self.value(a, at), self.value(b, at));
                match op {
                    Add => plus(&x, &y),
                    Sub => minus(&x, &y),
                    _ => product(&x, &y).unwrap_or_else(|| self.opaque(expr, at)),
                }
            }
            Shl => {
                let (x, k) = (self.value(a, at), self.value(b, at));
                match self.power(&k).and_then(|p| product(&x, &p)) {
                    Some(product) => product,
                    None => self.opaque(expr, at),
                }
            }
            Shr => {
                let (x, k) = (self.value(a, at), self.value(b, at));
                let x = self.seen(x, ty);
                match self.power(&k) {
                    Some(p) => self.divided(&x, &p, true).0,
                    None => self.opaque(expr, at),
                }
            }
            Div | Rem => {
                let (x, y) = (self.value(a, at), self.value(b, at));
                let (x, y) = (self.seen(x, ty), self.seen(y, ty));
                if y.is_zero() {
                    return self.opaque(expr, at);
                }
                let (q, r) = self.divided(&x, &y, false);
                if op == Div { q } else { r }
            }
            BitAnd | BitOr | BitXor => self.bits(expr, op, (a, b), ty, at),
            _ => self.opaque(expr, at),
        }
    }

    /// `2^k` for a `k` that is a constant, or a value plus a constant that is not negative.
    fn power(&mut self, k: &Poly) -> Option<Poly> {
        let constant = k.constant_term();
        if k.as_constant().is_some() {
            return (0..=62).contains(&constant).then(|| number(1 << constant));
        }
        let shift = constant.clamp(0, 62);
        let rest = minus(k, &number(shift));
        let known = self.powers.get(&rest).cloned();
        let power = known.unwrap_or_else(|| {
            let role = if self.is_shared(&rest) { Role::Size } else { Role::Opaque };
            let power = self.fresh(role, Some(1), None);
            self.powers.insert(rest, power.clone());
            power
        });
        product(&power, &number(1 << shift))
    }

    fn is_power(&self, p: &Poly) -> bool {
        self.powers.values().any(|known| p == known)
            || p.as_constant().is_some_and(|c| c > 0 && c & (c - 1) == 0)
            || self.powers.values().any(|known| {
                p.split(known.as_atom().unwrap_or(&Atom::Var(VarId(u32::MAX)))).is_some_and(
                    |(c, rest)| {
                        rest.is_zero() && c.as_constant().is_some_and(|c| c > 0 && c & (c - 1) == 0)
                    },
                )
            })
    }
}

/// The unknown or variable that a factor is.
pub fn variable(atom: &Atom) -> Option<VarId> {
    match atom {
        Atom::Var(v) => Some(*v),
        _ => None,
    }
}

/// The unknowns of a value.
pub fn variables(p: &Poly) -> Vec<VarId> {
    p.atoms().into_iter().filter_map(variable).collect()
}

/// Least and greatest value of a type.
fn range_of(ty: Scalar) -> (Option<i128>, Option<i128>) {
    let bits = 8 * ty.bytes();
    match ty {
        Scalar::Bool => (Some(0), Some(1)),
        _ if ty.is_signed() => (Some(-(1 << (bits - 1))), Some((1 << (bits - 1)) - 1)),
        _ => (Some(0), Some((1 << bits) - 1)),
    }
}
