//! The user's text: the plan in it, what is in scope, and how it is edited.

pub mod deduced;
pub mod host_bodies;
pub mod hosts;
pub mod marks;
pub mod parts;
pub mod patch;
pub mod scope;
pub mod shape;
