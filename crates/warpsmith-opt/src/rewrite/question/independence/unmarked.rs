//! Loops without a mark whose iterations are independent all the same.

use warpsmith_ir::typing::Env;
use warpsmith_ir::{
    Block, Diagnostic, ForLoop, FuncId, Function, LoopId, LoopKind, Module, Parallel, Stmt,
    StmtKind, VarId,
};

use super::private::is_of_each_iteration;
use super::reduced::{Reduced, reduced};
use super::{about, analyse};
use crate::analysis::access::AccessKind;
use crate::analysis::scalars;
use crate::build::trips;
use crate::kernel::{Kernel, is_marked, only_loop};
use crate::refusal::clause_name;
use crate::walk;

/// Unmarked loops that are provably parallel, the outermost ones, as notes to the user.
pub fn suggestions(kernel: &Kernel) -> Vec<Diagnostic> {
    let mut notes = vec![];
    let mut note = |l: &ForLoop, stmt: &Stmt| {
        let is_parallel = provably_parallel(kernel, l);
        if is_parallel {
            let message = "is not marked, but its iterations are independent";
            let d = about(kernel, l, stmt, ("W250", message), "this loop could run in parallel");
            notes.push(d.help("write `#pragma omp parallel for` before it"));
        }
        is_parallel
    };
    each_unmarked(&kernel.func().body, &mut note);
    notes
}

/// Marks loops that stand neither in a marked one nor around one: of those that are provably parallel the outermost ones, with
/// what is nested in them perfectly. Variables that each iteration sets before it reads them become private; what iterations
/// combine by one operation is reduced. Returns a note for each nest.
pub fn mark_proved(module: &mut Module, function: FuncId) -> Vec<Diagnostic> {
    let kernel = Kernel::new(module.clone(), function);
    let (mut marks, mut updates, mut notes) = (vec![], vec![], vec![]);
    let mut mark = |l: &ForLoop, stmt: &Stmt| {
        if walk::for_loops(&l.body).into_iter().any(is_marked) || is_short(&kernel, l) {
            return false;
        }
        let nest = proved_nest(&kernel, l);
        if nest.is_empty()
            && let Some(found) = reduced(&kernel, l, l)
        {
            notes.push(combined_note(&kernel, (l, stmt), &found));
            marks.extend(combining_nest(&kernel, l, &found));
            updates.push((l.id, found));
            return true;
        }
        if let Some((_, outermost)) = nest.first() {
            let message = "is not marked; its iterations are independent, and it runs in parallel";
            let d = about(&kernel, l, stmt, ("W253", message), "taken as marked");
            let arrays =
                kernel.func().params.iter().filter(|p| kernel.func().var(**p).ty.is_pointer());
            let d = match arrays.count() {
                0 | 1 => d,
                _ => d.note("as everywhere here, arrays that are passed do not overlap"),
            };
            notes.push(d.help(format!("mark it to say so: `{}`", pragma(&kernel, l, outermost))));
        }
        let is_proved = !nest.is_empty();
        marks.extend(nest);
        is_proved
    };
    each_unmarked(&kernel.func().body, &mut mark);
    let env = Env { module: &kernel.module, vars: &kernel.func().vars };
    let body = &mut module.functions[function.0 as usize].body;
    for (id, found) in updates {
        walk::with_loop(body, id, &mut |stmt| {
            if let StmtKind::For(l) = &mut stmt.kind {
                found.make_atomic(&env, &mut l.body);
            }
        });
    }
    for (id, clauses) in marks {
        walk::with_loop(body, id, &mut |stmt| {
            if let StmtKind::For(l) = &mut stmt.kind {
                l.kind = LoopKind::Parallel(clauses.clone());
            }
        });
    }
    notes
}

/// Iterations that one thread has done before a kernel for them has begun.
const FEW: u64 = 64;

/// Whether a loop inside of a serial one has few iterations whatever the sizes are, as over the taps of a recursive filter: each iteration of
/// the other one would launch a kernel for them.
fn is_short(kernel: &Kernel, l: &ForLoop) -> bool {
    let all = walk::for_loops(&l.body).into_iter().chain([l]);
    let count = |l: &ForLoop| trips::constant_count(kernel.func(), l);
    let iterations = all.map(count).try_fold(1, |all: u64, n| Some(all.saturating_mul(n?)));
    !kernel.loops_around(l.id).is_empty() && iterations.is_some_and(|n| n <= FEW)
}

/// Calls `f` for each loop without a mark, the outer ones first; what is inside a loop that `f` answers for is left out.
fn each_unmarked(block: &Block, f: &mut dyn FnMut(&ForLoop, &Stmt) -> bool) {
    for stmt in &block.stmts {
        if let StmtKind::For(l) = &stmt.kind
            && (is_marked(l) || f(l, stmt))
        {
            continue;
        }
        walk::blocks(stmt).into_iter().for_each(|b| each_unmarked(b, f));
    }
}

/// The loop and those nested in it perfectly, as many as are provably parallel from outside in.
fn proved_nest(kernel: &Kernel, outermost: &ForLoop) -> Vec<(LoopId, Parallel)> {
    let mut nest = vec![];
    let mut at = Some(outermost);
    // What is to be unrolled is to run inside of a thread.
    while let Some(l) = at.filter(|l| matches!(l.kind, LoopKind::Serial)) {
        let Some(clauses) = proved_with(kernel, l) else { break };
        nest.push((l.id, clauses));
        at = only_loop(&l.body);
    }
    nest
}

/// A loop that combines something and those nested in it perfectly that combine nothing else.
fn combining_nest(
    kernel: &Kernel,
    outermost: &ForLoop,
    found: &Reduced,
) -> Vec<(LoopId, Parallel)> {
    let mut nest = vec![(outermost.id, found.clauses.clone())];
    let mut at = only_loop(&outermost.body);
    while let Some(l) = at.filter(|l| matches!(l.kind, LoopKind::Serial)) {
        // What is updated by iterations of the inner loop alone is a variable of the outer one's thread.
        let inner = reduced(kernel, l, outermost).filter(|inner| inner.is_within(found));
        let Some(inner) = inner else { break };
        nest.push((l.id, inner.clauses));
        at = only_loop(&l.body);
    }
    nest
}

/// Whether the independence of a loop's iterations follows from the text alone.
pub fn provably_parallel(kernel: &Kernel, l: &ForLoop) -> bool {
    proved_with(kernel, l).is_some_and(|clauses| clauses.private.is_empty())
}

/// The clauses under which independence follows from the text: variables that become private.
pub(in crate::rewrite) fn proved_with(kernel: &Kernel, l: &ForLoop) -> Option<Parallel> {
    let function = kernel.func();
    if walk::leaves(&l.body).is_some() || scalars::read_outside_its_loops(&function.body, l.var) {
        return None;
    }
    let mut opaque = false;
    walk::each_stmt(&l.body, &mut |s| opaque |= matches!(s.kind, StmtKind::Printf { .. }));
    let mut clauses = Parallel::default();
    for shared in scalars::shared_variables(function, l) {
        if !shared.counter_only && !is_of_each_iteration(function, l, shared.var) {
            return None;
        }
        clauses.private.push(shared.var);
    }
    let (_, report, accesses) = analyse(kernel, l, &clauses);
    let writes = accesses.iter().any(|a| a.kind == AccessKind::Write);
    (!opaque && report.proved() && writes).then_some(clauses)
}

/// What the user is told of a loop that combines something.
fn combined_note(kernel: &Kernel, (l, stmt): (&ForLoop, &Stmt), found: &Reduced) -> Diagnostic {
    let names: Vec<String> = found.vars().map(|v| format!("`{}`", kernel.name_of(v))).collect();
    let message = format!(
        "is not marked; its iterations are independent but for what they combine in {}, and it runs in parallel",
        names.join(", ")
    );
    let d = about(kernel, l, stmt, ("W254", &message), "taken as marked");
    let d = match found.rounds(kernel.func()) {
        true => d.note("sums of reals are added up in another order than in the C function"),
        false => d,
    };
    let mark = pragma(kernel, l, &found.clauses);
    let atomic = [
        (!found.arrays.is_empty()).then_some("`#pragma omp atomic` before the updates"),
        (!found.flags.is_empty()).then_some("`#pragma omp atomic write` before the stores"),
    ];
    let atomic: Vec<&str> = atomic.into_iter().flatten().collect();
    d.help(match atomic.is_empty() {
        true => format!("mark it to say so: `{mark}`"),
        false => format!("mark it to say so: `{mark}`, with {}", atomic.join(" and ")),
    })
}

/// The mark that says what was found, as a compiler with OpenMP wants it.
fn pragma(kernel: &Kernel, outermost: &ForLoop, clauses: &Parallel) -> String {
    let function = kernel.func();
    let mut names: Vec<&str> = vec![];
    for l in walk::for_loops(&outermost.body) {
        let name = kernel.name_of(l.var);
        if is_declared_outside(function, name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names.extend(clauses.private.iter().map(|v| kernel.name_of(*v)));
    let mut mark = "#pragma omp parallel for".to_string();
    if !names.is_empty() {
        mark += &format!(" private({})", names.join(", "));
    }
    for r in &clauses.reductions {
        let one = if function.var(r.var).ty.is_pointer() { "[:1]" } else { "" };
        mark += &format!(" reduction({}: {}{one})", clause_name(r.op), kernel.name_of(r.var));
    }
    mark
}

/// Whether the counters of that name were one variable, of which each loop has got its own: nothing mentions it any more.
fn is_declared_outside(function: &Function, name: &str) -> bool {
    let mut named = (0..).map(VarId).zip(&function.vars).filter(|(_, v)| v.name == name);
    named.any(|(var, _)| walk::times_mentioned(&function.body, var) == 0)
}
