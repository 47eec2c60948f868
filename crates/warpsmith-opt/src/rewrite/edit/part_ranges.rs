//! The iterations of a loop in parts as long as each other.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, ForLoop, Origin, Scalar, Type, VarId};

use crate::build::conditions::select;
use crate::build::{counters, trips};
use crate::kernel::Kernel;

/// How a loop that counts up by one is cut.
pub(in crate::rewrite) struct Ranges {
    l: ForLoop,
    scalar: Scalar,
    parts: u32,
    /// Iterations of a part, a number of the launcher.
    length: VarId,
}

impl Ranges {
    /// So many parts of a loop whose bounds the launcher knows, their lengths multiples of a number as far as they may be; `what` is cut, for
    /// the reader of the launcher.
    pub fn new(
        kernel: &mut Kernel,
        l: &ForLoop,
        (parts, multiple): (u32, u32),
        what: &str,
    ) -> Ranges {
        let scalar = counters::counter_type(kernel.func(), l);
        let even = begins_low(l);
        let (count, ty) = match even {
            true => (trips::distance(kernel.func(), l), scalar),
            false => (trips::length(kernel.func(), l), trips::length_type(kernel.func(), l)),
        };
        let length = match multiple {
            1 => part_of(count, ty, parts, even),
            _ => rounded(count, ty, (parts, multiple), even),
        };
        let left_over = if even { "" } else { "; the last one takes what is left over" };
        let comment = format!("{what} is split into {parts} parts as long as this{left_over}");
        let name = format!("{}_length", kernel.name_of(l.var));
        let length = kernel.add_length(&name, length, comment);
        Ranges { l: l.clone(), scalar, parts, length }
    }

    /// The first iteration of a part, and the end of it.
    pub fn bounds(&self, kernel: &Kernel, part: &Expr) -> (Expr, Expr) {
        let (l, scalar) = (&self.l, self.scalar);
        let length = Expr::var(self.length, kernel.func().var(self.length).ty.clone());
        // Where the length has more bits than the counter, so has what is computed of it: a number of the counter's type comes out.
        let wide = |e: Expr| trips::in_type(e, &length.ty);
        let begin = |number: Expr| {
            let from = Expr::binary(BinaryOp::Mul, wide(number), length.clone());
            match counters::is_const(&l.first, 0) {
                true => from,
                false => Expr::binary(BinaryOp::Add, wide(l.first.clone()), from)
                    .cast(Type::Scalar(scalar)),
            }
        };
        let last = Expr::int(scalar, i64::from(self.parts) - 1);
        let next = Expr::binary(BinaryOp::Add, part.clone(), Expr::int(scalar, 1));
        // Behind the last iteration. Of the last part the next one's begin is not computed: it could be no number of the counter's type.
        let whole = counters::tidy(kernel.func(), counters::end_of(l, scalar), scalar);
        let is_last = Expr::binary(BinaryOp::Eq, part.clone(), last);
        let beyond = Expr::binary(BinaryOp::Gt, begin(next.clone()), whole.clone());
        let at_end = match begins_low(l) {
            true => Expr::binary(BinaryOp::LogicalOr, is_last, beyond),
            false => is_last,
        };
        (begin(part.clone()), select(at_end, whole, begin(next)))
    }
}

/// Whether parts may begin behind the end: with at most 1024 of them, numbers that far behind a loop from here on are numbers of the
/// counter's type, for if the end is the greatest of all, all parts have iterations. Where there are none, the first part ends at the limit, and
/// the others begin behind it.
fn begins_low(l: &ForLoop) -> bool {
    l.first.as_const().is_some_and(|v| (0..1 << 20).contains(&v.as_i64()))
}

/// The iterations of a part: `even`, all have as many but for those at the end; else the last one has what is left over.
fn part_of(count: Expr, scalar: Scalar, parts: u32, even: bool) -> Expr {
    let (parts, number) = (Expr::int(scalar, parts.into()), |n| Expr::int(scalar, n));
    if !even {
        return Expr::binary(BinaryOp::Div, count, parts);
    }
    let left = Expr::binary(BinaryOp::Rem, count.clone(), parts.clone());
    let any_left = Expr::binary(BinaryOp::Gt, left, number(0));
    let one_more = ExprKind::Select(any_left, number(1), number(0));
    let one_more = Expr::new(one_more, Type::Scalar(scalar), Origin::default());
    Expr::binary(BinaryOp::Add, Expr::binary(BinaryOp::Div, count, parts), one_more)
}

/// The same, a multiple of a number: `even`, one more than is sure to be enough. With at most 1024 parts of multiples of 32 all but the
/// last begin at numbers of the counter's type then, too.
fn rounded(count: Expr, scalar: Scalar, (parts, multiple): (u32, u32), even: bool) -> Expr {
    let number = |n: i64| Expr::int(scalar, n);
    let together = i64::from(parts) * i64::from(multiple);
    let groups = Expr::binary(BinaryOp::Div, count, number(together));
    let groups = match even {
        true => Expr::binary(BinaryOp::Add, groups, number(1)),
        false => groups,
    };
    Expr::binary(BinaryOp::Mul, groups, number(multiple.into()))
}
