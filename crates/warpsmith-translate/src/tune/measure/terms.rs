//! How many terms the sums of a function have at a size: what rounding errors its results may have on a device.

use warpsmith_ir::{Block, ForLoop, Function, LoopKind, Module, Stmt, StmtKind};
use warpsmith_opt::build::{counters, trips};
use warpsmith_opt::walk;

use crate::tune::sizes::{self, Point};

/// More terms allow differences that no comparison would be worth; rounding errors of longer sums are far below their bound.
const MOST: u64 = 1 << 18;

/// A bound of the terms of any sum: the iterations of serial loops within each other inside a parallel one, and all sizes
/// together for what those do not tell.
pub(super) fn most_terms(module: &Module, function: &Function, point: &Point) -> u64 {
    let names = sizes::size_params(module, function);
    let sizes = names.iter().filter_map(|(_, name, _)| point.get(name));
    let all = sizes.map(|n| u64::try_from(*n).unwrap_or(0)).sum::<u64>();
    all.max(nested(&function.body, false, function, point).min(MOST)).max(1)
}

/// The most iterations of loops within each other; loops outside of a parallel one count once.
fn nested(block: &Block, inside: bool, function: &Function, point: &Point) -> u64 {
    let within = |l: &ForLoop| {
        iterations(l, function, point).saturating_mul(nested(&l.body, true, function, point))
    };
    let inner = |stmt: &Stmt| match &stmt.kind {
        StmtKind::For(l) => match &l.kind {
            LoopKind::Parallel(p) if p.reductions.is_empty() => {
                nested(&l.body, true, function, point)
            }
            LoopKind::Parallel(_) => within(l),
            _ if inside => within(l),
            _ => nested(&l.body, false, function, point),
        },
        _ => {
            let blocks = walk::blocks(stmt).into_iter();
            blocks.map(|b| nested(b, inside, function, point)).max().unwrap_or(1)
        }
    };
    block.stmts.iter().map(inner).max().unwrap_or(1)
}

/// 1 where it depends on more than sizes.
fn iterations(l: &ForLoop, function: &Function, point: &Point) -> u64 {
    let count = trips::sum(l, counters::counter_type(function, l));
    let count = count.and_then(|count| sizes::value_at(&count, function, point));
    count.and_then(|n| u64::try_from(n).ok()).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use warpsmith_front::cloops;
    use warpsmith_front::parse::{self, DiskLoader, Language, ParseOptions};
    use warpsmith_ir::SourceMap;

    use super::*;

    fn terms(text: &str, sizes: &[(&str, i64)]) -> u64 {
        let mut sources = SourceMap::new();
        let options = ParseOptions::new(Language::C);
        let parsed = parse::parse("f.c", text.as_bytes(), &options, &DiskLoader, &mut sources);
        let input = cloops::lower_c(&parsed.expect("C").unit, None).expect("a function");
        let point = sizes.iter().map(|(n, v)| (n.to_string(), *v)).collect();
        most_terms(&input.module, input.module.function(input.function), &point)
    }

    #[test]
    fn loops_within_each_other_multiply_their_terms() {
        let statistics = "void f(int n, int c, int h, const float x[n][c][h], float s[c]) {
            for (int t = 0; t < 9; t++)
                #pragma omp parallel for
                for (int j = 0; j < c; j++) {
                    float sum = 0;
                    for (int i = 0; i < n; i++)
                        for (int k = 0; k < h; k++) sum += x[i][j][k];
                    s[j] = sum;
                }
        }";
        assert_eq!(terms(statistics, &[("n", 20), ("c", 3), ("h", 30)]), 600);
        assert_eq!(terms(statistics, &[("n", 1 << 20), ("c", 3), ("h", 30)]), (1 << 20) + 33);
        let sum = "float f(int n, int m, const float x[n][m]) {
            float s = 0;
            #pragma omp parallel for collapse(2) reduction(+: s)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) s += x[i][j];
            return s;
        }";
        assert_eq!(terms(sum, &[("n", 200), ("m", 300)]), 60_000);
    }
}
