//! The typed syntax tree both front ends share: C99 and CUDA C++ as written, names unresolved.
//!
//! Made by `parse`, read by `sema`. It follows the source: nothing is lowered here. Every node has
//! its [`Span`] in the user's file.

#![allow(missing_docs, reason = "parts are named as the grammar of the language names them")]

mod expr;

use warpsmith_ir::Span;

pub use self::expr::{Expr, ExprKind, LambdaDecl, MadeCapture, NewObject};

/// One preprocessed file: what it declares, in order.
#[derive(Clone, Debug, Default)]
pub struct TranslationUnit {
    pub items: Vec<Item>,
    /// `// warpsmith: …`, `// step: …` and other comments the commands read, in order of position.
    pub comments: Vec<Comment>,
    /// Explicit instantiations of functions with their arguments, as `template void f<float, 4>(…);` names them.
    pub instantiations: Vec<Instantiation>,
    /// Macros without parameters that are defined at the end of the file, with their values.
    pub macros: std::collections::HashMap<String, String>,
    /// Headers that were not found, and where they were sought; what they would declare is not here.
    pub missing_headers: Vec<warpsmith_ir::Diagnostic>,
    /// Syntax of host code that was left out.
    pub not_understood: Vec<warpsmith_ir::Diagnostic>,
    /// Sources that stand in for headers of the vendor.
    pub library_files: Vec<warpsmith_ir::FileId>,
}

/// `f<float, 4>` of an explicit instantiation.
#[derive(Clone, Debug, PartialEq)]
pub struct Instantiation {
    pub name: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Comment {
    /// Without `//`, `/*`, `*/` and outer blanks.
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Item {
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ItemKind {
    Function(FunctionDecl),
    /// Global variables, `__constant__` and `__device__` data, `extern __shared__` at file level.
    Vars(VarDecl),
    Struct(StructDecl),
    Enum(EnumDecl),
    /// `typedef` and `using A = B` (with template parameters if any).
    Alias(AliasDecl),
    Namespace {
        name: Option<String>,
        items: Vec<Item>,
    },
    /// What one of several files of a program has for itself, see [`crate::join`].
    File(Vec<Item>),
    /// `using namespace x;` or `using x::y;`; the first of `using ::x::y;` is empty.
    Using {
        path: Vec<String>,
        namespace: bool,
    },
    /// `static_assert(cond, "…")`
    StaticAssert(Expr),
    /// `__axiom(condition)`: what a verifier may take for granted of every launch.
    Axiom(Expr),
    /// A pragma between items: the text after `#pragma`.
    Pragma(String),
    /// Not understood (host code with the standard library, say). An error only if something in use needs it.
    Unsupported {
        what: String,
    },
}

/// A template header; empty `params` is an explicit specialisation `template <>`.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateHeader {
    pub params: Vec<TemplateParam>,
    /// Conditions on the arguments: `requires`, and `C<T>` for a parameter `C T`.
    pub requires: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TemplateParam {
    pub name: Option<String>,
    pub kind: TemplateParamKind,
    /// `typename... Ts`
    pub pack: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TemplateParamKind {
    Type {
        default: Option<TypeName>,
    },
    Value {
        ty: TypeName,
        default: Option<Expr>,
    },
    /// A class template.
    Template {
        default: Option<Path>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum TemplateArg {
    Type(TypeName),
    Value(Expr),
    /// A plain name: type or value is for `sema` to say.
    Name(Path),
    /// `P<T>...`: the pattern for each element of the packs that it names.
    Each(Box<TemplateArg>, Span),
}

#[derive(Clone, Debug)]
pub struct FunctionDecl {
    pub name: FunctionName,
    pub template: Option<TemplateHeader>,
    pub attrs: Attrs,
    /// `None` for constructors, destructors and `auto` without a trailing type.
    pub ret: Option<TypeName>,
    pub params: Vec<Param>,
    pub variadic: bool,
    /// `const` after the parameter list of a method.
    pub is_const: bool,
    /// Constructor initialisers `: a(x), b{y}`.
    pub inits: Vec<(String, Vec<Expr>, Span)>,
    /// `None`: a declaration, `= default` or `= delete`.
    pub body: Option<Block>,
    /// Name and parameters, without the body.
    pub head_span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FunctionName {
    Plain(Path),
    /// `operator+`, `operator[]`, `operator()`: the symbol.
    Operator(String),
    /// `operator float`.
    Conversion(TypeName),
    Constructor,
    Destructor,
}

/// Everything that may stand before a declaration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attrs {
    pub global: bool,
    pub device: bool,
    pub host: bool,
    pub shared: bool,
    pub constant: bool,
    pub managed: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub is_inline: bool,
    pub is_constexpr: bool,
    pub is_volatile: bool,
    /// A friend defined in the class.
    pub is_friend: bool,
    /// `__spec`: what it promises stands for its body.
    pub is_spec: bool,
    /// Declared `virtual`; a function that overrides one need not say so.
    pub is_virtual: bool,
    /// A private or protected member, of a class without friends.
    pub is_hidden: bool,
    /// `mutable`: it may change in a constant object.
    pub is_mutable: bool,
    /// `__align__(n)`, `alignas(n)`, `__attribute__((aligned(n)))`.
    pub align: Option<Box<Expr>>,
    /// Arguments of `__launch_bounds__`.
    pub launch_bounds: Vec<Expr>,
    /// Arguments of `__cluster_dims__`.
    pub cluster_dims: Vec<Expr>,
}

/// What `requires { … }` asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requirements {
    pub params: Vec<Param>,
    /// Expressions that must mean something.
    pub valid: Vec<Expr>,
    /// Types that must be there.
    pub types: Vec<TypeName>,
    /// Conditions that must hold.
    pub holds: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Option<String>,
    pub ty: TypeName,
    pub default: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct StructDecl {
    pub name: Option<String>,
    pub template: Option<TemplateHeader>,
    /// Arguments of a (partial) specialisation.
    pub specialisation: Option<Vec<TemplateArg>>,
    pub is_union: bool,
    pub align: Option<Expr>,
    pub bases: Vec<Base>,
    /// `None`: forward declaration.
    pub members: Option<Vec<Member>>,
    pub span: Span,
}

/// A base of a class; one for each element of a pack where it `expands`: `: Ts...`.
#[derive(Clone, Debug)]
pub struct Base {
    pub ty: TypeName,
    pub expands: bool,
}

#[derive(Clone, Debug)]
pub enum Member {
    /// Fields, also `static constexpr` members.
    Field(VarDecl),
    Method(FunctionDecl),
    Struct(StructDecl),
    Enum(EnumDecl),
    Alias(AliasDecl),
    StaticAssert(Expr),
    /// `using Base::f;`
    Using(Path),
    Unsupported {
        what: String,
        span: Span,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct EnumDecl {
    pub name: Option<String>,
    /// `enum class`.
    pub scoped: bool,
    pub underlying: Option<TypeName>,
    pub variants: Vec<(String, Option<Expr>, Span)>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct AliasDecl {
    pub name: String,
    pub template: Option<TemplateHeader>,
    pub ty: TypeName,
    pub span: Span,
}

/// A possibly qualified name: `a::b<int>::c`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pub segments: Vec<PathSegment>,
    /// Starts with `::`.
    pub global: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct PathSegment {
    pub name: String,
    pub args: Option<Vec<TemplateArg>>,
}

impl PartialEq for PathSegment {
    fn eq(&self, other: &PathSegment) -> bool {
        self.name == other.name && self.args.is_some() == other.args.is_some()
    }
}

impl Path {
    /// The name of a path of one segment without arguments.
    pub fn as_name(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [only] if !self.global && only.args.is_none() => Some(&only.name),
            _ => None,
        }
    }
}

/// A type as written, declarator included.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName {
    pub kind: TypeKind,
    pub is_const: bool,
    pub is_volatile: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    Void,
    Auto,
    /// Words of a built-in type in the order written: `["unsigned", "long", "long"]`, `["float"]`.
    Builtin(Vec<String>),
    /// `float4`, `T`, `struct point`, `typename A::B`.
    Named(Path),
    Pointer {
        to: Box<TypeName>,
        restrict: bool,
    },
    /// `T&`, and `T&&` with `rvalue`.
    Reference {
        to: Box<TypeName>,
        rvalue: bool,
    },
    /// `None`: `[]`. Outermost extent is the outermost node: `float a[2][3]` is Array(2, Array(3, float)).
    Array {
        element: Box<TypeName>,
        extent: Option<Box<Expr>>,
    },
    Function {
        ret: Box<TypeName>,
        params: Vec<Param>,
    },
    /// `decltype(auto)`: as [`TypeKind::Decltype`] of the first value, or of what is returned.
    DecltypeAuto,
    /// `decltype(e)`.
    Decltype(Box<Expr>),
    /// A struct or enum defined in place, as in `struct { int a; } x;` – index of neither: the definition itself.
    Inline(Box<InlineType>),
}

#[derive(Clone, Debug)]
pub enum InlineType {
    Struct(StructDecl),
    Enum(EnumDecl),
}

impl PartialEq for InlineType {
    fn eq(&self, _: &InlineType) -> bool {
        false
    }
}

/// One declaration statement: a list of declarators that share attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct VarDecl {
    pub attrs: Attrs,
    /// Of a variable template.
    pub template: Option<TemplateHeader>,
    pub declarators: Vec<Declarator>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    pub name: String,
    /// The complete type of this declarator.
    pub ty: TypeName,
    pub init: Option<Initializer>,
    /// The class or namespace that the name is qualified with: `G` of `int G::n`.
    pub of: Option<PathSegment>,
    /// Bit-field width.
    pub bits: Option<Expr>,
    /// What a specialisation of a variable template stands for: `v<float>`.
    pub specialisation: Option<Vec<TemplateArg>>,
    /// What a structured binding calls the parts: `auto [a, b]`. Its `name` is no name of C++.
    pub parts: Vec<String>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Initializer {
    /// `= e`
    Expr(Expr),
    /// `{…}` or `= {…}`
    List(Vec<InitItem>, Span),
    /// `(a, b)`
    Call(Vec<Expr>, Span),
}

#[derive(Clone, Debug, PartialEq)]
pub struct InitItem {
    /// `.x =` or `[3] =`.
    pub designator: Option<Designator>,
    pub value: Initializer,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Designator {
    Field(String),
    Index(Expr),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    /// From `{` to `}`.
    pub span: Option<Span>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    /// Pragmas directly before the statement, and the comment `//SIMD` (as `SIMD`); text after `#pragma`.
    pub pragmas: Vec<Pragma>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pragma {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    Empty,
    Expr(Expr),
    Vars(VarDecl),
    Block(Block),
    If {
        constexpr: bool,
        init: Option<Box<Stmt>>,
        cond: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    For {
        init: Option<Box<Stmt>>,
        cond: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    RangeFor {
        decl: VarDecl,
        range: Expr,
        body: Box<Stmt>,
    },
    While {
        cond: Expr,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        cond: Expr,
    },
    Switch {
        selector: Expr,
        body: Box<Stmt>,
    },
    Case(Expr),
    Default,
    Break,
    Continue,
    Return(Option<Initializer>),
    Goto(String),
    LabelDef(String),
    /// Local struct, enum, alias, using, static_assert.
    Item(Box<LocalItem>),
    /// `asm volatile("…" : outputs : inputs : clobbers)`.
    Asm {
        /// The joined string literals, escapes resolved.
        template: String,
        /// Outputs, then inputs.
        operands: Vec<AsmOperand>,
    },
    Unsupported {
        what: String,
    },
}

/// `"=r"(variable)`.
#[derive(Clone, Debug, PartialEq)]
pub struct AsmOperand {
    /// `r`, `l`, `n`, `=r`, `+f` …
    pub constraint: String,
    pub expr: Expr,
}

#[derive(Clone, Debug)]
pub struct LocalItem(pub Item);

impl PartialEq for LocalItem {
    fn eq(&self, _: &LocalItem) -> bool {
        false
    }
}
