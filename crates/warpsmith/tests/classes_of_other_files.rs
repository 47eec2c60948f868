//! Programs whose classes are defined in other files than they are used in.

use std::process::Command;

const HEADER: &str = "#pragma once
template <typename T> struct Sum {
    int n;
    Sum(int n);
    T operator()();
};
struct Test { bool operator()(); };
";
/// A class template whose methods launch, instantiated for others.
const SUM: &str = "#include \"sum.h\"
template <typename T> __global__ void fill(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i LESS n) x[i] = i;
}
template <typename T> Sum<T>::Sum(int n) : n(n) {}
template <typename T> T Sum<T>::operator()()
{
    T *x, last;
    cudaMalloc(&x, n * sizeof(T));
    fill<T><<<(n + 31) / 32, 32>>>(x, n);
    cudaMemcpy(&last, x + n - 1, sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(x);
    return last;
}
template struct Sum<float>;
";
/// What is between the program and that class.
const TEST: &str = "#include \"sum.h\"
bool Test::operator()()
{
    Sum<float> sum(40);
    return sum() == 39;
}
";
const MAIN: &str = "#include \"sum.h\"
int main()
{
    Test test;
    return test() ? 0 : 1;
}
";

fn check(less: &str, args: &[&str], status: i32) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sum = SUM.replace("LESS", less);
    for (name, text) in
        [("sum.h", HEADER), ("sum.cu", &sum), ("test.cpp", TEST), ("main.cpp", MAIN)]
    {
        std::fs::write(folder.path().join(name), text).expect("a writable folder");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command.current_dir(folder.path()).env("NO_COLOR", "1").arg("check").args(args);
    let output = command.output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    text
}

/// The file with the kernels has nothing that the one with `main` names: another one leads from that to this.
#[test]
fn a_class_by_way_of_another_file_belongs_to_the_program() {
    let all = ["sum.cu", "test.cpp", "main.cpp"];
    let text = check("<", &all, 0);
    assert!(text.contains("1 launch checked: nothing found"), "{text}");
    let text = check("<=", &all, 1);
    assert!(text.contains("out-of-bounds") && text.contains("sum.cu:5"), "{text}");
}
