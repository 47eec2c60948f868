//! An array in shared memory with what is copied to it.

use warpsmith_ir::{Expr, Type, VarId};

use crate::analysis::footprint::Footprint;
use crate::analysis::swizzle::Swizzle;
use crate::kernel::Stage;

/// A stage with what it copies and where to.
#[derive(Clone)]
pub(crate) struct Copy {
    pub stage: Stage,
    pub footprint: Footprint,
    /// Variable: the array in shared memory, or a pointer to its first part in dynamic shared memory.
    pub shared: VarId,
    /// The array's type.
    pub ty: Type,
    /// How its columns are permuted, and the number of permutations as a named constant.
    pub swizzle: Option<(Swizzle, Expr)>,
    /// Elements are read more than once.
    pub reused: bool,
}
