//! Virtual functions.
//!
//! An object of a class with virtual functions begins with the number of its class, which constructors set as they set
//! the hidden pointer of C++. A call goes to a dispatcher, whose body – one branch for each class that the program makes objects
//! of – is made when all of them are known, as for pointers to functions.

use std::collections::BTreeSet;

use warpsmith_ir::{
    Block, Expr, ExprKind, FuncId, Function, FunctionKind, Place, PlaceKind, Scalar, Space, Span,
    Stmt, StmtKind, StructId, Type, Var, VarKind,
};

use super::Sema;
use super::function_pointers::when;
use super::functions::{raw_pointer_cast, raw_pointer_cast_if};
use super::model::*;
use super::overload::Chosen;
use super::structs::stored_type;
use super::templates::despaced;
use crate::ast;

/// The virtual calls of one lowering.
#[derive(Debug, Default)]
pub(crate) struct Virtuals<'a> {
    dispatchers: Vec<Dispatcher<'a>>,
    /// Classes of which objects are made.
    made: BTreeSet<u32>,
}

impl Virtuals<'_> {
    /// Grows with whatever bodies hang on.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.dispatchers.len(), self.made.len())
    }
}

/// A function that calls what the object's class says.
#[derive(Clone, Debug)]
struct Dispatcher<'a> {
    id: FuncId,
    /// What `this` points to.
    class: StructId,
    /// `None` is the destructor.
    called: Option<FnDecl<'a>>,
    kind: FunctionKind,
    span: Span,
}

impl<'a> Sema<'a> {
    /// Whether objects of a class have a class number.
    pub(crate) fn is_polymorphic(&self, class: StructId) -> bool {
        let info = self.class(class);
        info.numbered || info.bases.iter().any(|b| self.is_polymorphic(b.class))
    }

    /// The ways to the class numbers in an object: one for each base that has its own.
    fn number_paths(&self, class: StructId) -> Vec<Vec<u32>> {
        let info = self.class(class);
        let mut all: Vec<Vec<u32>> = info.numbered.then(|| vec![0]).into_iter().collect();
        for base in &info.bases {
            let inner = self.number_paths(base.class);
            all.extend(inner.into_iter().map(|p| base.index.into_iter().chain(p).collect()));
        }
        all
    }

    /// From here on the object is one of that class.
    pub(crate) fn set_class_number(&mut self, object: &Place, class: StructId, span: Span) {
        let paths = self.number_paths(class);
        if paths.is_empty() {
            return;
        }
        self.virtuals.made.insert(class.0);
        for path in paths {
            let place = self.field_place(object.clone(), &path, span);
            let value = Expr::int(Scalar::U64, class_number(class)).with_origin(span);
            self.emit(StmtKind::Assign { place, value }, span);
        }
    }

    /// Whether a method is virtual, by itself or because it overrides one that is.
    pub(crate) fn is_virtual(&mut self, f: FnDecl<'a>) -> bool {
        let Some(class) = f.class.filter(|c| f.needs_object() && self.is_polymorphic(*c)) else {
            return false;
        };
        if f.decl.attrs.is_virtual {
            return true;
        }
        let Some(name) = method_name(f.decl) else { return false };
        let bases = self.class(class).bases.clone();
        bases.into_iter().any(|b| {
            self.method_like(b.class, &name, f).is_some_and(|found| self.is_virtual(found))
        })
    }

    /// The function of that name with the parameters of another, in a class or the nearest of its bases.
    fn method_like(&mut self, class: StructId, name: &str, like: FnDecl<'a>) -> Option<FnDecl<'a>> {
        let own = self.own_method_like(class, name, like);
        own.or_else(|| {
            let bases = self.class(class).bases.clone();
            bases.into_iter().find_map(|b| self.method_like(b.class, name, like))
        })
    }

    /// The same in a class alone.
    pub(crate) fn own_method_like(
        &mut self,
        class: StructId,
        name: &str,
        like: FnDecl<'a>,
    ) -> Option<FnDecl<'a>> {
        let scope = self.class(class).scope;
        let own = self.scope(scope).names.get(name).cloned().unwrap_or_default();
        let wanted = self.param_types(like, like.scope).ok()?;
        for entity in own {
            let Entity::Function(f) = entity else { continue };
            let fits = f.decl.template.is_none() && f.decl.is_const == like.decl.is_const;
            if fits && self.param_types(f, f.scope).is_ok_and(|p| p == wanted) {
                return Some(f);
            }
        }
        None
    }

    /// What a virtual call goes to, with the signature of the function that was found.
    pub(crate) fn virtual_instance(
        &mut self,
        class: StructId,
        chosen: &Chosen<'a>,
        kind: FunctionKind,
        span: Span,
    ) -> Res<Instance> {
        let f = chosen.f;
        let Some(ret) = &f.decl.ret else {
            return fail("W052", f.decl.head_span, "a virtual function needs a type");
        };
        let ret = despaced(self.resolve_type(f.scope, ret)?);
        let params = self.param_types(f, f.scope)?;
        let id = self.virtual_dispatcher(class, Some(f), kind, span);
        Ok(Instance { id, params, ret })
    }

    fn virtual_dispatcher(
        &mut self,
        class: StructId,
        called: Option<FnDecl<'a>>,
        kind: FunctionKind,
        span: Span,
    ) -> FuncId {
        let key = called.map(|f| f.key());
        let known = self
            .virtuals
            .dispatchers
            .iter()
            .find(|d| d.class == class && d.called.map(|f| f.key()) == key && d.kind == kind);
        if let Some(d) = known {
            return d.id;
        }
        let what = called.and_then(|f| method_name(f.decl)).unwrap_or_else(|| "end".into());
        let number = self.virtuals.dispatchers.len() + 1;
        let name = format!("{}::{what} of any class {number}", self.class(class).name);
        let id = self.module.add_function(Function::new(name, kind));
        self.virtuals.dispatchers.push(Dispatcher { id, class, called, kind, span });
        id
    }

    pub(crate) fn has_virtual_destructor(&self, ty: &Type) -> bool {
        self.is_class(ty).is_some_and(|class| self.destructor_is_virtual(class))
    }

    fn destructor_is_virtual(&self, class: StructId) -> bool {
        let info = self.class(class);
        let members = info.decl.and_then(|d| d.members.as_deref()).unwrap_or_default();
        let own = members.iter().any(|m| {
            matches!(m, ast::Member::Method(f)
                if f.name == ast::FunctionName::Destructor && f.attrs.is_virtual)
        });
        own || info.bases.iter().any(|b| self.destructor_is_virtual(b.class))
    }

    /// `delete p` where the class of `*p` is only known at run time.
    pub(crate) fn call_virtual_destructor(
        &mut self,
        class: StructId,
        pointer: Expr,
        span: Span,
    ) -> Res<()> {
        let function = self.virtual_dispatcher(class, None, FunctionKind::Device, span);
        let this = raw_pointer_cast(pointer, this_type(class, false), span);
        self.emit(StmtKind::Call { function, args: vec![this], result: None }, span);
        Ok(())
    }

    /// Makes the bodies of all dispatchers; this may lower functions that make further calls and objects.
    pub(crate) fn make_virtual_bodies(&mut self) {
        for d in self.virtuals.dispatchers.clone() {
            let body = match self.virtual_body(&d) {
                Ok(body) => body,
                Err(Failure::New(error)) => {
                    self.report(*error);
                    continue;
                }
                Err(Failure::Reported) => continue,
            };
            if let Some(slot) = self.module.functions.get_mut(d.id.0 as usize) {
                *slot = body;
            }
        }
    }

    fn virtual_body(&mut self, d: &Dispatcher<'a>) -> Res<Function> {
        let mut f = Function::new(self.module.function(d.id).name.clone(), d.kind);
        f.origin = d.span.into();
        let is_const = d.called.is_some_and(|c| c.decl.is_const);
        let mut this = Var::new("this", this_type(d.class, is_const), VarKind::Param);
        this.constant = true;
        let this = f.add_param(this);
        if let Some(called) = d.called {
            let ret = match &called.decl.ret {
                Some(ret) => despaced(self.resolve_type(called.scope, ret)?),
                None => QualType::plain(Type::Void),
            };
            f.ret = stored_type(&ret);
            for (i, p) in self.param_types(called, called.scope)?.iter().enumerate() {
                let mut var = Var::new(format!("a{i}"), stored_type(p), VarKind::Param);
                var.reference = p.is_reference();
                f.add_param(var);
            }
        }
        let pointer = Expr::var(this, this_type(d.class, is_const)).with_origin(d.span);
        let object = Place::new(PlaceKind::Deref(pointer), Type::Struct(d.class), d.span);
        let Some(path) = self.number_paths(d.class).into_iter().next() else {
            return Err(Failure::Reported);
        };
        let number = f.add_var(Var::new("class number", Type::U64, VarKind::Local));
        let read = Expr::read(self.field_place(object, &path, d.span)).with_origin(d.span);
        let mut stmts = vec![Stmt::new(StmtKind::Decl { var: number, init: Some(read) }, d.span)];
        for class in self.virtuals.made.clone() {
            stmts.extend(self.virtual_branch(d, StructId(class), &mut f, number)?);
        }
        let cond = super::convert::bool_const(false, d.span);
        let text = "the object has been made, by a class with this function".to_string();
        stmts.push(Stmt::new(StmtKind::Assert { cond, text }, d.span));
        if f.ret != Type::Void {
            let result = f.add_var(Var::new("none", f.ret.clone(), VarKind::Local));
            stmts.push(Stmt::new(StmtKind::Decl { var: result, init: None }, d.span));
            let value = Expr::var(result, f.ret.clone());
            stmts.push(Stmt::new(StmtKind::Return(Some(value)), d.span));
        }
        f.body = Block::new(stmts);
        Ok(f)
    }

    /// `if (number == class) return the class's function;`, for a class that derives from the dispatcher's.
    fn virtual_branch(
        &mut self,
        d: &Dispatcher<'a>,
        class: StructId,
        f: &mut Function,
        number: warpsmith_ir::VarId,
    ) -> Res<Option<Stmt>> {
        let Some(up) = self.base_path(class, d.class) else { return Ok(None) };
        let Some((function, owner)) = self.final_function(d, class)? else { return Ok(None) };
        let down = self.base_path(class, owner).unwrap_or_default();
        let (Some(down), Some(up)) = (self.distance(class, &down), self.distance(class, &up))
        else {
            return Ok(None);
        };
        let delta = down - up;
        let callee = self.module.function(function).clone();
        let params: Vec<Expr> =
            f.params.iter().map(|p| Expr::var(*p, f.var(*p).ty.clone())).collect();
        let mut args = vec![];
        for (i, (value, p)) in params.into_iter().zip(&callee.params).enumerate() {
            let value = if i == 0 { moved(value, delta, d.span) } else { value };
            args.push(raw_pointer_cast_if(value, &callee.var(*p).ty, d.span));
        }
        let mut stmts = vec![];
        let mut result = None;
        if callee.ret != Type::Void {
            let var = f.add_var(Var::new("result", callee.ret.clone(), VarKind::Local));
            stmts.push(Stmt::new(StmtKind::Decl { var, init: None }, d.span));
            result = Some(Place::new(PlaceKind::Var(var), callee.ret.clone(), d.span));
        }
        let call = StmtKind::Call { function, args, result: result.clone() };
        stmts.push(Stmt::new(call, d.span));
        // A function may return a pointer to a class that derives from what the base's function returns.
        let value = result.map(|r| raw_pointer_cast_if(Expr::read(r), &f.ret, d.span));
        stmts.push(Stmt::new(StmtKind::Return(value), d.span));
        let wanted = Expr::int(Scalar::U64, class_number(class)).with_origin(d.span);
        Ok(Some(when((number, Type::U64), wanted, stmts, d.span)))
    }

    /// What objects of a class do, and the class it belongs to; `None` where it has no body, as pure ones do.
    fn final_function(
        &mut self,
        d: &Dispatcher<'a>,
        class: StructId,
    ) -> Res<Option<(FuncId, StructId)>> {
        let Some(called) = d.called else {
            return Ok(Some((self.ending_function(class, d.span)?, class)));
        };
        let Some(name) = method_name(called.decl) else { return Ok(None) };
        let Some(found) = self.method_like(class, &name, called) else { return Ok(None) };
        let Some(owner) = found.class else { return Ok(None) };
        let attrs = &found.decl.attrs;
        let callable = match d.kind {
            FunctionKind::Host => attrs.host || !attrs.device,
            _ => attrs.device,
        };
        if !callable {
            return Ok(None);
        }
        let chosen = Chosen::plain(found);
        // Pure functions have no body, here or elsewhere.
        if found.decl.body.is_none() && found.decl.attrs.is_virtual && !self.is_defined(found) {
            return Ok(None);
        }
        Ok(Some((self.instance(chosen, d.kind, d.span)?.id, owner)))
    }

    /// Whether a method that is declared in its class has a body outside of it.
    fn is_defined(&self, f: FnDecl<'a>) -> bool {
        let class = f.class.and_then(|c| self.class(c).decl).and_then(|d| d.name.clone());
        let Some(key) = class.zip(method_name(f.decl)) else { return false };
        self.out_of_line.get(&key).is_some_and(|l| !l.is_empty())
    }
}

/// What objects of a class carry; 0 is none.
fn class_number(class: StructId) -> i64 {
    i64::from(class.0) + 1
}

fn this_type(class: StructId, readonly: bool) -> Type {
    let pointee = Type::Struct(class).into();
    Type::Pointer { pointee, space: Space::Generic, volatile: false, readonly }
}

/// A pointer that many bytes further on.
fn moved(pointer: Expr, bytes: i64, span: Span) -> Expr {
    if bytes == 0 {
        return pointer;
    }
    let byte = Type::pointer(Type::Scalar(Scalar::I8), Space::Generic);
    let start = Expr::new(ExprKind::Cast(pointer), byte.clone(), span);
    let by = Expr::int(Scalar::I64, bytes).with_origin(span);
    Expr::new(ExprKind::PtrOffset(start, by), byte, span)
}

/// The name that a method is declared under; `None` for constructors and the like.
fn method_name(decl: &ast::FunctionDecl) -> Option<String> {
    match &decl.name {
        ast::FunctionName::Plain(path) => path.segments.last().map(|s| s.name.clone()),
        ast::FunctionName::Operator(op) => Some(format!("operator{op}")),
        _ => None,
    }
}
