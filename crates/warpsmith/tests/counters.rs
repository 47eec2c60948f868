//! `check --counters`, and what it says about a kernel to the device model; Ctrl-C during a check.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use warpsmith_device::l1_wavefronts;

const TRANSPOSE: &str = "\
// warpsmith: grid=2,2 block=32,8 arg n=64 arg in=float[64][64]=iota arg out=float[64][64]
__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
    if (threadIdx.x < 5)
        out[0] = 0.0f;
}
";

fn command(args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1");
    command
}

fn warpsmith(args: &[&str], folder: &Path) -> Output {
    command(args, folder).output().expect("the program starts")
}

fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(name), text).expect("a writable folder");
    folder
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn counters_stand_beside_the_source() {
    let clean = TRANSPOSE.replace("    if (threadIdx.x < 5)\n        out[0] = 0.0f;\n", "");
    let folder = folder_with("transpose.cu", &clean);
    let output = warpsmith(&["check", "transpose.cu", "--counters"], folder.path());
    assert_eq!(output.status.code(), Some(0));
    let shown = text(&output);
    for line in [
        "counters of transpose.cu: transpose<<<(2,2), (32,8)>>> with n=64",
        "  transpose.cu:8 | tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];",
        "      global load of `in`: 128 requests of 4 bytes a lane, 4.00 sectors a request (ideal 4.00)",
        "      shared store to `tile`: 128 requests of 4 bytes a lane, 1.00 wavefronts a request (ideal 1.00)",
        "      shared load of `tile`: 128 requests of 4 bytes a lane, 32.00 wavefronts a request (ideal 1.00), 3968 bank conflicts, 32 at worst",
        "      global store to `out`: 128 requests of 4 bytes a lane, 4.00 sectors a request (ideal 4.00)",
        "1 launch checked: nothing found",
    ] {
        assert!(shown.lines().any(|l| l == line), "no line `{line}` in\n{shown}");
    }
    let plain = text(&warpsmith(&["check", "transpose.cu"], folder.path()));
    assert_eq!(plain, "1 launch checked: nothing found\n");
}

#[test]
fn counters_are_in_the_json_and_change_nothing_else() {
    let folder = folder_with("transpose.cu", TRANSPOSE);
    let json = |args: &[&str]| -> serde_json::Value {
        let all: Vec<&str> =
            ["check", "transpose.cu", "--format"].into_iter().chain(args.iter().copied()).collect();
        serde_json::from_slice(&warpsmith(&all, folder.path()).stdout).expect("one JSON object")
    };
    let mut counted = json(&["json", "--counters"]);
    let counters = counted["counters"].take();
    let mut plain = json(&["json"]);
    assert!(plain.get("counters").is_none(), "nobody asked for them");
    plain["counters"] = serde_json::Value::Null;
    assert_eq!(counted, plain);
    let launch = &counters[0];
    assert_eq!((&launch["blocks"], &launch["warps"]), (&4.into(), &32.into()));
    let metrics = &launch["metrics"];
    assert_eq!(metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 512);
    assert_eq!(metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], 128 * 31);
    assert_eq!(launch["instructions"]["barrier"]["warps"], 32);
    let accesses = launch["accesses"].as_array().expect("a list");
    let load = accesses.iter().find(|a| a["array"] == "in").expect("the load of `in`");
    assert_eq!((&load["location"]["line"], &load["requests"]), (&8.into(), &128.into()));
    let divergent =
        launch["branches"].as_array().expect("a list").iter().find(|b| b["divergent"] != 0);
    assert_eq!(divergent.expect("a branch")["divergent"], 32);
    assert_eq!(json(&["sarif", "--counters"]), json(&["sarif"]));
}

#[test]
fn wavefronts_are_those_of_the_device_model() {
    for (stride, bytes, ty) in [
        (1u64, 4u64, "float"),
        (2, 4, "float"),
        (7, 4, "float"),
        (32, 4, "float"),
        (128, 4, "float"),
        (1, 8, "double"),
        (5, 16, "float4"),
        (1, 1, "char"),
    ] {
        let use_of = if ty == "float4" { "v.x" } else { "v" };
        let folder = folder_with(
            "k.cu",
            &format!(
                "// warpsmith: grid=1 block=32 arg x={ty}[4096] arg y=float[32]\n\
             __global__ void k(const {ty} *x, float *y) {{ {ty} v = x[threadIdx.x * {stride}]; y[threadIdx.x] = {use_of}; }}\n"
            ),
        );
        let output = warpsmith(&["check", "k.cu", "--counters", "--format", "json"], folder.path());
        let json: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("one JSON object");
        let accesses = json["counters"][0]["accesses"].as_array().expect("a list").clone();
        let x = accesses.iter().find(|a| a["array"] == "x").expect("the load of `x`");
        let model = l1_wavefronts((0..32).map(|t| t * stride * bytes), bytes);
        assert_eq!(x["wavefronts"].as_f64(), Some(model), "{ty} stride {stride}");
    }
}

#[test]
fn a_barrier_that_one_launch_needs_is_not_redundant() {
    let text = "// warpsmith: grid=1 block=64 arg x=int[64] arg far=1\n// warpsmith: grid=1 block=64 arg x=int[64] arg far=0\n\
        __global__ void k(int *x, int far)\n{\n    __shared__ int s[64];\n    int t = threadIdx.x;\n    s[t] = t;\n    __syncthreads();\n    x[t] = s[far ? 63 - t : t];\n}\n";
    let folder = folder_with("k.cu", text);
    let both = self::text(&warpsmith(&["check", "k.cu"], folder.path()));
    assert_eq!(both, "2 launches checked: nothing found\n");
    let one = self::text(&warpsmith(&["check", "k.cu", "--arg", "far=0"], folder.path()));
    assert!(one.contains("note[redundant-barrier]"), "{one}");
}

#[test]
fn a_barrier_between_a_neighbours_read_and_an_update_is_not_redundant() {
    let scan = |last: &str| {
        format!(
            "// warpsmith: grid=1 block=64 arg x=int[64]\n__global__ void scan(int *x)\n{{\n    __shared__ int part[64];\n    int t = threadIdx.x;\n    part[t] = x[t];\n\
             \x20   for (int d = 1; d < 64; d <<= 1) {{\n        __syncthreads();\n        int add = t >= d ? part[t - d] : 0;\n        __syncthreads();\n        part[t] += add;\n    }}\n\
             {last}    x[t] = part[t];\n}}\n"
        )
    };
    let folder = folder_with("scan.cu", &scan(""));
    let checked = text(&warpsmith(&["check", "scan.cu"], folder.path()));
    assert_eq!(checked, "1 launch checked: nothing found\n");
    // Each thread reads what it has written itself.
    let folder = folder_with("scan.cu", &scan("    __syncthreads();\n"));
    let checked = text(&warpsmith(&["check", "scan.cu"], folder.path()));
    assert_eq!(checked.matches("note[redundant-barrier]").count(), 1, "{checked}");
    assert!(checked.contains("scan.cu:13:"), "{checked}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_check_says_what_it_has_found() {
    let endless = "__global__ void k(int *x)\n{\n    for (long long i = 0; i < 1000000000000LL; ++i) x[threadIdx.x] += i;\n}\n";
    let folder = folder_with(
        "endless.cu",
        &format!(
            "// warpsmith: grid=1 block=32 arg x=int[8]\n__global__ void first(int *x)\n{{\n    x[threadIdx.x] = 1;\n}}\n\
         // warpsmith: grid=4 block=32 arg x=int[32]\n{endless}"
        ),
    );
    let args = ["check", "endless.cu", "--format", "json", "--max-steps", "1000000000000"];
    // A machine with other work may take its time for the first kernel.
    let seen = [1, 4, 16, 64].into_iter().find_map(|seconds| {
        let mut command = command(&args, folder.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("the program starts");
        std::thread::sleep(Duration::from_secs(seconds));
        let asked = Instant::now();
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.expect("a way to send signals").success());
        let output = child.wait_with_output().expect("an end");
        assert!(asked.elapsed() < Duration::from_secs(60), "it went on");
        assert_eq!(output.status.code(), Some(130));
        let json: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        json.filter(|j| j["verification"]["sizes"].as_array().is_some_and(|s| s.len() == 2))
    });
    let json = seen.expect("a report of both launches");
    assert_eq!((&json["status"], &json["complete"]), (&"interrupted".into(), &false.into()));
    assert_eq!(json["findings"][0]["rule"], "out-of-bounds");
}

/// Host code that works for long, and tries of other arguments after it, end soon, too.
#[cfg(unix)]
#[test]
fn an_interrupted_check_leaves_the_host_code() {
    let program = "#include <cstdlib>\n\
        __global__ void fill(int *x, int n) { int i = blockIdx.x * 32 + threadIdx.x; if (i < n) x[i] = i; }\n\
        int main(int argc, char **argv) {\n\
            int n = atoi(argv[1]), *x; unsigned sum = 1;\n\
            cudaMalloc(&x, n * sizeof(int));\n\
            for (int k = 0; k < 1000; k++) {\n\
                for (int j = 0; j < 100000000; j++) sum = sum * 5 + j;\n\
                fill<<<(n + 31) / 32, 32>>>(x, n);\n\
            }\n\
            return sum == 0;\n\
        }\n";
    let folder = folder_with("slow.cu", program);
    let args = ["check", "slow.cu", "--host-args", "64", "--format", "json"];
    let mut command = command(&args, folder.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the program starts");
    std::thread::sleep(Duration::from_secs(3));
    let asked = Instant::now();
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status();
    assert!(sent.expect("a way to send signals").success());
    let output = child.wait_with_output().expect("an end");
    assert!(asked.elapsed() < Duration::from_secs(20), "it went on");
    assert_eq!(output.status.code(), Some(130));
}
