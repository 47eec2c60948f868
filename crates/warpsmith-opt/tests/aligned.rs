//! Loops whose blocks begin at a multiple of a vector although the loops do not.

mod common;

use common::{Points as Sizes, check_scheduled as check, has_flat as has};

const HEAT: &str = "
void heat(int nx, int ny, int nz, float c, const float t[nz][ny][nx], float next[nz][ny][nx]) {
    #pragma omp parallel for collapse(3)
    for (int k = 1; k < nz - 1; k++)
        for (int j = 1; j < ny - 1; j++)
            for (int i = 1; i < nx - 1; i++) {
                float centre = t[k][j][i];
                next[k][j][i] = centre
                    + c * (t[k - 1][j][i] + t[k + 1][j][i] + t[k][j - 1][i]
                           + t[k][j + 1][i] + t[k][j][i - 1] + t[k][j][i + 1] - 6.0f * centre);
            }
}
";
const CUBES: Sizes<'_> = &[
    &[("nx", 4), ("ny", 3), ("nz", 3), ("c", 2)],
    &[("nx", 3), ("ny", 5), ("nz", 4), ("c", 2)],
    &[("nx", 8), ("ny", 6), ("nz", 9), ("c", 2)],
    &[("nx", 33), ("ny", 4), ("nz", 5), ("c", 2)],
    &[("nx", 36), ("ny", 7), ("nz", 7), ("c", 2)],
    &[("nx", 64), ("ny", 4), ("nz", 6), ("c", 2)],
];
const KNOWN: &str = "specialise nx%4=0, t%16=0, next%16=0\n";

#[test]
fn rows_that_begin_at_one_are_moved_in_aligned_vectors() {
    let schedule = format!(
        "bind k, j, i -> z, y, x block 8x2x1\n{KNOWN}register_tile k by 4\nregister_tile i by 4\nalign i by 4\nvectorise i by 4\nbounds peel"
    );
    let text = check(HEAT, &schedule, CUBES);
    has(
        &text,
        &[
            "// from 0 on, not from 1: vectors of 4 elements are aligned there",
            "const int i_block = (int)block_x * TILE_X;",
            "const float4 t4 = *reinterpret_cast<const float4 *>(&t[",
            "const float t_im1 = i >= 1 ? t[",
            "const float t_ip4 = i + 3 < nx - 1 ? t[",
            "const float4 t4_km1 = *reinterpret_cast<const float4 *>(&t[",
            "if (i >= 1 && i + 3 < nx - 1) {",
        ],
    );
}

/// A nest of two loops over rows from `begin` to `nx - end`, with a statement, from `from` rows on.
fn plane(ty: &str, begin: &str, end: &str, statement: &str) -> String {
    format!(
        "
void f(int nx, int ny, int lo, const {ty} u[ny][nx], const {ty} w[ny][nx], {ty} v[ny][nx]) {{
    #pragma omp parallel for collapse(2)
    for (int j = 2; j < ny - 2; j++)
        for (int i = {begin}; i {end}; i++) {{
            {statement}
        }}
}}
"
    )
}

const PLANES: Sizes<'_> = &[
    &[("nx", 4), ("ny", 5), ("lo", 1)],
    &[("nx", 8), ("ny", 6), ("lo", 3)],
    &[("nx", 12), ("ny", 9), ("lo", 2)],
    &[("nx", 21), ("ny", 7), ("lo", 4)],
    &[("nx", 32), ("ny", 8), ("lo", 7)],
    &[("nx", 64), ("ny", 6), ("lo", 9)],
    &[("nx", 68), ("ny", 13), ("lo", 2)],
];

/// Schedules for [`plane`], of vectors of a width.
fn ways(width: u32) -> Vec<String> {
    let known = "specialise nx%4=0, u%16=0, v%16=0, w%16=0\n";
    let twice = 2 * width;
    let all = [
        format!("register_tile i by {width}\nalign i by {width}\nvectorise i by {width}"),
        format!(
            "register_tile j by 2\nregister_tile i by {width}\nalign i by {width}\nvectorise i by {width}\nbounds peel"
        ),
        format!(
            "register_tile i by {twice}\nalign i by {width}\nvectorise i by {width}\nbounds peel"
        ),
        "register_tile i by 4\nalign i by 4\nvectorise i by 2\nwarp j, i by 4x8".to_string(),
        "register_tile i by 4\nalign i by 2\nvectorise i by 4".to_string(),
        format!("align i by {width}\nbounds peel"),
        format!("register_tile i by 3\nalign i by {width}\nbounds peel"),
    ];
    let bind = |k: usize| {
        if k == 3 { "bind j, i -> y, x block 8x4\n" } else { "bind j, i -> y, x block 4x2\n" }
    };
    all.into_iter().enumerate().map(|(k, way)| format!("{}{known}{way}", bind(k))).collect()
}

fn all_ways(source: &str, width: u32) -> String {
    // Two is a multiple of two.
    let useful = |way: &String| !(source.contains("i = 2") && way.contains("align i by 2"));
    let ways = ways(width).into_iter().filter(useful);
    let texts: Vec<String> = ways.map(|schedule| check(source, &schedule, PLANES)).collect();
    texts[0].clone()
}

#[test]
fn stencils_of_several_shapes() {
    let cross = "v[j][i] = 2.0f * u[j][i] + u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1];";
    let wide = all_ways(&plane("float", "1", "< nx - 1", cross), 4);
    has(&wide, &["const float4 u4 =", "u4_jm1", "u4_jp1", "make_float4(", "v4.w;"]);
    // A radius of two: what lies before and behind is read as vectors where something of it is wanted.
    let long = "v[j][i] = u[j][i] - 4.0f * (u[j][i - 2] + u[j][i + 2]) + w[j][i] * u[j][i - 1] + u[j - 2][i];";
    let text = all_ways(&plane("float", "2", "< nx - 2", long), 4);
    has(
        &text,
        &[
            "const float4 u4_im4 = i >= 2 ? *reinterpret_cast<const float4 *>(&u[",
            ": make_float4(0.0f, 0.0f, 0.0f, 0.0f);",
            "const float4 u4_ip4 = i + 2 < nx - 2 ?",
        ],
    );
    // Without the middle, and from three on to the last element.
    all_ways(&plane("float", "3", "< nx", "v[j][i] = u[j][i - 1] + u[j][i - 3];"), 4);
    all_ways(&plane("float", "1", "<= nx - 2", "v[j][i] = u[j][i - 1] - u[j][i + 1];"), 4);
    // Vectors of two.
    let text = all_ways(&plane("double", "1", "< nx - 1", &cross.replace('f', "")), 2);
    has(&text, &["const double u_im1 = i >= 1 ? u[", "const double2 u2 ="]);
    let nine = "float s = u[j - 1][i - 1] + u[j - 1][i] + u[j - 1][i + 1];
            s += u[j][i - 1] + u[j][i + 1];
            s = s + w[j][i] * u[j][i] + u[j + 1][i - 1] + u[j + 1][i] + u[j + 1][i + 1];
            v[j][i] = s / 9.0f;";
    let text = all_ways(&plane("float", "1", "< nx - 1", nine), 4);
    has(&text, &["u_jm1_im1", "u4_jm1", "u_jm1_ip4", "const float4 s4", "s4.x"]);
}

#[test]
fn loops_that_begin_anywhere() {
    // Where the loop begins is found out when it runs.
    let text =
        all_ways(&plane("float", "lo", "< nx - 1", "v[j][i] = u[j][i - 1] + u[j][i + 1];"), 4);
    has(&text, &["(lo & -4)", "if (i + 2 >= lo) {"]);
    all_ways(&plane("float", "lo", "<= nx - 1", "v[j][i] = 2 * u[j][i] + i;"), 4);
    // A loop that begins at a multiple and ends between two needs no step.
    let from_zero = plane("float", "0", "< nx - 1", "v[j][i] = 2 * u[j][i] + i;");
    let text = check(
        &from_zero,
        "bind j, i -> y, x block 4x2\nspecialise nx%4=0, u%16=0, v%16=0\nregister_tile i by 4\nvectorise i by 4",
        PLANES,
    );
    has(&text, &["if (i + 3 < nx - 1) {", "v4.z;"]);
    // Unsigned counters, and a single row.
    let row = "
void f(unsigned n, const float x[n], float y[n], int m[n]) {
    #pragma omp parallel for
    for (unsigned i = 1; i < n; i++) {
        y[i] = x[i] + x[i - 1];
        m[i] += (int)i;
    }
}
";
    let sizes: Sizes<'_> = &[&[("n", 1)], &[("n", 4)], &[("n", 36)], &[("n", 39)], &[("n", 300)]];
    let schedule = "bind i -> x block 32\nspecialise n%4=0, x%16=0, y%16=0, m%16=0\nregister_tile i by 4\nalign i by 4\nvectorise i by 4\nbounds peel";
    let text = check(row, schedule, sizes);
    has(&text, &["const int4 m4 =", "const float x_im1 = i >= 1", "if (i >= 1) {"]);
}

#[test]
fn what_not_all_iterations_may_do_stays_apart() {
    // Read under a condition, by another array's values, divided by what may be zero: iteration by iteration.
    for statement in [
        "v[j][i] = u[j][i] > 3.0f ? w[j][i - 1] : 1.0f;",
        "v[j][i] = w[j][(int)u[j][i] & 3];",
        "v[j][i] = (float)(100 / (i + j));",
        "v[j][i] = u[j][i]; v[j][i] = v[j][i] + w[j][i];",
        "if (u[j][i] > 2.0f) v[j][i] = w[j][i]; else v[j][i] = u[j][i - 1];",
        "float s = 0.0f; for (int d = -1; d < 2; d++) s += u[j + d][i + d]; v[j][i] = s;",
        "float s = 0.0f; for (int d = 0; d < i % 3; d++) s += u[j][i - d]; v[j][i] = s;",
    ] {
        let source = plane("float", "1", "< nx - 1", statement);
        let text = all_ways(&source, 4);
        has(&text, &["i >= 1 && i_thread"]);
    }
}

#[test]
fn other_steps_go_with_it() {
    let cross = "v[j][i] = 2.0f * u[j][i] + u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1];";
    let source = plane("float", "1", "< nx - 1", cross);
    let tail = "register_tile i by 4\nalign i by 4\nvectorise i by 4";
    let known = "specialise nx%4=0, u%16=0, v%16=0\n";
    for schedule in [
        format!("bind j, i -> y, x block 4x2\n{known}{tail}\nrasterise j by 2"),
        format!("bind j, i -> y, x block 4x2\n{known}{tail}\nregister_tile j by 4\nbounds guard"),
        format!("bind j, i -> y, x block 4x2\n{tail}\n{known}bounds peel"),
        format!(
            "bind j, i -> y, x block 4x2\nspecialise nx=64, u%16=0, v%16=0\n{tail}\nbounds peel"
        ),
        format!(
            "bind j, i -> y, x block 4x2\nspecialise nx%32=0, u%16=0, v%16=0\n{tail}\nbounds peel"
        ),
    ] {
        check(&source, &schedule, PLANES);
    }
    // The blocks fill rows of 64: nobody asks whether a group exists.
    let text = check(
        &source,
        &format!("bind j, i -> y, x block 4x1\nspecialise nx%16=0, u%16=0, v%16=0\n{tail}"),
        PLANES,
    );
    has(
        &text,
        &["const int i = i_block + i_thread + ti * BX; const float u_im1", "const float4 u4"],
    );
    let sum = plane(
        "float",
        "1",
        "< nx - 1",
        "float s = 0.0f; for (int d = -2; d < 3; d++) s += u[j + d][i - 1] * w[j][i]; v[j][i] = s;",
    );
    let streamed = format!(
        "bind j, i -> y, x block 4x2\n{known}{tail}\nregister_tile j by 4\nstream d along j"
    );
    check(&sum, &streamed, PLANES);
    let along = "bind j, i -> y, x block 4x2\nregister_tile i by 4\nalign i by 4\nstream d along i";
    let sum = sum
        .replace("u[j + d][i - 1]", "u[j][i + d - 1]")
        .replace("d = -2", "d = 0")
        .replace("d < 3", "d < 2");
    check(&sum, along, PLANES);
}
