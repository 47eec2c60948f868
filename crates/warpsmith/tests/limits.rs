//! What ends `tune` from outside: the time and memory it may take, and Ctrl-C.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::command;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use warpsmith_tune::outcome::{Record, Status};
use warpsmith_tune::store::{Filter, Store};

/// More than anything here takes on a busy machine, and less than what is cut short would.
const SOON: Duration = Duration::from_secs(60);

/// The first variant runs, and another one with which its outputs are compared: the last of those that may be. The others run
/// longer than anybody waits.
const KERNEL: &str = r#"
extern "C" __global__ void fill(float *y)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    float s = 1.0f;
#if variant > 0 && variant != 15
    for (long long k = 0; k < 1000000000000; ++k) s = s + 1e-9f * k;
#endif
    y[i] = s;
}
"#;

fn problem(parameters: Json, conditions: Json) -> Json {
    json!({
        "ConfigurationSpace": {"TuningParameters": parameters, "Conditions": conditions},
        "KernelSpecification": {
            "Language": "CUDA", "KernelName": "fill", "KernelFile": "fill.cu", "GlobalSizeType": "CUDA",
            "GlobalSize": {"X": "2"}, "LocalSize": {"X": "32"},
            "Arguments": [{"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 64}],
        },
    })
}

/// A folder with a problem whose search takes minutes.
fn slow() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let variants =
        json!([{"Name": "variant", "Type": "int", "Values": "list(range(41))", "Default": 0}]);
    write(folder.path(), "p.json", &problem(variants, json!([])).to_string());
    write(folder.path(), "fill.cu", KERNEL);
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a writable folder");
}

/// What a command says that must end with a status and soon.
fn ended(folder: &Path, args: &[&str], status: i32) -> (Json, String) {
    let begun = Instant::now();
    let output = command(folder, args).output().expect("the program starts");
    assert!(begun.elapsed() < SOON, "{args:?} took {:?}", begun.elapsed());
    said(&output, status)
}

fn said(output: &Output, status: i32) -> (Json, String) {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), stderr)
}

fn stored(folder: &Path) -> Vec<Record> {
    let Ok(Some(store)) = Store::open_to_read(&folder.join("results.sqlite")) else {
        return vec![];
    };
    let problems = store.problems().unwrap_or_default();
    problems
        .iter()
        .flat_map(|p| store.results(p.id, Filter::default()).unwrap_or_default())
        .collect()
}

/// One job, so that the first variant is compiled first, and therefore measured first.
const SEARCH: [&str; 10] = [
    "tune",
    "p.json",
    "--device",
    "emulator",
    "--strategy",
    "brute_force",
    "--format",
    "json",
    "--jobs",
    "1",
];

#[test]
fn the_time_limit_ends_the_search_of_a_problem() {
    let folder = slow();
    let folder = folder.path();
    let (report, stderr) = ended(folder, &[&SEARCH[..], &["--timeout", "8s"]].concat(), 3);
    assert!(stderr.contains("error[W470]: the time limit was reached (--timeout)"), "{stderr}");
    assert_eq!((&report["status"], &report["complete"]), (&json!("limit"), &json!(false)));
    assert_eq!(report["search"]["ended"], "the time limit (--timeout) was reached");
    assert_eq!(report["findings"][0]["id"], "W470");
    // The best so far is written, and what was cut short is no result.
    assert_eq!(report["best"]["configuration"]["variant"], 0);
    assert!(folder.join("warpsmith-out/fill/fill_best.h").exists());
    let statuses: Vec<Status> = stored(folder).iter().map(|r| r.outcome.status).collect();
    // The first slow one may have come to its own limit, some three seconds after it began.
    let (first, others) = statuses.split_first().expect("a result");
    assert_eq!((*first, others.len() < 40), (Status::Correct, true));
    assert!(others.iter().all(|status| *status == Status::Timeout), "{statuses:?}");
    assert_eq!(report["search"]["evaluated"], statuses.len());
}

#[test]
fn the_time_limit_ends_an_enumeration() {
    let folder = slow();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let parameter = |name: &&str| json!({"Name": name, "Type": "int", "Values": "list(range(60))"});
    let parameters: Vec<Json> = names.iter().map(parameter).collect();
    // Nothing can be said before all of them have a value, and then it is false.
    let never =
        json!([{"Parameters": names, "Expression": "(a + b * c + d + e + f + g * h) % 7 == 8"}]);
    write(folder.path(), "p.json", &problem(json!(parameters), never).to_string());
    let (report, stderr) = ended(folder.path(), &[&SEARCH[..], &["--timeout", "1s"]].concat(), 3);
    assert!(stderr.contains("(--timeout) while the configurations were enumerated"), "{stderr}");
    assert_eq!(report["status"], "limit");
}

/// A worker that is started and says nothing is ended with what started it.
#[test]
fn the_time_limit_ends_waiting_for_a_launcher() {
    let folder = slow();
    let folder = folder.path();
    write(folder, "hang.sh", "echo $$ > pid\nexec sleep 600\n");
    write(folder, "scale.c", SCALE);
    let launcher = ["--launcher", "sh hang.sh", "--timeout", "1s", "--device", "emulator"];
    for file in ["p.json", "scale.c"] {
        let (_, stderr) = ended(folder, &[&["tune", file], &launcher[..]].concat(), 3);
        assert!(stderr.contains("(--timeout) while the first worker was waited for"), "{stderr}");
        assert!(stderr.contains("it has not said who it is: `sh hang.sh"), "{stderr}");
        assert!(!is_running(folder), "the launcher is still there");
    }
}

/// Whether the process of the launcher's script is there.
fn is_running(folder: &Path) -> bool {
    let pid = std::fs::read_to_string(folder.join("pid")).expect("the launcher has run");
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // One that nobody has waited for is gone, too.
    !state.is_empty() && !state.contains(") Z ")
}

fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

fn wait_for(mut what: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(120), "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_ends_a_measurement_that_is_under_way() {
    let folder = slow();
    let folder = folder.path();
    let mut child =
        command(folder, &SEARCH).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The second candidate takes as long as the limit of one, which is more than this test waits.
    wait_for(|| !stored(folder).is_empty());
    std::thread::sleep(Duration::from_millis(500));
    let begun = Instant::now();
    interrupt(&child);
    let status = child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(status.code(), Some(130));
    let (report, _) = said(&child.wait_with_output().unwrap(), 130);
    assert_eq!((&report["status"], &report["exit"]), (&json!("interrupted"), &json!(130)));
    assert_eq!(stored(folder).len(), 1);
    assert!(folder.join("warpsmith-out/fill/fill_best.h").exists());
}

#[test]
fn ctrl_c_ends_waiting_for_a_launcher() {
    let folder = slow();
    let folder = folder.path();
    write(folder, "hang.sh", "echo $$ > pid\nexec sleep 600\n");
    let args = [&SEARCH[..], &["--launcher", "sh hang.sh"]].concat();
    let mut child =
        command(folder, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| std::fs::read_to_string(folder.join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    wait_for(|| !is_running(folder));
}

const SCALE: &str = "// warpsmith: size n=40 m=70\nvoid scale(int n, int m, float a, const float x[n][m], float y[n][m])\n{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            y[i][j] = a * x[i][j];\n}\n";

const SPACE: &str = "param X in 8, 16, 32, 64\nparam Y in 1, 2, 4, 8\nparam T in 2, 4, 8\nbind i, j -> y, x block {X}x{Y}\nregister_tile i by {T}\n";

/// The search ends, what was recorded stays, and the best so far is verified and written.
#[test]
fn ctrl_c_keeps_what_a_search_of_a_c_file_has_found() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "scale.c", SCALE);
    write(folder, "space.sched", SPACE);
    let options =
        ["tune", "scale.c", "--schedule", "space.sched", "--device", "emulator", "--jobs", "1"];
    let more =
        ["--strategy", "brute_force", "--size", "n=900", "--size", "m=900", "--format", "json"];
    let args = [&options[..], &more].concat();
    let child =
        command(folder, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| !stored(folder).is_empty());
    interrupt(&child);
    let (report, stderr) = said(&child.wait_with_output().unwrap(), 130);
    assert!(stderr.contains("interrupted; here is what was done so far"), "{stderr}");
    assert_eq!((&report["status"], &report["complete"]), (&json!("interrupted"), &json!(false)));
    let recorded = stored(folder);
    assert!(recorded.iter().all(|r| r.outcome.status == Status::Correct), "{recorded:?}");
    assert_eq!(report["emulated"]["evaluated"], recorded.len());
    assert!(recorded.len() < 48, "the search was over before");
    assert!(folder.join("warpsmith-out/scale/scale.cu").exists());
    let again =
        command(folder, &[&args[..], &["--resume", "--budget", "1"]].concat()).output().unwrap();
    assert!(said(&again, 0).0["emulated"]["recalled"].as_u64() >= Some(1));
}

#[test]
fn the_time_limit_of_a_c_file_is_for_everything() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "scale.c", SCALE);
    write(folder.path(), "space.sched", SPACE);
    let options =
        ["tune", "scale.c", "--schedule", "space.sched", "--device", "emulator", "--jobs", "1"];
    let more =
        ["--strategy", "brute_force", "--size", "n=1500", "--size", "m=1500", "--timeout", "3s"];
    let (_, stderr) = ended(folder.path(), &[&options[..], &more].concat(), 3);
    assert!(stderr.contains("the time limit"), "{stderr}");
    assert!(!folder.path().join("warpsmith-out/scale/scale.cu").exists());
}

const PRODUCT: &str = include_str!("../../../examples/gemm.c");

#[test]
fn the_time_limit_ends_the_choice_of_a_schedule() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "gemm.c", PRODUCT);
    let space = "param T in 1, 2, 4\nbind i, j -> y, x block 32x8\nregister_tile i by {T}\n";
    write(folder, "space.sched", space);
    let options = ["tune", "gemm.c", "--timeout", "1ms", "--registers", "estimate"];
    for more in [&["--strategy", "model"][..], &["--schedule", "space.sched"]] {
        let (_, stderr) = ended(folder, &[&options[..], more].concat(), 3);
        let words =
            "error[W470]: the time limit was reached (--timeout) while a schedule was chosen";
        assert!(stderr.contains(words), "{stderr}");
        assert!(!folder.join("warpsmith-out").exists());
    }
}

#[test]
fn the_time_limit_has_one_code() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "gemm.c", PRODUCT);
    let options = ["tune", "gemm.c", "--timeout", "1ms", "--strategy", "direct"];
    let (report, stderr) = ended(folder, &[&options[..], &["--format", "json"]].concat(), 3);
    let words = "error[W470]: the time limit was reached (--timeout) while the kernel was verified";
    assert!(stderr.contains(words), "{stderr}");
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["id"], &finding["help"]),
        (&json!("W470"), &json!(["give more time with --timeout"]))
    );
}

/// The file is a pipe: it is read after Ctrl-C has come, and what comes next is not begun, or ends soon.
#[test]
fn ctrl_c_ends_planning_and_verifying() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let pipe = folder.join("gemm.c");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let options = ["tune", "gemm.c", "--registers", "estimate", "--format", "json", "--strategy"];
    for (strategy, what) in
        [("model", "while a schedule was chosen"), ("direct", "while the kernel was verified")]
    {
        let mut command = command(folder, &[&options[..], &[strategy]].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Waits for the reader.
        let mut text = std::fs::File::options().write(true).open(&pipe).unwrap();
        interrupt(&child);
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "warpsmith: interrupted (again to end at once)\n");
        text.write_all(PRODUCT.as_bytes()).unwrap();
        drop(text);
        let begun = Instant::now();
        wait_for(|| child.try_wait().is_ok_and(|status| status.is_some()));
        let (report, stderr) = said(&child.wait_with_output().unwrap(), 130);
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        assert_eq!((&report["status"], &report["exit"]), (&json!("interrupted"), &json!(130)));
        assert!(stderr.contains(&format!("error[W463]: interrupted {what}")), "{stderr}");
        assert!(!folder.join("warpsmith-out").exists());
    }
}

#[test]
fn too_little_memory_is_a_limit() {
    let folder = slow();
    let folder = folder.path();
    write(folder, "scale.c", SCALE);
    for (args, expected) in [
        (&["tune", "scale.c"][..], "error[W471]: the memory limit was reached (--max-memory)"),
        (
            &["tune", "scale.c", "--device", "emulator", "--budget", "2"],
            "error[W471]: the memory limit was reached (--max-memory)",
        ),
        (
            &["tune", "p.json", "--device", "emulator"],
            "error[W445]: the arguments take more than 1 byte\n",
        ),
    ] {
        let (_, stderr) = ended(folder, &[args, &["--max-memory", "1"]].concat(), 3);
        assert!(stderr.contains(expected) && stderr.contains("raise --max-memory"), "{stderr}");
    }
}

/// What stands in for devices has the numbers from 0 on, and a device that nobody uses is no silent success.
#[test]
fn devices_that_are_not_there_are_refused() {
    let folder = slow();
    let folder = folder.path();
    write(folder, "scale.c", SCALE);
    let absent = "error[W313]: `--devices 7`: nothing stands in for a device 7";
    for (args, expected) in [
        (&["tune", "scale.c", "--device", "emulator", "--devices", "7"][..], absent),
        (&["tune", "p.json", "--device", "emulator", "--devices", "7"], absent),
        (
            &["tune", "p.json", "--device", "emulator", "--devices", "0,2"],
            "nothing stands in for a device 2",
        ),
        (
            &["tune", "scale.c", "--device", "emulator", "--devices", "0", "--strategy", "model"],
            "error[W468]: the device model measures nothing",
        ),
        (
            &["tune", "p.json", "--device", "cuda:1", "--devices", "0,2"],
            "error[W313]: `--devices 0,2` leaves GPU 1 out",
        ),
    ] {
        let (_, stderr) = ended(folder, args, 2);
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
    }
}

/// `Size` counts elements; a file, `TypeSize` and the limit of memory count bytes.
#[test]
fn bytes_and_elements_are_told_apart() {
    let folder = slow();
    let folder = folder.path();
    std::fs::write(folder.join("y.bin"), [0; 64]).unwrap();
    let refused = |change: &dyn Fn(&mut Json), more: &[&str], status: i32| {
        let text = std::fs::read_to_string(folder.join("p.json")).unwrap();
        let mut problem: Json = serde_json::from_str(&text).unwrap();
        change(&mut problem["KernelSpecification"]["Arguments"][0]);
        write(folder, "changed.json", &problem.to_string());
        ended(folder, &[&["tune", "changed.json", "--device", "emulator"], more].concat(), status).1
    };
    let file = |y: &mut Json| {
        y["FillType"] = json!("BinaryRaw");
        y["DataSource"] = json!("y.bin");
    };
    let stderr = refused(&file, &[], 2);
    let words = "`y.bin` has 64 bytes, and the argument 256, 64 elements of 4 bytes: `Size` counts elements, not bytes";
    assert!(stderr.contains(words), "{stderr}");
    let stderr = refused(&|y| y["TypeSize"] = json!(8), &[], 2);
    assert!(stderr.contains("error[W442]: `float` has 4 bytes"), "{stderr}");
    assert!(stderr.contains("`TypeSize` of `y` says 8 bytes for an element"), "{stderr}");
    let stderr = refused(&|_| {}, &["--max-memory", "100"], 3);
    assert!(stderr.contains("error[W445]: the arguments take more than 100 bytes"), "{stderr}");
    assert!(stderr.contains("`y` takes 256 bytes, 64 elements of 4 bytes"), "{stderr}");
}
