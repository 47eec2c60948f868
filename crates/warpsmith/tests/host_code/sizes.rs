//! Sizes that a program does not know before it runs, and such that are large.

use super::{KERNEL, check};

/// Rows of numbers with the columns that they stand in; how many columns there are is the largest of these.
fn columns(widest: &str, bytes: &str) -> String {
    format!(
        "#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
{KERNEL}
int main(int argc, char **argv)
{{
    if (argc != 2) return 1;
    std::ifstream file(argv[1]);
    std::string line;
    std::vector<int> at;
    int rows = 0, columns = 0;
    while (std::getline(file, line)) {{
        std::istringstream words(line);
        int column;
        char colon;
        float value;
        while (words >> column >> colon >> value) {{
            at.push_back(column - 1);
            {widest}
        }}
        rows++;
    }}
    int *d_at;
    cudaMalloc(&d_at, at.size() * sizeof(int));
    cudaMemcpy(d_at, at.data(), at.size() * sizeof(int), cudaMemcpyHostToDevice);
    float *x;
    cudaMalloc(&x, {bytes});
    cudaMemset(x, 0, {bytes});
    scale<<<(columns + 255) / 256, 256>>>(x, 2.0f, columns);
    return rows == 0;
}}
"
    )
}

#[test]
fn the_largest_number_of_a_file_is_a_size() {
    for widest in [
        "if (column > columns) columns = column;",
        "if (columns < column) { columns = column; }",
        "columns = std::max(columns, column);",
        "columns = column > columns ? column : columns;",
    ] {
        let text = check(&columns(widest, "columns * sizeof(float)"), &["--format", "json"], 0);
        assert!(text.contains("scale<<<2, 256>>>"), "{widest}: {text}");
        assert!(text.contains("is not read"), "{text}");
    }
    let text = check(&columns("if (column > columns) columns = column;", "columns"), &[], 1);
    assert!(text.contains("error[out-of-bounds]"), "{text}");
}

/// Each of many files, as one that lists their names has, is read for a little only.
#[test]
fn files_that_a_file_lists_end() {
    let source = format!(
        "#include <cstdio>
{KERNEL}
int main(int argc, char **argv)
{{
    FILE *list = fopen(\"list\", \"r\"), *one;
    char name[64];
    int n = 0, value;
    while (!feof(list)) {{
        if (fscanf(list, \"%s\\n\", name) != 1) break;
        one = fopen(name, \"r\");
        while (fscanf(one, \"%d\", &value) == 1) n++;
        fclose(one);
    }}
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(x, 2.0f, n);
    return 0;
}}
"
    );
    assert!(check(&source, &[], 0).contains("1 launch checked: nothing found"));
}

/// What race detection remembers is as large as what is touched, not as the array, though bytes of it could be written.
#[test]
fn a_large_array_of_which_little_is_touched_fits() {
    let source = "__global__ void push(long *list, char *name, int on_list)
{
    char *letters = on_list ? (char *)list : name;
    letters[threadIdx.x] = 1;
}
int main()
{
    long *list;
    char *name;
    cudaMalloc(&list, 100 << 20);
    cudaMalloc(&name, 64);
    push<<<1, 32>>>(list, name, 0);
    push<<<1, 32>>>(list, name, 1);
    return 0;
}
";
    let text = check(source, &["--max-memory", "512M"], 0);
    assert!(text.contains("2 launches checked: nothing found"), "{text}");
}

/// The host copies past the end of a text: that is worth a note, and nothing of the device is wrong.
#[test]
fn copies_of_the_host_past_an_end_are_noted() {
    let source = format!(
        "#include <cstring>
{KERNEL}
int main()
{{
    const char *text = \"short\";
    char line[64];
    memcpy(line, text, 64);
    float *x;
    cudaMalloc(&x, 400);
    cudaMemset(x, 0, 400);
    scale<<<4, 32>>>(x, 2.0f, 100);
    return 0;
}}
"
    );
    let text = check(&source, &[], 0);
    assert!(
        text.contains("note[out-of-bounds]: in `main`: access of 64 bytes at offset 0"),
        "{text}"
    );
}

/// `memcpy` and `memset` are the host's own: memory of the device is out of their reach.
#[test]
fn the_host_does_not_copy_memory_of_the_device() {
    let program = |call: &str| {
        format!(
            "#include <cstring>
{KERNEL}
int main()
{{
    float *x, h[100];
    for (int i = 0; i < 100; i++) h[i] = i;
    cudaMalloc(&x, 400);
    {call};
    scale<<<4, 32>>>(x, 2.0f, 100);
    return 0;
}}
"
        )
    };
    check(&program("cudaMemcpy(x, h, 400, cudaMemcpyHostToDevice)"), &[], 0);
    for call in ["memcpy(x, h, 400)", "memset(x, 0, 400)"] {
        let text = check(&program(call), &[], 1);
        assert!(text.contains("error[invalid-pointer]"), "{text}");
    }
}
