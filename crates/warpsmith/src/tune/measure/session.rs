//! One problem at one size on one device: compile many candidates, check and time each.

use std::time::Duration;

use warpsmith_gpu::cache::Cache;
use warpsmith_gpu::client::{NO_BLOBS, Start, Worker, WorkerError};
use warpsmith_gpu::nvrtc::Binary;
use warpsmith_gpu::pool::{self, Pool};
use warpsmith_gpu::protocol::{
    BufferSpec, Candidate, Compile, Contents, Hello, Invalid, Limits, Measured, Output, Policy,
    Problem, Reason, Reference, Reply, Request, Tolerance,
};
use warpsmith_ir::interp::Bound;
use warpsmith_ir::{Scalar, SourceMap};

use super::device_text::device_text;
use super::element::{element, scalar_of};
use super::plan::Recorder;
use crate::data::scalar_from_bytes;
use crate::tune::compare::of_a_sum;
use crate::tune::host_c::ArgBytes;
use crate::tune::witness::{Witness, WitnessError};

/// What is measured: arguments of the C function at one size, and what comes out.
#[derive(Clone, Debug)]
pub struct Subject {
    /// As for verification; arrays with their contents.
    pub args: Vec<ArgBytes>,
    /// For each argument, and last for the result: its name, and the type of its elements if the function writes it.
    pub outputs: Vec<(String, Option<Scalar>)>,
    /// Type of the returned value.
    pub result: Option<Scalar>,
    /// Most terms of a sum, for the tolerance: candidates may contract and order differently.
    pub terms: u64,
}

/// How a session works.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Starts a worker with the device.
    pub worker: Start,
    /// Starts a worker that compiles; `None`: the device's worker compiles, one text after the other.
    pub compiler: Option<Start>,
    pub threads: usize,
    pub cache: Option<Cache>,
    /// Time for one candidate on the device, and for one compilation.
    pub limit: Duration,
}

/// A worker that is started again when it is lost, and compilers.
pub struct Session {
    options: SessionOptions,
    subject: Subject,
    worker: Option<Worker>,
    hello: Hello,
    pool: Option<Pool>,
    /// The reference that gives the expected outputs, for workers started later.
    reference: Option<Prepared>,
}

/// A compiled candidate with its launches.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub candidate: Candidate,
    pub binary: Vec<u8>,
}

/// A candidate on its way to the compiler.
pub struct Draft {
    pub key: String,
    /// The emitted files; the first is the one with the kernels.
    pub files: Vec<(String, String)>,
    pub witness: Witness,
}

const SAMPLES: u64 = 1024;

impl Session {
    /// Starts the worker and gives it the problem.
    ///
    /// # Errors
    /// No worker can be started, or the problem does not fit the device.
    pub fn start(options: SessionOptions, subject: Subject) -> Result<Session, String> {
        let (worker, hello) =
            Worker::start(&options.worker, options.limit).map_err(|e| e.to_string())?;
        let pool = options.compiler.as_ref().map(|start| {
            Pool::new(&pool::Options {
                threads: options.threads,
                start: start.clone(),
                limit: options.limit,
                cache: options.cache.clone(),
                compiler: hello.compiler.clone(),
            })
        });
        let mut session =
            Session { options, subject, worker: Some(worker), hello, pool, reference: None };
        session.prepare()?;
        Ok(session)
    }

    /// The device and its software.
    pub fn device(&self) -> &Hello {
        &self.hello
    }

    fn prepare(&mut self) -> Result<(), String> {
        let (problem, blobs) = self.problem();
        match self.ask(&Request::Prepare(problem), &blobs) {
            Ok((Reply::Done, _)) => Ok(()),
            Ok((Reply::Invalid(invalid), _)) => Err(invalid.detail),
            Ok(_) => Err("the worker answered something else".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Arrays in the order of the parameters, then the result, then room for a workspace.
    fn problem(&self) -> (Problem, Vec<Vec<u8>>) {
        let (mut buffers, mut blobs) = (vec![], vec![]);
        for (arg, (name, _)) in self.subject.args.iter().zip(&self.subject.outputs) {
            let ArgBytes::Array(bytes) = arg else { continue };
            let contents = Contents::Blob(blobs.len());
            buffers.push(BufferSpec { name: name.clone(), bytes: bytes.len() as u64, contents });
            blobs.push(bytes.clone());
        }
        if let Some(ty) = self.subject.result {
            let bytes = u64::from(ty.bytes());
            buffers.push(BufferSpec { name: "result".into(), bytes, contents: Contents::Poison });
        }
        buffers.push(BufferSpec {
            name: "workspace".into(),
            bytes: WORKSPACE,
            contents: Contents::Poison,
        });
        (Problem { buffers, expected: vec![] }, blobs)
    }

    /// Asks the worker; one that is lost is started again with the same problem, and the request is not repeated.
    fn ask<B: AsRef<[u8]> + Sync>(
        &mut self,
        request: &Request,
        blobs: &[B],
    ) -> Result<(Reply, Vec<Vec<u8>>), WorkerError> {
        let Some(worker) = &mut self.worker else {
            return Err(WorkerError::Died("it could not be started again".into()));
        };
        let reply = worker.ask(request, blobs, self.options.limit);
        if reply.is_err() {
            self.worker = None;
        }
        reply
    }

    fn revive(&mut self) -> Result<(), String> {
        if self.worker.is_some() {
            return Ok(());
        }
        let started = Worker::start(&self.options.worker, self.options.limit);
        self.worker = Some(started.map_err(|e| e.to_string())?.0);
        self.prepare()?;
        match self.reference.clone() {
            Some(reference) => self.expect(&reference),
            None => Ok(()),
        }
    }

    /// Begins to compile a candidate; `id` comes back from [`Session::next`].
    pub fn submit(&mut self, id: u64, draft: &Draft) -> Result<(), String> {
        let request = self.request(draft)?;
        let Some(pool) = &self.pool else { return Err("there are no compilers".into()) };
        pool.submit(id, request);
        Ok(())
    }

    fn request(&self, draft: &Draft) -> Result<Compile, String> {
        let Some((name, text)) = draft.files.first() else { return Err("no files".into()) };
        let found = device_text(name, text, &draft.files, &mut SourceMap::new());
        let found = found.map_err(|_| "the emitted file cannot be read".to_string())?;
        Ok(Compile {
            source: found.text,
            file: name.clone(),
            arch: self.hello.arch.clone(),
            options: vec!["--std=c++17".into()],
            kernels: found.kernels,
        })
    }

    /// The next compiled candidate.
    pub fn next(&self, limit: Duration) -> Option<(u64, Result<Binary, Invalid>)> {
        self.pool.as_ref()?.next(limit)
    }

    /// A compiled candidate with the launches of its launcher.
    ///
    /// # Errors
    /// The launcher cannot be run.
    pub fn planned(&self, draft: &Draft, binary: Binary) -> Result<Prepared, Invalid> {
        let symbol = |name: &str| {
            let found = binary.kernels.iter().find(|k| k.name == name);
            found.map_or_else(|| name.to_string(), |k| k.symbol.clone())
        };
        let mut recorder = Recorder::new(&draft.witness, &symbol);
        let workspace =
            draft.witness.record(&self.subject.args, self.subject.result, &mut recorder);
        let actions = std::mem::take(&mut recorder.actions);
        match workspace {
            Ok(bytes) if bytes > WORKSPACE => {
                let detail = format!("its workspace has {bytes} bytes");
                Err(Invalid::new(Reason::Runtime, detail))
            }
            Ok(_) => {
                let candidate = Candidate { key: draft.key.clone(), actions };
                Ok(Prepared { candidate, binary: binary.cubin })
            }
            Err(WitnessError::Failed(why)) => Err(Invalid::new(Reason::Runtime, why)),
            Err(WitnessError::Limit(limit)) => Err(Invalid::new(Reason::Timeout, limit)),
        }
    }

    /// Runs the reference, whose outputs all others must have.
    ///
    /// # Errors
    /// It does not run.
    pub fn set_reference(&mut self, reference: Prepared) -> Result<(), String> {
        self.revive()?;
        self.expect(&reference)?;
        self.reference = Some(reference);
        Ok(())
    }

    /// Twice: once to see how large the outputs are, then with tolerances to match.
    fn expect(&mut self, reference: &Prepared) -> Result<(), String> {
        let plain = self.outputs(&[]);
        let values = self.reference_outputs(reference, plain.clone())?;
        let largest: Vec<f64> = plain.iter().zip(&values).map(|(o, v)| largest(o, v)).collect();
        self.reference_outputs(reference, self.outputs(&largest)).map(|_| ())
    }

    fn reference_outputs(
        &mut self,
        reference: &Prepared,
        outputs: Vec<Output>,
    ) -> Result<Vec<Vec<u8>>, String> {
        let samples = outputs.iter().map(|o| self.samples(o)).collect();
        let request = Request::Reference(Reference {
            candidate: reference.candidate.clone(),
            outputs,
            samples,
        });
        match self.ask(&request, &[&reference.binary]) {
            Ok((Reply::Done, values)) => Ok(values),
            Ok((Reply::Invalid(invalid), _)) => Err(format!("the direct translation: {invalid}")),
            Ok(_) => Err("the worker answered something else".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Elements spread over an output.
    fn samples(&self, output: &Output) -> Vec<u64> {
        let arrays = self.subject.args.iter().filter_map(|a| match a {
            ArgBytes::Array(bytes) => Some(bytes.len() as u64),
            ArgBytes::Value(_) => None,
        });
        let bytes = arrays.chain([8]).nth(output.buffer).unwrap_or(0);
        let n = bytes / output.element.size();
        let step = (n / SAMPLES).max(1);
        (0..n.min(SAMPLES)).map(|k| k * step).collect()
    }

    /// What is compared, with tolerances for outputs whose largest elements are given.
    fn outputs(&self, largest: &[f64]) -> Vec<Output> {
        let arrays = self.subject.args.iter().zip(&self.subject.outputs);
        let arrays = arrays.filter(|(a, _)| matches!(a, ArgBytes::Array(_))).map(|(_, o)| o.1);
        let all = arrays.chain(self.subject.result.map(Some));
        let written = all.enumerate().filter_map(|(k, ty)| Some((k, ty?)));
        let output = |(at, (buffer, ty)): (usize, (usize, Scalar))| Output {
            buffer,
            element: element(ty),
            tolerance: Tolerance {
                absolute: largest.get(at).map_or(0.0, |x| self.allowed(ty, *x)),
                relative: 0.0,
            },
        };
        written.enumerate().map(output).collect()
    }

    /// 4·L·u times the largest element: sums whose products the compiler contracted, and sums in another order.
    fn allowed(&self, ty: Scalar, largest: f64) -> f64 {
        let bound = Bound { magnitude: largest, terms: self.subject.terms.max(1), slack: 0.0 };
        of_a_sum(ty, bound)
    }

    /// Checks and times a candidate. A worker that it takes down is started again for the next one.
    pub fn measure(&mut self, prepared: &Prepared, policy: &Policy) -> Measured {
        if let Err(why) = self.revive() {
            return Measured::Invalid(Invalid::new(Reason::Runtime, why));
        }
        let candidate = prepared.candidate.clone();
        let request = Request::Measure { candidate, policy: *policy };
        match self.ask(&request, &[&prepared.binary]) {
            Ok((Reply::Measured(measured), _)) => measured,
            Ok((Reply::Invalid(invalid), _)) => Measured::Invalid(invalid),
            Ok(_) => Measured::Invalid(Invalid::new(Reason::Runtime, "no measurement came")),
            Err(error) => Measured::Invalid(lost(&error)),
        }
    }

    /// Times candidates in turns.
    ///
    /// # Errors
    /// One of them took the worker down.
    pub fn race(
        &mut self,
        entrants: &[Prepared],
        rounds: u32,
        policy: &Policy,
    ) -> Result<Vec<Measured>, String> {
        self.revive()?;
        let request = Request::Race {
            candidates: entrants.iter().map(|e| e.candidate.clone()).collect(),
            rounds,
            policy: *policy,
        };
        let binaries: Vec<&Vec<u8>> = entrants.iter().map(|e| &e.binary).collect();
        match self.ask(&request, &binaries) {
            Ok((Reply::Raced(results), _)) => Ok(results),
            Ok((Reply::Invalid(invalid), _)) => Err(invalid.detail),
            Ok(_) => Err("the worker answered something else".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// What the device reaches at most; `None` where there is nothing to measure.
    pub fn limits(&mut self, bytes: u64) -> Option<Limits> {
        self.revive().ok()?;
        match self.ask(&Request::Limits { bytes }, &NO_BLOBS) {
            Ok((Reply::Limits(limits), _)) => Some(limits),
            _ => None,
        }
    }
}

/// Bytes of workspace that every candidate finds.
const WORKSPACE: u64 = 256 << 20;

fn lost(error: &WorkerError) -> Invalid {
    let reason = match error {
        WorkerError::TimedOut(_) => Reason::Timeout,
        _ => Reason::Runtime,
    };
    Invalid::new(reason, error.to_string())
}

/// The largest finite magnitude among sampled elements.
fn largest(output: &Output, bytes: &[u8]) -> f64 {
    let ty = scalar_of(output.element);
    let values =
        bytes.chunks_exact(ty.bytes() as usize).map(|e| scalar_from_bytes(ty, e).as_f64().abs());
    values.filter(|v| v.is_finite()).fold(0.0, f64::max)
}
