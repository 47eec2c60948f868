//! What arguments choose, and what hangs on them.

use super::{check, program};

/// A program that goes on without arguments may take one that chooses a kernel.
#[test]
fn an_argument_chooses_where_none_is_needed() {
    let other = "__global__ void shift(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] += 1;
}
";
    let body = "float *x; cudaMalloc(&x, 400); cudaMemset(x, 0, 400);
    int which = 1;
    if (argc > 1) which = atoi(argv[1]);
    switch (which) {
    case 1: scale<<<4, 32>>>(x, 2.0f, 100); break;
    case 2: shift<<<4, 32>>>(x, 100); break;
    default: return 1;
    }";
    let text = check(&format!("{other}{}", program(body)), &[], 1);
    assert!(text.contains("it was also run with `2`, which launches other kernels"), "{text}");
    assert!(text.contains("error[out-of-bounds]: read of `x[100]`"), "{text}");
    let right = other.replace("i <= n", "i < n");
    let text = check(&format!("{right}{}", program(body)), &[], 0);
    assert!(!text.contains("was not launched"), "{text}");
}

/// The direction of a copy is wrong with any number.
#[test]
fn a_direction_hangs_on_no_argument() {
    let body = |way: &str| {
        let body = "if (argc != 2) return 1;
    int n = atoi(argv[1]);
    float *h = (float *)malloc(n * sizeof(float)), *x;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemcpy(x, h, n * sizeof(float), WAY);
    scale<<<(n + 31) / 32, 32>>>(x, 2.0f, n);
    free(h);";
        program(&body.replace("WAY", way))
    };
    let text = check(&body("cudaMemcpyDeviceToHost"), &[], 1);
    assert!(text.contains("error[invalid-pointer]"), "{text}");
    check(&body("cudaMemcpyHostToDevice"), &[], 0);
}

/// A variable with the name of its type, which is a template of a library.
#[test]
fn a_length_of_time_has_the_name_of_its_type() {
    let body = "float *x; cudaMalloc(&x, 400); cudaMemset(x, 0, 400);
    float all = 0;
    for (int i = 0; i < 3; i++) {
        auto start = std::chrono::high_resolution_clock::now();
        scale<<<4, 32>>>(x, 2.0f, 100);
        std::chrono::duration<float, std::milli> duration = std::chrono::high_resolution_clock::now() - start;
        all += duration.count();
    }
    printf(\"%f\\n\", all);";
    let text = check(&format!("#include <chrono>\n#include <cstdio>\n{}", program(body)), &[], 0);
    assert!(text.contains("3 launches checked: nothing found"), "{text}");
    assert!(!text.contains("left out"), "{text}");
}
