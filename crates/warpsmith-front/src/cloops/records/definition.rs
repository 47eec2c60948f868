//! A structure of the same layout, for code that cannot include the user's file.

use warpsmith_ir::Scalar;

use super::super::types;
use super::super::unit::Unit;
use super::uses::{Path, Step, plain, structure};
use crate::ast::{Member, TypeKind, TypeName, VarDecl};

/// Structures inside structures are followed this far.
const MAX_DEPTH: usize = 16;

/// `struct {\n    double *x;\n    int n;\n}` with every field of a structure; the pointers on these paths lead to
/// structures. `None` where a field has a type that cannot be said, or a layout of its own.
pub fn of<'u, 'p>(
    unit: &Unit<'u>,
    ty: &'u TypeName,
    paths: impl Iterator<Item = &'p Path>,
) -> Option<String> {
    let paths: Vec<&[Step]> = paths.map(Vec::as_slice).collect();
    body(unit, ty, &paths, 0)
}

fn body<'u>(unit: &Unit<'u>, ty: &'u TypeName, paths: &[&[Step]], depth: usize) -> Option<String> {
    let s = structure(unit, ty).filter(|s| s.align.is_none() && depth < MAX_DEPTH)?;
    if unit.packed.is_some() || s.members.as_ref().is_none_or(|m| m.is_empty()) {
        return None;
    }
    let mut text = String::from("struct {\n");
    for member in s.members.iter().flatten() {
        let Member::Field(vars) = member else { return None };
        for line in fields(unit, vars, paths, depth)? {
            text += &format!("{}{line};\n", "    ".repeat(depth + 1));
        }
    }
    Some(text + &"    ".repeat(depth) + "}")
}

fn fields<'u>(
    unit: &Unit<'u>,
    vars: &'u VarDecl,
    paths: &[&[Step]],
    depth: usize,
) -> Option<Vec<String>> {
    if vars.attrs.align.is_some() {
        return None;
    }
    let lines = vars.declarators.iter().map(|d| {
        let below: Vec<&[Step]> =
            paths.iter().filter(|p| p.len() > 1 && p[0].field == d.name).map(|p| &p[1..]).collect();
        let named = !d.name.is_empty() && d.bits.is_none();
        if named { declared(unit, &d.ty, &d.name, &below, depth) } else { None }
    });
    lines.collect()
}

/// `double *x`.
fn declared<'u>(
    unit: &Unit<'u>,
    ty: &'u TypeName,
    name: &str,
    below: &[&[Step]],
    depth: usize,
) -> Option<String> {
    let ty = plain(unit, ty);
    match &ty.kind {
        TypeKind::Array { element, extent } => {
            let extent = unit.constant(extent.as_ref()?).filter(|n| *n > 0)?;
            declared(unit, element, &format!("{name}[{extent}]"), below, depth)
        }
        TypeKind::Pointer { to, .. } if below.iter().any(|p| p[0].arrow) => {
            Some(format!("{} *{name}", body(unit, to, below, depth + 1)?))
        }
        TypeKind::Pointer { .. } => Some(format!("void *{name}")),
        _ => match scalar(unit, ty) {
            Some(scalar) => Some(format!("{scalar} {name}")),
            None => Some(format!("{} {name}", body(unit, ty, below, depth + 1)?)),
        },
    }
}

/// C's name of a number's type, through the names that the file gives it.
fn scalar(unit: &Unit<'_>, ty: &TypeName) -> Option<String> {
    let mut ty = ty;
    for _ in 0..MAX_DEPTH {
        match &ty.kind {
            TypeKind::Builtin(words) => return Some(words.join(" ")),
            TypeKind::Named(path) => {
                let name = &path.segments.last()?.name;
                if let Some(known) = types::library_type(name) {
                    let standard = types::standard_name(name).map(str::to_string);
                    return standard.or((known == Scalar::Bool).then(|| "bool".to_string()));
                }
                if unit.enums.contains(name.as_str()) {
                    return Some("int".to_string());
                }
                ty = unit.aliases.get(name.as_str())?;
            }
            _ => return None,
        }
    }
    None
}
