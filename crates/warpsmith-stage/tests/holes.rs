//! Sketches with holes, and the kernels that say what is right.

use warpsmith_stage::program::Settings;
use warpsmith_stage::session::{Input, Refusal};
use warpsmith_stage::stage::{self, Staged};

const SKETCH: &str = "#define BX 32
__global__ void plain(const float *in, float *out, int n) {
    int i = blockIdx.x * BX + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = in[i - 1] + 2.0f * in[i] + in[i + 1];
}
__global__ void tiled(const float *in, float *out, int n) {
    __shared__ float tile[BX + 2];
    int i = blockIdx.x * BX + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x + __choose__(0, 1)] = in[i];
        if (threadIdx.__choose__(y, x) __choose__(!=, ==) 0 && i > 0) tile[0] = in[i - 1];
        if (threadIdx.x == __choose__(BX - 1, BX, __choose__(0, 1)) && i < n - 1) tile[BX + 1] = in[i + 1];
    }
    __syncthreads();
    if (i > 0 && i < n - 1) out[i] = tile[threadIdx.x] + 2.0f * tile[threadIdx.x + 1] + tile[threadIdx.x + __choose__(1, 2)];
}
";

fn run(text: &str, reference: Option<&str>) -> Result<Staged, (bool, String)> {
    let settings = Settings { path: "sketch.cu".into(), ..Settings::default() };
    let reference = reference.map(String::from);
    let input = Input { settings, text: text.into(), reference, ..Input::default() };
    stage::stage(input).map_err(|r: Refusal| {
        (r.no, r.diagnostics.iter().map(|d| d.render(&r.sources, false) + "\n").collect())
    })
}

#[test]
fn holes_are_filled_as_the_reference_says() {
    let staged = run(SKETCH, Some("plain")).unwrap_or_else(|(_, m)| panic!("{m}"));
    let filling = staged.filling.expect("holes");
    let texts: Vec<&str> = filling.holes.iter().map(|h| h.text.as_str()).collect();
    assert_eq!(texts, ["1", "x", "==", "BX - 1", "2"]);
    assert!(staged.text.contains("if (threadIdx.x == 0 && i > 0) tile[0]"), "{}", staged.text);
    assert!(filling.checked.iter().any(|l| l.starts_with("block 256")), "{:?}", filling.checked);
}

#[test]
fn holes_without_a_reference_and_without_an_answer() {
    let Err((no, message)) = run(SKETCH, None) else { panic!("filled") };
    assert!(!no && message.contains("error[W733]"), "{message}");
    let never = SKETCH.replace("__choose__(1, 2)", "__choose__(0, 1)");
    let Err((no, message)) = run(&never, Some("plain")) else { panic!("filled") };
    assert!(no && message.contains("error[W732]: no filling of the holes"), "{message}");
    assert!(message.contains("block 5, grid 3, n=14, block (0, 0), thread"), "{message}");
}
