//! How many elements an array has that nobody said anything about: as many as its accesses need.
//!
//! One walk through the function follows integer variables as polynomials over parameters and counters. The greatest
//! subscript of every access, over all iterations of the loops around it and under the conditions it stands in, is a
//! polynomial over the parameters; the largest of them, plus one, is the extent. Where strides tell rows and columns
//! apart, flat subscripts get dimensions first ([`rows`]), so that all that comes after sees them.
//!
//! Extents may be larger than needed where a bound is not exact, never smaller for sizes of zero or more.

mod known;
mod powers;
mod rows;
mod value;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::poly::{Atom, Facts, Poly};
use warpsmith_ir::{
    Block, Diagnostic, Expr, ExprKind, FuncId, Function, MathFn, Module, Place, PlaceKind, Span,
    StmtKind, Type, VarId, visit,
};

use crate::analysis::values;
use crate::assumption::Assumption;
use crate::{show, walk as tree};
use walk::{Access, Walk};

/// An array whose extent cannot be told from the accesses.
#[derive(Clone, Debug)]
pub struct Open {
    /// The array whose extents are not known.
    pub array: VarId,
    /// The access that needs to be known about; `None` where there is none.
    pub access: Option<Span>,
    /// What decides its subscript, in the user's words.
    pub reason: String,
}

/// Gives pointer parameters without extents those that their accesses need, and subscripts dimensions where they are
/// rows and columns. Gives those that it knows nothing of.
///
/// # Errors
/// W155: a subscript that is negative.
pub fn infer(module: &mut Module, id: FuncId) -> Result<Vec<Open>, Vec<Diagnostic>> {
    let arrays: BTreeSet<VarId> = without_extents(module.function(id)).collect();
    if arrays.is_empty() {
        return Ok(vec![]);
    }
    let mut flat = BTreeSet::new();
    loop {
        let mut shaped = module.clone();
        let split = split_rows(&mut shaped, id, &arrays, &flat);
        let (extents, open) = extents(&shaped, id, &arrays, Trust::Nothing)?;
        // Without a number of rows there is no use in rows.
        let undone: Vec<VarId> =
            open.iter().map(|o| o.array).filter(|a| split.contains(a)).collect();
        if !undone.is_empty() {
            flat.extend(undone);
            continue;
        }
        *module = shaped;
        let function = &mut module.functions[id.0 as usize];
        for (array, shape) in extents {
            let var = &mut function.vars[array.0 as usize];
            (var.shape, var.inferred) = (Some(shape), true);
        }
        return Ok(open);
    }
}

/// The arrays whose extents nobody gave, and why they cannot be told.
pub fn open(module: &Module, id: FuncId) -> Vec<Open> {
    let arrays: BTreeSet<VarId> = without_extents(module.function(id)).collect();
    extents(module, id, &arrays, Trust::Nothing).map(|(_, open)| open).unwrap_or_default()
}

/// What is taken on trust about accesses whose subscripts data decide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust<'g> {
    Nothing,
    /// They stay inside what the other accesses to the array need.
    Inside,
    /// What is read from arrays is less than [`VALUES`], or no greater than this, by the array's name.
    Small(&'g BTreeMap<String, i128>),
}

/// What index arrays are taken to hold less than, where nothing else says how many elements they choose from.
pub const VALUES: i128 = 256;

/// Extents that rest on data keeping subscripts where the program wants them.
#[derive(Debug, Default)]
pub struct Assumed {
    /// Arrays with the extents that their other accesses need.
    pub inside: Vec<VarId>,
    /// Arrays that have room for indices less than [`VALUES`], or as many more as no two of which are equal, because
    /// nothing tells how many elements they have.
    pub uncounted: Vec<VarId>,
}

/// Gives arrays that have no extents because data decide their subscripts those that make sense of the data: of the
/// other accesses, else for small values in index arrays, and what those hold whose greatest element is `given` by their names.
pub fn assume(module: &mut Module, id: FuncId, given: &BTreeMap<String, i128>) -> Assumed {
    let mut assumed = Assumed::default();
    for trust in [Trust::Inside, Trust::Small(given)] {
        let arrays: BTreeSet<VarId> = without_extents(module.function(id)).collect();
        if arrays.is_empty() {
            break;
        }
        let Ok((found, _)) = extents(module, id, &arrays, trust) else { break };
        for (array, shape) in found {
            let var = &mut module.functions[id.0 as usize].vars[array.0 as usize];
            (var.shape, var.inferred) = (Some(shape), trust == Trust::Inside);
            let list = match trust {
                Trust::Small(_) => &mut assumed.uncounted,
                _ => &mut assumed.inside,
            };
            list.push(array);
        }
    }
    assumed
}

/// Pointer parameters that nobody gave extents.
pub fn without_extents(function: &Function) -> impl Iterator<Item = VarId> {
    let open = |p: &VarId| function.var(*p).ty.is_pointer() && function.var(*p).shape.is_none();
    function.params.iter().copied().filter(open)
}

/// What the header and the result say about extents that were found here: one sentence an array.
pub fn statements(module: &Module, function: &Function) -> Vec<Assumption> {
    let inferred =
        function.params.iter().map(|p| function.var(*p)).filter(|v| v.inferred && !v.pitched);
    let sentence = |v: &warpsmith_ir::Var| {
        let shape = v.shape.as_deref().unwrap_or_default();
        let product =
            shape.iter().cloned().reduce(|a, b| Expr::binary(warpsmith_ir::BinaryOp::Mul, a, b));
        let elements = product.map_or("1".to_string(), |e| show::expr(module, function, &e));
        Assumption::Extent { array: v.name.clone(), elements }
    };
    inferred.map(sentence).collect()
}

/// Rewrites flat subscripts; gives the arrays that have rows now.
fn split_rows(
    module: &mut Module,
    id: FuncId,
    arrays: &BTreeSet<VarId>,
    flat: &BTreeSet<VarId>,
) -> BTreeSet<VarId> {
    let function = module.function(id);
    // Negative sizes have no extents, but what dependence tests rely on must hold for them as well.
    let walk = walk::walk(module, function, arrays, false);
    let assigned = assigned_params(function);
    let mut places = rows::Places::new();
    let mut split = BTreeSet::new();
    for array in arrays.difference(flat) {
        let before = places.len();
        rows::find(&walk, function, *array, &mut places);
        if places.len() > before {
            split.insert(*array);
        }
    }
    let sound = |kind: &PlaceKind| match kind {
        PlaceKind::Elem { dims, .. } => {
            dims.iter().all(|d| !assigned.iter().any(|v| tree::mentions(d, *v)))
        }
        _ => true,
    };
    if !places.values().all(sound) || places.is_empty() {
        return BTreeSet::new();
    }
    drop(walk);
    let body = &mut module.functions[id.0 as usize].body;
    let used = names_in(body);
    Splitter { places }.block(body);
    remove_unused(body, &used);
    split
}

/// Puts places in their new form. They are known by where they stand, so nothing may move before all are changed.
struct Splitter {
    places: rows::Places,
}

impl Splitter {
    fn block(&mut self, block: &mut Block) {
        visit::Rewriter::block(self, block);
    }
}

impl visit::Rewriter for Splitter {
    fn place(&mut self, place: &mut Place) {
        if let Some(kind) = self.places.remove(&(place as *const Place)) {
            *place.kind = kind;
            return;
        }
        visit::rewrite_place(self, place);
    }
}

/// How often variables are read or written.
fn names_in(block: &Block) -> BTreeMap<VarId, usize> {
    let mut found = BTreeMap::new();
    tree::each_var_of_block(block, &mut |v| *found.entry(v).or_default() += 1);
    found
}

/// Removes variables that were used for subscripts only and no longer are.
fn remove_unused(body: &mut Block, before: &BTreeMap<VarId, usize>) {
    loop {
        let now = names_in(body);
        let gone: BTreeSet<VarId> = now
            .iter()
            .filter(|(v, n)| **n == 1 && before.get(v).is_some_and(|b| *b > 1))
            .map(|(v, _)| *v)
            .collect();
        if !remove_declarations(body, &gone) {
            return;
        }
    }
}

fn remove_declarations(block: &mut Block, gone: &BTreeSet<VarId>) -> bool {
    let before = block.stmts.len();
    block.stmts.retain(|s| !matches!(&s.kind, StmtKind::Decl { var, .. } if gone.contains(var)));
    let mut changed = block.stmts.len() != before;
    for stmt in &mut block.stmts {
        for inner in tree::blocks_mut(stmt) {
            changed |= remove_declarations(inner, gone);
        }
    }
    changed
}

/// Parameters that do not keep their values.
fn assigned_params(function: &Function) -> BTreeSet<VarId> {
    let params = function.params.iter().copied();
    params.filter(|p| tree::writes_var(&function.body, *p)).collect()
}

type Extents = Vec<(VarId, Vec<Expr>)>;

/// The extents of each array, and the arrays that have none.
fn extents(
    module: &Module,
    id: FuncId,
    arrays: &BTreeSet<VarId>,
    trust: Trust<'_>,
) -> Result<(Extents, Vec<Open>), Vec<Diagnostic>> {
    let function = module.function(id);
    let walk = walk::walk(module, function, arrays, true);
    let negative: Vec<Diagnostic> =
        walk.accesses.iter().filter_map(|a| negative(&walk, function, a)).collect();
    if !negative.is_empty() {
        return Err(negative);
    }
    let (mut found, mut open) = (vec![], vec![]);
    for array in arrays {
        match extents_of(&walk, function, *array, trust) {
            Ok(shape) => found.push((*array, shape)),
            Err(why) => open.push(why),
        }
    }
    Ok((found, open))
}

/// A parameter that the function changes and that bounds an access.
fn changed_size<'a, 'm>(
    function: &Function,
    needs: &[Need<'a, 'm>],
) -> Option<(&'a Access<'m>, VarId)> {
    let assigned = assigned_params(function);
    needs.iter().find_map(|(a, _, p)| {
        let v = assigned.iter().find(|v| p.iter().any(|p| p.mentions(**v)))?;
        Some((*a, *v))
    })
}

fn extents_of(
    walk: &Walk<'_>,
    function: &Function,
    array: VarId,
    trust: Trust<'_>,
) -> Result<Vec<Expr>, Open> {
    let others = exchanged(function, array);
    let accesses: Vec<&Access<'_>> =
        walk.accesses.iter().filter(|a| others.contains(&a.array)).collect();
    let open = |access: Option<&Access<'_>>, reason: String| Open {
        array,
        access: access.and_then(|a| a.origin.span),
        reason,
    };
    let Some(first) = accesses.first() else {
        return Ok(vec![Expr::i32(1)]);
    };
    // All in one shape: only the outermost extent is open.
    let same = |a: &&Access<'_>| {
        a.dims == first.dims && a.index.len() == first.index.len() && a.offset == Some(Poly::zero())
    };
    let inner: Option<Vec<Expr>> =
        first.dims.iter().map(|d| rows::over(function, d, &|v| v)).collect();
    let shaped = inner.filter(|_| accesses.iter().all(same) && !first.dims.is_empty());
    let (mut needs, mut left) = (vec![], None);
    for access in &accesses {
        let subscript = match &shaped {
            Some(_) => access.index.first().cloned(),
            None => access.linear(),
        };
        let subscript = subscript.ok_or_else(|| {
            open(Some(*access), "it goes through a pointer of another type".into())
        })?;
        for other in on_other_ways(walk, access, &subscript) {
            match other.map(|p| (greatest(walk, access, &p, trust), p)) {
                Some((Ok(bounds), p)) => needs.push((*access, p, best(walk, bounds))),
                _ => return Err(open(Some(*access), "nothing bounds its subscript".into())),
            }
        }
        match greatest(walk, access, &subscript, trust) {
            Ok(bounds) => needs.push((*access, subscript, best(walk, bounds))),
            Err(symbol) if trust == Trust::Inside && by_data(walk, symbol) => {
                left.get_or_insert((*access, symbol));
            }
            Err(symbol) => return Err(open(Some(*access), blame(walk, symbol))),
        }
    }
    if let Some((access, symbol)) = left.filter(|_| needs.is_empty()) {
        return Err(open(Some(access), blame(walk, symbol)));
    }
    if let Some((access, v)) = changed_size(function, &needs) {
        let name = &function.var(v).name;
        return Err(open(Some(access), format!("the function changes `{name}`")));
    }
    let outer = largest(walk, function, &needs)
        .ok_or_else(|| open(Some(*first), "its extent is too large a number".into()))?;
    let mut shape: Vec<Expr> = [outer].into_iter().chain(shaped.into_iter().flatten()).collect();
    shape.iter_mut().for_each(|e| visit::Rewriter::expr(&mut InParameters(walk), e));
    Ok(shape)
}

/// The arrays that a pointer may lead to where pointers are exchanged: what is touched through one may be touched in all.
fn exchanged(function: &Function, array: VarId) -> BTreeSet<VarId> {
    let mut pairs = vec![];
    tree::each_stmt(&function.body, &mut |s| {
        let (to, value) = match &s.kind {
            StmtKind::Assign { place, value } => (place.root_var(), value),
            StmtKind::Decl { var, init: Some(value) } => (Some(*var), value),
            _ => return,
        };
        if let (Some(to), Some(from)) = (to, pointer_read(value))
            && function.var(to).ty.is_pointer()
        {
            pairs.push((to, from));
        }
    });
    let mut found = BTreeSet::from([array]);
    loop {
        let before = found.len();
        for (a, b) in &pairs {
            if found.contains(a) || found.contains(b) {
                found.extend([*a, *b]);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The variable whose pointer a value is.
fn pointer_read(value: &Expr) -> Option<VarId> {
    match &*value.kind {
        ExprKind::Read(place) => match &*place.kind {
            PlaceKind::Var(v) if value.ty.is_pointer() => Some(*v),
            _ => None,
        },
        _ => None,
    }
}

/// Puts what sizes are made of in place of their variables: callers have no such variables.
struct InParameters<'w, 'm>(&'w Walk<'m>);

impl visit::Rewriter for InParameters<'_, '_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let ExprKind::Read(place) = &*expr.kind
            && let PlaceKind::Var(v) = &*place.kind
            && let Some(value) = self.0.size(*v)
        {
            *expr = value.clone();
        }
        visit::rewrite_expr(self, expr);
    }
}

/// Upper bounds of a subscript.
///
/// # Errors
/// The symbol of which none is known.
fn greatest(
    walk: &Walk<'_>,
    access: &Access<'_>,
    subscript: &Poly,
    trust: Trust<'_>,
) -> Result<Vec<Poly>, VarId> {
    let mut known = access.state.known.clone();
    let mut last = None;
    loop {
        match (known.extremes(subscript, true), trust) {
            (Err(symbol), Trust::Small(given)) if by_data(walk, symbol) && last != Some(symbol) => {
                known.bound(symbol, Some(Poly::zero()), Some(most(walk, symbol, given)));
                last = Some(symbol);
            }
            (result, _) => {
                let mut all = result.clone().unwrap_or_default();
                let parted = match access.state.sure {
                    true => vec![],
                    false => walk.in_parts(subscript),
                };
                let others = parted.iter().filter_map(|p| known.extremes(p, true).ok());
                all.extend(others.flatten());
                return if all.is_empty() { result } else { Ok(all) };
            }
        }
    }
}

/// The greatest index that is taken to be read: room for each of an array of which no two may be equal, and some more; that of an array whose
/// elements are given.
fn most(walk: &Walk<'_>, symbol: VarId, given: &BTreeMap<String, i128>) -> Poly {
    let name = walk.cause(symbol).and_then(|cause| cause.array.as_ref());
    let known = name.and_then(|name| given.get(name)).copied().unwrap_or_default();
    let some = Poly::constant(known.max(VALUES - 1));
    let count = || {
        let function = walk.top();
        let name = name?;
        let array = function.params.iter().find(|p| function.var(**p).name == *name)?;
        let all = values::of_arrays(walk.module, function);
        all.iter().find(|((a, _), v)| a == array && v.order == values::Order::Distinct)?;
        let shape = function.var(*array).shape.as_ref()?;
        shape.iter().try_fold(Poly::constant(1), |n, e| n.mul(&Poly::from_expr(e)?))
    };
    count().and_then(|n| n.add(&some)).unwrap_or(some)
}

/// The subscript where what data decide on one way is its most on another; `None` for one that may fall with it.
fn on_other_ways(walk: &Walk<'_>, access: &Access<'_>, subscript: &Poly) -> Vec<Option<Poly>> {
    let mut found = vec![];
    for atom in subscript.atoms() {
        let Atom::Var(symbol) = atom else { continue };
        let others = walk.cause(*symbol).map_or(&[][..], |c| &c.others);
        let factor = subscript.split(atom).map(|(factor, _)| factor);
        let rises = factor.is_some_and(|f| access.state.known.facts.provably_nonnegative(&f));
        found.extend(others.iter().map(|p| {
            let there = subscript.substitute(*symbol, p);
            there.filter(|_| rises)
        }));
    }
    found
}

/// Whether a symbol was read from an array.
fn by_data(walk: &Walk<'_>, symbol: VarId) -> bool {
    walk.cause(symbol).is_some_and(|c| c.array.is_some())
}

/// What decides a subscript of which no largest value is known.
fn blame(walk: &Walk<'_>, symbol: VarId) -> String {
    match walk.cause(symbol) {
        Some(walk::Cause { array: Some(a), .. }) => format!("data decide: it is read from `{a}`"),
        Some(walk::Cause { var: Some(v), .. }) => format!("nothing bounds `{v}` here"),
        _ => "nothing bounds its subscript".into(),
    }
}

/// What is true of parameters that are 0 or more.
fn of_sizes(walk: &Walk<'_>, function: &Function, least: i128) -> Facts {
    let mut facts = Facts::new();
    for p in walk.own_params() {
        if function.var(p).ty.is_integer() {
            facts.bound(Atom::Var(p), Some(Poly::constant(least)), None);
        }
    }
    facts
}

/// At most so many upper bounds of one subscript of which none is known to be the least.
const MAX_BOUNDS: usize = 3;

/// The upper bounds without those that are no less than another one, the simplest first.
fn best(walk: &Walk<'_>, mut bounds: Vec<Poly>) -> Vec<Poly> {
    let facts = of_sizes(walk, walk.top(), 0);
    bounds.sort_by_key(|p| p.terms().map(|(m, _)| 1 + m.len()).sum::<usize>());
    let mut least: Vec<Poly> = vec![];
    for p in bounds {
        if least.iter().all(|q| !facts.provably_le(q, &p)) {
            least.retain(|q| !facts.provably_le(&p, q));
            least.push(p);
        }
    }
    least.truncate(MAX_BOUNDS);
    least
}

/// What an access needs: its subscript, and upper bounds of it.
type Need<'a, 'm> = (&'a Access<'m>, Poly, Vec<Poly>);

/// The largest of what the accesses need, plus one. An access that happens needs no more than another one where what is
/// known at it says so: inside a loop that runs there is at least one row.
fn largest(walk: &Walk<'_>, function: &Function, needs: &[Need<'_, '_>]) -> Option<Expr> {
    let facts = of_sizes(walk, function, 0);
    let mut tops: Vec<&[Poly]> = vec![];
    let below = |need: &Need<'_, '_>, bound: &Poly| {
        need.2.iter().any(|p| p == bound || facts.provably_le(p, bound))
            || need.0.state.known.facts.provably_le(&need.1, bound)
    };
    let covers = |top: &[Poly], need: &Need<'_, '_>| top.iter().all(|p| below(need, p));
    let mut left: Vec<&Need<'_, '_>> = needs.iter().collect();
    while !left.is_empty() {
        let count = |top: &[Poly]| left.iter().filter(|n| covers(top, n)).count();
        let (_, _, top) = left.iter().max_by_key(|n| count(&n.2))?;
        tops.push(top);
        left.retain(|n| !covers(top, n));
    }
    let one = Poly::constant(1);
    let mut result: Option<Expr> = None;
    let mut negative = false;
    let all = || tops.iter().copied().flatten();
    let wide = all().count() > 1
        || all().any(|p| !facts.provably_nonnegative(&p.add(&one).unwrap_or_default()));
    for top in &tops {
        let mut least: Option<Expr> = None;
        for bound in *top {
            let extent = bound.add(&one)?;
            negative |= !facts.provably_nonnegative(&extent);
            let e = rows::over(function, &extent, &|v| v)?;
            let e = if wide { rows::wide(e) } else { e };
            least = Some(match least {
                None => e,
                Some(other) => extreme(MathFn::Min, other, e),
            });
        }
        result = Some(match result {
            None => least?,
            Some(other) => extreme(MathFn::Max, other, least?),
        });
    }
    let result = result?;
    let zero = Expr::int(warpsmith_ir::Scalar::I64, 0);
    Some(if negative { extreme(MathFn::Max, result, zero) } else { result })
}

fn extreme(which: MathFn, a: Expr, b: Expr) -> Expr {
    Expr::new(ExprKind::Call(which, vec![a, b]), Type::I64, warpsmith_ir::Origin::default())
}

/// A message for an access that surely happens with a negative subscript.
fn negative(walk: &Walk<'_>, function: &Function, access: &Access<'_>) -> Option<Diagnostic> {
    let subscript = access.linear()?;
    if !access.state.sure || access.place.is_none() {
        return None;
    }
    let exact = |v: &VarId| walk.cause(*v).is_none_or(|c| c.counter);
    let symbols: Vec<VarId> = subscript.atoms().into_iter().filter_map(plain).collect();
    let plain_only = subscript.atoms().into_iter().all(|a| plain(a).is_some());
    if !plain_only || !symbols.iter().all(exact) {
        return None;
    }
    let least = access.state.known.extremes(&subscript, false).ok()?;
    let [least] = least.as_slice() else { return None };
    let facts = of_sizes(walk, function, 2);
    if !facts.provably_le(least, &Poly::constant(-1)) {
        return None;
    }
    let name = &function.var(access.array).name;
    let value = least.display(&|v| function.var(v).name.clone());
    let span = access.origin.span?;
    let message = format!("`{name}` is read or written before its first element");
    Some(
        Diagnostic::error("W155", message)
            .label(span, format!("the subscript begins at {value}"))
            .help("begin the loop later, or guard the access with a condition"),
    )
}

fn plain(a: &Atom) -> Option<VarId> {
    match a {
        Atom::Var(v) => Some(*v),
        _ => None,
    }
}

/// The array parameter that a place is an element of.
fn pointer_of(place: &Place) -> Option<VarId> {
    match super::access::base_of(place) {
        super::access::Base::Var(v) => Some(v),
        _ => None,
    }
}
