//! Classes: instantiation, layout, members, bases.

use warpsmith_ir::{
    Expr, Origin, Place, PlaceKind, Scalar, Span, StructDef, StructField, StructId, Type, layout,
};

use super::Sema;
use super::bit_fields::Bits;
use super::builtin_api::BuiltinType;
use super::model::*;
use super::specialised;
use super::templates::Bindings;
use crate::ast::{self, Member};

impl<'a> Sema<'a> {
    /// The information of a class; ids are only made by `new_class` and `object_struct`.
    pub(crate) fn class(&self, id: StructId) -> &ClassInfo<'a> {
        self.classes.get(&id).unwrap_or(&self.no_class)
    }

    pub(crate) fn is_class(&self, ty: &Type) -> Option<StructId> {
        match ty {
            Type::Struct(id) if self.classes.contains_key(id) => Some(*id),
            _ => None,
        }
    }

    /// The class that declarations of one name and template arguments select.
    pub(crate) fn class_from_entities(
        &mut self,
        entities: &[Entity<'a>],
        args: Option<Vec<TArg>>,
        span: Span,
    ) -> Res<StructId> {
        let decls = specialised::classes(entities);
        let primary = decls.iter().filter(|(d, _)| specialised::is_primary(d));
        let Some(&(decl, scope)) = primary.max_by_key(|(d, _)| d.members.is_some()) else {
            return self.class_without_primary(&decls, args, span);
        };
        let Some(header) = &decl.template else {
            return fail("W052", span, "this is no class template");
        };
        let (bound, full) = self.bind_params(header, args.unwrap_or_default(), scope, span)?;
        let key = (std::ptr::from_ref(decl) as usize, scope, full.clone());
        if let Some(id) = self.class_memo.get(&key) {
            return Ok(*id);
        }
        let special = self.best_specialisation(&decls, &full, span)?;
        let (chosen, inner) = special.unwrap_or((decl, bound));
        let id = self.new_class(chosen, inner, Some(full), chosen.span);
        self.class_memo.insert(key, id);
        self.define_class(id, chosen, span)?;
        Ok(id)
    }

    /// The specialisation with the fewest free parameters that matches, with its parameters bound.
    pub(super) fn best_specialisation(
        &mut self,
        decls: &[(&'a ast::StructDecl, ScopeId)],
        args: &[TArg],
        span: Span,
    ) -> Res<Option<(&'a ast::StructDecl, ScopeId)>> {
        let mut best: Option<(usize, &'a ast::StructDecl, ScopeId, Bindings)> = None;
        for &(decl, scope) in decls {
            let Some(patterns) = &decl.specialisation else { continue };
            let params = decl.template.as_ref().map_or(&[][..], |t| &t.params[..]);
            let mut found = Bindings::new();
            if self.deduce_args(patterns, args, params, scope, &mut found)
                && best.as_ref().is_none_or(|(n, ..)| params.len() < *n)
            {
                best = Some((params.len(), decl, scope, found));
            }
        }
        let Some((_, decl, scope, found)) = best else { return Ok(None) };
        let inner = match &decl.template {
            Some(header) => self.bind_found(header, found, scope, span)?.0,
            None => scope,
        };
        Ok(Some((decl, inner)))
    }

    /// The one instance of a class that is no template, in its scope.
    pub(crate) fn class_instance(
        &mut self,
        decl: &'a ast::StructDecl,
        scope: ScopeId,
        args: Vec<TArg>,
        span: Span,
    ) -> Res<StructId> {
        let key = (std::ptr::from_ref(decl) as usize, scope, args);
        if let Some(id) = self.class_memo.get(&key) {
            return Ok(*id);
        }
        let id = self.new_class(decl, scope, None, decl.span);
        self.class_memo.insert(key, id);
        self.define_class(id, decl, span)?;
        Ok(id)
    }

    pub(super) fn new_class(
        &mut self,
        decl: &'a ast::StructDecl,
        parent: ScopeId,
        args: Option<Vec<TArg>>,
        span: Span,
    ) -> StructId {
        let base = decl.name.clone().unwrap_or_else(|| "(anonymous)".into());
        let name = match &args {
            Some(list) => format!("{base}<{}>", self.args_text(list)),
            None => base.clone(),
        };
        let id = self.new_struct(&name, span);
        let scope = self.new_scope(Some(parent), ScopeKind::Class(id));
        if decl.name.is_some() {
            self.declare(scope, &base, Entity::Type(QualType::plain(Type::Struct(id))));
        }
        let info = ClassInfo {
            name,
            decl: Some(decl),
            scope,
            fields: vec![],
            bases: vec![],
            ctors: vec![],
            conversions: vec![],
            destructor: None,
            numbered: false,
            template: args.map(|list| (base, list)),
            lambda: None,
            function: None,
            complete: false,
        };
        self.classes.insert(id, info);
        id
    }

    /// An empty struct of the module, to be filled in.
    pub(crate) fn new_struct(&mut self, name: &str, span: Span) -> StructId {
        self.module.structs.push(StructDef {
            name: name.to_string(),
            fields: vec![],
            size: 1,
            align: 1,
            origin: Origin::at(span),
        });
        StructId(self.module.structs.len() as u32 - 1)
    }

    pub(super) fn define_class(
        &mut self,
        id: StructId,
        decl: &'a ast::StructDecl,
        span: Span,
    ) -> Res<()> {
        let Some(members) = &decl.members else {
            let name = self.class(id).name.clone();
            let d = error("W058", span, format!("`{name}` is declared but not defined"));
            return Err(d.label(decl.span, "declared here").into());
        };
        let scope = self.class(id).scope;
        self.declare_members(id, scope, members);
        let mut bases = vec![];
        let mut types = vec![];
        for base in &decl.bases {
            for scope in self.scopes_of_base(scope, base)? {
                bases.push(self.base_info(scope, &base.ty, &mut types)?);
            }
        }
        if is_virtual(members) && !bases.iter().any(|b| self.is_polymorphic(b.class)) {
            types.insert(0, ("class number".into(), Type::U64));
            for base in &mut bases {
                base.index = base.index.map(|i| i + 1);
            }
            if let Some(info) = self.classes.get_mut(&id) {
                info.numbered = true;
            }
        }
        if let Some(info) = self.classes.get_mut(&id) {
            info.bases = bases;
        }
        self.bring_in(id, members);
        let mut fields = vec![];
        for member in members {
            self.member_fields(id, scope, member, &mut types, &mut fields)?;
        }
        let align = match &decl.align {
            Some(e) => self.alignment_value(scope, e)?.clamp(1, 1 << 20) as u64,
            None => 1,
        };
        match fields.iter().any(|f| f.bits.is_some()) {
            true => self.lay_out_bits(id, types, fields, decl.is_union, align)?,
            false => self.lay_out_class(id, types, fields, decl.is_union, align),
        }
        for member in members {
            if let Member::StaticAssert(cond) = member {
                self.check_static_assert(scope, cond);
            }
        }
        Ok(())
    }

    /// Names that need no layout: methods, nested types, static members.
    fn declare_members(&mut self, id: StructId, scope: ScopeId, members: &'a [Member]) {
        for member in members {
            match member {
                Member::Method(f) => self.declare_method(id, scope, f),
                Member::Struct(s) => self.declare_struct(scope, s),
                Member::Enum(e) => self.declare_enum(scope, e),
                Member::Alias(a) => self.declare_alias(scope, a),
                Member::Field(vars) => {
                    self.declare_inline_type(scope, vars);
                    if vars.attrs.is_static || vars.attrs.is_constexpr {
                        for item in &vars.declarators {
                            let lazy = Entity::Lazy { decl: vars, item, scope };
                            self.declare(scope, &item.name, lazy);
                        }
                    }
                }
                Member::StaticAssert(_) | Member::Using(_) | Member::Unsupported { .. } => {}
            }
        }
    }

    /// The innermost namespace that a scope is in.
    fn namespace_around(&self, mut scope: ScopeId) -> ScopeId {
        while self.scope(scope).kind != ScopeKind::Namespace {
            match self.scope(scope).parent {
                Some(parent) => scope = parent,
                None => break,
            }
        }
        scope
    }

    fn declare_method(&mut self, id: StructId, scope: ScopeId, decl: &'a ast::FunctionDecl) {
        let is_static = decl.attrs.is_static || super::new_delete::is_of_memory(&decl.name);
        // A friend defined in the class is a free function that sees the class's names.
        let class = (!decl.attrs.is_friend).then_some(id);
        let mut f = FnDecl { decl, scope, class, is_static };
        let name = match &decl.name {
            ast::FunctionName::Plain(path) => match path.segments.last() {
                Some(last) if decl.attrs.is_friend => {
                    let around = self.namespace_around(scope);
                    return self.declare(around, &last.name, Entity::Function(f));
                }
                Some(last) => last.name.clone(),
                None => return,
            },
            ast::FunctionName::Operator(op) => {
                // A friend defined in the class: a free function with both operands as parameters.
                let binary = decl.params.len() == 2
                    && !matches!(op.as_str(), "()" | "[]" | "++" | "--")
                    && !super::new_delete::is_of_memory(&decl.name);
                if binary {
                    f = FnDecl { class: None, ..f };
                }
                format!("operator{op}")
            }
            ast::FunctionName::Constructor => {
                if let Some(info) = self.classes.get_mut(&id) {
                    info.ctors.push(f);
                }
                return;
            }
            ast::FunctionName::Conversion(_) => {
                if let Some(info) = self.classes.get_mut(&id) {
                    info.conversions.push(f);
                }
                return;
            }
            ast::FunctionName::Destructor => {
                let class = self.class(id).decl.and_then(|d| d.name.clone()).unwrap_or_default();
                let outside = self.out_of_line.get(&(class.clone(), format!("~{class}")));
                let outside = outside.into_iter().flatten().map(|f| f.decl);
                let mut bodies = outside.chain([decl]).filter_map(|d| d.body.as_ref());
                let has_effect = bodies.any(|b| !b.stmts.is_empty());
                // A virtual one is always called through the object's class.
                if let Some(info) = self.classes.get_mut(&id)
                    && has_effect
                {
                    info.destructor = Some(f);
                }
                return;
            }
        };
        self.declare(scope, &name, Entity::Function(f));
    }

    fn base_info(
        &mut self,
        scope: ScopeId,
        base: &'a ast::TypeName,
        types: &mut Vec<(String, Type)>,
    ) -> Res<BaseInfo> {
        let ty = self.resolve_type(scope, base)?.ty;
        let Some(class) = self.is_class(&ty) else {
            return fail("W059", base.span, "a base has to be a class");
        };
        if !self.class(class).complete {
            return fail("W058", base.span, "the base is not complete here");
        }
        let is_empty =
            self.module.structs.get(class.0 as usize).is_none_or(|s| s.fields.is_empty());
        if is_empty {
            return Ok(BaseInfo { class, index: None });
        }
        types.push((self.class(class).name.clone(), ty));
        Ok(BaseInfo { class, index: Some(types.len() as u32 - 1) })
    }

    fn member_fields(
        &mut self,
        id: StructId,
        scope: ScopeId,
        member: &'a Member,
        types: &mut Vec<(String, Type)>,
        fields: &mut Vec<FieldInfo<'a>>,
    ) -> Res<()> {
        match member {
            Member::Struct(s) if s.name.is_none() && s.members.is_some() => {
                let inner = self.class_instance(s, scope, vec![], s.span)?;
                self.add_anonymous(id, scope, inner, s.span, types, fields);
            }
            Member::Field(vars) if !vars.attrs.is_static && !vars.attrs.is_constexpr => {
                for item in &vars.declarators {
                    let before = fields.len();
                    self.add_field(id, scope, item, types, fields)?;
                    let added = fields.iter_mut().skip(before);
                    added.for_each(|f| f.mutable = vars.attrs.is_mutable);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_field(
        &mut self,
        id: StructId,
        scope: ScopeId,
        item: &'a ast::Declarator,
        types: &mut Vec<(String, Type)>,
        fields: &mut Vec<FieldInfo<'a>>,
    ) -> Res<()> {
        let ty = self.resolve_type(scope, &item.ty)?;
        let bits = match &item.bits {
            Some(width) => Some(self.declared_bits(scope, item, width, &ty.ty)?),
            None => None,
        };
        if let Type::Struct(inner) = ty.ty.innermost()
            && self.classes.get(inner).is_some_and(|c| !c.complete)
        {
            return fail(
                "W058",
                item.span,
                format!("the type of `{}` is not complete here", item.name),
            );
        }
        if item.name.is_empty()
            && let Type::Struct(inner) = ty.ty
        {
            self.add_anonymous(id, scope, inner, item.span, types, fields);
            return Ok(());
        }
        if ty.ty == Type::Void && !ty.is_reference() {
            return fail("W052", item.span, format!("`{}` cannot be of type void", item.name));
        }
        let index = types.len() as u32;
        types.push((item.name.clone(), stored_type(&ty)));
        if !item.name.is_empty() {
            self.declare(scope, &item.name, Entity::Field { class: id, path: vec![index] });
        }
        fields.push(FieldInfo {
            name: item.name.clone(),
            ty,
            init: item.init.as_ref(),
            mutable: false,
            span: item.span,
            index,
            anonymous: None,
            bits,
        });
        Ok(())
    }

    /// An unnamed struct or union member: its members are reached as if they were ours.
    fn add_anonymous(
        &mut self,
        id: StructId,
        scope: ScopeId,
        inner: StructId,
        span: Span,
        types: &mut Vec<(String, Type)>,
        fields: &mut Vec<FieldInfo<'a>>,
    ) {
        let index = types.len() as u32;
        types.push((format!("anonymous{index}"), Type::Struct(inner)));
        let inner_scope = self.class(inner).scope;
        let promoted: Vec<(String, Vec<u32>)> = self
            .scope(inner_scope)
            .names
            .iter()
            .filter_map(|(name, list)| match list.first() {
                Some(Entity::Field { path, .. }) => Some((name.clone(), path.clone())),
                _ => None,
            })
            .collect();
        for (name, path) in promoted {
            let full = std::iter::once(index).chain(path).collect();
            self.declare(scope, &name, Entity::Field { class: id, path: full });
        }
        fields.push(FieldInfo {
            name: String::new(),
            ty: QualType::plain(Type::Struct(inner)),
            init: None,
            mutable: false,
            span,
            index,
            anonymous: Some(inner),
            bits: None,
        });
    }

    /// Gives the struct its fields and marks the class complete.
    pub(crate) fn lay_out_class(
        &mut self,
        id: StructId,
        types: Vec<(String, Type)>,
        fields: Vec<FieldInfo<'a>>,
        is_union: bool,
        align: u64,
    ) {
        let list: Vec<Type> = types.iter().map(|(_, t)| t.clone()).collect();
        let (mut offsets, mut whole) = layout::lay_out(&self.module, &list, align);
        if is_union {
            offsets.fill(0);
            let largest = list.iter().map(|t| layout::layout_of(&self.module, t).size).max();
            whole.size = largest.unwrap_or(1).max(1).next_multiple_of(whole.align.max(1));
        }
        if let Some(def) = self.module.structs.get_mut(id.0 as usize) {
            let made = types.into_iter().zip(offsets);
            def.fields =
                made.map(|((name, ty), offset)| StructField { name, ty, offset }).collect();
            def.size = whole.size;
            def.align = whole.align;
        }
        if let Some(info) = self.classes.get_mut(&id) {
            info.fields = fields;
            info.complete = true;
        }
    }

    /// What a name means in the bases of a class; fields come with the path through the base.
    pub(crate) fn member_entities(&self, class: StructId, name: &str) -> Vec<Entity<'a>> {
        for base in &self.class(class).bases {
            let scope = self.class(base.class).scope;
            let found = self.lookup_in(scope, name);
            if found.is_empty() {
                continue;
            }
            return found
                .into_iter()
                .map(|e| match e {
                    Entity::Field { path, .. } => {
                        Entity::Field { class, path: base.index.into_iter().chain(path).collect() }
                    }
                    other => other,
                })
                .collect();
        }
        vec![]
    }

    /// Names of all members, for "did you mean".
    pub(crate) fn member_names(&self, class: StructId) -> Vec<String> {
        let info = self.class(class);
        let mut all: Vec<String> = self.scope(info.scope).names.keys().cloned().collect();
        for base in &info.bases {
            all.extend(self.member_names(base.class));
        }
        all
    }

    /// The field a path of indices leads to, from a place of the class.
    pub(crate) fn field_place(&self, mut place: Place, path: &[u32], span: Span) -> Place {
        for index in path {
            let Type::Struct(id) = place.ty else { break };
            let Some((_, ty)) = layout::field_of(&self.module, id, *index) else { break };
            let ty = ty.clone();
            place = Place::new(PlaceKind::Field(place, *index), ty, span);
        }
        place
    }

    /// Whether a class derives from another, and the way to the base: indices of its fields.
    pub(crate) fn base_path(&self, from: StructId, to: StructId) -> Option<Vec<u32>> {
        if from == to {
            return Some(vec![]);
        }
        for base in &self.class(from).bases {
            if let Some(rest) = self.base_path(base.class, to) {
                return Some(base.index.into_iter().chain(rest).collect());
            }
        }
        None
    }

    /// How a field is declared, following a path; `None` for a base.
    pub(crate) fn field_info(&self, class: StructId, path: &[u32]) -> Option<&FieldInfo<'a>> {
        let (first, rest) = path.split_first()?;
        let info = self.class(class);
        if let Some(base) = info.bases.iter().find(|b| b.index == Some(*first)) {
            return self.field_info(base.class, rest);
        }
        let bits = rest.first().and_then(|code| Bits::from_code(*code));
        let field = info.fields.iter().find(|f| f.index == *first && f.bits == bits)?;
        match field.anonymous {
            Some(inner) if !rest.is_empty() => self.field_info(inner, rest),
            _ => Some(field),
        }
    }

    /// The struct that stands for a library type.
    pub(crate) fn object_struct(&mut self, object: &BuiltinType) -> Type {
        if let Some((_, id)) = self.objects.iter().find(|(o, _)| o == object) {
            return Type::Struct(*id);
        }
        let list: Vec<Type> = object.fields.iter().map(|(_, t)| t.clone()).collect();
        let (offsets, whole) = layout::lay_out(&self.module, &list, 1);
        let named = object.fields.iter().zip(offsets);
        let fields = named
            .map(|((name, ty), offset)| StructField { name: name.clone(), ty: ty.clone(), offset })
            .collect();
        self.module.structs.push(StructDef {
            name: self.object_text(object),
            fields,
            size: whole.size,
            align: whole.align,
            origin: Origin::default(),
        });
        let id = StructId(self.module.structs.len() as u32 - 1);
        self.objects.push((object.clone(), id));
        Type::Struct(id)
    }

    pub(crate) fn object_of_struct(&self, id: StructId) -> Option<BuiltinType> {
        self.objects.iter().find(|(_, known)| *known == id).map(|(o, _)| o.clone())
    }

    /// A number of the type of `size_t`.
    pub(crate) fn size_value(&self, n: u64, span: Span) -> Expr {
        Expr::int(Scalar::U64, n as i64).with_origin(span)
    }
}

/// Whether one of the members is declared `virtual`.
fn is_virtual(members: &[Member]) -> bool {
    members.iter().any(|m| matches!(m, Member::Method(f) if f.attrs.is_virtual))
}

/// What is stored for a member of that type: a reference is a pointer.
pub(crate) fn stored_type(q: &QualType) -> Type {
    if !q.is_reference() {
        return q.ty.clone();
    }
    Type::Pointer {
        pointee: q.ty.clone().into(),
        space: warpsmith_ir::Space::Generic,
        volatile: q.is_volatile,
        readonly: q.is_const,
    }
}
