//! Arrays that callers need not pass, elements that loops without iterations do not touch, and arrays of negative sizes.

mod common;

use std::collections::BTreeMap;

use common::{Input, check_scheduled, has};
use warpsmith_ir::interp::{self, Arg, LaunchRequest, Launcher, Limits, Memory};
use warpsmith_ir::{Origin, Scalar, Stmt, StmtKind, Type, Value};
use warpsmith_opt::Program;
use warpsmith_opt::analysis::presence;

/// `b`, `f` and `Z` need not be there where `has` is zero.
const OPTIONAL: &str = "
void f(int n, int m, int has, const int A[n][m], const int b[m], const int f[9], int B[n][m], int Z[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int v = A[i][j];
            if (has) { v += b[j]; for (int k = 0; k < 9; k++) v += f[k] * j; Z[i][j] = v; }
            B[i][j] = v;
        }
}
";

fn program(source: &str, steps: &str) -> Program {
    Input::new(source).scheduled(steps).unwrap_or_else(|e| panic!("{steps}: {e}"))
}

/// Arrays that the launcher asks for.
fn asked_for(steps: &str) -> Vec<String> {
    let all = program(OPTIONAL, steps).assumptions.into_iter().map(|a| a.to_string());
    all.filter_map(|a| Some(a.split_once("` is not null")?.0.trim_start_matches('`').into()))
        .collect()
}

#[test]
fn what_copies_read_without_being_asked_has_to_be_there() {
    let bound = "bind i, j -> y, x block 8x8";
    for (steps, asked) in [
        (bound.to_string(), vec![]),
        (format!("{bound}\nregister_tile j by 4\nvectorise j by 4\nbounds peel"), vec![]),
        (format!("{bound}\nstage A"), vec![]),
        (format!("{bound}\nstage b"), vec!["b"]),
        (format!("{bound}\nstage b async"), vec!["b"]),
        (format!("{bound}\nconstant f"), vec!["f"]),
        (format!("pitch Z 32\n{bound}"), vec!["Z"]),
        (format!("{bound}\nregister_tile j by 4\nstage b\nstage Z"), vec!["b", "Z"]),
    ] {
        assert_eq!(asked_for(&steps), asked, "{steps}");
    }
}

/// Which conditions make an array one that need not be there.
#[test]
fn positions_and_sizes_say_nothing_of_what_is_passed() {
    for (source, asked) in [
        ("if (i > 0 && i < n - 1) y[i] = b[i];", false),
        ("if (n > 4) y[i] = b[i];", false),
        ("int at = i + 1; if (at < n) y[i] = b[at];", false),
        ("if (has) y[i] = b[i];", true),
        ("int h = has & 1; if (h) y[i] = b[i];", true),
        ("y[i] = has ? b[i] : 0;", true),
        ("if (!has) continue; y[i] = b[i];", true),
        ("if (y[i] > 3 && b[i] > 0) y[i] = 1;", true),
        ("y[i] = b[i]; if (has) y[i] += b[i];", false),
    ] {
        let source = format!(
            "void f(int n, int has, const int b[n], int y[n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{ {source} }}
}}"
        );
        let kernel = Input::new(&source).kernel();
        let found = presence::optional(kernel.func());
        let names: Vec<&str> = found.iter().map(|v| kernel.name_of(*v)).collect();
        assert_eq!(names.contains(&"b"), asked, "{source}");
    }
}

/// Data name the element, and there need not be one where the loop does not run.
const NAMED: &str = "
void f(int n, int m, const int A[n][m], const int p[n], int y[n][4]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int q = p[i] & 3;
        for (int j = 0; j < m; j++)
            y[i][q] += A[i][j];
    }
}
";

#[test]
fn loops_without_iterations_touch_no_element() {
    let sizes: common::Points<'_> =
        &[&[("n", 0), ("m", 2)], &[("n", 3), ("m", 0)], &[("n", 40), ("m", 9)]];
    let text = check_scheduled(NAMED, "accumulate y\nbind i -> x block 32", sizes);
    has(&text, &["int acc = m > 0 ? y[(size_t)i * 4 + q] : 0;", "if (m > 0)"]);
    let text =
        check_scheduled(NAMED, "accumulate y\nbind i -> y block 1x4\nshare j -> x by 32", sizes);
    has(&text, &["m > 0"]);
    let text = check_scheduled(NAMED, "split_k j by 4\nbind j_part, i -> y, x block 32x4", sizes);
    has(&text, &["if (m > 0)"]);
    // Positions say where it is.
    let plain = NAMED.replace("[q]", "[i & 3]");
    let text = check_scheduled(&plain, "accumulate y\nbind i -> x block 32", sizes);
    assert!(!text.contains("m > 0"), "{text}");
    // Nothing says before the outer loop whether the inner one runs for any of its iterations.
    let nested = NAMED.replace(
        "for (int j = 0; j < m; j++)",
        "for (int j = 0; j < m; j++) for (int k = j; k < A[i][j] % 3; k++)",
    );
    let said = Input::new(&nested).scheduled("accumulate y").expect_err("refused");
    assert!(said.contains("may not come to the element"), "{said}");
}

/// A device that launches nothing.
struct Nothing;

impl Launcher for Nothing {
    fn launch(&mut self, _: &mut Memory, _: LaunchRequest) -> Result<(), String> {
        Ok(())
    }
}

/// Bytes of the workspace at some sizes.
fn workspace(program: &Program, sizes: &[(&str, i64)]) -> u64 {
    let sizes: BTreeMap<&str, i64> = sizes.iter().copied().collect();
    let mut module = program.module.clone();
    let workspace = program.workspace.as_ref().expect("a workspace");
    let function = &mut module.functions[program.launcher.0 as usize];
    let returned = StmtKind::Return(Some(workspace.bytes.clone()));
    function.body.stmts = vec![Stmt::new(returned, Origin::default())];
    function.ret = Type::U64;
    let function = module.function(program.launcher);
    let args = function.params.iter().map(|p| match sizes.get(function.var(*p).name.as_str()) {
        Some(value) => Arg::Value(Value::int(Scalar::I32, *value)),
        None => Arg::Pointer { buffer: 0, offset: 0 },
    });
    let mut memory = Memory::default();
    memory.buffers.push(vec![0; 64]);
    let args: Vec<Arg> = args.collect();
    let limits = Limits::default();
    let done = interp::call(&module, program.launcher, &args, &mut memory, &limits, &mut Nothing);
    done.expect("it runs").expect("a value").as_i64() as u64
}

#[test]
fn negative_sizes_need_no_workspace() {
    let source = "
void f(int n, int m, int k, const int A[64][64], const int B[64][64], unsigned C[64][64]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
}
";
    let program = program(source, "split_k l by 3");
    for (n, m) in [(64, -3), (-70, -3), (-1, 64)] {
        assert_eq!(workspace(&program, &[("n", n), ("m", m), ("k", 64)]), 0, "{n} x {m}");
    }
    assert!(workspace(&program, &[("n", 5), ("m", 4), ("k", 64)]) >= 240);
}

/// A least value that the next one replaces where it is NaN: in which order they are looked at matters then.
#[test]
fn choices_that_nan_changes_are_named() {
    let source = |choice: &str| {
        format!(
            "void f(int n, int m, const float x[n][m], float y[n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        float a = 1e30f;
        for (int j = 0; j < m; j++) {{ {choice} }}
        y[i] = a;
    }}
}}
"
        )
    };
    let said = |choice: &str, steps: &str| {
        let all = program(&source(choice), steps).assumptions;
        all.iter().any(|a| a.to_string().contains("are no NaN"))
    };
    let shared = "bind i -> y block 1x4\nshare j -> x by 32";
    assert!(said("a = a < x[i][j] ? a : x[i][j];", shared));
    assert!(said("a = x[i][j] > a ? a : x[i][j];", shared));
    assert!(!said("a = x[i][j] < a ? x[i][j] : a;", shared));
    assert!(!said("if (x[i][j] < a) a = x[i][j];", shared));
    assert!(!said("a = a < x[i][j] ? a : x[i][j];", "bind i -> x block 32"));
}
