//! Integer expressions as polynomials over parameters and symbols.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Expr, ExprKind, MathFn, PlaceKind, Scalar, UnaryOp, Value, VarId};

use super::walk::{Flag, State, Walk};

/// A quotient and a remainder by something that is no constant, which belong together.
pub struct Division {
    dividend: Poly,
    divisor: Poly,
    quotient: VarId,
    remainder: VarId,
}

/// Ways to write a value in parts that are looked at.
const MAX_PARTED: usize = 12;

impl<'m> Walk<'m> {
    /// The value of an integer expression; what is inside it that touches memory is recorded. Where nothing is known of
    /// it, or it is no integer, the value is a new symbol.
    pub fn value(&mut self, e: &'m Expr, st: &mut State) -> Poly {
        let integer = e.ty.scalar().filter(|s| s.is_integer());
        let known = match &*e.kind {
            ExprKind::Const(v) if integer.is_some() => Some(Poly::constant(v.as_i64().into())),
            ExprKind::Named(id) if integer.is_some() => {
                let named = self.module.constants.get(id.0 as usize);
                named.map(|c| Poly::constant(c.value.as_i64().into()))
            }
            ExprKind::Read(place) => {
                self.place(place, st);
                match &*place.kind {
                    PlaceKind::Var(v) if integer.is_some() => self.variable(*v, st),
                    _ => None,
                }
            }
            ExprKind::AddressOf(place) => {
                self.place(place, st);
                None
            }
            ExprKind::Unary(op, a) => {
                let a = self.value(a, st);
                match op {
                    UnaryOp::Neg => a.scale(-1),
                    UnaryOp::BitNot => a.scale(-1).and_then(|p| p.sub(&Poly::constant(1))),
                    UnaryOp::Not => None,
                }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, integer, st),
            ExprKind::Cast(a) => {
                let a = if self.assume { above_least(a) } else { a };
                let value = self.value(a, st);
                let from = a.ty.scalar().filter(|s| s.is_integer());
                self.converted(value, from, integer, st)
            }
            ExprKind::Select(c, a, b) => Some(self.select(c, a, b, st)),
            ExprKind::Call(f, args) => self.call(*f, args, integer, st),
            ExprKind::PtrOffset(a, b) | ExprKind::PtrDiff(a, b) => {
                self.value(a, st);
                self.value(b, st);
                None
            }
            ExprKind::Bitcast(a) | ExprKind::Member(a, _) => {
                self.value(a, st);
                None
            }
            ExprKind::Make(parts) => {
                for part in parts {
                    self.value(part, st);
                }
                None
            }
            ExprKind::Const(_) | ExprKind::Named(_) | ExprKind::Builtin(_) => None,
        };
        known.filter(|_| integer.is_some()).unwrap_or_else(|| self.unknown(e, st))
    }

    /// A new symbol with nothing but the range of its type.
    fn unknown(&mut self, e: &'m Expr, st: &mut State) -> Poly {
        let var = self.fresh(Some(e));
        if matches!(&*e.kind, ExprKind::Binary(..) | ExprKind::Unary(UnaryOp::Not, _))
            && e.ty.scalar() == Some(Scalar::Bool)
        {
            self.learned.flags.insert(var, Flag::new(e, st));
        }
        if let Some((low, high)) = self.in_table(e) {
            st.known.bound(var, Some(Poly::constant(low)), Some(Poly::constant(high)));
        } else if let Some((low, high)) = e.ty.scalar().and_then(narrow_range) {
            st.known.bound(var, Some(Poly::constant(low)), high.map(Poly::constant));
        }
        Poly::var(var)
    }

    /// Least and greatest number of the constant table that an integer is read from.
    fn in_table(&self, e: &Expr) -> Option<(i128, i128)> {
        let ExprKind::Read(place) = &*e.kind else { return None };
        let mut whole = place;
        while let PlaceKind::Index(of, _) = &*whole.kind {
            whole = of;
        }
        let PlaceKind::Global(id) = &*whole.kind else { return None };
        let table = self.module.globals.get(id.0 as usize)?;
        let element = e.ty.scalar().filter(|s| s.is_integer())?;
        let constant = table.space == warpsmith_ir::Space::Constant;
        let bytes = table.init.as_ref().filter(|_| constant)?;
        let number = |bytes: &[u8]| {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            let value = Value { ty: element, bits: u64::from_le_bytes(wide) };
            i128::from(Value::int(element, value.as_i64()).as_i64())
        };
        let all = bytes.chunks_exact(element.bytes() as usize).map(number);
        all.clone().min().zip(all.max())
    }

    /// What a variable holds; `None` for one that is not an integer, or that nothing set.
    fn variable(&self, v: VarId, st: &State) -> Option<Poly> {
        st.values.get(&v).cloned().or_else(|| self.own_param(v).then(|| Poly::var(v)))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: &'m Expr,
        b: &'m Expr,
        ty: Option<Scalar>,
        st: &mut State,
    ) -> Option<Poly> {
        use BinaryOp::*;
        let left = self.value(a, st);
        if op.is_logical() {
            let mut there = st.clone();
            there.sure = false;
            self.assume(a, op == LogicalOr, &mut there);
            self.value(b, &mut there);
            return None;
        }
        let right = self.value(b, st);
        ty.filter(|t| *t != Scalar::Bool)?;
        let constant = right.as_constant().and_then(|c| i64::try_from(c).ok());
        match (op, constant) {
            (Add, _) => left.add(&right),
            (Sub, _) => left.sub(&right),
            (Mul, _) => left.mul(&right),
            (Shl, Some(k @ 0..=62)) => left.scale(1 << k),
            (Div, Some(d)) if d > 0 => self.quotient(&left, d, st),
            (Shr, Some(k @ 0..=62)) => self.quotient(&left, 1 << k, st),
            (Rem, Some(d)) if d > 0 => self.remainder(&left, d, st),
            (BitAnd, Some(m)) if m >= 0 => self.masked(&left, m, st),
            (Shl, None) => left.mul(&self.power(&right, st)?),
            (Shr, None) => {
                let power = self.power(&right, st)?;
                Some(Poly::var(self.divided(left, power, st)?.0))
            }
            (BitAnd, None) => self.masked_by_power(&left, &right, st),
            (BitXor | BitOr, _) => self.of_bits(&left, &right, st),
            (Div | Rem, None) => {
                let (q, r) = self.divided(left, right, st)?;
                Some(Poly::var(if op == Div { q } else { r }))
            }
            _ => None,
        }
    }

    /// Division rounds toward zero and a shift down: alike where nothing is negative.
    fn quotient(&mut self, p: &Poly, d: i64, st: &mut State) -> Option<Poly> {
        if !st.known.facts.provably_nonnegative(p) {
            return None;
        }
        let q = p.div(d)?;
        if let Some(atom @ Atom::Div(..)) = q.as_atom() {
            st.known.bound_atom(atom.clone(), Some(Poly::zero()), None);
            let rest = p.sub(&q.scale(d.into())?)?;
            st.known.facts.assume_nonnegative(Poly::constant((d - 1).into()).sub(&rest)?);
            st.known.facts.assume_nonnegative(rest);
            // The middle of two ends is below the upper one.
            for v in p.atoms().into_iter().filter(|a| matches!(a, Atom::Var(_))) {
                let last = Poly::atom(v.clone()).sub(&Poly::constant(1))?;
                let most = last.scale(d.into())?.add(&Poly::constant((d - 1).into()))?;
                if st.known.facts.provably_le(p, &most) {
                    st.known.bound_atom(atom.clone(), None, Some(last));
                }
            }
        }
        Some(q)
    }

    fn remainder(&mut self, p: &Poly, d: i64, st: &mut State) -> Option<Poly> {
        let r = p.rem(d)?;
        let most = Poly::constant((d - 1).into());
        if let Some(atom @ Atom::Rem(..)) = r.as_atom() {
            let least =
                if st.known.facts.provably_nonnegative(p) { Poly::zero() } else { most.scale(-1)? };
            st.known.facts.bound(atom.clone(), Some(least), Some(most));
        }
        Some(r)
    }

    /// `p & m`: between 0 and `m` whatever `p` is.
    fn masked(&mut self, p: &Poly, m: i64, st: &mut State) -> Option<Poly> {
        if m < i64::MAX && (m + 1) & m == 0 && st.known.facts.provably_nonnegative(p) {
            return self.remainder(p, m + 1, st);
        }
        let var = self.fresh(None);
        st.known.bound(var, Some(Poly::zero()), Some(Poly::constant(m.into())));
        Some(Poly::var(var))
    }

    /// Quotient and remainder by something that is positive, of something that is not negative.
    pub fn divided(&mut self, t: Poly, w: Poly, st: &mut State) -> Option<(VarId, VarId)> {
        let facts = &st.known.facts;
        let one = Poly::constant(1);
        // A division by zero is the user's fault, so the divisor is at least one where it is not negative.
        if !facts.provably_nonnegative(&t) || !facts.provably_nonnegative(&w) {
            return None;
        }
        let same = self.learned.divisions.iter().find(|d| d.dividend == t && d.divisor == w);
        let same = same.map(|d| (d.quotient, d.remainder));
        let (quotient, remainder) = match same {
            Some(both) => both,
            None => (self.fresh(None), self.fresh(None)),
        };
        let known = &mut st.known;
        known.bound(quotient, Some(Poly::zero()), None);
        known.bound(remainder, Some(Poly::zero()), Some(w.sub(&one)?));
        // True, but no extent: an array that is read at `i / w` or `i % w` need not have as many elements as there are `i`.
        for part in [quotient, remainder] {
            known.facts.bound(Atom::Var(part), None, Some(t.clone()));
        }
        known.facts.assume_nonnegative(w.sub(&one)?);
        known.facts.assume_nonnegative(t.sub(&Poly::var(quotient).mul(&w)?)?);
        for last in self.greatest_quotients(&t, &w, st) {
            st.known.bound(quotient, None, Some(last));
        }
        if same.is_none() {
            self.learned.divisions.push(Division { dividend: t, divisor: w, quotient, remainder });
        }
        Some((quotient, remainder))
    }

    /// A value with dividends written as quotient times divisor plus remainder, in all ways: conditions bound these where
    /// they say nothing of the dividend.
    pub fn in_parts(&self, value: &Poly) -> Vec<Poly> {
        let mut found = vec![value.clone()];
        let mut at = 0;
        while at < found.len() && found.len() < MAX_PARTED {
            for d in &self.learned.divisions {
                let Some(Atom::Var(t)) = d.dividend.as_atom() else { continue };
                let parts = || {
                    let whole = Poly::var(d.quotient).mul(&d.divisor)?;
                    found[at].substitute(*t, &whole.add(&Poly::var(d.remainder))?)
                };
                let parted = parts().filter(|p| found[at].mentions(*t) && !found.contains(p));
                found.extend(parted);
            }
            at += 1;
        }
        found.split_off(1)
    }

    /// The greatest quotient: `rows - 1` where the dividend is below `rows * w` for a number of rows that shows in its
    /// largest value, else that of the largest value where both are made of sizes.
    fn greatest_quotients(&self, t: &Poly, w: &Poly, st: &State) -> Vec<Poly> {
        let most = st.known.extremes(t, true).unwrap_or_default();
        let splits = &st.known.splits;
        let apart = most.iter().flat_map(|m| splits.iter().filter_map(|s| s.apart(m)));
        let one = Poly::constant(1);
        let last_row = |p: &Poly| {
            let (rows, rest) = p.add(&one)?.div_rem(w)?;
            rows.sub(&one).filter(|_| rest.is_zero())
        };
        let rows: Vec<Poly> =
            most.iter().cloned().chain(apart).filter_map(|p| last_row(&p)).collect();
        if !rows.is_empty() || !self.own || super::known::newest(w).is_some() {
            return rows;
        }
        let ty = |v: VarId| self.function.var(v).ty.scalar().unwrap_or(Scalar::I64);
        let number = |p: &Poly| p.to_expr(Scalar::I64, &ty);
        // Of the next multiple: C rounds toward zero, and no element is left where the largest value is -1.
        let quotient = |p: &Poly| {
            let beyond = Expr::binary(BinaryOp::Div, number(&p.add(w)?), number(w));
            Poly::from_expr(&beyond)?.sub(&one)
        };
        most.iter().filter_map(quotient).collect()
    }

    /// `p` with `w * (t / w) + t % w` written as `t`.
    pub fn undivided(&self, p: &Poly) -> Poly {
        let mut result = p.clone();
        for d in &self.learned.divisions {
            let joined = || {
                let (factor, rest) = result.split(&Atom::Var(d.remainder))?;
                let (rows, rest) = rest.split(&Atom::Var(d.quotient))?;
                let whole = !factor.is_zero() && rows == factor.mul(&d.divisor)?;
                if whole { factor.mul(&d.dividend)?.add(&rest) } else { None }
            };
            if let Some(p) = joined() {
                result = p;
            }
        }
        result
    }

    fn converted(
        &mut self,
        value: Poly,
        from: Option<Scalar>,
        to: Option<Scalar>,
        st: &mut State,
    ) -> Option<Poly> {
        let (from, to) = (from?, to.filter(|t| *t != Scalar::Bool)?);
        if to.bytes() >= 4 && from.bytes() <= to.bytes() {
            return Some(value);
        }
        // To a narrower type, where it fits. What does not fit 32 bits is no extent, but no proof may rest on that.
        let (low, high) = match narrow_range(to) {
            Some((low, Some(high))) => (low, high),
            _ => (i128::from(i32::MIN), i128::from(i32::MAX)),
        };
        let facts = &st.known.facts;
        let fits = facts.provably_le(&Poly::constant(low), &value)
            && facts.provably_le(&value, &Poly::constant(high));
        (fits || (self.assume && to.bytes() >= 4)).then_some(value)
    }

    fn select(&mut self, c: &'m Expr, a: &'m Expr, b: &'m Expr, st: &mut State) -> Poly {
        self.value(c, st);
        let mark = self.mark();
        let (mut yes, mut no) = (st.branch(), st.branch());
        self.assume(c, false, &mut yes);
        self.assume(c, true, &mut no);
        let (x, y) = (self.value(a, &mut yes), self.value(b, &mut no));
        self.joined((&x, &yes), (&y, &no), mark, st)
    }

    /// What a value is that is one of two, each with what is known where it is chosen.
    pub fn joined(
        &mut self,
        (a, there): (&Poly, &State),
        (b, here): (&Poly, &State),
        mark: usize,
        st: &mut State,
    ) -> Poly {
        if a == b {
            return a.clone();
        }
        Poly::var(self.one_of_several(&[(a, there), (b, here)], mark, st))
    }

    /// A symbol for a value that is one of several, with the bounds in older symbols that all of them keep.
    pub fn one_of_several(
        &mut self,
        ways: &[(&Poly, &State)],
        mark: usize,
        st: &mut State,
    ) -> VarId {
        let mut candidates = vec![Poly::zero()];
        // Upper bounds of each value that its parts tell.
        let mut by_parts: Vec<Vec<Poly>> = vec![];
        for (p, there) in ways {
            let parted = self.in_parts(p);
            let tops = parted.iter().filter_map(|p| there.known.extremes(p, true).ok());
            let tops: Vec<Poly> = tops.flatten().collect();
            candidates.extend(tops.iter().cloned());
            by_parts.push(tops);
            candidates.push((*p).clone());
            for up in [true, false] {
                candidates.extend(there.known.extremes(p, up).unwrap_or_default());
            }
        }
        // `i > 1 ? i - 1 : 0` is no more than `i`: what the values are made of, where nothing else bounds them.
        let plain = |a: &&Atom| matches!(a, Atom::Var(_));
        let atoms = ways.iter().flat_map(|(p, _)| p.atoms());
        let atoms: Vec<Poly> = atoms.filter(plain).cloned().map(Poly::atom).collect();
        let var = self.fresh(None);
        let (mut bounded, mut uppers) = (false, vec![]);
        for mut candidates in [candidates, atoms] {
            candidates.retain(|p| self.older(p, mark));
            candidates.sort();
            candidates.dedup();
            for c in candidates.into_iter().filter(|_| !bounded) {
                if ways.iter().all(|(p, there)| there.known.facts.provably_le(&c, p)) {
                    st.known.bound(var, Some(c.clone()), None);
                }
                let below = |(k, (p, there)): (usize, &(&Poly, &State))| {
                    let facts = &there.known.facts;
                    facts.provably_le(p, &c) || by_parts[k].iter().any(|b| facts.provably_le(b, &c))
                };
                if ways.iter().enumerate().all(below) {
                    uppers.push(c);
                }
            }
            bounded = !uppers.is_empty();
        }
        uppers.into_iter().for_each(|c| st.known.bound(var, None, Some(c)));
        if let Some((array, others)) = self.read_on_one_way(ways) {
            self.partly_read(var, array, others);
        }
        var
    }

    /// Where data decide a value on one way at least, and bounds over parameters are known on all others: the array, and
    /// these bounds.
    fn read_on_one_way(&self, ways: &[(&Poly, &State)]) -> Option<(String, Vec<Poly>)> {
        let (mut array, mut others) = (None, vec![]);
        for (p, there) in ways {
            match there.known.extremes(p, true) {
                Ok(bounds) => others.extend(bounds.into_iter().next()),
                Err(symbol) => {
                    let cause = self.cause(symbol)?;
                    array = Some(cause.array.clone()?);
                    others.extend(cause.others.iter().cloned());
                }
            }
        }
        Some((array?, others))
    }

    fn call(
        &mut self,
        f: MathFn,
        args: &'m [Expr],
        ty: Option<Scalar>,
        st: &mut State,
    ) -> Option<Poly> {
        let values: Vec<Poly> = args.iter().map(|a| self.value(a, st)).collect();
        ty?;
        let facts = &st.known.facts;
        match (f, values.as_slice()) {
            (MathFn::Min | MathFn::Max, [a, b]) => {
                let smallest = f == MathFn::Min;
                if facts.provably_le(a, b) {
                    return Some(if smallest { a.clone() } else { b.clone() });
                }
                if facts.provably_le(b, a) {
                    return Some(if smallest { b.clone() } else { a.clone() });
                }
                let var = self.one_of(a, b, smallest, st);
                Some(Poly::var(var))
            }
            (MathFn::Abs, [a]) => {
                if facts.provably_nonnegative(a) {
                    return Some(a.clone());
                }
                let negated = a.scale(-1)?;
                let var = self.one_of(a, &negated, false, st);
                st.known.bound(var, Some(Poly::zero()), None);
                Some(Poly::var(var))
            }
            _ => None,
        }
    }

    /// A symbol for the smaller or larger of two values.
    fn one_of(&mut self, a: &Poly, b: &Poly, smallest: bool, st: &mut State) -> VarId {
        let var = self.fresh(None);
        let mut far = vec![Poly::zero()];
        for p in [a, b] {
            far.extend(st.known.extremes(p, !smallest).unwrap_or_default());
            let near = Some(p.clone());
            let (low, high) = if smallest { (None, near) } else { (near, None) };
            st.known.bound(var, low, high);
        }
        for c in far {
            let facts = &st.known.facts;
            let beyond = |p: &Poly| {
                if smallest { facts.provably_le(&c, p) } else { facts.provably_le(p, &c) }
            };
            if beyond(a) && beyond(b) {
                let c = Some(c);
                let (low, high) = if smallest { (c, None) } else { (None, c) };
                st.known.bound(var, low, high);
            }
        }
        var
    }

    /// What holds where a condition is true, or false.
    pub fn assume(&mut self, cond: &'m Expr, negated: bool, st: &mut State) {
        self.quietly(|walk| walk.assume_condition(cond, negated, st));
    }

    fn assume_condition(&mut self, cond: &'m Expr, negated: bool, st: &mut State) {
        match &*cond.kind {
            ExprKind::Unary(UnaryOp::Not, a) => self.assume_condition(a, !negated, st),
            ExprKind::Cast(a) if a.ty.scalar() == Some(Scalar::Bool) => {
                self.assume_condition(a, negated, st)
            }
            ExprKind::Cast(a) if cond.ty.scalar() == Some(Scalar::Bool) => {
                let value = self.value(a, st);
                self.assume_flag(&value, negated, st);
            }
            ExprKind::Read(_) => {
                let value = self.value(cond, st);
                self.assume_flag(&value, negated, st);
            }
            ExprKind::Binary(BinaryOp::LogicalAnd, a, b) if !negated => {
                self.assume_condition(a, false, st);
                self.assume_condition(b, false, st);
            }
            ExprKind::Binary(BinaryOp::LogicalOr, a, b) if negated => {
                self.assume_condition(a, true, st);
                self.assume_condition(b, true, st);
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                let integer = |e: &Expr| e.ty.scalar().is_some_and(|s| s.is_integer());
                if integer(a) && integer(b) {
                    let (a, b) = (self.value(a, st), self.value(b, st));
                    compare(*op, negated, &a, &b, st);
                    if b.is_zero() && matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                        self.assume_flag(&a, negated != (*op == BinaryOp::Eq), st);
                    }
                }
            }
            _ => {}
        }
    }

    /// What holds where a flag is set, or not: the condition that it was set by, if that would still be the same.
    fn assume_flag(&mut self, value: &Poly, negated: bool, st: &mut State) {
        let Some(Atom::Var(symbol)) = value.as_atom() else { return };
        let cond = self.learned.flags.get(symbol).filter(|f| f.lasts(st)).map(|f| f.cond);
        if let Some(cond) = cond {
            self.assume_condition(cond, negated, st);
        }
    }
}

fn compare(op: BinaryOp, negated: bool, a: &Poly, b: &Poly, st: &mut State) {
    use BinaryOp::*;
    let mut at_least = |high: &Poly, low: &Poly, gap: i128| {
        let distance = high.sub(low).and_then(|d| d.sub(&Poly::constant(gap)));
        if let Some(p) = distance {
            st.known.nonnegative(p);
        }
    };
    match (op, negated) {
        (Lt, false) | (Ge, true) => at_least(b, a, 1),
        (Le, false) | (Gt, true) => at_least(b, a, 0),
        (Gt, false) | (Le, true) => at_least(a, b, 1),
        (Ge, false) | (Lt, true) => at_least(a, b, 0),
        (Eq, false) | (Ne, true) => {
            at_least(a, b, 0);
            at_least(b, a, 0);
        }
        // Two values that differ, one of which is known not to be the smaller.
        (Ne, false) | (Eq, true) => {
            if st.known.facts.provably_le(a, b) {
                compare(Lt, false, a, b, st);
            } else if st.known.facts.provably_le(b, a) {
                compare(Gt, false, a, b, st);
            }
        }
        _ => {}
    }
}

/// Least and greatest value of a type that is too narrow to be left open; the greatest of a wide one is.
fn narrow_range(s: Scalar) -> Option<(i128, Option<i128>)> {
    Some(match s {
        Scalar::Bool => (0, Some(1)),
        Scalar::U8 => (0, Some(255)),
        Scalar::I8 => (-128, Some(127)),
        Scalar::U16 => (0, Some(65535)),
        Scalar::I16 => (-32768, Some(32767)),
        Scalar::U32 | Scalar::U64 => (0, None),
        _ => return None,
    })
}

/// `e` of `max(e, -2147483648)`: as a limit, a number below those of 32 bits ends a loop like the least of them.
fn above_least(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Call(MathFn::Max, args) => match args.as_slice() {
            [a, b] if b.as_const().is_some_and(|v| v.as_i64() == i32::MIN.into()) => a,
            _ => e,
        },
        _ => e,
    }
}
