//! Kernels that wait: for the host, or for other threads.

use super::check;

/// The host does not go on while a kernel runs: one that waits for it says nothing of the kernel.
#[test]
fn kernels_that_wait_for_the_host_are_a_limit() {
    let program = |allocation: &str| {
        format!(
            "__global__ void serve(volatile int *bell, int *out)
{{
    if (threadIdx.x == 0) while (*bell == 0) {{}}
    __syncthreads();
    out[threadIdx.x] = *bell;
}}
int main()
{{
    int *bell, *out;
    {allocation};
    cudaMalloc(&out, 128);
    cudaMemset(bell, 0, 4);
    serve<<<1, 32>>>(bell, out);
    *bell = 1;
    cudaDeviceSynchronize();
    return 0;
}}
"
        )
    };
    let text = check(&program("cudaMallocManaged(&bell, 4)"), &[], 3);
    assert!(text.contains("it waits for memory that the host may write meanwhile"), "{text}");
    let own = program("cudaMalloc(&bell, 4)").replace("*bell = 1;", "");
    assert!(check(&own, &[], 1).contains("infinite-loop"));
    // What waits for nothing has no end, whoever may write what.
    let endless = program("cudaMallocManaged(&bell, 4)").replace("*bell == 0", "out != nullptr");
    assert!(check(&endless, &[], 1).contains("infinite-loop"));
}

/// Memory that the host writes is no excuse for a loop that reads other memory, unless another one waits for the host.
#[test]
fn loops_that_wait_for_the_device_alone_have_no_end() {
    let program = |kernel: &str, memory: &str| {
        format!(
            "__device__ __managed__ volatile int door;
__global__ void wait(volatile int *x, volatile int *lock)
{{
    __shared__ volatile int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    {kernel}
    x[threadIdx.x] = 1;
}}
int main()
{{
    int *x, *lock;
    {memory};
    for (int i = 0; i < 32; i++) x[i] = 0;
    cudaMalloc(&lock, 4);
    cudaMemset(lock, 0, 4);
    wait<<<2, 32>>>(x, lock);
    door = 1;
    cudaDeviceSynchronize();
}}
"
        )
    };
    let [managed, pinned] =
        ["cudaMallocManaged(&x, 128)", "cudaHostAlloc(&x, 128, cudaHostAllocMapped)"];
    let acquire = "if (threadIdx.x == 0) while (atomicCAS((int *)lock, 0, 1) != 0) {}";
    for of_device in ["while (s == 0) {}", "while (*lock == 0) {}", acquire] {
        for memory in [managed, pinned] {
            let text = check(&program(of_device, memory), &[], 1);
            assert!(text.contains("infinite-loop"), "{text}");
        }
    }
    let behind = "if (threadIdx.x == 0) { while (x[0] == 0) {} s = 1; } while (s == 0) {}";
    let nested = "while (x[0] == 0) for (int i = 0; i < 3; i++) if (x[i] == 2) break;";
    for of_host in ["while (x[0] == 0) {}", "while (door == 0) {}", behind, nested] {
        let text = check(&program(of_host, managed), &["--max-steps", "20000"], 3);
        assert!(text.contains("it waits for memory that the host may write"), "{text}");
    }
    // What a later launch waits for may come of the first one, once the host goes on.
    let first = program("while (x[0] == 0) {}", managed);
    let later = first.replace("    door = 1;", "    wait<<<2, 32>>>(lock, x);\n    door = 1;");
    let text = check(&later, &[], 3);
    assert!(text.contains("it may wait for what a launch does that waits for the host"), "{text}");
}
