//! Expressions: literals, names, dispatch.

use warpsmith_ir::{
    Axis, Builtin, Expr, ExprKind, Place, PlaceKind, Scalar, Span, Type, Value, VarKind,
};

use super::Sema;
use super::bit_fields::Bits;
use super::convert::{cast_scalar, null_pointer};
use super::model::*;
use super::types::{Found, path_text};
use crate::ast;
use crate::builtins;

impl<'a> Sema<'a> {
    /// What an expression denotes; its effects are emitted as statements.
    pub(crate) fn expr(&mut self, e: &'a ast::Expr) -> Res<Operand<'a>> {
        self.deeper(e.span, |s| s.expr_inner(e))
    }

    fn expr_inner(&mut self, e: &'a ast::Expr) -> Res<Operand<'a>> {
        use ast::ExprKind as K;
        let span = e.span;
        match &*e.kind {
            K::Number(text) => match number(text) {
                Some(v) => Ok(Operand::Value(Expr::constant(v).with_origin(span))),
                None => fail("W074", span, format!("`{text}` is no number this compiler knows")),
            },
            K::Bool(b) => Ok(Operand::Value(self.truth(*b, span))),
            K::Char(c) => Ok(Operand::Value(Expr::int(Scalar::I8, *c).with_origin(span))),
            K::Str(text) => Ok(Operand::Str(text.clone())),
            K::NullPtr => {
                let ty = Type::pointer(Type::Void, warpsmith_ir::Space::Generic);
                Ok(Operand::Value(null_pointer(&ty, span)))
            }
            K::This => self.this_operand(span),
            K::Path(path) => self.path_operand(self.f_scope(), path),
            K::Paren(inner) => self.expr(inner),
            K::Unary { op, operand } => self.unary(op, operand, span),
            K::IncDec { op, prefix, operand } => self.inc_dec(op, *prefix, operand, span, true),
            K::Binary { op, left, right } => self.binary(op, left, right, span),
            K::Assign { op, target, value } => self.assign(op, target, value, span),
            K::AssignList { target, items } => self.assign_list(target, items, span),
            K::Conditional { cond, then, otherwise } => {
                self.conditional(cond, then, otherwise, span)
            }
            K::Otherwise { value, otherwise } => self.value_or(value, otherwise, span),
            K::Comma(first, second) => {
                self.discard(first)?;
                self.expr(second)
            }
            K::Call { callee, args } => self.call(callee, args, span),
            K::Launch { callee, config, args } => self.launch(callee, config, args, span),
            K::Index { base, index } => self.index(base, index, span),
            K::Member { base, arrow, member, class } => {
                self.member(base, *arrow, class.as_ref(), member, span)
            }
            K::Cast { style, ty, operand } => self.cast(style, ty, operand, span),
            K::Construct { ty, args, braces } => self.construct_expr(ty, args, *braces, span),
            K::CompoundLiteral { ty, items } => {
                let q = self.resolve_type(self.f_scope(), ty)?;
                let value = self.list_value(&q.ty, items, self.f_scope(), span)?;
                let place = self.materialise(value, span);
                Ok(Operand::Place { place, is_const: false })
            }
            K::SizeofType(ty) => {
                let q = self.resolve_type(self.f_scope(), ty)?;
                self.size_of(&q.ty, span)
            }
            K::SizeofExpr(inner) => {
                if let Some(bytes) = self.variable_size(inner, span) {
                    return Ok(Operand::Value(bytes));
                }
                // A text is an array where nothing asks for a pointer: with the zero at its end.
                if let K::Str(text) = &*super::program::unparenthesised(inner).kind {
                    return Ok(Operand::Value(self.size_value(text.len() as u64 + 1, span)));
                }
                let q = self.type_of_expr(self.f_scope(), inner)?;
                self.size_of(&q.ty, span)
            }
            K::AlignofType(ty) => {
                let q = self.resolve_type(self.f_scope(), ty)?;
                let align = warpsmith_ir::layout::layout_of(&self.module, &q.ty).align;
                Ok(Operand::Value(self.size_value(align, span)))
            }
            K::Offset { ty, member } => self.offset_of(ty, member, span),
            K::New(new) => self.new_object(new, span),
            K::Delete { pointer, array } => self.delete_object(pointer, *array, span),
            K::InitList(items) => Ok(Operand::List(items)),
            K::Lambda(l) => self.lambda(l, span),
            K::Fold { op, operand, init: None, right } => self.fold_pack(op, operand, *right, span),
            K::Fold { op, operand, init: Some(init), .. } => {
                self.fold_from(op, operand, init, span)
            }
            K::PackLength(pack) => {
                let length = self.pack_length(pack, span)?;
                Ok(Operand::Value(self.size_value(length as u64, span)))
            }
            K::Requires(asked) => self.requirements(asked, span),
            K::PackExpansion(_) => {
                fail("W055", span, "a pack can only be expanded among arguments")
            }
            K::Unsupported { what } => Err(super::instead::unsupported(what, span)),
        }
    }

    fn truth(&self, value: bool, span: Span) -> Expr {
        Expr::constant(Value::bool(value)).with_origin(span)
    }

    fn size_of(&mut self, ty: &Type, span: Span) -> Res<Operand<'a>> {
        let size = warpsmith_ir::layout::layout_of(&self.module, ty).size;
        Ok(Operand::Value(self.size_value(size, span)))
    }

    /// The value of an expression.
    pub(crate) fn rvalue(&mut self, e: &'a ast::Expr) -> Res<Expr> {
        let operand = self.expr(e)?;
        self.rvalue_of(operand, e.span)
    }

    /// The value an operand has now: places are read, arrays decay to pointers.
    pub(crate) fn rvalue_of(&mut self, operand: Operand<'a>, span: Span) -> Res<Expr> {
        match operand {
            Operand::Value(e) => Ok(e),
            Operand::Place { place, is_const } => Ok(self.read_place(place, is_const, span)),
            Operand::Bits { word, bits, .. } => self.read_bits(word, bits, span),
            Operand::Shaped { pointer, index, shape, .. } => {
                Ok(self.shaped_value(pointer, index, shape, span))
            }
            Operand::Index3(which) => {
                let parts = Axis::ALL.map(|axis| index_component(which, axis, span)).to_vec();
                Ok(Expr::new(ExprKind::Make(parts), Type::Vector(Scalar::U32, 3), span))
            }
            Operand::Void => fail("W061", span, "this call gives no value (`void`)"),
            Operand::Type(t) => {
                let text = self.qual_text(&t);
                fail("W075", span, format!("`{text}` is a type, a value is needed here"))
            }
            Operand::Functions { name, fns, args, object: None } if !fns.is_empty() => {
                let id = self.function_type(&name, &fns, args.as_deref());
                Ok(Expr::new(ExprKind::Make(vec![]), Type::Struct(id), span))
            }
            Operand::Functions { name, .. } => {
                let d =
                    error("W053", span, format!("the function `{name}` cannot be used as a value"));
                Err(d.help("call it, or pass a functor or a lambda").into())
            }
            Operand::Foreign { ref names, .. } => {
                if let Some(function) = self.function_of_library(&operand) {
                    return self.rvalue_of(function, span);
                }
                let name = names.first().cloned().unwrap_or_default();
                Err(self.undeclared(self.f_scope(), &name, span))
            }
            Operand::ForeignMethod { name, .. } => {
                fail("W075", span, format!("the method `{name}` has to be called"))
            }
            Operand::Str(text) => Ok(self.string_table(&text, span)),
            Operand::List(_) => fail("W075", span, "a list in braces needs a type here"),
        }
    }

    /// Reads a place; an array decays to a pointer to its first element.
    pub(crate) fn read_place(&mut self, place: Place, is_const: bool, span: Span) -> Expr {
        if matches!(place.ty, Type::Array(..)) {
            return self.decay(place, is_const, span);
        }
        // `*(int*)&x` of a number is a reinterpretation of its bits.
        if let PlaceKind::Deref(pointer) = &*place.kind
            && let ExprKind::Cast(inner) = &*pointer.kind
            && let ExprKind::AddressOf(original) = &*inner.kind
            && let (Type::Scalar(a), Type::Scalar(b)) = (&original.ty, &place.ty)
            && a.bytes() == b.bytes()
            && self.is_register(original)
        {
            let value = Expr::read(original.clone()).with_origin(span);
            return Expr::new(ExprKind::Bitcast(value), place.ty, span);
        }
        Expr::read(place).with_origin(span)
    }

    fn is_register(&mut self, place: &Place) -> bool {
        let f = self.f();
        matches!(&*place.kind, PlaceKind::Var(v)
            if matches!(f.func.var(*v).kind, VarKind::Local | VarKind::Param))
    }

    /// The type of an operand as the type system sees it; `None` when it has none by itself.
    pub(crate) fn operand_type(&mut self, operand: &Operand<'a>) -> Option<QualType> {
        match operand {
            Operand::Value(e) => Some(QualType::plain(e.ty.clone())),
            Operand::Bits { bits, .. } => Some(QualType::plain(Type::Scalar(bits.value_type()))),
            Operand::Functions { name, fns, args, object: None } if !fns.is_empty() => {
                let id = self.function_type(name, fns, args.as_deref());
                Some(QualType::plain(Type::Struct(id)))
            }
            Operand::Place { place, is_const } => {
                let volatile = pointer_volatile(place);
                Some(QualType {
                    is_const: *is_const,
                    is_volatile: volatile,
                    ..QualType::plain(place.ty.clone())
                })
            }
            Operand::Shaped { pointer, index, shape, is_const } => {
                let element = pointer.ty.pointee()?.clone();
                let ty = if index.len() >= shape.len() { element } else { pointer.ty.clone() };
                Some(QualType { is_const: *is_const, ..QualType::plain(ty) })
            }
            Operand::Index3(_) => Some(QualType::plain(Type::Vector(Scalar::U32, 3))),
            Operand::Str(_) => Some(QualType::plain(Type::Pointer {
                pointee: Type::Scalar(Scalar::I8).into(),
                space: warpsmith_ir::Space::Generic,
                volatile: false,
                readonly: true,
            })),
            Operand::Void => Some(QualType::plain(Type::Void)),
            _ => None,
        }
    }

    /// What a name denotes in the current function.
    pub(crate) fn path_operand(&mut self, scope: ScopeId, path: &'a ast::Path) -> Res<Operand<'a>> {
        match self.resolve_path(scope, path)? {
            Found::Entities(entities, args) => self.entity_operand(scope, &entities, args, path),
            Found::Foreign(names, args) => {
                if let Some(operand) = index_vector(&names) {
                    return Ok(operand);
                }
                if names.first().is_some_and(|n| n == "warpSize") {
                    let e = Expr::builtin(Builtin::WarpSize).with_origin(path.span);
                    return Ok(Operand::Value(cast_scalar(e, Scalar::I32, path.span)));
                }
                if let Some(v) = self.foreign_constant(&names, &args) {
                    return Ok(Operand::Value(Expr::constant(v).with_origin(path.span)));
                }
                if let Some(t) = self.foreign_type(&names, &args) {
                    return Ok(Operand::Type(QualType::plain(t)));
                }
                Ok(Operand::Foreign { names, args })
            }
        }
    }

    /// A predefined value: library constants and type traits.
    pub(crate) fn foreign_constant(&mut self, names: &[String], args: &[TArg]) -> Option<Value> {
        let list: Vec<_> = args.iter().flat_map(TArg::to_builtin).collect();
        names.iter().find_map(|n| {
            cuda_constant(n)
                .or_else(|| self.trait_value(n, args))
                .or_else(|| builtins::constant(n, &list))
        })
    }

    fn entity_operand(
        &mut self,
        scope: ScopeId,
        entities: &[Entity<'a>],
        args: Option<&'a [ast::TemplateArg]>,
        path: &'a ast::Path,
    ) -> Res<Operand<'a>> {
        let span = path.span;
        match entities.first() {
            Some(Entity::Place { owner, place, is_const, shape }) => {
                if *owner != self.f().serial {
                    if self.f().unevaluated > 0 && shape.is_none() {
                        return Ok(self.like(place, *is_const, span));
                    }
                    return self.foreign_place(path);
                }
                let place = Place { origin: span.into(), ..place.clone() };
                Ok(match shape {
                    Some(shape) => Operand::Shaped {
                        pointer: Expr::read(place),
                        index: vec![],
                        shape: shape.clone(),
                        is_const: *is_const,
                    },
                    None => Operand::Place { place, is_const: *is_const },
                })
            }
            Some(Entity::Const(e)) => Ok(Operand::Value(e.clone().with_origin(span))),
            Some(Entity::Lazy { decl, item, scope: at }) => {
                let given = args.map(|list| self.resolve_args(scope, list)).transpose()?;
                let (decl, item, scope) = self.variable_instance((decl, item, *at), given, span)?;
                let entity = self.global_entity(decl, item, scope)?;
                self.entity_operand(scope, std::slice::from_ref(&entity), None, path)
            }
            Some(Entity::Global { place, is_const }) => {
                let place = Place { origin: span.into(), ..place.clone() };
                Ok(Operand::Place { place, is_const: *is_const })
            }
            Some(Entity::Function(_)) => {
                let fns = functions(entities);
                let args = match args {
                    Some(list) => Some(self.resolve_args(scope, list)?),
                    None => None,
                };
                let name = path_text(path);
                let object = self.implicit_object(&fns, span)?;
                Ok(Operand::Functions { name, fns, args, object })
            }
            Some(Entity::Enumerator { decl, index, scope }) => {
                let v = self.enumerator_value(decl, *index, *scope)?;
                Ok(Operand::Value(Expr::constant(v).with_origin(span)))
            }
            Some(Entity::Field { class, path: fields }) => self.own_field(*class, fields, span),
            Some(Entity::Poisoned) => Err(Failure::Reported),
            Some(Entity::Namespace(_) | Entity::ForeignNamespace(_)) => {
                fail("W075", span, format!("`{}` is a namespace", path_text(path)))
            }
            Some(Entity::Pack(_)) => fail(
                "W055",
                span,
                format!("the pack `{}` has to be expanded with `...`", path_text(path)),
            ),
            _ => match self.entity_type(scope, entities, args, span)? {
                Some(t) => Ok(Operand::Type(t)),
                None => Err(self.undeclared(scope, &path_text(path), span)),
            },
        }
    }

    /// A variable that stands for one of another function, where only its type counts.
    fn like(&mut self, place: &Place, is_const: bool, span: Span) -> Operand<'a> {
        let var = self.fresh_var("unevaluated", place.ty.clone(), span);
        let place = Place::new(PlaceKind::Var(var), place.ty.clone(), span);
        Operand::Place { place, is_const }
    }

    /// A variable of another function: a captured one, or an error.
    fn foreign_place(&mut self, path: &'a ast::Path) -> Res<Operand<'a>> {
        let name = path_text(path);
        if self.f().is_const_eval {
            return fail("W076", path.span, format!("`{name}` is not constant at compile time"));
        }
        let d = error(
            "W065",
            path.span,
            format!("the variable `{name}` of the enclosing function cannot be used here"),
        );
        Err(d.help("capture it").into())
    }

    /// The object an unqualified call of a method is made on.
    fn implicit_object(&mut self, fns: &[FnDecl<'a>], span: Span) -> Res<Option<Box<Operand<'a>>>> {
        let Some(class) = fns.iter().find(|f| f.needs_object()).and_then(|f| f.class) else {
            return Ok(None);
        };
        match self.this_place(class, span) {
            Some((place, is_const)) => Ok(Some(Box::new(Operand::Place { place, is_const }))),
            None => Ok(None),
        }
    }

    fn this_operand(&mut self, span: Span) -> Res<Operand<'a>> {
        let Some(this) = self.f().this.clone() else {
            return fail("W077", span, "`this` is only known in a method");
        };
        if self.class(this.class).lambda.is_some() {
            return match self.captured_this(&this, span) {
                Some(pointer) => Ok(Operand::Value(pointer)),
                None => fail("W077", span, "`this` is not captured"),
            };
        }
        Ok(Operand::Value(this.pointer.with_origin(span)))
    }

    /// `*this` as an object of the class or one it derives from; through a lambda's captured `this` too.
    pub(crate) fn this_place(
        &mut self,
        class: warpsmith_ir::StructId,
        span: Span,
    ) -> Option<(Place, bool)> {
        let this = self.f().this.clone()?;
        let mut pointer = this.pointer.clone();
        if self.class(this.class).lambda.is_some() && this.class != class {
            pointer = self.captured_this(&this, span)?;
        }
        let Some(Type::Struct(from)) = pointer.ty.pointee().cloned() else { return None };
        let readonly = matches!(pointer.ty, Type::Pointer { readonly: true, .. });
        let place = Place::new(PlaceKind::Deref(pointer), Type::Struct(from), span);
        if from == class {
            return Some((place, readonly));
        }
        let path = self.base_path(from, class)?;
        Some((self.base_place(place, &path, &Type::Struct(class), span), readonly))
    }

    fn captured_this(&mut self, this: &ThisInfo, span: Span) -> Option<Expr> {
        let index = self.class(this.class).fields.iter().find(|f| f.name == "this")?.index;
        let closure =
            Place::new(PlaceKind::Deref(this.pointer.clone()), Type::Struct(this.class), span);
        Some(Expr::read(self.field_place(closure, &[index], span)))
    }

    /// A member named without an object.
    fn own_field(
        &mut self,
        class: warpsmith_ir::StructId,
        path: &[u32],
        span: Span,
    ) -> Res<Operand<'a>> {
        let Some((place, is_const)) = self.this_place(class, span) else {
            let own = self.class(class).scope;
            let inside = std::iter::successors(Some(self.f_scope()), |at| self.scope(*at).parent)
                .any(|at| at == own);
            return match inside {
                true => fail("W077", span, "a member of an object is used without an object"),
                false => super::refused::refuse(super::refused::MEMBER_POINTER, span),
            };
        };
        Ok(self.field_operand(place, class, path, is_const, span))
    }

    /// A field of an object, following a reference member to what it refers to.
    pub(crate) fn field_operand(
        &mut self,
        object: Place,
        class: warpsmith_ir::StructId,
        path: &[u32],
        is_const: bool,
        span: Span,
    ) -> Operand<'a> {
        let info = self.field_info(class, path);
        let is_const = is_const && !info.is_some_and(|f| f.mutable);
        let declared = info.map(|f| f.ty.clone());
        let place = self.field_place(object, path, span);
        if let Some(bits) = path.last().and_then(|code| Bits::from_code(*code)) {
            let is_const = is_const || declared.is_some_and(|q| q.is_const);
            return Operand::Bits { word: place, bits, is_const };
        }
        match declared {
            Some(q) if q.is_reference() => {
                let place = Place::new(PlaceKind::Deref(Expr::read(place)), q.ty, span);
                Operand::Place { place, is_const: q.is_const }
            }
            Some(q) => Operand::Place { place, is_const: is_const || q.is_const },
            None => Operand::Place { place, is_const },
        }
    }
}

pub(crate) fn functions<'a>(entities: &[Entity<'a>]) -> Vec<FnDecl<'a>> {
    entities
        .iter()
        .filter_map(|e| if let Entity::Function(f) = e { Some(*f) } else { None })
        .collect()
}

/// Whether the memory behind a place is reached through a pointer to volatile.
pub(crate) fn pointer_volatile(place: &Place) -> bool {
    match &*place.kind {
        PlaceKind::Deref(p) | PlaceKind::Elem { pointer: p, .. } => {
            matches!(p.ty, Type::Pointer { volatile: true, .. })
        }
        PlaceKind::Index(b, _) | PlaceKind::Field(b, _) | PlaceKind::Component(b, _) => {
            pointer_volatile(b)
        }
        PlaceKind::Var(_) | PlaceKind::Global(_) => false,
    }
}

fn index_vector<'a>(names: &[String]) -> Option<Operand<'a>> {
    let which = match names.first()?.as_str() {
        "threadIdx" => IndexVector::Thread,
        "blockIdx" => IndexVector::Block,
        "blockDim" => IndexVector::BlockDim,
        "gridDim" => IndexVector::GridDim,
        _ => return None,
    };
    Some(Operand::Index3(which))
}

pub(crate) fn index_component(which: IndexVector, axis: Axis, span: Span) -> Expr {
    let b = match which {
        IndexVector::Thread => Builtin::ThreadIdx(axis),
        IndexVector::Block => Builtin::BlockIdx(axis),
        IndexVector::BlockDim => Builtin::BlockDim(axis),
        IndexVector::GridDim => Builtin::GridDim(axis),
    };
    Expr::builtin(b).with_origin(span)
}

/// `cudaMemcpyDeviceToDevice`.
pub(crate) const DEVICE_TO_DEVICE: i32 = 3;

/// Values of the run-time API that launchers mention.
fn cuda_constant(name: &str) -> Option<Value> {
    match name {
        "cudaSuccess" | "cudaMemcpyHostToHost" => Some(Value::i32(0)),
        "cudaMemcpyDefault" => Some(Value::i32(4)),
        "cudaMemcpyHostToDevice" => Some(Value::i32(1)),
        "cudaMemcpyDeviceToHost" => Some(Value::i32(2)),
        "cudaMemcpyDeviceToDevice" => Some(Value::i32(DEVICE_TO_DEVICE)),
        "cudaErrorInvalidValue" => Some(Value::i32(1)),
        "cudaErrorMemoryAllocation" => Some(Value::i32(2)),
        "cudaErrorInvalidConfiguration" => Some(Value::i32(9)),
        "cudaFuncAttributeMaxDynamicSharedMemorySize" => {
            Some(Value::i32(super::host::MAX_DYNAMIC_SHARED))
        }
        "NULL" => Some(Value::int(Scalar::I64, 0)),
        _ => None,
    }
}

/// A number as written, with C's rules for the type of its digits and suffix.
pub(crate) fn number(text: &str) -> Option<Value> {
    // The grammar takes the sign of some literals with the digits.
    if let Some(digits) = text.strip_prefix('-') {
        let v = number(digits.trim_start())?;
        return Some(warpsmith_ir::eval::unary(warpsmith_ir::UnaryOp::Neg, v));
    }
    let text: String = text.chars().filter(|c| *c != '\'').collect::<String>().to_ascii_lowercase();
    let is_hex = text.starts_with("0x");
    let is_float =
        if is_hex { text.contains('p') || text.contains('.') } else { text.contains(['.', 'e']) };
    if is_float || (!is_hex && text.ends_with('f')) {
        return float_number(&text, is_hex);
    }
    let digits_end = text.find(['u', 'l', 'z']).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(digits_end);
    let (radix, digits) = if let Some(d) = digits.strip_prefix("0x") {
        (16, d)
    } else if let Some(d) = digits.strip_prefix("0b") {
        (2, d)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    let value = u64::from_str_radix(digits, radix).ok()?;
    let unsigned = suffix.contains('u') || suffix.contains('z');
    let long = suffix.contains('l') || suffix.contains('z');
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu" | "z" | "uz" | "zu") {
        return None;
    }
    let fits_i32 = i32::try_from(value).is_ok();
    let fits_u32 = u32::try_from(value).is_ok();
    let ty = match (unsigned, long) {
        (false, false) if fits_i32 => Scalar::I32,
        (false, false) if fits_u32 && radix != 10 => Scalar::U32,
        (true, false) if fits_u32 => Scalar::U32,
        (false, _) if i64::try_from(value).is_ok() => Scalar::I64,
        _ => Scalar::U64,
    };
    Some(Value::int(ty, value as i64))
}

fn float_number(text: &str, is_hex: bool) -> Option<Value> {
    let (digits, ty) = if let Some(d) = text.strip_suffix("f16") {
        (d, Scalar::F16)
    } else if let Some(d) = text.strip_suffix('f') {
        (d, Scalar::F32)
    } else {
        (text.strip_suffix('l').unwrap_or(text), Scalar::F64)
    };
    if is_hex {
        return hex_float(digits).map(|v| Value::float(ty, v));
    }
    // Rounded once, from the decimal text to the type itself.
    match ty {
        Scalar::F32 => {
            let x: f32 = digits.parse().ok()?;
            Some(Value { ty, bits: x.to_bits().into() })
        }
        _ => digits.parse::<f64>().ok().map(|x| Value::float(ty, x)),
    }
}

/// `0x1.8p3`
fn hex_float(text: &str) -> Option<f64> {
    let body = text.strip_prefix("0x")?;
    let (mantissa, exponent) = body.split_once('p').unwrap_or((body, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0f64;
    for c in whole.chars() {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    let mut scale = 1.0 / 16.0;
    for c in fraction.chars() {
        value += f64::from(c.to_digit(16)?) * scale;
        scale /= 16.0;
    }
    Some(value * f64::from(exponent).exp2())
}
