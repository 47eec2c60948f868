//! Memory of programs: how much there may be, and who moves it.

use super::{check, program};

#[test]
fn memory_that_was_freed_does_not_count() {
    let round = |end: &str| {
        format!(
            "for (int i = 0; i < 64; i++) {{
                float *x; cudaMalloc(&x, 1 << 20); cudaMemset(x, 0, 400); scale<<<4, 32>>>(x, 2.0f, 100); {end}
            }}"
        )
    };
    let text = check(&program(&round("cudaFree(x);")), &["--max-memory", "8M"], 0);
    assert!(text.contains("64 launches checked: nothing found"), "{text}");
    assert!(!text.contains("needs more than"), "{text}");
    let text = check(&program(&round("")), &["--max-memory", "8M"], 3);
    assert!(text.contains("allocates needs more than 8388608 bytes"), "{text}");
    assert!(text.contains("the memory limit was reached (--max-memory)"), "{text}");
}

#[test]
fn copies_and_fills_of_kernels_stay_within_arrays() {
    for (call, kernel) in [
        ("cudaMemcpyAsync(y, x, (n + 1) * sizeof(int), cudaMemcpyDeviceToDevice, 0)", "copy"),
        ("cudaMemsetAsync(y + 1, 0, n * sizeof(int))", "fill"),
    ] {
        let text = format!(
            "__global__ void drive(int n, const int *x, int *y) {{ if (threadIdx.x == 0) {call}; }}
            int main() {{
                int *x, *y; cudaMalloc(&x, 808); cudaMalloc(&y, 400); cudaMemset(x, 0, 808);
                drive<<<1, 32>>>(100, x, y); cudaDeviceSynchronize();
            }}"
        );
        let text = check(&text, &[], 1);
        assert!(text.contains("write of `y[100]` is outside of `y`"), "{text}");
        assert!(text.contains(&format!("{kernel}_in_kernel<<<1, 256>>>")), "{text}");
    }
}

#[test]
fn memory_of_the_host_counts_like_that_of_the_device() {
    let body = "float *h = (float *)malloc(16 << 20), *x; h[0] = 1; cudaMalloc(&x, 400);
        cudaMemcpy(x, h, 400, cudaMemcpyHostToDevice); scale<<<4, 32>>>(x, 2.0f, 100);";
    let text = check(&program(body), &["--max-memory", "8M"], 3);
    assert!(text.contains("this statement was left out: the memory limit was reached"), "{text}");
}
