//! Steps of a schedule one by one: what they make of a program, and that it still computes the same.

mod common;

use common::{GEMM, Input, Points as Sizes, check_scheduled as check, has, refused_text};
use warpsmith_opt::rewrite::unroll;
use warpsmith_opt::schedule::{self, StepKind, registry};

const PRODUCTS: Sizes<'_> = &[
    &[("n", 0), ("m", 3), ("k", 2)],
    &[("n", 1), ("m", 1), ("k", 1)],
    &[("n", 17), ("m", 9), ("k", 5)],
    &[("n", 33), ("m", 31), ("k", 0)],
    &[("n", 16), ("m", 32), ("k", 8)],
];

#[test]
fn threads_along_x_go_on_in_strides_of_the_grid() {
    let text = check(GEMM, "bind i, j -> y, x block 8x4\nstride j", PRODUCTS);
    for part in [
        "blocks of a grid along any axis",
        "i += (long long)gridDim.y * blockDim.y",
        "j += (long long)gridDim.x * blockDim.x",
        "blocks_x > MAX_BLOCKS",
    ] {
        has(&text, &[part]);
    }
    assert!(!text.contains("return;"), "no thread leaves:\n{text}");
}

#[test]
fn an_accumulator_starts_with_what_was_stored() {
    let text = check(GEMM, "bind i, j -> y, x block 8x4\naccumulate C", PRODUCTS);
    has(&text, &["float acc = 0.0f;", "acc +=", "C[", "= acc;"]);
    assert_eq!(text.matches("C[").count(), 1, "one store and nothing else:\n{text}");
}

#[test]
fn an_accumulator_loads_where_nothing_was_stored_or_the_bounds_look() {
    let bounds = "
void f(int n, const int a[n], int s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        s[i] = a[i];
        for (int l = a[i]; l < 9; l++)
            s[i] += l;
    }
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 37)]];
    let text = check(bounds, "bind i -> x block 32\naccumulate s", sizes);
    has(&text, &["s[i] = a[i];", "int acc = s[i];"]);
    let between = "
void f(int n, const int a[n], int s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        s[i] = 1;
        s[i] = s[i] * 2;
        for (int b = 0; b < 3; b++) {
            int t = a[i] - b;
            for (int l = 0; l < 4; l++)
                s[i] += t * l;
        }
    }
}
";
    let text = check(between, "bind i -> x block 32\naccumulate s", sizes);
    has(&text, &["s[i] = 1;", "int acc = s[i] * 2;", "for (int b", "for (int l", "s[i] = acc;"]);
}

#[test]
fn an_element_stored_right_before_the_loop_is_accumulated_under_conditions() {
    let source = "
void f(int n, int m, const float A[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        s[i] = 1.0f;
        for (int l = 0; l < m; l++) {
            if (A[i][l] > 0.0f) s[i] += A[i][l];
        }
    }
}
";
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 3)], &[("n", 33), ("m", 0)], &[("n", 40), ("m", 9)]];
    let text = check(source, "bind i -> x block 32\naccumulate s", sizes);
    has(&text, &["float acc = 1.0f;", "> 0.0f) {", "acc += A[", "s[i] = acc;"]);
    // Nobody knows whether the element exists where no iteration adds to it.
    let unknown = source.replace("        s[i] = 1.0f;\n", "");
    let text = refused_text(&unknown, "bind i -> x block 32\naccumulate s");
    assert!(text.contains("it is assigned under a condition inside the loop"), "{text}");
}

#[test]
fn an_accumulator_goes_no_further_out_than_its_subscripts() {
    // The rule of the reference, read loosely, would take C[k] out of both loops.
    let source = "
void f(int n, int m, const float a[m], float C[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int b = 0; b < 3; b++)
            for (int k = 0; k < m; k++)
                for (int c = 0; c < 2; c++)
                    C[i][k] += a[k] * b + c;
}
";
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 2)], &[("n", 1), ("m", 1)], &[("n", 33), ("m", 5)]];
    let text = check(source, "bind i -> x block 32\naccumulate C", sizes);
    has(&text, &["for (int b", "for (int k", "float acc = C[", "for (int c", "= acc;"]);
}

#[test]
fn shared_arrays_are_declared_by_name() {
    let schedule = "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 4 pad 1\nstage B at l tile 4 transposed\nregister_tile i by 4";
    let text = check(GEMM, schedule, PRODUCTS);
    has(&text, &["A_shared[TILE_Y][TILE_L + 1]", "B_shared[BX][TILE_L]"]);
    let stencil = "
void five(int n, int m, const float u[n][2 * m], float v[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = u[i][2 * j] - u[i - 1][2 * j] - u[i + 1][2 * j + 1];
}
";
    let sizes: Sizes<'_> = &[&[("n", 1), ("m", 1)], &[("n", 19), ("m", 35)]];
    let text = check(stencil, "bind i, j -> y, x block 8x4\nstage u", sizes);
    has(&text, &["u_shared[BY + 2][2 * BX]"]);
}

#[test]
fn copies_have_loops_of_known_length_where_every_thread_copies_as_many() {
    let stages = "\naccumulate C\nstage A at l tile 4\nstage B at l tile 4";
    // Two steps down the rows of A, one element of B for each thread.
    let text = check(
        GEMM,
        &format!("bind i, j -> y, x block 8x4{stages}\nregister_tile i by 4"),
        PRODUCTS,
    );
    let rows = "const int row = thread / TILE_L + step * (BX * BY / TILE_L);";
    has(&text, &["step < TILE_Y * TILE_L / (BX * BY); ++step", rows, "column = thread % TILE_L;"]);
    has(&text, &["const int row = thread / BX;", "const int column = thread % BX;"]);
    // As many threads as a row has elements, and rows that are longer than that.
    let text = check(
        GEMM,
        &format!("bind i, j -> y, x block 8x2{stages}\nregister_tile j by 2"),
        PRODUCTS,
    );
    has(&text, &["const int row = step;", "const int column = thread;"]);
    let text = check(
        GEMM,
        &format!("bind i, j -> y, x block 8x2{stages}\nregister_tile j by 4"),
        PRODUCTS,
    );
    has(&text, &["const int element = thread + step * (BX * BY);", "row = element / TILE_X;"]);
    // Not all threads have as many.
    let text = check(GEMM, &format!("bind i, j -> y, x block 8x3{stages}"), PRODUCTS);
    has(&text, &["element < BY * TILE_L; element += BX * BY"]);
}

#[test]
fn serial_loops_are_cut_into_strips() {
    for schedule in [
        "bind i, j -> y, x block 8x4\nsplit l by 4",
        "split l by 3\nbind i, j -> y, x block 8x4\naccumulate C\nunroll l",
        "split l by 4\nbind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 2\nregister_tile i by 2",
        "split l by 8\nsplit l by 2\nbind i, j -> y, x block 8x4",
    ] {
        check(GEMM, schedule, PRODUCTS);
    }
    let text = check(GEMM, "bind i, j -> y, x block 8x4\nsplit l by 4", PRODUCTS);
    has(
        &text,
        &[
            "for (int l_block = 0; l_block < k; l_block += 4)",
            "for (int l = l_block; l < (k - l_block > 4 ? l_block + 4 : k); ++l)",
        ],
    );
    let inclusive = "
void f(int n, int lo, int hi, const int a[n], int s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int t = 0;
        for (int l = lo; l <= hi; l++)
            t = t * 3 + l * a[i];
        s[i] = t;
    }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 5), ("lo", 0), ("hi", -1)],
        &[("n", 5), ("lo", 2), ("hi", 2)],
        &[("n", 5), ("lo", -3), ("hi", 4)],
        &[("n", 5), ("lo", 1), ("hi", 8)],
        &[("n", 1), ("lo", 2147483637), ("hi", 2147483640)],
    ];
    check(inclusive, "bind i -> x block 32\nsplit l by 4", sizes);
}

#[test]
fn nested_serial_loops_are_computed_in_tiles() {
    let source = "
void transpose_sum(int n, int m, const int a[n][m], int b[m][n], int s[4]) {
    #pragma omp parallel for
    for (int t = 0; t < 4; t++) {
        s[t] = t;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                s[t] += a[i][j] * (i + 2 * j + t);
    }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3)],
        &[("n", 1), ("m", 1)],
        &[("n", 7), ("m", 5)],
        &[("n", 8), ("m", 6)],
    ];
    let mut input = Input::new(source);
    let refused = input.scheduled("tile i, j by 4x3").unwrap_err();
    assert!(refused.starts_with("error[W225]"), "{refused}");
    let independent = "
void transpose(int n, int m, int k, const int a[k][n][m], int b[k][m][n]) {
    #pragma omp parallel for
    for (int t = 0; t < k; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                b[t][j][i] = a[t][i][j] * 2;
}
";
    let with_k: Vec<Vec<(&'static str, i64)>> =
        sizes.iter().map(|p| p.iter().copied().chain([("k", 3)]).collect()).collect();
    let with_k: Vec<&[(&'static str, i64)]> = with_k.iter().map(Vec::as_slice).collect();
    for schedule in
        ["bind t -> x block 32\ntile i, j by 4x3", "tile i, j by 2x8\nbind t -> x block 32"]
    {
        let text = check(independent, schedule, &with_k);
        has(&text, &["for (int i_block", "for (int j_block", "for (int i =", "for (int j ="]);
    }
}

const STRIDED: &str = "
void strided(int n, int m, const float a[n][m], float b[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = n - 1; i >= 1; i -= 3)
        for (int j = 1; j < m; j += 4)
            b[i][j] = a[i - 1][j - 1] + 1.0f;
}
";

#[test]
fn every_step_th_thread_works() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 0)],
        &[("n", 1), ("m", 1)],
        &[("n", 2), ("m", 2)],
        &[("n", 30), ("m", 65)],
        &[("n", 31), ("m", 66)],
    ];
    let text = check(STRIDED, "bind i, j -> y, x block 32x4\nindexing j sparse", sizes);
    has(&text, &["if ((j - 1) % 4 == 0)"]);
    for schedule in [
        "bind i, j -> y, x block 32x4\nindexing i sparse\nindexing j sparse",
        "bind i, j -> y, x block 32x4\nindexing i dense",
        "bind i, j -> y, x block 32x4\nindexing j sparse\nindexing i dense",
    ] {
        check(STRIDED, schedule, sizes);
    }
    let unsigned = "
void f(unsigned n, unsigned from, float b[n]) {
    #pragma omp parallel for
    for (unsigned i = from; i < n; i += 5)
        b[i] = i;
}
";
    let sizes: Sizes<'_> =
        &[&[("n", 0), ("from", 3)], &[("n", 4), ("from", 3)], &[("n", 100), ("from", 7)]];
    check(unsigned, "bind i -> x block 32\nindexing i sparse", sizes);
}

#[test]
fn special_sizes_have_kernels_of_their_own() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 16), ("k", 8)],
        &[("n", 16), ("m", 16), ("k", 8)],
        &[("n", 16), ("m", 15), ("k", 8)],
        &[("n", 16), ("m", 48), ("k", 8)],
        &[("n", 33), ("m", 16), ("k", 0)],
    ];
    let text = check(
        GEMM,
        "bind i, j -> y, x block 8x4\nspecialise n=16, m%16=0\naccumulate C\nstage A at l tile 4\nstage B at l tile 4\nregister_tile i by 4",
        sizes,
    );
    has(&text, &["gemm_kernel_n16_m_by16(", "gemm_kernel("]);
    has(&text, &["if (n == 16 && m % 16 == 0)", "else"]);
    for schedule in [
        "bind i, j -> y, x block 8x4\nspecialise n=16",
        "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 4\nspecialise k=8, n%16=0, m=16",
        "bind i, j -> y, x block 8x4\nspecialise k=8\nspecialise k=0\nunroll l\naccumulate C\nunroll l#2",
        "bind i, j -> y, x block 8x4\naccumulate C\nspecialise m%8=0, n%4=0",
    ] {
        check(GEMM, schedule, sizes);
    }
    // Blocks that are filled need no guards.
    let text = check(GEMM, "bind i, j -> y, x block 8x4\nspecialise m%8=0", sizes);
    assert_eq!(text.matches("return;").count(), 1, "only the general kernel has a guard:\n{text}");
}

#[test]
fn specialised_tiles_without_guards() {
    let stencil = "
void five(int n, int m, const float u[n][m], float v[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i][j] = 4 * u[i][j] - u[i - 1][j] - u[i + 1][j] - u[i][j - 1] - u[i][j + 1];
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 2), ("m", 2)],
        &[("n", 10), ("m", 18)],
        &[("n", 10), ("m", 19)],
        &[("n", 34), ("m", 18)],
    ];
    let schedule =
        "bind i, j -> y, x block 8x4\nspecialise n=10, m=18\nregister_tile i by 2\nstage u";
    let text = check(stencil, schedule, sizes);
    let special = text.split("__global__").nth(1).unwrap_or_default();
    assert!(!special.contains("if ("), "no guard is left:\n{special}");
}

const CONVOLVE: &str = "
void convolve(int n, int m, const float in[n + 4][m + 2], const float f[5][3], const float g[2], float out[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0.0f;
            for (int a = 0; a < 5; a++)
                for (int b = 0; b < 3; b++)
                    sum += in[i + a][j + b] * f[a][b];
            out[i][j] = sum * g[0] + g[1];
        }
}
";

#[test]
fn small_arrays_in_constant_memory() {
    let sizes: Sizes<'_> = &[&[("n", 0), ("m", 5)], &[("n", 1), ("m", 1)], &[("n", 19), ("m", 35)]];
    let text = check(CONVOLVE, "bind i, j -> y, x block 8x4\nconstant f", sizes);
    has(&text, &["__constant__ float f_constant[5][3];", "* f_constant[a][b]"]);
    has(&text, &["cudaMemcpyToSymbolAsync(f_constant, f, sizeof(f_constant), 0,", "<<<"]);
    for schedule in [
        "bind i, j -> y, x block 8x4\nconstant f\nconstant g\nstage in\nregister_tile i by 2\nunroll a",
        "bind i, j -> y, x block 8x4\nconstant f\nstage f",
        "bind i, j -> y, x block 8x4\nspecialise n=19\nconstant f\nregister_tile j by 2",
    ] {
        check(CONVOLVE, schedule, sizes);
    }
    let flat = "
#pragma ws bounds(f: 9) bounds(x: n + 9) bounds(y: n)
void fir(int n, const double *f, const double *x, double *y) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                y[i] += f[3 * k + l] * x[i + 3 * k + l];
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] *= f[8];
}
";
    let sizes: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 65)]];
    check(flat, "bind i -> x block 32\nbind i#2 -> x block 64\naccumulate y\nconstant f", sizes);
    // Rows of threads may read different elements as long as a row is a warp.
    let rows = "
void rows(int m, const int f[4], const int x[4][m], int y[4][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = f[i] * x[i][j];
}
";
    check(rows, "bind i, j -> y, x block 32x4\nconstant f", &[&[("m", 0)], &[("m", 33)]]);
}

#[test]
fn blocks_inside_run_without_guards() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3), ("k", 2)],
        &[("n", 1), ("m", 1), ("k", 1)],
        &[("n", 17), ("m", 9), ("k", 5)],
        &[("n", 33), ("m", 31), ("k", 0)],
        &[("n", 32), ("m", 32), ("k", 8)],
        &[("n", 40), ("m", 41), ("k", 9)],
    ];
    for schedule in [
        "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nbounds peel",
        "bind i, j -> y, x block 8x4\naccumulate C\nstage A at l tile 4\nstage B at l tile 4\nregister_tile i by 4\nregister_tile j by 2\nbounds peel\nunroll l",
        "bind i, j -> y, x block 8x4\nspecialise m%8=0\nregister_tile i by 2\nregister_tile i#2 by 2\nbounds peel",
    ] {
        check(GEMM, schedule, sizes);
    }
    let text = check(
        GEMM,
        "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nbounds peel",
        sizes,
    );
    has(&text, &["if (i_left >= TILE_Y && j_left >= BX) {", "} else {", "if ("]);
    let inside = text.split("} else {").next().unwrap_or_default();
    assert_eq!(inside.matches("if (").count(), 1, "no guard inside:\n{text}");
    let guard = check(
        GEMM,
        "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4\nbounds peel\nbounds guard",
        sizes,
    );
    let plain =
        check(GEMM, "bind i, j -> y, x block 8x4\naccumulate C\nregister_tile i by 4", sizes);
    assert_eq!(guard, plain);
    let stencil = "
void five(int n, int m, const float u[n][m], float v[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            float s = 4 * u[i][j];
            for (int d = -1; d <= 1; d += 2)
                s -= u[i + d][j];
            v[i][j] = s - u[i][j - 1] - u[i][j + 1];
        }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 5)],
        &[("n", 3), ("m", 3)],
        &[("n", 10), ("m", 18)],
        &[("n", 19), ("m", 35)],
    ];
    for schedule in [
        "bind i, j -> y, x block 8x4\nregister_tile i by 2\nbounds peel",
        "bind i, j -> y, x block 8x4\nregister_tile j by 2\nbounds peel",
    ] {
        check(stencil, schedule, sizes);
    }
    let staged =
        "bind i, j -> y, x block 8x4\nstage in\nregister_tile i by 2\nconstant f\nbounds peel";
    check(CONVOLVE, staged, &[&[("n", 0), ("m", 5)], &[("n", 19), ("m", 35)]]);
}

#[test]
fn every_kind_of_step_is_described_by_one_that_can_be_read() {
    let mut input = Input::new(GEMM);
    for r in registry::STEPS {
        let file = input.sources.add("example.sched", format!("{}\n", r.example));
        let read = schedule::parse(&input.sources, file)
            .unwrap_or_else(|e| panic!("{}: {}", r.example, common::render(&e, &input.sources)));
        assert_eq!(read.print(), format!("{}\n", r.example));
        assert!(r.example.starts_with(&format!("{} ", r.name)));
        assert_eq!(read.steps[0].kind.name(), r.name);
    }
    let bare = StepKind::Unroll(unroll::Args { target: "k".into(), factor: None });
    assert!(registry::STEPS.iter().any(|r| r.name == bare.name()));
}
