//! What is asked of nests that are not bound in the tree yet.

use warpsmith_ir::{ForLoop, LoopId, Stmt, VarId};

use super::scope::{Lowered, Scope};

/// Nests of a function whose loops will be bound to the machine when they are met.
pub(crate) trait Nests {
    /// Whether a loop is the outermost one of such a nest.
    fn begins(&self, l: &ForLoop) -> bool;

    /// How the iterations of a marked loop that is no such nest would get threads.
    fn advice(&self, name: &str) -> String;

    /// How many kernels they become that are right for all sizes.
    fn general(&self) -> usize;

    /// Loops whose iterations threads run.
    fn loops(&self) -> Vec<LoopId>;

    /// Variables whose values they leave.
    fn kept(&self) -> Vec<VarId>;

    /// Whether the nest that begins with a loop leaves in a variable what all iterations come to together.
    fn combines(&self, l: &ForLoop, var: VarId) -> bool;

    /// Whether the nest begins with values that statements before it give to variables, and needs none of them to run.
    fn takes_first_values(&self, l: &ForLoop) -> bool;

    /// What stands in place of a nest: statements of the host, and loops that are bound to the machine around the text
    /// of a thread. First values are taken out of the statements that wait.
    ///
    /// # Errors
    /// What the host would have to know.
    fn bound(
        &self,
        scope: &mut Scope,
        l: &ForLoop,
        stmt: &Stmt,
        waiting: &mut Vec<Stmt>,
    ) -> Lowered<Vec<Stmt>>;
}
