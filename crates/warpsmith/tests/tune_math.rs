//! Math functions: the host's library and ours differ in the last bits, and nothing else may pass as that.

use std::path::Path;
use std::process::{Command, Output};

fn tune(folder: &Path, source: &str, options: &[&str]) -> Output {
    let file = folder.join("nest.c");
    std::fs::write(&file, source).unwrap();
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder)
        .args(["tune", "nest.c"])
        .args(options)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Verifies a nest whose body is `statement`, with `x` and `y` arrays of `ty`.
fn verifies(ty: &str, statement: &str) {
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "#include <math.h>\nvoid f(int n, const {ty} x[n], {ty} y[n]) {{\n#pragma omp parallel for\n\
         for (int i = 0; i < n; i++) {{ {statement} }}\n}}\n"
    );
    let output = tune(folder.path(), &source, &["--size", "n=64"]);
    assert_eq!(output.status.code(), Some(0), "{statement}: {}", stderr(&output));
}

#[test]
fn functions_of_both_widths_agree_with_the_host() {
    verifies(
        "float",
        "y[i] = expf(x[i]) + sinf(3 * x[i]) * powf(fabsf(x[i]) + 0.1f, 1.7f) + tanhf(x[i]) - erff(x[i])
             + log1pf(x[i] * x[i]) + fmaf(x[i], 2.0f, 1.0f) / sqrtf(1 + x[i] * x[i]) + hypotf(x[i], 2) + cbrtf(x[i])
             + atan2f(x[i], 0.3f);",
    );
    verifies(
        "double",
        "y[i] = exp(x[i]) + sin(3 * x[i]) * pow(fabs(x[i]) + 0.1, 1.7) + tanh(x[i]) - erf(x[i])
             + log1p(x[i] * x[i]) + fma(x[i], 2.0, 1.0) / sqrt(1 + x[i] * x[i]) + hypot(x[i], 2) + cbrt(x[i])
             + atan2(x[i], 0.3) + tgamma(x[i] + 2.5) + lgamma(x[i] + 2.5) + acosh(x[i] + 3);",
    );
}

#[test]
fn what_follows_from_a_math_function_inherits_its_slack() {
    // Through later statements, roundings, comparisons and an iteration.
    verifies(
        "double",
        "double t = exp(x[i]); for (int k = 0; k < 10; k++) t = t - 0.1 * sin(t);
         y[i] = floor(10 * t) + (t > 1.5 ? log(t) : (double)(int)(100 * cos(t)));",
    );
}

#[test]
fn reductions_of_math_functions_agree_with_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <math.h>\nfloat f(int n, const float x[n], int *above) {\nfloat s = 0; int c = 0;\n\
                  #pragma omp parallel for reduction(+: s) reduction(+: c)\n\
                  for (int i = 0; i < n; i++) { s += sinf(x[i]) / (1 + expf(x[i])); if (expf(x[i]) > 1) c++; }\n\
                  *above = c;\nreturn s;\n}\n";
    let output = tune(folder.path(), source, &["--size", "n=64"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// `__OPTIMIZE__` is what the host's compiler defines and our preprocessor does not.
fn differs(ours: &str, hosts: &str) {
    let folder = tempfile::tempdir().unwrap();
    let source = format!(
        "#include <math.h>\n#ifdef __OPTIMIZE__\n#define F(x) ({hosts})\n#else\n#define F(x) ({ours})\n#endif\n\
         void f(int n, const float x[n], float y[n]) {{\n#pragma omp parallel for\n\
         for (int i = 0; i < n; i++) {{ y[i] = F(x[i]); }}\n}}\n"
    );
    let output = tune(folder.path(), &source, &["--size", "n=64"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{ours} against {hosts}: {text}");
    assert!(text.contains("error[W326]: the two references for `f` disagree"), "{text}");
}

#[test]
fn a_wrong_function_or_a_dropped_term_is_no_rounding() {
    differs("sinf(x)", "tanhf(x)");
    differs("expf(x) + 1e-5f * x", "expf(x)");
    differs("expf(x) > 1 ? 1.0f : 0.0f", "expf(x) > 1.2f ? 1.0f : 0.0f");
    differs("floorf(8 * cosf(x))", "ceilf(8 * cosf(x))");
    // No math function, no tolerance.
    differs("x * 0.1f", "x / 10");
}

/// A weighted sum of three bytes becomes a byte.
fn weighted(stored: &str) -> String {
    format!(
        "void f(int n, const unsigned char in[n + 2], const float k[3], unsigned char out[n]) {{\n\
         #pragma omp parallel for\n\
         for (int i = 0; i < n; i++) {{\n\
         float s = 0;\nfor (int j = 0; j < 3; j++) s += 50 * k[j] * in[i + j];\n\
         out[i] = {stored};\n}}\n}}\n"
    )
}

#[test]
fn reals_that_become_bytes_are_as_small_as_these_need() {
    let folder = tempfile::tempdir().unwrap();
    let output = tune(folder.path(), &weighted("(unsigned char)s"), &["--size", "n=4096"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("note[W342]: random reals between"), "{text}");
    // What is kept in range by the program has the numbers that it has anywhere.
    let clamped = "(unsigned char)(s < 0 ? 0 : s > 255 ? 255 : s)";
    let output = tune(folder.path(), &weighted(clamped), &["--size", "n=4096"]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(!text.contains("W342"), "{text}");
    // Nor is given data replaced; no size is left at which C says what comes out.
    let given = ["--size", "n=4096", "--arg", "k=uniform(-9, -8)"];
    let output = tune(folder.path(), &weighted("(unsigned char)s"), &given);
    let text = stderr(&output);
    assert_ne!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("a real number is converted to an integer type that does not hold it"),
        "{text}"
    );
}
