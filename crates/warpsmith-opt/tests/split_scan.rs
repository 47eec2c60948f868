//! Loops whose iterations use sums so far, cut into parts that blocks go through: running sums, elements kept in order.

mod common;

use common::{Points as Sizes, check_scheduled as check, has, has_flat, refused_text};

const SIZES: Sizes<'_> = &[
    &[("n", 0)],
    &[("n", 1)],
    &[("n", 31)],
    &[("n", 33)],
    &[("n", 128)],
    &[("n", 300)],
    &[("n", 4097)],
    &[("n", 4160)],
];

/// What is bound plainly, and what threads go through together.
const WAYS: [&str; 4] = [
    "split_scan i by 4\nbind i_part -> x block 32\nbind i_row -> x block 32\nbind i_part#3 -> x block 32",
    "split_scan i by 3\nbind i_part -> y block 1x1\nshare i -> x by 64\nscan i_part#2 by 32\nscan i#2 by 64",
    "split_scan i by 8\nbind i_part -> x block 32\nscan i_part#2 by 32\nscan i#2 by 32 vector 4\nbind i_part#2 -> x block 32",
    "split_scan i by 1024\nbind i_part -> x block 32\nscan i_part#2 by 1024\nscan i#2 by 256",
];

/// A function with this loop body, between what begins a sum and what becomes of it.
fn kept(body: &str) -> String {
    format!(
        "
void kept(int n, const float x[n], const int k[n], float a[3 * n + 9], int b[3 * n + 9], int *total)
{{
    int m = 2;
    float s = 0.5f;
    for (int i = 0; i < n; i++) {{
        {body}
    }}
    *total = m + (int)s;
}}
"
    )
}

const KEPT: [&str; 11] = [
    "if (x[i] > 0.0f) a[m++] = x[i];",
    "if (x[i] > 0.0f) { b[m] = i; m++; }",
    "if (x[i] > 0.0f) { a[m] = x[i]; b[m] = k[i]; ++m; }",
    "if (k[i] & 1) { a[m] = x[i]; a[m + 1] = -x[i]; m += 2; }",
    "if (k[i] & 1) a[++m] = x[i];",
    "if (x[i] > 0.0f) { if (k[i] & 1) { a[m++] = x[i]; } else { a[m] = 1.0f; m += 3; } }",
    "if (k[i] & 1) { b[m] = i; if (x[i] > 0.0f) { b[m] = k[i]; } m = m + 1; }",
    "s += x[i]; a[i] = s;",
    "a[i] = 2.0f * x[i]; if (a[i] > 0.0f) b[m++] = i;",
    "if (x[i] > 0.0f) { int at; { int old = m; m += 1; at = old; } a[at] = x[i]; }",
    "if (k[i] & 1) { a[2 * m] = s; a[2 * m + 1] = x[i]; m++; } s += x[i];",
];

#[test]
fn parts_go_on_with_what_those_before_have() {
    for body in KEPT {
        for way in WAYS {
            check(&kept(body), way, SIZES);
        }
    }
}

#[test]
fn both_sides_of_a_condition_are_kept_apart() {
    let source = "
void sides(int n, const float x[n], float low[n], float high[n], int *count)
{
    int a = 0, b = n;
    for (int i = 0; i < n; i++) {
        if (x[i] < 0.5f) low[a++] = x[i];
        else high[--b] = x[i];
    }
    *count = a;
}
";
    for way in WAYS {
        let text = check(source, way, SIZES);
        has(&text, &["a_parts", "b_parts"]);
    }
    let down = source.replace("high[--b]", "high[b--]").replace("b = n;", "b = n - 1;");
    check(&down, WAYS[1], SIZES);
}

#[test]
fn sums_in_memory_come_to_registers_first() {
    let rows = "
void rows(int n, const int k[n], int ptr[n + 1])
{
    ptr[0] = 3;
    for (int i = 0; i < n; i++) ptr[i + 1] = ptr[i] + k[i];
}
";
    let counted = "
void find(int n, const int k[n], int at[n], int *count)
{
    *count = 0;
    for (int i = 0; i < n; i++)
        if (k[i] & 1) { at[*count] = i; (*count)++; }
}
";
    for way in WAYS {
        check(rows, &format!("carry i\n{way}"), SIZES);
        check(counted, &format!("accumulate count\n{way}"), SIZES);
    }
}

/// One row is no number of rows that some size could make too large.
#[test]
fn wide_counters_leave_nothing_to_other_nests() {
    let source = "
void rows(long n, const int k[n], long ptr[n + 1])
{
    ptr[0] = 3;
    for (long i = 0; i < n; i++) ptr[i + 1] = ptr[i] + k[i];
}
";
    check(source, &format!("carry i\n{}", WAYS[1]), SIZES);
}

/// Rows of which elements are kept, and where each row begins.
const SPARSE: &str = "
int sparse(int n, int m, const float a[n][m], int begin[n + 1], int column[n * m], float value[n * m])
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        begin[i] = count;
        for (int j = 0; j < m; j++)
            if (a[i][j] > 0.0f) {
                column[count] = j;
                value[count++] = a[i][j];
            }
    }
    begin[n] = count;
    return count;
}
";

#[test]
fn each_row_can_be_a_part() {
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 5)],
        &[("n", 3), ("m", 0)],
        &[("n", 1), ("m", 31)],
        &[("n", 7), ("m", 64)],
        &[("n", 40), ("m", 33)],
    ];
    let ways = [
        "split_scan i\nbind i -> x block 32\nbind i_row -> x block 32\nbind i#3 -> x block 32",
        "split_scan i\nbind i -> y block 1x1\nshare j -> x by 64\nscan i#2 by 32\nscan j#2 by 64",
        "split_scan i by 4\nbind i_part -> x block 32\nscan i_part#2 by 32\nscan i#2 by 32",
    ];
    for way in ways {
        check(SPARSE, way, sizes);
        let one = SPARSE.replace("int i = 0;", "int i = 1;").replace("i < n", "i <= n - 1");
        check(&one, way, &sizes[2..]);
    }
}

/// Of the three nests the last one rests on the positions that the others have found; nothing is assumed of it.
#[test]
fn elements_that_are_counted_are_each_iterations_own() {
    let mut input = common::Input::new(&kept(KEPT[0]));
    let program = input.scheduled(WAYS[1]).unwrap();
    let said: Vec<String> = program.assumptions.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["array arguments do not overlap"]);
}

#[test]
fn rows_of_parts_are_read_in_vectors() {
    let text = check(&kept(KEPT[0]), WAYS[2], SIZES);
    has_flat(
        &text,
        &["row_length", "float4", "m_here_before", "if (i_length % 4 == 0 && n % 4 == 0 &&"],
    );
}

#[test]
fn what_parts_cannot_know_is_refused() {
    let refused = |body: &str| refused_text(&kept(body), WAYS[0]);
    let cases = [
        ("a[i] = x[i];", "its iterations do not use what a sum is so far"),
        ("if (m < 7) a[m++] = x[i];", "what is added depends on `m` so far"),
        ("a[m] = x[i]; if (x[i] > 0.0f) m++;", "its iterations are not proved independent"),
        (
            "if (x[i] > 0.0f) { a[m] = x[i]; m += k[i]; }",
            "its iterations are not proved independent",
        ),
        ("if (k[i] & 1) { a[m] = x[i]; a[m + 2] = 1.0f; m += 2; }", "not proved independent"),
        ("if (k[i] & 1) a[m++] = x[i]; else a[++m] = x[i];", "not proved independent"),
        ("if (k[i] & 1) { a[m++] = x[i]; b[i] = (int)a[i]; }", "not proved independent"),
        ("if (k[i] & 1) { a[m++] = x[i]; if (m > 4) s += a[m - 3]; }", "depends on `m` so far"),
        (
            "if (k[i] & 1) { int at = m; m++; if (x[i] > 0.5f) at = 0; a[at] = x[i]; }",
            "independent",
        ),
        ("if (k[i] & 1) { a[(unsigned char)m] = x[i]; m++; }", "not proved independent"),
        ("if (k[i] & 1) { for (int j = 0; j < 2; j++) { m++; } a[m] = x[i]; }", "independent"),
        ("if (k[i] == 9) break; if (x[i] > 0.0f) a[m++] = x[i];", "it may end early"),
        ("if (k[i] == 9) continue; if (x[i] > 0.0f) a[m++] = x[i];", "may go on early"),
        (
            "a[i] += x[i]; if (a[i] > 0.0f) b[m++] = i;",
            "what is added follows from `a`, which would be changed twice",
        ),
        ("s = 0.5f * s * s + x[i]; a[i] = s;", "is changed by more than one operation"),
    ];
    for (body, why) in cases {
        let text = refused(body);
        assert!(text.contains(why), "{body}\n{text}");
    }
    let text = refused_text(&kept(KEPT[0]), "split_scan i by 2000");
    has(&text, &["the parts must be 1024 at most"]);
    let marked =
        kept(KEPT[7]).replace("    for (int i", "#pragma omp parallel for\n    for (int i");
    has(&refused_text(&marked, "split_scan i by 4"), &["error"]);
    let copies = "#pragma omp parallel for
        for (int j = 0; j < 3; j++) b[3 * i + j] = k[i];
        if (x[i] > 0.0f) a[m++] = x[i];";
    let bound = format!("bind j -> x block 32\n{}", WAYS[0]);
    has(&refused_text(&kept(copies), &bound), &["a loop that is bound stands in it"]);
    check(&kept(copies), WAYS[0], SIZES);
}

/// Greatest of its neighbours, by a loop inside that is marked.
const WINDOW: &str = "int most = 1;
        #pragma omp parallel for reduction(min: most)
        for (int j = 0; j < 3; j++)
            if (i + j < n && x[i + j] > x[i]) most = most < 0 ? most : 0;
        if (most) b[m++] = i;";

#[test]
fn loops_inside_lose_their_marks() {
    for way in WAYS {
        check(&kept(WINDOW), way, SIZES);
    }
}

#[test]
fn iterations_that_go_on_early_are_guarded_first() {
    let bodies = [
        "if (k[i] % 3 == 1) continue; if (x[i] > 0.0f) a[m++] = x[i];",
        "if (k[i] & 1) { if (x[i] > 0.5f) { b[m] = i; m++; continue; } a[m] = 2.0f; m++; }",
        "if (x[i] < 0.2f) continue; if (k[i] & 1 || x[i] > 0.7f) continue; a[m] = x[i]; b[m++] = i;",
    ];
    for body in bodies {
        for way in WAYS {
            check(&kept(body), &format!("guard i\n{way}"), SIZES);
        }
    }
}

/// What threads share of a recurrence is what a scan of it ends with.
const MAPS: [&str; 3] = [
    WAYS[0],
    "split_scan i by 3\nscan i by 64\nscan i_part by 32\nscan i by 64",
    "split_scan i by 8\nscan i by 32 vector 4\nbind i_part -> x block 32\nscan i_part#2 by 32\nscan i#2 by 32 vector 4\nbind i_part#2 -> x block 32",
];

/// What is carried on linearly: a part is a map.
#[test]
fn parts_of_recurrences_are_maps() {
    let bodies = [
        "s = x[i] - s; a[i] = s;",
        "s = (k[i] & 1) * s + x[i]; a[i] = s; if (k[i] & 2) b[m++] = k[i];",
        "float d = x[i] - s; s += 2.0f * d; a[i] = d;",
        "a[i] = s; if (k[i] & 1) s = 0.0f; else s = x[i] - s;",
    ];
    for body in bodies {
        for way in MAPS {
            check(&kept(body), way, SIZES);
        }
    }
    let filter = "
void filter(int n, const float x[n + 1], float y[n + 1])
{
    y[0] = x[0];
    for (int i = 1; i <= n; i++) y[i] = x[i] - y[i - 1];
}
";
    for way in &MAPS[..2] {
        let text = check(filter, &format!("carry i\n{way}"), SIZES);
        has(&text, &["y_last_slopes"]);
    }
}

/// Numbers of a linear congruential generator: products of unsigned numbers wrap around.
#[test]
fn parts_of_integer_recurrences_are_exact() {
    let source = "
void numbers(int n, unsigned r[n])
{
    unsigned s = 7u;
    for (int i = 0; i < n; i++) { s = 1664525u * s + 1013904223u; r[i] = s; }
}
";
    for way in &MAPS[..2] {
        check(source, way, SIZES);
    }
}
