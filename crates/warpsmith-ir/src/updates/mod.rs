//! Updates `x = x op e` among the statements of the IR: what `atomic`, `critical` and array reductions are made of.
//!
//! Recognised are sums, differences, products, bit operations, calls of `fmin`, `fmax` and their like, and minima and
//! maxima as `if (e > x) x = e;` and `x = e > x ? e : x;`. In any order of the updates an integer ends with the same
//! value, and a real with one that differs by rounding.

mod elements;

use crate::{
    AtomicOp, BinaryOp, Expr, ExprKind, MathFn, Place, PlaceKind, ReduceOp, Scalar, Stmt, StmtKind,
    Type, VarId, visit,
};

pub use elements::{
    accumulation, assigns, atomic_elements, atomic_of, first_write, other_mention, updates_array,
};

/// `place = place op value`, with `value` of the place's type.
pub struct Update {
    /// What is updated.
    pub place: Place,
    /// By which operation.
    pub op: AtomicOp,
    /// What is combined with it.
    pub value: Expr,
}

/// Why an assignment is no update that can be done in any order, and what to write.
#[derive(Clone, Copy, Debug)]
pub struct Why {
    /// What is in the way.
    pub reason: &'static str,
    /// What to write.
    pub help: &'static str,
}

const FORMS: &str = "write `x op= e` with one of + - * & | ^, `if (e > x) x = e;` or `x = fmax(x, e);`, where `e` does not read `x`";
const SAME_TYPES: &str = "give the element and the value the same type";

impl Update {
    /// Updates of one class may change places.
    pub fn class(&self) -> ReduceOp {
        class(self.op)
    }
}

/// The operation of a reduction that the updates amount to.
pub fn class(op: AtomicOp) -> ReduceOp {
    match op {
        AtomicOp::Mul => ReduceOp::Mul,
        AtomicOp::Min | AtomicOp::Lower => ReduceOp::Min,
        AtomicOp::Max | AtomicOp::Raise => ReduceOp::Max,
        AtomicOp::And => ReduceOp::BitAnd,
        AtomicOp::Or => ReduceOp::BitOr,
        AtomicOp::Xor => ReduceOp::BitXor,
        _ => ReduceOp::Add,
    }
}

/// The update that a statement is; `None` for one that assigns nothing itself.
pub fn update_of(stmt: &Stmt) -> Option<Result<Update, Why>> {
    match &stmt.kind {
        StmtKind::Assign { place, value } => Some(assigned(place, value)),
        StmtKind::If { cond, then, otherwise } if otherwise.stmts.is_empty() => {
            let [only] = then.stmts.as_slice() else { return None };
            let StmtKind::Assign { place, value } = &only.kind else { return None };
            let (compare, value) = decided(place, cond, value)?;
            Some(extreme(place, compare, value))
        }
        _ => None,
    }
}

fn assigned(place: &Place, value: &Expr) -> Result<Update, Why> {
    let inner = match &*value.kind {
        ExprKind::Cast(inner) => inner,
        _ => value,
    };
    let old = |e: &Expr| is_old(e, place);
    match &*inner.kind {
        ExprKind::Binary(op, a, b) => {
            let (op, value) = match op {
                BinaryOp::Sub if old(a) => (AtomicOp::Sub, b),
                _ if old(a) || old(b) => {
                    let op = commuting(*op).ok_or(Why {
                        reason: "the results of this operation depend on the order",
                        help: FORMS,
                    })?;
                    (op, if old(a) { b } else { a })
                }
                _ => return Err(other()),
            };
            arithmetic(place, op, value, &inner.ty)
        }
        ExprKind::Call(f @ (MathFn::Min | MathFn::Max), args) => {
            let [a, b] = args.as_slice() else { return Err(other()) };
            let value = match (old(a), old(b)) {
                (true, false) => b,
                (false, true) => a,
                _ => return Err(other()),
            };
            let op = if *f == MathFn::Min { AtomicOp::Min } else { AtomicOp::Max };
            checked(place, op, value, &inner.ty)
        }
        ExprKind::Select(cond, a, b) => {
            let (value, negated) = match (old(a), old(b)) {
                (true, false) => (b, true),
                (false, true) => (a, false),
                _ => return Err(other()),
            };
            let (compare, value) = decided(place, cond, value).ok_or_else(other)?;
            extreme(place, if negated { negation(compare) } else { compare }, value)
        }
        _ => Err(other()),
    }
}

fn other() -> Why {
    Why { reason: "not an update that iterations can do in any order", help: FORMS }
}

fn commuting(op: BinaryOp) -> Option<AtomicOp> {
    Some(match op {
        BinaryOp::Add => AtomicOp::Add,
        BinaryOp::Mul => AtomicOp::Mul,
        BinaryOp::BitAnd => AtomicOp::And,
        BinaryOp::BitOr => AtomicOp::Or,
        BinaryOp::BitXor => AtomicOp::Xor,
        _ => return None,
    })
}

/// The comparison `e ? place` of a condition, and `e`, where it compares the place with the value.
fn decided<'e>(place: &Place, cond: &'e Expr, value: &Expr) -> Option<(BinaryOp, &'e Expr)> {
    let ExprKind::Binary(op, a, b) = &*cond.kind else { return None };
    use BinaryOp::{Ge, Gt, Le, Lt};
    let turned = match op {
        Lt => Gt,
        Le => Ge,
        Gt => Lt,
        Ge => Le,
        _ => return None,
    };
    let (op, e) = match (is_old(a, place), is_old(b, place)) {
        (false, true) => (*op, a),
        (true, false) => (turned, b),
        _ => return None,
    };
    // The assignment converts to the type of the element what the comparison sees as it is.
    let converted = match &*value.kind {
        ExprKind::Cast(inner) if inner.ty == e.ty => inner,
        _ => value,
    };
    (widened(converted) == widened(e)).then_some((op, e))
}

fn negation(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        _ => BinaryOp::Lt,
    }
}

/// A minimum or maximum by comparison: the place becomes `value` where that compares so with it.
fn extreme(place: &Place, compare: BinaryOp, value: &Expr) -> Result<Update, Why> {
    let op = match compare {
        BinaryOp::Lt | BinaryOp::Le => AtomicOp::Lower,
        _ => AtomicOp::Raise,
    };
    checked(place, op, value, &value.ty)
}

/// An extreme of values that were compared in the type `common`.
fn checked(place: &Place, op: AtomicOp, value: &Expr, common: &Type) -> Result<Update, Why> {
    let same = match (place.ty.is_float(), common.is_float()) {
        // To round keeps the order.
        (true, true) => true,
        _ => place.ty == *common,
    };
    if !same {
        return Err(Why { reason: "compares values of different types", help: SAME_TYPES });
    }
    finished(place, op, value)
}

/// An operation that was computed in the type `common`.
fn arithmetic(place: &Place, op: AtomicOp, value: &Expr, common: &Type) -> Result<Update, Why> {
    let bytes = |ty: &Type| ty.scalar().map_or(0, Scalar::bytes);
    if place.ty.is_integer() && common.is_float() {
        return Err(Why {
            reason: "every update rounds to an integer, so that the result depends on the order",
            help: "convert the value, as in `x += (int)e`, or make the element a real",
        });
    }
    if bytes(common) < bytes(&place.ty) || place.ty.is_float() != common.is_float() {
        return Err(Why { reason: "computes in a type of less digits", help: SAME_TYPES });
    }
    finished(place, op, value)
}

fn finished(place: &Place, op: AtomicOp, value: &Expr) -> Result<Update, Why> {
    let own = base_of(place);
    if reads_base(value, own) || indices(place).iter().any(|e| reads_base(e, own)) {
        return Err(Why {
            reason: "the value depends on what other iterations update",
            help: FORMS,
        });
    }
    let to = place.ty.scalar().unwrap_or(Scalar::Bool);
    if to.bytes() < 4 || to == Scalar::Bool {
        return Err(Why {
            reason: "a GPU updates 4 or 8 bytes at a time",
            help: "make the elements `int`, `unsigned`, `float` or larger",
        });
    }
    Ok(Update { place: place.clone(), op, value: converted(value, to) })
}

fn indices(place: &Place) -> Vec<&Expr> {
    match &*place.kind {
        PlaceKind::Elem { index, .. } => index.iter().collect(),
        PlaceKind::Index(inner, i) => {
            let mut all = indices(inner);
            all.push(i);
            all
        }
        PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => indices(p),
        PlaceKind::Var(_) | PlaceKind::Global(_) | PlaceKind::Deref(_) => vec![],
    }
}

/// The value in the type of the element; what was widened only to compute with it is taken as it was.
fn converted(value: &Expr, to: Scalar) -> Expr {
    let ty = Type::Scalar(to);
    if value.ty == ty {
        return value.clone();
    }
    if let ExprKind::Cast(inner) = &*value.kind
        && inner.ty == ty
    {
        return inner.clone();
    }
    if let Some(v) = value.as_const()
        && let Some(new) = v.convert(to)
        && (!v.ty.is_float() || new.as_f64() == v.as_f64())
    {
        return Expr::constant(new).with_origin(value.origin.clone());
    }
    value.clone().cast(ty)
}

/// The place's own value, in a type that computes with it.
fn is_old(e: &Expr, place: &Place) -> bool {
    match &*e.kind {
        ExprKind::Read(p) => p == place,
        ExprKind::Cast(inner) => matches!(&*inner.kind, ExprKind::Read(p) if p == place),
        _ => false,
    }
}

/// An expression without conversions that keep its value.
fn widened(e: &Expr) -> &Expr {
    if let ExprKind::Cast(inner) = &*e.kind
        && let (Some(from), Some(to)) = (inner.ty.scalar(), e.ty.scalar())
        && keeps_value(from, to)
    {
        return widened(inner);
    }
    e
}

fn keeps_value(from: Scalar, to: Scalar) -> bool {
    match (from.is_float(), to.is_float()) {
        (true, true) => to.bytes() >= from.bytes(),
        (false, false) => {
            to.bytes() > from.bytes() && (to.is_signed() || !from.is_signed())
                || to.bytes() == from.bytes() && to.is_signed() == from.is_signed()
        }
        (false, true) => from.bytes() < to.bytes(),
        (true, false) => false,
    }
}

/// The variable that holds a place, or the pointer that it is behind.
pub fn base_of(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Var(v) => Some(*v),
        PlaceKind::Global(_) => None,
        PlaceKind::Deref(e) | PlaceKind::Elem { pointer: e, .. } => base_of_pointer(e),
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => base_of(p),
    }
}

/// The variable that holds what a pointer points into, or the pointer itself.
pub fn base_of_pointer(e: &Expr) -> Option<VarId> {
    match &*e.kind {
        ExprKind::Read(p) | ExprKind::AddressOf(p) => base_of(p),
        ExprKind::PtrOffset(p, _) | ExprKind::Cast(p) => base_of_pointer(p),
        _ => None,
    }
}

/// Whether an expression reads the variable, or memory behind it; anything at all, where the base has no name.
pub fn reads_base(e: &Expr, base: Option<VarId>) -> bool {
    let mut reads = false;
    visit::for_each_subexpr(e, &mut |e| {
        if let ExprKind::Read(p) = &*e.kind {
            let of = base_of(p);
            reads |= of == base || (of.is_none() && !in_global(p));
        }
    });
    reads
}

fn in_global(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Global(_) => true,
        PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => {
            in_global(p)
        }
        _ => false,
    }
}

/// The single element behind a pointer: `*p`, `p[0]`.
pub fn single_element(place: &Place) -> Option<VarId> {
    let pointer = match &*place.kind {
        PlaceKind::Deref(e) => e,
        PlaceKind::Elem { pointer, index, .. } => {
            let zero = |e: &Expr| e.as_const().is_some_and(|v| v.as_i64() == 0);
            if !index.iter().all(zero) {
                return None;
            }
            pointer
        }
        _ => return None,
    };
    match &*pointer.kind {
        ExprKind::Read(p) => match &*p.kind {
            PlaceKind::Var(v) => Some(*v),
            _ => None,
        },
        _ => None,
    }
}
