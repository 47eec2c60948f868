//! What programs read of files that nobody has: numbers of the header are invented, the rest is not known.

use super::{check, program};

fn clean(body: &str) {
    let text = check(&program(body), &[], 0);
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    assert!(text.contains("is not read: numbers and sizes from it are invented"), "{text}");
}

const LAUNCH: &str =
    "float *x; cudaMalloc(&x, n * m * sizeof(float)); cudaMemset(x, 0, n * m * sizeof(float));
    scale<<<(n * m + 63) / 64, 64>>>(x, 2.0f, n * m);";

/// A word that says what the file is stands before the numbers.
#[test]
fn a_header_may_stand_behind_a_word() {
    clean(&format!(
        "FILE *f = fopen(argv[0], \"rb\"); char kind[8]; int n = 0, m = 0;
        if (fgets(kind, 8, f) == NULL || strncmp(kind, \"P6\", 2) != 0) {{ fclose(f); exit(1); }}
        if (fscanf(f, \"%d %d\", &n, &m) != 2) exit(1);
        unsigned char *raw = (unsigned char *)memalign(16, 3 * n * m);
        if (fread(raw, 1, 3 * n * m, f) == 0) exit(1);
        {LAUNCH}"
    ));
}

#[test]
fn a_header_may_be_read_a_number_at_a_time() {
    clean(&format!(
        "FILE *f = fopen(argv[0], \"rb\"); int n = 0, m = 0;
        fread(&n, sizeof(int), 1, f); fread(&m, sizeof(int), 1, f);
        if (n <= m) return 1;
        {LAUNCH}"
    ));
    clean(&format!(
        "std::ifstream f(argv[0]); int n, m; f >> n; f >> m;
        float *h = (float *)_mm_malloc(n * m * sizeof(float), 64);
        for (int i = 0; i < n * m; i++) f >> h[i];
        _mm_free(h);
        {LAUNCH}"
    ));
}

/// Lines behind a line of titles are data.
#[test]
fn lines_behind_one_that_is_passed_over_are_no_header() {
    let body = "FILE *f = fopen(argv[0], \"r\"); char line[80]; int label = 0;
        fgets(line, 80, f); fgets(line, 80, f); sscanf(line, \"%d\", &label);
        float *x; cudaMalloc(&x, 40); cudaMemset(x, 0, 40);
        scale<<<1, 32>>>(x, 2.0f, 10);
        scale<<<1, 32>>>(x, 2.0f, label);";
    let text = check(&program(body), &[], 2);
    assert!(text.contains("a launch was not run: `label` is not known here"), "{text}");
}

/// Elements are no header: what is done with them is not decided by an invented number.
#[test]
fn numbers_that_go_to_one_place_after_another_are_data() {
    let body = "FILE *f = fopen(argv[0], \"rb\"); int n = 0, a[4] = {0};
        fread(&n, sizeof(int), 1, f);
        for (int i = 0; i < 4; i++) fread(&a[i], sizeof(int), 1, f);
        float *x; cudaMalloc(&x, n * sizeof(float)); cudaMemset(x, 0, n * sizeof(float));
        scale<<<(n + 63) / 64, 64>>>(x, 2.0f, n);
        if (a[1] > 0) scale<<<1, a[2]>>>(x, 2.0f, n);";
    let text = check(&program(body), &[], 2);
    assert!(text.contains("a launch was not run"), "{text}");
}

/// What a larger memory holds of the smaller one is set, and not followed.
#[test]
fn memory_of_the_host_may_grow() {
    let body = "int n = 64; float *h = (float *)malloc(n * sizeof(float));
        for (int i = 0; i < n; i++) h[i] = i;
        h = (float *)realloc(h, 2 * n * sizeof(float));
        float *x; cudaMalloc(&x, 2 * n * sizeof(float));
        cudaMemcpy(x, h, 2 * n * sizeof(float), cudaMemcpyHostToDevice);
        scale<<<2, 64>>>(x, 2.0f, 2 * n);";
    assert_eq!(check(&program(body), &[], 0).trim(), "1 launch checked: nothing found");
}
