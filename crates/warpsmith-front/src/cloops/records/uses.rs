//! Which fields of a parameter a function uses, itself and in the functions that it hands the parameter to.

use std::collections::BTreeMap;

use warpsmith_ir::Span;

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

    /// The function makes a pointer lead to another array: of a parameter that stands for it, a caller would not know.
    fn sets_pointer(&self) -> bool {
        self.written && self.held() == Held::Pointer
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

/// Why the fields of a parameter cannot stand for it.
#[derive(Clone, Copy, Debug)]
pub enum Whole {
    /// It is no structure, or nothing that has a name.
    Other,
    /// Something here uses more of it than its fields.
    Here(Span),
}

/// The fields that a parameter is used for, and those of the parameters that it is handed to.
///
/// # Errors
/// Where it is no structure, and where something uses it as a whole.
pub fn of<'u>(unit: &Unit<'u>, slot: &Slot) -> Result<Found<'u>, Whole> {
    let mut found = Found::new();
    collect(unit, slot, &mut found)?;
    Ok(found)
}

fn collect<'u>(unit: &Unit<'u>, slot: &Slot, found: &mut Found<'u>) -> Result<(), Whole> {
    if found.contains_key(slot) {
        return Ok(());
    }
    let f = unit.function(&slot.0).ok_or(Whole::Other)?;
    let param = f.params.get(slot.1).ok_or(Whole::Other)?;
    let name = param.name.as_deref().ok_or(Whole::Other)?;
    structure(unit, behind(unit, &param.ty)).ok_or(Whole::Other)?;
    // Recursion is refused later, with a message of its own.
    found.insert(slot.clone(), BTreeMap::new());
    let mut walk =
        Walk { unit, name, ty: &param.ty, uses: BTreeMap::new(), handed: vec![], whole: None };
    for stmt in f.body.iter().flat_map(|b| &b.stmts) {
        scan::for_each_declared(stmt, &mut |n| {
            if n == name {
                walk.whole.get_or_insert(stmt.span);
            }
        });
        scan::for_each_expr(stmt, &mut |e| walk.expr(e, false));
    }
    for handed in std::mem::take(&mut walk.handed) {
        let mut with = found.clone();
        let known = collect(unit, &handed.slot, &mut with);
        let sets_pointers =
            with.get(&handed.slot).into_iter().flatten().find(|(_, u)| u.sets_pointer());
        if sets_pointers.is_some() {
            return Err(Whole::Here(handed.span));
        }
        match (known, walk.beyond(&handed, &with)) {
            (Ok(()), Some(uses)) => {
                *found = with;
                for (path, field) in uses {
                    walk.uses.entry(path).or_insert(field).written |= field.written;
                }
            }
            // An array of structures among the fields.
            _ if handed.level == 0 && !handed.path.is_empty() => {
                walk.field(&handed.path, false, handed.span);
            }
            (Err(Whole::Here(at)), _) => return Err(Whole::Here(at)),
            _ => return Err(Whole::Here(handed.span)),
        }
    }
    if let Some(at) = walk.whole {
        return Err(Whole::Here(at));
    }
    if has_conflict(&walk.uses) {
        return Err(Whole::Here(param.span));
    }
    // Of what is used as a whole, no part is given beside it.
    let wholes: Vec<Path> = walk.uses.keys().cloned().collect();
    let inside = |p: &Path| wholes.iter().any(|w| w.len() < p.len() && p.starts_with(w));
    walk.uses.retain(|p, _| !inside(p));
    found.insert(slot.clone(), walk.uses);
    Ok(())
}

/// Something of which a part is used as well while one of both is set.
fn has_conflict(uses: &BTreeMap<Path, Use<'_>>) -> bool {
    uses.iter().any(|(path, u)| {
        let mut wholes = uses.iter().filter(|(p, _)| p.len() < path.len() && path.starts_with(p));
        wholes.any(|(_, w)| w.written || u.written || w.held() == Held::Pointer)
    })
}

/// The type that a pointer leads to, or the type itself.
pub fn behind<'t, 'u: 't>(unit: &Unit<'u>, ty: &'t TypeName) -> &'t TypeName {
    match &plain(unit, ty).kind {
        TypeKind::Pointer { to, .. } => to,
        TypeKind::Array { element, .. } => element,
        _ => ty,
    }
}

/// Whether a parameter of the type holds an address.
pub fn is_address(unit: &Unit<'_>, ty: &TypeName) -> bool {
    matches!(plain(unit, ty).kind, TypeKind::Pointer { .. } | TypeKind::Array { .. })
}

/// The definition of a structure type.
pub fn structure<'t, 'u: 't>(unit: &Unit<'u>, ty: &'t TypeName) -> Option<&'t StructDecl> {
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

/// The name of a structure that is defined in place.
pub fn tag(inline: &InlineType) -> Option<&str> {
    in_place(inline)?.name.as_deref()
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
            matches!(plain(unit, ty).kind, TypeKind::Pointer { .. }) || within(unit, ty, depth + 1)
        })
    }
    within(unit, behind(unit, ty), 0)
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

/// What an expression of names and fields is: a place behind a variable, its address, or what it points to.
pub struct Given<'e> {
    pub root: &'e str,
    pub path: Path,
    /// 1 for the address of the place, -1 for what it points to.
    pub level: i8,
}

impl Given<'_> {
    /// A field of the structure, or of that to which the value points; `None` where it is neither.
    fn step(mut self, arrow: bool, field: &str) -> Option<Self> {
        let arrow = match i8::from(arrow) - self.level {
            0 => false,
            1 => true,
            _ => return None,
        };
        self.path.push(Step { arrow, field: field.to_string() });
        self.level = 0;
        Some(self)
    }

    /// The path in the caller to what is at a path behind the parameter that gets this.
    pub fn then(&self, inner: &Path) -> Option<Path> {
        let (first, rest) = inner.split_first()?;
        let own = Given { root: self.root, path: self.path.clone(), level: self.level };
        let mut path = own.step(first.arrow, &first.field)?.path;
        path.extend(rest.iter().cloned());
        Some(path)
    }
}

/// `p->a.b`, `(*p).a.b`, `p[0].a.b` and `(&p->a)->b`.
pub fn given(e: &Expr) -> Option<Given<'_>> {
    let other_level = |inner: &'_ Expr, by: i8| -> Option<i8> {
        let level = given(inner)?.level + by;
        (-1..=1).contains(&level).then_some(level)
    };
    match &*e.kind {
        ExprKind::Paren(inner) => given(inner),
        ExprKind::Path(path) => Some(Given { root: path.as_name()?, path: vec![], level: 0 }),
        ExprKind::Unary { op, operand } if op == "&" => {
            Some(Given { level: other_level(operand, 1)?, ..given(operand)? })
        }
        ExprKind::Unary { op, operand } if op == "*" => {
            Some(Given { level: other_level(operand, -1)?, ..given(operand)? })
        }
        // The first of an array of structures among the fields is no structure of its own.
        ExprKind::Index { base, index } if matches!(&*index.kind, ExprKind::Number(n) if n == "0") => {
            given(base)
                .filter(|g| g.path.is_empty() && g.level == 0)
                .map(|g| Given { level: -1, ..g })
        }
        ExprKind::Member { base, arrow, member, .. } => given(base)?.step(*arrow, &member.name),
        _ => None,
    }
}

/// The name at the root of a chain of fields, and the chain.
pub fn chain(e: &Expr) -> Option<(&str, Path)> {
    let Given { root, path, level } = given(e)?;
    (level == 0).then_some((root, path))
}

struct Walk<'w, 'u> {
    unit: &'w Unit<'u>,
    name: &'w str,
    ty: &'u TypeName,
    uses: BTreeMap<Path, Use<'u>>,
    handed: Vec<Handed>,
    /// Where it is used in another way than by its fields.
    whole: Option<Span>,
}

impl<'u> Walk<'_, 'u> {
    fn expr(&mut self, e: &Expr, written: bool) {
        if let Some((root, path)) = chain(e) {
            if root == self.name {
                self.field(&path, written, e.span);
            }
            return;
        }
        if let Some((callee, args)) = call(e) {
            for (at, arg) in args.iter().enumerate() {
                match given(arg).filter(|g| g.root == self.name && self.is_structure(g)) {
                    Some(own) => {
                        let slot = (callee.to_string(), at);
                        let Given { path, level, .. } = own;
                        self.handed.push(Handed { slot, path, level, span: arg.span });
                    }
                    None => self.expr(arg, false),
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

    /// Whether something is a structure, or leads to one.
    fn is_structure(&self, given: &Given<'_>) -> bool {
        let ty = typed(self.unit, self.ty, &given.path);
        ty.is_some_and(|ty| structure(self.unit, behind(self.unit, ty)).is_some())
    }

    /// The uses of a structure that is handed on, by their paths here; `None` where the function takes something else.
    fn beyond(&self, handed: &Handed, found: &Found<'u>) -> Option<BTreeMap<Path, Use<'u>>> {
        let own = Given { root: self.name, path: handed.path.clone(), level: handed.level };
        let uses = found.get(&handed.slot)?.iter();
        uses.map(|(path, field)| Some((own.then(path)?, *field))).collect()
    }

    fn field(&mut self, path: &Path, written: bool, at: Span) {
        match typed(self.unit, self.ty, path) {
            Some(ty) if !path.is_empty() => {
                self.uses.entry(path.clone()).or_insert(Use { ty, written }).written |= written;
            }
            _ => _ = self.whole.get_or_insert(at),
        }
    }
}

/// A structure that is handed to a function.
struct Handed {
    slot: Slot,
    path: Path,
    level: i8,
    span: Span,
}

fn is_paren(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Paren(_))
}

/// The type of the field at the end of a path.
fn typed<'u>(unit: &Unit<'u>, from: &'u TypeName, path: &Path) -> Option<&'u TypeName> {
    let mut ty = plain(unit, from);
    for (n, step) in path.iter().enumerate() {
        let inner = match (&ty.kind, step.arrow) {
            (TypeKind::Pointer { to, .. }, true) => &**to,
            // A parameter.
            (TypeKind::Array { element, .. }, true) if n == 0 => &**element,
            (TypeKind::Pointer { .. }, false) | (_, true) => return None,
            _ => ty,
        };
        ty = plain(unit, field(structure(unit, inner)?, &step.field)?);
    }
    Some(ty)
}

/// The array or pointer that a name stands for; any other type as it is.
pub fn plain<'t, 'u: 't>(unit: &Unit<'u>, ty: &'t TypeName) -> &'t TypeName {
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
