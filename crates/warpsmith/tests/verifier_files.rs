//! Files for verifiers: launches in their first lines, numbers and functions that they leave open.

use std::process::Command;

/// What is printed; the status must be the given one.
fn check(source: &str, options: &[&str], status: i32) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.cu"), source).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command.current_dir(folder.path()).env("NO_COLOR", "1");
    let output = command.args(["check", "a.cu"]).args(options).output().expect("it starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

/// A file that says its launch, 64 threads of one block.
fn file(text: &str) -> String {
    format!("//pass\n//--blockDim=64 --gridDim=1\n{text}")
}

/// Files for verifiers say how they are launched in their first lines, and their conditions what numbers are.
#[test]
fn options_of_verifiers_are_launches() {
    let kernel = |to: &str| {
        format!(
            "//pass\n//--blockDim=[8,4] --gridDim=2 --no-inline
__global__ void f(int *p, unsigned n)\n{{\n    __requires(n == 64);
    unsigned i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    p[{to}] = i;\n    __assert(i < n);\n}}\n"
        )
    };
    let text = check(&kernel("i"), &[], 0);
    assert!(text.contains("nothing found"), "{text}");
    assert!(check(&kernel("i / 2"), &[], 1).contains("race-global"));
}

/// Numbers that conditions of one kernel name belong to its parameters, each to its own; structures are tried with numbers, too.
#[test]
fn conditions_of_verifiers_give_each_parameter_its_number() {
    let kernel = |index: &str| {
        format!(
            "//pass\n//--blockDim=64 --gridDim=1
struct Pair {{ unsigned a; float b; }};
__global__ void f(int *p, int n, int m, Pair more)\n{{\n    __requires((n == 13) && 48 == m);
    __requires(more.a > 1);
    if (threadIdx.x < m + more.b) p[{index}] = threadIdx.x;\n}}\n"
        )
    };
    let text = check(&kernel("threadIdx.x * n"), &[], 0);
    assert!(text.contains("nothing found"), "{text}");
    let text = check(&kernel("threadIdx.x / n"), &[], 1);
    assert!(text.contains("race-global") && text.contains("n=13, m=48"), "{text}");
}

/// `--warp-sync=32` means warps in lockstep; other sizes say nothing of warps of 32 threads.
#[test]
fn warps_of_verifiers_may_execute_in_lockstep() {
    let kernel = |options: &str| {
        format!(
            "//pass\n//--gridDim=1 {options}
__global__ void shift(int *a)\n{{
    if (threadIdx.x % 16 > 0) a[threadIdx.x] = a[threadIdx.x - 1] + a[threadIdx.x];\n}}\n"
        )
    };
    check(&kernel("--blockDim=64 --warp-sync=32"), &[], 0);
    check(&kernel("--blockDim=[4,4] --warp-sync=16"), &[], 0);
    check(&kernel("--blockDim=64 --warp-sync=8"), &[], 1);
    check(&kernel("--blockDim=64"), &[], 1);
}

/// `--only-warp` asks about the lanes of warps in lockstep alone; without lockstep it is not taken.
#[test]
fn verifiers_may_ask_about_single_warps() {
    let kernel = |options: &str, to: &str| {
        format!(
            "//pass\n//--blockDim=64 --gridDim=2 {options}\n__global__ void f(int *a)\n{{\n    a[{to}] = threadIdx.x;\n    a[{to} + 1] = threadIdx.x;\n}}\n"
        )
    };
    let text = check(&kernel("--warp-sync=32 --only-warp", "threadIdx.x"), &[], 0);
    assert!(text.contains("races between threads of different warps were not looked for"));
    for (options, to) in [
        ("--warp-sync=32 --only-warp", "threadIdx.x / 2"),
        ("--warp-sync=32", "threadIdx.x"),
        ("--only-warp", "threadIdx.x"),
    ] {
        assert!(check(&kernel(options, to), &[], 1).contains("race-global"), "{options} {to}");
    }
}

/// Files for verifiers leave out the bodies of what may be arbitrary; in programs that is a file that is missing.
#[test]
fn functions_without_bodies_are_arbitrary_for_verifiers() {
    let kernel = "struct S { int a; };
__device__ int arbitrary();
__device__ void done(S s);
__global__ void f(int *p)\n{
    while (arbitrary()) p[threadIdx.x] = 1;
    S s = { p[threadIdx.x] };
    done(s);\n}\n";
    let text = check(&format!("//pass\n//--blockDim=64 --gridDim=1\n{kernel}"), &[], 0);
    assert!(text.contains("`arbitrary` has no body") && text.contains("`done` has no body"));
    let text = check(kernel, &["--grid", "1", "--block", "64"], 2);
    assert!(text.contains("W069"), "{text}");
}

/// What CUDA has under the name of a declaration is called, here as anywhere.
#[test]
fn functions_of_cuda_may_be_declared() {
    let kernel = "__device__ float sqrtf(float x);
extern \"C\" __device__ unsigned __umulhi(unsigned a, unsigned b);
__device__ int atomicAdd(int *p, int v);
__global__ void f(int *q)\n{
    if (sqrtf(16.0f) != 4.0f || __umulhi(1u << 31, 6) != 3) q[0] = threadIdx.x;
    atomicAdd(q, 1);\n}\n";
    assert!(!check(&file(kernel), &[], 0).contains("has no body"));
    check(kernel, &["--grid", "1", "--block", "64"], 0);
    // Others may be somebody's own, or come with a file that is missing.
    for own in ["int clamp(int a, int b, int c)", "int swap(int *a, int *b, int c)"] {
        let name = own.split(['(', ' ']).nth(1).unwrap_or_default();
        let arguments = if name == "swap" { "p, p, 1" } else { "1, 2, 3" };
        let text = format!(
            "__device__ {own};\n__global__ void f(int *p) {{ p[threadIdx.x] = {name}({arguments}); }}\n"
        );
        assert!(check(&text, &["--grid", "1", "--block", "64"], 2).contains("W069"));
    }
    let within = "namespace mine { __device__ float sqrtf(float x); }
__global__ void f(float *p) { p[threadIdx.x] = mine::sqrtf(p[threadIdx.x]); }\n";
    assert!(check(within, &["--grid", "1", "--block", "64"], 2).contains("W069"));
}

/// What a function without a body may write of the calling thread's own has a value afterwards.
#[test]
fn functions_without_bodies_write_to_their_arguments() {
    let kernel = |types: [&str; 3], arguments: &str| {
        let [pointer, reference, array] = types;
        file(&format!(
            "__device__ void get({pointer} *p, {reference} &q, {array} t[3]);
__global__ void f(int *a)\n{{
    int x, y, z[3];
    get({arguments});
    a[threadIdx.x + x + y + z[0] + z[2]] = threadIdx.x;\n}}\n"
        ))
    };
    let all = ["int"; 3];
    check(&kernel(all, "&x, y, z"), &[], 0);
    for which in 0..3 {
        let mut types = all;
        types[which] = "const int";
        let text = check(&kernel(types, "&x, y, z"), &[], 1);
        assert!(text.contains("uninitialized-local"), "{text}");
    }
}

/// A pointer to the first row or element of an array leads to all of it, and to nothing before or beside it.
#[test]
fn functions_without_bodies_write_to_whole_arrays() {
    let kernel = |argument: &str| {
        file(&format!(
            "struct S {{ int n; int d[4]; }};
__device__ void get(int *p, int n);
__device__ void one(int &q);
__global__ void f(int *a)\n{{
    int c[2][3], e[2][3];
    S s;
    s.n = 1;
    {argument};
    a[threadIdx.x + c[1][2]] = threadIdx.x;\n}}\n"
        ))
    };
    for whole in ["get(c[0], 6)", "get(&c[0][0], 6)", "get(e[0], 6); c[1][2] = e[1][2]"] {
        check(&kernel(whole), &[], 0);
    }
    check(&kernel("get(&s.d[0], 4); c[1][2] = s.d[3]; __assert(s.n == 1)"), &[], 0);
    for other in ["get(e[0], 6)", "one(c[0][0])", "c[1][2] = (get(&s.n, 1), s.d[0])"] {
        let text = check(&kernel(other), &[], 1);
        assert!(text.contains("uninitialized-local"), "{text}");
    }
}

const SCALED: &str = "typedef float (*Scale)(float *, unsigned);
__device__ float twice(float *v, unsigned i) { return v[i] * 2.0f; }
__device__ float half(float *v, unsigned i) { return v[i] * 0.5f; }
";

/// Nobody says that a pointer to functions is not null but a condition.
#[test]
fn pointers_to_functions_may_be_null() {
    let kernel = |before: &str| {
        format!(
            "{SCALED}__global__ void f(float *v, Scale s)\n{{\n    {before}\n    v[threadIdx.x] = s(v, threadIdx.x);\n}}\n"
        )
    };
    let text = check(&file(&kernel("")), &[], 1);
    assert!(text.contains("assertion `the pointer points to a function` failed"), "{text}");
    assert!(text.contains("with s=0"), "{text}");
    check(&file(&kernel("__requires(s == twice | s == half);")), &[], 0);
    let given = ["--grid", "1", "--block", "64"];
    assert!(!check(&kernel("Scale other = twice;"), &given, 0).contains("s=0"));
    // Where the file has no function of the type none is invented for ordinary files.
    assert!(check(&kernel(""), &given, 2).contains("`s` has no value"));
}

/// Pointers to functions are numbers of their own, which survive casts to other pointers; other numbers are none.
#[test]
fn casts_of_pointers_to_functions_keep_what_they_point_to() {
    let kernel = |cast: &str| {
        file(&format!(
            "{SCALED}__device__ Scale chosen(int i)\n{{
    __ensures(__return_val_funptr(Scale) == half);
    return i == 5 ? twice : half;\n}}
__global__ void f(float *v)\n{{
    Scale t = twice, s = {cast};
    v[threadIdx.x] = s(v, threadIdx.x);\n}}\n"
        ))
    };
    check(&kernel("chosen(1)"), &[], 0);
    check(&kernel("(Scale)(void *)chosen(1)"), &[], 0);
    check(&kernel("reinterpret_cast<Scale>((int *)t)"), &[], 0);
    for right in ["(Scale)(void *)half", "(Scale)(void *)&half", "(Scale)(unsigned long long)&half"]
    {
        check(&kernel(right), &[], 0);
    }
    check(&kernel("(Scale)(unsigned long long)t"), &[], 0);
    for wrong in ["(Scale)5", "(Scale)((int *)t + 5)", "chosen(5)"] {
        let text = check(&kernel(wrong), &[], 1);
        assert!(text.contains("assert-failed"), "{text}");
    }
}

/// Numbers that nobody gives are also those that a comparison names, and those that two of them make.
#[test]
fn numbers_of_comparisons_are_tried() {
    let kernel = |body: &str| {
        file(&format!("__global__ void f(int *p, unsigned n, int x)\n{{\n    {body}\n}}\n"))
    };
    let equal = "if (threadIdx.x < n) p[x == 7 ? 0 : threadIdx.x] = threadIdx.x;";
    let text = check(&kernel(equal), &[], 1);
    assert!(text.contains("race-global") && text.contains("x=7"), "{text}");
    check(&kernel(&format!("__requires(x != 7);\n    {equal}")), &[], 0);
    let apart = "if (threadIdx.x == 5) p[5 + x] = 1;\n    if (threadIdx.x == 40) p[40] = 2;";
    let text = check(&kernel(apart), &[], 1);
    assert!(text.contains("race-global") && text.contains("x=35"), "{text}");
    let sum = "__requires(n == 12);\n    __assert(n + 30 == 42 && x != 54);";
    let text = check(&kernel(sum), &[], 1);
    assert!(text.contains("assert-failed") && text.contains("x=54"), "{text}");
}

/// Numbers of comparisons and conditions are tried only for parameters whose types hold them; nobody wrote them as arguments.
#[test]
fn numbers_that_do_not_fit_are_left_out() {
    let kernel = |parameters: &str, condition: &str| {
        file(&format!(
            "typedef unsigned char uchar;
__global__ void f({parameters})\n{{\n    if ({condition}) p[threadIdx.x] = 1;\n}}\n"
        ))
    };
    let at = "p[threadIdx.x]";
    let ends = format!("{at} != 0xFFFFFFFF && threadIdx.x != 5 && n == 5");
    check(&kernel("unsigned *p, int n", &ends), &[], 0);
    // Their sum has more than 64 bits.
    let wide = format!("{at} != 0xFFFFFFFFFFFFFFFF && threadIdx.x != 5 && n == 5");
    check(&kernel("unsigned long long *p, int n", &wide), &[], 0);
    let several = "int *p, bool b, char c, float f, uchar u";
    check(&kernel(several, "b == 3 || c == 300 || f == 2 || u == 700"), &[], 0);
    // What fits is tried all the same, and an option is taken at its word.
    let text =
        check(&kernel("int *p, uchar u", "u == 300 || u == 9 && (p[0] = threadIdx.x)"), &[], 1);
    assert!(text.contains("race-global") && text.contains("u=9"), "{text}");
    let one = kernel("int *p, One o", "o == 9 && (p[0] = threadIdx.x)");
    let class = "struct One { int a; __device__ bool operator==(int b) const { return a == b; } };";
    let text = check(&one.replace("typedef", &format!("{class}\ntypedef")), &[], 1);
    assert!(text.contains("race-global") && text.contains("o=9"), "{text}");
    let text = check(&kernel("int *p, uchar u", "u == 9"), &["--arg", "u=300"], 2);
    assert!(text.contains("300 does not fit the type u8"), "{text}");
}

/// What a file declares for the device is no function of the host's libraries.
#[test]
fn functions_without_bodies_may_have_names_of_the_host() {
    let kernel = "__device__ int rand();
__device__ float drand48();
__global__ void f(int *p) { p[threadIdx.x] = rand() + (int)drand48(); }\n";
    let text = check(&file(kernel), &[], 0);
    assert!(text.contains("`rand` has no body") && text.contains("`drand48` has no body"));
    let ordinary = ["--grid", "1", "--block", "64"];
    assert!(check(kernel, &ordinary, 2).contains("W069"));
    let own = kernel.replace("int rand();", "int rand() { return 1; }");
    check(&own.replace("float drand48();", "float drand48() { return 1.0f; }"), &ordinary, 0);
    // Without a declaration it is the host's.
    let host = kernel.replace("__device__ int rand();", "");
    assert!(check(&file(&host), &[], 2).contains("W068"));
}

/// Macros among the options of the first lines.
#[test]
fn macros_of_verifiers_are_defined() {
    let text = "//pass\n//--blockDim=64 --gridDim=2 -DWIDTH=64
#if WIDTH % 64\n#error WIDTH is no multiple\n#endif
__device__ int arbitrary();
__global__ void f(int *p) { p[blockIdx.x * WIDTH + threadIdx.x] = threadIdx.x + arbitrary(); }\n";
    check(text, &[], 0);
    let text = check(&text.replace("x * WIDTH", "x * (WIDTH / 2)"), &[], 1);
    assert!(text.contains("race-global"), "{text}");
}

/// What a function without a body returns or sets is another number in every thread: writes of it to one place are no equal ones.
#[test]
fn results_of_functions_without_bodies_differ_between_threads() {
    let kernel = |statement: &str| {
        file(&format!(
            "__device__ int any(); __device__ float real(); __device__ void set(int *p);
__device__ int small() {{ __ensures(__return_val_int() >= 0 && __return_val_int() < 2); }}
__global__ void f(int *p, float *q)\n{{\n    int x;\n    {statement}\n}}\n"
        ))
    };
    for racy in
        ["p[0] = any();", "q[0] = real();", "set(&x); p[0] = x;", "if (any()) __syncthreads();"]
    {
        let text = check(&kernel(racy), &[], 1);
        assert!(text.contains("race-global") || text.contains("divergent-barrier"), "{text}");
    }
    let own = ["p[threadIdx.x] = any();", "set(&x); p[threadIdx.x] = x;", "p[0] = 7 + 0 * any();"];
    for right in own {
        check(&kernel(right), &[], 0);
    }
}

/// A loop that asks such a function whether to go on ends some time, in every thread.
#[test]
fn loops_that_ask_functions_without_bodies_end() {
    let loops = [
        "while (any()) while (any()) {}",
        "while (!any()) {}",
        "for (char c = more(); c; c = more()) while (any()) if (more()) break;",
        "do { if (any() > 3) return; } while (more());",
    ];
    for text in loops {
        let kernel = format!(
            "__device__ int any(); __device__ char more();\n__global__ void f(int *p)\n{{\n    {text}\n    p[threadIdx.x] = 1;\n}}\n"
        );
        check(&file(&kernel), &[], 0);
    }
}

/// From an element in the middle of an array on, all of it may be written.
#[test]
fn functions_without_bodies_write_to_the_rest_of_an_array() {
    let kernel = |call: &str, used: &str| {
        file(&format!(
            "__device__ void get(int *p, int n);
__global__ void f(int *a, int i)\n{{
    __requires(i == 2);
    int c[6], d[2][3];
    c[0] = 5;
    {call};
    __assert(c[0] == 5);
    a[threadIdx.x] = {used};\n}}\n"
        ))
    };
    for (call, used) in [
        ("get(&c[2], 4)", "c[2] + c[5]"),
        ("get(&c[i], 4)", "c[2] + c[5]"),
        ("get(c + 2, 4)", "c[2] + c[5]"),
        ("get(&d[1][1], 2)", "d[1][1] + d[1][2]"),
    ] {
        check(&kernel(call, used), &[], 0);
    }
    for (call, used) in [("get(&c[2], 4)", "c[1]"), ("get(&d[1][1], 2)", "d[1][0]")] {
        let text = check(&kernel(call, used), &[], 1);
        assert!(text.contains("uninitialized-local"), "{text}");
    }
}

/// A kernel for blocks that no device takes, of one or two dimensions of 64 threads.
fn of_large_blocks(block: &str, body: &str) -> String {
    format!(
        "//pass\n//--blockDim={block} --gridDim=2
__global__ void f(int *p)\n{{
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned i = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + t;
    __shared__ int s[4096];
    {body}\n}}\n"
    )
}

/// Blocks that no device takes are decided where a verifier's options ask for them, and are an error of the launch elsewhere.
#[test]
fn blocks_of_verifiers_may_be_larger_than_any_device_takes() {
    let stores = "p[i] = s[0] = 1;";
    let own = "p[i] = t;";
    let hands_on = "s[t] = i;\n    __syncthreads();\n    p[i] = s[(t + 1500) % blockDim.x];";
    for (block, body) in [("2048", own), ("[1,1,65]", own), ("[64,64]", own), ("2048", hands_on)] {
        let text = check(&of_large_blocks(block, body), &[], 0);
        assert!(text.contains("nothing found"), "{block} {body}: {text}");
        assert!(text.contains("more threads than any device takes"), "{text}");
    }
    let text = check(&of_large_blocks("1024", stores), &["--no-benign"], 1);
    assert!(!text.contains("than any device takes"), "{text}");
    let kernel = "__global__ void f(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n";
    assert!(check(kernel, &["--grid", "2", "--block", "2048"], 1).contains("invalid-launch"));
}

/// Threads are told apart whose numbers are equal in all bits that smaller blocks need, and others up there as well.
#[test]
fn races_in_large_blocks_are_found() {
    let only = |a: u32, b: u32, access: &str| format!("if (t == {a} || t == {b}) {{ {access} }}");
    for (a, b) in [(5, 1029), (1500, 1501), (5, 6), (1029, 2047)] {
        for (rule, access) in [
            ("race-shared", "s[7] = t;"),
            ("race-global", "p[blockIdx.x * blockDim.x] = t;"),
            ("race-shared", &format!("if (t == {a}) s[7] = t; else p[i] = s[7];")),
            ("race-shared", &format!("s[t] = 0; if (t == {b}) p[i] = s[{a}];")),
        ] {
            let text = check(&of_large_blocks("2048", &only(a, b, access)), &[], 1);
            assert!(text.contains(&format!("error[{rule}]")), "{a} {b} {access}: {text}");
            let number = |rest: &str| rest.split(|c: char| !c.is_ascii_digit()).next() == Some("");
            let named = |t: u32| {
                let thread = format!(" thread {t}");
                text.match_indices(&thread).any(|(at, _)| number(&text[at + thread.len()..]))
            };
            assert!(named(a) && named(b), "{a} {b} {access}: {text}");
        }
        let ordered = format!(
            "if (t == {a}) s[7] = t;\n    __syncthreads();\n    if (t == {b}) {{ p[i] = s[7]; s[7] = t; }}"
        );
        check(&of_large_blocks("2048", &ordered), &[], 0);
    }
}

/// Barriers and operations of warps, past the thirty-second warp.
#[test]
fn threads_of_large_blocks_meet() {
    let sum = "int v = t;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    p[i] = s[(t + 1) / 32 % 64];
    __assert(s[63] == 63 * 1024 + 496);";
    check(&of_large_blocks("2048", sum), &[], 0);
    let without = sum.replace("__syncthreads();", "");
    assert!(check(&of_large_blocks("2048", &without), &[], 1).contains("race-shared"));
    for (condition, status) in [("t < 1500", 1), ("blockDim.x > 1024", 0)] {
        let text = check(
            &of_large_blocks("2048", &format!("if ({condition}) __syncthreads();")),
            &[],
            status,
        );
        assert_eq!(text.contains("divergent-barrier"), status == 1, "{text}");
    }
    let lanes = "if (t != 1501) __shfl_sync(~0u, t, 0);";
    let text = check(&of_large_blocks("2048", lanes), &[], 1);
    assert!(text.contains("divergent-barrier"), "{text}");
}

/// They differ at each call, however many were before.
#[test]
fn results_differ_at_every_call() {
    for calls in 0..14 {
        let before = "x += any();".repeat(calls);
        let kernel = format!(
            "__device__ int any();\n__global__ void f(int *p)\n{{\n    int x = 0;\n    {before}\n    p[threadIdx.x + 64] = x;\n    p[0] = any();\n}}\n"
        );
        let text = check(&file(&kernel), &[], 1);
        assert!(text.contains("race-global"), "{calls} calls: {text}");
    }
}

/// Any two threads have results that differ in one of the launches, and any two are given the same zero in another.
#[test]
fn results_of_any_two_threads_differ() {
    let kernel = |first: u32, second: u32, statement: &str| {
        file(&format!(
            "__device__ int any();\n__global__ void f(int *p)\n{{
    if (threadIdx.x == {first} || threadIdx.x == {second}) {statement}\n}}\n"
        ))
    };
    for (first, second) in [(0, 7), (1, 8), (2, 16), (6, 62), (5, 6), (0, 1)] {
        let text = check(&kernel(first, second, "p[0] = any();"), &[], 1);
        assert!(text.contains("race-global"), "{first} and {second}: {text}");
    }
    let text = check(&kernel(0, 7, "if (!any()) p[0] = threadIdx.x;"), &[], 1);
    assert!(text.contains("race-global"), "{text}");
    check(&kernel(0, 7, "p[threadIdx.x] = any();"), &[], 0);
}

/// Two writes of the same value are a note, and a race where the options, the file's first line or a directive ask for it.
#[test]
fn writes_of_equal_values_race_where_that_is_asked() {
    let kernel = "__global__ void f(int *p) { __shared__ int s[2]; s[0] = 7; p[0] = 1; }\n";
    let verifiers = file(kernel);
    assert!(check(&verifiers, &[], 0).contains("race-benign"));
    let strict = verifiers.replace("--gridDim=1", "--gridDim=1 --no-benign");
    let directive = format!("// warpsmith: grid=1 block=64 no-benign\n{kernel}");
    for (source, options) in [(&verifiers, &["--no-benign"][..]), (&strict, &[]), (&directive, &[])]
    {
        let text = check(source, options, 1);
        assert!(text.contains("race-shared") && text.contains("race-global"), "{text}");
        assert!(!text.contains("race-benign"), "{text}");
    }
}

/// The numbers of a structure that such a function sets differ between threads, too.
#[test]
fn structures_that_functions_without_bodies_set_differ_between_threads() {
    for used in ["s.a", "s.inner.c"] {
        let kernel = format!(
            "struct T {{ int b; float c; }};
struct S {{ int a; T inner; }};
__device__ void set(S *s);
__global__ void f(int *p)\n{{\n    S s;\n    set(&s);\n    p[0] = {used};\n}}\n"
        );
        assert!(check(&file(&kernel), &[], 1).contains("race-global"));
    }
}

/// What a requirement asks and nobody looks at is refused; functions of mathematics are arguments of templates.
#[test]
fn requirements_and_arguments_of_templates() {
    let given = ["--grid", "1", "--block", "32"];
    let kernel = "__device__ int g(int a) { return a; }
template <class T> constexpr bool quiet = requires(T t) { { g(t) } noexcept; };
__global__ void f(int *p) { p[threadIdx.x] = quiet<int>; }\n";
    assert!(check(kernel, &given, 2).contains("`noexcept` in `requires`"));
    let kernel = |function: &str| {
        format!(
            "template <float (*F)(float)> __device__ float apply(float x) {{ return F(x); }}
__global__ void f(float *p) {{ __assert(apply<{function}>(0.0f) == 1.0f); p[threadIdx.x] = 1; }}\n"
        )
    };
    check(&kernel("expf"), &given, 0);
    check(&kernel("&cosf"), &given, 0);
    check(&kernel("sinf"), &given, 1);
    let text = check(&kernel("exp"), &given, 2);
    assert!(text.contains("W056") && !text.contains("valueOf"), "{text}");
}

/// Variables of a file for verifiers are the device's, whether they say so or not.
#[test]
fn variables_of_verifiers_are_the_devices() {
    let kernel = "char *buffer; int total; const int n = 3;
__global__ void f(int *p)\n{\n    atomicAdd((unsigned *)&buffer, n);\n    STATEMENT;\n}\n";
    check(&file(&kernel.replace("STATEMENT", "p[threadIdx.x] = total")), &[], 0);
    let text = check(&file(&kernel.replace("STATEMENT", "total = threadIdx.x")), &[], 1);
    assert!(text.contains("race-global"), "{text}");
    let plain = kernel.replace("STATEMENT", "p[threadIdx.x] = total");
    assert!(check(&plain, &["--grid", "1", "--block", "32"], 2).contains("W095"));
}

/// A structure may hold an array of pointers: each leads to an array of its own.
#[test]
fn arrays_of_pointers_in_structures_lead_to_arrays() {
    let kernel = |index: &str| {
        file(&format!(
            "struct S {{ int n; float *p[42]; }};
__global__ void f(S q)\n{{\n    __requires_fresh_array(q.p[4]);
    q.p[4][{index}] = threadIdx.x;\n    q.p[5][threadIdx.x] = 1;\n}}\n"
        ))
    };
    check(&kernel("threadIdx.x"), &[], 0);
    let text = check(&kernel("0"), &[], 1);
    assert!(text.contains("race-global") && text.contains("q.p[4]"), "{text}");
}

/// A texture that nobody binds where no host code runs holds something; in a program it is the program's mistake.
#[test]
fn textures_that_nobody_binds_hold_something() {
    let kernel = "texture<int, 1, cudaReadModeElementType> line; texture<uchar4, 2, cudaReadModeNormalizedFloat> image;
__global__ void f(int *p) { p[tex1Dfetch(line, 4) + threadIdx.x] = (int)tex2D(image, 3.0f, 4.0f).x; }\n";
    let text = check(&file(kernel), &[], 0);
    assert!(text.contains("nothing binds the texture `line`"), "{text}");
    check(kernel, &["--grid", "1", "--block", "64"], 0);
    let racy = kernel
        .replace("tex1Dfetch(line, 4) + threadIdx.x", "tex1Dfetch(line, 4)")
        .replace("(int)tex2D", "threadIdx.x + (int)tex2D");
    assert!(check(&file(&racy), &[], 1).contains("race-global"));
    let program =
        format!("{kernel}int main() {{ int *p; cudaMalloc(&p, 1024); f<<<1, 64>>>(p); }}\n");
    assert!(check(&program, &[], 1).contains("invalid-pointer"));
}

/// Names for the result say its type.
#[test]
fn results_have_the_type_that_their_name_says() {
    let kernel = |ty: &str| {
        file(&format!(
            "__device__ {ty} twice(int i) {{ __ensures(__return_val_int() == i * 2); return i * 2; }}
__global__ void f(int *p) {{ p[threadIdx.x] = (int)twice(threadIdx.x); }}\n"
        ))
    };
    check(&kernel("int"), &[], 0);
    for other in ["char", "long long", "float"] {
        let text = check(&kernel(other), &[], 2);
        assert!(text.contains("`__return_val_int`") && text.contains("W063"), "{text}");
    }
}
