//! Atomic functions with an order and a scope: `__nv_atomic_…`, on which `cuda::atomic_ref` and `cuda::atomic` stand, too.
//!
//! An order is what fences around the operation say: a release is a fence before it, an acquire one behind it, both of the
//! operation's scope. Source: the CUDA C++ Programming Guide, "Atomic Functions".

use warpsmith_ir::{
    AtomicOp, BinaryOp, Block, Diagnostic, Expr, Place, Scalar, Scope, Space, Stmt, StmtKind, Type,
};

use super::call::{Call, Lowered};

const PREFIX: &str = "__nv_atomic_";

/// Operations that give the old value; without `fetch_` they give none.
const UPDATES: &[(&str, AtomicOp)] = &[
    ("add", AtomicOp::Add),
    ("sub", AtomicOp::Sub),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
];

/// Orders as the compiler numbers them.
const ACQUIRING: [i64; 4] = [1, 2, 4, 5];
const RELEASING: [i64; 3] = [3, 4, 5];

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    let what = c.name.strip_prefix(PREFIX)?;
    if what == "thread_fence" {
        return Some(thread_fence(c));
    }
    // The names without `_n` take the value, and give the old one, through pointers.
    let (what, by_value) = match what.strip_suffix("_n") {
        Some(what) => (what, true),
        None => (what, false),
    };
    Some(match what {
        "load" => load(c, by_value),
        "store" => store(c, by_value),
        "exchange" => exchange(c, by_value),
        "compare_exchange" => compare_exchange(c, by_value),
        _ => {
            let update = what.strip_prefix("fetch_").unwrap_or(what);
            let (_, op) = UPDATES.iter().find(|(name, _)| *name == update)?;
            fetch(c, *op)
        }
    })
}

/// What the first argument points to, and where, as an atomic takes it.
struct Target {
    pointer: Expr,
    /// As the program has it.
    declared: Type,
    /// A number or a pointer.
    ty: Type,
}

fn target(c: &mut Call<'_>) -> Result<Target, Diagnostic> {
    let declared = c.pointee(0)?;
    let ty = match &declared {
        // A truth value is a byte.
        Type::Scalar(Scalar::Bool) => Type::Scalar(Scalar::U8),
        Type::Scalar(_) | Type::Pointer { .. } => declared.clone(),
        _ => {
            let message = format!("`{}` of something that is no number and no pointer", c.path);
            return Err(c.error("W102", message).help("use an integer of the same size"));
        }
    };
    let pointer = c.args[0].clone();
    let space = match &pointer.ty {
        Type::Pointer { space, .. } => *space,
        _ => Space::Generic,
    };
    let pointer = pointer.cast(Type::pointer(ty.clone(), space));
    let pointer = c.held(pointer);
    Ok(Target { pointer, declared, ty })
}

/// Argument `i` as what memory holds.
fn operand(c: &mut Call<'_>, i: usize, t: &Target, by_value: bool) -> Result<Expr, Diagnostic> {
    let value = match by_value {
        true => c.arg(i, &t.declared)?,
        false => {
            c.pointee(i)?;
            let place = c.cx.place_behind(c.args[i].clone());
            c.cx.convert(Expr::read(place), &t.declared, c.span)?
        }
    };
    let value = value.cast(t.ty.clone());
    Ok(c.held(value))
}

fn scope(c: &mut Call<'_>, i: usize) -> Result<Scope, Diagnostic> {
    if c.args.len() <= i {
        return Ok(Scope::System);
    }
    // Thread and block; cluster and device; system.
    Ok(match c.constant(i)? {
        0 | 1 => Scope::Block,
        2 | 3 => Scope::Device,
        4 => Scope::System,
        n => return Err(c.error("W103", format!("{n} is no scope of threads"))),
    })
}

/// A fence if the order in argument `i` is one of these.
fn fence_if(c: &mut Call<'_>, i: usize, orders: &[i64], scope: Scope) -> Result<(), Diagnostic> {
    let order = c.scalar_arg(i, Scalar::I32)?;
    if let Some(v) = c.cx.fold(&order) {
        if orders.contains(&v.as_i64()) {
            c.emit(StmtKind::Fence(scope));
        }
        return Ok(());
    }
    let order = c.held(order);
    let equal = |n: &i64| Expr::binary(BinaryOp::Eq, order.clone(), Expr::int(Scalar::I32, *n));
    let any = orders.iter().map(equal).reduce(|a, b| Expr::binary(BinaryOp::LogicalOr, a, b));
    let Some(cond) = any else { return Ok(()) };
    let then = Block::new(vec![Stmt::new(StmtKind::Fence(scope), c.span)]);
    c.emit(StmtKind::If { cond, then, otherwise: Block::default() });
    Ok(())
}

/// The operation between the fences of the order in argument `order`.
fn ordered(
    c: &mut Call<'_>,
    t: &Target,
    op: AtomicOp,
    value: Expr,
    compare: Option<Expr>,
    (order, scope): (usize, Scope),
) -> Result<Option<Expr>, Diagnostic> {
    if op != AtomicOp::Load {
        fence_if(c, order, &RELEASING, scope)?;
    }
    let pointer = t.pointer.clone();
    let make = |result| StmtKind::Atomic { op, pointer, value, compare, result, scope };
    if op == AtomicOp::Store {
        c.emit(make(None));
        return Ok(None);
    }
    let old = c.result(t.ty.clone(), |var| make(Some(var)));
    fence_if(c, order, &ACQUIRING, scope)?;
    Ok(Some(old.cast(t.declared.clone())))
}

/// The value by return, or through the pointer in argument 1.
fn give(c: &mut Call<'_>, i: usize, value: Option<Expr>, by_value: bool) -> Lowered {
    match (value, by_value) {
        (Some(value), false) => c.store_through(i, value).map(|()| None),
        (value, _) => Ok(value),
    }
}

fn load(c: &mut Call<'_>, by_value: bool) -> Lowered {
    let order = if by_value { 1 } else { 2 };
    c.arity_between(order + 1, order + 2)?;
    let t = target(c)?;
    let scope = scope(c, order + 1)?;
    let nothing = match &t.ty {
        Type::Scalar(s) if s.is_float() => Expr::int(Scalar::I32, 0).cast(Type::Scalar(*s)),
        Type::Scalar(s) => Expr::int(*s, 0),
        pointer => Expr::int(Scalar::U64, 0).cast(pointer.clone()),
    };
    let value = ordered(c, &t, AtomicOp::Load, nothing, None, (order, scope))?;
    give(c, 1, value, by_value)
}

fn store(c: &mut Call<'_>, by_value: bool) -> Lowered {
    c.arity_between(3, 4)?;
    let t = target(c)?;
    let scope = scope(c, 3)?;
    let value = operand(c, 1, &t, by_value)?;
    ordered(c, &t, AtomicOp::Store, value, None, (2, scope))
}

fn exchange(c: &mut Call<'_>, by_value: bool) -> Lowered {
    let order = if by_value { 2 } else { 3 };
    c.arity_between(order + 1, order + 2)?;
    let t = target(c)?;
    let scope = scope(c, order + 1)?;
    let value = operand(c, 1, &t, by_value)?;
    let old = ordered(c, &t, AtomicOp::Exchange, value, None, (order, scope))?;
    give(c, 2, old, by_value)
}

/// `compare_exchange(p, &expected, desired, weak, success, failure, scope)`. The order of the success is taken for both.
fn compare_exchange(c: &mut Call<'_>, by_value: bool) -> Lowered {
    c.arity_between(6, 7)?;
    let t = target(c)?;
    let scope = scope(c, 6)?;
    let expected = operand(c, 1, &t, false)?;
    let wanted = operand(c, 2, &t, by_value)?;
    let old = ordered(c, &t, AtomicOp::Cas, wanted, Some(expected.clone()), (4, scope))?;
    let Some(old) = old else { return Ok(None) };
    let old = c.held(old);
    let number = |e: Expr| match e.ty {
        Type::Pointer { .. } => e.cast(Type::U64),
        _ => e,
    };
    let same = Expr::binary(BinaryOp::Eq, number(old.clone().cast(t.ty.clone())), number(expected));
    let same = c.held(same);
    // Where they were the same, what was expected has that value already.
    let place: Place = c.cx.place_behind(c.args[1].clone());
    let old = c.cx.convert(old, &place.ty.clone(), c.span)?;
    let update = Stmt::new(StmtKind::Assign { place, value: old }, c.span);
    c.emit(StmtKind::If {
        cond: c.not(same.clone()),
        then: Block::new(vec![update]),
        otherwise: Block::default(),
    });
    Ok(Some(same))
}

fn fetch(c: &mut Call<'_>, op: AtomicOp) -> Lowered {
    c.arity_between(3, 4)?;
    let t = target(c)?;
    let scope = scope(c, 3)?;
    let value = operand(c, 1, &t, true)?;
    let old = ordered(c, &t, op, value, None, (2, scope))?;
    Ok(old.filter(|_| c.name.contains("fetch_")))
}

fn thread_fence(c: &mut Call<'_>) -> Lowered {
    c.arity_between(1, 2)?;
    let scope = scope(c, 1)?;
    fence_if(c, 0, &[1, 2, 3, 4, 5], scope)?;
    Ok(None)
}
