//! What names mean while a program is lowered.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::{
    Diagnostic, Expr, FuncId, Function, FunctionKind, Place, Span, Stmt, StructId, Type, Value,
    VarId,
};

use super::bit_fields::Bits;
use super::builtin_api::{BuiltinTemplateArg, BuiltinType};
use crate::ast;

/// Why something could not be lowered.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error nobody has been told of.
    New(Box<Diagnostic>),
    /// A consequence of an error that was reported before.
    Reported,
}

pub(crate) type Res<T> = Result<T, Failure>;

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        if diagnostic.code == super::builtin_api::REPORTED {
            return Failure::Reported;
        }
        Failure::New(Box::new(diagnostic))
    }
}

/// An error with its caret.
pub(crate) fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, message).label(span, "")
}

/// `Err` with a one-label diagnostic.
pub(crate) fn fail<T>(code: &'static str, span: Span, message: impl Into<String>) -> Res<T> {
    Err(error(code, span, message).into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RefKind {
    No,
    Lvalue,
    Rvalue,
}

/// A type with what C++ adds to it outside of the value: qualifiers and reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct QualType {
    pub ty: Type,
    pub is_const: bool,
    pub is_volatile: bool,
    pub reference: RefKind,
}

impl QualType {
    pub fn plain(ty: Type) -> QualType {
        QualType { ty, is_const: false, is_volatile: false, reference: RefKind::No }
    }

    pub fn is_reference(&self) -> bool {
        self.reference != RefKind::No
    }
}

/// A template argument after resolution.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TArg {
    Type(QualType),
    Value(Value),
    /// A class template, by its number among those that are arguments, and its name.
    Template(u32, String),
    Pack(Vec<TArg>),
}

impl TArg {
    pub fn to_builtin(&self) -> Vec<BuiltinTemplateArg> {
        match self {
            TArg::Type(t) => vec![BuiltinTemplateArg::Type(t.ty.clone())],
            TArg::Value(v) => vec![BuiltinTemplateArg::Value(*v)],
            TArg::Template(..) => vec![],
            TArg::Pack(all) => all.iter().flat_map(TArg::to_builtin).collect(),
        }
    }
}

/// A function as declared, with the scope it is declared in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FnDecl<'a> {
    pub decl: &'a ast::FunctionDecl,
    pub scope: ScopeId,
    /// The class it is a member of.
    pub class: Option<StructId>,
    /// A member that is called without an object.
    pub is_static: bool,
}

impl FnDecl<'_> {
    /// Identity of the declaration in the syntax tree.
    pub fn key(&self) -> usize {
        std::ptr::from_ref(self.decl) as usize
    }

    pub fn needs_object(&self) -> bool {
        self.class.is_some() && !self.is_static
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Entity<'a> {
    /// A place of the function with that serial number: a variable, or what a reference is bound to.
    Place {
        owner: u32,
        place: Place,
        is_const: bool,
        shape: Option<Vec<Expr>>,
    },
    /// A compile-time constant.
    Const(Expr),
    /// A variable of a namespace or a static member, looked at when used.
    Lazy {
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        scope: ScopeId,
    },
    /// A module-level variable that has been lowered.
    Global {
        place: Place,
        is_const: bool,
    },
    Function(FnDecl<'a>),
    /// A class or class template; every specialisation is an entity of its own.
    Class {
        decl: &'a ast::StructDecl,
        scope: ScopeId,
    },
    Enum {
        decl: &'a ast::EnumDecl,
        scope: ScopeId,
    },
    Enumerator {
        decl: &'a ast::EnumDecl,
        index: usize,
        scope: ScopeId,
    },
    Alias {
        decl: &'a ast::AliasDecl,
        scope: ScopeId,
    },
    Type(QualType),
    Pack(Vec<Entity<'a>>),
    Namespace(ScopeId),
    /// A namespace that is not in the source, by its canonical path.
    ForeignNamespace(String),
    /// A data member; the path leads through bases and anonymous members.
    Field {
        class: StructId,
        path: Vec<u32>,
    },
    /// Declared with an error that was reported.
    Poisoned,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScopeKind {
    Namespace,
    Class(StructId),
    /// Template parameters.
    Template,
    Block,
}

#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    pub parent: Option<ScopeId>,
    pub kind: ScopeKind,
    pub names: HashMap<String, Vec<Entity<'a>>>,
    /// `using namespace`: scopes of the source, and paths of libraries.
    pub using: Vec<ScopeId>,
    pub using_foreign: Vec<String>,
    /// The library's namespace that this one of the source adds to: `namespace std { … }`.
    pub extends: Option<ScopeId>,
}

/// A data member as declared.
#[derive(Clone, Debug)]
pub(crate) struct FieldInfo<'a> {
    pub name: String,
    /// The stored type is a pointer when this is a reference.
    pub ty: QualType,
    pub init: Option<&'a ast::Initializer>,
    /// It may change in a constant object.
    pub mutable: bool,
    pub span: Span,
    /// Index in the IR struct.
    pub index: u32,
    /// An anonymous struct or union whose members are reached through it.
    pub anonymous: Option<StructId>,
    /// Of a bit-field; the index is that of its word.
    pub bits: Option<Bits>,
}

#[derive(Clone, Debug)]
pub(crate) struct BaseInfo {
    pub class: StructId,
    /// `None` for an empty base, which takes no room.
    pub index: Option<u32>,
}

/// Functions of one name used as a value.
#[derive(Clone, Debug)]
pub(crate) struct FunctionValue<'a> {
    pub name: String,
    pub fns: Vec<FnDecl<'a>>,
    pub args: Option<Vec<TArg>>,
}

/// A class after instantiation.
#[derive(Debug)]
pub(crate) struct ClassInfo<'a> {
    pub name: String,
    pub decl: Option<&'a ast::StructDecl>,
    pub scope: ScopeId,
    pub fields: Vec<FieldInfo<'a>>,
    pub bases: Vec<BaseInfo>,
    pub ctors: Vec<FnDecl<'a>>,
    pub conversions: Vec<FnDecl<'a>>,
    /// With a body that does something.
    pub destructor: Option<FnDecl<'a>>,
    /// Its first field is the number of the object's class, for calls of virtual functions.
    pub numbered: bool,
    /// Name of the template and its arguments, for deduction of `S<T>`.
    pub template: Option<(String, Vec<TArg>)>,
    pub lambda: Option<&'a ast::LambdaDecl>,
    /// The functions an object of this type stands for.
    pub function: Option<FunctionValue<'a>>,
    pub complete: bool,
}

/// What a call needs to know of a lowered function.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub id: FuncId,
    pub params: Vec<QualType>,
    pub ret: QualType,
}

#[derive(Clone, Debug)]
pub(crate) enum InstanceState {
    InProgress,
    /// A constexpr function whose body is being lowered, and may call it.
    Recursive(Instance),
    Done(Instance),
    Failed,
}

/// Identity of a function instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FnKey {
    pub decl: usize,
    pub scope: ScopeId,
    pub args: Vec<TArg>,
    pub kind: FunctionKind,
}

/// `this` inside a method.
#[derive(Clone, Debug)]
pub(crate) struct ThisInfo {
    pub class: StructId,
    /// The pointer.
    pub pointer: Expr,
}

/// The function under construction.
#[derive(Debug)]
pub(crate) struct FnState {
    pub serial: u32,
    pub func: Function,
    /// Open statement lists, innermost last; never empty.
    pub blocks: Vec<Vec<Stmt>>,
    pub scope: ScopeId,
    /// Declared or, after the first `return`, deduced.
    pub ret: Option<QualType>,
    /// What is declared of a type that is deduced.
    pub returns: super::deduced_returns::Deduced,
    pub this: Option<ThisInfo>,
    pub address_taken: HashSet<VarId>,
    /// Temporaries that are written once, before any use.
    pub stable: HashSet<VarId>,
    /// Names the body assigns with plain `=`.
    pub assigned: HashSet<String>,
    /// Names the body changes in any way.
    pub changed: HashSet<String>,
    /// Dynamic shared memory that `cudaFuncSetAttribute` allowed kernels by name so far, in bytes.
    pub allowed_shared: Vec<(String, u64)>,
    /// Only evaluated at compile time.
    pub is_const_eval: bool,
    /// How many operands around the one at hand are only asked for their types, as that of `decltype` is.
    pub unevaluated: u32,
    /// An expression of `requires { … }` is looked at: members have to be accessible.
    pub asks_access: bool,
    pub span: Span,
    /// Loops and switches open around the current point.
    pub loops: u32,
    pub switches: u32,
    /// Objects whose destructors have to run, in the order they were made.
    pub ending: Vec<Ending>,
    /// How many of them there were at the start of each open loop, and of each open loop or switch.
    pub ending_at_loops: Vec<usize>,
    pub ending_at_breaks: Vec<usize>,
    /// Labels by number: the name, whether it stands somewhere, and the first jump to it.
    pub labels: Vec<Label>,
    /// The carry flag of inline PTX.
    pub carry: Option<VarId>,
    /// What annotations ask of its accesses.
    pub sets: super::access_sets::AccessSets,
}

/// A local object with a destructor.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    pub name: String,
    pub place: Place,
    pub span: Span,
}

/// A label of the function under construction.
#[derive(Debug)]
pub(crate) struct Label {
    pub name: String,
    pub stands: bool,
    pub jump: Option<Span>,
}

/// Something an expression denotes.
#[derive(Clone, Debug)]
pub(crate) enum Operand<'a> {
    Value(Expr),
    Place {
        place: Place,
        is_const: bool,
    },
    /// A bit-field.
    Bits {
        word: Place,
        bits: Bits,
        is_const: bool,
    },
    /// An element or row of an array parameter with declared extents (`float A[n][m]`).
    Shaped {
        pointer: Expr,
        index: Vec<Expr>,
        shape: Vec<Expr>,
        is_const: bool,
    },
    /// Functions of one name, perhaps of an object.
    Functions {
        name: String,
        fns: Vec<FnDecl<'a>>,
        args: Option<Vec<TArg>>,
        object: Option<Box<Operand<'a>>>,
    },
    /// A name only the library can know: candidates of canonical paths.
    Foreign {
        names: Vec<String>,
        args: Vec<TArg>,
    },
    /// A method of a library object.
    ForeignMethod {
        object: BuiltinType,
        receiver: Expr,
        name: String,
        args: Vec<TArg>,
    },
    Type(QualType),
    Str(String),
    List(&'a [ast::InitItem]),
    /// `threadIdx`, `blockIdx`, `blockDim`, `gridDim` as a whole.
    Index3(IndexVector),
    Void,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexVector {
    Thread,
    Block,
    BlockDim,
    GridDim,
}
