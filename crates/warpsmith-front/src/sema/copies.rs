//! Copies of objects whose class says how: by its copy constructor, or because a member's class does.

use warpsmith_ir::{Expr, Place, PlaceKind, Span, StmtKind, StructId, Type, VarKind};

use super::Sema;
use super::model::*;
use super::overload::Chosen;

/// Arrays of objects that copy themselves have at most that many elements.
const MAX_ELEMENTS: u64 = 64;

impl<'a> Sema<'a> {
    /// What an object of that type begins with: a copy of the operand, what an expiring one gives away, or the value that was
    /// made for it; converted.
    pub(crate) fn initial_value(
        &mut self,
        operand: Operand<'a>,
        ty: &Type,
        span: Span,
    ) -> Res<Expr> {
        if let Operand::List(items) = operand {
            return self.list_value(ty, items, self.f_scope(), span);
        }
        let from = match &operand {
            Operand::Place { place, .. } | Operand::Expiring(place) => self.is_class(&place.ty),
            Operand::Value(value) => self.is_class(&value.ty),
            _ => None,
        };
        let plain =
            |class: &StructId| !self.ends(&Type::Struct(*class)) && !self.copies_itself(*class);
        let Some(from) = from.filter(|class| !plain(class)) else {
            let value = self.rvalue_of(operand, span)?;
            return self.convert_to(value, ty, span);
        };
        let to = self.is_class(ty);
        if to == Some(from) {
            let copy = self.copied(operand, span)?;
            return self.rvalue_of(copy, span);
        }
        if let Some(to) = to {
            if let Some(path) = self.base_path(from, to) {
                return self.sliced(operand, &path, to, span);
            }
            let converts = self.conversion_operator(from, ty).is_some();
            if !converts && self.can_construct_from(to, &Type::Struct(from), false) {
                return self.construct_class(to, vec![operand], span);
            }
        }
        let object = self.kept_while_converted(operand, span);
        let value = self.rvalue_of(object, span)?;
        self.convert_to(value, ty, span)
    }

    /// A copy of the base of an object, which is an object of its own class.
    fn sliced(
        &mut self,
        operand: Operand<'a>,
        path: &[u32],
        to: StructId,
        span: Span,
    ) -> Res<Expr> {
        let expires = !matches!(operand, Operand::Place { .. });
        let (place, is_const) = self.object_place(operand, span)?;
        let base = self.base_place(place, path, &Type::Struct(to), span);
        let base = match expires {
            true => Operand::Expiring(base),
            false => Operand::Place { place: base, is_const },
        };
        let copy = self.copied(base, span)?;
        let value = self.rvalue_of(copy, span)?;
        if !self.is_polymorphic(to) {
            return Ok(value);
        }
        let copy = self.new_object_place(&Type::Struct(to), span);
        self.emit(StmtKind::Assign { place: copy.clone(), value }, span);
        self.set_class_number(&copy, to, span);
        Ok(Expr::read(copy).with_origin(span))
    }

    /// A copy of an object that stays in use, or what an expiring one gives away, where copying its bytes is not enough; other
    /// operands are what they are.
    pub(crate) fn copied(&mut self, operand: Operand<'a>, span: Span) -> Res<Operand<'a>> {
        let ty = match &operand {
            Operand::Place { place, .. } | Operand::Expiring(place) => place.ty.clone(),
            _ => return Ok(operand),
        };
        if self.is_class(&ty).is_none_or(|class| !self.copies_itself(class)) {
            return Ok(operand);
        }
        let copy = self.new_object_place(&ty, span);
        self.copy_to(&copy, operand, span)?;
        Ok(Operand::Value(Expr::read(copy)))
    }

    /// Makes an object of another of its type.
    fn copy_to(&mut self, to: &Place, from: Operand<'a>, span: Span) -> Res<()> {
        let Some(class) = self.is_class(&to.ty) else {
            let value = self.rvalue_of(from, span)?;
            self.emit(StmtKind::Assign { place: to.clone(), value }, span);
            return Ok(());
        };
        match self.copying_constructor(class, matches!(from, Operand::Expiring(_))) {
            Some(f) => {
                let object = Operand::Place { place: to.clone(), is_const: false };
                self.call_chosen(Chosen::plain(f), Some(object), vec![from], span).map(drop)
            }
            None if self.only_moves(class) && !matches!(from, Operand::Expiring(_)) => {
                let name = self.class(class).name.clone();
                let d = error("W063", span, format!("`{name}` has no constructor for copies"));
                Err(d.help("move it: `std::move(…)`").into())
            }
            None => {
                let value = self.rvalue_of(from.clone(), span)?;
                self.emit(StmtKind::Assign { place: to.clone(), value }, span);
                let parts = self.parts_that(class, Sema::copies_itself);
                self.each_part(to, from, &parts, span, Sema::copy_to)
            }
        }
    }

    /// Does something with parts of two objects of one class, member by member and element by element.
    fn each_part(
        &mut self,
        to: &Place,
        from: Operand<'a>,
        parts: &[u32],
        span: Span,
        each: fn(&mut Self, &Place, Operand<'a>, Span) -> Res<()>,
    ) -> Res<()> {
        for index in parts {
            let place = self.field_place(to.clone(), &[*index], span);
            let part = part_of(&from, |whole| self.field_place(whole, &[*index], span));
            self.each_element(&place, part, span, each)?;
        }
        Ok(())
    }

    fn each_element(
        &mut self,
        to: &Place,
        from: Operand<'a>,
        span: Span,
        each: fn(&mut Self, &Place, Operand<'a>, Span) -> Res<()>,
    ) -> Res<()> {
        let Type::Array(element, n) = to.ty.clone() else { return each(self, to, from, span) };
        if n > MAX_ELEMENTS {
            return fail("W091", span, format!("a copy of an array of {n} objects of a class"));
        }
        for i in 0..n {
            let at = |whole| {
                let index = Expr::i32(i as i32).with_origin(span);
                Place::new(PlaceKind::Index(whole, index), (*element).clone(), span)
            };
            self.each_element(&at(to.clone()), part_of(&from, at), span, each)?;
        }
        Ok(())
    }

    /// What a function returns: its own variables give their values away, and one of the function's type is the object that the
    /// caller gets: its place comes with it.
    pub(crate) fn handed_over(
        &mut self,
        operand: Operand<'a>,
        ret: &QualType,
        span: Span,
    ) -> Res<(Operand<'a>, Option<Place>)> {
        let Operand::Place { place, .. } = &operand else { return Ok((operand, None)) };
        let PlaceKind::Var(v) = &*place.kind else { return Ok((operand, None)) };
        let (place, kind) = (place.clone(), self.f().func.var(*v).kind);
        match kind {
            VarKind::Local if place.ty == ret.ty => {
                Ok((Operand::Value(self.rvalue_of(operand, span)?), Some(place)))
            }
            VarKind::Local | VarKind::Param => Ok((Operand::Expiring(place), None)),
            _ => Ok((operand, None)),
        }
    }

    /// Whether copying the bytes of an object is not enough.
    fn copies_itself(&self, class: StructId) -> bool {
        [false, true].into_iter().any(|expires| self.copying_constructor(class, expires).is_some())
            || !self.parts_that(class, Sema::copies_itself).is_empty()
    }

    /// The members and bases of a class, by their fields, whose classes have something.
    fn parts_that(&self, class: StructId, have: fn(&Self, StructId) -> bool) -> Vec<u32> {
        let info = self.class(class);
        if info.lambda.is_some() {
            return vec![];
        }
        let has = |ty: &Type| self.is_class(element_of(ty)).is_some_and(|class| have(self, class));
        let fields = info.fields.iter().filter(|f| !f.ty.is_reference() && has(&f.ty.ty));
        let bases = info.bases.iter().filter(|b| have(self, b.class));
        fields.map(|f| f.index).chain(bases.filter_map(|b| b.index)).collect()
    }

    /// The class of `to = from` where it is assigned part by part: it has no `operator=` of its own for its objects.
    pub(crate) fn assigned_by_parts(
        &mut self,
        to: &Operand<'a>,
        from: &Operand<'a>,
    ) -> Option<StructId> {
        let [to, from] =
            [to, from].map(|o| self.operand_type(o).and_then(|t| self.is_class(&t.ty)));
        to.filter(|_| to == from).filter(|class| self.own_assignments(*class).is_empty())
    }

    /// `to = from` of two objects of a class without `operator=`: that of their members, and bytes.
    pub(crate) fn assign_object(
        &mut self,
        to: Place,
        from: Operand<'a>,
        class: StructId,
        span: Span,
    ) -> Res<()> {
        if !self.assigns_itself(class) {
            let from = self.kept_while_converted(from, span);
            let value = self.rvalue_of(from, span)?;
            self.emit(StmtKind::Assign { place: to, value }, span);
            return Ok(());
        }
        let from = match from {
            from @ (Operand::Place { .. } | Operand::Expiring(_)) => from,
            other => Operand::Expiring(self.object_place(other, span)?.0),
        };
        let info = self.class(class);
        let fields = info.fields.iter().filter(|f| !f.ty.is_reference()).map(|f| f.index);
        let bases = info.bases.iter().filter_map(|b| b.index);
        let mut parts: Vec<u32> = bases.chain(fields).collect();
        parts.dedup();
        self.each_part(&to, from, &parts, span, Sema::assign_part)
    }

    pub(crate) fn assign_part(&mut self, to: &Place, from: Operand<'a>, span: Span) -> Res<()> {
        let Some(class) = self.is_class(&to.ty) else {
            let value = self.rvalue_of(from, span)?;
            self.emit(StmtKind::Assign { place: to.clone(), value }, span);
            return Ok(());
        };
        let own = self.own_assignments(class);
        if own.is_empty() {
            return self.assign_object(to.clone(), from, class, span);
        }
        let object = Operand::Place { place: to.clone(), is_const: false };
        let args = vec![from];
        let chosen =
            self.resolve_overload("operator=", &own, None, Some((class, false)), &args, span)?;
        self.call_chosen(chosen, Some(object), args, span).map(drop)
    }

    fn assigns_itself(&self, class: StructId) -> bool {
        self.has_assignment(class) || !self.parts_that(class, Sema::assigns_itself).is_empty()
    }

    fn has_assignment(&self, class: StructId) -> bool {
        let scope = self.class(class).scope;
        super::expr::functions(&self.lookup_in(scope, "operator="))
            .iter()
            .any(|f| f.class == Some(class) && self.is_written(*f, class, "operator="))
    }

    /// Every `operator=` of a class that its objects may be assigned by; one that is `= default` is none.
    fn own_assignments(&mut self, class: StructId) -> Vec<FnDecl<'a>> {
        let scope = self.class(class).scope;
        let methods = super::expr::functions(&self.lookup_in(scope, "operator="));
        let own = methods.into_iter().filter(|f| self.is_written(*f, class, "operator="));
        let own: Vec<FnDecl<'a>> = own.collect();
        match own.iter().any(|f| self.may_copy(*f, class)) {
            true => own,
            false => vec![],
        }
    }

    /// Whether a method has a body, in its class or outside.
    fn is_written(&self, f: FnDecl<'a>, class: StructId, name: &str) -> bool {
        let of = self.class(class).decl.and_then(|d| d.name.clone()).unwrap_or_default();
        let outside = self.out_of_line.get(&(of, name.to_string()));
        f.decl.body.is_some() || outside.into_iter().flatten().any(|f| f.decl.body.is_some())
    }

    /// Whether an `operator=` takes objects of its own class, or is that of another class.
    fn may_copy(&mut self, f: FnDecl<'a>, class: StructId) -> bool {
        let Some(from) = f.decl.params.first().filter(|_| f.class == Some(class)) else {
            return true;
        };
        let of_class = |q: QualType| q.ty == Type::Struct(class);
        f.decl.template.is_none() && self.resolve_type(f.scope, &from.ty).map_or(true, of_class)
    }

    /// What makes an object of another one, with a body: of one that expires `T(T &&)`, or `T(const T &)` where there is no
    /// such constructor.
    fn copying_constructor(&self, class: StructId, expires: bool) -> Option<FnDecl<'a>> {
        let moving = self.constructor_from(class, true);
        match moving.filter(|_| expires) {
            Some(f) => Some(f),
            None => self.constructor_from(class, false),
        }
        .filter(|f| self.has_written_constructor(*f, class))
    }

    /// A class that declares how its objects are moved has no copies unless it declares those, too.
    fn only_moves(&self, class: StructId) -> bool {
        self.constructor_from(class, true).is_some()
            && self.constructor_from(class, false).is_none()
    }

    /// `T(const T &)` or `T(T &&)`, as declared.
    fn constructor_from(&self, class: StructId, moving: bool) -> Option<FnDecl<'a>> {
        let info = self.class(class);
        let name = info.decl.and_then(|d| d.name.as_deref())?;
        info.ctors.iter().copied().find(|f| {
            let mut params = f.decl.params.iter();
            let first = params.next().is_some_and(|p| is_reference_to(&p.ty, name, moving));
            first && params.all(|p| p.default.is_some()) && f.decl.template.is_none()
        })
    }

    /// Whether a constructor from another object has a body, in its class or outside.
    fn has_written_constructor(&self, f: FnDecl<'a>, class: StructId) -> bool {
        let name = self.class(class).decl.and_then(|d| d.name.clone()).unwrap_or_default();
        let moving = f.decl.params.first().is_some_and(|p| is_reference_to(&p.ty, &name, true));
        let outside = self.out_of_line.get(&(name.clone(), name.clone()));
        let same = |p: &crate::ast::Param| is_reference_to(&p.ty, &name, moving);
        f.decl.body.is_some()
            || outside.into_iter().flatten().any(|f| f.decl.params.first().is_some_and(same))
    }
}

/// A part of what an operand denotes, which expires with it.
fn part_of<'a>(whole: &Operand<'a>, part: impl FnOnce(Place) -> Place) -> Operand<'a> {
    match whole {
        Operand::Place { place, is_const } => {
            Operand::Place { place: part(place.clone()), is_const: *is_const }
        }
        Operand::Expiring(place) => Operand::Expiring(part(place.clone())),
        other => other.clone(),
    }
}

/// What arrays of any extents are made of.
fn element_of(ty: &Type) -> &Type {
    match ty {
        Type::Array(element, _) => element_of(element),
        other => other,
    }
}

/// `const T &`, or `T &&`, with or without the class's template arguments.
fn is_reference_to(ty: &crate::ast::TypeName, name: &str, moving: bool) -> bool {
    use crate::ast::TypeKind;
    let TypeKind::Reference { to, rvalue } = &ty.kind else { return false };
    match &to.kind {
        TypeKind::Named(path) if *rvalue == moving => {
            path.segments.last().is_some_and(|s| s.name == name)
        }
        _ => false,
    }
}
