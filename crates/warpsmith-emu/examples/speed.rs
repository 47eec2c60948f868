//! Prints how fast the emulator is, with and without checks, on one core; then what several workers gain.
//!
//! `cargo run --release -p warpsmith-emu --example speed [KERNEL]`

use std::sync::OnceLock;
use std::time::Instant;

use warpsmith_emu::{Arg, Buffer, Checks, DeviceMemory, LaunchConfig, Options, run};
use warpsmith_front::parse::{ParseOptions, parse};
use warpsmith_front::pp::{DiskLoader, Language};
use warpsmith_front::sema::{Request, lower_cuda};
use warpsmith_ir::{Module, SourceMap, Type, Value};

const SOURCE: &str = r"
__global__ void naive(const float *A, const float *B, float *C, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        float sum = 0.0f;
        for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
        C[row * n + col] = sum;
    }
}
__global__ void tiled(const float *A, const float *B, float *C, int n) {
    __shared__ float As[16][16];
    __shared__ float Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int t = 0; t < n / 16; ++t) {
        As[ty][tx] = A[row * n + t * 16 + tx];
        Bs[ty][tx] = B[(t * 16 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
__global__ void divergent(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = A[i];
    for (int k = 0; k < 64; ++k) {
        if (i & 1) x = x * 0.5f + 1.0f;
        else if (i & 2) x = x - 0.25f;
        else x = x * x;
        for (int j = 0; j < (i & 7); ++j) x += 0.125f;
    }
    C[i] = x;
}
__global__ void shuffled(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = A[i];
    for (int k = 0; k < 32; ++k)
        for (int d = 16; d > 0; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    C[i] = x;
}
__global__ void histogram(const float *A, const float *B, float *C, int n) {
    __shared__ unsigned bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    unsigned h = blockIdx.x * 977u + threadIdx.x;
    for (int k = 0; k < 64; ++k) {
        h = h * 1664525u + 1013904223u;
        atomicAdd(&bins[h >> 26], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 64) C[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}
__global__ void stencil(const float *A, const float *B, float *C, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = 1; y < n - 1; ++y)
        if (x > 0 && x < n - 1)
            C[y * n + x] = 0.2f * (A[y * n + x] + A[y * n + x - 1] + A[y * n + x + 1]
                                   + A[(y - 1) * n + x] + A[(y + 1) * n + x]);
}
__global__ void scan(const float *A, const float *B, float *C, int n) {
    __shared__ float s[2][256];
    int t = threadIdx.x, w = 0;
    for (int r = 0; r < 8; ++r) {
        s[w][t] = A[(blockIdx.x * 8 + r) * 256 + t];
        __syncthreads();
        for (int d = 1; d < 256; d *= 2) {
            s[1 - w][t] = t >= d ? s[w][t] + s[w][t - d] : s[w][t];
            w = 1 - w;
            __syncthreads();
        }
        C[(blockIdx.x * 8 + r) * 256 + t] = s[w][t];
        __syncthreads();
    }
}
struct Body { float x, y, z, m; };
__device__ void pull(Body &me, const Body &other) {
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float d = dx * dx + dy * dy + dz * dz + 0.01f;
    me.m += other.m / d;
}
__global__ void bodies(const float *A, const float *B, float *C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Body *all = reinterpret_cast<const Body *>(A);
    Body me = all[i];
    for (int k = 0; k < 256; ++k) { Body o = all[k]; pull(me, o); }
    C[i] = me.m;
}
";

struct Case {
    name: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    n: u32,
    /// Multiply-adds of the launch, for the matrix products.
    products: u64,
}

fn main() {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse("speed.cu", SOURCE.as_bytes(), &options, &DiskLoader, &mut sources)
        .unwrap_or_else(|e| panic!("{}", e[0].render(&sources, false)));
    let lowered = lower_cuda(&parsed.unit, &Request::all_kernels())
        .unwrap_or_else(|e| panic!("{}", e[0].render(&sources, false)));
    let n = 256;
    let products = u64::from(n) * u64::from(n) * u64::from(n);
    let matrix = |name| Case { name, grid: [n / 16, n / 16, 1], block: [16, 16, 1], n, products };
    let line =
        |name, blocks, n| Case { name, grid: [blocks, 1, 1], block: [256, 1, 1], n, products: 0 };
    let cases = [
        matrix("naive"),
        matrix("tiled"),
        line("divergent", 32, 0),
        line("shuffled", 32, 0),
        line("histogram", 32, 0),
        line("stencil", 2, 512),
        line("scan", 32, 0),
        line("bodies", 16, 0),
    ];
    println!("{:<10} {:>22} {:>22}", "kernel", "all checks", "no checks");
    let (mut checked, mut plain) = (vec![], vec![]);
    let wanted = std::env::args().nth(1);
    for c in cases.iter().filter(|c| wanted.as_ref().is_none_or(|w| c.name == w)) {
        let with = measure(&lowered.module, c, Checks::ALL, 1).rate;
        let without = measure(&lowered.module, c, Checks::NONE, 1).rate;
        let unit = if c.products > 0 { "G multiply-adds/s" } else { "G thread-ops/s" };
        println!("{:<10} {with:>22.3} {without:>22.3}  {unit}", c.name);
        if c.products == 0 {
            checked.push(with);
            plain.push(without);
        }
    }
    println!(
        "{:<10} {:>22.3} {:>22.3}  G thread-ops/s",
        "mean of six",
        mean(&checked),
        mean(&plain)
    );
    for c in cases.iter().filter(|c| wanted.as_ref().is_none_or(|w| c.name == w)) {
        print_workers(&lowered.module, c);
    }
}

/// Elapsed time of a larger launch of a kernel, with one worker and with more.
fn print_workers(module: &Module, c: &Case) {
    let matrix = c.products > 0;
    let n = if matrix { 2 * c.n } else { c.n };
    let grid = if matrix { [n / 16, n / 16, 1] } else { [c.grid[0] * 12, 1, 1] };
    if c.name == "stencil" {
        // Its blocks run through planes: a launch has few of them.
        return;
    }
    let large = Case { name: c.name, grid, block: c.block, n, products: c.products * 8 };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for checks in [Checks::ALL, Checks::NONE] {
        let one = measure(module, &large, checks, 1).seconds;
        let what = if checks == Checks::ALL { "all checks" } else { "no checks" };
        print!("{:<10} {what:<10} 1 worker {one:.3} s", c.name);
        let mut jobs = 2;
        while jobs <= cores {
            let several = measure(module, &large, checks, jobs);
            let gain = one / several.seconds;
            print!("; {jobs} asked, {} at work: {gain:.2} x", several.workers);
            jobs *= 2;
        }
        println!();
    }
}

/// Seconds this process has had on a core, so that other work on the machine does not count;
/// elapsed time where the system does not tell.
fn cpu_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let used = text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    used.map_or_else(|| start.elapsed().as_secs_f64(), |n| n * 1e-9)
}

/// Geometric mean.
fn mean(v: &[f64]) -> f64 {
    (v.iter().map(|x| x.ln()).sum::<f64>() / v.len() as f64).exp()
}

/// Best of three runs.
#[derive(Clone, Copy, Default)]
struct Speed {
    /// Units of work a second on a core, in billions.
    rate: f64,
    /// Elapsed time.
    seconds: f64,
    workers: u32,
}

fn measure(module: &Module, c: &Case, checks: Checks, jobs: usize) -> Speed {
    let kernel = module.find_function(c.name).expect("a kernel of the source");
    let count = 512 * 512;
    let mut best = Speed { seconds: f64::MAX, ..Speed::default() };
    for _ in 0..3 {
        let mut memory = DeviceMemory::new(module);
        let buffer = |name: &str| Buffer {
            name: name.to_string(),
            element: Some(Type::F32),
            bytes: (0..count).flat_map(|i| (i as f32 * 1e-6).to_le_bytes()).collect(),
            ..Buffer::default()
        };
        let mut args: Vec<Arg> = ["A", "B", "C"]
            .into_iter()
            .map(|name| Arg::Pointer { buffer: memory.add(buffer(name)), offset: 0 })
            .collect();
        args.push(Arg::Bytes(Value::i32(c.n as i32).bits.to_le_bytes()[..4].to_vec()));
        let launch = LaunchConfig {
            kernel,
            grid: c.grid,
            block: c.block,
            dynamic_shared: 0,
            cluster: None,
            args,
        };
        let options = Options { checks, jobs, ..Options::default() };
        let (start, began) = (cpu_seconds(), Instant::now());
        let outcome = run(module, &launch, &mut memory, &options).expect("a launch that runs");
        let seconds = (cpu_seconds() - start).max(1e-6);
        best.seconds = best.seconds.min(began.elapsed().as_secs_f64());
        best.workers = outcome.workers;
        for f in outcome.findings.iter().filter(|f| !f.rule.is_note()) {
            println!("  unexpected in {}: {}", c.name, f.message);
        }
        let work = if c.products > 0 { c.products } else { outcome.stats.thread_instructions };
        best.rate = best.rate.max(work as f64 / seconds / 1e9);
    }
    best
}
