//! Which bodies only contribute to a variable that a clause reduces, and which do more.

mod common;

use common::Input;
use warpsmith_opt::rewrite::question::independence;

/// A function that reduces `s` of a type by an operation over `a`.
fn function(ty: &str, op: &str, first: &str, body: &str, before: &str) -> String {
    format!(
        "{before}
        {ty} f(int n, const int *a, const float *x, float *out) {{
            {ty} s = {first};
            #pragma omp parallel for reduction({op}: s)
            for (int i = 0; i < n; i++) {{ {body} }}
            return s;
        }}"
    )
}

/// The code of the refusal of the mark.
fn code(source: &str) -> Option<String> {
    let input = Input::new(source);
    let kernel = input.kernel();
    let refusals = independence::check_marks(&kernel).err()?;
    Some(refusals[0].diagnostic(&kernel).code.to_string())
}

#[track_caller]
fn right(ty: &str, op: &str, first: &str, bodies: &[&str]) {
    for body in bodies {
        let source = function(ty, op, first, body, HELPERS);
        assert_eq!(code(&source), None, "`{body}` by {op}");
    }
}

#[track_caller]
fn wrong(ty: &str, op: &str, first: &str, bodies: &[(&str, &str)]) {
    for (body, expected) in bodies {
        let source = function(ty, op, first, body, HELPERS);
        assert_eq!(code(&source).as_deref(), Some(*expected), "`{body}` by {op}");
    }
}

const HELPERS: &str = "
    static float larger(float a, float b) { if (a > b) return a; return b; }
    static float plus(float a, float b) { return a + b; }
    static float odd(float a, float b) { return b > 3 ? a * b : a + b; }
    static void add(float *to, float e) { *to += e; }
    static void into(float *to, float e) { *to = e; }
    static unsigned mixed(unsigned h, unsigned v) { return v == 7 ? h + v : h ^ v; }
    ";

#[test]
fn sums_of_all_forms() {
    right(
        "float",
        "+",
        "0",
        &[
            "s += x[i];",
            "s = x[i] + s;",
            "s -= x[i] * x[i];",
            "s = s + x[i] + 2.0f * i;",
            "if (a[i] > 0) s += x[i]; else s -= x[i];",
            "for (int k = 0; k < a[i]; k++) s += k * x[i];",
            "s = (float)((double)s + x[i]);",
            "s = a[i] > 0 ? s + x[i] : s;",
            "s += a[i] > 0 ? x[i] : 0;",
            "s = plus(s, x[i]);",
            "add(&s, x[i]);",
            "float t = s; t += x[i]; s = t;",
            "if (a[i] < 0) continue; s += x[i];",
            "switch (a[i]) { case 1: s += 1; break; default: s += 2; }",
        ],
    );
    wrong(
        "float",
        "+",
        "0",
        &[
            ("if (x[i] > 1e6f) s *= x[i];", "W237"),
            ("if (a[i] == 5) s = x[i] - s; else s += x[i];", "W237"),
            ("if (s < 1000) s += x[i];", "W236"),
            ("s += x[i]; if (s > 9) s = 9;", "W236"),
            ("double t = s; if (a[i] > 3) t *= 2; s = t + x[i];", "W237"),
            ("float t = s; s += x[i]; s = t;", "W237"),
            ("s = odd(s, x[i]);", "W237"),
            ("into(&s, x[i]);", "W237"),
            ("s = x[i];", "W237"),
            ("s = s + s;", "W237"),
            ("s += s * x[i];", "W237"),
            ("s += x[i]; out[i] = s;", "W227"),
            ("float t = s; out[i] = t;", "W227"),
            ("for (int k = 0; k < s; k++) out[i] = k;", "W236"),
            ("out[(int)s] = 1;", "W227"),
            ("s = (int)s + x[i];", "W237"),
        ],
    );
}

#[test]
fn least_and_greatest_values_of_all_forms() {
    right(
        "float",
        "max",
        "-1",
        &[
            "if (x[i] > s) s = x[i];",
            "if (s < x[i]) { s = x[i]; }",
            "s = x[i] > s ? x[i] : s;",
            "s = s >= x[i] ? s : x[i];",
            "s = fmaxf(s, x[i]);",
            "s = larger(s, x[i]);",
            "s = larger(x[i], s);",
            "if (fabs(x[i]) > s) s = fabs(x[i]);",
            "s = fmax(s, x[i]);",
            "float t = x[i] * 2; if (!(t <= s)) s = t;",
            "for (int k = 0; k < a[i]; k++) if (x[k] > s) s = x[k];",
        ],
    );
    wrong(
        "float",
        "max",
        "-1",
        &[
            ("if (x[i] < s) s = x[i];", "W236"),
            ("if (x[i] > s) s = x[i]; if (a[i] == 5) s = 0;", "W237"),
            ("s = x[i] > s ? x[i] : (x[i] < -1e20f ? x[i] : s);", "W237"),
            ("s = fminf(s, x[i]);", "W237"),
            ("if (x[i] > s) s = x[i] + 1;", "W236"),
            ("if (x[i] + 1 > s) s = x[i];", "W236"),
            ("if (x[i] > s) { s = x[i]; out[0] = i; }", "W236"),
            ("s += x[i];", "W237"),
        ],
    );
    // A value that does not fit becomes another.
    wrong("unsigned char", "max", "0", &[("if (a[i] > s) s = a[i];", "W236")]);
    right("unsigned char", "max", "0", &["unsigned char t = a[i]; if (t > s) s = t;"]);
    wrong("unsigned", "min", "9", &[("if (a[i] < (int)s) s = a[i];", "W236")]);
}

#[test]
fn truth_values_of_all_forms() {
    right(
        "int",
        "&&",
        "1",
        &[
            "s = s && a[i] > 0;",
            "if (a[i] < 0) s = 0;",
            "s &= a[i] > 0;",
            "if (s && a[i] < 0) s = 0;",
            "if (s) s = a[i] > 0;",
            "s = s ? a[i] > 0 : 0;",
            "s = a[i] < 0 ? 0 : s;",
        ],
    );
    right("int", "||", "0", &["if (!s && a[i] == 3) s = 1;", "s |= a[i] == 3;", "s = s || a[i];"]);
    wrong(
        "int",
        "&&",
        "1",
        &[
            ("s = a[i] > -2000000000;", "W237"),
            ("if (x[i] > 1e30f) s = 0; if (x[i] > 2e30f) s = 1;", "W237"),
            ("s &= a[i];", "W237"),
            ("s = s || a[i];", "W237"),
            ("s = !s;", "W237"),
        ],
    );
    wrong("int", "||", "2", &[("if (a[i] == 3) s = 1;", "W238")]);
}

#[test]
fn bits_and_products() {
    right("unsigned", "^", "0", &["s ^= a[i];", "s = s ^ (unsigned)a[i] ^ 1u;"]);
    wrong("unsigned", "^", "0", &[("s = mixed(s, a[i]);", "W237")]);
    right("unsigned short", "+", "0", &["s += a[i];"]);
    right("double", "*", "1", &["s *= x[i];"]);
    wrong("float", "*", "1", &[("s *= 1 + x[i]; if (x[i] > 5) s += 1;", "W237")]);
    // Every addition rounds to an integer.
    wrong("int", "+", "0", &[("s += 0.5f * x[i];", "W237")]);
}
