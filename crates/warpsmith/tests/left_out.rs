//! Host code that is left out, and what launches then get: nothing of it may become a finding.

mod common;

/// What `check` says of a file, and its status.
fn check(source: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("a.cu"), source).expect("a writable folder");
    let output =
        common::command(folder.path(), &["check", "a.cu"]).output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// What is read from files is not known, but how much there is: the launches get sizes.
#[test]
fn files_that_are_read_by_words_letters_and_bytes_have_sizes() {
    let (status, text) = check(include_str!("../../../tests/corpus/files/words_of_files.cu"));
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("2 launches checked: nothing found"), "{text}");
    assert!(!text.contains("was not launched"), "{text}");
}

const ROWS: &str = r#"
#include <vector>
__global__ void fill(float **rows, int n, int count)
{
    int i = threadIdx.x;
    if (i < n) rows[i % count][i] = 1.0f;
}
int main()
{
    std::vector<float *> rows(4);
    for (auto &row : rows) row = ROW;
    float **d_rows;
    cudaMalloc(&d_rows, 4 * sizeof(float *));
    cudaMemcpy(d_rows, rows.data(), 4 * sizeof(float *), cudaMemcpyHostToDevice);
    fill<<<1, 64>>>(d_rows, 64, 4);
    return 0;
}
"#;

/// Pointers from a library that is not known lead nowhere here, which is no mistake of the program; null pointers are one.
#[test]
fn pointers_that_nobody_gave_are_no_findings() {
    let (status, text) = check(&ROWS.replace("ROW;", "memory_of_a_library(64);"));
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("`memory_of_a_library` is not declared"), "{text}");
    assert!(text.contains("note[invalid-pointer]"), "{text}");
    let (status, text) = check(&ROWS.replace("ROW;", "nullptr;"));
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("error[invalid-pointer]: write through a null pointer"), "{text}");
}

/// A statement that is not even read may be the one that fills an array; one that was read and does something else is not.
#[test]
fn statements_that_are_not_read_may_set_any_memory() {
    let program = |statement: &str| {
        format!(
            "struct Box {{ float *data; operator float *() const {{ return data; }} }};
__global__ void twice(float *y, const float *x) {{ y[threadIdx.x] = 2 * x[threadIdx.x]; }}
int main()\n{{
    float h[64], *y;
    for (int i = 0; i < 64; i++) h[i] = i;
    Box box;
    cudaMalloc(&box.data, sizeof(h));
    cudaMalloc(&y, sizeof(h));
    {statement}
    twice<<<1, 64>>>(y, box.data);\n}}\n"
        )
    };
    let copy = |bytes: &str| format!("cudaMemcpy(BOX, h, {bytes}, cudaMemcpyHostToDevice);");
    let unread = copy("typeid(float) == typeid(float) ? sizeof(h) : 0").replace("BOX", "box.data");
    let (status, text) = check(&program(&unread));
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("host code was left out"), "{text}");
    let read = copy("sizeof(h)").replace("BOX", "box.operator float *()");
    let (status, text) = check(&program(&read));
    assert!(status == Some(0) && !text.contains("left out"), "{text}");
    let (status, text) = check(&program("(void)h;"));
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("error[uninitialized-global]"), "{text}");
}
