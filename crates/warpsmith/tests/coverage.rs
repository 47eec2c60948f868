//! What is handed out was run: every path of the emitted text, by some run that the result names.

use std::path::{Path, PathBuf};

use warpsmith::data::{ArgSpec, Init};
use warpsmith::ir::SourceMap;
use warpsmith::status::Status;
use warpsmith::tune::faults::Prepared;
use warpsmith::tune::{RegisterSource, Strategy, TuneRequest, Tuned, tune};

fn request(folder: &Path, source: &str) -> TuneRequest {
    let file: PathBuf = folder.join("source.c");
    std::fs::write(&file, source).expect("a writable folder");
    TuneRequest::new(file).registers(RegisterSource::Estimate)
}

fn tuned(source: &str, options: impl Fn(TuneRequest) -> TuneRequest) -> Tuned {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sources = SourceMap::new();
    tune(&options(request(folder.path(), source)), &mut sources)
        .unwrap_or_else(|e| panic!("{}", e.render(&sources, false)))
}

/// The product of arrays of a fixed size, of which sizes use a part.
const FIXED_ARRAYS: &str = "\
void gemm(int n, int m, int k, double A[256][256], double B[256][256], double C[256][256]) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0;
            for (int l = 0; l < k; l++) C[i][j] += A[i][l] * B[l][j];
        }
}
";

const TILED: &str = "\
bind i, j -> y, x block 8x8
accumulate C
register_tile i by 4
register_tile j by 4
stage A at l tile 8
stage B at l tile 8
";

/// Every entry of the coverage of a result.
fn paths(tuned: &Tuned) -> Vec<serde_json::Value> {
    let coverage = &tuned.verified.coverage_json;
    assert_eq!(coverage["complete"], true, "{coverage:#}");
    let functions = coverage["functions"].as_array().expect("a list").iter();
    functions.flat_map(|f| f["paths"].as_array().expect("a list").clone()).collect()
}

#[test]
fn every_path_is_named_with_its_line_and_its_run() {
    let source = "\
// warpsmith: size n=100000
float total(int n, const float x[n]) {
    float s = 0.0f;
#pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) s += x[i];
    return s;
}
";
    let tuned = tuned(source, |r| r);
    let paths = paths(&tuned);
    let text: Vec<&str> = tuned.files[0].1.lines().collect();
    for path in &paths {
        assert!(path["run"].is_string(), "{path}");
        let line = text[path["line"].as_u64().expect("a number") as usize - 1];
        let code = path["code"].as_str().expect("a text");
        assert!(line.contains(code), "{line}: {code}");
    }
    let again = |p: &&serde_json::Value| {
        p["path"] == "entered in a second stride of the grid"
            && p["run"] == "n=98561, with at most 3 blocks"
    };
    assert!(paths.iter().any(|p| again(&p)), "a second stride: {paths:?}");
    assert!(tuned.files[0].1.contains("Every path of it was run."));
}

#[test]
fn a_fault_in_the_tiled_path_of_fixed_arrays_is_not_handed_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("tiled.sched");
    std::fs::write(&schedule, TILED).expect("a writable folder");
    let request = request(folder.path(), FIXED_ARRAYS).schedule(schedule);
    let request = request.size("n", [256]).size("m", [256]).size("k", [256]);
    let mut sources = SourceMap::new();
    let prepared = Prepared::new(&request, &mut sources)
        .unwrap_or_else(|e| panic!("{}", e.render(&sources, false)));
    let right = prepared.text(&prepared.program).expect("a text");
    let verified = prepared.verify(&right, &mut sources);
    assert!(verified.is_ok(), "{}", verified.unwrap_err().render(&sources, false));
    // Wrong for blocks that lie behind the first along both axes.
    let fault = "if (blockIdx.x > 0 && blockIdx.y > 0 && k > 8) return;\n";
    let body = right.find("__global__").and_then(|at| Some(at + right[at..].find("{\n")? + 2));
    let (before, after) = right.split_at(body.expect("a kernel"));
    let wrong = format!("{before}    {fault}{after}");
    let failure = prepared.verify(&wrong, &mut sources).expect_err("it is wrong");
    assert_eq!(failure.status, Status::No);
    // Shown to be wrong, or refused as not run.
    let code = failure.diagnostics[0].code;
    assert!(["W325", "W337"].contains(&code), "{}", failure.render(&sources, false));
}

#[test]
fn arrays_of_a_fixed_size_are_verified_at_it() {
    let source = FIXED_ARRAYS
        .replace("int n, int m, int k, ", "")
        .replace("256", "512")
        .replace("< n", "< 512")
        .replace("< m", "< 512")
        .replace("< k", "< 512");
    let tuned = tuned(&source, |r| r.strategy(Strategy::Direct));
    assert!(tuned.verified.in_part[0].contains("blocks, at corners, edges and inside"));
    paths(&tuned);
}

#[test]
fn code_of_the_user_that_never_runs_is_told_and_no_fault() {
    let source = "\
// warpsmith: size n=1000
void f(int n, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k = i;
        if (i < 0) k = 0;
        y[i] = x[k];
    }
}
";
    let tuned = tuned(source, |r| r.strategy(Strategy::Direct));
    let paths = paths(&tuned);
    let never = paths.iter().find(|p| p["code"] == "if (i < 0)" && p["path"] == "taken");
    let why = "the C function does not go there either at any size that was tried";
    assert_eq!(never.expect("the condition")["not_run"], why);
}

/// A nest that no step binds is run by one thread: a thousand parts of each row take it long where the function does nothing.
#[test]
fn many_parts_on_one_thread_are_no_infinite_loop() {
    let source = "\
// warpsmith: size n=9 m=64
void sums(int n, unsigned m, unsigned y[n], const int x[64]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        unsigned s = y[i];
        for (unsigned j = 0; j < m; j++) s += j * 7u + x[j & 63];
        y[i] = s;
    }
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("parts.sched");
    std::fs::write(&schedule, "split_k j by 1000\nbind i#2 -> x block 32\n").expect("writable");
    let tuned = tuned(source, |r| r.schedule(schedule.clone()));
    assert!(tuned.verified.points.iter().any(|p| p["n"] == 2000), "{:?}", tuned.verified.sizes);
}

/// An array in a file.
fn given(folder: &Path, name: &str, values: &[i32]) -> ArgSpec {
    let path = folder.join(name).with_extension("npy");
    let header =
        format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({},), }}", values.len());
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    std::fs::write(&path, bytes).expect("a writable folder");
    ArgSpec::Init(Init::File(path.display().to_string()))
}

#[test]
fn given_arrays_are_verified_at_their_size() {
    let source = "\
void csr(int n, int m, int nnz, const int rp[n + 1], const int ci[nnz], const double v[nnz],
         const double x[m], double y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int e = rp[i]; e < rp[i + 1]; e++) s += v[e] * x[ci[e]];
        y[i] = s;
    }
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<i32> = (0..=300).map(|i| i * 3).collect();
    let columns: Vec<i32> = (0..900).map(|e| e * 7 % 250).collect();
    let tuned = tuned(source, |r| {
        let given = |name, values| given(folder.path(), name, values);
        r.argument("rp", given("rp", &rows)).argument("ci", given("ci", &columns)).size("m", [250])
    });
    assert_eq!(tuned.verified.sizes[0], "m=250, n=300, nnz=900");
    paths(&tuned);
}

/// Nothing tells how many elements `v` has but what is given for `rp`.
#[test]
fn arrays_that_given_ones_point_into_are_long_enough() {
    let source = "\
// warpsmith: size n=64
void csr(int n, const int *rp, const double *v, double *y) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int e = rp[i]; e < rp[i + 1]; e++) s += v[e];
        y[i] = s;
    }
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<i32> = (0..=64).map(|i| i * 9).collect();
    let tuned = tuned(source, |r| r.argument("rp", given(folder.path(), "rp", &rows)));
    assert!(tuned.verified.sizes.iter().any(|s| s == "n=64"), "{:?}", tuned.verified.sizes);
    let text = tuned.files.iter().map(|(_, text)| text.as_str()).collect::<String>();
    assert!(text.contains("It was run with 576"), "{text}");
}

#[test]
fn every_case_of_a_switch_is_a_path() {
    let source = "\
void blend(int n, int mode, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        switch (i % 3) {
        case 0: y[i] = x[i]; break;
        case 1: y[i] = -x[i]; break;
        default: y[i] = 0.0f;
        }
        switch (mode) {
        case 4: y[i] += 1.0f; break;
        case 5: y[i] += 2.0f; break;
        }
    }
}
";
    let tuned = tuned(source, |r| r.size("n", [1000]).size("mode", [4]));
    let paths = paths(&tuned);
    let cases = paths.iter().filter(|p| p["path"] == "its case");
    let runs: Vec<bool> = cases.map(|p| p["run"].is_string()).collect();
    assert_eq!(runs, [true; 5], "{paths:#?}");
    let none: Vec<_> = paths.iter().filter(|p| p["path"] == "none of its cases").collect();
    assert_eq!(none.len(), 1, "{paths:#?}");
    assert!(none[0]["run"].is_string(), "{}", none[0]);
}

/// All loops run as often: where a block exists, so does the first strip, and no condition is left that none fails.
#[test]
fn a_product_of_square_matrices_has_no_path_that_nothing_takes() {
    const MIN_PLUS: &str = "\
// warpsmith: size n=256
void shortest(int n, const float a[n][n], const float b[n][n], float c[n][n]) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 1e30f;
            for (int k = 0; k < n; k++) {
                float t = a[i][k] + b[k][j];
                if (t < s) s = t;
            }
            c[i][j] = s;
        }
}
";
    const STEPS: &str = "\
bind i, j -> y, x block 8x8
register_tile i by 4
register_tile j by 4
stage a at k tile 8 pad 4 transposed
stage b at k tile 8
pipeline k stages 2
";
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("steps.sched");
    let of_multiples = format!("{}specialise n%32=0\n", STEPS.replace("stages 2", "stages 3"));
    for steps in [STEPS, of_multiples.as_str()] {
        std::fs::write(&schedule, steps).expect("a writable folder");
        let tuned = tuned(MIN_PLUS, |r| r.schedule(&schedule));
        assert!(!paths(&tuned).is_empty());
    }
}

/// A product for each of several pairs of matrices: a kernel for multiples of two sizes stands in loops over two others.
const SCORES: &str = "\
void scores(int B, int H, int T, int D, const float *q, const float *k, float *s, float scale) {
#pragma omp parallel for collapse(3)
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int t = 0; t < T; t++)
                for (int u = 0; u < T; u++) {
                    float a = 0;
                    for (int d = 0; d < D; d++)
                        a += q[((b * H + h) * T + t) * D + d] * k[((b * H + h) * T + u) * D + d];
                    s[((b * H + h) * T + t) * T + u] = a * scale;
                }
}
";

#[test]
fn kernels_for_multiples_of_several_sizes_are_run_at_the_least_of_them() {
    let steps = "bind h, t, u -> z, y, x block 16x16x1\nregister_tile t by 8\nregister_tile u by 8\n\
                 stage q at d tile 8 pad 4 transposed\nstage k at d tile 8 pad 4 transposed\nunroll d\n\
                 specialise T%128=0, D%8=0, q%16=0, k%16=0, s%16=0\nvectorise t by 4\nvectorise u by 4\n\
                 warp t, u by 8x4\npipeline d stages 2\ndouble_buffer d\n";
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("scores.sched");
    std::fs::write(&schedule, steps).expect("a writable folder");
    let sizes = [("B", 2), ("H", 2), ("T", 128), ("D", 16)];
    let tuned = tuned(SCORES, |r| {
        sizes.iter().fold(r.schedule(&schedule), |r, (name, size)| r.size(*name, [*size]))
    });
    paths(&tuned);
}

/// Sums of the last tiles are split where 132 tiles run at a time, each in 11 parts that are copied ahead: the paths want whole
/// waves, which no small product has, rows of shared memory as long as a wave, and parts of more than two strips.
#[test]
fn waves_of_tiles_and_long_parts_of_sums_are_run() {
    let nest = |part: &str, i: &str, j: &str, l: &str, sum: &str| {
        let (axes, z) = if part.is_empty() { ("y, x", "") } else { ("z, y, x", "x1") };
        format!(
            "bind {part}{i}, {j} -> {axes} block 4x4{z}\naccumulate {sum}\nregister_tile {i} by 4\nregister_tile {j} by 4\nstage A at {l} tile 16 pad 4 transposed\nstage B at {l} tile 16 pad 116\nunroll {l}\npipeline {l} stages 3\n"
        )
    };
    let schedule = format!(
        "stream_k l by 11 tile 16x16 of 132\n{}{}bind i#3, j#3 -> y, x block 8x4\n",
        nest("", "i", "j", "l", "C"),
        nest("l_part, ", "i#2", "j#2", "l#2", "C_parts"),
    );
    let source = "// warpsmith: size n=500 m=500 k=500\nvoid gemm(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {\n#pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            for (int l = 0; l < k; l++) C[i][j] += A[i][l] * B[l][j];\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("waves.sched");
    std::fs::write(&file, &schedule).expect("a writable folder");
    let tuned = tuned(source, |r| r.schedule(&file));
    assert!(tuned.files.iter().any(|(_, text)| text.contains("[132]") || text.contains("+ 116]")));
    assert!(!paths(&tuned).is_empty());
    assert_eq!(tuned.verified.one_block, Vec::<String>::new());
}

/// Sizes that the C function tells apart itself are none of those that a lower limit stands for.
#[test]
fn limits_of_the_user_stay_what_they_are() {
    let source = "\
// warpsmith: size n=64 m=50
void both(int n, int m, const float A[n][m], const float r[n], float s[m]) {
    if (m <= 1000000000) {
#pragma omp parallel for reduction(+: s[:m])
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) s[j] += r[i] * A[i][j];
    } else {
#pragma omp parallel for
        for (int j = 0; j < m; j++) s[j] = 0.0f;
    }
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("sums.sched");
    std::fs::write(&schedule, "keep_sums i by 32 rows 16 group 4\n").expect("writable");
    let mut sources = SourceMap::new();
    let failure = tune(&request(folder.path(), source).schedule(schedule), &mut sources);
    let said = failure.expect_err("a path is not run").render(&sources, false);
    let own = "error[W337]: a path of the kernel for `both` was run at no size";
    assert!(said.contains(own) && said.contains("`if (m <= 1000000000)` not taken"), "{said}");
    assert!(!said.contains("1073741824"), "{said}");
}

/// Rows of 80 elements are never too long for threads that keep 128 of them: the nest as it was is run for shorter ones.
#[test]
fn ways_for_longer_rows_than_there_are_run_with_a_lower_limit() {
    let source = "\
// warpsmith: size n=64 m=50
void rows(int n, unsigned m, int x[n][80]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int s = 1;
        for (unsigned j = 0; j < m; j++) s += x[i][j];
        for (unsigned j = 0; j < m; j++) x[i][j] -= s;
    }
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("rows.sched");
    std::fs::write(&schedule, "keep_rows i by 32 each 4\nbind i -> x block 32\n")
        .expect("writable");
    let tuned = tuned(source, |r| r.schedule(&schedule));
    let lowered = |run: &serde_json::Value| {
        run.as_str().is_some_and(|run| run.ends_with("with limits on sizes lowered to 3"))
    };
    assert!(paths(&tuned).iter().any(|p| lowered(&p["run"])), "{:#?}", paths(&tuned));
}

/// A sum decides on what is launched next, and no data that were tried make it what C asks for.
#[test]
fn kernels_that_data_alone_launch_need_not_run() {
    let source = "\
// warpsmith: size n=40 m=30
int mean(int n, int m, const int x[n], int z[m]) {
    int s = 1;
#pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) s += x[i] & 3;
    if (s == 0) return -1;
#pragma omp parallel for
    for (int j = 0; j < m; j++) z[j] = s / (j + 1);
    return s;
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("mean.sched");
    std::fs::write(&schedule, "reduce s block 32 grid 2\nbind j -> x block 32\n")
        .expect("writable");
    let tuned = tuned(source, |r| r.schedule(&schedule));
    let unlaunched = tuned.verified.coverage_json["functions"].as_array().expect("a list");
    let unlaunched = unlaunched.iter().filter(|f| f.get("run").is_some_and(|r| r.is_null()));
    assert_eq!(unlaunched.count(), 1, "{:#}", tuned.verified.coverage_json);
}
