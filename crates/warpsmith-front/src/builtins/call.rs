//! One call of a predefined function, with what its lowering asks again and again.

use warpsmith_ir::{
    BinaryOp, Diagnostic, Expr, ExprKind, MathFn, Place, Scalar, Span, StmtKind, Type, UnaryOp,
};

use crate::sema::builtin_api::{BuiltinContext, BuiltinTemplateArg};
use crate::sema::refused::Refusal;

/// `Ok(None)` is a call without a value.
pub type Lowered = Result<Option<Expr>, Diagnostic>;

/// A call under way.
pub struct Call<'c> {
    /// The name as the source means it, for messages.
    pub path: &'c str,
    /// The name without `std::` and `cuda::std::`.
    pub name: &'c str,
    /// The source said `std::` or `cuda::std::`.
    pub is_std: bool,
    pub template_args: &'c [BuiltinTemplateArg],
    pub args: Vec<Expr>,
    pub span: Span,
    pub cx: &'c mut dyn BuiltinContext,
}

impl Call<'_> {
    pub fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).label(self.span, "this call")
    }

    /// What is said of this call, whose part `written` is refused.
    pub fn refused(&self, refusal: Refusal, written: &str) -> Diagnostic {
        refusal.of(written, self.span, "this call")
    }

    /// W101 unless the call has this many arguments.
    pub fn arity(&self, wanted: usize) -> Result<(), Diagnostic> {
        self.arity_between(wanted, wanted)
    }

    pub fn arity_between(&self, least: usize, most: usize) -> Result<(), Diagnostic> {
        let given = self.args.len();
        if (least..=most).contains(&given) {
            return Ok(());
        }
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let s = if wanted == "1" { "" } else { "s" };
        Err(self.error("W101", format!("`{}` takes {wanted} argument{s}, not {given}", self.path)))
    }

    /// Argument `i`, converted; callers have checked the count.
    pub fn arg(&mut self, i: usize, ty: &Type) -> Result<Expr, Diagnostic> {
        match self.args.get(i) {
            Some(e) => self.cx.convert(e.clone(), ty, self.span),
            None => Err(self.error("W101", format!("`{}` has too few arguments", self.path))),
        }
    }

    pub fn scalar_arg(&mut self, i: usize, to: Scalar) -> Result<Expr, Diagnostic> {
        self.arg(i, &Type::Scalar(to))
    }

    /// All arguments, converted to one type.
    pub fn all(&mut self, to: Scalar) -> Result<Vec<Expr>, Diagnostic> {
        (0..self.args.len()).map(|i| self.scalar_arg(i, to)).collect()
    }

    /// The number type of argument `i`; W102 when it is no number.
    pub fn scalar_of(&self, i: usize) -> Result<Scalar, Diagnostic> {
        match self.args.get(i).and_then(|e| e.ty.scalar()) {
            Some(s) => Ok(s),
            None => Err(self.wrong_type(i, "a number")),
        }
    }

    pub fn wrong_type(&self, i: usize, wanted: &str) -> Diagnostic {
        let mut d =
            self.error("W102", format!("argument {} of `{}` must be {wanted}", i + 1, self.path));
        if let Some(span) = self.args.get(i).and_then(|e| e.origin.span) {
            d = d.label(span, format!("not {wanted}"));
        }
        d
    }

    /// What argument `i` points to; W102 when it is no pointer.
    pub fn pointee(&self, i: usize) -> Result<Type, Diagnostic> {
        match self.args.get(i).and_then(|e| e.ty.pointee()) {
            Some(t) => Ok(t.clone()),
            None => Err(self.wrong_type(i, "a pointer")),
        }
    }

    /// The value of argument `i`, known at compile time; W103 otherwise.
    pub fn constant(&self, i: usize) -> Result<i64, Diagnostic> {
        match self.args.get(i).and_then(|e| self.cx.fold(e)) {
            Some(v) => Ok(v.as_i64()),
            None => {
                let message = format!("argument {} of `{}` must be a constant", i + 1, self.path);
                Err(self.error("W103", message))
            }
        }
    }

    pub fn emit(&mut self, kind: StmtKind) {
        self.cx.emit(kind, self.span);
    }

    /// Keeps argument `i` as it is now, because it is used more than once.
    pub fn held(&mut self, e: Expr) -> Expr {
        self.cx.hold(e, self.span)
    }

    /// Emits a statement that sets a fresh variable, and gives the variable's value.
    pub fn result(&mut self, ty: Type, kind: impl FnOnce(warpsmith_ir::VarId) -> StmtKind) -> Expr {
        let var = self.cx.temp(ty.clone(), self.span);
        self.emit(kind(var));
        Expr::var(var, ty).with_origin(self.span)
    }

    pub fn math(&self, f: MathFn, args: Vec<Expr>, ty: Type) -> Expr {
        Expr::new(ExprKind::Call(f, args), ty, self.span)
    }

    /// A function whose result has its operands' type.
    pub fn same(&self, f: MathFn, args: Vec<Expr>) -> Expr {
        let ty = args.first().map_or(Type::F32, |a| a.ty.clone());
        self.math(f, args, ty)
    }

    pub fn binary(&self, op: BinaryOp, a: Expr, b: Expr) -> Expr {
        Expr::binary(op, a, b).with_origin(self.span)
    }

    pub fn select(&self, cond: Expr, a: Expr, b: Expr) -> Expr {
        let ty = a.ty.clone();
        Expr::new(ExprKind::Select(cond, a, b), ty, self.span)
    }

    pub fn not(&self, e: Expr) -> Expr {
        Expr::new(ExprKind::Unary(UnaryOp::Not, e), Type::BOOL, self.span)
    }

    pub fn negate(&self, e: Expr) -> Expr {
        let ty = e.ty.clone();
        Expr::new(ExprKind::Unary(UnaryOp::Neg, e), ty, self.span)
    }

    pub fn bitcast(&self, e: Expr, ty: Type) -> Expr {
        Expr::new(ExprKind::Bitcast(e), ty, self.span)
    }

    pub fn member(&self, e: Expr, i: u32, ty: Type) -> Expr {
        Expr::new(ExprKind::Member(e, i), ty, self.span)
    }

    pub fn make(&self, parts: Vec<Expr>, ty: Type) -> Expr {
        Expr::new(ExprKind::Make(parts), ty, self.span)
    }

    /// `*argument = value`.
    pub fn store_through(&mut self, i: usize, value: Expr) -> Result<(), Diagnostic> {
        let ty = self.pointee(i)?;
        let value = self.cx.convert(value, &ty, self.span)?;
        let place: Place = self.cx.place_behind(self.args[i].clone());
        self.emit(StmtKind::Assign { place, value });
        Ok(())
    }

    /// A value of an unsigned constant.
    pub fn u32(&self, v: u32) -> Expr {
        Expr::int(Scalar::U32, v.into()).with_origin(self.span)
    }
}
