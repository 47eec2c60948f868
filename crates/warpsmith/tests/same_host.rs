//! `check --same-as` of host functions that are run as they stand: launches in loops, under conditions, through others.

mod common;

use common::command;

/// Status and report of `check new.cu --same-as REFERENCE` with these files.
fn compare(files: &[(&str, &str)], reference: &str, more: &[&str]) -> (i32, serde_json::Value) {
    let at = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(at.path().join(name), text).expect("it is written");
    }
    let args = ["check", "new.cu", "--format", "json", "--jobs", "1", "--same-as", reference];
    let out = command(at.path(), &[&args[..], more].concat()).output().expect("it starts");
    let report = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&out.stderr)));
    (out.status.code().expect("a status"), report)
}

const DOUBLED: &str = "void doubled(int n, int times, float *x) {
    for (int t = 0; t < times; t++)
        for (int i = 0; i < n; i++) x[i] = 2 * x[i];
}
";

const KERNEL: &str = "__global__ void twice(int n, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i];
}
";

#[test]
fn arrays_of_the_host_are_copied_as_the_function_does() {
    let host = "void run(int n, int times, float *h) {
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    for (int t = 0; t < times; t++) twice<<<(n + 31) / 32, 32>>>(n, d);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d);
}
";
    let right = format!("{KERNEL}{host}");
    let options = ["--map", "h=x"];
    let (status, report) =
        compare(&[("new.cu", &right), ("ref.c", DOUBLED)], "ref.c:doubled", &options);
    assert_eq!((status, &report["same_as"]["verdict"]), (0, &"equal".into()), "{report:#}");
    let wrong = right.replace("h, d, n * sizeof(float)", "h, d, (n - 1) * sizeof(float)");
    let (status, report) =
        compare(&[("new.cu", &wrong), ("ref.c", DOUBLED)], "ref.c:doubled", &options);
    assert_eq!(status, 1, "{report:#}");
    assert_eq!(report["findings"][0]["rule"], "different-value");
}

#[test]
fn a_fill_beyond_the_end_is_out_of_bounds() {
    let host = "void run(int n, int times, float *x) {
    if (times < 0) cudaMemset(x, 0, n * sizeof(double) + 8);
    for (int t = 0; t < times; t++) twice<<<(n + 31) / 32, 32>>>(n, x);
}
";
    let right = format!("{KERNEL}{host}");
    let files = |new| [("new.cu", new), ("ref.c", DOUBLED)];
    let (status, report) = compare(&files(&right), "ref.c:doubled", &[]);
    assert_eq!(status, 0, "{report:#}");
    let wrong = right.replace("times < 0", "times == 0");
    let (status, report) = compare(&files(&wrong), "ref.c:doubled", &[]);
    let finding = &report["findings"][0];
    assert_eq!((status, &finding["rule"]), (1, &"out-of-bounds".into()), "{report:#}");
    assert_eq!(finding["locations"][0]["line"], 6, "{report:#}");
}

#[test]
fn functions_are_chosen_by_name_on_both_sides() {
    let hosts = "void steps(int n, int times, float *x) {
    for (int t = 0; t < times; t++) twice<<<(n + 31) / 32, 32>>>(n, x);
}
void one(int n, int times, float *x) {
    if (times > 0) twice<<<(n + 31) / 32, 32>>>(n, x);
}
";
    let text = format!("{KERNEL}{hosts}");
    let files = [("new.cu", text.as_str()), ("old.cu", text.as_str())];
    let (status, report) = compare(&files, "old.cu:steps", &["--kernel", "steps"]);
    assert_eq!((status, &report["same_as"]["verdict"]), (0, &"equal".into()), "{report:#}");
    let (status, report) = compare(&files, "old.cu:steps", &["--kernel", "one"]);
    assert_eq!(status, 1, "{report:#}");
    let message = report["findings"][0]["message"].as_str().unwrap_or("");
    assert!(message.starts_with("`x[0]` is "), "{report:#}");
}

#[test]
fn what_a_launch_depends_on_must_be_understood() {
    let host = "int of_the_machine(const char *);
void run(int n, int times, float *x) {
    int blocks = of_the_machine(\"blocks\");
    for (int t = 0; t < times; t++) twice<<<blocks, 32>>>(n, x);
}
";
    let text = format!("{KERNEL}{host}");
    let (status, report) = compare(&[("new.cu", &text), ("ref.c", DOUBLED)], "ref.c:doubled", &[]);
    assert_eq!(status, 2, "{report:#}");
    let said = report.to_string();
    assert!(said.contains("`run` cannot be run: "), "{report:#}");
}

#[test]
fn a_fill_of_an_array_of_assumed_length_reaches_both_sides_alike() {
    // Only some elements are written, those that the data choose, or every third row: the reference touches less than the
    // length that is assumed of `out`.
    let host = "void run(const float *in, float *out, int w, int h) {
    dim3 b(16, 16), g((w + 15) / 16, (h + 15) / 16);
    cudaMemset(out, 0, 3 * w * h * sizeof(float) + 20);
    some<<<g, b>>>(in, out, w, h);
}
";
    let kernel = |body: &str| {
        format!(
            "__global__ void some(const float *in, float *out, int w, int h) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    {body}
}}
{host}"
        )
    };
    for body in
        ["out[3 * y * w + x + 5] = in[y * w + x];", "if (in[y * w + x] > 0.2f) out[y * w + x] = 1;"]
    {
        let text = kernel(body);
        let (status, report) = compare(&[("new.cu", &text), ("old.cu", &text)], "old.cu", &[]);
        assert_eq!((status, &report["same_as"]["verdict"]), (0, &"equal".into()), "{report:#}");
        let wrong = text.replace("cudaMemset(out, 0", "cudaMemset(out, 1");
        let (status, report) = compare(&[("new.cu", &wrong), ("old.cu", &text)], "old.cu", &[]);
        assert_eq!(status, 1, "{report:#}");
    }
}

/// Functions that only launch are run all the same where they clear an array: how much of it they clear counts.
#[test]
fn fills_are_as_long_as_the_host_says() {
    let text = "__global__ void count(const int *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[in[i] & 63], 1.0);
}
void run(const int *in, double *out, int n) {
    cudaMemset(out, 0, 64 * sizeof(double));
    count<<<(n + 255) / 256, 256>>>(in, out, n);
}
";
    let (status, report) = compare(&[("new.cu", text), ("old.cu", text)], "old.cu", &[]);
    assert_eq!((status, &report["same_as"]["verdict"]), (0, &"equal".into()), "{report:#}");
    let wrong = text.replace("64 * sizeof(double)", "64 * sizeof(float)");
    let (status, report) = compare(&[("new.cu", &wrong), ("old.cu", text)], "old.cu", &[]);
    assert_eq!(status, 1, "{report:#}");
}
