//! What the lowerer and the built-in functions of CUDA say to each other.
//!
//! `crate::builtins` answers four questions by name: `call` for functions,
//! `method` for methods of library objects,
//! `type_named` for library types and
//! `constant` for predefined values. The user's own declarations of the
//! same name take precedence, so a builtin is asked only when lookup in the source found nothing.
//!
//! Names arrive as canonical paths without a leading `::`, with namespace aliases resolved:
//! `atomicAdd`, `std::min`, `cooperative_groups::this_thread_block`. A plain name that nobody knows
//! is also asked for as `N::name` for every `using namespace N` in force.
//!
//! Arguments arrive as values in the order written, arrays decayed to pointers to their first
//! element, without any other conversion. They are pure expressions that may read variables and memory: a
//! builtin that emits a statement that changes memory and then uses an argument again holds it first
//! ([`BuiltinContext::hold`]).

use warpsmith_ir::{
    Diagnostic, Expr, FunctionKind, Module, Place, Span, StmtKind, Type, Value, VarId,
};

/// An explicit template argument of a builtin: `tiled_partition<32>`, `reinterpret<float>`.
#[derive(Clone, Debug, PartialEq)]
pub enum BuiltinTemplateArg {
    /// A type.
    Type(Type),
    /// A constant.
    Value(Value),
}

/// A library type whose methods are builtins: `cooperative_groups::thread_block_tile<32>`.
///
/// In the IR it is a struct with the given fields, so that objects are held in variables, copied and passed
/// like any value; [`BuiltinContext::object_type`] gives the struct's type.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltinType {
    /// Canonical path, for example `cooperative_groups::thread_block`.
    pub name: String,
    /// Arguments of the template.
    pub args: Vec<BuiltinTemplateArg>,
    /// What an object carries at run time, for example the mask of a coalesced group; often nothing.
    pub fields: Vec<(String, Type)>,
}

/// What a library name means as a type.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedType {
    /// A plain type of the IR.
    Plain(Type),
    /// An object with builtin methods.
    Object(BuiltinType),
}

/// `None`: not a builtin of that name. Inside, `Ok(None)` is a call without a value (`void`).
pub type BuiltinResult = Option<Result<Option<Expr>, Diagnostic>>;

/// What a builtin may ask of the function under construction.
pub trait BuiltinContext {
    /// Appends a statement at the current point.
    fn emit(&mut self, kind: StmtKind, span: Span);

    /// Declares a fresh local variable without a value at the current point.
    fn temp(&mut self, ty: Type, span: Span) -> VarId;

    /// Evaluates an expression now, so that later statements do not change its value. Constants and
    /// small values that nothing can change come back as they are.
    fn hold(&mut self, value: Expr, span: Span) -> Expr;

    /// A number for a loop of the function under construction.
    fn fresh_loop(&mut self) -> warpsmith_ir::LoopId;

    /// The value of an expression that is constant at compile time.
    fn fold(&self, expr: &Expr) -> Option<Value>;

    /// Converts as C++ would implicitly; an error that names both types when there is no conversion.
    fn convert(&mut self, expr: Expr, ty: &Type, span: Span) -> Result<Expr, Diagnostic>;

    /// `*pointer` as a place that can be read or assigned. A pointer made by `&place` gives the place back.
    fn place_behind(&mut self, pointer: Expr) -> Place;

    /// Structs, globals and the functions that are complete.
    fn module(&mut self) -> &mut Module;

    /// The type of a variable of the function under construction.
    fn type_of_var(&self, var: VarId) -> Type;

    /// Whether the variable is a parameter of the kernel under construction.
    fn is_kernel_parameter(&self, var: VarId) -> bool;

    /// Whether the function under construction is a kernel, a device or a host function.
    fn function_kind(&self) -> FunctionKind;

    /// The IR struct that stands for a library type; the same one for equal types.
    fn object_type(&mut self, ty: &BuiltinType) -> Type;

    /// Calls an object of the user's with values: a lambda, a function, an object with `operator()`. `None` when it
    /// cannot be called.
    fn call_functor(
        &mut self,
        functor: Expr,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Result<Expr, Diagnostic>>;

    /// Calls a function of those that stand in for libraries; `None` where they are not declared.
    fn call_library(
        &mut self,
        name: &str,
        args: Vec<Expr>,
        span: Span,
    ) -> Option<Result<Option<Expr>, Diagnostic>>;

    /// The library type that an IR struct stands for.
    fn object_of(&self, ty: &Type) -> Option<BuiltinType>;
}

/// Stands for an error that the user has been told of; it is dropped where it arrives.
pub(crate) fn reported(span: Span) -> Diagnostic {
    Diagnostic::error(REPORTED, "the argument has errors").label(span, "")
}

/// The code of [`reported`].
pub(crate) const REPORTED: &str = "W000";
