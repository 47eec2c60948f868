//! The options of `warpsmith check` that vary a launch or the source: right use, and one message for wrong use.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Needs a header from another folder and a macro; correct for blocks of `BLOCK` threads.
const SCALE: &str = r#"#include "offset.h"
__global__ void scale(float *x, int n, float a)
{
    __requires(n > 0);
    __shared__ float s[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    s[t] = i < n ? x[i] : 0.0f;
    __assert(s[t] < 1.0f);
    __syncthreads();
    if (i < n) x[i] = a * s[BLOCK - 1 - t] + OFFSET;
}
"#;

const LAUNCH: [&str; 6] = ["--grid", "2", "--block", "64", "--arg", "x=float[100]=random"];
const HEADER: [&str; 2] = ["-I", "headers"];
const MACRO: [&str; 2] = ["-D", "BLOCK=64"];
const SCALARS: [&str; 4] = ["--arg", "n=100", "--arg", "a=2"];

fn folder(source: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("scale.cu"), source).expect("a writable folder");
    std::fs::create_dir(folder.path().join("headers")).expect("a writable folder");
    let header = "#ifndef OFFSET\n#define OFFSET 0.0f\n#endif\n";
    std::fs::write(folder.path().join("headers/offset.h"), header).expect("a writable folder");
    folder
}

fn check_in(folder: &Path, parts: &[&[&str]]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .args(["check", "scale.cu"])
        .args(parts.concat())
        .output()
        .expect("the program starts")
}

/// What is printed to stdout; the status must be the given one.
fn check(source: &str, parts: &[&[&str]], status: i32) -> String {
    let folder = folder(source);
    let output = check_in(folder.path(), parts);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(status), "{parts:?}: {stderr}{stdout}");
    stdout
}

/// Exactly one error on stderr, with the text in it, nothing on stdout, and status 2.
fn refused(source: &str, parts: &[&[&str]], text: &str) {
    let folder = folder(source);
    let output = check_in(folder.path(), parts);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{parts:?}: {stderr}");
    assert!(stderr.contains(text), "no `{text}` in: {stderr}");
    assert_eq!(stderr.lines().filter(|l| l.starts_with("error")).count(), 1, "{stderr}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn macros_come_from_either_option_and_the_last_one_wins() {
    let clean = "1 launch checked: nothing found";
    for macros in [
        &["-D", "BLOCK=64"][..],
        &["-DBLOCK=64"],
        &["--param", "BLOCK=64"],
        &["-D", "BLOCK=8", "-D", "BLOCK=64"],
        &["-D", "BLOCK=SIZE(32)", "-D", "SIZE(n)=(2 * n)"],
    ] {
        let text = check(SCALE, &[&LAUNCH, &HEADER, &SCALARS, macros], 0);
        assert!(text.contains(clean), "{macros:?}: {text}");
    }
    let small = check(SCALE, &[&LAUNCH, &HEADER, &SCALARS, &["-D", "BLOCK"]], 1);
    assert!(small.contains("`s[1]` is outside of `s`, which has 1 element"), "{small}");
}

#[test]
fn macros_with_mistakes() {
    let with = |macros: &[&str], text: &str| {
        refused(SCALE, &[&LAUNCH, &HEADER, &SCALARS, macros], text);
    };
    with(&[], "`BLOCK` is not declared");
    with(&[], "give it a value with `-D BLOCK=…`");
    with(&["-D", ""], "`` is not the name of a macro");
    with(&["-D", "1X=3", "-D", "BLOCK=64"], "`1X` is not the name of a macro");
    with(&["-D", "a b=3", "-D", "BLOCK=64"], "`a b` is not the name of a macro");
    with(&["--param", "BLOCK"], "`BLOCK` is not of the form NAME=VALUE");
    with(&["--param", "=64"], "`` is not the name of a macro");
    with(&["-D", "BLOCK="], "the shared array `s` needs a length");
    with(&["-D", "BLOCK=64)"], "scale.cu:5");
}

#[test]
fn headers_are_searched_in_the_folders_given() {
    let text = check(SCALE, &[&LAUNCH, &MACRO, &SCALARS, &["-I", "nowhere", "-I", "headers"]], 0);
    assert!(text.contains("nothing found"), "{text}");
    for folders in [&[][..], &["-I", "nowhere"], &["-I", "headers/offset.h"]] {
        let parts = [&LAUNCH[..], &MACRO, &SCALARS, folders];
        refused(SCALE, &parts, "give the folder it is in with `-I`");
    }
}

#[test]
fn scalars_are_tried_one_after_the_other() {
    let common: [&[&str]; 3] = [&LAUNCH, &HEADER, &MACRO];
    let with = |more: &'static [&'static str]| [&common[..], &[more]].concat();
    let text = check(SCALE, &with(&["--scalars", "1,64,100", "--arg", "a=2"]), 0);
    assert!(text.contains("3 launches checked: nothing found"), "{text}");
    let text = check(SCALE, &with(&["--scalars", "100,200", "--arg", "a=2"]), 1);
    assert!(text.contains("`x[100]` is outside of `x`"), "{text}");
    assert!(text.contains("with a=2, scalars=200"), "{text}");
    // A number below zero is no option; here the kernel's own assumption excludes it.
    let text = check(SCALE, &with(&["--scalars", "-5,100", "--arg", "a=2"]), 0);
    assert!(text.contains("scalars=-5: an assumption of the kernel is false"), "{text}");
    refused(SCALE, &with(&["--arg", "a=2"]), "scalar argument `n` has no value");
    refused(SCALE, &with(&["--scalars", "1,many", "--arg", "a=2"]), "`many` is not a whole number");
    refused(SCALE, &with(&["--scalars", "", "--arg", "a=2"]), "a number is missing");
    refused(SCALE, &with(&["--scalars", "1.5", "--arg", "a=2"]), "`1.5` is not a whole number");
}

#[test]
fn functions_of_the_file_are_given_by_name_or_tried_in_turn() {
    const PICKS: &str = "typedef float (*Pick)(const float *, int);
__device__ float own(const float *x, int i) { return x[i]; }
__device__ float right(const float *x, int i) { return x[i + 1]; }
__global__ void k(const float *x, float *y, Pick p, int only_own)
{
    __requires(p == own || p == right);
    __requires(!only_own || p == own);
    y[threadIdx.x] = p(x, threadIdx.x);
}
";
    let launch: &[&str] =
        &["--grid", "1", "--block", "8", "--arg", "x=float[8]", "--arg", "y=float[8]"];
    let with = |more: &'static [&'static str]| [launch, more].concat();
    let text = check(PICKS, &[&with(&["--arg", "only_own=0"])], 1);
    assert!(text.contains("2 launches checked: 1 finding"), "{text}");
    assert!(text.contains("with only_own=0, p=&right"), "{text}");
    let text = check(PICKS, &[&with(&["--arg", "only_own=1"])], 0);
    assert!(text.contains("p=&right: an assumption of the kernel is false"), "{text}");
    let text = check(PICKS, &[&with(&["--arg", "only_own=0", "--arg", "p=&own"])], 0);
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    let said = "argument `p` is no function that it may point to";
    refused(PICKS, &[&with(&["--arg", "only_own=0", "--arg", "p=&left"])], said);
}

#[test]
fn seeds_repeat_with_other_data_that_can_be_had_again() {
    // Two of a hundred integers are rarely equal: some seed finds it, not the first.
    let source =
        "__global__ void f(const int *x) { if (threadIdx.x == 0) __assert(x[0] % 4 != 1); }\n";
    let launch = ["--grid", "1", "--block", "32", "--arg", "x=int[4]=random"];
    let text = check(source, &[&launch, &["--seeds", "40"]], 1);
    assert!(text.contains("40 launches checked: 1 finding"), "{text}");
    let seed = text.split("seed=").nth(1).expect("a seed beyond the first").lines().next();
    let seed = seed.expect("a number").to_string();
    let again = check(source, &[&launch, &["--seed", &seed]], 1);
    assert!(again.contains("1 launch checked: 1 finding"), "{again}");
    assert_eq!(check(source, &[&launch, &["--seeds", "40"]], 1), text, "the same every time");
    for wrong in ["0", "-1", "many", "10001"] {
        refused(source, &[&launch, &[&format!("--seeds={wrong}")]], "--seeds");
    }
}

#[test]
fn a_dry_run_says_what_would_be_run() {
    let parts: [&[&str]; 4] = [
        &LAUNCH,
        &HEADER,
        &["-D", "BLOCK=8", "--arg", "a=2"],
        &["--scalars", "1,100", "--seeds", "2", "--dry-run"],
    ];
    let text = check(SCALE, &parts, 0);
    let expected = "\
would run: scale.cu: scale<<<2, 64>>> with a=2, scalars=1
would run: scale.cu: scale<<<2, 64>>> with a=2, scalars=100
would run: scale.cu: scale<<<2, 64>>> with a=2, scalars=1, seed=1
would run: scale.cu: scale<<<2, 64>>> with a=2, scalars=100, seed=1
4 launches planned, none run
";
    assert_eq!(text, expected);
    let text = check(SCALE, &[&parts[..], &[&["--format", "json"]]].concat(), 0);
    let json: serde_json::Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(json["verification"]["level"], "none");
    assert_eq!(json["planned"].as_array().map(Vec::len), Some(4));
    // What is wrong with the input is found without running.
    refused(SCALE, &[&parts[..], &[&["--arg", "y=1"]]].concat(), "has no parameter `y`");
    refused("", &[&["--dry-run"]], "empty");
}

#[test]
fn conditions_of_a_kernel_filter_its_inputs_and_are_checked() {
    let common: [&[&str]; 3] = [&LAUNCH, &HEADER, &MACRO];
    let with = |more: &'static [&'static str]| [&common[..], &[more]].concat();
    // Nothing was checked, which is no success.
    let text = check(SCALE, &with(&["--arg", "n=0", "--arg", "a=2"]), 2);
    assert!(text.contains("an assumption of the kernel is false"), "{text}");
    assert!(text.contains("exclude every launch"), "{text}");
    refused(
        SCALE,
        &with(&["--arg", "n=100", "--arg", "a=2", "--arg", "x=float[100]=iota"]),
        "argument `x` is given twice",
    );
    let ones = ["--grid", "2", "--block", "64", "--arg", "x=float[100]=iota"];
    let text = check(SCALE, &[&ones, &HEADER, &MACRO, &SCALARS], 1);
    assert!(text.contains("assertion `s[t] < 1.0f` failed"), "{text}");
    assert!(text.contains("scale.cu:8"), "{text}");
    for (wrong, text) in [
        ("__requires()", "`__requires` takes one condition"),
        ("__requires(n, 3)", "`__requires` takes one condition"),
        ("__requires(m > 0)", "`m` is not declared"),
        ("__requires(x[0].y)", "has no member `y`"),
    ] {
        let source = SCALE.replace("__requires(n > 0)", wrong);
        refused(&source, &[&LAUNCH, &HEADER, &MACRO, &SCALARS], text);
    }
}

#[test]
fn options_stand_in_directives_as_on_the_command_line() {
    let directive = "// warpsmith: grid=2 block=64 arg x=float[100]=random scalars=1,100 seeds=2 D BLOCK=64 -Iheaders arg a=2\n";
    let place = SCALE.find("__global__").expect("a kernel");
    let mut source = SCALE.to_string();
    source.insert_str(place, directive);
    let text = check(&source, &[], 0);
    assert!(text.contains("4 launches checked: nothing found"), "{text}");
    for (from, to, message) in [
        ("seeds=2", "seeds=0", "malformed directive"),
        ("D BLOCK=64", "D 6=64", "`6` is not the name of a macro"),
        ("scalars=1,100", "scalars=,", "a number is missing"),
        ("seeds=2", "seeds", "`seeds` is not understood"),
    ] {
        refused(&source.replace(from, to), &[&HEADER], message);
    }
}

const LAUNCHED: [&str; 4] = ["--grid", "1", "--block", "32"];

#[test]
fn data_that_nobody_gives_show_races_of_different_values() {
    let source = "__global__ void k(float *x, const float *y) { x[0] = y[threadIdx.x]; }";
    let text = check(source, &[&LAUNCHED], 1);
    assert!(text.contains("error[race-global]"), "{text}");
    let text = check(source, &[&LAUNCHED, &["--arg", "x=float[1]", "--arg", "y=float[32]"]], 1);
    assert!(text.contains("error[race-global]"), "{text}");
    let zeros = ["--arg", "x=float[1]", "--arg", "y=float[32]=zeros"];
    let text = check(source, &[&LAUNCHED, &zeros], 0);
    assert!(text.contains("note[race-benign]"), "{text}");
}

#[test]
fn findings_that_only_some_numbers_have_are_notes() {
    let source = "__global__ void k(float *x, const int *to) { x[to[threadIdx.x]] = threadIdx.x; }";
    let text = check(source, &[&LAUNCHED, &["--arg", "x=float[32]"]], 0);
    assert!(text.contains("note[race-global]"), "{text}");
    let text =
        check(source, &[&LAUNCHED, &["--arg", "x=float[32]", "--arg", "to=int[32]=zeros"]], 1);
    assert!(text.contains("error[race-global]"), "{text}");
}

#[test]
fn arrays_have_the_type_of_the_parameter() {
    let source = "__global__ void k(float *x, unsigned *u, float4 *v, unsigned char *b) { x[0] = u[0] + v[0].x + b[0]; }";
    let with = |arg: &'static str| -> Vec<&'static str> { vec!["--arg", arg] };
    let (one, x) = (["--grid", "1", "--block", "1"], with("x=int[64]=iota"));
    refused(source, &[&one, &x], "argument `x` is an array of int, and the kernel takes float");
    let x = with("x=double[64]");
    refused(source, &[&one, &x], "argument `x` is an array of double, and the kernel takes float");
    for fits in ["u=int[64]=iota", "v=float[64]", "b=float[4]"] {
        check(source, &[&one, &with(fits)], 0);
    }
}

#[test]
fn all_missing_numbers_are_named_at_once() {
    let source = "__global__ void k(float *x, int n, float a, unsigned m) { if (n < m) x[0] = a; }";
    let help = "scalar arguments `n`, `a`, `m` have no value";
    refused(source, &[&["--grid", "1", "--block", "1"]], help);
    // A value that only some of the types have is tried where it fits.
    check(source, &[&["--grid", "1", "--block", "1", "--scalars", "-1,4"]], 0);
}

#[test]
fn a_tolerance_holds_for_whole_numbers() {
    let folder =
        folder("__global__ void k(int *x) { x[threadIdx.x] = 100 * threadIdx.x + SHIFT; }");
    let run = |shift: &str, more: &[&str]| {
        let output =
            check_in(folder.path(), &[&LAUNCHED, &["--arg", "x=int[32]", "-D", shift], more]);
        output.status.code()
    };
    assert_eq!(run("SHIFT=0", &["--dump", "x=x.npy"]), Some(0));
    assert_eq!(run("SHIFT=1", &["--expect", "x=@x.npy"]), Some(1));
    assert_eq!(run("SHIFT=1", &["--expect", "x=@x.npy,1"]), Some(0));
    assert_eq!(run("SHIFT=3", &["--expect", "x=@x.npy,0.5"]), Some(1));
}

#[test]
fn a_missing_header_is_named_when_something_of_it_may_be_missing() {
    let source = "#include \"ours.h\"\n__global__ void k(float *x) { x[threadIdx.x] = 1; }";
    let text = check(source, &[&LAUNCHED], 0);
    assert!(text.contains("the header `ours.h` was not found"), "{text}");
    let source = source.replace("= 1", "= OURS(1)");
    let folder = folder(&source);
    let output = check_in(folder.path(), &[&LAUNCHED]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("`OURS` is not declared"), "{text}");
    assert!(text.contains("cannot include `ours.h`") && text.contains("sought as"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}

const RACE: &str = "// warpsmith: grid=1 block=32 arg x=float[1] arg y=float[32]
__global__ void race(float *x, float *y) { x[0] = y[threadIdx.x]; }
";

fn check_plainly(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .arg("check")
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn findings_of_a_baseline_are_known_where_lines_have_moved() {
    const STORE: &str = "    x[0] = y[threadIdx.x];\n";
    let text = RACE.replace("{ x[0] = y[threadIdx.x]; }", &format!("\n{{\n{STORE}}}"));
    let folder = folder(&text);
    let write = |text: &str| {
        std::fs::write(folder.path().join("scale.cu"), text).expect("a writable folder");
    };
    let check = |path: &str| check_plainly(folder.path(), &[path, "--baseline", "old.json"]);
    let (_, report) = check_plainly(folder.path(), &["scale.cu", "--format", "json"]);
    std::fs::write(folder.path().join("old.json"), &report).expect("a writable folder");
    let whole = folder.path().join("scale.cu");
    for path in ["./scale.cu", &whole.to_string_lossy()] {
        assert_eq!(check(path).0, 0, "{path}");
    }
    write(&format!("// A line more.\n\n{}", text.replace("x[0] = ", "  x[0]  =  ")));
    assert_eq!(check("scale.cu").0, 0);
    // A second one with the same text is new, and so is one in another kernel.
    write(&text.replace(STORE, &STORE.repeat(2)));
    let (status, report) = check("scale.cu");
    assert_eq!(status, 1, "{report}");
    write(&text.replace("void race", "void other"));
    assert_eq!(check("scale.cu").0, 1);
}

#[test]
fn findings_of_a_baseline_do_not_count() {
    let folder = folder(RACE);
    let (status, report) = check_plainly(folder.path(), &["scale.cu", "--format", "json"]);
    assert_eq!(status, 1, "{report}");
    std::fs::write(folder.path().join("old.json"), &report).expect("a writable folder");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--baseline", "old.json"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("in the baseline"), "{text}");
    let more = RACE.replace("x[0] =", "x[1] = 0; x[0] =");
    std::fs::write(folder.path().join("scale.cu"), more).expect("a writable folder");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--baseline", "old.json"]);
    assert_eq!(status, 1, "{text}");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--baseline", "scale.cu"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("is no report of `warpsmith check`"), "{text}");
}

#[test]
fn a_file_that_cannot_be_read_does_not_keep_a_folder_from_being_checked() {
    let folder = folder("// warpsmith: grid=1 block=32\n__global__ void f(int *x) { x[0] = ; }\n");
    std::fs::write(folder.path().join("zebra.cu"), RACE).expect("a writable folder");
    let (status, text) = check_plainly(folder.path(), &["."]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("scale.cu: not checked"), "{text}");
    std::fs::remove_file(folder.path().join("zebra.cu")).expect("a writable folder");
    assert_eq!(check_plainly(folder.path(), &["."]).0, 2);
}

#[test]
fn a_block_with_too_many_threads_is_a_finding() {
    let folder = folder(RACE);
    let options = ["scale.cu", "--kernel", "race", "--grid", "1", "--block", "2048"];
    let arguments = ["--arg", "x=float[1]", "--arg", "y=float[2048]"];
    let (status, text) = check_plainly(folder.path(), &[&options[..], &arguments[..]].concat());
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("error[invalid-launch]"), "{text}");
}

/// A program whose size comes from what is not there, by its return value or by a pointer, also on its way through others.
const SIZED_ELSEWHERE: &str = "\
__global__ void twice(float *x, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] *= m;
}
int main()
{
    int first = 0, n = size_of_file(\"x\"), last = 1;
    int times, factor;
    read_options(&times, &factor);
    int m = factor;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    for (int i = first; i < times + last - 1; i++) twice<<<(n + 63) / 64, 64>>>(x, n, m);
    return cudaDeviceSynchronize();
}
";

#[test]
fn variables_of_the_host_get_values_where_nothing_gives_them() {
    let folder = folder(SIZED_ELSEWHERE);
    let (status, text) = check_plainly(
        folder.path(),
        &["scale.cu", "--arg", "n=100", "--arg", "times=2", "--arg", "factor=3"],
    );
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("`x[100]` is outside of `x`, which has 100 elements"), "{text}");
    assert!(text.contains("2 launches checked: 1 finding"), "{text}");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--arg", "size=100"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("there is no variable or parameter `size`"), "{text}");
}

/// Two instances of a kernel, for lambdas, of which the second races, and a kernel that is out of bounds.
const LAUNCHED_BY_HOST: &str = "\
template <typename F> __global__ void each(int *x, F f) { x[threadIdx.x] = f(threadIdx.x); }
__global__ void beyond(int *x) { x[threadIdx.x + 1] = 0; }
int main()
{
    int *x, k = 3;
    cudaMalloc(&x, 32 * sizeof(int));
    each<<<1, 32>>>(x, [=] __device__(int i) { return k * i; });
    each<<<1, 32>>>(x, [=] __device__(int i) { return x[31 - i]; });
    beyond<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}
";

#[test]
fn a_kernel_of_the_host_code_is_looked_at_alone() {
    let folder = folder(LAUNCHED_BY_HOST);
    let (status, text) = check_plainly(folder.path(), &["scale.cu"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("3 launches checked: 2 findings"), "{text}");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--kernel", "beyond"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("1 launch checked: 1 finding"), "{text}");
    assert!(text.contains("error[out-of-bounds]"), "{text}");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--kernel", "each"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("2 launches checked: 1 finding"), "{text}");
    // As the report names the instance.
    let name = text.split("scale.cu:8: ").nth(1).and_then(|t| t.split("<<<").next());
    let name = name.expect("the launch is named");
    assert!(name.starts_with("each<lambda"), "{text}");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--kernel", name]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("1 launch checked: 1 finding"), "{text}");
    let (status, text) = check_plainly(folder.path(), &["scale.cu", "--kernel", "each<lambda9>"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("the host code of `scale.cu` launches no `each<lambda9>`"), "{text}");
}

/// A texture reference, an object and a surface.
const TEXTURES: &str = "\
texture<float, 2, cudaReadModeElementType> old;
__global__ void copy(float *x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] = tex2D(old, threadIdx.x + 0.5f, 1.5f);
}
__global__ void clear(cudaSurfaceObject_t image) { surf2Dwrite(0, image, threadIdx.x * 4, 1); }
";

#[test]
fn textures_and_surfaces_are_given_like_arrays() {
    let folder = folder(TEXTURES);
    let launch = ["scale.cu", "--grid", "1", "--block", "8", "--kernel"];
    let run = |kernel: &str, more: &[&str]| {
        check_plainly(folder.path(), &[&launch[..], &[kernel], more].concat())
    };
    let arrays = ["--arg", "x=float[8]", "--arg", "n=8", "--arg", "old=float[2][8]=iota"];
    let (status, text) = run("copy", &[&arrays[..], &["--dump", "x=x.npy"]].concat());
    assert_eq!(status, 0, "{text}");
    let bytes = std::fs::read(folder.path().join("x.npy")).expect("the array was written");
    let values: Vec<u8> = (8..16u8).flat_map(|v| f32::from(v).to_le_bytes()).collect();
    assert!(bytes.ends_with(&values));
    let (status, text) = run("clear", &[]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("the surface `image` has no texels"), "{text}");
    let (status, text) = run("clear", &["--arg", "image=int[2][7]"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("error[assert-failed]"), "{text}");
    let (status, text) = run("clear", &["--arg", "image=int[2][8]"]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn numbers_that_are_tried_are_true_for_flags() {
    let source = "\
__global__ void scale(float *x, int n, bool twice)
{
    if (threadIdx.x < n) x[twice ? n + 64 : threadIdx.x] = 1.0f;
}
";
    let folder = folder(source);
    let launch = ["scale.cu", "--grid", "1", "--block", "32", "--arg", "x=float[64]"];
    let (status, text) =
        check_plainly(folder.path(), &[&launch[..], &["--scalars", "33"]].concat());
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("`x[97]` is outside of `x`"), "{text}");
}
