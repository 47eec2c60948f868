//! Computes all real numbers in one type.
//!
//! ```text
//!     double a[n]; float s = 0.5f;   s += a[i] * 2.0;
//!       ==> precision float
//!     float a[n]; float s = 0.5f;    s += a[i] * 2.0f;
//! ```
//!
//! As AutoGPU does, the declarations change with everything else: array parameters and by-value parameters of the
//! launcher have the new type, and so has a returned real. Literals are rounded to it, and conversions between types
//! that are now one disappear. Functions of the math library that `half` has not are computed in `float` and rounded.
//!
//! The function in its new types is what the kernel must agree with, to the last bit where no sum is reassociated; what
//! it computes must in turn agree with the function as it was written, within the rounding errors of the less precise
//! type.
//!
//! Legal before anything is bound, for functions that compute with reals, use no bits of them, and have no literal that
//! the new type turns into an infinity.

use std::fmt;
use warpsmith_ir::{
    Expr, ExprKind, Function, LoopKind, Module, Origin, Place, Scalar, SourceMap, Type, Value,
    visit,
};

use super::Rewritten;
use super::step::grammar::wanted;
use super::step::{About, Law, Rewrite, StepError};
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::combinator::alt;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// `double`, `float` or `half`.
    pub to: Scalar,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name(self.to))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "precision",
        example: "precision float",
        does: "computes all reals in `float`, `double` or `half`: variables, literals, and the arrays and numbers that the launcher takes",
        legal: "nothing is bound yet, no bits of a real are used, and no literal becomes infinite; the result is compared with that of the function as written, within the rounding errors of the less precise type",
        law: Law {
            before: "\
void scale(int n, double x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0 * x[i];
}
",
            steps: "precision float",
            after: "\
void scale(int n, float *x) {
    // parallel
    for (int i = 0; i < n; ++i) {
        x[i] = 2.0f * x[i];
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let all = [Scalar::F64, Scalar::F32, Scalar::F16];
        let to = alt(all.map(|s| name(s).value(s)))
            .context(wanted(
                "`double`, `float` or `half` is wanted here; a device has no `long double`",
            ))
            .parse_next(input)?;
        Ok(Args { to })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, self.to)?))
    }
}

/// The verdict on a `precision`, which alone allows it.
pub struct LegalPrecision<'k> {
    kernel: &'k Kernel,
    to: Scalar,
}

/// Asks whether all reals can be computed in a type.
///
/// # Errors
/// [`Refusal::CannotConvert`] with the first reason why not.
pub fn check(kernel: &Kernel, to: Scalar) -> Result<LegalPrecision<'_>, Refusal> {
    let refuse = |why: String, at: Option<Origin>| {
        Err(Refusal::CannotConvert { to: name(to), why, at: Box::new(at) })
    };
    let loops = walk::for_loops(&kernel.func().body);
    let bound = loops.iter().any(|l| matches!(l.kind, LoopKind::Bound(_)));
    if bound || !kernel.nests.is_empty() || !kernel.scratch.is_empty() {
        return refuse("loops are bound already: take this step first".into(), None);
    }
    if let Some(known) = kernel.precision {
        return refuse(format!("an earlier step chose `{}`", name(known)), None);
    }
    let functions = || kernel.module.functions.iter();
    let types = functions().flat_map(|f| f.vars.iter().map(|v| &v.ty).chain([&f.ret]));
    if types.clone().any(|t| matches!(innermost(t), Type::Vector(..) | Type::Struct(_))) {
        return refuse("the function uses vectors or structures".into(), None);
    }
    if !types.into_iter().any(|t| innermost(t).is_float()) {
        return refuse("the function computes no reals".into(), None);
    }
    let mut bad = None;
    for f in functions() {
        visit::for_each_expr(&f.body, &mut |e| {
            if let Some(why) = forbids(e, to) {
                bad = bad.take().or(Some((why, e.origin.clone())));
            }
        });
    }
    match bad {
        Some((why, at)) => refuse(why, Some(at)),
        None => Ok(LegalPrecision { kernel, to }),
    }
}

/// C's name of a type of reals.
pub fn name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "double",
        Scalar::F16 => "half",
        _ => "float",
    }
}

fn forbids(e: &Expr, to: Scalar) -> Option<String> {
    match &*e.kind {
        ExprKind::Bitcast(inner) if inner.ty.is_float() || e.ty.is_float() => {
            Some("the bits of a real are used".into())
        }
        ExprKind::Const(v) if v.ty.is_float() => {
            let x = v.as_f64();
            let becomes = Value::float(to, x).as_f64();
            let lost = x.is_finite() && !becomes.is_finite();
            lost.then(|| format!("the number {x:e} is too large for it"))
        }
        _ => None,
    }
}

fn innermost(ty: &Type) -> &Type {
    match ty {
        Type::Pointer { pointee, .. } => innermost(pointee),
        Type::Array(element, _) => innermost(element),
        other => other,
    }
}

/// Changes the types.
pub fn apply(legal: LegalPrecision<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    kernel.module = retyped(&kernel.module, legal.to);
    kernel.precision = Some(legal.to);
    Rewritten::same_loops(kernel)
}

/// The module with all reals of one type: what a kernel after this step must agree with.
pub fn retyped(module: &Module, to: Scalar) -> Module {
    let mut module = module.clone();
    let mut retype = Retype { to };
    for function in &mut module.functions {
        retype.function(function);
    }
    for global in &mut module.globals {
        global.ty = retype.ty(&global.ty);
    }
    module
}

struct Retype {
    to: Scalar,
}

impl Retype {
    fn function(&mut self, function: &mut Function) {
        function.ret = self.ty(&function.ret);
        for var in &mut function.vars {
            var.ty = self.ty(&var.ty);
        }
        let mut body = std::mem::take(&mut function.body);
        visit::Rewriter::block(self, &mut body);
        function.body = body;
    }

    fn ty(&self, ty: &Type) -> Type {
        match ty {
            Type::Scalar(s) if s.is_float() => Type::Scalar(self.to),
            Type::Pointer { pointee, space, volatile, readonly } => Type::Pointer {
                pointee: self.ty(pointee).into(),
                space: *space,
                volatile: *volatile,
                readonly: *readonly,
            },
            Type::Array(element, n) => Type::Array(self.ty(element).into(), *n),
            other => other.clone(),
        }
    }

    /// Functions that take `half` only after a conversion.
    fn call(&self, e: &mut Expr) {
        let ExprKind::Call(_, args) = &mut *e.kind else { return };
        if self.to != Scalar::F16 || !args.iter().any(|a| a.ty == Type::Scalar(Scalar::F16)) {
            return;
        }
        for a in args.iter_mut().filter(|a| a.ty == Type::Scalar(Scalar::F16)) {
            *a = a.clone().cast(Type::F32);
        }
        if e.ty == Type::Scalar(Scalar::F16) {
            e.ty = Type::F32;
            *e = e.clone().cast(Type::Scalar(Scalar::F16));
        }
    }
}

impl visit::Rewriter for Retype {
    fn expr(&mut self, e: &mut Expr) {
        visit::rewrite_expr(self, e);
        e.ty = self.ty(&e.ty);
        match &mut *e.kind {
            ExprKind::Const(v) if v.ty.is_float() => *v = Value::float(self.to, v.as_f64()),
            ExprKind::Cast(inner) if inner.ty == e.ty => *e = inner.clone(),
            ExprKind::Call(..) => self.call(e),
            _ => {}
        }
    }

    fn place(&mut self, place: &mut Place) {
        visit::rewrite_place(self, place);
        place.ty = self.ty(&place.ty);
    }
}
