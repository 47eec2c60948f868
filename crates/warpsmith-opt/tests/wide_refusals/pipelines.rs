//! Copies that cannot run ahead, and blocks that cannot be grouped.

use expect_test::expect;

use super::*;

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
