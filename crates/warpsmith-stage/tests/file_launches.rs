//! Launches as the host code of a file makes them: the staged text is right in these, too, and not only in small ones.

mod common;

use common::{emitted, planned};
use warpsmith_stage::stage::Staged;

/// A plan for a stencil on arrays in rows of `#define N`.
fn rows(tile: &str, copy: &str, sum: &str, host: &str) -> String {
    format!(
        "#define N 128
__global__ void jacobi(float (*a)[N], const float (*b)[N])
{{
    __shared__ float {tile};
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    {copy}
    __syncthreads();
    if (i >= 1 && i < N - 1 && j >= 1 && j < N - 1)
        a[i][j] = 0.25f * ({sum});
}}
{host}
"
    )
}

const HOST: &str =
    "int main() { dim3 block(32, 8); jacobi<<<dim3(N / 32, N / block.y), block>>>(0, 0); }";

fn copies(host: &str) -> String {
    rows(
        "t[10][34]",
        "int ti = threadIdx.y + 1, tj = threadIdx.x + 1;
    t[ti][tj] = b[i][j];
    __insert();",
        "__opt__(t[ti - 1][tj], b[i - 1][j]) + __opt__(t[ti + 1][tj], b[i + 1][j])
            + __opt__(t[ti][tj - 1], b[i][j - 1]) + __opt__(t[ti][tj + 1], b[i][j + 1])",
        host,
    )
}

fn staged(text: &str) -> Staged {
    planned(text).unwrap_or_else(|(_, said)| panic!("{said}"))
}

/// What is done, in few words: the launches of the file that were looked at.
fn looked_at(staged: &Staged) -> Vec<&String> {
    staged.checked.iter().filter(|l| l.contains("as in the file")).collect()
}

/// The copies of rows that the launch of the file does not have would read outside of the array.
#[test]
fn copies_end_where_rows_of_the_file_end() {
    let staged = staged(&copies(HOST));
    assert_eq!(looked_at(&staged), ["block 32x8, grid 4x16 as in the file"], "{staged:?}");
    let below = staged.copies.iter().find(|c| c.contains("b[i + 1][j]")).expect("a copy");
    assert!(below.contains("i < N - 1") || below.contains("i != N - 1"), "{below}");
    assert!(staged.copies.iter().all(|c| !c.contains("blockIdx")), "{:?}", staged.copies);
    emitted("rows_of_the_file_copies", &staged.text);
}

#[test]
fn reads_are_right_at_the_rows_of_the_file() {
    let sum =
        "__opt__(b[i - 1][j]) + __opt__(b[i + 1][j]) + __opt__(b[i][j - 1]) + __opt__(b[i][j + 1])";
    let copy = "t[threadIdx.y][threadIdx.x] = b[i][j];";
    let staged = staged(&rows("t[8][32]", copy, sum, HOST));
    assert_eq!(looked_at(&staged).len(), 1, "{:?}", staged.checked);
    emitted("rows_of_the_file_reads", &staged.text);
}

/// Without host code, blocks cover what the constant bounds.
#[test]
fn constants_that_bound_positions_say_the_grid() {
    let staged = staged(&copies(""));
    assert_eq!(looked_at(&staged), Vec::<&String>::new());
    let over = |l: &&String| l.contains("grid 4x16 over all that constants bound");
    assert_eq!(staged.checked.iter().filter(over).count(), 1, "{:?}", staged.checked);
    assert!(staged.copies.iter().all(|c| !c.contains("blockIdx")), "{:?}", staged.copies);
}

/// Arrays that are too large to be emulated: the same with smaller rows.
#[test]
fn large_sizes_are_made_smaller() {
    let staged = staged(&copies(HOST).replace("#define N 128", "#define N 16384"));
    assert_eq!(looked_at(&staged), Vec::<&String>::new());
    let said = staged.notes.iter().find(|n| n.contains("not emulated as the file launches it"));
    assert!(said.is_some_and(|n| n.contains("grid 512x2048")), "{:?}", staged.notes);
    assert!(staged.checked.iter().any(|l| l.contains("N=96")), "{:?}", staged.checked);
    let below = staged.copies.iter().find(|c| c.contains("b[i + 1][j]")).expect("a copy");
    assert!(below.contains("i < N - 1") || below.contains("i != N - 1"), "{below}");
}

/// What host code changes later, or makes of numbers that nobody knows, is no launch of the file: blocks that cover what the constant
/// bounds are looked at in its place, and a note says so.
#[test]
fn grids_that_nobody_knows_are_not_said_to_be_the_files() {
    for host in [
        "int main() { dim3 g(N / 32, N / 8), b(32, 8); if (N % 32) g.x++; jacobi<<<g, b>>>(0, 0); }",
        "int main() { dim3 g(N / 32, N / 8), b(32, 8); unsigned *p = &g.y; ++*p; jacobi<<<g, b>>>(0, 0); }",
        "const int gx = 3; void run(int gx) { jacobi<<<dim3(gx, 16), dim3(32, 8)>>>(0, 0); }
         int main(int argc, char **argv) { run(argc + 3); }",
        "int main() { short k = 65540; jacobi<<<dim3(k, 16), dim3(32, 8)>>>(0, 0); }",
    ] {
        let staged = staged(&copies(host));
        assert_eq!(looked_at(&staged), Vec::<&String>::new(), "{host}");
        let said = |n: &&String| n.contains("not emulated as the file launches it");
        assert!(staged.notes.iter().any(|n| said(&n)), "{host}: {:?}", staged.notes);
        assert!(staged.copies.iter().all(|c| !c.contains("blockIdx")), "{:?}", staged.copies);
    }
}

/// Numbers are those of the types that they are kept in.
#[test]
fn reals_that_whole_numbers_are_made_of_are_cut_off() {
    let host = "int main() { int g = N / 24.0f; if (g * 24 < N) g = g; jacobi<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(0, 0); }";
    assert_eq!(looked_at(&staged(&copies(host))).len(), 1);
    let host = "int main() { const int g = N / 30.0f; jacobi<<<dim3(g * 8 / 8, N / 8), dim3(32, 8)>>>(0, 0); }";
    let staged = staged(&copies(host));
    assert_eq!(
        looked_at(&staged),
        ["block 32x8, grid 4x16 as in the file"],
        "{:?}",
        staged.checked
    );
}

/// Each condition is found from launches that an earlier one was wrong in, one of which is large and run in part.
#[test]
fn conditions_of_copies_are_looked_for_until_one_is_right() {
    let staged = staged(
        "#define W 640
#define H 480
__global__ void sobel(const unsigned char *img, short *gx) {
    __shared__ unsigned char s[18 * 18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int p = y * W + x, q = (threadIdx.y + 1) * 18 + threadIdx.x + 1;
    s[q] = img[min(y, H - 1) * W + min(x, W - 1)];
    __insert();
    __syncthreads();
    if (x > 0 && y > 0 && x < W - 1 && y < H - 1)
        gx[p] = __opt__(s[q - 17], img[p - W + 1]) + 2 * __opt__(s[q + 1], img[p + 1])
            + __opt__(s[q + 19], img[p + W + 1]) - __opt__(s[q - 19], img[p - W - 1])
            - 2 * __opt__(s[q - 1], img[p - 1]) - __opt__(s[q + 17], img[p + W - 1]);
}
",
    );
    assert!(staged.checked.iter().any(|l| l.contains("38 of 1200 blocks")), "{:?}", staged.checked);
    emitted("conditions_of_large_launches", &staged.text);
}
