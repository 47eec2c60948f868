//! What the launcher computes: how many rows and blocks there are, and whether rows fit and vectors are aligned.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Expr, ForLoop, Scalar, Type};

use super::{Aligned, LegalKeepRows};
use crate::build::conditions::{all_of, select};
use crate::build::{counters, trips};
use crate::kernel::Kernel;
use crate::rewrite::edit::runs::scalar_of;

/// Rows are counted in 32 bits, those that fill the last block included.
const MOST_ROWS: i64 = 1 << 30;

/// How many rows and how many blocks there are, as numbers of the launcher.
pub(super) fn counts(kernel: &mut Kernel, legal: &LegalKeepRows<'_>) -> (Expr, Expr) {
    let loops: Vec<ForLoop> = marked(legal).cloned().collect();
    let runs = trips::all_run(kernel.func(), &loops);
    let where_all_run = |count: Expr| match &runs {
        Some(runs) => select(runs.clone(), count.cast(Type::I32), Expr::i32(0)),
        None => count.cast(Type::I32),
    };
    let all = product(kernel, legal);
    let name = kernel.name_of(loops.first().map_or(warpsmith_ir::VarId(0), |l| l.var)).to_string();
    let rows = where_all_run(all.clone());
    let rows = kernel.add_length("rows", rows, format!("iterations of the nest of `{name}`"));
    let rows = Expr::var(rows, Type::I32);
    let each = legal.shape.rows;
    if each == 1 {
        return (rows.clone(), rows);
    }
    let blocks = trips::blocks(kernel.func(), all, Expr::i32(each as i32));
    let blocks = where_all_run(blocks);
    let comment = format!("blocks, each with {each} of these");
    let blocks = kernel.add_length("row_blocks", blocks, comment);
    (rows, Expr::var(blocks, Type::I32))
}

fn marked<'l>(legal: &'l LegalKeepRows<'_>) -> impl Iterator<Item = &'l ForLoop> {
    legal.nest.iter().filter_map(|id| legal.kernel.find_loop(*id))
}

fn product(kernel: &Kernel, legal: &LegalKeepRows<'_>) -> Expr {
    let counts = marked(legal).map(|l| trips::wide_count(kernel.func(), l));
    let all = counts.reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b));
    all.unwrap_or_else(|| Expr::int(Scalar::I64, 0))
}

/// Whether the last block has all its rows, too, where what the launcher asks for holds.
pub(super) fn fills_blocks(legal: &LegalKeepRows<'_>) -> bool {
    let rows = legal.shape.rows;
    let asked = |count: &Poly| {
        legal
            .aligned
            .iter()
            .any(|a| a.array.is_none() && a.offset == *count && a.by.is_multiple_of(rows))
    };
    marked(legal).filter_map(trips::sum_if_it_runs).any(|count| match count.as_constant() {
        Some(n) => n % i128::from(rows) == 0,
        None => asked(&count),
    })
}

/// The condition under which the rows can be kept; `None` where it always holds.
pub(super) fn fits(kernel: &Kernel, legal: &LegalKeepRows<'_>) -> Option<Expr> {
    let mut all = vec![];
    let narrow = |l: &ForLoop| counters::counter_type(kernel.func(), l).bytes() <= 4;
    let counted = legal.shape.rows == 1 && legal.nest.len() == 1 && marked(legal).all(narrow);
    let constant =
        marked(legal).map(|l| trips::sum_if_it_runs(l)?.as_constant()).product::<Option<i128>>();
    if !counted && constant.is_none_or(|n| n > MOST_ROWS.into()) {
        let most = Expr::int(Scalar::I64, MOST_ROWS);
        all.push(Expr::binary(BinaryOp::Le, product(kernel, legal), most));
    }
    if !legal.strips {
        all.extend(short_enough(kernel, legal));
    }
    all.extend(legal.aligned.iter().filter_map(|a| aligned(kernel, a)));
    all_of(all)
}

/// A row has no more elements than its threads keep; `None` where that is known.
fn short_enough(kernel: &Kernel, legal: &LegalKeepRows<'_>) -> Option<Expr> {
    let l = legal.range;
    let longest = i64::from(legal.shape.longest());
    let length = trips::sum_if_it_runs(l)?;
    if length.as_constant().is_some() {
        return None;
    }
    if length == Poly::from_expr(&l.limit)? {
        let ty = l.limit.ty.clone();
        let longest = Expr::int(ty.scalar()?, longest);
        return Some(Expr::binary(BinaryOp::Le, l.limit.clone(), longest));
    }
    let length = length.to_expr(Scalar::I64, &|v| scalar_of(kernel, v));
    Some(Expr::binary(BinaryOp::Le, length, Expr::int(Scalar::I64, longest)))
}

/// `(address + offset) % by == 0`; `None` where that is known.
pub(in crate::rewrite) fn aligned(kernel: &Kernel, wanted: &Aligned) -> Option<Expr> {
    let by = i128::from(wanted.by);
    if wanted.array.is_none() && wanted.offset.terms().all(|(_, factor)| factor % by == 0) {
        return None;
    }
    let scalar = match (wanted.array, wanted.offset.as_atom()) {
        (Some(_), _) => Scalar::U64,
        (None, Some(Atom::Var(v))) => scalar_of(kernel, *v),
        (None, _) => Scalar::I64,
    };
    let whole = if wanted.array.is_some() { Scalar::I64 } else { scalar };
    let offset = wanted.offset.to_expr(whole, &|v| scalar_of(kernel, v));
    let offset = offset.cast(Type::Scalar(scalar));
    let address = wanted
        .array
        .map(|array| Expr::var(array, kernel.func().var(array).ty.clone()).cast(Type::U64));
    let sum = match address {
        Some(address) if wanted.offset.is_zero() => address,
        Some(address) => Expr::binary(BinaryOp::Add, address, offset),
        None => offset,
    };
    let number = |n: u32| Expr::int(scalar, n.into());
    let past = Expr::binary(BinaryOp::Rem, sum, number(wanted.by));
    Some(Expr::binary(BinaryOp::Eq, past, number(0)))
}
