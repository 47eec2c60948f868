//! Iterations that go on early, and those that are made to go on to the end.

mod common;

use common::{Points as Sizes, check_scheduled as check, has_flat, refused_text};

const SIZES: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 33)], &[("n", 70)]];

fn loop_with(body: &str) -> String {
    format!(
        "
void f(int n, const int k[n], float a[n], float b[n])
{{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        {body}
    }}
}}
"
    )
}

#[test]
fn what_follows_goes_to_the_other_side() {
    let cases = [
        ("if (k[i] & 1) continue; a[i] = 1;", "if ((k[i] & 1) == 0) { a[i] = 1.0f; }"),
        ("if (k[i] > 1) continue; a[i] = 1;", "if (k[i] <= 1) { a[i] = 1.0f; }"),
        (
            "if (k[i] & 1) { b[i] = 2; continue; } a[i] = 1;",
            "if ((k[i] & 1) != 0) { b[i] = 2.0f; } else { a[i] = 1.0f; }",
        ),
        (
            "if (k[i] & 1) b[i] = 2; else continue; a[i] = 1;",
            "if ((k[i] & 1) != 0) { b[i] = 2.0f; a[i] = 1.0f; }",
        ),
        (
            "if (k[i] & 1) { if (k[i] & 2) continue; else { b[i] = 3; continue; } } a[i] = 1;",
            "if ((k[i] & 1) != 0) { if ((k[i] & 2) == 0) { b[i] = 3.0f; } } else { a[i] = 1.0f; }",
        ),
        ("{ if (k[i] & 1) continue; b[i] = 1; } a[i] = 1;", "b[i] = 1.0f; a[i] = 1.0f; }"),
        (
            "a[i] = 1; if (k[i] & 1) { b[i] = 4; continue; }",
            "if ((k[i] & 1) != 0) { b[i] = 4.0f; }",
        ),
        // Two variables of one name come into one block.
        (
            "if (k[i] & 1) { float t = a[i]; b[i] = t; } else continue; float t = 3; a[i] = t + b[i];",
            "a[i] = t",
        ),
        ("a[i] = 1; continue; b[i] = 1;", "return; a[i] = 1.0f; }"),
    ];
    for (body, piece) in cases {
        let text = check(&loop_with(body), "guard i\nbind i -> x block 32", SIZES);
        has_flat(&text, &[piece]);
        assert!(!text.contains("continue"), "{text}");
    }
}

#[test]
fn a_continue_of_an_inner_loop_is_its_own() {
    let body = "float s = 0; for (int j = 0; j < 3; j++) { if (k[i] == j) continue; s += j; } a[i] = s; if (s > 1) continue; b[i] = s;";
    let text = check(&loop_with(body), "guard i\nguard j\nbind i -> x block 32", SIZES);
    has_flat(&text, &["if (k[i] != j) { s += j; }", "if (!(s > 1.0f)) { b[i] = s; }"]);
}

#[test]
fn what_cannot_be_guarded_is_refused() {
    let cases = [
        ("a[i] = 1;", "none of its iterations goes on early"),
        (
            "if (k[i] & 1) { if (k[i] & 2) continue; b[i] = 3; } a[i] = 1;",
            "what follows a condition would have to stand on both sides of it",
        ),
        (
            "switch (k[i]) { case 1: continue; default: b[i] = 2; } a[i] = 1;",
            "what follows a condition would have to stand on both sides of it",
        ),
    ];
    for (body, why) in cases {
        let text = refused_text(&loop_with(body), "guard i\nbind i -> x block 32");
        assert!(text.contains(&format!("cannot guard loop `i`: {why}")), "{text}");
    }
    let late =
        refused_text(&loop_with("if (k[i]) continue; a[i] = 1;"), "bind i -> x block 32\nguard i");
    assert!(late.contains("bound"), "{late}");
}
