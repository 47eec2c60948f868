//! Launches that differ from others in what is passed: one array for two parameters, none, or sizes beyond what a table has.

use std::collections::BTreeSet;

use warpsmith_ir::{Expr, ExprKind, Function, Module, Place, PlaceKind, Type, VarKind, visit};

use super::check;
use crate::launch::Launch;
use crate::program::Program;
use crate::session::{Refusal, Session, Suited};

/// Those that are like the first of these.
///
/// # Errors
/// What the emulator refuses.
pub(super) fn launches(session: &mut Session, launches: &[Suited]) -> Result<Vec<Suited>, Refusal> {
    let like = check::of_own_block(session, launches);
    let mut all = aliased(session, &like)?;
    all.extend(absent(session, &like)?);
    // Positions are to be no bound on what data ask for.
    let most = launches.iter().filter(|s| s.launch.only.is_empty()).map(|s| &s.launch);
    let like = like.into_iter().chain(most.max_by_key(|l| l.threads()).cloned());
    all.extend(beyond_tables(session, &like.collect::<Vec<_>>())?);
    Ok(all)
}

/// The same with arrays that host code passes for two parameters.
fn aliased(session: &mut Session, like: &[Launch]) -> Result<Vec<Suited>, Refusal> {
    let mut all = vec![];
    for aliased in session.aliased.same.clone() {
        for launch in like {
            let launch = Launch { aliased: aliased.clone(), ..launch.clone() };
            all.extend(session.suit(launch)?);
        }
    }
    Ok(all)
}

/// Where data say which element of a tile is read: sizes that are none of positions go beyond what the tile has, one at a time, and data
/// go with them.
fn beyond_tables(session: &mut Session, like: &[Launch]) -> Result<Vec<Suited>, Refusal> {
    let mut all = vec![];
    let open = session.plan.forks.any_open();
    for launch in like.iter().filter(|_| open) {
        let beyond = session.widest(launch) + 3;
        for name in free(session, launch) {
            all.extend(with(session, launch, (name, beyond))?);
        }
    }
    Ok(all)
}

/// Integers that are passed, none or below zero, one at a time.
///
/// # Errors
/// What the emulator refuses.
pub(crate) fn without_positions(
    session: &mut Session,
    launches: &[Suited],
) -> Result<Vec<Suited>, Refusal> {
    let mut all = vec![];
    for launch in check::of_own_block(session, launches) {
        for name in launch.integers.keys() {
            for value in [0, -1, -3] {
                all.extend(with(session, &launch, (name.clone(), value))?);
            }
        }
    }
    Ok(all)
}

/// Integers that are passed and that neither bound positions nor are given.
fn free(session: &Session, launch: &Launch) -> Vec<String> {
    let bounds = |n: &String| session.usage.roles.get(n).is_some_and(|r| r.axes.contains(&true));
    let given = &session.input.integers;
    launch.integers.keys().filter(|n| !bounds(n) && !given.contains_key(*n)).cloned().collect()
}

fn with(
    session: &mut Session,
    launch: &Launch,
    (name, value): (String, i64),
) -> Result<Option<Suited>, Refusal> {
    let mut launch = launch.clone();
    launch.integers.insert(name, value);
    session.suit_silently(launch)
}

/// The same without the arrays that the kernel asks for: one at a time, and without all of them.
fn absent(session: &mut Session, like: &[Launch]) -> Result<Vec<Suited>, Refusal> {
    let Some(first) = like.first() else { return Ok(vec![]) };
    let asked: Vec<String> = asked_for(&session.shaped(first)?.reference).into_iter().collect();
    let mut all: Vec<Vec<String>> = asked.iter().map(|name| vec![name.clone()]).collect();
    all.extend((asked.len() > 1).then_some(asked));
    let mut found = vec![];
    for absent in all {
        for launch in like {
            let launch = Launch { absent: absent.clone(), ..launch.clone() };
            found.extend(session.suit_silently(launch)?);
        }
    }
    Ok(found)
}

/// Pointers that are passed and that the kernel compares, or asks whether they are null.
fn asked_for(program: &Program) -> BTreeSet<String> {
    let function = program.module.function(program.kernel);
    let mut all = BTreeSet::new();
    visit::for_each_expr(&function.body, &mut |e| {
        let asked: &[&Expr] = match &*e.kind {
            ExprKind::Binary(op, a, b) if op.is_comparison() => &[a, b],
            ExprKind::Cast(a) | ExprKind::Unary(_, a) if !e.ty.is_pointer() => &[a],
            _ => &[],
        };
        for e in asked.iter().filter(|e| e.ty.is_pointer()) {
            if let ExprKind::Read(place) = &*e.kind {
                all.extend(name(&program.module, function, place));
            }
        }
    });
    all
}

/// The name of a parameter, or of a member of one.
fn name(module: &Module, function: &Function, place: &Place) -> Option<String> {
    match &*place.kind {
        PlaceKind::Var(v) => {
            let var = function.var(*v);
            (var.kind == VarKind::Param).then(|| var.name.clone())
        }
        PlaceKind::Field(inner, n) => {
            let Type::Struct(id) = &inner.ty else { return None };
            let field = &module.structs[id.0 as usize].fields.get(*n as usize)?.name;
            Some(format!("{}.{field}", name(module, function, inner)?))
        }
        _ => None,
    }
}
