//! Covers ranked by measurement; the emulator stands in for the GPU.

use std::process::Command;

use serde_json::Value;

use super::*;

/// Runs the command; its status, `result.json` and what it said.
fn measured(script: &Path, more: &[&str]) -> (i32, Value, String) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let done = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .arg("fuse")
        .arg(script)
        .args(["--measure", "--device", "emulator", "--elements", "300", "--format", "json"])
        .arg("--out")
        .arg(&out)
        .arg("--store")
        .arg(dir.path().join("store.sqlite"))
        .args(more)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let result = std::fs::read(out.join("result.json")).unwrap_or_default();
    let result = serde_json::from_slice(&result).unwrap_or(Value::Null);
    (done.status.code().unwrap_or(-1), result, said)
}

#[test]
fn the_fastest_cover_is_written_and_all_are_ranked() {
    let (status, result, said) =
        measured(&root().join("examples/synctest.ws"), &["--best", "14", "--keep-loads"]);
    assert_eq!(status, 0, "{said}");
    let covers = result["emulated"]["covers"].as_array().unwrap();
    assert_eq!(covers.len(), 14, "{result}");
    let times: Vec<f64> = covers.iter().map(|c| c["ms"].as_f64().unwrap()).collect();
    assert!(times.iter().skip(4).is_sorted(), "{times:?}");
    assert_eq!(result["covers"].as_array().unwrap().len(), 1);
    assert_eq!(
        result["covers"][0]["predicted_seconds"].as_f64().map(|s| s * 1e3),
        covers[0]["predicted_ms"].as_f64()
    );
    // Blocks of 96 and of 256 elements are whole.
    assert_eq!(result["emulated"]["elements"], 768);
    assert!(result["emulated"]["elements_computed_on_cpu"].as_u64().unwrap() > 600);
}

#[test]
fn loops_of_the_host_are_measured_too() {
    let (_dir, args) = script(
        "matrix3x3 A, B, C;\ninput A;\nB = madd33(A, A);\n\
         for (i = 0; i < 40; i++) { C = madd33(B, A); B = madd33(C, B); }\nreturn B, C;",
    );
    let (status, result, said) = measured(&args.script, &["--best", "3"]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(result["emulated"]["covers"].as_array().unwrap().len(), 3, "{result}");
}

#[test]
fn a_gpu_that_is_not_there_is_refused() {
    for (device, measure) in [("cuda:99", false), ("cuda:0x", false)] {
        let args = FuseArgs { device: device.into(), measure, ..example("synctest") };
        let (status, text) = run(&args).err().unwrap();
        assert_eq!(status, Status::BadInput);
        assert!(text.starts_with("error[W313]"), "{text}");
    }
}

#[test]
fn routines_are_measured_and_their_times_used() {
    let dir = tempfile::tempdir().unwrap();
    let curves = dir.path().join("curves.json");
    let (_dir, args) = script("matrix3x3 A, B;\ninput A;\nB = madd33(A, A);\nreturn B;");
    let run = |more: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
            .arg("fuse")
            .arg(&args.script)
            .args(["--device", "emulator", "--elements", "256", "--curves"])
            .arg(&curves)
            .args(more)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    run(&["--benchmark", "--measure"]);
    let mut found: Value = serde_json::from_slice(&std::fs::read(&curves).unwrap()).unwrap();
    let names: Vec<&str> = found["curves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["routine"].as_str().unwrap())
        .collect();
    for routine in ["d_madd33_1_load_1", "d_madd33_2_compute", "d_madd33_2_save", "load", "save"] {
        assert!(names.contains(&routine), "{names:?}");
    }
    // Computing with several threads takes seconds, says the file: it is not chosen.
    for slow in ["1", "2"] {
        for curve in found["curves"].as_array_mut().unwrap() {
            let routine = curve["routine"].as_str().unwrap();
            let seconds = if routine == format!("d_madd33_{slow}_compute") { 5.0 } else { 1e-6 };
            for point in curve["points"].as_array_mut().unwrap() {
                point[1] = seconds.into();
            }
        }
        std::fs::write(&curves, found.to_string()).unwrap();
        let said = run(&["--dry-run"]);
        assert!(!said.contains(&format!("madd33_{slow}")), "{said}");
    }
    std::fs::write(&curves, "[]").unwrap();
    let (status, text) =
        super::run(&FuseArgs { curves: Some(curves), ..args.clone() }).err().unwrap();
    assert_eq!((status, &text[..11]), (Status::BadInput, "error[W545]"), "{text}");
}

/// Also without a device: registers and spills of what is written, where there is a compiler to ask.
#[test]
fn a_compiler_says_how_many_registers_kernels_take() {
    let args = FuseArgs { no_compiler: false, ..example("synctest") };
    let fused = fused(&args);
    let kernel = &fused.result["covers"][0]["kernels"][0];
    match warpsmith::tune::compiled::Compiler::find() {
        Some(_) => {
            assert!(kernel["registers"].as_u64().is_some_and(|n| n > 8), "{kernel}");
            assert_eq!(kernel["spilled_bytes"], 0);
            assert!(fused.text.contains("0 bytes spilled"), "{}", fused.text);
        }
        None => assert!(kernel["registers"].is_null()),
    }
}
