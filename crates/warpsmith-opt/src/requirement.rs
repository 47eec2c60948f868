//! Conditions on the sizes.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{BinaryOp, Expr, Function, Scalar, Span, Type, VarId};

/// A condition on the sizes under which a mark is right: a parameter is at least, or at most, something.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// A by-value parameter that nothing assigns.
    pub var: VarId,
    /// Over parameters of that kind.
    pub bound: Poly,
    /// The bound is an upper one.
    pub at_most: bool,
    /// What the condition is for, in the user's words.
    pub why: String,
    /// The access that is right under it.
    pub at: Option<Span>,
}

impl Requirement {
    /// What is not negative where the condition holds.
    pub fn slack(&self) -> Poly {
        let above = Poly::var(self.var).sub(&self.bound);
        let slack = if self.at_most { above.and_then(|p| p.scale(-1)) } else { above };
        slack.unwrap_or_default()
    }

    /// The condition, in 64-bit arithmetic where it takes any.
    pub fn condition(&self, function: &Function) -> Expr {
        let type_of = |v: VarId| function.var(v).ty.scalar().unwrap_or(Scalar::I32);
        let own = type_of(self.var);
        let alike = match self.bound.as_atom() {
            Some(Atom::Var(v)) => type_of(*v) == own,
            // A number without a sign may be none of 64 bits with one.
            _ if own == Scalar::U64 => self.bound.as_constant().is_some_and(|c| c >= 0),
            _ => self.bound.as_constant().is_some_and(|c| i32::try_from(c).is_ok()),
        };
        let ty = if alike { own } else { Scalar::I64 };
        let value = Expr::var(self.var, Type::Scalar(own)).cast(Type::Scalar(ty));
        let op = if self.at_most { BinaryOp::Le } else { BinaryOp::Ge };
        Expr::binary(op, value, self.bound.to_expr(ty, &type_of))
    }

    /// The condition as the user would write it.
    pub fn text(&self, function: &Function) -> String {
        let name = |v: VarId| function.var(v).name.clone();
        let op = if self.at_most { "<=" } else { ">=" };
        format!("{} {op} {}", name(self.var), self.bound.display(&name))
    }
}
