//! Nests over extents that no size decides: heads, channels, corners of a cell.

mod common;

use common::{Points as Sizes, check_scheduled as check, has};

const SIZES: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 7)]];

fn nest(heads: u32, length: u32, step: u32) -> String {
    format!(
        "
void rotate(int n, const float x[n][{heads}][{length}], float y[n][{heads}][{length}]) {{
    #pragma omp parallel for collapse(3)
    for (int p = 0; p < n; p++)
        for (int h = 0; h < {heads}; h++)
            for (int d = 0; d < {length}; d += {step})
                y[p][h][d] = 2.0f * x[p][h][d];
}}
"
    )
}

/// What no size can make run would be said to be untested.
#[test]
fn blocks_that_are_always_full_ask_nothing() {
    for (length, step) in [(32, 1), (64, 2), (63, 2)] {
        let text = check(&nest(8, length, step), "bind p, h, d -> z, y, x block 32x4x1", SIZES);
        has(&text, &["const int d = ", "const int h = blockIdx.y * blockDim.y + threadIdx.y;"]);
        for word in ["if (d", "if (h", "blocks_y", "&&"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

#[test]
fn blocks_that_are_not_full_ask() {
    let text = check(&nest(6, 37, 1), "bind p, h, d -> z, y, x block 32x4x1", SIZES);
    has(&text, &["if (d >= 37) return;", "if (h < 6)"]);
    let text = check(&nest(3, 40, 3), "bind h, d -> y, x block 8x2", SIZES);
    has(&text, &["if (d >= 40) return;", "if (h < 3)"]);
    // Counted down, and to a last number.
    let down = nest(5, 9, 1)
        .replace("int h = 0; h < 5; h++", "int h = 4; h >= 0; h--")
        .replace("int d = 0; d < 9", "int d = 0; d <= 8");
    let text = check(&down, "bind p, h, d -> z, y, x block 4x2x1", SIZES);
    has(&text, &["if (d > 8) return;", "if (h >= 0)"]);
}

#[test]
fn more_blocks_than_a_grid_has_go_on_in_strides() {
    let source = nest(70_000, 2, 1);
    let text = check(&source, "bind h, d -> y, x block 2x1", &[&[("n", 1)]]);
    has(&text, &["go on in its strides", "MAX_BLOCKS"]);
}
