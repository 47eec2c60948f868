//! Launches from host code: what is run, what is named, and what options fill in.

#[path = "host_code/choices.rs"]
mod choices;
#[path = "host_code/headers.rs"]
mod headers;
#[path = "host_code/in_flight.rs"]
mod in_flight;
#[path = "host_code/lost.rs"]
mod lost;
#[path = "host_code/memory.rs"]
mod memory;
#[path = "host_code/sizes.rs"]
mod sizes;
#[path = "host_code/waiting.rs"]
mod waiting;

use std::process::{Command, Output};

const KERNEL: &str = r#"
__global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = a * x[i];
}
"#;

fn run(source: &str, options: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.cu"), source).expect("a writable folder");
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .args(["check", "a.cu"])
        .args(options)
        .output()
        .expect("the program starts")
}

/// What is printed; the status must be the given one.
fn check(source: &str, options: &[&str], status: i32) -> String {
    let output = run(source, options);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

fn program(body: &str) -> String {
    format!("{KERNEL}int main(int argc, char **argv)\n{{\n{body}\n}}\n")
}

#[test]
fn a_launch_in_a_loop_is_run_each_time_and_listed_once() {
    let body = "float *x; cudaMalloc(&x, 400); cudaMemset(x, 0, 400);
        for (int i = 0; i < 5; i++) scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&program(body), &["--format", "json"], 0);
    assert!(text.contains("scale<<<4, 32>>> (5 times)"), "{text}");
    assert!(check(&program(body), &[], 0).contains("5 launches checked: nothing found"));
}

#[test]
fn a_program_of_several_processes_is_run_with_one() {
    let body = "int rank, size; MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
        int n = 128 / size; float h[128], sum = 0, total = 0;
        #pragma omp parallel
        { for (int i = 0; i < n; i++) h[i] = i + rank; }
        float *x; cudaMalloc(&x, n * sizeof(float));
        cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
        scale<<<n / 32, 32>>>(x, 2.0f, n);
        cudaMemcpy(h, x, n * sizeof(float), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) sum += h[i];
        MPI_Allreduce(&sum, &total, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (total == 127 * 128) scale<<<2, 32>>>(x, 2.0f, 64);
        MPI_Finalize();";
    let text = check(&format!("#include <mpi.h>\n{}", program(body)), &[], 0);
    assert_eq!(text.trim(), "2 launches checked: nothing found");
}

#[test]
fn kernels_and_launches_are_listed() {
    let body = "float *x; cudaMalloc(&x, 400);\n    scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&program(body), &["--list"], 0);
    assert_eq!(text, "a.cu:2: kernel scale\na.cu:10: launch of scale in main\n");
}

#[test]
fn host_code_is_not_run_when_it_is_not_wanted() {
    let body = "float *x; cudaMalloc(&x, 400); scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&program(body), &["--host", "none"], 2);
    assert!(text.contains("says nowhere how to launch its kernels"), "{text}");
}

/// Gets its size from a library that is not known.
const UNKNOWN: &str = "int n; size_of_model(argv[1], &n);
    float *x; cudaMalloc(&x, n * sizeof(float)); cudaMemset(x, 0, n * sizeof(float));
    scale<<<(n + 31) / 32, 32>>>(x, 2.0f, n);";

#[test]
fn a_launch_that_needs_what_is_not_understood_is_refused_by_name() {
    let text = check(&program(UNKNOWN), &[], 2);
    assert!(text.contains("launches nothing that could be run"), "{text}");
    assert!(text.contains("`n` is not known here"), "{text}");
    assert!(text.contains("`size_of_model` is not declared"), "{text}");
}

#[test]
fn an_option_gives_a_variable_of_the_host() {
    let text = check(&program(UNKNOWN), &["--arg", "n=100"], 0);
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    let text = check(&program(UNKNOWN), &["--arg", "m=100"], 2);
    assert!(text.contains("there is no variable or parameter `m`"), "{text}");
}

#[test]
fn one_launch_that_is_lost_is_no_success() {
    let body = format!(
        "float *y; cudaMalloc(&y, 128); cudaMemset(y, 0, 128); scale<<<1, 32>>>(y, 2.0f, 32);\n{UNKNOWN}"
    );
    let text = check(&program(&body), &[], 2);
    assert!(text.contains("a launch was not run"), "{text}");
    assert!(text.contains("the run is not complete"), "{text}");
}

#[test]
fn a_last_launch_that_is_not_understood_is_no_success() {
    let body =
        "float *x; cudaMalloc(&x, 128); cudaMemset(x, 0, 128); scale<<<1, 32>>>(x, 2.0f, 32);
        scale<<<1, 32>>>(unheard, 2.0f, 32);";
    let text = check(&program(body), &[], 2);
    assert!(text.contains("a launch was not run"), "{text}");
}

#[test]
fn arguments_of_the_program_come_from_the_options_or_are_invented() {
    let body = "if (argc != 2) { fprintf(stderr, \"usage: %s n\\n\", argv[0]); return 1; }
        int n = atoi(argv[1]);
        float *x; cudaMalloc(&x, n * sizeof(float)); cudaMemset(x, 0, n * sizeof(float));
        scale<<<(n + 31) / 32, 32>>>(x, 2.0f, n);";
    let text = check(&program(body), &[], 0);
    assert!(text.contains("the program wants arguments; it was run with `16`"), "{text}");
    let text = check(&program(body), &["--host-args", "100", "--format", "json"], 0);
    assert!(text.contains("scale<<<4, 32>>>"), "{text}");
}

#[test]
fn a_makefile_says_what_a_program_is_run_with() {
    let body = "if (argc != 3 || atoi(argv[1]) != 321) { fprintf(stderr, \"usage: %s key n\\n\", argv[0]); return 1; }
        int n = atoi(argv[2]);
        float *x; cudaMalloc(&x, n * sizeof(float)); cudaMemset(x, 0, n * sizeof(float));
        scale<<<(n + 31) / 32, 32>>>(x, 2.0f, n);";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.cu");
    std::fs::write(&file, program(body)).expect("a file");
    std::fs::write(folder.path().join("Makefile"), "run: main\n\t./main 321 70\n").expect("a file");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .arg("check")
        .arg(&file)
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("it was run with `321 70`"), "{text}");
}

#[test]
fn data_that_host_code_cannot_give_are_invented_and_defined() {
    let body =
        "float *h = (float *)malloc(400), *x; readFile(argv[1], h, 100); cudaMalloc(&x, 400);
        cudaMemcpy(x, h, 400, cudaMemcpyHostToDevice); scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&program(body), &[], 0);
    assert!(text.contains("`readFile` is not declared"), "{text}");
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
}

#[test]
fn a_call_that_is_not_known_may_fill_memory_of_the_device() {
    let body =
        "float *x; cudaMalloc(&x, 400); fillOnDevice(x, 100); scale<<<4, 32>>>(x, 2.0f, 100);";
    check(&program(body), &[], 0);
}

#[test]
fn what_an_unknown_macro_is_given_is_called() {
    let body = "float *x; CHECK_IT(cudaMalloc(&x, 400)); CHECK_IT(cudaMemset(x, 0, 400));
        scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&program(body), &[], 0);
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
}

#[test]
fn findings_that_hang_on_invented_numbers_are_notes() {
    let source =
        "__global__ void scatter(const int *to, int *x) { x[to[threadIdx.x]] = threadIdx.x; }
        int main() { int *to, *x, h[32]; readFile(h); cudaMalloc(&to, 128); cudaMalloc(&x, 128);
        cudaMemcpy(to, h, 128, cudaMemcpyHostToDevice); scatter<<<1, 32>>>(to, x); }";
    let text = check(source, &[], 0);
    assert!(text.contains("note[race-global]"), "{text}");
}

const CONSTANT: &str = "__constant__ float weight[4];
__device__ int count;
__global__ void apply(float *x) { x[threadIdx.x] = weight[threadIdx.x & 3] * count; }
void start() { int n = 5; cudaMemcpyToSymbol(count, &n, sizeof n); }
";

#[test]
fn variables_of_the_device_are_given_by_options() {
    let launch = ["--grid", "1", "--block", "4", "--arg", "x=float[4]"];
    let with = |more: &[&'static str]| [&launch[..], more].concat();
    let given = ["--arg", "weight={1, 2, 3, 4}", "--arg", "count=2"];
    let text = check(CONSTANT, &with(&given), 0);
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    check(CONSTANT, &with(&["--arg", "weight=float[4]=iota", "--arg", "count=2"]), 0);
    // Each is one finding, named for what it is; that of `count` because host code would have set it.
    let text = check(CONSTANT, &with(&given[2..]), 1);
    assert!(
        text.contains("the constant `weight` is used in a store, and nothing has set it"),
        "{text}"
    );
    assert!(text.contains("1 finding"), "{text}");
    let text = check(CONSTANT, &with(&given[..2]), 1);
    assert!(text.contains("the device variable `count` is used in a store, and nothing"), "{text}");
    let text = check(CONSTANT, &with(&["--arg", "weight={1, 2}"]), 2);
    assert!(text.contains("variable `weight`: it has 4 values, not 2"), "{text}");
    let text = check(CONSTANT, &with(&["--arg", "weight=int[4]"]), 2);
    assert!(text.contains("its type or extent is another one"), "{text}");
    let text = check(CONSTANT, &with(&["--arg", "wieght=1"]), 2);
    assert!(text.contains("variables of the device are weight, count"), "{text}");
}

#[test]
fn a_directive_gives_variables_of_the_device() {
    let source = format!(
        "// warpsmith: grid=1 block=4 kernel=apply arg x=float[4] arg weight=random arg count=3\n{CONSTANT}"
    );
    check(&source, &[], 0);
}

const HEADER: &str = "#ifndef PARTS_H\n#define PARTS_H\nstruct Range { int from, to; };
extern __constant__ float factor[4];\n__device__ float twice(float x);
void setup(float f);\nvoid run(float *x, Range r);\n#endif\n";
const MAIN: &str =
    "#include \"parts.h\"\n#include <stdlib.h>\nstatic int blocks(int n) { return n; }
int main(int argc, char **argv)\n{\n    int n = atoi(argv[1]);\n    float *x;
    cudaMalloc(&x, n * sizeof(float));\n    cudaMemset(x, 0, n * sizeof(float));
    setup(3.0f);\n    Range r = { 0, blocks(n) };\n    run(x, r);\n}\n";
const KERNELS: &str = "#include \"parts.h\"\n__constant__ float factor[4];
static int blocks(int n) { return (n + 31) / 32; }
__global__ void scale(float *x, Range r)\n{\n    int i = r.from + blockIdx.x * 32 + threadIdx.x;
    if (i LESS r.to) x[i] = twice(x[i]) * factor[1];\n}
void setup(float f) { float all[4] = { f, f, f, f }; cudaMemcpyToSymbol(factor, all, sizeof(all)); }
void run(float *x, Range r) { scale<<<blocks(r.to), 32>>>(x, r); }\n";
const DEVICE: &str = "#include \"parts.h\"\nstatic int blocks(int n) { return 0; }
__device__ float twice(float x) { return x + x + blocks(0); }\n";

/// Runs `check` in a folder of three files that are one program; `less` is how the kernel compares.
fn check_parts(less: &str, args: &[&str], status: i32) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kernels = KERNELS.replace("LESS", less);
    let device = DEVICE.replace("static int blocks", "static __device__ int blocks");
    let files =
        [("parts.h", HEADER), ("main.cu", MAIN), ("kernels.cu", &kernels), ("device.cu", &device)];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a writable folder");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    let command = command.current_dir(folder.path()).env("NO_COLOR", "1").arg("check").args(args);
    let output = command.output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

/// However the files are named, all are one program that is run once: static functions of one name stay apart, the variable
/// that one file declares is the one that another defines, and arguments that nobody gave are invented.
#[test]
fn files_that_need_each_other_are_one_program() {
    let ways: [&[&str]; 4] =
        [&["main.cu", "kernels.cu", "device.cu"], &["main.cu"], &["kernels.cu"], &["."]];
    for args in ways {
        let text = check_parts("<", args, 0);
        assert!(text.contains("1 launch checked: nothing found"), "{args:?}: {text}");
        assert!(text.contains("main.cu") && text.contains("device.cu"), "{text}");
    }
    let given: Vec<&str> = vec!["main.cu", "--host-args", "40"];
    let text = check_parts("<=", &given, 1);
    assert!(text.contains("out-of-bounds") && text.contains("kernels.cu:7"), "{text}");
}

#[test]
fn what_is_read_from_files_is_invented_and_said() {
    let body = "int n, m = 0; FILE *f = fopen(\"sizes.txt\", \"r\"); if (!f) exit(1);
        if (fscanf(f, \"%d\", &n) != 1) return 1;
        float *h = (float *)malloc(n * sizeof(float)), v;
        while (fscanf(f, \"%f\", &v) != EOF) { if (m < n) h[m] = v; m++; }
        fclose(f); float *x; cudaMalloc(&x, n * sizeof(float));
        cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
        scale<<<(n + 31) / 32, 32>>>(x, 2.0f, n);";
    let text = check(&program(body), &[], 0);
    assert!(text.contains("the file \"sizes.txt\" is not read"), "{text}");
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    // Too short by one: the size is invented, and the kernel is wrong all the same.
    let wrong = body.replace("cudaMalloc(&x, n", "cudaMalloc(&x, (n - 1)");
    assert!(check(&program(&wrong), &[], 1).contains("out-of-bounds"));
}

#[test]
fn a_benchmark_ends_and_says_what_it_did_not_repeat() {
    let body = "int n = 1 << 17; float *x; cudaMalloc(&x, n * sizeof(float)); cudaMemset(x, 0, n * sizeof(float));
        for (int i = 0; i < 1000; i++) scale<<<n / 256, 256>>>(x, 1.0f, n);";
    // Zeros stay zeros: what every launch does is known from the first ones.
    let text = check(&program(body), &["--format", "json"], 0);
    assert!(text.contains("scale<<<512, 256>>> (1000 times)"), "{text}");
    assert!(text.contains("\"not_repeated\":[]"), "{text}");
}

#[test]
fn a_field_that_is_not_known_leaves_the_others_known() {
    let body =
        "struct { int n; float a; } s; s.n = 32; float u; size_of_model(argv[1], &u); s.a = u;
        float *x; cudaMalloc(&x, 128); cudaMemset(x, 0, 128); scale<<<1, 32>>>(x, 2.0f, s.n);";
    assert!(check(&program(body), &[], 0).contains("1 launch checked: nothing found"));
}

/// As many blocks as a grid may have, of which the last ones write behind the array.
const HUGE: &str = r#"
__global__ void ends(int *x, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 64) x[i] = 1;
    if (i >= n) x[1000] = 2;
}
"#;

#[test]
fn a_launch_that_is_too_large_is_run_in_part_and_that_is_said() {
    let launch = |n: &str| {
        let host = format!(
            "int main() {{ int *x; cudaMalloc(&x, 400); ends<<<2147483647, 32>>>(x, {n}); }}"
        );
        format!("{HUGE}{host}\n")
    };
    let text = check(&launch("1LL << 40"), &[], 3);
    assert!(text.contains("run in part: a.cu:8: ends<<<2147483647, 32>>>: "), "{text}");
    assert!(text.contains(" of 2147483647 blocks were run"), "{text}");
    let text = check(&launch("2147483646LL * 32"), &["--format", "json"], 1);
    assert!(text.contains("out-of-bounds") && text.contains("\"complete\":false"), "{text}");
    let options =
        ["--kernel", "ends", "--grid", "2147483647", "--block", "32", "--arg", "x=int[100]"];
    let text = check(HUGE, &[&options[..], &["--arg", "n=1099511627776"]].concat(), 3);
    assert!(text.contains("run in part: "), "{text}");
}

const NAMED_HEADER: &str = "#pragma once\nnamespace sim {\nstruct Grid { int n; };
void step(const Grid &g, float *x);\nextern __device__ int steps;\n}\n";
const NAMED_MAIN: &str =
    "#include \"named.h\"\nnamespace sim { static int blocks(int n) { return n; } }
int main()\n{\n    sim::Grid g = { 40 };\n    float *x;
    cudaMalloc(&x, sim::blocks(g.n) * sizeof(float));\n    cudaMemset(x, 0, g.n * sizeof(float));
    sim::step(g, x);\n    int all;\n    cudaMemcpyFromSymbol(&all, sim::steps, sizeof(int));
    cudaFree(x);\n    return all;\n}\n";
const NAMED_KERNELS: &str = "#include \"named.h\"\nnamespace sim {\n__device__ int steps = 0;
namespace {\n__global__ void advance(Grid g, float *x)\n{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i LESS g.n) x[i] += 1.0f;\n    if (i == 0) atomicAdd(&steps, 1);\n}\n}
static int blocks(int n) { return (n + 31) / 32; }
void step(const Grid &g, float *x) { advance<<<blocks(g.n), 32>>>(g, x); }\n}\n";

/// What files have in a namespace of one name they find of each other, and static functions in it stay apart.
#[test]
fn files_share_their_namespaces() {
    for (less, status, said) in
        [("<", 0, "1 launch checked: nothing found"), ("<=", 1, "out-of-bounds")]
    {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let kernels = NAMED_KERNELS.replace("LESS", less);
        for (name, text) in
            [("named.h", NAMED_HEADER), ("main.cu", NAMED_MAIN), ("kernels.cu", kernels.as_str())]
        {
            std::fs::write(folder.path().join(name), text).expect("a writable folder");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
        let command = command.current_dir(folder.path()).args(["check", "main.cu"]);
        let output = command.output().expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(output.status.code(), Some(status), "{text}");
        assert!(text.contains(said), "{text}");
    }
}

/// A program that has thrust do everything has nothing that is checked, and that is said.
#[test]
fn algorithms_without_a_kernel_are_nothing_to_check() {
    let program = "#include <thrust/device_vector.h>\n#include <thrust/transform.h>
struct Twice { __device__ float operator()(float x) const { return 2 * x; } };
int main()\n{\n    thrust::device_vector<float> v(100);
    thrust::transform(v.begin(), v.end(), v.begin(), Twice());\n}\n";
    let text = check(program, &[], 2);
    assert!(text.contains("the file has no kernel"), "{text}");
    assert!(text.contains("run kernels of their libraries, with its functors"), "{text}");
    let plain = check("int main() { return 0; }", &[], 2);
    assert!(!plain.contains("thrust"), "{plain}");
}

/// What an unknown method may have changed is not taken for known: the array would have no elements.
#[test]
fn objects_of_methods_that_are_left_out_are_not_known() {
    let body = "std::vector<float> h; fill_by_magic(h.size()), h.push_back(unknown_value());
        float *x; cudaMalloc(&x, h.size() * sizeof(float)); scale<<<1, 32>>>(x, 2.0f, 32);";
    let source = format!("#include <vector>\n{}", program(body));
    let text = check(&source, &[], 0);
    assert!(text.contains("host code was left out"), "{text}");
}

/// Clusters as a launch asks for them; `BLOCKS` is the grid.
const CLUSTERED: &str = r#"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void exchange(int *out)
{
    extern __shared__ int s[];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = cluster.thread_rank();
    cluster.sync();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    out[blockIdx.x * blockDim.x + threadIdx.x] = cluster.map_shared_rank(s, next)[threadIdx.x];
    LAST
}
int main()
{
    const int blocks = BLOCKS, threads = 32;
    int *out;
    cudaMalloc(&out, blocks * threads * sizeof(int));
    cudaLaunchConfig_t config = {0};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = threads * sizeof(int);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, exchange, out);
    int h[64];
    cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
    if (h[0] != 32 || h[127 % 64] != 95) return 1;
    return 0;
}
"#;

#[test]
fn a_launch_says_how_large_clusters_are() {
    let source =
        |blocks: &str, last: &str| CLUSTERED.replace("BLOCKS", blocks).replace("LAST", last);
    let text = check(&source("8", "cluster.sync();"), &[], 0);
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    let text = check(&source("8", ""), &[], 1);
    assert!(text.contains("dangling") && text.contains("shared memory of another block"), "{text}");
    let text = check(&source("6", "cluster.sync();"), &[], 1);
    assert!(text.contains("the grid [6, 1, 1] is no multiple of the cluster [4, 1, 1]"), "{text}");
}

#[test]
fn a_header_that_is_missing_is_named_where_host_code_may_want_it() {
    let body = "settings s = settings_of(argc); float *x; cudaMalloc(&x, 400); scale<<<4, 32>>>(x, s.factor, s.n);";
    let text = check(&format!("#include \"mine.h\"\n{}", program(body)), &[], 2);
    assert!(text.contains("launches nothing that could be run"), "{text}");
    assert!(text.contains("cannot include `mine.h`") && text.contains("with `-I`"), "{text}");

    let body = "show_banner(); float *x; cudaMalloc(&x, 400); cudaMemset(x, 0, 400); scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&format!("#include \"mine.h\"\n{}", program(body)), &[], 0);
    assert!(text.contains("assumed: cannot include `mine.h`"), "{text}");

    let body =
        "float *x; cudaMalloc(&x, 400); cudaMemset(x, 0, 400); scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&format!("#include \"mine.h\"\n{}", program(body)), &[], 0);
    assert!(text.contains("was not found, and nothing of it is needed"), "{text}");
}

#[test]
fn small_arguments_have_their_turn_as_soon_as_a_program_is_seen_to_be_slow() {
    let body = "int n = argc > 1 ? atoi(argv[1]) : 1 << 26;
        float *h = (float *)malloc(n * sizeof(float));
        for (int i = 0; i < n; i++) h[i] = i * 0.5f + 1;
        for (int round = 0; round < 256; round++)
            for (int i = 0; i < n; i++) h[i] = h[i] * 0.5f + 1;
        float *x; cudaMalloc(&x, n * sizeof(float));
        cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
        scale<<<(n + 255) / 256, 256>>>(x, 2.0f, n);";
    let text = check(&format!("#include <cstdlib>\n{}", program(body)), &[], 0);
    assert!(text.contains("its own sizes take too long; it was run with `64"), "{text}");
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    // One that takes five or none.
    let five = format!("if (argc != 1 && argc != 6) return 1;\n{body}");
    let text = check(&format!("#include <cstdlib>\n{}", program(&five)), &[], 0);
    assert!(text.contains("it was run with `16 16 16 16 16`"), "{text}");
}

/// C++ says that such a variable is zero; who wrote it hardly means that.
#[test]
fn variables_that_nothing_sets_are_named() {
    let kernels = "__device__ float factor;
        __global__ void k(float *x) { x[threadIdx.x] *= factor; }
        __global__ void sets() { factor = 2.0f; }";
    let launches = |before: &str| {
        let start = "float *x; cudaMalloc(&x, 128); cudaMemset(x, 0, 128); float two = 2.0f;";
        let end = "k<<<1, 32>>>(x); return two > 3.0f;";
        format!("{kernels}\nint main() {{ {start} {before} {end} }}\n")
    };
    let said = "nothing sets `factor`, which kernels read: it holds zeros";
    let never = check(&launches(""), &[], 0);
    assert!(never.contains(&format!("assumed: a.cu: {said}")), "{never}");
    for sets in ["cudaMemcpyToSymbol(factor, &two, sizeof(float));", "sets<<<1, 1>>>();"] {
        let set = check(&launches(sets), &[], 0);
        assert!(!set.contains(said), "{set}");
    }
    let given = check(&launches(""), &["--arg", "factor=3"], 0);
    assert!(!given.contains(said), "{given}");
    let launch =
        ["--host", "none", "--kernel", "k", "--grid", "1", "--block", "32", "--arg", "x=float[32]"];
    let alone = check(kernels, &launch, 0);
    assert!(alone.contains(said), "{alone}");
}

/// With a second argument the program does something else.
#[test]
fn an_argument_more_is_tried_where_it_reaches_another_kernel() {
    let text = "#include <cstdlib>
__global__ void pack(int *x, int n) { int i = threadIdx.x; if (i <= n) x[i] = i; }
__global__ void unpack(int *x, int n) { int i = threadIdx.x; if (i < n) x[i] = -i; }
int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3) return 1;
    int n = atoi(argv[1]), *x;
    cudaMalloc(&x, n * sizeof(int));
    if (argc == 3) pack<<<1, 64>>>(x, n);
    else unpack<<<1, 64>>>(x, n);
}
";
    let found = check(text, &[], 1);
    assert!(
        found.contains("it was also run with `16 16`, which launches other kernels"),
        "{found}"
    );
    assert!(found.contains("error[out-of-bounds]"), "{found}");
    let right = check(&text.replace("i <= n", "i < n"), &[], 0);
    assert!(right.contains("nothing found") && !right.contains("was not launched"), "{right}");
}

/// Sixteen elements are divided to no block at all; with 1024 the kernel is launched, and what it does wrong is found with 2048 as well.
#[test]
fn a_number_that_makes_no_block_is_no_choice() {
    let text = "#include <cstdlib>
__global__ void sum(const float *x, float *y)
{
    __shared__ float all;
    if (threadIdx.x == 0) all = 0;
    atomicAdd(&all, x[blockIdx.x * 128 + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = all;
}
__global__ void last(float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] *= 0.5f; }
int main(int argc, char **argv)
{
    if (argc != 2) return 1;
    int n = atoi(argv[1]);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float)); cudaMalloc(&y, 1 + n / 128 * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    sum<<<n / 128, 128>>>(x, y);
    last<<<1, 32>>>(y, n / 128);
}
";
    let found = check(text, &[], 1);
    assert!(found.contains("it was run with `1024`"), "{found}");
    assert!(found.contains("error[race-shared]"), "{found}");
    let barrier = "all = 0;\n    __syncthreads();";
    let right = check(&text.replace("all = 0;", barrier), &[], 0);
    assert!(right.contains("nothing found"), "{right}");
}
