//! Keeps a reference that serial loops accumulate into in a register.
//!
//! ```text
//!     for k in K { C[i][j] = C[i][j] + e(k); }
//!       ==> accumulate C
//!     acc = C[i][j]; for k in K { acc = acc + e(k); } C[i][j] = acc;
//! ```
//!
//! Where the statement right before the loop stores the element, its value starts the register, and neither store nor
//! load is left:
//!
//! ```text
//!     C[i][j] = 0; for k in K { C[i][j] = C[i][j] + e(k); }
//!       ==> accumulate C
//!     acc = 0; for k in K { acc = acc + e(k); } C[i][j] = acc;
//! ```
//!
//! The loop is the outermost serial loop L around the assignment such that the reference depends on no counter of L or
//! of any loop between L and the assignment. Legal when, in L, the reference's subscripts do not change, no other
//! reference and no call may touch the array, and nothing returns; the assignment is under no condition, or the statement
//! right before L stores the element.

use std::fmt;
use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, LoopId, LoopKind, Origin, Place, PlaceKind, Scalar, SourceMap,
    Stmt, StmtKind, Value, Var, VarId, VarKind,
};

use super::Rewritten;
use super::step::grammar::name;
use super::step::{About, Law, Rewrite, StepError};
use crate::analysis::access::{Base, base_of};
use crate::analysis::presence;
use crate::build::conditions::select;
use crate::build::stmts::when;
use crate::kernel::Kernel;
use crate::names::fresh_name;
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// An array that serial loops add to.
    pub array: String,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.array)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "accumulate",
        example: "accumulate C",
        does: "keeps an element that serial loops add to in a register, loaded before and stored after them",
        legal: "the element's subscripts do not change in the loops, and nothing else there may be the same element",
        law: Law {
            before: "\
void rows(int n, int m, const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i] += A[i][j];
}
",
            steps: "accumulate s",
            after: "\
void rows(int n, int m, const float *A, float *s) {
    // parallel
    for (int i = 0; i < n; ++i) {
        // the element stays in a register while the loop adds to it
        float acc = s[i];
        for (int j = 0; j < m; ++j) {
            acc += A[(size_t)i * m + j];
        }
        s[i] = acc;
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        name.map(|array| Args { array }).parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, &self.array)?))
    }
}

/// The verdict on an `accumulate`, which alone allows it.
pub struct LegalAccumulate<'k> {
    kernel: &'k Kernel,
    place: Place,
    target: LoopId,
    /// What tells whether the element is there, where a loop without iterations does not touch it.
    there: Option<Expr>,
    origin: Origin,
}

/// Asks whether the first accumulated reference to the array `name` can be kept in a register.
///
/// # Errors
/// [`Refusal::NothingAccumulated`], or [`Refusal::CannotAccumulate`] with what stands in the way.
pub fn check<'k>(kernel: &'k Kernel, name: &str) -> Result<LegalAccumulate<'k>, Refusal> {
    let mut found = vec![];
    candidates(&kernel.func().body, &mut vec![], &mut found);
    let mut refusal = None;
    for candidate in found {
        if base_name(kernel, candidate.place) != name {
            continue;
        }
        match legal(&kernel.func().body, &candidate, name) {
            Ok(target) => match there(kernel, &candidate, target) {
                Ok(there) => {
                    let (place, origin) = (candidate.place.clone(), candidate.stmt.origin.clone());
                    return Ok(LegalAccumulate { kernel, place, target, there, origin });
                }
                Err(r) => refusal = refusal.or(Some(r)),
            },
            Err(r) => refusal = refusal.or(Some(r)),
        }
    }
    Err(refusal.unwrap_or_else(|| Refusal::NothingAccumulated { name: name.into() }))
}

/// Keeps the reference in a register.
pub fn apply(legal: LegalAccumulate<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let function = kernel.func_mut();
    let name = fresh_name(function, "acc");
    let mut var = Var::new(name, legal.place.ty.clone(), VarKind::Local);
    var.origin = legal.origin.by("accumulate");
    let acc = function.add_var(var);
    walk::with_block_of(&mut function.body, legal.target, &mut |block, at| {
        hoist(block, at, &legal, acc);
    });
    Rewritten::same_loops(kernel)
}

/// An assignment `place = … place …` with the statements around it, outermost first.
struct Candidate<'a> {
    stmt: &'a Stmt,
    place: &'a Place,
    around: Vec<&'a Stmt>,
}

fn candidates<'a>(block: &'a Block, around: &mut Vec<&'a Stmt>, found: &mut Vec<Candidate<'a>>) {
    for stmt in &block.stmts {
        if let StmtKind::Assign { place, value } = &stmt.kind
            && !matches!(&*place.kind, PlaceKind::Var(_))
            && place.ty.scalar().is_some()
            && reads_place(value, place)
        {
            found.push(Candidate { stmt, place, around: around.clone() });
        }
        around.push(stmt);
        walk::blocks(stmt).into_iter().for_each(|b| candidates(b, around, found));
        around.pop();
    }
}

fn reads_place(value: &Expr, place: &Place) -> bool {
    let mut found = false;
    walk::each_expr(value, &mut |e| found |= matches!(&*e.kind, ExprKind::Read(p) if p == place));
    found
}

fn base_name(kernel: &Kernel, place: &Place) -> String {
    match base_of(place) {
        Base::Var(v) => kernel.name_of(v).to_string(),
        Base::Global(g) => {
            kernel.module.globals.get(g.0 as usize).map(|g| g.name.clone()).unwrap_or_default()
        }
        Base::Anything => String::new(),
    }
}

/// The loop that the load and store go around, when that is legal.
fn legal(function: &Block, candidate: &Candidate<'_>, name: &str) -> Result<LoopId, Refusal> {
    let refuse = |why: String, other: Option<(Origin, String)>| {
        let at = place_origin(candidate.place, candidate.stmt);
        Err(Refusal::CannotAccumulate { name: name.into(), why, places: Box::new((at, other)) })
    };
    let mut best = None;
    let mut obstacle = None;
    for (depth, stmt) in candidate.around.iter().enumerate().rev() {
        match &stmt.kind {
            StmtKind::For(l) if matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled(_)) => {
                if moves(candidate.place, l.var, &l.body) {
                    break;
                }
                // An element that is stored right before exists, and is this thread's, whatever the conditions.
                let stored = walk::block_of(function, l.id)
                    .and_then(|(block, at)| start_value(block, at, candidate.place));
                let between = match stored {
                    Some(_) => &[],
                    None => &candidate.around[depth + 1..],
                };
                match disturbance(candidate, &l.body, between) {
                    None => best = Some(l.id),
                    Some(found) => {
                        obstacle = Some(found);
                        break;
                    }
                }
            }
            StmtKind::Scope(_) | StmtKind::If { .. } => {}
            _ => break,
        }
    }
    match (best, obstacle) {
        (Some(id), _) => Ok(id),
        (None, Some((why, other))) => refuse(why, other),
        (None, None) => Err(Refusal::NothingAccumulated { name: name.into() }),
    }
}

/// What tells whether the loops around the assignment come to it.
fn there(
    kernel: &Kernel,
    candidate: &Candidate<'_>,
    target: LoopId,
) -> Result<Option<Expr>, Refusal> {
    let inside = candidate.around.iter().skip_while(|s| !walk::is_loop(s, target));
    let loops: Vec<&ForLoop> = inside
        .filter_map(|s| if let StmtKind::For(l) = &s.kind { Some(l) } else { None })
        .collect();
    presence::condition(kernel.func(), &loops, candidate.place).map_err(|_| {
        Refusal::CannotAccumulate {
            name: base_name(kernel, candidate.place),
            why: "the loops may not come to the element, and nothing says that it is there then"
                .into(),
            places: Box::new((place_origin(candidate.place, candidate.stmt), None)),
        }
    })
}

fn place_origin(place: &Place, stmt: &Stmt) -> Origin {
    if place.origin.span.is_some() { place.origin.clone() } else { stmt.origin.clone() }
}

/// Whether the element changes while the loop runs: its subscripts use the counter, something the body writes, or
/// memory.
pub(super) fn moves(place: &Place, counter: VarId, body: &Block) -> bool {
    let mut moves = false;
    walk::each_expr_of_place(place, &mut |e| {
        moves |= matches!(&*e.kind, ExprKind::Read(p) if !matches!(&*p.kind, PlaceKind::Var(_)));
        if let ExprKind::Read(p) = &*e.kind
            && let Some(v) = p.root_var()
        {
            moves |= v == counter || walk::writes_var(body, v);
        }
    });
    moves
}

type Obstacle = (String, Option<(Origin, String)>);

/// What in the body of the loop forbids to keep the reference in a register.
fn disturbance(candidate: &Candidate<'_>, body: &Block, between: &[&Stmt]) -> Option<Obstacle> {
    if let Some(s) =
        between.iter().find(|s| matches!(s.kind, StmtKind::If { .. } | StmtKind::Switch { .. }))
    {
        let other = Some((s.origin.clone(), "this condition".into()));
        return Some(("it is assigned under a condition inside the loop".into(), other));
    }
    if let Some(s) = walk::returns(body) {
        let other = Some((s.origin.clone(), "this `return`".into()));
        return Some(("the function may return from inside the loop".into(), other));
    }
    let base = base_of(candidate.place);
    let mut found = None;
    let mut alias = |place: &Place, origin: &Origin| {
        let other = base_of(place);
        let may = other == base || other == Base::Anything || base == Base::Anything;
        if may
            && !matches!(&*place.kind, PlaceKind::Var(_))
            && place != candidate.place
            && found.is_none()
        {
            let origin = if place.origin.span.is_some() { &place.origin } else { origin };
            found = Some((
                "another reference in the loop may be the same element".to_string(),
                Some((origin.clone(), "this one".to_string())),
            ));
        }
    };
    walk::each_stmt(body, &mut |stmt| {
        let o = walk::operands(stmt);
        o.writes.iter().for_each(|p| alias(p, &stmt.origin));
        let inside = o.writes.into_iter().flat_map(sub_reads);
        let reads = o.reads.iter().flat_map(|e| reads_of(e));
        inside.chain(reads).for_each(|(p, origin)| alias(p, origin));
    });
    if found.is_some() {
        return found;
    }
    let mut call = None;
    walk::each_stmt(body, &mut |stmt| {
        let with_pointer = match &stmt.kind {
            StmtKind::Call { args, .. } => args.iter().any(|a| a.ty.is_pointer()),
            // What an update of a named element may be was asked above.
            StmtKind::Atomic { pointer, .. } => !matches!(&*pointer.kind, ExprKind::AddressOf(_)),
            StmtKind::Barrier { .. } => true,
            _ => false,
        };
        if with_pointer && call.is_none() {
            call = Some((
                "a call in the loop may touch the array".to_string(),
                Some((stmt.origin.clone(), "this call".to_string())),
            ));
        }
    });
    call
}

fn reads_of(e: &Expr) -> Vec<(&Place, &Origin)> {
    let mut places = vec![];
    walk::each_expr(e, &mut |e| {
        if let ExprKind::Read(p) | ExprKind::AddressOf(p) = &*e.kind {
            places.push((p, &e.origin));
        }
    });
    places
}

fn sub_reads(place: &Place) -> Vec<(&Place, &Origin)> {
    let mut places = vec![];
    walk::each_expr_of_place(place, &mut |e| {
        if let ExprKind::Read(p) | ExprKind::AddressOf(p) = &*e.kind {
            places.push((p, &e.origin));
        }
    });
    places
}

/// Puts the load before and the store after the loop in its block, and the register into it.
fn hoist(block: &mut Block, at: usize, legal: &LegalAccumulate<'_>, acc: VarId) {
    let origin = legal.origin.by("accumulate");
    let register = Place::new(PlaceKind::Var(acc), legal.place.ty.clone(), origin.clone());
    let start = start_value(block, at, &legal.place);
    if let StmtKind::For(l) = &mut block.stmts[at].kind {
        super::edit::copy::replace_place(&mut l.body, &legal.place, &register);
    }
    // What is stored right before the loop is there.
    let there = legal.there.clone().filter(|_| start.is_none());
    let element = Expr::read(legal.place.clone());
    let init = match (&start, &there) {
        (Some(value), _) => value.clone(),
        (None, Some(cond)) => select(cond.clone(), element.clone(), none_of(&element)),
        (None, None) => element,
    };
    let load = Stmt::new(StmtKind::Decl { var: acc, init: Some(init) }, origin.clone())
        .comment("the element stays in a register while the loop adds to it");
    let value = Expr::read(register);
    let store = StmtKind::Assign { place: legal.place.clone(), value };
    let store = Stmt::new(store, origin);
    let store = there.map_or(store.clone(), |cond| when(cond, vec![store]));
    block.stmts.insert(at + 1, store);
    match start {
        Some(_) => block.stmts[at - 1] = load,
        None => block.stmts.insert(at, load),
    }
}

/// What stands for an element that is not there.
fn none_of(element: &Expr) -> Expr {
    let scalar = element.ty.scalar().unwrap_or(Scalar::I32);
    Expr::constant(Value::int(scalar, 0))
}

/// What the statement right before the loop stores in the element, if it does and the loop's bounds do not look at the
/// array: until the store after the loop, the array keeps its old value.
fn start_value(block: &Block, at: usize, place: &Place) -> Option<Expr> {
    let before = block.stmts.get(at.checked_sub(1)?)?;
    let StmtKind::Assign { place: stored, value } = &before.kind else { return None };
    let StmtKind::For(l) = &block.stmts.get(at)?.kind else { return None };
    let looks = [&l.first, &l.limit, &l.step].into_iter().any(walk::reads_memory);
    (stored == place && value.ty == place.ty && !looks).then(|| value.clone())
}
