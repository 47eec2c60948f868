//! Calls: functions of the C library, and functions of the same file.

use warpsmith_ir::{
    Diagnostic, Expr, ExprKind, MathFn, Place, Scalar, Span, StmtKind, Type, VarId,
};

use super::cx::{Cx, Low};
use crate::ast;
use crate::builtins::c_math::{self, CMath, Shape};

impl<'u> Cx<'u> {
    /// Lowers a call; `None` when the function gives no value.
    pub fn call(
        &mut self,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
    ) -> Low<Option<Expr>> {
        let name = self.callee_name(callee)?;
        if let Some(value) = super::formula::value(self, &name, args, span)? {
            return Ok(Some(value));
        }
        if self.unit.function(&name).is_some() {
            return self.user_call(&name, args, None, span);
        }
        let plain = name.strip_prefix("__builtin_").unwrap_or(&name).to_string();
        if let Some(math) = c_math::lookup(&plain) {
            return self.math_call(&plain, math, args, span).map(Some);
        }
        if let Some(value) = self.complex_call(&name, args, span)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.bit_call(&plain, args, span)? {
            return Ok(Some(value));
        }
        if let Some(updated) = self.atomic_builtin(&name, args, span) {
            return updated.map(|()| None);
        }
        match (plain.as_str(), args) {
            ("expect", [value, _]) => self.value(value),
            ("assert", [cond]) => {
                let cond = self.condition(cond)?;
                self.push(StmtKind::Assert { cond, text: name }, span);
                Ok(None)
            }
            ("omp_get_wtime" | "omp_get_wtick", []) => Ok(Some(self.time(span))),
            ("omp_set_num_threads" | "omp_set_dynamic" | "omp_set_nested", [value]) => {
                // How many threads a processor would have: of no meaning here.
                self.scalar(value).map(|_| None)
            }
            ("omp_get_thread_num" | "omp_get_num_threads" | "omp_get_team_num", []) => {
                Err(self.thread_number(&name, span))
            }
            _ => {
                // `free(p)` of a pointer whose declaration was refused adds nothing to that message.
                for arg in args {
                    if let ast::ExprKind::Path(_) = &*arg.kind {
                        self.designated(arg)?;
                    }
                }
                Err(self.unknown_call(&name, callee.span))
            }
        }
    }

    fn thread_number(&mut self, name: &str, span: Span) -> super::cx::Reported {
        let message = format!("`{name}` divides the work by hand");
        let d = Diagnostic::error("W163", message).label(span, "the threads of a processor");
        self.fail(d.help(
            "mark the loop over all elements with `#pragma omp parallel for`, and let the clauses `reduction` or `private` \
             take the place of one result for each thread",
        ))
    }

    fn callee_name(&mut self, callee: &ast::Expr) -> Low<String> {
        match &*callee.kind {
            ast::ExprKind::Paren(inner) => self.callee_name(inner),
            ast::ExprKind::Path(path) if path.as_name().is_some() => {
                Ok(path.as_name().unwrap_or_default().to_string())
            }
            _ => Err(self.error(
                "W147",
                "only functions can be called by name",
                callee.span,
                "not a function's name",
            )),
        }
    }

    fn unknown_call(&mut self, name: &str, span: Span) -> super::cx::Reported {
        let d = Diagnostic::error("W147", format!("`{name}` cannot be called here"))
            .label(span, "no such function");
        let hint = match name {
            n if c_math::is_long_double(n) => "`long double` has no counterpart on a GPU; use the `double` function".into(),
            "malloc" | "calloc" | "realloc" | "free" => "pass the array as a parameter".into(),
            "memset" | "memcpy" | "memmove" => "write it as a loop over the elements".into(),
            "printf" | "fprintf" | "puts" | "putchar" => "take the output out of the function to be translated".into(),
            "rand" | "srand" | "random" | "drand48" => {
                "a hidden state makes iterations depend on each other; pass random numbers in an array".into()
            }
            n if n.starts_with("omp_") => "the result must not depend on the number of threads".into(),
            n => {
                let mut known: Vec<&str> = self.unit.functions.iter().map(|f| f.0).collect();
                known.extend(c_math::names().map(|n| -> &str { n }));
                match crate::spelling::nearest(n, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "define the function in this file, or use one of the C math functions".to_string(),
                }
            }
        };
        self.fail(d.help(hint))
    }

    fn math_call(&mut self, name: &str, math: CMath, args: &[ast::Expr], span: Span) -> Low<Expr> {
        if args.len() != math.arity() {
            return Err(self.wrong_count(name, math.arity(), args.len(), span));
        }
        let mut values = vec![];
        for (i, arg) in args.iter().enumerate() {
            let value = self.scalar(arg)?;
            let own = value.ty.scalar().unwrap_or(Scalar::F64);
            let to = match (math.shape, math.ty) {
                (Shape::IntSecond, _) if i == 1 => Scalar::I32,
                (_, Some(ty)) => ty,
                (_, None) if own.is_float() => own,
                (_, None) => Scalar::F64,
            };
            values.push(self.convert(value, to));
        }
        let operand = values.first().map_or(Type::F64, |v| v.ty.clone());
        Ok(match math.shape {
            Shape::Plain | Shape::IntSecond => math_expr(math.function, values, operand, span),
            Shape::Predicate => math_expr(math.function, values, Type::BOOL, span),
            Shape::ToInteger(to) => {
                math_expr(math.function, values, operand, span).cast(Type::Scalar(to))
            }
        })
    }

    pub fn wrong_count(
        &mut self,
        name: &str,
        wanted: usize,
        given: usize,
        span: Span,
    ) -> super::cx::Reported {
        let s = if wanted == 1 { "" } else { "s" };
        let message = format!("`{name}` takes {wanted} argument{s}, not {given}");
        self.error("W147", message, span, "this call")
    }

    /// `place = f(…)` without a temporary, when `value` is a call of a function of this file that gives the place's type.
    pub fn call_into(&mut self, place: &Place, value: &ast::Expr) -> Low<Option<Place>> {
        let ast::ExprKind::Call { callee, args } = &*value.kind else { return Ok(None) };
        let ast::ExprKind::Path(path) = &*callee.kind else { return Ok(None) };
        let Some(name) = path.as_name() else { return Ok(None) };
        let same =
            self.lowered.get(name).is_some_and(|id| self.module.function(*id).ret == place.ty);
        if !same {
            return Ok(None);
        }
        self.user_call(name, args, Some(place.clone()), value.span)?;
        Ok(Some(place.clone()))
    }

    fn user_call(
        &mut self,
        name: &str,
        args: &[ast::Expr],
        into: Option<Place>,
        span: Span,
    ) -> Low<Option<Expr>> {
        if super::inline::is_needed(self.unit, name) {
            super::inline::call(self, name, args, span)?;
            return Ok(None);
        }
        // Absent: the callee's own errors have been reported.
        let Some(&id) = self.lowered.get(name) else { return Err(super::cx::Reported) };
        let (params, ret) = {
            let f = self.module.function(id);
            let params: Vec<(Type, String)> =
                f.params.iter().map(|p| (f.var(*p).ty.clone(), f.var(*p).name.clone())).collect();
            (params, f.ret.clone())
        };
        let outside = super::globals::parameters(self.unit, name);
        let own = params.len() - outside.len();
        if args.len() != own {
            return Err(self.wrong_count(name, own, args.len(), span));
        }
        let mut values = vec![];
        for (arg, (ty, param)) in args.iter().zip(&params) {
            values.push(self.argument(arg, ty, param)?);
        }
        for (global, (ty, _)) in outside.into_iter().zip(&params[own..]) {
            let Some(id) = self.outside.get(global) else {
                return Err(super::globals::bind(self, global)
                    .err()
                    .unwrap_or(super::cx::Reported));
            };
            values.push(Expr::var(*id, ty.clone()));
        }
        let result = match (into, &ret) {
            (_, Type::Void) => None,
            (Some(place), _) => Some(place),
            (None, ty) => {
                let read = self.temp(&format!("{name}_value"), ty.clone(), None, span);
                match *read.kind {
                    ExprKind::Read(place) => Some(place),
                    _ => None,
                }
            }
        };
        let value = result.clone().map(Expr::read);
        self.push(StmtKind::Call { function: id, args: values, result }, span);
        Ok(value)
    }

    fn argument(&mut self, arg: &ast::Expr, ty: &Type, param: &str) -> Low<Expr> {
        if ty.is_pointer() {
            return self.pointer_argument(arg, ty, param);
        }
        self.value_as(arg, ty)
    }

    fn pointer_argument(&mut self, arg: &ast::Expr, ty: &Type, param: &str) -> Low<Expr> {
        let wanted = ty.pointee();
        let Type::Pointer { readonly, .. } = ty else { return Err(self.unknown_base(arg.span)) };
        match self.decayed(arg)? {
            Some(p) if Some(&p.element) == wanted => {
                if !readonly {
                    self.check_replicated_argument(arg.span)?;
                }
                if p.readonly && !readonly {
                    let d = Diagnostic::error(
                        "W147",
                        format!("a `const` array is passed to `{param}`, which is not"),
                    )
                    .label(arg.span, "this argument");
                    return Err(self.fail(
                        d.help("declare the parameter `const` if the function only reads it"),
                    ));
                }
                let value = p.into_expr(arg.span);
                Ok(value.cast(ty.clone()))
            }
            Some(p) => {
                let (have, want) =
                    (self.c_name(&p.element), wanted.map_or("?".into(), |w| self.c_name(w)));
                let message = format!("`{param}` points to `{want}`, not `{have}`");
                Err(self.error("W147", message, arg.span, "this argument"))
            }
            None => {
                let message = format!("`{param}` is an array, and this is not");
                Err(self.error("W147", message, arg.span, "this argument"))
            }
        }
    }

    fn check_replicated_argument(&mut self, span: Span) -> Low<()> {
        let Some(region) = self.replicated().map(|r| r.span) else { return Ok(()) };
        let d = Diagnostic::error(
            "W152",
            "every thread of the parallel region would make this call, which may write",
        )
        .label(span, "may be written by all threads")
        .label(region, "the region begins here");
        Err(self.fail(
            d.help("put it under `#pragma omp single`, or inside a loop marked `#pragma omp for`"),
        ))
    }

    /// Is the variable one of the parameters?
    pub fn is_param(&self, id: VarId) -> bool {
        self.function.params.contains(&id)
    }
}

fn math_expr(function: MathFn, args: Vec<Expr>, ty: Type, span: Span) -> Expr {
    Expr::new(ExprKind::Call(function, args), ty, span)
}
