//! Kernels of two nests of which the second reads around its iterations what the first wrote.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const PLANES: Sizes<'_> = &[
    &[("n", 0), ("m", 3)],
    &[("n", 3), ("m", 0)],
    &[("n", 2), ("m", 2)],
    &[("n", 3), ("m", 5)],
    &[("n", 9), ("m", 33)],
    &[("n", 17), ("m", 70)],
];

/// Two nests over arrays of two dimensions.
fn both(first: &str, second: &str) -> String {
    format!(
        "
void both(int n, int m, const float u[n][m], float v[n][m], float w[n][m], const float f[m])
{{
    #pragma omp parallel for collapse(2)
    {first}
    #pragma omp parallel for collapse(2)
    {second}
}}
"
    )
}

const ALL: &str = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)";
const INSIDE: &str = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)";

const SHAPES: [&str; 6] = [
    "block 12 slices 2 each 4 ahead 2",
    "block 33 slices 3 each 1 ahead 1",
    "block 32 slices 1",
    "block 32 slices 3 group 2",
    "block 40 slices 2 group 3",
    "block 65 slices 5 group 4",
];

#[test]
fn what_the_first_nest_computes_passes_through_shared_memory() {
    let source = both(
        &format!("{ALL} v[i][j] = 2 * u[i][j];"),
        &format!("{INSIDE} w[i][j] = v[i - 1][j] + v[i][j - 1] + v[i][j + 1] + v[i + 1][j];"),
    );
    let text = check(&source, "fuse_kernels i, i#2 block 34 slices 2", PLANES);
    has(
        &text,
        &[
            "__shared__ float v_planes[3][34];",
            "v_own[2] = 2.0f * u[element];",
            "v_planes[step % 3][column] = v_own[2];",
            "__syncthreads();",
            "w[element] = v_own[0] + v_planes[(step - 1) % 3][column - 1]",
        ],
    );
}

#[test]
fn windows_and_ranges_of_all_kinds_are_fused() {
    let first = [
        format!("{ALL} v[i][j] = u[i][j] + f[j];"),
        format!("{INSIDE} v[i][j] = u[i - 1][j + 1] - u[i + 1][j - 1];"),
        "for (int i = 2; i <= n - 1; i++) for (int j = 0; j < m - 3; j++) { float x = u[i][j]; v[i - 2][j + 3] = x * x; }".into(),
        format!("{ALL} {{ float s = 0; for (int k = 0; k < 3; k++) s += f[(j + k) % m]; v[i][j] = s * u[i][j]; }}"),
    ];
    let second = [
        format!("{INSIDE} w[i][j] = v[i][j];"),
        format!("{INSIDE} w[i][j] = v[i + 1][j] - v[i - 1][j];"),
        format!("{INSIDE} {{ float l = v[i - 1][j - 1], r = v[i + 1][j + 1]; if (l > r) w[i][j] = l; else w[i][j] = r + v_free(u[i][j]); }}").replace("v_free(u[i][j])", "u[i][j]"),
        "for (int i = 3; i < n; i++) for (int j = 0; j < m - 2; j++) w[i - 3][j + 2] += v[i - 3][j] + v[i][j + 2] + v[i - 1][j + 1];".into(),
        "for (int i = 0; i < n - 1; i++) for (int j = 0; j < m; j++) w[i][j] = v[i + 1][j] * f[j];".into(),
    ];
    for first in &first {
        for second in &second {
            for shape in SHAPES {
                check(&both(first, second), &format!("fuse_kernels i, i#2 {shape}"), PLANES);
            }
        }
    }
}

/// Sweeps there and back in three dimensions.
const HEAT: &str = "
void heat(int n, int m, int steps, float t[n][m][m], float next[n][m][m])
{
    for (int s = 0; s < steps; s++) {
        #pragma omp parallel for collapse(3)
        for (int k = 1; k < n - 1; k++)
            for (int j = 1; j < m - 1; j++)
                for (int i = 1; i < m - 1; i++)
                    next[k][j][i] = t[k][j][i] + 0.25f * (t[k - 1][j][i] + t[k + 1][j][i] + t[k][j - 1][i] - t[k][j][i + 1]);
        #pragma omp parallel for
        for (int k = 1; k < n - 1; k++)
            for (int j = 1; j < m - 1; j++)
                for (int i = 1; i < m - 1; i++)
                    t[k][j][i] = next[k][j][i] + 0.25f * (next[k - 1][j][i] + next[k + 1][j][i] + next[k][j - 1][i] - next[k][j][i + 1]);
    }
}
";

#[test]
fn sweeps_of_a_serial_loop_go_there_and_back() {
    let sizes: Sizes<'_> = &[
        &[("n", 5), ("m", 5), ("steps", 0)],
        &[("n", 5), ("m", 6), ("steps", 1)],
        &[("n", 6), ("m", 9), ("steps", 2)],
        &[("n", 7), ("m", 12), ("steps", 3)],
        &[("n", 4), ("m", 19), ("steps", 6)],
        &[("n", 2), ("m", 2), ("steps", 5)],
    ];
    let rest = "bind k, j, i -> z, y, x block 8x4x1\nbind k#2, j#2, i#2 -> z, y, x block 8x4x1";
    for shape in ["block 12x6 slices 2", "block 10x10 slices 3 group 2"] {
        let text = check(HEAT, &format!("fuse_kernels k, k#2 {shape}\n{rest}"), sizes);
        has(&text, &["t_next[element", "t[element", "turns > 0"]);
    }
}

#[test]
fn threads_have_several_elements_of_each_plane() {
    let sizes: Sizes<'_> = &[
        &[("n", 5), ("m", 5), ("steps", 0)],
        &[("n", 5), ("m", 6), ("steps", 3)],
        &[("n", 2), ("m", 2), ("steps", 5)],
        &[("n", 7), ("m", 12), ("steps", 3)],
        &[("n", 8), ("m", 28), ("steps", 4)],
    ];
    let rest = "bind k, j, i -> z, y, x block 8x4x1\nbind k#2, j#2, i#2 -> z, y, x block 8x4x1";
    for shape in [
        "block 6x3 slices 2 each 4x4 ahead 2",
        "block 8x3 slices 1 each 4x2 ahead 1",
        "block 12x8 slices 2 each 2x1 ahead 3",
    ] {
        let text = check(HEAT, &format!("fuse_kernels k, k#2 {shape}\n{rest}"), sizes);
        has(&text, &["__pipeline_memcpy_async", "turns > 0"]);
    }
}

/// An iteration that reads another array is run for elements that exist alone: what it leaves out is not stored as part of a vector.
#[test]
fn rows_of_guarded_iterations_are_stored_as_far_as_they_go() {
    let sizes: Sizes<'_> =
        &[&[("n", 6), ("m", 12), ("steps", 3)], &[("n", 7), ("m", 16), ("steps", 4)]];
    let source =
        HEAT.replace("float next[n][m][m])", "float next[n][m][m], const float c[n][m][m])");
    let source = source.replace(
        "t[k][j][i] = next[k][j][i] + 0.25f *",
        "t[k][j][i] = next[k][j][i] + c[k][j][i] *",
    );
    assert_eq!(source.matches("c[k][j][i]").count(), 1);
    let rest = "bind k, j, i -> z, y, x block 8x4x1\nbind k#2, j#2, i#2 -> z, y, x block 8x4x1";
    check(
        &source,
        &format!("fuse_kernels k, k#2 block 6x3 slices 2 each 4x4 ahead 2\n{rest}"),
        sizes,
    );
}

/// Two nests of three dimensions, of which the second stores elsewhere.
fn volumes(first: &str, second: &str) -> String {
    format!(
        "
void both(int n, int m, const float u[n][m][m], float v[n][m][m], float w[n][m][m], const float f[n][m][m])
{{
    #pragma omp parallel for collapse(3)
    for (int k = 1; k < n - 1; k++)
        for (int j = 2; j < m - 1; j++)
            for (int i = 1; i < m - 1; i++) {{
                {first}
            }}
    #pragma omp parallel for collapse(3)
    for (int k = 1; k < n - 2; k++)
        for (int j = 1; j < m - 1; j++)
            for (int i = 3; i < m - 2; i++) {{
                {second}
            }}
}}
"
    )
}

#[test]
fn boxes_and_other_arrays_beside_what_is_copied_ahead() {
    let sizes: Sizes<'_> = &[
        &[("n", 4), ("m", 6)],
        &[("n", 6), ("m", 16)],
        &[("n", 9), ("m", 35)],
        &[("n", 2), ("m", 9)],
    ];
    let first = [
        "v[k][j][i] = u[k - 1][j - 1][i - 1] + u[k + 1][j][i + 1] * u[k][j + 1][i - 1];",
        "v[k][j][i] = u[k][j][i + 1] * f[k][j - 1][i] + u[k][j][i];",
        "float s = u[k][j][i]; if (s > 0.5f) s = s * u[k][j - 2][i]; v[k][j][i] = s;",
    ];
    let second = [
        "w[k][j][i] = v[k + 2][j - 1][i + 1] - v[k - 1][j + 1][i - 3] + v[k + 2][j][i];",
        "float s = v[k][j][i - 1], e = v[k + 1][j][i]; if (s > f[k][j][i]) w[k][j][i] = s; else w[k][j][i] = e;",
        "w[k][j][i - 3] += v[k - 1][j][i + 2] * f[k][j][i - 1];",
    ];
    for (n, first) in first.iter().enumerate() {
        for second in second {
            let shape =
                ["block 5x4 slices 2 each 4x3 ahead 2", "block 12x9 slices 1 each 2x1 ahead 1"]
                    [n % 2];
            check(&volumes(first, second), &format!("fuse_kernels k, k#2 {shape}"), sizes);
        }
    }
}

#[test]
fn elements_of_threads_that_cannot_be() {
    let double = format!("{ALL} v[i][j] = 2 * u[i][j];");
    let around = format!("{INSIDE} w[i][j] = v[i - 1][j] + v[i][j - 1];");
    let strided = format!("{ALL} v[i][j] = 2 * u[i][m - 1 - j];");
    for (first, shape, why) in [
        (&double, "block 32 slices 1 each 3 ahead 1", "a vector of 16 bytes at most"),
        (&double, "block 32 slices 1 each 4x2 ahead 1", "along its loops but the outermost only"),
        (&double, "block 32 slices 1 each 4 ahead 9", "1 to 8 planes are on their way"),
        (&double, "block 32 slices 1 group 2 each 4 ahead 1", "one plane goes at a time"),
        (
            &double,
            "block 1024 slices 1 each 4 ahead 8",
            "bytes of shared memory, of which there are",
        ),
        (&strided, "block 32 slices 1 each 4 ahead 1", "it reads no array with the extents of `v`"),
    ] {
        let text = refused_text(&both(first, &around), &format!("fuse_kernels i, i#2 {shape}"));
        has(&text, &[why]);
    }
}

#[test]
fn what_cannot_be_fused_is_refused() {
    let double = format!("{ALL} v[i][j] = 2 * u[i][j];");
    let around = format!("{INSIDE} w[i][j] = v[i - 1][j] + v[i][j - 1];");
    let refused = [
        (double.as_str(), "{INSIDE} w[i][j] = u[i][j];", "it does not read `v`"),
        (
            &double,
            "{INSIDE} w[i][j] = v[i][m - 1 - j];",
            "at other places than around its counters",
        ),
        (&double, "{INSIDE} w[i][j] = v[i][0];", "at other places than around its counters"),
        (
            &double,
            "{INSIDE} if (u[i][j] > 0) w[i][j] = v[i - 1][j];",
            "under a condition or in a loop",
        ),
        (
            &double,
            "{INSIDE} w[i][j] = u[i][j] > 0 ? v[i][j - 1] : 0;",
            "under a condition or in a loop",
        ),
        (&double, "{ALL} v[i][j] = v[i][j] + 1;", "it writes `v`, too"),
        (
            "{ALL} { v[i][j] = 1; w[i][j] = 2; }",
            &around,
            "does not store one element in each iteration",
        ),
        (
            "{ALL} if (u[i][j] > 0) v[i][j] = 1;",
            &around,
            "does not store one element in each iteration",
        ),
        ("{ALL} v[i][j] += 1;", &around, "it reads the array that it writes"),
        ("{ALL} v[n - 1 - i][j] = 1;", &around, "it does not store at its counters"),
        ("{ALL} v[i][j] = w[i][j];", &around, "no loop holds just both nests"),
    ];
    for (first, second, why) in refused {
        let put = |text: &str| text.replace("{ALL}", ALL).replace("{INSIDE}", INSIDE);
        let source = both(&put(first), &put(second));
        let text = refused_text(&source, "fuse_kernels i, i#2 block 32 slices 2");
        has(&text, &["cannot fuse loop", why]);
    }
}

#[test]
fn shapes_that_cannot_be_fused_in_are_refused() {
    let double = format!("{ALL} v[i][j] = 2 * u[i][j];");
    let around = format!("{INSIDE} w[i][j] = v[i - 1][j] + v[i][j - 1];");
    let source = both(&double, &around);
    for (shape, why) in [
        ("block 1 slices 1", "no larger than what its iterations read around them"),
        ("block 32x4 slices 1", "along its loops but the outermost only"),
        ("block 32 slices 8", "allows for 1 to 7 slices"),
        ("block 32 slices 0", "allows for 1 to 7 slices"),
        ("block 32 slices 1 group 32", "1 to 16 planes go together"),
        ("block 2048 slices 1", "threads"),
    ] {
        let text = refused_text(&source, &format!("fuse_kernels i, i#2 {shape}"));
        has(&text, &[why]);
    }
    for (steps, why) in [
        ("fuse_kernels i#2, i block 32 slices 1", "it does not stand right behind the first nest"),
        (
            "bind i, j -> y, x block 32x1\nfuse_kernels i, i#2 block 32 slices 1",
            "it is not marked, or bound already",
        ),
    ] {
        let text = refused_text(&source, steps);
        has(&text, &[why]);
    }
}

#[test]
fn loops_around_that_cannot_be_halved_are_refused() {
    let steps = "fuse_kernels k, k#2 block 12x6 slices 1";
    for (from, to, why) in [
        (
            "t[k][j][i] + 0.25f * (t[k - 1]",
            "t[k][j][i] + s * (t[k - 1]",
            "its counter is used in the nests",
        ),
        ("s < steps; s++", "s < steps; s += 2", "does not count up by one"),
        ("float t[n][m][m], float", "float t[][m][m], float", "`t` cannot be copied"),
    ] {
        assert!(HEAT.contains(from));
        let text = refused_text(&HEAT.replacen(from, to, 1), steps);
        has(&text, &[why]);
    }
}
