//! Answers that were given: schedules of one function ask about the same loops again and again, once for each block.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use warpsmith_ir::{Expr, ExprKind, FuncId, Function, LoopId, Module, Parallel};

use super::Findings;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::requirement::Requirement;
use crate::walk;

pub type Answer = Result<Findings, Refusal>;

/// So many are kept, the last ones first.
const MOST: usize = 16;

/// All that an answer follows from.
#[derive(PartialEq)]
struct Question {
    id: LoopId,
    group: Vec<LoopId>,
    clauses: Parallel,
    function: FuncId,
    general: BTreeSet<LoopId>,
    requires: Vec<Requirement>,
    module: Module,
    /// Where all of it stands: equal text may be found twice, and messages show the place.
    places: u64,
}

impl Question {
    fn is_of(
        &self,
        kernel: &Kernel,
        id: LoopId,
        group: &[LoopId],
        clauses: &Parallel,
        places: u64,
    ) -> bool {
        // Cheapest first.
        self.id == id
            && self.function == kernel.function
            && self.group == group
            && self.general == kernel.general
            && self.requires == kernel.requires
            && self.clauses == *clauses
            && self.clauses.origin.span == clauses.origin.span
            && self.places == places
            && self.module == kernel.module
    }
}

/// A number for where the parts of a function stand.
fn places(function: &Function) -> u64 {
    let mut hasher = DefaultHasher::new();
    function.vars.iter().for_each(|v| v.origin.span.hash(&mut hasher));
    walk::each_stmt(&function.body, &mut |stmt| {
        stmt.origin.span.hash(&mut hasher);
        let of = walk::operands(stmt);
        of.writes.iter().for_each(|place| place.origin.span.hash(&mut hasher));
        let mut each = |e: &Expr| {
            e.origin.span.hash(&mut hasher);
            if let ExprKind::Read(place) | ExprKind::AddressOf(place) = &*e.kind {
                place.origin.span.hash(&mut hasher);
            }
        };
        of.reads.iter().for_each(|e| walk::each_expr(e, &mut each));
        of.writes.iter().for_each(|place| walk::each_expr_of_place(place, &mut each));
    });
    hasher.finish()
}

static GIVEN: Mutex<Vec<Arc<(Question, Answer)>>> = Mutex::new(vec![]);

fn given<R>(see: impl FnOnce(&mut Vec<Arc<(Question, Answer)>>) -> R) -> R {
    see(&mut GIVEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What `ask` says, or said of an equal function.
pub fn answer(
    kernel: &Kernel,
    id: LoopId,
    group: &[LoopId],
    clauses: &Parallel,
    ask: impl FnOnce() -> Answer,
) -> Answer {
    let before = given(|all| all.clone());
    let places = places(kernel.func());
    let same = |known: &&Arc<(Question, Answer)>| known.0.is_of(kernel, id, group, clauses, places);
    let found = before.iter().find(same).cloned();
    let known = found.unwrap_or_else(|| {
        let question = Question {
            id,
            group: group.to_vec(),
            clauses: clauses.clone(),
            function: kernel.function,
            general: kernel.general.clone(),
            requires: kernel.requires.clone(),
            module: kernel.module.clone(),
            places,
        };
        Arc::new((question, ask()))
    });
    given(|all| {
        all.retain(|other| !Arc::ptr_eq(other, &known));
        all.insert(0, known.clone());
        all.truncate(MOST);
    });
    known.1.clone()
}
