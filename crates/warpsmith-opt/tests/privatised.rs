//! Arrays that iterations update atomically, with a copy for each block.

mod common;

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
    // Extremes are no `atomic` of OpenMP before 5.1: the forms that stand for them.
    let source = histogram("if (weight[i] > bins[key[i] & 7]) bins[key[i] & 7] = weight[i];");
    let text = refused_text(&source, "privatise bins block 64 grid 2");
    assert!(text.contains("updated by one operation") || text.contains("bins"), "{text}");
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
