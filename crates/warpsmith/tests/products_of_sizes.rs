//! Sizes that are multiplied: an image of so many rows and columns, whose pixels are spread over blocks.

use std::process::Command;

/// A program of two sizes with a guard for the pixels, and a loop of launches that makes large images slow.
fn program(guard: &str) -> String {
    format!(
        "#include <cstdlib>
__global__ void blend(unsigned char *x, const unsigned char *y, size_t n)\n{{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if ({guard}) return;
    x[i] = 0.92f * x[i] + 0.08f * y[i];\n}}
int main(int argc, char **argv)\n{{
    if (argc != 4) return 1;
    int width = atoi(argv[1]), height = atoi(argv[2]), repeat = atoi(argv[3]), n = width * height;
    unsigned char *h = (unsigned char *)malloc(n), *x, *y;
    cudaMalloc(&x, n);
    cudaMalloc(&y, n);
    for (int k = 0; k < repeat; k++) {{
        for (int i = 0; i < n; i++) h[i] = (i * 7 + k * k) % 251;
        cudaMemcpy(x, h, n, cudaMemcpyHostToDevice);
        cudaMemcpy(y, h, n, cudaMemcpyHostToDevice);
        blend<<<(n + 255) / 256, 256>>>(x, y, n);
    }}
    cudaMemcpy(h, x, n, cudaMemcpyDeviceToHost);
    return h[0];\n}}\n"
    )
}

fn check(source: &str, status: i32) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.cu"), source).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command.current_dir(folder.path()).env("NO_COLOR", "1").args(["check", "a.cu"]);
    let output = command.output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

/// 16 times 16 fills a block of 256, and so does what large sizes are multiples of.
#[test]
fn a_guard_that_is_off_by_one_is_seen_where_a_product_fills_no_block() {
    let text = check(&program("i > n"), 1);
    assert!(text.contains("error[out-of-bounds]"), "{text}");
    check(&program("i >= n"), 0);
}
