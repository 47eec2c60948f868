//! What commands write for machines, against the schema files in `docs/schema`: every field is described there, and every
//! field that is described is written.

mod common;
mod schemas;

use std::path::{Path, PathBuf};

use common::command;
use schemas::{Schemas, faults};
use serde_json::Value as Json;

const SCALE: &str = "// warpsmith: size n=64\nvoid scale(int n, float a, float x[n])\n{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++)\n        x[i] = a * x[i];\n}\n";

const PRODUCT: &str = "// warpsmith: size n=32\nvoid product(int n, const float A[n][n], const float B[n][n], float C[n][n])\n{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {\n            float s = 0.0f;\n            for (int k = 0; k < n; k++)\n                s += A[i][k] * B[k][j];\n            C[i][j] = s;\n        }\n}\n";

/// Two kernels with marks.
const TILES: &str = "#define TILE(a) t[threadIdx.x] = i < n ? a[i] : 0; __syncthreads();
__global__ void first(const int *a, int *o, int n) {
    __shared__ int t[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    TILE(a)
    if (i < n) o[i] = __opt__(a[i]);
}
__global__ void second(const int *b, int *o, int n) {
    __shared__ int t[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    TILE(b)
    if (i < n) o[i] = __opt__(b[i]);
}
";

const RACY: &str = "// warpsmith: grid=1 block=64 arg x=float[64]\n__global__ void shift(float *x)\n{\n    __shared__ float s[64];\n    int t = threadIdx.x;\n    s[t] = t;\n    x[t] = s[63 - t];\n}\n";

const ADD: &str = "extern \"C\" __global__ void add(float *c, const float *a, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) c[i] = a[i] + 1.0f;\n}\n";

fn problem() -> String {
    serde_json::json!({
        "ConfigurationSpace": {"TuningParameters": [
            {"Name": "block_size_x", "Type": "int", "Values": "[32, 64]", "Default": 32}
        ]},
        "KernelSpecification": {
            "Language": "CUDA", "KernelName": "add", "KernelFile": "add.cu",
            "GlobalSize": {"X": "256 // block_size_x"}, "LocalSize": {"X": "block_size_x"},
            "Arguments": [
                {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant", "FillValue": 0, "Size": 256},
                {"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 1, "Size": 256},
                {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillValue": 256}
            ]
        }
    })
    .to_string()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a command and compares what it writes with its schema.
fn written(schemas: &Schemas, folder: &Path, typed: &[&str]) -> Json {
    let output = command(folder, &[typed, &["--format", "json"]].concat()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let object: Json =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{typed:?}: {e}: {text}"));
    assert_eq!(output.status.code().map(i64::from), object["exit"].as_i64(), "{typed:?}: {text}");
    let command = typed[0].strip_prefix("--").map_or(typed[0], |_| "warpsmith");
    let wrong = faults(schemas, command, &object);
    assert!(wrong.is_empty(), "{typed:?}: {wrong:#?}\n{object:#}");
    object
}

#[test]
fn every_command_keeps_to_its_schema() {
    let schemas = Schemas::read(&root().join("docs/schema"));
    let folder = tempfile::tempdir().unwrap();
    let add = problem();
    let files = [
        ("scale.c", SCALE),
        ("product.c", PRODUCT),
        ("racy.cu", RACY),
        ("add.cu", ADD),
        ("add.json", &add),
        ("tiles.cu", TILES),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |typed: &[&str]| written(&schemas, folder.path(), typed);
    let stage = root().join("examples/stage/five_point.cu").display().to_string();
    let script = root().join("examples/synctest.ws").display().to_string();

    assert_eq!(run(&["check", "racy.cu"])["status"], "no");
    run(&["check", "racy.cu", "--counters"]);
    run(&["check", "racy.cu", "--dry-run"]);
    let same = run(&["check", "add.cu", "--same-as", "add.cu"]);
    assert_eq!(same["same_as"]["verdict"], "equal");
    let on = ["check", "add.cu", "--same-as", "add.cu", "--device", "emulator", "--size", "n=5000"];
    assert_eq!(run(&on)["same_as"]["device"]["equal"], true);
    run(&["tune", "scale.c"]);
    run(&["tune", "scale.c", "--show-steps", "--dry-run"]);
    let emulated = run(&["tune", "scale.c", "--device", "emulator", "--budget", "3"]);
    assert!(emulated["emulated"].is_object() && emulated["measured"].is_null(), "{emulated}");
    let solved = run(&["tune", "add.json", "--device", "emulator"]);
    assert_eq!((&solved["times"], &solved["search"]["evaluated"]), (&"emulated".into(), &2.into()));
    assert_eq!(solved["compared"]["agrees"]["block_size_x"], 64, "{solved}");
    run(&["ladder", "product.c", "--device", "emulator"]);
    run(&["fuse", &script, "--no-compiler", "--device", "emulator"]);
    run(&["stage", &stage, "--no-proof"]);
    assert_eq!(run(&["stage", "tiles.cu", "--no-proof"])["kernels"][1]["kernel"], "second");
    run(&["results"]);
    run(&["results", "--problem", "scale"]);
    run(&["results", "--problem", "scale", "--export", "t4", "--out", "scale.t4.json"]);
    run(&["results", "--import", "scale.t4.json"]);
    run(&["doctor"]);
    let would = run(&["clean", "--results", "--dry-run"]);
    assert!(
        would["results"]["results"].as_u64() > Some(0) && would["cache"].is_object(),
        "{would}"
    );
    assert_eq!(run(&["clean", "--results"])["results"], would["results"]);
    assert!(run(&["clean", "--results"])["results"].is_null());
}

/// Every command that a person can ask for has a schema, and every schema is one of a command.
#[test]
fn commands_and_schemas_are_the_same() {
    let files = std::fs::read_dir(root().join("docs/schema")).unwrap();
    let mut schemas: Vec<String> = files
        .map(|f| f.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "common" && name != "warpsmith")
        .collect();
    schemas.sort();
    let asked = warpsmith::cli::command();
    // What `completions` writes is for shells.
    let hidden = |c: &&clap::Command| c.is_hide_set() || c.get_name() == "completions";
    let mut commands: Vec<String> =
        asked.get_subcommands().filter(|c| !hidden(c)).map(|c| c.get_name().to_string()).collect();
    commands.sort();
    assert_eq!(schemas, commands);
}

/// What cannot be done and what is typed wrongly are objects of the same schema.
#[test]
fn failures_keep_to_the_schema() {
    let schemas = Schemas::read(&root().join("docs/schema"));
    let folder = tempfile::tempdir().unwrap();
    for name in ["check", "tune", "ladder", "fuse", "stage"] {
        let object = written(&schemas, folder.path(), &[name, "none.xyz"]);
        assert_eq!(object["status"], "bad-input");
        let object = written(&schemas, folder.path(), &[name, "none.xyz", "--frobnicate"]);
        assert_eq!(object["findings"][0]["rule"], "W300", "{object}");
    }
    let object = written(&schemas, folder.path(), &["--frobnicate"]);
    assert_eq!(object["findings"][0]["rule"], "W300", "{object}");
    for name in ["results", "doctor", "clean"] {
        written(&schemas, folder.path(), &[name, "--frobnicate"]);
    }
    std::fs::write(folder.path().join("none.sqlite"), "no store").unwrap();
    let object =
        written(&schemas, folder.path(), &["clean", "--results", "--store", "none.sqlite"]);
    assert_eq!(object["findings"][0]["rule"], "W420", "{object}");
}
