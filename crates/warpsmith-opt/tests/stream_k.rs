//! Sums that are split for the tiles that whole waves leave over: what becomes of a program, and that it still computes the
//! same.

mod common;

use common::{
    Input, Points, SCALED_GEMM as GEMM, check_scheduled as check, has_flat as has, refused_text,
};
use expect_test::{Expect, expect};
use warpsmith_opt::kernel::OfGpu;
use warpsmith_opt::schedule::{StepKind, template};

/// Tiles of 8 x 16, six at a time: no row of tiles, rows left over, all in whole waves, last waves that are nearly full.
const PRODUCTS: Points<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 5), ("m", 0), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 17), ("m", 9), ("k", 5)],
    &[("n", 24), ("m", 32), ("k", 7)],
    &[("n", 33), ("m", 32), ("k", 37)],
    &[("n", 55), ("m", 33), ("k", 16)],
    &[("n", 56), ("m", 16), ("k", 0)],
    &[("n", 88), ("m", 16), ("k", 9)],
];

const BOUND: &str = "stream_k l by 3 tile 8x16 of 6\nbind i, j -> y, x block 8x4\nbind l_part, i#2, j#2 -> z, y, x block 8x4x1\nbind i#3, j#3 -> y, x block 8x4\n";

#[test]
fn the_last_tiles_of_a_product_are_summed_in_parts() {
    let text = check(GEMM, BOUND, PRODUCTS);
    has(
        &text,
        &[
            "for (int l_part = 0; l_part < 3; ++l_part) {",
            "const long long i_tiles = n > 0 ? (n - 1ll) / 8 + 1 : 0;",
            "const long long j_tiles = m > 0 ? (m - 1ll) / 16 + 1 : 1;",
            "const long long tiles_left = i_tiles * j_tiles % WAVE;",
            "const int i_whole = tiles_left == 0 || tiles_left * 3 > WAVE * 2ll ? n : (int)((i_tiles * j_tiles - tiles_left) / j_tiles * 8);",
            "if (i_whole > 0 && m > 0) {",
            "if (i_whole < n && m > 0) {",
        ],
    );
    let program = Input::new(GEMM).scheduled(BOUND).unwrap();
    let launcher = program.module.function(program.launcher);
    let names: Vec<&str> =
        program.reassociated.iter().map(|v| launcher.var(*v).name.as_str()).collect();
    assert_eq!(names, ["C"]);
}

#[test]
fn both_nests_have_what_a_fast_product_has() {
    let nest = |part: &str, i: &str, j: &str, l: &str, sum: &str, arrays: [&str; 2]| {
        let [a, b] = arrays;
        format!(
            "bind {part}{i}, {j} -> {}y, x block 4x4{}\naccumulate {sum}\nregister_tile {i} by 2\nregister_tile {j} by 4\nstage {a} at {l} tile 4 pad 2 transposed\nstage {b} at {l} tile 4\nunroll {l}\n",
            if part.is_empty() { "" } else { "z, " },
            if part.is_empty() { "" } else { "x1" },
        )
    };
    let whole = nest("", "i", "j", "l", "C", ["A", "B"]);
    let rest = nest("l_part, ", "i#2", "j#2", "l#2", "C_parts", ["A", "B"]);
    let plain = format!(
        "stream_k l by 3 tile 8x16 of 6\n{whole}persist i by 16\n{rest}bind i#3, j#3 -> y, x block 8x4\naccumulate C"
    );
    let text = check(GEMM, &plain, PRODUCTS);
    has(&text, &["tile < tiles", "C_parts", "A_shared"]);
    let fast = "vectorise i by 2\nvectorise j by 4\npipeline l stages 2\ndouble_buffer l\nrasterise i by 2\n";
    let vectors = "specialise m%4=0, B%16=0\nvectorise B by 4\n";
    check(
        GEMM,
        &format!(
            "stream_k l by 3 tile 8x16 of 6\n{whole}{fast}bind l_part, i#2, j#2 -> z, y, x block 8x4x1\nbind i#3, j#3 -> y, x block 8x4"
        ),
        PRODUCTS,
    );
    check(
        GEMM,
        &format!(
            "stream_k l by 3 tile 8x16 of 6\n{whole}{vectors}bind l_part, i#2, j#2 -> z, y, x block 8x4x1\nbind i#3, j#3 -> y, x block 8x4"
        ),
        PRODUCTS,
    );
}

#[test]
fn rows_alone_and_loops_that_do_not_begin_at_zero() {
    let source = "
void f(int n, int m, const double a[n][m], const double s[n], double y[n]) {
    #pragma omp parallel for
    for (int i = 2; i <= n - 2; i++) {
        double twice = 2 * s[i], sum = 1;
        for (int k = 1; k < m; k++)
            sum += a[i][k] * twice;
        y[i] = sum;
    }
}
";
    let sizes: Points<'_> = &[
        &[("n", 0), ("m", 9)],
        &[("n", 5), ("m", 2)],
        &[("n", 33), ("m", 3)],
        &[("n", 37), ("m", 1)],
        &[("n", 70), ("m", 50)],
    ];
    let schedule = "stream_k k by 4 tile 4 of 3\nbind i -> x block 4\nbind k_part, i#2 -> y, x block 32x1\nbind i#3 -> x block 32";
    has(&check(source, schedule, sizes), &["const int i_whole =", "sum_parts"]);
    let unsigned = source.replace("int i = 2; i <= n - 2", "unsigned i = 2; i < (unsigned)n");
    check(&unsigned, schedule, &[&[("n", 2), ("m", 9)], &[("n", 70), ("m", 50)]]);
}

#[test]
fn sums_that_do_not_depend_on_an_order_stay_exact() {
    let source = "
#include <math.h>
void f(int n, int m, const float d[n][m], const float e[m][n], float least[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float best = 1e9f;
            for (int k = 0; k < m; k++)
                best = fminf(best, d[i][k] + e[k][j]);
            least[i][j] = best;
        }
}
";
    let schedule = "stream_k k by 2 tile 4x8 of 4\nbind i, j -> y, x block 8x4\nbind k_part, i#2, j#2 -> z, y, x block 8x4x1\nbind i#3, j#3 -> y, x block 8x4";
    let program = Input::new(source).scheduled(schedule).unwrap();
    assert!(program.reassociated.is_empty(), "nothing depends on an order here");
    check(
        source,
        schedule,
        &[&[("n", 0), ("m", 1)], &[("n", 9), ("m", 13)], &[("n", 17), ("m", 2)]],
    );
}

#[track_caller]
fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(source, schedule));
}

#[test]
fn refused_is_what_split_k_refuses_and_a_counter_that_is_read() {
    refused(
        GEMM,
        "bind i, j -> y, x block 8x4\nstream_k l by 3 tile 8x16 of 6",
        expect![[r#"
        error[W222]: loop `i` is bound already
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i++)
          |                  ^ an earlier step bound this loop
          |
         ::: input.sched:2:1
          |
        2 | stream_k l by 3 tile 8x16 of 6
          | ------------------------------ in this step
          |
          = note: step 2: `stream_k l by 3 tile 8x16 of 6`
    "#]],
    );
    let no_sum = "
void f(int n, int m, const float a[n][m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            y[i] = a[i][k] - y[i];
}
";
    refused(
        no_sum,
        "stream_k k by 3 tile 8 of 6",
        expect![[r#"
        error[W265]: cannot split the sum of loop `k`: `y[i]` is not combined with something by one operation
         --> input.c:5:22
          |
        5 |         for (int k = 0; k < m; k++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | stream_k k by 3 tile 8 of 6
          | --------------------------- in this step
          |
          = note: step 1: `stream_k k by 3 tile 8 of 6`
    "#]],
    );
    let read = "
void f(int n, int m, const float a[n][m], float y[n], int *last) {
    int i;
    #pragma omp parallel for
    for (i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            y[i] += a[i][k];
    last[0] = i;
}
";
    refused(
        read,
        "stream_k k by 3 tile 8 of 6",
        expect![[r#"
        error[W265]: cannot split the sum of the last tiles of loop `k`: the counter of `i` is read after the nest
         --> input.c:6:22
          |
        6 |         for (int k = 0; k < m; k++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | stream_k k by 3 tile 8 of 6
          | --------------------------- in this step
          |
          = note: step 1: `stream_k k by 3 tile 8 of 6`
    "#]],
    );
}

/// Products whose last wave may be short are offered with it, for as many multiprocessors as the GPU has.
#[test]
fn products_are_offered_with_their_last_wave_split() {
    let mut input = Input::new(GEMM);
    input.gpu = OfGpu { shared: 227 << 10, multiprocessors: 10 };
    let kernel = input.kernel();
    let root = kernel.marked_roots()[0];
    let offered = template::alternatives(&kernel, root, &input.sources);
    let offered: Vec<_> =
        offered.iter().filter(|steps| matches!(steps[0], StepKind::StreamK(_))).collect();
    let first: Vec<String> = offered.iter().map(|steps| steps[0].to_string()).collect();
    expect![[r#"
        stream_k l by 5 tile 64x128 of 30
        stream_k l by 11 tile 64x128 of 30
        stream_k l by 5 tile 64x256 of 20
        stream_k l by 11 tile 64x256 of 20
        stream_k l by 5 tile 128x256 of 10
        stream_k l by 11 tile 128x256 of 10"#]]
    .assert_eq(&first.join("\n"));
    for steps in offered {
        let text: Vec<String> = steps.iter().map(StepKind::to_string).collect();
        let program =
            Input { gpu: input.gpu, ..Input::new(GEMM) }.scheduled(&text.join("\n")).unwrap();
        assert_eq!(
            program.kernels.len(),
            5,
            "whole and split for sizes that vectors fit and others, and the sum"
        );
    }
}
