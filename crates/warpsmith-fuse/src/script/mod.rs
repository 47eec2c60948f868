//! The script: a sequence of calls of elementary functions over independent elements.
//!
//! | code | says |
//! |---|---|
//! | W500 | a syntax error |
//! | W501, W502 | an unknown type, an unknown function |
//! | W503, W504 | wrong number or types of arguments |
//! | W505 | use before definition |
//! | W506 | an output that is never assigned |
//! | W507 | a name declared, given or returned twice |
//! | W508 | no `return` or no `input` |
//! | W509 | a name that is not declared |
//! | W510 | (warning) a declared name that is never used |
//! | W511 | (warning) a call whose result is never used |
//! | W512 | a loop that is too long to be written out, or a limit that is too large |

mod dead;
mod expand;
mod lex;
mod parse;
mod resolve;
pub mod syntax;

pub use expand::UNROLLED_CALLS;
pub use parse::parse;
pub use resolve::{Call, Carried, Loop, Node, Program, Region, VarId, Variable, resolve};
pub use syntax::Layout;
