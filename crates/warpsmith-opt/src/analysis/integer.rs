//! Whether a system of linear constraints has a point with integer coordinates.
//!
//! Exact: all arithmetic is on integers, and a calculation that leaves 128 bits is given up rather than rounded. First
//! the equations go, each by a change of variables that keeps integer points and only those (Euclid's algorithm on the
//! coefficients, as in the Omega test: W. Pugh, "A practical algorithm for exact array dependence analysis", 1992).
//! What is left are inequalities, whose constants are rounded to what integers can reach. A simplex method with Bland's
//! rule decides whether rationals satisfy them, in the form for constraints that come and go (B. Dutertre and
//! L. de Moura, "A fast linear-arithmetic solver for DPLL(T)", 2006), and branch and bound goes on to integers.
//!
//! Dependences rest on this, so that it is no linear-programming library in floating point: an answer must not depend on
//! a tolerance where constants of 10⁶ stand beside a distance of 1.

use std::collections::BTreeMap;

use warpsmith_ir::poly::gcd;

/// `Σ coefficients[k] · x[k] + constant`, which is zero or not negative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    pub coefficients: Vec<i128>,
    pub constant: i128,
    /// The sum is zero; else it is at least zero.
    pub equality: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No integers satisfy the constraints.
    Empty,
    /// These do.
    Point(Vec<i128>),
    /// Numbers grew too large, or the search too long.
    GaveUp,
}

/// Systems that branch and bound may look at.
const MAX_NODES: u32 = 200;
/// Steps of the simplex method for one of them.
const MAX_PIVOTS: u32 = 3_000;

/// Looks for integers `x[0] … x[unknowns - 1]` that satisfy all constraints.
pub fn solve(unknowns: usize, constraints: &[Constraint]) -> Outcome {
    match search(unknowns, constraints) {
        Ok(point) => Outcome::Point(point),
        Err(Stop::Contradiction) => Outcome::Empty,
        Err(Stop::GaveUp) => Outcome::GaveUp,
    }
}

/// Why there is no point to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Contradiction,
    GaveUp,
}

type Found<T> = Result<T, Stop>;

fn search(unknowns: usize, constraints: &[Constraint]) -> Found<Vec<i128>> {
    let mut equations: Vec<Row> = vec![];
    let mut inequalities: Vec<Row> = vec![];
    for c in constraints {
        let mut row = vec![0; unknowns + 1];
        row[..c.coefficients.len()].copy_from_slice(&c.coefficients);
        row[unknowns] = c.constant;
        if c.equality { equations.push(row) } else { inequalities.push(row) }
    }
    let mut changes = vec![];
    let mut rows = tightened(&inequalities, &mut equations)?;
    while let Some(equation) = equations.pop() {
        eliminate(equation, &mut equations, &mut rows, &mut changes)?;
        if equations.is_empty() {
            rows = tightened(&rows, &mut equations)?;
        }
    }
    let used: Vec<usize> = (0..unknowns).filter(|k| rows.iter().any(|r| r[*k] != 0)).collect();
    let mut tableau = Tableau::new(&used, &rows);
    let mut nodes = MAX_NODES;
    let values = tableau.integer_point(used.len(), &mut nodes)?;
    let mut point = vec![0; unknowns];
    for (k, value) in used.iter().zip(values) {
        point[*k] = value;
    }
    for change in changes.iter().rev() {
        point[change.var] = value_of(&change.value, &point).ok_or(Stop::GaveUp)?;
    }
    Ok(point)
}

/// Coefficients, the constant last.
type Row = Vec<i128>;

fn value_of(row: &Row, point: &[i128]) -> Option<i128> {
    let (constant, coefficients) = row.split_last()?;
    coefficients
        .iter()
        .zip(point)
        .try_fold(*constant, |sum, (c, x)| sum.checked_add(c.checked_mul(*x)?))
}

/// `x[var]` was replaced by `value`, which may mention `x[var]` again: then that is the new unknown in its place.
struct Change {
    var: usize,
    value: Row,
}

/// Uses up one equation. What it says about the unknowns goes into all other rows.
fn eliminate(
    mut equation: Row,
    equations: &mut [Row],
    rows: &mut [Row],
    changes: &mut Vec<Change>,
) -> Found<()> {
    let constant = equation.len() - 1;
    loop {
        let divisor = equation[..constant].iter().fold(0, |g, c| gcd(g, *c));
        if divisor == 0 {
            return if equation[constant] == 0 { Ok(()) } else { Err(Stop::Contradiction) };
        }
        if equation[constant] % divisor != 0 {
            return Err(Stop::Contradiction);
        }
        equation.iter_mut().for_each(|c| *c /= divisor);
        let nonzero = (0..constant).filter(|k| equation[*k] != 0);
        let Some(var) = nonzero.min_by_key(|k| equation[*k].unsigned_abs()) else { return Ok(()) };
        let pivot = equation[var];
        let done = pivot.abs() == 1;
        // Either solved for the unknown, or for the part of it that makes all other coefficients smaller.
        let mut value: Row = equation
            .iter()
            .map(|c| if done { -c * pivot } else { -rounded_quotient(*c, pivot) })
            .collect();
        value[var] = i128::from(!done);
        let apply = |row: &mut Row| substitute(row, var, &value);
        equations.iter_mut().chain(rows.iter_mut()).try_for_each(apply)?;
        apply(&mut equation)?;
        changes.push(Change { var, value });
        if done {
            return Ok(());
        }
    }
}

fn rounded_quotient(a: i128, b: i128) -> i128 {
    let q = a.div_euclid(b);
    let r = a - q * b;
    if 2 * r > b.abs() { q + b.signum() } else { q }
}

fn substitute(row: &mut Row, var: usize, value: &Row) -> Found<()> {
    let factor = std::mem::take(&mut row[var]);
    if factor == 0 {
        return Ok(());
    }
    for (c, v) in row.iter_mut().zip(value) {
        let product = factor.checked_mul(*v);
        *c = product.and_then(|p| c.checked_add(p)).ok_or(Stop::GaveUp)?;
    }
    Ok(())
}

/// Inequalities with coprime coefficients, of parallel ones only the strictest; where two leave one value between them,
/// an equation in their place.
fn tightened(rows: &[Row], equations: &mut Vec<Row>) -> Found<Vec<Row>> {
    let mut strictest = BTreeMap::<Vec<i128>, i128>::new();
    for row in rows {
        let Some((constant, coefficients)) = row.split_last() else { continue };
        let divisor = coefficients.iter().fold(0, |g, c| gcd(g, *c));
        if divisor == 0 {
            if *constant < 0 {
                return Err(Stop::Contradiction);
            }
            continue;
        }
        let direction = coefficients.iter().map(|c| c / divisor).collect();
        let constant = constant.div_euclid(divisor);
        let entry = strictest.entry(direction).or_insert(constant);
        *entry = constant.min(*entry);
    }
    let mut kept = vec![];
    for (direction, constant) in &strictest {
        let opposite: Vec<i128> = direction.iter().map(|c| -c).collect();
        let row = || direction.iter().copied().chain([*constant]).collect();
        match strictest.get(&opposite).map(|other| other + constant) {
            Some(gap) if gap < 0 => return Err(Stop::Contradiction),
            Some(0) if *direction > opposite => equations.push(row()),
            Some(0) => {}
            _ => kept.push(row()),
        }
    }
    Ok(kept)
}

/// Inequalities in the form of the simplex method: basic quantities as sums over the others, which are zero.
///
/// Quantities are numbered: first the unknowns, which may have any sign, then one for each inequality, the value of its
/// left side, which must not be negative. A row says `denominator · basic = Σ row[j] · other[j] + row[last]`.
#[derive(Clone)]
struct Tableau {
    rows: Vec<Row>,
    denominators: Vec<i128>,
    basic: Vec<usize>,
    others: Vec<usize>,
    unknowns: usize,
    quantities: usize,
}

impl Tableau {
    fn new(used: &[usize], rows: &[Row]) -> Tableau {
        let narrow =
            |row: &Row| used.iter().map(|k| row[*k]).chain(row.last().copied()).collect::<Row>();
        let unknowns = used.len();
        Tableau {
            rows: rows.iter().map(narrow).collect(),
            denominators: vec![1; rows.len()],
            basic: (unknowns..unknowns + rows.len()).collect(),
            others: (0..unknowns).collect(),
            unknowns,
            quantities: unknowns + rows.len(),
        }
    }

    fn value_at(&self, row: usize) -> i128 {
        self.rows[row].last().copied().unwrap_or(0)
    }

    /// Finds rationals that satisfy all inequalities.
    fn feasible(&mut self) -> Found<()> {
        for _ in 0..MAX_PIVOTS {
            let violated = (0..self.rows.len())
                .filter(|r| self.basic[*r] >= self.unknowns && self.value_at(*r) < 0)
                .min_by_key(|r| self.basic[*r]);
            let Some(row) = violated else { return Ok(()) };
            // An unknown may move either way, the value of an inequality only up from zero.
            let helps = |j: &usize| {
                let c = self.rows[row][*j];
                c > 0 || (c < 0 && self.others[*j] < self.unknowns)
            };
            let entering = (0..self.others.len()).filter(helps).min_by_key(|j| self.others[*j]);
            self.pivot(row, entering.ok_or(Stop::Contradiction)?)?;
        }
        Err(Stop::GaveUp)
    }

    /// The basic quantity of the row and another one change places.
    fn pivot(&mut self, row: usize, column: usize) -> Found<()> {
        let mut pivot_row = std::mem::take(&mut self.rows[row]);
        let factor = pivot_row[column];
        // d·b = … + f·o  =>  f·o = d·b - …
        pivot_row.iter_mut().for_each(|c| *c = -*c);
        pivot_row[column] = self.denominators[row];
        let mut denominator = factor;
        if denominator < 0 {
            denominator = -denominator;
            pivot_row.iter_mut().for_each(|c| *c = -*c);
        }
        reduce(&mut pivot_row, &mut denominator);
        for r in (0..self.rows.len()).filter(|r| *r != row) {
            combine(&mut self.rows[r], &mut self.denominators[r], column, &pivot_row, denominator)?;
        }
        self.rows[row] = pivot_row;
        self.denominators[row] = denominator;
        std::mem::swap(&mut self.basic[row], &mut self.others[column]);
        Ok(())
    }

    /// Adds the inequality that an unknown is at least (`sign` 1) or at most (-1) `bound`.
    fn bound(&mut self, row: usize, sign: i128, bound: i128) -> Found<()> {
        let denominator = self.denominators[row];
        let mut new: Row = self.rows[row].iter().map(|c| c * sign).collect();
        if let Some(last) = new.last_mut() {
            let shift = denominator.checked_mul(bound).ok_or(Stop::GaveUp)?;
            *last = last.checked_sub(sign * shift).ok_or(Stop::GaveUp)?;
        }
        self.rows.push(new);
        self.denominators.push(denominator);
        self.basic.push(self.quantities);
        self.quantities += 1;
        Ok(())
    }

    /// Values of the unknowns, all integers.
    fn integer_point(&mut self, unknowns: usize, nodes: &mut u32) -> Found<Vec<i128>> {
        *nodes = nodes.checked_sub(1).ok_or(Stop::GaveUp)?;
        self.feasible()?;
        let fractional = (0..self.rows.len()).find(|r| {
            self.basic[*r] < self.unknowns && self.value_at(*r) % self.denominators[*r] != 0
        });
        let Some(row) = fractional else {
            let mut point = vec![0; unknowns];
            for (r, k) in self.basic.iter().enumerate().filter(|(_, k)| **k < unknowns) {
                point[*k] = self.value_at(r) / self.denominators[r];
            }
            return Ok(point);
        };
        let below = self.value_at(row).div_euclid(self.denominators[row]);
        let mut gave_up = false;
        for (sign, bound) in [(-1, below), (1, below + 1)] {
            let mut branch = self.clone();
            branch.bound(row, sign, bound)?;
            match branch.integer_point(unknowns, nodes) {
                Err(Stop::Contradiction) => {}
                Err(Stop::GaveUp) => gave_up = true,
                found => return found,
            }
        }
        Err(if gave_up { Stop::GaveUp } else { Stop::Contradiction })
    }
}

/// Puts `pivot / pivot_denominator` in the place of a column of a row.
fn combine(
    row: &mut Row,
    denominator: &mut i128,
    column: usize,
    pivot: &Row,
    pivot_denominator: i128,
) -> Found<()> {
    let factor = std::mem::take(&mut row[column]);
    if factor == 0 {
        return Ok(());
    }
    let (common, scale) = {
        let g = gcd(factor, pivot_denominator);
        (factor / g, pivot_denominator / g)
    };
    for (c, p) in row.iter_mut().zip(pivot) {
        let sum =
            c.checked_mul(scale).zip(p.checked_mul(common)).and_then(|(a, b)| a.checked_add(b));
        *c = sum.ok_or(Stop::GaveUp)?;
    }
    *denominator = denominator.checked_mul(scale).ok_or(Stop::GaveUp)?;
    reduce(row, denominator);
    Ok(())
}

fn reduce(row: &mut Row, denominator: &mut i128) {
    if *denominator == 1 {
        return;
    }
    let mut divisor = *denominator;
    for c in row.iter() {
        divisor = gcd(divisor, *c);
        if divisor == 1 {
            return;
        }
    }
    row.iter_mut().for_each(|c| *c /= divisor);
    *denominator /= divisor;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_least(coefficients: &[i128], constant: i128) -> Constraint {
        Constraint { coefficients: coefficients.to_vec(), constant, equality: false }
    }

    fn zero(coefficients: &[i128], constant: i128) -> Constraint {
        Constraint { coefficients: coefficients.to_vec(), constant, equality: true }
    }

    fn satisfied(constraints: &[Constraint], point: &[i128]) -> bool {
        constraints.iter().all(|c| {
            let row: Row = c.coefficients.iter().copied().chain([c.constant]).collect();
            let value = value_of(&row, point).unwrap();
            if c.equality { value == 0 } else { value >= 0 }
        })
    }

    #[test]
    fn equations_are_solved_in_integers() {
        assert_eq!(solve(2, &[zero(&[4, -6], 1)]), Outcome::Empty);
        let system = [zero(&[7, 12, 31], -17), at_least(&[1, 0, 0], -100)];
        let Outcome::Point(p) = solve(3, &system) else { panic!() };
        assert!(satisfied(&system, &p));
    }

    #[test]
    fn inequalities_between_which_no_integer_lies() {
        assert_eq!(solve(1, &[at_least(&[3], -1), at_least(&[-3], 2)]), Outcome::Empty);
        let gap = [at_least(&[2, -2], -1), at_least(&[-2, 2], 1)];
        assert_eq!(solve(2, &gap), Outcome::Empty);
    }

    #[test]
    fn a_distance_that_only_large_sizes_have_is_found() {
        // 0 <= i < j < n, j = i + 2000
        let system = [
            at_least(&[1, 0, 0], 0),
            at_least(&[-1, 1, 0], -1),
            at_least(&[0, -1, 1], -1),
            zero(&[1, -1, 0], 2000),
        ];
        let Outcome::Point(p) = solve(3, &system) else { panic!() };
        assert!(satisfied(&system, &p) && p[2] > 2000);
    }

    fn systems() -> impl Strategy<Value = (usize, Vec<Constraint>)> {
        (1usize..4).prop_flat_map(|n| {
            let row = (prop::collection::vec(-7i128..8, n), -15i128..16, any::<bool>(), 0u8..4);
            let row = row.prop_map(|(coefficients, constant, _, kind)| Constraint {
                coefficients,
                constant,
                equality: kind == 0,
            });
            prop::collection::vec(row, 1..6).prop_map(move |rows| (n, rows))
        })
    }

    proptest! {
        /// Within a box, the answer is that of trying all points.
        #[test]
        fn agrees_with_trying_all_points((n, mut rows) in systems()) {
            const HALF: i128 = 6;
            for k in 0..n {
                let mut up = vec![0; n];
                up[k] = 1;
                let down: Vec<i128> = up.iter().map(|c| -c).collect();
                rows.push(at_least(&up, HALF));
                rows.push(at_least(&down, HALF));
            }
            let side = (2 * HALF + 1) as usize;
            let exists = (0..side.pow(n as u32)).any(|code| {
                let point: Vec<i128> =
                    (0..n).map(|k| (code / side.pow(k as u32) % side) as i128 - HALF).collect();
                satisfied(&rows, &point)
            });
            match solve(n, &rows) {
                Outcome::Point(p) => prop_assert!(exists && satisfied(&rows, &p)),
                Outcome::Empty => prop_assert!(!exists),
                Outcome::GaveUp => prop_assert!(false, "gave up"),
            }
        }
    }
}
