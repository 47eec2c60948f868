//! Shared-memory staging: reads of global memory are served from shared memory where the user's plan puts their elements.
//!
//! [`stage::stage`] is the whole way. The plan is read from the user's bytes ([`source`], [`plan`]), launches are chosen
//! ([`launch`], [`memory`]) and profiled ([`profile`]), each mark is solved on the rows of the profiles ([`search`], [`synth`]), and
//! the rewritten text is emulated beside the unmodified kernel ([`verify`]).
//!
//! | code | says |
//! |---|---|
//! | W700, W701 | a mark that is malformed, or stands where it cannot be edited |
//! | W702 | a marked write, or a marked read with a side effect |
//! | W703 | a parameter that no value can be chosen for |
//! | W704, W705 | no shared array in scope of a mark, no mark at all |
//! | W706 | what is in scope at a mark cannot be recorded |
//! | W707 | no launch in which the unmodified kernel is right |
//! | W708 | marks in functions that several kernels may call |
//! | W710 | no marked read finds its element in shared memory |
//! | W711, W712 | no subscript, condition or copy makes a read right |
//! | W713 | emulation found a fault in the rewritten text |
//! | W714 | a copy needs a variable that is declared after it |
//! | W715 | no launch with the block that the file is written for |
//! | W734 | marks in a file that `--auto` is to find a plan for |
//! | W732, W733 | no filling of the holes of a sketch fits; no reference to compare with |
//! | W720 | the rewritten text does not compile |

#![deny(missing_docs)]

pub mod auto;
mod copying;
pub mod costs;
mod counting;
mod holes;
mod intermediate;
pub mod launch;
pub mod memory;
mod mix;
mod plan;
pub mod predicted;
mod profile;
pub mod program;
mod proving;
mod recording;
mod search;
pub mod session;
pub mod several;
pub mod source;
pub mod stage;
pub mod strides;
mod synth;
pub mod usage;
pub mod verify;
