//! Programs are run with sizes that fill no block, too: what is found there, and what is not believed.

use std::process::{Command, Output};

fn run(source: &str, options: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.cu"), source).expect("a writable folder");
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .args(["check", "a.cu"])
        .args(options)
        .output()
        .expect("the program starts")
}

/// What is printed; the status must be the given one.
fn check(source: &str, options: &[&str], status: i32) -> String {
    let output = run(source, options);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

/// A program with sizes from its arguments; `ROUND` is how it makes a grid of `n` in blocks of `b`.
const SIZED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GUARD c[i] = a[i] + b[i];
}
int main(int argc, char **argv)
{
    if (argc != 2) { printf("usage: %s n\n", argv[0]); return 1; }
    int n = atoi(argv[1]), b = 16;
    CONDITION
    float *x, *y, *z;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    int blocks = ROUND;
    add<<<blocks, b>>>(x, y, z, n);
    cudaDeviceSynchronize();
    return 0;
}
"#;

fn sized(guard: &str, condition: &str, round: &str) -> String {
    SIZED.replace("GUARD", guard).replace("CONDITION", condition).replace("ROUND", round)
}

/// However a host rounds its grid up, it says that it takes sizes that fill no block.
#[test]
fn a_missing_guard_is_found_although_invented_sizes_are_multiples() {
    let spellings =
        ["(n + b - 1) / b", "(n - 1) / b + 1", "n / b + (n % b != 0)", "ceil(n / (float)b)"];
    for round in spellings {
        let text = check(&sized("", "", round), &[], 1);
        assert!(
            text.contains("out-of-bounds") && text.contains("<<<4, 16>>> of a run with `56`"),
            "{round}: {text}"
        );
        let text = check(&sized("if (i < n)", "", round), &[], 0);
        assert!(text.contains("it was also run with `56`"), "{round}: {text}");
    }
}

/// A program that measures repeats its launches, and each of them does what was found in the first.
#[test]
fn a_missing_guard_is_found_in_launches_that_are_repeated() {
    let repeated = |guard: &str| {
        let long = "for (int k = 0; k < 20000; k++) c[i] = a[i] + b[i] * k;";
        sized(guard, "", "(n + b - 1) / b")
            .replace(" c[i] = a[i] + b[i];", &format!(" {long}"))
            .replace("add<<<", "for (int k = 0; k < 5000; k++) add<<<")
    };
    let text = check(&repeated(""), &[], 1);
    assert!(text.contains("out-of-bounds") && text.contains("of a run with `56`"), "{text}");
    check(&repeated("if (i < n)"), &[], 0);
}

/// Where several threads are for one element, or one for each of a product, half a block of elements fills blocks, too.
#[test]
fn a_missing_guard_is_found_where_parts_of_blocks_fill_blocks() {
    let rows = |guard: &str| {
        let kernel = "int row = i / 16; GUARD if (i % 16 == 0) c[row] = a[row] + b[row];";
        sized(guard, "", "(n * 16 + b - 1) / b")
            .replace(&format!("{guard} c[i] = a[i] + b[i];"), &kernel.replace("GUARD", guard))
            .replace("b = 16", "b = 128")
    };
    let text = check(&rows("if (row <= n)"), &[], 1);
    assert!(text.contains("out-of-bounds") && text.contains("of a run with `386`"), "{text}");
    assert!(check(&rows("if (row < n)"), &[], 0).contains("it was also run with `386`"));
    let image = |guard: &str| {
        sized(guard, "", "(n * m + b - 1) / b")
            .replace("argc != 2", "argc != 3")
            .replace("b = 16", "m = atoi(argv[2]), b = 128")
            .replace("n * sizeof", "n * m * sizeof")
            .replace("(x, y, z, n)", "(x, y, z, n * m)")
    };
    let text = check(&image(""), &[], 1);
    assert!(text.contains("out-of-bounds") && text.contains("of a run with `51 51`"), "{text}");
    check(&image("if (i < n)"), &[], 0);
}

/// Sizes whose arrays are too large for a try say nothing.
#[test]
fn sizes_that_want_much_memory_are_not_tried() {
    let large = sized("", "n = n > 16 ? n << 24 : n;", "(n + b - 1) / b");
    let text = check(&large, &[], 0);
    assert!(!text.contains("it was also run with"), "{text}");
}

/// Defaults that are multiples hide it just so.
#[test]
fn a_missing_guard_is_found_behind_defaults() {
    let source = sized("", "", "(n + b - 1) / b")
        .replace("if (argc != 2) { printf(\"usage: %s n\\n\", argv[0]); return 1; }", "")
        .replace("atoi(argv[1])", "argc > 1 ? atoi(argv[1]) : 4096");
    assert!(check(&source, &[], 1).contains("of a run with `56`"));
}

/// A grid that is rounded down leaves elements out; a program that refuses sizes, or wants powers of two, has said so.
#[test]
fn what_a_program_does_not_take_is_no_finding() {
    check(&sized("", "", "n / b"), &[], 0);
    let multiple = "if (n % b != 0) { printf(\"n must be a multiple of %d\\n\", b); return 1; }";
    check(&sized("", multiple, "(n + b - 1) / b"), &[], 0);
    let leaves = "if (n % 16) exit(EXIT_FAILURE);";
    check(&sized("", leaves, "(n + b - 1) / b"), &[], 0);
    // Partners of a bitonic network lie behind the end of what is no power of two, a multiple or not.
    let text = check(&sized("i ^= 64 * (n > 64);", "n *= 4;", "(n + b - 1) / b"), &[], 0);
    assert!(text.contains("note[out-of-bounds]"), "{text}");
}

/// Each dimension has a number of its own: a kernel for squares only has no finding for what is none.
#[test]
fn kernels_for_squares_are_run_with_squares() {
    let source = r#"
#include <stdlib.h>
__global__ void transpose(const float *a, float *b, int n)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    GUARD b[x * n + y] = a[y * n + x];
}
int main(int argc, char **argv)
{
    if (argc < 3) return 1;
    int w = atoi(argv[1]), h = atoi(argv[2]);
    float *a, *b;
    cudaMalloc(&a, w * h * sizeof(float));
    cudaMalloc(&b, w * h * sizeof(float));
    cudaMemset(a, 0, w * h * sizeof(float));
    transpose<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(a, b, w);
    return 0;
}
"#;
    check(&source.replace("GUARD", "if (x < n && y < n)"), &[], 0);
    let wrong = check(&source.replace("GUARD", ""), &[], 1);
    assert!(wrong.contains("of a run with `51 51`"), "{wrong}");
}
