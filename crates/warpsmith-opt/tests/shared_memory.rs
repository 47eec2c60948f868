//! Where staged copies lie in shared memory: swizzled tiles, and tiles that need more than 48 KB.

mod common;

use common::{
    GEMM, Input, Points as Sizes, check_program, check_scheduled as check, has_flat as has,
    refused_text,
};
use expect_test::{Expect, expect};

const PRODUCTS: Sizes<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 17), ("m", 9), ("k", 5)],
    &[("n", 33), ("m", 31), ("k", 0)],
    &[("n", 40), ("m", 68), ("k", 20)],
    &[("n", 64), ("m", 64), ("k", 16)],
];

#[test]
fn a_transposed_tile_is_written_and_read_by_one_formula() {
    let text = check(
        GEMM,
        "bind i, j -> y, x block 32x8\naccumulate C\nregister_tile i by 4\nstage A at l tile 32 transposed swizzled",
        PRODUCTS,
    );
    has(
        &text,
        &[
            "constexpr int SWIZZLE_A = 32;",
            "A_shared[column][row ^ (column % SWIZZLE_A)]",
            "A_shared[l_strip][(i_thread + ti * BY) ^ (l_strip % SWIZZLE_A)]",
        ],
    );
}

#[test]
fn short_rows_are_permuted_alike_where_they_share_the_banks() {
    // Rows of 8 floats: four of them in the 32 banks.
    let text = check(
        GEMM,
        "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 8 swizzled\nstage B at l tile 8 swizzled",
        PRODUCTS,
    );
    has(&text, &["SWIZZLE_A = 8;", "A_shared[row][column ^ (row / 4 % SWIZZLE_A)]"]);
}

#[test]
fn vectors_stay_together() {
    let all = "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 16 transposed swizzled\nstage B at l tile 16 swizzled\nspecialise m%4=0, k%4=0, A%16=0, B%16=0, C%16=0\nvectorise i by 4\nvectorise j by 4\nvectorise A by 4\nvectorise B by 4\nunroll l";
    let text = check(GEMM, all, PRODUCTS);
    has(
        &text,
        &[
            "SWIZZLE_B = 8;",
            "*reinterpret_cast<float4 *>(&B_shared[row][column ^ (row % SWIZZLE_B * 4)]) = four;",
            "*reinterpret_cast<const float4 *>(&B_shared[l_strip][",
        ],
    );
    // Copies that run ahead, two of them in flight.
    let ahead = "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 16 transposed swizzled\nstage B at l tile 16 swizzled\nspecialise m%4=0, B%16=0\nvectorise i by 4\nvectorise j by 4\nvectorise B by 4\nunroll l by 2\ndouble_buffer l\npipeline l stages 3";
    check(GEMM, ahead, PRODUCTS);
    let doubles = GEMM.replace("float", "double").replace("0.0f", "0.0");
    check(
        &doubles,
        &ahead.replace("by 4\nunroll", "by 2\nunroll").replace("j by 4\nvec", "j by 2\nvec"),
        PRODUCTS,
    );
}

#[test]
fn boxes_are_permuted_in_their_rows() {
    let stencil = "
void f(int n, const float u[n + 2][n + 2][n + 2], float v[n][n][n]) {
    #pragma omp parallel for collapse(3)
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int c = 0; c < n; c++)
                v[a][b][c] = u[a][b + 1][c + 1] + u[a + 2][b + 1][c + 1] + u[a + 1][b][c + 1] + u[a + 1][b + 2][c + 1];
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 9)], &[("n", 16)]];
    check(stencil, "bind a, b, c -> z, y, x block 8x4x2\nstage u swizzled", sizes);
}

fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(refused_text(source, schedule).lines().next().unwrap_or_default());
}

#[test]
fn what_cannot_be_swizzled() {
    let bound = "bind i, j -> y, x block 8x4\naccumulate C\n";
    refused(
        GEMM,
        &format!("{bound}stage A at l tile 8 pad 1 swizzled"),
        expect![
            "error[W261]: cannot stage `A`: a swizzled copy has no bank conflicts that padding could help"
        ],
    );
    refused(
        GEMM,
        &format!("{bound}stage A at l tile 6 swizzled"),
        expect![
            "error[W261]: cannot stage `A`: a swizzled row has a power of two of elements, and this one 6"
        ],
    );
    refused(
        GEMM,
        &format!("{bound}stage A at l tile 1 swizzled"),
        expect![
            "error[W261]: cannot stage `A`: a row of 1 elements is too short to be swizzled: it must have two vectors of 1"
        ],
    );
    // A later step may enlarge the rows.
    refused(
        GEMM,
        &format!("{bound}stage B at l tile 8 swizzled\nregister_tile j by 3"),
        expect![
            "error[W261]: cannot stage `B`: a swizzled row has a power of two of elements, and this one 24"
        ],
    );
    let row = "
void f(int n, const float u[n + 2], float v[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) v[i] = u[i] + u[i + 2];
}
";
    refused(
        row,
        "bind i -> x block 32\nstage u swizzled",
        expect!["error[W261]: cannot stage `u`: a copy of one dimension has no rows to swizzle"],
    );
}

const LARGE: &str = "bind i, j -> y, x block 16x16\naccumulate C\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 128 transposed\nstage B at l tile 128\nunroll l by 4";

#[test]
fn more_than_48_kilobytes_are_dynamic() {
    let mut input = Input::new(GEMM);
    input.gpu.shared = 99 * 1024;
    let program = input.scheduled(LARGE).unwrap_or_else(|e| panic!("{e}"));
    let text = warpsmith_emit::module_file(&program.module).unwrap();
    has(
        &text,
        &[
            "constexpr int SHARED_BYTES = 65536;",
            "extern __shared__ __align__(16) unsigned char tiles[];",
            "float (*A_shared)[TILE_Y] = reinterpret_cast<float (*)[TILE_Y]>(tiles);",
            "float (*B_shared)[TILE_X] = A_shared + TILE_L;",
            "A_shared[column][row] =",
            "cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);",
            "SHARED_BYTES>>>",
        ],
    );
    for point in PRODUCTS {
        check_program(&input, &program, &point.iter().copied().collect());
    }
    // Vectors and copies that run ahead work there as well.
    let wide = "bind i, j -> y, x block 16x16\naccumulate C\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 64 transposed swizzled\nstage B at l tile 64\nspecialise m%4=0, B%16=0\nvectorise i by 4\nvectorise j by 4\nvectorise B by 4\nunroll l by 2\npipeline l stages 2";
    let program = input.scheduled(wide).unwrap_or_else(|e| panic!("{e}"));
    for point in PRODUCTS {
        check_program(&input, &program, &point.iter().copied().collect());
    }
    // Not all copies of a size that the next one can follow.
    let uneven =
        "bind i, j -> y, x block 16x3\nstage A at l tile 1000 pad 1\nstage B at l tile 1000";
    let error = input.scheduled(uneven).map(|_| ()).expect_err("this should not fit");
    assert!(error.contains("copies lie at multiples of 16 bytes"), "{error}");
    // Without the limit of an architecture, 48 KB are all there is.
    refused(
        GEMM,
        LARGE,
        expect![
            "error[W261]: cannot stage `B`: the copies of a block would take 65536 bytes of shared memory, of which there are 49152"
        ],
    );
}

#[test]
fn what_loops_without_iterations_read_is_not_copied() {
    let source = "
void f(int n, int m, int k, float v[k][n][m], const float u[k][n][m])
{
    #pragma omp parallel for
    for (int i = 1; i < k - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int p = 1; p < m - 1; p++)
                v[i][j][p] = u[i][j][p] + u[i - 1][j - 1][p + 1];
}
";
    let text = refused_text(source, "bind i -> x block 64\nspecialise m=1\nstage u at j tile 8");
    has(&text, &["a subscript depends on `p`, which has no iteration"]);
}
