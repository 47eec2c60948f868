//! `check --same-as`: optimised kernels against plain references. Every file of `tests/same` names its reference in its first
//! line, is accepted as it is, and says in `// fault: OLD => NEW` lines what must not be.

mod common;

use std::path::{Path, PathBuf};

use common::command;
use warpsmith_testgen::on_all_cores;

/// A kernel with its reference, other right forms of it, and the faults that are planted in it.
struct Case {
    name: String,
    text: String,
    options: Vec<String>,
    rights: Vec<Edit>,
    faults: Vec<Edit>,
}

/// `OLD => NEW`: the first OLD of the text becomes NEW.
struct Edit {
    old: String,
    new: String,
}

impl Edit {
    fn of(line: &str) -> Edit {
        let (old, new) = line.split_once(" =>").expect("OLD => NEW");
        let unescaped = |t: &str| t.replace("\\n", "\n");
        Edit { old: unescaped(old), new: unescaped(new.strip_prefix(' ').unwrap_or(new)) }
    }

    /// The edited text, which must be another one.
    fn made(&self, case: &Case) -> String {
        let edited = case.text.replacen(self.old.as_str(), &self.new, 1);
        assert!(edited != case.text, "{}: `{}` is not in the text", case.name, self.old);
        edited
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/same")
}

fn cases() -> Vec<Case> {
    let files = std::fs::read_dir(folder()).expect("the folder is there");
    let mut files: Vec<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    files.sort();
    let kernels = files.into_iter().filter(|f| f.extension().is_some_and(|e| e == "cu"));
    // One file alone, for whoever works on it.
    let only = std::env::var("WARPSMITH_SAME").unwrap_or_default();
    kernels.filter_map(|f| case(&f)).filter(|c| c.name.starts_with(&only)).collect()
}

fn case(path: &Path) -> Option<Case> {
    let text = std::fs::read_to_string(path).expect("it is text");
    let options = text.lines().next()?.strip_prefix("// same-as: ")?;
    let edits =
        |mark: &str| text.lines().filter_map(|l| l.strip_prefix(mark)).map(Edit::of).collect();
    let is_edit = |l: &&str| l.starts_with("// fault: ") || l.starts_with("// right: ");
    Some(Case {
        name: path.file_stem()?.to_string_lossy().into_owned(),
        options: options.split(' ').map(str::to_string).collect(),
        rights: edits("// right: "),
        faults: edits("// fault: "),
        text: text.lines().filter(|l| !is_edit(l)).map(|l| format!("{l}\n")).collect(),
    })
}

/// All of the corpus with `WARPSMITH_ALL_FAULTS`, else one edit of so many, of each file another.
fn every(sampled: usize) -> usize {
    if std::env::var_os("WARPSMITH_ALL_FAULTS").is_some() { 1 } else { sampled }
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

#[test]
fn right_optimisations_are_the_same() {
    let (cases, every) = (cases(), every(5));
    let mut jobs = vec![];
    for (c, case) in cases.iter().enumerate() {
        let forms = case.rights.iter().map(|e| e.made(case));
        let all = std::iter::once(case.text.clone()).chain(forms);
        jobs.extend(all.enumerate().map(|(i, text)| (case, i, c, text)));
    }
    assert!(jobs.len() >= 60 || cases.len() < 30, "{}", jobs.len());
    jobs.retain(|(_, i, c, _)| (i + c) % every == 0);
    let wrong = on_all_cores(&jobs, |(case, i, _, text)| {
        let name = format!("{}_{i}", case.name);
        let (status, report) = compare(case, text, &name);
        let verdict = report["same_as"]["verdict"].as_str().unwrap_or("").to_string();
        let fine = status == 0 && verdict.starts_with("equal");
        (!fine).then(|| format!("{name}: {status} {report:#}"))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} of them: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn planted_faults_are_found() {
    let (cases, every) = (cases(), every(15));
    let total: usize = cases.iter().map(|c| c.faults.len()).sum();
    assert!(total >= 300 || cases.len() < 30, "{total}");
    let jobs = cases.iter().enumerate().flat_map(|(c, case)| {
        let chosen = case.faults.iter().enumerate().filter(move |(f, _)| (f + c) % every == 0);
        chosen.map(move |(f, fault)| (case, f, fault))
    });
    let wrong = on_all_cores(&jobs.collect::<Vec<_>>(), |(case, f, edit)| {
        let name = format!("{}_{f}", case.name);
        let (status, report) = compare(case, &edit.made(case), &name);
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let names_element = |f: &serde_json::Value| {
            f["rule"] != "different-value" || f["index"].as_array().is_some_and(|i| !i.is_empty())
        };
        let fine = status == 1 && !findings.is_empty() && findings.iter().all(names_element);
        (!fine).then(|| format!("{name}: `{}` => `{}`: {status} {report:#}", edit.old, edit.new))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
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
    // Options are for the kernel that is checked: the words do not ask for what was given.
    let whole = "__global__ void f(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }\n";
    refused(
        &[("a.cu", whole), ("b.cu", whole)],
        &["a.cu", "--same-as", "b.cu", "--grid", "4", "--block", "64"],
        "before it in its own file",
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

/// Two kernels, the sums of blocks between them.
const TWO_KERNELS: &str = "__global__ void parts(int n, const float *x, float *tmp) {
    __shared__ float s[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    }
    if (threadIdx.x == 0) tmp[blockIdx.x] = s[0];
}
__global__ void total(int blocks, const float *tmp, float *out) {
    float s = 0;
    for (int b = 0; b < blocks; b++) s += tmp[b];
    *out = s;
}
";
const SUM: &str = "float sum(int n, const float *x) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }\n";

#[test]
fn kernels_that_run_one_after_the_other() {
    let host = "void sum(int n, const float *x, float *out) {
    float *d_tmp;
    int blocks = (n + 63) / 64;
    cudaMalloc(&d_tmp, blocks * sizeof(float));
    parts<<<blocks, 64>>>(n, x, d_tmp);
    total<<<1, 1>>>(blocks, d_tmp, out);
}
";
    let against = |text: &str| {
        check(&[("new.cu", text), ("ref.c", SUM)], &["new.cu", "--same-as", "ref.c:sum"])
    };
    let (status, out, err) = against(&format!("{TWO_KERNELS}{host}"));
    assert!(
        status == 0 && out.contains("ref.c: sum: equal within rounding in `out`"),
        "{out}{err}"
    );
    let wrong = host.replace("total<<<1, 1>>>(blocks,", "total<<<1, 1>>>(n / 64,");
    let (status, out, err) = against(&format!("{TWO_KERNELS}{wrong}"));
    assert!(status == 1 && out.contains("`out[0]` is "), "{out}{err}");
    assert!(out.contains("in new.cu: total<<<1, 1>>> with n="), "{out}");
    // As a directive says it, with the number that the reference lacks.
    let run = "// warpsmith: run parts, total\n// warpsmith: kernel=parts grid=4 block=64 arg n=256\n// warpsmith: kernel=total grid=1 block=1 arg blocks=4\n";
    let (status, out, err) = check(
        &[("new.cu", &format!("{run}{TWO_KERNELS}")), ("ref.c", SUM)],
        &["new.cu", "--same-as", "ref.c:sum", "--arg", "blocks=(n+63)/64"],
    );
    assert!(status == 0 && out.contains("equal within rounding"), "{out}{err}");
    // Launches in a loop are run as the host code says.
    let looped = host.replace("total<<<", "for (int k = 0; k < 2; k++) total<<<");
    let (status, out, err) = against(&format!("{TWO_KERNELS}{looped}"));
    assert!(status == 0 && out.contains("equal within rounding in `out`"), "{out}{err}");
    let beyond = host.replace("d_tmp, out)", "d_tmp + 1, out)");
    let (status, out, err) = against(&format!("{TWO_KERNELS}{beyond}"));
    assert!(status == 1 && out.contains("is outside of `d_tmp`"), "{out}{err}");
}

#[test]
fn arrays_that_the_host_clears() {
    let kernel = "__global__ void count(int n, const int *key, int *bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[key[i] & 15], 1);
}
";
    let host = "void run(int n, const int *key, int *bins) { cudaMemset(bins, 0, 16 * sizeof(int)); count<<<(n + 127) / 128, 128>>>(n, key, bins); }\n";
    let reference = "void count(int n, const int *key, int bins[16]) { for (int b = 0; b < 16; b++) bins[b] = 0; for (int i = 0; i < n; i++) bins[key[i] & 15]++; }\n";
    let against = |text: &str| {
        check(&[("new.cu", text), ("ref.c", reference)], &["new.cu", "--same-as", "ref.c:count"])
    };
    let (status, out, err) = against(&format!("{kernel}{host}"));
    assert!(status == 0 && out.contains("equal in `bins`"), "{out}{err}");
    let (status, out, err) =
        against(&format!("{kernel}{}", host.replace("cudaMemset(bins, 0, 16 * sizeof(int));", "")));
    assert!(status == 1 && out.contains("different-value"), "{out}{err}");
}

#[test]
fn structures_by_value() {
    let new = "struct Image { int w, h; float gain; float *data; };
__global__ void brighten(Image im) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < im.w && y < im.h) im.data[y * im.w + x] *= im.gain;
}
void run(Image im) { brighten<<<dim3((im.w + 63) / 64, im.h), 64>>>(im); }
";
    let reference = "void brighten(int w, int h, float gain, float *data) { for (int i = 0; i < w * h; i++) data[i] *= gain; }\n";
    let against = |text: &str| {
        let args = [
            "new.cu",
            "--same-as",
            "ref.c:brighten",
            "--block",
            "64",
            "--grid",
            "4,8",
            "--arg",
            "im.w=250",
            "--arg",
            "im.h=8",
        ];
        check(&[("new.cu", text), ("ref.c", reference)], &args)
    };
    let (status, out, err) = against(new);
    assert!(status == 0 && out.contains("equal in `im.data`"), "{out}{err}");
    let (status, out, err) = against(&new.replace("y * im.w + x] *=", "y * im.h + x] *="));
    assert!(status == 1, "{out}{err}");
}

#[test]
fn references_whose_threads_work_together_have_a_tolerance() {
    let blocks = "__device__ float over_block(float v, float *s) {
    s[threadIdx.x] = v;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    }
    __syncthreads();
    return s[0];
}
__global__ void sums(int rows, int cols, const float *x, float *y) {
    __shared__ float s[64];
    int r = blockIdx.x;
    if (r >= rows) return;
    float own = 0;
    for (int c = threadIdx.x; c < cols; c += 64) own += x[r * cols + c];
    float all = over_block(own, s);
    if (threadIdx.x == 0) y[r] = all;
}
void run(int rows, int cols, const float *x, float *y) { sums<<<rows, 64>>>(rows, cols, x, y); }
";
    let warps = "__global__ void sums(int rows, int cols, const float *x, float *y) {
    int r = blockIdx.x;
    float own = 0;
    for (int c = threadIdx.x; c < cols; c += 32) own += x[r * cols + c];
    for (int d = 16; d > 0; d /= 2) own += __shfl_down_sync(0xffffffff, own, d);
    if (threadIdx.x == 0) y[r] = own;
}
void run(int rows, int cols, const float *x, float *y) { sums<<<rows, 32>>>(rows, cols, x, y); }
";
    let both =
        |a: &str, b: &str| check(&[("a.cu", a), ("b.cu", b)], &["a.cu", "--same-as", "b.cu"]);
    for (a, b) in [(blocks, warps), (warps, blocks)] {
        let (status, out, err) = both(a, b);
        assert!(status == 0 && out.contains("equal within rounding in `y`"), "{out}{err}");
    }
    let wrong = warps.replace("y[r] = own;", "y[r] = own * 1.0001f;");
    let (status, out, err) = both(&wrong, blocks);
    assert!(status == 1 && out.contains("rounding explains"), "{out}{err}");
}

#[test]
fn numbers_that_the_reference_lacks_follow_from_sizes() {
    let new = "__global__ void add(int n4, const float4 *x, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 a = x[i], b = y[i];
    y[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
";
    let with = |spec: &str| {
        let args = ["new.cu", "--same-as", "ref.c:add", "--arg", spec, "--scalars", "64,128,1000"];
        check(&[("new.cu", new), ("ref.c", ADD)], &args)
    };
    let (status, out, err) = with("n4=n/4");
    assert!(status == 0 && out.contains("equal in `y`"), "{out}{err}");
    let (status, out, err) = with("n4=n/4-1");
    assert!(status == 1 && out.contains("; no thread wrote it"), "{out}{err}");
    let (status, _, err) = with("n4=m/4");
    assert!(status == 2 && err.contains("`m`"), "{err}");
}

#[test]
fn templates_and_references_with_headers() {
    let new = "template <typename T, int V> __global__ void scale(int n, T a, T *x) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * V;
    for (int k = 0; k < V && i + k < n; k++) x[i + k] *= a;
}
";
    let header = "#define STEP 1\nstatic inline float times(float a, float b) { return a * b; }\n";
    let reference = "#include \"ops.h\"\nvoid scale(int n, float a, float *x) { for (int i = 0; i < n; i += STEP) x[i] = times(x[i], a); }\n";
    let with = |kernel: &str| {
        let files = [("new.cu", new), ("ref.c", reference), ("ops.h", header)];
        let args = [
            "new.cu",
            "--same-as",
            "ref.c:scale",
            "--kernel",
            kernel,
            "--grid",
            "2",
            "--block",
            "64",
            "--arg",
            "n=500",
        ];
        check(&files, &args)
    };
    let (status, out, err) = with("scale<float, 4>");
    assert!(status == 0 && out.contains("equal in `x`"), "{out}{err}");
    let (status, _, err) = with("scale<double, 4>");
    assert!(status == 2 && err.contains("both sides must compute with the same types"), "{err}");
}

#[test]
fn what_only_nan_shows_is_a_note() {
    let new = |most: &str| {
        format!(
            "__global__ void most(int n, int m, const float *x, float *y) {{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n || m < 1) return;
    float v = x[r * m];
    for (int c = 1; c < m; c++) v = {most};
    y[r] = v;
}}
"
        )
    };
    let (a, b) = (new("x[r * m + c] > v ? x[r * m + c] : v"), new("fmaxf(v, x[r * m + c])"));
    let files = [("a.cu", a.as_str()), ("b.cu", b.as_str())];
    let (status, out, err) = check(&files, &["a.cu", "--same-as", "b.cu"]);
    assert!(status == 0 && out.contains("only where data hold NaN or infinities"), "{out}{err}");
    let (status, out, err) = check(&files, &["a.cu", "--same-as", "b.cu", "--special"]);
    assert!(status == 1 && out.contains("data with NaN and infinities"), "{out}{err}");
}

#[test]
fn extents_that_only_runs_tell() {
    let new = "__global__ void least(int rows, int cols, const int *x, int *at) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int best = 0;
    for (int c = 0; c < cols; c++) if (x[r * cols + c] < x[r * cols + best]) best = c;
    at[r] = best;
}
";
    let reference = "void least(int rows, int cols, const int *x, int *at) {
    for (int r = 0; r < rows; r++) {
        int best = 0;
        for (int c = 1; c < cols; c++) if (x[r * cols + c] < x[r * cols + best]) best = c;
        at[r] = best;
    }
}
";
    let against = |text: &str| {
        check(&[("new.cu", text), ("ref.c", reference)], &["new.cu", "--same-as", "ref.c:least"])
    };
    let (status, out, err) = against(new);
    assert!(status == 0 && out.contains("`x` has rows * cols elements"), "{out}{err}");
    let (status, out, err) = against(&new.replace("c < cols", "c <= cols"));
    assert!(status == 1 && out.contains("out-of-bounds"), "{out}{err}");
}

#[test]
fn the_full_size_on_a_device() {
    let new = "__global__ void add(int n, const float *x, float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + y[i];
}
void run(int n, const float *x, float *y) { add<<<4, 64>>>(n, x, y); }
";
    let plain = "__global__ void add(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }\n";
    let with = |text: &str, reference: &str, more: &[&str]| {
        let files = [("new.cu", text), ("ref.c", ADD), ("old.cu", plain)];
        let args = [&["new.cu", "--same-as", reference, "--device", "emulator"], more].concat();
        check(&files, &args)
    };
    let (status, out, err) = with(new, "old.cu", &["--size", "n=20000"]);
    assert!(status == 0 && out.contains("with n=20000: the same; emulated "), "{out}{err}");
    assert!(out.contains(", the reference "), "{out}");
    let (status, out, err) = with(new, "ref.c:add", &["--size", "n=20000"]);
    assert!(status == 0 && out.contains("the same; emulated "), "{out}{err}");
    // What is wrong beyond all sizes that are emulated.
    let far = new.replace("y[i] = x[i] + y[i]", "y[i] = i < 100000 ? x[i] + y[i] : 0.0f");
    let (status, out, err) = with(&far, "old.cu", &["--size", "n=120000"]);
    assert!(status == 1 && out.contains("different-value"), "{out}{err}");
    let (status, _, err) = with(new, "old.cu", &[]);
    assert!(status == 2 && err.contains("which `n` is the full size?"), "{err}");
    let (status, _, err) = with(new, "old.cu", &["--size", "m=5,n=7"]);
    assert!(status == 2 && err.contains("neither side has a size `m`"), "{err}");
}
