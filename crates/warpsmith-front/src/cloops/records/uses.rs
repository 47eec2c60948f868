//! Which fields of a parameter a function uses, itself and in the functions that it hands the parameter to.

use std::collections::BTreeMap;

use super::super::scan;
use super::super::unit::Unit;
use super::{Held, Slot};
use crate::ast::{
    Expr, ExprKind, FunctionDecl, InlineType, Member, StructDecl, TypeKind, TypeName,
};

/// One `.field` or `->field`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub arrow: bool,
    pub field: String,
}

impl Step {
    pub fn spelled(&self) -> String {
        format!("{}{}", if self.arrow { "->" } else { "." }, self.field)
    }
}

/// From a parameter to a field: `->mesh`, `->x`.
pub type Path = Vec<Step>;

/// A field in use.
#[derive(Clone, Copy, Debug)]
pub struct Use<'u> {
    pub ty: &'u TypeName,
    /// Its value is set, or its address taken.
    pub written: bool,
}

impl Use<'_> {
    pub fn held(&self) -> Held {
        match &self.ty.kind {
            TypeKind::Array { .. } => Held::Array,
            TypeKind::Pointer { .. } => Held::Pointer,
            _ if self.written => Held::Address,
            _ => Held::Value,
        }
    }

    /// The type of the parameter that stands for it.
    pub fn parameter(&self) -> TypeName {
        let ty = TypeName { is_const: false, ..self.ty.clone() };
        if self.held() != Held::Address {
            return ty;
        }
        let span = ty.span;
        let kind = TypeKind::Pointer { to: Box::new(ty), restrict: false };
        TypeName { kind, is_const: false, is_volatile: false, span }
    }
}

type Found<'u> = BTreeMap<Slot, BTreeMap<Path, Use<'u>>>;

/// The fields that a parameter is used for, and those of the parameters that it is handed to; `None` where it is no
/// structure, where something uses it as a whole, and where a pointer in it is set.
pub fn of<'u>(unit: &Unit<'u>, slot: &Slot) -> Option<Found<'u>> {
    let mut found = Found::new();
    collect(unit, slot, &mut found)?;
    Some(found)
}

fn collect<'u>(unit: &Unit<'u>, slot: &Slot, found: &mut Found<'u>) -> Option<()> {
    if found.contains_key(slot) {
        return Some(());
    }
    let f = unit.function(&slot.0)?;
    let param = f.params.get(slot.1)?;
    let name = param.name.as_deref()?;
    structure(unit, behind(&param.ty))?;
    // Recursion is refused later, with a message of its own.
    found.insert(slot.clone(), BTreeMap::new());
    let mut walk =
        Walk { unit, name, ty: &param.ty, uses: BTreeMap::new(), handed: vec![], whole: false };
    for stmt in f.body.iter().flat_map(|b| &b.stmts) {
        scan::for_each_declared(stmt, &mut |n| walk.whole |= n == name);
        scan::for_each_expr(stmt, &mut |e| walk.expr(e, false));
    }
    let Walk { mut uses, handed, whole, .. } = walk;
    if whole {
        return None;
    }
    for callee in handed {
        let other = unit.function(&callee.0)?.params.get(callee.1)?;
        let same = matches!(other.ty.kind, TypeKind::Pointer { .. })
            == matches!(param.ty.kind, TypeKind::Pointer { .. });
        if !same {
            return None;
        }
        collect(unit, &callee, found)?;
        for (path, field) in found.get(&callee).into_iter().flatten() {
            uses.entry(path.clone()).or_insert(*field).written |= field.written;
        }
    }
    if has_conflict(&uses) {
        return None;
    }
    found.insert(slot.clone(), uses);
    Some(())
}

/// A pointer that is set, or something of which a part is used as well while one of both is set.
fn has_conflict(uses: &BTreeMap<Path, Use<'_>>) -> bool {
    uses.iter().any(|(path, u)| {
        let mut wholes = uses.iter().filter(|(p, _)| p.len() < path.len() && path.starts_with(p));
        u.written && u.held() == Held::Pointer
            || wholes.any(|(_, w)| w.written || u.written || w.held() == Held::Pointer)
    })
}

/// The type that a pointer leads to, or the type itself.
fn behind(ty: &TypeName) -> &TypeName {
    match &ty.kind {
        TypeKind::Pointer { to, .. } => to,
        _ => ty,
    }
}

/// The definition of a structure type.
pub fn structure<'u>(unit: &Unit<'u>, ty: &'u TypeName) -> Option<&'u StructDecl> {
    fn known<'u>(unit: &Unit<'u>, name: &str, depth: usize) -> Option<&'u StructDecl> {
        if let Some([only]) = unit.tags.get(name).map(Vec::as_slice) {
            return Some(only);
        }
        let target: &'u TypeName = unit.aliases.get(name)?;
        match &target.kind {
            TypeKind::Inline(inline) => in_place(inline),
            TypeKind::Named(path) if depth < 16 => {
                known(unit, &path.segments.last()?.name, depth + 1)
            }
            _ => None,
        }
    }
    let found = match &ty.kind {
        TypeKind::Named(path) => known(unit, &path.segments.last()?.name, 0),
        TypeKind::Inline(inline) => in_place(inline),
        _ => None,
    };
    found.filter(|s| !s.is_union)
}

fn in_place(inline: &InlineType) -> Option<&StructDecl> {
    match inline {
        InlineType::Struct(s) => Some(s),
        InlineType::Enum(_) => None,
    }
}

/// The type of a field.
fn field<'u>(structure: &'u StructDecl, name: &str) -> Option<&'u TypeName> {
    structure.members.iter().flatten().find_map(|m| match m {
        Member::Field(vars) => {
            vars.declarators.iter().find(|d| d.name == name && d.bits.is_none()).map(|d| &d.ty)
        }
        _ => None,
    })
}

/// Whether a structure, or one inside it, holds a pointer.
pub fn leads_on<'u>(unit: &Unit<'u>, ty: &'u TypeName) -> bool {
    fn within<'u>(unit: &Unit<'u>, ty: &'u TypeName, depth: usize) -> bool {
        let inner = structure(unit, ty).filter(|_| depth < 16);
        let members = inner.and_then(|s| s.members.as_ref()).into_iter().flatten();
        let fields = members.filter_map(|m| match m {
            Member::Field(vars) => Some(&vars.declarators),
            _ => None,
        });
        fields.flatten().any(|d| {
            let mut ty = &d.ty;
            while let TypeKind::Array { element, .. } = &ty.kind {
                ty = element;
            }
            matches!(ty.kind, TypeKind::Pointer { .. }) || within(unit, ty, depth + 1)
        })
    }
    within(unit, behind(ty), 0)
}

/// Calls `f` with the name and the arguments of every call in a function.
pub fn each_call(function: &FunctionDecl, f: &mut dyn FnMut(&str, &[Expr])) {
    fn walk(e: &Expr, f: &mut dyn FnMut(&str, &[Expr])) {
        if let Some((callee, args)) = call(e) {
            f(callee, args);
        }
        scan::for_each_child(e, &mut |c| walk(c, f));
    }
    for stmt in function.body.iter().flat_map(|b| &b.stmts) {
        scan::for_each_expr(stmt, &mut |e| walk(e, f));
    }
}

/// A call by name.
pub fn call(e: &Expr) -> Option<(&str, &[Expr])> {
    let ExprKind::Call { callee, args } = &*e.kind else { return None };
    let ExprKind::Path(path) = &*callee.kind else { return None };
    Some((path.as_name()?, args))
}

/// The name at the root of a chain of fields, and the chain: `p->a.b` and `(*p).a.b`.
pub fn chain(e: &Expr) -> Option<(&str, Path)> {
    match &*e.kind {
        ExprKind::Paren(inner) => chain(inner),
        ExprKind::Path(path) => Some((path.as_name()?, vec![])),
        ExprKind::Member { base, arrow, member } => {
            let (inner, dereferenced) = match pointed(base) {
                Some(pointer) if !arrow => (pointer, true),
                _ => (base, false),
            };
            let (root, mut path) = chain(inner)?;
            path.push(Step { arrow: *arrow || dereferenced, field: member.name.clone() });
            Some((root, path))
        }
        _ => None,
    }
}

/// `p` of `*p` in parentheses.
fn pointed(e: &Expr) -> Option<&Expr> {
    match &*e.kind {
        ExprKind::Paren(inner) => pointed(inner),
        ExprKind::Unary { op, operand } if op == "*" => Some(operand),
        _ => None,
    }
}

struct Walk<'w, 'u> {
    unit: &'w Unit<'u>,
    name: &'w str,
    ty: &'u TypeName,
    uses: BTreeMap<Path, Use<'u>>,
    handed: Vec<Slot>,
    /// It is used in another way than by its fields.
    whole: bool,
}

impl<'u> Walk<'_, 'u> {
    fn expr(&mut self, e: &Expr, written: bool) {
        if let Some((root, path)) = chain(e) {
            if root == self.name {
                self.field(&path, written);
            }
            return;
        }
        if let Some((callee, args)) = call(e) {
            for (at, arg) in args.iter().enumerate() {
                match chain(arg) {
                    Some((root, path)) if root == self.name && path.is_empty() => {
                        self.handed.push((callee.to_string(), at));
                    }
                    _ => self.expr(arg, false),
                }
            }
            return;
        }
        match &*e.kind {
            ExprKind::Assign { target, value, .. } => {
                self.expr(target, true);
                self.expr(value, false);
            }
            ExprKind::AssignList { target, items } => {
                self.expr(target, true);
                scan::for_each_item(items, &mut |e| self.expr(e, false));
            }
            ExprKind::IncDec { operand, .. } => self.expr(operand, true),
            ExprKind::Unary { op, operand } if op == "&" => self.expr(operand, true),
            _ => scan::for_each_child(e, &mut |c| self.expr(c, written && is_paren(e))),
        }
    }

    fn field(&mut self, path: &Path, written: bool) {
        match typed(self.unit, self.ty, path) {
            Some(ty) if !path.is_empty() => {
                self.uses.entry(path.clone()).or_insert(Use { ty, written }).written |= written;
            }
            _ => self.whole = true,
        }
    }
}

fn is_paren(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Paren(_))
}

/// The type of the field at the end of a path.
fn typed<'u>(unit: &Unit<'u>, from: &'u TypeName, path: &Path) -> Option<&'u TypeName> {
    let mut ty = from;
    for step in path {
        let inner = match (&ty.kind, step.arrow) {
            (TypeKind::Pointer { to, .. }, true) => &**to,
            (TypeKind::Pointer { .. }, false) | (_, true) => return None,
            _ => ty,
        };
        ty = plain(unit, field(structure(unit, inner)?, &step.field)?);
    }
    Some(ty)
}

/// The array or pointer that a name stands for; any other type as it is.
pub fn plain<'u>(unit: &Unit<'u>, ty: &'u TypeName) -> &'u TypeName {
    let mut target = ty;
    for _ in 0..16 {
        match &target.kind {
            TypeKind::Array { .. } | TypeKind::Pointer { .. } => return target,
            TypeKind::Named(path) => {
                let alias = path.as_name().and_then(|n| unit.aliases.get(n));
                let Some(next) = alias else { break };
                target = next;
            }
            _ => break,
        }
    }
    ty
}
