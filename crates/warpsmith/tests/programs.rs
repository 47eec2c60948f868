//! Whole programs, and what stands in place of the C function: which function is taken, what the host steers, and whether
//! the verification sees every fault of `NAME_host`.

mod common;

use std::path::Path;

use warpsmith::ir::SourceMap;
use warpsmith::status::Status;
use warpsmith::tune::faults::Prepared;
use warpsmith::tune::{Strategy, TuneRequest};

/// Tunes a file; its status, what it says on both streams, and the emitted text where there is one.
fn tune(source: &str, options: &[&str], name: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("program.c"), source).expect("a writable folder");
    let args = [&["tune", "program.c", "--out", "out"], options].concat();
    let output = common::command(folder.path(), &args).output().expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    let text = std::fs::read_to_string(folder.path().join(format!("out/{name}.cu")));
    keep(folder.path(), name);
    (output.status.code(), String::from_utf8_lossy(&said).into(), text.unwrap_or_default())
}

/// Leaves the emitted files where nvcc is to find them.
fn keep(folder: &Path, name: &str) {
    let Ok(target) = std::env::var("WARPSMITH_EMITTED") else { return };
    for suffix in [".cu", ".h", "_test.cu"] {
        let file = format!("{name}{suffix}");
        let _ = std::fs::copy(folder.join("out").join(&file), Path::new(&target).join(&file));
    }
}

fn accepted(source: &str, sizes: &[&str], name: &str) -> (String, String) {
    let mut options = vec!["--strategy", "direct"];
    sizes.iter().for_each(|s| options.extend(["--size", s]));
    let (status, said, text) = tune(source, &options, name);
    assert_eq!(status, Some(0), "{said}\n{source}");
    (said, text)
}

const PROGRAM: &str = r#"
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

typedef struct { int width; const char *name; } options_t;
static options_t options = { FACTOR, "x" };
struct node { struct node *next; int value; };
double started;

static double now(void) {
    struct timeval tv;
    gettimeofday(&tv, NULL);
    return tv.tv_sec + 1e-6 * tv.tv_usec;
}

static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static void push(struct node **list, int value) {
    struct node *first = malloc(sizeof *first);
    first->next = *list;
    first->value = value;
    *list = first;
}

static void scale(int n, float a, float x[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) x[i] *= a * FACTOR;
}

static void run(int n, float *x) {
    started = omp_get_wtime();
    scale(n, 2.0f, x);
    printf("%f %f\n", now(), omp_get_wtime() - started);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : INT_MAX / 1000000;
    float *x = malloc(n * sizeof *x);
    struct node *list = NULL;
    if (argc > 2) goto out;
    for (int i = 0; i < n; i++) x[i] = i;
    run(n, x);
    push(&list, fibonacci(5));
    assert(x[0] < FLT_MAX && options.width);
out:
    free(x);
    return 0;
}
"#;

/// The static function is taken and not `main` or `run` around it, and the compiler's code is a reference although
/// `main` needs a library that nobody named.
#[test]
fn a_whole_program_is_compared_with_its_compiled_function() {
    let (status, said, text) =
        tune(PROGRAM, &["--size", "n=1000", "--strategy", "direct", "-D", "FACTOR=3"], "scale");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("compared with the host compiler's code"), "{said}");
    assert!(text.contains("extern \"C\" void scale_host(int n, float a, float *x) {"), "{text}");
}

#[test]
fn loops_in_main_must_move() {
    let source = "#include <stdio.h>\nint main(void) {\n    float a[100];\n    #pragma omp parallel for\n    for (int i = 0; i < 100; i++) a[i] = i;\n    printf(\"%f\\n\", a[5]);\n}\n";
    for options in [&[][..], &["--function", "main"]] {
        let (status, said, _) = tune(source, options, "main");
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("error[W130]: the marked loops stand in `main`"), "{said}");
        assert!(said.contains("move the loops to a function of their own"), "{said}");
    }
}

const SWEEP: &str = "        #pragma omp parallel for\n        for (int i = 1; i < n - 1; i++)\n            V[i] = 0.5f * U[i] + 0.25f * (U[i - 1] + U[i + 1]);\n";

fn sweeps(before: &str, after: &str, names: [&str; 2]) -> String {
    let sweep = SWEEP.replace('U', names[0]).replace('V', names[1]);
    format!(
        "void sweep(int n, int steps, float u[n], float v[n])\n{{\n{before}    for (int t = 0; t < steps; t++) {{\n{sweep}{after}    }}\n}}\n"
    )
}

/// The launcher exchanges its pointers; odd and even numbers of steps are among the sizes that are compared.
#[test]
fn arrays_change_places() {
    let ways = [
        ("", "        float *t2 = u;\n        u = v;\n        v = t2;\n", ["u", "v"]),
        ("    float *keep;\n", "        keep = u, u = v, v = keep;\n", ["u", "v"]),
        (
            "    float *now = u, *next = v;\n",
            "        float *keep = next;\n        next = now;\n        now = keep;\n",
            ["now", "next"],
        ),
        ("", "        do { float *t2 = u; u = v; v = t2; } while (0);\n", ["u", "v"]),
    ];
    for (before, after, names) in ways {
        let (said, text) = accepted(&sweeps(before, after, names), &["n=1000", "steps=7"], "sweep");
        assert!(said.contains("steps from {0 to 3, 5"), "{said}");
        assert!(text.contains("= u;") || text.contains("= v;"), "{text}");
    }
    let rows = "void plates(int n, int m, int steps, double a[n][m], double b[n][m])\n{\n    for (int t = 0; t < steps; t++) {\n        #pragma omp parallel for collapse(2)\n        for (int i = 1; i < n - 1; i++)\n            for (int j = 0; j < m; j++)\n                b[i][j] = 0.5 * (a[i - 1][j] + a[i + 1][j]);\n        double (*t2)[m] = a;\n        a = b;\n        b = t2;\n    }\n}\n";
    accepted(rows, &["n=100", "m=100", "steps=5"], "plates");
}

#[test]
fn pointers_that_move_otherwise_are_refused() {
    for (before, after, what) in [
        ("", "        u = v;\n", "pointers cannot be assigned"),
        ("", "        float *t2 = u;\n        u = v;\n        v = t2;\n        t2[0] = 1;\n", ""),
        (
            "    float *now = u, *next = v;\n",
            "        float *k = now; now = next; next = k;\n        u[0] = 1;\n",
            "changes after its declaration",
        ),
    ] {
        let source =
            sweeps(before, after, if before.is_empty() { ["u", "v"] } else { ["now", "next"] });
        let (status, said, _) = tune(&source, &["--size", "n=100", "--size", "steps=4"], "sweep");
        assert_ne!(status, Some(0), "{source}");
        assert!(said.contains("error[W143]") && said.contains(what), "{said}");
    }
    let unlike = "void f(int n, int m, int steps, float u[n], float v[m])\n{\n    for (int t = 0; t < steps; t++) {\n        #pragma omp parallel for\n        for (int i = 0; i < n; i++) u[i] += 1;\n        float *k = u; u = v; v = k;\n    }\n}\n";
    let (status, said, _) = tune(unlike, &["--size", "n=100"], "f");
    assert_ne!(status, Some(0));
    assert!(said.contains("change places, but they are not declared alike"), "{said}");
}

const NEST: &str = "        ERR = 0;\n        #pragma omp parallel for reduction(max: ERR)\n        for (int i = 0; i < n; i++) {\n            float d = 0.5f * (b[i] - x[i]);\n            x[i] += d;\n            ERR = fmaxf(ERR, fabsf(d));\n        }\n";

/// One scalar comes back an iteration, in each of C's ways to go on until something is small.
#[test]
fn loops_end_when_the_device_says_so() {
    let loops = [
        (
            "    float ERR = tol + 1;\n    while (ERR > tol && it < most) {\n",
            "        it++;\n    }\n",
        ),
        ("    float ERR;\n    do {\n", "        it++;\n    } while (ERR > tol && it < most);\n"),
        (
            "    for (; it < most; it++) {\n    float ERR;\n",
            "        if (ERR < tol) break;\n    }\n",
        ),
    ];
    for (head, tail) in loops {
        let body = format!("{head}{NEST}{tail}").replace("ERR", "err");
        let source = format!(
            "#include <math.h>\nint relax(int n, int most, float tol, float x[n], const float b[n])\n{{\n    int it = 0;\n{body}    return it;\n}}\n"
        );
        let (said, text) = accepted(&source, &["n=1000", "most=50"], "relax");
        assert!(said.contains("it synchronises the stream"), "{said}");
        assert!(text.contains("cudaMemcpyAsync(&err_now, err, "), "{text}");
        assert!(text.contains("cudaStreamSynchronize(stream);"), "{text}");
    }
    // A decision on an array is made where the array is.
    let flag = "void shrink(int n, int x[n], int *changed)\n{\n    do {\n        int any = 0;\n        #pragma omp parallel for reduction(|: any)\n        for (int i = 0; i < n; i++)\n            if (x[i] > 1) {\n                x[i] /= 2;\n                any |= 1;\n            }\n        *changed = any;\n    } while (*changed);\n}\n";
    let (_, text) = accepted(flag, &["n=1000"], "shrink");
    assert!(text.contains("if (decision_now == 0) break;"), "{text}");
}

fn prepared(folder: &Path, source: &str, sizes: [(&str, i64); 2]) -> Prepared {
    let file = folder.join("source.c");
    std::fs::write(&file, source).expect("a writable folder");
    let request = TuneRequest::new(file).jobs(1).strategy(Strategy::Direct);
    let request = sizes.iter().fold(request, |r, (name, size)| r.size(*name, [*size]));
    let mut sources = SourceMap::new();
    let prepared = Prepared::new(&request, &mut sources);
    prepared.unwrap_or_else(|e| panic!("{}", e.render(&sources, false)))
}

/// Each change of the host's part is seen when the emitted text runs on the emulated device.
#[test]
fn faults_of_the_host_are_caught() {
    let source = "#include <math.h>\nfloat relax(int n, int most, float x[n], const float b[n], float y[n])\n{\n    float err = 1;\n    for (int it = 0; it < most; it++) {\n        err = 0;\n        #pragma omp parallel for reduction(max: err)\n        for (int i = 0; i < n; i++) {\n            float d = 0.5f * (b[i] - x[i]);\n            x[i] += d;\n            y[i] = d;\n            err = fmaxf(err, fabsf(d));\n        }\n        if (err < 0.01f) break;\n    }\n    return err;\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let prepared = prepared(folder.path(), source, [("n", 100), ("most", 5)]);
    let right = prepared.text(&prepared.program).expect("the program has a text");
    let mut sources = SourceMap::new();
    let verdict = prepared.verify(&right, &mut sources);
    assert!(verdict.is_ok_and(|v| v.host_entry.contains(&true) && v.host_entry.contains(&false)));
    let faults = [
        ("array_on_device(x, x_bytes, true", "array_on_device(x, x_bytes, false"),
        ("array_on_device(b, b_bytes, true", "array_on_device(b, b_bytes, false"),
        ("array_on_device(x, ", "array_on_device(b, "),
        ("    array_to_host(x, x_device, x_bytes, &status);\n", ""),
        ("array_to_host(x, x_device", "array_to_host(x, y_device"),
        ("b_bytes = sizeof(float) * extent(n);", "b_bytes = sizeof(float) * extent(most);"),
        ("x_bytes = sizeof(float) * extent(n);", "x_bytes = sizeof(double) * extent(n);"),
        (
            "cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)",
            "cudaMemcpy(host, device, bytes, cudaMemcpyHostToDevice)",
        ),
        (
            "cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)",
            "cudaMemcpy(device, host, bytes, cudaMemcpyDeviceToDevice)",
        ),
        ("    cudaFree(x_device);\n", ""),
        ("    cudaFree(workspace);\n", ""),
        ("relax_launch(n, most, x_device", "relax_launch(n, most, x"),
        ("relax_launch(n, most, ", "relax_launch(most, n, "),
        ("if (status == cudaSuccess) {", "if (status != cudaSuccess) {"),
        ("if (status != cudaSuccess) {", "if (status == cudaSuccess) {"),
        ("    return returned;\n", "    return 0;\n"),
        ("        cudaStreamSynchronize(stream);\n", ""),
        ("        cudaMemcpyAsync(&err_now", "        if (most < 0) cudaMemcpyAsync(&err_now"),
        ("if (err_now < 0.01f) break;", ""),
    ];
    for (old, new) in faults {
        assert!(right.contains(old), "no `{old}` in:\n{right}");
        let wrong = right.replacen(old, new, 1);
        let verdict = prepared.verify(&wrong, &mut sources);
        let caught = verdict.is_err_and(|e| e.status == Status::No || e.status == Status::Bug);
        assert!(caught, "not seen: `{old}` -> `{new}`");
    }
}
