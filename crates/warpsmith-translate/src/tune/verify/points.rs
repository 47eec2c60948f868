//! The sizes at which a kernel is verified: 0, 1, non-multiples, and each bound ± 1.

use std::collections::BTreeSet;

use crate::tune::sizes::Point;

/// Points with no larger value are tried first: they are cheap, so that some are always reached.
const SMALL: i64 = 64;

/// Numbers around which every parameter is tried beside every other.
pub const LARGEST: i64 = 1024;

/// All sizes up to this one are tried where there is one parameter.
const DENSE: i64 = 50;

/// Sizes small enough to be quick and varied enough to reach every guard, in the order they are tried.
///
/// `bounds` are the numbers that the kernel treats specially: block extents, tiles, loop constants; `offsets` the sizes
/// up to which there is nothing to do, beyond which blocks fill up. Every
/// parameter takes every value; parameters differ from each other in most points, so that swapped ones show.
/// `first` are points of which the caller knows that they go another way than others: they come before those of about
/// their size.
/// `wanted` are the tuned sizes, of which only those below the largest value here are used.
pub fn candidates(
    params: &[String],
    bounds: &[i64],
    offsets: &[i64],
    first: &[Point],
    wanted: &[Point],
) -> Vec<Point> {
    let mut values: Vec<i64> = vec![0, 1, 2, 3, 5, 37];
    for bound in bounds.iter().copied().filter(|b| (1..=LARGEST).contains(b)) {
        values.extend([bound - 1, bound, bound + 1, bound + bound / 2 + 1, 2 * bound]);
        // Blocks are full, and one more is begun, where there are so many iterations.
        values.extend(offsets.iter().flat_map(|o| [bound + o, bound + o + 1, 2 * bound + o]));
    }
    // One parameter alone has few points: every small size meets every combination of steps and blocks.
    if params.len() == 1 {
        values.extend(0..=DENSE);
    }
    values.sort_unstable();
    values.dedup();
    let n = values.len();
    let mut points = vec![];
    let mut add = |point: Point| {
        if !points.contains(&point) {
            points.push(point);
        }
    };
    first.iter().cloned().for_each(&mut add);
    // Different values for different parameters come first: they say more.
    for shift in [n / 2 + 1, 1, 0, n / 3 + 1, n / 4 + 1, 2] {
        for start in 0..n {
            let at = |i: usize| values[(start + i * shift) % n];
            add(params.iter().enumerate().map(|(i, p)| (p.clone(), at(i))).collect());
            if params.is_empty() {
                return points;
            }
        }
    }
    let largest = values.last().copied().unwrap_or(0);
    for point in wanted.iter().filter(|p| p.values().all(|v| *v <= largest)) {
        add(point.clone());
    }
    // What is left of a limit on steps goes to the large ones.
    points.sort_by_key(|p| p.values().any(|v| *v > SMALL));
    points
}

/// The same points where each costs so much that only a few can be run, as the arrays are large at all of them: one at
/// which every loop runs, one at which none does, and the others.
pub fn telling_first(points: &[Point]) -> Vec<Point> {
    let least = |p: &Point| p.values().copied().min().unwrap_or(0);
    let small = |p: &Point| p.values().all(|v| *v <= SMALL);
    let mut sorted = points.to_vec();
    sorted.sort_by_key(|p| (!small(p), -least(p)));
    if let Some(at) = sorted.iter().position(|p| least(p) == 0) {
        let empty = sorted.remove(at);
        sorted.insert(1.min(sorted.len()), empty);
    }
    sorted
}

/// The points among those verified at which the test program compares everything: some of all, some of those that go
/// another way than others, and for each parameter one where it is 1 and no other is small.
pub fn for_test(verified: &[Point], another_way: &[Point]) -> Vec<Point> {
    let apart: Vec<Point> = verified.iter().filter(|p| another_way.contains(p)).cloned().collect();
    let params: BTreeSet<&String> = verified.iter().flat_map(|p| p.keys()).collect();
    let alone = params.into_iter().filter_map(|name| {
        let fits = |p: &&Point| p.iter().all(|(n, v)| if n == name { *v == 1 } else { *v > 2 });
        verified.iter().find(fits).cloned()
    });
    let mut points = [spread(verified, TEST_POINTS), spread(&apart, TEST_POINTS)].concat();
    points.extend(alone);
    points.sort_by_key(size);
    points.dedup();
    points
}

/// Points of each sort in a test program.
const TEST_POINTS: usize = 7;

/// The largest, the smallest, and others at even distances between them.
fn spread(points: &[Point], most: usize) -> Vec<Point> {
    let mut sorted: Vec<&Point> = points.iter().filter(|p| !p.is_empty()).collect();
    sorted.sort_by_key(|p| size(p));
    let last = sorted.len().saturating_sub(1);
    let places: BTreeSet<usize> = (0..most).map(|k| (k * last).div_ceil(most - 1)).collect();
    places.iter().filter_map(|at| sorted.get(*at)).map(|p| (*p).clone()).collect()
}

/// The product of the values, and the point itself for an order without ties.
fn size(point: &Point) -> (i128, Point) {
    let product = point.values().map(|v| i128::from(*v).clamp(1, 1 << 20));
    (product.fold(1i128, |n, v| n.saturating_mul(v)), point.clone())
}

/// The sizes of given data first; then less of it, one size at a time, and the sizes that it leaves free small. Contents
/// that select elements may leave their arrays where there is less of them: then the C function says so.
pub fn with_data(params: &[String], data: &Point, wanted: &[Point]) -> Vec<Point> {
    let mut points: Vec<Point> = vec![];
    let mut add = |point: Point| {
        if !points.contains(&point) {
            points.push(point);
        }
    };
    let whole: Vec<Point> = wanted
        .iter()
        .map(|p| p.iter().chain(data).map(|(n, v)| (n.clone(), *v)).collect())
        .collect();
    whole.iter().cloned().for_each(&mut add);
    for point in &whole {
        for free in params.iter().filter(|p| !data.contains_key(*p)) {
            for size in [1, 37, 0, 2, 64, 3, 33] {
                add(point
                    .iter()
                    .map(|(n, v)| (n.clone(), if n == free { size } else { *v }))
                    .collect());
            }
        }
        for (name, most) in data {
            for size in [most - 1, most / 2, most / 2 + 1, 33, 37, 3, 1, 0] {
                if (0..*most).contains(&size) {
                    let of =
                        |(n, v): (&String, &i64)| (n.clone(), if n == name { size } else { *v });
                    add(point.iter().map(of).collect());
                }
            }
        }
    }
    points
}

/// `n=33, m=5`, as reports name a point.
pub fn name(point: &Point) -> String {
    let parts: Vec<String> = point.iter().map(|(n, v)| format!("{n}={v}")).collect();
    if parts.is_empty() { "its constant sizes".to_string() } else { parts.join(", ") }
}

/// All sizes multiplied.
pub fn product(point: &Point) -> u64 {
    let sizes = point.values().map(|n| u64::try_from(*n).unwrap_or(0));
    sizes.fold(1, u64::saturating_mul)
}

/// `42 combinations of n, m in {0, 1, 2, 31, 32, 33}`: what a reader needs of a long list.
pub fn summary(points: &[Point]) -> String {
    let Some(first) = points.first() else { return "no size".to_string() };
    if points.len() < 4 || first.is_empty() {
        let names: Vec<String> = points.iter().map(name).collect();
        return names.join("; ");
    }
    let params: Vec<&str> = first.keys().map(String::as_str).collect();
    let values: BTreeSet<i64> = points.iter().flat_map(|p| p.values().copied()).collect();
    let values = ranges(&values.into_iter().collect::<Vec<i64>>());
    let what = if params.len() == 1 { "values" } else { "combinations" };
    format!("{} {what} of {} from {{{}}}", points.len(), params.join(", "), values.join(", "))
}

/// Numbers in order as text; more than three that follow each other as `a to b`.
pub fn ranges(numbers: &[i64]) -> Vec<String> {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    runs.flat_map(|run| match run {
        [first, .., last] if run.len() > 3 => vec![format!("{first} to {last}")],
        _ => run.iter().map(i64::to_string).collect(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_takes_every_special_value() {
        let params = ["n".to_string(), "m".to_string(), "k".to_string()];
        let points = candidates(&params, &[32, 8], &[2], &[], &[]);
        for p in &params {
            for v in [0, 1, 7, 8, 9, 10, 11, 16, 18, 31, 32, 33, 34, 35, 37, 64, 66] {
                assert!(points.iter().any(|point| point[p] == v), "{p}={v}");
            }
        }
        assert!(points.iter().any(|p| p["n"] != p["m"] && p["m"] != p["k"]));
    }

    #[test]
    fn a_test_program_meets_every_way_and_ones() {
        let point = |n: i64, m: i64| Point::from([("n".to_string(), n), ("m".to_string(), m)]);
        let many: Vec<Point> = (0..40).map(|k| point(k, (k * 7) % 40)).collect();
        let chosen = for_test(&many, &[point(33, 31), point(50, 50)]);
        assert!(chosen.contains(&point(33, 31)) && !chosen.contains(&point(50, 50)));
        assert!(chosen.contains(&point(1, 7)) && chosen.contains(&point(23, 1)), "{chosen:?}");
        assert!(chosen.contains(&point(0, 0)) && chosen.len() < 12, "{chosen:?}");
        assert_eq!(for_test(&[Point::new()], &[]), []);
    }

    #[test]
    fn few_points_are_one_with_every_loop_and_one_with_none() {
        let point = |n: i64, m: i64| Point::from([("n".to_string(), n), ("m".to_string(), m)]);
        let all = [point(0, 5), point(1, 37), point(300, 200), point(37, 33), point(2, 64)];
        let telling = telling_first(&all);
        assert_eq!(telling[..3], [point(37, 33), point(0, 5), point(2, 64)]);
        assert_eq!(telling.len(), all.len());
    }

    #[test]
    fn points_that_go_another_way_come_first() {
        let params = ["n".to_string(), "m".to_string()];
        let special = |n: i64, m: i64| Point::from([("n".to_string(), n), ("m".to_string(), m)]);
        let points = candidates(&params, &[4, 90], &[], &[special(24, 8), special(900, 3)], &[]);
        assert_eq!(points[0], special(24, 8));
        let large = points.iter().find(|p| p.values().any(|v| *v > SMALL));
        assert_eq!(large, Some(&special(900, 3)));
    }

    #[test]
    fn one_parameter_takes_all_small_sizes() {
        let points = candidates(&["n".to_string()], &[8], &[], &[], &[]);
        assert!((0..=DENSE).all(|v| points.iter().any(|p| p["n"] == v)));
        assert!(summary(&points).ends_with("of n from {0 to 50}"), "{}", summary(&points));
    }

    #[test]
    fn a_function_without_sizes_has_one_point() {
        assert_eq!(candidates(&[], &[32], &[], &[], &[]).len(), 1);
    }
}
