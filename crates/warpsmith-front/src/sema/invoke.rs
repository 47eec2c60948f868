//! Calls of lowered functions: arguments, references, results.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, FunctionKind, Place, PlaceKind, Scalar, Space, Span, StmtKind,
    StructId, Type,
};

use super::Sema;
use super::convert::binary_folded;
use super::functions::raw_pointer_cast;
use super::model::*;
use super::overload::Chosen;
use super::refused::{ELLIPSIS, refuse};
use super::structs::stored_type;
use crate::builtins;

/// What a function without a body may write.
struct Written {
    pointer: Expr,
    bytes: Expr,
    /// Its type, where it is one number or one structure.
    object: Option<Type>,
}

impl<'a> Sema<'a> {
    /// Calls what overload resolution chose.
    pub(crate) fn call_chosen(
        &mut self,
        chosen: Chosen<'a>,
        object: Option<Operand<'a>>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        let f = chosen.f;
        if f.decl.attrs.global {
            return fail("W072", span, "a kernel is started with `<<<grid, block>>>`, not called");
        }
        if f.decl.variadic {
            return refuse(ELLIPSIS, span);
        }
        let default_scope = chosen.scope;
        let kind = match self.f().func.kind {
            FunctionKind::Host => FunctionKind::Host,
            _ => FunctionKind::Device,
        };
        let class = f.class.filter(|_| f.needs_object());
        let named = std::mem::take(&mut self.names_its_class);
        let instance = match class.filter(|_| !named && self.is_virtual(f)) {
            Some(class) => self.virtual_instance(class, &chosen, kind, span)?,
            None => self.instance(chosen, kind, span)?,
        };
        let mut values = vec![];
        if let (Some(class), Some(object)) = (class, object) {
            values.push(self.object_pointer(object, class, f.decl.is_const, span)?);
        }
        let given = args.len();
        let arbitrary = f.decl.attrs.is_spec && f.class.is_none() && self.is_only_declared(f);
        let types = args.iter().filter(|_| arbitrary).map(|a| self.operand_type(a));
        let types: Vec<Option<QualType>> = types.collect();
        for (arg, param) in args.into_iter().zip(&instance.params) {
            values.push(self.pass(arg, param, span)?);
        }
        let written: Vec<Written> = (types.into_iter().zip(&values).zip(&instance.params))
            .filter_map(|((of, value), param)| self.written_by_any((value, of), param, span))
            .collect();
        for (i, param) in instance.params.iter().enumerate().skip(given) {
            let Some(default) = f.decl.params.get(i).and_then(|p| p.default.as_ref()) else {
                return fail("W063", span, "an argument is missing");
            };
            let saved = std::mem::replace(&mut self.f().scope, default_scope);
            let arg = self.expr(default);
            self.f().scope = saved;
            values.push(self.pass(arg?, param, span)?);
        }
        if f.decl.attrs.is_constexpr
            && let Some(value) = self.run_at_compile_time(&instance, &values)
        {
            return Ok(Operand::Value(Expr::constant(value).with_origin(span)));
        }
        let result = self.emit_call(&instance, values, span);
        self.write_anything(written, span)?;
        Ok(result)
    }

    /// A number, also in a structure, becomes one that no other thread has, all else zeros.
    fn write_anything(&mut self, places: Vec<Written>, span: Span) -> Res<()> {
        for Written { pointer, bytes, object } in places {
            if object.as_ref().is_none_or(|ty| ty.scalar().is_none()) {
                let zeros = vec![pointer.clone(), Expr::i32(0), bytes];
                if let Some(Err(error)) = builtins::call("memset", &[], zeros, span, self) {
                    return Err(error.into());
                }
            }
            if let Some(ty) = object {
                self.write_numbers(Place::new(PlaceKind::Deref(pointer), ty, span), span)?;
            }
        }
        Ok(())
    }

    /// The thread's number to a place, or to all numbers of a structure.
    fn write_numbers(&mut self, place: Place, span: Span) -> Res<()> {
        if place.ty.scalar().is_some() {
            let value = super::annotations::thread_number(span);
            let value = self.convert_to(value, &place.ty, span)?;
            self.emit(StmtKind::Assign { place, value }, span);
        } else if let Type::Struct(id) = place.ty {
            let fields = self.module.structs.get(id.0 as usize).map_or(0, |s| s.fields.len());
            for index in 0..fields as u32 {
                self.write_numbers(self.field_place(place.clone(), &[index], span), span)?;
            }
        }
        Ok(())
    }

    /// What of the calling thread's own a function without a body may write through an argument. Whether it writes to memory
    /// that threads share nobody knows.
    fn written_by_any(
        &self,
        (value, operand): (&Expr, Option<QualType>),
        param: &QualType,
        span: Span,
    ) -> Option<Written> {
        let mut pointer = value;
        while let ExprKind::Cast(inner) = &*pointer.kind {
            pointer = inner;
        }
        let Type::Pointer { pointee, space: Space::Local, readonly: false, .. } = &pointer.ty
        else {
            return None;
        };
        let is_constant = match &param.ty {
            Type::Pointer { readonly, .. } if !param.is_reference() => *readonly,
            _ => param.is_const,
        };
        if is_constant {
            return None;
        }
        let pointer = pointer.clone();
        if let Some(bytes) = self.rest_of_array(&pointer, span).filter(|_| !param.is_reference()) {
            return Some(Written { pointer, bytes, object: None });
        }
        let whole = operand.map(|q| q.ty).filter(|t| matches!(t, Type::Array(..)));
        let object = whole.unwrap_or((**pointee).clone());
        let bytes = i64::try_from(layout_of(&self.module, &object).size).ok()?;
        let object = Some(object).filter(|t| t.scalar().is_some() || matches!(t, Type::Struct(_)));
        Some(Written { pointer, bytes: Expr::int(Scalar::U64, bytes), object })
    }

    /// How many bytes an array has from the element on that a pointer leads to, as those of `int[2][3]` from `c[1][1]`
    /// or `c[1] + 1`.
    fn rest_of_array(&self, mut pointer: &Expr, span: Span) -> Option<Expr> {
        let mut before = vec![];
        let mut place = loop {
            match (&*pointer.kind, &pointer.ty) {
                (ExprKind::PtrOffset(of, index), Type::Pointer { pointee, .. }) => {
                    before.push((index.clone(), layout_of(&self.module, pointee).size));
                    pointer = of;
                }
                (ExprKind::Cast(inner), _) if inner.ty.is_pointer() => pointer = inner,
                (ExprKind::AddressOf(place), _) => break place,
                _ => return None,
            }
        };
        while let PlaceKind::Index(of, index) = &*place.kind {
            before.push((index.clone(), layout_of(&self.module, &place.ty).size));
            place = of;
        }
        if before.is_empty() || !matches!(place.ty, Type::Array(..)) {
            return None;
        }
        let number = |n: u64| i64::try_from(n).ok().map(|n| Expr::int(Scalar::U64, n));
        let all = number(layout_of(&self.module, &place.ty).size)?;
        before.into_iter().try_fold(all, |rest, (index, size)| {
            let skipped = binary_folded(BinaryOp::Mul, index.cast(Type::U64), number(size)?, span);
            Some(binary_folded(BinaryOp::Sub, rest, skipped, span))
        })
    }

    /// Emits the call statement; the result is a temporary, or the place behind a returned reference.
    pub(crate) fn emit_call(
        &mut self,
        instance: &Instance,
        args: Vec<Expr>,
        span: Span,
    ) -> Operand<'a> {
        let function = instance.id;
        let stored = stored_type(&instance.ret);
        if stored == Type::Void {
            self.emit(StmtKind::Call { function, args, result: None }, span);
            return Operand::Void;
        }
        let temp = self.new_temp(stored.clone(), span);
        let place = Place::new(PlaceKind::Var(temp), stored, span);
        self.emit(StmtKind::Call { function, args, result: Some(place.clone()) }, span);
        if instance.ret.is_reference() {
            let place =
                Place::new(PlaceKind::Deref(Expr::read(place)), instance.ret.ty.clone(), span);
            return Operand::Place { place, is_const: instance.ret.is_const };
        }
        Operand::Value(Expr::read(place))
    }

    /// The `this` argument for an object.
    fn object_pointer(
        &mut self,
        object: Operand<'a>,
        class: StructId,
        is_const: bool,
        span: Span,
    ) -> Res<Expr> {
        let (place, object_const) = match object {
            Operand::Place { place, is_const } => (place, is_const),
            other => {
                let value = self.rvalue_of(other, span)?;
                (self.materialise(value, span), false)
            }
        };
        let from = match place.ty {
            Type::Struct(id) => id,
            _ => class,
        };
        let path = self.base_path(from, class).unwrap_or_default();
        let place = self.base_place(place, &path, &Type::Struct(class), span);
        let pointer = self.address_of(place, object_const, span);
        let ty = Type::Pointer {
            pointee: Type::Struct(class).into(),
            space: Space::Generic,
            volatile: false,
            readonly: is_const,
        };
        Ok(raw_pointer_cast(pointer, ty, span))
    }

    /// Calls one method without overload resolution (conversion operators).
    pub(crate) fn call_method(
        &mut self,
        f: FnDecl<'a>,
        object: Operand<'a>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        let chosen = Chosen::plain(f);
        self.call_chosen(chosen, Some(object), args, span)
    }

    /// The IR argument for a parameter: a value, or the address for a reference.
    pub(crate) fn pass(&mut self, arg: Operand<'a>, param: &QualType, span: Span) -> Res<Expr> {
        if !param.is_reference() {
            return match arg {
                Operand::List(items) => self.list_value(&param.ty, items, self.f_scope(), span),
                other => {
                    let copy = self.copied(other, span)?;
                    let value = self.rvalue_of(copy, span)?;
                    self.convert_to(value, &param.ty, span)
                }
            };
        }
        let (place, is_const) = self.bind_place(arg, param, span)?;
        let pointer = self.address_of(place, is_const, span);
        Ok(raw_pointer_cast(pointer, stored_type(param), span))
    }

    /// What a reference of that type is bound to: the operand's place, its base, or a temporary.
    pub(crate) fn bind_place(
        &mut self,
        arg: Operand<'a>,
        target: &QualType,
        span: Span,
    ) -> Res<(Place, bool)> {
        let wanted = super::templates::despaced_type(&target.ty);
        if let Operand::Place { place, is_const } = arg {
            if super::templates::despaced_type(&place.ty) == wanted {
                if is_const && !target.is_const {
                    return fail(
                        "W073",
                        span,
                        "a constant cannot be bound to a reference that may change it",
                    );
                }
                return Ok((place, is_const));
            }
            if let (Some(from), Some(to)) = (self.is_class(&place.ty), self.is_class(&target.ty))
                && let Some(path) = self.base_path(from, to)
            {
                return Ok((self.base_place(place, &path, &target.ty, span), is_const));
            }
            return self.bind_temporary(Operand::Place { place, is_const }, target, span);
        }
        self.bind_temporary(arg, target, span)
    }

    fn bind_temporary(
        &mut self,
        arg: Operand<'a>,
        target: &QualType,
        span: Span,
    ) -> Res<(Place, bool)> {
        if target.reference == RefKind::Lvalue && !target.is_const {
            let text = self.qual_text(target);
            return fail("W073", span, format!("`{text}` needs a variable of exactly that type"));
        }
        let value = match arg {
            Operand::List(items) => self.list_value(&target.ty, items, self.f_scope(), span)?,
            other => {
                let value = self.rvalue_of(other, span)?;
                // The base of an object is bound, not a copy of it.
                if let (Some(from), Some(to)) =
                    (self.is_class(&value.ty), self.is_class(&target.ty))
                    && let Some(path) = self.base_path(from, to).filter(|_| from != to)
                {
                    let place = self.materialise(value, span);
                    return Ok((self.base_place(place, &path, &target.ty, span), false));
                }
                self.convert_to(value, &target.ty, span)?
            }
        };
        Ok((self.materialise(value, span), false))
    }
}
