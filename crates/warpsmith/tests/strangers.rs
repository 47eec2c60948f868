//! Loops as strangers write them, `tests/corpus/loops`: each is tuned as it is, or refused for the reason its table names.
//!
//! Every fourth is run, all of them with `WARPSMITH_ALL_LOOPS=1`. The time of each is printed.

mod common;

use std::path::{Path, PathBuf};
use std::time::Instant;

use warpsmith_testgen::on_all_cores;

/// One loop in this many is run, unless all are asked for.
const EVERY: usize = 4;

/// A line of the table.
struct Row {
    name: String,
    options: Vec<String>,
    /// The code of the message that refuses the file.
    refused: Option<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/loops")
}

fn rows() -> Vec<Row> {
    let table = std::fs::read_to_string(folder().join("README.md")).expect("the table");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|')
            .split(" | ")
            .map(|c| c.trim().trim_matches('`').to_string())
            .collect()
    };
    let row = |line: &str| {
        let [name, _, options, refused] = <[String; 4]>::try_from(cells(line)).ok()?;
        let name = name.strip_suffix(".c")?.to_string();
        let options = options.split_whitespace().map(str::to_string).collect();
        Some(Row { name, options, refused: (refused != "–").then_some(refused) })
    };
    table.lines().filter(|l| l.starts_with("| `")).filter_map(row).collect()
}

#[test]
fn every_file_is_in_the_table() {
    let mut listed: Vec<String> = rows().into_iter().map(|r| r.name).collect();
    let entries = std::fs::read_dir(folder()).expect("the folder");
    let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut there: Vec<String> =
        names.filter_map(|n| Some(n.strip_suffix(".c")?.to_string())).collect();
    listed.sort();
    there.sort();
    assert_eq!(listed, there);
    let refused = rows().iter().filter(|r| r.refused.is_some()).count();
    assert!(refused * 4 < listed.len(), "{refused} of {} are refused", listed.len());
}

#[test]
fn loops_of_strangers_are_taken_as_they_are() {
    let all = std::env::var("WARPSMITH_ALL_LOOPS").is_ok_and(|v| v == "1");
    let every = if all { 1 } else { EVERY };
    let rows: Vec<Row> = rows().into_iter().step_by(every).collect();
    let wrong = |row: &Row| tuned(row).err().map(|why| format!("{}: {why}", row.name));
    let wrong: Vec<String> = on_all_cores(&rows, wrong).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What makes strangers' loops acceptable must not hide what is wrong with some of them.
#[test]
fn wrong_marks_behind_helpers_macros_and_variables_of_the_file_are_refused() {
    let wrong = [
        // The helper writes one element of the next row.
        "static void scale(float *x, int m) { for (int j = 0; j <= m; j++) x[j] *= 2.0f; }
         void f(int n, int m, float *a) {
         #pragma omp parallel for
         for (int i = 0; i < n; i++) scale(&a[i * m], m); }",
        // It reads what the next iteration writes.
        "static float next(float *x) { return x[1]; }
         void f(int n, float *a) {
         #pragma omp parallel for
         for (int i = 0; i < n - 1; i++) a[i] = next(a + i); }",
        // A helper of the helper writes.
        "static void set(double *x, int k, double v) { x[k] = v; }
         static void both(double *x, int k) { set(x, k, 1.0); set(x, k + 1, 2.0); }
         void f(int n, double *a) {
         #pragma omp parallel for
         for (int i = 0; i < n - 1; i++) both(a, i); }",
        // The distance is a variable of the file.
        "static int shift;
         void f(int n, float *a) {
         #pragma omp parallel for
         for (int i = 0; i < n; i++) a[i + shift] = a[i]; }",
        // Rows and columns of a flat counter exchanged with the wrong stride.
        "void f(int n, int m, const float *a, float *b) {
         #pragma omp parallel for
         for (int t = 0; t < n * m; t++) b[t / m + t % m] = a[t]; }",
        // A stage whose legs overlap.
        "#pragma ws bounds(a: 4096)
         void f(int shift, float *a) {
         int count = 1 << shift;
         for (int s = 0; s < shift; s++) {
             int half = 1 << s;
             #pragma omp parallel for
             for (int k = 0; k < count / 2; k++) a[k + half] += a[k]; } }",
        // Both ends of an exchange do it.
        "#pragma ws bounds(a: 4096)
         void f(int shift, int m, float *a) {
         int count = 1 << shift;
         if (m < 0 || m >= count) return;
         #pragma omp parallel for
         for (int i = 0; i < count; i++) a[i ^ m] += a[i]; }",
        // Rows that share their ends, behind a pointer that counts.
        "void f(int n, int m, float *a) {
         #pragma omp parallel for
         for (int i = 0; i < n; i++) {
             float *p, *end = a + (i + 1) * m;
             for (p = a + i * m; p <= end; p++) *p = i; } }",
        // What is private to no iteration.
        "double last;
         void f(int n, const double *a, double *b) {
         #pragma omp parallel for
         for (int i = 0; i < n; i++) { last = a[i]; b[i] = last; } }",
        // Each iteration adds to what the one before left.
        "#define AT(i, j) x[(i) * (m) + (j)]
         void f(int n, int m, float *x) {
         #pragma omp parallel for
         for (int i = 1; i < n; i++)
             for (int j = 0; j < m; j++) AT(i, j) += AT(i - 1, j); }",
        // A sum that goes on from iteration to iteration and that no clause names.
        "void f(int n, const float *a, float *b) {
         float s = 0.0f;
         #pragma omp parallel for
         for (int i = 0; i < n; i++) { s += a[i]; b[i] = s; } }",
    ];
    for source in wrong {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("f.c"), source).expect("a writable folder");
        let sizes = ["n=100", "m=30", "shift=1"];
        let used = sizes.iter().filter(|s| {
            let name = s.split('=').next().unwrap_or("");
            source.contains(&format!("int {name}"))
        });
        let mut args = vec!["tune", "f.c", "--out", "out", "--strategy", "direct"];
        used.for_each(|s| args.extend(["--size", s]));
        let output = common::command(folder.path(), &args).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{said}\n{source}");
        assert!(said.contains("error[W2") || said.contains("error[W146]"), "{said}\n{source}");
    }
}

/// Where the author forgot the clause, a note says what the loop is taken for.
#[test]
fn a_flag_that_iterations_set_is_a_reduction() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    for (written, clause) in [("found = 1", "||: found"), ("found = 0", "&&: found")] {
        let source = |clauses: &str| {
            format!(
                "int f(int n, const int *a) {{ int found = 0;
                 #pragma omp parallel for {clauses}
                 for (int i = 0; i < n; i++) if (a[i] > 90) {written};
                 return found; }}"
            )
        };
        let tune = |clauses: &str| {
            std::fs::write(temporary.path().join("f.c"), source(clauses)).expect("a file");
            let args = ["tune", "f.c", "--out", "out", "--strategy", "direct", "--size", "n=100"];
            common::command(temporary.path(), &args).output().expect("the program starts")
        };
        for (clauses, noted) in [(String::new(), true), (format!("reduction({clause})"), false)] {
            let taken = tune(&clauses);
            let said = String::from_utf8_lossy(&taken.stderr);
            assert_eq!(taken.status.code(), Some(0), "{said}");
            assert_eq!(said.contains("note[W255]"), noted, "{said}");
        }
    }
}

fn tuned(row: &Row) -> Result<(), String> {
    let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = folder().join(format!("{}.c", row.name));
    let file = file.to_string_lossy().into_owned();
    let mut args = vec!["tune", file.as_str(), "--out", "out"];
    args.extend(row.options.iter().map(String::as_str));
    let start = Instant::now();
    let output = common::command(temporary.path(), &args).output().map_err(|e| e.to_string())?;
    println!("{:7.2} s  {}", start.elapsed().as_secs_f64(), row.name);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if let Some(code) = &row.refused {
        let named = said.contains(&format!("error[{code}]")) && said.contains("= help:");
        return match output.status.code() {
            Some(1 | 2) if named => Ok(()),
            status => Err(format!("status {status:?} instead of {code} with a hint\n{said}")),
        };
    }
    if output.status.code() != Some(0) {
        return Err(format!("status {:?}\n{said}", output.status.code()));
    }
    let result = std::fs::read_to_string(temporary.path().join("out/result.json"));
    let result: serde_json::Value =
        serde_json::from_str(&result.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    let complete = &result["verification"]["coverage"]["complete"];
    if *complete == serde_json::Value::Bool(true) {
        Ok(())
    } else {
        Err(format!("not every path was run: {}", result["verification"]["coverage"]))
    }
}
