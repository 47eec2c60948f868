//! Fields of structures, and values of structures and arrays from their parts.

use warpsmith_ir::{
    Block, Diagnostic, Expr, ExprKind, Place, PlaceKind, Span, Stmt, StmtKind, StructId, Type, Var,
    VarId, VarKind, layout,
};

use super::access::Designated;
use super::cx::{Binding, Cx, Low, Reported};
use super::types;
use crate::ast::{self, Designator, InitItem, Initializer};

impl<'u> Cx<'u> {
    /// The type in C's words, for messages.
    pub fn c_name(&self, ty: &Type) -> String {
        match ty {
            Type::Struct(id) => {
                let spelled = self.unit.spellings().get(id.0 as usize).cloned().unwrap_or_default();
                if spelled.is_empty() { types::c_name(ty) } else { spelled }
            }
            _ => types::c_name(ty),
        }
    }

    /// The number and type of a field.
    fn field(&mut self, id: StructId, name: &str, span: Span) -> Low<(u32, Type)> {
        let fields = self.module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
        if let Some(at) = fields.iter().position(|f| f.name == name) {
            return Ok((at as u32, fields[at].ty.clone()));
        }
        let names: Vec<String> = fields.iter().map(|f| f.name.clone()).collect();
        let structure = self.c_name(&Type::Struct(id));
        let d = Diagnostic::error("W145", format!("`{structure}` has no field `{name}`"))
            .label(span, "unknown field");
        let near = crate::spelling::nearest(name, names.iter().map(String::as_str));
        Err(self.fail(match near {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d.help(format!("its fields are {}", names.join(", "))),
        }))
    }

    /// `base.name` or `base->name`; `Ok(None)` for a field of a value that lies nowhere.
    pub fn member_place(
        &mut self,
        base: &ast::Expr,
        arrow: bool,
        name: &str,
        span: Span,
    ) -> Low<Option<Designated>> {
        let found =
            if arrow { Some(self.dereference(base, span)?) } else { self.designated(base)? };
        let place = match found {
            None => return Ok(None),
            Some(Designated::Place(place)) => place,
            Some(Designated::Pointer(_)) => {
                let d = Diagnostic::error("W148", "a pointer has no fields")
                    .label(base.span, "a pointer");
                return Err(self.fail(d.help("write `->` instead of `.`")));
            }
        };
        let Type::Struct(id) = place.ty else { return Err(self.no_structure(base.span)) };
        if self.unit.complex_part(id).is_some() {
            return Err(self.no_structure(base.span));
        }
        let (at, ty) = self.field(id, name, span)?;
        let whole = Place::new(PlaceKind::Field(place, at), ty, span);
        Ok(Some(Designated::Place(self.unpacked_part(whole))))
    }

    fn no_structure(&mut self, span: Span) -> Reported {
        self.error("W148", "this is no structure, so it has no fields", span, "not a structure")
    }

    /// The value of `base.name`.
    pub fn member_value(&mut self, e: &ast::Expr) -> Low<Expr> {
        match self.designated(e)? {
            Some(Designated::Place(place)) if matches!(place.ty, Type::Array(..)) => {
                match self.decayed(e)? {
                    Some(p) => Ok(p.into_expr(e.span)),
                    None => Err(self.unknown_base(e.span)),
                }
            }
            Some(Designated::Place(place)) => Ok(Expr::read(place)),
            Some(Designated::Pointer(p)) => Ok(p.into_expr(e.span)),
            None => {
                let ast::ExprKind::Member { base, member, .. } = &*e.kind else {
                    return Err(self.no_structure(e.span));
                };
                let Some(value) = self.value(base)? else {
                    return Err(self.no_structure(base.span));
                };
                let Type::Struct(id) = value.ty else { return Err(self.no_structure(base.span)) };
                let (at, ty) = self.field(id, &member.name, e.span)?;
                if matches!(ty, Type::Array(..)) {
                    return Err(self.unsupported("an array inside the value of a call", e.span));
                }
                Ok(Expr::new(ExprKind::Member(value, at), ty, e.span))
            }
        }
    }

    /// A number of a structure passed by value, as the variable that holds it from the start.
    ///
    /// Loop bounds and subscripts are then made of variables, which say more than memory does.
    fn unpacked_part(&mut self, place: Place) -> Place {
        let Some(param) = field_of_var(&place).filter(|v| self.unpacked.contains(v)) else {
            return place;
        };
        let Type::Scalar(_) = place.ty else { return place };
        let name = self.field_path(&place);
        let span = place.origin.span;
        let key = (param, name.clone());
        let id = match self.parts.get(&key) {
            Some(id) => *id,
            None => {
                let mut var = Var::new(name.replace('.', "_"), place.ty.clone(), VarKind::Local);
                var.origin = place.origin.clone();
                var.constant = true;
                let id = self.function.add_var(var);
                let init = Some(Expr::read(place.clone()));
                let decl = StmtKind::Decl { var: id, init };
                self.prologue.push(Stmt::new(decl, place.origin.clone()));
                self.parts.insert(key, id);
                id
            }
        };
        let var = Place::var(id, place.ty);
        match span {
            Some(span) => Place { origin: span.into(), ..var },
            None => var,
        }
    }

    /// `grid.size.x` of a field of a variable.
    fn field_path(&self, place: &Place) -> String {
        match &*place.kind {
            PlaceKind::Field(inner, at) => {
                let name = match inner.ty {
                    Type::Struct(id) => {
                        self.module.structs[id.0 as usize].fields[*at as usize].name.clone()
                    }
                    _ => String::new(),
                };
                format!("{}.{name}", self.field_path(inner))
            }
            PlaceKind::Var(id) => self.function.var(*id).name.clone(),
            _ => String::new(),
        }
    }

    /// Innermost type and number of subscripts that an expression can take, without lowering anything.
    fn shape_of(&mut self, e: &ast::Expr) -> Option<(Type, usize)> {
        let of = |ty: &Type| (ty.innermost().clone(), ty.extents().len());
        match &*e.kind {
            ast::ExprKind::Paren(inner) => self.shape_of(inner),
            ast::ExprKind::Path(path) => {
                let name = path.as_name()?;
                if !self.knows(name) {
                    return None;
                }
                match self.lookup_quietly(name).ok()?? {
                    Binding::Var(id) => match self.var_type(id) {
                        Type::Pointer { pointee, .. } => {
                            let pointee = (**pointee).clone();
                            Some((pointee, 1 + self.dims.get(&id).map_or(0, Vec::len)))
                        }
                        ty => Some(of(ty)),
                    },
                    Binding::Alias(p) => {
                        Some((p.element.clone(), 1 + p.dims.len() - p.index.len()))
                    }
                    Binding::Global(id) => Some(of(&self.module.globals[id.0 as usize].ty)),
                    Binding::Const(_) | Binding::Poison => None,
                }
            }
            ast::ExprKind::Index { base, .. } => {
                let (ty, n) = self.shape_of(base)?;
                Some((ty, n.checked_sub(1)?))
            }
            ast::ExprKind::Unary { op, operand } if op == "*" => {
                let (ty, n) = self.shape_of(operand)?;
                Some((ty, n.checked_sub(1)?))
            }
            ast::ExprKind::Unary { op, operand } if op == "&" => {
                let (ty, n) = self.shape_of(operand)?;
                Some((ty, n + 1))
            }
            ast::ExprKind::Binary { op, left, right } if op == "+" || op == "-" => {
                let left = self.shape_of(left).filter(|(_, n)| *n > 0);
                let right = self.shape_of(right);
                match (&left, &right) {
                    (Some(_), Some((_, 1..))) => Some((Type::I64, 0)),
                    _ => left.or(right),
                }
            }
            ast::ExprKind::Member { base, member, .. } => {
                let (Type::Struct(id), _) = self.shape_of(base)? else { return None };
                let fields = &self.module.structs.get(id.0 as usize)?.fields;
                fields.iter().find(|f| f.name == member.name).map(|f| of(&f.ty))
            }
            ast::ExprKind::Call { callee, .. } => {
                let ast::ExprKind::Path(path) = &*callee.kind else { return None };
                let id = *self.lowered.get(path.as_name()?)?;
                Some(of(&self.module.function(id).ret))
            }
            ast::ExprKind::CompoundLiteral { ty, .. } => {
                Some((self.read_type(ty, false).ok()?.value()?, 0))
            }
            ast::ExprKind::Assign { target, .. } => self.shape_of(target),
            ast::ExprKind::Conditional { then, .. } => self.shape_of(then),
            _ => None,
        }
    }

    /// How many times a field can be indexed.
    pub fn member_levels(&mut self, e: &ast::Expr) -> Option<usize> {
        self.shape_of(e).map(|(_, n)| n)
    }

    /// The value of `e` as a number or structure of type `ty`.
    pub fn value_as(&mut self, e: &ast::Expr, ty: &Type) -> Low<Expr> {
        if let Some(to) = ty.scalar() {
            let value = self.scalar(e)?;
            return Ok(self.convert(value, to));
        }
        match self.value(e)? {
            Some(value) => self.value_to(value, ty, e.span),
            None => self.scalar(e),
        }
    }

    /// A value in another type: between numbers, complex ones included; structures must have the type.
    pub fn value_to(&mut self, value: Expr, ty: &Type, span: Span) -> Low<Expr> {
        if value.ty == *ty {
            return Ok(value);
        }
        if self.is_complex(ty) && (value.ty.scalar().is_some() || self.is_complex(&value.ty)) {
            return Ok(self.complex_of(value, ty, span));
        }
        match ty.scalar() {
            Some(to) if value.ty.scalar().is_some() => Ok(self.convert(value, to)),
            Some(to) if self.is_complex(&value.ty) => {
                let (real, _) = self.complex_parts(value, span);
                Ok(self.convert(real, to))
            }
            _ => {
                let message = format!(
                    "`{}` is wanted here, not `{}`",
                    self.c_name(ty),
                    self.c_name(&value.ty)
                );
                Err(self.error("W148", message, span, "of another type"))
            }
        }
    }

    /// Refuses arithmetic on a structure.
    pub fn check_number(&mut self, place: &Place, span: Span) -> Low<()> {
        if place.ty.scalar().is_some() {
            return Ok(());
        }
        let d = Diagnostic::error("W148", "arithmetic on a structure").label(span, "not a number");
        Err(self.fail(d.help("compute with its fields")))
    }

    /// `cond ? a : b` of structures or complex numbers: a variable that is set in the two branches.
    pub fn struct_conditional(
        &mut self,
        cond: Expr,
        (a, mut then): (Expr, Vec<Stmt>),
        (b, mut otherwise): (Expr, Vec<Stmt>),
        span: Span,
    ) -> Low<Expr> {
        let ty = match (self.is_complex(&a.ty), self.is_complex(&b.ty)) {
            (false, false) => a.ty.clone(),
            _ => self.common_complex(&a.ty, &b.ty),
        };
        let (result, place) = self.temp_place("choice", ty.clone(), None, span);
        for (value, block) in [(a, &mut then), (b, &mut otherwise)] {
            let (value, more) = self.collect(|cx| cx.value_to(value, &ty, span));
            block.extend(more);
            let kind = StmtKind::Assign { place: place.clone(), value: value? };
            block.push(Stmt::new(kind, span));
        }
        let (then, otherwise) = (Block::new(then), Block::new(otherwise));
        self.push(StmtKind::If { cond, then, otherwise }, span);
        Ok(result)
    }

    /// `(struct P){ … }`.
    pub fn compound_literal(
        &mut self,
        ty: &ast::TypeName,
        items: &[InitItem],
        span: Span,
    ) -> Low<Expr> {
        let Some(ty) = self.read_type(ty, false)?.value() else {
            return Err(self.unsupported("an array without a name", span));
        };
        self.list_value(items, &ty, span)
    }

    /// The value of an initialiser.
    pub fn initial_value(&mut self, init: &Initializer, ty: &Type, span: Span) -> Low<Expr> {
        match init {
            Initializer::List(items, _) => self.list_value(items, ty, span),
            Initializer::Expr(e) if !matches!(ty, Type::Array(..)) => self.value_as(e, ty),
            _ => Err(self.unsupported("this initialiser", span)),
        }
    }

    /// The value of a list in braces; what it leaves out is zero.
    pub fn list_value(&mut self, items: &[InitItem], ty: &Type, span: Span) -> Low<Expr> {
        if self.is_single(ty) {
            return match items {
                [InitItem { designator: None, value }] => self.initial_value(value, ty, span),
                [] => Ok(self.zero(ty)),
                _ => Err(self.error(
                    "W149",
                    "more values than one for a number",
                    span,
                    "in this list",
                )),
            };
        }
        let mut at = 0;
        let value = self.parts(items, &mut at, ty, true, span)?;
        if at < items.len() {
            let what = if matches!(ty, Type::Array(..)) {
                "the array has elements"
            } else {
                "the structure has fields"
            };
            return Err(self.error(
                "W149",
                format!("more values than {what}"),
                span,
                "in this list",
            ));
        }
        Ok(value)
    }

    /// Is one value enough for it?
    fn is_single(&self, ty: &Type) -> bool {
        ty.scalar().is_some() || self.is_complex(ty)
    }

    /// Takes items from `at` on for the parts of an aggregate. Without braces of its own it ends when it is full.
    fn parts(
        &mut self,
        items: &[InitItem],
        at: &mut usize,
        ty: &Type,
        braces: bool,
        span: Span,
    ) -> Low<Expr> {
        let types = self.part_types(ty);
        let mut values: Vec<Option<Expr>> = vec![None; types.len()];
        let mut next = 0;
        while let Some(item) = items.get(*at) {
            if item.designator.is_some() && !braces {
                break;
            }
            if let Some(designator) = &item.designator {
                next = self.designated_part(designator, ty, span)?;
            }
            let Some(part) = types.get(next) else { break };
            let value = match &item.value {
                Initializer::List(inner, inner_span) => {
                    *at += 1;
                    self.list_value(inner, part, *inner_span)?
                }
                Initializer::Expr(e) if self.is_single(part) || self.is_value_of(e, part) => {
                    *at += 1;
                    self.value_as(e, part)?
                }
                Initializer::Expr(_) if item.designator.is_none() => {
                    self.parts(items, at, part, false, span)?
                }
                _ => return Err(self.unsupported("this initialiser", span)),
            };
            values[next] = Some(value);
            next += 1;
        }
        let parts = values.into_iter().zip(&types).map(|(v, t)| v.unwrap_or_else(|| self.zero(t)));
        let parts = parts.collect();
        Ok(Expr::new(ExprKind::Make(parts), ty.clone(), span))
    }

    fn is_value_of(&mut self, e: &ast::Expr, ty: &Type) -> bool {
        matches!(ty, Type::Struct(_)) && self.shape_of(e).is_some_and(|(t, n)| n == 0 && t == *ty)
    }

    fn designated_part(&mut self, designator: &Designator, ty: &Type, span: Span) -> Low<usize> {
        match (designator, ty) {
            (Designator::Field(name), Type::Struct(id)) => {
                self.field(*id, name, span).map(|(at, _)| at as usize)
            }
            (Designator::Index(e), Type::Array(_, n)) => {
                let at = self.index_value(e)?;
                match self.fold(&at).and_then(|v| u64::try_from(v.as_i64()).ok()) {
                    Some(at) if at < *n => Ok(at as usize),
                    _ => {
                        Err(self.error("W149", "this element does not exist", e.span, "this index"))
                    }
                }
            }
            _ => Err(self.unsupported("this designator", span)),
        }
    }

    fn part_types(&self, ty: &Type) -> Vec<Type> {
        match ty {
            Type::Array(element, n) => vec![(**element).clone(); *n as usize],
            Type::Struct(id) => self
                .module
                .structs
                .get(id.0 as usize)
                .map(|s| s.fields.iter().map(|f| f.ty.clone()).collect())
                .unwrap_or_default(),
            _ => vec![],
        }
    }

    /// Zero in every part.
    pub fn zero(&self, ty: &Type) -> Expr {
        match ty.scalar() {
            Some(s) => Expr::int(s, 0),
            None => {
                let parts = self.part_types(ty).iter().map(|t| self.zero(t)).collect();
                Expr::new(ExprKind::Make(parts), ty.clone(), warpsmith_ir::Origin::default())
            }
        }
    }

    /// A variable that is a structure.
    pub fn struct_variable(&mut self, d: &'u ast::Declarator, id: StructId) -> Low<()> {
        let ty = Type::Struct(id);
        let value = match &d.init {
            None => None,
            Some(Initializer::Expr(e)) if self.is_user_call(e, &ty) => {
                let var = self.declare(&d.name, ty.clone(), d.span);
                self.push(StmtKind::Decl { var, init: None }, d.span);
                self.call_into(&Place::new(PlaceKind::Var(var), ty, d.span), e)?;
                return Ok(());
            }
            Some(init) => Some(self.initial_value(init, &ty, d.span)?),
        };
        let var = self.declare(&d.name, ty, d.span);
        self.function.vars[var.0 as usize].constant = d.ty.is_const;
        self.push(StmtKind::Decl { var, init: value }, d.span);
        Ok(())
    }

    /// Writes the bytes of a constant value, in memory's order.
    ///
    /// # Errors
    /// Where the part stands that is not constant.
    pub fn constant_bytes(
        &self,
        value: &Expr,
        bytes: &mut [u8],
        at: usize,
    ) -> Result<(), Option<Span>> {
        let ExprKind::Make(parts) = &*value.kind else {
            let v = super::globals::fold_real(self, value).ok_or(value.origin.span)?;
            let width = v.ty.bytes() as usize;
            let room = bytes.get_mut(at..at + width).ok_or(value.origin.span)?;
            room.copy_from_slice(&v.bits.to_le_bytes()[..width]);
            return Ok(());
        };
        let mut offset = at;
        for (k, part) in parts.iter().enumerate() {
            if let Type::Struct(id) = value.ty {
                let field = layout::field_of(self.module, id, k as u32);
                offset = at + field.ok_or(value.origin.span)?.0 as usize;
            }
            self.constant_bytes(part, bytes, offset)?;
            offset += layout::layout_of(self.module, &part.ty).size as usize;
        }
        Ok(())
    }
}

/// The variable of which a place is a field, or a field of a field.
fn field_of_var(place: &Place) -> Option<VarId> {
    match &*place.kind {
        PlaceKind::Field(inner, _) => match &*inner.kind {
            PlaceKind::Var(id) => Some(*id),
            _ => field_of_var(inner),
        },
        _ => None,
    }
}
