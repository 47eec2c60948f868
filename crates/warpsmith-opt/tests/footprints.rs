//! What `analysis::touched` says that kernels touch is what the emulator sees them touch, block by block.
//!
//! The emulator is asked with undefined values: a block reads an element if and only if something is reported when
//! that element alone holds none, and it writes those that hold one afterwards.

use std::collections::BTreeSet;

use warpsmith_emu::{Arg, Buffer, Checks, DeviceMemory, LaunchConfig, Options, Outcome, run};
use warpsmith_front::parse::{ParseOptions, parse};
use warpsmith_front::pp::{DiskLoader, Language};
use warpsmith_front::sema::{KernelSelection, Request, lower_cuda};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{FuncId, Function, Module, SourceMap, Type, Value, VarId};
use warpsmith_opt::analysis::access::{AccessKind, Base};
use warpsmith_opt::analysis::touched::{self, Elements, Launch, Touched};

/// A launch: arrays have so many elements.
struct Case<'t> {
    text: &'t str,
    grid: [u32; 3],
    block: [u32; 3],
    sizes: &'t [(&'t str, i64)],
    arrays: &'t [(&'t str, usize)],
}

struct Lowered {
    module: Module,
    kernel: FuncId,
    touched: Vec<Touched>,
}

fn lower(text: &str) -> Lowered {
    let mut sources = SourceMap::new();
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse("k.cu", text.as_bytes(), &options, &DiskLoader, &mut sources);
    let parsed = parsed.unwrap_or_else(|e| panic!("{}", e[0].render(&sources, false)));
    let kernels = KernelSelection::Named(vec!["k".into()]);
    let lowered = lower_cuda(&parsed.unit, &Request { kernels, host_functions: vec![] });
    let lowered = lowered.unwrap_or_else(|e| panic!("{}", e[0].render(&sources, false)));
    let (module, kernel) = (lowered.module, lowered.kernels[0].id);
    let touched = touched::of(&module, module.function(kernel));
    Lowered { module, kernel, touched }
}

impl Lowered {
    fn function(&self) -> &Function {
        self.module.function(self.kernel)
    }

    fn param(&self, name: &str) -> VarId {
        let f = self.function();
        let found = f.params.iter().find(|p| f.var(**p).name == name);
        *found.unwrap_or_else(|| panic!("no parameter `{name}`"))
    }
}

impl Case<'_> {
    fn size(&self, name: &str) -> i64 {
        let found = self.sizes.iter().find(|(n, _)| *n == name);
        found.unwrap_or_else(|| panic!("no size `{name}`")).1
    }

    /// The blocks, with their flat numbers.
    fn blocks(&self) -> Vec<(u32, [u32; 3])> {
        let [nx, ny, nz] = self.grid;
        (0..nx * ny * nz).map(|b| (b, [b % nx, b / nx % ny, b / nx / ny])).collect()
    }

    /// Runs one block; of one array the elements in a range hold no value.
    fn run(
        &self,
        k: &Lowered,
        flat: u32,
        undefined: Option<(&str, std::ops::Range<usize>)>,
    ) -> (Outcome, DeviceMemory) {
        let mut memory = DeviceMemory::new(&k.module);
        let f = k.function();
        let mut args = vec![];
        for &p in &f.params {
            let var = f.var(p);
            args.push(match &var.ty {
                Type::Pointer { pointee, .. } => {
                    let size = layout_of(&k.module, pointee).size as usize;
                    let length = self.arrays.iter().find(|(n, _)| *n == var.name).unwrap().1 * size;
                    let mut buffer = Buffer {
                        name: var.name.clone(),
                        element: Some((**pointee).clone()),
                        bytes: vec![0; length],
                        poison: vec![false; length],
                        ..Buffer::default()
                    };
                    if let Some((_, range)) = undefined.as_ref().filter(|(n, _)| *n == var.name) {
                        buffer.poison[range.start * size..range.end * size].fill(true);
                    }
                    Arg::Pointer { buffer: memory.add(buffer), offset: 0 }
                }
                Type::Scalar(s) => {
                    let value = Value::int(*s, self.size(&var.name));
                    Arg::Bytes(value.bits.to_le_bytes()[..s.bytes() as usize].to_vec())
                }
                other => panic!("a parameter of type {other:?}"),
            });
        }
        let (grid, block) = (self.grid, self.block);
        let launch =
            LaunchConfig { kernel: k.kernel, grid, block, dynamic_shared: 0, cluster: None, args };
        let checks = Checks { uninitialized: true, ..Checks::NONE };
        let options =
            Options { checks, jobs: 1, blocks: Some([flat].into()), ..Options::default() };
        let outcome = run(&k.module, &launch, &mut memory, &options).expect("it runs");
        (outcome, memory)
    }

    /// The elements of a range that a block reads.
    fn read(
        &self,
        k: &Lowered,
        flat: u32,
        array: &str,
        range: std::ops::Range<usize>,
        found: &mut BTreeSet<i128>,
    ) {
        let (outcome, _) = self.run(k, flat, Some((array, range.clone())));
        if range.is_empty() || outcome.findings.is_empty() {
            return;
        }
        if range.len() == 1 {
            found.insert(range.start as i128);
            return;
        }
        let middle = range.start + range.len() / 2;
        self.read(k, flat, array, range.start..middle, found);
        self.read(k, flat, array, middle..range.end, found);
    }

    fn written(&self, k: &Lowered, flat: u32, at: usize, length: usize) -> BTreeSet<i128> {
        let (name, _) = self.arrays[at];
        let (_, memory) = self.run(k, flat, Some((name, 0..length)));
        let f = k.function();
        let pointers = f.params.iter().filter(|p| f.var(**p).ty.is_pointer());
        let number = pointers.take_while(|p| f.var(**p).name != name).count();
        let poison = &memory.buffers[number].poison;
        if poison.is_empty() {
            return (0..length as i128).collect();
        }
        let size = poison.len() / length;
        let defined = |e: &i128| !poison[*e as usize * size];
        (0..length as i128).filter(defined).collect()
    }

    fn derived(&self, k: &Lowered, array: &str, kind: AccessKind, block: [u32; 3]) -> Elements {
        let parameter = |v: VarId| {
            let name = &k.function().vars.get(v.0 as usize)?.name;
            self.sizes.iter().find(|(n, _)| n == name).map(|(_, v)| i128::from(*v))
        };
        let launch = Launch { grid: self.grid, block: self.block, parameter: &parameter };
        let base = Base::Var(k.param(array));
        let same = |t: &&Touched| (t.base == base || t.base == Base::Anything) && t.kind == kind;
        touched::by_block(k.touched.iter().filter(same), &launch, block)
    }

    /// Derived and seen, of every block and array: equal where the derived set says that it is exact, and never too small.
    #[track_caller]
    fn compare(&self, all_exact: bool) {
        let k = lower(self.text);
        for (flat, block) in self.blocks() {
            for (at, (array, length)) in self.arrays.iter().enumerate() {
                let mut read = BTreeSet::new();
                self.read(&k, flat, array, 0..*length, &mut read);
                let written = self.written(&k, flat, at, *length);
                for (kind, seen) in [(AccessKind::Read, read), (AccessKind::Write, written)] {
                    let derived = self.derived(&k, array, kind, block);
                    let of = format!("{kind:?} of `{array}` by block {block:?}");
                    match &derived.found {
                        Some(found) if derived.exact => assert_eq!(*found, seen, "{of}"),
                        Some(found) => assert!(found.is_superset(&seen), "{of}: {seen:?}"),
                        None => assert!(!derived.exact, "{of}"),
                    }
                    assert!(derived.exact || !all_exact, "{of} is not exact: {derived:?}");
                }
            }
        }
    }
}

/// Numbers of dimensions in which an array's accesses are seen; 0: unknown.
fn dimensions(text: &str, array: &str) -> BTreeSet<usize> {
    let k = lower(text);
    let base = Base::Var(k.param(array));
    let dims =
        k.touched.iter().filter(|t| t.base == base).map(|t| t.index.as_ref().map_or(0, Vec::len));
    dims.collect()
}

const FIVE_POINT: &str = "
__global__ void k(const float *a, float *b, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= n - 1 || j < 1 || j >= m - 1) return;
    b[i * m + j] = a[i * m + j] + a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1];
}";

#[test]
fn five_point() {
    let case = Case {
        text: FIVE_POINT,
        grid: [3, 3, 1],
        block: [4, 3, 1],
        sizes: &[("n", 8), ("m", 11)],
        arrays: &[("a", 88), ("b", 88)],
    };
    case.compare(true);
    assert_eq!(dimensions(FIVE_POINT, "a"), BTreeSet::from([2]));
    assert_eq!(dimensions(FIVE_POINT, "b"), BTreeSet::from([2]));
}

/// Neighbours outside of the volume are those at its edge.
const HEAT: &str = "
__device__ int clamped(int x, int n) { return x < 0 ? 0 : (x > n - 1 ? n - 1 : x); }
__global__ void k(const float *in, float *out, int nx, int ny, int nz, float c) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) {
        int left = max(x - 1, 0), right = x + 1;
        if (right > nx - 1) right = nx - 1;
        int up = y > 0 ? y - 1 : 0;
        int down = clamped(y + 1, ny);
        for (int z = 0; z < nz; z++) {
            int below = z == 0 ? 0 : z - 1, above = min(z + 1, nz - 1);
            int at = (z * ny + y) * nx + x;
            out[at] = in[at] + c * (in[(z * ny + y) * nx + left] + in[(z * ny + y) * nx + right]
                + in[(z * ny + up) * nx + x] + in[(z * ny + down) * nx + x]
                + in[(below * ny + y) * nx + x] + in[(above * ny + y) * nx + x]);
        }
    }
}";

#[test]
fn heat_with_clamped_neighbours() {
    let case = Case {
        text: HEAT,
        grid: [2, 2, 1],
        block: [4, 2, 1],
        sizes: &[("nx", 6), ("ny", 3), ("nz", 4), ("c", 1)],
        arrays: &[("in", 72), ("out", 72)],
    };
    case.compare(true);
    assert_eq!(dimensions(HEAT, "out"), BTreeSet::from([3]));
}

const HIMENO: &str = "
#define AT(i, j, k) (((i) * jmax + (j)) * kmax + (k))
__global__ void k(const float *p, const float *bnd, float *wrk, int imax, int jmax, int kmax) {
    unsigned int k = blockIdx.x * blockDim.x + threadIdx.x + 1;
    unsigned int j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (k >= (unsigned)(kmax - 1) || j >= (unsigned)(jmax - 1)) return;
    for (int i = 1; i < imax - 1; ++i) {
        float s = p[AT(i + 1, j, k)] + p[AT(i, j + 1, k)] + p[AT(i, j, k + 1)]
            + p[AT(i + 1, j + 1, k)] - p[AT(i + 1, j - 1, k)] - p[AT(i - 1, j + 1, k)] + p[AT(i - 1, j - 1, k)]
            + p[AT(i, j + 1, k + 1)] - p[AT(i, j - 1, k + 1)] - p[AT(i, j + 1, k - 1)] + p[AT(i, j - 1, k - 1)]
            + p[AT(i + 1, j, k + 1)] - p[AT(i - 1, j, k + 1)] - p[AT(i + 1, j, k - 1)] + p[AT(i - 1, j, k - 1)]
            + p[AT(i - 1, j, k)] + p[AT(i, j - 1, k)] + p[AT(i, j, k - 1)];
        wrk[AT(i, j, k)] = p[AT(i, j, k)] + 0.8f * (s - p[AT(i, j, k)]) * bnd[AT(i, j, k)];
    }
}";

#[test]
fn himeno() {
    let case = Case {
        text: HIMENO,
        grid: [2, 2, 1],
        block: [3, 2, 1],
        sizes: &[("imax", 4), ("jmax", 5), ("kmax", 7)],
        arrays: &[("p", 140), ("bnd", 140), ("wrk", 140)],
    };
    case.compare(true);
}

const CONVOLUTION: &str = "
__constant__ int unused;
__global__ void k(const float *image, const float *filter, float *result, int w, int h, int r) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= w || row >= h) return;
    float sum = 0.0f;
    for (int fr = 0; fr < 2 * r + 1; fr++) {
        for (int fc = 0; fc < 2 * r + 1; fc++) {
            int in_row = row - r + fr, in_col = col - r + fc;
            bool inside = in_row >= 0 && in_row < h && in_col >= 0 && in_col < w;
            if (inside) sum += filter[fr * (2 * r + 1) + fc] * image[in_row * w + in_col];
        }
    }
    result[row * w + col] = sum;
}";

#[test]
fn convolution_with_zero_padding() {
    let case = Case {
        text: CONVOLUTION,
        grid: [3, 2, 1],
        block: [4, 4, 1],
        sizes: &[("w", 9), ("h", 6), ("r", 2)],
        arrays: &[("image", 54), ("filter", 25), ("result", 54)],
    };
    case.compare(true);
    assert_eq!(dimensions(CONVOLUTION, "image"), BTreeSet::from([2]));
}

const PRODUCT: &str = "
__global__ void k(const float *A, const float *B, float *C, int n, int m, int l) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && col < m) {
        float sum = 0;
        for (int k = 0; k < l; ++k) sum += A[row * l + k] * B[k * m + col];
        C[row * m + col] = sum;
    }
}";

#[test]
fn product() {
    let case = Case {
        text: PRODUCT,
        grid: [2, 2, 1],
        block: [4, 4, 1],
        sizes: &[("n", 7), ("m", 5), ("l", 6)],
        arrays: &[("A", 42), ("B", 30), ("C", 35)],
    };
    case.compare(true);
    for array in ["A", "B", "C"] {
        assert_eq!(dimensions(PRODUCT, array), BTreeSet::from([2]), "{array}");
    }
}

const TILED_PRODUCT: &str = "
#define TILE 4
__global__ void k(const float *A, const float *B, float *C, int n) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (n + TILE - 1) / TILE; ++t) {
        As[ty][tx] = (row < n && t * TILE + tx < n) ? A[row * n + t * TILE + tx] : 0.0f;
        Bs[ty][tx] = t * TILE + ty < n && col < n ? B[(t * TILE + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}";

/// The tiles move through the matrices by pointers.
const POINTER_PRODUCT: &str = "
template <int T>
__device__ void product(const float *A, const float *B, float *C, unsigned n) {
    __shared__ float As[T * T], Bs[T * T];
    const unsigned c = threadIdx.x % T, r = threadIdx.x / T;
    A += blockIdx.y * T * n;
    B += blockIdx.x * T;
    C += blockIdx.y * T * n + blockIdx.x * T;
    float sum = 0.f;
    for (unsigned at = 0; at < n; at += T) {
        As[r * T + c] = A[r * n + c];
        Bs[r * T + c] = B[r * n + c];
        __syncthreads();
        A += T;
        B += T * n;
        for (int k = 0; k < T; ++k) sum += As[r * T + k] * Bs[k * T + c];
        __syncthreads();
    }
    C[r * n + c] = sum;
}
__global__ void k(const float *A, const float *B, float *C, unsigned n) { product<4>(A, B, C, n); }";

#[test]
fn products_through_shared_tiles() {
    let case = Case {
        text: TILED_PRODUCT,
        grid: [2, 2, 1],
        block: [4, 4, 1],
        sizes: &[("n", 6)],
        arrays: &[("A", 36), ("B", 36), ("C", 36)],
    };
    case.compare(true);
    assert_eq!(dimensions(TILED_PRODUCT, "A"), BTreeSet::from([2]));
    let (block, sizes) = ([16, 1, 1], [("n", 8)]);
    let arrays = [("A", 64), ("B", 64), ("C", 64)];
    Case { text: POINTER_PRODUCT, block, sizes: &sizes, arrays: &arrays, ..case }.compare(true);
}

const TRANSPOSE: &str = "
#define T 4
#define ROWS 2
__global__ void k(float *out, const float *in, int w, int h) {
    __shared__ float tile[T][T + 1];
    int x = blockIdx.x * T + threadIdx.x;
    int y = blockIdx.y * T + threadIdx.y;
    for (int j = 0; j < T; j += ROWS)
        if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * T + threadIdx.x;
    y = blockIdx.x * T + threadIdx.y;
    for (int j = 0; j < T; j += ROWS)
        if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}";

#[test]
fn transpose() {
    let case = Case {
        text: TRANSPOSE,
        grid: [3, 2, 1],
        block: [4, 2, 1],
        sizes: &[("w", 10), ("h", 7)],
        arrays: &[("out", 70), ("in", 70)],
    };
    case.compare(true);
    assert_eq!(dimensions(TRANSPOSE, "in"), BTreeSet::from([2]));
}

/// Elements in a thread's hand: `float4`, grid strides, loops with a condition of their own, halving.
const FORMS: &str = "
__device__ void add(float *to, const float *from, size_t at) { to[at] = from[at] + 1.0f; }
__global__ void k(const float *a, const float4 *v, float *b, float *c, float *d, unsigned n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned int at = i; at < n; at += gridDim.x * blockDim.x) b[at] = a[at];
    size_t q = i;
    while (q < n) {
        add(c, a + 1, q);
        q += blockDim.x * gridDim.x;
    }
    if (4 * i + 3 < n) {
        float4 four = reinterpret_cast<const float4 *>(a)[i];
        d[i] = four.x + four.y + four.z + four.w + v[i].y;
    }
    if (i - 1 < 3) d[n + i] = 0.0f;
    switch (n & 1) { case 0: if (i == 0) d[2 * n] = 1.0f; }
}";

#[test]
fn other_forms() {
    let case = Case {
        text: FORMS,
        grid: [2, 1, 1],
        block: [4, 1, 1],
        sizes: &[("n", 21)],
        arrays: &[("a", 22), ("v", 6), ("b", 21), ("c", 21), ("d", 43)],
    };
    case.compare(false);
    let k = lower(FORMS);
    for (array, kind) in
        [("a", AccessKind::Read), ("b", AccessKind::Write), ("c", AccessKind::Write)]
    {
        assert!(case.derived(&k, array, kind, [1, 0, 0]).exact, "{array}");
    }
}

/// What data decide, what a loop leaves early, subscripts that nobody can follow: sets that are too large, and say so.
const BY_DATA: &str = "
__global__ void k(const float *a, const int *index, float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (index[i] > 0) b[i] = 1.0f;
    c[i] = a[index[i]];
    for (int j = i; j < n; ++j) {
        if (index[j] == 0) break;
        b[n + j] = 2.0f;
    }
    int half = n;
    while (half > 0) { c[n + half - 1] = 0.0f; half /= 2; }
}";

#[test]
fn what_is_not_known_is_never_too_small() {
    let case = Case {
        text: BY_DATA,
        grid: [2, 1, 1],
        block: [4, 1, 1],
        sizes: &[("n", 7)],
        arrays: &[("a", 7), ("index", 7), ("b", 14), ("c", 14)],
    };
    case.compare(false);
    let k = lower(BY_DATA);
    let exact = |array, kind| case.derived(&k, array, kind, [0, 0, 0]).exact;
    assert!(!exact("a", AccessKind::Read));
    assert!(!exact("b", AccessKind::Write) && !exact("c", AccessKind::Write));
    let written = case.derived(&k, "b", AccessKind::Write, [1, 0, 0]).found;
    assert_eq!(written, Some([4, 5, 6, 11, 12, 13].into()));
}
