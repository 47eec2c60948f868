//! What the user reads when vectors, warps, copies that run ahead or groups of blocks cannot be had, word for word.

#[path = "../common/mod.rs"]
mod common;

mod pipelines;

use common::refused_text;
use expect_test::{Expect, expect};

#[track_caller]
fn refused(schedule: &str, expected: Expect) {
    refused_in(GEMM, schedule, expected);
}

#[track_caller]
fn refused_in(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(source, schedule));
}

const GEMM: &str = "\
void f(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
}
";

const TILED: &str =
    "bind i, j -> y, x 8x4\nregister_tile j by 4\nstage A at l tile 8\nstage B at l tile 8\n";

fn after(step: &str) -> String {
    format!("{TILED}{step}")
}

#[test]
fn vectors_of_three() {
    refused(
        &after("vectorise j by 3"),
        expect![[r#"
        error[W265]: cannot vectorise loop `j`: vectors have 2 or 4 elements, not 3
         --> input.c:4:22
          |
        4 |         for (int j = 0; j < m; j++)
          |                      ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | vectorise j by 3
          | ---------------- in this step
          |
          = note: step 5: `vectorise j by 3`
    "#]],
    );
    refused(
        &after("vectorise B by 8"),
        expect![[r#"
        error[W275]: cannot copy `B` in vectors: vectors have 2 or 4 elements, not 8
         --> input.sched:5:1
          |
        5 | vectorise B by 8
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 5: `vectorise B by 8`
    "#]],
    );
}

#[test]
fn vectors_of_loops_that_a_thread_has_too_little_of() {
    refused(
        &after("vectorise i by 2"),
        expect![[r#"
        error[W265]: cannot vectorise loop `i`: a thread has 1 of its iterations, no multiple of 2: take `register_tile` first
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | vectorise i by 2
          | ---------------- in this step
          |
          = note: step 5: `vectorise i by 2`
    "#]],
    );
    refused(
        &after("vectorise l by 2"),
        expect![[r#"
        error[W262]: loop `l` is not bound to threads
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | vectorise l by 2
          | ---------------- in this step
          |
          = note: step 5: `vectorise l by 2`
          = help: bind its nest first, for example with `bind i, j -> y, x block 16x16`
    "#]],
    );
    refused(
        "vectorise j by 2",
        expect![[r#"
        error[W262]: loop `j` is not bound to threads
         --> input.c:4:22
          |
        4 |         for (int j = 0; j < m; j++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | vectorise j by 2
          | ---------------- in this step
          |
          = note: step 1: `vectorise j by 2`
          = help: bind its nest first, for example with `bind i, j -> y, x block 16x16`
    "#]],
    );
}

#[test]
fn tiles_that_are_no_multiple_of_the_vector() {
    refused(
        &after("vectorise j by 4\nregister_tile j by 6"),
        expect![[r#"
        error[W265]: cannot tile loop `j`: its iterations come in groups of 4, of which 6 is no multiple
         --> input.c:4:22
          |
        4 |         for (int j = 0; j < m; j++)
          |                      ^ this loop
          |
         ::: input.sched:6:1
          |
        6 | register_tile j by 6
          | -------------------- in this step
          |
          = note: step 6: `register_tile j by 6`
    "#]],
    );
}

#[test]
fn vectors_of_arrays_that_are_not_staged() {
    refused(
        &after("vectorise C by 4"),
        expect![[r#"
        error[W275]: cannot copy `C` in vectors: no loop and no staged array has this name: `stage` the array first
         --> input.sched:5:1
          |
        5 | vectorise C by 4
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 5: `vectorise C by 4`
    "#]],
    );
}

#[test]
fn vectors_of_arrays_that_may_begin_anywhere() {
    refused(
        &after("vectorise B by 4"),
        expect![[r#"
        error[W275]: cannot copy `B` in vectors: its address is not known to be a multiple of 16: take `specialise B%16=0` first
         --> input.sched:5:1
          |
        5 | vectorise B by 4
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 5: `vectorise B by 4`
    "#]],
    );
    refused(
        &after("specialise B%8=0, m%4=0\nvectorise B by 4"),
        expect![[r#"
        error[W275]: cannot copy `B` in vectors: its address is not known to be a multiple of 16: take `specialise B%16=0` first
         --> input.sched:6:1
          |
        6 | vectorise B by 4
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 6: `vectorise B by 4`
    "#]],
    );
}

#[test]
fn vectors_of_rows_of_any_length() {
    refused(
        &after("specialise B%16=0\nvectorise B by 4"),
        expect![[r#"
        error[W275]: cannot copy `B` in vectors: its rows are not known to have a multiple of 4 elements: take `specialise` with the length of a row first
         --> input.sched:6:1
          |
        6 | vectorise B by 4
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 6: `vectorise B by 4`
    "#]],
    );
}

#[test]
fn vectors_of_strips_that_are_cut_anywhere() {
    let strips =
        "bind i, j -> y, x 8x4\nstage A at l tile 6\nspecialise A%16=0, k%4=0\nvectorise A by 4";
    refused(
        strips,
        expect![[r#"
        error[W275]: cannot copy `A` in vectors: the rows that a block copies do not begin and end at multiples of 4
         --> input.sched:4:1
          |
        4 | vectorise A by 4
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 4: `vectorise A by 4`
    "#]],
    );
    let ends = "\
void f(int n, const float a[n][64], float c[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int l = 0; l < n; l++)
            c[i] += a[i][l];
}
";
    refused_in(
        ends,
        "bind i -> x 32\nstage a at l tile 8\nspecialise a%16=0\nvectorise a by 4",
        expect![[r#"
            error[W275]: cannot copy `a` in vectors: where the rows that a block copies begin and end is not known to be a multiple of 4
             --> input.sched:4:1
              |
            4 | vectorise a by 4
              | ^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 4: `vectorise a by 4`
        "#]],
    );
}

#[test]
fn vectors_that_no_access_moves() {
    let double = GEMM.replace("float", "double");
    refused_in(
        &double,
        &after("specialise m%4=0, B%32=0\nvectorise B by 4"),
        expect![[r#"
        error[W275]: cannot copy `B` in vectors: 4 of its elements are no vector of at most 16 bytes
         --> input.sched:6:1
          |
        6 | vectorise B by 4
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 6: `vectorise B by 4`
    "#]],
    );
}

#[test]
fn addresses_and_sizes_that_cannot_be_known() {
    refused(
        &after("specialise A=16"),
        expect![[r#"
        error[W266]: cannot make a kernel for a size `A`: of an array, only that its address is a multiple of 2 to 256 bytes can be known
         --> input.sched:5:1
          |
        5 | specialise A=16
          | ^^^^^^^^^^^^^^^ in this step
          |
          = note: step 5: `specialise A=16`
    "#]],
    );
    refused(
        &after("specialise A%512=0"),
        expect![[r#"
        error[W266]: cannot make a kernel for a size `A`: of an array, only that its address is a multiple of 2 to 256 bytes can be known
         --> input.sched:5:1
          |
        5 | specialise A%512=0
          | ^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 5: `specialise A%512=0`
    "#]],
    );
}

#[test]
fn lanes_that_are_no_warp() {
    refused(
        &after("warp i, j by 8x8"),
        expect![[r#"
        error[W265]: cannot lay lanes along loop `i`: a warp has 32 lanes, not 64
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | warp i, j by 8x8
          | ---------------- in this step
          |
          = note: step 5: `warp i, j by 8x8`
    "#]],
    );
    refused(
        &after("warp i, j by 8x4"),
        expect![[r#"
        error[W265]: cannot lay lanes along loop `i`: 8 lanes do not divide the 4 threads of a block
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | warp i, j by 8x4
          | ---------------- in this step
          |
          = note: step 5: `warp i, j by 8x4`
    "#]],
    );
    refused(
        &after("warp j by 32"),
        expect![[r#"
        error[W265]: cannot lay lanes along loop `j`: 32 lanes do not divide the 8 threads of a block
         --> input.c:4:22
          |
        4 |         for (int j = 0; j < m; j++)
          |                      ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | warp j by 32
          | ------------ in this step
          |
          = note: step 5: `warp j by 32`
    "#]],
    );
    refused(
        &after("warp l by 32"),
        expect![[r#"
        error[W262]: loop `l` is not bound to threads
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | warp l by 32
          | ------------ in this step
          |
          = note: step 5: `warp l by 32`
          = help: bind its nest first, for example with `bind i, j -> y, x block 16x16`
    "#]],
    );
    refused(
        &after("warp i, j by 32"),
        expect![[r#"
        error[W230]: this is not a step of a schedule
         --> input.sched:5:10
          |
        5 | warp i, j by 32
          |          ^^^^^^ `by` and the lanes along each loop, as in `8x4`, are wanted here
          |
          = help: for example `warp i, j by 8x4`
    "#]],
    );
}
