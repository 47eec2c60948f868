//! Atomic functions: `atomicAdd` and its kin, with `_block` and `_system`.

use warpsmith_ir::{
    AtomicOp, Expr, ExprKind, Place, PlaceKind, Scalar, Scope, Space, StmtKind, Type,
};

use super::call::{Call, Lowered};

use Scalar::{BF16, F16, F32, F64, I32, I64, U16, U32, U64};

/// Names, operations, and the types CUDA has them for.
const TABLE: &[(&str, AtomicOp, &[Scalar])] = &[
    ("atomicAdd", AtomicOp::Add, &[I32, U32, U64, F32, F64, F16, BF16]),
    ("atomicSub", AtomicOp::Sub, &[I32, U32]),
    ("atomicExch", AtomicOp::Exchange, &[I32, U32, U64, F32]),
    ("atomicMin", AtomicOp::Min, &[I32, U32, I64, U64]),
    ("atomicMax", AtomicOp::Max, &[I32, U32, I64, U64]),
    ("atomicInc", AtomicOp::Inc, &[U32]),
    ("atomicDec", AtomicOp::Dec, &[U32]),
    ("atomicCAS", AtomicOp::Cas, &[I32, U32, U64, U16]),
    ("atomicAnd", AtomicOp::And, &[I32, U32, I64, U64]),
    ("atomicOr", AtomicOp::Or, &[I32, U32, I64, U64]),
    ("atomicXor", AtomicOp::Xor, &[I32, U32, I64, U64]),
];

pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(n, ..)| *n)
}

type Row = (&'static str, AtomicOp, &'static [Scalar]);

fn row(name: &str) -> Option<(&'static Row, Scope)> {
    let (base, scope) = if let Some(base) = name.strip_suffix("_block") {
        (base, Scope::Block)
    } else if let Some(base) = name.strip_suffix("_system") {
        (base, Scope::System)
    } else {
        (name, Scope::Device)
    };
    TABLE.iter().find(|(n, ..)| *n == base).map(|row| (row, scope))
}

/// The parameters of an atomic function for arguments of these types: the memory decides on the numbers.
pub fn parameters(name: &str, args: &[Type]) -> Option<Vec<Type>> {
    let ((_, op, types), _) = row(name)?;
    let (first, numbers) = args.split_first()?;
    let Type::Pointer { pointee, readonly: false, .. } = first else { return None };
    let known = pointee.scalar().is_some_and(|s| types.contains(&s));
    let count = if *op == AtomicOp::Cas { 2 } else { 1 };
    if !known || numbers.len() != count {
        return None;
    }
    let mut params = vec![first.clone()];
    params.resize(1 + count, (**pointee).clone());
    Some(params)
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    let ((_, op, types), scope) = row(c.name)?;
    Some(atomic(c, *op, types, scope))
}

fn atomic(c: &mut Call<'_>, op: AtomicOp, types: &[Scalar], scope: Scope) -> Lowered {
    let cas = op == AtomicOp::Cas;
    c.arity(if cas { 3 } else { 2 })?;
    let pointee = c.pointee(0)?;
    let scalar = match pointee {
        Type::Scalar(s) if types.contains(&s) => s,
        Type::Vector(s, n) if op == AtomicOp::Add && is_added_by_parts(s, n) => {
            return packed_add(c, s, n, scope);
        }
        _ => return Err(wrong_pointee(c, types)),
    };
    let compare = if cas { Some(c.scalar_arg(1, scalar)?) } else { None };
    let value = c.scalar_arg(if cas { 2 } else { 1 }, scalar)?;
    let pointer = c.args[0].clone();
    Ok(Some(c.result(Type::Scalar(scalar), |var| StmtKind::Atomic {
        op,
        pointer,
        value,
        compare,
        result: Some(var),
        scope,
    })))
}

fn wrong_pointee(c: &Call<'_>, types: &[Scalar]) -> warpsmith_ir::Diagnostic {
    let known: Vec<&str> = types.iter().map(|s| cuda_name(*s)).collect();
    let d = c.error("W102", format!("`{}` does not exist for what this pointer points to", c.path));
    d.help(format!("it exists for {}", known.join(", ")))
}

fn cuda_name(s: Scalar) -> &'static str {
    match s {
        I32 => "int",
        U32 => "unsigned int",
        I64 => "long long",
        U64 => "unsigned long long",
        F32 => "float",
        F64 => "double",
        F16 => "half and half2",
        BF16 => "bfloat16",
        U16 => "unsigned short",
        _ => "other types",
    }
}

/// `half2`, `__nv_bfloat162`, and `float2` and `float4` of compute capability 9.0.
fn is_added_by_parts(scalar: Scalar, parts: u8) -> bool {
    matches!((scalar, parts), (F16 | BF16 | F32, 2) | (F32, 4))
}

/// CUDA guarantees atomicity of each component of a packed value, not of all together.
fn packed_add(c: &mut Call<'_>, scalar: Scalar, parts: u8, scope: Scope) -> Lowered {
    let pair = c.arg(1, &Type::Vector(scalar, parts))?;
    let pair = c.held(pair);
    let pointer = c.args[0].clone();
    let pointer = c.held(pointer);
    let space = match &pointer.ty {
        Type::Pointer { space, .. } => *space,
        _ => Space::Generic,
    };
    let whole = c.cx.place_behind(pointer);
    let mut old = vec![];
    for i in 0..parts {
        let part = Place::new(PlaceKind::Component(whole.clone(), i), Type::Scalar(scalar), c.span);
        let pointer = Expr::new(
            ExprKind::AddressOf(part),
            Type::pointer(Type::Scalar(scalar), space),
            c.span,
        );
        let value = c.member(pair.clone(), i.into(), Type::Scalar(scalar));
        old.push(c.result(Type::Scalar(scalar), |var| StmtKind::Atomic {
            op: AtomicOp::Add,
            pointer,
            value,
            compare: None,
            result: Some(var),
            scope,
        }));
    }
    Ok(Some(c.make(old, Type::Vector(scalar, parts))))
}
