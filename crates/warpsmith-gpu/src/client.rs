//! The tuner's side: worker processes, with limits on their time and memory.

use std::io::{self, BufReader, BufWriter, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::protocol::frame::{self, FrameError};
use crate::protocol::{Hello, Invalid, Reason, Reply, Request, VERSION};
use crate::stop::Stop;

/// How workers are started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Words of the command line, the program first: for a cluster `srun`, its options, then ours.
    pub command: Vec<String>,
    /// Added to the environment.
    pub env: Vec<(String, String)>,
    /// Most memory of the worker itself, in bytes; device memory does not count.
    pub max_memory: Option<u64>,
}

/// Why a worker gave no reply. In all cases it is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The operating system does not start it.
    #[error("the worker `{command}` cannot be started: {why}")]
    NotStarted {
        /// Its command line.
        command: String,
        /// The operating system's reason.
        why: String,
    },
    /// It gave no answer within this time.
    #[error("the worker gave no answer for {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It took more memory than this limit in bytes.
    #[error("the worker took more than {} MiB of memory", .0 >> 20)]
    TooLarge(u64),
    /// What [`Worker::stop_when`] was given says so.
    #[error("the worker was no longer needed")]
    Stopped,
    /// It ended, or said something that is no reply; what it wrote to stderr last.
    #[error("the worker ended: {0}")]
    Died(String),
}

/// A running worker. Dropping it closes its input, waits a moment, and then ends it.
pub struct Worker {
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
    replies: Receiver<Result<Option<Frame>, FrameError>>,
    complaints: Arc<Mutex<Vec<u8>>>,
    max_memory: Option<u64>,
    stop: Stop,
}

type Frame = (Reply, Vec<Vec<u8>>);

/// What is kept of a worker's stderr, in bytes.
const KEPT: usize = 16 << 10;
/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How long a worker may take to leave when it is no longer needed.
const LEAVE: Duration = Duration::from_secs(2);

impl Worker {
    /// Starts a worker and greets it.
    ///
    /// # Errors
    /// It does not start, or does not answer in time.
    pub fn start(start: &Start, limit: Duration) -> Result<(Worker, Hello), WorkerError> {
        Worker::start_until(start, limit, &Stop::default())
    }

    /// As [`Worker::start`]; the wait for its greeting, and for its later replies, ends when it is no longer needed.
    ///
    /// # Errors
    /// As [`Worker::start`].
    pub fn start_until(
        start: &Start,
        limit: Duration,
        stop: &Stop,
    ) -> Result<(Worker, Hello), WorkerError> {
        let shown = start.command.join(" ");
        let failed = |why: String| WorkerError::NotStarted { command: shown.clone(), why };
        let Some((program, args)) = start.command.split_first() else {
            return Err(failed("there is no command".into()));
        };
        let mut command = Command::new(program);
        command.args(args).envs(start.env.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        own_group(&mut command);
        // Known as soon as it runs: an interrupt that comes then has to end it.
        let spawned = running(|groups| {
            let child = command.spawn()?;
            groups.push(child.id());
            Ok(child)
        });
        let mut child = spawned.map_err(|e: io::Error| failed(e.to_string()))?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no pipes".into()));
        };
        let mut worker = Worker {
            child,
            input: Some(BufWriter::new(input)),
            replies: read_replies(output),
            complaints: keep_complaints(errors),
            max_memory: start.max_memory,
            stop: stop.clone(),
        };
        match worker.ask(&Request::Hello { version: VERSION }, &NO_BLOBS, limit)? {
            (Reply::Hello(hello), _) => Ok((worker, hello)),
            (Reply::Invalid(invalid), _) => Err(failed(invalid.detail)),
            _ => Err(failed("its first words are no greeting".into())),
        }
    }

    /// From now on the worker is ended in the middle of a request once it is no longer needed.
    pub fn stop_when(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Sends a request and waits for the reply.
    ///
    /// # Errors
    /// The worker ended, is too slow or too large; it is gone then.
    pub fn ask<B: AsRef<[u8]> + Sync>(
        &mut self,
        request: &Request,
        blobs: &[B],
        limit: Duration,
    ) -> Result<Frame, WorkerError> {
        let deadline = Instant::now() + limit;
        let Some(mut input) = self.input.take() else { return Err(self.died("it was ended")) };
        // A worker that hangs does not read, and a large problem fills the pipe: writing has a deadline too.
        let outcome = std::thread::scope(|scope| {
            let sending = scope.spawn(move || {
                let sent = frame::write(&mut input, request, blobs);
                (input, sent)
            });
            let reply = self.wait(deadline, limit);
            if reply.is_err() {
                self.end();
            }
            (sending.join(), reply)
        });
        let (sent, reply) = outcome;
        if let Ok((input, Ok(()))) = sent {
            self.input = Some(input);
        }
        reply
    }

    fn wait(&mut self, deadline: Instant, limit: Duration) -> Result<Frame, WorkerError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left.min(LOOK)) {
                Ok(Ok(Some(reply))) => return Ok(reply),
                Ok(Ok(None)) => return Err(self.died("it closed its output")),
                Ok(Err(error)) => return Err(self.died(&error.to_string())),
                Err(RecvTimeoutError::Disconnected) => return Err(self.died("it is gone")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(most) = self.max_memory.filter(|most| self.memory() > *most) {
                return Err(WorkerError::TooLarge(most));
            }
            if self.stop.is_due() {
                return Err(WorkerError::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(WorkerError::TimedOut(limit));
            }
        }
    }

    /// Resident memory in bytes; 0 where the system does not say.
    fn memory(&self) -> u64 {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id()));
        let pages = statm.ok().and_then(|s| s.split_whitespace().nth(1)?.parse::<u64>().ok());
        pages.unwrap_or(0) * 4096
    }

    fn died(&mut self, how: &str) -> WorkerError {
        let status = self.end();
        let mut words = vec![how.to_string()];
        words.extend(status.map(|s| s.to_string()));
        // The thread that reads stderr may be a little behind.
        std::thread::sleep(Duration::from_millis(20));
        let said = self.complaints.lock().map(|c| String::from_utf8_lossy(&c).trim().to_string());
        words.extend(said.ok().filter(|s| !s.is_empty()));
        WorkerError::Died(words.join("; "))
    }

    /// Its process number, for tests that end it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process and what it started.
    fn end(&mut self) -> Option<std::process::ExitStatus> {
        self.input = None;
        if let Ok(Some(status)) = self.child.try_wait() {
            self.forget();
            return Some(status);
        }
        kill_group(self.child.id());
        let _ = self.child.kill();
        let status = self.child.wait().ok();
        self.forget();
        status
    }

    /// Its number may be another process's from now on.
    fn forget(&self) {
        running(|groups| groups.retain(|id| *id != self.child.id()));
    }
}

/// The numbers of all workers that run.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(vec![]);

/// Does something with the numbers of all workers that run.
fn running<T>(change: impl FnOnce(&mut Vec<u32>) -> T) -> T {
    change(&mut RUNNING.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Ends all workers with what they started, for a process that is about to end: a launcher that waits for a cluster's
/// scheduler would wait on. None can be started from then on.
pub fn end_all() {
    let mut groups = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    groups.drain(..).for_each(kill_group);
    std::mem::forget(groups);
}

/// A worker that has said who it is, for the first that takes it.
#[derive(Clone, Default)]
pub struct Greeted(Arc<Mutex<Option<(Worker, Hello)>>>);

impl Greeted {
    /// Keeps a worker with its answer until somebody takes it.
    pub fn new(worker: Worker, hello: Hello) -> Greeted {
        Greeted(Arc::new(Mutex::new(Some((worker, hello)))))
    }

    /// The worker, once.
    pub fn take(&self) -> Option<(Worker, Hello)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl std::fmt::Debug for Greeted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Greeted")
    }
}

/// For requests without.
pub const NO_BLOBS: [&[u8]; 0] = [];

impl Drop for Worker {
    fn drop(&mut self) {
        self.input = None;
        let deadline = Instant::now() + LEAVE;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return self.forget(),
            }
        }
        self.end();
    }
}

/// Reads replies on a thread of its own, so that waiting for them can end.
fn read_replies(output: impl Read + Send + 'static) -> Receiver<Result<Option<Frame>, FrameError>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let reply = frame::read(&mut output);
            let last = !matches!(reply, Ok(Some(_)));
            if sender.send(reply).is_err() || last {
                return;
            }
        }
    });
    receiver
}

impl From<&WorkerError> for Invalid {
    /// What a lost worker means for the candidate that it was busy with.
    fn from(error: &WorkerError) -> Invalid {
        let reason = match error {
            WorkerError::TimedOut(_) => Reason::Timeout,
            _ => Reason::Runtime,
        };
        Invalid::new(reason, error.to_string())
    }
}

fn keep_complaints(mut errors: impl Read + Send + 'static) -> Arc<Mutex<Vec<u8>>> {
    let kept = Arc::new(Mutex::new(vec![]));
    let own = kept.clone();
    std::thread::spawn(move || {
        let mut chunk = [0u8; 4096];
        loop {
            match errors.read(&mut chunk) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
                Ok(n) => {
                    let Ok(mut kept) = own.lock() else { return };
                    kept.extend_from_slice(&chunk[..n]);
                    let over = kept.len().saturating_sub(KEPT);
                    kept.drain(..over);
                }
            }
        }
    });
    kept
}

/// A group of its own: an interrupt at the terminal reaches the tuner alone, which ends its workers.
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

fn kill_group(child: u32) {
    let Ok(group) = i32::try_from(child) else { return };
    // SAFETY: a plain call; the group is the child's own, which has not been waited for.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}
