//! Scripts that are wrong, and scripts with loops.

use super::*;

/// The messages of a script that is wrong, without the path of its file.
fn refused(text: &str) -> String {
    let (dir, args) = script(text);
    let (status, message) = run(&args).err().unwrap_or_else(|| panic!("{text}"));
    assert_eq!(status, Status::BadInput, "{message}");
    message.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn an_unknown_function_is_shown_where_it_stands() {
    let message = refused("matrix3x3 A, B;\ninput A;\nB = mul33(A, A);\nreturn B;\n");
    assert_eq!(
        message.trim_end(),
        "\
error[W502]: `mul33` is no function of the library
 --> case.ws:3:5
  |
3 | B = mul33(A, A);
  |     ^^^^^ unknown function
  |
  = help: the library has madd33, madd55, mmul33, mmul55, mvmul33, smimul33, smmul33, smmul55, svmul3, ttmul311, ttmul3212, ttmul411, venorm3, vvmulabs3"
    );
}

#[test]
fn each_mistake_has_one_message() {
    let head = "matrix3x3 A, B; scalar s;\ninput A;\n";
    let cases = [
        ("W500", format!("{head}B = madd33(A, A)\nreturn B;")),
        ("W500", format!("{head}B = madd33(A, A); /* open\nreturn B;")),
        ("W500", format!("{head}if (s) B = madd33(A, A);\nreturn B;")),
        ("W500", format!("{head}B = A;\nreturn B;")),
        ("W500", format!("{head}for (i = 0; i <= 3; i++) {{ B = madd33(A, A); }}\nreturn B;")),
        (
            "W500",
            format!(
                "{head}for (i = 0; i < 99999999999999999999; i++) {{ B = madd33(A, A); }}\nreturn B;"
            ),
        ),
        ("W501", "matrix4x4 A, B;\ninput A;\nB = madd33(A, A);\nreturn B;".into()),
        ("W502", format!("{head}B = nothing(A, A);\nreturn B;")),
        ("W503", format!("{head}B = madd33(A);\nreturn B;")),
        ("W504", format!("{head}s = madd33(A, A);\nreturn s;")),
        ("W504", "matrix3x3 A; vector3 v, w;\ninput A, v;\nw = mvmul33(v, A);\nreturn w;".into()),
        ("W505", format!("{head}B = madd33(A, B);\nreturn B;")),
        ("W505", format!("{head}for (i = 0; i < 20; i++) {{ B = madd33(A, B); }}\nreturn B;")),
        ("W506", format!("{head}B = madd33(A, A);\nreturn s;")),
        ("W506", format!("{head}B = madd33(A, A);\nreturn A;")),
        ("W506", format!("{head}for (i = 3; i < 3; i++) {{ B = madd33(A, A); }}\nreturn B;")),
        ("W507", "matrix3x3 A, A, B;\ninput A;\nB = madd33(A, A);\nreturn B;".into()),
        ("W507", format!("{head}B = madd33(A, A);\nreturn B, B;")),
        ("W508", format!("{head}B = madd33(A, A);\n")),
        ("W508", "matrix3x3 A, B;\nB = madd33(A, A);\nreturn B;".into()),
        ("W509", format!("{head}C = madd33(A, A);\nB = madd33(A, A);\nreturn B;")),
        ("W509", format!("{head}for (i = 0; i < n; i++) {{ B = madd33(A, A); }}\nreturn B;")),
        (
            "W512",
            format!(
                "{head}for (i = 0; i < 100000 * 100000; i++) {{ B = madd33(A, A); }}\nreturn B;"
            ),
        ),
    ];
    for (code, text) in cases {
        let message = refused(&text);
        let errors: Vec<&str> = message.lines().filter(|l| l.starts_with("error")).collect();
        // An argument list that is wrong in both places says so of both.
        let all_alike = errors.iter().all(|e| e.starts_with(&format!("error[{code}]")));
        assert!(all_alike && (1..=2).contains(&errors.len()), "{text}\n{message}");
        assert!(message.contains(" --> case.ws:"), "{message}");
    }
}

#[test]
fn damaged_scripts_are_refused_and_nothing_breaks() {
    let whole = std::fs::read_to_string(root().join("examples/synctest.ws")).unwrap();
    for end in 0..whole.len() {
        let (_dir, args) = script(&whole[..end]);
        if let Err((status, text)) = run(&args) {
            assert_eq!(status, Status::BadInput, "{text}");
        }
    }
}

fn warnings(fused: &Fused) -> Vec<&str> {
    fused.warnings.iter().map(|w| w.code).collect()
}

#[test]
fn unused_names_and_calls_are_warned_of() {
    let (_dir, args) = script(
        "matrix3x3 A, B, C, unused; scalar s;\ninput A, s;\nB = madd33(A, A);\nC = mmul33(A, A);\nreturn B;",
    );
    let fused = fused(&args);
    assert_eq!(warnings(&fused), ["W510", "W510", "W511"], "unused, s, and the call that gives C");
    assert_eq!(plans(&fused)[0].calls.len(), 1);
}

#[test]
fn short_loops_fuse_across_iterations_and_long_ones_stay() {
    let kernels_of = |count: u32| {
        let (_dir, args) = script(&format!(
            "matrix3x3 A, B;\ninput A;\nB = madd33(A, A);\nfor (i = 0; i < {count}; i++) {{ B = madd33(B, A); }}\nreturn B;"
        ));
        let fused = fused(&args);
        leave(&format!("loop_{count}"), &fused);
        plans(&fused).iter().map(|p| p.calls.len()).collect::<Vec<_>>()
    };
    assert_eq!(kernels_of(0), [1]);
    assert_eq!(kernels_of(7), [8], "one kernel");
    let long = kernels_of(37);
    let calls: usize = long.iter().sum();
    assert!(calls < 38 && long.len() > 1, "{long:?}");
}

#[test]
fn nested_loops_carry_values_in_and_out() {
    let (_dir, args) = script(
        "matrix3x3 A, B, C, D;\nscalar s;\ninput A, s;\nB = smmul33(A, s);\nD = madd33(A, A);\n\
         for (i = 0; i < 3; i++) {\n  C = mmul33(B, A);\n  for (j = 0; j < 2; j++) {\n    for (k = 0; k < 19; k++) { B = smmul33(B, s); }\n\
         B = smmul33(B, s);\n    D = madd33(D, C);\n  }\n}\nfor (i = 0; i < 3; i++) { for (j = i; j < i * 2; j++) { D = madd33(D, B); } }\nreturn B, C, D;",
    );
    let fused = fused(&args);
    assert!(fused.covers[0].files[0].1.contains("for (int i"), "a loop on the host");
    leave("nested", &fused);
}

#[test]
fn an_input_may_be_assigned_again_and_names_of_c_are_no_trouble() {
    let (_dir, args) = script(
        "MATRIX3X3 A, float, s_A, count;\ninput A, float;\nA = madd33(A, float);\ncount = mmul33(A, A);\ns_A = madd33(count, A);\nreturn A, s_A;",
    );
    let fused = fused(&args);
    assert!(
        fused.covers[0].files[1]
            .1
            .contains("const float *A, const float *float_2, float *A_out, float *s_A"),
        "{}",
        fused.covers[0].files[1].1
    );
    leave("names", &fused);
}

#[test]
fn names_that_the_output_uses_itself_are_no_trouble() {
    let (_dir, args) = script(
        "matrix3x3 A, p_A, n_A, d_A_even, s_A, device_A, A_expected, c_A;\ninput A, p_A, device_A, A_expected;\n\
         s_A = madd33(A, p_A);\nc_A = madd33(s_A, device_A);\nn_A = madd33(c_A, A_expected);\nd_A_even = mmul33(n_A, A);\n\
         for (i = 0; i < 40; i++) { A = madd33(A, d_A_even); }\nreturn A, s_A;",
    );
    let fused = fused(&args);
    leave("names_of_ours", &fused);
}
