//! Products of matrices without a plan: both operands come in tiles.

mod common;

use common::tried;
use warpsmith_emu::counters::InstructionClass;
use warpsmith_stage::auto::{Best, Chosen, Counted};

/// Requests to global memory are what costs.
fn requests(counted: &Counted<'_>) -> Option<f64> {
    let loads = counted.counters.class(InstructionClass::GlobalLoad).warps;
    Some(loads as f64 * counted.times.unwrap_or(1.0))
}

fn choose(text: &str) -> Chosen {
    tried("plain.cu", text, requests).unwrap_or_else(|(_, m)| panic!("{m}"))
}

fn best(text: &str) -> Best {
    let chosen = choose(text);
    let tried = format!("{:?}", chosen.tried);
    chosen.best.unwrap_or_else(|| panic!("no plan is chosen of {tried}"))
}

const PLAIN: &str =
    "__global__ void product(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;  // of all k
        for (int k = 0; k < K; ++k)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
void launch(const float *A, const float *B, float *C, int M, int N, int K) {
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);
    product<<<grid, block>>>(A, B, C, M, N, K);
}
";

#[test]
fn both_operands_come_in_tiles() {
    let made = best(PLAIN);
    assert_eq!(made.name, "tiles of `A` and `B`");
    let kernel =
        "__global__ void product(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float A_tile[16][16];
    __shared__ float B_tile[16][16];
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;  // of all k
    for (int k0 = 0; k0 < K; k0 += 16) {
        // Each thread brings elements for all of its block; beyond the edges there are none.
        const int kx = k0 + threadIdx.x, ky = k0 + threadIdx.y;
        A_tile[threadIdx.y][threadIdx.x] = row < M && kx < K ? A[row * K + kx] : 0;
        B_tile[threadIdx.y][threadIdx.x] = col < N && ky < K ? B[ky * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += A_tile[threadIdx.y][k] * B_tile[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
";
    let host = &PLAIN[PLAIN.find("void launch").expect("a launch")..];
    assert_eq!(made.text, format!("{kernel}{host}"));
    // Whole tiles and a rest were among what was checked.
    assert!(made.checked.iter().any(|l| l.contains("K=16")), "{:?}", made.checked);
    assert!(made.checked.iter().any(|l| l.contains("K=35")), "{:?}", made.checked);
}

#[test]
fn a_return_moves_behind_the_loop() {
    let text = PLAIN
        .replace("    if (row < M && col < N) {\n", "    if (row >= M || col >= N) return;\n")
        .replace("        C[row * N + col] = sum;\n    }\n", "        C[row * N + col] = sum;\n")
        .replace("\n        ", "\n    ");
    let made = best(&text);
    let after = "        __syncthreads();
    }
    if (row >= M || col >= N) return;
    C[row * N + col] = sum;
}
";
    assert!(made.text.contains(after), "{}", made.text);
    assert_eq!(made.text.matches("return;").count(), 1, "{}", made.text);
}

#[test]
fn what_is_no_sum_gets_no_empty_iterations() {
    let text = PLAIN.replace("float sum = 0.0f;", "float sum = 1e30f;").replace(
        "sum += A[row * K + k] * B[k * N + col];",
        "sum = fminf(sum, A[row * K + k] + B[k * N + col]);",
    );
    let made = best(&text);
    let inner = "        for (int k = k0; k < k0 + 16 && k < K; k++)
            sum = fminf(sum, A_tile[threadIdx.y][k - k0] + B_tile[k - k0][threadIdx.x]);
";
    assert!(made.text.contains(inner), "{}", made.text);
}

#[test]
fn operands_may_be_behind_local_pointers() {
    let made = best(
        "__global__ void batched(const double *A, const double *B, double *C, int n) {
    int b = blockIdx.z;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col >= n) return;
    const double *first = A + b * n * n;
    const double *second = B + b * n * n;
    double sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += first[row * n + k] * second[k * n + col];
    }
    C[b * n * n + row * n + col] = sum;
}
void launch(const double *A, const double *B, double *C, int n, int count) {
    batched<<<dim3((n + 15) / 16, (n + 15) / 16, count), dim3(16, 16)>>>(A, B, C, n);
}
",
    );
    assert_eq!(made.name, "tiles of `first` and `second`");
    assert!(made.text.contains("__shared__ double first_tile[16][16];"), "{}", made.text);
    let inner = "        for (int k = 0; k < 16; k++) {
            sum += first_tile[threadIdx.y][k] * second_tile[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row >= n || col >= n) return;
    C[b * n * n + row * n + col] = sum;
";
    assert!(made.text.contains(inner), "{}", made.text);
}

#[test]
fn blocks_need_not_be_square() {
    let text =
        PLAIN.replace("block(16, 16)", "block(32, 8)").replace("(M + 15) / 16", "(M + 7) / 8");
    let made = best(&text.replace("(N + 15) / 16", "(N + 31) / 32"));
    assert!(made.text.contains("A_tile[8][32];"), "{}", made.text);
    assert!(made.text.contains("B_tile[32][32];"), "{}", made.text);
    let copy = "        for (int k_row = threadIdx.y; k_row < 32; k_row += 8)\n            B_tile[k_row][threadIdx.x] = ";
    assert!(made.text.contains(copy), "{}", made.text);
}

#[test]
fn a_condition_on_both_axes_is_no_product() {
    // Threads that the condition keeps out would not bring what others need.
    let chosen = choose(&PLAIN.replace("row < M && col < N", "row < M && col < N && row <= col"));
    assert!(chosen.tried.iter().all(|t| !t.name.contains("tiles of")), "{:?}", chosen.tried);
}

const IN_MEMORY: &str =
    "__global__ void update(float *C, const float *A, const float *B, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        for (int l = 0; l < k; l++)
            C[i * n + j] += A[i * k + l] * B[l * n + j];
}
void launch(float *C, const float *A, const float *B, int n, int k) {
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    update<<<grid, block>>>(C, A, B, n, k);
}
";

/// Threads beyond the edges go through the tiles, and have no element to add to.
#[test]
fn a_sum_in_memory_is_kept_in_a_variable() {
    let made = best(IN_MEMORY);
    assert_eq!(made.name, "tiles of `A` and `B`");
    let before = "    float C_sum = i < n && j < n ? C[i * n + j] : 0;
    for (int l0 = 0; l0 < k; l0 += 16) {
";
    let after = "        for (int l = l0; l < l0 + 16 && l < k; l++)
            C_sum += A_tile[threadIdx.y][l - l0] * B_tile[l - l0][threadIdx.x];
        __syncthreads();
    }
    if (i < n && j < n) C[i * n + j] = C_sum;
}
";
    assert!(made.text.contains(before) && made.text.contains(after), "{}", made.text);
}

#[test]
fn a_sum_in_memory_behind_a_return() {
    let text = IN_MEMORY
        .replace("    if (i < n && j < n)\n", "    if (i >= n || j >= n) return;\n")
        .replace("        for (int l", "    for (int l")
        .replace("            C[i", "        C[i");
    let made = best(&text);
    let after = "    if (i >= n || j >= n) return;\n    C[i * n + j] = C_sum;\n}\n";
    assert!(made.text.contains("    float C_sum = i < n && j < n ? C[i * n + j] : 0;\n"));
    assert!(made.text.contains(after), "{}", made.text);
}

/// Polybench's: a scaling before the loop, a counter declared outside, rows and columns of one array.
#[test]
fn rows_and_columns_of_one_array_are_two_operands() {
    let made = best(
        "__global__ void syrk(int ni, int nj, double alpha, double beta, double *a, double *c) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < ni) && (j < ni)) {
        c[i * ni + j] *= beta;
        int k;
        for (k = 0; k < nj; k++) {
            c[i * ni + j] += alpha * a[i * nj + k] * a[j * nj + k];
        }
    }
}
void launch(int ni, int nj, double alpha, double beta, double *a, double *c) {
    dim3 block(16, 16), grid((ni + 15) / 16, (ni + 15) / 16);
    syrk<<<grid, block>>>(ni, nj, alpha, beta, a, c);
}
",
    );
    let before = "    double c_sum = 0;
    if ((i < ni) && (j < ni)) {
        c[i * ni + j] *= beta;
        c_sum = c[i * ni + j];
    }
    for (int k0 = 0; k0 < nj; k0 += 16) {
";
    assert!(made.text.contains(before), "{}", made.text);
    let inner = "c_sum += alpha * a_rows[threadIdx.y][k - k0] * a_columns[k - k0][threadIdx.x];";
    assert!(made.text.contains(inner), "{}", made.text);
    assert!(!made.text.contains("int k;"), "{}", made.text);
}

/// Each iteration's element is another one, or is read by the product, too: nothing to keep.
#[test]
fn what_moves_with_the_loop_is_no_sum() {
    for other in
        ["C[l * n + j] += A[i * k + l] * B[l * n + j];", "C[i * n + j] += C[i * n] * B[l * n + j];"]
    {
        let text = IN_MEMORY.replace("C[i * n + j] += A[i * k + l] * B[l * n + j];", other);
        let chosen = tried("plain.cu", &text, requests);
        let none = chosen.as_ref().is_err()
            || chosen.is_ok_and(|c| c.tried.iter().all(|t| !t.name.contains("tiles of")));
        assert!(none, "{other}");
    }
}
