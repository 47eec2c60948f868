//! Arrays that launches pass twice: found in the host code of the file and in what its program does, and told of where there is none.

mod common;

use common::{planned, tried};
use warpsmith_stage::auto::Chosen;

fn refused(text: &str) -> String {
    planned(text).map(|s| panic!("{}", s.text)).unwrap_or_else(|(_, m)| m)
}

const IN_PLACE: &str = "#define B 64
__global__ void smooth(const float *src, float *dst, int n) {
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) t[threadIdx.x] = src[i];
    __syncthreads();
    if (i < n) dst[i] = t[threadIdx.x] * 0.5f;
    __syncthreads();
    float v = i < n ? __opt__(src[threadIdx.x > 0 ? i - 1 : i]) : 0.0f;
    __syncthreads();
    if (i < n) dst[i] = v;
}
";

/// The tile has what was in the array before it was changed, by another name.
#[test]
fn arrays_that_are_passed_twice_overlap() {
    let host = |second: &str| {
        format!(
            "{IN_PLACE}void run(float *a, float *b, int n) {{ smooth<<<(n + B - 1) / B, B>>>(a, {second}, n); }}\n"
        )
    };
    assert!(planned(&host("b")).is_ok());
    let message = refused(&host("a"));
    assert!(message.contains("one array for src and dst"), "{message}");
}

/// What host code passes twice goes through other variables, functions and structures.
#[test]
fn arrays_that_are_passed_twice_by_other_names_overlap() {
    let launch = "smooth<<<(n + B - 1) / B, B>>>";
    for host in [
        format!("void run(float *a, int n) {{ float *b = a; {launch}(a, b, n); }}"),
        format!(
            "void go(float *a, float *b, int n) {{ {launch}(a, b, n); }} void run(float *a, int n) {{ go(a, a, n); }}"
        ),
    ] {
        let message = refused(&format!("{IN_PLACE}{host}\n"));
        assert!(message.contains("one array for src and dst"), "{message}");
    }
    let kernel = IN_PLACE
        .replace("const float *src, float *dst, int n", "Arrays a")
        .replace("src[", "a.src[")
        .replace("dst[", "a.dst[")
        .replace("i < n", "i < a.n");
    let head = "struct Arrays { const float *src; float *dst; int n; };\n";
    let host = "void run(float *d, int n) { Arrays a; a.src = d; a.dst = d; a.n = n; smooth<<<(n + B - 1) / B, B>>>(a); }\n";
    let message = refused(&format!("{head}{kernel}{host}"));
    assert!(message.contains("one array for a.dst and a.src"), "{message}");
}

/// The text says what it assumes where the kernel is right with one array, and nothing where it is not.
#[test]
fn texts_say_which_pointers_must_not_overlap() {
    let assumed = "`src` and `dst` do not overlap";
    let staged = planned(IN_PLACE).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.text.contains(&format!("where {assumed}")), "{}", staged.text);
    assert!(staged.assumed.contains(assumed), "{:?}", staged.assumed);
    // Where the file passes parts of one array it does not say how far these are apart.
    let host = "void run(float *a, int n) { smooth<<<(n + B - 1) / B, B>>>(a + 1, a, n); }\n";
    let message = refused(&format!("{IN_PLACE}{host}"));
    assert!(message.contains("parts of one array"), "{message}");
    let promised = IN_PLACE.replace("*dst", "*__restrict__ dst");
    let staged = planned(&promised).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(!staged.text.contains("overlap"), "{}", staged.text);
    let early = IN_PLACE.replace("dst[i] = t[threadIdx.x] * 0.5f", "");
    let staged = planned(&early).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(!staged.text.contains("overlap"), "{}", staged.text);
}

/// Statements of `main` that launch with one array for both pointers, by ways that no text shows.
const WAYS: [(&str, &str); 10] = [
    ("", "float *&r = b; r = a; GO(a, b);"),
    ("", "float **p = &b; *p = a; GO(a, b);"),
    ("", "auto go = [&](float *x, float *y) { GO(x, y); }; go(a, b); go(a, a);"),
    ("", "float *v[2] = {a, b}; for (int i = 0; i < 2; i++) GO(v[i], v[0]);"),
    ("", "memcpy(&b, &a, sizeof a); GO(a, b);"),
    ("", "c = a; for (int i = 0; i < 2; i++) { GO(a, b); std::swap(b, c); }"),
    ("void pick(float **o, float *x) { *o = x; }", "pick(&b, a); GO(a, b);"),
    ("float *in, *out; void go() { GO(in, out); }", "in = a; out = b; go(); out = in; go();"),
    (
        "struct Pair { float *x, *y; Pair(float *u) : x(u), y(u) {} void go() { GO(x, y); } };",
        "Pair p(a); p.go();",
    ),
    ("template <class T> T *same(T *x) { return x; }", "GO(a, same(a));"),
];

fn program(head: &str, ways: &str) -> String {
    let size = "const int n = 300;";
    let allocate =
        "float *a, *b, *c; cudaMalloc(&a, 4 * n); cudaMalloc(&b, 4 * n); cudaMalloc(&c, 4 * n);";
    format!("{head}\nint main() {{ {size} {allocate} {ways} return 0; }}\n")
}

/// The program of the file is run: what arrives at a launch counts.
#[test]
fn arrays_that_a_program_passes_twice_overlap() {
    let go = "#define GO(x, y) smooth<<<5, B>>>(x, y, 300)\n";
    for (head, ways) in WAYS {
        let message = refused(&format!("{IN_PLACE}{go}{}", program(head, ways)));
        assert!(message.contains("one array for src and dst"), "{ways}: {message}");
    }
    for ways in [
        "GO(a, b); std::swap(a, b); GO(a, b);",
        "float *d[3] = {a, b, c}; GO(d[0], d[1]);",
        "float *d[2] = {a, b}; for (int i = 0; i < 4; i++) GO(d[i & 1], d[1 - (i & 1)]);",
    ] {
        let apart = format!("{IN_PLACE}{go}{}", program("", ways));
        planned(&apart).unwrap_or_else(|(_, m)| panic!("{ways}: {m}"));
    }
}

/// What a program wants to be called with is tried, and what kernels would compute is not asked for.
#[test]
fn programs_are_called_with_numbers_and_go_on_without_results() {
    let main = "int main(int argc, char **argv) {
    if (argc < 3) { printf(\"usage\"); return 1; }
    int n = atoi(argv[1]), steps = atoi(argv[2]);
    float *a, *b, error = 1; cudaMalloc(&a, 4 * n); cudaMalloc(&b, 4 * n);
    for (int i = 0; i < steps && error > 0.1f; i++) {
        smooth<<<(n + B - 1) / B, B>>>(a, b, n);
        cudaMemcpy(&error, b, 4, cudaMemcpyDeviceToHost);
    }
    float *&last = a; last = b;
    smooth<<<(n + B - 1) / B, B>>>(a, b, n);
}
";
    let message = refused(&format!("{IN_PLACE}{main}"));
    assert!(message.contains("one array for src and dst"), "{message}");
}

const COLUMN: &str = "#define BX 32
#define BY 4
__global__ void column(const float *p, float *q, int nx, int ny, int nz) {
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    if (i >= nx || j >= ny) return;
    for (int k = 1; k < nz - 1; k++) {
        int c = (k * ny + j) * nx + i;
        q[c] = p[c - nx * ny] - 2.0f * p[c] + p[c + nx * ny];
    }
}
#define GO(x, y) column<<<dim3(10, 75), dim3(BX, BY)>>>(x, y, 300, 300, 300)
";

/// A plan of reads alone: registers are cheaper than any traffic.
fn chosen(text: &str) -> Chosen {
    let loads = |counted: &warpsmith_stage::auto::Counted<'_>| {
        let sectors: u64 = counted.counters.arrays.iter().map(|a| a.sectors).sum();
        Some(sectors as f64)
    };
    tried("plain.cu", text, loads).unwrap_or_else(|(_, m)| panic!("{m}"))
}

/// A plan that nobody wrote reads planes before others are stored: it says so, and is none where the file passes such arrays.
#[test]
fn plans_that_are_found_say_what_must_not_overlap() {
    let apart = chosen(&format!("{COLUMN}{}", program("", "GO(a, b); GO(b, c);")));
    let best = apart.best.expect("a plan");
    assert!(best.name.contains("`p` through registers"), "{}", best.name);
    assert_eq!(apart.apart, ["`p` and `q` do not overlap"]);
    assert!(best.text.contains("// Right where `p` and `q` do not overlap."), "{}", best.text);
    let promised = COLUMN
        .replace("float *p", "float *__restrict__ p")
        .replace("float *q", "float *__restrict__ q");
    let promised = chosen(&format!("{promised}{}", program("", "GO(a, b);")));
    assert_eq!(promised.apart, [""; 0]);
    for ways in [
        "float *&r = b; r = a; GO(a, b);",
        "auto at = [&](int i) { return a + i; }; GO(at(0), at(300));",
    ] {
        let other = chosen(&format!("{COLUMN}{}", program("", ways)));
        assert!(other.best.is_none_or(|b| !b.name.contains("registers")), "{ways}");
    }
}
