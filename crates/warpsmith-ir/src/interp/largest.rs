//! The largest of numbers that nobody knows, as of those in a file: often it says how large an array has to be.
//!
//! ```c
//! if (column > columns) columns = column;
//! columns = max(columns, column);
//! ```
//!
//! Where `column` is not known, `columns` gets a number that is not less than it was. Left out, the statement would leave
//! a size behind that nobody knows.

use super::InterpErrorKind;
use super::bounds::Track;
use super::eval::number;
use super::exec::Interp;
use crate::expr::{BinaryOp, Expr, ExprKind, MathFn, Place};
use crate::stmt::{Block, Stmt, StmtKind};
use crate::value::Value;

/// What files are taken to say of how much there is.
const INVENTED: i64 = 272;

impl<T: Track> Interp<'_, '_, T> {
    /// Does what can be done of a statement that failed for want of a number; `false`: nothing.
    pub fn invents_largest(&mut self, stmt: &Stmt, error: &InterpErrorKind) -> bool {
        let InterpErrorKind::Uninitialized(_) = error else { return false };
        let Some(place) = largest(stmt) else { return false };
        let Some(ty) = place.ty.scalar().filter(|ty| ty.is_integer()) else { return false };
        let Ok(known) = self.integer(&Expr::read(place.clone())) else { return false };
        self.write(place, number::<T>(Value::int(ty, known.max(INVENTED)))).is_ok()
    }
}

/// The place that keeps the largest of what it is compared with.
fn largest(stmt: &Stmt) -> Option<&Place> {
    match &stmt.kind {
        StmtKind::Assign { place, value } => {
            let keeps = match &*plain(value).kind {
                ExprKind::Call(MathFn::Max, operands) => operands.iter().any(|e| reads(e, place)),
                ExprKind::Select(cond, value, other) => {
                    raises(cond, place, value) && reads(other, place)
                }
                _ => false,
            };
            keeps.then_some(place)
        }
        StmtKind::If { cond, then, otherwise } if otherwise.stmts.is_empty() => {
            let (place, value) = assignment(then)?;
            raises(cond, place, value).then_some(place)
        }
        _ => None,
    }
}

/// The condition says that the value is more than what the place holds.
fn raises(cond: &Expr, place: &Place, value: &Expr) -> bool {
    let ExprKind::Binary(op, a, b) = &*plain(cond).kind else { return false };
    let (less, more) = match op {
        BinaryOp::Lt | BinaryOp::Le => (a, b),
        BinaryOp::Gt | BinaryOp::Ge => (b, a),
        _ => return false,
    };
    reads(less, place) && plain(value) == plain(more)
}

/// The one statement of a block.
fn assignment(block: &Block) -> Option<(&Place, &Expr)> {
    let [stmt] = &block.stmts[..] else { return None };
    match &stmt.kind {
        StmtKind::Scope(inner) => assignment(inner),
        StmtKind::Assign { place, value } => Some((place, value)),
        _ => None,
    }
}

fn reads(e: &Expr, place: &Place) -> bool {
    matches!(&*plain(e).kind, ExprKind::Read(read) if read == place)
}

/// The expression without conversions.
fn plain(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Cast(inner) => plain(inner),
        _ => e,
    }
}
