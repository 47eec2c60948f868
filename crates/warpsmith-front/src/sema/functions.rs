//! Function instances: signature, body, memo.

use std::collections::HashSet;

use warpsmith_ir::{
    Block, Expr, ExprKind, FunctionKind, Place, PlaceKind, Space, Span, StructId, Type, Var,
    VarKind,
};

use super::Sema;
use super::deduced_returns::Deduced;
use super::definitions::Role;
use super::model::*;
use super::overload::Chosen;
use super::refused::{REFERENCE_FOR_KERNEL, refuse};
use super::structs::stored_type;
use crate::ast;

/// Instances nested deeper than this are a template that does not end.
const MAX_INSTANCES: usize = 512;

/// A parameter after expansion of packs.
struct ParamSpec<'a> {
    name: Option<&'a str>,
    ty: QualType,
    restrict: bool,
    is_pack: bool,
    span: Span,
}

impl<'a> Sema<'a> {
    /// The lowered function for a choice of overload resolution; lowers it if it is new.
    pub(crate) fn instance(
        &mut self,
        chosen: Chosen<'a>,
        kind: FunctionKind,
        span: Span,
    ) -> Res<Instance> {
        let Chosen { f, scope, args, .. } = chosen;
        let (f, scope) = match self.specialisation(f, scope, &args)? {
            Some(special) => (special, special.scope),
            None => self.with_body(f, scope, &args, span)?,
        };
        let key = FnKey { decl: f.key(), scope: f.scope, args: args.clone(), kind };
        let name = self.instance_name(f, &args);
        match self.instances.get(&key) {
            Some(InstanceState::Done(instance)) => return Ok(instance.clone()),
            Some(InstanceState::Failed) => return Err(Failure::Reported),
            Some(InstanceState::Recursive(instance)) => return Ok(instance.clone()),
            Some(InstanceState::InProgress) => {
                let message = format!("`{name}` calls itself before its type is known");
                let d = error("W066", span, message).label(f.decl.head_span, "declared here");
                return Err(d.help("write its return type instead of `auto`").into());
            }
            None => {}
        }
        if self.fns.len() > MAX_INSTANCES {
            let message =
                format!("more than {MAX_INSTANCES} nested instances: `{name}` does not end");
            return fail("W067", span, message);
        }
        self.check_callable(f, kind, &name, span)?;
        self.instances.insert(key.clone(), InstanceState::InProgress);
        let errors = self.errors.len();
        let result = self.lower_instance(f, scope, &name, &key);
        let state = match &result {
            Ok(instance) if self.errors.len() == errors => InstanceState::Done(instance.clone()),
            _ => InstanceState::Failed,
        };
        self.instances.insert(key, state);
        // Errors inside are reported there; the caller goes on with the signature if there is one.
        match result {
            // A function of the host that is not understood is named where it is called.
            Err(Failure::New(d)) if self.program && kind == FunctionKind::Host => {
                Err(Failure::New(d))
            }
            Err(Failure::New(d)) => {
                self.report(*d);
                Err(Failure::Reported)
            }
            other => other,
        }
    }

    /// Device code calls device functions, host code host functions.
    fn check_callable(
        &mut self,
        f: FnDecl<'a>,
        kind: FunctionKind,
        name: &str,
        span: Span,
    ) -> Res<()> {
        let attrs = &f.decl.attrs;
        // Algorithms of the libraries, which run here on the host, call what users give them for the device.
        let here = self.f().span.file;
        let for_library = kind == FunctionKind::Host && self.prelude_file() == Some(here);
        let any = attrs.is_constexpr || self.f().is_const_eval || for_library;
        if any || f.decl.body.is_none() {
            return Ok(());
        }
        let (from, wanted) = match kind {
            FunctionKind::Device if !attrs.device && !attrs.global => ("device", "__device__"),
            FunctionKind::Host if attrs.device && !attrs.host => ("host", "__host__"),
            _ => return Ok(()),
        };
        let what = if wanted == "__device__" { "host" } else { "device" };
        let d = error("W068", span, format!("{from} code calls the {what} function `{name}`"));
        let d = d.label(f.decl.head_span, "declared here");
        Err(d.help(format!("declare it `{wanted}`")).into())
    }

    fn instance_name(&mut self, f: FnDecl<'a>, args: &[TArg]) -> String {
        let mut name = match &f.decl.name {
            ast::FunctionName::Plain(p) => {
                p.segments.last().map(|s| s.name.clone()).unwrap_or_default()
            }
            ast::FunctionName::Operator(op) => format!("operator{op}"),
            ast::FunctionName::Conversion(_) => "operator_conversion".into(),
            ast::FunctionName::Constructor => "constructor".into(),
            ast::FunctionName::Destructor => "destructor".into(),
        };
        if !args.is_empty() {
            name = format!("{name}<{}>", self.args_text(args));
        }
        match f.class {
            Some(class) => format!("{}::{name}", self.class(class).name),
            None => name,
        }
    }

    fn lower_instance(
        &mut self,
        f: FnDecl<'a>,
        scope: ScopeId,
        name: &str,
        key: &FnKey,
    ) -> Res<Instance> {
        if f.decl.body.is_none() && !f.decl.attrs.is_spec {
            return Err(Failure::Reported);
        }
        let role = self.role(f);
        let ret = match (&f.decl.name, &f.decl.ret) {
            _ if role != Role::Other => Some(QualType::plain(Type::Void)),
            (ast::FunctionName::Conversion(t), _) => Some(self.resolve_type(scope, t)?),
            (_, None) => None,
            (_, Some(t)) if is_auto(t) || matches!(t.kind, ast::TypeKind::Decltype(_)) => None,
            (_, Some(t)) => Some(self.resolve_type(scope, t)?),
        };
        let params = self.param_specs(&f.decl.params, scope)?;
        let types: Vec<QualType> = params.iter().map(|p| p.ty.clone()).collect();
        let kind = if f.decl.attrs.global { FunctionKind::Kernel } else { key.kind };
        // A function that may call itself gets its id before its body.
        let of_launchers = !self.program && kind == FunctionKind::Host;
        let reserved = match &ret {
            Some(ret) if f.decl.attrs.is_constexpr || !of_launchers => {
                let id = self.module.add_function(warpsmith_ir::Function::new("", kind));
                let instance = Instance { id, params: types.clone(), ret: ret.clone() };
                self.instances.insert(key.clone(), InstanceState::Recursive(instance));
                Some(id)
            }
            _ => None,
        };
        self.push_fn(name, kind, scope, f.decl.head_span);
        self.f().returns = f.decl.ret.as_ref().map(Deduced::of).unwrap_or_default();
        self.f().ret = ret;
        let result = self.lower_parts(f, params, scope);
        let state = self.pop_fn();
        result?;
        Ok(self.finish_function(state, types, reserved))
    }

    fn lower_parts(
        &mut self,
        f: FnDecl<'a>,
        params: Vec<ParamSpec<'a>>,
        scope: ScopeId,
    ) -> Res<()> {
        self.f().func.launch_bounds = self.launch_bounds(&f.decl.attrs, scope)?;
        self.f().func.cluster = self.cluster_dims(&f.decl.attrs, scope)?;
        let inner = self.new_scope(Some(scope), ScopeKind::Block);
        self.f().scope = inner;
        if let Some(class) = f.class.filter(|_| !f.is_static) {
            self.declare_this(class, f.decl.is_const, f.decl.head_span);
        }
        if let Some(body) = &f.decl.body {
            self.f().assigned = assigned_names(body);
            self.f().changed = changed_names(body);
        }
        self.declare_params(params, inner)?;
        let role = self.role(f);
        if role == Role::Constructor
            && let Some(class) = f.class
        {
            self.lower_member_inits(f, class)?;
        }
        if role == Role::Destructor
            && let Some(class) = f.class
            && let Some((place, _)) = self.this_place(class, f.decl.head_span)
        {
            // What the destructor calls are functions of its own class.
            self.set_class_number(&place, class, f.decl.head_span);
        }
        if f.decl.attrs.global {
            self.assume_axioms()?;
        }
        if let Some(body) = &f.decl.body {
            self.lower_stmts(&body.stmts);
        }
        if f.decl.attrs.is_spec {
            self.answer_of_spec(f.decl.head_span)?;
        }
        let nothing = self.f().ret.as_ref().is_none_or(|r| r.ty == Type::Void);
        let blocks = &self.f().blocks;
        let last = blocks.last().and_then(|b| b.last());
        if nothing && !last.is_some_and(|s| matches!(s.kind, warpsmith_ir::StmtKind::Return(_))) {
            self.keep_promises(None, f.decl.head_span)?;
        }
        self.jumps_lead_somewhere()
    }

    /// Makes the method's `this` parameter.
    pub(crate) fn declare_this(&mut self, class: StructId, is_const: bool, span: Span) {
        let ty = Type::Pointer {
            pointee: Type::Struct(class).into(),
            space: Space::Generic,
            volatile: false,
            readonly: is_const,
        };
        let mut var = Var::new("this", ty.clone(), VarKind::Param);
        var.constant = true;
        var.origin = span.into();
        let f = self.f();
        let id = f.func.add_param(var);
        let pointer = Expr::var(id, ty).with_origin(span);
        f.this = Some(ThisInfo { class, pointer });
    }

    fn param_specs(&mut self, params: &'a [ast::Param], scope: ScopeId) -> Res<Vec<ParamSpec<'a>>> {
        let mut all = vec![];
        for param in params {
            let (name, span) = (param.name.as_deref(), param.span);
            let restrict = matches!(param.ty.kind, ast::TypeKind::Pointer { restrict: true, .. });
            if let Some(elements) = self.pack_elements(&param.ty, scope) {
                for inner in elements {
                    let ty = self.resolve_type(inner, &param.ty)?;
                    all.push(ParamSpec { name, ty, restrict, is_pack: true, span });
                }
                if let Some(n) = name {
                    self.declare(scope, n, Entity::Pack(vec![]));
                }
                continue;
            }
            let q = self.resolve_type(scope, &param.ty)?;
            if q.ty == Type::Void && !q.is_reference() && params.len() == 1 {
                continue;
            }
            all.push(ParamSpec { name, ty: self.decayed(q), restrict, is_pack: false, span });
        }
        Ok(all)
    }

    fn declare_params(&mut self, params: Vec<ParamSpec<'a>>, scope: ScopeId) -> Res<()> {
        let mut packs: Vec<(&'a str, Vec<Entity<'a>>)> = vec![];
        for p in params {
            let entity = self.declare_param(&p)?;
            let Some(name) = p.name else { continue };
            if p.is_pack {
                match packs.iter_mut().find(|(n, _)| *n == name) {
                    Some((_, list)) => list.push(entity),
                    None => packs.push((name, vec![entity])),
                }
            } else {
                self.declare(scope, name, entity);
            }
        }
        for (name, list) in packs {
            self.declare(scope, name, Entity::Pack(list));
        }
        Ok(())
    }

    /// Declares parameters of something that is not called.
    pub(crate) fn declare_uncalled(&mut self, params: &'a [ast::Param], scope: ScopeId) -> Res<()> {
        let specs = self.param_specs(params, scope)?;
        self.declare_params(specs, scope)
    }

    /// The parameters of a lambda's body, of the types the call gave them.
    pub(crate) fn declare_lambda_params(
        &mut self,
        l: &'a ast::LambdaDecl,
        types: &[QualType],
        scope: ScopeId,
    ) -> Res<()> {
        self.f().assigned = assigned_names(&l.body);
        self.f().changed = changed_names(&l.body);
        let specs = l.params.iter().zip(types).map(|(p, ty)| ParamSpec {
            name: p.name.as_deref(),
            ty: ty.clone(),
            restrict: false,
            is_pack: false,
            span: p.span,
        });
        self.declare_params(specs.collect(), scope)
    }

    fn declare_param(&mut self, p: &ParamSpec<'a>) -> Res<Entity<'a>> {
        let is_kernel = self.f().func.kind == FunctionKind::Kernel;
        if is_kernel && p.ty.is_reference() {
            return refuse(REFERENCE_FOR_KERNEL, p.span);
        }
        if p.ty.ty == Type::Void && !p.ty.is_reference() {
            return fail("W052", p.span, "a parameter cannot be of type void");
        }
        let mut ty = stored_type(&p.ty);
        let may_move = p.name.is_some_and(|n| self.f().assigned.contains(n));
        if is_kernel && !may_move {
            ty = super::convert::with_space(&ty, Space::Global);
        }
        let mut var = Var::new(p.name.unwrap_or("unnamed"), ty.clone(), VarKind::Param);
        var.reference = p.ty.is_reference();
        var.constant = p.ty.is_const || p.ty.is_reference();
        var.restrict = p.restrict;
        var.origin = p.span.into();
        let f = self.f();
        let id = f.func.add_param(var);
        let place = Place::new(PlaceKind::Var(id), ty.clone(), p.span);
        let owner = f.serial;
        if p.ty.is_reference() {
            let place = Place::new(PlaceKind::Deref(Expr::read(place)), p.ty.ty.clone(), p.span);
            return Ok(Entity::Place { owner, place, is_const: p.ty.is_const, shape: None });
        }
        Ok(Entity::Place { owner, place, is_const: p.ty.is_const, shape: None })
    }

    /// Opens a function under construction.
    pub(crate) fn push_fn(&mut self, name: &str, kind: FunctionKind, scope: ScopeId, span: Span) {
        self.next_serial += 1;
        let mut func = warpsmith_ir::Function::new(name, kind);
        func.origin = span.into();
        self.fns.push(FnState {
            serial: self.next_serial,
            func,
            blocks: vec![vec![]],
            scope,
            ret: None,
            returns: Deduced::default(),
            this: None,
            address_taken: HashSet::new(),
            stable: HashSet::new(),
            assigned: HashSet::new(),
            changed: HashSet::new(),
            allowed_shared: vec![],
            is_const_eval: false,
            unevaluated: 0,
            asks_access: false,
            span,
            loops: 0,
            switches: 0,
            ending: vec![],
            ending_at_loops: vec![],
            ending_at_breaks: vec![],
            labels: vec![],
            carry: None,
            sets: Default::default(),
        });
    }

    /// Closes it; the outermost state stays, so that there is always a current function.
    pub(crate) fn pop_fn(&mut self) -> FnState {
        let serial = self.next_serial;
        let mut state = match self.fns.len() {
            0 | 1 => {
                self.push_fn("", FunctionKind::Device, self.root, self.f_span());
                self.fns.swap_remove(0)
            }
            _ => self.fns.swap_remove(self.fns.len() - 1),
        };
        debug_assert!(state.serial <= serial);
        state.blocks.truncate(1);
        state
    }

    pub(crate) fn f_span(&self) -> Span {
        self.fns
            .first()
            .map_or(Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 }, |f| f.span)
    }

    /// Whether the place is in what stands in for a library.
    pub(crate) fn is_of_library(&self, span: Span) -> bool {
        self.prelude_file() == Some(span.file) || self.library_files.contains(&span.file)
    }

    /// Adds a complete function to the module.
    pub(crate) fn finish_function(
        &mut self,
        mut state: FnState,
        params: Vec<QualType>,
        reserved: Option<warpsmith_ir::FuncId>,
    ) -> Instance {
        let ret = state.ret.unwrap_or_else(|| QualType::plain(Type::Void));
        state.func.ret = stored_type(&ret);
        state.func.of_library = self.is_of_library(state.span);
        state.func.body = Block::new(state.blocks.pop().unwrap_or_default());
        super::access_sets::keep(&mut state.func, &state.sets);
        crate::machine::without_jumps(&mut state.func);
        if self.module.find_function(&state.func.name).is_some() {
            let types: Vec<String> = params.iter().map(|p| self.qual_text(p)).collect();
            let full = format!("{}({})", state.func.name, types.join(","));
            let mut n = 1;
            let mut name = full.clone();
            while self.module.find_function(&name).is_some() {
                n += 1;
                name = format!("{full}#{n}");
            }
            state.func.name = name;
        }
        let slot =
            reserved.and_then(|id| self.module.functions.get_mut(id.0 as usize).zip(Some(id)));
        let id = match slot {
            Some((slot, id)) => {
                *slot = state.func;
                id
            }
            None => self.module.add_function(state.func),
        };
        Instance { id, params, ret }
    }

    pub(crate) fn f_scope(&self) -> ScopeId {
        self.fns.last().map_or(self.root, |f| f.scope)
    }
}

/// A pointer conversion that changes nothing but what is known of the pointee.
pub(crate) fn raw_pointer_cast(pointer: Expr, ty: Type, span: Span) -> Expr {
    if pointer.ty == ty { pointer } else { Expr::new(ExprKind::Cast(pointer), ty, span) }
}

pub(crate) fn is_auto(ty: &ast::TypeName) -> bool {
    match &ty.kind {
        ast::TypeKind::Auto | ast::TypeKind::DecltypeAuto => true,
        ast::TypeKind::Pointer { to, .. } | ast::TypeKind::Reference { to, .. } => is_auto(to),
        _ => false,
    }
}

/// Names that a body assigns with plain `=`: pointers among them may point elsewhere later.
fn assigned_names(body: &ast::Block) -> HashSet<String> {
    let mut names = HashSet::new();
    super::walk::block(body, &mut |e| {
        if let ast::ExprKind::Assign { op, target, .. } = &*e.kind
            && op == "="
            && let ast::ExprKind::Path(p) = &*target.kind
            && let Some(name) = p.as_name()
        {
            names.insert(name.to_string());
        }
        if let ast::ExprKind::Unary { op, operand } = &*e.kind
            && op == "&"
            && let ast::ExprKind::Path(p) = &*operand.kind
            && let Some(name) = p.as_name()
        {
            names.insert(name.to_string());
        }
        if let ast::ExprKind::Call { args, .. } = &*e.kind {
            // It may be passed by reference.
            for arg in args {
                if let ast::ExprKind::Path(p) = &*arg.kind
                    && let Some(name) = p.as_name()
                {
                    names.insert(name.to_string());
                }
            }
        }
    });
    names
}

/// The same for values that may be no pointers, which stay as they are.
pub(crate) fn raw_pointer_cast_if(value: Expr, ty: &Type, span: Span) -> Expr {
    if ty.is_pointer() { raw_pointer_cast(value, ty.clone(), span) } else { value }
}

/// Names that a body assigns, counts up or down, or takes the address of.
fn changed_names(body: &ast::Block) -> HashSet<String> {
    let mut names = assigned_names(body);
    super::walk::block(body, &mut |e| {
        let target = match &*e.kind {
            ast::ExprKind::Assign { target, .. } => target,
            ast::ExprKind::IncDec { operand, .. } => operand,
            _ => return,
        };
        if let ast::ExprKind::Path(p) = &*target.kind
            && let Some(name) = p.as_name()
        {
            names.insert(name.to_string());
        }
    });
    names
}
