//! The sizes that a launcher tells apart: those for which it has a kernel of its own.

use std::collections::BTreeMap;

use warpsmith_ir::{BinaryOp, Expr, ExprKind, Function, Module, PlaceKind, StmtKind, visit};

/// A parameter and the number that a condition compares it with.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    Equals(String, i64),
    /// A multiple of the number.
    Multiple(String, i64),
}

/// The facts under which the launcher goes another way, those of one condition together.
pub fn of_launcher(launcher: &Function) -> Vec<Vec<Fact>> {
    let mut found: Vec<Vec<Fact>> = vec![];
    visit::for_each_stmt(&launcher.body, &mut |s| {
        let StmtKind::If { cond, .. } = &s.kind else { return };
        let mut facts = vec![];
        collect(launcher, cond, &mut facts);
        if !facts.is_empty() && !found.contains(&facts) {
            found.push(facts);
        }
    });
    found
}

fn collect(launcher: &Function, cond: &Expr, facts: &mut Vec<Fact>) {
    let ExprKind::Binary(op, a, b) = &*cond.kind else { return };
    match op {
        BinaryOp::LogicalAnd => {
            collect(launcher, a, facts);
            collect(launcher, b, facts);
        }
        BinaryOp::Eq => {
            let Some(value) = b.as_const().map(|v| v.as_i64()) else { return };
            if let Some(name) = param(launcher, a) {
                facts.push(Fact::Equals(name, value));
            } else if let ExprKind::Binary(BinaryOp::Rem, of, by) = &*a.kind
                && let (Some(name), Some(n)) = (param(launcher, of), by.as_const())
                && value == 0
            {
                facts.push(Fact::Multiple(name, n.as_i64()));
            }
        }
        _ => {}
    }
}

fn param(launcher: &Function, e: &Expr) -> Option<String> {
    match &*e.kind {
        ExprKind::Read(place) => match *place.kind {
            PlaceKind::Var(v) if launcher.params.contains(&v) => Some(launcher.var(v).name.clone()),
            _ => None,
        },
        ExprKind::Cast(inner) => param(launcher, inner),
        _ => None,
    }
}

/// Numbers with which the launcher's conditions compare a parameter to see whether there is anything to do: iterations
/// begin to exist beyond them, so that blocks fill up at multiples of their extents and as many more.
pub fn offsets(launcher: &Function) -> Vec<i64> {
    let mut found: Vec<i64> = vec![];
    visit::for_each_stmt(&launcher.body, &mut |s| {
        let StmtKind::If { cond, .. } = &s.kind else { return };
        visit::for_each_subexpr(cond, &mut |e| {
            let ExprKind::Binary(op, a, b) = &*e.kind else { return };
            let number = b.as_const().map(|v| v.as_i64()).filter(|n| (1..=64).contains(n));
            if let (BinaryOp::Gt | BinaryOp::Ge, Some(_), Some(n)) =
                (op, param(launcher, a), number)
                && !found.contains(&n)
            {
                found.push(n);
            }
        });
    });
    found
}

/// The most blocks that the launcher starts, where it limits their number: threads go on in strides beyond.
pub fn block_limits(module: &Module, launcher: &Function) -> Vec<i64> {
    let mut found: Vec<i64> = vec![];
    let mut compared = |cond: &Expr| {
        let ExprKind::Binary(BinaryOp::Gt | BinaryOp::Lt, _, limit) = &*cond.kind else { return };
        let limit = if let ExprKind::Cast(inner) = &*limit.kind { inner } else { limit };
        if let ExprKind::Named(id) = &*limit.kind {
            let value = module.constants.get(id.0 as usize).map(|c| c.value.as_i64());
            found.extend(value.filter(|v| !found.contains(v)));
        }
    };
    visit::for_each_stmt(&launcher.body, &mut |s| {
        if let StmtKind::If { cond, .. } = &s.kind {
            compared(cond);
        }
    });
    visit::for_each_expr(&launcher.body, &mut |e| {
        if let ExprKind::Select(cond, _, _) = &*e.kind {
            compared(cond);
        }
    });
    found
}

/// Sizes beyond `limit` blocks of so many threads: one of them large, the others small, each in turn.
pub fn strided(params: &[String], limit: i64, threads: i64) -> Vec<BTreeMap<String, i64>> {
    let Some(all) = limit.checked_mul(threads).filter(|n| *n <= MOST_STRIDED) else {
        return vec![];
    };
    // More than one stride for some threads, then for all; for the other loops a size that no block divides.
    let sizes = [all + all / 2 + threads + 1, 2 * (all + threads)];
    let point = |size: i64, large: usize| {
        let of = |(k, name): (usize, &String)| (name.clone(), if k == large { size } else { 3 });
        params.iter().enumerate().map(of).collect()
    };
    (0..params.len()).flat_map(|large| sizes.map(|size| point(size, large))).collect()
}

/// Threads of a grid beyond which sizes take too long.
const MOST_STRIDED: i64 = 1 << 19;

/// Numbers beyond which sizes around them take too long.
pub const MOST_AROUND: i64 = 1 << 16;

/// Sizes up to and beyond a large number: one of them so large, the others small, each in turn. Below it, what is cut into
/// parts has all of them, and some only in part; multiples of all vectors among them.
pub fn around(params: &[String], number: i64) -> Vec<BTreeMap<String, i64>> {
    let whole = |n: i64| n / 16 * 16;
    let sizes =
        [number, number + 1, number + 16, number - 1, whole(number * 2 / 3), number / 2 + 3];
    let point = |size: i64, large: usize| {
        let of = |(k, name): (usize, &String)| (name.clone(), if k == large { size } else { 3 });
        params.iter().enumerate().map(of).collect()
    };
    (0..params.len()).flat_map(|large| sizes.map(|size| point(size, large))).collect()
}

/// Sizes of which all facts are true, the other parameters small, and sizes at which one of the facts just fails.
pub fn points(params: &[String], facts: &[Fact]) -> Vec<BTreeMap<String, i64>> {
    let mut found = vec![];
    for (others, times) in [([3, 5, 2], 1), ([1, 37, 3], 2), ([9, 17, 33], 3), ([2, 3, 1], 9)] {
        let mut point: BTreeMap<String, i64> = BTreeMap::new();
        for (k, name) in params.iter().enumerate() {
            point.insert(name.clone(), others[k % others.len()]);
        }
        for fact in facts {
            let (name, value) = fact.nearest(times);
            if let Some(size) = point.get_mut(name) {
                *size = value;
            }
        }
        found.push(point);
    }
    for (fact, off) in facts.iter().flat_map(|f| [(f, 1), (f, -1)]) {
        let mut point = found[0].clone();
        let (name, value) = fact.nearest(1);
        if let Some(size) = point.get_mut(name) {
            *size = (value + off).max(0);
        }
        found.push(point);
    }
    found
}

impl Fact {
    /// The parameter, and a size of which the fact is true: the `times`-th.
    fn nearest(&self, times: i64) -> (&str, i64) {
        match self {
            Fact::Equals(name, n) => (name, *n),
            Fact::Multiple(name, n) => (name, n.saturating_mul(times)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_is_larger_than_the_grid() {
        let params = ["n".to_string(), "m".to_string()];
        let points = strided(&params, 256, 256);
        assert!(points.iter().any(|p| p["n"] > 65536 && p["m"] < 5), "{points:?}");
        assert!(points.iter().any(|p| p["m"] > 65536 && p["n"] < 5), "{points:?}");
        assert!(strided(&params, 4096, 1024).is_empty());
    }

    #[test]
    fn a_large_number_is_met_in_every_parameter() {
        let params = ["n".to_string(), "m".to_string()];
        let points = around(&params, 4096);
        for size in [4096, 4097, 4112, 4095, 2720, 2051] {
            assert!(points.iter().any(|p| p["n"] == size && p["m"] == 3), "n={size}");
            assert!(points.iter().any(|p| p["m"] == size && p["n"] == 3), "m={size}");
        }
    }

    #[test]
    fn points_meet_the_facts_and_vary_the_rest() {
        let params = ["n".to_string(), "m".to_string(), "k".to_string()];
        let facts = [Fact::Equals("m".into(), 24), Fact::Multiple("n".into(), 16)];
        let points = points(&params, &facts);
        let meets = |p: &&BTreeMap<String, i64>| p["m"] == 24 && p["n"] % 16 == 0 && p["n"] > 0;
        assert!(points.iter().filter(meets).count() >= 3);
        for (n, m) in [(17, 24), (15, 24), (16, 25), (16, 23)] {
            assert!(points.iter().any(|p| p["n"] == n && p["m"] == m), "n={n}, m={m}");
        }
        assert!(points.iter().any(|p| p["n"] != points[0]["n"]));
        assert!(points.iter().any(|p| p["k"] != points[0]["k"]));
    }
}
