//! `warpsmith tune SPACE.json`: other people's kernels, in the emulator.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A change of a problem's file.
type Edit<'e> = &'e dyn Fn(&mut Json);

fn warpsmith(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("WARPSMITH_CACHE", folder.join("cache"))
        .env("WARPSMITH_STORE", folder.join("results.sqlite"))
        .output()
        .expect("the program starts")
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a writable folder");
    }
    folder
}

/// Tries every configuration; the report.
fn tuned(folder: &Path, more: &[&str]) -> Json {
    let usual =
        ["tune", "p.json", "--device", "emulator", "--strategy", "brute_force", "--format", "json"];
    let output = warpsmith(folder, &[&usual, more].concat());
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// The status of each configuration, by a function of it.
fn statuses(folder: &Path, name: &str, of: &str) -> Vec<(Json, String)> {
    let text = std::fs::read_to_string(folder.join(format!("warpsmith-out/{name}/{name}.t4.json")))
        .unwrap();
    let t4: Json = serde_json::from_str(&text).unwrap();
    let result =
        |r: &Json| (r["configuration"][of].clone(), r["invalidity"].as_str().unwrap().to_string());
    t4["results"].as_array().unwrap().iter().map(result).collect()
}

fn parameter(name: &str, values: &str) -> Json {
    json!({"Name": name, "Type": "int", "Values": values})
}

fn problem(parameters: &[Json], conditions: &[&str], kernel: Json) -> Json {
    let conditions: Vec<Json> =
        conditions.iter().map(|c| json!({"Parameters": [], "Expression": c})).collect();
    json!({
        "ConfigurationSpace": {"TuningParameters": parameters, "Conditions": conditions},
        "KernelSpecification": kernel,
    })
}

/// One thread an element; `variant` plants faults.
const ADD: &str = r#"
extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * block + threadIdx.x;
    if (i >= n) return;
#if variant == 0
    c[i] = a[i] + b[i];
#elif variant == 1
    c[i + n] = a[i] + b[i];
#elif variant == 2
    c[i] = a[i] - b[i];
#elif variant == 3
    c[i] = sqrtf(-1.0f - a[i]);
#elif variant == 4
    c[i] = a[i] + undeclared;
#elif variant == 5
    if (i > 10) c[i] = a[i] + b[i];
#elif variant == 6
    __shared__ float room[60000];
    room[threadIdx.x] = a[i];
    c[i] = room[threadIdx.x] + b[i];
#endif
}
"#;

fn add(reference: bool) -> Json {
    let vector = |name: &str, source: &str| {
        json!({"Name": name, "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
               "FillType": "Generator", "DataSource": source, "Size": 200})
    };
    let mut kernel = json!({
        "Language": "CUDA", "KernelName": "add", "KernelFile": "add.cu", "CompilerOptions": ["-O3"],
        "GlobalSizeType": "CUDA", "GlobalSize": {"X": "(200 + block - 1) // block"}, "LocalSize": {"X": "block"},
        "Arguments": [
            vector("a", "i"),
            vector("b", "2 * i + 0.5 if i % 2 == 0 else max(i, 7)"),
            {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant",
             "FillValue": 0.0, "Size": 200},
            {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 200},
        ],
    });
    if reference {
        kernel["ReferenceArguments"] = json!([{
            "Name": "sum", "TargetName": "c", "FillType": "Generator",
            "DataSource": "3 * i + 0.5 if i % 2 == 0 else i + max(i, 7)",
            "ValidationMethod": "SideBySideRelativeComparison", "ValidationThreshold": 1e-5,
        }]);
    }
    problem(
        &[parameter("variant", "[0, 1, 2, 3, 4, 5, 6]"), parameter("block", "[64, 2048]")],
        &[],
        kernel,
    )
}

#[test]
fn each_planted_fault_is_recorded_with_its_reason_and_the_right_one_wins() {
    let folder = folder(&[("add.cu", ADD), ("p.json", &add(true).to_string())]);
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["best"]["configuration"], json!({"variant": 0, "block": 64}));
    assert_eq!(report["best"]["grid"], json!([4, 1, 1]));
    assert_eq!(report["search"]["evaluated"], 14);
    assert_eq!(report["compared"]["with"], "given");
    assert_eq!(report["notes"], json!(["compiler options left out: -O3"]));
    let mut found: Vec<(Json, String)> = statuses(folder.path(), "add", "variant");
    found.retain(|(_, status)| status != "constraints");
    found.sort_by_key(|(variant, _)| variant.as_i64());
    let expected =
        ["correct", "runtime", "correctness", "correctness", "compile", "correctness", "runtime"];
    let names: Vec<&str> = found.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(names, expected);
    // Messages of the compiler name the line of the user's file.
    let t4 = std::fs::read_to_string(folder.path().join("warpsmith-out/add/add.t4.json")).unwrap();
    assert!(t4.contains("--> add.cu:15:") && t4.contains("undeclared"), "{t4}");
    // A block of 2048 threads is launched by no device.
    assert_eq!(report["search"]["unusable"]["constraints"], 7);
    let header =
        std::fs::read_to_string(folder.path().join("warpsmith-out/add/add_best.h")).unwrap();
    assert!(header.contains("#define variant 0\n#define block 64\n"), "{header}");
    assert!(header.contains("grid {4, 1, 1} and block {64, 1, 1}"), "{header}");
}

/// What was measured once is looked up in a cache file, with its failures.
#[test]
fn recorded_results_are_replayed() {
    let folder = folder(&[("add.cu", ADD), ("p.json", &add(true).to_string())]);
    let measured = tuned(folder.path(), &[]);
    for format in ["kt-cache", "t4"] {
        let exported = warpsmith(folder.path(), &["results", "--problem", "1", "--export", format]);
        assert_eq!(exported.status.code(), Some(0));
        std::fs::write(folder.path().join("recorded.json"), &exported.stdout).unwrap();
        let usual = ["tune", "p.json", "--replay", "recorded.json", "--strategy", "brute_force"];
        let output = warpsmith(folder.path(), &[&usual[..], &["--format", "json"]].concat());
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{format}: {err}");
        let replayed: Json = serde_json::from_slice(&output.stdout).expect("a report");
        assert_eq!(replayed["best"]["configuration"], measured["best"]["configuration"]);
        assert_eq!(replayed["search"]["unusable"], measured["search"]["unusable"], "{format}");
    }
    let both = ["tune", "p.json", "--replay", "recorded.json", "--device", "emulator"];
    assert_eq!(warpsmith(folder.path(), &both).status.code(), Some(2));
}

#[test]
#[ignore = "needs a GPU"]
fn planted_faults_on_a_gpu() {
    let folder = folder(&[("add.cu", ADD), ("p.json", &add(true).to_string())]);
    let usual =
        ["tune", "p.json", "--device", "cuda:0", "--strategy", "brute_force", "--format", "json"];
    let output = warpsmith(folder.path(), &usual);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    println!("{report:#}");
    assert_eq!(report["best"]["configuration"], json!({"variant": 0, "block": 64}));
    let mut found: Vec<(Json, String)> = statuses(folder.path(), "add", "variant");
    found.retain(|(_, status)| status != "constraints");
    found.sort_by_key(|(variant, _)| variant.as_i64());
    let names: Vec<&str> = found.iter().map(|(_, status)| status.as_str()).collect();
    let expected =
        ["correct", "runtime", "correctness", "correctness", "compile", "correctness", "compile"];
    assert_eq!(names, expected);
}

#[test]
fn without_a_reference_outputs_are_those_of_a_configuration_that_is_named() {
    let folder = folder(&[("add.cu", ADD), ("p.json", &add(false).to_string())]);
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["compared"]["configuration"], json!({"variant": 0, "block": 64}));
    assert_eq!(report["best"]["configuration"]["variant"], 0);
    assert_eq!(report["search"]["unusable"]["correctness"], 3);
}

/// Two right configurations agree; the report names both.
#[test]
fn outputs_are_trusted_when_two_configurations_agree() {
    let mut problem = add(false);
    problem["ConfigurationSpace"]["TuningParameters"] =
        json!([parameter("variant", "[0, 2]"), parameter("block", "[64, 128]")]);
    let folder = folder(&[("add.cu", ADD), ("p.json", &problem.to_string())]);
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["compared"]["configuration"], json!({"variant": 0, "block": 64}));
    assert_eq!(report["compared"]["agrees"], json!({"variant": 0, "block": 128}));
    assert_eq!(report["search"]["unusable"]["correctness"], 2);
    assert_eq!(report["times"], "emulated");
}

/// A grid that leaves most of an output as it was makes a kernel look fast: that is said.
#[test]
fn a_grid_that_is_too_small_is_noticed() {
    let mut problem = add(false);
    problem["ConfigurationSpace"]["TuningParameters"] =
        json!([parameter("variant", "[0]"), parameter("block", "[64, 96]")]);
    problem["KernelSpecification"]["GlobalSize"] = json!({"X": "1"});
    let folder = folder(&[("add.cu", ADD), ("p.json", &problem.to_string())]);
    let output = warpsmith(
        folder.path(),
        &["tune", "p.json", "--device", "emulator", "--strategy", "brute_force"],
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("136 of 200 elements of `c`") && text.contains("its grid is too small"),
        "{text}"
    );
}

/// Launches that are too large are emulated in part: what is wrong there is found, and the times are those of all blocks.
#[test]
fn large_launches_are_emulated_in_part() {
    let mut problem = add(false);
    let text = problem.to_string().replace("200", "6000000");
    problem = serde_json::from_str(&text).unwrap();
    problem["ConfigurationSpace"]["TuningParameters"] =
        json!([parameter("variant", "[0, 2]"), parameter("block", "[64, 128]")]);
    for argument in problem["KernelSpecification"]["Arguments"].as_array_mut().unwrap() {
        if argument["FillType"] == "Generator" {
            argument["FillType"] = json!("Random");
            argument["FillValue"] = json!(1.0);
            argument.as_object_mut().unwrap().remove("DataSource");
        }
    }
    let folder = folder(&[("add.cu", ADD), ("p.json", &problem.to_string())]);
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["best"]["configuration"]["variant"], 0);
    assert_eq!(report["search"]["unusable"], json!({"correctness": 2}));
    // 72 MB at 4.8 TB/s are 15 us; four blocks would take no time at all.
    let ms = report["best"]["time_ms"].as_f64().unwrap();
    assert!((0.01..0.1).contains(&ms), "{ms}");
}

#[test]
fn a_stopped_search_goes_on_where_it_was() {
    let folder = folder(&[("add.cu", ADD), ("p.json", &add(true).to_string())]);
    let first = tuned(folder.path(), &["--budget", "5"]);
    assert_eq!(
        (&first["search"]["evaluated"], &first["search"]["recalled"]),
        (&json!(5), &json!(0))
    );
    let second = tuned(folder.path(), &["--resume"]);
    assert_eq!(
        (&second["search"]["evaluated"], &second["search"]["recalled"]),
        (&json!(14), &json!(5))
    );
    // Another text is another problem.
    let changed = ADD.replace("a[i] - b[i]", "a[i] * b[i]");
    std::fs::write(folder.path().join("add.cu"), changed).unwrap();
    assert_eq!(tuned(folder.path(), &["--resume"])["search"]["recalled"], 0);
    let output = warpsmith(folder.path(), &["results", "--format", "json"]);
    let listed: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed["problems"].as_array().unwrap().len(), 2);
    assert_eq!(listed["problems"][0]["results"], 14);
    // What is exported as T1 is the problem again.
    let output = warpsmith(folder.path(), &["results", "--problem", "1", "--export", "t1"]);
    assert_eq!(serde_json::from_slice::<Json>(&output.stdout).unwrap(), add(true));
}

/// Kernel Tuner's way: sizes of the problem and divisors of the grid; a tile that does not fit the block is wrong.
const TRANSPOSE: &str = r#"
#include "tile.h"
template <typename T, int rows>
__global__ void transpose(T *out, const T *in)
{
    __shared__ T tile[TILE][TILE + pad];
    const int x = blockIdx.x * TILE + threadIdx.x;
#pragma unroll loop_unroll_factor_y
    for (int k = 0; k < TILE; k += rows) {
        const int y = blockIdx.y * TILE + threadIdx.y + k;
        tile[threadIdx.y + k][threadIdx.x] = in[y * N + x];
    }
    __syncthreads();
    const int xt = blockIdx.y * TILE + threadIdx.x;
    for (int k = 0; k < TILE; k += rows) {
        const int yt = blockIdx.x * TILE + threadIdx.y + k;
        out[yt * N + xt] = tile[threadIdx.x][threadIdx.y + k];
    }
}
"#;

fn transpose() -> Json {
    let vector = |name: &str, access: &str, fill: &str| {
        json!({"Name": name, "Type": "float", "MemoryType": "Vector", "AccessType": access, "FillType": fill,
               "FillValue": 1.0, "Size": "ProblemSize[0] * ProblemSize[1]"})
    };
    problem(
        &[
            parameter("block_size_x", "[8, 16]"),
            parameter("block_size_y", "[4, 8]"),
            parameter("tile_size", "[8, 16]"),
            parameter("pad", "[0, 1]"),
            parameter("loop_unroll_factor_y", "[0, 2]"),
        ],
        &["tile_size <= block_size_x"],
        json!({
            "Language": "CUDA", "KernelName": "transpose<float, block_size_y>", "KernelFile": "transpose.cu",
            "ProblemSize": [64, 64], "GridDivX": ["tile_size"], "GridDivY": ["tile_size"],
            "GlobalSize": {"X": "1"}, "LocalSize": {"X": "block_size_x", "Y": "block_size_y"},
            "Arguments": [vector("out", "WriteOnly", "Constant"), vector("in", "ReadOnly", "Random")],
        }),
    )
}

#[test]
fn a_tiled_transpose_with_templates_headers_and_kernel_tuners_sizes() {
    let header =
        "#define TILE tile_size\n#define N 64\n#ifndef kernel_tuner\n#error not tuning\n#endif\n";
    let text = transpose().to_string();
    let folder = folder(&[("transpose.cu", TRANSPOSE), ("tile.h", header), ("p.json", &text)]);
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["search"]["evaluated"], 24);
    assert_eq!(
        report["best"]["configuration"]["tile_size"],
        report["best"]["configuration"]["block_size_x"]
    );
    // Blocks wider than their tile read and write what belongs to others.
    for (_, status) in statuses(folder.path(), "transpose", "tile_size") {
        assert!(["correct", "correctness", "runtime"].contains(&status.as_str()), "{status}");
    }
    assert_eq!(report["search"]["unusable"]["compile"], Json::Null);
    let correct = statuses(folder.path(), "transpose", "tile_size");
    assert!(correct.iter().filter(|(_, status)| status == "correct").count() >= 16);
}

/// Data in constant memory, in shared memory of the launch, and a global size in threads.
const FILTER: &str = r#"
__constant__ float weights[3];
__device__ int shift;
__global__ void filter(const double *in, double *out, int n)
{
    extern __shared__ double row[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    row[threadIdx.x] = i < n ? in[i] : 0.0;
    __syncthreads();
    double sum = shift;
    for (int k = 0; k < 3; ++k)
        sum += weights[k] * row[(threadIdx.x + k) % blockDim.x];
    if (i < n) out[i] = sum;
}
"#;

fn filter(kernel_file: &str) -> Json {
    problem(
        &[parameter("width", "[32, 48, 64]")],
        &[],
        json!({
            "Language": "CUDA", "KernelName": "filter", "KernelFile": kernel_file, "GlobalSizeType": "OpenCL",
            "GlobalSize": {"X": "192"}, "LocalSize": {"X": "width"},
            "Arguments": [
                {"Name": "in", "Type": "double", "MemoryType": "Vector", "AccessType": "ReadOnly",
                 "FillType": "BinaryRaw", "DataSource": "in.bin"},
                {"Name": "out", "Type": "double", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 192},
                {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 192},
                {"Name": "weights", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
                 "MemType": "Constant", "FillType": "Generator", "DataSource": "i + 1", "Size": 3},
                {"Name": "shift", "Type": "int32", "MemoryType": "Symbol", "FillValue": 5},
                {"Name": "row", "Type": "double", "MemoryType": "Local", "Size": "width"},
            ],
            "ReferenceArguments": [{"Name": "r", "TargetName": "out", "FillType": "Constant", "FillValue": 17}],
        }),
    )
}

#[test]
fn variables_that_a_configuration_does_not_read_are_set_all_the_same() {
    let either =
        "#if width == 32\n#define weight(k) 1.0f\n#else\n#define weight(k) weights[k]\n#endif";
    let text =
        FILTER.replace("weights[k]", "weight(k)").replace("int shift;", "int shift, unread;");
    let text = format!("{either}{text}");
    let mut problem = filter("filter.cu");
    let specification = &mut problem["KernelSpecification"];
    specification["ReferenceArguments"] = Json::Null;
    specification["Arguments"][2]["FillValue"] = json!("64 * 3");
    let arguments = specification["Arguments"].as_array_mut().unwrap();
    arguments
        .push(json!({"Name": "unread", "Type": "int32", "MemoryType": "Symbol", "FillValue": 1}));
    let folder = folder(&[("filter.cu", &text), ("p.json", &problem.to_string())]);
    let zeros = vec![0; 192 * 8];
    std::fs::write(folder.path().join("in.bin"), zeros).unwrap();
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["search"]["unusable"], json!({}), "{report}");
    // What was measured is named by its values, not by how they are computed.
    let listed = warpsmith(folder.path(), &["results", "--problem", "1"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("n=192"), "{listed}");
}

#[test]
fn constant_and_shared_memory_symbols_and_files_of_data() {
    let folder = folder(&[("filter.cu", FILTER), ("p.json", &filter("filter.cu").to_string())]);
    let ones: Vec<u8> = std::iter::repeat_n(2.0f64.to_le_bytes(), 192).flatten().collect();
    std::fs::write(folder.path().join("in.bin"), &ones).unwrap();
    // 5 + (1 + 2 + 3) * 2 is what the reference says.
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["best"]["shared_bytes"].as_u64().unwrap() % 8, 0);
    assert_eq!(report["search"]["unusable"], json!({}));
    let mut wrong = filter("filter.cu");
    wrong["KernelSpecification"]["ReferenceArguments"][0]["FillValue"] = json!(17.01);
    std::fs::write(folder.path().join("p.json"), wrong.to_string()).unwrap();
    let output =
        warpsmith(folder.path(), &["tune", "p.json", "--device", "emulator", "--budget", "9"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error[W448]: none of 3 configurations can be used"), "{err}");
    assert!(err.contains("3 correctness: `out` differs at index 0: 17 in place of 17.01"), "{err}");
}

/// Changes a good problem and expects one message, which begins like this.
fn refused(change: impl Fn(&mut Json), options: &[&str], status: i32, expected: &str) {
    let mut problem = add(true);
    change(&mut problem);
    let text = serde_json::to_string_pretty(&problem).unwrap();
    let folder = folder(&[("add.cu", ADD), ("p.json", &text)]);
    let output =
        warpsmith(folder.path(), &[&["tune", "p.json", "--device", "emulator"], options].concat());
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{err}");
    assert!(err.starts_with(expected), "wanted:\n{expected}\ngot:\n{err}");
    assert_eq!(err.lines().filter(|l| l.starts_with("error")).count(), 1, "{err}");
    assert!(!folder.path().join("warpsmith-out").exists());
}

#[test]
fn what_cannot_be_tuned_is_refused_at_its_place() {
    let spec = |name: &'static str, value: Json| {
        move |p: &mut Json| p["KernelSpecification"][name] = value.clone()
    };
    let argument = |at: usize, name: &'static str, value: Json| {
        move |p: &mut Json| p["KernelSpecification"]["Arguments"][at][name] = value.clone()
    };
    let reference = |name: &'static str, value: Json| {
        move |p: &mut Json| p["KernelSpecification"]["ReferenceArguments"][0][name] = value.clone()
    };
    refused(
        spec("Language", json!("OpenCL")),
        &[],
        2,
        "error[W440]: kernels in OpenCL cannot be tuned\n  --> p.json:",
    );
    refused(
        spec("KernelFile", json!("none.cu")),
        &[],
        2,
        "error[W447]: the kernel's file is not there\n",
    );
    refused(
        spec("GlobalSize", json!({"X": "200 //"})),
        &[],
        2,
        "error[W400]: this expression is not understood\n",
    );
    refused(
        spec("GlobalSize", json!({"X": "wide"})),
        &[],
        2,
        "error[W400]: this expression is not understood\n",
    );
    refused(
        argument(0, "Type", json!("quad")),
        &[],
        2,
        "error[W442]: `quad` is no type of an argument\n",
    );
    refused(
        argument(0, "MemType", json!("Texture")),
        &[],
        2,
        "error[W441]: this kind of memory is not supported\n",
    );
    refused(
        argument(0, "MemoryType", json!("Tape")),
        &[],
        2,
        "error[W441]: `Tape` is no kind of memory\n",
    );
    refused(
        argument(0, "FillType", json!("Script")),
        &[],
        2,
        "error[W443]: `a` cannot be filled\n",
    );
    refused(
        argument(0, "DataSource", json!("1 / i")),
        &[],
        2,
        "error[W443]: `a` cannot be filled\n",
    );
    refused(
        argument(0, "Size", json!("block")),
        &[],
        2,
        "error[W443]: the size of `a` is no number of elements\n",
    );
    refused(
        argument(0, "Size", json!(0)),
        &[],
        2,
        "error[W443]: the size of `a` is no number of elements\n",
    );
    refused(argument(3, "FillValue", json!(1.5)), &[], 2, "error[W443]: `n` cannot be filled\n");
    refused(
        argument(2, "Size", json!(4_000_000_000u64)),
        &[],
        3,
        "error[W445]: the arguments take more than 8192 MiB\n",
    );
    refused(
        reference("TargetName", json!("d")),
        &[],
        2,
        "error[W444]: a reference is for an argument that does not exist\n",
    );
    refused(
        reference("ValidationMethod", json!("Eye")),
        &[],
        2,
        "error[W444]: this way of validation is not known\n",
    );
    refused(
        reference("ValidationThreshold", json!(-1)),
        &[],
        2,
        "error[W444]: this threshold cannot be used\n",
    );
    refused(
        |p| p["ConfigurationSpace"]["TuningParameters"][0]["Name"] = json!("a variant"),
        &[],
        2,
        "error[W440]: a parameter becomes a macro, and this is no name of one\n",
    );
    refused(
        |p| {
            p["ConfigurationSpace"]["Conditions"] =
                json!([{"Parameters": [], "Expression": "block > 4096"}])
        },
        &[],
        2,
        "error[W404]: no configuration satisfies the constraints\n",
    );
    refused(
        |_| {},
        &["--size", "n=4"],
        2,
        "error[W448]: `--size` is for C files, and `p.json` is a problem\n",
    );
    refused(
        |_| {},
        &["--strategy", "direct"],
        2,
        "error[W448]: `--strategy direct` is for C files",
    );
}

/// Nothing in a file is left out in silence: a value of the wrong kind is an error, an unknown name a warning.
#[test]
fn values_of_the_wrong_kind_are_refused_where_they_are() {
    let kernel = "KernelSpecification";
    let reference = |p: &mut Json, name: &str, value: Json| {
        p[kernel]["ReferenceArguments"][0][name] = value;
    };
    let one: Edit<'_> =
        &|p| p[kernel]["ReferenceArguments"] = p[kernel]["ReferenceArguments"][0].clone();
    let space = "ConfigurationSpace";
    let cases: [(Edit<'_>, &str); 10] = [
        (one, "`ReferenceArguments`"),
        (&|p| reference(p, "ValidationThreshold", json!("0.1")), "`ValidationThreshold`"),
        (&|p| p[space]["Conditions"] = json!("block < 64"), "`Conditions`"),
        (&|p| p[space]["Conditions"] = json!(["block < 64"]), "`Conditions`"),
        (&|p| p["Budget"] = json!("10 s"), "`Budget`"),
        (&|p| p["Search"] = json!("Random"), "`Search`"),
        (&|p| p[kernel]["Arguments"] = json!(5), "`Arguments`"),
        (&|p| p[kernel]["Arguments"][2]["Size"] = json!([200]), "`Size`"),
        (&|p| p[kernel]["Arguments"][1]["RandomSeed"] = json!(-1), "`RandomSeed`"),
        (&|p| p[kernel]["LocalSize"] = json!("block"), "`LocalSize`"),
    ];
    for (change, name) in cases {
        refused(change, &[], 2, &format!("error[W411]: {name} has a value of the wrong kind"));
    }
    // The place is that of this very argument.
    let mut file = add(true);
    file[kernel]["Arguments"][2]["Size"] = json!({"X": 200});
    let text = serde_json::to_string_pretty(&file).unwrap();
    let line = 1 + text.lines().position(|l| l.contains("\"Size\": {")).unwrap();
    let wrong = folder(&[("add.cu", ADD), ("p.json", &text)]);
    let err = warpsmith(wrong.path(), &["tune", "p.json", "--device", "emulator"]).stderr;
    let err = String::from_utf8_lossy(&err).into_owned();
    assert!(err.contains(&format!("--> p.json:{line}:")), "{line}: {err}");
    assert!(err.contains("and this is an object"), "{err}");
}

#[test]
fn unknown_names_are_warned_of_with_the_nearest_known_one() {
    let mut file = add(true);
    file["KernelSpecification"]["Arguments"][3]["FilValue"] = json!(3);
    file["ConfigurationSpace"]["Constraints"] = json!(["block < 64"]);
    let right = folder(&[("add.cu", ADD), ("p.json", &file.to_string())]);
    let options = ["tune", "p.json", "--device", "emulator", "--dry-run", "--budget", "2"];
    let err = warpsmith(right.path(), &options).stderr;
    let err = String::from_utf8_lossy(&err).into_owned();
    assert!(err.contains("warning[W449]: `FilValue` is not known here"), "{err}");
    assert!(err.contains("did you mean `FillValue`?"), "{err}");
    assert!(err.contains("warning[W449]: `Constraints` is not known here"), "{err}");
    assert!(err.contains("Conditions"), "{err}");
}

#[test]
fn files_that_are_no_problems_are_told_apart() {
    let cache = r#"{"tune_params_keys": ["x"], "cache": {}}"#;
    let folder = folder(&[
        ("c.json", cache),
        ("bad.json", "{\"ConfigurationSpace\": ["),
        ("none.json", "{}"),
    ]);
    let said = |file: &str| {
        let output = warpsmith(folder.path(), &["tune", file, "--device", "emulator"]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said("c.json").starts_with("error[W440]: `c.json` holds a cache of Kernel Tuner"));
    assert!(
        said("bad.json")
            .starts_with("error[W412]: this file is not what it should be\n --> bad.json:1:")
    );
    assert!(
        said("none.json").starts_with("error[W411]: this is no T1 problem\n --> none.json:1:1")
    );
    assert!(said("gone.json").starts_with("error[W410]: cannot read `gone.json`"));
}

#[test]
fn the_file_says_strategy_and_budget_where_the_command_does_not() {
    let mut problem = add(true);
    problem["Search"] = json!({"Name": "Luck"});
    problem["Budget"] = json!([{"Type": "ConfigurationFraction", "BudgetValue": 0.5},
                               {"Type": "ConfigurationCount", "BudgetValue": 6}]);
    problem["KernelSpecification"]["ReferenceArguments"][0]["ValidationMethod"] =
        json!("AbsoluteDifference");
    let folder = folder(&[("add.cu", ADD), ("p.json", &problem.to_string())]);
    let output = warpsmith(
        folder.path(),
        &["tune", "p.json", "--device", "emulator", "--format", "json", "--dry-run"],
    );
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("warning[W449]: this strategy is not known"), "{err}");
    assert!(
        err.contains("warning[W446]: the sum of differences is compared element by element"),
        "{err}"
    );
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["search"]["evaluated"], 6);
    assert_eq!(report["search"]["strategy"], "model_guided");
    assert!(!folder.path().join("warpsmith-out").exists());
}

/// Of four variants two write half of the output, and agree; the other two write all of it.
#[test]
fn what_leaves_outputs_as_they_were_is_not_what_others_are_compared_with() {
    let kernel = "extern \"C\" __global__ void fill(float *y)\n{\n    const int i = blockIdx.x * 32 + threadIdx.x;\n    if (variant > 1 || i < 32) y[i] = 1.0f;\n}\n";
    let problem = json!({
        "ConfigurationSpace": {"TuningParameters": [
            {"Name": "variant", "Type": "int", "Values": "[0, 1, 2, 3]", "Default": 0}
        ]},
        "KernelSpecification": {
            "Language": "CUDA", "KernelName": "fill", "KernelFile": "fill.cu", "GlobalSizeType": "CUDA",
            "GlobalSize": {"X": "2"}, "LocalSize": {"X": "32"},
            "Arguments": [{"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
                           "FillType": "Constant", "FillValue": 0, "Size": 64}],
        },
    });
    let folder = folder(&[("fill.cu", kernel), ("p.json", &problem.to_string())]);
    let report = tuned(folder.path(), &[]);
    let compared = &report["compared"];
    assert_eq!(compared["configuration"]["variant"], 2, "{compared}");
    assert_eq!(compared["agrees"]["variant"], 3, "{compared}");
    assert_eq!(report["search"]["unusable"]["correctness"], 2, "{report}");
    assert_eq!(report["notes"], json!([]), "{report}");
}

/// Blocks of different shapes whose numbers lie along one axis: their middles have no element in common, so that blocks of what
/// gives the right outputs are run where a candidate has written.
#[test]
fn parts_of_large_launches_are_compared_wherever_they_lie() {
    let kernel = "extern \"C\" __global__ void fold(float *y, const float *x)\n{\n    const int across = 2048 / side;\n    const int row = blockIdx.x / across * side + threadIdx.y;\n    const int column = blockIdx.x % across * side + threadIdx.x;\n    float s = 0.0f;\n    for (int k = 0; k < 500; ++k) s = s * 0.5f + x[column];\n    y[row * 2048 + column] = wrong ? s + 1.0f : s;\n}\n";
    let problem = json!({
        "ConfigurationSpace": {"TuningParameters": [
            {"Name": "side", "Type": "int", "Values": "[8, 16, 32]", "Default": 8},
            {"Name": "wrong", "Type": "int", "Values": "[0, 1]", "Default": 0}
        ]},
        "KernelSpecification": {
            "Language": "CUDA", "KernelName": "fold", "KernelFile": "fold.cu", "GlobalSizeType": "CUDA",
            "GlobalSize": {"X": "(2048 // side) * (96 // side)"}, "LocalSize": {"X": "side", "Y": "side"},
            "Arguments": [
                {"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
                 "FillType": "Constant", "FillValue": 0, "Size": 2048 * 96},
                {"Name": "x", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
                 "FillType": "Random", "FillValue": 1, "Size": 2048},
            ],
        },
    });
    let folder = folder(&[("fold.cu", kernel), ("p.json", &problem.to_string())]);
    let report = tuned(folder.path(), &[]);
    assert_eq!(report["search"]["unusable"], json!({"correctness": 3}), "{report}");
    assert!(report["compared"]["agrees"].is_object(), "{report}");
}
