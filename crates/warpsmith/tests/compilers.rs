//! Kernels that a compiler refuses are not handed out: an `nvcc` of the test's own says which.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

/// Refuses texts with `refused` in them; of the others it counts registers as `ptxas` does.
fn tune(folder: &Path, refused: &str, options: &[&str]) -> Output {
    let script = format!(
        "#!/bin/sh\n\
         for file; do :; done\n\
         if /bin/grep -q '{refused}' \"$file\"; then echo \"error: no {refused} here\" >&2; exit 2; fi\n\
         echo \"ptxas info    : Compiling entry function 'scale_kernel' for 'sm_90'\"\n\
         echo 'ptxas info    : Function properties for scale_kernel'\n\
         echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'\n\
         echo 'ptxas info    : Used 20 registers'\n"
    );
    let nvcc = folder.join("nvcc");
    std::fs::write(&nvcc, script).expect("a writable folder");
    let allowed = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&nvcc, allowed).expect("a program");
    let source = "void scale(int n, float a[n], const float x[n]) {\n    #pragma omp parallel for\n    \
                  for (int i = 0; i < n; i++) a[i] = 2.0f * x[i];\n}\n";
    std::fs::write(folder.join("scale.c"), source).expect("a writable folder");
    let args =
        ["tune", "scale.c", "--size", "n=1000000", "--device", "emulator", "--format", "json"];
    let mut command = common::command(folder, &[&args[..], options].concat());
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.display()));
    for variable in ["CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV"] {
        command.env_remove(variable);
    }
    command.output().expect("the program starts")
}

#[test]
fn what_the_compiler_refuses_is_not_chosen() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = tune(folder.path(), "float4", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let registers = &result["predicted"]["registers"];
    if registers["source"] != "nvcc" {
        return; // Another compiler is found first here.
    }
    assert!(registers["refused"].as_array().is_some_and(|r| !r.is_empty()), "{registers}");
    let made = std::fs::read_to_string(folder.path().join("warpsmith-out/scale/scale.cu"));
    assert!(!made.expect("a kernel").contains("float4"));
}
