//! Makes loops of their own of the parts of a parallel loop's body.
//!
//! ```text
//!     parallel for i in I { S(i); for j in J(i) { T(i, j) } }
//!       ==> distribute i
//!     parallel for i in I { S(i) };  parallel for i in I { for j in J(i) { T(i, j) } }
//! ```
//!
//! Each loop directly in the body becomes a part, and so do the statements between two of them. A nest that had something
//! beside its inner loop, as a correlation sets its diagonal, can then have both loops on axes, be tiled and staged.
//!
//! Legal for a marked loop that is not bound, whose bounds the launcher knows, with iterations that are proved independent
//! and do not end early, and where no part uses a variable that another one sets.

use std::collections::BTreeSet;
use std::fmt;

use warpsmith_ir::{Block, ForLoop, LoopId, SourceMap, Stmt, StmtKind, Var, VarId, visit};

use super::grammar::name;
use super::privatise::has_only_private;
use super::step::{About, Law, Rewrite, StepError, loop_named};
use super::{Rewritten, copy, independence};
use crate::analysis::scalars;
use crate::kernel::{Kernel, is_marked};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// A marked loop.
    pub target: String,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "distribute",
        example: "distribute i",
        does: "makes loops of their own of the loops in a parallel loop's body and of what stands between them, so that a nest with something beside its inner loop (the diagonal of a correlation) can have both loops on axes",
        legal: "the loop is marked, not bound, the launcher knows its bounds, its iterations are proved independent and do not end early, and no part uses a variable that another one sets",
        law: Law {
            before: "\
void diagonal(int n, const float u[n], float A[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        A[i][i] = 1.0f;
        for (int j = 0; j < i; j++)
            A[i][j] = u[j];
    }
}
",
            steps: "distribute i",
            after: "\
void diagonal(int n, const float *u, float *A) {
    // parallel
    for (int i = 0; i < n; ++i) {
        A[(size_t)i * n + i] = 1.0f;
    }

    // parallel
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            A[(size_t)i * n + j] = u[j];
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        name.map(|target| Args { target }).parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, loop_named(kernel, &self.target)?)?))
    }
}

/// The verdict on a `distribute`, which alone allows it.
pub struct LegalDistribute<'k> {
    kernel: &'k Kernel,
    target: &'k ForLoop,
    parts: Vec<Vec<Stmt>>,
}

/// Asks whether the parts of a loop's body can have loops of their own.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalDistribute<'_>, Refusal> {
    let refuse = |why: &str| {
        Err(Refusal::LoopRefused { verb: "distribute", loop_id: target, why: why.into() })
    };
    let Some(l) = kernel.find_loop(target).filter(|l| is_marked(l)) else {
        return refuse("it is not marked, or bound already");
    };
    if kernel.loops_around(target).iter().chain([&l]).any(|l| kernel.nests.contains_key(&l.id)) {
        return refuse("its nest is bound already");
    }
    let parts = parts(&l.body);
    if parts.len() < 2 {
        return refuse("nothing stands beside the loop in its body");
    }
    let body = &l.body;
    if walk::leaves(body).or(walk::continues(body)).or(walk::returns(body)).is_some() {
        return refuse("an iteration may end early");
    }
    if ![&l.first, &l.limit, &l.step].iter().all(|e| kernel.known_at_start(e)) {
        return refuse("the launcher does not know its bounds when it starts");
    }
    let (group, clauses) = independence::group_of(kernel, target);
    if !has_only_private(&clauses) {
        return refuse("its clauses carry values");
    }
    if let Some(v) = carried(&parts, l.var) {
        let name = kernel.name_of(v);
        return refuse(&format!("one part of its body uses `{name}`, which another one sets"));
    }
    match independence::check(kernel, target, &group, &clauses)?.proved() {
        true => Ok(LegalDistribute { kernel, target: l, parts }),
        false => refuse("its iterations are not proved independent"),
    }
}

/// Each loop of a body, and what stands between two of them.
fn parts(body: &Block) -> Vec<Vec<Stmt>> {
    let mut found: Vec<Vec<Stmt>> = vec![];
    let mut open = false;
    for stmt in &body.stmts {
        let looped = matches!(stmt.kind, StmtKind::For(_) | StmtKind::Loop { .. });
        match found.last_mut().filter(|_| open && !looped) {
            Some(part) => part.push(stmt.clone()),
            None => found.push(vec![stmt.clone()]),
        }
        open = !looped;
    }
    found
}

/// A variable that one part sets or declares, and another one mentions.
fn carried(parts: &[Vec<Stmt>], counter: VarId) -> Option<VarId> {
    let mut set: Vec<BTreeSet<VarId>> = vec![];
    let mut used: Vec<BTreeSet<VarId>> = vec![];
    for part in parts {
        let block = Block::new(part.clone());
        let mut own = BTreeSet::new();
        walk::each_var_of_block(&block, &mut |v| _ = own.insert(v));
        // A counter that is set by each loop that it counts carries nothing.
        let carries = |v: &VarId| {
            walk::writes_var(&block, *v)
                && (walk::for_loops(&block).iter().all(|l| l.var != *v)
                    || scalars::read_outside_its_loops(&block, *v))
        };
        set.push(own.iter().copied().filter(carries).collect());
        used.push(own);
    }
    let pairs = (0..parts.len()).flat_map(|a| (0..parts.len()).map(move |b| (a, b)));
    pairs
        .filter(|(a, b)| a != b)
        .find_map(|(a, b)| set[a].intersection(&used[b]).find(|v| **v != counter).copied())
}

/// Puts the loops over the parts in place of the one over all.
pub fn apply(legal: LegalDistribute<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(stmt) = walk::loop_stmt(&kernel.func().body, legal.target.id).cloned() else {
        return Rewritten::same_loops(kernel);
    };
    let mut loops = vec![];
    for (at, part) in legal.parts.into_iter().enumerate() {
        let mut l = ForLoop { body: Block::new(part), ..legal.target.clone() };
        if at > 0 && l.declares {
            let var = Var { ..kernel.func().var(l.var).clone() };
            let (old, new) = (l.var, kernel.func_mut().add_var(var));
            visit::rename_vars(&mut l.body, &mut |v| if v == old { new } else { v });
            l.var = new;
        }
        let comment = if at == 0 { stmt.comment.clone() } else { vec![] };
        let origin = stmt.origin.by("distribute");
        let mut looped = Block::new(vec![Stmt { kind: StmtKind::For(l), origin, comment }]);
        if at > 0 {
            let new = kernel.func_mut().fresh_loop();
            visit::rename_loops(&mut looped, &[(legal.target.id, new)]);
        }
        loops.extend(looped.stmts);
    }
    copy::replace_loop(&mut kernel, legal.target.id, loops);
    Rewritten::same_loops(kernel)
}
