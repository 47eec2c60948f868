//! `warpsmith stage` as it is called: exit statuses, what is written, and what is said.

mod common;

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;
use warpsmith_testgen::on_all_cores;

fn stage(folder: &Path, args: &[&str]) -> Output {
    let all: Vec<&str> = std::iter::once("stage").chain(args.iter().copied()).collect();
    common::command(folder, &all).output().expect("it starts")
}

fn example(folder: &Path, name: &str) -> String {
    let path = format!("{}/../../examples/stage/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the example is there");
    std::fs::write(folder.join("plan.cu"), &text).expect("it can be written");
    text
}

#[test]
fn a_plan_becomes_a_file_and_a_report() {
    let folder = TempDir::new().expect("a folder");
    example(folder.path(), "matmul_one");
    let human = stage(folder.path(), &["plan.cu", "--no-proof", "--out", "out"]);
    assert_eq!(human.status.code(), Some(0), "{}", String::from_utf8_lossy(&human.stderr));
    let said = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(said.contains("checked: a[row * n + t + k] -> as[threadIdx.y][k]"), "{said}");
    assert!(said.contains("checked, not proved") && said.contains("wrote out/plan.cu"), "{said}");
    let first = std::fs::read(folder.path().join("out/plan.cu")).expect("a result");
    let json = stage(folder.path(), &["plan.cu", "--no-proof", "--out", "out", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).expect("one object");
    assert_eq!(report["status"], "done");
    assert_eq!(report["verification"]["level"], "checked");
    assert_eq!(report["accesses"][0]["replacement"], "as[threadIdx.y][k]");
    let second = std::fs::read(folder.path().join("out/plan.cu")).expect("a result");
    assert_eq!(first, second, "the same bytes again");
}

#[test]
fn plans_are_found_ranked_and_declined() {
    let folder = TempDir::new().expect("a folder");
    let transpose = "#define T 32
__global__ void transpose(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    if (x < w && y < h) out[x * h + y] = in[y * w + x];
}
";
    std::fs::write(folder.path().join("plain.cu"), transpose).expect("it can be written");
    let json = stage(folder.path(), &["plain.cu", "--auto", "--out", "out", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).expect("one object");
    assert_eq!(report["auto"]["chosen"], "transposing tile of `in`", "{report}");
    let gather = "__global__ void gather(const float *v, const int *at, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = v[at[i]];
}
";
    std::fs::write(folder.path().join("plain.cu"), gather).expect("it can be written");
    let declined = stage(folder.path(), &["plain.cu", "--auto"]);
    // That nothing is better is an answer: the file is there as it was.
    let said = String::from_utf8_lossy(&declined.stdout).into_owned();
    assert_eq!(declined.status.code(), Some(0), "{said}");
    assert!(said.contains("`v`: data decide on its subscripts"), "{said}");
    let file = folder.path().join("warpsmith-out/plain/plain.cu");
    assert_eq!(std::fs::read_to_string(file).ok().as_deref(), Some(gather));
}

#[test]
fn refusals_have_their_statuses_and_write_nothing() {
    let folder = TempDir::new().expect("a folder");
    let text = example(folder.path(), "matmul_one");
    let expect = |args: &[&str], status: i32, part: &str| {
        let out = stage(folder.path(), args);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(status), "{said}");
        assert!(said.contains(part), "{said}");
    };
    expect(&["none.cu"], 2, "there is no such file");
    expect(&["plan.cu", "--arg", "n=many"], 2, "many");
    expect(&["plan.cu", "--arg", "m=3"], 2, "no parameter `m` of whole numbers");
    expect(&["plan.cu", "--size", "n=64"], 2, "--auto");
    expect(&["plan.cu", "--block", "64x32"], 2, "--block has 2048 threads");
    expect(&["plan.cu", "--kernel", "other"], 2, "there is no kernel `other`");
    let plain = text.replace("__opt__", "");
    std::fs::write(folder.path().join("plan.cu"), plain).expect("it can be written");
    expect(&["plan.cu"], 2, "the file has no plan");
    let never =
        text.replace("? a[row * n + t + threadIdx.x]", "? 2 * a[row * n + t + threadIdx.x]");
    std::fs::write(folder.path().join("plan.cu"), never).expect("it can be written");
    expect(&["plan.cu"], 1, "no marked read finds its element in shared memory");
    assert!(!folder.path().join("warpsmith-out").exists());
}

/// A read that larger launches show to be wrong: status 1, the verdict in the report for people and for machines, no file.
#[test]
fn a_refuted_read_has_its_verdict() {
    let folder = TempDir::new().expect("a folder");
    let text = "__global__ void f(const float *a, float *out, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tile[threadIdx.x] = a[i];
    __syncthreads();
    if (n > 300 && (n * 5 + threadIdx.x * 37) % 13 < 5) tile[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) out[i] = __opt__(a[i]);
}
";
    std::fs::write(folder.path().join("plan.cu"), text).expect("it can be written");
    let out = stage(folder.path(), &["plan.cu", "--no-proof", "--explain", "--format", "json"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("line 8: refuted: a[i] -> ") && said.contains("thread ("), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one object");
    let read = &report["accesses"][0];
    assert_eq!(
        (&report["status"], &read["verdict"]),
        (&"no".into(), &"refuted".into()),
        "{report}"
    );
    assert!(read["witness"].as_str().is_some_and(|w| w.contains("thread (")), "{report}");
    assert!(!folder.path().join("warpsmith-out").exists());
}

/// Whole programs, host code included, are as clean for `check` after they were staged as before.
#[test]
fn staged_programs_stay_clean() {
    let folder = format!("{}/../warpsmith-stage/tests/kernels", env!("CARGO_MANIFEST_DIR"));
    let cases = [
        ("plate_twice", None),
        ("rod_twice", None),
        ("blur_twice", None),
        ("laplacian", Some("--auto")),
    ];
    on_all_cores(&cases, |(name, more)| {
        let temporary = TempDir::new().expect("a folder");
        let text = std::fs::read_to_string(format!("{folder}/{name}.cu")).expect("a program");
        std::fs::write(temporary.path().join("program.cu"), text).expect("it can be written");
        let mut args = vec!["program.cu", "--no-proof", "--device", "emulator", "--out", "out"];
        args.extend(*more);
        let out = stage(temporary.path(), &args);
        assert_eq!(out.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        let mut check = common::command(temporary.path(), &["check", "out/program.cu"]);
        let checked = check.output().expect("it starts");
        let said = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert_eq!(checked.status.code(), Some(0), "{name}: {said}");
        assert!(said.contains(" checked: nothing found"), "{name}: {said}");
    });
}
