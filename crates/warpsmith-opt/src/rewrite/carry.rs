//! Keeps in a register what each iteration of a serial loop reads of the one before.
//!
//! ```text
//!     y[0] = e0;   for j in 1..m { y[j] = y[j - 1] + x[j] }
//!       ==> carry j
//!     c = e0; y[0] = c;   for j in 1..m { c = c + x[j]; y[j] = c }
//! ```
//!
//! Where no statement before the loop stores the element that its first iteration reads, that is loaded, if there is an
//! iteration. A loop that adds to the register can be shared by threads, see [`scan`](super::scan).
//!
//! Legal for an array that each iteration writes at one place, under no condition, where all other accesses of the loop are
//! reads of the element that the iteration before wrote, ahead of the write, or of its own behind it.

use std::collections::BTreeMap;

use warpsmith_ir::poly::Poly;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, LoopId, LoopKind, Origin, Place, PlaceKind, Scalar, Stmt,
    StmtKind, Value, Var, VarId, VarKind,
};

use super::Rewritten;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::access::{Base, Scope, base_of};
use crate::analysis::loops::{has_nameless, unit_step};
use crate::kernel::Kernel;
use crate::names::fresh_name;
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the loop whose iterations read what the one before wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "carry",
        example: "carry j",
        does: "keeps in a register what each iteration of a serial loop reads of the one before, instead of reading it again from the array",
        legal: "each iteration writes one element of the array, under no condition, and all other accesses of the loop to it read the one that the iteration before wrote, or the own one after it is written",
        law: Law {
            before: "\
void sums(int n, int m, const float x[n][m], float y[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i][0] = x[i][0];
        for (int j = 1; j < m; j++)
            y[i][j] = y[i][j - 1] + x[i][j];
    }
}
",
            steps: "carry j",
            after: "\
void sums(int n, int m, const float *x, float *y) {
    // parallel
    for (int i = 0; i < n; ++i) {
        float y_last = x[(size_t)i * m];
        y[(size_t)i * m] = y_last;
        for (int j = 1; j < m; ++j) {
            y_last += x[(size_t)i * m + j];
            y[(size_t)i * m + j] = y_last;
        }
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `carry`, which alone allows it.
pub struct LegalCarry<'k> {
    kernel: &'k Kernel,
    target: LoopId,
    carried: Vec<Carried>,
}

/// An array of which an iteration reads what the one before wrote.
struct Carried {
    array: VarId,
    /// Where the body writes it, and the statement's number.
    at: usize,
    /// What iterations read of the one before.
    reads: Vec<Place>,
    /// The same in the first iteration.
    first: Place,
    /// The statement before the loop that stores it, by its distance.
    stored: Option<usize>,
}

/// Asks whether what iterations of a loop read of the one before can stay in registers.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalCarry<'_>, Refusal> {
    let refused = |why: String| Refusal::of_loop(VERB, target, why);
    let Some(l) = kernel.find_loop(target) else { return Err(refused("it is gone".into())) };
    let serial = matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled(_));
    if !serial || !unit_step(l) {
        return Err(refused("it is no serial loop that counts up by one".into()));
    }
    if walk::continues(&l.body).is_some() {
        return Err(refused("an iteration may go on before it has written".into()));
    }
    let root = kernel.loops_around(target).first().copied().unwrap_or(l);
    let scope = Scope::new(&kernel.module, kernel.func(), vec![], root);
    let mut carried = vec![];
    for (array, write) in written(&l.body) {
        if let Some(found) = carried_of(kernel, &scope, l, (array, write)) {
            let name = kernel.name_of(array);
            carried.push(found.map_err(|why| refused(format!("`{name}` {why}")))?);
        }
    }
    match carried.is_empty() {
        true => Err(refused("no iteration reads what the one before writes".into())),
        false => Ok(LegalCarry { kernel, target, carried }),
    }
}

const VERB: &str = "carry elements through";

/// Arrays that statements directly in a body write, with the first such statement's number and the place.
fn written(body: &Block) -> BTreeMap<VarId, (usize, &Place)> {
    let mut found = BTreeMap::new();
    for (at, stmt) in body.stmts.iter().enumerate() {
        if let StmtKind::Assign { place, .. } = &stmt.kind
            && place.root_var().is_none()
            && let Base::Var(array) = base_of(place)
        {
            found.entry(array).or_insert((at, place));
        }
    }
    found
}

/// The elements of an array that a block mentions.
fn elements_of(block: &Block, array: VarId) -> Vec<Place> {
    let mut found = vec![];
    visit::for_each_place(block, &mut |p, _| {
        if p.root_var().is_none() && base_of(p) == Base::Var(array) {
            found.push(p.clone());
        }
    });
    found
}

/// Subscripts as polynomials, with the array's inner extents.
fn index_of(scope: &Scope<'_>, place: &Place) -> Option<Vec<Poly>> {
    let PlaceKind::Elem { index, dims, .. } = &*place.kind else { return None };
    index.iter().chain(dims).map(|e| scope.normalise(e).ok()).collect()
}

/// The subscripts of what the iteration before writes.
fn one_before(l: &ForLoop, own: &[Poly]) -> Option<Vec<Poly>> {
    let one_less = Poly::var(l.var).sub(&Poly::constant(1))?;
    let counts = own.iter().any(|p| p.mentions(l.var));
    let back = own.iter().map(|p| p.substitute(l.var, &one_less));
    back.collect::<Option<_>>().filter(|_| counts)
}

/// `None`: no iteration reads what the one before writes of an array.
fn carried_of(
    kernel: &Kernel,
    scope: &Scope<'_>,
    l: &ForLoop,
    (array, (at, place)): (VarId, (usize, &Place)),
) -> Option<Result<Carried, String>> {
    let own = index_of(scope, place)?;
    let before = one_before(l, &own)?;
    let mut reads = elements_of(&l.body, array);
    reads.retain(|p| index_of(scope, p).as_ref() == Some(&before));
    (!reads.is_empty()).then(|| {
        check_accesses(scope, &l.body, (array, at, place), (&own, &before))?;
        let first = with_counter(scope, l, &reads[0]);
        let first = first.ok_or("has no first element that can be written down")?;
        let stored = index_of(scope, &first)
            .and_then(|first| stored_before(scope, &kernel.func().body, l.id, array, &first));
        Ok(Carried { array, at, reads, first, stored })
    })
}

/// All else that a body accesses of an array is its own element, or the one before ahead of the write.
fn check_accesses(
    scope: &Scope<'_>,
    body: &Block,
    (array, at, place): (VarId, usize, &Place),
    (own, before): (&[Poly], &[Poly]),
) -> Result<(), String> {
    let mut wrong = None;
    for (k, stmt) in body.stmts.iter().enumerate() {
        let alone = Block::new(vec![stmt.clone()]);
        visit::for_each_place(&alone, &mut |p, access| {
            if p.root_var().is_some() || base_of(p) != Base::Var(array) {
                return;
            }
            let index = index_of(scope, p);
            let is = |wanted: &[Poly]| index.as_deref() == Some(wanted);
            let right = match access {
                visit::Access::Read => is(own) || (k <= at && is(before)),
                _ => k == at && p == place,
            };
            if !right {
                wrong = Some("is accessed in it at more than these places");
            }
        });
    }
    if place.ty.scalar().is_none() || walk::returns(body).is_some() {
        wrong = wrong.or(Some("has no numbers, or the function may return"));
    }
    let nameless = has_nameless(body);
    match wrong.or(nameless.then_some("may be what a pointer without a name points to")) {
        Some(why) => Err(why.into()),
        None => Ok(()),
    }
}

/// The place in the first iteration.
fn with_counter(scope: &Scope<'_>, l: &ForLoop, place: &Place) -> Option<Place> {
    let first = Poly::from_expr(&l.first)?;
    let mut place = place.clone();
    let PlaceKind::Elem { index, .. } = &mut *place.kind else { return None };
    for e in index {
        let scalar = e.ty.scalar()?;
        let function = scope.function;
        let of = |v: VarId| function.var(v).ty.scalar().unwrap_or(Scalar::I64);
        *e = Poly::from_expr(e)?.substitute(l.var, &first)?.to_expr(scalar, &of);
    }
    Some(place)
}

/// How far before a loop a statement stores an element, with nothing between that may write memory.
fn stored_before(
    scope: &Scope<'_>,
    function: &Block,
    id: LoopId,
    array: VarId,
    first: &[Poly],
) -> Option<usize> {
    let (block, at) = walk::block_of(function, id)?;
    for (k, stmt) in block.stmts[..at].iter().enumerate().rev() {
        match &stmt.kind {
            StmtKind::Decl { .. } => {}
            StmtKind::Assign { place, .. } if place.root_var().is_some() => {}
            StmtKind::Assign { place, .. } => {
                let same = base_of(place) == Base::Var(array)
                    && index_of(scope, place).as_deref() == Some(first);
                return same.then_some(at - k);
            }
            _ => return None,
        }
    }
    None
}

/// Puts the registers in place of the elements.
pub fn apply(legal: LegalCarry<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let Some(l) = legal.kernel.find_loop(legal.target) else {
        return Rewritten::same_loops(kernel);
    };
    for carried in &legal.carried {
        let function = kernel.func_mut();
        let name = format!("{}_last", legal.kernel.name_of(carried.array));
        let name = fresh_name(function, &name);
        let mut var = Var::new(name, carried.first.ty.clone(), VarKind::Local);
        var.origin = Origin::default().by("carry");
        let var = function.add_var(var);
        walk::with_block_of(&mut function.body, legal.target, &mut |block, at| {
            put(block, at, l, carried, var);
        });
    }
    Rewritten::same_loops(kernel)
}

/// Edits the block that holds the loop.
fn put(block: &mut Block, at: usize, known: &ForLoop, carried: &Carried, var: VarId) {
    let ty = carried.first.ty.clone();
    if let StmtKind::For(l) = &mut block.stmts[at].kind {
        ToRegister { reads: &carried.reads, register: Expr::var(var, ty.clone()) }
            .block(&mut l.body);
        through_register(&mut l.body, carried.at, var);
    }
    match carried.stored {
        Some(distance) => {
            let store = at - distance;
            through_register(block, store, var);
            // The register begins here.
            if let StmtKind::Assign { value, .. } = block.stmts[store].kind.clone() {
                block.stmts[store].kind = StmtKind::Decl { var, init: Some(value) };
            }
        }
        None => {
            let load = Expr::read(carried.first.clone());
            let runs = Expr::binary(known.compare, known.first.clone(), known.limit.clone());
            let none = Value::int(ty.scalar().unwrap_or(Scalar::F64), 0);
            let kind = ExprKind::Select(runs, load, Expr::constant(none));
            let init = Some(Expr::new(kind, ty.clone(), Origin::default()));
            let declare = Stmt::new(StmtKind::Decl { var, init }, Origin::default().by("carry"));
            block.stmts.insert(at, declare);
        }
    }
}

/// `place = e` becomes `var = e; place = var`.
fn through_register(block: &mut Block, at: usize, var: VarId) {
    let StmtKind::Assign { place, value } = block.stmts[at].kind.clone() else { return };
    let ty = value.ty.clone();
    let origin = block.stmts[at].origin.by("carry");
    let store = StmtKind::Assign { place, value: Expr::var(var, ty.clone()) };
    block.stmts[at].kind = StmtKind::Assign { place: Place::var(var, ty), value };
    block.stmts.insert(at + 1, Stmt::new(store, origin));
}

struct ToRegister<'a> {
    reads: &'a [Place],
    register: Expr,
}

impl Rewriter for ToRegister<'_> {
    fn expr(&mut self, e: &mut Expr) {
        visit::rewrite_expr(self, e);
        if let ExprKind::Read(p) = &*e.kind
            && self.reads.contains(p)
        {
            *e = self.register.clone();
        }
    }
}
