//! Expressions.

use warpsmith_ir::Span;

use super::*;

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: Box<ExprKind>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number as written, with its suffix: `0x1fu`, `1.5e-3f`.
    Number(String),
    Bool(bool),
    /// Value of the character.
    Char(i64),
    /// Adjacent literals joined, escapes resolved.
    Str(String),
    NullPtr,
    This,
    Path(Path),
    Paren(Expr),
    /// `-  +  !  ~  *  &`
    Unary {
        op: String,
        operand: Expr,
    },
    /// `++x`, `x--`: op is `++` or `--`.
    IncDec {
        op: String,
        prefix: bool,
        operand: Expr,
    },
    /// Arithmetic, comparison, logical, shifts; `a op b`.
    Binary {
        op: String,
        left: Expr,
        right: Expr,
    },
    /// `a = b`, `a += b`: op is `=`, `+=` ….
    Assign {
        op: String,
        target: Expr,
        value: Expr,
    },
    AssignList {
        target: Expr,
        items: Vec<InitItem>,
    },
    Conditional {
        cond: Expr,
        then: Expr,
        otherwise: Expr,
    },
    /// `a ?: b`: the first one if it holds, which is worked out once.
    Otherwise {
        value: Expr,
        otherwise: Expr,
    },
    Comma(Expr, Expr),
    Call {
        callee: Expr,
        args: Vec<Expr>,
    },
    /// `kernel<<<grid, block, shared, stream>>>(args)`
    Launch {
        callee: Expr,
        config: Vec<Expr>,
        args: Vec<Expr>,
    },
    Index {
        base: Expr,
        index: Expr,
    },
    /// `a.b` and `a->b` with `arrow`; the segment may carry template arguments.
    Member {
        base: Expr,
        arrow: bool,
        member: PathSegment,
        /// `Base` in `a.Base::b`: the class in which the member is looked for.
        class: Option<Path>,
    },
    /// `(T)e`, `static_cast<T>(e)` …; style is `c`, `static`, `reinterpret`, `const`, `dynamic`.
    Cast {
        style: &'static str,
        ty: TypeName,
        operand: Expr,
    },
    /// `T(a, b)` for a built-in type name, `T{a, b}` for any.
    Construct {
        ty: TypeName,
        args: Vec<Initializer>,
        braces: bool,
    },
    /// `(T){…}`
    CompoundLiteral {
        ty: TypeName,
        items: Vec<InitItem>,
    },
    SizeofType(TypeName),
    SizeofExpr(Expr),
    AlignofType(TypeName),
    /// `offsetof(T, member)`
    Offset {
        ty: TypeName,
        member: String,
    },
    /// Braced list as an argument.
    InitList(Vec<InitItem>),
    Lambda(Box<LambdaDecl>),
    New(Box<NewObject>),
    /// `delete e`, `delete[] e`
    Delete {
        pointer: Expr,
        array: bool,
    },
    /// `e...`
    PackExpansion(Expr),
    /// `(args op ...)`; with `init` `(operand op ... op init)`, either of which may be the pack.
    Fold {
        op: String,
        operand: Expr,
        init: Option<Expr>,
        right: bool,
    },
    /// `sizeof...(pack)`
    PackLength(Expr),
    /// `requires (T t) { t.size(); … }`
    Requires(Requirements),
    /// Text the grammar read but we do not (statement expressions, `new`, `throw` …).
    Unsupported {
        what: String,
    },
}

/// A captured value with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeCapture {
    pub name: String,
    pub by_ref: bool,
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LambdaDecl {
    /// Names, and `&`/`=` defaults as written.
    pub captures: Vec<String>,
    /// Captures with a value of their own: `[k = 0]`, `[&r = x]`.
    pub made: Vec<MadeCapture>,
    /// The body may change what was captured by value.
    pub mutable: bool,
    pub params: Vec<Param>,
    /// `-> T`, where it is written.
    pub ret: Option<TypeName>,
    pub body: Block,
}

/// `new T(args)`, `new T[count]`, `new (place) T(args)`, `new (place) T[count]`
#[derive(Debug, Clone, PartialEq)]
pub struct NewObject {
    pub ty: TypeName,
    /// Memory that is there already.
    pub place: Option<Expr>,
    pub count: Option<Expr>,
    pub args: Vec<Expr>,
    /// `new T()`, `new T[count]()`, also with braces: what has no constructor is zero.
    pub zeroed: bool,
}
