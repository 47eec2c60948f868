//! A small problem for workers: `y = a * x + y` for 1,000 elements, of which candidates compute one line.

#![allow(dead_code)] // Each test file uses its part.

use std::time::Duration;

use warpsmith::gpu::client::{NO_BLOBS, Start, Worker};
use warpsmith::gpu::protocol::{
    Action, Arg, BufferSpec, Candidate, Compile, Contents, Element, Expected, Invalid, Launch,
    Measured, Output, Policy, Problem, Reply, Request, Tolerance,
};

/// More than anything here takes on a busy machine.
pub const SLOW: Duration = Duration::from_secs(120);

pub const N: usize = 1000;
const A: f32 = 3.0;

/// Starts the program under test as a worker.
pub fn start(args: &[&str]) -> Start {
    let program = std::env::var("WARPSMITH").unwrap_or(env!("CARGO_BIN_EXE_warpsmith").into());
    let mut command = vec![program, "worker".into()];
    command.extend(args.iter().map(|a| a.to_string()));
    // CUDA's libraries as Python packages, where `.ci/tools` installs them.
    let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv");
    let found =
        std::env::var_os("VIRTUAL_ENV").is_none() && std::path::Path::new(packages).is_dir();
    let env = found.then(|| ("VIRTUAL_ENV".to_string(), packages.to_string()));
    Start { command, env: env.into_iter().collect(), ..Start::default() }
}

pub fn request(body: &str) -> Compile {
    let source = format!(
        "extern \"C\" __global__ void axpy(int n, float a, const float *x, float *y)\n{{\n    \
         const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {{ {body} }}\n}}\n"
    );
    Compile {
        source,
        file: "axpy.cu".into(),
        arch: "sm_90".into(),
        options: vec![],
        kernels: vec![],
    }
}

pub fn compiled(worker: &mut Worker, body: &str) -> Result<Vec<u8>, Invalid> {
    match worker.ask(&Request::Compile(request(body)), &NO_BLOBS, SLOW).unwrap() {
        (Reply::Compiled(..), mut blobs) => Ok(blobs.remove(0)),
        (Reply::Invalid(invalid), _) => Err(invalid),
        other => panic!("{:?}", other.0),
    }
}

pub fn candidate(key: &str) -> Candidate {
    let launch = Launch {
        kernel: "axpy".into(),
        grid: [N.div_ceil(128) as u32, 1, 1],
        block: [128, 1, 1],
        shared: 0,
        args: vec![
            Arg::Bytes((N as i32).to_le_bytes().to_vec()),
            Arg::Bytes(A.to_le_bytes().to_vec()),
            Arg::Buffer { buffer: 0, offset: 0 },
            Arg::Buffer { buffer: 1, offset: 0 },
        ],
    };
    Candidate { key: key.into(), actions: vec![Action::Launch(launch)] }
}

/// Gives the worker the problem with its expected output.
pub fn prepared(worker: &mut Worker) {
    let bytes =
        |f: &dyn Fn(usize) -> f32| -> Vec<u8> { (0..N).flat_map(|i| f(i).to_le_bytes()).collect() };
    let (x, y) = (|i: usize| i as f32 * 0.5, |i: usize| i as f32 + 1.0);
    let blobs = [bytes(&x), bytes(&y), bytes(&|i| A * x(i) + y(i))];
    let buffer = |name: &str, k| BufferSpec {
        name: name.into(),
        bytes: 4 * N as u64,
        contents: Contents::Blob(k),
    };
    let output = Output {
        buffer: 1,
        element: Element::F32,
        tolerance: Tolerance { absolute: 0.0, relative: 1e-6, ..Tolerance::default() },
    };
    let problem = Problem {
        buffers: vec![buffer("x", 0), buffer("y", 1)],
        expected: vec![Expected { output, blob: 2 }],
    };
    let reply = worker.ask(&Request::Prepare(problem), &blobs, SLOW).unwrap().0;
    assert_eq!(reply, Reply::Done);
}

/// What becomes of a candidate with this line.
pub fn measured(worker: &mut Worker, body: &str) -> Measured {
    let binary = match compiled(worker, body) {
        Ok(binary) => binary,
        Err(invalid) => return Measured::Invalid(invalid),
    };
    let request = Request::Measure { candidate: candidate(body), policy: Policy::default() };
    match worker.ask(&request, &[binary], SLOW).unwrap().0 {
        Reply::Measured(measured) => measured,
        Reply::Invalid(invalid) => Measured::Invalid(invalid),
        other => panic!("{other:?}"),
    }
}
