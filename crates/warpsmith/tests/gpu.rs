//! Workers on a real GPU. One explicit command, on the machine that has it:
//! `cargo test -p warpsmith --test gpu -- --ignored`; elsewhere the tests are listed as ignored.
//!
//! `WARPSMITH` names the program under test where it is not the one that was built beside this file.

mod workers;

use std::time::{Duration, Instant};

use warpsmith::gpu::client::{NO_BLOBS, Worker, WorkerError};
use warpsmith::gpu::protocol::{Compile, Measured, Policy, Reason, Reply, Request};
use workers::{SLOW, candidate, compiled, measured, prepared, request, start};

fn gpu() -> Worker {
    let (worker, hello) = Worker::start(&start(&["--backend", "gpu"]), SLOW).unwrap();
    println!("{hello:?}");
    worker
}

const GOOD: &str = "y[i] = a * x[i] + y[i];";

fn is_good(worker: &mut Worker) {
    let Measured::Times(times) = measured(worker, GOOD) else { panic!("the good one is refused") };
    assert!(times.len() >= 7 && times.iter().all(|t| *t > 0.0 && *t < 100.0), "{times:?}");
}

#[test]
#[ignore = "needs a GPU"]
fn bad_candidates_are_recorded_with_their_reasons_and_the_good_one_wins() {
    let mut worker = gpu();
    prepared(&mut worker);
    is_good(&mut worker);
    // Those that leave the context alive.
    let planted = [
        ("y[i + 1] = a * x[i] + y[i];", Reason::Runtime),
        ("y[i] = a * x[i] + y[i]; if (i == 0) y[n + 8] = 1.0f;", Reason::Runtime),
        ("y[i] = a * x[i] + y[i]; if (i == 0) ((float *)x)[-1] = 1.0f;", Reason::Runtime),
        ("y[i] = a * x[i] - y[i];", Reason::Correctness),
        ("y[i] = sqrtf(-1.0f - x[i]);", Reason::Correctness),
        ("if (i > 1) y[i] = a * x[i] + y[i];", Reason::Correctness),
        ("y[i] = a * x[j];", Reason::Compile),
        ("__shared__ float big[100000]; big[i] = a; y[i] = big[n - i];", Reason::Compile),
    ];
    for (body, expected) in planted {
        match measured(&mut worker, body) {
            Measured::Invalid(invalid) => {
                println!("{body}: {invalid}");
                assert_eq!(invalid.reason, expected, "{body}");
            }
            Measured::Times(_) => panic!("accepted: {body}"),
        }
        is_good(&mut worker);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_fault_costs_a_worker_and_the_next_one_works() {
    for body in ["y[1000000000 + i] = a;", "*(float *)(8 + i) = a;", "asm(\"trap;\");"] {
        let mut worker = gpu();
        prepared(&mut worker);
        let Measured::Invalid(invalid) = measured(&mut worker, body) else { panic!("{body}") };
        println!("{body}: {invalid}");
        assert_eq!(invalid.reason, Reason::Runtime);
        // The worker has ended by itself: its device is lost.
        let binary = vec![0u8];
        let asked = Request::Measure { candidate: candidate("a"), policy: Policy::default() };
        assert!(matches!(worker.ask(&asked, &[binary], SLOW), Err(WorkerError::Died(_))));
    }
    let mut worker = gpu();
    prepared(&mut worker);
    is_good(&mut worker);
}

#[test]
#[ignore = "needs a GPU"]
fn an_endless_loop_is_ended_in_time() {
    let mut worker = gpu();
    prepared(&mut worker);
    let binary = compiled(&mut worker, "while (y[i] == y[i]) { y[i] = a; }").unwrap();
    let request = Request::Measure { candidate: candidate("a"), policy: Policy::default() };
    let begun = Instant::now();
    let limit = Duration::from_secs(3);
    assert_eq!(worker.ask(&request, &[binary], limit).err(), Some(WorkerError::TimedOut(limit)));
    println!("ended after {:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(30));
    let mut worker = gpu();
    prepared(&mut worker);
    is_good(&mut worker);
}

#[test]
#[ignore = "needs a GPU"]
fn a_race_takes_turns() {
    let mut worker = gpu();
    prepared(&mut worker);
    let slow = "float s = 0.0f; for (int k = 0; k < 20000; ++k) { s = fmaf(s, 0.5f, a); } \
                y[i] = a * x[i] + y[i] + 0.0f * s;";
    let binaries = [compiled(&mut worker, GOOD).unwrap(), compiled(&mut worker, slow).unwrap()];
    let request = Request::Race {
        candidates: vec![candidate("fast"), candidate("slow")],
        rounds: 9,
        policy: Policy::default(),
    };
    let Reply::Raced(results) = worker.ask(&request, &binaries, SLOW).unwrap().0 else { panic!() };
    let [Measured::Times(fast), Measured::Times(slow)] = &results[..] else {
        panic!("{results:?}")
    };
    println!("{fast:?} {slow:?}");
    assert_eq!((fast.len(), slow.len()), (9, 9));
    assert!(fast.iter().zip(slow).filter(|(f, s)| f < s).count() >= 7);
}

#[test]
#[ignore = "needs a GPU"]
fn the_limits_are_those_of_the_device() {
    let mut worker = gpu();
    for bytes in [16 << 20, 872_000_000, 4 << 30] {
        let reply = worker.ask(&Request::Limits { bytes }, &NO_BLOBS, SLOW).unwrap().0;
        let Reply::Limits(limits) = reply else { panic!("{reply:?}") };
        println!("{bytes}: {limits:?}");
        assert!(limits.copy_gb_s > 10.0 && limits.fma_tflop_s > 0.1);
    }
}

/// The device model's occupancy against the driver's.
#[test]
#[ignore = "needs a GPU"]
fn occupancy_is_the_drivers() {
    use warpsmith::device::{BlockShape, Carveout, Gpu, occupancy};
    let (mut worker, hello) = Worker::start(&start(&["--backend", "gpu"]), SLOW).unwrap();
    let arch = Gpu::find(&hello.arch).unwrap().architecture();
    let mut compared = 0;
    for most in [16u32, 24, 32, 40, 48, 56, 64, 80, 96, 128, 168, 255] {
        let registers = format!("--maxrregcount={most}");
        let body = "float v[64]; for (int k = 0; k < 64; ++k) v[k] = x[(i + k) % n]; \
                    float s = 0.0f; for (int k = 0; k < 64; ++k) s += v[(k * 7 + i) % 64] * v[k]; y[i] = s;";
        let compile =
            Compile { options: vec![registers], arch: hello.arch.clone(), ..request(body) };
        let (reply, mut blobs) = worker.ask(&Request::Compile(compile), &NO_BLOBS, SLOW).unwrap();
        let Reply::Compiled(kernels, _) = reply else { panic!("{reply:?}") };
        let registers = kernels[0].registers;
        let shapes: Vec<(u32, u32)> = [32u32, 64, 96, 128, 192, 256, 384, 512, 1024]
            .into_iter()
            .flat_map(|t| [0u32, 1000, 8192, 20_000, 49_152].map(|s| (t, s)))
            .collect();
        let asked = Request::Occupancy { kernel: "axpy".into(), shapes: shapes.clone() };
        let reply = worker.ask(&asked, &[blobs.remove(0)], SLOW).unwrap().0;
        let Reply::Occupancy(blocks) = reply else { panic!("{reply:?}") };
        for ((threads, shared), driver) in shapes.into_iter().zip(blocks) {
            let shape = BlockShape { threads, registers, shared_static: 0, shared_dynamic: shared };
            let ours = occupancy(arch, shape, Carveout::Auto).blocks_per_sm;
            assert_eq!(ours, driver, "{threads} threads, {registers} registers, {shared} bytes");
            compared += 1;
        }
    }
    println!("{compared} shapes agree");
    assert!(compared >= 500);
}
