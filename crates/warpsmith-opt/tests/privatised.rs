//! Arrays that iterations update atomically, with a copy for each block.

mod common;

use warpsmith_opt::schedule::{self, StepKind, fusions::Start};

use common::{Input, Points as Sizes, check_scheduled as check, check_shifted, has, refused_text};

const SIZES: Sizes<'_> = &[&[("n", 0)], &[("n", 1)], &[("n", 63)], &[("n", 200)], &[("n", 1000)]];

fn histogram(update: &str) -> String {
    format!(
        "
void count(int n, const int key[n], const int weight[n], int bins[8]) {{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {{
        #pragma omp atomic
        {update}
    }}
}}
"
    )
}

#[test]
fn a_histogram_is_counted_in_shared_memory() {
    let source = histogram("bins[key[i] & 7]++;");
    let text = check(&source, "privatise bins block 32 grid 4", SIZES);
    has(
        &text,
        &[
            "__shared__ int bins_shared[8];",
            "bins_shared[bin] = 0;",
            "__syncthreads();",
            "atomicAdd(&bins_shared[key[i] & 7], 1);",
            "__syncthreads();",
            "if (bins_shared[bin] != 0)",
            "atomicAdd(&bins[bin], bins_shared[bin]);",
        ],
    );
}

#[test]
fn every_operation_begins_at_what_leaves_values_alone() {
    for update in [
        "bins[key[i] & 7] += weight[i];",
        "bins[key[i] & 7] -= weight[i];",
        "bins[key[i] & 7] |= weight[i];",
        "bins[key[i] & 7] &= weight[i];",
        "bins[key[i] & 7] ^= weight[i];",
    ] {
        check(&histogram(update), "privatise bins block 64 grid 2", SIZES);
    }
    // Extremes are no `atomic` of OpenMP before 5.1: the form that stands for them.
    for compare in ["<", ">"] {
        let update =
            format!("if (weight[i] {compare} bins[key[i] & 7]) bins[key[i] & 7] = weight[i];");
        let source = histogram(&update).replace("omp atomic", "omp critical");
        check(&source, "privatise bins block 64 grid 2", SIZES);
    }
}

#[test]
fn nests_of_several_loops_are_numbered() {
    let source = "
void image(int n, int m, const unsigned char picture[n][m], unsigned bins[4][8]) {
    #pragma omp parallel for collapse(2)
    for (int y = 1; y < n; y += 2)
        for (int x = 0; x < m; x++) {
            int value = picture[y][x];
            #pragma omp atomic
            bins[value & 3][(value >> 2) & 7] += 1;
        }
}
";
    let sizes: Sizes<'_> = &[
        &[("n", 0), ("m", 3)],
        &[("n", 2), ("m", 1)],
        &[("n", 9), ("m", 17)],
        &[("n", 33), ("m", 40)],
    ];
    let text = check(source, "privatise bins block 32 grid 3", sizes);
    has(&text, &["bins_shared[32]", "iteration"]);
}

#[test]
fn loops_beside_it_stay_as_they_are() {
    let source = "
void two(int n, const int key[n], float out[n], int bins[16]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = 0.5f * key[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k = key[i] & 15;
        #pragma omp atomic
        bins[k] += i;
    }
}
";
    let text = check(source, "bind i -> x block 64\nprivatise bins block 128 grid 2", SIZES);
    has(&text, &["two_out", "two_kernel"]);
}

#[test]
fn what_has_no_copy_is_refused() {
    let cases = [
        (
            "void f(int n, const int k[n], int bins[8]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) bins[i & 7] = 1;
}",
            "updates it atomically",
        ),
        (
            "void f(int n, int b, const int k[n], int bins[b]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[k[i]] += 1;
    }
}",
            "its extents are not constant",
        ),
        (
            "void f(int n, const int k[n], int bins[20000]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[k[i]] += 1;
    }
}",
            "does not fit in the shared memory",
        ),
        (
            "void f(int n, const int k[n], int bins[8], int old[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[k[i]] += 1;
        #pragma omp atomic
        bins[7 - k[i]] -= 2;
    }
}",
            "only updated by one operation",
        ),
        (
            "void f(int n, const int k[n], int bins[8]) {
    for (int t = 0; t < 3; t++) {
        int m = bins[0];
        #pragma omp parallel for
        for (int i = 0; i < m; i++) {
            #pragma omp atomic
            bins[k[i]] += 1;
        }
    }
}",
            "does not know its loop's bounds",
        ),
    ];
    for (source, why) in cases {
        let text = refused_text(source, "privatise bins block 64 grid 2");
        assert!(text.contains(why), "{source}\n{text}");
    }
}

#[test]
fn grids_without_blocks_and_bound_loops_are_refused() {
    let text = refused_text(&histogram("bins[key[i] & 7]++;"), "privatise bins block 64 grid 0");
    assert!(text.contains("at least one block"), "{text}");
    let bound = "bind i -> x block 64\nprivatise bins block 64 grid 2";
    let text = refused_text(&histogram("bins[key[i] & 7]++;"), bound);
    assert!(text.contains("not bound yet"), "{text}");
}

#[test]
fn runs_of_bytes_are_loaded_as_vectors() {
    let source = "
void count(int n, const unsigned char image[n], unsigned bins[16]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[image[i] & 15]++;
    }
}
";
    let text = check(source, "privatise bins block 32 grid 2 run 16", SIZES);
    has(
        &text,
        &[
            "__align__(16) unsigned char image_run[16];",
            "reinterpret_cast<const uint4 *>(&image[run * 16])",
            "for (int at = 0; at < 16; ++at)",
            "atomicAdd(&bins_shared[image_run[at] & 15], 1);",
            "// what is left, one by one",
            "atomicAdd(&bins_shared[image[i] & 15], 1);",
        ],
    );
    // Elsewhere than at a vector there are no runs.
    let mut input = Input::new(source);
    let program = input.scheduled("privatise bins block 32 grid 2 run 16").unwrap();
    for shift in [1, 5, 8] {
        check_shifted(&input, &program, &[("n", 200)].into_iter().collect(), shift);
    }
}

#[test]
fn runs_keep_what_conditions_guard() {
    // `key` is read always, `weight` where the key is small only: it stays as it is.
    let source = "
void sums(int n, int c, const int key[n + 2], const float weight[n], float bins[8]) {
    #pragma omp parallel for
    for (int i = 2; i < n + 2; i++) {
        int k = key[i];
        if (k < c) {
            #pragma omp atomic
            bins[k & 7] += weight[i - 2];
        }
    }
}
";
    let sizes: Sizes<'_> =
        &[&[("n", 0), ("c", 3)], &[("n", 37), ("c", 0)], &[("n", 300), ("c", 7)]];
    let text = check(source, "privatise bins block 32 grid 2 run 4", sizes);
    has(&text, &["key_run[4]", "&key[run * 4 + 2]", "weight[i - 2]"]);
    assert!(!text.contains("weight_run"), "{text}");
}

#[test]
fn runs_that_load_nothing_are_refused() {
    let cases = [
        histogram("bins[i & 7]++;"),
        histogram("bins[key[2 * i] & 7]++;").replace("key[n]", "key[2 * n]"),
        histogram("bins[key[n - 1 - i] & 7]++;"),
    ];
    for source in cases {
        let text = refused_text(&source, "privatise bins block 32 grid 2 run 4");
        assert!(text.contains("no vector of neighbouring elements"), "{text}");
    }
    let source = histogram("bins[key[i] & 7]++;");
    for run in ["3", "0"] {
        let text = refused_text(&source, &format!("privatise bins block 32 grid 2 run {run}"));
        assert!(text.contains("no vector of neighbouring elements"), "{text}");
    }
}

/// The sum of a row's number and a column's has one type.
#[test]
fn subscripts_of_several_types_are_flattened() {
    let source = "
void bytes(unsigned n, const unsigned key[n], unsigned bins[4][256]) {
    #pragma omp parallel for
    for (unsigned i = 0; i < n; i++)
        for (int b = 0; b < 4; b++) {
            #pragma omp atomic
            bins[b][(key[i] >> (8 * b)) & 0xff]++;
        }
}
";
    let text = check(source, "privatise bins block 64 grid 2", SIZES);
    has(&text, &["__shared__ unsigned bins_shared[1024];", "b * 256ll"]);
}

/// Bins beside two sums and a maximum, as pairs of deviates are counted in rings.
const RINGS: &str = "
void rings(int n, const float x[n], double *total, float *most, int bins[10]) {
    double s = 2.5;
    float top = -3.0f;
    unsigned odd = 1;
    #pragma omp parallel for reduction(+: s) reduction(max: top) reduction(^: odd)
    for (int i = 0; i < n; i++) {
        float v = fabsf(x[i]);
        int l = (int)(v / 10);
        #pragma omp atomic
        bins[l > 9 ? 9 : l] += 1;
        s += v;
        top = fmaxf(top, x[i]);
        odd ^= (unsigned)l;
    }
    total[0] = s + odd;
    most[0] = top;
}
";

#[test]
fn what_a_loop_reduces_beside_is_combined_behind_it() {
    let source = format!("#include <math.h>\n{RINGS}");
    for blocks in ["block 32 grid 4", "block 64 grid 3", "block 256 grid 1"] {
        let steps = format!("privatise bins {blocks}\nreduce s block 32 grid 1");
        let text = check(&source, &steps, SIZES);
        has(
            &text,
            &[
                "double s_own = 0.0;",
                "float top_own = -INFINITY;",
                "atomicAdd(&bins_shared[",
                "s_own += ",
                "if (thread == 0)",
                "s_parts[block] = s_own;",
                "s += s_parts[part];",
            ],
        );
    }
    // What stands for `*total` is the thread's own as well.
    let by_pointer = "
void weigh(int n, const int key[n], const float x[n], float *total, int bins[8]) {
    #pragma omp parallel for reduction(+: total[0])
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[key[i] & 7] += 1;
        total[0] += x[i];
    }
}
";
    let steps = "privatise bins block 32 grid 4\nreduce total block 64 grid 2";
    let text = check(by_pointer, steps, SIZES);
    has(&text, &["total_own += x[i];", "total_parts[block] = total_own;"]);
}

#[test]
fn reductions_that_blocks_cannot_combine_are_refused() {
    let source = format!("#include <math.h>\n{RINGS}");
    let text = refused_text(&source, "privatise bins block 48 grid 4");
    has(&text, &["what its loop reduces is combined by a power of two threads, 32 or more"]);
    let bytes = source.replace("unsigned odd = 1", "unsigned char odd = 1");
    let bytes = bytes.replace("(unsigned)l", "(unsigned char)l");
    let text = refused_text(&bytes, "privatise bins block 64 grid 4");
    has(&text, &["`odd` is no number of four or eight bytes"]);
    let large = source.replace("bins[10]", "bins[12287]");
    let text = refused_text(&large, "privatise bins block 32 grid 4");
    has(&text, &["it does not fit in the shared memory of a block"]);
}

/// The number of iterations has a name of its own.
#[test]
fn a_variable_made_of_sizes_is_known_when_the_launcher_starts() {
    let source = |before: &str, n: &str| {
        format!(
            "
void count(int w, int h, const int key[w * h], int bins[8]) {{
    {before}
    #pragma omp parallel for
    for (int i = 0; i < {n}; i++) {{
        #pragma omp atomic
        bins[key[i] & 7] += 1;
    }}
}}
"
        )
    };
    let sizes: Sizes<'_> = &[&[("w", 0), ("h", 3)], &[("w", 7), ("h", 9)], &[("w", 31), ("h", 33)]];
    for (before, n) in
        [("int n = w * h;", "n"), ("const long rows = h; long n = rows * w;", "n"), ("", "w * h")]
    {
        let text = check(&source(before, n), "privatise bins block 32 grid 4", sizes);
        has(&text, &["bins_shared[8]"]);
    }
    for before in [
        "int n = w * h; if (w > 5) n = 4;",
        "if (h == 0) return; int n = w * h;",
        "int n = w * h / (h + 1);",
        "int n = bins[0];",
    ] {
        let text = refused_text(&source(before, "n"), "privatise bins block 32 grid 4");
        has(&text, &["the launcher does not know its loop's bounds when it starts"]);
    }
}

/// No loop is called as the one that is gone, so that those behind have other names.
#[test]
fn nests_behind_are_bound_by_their_new_names() {
    let mut input = Input::new(
        "
void two(int n, const int key[n], float out[n], int bins[16]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        bins[key[i] & 15] += i;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        out[i] = 0.5f * key[i];
}
",
    );
    let steps =
        ["bind i -> x block 64", "bind i#2 -> x block 64", "privatise bins block 64 grid 2"];
    let file = input.sources.add("all.sched", steps.join("\n"));
    let all = schedule::parse(&input.sources, file).unwrap().steps;
    let list = |k: usize| -> Vec<StepKind> { vec![all[k].kind.clone()] };
    let start = Start::of(&input.kernel());
    let parts = [vec![], list(0), list(1)];
    let found = schedule::with_part(&start, &parts, (1, &list(2)), &input.sources);
    assert_eq!(found[2][0].to_string(), "bind i -> x block 64");
}
