//! Compile-time evaluation: constant expressions, global variables, enumerators, assertions.
//!
//! An expression is lowered into a function of its own and folded; what does not fold is run by the
//! reference interpreter, so that `constexpr` functions with loops need no second evaluator.

use warpsmith_ir::interp::{self, Arg, Limits, Memory, NoLaunch};
use warpsmith_ir::{
    Block, Expr, ExprKind, FunctionKind, Global, GlobalId, Origin, Place, PlaceKind, Scalar, Space,
    Span, Stmt, StmtKind, Type, Value, Var, VarKind, layout,
};

use super::Sema;
use super::model::*;
use super::refused::{GLOBAL_REFERENCE, refuse};
use crate::ast;

/// Steps a constant expression may take.
const MAX_STEPS: u64 = 2_000_000;
/// Bytes of one table of constants.
const MAX_TABLE: u64 = 1 << 24;

impl<'a> Sema<'a> {
    /// The value of a constant expression.
    pub(crate) fn const_value(&mut self, scope: ScopeId, e: &'a ast::Expr) -> Res<Value> {
        self.deeper(e.span, |s| s.const_scalar(scope, e.span, |s| s.rvalue(e)))
    }

    /// The number in `alignas(n)`, or the alignment of the type in `alignas(T)`.
    pub(crate) fn alignment_value(&mut self, scope: ScopeId, e: &'a ast::Expr) -> Res<i64> {
        let number = |s: &mut Self| match s.expr(e)? {
            Operand::Type(q) => Ok(s.size_value(layout::layout_of(&s.module, &q.ty).align, e.span)),
            other => s.rvalue_of(other, e.span),
        };
        let value = self.deeper(e.span, |s| s.const_scalar(scope, e.span, number))?;
        Ok(value.as_i64())
    }

    /// The value of a name that is constant.
    pub(crate) fn const_path(&mut self, scope: ScopeId, path: &'a ast::Path) -> Res<Value> {
        self.const_scalar(scope, path.span, |s| {
            let operand = s.path_operand(scope, path)?;
            s.rvalue_of(operand, path.span)
        })
    }

    /// The value of a scalar constant's initialiser.
    pub(crate) fn const_init(
        &mut self,
        scope: ScopeId,
        ty: &Type,
        init: &'a ast::Initializer,
        span: Span,
    ) -> Res<Value> {
        self.const_scalar(scope, span, |s| s.init_value(ty, init, false, span))
    }

    fn const_scalar(
        &mut self,
        scope: ScopeId,
        span: Span,
        lower: impl FnOnce(&mut Self) -> Res<Expr>,
    ) -> Res<Value> {
        self.push_fn("(constant)", FunctionKind::Device, scope, span);
        self.f().is_const_eval = true;
        let result = lower(self).and_then(|e| match self.is_class(&e.ty) {
            Some(_) => self.convert_to(e, &Type::I64, span),
            None => Ok(e),
        });
        let mut state = self.pop_fn();
        let e = result?;
        let stmts = state.blocks.pop().unwrap_or_default();
        if divides_by_zero(&e) {
            let d = error("W076", span, "this is not constant at compile time");
            return Err(d.note("it divides by zero").into());
        }
        if let (Some(v), true) = (e.as_const(), stmts.is_empty()) {
            return Ok(v);
        }
        let Type::Scalar(ty) = e.ty else {
            return fail("W076", span, "this is not constant at compile time");
        };
        state.func.ret = Type::Scalar(ty);
        state.func.body = Block::new(stmts);
        state.func.body.stmts.push(Stmt::new(StmtKind::Return(Some(e)), span));
        let mut memory = Memory::new(vec![]);
        match self.run(state.func, &[], &mut memory) {
            Ok(Some(v)) => Ok(v),
            Ok(None) => fail("W076", span, "this is not constant at compile time"),
            Err(why) => {
                let d = error("W076", span, "this is not constant at compile time");
                Err(d.note(why).into())
            }
        }
    }

    /// Runs a function that is in the module only meanwhile.
    fn run(
        &mut self,
        function: warpsmith_ir::Function,
        args: &[Arg],
        memory: &mut Memory,
    ) -> Result<Option<Value>, String> {
        let id = self.module.add_function(function);
        let result = self.run_function(id, args, memory);
        self.module.functions.pop();
        result
    }

    fn run_function(
        &mut self,
        id: warpsmith_ir::FuncId,
        args: &[Arg],
        memory: &mut Memory,
    ) -> Result<Option<Value>, String> {
        let limits =
            Limits { max_steps: MAX_STEPS, max_local_bytes: MAX_TABLE, ..Limits::default() };
        // The heap of the device and the like are no constants, and would be made anew for each.
        let large: Vec<usize> = (0..self.module.globals.len())
            .filter(|g| {
                layout::layout_of(&self.module, &self.module.globals[*g].ty).size > MAX_TABLE / 2
            })
            .collect();
        let kept: Vec<(Type, Option<Vec<u8>>)> =
            large.iter().map(|g| self.set_global(*g, Type::Scalar(Scalar::U8), None)).collect();
        let result = interp::call(&self.module, id, args, memory, &limits, &mut NoLaunch)
            .map_err(|e| e.to_string());
        for (g, (ty, init)) in large.into_iter().zip(kept) {
            self.set_global(g, ty, init);
        }
        result
    }

    /// Gives a variable another type and contents; returns those that it had.
    fn set_global(
        &mut self,
        global: usize,
        ty: Type,
        init: Option<Vec<u8>>,
    ) -> (Type, Option<Vec<u8>>) {
        let g = &mut self.module.globals[global];
        (std::mem::replace(&mut g.ty, ty), std::mem::replace(&mut g.init, init))
    }

    /// The result of a constexpr function whose arguments are constant; `None` when it has to run later.
    pub(crate) fn run_at_compile_time(
        &mut self,
        instance: &Instance,
        values: &[Expr],
    ) -> Option<Value> {
        let Type::Scalar(ty) = instance.ret.ty else { return None };
        if instance.ret.is_reference() {
            return None;
        }
        let args: Option<Vec<Arg>> = values.iter().map(|e| e.as_const().map(Arg::Value)).collect();
        // A function whose body is still being lowered has no statements yet.
        let body = &self.module.functions.get(instance.id.0 as usize)?.body;
        if body.stmts.is_empty() {
            return None;
        }
        let mut memory = Memory::new(vec![]);
        let value = self.run_function(instance.id, &args?, &mut memory).ok()??;
        (value.ty == ty).then_some(value)
    }

    /// What a variable of a namespace or class stands for in the function under construction.
    pub(crate) fn global_entity(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<Entity<'a>> {
        if decl.attrs.shared {
            return self.file_shared(decl, item, scope);
        }
        if decl.attrs.is_extern
            && let Some((decl, item, scope)) = self.variable_definition(&item.name, scope)
        {
            return self.global_entity(decl, item, scope);
        }
        let key = (std::ptr::from_ref(item) as usize, scope);
        if self.tolerates() && !self.on_device(decl, scope) {
            return self.host_variable(decl, item, scope, key);
        }
        if let Some(known) = self.globals.get(&key) {
            return match known {
                Some(entity) => Ok(entity.clone()),
                None => Err(Failure::Reported),
            };
        }
        // A constant that needs itself is an error, not a recursion.
        self.globals.insert(key, None);
        let entity = self.lower_global(decl, item, scope)?;
        self.globals.insert(key, Some(entity.clone()));
        Ok(entity)
    }

    fn file_shared(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<Entity<'a>> {
        let q = self.resolve_type(scope, &item.ty)?;
        let align = match &decl.attrs.align {
            Some(e) => self.alignment_value(scope, e)?.clamp(0, 1 << 16) as u32,
            None => 0,
        };
        // `::` says that all functions mean one variable.
        let name =
            if decl.attrs.is_extern { item.name.clone() } else { format!("::{}", item.name) };
        self.shared_entity(decl, item, &name, q, align)
    }

    fn lower_global(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<Entity<'a>> {
        let attrs = &decl.attrs;
        let (item, scope) = self.member_definition(item, scope)?;
        let mut q = if super::functions::is_auto(&item.ty) {
            self.auto_global(item, scope)?
        } else {
            self.resolve_type(scope, &item.ty)?
        };
        self.complete_length(&mut q, item)?;
        q.is_const |= attrs.is_constexpr || attrs.constant;
        let on_device = self.on_device(decl, scope);
        let folds = q.is_const && !attrs.constant && q.ty.scalar().is_some();
        if let (true, Some(init)) = (folds, &item.init) {
            let v = self.const_init(scope, &q.ty, init, item.span)?;
            return Ok(Entity::Const(Expr::constant(v).with_origin(item.span)));
        }
        if !on_device && !q.is_const {
            let d = error(
                "W095",
                item.span,
                format!("the host variable `{}` cannot be used on the device", item.name),
            );
            return Err(d.help("declare it `__device__`, `__constant__` or `constexpr`").into());
        }
        self.add_global(decl, item, q, scope)
    }

    /// A static variable of a device function: it keeps its value, and all threads have the same.
    pub(crate) fn device_static(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<Entity<'a>> {
        let key = (std::ptr::from_ref(item) as usize, self.root);
        if let Some(Some(known)) = self.globals.get(&key) {
            return Ok(known.clone());
        }
        let mut q = self.resolve_type(scope, &item.ty)?;
        self.complete_length(&mut q, item)?;
        let entity = self.add_global(decl, item, q, scope)?;
        self.globals.insert(key, Some(entity.clone()));
        Ok(entity)
    }

    pub(crate) fn auto_global(
        &mut self,
        item: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<QualType> {
        let Some(ast::Initializer::Expr(e)) = &item.init else {
            return fail("W052", item.span, "`auto` needs a value to take its type from");
        };
        let actual = self.type_of_expr(scope, e)?;
        self.auto_type(&item.ty, &actual)
    }

    /// A constant array or struct as data of the module.
    pub(crate) fn constant_table(
        &mut self,
        vars: &'a ast::VarDecl,
        d: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<Entity<'a>> {
        let mut q = self.resolve_type(scope, &d.ty)?;
        self.complete_length(&mut q, d)?;
        q.is_const = true;
        self.add_global(vars, d, q, scope)
    }

    fn add_global(
        &mut self,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        q: QualType,
        scope: ScopeId,
    ) -> Res<Entity<'a>> {
        if q.is_reference() {
            return refuse(GLOBAL_REFERENCE, item.span);
        }
        let init = match &item.init {
            Some(init) => Some(self.const_bytes(scope, &q.ty, init, item.span)?),
            None => None,
        };
        let read_only = decl.attrs.constant || q.is_const && !decl.attrs.device;
        let space = if read_only { Space::Constant } else { Space::Global };
        self.module.globals.push(Global {
            name: item.name.clone(),
            ty: q.ty.clone(),
            space,
            init,
            origin: Origin::at(item.span),
        });
        let id = GlobalId(self.module.globals.len() as u32 - 1);
        let place = Place::new(PlaceKind::Global(id), q.ty.clone(), item.span);
        let place = if q.is_volatile { self.volatile_place(place, item.span) } else { place };
        Ok(Entity::Global { place, is_const: q.is_const })
    }

    fn volatile_place(&mut self, place: Place, span: Span) -> Place {
        let ty = place.ty.clone();
        let pointer = self.address_of(place, false, span);
        let target = Type::Pointer {
            pointee: ty.clone().into(),
            space: Space::Global,
            volatile: true,
            readonly: false,
        };
        Place::new(
            PlaceKind::Deref(super::functions::raw_pointer_cast(pointer, target, span)),
            ty,
            span,
        )
    }

    /// The bytes of a constant initialiser: a function writes the value to a buffer.
    pub(crate) fn const_bytes(
        &mut self,
        scope: ScopeId,
        ty: &Type,
        init: &'a ast::Initializer,
        span: Span,
    ) -> Res<Vec<u8>> {
        let size = layout::layout_of(&self.module, ty).size;
        if size > MAX_TABLE {
            return fail(
                "W084",
                span,
                format!("a table of {size} bytes is too large (limit {MAX_TABLE})"),
            );
        }
        self.push_fn("(table)", FunctionKind::Host, scope, span);
        self.f().is_const_eval = true;
        let pointer_ty = Type::pointer(ty.clone(), Space::Generic);
        let target =
            self.f().func.add_param(Var::new("target", pointer_ty.clone(), VarKind::Param));
        let result = self.init_value(ty, init, false, span);
        let mut state = self.pop_fn();
        let value = result?;
        let place = Place::new(PlaceKind::Deref(Expr::var(target, pointer_ty)), ty.clone(), span);
        let mut stmts = state.blocks.pop().unwrap_or_default();
        stmts.push(Stmt::new(StmtKind::Assign { place, value }, span));
        state.func.body = Block::new(stmts);
        let mut memory = Memory::new(vec![vec![0; size as usize]]);
        let arg = Arg::Pointer { buffer: 0, offset: 0 };
        match self.run(state.func, &[arg], &mut memory) {
            Ok(_) => Ok(memory.buffers.pop().unwrap_or_default()),
            Err(why) => {
                let d = error("W076", span, "this initialiser is not constant at compile time");
                Err(d.note(why).into())
            }
        }
    }

    pub(crate) fn enumerator_value(
        &mut self,
        decl: &'a ast::EnumDecl,
        index: usize,
        scope: ScopeId,
    ) -> Res<Value> {
        let ty = self.enum_type(decl, scope)?;
        // Values count up from the last one that is written.
        let mut base = 0i64;
        let mut from = 0usize;
        for at in (0..=index).rev() {
            if let Some((_, Some(e), _)) = decl.variants.get(at) {
                base = self.const_value(scope, e)?.as_i64();
                from = at;
                break;
            }
        }
        let value = base.wrapping_add((index - from) as i64);
        let wide = decl.underlying.is_none() && i32::try_from(value).is_err();
        Ok(Value::int(if wide { Scalar::I64 } else { ty }, value))
    }

    /// The type an expression has, without evaluating it.
    pub(crate) fn type_of_expr(&mut self, scope: ScopeId, e: &'a ast::Expr) -> Res<QualType> {
        let (operand, q) = self.unevaluated(scope, e);
        match (operand, q) {
            (_, Some(q)) => Ok(q),
            (Err(failure), _) => Err(failure),
            (Ok(_), None) => fail("W052", e.span, "this has no type"),
        }
    }

    /// Whether an expression names a place, which is found without evaluating it.
    pub(crate) fn is_assignable(&mut self, scope: ScopeId, e: &'a ast::Expr) -> bool {
        let (operand, _) = self.unevaluated(scope, e);
        matches!(operand, Ok(Operand::Place { .. } | Operand::Shaped { .. }))
    }

    pub(super) fn unevaluated(
        &mut self,
        scope: ScopeId,
        e: &'a ast::Expr,
    ) -> (Res<Operand<'a>>, Option<QualType>) {
        let here = scope == self.f_scope();
        if !here {
            self.push_fn("(type)", FunctionKind::Device, scope, e.span);
        }
        let before = self.f().address_taken.clone();
        self.f().unevaluated += 1;
        let (operand, _) = self.in_block(|s| s.expr(e));
        self.f().unevaluated -= 1;
        let q = match &operand {
            Ok(Operand::Type(t)) => Some(t.clone()),
            Ok(o) => self.operand_type(o),
            Err(_) => None,
        };
        self.f().address_taken = before;
        if !here {
            self.pop_fn();
        }
        (operand, q)
    }

    pub(crate) fn check_static_assert(&mut self, scope: ScopeId, cond: &'a ast::Expr) {
        let failure = match self.const_value(scope, cond) {
            Ok(v) if v.is_true() => return,
            Ok(_) => {
                let text = super::text::expr_text(cond);
                error("W097", cond.span, format!("static assertion failed: {text}")).into()
            }
            Err(failure) => failure,
        };
        if let Failure::New(d) = failure {
            self.report(*d);
        }
    }
}

/// Whether a part of the value is an integer divided by a zero that is known.
fn divides_by_zero(e: &Expr) -> bool {
    let mut found = false;
    warpsmith_ir::visit::for_each_subexpr(e, &mut |part| {
        if let ExprKind::Binary(op, _, b) = &*part.kind {
            found |= b.as_const().is_some_and(|v| super::convert::divides_by_zero(*op, v));
        }
    });
    found
}

impl<'a> Sema<'a> {
    /// Whether a variable lies in memory of the device. `texture<float, 2> t;` and `surface<…>` do without further words.
    fn on_device(&self, decl: &'a ast::VarDecl, scope: ScopeId) -> bool {
        let attrs = &decl.attrs;
        let of_textures = |d: &'a ast::Declarator| self.is_texture_reference(&d.ty, scope);
        attrs.constant
            || attrs.device
            || attrs.managed
            || decl.declarators.first().is_some_and(of_textures)
    }

    /// Follows names that a `typedef` or `using` gives the type.
    fn is_texture_reference(&self, mut ty: &'a ast::TypeName, mut scope: ScopeId) -> bool {
        const MOST_NAMES: usize = 16;
        for _ in 0..MOST_NAMES {
            let ast::TypeKind::Named(path) = &ty.kind else { return false };
            let [segment] = path.segments.as_slice() else { return false };
            if segment.args.is_some() {
                return matches!(segment.name.as_str(), "texture" | "surface");
            }
            let Some(Entity::Alias { decl, scope: at }) =
                self.lookup(scope, &segment.name).into_iter().next()
            else {
                return false;
            };
            (ty, scope) = (&decl.ty, at);
        }
        false
    }
}
