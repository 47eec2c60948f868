//! The parts that the body of a loop falls into.

use std::collections::BTreeSet;

use warpsmith_ir::{Block, ForLoop, LoopKind, Stmt, StmtKind, Type, VarId, visit};

use super::stored;
use crate::analysis::scalars;
use crate::rewrite::question::swap::{can_swap, repeatable};
use crate::walk;

/// How a body falls apart.
pub(super) struct Parts {
    /// The statements of each, in order.
    pub parts: Vec<Vec<Stmt>>,
    /// Declarations whose values any part can compute: each that uses one gets its own.
    pub repeated: Vec<Stmt>,
    /// Scalars that one part sets and later ones read.
    pub left: Vec<VarId>,
    /// Arrays of an iteration that several parts use.
    pub arrays: Vec<VarId>,
    /// A variable that keeps together what could be parts without it.
    pub kept_by: Option<VarId>,
}

/// Takes the body of a loop apart: each loop in it and what stands between two of them, or of a serial loop each statement;
/// what shares variables stays together, unless an iteration may `leave` them in memory for later parts. So do passes over one row
/// of which one needs what another one finds, where there is anything else.
pub(super) fn of(l: &ForLoop, types: &dyn Fn(VarId) -> Type, leave: bool) -> Parts {
    let (repeated, rest) = repeated(&l.body);
    let rest = declared_late(rest);
    if matches!(l.kind, LoopKind::Parallel(_)) {
        let pieces = (repeated, around_loops(rest));
        let found = joined(l, types, leave.then_some(Passes::Together), pieces.clone());
        return match found.parts.len() {
            0 | 1 if leave => joined(l, types, Some(Passes::Apart), pieces),
            _ => found,
        };
    }
    let own = rest.iter().filter_map(declares).collect();
    let as_it_is = one_by_one(rest.clone());
    let found = joined(l, types, None, (repeated.clone(), as_it_is.clone()));
    if found.parts.len() > 1 {
        return found;
    }
    let read_back = one_by_one(stored::read_back(rest, &own));
    let found = joined(l, types, None, (repeated.clone(), read_back));
    match found.parts.len() {
        0 | 1 if leave => joined(l, types, Some(Passes::Apart), (repeated, as_it_is)),
        _ => found,
    }
}

/// What becomes of passes over one row of which one needs what another one finds.
#[derive(Clone, Copy, PartialEq)]
enum Passes {
    Together,
    Apart,
}

/// Joins pieces of a body that have to stay together; what an iteration may leave in memory for later parts does not join them.
fn joined(
    l: &ForLoop,
    types: &dyn Fn(VarId) -> Type,
    leave: Option<Passes>,
    (repeated, pieces): (Vec<Stmt>, Vec<Vec<Stmt>>),
) -> Parts {
    let mut found = Parts { parts: pieces, repeated, left: vec![], arrays: vec![], kept_by: None };
    let own: BTreeSet<VarId> = match leave {
        Some(_) => found.parts.iter().flatten().filter_map(declares).collect(),
        None => BTreeSet::new(),
    };
    let together = leave == Some(Passes::Together);
    while let Some((v, from, to)) = found.shared((l, together), &own, types) {
        let one: Vec<Stmt> = found.parts.splice(from..=to, [vec![]]).flatten().collect();
        found.parts[from] = one;
        found.kept_by = Some(v);
    }
    found
}

impl Parts {
    /// The next variable that several parts use and one of them sets, which cannot be left in memory: and from where to where.
    fn shared(
        &mut self,
        (l, together): (&ForLoop, bool),
        own: &BTreeSet<VarId>,
        types: &dyn Fn(VarId) -> Type,
    ) -> Option<(VarId, usize, usize)> {
        let mut uses: Vec<Uses> = self.parts.iter().map(|p| Uses::by(p)).collect();
        let read_elsewhere =
            |v: &VarId| uses.iter().any(|u| u.used.contains(v) && !u.counters.contains(v));
        let outlive: BTreeSet<VarId> =
            uses.iter().flat_map(|u| u.counters.iter().copied()).filter(read_elsewhere).collect();
        uses.iter_mut().for_each(|u| u.carried.extend(u.counters.intersection(&outlive)));
        let all: BTreeSet<VarId> = uses.iter().flat_map(|u| u.carried.iter().copied()).collect();
        (self.left, self.arrays) = (vec![], vec![]);
        for v in all.into_iter().filter(|v| *v != l.var) {
            let using: Vec<usize> =
                (0..uses.len()).filter(|k| uses[*k].used.contains(&v)).collect();
            let (Some(first), Some(last)) = (using.first(), using.last()) else { continue };
            if first == last {
                continue;
            }
            let setting: Vec<usize> =
                using.iter().copied().filter(|k| uses[*k].carried.contains(&v)).collect();
            match types(v) {
                Type::Scalar(s) if own.contains(&v) && matches!(s.bytes(), 4 | 8) => {
                    // What sets it more than once is one part: a sum, and its division by the number of terms.
                    if let [first, .., last] = setting[..] {
                        return Some((v, first, last));
                    }
                    let passes = |to: &&usize| is_passes(&self.parts[*first..=**to]);
                    let to = using.iter().rev().filter(|_| together).find(passes);
                    match to.filter(|to| *to > first) {
                        Some(to) => return Some((v, *first, *to)),
                        None => self.left.push(v),
                    }
                }
                Type::Array(..) if own.contains(&v) && only_elements(&self.parts, v) => {
                    self.arrays.push(v);
                }
                _ => return Some((v, *first, *last)),
            }
        }
        None
    }
}

/// What a part does with variables.
struct Uses {
    used: BTreeSet<VarId>,
    /// Set, and not as the counter of each loop that reads it.
    carried: BTreeSet<VarId>,
    /// Set by each loop that reads it, as its counter.
    counters: BTreeSet<VarId>,
}

impl Uses {
    fn by(part: &[Stmt]) -> Uses {
        let block = Block::new(part.to_vec());
        let mut used = BTreeSet::new();
        walk::each_var_of_block(&block, &mut |v| _ = used.insert(v));
        // A counter that is set by each loop that it counts carries nothing.
        let carries = |v: &VarId| {
            walk::for_loops(&block).iter().all(|l| l.var != *v)
                || scalars::read_outside_its_loops(&block, *v)
        };
        let (carried, counters) = walk::times_set_each(&block).into_keys().partition(carries);
        Uses { used, carried, counters }
    }
}

/// The variable that a statement declares.
fn declares(stmt: &Stmt) -> Option<VarId> {
    match &stmt.kind {
        StmtKind::Decl { var, .. } => Some(*var),
        _ => None,
    }
}

/// Declarations of what never changes, from what the body does not change, and the other statements.
fn repeated(body: &Block) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut known = BTreeSet::new();
    let (mut found, mut rest) = (vec![], vec![]);
    for stmt in &body.stmts {
        let var = repeatable(stmt, body, &known);
        known.extend(var);
        if var.is_some() { &mut found } else { &mut rest }.push(stmt.clone());
    }
    (found, rest)
}

/// The statements with each declaration as near as it can be to what uses the variable first.
fn declared_late(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut done: Vec<Stmt> = vec![];
    for stmt in stmts.into_iter().rev() {
        let passed = match declares(&stmt) {
            Some(_) => done.iter().take_while(|later| can_swap(&stmt, later)).count(),
            None => 0,
        };
        // Nothing uses it at all.
        let at = if passed == done.len() { 0 } else { passed };
        done.insert(at, stmt);
    }
    done
}

/// Each loop with the declarations right before it, and what stands between two of them.
fn around_loops(stmts: Vec<Stmt>) -> Vec<Vec<Stmt>> {
    let looped = |s: &Stmt| matches!(s.kind, StmtKind::For(_) | StmtKind::Loop { .. });
    let (mut found, mut open, mut before) = (vec![], vec![], vec![]);
    for stmt in stmts {
        if declares(&stmt).is_some() {
            before.push(stmt);
        } else if looped(&stmt) {
            found.extend(
                [std::mem::take(&mut open)].into_iter().filter(|p: &Vec<Stmt>| !p.is_empty()),
            );
            before.push(stmt);
            found.push(std::mem::take(&mut before));
        } else {
            open.append(&mut before);
            open.push(stmt);
        }
    }
    open.append(&mut before);
    found.extend([open].into_iter().filter(|p| !p.is_empty()));
    found
}

/// Each statement with the declarations right before it.
fn one_by_one(stmts: Vec<Stmt>) -> Vec<Vec<Stmt>> {
    let (mut found, mut before) = (vec![], vec![]);
    for stmt in stmts {
        let declared = declares(&stmt).is_some();
        before.push(stmt);
        if !declared {
            found.push(std::mem::take(&mut before));
        }
    }
    found.extend([before].into_iter().filter(|p: &Vec<Stmt>| !p.is_empty()));
    found
}

/// Whether an array begins with nothing in it and is only ever mentioned as an element, with all subscripts.
fn only_elements(parts: &[Vec<Stmt>], array: VarId) -> bool {
    let block = Block::new(parts.iter().flatten().cloned().collect());
    let mut only = true;
    visit::for_each_place(&block, &mut |p, access| {
        let element = matches!(p.ty, Type::Scalar(_)) && access != visit::Access::Address;
        only &= p.root_var() != Some(array) || element;
    });
    let begins =
        |s: &Stmt| matches!(&s.kind, StmtKind::Decl { var, init: Some(_) } if *var == array);
    only && !block.stmts.iter().any(begins)
}

/// Whether no part has loops inside of loops: passes over a row, and what is done between them, gain nothing by being alone
/// while there are rows enough.
fn is_passes(parts: &[Vec<Stmt>]) -> bool {
    let block = Block::new(parts.iter().flatten().cloned().collect());
    walk::for_loops(&block).iter().all(|l| walk::for_loops(&l.body).is_empty())
}
