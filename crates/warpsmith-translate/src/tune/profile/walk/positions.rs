//! Places that lanes count together: `out[m++] = x` where each lane begins with what those before it have added to `m`.
//!
//! Data decide where a block stores, but not how its lanes lie beside each other: where all of them store, the first lane's
//! elements end where the second one's begin. A variable that a scan of the lanes gives its first value, and that constants are then added
//! to, is taken for the lane's number times all that a lane adds. Of two numbers that data choose from, as for the neighbour in a
//! direction, all lanes are taken to have one.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, Function, Place, PlaceKind, Scalar, Stmt, StmtKind, Value,
    VarId, WarpOp,
};
use warpsmith_opt::walk as tree;

use super::Walk;
use crate::tune::profile::lanes::Lanes;
use crate::tune::profile::values::{Number, Thread};

/// What is known of such variables.
#[derive(Default)]
pub struct Positions {
    /// Variables that hold what lanes before have.
    before: BTreeSet<VarId>,
    /// By variable: what constants add to it in all, after it was declared.
    added: BTreeMap<VarId, i64>,
    /// What lanes have, as far as the walk has come.
    known: BTreeMap<VarId, Lanes>,
}

impl Positions {
    pub fn of(kernel: &Function) -> Positions {
        let before = from_lanes_before(&kernel.body);
        let mut added = BTreeMap::new();
        if !before.is_empty() {
            tree::each_stmt(&kernel.body, &mut |s| {
                if let StmtKind::Decl { var, init: Some(e) } = &s.kind
                    && e.ty.is_integer()
                    && before.iter().any(|b| tree::mentions(e, *b))
                {
                    let all = added_in(&kernel.body, *var).filter(|n| *n > 0);
                    added.extend(all.map(|n| (*var, n)));
                }
            });
        }
        Positions { before, added, known: BTreeMap::new() }
    }

    /// Whether a place follows from what lanes count together.
    fn decide(&self, place: &Place) -> bool {
        let mut found = false;
        tree::each_expr_of_place(place, &mut |e| found |= self.is_read(e));
        found
    }

    fn is_read(&self, e: &Expr) -> bool {
        self.known.keys().any(|v| tree::mentions(e, *v))
    }
}

/// Variables that get something from the lanes before, themselves or by others.
fn from_lanes_before(body: &Block) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    tree::each_stmt(body, &mut |s| {
        if let StmtKind::Warp { op: WarpOp::ShuffleUp, result, .. } = &s.kind {
            found.extend(*result);
        }
    });
    loop {
        let known = found.len();
        tree::each_stmt(body, &mut |s| {
            if let Some((var, value)) = set_by(s)
                && found.iter().any(|v| tree::mentions(value, *v))
            {
                found.insert(var);
            }
        });
        if found.len() == known {
            return found;
        }
    }
}

fn set_by(s: &Stmt) -> Option<(VarId, &Expr)> {
    match &s.kind {
        StmtKind::Decl { var, init: Some(value) } => Some((*var, value)),
        StmtKind::Assign { place, value } => match *place.kind {
            PlaceKind::Var(var) => Some((var, value)),
            _ => None,
        },
        _ => None,
    }
}

/// What constants add to a variable in a block, all iterations of its loops together; `None`: something else changes it, or data decide
/// how often. Of the loops around its declaration the walk enters each once, as it does with those that add.
fn added_in(block: &Block, var: VarId) -> Option<i64> {
    let mut all = 0;
    for s in &block.stmts {
        all += match &s.kind {
            StmtKind::Assign { value, .. } if set_by(s).is_some_and(|(v, _)| v == var) => {
                step(value, var)?
            }
            kind => {
                let blocks = tree::blocks(s);
                let inside: i64 = blocks.iter().map(|b| added_in(b, var)).sum::<Option<i64>>()?;
                let declares = blocks.iter().any(|b| tree::own_variables(b).contains(&var));
                match kind {
                    _ if declares || inside == 0 => inside,
                    StmtKind::For(l) => inside * constant_trips(l)?,
                    StmtKind::Loop { .. } => return None,
                    _ => inside,
                }
            }
        };
    }
    Some(all)
}

/// `c` of `var + c`.
fn step(value: &Expr, var: VarId) -> Option<i64> {
    use warpsmith_ir::poly::Poly;
    Poly::from_expr(value)?.sub(&Poly::var(var))?.as_constant().and_then(|c| i64::try_from(c).ok())
}

fn constant_trips(l: &ForLoop) -> Option<i64> {
    let [first, limit, step] = [&l.first, &l.limit, &l.step].map(|e| e.as_const());
    super::loops::trips_between(l.compare, [first?, limit?, step?]).map(|n| n as i64)
}

impl Walk<'_> {
    /// Takes down what a variable gets, where lanes count it together.
    pub(super) fn note_position(&mut self, var: VarId, e: &Expr) {
        let positions = &self.positions;
        let begins = positions.before.iter().any(|b| tree::mentions(e, *b));
        let found = match positions.added.get(&var).filter(|_| begins) {
            Some(added) => {
                let scalar = e.ty.scalar().unwrap_or(Scalar::I32);
                let at = |lane: usize| Some(Value::int(scalar, lane as i64 * added));
                Some(Lanes::Each((0..self.active.len()).map(at).collect()))
            }
            None if positions.is_read(e) => self.with_positions().eval(self.module, self.at, e),
            None => self.one_of_two(e),
        };
        match found {
            Some(found) => _ = self.positions.known.insert(var, found),
            None => _ = self.positions.known.remove(&var),
        }
    }

    /// One of two numbers, where nobody knows which.
    fn one_of_two(&self, e: &Expr) -> Option<Lanes> {
        let ExprKind::Select(cond, a, b) = &*e.without_casts().kind else { return None };
        let value = |e: &Expr| self.lanes.eval(self.module, self.at, e);
        let same = |e: &Expr| value(e).filter(|v| e.ty.is_integer() && v.same().is_some());
        let (one, _) = (same(a)?, same(b)?);
        value(cond).is_none().then_some(one)
    }

    /// The threads with these variables, if a place follows from some.
    pub(super) fn at_positions(&self, place: &Place) -> Option<Thread<Lanes>> {
        self.positions.decide(place).then(|| self.with_positions())
    }

    fn with_positions(&self) -> Thread<Lanes> {
        let mut lanes = self.lanes.clone();
        for (var, known) in &self.positions.known {
            lanes.vars.set(*var, Some(known.clone()));
        }
        lanes
    }
}

#[cfg(test)]
mod tests {
    use crate::tune::profile::rows::tests::all_launched;

    const KEPT: &str = "
void kept(int n, const float x[n], float a[n], int b[n])
{
    int m = 0;
    for (int i = 0; i < n; i++)
        if (x[i] > 0.0f) { a[m] = x[i]; b[m] = i; m++; }
}
";

    /// Sectors of the stores of the last nest, each request of a warp.
    fn sectors_of_stores(source: &str, last: &str) -> Vec<f64> {
        let steps = format!(
            "split_scan i by 64\nbind i_part -> x block 64\nbind i_row -> x block 32\n{last}"
        );
        let launches = all_launched(source, &steps, [("n", 1 << 20)]);
        let last = launches.iter().rfind(|l| l.profile.global.len() >= 3).expect("the last nest");
        let stores = last.profile.global.iter();
        let stores = stores.filter(|g| g.kind == warpsmith_device::TrafficKind::Store);
        stores.map(|g| g.sectors / g.requests).collect()
    }

    #[test]
    fn lanes_that_count_together_store_side_by_side() {
        let scan = "scan i#2 by 128\n";
        assert_eq!(sectors_of_stores(KEPT, scan), [4.0, 4.0]);
        // Each lane has four neighbours, of which it stores one at a time; what is first is the vector that it has loaded.
        let vectors = "scan i#2 by 128 vector 4\nbind i_part#3 -> x block 64\n";
        assert_eq!(sectors_of_stores(KEPT, vectors)[1..], [16.0, 16.0]);
        // Two of every iteration.
        let pairs = KEPT.replace("b[m] = i; m++", "a[m + 1] = 0.0f; m += 2");
        assert_eq!(sectors_of_stores(&pairs.replace("a[n]", "a[2 * n]"), scan), [8.0]);
    }

    #[test]
    fn neighbours_in_a_direction_that_data_choose_lie_side_by_side() {
        let source = "
void along(int n, int m, const float g[n][m], float p[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            int d = g[i][j] > 0.0f ? 1 : -1;
            p[i][j] = g[i + d][j - d];
        }
}
";
        let steps = "bind i, j -> y, x block 32x4\n";
        let launches = all_launched(source, steps, [("n", 1024), ("m", 1024)]);
        let global = &launches[0].profile.global;
        assert!(global.iter().all(|g| g.sectors / g.requests < 6.0), "{global:?}");
    }

    /// A thread alone with its part is far from those beside it.
    #[test]
    fn lanes_with_parts_of_their_own_do_not() {
        let found = sectors_of_stores(KEPT, "bind i_part#3 -> x block 64\n");
        assert_eq!(found, [32.0, 32.0]);
    }
}
