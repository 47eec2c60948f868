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
        ("W500", format!("{head}B = madd33(A, madd33(A, A));\nreturn B;")),
        ("W500", format!("{head}B = smmul33(A, 2);\nreturn B;")),
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
        ("W509", "matrix3x3 A, B;\ninput AA;\nB = madd33(A, A);\nreturn B;".into()),
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
    // Locals of launchers and of the test program, macros, counters of loops.
    let (_dir, args) = script(
        "matrix3x3 begin, end, i1, unix, fill, load_block, argc, k, bytes, per_second;\ninput begin, i1, argc;\n\
         end = madd33(begin, i1);\nfill = mmul33(end, argc);\nload_block = madd33(fill, fill);\nk = mmul33(load_block, end);\n\
         for (n = 0; n < 40; n++) { i1 = madd33(i1, k); bytes = madd33(i1, end); }\nunix = madd33(i1, bytes);\nper_second = madd33(unix, k);\n\
         return end, i1, unix, fill, per_second;",
    );
    let fused = self::fused(&FuseArgs { max_fusion: 3, ..args });
    leave("names_of_locals", &fused);
}

#[test]
fn files_are_called_as_their_owners_like() {
    let text = "matrix3x3 A, B;\ninput A;\nB = madd33(A, A);\nreturn B;";
    for (file, name) in
        [("3d-sum.ws", "script_3d_sum"), ("_a.ws", "script_a"), ("madd33.ws", "madd33")]
    {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(file);
        std::fs::write(&path, text).unwrap();
        let fused = fused(&FuseArgs::of(path));
        assert_eq!(fused.name, name);
        leave(name, &fused);
    }
}

#[test]
fn variables_may_be_called_as_functions_are() {
    // Files with functions of their own get a namespace, which is called after the function.
    let library = super::foreign::with_foreign_functions(true);
    let (_dir, args) = script(
        "quaternion qmul, p;\ninput p;\nqmul = qmul(p, p);\np = qmul(qmul, p);\nreturn p, qmul;",
    );
    let fused = fused(&FuseArgs { library: Some(library.path().into()), ..args });
    leave("called_as_a_function", &fused);
}

#[test]
fn structures_of_arrays_are_as_right_as_arrays_of_structures() {
    // Inputs, outputs, what goes between kernels and what loops carry, in both layouts; one thread an element and several.
    let text = "soa matrix3x3 A, B, C; matrix3x3 D; soa tensor3x3x3 T, U; vector3 v; soa vector3 w; soa scalar s; aos matrix5x5 E; soa matrix5x5 F;\n\
         input A, T, v, D, E, s;\nB = mmul33(A, D);\nw = mvmul33(B, v);\nU = ttmul3212(T, B);\nF = smmul55(E, s);\n\
         for (i = 0; i < 40; i++) { B = madd33(B, A); }\nC = madd33(B, D);\nreturn B, C, w, U, F;";
    let (_dir, args) = script(text);
    for (k, several) in [None, Some("*=2")].into_iter().enumerate() {
        for max_fusion in [1, 8] {
            for keep_loads in [false, true] {
                let implementations = several.map(str::to_string).into_iter().collect();
                let args = FuseArgs { max_fusion, implementations, keep_loads, ..args.clone() };
                let fused = fused(&args);
                if !keep_loads {
                    leave(&format!("layouts_{k}_{max_fusion}"), &fused);
                }
            }
        }
    }
}

#[test]
fn one_thread_an_element_needs_no_shared_memory_for_structures_of_arrays() {
    let (_dir, args) = script(
        "soa matrix3x3 A, B, C;\ninput A, B;\nC = mmul33(A, B);\nC = madd33(C, A);\nreturn C;",
    );
    let fused = fused(&FuseArgs { implementations: vec!["*=1".into()], ..args });
    let plan = &plans(&fused)[0];
    assert_eq!(
        (plan.shared_floats, plan.barriers(), plan.registers()),
        (0, 0, 4),
        "{}",
        fused.text
    );
    leave("columns", &fused);
}

#[test]
fn a_layout_stands_before_the_type() {
    let message = refused("mixed matrix3x3 A, B;\ninput A;\nB = madd33(A, A);\nreturn B;\n");
    assert!(message.starts_with("error[W500]") && message.contains("`soa` or `aos`"), "{message}");
    // A type may be called as a layout is: of two words the first is the type.
    let message = refused("soa A, B;\ninput A;\nB = madd33(A, A);\nreturn B;\n");
    assert!(message.starts_with("error[W501]: `soa` is no type"), "{message}");
}

#[test]
fn loops_of_many_iterations_are_checked_with_a_few_and_that_is_said() {
    for count in [30_000, 30_001] {
        let (_dir, args) = script(&format!(
            "matrix3x3 A, B; vector3 v; scalar s;\ninput A, v;\nB = madd33(A, A);\nfor (i = 0; i < {count}; i++) {{\n  v = mvmul33(B, v);\n\
             for (j = 0; j < 20; j++) {{ B = madd33(B, A); }}\n}}\ns = venorm3(v);\nreturn B, s;"
        ));
        let start = std::time::Instant::now();
        let fused = fused(&args);
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
        assert!(fused.covers[0].files[0].1.contains(&format!("< {count};")));
        assert!(fused.text.contains("a few iterations of each loop"), "{}", fused.text);
        assert!(
            fused.result["verification"]["assumptions"].to_string().contains("a few iterations")
        );
    }
}

#[test]
fn nested_loops_of_many_calls_are_checked_in_seconds() {
    // Fewer than two thousand launches, but of kernels with many calls.
    let (_dir, args) = script(
        "matrix3x3 A, B, C;\ninput A, B;\nfor (i = 0; i < 100; i++) {\n  C = mmul33(A, B);\n  for (j = 0; j < 30; j++) { A = madd33(A, B); B = mmul33(B, A); }\n  A = madd33(C, A);\n}\nreturn A, B;",
    );
    let start = std::time::Instant::now();
    let fused = fused(&args);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert!(fused.text.contains("a few iterations of each loop"), "{}", fused.text);
}

#[test]
fn a_mistake_in_a_loop_that_is_written_out_is_said_once() {
    let message = refused(
        "matrix3x3 A, B;\ninput A;\nfor (i = 0; i < 4; i++) { B = madd33(C, A); }\nreturn B;",
    );
    assert_eq!(message.matches("error[").count(), 1, "{message}");
    assert!(message.starts_with("error[W509]: `C` is not declared"), "{message}");
}

#[test]
fn calls_in_calls_and_numbers_as_arguments_are_told_what_to_do() {
    let head = "matrix3x3 A, B;\ninput A;\n";
    let nested = refused(&format!("{head}B = madd33(A, madd33(A, A));\nreturn B;"));
    assert!(
        nested.contains(
            "help: arguments are names: give what the inner call returns a name of its own"
        ),
        "{nested}"
    );
    let number = refused(&format!("{head}B = smmul33(A, 2);\nreturn B;"));
    assert!(number.contains("help: arguments are names: make the number an input"), "{number}");
}

/// What a kernel's own copies save does not wait for the library's loads.
#[test]
fn a_save_is_not_predicted_to_wait_for_loads_of_the_library() {
    let (_dir, args) = script(
        "matrix3x3 A; vector3 v; soa vector3 w;\ninput A, v;\nw = mvmul33(A, v);\nreturn w;",
    );
    for several in [false, true] {
        let implementations = if several { vec!["*=2".to_string()] } else { vec![] };
        let fused = fused(&FuseArgs { keep_loads: true, implementations, ..args.clone() });
        // 15 floats an element: a copy of as many takes 65 us.
        let seconds = fused.covers[0].cover.seconds;
        assert!(seconds < 200e-6, "{}", fused.text);
    }
}
