//! Copies of objects whose class says how: by its copy constructor, or because a member's class does.

use warpsmith_ir::{Expr, Place, PlaceKind, Span, StmtKind, StructId, Type, VarKind};

use super::Sema;
use super::model::*;
use super::overload::Chosen;

impl<'a> Sema<'a> {
    /// A copy of an object that stays in use, where copying its bytes is not enough; other operands are what they are.
    pub(crate) fn copied(&mut self, operand: Operand<'a>, span: Span) -> Res<Operand<'a>> {
        let Operand::Place { place, is_const } = &operand else { return Ok(operand) };
        let (place, is_const) = (place.clone(), *is_const);
        let Some(class) = self.is_class(&place.ty).filter(|c| self.copies_itself(*c)) else {
            return Ok(operand);
        };
        let copy = self.new_object_place(&place.ty.clone(), span);
        if let Some(f) = self.copy_constructor(class) {
            let chosen = Chosen::plain(f);
            let object = Operand::Place { place: copy.clone(), is_const: false };
            self.call_chosen(chosen, Some(object), vec![Operand::Place { place, is_const }], span)?;
            return Ok(Operand::Value(Expr::read(copy)));
        }
        self.copy_members(&place, &copy, class, span)?;
        Ok(Operand::Value(Expr::read(copy)))
    }

    fn copy_members(&mut self, from: &Place, to: &Place, class: StructId, span: Span) -> Res<()> {
        self.emit(StmtKind::Assign { place: to.clone(), value: Expr::read(from.clone()) }, span);
        let info = self.class(class);
        let fields = info.fields.iter().filter(|f| !f.ty.is_reference()).map(|f| f.index);
        let parts: Vec<u32> = fields.chain(info.bases.iter().filter_map(|b| b.index)).collect();
        for index in parts {
            let source = self.field_place(from.clone(), &[index], span);
            if self.is_class(&source.ty).is_some_and(|c| self.copies_itself(c)) {
                let copy = self.copied(Operand::Place { place: source, is_const: true }, span)?;
                let value = self.rvalue_of(copy, span)?;
                let place = self.field_place(to.clone(), &[index], span);
                self.emit(StmtKind::Assign { place, value }, span);
            }
        }
        Ok(())
    }

    /// The same for what a function returns: its own variables are handed over as they are.
    pub(crate) fn handed_over(&mut self, operand: Operand<'a>, span: Span) -> Res<Operand<'a>> {
        let own = match &operand {
            Operand::Place { place, .. } => match &*place.kind {
                PlaceKind::Var(v) => self.f().func.var(*v).kind == VarKind::Local,
                _ => false,
            },
            _ => false,
        };
        if own { Ok(Operand::Value(self.rvalue_of(operand, span)?)) } else { Ok(operand) }
    }

    /// Whether copying the bytes of an object is not enough.
    fn copies_itself(&self, class: StructId) -> bool {
        let info = self.class(class);
        self.copy_constructor(class).is_some()
            || info.lambda.is_none()
                && (info.fields.iter().any(|f| !f.ty.is_reference() && self.part_copies(&f.ty.ty))
                    || info.bases.iter().any(|b| self.copies_itself(b.class)))
    }

    /// Whether `to = from` copies an object although its class has `operator=`: all of them are for other types, and none
    /// stands in the way of the one that every class has.
    pub(crate) fn assigns_as_any_class(&mut self, to: &Operand<'a>, from: &Operand<'a>) -> bool {
        let [to, from] =
            [to, from].map(|o| self.operand_type(o).and_then(|t| self.is_class(&t.ty)));
        let Some(class) = to.filter(|_| to == from) else { return false };
        let scope = self.class(class).scope;
        let methods = super::expr::functions(&self.lookup_in(scope, "operator="));
        !methods.is_empty() && !methods.into_iter().any(|f| self.may_copy(f, class))
    }

    /// Whether an `operator=` takes objects of its own class, or is that of another class.
    fn may_copy(&mut self, f: FnDecl<'a>, class: StructId) -> bool {
        let Some(from) = f.decl.params.first().filter(|_| f.class == Some(class)) else {
            return true;
        };
        let of_class = |q: QualType| q.ty == Type::Struct(class);
        f.decl.template.is_none() && self.resolve_type(f.scope, &from.ty).map_or(true, of_class)
    }

    fn part_copies(&self, ty: &Type) -> bool {
        self.is_class(ty).is_some_and(|class| self.copies_itself(class))
    }

    /// Whether a copy constructor of that class is defined outside of it.
    fn copies_outside(&self, class: &str) -> bool {
        let all = self.out_of_line.get(&(class.to_string(), class.to_string()));
        all.into_iter()
            .flatten()
            .any(|f| f.decl.params.first().is_some_and(|p| is_reference_to(&p.ty, class)))
    }

    /// `T(const T &)` with a body.
    fn copy_constructor(&self, class: StructId) -> Option<FnDecl<'a>> {
        let info = self.class(class);
        let name = info.decl.and_then(|d| d.name.as_deref())?;
        info.ctors.iter().copied().find(|f| {
            let mut params = f.decl.params.iter();
            let first = params.next().is_some_and(|p| is_reference_to(&p.ty, name));
            let plain = params.all(|p| p.default.is_some()) && f.decl.template.is_none();
            first && plain && (f.decl.body.is_some() || self.copies_outside(name))
        })
    }
}

/// `const T &`, with or without the class's template arguments.
fn is_reference_to(ty: &crate::ast::TypeName, name: &str) -> bool {
    use crate::ast::TypeKind;
    let TypeKind::Reference { to, rvalue: false } = &ty.kind else { return false };
    match &to.kind {
        TypeKind::Named(path) => path.segments.last().is_some_and(|s| s.name == name),
        _ => false,
    }
}
