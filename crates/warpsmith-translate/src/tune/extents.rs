//! How many elements an array parameter has at given sizes.

use std::collections::BTreeMap;
use std::path::Path;

use warpsmith_front::cloops::CInput;
use warpsmith_ir::eval::from_bytes;
use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    BinaryOp, Diagnostic, Expr, ExprKind, Function, MathFn, Module, Place, PlaceKind, Scalar, Type,
    UnaryOp, Var, VarId,
};
use warpsmith_opt::analysis::extents::{self as analysis, Open, without_extents};

use super::sizes::{self, Point};
use crate::data::{self, ArgSpec, Init, NamedSpec};
use crate::status::Failure;

/// Gives arrays whose extents neither the source nor the accesses tell those of the data given for them. Other callers
/// may have other arrays: nothing tells how many elements these have.
///
/// # Errors
/// W306: a file that cannot be read, or extents that are no numbers.
pub fn take_given(input: &mut CInput, specs: &[NamedSpec]) -> Result<(), Failure> {
    let function = &mut input.module.functions[input.function.0 as usize];
    let open: Vec<_> = without_extents(function).collect();
    for array in open {
        let var = &mut function.vars[array.0 as usize];
        let spec = specs.iter().find(|s| s.name == var.name).map(|s| &s.spec);
        let shape = match spec {
            Some(ArgSpec::Init(Init::File(path))) => {
                let held = data::read_npy(Path::new(path));
                let held = held.map_err(|why| Failure::input("W306", why))?;
                vec![held.bytes.len() as u64 / u64::from(held.ty.bytes())]
            }
            Some(ArgSpec::Array { dims, .. }) => {
                let numbers: Result<Vec<u64>, _> = dims.iter().map(|d| d.parse()).collect();
                numbers.map_err(|_| {
                    let why = format!("the extents of `{}` must be numbers", var.name);
                    Failure::input("W306", why)
                })?
            }
            _ => continue,
        };
        // The accesses are flat: so is the array.
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        let count = count.and_then(|n| i64::try_from(n).ok());
        let count = count.ok_or_else(|| {
            Failure::input("W306", format!("the size of `{}` overflows", var.name))
        })?;
        let ty = if i32::try_from(count).is_ok() { Scalar::I32 } else { Scalar::I64 };
        var.shape = Some(vec![Expr::int(ty, count)]);
        let given = format!("`{}` has {count} elements or more, as it was given", var.name);
        input.assumed.push(given);
        input.uncounted = true;
    }
    Ok(())
}

/// The greatest elements of the arrays of integers that are read from files, by their names.
///
/// # Errors
/// W306: a file that cannot be read.
fn greatest(specs: &[NamedSpec]) -> Result<BTreeMap<String, i128>, Failure> {
    let mut found = BTreeMap::new();
    for spec in specs {
        let ArgSpec::Init(Init::File(path)) = &spec.spec else { continue };
        let held = data::read_npy(Path::new(path)).map_err(|why| Failure::input("W306", why))?;
        if held.ty.is_integer() {
            let size = held.ty.bytes() as usize;
            let elements = held.bytes.chunks_exact(size).filter_map(|b| from_bytes(held.ty, b));
            let greatest = elements.map(|v| v.as_i64().into()).max();
            found.extend(greatest.map(|n| (spec.name.clone(), n)));
        }
    }
    Ok(found)
}

/// Gives arrays whose subscripts data decide extents, and says what they rest on.
///
/// # Errors
/// W306: a file of an argument that cannot be read.
pub fn assume(input: &mut CInput, specs: &[NamedSpec]) -> Result<(), Failure> {
    let assumed = analysis::assume(&mut input.module, input.function, &greatest(specs)?);
    let function = input.module.function(input.function);
    let name_of = |v: VarId| function.var(v).name.clone();
    let name = |array: &VarId| name_of(*array);
    let own = function.params.len() - input.globals;
    let outside: Vec<String> =
        function.params[own..].iter().map(|p| format!("`{}`", name(p))).collect();
    let around = (!outside.is_empty()).then(|| {
        let names = outside.join(", ");
        format!("variables of the C file are parameters of launcher and host function, behind its own: {names}")
    });
    let inside = assumed.inside.iter().map(|a| {
        let name = name(a);
        format!("where data decide which element of `{name}` is touched, it is one of these")
    });
    let uncounted = assumed.uncounted.iter().map(|a| {
        let shape = function.var(*a).shape.iter().flatten();
        let count =
            shape.map(Poly::from_expr).reduce(|a, b| a?.mul(&b?)).flatten().unwrap_or_default();
        format!(
            "`{}` has the elements that data choose; how many that are, nothing tells. It was run with {}",
            name(a),
            count.display(&name_of)
        )
    });
    let more: Vec<String> = around.into_iter().chain(inside).chain(uncounted).collect();
    input.assumed.extend(more);
    input.uncounted |= !assumed.uncounted.is_empty();
    Ok(())
}

/// The question for the extents of an array, with what may answer it.
pub fn unknown(function: &Function, open: &Open) -> Diagnostic {
    let var = function.var(open.array);
    let name = &var.name;
    let mut d = Diagnostic::error("W154", format!("how many elements does `{name}` have?"));
    if let Some(span) = open.access {
        d = d.label(span, open.reason.clone());
    }
    if let Some(span) = var.origin.span {
        d = d.label(span, "no extents are declared");
    }
    let element = var.ty.pointee().and_then(|t| t.scalar()).map_or("float", data::scalar_name);
    d.help(format!(
        "write `#pragma ws bounds({name}: n)` before the function, or give the array: `--arg {name}=@{name}.npy`, `--arg '{name}={element}[4096]'`"
    ))
}

/// The product of the declared extents; `None` when none are declared.
///
/// # Errors
/// A sentence when an extent needs something else than the sizes, is negative, or the product overflows.
pub fn elements(
    module: &Module,
    function: &Function,
    var: &Var,
    point: &Point,
) -> Result<Option<u64>, String> {
    let Some(shape) = extents(module, function, var, point)? else { return Ok(None) };
    let product = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
    product.map(Some).ok_or_else(|| format!("the size of `{}` overflows", var.name))
}

/// The declared extents, outermost first.
///
/// # Errors
/// As [`elements`].
pub fn extents(
    module: &Module,
    function: &Function,
    var: &Var,
    point: &Point,
) -> Result<Option<Vec<u64>>, String> {
    let Some(shape) = &var.shape else { return Ok(None) };
    let mut extents = vec![];
    for extent in shape {
        let value = evaluate(module, function, extent, point).map_err(|why| match why {
            NoValue::Unknown => {
                format!("an extent of `{}` depends on more than the sizes", var.name)
            }
            NoValue::Undefined => undefined_extent(var),
        })?;
        extents.push(extent_of(value, &extent.ty).map_err(|_| undefined_extent(var))?);
    }
    Ok(Some(extents))
}

/// The elements that a value stands for. A negative extent is undefined in C; no launch has it, and an empty array stands for it. Of
/// an unsigned one of 64 bits that wraps around no array has as many.
fn extent_of(value: i64, ty: &Type) -> Result<u64, NoValue> {
    match ty.scalar() {
        Some(Scalar::U64) => u64::try_from(value).map_err(|_| NoValue::Undefined),
        _ => Ok(in_type(ty, value).max(0) as u64),
    }
}

/// What a difference is in its type: an unsigned one of 32 bits wraps around.
fn in_type(ty: &Type, value: i64) -> i64 {
    match ty.scalar() {
        Some(Scalar::U32) if value < 0 => value & i64::from(u32::MAX),
        _ => value,
    }
}

/// Why an extent has no value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoValue {
    /// It is made of something that has none.
    Unknown,
    /// No C program may compute it.
    Undefined,
}

fn undefined_extent(var: &Var) -> String {
    format!("an extent of `{}` divides by zero, shifts too far or overflows", var.name)
}

/// The value of an integer expression over parameters.
fn evaluate(
    module: &Module,
    function: &Function,
    expr: &Expr,
    point: &Point,
) -> Result<i64, NoValue> {
    let at = |place: &Place| match &*place.kind {
        PlaceKind::Var(id) => point.get(&function.var(*id).name).copied(),
        PlaceKind::Field(..) => point.get(&sizes::field_name(module, function, place)?).copied(),
        _ => None,
    };
    let known = |value: Option<i64>| value.ok_or(NoValue::Unknown);
    let defined = |value: Option<i64>| value.ok_or(NoValue::Undefined);
    match &*expr.kind {
        ExprKind::Const(v) => Ok(v.as_i64()),
        ExprKind::Named(id) => known(module.constants.get(id.0 as usize).map(|c| c.value.as_i64())),
        ExprKind::Read(place) => known(at(place)),
        ExprKind::Cast(inner) if expr.ty.is_integer() => evaluate(module, function, inner, point),
        ExprKind::Unary(UnaryOp::Neg, inner) => {
            defined(evaluate(module, function, inner, point)?.checked_neg())
        }
        ExprKind::Call(f @ (MathFn::Min | MathFn::Max), args) => {
            let values = args.iter().map(|a| evaluate(module, function, a, point));
            let values: Vec<i64> = values.collect::<Result<_, _>>()?;
            let smallest = *f == MathFn::Min;
            known(values.into_iter().reduce(|a, b| if smallest { a.min(b) } else { a.max(b) }))
        }
        ExprKind::Binary(op, a, b) => {
            let (a, b) =
                (evaluate(module, function, a, point)?, evaluate(module, function, b, point)?);
            let bits = expr.ty.scalar().map_or(64, |s| 8 * s.bytes() - u32::from(s.is_signed()));
            let by = u32::try_from(b).ok().filter(|b| *b < bits.min(63));
            defined(match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                BinaryOp::Div => in_type(&expr.ty, a).checked_div(in_type(&expr.ty, b)),
                BinaryOp::Rem => in_type(&expr.ty, a).checked_rem(in_type(&expr.ty, b)),
                BinaryOp::Shl => by
                    .and_then(|b| a.checked_mul(1i64 << b))
                    .filter(|v| bits > 62 || *v < 1i64 << bits),
                BinaryOp::Shr => by.map(|b| in_type(&expr.ty, a) >> b),
                _ => return Err(NoValue::Unknown),
            })
        }
        _ => Err(NoValue::Unknown),
    }
}

/// Why an array has no extent at a point because no C program could compute it there; `None` where all have one.
pub fn undefined(module: &Module, function: &Function, point: &Point) -> Option<String> {
    let arrays = function.params.iter().map(|p| function.var(*p)).filter(|v| v.ty.is_pointer());
    let first = |var: &Var| {
        var.shape.iter().flatten().find_map(|e| {
            let value = evaluate(module, function, e, point);
            value.and_then(|v| extent_of(v, &e.ty)).err()
        })
    };
    let mut without = arrays.filter(|var| first(var) == Some(NoValue::Undefined));
    without.next().map(undefined_extent)
}

/// The elements of all array parameters together; `None` when an extent has no value or the sum overflows.
pub fn total_elements(module: &Module, function: &Function, point: &Point) -> Option<u64> {
    let vars = function.params.iter().map(|p| function.var(*p));
    vars.filter(|v| v.ty.is_pointer()).try_fold(0u64, |sum, var| {
        sum.checked_add(elements(module, function, var, point).ok()?.unwrap_or(1))
    })
}
