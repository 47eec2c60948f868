//! `--auto` where host code launches blocks that no number in the launch names: a tile is for the block of all launches.

mod common;

use common::tried;
use warpsmith_stage::auto::{Chosen, Counted};

fn requests(counted: &Counted<'_>) -> Option<f64> {
    Some(counted.counters.arrays.iter().map(|a| a.requests as f64).sum())
}

const KERNEL: &str = "#include <cstdlib>
const int R = 2;
__global__ void box(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++)
            sum += in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
    out[y * w + x] = sum;
}
";

/// A filter that host code launches as `main` says.
fn filter(main: &str) -> Chosen {
    let text = format!(
        "{KERNEL}static dim3 pick(int w) {{ return w >= 64 ? dim3(16, 16) : dim3(8, 8); }}
static void run(dim3 t, const float *in, float *out, int w, int h) {{
    box<<<dim3((w + t.x - 1) / t.x, (h + t.y - 1) / t.y), t>>>(in, out, w, h);
}}
int main(int argc, char **argv) {{
    int w = 100, h = 50;
    float *a, *b;
    cudaMalloc(&a, w * h * 4);
    cudaMalloc(&b, w * h * 4);
    {main}
    return pick(w).x == 1;
}}
"
    );
    tried("plain.cu", &text, requests).unwrap_or_else(|(_, m)| panic!("{main}: {m}"))
}

/// The only block is that of the launches, however they come to it.
#[test]
fn one_block() {
    let launch = "dim3 g((w + t.x - 1) / t.x, (h + t.y - 1) / t.y); box<<<g, t>>>(a, b, w, h);";
    for main in [
        format!("int n = 16; dim3 t(n, n); {launch}"),
        format!("int n = w > 64 ? 16 : 8; dim3 t(n, n); {launch}"),
        format!("dim3 t; t.x = 16; t.y = 16; {launch}"),
        format!("dim3 t = pick(w); {launch}"),
        "run(dim3(16, 16), a, b, w, h);".into(),
    ] {
        let chosen = filter(&main);
        let best = chosen.best.unwrap_or_else(|| panic!("{main}: {:?}", chosen.tried));
        assert!(best.text.contains("in_tile[16 + 2 * R][16 + 2 * R"), "{main}\n{}", best.text);
    }
}

/// Where launches have several, no tile suits them all.
#[test]
fn several_blocks() {
    for (main, blocks) in [
        ("run(dim3(16, 16), a, b, w, h); run(dim3(32, 8), a, b, w, h);", "16x16 and 32x8"),
        (
            "box<<<dim3(7, 4), dim3(16, 16)>>>(a, b, w, h); box<<<dim3(4, 7), dim3(32, 8)>>>(a, b, w, h);",
            "16x16 and 32x8",
        ),
        (
            "dim3 t(16, 16); if (argc > 1) t = dim3(8, 8); box<<<dim3(13, 7), t>>>(a, b, w, h);",
            "8x8 and 16x16",
        ),
        (
            "int n = argc > 1 ? atoi(argv[1]) : 16; dim3 t(n, 4); box<<<dim3(100 / n + 1, 13), t>>>(a, b, w, h);",
            "7x4 and 16x4 and 64x4",
        ),
    ] {
        let chosen = filter(main);
        let why = format!("the file launches blocks of {blocks}, and a tile is for one block");
        let tried = chosen.tried.iter().filter_map(|t| t.failed.clone());
        let said: Vec<String> = chosen.declined.iter().cloned().chain(tried).collect();
        assert!(said.iter().any(|s| s.starts_with(&why)), "{main}: {said:?}");
        let tile = chosen.best.filter(|b| b.text.contains("__shared__"));
        assert!(tile.is_none(), "{main}: {}", tile.unwrap().text);
    }
}

/// Methods of classes launch kernels, too.
#[test]
fn blocks_of_methods() {
    let class = |main: &str| {
        let methods = "struct Filter {
    float *a, *b;
    void squares(int w, int h) { box<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h); }
    void rows(int w, int h) { box<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(a, b, w, h); }
};
";
        format!("{}{methods}{main}", KERNEL)
    };
    let chosen = tried("plain.cu", &class(""), requests).unwrap_or_else(|(_, m)| panic!("{m}"));
    let best = chosen.best.map(|b| b.text).unwrap_or_default();
    assert!(!best.contains("__shared__"), "{best}");
    assert!(
        chosen.declined.iter().any(|d| d.contains("blocks of 16x16 and 32x8")),
        "{:?}",
        chosen.declined
    );
}
