//! Rewrites: one primitive, one file, each with a question (`check`) and an edit (`apply`).

pub mod accumulate;
pub mod align;
pub mod bind;
pub mod bounds;
pub mod constant;
pub mod copy;
pub mod distribute;
pub mod double_buffer;
pub mod expand;
pub mod fuse_loops;
pub mod independence;
pub mod indexing;
pub mod interchange;
pub mod keep_rows;
pub mod keep_sums;
pub mod pad;
pub mod pipeline;
pub mod pitch;
pub mod precision;
pub mod privatise;
pub mod rasterise;
pub mod rectangle;
pub mod reduce;
pub mod register_tile;
mod runs;
pub mod scatter;
pub mod share;
pub mod specialise;
pub mod split;
pub mod split_k;
pub mod stage;
pub mod stream;
pub mod stride;
pub mod swizzle;
pub mod tile;
pub mod unroll;
pub mod vectorise;
pub mod warp;

use warpsmith_ir::{
    Block, Expr, Function, LoopId, Module, Origin, Place, PlaceKind, Stmt, StmtKind, VarId,
};

use crate::kernel::Kernel;
use crate::refusal::Refusal;

/// The result of a step: a new kernel, and what became of the loops of the old one.
#[derive(Clone, Debug)]
pub struct Rewritten {
    pub kernel: Kernel,
    /// Pairs (old, new) of loops that changed their identity; all others kept it.
    pub loops: Vec<(LoopId, LoopId)>,
}

impl Rewritten {
    fn same_loops(kernel: Kernel) -> Rewritten {
        Rewritten { kernel, loops: vec![] }
    }
}

/// Looks at the result of a step with the verifier.
///
/// # Errors
/// [`Refusal::Malformed`] with what the verifier found: a bug of ours, not of the user.
pub fn verified(rewritten: Rewritten, step: &str) -> Result<Rewritten, Refusal> {
    match malformed(&rewritten.kernel.module) {
        errors if errors.is_empty() => Ok(rewritten),
        errors => Err(Refusal::Malformed { step: step.into(), errors }),
    }
}

/// What the verifier says about a module.
pub fn malformed(module: &Module) -> Vec<String> {
    match warpsmith_ir::verify::verify(module) {
        Ok(()) => vec![],
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    }
}

/// An element of a variable that is an array of one dimension.
pub(crate) fn element_of(function: &Function, array: VarId, index: Expr) -> Place {
    let ty = function.var(array).ty.clone();
    let element = ty.innermost().clone();
    let kind = PlaceKind::Index(Place::var(array, ty), index);
    Place::new(kind, element, Origin::default())
}

/// Changes the statement that is the counted loop `id`; tells whether there is one.
pub(crate) fn with_loop(block: &mut Block, id: LoopId, f: &mut dyn FnMut(&mut Stmt)) -> bool {
    for stmt in &mut block.stmts {
        if matches!(&stmt.kind, StmtKind::For(l) if l.id == id) {
            f(stmt);
            return true;
        }
        if crate::walk::blocks_mut(stmt).into_iter().any(|b| with_loop(b, id, f)) {
            return true;
        }
    }
    false
}
