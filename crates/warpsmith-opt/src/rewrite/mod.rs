//! Rewrites: one primitive, one file, each with a question (`check`) and an edit (`apply`). What several of them use stands in
//! [`step`], [`question`] and `edit`, which know none of them.

pub mod accumulate;
pub mod align;
pub mod bind;
pub mod bounds;
pub mod carry;
pub mod collapse;
pub mod constant;
pub mod distribute;
pub mod double_buffer;
pub mod dp4a;
pub(crate) mod edit;
pub mod expand;
pub mod fuse_kernels;
pub mod fuse_loops;
pub mod gather;
pub mod guard;
pub mod indexing;
pub mod interchange;
pub mod keep_rows;
pub mod keep_sums;
pub mod normalise;
pub mod persist;
pub mod pipeline;
pub mod pitch;
pub mod precision;
pub mod predicate;
pub mod privatise;
pub mod question;
pub mod rasterise;
pub mod rectangle;
pub mod reduce;
pub mod register_tile;
pub mod residue;
pub mod scalarise;
pub mod scan;
pub mod scatter;
pub mod share;
pub mod sink;
pub mod specialise;
pub mod split;
pub mod split_k;
pub mod split_scan;
pub mod stage;
pub mod step;
pub mod stream;
pub mod stream_k;
pub mod stride;
pub mod tile;
pub mod unroll;
pub mod vectorise;
pub mod warp;
pub mod wrap;

use warpsmith_ir::LoopId;

use crate::kernel::{Kernel, malformed};
use crate::refusal::Refusal;

/// The result of a step: a new kernel, and what became of the loops of the old one.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The kernel with the step taken.
    pub kernel: Kernel,
    /// Pairs (old, new) of loops that changed their identity; all others kept it.
    pub loops: Vec<(LoopId, LoopId)>,
}

impl Rewritten {
    fn same_loops(kernel: Kernel) -> Rewritten {
        Rewritten { kernel, loops: vec![] }
    }
}

/// Asks whether copies in shared memory and streams still fit where a step edited the loops of their nests: lowering relies on it.
///
/// # Errors
/// The first that does not.
pub fn check_copies(before: &Kernel, after: &Kernel) -> Result<(), Refusal> {
    let edited = |root| before.find_loop(root) != after.find_loop(root);
    for (root, nest) in &after.nests {
        let copies = !nest.stages.is_empty() || !nest.streams.is_empty();
        if copies && edited(*root) {
            question::conditions::check(after, *root, nest)?;
        }
    }
    Ok(())
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
