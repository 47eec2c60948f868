//! The outermost loop cut into runs, which blocks along a free axis of the grid share.
//!
//! How long a run is follows from the grid, so that the kernel is right at any number of blocks along that axis, with the launch
//! that it has today, too.

use warpsmith_front::ast::{self, ExprKind, StmtKind, TypeKind};
use warpsmith_front::sema::walk;

use super::elements;
use super::find::{self, Access};
use super::outer::{self, Outer};
use super::plans::{Kernel, replaced};
use crate::source::patch::{Patch, indentation};
use crate::source::{marks, scope};

/// A kernel whose outermost loop is cut.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The file with the loop cut.
    pub text: String,
    /// The axis of the grid, 1 or 2.
    pub axis: usize,
    /// Iterations, from parameters of the kernel and constants of the file; `None`: the kernel computes them from more.
    pub count: Option<String>,
    /// The loop's counter.
    pub counter: String,
}

impl Cut {
    /// The comment that stands where the loop is cut.
    pub fn comment(&self) -> String {
        format!("// Blocks along {} share this loop, whatever their number.", AXES[self.axis])
    }
}

/// Types that a counter may have, and whether they wrap below zero.
const TYPES: [(&str, bool); 10] = [
    ("int", false),
    ("long", false),
    ("long long", false),
    ("int64_t", false),
    ("int32_t", false),
    ("ptrdiff_t", false),
    ("unsigned", true),
    ("unsigned int", true),
    ("size_t", true),
    ("uint32_t", true),
];

/// Cuts the loop that holds all stores of a kernel.
///
/// # Errors
/// Why that is not possible.
pub fn cut(kernel: &Kernel<'_>) -> Result<Cut, String> {
    let stores: Vec<&Access> = kernel.accesses.iter().filter(|a| a.stored).collect();
    let outer = Outer::around(kernel, &stores)
        .ok_or("no loop that counts up by one holds all stores of the kernel")?;
    let axis = (1..3).find(|a| !kernel.blocks[*a]).ok_or("the kernel uses all axes of the grid")?;
    apart(kernel, &stores)?;
    independent(kernel, &outer, &stores)?;
    let shifts = moved(kernel, &outer)?;
    let mut cut =
        Cut { text: String::new(), axis, count: None, counter: outer.counter.to_string() };
    (cut.text, cut.count) = written(kernel, &outer, &cut, &shifts)?;
    if let Some(short) = few(kernel, kernel.sources.text(outer.end.span)) {
        return Err(format!("`{}` goes through {short}", outer.counter));
    }
    Ok(cut)
}

/// Iterations of one block read what another one stores where host code passes parts of one array.
fn apart(kernel: &Kernel<'_>, stores: &[&Access]) -> Result<(), String> {
    match kernel.aliased.of(|name| stores.iter().any(|s| s.array == name)).next() {
        Some([a, b]) => Err(format!("the file passes parts of one array for `{a}` and `{b}`")),
        None => Ok(()),
    }
}

/// Iterations that are worth it to be shared among blocks.
const SHARED: i64 = 32;

/// A number of iterations that the compiler knows to be small, in words.
fn few(kernel: &Kernel<'_>, count: &str) -> Option<String> {
    if let Some(n) = kernel.value(count) {
        return (n < SHARED).then(|| format!("{n} iterations only"));
    }
    let names = scope::names(count);
    let fixed = |n: &String| !kernel.is_variable(n) || kernel.is_template_parameter(n);
    let few = !names.is_empty() && names.iter().all(fixed);
    few.then(|| format!("a number of iterations that its template fixes (`{count}`)"))
}

/// Iterations may run in any order: none reads what another stores.
fn independent(kernel: &Kernel<'_>, outer: &Outer<'_>, stores: &[&Access]) -> Result<(), String> {
    if !outer.is_whole() {
        return Err("control leaves the loop".into());
    }
    for store in stores {
        let array = &store.array;
        let moves = store.loops().is_some_and(|l| !l.is_empty());
        if !moves {
            return Err(format!("not every iteration stores to elements of `{array}` of its own"));
        }
        let other = |a: &&Access| a.array == *array && a.at != store.at;
        if kernel.accesses.iter().any(|a| other(&a)) {
            return Err(format!(
                "the kernel stores to several elements of `{array}`, or reads others"
            ));
        }
    }
    let tokens = marks::tokens(kernel.text);
    let range = outer.stmt.span.start as usize..outer.stmt.span.end as usize;
    let atomic = |t: &marks::Tok| {
        range.contains(&t.at.start) && kernel.text[t.at.clone()].starts_with("atomic")
    };
    if tokens.iter().any(atomic) {
        return Err("the loop has atomic operations".into());
    }
    unseen_stores(kernel)
}

/// Arrays that are not `const` may be touched by their subscripts only: through nothing else is a store hidden.
pub fn unseen_stores(kernel: &Kernel<'_>) -> Result<(), String> {
    let writable = |p: &&ast::Param| match &p.ty.kind {
        TypeKind::Pointer { to, .. } | TypeKind::Reference { to, .. } => !to.is_const,
        _ => false,
    };
    for p in kernel.function.params.iter().filter(writable) {
        let Some(array) = &p.name else { continue };
        let (mut named, mut subscripted) = (0, 0);
        walk::block(kernel.body, &mut |e| match &*e.kind {
            ExprKind::Path(path) => named += usize::from(path.as_name() == Some(array)),
            ExprKind::Index { base, .. } => {
                subscripted += usize::from(outer::name(base) == Some(array));
            }
            _ => {}
        });
        if named > subscripted {
            return Err(format!("`{array}` is used by more than subscripts"));
        }
    }
    Ok(())
}

/// A sign and a text: by how much something moves.
type Move = (char, String);

/// What an iteration hands on to the next: variables that move by the same every time.
///
/// # Errors
/// What else it hands on.
pub fn moved(kernel: &Kernel<'_>, outer: &Outer<'_>) -> Result<Vec<(String, Move)>, String> {
    let assigned = outer.assigned();
    let inner = find::names_declared(std::slice::from_ref(outer.body));
    let after = kernel.body.span.map_or(0, |s| s.end as usize);
    let after = &kernel.text[outer.stmt.span.end as usize..after.max(outer.stmt.span.end as usize)];
    let arrays: Vec<&str> = kernel.accesses.iter().map(|a| a.array.as_str()).collect();
    let mut shifts = vec![];
    let mut seen: Vec<&str> = vec![];
    for (name, _) in &assigned {
        let element = |e: &ast::Expr| {
            matches!(&*e.kind, ExprKind::Assign { target, .. } if matches!(&*target.kind, ExprKind::Index { .. }))
                || matches!(&*e.kind, ExprKind::IncDec { operand, .. } if matches!(&*operand.kind, ExprKind::Index { .. }))
        };
        let own = assigned.iter().filter(|(n, _)| n == name);
        if seen.contains(&name.as_str())
            || arrays.contains(&name.as_str()) && own.clone().all(|(_, e)| element(e))
        {
            continue;
        }
        seen.push(name);
        if scope::names(after).contains(name) {
            return Err(format!("`{name}` is used after the loop"));
        }
        let fixed = |text: &str| {
            let names = scope::names(text);
            names.iter().all(|n| {
                n != outer.counter && !inner.contains(n) && assigned.iter().all(|(a, _)| a != n)
            })
        };
        match steady(kernel, outer, name).filter(|(_, by)| own.count() == 1 && fixed(by)) {
            Some(by) => shifts.push((name.clone(), by)),
            None if is_private(kernel, outer, name) => {}
            None => return Err(format!("iterations hand `{name}` on to the next")),
        }
    }
    Ok(shifts)
}

/// By how much a variable moves in every iteration: a sign and a text.
fn steady<'a>(kernel: &Kernel<'a>, outer: &Outer<'a>, name: &str) -> Option<Move> {
    let of_body = outer.stmts().iter().filter_map(|s| match &s.kind {
        StmtKind::Expr(e) => Some(e),
        _ => None,
    });
    let text = |e: &ast::Expr| kernel.sources.text(e.span).to_string();
    of_body.chain(outer.steps.iter().copied()).find_map(|e| match &*e.kind {
        ExprKind::Assign { op, target, value } if outer::name(target) == Some(name) => {
            match (op.as_str(), &*value.kind) {
                ("+=", _) => Some(('+', text(value))),
                ("-=", _) => Some(('-', text(value))),
                ("=", ExprKind::Binary { op, left, right }) if outer::name(left) == Some(name) => {
                    let sign = op.chars().next().filter(|s| "+-".contains(*s) && op.len() == 1)?;
                    Some((sign, text(right)))
                }
                _ => None,
            }
        }
        ExprKind::IncDec { op, operand, .. } if outer::name(operand) == Some(name) => {
            Some((op.chars().next()?, "1".into()))
        }
        _ => None,
    })
}

/// Whether every iteration sets a variable before it reads it.
fn is_private(kernel: &Kernel<'_>, outer: &Outer<'_>, name: &str) -> bool {
    for s in outer.stmts() {
        let text = kernel.sources.text(s.span);
        if !scope::names(text).iter().any(|n| n == name) {
            continue;
        }
        let StmtKind::Expr(e) = &s.kind else { return false };
        return match &*e.kind {
            ExprKind::Assign { op, target, value } if op == "=" => {
                let value = kernel.sources.text(value.span);
                outer::name(target) == Some(name) && !scope::names(value).iter().any(|n| n == name)
            }
            _ => false,
        };
    }
    true
}

/// The text of the cut kernel, and how many iterations there are.
fn written(
    kernel: &Kernel<'_>,
    outer: &Outer<'_>,
    cut: &Cut,
    shifts: &[(String, Move)],
) -> Result<(String, Option<String>), String> {
    let (ty, axis) = (outer.ty.as_str(), cut.axis);
    let Some((_, wraps)) = TYPES.iter().find(|(t, _)| *t == ty) else {
        return Err(format!("the loop counts in `{ty}`"));
    };
    let counter = &outer.counter;
    let names = ["begin", "end", "run"].map(|what| format!("{counter}_{what}"));
    let used = scope::names(kernel.text);
    if let Some(taken) = names.iter().find(|n| used.contains(n)) {
        return Err(format!("the name `{taken}` is taken"));
    }
    let [begin, end, run] = &names;
    let first = kernel.sources.text(outer.first.span);
    let last = kernel.sources.text(outer.end.span);
    let changed: Vec<String> = outer.assigned().into_iter().map(|(n, _)| n).collect();
    let bounds = [scope::names(first), scope::names(last)].concat();
    if bounds.iter().any(|n| changed.contains(n) || n == counter || n.is_empty()) {
        return Err("the loop changes its own bounds".into());
    }
    let last = if outer.inclusive { format!("{} + 1", summand(last)) } else { last.to_string() };
    let from = |first: &str| match first {
        "0" => summand(&last),
        first => format!("{} - {}", summand(&last), operand(first)),
    };
    let (blocks, block) = (format!("gridDim.{}", AXES[axis]), format!("blockIdx.{}", AXES[axis]));
    let (blocks, block) = (format!("({ty}){blocks}"), format!("({ty}){block}"));
    let count = from(first);
    let rounded = format!("({count} + {blocks} - 1) / {blocks}");
    let rounded = match wraps {
        // Below zero there is nothing in a type without a sign.
        true => format!("{} > {} ? {rounded} : 0", operand(&last), operand(first)),
        false => rounded,
    };
    let at = match first {
        "0" => format!("{block} * {run}"),
        first => format!("{} + {block} * {run}", summand(first)),
    };
    let bound = match has_type(kernel, &last, ty) {
        true => last.clone(),
        false => format!("({ty}){}", operand(&last)),
    };
    let mut lines = vec![
        cut.comment(),
        format!("const {ty} {run} = {rounded};"),
        format!("const {ty} {begin} = {at}, {end} = min({bound}, {begin} + {run});"),
    ];
    for (name, (sign, by)) in shifts {
        let far =
            if first == "0" { begin.clone() } else { format!("({begin} - {})", operand(first)) };
        lines.push(match by.as_str() {
            "1" => format!("{name} {sign}= {far};"),
            by => format!("{name} {sign}= {far} * {};", operand(by)),
        });
    }
    let start = outer.start();
    let indent = indentation(kernel.text, start);
    let mut patch = Patch::default();
    let before: String = lines.iter().map(|l| format!("{l}\n{indent}")).collect();
    if outer.bare {
        patch.replace(start..start, format!("{{\n{indent}{before}"));
        let stop = outer.stmt.span.end as usize;
        patch.replace(stop..stop, format!("\n{indent}}}"));
    } else {
        patch.replace(start..start, before);
    }
    let bytes = |e: &ast::Expr| e.span.start as usize..e.span.end as usize;
    patch.replace(bytes(outer.first), begin.clone());
    patch.replace(bytes(outer.cond), format!("{counter} < {end}"));
    let text = patch.apply(kernel.text).map_err(|_| "the loop comes from a macro")?;
    Ok((text, of_parameters(kernel, &count)))
}

/// Letters of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// A text that can stand as an operand of `-` and `*`.
pub fn operand(text: &str) -> String {
    let simple = |c: char| c.is_alphanumeric() || "_.".contains(c);
    match text.chars().all(simple) {
        true => text.to_string(),
        false => format!("({text})"),
    }
}

/// A text that can stand as the first operand of a sum.
fn summand(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_. +-*".contains(c);
    match text.chars().all(plain) {
        true => text.to_string(),
        false => operand(text),
    }
}

/// Whether a sum or product is plainly of a type: its variables are.
fn has_type(kernel: &Kernel<'_>, text: &str, ty: &str) -> bool {
    let of_parameter = |n: &str| {
        let mut params = kernel.function.params.iter();
        let p = params.find(|p| p.name.as_deref() == Some(n))?;
        Some(elements::plain_type(&p.ty, kernel.sources))
    };
    let names = scope::names(text);
    let known = |n: &String| {
        of_parameter(n).or_else(|| find::declared_type(kernel.body, n, kernel.sources))
    };
    summand(text) == text
        && !names.is_empty()
        && names.iter().all(|n| known(n).as_deref() == Some(ty))
}

/// A number of the kernel in terms of what the host knows, too.
fn of_parameters(kernel: &Kernel<'_>, text: &str) -> Option<String> {
    let values = find::initialisers(kernel.body, kernel.sources);
    let assigned: Vec<String> =
        outer::assignments(&kernel.body.stmts).into_iter().map(|(n, _)| n).collect();
    let given = |n: &String| {
        let mut names = kernel.function.params.iter().filter_map(|p| p.name.as_ref());
        !kernel.is_variable(n) || names.any(|p| p == n) && !assigned.contains(n)
    };
    let special =
        |n: &String| matches!(n.as_str(), "threadIdx" | "blockIdx" | "blockDim" | "gridDim");
    let mut text = text.to_string();
    for _ in 0..4 {
        let names = scope::names(&text);
        if names.iter().any(special) {
            return None;
        }
        if names.iter().all(given) {
            return Some(text);
        }
        text = replaced(&text, &values);
    }
    None
}
