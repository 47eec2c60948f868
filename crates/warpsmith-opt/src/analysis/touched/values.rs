//! What integers and pointers of a function are, over its parameters, threads and iterations.
//!
//! Integers of 32 bits without a sign are kept as they come out of sums and products; where their value counts – in
//! comparisons, quotients, wider types, addresses – what is below zero lies 2³² further up. That nothing exceeds its type
//! otherwise is taken for granted, as everywhere.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::layout::{field_of, layout_of};
use warpsmith_ir::poly::{Atom, Poly, Symbol};
use warpsmith_ir::{
    BinaryOp, Builtin, Expr, ExprKind, Function, MathFn, Module, Place, PlaceKind, Scalar, Space,
    Type, UnaryOp, Value, VarId,
};

use super::cases::{
    Case, Piece, Pieces, at_least_zero, both, known, map, map_both, nonnegative, under, unknown,
};
use crate::analysis::access::Base;
use crate::walk;

/// An address: so many bytes from the start of an object; `None`: anywhere in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer {
    pub base: Base,
    pub bytes: Option<Poly>,
    /// The object is a variable of a called function, of which nobody knows outside.
    pub inner: bool,
}

impl Pointer {
    fn start(base: Base) -> Pointer {
        Pointer { base, bytes: Some(Poly::zero()), inner: false }
    }

    pub fn plus(&self, bytes: Option<&Poly>) -> Pointer {
        let sum = self.bytes.as_ref().zip(bytes).and_then(|(a, b)| a.add(b));
        Pointer { bytes: sum, ..*self }
    }
}

/// The variables of one function at one place of it.
#[derive(Clone)]
pub struct Values<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub integers: BTreeMap<VarId, Pieces>,
    pub pointers: BTreeMap<VarId, Pieces<Pointer>>,
    /// The function was called by the one that is looked at.
    pub called: bool,
    /// Variables whose address is taken; nothing is known of them.
    escaped: BTreeSet<VarId>,
    /// Parameters that nothing changes, of the function that is looked at.
    fixed: BTreeSet<VarId>,
    /// Parameters without a sign.
    unsigned: Vec<Poly>,
    /// What holds at this place: sums that are not negative.
    pub facts: Vec<Poly>,
}

impl<'a> Values<'a> {
    /// Before the first statement. The parameters of the function that is looked at stand for themselves, those of one
    /// that is called get their arguments.
    pub fn new(module: &'a Module, function: &'a Function, called: bool) -> Values<'a> {
        let set = walk::times_set_each(&function.body);
        let mut values = Values {
            module,
            function,
            integers: BTreeMap::new(),
            pointers: BTreeMap::new(),
            called,
            escaped: addressed(function),
            fixed: BTreeSet::new(),
            unsigned: vec![],
            facts: vec![],
        };
        if !called {
            for &v in &function.params {
                let ty = &function.var(v).ty;
                if let Some(scalar) = ty.scalar().filter(|s| s.is_integer()) {
                    values.integers.insert(v, known(Poly::var(v)));
                    if !scalar.is_signed() {
                        values.unsigned.push(Poly::var(v));
                    }
                } else if ty.is_pointer() {
                    values.pointers.insert(v, known(Pointer::start(Base::Var(v))));
                }
                if !set.contains_key(&v) {
                    values.fixed.insert(v);
                }
            }
        }
        values
    }

    /// The variable has the value of an expression from now on.
    pub fn set(&mut self, var: VarId, value: Option<&Expr>) {
        let ty = &self.function.var(var).ty;
        let value = value.filter(|_| !self.escaped.contains(&var));
        let pointer = value.filter(|_| ty.is_pointer()).map(|e| self.pointer(e));
        let integer = value.filter(|_| ty.is_integer()).map(|e| self.integer(e));
        self.forget(var);
        self.pointers.extend(pointer.map(|p| (var, p)));
        self.integers.extend(integer.map(|p| (var, p)));
    }

    pub fn forget(&mut self, var: VarId) {
        self.integers.remove(&var);
        self.pointers.remove(&var);
    }

    /// The value of an integer or condition.
    pub fn integer(&self, e: &Expr) -> Pieces {
        if !e.ty.is_integer() {
            return unknown();
        }
        match &*e.kind {
            ExprKind::Const(v) => known(Poly::constant(number(v))),
            ExprKind::Named(c) => {
                let constant = self.module.constants.get(c.0 as usize);
                constant.map_or_else(unknown, |c| known(Poly::constant(number(&c.value))))
            }
            ExprKind::Read(place) => self.read(place, e),
            ExprKind::Unary(UnaryOp::Neg, a) => map(&self.integer(a), |p| p.scale(-1)),
            ExprKind::Unary(UnaryOp::BitNot, a) => {
                map(&self.integer(a), |p| p.scale(-1)?.add(&Poly::constant(-1)))
            }
            ExprKind::Unary(UnaryOp::Not, _) => self.truth(e),
            ExprKind::Binary(op, ..) if op.is_comparison() || op.is_logical() => self.truth(e),
            ExprKind::Binary(op, a, b) => self.arithmetic(*op, a, b),
            ExprKind::Cast(_) if e.ty == Type::Scalar(Scalar::Bool) => self.truth(e),
            ExprKind::Cast(a) if a.ty.is_integer() => self.converted(a, &e.ty),
            ExprKind::Select(cond, a, b) => {
                let mut pieces = under(&self.cases(cond, false), &self.integer(a));
                pieces.extend(under(&self.cases(cond, true), &self.integer(b)));
                pieces
            }
            ExprKind::Call(MathFn::Min, args) => self.lesser(&args[0], &args[1], false),
            ExprKind::Call(MathFn::Max, args) => self.lesser(&args[0], &args[1], true),
            ExprKind::Builtin(Builtin::WarpSize) => known(Poly::constant(32)),
            ExprKind::Builtin(
                b @ (Builtin::ThreadIdx(_)
                | Builtin::BlockIdx(_)
                | Builtin::BlockDim(_)
                | Builtin::GridDim(_)),
            ) => known(Poly::atom(Atom::builtin(*b))),
            _ => unknown(),
        }
    }

    fn read(&self, place: &Place, e: &Expr) -> Pieces {
        let symbol = || known(Poly::atom(Atom::Symbol(Symbol::new(e.clone()))));
        match &*place.kind {
            PlaceKind::Var(v) => self.integers.get(v).cloned().unwrap_or_else(unknown),
            PlaceKind::Global(g) => match self.module.globals.get(g.0 as usize) {
                Some(global) if global.space == Space::Constant => symbol(),
                _ => unknown(),
            },
            PlaceKind::Field(whole, _) | PlaceKind::Component(whole, _) => match &*whole.kind {
                PlaceKind::Var(v) if self.fixed.contains(v) => symbol(),
                _ => unknown(),
            },
            _ => unknown(),
        }
    }

    /// 1 where a condition holds, 0 where not.
    fn truth(&self, e: &Expr) -> Pieces {
        let mut pieces = under(&self.cases(e, false), &known(Poly::constant(1)));
        pieces.extend(under(&self.cases(e, true), &known(Poly::zero())));
        pieces
    }

    fn arithmetic(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Pieces {
        let constant = || match self.integer(b).as_slice() {
            [Piece { case, value: Some(p) }] if *case == Case::default() => p.as_constant(),
            _ => None,
        };
        let power = || constant().filter(|k| (0..31).contains(k)).map(|k| 1i64 << k);
        let divisor = || constant().and_then(|d| i64::try_from(d).ok());
        // Of numbers below zero these are no quotients and remainders.
        let positive = |f: &dyn Fn(&Poly) -> Option<Poly>| {
            let value = self.value_of(a);
            let one = |p: &Piece<Poly>| Piece {
                case: p.case.clone(),
                value: p.value.as_ref().filter(|v| self.nonnegative(v, &p.case)).and_then(f),
            };
            value.iter().map(one).collect()
        };
        match op {
            BinaryOp::Add => map_both(&self.integer(a), &self.integer(b), Poly::add),
            BinaryOp::Sub => map_both(&self.integer(a), &self.integer(b), Poly::sub),
            BinaryOp::Mul => map_both(&self.integer(a), &self.integer(b), Poly::mul),
            BinaryOp::Div => map(&self.value_of(a), |p| p.div(divisor()?)),
            BinaryOp::Rem => map(&self.value_of(a), |p| p.rem(divisor()?)),
            BinaryOp::Shl => map(&self.integer(a), |p| p.scale(power()?.into())),
            BinaryOp::Shr => positive(&|p| p.div(power()?)),
            BinaryOp::BitAnd => positive(&|p| {
                let size = constant()?.checked_add(1)?;
                p.rem(i64::try_from(size).ok().filter(|s| s.count_ones() == 1)?)
            }),
            _ => unknown(),
        }
    }

    fn lesser(&self, a: &Expr, b: &Expr, greater: bool) -> Pieces {
        let (a, b) = (self.value_of(a), self.value_of(b));
        let pick = |x: &Pieces, y: &Pieces, apart: i128| {
            let mut found = vec![];
            for Piece { case, value } in map_both(x, y, |x, y| Some((x.clone(), y.clone()))) {
                let distance = value.as_ref().and_then(|(x, y)| {
                    let distance = if greater { x.sub(y) } else { y.sub(x) };
                    distance?.add(&Poly::constant(-apart))
                });
                let cases = both(&[case], &at_least_zero(distance));
                found.extend(
                    cases
                        .into_iter()
                        .map(|case| Piece { case, value: value.as_ref().map(|(x, _)| x.clone()) }),
                );
            }
            found
        };
        [pick(&a, &b, 0), pick(&b, &a, 1)].concat()
    }

    fn converted(&self, a: &Expr, to: &Type) -> Pieces {
        let (Some(from), Some(to)) = (a.ty.scalar(), to.scalar()) else { return unknown() };
        match from.bytes().cmp(&to.bytes()) {
            std::cmp::Ordering::Less => self.value_of(a),
            std::cmp::Ordering::Equal => self.integer(a),
            std::cmp::Ordering::Greater => unknown(),
        }
    }

    /// After a branch: the values of this way in the cases `no`, those of the other in `yes`.
    pub fn merge(&mut self, yes: &[Case], other: &Values<'_>, no: &[Case]) {
        joined(&mut self.integers, &other.integers, yes, no);
        joined(&mut self.pointers, &other.pointers, yes, no);
    }

    fn nonnegative(&self, sum: &Poly, case: &Case) -> bool {
        nonnegative(sum, &[self.unsigned.as_slice(), &self.facts, &case.when].concat())
    }

    /// As [`Values::integer`], in the range of the type.
    pub fn value_of(&self, e: &Expr) -> Pieces {
        let pieces = self.integer(e);
        let turn = match e.ty.scalar() {
            Some(Scalar::U32) => 1i128 << 32,
            Some(Scalar::U64) => 1i128 << 64,
            _ => return pieces,
        };
        let mut found = vec![];
        for piece in pieces {
            let value = piece.value.as_ref().filter(|v| !self.nonnegative(v, &piece.case));
            let Some(value) = value else {
                found.push(piece);
                continue;
            };
            let below = value.scale(-1).and_then(|v| v.add(&Poly::constant(-1)));
            let turned = value.add(&Poly::constant(turn));
            for (sum, value) in [(Some(value.clone()), Some(value.clone())), (below, turned)] {
                let cases = both(std::slice::from_ref(&piece.case), &at_least_zero(sum));
                found.extend(cases.into_iter().map(|case| Piece { case, value: value.clone() }));
            }
        }
        found
    }

    /// The cases in which a condition holds, or does not.
    pub fn cases(&self, e: &Expr, negated: bool) -> Vec<Case> {
        match &*e.kind {
            ExprKind::Unary(UnaryOp::Not, a) => self.cases(a, !negated),
            ExprKind::Binary(op, a, b) if op.is_logical() => {
                // The second is looked at where the first does not decide.
                let decides = *op == BinaryOp::LogicalOr;
                let goes_on = self.cases(a, decides);
                let second = both(&goes_on, &self.assuming(&goes_on).cases(b, negated));
                if negated == decides {
                    return second;
                }
                [self.cases(a, negated), second].concat()
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => self.compared(*op, a, b, negated),
            ExprKind::Cast(a) if a.ty.is_integer() => nonzero(&self.integer(a), negated),
            _ => nonzero(&self.integer(e), negated),
        }
    }

    /// The same place where one of the cases holds.
    pub fn assuming(&self, cases: &[Case]) -> Values<'a> {
        let mut inside = self.clone();
        if let [only] = cases {
            inside.facts.extend(only.when.iter().cloned());
        }
        inside
    }

    fn compared(&self, op: BinaryOp, a: &Expr, b: &Expr, negated: bool) -> Vec<Case> {
        if !a.ty.is_integer() {
            return vec![Case::open()];
        }
        compare(op, &self.value_of(a), &self.value_of(b), negated)
    }

    /// Where a pointer points to.
    pub fn pointer(&self, e: &Expr) -> Pieces<Pointer> {
        match &*e.kind {
            ExprKind::Read(p) => match &*p.kind {
                PlaceKind::Var(v) => self.pointers.get(v).cloned().unwrap_or_else(unknown),
                _ => unknown(),
            },
            ExprKind::AddressOf(p) => self.address(p),
            ExprKind::PtrOffset(p, i) => {
                let size = e.ty.pointee().map_or(0, |t| self.size(t));
                self.moved(&self.pointer(p), i, size)
            }
            ExprKind::Cast(p) if p.ty.is_pointer() => self.pointer(p),
            ExprKind::Select(cond, a, b) => {
                let mut pieces = under(&self.cases(cond, false), &self.pointer(a));
                pieces.extend(under(&self.cases(cond, true), &self.pointer(b)));
                pieces
            }
            _ => unknown(),
        }
    }

    /// Where a place begins.
    pub fn address(&self, place: &Place) -> Pieces<Pointer> {
        match &*place.kind {
            PlaceKind::Var(v) => {
                known(Pointer { inner: self.called, ..Pointer::start(Base::Var(*v)) })
            }
            PlaceKind::Global(g) => known(Pointer::start(Base::Global(*g))),
            PlaceKind::Deref(e) => self.pointer(e),
            PlaceKind::Elem { pointer, index, dims } => {
                let mut at = self.pointer(pointer);
                for (k, i) in index.iter().enumerate() {
                    let size = known(Poly::constant(self.size(&place.ty)));
                    let row = dims[k.min(dims.len())..]
                        .iter()
                        .fold(size, |size, d| map_both(&size, &self.value_of(d), Poly::mul));
                    let bytes = map_both(&self.subscript(i), &row, Poly::mul);
                    at = shifted(&at, &bytes);
                }
                at
            }
            PlaceKind::Index(p, i) => self.moved(&self.address(p), i, self.size(&place.ty)),
            PlaceKind::Field(p, k) => {
                let offset = match &p.ty {
                    Type::Struct(id) => field_of(self.module, *id, *k).map(|(offset, _)| offset),
                    _ => None,
                };
                let offset = offset.map(|o| Poly::constant(o.into()));
                map(&self.address(p), |at| Some(at.plus(offset.as_ref())))
            }
            PlaceKind::Component(p, k) => {
                let offset = Poly::constant(self.size(&place.ty) * i128::from(*k));
                map(&self.address(p), |at| Some(at.plus(Some(&offset))))
            }
        }
    }

    fn moved(&self, from: &Pieces<Pointer>, by: &Expr, size: i128) -> Pieces<Pointer> {
        shifted(from, &map(&self.subscript(by), |i| i.scale(size)))
    }

    /// A number that is added to an address, which is taken modulo 2⁶⁴ itself.
    fn subscript(&self, e: &Expr) -> Pieces {
        match e.ty.scalar() {
            Some(Scalar::U64) => self.integer(e),
            _ => self.value_of(e),
        }
    }

    /// Bytes of a type.
    pub fn size(&self, ty: &Type) -> i128 {
        layout_of(self.module, ty).size.into()
    }
}

/// A pointer moved by bytes; by an unknown number of them it still points into its object.
pub fn shifted(from: &Pieces<Pointer>, bytes: &Pieces) -> Pieces<Pointer> {
    let bytes: Pieces<Option<Poly>> = bytes
        .iter()
        .map(|p| Piece { case: p.case.clone(), value: Some(p.value.clone()) })
        .collect();
    map_both(from, &bytes, |at, by| Some(at.plus(by.as_ref())))
}

fn joined<T: Clone + PartialEq>(
    here: &mut BTreeMap<VarId, Pieces<T>>,
    there: &BTreeMap<VarId, Pieces<T>>,
    yes: &[Case],
    no: &[Case],
) {
    here.retain(|var, pieces| {
        let Some(other) = there.get(var) else { return false };
        if other != pieces {
            *pieces = [under(yes, other), under(no, pieces)].concat();
        }
        true
    });
}

/// The cases in which a comparison holds, or does not.
pub fn compare(op: BinaryOp, a: &Pieces, b: &Pieces, negated: bool) -> Vec<Case> {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let op = match (op, negated) {
        (op, false) => op,
        (Lt, true) => Ge,
        (Le, true) => Gt,
        (Gt, true) => Le,
        (Ge, true) => Lt,
        (Eq, true) => Ne,
        (_, true) => Eq,
    };
    let distance = |x: &Poly, y: &Poly, apart: i128| y.sub(x)?.add(&Poly::constant(-apart));
    let mut found = vec![];
    for Piece { case, value } in map_both(a, b, |x, y| Some((x.clone(), y.clone()))) {
        let Some((x, y)) = value else {
            found.extend(case.and(&Case::open()));
            continue;
        };
        let (up, down) = (|apart| distance(&x, &y, apart), |apart| distance(&y, &x, apart));
        let cases = match op {
            Lt => at_least_zero(up(1)),
            Le => at_least_zero(up(0)),
            Gt => at_least_zero(down(1)),
            Ge => at_least_zero(down(0)),
            Eq => both(&at_least_zero(up(0)), &at_least_zero(down(0))),
            _ => [at_least_zero(up(1)), at_least_zero(down(1))].concat(),
        };
        found.extend(both(&[case], &cases));
    }
    found
}

fn nonzero(pieces: &Pieces, negated: bool) -> Vec<Case> {
    compare(BinaryOp::Ne, pieces, &known(Poly::zero()), negated)
}

fn number(v: &Value) -> i128 {
    match v.ty {
        Scalar::U64 => v.bits.into(),
        _ => v.as_i64().into(),
    }
}

fn addressed(function: &Function) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    walk::each_stmt(&function.body, &mut |s| {
        let mut note = |e: &Expr| {
            if let ExprKind::AddressOf(p) = &*e.kind {
                found.extend(p.root_var());
            }
        };
        let o = walk::operands(s);
        o.reads.iter().for_each(|e| walk::each_expr(e, &mut note));
        o.writes.iter().for_each(|p| walk::each_expr_of_place(p, &mut note));
    });
    found
}
