//! Loops that threads share, in nests whose blocks stage arrays, stream rows or lay out the lanes of warps.

mod common;

use common::{Points, check_scheduled as check, has_flat as has, refused_text};
use expect_test::{Expect, expect};

const ROWS: &str = "
void mv(int n, int m, const float A[n][m], const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            sum += A[i][j] * x[j];
        y[i] = sum;
    }
}
";
const SIZES: Points<'_> = &[
    &[("n", 0), ("m", 9)],
    &[("n", 3), ("m", 0)],
    &[("n", 1), ("m", 31)],
    &[("n", 9), ("m", 64)],
    &[("n", 18), ("m", 200)],
];

#[test]
fn threads_take_turns_in_the_strips_of_a_loop_that_they_share() {
    let text =
        check(ROWS, "bind i -> y block 1x4\nshare j -> x by 32\nstage x at j tile 48", SIZES);
    has(
        &text,
        &[
            "const int thread = (int)threadIdx.y * LANES + (int)threadIdx.x;",
            "for (int j_block = 0; j_block < m; j_block += TILE_J) {",
            "x_shared[",
            "for (int j_strip = lane; j_strip < TILE_J; j_strip += LANES) {",
            "for (int j_strip = lane; j_strip < j_left; j_strip += LANES) {",
            "__shfl_xor_sync",
        ],
    );
    // In the other order, by several warps, and along another axis.
    check(ROWS, "bind i -> y block 1x2\nstage x at j tile 40\nshare j -> x by 64", SIZES);
    check(ROWS, "bind i -> x block 8\nstage A at j tile 12 pad 1\nshare j -> y by 4", SIZES);
    let tiled =
        "bind i -> y block 1x4\nregister_tile i by 2\nshare j -> x by 32\nstage x at j tile 64";
    check(ROWS, &format!("{tiled}\npipeline j stages 3"), SIZES);
    check(ROWS, &format!("{tiled}\nbounds peel\nunroll j"), SIZES);
    check(ROWS, &format!("{tiled}\npersist i by 16"), &[&[("n", 150), ("m", 70)]]);
    let vectors = "bind i -> y block 1x4\nspecialise m%4=0, x%16=0\nshare j -> x by 32\nstage x at j tile 64\nvectorise x by 4";
    has(&check(ROWS, vectors, SIZES), &["float4"]);
}

#[test]
fn what_a_block_reads_whole_is_there_for_the_threads_that_share_a_loop() {
    let source = "
void smooth(int n, int m, const float A[n][m + 8], const float w[8], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            for (int t = 0; t < 8; t++)
                sum += A[i][j + t] * w[t];
        y[i] = sum;
    }
}
";
    let text = check(source, "bind i -> y block 1x4\nshare j -> x by 32\nstage w", SIZES);
    has(&text, &["__shared__ float w_shared", "sum += A", "w_shared[t]"]);
    check(source, "bind i -> x block 8\nstage w\nshare j -> y by 8\nregister_tile i by 2", SIZES);
}

#[test]
fn loops_in_a_strip_are_shared() {
    let source = "
void terms(int n, int k, const float A[n][k][40], const float w[k][40], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int l = 0; l < k; l++)
            for (int j = 0; j < 40; j++)
                sum += A[i][l][j] * w[l][j];
        y[i] = sum;
    }
}
";
    let sizes: Points<'_> = &[
        &[("n", 0), ("k", 3)],
        &[("n", 5), ("k", 0)],
        &[("n", 9), ("k", 3)],
        &[("n", 18), ("k", 17)],
    ];
    let text =
        check(source, "bind i -> y block 1x4\nshare j -> x by 32\nstage w at l tile 4", sizes);
    has(&text, &["w_shared[l_strip][j]", "j += LANES"]);
    check(
        source,
        "bind i -> y block 1x2\nstage w at l tile 4\nshare j -> x by 64\npipeline l stages 2",
        sizes,
    );
    // The sum of each of the loop's iterations is used in it.
    let each = source.replace("for (int j", "{ float part = 0.0f; for (int j").replace(
        "sum += A[i][l][j] * w[l][j];",
        "part += A[i][l][j] * w[l][j]; sum += part * part; }",
    );
    check(&each, "bind i -> y block 1x2\nstage w at l tile 4\nshare j -> x by 64", sizes);
    check(&each, "bind i -> x block 4\nstage w at l tile 4\nshare j -> y by 8", sizes);
}

#[test]
fn one_of_two_shared_loops_is_staged() {
    let source = "
void norms(int n, int m, const float A[n][m], const float x[m], float B[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 1.0f;
        for (int j = 0; j < m; j++)
            sum += A[i][j] * x[j];
        for (int j = 0; j < m; j++)
            B[i][j] = A[i][j] + sum * x[j];
    }
}
";
    check(source, "bind i -> y block 1x4\nshare j, j#2 -> x by 32\nstage x at j#2 tile 64", SIZES);
    let both = "bind i -> y block 1x2\nshare j, j#2 -> x by 64\nstage x at j tile 64\nregister_tile i by 2";
    check(source, both, SIZES);
}

const CHANNELS: &str = "
void conv(int c, int h, int w, const float image[c][h + 2][w + 2], const float f[c][3][3], float out[h][w]) {
    #pragma omp parallel for collapse(2)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int k = 0; k < c; k++)
                for (int dy = 0; dy < 3; dy++)
                    for (int dx = 0; dx < 3; dx++)
                        sum += image[k][y + dy][x + dx] * f[k][dy][dx];
            out[y][x] = sum;
        }
}
";
const IMAGES: Points<'_> = &[
    &[("c", 0), ("h", 3), ("w", 4)],
    &[("c", 3), ("h", 1), ("w", 1)],
    &[("c", 9), ("h", 17), ("w", 13)],
];

#[test]
fn rows_stream_in_a_loop_that_threads_share() {
    let tiled = "bind y, x -> y, x block 8x2\nregister_tile y by 4\n";
    let text = check(CHANNELS, &format!("{tiled}share k -> z by 4\nstream dy along y"), IMAGES);
    has(&text, &["k += TEAM", "row by row, each of which several iterations of `y` meet"]);
    check(CHANNELS, &format!("{tiled}stream dy along y\nshare k -> z by 2"), IMAGES);
    let staged = "stage image at k tile 4\nshare k -> z by 4\nstream dy along y";
    let text = check(CHANNELS, &format!("{tiled}{staged}"), IMAGES);
    has(&text, &["image_shared", "k_strip += TEAM", "image_row"]);
}

#[test]
fn teams_of_lanes_are_laid_out_in_a_warp() {
    let source = "
void gram(int n, int m, const float A[n][m], const float B[n][m], float C[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            float sum = 0.0f;
            for (int j = 0; j < m; j++)
                sum += A[i][j] * B[k][j];
            C[i][k] = sum;
        }
}
";
    let warp = "bind i, k -> z, y block 1x4x4\nshare j -> x by 8\nwarp i, k by 2x2\n";
    let text = check(source, warp, SIZES);
    has(&text, &["const int lane = thread % 32;", "const int team = lane", "/ LANES;"]);
    check(source, &format!("{warp}register_tile i by 2\nstage A at j tile 16"), SIZES);
    check(source, "bind i, k -> z, y block 1x8x2\nshare j -> x by 4\nwarp i, k by 1x8", SIZES);
}

#[track_caller]
fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(refused_text(source, schedule).lines().next().unwrap_or_default());
}

#[test]
fn refused_are_strips_inside_and_reads_ahead() {
    let share = "bind i -> y block 1x4\nshare j -> x by 32\n";
    let inner = "
void smooth(int n, int m, const float A[n][m + 64], const float w[64], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            for (int t = 0; t < 64; t++)
                sum += A[i][j + t] * w[t];
        y[i] = sum;
    }
}
";
    refused(
        inner,
        &format!("{share}stage w at t tile 8"),
        expect![
            "error[W261]: cannot stage `w`: threads share loop `j`, so that they would come to the strips of `t` at different times"
        ],
    );
    refused(
        inner,
        "bind i -> y block 1x4\nstage w at t tile 8\nshare j -> x by 32",
        expect![
            "error[W261]: cannot stage `w`: threads share loop `j`, so that they would come to the strips of `t` at different times"
        ],
    );
    let staged = format!("{share}stage x at j tile 64\n");
    refused(
        ROWS,
        &format!("{staged}unroll j\ndouble_buffer j"),
        expect![
            "error[W265]: cannot double-buffer loop `j`: threads share its strips, one iteration at a time"
        ],
    );
    let known = "bind i -> y block 1x4\nspecialise m%4=0, A%16=0, x%16=0\nshare j -> x by 32\n";
    refused(
        ROWS,
        &format!("{known}stage x at j tile 64\nvectorise j by 4"),
        expect![
            "error[W265]: cannot vectorise loop `j`: threads share its strips, one iteration at a time"
        ],
    );
    refused(
        ROWS,
        &format!("{known}vectorise j by 4\nstage x at j tile 64"),
        expect![
            "error[W261]: cannot stage `x`: threads share loop `j`, and take one iteration of a strip at a time"
        ],
    );
}

#[test]
fn refused_are_copies_that_are_written_back_and_too_much_memory() {
    let written = "
void sums(int n, int m, const float A[n][m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i] += A[i][j];
}
";
    refused(
        written,
        "bind i -> y block 1x4\nstage y\naccumulate y\nshare j -> x by 32",
        expect![
            "error[W261]: cannot stage `y`: threads of the block share a loop of its nest, of which one stores what the copy would write back"
        ],
    );
    let much =
        "bind i -> x block 32\nshare j -> y by 32\nregister_tile i by 8\nstage A at j tile 20";
    refused(
        ROWS,
        much,
        expect![
            "error[W261]: cannot stage `A`: the copies of a block and its threads' sums would take 53248 bytes of shared memory, of which there are 49152"
        ],
    );
}

#[test]
fn refused_are_streams_beside_and_warps_that_are_full() {
    let tiled = "bind y, x -> y, x block 8x2\nregister_tile y by 4\n";
    let beside = CHANNELS.replace("out[y][x] = sum;", "out[y][x] = sum;\n            for (int e = 0; e < 3; e++) out[y][x] += f[0][e][0] * image[0][y + e][x];");
    refused(
        &beside,
        &format!("{tiled}share k -> z by 4\nstream e along y"),
        expect![
            "error[W265]: cannot stream loop `e`: threads of the block share a loop of its nest, and it does not stand in that"
        ],
    );
    refused(
        CHANNELS,
        &format!("{tiled}stream dy along y\nshare dx -> z by 2"),
        expect![
            "error[W265]: cannot stream loop `dy`: threads of the block share a loop of its nest, and it does not stand in that"
        ],
    );
    refused(
        ROWS,
        "bind i -> y block 1x32\nwarp i by 32\nshare j -> x by 2",
        expect![
            "error[W265]: cannot share loop `j`: the lanes of its nest's warps are laid out: take `warp` after it"
        ],
    );
    refused(
        ROWS,
        "bind i -> y block 1x4\nshare j -> x by 8\nwarp i by 2",
        expect![
            "error[W265]: cannot lay lanes along loop `i`: a warp has 4 times 8 lanes that share a loop, not 2 times"
        ],
    );
    refused(
        ROWS,
        "bind i -> y block 1x4\nshare j -> x by 64\nwarp i by 4",
        expect![
            "error[W265]: cannot lay lanes along loop `i`: threads of the block share a loop of its nest: they fill its warps"
        ],
    );
    refused(
        ROWS,
        "bind i -> x block 32\nshare j -> y by 4\nwarp i by 32",
        expect![
            "error[W265]: cannot lay lanes along loop `i`: threads of the block share a loop of its nest along y: only lanes along x can lie beside each other"
        ],
    );
}
