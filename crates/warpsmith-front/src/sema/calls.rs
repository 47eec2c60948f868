//! Calls: functions, methods, functors, constructors, library functions.

use warpsmith_ir::{Expr, FunctionKind, Span, StmtKind, StructId};

use super::Sema;
use super::builtin_api::BuiltinResult;
use super::model::*;
use crate::ast;
use crate::builtins;

impl<'a> Sema<'a> {
    pub(crate) fn call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        if let Some(result) = self.destructor_call(callee, span) {
            return result;
        }
        if let Some(q) = self.deduced_call(callee, args)? {
            let list = self.arguments(args)?;
            return self.construct(&q.ty, list, false, span).map(Operand::Value);
        }
        let by_pointer = self.through_member(callee, args, span);
        if let Some(result) = by_pointer.or_else(|| self.call_of_method(callee, args, span)) {
            return result;
        }
        let target = self.callee(callee)?;
        match target {
            Operand::Foreign { names, args: targs } => {
                if let Some(result) = self.statement_call(&names, args, span) {
                    return result;
                }
                self.foreign_call(&names, targs, args, span)
            }
            Operand::ForeignMethod { object, receiver, name, args: targs } => {
                let values = self.foreign_args(args)?;
                let list: Vec<_> = targs.iter().flat_map(TArg::to_builtin).collect();
                let result = builtins::method(&object, receiver, &name, &list, values, span, self);
                self.foreign_result(result, &[name], span)
            }
            Operand::Functions { name, fns, args: targs, object } => {
                let function = FunctionValue { name, fns, args: targs };
                self.call_functions(callee, function, object, args, span)
            }
            Operand::Type(q) => {
                let list = self.arguments(args)?;
                if let Some(f) = self.function_of(&q.ty) {
                    return self.call_function_value(&f, list, span);
                }
                self.construct(&q.ty, list, is_dim3(callee), span).map(Operand::Value)
            }
            object => self.call_object(object, args, span),
        }
    }

    /// Calls one of several functions of a name, or the library's function of that name.
    fn call_functions(
        &mut self,
        callee: &'a ast::Expr,
        function: FunctionValue<'a>,
        object: Option<Box<Operand<'a>>>,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let FunctionValue { name, mut fns, args: targs } = function;
        if self.in_device_code() && fns.iter().any(|f| self.is_users_of_device(*f)) {
            fns.retain(|f| !self.is_library_of_host(*f));
        }
        let only_declared = object.is_none() && self.declares_library(&name, &fns);
        if only_declared
            && let Some(result) = self.statement_call(std::slice::from_ref(&name), args, span)
        {
            return result;
        }
        let list = self.arguments(args)?;
        let class = object.as_ref().and_then(|o| {
            let q = self.operand_type(o)?;
            Some((self.is_class(&q.ty)?, q.is_const))
        });
        let chosen = self.resolve_overload(&name, &fns, targs.as_deref(), class, &list, span);
        let chosen = match chosen {
            Ok(chosen)
                if object.is_none()
                    && (only_declared
                        || self.is_out_of_reach(&chosen)
                        || targs.is_none() && self.predefined_wins(&name, &chosen, &list)) =>
            {
                match self.library_overload(&name, targs.as_deref(), list.clone(), args, span) {
                    Some(own) => return own,
                    None => chosen,
                }
            }
            Ok(chosen) => chosen,
            Err(failure) if object.is_none() => {
                let own = self.library_overload(&name, targs.as_deref(), list, args, span);
                return own.unwrap_or(Err(failure));
            }
            Err(failure) => return Err(failure),
        };
        if Some(chosen.f.decl.head_span.file) == self.prelude_file() {
            self.say_what_is_invented(&name, args, span);
        }
        if chosen.f.needs_object() && object.is_none() {
            let text = format!("the method `{name}` is called without an object");
            return fail("W077", span, text);
        }
        self.names_its_class = names_its_class(callee);
        let result = self.call_chosen(chosen, object.map(|o| *o), list, span);
        self.names_its_class = false;
        result
    }

    /// Whether these are declarations, outside of namespaces, of what CUDA has under that name.
    fn declares_library(&self, name: &str, fns: &[FnDecl<'a>]) -> bool {
        // The standard library's functions without `std::` may be somebody's own.
        !builtins::is_of_standard_library(name)
            && fns.iter().all(|f| {
                f.class.is_none()
                    && self.file_around(f.scope) == f.scope
                    && self.is_only_declared(*f)
            })
    }

    fn in_device_code(&self) -> bool {
        self.fns.last().is_some_and(|f| f.func.kind != FunctionKind::Host)
    }

    /// A function that makes objects of its arguments first, or one of the host that is called in code of the device: the
    /// library may have one of that name that fits as it is.
    fn is_out_of_reach(&self, chosen: &super::overload::Chosen<'a>) -> bool {
        let attrs = &chosen.f.decl.attrs;
        chosen.converts()
            || self.in_device_code() && !attrs.device && !attrs.global && !attrs.is_constexpr
    }

    /// The user's functions of that name do not fit: the library may have one that does, as `make_float4` of four numbers
    /// beside a `make_float4` of one. `None` when it has none either.
    fn library_overload(
        &mut self,
        name: &str,
        targs: Option<&[TArg]>,
        operands: Vec<Operand<'a>>,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        let mut values = vec![];
        for (i, operand) in operands.into_iter().enumerate() {
            let at = args.get(i).map_or(span, |a| a.span);
            values.push(self.rvalue_of(operand, at).ok()?);
        }
        let list: Vec<_> = targs.unwrap_or_default().iter().flat_map(TArg::to_builtin).collect();
        let name = name.rsplit("::").next().unwrap_or(name);
        match builtins::call(name, &list, values, span, self)? {
            Ok(Some(e)) => Some(Ok(Operand::Value(e))),
            Ok(None) => Some(Ok(Operand::Void)),
            Err(_) => None,
        }
    }

    /// What is called; a name that does not exist is left to the library.
    fn callee(&mut self, callee: &'a ast::Expr) -> Res<Operand<'a>> {
        match &*callee.kind {
            ast::ExprKind::Paren(inner) => self.callee(inner),
            _ => self.expr(callee),
        }
    }

    /// A functor or a lambda.
    fn call_object(
        &mut self,
        object: Operand<'a>,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        if !self.is_function_pointer(&object) && self.group_operator(&object).is_none() {
            self.class_of_callee(&object, span)?;
        }
        let list = self.arguments(args)?;
        self.call_object_with(object, list, span)
    }

    fn class_of_callee(&mut self, object: &Operand<'a>, span: Span) -> Res<StructId> {
        let q = self.operand_type(object);
        if let Some(class) = q.as_ref().and_then(|q| self.is_class(&q.ty)) {
            return Ok(class);
        }
        let text = q.map_or("this".into(), |q| format!("`{}`", self.type_text(&q.ty)));
        fail("W081", span, format!("{text} cannot be called"))
    }

    /// The same with arguments that have been evaluated.
    pub(crate) fn call_object_with(
        &mut self,
        object: Operand<'a>,
        list: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        if self.is_function_pointer(&object) {
            let pointer = self.rvalue_of(object, span)?;
            return self.call_pointer(pointer, list, span);
        }
        if let Some(operator) = self.group_operator(&object) {
            return self.combined_by(&operator, list, span);
        }
        let class = self.class_of_callee(&object, span)?;
        let q = self.operand_type(&object);
        if let Some(lambda) = self.class(class).lambda {
            return self.call_lambda(object, class, lambda, list, span);
        }
        if let Some(f) = self.class(class).function.clone() {
            return self.call_function_value(&f, list, span);
        }
        let scope = self.class(class).scope;
        let fns = super::expr::functions(&self.lookup_in(scope, "operator()"));
        if fns.is_empty() {
            if let Some(result) = self.call_base_lambda(&object, class, &list, span) {
                return result;
            }
            let name = self.class(class).name.clone();
            let d = error("W081", span, format!("`{name}` cannot be called"));
            return Err(d.help("give it an `operator()`").into());
        }
        let is_const = q.is_some_and(|q| q.is_const);
        let chosen =
            self.resolve_overload("operator()", &fns, None, Some((class, is_const)), &list, span)?;
        self.call_chosen(chosen, Some(object), list, span)
    }

    /// Arguments in order, packs expanded.
    pub(crate) fn arguments(&mut self, args: &'a [ast::Expr]) -> Res<Vec<Operand<'a>>> {
        let mut list = vec![];
        for arg in args {
            match &*arg.kind {
                ast::ExprKind::PackExpansion(pattern) => {
                    list.extend(self.expand_operands(pattern, arg.span)?);
                }
                _ => {
                    let operand = self.expr(arg)?;
                    let operand = self.as_value(operand);
                    if let Operand::Void = operand {
                        return fail("W061", arg.span, "this call gives no value (`void`)");
                    }
                    list.push(match operand {
                        Operand::Bits { .. } => Operand::Value(self.rvalue_of(operand, arg.span)?),
                        other => other,
                    });
                }
            }
        }
        Ok(list)
    }

    /// `printf`, `assert` and annotations: they need the text of their arguments.
    fn statement_call(
        &mut self,
        names: &[String],
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        let name = names.first()?.strip_prefix("std::").unwrap_or(names.first()?);
        if let Some(result) = self.program_call(name, args, span) {
            return Some(result);
        }
        if let Some(result) = self.heap_call(name, args, span) {
            return Some(result);
        }
        if let Some(result) = self.annotation(name, args, span) {
            return Some(result);
        }
        Some(match name {
            "printf" => self.printf(args, span),
            "fprintf" | "exit" | "abort"
                if self.f().func.kind == warpsmith_ir::FunctionKind::Host =>
            {
                self.program_end(name, span)
            }
            "move" | "forward" if names.first().is_some_and(|n| n.starts_with("std::")) => {
                match args {
                    [only] => self.expr(only),
                    _ => fail("W063", span, format!("`{name}` takes one argument")),
                }
            }
            "swap" if !args.is_empty() => self.swap(args, span),
            _ if name.starts_with("cuda") => return self.runtime_call(name, args, span),
            _ => return None,
        })
    }

    fn swap(&mut self, args: &'a [ast::Expr], span: Span) -> Res<Operand<'a>> {
        let [a, b] = args else { return fail("W063", span, "`swap` takes two variables") };
        let (pa, ca) = self.lvalue(a)?;
        let pa = self.hold_place(pa, span);
        let (pb, cb) = self.lvalue(b)?;
        let pb = self.hold_place(pb, span);
        if ca || cb {
            return fail("W080", span, "a constant cannot be swapped");
        }
        if pa.ty != pb.ty {
            return fail("W062", span, "`swap` takes two variables of one type");
        }
        let held = self.hold_value(Expr::read(pa.clone()), span);
        self.emit(StmtKind::Assign { place: pa, value: Expr::read(pb.clone()) }, span);
        self.emit(StmtKind::Assign { place: pb, value: held }, span);
        Ok(Operand::Void)
    }

    fn foreign_args(&mut self, args: &'a [ast::Expr]) -> Res<Vec<Expr>> {
        let list = self.arguments(args)?;
        let spans = args.iter().map(|a| a.span).chain(std::iter::repeat(
            args.last()
                .map_or(Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 }, |a| a.span),
        ));
        list.into_iter().zip(spans).map(|(o, span)| self.rvalue_of(o, span)).collect()
    }

    fn foreign_call(
        &mut self,
        names: &[String],
        targs: Vec<TArg>,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Res<Operand<'a>> {
        let operands = self.arguments(args)?;
        let near = names.first().map(|n| self.functions_near(n, &operands)).unwrap_or_default();
        if let (Some(name), false) = (names.first(), near.is_empty()) {
            let explicit = (!targs.is_empty()).then_some(targs.as_slice());
            let chosen = self.resolve_overload(name, &near, explicit, None, &operands, span)?;
            return self.call_chosen(chosen, None, operands, span);
        }
        let of_c = self.functions_of_c(names);
        let kept = if of_c.is_empty() { vec![] } else { operands.clone() };
        let values = operands
            .into_iter()
            .enumerate()
            .map(|(i, o)| self.rvalue_of(o, args.get(i).map_or(span, |a| a.span)))
            .collect::<Res<Vec<Expr>>>()?;
        let list: Vec<_> = targs.iter().flat_map(TArg::to_builtin).collect();
        for name in names {
            let result = builtins::call(name, &list, values.clone(), span, self);
            if result.is_some() {
                return self.foreign_result(result, names, span);
            }
        }
        if let (Some(name), false) = (names.first(), of_c.is_empty()) {
            let chosen = self.resolve_overload(name, &of_c, None, None, &kept, span)?;
            return self.call_chosen(chosen, None, kept, span);
        }
        self.foreign_result(None, names, span)
    }

    /// Functions of the namespaces that the arguments' classes are declared in.
    fn functions_near(&mut self, name: &str, operands: &[Operand<'a>]) -> Vec<FnDecl<'a>> {
        let mut all: Vec<FnDecl<'a>> = vec![];
        for operand in operands {
            let ty = self.operand_type(operand).map(|t| t.ty);
            let named = ty.as_ref().map(|t| t.pointee().unwrap_or(t));
            let Some(class) = named.and_then(|t| self.is_class(t)) else { continue };
            let scope = self.class(class).scope;
            for f in self.lookup_all_functions(scope, name) {
                if !all.iter().any(|k| k.key() == f.key()) {
                    all.push(f);
                }
            }
        }
        all
    }

    /// The functions of C that `std::` has as well: they stand outside of it in what stands in for them.
    fn functions_of_c(&mut self, names: &[String]) -> Vec<FnDecl<'a>> {
        let Some(name) = names.iter().find_map(|n| n.strip_prefix("std::")) else { return vec![] };
        let mut found = self.lookup_all_functions(self.root, name);
        found.retain(|f| self.is_of_library(f.decl.head_span) && f.class.is_none());
        found
    }

    fn foreign_result(
        &mut self,
        result: BuiltinResult,
        names: &[String],
        span: Span,
    ) -> Res<Operand<'a>> {
        match result {
            Some(Ok(Some(e))) => Ok(Operand::Value(e)),
            Some(Ok(None)) => Ok(Operand::Void),
            Some(Err(d)) => Err(d.into()),
            None => {
                let name = names.first().cloned().unwrap_or_default();
                Err(self.undeclared(self.f_scope(), &name, span))
            }
        }
    }
}

/// `Base::f()`, `p->Base::f()`: that function, whatever the object's class is.
fn names_its_class(callee: &ast::Expr) -> bool {
    match &*callee.kind {
        ast::ExprKind::Paren(inner) => names_its_class(inner),
        ast::ExprKind::Path(path) => path.segments.len() > 1,
        ast::ExprKind::Member { class, .. } => class.is_some(),
        _ => false,
    }
}

fn is_dim3(callee: &ast::Expr) -> bool {
    matches!(&*callee.kind, ast::ExprKind::Path(p) if p.segments.last().is_some_and(|s| s.name == "dim3"))
}
