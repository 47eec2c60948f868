//! The user's text: the plan in it, what is in scope, and how it is edited.

mod adjusted;
pub(crate) mod aliased;
mod arrays;
pub(crate) mod by_data;
pub(crate) mod constants;
pub(crate) mod counted;
pub(crate) mod deduced;
pub(crate) mod elements;
pub(crate) mod forks;
pub(crate) mod guards;
pub(crate) mod host_bodies;
pub(crate) mod host_run;
pub(crate) mod hosts;
pub(crate) mod launched;
pub(crate) mod loops;
pub mod marks;
pub(crate) mod padded;
pub(crate) mod parts;
pub(crate) mod passed;
pub(crate) mod patch;
mod put;
pub(crate) mod scope;
pub mod shape;
pub(crate) mod symbols;
pub(crate) mod ties;
pub(crate) mod turns;
pub(crate) mod values;
