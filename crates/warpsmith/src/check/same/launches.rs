//! The sizes at which both sides are launched: around every constant of either.

use std::collections::BTreeSet;

use warpsmith_ir::{ExprKind, Module, Value, VarKind, visit};

use super::host_function;
use super::pairs::{Number, Pairs};
use super::side::Side;
use crate::check::args::LaunchArgs;
use crate::data::ArgSpec;
use warpsmith_translate::tune::sizes::Point;
use warpsmith_translate::tune::verify::points;

/// Sizes up to this one are small.
const SMALL: i64 = 64;
/// Launches at small sizes, and at others.
const MOST_SMALL: usize = 56;
const MOST_LARGE: usize = 40;
/// Constants around which sizes are chosen: the largest of a text are often masks.
const MOST_BOUNDS: usize = 10;
/// All sizes multiplied: beyond it a launch takes the emulator too long.
const MOST_WORK: i64 = 3_000_000;

/// The only size of a kernel, once: more than 16 bits count, more blocks than small sizes have.
const FAR: i64 = 66_001;

/// Values of all whole numbers, by their names in [`Pairs`], in the order in which they are tried.
pub fn points(new: &Side, reference: &Side, pairs: &Pairs, options: &LaunchArgs) -> Vec<Point> {
    let whole = pairs.numbers.iter().filter(|n| n.ty.is_integer());
    // What is worked out from the others is none to choose.
    let worked_out = |n: &&Number| {
        let spec = n.names.iter().find_map(|name| options.spec(name));
        matches!(spec, Some(ArgSpec::Number(text)) if crate::data::parse_scalar(text, n.ty).is_err())
    };
    let names: Vec<String> = whole.filter(|n| !worked_out(n)).map(|n| n.name.clone()).collect();
    // What a launch is written for is tried as it is; without a grid beside it a number stands for itself.
    let base = written(new, reference, pairs);
    let own = |name: &String| number(options, pairs, name).filter(|_| options.grid.is_none());
    let pinned: Point = names.iter().filter_map(|n| Some((n.clone(), own(n)?))).collect();
    let free: Vec<String> = names.iter().filter(|n| !pinned.contains_key(*n)).cloned().collect();
    let complete = |p: &Point| {
        let all = p.iter().chain(&pinned).map(|(n, v)| (n.clone(), *v)).collect::<Point>();
        names.iter().all(|n| all.contains_key(n)).then_some(all)
    };
    let first: Vec<Point> = base.iter().filter_map(complete).collect();
    let values: Vec<i64> = options.scalars.iter().filter_map(|s| s.parse().ok()).collect();
    let candidates = match values.is_empty() {
        true => points::candidates(&free, &bounds(new, reference), &[1], &[], &[]),
        false => chosen(&free, &values),
    };
    let candidates = candidates.iter().filter_map(complete);
    let candidates: Vec<Point> = candidates.filter(|p| work(p) <= MOST_WORK).collect();
    let (large, small): (Vec<Point>, Vec<Point>) =
        candidates.into_iter().partition(|p| p.values().any(|v| *v > SMALL));
    let mut all = first;
    // A thing that holds at sizes without work says little: those come last.
    let telling = |p: &Point| p.values().any(|v| *v == 0);
    let (empty, small): (Vec<Point>, Vec<Point>) = small.into_iter().partition(telling);
    for (list, most) in [(small, MOST_SMALL), (large, MOST_LARGE), (empty, MOST_SMALL / 8)] {
        all.extend(spread(list, most));
    }
    if values.is_empty() && free.len() == 1 {
        all.extend(complete(&Point::from([(free[0].clone(), FAR)])));
    }
    let mut seen = BTreeSet::new();
    all.retain(|p| seen.insert(p.clone()));
    all
}

/// Sizes multiplied.
pub fn work(point: &Point) -> i64 {
    point.values().fold(1i64, |n, v| n.saturating_mul((*v).max(1)))
}

/// Whether a point is the one beyond what 16 bits count.
pub fn is_far(point: &Point) -> bool {
    point.values().any(|v| *v == FAR)
}

/// Every number of each parameter once, and others at even distances.
fn spread(list: Vec<Point>, most: usize) -> Vec<Point> {
    if list.len() <= most {
        return list;
    }
    let mut met: BTreeSet<(String, i64)> = BTreeSet::new();
    let (mut kept, mut rest) = (vec![], vec![]);
    for p in list {
        let news = p.iter().filter(|(n, v)| !met.contains(&((*n).clone(), **v))).count();
        if news > 0 && kept.len() < most {
            met.extend(p.iter().map(|(n, v)| (n.clone(), *v)));
            kept.push(p);
        } else {
            rest.push(p);
        }
    }
    let more = most - kept.len();
    let step = rest.len().div_ceil(more.max(1)).max(1);
    kept.extend(rest.into_iter().step_by(step).take(more));
    kept
}

/// The sizes that launches are written for.
fn written(new: &Side, reference: &Side, pairs: &Pairs) -> Vec<Point> {
    let of = |side: &Side| -> Point {
        let whole = pairs.numbers.iter().filter(|n| n.ty.is_integer());
        whole.filter_map(|n| Some((n.name.clone(), number(&side.args, pairs, &n.name)?))).collect()
    };
    let mut all: Vec<Point> = vec![];
    all.extend([of(new), of(reference)]);
    all.retain(|p| !p.is_empty());
    all
}

/// The number that options give a parameter, by its name on either side.
fn number(options: &LaunchArgs, pairs: &Pairs, name: &str) -> Option<i64> {
    let own = pairs.numbers.iter().find(|n| n.name == name)?;
    let spec = own.names.iter().find_map(|n| options.spec(n))?;
    match spec {
        ArgSpec::Number(text) => crate::data::parse_scalar(text, own.ty).ok().map(Value::as_i64),
        _ => None,
    }
}

/// Every parameter takes every value, beside different ones of the others.
fn chosen(names: &[String], values: &[i64]) -> Vec<Point> {
    let mut all: Vec<Point> = vec![];
    for shift in 0..values.len() {
        for start in 0..values.len() {
            let at = |i: usize| values[(start + i * shift) % values.len()];
            let point: Point = names.iter().enumerate().map(|(i, n)| (n.clone(), at(i))).collect();
            if !all.contains(&point) {
                all.push(point);
            }
        }
    }
    all
}

/// Launches whose shapes tell constants.
const MOST_SHAPES: usize = 8;
/// A size with many blocks of any kernel.
const WIDE: i64 = 1 << 12;

/// Block extents first, then extents of shared arrays, then numbers of the text.
fn bounds(new: &Side, reference: &Side) -> Vec<i64> {
    let mut bounds: Vec<i64> = vec![];
    let mut add = |n: i64| {
        if (2..=points::LARGEST).contains(&n) && !bounds.contains(&n) && bounds.len() < MOST_BOUNDS
        {
            bounds.push(n);
        }
    };
    for side in [new, reference] {
        let sizes: Point = side.slots.iter().map(|s| (s.name.clone(), WIDE)).collect();
        let of_host = host_function::trace(side, &sizes).into_iter().map(|t| t.shape);
        let shapes = side.stages().filter_map(|stage| side.shape(stage, &sizes).ok());
        for shape in shapes.chain(of_host).take(MOST_SHAPES) {
            shape.block.iter().for_each(|n| add((*n).into()));
            // Positions a block: where sizes need another one.
            shape.grid.iter().filter(|g| **g > 1).for_each(|g| add(WIDE / i64::from(*g)));
            add(shape.block.iter().map(|n| i64::from(*n)).product());
            // All threads of a grid whose threads go on in strides of it.
            add(shape.block.iter().chain(&shape.grid).map(|n| i64::from(*n)).product());
        }
    }
    for side in [new, reference] {
        extents(&side.module).into_iter().for_each(&mut add);
    }
    for side in [new, reference] {
        numbers(&side.module).into_iter().for_each(&mut add);
    }
    bounds
}

fn extents(module: &Module) -> Vec<i64> {
    let vars = module.functions.iter().flat_map(|f| &f.vars);
    let shared = vars.filter(|v| v.kind == VarKind::Shared);
    shared.flat_map(|v| v.ty.extents()).filter_map(|n| i64::try_from(n).ok()).collect()
}

/// Whole numbers that functions compute or compare with.
fn numbers(module: &Module) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    for f in module.functions.iter().filter(|f| !f.of_library) {
        visit::for_each_expr(&f.body, &mut |e| match &*e.kind {
            ExprKind::Const(v) if v.ty.is_integer() => {
                found.insert(v.as_i64());
            }
            ExprKind::Named(id) => {
                let value = module.constants.get(id.0 as usize).map(|c| c.value);
                found.extend(value.filter(|v| v.ty.is_integer()).map(Value::as_i64));
            }
            _ => {}
        });
    }
    found
}
