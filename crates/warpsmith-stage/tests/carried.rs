//! Proofs of tiles that are filled from registers, which a loop hands on from plane to plane: what is right is proved, and what a small
//! change makes wrong is not.

mod common;

use common::{both_proved, has_solver};

const BLOCK: [u32; 3] = [8, 4, 1];

/// Seven points of a volume, plane by plane. The reads beside the thread are `WEST` and `NORTH`.
const PLANES: &str = "\
#define BX 8
#define BY 4
__global__ void planes(const float *u, float *v, int nx, int ny, int nz) {
    __shared__ float p[BY + 2][BX + 2];
    int i = blockIdx.x * BX + threadIdx.x + 1, j = blockIdx.y * BY + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool ok = i < nx - 1 && j < ny - 1;
    float below = 0, mid = 0, above = 0;
    if (ok) { mid = u[j * nx + i]; above = u[nx * ny + j * nx + i]; }
    for (int k = 1; k < nz - 1; k++) {
        int c = (k * ny + j) * nx + i;
        below = mid;
        mid = above;
        if (ok) above = u[c + nx * ny];
        __syncthreads();
        if (ok) p[ty][tx] = mid;
        COPIES
        __syncthreads();
        if (ok) v[c] = WEST + NORTH + below + above;
    }
}
";

/// The same with a plane more on each side, as stencils of four neighbours want.
const FIVE: &str = "\
#define BX 8
#define BY 4
__global__ void planes(const float *u, float *v, int nx, int ny, int nz) {
    __shared__ float p[BY + 2][BX + 2];
    int i = blockIdx.x * BX + threadIdx.x + 1, j = blockIdx.y * BY + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, s = nx * ny;
    bool ok = i < nx - 1 && j < ny - 1;
    float b2 = 0, b1 = 0, mid = 0, a1 = 0, a2 = 0;
    int at = j * nx + i;
    if (ok) { b1 = u[at]; mid = u[at + s]; a1 = u[at + 2 * s]; a2 = u[at + 3 * s]; }
    for (int k = 2; k < nz - 2; k++) {
        int c = (k * ny + j) * nx + i;
        b2 = b1; b1 = mid; mid = a1; a1 = a2;
        if (ok) a2 = u[c + 2 * s];
        __syncthreads();
        if (ok) p[ty][tx] = mid;
        COPIES
        __syncthreads();
        if (ok) v[c] = WEST + NORTH + b2 + b1 + a1 + a2;
    }
}
";

/// Whether the tile is proved to hold what the unmodified kernel reads.
fn is_proved(text: &str) -> bool {
    let with = |west: &str, north: &str, copies: &str| {
        text.replace("WEST", west).replace("NORTH", north).replace("COPIES", copies)
    };
    let old = with("u[c - 1]", "u[c - nx]", "");
    let copies = "if (ok && threadIdx.x == 0) p[ty][tx - 1] = u[c - 1];
        if (ok && threadIdx.y == 0) p[ty - 1][tx] = u[c - nx];";
    let new = with("p[ty][tx - 1]", "p[ty - 1][tx]", copies);
    both_proved("planes", (&old, &new), BLOCK)
}

#[test]
fn planes_in_registers_are_followed() {
    if !has_solver() {
        return;
    }
    let counted = PLANES
        .replace("for (int k = 1; k < nz - 1; k++) {", "int k = 0;\n    while (++k < nz - 1) {");
    let backwards = PLANES.replace(
        "for (int k = 1; k < nz - 1; k++) {",
        "for (int t = 0; t < nz - 2; t++) {\n        int k = t + 1;",
    );
    for (name, text) in [("planes", PLANES), ("five", FIVE), ("shifted", &backwards)] {
        assert!(is_proved(text), "{name}");
    }
    // Conditions with effects are not followed.
    assert!(!is_proved(&counted));
}

#[test]
fn no_wrong_queue_is_proved() {
    if !has_solver() {
        return;
    }
    let wrong = [
        (PLANES, "mid = above;", "mid = below;"),
        (PLANES, "above = u[nx * ny + j * nx + i]", "above = u[j * nx + i]"),
        (PLANES, "above = u[nx * ny + j * nx + i]", "above = u[2 * nx * ny + j * nx + i]"),
        (PLANES, "above = u[nx * ny + j * nx + i]", "above = 1"),
        (
            PLANES,
            "if (ok) { mid = u[j * nx + i]; above",
            "if (i < nx - 2) { mid = u[j * nx + i]; above",
        ),
        (PLANES, "if (ok) above = u[c + nx * ny];", "if (ok) above = u[c];"),
        (PLANES, "if (ok) above = u[c + nx * ny];", "if (i < nx - 2) above = u[c + nx * ny];"),
        (PLANES, "if (ok) above = u[c + nx * ny];", "if (ok && k < 7) above = u[c + nx * ny];"),
        (PLANES, "if (ok) above = u[c + nx * ny];", "if (ok && u[c] > 0) above = u[c + nx * ny];"),
        (PLANES, "if (ok) above = u[c + nx * ny];", "if (ok) above += u[c + nx * ny];"),
        (PLANES, "p[ty][tx] = mid;", "p[ty][tx] = above;"),
        (PLANES, "p[ty][tx] = mid;", "p[ty][tx] = below;"),
        (PLANES, "k++", "k += 2"),
        (PLANES, "int k = 1;", "int k = 2;"),
        (PLANES, "int k = 1;", "int k = blockIdx.z;"),
        (PLANES, "below = mid;\n        mid = above;", "mid = above;\n        if (k == 3) break;"),
        (
            PLANES,
            "below = mid;\n        mid = above;",
            "mid = above;\n        if (k == 3) continue;",
        ),
        (
            PLANES,
            "below = mid;\n        mid = above;",
            "if (k % 2 == 0) continue;\n        mid = above;",
        ),
        (
            PLANES,
            "below = mid;\n        mid = above;",
            "below = mid;\n        if (k != 4) mid = above;",
        ),
        (PLANES, "below = mid;\n        mid = above;", "for (int t = 0; t < k; t++) mid = above;"),
        (PLANES, "const float *u, float *v", "float *u, float *v"),
        (PLANES, "        __syncthreads();\n        if (ok) p", "        if (ok) p"),
        (
            FIVE,
            "b2 = b1; b1 = mid; mid = a1; a1 = a2;",
            "mid = a1; a1 = a2; b2 = b1; b1 = mid; mid = b1 + 0;",
        ),
        (FIVE, "b2 = b1; b1 = mid; mid = a1; a1 = a2;", "a1 = a2; mid = a1; b1 = mid; b2 = b1;"),
        (FIVE, "a1 = u[at + 2 * s]", "a1 = u[at + s]"),
        (FIVE, "a2 = u[at + 3 * s]", "a2 = u[at + 2 * s]"),
        (FIVE, "a2 = u[c + 2 * s];", "a2 = u[c + s];"),
        (FIVE, "int k = 2;", "int k = 3;"),
    ];
    let mut proved = vec![];
    for (text, from, to) in wrong {
        assert!(text.contains(from), "{from}");
        let mut text = text.replace(from, to);
        // Elements that the kernel changes are not those that were read planes before.
        if from.starts_with("const") {
            text = text.replace("v[c] =", "u[c - nx * ny] = 0, v[c] =");
        }
        if is_proved(&text) {
            proved.push((from, to));
        }
    }
    assert!(proved.is_empty(), "{proved:#?}");
}
