//! Files with marks in several kernels.

mod common;

use common::emitted;
use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::several::{self, Several};
use warpsmith_stage::verify::proof::solver;

const TWO: &str = "#define B 128
__global__ void first(const float *a, float *o, int n) {
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i > 0 && i < n) o[i] = __opt__(a[i - 1]) + __opt__ a[i];
}
__global__ void second(const float *b, float *o, int m) {
    __shared__ float t[B + 2];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < m) t[threadIdx.x + 1] = b[i];
    __insert();
    __syncthreads();
    if (i > 0 && i < m - 1) o[i] = __opt__(t[threadIdx.x], b[i - 1]) + __opt__(t[threadIdx.x + 2], b[i + 1]);
}
";

fn staged(text: &str, options: Input) -> Result<Several, String> {
    let settings = Settings { path: "plan.cu".into(), ..Settings::default() };
    let input = Input { settings, text: text.into(), solver: solver::program(), ..options };
    several::stage(input).map_err(|r: Refusal| {
        r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect()
    })
}

/// Each has its own launches, and sizes of the other are nothing to it.
#[test]
fn both_kernels_are_staged() {
    for given in [vec![], vec![("m".to_string(), 500)]] {
        let options = Input { integers: given.into_iter().collect(), ..Input::default() };
        let done = staged(TWO, options).unwrap_or_else(|m| panic!("{m}"));
        let names: Vec<&str> = done.kernels.iter().map(|(_, s)| s.kernel.as_str()).collect();
        assert_eq!(names, ["first", "second"]);
        assert!(done.text.contains("(threadIdx.x != 0 ? t[threadIdx.x - 1] : a[i - 1])"));
        // What is there already is not brought again.
        assert!(done.text.contains("threadIdx.x == 0"), "{}", done.text);
        assert!(!done.text.contains("__opt__") && !done.text.contains("__insert"), "{}", done.text);
        emitted("several", &done.text);
    }
}

/// The other one keeps its plan, byte for byte.
#[test]
fn the_one_that_is_asked_for() {
    let options = Input { kernel: Some("second".into()), ..Input::default() };
    let done = staged(TWO, options).unwrap_or_else(|m| panic!("{m}"));
    let first = TWO.find("__global__ void second").expect("there");
    assert_eq!(done.text[..first], TWO[..first]);
    assert!(!done.text[first..].contains("__opt__"));
    assert_eq!(done.kernels.len(), 1);
}

/// What a function reads depends on who calls it.
#[test]
fn functions_of_several_kernels_are_refused() {
    let text = TWO
        .replacen("__global__", "__device__ float at(const float *a, float *t, int i) { __shared__ float u[B]; return __opt__(a[i]); }\n__global__", 1);
    let options = Input { kernel: Some("first".into()), ..Input::default() };
    let message = staged(&text, options).expect_err("a refusal");
    assert!(message.contains("error[W708]"), "{message}");
}

/// Nothing is done where one of them cannot be, nor where the name is of none of them.
#[test]
fn refusals_are_of_the_whole() {
    let text = TWO.replacen("t[threadIdx.x + 1] = b[i]", "t[threadIdx.x + 9] = b[i]", 1);
    assert!(staged(&text, Input::default()).is_err());
    let options = Input { kernel: Some("third".into()), ..Input::default() };
    assert!(staged(TWO, options).expect_err("a refusal").contains("error[W304]"));
    let options = Input { integers: [("q".to_string(), 5)].into(), ..Input::default() };
    assert!(staged(TWO, options).expect_err("a refusal").contains("error[W306]"));
}
