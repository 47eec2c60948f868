//! Data and arguments that are nothing special to look at, and that few launches have: large numbers, tables that go on behind a tile,
//! arrays that are not passed.

mod common;

use common::{planned, planned_with};
use warpsmith_stage::session::Input;

fn refused(text: &str) -> String {
    planned(text).map(|s| panic!("{}", s.text)).unwrap_or_else(|(_, m)| m)
}

/// What a tile holds is the element for small numbers only.
#[test]
fn large_numbers_show_what_a_conversion_loses() {
    let kernel = |ty: &str, held: &str| {
        format!(
            "#define B 64
__global__ void f(const {ty} *in, {ty} *out, int n) {{
    __shared__ {ty} t[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) t[threadIdx.x] = {held};
    __syncthreads();
    if (i < n) out[i] = __opt__(in[i > 0 ? i - 1 : 0]);
}}
"
        )
    };
    for (ty, held) in [
        ("int", "(int)(float)in[i]"),
        ("int", "(int)((unsigned)in[i] << 8) >> 8"),
        ("long long", "(int)in[i]"),
        ("float", "in[i] * 2.0f * 0.5f"),
    ] {
        let message = refused(&kernel(ty, held));
        assert!(message.contains("W71"), "{held}: {message}");
    }
    assert!(planned(&kernel("int", "in[i]")).is_ok());
}

/// A table may have more entries than the tile, and data may ask for these.
#[test]
fn tables_go_on_behind_their_tile() {
    for entries in [32, 128, 192, 256] {
        let text = format!(
            "__global__ void f(const int *img, const int *lut, int *out, int n, int bins) {{
    __shared__ int t[{entries}];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        for (int k = 0; k < {entries}; k++) if (k < bins) t[k] = lut[k];
    __syncthreads();
    if (i < n) {{
        int v = img[i];
        if (v >= 0 && v < bins) out[i] = __opt__(lut[v]);
    }}
}}
"
        );
        if let Ok(staged) = planned(&text) {
            let served = format!("v < {entries} ? t[v]");
            assert!(staged.text.contains(&served), "{entries}: {}", staged.text);
        }
    }
}

/// Whether an array is passed decides what is in the tile.
#[test]
fn arrays_that_are_not_passed_are_asked_for() {
    let kernel = |params: &str, fill: &str, head: &str| {
        format!(
            "#define B 64
{head}
__global__ void f(const float *in, {params}, float *out, int n) {{
    __shared__ float t[B];
    int i = blockIdx.x * B + threadIdx.x;
    {fill}
    __syncthreads();
    if (i < n) out[i] = __opt__(in[i > 0 ? i - 1 : 0]);
}}
"
        )
    };
    let masks = "struct Masks { const int *rows; int width; };";
    for (params, fill, head) in [
        ("const int *mask", "if (i < n && mask) t[threadIdx.x] = in[i];", ""),
        ("const int *mask", "t[threadIdx.x] = !mask ? 0.0f : i < n ? in[i] : 1.0f;", ""),
        ("Masks m", "if (i < n && m.rows != nullptr) t[threadIdx.x] = in[i];", masks),
    ] {
        match planned(&kernel(params, fill, head)) {
            Ok(s) => assert!(s.accesses[0].replacement.contains("in["), "{fill}: {}", s.text),
            Err((_, m)) => assert!(m.contains("W71"), "{fill}: {m}"),
        }
    }
    // Where it decides nothing of that it may be null.
    let scaled = kernel("const float *scale", "if (i < n) t[threadIdx.x] = in[i];", "")
        .replace("__opt__(", "(scale ? scale[i] : 1.0f) * __opt__(");
    let staged = planned(&scaled).unwrap_or_else(|(_, m)| panic!("{m}"));
    assert!(staged.checked.iter().any(|l| l.contains("scale is null")), "{:?}", staged.checked);
}

/// The alternatives of a sketch differ for numbers below zero, large ones, and such as the text compares with.
#[test]
fn sketches_are_tried_with_other_data() {
    for (ty, right, wrong) in [
        ("int", "max(in[i], 0)", "in[i]"),
        ("float", "in[i] > 0.0f ? in[i] : 0.0f", "in[i]"),
        ("int", "in[i] / 4", "in[i] >> 2"),
        ("unsigned char", "in[i] >= 128 ? 255 : in[i] * 2", "in[i] * 2"),
        ("int", "in[m < 0 ? 0 : min(i, m)]", "in[min(i, m)]"),
    ] {
        let kernel = |name: &str, value: &str| {
            format!(
                "__global__ void {name}(const {ty} *in, int *out, int n, int m) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = {value};
}}
"
            )
        };
        let text = kernel("plain", right)
            + &kernel("sketch", &format!("__choose__(({wrong}), ({right}))"));
        let asked = Input { reference: Some("plain".into()), ..Input::default() };
        let staged = planned_with(&text, asked).unwrap_or_else(|(_, m)| panic!("{right}: {m}"));
        let filling = staged.filling.expect("a filling");
        assert_eq!(filling.holes[0].text, format!("({right})"));
    }
}
