//! Atomic updates of one array: which array, and by which operation.

use warpsmith_ir::{
    AtomicOp, Block, Expr, ExprKind, Origin, Place, PlaceKind, Scalar, Stmt, StmtKind, Value, VarId,
};

use crate::walk;

/// The array that an atomic statement updates.
pub fn updated(stmt: &Stmt) -> Option<VarId> {
    let StmtKind::Atomic { pointer, .. } = &stmt.kind else { return None };
    let ExprKind::AddressOf(place) = &*pointer.kind else { return None };
    array_of(place)
}

/// The operation of all updates of the array in a block.
///
/// # Errors
/// Where the block does something else with it.
pub fn only_update(block: &Block, array: VarId) -> Result<AtomicOp, Origin> {
    let (mut op, mut wrong, mut updates) = (None, None, 0);
    walk::each_stmt(block, &mut |s| {
        if updated(s) != Some(array) {
            return;
        }
        updates += 1;
        if let StmtKind::Atomic { op: own, value, compare: None, result: None, pointer, .. } =
            &s.kind
            && identity(*own, value).is_some()
            && op.is_none_or(|known| known == *own)
            && !walk::mentions(value, array)
            && !matches!(&*pointer.kind, ExprKind::AddressOf(p) if reads_array(p, array))
        {
            op = Some(*own);
        } else {
            wrong = wrong.take().or(Some(s.origin.clone()));
        }
    });
    let mut all = 0;
    walk::each_var_of_block(block, &mut |v| all += usize::from(v == array));
    if all != updates {
        let first = block.stmts.first().map(|s| s.origin.clone()).unwrap_or_default();
        wrong = wrong.or(Some(first));
    }
    match (op, wrong) {
        (Some(op), None) => Ok(op),
        (_, at) => Err(at.unwrap_or_default()),
    }
}

/// What leaves a value as it is; `None` for operations that copies cannot take part in.
pub fn identity(op: AtomicOp, value: &Expr) -> Option<Value> {
    let ty = value.ty.scalar()?;
    let extreme = |least: bool| match ty {
        Scalar::I32 => Some(if least { i64::from(i32::MIN) } else { i64::from(i32::MAX) }),
        Scalar::U32 => Some(if least { 0 } else { u32::MAX.into() }),
        Scalar::I64 => Some(if least { i64::MIN } else { i64::MAX }),
        _ => None,
    };
    let bits = match op {
        AtomicOp::Add | AtomicOp::Sub if ty.is_float() => return Some(Value::float(ty, 0.0)),
        AtomicOp::Add | AtomicOp::Sub | AtomicOp::Or | AtomicOp::Xor => 0,
        AtomicOp::And => -1,
        AtomicOp::Min | AtomicOp::Lower => extreme(false)?,
        AtomicOp::Max | AtomicOp::Raise => extreme(true)?,
        _ => return None,
    };
    ty.is_integer().then(|| Value::int(ty, bits))
}

/// Whether subscripts of a place read the array.
fn reads_array(place: &Place, array: VarId) -> bool {
    let PlaceKind::Elem { index, dims, .. } = &*place.kind else { return true };
    index.iter().chain(dims).any(|e| walk::mentions(e, array))
}

/// The array that a place lies in, where it has a name.
pub fn array_of(place: &Place) -> Option<VarId> {
    let PlaceKind::Elem { pointer, .. } = &*place.kind else { return None };
    let ExprKind::Read(p) = &*pointer.kind else { return None };
    match *p.kind {
        PlaceKind::Var(v) => Some(v),
        _ => None,
    }
}
