//! What the user reads when threads cannot share a loop, word for word.

mod common;

use common::refused_text;
use expect_test::{Expect, expect};

#[track_caller]
fn refused_in(body: &str, schedule: &str, expected: Expect) {
    expected.assert_eq(&refused_text(&within(body), schedule));
}

/// A function with a nest of one marked loop around the body.
fn within(body: &str) -> String {
    format!(
        "void f(int n, int m, const float A[n][m], const int column[n], float B[n][m], float y[n]) {{\n    #pragma omp parallel for\n    for (int i = 0; i < n; i++) {{\n{body}\n    }}\n}}\n"
    )
}

#[track_caller]
fn refused(schedule: &str, expected: Expect) {
    refused_in(SUM, schedule, expected);
}

const SUM: &str =
    "        float s = 0.0f;\n        for (int j = 0; j < m; j++) s += A[i][j];\n        y[i] = s;";
const BIND: &str = "bind i -> y block 1x4\n";
const SHARE: &str = "bind i -> y block 1x4\nshare j -> x by 32";

#[test]
fn loops_that_are_not_in_a_bound_nest() {
    refused(
        "share j -> x by 32",
        expect![[r#"
        error[W265]: cannot share loop `j`: it is not inside a bound nest: take `bind` first
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) s += A[i][j];
          |                      ^ this loop
          |
         ::: input.sched:1:1
          |
        1 | share j -> x by 32
          | ------------------ in this step
          |
          = note: step 1: `share j -> x by 32`
    "#]],
    );
    refused(
        &format!("{BIND}share i -> x by 32"),
        expect![[r#"
        error[W265]: cannot share loop `i`: it is not inside a bound nest: take `bind` first
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++) {
          |                  ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | share i -> x by 32
          | ------------------ in this step
          |
          = note: step 2: `share i -> x by 32`
    "#]],
    );
}

#[test]
fn threads_that_do_not_fit() {
    refused(
        &format!("{BIND}share j -> x by 24"),
        expect![[r#"
        error[W265]: cannot share loop `j`: the threads must be a power of two, 2 to 1024
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) s += A[i][j];
          |                      ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | share j -> x by 24
          | ------------------ in this step
          |
          = note: step 2: `share j -> x by 24`
    "#]],
    );
    refused(
        &format!("{BIND}share j -> x by 4"),
        expect![[r#"
        error[W265]: cannot share loop `j`: a block would have 16 threads, no whole number of warps
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) s += A[i][j];
          |                      ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | share j -> x by 4
          | ----------------- in this step
          |
          = note: step 2: `share j -> x by 4`
    "#]],
    );
    refused(
        &format!("{BIND}share j -> y by 32"),
        expect![[r#"
        error[W265]: cannot share loop `j`: axis y belongs to loop `i`: bind that to another one
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) s += A[i][j];
          |                      ^ this loop
          |
         ::: input.sched:2:1
          |
        2 | share j -> y by 32
          | ------------------ in this step
          |
          = note: step 2: `share j -> y by 32`
    "#]],
    );
    refused(
        &format!("{BIND}share j -> x by 512"),
        expect![[r#"
        error[W217]: a block of 2048 threads is too large
         --> input.sched:2:1
          |
        2 | share j -> x by 512
          | ^^^^^^^^^^^^^^^^^^^ in this step
          |
          = note: a block has at most 1024 threads, at most 64 of them along z, and at least one along each axis
          = note: step 2: `share j -> x by 512`
    "#]],
    );
    refused(
        "bind i -> y block 8x4\nshare j -> x by 32",
        expect![[r#"
            error[W217]: 8 threads of a block along x would have nothing to do
             --> input.sched:1:1
              |
            1 | bind i -> y block 8x4
              | ^^^^^^^^^^^^^^^^^^^^^ in this step
              |
              = note: step 1: `bind i -> y block 8x4`
              = help: no loop is bound to x: give the block one thread along it; a later `share` brings its own
        "#]],
    );
}

#[test]
fn sums_that_are_seen_or_of_two_kinds() {
    refused_in(
        "        float s = 0.0f;\n        for (int j = 0; j < m; j++) { s += A[i][j]; B[i][j] = s; }\n        y[i] = s;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: `s` is used with the value that it has so far
             --> input.c:5:22
              |
            5 |         for (int j = 0; j < m; j++) { s += A[i][j]; B[i][j] = s; }
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
    refused_in(
        "        float s = 0.0f;\n        for (int j = 0; j < m; j++) { s += A[i][j]; s *= 2.0f; }\n        y[i] = s;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: `s` is changed by more than one operation that combines it
             --> input.c:5:22
              |
            5 |         for (int j = 0; j < m; j++) { s += A[i][j]; s *= 2.0f; }
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
    refused_in(
        "        float s = 0.0f;\n        float last = 0.0f;\n        for (int j = 0; j < m; j++) { last = A[i][j]; s += last; }\n        y[i] = s + last;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: `last` is changed by more than one operation that combines it
             --> input.c:6:22
              |
            6 |         for (int j = 0; j < m; j++) { last = A[i][j]; s += last; }
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
    refused_in(
        "        char s = 0;\n        for (int j = 0; j < m; j++) s ^= (char)column[j];\n        y[i] = s;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: `s` is no number of four or eight bytes
             --> input.c:5:22
              |
            5 |         for (int j = 0; j < m; j++) s ^= (char)column[j];
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
}

#[test]
fn iterations_that_depend_on_each_other() {
    refused_in(
        "        for (int j = 1; j < m; j++) B[i][j] = B[i][j - 1] + A[i][j];",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: two of its iterations touch the same element of `B`
             --> input.c:4:22
              |
            4 |         for (int j = 1; j < m; j++) B[i][j] = B[i][j - 1] + A[i][j];
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
    refused_in(
        "        for (int j = 0; j < m; j++) B[i][column[j]] = A[i][j];",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: its iterations are not proved independent: data decide which elements `B[i][column[j]]` are
             --> input.c:4:22
              |
            4 |         for (int j = 0; j < m; j++) B[i][column[j]] = A[i][j];
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
    refused_in(
        "        for (int j = 0; j < m; j++) { float t = A[i][j]; t += 1.0f; }",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: nothing that it computes is used
             --> input.c:4:22
              |
            4 |         for (int j = 0; j < m; j++) { float t = A[i][j]; t += 1.0f; }
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
}

#[test]
fn loops_that_not_all_threads_run_alike() {
    refused_in(
        "        float s = 0.0f;\n        if (column[i] > 0) for (int j = 0; j < m; j++) s += A[i][j];\n        y[i] = s;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: not all threads of a block come to it alike
             --> input.c:5:41
              |
            5 |         if (column[i] > 0) for (int j = 0; j < m; j++) s += A[i][j];
              |                                         ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
    refused_in(
        "        float s = 0.0f;\n        for (int j = 0; j < m; j++) { if (A[i][j] > 9.0f) break; s += A[i][j]; }\n        y[i] = s;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: it may end early
             --> input.c:5:22
              |
            5 |         for (int j = 0; j < m; j++) { if (A[i][j] > 9.0f) break; s += A[i][j]; }
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
    refused_in(
        "        float s = 0.0f;\n        for (int j = 0; j < m; j += 2) s += A[i][j];\n        y[i] = s;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: it does not count up by one
             --> input.c:5:22
              |
            5 |         for (int j = 0; j < m; j += 2) s += A[i][j];
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
}

#[test]
fn a_statement_that_stores_and_sets_what_others_use() {
    refused_in(
        "        float s = 0.0f;\n        float t = 0.0f;\n        for (int j = 0; j < m; j++) s += A[i][j];\n        if (s > 1.0f) { y[i] = s; t = s; }\n        for (int j = 0; j < m; j++) B[i][j] = t;",
        SHARE,
        expect![[r#"
            error[W265]: cannot share loop `j`: a statement of its nest both stores and sets `t`, which others use
             --> input.c:6:22
              |
            6 |         for (int j = 0; j < m; j++) s += A[i][j];
              |                      ^ this loop
              |
             ::: input.sched:2:1
              |
            2 | share j -> x by 32
              | ------------------ in this step
              |
              = note: step 2: `share j -> x by 32`
        "#]],
    );
}

#[test]
fn steps_after_the_loop_is_shared() {
    refused(
        &format!("{SHARE}\nshare j -> x by 32"),
        expect![[r#"
        error[W265]: cannot share loop `j`: threads share it already
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) s += A[i][j];
          |                      ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | share j -> x by 32
          | ------------------ in this step
          |
          = note: step 3: `share j -> x by 32`
    "#]],
    );
    refused(
        &format!("{SHARE}\nsplit j by 8"),
        expect![[r#"
        error[W265]: cannot cut loop `j`: threads of the block share its iterations: take this step before `share`
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) s += A[i][j];
          |                      ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | split j by 8
          | ------------ in this step
          |
          = note: step 3: `split j by 8`
    "#]],
    );
    refused(
        &format!("{SHARE}\nvectorise j by 4"),
        expect![[r#"
        error[W265]: cannot vectorise loop `j`: where it begins and ends is not known to be a multiple of 4: take `specialise` with its bounds first
         --> input.c:5:22
          |
        5 |         for (int j = 0; j < m; j++) s += A[i][j];
          |                      ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | vectorise j by 4
          | ---------------- in this step
          |
          = note: step 3: `vectorise j by 4`
    "#]],
    );
    refused(
        &format!("{SHARE}\nstage A"),
        expect![[r#"
            error[W261]: cannot stage `A`: a subscript depends on `j`, whose number of iterations is not constant
             --> input.c:5:42
              |
            5 |         for (int j = 0; j < m; j++) s += A[i][j];
              |                                          ^^^^^^^ this access
              |
             ::: input.sched:3:1
              |
            3 | stage A
              | ------- in this step
              |
              = note: step 3: `stage A`
        "#]],
    );
    refused(
        &format!("{SHARE}\nwarp i by 32"),
        expect![[r#"
            error[W265]: cannot lay lanes along loop `i`: threads of the block share a loop of its nest: they fill its warps
             --> input.c:3:18
              |
            3 |     for (int i = 0; i < n; i++) {
              |                  ^ this loop
              |
             ::: input.sched:3:1
              |
            3 | warp i by 32
              | ------------ in this step
              |
              = note: step 3: `warp i by 32`
        "#]],
    );
    refused(
        "bind i -> x block 32\nshare j -> y by 32\nregister_tile i by 64",
        expect![[r#"
        error[W265]: cannot share loop `i`: the threads' sums would take 262144 bytes of shared memory, of which there are 49152
         --> input.c:3:18
          |
        3 |     for (int i = 0; i < n; i++) {
          |                  ^ this loop
          |
         ::: input.sched:3:1
          |
        3 | register_tile i by 64
          | --------------------- in this step
          |
          = note: step 3: `register_tile i by 64`
    "#]],
    );
    refused_in(
        "        float s = 0.0f;\n        for (int k = 0; k < 3; k++)\n            for (int j = 0; j < m; j++) s += A[i][j];\n        y[i] = s;",
        &format!("{SHARE}\ninterchange k"),
        expect![[r#"
            error[W265]: cannot interchange loop `k`: threads of the block share its iterations: take this step before `share`
             --> input.c:5:22
              |
            5 |         for (int k = 0; k < 3; k++)
              |                      ^ this loop
              |
             ::: input.sched:3:1
              |
            3 | interchange k
              | ------------- in this step
              |
              = note: step 3: `interchange k`
        "#]],
    );
}

#[test]
fn loops_of_one_nest_are_shared_by_the_same_threads() {
    refused_in(
        "        float s = 0.0f;\n        for (int j = 0; j < m; j++) s += A[i][j];\n        float t = 0.0f;\n        for (int j = 0; j < m; j++) t += A[i][j] * s;\n        y[i] = t;",
        &format!("{SHARE}\nshare j#2 -> x by 64"),
        expect![[r#"
            error[W265]: cannot share loop `j#2`: another loop of its nest is shared by 32 threads along x
             --> input.c:7:22
              |
            7 |         for (int j = 0; j < m; j++) t += A[i][j] * s;
              |                      ^ this loop
              |
             ::: input.sched:3:1
              |
            3 | share j#2 -> x by 64
              | -------------------- in this step
              |
              = note: step 3: `share j#2 -> x by 64`
        "#]],
    );
}

#[test]
fn places_of_extremes_by_which_threads_cannot_compare() {
    for (compare, place) in [(">=", "j"), (">", "j / 2"), (">", "j + k")] {
        let body = format!(
            "        float t = 0.0f;\n        int k = 0;\n        for (int j = 0; j < m; j++)\n            if (A[i][j] {compare} t) {{\n                t = A[i][j];\n                k = {place};\n            }}\n        y[i] = t + k;"
        );
        let text = refused_text(&within(&body), SHARE);
        let why = match (compare, place) {
            (">=", _) => {
                "cannot share loop `j`: `t` is changed by more than one operation that combines it"
            }
            _ => {
                "cannot share loop `j`: `k` is not set to the loop's counter, by which threads compare"
            }
        };
        assert!(text.contains(why), "{text}");
    }
}
