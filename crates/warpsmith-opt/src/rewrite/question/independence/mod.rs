//! What a mark promises, checked: the iterations of a loop are independent.

mod answers;
mod flags;
mod private;
mod reduced;
mod unmarked;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    Diagnostic, ForLoop, LoopId, LoopKind, Parallel, Severity, SourceMap, Stmt, VarId,
};

use crate::analysis::access::{Access, AccessKind, Base, Scope};
use crate::analysis::conflict::requirement;
use crate::analysis::dependence::{Conflict, Doubt, Report};
use crate::analysis::{atomics, contributions, dependence, scalars};
use crate::kernel::{Kernel, is_marked};
use crate::refusal::{CarriedDependence, End, Refusal, UndecidedMark};
use crate::requirement::Requirement;
use crate::walk;

pub use flags::allow as allow_flags;
pub(in crate::rewrite) use unmarked::proved_with;
pub use unmarked::{mark_proved, provably_parallel, suggestions};

/// What checking a loop brought to light besides the verdict.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Reasons why independence is taken on trust.
    pub unproved: Vec<String>,
    /// What the sizes must satisfy beyond what is known already.
    pub requires: Vec<Requirement>,
    /// What the user is told.
    pub warnings: Vec<Diagnostic>,
}

impl Findings {
    /// Whether independence follows from the text, for all sizes.
    pub fn proved(&self) -> bool {
        self.unproved.is_empty() && self.requires.is_empty()
    }
}

/// Checks that the iterations of a loop are independent, given the clauses of the marks of its group.
///
/// A conflict of two accesses is a refusal, unless a condition on the sizes that the launcher can check excludes it.
/// What data decide is the user's word; what sizes and counters decide, but not this analysis, is so only under
/// `#pragma ws independent`. Both are reported in the findings.
///
/// # Errors
/// [`Refusal::Carried`], [`Refusal::Undecided`], [`Refusal::SharedVariable`], [`Refusal::Misused`],
/// [`Refusal::LeavesLoop`].
pub fn check(
    kernel: &Kernel,
    id: LoopId,
    group: &[LoopId],
    clauses: &Parallel,
) -> Result<Findings, Refusal> {
    answers::answer(kernel, id, group, clauses, || ask(kernel, id, group, clauses))
}

fn ask(
    kernel: &Kernel,
    id: LoopId,
    group: &[LoopId],
    clauses: &Parallel,
) -> Result<Findings, Refusal> {
    let Some(l) = kernel.find_loop(id) else { return Ok(Findings::default()) };
    if let Some(stmt) = walk::leaves(&l.body) {
        return Err(Refusal::LeavesLoop { loop_id: id, at: stmt.origin.clone() });
    }
    let mut findings = Findings::default();
    check_scalars(kernel, l, group, clauses, &mut findings)?;
    check_reductions(kernel, l, clauses)?;
    let (scope, mut report, accesses) = analyse(kernel, l, clauses);
    let own = own(kernel, l, clauses);
    let private = |base: Base| matches!(base, Base::Var(v) if own.contains(&v));
    if let Some(mixed) = atomics::mixed(&scope, &accesses, &private) {
        return Err(Refusal::MixedUpdates {
            loop_id: id,
            name: scope.base_name(mixed.base),
            mixed: Box::new(mixed),
        });
    }
    let conflicts = report.conflicts.iter().map(|c| (c.first, c.second));
    let doubts = report.unknown.iter().map(|d| (d.first, d.second));
    let pairs: Vec<(usize, usize)> = conflicts.chain(doubts).collect();
    if !pairs.is_empty()
        && let Some(found) = requirement::derive(kernel, &scope, &accesses, &pairs)
    {
        // Of doubts that read alike the report has the first only.
        let required = kernel.requires.iter().chain(&found).map(Requirement::slack);
        let again = dependence::analyse(&scope, &accesses, &private, &required.collect::<Vec<_>>());
        if again.conflicts.is_empty() && again.unknown.is_empty() {
            report = again;
            findings.requires = found;
        }
    }
    if let Some(conflict) = report.conflicts.first() {
        return Err(Refusal::Carried(Box::new(describe(
            kernel, &scope, &accesses, conflict, clauses,
        ))));
    }
    let own = matches!(&l.kind, LoopKind::Parallel(p) if p.independent);
    if let Some(doubt) = report.unknown.first()
        && !own
    {
        return Err(Refusal::Undecided(Box::new(undecided(
            kernel, &scope, &accesses, doubt, clauses,
        ))));
    }
    let trusted = report.by_data.iter().map(|d| (d, ""));
    let asserted = report.unknown.iter().map(|d| (d, ", as `ws independent` says"));
    for (doubt, by) in trusted.chain(asserted) {
        findings.unproved.push(format!("{}{by}", doubt.reason));
    }
    Ok(findings)
}

/// Iterations only contribute to the variables that the clauses reduce.
fn check_reductions(kernel: &Kernel, l: &ForLoop, clauses: &Parallel) -> Result<(), Refusal> {
    let own: Vec<VarId> = clauses.private.iter().chain(&clauses.first_private).copied().collect();
    for reduction in &clauses.reductions {
        let found = contributions::misuse(&kernel.module, kernel.func(), l, reduction, &own);
        if let Some(found) = found {
            let reduction = reduction.clone();
            return Err(Refusal::Misused { loop_id: l.id, reduction, found: Box::new(found) });
        }
    }
    Ok(())
}

/// The two accesses of a doubt, as messages show them.
fn undecided(
    kernel: &Kernel,
    scope: &Scope<'_>,
    accesses: &[Access<'_>],
    doubt: &Doubt,
    clauses: &Parallel,
) -> UndecidedMark {
    let end = |at: usize| {
        let a = &accesses[at];
        End {
            span: a.origin.span,
            writes: a.kind != AccessKind::Read,
            iteration: vec![],
            text: a.place.map_or_else(|| scope.base_name(a.base), |p| kernel.show_place(p)),
        }
    };
    UndecidedMark {
        loop_id: scope.root.id,
        array: scope.base_name(accesses[doubt.first].base),
        first: end(doubt.first),
        second: end(doubt.second),
        mark: clauses.origin.span,
        reason: doubt.reason.clone(),
    }
}

/// The accesses of a loop and what is known about its iterations.
pub fn analyse<'k>(
    kernel: &'k Kernel,
    l: &'k ForLoop,
    clauses: &Parallel,
) -> (Scope<'k>, Report, Vec<Access<'k>>) {
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(l.id), l);
    let accesses = scope.accesses();
    let own = own(kernel, l, clauses);
    let private = |base: Base| matches!(base, Base::Var(v) if own.contains(&v));
    let known: Vec<Poly> = kernel.requires.iter().map(Requirement::slack).collect();
    let report = dependence::analyse(&scope, &accesses, &private, &known);
    (scope, report, accesses)
}

/// Objects that each iteration has for itself.
fn own(kernel: &Kernel, l: &ForLoop, clauses: &Parallel) -> Vec<VarId> {
    let mut own: Vec<VarId> = clauses.reductions.iter().map(|r| r.var).collect();
    own.extend(&clauses.private);
    own.extend(&clauses.first_private);
    own.extend(&clauses.last_private);
    if let LoopKind::Parallel(of_loop) = &l.kind {
        own.extend(&of_loop.apart);
    }
    walk::each_stmt(&l.body, &mut |stmt| {
        if let warpsmith_ir::StmtKind::Decl { var, .. } = &stmt.kind
            && !kernel.func().var(*var).ty.is_pointer()
        {
            own.push(*var);
        }
    });
    own
}

fn check_scalars(
    kernel: &Kernel,
    l: &ForLoop,
    group: &[LoopId],
    clauses: &Parallel,
    findings: &mut Findings,
) -> Result<(), Refusal> {
    let mut own: Vec<VarId> = clauses.reductions.iter().map(|r| r.var).collect();
    own.extend(clauses.private.iter().chain(&clauses.first_private).chain(&clauses.last_private));
    own.extend(group.iter().filter_map(|id| kernel.find_loop(*id)).map(|l| l.var));
    for shared in scalars::shared_variables(kernel.func(), l) {
        if own.contains(&shared.var) {
            continue;
        }
        if !shared.counter_only {
            return Err(Refusal::SharedVariable { loop_id: l.id, shared: Box::new(shared) });
        }
        let name = kernel.name_of(shared.var);
        let message = format!(
            "the counter `{name}` is shared by the iterations of the marked loop `{}`",
            kernel.loop_name(l.id)
        );
        let mut warning = Diagnostic::warning("W251", message);
        if let Some(span) = shared.write.span {
            warning = warning.label(span, "every iteration runs this loop with the same variable");
        }
        findings.warnings.push(
            warning
                .note(
                    "here every thread gets its own; a compiler with OpenMP would make this a race",
                )
                .help(format!(
                    "add `private({name})` or declare it in the loop: `for (int {name} = …`"
                )),
        );
    }
    Ok(())
}

/// The conflict in terms of the user's source.
pub fn describe(
    kernel: &Kernel,
    scope: &Scope<'_>,
    accesses: &[Access<'_>],
    conflict: &Conflict,
    clauses: &Parallel,
) -> CarriedDependence {
    let end = |at: usize, iteration: &[(VarId, i128)]| {
        let access = &accesses[at];
        let inner = iteration.iter().skip(scope.outer.len());
        End {
            span: access.origin.span,
            writes: access.kind != AccessKind::Read,
            iteration: inner.map(|(v, x)| (kernel.name_of(*v).to_string(), *x)).collect(),
            text: access
                .place
                .map_or_else(|| scope.base_name(access.base), |p| kernel.show_place(p)),
        }
    };
    let (a, b) = (&accesses[conflict.first], &accesses[conflict.second]);
    let mut first = end(conflict.first, &conflict.example.first);
    let mut second = end(conflict.second, &conflict.example.second);
    // The earlier iteration comes first, as in the serial loop; of a pair of reads and writes in one statement the
    // write is the more telling end.
    let position = scope.outer.len();
    let x = |i: &[(VarId, i128)]| i.get(position).map_or(0, |x| x.1);
    let backwards = scope.step(scope.root).is_some_and(|s| s < 0);
    if (x(&conflict.example.first) > x(&conflict.example.second)) != backwards {
        std::mem::swap(&mut first, &mut second);
    }
    let same_place = a.place.is_some() && a.place == b.place;
    CarriedDependence {
        loop_id: scope.root.id,
        array: scope.base_name(a.base),
        first,
        second,
        mark: clauses.origin.span,
        sizes: conflict
            .example
            .sizes
            .iter()
            .map(|(v, x)| (kernel.name_of(*v).to_string(), *x))
            .collect(),
        element: conflict.example.element.clone(),
        accumulates: same_place && a.kind != b.kind,
    }
}

/// Checks all marks of the function, also of loops that will run inside a thread.
///
/// # Errors
/// One refusal for each wrongly marked loop.
pub fn check_marks(kernel: &Kernel) -> Result<(), Vec<Refusal>> {
    let mut refusals = vec![];
    let loops = walk::for_loops(&kernel.func().body);
    for l in loops.into_iter().filter(|l| is_marked(l)) {
        let (group, clauses) = group_of(kernel, l.id);
        refusals.extend(check(kernel, l.id, &group, &clauses).err());
    }
    match refusals.is_empty() {
        true => Ok(()),
        false => Err(refusals),
    }
}

/// The conditions on the sizes under which all marks of the function are right, as far as they are; [`check_marks`] says
/// which are wrong under any.
pub fn requirements(kernel: &Kernel) -> Vec<Requirement> {
    let mut known = kernel.clone();
    for l in walk::for_loops(&kernel.func().body).into_iter().filter(|l| is_marked(l)) {
        let (group, clauses) = group_of(kernel, l.id);
        if let Ok(found) = check(&known, l.id, &group, &clauses) {
            known.requires.extend(found.requires);
        }
    }
    known.requires
}

/// The loops of the perfect marked nest a loop belongs to, with their clauses together.
pub fn group_of(kernel: &Kernel, id: LoopId) -> (Vec<LoopId>, Parallel) {
    let mut root = id;
    for around in kernel.loops_around(id).into_iter().rev() {
        let group = kernel.perfect_group(around.id);
        if !is_marked(around) || !group.iter().any(|l| l.id == id) {
            break;
        }
        root = around.id;
    }
    let group = kernel.perfect_group(root);
    let clauses = kernel.clauses(&group);
    (group.iter().map(|l| l.id).collect(), clauses)
}

/// The line of a loop, for assumptions.
pub fn line_of(kernel: &Kernel, id: LoopId, sources: &SourceMap) -> String {
    let stmt = walk::loop_stmt(&kernel.func().body, id);
    let span = stmt.and_then(|s| s.origin.span);
    match span.map(|s| sources.line_column(s.file, s.start)) {
        Some((line, _)) if line > 0 => format!("line {line}"),
        _ => format!("counter `{}`", kernel.find_loop(id).map_or("?", |l| kernel.name_of(l.var))),
    }
}

/// A note about a loop.
fn about(
    kernel: &Kernel,
    l: &ForLoop,
    stmt: &Stmt,
    (code, says): (&'static str, &str),
    label: &str,
) -> Diagnostic {
    let message = format!("loop `{}` {says}", kernel.loop_name(l.id));
    let d = Diagnostic::new(Severity::Note, code, message);
    match l.first.origin.span.or(stmt.origin.span) {
        Some(span) => d.label(span, label),
        None => d,
    }
}
