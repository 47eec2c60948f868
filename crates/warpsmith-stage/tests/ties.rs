//! Sizes that the host's code makes of others, which nothing in the kernel says.

mod common;

use common::{emitted, has_solver, planned};
use warpsmith_stage::stage::Verdict;

/// Maxima of 2 x 2, whose inputs go through a tile; `(host)` is what makes the sizes of the output.
fn pooling(host: &str) -> String {
    "#include <cuda_runtime.h>
#define B 8
__global__ void maxpool(const float *in, float *out, int w, int h, int ow, int oh) {
    __shared__ float t[2 * B][2 * B];
    int ox = blockIdx.x * B + threadIdx.x, oy = blockIdx.y * B + threadIdx.y;
    int x0 = blockIdx.x * 2 * B, y0 = blockIdx.y * 2 * B;
    for (int dy = threadIdx.y; dy < 2 * B; dy += B)
        for (int dx = threadIdx.x; dx < 2 * B; dx += B)
            if (x0 + dx < w && y0 + dy < h) t[dy][dx] = in[(y0 + dy) * w + x0 + dx];
    __syncthreads();
    if (ox < ow && oy < oh) {
        float m = __opt__(in[2 * oy * w + 2 * ox]);
        m = fmaxf(m, __opt__(in[2 * oy * w + 2 * ox + 1]));
        m = fmaxf(m, __opt__(in[(2 * oy + 1) * w + 2 * ox]));
        m = fmaxf(m, __opt__(in[(2 * oy + 1) * w + 2 * ox + 1]));
        out[oy * ow + ox] = m;
    }
}
void run(const float *in, float *out, int w, int h) {
    (host)
}
"
    .replace("(host)", host)
}

const HALVES: &str = "const int ow = w / 2, oh = h >> 1;
    dim3 block(B, B), grid((ow + B - 1) / B, (oh + B - 1) / B);
    maxpool<<<grid, block>>>(in, out, w, h, ow, oh);";

#[test]
fn output_sizes_are_half_of_those_of_the_input() {
    let staged = planned(&pooling(HALVES)).unwrap_or_else(|(_, why)| panic!("{why}"));
    emitted("pooling", &staged.text);
    let last = "m = fmaxf(m, t[2 * threadIdx.y + 1][2 * threadIdx.x + 1]);";
    assert!(staged.text.contains(last), "{}", staged.text);
    assert!(staged.text.contains(" where ow == w / 2 and oh == h / 2: "), "{}", staged.text);
    let assumed = "ow == w / 2, as where the file launches it";
    assert!(staged.assumed.contains(assumed), "{:?}", staged.assumed);
    if has_solver() {
        let proved = staged.accesses.iter().filter(|a| a.verdict == Verdict::Proved).count();
        let why: Vec<_> = staged.accesses.iter().map(|a| &a.unproved).collect();
        assert_eq!(proved, 4, "{why:?}");
    }
}

/// Rounded up, the last outputs of odd sizes read what is in no tile: what the host does is no excuse for that.
#[test]
fn what_the_host_makes_too_large_is_not_served_without_a_guard() {
    let up = HALVES.replace("w / 2", "(w + 1) / 2").replace("h >> 1", "(h + 1) / 2");
    let (no, why) = planned(&pooling(&up)).expect_err("odd sizes");
    assert!(no && why.contains("error[W71"), "{why}");
}

/// Nothing is taken for granted that holds at one launch alone, or not all the time.
#[test]
fn launches_that_differ_tie_nothing() {
    let other = "maxpool<<<1, dim3(B, B)>>>(in, out, w, h, w, h);";
    for host in [
        format!("{HALVES}\n    {other}"),
        HALVES.replace("const int", "int").replace("dim3 block", "w -= 3; dim3 block"),
        other.to_string(),
    ] {
        let (no, why) = planned(&pooling(&host)).expect_err("sizes of their own");
        assert!(no && why.contains("error[W711]"), "{why}");
    }
}

/// A size that a call, a stream or a reference may change before the launch is no size that others are made of.
#[test]
fn what_may_be_written_by_reference_ties_nothing() {
    let with = |line: &str| HALVES.replace("dim3 block", &format!("{line}\n    dim3 block"));
    let before = "static void shrink(int n, int &w) { w -= n; }\nstatic int twice(int w) { return 2 * w; }\n";
    let text = |line: &str| {
        pooling(&with(line)).replace("#define B 8\n", &format!("#define B 8\n{before}"))
    };
    assert!(planned(&text("twice(w); twice(h);")).is_ok());
    for line in ["shrink(3, w);", "std::swap(w, h);", "std::cin >> w;", "int &r = w; r -= 3;"] {
        let (no, why) = planned(&text(line)).expect_err(line);
        assert!(no && why.contains("error[W711]"), "{line}: {why}");
    }
}
