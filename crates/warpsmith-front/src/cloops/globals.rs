//! Constants of the file: `const float filter[3] = {…}` and `static const int radius = 2;`.

use warpsmith_ir::{Diagnostic, Global, GlobalId, Scalar, Space, Span, Type, Value};

use super::cx::{Binding, Cx, Low, convert_const};
use super::types::CType;
use crate::ast::{Declarator, Expr, Initializer, TypeName};

/// The largest constant array, in bytes: constant memory of every device.
const MAX_BYTES: u64 = 64 << 10;

/// What a variable declared outside functions means.
///
/// # Errors
/// W146 when it is not constant or its value is not known.
pub fn bind(cx: &mut Cx<'_>, name: &str) -> Low<Binding> {
    let Some(&(decl, declarator)) = cx.unit.globals.get(name) else {
        return Err(super::cx::Reported);
    };
    // What is private to the file and never written there is as constant as if it said so.
    let untouched = decl.attrs.is_static && !cx.unit.writes(name);
    if !is_const(&declarator.ty) && !decl.attrs.is_constexpr && !untouched {
        let d = Diagnostic::error("W146", format!("`{name}` is a variable outside the function"))
            .label(declarator.span, "not `const`");
        return Err(cx.fail(d.help("pass it as a parameter, or declare it `const` with its value")));
    }
    let ty = cx.read_type(&declarator.ty, false)?;
    match ty {
        CType::Scalar(scalar) => {
            let value = match &declarator.init {
                Some(Initializer::Expr(e)) => constant(cx, e, scalar)?,
                _ => return Err(no_value(cx, declarator.span)),
            };
            Ok(Binding::Const(cx.named_const(name, value)))
        }
        CType::Array { element, extents, .. } => {
            table(cx, declarator, &element, &extents).map(Binding::Global)
        }
        CType::Struct(id) => structure(cx, declarator, &Type::Struct(id)).map(Binding::Global),
        CType::Pointer { .. } | CType::Void => {
            let d =
                Diagnostic::error("W146", format!("`{name}` is a pointer outside the function"))
                    .label(declarator.span, "declared here");
            Err(cx.fail(d.help("pass the array as a parameter")))
        }
    }
}

pub fn is_const(ty: &TypeName) -> bool {
    match &ty.kind {
        crate::ast::TypeKind::Array { element, .. } => ty.is_const || is_const(element),
        _ => ty.is_const,
    }
}

fn no_value(cx: &mut Cx<'_>, span: Span) -> super::cx::Reported {
    let d = Diagnostic::error("W146", "the value of this constant is not known")
        .label(span, "no constant value");
    cx.fail(d.help("give it a value that the compiler can work out"))
}

/// The value of a constant expression as a number of type `to`. Real arithmetic is done in double precision, as C does
/// for double operands.
fn constant(cx: &mut Cx<'_>, e: &Expr, to: Scalar) -> Low<Value> {
    let (value, _) = cx.collect(|cx| cx.scalar(e));
    let value = value?;
    let folded = cx.fold(&value).or_else(|| fold_real(cx, &value));
    match folded.and_then(|v| convert_const(v, to)) {
        Some(v) => Ok(v),
        None => Err(no_value(cx, e.span)),
    }
}

/// Arithmetic of real constants, rounded at every step to the type of the operation.
pub fn fold_real(cx: &Cx<'_>, e: &warpsmith_ir::Expr) -> Option<Value> {
    use warpsmith_ir::{BinaryOp, ExprKind, UnaryOp};
    if let Some(v) = cx.fold(e) {
        return Some(v);
    }
    let ty = e.ty.scalar()?;
    let value = match &*e.kind {
        ExprKind::Cast(a) => return convert_const(fold_real(cx, a)?, ty),
        ExprKind::Unary(UnaryOp::Neg, a) => -fold_real(cx, a)?.as_f64(),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (fold_real(cx, a)?.as_f64(), fold_real(cx, b)?.as_f64());
            match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div => a / b,
                _ => return None,
            }
        }
        _ => return None,
    };
    // Double holds twice the digits of single plus two, so rounding its result once more is the single result.
    ty.is_float().then(|| Value::float(ty, value))
}

/// A constant array in constant memory. Functions may have tables of the same name with other contents: the second one
/// gets a name of its own.
///
/// # Errors
/// W146 and W149 when values are not known or do not fit.
pub fn table(
    cx: &mut Cx<'_>,
    d: &Declarator,
    element: &Type,
    extents: &[Option<&Expr>],
) -> Low<GlobalId> {
    let Some(Initializer::List(items, _)) = &d.init else { return Err(no_value(cx, d.span)) };
    let mut lengths = vec![];
    for extent in extents {
        lengths.push(match extent {
            Some(e) => cx.array_length(e)?,
            None => items.len() as u64,
        });
    }
    let size = warpsmith_ir::layout::layout_of(cx.module, element).size;
    let total = lengths.iter().try_fold(size, |a, b| a.checked_mul(*b));
    if total.is_none_or(|t| t > MAX_BYTES) {
        let message = format!("the constant array `{}` is larger than 64 KiB", d.name);
        let e = Diagnostic::error("W149", message).label(d.span, "declared here");
        return Err(cx.fail(e.help("pass it as a parameter")));
    }
    let ty = lengths.iter().rev().fold(element.clone(), |t, n| Type::array(t, *n));
    structure(cx, d, &ty)
}

/// A constant of several parts, in constant memory.
fn structure(cx: &mut Cx<'_>, d: &Declarator, ty: &Type) -> Low<GlobalId> {
    let Some(Initializer::List(items, _)) = &d.init else { return Err(no_value(cx, d.span)) };
    let messages = cx.diagnostics.len();
    let (value, _) = cx.collect(|cx| cx.list_value(items, ty, d.span));
    let value = value?;
    let mut init = vec![0u8; warpsmith_ir::layout::layout_of(cx.module, ty).size as usize];
    if cx.diagnostics.len() > messages {
        return Err(super::cx::Reported);
    }
    if let Err(span) = cx.constant_bytes(&value, &mut init, 0) {
        return Err(no_value(cx, span.unwrap_or(d.span)));
    }
    let (ty, init) = (ty.clone(), Some(init));
    let globals = &mut cx.module.globals;
    if let Some(at) = globals.iter().position(|g| g.origin.span == Some(d.span)) {
        return Ok(GlobalId(at as u32));
    }
    let mut name = d.name.clone();
    let mut number = 2;
    while globals.iter().any(|g| g.name == name) {
        name = format!("{}_{number}", d.name);
        number += 1;
    }
    globals.push(Global { name, ty, space: Space::Constant, init, origin: d.span.into() });
    Ok(GlobalId(globals.len() as u32 - 1))
}
