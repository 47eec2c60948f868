//! `warpsmith tune` as a user meets it: what it takes, what it refuses, with one message each.

use std::path::Path;
use std::process::{Command, Output};

use expect_test::expect;

const SCALE: &str = "void scale(int n, int m, float a, float x[n][m])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            x[i][j] = a * x[i][j];\n}\n";

fn tune(folder: &Path, source: &str, options: &[&str]) -> Output {
    std::fs::write(folder.join("nest.c"), source).expect("a writable folder");
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .args(["tune", "nest.c"])
        .args(options)
        .output()
        .expect("the program starts")
}

fn accepted(source: &str, options: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = tune(folder.path(), source, options);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{options:?}: {stderr}\n{source}");
    output
}

/// Exactly one error, with all of the texts in it, and no files.
fn refused(source: &str, options: &[&str], schedule: Option<&str>, status: i32, texts: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if let Some(schedule) = schedule {
        std::fs::write(folder.path().join("x.sched"), schedule).expect("a writable folder");
    }
    let output = tune(folder.path(), source, options);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{options:?}: {stderr}");
    for text in texts {
        assert!(stderr.contains(text), "no `{text}` in: {stderr}");
    }
    assert_eq!(stderr.lines().filter(|l| l.starts_with("error")).count(), 1, "{stderr}");
    assert!(!folder.path().join("warpsmith-out").exists(), "{options:?} left files");
}

#[test]
fn lists_of_sizes_are_zipped() {
    accepted(SCALE, &["--size", "n=32,64", "--size", "m=8,16"]);
    accepted(SCALE, &["--size", "n=32,64", "--size", "m=8"]);
    let options = ["--size", "n=32,64,128", "--size", "m=8,16"];
    refused(SCALE, &options, None, 2, &["W311", "2 values", "has 3"]);
    refused(SCALE, &["--size", "n=32"], None, 2, &["parameter `m` has no size"]);
}

/// A product of constant extents takes more steps than one of many sizes may.
#[test]
fn extents_that_cannot_be_smaller_are_run() {
    let product = "#define N 72\nvoid f(const float A[N][N], const float B[N][N], float C[N][N])\n{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < N; i++)\n        for (int j = 0; j < N; j++) {\n            float s = 0.0f;\n            for (int k = 0; k < N; k++) s += A[i][k] * B[k][j];\n            C[i][j] = s;\n        }\n}\n";
    accepted(product, &["--strategy", "direct"]);
}

#[test]
fn schedules_with_mistakes() {
    let options = ["--size", "n=32", "--size", "m=8", "--schedule", "x.sched"];
    refused(SCALE, &options, Some("polish i\n"), 2, &["W230", "x.sched:1"]);
    refused(SCALE, &options, Some("bind q -> x block 64\n"), 1, &["W231", "x.sched:1"]);
    refused(SCALE, &options, Some("bind i -> \n"), 2, &["W230", "x.sched:1"]);
}

#[test]
fn a_machine_reads_json() {
    let output = accepted(SCALE, &["--size", "n=32", "--size", "m=8", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["command"], "tune");
}

#[test]
fn the_function_is_chosen_by_name() {
    let two = format!("{SCALE}{}", SCALE.replace("scale", "again"));
    refused(&two, &["--size", "n=32", "--size", "m=8"], None, 2, &["W130", "--function"]);
    accepted(&two, &["--size", "n=32", "--size", "m=8", "--function", "again"]);
    refused(&two, &["--function", "agian"], None, 2, &["W130", "did you mean `again`?"]);
}

#[test]
fn constants_of_the_file_and_of_the_function() {
    let source = "static float weights[3] = {0.25f, 0.5f, 0.25f};\n\
        void f(int n, const int a[n], float b[n]) {\n\
        enum { LOW = 3, HIGH = LOW + 7 };\n\
        static const int table[2][2] = {{-1, 0}, {2, 1}};\n\
        #pragma omp parallel for\n\
        for (int i = 0; i < n; i++) {\n\
            int v = a[i] < LOW ? LOW : a[i] > HIGH ? HIGH : a[i];\n\
            b[i] = weights[i % 3] * v + table[i & 1][1];\n\
        }\n}\n";
    accepted(source, &["--size", "n=64"]);
}

#[test]
fn lastprivate_survives_continue() {
    let source = "int f(int n, const int a[n], int b[n]) {\n int x = -1;\n\
        #pragma omp parallel for lastprivate(x)\n\
        for (int i = 0; i < n; i++) { x = a[i] / 2; if (a[i] & 1) continue; b[i] = x * 2; }\n\
        return x;\n}\n";
    accepted(source, &["--size", "n=64"]);
}

#[test]
fn steps_that_carry_threads_out_of_the_range_of_int() {
    let source = "void f(int n, int s, float a[n]) {\n\
        #pragma omp parallel for\n\
        for (int i = 0; i < n; i += s) a[i] += i;\n}\n";
    accepted(source, &["--size", "n=64", "--arg", "s=1073741824"]);
}

#[test]
fn what_is_refused_is_refused_once() {
    let n = ["--size", "n=64"];
    let loops = "#pragma omp parallel for\nfor (int i = 0; i < n; i++)";
    let source = format!(
        "#include <stdlib.h>\nvoid f(int n, float a[n]) {{\nfloat *t = malloc(n * sizeof(float));\n{loops} t[i] = a[i];\n{loops} a[i] = t[i] + 1;\nfree(t);\n}}\n"
    );
    refused(&source, &n, None, 2, &["W143", "`t` is allocated here, with `malloc`"]);
    let source = format!(
        "union p {{ float x, y; }};\nvoid f(int n, union p a[n], union p b[n]) {{\n{loops} {{ a[i].x = b[i].y; union p t = a[i]; b[i] = t; }}\n}}\n"
    );
    refused(&source, &n, None, 2, &["W144", "unions are not part of the loop language"]);
    let source = format!(
        "void f(int n, const float a[n], float b[n]) {{\nfloat s = 0;\n{} {{ s += a[i]; b[i] = s; }}\n}}\n",
        loops.replace("for\n", "for reduction(+: s)\n")
    );
    refused(&source, &n, None, 1, &["W227", "a running total is no reduction"]);
    let source = format!(
        "void f(int n, const int k[n], const float a[n], float b[n]) {{\n{loops} b[k[i]] = a[i];\n}}\n"
    );
    // The mark is the user's word; data that break it do not pass.
    let equal = ["--size", "n=64", "--arg", "k=zeros"];
    refused(&source, &equal, None, 1, &["W325", "race-global", "remove the mark"]);
}

#[test]
fn each_step_of_a_schedule_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, steps) = (folder.path().join("sums.c"), folder.path().join("sums.sched"));
    let text = "void sums(int n, int m, const float a[n][m], float s[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < m; j++) s[i] += a[i][j];
    }
}
";
    std::fs::write(&source, text).expect("written");
    std::fs::write(&steps, "bind i -> x block 64\naccumulate s\nregister_tile i by 2\n")
        .expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .arg("tune")
        .arg(&source)
        .args(["--schedule".as_ref(), steps.as_os_str()])
        .args(["--size", "n=64", "--size", "m=64", "--show-steps", "--dry-run"])
        .output()
        .expect("the program starts");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = &*shown;
    for piece in [
        "-- the function\n",
        "      // parallel\n",
        "-- bind i -> x block 64\n",
        "-     // parallel\n",
        "+     // threads of the grid along x, 64 a block\n",
        "-- accumulate s\n",
        "-         s[i] = 0.0f;\n",
        "+         float acc = 0.0f;\n",
        "-- register_tile i by 2\n",
        "+     // a thread computes 2 iterations of `i`\n",
        "sums.c: sums for sm_90",
    ] {
        let at = rest.find(piece).unwrap_or_else(|| panic!("no `{piece}` (any more) in\n{shown}"));
        rest = &rest[at + piece.len()..];
    }
}

#[test]
fn steps_are_shown_of_a_schedule_that_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, steps) = (folder.path().join("f.c"), folder.path().join("f.sched"));
    let text = "void f(int n, const int k[n], const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) b[k[i]] = a[i];
}
";
    std::fs::write(&source, text).expect("written");
    // Two iterations write one element; and a loop that is not there.
    for (schedule, code, last) in [
        ("bind i -> x block 64\n", "W325", "-- bind i -> x block 64\n"),
        ("bind i -> x block 64\nregister_tile j by 2\n", "W231", "-- bind i -> x block 64\n"),
    ] {
        std::fs::write(&steps, schedule).expect("written");
        let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
            .arg("tune")
            .arg(&source)
            .args(["--schedule".as_ref(), steps.as_os_str()])
            .args(["--size", "n=64", "--arg", "k=zeros", "--show-steps", "--dry-run"])
            .output()
            .expect("the program starts");
        let (shown, said) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(code), "{said}");
        assert!(shown.starts_with("-- the function\n") && shown.contains(last), "{shown}");
        assert!(!shown.contains("register_tile"), "{shown}");
    }
}

#[test]
fn the_steps_of_schedules_are_listed() {
    let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(["tune", "--list-rewrites"])
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    for r in warpsmith_opt::schedule::registry::STEPS {
        let lines = format!("{}\n    {}\n    legal: {}\n", r.example, r.does, r.legal);
        assert!(text.contains(&lines), "no {} in\n{text}", r.name);
    }
    let with_a_file = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(["tune", "nest.c", "--list-rewrites"])
        .output()
        .expect("the program starts");
    assert_eq!(with_a_file.status.code(), Some(2));
    let nothing = Command::new(env!("CARGO_BIN_EXE_warpsmith")).arg("tune").output();
    assert_eq!(nothing.expect("the program starts").status.code(), Some(2));
}

#[test]
fn the_reference_of_the_test_program_sums_in_double() {
    let source = "float f(int n, const float x[n], float *least) {\n\
        float s = 1, low = x[0], unit = 2;\n\
        #pragma omp parallel for reduction(+: s) reduction(min: low)\n\
        for (int i = 0; i < n; i++) {\n\
            s = s + x[i] * unit - x[i] * x[i];\n\
            low = low < x[i] ? low : x[i];\n\
        }\n\
        least[0] = low + s;\n\
        return s;\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = tune(folder.path(), source, &["--size", "n=64", "--arg", "least=float[1]"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let text = std::fs::read_to_string(folder.path().join("warpsmith-out/f/f_test.cu"));
    let text = text.expect("the test program");
    let reference = text.split("namespace reference {\n\n").nth(1).expect("the reference");
    let reference = reference.split("\n}  // namespace").next().expect("its end");
    expect![[r#"
        Real<float> f(int n, Input<float> x, Real<float> *least, Iterations &iterations) {
            Real<double> s = 1.0;
            Real<float> low = x[0];
            const Real<float> unit = 2.0f;
            for (int i = 0; i < n; ++i) {
                if (!iterations.take()) continue;
                s = s + x[i] * unit - x[i] * x[i];
                low = low < x[i] ? low : x[i];
            }
            least[0] = low + (Real<float>)s;
            return s;
        }
    "#]]
    .assert_eq(reference);
}

#[test]
fn a_filter_in_constant_memory_is_verified_from_the_text() {
    let source = "void fir(int n, const float f[5], const float x[n + 4], float y[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {\n        y[i] = 0;\n        for (int k = 0; k < 5; k++)\n            y[i] += f[k] * x[i + k];\n    }\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(
        folder.path().join("x.sched"),
        "bind i -> x block 64\naccumulate y\nconstant f\n",
    )
    .expect("a writable folder");
    let output = tune(folder.path(), source, &["--size", "n=100", "--schedule", "x.sched"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let text = std::fs::read_to_string(folder.path().join("warpsmith-out/fir/fir.cu"))
        .expect("the kernel is written");
    assert!(
        text.contains("cudaMemcpyToSymbolAsync(f_constant, f, sizeof(f_constant), 0,"),
        "{text}"
    );
    assert!(text.contains("__constant__ float f_constant[5];"), "{text}");
}

#[test]
fn loops_without_a_mark_and_shared_counters_are_pointed_out() {
    let source = "void f(int n, int m, float a[n][m], float b[n]) {\n\
        int j;\n\
        j = 5;\n\
        #pragma omp parallel for\n\
        for (int i = 0; i < n; i++)\n\
            for (j = 0; j < m; j++)\n\
                a[i][j] = 1;\n\
        for (int k = 0; k < n; k++)\n\
            b[k] = 0;\n}\n";
    let output = accepted(source, &["--size", "n=16", "--size", "m=8"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    for text in [
        "warning[W251]: the counter `j` is shared by the iterations of the marked loop `i`",
        "nest.c:6:",
        "add `private(j)` or declare it in the loop",
        "note[W253]: loop `k` is not marked; its iterations are independent, and it runs in parallel",
        "mark it to say so: `#pragma omp parallel for`",
    ] {
        assert!(stderr.contains(text), "no `{text}` in: {stderr}");
    }
}

#[test]
fn a_function_without_a_mark_runs_what_is_provably_parallel_in_parallel() {
    let source = "void jac(int n, int m, const float *a, float *b) {
    int i, j;
    float sum;
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < m - 1; j++) {
            sum = a[(i - 1) * m + j] + a[(i + 1) * m + j];
            b[i * m + j] = 0.5f * sum;
        }
}
";
    let output = accepted(source, &["--size", "n=64", "--size", "m=96"]);
    let (said, told) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(
        said.contains("note[W253]: loop `i` is not marked; its iterations are independent"),
        "{said}"
    );
    assert!(said.contains("`#pragma omp parallel for private(j, sum)`"), "{said}");
    assert!(told.contains("bind i, j -> y, x"), "{told}");
    let carried = "void f(int n, float a[n]) { for (int i = 1; i < n; i++) a[i] /= 1 + a[i - 1]; }";
    refused(carried, &["--size", "n=64"], None, 2, &["W130", "no loop is marked as parallel"]);
    let two = "void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 0; }
void g(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 1; }";
    refused(two, &["--size", "n=64"], None, 2, &["W130", "--function f or --function g"]);
}

/// What iterations only combine is reduced, whatever of it stands in the function.
#[test]
fn loops_without_a_mark_are_reduced_where_they_only_combine() {
    let sum = "float sum(int n, const float x[n]) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }";
    let bins = "void bins(int n, const unsigned char *x, int h[256]) { for (int i = 0; i < n; i++) h[x[i]]++; }";
    let both = "void both(int n, int m, const float A[n][m], const float p[m], const float r[n], float q[n], float s[m])
{
    for (int j = 0; j < m; j++) s[j] = 0;
    for (int i = 0; i < n; i++) {
        q[i] = 0;
        for (int j = 0; j < m; j++) {
            s[j] += r[i] * A[i][j];
            q[i] += A[i][j] * p[j];
        }
    }
}
";
    let sizes = ["--size", "n=4096", "--size", "m=512"];
    for (source, sizes, wanted) in [
        (sum, &sizes[..2], "but for what they combine in `s`"),
        (bins, &sizes[..2], "but for what they combine in `h`"),
        (both, &sizes[..], "but for what they combine in `s`"),
    ] {
        let output = accepted(
            source,
            &[sizes, &["--strategy", "model", "--registers", "estimate"]].concat(),
        );
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("note[W254]") && said.contains(wanted), "{said}");
        let order = said.contains("sums of reals are added up in another order");
        assert_eq!(order, source != bins, "{said}");
    }
}

/// At no size that can be tried do the usual blocks go on in strides: the matrix would be too large.
#[test]
fn reductions_beside_a_matrix_have_fewer_blocks() {
    let source = "double norm(int n, int steps, const double A[n][n], double x[n], double y[n])
{
    double all = 0;
    for (int t = 0; t < steps; t++) {
        double s = 0;
        for (int i = 0; i < n; i++) {
            double a = 0;
            for (int j = 0; j < n; j++) a += A[i][j] * x[j];
            y[i] = a / n;
            s += a * a;
        }
        for (int i = 0; i < n; i++) x[i] = y[i];
        all += s;
    }
    return all;
}
";
    accepted(source, &["--size", "n=4096", "--size", "steps=8", "--strategy", "direct"]);
}

#[test]
fn sizes_without_an_iteration_show_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "void scatter(int n, const int idx[n], const float x[n], float y[n]) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) y[idx[i]] = x[i];
    }";
    let beyond = source.replace("y[idx[i]]", "y[idx[i] * idx[i] % 7 + 1000000]");
    let output = tune(folder.path(), &beyond, &["--size", "n=1024"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("error[W328]") && said.contains("--arg"), "{said}");
    // Data of its own give every iteration an element, also where none of those before could be run.
    let shifted = source.replace("y[idx[i]]", "y[idx[i] + 1000000]");
    let output = tune(folder.path(), &shifted, &["--size", "n=1024"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output = tune(folder.path(), source, &["--size", "n=1024", "--arg", "idx=zeros"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error[W325]") && said.contains("--arg"), "{said}");
    let output = tune(folder.path(), source, &["--size", "n=1024", "--arg", "idx=iota"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs with a schedule file; returns what was said and the files by name.
fn scheduled(
    source: &str,
    schedule: &str,
    options: &[&str],
) -> (String, std::path::PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("x.sched"), schedule).expect("a writable folder");
    let mut all = vec!["--schedule", "x.sched", "--out", "out"];
    all.extend(options);
    let output = tune(folder.path(), source, &all);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{schedule}: {stderr}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text, folder.path().join("out"), folder)
}

const SPACE: &str = "param BX in pow2 16..128\nparam BY in 1, 2, 4, 2000\nwhere BX * BY <= 256 || BY == 2000\nbind i, j -> y, x block {BX}x{BY}\n";

#[test]
fn parameters_are_chosen_and_the_result_has_none() {
    let sizes = ["--size", "n=64", "--size", "m=512"];
    let (text, out, _folder) = scheduled(SCALE, SPACE, &sizes);
    assert!(
        text.contains("16 combinations, of which the constraints allow 15; 15 looked at, 11 legal"),
        "{text}"
    );
    let chosen = std::fs::read_to_string(out.join("scale.sched")).expect("the schedule");
    assert!(chosen.starts_with("bind i, j -> y, x block ") && !chosen.contains('{'), "{chosen}");
    // The same steps, replayed, make the same text.
    let first = std::fs::read(out.join("scale.cu")).expect("the kernel");
    let (text, again, _folder2) = scheduled(SCALE, &chosen, &sizes);
    assert!(text.contains("\npredicted for H200: "), "{text}");
    assert_eq!(first, std::fs::read(again.join("scale.cu")).expect("the kernel"));
    let fixed = ["--param", "BX=32", "--param", "BY=2", "--size", "n=64", "--size", "m=512"];
    let (_, out, _folder) = scheduled(SCALE, SPACE, &fixed);
    let chosen = std::fs::read_to_string(out.join("scale.sched")).expect("the schedule");
    assert_eq!(chosen, "bind i, j -> y, x block 32x2\n");
}

#[test]
fn parameters_that_do_not_fit_are_refused() {
    let with = |more: &[&'static str]| {
        [&["--size", "n=8", "--size", "m=8", "--schedule", "x.sched"], more].concat()
    };
    let f = |schedule: &str, more: &[&'static str], status: i32, texts: &[&str]| {
        refused(SCALE, &with(more), Some(schedule), status, texts);
    };
    f(SPACE, &["--param", "BZ=2"], 2, &["W233", "no parameter `BZ`", "BX, BY"]);
    f(SPACE, &["--param", "BX=7"], 2, &["W233", "16, 32, 64, 128"]);
    f(SPACE, &["--param", "BX"], 2, &["W233", "--param T=4"]);
    f(SPACE, &["--param", "BX=128", "--param", "BY=4"], 2, &["W234", "do not satisfy"]);
    f("where 3 < 2\nunroll i by 2\n", &[], 2, &["W234", "there are no parameters"]);
    f("param T in 2, 4\nwhere T > 9\nunroll i by {T}\n", &[], 1, &["W234", "2 combinations"]);
    f("param T in 2, 4\nunroll k by {T}\n", &[], 1, &["W231", "none of 2 configurations is legal"]);
    f("param T in 2, 4\nunroll k by {U}\n", &[], 2, &["W232", "x.sched:2:14"]);
}

#[test]
fn a_function_is_computed_in_another_precision() {
    let source = "double mean(int n, const double x[n], double y[n])\n{\n    double s = 0;\n    #pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++) {\n        y[i] = x[i] / 3.0 + 0.1;\n        s += y[i];\n    }\n    return s / (n + 1);\n}\n";
    for (name, spelling) in [("float", "const float *"), ("half", "const half *")] {
        let schedule = format!("precision {name}\nreduce s block 64 grid 8\n");
        let (_, out, _folder) = scheduled(source, &schedule, &["--size", "n=1000"]);
        let header = std::fs::read_to_string(out.join("mean.h")).expect("the header");
        assert!(header.contains(spelling), "{header}");
    }
    // 300 * 300 is beyond the greatest half.
    let large = "void f(int n, const float x[n], float y[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) y[i] = (x[i] + 300.0f) * 300.0f;\n}\n";
    refused(
        large,
        &["--size", "n=64", "--schedule", "x.sched"],
        Some("precision half\nbind i -> x block 32\n"),
        1,
        &["W330", "leave the range"],
    );
}

/// A product of matrices whose size is a constant.
fn constant_product(n: u32) -> String {
    format!(
        "#define N {n}\nvoid product(const float A[N][N], const float B[N][N], float C[N][N])\n{{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < N; i++)\n        for (int j = 0; j < N; j++) {{\n            float s = 0;\n            for (int k = 0; k < N; k++) s += A[i][k] * B[k][j];\n            C[i][j] = s;\n        }}\n}}\n"
    )
}

#[test]
fn sizes_that_are_constants_may_be_large() {
    let output = accepted(&constant_product(100), &["--strategy", "direct"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("compared with the host compiler's code: its constant sizes"), "{text}");
}

#[test]
fn products_in_another_order_have_the_bound_of_their_length() {
    let source = "double prod(int n, const double x[n])\n{\n    double p = 1;\n    #pragma omp parallel for reduction(*: p)\n    for (int i = n - 1; i >= 0; i--) p *= 1.0 + 0.001 * x[i];\n    return p;\n}\n";
    let output = accepted(source, &["--size", "n=5000"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("may be added in another order than in C"), "{text}");
}

#[test]
fn every_axis_gets_a_second_block() {
    let source = "void outer(int n, const float A[n][n], const float B[n][n], float C[n][n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {\n            float s = 0;\n            for (int k = 0; k < n; k++) s += A[i][k] * B[k][j];\n            C[i][j] = s;\n        }\n}\n";
    let output = accepted(source, &["--size", "n=512", "--strategy", "direct"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The direct translation has blocks of 256 threads.
    let checked = text.lines().find(|l| l.starts_with("checked")).unwrap_or_default();
    assert!(checked.contains(", 257}") && !text.contains("no second block"), "{text}");
}

#[test]
fn an_access_outside_of_its_array_is_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "void shift(int n, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = x[i + 1];
}
";
    let output = tune(folder.path(), source, &["--size", "n=1024"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for text in [
        "error[W328]",
        ".c:3:40",
        "^^^^^^^^ here it leaves its array",
        "n=1: `x` has 1 element, and element 1 is accessed",
    ] {
        assert!(said.contains(text), "no `{text}` in: {said}");
    }
}

#[test]
fn sizes_that_contradict_each_other_or_do_not_fit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = "void scale(int n, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = 2 * x[i];
}
";
    for (options, wanted) in [
        (&["--size", "n=64", "--size", "n=128"][..], "size `n` is given twice"),
        (&["--size", "n=3000000000"], "at most 2147483647 fits"),
        (&["--size", "=5"], "a size without a name"),
        (&["--size", "n=64", "--arg", "n=3"], "`n` is given by --size and by --arg"),
    ] {
        let output = tune(folder.path(), source, options);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("error[W311]") && said.contains(wanted), "{said}");
    }
}

#[test]
fn a_marked_loop_that_no_step_binds_is_not_called_unmarked() {
    let source = "void scale(int n, const float x[n], float y[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = 2 * x[i];
}
";
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("x.sched"), "# no step\n").expect("a writable folder");
    let output = tune(folder.path(), source, &["--size", "n=64", "--schedule", "x.sched"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for text in ["warning[W252]: loop `i` is bound to no threads", "`bind i -> x block 256`"] {
        assert!(said.contains(text), "no `{text}` in: {said}");
    }
}
