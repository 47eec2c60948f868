//! Loops along rows of memory: what threads read in several iterations in turn comes as one vector.
//!
//! Iterations stay in their order, so that sums are rounded as before. A thread that goes along a row of its own reads whole sectors
//! at once in the place of one element of each.

use warpsmith_front::ast::{self, StmtKind};

use super::forms::{Along, Forms};
use super::lanes::Lanes;
use super::{BYTES, region, vector_of};
use crate::auto::elements;
use crate::auto::outer::Outer;
use crate::auto::plans::{Kernel, Plan};
use crate::source::patch::{Patch, indentation};
use crate::source::scope;

/// Iterations of loops in launches that are checked, in addition to usual ones: some vectors, and some with a rest.
pub const DEPTHS: [i64; 2] = [8, 13];

/// Plans for the innermost loops of a kernel in which threads go along rows.
pub fn plans(kernel: &Kernel<'_>) -> Vec<Plan> {
    let mut loops = vec![];
    innermost(&kernel.body.stmts, &mut loops);
    loops.into_iter().filter_map(|s| plan(kernel, s)).collect()
}

/// Loops that hold no others.
pub fn innermost<'a>(stmts: &'a [ast::Stmt], all: &mut Vec<&'a ast::Stmt>) {
    for s in stmts {
        let bodies: Vec<&ast::Stmt> = match &s.kind {
            StmtKind::For { body, .. } => vec![body],
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => vec![body],
            StmtKind::If { then, otherwise, .. } => {
                std::iter::once(&**then).chain(otherwise.as_deref()).collect()
            }
            StmtKind::Block(b) => {
                innermost(&b.stmts, all);
                continue;
            }
            _ => continue,
        };
        let before = all.len();
        bodies.into_iter().for_each(|b| innermost(std::slice::from_ref(b), all));
        if matches!(s.kind, StmtKind::For { .. }) && all.len() == before {
            all.push(s);
        }
    }
}

fn plan(kernel: &Kernel<'_>, stmt: &ast::Stmt) -> Option<Plan> {
    let outer = Outer::new(kernel, stmt, false)?;
    let suits = outer.declared && outer.steps.is_empty() && stmt.pragmas.is_empty();
    if !suits || !outer.is_whole() || stmt.span.file.0 != 0 {
        return None;
    }
    let inside = |at: usize| (stmt.span.start as usize..stmt.span.end as usize).contains(&at);
    let mut arrays: Vec<&str> = vec![];
    for a in kernel.accesses.iter().filter(|a| !a.stored && inside(a.whole.start)) {
        if !arrays.contains(&a.array.as_str()) {
            arrays.push(&a.array);
        }
    }
    arrays.iter().find_map(|array| {
        let element = elements::plain_element(kernel.function, array, kernel.unit, kernel.sources)?;
        let (_, count) = vector_of(&element)?;
        written(kernel, &outer, &element, count)
    })
}

fn written(kernel: &Kernel<'_>, outer: &Outer<'_>, element: &str, lanes: i64) -> Option<Plan> {
    let along = Along::Counter(outer.counter.to_string());
    let mut forms = Forms::new(kernel, along, lanes);
    let first = forms.poly(outer.first)?;
    (first.only_number()? % lanes == 0).then_some(())?;
    let bounds = [kernel.sources.text(outer.first.span), kernel.sources.text(outer.end.span)];
    let region = region::of_loop(kernel, &mut forms, outer.stmts()).ok()?;
    let changes = |n: &String| region.handed.contains(n) || region.declared.contains(n);
    if scope::names(&bounds.concat()).iter().any(changes) {
        return None;
    }
    let lanes = Lanes::new(kernel, &forms, &region, element).ok()?;
    // Where neighbours read neighbours, rows of threads read rows already.
    let arrays = lanes.read_arrays();
    let apart = kernel.accesses.iter().any(|a| {
        let far = a.strides().is_some_and(|[x, _]| x.abs() > 1);
        !a.stored && far && arrays.contains(&a.array) && lanes.is_vector(a)
    });
    apart.then_some(())?;
    let mut patch = Patch::default();
    let at = outer.stmt.span.start as usize..outer.stmt.span.end as usize;
    patch.replace(at, in_vectors(kernel, outer, &lanes)?);
    let text = patch.apply(kernel.text).ok()?;
    let list: Vec<String> = arrays.iter().map(|a| format!("`{a}`")).collect();
    let name = format!("rows of {} {} at a time", list.join(" and "), lanes.count);
    Some(Plan { name, text, in_vectors: true, ..Plan::default() })
}

/// The loop in vectors, and what is left of it one by one.
fn in_vectors(kernel: &Kernel<'_>, outer: &Outer<'_>, lanes: &Lanes<'_>) -> Option<String> {
    let indent = indentation(kernel.text, outer.stmt.span.start as usize);
    let text = |e: &ast::Expr| kernel.sources.text(e.span);
    let (counter, count) = (outer.counter, lanes.count);
    let mut conditions: Vec<String> =
        lanes.multiples.iter().map(|n| format!("{n} % {count} == 0")).collect();
    conditions.extend(lanes.arrays().iter().map(|a| format!("(size_t){a} % {BYTES} == 0")));
    let deepest = format!("{indent}            ");
    let body = lanes.as_vectors(&[], &deepest).ok()?;
    let less = if outer.inclusive { "<=" } else { "<" };
    let last = format!("{counter} + {} {less} {}", count - 1, text(outer.end));
    let own = &kernel.text[outer.body.span.start as usize..outer.body.span.end as usize];
    let own = own.replace('\n', "\n    ");
    Some(format!(
        "{{\n{indent}    {} {counter} = {};\n{indent}    // Elements of a row come as vectors, where rows and addresses suit them.\n{indent}    if ({}) {{\n{indent}        for (; {last}; {counter} += {count}) {{\n{deepest}{body}\n{indent}        }}\n{indent}    }}\n{indent}    for (; {}; {counter}++) {own}\n{indent}}}",
        outer.ty,
        text(outer.first),
        conditions.join(" && "),
        text(outer.cond),
    ))
}
