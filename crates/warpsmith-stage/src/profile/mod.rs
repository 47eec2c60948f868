//! What a kernel does at its marks: one row a thread and a visit, with the values of all symbols and every place in shared
//! memory that holds the element.

pub mod instrument;
pub mod rows;
