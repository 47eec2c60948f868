//! placeholder
use warpsmith_ir::*;
use crate::Kernel;
pub struct Program;
pub struct Slot; pub enum SlotInit {} pub struct Workspace;
pub fn lower(_k: &Kernel, _s: &SourceMap) -> Result<Program, Vec<Diagnostic>> { Err(vec![]) }
