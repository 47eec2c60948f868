//! Copies of reads that data decide on: which threads need one is not what the runs of a small block happen to show.

mod common;

use common::{emitted, planned};

/// A tile of an element more on each side, in blocks of any size.
fn kernel(choices: &str) -> String {
    format!(
        "__global__ void k(const float *q, const float *u, float *out, int n) {{
    __shared__ float t[1024 + 2];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[threadIdx.x + 1] = q[i];
    __insert();
    __syncthreads();
    {choices}
}}
"
    )
}

/// The conditions of the copies.
fn conditions(name: &str, text: &str) -> Vec<String> {
    let staged = planned(text).unwrap_or_else(|(_, said)| panic!("{said}"));
    emitted(name, &staged.text);
    let condition = |c: &String| c.split(" t[").next().unwrap_or("").to_string();
    staged.copies.iter().map(condition).collect()
}

const ENDS: [&str; 2] = [
    "if (i != 0 && threadIdx.x == 0 && n >= i)",
    "if (threadIdx.x == blockDim.x - 1 && i <= n - 2)",
];

#[test]
fn all_threads_at_an_end_of_a_block_copy() {
    let text = kernel(
        "if (i >= n) return;
    if (u[i] > 0) { if (i > 0) out[i] = __opt__(t[threadIdx.x], q[i - 1]); }
    else if (i + 1 < n) out[i] = __opt__(t[threadIdx.x + 2], q[i + 1]);",
    );
    assert_eq!(conditions("by_data_ends", &text), ENDS);
}

#[test]
fn differences_against_the_flow() {
    let text = kernel(
        "if (i > 0 && i < n - 1) {
        if (u[i] > 0) out[i] = __opt__(t[threadIdx.x + 1], q[i]) - __opt__(t[threadIdx.x], q[i - 1]);
        else out[i] = __opt__(t[threadIdx.x + 2], q[i + 1]) - __opt__(t[threadIdx.x + 1], q[i]);
    }",
    );
    assert_eq!(conditions("by_data_upwind", &text), ENDS);
}
