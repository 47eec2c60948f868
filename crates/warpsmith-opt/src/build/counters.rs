//! Iteration numbers, guards and extents of counted loops, as expressions.
//!
//! The counter of thread `t` is `first + t * step` (dense indexing). The grid is rounded up to whole blocks, so that the
//! counters of the excess threads can leave the range of a 32-bit type: [`excess`] says when, and what to do about it.
//! Ranges of 64-bit counters are not an issue, since no memory and no time is enough to come near their limits.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    Axis, BinaryOp, Builtin, Expr, ExprKind, ForLoop, Function, Origin, Scalar, Type, UnaryOp,
};

use super::conditions::all_of;
use crate::facts::Multiples;

/// The type of a loop's counter.
pub fn counter_type(function: &Function, l: &ForLoop) -> Scalar {
    function.var(l.var).ty.scalar().unwrap_or(Scalar::I32)
}

/// Whether the counter grows. A loop that compares with `!=` has a constant step; the rewrites saw to it.
pub fn counts_up(l: &ForLoop) -> bool {
    match l.compare {
        BinaryOp::Lt | BinaryOp::Le => true,
        BinaryOp::Gt | BinaryOp::Ge => false,
        _ => l.step.as_const().is_none_or(|s| s.as_i64() > 0),
    }
}

/// The comparison under which an iteration exists; `!=` says the same as `<` or `>` in the loop's direction.
fn comparison(l: &ForLoop) -> BinaryOp {
    match l.compare {
        BinaryOp::Ne if counts_up(l) => BinaryOp::Lt,
        BinaryOp::Ne => BinaryOp::Gt,
        other => other,
    }
}

/// `counter compare limit`.
pub fn inside(l: &ForLoop, counter: Expr) -> Expr {
    Expr::binary(comparison(l), counter, l.limit.clone())
}

/// The opposite of [`inside`].
pub fn outside(l: &ForLoop, counter: Expr) -> Expr {
    let op = match comparison(l) {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        _ => BinaryOp::Lt,
    };
    Expr::binary(op, counter, l.limit.clone())
}

/// `limit` of a loop that counts up by one, exclusive.
pub fn end_of(l: &ForLoop, ty: Scalar) -> Expr {
    match l.compare {
        BinaryOp::Le => Expr::binary(BinaryOp::Add, l.limit.clone(), Expr::int(ty, 1)),
        _ => l.limit.clone(),
    }
}

/// Whether the loop runs at all, with the constant on the right.
pub fn runs(function: &Function, l: &ForLoop) -> Expr {
    let op = comparison(l);
    if let Some(simple) = runs_by_distance(function, l, op) {
        return simple;
    }
    if l.first.as_const().is_none() {
        return Expr::binary(op, l.first.clone(), l.limit.clone());
    }
    let flipped = match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        _ => BinaryOp::Le,
    };
    Expr::binary(flipped, l.limit.clone(), l.first.clone())
}

/// Whether all loops run at all; `None`: all do, whatever the sizes are.
pub fn all_run<'l>(
    function: &Function,
    loops: impl IntoIterator<Item = &'l ForLoop>,
) -> Option<Expr> {
    let mut conditions: Vec<Expr> = vec![];
    let open = loops.into_iter().filter(|l| constant_count(function, l).is_none_or(|n| n == 0));
    for cond in open.map(|l| runs(function, l)) {
        if !conditions.contains(&cond) {
            conditions.push(cond);
        }
    }
    all_of(conditions)
}

/// `n > 2` for a loop from 1 to `n - 1`. Unsigned differences may wrap and are left as they are.
fn runs_by_distance(function: &Function, l: &ForLoop, op: BinaryOp) -> Option<Expr> {
    let ty = counter_type(function, l);
    if !ty.is_signed() {
        return None;
    }
    let (high, low) = match op {
        BinaryOp::Lt | BinaryOp::Le => (&l.limit, &l.first),
        _ => (&l.first, &l.limit),
    };
    let distance = Poly::from_expr(high)?.sub(&Poly::from_expr(low)?)?;
    let least = -distance.constant_term();
    let rest = distance.add(&Poly::constant(least))?;
    rest.as_atom()?;
    let inclusive = matches!(op, BinaryOp::Le | BinaryOp::Ge);
    let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
    let least = Expr::int(ty, i64::try_from(least).ok()?);
    let op = if inclusive { BinaryOp::Ge } else { BinaryOp::Gt };
    Some(Expr::binary(op, rest.to_expr(ty, &var_type), least))
}

/// What can become of the counters of threads past the end of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// They stay in the range of the type.
    InRange,
    /// They may pass the end of the range once and come out before the first iteration, where a comparison finds them.
    Wraps,
    /// They may land anywhere: the guard must be computed in 64 bits.
    Anywhere,
}

/// Steps up to this size cannot carry the threads of a block, at most 1024, once around the range of 32 bits.
const SHORT_STEP: u64 = 1 << 20;

/// For a loop with one thread an iteration, in blocks of `block` threads.
pub fn excess(function: &Function, l: &ForLoop, block: u32) -> Excess {
    let ty = counter_type(function, l);
    if ty.bytes() == 8 {
        return Excess::InRange;
    }
    let Some(step) = l.step.as_const().map(|v| v.as_i64()) else { return Excess::Anywhere };
    // A power of two divides the range: rounding up cannot pass its end.
    if is_const(&l.first, 0) && step == 1 && block.is_power_of_two() {
        return Excess::InRange;
    }
    if step.unsigned_abs() > SHORT_STEP {
        return Excess::Anywhere;
    }
    if let Some(limit) = l.limit.as_const().map(|v| v.as_i64()) {
        let (least, greatest) = match ty.is_signed() {
            true => (i64::from(i32::MIN), i64::from(i32::MAX)),
            false => (0, i64::from(u32::MAX)),
        };
        let last = limit + step * i64::from(block);
        if (least..=greatest).contains(&last) {
            return Excess::InRange;
        }
    }
    // What wraps lands at the other end of the range: before the first iteration, if that is not there as well.
    let starts_inside = match l.first.as_const().map(|v| v.as_i64()) {
        Some(first) => ty.is_signed() && first.unsigned_abs() <= 1 << 30,
        None => ty.is_signed(),
    };
    let one_by_one = step == 1 && block.is_power_of_two();
    if starts_inside || (one_by_one && !is_const(&l.first, 0)) {
        Excess::Wraps
    } else {
        Excess::Anywhere
    }
}

/// The counter lies before the first iteration.
pub fn before(l: &ForLoop, counter: Expr) -> Expr {
    let op = if counts_up(l) { BinaryOp::Lt } else { BinaryOp::Gt };
    Expr::binary(op, counter, l.first.clone())
}

/// The loop with bounds and step in 64 bits.
pub fn wide(l: &ForLoop) -> ForLoop {
    let cast = |e: &Expr| match e.as_const() {
        Some(v) => Expr::int(Scalar::I64, v.as_i64()),
        None => e.clone().cast(Type::I64),
    };
    ForLoop { first: cast(&l.first), limit: cast(&l.limit), step: cast(&l.step), ..l.clone() }
}

/// The type of the first iterations of strips. That behind the last one may lie beyond the counter's type where the loop
/// does not begin at a constant: from a constant on nobody counts that far.
pub fn strips_type(l: &ForLoop, counter: Scalar) -> Scalar {
    if counter.bytes() < 8 && l.first.as_const().is_none() { Scalar::I64 } else { counter }
}

/// Whether the number of iterations is sure to fit the counter's type.
pub fn count_fits(function: &Function, l: &ForLoop) -> bool {
    let ty = counter_type(function, l);
    let low = if counts_up(l) { &l.first } else { &l.limit };
    let from_zero = low.as_const().is_some_and(|v| v.as_i64() >= 0);
    ty.bytes() == 8 || !ty.is_signed() || from_zero
}

/// The last iteration of the loop: `counter + step` would be outside.
pub fn is_last(l: &ForLoop, counter: Expr) -> Expr {
    outside(l, Expr::binary(BinaryOp::Add, counter, l.step.clone()))
}

/// The number of the thread along an axis of the grid, in type `ty`.
pub fn thread_number(axis: Axis, ty: Scalar) -> Expr {
    let (block, width, thread) =
        (Builtin::BlockIdx(axis), Builtin::BlockDim(axis), Builtin::ThreadIdx(axis));
    wide_sum(block, width, Some(thread), ty)
}

/// The number of threads of the grid along an axis, in type `ty`.
pub fn grid_width(axis: Axis, ty: Scalar) -> Expr {
    wide_sum(Builtin::GridDim(axis), Builtin::BlockDim(axis), None, ty)
}

fn wide_sum(a: Builtin, b: Builtin, c: Option<Builtin>, ty: Scalar) -> Expr {
    // The hardware's numbers have 32 bits; a 64-bit counter needs the product in 64.
    let term = |x: Builtin| {
        let e = Expr::builtin(x);
        if ty.bytes() == 8 { e.cast(Type::Scalar(ty)) } else { e }
    };
    let product = Expr::binary(BinaryOp::Mul, term(a), term(b));
    let sum = match c {
        Some(c) => Expr::binary(BinaryOp::Add, product, term(c)),
        None => product,
    };
    sum.cast(Type::Scalar(ty))
}

/// `first + number * step`, without the parts that do nothing.
pub fn counter_of(l: &ForLoop, number: Expr) -> Expr {
    let scaled = times(number, &l.step);
    let negative = |e: &Expr| matches!(&*e.kind, ExprKind::Unary(UnaryOp::Neg, _));
    match (&l.first, scaled) {
        (first, scaled) if is_const(first, 0) => scaled,
        (first, scaled) if negative(&scaled) => match *scaled.kind {
            ExprKind::Unary(_, inner) => Expr::binary(BinaryOp::Sub, first.clone(), inner),
            _ => first.clone(),
        },
        (first, scaled) => Expr::binary(BinaryOp::Add, first.clone(), scaled),
    }
}

/// The same of a number in 64 bits, in the counter's type.
pub fn counter_of_wide(function: &Function, l: &ForLoop, number: Expr) -> Expr {
    let ty = Type::Scalar(counter_type(function, l));
    match count_fits(function, l) {
        true => counter_of(l, number.cast(ty)),
        false => counter_of(&wide(l), number).cast(ty),
    }
}

/// `number * step`; a negative constant step gives the negation of a product.
pub fn times(number: Expr, step: &Expr) -> Expr {
    let ty = number.ty.clone();
    let Some(value) = step.as_const().map(|v| v.as_i64()) else {
        return Expr::binary(BinaryOp::Mul, number, step.clone());
    };
    let scalar = ty.scalar().unwrap_or(Scalar::I32);
    let magnitude = i64::try_from(value.unsigned_abs()).unwrap_or(i64::MAX);
    let product = match magnitude {
        1 => number,
        m => Expr::binary(BinaryOp::Mul, number, Expr::int(scalar, m)),
    };
    match value < 0 {
        true => Expr::new(ExprKind::Unary(UnaryOp::Neg, product), ty, Origin::default()),
        false => product,
    }
}

/// Whether an expression is this number.
pub fn is_const(e: &Expr, value: i64) -> bool {
    e.as_const().is_some_and(|v| !v.ty.is_float() && v.as_i64() == value)
}

/// The number of iterations of a loop that runs, in the counter's type.
///
/// Written `(distance - 1) / step + 1` rather than `(distance + step - 1) / step`: no intermediate value exceeds the
/// distance between the bounds, so that nothing overflows near the greatest number of the type.
pub fn count(function: &Function, l: &ForLoop) -> Expr {
    count_in(function, l, counter_type(function, l))
}

fn count_in(function: &Function, l: &ForLoop, ty: Scalar) -> Expr {
    let up = counts_up(l);
    let (high, low) = if up { (&l.limit, &l.first) } else { (&l.first, &l.limit) };
    let inclusive = matches!(l.compare, BinaryOp::Le | BinaryOp::Ge);
    let distance = Expr::binary(BinaryOp::Sub, high.clone(), low.clone());
    let step = if up { l.step.clone() } else { times(l.step.clone(), &Expr::int(ty, -1)) };
    let step = tidy(function, step, ty);
    // From the first iteration to the last number inside the bounds.
    let span = match inclusive {
        true => distance,
        false => Expr::binary(BinaryOp::Sub, distance, Expr::int(ty, 1)),
    };
    let steps = match is_const(&step, 1) {
        true => span,
        false => Expr::binary(BinaryOp::Div, tidy(function, span, ty), step),
    };
    tidy(function, Expr::binary(BinaryOp::Add, steps, Expr::int(ty, 1)), ty)
}

/// [`count`] in 64 bits, which hold what the counter's type may not.
pub fn wide_count(function: &Function, l: &ForLoop) -> Expr {
    match count_fits(function, l) {
        true => count(function, l).cast(Type::I64),
        false => count_in(function, &wide(l), Scalar::I64),
    }
}

/// Whether the distance between the bounds is a number of the counter's type; `None`: it is, whatever they are.
pub fn range_fits(function: &Function, l: &ForLoop) -> Option<Expr> {
    if count_fits(function, l) {
        return None;
    }
    let (up, l) = (counts_up(l), wide(l));
    let (high, low) = if up { (l.limit, l.first) } else { (l.first, l.limit) };
    let inclusive = matches!(l.compare, BinaryOp::Le | BinaryOp::Ge);
    let most = i64::from(i32::MAX) - i64::from(inclusive);
    let distance = tidy(function, Expr::binary(BinaryOp::Sub, high, low), Scalar::I64);
    Some(Expr::binary(BinaryOp::Le, distance, Expr::int(Scalar::I64, most)))
}

/// The number of iterations of a loop, where no size decides it.
pub fn constant_count(function: &Function, l: &ForLoop) -> Option<u64> {
    let ends = [&l.first, &l.limit, &l.step].map(|e| e.as_const().map(|v| v.as_i64()));
    let [Some(first), Some(limit), Some(step)] = ends else { return None };
    let distance =
        if counts_up(l) { limit.checked_sub(first)? } else { first.checked_sub(limit)? };
    let inclusive = matches!(l.compare, BinaryOp::Le | BinaryOp::Ge);
    let distance = u64::try_from(distance.checked_add(i64::from(inclusive))?).ok()?;
    counter_type(function, l).is_integer().then(|| distance.div_ceil(step.unsigned_abs().max(1)))
}

/// The last multiple of `width`, a power of two, at or before the loop's first iteration.
pub fn aligned_first(l: &ForLoop, width: u32, multiples: &Multiples) -> Expr {
    let ty = l.first.ty.scalar().unwrap_or(Scalar::I32);
    let known = multiples.past_multiple(&l.first, width);
    match (l.first.as_const().map(|c| c.as_i64()), known) {
        (Some(first), Some(past)) => Expr::int(ty, first - i64::from(past)),
        (_, Some(past)) => Expr::binary(BinaryOp::Sub, l.first.clone(), Expr::int(ty, past.into())),
        _ => {
            let down = Expr::int(ty, -i64::from(width)).cast(Type::Scalar(ty));
            Expr::binary(BinaryOp::BitAnd, l.first.clone(), down)
        }
    }
}

/// The number of iterations of a loop that counts up by one, as a sum.
pub fn iterations(l: &ForLoop, ty: Scalar) -> Option<Poly> {
    let last = Poly::from_expr(&l.limit)?.sub(&Poly::from_expr(&l.first)?)?;
    // Differences of unsigned numbers may wrap, which a sum does not show.
    let exact = ty.is_signed() || is_const(&l.first, 0);
    let inclusive = i128::from(l.compare == BinaryOp::Le);
    if exact { last.add(&Poly::constant(inclusive)) } else { None }
}

/// The positions in a box that its elements, numbered row by row, have; as many as it has extents, the last of which
/// varies fastest.
pub fn digits(number: Expr, extents: &[Expr]) -> Vec<Expr> {
    let mut found = vec![];
    let mut rest = number;
    for extent in extents.iter().skip(1).rev() {
        found.push(Expr::binary(BinaryOp::Rem, rest.clone(), extent.clone()));
        rest = Expr::binary(BinaryOp::Div, rest, extent.clone());
    }
    found.push(rest);
    found.reverse();
    found
}

/// `ceil(count / size)` for a count of at least 1, as `(count - 1) / size + 1`: it cannot overflow.
pub fn blocks(function: &Function, count: Expr, size: Expr) -> Expr {
    if is_const(&size, 1) {
        return count;
    }
    let ty = count.ty.scalar().unwrap_or(Scalar::I32);
    let size = size.cast(Type::Scalar(ty));
    let last = Expr::binary(BinaryOp::Sub, count, Expr::int(ty, 1));
    let full = Expr::binary(BinaryOp::Div, tidy(function, last, ty), size);
    Expr::binary(BinaryOp::Add, full, Expr::int(ty, 1))
}

/// The same value, sums collected.
pub fn tidy(function: &Function, e: Expr, ty: Scalar) -> Expr {
    let var_type = |v| function.var(v).ty.scalar().unwrap_or(ty);
    match Poly::from_expr(&e) {
        Some(poly) => poly.to_expr(ty, &var_type),
        None => e,
    }
}

#[cfg(test)]
mod tests {
    use warpsmith_ir::{Block, FunctionKind, LoopKind, Var, VarKind};

    use super::*;
    use crate::analysis::guards;

    /// A loop over `i` from `first` to a parameter `n`.
    fn loop_to_n(first: i64, compare: BinaryOp, step: i64) -> (Function, ForLoop) {
        let mut function = Function::new("f", FunctionKind::Host);
        let n = function.add_param(Var::new("n", Type::I32, VarKind::Param));
        let i = function.add_var(Var::new("i", Type::I32, VarKind::Local));
        let l = ForLoop {
            id: function.fresh_loop(),
            var: i,
            declares: true,
            first: Expr::int(Scalar::I32, first),
            compare,
            limit: Expr::var(n, Type::I32),
            step: Expr::int(Scalar::I32, step),
            kind: LoopKind::Serial,
            body: Block::default(),
        };
        (function, l)
    }

    /// The value for `n`, when neither it nor a part of it leaves the range of `int`.
    fn value(e: &Expr, n: i64) -> Option<i128> {
        if let ExprKind::Binary(_, a, b) = &*e.kind {
            value(a, n)?;
            value(b, n)?;
        }
        let v = guards::eval(e, &|_| Some(n.into()))?;
        i32::try_from(v).ok().map(i128::from)
    }

    #[test]
    fn excess_threads_are_recognised() {
        let of = |first, step, block| {
            let (function, l) = loop_to_n(first, BinaryOp::Lt, step);
            excess(&function, &l, block)
        };
        assert_eq!(of(0, 1, 256), Excess::InRange);
        // 2^31 is no multiple of 96.
        assert_eq!(of(0, 1, 96), Excess::Wraps);
        assert_eq!(of(1, 1, 256), Excess::Wraps);
        assert_eq!(of(0, 3, 256), Excess::Wraps);
        assert_eq!(of(0, 1 << 21, 256), Excess::Anywhere);
        let (function, l) = loop_to_n(0, BinaryOp::Lt, -1);
        let down = ForLoop {
            first: l.limit.clone(),
            limit: Expr::int(Scalar::I32, 0),
            compare: BinaryOp::Ge,
            ..l
        };
        assert_eq!(excess(&function, &down, 256), Excess::InRange);
    }

    #[test]
    fn counts_and_blocks_are_exact_up_to_the_greatest_int() {
        for (first, compare, step) in [
            (0, BinaryOp::Lt, 1),
            (0, BinaryOp::Lt, 3),
            (2, BinaryOp::Lt, 1),
            (5, BinaryOp::Lt, 4),
            (1, BinaryOp::Le, 1),
            (1, BinaryOp::Le, 7),
        ] {
            let (function, l) = loop_to_n(first, compare, step);
            let iterations = count(&function, &l);
            let grid = blocks(&function, iterations.clone(), Expr::int(Scalar::I32, 256));
            for n in [6, 7, 8, 255, 256, 257, 1000, i64::from(i32::MAX) - 1, i32::MAX.into()] {
                let distance = n - first + i64::from(compare == BinaryOp::Le);
                let expected = (distance + step - 1) / step;
                assert_eq!(value(&iterations, n), Some(expected.into()), "count for n = {n}");
                let expected = (expected + 255) / 256;
                assert_eq!(value(&grid, n), Some(expected.into()), "blocks for n = {n}");
            }
        }
    }
}
