//! What the user reads when vectors, warps, copies that run ahead or groups of blocks cannot be had, word for word.

mod common;

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

#[test]
fn pipelines_without_strips() {
    refused(
        "bind i, j -> y, x 8x4\npipeline l stages 2",
        expect![[r#"
        error[W265]: cannot pipeline loop `l`: no array is staged in strips of it: take `stage` first
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | pipeline l stages 2
          | ------------------- in this step
          |
          = note: step 2: `pipeline l stages 2`
    "#]],
    );
    refused(
        &after("pipeline l stages 1"),
        expect![[r#"
        error[W265]: cannot pipeline loop `l`: 1 strips in flight make no sense, 2 to 8 do
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | pipeline l stages 1
          | ------------------- in this step
          |
          = note: step 5: `pipeline l stages 1`
    "#]],
    );
    refused(
        &after("pipeline l"),
        expect![[r#"
        error[W230]: this is not a step of a schedule
         --> input.sched:5:11
          |
        5 | pipeline l
          |           ^ `stages` and the strips in flight are wanted here
          |
          = help: for example `pipeline k stages 2`
    "#]],
    );
}

#[test]
fn pipelines_that_do_not_fit_or_take_vectors_apart() {
    let large =
        "bind i, j -> y, x 32x32\nstage A at l tile 64\nstage B at l tile 64\npipeline l stages 4";
    refused(
        large,
        expect![[r#"
        error[W261]: cannot stage `B`: the copies of a block would take 65536 bytes of shared memory, of which there are 49152
         --> input.sched:4:1
          |
        4 | pipeline l stages 4
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 4: `pipeline l stages 4`
    "#]],
    );
    let apart = "bind i, j -> y, x 8x4\nstage A at l tile 8 transposed\nspecialise k%4=0, A%16=0\nvectorise A by 4\npipeline l stages 2";
    refused(
        apart,
        expect![[r#"
            error[W261]: cannot stage `A`: `cp.async` cannot take a vector apart, as a transposed copy must
             --> input.sched:5:1
              |
            5 | pipeline l stages 2
              | ^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 5: `pipeline l stages 2`
        "#]],
    );
    let bytes = GEMM.replace("float", "char");
    refused_in(
        &bytes,
        &after("pipeline l stages 2"),
        expect![[r#"
            error[W261]: cannot stage `A`: `cp.async` takes 4, 8 or 16 bytes at a time, and an element has 1
             --> input.sched:5:1
              |
            5 | pipeline l stages 2
              | ^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 5: `pipeline l stages 2`
        "#]],
    );
    let padded = "bind i, j -> y, x 8x4\nstage B at l tile 8 pad 1\nspecialise m%4=0, B%16=0\nvectorise B by 4\npipeline l stages 2";
    refused(
        padded,
        expect![[r#"
        error[W261]: cannot stage `B`: a row in shared memory has 9 elements, no multiple of the 4 that a copy takes at a time
         --> input.sched:5:1
          |
        5 | pipeline l stages 2
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 5: `pipeline l stages 2`
    "#]],
    );
}

#[test]
fn double_buffers_without_strips_or_names_for_registers() {
    refused(
        "bind i, j -> y, x 8x4\nunroll l\ndouble_buffer l",
        expect![[r#"
        error[W265]: cannot double-buffer loop `l`: no array is staged in strips of it: take `stage` first
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | double_buffer l
          | --------------- in this step
          |
          = note: step 3: `double_buffer l`
    "#]],
    );
    refused(
        &after("double_buffer l"),
        expect![[r#"
        error[W265]: cannot double-buffer loop `l`: it is not unrolled by an even number: take `unroll` first
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | double_buffer l
          | --------------- in this step
          |
          = note: step 5: `double_buffer l`
    "#]],
    );
    refused(
        &after("unroll l by 3\ndouble_buffer l"),
        expect![[r#"
        error[W265]: cannot double-buffer loop `l`: it is not unrolled by an even number: take `unroll` first
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:6:1
          |
        6 | double_buffer l
          | --------------- in this step
          |
          = note: step 6: `double_buffer l`
    "#]],
    );
}

#[test]
fn groups_of_blocks_of_other_loops() {
    refused(
        &after("rasterise j by 4"),
        expect![[r#"
        error[W265]: cannot group the blocks of loop `j`: it is not the bound loop right outside the innermost one
         --> input.c:4:22
          |
        4 |         for (int j = 0; j < m; j++)
          |                      ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | rasterise j by 4
          | ---------------- in this step
          |
          = note: step 5: `rasterise j by 4`
    "#]],
    );
    refused(
        &after("rasterise i by 1"),
        expect![[r#"
        error[W265]: cannot group the blocks of loop `i`: a group has from 2 to 32 blocks, not 1
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | rasterise i by 1
          | ---------------- in this step
          |
          = note: step 5: `rasterise i by 1`
    "#]],
    );
    refused(
        &after("rasterise i by 64"),
        expect![[r#"
        error[W265]: cannot group the blocks of loop `i`: a group has from 2 to 32 blocks, not 64
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | rasterise i by 64
          | ----------------- in this step
          |
          = note: step 5: `rasterise i by 64`
    "#]],
    );
    let wide = GEMM.replace("int i = 0; i < n", "long i = 0; i < n");
    refused_in(
        &wide,
        &after("rasterise i by 4"),
        expect![[r#"
        error[W265]: cannot group the blocks of loop `i`: the nest counts in 64 bits
         --> input.c:3:19
          |
        3 |     for (long i = 0; i < n; i++)
          |                   ^ this loop
          |
         ::: input.sched:5:1
          |
        5 | rasterise i by 4
          | ---------------- in this step
          |
          = note: step 5: `rasterise i by 4`
    "#]],
    );
}
