//! What cannot be said in CUDA C.

use std::fmt;

use warpsmith_ir::Origin;

/// The IR holds something that has no spelling in CUDA C, or that breaks a rule of the verifier.
#[derive(Clone, Debug, PartialEq)]
pub struct EmitError {
    /// What it is, as a noun phrase: "an atomic minimum of `double`".
    pub what: String,
    /// The node it was found at.
    pub origin: Origin,
}

impl EmitError {
    pub(crate) fn new(what: impl Into<String>, origin: &Origin) -> EmitError {
        EmitError { what: what.into(), origin: origin.clone() }
    }
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUDA C has no spelling for {}", self.what)
    }
}

impl std::error::Error for EmitError {}

pub(crate) type Result<T> = std::result::Result<T, EmitError>;
