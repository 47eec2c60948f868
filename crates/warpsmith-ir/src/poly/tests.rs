//! The normal form against direct evaluation, and the inequalities that the analyses live on.

use proptest::prelude::*;

use super::*;
use crate::expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::types::{Scalar, Type};

fn read(v: u32) -> Expr {
    Expr::var(VarId(v), Type::I64)
}

fn bin(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(op, a, b)
}

/// Expressions over four variables with small constants, divisions by positive constants included.
fn expressions() -> impl Strategy<Value = Expr> {
    let leaf =
        prop_oneof![(0u32..4).prop_map(read), (-9i64..10).prop_map(|c| Expr::int(Scalar::I64, c)),];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|(a, b)| bin(BinaryOp::Add, a, b)),
            pair.clone().prop_map(|(a, b)| bin(BinaryOp::Sub, a, b)),
            pair.prop_map(|(a, b)| bin(BinaryOp::Mul, a, b)),
            inner.clone().prop_map(|a| {
                Expr::new(ExprKind::Unary(UnaryOp::Neg, a), Type::I64, Origin::default())
            }),
            (inner.clone(), 1i64..7).prop_map(|(a, d)| bin(
                BinaryOp::Div,
                a,
                Expr::int(Scalar::I64, d)
            )),
            (inner, 1i64..7).prop_map(|(a, d)| bin(BinaryOp::Rem, a, Expr::int(Scalar::I64, d))),
        ]
    })
}

/// The value by the definition of the operators, in 128 bits.
fn direct(expr: &Expr, values: &[i128; 4]) -> i128 {
    match &*expr.kind {
        ExprKind::Const(v) => v.as_i64().into(),
        ExprKind::Read(place) => values[place.root_var().unwrap().0 as usize],
        ExprKind::Unary(UnaryOp::Neg, a) => -direct(a, values),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (direct(a, values), direct(b, values));
            match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                _ => a % b,
            }
        }
        other => panic!("not generated: {other:?}"),
    }
}

fn lookup(values: [i128; 4]) -> impl Fn(&Atom) -> Option<i128> {
    move |atom| match atom {
        Atom::Var(v) => values.get(v.0 as usize).copied(),
        _ => None,
    }
}

use crate::span::Origin;

proptest! {
    #[test]
    fn a_polynomial_has_the_value_of_its_expression(e in expressions(), v in prop::array::uniform4(-20i128..20)) {
        let poly = Poly::from_expr(&e).unwrap();
        prop_assert_eq!(poly.eval(&lookup(v)), Some(direct(&e, &v)));
    }

    #[test]
    fn going_back_to_an_expression_keeps_the_polynomial(e in expressions()) {
        let poly = Poly::from_expr(&e).unwrap();
        prop_assert_eq!(Poly::from_expr(&poly.to_expr(Scalar::I64, &|_| Scalar::I64)), Some(poly));
    }

    #[test]
    fn substitution_is_evaluation_in_two_steps(
        e in expressions(), by in expressions(), v in prop::array::uniform4(-9i128..9)
    ) {
        let (poly, by) = (Poly::from_expr(&e).unwrap(), Poly::from_expr(&by).unwrap());
        let inner = by.eval(&lookup(v)).unwrap();
        let mut changed = v;
        changed[0] = inner;
        let substituted = poly.substitute(VarId(0), &by).unwrap();
        prop_assert_eq!(substituted.eval(&lookup(v)), poly.eval(&lookup(changed)));
    }

    #[test]
    fn what_is_proved_holds(e in expressions(), hi in prop::array::uniform4(0i128..6), at in prop::array::uniform4(0i128..6)) {
        let poly = Poly::from_expr(&e).unwrap();
        let mut facts = Facts::new();
        let mut v = [0; 4];
        for k in 0..4 {
            let atom = Atom::Var(VarId(k as u32));
            facts.bound(atom, Some(Poly::zero()), Some(Poly::constant(hi[k])));
            v[k] = at[k].min(hi[k]);
        }
        let value = poly.eval(&lookup(v)).unwrap();
        if facts.provably_nonnegative(&poly) {
            prop_assert!(value >= 0);
        }
        if facts.provably_nonzero(&poly) {
            prop_assert!(value != 0);
        }
        prop_assert_eq!(facts.simplify(&poly).eval(&lookup(v)), Some(value));
    }

    #[test]
    fn ring_laws(a in expressions(), b in expressions(), c in expressions()) {
        let [a, b, c] = [a, b, c].map(|e| Poly::from_expr(&e).unwrap());
        let left = a.mul(&b.add(&c).unwrap()).unwrap();
        let right = a.mul(&b).unwrap().add(&a.mul(&c).unwrap()).unwrap();
        prop_assert_eq!(left, right);
    }
}

fn var(k: u32) -> Poly {
    Poly::var(VarId(k))
}

fn text(p: &Poly) -> String {
    p.display(&|v| ["i", "j", "n", "m"][v.0 as usize].to_string())
}

#[test]
fn rows_of_a_flat_array_do_not_overlap() {
    // i * m + j with 0 <= j < m stays below (i + 1) * m.
    let mut facts = Facts::new();
    let m1 = var(3).sub(&Poly::constant(1)).unwrap();
    facts.bound(Atom::Var(VarId(1)), Some(Poly::zero()), Some(m1));
    let index = var(0).mul(&var(3)).unwrap().add(&var(1)).unwrap();
    let next = var(0).mul(&var(3)).unwrap().add(&var(3)).unwrap();
    assert!(facts.provably_lt(&index, &next));
    assert!(!facts.provably_lt(&next, &index));
}

#[test]
fn quotients_of_strip_mined_indices_resolve() {
    let mut facts = Facts::new();
    facts.bound(Atom::Var(VarId(0)), Some(Poly::zero()), None);
    facts.bound(Atom::Var(VarId(1)), Some(Poly::zero()), Some(Poly::constant(31)));
    let index = var(0).scale(32).unwrap().add(&var(1)).unwrap();
    assert_eq!(text(&facts.simplify(&index.div(32).unwrap())), "i");
    assert_eq!(text(&facts.simplify(&index.rem(32).unwrap())), "j");
    assert_eq!(text(&index.rem(32).unwrap()), "(32 * i + j) % 32");
}

#[test]
fn text_starts_with_a_positive_term_and_ends_with_the_constant() {
    let reversed = var(2).sub(&var(0)).unwrap().sub(&Poly::constant(1)).unwrap();
    assert_eq!(text(&reversed), "n - i - 1");
    assert_eq!(text(&Poly::zero()), "0");
    let flat = var(0).mul(&var(3)).unwrap().add(&var(1).scale(2).unwrap()).unwrap();
    assert_eq!(text(&flat), "i * m + 2 * j");
}

#[test]
fn conversions_that_may_change_the_value_have_no_polynomial() {
    let wide = Expr::var(VarId(0), Type::I64);
    assert_eq!(Poly::from_expr(&wide.clone().cast(Type::I32)), None);
    assert_eq!(Poly::from_expr(&Expr::var(VarId(0), Type::F32).cast(Type::I32)), None);
    assert_eq!(Poly::from_expr(&Expr::var(VarId(0), Type::I32).cast(Type::U64)), Some(var(0)));
}

#[test]
fn coefficients_beyond_128_bits_are_refused() {
    let big = Poly::constant(i128::MAX);
    assert_eq!(big.add(&Poly::constant(1)), None);
    assert_eq!(big.mul(&Poly::constant(2)), None);
}
