//! Shared-memory staging: reads of global memory are served from shared memory where the user's plan puts their elements.

pub mod copying;
pub mod intermediate;
pub mod launch;
pub mod memory;
pub mod plan;
pub mod profile;
pub mod program;
pub mod search;
pub mod session;
pub mod source;
pub mod stage;
pub mod synth;
pub mod verify;
