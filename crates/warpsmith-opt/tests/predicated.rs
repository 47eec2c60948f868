//! Conditions around serial loops that go into their limits.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, refused_text};

const SIZES: Sizes<'_> =
    &[&[("n", 0), ("m", 3)], &[("n", 1), ("m", 0)], &[("n", 5), ("m", 33)], &[("n", 37), ("m", 4)]];

/// Rows of a matrix with a body for each.
fn rows(body: &str) -> String {
    format!(
        "
void rows(int n, int m, const int k[n], const float A[n][m], float s[n], float t[n]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        {body}
    }}
}}
"
    )
}

const SUM: &str = "float sum = 0; for (int j = 0; j < m; j++) sum += A[i][j];";

#[test]
fn loops_under_conditions_are_shared() {
    for (body, limit) in [
        (format!("if (i < 3) {{ s[i] = -1; continue; }} {SUM} s[i] = sum;"), "i < 3 ? 0 : m"),
        (format!("if (i < 3) s[i] = -1; else {{ {SUM} s[i] = sum; }}"), "i < 3 ? 0 : m"),
        (format!("s[i] = 2; if (i % 2) {{ {SUM} s[i] = sum; }}"), "? m : 0"),
        (format!("if (k[i] & 1) {{ {SUM} s[i] = sum; }} else s[i] = 0;"), "j_runs ? m : 0"),
        // Two that end an iteration: the inner one first.
        (
            format!(
                "if (i == 1) {{ s[i] = 0; continue; }} if (k[i] & 1) {{ s[i] = 1; continue; }} {SUM} s[i] = sum;"
            ),
            "j_skips ? 0 : m",
        ),
    ] {
        check(&rows(&body), "predicate j\nbind i -> y block 1x4", SIZES);
        if !body.contains("i == 1") {
            let text =
                check(&rows(&body), "predicate j\nbind i -> y block 1x4\nshare j -> x by 8", SIZES);
            has(&text, &[limit, "__shfl_xor_sync"]);
        }
    }
}

#[test]
fn conditions_in_a_while_go_into_limits() {
    for way in ["t++; continue;", "s[i] = t; break;"] {
        let body = format!(
            "int t = 0; s[i] = 0; while (t < 3) {{ if ((k[i] + t) & 1) {{ {way} }} {SUM} s[i] += sum; t++; }}"
        );
        let text = check(&rows(&body), "predicate j\nbind i -> x block 32", SIZES);
        has(&text, &["j_skips ? 0 : m"]);
    }
    let body = format!("int t = 0; do {{ if (t == 1) {{ {SUM} s[i] = sum; }} }} while (t++ < 2);");
    has(&check(&rows(&body), "predicate j\nbind i -> x block 32", SIZES), &["t == 1 ? m : 0"]);
}

#[test]
fn conditions_that_change_on_the_way_are_kept() {
    let body = "int left = k[i] & 7; float sum = 0; if (left > 2) { for (int j = 0; j < m; j++) { sum += A[i][j]; left--; } t[i] = left; } s[i] = sum;";
    let text = check(&rows(body), "predicate j\nbind i -> x block 32", SIZES);
    has(&text, &["const bool j_runs = left > 2", "j_runs ? m : 0", "if (j_runs)"]);
    // What it stores is read by the condition.
    let body = "if (s[i] > 0) for (int j = 0; j < m; j++) s[i] -= A[i][j];";
    let text = check(&rows(body), "predicate j\nbind i -> x block 32", SIZES);
    has(&text, &["const bool j_runs = s[i] > 0"]);
}

#[test]
fn declarations_stay_that_the_loop_has_nothing_to_do_with() {
    let body =
        format!("if (i > 1) {{ float w = A[i - 2][0]; {SUM} s[i] = w * sum; }} else s[i] = 0;");
    let text = check(&rows(&body), "predicate j\nbind i -> x block 32", &SIZES[2..]);
    let (before, after) = text.split_once("if (i > 1)").expect("the condition stays");
    assert!(before.contains("sum = 0.0f") && !before.contains("A[(size_t)(i - 2)"), "{text}");
    assert!(after.contains("const float w = A["), "{text}");
}

#[test]
fn what_cannot_go_in_front_of_the_condition_is_refused() {
    for (body, why) in [
        (SUM.to_string() + " s[i] = sum;", "it stands under no condition"),
        (
            format!("if (i > 1) {{ int t = 0; while (t < 2) {{ {SUM} s[i] = sum; t++; }} }}"),
            "between it and the condition that it stands under is another loop",
        ),
        ("if (i > 1) { s[i] = 2; for (int j = 0; j < m; j++) s[i] += A[i][j]; }".into(), "more than declarations"),
        // Outside of its side the array has no such row.
        (
            "if (i > 1) { float sum = A[i - 2][0]; for (int j = 0; j < m; j++) sum += A[i][j]; s[i] = sum; }".into(),
            "without the condition",
        ),
        ("if (m > 0) { int w = n / m; for (int j = 0; j < m; j++) s[i] += w; }".into(), "without the condition"),
        ("if (i > 1) for (int j = k[i]; j < m; j++) s[i] += A[i][0];".into(), "without the condition"),
        ("if (i > 1) for (int j = m - 1; j >= 0; j--) s[i] += A[i][j];".into(), "does not count up"),
        (
            "if (i > 1) { float w = s[i]; for (int j = 0; j < m; j++) s[i] += A[i][j]; t[i] = w; }".into(),
            "changes what is declared",
        ),
    ] {
        let text = refused_text(&rows(&body), "predicate j");
        assert!(text.contains(why), "{body}: {text}");
    }
    // Of the loop nothing is left under the condition.
    let text = check(
        &rows("if (i > 1) for (int j = 0; j < m; j++) s[i] += A[i][j];"),
        "predicate j\nbind i -> x block 32",
        SIZES,
    );
    assert!(!text.contains("if (i > 1)"), "{text}");
    let bound = rows(&format!("if (i > 1) {{ {SUM} s[i] = sum; }}"));
    assert!(refused_text(&bound, "bind i -> x block 8\npredicate j").contains("loop `i` is bound"));
}
