//! Which elements of arrays the loops over a row have in common, and which of them read or write each.

use std::collections::BTreeSet;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Access};
use warpsmith_ir::{
    Block, ExprKind, ForLoop, LoopId, Place, PlaceKind, Scalar, Stmt, StmtKind, VarId,
};

use crate::analysis::access::{Base, Scope, base_of};
use crate::analysis::appends;
use crate::kernel::{Kernel, is_marked};
use crate::rewrite::edit::runs::always_in_block;
use crate::rewrite::keep_rows::{earliest, left_out};
use crate::walk;

/// Elements side by side of which each iteration of a loop over a row accesses its own.
#[derive(Clone, Debug)]
pub(in crate::rewrite) struct Row {
    pub array: VarId,
    pub element: Scalar,
    /// The number of the element without the counter.
    pub rest: Poly,
    /// Later iterations have earlier elements.
    pub back: bool,
    /// The first and the last loop that accesses it.
    pub first: usize,
    pub last: usize,
    /// Its elements are there before the first loop.
    pub loaded: bool,
    /// The last loop that writes it.
    pub stored: Option<usize>,
}

impl Row {
    /// More than one loop accesses it.
    pub fn is_held(&self) -> bool {
        self.first < self.last
    }

    /// Whether these are its elements, of its array.
    pub(in crate::rewrite) fn is_at(&self, rest: &Poly, back: bool) -> bool {
        self.back == back && self.rest == *rest
    }
}

/// An access of a loop over a row to an element of its own.
struct Event {
    at: usize,
    array: VarId,
    element: Scalar,
    rest: Poly,
    back: bool,
    write: bool,
    /// Every iteration makes it, and there is one for each element of the row.
    always: bool,
    /// Every iteration makes it.
    reached: bool,
}

/// The rows that loops beside each other in a body access; `wait` says after which of them the threads of a row wait for
/// each other.
///
/// # Errors
/// Why they cannot be kept.
pub(super) fn rows(
    kernel: &Kernel,
    root: LoopId,
    body: &Block,
    loops: &[&ForLoop],
    wait: &dyn Fn(usize) -> bool,
) -> Result<Vec<Row>, String> {
    let rows = accessed(kernel, root, body, loops, wait)?;
    match rows.iter().any(Row::is_held) {
        true => Ok(rows),
        false => Err("no two loops in it access the same elements, counted by the loops".into()),
    }
}

/// The elements that iterations of loops beside each other in a body have for themselves.
///
/// # Errors
/// Why threads cannot have them.
pub(in crate::rewrite) fn accessed(
    kernel: &Kernel,
    root: LoopId,
    body: &Block,
    loops: &[&ForLoop],
    wait: &dyn Fn(usize) -> bool,
) -> Result<Vec<Row>, String> {
    let Some(l) = kernel.find_loop(root) else { return Err("it is gone".into()) };
    check_statements(body)?;
    let scope = Scope::new(&kernel.module, kernel.func(), kernel.loops_around(root), l);
    let mut events = vec![];
    let range = earliest(loops);
    for (at, l) in loops.iter().enumerate() {
        let whole = range.is_some_and(|range| left_out(range, l) == Some(0));
        events.extend(events_of(&scope, (at, whole), l));
    }
    let written = written_arrays(loops.iter().map(|l| &l.body));
    only_read_early(&mut events, &written);
    let apart = |p: &Place| is_apart(&scope, range, &events, p);
    let own = |p: &Place| loops.iter().any(|l| own_element(&scope, p, l.var).is_some());
    check_elsewhere(kernel, body, loops, (&written, wait), (&apart, &own))?;
    // What is read before anything of it is written stays as it is.
    let body = &Block::new(body.stmts[early(body, loops, &written, wait)..].to_vec());
    let mut rows: Vec<Row> = vec![];
    for event in &events {
        let known = rows.iter().any(|r| r.array == event.array && r.is_at(&event.rest, event.back));
        if !known {
            let of: Vec<&Event> = events.iter().filter(|e| e.array == event.array).collect();
            let mentioned = mentions(body, loops, event.array, &apart);
            let written = written.contains(&event.array).then_some(mentioned);
            rows.extend(row_of(kernel, event, &of, written)?);
        }
    }
    let appended = loops.iter().flat_map(|l| appends::appended(kernel.func(), l)).collect();
    let mut of_rows = written.difference(&appended);
    let unknown = of_rows.find(|v| rows.iter().all(|r| r.array != **v));
    match unknown {
        Some(array) => Err(elsewhere(kernel, *array)),
        None => Ok(rows),
    }
}

fn elsewhere(kernel: &Kernel, array: VarId) -> String {
    format!("its loops write `{}`, which is accessed at more than one place", kernel.name_of(array))
}

/// How often a body mentions an array, but for elements outside of the loops that are in no row.
fn mentions(
    body: &Block,
    loops: &[&ForLoop],
    array: VarId,
    apart: &dyn Fn(&Place) -> bool,
) -> usize {
    let mut mentioned = 0;
    for stmt in &body.stmts {
        let inside = is_row_loop(stmt, loops);
        visit::for_each_place(&Block::new(vec![stmt.clone()]), &mut |p, _| {
            let of_array = p.root_var().is_none() && base_of(p) == Base::Var(array);
            mentioned += usize::from(of_array && (inside || !apart(p)));
        });
    }
    mentioned
}

/// Whether a place is an element ahead of all that rows of its array have, in the direction of each.
fn is_apart(scope: &Scope<'_>, range: Option<&ForLoop>, events: &[Event], place: &Place) -> bool {
    let first = range.and_then(|l| Poly::from_expr(&l.first));
    let (Some((array, at)), Some(first)) = (flat_index(scope, place), first) else { return false };
    let mut of_array = events.iter().filter(|e| e.array == array).peekable();
    let ahead = |e: &Event| {
        let distance = match e.back {
            true => e.rest.sub(&first).and_then(|begin| at.sub(&begin)),
            false => e.rest.add(&first).and_then(|begin| begin.sub(&at)),
        };
        distance.and_then(|d| d.as_constant()).is_some_and(|n| n > 0)
    };
    of_array.peek().is_some() && of_array.all(ahead)
}

/// The row of an access; `None` where only some iterations access it. `written`: how often the body mentions the array, where its
/// loops write it.
fn row_of(
    kernel: &Kernel,
    event: &Event,
    of_array: &[&Event],
    written: Option<usize>,
) -> Result<Option<Row>, String> {
    let same = of_array.iter().filter(|e| e.rest == event.rest && e.back == event.back);
    let same: Vec<&&Event> = same.collect();
    let row = |first, loaded, stored| Row {
        array: event.array,
        element: event.element,
        rest: event.rest.clone(),
        back: event.back,
        first,
        last: same.last().map_or(first, |e| e.at),
        loaded,
        stored,
    };
    let Some(mentioned) = written else {
        let first = same.iter().find(|e| e.always).map(|e| e.at);
        return Ok(first.map(|first| row(first, true, None)));
    };
    if same.len() != mentioned {
        return Err(elsewhere(kernel, event.array));
    }
    // What every iteration writes is its own in memory, too, and there to be read before.
    let reached = same.iter().any(|e| e.reached && e.at == event.at);
    if !reached || !same.iter().any(|e| e.always && e.write) {
        let name = kernel.name_of(event.array);
        return Err(format!("not every iteration of its loops writes its element of `{name}`"));
    }
    let stored = same.iter().filter(|e| e.write).map(|e| e.at).max();
    Ok(Some(row(event.at, !(event.write && event.always), stored)))
}

/// How many statements of the body come before the last loop after which the threads wait for each other and until which
/// nothing is written of what the loops write: what they read there has its old value for all threads.
fn early(
    body: &Block,
    loops: &[&ForLoop],
    written: &BTreeSet<VarId>,
    wait: &dyn Fn(usize) -> bool,
) -> usize {
    let mut found = 0;
    for (k, stmt) in body.stmts.iter().enumerate() {
        let own = written_arrays([&Block::new(vec![stmt.clone()])].into_iter());
        if own.iter().any(|v| written.contains(v)) {
            break;
        }
        let of_row = |l: &ForLoop| loops.iter().position(|o| o.id == l.id);
        if matches!(&stmt.kind, StmtKind::For(l) if of_row(l).is_some_and(wait)) {
            found = k;
        }
    }
    found
}

/// The loop after which the threads of a block wait, because something outside of the loops reads before what they write
/// later.
pub(super) fn ordered_after(
    body: &Block,
    loops: &[&ForLoop],
    wait: &dyn Fn(usize) -> bool,
) -> Option<usize> {
    let written = written_arrays(loops.iter().map(|l| &l.body));
    let early = early(body, loops, &written, wait);
    let mut read = false;
    for stmt in body.stmts.iter().take(early).filter(|s| !is_row_loop(s, loops)) {
        visit::for_each_place(&Block::new(vec![stmt.clone()]), &mut |p, _| {
            let of = matches!(base_of(p), Base::Var(v) if written.contains(&v));
            read |= p.root_var().is_none() && of;
        });
    }
    let last = match &body.stmts.get(early)?.kind {
        StmtKind::For(l) => loops.iter().position(|o| o.id == l.id),
        _ => None,
    };
    last.filter(|_| read)
}

/// A loop that leaves out the first elements may have them loaded, too, where another loop reads all of the row and nothing
/// is written of it.
fn only_read_early(events: &mut [Event], written: &BTreeSet<VarId>) {
    let of = |e: &Event| (e.array, e.rest.clone(), e.back);
    let all: Vec<(VarId, Poly, bool)> = events.iter().filter(|e| e.always).map(of).collect();
    for event in events.iter_mut().filter(|e| e.reached && !written.contains(&e.array)) {
        event.always |= all.contains(&of(event));
    }
}

/// The accesses of a loop to elements of its iterations, in order; `whole`: there is one for each element of a row.
fn events_of(scope: &Scope<'_>, (at, whole): (usize, bool), l: &ForLoop) -> Vec<Event> {
    let mut sure: Vec<Place> = vec![];
    always_in_block(&l.body, &mut |p| sure.push(p.clone()));
    let to_the_end = walk::continues(&l.body).is_none();
    let direct = |p: &Place| {
        let set = |s: &Stmt| matches!(&s.kind, StmtKind::Assign { place, .. } if place == p);
        to_the_end && l.body.stmts.iter().any(set)
    };
    let mut events = vec![];
    let mut note = |place: &Place, write: bool, always: bool| {
        if let (Some(own), Some(element)) = (own_element(scope, place, l.var), place.ty.scalar()) {
            let Own { array, rest, back } = own;
            let (reached, always) = (always, always && whole);
            events.push(Event { at, array, element, rest, back, write, always, reached });
        }
    };
    walk::each_stmt(&l.body, &mut |s| {
        let o = walk::operands(s);
        for e in o.reads {
            visit::for_each_place_in_expr(e, &mut |p, _| note(p, false, sure.contains(p)));
        }
        if let Some(place) = o.writes {
            for e in walk::subscripts(place) {
                visit::for_each_place_in_expr(e, &mut |p, _| note(p, false, sure.contains(p)));
            }
            note(place, true, direct(place));
        }
    });
    events
}

/// An element that belongs to one iteration of a loop.
pub(in crate::rewrite) struct Own {
    pub array: VarId,
    /// Its number without the loop's counter.
    pub rest: Poly,
    /// The counter is subtracted.
    pub back: bool,
}

/// The element of a place, where it belongs to one iteration of a loop.
pub(in crate::rewrite) fn own_element(
    scope: &Scope<'_>,
    place: &Place,
    counter: VarId,
) -> Option<Own> {
    let (array, flat) = flat_index(scope, place)?;
    let after = flat.sub(&Poly::var(counter)).filter(|rest| !rest.mentions(counter));
    let back = after.is_none();
    let rest = after.or_else(|| flat.add(&Poly::var(counter)))?;
    let inner = walk::for_loops(&scope.root.body).into_iter().filter(|l| !is_marked(l));
    let own = !rest.mentions(counter) && !inner.into_iter().any(|l| rest.mentions(l.var));
    own.then_some(Own { array, rest, back })
}

/// The array of a place, and the number of its element.
fn flat_index(scope: &Scope<'_>, place: &Place) -> Option<(VarId, Poly)> {
    let PlaceKind::Elem { pointer, index, dims } = &*place.kind else { return None };
    let ExprKind::Read(p) = &*pointer.kind else { return None };
    let PlaceKind::Var(array) = *p.kind else { return None };
    let mut index = index.iter().map(|e| scope.normalise(e).ok());
    let mut flat = index.next()??;
    for (i, n) in index.zip(dims) {
        flat = flat.mul(&scope.normalise(n).ok()?)?.add(&i?)?;
    }
    Some((array, flat))
}

fn written_arrays<'a>(blocks: impl Iterator<Item = &'a Block>) -> BTreeSet<VarId> {
    arrays_written_at(blocks, &|_| true)
}

/// Arrays of which a block writes an element at one of these places.
fn arrays_written_at<'a>(
    blocks: impl Iterator<Item = &'a Block>,
    at: Asked<'_>,
) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    for block in blocks {
        walk::each_stmt(block, &mut |s| {
            let place = walk::operands(s).writes.filter(|p| p.root_var().is_none() && at(p));
            if let Some(Base::Var(v)) = place.map(base_of) {
                found.insert(v);
            }
        });
    }
    found
}

/// Statements that threads can run side by side: nothing but arithmetic, accesses through names, and control flow.
pub(in crate::rewrite) fn check_statements(body: &Block) -> Result<(), String> {
    let mut wrong = None;
    walk::each_stmt(body, &mut |s| {
        let plain = matches!(
            s.kind,
            StmtKind::Decl { .. }
                | StmtKind::Assign { .. }
                | StmtKind::If { .. }
                | StmtKind::For(_)
                | StmtKind::Loop { .. }
                | StmtKind::Switch { .. }
                | StmtKind::Scope(_)
                | StmtKind::Break
                | StmtKind::Continue
        );
        let call = matches!(&s.kind, StmtKind::Call { args, .. } if !args.iter().any(|a| a.ty.is_pointer()));
        if !plain && !call {
            wrong = wrong
                .or(Some("something else happens in it than arithmetic and accesses to arrays"));
        }
        if walk::operands(s)
            .writes
            .is_some_and(|p| p.root_var().is_none() && !matches!(base_of(p), Base::Var(_)))
        {
            wrong = wrong.or(Some("it writes through a pointer that has no name"));
        }
    });
    visit::for_each_place(body, &mut |p, access| {
        if p.root_var().is_none() && base_of(p) == Base::Anything {
            wrong = wrong.or(Some("it uses a pointer that has no name"));
        }
        if access == Access::Address {
            wrong = wrong.or(Some("it takes an address"));
        }
    });
    wrong.map_or(Ok(()), |why| Err(why.into()))
}

/// A question about a place.
type Asked<'a> = &'a dyn Fn(&Place) -> bool;

/// What stands outside of the loops is computed by all threads, or stored by one of them.
fn check_elsewhere(
    kernel: &Kernel,
    body: &Block,
    loops: &[&ForLoop],
    (written, wait): (&BTreeSet<VarId>, &dyn Fn(usize) -> bool),
    (apart, of_row): (Asked<'_>, Asked<'_>),
) -> Result<(), String> {
    let early = early(body, loops, written, wait);
    let outside = || body.stmts.iter().filter(|s| !is_row_loop(s, loops));
    let outside: Vec<Block> = outside().map(|s| Block::new(vec![s.clone()])).collect();
    let by_one = written_arrays(outside.iter());
    let of_rows = arrays_written_at(outside.iter(), &|p| !apart(p));
    for (at, stmt) in body.stmts.iter().enumerate() {
        let alone = Block::new(vec![stmt.clone()]);
        let inside = is_row_loop(stmt, loops);
        let own = !inside && stores(stmt);
        let mut wrong = None;
        visit::for_each_place(&alone, &mut |p, _| {
            let Base::Var(v) = base_of(p) else { return };
            let others = match inside {
                true => of_rows.contains(&v) || (by_one.contains(&v) && !of_row(p)),
                false => {
                    (!own && by_one.contains(&v))
                        || (at >= early && written.contains(&v) && !apart(p))
                }
            };
            if p.root_var().is_none() && others {
                wrong = Some(v);
            }
        });
        if let Some(v) = wrong {
            let name = kernel.name_of(v);
            return Err(format!(
                "threads would have to see what others of the row store in `{name}`"
            ));
        }
        if own && let Some(v) = set_for_others(body, &alone) {
            let name = kernel.name_of(v);
            return Err(format!(
                "a statement of it both stores and sets `{name}`, which others use"
            ));
        }
    }
    Ok(())
}

/// Whether a statement is one of the loops over rows.
fn is_row_loop(stmt: &Stmt, loops: &[&ForLoop]) -> bool {
    matches!(&stmt.kind, StmtKind::For(l) if loops.iter().any(|o| o.id == l.id))
}

/// Whether a statement, or one inside it, stores in memory.
pub(super) fn stores(stmt: &Stmt) -> bool {
    let mut found = false;
    walk::each_stmt(&Block::new(vec![stmt.clone()]), &mut |s| {
        found |= walk::operands(s).writes.is_some_and(|p| p.root_var().is_none());
    });
    found
}

/// A variable that a statement sets and other statements of the body mention.
fn set_for_others(body: &Block, alone: &Block) -> Option<VarId> {
    let own = walk::declared(alone);
    let mut set = BTreeSet::new();
    walk::each_stmt(alone, &mut |s| {
        let o = walk::operands(s);
        set.extend(o.results);
        set.extend(o.writes.and_then(Place::root_var));
    });
    let others = |v: &VarId| walk::times_mentioned(body, *v) > walk::times_mentioned(alone, *v);
    set.into_iter().filter(|v| !own.contains(v)).find(others)
}
