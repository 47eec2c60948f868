//! IR to CUDA C that reads as a person's.
//!
//! [`cuda_file`], [`header_file`] and [`test_file`] print what a tuned loop nest becomes;
//! [`module_file`] prints any module as it is. The text depends on nothing but CUDA, has no line over
//! 100 columns and no unused declaration, keeps the user's names (see the namer in `names.rs`), and
//! has casts and parentheses only where C++ would otherwise compute something else.
//!
//! The emitter knows the IR and C++, not how the program came to be: schedules and tuning are for
//! others. What it prints is parsed again and verified, so that an error here is found, not shipped.

#![deny(missing_docs)]

mod accumulators;
mod context;
mod convert;
mod doc;
mod effects;
mod error;
mod expr;
mod file;
mod function;
mod host_entry;
mod launcher;
mod literal;
mod loops;
mod math;
mod names;
mod place;
mod stmt;
mod swaps;
mod test_file;
mod tidy;
mod types;
mod walk;

pub use error::EmitError;
pub use file::module_file;
pub use host_entry::{HostEntry, Moved, Packed};
pub use launcher::{Emit, Workspace, cuda_file, header_file};
pub use names::identifier;
pub use test_file::{Fill, TestProgram, reference_file, test_file};
