//! Iterations that a thread cannot be given otherwise.

use expect_test::expect;

use super::*;

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
