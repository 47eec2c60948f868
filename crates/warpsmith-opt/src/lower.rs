//! A scheduled function to a program: nests that steps only noted are bound in the tree, kernels are cut out of it.

use warpsmith_ir::{Diagnostic, ForLoop, LoopId, SourceMap, Stmt, VarId};

use crate::kernel::{Kernel, Nest};
use crate::legalise::scope::{Lowered, Scope};
use crate::legalise::{self, Nests, Program};
use crate::rewrite::dp4a;
use crate::rewrite::edit::draft::Draft;

/// Lowers a scheduled function.
///
/// # Errors
/// One diagnostic for what cannot run on the device or from the host.
pub fn lower(kernel: &Kernel, _sources: &SourceMap) -> Result<Program, Vec<Diagnostic>> {
    let mut program = legalise::program(kernel, &Noted(kernel))?;
    dp4a::add_at_once(&mut program.module);
    Ok(program)
}

/// Nests of which a record says how they run.
struct Noted<'k>(&'k Kernel);

impl Noted<'_> {
    fn nests(&self) -> impl Iterator<Item = &Nest> {
        self.0.nests.values()
    }
}

impl Nests for Noted<'_> {
    fn begins(&self, l: &ForLoop) -> bool {
        self.0.nests.contains_key(&l.id)
    }

    fn advice(&self, name: &str) -> String {
        format!("a step of the schedule binds it, such as `bind {name} -> x block 256`")
    }

    fn general(&self) -> usize {
        self.nests().filter(|n| n.label.is_empty()).count()
    }

    fn loops(&self) -> Vec<LoopId> {
        self.nests().flat_map(|n| &n.axes).map(|(id, _)| *id).collect()
    }

    fn kept(&self) -> Vec<VarId> {
        let all = self.nests().map(|n| &n.clauses);
        let kept = all
            .flat_map(|c| c.reductions.iter().map(|r| r.var).chain(c.last_private.iter().copied()));
        kept.collect()
    }

    fn combines(&self, l: &ForLoop, var: VarId) -> bool {
        let nest = self.0.nests.get(&l.id);
        nest.is_some_and(|n| n.clauses.reductions.iter().any(|r| r.var == var))
    }

    fn takes_first_values(&self, l: &ForLoop) -> bool {
        self.0.nests.get(&l.id).is_some_and(|n| n.reduce.is_some())
    }

    fn bound(
        &self,
        scope: &mut Scope,
        l: &ForLoop,
        stmt: &Stmt,
        waiting: &mut Vec<Stmt>,
    ) -> Lowered<Vec<Stmt>> {
        let Some(nest) = self.0.nests.get(&l.id) else { return Ok(vec![]) };
        let mut draft = Draft { source: self.0, scope };
        let mut stmts = match nest {
            n if n.reduce.is_some() => draft.reduction(l, stmt, n, waiting)?,
            n if n.is_tiled() => draft.tiled_nest(l, stmt, n)?,
            n => draft.plain_nest(l, stmt, n)?,
        };
        stmts.extend(draft.counter_after(l, stmt)?);
        Ok(stmts)
    }
}
