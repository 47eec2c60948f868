//! Worker processes without a GPU: what a bad candidate costs, and what a bad worker does.

mod workers;

use std::time::{Duration, Instant};

use warpsmith::gpu::client::{NO_BLOBS, Start, Worker, WorkerError};
use warpsmith::gpu::protocol::{
    Action, Candidate, Compile, Measured, Policy, Reason, Reply, Request,
};
use workers::{SLOW, candidate, compiled, measured, prepared, start};

/// What every candidate of the planted list must come to.
#[test]
fn each_bad_candidate_costs_itself_alone() {
    let (mut worker, hello) = Worker::start(&start(&["--backend", "emulator"]), SLOW).unwrap();
    assert_eq!((hello.backend.as_str(), hello.arch.as_str()), ("emulator", "sm_90"));
    prepared(&mut worker);
    let good = "y[i] = a * x[i] + y[i];";
    let reason = |worker: &mut Worker, body: &str| match measured(worker, body) {
        Measured::Times(_) => None,
        Measured::Invalid(invalid) => Some(invalid.reason),
    };
    let planted = [
        ("y[i + 1000] = a * x[i] + y[i];", Some(Reason::Runtime)),
        ("y[i] = a * x[i] - y[i];", Some(Reason::Correctness)),
        ("y[i] = sqrtf(-1.0f - x[i]);", Some(Reason::Correctness)),
        ("if (i > 1) y[i] = a * x[i] + y[i];", Some(Reason::Correctness)),
        ("y[i] = a * x[j];", Some(Reason::Compile)),
        ("__shared__ float big[100000]; big[i] = a; y[i] = big[i];", Some(Reason::Runtime)),
        ("float s = y[i]; while (s == s) { s = s * 1.0f; } y[i] = s;", Some(Reason::Timeout)),
    ];
    assert_eq!(reason(&mut worker, good), None);
    for (body, expected) in planted {
        assert_eq!(reason(&mut worker, body), expected, "{body}");
        assert_eq!(reason(&mut worker, good), None, "after {body}");
    }
}

/// A run goes on where it was left, and begins anew when that is asked for.
#[test]
fn a_host_reads_values_in_the_middle_of_a_run() {
    let (mut worker, _) = Worker::start(&start(&["--backend", "emulator"]), SLOW).unwrap();
    prepared(&mut worker);
    let binary = compiled(&mut worker, "y[i] = a * x[i] + y[i];").unwrap();
    let mut value = |first: bool, offset: u64| {
        let mut actions = candidate("").actions;
        actions.push(Action::Read { buffer: 1, offset, bytes: 4 });
        let request = Request::Advance { actions, first };
        match worker.ask(&request, &[&binary], SLOW).unwrap() {
            (Reply::Done, read) => Ok(f32::from_le_bytes(read[0].as_slice().try_into().unwrap())),
            (Reply::Invalid(invalid), _) => Err(invalid.detail),
            other => panic!("{:?}", other.0),
        }
    };
    // y[2] = 3, to which 3 x[2] = 3 is added each time.
    let found = [true, false, false, true].map(|first| value(first, 8).unwrap());
    assert_eq!(found, [6.0, 9.0, 12.0, 6.0]);
    assert_eq!(value(true, 4000).unwrap_err(), "the host reads past the end of a buffer");
}

#[test]
fn a_race_lists_the_wrong_one_and_times_the_others() {
    let (mut worker, _) = Worker::start(&start(&["--backend", "emulator"]), SLOW).unwrap();
    prepared(&mut worker);
    let bodies = ["y[i] = a * x[i] + y[i];", "y[i] = 0.0f;"];
    let binaries: Vec<Vec<u8>> = bodies.iter().map(|b| compiled(&mut worker, b).unwrap()).collect();
    let request = Request::Race {
        candidates: vec![candidate("good"), candidate("bad")],
        rounds: 3,
        policy: Policy::default(),
    };
    let Reply::Raced(results) = worker.ask(&request, &binaries, SLOW).unwrap().0 else { panic!() };
    assert!(matches!(&results[0], Measured::Times(t) if !t.is_empty()));
    assert!(matches!(&results[1], Measured::Invalid(i) if i.reason == Reason::Correctness));
}

/// A recording whose one result takes as many milliseconds to come.
fn recording(delay_ms: u64) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = format!(
        r#"{{"device":"d","arch":"sm_90","delay_ms":{delay_ms},"results":{{"a":{{"Times":[1.5]}}}}}}"#
    );
    std::fs::write(file.path(), text).unwrap();
    file
}

fn replay(delay_ms: u64) -> (Worker, tempfile::NamedTempFile) {
    let file = recording(delay_ms);
    let path = file.path().to_str().unwrap();
    let start = start(&["--backend", "replay", "--recording", path]);
    (Worker::start(&start, SLOW).unwrap().0, file)
}

fn ask_for(worker: &mut Worker, key: &str, limit: Duration) -> Result<Reply, WorkerError> {
    let candidate = Candidate { key: key.into(), actions: vec![] };
    let request = Request::Measure { candidate, policy: Policy::default() };
    Ok(worker.ask(&request, &[b"binary"], limit)?.0)
}

#[test]
fn a_replay_says_what_was_recorded() {
    let (mut worker, _file) = replay(0);
    let known = ask_for(&mut worker, "a", SLOW).unwrap();
    assert_eq!(known, Reply::Measured(Measured::Times(vec![1.5])));
    assert!(matches!(ask_for(&mut worker, "b", SLOW).unwrap(), Reply::Invalid(_)));
}

#[test]
fn a_worker_that_hangs_is_ended_in_time() {
    let (mut worker, _file) = replay(60_000);
    let begun = Instant::now();
    let limit = Duration::from_millis(300);
    assert_eq!(ask_for(&mut worker, "a", limit), Err(WorkerError::TimedOut(limit)));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(!is_running(worker.id()));
    assert!(matches!(ask_for(&mut worker, "a", SLOW), Err(WorkerError::Died(_))));
}

#[test]
fn a_worker_that_is_killed_is_noticed() {
    for _ in 0..5 {
        let (mut worker, _file) = replay(60_000);
        let id = worker.id().to_string();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            std::process::Command::new("kill").args(["-9", &id]).status().unwrap()
        });
        let error = ask_for(&mut worker, "a", SLOW).unwrap_err();
        assert!(matches!(&error, WorkerError::Died(how) if how.contains("signal: 9")), "{error}");
        assert!(killer.join().unwrap().success());
    }
}

#[test]
fn a_worker_that_grows_is_ended() {
    let mut options = start(&["--backend", "emulator"]);
    options.max_memory = Some(64 << 20);
    let (mut worker, _) = Worker::start(&options, SLOW).unwrap();
    let problem = warpsmith::gpu::protocol::Problem { buffers: vec![], expected: vec![] };
    let big = vec![1u8; 256 << 20];
    // The problem may be taken before anyone looks; the next request finds it too large.
    let mut error = worker.ask(&Request::Prepare(problem), &[big], SLOW).err();
    for _ in 0..3 {
        if error.is_none() {
            let slow = "float s = y[i]; while (s == s) { s = s * 1.0f; } y[i] = s;";
            error = compiled_or_error(&mut worker, slow).err();
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    assert!(matches!(error, None | Some(WorkerError::TooLarge(_))), "{error:?}");
}

fn compiled_or_error(worker: &mut Worker, body: &str) -> Result<Reply, WorkerError> {
    Ok(worker.ask(&Request::Compile(workers::request(body)), &NO_BLOBS, SLOW)?.0)
}

#[test]
fn what_is_no_worker_is_shown() {
    let shell = |script: &str| Start {
        command: ["sh", "-c", script].map(String::from).to_vec(),
        ..Start::default()
    };
    let error = |script| Worker::start(&shell(script), SLOW).err().unwrap().to_string();
    assert!(error("echo Welcome to the cluster").contains("Welcome"));
    let refused = error("echo 'srun: error: invalid partition' >&2; exit 1");
    assert!(refused.contains("invalid partition") && refused.contains("exit status: 1"));
    let missing = Start { command: vec!["/no/such/program".into()], ..Start::default() };
    assert!(matches!(Worker::start(&missing, SLOW), Err(WorkerError::NotStarted { .. })));
    // Without a driver or a recording the worker says so in its own words.
    let error = Worker::start(&start(&["--backend", "replay", "--recording", "/none"]), SLOW);
    assert!(error.err().unwrap().to_string().contains("/none"));
}

fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn noise_on_the_input_ends_a_worker_with_words() {
    use std::io::Write;
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_warpsmith"))
        .args(["worker", "--backend", "emulator"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("protocol"));
}

#[test]
fn an_unknown_macro_or_option_does_not_end_the_worker() {
    let (mut worker, _) = Worker::start(&start(&["--backend", "emulator"]), SLOW).unwrap();
    let request = Compile { options: vec!["-DA=(".into()], ..workers::request("y[i] = A;") };
    let reply = worker.ask(&Request::Compile(request), &NO_BLOBS, SLOW).unwrap().0;
    assert!(matches!(reply, Reply::Invalid(i) if i.reason == Reason::Compile));
}
