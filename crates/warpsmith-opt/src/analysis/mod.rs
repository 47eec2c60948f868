//! What is known about a loop nest: which elements it touches, and which iterations depend on each other.

pub mod access;
pub mod arrays;
pub mod atomics;
pub mod axes;
mod boxes;
pub mod calls;
pub mod conflict;
pub mod contributions;
pub mod dependence;
pub mod extents;
pub mod extremes;
pub mod footprint;
pub mod guards;
mod integer;
pub mod loops;
mod powers;
pub mod rows;
pub mod scalars;
mod shapes;
pub mod swizzle;
pub mod touched;
pub mod transfers;
pub mod uniformity;
pub mod updates;
pub mod values;
mod witness;
mod written_boxes;
