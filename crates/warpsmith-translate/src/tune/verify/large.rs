//! Sizes too large to be run: is every index, condition and launch of the emitted text still computed without overflow?
//!
//! At such sizes nothing is run; the numbers are followed ([`overflow`]). Where the C function's own numbers are too large
//! for their types it says nothing there, and neither does this.

use warpsmith_ir::{FuncId, Function, Module, Scalar, Value};

use super::inputs::{self, Sources};
use super::launcher_cases::{self, Fact};
use crate::tune::profile::overflow::{self, Overflow};
use crate::tune::sizes::{self, Point};

/// Two sizes of this many make more than 2³² elements, and a product that is negative as an `int`; three of [`CUBE`] make
/// more than 2³² as well. They are odd, so that there is a block at each edge.
const SQUARE: i64 = 86_001;
/// As many, in whole blocks and strips: the last of them go another way than those that are cut off.
const WHOLE: i64 = 84 << 10;
const CUBE: i64 = (1 << 11) + 5;

/// Near the greatest `int`, but not so near that rounding up to whole blocks and tiles passes it: what happens there is
/// for those who made the guards.
const LINE: i64 = (1 << 31) - (1 << 16) + 5;

/// The other sizes: enough that stencils have something to do.
const SMALL: i64 = 11;

/// The other sizes beside those in whole blocks: more than a block computes along any loop.
const BLOCKS: i64 = 300;

/// Most points that are looked at.
const MOST: usize = 40;

/// The first point at which the emitted launcher computes a wrong number that the C function does not.
pub fn wrong(
    source: &Sources<'_>,
    function: FuncId,
    emitted: &Module,
    launcher: FuncId,
) -> Option<(Point, Overflow)> {
    if overflow::grows(source.function) {
        return None;
    }
    let general = points(source.function, source);
    let told_apart = launcher_cases::of_launcher(emitted.function(launcher));
    let special = told_apart.iter().flat_map(|facts| general.iter().map(|p| meeting(p, facts)));
    let all: Vec<Point> = general.iter().cloned().chain(special).take(MOST).collect();
    all.into_iter().find_map(|point| {
        let args = arguments(source, &point);
        if overflow::in_extents(source.module, source.function, &args)
            || overflow::undefined(source.module, function, &args)
        {
            return None;
        }
        let found = overflow::overflow(emitted, launcher, &args)?;
        Some((point, found))
    })
}

/// Each size alone, each two of them, and all of them large.
fn points(function: &Function, source: &Sources<'_>) -> Vec<Point> {
    let fixed = |name: &String| source.specs.iter().any(|s| s.name == *name);
    let params: Vec<(String, Scalar)> = sizes::size_params(source.module, function)
        .into_iter()
        .filter(|(_, name, ty)| !fixed(name) && ty.bytes() >= 4)
        .map(|(_, name, ty)| (name, ty))
        .collect();
    let point = |large: &dyn Fn(usize) -> bool, (size, rest): (i64, i64)| -> Point {
        let of = |(k, (name, _)): (usize, &(String, Scalar))| {
            (name.clone(), if large(k) { size } else { rest })
        };
        params.iter().enumerate().map(of).collect()
    };
    let n = params.len();
    let mut found: Vec<Point> = (0..n).map(|k| point(&|i| i == k, (LINE, SMALL))).collect();
    for a in 0..n {
        let pairs = (a + 1..n).flat_map(|b| [(b, (SQUARE, SMALL)), (b, (WHOLE, BLOCKS))]);
        found.extend(pairs.map(|(b, sizes)| point(&|i| i == a || i == b, sizes)));
    }
    if n > 2 {
        found.push(point(&|_| true, (CUBE, SMALL)));
    }
    if n == 0 {
        found.push(Point::new());
    }
    found
}

/// A point with sizes for which the launcher has a kernel of its own.
fn meeting(point: &Point, facts: &[Fact]) -> Point {
    let mut point = point.clone();
    for fact in facts {
        match fact {
            Fact::Equals(name, n) => _ = point.get_mut(name).map(|size| *size = *n),
            Fact::Multiple(name, n) if *n > 0 => {
                _ = point.get_mut(name).map(|size| *size = (*size - *size % n).max(*n));
            }
            Fact::Multiple(..) => {}
        }
    }
    point
}

/// The numbers that a function is given; arrays and reals are none.
fn arguments(source: &Sources<'_>, point: &Point) -> Vec<Option<Value>> {
    let vars = source.function.params.iter().map(|p| source.function.var(*p));
    vars.map(|var| inputs::number(source, var, point).filter(|v| !v.ty.is_float())).collect()
}
