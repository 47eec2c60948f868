//! Compilation on all cores, ahead of the measurements.
//!
//! Each thread has a worker process of its own: a compiler that crashes or hangs on one text costs that text.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cache::Cache;
use crate::client::{NO_BLOBS, Start, Worker, WorkerError};
use crate::nvrtc::Binary;
use crate::protocol::{Compile, Invalid, Reason, Reply, Request};
use crate::stop::Stop;

/// Threads that compile. Dropping the pool forgets what has not been begun.
pub struct Pool {
    queue: Arc<Queue>,
    results: Receiver<(u64, Result<Binary, Invalid>)>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(u64, Compile)>,
    closed: bool,
}

/// How a pool works.
#[derive(Clone, Debug)]
pub struct Options {
    pub threads: usize,
    /// Workers with the compiler as backend.
    pub start: Start,
    /// Time for one text.
    pub limit: Duration,
    pub cache: Option<Cache>,
    /// The compiler's version, for the cache.
    pub compiler: String,
}

impl Pool {
    pub fn new(options: &Options) -> Pool {
        let queue = Arc::new(Queue::default());
        let (sender, results) = channel();
        let threads = (0..options.threads.max(1))
            .map(|_| {
                let (queue, sender, options) = (queue.clone(), sender.clone(), options.clone());
                std::thread::spawn(move || Bench::new(options).work(&queue, &sender))
            })
            .collect();
        Pool { queue, results, threads }
    }

    /// Asks for a text; `id` comes back with the result.
    pub fn submit(&self, id: u64, request: Compile) {
        if let Ok(mut state) = self.queue.state.lock() {
            state.jobs.push_back((id, request));
            self.queue.changed.notify_one();
        }
    }

    /// The next result, in the order in which they are done; `None` after the time, or where no thread is left.
    pub fn next(&self, limit: Duration) -> Option<(u64, Result<Binary, Invalid>)> {
        self.results.recv_timeout(limit).ok()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Ok(mut state) = self.queue.state.lock() {
            state.closed = true;
            state.jobs.clear();
        }
        self.queue.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Queue {
    /// Waits for a job; `None`: there will be no more.
    fn take(&self) -> Option<(u64, Compile)> {
        let mut state = self.state.lock().ok()?;
        loop {
            if state.closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state = self.changed.wait(state).ok()?;
        }
    }
}

/// One compiling worker, started when it is first needed and again when it is lost.
pub struct Bench {
    options: Options,
    worker: Option<Worker>,
    stop: Stop,
}

impl Bench {
    pub fn new(options: Options) -> Bench {
        Bench { options, worker: None, stop: Stop::default() }
    }

    /// A compilation under way ends with an error once it is no longer needed.
    pub fn stop_when(&mut self, stop: Stop) {
        self.stop = stop;
    }

    fn work(mut self, queue: &Queue, results: &Sender<(u64, Result<Binary, Invalid>)>) {
        while let Some((id, request)) = queue.take() {
            let result = self.compile(&request);
            if results.send((id, result)).is_err() {
                return;
            }
        }
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
