//! Steps that give threads several iterations, and loops that are unrolled.

use expect_test::expect;

use super::*;

#[test]
fn tiles_of_loops_that_are_not_bound() {
    refused(
        PLAIN,
        "register_tile i by 2",
        expect![[r#"
        error[W262]: loop `i` is not bound to threads
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | register_tile i by 2
          | -------------------- in this step
          |
          = note: step 1: `register_tile i by 2`
          = help: bind its nest first, for example with `bind i, j -> y, x block 16x16`
    "#]],
    );
}

#[test]
fn tiles_of_too_many_iterations() {
    refused(
        PLAIN,
        "bind i -> x 32\nregister_tile i by 65",
        expect![[r#"
        error[W264]: 65 iterations of `i` are too few or too many: at most 64 make sense here
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | register_tile i by 65
          | --------------------- in this step
          |
          = note: step 2: `register_tile i by 65`
    "#]],
    );
}

#[test]
fn tiles_of_too_many_iterations_together() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nregister_tile i by 32\nregister_tile j by 16",
        expect![[r#"
            error[W264]: 512 iterations of `j` are too few or too many: at most 256 make sense here
             --> input.c:4:22
              |
            4 |         for (int j = 0; j < m; j++)
              |                      ^ this loop
              |
             ::: input.sched:3:1
              |
            3 | register_tile j by 16
              | --------------------- in this step
              |
              = note: step 3: `register_tile j by 16`
        "#]],
    );
}

#[test]
fn tiles_of_reductions() {
    refused(
        SUM,
        "reduce s\nregister_tile i by 2",
        expect![[r#"
        error[W224]: loop `i` reduces `s`
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i++)
          |                  ^ its iterations share a result
          |
         ::: input.sched:2:1
          |
        2 | register_tile i by 2
          | -------------------- in this step
          |
          = note: step 2: `register_tile i by 2`
          = help: use the step `reduce s`
    "#]],
    );
}

#[test]
fn tiles_of_loops_with_a_step() {
    refused(
        STEP,
        "bind i -> x 32\nregister_tile i by 2",
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: loop `i` does not count up by one
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i += 2)
          |                  ^ this nest
          |
         ::: input.sched:2:1
          |
        2 | register_tile i by 2
          | -------------------- in this step
          |
          = note: step 2: `register_tile i by 2`
    "#]],
    );
}

#[test]
fn tiles_with_last_values() {
    refused(
        LAST,
        "bind i -> x 32\nregister_tile i by 2",
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: it has a `lastprivate` clause
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i++) {
          |                  ^ this nest
          |
         ::: input.sched:2:1
          |
        2 | register_tile i by 2
          | -------------------- in this step
          |
          = note: step 2: `register_tile i by 2`
    "#]],
    );
}

#[test]
fn tiles_of_iterations_that_end_early() {
    refused(
        EARLY,
        "bind i -> x 32\nregister_tile i by 2",
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: an iteration ends early
         --> input.c:5:13
          |
        5 |             continue;
          |             ^^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | register_tile i by 2
          | -------------------- in this step
          |
          = note: step 2: `register_tile i by 2`
    "#]],
    );
}

#[test]
fn tiles_that_make_the_copies_too_large() {
    refused(
        GEMM,
        "bind i, j -> y, x 16x16\nstage A at l tile 64\nstage B at l tile 64\nregister_tile i by 16",
        expect![[r#"
            error[W261]: cannot stage `B`: the copies of a block would take 69632 bytes of shared memory, of which there are 49152
             --> input.sched:4:1
              |
            4 | register_tile i by 16
              | ^^^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 4: `register_tile i by 16`
        "#]],
    );
}

#[test]
fn unrolled_threads() {
    refused(
        PLAIN,
        "bind i -> x 32\nunroll i",
        expect![[r#"
        error[W263]: loop `i` is shared by threads: only a serial loop can be cut or unrolled
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | unroll i
          | -------- in this step
          |
          = note: step 2: `unroll i`
    "#]],
    );
}

#[test]
fn unrolled_too_often() {
    refused(
        PLAIN,
        "unroll k by 2000",
        expect![[r#"
        error[W264]: 2000 iterations of `k` are too few or too many: at most 1024 make sense here
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < 8; k++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | unroll k by 2000
          | ---------------- in this step
          |
          = note: step 1: `unroll k by 2000`
    "#]],
    );
}

#[test]
fn tiles_of_loops_apart() {
    refused(
        PLAIN,
        "tile k, i by 4x4",
        expect![[r#"
        error[W215]: loop `i` is not directly inside loop `k`
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ not the only statement of the other loop
        4 |         for (int k = 0; k < 8; k++)
          |                      - the outer loop
          |
         ::: input.sched:1:1
          |
        1 | tile k, i by 4x4
          | ---------------- in this step
          |
          = note: step 1: `tile k, i by 4x4`
    "#]],
    );
}

#[test]
fn tiles_of_a_diagonal() {
    refused(
        DIAGONAL,
        "tile k, l by 4x4",
        expect![[r#"
            error[W225]: cannot interchange `k` and `l`: two iterations that change places touch the same element
             --> input.c:7:23
              |
            7 |             a[k][l] = a[k - 1][l + 1];
              |             -------   ^^^^^^^^^^^^^^^ iteration (k = 2, l = 0) reads `a[k - 1][l + 1]`
              |             |
              |             iteration (k = 1, l = 1) writes `a[k][l]`
              |
             ::: input.sched:1:1
              |
            1 | tile k, l by 4x4
              | ---------------- in this step
              |
              = note: step 1: `tile k, l by 4x4`
        "#]],
    );
}
