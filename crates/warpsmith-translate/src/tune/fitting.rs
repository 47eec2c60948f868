//! Data for functions that make integers of reals: C does not say what becomes of a real that its integer type does not hold, so
//! random arrays that lead to such numbers would leave nothing to compare.

use warpsmith_front::cloops::CInput;
use warpsmith_ir::interp::{self, InterpErrorKind, Limits, NoLaunch};
use warpsmith_ir::{Diagnostic, ExprKind, Module, Scalar, Severity, Type, visit};

use super::pipeline::function_of;
use super::request::TuneRequest;
use super::sizes::Point;
use super::verify::inputs::{self, Sources};
use crate::data::{ArgSpec, Init, NamedSpec};

/// What random reals lie between, tried in this order.
const ENDS: [(f64, f64); 7] = [
    (-1.0, 1.0),
    (-0.125, 0.125),
    (0.0, 0.125),
    (-0.015625, 0.015625),
    (0.0, 0.015625),
    (-0.001953125, 0.001953125),
    (0.0, 0.001953125),
];

/// Sizes at which it is tried: these, but no larger ones than are wanted.
const SIZES: [i64; 4] = [5, 9, 33, 64];

/// Statements and expressions that one try may take.
const STEPS: u64 = 3_000_000;

/// What arrays of reals hold that nobody gave, where they must hold less than others do, and a note for the user; nothing where that
/// is not so, or no data of this kind would do.
pub(super) fn specs(
    request: &TuneRequest,
    input: &CInput,
    given: &[NamedSpec],
    sizes: &[Point],
) -> Option<(Vec<NamedSpec>, Diagnostic)> {
    let open = open_reals(input, given);
    if open.is_empty() || !makes_integers_of_reals(&input.module) {
        return None;
    }
    let with = |(low, high): (f64, f64)| -> Vec<NamedSpec> {
        let own = |name: &String| NamedSpec::new(name, ArgSpec::Init(Init::Uniform(low, high)));
        open.iter().map(own).collect()
    };
    let fit = |ends: &(f64, f64)| {
        let specs = match *ends == ENDS[0] {
            true => given.to_vec(),
            false => [given, &with(*ends)].concat(),
        };
        tried(sizes).iter().all(|point| !leads_to_unfit(request, input, &specs, point))
    };
    let ends = ENDS.into_iter().find(fit).filter(|ends| *ends != ENDS[0])?;
    let (low, high) = ends;
    let names: Vec<String> = open.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "random reals between {low} and {high} are put into {}: of larger ones come numbers that the integers which they are converted to do not hold",
        names.join(", ")
    );
    let help = format!("other data can be given, as with --arg '{}=uniform(-1, 1)'", open[0]);
    Some((with(ends), Diagnostic::new(Severity::Note, "W342", message).help(help)))
}

/// The arrays of reals that nobody gave.
fn open_reals(input: &CInput, given: &[NamedSpec]) -> Vec<String> {
    let function = function_of(input);
    let params = function.params.iter().map(|p| function.var(*p));
    let reals =
        params.filter(|v| v.ty.pointee().and_then(Type::scalar).is_some_and(Scalar::is_float));
    let names = reals.map(|v| v.name.clone());
    names.filter(|name| given.iter().all(|s| s.name != *name)).collect()
}

fn makes_integers_of_reals(module: &Module) -> bool {
    let mut found = false;
    for function in &module.functions {
        visit::for_each_expr(&function.body, &mut |e| {
            found |= match &*e.kind {
                ExprKind::Cast(inner) => inner.ty.is_float() && e.ty.is_integer(),
                _ => false,
            };
        });
    }
    found
}

fn tried(sizes: &[Point]) -> Vec<Point> {
    let mut points: Vec<Point> = vec![];
    for point in sizes {
        for most in SIZES {
            let point: Point = point.iter().map(|(n, v)| (n.clone(), (*v).min(most))).collect();
            if !points.contains(&point) {
                points.push(point);
            }
        }
    }
    points
}

/// Whether the function converts a real that does not fit, with some data at a point; what cannot be run says nothing.
fn leads_to_unfit(
    request: &TuneRequest,
    input: &CInput,
    specs: &[NamedSpec],
    point: &Point,
) -> bool {
    let sources = Sources {
        module: &input.module,
        function: function_of(input),
        specs,
        seed: request.data.seed,
        max_memory: request.limits.max_memory,
    };
    let Ok(values) = inputs::arguments(&sources, point) else { return false };
    let (mut memory, args) = inputs::bound(sources.function, &values);
    let limits =
        Limits { max_steps: STEPS, deadline: request.limits.deadline(), ..Limits::default() };
    let run =
        interp::call(&input.module, input.function, &args, &mut memory, &limits, &mut NoLaunch);
    let ran = |e: interp::InterpError| matches!(e.kind, InterpErrorKind::StepLimit(_));
    run.map_or_else(ran, |_| true) && memory.unfit
}
