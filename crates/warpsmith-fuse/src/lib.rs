//! Fuses sequences of elementary functions into CUDA kernels.
//!
//! A script calls small functions of a library, element by element. This crate reads both ([`script`], [`library`]), finds
//! out which shared-memory offsets each routine touches ([`access`]), looks for the sets of calls that can be one kernel and
//! the cheapest way to cover the script with them (`graph`, `cover`), decides for each where its variables live and where
//! barriers stand ([`plan`]), and writes CUDA C ([`emit`]).
//!
//! It does not know how a time was obtained: [`predict::Times`] is asked.

#![deny(missing_docs)]

pub mod access;
mod cover;
pub mod emit;
mod graph;
pub mod library;
mod memory;
pub mod plan;
pub mod predict;
pub mod script;
mod words;
