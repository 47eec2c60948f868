//! Variables of the host that outlive functions: of files, namespaces and classes, and static ones of functions.
//!
//! Those whose first value is not constant get it from a function of their own, which the program calls when it begins, or, for
//! static variables of functions, where the declaration is first reached.

use warpsmith_ir::{
    Block, Expr, ExprKind, FuncId, FunctionKind, Global, GlobalId, Origin, Place, PlaceKind,
    Runtime, Space, Span, Stmt, StmtKind, Type, UnaryOp,
};

use super::Sema;
use super::construct::type_is_dim3;
use super::model::*;
use crate::ast::{self, Initializer};

/// How a variable whose first value is not constant gets it.
pub(crate) enum First {
    /// What this function stores.
    Computed(FuncId),
    /// Nothing known: why, and whether it launches something.
    Unknown { what: String, launches: bool },
}

/// A variable with a first value that is not constant.
pub(crate) struct Late {
    place: Place,
    span: Span,
    first: First,
}

impl<'a> Sema<'a> {
    /// A variable of the host in a program: constants fold as elsewhere, others have a place of their own.
    pub(crate) fn host_variable(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        scope: ScopeId,
        key: (usize, ScopeId),
    ) -> Res<Entity<'a>> {
        if let Some(known) = self.host_globals.get(&key) {
            return known.clone().ok_or(Failure::Reported);
        }
        self.host_globals.insert(key, None);
        let (item, scope) = self.member_definition(item, scope)?;
        let mut q = match super::functions::is_auto(&item.ty) {
            true => self.auto_global(item, scope)?,
            false => self.resolve_type(scope, &item.ty)?,
        };
        self.complete_length(&mut q, item)?;
        let constant = q.is_const || decl.attrs.is_constexpr;
        if let (true, Some(init)) = (constant && q.ty.scalar().is_some(), &item.init)
            && let Ok(v) = self.const_init(scope, &q.ty, init, item.span)
        {
            let entity = Entity::Const(Expr::constant(v).with_origin(item.span));
            self.host_globals.insert(key, Some(entity.clone()));
            return Ok(entity);
        }
        let is_made = self.is_made(&q.ty);
        let bytes = match &item.init {
            Some(_) if is_made => Ok(None),
            Some(init) => self.const_bytes(scope, &q.ty, init, item.span).map(Some),
            None => Ok(None),
        };
        let unset = item.init.is_none() && self.needs_init(&q.ty);
        let is_known = bytes.is_ok() && !unset && !(is_made && item.init.is_some());
        self.module.globals.push(Global {
            name: item.name.clone(),
            ty: q.ty.clone(),
            space: Space::Local,
            init: bytes.unwrap_or_default(),
            origin: Origin::at(item.span),
        });
        let id = GlobalId(self.module.globals.len() as u32 - 1);
        let place = Place::new(PlaceKind::Global(id), q.ty.clone(), item.span);
        let entity = Entity::Global { place: place.clone(), is_const: q.is_const };
        self.host_globals.insert(key, Some(entity.clone()));
        if !is_known {
            let first = self.first_value(item, &place, scope);
            self.late_globals.push(Late { place, span: item.span, first });
        }
        Ok(entity)
    }

    /// Whether constructors make values of that type: what they allocate is there only while the program runs.
    pub(crate) fn is_made(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(element, _) => self.is_made(element),
            _ => self.is_class(ty).is_some_and(|class| {
                let info = self.class(class);
                !info.ctors.is_empty()
                    || info.fields.iter().any(|f| !f.ty.is_reference() && self.is_made(&f.ty.ty))
                    || info.bases.iter().any(|b| self.is_made(&Type::Struct(b.class)))
            }),
        }
    }

    /// A static variable of a function of the host.
    pub(crate) fn host_static(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<Entity<'a>> {
        let before = self.late_globals.len();
        let key = (std::ptr::from_ref(item) as usize, scope);
        let entity = self.host_variable(decl, item, scope, key)?;
        let own = self.late_globals.len().checked_sub(1).filter(|last| *last >= before);
        if let (Some(own), Entity::Global { place, .. }) = (own, &entity)
            && self.late_globals[own].place == *place
            && let First::Computed(function) = self.late_globals[own].first
        {
            self.late_globals.truncate(own);
            self.computed_once(&item.name, function, item.span);
        }
        Ok(entity)
    }

    /// Calls a function where this is reached for the first time.
    fn computed_once(&mut self, name: &str, function: FuncId, span: Span) {
        self.module.globals.push(Global {
            name: format!("{name} is set"),
            ty: Type::BOOL,
            space: Space::Local,
            init: None,
            origin: Origin::at(span),
        });
        let id = GlobalId(self.module.globals.len() as u32 - 1);
        let is_set = Place::new(PlaceKind::Global(id), Type::BOOL, span);
        let value = super::convert::bool_const(true, span);
        let unset = ExprKind::Unary(UnaryOp::Not, Expr::read(is_set.clone()));
        let cond = Expr::new(unset, Type::BOOL, span);
        let call = StmtKind::Call { function, args: vec![], result: None };
        let then = Block::new(vec![
            Stmt::new(StmtKind::Assign { place: is_set, value }, span),
            Stmt::new(call, span),
        ]);
        self.emit(StmtKind::If { cond, then, otherwise: Block::default() }, span);
    }

    /// The function that stores the first value of a variable.
    fn first_value(&mut self, item: &'a ast::Declarator, place: &Place, scope: ScopeId) -> First {
        let name = format!("the first value of {}", item.name);
        let (depth, errors) = (self.fns.len(), self.errors.len());
        self.push_fn(&name, FunctionKind::Host, scope, item.span);
        let inner = self.new_scope(Some(scope), ScopeKind::Block);
        self.f().scope = inner;
        let stored = self.store_first_value(item, place);
        while self.fns.len() > depth + 1 {
            self.pop_fn();
        }
        let state = self.pop_fn();
        let complete = self.errors.len() == errors;
        self.errors.truncate(errors);
        match stored {
            Ok(()) if complete => First::Computed(self.finish_function(state, vec![], None).id),
            failed => {
                let what = match failed {
                    Err(Failure::New(d)) => d.message,
                    _ => "its value is not understood".into(),
                };
                First::Unknown { what, launches: self.launches_initially(item) }
            }
        }
    }

    fn store_first_value(&mut self, item: &'a ast::Declarator, place: &Place) -> Res<()> {
        let Some(init) = &item.init else {
            return self.default_init(place.clone(), item.span);
        };
        let value = self.declared_value(&place.ty, init, type_is_dim3(&item.ty), item.span)?;
        self.emit(StmtKind::Assign { place: place.clone(), value }, item.span);
        Ok(())
    }

    /// The value that a declaration gives a variable: `T x(…)`, `T x = …`, `T x{…}`.
    pub(crate) fn declared_value(
        &mut self,
        ty: &Type,
        init: &'a Initializer,
        ones: bool,
        span: Span,
    ) -> Res<Expr> {
        match self.class_init(ty, init, span)? {
            Some(value) => Ok(value),
            None => self.init_value(ty, init, ones, span),
        }
    }

    /// Gives variables their first values when the program begins: each behind those that it needs.
    pub(crate) fn begin_program(&mut self, entry: FuncId) {
        let late = std::mem::take(&mut self.late_globals);
        let Some(f) = self.module.functions.get_mut(entry.0 as usize) else { return };
        let mut first = vec![];
        for Late { place, span, first: how } in late {
            match how {
                First::Computed(function) => {
                    let call = StmtKind::Call { function, args: vec![], result: None };
                    first.push(Stmt::new(call, span));
                }
                First::Unknown { what, launches } => {
                    let skipped = Runtime::Skipped { what, launches };
                    first.push(Stmt::new(StmtKind::Runtime(skipped), span));
                    first.push(Stmt::new(StmtKind::Runtime(Runtime::Forget { place }), span));
                }
            }
        }
        f.body.stmts.splice(0..0, first);
    }
}
