//! Writes of equal values in no order, and reads by threads that have written the same.

use std::process::Command;

/// What `check` says of a kernel of two blocks of 64 threads with a flag in shared memory.
fn check(body: &str, options: &[&str], status: i32) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = format!(
        "// warpsmith: grid=2 block=64 arg a=int[128]=iota
__global__ void f(int *a)\n{{
    __shared__ int flag, other;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    {body}\n}}\n"
    );
    std::fs::write(folder.path().join("a.cu"), source).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command.current_dir(folder.path()).env("NO_COLOR", "1").args(["check", "a.cu"]).args(options);
    let output = command.output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.code(), Some(status), "{body}: {text}");
    text
}

/// All threads clear a flag and look at it: whichever write is the last, they find what they have written.
#[test]
fn a_thread_may_read_what_it_and_others_have_written() {
    let cleared = "flag = 0;\n    while (!flag) {\n        a[i] = t;\n        __syncthreads();\n        flag = 1;\n        __syncthreads();\n    }";
    for body in [cleared, "flag = 5; a[i] = flag;", "flag = 5; if (t == 3) a[i] = flag;"] {
        let text = check(body, &[], 0);
        assert!(text.contains("note[race-benign]") && !text.contains("error["), "{body}: {text}");
        assert!(check(body, &["--no-benign"], 1).contains("error[race-shared]"), "{body}");
    }
}

/// Others may find what was there before, or what a thread writes afterwards.
#[test]
fn a_thread_that_has_not_written_the_value_may_find_another() {
    for body in [
        // A reader that writes nothing, before the writers and behind them.
        "if (t < 32) flag = 5;\n    if (t >= 32) a[i] = flag;",
        "if (t >= 32) flag = 5;\n    if (t < 32) a[i] = flag;",
        // One that writes only later.
        "int x = 0;\n    if (t > 0) flag = 5;\n    if (t == 0) x = flag;\n    flag = 5;\n    a[i] = x;",
        // A writer that goes on to another value, by another instruction or by the same.
        "flag = 5;\n    if (t == 1) flag = 6;\n    if (t == 0) a[i] = flag;",
        "for (int k = 0; k < (t == 1 ? 2 : 1); k++) flag = 5 + k;\n    if (t == 0) a[i] = flag;",
        // One that wrote the value in an interval before.
        "if (t == 0) flag = 5;\n    __syncthreads();\n    if (t != 0) flag = 5;\n    if (t == 0) a[i] = flag;",
    ] {
        let text = check(body, &[], 1);
        assert!(text.contains("error[race-shared]"), "{body}: {text}");
    }
}

/// Values of several words are equal in each of them.
#[test]
fn equal_values_may_be_wide() {
    for body in [
        "__shared__ double d; d = 2.5; a[i] = (int)d;",
        "__shared__ int *p; p = a; p[i] = t;",
        "__shared__ int4 q; q = make_int4(1, 2, 3, 4); a[i] = q.z + q.w;",
    ] {
        let text = check(body, &[], 0);
        assert!(text.contains("note[race-benign]") && !text.contains("error["), "{body}: {text}");
        assert!(check(body, &["--no-benign"], 1).contains("error[race-shared]"), "{body}");
    }
    for body in [
        "__shared__ double d; d = 2.5; if (t == 1) d = 3.5; if (t == 0) a[i] = (int)d;",
        "__shared__ int *p; if (t < 32) p = a; if (t >= 32) a[i] = p[t];",
        // Half of it is the same.
        "__shared__ int2 q; q = make_int2(5, t); a[i] = q.y;",
    ] {
        let text = check(body, &[], 1);
        assert!(text.contains("error[race-shared]"), "{body}: {text}");
    }
}
