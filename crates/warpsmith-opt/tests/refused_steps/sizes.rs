//! Sizes that a kernel cannot be made special for.

use expect_test::expect;

use super::*;

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
