//! Tiles that do not hold all values of the elements, and constants of files whose blocks are written as numbers.

mod common;

use common::{has_solver, planned};

const SUM: &str = "#define R 2
__global__ void sum(const ELEMENT *in, RESULT *out, int n) {
    __shared__ TILE t[64 + 2 * R];
    int i = blockIdx.x * 64 + threadIdx.x, s = threadIdx.x + R;
    if (i < n) { t[s] = in[i]; __insert(); }
    __syncthreads();
    if (i < n) {
        RESULT a = 0;
        for (int k = -R; k <= R; k++)
            a = a * 2 + __opt__(t[s + k], i + k >= 0 && i + k < n ? in[i + k] : (ELEMENT)0);
        out[i] = a;
    }
}
";

fn sum(element: &str, tile: &str, result: &str) -> Result<String, String> {
    let text = SUM.replace("ELEMENT", element).replace("TILE", tile).replace("RESULT", result);

    planned(&text).map(|s| s.text).map_err(|(_, m)| m)
}

/// Data that were tried are small: what is lost of larger ones nobody sees.
#[test]
fn narrow_tiles_are_refused() {
    for (element, tile, result) in
        [("int", "float", "int"), ("double", "float", "double"), ("unsigned", "float", "double")]
    {
        let message = sum(element, tile, result).expect_err("a refusal");
        assert!(message.contains("W713"), "{message}");
    }
    // Small data do not show it.
    let message = sum("long long", "int", "long long").expect_err("a refusal");
    let what = "a tile of `int` does not hold all values of `long long`";
    assert!(message.contains(what), "{message}");
    assert!(sum("int", "double", "int").is_ok());
    assert!(sum("unsigned char", "float", "float").is_ok());
    // What is converted all the same is proved.
    assert_eq!(sum("int", "float", "float").is_ok(), has_solver());
}

/// `i == n - R` is `i == n - 1` where R is one, and in launches whose sizes end near a block with other values, too.
#[test]
fn a_radius_is_followed_whatever_sizes_end_in() {
    let text = SUM
        .replace("ELEMENT", "float")
        .replace("TILE", "float")
        .replace("RESULT", "float")
        .replace("#define R 2", "#define R 1");
    let staged = planned(&text).unwrap_or_else(|(_, m)| panic!("{m}"));
    let asserts = staged.text.contains("static_assert(R == 1");
    assert!(asserts || !staged.text.contains("i == n - R"), "{}", staged.text);
}

/// Sizes at which no thread reads anything, though data decide who does: copies read nothing there.
#[test]
fn copies_of_what_nobody_reads() {
    let staged = planned(
        "#define R 2
#define BX 64
__global__ void some(const float *in, const int *u, float *out, int n) {
    __shared__ float t[BX + 2 * R];
    int i = blockIdx.x * BX + threadIdx.x, s = threadIdx.x + R;
    __insert();
    __syncthreads();
    if (i >= 5 && i < n - 7 && u[i] != 0) {
        float a = 0;
        for (int k = -R; k <= R; k++) a = a * 2 + __opt__(t[s + k], in[i + k]);
        out[i] = a;
    }
}
",
    );
    let staged = staged.unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.checked.iter().any(|l| l.ends_with("n=13")), "{:?}", staged.checked);
    assert!(!staged.text.contains("i > 1 &&"), "{}", staged.text);
}
