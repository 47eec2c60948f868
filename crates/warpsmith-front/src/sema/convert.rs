//! Conversions: implicit, explicit, arithmetic; folding of constants on the way.

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, Place, PlaceKind, Scalar, Space, Span, StmtKind, Type, UnaryOp,
    Value, eval,
};

use super::Sema;
use super::model::*;
use super::templates::despaced_type;
use crate::builtins;

/// How well an argument fits a parameter; lower is better.
pub(crate) const EXACT: u32 = 0;
pub(crate) const QUALIFIED: u32 = 1;
const PROMOTED: u32 = 2;
const CONVERTED: u32 = 3;
const LIBRARY: u32 = 4;
pub(crate) const USER: u32 = 10;

impl<'a> Sema<'a> {
    /// Converts a value implicitly to a type, or says why it cannot be.
    pub(crate) fn convert_to(&mut self, expr: Expr, ty: &Type, span: Span) -> Res<Expr> {
        if expr.ty == *ty {
            return Ok(expr);
        }
        if let Some(done) = self.as_function_pointer(&expr, ty, span) {
            return done;
        }
        match (&expr.ty, ty) {
            (_, Type::Scalar(Scalar::Bool)) if self.signature_of(&expr.ty).is_some() => {
                let number = super::function_pointers::number_of(expr, span);
                return Ok(cast_scalar(number, Scalar::Bool, span));
            }
            (Type::Void, _) => return fail("W061", span, "this call gives no value (`void`)"),
            (Type::Scalar(_), Type::Scalar(to)) => return Ok(cast_scalar(expr, *to, span)),
            (Type::Scalar(s), Type::Pointer { .. }) if s.is_integer() && is_zero(&expr) => {
                return Ok(null_pointer(ty, span));
            }
            (Type::Pointer { .. }, Type::Scalar(Scalar::Bool)) => {
                return Ok(is_not_null(expr, span));
            }
            (Type::Pointer { .. }, Type::Pointer { .. })
                if self.pointer_rank(&expr, ty).is_some() =>
            {
                return Ok(self.cast_pointer(expr, ty, span));
            }
            // A `dim3` is made of any number: `<<<ceil(n / 256.0), 256>>>`.
            (Type::Scalar(_), Type::Vector(Scalar::U32, 3)) => {
                let x = cast_scalar(expr, Scalar::U32, span);
                let one = || Expr::int(Scalar::U32, 1).with_origin(span);
                return Ok(Expr::new(ExprKind::Make(vec![x, one(), one()]), ty.clone(), span));
            }
            (Type::Struct(_), _) | (_, Type::Struct(_)) => {
                if let Some(done) = self.convert_class(&expr, ty, span)? {
                    return Ok(done);
                }
            }
            _ => {}
        }
        let (from, to) = (self.type_text(&expr.ty), self.type_text(ty));
        let d = error("W062", span, format!("cannot convert `{from}` to `{to}`"));
        if expr.ty.is_pointer() && ty.is_pointer() {
            return Err(d.help(format!("if it is meant: `reinterpret_cast<{to}>(…)`")).into());
        }
        Err(d.into())
    }

    /// Derived to base, converting constructor, conversion operator; `None` when there is none.
    fn convert_class(&mut self, expr: &Expr, ty: &Type, span: Span) -> Res<Option<Expr>> {
        if self.library_object_converts(&expr.ty, ty)
            && let Some(object) = self.library_object(ty)
            && let Some(done) = builtins::call(&object.name, &[], vec![expr.clone()], span, self)
        {
            return Ok(done?);
        }
        if let (Some(from), Some(to)) = (self.is_class(&expr.ty), self.is_class(ty))
            && let Some(path) = self.base_path(from, to)
        {
            let place = self.materialise(expr.clone(), span);
            let place = self.base_place(place, &path, ty, span);
            if !self.is_polymorphic(to) {
                return Ok(Some(Expr::read(place).with_origin(span)));
            }
            // A copy of the base is an object of its own class.
            let copy = self.new_object_place(ty, span);
            self.emit(StmtKind::Assign { place: copy.clone(), value: Expr::read(place) }, span);
            self.set_class_number(&copy, to, span);
            return Ok(Some(Expr::read(copy).with_origin(span)));
        }
        if let Some(class) = self.is_class(&expr.ty)
            && let Some(f) = self.conversion_operator(class, ty)
        {
            let place = self.materialise(expr.clone(), span);
            let object = Operand::Place { place, is_const: false };
            let result = self.call_method(f, object, vec![], span)?;
            let value = self.rvalue_of(result, span)?;
            return self.convert_to(value, ty, span).map(Some);
        }
        if let Some(class) = self.is_class(ty)
            && self.can_construct_from(class, &expr.ty, is_null(expr))
        {
            let arg = Operand::Value(expr.clone());
            return self.construct_class(class, vec![arg], span).map(Some);
        }
        Ok(None)
    }

    fn library_object(&self, ty: &Type) -> Option<super::builtin_api::BuiltinType> {
        match ty {
            Type::Struct(id) => self.object_of_struct(*id),
            _ => None,
        }
    }

    /// A tile of a warp is a `thread_group`.
    fn library_object_converts(&self, from: &Type, to: &Type) -> bool {
        match (self.library_object(from), self.library_object(to)) {
            (Some(from), Some(to)) => builtins::groups::converts(&from, &to),
            _ => false,
        }
    }

    /// A place of the base inside a place of the derived class.
    pub(crate) fn base_place(
        &mut self,
        place: Place,
        path: &[u32],
        ty: &Type,
        span: Span,
    ) -> Place {
        let place = self.field_place(place, path, span);
        if place.ty == *ty {
            return place;
        }
        // An empty base: the same address, seen as the base.
        let pointer = self.address_of(place, false, span);
        let target = Type::pointer(ty.clone(), pointer_space(&pointer.ty));
        let cast = Expr::new(ExprKind::Cast(pointer), target, span);
        Place::new(PlaceKind::Deref(cast), ty.clone(), span)
    }

    /// The conversion operator of a class that gives a type, or a type that converts to it.
    pub(crate) fn conversion_operator(
        &mut self,
        class: warpsmith_ir::StructId,
        ty: &Type,
    ) -> Option<FnDecl<'a>> {
        let info = self.class(class);
        let list = info.conversions.clone();
        let bases: Vec<_> = info.bases.iter().map(|b| b.class).collect();
        let mut fallback = None;
        for f in list {
            let crate::ast::FunctionName::Conversion(name) = &f.decl.name else { continue };
            let Ok(q) = self.resolve_type(f.scope, name) else { continue };
            if despaced_type(&q.ty) == despaced_type(ty) {
                return Some(f);
            }
            if fallback.is_none() && converts_plainly(&q.ty, ty) {
                fallback = Some(f);
            }
        }
        fallback.or_else(|| bases.into_iter().find_map(|b| self.conversion_operator(b, ty)))
    }

    /// Whether a constructor of the class takes one value of that type, or the null pointer.
    pub(crate) fn can_construct_from(
        &mut self,
        class: warpsmith_ir::StructId,
        ty: &Type,
        null: bool,
    ) -> bool {
        for f in self.class(class).ctors.clone() {
            let required = f.decl.params.iter().filter(|p| p.default.is_none()).count();
            if required > 1 || f.decl.params.is_empty() {
                continue;
            }
            if f.decl.template.is_some() {
                if *ty != Type::Struct(class) && self.takes_exactly(f, ty) {
                    return true;
                }
                continue;
            }
            let Some(first) = f.decl.params.first() else { continue };
            let Ok(q) = self.resolve_type(f.scope, &first.ty) else { continue };
            let fits = q.ty == *ty || converts_plainly(ty, &q.ty) || null && q.ty.is_pointer();
            if q.ty != Type::Struct(class) && fits {
                return true;
            }
        }
        false
    }

    /// How well an operand fits a parameter; `None` when it does not.
    pub(crate) fn rank(&mut self, arg: &Operand<'a>, param: &QualType) -> Option<u32> {
        let lvalue = matches!(arg, Operand::Place { .. } | Operand::Shaped { .. });
        if let Operand::List(items) = arg {
            // What is made for lists goes before a class that is made from one by a constructor: `Tensor({2, 3})`.
            return match self.is_class(&param.ty) {
                Some(_) if self.listed_type(&param.ty).is_some() => Some(EXACT),
                Some(class) if !self.class(class).ctors.is_empty() => Some(USER),
                Some(_) => Some(CONVERTED),
                None => (param.ty.is_aggregate() || items.len() <= 1).then_some(CONVERTED),
            };
        }
        let actual = self.operand_type(arg)?;
        if param.is_reference() {
            let same = despaced_type(&actual.ty) == despaced_type(&param.ty);
            match param.reference {
                RefKind::Lvalue if !param.is_const => {
                    if !lvalue || actual.is_const {
                        return None;
                    }
                    if same {
                        return Some(EXACT);
                    }
                    let (from, to) = (self.is_class(&actual.ty)?, self.is_class(&param.ty)?);
                    return self.base_path(from, to).map(|_| CONVERTED);
                }
                RefKind::Rvalue if lvalue && same => return None,
                _ if same => {
                    // A const reference is a little worse than a reference to a modifiable object.
                    let qualified =
                        lvalue && !actual.is_const && param.reference == RefKind::Lvalue;
                    return Some(if qualified { QUALIFIED } else { EXACT });
                }
                _ => {}
            }
        }
        self.value_rank(arg, &actual, &param.ty)
    }

    fn value_rank(&mut self, arg: &Operand<'a>, actual: &QualType, to: &Type) -> Option<u32> {
        let decayed = self.decayed(actual.clone()).ty;
        match (&decayed, to) {
            (a, b) if a == b => Some(EXACT),
            (Type::Scalar(a), Type::Scalar(b)) => Some(scalar_rank(*a, *b)),
            (Type::Scalar(s), Type::Pointer { .. }) if s.is_integer() => match arg {
                Operand::Value(e) if is_zero(e) => Some(CONVERTED),
                _ => None,
            },
            (Type::Pointer { .. }, Type::Scalar(Scalar::Bool)) => Some(LIBRARY),
            (Type::Pointer { .. }, Type::Pointer { .. }) => {
                let probe = match arg {
                    Operand::Value(e) => e.clone(),
                    _ => null_pointer(
                        &decayed,
                        Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 },
                    ),
                };
                self.pointer_rank(&Expr { ty: decayed.clone(), ..probe }, to)
            }
            (Type::Scalar(s), Type::Vector(Scalar::U32, 3)) if s.is_integer() => Some(USER),
            (_, Type::Struct(_)) if self.signature_of(to).is_some() => {
                let span = self.f_span();
                let value = match arg {
                    Operand::Value(e) => e.clone(),
                    _ => Expr::new(ExprKind::Make(vec![]), decayed, span),
                };
                let converted = self.as_function_pointer(&value, to, span)?;
                converted.is_ok().then_some(EXACT)
            }
            (Type::Struct(_), _) | (_, Type::Struct(_)) => {
                if self.library_object_converts(&decayed, to) {
                    return Some(CONVERTED);
                }
                if let (Some(from), Some(to)) = (self.is_class(&decayed), self.is_class(to))
                    && self.base_path(from, to).is_some()
                {
                    return Some(CONVERTED);
                }
                if let Some(class) = self.is_class(&decayed)
                    && self.conversion_operator(class, to).is_some()
                {
                    return Some(USER);
                }
                let class = self.is_class(to)?;
                let null = matches!(arg, Operand::Value(e) if is_null(e));
                self.can_construct_from(class, &decayed, null).then_some(USER)
            }
            _ => None,
        }
    }

    /// Whether a pointer converts implicitly to a pointer type, and how well.
    fn pointer_rank(&self, expr: &Expr, to: &Type) -> Option<u32> {
        let Type::Pointer { pointee: a, readonly: ra, volatile: va, .. } = &expr.ty else {
            return None;
        };
        let Type::Pointer { pointee: b, readonly: rb, volatile: vb, .. } = to else { return None };
        if **a == Type::Void && is_null(expr) {
            return Some(CONVERTED);
        }
        let keeps_qualifiers = (!ra || *rb) && (!va || *vb);
        if !keeps_qualifiers {
            // C allows `char *text = "…"`; compilers of C++ warn.
            let chars = **b == Type::Scalar(Scalar::I8);
            return (chars && self.is_literal_text(expr)).then_some(CONVERTED);
        }
        if despaced_type(a) == despaced_type(b) {
            return Some(if ra == rb && va == vb { EXACT } else { QUALIFIED });
        }
        // `char **` for `const char *const *`.
        if a.is_pointer() && *rb && unqualified(a) == unqualified(b) {
            return Some(QUALIFIED);
        }
        if **b == Type::Void {
            return Some(CONVERTED);
        }
        match (self.is_class(a), self.is_class(b)) {
            (Some(from), Some(to)) => self.base_path(from, to).map(|_| CONVERTED),
            _ => None,
        }
    }

    fn is_literal_text(&self, expr: &Expr) -> bool {
        let ExprKind::AddressOf(first) = &*expr.without_casts().kind else { return false };
        let PlaceKind::Index(text, _) = &*first.kind else { return false };
        let PlaceKind::Global(id) = *text.kind else { return false };
        self.module.globals[id.0 as usize].name == super::host_memory::LITERAL
    }

    fn cast_pointer(&mut self, expr: Expr, ty: &Type, span: Span) -> Expr {
        if is_null(&expr) {
            return null_pointer(ty, span);
        }
        if let (Some(a), Some(b)) = (expr.ty.pointee(), ty.pointee())
            && let (Some(from), Some(to)) = (self.is_class(a), self.is_class(b))
            && from != to
            && let Some(path) = self.base_path(from, to)
            && !path.is_empty()
        {
            let place = Place::new(PlaceKind::Deref(expr), Type::Struct(from), span);
            let place = self.field_place(place, &path, span);
            let inner = self.address_of(place, false, span);
            return cast_raw(inner, ty, span);
        }
        cast_raw(expr, ty, span)
    }

    /// `(T)e` and `static_cast`/`reinterpret_cast`.
    pub(crate) fn convert_explicitly(
        &mut self,
        expr: Expr,
        ty: &Type,
        style: &str,
        span: Span,
    ) -> Res<Expr> {
        if expr.ty == *ty {
            return Ok(expr);
        }
        let to_function = self.signature_of(ty).is_some();
        match (&expr.ty, ty) {
            (_, Type::Void) => Ok(expr),
            (Type::Pointer { .. } | Type::Scalar(_), _)
                if to_function
                    && (expr.ty.is_pointer() || expr.ty.is_integer())
                    && matches!(style, "c" | "reinterpret") =>
            {
                let number = match expr.ty {
                    Type::Scalar(_) => cast_scalar(expr, Scalar::U64, span),
                    _ => Expr::new(ExprKind::Cast(expr), Type::U64, span),
                };
                Ok(Expr::new(ExprKind::Make(vec![number]), ty.clone(), span))
            }
            (Type::Pointer { .. }, Type::Pointer { .. }) if style != "dynamic" => {
                if self.is_class(expr.ty.pointee().unwrap_or(&Type::Void)).is_some()
                    && self.pointer_rank(&expr, ty).is_some()
                {
                    return Ok(self.cast_pointer(expr, ty, span));
                }
                // What is known of the memory survives the cast.
                let target = with_space(ty, pointer_space(&expr.ty));
                Ok(cast_raw(expr, &target, span))
            }
            (Type::Pointer { .. }, Type::Scalar(s)) if s.is_integer() && *s != Scalar::Bool => {
                let wide = Expr::new(ExprKind::Cast(expr), Type::U64, span);
                Ok(cast_scalar(wide, *s, span))
            }
            (Type::Scalar(s), Type::Pointer { .. }) if s.is_integer() && style != "static" => {
                if is_zero(&expr) {
                    return Ok(null_pointer(ty, span));
                }
                let wide = cast_scalar(expr, Scalar::U64, span);
                Ok(Expr::new(ExprKind::Cast(wide), ty.clone(), span))
            }
            _ => self.convert_to(expr, ty, span),
        }
    }

    /// A condition: `bool` from any scalar or pointer.
    pub(crate) fn as_condition(&mut self, expr: Expr, span: Span) -> Res<Expr> {
        self.convert_to(expr, &Type::BOOL, span)
    }

    /// A place that holds the value: the place it was read from, or a temporary.
    pub(crate) fn materialise(&mut self, expr: Expr, span: Span) -> Place {
        let ty = expr.ty.clone();
        let name = "object";
        let var = self.fresh_var(name, ty.clone(), span);
        self.emit(warpsmith_ir::StmtKind::Decl { var, init: Some(expr) }, span);
        Place::new(PlaceKind::Var(var), ty, span)
    }
}

/// A scalar conversion, folded when the operand is constant.
pub(crate) fn cast_scalar(expr: Expr, to: Scalar, span: Span) -> Expr {
    let Type::Scalar(from) = expr.ty else { return expr };
    if from == to {
        return expr;
    }
    if let Some(v) = expr.as_const() {
        return Expr::constant(eval::cast(v, to)).with_origin(span);
    }
    if to == Scalar::Bool {
        let zero = Expr::int(from, 0).with_origin(span);
        return Expr::new(ExprKind::Binary(BinaryOp::Ne, expr, zero), Type::BOOL, span);
    }
    Expr::new(ExprKind::Cast(expr), Type::Scalar(to), span)
}

fn cast_raw(expr: Expr, ty: &Type, span: Span) -> Expr {
    if expr.ty == *ty {
        return expr;
    }
    // Casts between views of one pointer do not pile up.
    if let ExprKind::Cast(inner) = &*expr.kind
        && inner.ty.is_pointer()
    {
        return cast_raw(inner.clone(), ty, span);
    }
    Expr::new(ExprKind::Cast(expr), ty.clone(), span)
}

pub(crate) fn null_pointer(ty: &Type, span: Span) -> Expr {
    let zero = Expr::int(Scalar::U64, 0).with_origin(span);
    Expr::new(ExprKind::Cast(zero), ty.clone(), span)
}

/// The type without `const` and `volatile` of what its pointers point to.
fn unqualified(ty: &Type) -> Type {
    match despaced_type(ty) {
        Type::Pointer { pointee, space, .. } => Type::pointer(unqualified(&pointee), space),
        other => other,
    }
}

pub(crate) fn is_null(expr: &Expr) -> bool {
    matches!(&*expr.kind, ExprKind::Cast(inner) if expr.ty.is_pointer() && is_zero(inner))
}

fn is_not_null(expr: Expr, span: Span) -> Expr {
    let null = null_pointer(&expr.ty, span);
    Expr::new(ExprKind::Binary(BinaryOp::Ne, expr, null), Type::BOOL, span)
}

pub(crate) fn is_zero(expr: &Expr) -> bool {
    expr.as_const().is_some_and(|v| v.ty.is_integer() && v.bits == 0)
}

pub(crate) fn pointer_space(ty: &Type) -> Space {
    match ty {
        Type::Pointer { space, .. } => *space,
        _ => Space::Generic,
    }
}

/// The pointer type with another space; other types as they are.
pub(crate) fn with_space(ty: &Type, to: Space) -> Type {
    match ty {
        Type::Pointer { pointee, volatile, readonly, .. } => Type::Pointer {
            pointee: pointee.clone(),
            space: to,
            volatile: *volatile,
            readonly: *readonly,
        },
        other => other.clone(),
    }
}

fn converts_plainly(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Scalar(_), Type::Scalar(_)) => true,
        (
            Type::Pointer { pointee: a, readonly: ra, .. },
            Type::Pointer { pointee: b, readonly: rb, .. },
        ) => despaced_type(a) == despaced_type(b) && (!ra || *rb),
        (a, b) => a == b,
    }
}

fn scalar_rank(from: Scalar, to: Scalar) -> u32 {
    use Scalar::*;
    match (from, to) {
        (a, b) if a == b => EXACT,
        (Bool | I8 | U8 | I16 | U16, I32) | (F32, F64) => PROMOTED,
        (F16 | BF16, _) | (_, F16 | BF16) => LIBRARY,
        _ => CONVERTED,
    }
}

/// The type integer promotion gives.
pub(crate) fn promoted(s: Scalar) -> Scalar {
    match s {
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => Scalar::I32,
        other => other,
    }
}

/// C's usual arithmetic conversions. Half-precision types stay with their own kind and give way to wider ones.
pub(crate) fn common_type(a: Scalar, b: Scalar) -> Scalar {
    use Scalar::*;
    if a == b && a.is_float() {
        return a;
    }
    if a == F64 || b == F64 {
        return F64;
    }
    match (a.is_float(), b.is_float()) {
        (true, true) => return F32,
        (true, false) => return a,
        (false, true) => return b,
        (false, false) => {}
    }
    let (a, b) = (promoted(a), promoted(b));
    if a == b {
        return a;
    }
    match (a.bytes().cmp(&b.bytes()), a.is_signed()) {
        (std::cmp::Ordering::Greater, _) => a,
        (std::cmp::Ordering::Less, _) => b,
        (std::cmp::Ordering::Equal, true) => b,
        (std::cmp::Ordering::Equal, false) => a,
    }
}

/// `a op b` on equal types, folded when both are constant.
pub(crate) fn binary_folded(op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
    if let (Some(x), Some(y)) = (a.as_const(), b.as_const())
        && !divides_by_zero(op, y)
    {
        return Expr::constant(eval::binary(op, x, y)).with_origin(span);
    }
    Expr::binary(op, a, b).with_origin(span)
}

/// An integer divided by this constant has no value.
pub(crate) fn divides_by_zero(op: BinaryOp, divisor: Value) -> bool {
    matches!(op, BinaryOp::Div | BinaryOp::Rem) && divisor.ty.is_integer() && divisor.bits == 0
}

pub(crate) fn unary_folded(op: UnaryOp, a: Expr, span: Span) -> Expr {
    if let Some(v) = a.as_const() {
        return Expr::constant(eval::unary(op, v)).with_origin(span);
    }
    let ty = a.ty.clone();
    Expr::new(ExprKind::Unary(op, a), ty, span)
}

pub(crate) fn bool_const(value: bool, span: Span) -> Expr {
    Expr::constant(Value::bool(value)).with_origin(span)
}
