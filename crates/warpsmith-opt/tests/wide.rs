//! Steps that decide how a tile is worked off: vectors, warps, copies that run ahead, the order of the blocks.

mod common;

use common::{
    GEMM, Input, Points as Sizes, check_scheduled as check, check_shifted, has_flat as has,
};

const PRODUCTS: Sizes<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 17), ("m", 9), ("k", 5)],
    &[("n", 33), ("m", 31), ("k", 0)],
    &[("n", 17), ("m", 36), ("k", 4)],
    &[("n", 40), ("m", 68), ("k", 20)],
    &[("n", 64), ("m", 64), ("k", 16)],
];

const TILED: &str = "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nregister_tile j by 8\nstage A at l tile 8 pad 4 transposed\nstage B at l tile 8\n";
const KNOWN: &str = "specialise m%4=0, k%4=0, A%16=0, B%16=0, C%16=0\n";

#[test]
fn a_thread_reads_fragments_of_shared_memory_before_it_multiplies() {
    let text = check(GEMM, TILED, PRODUCTS);
    has(
        &text,
        &[
            "float a[TY];",
            "a[ti] = A_shared[l_strip][i_thread + ti * BY];",
            "float b[TX];",
            "b[tj] = B_shared[l_strip][j_thread + tj * BX];",
            "acc[ti][tj] += a[ti] * b[tj];",
        ],
    );
}

#[test]
fn neighbouring_iterations_are_read_together() {
    let text = check(GEMM, &format!("{TILED}vectorise i by 4\nvectorise j by 2"), PRODUCTS);
    has(
        &text,
        &[
            "__shared__ __align__(16) float A_shared",
            "const int i_thread = (int)threadIdx.y * 4;",
            "const int j_thread = (int)threadIdx.x * 2;",
            "ti += 4",
            "const float4 four = *reinterpret_cast<const float4 *>(&A_shared",
            "a[ti + 3] = four.w;",
            "tj += 2",
            "const float2 pair = *reinterpret_cast<const float2 *>(&B_shared",
            "i_block + i_thread + ti;",
            "j_block + j_thread + tj / 2 * (2 * BX) + tj % 2;",
        ],
    );
    // A row of nine floats is no multiple of two: what cannot be aligned is read one by one.
    let odd = TILED.replace("stage B at l tile 8", "stage B at l tile 8 pad 1");
    let text = check(GEMM, &format!("{odd}vectorise j by 2"), PRODUCTS);
    assert!(!text.contains("float2"), "{text}");
}

#[test]
fn aligned_arrays_are_copied_and_stored_in_vectors_and_others_as_before() {
    let schedule = format!(
        "{TILED}{KNOWN}vectorise i by 4\nvectorise j by 4\nvectorise A by 4\nvectorise B by 4"
    );
    let text = check(GEMM, &schedule, PRODUCTS);
    has(
        &text,
        &[
            "float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);",
            "four = *reinterpret_cast<const float4 *>(&A[",
            "A_shared[column + 3][row] = four.w;",
            "*reinterpret_cast<float4 *>(&B_shared[row][column]) = four;",
            "*reinterpret_cast<float4 *>(&C[(size_t)i * m + j]) =",
            "make_float4(acc[ti][tj], acc[ti][tj + 1], acc[ti][tj + 2], acc[ti][tj + 3]);",
            "if (m % 4 == 0 && k % 4 == 0 && (unsigned long long)A % 16 == 0",
        ],
    );
    // The launcher looks at the addresses, too.
    let mut input = Input::new(GEMM);
    let program = input.scheduled(&schedule).unwrap();
    for shift in [1, 2, 3] {
        let sizes = [("n", 40), ("m", 68), ("k", 20)].into_iter().collect();
        check_shifted(&input, &program, &sizes, shift);
    }
}

#[test]
fn rows_of_single_loops_are_moved_in_vectors() {
    let saxpy = "
void saxpy(int n, float a, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("a", 2)],
        &[("n", 3), ("a", 3)],
        &[("n", 128), ("a", 3)],
        &[("n", 300), ("a", 3)],
        &[("n", 301), ("a", 3)],
    ];
    let schedule = "bind i -> x block 32\nspecialise n%4=0, x%16=0, y%16=0\nregister_tile i by 4\nvectorise i by 4";
    let text = check(saxpy, schedule, sizes);
    has(
        &text,
        &[
            "const float4 x4 = *reinterpret_cast<const float4 *>(&x[i]);",
            "const float4 y4 = *reinterpret_cast<const float4 *>(&y[i]);",
            "make_float4(a * x4.x + y4.x,",
        ],
    );
    // Two stores, one of which another statement reads.
    let two = "
void two(int n, int m, const double x[n][m], double y[n][m], double z[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            y[i][j] = x[i][j] + i * j;
            z[i][j] += y[i][j] * j;
        }
}
";
    let schedule = "bind i, j -> y, x block 8x4\nspecialise m%2=0, x%16=0, y%16=0, z%16=0\nregister_tile j by 4\nregister_tile i by 2\nvectorise j by 2";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 5)],
        &[("n", 5), ("m", 33)],
        &[("n", 9), ("m", 34)],
        &[("n", 8), ("m", 64)],
    ];
    has(&check(two, schedule, sizes), &["const double2 y2 = ", "make_double2("]);
    // A store that another access of the iteration may meet stays as it is.
    let meets =
        two.replace("z[i][j] += y[i][j] * j;", "z[i][j] += y[n - 1 - i][m - 1 - j] * 0 + j;");
    let meets = meets.replace("y[i][j] = x", "z[i][j] = x").replace("double y", "const double y");
    let text = check(&meets, schedule, sizes);
    assert!(text.contains("double2"), "{text}");
}

#[test]
fn what_a_condition_keeps_iterations_from_reading_is_not_read_in_vectors() {
    let shorter = "
void f(int n, int m, const float x[m], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = i < m ? x[i] : 1.0f;
}
";
    let schedule = "bind i -> x block 32\nspecialise n%4=0, x%16=0, y%16=0\nregister_tile i by 4\nvectorise i by 4";
    let sizes: Sizes<'_> = &[&[("n", 64), ("m", 10)], &[("n", 64), ("m", 70)]];
    has(&check(shorter, schedule, sizes), &["float4 *>(&y[i]) ="]);
}

#[test]
fn copies_run_ahead() {
    for (schedule, pieces) in [
        (
            format!("{TILED}pipeline l stages 2"),
            vec![
                "float A_shared[STAGES][TILE_L][TILE_Y + 4];",
                "for (int strip = 0; strip < STAGES - 1; ++strip)",
                "__pipeline_memcpy_async(&A_shared[strip][column][row], &A[",
                "__pipeline_commit();",
                "__pipeline_wait_prior(0);",
                "__syncthreads();",
                "if (k - l_block > TILE_L)",
                "__pipeline_commit();",
                "A_shared[slot][l_strip]",
            ],
        ),
        (
            format!("{TILED}{KNOWN}vectorise j by 4\nvectorise B by 4\npipeline l stages 4"),
            vec![
                "__pipeline_memcpy_async(&B_shared[strip][row][column]",
                ", 16,",
                "__pipeline_wait_prior(2);",
            ],
        ),
        (
            format!("{TILED}pipeline l stages 3\nbounds peel\nunroll l"),
            vec!["__pipeline_wait_prior(1);"],
        ),
    ] {
        let text = check(GEMM, &schedule, PRODUCTS);
        has(&text, &pieces);
        let kernel = text.split("__global__").find(|k| k.contains("__pipeline")).unwrap();
        let peeled = if schedule.contains("peel") { 2 } else { 1 };
        assert_eq!(
            kernel.matches("__syncthreads()").count(),
            peeled,
            "one barrier a strip:\n{text}"
        );
    }
}

#[test]
fn fragments_are_read_one_iteration_ahead() {
    let double = format!("{TILED}unroll l\nvectorise j by 4\n");
    let text = check(GEMM, &format!("{double}pipeline l stages 2\ndouble_buffer l"), PRODUCTS);
    has(
        &text,
        &[
            "float a[2][TY];",
            "a[0][ti] = A_shared[slot][0][i_thread + ti * BY];",
            "float b[2][TX];",
            "__pipeline_commit();",
            "for (int l_strip = 0; l_strip < TILE_L; ++l_strip)",
            "if (l_strip + 1 < TILE_L) {",
            "a[(l_strip + 1) % 2][ti] = A_shared[slot][l_strip + 1][i_thread + ti * BY];",
            "b[(l_strip + 1) % 2][tj + 3] = four.w;",
            "acc[ti][tj] += a[l_strip % 2][ti] * b[l_strip % 2][tj];",
        ],
    );
    for how in ["unroll l by 2", "unroll l by 4\nbounds peel", "specialise k%8=0\nunroll l"] {
        check(GEMM, &format!("{TILED}{how}\ndouble_buffer l"), PRODUCTS);
    }
    // What an inner loop moves is read where it is used.
    let convolution = "
void f(int n, int m, const float in[n][m + 4], const float w[n][5], float out[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int l = 0; l < n; l++) {
                s += w[l][1] * w[i][0];
                for (int b = 0; b < 5; b++)
                    s += in[l][j + b] * w[l][b];
            }
            out[i][j] = s;
        }
}
";
    let sizes: Sizes<'_> = &[&[("n", 1), ("m", 5)], &[("n", 9), ("m", 16)], &[("n", 8), ("m", 33)]];
    let schedule = "bind i, j -> y, x block 8x4\nregister_tile i by 2\nregister_tile j by 2\nstage in at l tile 4\nunroll l\ndouble_buffer l";
    check(convolution, schedule, sizes);
}

#[test]
fn copies_that_run_ahead_in_an_outer_loop_wait_for_each_other() {
    let source = "
void powers(int n, const double A[n][n], const double B[n][n], double C[n][n]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int r = 1; r < 4; r++)
                for (int l = 1; l <= n - 1; l++)
                    s += r * A[i][l] * B[l][j];
            C[i][j] = s;
        }
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 5)], &[("n", 16)], &[("n", 21)]];
    for stages in [2, 3, 5] {
        let schedule = format!(
            "bind i, j -> y, x block 8x4\nstage A at l tile 4\nstage B at l tile 4\nregister_tile i by 2\npipeline l stages {stages}"
        );
        let text = check(source, &schedule, sizes);
        has(&text, &["everyone is done with the last strips before the first ones come again"]);
    }
}

#[test]
fn warps_compute_tiles_of_their_own() {
    let lanes = [
        ("8x8", "warp i, j by 8x4", "const int lane_x = lane % 2 + lane / 4 % (LANES_X / 2) * 2;"),
        ("16x4", "warp i, j by 4x8", "const int lane_y = lane / 2 % 2 + lane / (2 * LANES_X) * 2;"),
        ("8x16", "warp i, j by 16x2", "const int lane_x = lane % 2;"),
        ("16x8", "warp j, i by 8x4", "warp / (BX / LANES_X) * (LANES_Y * TY) + lane_y * 4;"),
        ("32x4", "warp i, j by 1x32", "const int i_thread = warp * TY;"),
        ("4x32", "warp i, j by 32x1", "const int i_thread = lane * 4;"),
    ];
    for (block, warp, start) in lanes {
        let schedule = format!(
            "bind i, j -> y, x block {block}\naccumulate C\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 4 pad 4 transposed\nstage B at l tile 4\nvectorise i by 4\nvectorise j by 4\n{warp}"
        );
        let text = check(GEMM, &schedule, PRODUCTS);
        has(&text, &["const int lane = thread % 32;", "const int warp = thread / 32;", start]);
    }
    // Without tiles and copies, the order of the threads alone.
    check(GEMM, "bind i, j -> y, x block 16x8\nwarp i, j by 8x4\naccumulate C", PRODUCTS);
}

#[test]
fn what_no_loop_of_the_tile_moves_is_read_once() {
    let schedule = "bind i, j -> y, x block 8x1\nregister_tile i by 4\nstage A at l tile 4";
    let text = check(GEMM, schedule, PRODUCTS);
    has(&text, &["const float b = ", "A_shared[ti][l_strip] * b;"]);
}

#[test]
fn blocks_run_in_groups() {
    let text = check(
        GEMM,
        "bind i, j -> y, x block 8x4\nregister_tile i by 2\nrasterise i by 3",
        PRODUCTS,
    );
    has(
        &text,
        &[
            "constexpr int GROUP = 3;",
            "const unsigned group_rows = min(i_blocks - first_row, (unsigned)GROUP);",
            "const unsigned block_x = block_in_group / group_rows;",
            "const unsigned block_y = first_row + block_in_group % group_rows;",
        ],
    );
    let batched = "
void batched(int b, int n, const float A[b][n][n], const float B[b][n][n], float C[b][n][n]) {
    #pragma omp parallel for collapse(3)
    for (int p = 0; p < b; p++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                float s = 0;
                for (int l = 0; l < n; l++)
                    s += A[p][i][l] * B[p][l][j];
                C[p][i][j] = 2 * s + 3 * C[p][i][j];
            }
}
";
    let schedule = "bind p, i, j -> z, y, x block 8x4x1\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 4 pad 4 transposed\nstage B at l tile 4\nunroll l\nspecialise n%4=0, A%16=0, B%16=0, C%16=0\nvectorise i by 4\nvectorise j by 4\nvectorise B by 4\nwarp i, j by 4x8\npipeline l stages 2\nrasterise i by 2";
    let sizes: Sizes<'_> = &[
        &[("b", 0), ("n", 3)],
        &[("b", 1), ("n", 1)],
        &[("b", 3), ("n", 33)],
        &[("b", 2), ("n", 36)],
        &[("b", 3), ("n", 48)],
    ];
    let text = check(batched, schedule, sizes);
    assert!(!text.contains("BZ"), "an axis of one thread is not mentioned:\n{text}");
    has(&text, &["const float4 C4 = ", "make_float4(2.0f * s[ti][tj] + 3.0f * C4.x,"]);
}

#[test]
fn products_in_all_orders_and_types_in_vectors() {
    let sizes: Sizes<'_> = &[
        &[("n", 1), ("m", 2), ("k", 3)],
        &[("n", 35), ("m", 36), ("k", 8)],
        &[("n", 36), ("m", 36), ("k", 12)],
    ];
    let cases = [
        ("A[k][n]", "A[l][i]", "B[k][m]", "B[l][j]", "", ""),
        ("A[n][k]", "A[i][l]", "B[m][k]", "B[j][l]", " pad 4 transposed", " pad 4 transposed"),
        ("A[k][n]", "A[l][i]", "B[m][k]", "B[j][l]", "", " pad 4 transposed"),
        ("A[n][k]", "A[i][l]", "B[k][m]", "B[l][j]", " pad 4 transposed", ""),
    ];
    for (ty, width) in [("double", 2), ("float", 4), ("int", 4), ("unsigned char", 4), ("long", 2)]
    {
        for (a, a_read, b, b_read, a_how, b_how) in cases {
            let source = format!(
                "void f(int n, int m, int k, const {ty} {a}, const {ty} {b}, {ty} C[n][m]) {{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {{
            {ty} s = 0;
            for (int l = 0; l < k; l++)
                s += {a_read} * {b_read};
            C[i][j] = s;
        }}
}}
"
            );
            let known = 16;
            let mut schedule = format!(
                "bind i, j -> y, x block 8x4\nregister_tile i by 4\nregister_tile j by 4\nstage A at l tile 4{a_how}\nstage B at l tile 4{b_how}\nspecialise n%4=0, m%4=0, k%4=0, A%{known}=0, B%{known}=0, C%{known}=0\nvectorise i by {width}\nvectorise j by {width}\nvectorise A by {width}\nvectorise B by {width}\nwarp i, j by 4x8\n"
            );
            if a_how.is_empty() && b_how.is_empty() {
                schedule += "pipeline l stages 2\n";
            }
            check(&source, &schedule, sizes);
        }
    }
}

/// Elements lie side by side only as far as nothing but the last subscript moves, a variable of the user's included.
#[test]
fn rows_that_change_from_column_to_column_are_no_vectors() {
    let steps = "bind i, j -> y, x block 8x2\nspecialise m%4=0, x%16=0, y%16=0\nregister_tile j by 8\nvectorise j by 4\n";
    let sizes: Sizes<'_> = &[
        &[("n", 3), ("m", 4)],
        &[("n", 5), ("m", 64)],
        &[("n", 9), ("m", 36)],
        &[("n", 2), ("m", 7)],
    ];
    let zigzag = "
void zigzag(int n, int m, const float x[n][m], float y[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int row = (i + j) % n, column = (j + 1) % m;
            float half = 0.5f * (j % 2);
            y[i][j] = x[row][j] + half * x[row][column];
        }
}
";
    let text = check(zigzag, steps, sizes);
    assert!(!text.contains("reinterpret_cast<const float4 *>"), "{text}");
    // A row may end inside of a group: what its missing iterations would read is not known.
    let doubled = "
void doubled(int n, int m, const float x[n][m], float y[2 * n][2 * m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < 2 * n - 2; i++)
        for (int j = 0; j < 2 * m - 2; j++) {
            int a = i / 2, b = j / 2;
            float f = 0.5f * (i % 2), g = 0.5f * (j % 2);
            y[i][j] = (1 - f) * ((1 - g) * x[a][b] + g * x[a][b + 1])
                + f * ((1 - g) * x[a + 1][b] + g * x[a + 1][b + 1]);
        }
}
";
    check(doubled, steps, sizes);
}

#[test]
fn what_is_staged_after_a_pipeline_runs_ahead_as_well() {
    let tiled = "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\n";
    let (a, b) = ("stage A at l tile 8\n", "stage B at l tile 8\n");
    let ahead = "unroll l by 2\npipeline l stages 3\ndouble_buffer l\n";
    let both_before = check(GEMM, &format!("{tiled}{a}{b}{ahead}"), PRODUCTS);
    let one_behind = check(GEMM, &format!("{tiled}{a}{ahead}{b}"), PRODUCTS);
    has(&both_before, &["B_shared[STAGES][TILE_L]", "__pipeline_memcpy_async(&B_shared[strip]"]);
    assert_eq!(both_before, one_behind);
}
