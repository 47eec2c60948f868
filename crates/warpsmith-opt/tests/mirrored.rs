//! Products with a matrix of which one triangle is stored: the element comes from either of two copies of it.

mod common;

use common::{Points as Sizes, check_scheduled as check};

const SYMM: &str = "
void symm(int m, int n, float alpha, float beta, const float A[m][m], const float B[m][n], float C[m][n])
{
    #pragma omp parallel for
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float sum = 0;
            for (int k = 0; k < m; k++) {
                float a = k <= i ? A[i][k] : A[k][i];
                sum += B[k][j] * a;
            }
            C[i][j] = beta * C[i][j] + alpha * sum;
        }
}
";

const SIZES: Sizes<'_> = &[
    &[("m", 0), ("n", 2), ("alpha", 3), ("beta", 2)],
    &[("m", 1), ("n", 37), ("alpha", 3), ("beta", 2)],
    &[("m", 2), ("n", 31), ("alpha", 3), ("beta", 2)],
    &[("m", 17), ("n", 3), ("alpha", 3), ("beta", 2)],
    &[("m", 40), ("n", 33), ("alpha", 3), ("beta", 2)],
];

#[test]
fn copies_are_read_ahead_in_vectors() {
    let tiles = "bind j, i -> y, x block 8x8\nregister_tile j by 4\nregister_tile i by 4\n\
                 stage A#1 at k tile 8 pad 4 transposed\nstage A#2 at k tile 8\nstage B at k tile 8\nunroll k\n";
    for ahead in [
        "vectorise j by 4\nvectorise i by 4\ndouble_buffer k",
        "double_buffer k\nvectorise i by 4",
        "vectorise j by 4\nvectorise i by 4\nwarp j, i by 8x4\npipeline k stages 2\ndouble_buffer k",
    ] {
        check(SYMM, &format!("{tiles}{ahead}"), SIZES);
    }
}
