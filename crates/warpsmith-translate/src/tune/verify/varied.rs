//! Whole numbers that `--arg` gives: the text takes others, too, and is run with some of them.
//!
//! Sizes that agreed are run once more, each with one of the numbers changed: to small ones, to those around the sizes, and to those around
//! the one that is given. Where the C function leaves its arrays with it or does not end, nothing is said.

use std::collections::BTreeSet;

use warpsmith_ir::Scalar;

use super::{Failed, Outside, POINT_ELEMENTS, Verified, Verifier, is_empty, points};
use crate::data::ArgSpec;
use crate::tune::sizes::{self, Point};

/// Sizes with which each number is changed.
const BASES: usize = 3;
/// Runs that agree for each number, after which it is left alone.
const ENOUGH: usize = 12;
/// Numbers that are small, and one whose sign may matter.
const SMALL: [i64; 5] = [0, 1, 2, 5, -1];

/// Runs other numbers than those that are given.
///
/// # Errors
/// [`Failed`], where the text is wrong with one.
pub fn verify(verifier: &Verifier<'_>, verified: &mut Verified) -> Result<(), Failed> {
    verified.given = given(verifier);
    // Marks that are taken on trust may be right with the given numbers alone, and given data with their own sizes.
    if verifier.same_writes || verifier.with_data {
        return Ok(());
    }
    let bases = bases(verified);
    for (name, ty) in integers(verifier) {
        let Some(own) = verified.given.get(&name).copied() else { continue };
        let mut agreed = 0;
        for base in &bases {
            for value in others(base, own, ty) {
                let enough = agreed >= ENOUGH || verifier.late() || verifier.interrupted();
                let mut point: Point = verified.given.clone();
                point.extend(base.clone());
                point.insert(name.clone(), value);
                if !enough && verifier.may_be_run(&point) {
                    agreed += run(verifier, &point, verified)?;
                }
            }
        }
    }
    Ok(())
}

/// The integers that are given, with their values.
fn given(verifier: &Verifier<'_>) -> Point {
    let number = |name: &String| {
        let spec = verifier.sources.specs.iter().find(|s| s.name == *name);
        matches!(spec.map(|s| &s.spec), Some(ArgSpec::Number(_)))
    };
    let all = verifier.sources.numbers(&Point::new());
    all.into_iter().filter(|(name, _)| number(name)).collect()
}

fn integers(verifier: &Verifier<'_>) -> Vec<(String, Scalar)> {
    let all = sizes::size_params(verifier.module(), verifier.function());
    all.into_iter().map(|(_, name, ty)| (name, ty)).collect()
}

/// Sizes of middle length that agreed, and small ones; of a function without sizes the one that there is.
fn bases(verified: &Verified) -> Vec<Point> {
    let mut agreed: Vec<&Point> = verified.points.iter().filter(|p| !is_empty(p)).collect();
    agreed.sort_by_key(|p| points::product(p));
    let last = agreed.len().saturating_sub(1);
    let places: BTreeSet<usize> = (0..BASES).map(|k| k * last / (2 * BASES - 2)).collect();
    places.into_iter().rev().filter_map(|at| agreed.get(at).map(|p| (*p).clone())).collect()
}

/// What a number may be beside some sizes, but for what it is.
fn others(base: &Point, given: i64, ty: Scalar) -> BTreeSet<i64> {
    let sizes = base.values().flat_map(|n| [n.saturating_sub(1), *n, n.saturating_add(1)]);
    let near = [given.saturating_sub(1), given.saturating_add(1)];
    let bits = ty.bytes() * 8 - u32::from(ty.is_signed());
    let fits = |n: &i64| (*n >= 0 || ty.is_signed()) && (bits >= 63 || *n < 1i64 << bits);
    SMALL.into_iter().chain(sizes).chain(near).filter(|n| *n != given && fits(n)).collect()
}

/// One run; 1 where all agreed, 0 where the C function says nothing.
fn run(verifier: &Verifier<'_>, point: &Point, verified: &mut Verified) -> Result<usize, Failed> {
    let inputs = verifier.inputs(point)?;
    match verifier.interpret(&inputs, verifier.point_steps()) {
        Err(Outside::Unsupported(_) | Outside::Leaves(_) | Outside::TooLarge(_)) => return Ok(0),
        Ok(_) => {}
    }
    let coverage = verified.coverage.clone();
    let mut own = Verified { coverage, ..Verified::default() };
    verifier.at_point(point, &mut own)?;
    verified.coverage = own.coverage;
    verified.thread_instructions += own.thread_instructions;
    verified.sizes.extend(own.sizes);
    let agreed = own.points.len();
    verified.varied.extend(own.points);
    Ok(agreed)
}

impl Verifier<'_> {
    /// Whether the arrays are small there, and the launcher does not refuse such numbers.
    fn may_be_run(&self, point: &Point) -> bool {
        let (launcher, requires) = self.requires;
        sizes::hold(launcher, requires, point)
            && self.sources.total_elements(point).is_some_and(|n| n <= POINT_ELEMENTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_numbers_lie_around_sizes_and_fit_their_type() {
        let base = Point::from([("n".to_string(), 33), ("m".to_string(), 1)]);
        let found: Vec<i64> = others(&base, 7, Scalar::I32).into_iter().collect();
        assert_eq!(found, [-1, 0, 1, 2, 5, 6, 8, 32, 33, 34]);
        let found: Vec<i64> = others(&base, 255, Scalar::U8).into_iter().collect();
        assert_eq!(found, [0, 1, 2, 5, 32, 33, 34, 254]);
    }
}
