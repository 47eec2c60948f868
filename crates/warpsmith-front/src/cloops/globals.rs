//! Variables of the file: constants, `const float filter[3] = {…}`, and what the program around sets, `int nx, ny;`.
//!
//! A variable that may change has no counterpart on a device: the function gets it as one more parameter, behind its own.

use std::collections::{BTreeMap, HashSet};

use warpsmith_ir::{Diagnostic, Global, GlobalId, Scalar, Space, Span, Type, Value, Var, VarKind};

use super::cx::{Binding, Cx, Low};
use super::directives::ArgDefault;
use super::scan;
use super::types::{self, CType};
use super::unit::Unit;
use crate::ast::{Declarator, Expr, FunctionDecl, Initializer, TypeName, VarDecl};

/// Names of variables of the file that the function, or one that it calls, uses, and that are no constants; in the order
/// of the file. Numbers that one of these functions writes are left out, and so is what they call by the name of a
/// parameter.
pub fn parameters<'u>(unit: &Unit<'u>, function: &str) -> Vec<&'u str> {
    let Some(own) = unit.function(function) else { return vec![] };
    let involved: Vec<&FunctionDecl> = unit.involved(function);
    let (mut used, mut written) = (HashSet::new(), HashSet::new());
    for f in involved {
        let Some(body) = &f.body else { continue };
        let mut declared: HashSet<String> =
            f.params.iter().filter_map(|p| p.name.clone()).collect();
        let mut names = HashSet::new();
        for stmt in &body.stmts {
            scan::for_each_declared(stmt, &mut |n| _ = declared.insert(n.to_string()));
            scan::for_each_expr(stmt, &mut |e| {
                scan::for_each_name(e, &mut |n| _ = names.insert(n.to_string()));
            });
        }
        let effects = scan::effects_of(&body.stmts);
        let changed = effects.assigned.into_iter().chain(effects.stored);
        let changed = changed.chain(scan::fields_written(&body.stmts));
        written.extend(changed.filter(|n| !declared.contains(n)));
        used.extend(names.into_iter().filter(|n| !declared.contains(n)));
    }
    let shadowed = |name: &str| own.params.iter().any(|p| p.name.as_deref() == Some(name));
    let found = unit.globals.iter().filter(|(name, (decl, declarator))| {
        used.contains(**name)
            && !shadowed(name)
            && !is_constant(unit, name, decl, declarator)
            && (is_array(&declarator.ty) || !written.contains(**name))
            && can_be_passed(unit, declarator)
    });
    let ordered: BTreeMap<u32, &'u str> =
        found.map(|(name, (_, d))| (d.span.start, *name)).collect();
    ordered.into_values().collect()
}

/// The number that a variable of the file begins with, as a default for its parameter.
pub fn initial(unit: &Unit<'_>, name: &str) -> Option<ArgDefault> {
    let (_, d) = unit.globals.get(name)?;
    let Some(Initializer::Expr(e)) = &d.init else { return None };
    let spec = unit.constant(e)?.to_string();
    Some(ArgDefault { name: name.to_string(), spec, span: d.span })
}

fn is_array(ty: &TypeName) -> bool {
    matches!(&ty.kind, crate::ast::TypeKind::Array { .. })
}

/// Numbers, structures, and arrays that say how long they are.
fn can_be_passed<'u>(unit: &Unit<'u>, d: &'u Declarator) -> bool {
    match types::read(unit, &d.ty, false) {
        Ok(CType::Scalar(_) | CType::Struct(_)) => true,
        Ok(CType::Array { extents, .. }) => extents.iter().all(Option::is_some),
        _ => false,
    }
}

/// What is private to the file and never written there is as constant as if it said so, where it has a value.
fn is_constant(unit: &Unit<'_>, name: &str, decl: &VarDecl, d: &Declarator) -> bool {
    let untouched = decl.attrs.is_static && d.init.is_some() && !unit.writes(name);
    is_const(&d.ty) || decl.attrs.is_constexpr || untouched
}

/// Adds the parameter for a variable of the file.
///
/// # Errors
/// W144 and W149 where its type cannot be a parameter's.
pub fn add_parameter(cx: &mut Cx<'_>, name: &str) -> Low<()> {
    let Some(&(_, declarator)) = cx.unit.globals.get(name) else { return Ok(()) };
    let ty = cx.read_type(&declarator.ty, false)?;
    let (ty, extents) = match ty {
        CType::Array { element, extents, .. } => {
            let pointee = std::sync::Arc::new(element);
            let pointer =
                Type::Pointer { pointee, space: Space::Global, volatile: false, readonly: false };
            (pointer, extents)
        }
        other => (other.value().unwrap_or(Type::I32), vec![]),
    };
    let mut var = Var::new(name, ty, VarKind::Param);
    var.origin = declarator.span.into();
    let id = cx.function.add_param(var);
    cx.outside.insert(name.to_string(), id);
    if extents.is_empty() { Ok(()) } else { cx.extents(id, name, &extents) }
}

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
    if let Some(id) = cx.outside.get(name) {
        return Ok(Binding::Var(*id));
    }
    if !is_constant(cx.unit, name, decl, declarator) {
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
    match folded.and_then(|v| v.convert(to)) {
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
        ExprKind::Cast(a) => return fold_real(cx, a)?.convert(ty),
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
