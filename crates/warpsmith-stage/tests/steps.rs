//! `--auto` lets launches of a time loop do two steps each: the kernel beside the one of the file, and the loop.

mod common;

use common::{emitted, tried};
use warpsmith_stage::auto::{Chosen, Counted};

/// A device on which nothing but steps counts.
fn by_steps(counted: &Counted<'_>) -> Option<f64> {
    let blocks: f64 = counted.config.grid.iter().map(|n| f64::from(*n)).product();
    Some(if blocks > counted.own_blocks { 1.0 } else { 4.0 })
}

fn choose(text: &str) -> Chosen {
    tried("steps.cu", text, by_steps).unwrap_or_else(|(_, m)| panic!("{m}"))
}

/// The text with a kernel of two steps.
fn twice(name: &str, text: &str) -> String {
    let chosen = choose(text);
    let said = format!("{:?} {:?}", chosen.tried, chosen.single);
    let best = chosen.best.unwrap_or_else(|| panic!("{name}: nothing is chosen: {said}"));
    assert_eq!(best.name, "two steps a launch", "{name}: {said}");
    assert!(best.checked.len() >= 3, "{name}: {:?}", best.checked);
    emitted(&format!("steps_{name}"), &best.text);
    best.text
}

fn single(text: &str) -> String {
    let chosen = choose(text);
    chosen.single.unwrap_or_else(|| panic!("two steps are taken: {:?}", chosen.tried))
}

fn program(name: &str) -> String {
    let path = format!("{}/../../bench/stage/programs/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the program is there")
}

/// Edges stay as they are: both arrays hold them, as the host code says.
#[test]
fn a_whole_program_with_edges_that_stay() {
    let before = program("jacobi");
    let text = twice("jacobi", &before);
    for part in [
        "jacobiStep_two_steps(const float *__restrict__ uOld, float *__restrict__ uNew, int width, int height)",
        "__shared__ float uNew_tile[BLOCK_Y][BLOCK_X];",
        "const int col = (int)(blockIdx.x * (BLOCK_X - 2) + threadIdx.x) - 1;",
        "const bool whole = (long long)grid.x * BLOCK_X >= width && (long long)grid.y * BLOCK_Y >= height;",
        "for (; whole && step + 4 < steps; step += 4)\n",
        "jacobiStep_two_steps<<<dim3((grid.x * BLOCK_X + BLOCK_X - 3) / (BLOCK_X - 2), (grid.y * BLOCK_Y + BLOCK_Y - 3) / (BLOCK_Y - 2), grid.z), block>>>(d_a, d_b, width, height);",
        "for (; step < steps; step++)",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("between"), "{text}");
    // The kernel of the file is there as it was: the last steps need it.
    let own = &before[before.find("__global__").expect("a kernel")
        ..before.find("static float edge").expect("a function")];
    assert!(text.contains(own.trim_end()), "{text}");
    // Another array's contents are not known to be the same.
    let apart = before.replace("    cudaMemcpy(d_b, d_a, bytes, cudaMemcpyDeviceToDevice);\n", "");
    let why = single(&apart);
    assert!(why.starts_with("the kernel leaves elements of `uNew` as they are"), "{why}");
    // A later copy to one of them alone makes them differ.
    let later = before.replace(
        "    dim3 block(BLOCK_X",
        "    cudaMemcpy(d_a, result_of_before, bytes, cudaMemcpyHostToDevice);\n    dim3 block(BLOCK_X",
    );
    let why = single(
        &later.replace("static bool solve(", "static float *result_of_before;\nstatic bool solve("),
    );
    assert!(why.starts_with("the kernel leaves elements of `uNew` as they are"), "{why}");
}

/// A loop around leaves what its last round changed, and pointers in a list go where nobody looks.
#[test]
fn edges_that_may_differ_in_later_rounds() {
    let before = program("jacobi");
    let head = "for (int step = 0; step < steps; step++)";
    let at = before.find(head).expect("a loop of steps");
    let copies = before[..at].rfind("cudaMemcpy(d_b, d_a, bytes, cudaMemcpyDeviceToDevice);\n");
    let behind =
        copies.expect("a copy") + "cudaMemcpy(d_b, d_a, bytes, cudaMemcpyDeviceToDevice);\n".len();
    let listed = format!(
        "{}    float *both[2] = {{d_a, d_b}};\n    cudaMemset(both[0], 1, 4 * width);\n{}",
        &before[..behind],
        &before[behind..]
    );
    let why = single(&listed);
    assert!(why.starts_with("the kernel leaves elements of `uNew` as they are"), "{why}");
    let around =
        before.replacen(head, &format!("for (int round = 0; round < 3; round++)\n    {head}"), 1);
    let why = single(&around);
    assert!(why.starts_with("the kernel leaves elements of `uNew` as they are"), "{why}");
}

/// A template whose edges are clamped writes every element: what the arrays hold before does not matter.
#[test]
fn a_template_that_writes_everything() {
    let text = twice("diffusion", &program("diffusion"));
    for part in [
        "template <typename T>\n__global__ void __launch_bounds__(TILE_W * TILE_H) diffuse_two_steps(T *dst, const T *src, const unsigned n, T rate)",
        "for (; whole && t + 4 <= steps; t += 4)",
        "dst_tile[threadIdx.y + ((inside(y + dy, n)) - y)][threadIdx.x + ((inside(x + dx, n)) - x)]",
        "diffuse_two_steps<float><<<",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

const LINE: &str = "#define B 64
__global__ void line(const double *u, double *v, const double *k, int n) {
    int i = threadIdx.x + blockIdx.x * B;
    if (i >= n) return;
    v[i] = u[i] + k[i] * (u[i == 0 ? i : i - 1] - 2.0 * u[i] + u[i == n - 1 ? i : i + 1]);
}
";

/// Two launches back and forth, one axis, a further array that both steps read.
#[test]
fn launches_back_and_forth() {
    let host = "void run(double *a, double *b, double *k, int n, int steps) {
    for (int t = 0; t < steps; t++) {
        line<<<(n + B - 1) / B, B>>>(a, b, k, n);
        line<<<(n + B - 1) / B, B>>>(b, a, k, n);
    }
}
";
    let text = twice("line", &format!("{LINE}{host}"));
    assert!(text.contains("for (; whole && t + 2 < steps; t += 2) {"), "{text}");
    assert!(
        text.contains(
            "line_two_steps<<<dim3((((n + B - 1) / B) * B + B - 3) / (B - 2)), B>>>(b, a, k, n);"
        ),
        "{text}"
    );
}

/// What is read beside the two arrays is one of them by another name: every second launch writes it.
#[test]
fn arrays_that_are_passed_by_another_name() {
    for (declared, other) in [
        ("", "k"),
        ("const double *source = a; ", "source"),
        ("const double *s = 0; s = b + 1; ", "s"),
    ] {
        let host = format!(
            "void run(double *a, double *b, double *k, int n, int steps) {{ {declared}for (int t = 0; t < steps; t++) {{
    line<<<(n + B - 1) / B, B>>>(a, b, {other}, n); double *c = a; a = b; b = c;
}} }}
"
        );
        let chosen = choose(&format!("{LINE}{host}"));
        let why = chosen.single.unwrap_or_default();
        assert_eq!(why.contains("by another name"), !declared.is_empty(), "{other}: {why}");
    }
}

#[test]
fn reasons_for_single_steps() {
    let with = |body: &str| {
        format!(
            "{LINE}void run(double *a, double *b, double *k, int n, int steps) {{ for (int t = 0; t < steps; t++) {{ {body} }} }}\n"
        )
    };
    for (text, why) in [
        (LINE.to_string(), "no loop of the host code launches the kernel in steps"),
        (
            with("line<<<(n + B - 1) / B, B>>>(a, b, k, n);"),
            "line 7: what a launch writes is not what the next one reads",
        ),
        (
            with(
                "line<<<(n + B - 1) / B, B>>>(a, b, k, n); double *c = a; a = b; b = c; if (t % 10 == 0) cudaDeviceSynchronize();",
            ),
            "line 7: the loop of steps asks for the step",
        ),
        (
            with(
                "line<<<(n + B - 1) / B, B>>>(a, b, k, n); cudaMemcpy(k, a, n * 8, cudaMemcpyDeviceToDevice); double *c = a; a = b; b = c;",
            ),
            "line 7: the loop of steps does more than launching and swapping",
        ),
        (
            with("line<<<(n + B - 1) / B, B>>>(a, b, k, n); double *c = a; a = b; b = k;"),
            "line 7: the loop assigns to more than the arrays that it swaps",
        ),
        (
            with("line<<<(n + B - 1) / B, B>>>(a, b, k, n); double *c = a; a = b; b = c;")
                .replace("v[i] = u[i] +", "v[i] = threadIdx.x + u[i] +"),
            "the kernel asks for `threadIdx` beside its position",
        ),
        (
            with("line<<<(n + B - 1) / B, B>>>(a, b, k, n); double *c = a; a = b; b = c;")
                .replace("u[i == n - 1 ? i : i + 1]", "u[i == n - 1 ? i : i + 1] + v[i]"),
            "`v` is used by more than stores to its elements",
        ),
    ] {
        assert_eq!(single(&text), why, "{text}");
    }
}
