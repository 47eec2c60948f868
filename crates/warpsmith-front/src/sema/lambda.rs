//! Lambdas: a closure is a struct of what it captures, its body a device function of that struct.

use warpsmith_ir::{Expr, ExprKind, FunctionKind, Place, PlaceKind, Span, StructId, Type, VarKind};

use super::Sema;
use super::deduced_returns::Deduced;
use super::model::*;
use super::refused::{LAMBDA_IN_ITSELF, refuse};
use super::structs::stored_type;
use crate::ast;

impl<'a> Sema<'a> {
    /// A lambda expression: the closure object.
    pub(crate) fn lambda(&mut self, l: &'a ast::LambdaDecl, span: Span) -> Res<Operand<'a>> {
        let parent = self.f_scope();
        let mut types = vec![];
        let mut fields = vec![];
        let mut values = vec![];
        let mut all = vec![];
        for (captured, by_ref) in self.captures(l) {
            if let Some((q, value)) = self.capture(&captured, by_ref, l.mutable, span)? {
                all.push((captured, q, value));
            }
        }
        for made in &l.made {
            let (q, value) = self.made_capture(made, l.mutable, span)?;
            all.push((made.name.clone(), q, value));
        }
        for (captured, q, value) in all {
            let index = types.len() as u32;
            types.push((captured.clone(), stored_type(&q)));
            fields.push(FieldInfo {
                name: captured,
                ty: q,
                init: None,
                mutable: false,
                span,
                index,
                anonymous: None,
                bits: None,
            });
            values.push(value);
        }
        // An expression that is looked at twice, for its type and for its value, has one type.
        let key = (std::ptr::from_ref(l) as usize, parent, types.clone());
        let known = self.lambda_types.iter().find(|(k, _)| *k == key).map(|(_, id)| *id);
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.lambda_class(l, parent, types, fields, span);
                self.lambda_types.push((key, id));
                id
            }
        };
        Ok(Operand::Value(Expr::new(ExprKind::Make(values), Type::Struct(id), span)))
    }

    /// The class of a closure with these captures.
    fn lambda_class(
        &mut self,
        l: &'a ast::LambdaDecl,
        parent: ScopeId,
        types: Vec<(String, Type)>,
        fields: Vec<FieldInfo<'a>>,
        span: Span,
    ) -> StructId {
        let id = self.new_struct("lambda", span);
        let name = format!("lambda{}", id.0);
        if let Some(def) = self.module.structs.get_mut(id.0 as usize) {
            def.name.clone_from(&name);
        }
        let scope = self.new_scope(Some(parent), ScopeKind::Class(id));
        for (i, (captured, _)) in types.iter().enumerate().filter(|(_, (n, _))| n != "this") {
            let path = vec![i as u32];
            self.declare(scope, captured, Entity::Field { class: id, path });
        }
        self.classes.insert(
            id,
            ClassInfo {
                name,
                decl: None,
                scope,
                fields: vec![],
                bases: vec![],
                ctors: vec![],
                conversions: vec![],
                destructor: None,
                numbered: false,
                template: None,
                lambda: Some(l),
                function: None,
                complete: false,
            },
        );
        self.lay_out_class(id, types, fields, false, 1);
        id
    }

    /// What is captured: named explicitly, or used in the body under a default.
    fn captures(&mut self, l: &'a ast::LambdaDecl) -> Vec<(String, bool)> {
        let mut list: Vec<(String, bool)> = vec![];
        let mut default = None;
        for capture in &l.captures {
            let text: String = capture.chars().filter(|c| !c.is_whitespace()).collect();
            match text.as_str() {
                "&" => default = Some(true),
                "=" => default = Some(false),
                "this" | "*this" => list.push(("this".into(), false)),
                _ => match text.strip_prefix('&') {
                    Some(name) => list.push((name.to_string(), true)),
                    None => list.push((text, false)),
                },
            }
        }
        if let Some(by_ref) = default {
            let mut used = vec!["this".to_string()];
            super::walk::block(&l.body, &mut |e| {
                if let ast::ExprKind::Path(p) = &*e.kind
                    && let Some(name) = p.as_name()
                {
                    used.push(name.to_string());
                }
            });
            for name in used {
                let known = list.iter().any(|(known, _)| *known == name);
                if !known && !l.made.iter().any(|m| m.name == name) {
                    list.push((name, by_ref));
                }
            }
        }
        list
    }

    /// Type and value of a capture that is given one.
    fn made_capture(
        &mut self,
        made: &'a ast::MadeCapture,
        mutable: bool,
        span: Span,
    ) -> Res<(QualType, Expr)> {
        if made.by_ref {
            let (place, is_const) = self.lvalue(&made.value)?;
            return Ok(self.captured_reference(place, is_const, span));
        }
        let value = self.rvalue(&made.value)?;
        let q = QualType { is_const: !mutable, ..QualType::plain(value.ty.clone()) };
        Ok((q, value))
    }

    fn captured_reference(&mut self, place: Place, is_const: bool, span: Span) -> (QualType, Expr) {
        let q = QualType {
            is_const,
            reference: RefKind::Lvalue,
            is_volatile: super::expr::pointer_volatile(&place),
            ty: place.ty.clone(),
        };
        let pointer = self.address_of(place, is_const, span);
        let value = super::functions::raw_pointer_cast(pointer, stored_type(&q), span);
        (q, value)
    }

    /// Type and value of one captured name; `None` when it needs no capture.
    fn capture(
        &mut self,
        name: &str,
        by_ref: bool,
        mutable: bool,
        span: Span,
    ) -> Res<Option<(QualType, Expr)>> {
        if name == "this" {
            let Some(this) = self.f().this.clone() else { return Ok(None) };
            let Ok(pointer) = self.this_value(&this, span) else { return Ok(None) };
            return Ok(Some((QualType::plain(pointer.ty.clone()), pointer)));
        }
        let scope = self.f_scope();
        let (place, is_const) = match self.lookup(scope, name).first() {
            Some(Entity::Place { owner, place, is_const, .. }) if *owner == self.f().serial => {
                (place.clone(), *is_const)
            }
            // A capture of an enclosing lambda is captured again.
            Some(Entity::Field { class, path }) if self.class(*class).lambda.is_some() => {
                let (class, path) = (*class, path.clone());
                let Some((object, is_const)) = self.this_place(class, span) else {
                    return Ok(None);
                };
                match self.field_operand(object, class, &path, is_const, span) {
                    Operand::Place { place, is_const } => (place, is_const),
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        // Shared variables exist once: they are never copied.
        let is_shared = place.root_var().is_some_and(|v| {
            matches!(self.f().func.var(v).kind, VarKind::Shared | VarKind::DynamicShared)
        });
        if by_ref || is_shared {
            return Ok(Some(self.captured_reference(place, is_const, span)));
        }
        let q = QualType { is_const: !mutable, ..QualType::plain(place.ty.clone()) };
        Ok(Some((q, Expr::read(place).with_origin(span))))
    }

    fn this_value(&mut self, this: &ThisInfo, span: Span) -> Res<Expr> {
        match self.class(this.class).lambda {
            None => Ok(this.pointer.clone().with_origin(span)),
            Some(_) => {
                let class = this.class;
                let Some(index) =
                    self.class(class).fields.iter().find(|f| f.name == "this").map(|f| f.index)
                else {
                    return Err(Failure::Reported);
                };
                let closure =
                    Place::new(PlaceKind::Deref(this.pointer.clone()), Type::Struct(class), span);
                Ok(Expr::read(self.field_place(closure, &[index], span)))
            }
        }
    }

    /// Calls a closure; the body is lowered once for each list of argument types.
    pub(crate) fn call_lambda(
        &mut self,
        object: Operand<'a>,
        class: StructId,
        l: &'a ast::LambdaDecl,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        let required = l.params.iter().filter(|p| p.default.is_none()).count();
        if args.len() < required || args.len() > l.params.len() {
            let message =
                format!("the lambda takes {} arguments, {} given", l.params.len(), args.len());
            return fail("W063", span, message);
        }
        let mut types = vec![];
        let scope = self.class(class).scope;
        for (i, param) in l.params.iter().enumerate() {
            let q = match args.get(i) {
                Some(arg) if super::functions::is_auto(&param.ty) => {
                    let Some(actual) = self.operand_type(arg) else {
                        return fail("W063", span, "an argument has no type of its own");
                    };
                    let q = self.auto_type(&param.ty, &super::templates::despaced(actual))?;
                    super::templates::despaced(q)
                }
                _ => self.resolve_type(scope, &param.ty)?,
            };
            types.push(self.decayed(q));
        }
        let instance = self.lambda_instance(class, l, &types, span)?;
        let (place, is_const) = match object {
            Operand::Place { place, is_const } => (place, is_const),
            other => {
                let value = self.rvalue_of(other, span)?;
                (self.materialise(value, span), false)
            }
        };
        let pointer = self.address_of(place, is_const, span);
        let this_ty = Type::pointer(Type::Struct(class), warpsmith_ir::Space::Generic);
        let mut values = vec![super::functions::raw_pointer_cast(pointer, this_ty, span)];
        for (arg, q) in args.into_iter().zip(&types) {
            values.push(self.pass(arg, q, span)?);
        }
        Ok(self.emit_call(&instance, values, span))
    }

    fn lambda_instance(
        &mut self,
        class: StructId,
        l: &'a ast::LambdaDecl,
        types: &[QualType],
        span: Span,
    ) -> Res<Instance> {
        let scope = self.class(class).scope;
        let kind = match self.f().func.kind {
            FunctionKind::Host => FunctionKind::Host,
            _ => FunctionKind::Device,
        };
        let args: Vec<TArg> = types.iter().cloned().map(TArg::Type).collect();
        let key = FnKey { decl: std::ptr::from_ref(l) as usize, scope, args, kind };
        match self.instances.get(&key) {
            Some(InstanceState::Done(instance)) => return Ok(instance.clone()),
            Some(InstanceState::InProgress) => {
                return refuse(LAMBDA_IN_ITSELF, span);
            }
            Some(_) => return Err(Failure::Reported),
            None => {}
        }
        self.instances.insert(key.clone(), InstanceState::InProgress);
        let errors = self.errors.len();
        let name = format!("{}::operator()", self.class(class).name);
        self.push_fn(&name, kind, scope, span);
        let inner = self.new_scope(Some(scope), ScopeKind::Block);
        self.f().scope = inner;
        // Captured copies are constant, but the closure may be asked for its address like any object.
        self.declare_this(class, false, span);
        let declared = self.declare_lambda_params(l, types, inner);
        let declared = declared.and_then(|()| self.declare_lambda_result(l, inner));
        self.lower_stmts(&l.body.stmts);
        let state = self.pop_fn();
        if self.errors.len() > errors || declared.is_err() {
            self.instances.insert(key, InstanceState::Failed);
            declared?;
            return Err(Failure::Reported);
        }
        let instance = self.finish_function(state, types.to_vec(), None);
        self.instances.insert(key, InstanceState::Done(instance.clone()));
        Ok(instance)
    }

    /// `-> T`: what is returned is converted to that; without it the type follows from what is returned.
    fn declare_lambda_result(&mut self, l: &'a ast::LambdaDecl, scope: ScopeId) -> Res<()> {
        let Some(written) = &l.ret else { return Ok(()) };
        self.f().returns = Deduced::of(written);
        if !super::functions::is_auto(written) {
            self.f().ret = Some(self.resolve_type(scope, written)?);
        }
        Ok(())
    }
}
