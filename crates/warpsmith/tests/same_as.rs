//! `check --same-as`: optimised kernels against plain references. Every file of `tests/same` names its reference in its first
//! line, is accepted as it is, and says in `// fault: OLD => NEW` lines what must not be.

mod common;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use common::command;

/// A kernel with its reference and the faults that are planted in it.
struct Case {
    name: String,
    text: String,
    options: Vec<String>,
    faults: Vec<(String, String)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/same")
}

fn cases() -> Vec<Case> {
    let files = std::fs::read_dir(folder()).expect("the folder is there");
    let mut files: Vec<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    files.sort();
    let kernels = files.into_iter().filter(|f| f.extension().is_some_and(|e| e == "cu"));
    kernels.filter_map(|f| case(&f)).collect()
}

fn case(path: &Path) -> Option<Case> {
    let text = std::fs::read_to_string(path).expect("it is text");
    let options = text.lines().next()?.strip_prefix("// same-as: ")?;
    let unescaped = |t: &str| t.replace("\\n", "\n");
    let faults = text.lines().filter_map(|l| l.strip_prefix("// fault: "));
    let faults = faults.map(|l| l.split_once(" =>").expect("OLD => NEW"));
    let faults =
        faults.map(|(old, new)| (unescaped(old), unescaped(new.strip_prefix(' ').unwrap_or(new))));
    Some(Case {
        name: path.file_stem()?.to_string_lossy().into_owned(),
        options: options.split(' ').map(str::to_string).collect(),
        faults: faults.collect(),
        text: text
            .lines()
            .filter(|l| !l.starts_with("// fault: "))
            .map(|l| format!("{l}\n"))
            .collect(),
    })
}

/// Exit status and report of a comparison.
fn compare(case: &Case, text: &str, name: &str) -> (i32, serde_json::Value) {
    let at = tempfile::tempdir().expect("a folder");
    let file = at.path().join(format!("{name}.cu"));
    std::fs::write(&file, text).expect("it is written");
    for reference in ["references.c", "references.cu"] {
        std::fs::copy(folder().join(reference), at.path().join(reference)).expect("it is copied");
    }
    let file = file.file_name().unwrap().to_string_lossy().into_owned();
    let mut args = vec!["check", &file, "--format", "json", "--jobs", "1", "--same-as"];
    args.extend(case.options.iter().map(String::as_str));
    let out = command(at.path(), &args).output().expect("it starts");
    let report = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&out.stderr)));
    (out.status.code().expect("a status"), report)
}

/// Runs jobs on two threads and gathers what they complain about.
fn all<T: Send>(jobs: Vec<T>, one: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let (queue, wrong) = (Mutex::new(jobs), Mutex::new(vec![]));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                loop {
                    let Some(job) = queue.lock().unwrap().pop() else { break };
                    wrong.lock().unwrap().extend(one(&job));
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn right_optimisations_are_the_same() {
    let cases = cases();
    assert!(cases.len() >= 19, "{}", cases.len());
    let wrong = all(cases, |case| {
        let (status, report) = compare(case, &case.text, &case.name);
        let verdict = report["same_as"]["verdict"].as_str().unwrap_or("").to_string();
        let fine = status == 0 && verdict.starts_with("equal");
        (!fine).then(|| format!("{}: {status} {report:#}", case.name))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn planted_faults_are_found() {
    // All of them with `WARPSMITH_ALL_FAULTS`; else every third, others each file.
    let every = if std::env::var_os("WARPSMITH_ALL_FAULTS").is_some() { 1 } else { 3 };
    let cases = cases();
    let total: usize = cases.iter().map(|c| c.faults.len()).sum();
    assert!(total >= 130, "{total}");
    let jobs = cases.iter().enumerate().flat_map(|(c, case)| {
        let chosen = case.faults.iter().enumerate().filter(move |(f, _)| (f + c) % every == 0);
        chosen.map(move |(f, fault)| (case, f, fault))
    });
    let wrong = all(jobs.collect(), |(case, f, (old, new))| {
        let name = format!("{}_{f}", case.name);
        let damaged = case.text.replacen(old.as_str(), new, 1);
        if damaged == case.text {
            return Some(format!("{name}: `{old}` is not in the text"));
        }
        let (status, report) = compare(case, &damaged, &name);
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let names_element = |f: &serde_json::Value| {
            f["rule"] != "different-value" || f["index"].as_array().is_some_and(|i| !i.is_empty())
        };
        let fine = status == 1 && !findings.is_empty() && findings.iter().all(names_element);
        (!fine).then(|| format!("{name}: `{old}` => `{new}`: {status} {report:#}"))
    });
    assert!(wrong.is_empty(), "{} of the faults: {}", wrong.len(), wrong.join("\n"));
}

fn check(files: &[(&str, &str)], args: &[&str]) -> (i32, String, String) {
    let at = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(at.path().join(name), text).expect("it is written");
    }
    let out = command(at.path(), &[&["check"], args].concat()).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().expect("a status"), text(&out.stdout), text(&out.stderr))
}

const ADD: &str =
    "void add(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] += x[i]; }\n";

#[test]
fn the_first_difference_names_element_values_thread_and_launch() {
    let new = "__global__ void add(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += i == 40 ? 2 * x[i] : x[i];
}
";
    let (status, out, _) = check(
        &[("new.cu", new), ("ref.c", ADD)],
        &["new.cu", "--same-as", "ref.c:add", "--arg", "n=50"],
    );
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("error[different-value]: `y[40]` is "), "{out}");
    assert!(out.contains("1 differs in all") && out.contains("by block 0 thread 40"), "{out}");
    assert!(out.contains("in new.cu: add<<<1, 128>>> with n=50"), "{out}");
    assert!(out.contains("ref.c: add: different in `y`, at n=50"), "{out}");
}

#[test]
fn an_element_that_nobody_writes() {
    let new = "__global__ void add(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n) y[i] += x[i];
}
";
    let (status, out, _) =
        check(&[("new.cu", new), ("ref.c", ADD)], &["new.cu", "--same-as", "ref.c:add"]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("`y[0]` is ") && out.contains("; no thread wrote it"), "{out}");
}

#[test]
fn whole_numbers_and_rounding() {
    let new = |body: &str| {
        format!(
            "__global__ void f(int n, const float *x, float *y) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {body} }}\n"
        )
    };
    let verdict = |a: &str, b: &str| {
        let (status, out, err) =
            check(&[("a.cu", &new(a)), ("b.cu", &new(b))], &["a.cu", "--same-as", "b.cu"]);
        (status, out + &err)
    };
    let (status, out) = verdict("y[i] = x[i] * 3.0f + 1.0f;", "y[i] = 1.0f + 3.0f * x[i];");
    assert!(status == 0 && out.contains("b.cu: f: equal in `y`"), "{out}");
    let (status, out) = verdict("y[i] = fmaf(x[i], 3.0f, 1.0f);", "y[i] = 1.0f + 3.0f * x[i];");
    assert!(status == 0 && out.contains("equal within rounding in `y`"), "{out}");
    let (status, out) = verdict("y[i] = x[i] * 3.0001f + 1.0f;", "y[i] = 1.0f + 3.0f * x[i];");
    assert!(status == 1 && out.contains("rounding explains"), "{out}");
}

#[test]
fn no_claim_beyond_what_ran() {
    let kernel = "__global__ void f(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }\n";
    let tiled = "__global__ void f(int n, const float *x, float *y) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i]; }\n";
    let refused = |files: &[(&str, &str)], args: &[&str], why: &str| {
        let (status, out, err) = check(files, args);
        assert!(status == 2 && (out.clone() + &err).contains(why), "{why}: {status} {out}{err}");
    };
    // Nothing tells the block.
    refused(
        &[("a.cu", tiled), ("b.cu", kernel)],
        &["a.cu", "--same-as", "b.cu"],
        "nothing tells how `f` is launched",
    );
    // A size without a counterpart.
    let other = "void f(int n, int m, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[i % m]; }\n";
    refused(
        &[("a.cu", kernel), ("b.c", other)],
        &["a.cu", "--same-as", "b.c:f"],
        "`m` of `f` has no counterpart",
    );
    // Nothing is written.
    let idle = "__global__ void f(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && n < 0) y[i] = x[i]; }\n";
    refused(
        &[("a.cu", idle), ("b.cu", idle)],
        &["a.cu", "--same-as", "b.cu"],
        "neither side wrote anything",
    );
    // Types that differ, names that nobody knows.
    let double = "__global__ void f(int n, const double *x, double *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }\n";
    refused(
        &[("a.cu", kernel), ("b.cu", double)],
        &["a.cu", "--same-as", "b.cu"],
        "both sides must compute with the same types",
    );
    refused(
        &[("a.cu", kernel), ("b.cu", kernel)],
        &["a.cu", "--same-as", "b.cu:g"],
        "no function `g`",
    );
    refused(
        &[("a.cu", kernel), ("b.cu", kernel)],
        &["a.cu", "--same-as", "b.cu", "--arg", "q=3"],
        "neither side has a parameter `q`",
    );
    refused(&[("a.cu", kernel)], &["a.cu", "--same-as", "c.cu:f"], "there is no such file");
    // A reference that is wrong itself.
    let racy = "__global__ void f(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[0] = x[i]; }\n";
    refused(
        &[("a.cu", kernel), ("b.cu", racy)],
        &["a.cu", "--same-as", "b.cu", "--scalars", "5,9"],
        "the reference has no meaning",
    );
}

#[test]
fn sizes_that_a_kernel_assumes_away_do_not_count() {
    let new = "__global__ void add(int n, const float *x, float *y) {
    __requires(n % 4 == 0);
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i < n) for (int k = 0; k < 4; k++) y[i + k] += x[i + k];
}
";
    let (status, out, _) =
        check(&[("new.cu", new), ("ref.c", ADD)], &["new.cu", "--same-as", "ref.c:add"]);
    assert!(status == 0 && out.contains("which the kernels' own assumptions exclude"), "{out}");
}
