//! `warpsmith ladder`: which nests it takes, what it writes, and how it refuses.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Another product than the example's: other names, differences instead of products.
const PATHS: &str = "\
// warpsmith: size p=64 q=64 r=64
void paths(int p, int q, int r, const float far[p][r], const float near[r][q], float best[p][q])
{
    #pragma omp parallel for collapse(2)
    for (int a = 0; a < p; a++)
        for (int b = 0; b < q; b++) {
            float sum = 0.0f;
            for (int c = 0; c < r; c++) {
                float apart = far[a][c] - near[c][b];
                sum += apart * apart;
            }
            best[a][b] = sum;
        }
}
";

const SCALE: &str = "\
// warpsmith: size n=64
void scale(int n, float x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
";

fn ladder(source: &str, options: &[&str]) -> (TempDir, Output) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("nest.c"), source).expect("a writable folder");
    let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .args(["ladder", "nest.c"])
        .args(options)
        .output()
        .expect("the program starts");
    (folder, output)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads one matrix in two ways.
const SQUARED: &str = "\
// warpsmith: size n=64 k=64
void squared(int n, int k, const float A[n][k], float C[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * A[j][l];
            C[i][j] = sum;
        }
}
";

/// The loop that finds the least has a condition.
const SHORTEST: &str = "\
// warpsmith: size n=64
void shortest(int n, const float a[n][n], const float b[n][n], float c[n][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float best = 1e30f;
            for (int l = 0; l < n; l++) {
                float way = a[i][l] + b[l][j];
                if (way < best)
                    best = way;
            }
            c[i][j] = best;
        }
}
";

/// What the versions of a ladder are called, their texts, schedules and remarks.
fn versions(source: &str) -> Vec<(String, String, String, String)> {
    let (_folder, output) = ladder(source, &["--format", "json", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["left_out"].as_array().map(Vec::len), Some(0), "{}", json["left_out"]);
    let word = |v: &serde_json::Value| v.as_str().unwrap_or_default().to_string();
    let of = |v: &serde_json::Value| {
        let words = ["name", "idea"].map(|key| word(&v[key]));
        let [name, idea] = words;
        (name, idea, v["schedule"].to_string(), v["remarks"].to_string())
    };
    json["versions"].as_array().expect("a list").iter().map(of).collect()
}

#[test]
fn a_matrix_that_is_read_in_two_ways_gets_every_step() {
    let list = versions(SQUARED);
    let named = |name: &str| list.iter().find(|(n, ..)| n == name).expect("a version");
    let (.., tiles, _) = named("square-tiles");
    assert!(tiles.contains("stage A#1 at l") && tiles.contains("stage A#2 at l"), "{tiles}");
    for name in ["outer-products", "transposed-tile"] {
        named(name);
    }
    let remarks = &named("unrolled").3;
    assert!(remarks.contains("neither its counters nor its predicted time"), "{remarks}");
    texts_are_true(&list);
}

#[test]
fn what_conditions_keep_from_being_read_once_is_said() {
    let list = versions(SHORTEST);
    let (_, idea, ..) = list.iter().find(|(n, ..)| n == "outer-products").expect("a version");
    assert!(idea.contains("read for each element again") && !idea.contains("register,"), "{idea}");
    texts_are_true(&list);
}

/// Texts say what the schedules hold.
fn texts_are_true(versions: &[(String, String, String, String)]) {
    for (name, idea, schedule, _) in versions {
        let tiles = schedule.matches("register_tile ").count();
        assert!(!idea.contains("a tile in registers") || tiles > 1, "{name}: {idea} {schedule}");
        let staged = schedule.contains("stage ");
        assert!(!idea.contains("in shared memory") || staged, "{name}: {idea}");
    }
}

#[test]
fn any_contraction_gets_its_ladder() {
    let (folder, output) = ladder(PATHS, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((&json["command"], &json["exit"]), (&"ladder".into(), &0.into()));
    let versions = json["versions"].as_array().expect("a list");
    let names: Vec<&str> = versions.iter().filter_map(|v| v["name"].as_str()).collect();
    assert_eq!(names.first(), Some(&"direct"));
    let ideas = [
        "square-tiles",
        "padded-tiles",
        "unrolled",
        "outer-products",
        "transposed-tile",
        "chosen-tiles",
    ];
    for name in ideas {
        assert!(names.contains(&name), "no {name} in {names:?}: {}", json["left_out"]);
    }
    let sum = |name: &str, what: &str| {
        let version = versions.iter().find(|v| v["name"] == name).expect("a version");
        version[what].as_f64().expect("a number")
    };
    // Every version takes the steps of the one before, or says which it gives up; where it is slower, it says why.
    for pair in versions.windows(2) {
        let seconds = |v: &serde_json::Value| v["predicted_seconds"][0].as_f64().expect("a time");
        let slower = seconds(&pair[1]) > seconds(&pair[0]);
        assert_eq!(pair[1]["slower"].is_string(), slower, "{}", pair[1]);
    }
    let given_up = |name: &str| {
        let version = versions.iter().find(|v| v["name"] == name).expect("a version");
        version["given_up"].as_array().expect("a list").len()
    };
    for name in ["padded-tiles", "unrolled", "transposed-tile"] {
        assert_eq!(given_up(name), 0, "{name} is the version before with one idea more");
    }
    let lecture: Vec<u64> = versions.iter().filter_map(|v| v["lecture"].as_u64()).collect();
    assert_eq!(lecture, [3, 4, 5, 6, 7, 8]);
    // What the steps are for.
    assert!(sum("square-tiles", "global_sectors") * 4.0 < sum("direct", "global_sectors"));
    assert_eq!(sum("direct", "shared_wavefronts"), 0.0);
    let fewer =
        sum("outer-products", "shared_wavefronts") < sum("square-tiles", "shared_wavefronts");
    assert!(fewer, "{json}");
    assert_eq!(sum("transposed-tile", "bank_conflicts"), 0.0);

    let out = folder.path().join("warpsmith-out/paths-ladder");
    let page = read(&out.join("ladder.md"));
    for (k, name) in names.iter().enumerate() {
        assert!(page.contains(&format!("\n## {} {name}", k + 1)), "{page}");
        let version = out.join(format!("{}-{name}", k + 1));
        for file in ["paths.cu", "paths.h", "paths_test.cu", "paths.sched"] {
            assert!(version.join(file).is_file(), "no {file} in {}", version.display());
        }
        assert_eq!(version.join("changes.diff").exists(), k > 0);
    }
    let changes = read(&out.join("2-square-tiles/changes.diff"));
    assert!(changes.contains("+    __shared__ float far_shared["), "{changes}");
    let schedule = read(&out.join("6-transposed-tile/paths.sched"));
    assert!(schedule.contains("stage far at c tile 32 pad 1 transposed\n"), "{schedule}");
    // The version between square tiles and unrolled ones asks nowhere which elements exist.
    // What stays in a register is read once.
    let outer = read(&out.join("5-outer-products/paths.cu"));
    assert!(outer.contains("const float near_padded_own = element_at(near_padded, "), "{outer}");
    let html = read(&out.join("ladder.html"));
    for part in ["class=\"bar\"", "class=\"new\"", "<svg ", "32 banks", "sectors of 32 bytes"] {
        assert!(html.contains(part), "no {part} in the page");
    }
    assert!(!html.contains("http"), "the page needs no network");
    let padded = read(&out.join("3-padded-tiles/paths.cu"));
    let kernel = padded.split("__global__").find(|k| k.contains("far_padded_shared"));
    let kernel = kernel.expect("a kernel in tiles");
    assert!(!kernel.contains("if (") && !kernel.contains(" ? "), "{kernel}");
    assert!(kernel.contains("element_at(far_padded, far_padded_pitch, "), "{kernel}");
}

#[test]
fn lanes_that_read_a_column_get_a_padding_column() {
    let stored = PATHS.replace("near[r][q]", "near[q][r]").replace("near[c][b]", "near[b][c]");
    let (_, output) = ladder(&stored, &["--format", "json", "--dry-run", "--arch", "rtx4070"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["gpu"], "RTX 4070");
    for version in json["versions"].as_array().expect("a list") {
        if version["lecture"].is_u64() {
            assert_eq!(version["bank_conflicts"], 0.0, "{version}");
        }
    }
}

#[test]
fn batches_and_other_operations_get_their_ladder() {
    let batched = "\
// warpsmith: size b=2 n=64 m=64 k=64
void batched(int b, int n, int m, int k, const float A[b][n][k], const float B[b][k][m], float C[b][n][m])
{
    #pragma omp parallel for collapse(3)
    for (int p = 0; p < b; p++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                float sum = 0.0f;
                for (int l = 0; l < k; l++)
                    sum += A[p][i][l] * B[p][l][j];
                C[p][i][j] = sum;
            }
}
";
    let least = PATHS
        .replace("float sum = 0.0f", "float sum = 1e30f")
        .replace("float apart = far[a][c] - near[c][b];", "float way = far[a][c] + near[c][b];")
        .replace("sum += apart * apart;", "sum = sum < way ? sum : way;");
    for source in [batched, &least] {
        let (_, output) = ladder(source, &["--format", "json", "--dry-run"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
        let versions = json["versions"].as_array().expect("a list");
        let names: Vec<&str> = versions.iter().filter_map(|v| v["name"].as_str()).collect();
        for name in ["direct", "square-tiles", "unrolled", "outer-products", "chosen-tiles"] {
            assert!(names.contains(&name), "no {name} in {names:?}: {}", json["left_out"]);
        }
        assert!(!json["left_out"].to_string().contains("a bug"), "{}", json["left_out"]);
    }
}

#[test]
fn what_is_stored_transposed_is_not_transposed_again() {
    let stored = PATHS.replace("far[p][r]", "far[r][p]").replace("far[a][c]", "far[c][a]");
    let (_, output) = ladder(&stored, &["--format", "json", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    let versions = json["versions"].as_array().expect("a list");
    let names: Vec<&str> = versions.iter().filter_map(|v| v["name"].as_str()).collect();
    assert!(names.contains(&"outer-products"), "{names:?}");
    assert!(!names.contains(&"transposed-tile"), "{names:?}");
    assert_eq!(json["left_out"], serde_json::json!([]));
}

#[test]
fn nests_that_are_no_contraction_are_refused() {
    let (folder, output) = ladder(SCALE, &[]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert_eq!(
        stderr,
        "\
error[W235]: no nest of `scale` is a contraction
 --> nest.c:5:5
  |
5 | /     for (int i = 0; i < n; i++)
6 | |         x[i] = 2.0f * x[i];
  | |________^ it is one loop
  |
  = note: a contraction has two parallel loops, one directly in the other, and a serial loop inside that sums over two arrays, each read with the counter of the sum and of one of the two loops
  = help: `warpsmith tune` takes any nest
"
    );
    assert!(!folder.path().join("warpsmith-out").exists(), "files were left");
    let carried = SCALE.replace("2.0f * x[i]", "2.0f * x[i + 1]");
    let (_, output) = ladder(&carried.replace("i < n", "i < n - 1"), &[]);
    assert_eq!(output.status.code(), Some(1), "a dependence: {}", text(&output.stderr));
}

/// What the label of a refusal says.
#[test]
fn a_refusal_names_what_the_nest_lacks() {
    let product = "// warpsmith: size n=64\nvoid f(int n, const float A[n][n], const float B[n][n], float C[n][n])\n{\n    MARK\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++) {\n            BODY\n        }\n}\n";
    let of = |mark: &str, body: &str| {
        let (_, output) = ladder(&product.replace("MARK", mark).replace("BODY", body), &[]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let sum = "float s = 0.0f; for (int k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s;";
    let (one, both) = ("#pragma omp parallel for", "#pragma omp parallel for collapse(2)");
    let said = of(one, sum);
    assert!(said.contains("its outermost loop alone is marked: `collapse(2)`"), "{said}");
    let said = of(one, "C[i][j] = A[i][j];");
    assert!(said.contains("one loop of it is parallel"), "{said}");
    let said = of(both, "C[i][j] = A[i][j] + B[j][i];");
    assert!(said.contains("no loop inside of its parallel ones sums"), "{said}");
    let said = of(both, &sum.replace(" * B[k][j]", ""));
    assert!(said.contains("no two arrays in it are read as a product reads them"), "{said}");
}

#[test]
fn bad_input_is_told_from_no() {
    let (_, output) = ladder("int x\n", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let (_, output) = ladder(PATHS, &["--arch", "sm_1"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let (folder, output) = ladder(PATHS, &["--dry-run", "--size", "p=48"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!folder.path().join("warpsmith-out").exists(), "a dry run writes nothing");
    assert!(text(&output.stdout).contains("p=48"), "{}", text(&output.stdout));
}

/// Sectors that `ncu` counted on an H100 at 128 x 128 x 128 (bench/NOTES.md).
#[test]
fn sectors_are_those_of_the_hardware() {
    let gemm = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gemm.c"));
    let sizes = ["--size", "n=128", "--size", "m=128", "--size", "k=128"];
    let (_, output) = ladder(&gemm, &[&["--format", "json", "--dry-run"], &sizes[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["counted_at"]["n"], 128);
    for (name, sectors) in [
        ("direct", 331_776),
        ("accumulator", 329_728),
        ("square-tiles", 18_432),
        ("padded-tiles", 30_720),
        ("unrolled", 30_720),
    ] {
        let versions = json["versions"].as_array().expect("a list");
        let version = versions.iter().find(|v| v["name"] == name).expect("a version");
        assert_eq!(version["global_sectors"], sectors, "{name}");
    }
}

#[test]
fn all_orders_of_the_loops_run_on_the_cpu() {
    let (_folder, output) = ladder(PATHS, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["cpu_why"], serde_json::Value::Null);
    let orders = json["cpu"]["orders"].as_array().expect("a list");
    let mut loops: Vec<String> = orders.iter().map(|o| o["loops"].to_string()).collect();
    assert!(orders.iter().all(|o| o["ms"].as_f64().is_some_and(|ms| ms > 0.0)), "{orders:?}");
    let goes = |k: usize| -> Vec<(&str, &str)> {
        let list = orders[k]["innermost"].as_array().expect("a list");
        let pair = |w: &serde_json::Value, key: &str| w[key].as_str().map(str::to_string);
        assert!(list.iter().all(|w| pair(w, "array").is_some()));
        list.iter()
            .map(|w| (w["array"].as_str().unwrap_or(""), w["goes"].as_str().unwrap_or("")))
            .collect()
    };
    // The source's order first: the sum over `c` reads `far` along its rows and `near` down its columns.
    let own = [("far", "along a row"), ("near", "down a column"), ("best", "one element")];
    assert_eq!(goes(0), own);
    assert_eq!(goes(1), [("far", "one element"), ("near", "along a row"), ("best", "along a row")]);
    loops.sort();
    loops.dedup();
    assert_eq!(loops.len(), 6);
}

#[test]
fn what_compilers_load_together_is_told_beside_what_the_text_says() {
    let gemm = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gemm.c");
    let text = std::fs::read_to_string(gemm).expect("an example");
    let sizes = ["--size", "n=1021", "--size", "m=1021", "--size", "k=1021"];
    let (_folder, output) = ladder(&text, &[&["--format", "json"], &sizes[..]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    let versions = json["versions"].as_array().expect("a list");
    // As ncu counts them of nvcc's code on an H100, at 128 x 128 x 128.
    let by_ncu = [
        ("square-tiles", 102_400.0),
        ("padded-tiles", 102_400.0),
        ("unrolled", 102_400.0),
        ("outer-products", 33_792.0),
        ("transposed-tile", 35_840.0),
    ];
    for (name, wavefronts) in by_ncu {
        let version = versions.iter().find(|v| v["name"] == name).expect("a version");
        assert_eq!(version["compiled_wavefronts"], wavefronts, "{name}");
    }
}
