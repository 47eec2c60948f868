//! Threads that share loops, where a nest is written out, and which of them run a statement.

use std::collections::BTreeMap;

use warpsmith_ir::{Expr, Stmt, StmtKind, VarId};

use crate::analysis::access::Base;
use crate::kernel::{SharedLoop, Sum, Team};

/// A team on its way through the draft of its nest.
#[derive(Clone)]
pub(crate) struct Sharing {
    pub(crate) team: Team,
    /// Variable: the thread's number in its team.
    pub(crate) member: VarId,
    /// Threads of the team, as a named constant.
    pub(crate) size: Expr,
    /// The arrays in shared memory through which sums go.
    pub(crate) parts: BTreeMap<VarId, VarId>,
    /// How often the body mentions each object in memory.
    pub(crate) touched: BTreeMap<Base, usize>,
    /// The walk stands in a shared loop.
    pub(crate) inside: bool,
    /// Serial loops around where the walk stands.
    pub(crate) depth: usize,
}

/// Which threads of a team run a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    All,
    /// All, those past the end of the nest's loops included: it gives a sum its first value.
    Start,
    One,
}

impl Sharing {
    /// Whether another loop combines one of the sums as well.
    pub(crate) fn again(&self, sums: &[Sum]) -> bool {
        let of = |s: &&SharedLoop| s.sums.iter().any(|s| sums.iter().any(|sum| sum.var == s.var));
        self.team.loops.iter().filter(of).count() > 1
    }

    /// Whether a statement gives a sum its first value.
    pub(crate) fn begins(&self, stmt: &Stmt) -> bool {
        let (var, value) = match &stmt.kind {
            StmtKind::Decl { var, init: Some(value) } => (Some(*var), value),
            StmtKind::Assign { place, value } => (place.root_var(), value),
            _ => return false,
        };
        let mut sums = self.team.loops.iter().flat_map(|s| &s.sums).flat_map(Sum::vars);
        value.as_const().is_some() && sums.any(|sum| Some(sum) == var)
    }
}
