//! Steps for nests that reduce: kernels of their own for some sizes, and constant memory.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};
use expect_test::{Expect, expect};

#[test]
fn a_reduction_gets_a_kernel_for_some_sizes() {
    let source = "
float f(int n, int m, const float a[n][m], const float b[n][m]) {
    float total = 1.0f;
    #pragma omp parallel for collapse(2) reduction(+: total)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            total += a[i][j] * b[i][j];
    return total;
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3)],
        &[("n", 1), ("m", 1)],
        &[("n", 5), ("m", 64)],
        &[("n", 40), ("m", 64)],
        &[("n", 7), ("m", 65)],
    ];
    let text = check(source, "reduce total block 32 grid 4\nspecialise m=64", sizes);
    has(&text, &["f_total_partial_m64", "% 64", "f_total_partial(", "if (m == 64) {", "} else {"]);
    check(source, "reduce total block 32 grid 4\nspecialise n%8=0, a%16=0", sizes);
    // Two nests that reduce one variable.
    let twice = "
void f(int n, const int a[n], int *sum) {
    int total = 3;
    #pragma omp parallel for reduction(+: total)
    for (int i = 0; i < n; i++) total += a[i];
    #pragma omp parallel for reduction(+: total)
    for (int i = 0; i < n; i++) total += 2 * a[i];
    *sum = total;
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 64)], &[("n", 1000)]];
    let reduce = "reduce total block 32 grid 4\nreduce total block 64 grid 2\n";
    check(twice, &format!("{reduce}specialise n=64"), sizes);
}

#[test]
fn loops_of_a_reduction_go_to_axes_of_their_own() {
    let plane = "
float f(int n, int m, const float a[n][m], const float b[n][m]) {
    float total = 1.0f;
    #pragma omp parallel for collapse(2) reduction(+: total)
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m - 1; j++)
            total += a[i][j] * b[i][j];
    return total;
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3)],
        &[("n", 1), ("m", 1)],
        &[("n", 1), ("m", 3)],
        &[("n", 5), ("m", 70)],
        &[("n", 41), ("m", 67)],
    ];
    let text = check(plane, "reduce total block 16x2 grid 2x3", sizes);
    has(
        &text,
        &[
            "__shared__ float total_shared[REDUCE_BLOCK_X * REDUCE_BLOCK_Y];",
            "const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;",
            "total_partial[blockIdx.y * gridDim.x + blockIdx.x] = total_shared[0];",
            "blocks = blocks_x * blocks_y;",
        ],
    );
    // Blocks along one axis and threads along another.
    check(plane, "reduce total block 1x32 grid 3x1", sizes);
    check(plane, "reduce total block 32x1 grid 1x4", sizes);
    check(plane, "reduce total block 8x4 grid 2x3\nspecialise m=70", sizes);
    let cube = "
void f(int n, int m, int l, const double a[n][m][l], double *least, int *count) {
    double low = 5.0;
    int small = 0;
    #pragma omp parallel for collapse(3) reduction(min: low) reduction(+: small)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = l - 1; k >= 0; k--) {
                low = a[i][j][k] < low ? a[i][j][k] : low;
                small += a[i][j][k] < 0.5;
            }
    *least = low;
    *count = small;
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3), ("l", 3)],
        &[("n", 1), ("m", 1), ("l", 1)],
        &[("n", 4), ("m", 5), ("l", 19)],
        &[("n", 9), ("m", 17), ("l", 33)],
    ];
    check(cube, "reduce low block 8x4x2 grid 2x2x2", sizes);
    check(cube, "reduce low block 16x2 grid 64x1024", sizes);
}

#[test]
fn long_names_and_many_partial_results_change_nothing() {
    // The launch of the last block does not fit a line: its extents get a name of their own.
    let long = "
void plane(int n, int m, const float field[n][m], float result[2]) {
    float total = 0, squares = 0;
    #pragma omp parallel for collapse(2) reduction(+: total) reduction(+: squares)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            total += field[i][j];
            squares += field[i][j] * field[i][j];
        }
    result[0] = total;
    result[1] = squares;
}
";
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 3)], &[("n", 5), ("m", 7)], &[("n", 25), ("m", 70)]];
    check(long, "reduce total block 32x8 grid 16x64", sizes);
    check(long, "reduce total block 32x8 grid 16x64\nspecialise m=70", sizes);
    let text = check(long, "reduce total block 32 grid 65536", sizes);
    has(&text, &["constexpr int REDUCE_FINISH = 1024;"]);
    // 48 bytes a thread: 1,024 of them would be more than a block's shared memory.
    let sums: Vec<String> = (0..6).map(|k| format!("s{k}")).collect();
    let wide = format!(
        "void f(int n, const double a[n], double out[6]) {{
    double {} = 0;
    #pragma omp parallel for reduction(+: {})
    for (int i = 0; i < n; i++) {{ {} }}
    {}
}}",
        sums.join(" = 0, "),
        sums.join(", "),
        sums.iter().map(|s| format!("{s} += a[i];")).collect::<String>(),
        (0..6).map(|k| format!("out[{k}] = s{k};")).collect::<String>()
    );
    let text = check(&wide, "reduce s0 block 64 grid 65536", &[&[("n", 0)], &[("n", 500)]]);
    has(&text, &["constexpr int REDUCE_FINISH = 1024;"]);
    let wider = wide.replace("out[6]", "out[7]").replace("s5", "s5, s6");
    let wider = wider.replace("s5, s6 += a[i];", "s5 += a[i]; s6 += a[i];");
    let wider =
        wider.replace("= s5, s6;", "= s5; out[6] = s6;").replace("s5, s6 = 0", "s5 = 0, s6 = 0");
    let text = check(&wider, "reduce s0 block 64 grid 65536", &[&[("n", 0)], &[("n", 500)]]);
    has(&text, &["constexpr int REDUCE_FINISH = 512;"]);
    let refused = refused_text(&wider, "reduce s0 block 1024 grid 8");
    assert!(refused.contains("take 57344 bytes of shared memory"), "{refused}");
}

#[test]
fn what_a_pointer_points_to_can_be_reduced() {
    let source = "
void f(int n, const int a[n], int *sum) {
    #pragma omp parallel for reduction(+: sum[:1])
    for (int i = 0; i < n; i++) *sum += a[i];
}
";
    check(source, "reduce sum block 32 grid 2", &[&[("n", 0)], &[("n", 1)], &[("n", 200)]]);
}

const WEIGHTED: &str = "
float f(int n, const float a[n + 4], const float w[5]) {
    float total = 0.0f;
    #pragma omp parallel for reduction(+: total)
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 5; k++)
            total += a[i + k] * w[k];
    return total;
}
";

#[test]
fn a_reduction_reads_constant_memory() {
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 64)], &[("n", 1000)]];
    let text = check(WEIGHTED, "reduce total block 32 grid 4\nconstant w", sizes);
    has(
        &text,
        &["__constant__ float w_constant[5];", "* w_constant[k]", "cudaMemcpyToSymbolAsync"],
    );
    check(WEIGHTED, "reduce total block 32 grid 4\nconstant w\nspecialise n=64", sizes);
    check(WEIGHTED, "reduce total block 32 grid 4\nspecialise n=64\nconstant w", sizes);
}

fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(refused_text(source, schedule).lines().next().unwrap_or_default());
}

#[test]
fn what_threads_of_a_reduction_read_apart_is_not_constant() {
    let apart = WEIGHTED.replace("w[k]", "w[i % 5]");
    refused(
        &apart,
        "reduce total block 32 grid 4\nconstant w",
        expect![
            "error[W267]: cannot read `w` from constant memory: its subscript depends on `i`, which differs between the threads of a warp"
        ],
    );
    refused(
        WEIGHTED,
        "constant w\nreduce total block 32 grid 4",
        expect![
            "error[W267]: cannot read `w` from constant memory: no bound nest reads it: bind its loops first"
        ],
    );
    refused(
        WEIGHTED,
        "specialise n=64\nreduce total block 32 grid 4",
        expect![
            "error[W266]: cannot make a kernel for a size `n`: no bound nest uses it: bind its loops first"
        ],
    );
    let written = "
int f(int n, int m, const int a[n]) {
    int total = 0;
    #pragma omp parallel for reduction(+: total)
    for (int i = 0; i < n; i++) total += a[i] * m;
    m = 3;
    return total + m;
}
";
    refused(
        written,
        "reduce total block 32 grid 4\nspecialise m=2",
        expect!["error[W266]: cannot make a kernel for a size `m`: the function changes it"],
    );
}

/// Neither a second stride nor a limit on the blocks, where nothing could run them.
#[test]
fn few_iterations_have_a_thread_each() {
    let constant = "
int f(int n, const int a[n], const int w[100]) {
    int total = 2;
    #pragma omp parallel for reduction(+: total)
    for (int k = 0; k < 100; k++) total += n * w[k];
    return total;
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 7)]];
    let strides = "k += (long long)gridDim.x * blockDim.x";
    let limit = "blocks = REDUCE_GRID;";
    let few = check(constant, "reduce total block 32 grid 4", sizes);
    has(&few, &["if (k < 100) {", "blocks = 99 / REDUCE_BLOCK + 1;"]);
    assert!(!few.contains(strides) && !few.contains(limit), "{few}");
    has(&check(constant, "reduce total block 32 grid 3", sizes), &[strides, limit]);
    // What ends an iteration early ends a loop's, but nothing of one that is none.
    let early = constant.replace("total +=", "{ if (w[k] < 0) continue; total +=");
    let early = early.replace("w[k];", "w[k]; }");
    has(&check(&early, "reduce total block 32 grid 4", sizes), &[strides]);
    let blocks = "
int f(int n, const int x[n], int y[16]) {
    int s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        y[x[i] & 15] += x[i];
        s += x[i] > 0;
    }
    return s;
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 65)], &[("n", 5000)]];
    let parts = |s: &str| check(blocks, &format!("privatise y block 64 grid {s}"), sizes);
    let few = parts("32 run 4\nreduce s block 32 grid 1");
    has(&few, &["if (part < blocks) {", "blocks2 = (blocks - 1) / REDUCE_BLOCK + 1;"]);
    assert!(!few.contains(limit), "{few}");
    has(&parts("33\nreduce s block 32 grid 1"), &["blocks2 = REDUCE_GRID;"]);
}
