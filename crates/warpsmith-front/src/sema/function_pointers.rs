//! Pointers to functions: `float (*op)(float, float)`, tables of them, kernels that are launched through them.
//!
//! A pointer is a structure of one number, which names a function whose address the program takes; 0 is null. A call
//! goes to a dispatcher of that signature, whose body – one branch for each function of it – is made when all functions
//! are known. So an address means the same on host and device, and may lie in memory.

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, FuncId, Function, FunctionKind, Launch, Place, PlaceKind,
    Scalar, Span, Stmt, StmtKind, StructField, StructId, Type, Var, VarId, VarKind,
};

use super::Sema;
use super::convert::with_space;
use super::functions::raw_pointer_cast_if;
use super::kernel_addresses::ByAddress;
use super::model::*;
use super::overload::Chosen;
use super::refused::{MEMBER_POINTER, refuse};
use super::structs::stored_type;
use super::templates::despaced_type;
use crate::ast;

/// What a pointer may point to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    pub ret: QualType,
    pub params: Vec<QualType>,
}

/// A function whose address is taken; its number is one more than its index.
#[derive(Clone, Debug)]
struct Target<'a> {
    chosen: Chosen<'a>,
    pointer: StructId,
}

/// A function that calls or launches what a pointer points to.
#[derive(Clone, Copy, Debug)]
struct Dispatcher {
    id: FuncId,
    pointer: StructId,
    kind: Dispatch,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Dispatch {
    /// From code of that kind.
    Call(FunctionKind),
    Launch,
    /// The pointer is any kernel's.
    Address(ByAddress),
}

/// The pointers to functions of one lowering.
#[derive(Debug, Default)]
pub(crate) struct FunctionPointers<'a> {
    types: Vec<(Signature, StructId)>,
    targets: Vec<Target<'a>>,
    dispatchers: Vec<Dispatcher>,
}

impl<'a> Sema<'a> {
    /// The type of pointers to functions as declared.
    pub(crate) fn function_pointer_type(
        &mut self,
        scope: ScopeId,
        ret: &'a ast::TypeName,
        params: &'a [ast::Param],
        span: Span,
    ) -> Res<QualType> {
        let ret = self.resolve_type(scope, ret)?;
        let mut types = vec![];
        for p in params {
            // `void (*f)(A...)`: one for each element of the pack.
            let scopes = self.pack_elements(&p.ty, scope).unwrap_or_else(|| vec![scope]);
            for inner in scopes {
                let q = self.resolve_type(inner, &p.ty)?;
                if q.ty != Type::Void || q.is_reference() {
                    types.push(plain_parameter(self.decayed(q)));
                }
            }
        }
        let signature = Signature { ret: plain_parameter(ret), params: types };
        Ok(QualType::plain(self.pointer_to(signature, span)))
    }

    fn pointer_to(&mut self, signature: Signature, span: Span) -> Type {
        let known = self.pointers.types.iter().find(|(s, _)| *s == signature);
        if let Some((_, id)) = known {
            return Type::Struct(*id);
        }
        let list: Vec<String> = signature.params.iter().map(|p| self.qual_text(p)).collect();
        let name = format!("{} (*)({})", self.qual_text(&signature.ret), list.join(", "));
        let id = self.new_struct(&name, span);
        if let Some(s) = self.module.structs.get_mut(id.0 as usize) {
            s.fields = vec![StructField { name: "function".into(), ty: Type::U64, offset: 0 }];
            (s.size, s.align) = (8, 8);
        }
        self.pointers.types.push((signature, id));
        Type::Struct(id)
    }

    /// The type of pointers that two functions, of which one is chosen, become.
    pub(crate) fn common_pointer(&mut self, a: &Type, b: &Type, span: Span) -> Res<Option<Type>> {
        let (Some(a), Some(b)) = (self.function_of(a), self.function_of(b)) else {
            let pointer = [a, b].into_iter().find(|t| self.signature_of(t).is_some());
            return Ok(pointer.cloned());
        };
        let mut signatures = [vec![], vec![]];
        for (list, f) in signatures.iter_mut().zip([&a, &b]) {
            for f in f.fns.iter().filter(|f| f.decl.template.is_none()) {
                list.push(self.signature_as_declared(*f)?);
            }
        }
        let common =
            signatures[0].iter().flatten().find(|s| signatures[1].contains(&Some((*s).clone())));
        let common = common.cloned();
        Ok(common.map(|s| self.pointer_to(s, span)))
    }

    fn signature_as_declared(&mut self, f: FnDecl<'a>) -> Res<Option<Signature>> {
        self.signature_in(f, f.scope)
    }

    /// The signature of a function whose template parameters are bound in a scope.
    fn signature_in(&mut self, f: FnDecl<'a>, scope: ScopeId) -> Res<Option<Signature>> {
        let Some(ret) = &f.decl.ret else { return Ok(None) };
        let ret = plain_parameter(self.resolve_type(scope, ret)?);
        let mut params = self.param_types(f, scope)?;
        if let Some(class) = f.class.filter(|_| f.needs_object()) {
            let mut object = Type::pointer(Type::Struct(class), warpsmith_ir::Space::Generic);
            if let Type::Pointer { readonly, .. } = &mut object {
                *readonly = f.decl.is_const;
            }
            params.insert(0, QualType::plain(object));
        }
        Ok(Some(Signature { ret, params: params.into_iter().map(plain_parameter).collect() }))
    }

    /// The signature of what a type points to or stands for: a pointer, or one function, of a template with its arguments.
    pub(super) fn signature_named(&mut self, ty: &Type) -> Option<Signature> {
        if let Some((_, signature)) = self.signature_of(ty) {
            return Some(signature);
        }
        let FunctionValue { fns, args, .. } = self.function_of(ty)?;
        let [only] = fns.as_slice() else { return None };
        let header = only.decl.template.as_ref().filter(|t| !t.params.is_empty());
        let scope = match header {
            None => only.scope,
            Some(header) => self.bind_params(header, args?, only.scope, self.f_span()).ok()?.0,
        };
        self.signature_in(*only, scope).ok()?
    }

    /// The signature and structure of a type that is a pointer to functions.
    pub(crate) fn signature_of(&self, ty: &Type) -> Option<(StructId, Signature)> {
        let Type::Struct(wanted) = ty else { return None };
        let found = self.pointers.types.iter().find(|(_, id)| id == wanted)?;
        Some((found.1, found.0.clone()))
    }

    pub(crate) fn is_function_pointer(&mut self, operand: &Operand<'a>) -> bool {
        self.operand_type(operand).is_some_and(|q| self.signature_of(&q.ty).is_some())
    }

    /// What becomes a pointer to functions: a function, null, or such a pointer. `None`: something else.
    pub(crate) fn as_function_pointer(
        &mut self,
        value: &Expr,
        ty: &Type,
        span: Span,
    ) -> Option<Res<Expr>> {
        self.signature_of(ty)?;
        if let Some(f) = self.function_of(&value.ty) {
            return Some(self.function_address(&f, ty, span));
        }
        let null = super::convert::is_null(value)
            || value.as_const().is_some_and(|v| v.ty.is_integer() && v.bits == 0);
        null.then(|| Ok(pointer_value(0, ty, span)))
    }

    /// The pointer of that type to a function, or why there is none.
    pub(crate) fn function_address(
        &mut self,
        f: &FunctionValue<'a>,
        ty: &Type,
        span: Span,
    ) -> Res<Expr> {
        let Some((pointer, signature)) = self.signature_of(ty) else {
            return fail("W062", span, "this is no pointer to a function");
        };
        let object = self.object_of_methods(f, &signature, span)?;
        let wanted = &signature.params[usize::from(object.is_some())..];
        let operands: Vec<Operand<'a>> = wanted.iter().map(|p| self.any_value(p, span)).collect();
        let args = f.args.as_deref();
        let chosen = self.resolve_overload(&f.name, &f.fns, args, object, &operands, span)?;
        let types = self.param_types(chosen.f, chosen.scope)?;
        let types: Vec<QualType> = types.into_iter().map(plain_parameter).collect();
        let of_class = chosen.f.class.filter(|_| chosen.f.needs_object());
        let of_object = of_class.map(|class| (class, chosen.f.decl.is_const));
        if types != wanted || of_object != object || !self.gives(&chosen, &signature.ret) {
            let text = self.type_text(ty);
            let d = error("W062", span, format!("`{}` is no function for `{text}`", f.name));
            return Err(d.label(chosen.f.decl.head_span, "declared here").into());
        }
        if self.is_virtual(chosen.f) {
            return refuse(MEMBER_POINTER, span);
        }
        Ok(pointer_value(self.target_number(chosen, pointer), ty, span))
    }

    /// The pointer to a function that is no template and has no overloads; `None`: nobody says which one is meant.
    pub(crate) fn address_of_only(
        &mut self,
        f: &FunctionValue<'a>,
        span: Span,
    ) -> Option<Res<Expr>> {
        let mut signatures = vec![];
        for one in &f.fns {
            if one.class.is_some() || one.decl.template.is_some() {
                return None;
            }
            signatures.push(self.signature_as_declared(*one).ok()??);
        }
        let only = signatures.pop().filter(|last| signatures.iter().all(|s| s == last))?;
        let ty = self.pointer_to(only, span);
        Some(self.function_address(f, &ty, span))
    }

    /// Whether a function returns what a pointer promises; what is only deduced is not asked for.
    fn gives(&mut self, chosen: &Chosen<'a>, wanted: &QualType) -> bool {
        let Some(ret) = &chosen.f.decl.ret else { return true };
        let declared = self.resolve_type(chosen.scope, ret);
        declared.is_ok_and(|q| plain_parameter(q) == *wanted)
            || matches!(ret.kind, ast::TypeKind::Auto | ast::TypeKind::DecltypeAuto)
    }

    /// The class of the objects that methods are called with, which a pointer to them has as its first parameter, and
    /// whether they are constant; `None` of other functions.
    fn object_of_methods(
        &self,
        f: &FunctionValue<'a>,
        signature: &Signature,
        span: Span,
    ) -> Res<Option<(StructId, bool)>> {
        if !f.fns.iter().any(FnDecl::needs_object) {
            return Ok(None);
        }
        match signature.params.first().map(|p| &p.ty) {
            Some(Type::Pointer { pointee, readonly, .. }) => match &**pointee {
                Type::Struct(class) => Ok(Some((*class, *readonly))),
                _ => refuse(MEMBER_POINTER, span),
            },
            _ => refuse(MEMBER_POINTER, span),
        }
    }

    fn target_number(&mut self, chosen: Chosen<'a>, pointer: StructId) -> i64 {
        let same = |t: &Target<'a>| {
            // Each use of a template binds its arguments in a scope of its own.
            let bound = t.chosen.scope == chosen.scope || !chosen.args.is_empty();
            t.chosen.f.key() == chosen.f.key()
                && t.chosen.f.scope == chosen.f.scope
                && t.chosen.args == chosen.args
                && bound
        };
        let number = match self.pointers.targets.iter().position(same) {
            Some(at) => at,
            None => {
                self.pointers.targets.push(Target { chosen, pointer });
                self.pointers.targets.len() - 1
            }
        };
        number as i64 + 1
    }

    /// The number that pointers to a kernel hold.
    pub(crate) fn number_of_target(&mut self, chosen: Chosen<'a>, span: Span) -> Res<Expr> {
        let params = self.param_types(chosen.f, chosen.scope)?;
        let params = params.into_iter().map(plain_parameter).collect();
        let signature = Signature { ret: QualType::plain(Type::Void), params };
        let Type::Struct(pointer) = self.pointer_to(signature, span) else {
            return Err(Failure::Reported);
        };
        Ok(Expr::int(Scalar::U64, self.target_number(chosen, pointer)).with_origin(span))
    }

    /// The functions whose address is taken, with their numbers.
    pub(crate) fn targets(&self) -> Vec<(u64, Chosen<'a>)> {
        let all = self.pointers.targets.iter().enumerate();
        all.map(|(i, t)| (i as u64 + 1, t.chosen.clone())).collect()
    }

    /// The function that does something with any kernel of the program.
    pub(crate) fn by_address(&mut self, what: ByAddress, span: Span) -> FuncId {
        self.dispatcher(StructId(u32::MAX), Dispatch::Address(what), span)
    }

    /// An operand of a type, to find the function that takes such.
    fn any_value(&mut self, q: &QualType, span: Span) -> Operand<'a> {
        let ty = q.ty.clone();
        if q.reference == RefKind::Lvalue {
            let pointer = super::convert::null_pointer(
                &Type::pointer(ty.clone(), warpsmith_ir::Space::Generic),
                span,
            );
            let place = Place::new(PlaceKind::Deref(pointer), ty, span);
            return Operand::Place { place, is_const: q.is_const };
        }
        Operand::Value(Expr::new(ExprKind::Make(vec![]), ty, span))
    }

    /// Calls what a pointer points to.
    pub(crate) fn call_pointer(
        &mut self,
        pointer: Expr,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        let Some((id, signature)) = self.signature_of(&pointer.ty) else {
            return fail("W081", span, "this cannot be called");
        };
        let mut values = vec![Expr::new(ExprKind::Member(pointer, 0), Type::U64, span)];
        values.extend(self.pointer_arguments(&signature, args, span)?);
        let kind = match self.f().func.kind {
            FunctionKind::Host => FunctionKind::Host,
            _ => FunctionKind::Device,
        };
        let function = self.dispatcher(id, Dispatch::Call(kind), span);
        let instance = Instance { id: function, params: signature.params, ret: signature.ret };
        Ok(self.emit_call(&instance, values, span))
    }

    /// Launches the kernel a pointer points to.
    pub(crate) fn launch_pointer(
        &mut self,
        pointer: Expr,
        config: Vec<Expr>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        let Some((id, signature)) = self.signature_of(&pointer.ty) else {
            return fail("W098", span, "this is no kernel");
        };
        let mut values = vec![Expr::new(ExprKind::Member(pointer, 0), Type::U64, span)];
        values.extend(config);
        values.extend(self.pointer_arguments(&signature, args, span)?);
        let function = self.dispatcher(id, Dispatch::Launch, span);
        self.emit(StmtKind::Call { function, args: values, result: None }, span);
        Ok(Operand::Void)
    }

    /// Two pointers to functions that are compared, as numbers; other operands stay what they are.
    pub(crate) fn numbers_of_pointers(
        &mut self,
        a: Expr,
        b: Expr,
        span: Span,
    ) -> Res<(Expr, Expr)> {
        let ty = match (self.signature_of(&a.ty), self.signature_of(&b.ty)) {
            (Some(_), _) => a.ty.clone(),
            (None, Some(_)) => b.ty.clone(),
            (None, None) => return Ok((a, b)),
        };
        let a = self.convert_to(a, &ty, span)?;
        let b = self.convert_to(b, &ty, span)?;
        Ok((number_of(a, span), number_of(b, span)))
    }

    fn pointer_arguments(
        &mut self,
        signature: &Signature,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Vec<Expr>> {
        if args.len() != signature.params.len() {
            let (wanted, given) = (signature.params.len(), args.len());
            return fail(
                "W063",
                span,
                format!("the function takes {wanted} arguments, not {given}"),
            );
        }
        let both = args.into_iter().zip(&signature.params);
        both.map(|(arg, param)| self.pass(arg, param, span)).collect()
    }

    /// The function that such calls go to; a launch has one of its own, so that it is reported where it stands.
    fn dispatcher(&mut self, pointer: StructId, kind: Dispatch, span: Span) -> FuncId {
        let known = self.pointers.dispatchers.iter().find(|d| {
            d.pointer == pointer && d.kind == kind && (kind != Dispatch::Launch || d.span == span)
        });
        if let Some(d) = known {
            return d.id;
        }
        let function = match kind {
            Dispatch::Call(kind) => kind,
            Dispatch::Launch | Dispatch::Address(_) => FunctionKind::Host,
        };
        let number = self.pointers.dispatchers.len() + 1;
        let name = format!("function pointer {number}");
        let id = self.module.add_function(Function::new(name, function));
        self.pointers.dispatchers.push(Dispatcher { id, pointer, kind, span });
        id
    }

    /// What pointers to the functions hold whose address is taken.
    pub(crate) fn function_addresses(&self) -> Vec<super::FunctionAddress> {
        let address = |(index, target): (usize, &Target<'a>)| super::FunctionAddress {
            pointer: target.pointer,
            name: match &target.chosen.f.decl.name {
                ast::FunctionName::Plain(path) => super::types::path_text(path),
                _ => String::new(),
            },
            number: index as u64 + 1,
        };
        self.pointers.targets.iter().enumerate().map(address).collect()
    }

    /// Makes the bodies of dispatchers. Functions that this lowers may take further addresses and make further calls.
    pub(crate) fn finish_function_pointers(&mut self) {
        let mut made = Default::default();
        loop {
            let pointers = (self.pointers.targets.len(), self.pointers.dispatchers.len());
            let now = (pointers, self.virtuals.size());
            if made == now {
                return;
            }
            made = now;
            for d in self.pointers.dispatchers.clone() {
                let body = self.dispatcher_body(d);
                let slot = self.module.functions.get_mut(d.id.0 as usize);
                if let Some((slot, f)) = slot.zip(body) {
                    *slot = f;
                }
            }
            self.make_virtual_bodies();
        }
    }

    fn dispatcher_body(&mut self, d: Dispatcher) -> Option<Function> {
        if let Dispatch::Address(what) = d.kind {
            return Some(self.by_address_body(d.id, what, d.span));
        }
        let (_, signature) = self.signature_of(&Type::Struct(d.pointer))?;
        let kind = self.module.function(d.id).kind;
        let mut f = Function::new(self.module.function(d.id).name.clone(), kind);
        f.origin = d.span.into();
        f.ret = if d.kind == Dispatch::Launch { Type::Void } else { stored_type(&signature.ret) };
        let number = f.add_param(Var::new("function", Type::U64, VarKind::Param));
        if d.kind == Dispatch::Launch {
            for name in ["gx", "gy", "gz", "bx", "by", "bz"] {
                f.add_param(Var::new(name, Type::U32, VarKind::Param));
            }
            f.add_param(Var::new("shared", Type::U64, VarKind::Param));
            for name in ["cx", "cy", "cz"] {
                f.add_param(Var::new(name, Type::U32, VarKind::Param));
            }
        }
        let first = f.params.len();
        for (i, p) in signature.params.iter().enumerate() {
            let mut var = Var::new(format!("a{i}"), stored_type(p), VarKind::Param);
            var.reference = p.is_reference();
            f.add_param(var);
        }
        let mut stmts = vec![];
        let result = (f.ret != Type::Void)
            .then(|| f.add_var(Var::new("result", f.ret.clone(), VarKind::Local)));
        if let Some(var) = result {
            stmts.push(Stmt::new(StmtKind::Decl { var, init: None }, d.span));
        }
        for (index, target) in self.pointers.targets.clone().into_iter().enumerate() {
            if target.pointer != d.pointer {
                continue;
            }
            let Some(act) = self.act(d, target.chosen, &f, first, result) else { continue };
            stmts.push(branch(number, index as i64 + 1, act, result, &f, d.span));
        }
        let cond = super::convert::bool_const(false, d.span);
        let text = "the pointer points to a function".to_string();
        stmts.push(Stmt::new(StmtKind::Assert { cond, text }, d.span));
        let value = result.map(|v| Expr::var(v, f.ret.clone()));
        stmts.push(Stmt::new(StmtKind::Return(value), d.span));
        f.body = Block::new(stmts);
        Some(f)
    }

    /// The call or launch of one function; `None` where it cannot be meant, or is not understood.
    fn act(
        &mut self,
        d: Dispatcher,
        chosen: Chosen<'a>,
        f: &Function,
        first: usize,
        result: Option<VarId>,
    ) -> Option<StmtKind> {
        let attrs = &chosen.f.decl.attrs;
        let kind = match d.kind {
            Dispatch::Launch if attrs.global => FunctionKind::Kernel,
            Dispatch::Call(FunctionKind::Host)
                if !attrs.global && (attrs.host || !attrs.device) =>
            {
                FunctionKind::Host
            }
            Dispatch::Call(FunctionKind::Device) if attrs.device => FunctionKind::Device,
            _ => return None,
        };
        let instance = match self.instance(chosen, kind, d.span) {
            Ok(instance) => instance,
            Err(Failure::New(error)) => {
                self.report(*error);
                return None;
            }
            Err(Failure::Reported) => return None,
        };
        let params: Vec<Expr> =
            f.params.iter().map(|p| Expr::var(*p, f.var(*p).ty.clone())).collect();
        let callee = self.module.function(instance.id);
        let args = params
            .iter()
            .skip(first)
            .zip(&callee.params)
            .map(|(value, p)| raw_pointer_cast_if(value.clone(), &callee.var(*p).ty, d.span));
        let args = args.collect();
        if d.kind == Dispatch::Launch {
            let [_, gx, gy, gz, bx, by, bz, shared, cx, cy, cz, ..] = &params[..] else {
                return None;
            };
            let grid = [gx, gy, gz].map(Clone::clone);
            let block = [bx, by, bz].map(Clone::clone);
            let cluster = Some(Box::new([cx, cy, cz].map(Clone::clone)));
            let (kernel, shared) = (instance.id, shared.clone());
            let launch = Launch { kernel, grid, block, shared, cluster, args };
            return Some(StmtKind::Launch(launch));
        }
        let result = result.map(|v| Place::new(PlaceKind::Var(v), f.ret.clone(), d.span));
        Some(StmtKind::Call { function: instance.id, args, result })
    }
}

/// `if (number == wanted) { act; return result; }`
fn branch(
    number: VarId,
    wanted: i64,
    act: StmtKind,
    result: Option<VarId>,
    f: &Function,
    span: Span,
) -> Stmt {
    let value = result.map(|v| Expr::var(v, f.ret.clone()));
    let stmts = vec![Stmt::new(act, span), Stmt::new(StmtKind::Return(value), span)];
    when((number, Type::U64), Expr::int(Scalar::U64, wanted), stmts, span)
}

/// `if (variable == value) { then }`
pub(crate) fn when((id, ty): (VarId, Type), value: Expr, then: Vec<Stmt>, span: Span) -> Stmt {
    let cond = Expr::binary(BinaryOp::Eq, Expr::var(id, ty).with_origin(span), value);
    let then = Block::new(then);
    Stmt::new(StmtKind::If { cond, then, otherwise: Block::default() }, span)
}

fn pointer_value(number: i64, ty: &Type, span: Span) -> Expr {
    let number = Expr::int(Scalar::U64, number).with_origin(span);
    Expr::new(ExprKind::Make(vec![number]), ty.clone(), span)
}

/// The number behind a pointer to functions.
pub(crate) fn number_of(pointer: Expr, span: Span) -> Expr {
    match *pointer.kind {
        ExprKind::Make(mut parts) if parts.len() == 1 => parts.remove(0),
        kind => {
            let pointer = Expr { kind: Box::new(kind), ..pointer };
            Expr::new(ExprKind::Member(pointer, 0), Type::U64, span)
        }
    }
}

/// A parameter as far as it makes a signature: `const` of a value says nothing to callers.
fn plain_parameter(mut q: QualType) -> QualType {
    q.ty = despaced_type(&with_space(&q.ty, warpsmith_ir::Space::Generic));
    if !q.is_reference() {
        (q.is_const, q.is_volatile) = (false, false);
    }
    q
}
