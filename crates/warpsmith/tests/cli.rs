//! The command as a user meets it: exit statuses, messages, files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn warpsmith(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts")
}

fn folder_with(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("a writable folder");
    }
    folder
}

const SCALE: &str = "void scale(int n, float a, float x[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        x[i] = a * x[i];\n}\n";

const GOOD: &str = "// warpsmith: grid=2 block=32 arg n=50 arg x=float[50]=iota\n__global__ void twice(float *x, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] *= 2.0f;\n}\n";

const RACY: &str = "// warpsmith: grid=1 block=64 arg x=float[64]\n__global__ void shift(float *x)\n{\n    __shared__ float s[64];\n    int t = threadIdx.x;\n    s[t] = t;\n    x[t] = s[63 - t];\n}\n";

/// Runs and checks the exit status and that stderr has exactly one error, with a text in it.
fn refused(files: &[(&str, &[u8])], args: &[&str], status: i32, text: &str) {
    let folder = folder_with(files);
    let output = warpsmith(args, folder.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {stderr}");
    assert!(stderr.contains(text), "{args:?}: {stderr}");
    let errors = stderr.lines().filter(|l| l.starts_with("error")).count();
    assert_eq!(errors, 1, "one error: {stderr}");
    assert!(!folder.path().join("warpsmith-out").exists(), "{args:?} left files");
}

#[test]
fn files_that_cannot_be_checked() {
    refused(&[], &["check", "none.cu"], 2, "there is no such file");
    refused(&[("a.cu", b"")], &["check", "a.cu"], 2, "empty");
    refused(&[("a.cu", b"\x7fELF\x02\x01\x00\x00\xff\xfe")], &["check", "a.cu"], 2, "a.cu");
    refused(&[("a.cu", b"int f(int x) { return x; }\n")], &["check", "a.cu"], 2, "no kernel");
    let launchless = GOOD.split_once('\n').unwrap().1.as_bytes();
    refused(&[("a.cu", launchless)], &["check", "a.cu"], 2, "how to launch");
    refused(
        &[("a.cu", b"__global__ void f(float *x) { x[0] = ; }\n")],
        &["check", "a.cu", "--grid", "1", "--block", "1"],
        2,
        "a.cu:1",
    );
}

#[test]
fn launches_that_do_not_fit() {
    let good: &[(&str, &[u8])] = &[("a.cu", GOOD.as_bytes())];
    refused(good, &["check", "a.cu", "--arg", "m=3"], 2, "no parameter `m`");
    refused(good, &["check", "a.cu", "--arg", "n=many"], 2, "many");
    refused(good, &["check", "a.cu", "--kernel", "thrice"], 2, "no kernel `thrice`");
    refused(good, &["check", "a.cu", "--grid", "0"], 2, "launches nothing");
    refused(good, &["check", "a.cu", "--arg", "x=@none.npy"], 2, "none.npy");
}

#[test]
fn statuses_of_check() {
    let folder = folder_with(&[
        ("good.cu", GOOD.as_bytes()),
        ("racy.cu", RACY.as_bytes()),
        ("host.cu", b"int main() { return 0; }\n"),
    ]);
    assert_eq!(warpsmith(&["check", "good.cu"], folder.path()).status.code(), Some(0));
    let racy = warpsmith(&["check", "racy.cu"], folder.path());
    assert_eq!(racy.status.code(), Some(1));
    let text = String::from_utf8_lossy(&racy.stdout);
    assert!(text.contains("race-shared") && text.contains("racy.cu:7"), "{text}");
    let tree = warpsmith(&["check", "."], folder.path());
    assert_eq!(tree.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&tree.stdout).contains("skipped: "));
    let limited = warpsmith(&["check", "good.cu", "--max-total-steps", "10"], folder.path());
    assert_eq!(limited.status.code(), Some(3));
}

#[test]
fn json_and_sarif_say_what_the_text_says() {
    let folder = folder_with(&[("racy.cu", RACY.as_bytes())]);
    let output = warpsmith(&["check", "racy.cu", "--format", "json"], folder.path());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["complete"], true);
    let finding = &json["findings"][0];
    assert_eq!(finding["rule"], "race-shared");
    assert_eq!(finding["array"], "s");
    assert_eq!(finding["locations"].as_array().map(Vec::len), Some(2));
    assert_eq!(finding["threads"].as_array().map(Vec::len), Some(2));
    let again = warpsmith(&["check", "racy.cu", "--format", "json", "--jobs", "1"], folder.path());
    assert_eq!(output.stdout, again.stdout, "the report does not depend on the number of workers");
    let sarif = warpsmith(&["check", "racy.cu", "--format", "sarif"], folder.path());
    let sarif: serde_json::Value = serde_json::from_slice(&sarif.stdout).expect("one JSON object");
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "race-shared");
}

#[test]
fn findings_can_be_allowed() {
    let allowed = RACY.replace(
        "    x[t] =",
        "    // warpsmith: allow race-shared the example of the manual\n    x[t] =",
    );
    let folder = folder_with(&[("racy.cu", allowed.as_bytes())]);
    let output = warpsmith(&["check", "racy.cu"], folder.path());
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("allowed: race-shared"));
}

#[test]
fn buffers_are_dumped_and_compared() {
    let folder = folder_with(&[("good.cu", GOOD.as_bytes())]);
    let dump = warpsmith(&["check", "good.cu", "--dump", "x=x.npy"], folder.path());
    assert_eq!(dump.status.code(), Some(0));
    let same = warpsmith(&["check", "good.cu", "--expect", "x=@x.npy"], folder.path());
    assert_eq!(same.status.code(), Some(0), "{}", String::from_utf8_lossy(&same.stdout));
    let other =
        warpsmith(&["check", "good.cu", "--arg", "n=49", "--expect", "x=@x.npy"], folder.path());
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&other.stdout).contains("`x[49]` is 49, not 98"));
}

#[test]
fn buffers_of_a_run_are_compared_at_its_end() {
    let twice = GOOD.replace("twice", "again").replace("=iota", "");
    let both = format!("// warpsmith: run twice, again\n{GOOD}{twice}");
    let folder = folder_with(&[("run.cu", both.as_bytes())]);
    assert_eq!(
        warpsmith(&["check", "run.cu", "--dump", "x=x.npy"], folder.path()).status.code(),
        Some(0)
    );
    let same = warpsmith(&["check", "run.cu", "--expect", "x=@x.npy"], folder.path());
    assert_eq!(same.status.code(), Some(0), "{}", String::from_utf8_lossy(&same.stdout));
}

#[test]
fn tune_writes_five_files_that_do_not_change() {
    let folder = folder_with(&[("scale.c", SCALE.as_bytes())]);
    let output = warpsmith(&["tune", "scale.c", "--size", "n=4096"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let out = folder.path().join("warpsmith-out/scale");
    let names = ["scale.cu", "scale.h", "scale_test.cu", "scale.sched", "result.json"];
    let read = |out: &PathBuf| {
        names.map(|n| std::fs::read(out.join(n)).unwrap_or_else(|e| panic!("{n}: {e}")))
    };
    let first = read(&out);
    let again =
        warpsmith(&["tune", "scale.c", "--size", "n=4096", "--out", "again"], folder.path());
    assert_eq!(again.status.code(), Some(0));
    let second = read(&folder.path().join("again"));
    assert_eq!(first[..4], second[..4]);
    // Replaying the schedule gives the same kernel.
    let replay = [
        "tune",
        "scale.c",
        "--size",
        "n=4096",
        "--schedule",
        "again/scale.sched",
        "--out",
        "replayed",
    ];
    assert_eq!(warpsmith(&replay, folder.path()).status.code(), Some(0));
    assert_eq!(read(&folder.path().join("replayed"))[..4], first[..4]);
}

#[test]
fn c_files_that_cannot_be_tuned() {
    let scale: &[(&str, &[u8])] = &[("scale.c", SCALE.as_bytes())];
    refused(&[], &["tune", "none.c"], 2, "there is no such file");
    refused(&[("a.c", b"")], &["tune", "a.c"], 2, "empty");
    refused(&[("a.c", b"\x7fELF\x02\x01\x00\x00\xff\xfe")], &["tune", "a.c"], 2, "a.c");
    refused(&[("a.c", b"void f(int n) { (void)n; }\n")], &["tune", "a.c"], 2, "loop");
    refused(scale, &["tune", "scale.c"], 2, "`n` has no size");
    refused(scale, &["tune", "scale.c", "--size", "m=4"], 2, "no size parameter `m`");
    refused(scale, &["tune", "scale.c", "--size", "n=0"], 2, "n=0");
    refused(scale, &["tune", "scale.c", "--size", "n=-3"], 2, "negative");
    refused(scale, &["tune", "scale.c", "--size", "n=99999999999999999999"], 2, "overflows");
    refused(scale, &["tune", "scale.c", "--size", "n=4294967296"], 2, "overflows");
    let two = SCALE.replace("int n,", "int n, int m,");
    let two: &[(&str, &[u8])] = &[("two.c", two.as_bytes())];
    refused(two, &["tune", "two.c", "--size", "n=4,5", "--size", "m=1,2,3"], 2, "equally long");
    refused(scale, &["tune", "scale.c", "--size", "n=4,5", "--size", "n=1,2"], 2, "given twice");
    refused(scale, &["tune", "scale.c", "--size", "n=64", "--arch", "sm_42"], 2, "sm_42");
    refused(scale, &["tune", "scale.c", "--size", "n=64", "--function", "scael"], 2, "scael");
    refused(scale, &["tune", "scale.c", "--size", "n=64", "--device", "cuda:0"], 2, "cuda:0");
    let large = SCALE.replace("int n", "long n").replace("int i", "long i");
    refused(
        &[("a.c", large.as_bytes())],
        &["tune", "a.c", "--size", "n=1000000000000"],
        2,
        "bytes",
    );
    let pragma = SCALE.replace("parallel for", "parallel fro");
    refused(&[("a.c", pragma.as_bytes())], &["tune", "a.c", "--size", "n=64"], 2, "fro");
}

#[test]
fn folders_that_cannot_be_written() {
    let scale: &[(&str, &[u8])] = &[("scale.c", SCALE.as_bytes()), ("taken", b"a file")];
    refused(scale, &["tune", "scale.c", "--size", "n=64", "--out", "taken"], 2, "is a file");
    refused(scale, &["tune", "scale.c", "--size", "n=64", "--out", "taken/inside"], 2, "is a file");
    refused(
        scale,
        &["tune", "scale.c", "--size", "n=64", "--out", "/proc/warpsmith"],
        2,
        "/proc/warpsmith",
    );
}

#[test]
fn a_carried_dependence_is_refused_with_both_accesses() {
    let wrong = "void f(int n, float a[n])\n{\n    #pragma omp parallel for\n    for (int i = 1; i < n; i++)\n        a[i] = a[i - 1] + 1.0f;\n}\n";
    let folder = folder_with(&[("f.c", wrong.as_bytes())]);
    let output = warpsmith(&["tune", "f.c", "--size", "n=64"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("f.c:5") && stderr.contains("a[i - 1]") && stderr.contains("^"),
        "{stderr}"
    );
    assert!(!folder.path().join("warpsmith-out").exists());
}

#[test]
fn usage_errors_have_status_2() {
    let folder = folder_with(&[]);
    assert_eq!(warpsmith(&[], folder.path()).status.code(), Some(2));
    assert_eq!(warpsmith(&["check"], folder.path()).status.code(), Some(2));
    assert_eq!(warpsmith(&["frobnicate"], folder.path()).status.code(), Some(2));
    assert_eq!(warpsmith(&["--help"], folder.path()).status.code(), Some(0));
}
