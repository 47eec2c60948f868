//! What a kernel says about its launches: `__launch_bounds__`, `__cluster_dims__`.

use warpsmith_ir::LaunchBounds;

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// The limits of launches, where the kernel says them.
    pub(crate) fn launch_bounds(
        &mut self,
        attrs: &'a ast::Attrs,
        scope: ScopeId,
    ) -> Res<Option<LaunchBounds>> {
        let Some(first) = attrs.launch_bounds.first() else { return Ok(None) };
        let max = self.const_value(scope, first)?.as_i64();
        let Some(max_threads) = u32::try_from(max).ok().filter(|n| (1..=1024).contains(n)) else {
            return fail("W071", first.span, format!("a block has 1 to 1024 threads, not {max}"));
        };
        let min_blocks = match attrs.launch_bounds.get(1) {
            Some(e) => u32::try_from(self.const_value(scope, e)?.as_i64()).ok(),
            None => None,
        };
        Ok(Some(LaunchBounds { max_threads, min_blocks }))
    }

    /// Blocks of a cluster, where the kernel says how many.
    pub(crate) fn cluster_dims(
        &mut self,
        attrs: &'a ast::Attrs,
        scope: ScopeId,
    ) -> Res<Option<[u32; 3]>> {
        let mut dims = [1; 3];
        for (dim, e) in dims.iter_mut().zip(&attrs.cluster_dims) {
            let n = self.const_value(scope, e)?.as_i64();
            match u32::try_from(n).ok().filter(|n| *n > 0) {
                Some(n) => *dim = n,
                None => return fail("W071", e.span, format!("a cluster cannot have {n} blocks")),
            }
        }
        Ok((!attrs.cluster_dims.is_empty()).then_some(dims))
    }
}
