//! Types as written to types of the IR, and paths to what they name.

use warpsmith_ir::{Scalar, Space, Span, StructId, Type, layout};

use super::Sema;
use super::builtin_api::NamedType;
use super::model::*;
use super::refused::{WIDE, refuse};
use crate::ast::{self, TypeKind};
use crate::builtins;

/// What a path leads to.
pub(crate) enum Found<'a> {
    /// Meanings of the last segment, with its template arguments if it has any.
    Entities(Vec<Entity<'a>>, Option<&'a [ast::TemplateArg]>),
    /// Nothing in the source: the canonical names the library may know it by.
    Foreign(Vec<String>, Vec<TArg>),
}

/// A scope that `::` looks into.
enum Container<'a> {
    Scope(ScopeId),
    Class(StructId),
    Enum(&'a ast::EnumDecl, ScopeId),
    Foreign(String, Vec<TArg>),
}

impl<'a> Sema<'a> {
    /// The class of an expression, whose members are named: `decltype(e)::…`.
    fn class_of_expr(&mut self, scope: ScopeId, e: &'a ast::Expr) -> Res<Container<'a>> {
        let named = match &*e.kind {
            ast::ExprKind::Path(path) => path.as_name().map(|name| self.lookup(scope, name)),
            _ => None,
        };
        let q = match named.as_ref().and_then(|list| list.first()) {
            Some(Entity::Place { place, .. }) => QualType::plain(place.ty.clone()),
            _ => self.type_of_expr(scope, e)?,
        };
        match self.is_class(&q.ty) {
            Some(class) => Ok(Container::Class(class)),
            None => {
                let text = self.type_text(&q.ty);
                fail("W051", e.span, format!("`{text}` is no class, it has no members"))
            }
        }
    }

    /// Follows a path from a scope to what its last segment means.
    pub(crate) fn resolve_path(&mut self, scope: ScopeId, path: &'a ast::Path) -> Res<Found<'a>> {
        let Some((first, rest)) = path.segments.split_first() else {
            return fail("W050", path.span, "a name is missing here");
        };
        let from = if path.global { self.file_around(scope) } else { scope };
        let entities = self.lookup(from, &first.name);
        if rest.is_empty() {
            return self.found(scope, entities, first, None);
        }
        let mut at = match (first.name.as_str(), first.args.as_deref()) {
            ("decltype", Some([ast::TemplateArg::Value(e)])) => self.class_of_expr(scope, e)?,
            _ => self.container(scope, entities, first, path.span)?,
        };
        for (i, segment) in rest.iter().enumerate() {
            let is_last = i + 1 == rest.len();
            let entities = match &at {
                Container::Scope(id) => self.named_in(*id, scope, segment, path.span)?,
                Container::Class(class) => {
                    let class_scope = self.class(*class).scope;
                    self.lookup_in(class_scope, &segment.name)
                }
                Container::Enum(decl, in_scope) => enumerator(decl, *in_scope, &segment.name),
                Container::Foreign(prefix, args) => {
                    let full = format!("{prefix}::{}", segment.name);
                    let mut all = args.clone();
                    if let Some(list) = &segment.args {
                        all.extend(self.resolve_args(scope, list)?);
                    }
                    if is_last {
                        return Ok(Found::Foreign(vec![full], all));
                    }
                    at = Container::Foreign(full, all);
                    continue;
                }
            };
            if let (true, Container::Scope(id)) = (entities.is_empty(), &at)
                && let Some(library) = self.library(*id)
            {
                let full = format!("{library}::{}", segment.name);
                let args = match &segment.args {
                    Some(list) => self.resolve_args(scope, list)?,
                    None => vec![],
                };
                if is_last {
                    return Ok(Found::Foreign(vec![full], args));
                }
                at = Container::Foreign(full, args);
                continue;
            }
            if entities.is_empty() {
                let what = path.segments[..=i].iter().map(|s| s.name.as_str()).collect::<Vec<_>>();
                let message = format!("`{}` has no member `{}`", what.join("::"), segment.name);
                return fail("W051", path.span, message);
            }
            if is_last {
                return self.found(scope, entities, segment, None);
            }
            at = self.container(scope, entities, segment, path.span)?;
        }
        fail("W050", path.span, "a name is missing here")
    }

    /// The last segment: entities of the source, or names for the library to try.
    fn found(
        &mut self,
        scope: ScopeId,
        entities: Vec<Entity<'a>>,
        segment: &'a ast::PathSegment,
        _prefix: Option<&str>,
    ) -> Res<Found<'a>> {
        let foreign = match entities.first() {
            None => {
                let mut names = vec![segment.name.clone()];
                let opened = self.foreign_namespaces(scope);
                names.extend(opened.iter().map(|n| format!("{n}::{}", segment.name)));
                names
            }
            Some(Entity::ForeignNamespace(full)) => vec![full.clone()],
            Some(_) => return Ok(Found::Entities(entities, segment.args.as_deref())),
        };
        let args = match &segment.args {
            Some(list) => self.resolve_args(scope, list)?,
            None => vec![],
        };
        Ok(Found::Foreign(foreign, args))
    }

    fn container(
        &mut self,
        scope: ScopeId,
        entities: Vec<Entity<'a>>,
        segment: &'a ast::PathSegment,
        span: Span,
    ) -> Res<Container<'a>> {
        match entities.first() {
            Some(Entity::Namespace(id)) => return Ok(Container::Scope(*id)),
            Some(Entity::ForeignNamespace(full)) => {
                return Ok(Container::Foreign(full.clone(), vec![]));
            }
            Some(Entity::Enum { decl, scope }) => return Ok(Container::Enum(decl, *scope)),
            // `namespace cg = cooperative_groups;` reaches us as an alias of an unknown name.
            Some(Entity::Alias { decl, scope: at }) => {
                if let TypeKind::Named(target) = &decl.ty.kind
                    && let Ok(Found::Foreign(names, args)) = self.resolve_path(*at, target)
                    && let Some(name) = names.into_iter().next()
                    && self.foreign_type(std::slice::from_ref(&name), &args).is_none()
                {
                    return Ok(Container::Foreign(name, args));
                }
            }
            None => {
                let args = match &segment.args {
                    Some(list) => self.resolve_args(scope, list)?,
                    None => vec![],
                };
                return Ok(Container::Foreign(segment.name.clone(), args));
            }
            _ => {}
        }
        let ty = self.entity_type(scope, &entities, segment.args.as_deref(), span)?;
        match ty.map(|t| t.ty) {
            Some(Type::Struct(id)) => Ok(Container::Class(id)),
            Some(other) => {
                let text = self.type_text(&other);
                fail("W051", span, format!("`{text}` is no class, it has no members"))
            }
            None => fail("W051", span, format!("`{}` is no class or namespace", segment.name)),
        }
    }

    /// The type that entities of one name stand for; `None` when they are no type.
    pub(crate) fn entity_type(
        &mut self,
        scope: ScopeId,
        entities: &[Entity<'a>],
        args: Option<&'a [ast::TemplateArg]>,
        span: Span,
    ) -> Res<Option<QualType>> {
        match entities.first() {
            Some(Entity::Type(t)) => match (self.is_class(&t.ty), args) {
                // Inside a class template its name with arguments is the template again.
                (Some(class), Some(_)) if self.class(class).template.is_some() => {
                    let (name, around) = self.template_of(class);
                    let found = self.lookup(around, &name);
                    self.deeper(span, |s| s.entity_type(scope, &found, args, span))
                }
                _ => Ok(Some(t.clone())),
            },
            Some(Entity::Class { .. }) => {
                let resolved = match args {
                    Some(list) => Some(self.resolve_args(scope, list)?),
                    None => None,
                };
                let id = self.class_from_entities(entities, resolved, span)?;
                Ok(Some(QualType::plain(Type::Struct(id))))
            }
            Some(Entity::Enum { decl, scope }) => {
                let s = self.enum_type(decl, *scope)?;
                Ok(Some(QualType::plain(Type::Scalar(s))))
            }
            Some(Entity::Alias { decl, scope: at }) => {
                let Some(header) = &decl.template else {
                    return self.deeper(span, |s| s.resolve_type(*at, &decl.ty)).map(Some);
                };
                let given = match args {
                    Some(list) => self.resolve_args(scope, list)?,
                    None => vec![],
                };
                let (inner, _) = self.bind_params(header, given, *at, span)?;
                self.deeper(span, |s| s.resolve_type(inner, &decl.ty)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The name of the template a class is made from, and the scope the template is declared in.
    fn template_of(&self, class: StructId) -> (String, ScopeId) {
        let info = self.class(class);
        let name = info.template.as_ref().map(|(n, _)| n.clone()).unwrap_or_default();
        let mut at = self.scope(info.scope).parent;
        while let Some(id) = at
            && self.scope(id).kind == ScopeKind::Template
        {
            at = self.scope(id).parent;
        }
        (name, at.unwrap_or(self.root))
    }

    /// A type as written in a scope.
    pub(crate) fn resolve_type(&mut self, scope: ScopeId, ty: &'a ast::TypeName) -> Res<QualType> {
        self.deeper(ty.span, |s| s.resolve_type_inner(scope, ty))
    }

    fn resolve_type_inner(&mut self, scope: ScopeId, ty: &'a ast::TypeName) -> Res<QualType> {
        let mut q = match &ty.kind {
            TypeKind::Void => QualType::plain(Type::Void),
            TypeKind::Auto | TypeKind::DecltypeAuto => {
                return fail("W052", ty.span, "`auto` needs a value to take its type from");
            }
            TypeKind::Builtin(words) => match self.stream(words).or_else(|| builtin_words(words)) {
                Some(t) => QualType::plain(t),
                None if words.iter().any(|w| w == "__int128") => return refuse(WIDE, ty.span),
                None => return fail("W052", ty.span, format!("`{}` is no type", words.join(" "))),
            },
            TypeKind::Named(path) => self.named_type(scope, path)?,
            TypeKind::Pointer { to, .. } if matches!(to.kind, TypeKind::Function { .. }) => {
                self.resolve_type(scope, to)?
            }
            TypeKind::Pointer { to, .. } => self.pointer_type(scope, to)?,
            TypeKind::Reference { to, rvalue } => {
                let mut inner = self.resolve_type(scope, to)?;
                if inner.reference != RefKind::Lvalue {
                    inner.reference = if *rvalue { RefKind::Rvalue } else { RefKind::Lvalue };
                }
                return Ok(inner);
            }
            TypeKind::Array { element, extent } => {
                let inner = self.resolve_type(scope, element)?;
                let length = match extent {
                    Some(e) => self.array_length(scope, e)?,
                    None => 0,
                };
                self.check_size(&inner.ty, length, ty.span)?;
                QualType { ty: Type::array(inner.ty, length), ..inner }
            }
            TypeKind::Function { ret, params } => {
                self.function_pointer_type(scope, ret, params, ty.span)?
            }
            TypeKind::Decltype(e) => self.decltype(scope, e)?,
            TypeKind::Inline(inline) => match &**inline {
                ast::InlineType::Struct(s) => {
                    QualType::plain(Type::Struct(self.class_instance(s, scope, vec![], ty.span)?))
                }
                ast::InlineType::Enum(e) => {
                    QualType::plain(Type::Scalar(self.enum_type(e, scope)?))
                }
            },
        };
        q.is_const |= ty.is_const;
        q.is_volatile |= ty.is_volatile;
        Ok(q)
    }

    /// `decltype((x))` of something that can be assigned is a reference to it.
    fn decltype(&mut self, scope: ScopeId, e: &'a ast::Expr) -> Res<QualType> {
        let q = self.type_of_expr(scope, e)?;
        let in_parentheses = matches!(&*e.kind, ast::ExprKind::Paren(_));
        match in_parentheses && self.is_assignable(scope, e) {
            true => Ok(QualType { reference: RefKind::Lvalue, ..q }),
            false => Ok(q),
        }
    }

    fn pointer_type(&mut self, scope: ScopeId, to: &'a ast::TypeName) -> Res<QualType> {
        let inner = self.resolve_type(scope, to)?;
        if inner.is_reference() {
            return fail("W052", to.span, "a pointer to a reference is no type");
        }
        Ok(QualType::plain(Type::Pointer {
            pointee: inner.ty.into(),
            space: Space::Generic,
            volatile: inner.is_volatile,
            readonly: inner.is_const,
        }))
    }

    pub(crate) fn named_type(&mut self, scope: ScopeId, path: &'a ast::Path) -> Res<QualType> {
        match self.resolve_path(scope, path)? {
            Found::Entities(entities, args) => {
                // `typename T::type` of an entity list that starts with a poisoned name stays silent.
                if matches!(entities.first(), Some(Entity::Poisoned)) {
                    return Err(Failure::Reported);
                }
                match self.entity_type(scope, &entities, args, path.span)? {
                    Some(t) => Ok(t),
                    None => fail("W052", path.span, format!("`{}` is no type", path_text(path))),
                }
            }
            Found::Foreign(names, args) => match self.foreign_type(&names, &args) {
                Some(t) => Ok(QualType::plain(t)),
                None if path.segments.len() == 1 => {
                    let failure = self.undeclared(scope, &path.segments[0].name, path.span);
                    Err(failure)
                }
                None => {
                    let name = path_text(path);
                    let d = error("W052", path.span, format!("the type `{name}` is not known"));
                    let advice = super::instead::instead(&name)
                        .unwrap_or("declare it in this file, or write the code without it");
                    Err(d.help(advice).into())
                }
            },
        }
    }

    /// A stream of a whole program is a pointer, as in the vendor's headers: `s = nullptr`. A launcher that is called by
    /// itself gets a number.
    fn stream<S: AsRef<str>>(&self, words: &[S]) -> Option<Type> {
        let is_stream = matches!(words, [only] if only.as_ref() == "cudaStream_t");
        (is_stream && self.program).then(|| Type::pointer(Type::Void, Space::Generic))
    }

    /// A predefined type of one of those names.
    pub(crate) fn foreign_type(&mut self, names: &[String], args: &[TArg]) -> Option<Type> {
        for name in names {
            let plain =
                name.strip_prefix("std::").or(name.strip_prefix("cuda::std::")).unwrap_or(name);
            if let Some(t) = self.stream(&[plain]).or_else(|| known_type(plain)) {
                return Some(t);
            }
            if let Some(t) = self.trait_type(plain, args) {
                return Some(t);
            }
            if let Some(t) = self.storage_type(plain, args) {
                return Some(t);
            }
            let list: Vec<_> = args.iter().flat_map(TArg::to_builtin).collect();
            match builtins::type_named(name, &list) {
                Some(NamedType::Plain(t)) => return Some(t),
                Some(NamedType::Object(o)) => return Some(self.object_struct(&o)),
                None => {}
            }
        }
        None
    }

    /// The type members of `<type_traits>` that kernels use.
    fn trait_type(&self, name: &str, args: &[TArg]) -> Option<Type> {
        let base = name.strip_suffix("::type").or(name.strip_suffix("_t"))?;
        match (base, args) {
            ("conditional", [TArg::Value(v), TArg::Type(a), TArg::Type(b)]) => {
                Some(if v.is_true() { a.ty.clone() } else { b.ty.clone() })
            }
            ("enable_if", [TArg::Value(v)]) if v.is_true() => Some(Type::Void),
            ("enable_if", [TArg::Value(v), TArg::Type(t)]) if v.is_true() => Some(t.ty.clone()),
            (
                "remove_const" | "remove_cv" | "remove_reference" | "decay" | "remove_cvref",
                [TArg::Type(t)],
            ) => Some(t.ty.clone()),
            ("remove_pointer", [TArg::Type(t)]) => {
                Some(t.ty.pointee().cloned().unwrap_or_else(|| t.ty.clone()))
            }
            ("make_unsigned", [TArg::Type(t)]) => {
                t.ty.scalar().map(|s| Type::Scalar(with_sign(s, false)))
            }
            ("make_signed", [TArg::Type(t)]) => {
                t.ty.scalar().map(|s| Type::Scalar(with_sign(s, true)))
            }
            _ => None,
        }
    }

    /// `aligned_storage<bytes, alignment>`: bytes without a type.
    fn storage_type(&mut self, name: &str, args: &[TArg]) -> Option<Type> {
        let value = |i: usize| match args.get(i) {
            Some(TArg::Value(v)) => u64::try_from(v.as_i64()).ok(),
            _ => None,
        };
        let base = name.strip_suffix("::type").or(name.strip_suffix("_t"))?;
        let bytes = value(0).filter(|n| (1..=1 << 30).contains(n))?;
        let align = value(1).unwrap_or_else(|| bytes.next_power_of_two().min(16));
        if base != "aligned_storage" || !align.is_power_of_two() || align > 256 {
            return None;
        }
        let name = format!("aligned_storage<{bytes}, {align}>");
        let structs = &self.module.structs;
        let known = structs.iter().position(|s| s.name == name && s.align == align);
        let id = match known {
            Some(i) => StructId(i as u32),
            None => {
                let span = self.f().span;
                let id = self.new_struct(&name, span);
                let field = ("bytes".to_string(), Type::array(Type::Scalar(Scalar::U8), bytes));
                self.lay_out_class(id, vec![field], vec![], false, align);
                id
            }
        };
        Some(Type::Struct(id))
    }

    /// The scalar an enum is stored as.
    pub(crate) fn enum_type(&mut self, decl: &'a ast::EnumDecl, scope: ScopeId) -> Res<Scalar> {
        let Some(ty) = &decl.underlying else { return Ok(Scalar::I32) };
        match self.resolve_type(scope, ty)?.ty {
            Type::Scalar(s) if s.is_integer() => Ok(s),
            _ => fail("W052", ty.span, "the underlying type of an enum is an integer type"),
        }
    }

    pub(crate) fn array_length(&mut self, scope: ScopeId, extent: &'a ast::Expr) -> Res<u64> {
        let value = self.const_value(scope, extent)?;
        if value.ty.is_float() {
            return fail("W054", extent.span, "the length of an array is an integer");
        }
        let length = value.as_i64();
        if value.ty != Scalar::U64 && length < 0 {
            return fail(
                "W054",
                extent.span,
                format!("the length of an array is {length}, below zero"),
            );
        }
        Ok(length as u64)
    }

    fn check_size(&self, element: &Type, length: u64, span: Span) -> Res<()> {
        let bytes = layout::layout_of(&self.module, element).size.checked_mul(length);
        match bytes {
            Some(b) if b < 1 << 40 => Ok(()),
            _ => fail("W054", span, "this array is too large"),
        }
    }

    /// The type of a parameter: arrays are pointers, top-level `const` says nothing to the caller.
    pub(crate) fn decayed(&self, mut q: QualType) -> QualType {
        if let Type::Array(element, _) = &q.ty
            && !q.is_reference()
        {
            q.ty = Type::Pointer {
                pointee: element.clone(),
                space: Space::Generic,
                volatile: q.is_volatile,
                readonly: q.is_const,
            };
            q.is_const = false;
            q.is_volatile = false;
        }
        q
    }
}

fn enumerator<'a>(decl: &'a ast::EnumDecl, scope: ScopeId, name: &str) -> Vec<Entity<'a>> {
    let index = decl.variants.iter().position(|(n, _, _)| n == name);
    index.map(|index| Entity::Enumerator { decl, index, scope }).into_iter().collect()
}

/// The segments of a path joined by `::`, without template arguments.
pub(crate) fn path_text(path: &ast::Path) -> String {
    path.segments.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join("::")
}

pub(crate) fn with_sign(s: Scalar, signed: bool) -> Scalar {
    use Scalar::*;
    match (s, signed) {
        (I8 | U8, true) => I8,
        (I8 | U8, false) => U8,
        (I16 | U16, true) => I16,
        (I16 | U16, false) => U16,
        (I32 | U32, true) => I32,
        (I32 | U32, false) => U32,
        (I64 | U64, true) => I64,
        (I64 | U64, false) => U64,
        (other, _) => other,
    }
}

/// `unsigned long long int` and its like, in any order of words.
pub(crate) fn builtin_words(words: &[String]) -> Option<Type> {
    let count = |w: &str| words.iter().filter(|x| *x == w).count();
    if let [only] = words
        && !matches!(only.as_str(), "signed" | "unsigned" | "short" | "long" | "int" | "char")
    {
        return known_type(only);
    }
    if count("double") > 0 {
        return Some(Type::F64);
    }
    if count("float") > 0 {
        return Some(Type::F32);
    }
    if count("_Bool") > 0 || count("bool") > 0 {
        return Some(Type::BOOL);
    }
    let base = if count("char") > 0 {
        Scalar::I8
    } else if count("short") > 0 {
        Scalar::I16
    } else if count("long") > 0 {
        Scalar::I64
    } else {
        let known = ["int", "signed", "unsigned"];
        if !words.iter().all(|w| known.contains(&w.as_str()) || w == "const") {
            return None;
        }
        Scalar::I32
    };
    Some(Type::Scalar(if count("unsigned") > 0 { with_sign(base, false) } else { base }))
}

/// Predefined type names of C, CUDA and `<cstdint>`.
pub(crate) fn known_type(name: &str) -> Option<Type> {
    use Scalar::*;
    let scalar = match name {
        "void" => return Some(Type::Void),
        "bool" | "_Bool" => Bool,
        "char" | "int8_t" => I8,
        "uint8_t" | "uchar" | "byte" => U8,
        "short" | "int16_t" => I16,
        "ushort" | "uint16_t" => U16,
        "int" | "int32_t" | "cudaError_t" | "int_fast32_t" | "int_least32_t" => I32,
        "cudaError" => I32,
        "uint" | "uint32_t" | "uint_fast32_t" | "uint_least32_t" | "clock32_t" => U32,
        "long" | "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" | "intmax_t" | "clock_t" => I64,
        "size_t" | "uint64_t" | "ulong" | "uintptr_t" | "uintmax_t" | "cudaStream_t" => U64,
        "half" | "__half" | "_Float16" => F16,
        "nv_bfloat16" | "__nv_bfloat16" => BF16,
        "float" | "float_t" => F32,
        "double" | "double_t" => F64,
        "half2" | "__half2" => return Some(Type::Vector(F16, 2)),
        "nv_bfloat162" | "__nv_bfloat162" => return Some(Type::Vector(BF16, 2)),
        "dim3" => return Some(Type::Vector(U32, 3)),
        _ => return vector_type(name),
    };
    Some(Type::Scalar(scalar))
}

/// `float4`, `uchar2`, `longlong1` …
fn vector_type(name: &str) -> Option<Type> {
    let count = name.chars().last()?.to_digit(10).filter(|n| (1..=4).contains(n))?;
    let scalar = match &name[..name.len() - 1] {
        "char" => Scalar::I8,
        "uchar" => Scalar::U8,
        "short" => Scalar::I16,
        "ushort" => Scalar::U16,
        "int" => Scalar::I32,
        "uint" => Scalar::U32,
        "long" | "longlong" => Scalar::I64,
        "ulong" | "ulonglong" => Scalar::U64,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        _ => return None,
    };
    Some(Type::Vector(scalar, count as u8))
}
