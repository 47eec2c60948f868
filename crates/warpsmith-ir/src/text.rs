//! The text form of the IR: what dumps show and tests are written in.
//!
//! [`parse`] of [`print()`] gives back an equal module, ids included, provided that all ids are in
//! range, the parameters of a function are distinct, and comments hold no line breaks. Source
//! positions are not printed; parsed nodes point into the text itself.
//!
//! ```
//! let text = "\
//! kernel fn saxpy(n: i32, a: f32, restrict x: *global const f32, restrict y: *global f32) launch_bounds(256) {
//!     var i: i32;
//!
//!     let i = (blockIdx.x * blockDim.x + threadIdx.x) as i32;
//!     // Excess threads of the last block have nothing to do.
//!     if i < n {
//!         y[i] = a * x[i] + y[i];
//!     }
//! }
//! ";
//! let module = warpsmith_ir::text::parse(text).unwrap();
//! assert_eq!(module.functions[0].name, "saxpy");
//! assert_eq!(warpsmith_ir::text::print(&module), text);
//! ```
//!
//! # Grammar
//!
//! ```text
//! module   = { "struct" name ["size" n] ["align" n] "{" { name ":" type ["@" offset] "," } "}"
//!            | "static" space name ":" type ["=" string of hex digits] ";"
//!            | "const" name "=" literal [string: its meaning] ";"
//!            | function }
//! function = ("kernel" | "device" | "host") "fn" name "(" { var "," } ")" ["->" type]
//!            ["launch_bounds" "(" n ["," n] ")"] ["loops" "(" n ")"]
//!            "{" { ("var" | "shared" | "dynamic_shared" | "param") var ";" } { stmt } "}"
//! var      = {"const" | "restrict" | "ref" | "pitched" | "inferred" | "not_null" | "narrow"} name ["@" n] ":" type ["shape" "[" exprs "]"] ["align" n] [layout]
//! layout   = "layout" ["pad" n] ["transposed" | "turned"] ["swizzled"]
//! type     = "void" | scalar | scalar "x" n | "*" [space] ["const"] ["volatile"] type
//!            | "[" type ";" n "]" | name of a struct
//! space    = "generic" | "global" | "shared" | "constant" | "local"
//! stmt     = "let" name ["=" expr] ";" | place "=" expr ";"
//!            | "if" expr block ["else" (block | if)]
//!            | [label ":"] [kind] "for" ["outer"] name "in" expr range expr ["by" expr] block
//!            | [label ":"] "loop" block [step]
//!            | [label ":"] "while" ["before" block] expr block [step]
//!            | [label ":"] "do" block [step] "while" ["before" block] expr ";"
//!            | "switch" expr "{" { "case" {(integer | "default") ","} block } "}"
//!            | "break" ";" | "continue" ";" | "return" [expr] ";" | block
//!            | [place "="] "call" name "(" exprs ")" ";"
//!            | [name "="] "atomic" op scope "(" pointer "," value ["," compare] ")" ";"
//!            | [name "="] "warp" op "(" mask ";" exprs ")" ";"
//!            | [name "="] "barrier" kind ["(" expr ")"] ";"
//!            | "fence" scope ";" | "async_copy" "(" to "," from "," bytes ["," zeros] ")" ";"
//!            | "fill" "(" { name "<" n "," } ")" place "=" expr ["if" expr] ["vector" n] ["async"] ";"
//!            | "combine" op name ["at" name] "over" "(" { level "." axis "," } ")" ";"
//!            | "async_commit" ";" | "async_wait" n ";" | "trap" ";"
//!            | "printf" "(" string { "," expr } ")" ";"
//!            | ("assert" | "assume") "(" expr "," string ")" ";"
//!            | "launch" name "grid" "(" x, y, z ")" "block" "(" x, y, z ")" "shared" "(" n ")"
//!              "args" "(" exprs ")" ";"
//!            | "copy_to_global" "(" place "," pointer ")" ";"
//! block    = "{" { stmt } "}"
//! step     = "step" block
//! range    = ".." (<) | "..=" (<=) | "..>" | "..>=" | "..!="
//! kind     = "vector" | "unroll" ["(" n ")"] | "bind" "(" level "." axis ["," n] ")"
//!            | "parallel" "(" { clause "," } ")"
//! clause   = "group" label | "reduce" op name | ("private" | "firstprivate" | "lastprivate") name
//! expr     = C's binary operators with C's precedence (logical operators give bool, and so on)
//!            | expr "as" type | ("-" | "!" | "~") expr | "&" place | place | literal
//!            | "$" name (a named constant) | "bitcast" "<" type ">" "(" expr ")"
//!            | "select" "(" condition, a, b ")" | "offset" "(" pointer, index ")" | "diff" "(" p, q ")"
//!            | "make" type "{" exprs "}" | "member" "(" expr "," part ")" | function "(" exprs ")"
//!            | "threadIdx.x" … | "laneId" | "warpSize" | "activeMask" | "dynamicSharedBytes"
//!            | "clock" | "clock64" | "(" expr ":" type ")"
//! place    = name | "@" name (a static) | "*" expr | pointer "[" exprs [";" dims] "]"
//!            | array place "[" expr "]" | place "." part | "(" place "::" type ")"
//! part     = field name | "x" | "y" | "z" | "w" | "#" n
//! literal  = "true" | "false" | integer | real | "bits" "(" scalar "," string of hex digits ")"
//! ```
//!
//! * A name that is no identifier, or a reserved word, stands between backquotes. The second variable
//!   (struct, function, …) called `i` is written `i.1`, the third `i.2`; the suffix is not part of its name.
//! * An integer without suffix is `i32`, a real without suffix `f64`; others have the type as suffix (`1u32`, `0.5f32`).
//! * `p[i]` is an element behind a pointer when `p` is one, and of an array place otherwise.
//! * `(e : type)` and `(place :: type)` state a type that differs from the one the parts give
//!   ([`crate::typing::Env`]); in a verified module they occur for addresses with another space only.
//! * A loop without label has the number after that of the loop before it in the text, the first 0.
//!   `loops(n)` stands where the next free number is not one more than the largest.
//! * A variable has the lowest free number of its function, in the order of the text, unless `@ n` says so.
//! * `for` declares its counter unless marked `outer`; a step of 1 is left out.
//! * Comments before a statement belong to it; others are skipped.

mod lex;
mod names;
mod parse;
mod parse_expr;
mod parse_stmt;
mod print;
mod print_expr;
mod print_stmt;
mod words;

#[cfg(test)]
pub(crate) mod arbitrary;
#[cfg(test)]
mod tests;

use crate::diag::Diagnostic;
use crate::expr::{Expr, Place};
use crate::module::{Function, Module};
use crate::span::FileId;
use crate::stmt::Block;
use crate::types::Type;

/// The module as text.
pub fn print(module: &Module) -> String {
    print::module(module)
}

/// One function as text, as it stands in the text of its module.
pub fn print_function(module: &Module, function: &Function) -> String {
    print::function_alone(module, function)
}

/// A block of a function, for dumps and messages.
pub fn print_block(module: &Module, function: &Function, block: &Block) -> String {
    print_stmt::block_alone(module, function, block)
}

/// An expression of a function, for dumps and messages.
pub fn print_expr(module: &Module, function: &Function, expr: &Expr) -> String {
    print::Context::new(module, function).expr(expr, 0)
}

/// A place of a function, for dumps and messages.
pub fn print_place(module: &Module, function: &Function, place: &Place) -> String {
    print::Context::new(module, function).place(place, 0)
}

/// A type, for dumps and messages.
pub fn print_type(module: &Module, ty: &Type) -> String {
    print::type_name(&names::Names::of_structs(module), ty)
}

/// Reads a module. Positions of nodes and messages are in file 0: the text must be the first file of
/// the source map that renders them.
pub fn parse(text: &str) -> Result<Module, Vec<Diagnostic>> {
    parse_file(text, FileId(0))
}

/// Reads a module from a text that is `file` of a source map.
pub fn parse_file(text: &str, file: FileId) -> Result<Module, Vec<Diagnostic>> {
    parse::module(text, file)
}
