//! Compilation in a worker process of its own: a compiler that crashes or hangs on one text costs that text.

use std::time::Duration;

use crate::cache::Cache;
use crate::client::{NO_BLOBS, Start, Worker, WorkerError};
use crate::nvrtc::Binary;
use crate::protocol::{Compile, Invalid, Reason, Reply, Request};
use crate::stop::Stop;

/// How a bench works.
#[derive(Clone, Debug)]
pub struct Options {
    /// A worker with the compiler as backend.
    pub start: Start,
    /// Time for one text.
    pub limit: Duration,
    /// Keeps compiled texts between runs; `None`: everything is compiled anew.
    pub cache: Option<Cache>,
    /// The compiler's version, for the cache.
    pub compiler: String,
}

/// One compiling worker, started when it is first needed and again when it is lost.
pub struct Bench {
    options: Options,
    worker: Option<Worker>,
    stop: Stop,
}

impl Bench {
    /// A bench whose worker is not started yet.
    pub fn new(options: Options) -> Bench {
        Bench { options, worker: None, stop: Stop::default() }
    }

    /// A compilation under way ends with an error once it is no longer needed.
    pub fn stop_when(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// A text's binary, from the cache where it is there.
    ///
    /// # Errors
    /// The compiler's messages, or how its process was lost.
    pub fn compile(&mut self, request: &Compile) -> Result<Binary, Invalid> {
        let key = Cache::key(request, &self.options.compiler);
        let cache = self.options.cache.clone();
        if let (Some(cache), Some(key)) = (&cache, &key)
            && let Some((kernels, log, cubin)) = cache.get(key)
        {
            return Ok(Binary { cubin, kernels, log });
        }
        let binary = self.ask(request)?;
        if let (Some(cache), Some(key)) = (&cache, &key) {
            // A full disk costs time later, not this result.
            let _ = cache.put(key, &binary.kernels, &binary.log, &binary.cubin);
        }
        Ok(binary)
    }

    /// A compiler that ends is started once more: it may have been ended from outside.
    fn ask(&mut self, request: &Compile) -> Result<Binary, Invalid> {
        let answer = match self.ask_once(request) {
            Err(WorkerError::Died(_)) => self.ask_once(request),
            answer => answer,
        };
        answer.unwrap_or_else(|error| {
            let reason = match error {
                WorkerError::TimedOut(_) => Reason::Timeout,
                _ => Reason::Compile,
            };
            Err(Invalid::new(reason, format!("while compiling: {error}")))
        })
    }

    fn ask_once(&mut self, request: &Compile) -> Result<Result<Binary, Invalid>, WorkerError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start_until(&self.options.start, self.options.limit, &self.stop)?.0,
        };
        worker.stop_when(self.stop.clone());
        let request = Request::Compile(request.clone());
        let reply = worker.ask(&request, &NO_BLOBS, self.options.limit)?;
        self.worker = Some(worker);
        Ok(match reply {
            (Reply::Compiled(kernels, log), mut blobs) if blobs.len() == 1 => {
                Ok(Binary { cubin: blobs.remove(0), kernels, log })
            }
            (Reply::Invalid(invalid), _) => Err(invalid),
            _ => Err(Invalid::new(Reason::Compile, "the worker's reply is no binary")),
        })
    }
}
