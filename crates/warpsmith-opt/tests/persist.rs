//! Launches with as many blocks as run at the same time, each of which goes over several tiles.

mod common;

use common::{GEMM, Points, check_scheduled as check, has_flat as has, refused_text};
use expect_test::{Expect, expect};

/// Sixteen blocks have up to four tiles each, and none where there are fewer.
const PRODUCTS: Points<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 40), ("m", 68), ("k", 20)],
    &[("n", 65), ("m", 100), ("k", 5)],
    &[("n", 128), ("m", 256), ("k", 8)],
    &[("n", 130), ("m", 300), ("k", 16)],
];

const TILED: &str = "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 8 pad 4 transposed\nstage B at l tile 8\n";
const KNOWN: &str = "specialise m%4=0, k%4=0, A%16=0, B%16=0, C%16=0\n";

#[test]
fn blocks_go_over_the_tiles_of_a_product() {
    let text = check(GEMM, &format!("{TILED}persist i by 16"), PRODUCTS);
    has(
        &text,
        &[
            "constexpr int RESIDENT = 16;",
            "for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {",
            "const unsigned block_x = tile % j_blocks;",
            "__syncthreads();",
            "unsigned blocks = tiles;",
            "if (blocks > RESIDENT) {",
        ],
    );
}

#[test]
fn a_fast_product_has_resident_blocks_too() {
    let steps = "unroll l\nvectorise i by 4\nvectorise j by 4\nvectorise B by 4\nwarp i, j by 8x4\npipeline l stages 3\ndouble_buffer l\nrasterise i by 4\npersist j by 24";
    let schedule = format!("{}{KNOWN}{steps}", TILED.replace("8x4", "4x8"));
    let text = check(GEMM, &schedule, PRODUCTS);
    has(
        &text,
        &[
            "const unsigned first_row = tile / (GROUP * j_blocks) * GROUP;",
            "__pipeline_memcpy_async(&B_shared[next_slot]",
        ],
    );
    // Tiles whose iterations all exist have a body of their own.
    let peeled = format!("{TILED}bounds peel\npersist i by 16\npipeline l stages 2");
    check(GEMM, &peeled, PRODUCTS);
    let padded = format!("{TILED}bounds pad\npersist i by 16");
    check(GEMM, &padded, PRODUCTS);
}

#[test]
fn nests_without_tiles_have_resident_blocks() {
    let source = "
void scale(int n, int m, const float x[n][m], float y[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = 2.0f * x[i][j];
}
";
    let sizes: Points<'_> =
        &[&[("n", 0), ("m", 5)], &[("n", 3), ("m", 7)], &[("n", 50), ("m", 129)]];
    let text = check(source, "bind i, j -> y, x block 32x2\npersist j by 16", sizes);
    has(&text, &["tile < tiles", "if (i_thread < i_left && j_thread < j_left)"]);
    assert!(!text.contains("__syncthreads"), "nothing is shared\n{text}");
    // Loops around the bound ones have tiles of their own.
    check(source, "bind j -> x block 32\npersist j by 17", sizes);
    let vectors = "bind i, j -> y, x block 8x4\nspecialise m%4=0, x%16=0, y%16=0\nregister_tile j by 4\nvectorise j by 4\npersist i by 16";
    check(source, vectors, &[&[("n", 70), ("m", 64)], &[("n", 70), ("m", 65)]]);
}

#[test]
fn threads_that_share_a_loop_wait_before_the_next_tile() {
    let source = "
void rows(int n, int m, const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            sum += A[i][j];
        s[i] = sum;
    }
}
";
    let sizes: Points<'_> =
        &[&[("n", 0), ("m", 5)], &[("n", 3), ("m", 70)], &[("n", 50), ("m", 129)]];
    let text = check(source, "bind i -> y block 1x1\nshare j -> x by 64\npersist i by 16", sizes);
    has(&text, &["everyone has read what is shared before the next tile replaces it"]);
    check(source, "bind i -> y block 1x2\nshare j -> x by 32\npersist i by 16", sizes);
}

#[test]
fn atomic_updates_and_triangles_have_resident_blocks() {
    let updates = "
void count(int n, const int x[n], int bins[16]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[x[i] & 15] += 1;
    }
}
";
    let sizes: Points<'_> = &[&[("n", 0)], &[("n", 33)], &[("n", 2000)]];
    check(updates, "bind i -> x block 32\nregister_tile i by 2\npersist i by 16", sizes);
    let triangle = "
void upper(int n, const float A[n][n], float C[n][n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            C[i][j] = 2.0f * A[i][j];
}
";
    let sizes: Points<'_> = &[&[("n", 0)], &[("n", 5)], &[("n", 70)]];
    let text = check(triangle, "rectangle j\nbind i, j -> y, x block 8x4\npersist i by 16", sizes);
    has(&text, &["no iteration of the block has an effect", "continue;"]);
}

#[track_caller]
fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(source, schedule));
}

#[test]
fn refused_are_iterations_that_end_early_and_strides() {
    let early = "
void some(int n, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] < 0.0f)
            continue;
        y[i] = x[i];
    }
}
";
    refused(
        early,
        "bind i -> x block 64\npersist i by 264",
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: an iteration ends early
         --> input.c:6:13
          |
        6 |             continue;
          |             ^^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | persist i by 264
          | ---------------- in this step
          |
          = note: step 2: `persist i by 264`
    "#]],
    );
    let plain = "
void copy(int n, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i];
}
";
    refused(
        plain,
        "bind i -> x block 64\nstride i\npersist i by 264",
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: its threads go through it in strides of the grid
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i++)
          |                  ^ this nest
          |
         ::: input.sched:3:1
          |
        3 | persist i by 264
          | ---------------- in this step
          |
          = note: step 3: `persist i by 264`
    "#]],
    );
    refused(
        plain,
        "bind i -> x block 64\npersist i by 264\nstride i",
        expect![[r#"
        error[W265]: cannot stride loop `i`: its blocks compute tiles, one each
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | stride i
          | -------- in this step
          |
          = note: step 3: `stride i`
    "#]],
    );
}
