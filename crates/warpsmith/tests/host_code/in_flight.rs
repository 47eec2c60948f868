//! The host and what it has not waited for.

use super::check;

const KERNELS: &str = "#include <cstdio>
#include <iomanip>
#include <iostream>
__global__ void square(int n, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * x[i];
}
__global__ void count(int n, const float *x, int *large)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 9) atomicAdd(large, 1);
}
";

/// A program with managed memory `x` of 100 elements, all set, and `large`, and a stream.
fn managed(body: &str) -> String {
    format!(
        "{KERNELS}int main()
{{
    float *x, *y, h[100];
    int *large;
    cudaStream_t s;
    cudaEvent_t e;
    cudaStreamCreate(&s);
    cudaEventCreate(&e);
    cudaMallocManaged(&x, 400);
    cudaMallocManaged(&large, 4);
    cudaMalloc(&y, 400);
    for (int i = 0; i < 100; i++) x[i] = i;
    *large = 0;
    float sum = 0;
    {body}
    cudaFree(x);
    return sum > 3;
}}
"
    )
}

/// The same with pinned memory `x`, and `y` on the device.
fn pinned(body: &str) -> String {
    managed(body).replace("cudaMallocManaged(&x", "cudaMallocHost((void **)&x")
}

fn finds(source: &str, message: &str) {
    let text = check(source, &[], 1);
    assert!(text.contains(&format!("error[race-global]: {message}")), "{text}");
    assert!(text.contains(": 1 finding"), "{text}");
}

fn is_clean(source: &str) {
    check(source, &[], 0);
}

const SUM: &str = "for (int i = 0; i < 100; i++) sum += x[i];";
const BY_HOST: &str = "by the host, which has not waited for that";

#[test]
fn managed_memory_is_read_after_a_wait() {
    for read in [
        SUM,
        "if (x[0] == 3) sum = 1;",
        "printf(\"%f\\n\", x[0]);",
        "memcpy(h, x, 400);",
        "std::cout << \"x \" << x[0] << std::endl;",
        "std::cerr << std::setw(8) << *x;",
    ] {
        let launch = "square<<<4, 32>>>(100, x);";
        let message = format!("write of `x[0]` by `square` and read {BY_HOST}");
        finds(&managed(&format!("{launch} {read}")), &message);
        for wait in ["cudaDeviceSynchronize();", "cudaStreamSynchronize(0);", "cudaFree(y);"] {
            is_clean(&managed(&format!("{launch} {wait} {read}")));
        }
    }
    let count = "count<<<4, 32>>>(100, x, large);";
    let message = format!("atomic of `large[0]` by `count` and read {BY_HOST}");
    finds(&managed(&format!("{count} sum += *large;")), &message);
    // What it only reads the host may read, too, but not write.
    is_clean(&managed(&format!("{count} {SUM}")));
    for write in ["x[1] = 3;", "memset(x, 0, 400);", "memcpy(x, h, 400);"] {
        let message =
            format!("read of `x[{}]` by `count` and write {BY_HOST}", write.starts_with('x') as u8);
        finds(&managed(&format!("for (float &v : h) v = 1; {count} {write}")), &message);
    }
    is_clean(&managed(&format!("{count} cudaDeviceSynchronize(); x[1] = 3;")));
}

#[test]
fn blocking_calls_wait_for_the_streams_that_the_default_stream_waits_for() {
    let copy = "cudaMemcpy(h, y, 400, cudaMemcpyDeviceToHost);";
    let fill = "cudaMemset(y, 0, 400);";
    is_clean(&managed(&format!("{fill} square<<<4, 32, 0, s>>>(100, x); {copy} {SUM}")));
    is_clean(&managed(&format!("square<<<4, 32>>>(100, x); cudaMemset(x, 0, 400); {SUM}")));
    is_clean(&managed("square<<<4, 32>>>(100, x); cudaMemcpy(h, x, 400, cudaMemcpyDefault);"));
    let apart = "cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);";
    let launch = "square<<<4, 32, 0, s>>>(100, x);";
    let message = format!("write of `x[0]` by `square` and read {BY_HOST}");
    finds(&managed(&format!("{apart} {fill} {launch} {copy} {SUM}")), &message);
    // Work on the device goes on behind its launch, and so do fills without a wait.
    finds(&managed(&format!("{launch} {fill} {SUM}")), &message);
    let message = format!("write of `x[0]` by a copy or fill and read {BY_HOST}");
    let other = "cudaMemset(y, 0, 400); square<<<4, 32>>>(100, y);";
    finds(&managed(&format!("{other} cudaMemsetAsync(x, 0, 400, s); {SUM}")), &message);
}

#[test]
fn copies_from_and_to_pinned_memory_are_waited_for() {
    let up =
        "cudaMemcpyAsync(y, x, 400, cudaMemcpyHostToDevice, s); square<<<4, 32, 0, s>>>(100, y);";
    let down = "cudaMemcpyAsync(x, y, 400, cudaMemcpyDeviceToHost, s);";
    let message = format!("write of `x[0]` by a copy or fill and read {BY_HOST}");
    finds(&pinned(&format!("{up} {down} {SUM}")), &message);
    let waits = [
        "cudaStreamSynchronize(s);",
        "cudaEventRecord(e, s); cudaEventSynchronize(e);",
        "cudaEventRecord(e, s); while (cudaEventQuery(e) == cudaErrorNotReady) {}",
        "cudaDeviceSynchronize();",
    ];
    for wait in waits {
        is_clean(&pinned(&format!("{up} {down} {wait} {SUM}")));
    }
    // An event that was recorded before, and streams that wait, order nothing for the host.
    for wait in ["cudaEventRecord(e, s); cudaStreamWaitEvent(0, e, 0);", "cudaGetLastError();"] {
        finds(&pinned(&format!("{up} {down} {wait} {SUM}")), &message);
    }
    finds(
        &pinned(&format!("{up} cudaEventRecord(e, s); {down} cudaEventSynchronize(e); {SUM}")),
        &message,
    );
    let message = format!("read of `x[7]` by a copy or fill and write {BY_HOST}");
    finds(&pinned(&format!("{up} x[7] = 1;")), &message);
    is_clean(&pinned(&format!("{up} cudaStreamSynchronize(s); x[7] = 1;")));
    let unnamed = "float *all[2]; cudaMallocHost((void **)&all[1], 400);";
    let down_there =
        "cudaMemcpyAsync(all[1], y, 400, cudaMemcpyDeviceToHost, s); sum += all[1][3];";
    let message = format!("write of an array by a copy or fill and read {BY_HOST}");
    finds(&pinned(&format!("{unnamed} {up} {down_there}")), &message);
    // Memory that may move to another page is copied before the call returns, and parts do not matter to each other.
    let pages = "cudaMemcpyAsync(h, y, 400, cudaMemcpyDeviceToHost, s); sum += h[0];";
    is_clean(&pinned(&format!("{up} {pages}")));
    let half =
        "cudaMemcpyAsync(y, x, 200, cudaMemcpyHostToDevice, s); square<<<2, 25, 0, s>>>(50, y);";
    is_clean(&pinned(&format!("{half} x[50] = 1;")));
}

/// What the host and a kernel hand on by flags has an order that nobody can tell here, and so has what is left out.
#[test]
fn flags_and_what_is_not_understood_are_no_races() {
    let program = |fence: &str, read: &str| {
        format!(
            "__global__ void work(float *x, volatile int *flag)
{{
    x[threadIdx.x] = threadIdx.x;
    {fence}
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
}}
int main()
{{
    float *x, sum = 0;
    int *flag;
    cudaMallocManaged(&x, 128);
    cudaMallocManaged(&flag, 4);
    *flag = 0;
    work<<<1, 32>>>(x, flag);
    {read}
    for (int i = 0; i < 32; i++) sum += x[i];
    cudaFree(x);
    return sum > 3;
}}
"
        )
    };
    is_clean(&program("", "while (*(volatile int *)flag == 0) {}"));
    is_clean(&program("__threadfence_system();", ""));
    finds(&program("", ""), &format!("write of `x[0]` by `work` and read {BY_HOST}"));
    let text = check(&managed("square<<<4, 32>>>(100, x); waitForAll(x); sum += x[0];"), &[], 0);
    assert!(text.contains("`waitForAll`"), "{text}");
}

/// What a function prepares another waits for, and a report has one finding for a wait that is missing, however often it is.
#[test]
fn functions_and_loops_of_the_host_are_followed() {
    let run = "void run(float *x) { square<<<4, 32>>>(100, x); }\n";
    let with = |body: &str| managed(body).replace("int main()", &format!("{run}int main()"));
    finds(
        &with("run(x); sum += x[5];"),
        &format!("write of `x[5]` by `square` and read {BY_HOST}"),
    );
    is_clean(&with("run(x); cudaDeviceSynchronize(); sum += x[5];"));
    let text = check(
        &with("for (int k = 0; k < 9; k++) { run(x); sum += x[5]; run(x); sum += x[6]; }"),
        &[],
        1,
    );
    assert!(text.contains(": 2 findings"), "{text}");
}

/// Numbers that are invented have nothing to do with a wait that is missing: it is so with others as well.
#[test]
fn a_wait_is_missing_whatever_the_arguments_are() {
    let program = |wait: &str| {
        let body = format!(
            "int n = atoi(argv[1]);
    float *z;
    cudaMallocManaged(&z, n * sizeof(float));
    for (int i = 0; i < n; i++) z[i] = i;
    square<<<(n + 31) / 32, 32>>>(n, z);
    {wait}
    for (int i = 0; i < n; i++) sum += z[i];"
        );
        let arguments = "int main(int argc, char **argv)\n{\n    if (argc != 2) return 1;";
        managed(&body).replace("int main()\n{", arguments)
    };
    finds(&program(""), &format!("write of `z[0]` by `square` and read {BY_HOST}"));
    is_clean(&program("cudaDeviceSynchronize();"));
}

/// Variables that host and device both have are memory like any other, in loops and by names.
#[test]
fn managed_variables_are_waited_for() {
    let program = |wait: &str, uses: &str| {
        format!(
            "__device__ __managed__ int total;
__managed__ float table[64];
__device__ int of_device;
__global__ void work(int n)
{{
    int i = threadIdx.x;
    if (i < n) {{ atomicAdd(&total, i); table[i] *= 2; of_device = 1; }}
}}
int main()
{{
    float sum = 0;
    total = 0;
    for (int i = 0; i < 64; i++) table[i] = i;
    work<<<1, 48>>>(48);
    {wait}
    {uses}
    cudaDeviceSynchronize();
    return sum > 3;
}}
"
        )
    };
    let of_total = format!("atomic of `total[0]` by `work` and read {BY_HOST}");
    let of_table = format!("write of `table[0]` by `work` and read {BY_HOST}");
    let loops = "for (int i = 0; i < 64; i++) sum += table[i];";
    finds(&program("", "sum += total;"), &of_total);
    finds(&program("", loops), &of_table);
    finds(
        &program("", "table[5] = 0;"),
        &format!("write of `table[5]` by `work` and write {BY_HOST}"),
    );
    for uses in ["sum += total;", loops, "table[5] = 0;"] {
        is_clean(&program("cudaDeviceSynchronize();", uses));
    }
    // What no thread touches may be used meanwhile.
    is_clean(&program("", "table[50] = 0; sum += table[60];"));
}
