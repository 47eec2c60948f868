//! Searching by measurement, with the emulator or recorded results in place of a GPU: what is found, what is kept, and
//! what survives when processes are killed.

mod workers;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use warpsmith::gpu::client::Greeted;
use warpsmith::gpu::nvrtc::Binary;
use warpsmith::gpu::protocol::{
    BufferSpec, Candidate, Compile, Contents, Element, Expected, Invalid, Policy, Problem,
    Tolerance,
};
use warpsmith::gpu::protocol::{Output as Compared, Reason};
use warpsmith::gpu::stop::Stop;
use warpsmith::search::{Device, Draft, Engine, Options, Plan, Task, Workload};
use warpsmith_tune::outcome::{Record, Status};
use warpsmith_tune::space::{Configuration, Parameter, Space};
use warpsmith_tune::store::{Filter, Store};
use warpsmith_tune::strategy::StrategyKind;
use warpsmith_tune::tuner;
use warpsmith_tune::value::Value;
use workers::{N, candidate, request, start};

const SCALE: &str = "// warpsmith: size n=40 m=70\nvoid scale(int n, int m, float a, const float x[n][m], float y[n][m])\n{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            y[i][j] = a * x[i][j];\n}\n";

const SPACE: &str = "param X in 16, 32, 64\nparam Y in 1, 2, 4, 8\nparam T in 2, 4\nwhere X * Y >= 32\nbind i, j -> y, x block {X}x{Y}\nregister_tile i by {T}\n";
/// Configurations that the constraint of the space allows.
const ALLOWED: u64 = 22;

fn tune(folder: &Path, options: &[&str]) -> Command {
    std::fs::write(folder.join("scale.c"), SCALE).expect("a writable folder");
    std::fs::write(folder.join("space.sched"), SPACE).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("WARPSMITH_CACHE", folder.join("cache"))
        .args(["tune", "scale.c", "--schedule", "space.sched", "--device", "emulator"])
        .args(["--store", "results.sqlite", "--format", "json", "--jobs", "2"])
        .args(options);
    command
}

fn ended(output: &Output, status: i32) -> serde_json::Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// All results of the one problem in the folder's store, which must be whole.
fn stored(folder: &Path) -> Vec<Record> {
    let store = Store::open(&folder.join("results.sqlite")).expect("a store");
    store.check().expect("an intact store");
    let problems = store.problems().expect("problems");
    assert!(problems.len() <= 1, "{problems:?}");
    let rows = |p: &warpsmith_tune::store::Summary| store.results(p.id, Filter::default());
    problems.first().map_or_else(Vec::new, |p| rows(p).expect("results"))
}

#[test]
fn an_exhaustive_search_ends_with_the_fastest_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let output = tune(folder.path(), &["--strategy", "brute_force"]).output().unwrap();
    let result = ended(&output, 0);
    let measured = &result["emulated"];
    assert_eq!(measured["evaluated"], ALLOWED, "{measured}");
    assert_eq!(measured["backend"], "emulator");
    assert_eq!(
        (&result["measured"], &result["verification"]["level"]),
        (&serde_json::Value::Null, &"checked".into())
    );
    let rows = stored(folder.path());
    assert_eq!(rows.len() as u64, ALLOWED);
    let least = rows.iter().map(|r| r.outcome.cost()).fold(f64::INFINITY, f64::min);
    let chosen = measured["points"][0]["ms"].as_f64().unwrap();
    assert!((chosen - least).abs() < 1e-12, "{chosen} {least}");
    let text = std::fs::read_to_string(folder.path().join("warpsmith-out/scale/scale.cu")).unwrap();
    assert!(text.contains("Equal to the direct translation as emulated for H200"), "{text}");
}

/// Templates give a space, too, and two devices share it.
#[test]
fn templates_are_searched_on_several_devices() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scale.c"), SCALE).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder.path())
        .args(["tune", "scale.c", "--device", "emulator", "--devices", "0,1", "--budget", "9"])
        .args(["--store", "results.sqlite", "--format", "json", "--launcher", "env A=b"])
        .output()
        .unwrap();
    let result = ended(&output, 0);
    assert_eq!(
        (&result["emulated"]["evaluated"], &result["emulated"]["devices"]),
        (&9.into(), &2.into())
    );
    assert!(result["emulated"]["configuration"]["steps"].is_string());
    assert_eq!(stored(folder.path()).len(), 9);
}

#[test]
fn several_sizes_are_measured_for_each_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = ["--size", "n=40,64", "--size", "m=70,33", "--budget", "5"];
    let result = ended(&tune(folder.path(), &sizes).output().unwrap(), 0);
    assert_eq!(result["emulated"]["points"].as_array().unwrap().len(), 2);
    let rows = stored(folder.path());
    let correct = rows.iter().find(|r| r.outcome.status == Status::Correct).unwrap();
    let names: Vec<&str> = correct.outcome.measurements.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["times m=70, n=40", "times m=33, n=64", "predicted"]);
}

const PRODUCT: &str = "// warpsmith: size n=256 m=256 k=128\nvoid product(int n, int m, int k, const float A[n][k], const float B[k][m], float C[n][m])\n{\n    #pragma omp parallel for collapse(2)\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            for (int l = 0; l < k; l++)\n                C[i][j] += A[i][l] * B[l][j];\n}\n";

const TILES: &str = "param Y in 1, 2, 4\nparam X in 1, 4\nbind i, j -> y, x block 16x8\naccumulate C\nregister_tile i by {Y}\nregister_tile j by {X}\nstage A at l tile 16\nstage B at l tile 16\nunroll l\n";

/// What a thread keeps in registers is counted as the compiled code loads it, not as the text does: the order of emulated
/// times is that of the predicted ones.
#[test]
fn emulated_times_of_register_tiles_are_those_of_compiled_code() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tune(folder.path(), &["--strategy", "brute_force"]);
    std::fs::write(folder.path().join("scale.c"), PRODUCT).unwrap();
    std::fs::write(folder.path().join("space.sched"), TILES).unwrap();
    ended(&command.output().unwrap(), 0);
    let rows = stored(folder.path());
    assert_eq!(rows.len(), 6);
    for row in rows {
        let outcome = &row.outcome;
        let predicted = outcome.measurements.iter().find(|m| m.name == "predicted");
        let predicted = predicted.and_then(|m| m.value.as_f64()).expect("a prediction");
        let ratio = outcome.time_ms.expect("a time") / predicted;
        assert!((0.75..1.33).contains(&ratio), "{ratio}: {:?}", row.configuration);
    }
}

#[test]
fn a_resumed_search_measures_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let random = ["--strategy", "random_sample"];
    ended(&tune(folder.path(), &[&random[..], &["--budget", "8"]].concat()).output().unwrap(), 0);
    let before = stored(folder.path());
    assert_eq!(before.len(), 8);
    let more = [&random[..], &["--budget", "15", "--resume"]].concat();
    let result = ended(&tune(folder.path(), &more).output().unwrap(), 0);
    assert_eq!(
        (&result["emulated"]["evaluated"], &result["emulated"]["recalled"]),
        (&15.into(), &8.into())
    );
    let after = stored(folder.path());
    assert_eq!((after.len(), &after[..8]), (15, &before[..]));
    // Without --resume everything is measured anew, and what is not measured stays as it was.
    let anew = [&random[..], &["--budget", "5"]].concat();
    let result = ended(&tune(folder.path(), &anew).output().unwrap(), 0);
    assert_eq!(result["emulated"]["recalled"], 0);
    let newer = stored(folder.path());
    assert!((15..=20).contains(&newer.len()), "{}", newer.len());
    let same = after.iter().filter(|r| newer.contains(r)).count();
    assert_eq!(newer.len() - same, 5);
    // A dry run leaves the store alone, and makes none.
    ended(&tune(folder.path(), &[&anew[..], &["--dry-run"]].concat()).output().unwrap(), 0);
    assert_eq!(stored(folder.path()), newer);
    let other = tempfile::tempdir().unwrap();
    ended(&tune(other.path(), &["--budget", "5", "--dry-run"]).output().unwrap(), 0);
    assert!(!other.path().join("results.sqlite").exists());
}

/// A number that looks random and is the same in every run.
fn chance(round: u64) -> u64 {
    (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33
}

#[test]
fn a_tuner_killed_twenty_times_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--strategy", "brute_force", "--resume"];
    let mut seen: Vec<Record> = vec![];
    for round in 0..20 {
        let mut child = quiet(tune(folder.path(), &options)).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150 + chance(round) % 600));
        child.kill().unwrap();
        child.wait().unwrap();
        if !folder.path().join("results.sqlite").exists() {
            continue;
        }
        let now = stored(folder.path());
        assert_eq!(now[..seen.len()], seen[..], "round {round}");
        seen = now;
    }
    let result = ended(&tune(folder.path(), &options).output().unwrap(), 0);
    assert_eq!(result["emulated"]["recalled"], seen.len());
    let all = stored(folder.path());
    assert_eq!((all.len() as u64, &all[..seen.len()]), (ALLOWED, &seen[..]));
}

fn quiet(mut command: Command) -> Command {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Processes that a process has started, by the system's table.
fn children(of: u32) -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent(*pid) == Some(of)).collect()
}

fn kill(pid: u32) {
    // Gone already is as good.
    let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
}

/// A worker that is killed from outside costs time and no result.
#[test]
fn workers_killed_twenty_times_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = 0;
    for round in 0..40u64 {
        let mut child: Child = tune(folder.path(), &["--strategy", "brute_force"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(250 + chance(round) % 300));
        for pid in children(child.id()).into_iter().take(2) {
            kill(pid);
            killed += 1;
        }
        let running = child.try_wait().unwrap().is_none();
        let output = child.wait_with_output().unwrap();
        if running && output.status.code() == Some(0) {
            let right = stored(folder.path());
            assert_eq!(right.len() as u64, ALLOWED);
            let wrong = right.iter().find(|r| r.outcome.status != Status::Correct);
            assert_eq!(wrong, None, "round {round}");
        } else {
            // Killed before it had said who it is, a device is not there.
            assert!([0, 2].contains(&output.status.code().unwrap_or(-1)), "round {round}");
        }
        if killed >= 20 {
            return;
        }
    }
    panic!("only {killed} workers were killed");
}

#[test]
fn what_cannot_be_searched_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (options, status, texts) in [
        (&["--strategy", "luck"][..], 2, &["none of model, direct, model_guided"][..]),
        (&["--budget", "0"], 2, &["at least one configuration"]),
        (&["--budget", "soon"], 2, &["neither a time"]),
        (&["--devices", "0,0", "--budget", "3"], 2, &["W313", "numbers that differ"]),
        (&["--launcher", "a 'b", "--budget", "3"], 2, &["W464"]),
        (&["--launcher", "/no/such/program", "--budget", "3"], 2, &["W313", "/no/such/program"]),
        (&["--launcher", "false", "--budget", "3"], 2, &["W313", "ended"]),
    ] {
        let output = tune(folder.path(), options).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{options:?}: {stderr}");
        for text in texts {
            assert!(stderr.contains(text), "{options:?}: no `{text}` in {stderr}");
        }
    }
    std::fs::write(folder.path().join("results.sqlite"), "no database").unwrap();
    let output = tune(folder.path(), &["--budget", "3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("W420"));
    assert!(!folder.path().join("warpsmith-out").exists());
}

/// One line of a kernel for each configuration, some of them wrong.
struct Planted {
    lines: Vec<&'static str>,
    tasks: Vec<Task>,
}

struct Line(&'static str);

impl Draft for Line {
    fn request(&self) -> Compile {
        request(self.0)
    }

    fn candidate(&self, _: &Binary, _: usize, _: &mut dyn Device) -> Result<Candidate, Invalid> {
        Ok(candidate(self.0))
    }
}

impl Workload for Planted {
    fn draft(&self, configuration: &Configuration) -> Result<Arc<dyn Draft>, Invalid> {
        let Some(Value::Int(at)) = configuration.get("line") else {
            return Err(Invalid::new(Reason::Constraints, "no line"));
        };
        Ok(Arc::new(Line(self.lines[*at as usize])))
    }

    fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

/// `y = 3 x + y` with its right result.
fn axpy() -> Task {
    let bytes =
        |f: &dyn Fn(usize) -> f32| -> Vec<u8> { (0..N).flat_map(|i| f(i).to_le_bytes()).collect() };
    let (x, y) = (|i: usize| i as f32 * 0.5, |i: usize| i as f32 + 1.0);
    let buffer = |name: &str, k| BufferSpec {
        name: name.into(),
        bytes: 4 * N as u64,
        contents: Contents::Blob(k),
    };
    let tolerance = Tolerance { absolute: 0.0, relative: 1e-6, ..Tolerance::default() };
    let output = Compared { buffer: 1, element: Element::F32, tolerance };
    Task {
        label: "n=1000".into(),
        problem: Problem {
            buffers: vec![buffer("x", 0), buffer("y", 1)],
            expected: vec![Expected { output, blob: 2 }],
        },
        blobs: vec![bytes(&x), bytes(&y), bytes(&|i| 3.0 * x(i) + y(i))],
        nearby: vec![],
        outputs: vec![],
        reference: None,
    }
}

/// Every kind of bad candidate among good ones: each is recorded with its reason, and the right one wins.
#[test]
fn planted_bad_candidates_are_recorded_and_the_right_one_wins() {
    use Status::{Compile, Correct, Correctness, Runtime, Timeout};
    let slow = "float s = 0.0f; for (int k = 0; k < 64; ++k) { s = s + a; } y[i] = a * x[i] + y[i] + 0.0f * s;";
    let planted = [
        (slow, Correct),
        ("y[i + 1000] = a * x[i] + y[i];", Runtime),
        ("float s = y[i]; while (s == s) { s = s * 1.0f; } y[i] = s;", Timeout),
        ("y[i] = a * x[i] - y[i];", Correctness),
        ("y[i] = sqrtf(-1.0f - x[i]);", Correctness),
        ("__shared__ float big[100000]; big[i] = a; y[i] = big[i];", Runtime),
        ("y[i] = a * x[j];", Compile),
        ("if (i > 1) y[i] = a * x[i] + y[i];", Correctness),
        ("y[i] = a * x[i] + y[i];", Correct),
    ];
    let lines = planted.iter().map(|p| p.0).collect();
    let workload = Arc::new(Planted { lines, tasks: vec![axpy()] });
    let options = Options {
        stations: vec![start(&["--backend", "emulator"])],
        first: Greeted::default(),
        compiler: start(&["--backend", "emulator"]),
        threads: 2,
        cache: None,
        limit: Duration::from_secs(8),
        compile_limit: Duration::from_secs(60),
        policy: Policy::default(),
        gives_up: true,
        stop: Stop::default(),
    };
    let mut engine = Engine::start(workload, options).unwrap();
    let values = (0..planted.len() as i64).map(Value::Int);
    let space = Space::new(vec![Parameter::new("line", values)], &[]).unwrap();
    let mut seen: BTreeMap<i64, (Status, Option<String>)> = BTreeMap::new();
    let mut record = |r: &Record| {
        let Some(Value::Int(at)) = r.configuration.get("line") else { panic!() };
        seen.insert(*at, (r.outcome.status, r.outcome.message.clone()));
        Ok(())
    };
    let strategy = StrategyKind::BruteForce;
    let found = engine
        .search(Plan {
            space: Arc::new(space),
            options: tuner::Options { strategy, ..tuner::Options::default() },
            record: &mut record,
            show: &mut |_| {},
        })
        .unwrap();
    for (at, (line, status)) in planted.iter().enumerate() {
        let (found, message) = &seen[&(at as i64)];
        assert_eq!(found, status, "{line}: {message:?}");
        assert_eq!(message.is_some(), *status != Correct, "{line}");
    }
    assert_eq!((found.evaluated, found.failed), (9, 7));
    let best: Vec<u64> = found.ranking.iter().map(|(id, _)| id.0).collect();
    assert_eq!(best, [8, 0], "{:?}", found.ranking);
}

/// The user's own kernel runs in the same rounds; a wrong one is no rival.
#[test]
fn the_users_kernel_is_measured_against_ours() {
    let mine = |body: &str| {
        format!(
            "__global__ void mine(int n, int m, float a, const float *x, float *y)\n{{\n    \
             const int k = blockIdx.x * blockDim.x + threadIdx.x;\n    if (k < n * m) {{ {body} }}\n}}\n\
             cudaError_t scale_launch(int n, int m, float a, const float *x, float *y, cudaStream_t stream)\n{{\n    \
             mine<<<(n * m + 31) / 32, 32, 0, stream>>>(n, m, a, x, y);\n    return cudaGetLastError();\n}}\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let against = ["--budget", "4", "--against", "mine.cu"];
    for (body, right) in [("y[k] = a * x[k];", true), ("y[k] = a + x[k];", false)] {
        std::fs::write(folder.path().join("mine.cu"), mine(body)).unwrap();
        let result = ended(&tune(folder.path(), &against).output().unwrap(), 0);
        let own = &result["emulated"]["points"][0]["against_ms"];
        assert_eq!(own.is_f64(), right, "{own}");
    }
    std::fs::write(folder.path().join("mine.cu"), "__global__ void mine() {}\n").unwrap();
    let output = tune(folder.path(), &against).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("W467"), "{stderr}");
}

/// `tune scale.c` in the emulator, without the schedule of the other tests.
fn tune_freely(folder: &Path, options: &[&str]) -> Output {
    std::fs::write(folder.join("scale.c"), SCALE).expect("a writable folder");
    Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("WARPSMITH_CACHE", folder.join("cache"))
        .args(["tune", "scale.c", "--device", "emulator", "--store", "results.sqlite"])
        .args(["--format", "json", "--jobs", "2"])
        .args(options)
        .output()
        .expect("the program starts")
}

/// A search that finds nothing faster than the direct translation writes that; the user's own schedule is kept.
#[test]
fn what_is_slower_than_the_direct_translation_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut direct_won = 0;
    for seed in ["0", "1", "2", "3", "4", "5"] {
        let options = ["--strategy", "random_sample", "--budget", "1", "--seed", seed];
        let result = ended(&tune_freely(folder.path(), &options), 0);
        let measured = &result["emulated"];
        let at = |name: &str| measured["points"][0][name].as_f64().unwrap();
        assert!(at("ms") <= at("direct_ms") * (1.0 + 1e-9), "{measured}");
        let notes = measured["notes"].to_string();
        direct_won += u32::from(notes.contains("direct translation, which is written"));
    }
    assert!(direct_won > 0, "no seed draws a slow schedule");
    // One thread goes through each row.
    std::fs::write(folder.path().join("slow.sched"), "bind i -> x block 32\n").unwrap();
    let output = tune_freely(folder.path(), &["--schedule", "slow.sched", "--budget", "1"]);
    let result = ended(&output, 0);
    assert!(result["schedule"][0].as_str().unwrap().contains("bind i -> x"), "{result}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("warning[W469]: the fastest schedule takes"), "{stderr}");
}

/// A header belongs to what was measured.
#[test]
fn a_changed_header_is_another_problem() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("body.h"), "#define BODY a * x[i][j]\n").unwrap();
    let text = format!("#include \"body.h\"\n{}", SCALE.replace("a * x[i][j]", "BODY"));
    let write = |body: &str| std::fs::write(folder.path().join("body.h"), body).unwrap();
    let tuned = || {
        std::fs::write(folder.path().join("with.c"), &text).unwrap();
        let options = ["tune", "with.c", "--device", "emulator", "--store", "r.sqlite", "--resume"];
        let more = ["--strategy", "random_sample", "--budget", "2", "--format", "json"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
        let output = command.current_dir(folder.path()).args(options).args(more).output();
        ended(&output.unwrap(), 0)["emulated"]["recalled"].clone()
    };
    assert_eq!(tuned(), 0);
    assert_eq!(tuned(), 2);
    write("#define BODY a * x[i][j] + 1\n");
    assert_eq!(tuned(), 0);
}

const GRADIENTS: &str = "// warpsmith: size n=48 most=40
#include <math.h>
int gradients(int n, int most, double tol, const double A[n][n], const double b[n], double x[n], double r[n])
{
    double rr = 0;
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        r[i] = b[i];
        rr += b[i] * b[i];
    }
    int it = 0;
    while (it < most && sqrt(rr) > tol) {
        double rn = 0;
        for (int i = 0; i < n; i++) {
            x[i] += 0.5 * r[i];
            r[i] *= 0.5 + 0.001 * A[i][i];
            rn += r[i] * r[i];
        }
        rr = rn;
        it++;
    }
    return it;
}
";

/// How often the host's loop runs, only the device knows: it ends long before `most`, and what is timed has as many turns.
#[test]
fn loops_that_wait_for_the_device_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let tuned = |tol: &str| {
        std::fs::write(folder.path().join("gradients.c"), GRADIENTS).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
            .current_dir(folder.path())
            .args(["tune", "gradients.c", "--device", "emulator", "--budget", "3", "--jobs", "2"])
            .args(["--store", "results.sqlite", "--format", "json", "--arg", tol])
            .output()
            .unwrap();
        let result = ended(&output, 0);
        let measured = &result["emulated"];
        assert_eq!((&measured["evaluated"], &measured["failed"]), (&3.into(), &0.into()));
        let notes = measured["notes"].to_string();
        assert!(notes.contains("fewer blocks") && !notes.contains("not compared"), "{notes}");
        measured["points"][0]["ms"].as_f64().unwrap()
    };
    let (few, many) = (tuned("tol=0.1"), tuned("tol=1e-6"));
    // About 6 and 23 turns, of 40.
    assert!(many > 2.0 * few && many < 5.0 * few, "{few} {many}");
}

const CHAOS: &str = "// warpsmith: size n=40 most=70
int chaos(int n, int most, double x[n])
{
    double sum = 1;
    int it = 0;
    while (it < most && sum > 0) {
        double s = 0;
        for (int i = 0; i < n; i++) {
            x[i] = 1 - 1.9 * x[i] * x[i];
            s += x[i];
        }
        for (int i = 0; i < n; i++) x[i] += 1e-9 * s;
        sum = 1 + s * s;
        it++;
    }
    return it;
}
";

/// What rounding errors decide is no measure of anything; that it was not compared is said.
#[test]
fn results_made_of_rounding_errors_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    for (most, compared) in [("most=70", false), ("most=2", true)] {
        std::fs::write(folder.path().join("chaos.c"), CHAOS).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_warpsmith"))
            .current_dir(folder.path())
            .args(["tune", "chaos.c", "--device", "emulator", "--budget", "3", "--jobs", "2"])
            .args(["--store", "results.sqlite", "--format", "json", "--size", most])
            .output()
            .unwrap();
        let result = ended(&output, 0);
        assert_eq!(result["emulated"]["failed"], 0, "{result}");
        let notes = result["emulated"]["notes"].to_string();
        assert_eq!(notes.contains("not compared: `x`;"), !compared, "{most}: {notes}");
    }
}
