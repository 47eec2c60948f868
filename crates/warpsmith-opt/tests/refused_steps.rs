//! What the user reads when a step of a schedule cannot be taken, word for word.

mod common;

use common::refused_text;
use expect_test::{Expect, expect};

#[track_caller]
fn refused(source: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(source, schedule));
}

const PLAIN: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            b[i] += a[i] * k;
}
";

const GEMM: &str = "\
void f(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
}
";

const SUM: &str = "\
float f(int n, const float a[n]) {
    float s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
";

const STEP: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += 2)
        for (int k = 0; k < n; k += 3)
            b[i] += a[k];
}
";

const LAST: &str = "\
int f(int n, const int a[n], int b[n]) {
    int t = 0;
    #pragma omp parallel for lastprivate(t)
    for (int i = 0; i < n; i++) {
        t = a[i];
        b[i] = t * t;
    }
    return t;
}
";

const LASTSTEP: &str = "\
int f(int n, const int a[n], int b[n]) {
    int t = 0;
    #pragma omp parallel for lastprivate(t)
    for (int i = 0; i < n; i += 2) {
        t = a[i];
        b[i] = t * t;
    }
    return t;
}
";

const EARLY: &str = "\
void f(int n, const int a[n], int b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (a[i] < 0)
            continue;
        b[i] = a[i];
    }
}
";

const STENCIL: &str = "\
void f(int n, const float a[n + 2], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = a[i] + a[i + 2];
}
";

const GATHER: &str = "\
void f(int n, const int at[n], const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = a[at[i]];
}
";

const CONDITION: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            b[i] = a[i];
}
";

const WHILE: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            if (b[i] > 9)
                break;
            b[i] += a[k];
        }
}
";

const AFTER: &str = "\
void f(int n, const float a[n], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k;
        for (k = 0; k < n; k++)
            b[i] += a[k];
        b[i] += k;
    }
}
";

const BOUNDS: &str = "\
void f(int n, const int a[n], int b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < a[i]; k++)
            b[i] += k;
}
";

const DIAGONAL: &str = "\
void f(int n, int m, float a[n][m]) {
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        a[0][i] = i;
    for (int k = 1; k < n; k++)
        for (int l = 0; l < m - 1; l++)
            a[k][l] = a[k - 1][l + 1];
}
";

const UNKNOWN: &str = "\
void f(int n, int s, float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i += s)
        b[i] = i;
}
";

const COUNTER: &str = "\
int f(int n, float b[n]) {
    int i;
    #pragma omp parallel for
    for (i = 0; i < n; i += 2)
        b[i] = i;
    return i;
}
";

const CHANGED: &str = "\
void f(int n, int m, float b[m]) {
    n = n / 2;
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = i;
}
";

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
fn stages_of_no_array() {
    refused(
        PLAIN,
        "bind i -> x 32\nstage n",
        expect![[r#"
        error[W261]: cannot stage `n`: the function has no array parameter of this name
         --> input.sched:2:1
          |
        2 | stage n
          | ^^^^^^^ in this step
          |
          = note: step 2: `stage n`
    "#]],
    );
}

#[test]
fn stages_before_the_loops_are_bound() {
    refused(
        PLAIN,
        "stage a",
        expect![[r#"
        error[W261]: cannot stage `a`: no bound nest reads it there: bind its loops first
         --> input.sched:1:1
          |
        1 | stage a
          | ^^^^^^^ in this step
          |
          = note: step 1: `stage a`
    "#]],
    );
}

#[test]
fn stages_of_what_is_updated_by_several() {
    let source = PLAIN.replace("b[i] +=", "{\n            #pragma omp atomic\n            b[i] +=");
    let source = source.replace("* k;\n}", "* k; }\n}");
    refused(
        &source,
        "bind i -> x 32\nstage b",
        expect![[r#"
        error[W260]: cannot compute the nest of `i` in tiles: a statement works on more than this iteration's values
         --> input.c:7:13
          |
        7 |             b[i] += a[i] * k; }
          |             ^^^^^^^^^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | stage b
          | ------- in this step
          |
          = note: step 2: `stage b`
    "#]],
    );
}

#[test]
fn stages_twice() {
    refused(
        STENCIL,
        "bind i -> x 32\nstage a\nstage a",
        expect![[r#"
        error[W261]: cannot stage `a`: it is staged already
         --> input.sched:3:1
          |
        3 | stage a
          | ^^^^^^^ in this step
          |
          = note: step 3: `stage a`
    "#]],
    );
}

#[test]
fn stages_of_two_lengths() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at l tile 4\nstage B at l tile 8",
        expect![[r#"
        error[W261]: cannot stage `B`: loop `l` is cut into strips of 4 already
         --> input.sched:3:1
          |
        3 | stage B at l tile 8
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 3: `stage B at l tile 8`
    "#]],
    );
}

#[test]
fn stages_at_a_shared_loop() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at i tile 4",
        expect![[r#"
        error[W261]: cannot stage `A`: no bound nest reads it there: bind its loops first
         --> input.sched:2:1
          |
        2 | stage A at i tile 4
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `stage A at i tile 4`
    "#]],
    );
}

#[test]
fn stages_of_long_strips() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at l tile 4096",
        expect![[r#"
        error[W264]: 4096 iterations of `l` are too few or too many: at most 1024 make sense here
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | stage A at l tile 4096
          | ---------------------- in this step
          |
          = note: step 2: `stage A at l tile 4096`
    "#]],
    );
}

#[test]
fn stages_that_are_too_large() {
    refused(
        GEMM,
        "bind i, j -> y, x 16x16\nstage A at l tile 1024",
        expect![[r#"
        error[W261]: cannot stage `A`: the copies of a block would take 65536 bytes of shared memory, of which there are 49152
         --> input.sched:2:1
          |
        2 | stage A at l tile 1024
          | ^^^^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `stage A at l tile 1024`
    "#]],
    );
}

#[test]
fn stages_of_computed_subscripts() {
    refused(
        GATHER,
        "bind i -> x 32\nstage a",
        expect![[r#"
        error[W261]: cannot stage `a`: a subscript is not a constant times `i`
         --> input.c:4:16
          |
        4 |         b[i] = a[at[i]];
          |                ^^^^^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage a
          | ------- in this step
          |
          = note: step 2: `stage a`
    "#]],
    );
}

#[test]
fn stages_under_a_condition() {
    refused(
        CONDITION,
        "bind i -> x 32\nstage a",
        expect![[r#"
        error[W261]: cannot stage `a`: it is read under a condition
         --> input.c:5:20
          |
        5 |             b[i] = a[i];
          |                    ^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage a
          | ------- in this step
          |
          = note: step 2: `stage a`
    "#]],
    );
}

#[test]
fn stages_of_long_loops() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A",
        expect![[r#"
        error[W261]: cannot stage `A`: a subscript depends on `l`, whose number of iterations is not constant
         --> input.c:6:28
          |
        6 |                 C[i][j] += A[i][l] * B[l][j];
          |                            ^^^^^^^ this access
          |
         ::: input.sched:2:1
          |
        2 | stage A
          | ------- in this step
          |
          = note: step 2: `stage A`
    "#]],
    );
}

#[test]
fn strips_that_end_early() {
    refused(
        WHILE,
        "bind i -> x 32\nstage a at k tile 4",
        expect![[r#"
        error[W261]: cannot stage `a`: loop `k` may end early, before the copy for other threads
         --> input.sched:2:1
          |
        2 | stage a at k tile 4
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `stage a at k tile 4`
    "#]],
    );
}

#[test]
fn strips_of_a_shared_loop() {
    refused(
        PLAIN,
        "bind i -> x 32\nsplit i by 4",
        expect![[r#"
        error[W263]: loop `i` is shared by threads: only a serial loop can be cut or unrolled
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | split i by 4
          | ------------ in this step
          |
          = note: step 2: `split i by 4`
    "#]],
    );
}

#[test]
fn strips_of_nothing() {
    refused(
        PLAIN,
        "split k by 0",
        expect![[r#"
        error[W264]: 0 iterations of `k` are too few or too many: at most 1048576 make sense here
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < 8; k++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 0
          | ------------ in this step
          |
          = note: step 1: `split k by 0`
    "#]],
    );
}

#[test]
fn strips_of_a_loop_with_a_step() {
    refused(
        STEP,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: it does not count up by one
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < n; k += 3)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_of_a_loop_that_ends_early() {
    refused(
        WHILE,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: it may end early
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < n; k++) {
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_whose_counter_is_read() {
    refused(
        AFTER,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: its counter is read after it
         --> input.c:5:18
          |
        5 |         for (k = 0; k < n; k++)
          |                  ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_with_changing_bounds() {
    refused(
        BOUNDS,
        "split k by 4",
        expect![[r#"
        error[W265]: cannot cut loop `k`: its body may change its bounds
         --> input.c:4:22
          |
        4 |         for (int k = 0; k < a[i]; k++)
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | split k by 4
          | ------------ in this step
          |
          = note: step 1: `split k by 4`
    "#]],
    );
}

#[test]
fn strips_of_what_is_staged() {
    refused(
        GEMM,
        "bind i, j -> y, x 8x8\nstage A at l tile 4\nsplit l by 4",
        expect![[r#"
        error[W265]: cannot cut loop `l`: the copy of `A` cuts it already
         --> input.c:5:26
          |
        5 |             for (int l = 0; l < k; l++)
          |                          ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | split l by 4
          | ------------ in this step
          |
          = note: step 3: `split l by 4`
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

#[test]
fn indexing_before_binding() {
    refused(
        STEP,
        "indexing i sparse",
        expect![[r#"
        error[W262]: loop `i` is not bound to threads
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i += 2)
          |                  ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | indexing i sparse
          | ----------------- in this step
          |
          = note: step 1: `indexing i sparse`
          = help: bind its nest first, for example with `bind i, j -> y, x block 16x16`
    "#]],
    );
}

#[test]
fn indexing_one_by_one() {
    refused(
        PLAIN,
        "bind i -> x 32\nindexing i sparse",
        expect![[r#"
        error[W265]: cannot choose the threads of loop `i`: it counts one by one, so that every thread has work
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | indexing i sparse
          | ----------------- in this step
          |
          = note: step 2: `indexing i sparse`
    "#]],
    );
}

#[test]
fn indexing_unknown_steps() {
    refused(
        UNKNOWN,
        "bind i -> x 32\nindexing i dense",
        expect![[r#"
        error[W265]: cannot choose the threads of loop `i`: its step is not constant
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i += s)
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | indexing i dense
          | ---------------- in this step
          |
          = note: step 2: `indexing i dense`
    "#]],
    );
}

#[test]
fn indexing_with_a_last_value() {
    refused(
        LASTSTEP,
        "bind i -> x 32\nindexing i sparse",
        expect![[r#"
        error[W265]: cannot choose the threads of loop `i`: it has a `lastprivate` clause
         --> input.c:4:18
          |
        4 |     for (int i = 0; i < n; i += 2) {
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | indexing i sparse
          | ----------------- in this step
          |
          = note: step 2: `indexing i sparse`
    "#]],
    );
}

#[test]
fn indexing_with_a_counter_read_later() {
    refused(
        COUNTER,
        "bind i -> x 32\nindexing i sparse",
        expect![[r#"
        error[W265]: cannot choose the threads of loop `i`: its counter is read after it
         --> input.c:4:14
          |
        4 |     for (i = 0; i < n; i += 2)
          |              ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | indexing i sparse
          | ----------------- in this step
          |
          = note: step 2: `indexing i sparse`
    "#]],
    );
}

#[test]
fn indexing_of_something_else() {
    refused(
        STEP,
        "bind i -> x 32\nindexing i thick",
        expect![[r#"
            error[W230]: this is not a step of a schedule
             --> input.sched:2:12
              |
            2 | indexing i thick
              |            ^^^^^ `sparse` or `dense` is wanted here
              |
              = help: for example `indexing i sparse`
        "#]],
    );
}

#[test]
fn sizes_that_are_no_parameters() {
    refused(
        PLAIN,
        "bind i -> x 32\nspecialise m=4",
        expect![[r#"
        error[W266]: cannot make a kernel for a size `m`: the function has no parameter of this name
         --> input.sched:2:1
          |
        2 | specialise m=4
          | ^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `specialise m=4`
    "#]],
    );
}

#[test]
fn sizes_that_are_no_integers() {
    refused(
        PLAIN,
        "bind i -> x 32\nspecialise a=4",
        expect![[r#"
        error[W266]: cannot make a kernel for a size `a`: of an array, only that its address is a multiple of 2 to 256 bytes can be known
         --> input.sched:2:1
          |
        2 | specialise a=4
          | ^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `specialise a=4`
    "#]],
    );
}

#[test]
fn sizes_that_change() {
    refused(
        CHANGED,
        "bind i -> x 32\nspecialise n=4",
        expect![[r#"
        error[W266]: cannot make a kernel for a size `n`: the function changes it
         --> input.sched:2:1
          |
        2 | specialise n=4
          | ^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `specialise n=4`
    "#]],
    );
}

#[test]
fn sizes_named_twice() {
    refused(
        PLAIN,
        "bind i -> x 32\nspecialise n=4, n%2=0",
        expect![[r#"
        error[W266]: cannot make a kernel for a size `n`: it is named twice
         --> input.sched:2:1
          |
        2 | specialise n=4, n%2=0
          | ^^^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `specialise n=4, n%2=0`
    "#]],
    );
}

#[test]
fn sizes_beyond_the_type() {
    refused(
        PLAIN,
        "bind i -> x 32\nspecialise n=4000000000",
        expect![[r#"
        error[W266]: cannot make a kernel for a size `n`: its type is too small for this number
         --> input.sched:2:1
          |
        2 | specialise n=4000000000
          | ^^^^^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `specialise n=4000000000`
    "#]],
    );
}

#[test]
fn multiples_of_zero() {
    refused(
        PLAIN,
        "bind i -> x 32\nspecialise n%0=0",
        expect![[r#"
        error[W266]: cannot make a kernel for a size `n`: no number but zero is a multiple of zero
         --> input.sched:2:1
          |
        2 | specialise n%0=0
          | ^^^^^^^^^^^^^^^^ in this step
          |
          = note: step 2: `specialise n%0=0`
    "#]],
    );
}

#[test]
fn sizes_before_the_loops_are_bound() {
    refused(
        PLAIN,
        "specialise n=4",
        expect![[r#"
        error[W266]: cannot make a kernel for a size `n`: no bound nest uses it: bind its loops first
         --> input.sched:1:1
          |
        1 | specialise n=4
          | ^^^^^^^^^^^^^^ in this step
          |
          = note: step 1: `specialise n=4`
    "#]],
    );
}

#[test]
fn sizes_without_a_number() {
    refused(
        PLAIN,
        "specialise n<4",
        expect![[r#"
            error[W230]: this is not a step of a schedule
             --> input.sched:1:13
              |
            1 | specialise n<4
              |             ^^ `=` and a number, or `%`, a number and `=0` are wanted here
              |
              = help: for example `specialise n=1024, m%32=0`
        "#]],
    );
}

const FILTER: &str = "\
float first(const float *p) { return p[0]; }
void f(int n, const int at[4], const float w[8], float v[8], const float h[8], const float a[n], const float big[20000], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
}
";

const FILTER2: &str = "\
void f(int n, float w[8], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] += w[3];
    w[3] = 0;
}
";

const FILTER3: &str = "\
void f(int n, const float w[8], float b[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] += w[3];
}
";

const ROWS: &str = "\
void f(int m, const float w[4], float b[4][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < m; j++)
            b[i][j] += w[i];
}
";

#[test]
fn constants_that_are_no_arrays() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant n",
        expect![[r#"
        error[W267]: cannot read `n` from constant memory: the function has no array parameter of this name
         --> input.sched:2:1
          |
        2 | constant n
          | ^^^^^^^^^^ in this step
          |
          = note: step 2: `constant n`
    "#]],
    );
}

#[test]
fn constants_without_extents() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant a",
        expect![[r#"
        error[W267]: cannot read `a` from constant memory: its extents are not constant
         --> input.sched:2:1
          |
        2 | constant a
          | ^^^^^^^^^^ in this step
          |
          = note: step 2: `constant a`
    "#]],
    );
}

#[test]
fn constants_that_are_too_large() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant big",
        expect![[r#"
        error[W267]: cannot read `big` from constant memory: the constant arrays would take 80000 bytes, of which there are 65536
         --> input.sched:2:1
          |
        2 | constant big
          | ^^^^^^^^^^^^ in this step
          |
          = note: step 2: `constant big`
    "#]],
    );
}

#[test]
fn constants_that_are_written() {
    refused(
        FILTER2,
        "bind i -> x 32\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: the function may write it
         --> input.c:5:5
          |
        5 |     w[3] = 0;
          |     ^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant w
          | ---------- in this step
          |
          = note: step 2: `constant w`
    "#]],
    );
}

#[test]
fn constants_that_differ_in_a_warp() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: its subscript depends on `i`, which differs between the threads of a warp
         --> input.c:6:35
          |
        6 |             b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
          |                                   ^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant w
          | ---------- in this step
          |
          = note: step 2: `constant w`
    "#]],
    );
}

#[test]
fn constants_at_places_read_from_memory() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant v",
        expect![[r#"
        error[W267]: cannot read `v` from constant memory: its subscript is read from memory
         --> input.c:6:55
          |
        6 |             b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
          |                                                       ^^^^^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant v
          | ---------- in this step
          |
          = note: step 2: `constant v`
    "#]],
    );
}

#[test]
fn constants_that_are_passed_on() {
    refused(
        FILTER,
        "bind i -> x 32\nconstant h",
        expect![[r#"
        error[W267]: cannot read `h` from constant memory: it is used otherwise than by its elements
         --> input.c:6:70
          |
        6 |             b[i] += a[i] * w[k] + w[i % 8] + big[k] + v[at[k % 4]] + first(h);
          |                                                                      ^^^^^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant h
          | ---------- in this step
          |
          = note: step 2: `constant h`
    "#]],
    );
}

#[test]
fn constants_twice() {
    refused(
        FILTER3,
        "bind i -> x 32\nconstant w\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: it is there already
         --> input.sched:3:1
          |
        3 | constant w
          | ^^^^^^^^^^ in this step
          |
          = note: step 3: `constant w`
    "#]],
    );
}

#[test]
fn constants_before_the_loops_are_bound() {
    refused(
        FILTER3,
        "constant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: no bound nest reads it: bind its loops first
         --> input.sched:1:1
          |
        1 | constant w
          | ^^^^^^^^^^ in this step
          |
          = note: step 1: `constant w`
    "#]],
    );
}

#[test]
fn constants_that_differ_between_short_rows() {
    refused(
        ROWS,
        "bind i, j -> y, x 16x4\nconstant w",
        expect![[r#"
        error[W267]: cannot read `w` from constant memory: its subscript depends on `i`, which differs between the threads of a warp
         --> input.c:5:24
          |
        5 |             b[i][j] += w[i];
          |                        ^^^^ here
          |
         ::: input.sched:2:1
          |
        2 | constant w
          | ---------- in this step
          |
          = note: step 2: `constant w`
    "#]],
    );
}

#[test]
fn bounds_of_nests_without_tiles() {
    refused(
        PLAIN,
        "bind i -> x 32\nbounds peel",
        expect![[r#"
        error[W268]: no nest is computed in tiles
         --> input.sched:2:1
          |
        2 | bounds peel
          | ^^^^^^^^^^^ in this step
          |
          = note: a thread with one iteration asks once whether it exists: nothing can be spared there
          = note: step 2: `bounds peel`
          = help: take this step after `register_tile` or `stage`
    "#]],
    );
}

#[test]
fn bounds_of_another_kind() {
    refused(
        PLAIN,
        "bind i -> x 32\nbounds skip",
        expect![[r#"
            error[W230]: this is not a step of a schedule
             --> input.sched:2:8
              |
            2 | bounds skip
              |        ^^^^ `peel`, `pad` or `guard` is wanted here
              |
              = help: for example `bounds peel`
        "#]],
    );
}

#[test]
fn a_loop_around_a_bound_one_is_not_bound() {
    let source = "
void f(int n, float a[n][n]) {
    for (int j = 0; j < n; j++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            a[j][i] += 1.0f;
    }
}
";
    let text = refused_text(source, "bind i -> x block 32\nbind j, i -> y, x block 8x4");
    assert!(text.contains("loop `i` is bound already"), "{text}");
}

#[test]
fn a_loop_whose_iterations_have_blocks_is_not_cut() {
    let source = "
void f(int n, int m, float y[n][m][7], const float x[n][m][7]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < 7; l++)
                y[i][j][l] = 2.0f * x[i][j][6 - l];
}
";
    let steps = "bind l -> x block 4\nregister_tile l by 2\nsplit j by 16";
    let text = refused_text(source, steps);
    assert!(text.contains("each of its iterations has blocks of its own"), "{text}");
}
