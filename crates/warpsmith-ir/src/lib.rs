//! The IR every part of warpsmith stands on.
//!
//! One IR serves all inputs: C loop nests and CUDA kernels are lowered to it by `warpsmith-front`,
//! rewrites transform it, the emulator and the reference interpreter execute it, and the emitter
//! prints it as CUDA C. Control flow is structured; expressions are pure; everything with an effect
//! is a statement. This crate does no I/O and knows no other crate.

#![deny(missing_docs)]

pub mod collective;
pub mod diag;
pub mod eval;
pub mod expr;
pub mod interp;
pub mod layout;
pub mod module;
pub mod poly;
pub mod printable;
pub mod serial;
pub mod span;
pub mod stmt;
pub mod text;
pub mod types;
pub mod typing;
pub mod updates;
pub mod value;
pub mod verify;
pub mod visit;
pub mod ways;

pub use collective::{Collective, Combine, Fill};
pub use diag::{Diagnostic, Label, Severity};
pub use expr::{
    Axis, BinaryOp, BindLevel, Builtin, Expr, ExprKind, MathFn, Place, PlaceKind, ReduceOp, UnaryOp,
};
pub use module::{
    ConstId, DimOrder, FuncId, Function, FunctionKind, Global, GlobalId, LaunchBounds, Layout,
    Module, NamedConst, StructDef, StructField, StructId, Var, VarId, VarKind,
};
pub use printable::printable;
pub use span::{FileId, Origin, SourceFile, SourceMap, Span};
pub use stmt::{
    AtomicOp, BarrierKind, Binding, Block, Case, CopyWay, Filler, ForLoop, Launch, LoopCondition,
    LoopId, LoopKind, Parallel, Reduction, Runtime, Scope, Stmt, StmtKind, StreamOrder,
    UNALIGNED_BARRIER, WarpOp,
};
pub use types::{Scalar, Space, Type};
pub use value::Value;
pub use ways::{Turn, Way};
