//! The worker's side: requests from stdin, replies to stdout, until the tuner closes the pipe.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::backend::{Backend, Fault};
use crate::protocol::frame::{self, FrameError};
use crate::protocol::{Invalid, Measured, Reason, Reply, Request, VERSION};

/// How a worker ends that can do no more work on its device; its replies are complete.
pub const EXIT_LOST: i32 = 71;

/// Takes stdout away from everything else in the process: what kernels and libraries print goes to stderr.
///
/// # Errors
/// The system's.
pub fn take_stdout() -> io::Result<File> {
    io::stdout().flush()?;
    // SAFETY: plain calls on the process's own descriptors; the new one is owned by the file alone.
    unsafe {
        let own = libc::dup(io::stdout().as_raw_fd());
        if own < 0 || libc::dup2(io::stderr().as_raw_fd(), io::stdout().as_raw_fd()) < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::fcntl(own, libc::F_SETFD, libc::FD_CLOEXEC);
        Ok(File::from(OwnedFd::from_raw_fd(own)))
    }
}

/// Serves until the input ends. Returns the exit status: 0, or [`EXIT_LOST`].
///
/// # Errors
/// The streams', and requests that are none.
pub fn serve(
    backend: &mut dyn Backend,
    from: &mut impl Read,
    to: &mut impl Write,
) -> Result<i32, FrameError> {
    while let Some((request, blobs)) = frame::read::<Request>(from)? {
        let (reply, out, lost) = match answer(backend, request, blobs) {
            Ok((reply, out)) => (reply, out, false),
            Err(Fault::Invalid(invalid)) => (Reply::Invalid(invalid), vec![], false),
            Err(Fault::Lost(invalid)) => (Reply::Invalid(invalid), vec![], true),
        };
        frame::write(to, &reply, &out)?;
        if lost {
            return Ok(EXIT_LOST);
        }
    }
    Ok(0)
}

type Answer = Result<(Reply, Vec<Vec<u8>>), Fault>;

fn answer(backend: &mut dyn Backend, request: Request, mut blobs: Vec<Vec<u8>>) -> Answer {
    let plain = |reply| Ok((reply, vec![]));
    match request {
        Request::Hello { version } if version != VERSION => bad(&format!(
            "the tuner speaks version {version} of the protocol, the worker {VERSION}"
        )),
        Request::Hello { .. } => match backend.hello() {
            Ok(hello) => plain(Reply::Hello(hello)),
            Err(error) => bad(&error.to_string()),
        },
        Request::Compile(c) => {
            let (kernels, log, binary) = backend.compile(&c)?;
            Ok((Reply::Compiled(kernels, log), vec![binary]))
        }
        Request::Prepare(problem) => {
            backend.prepare(problem, std::mem::take(&mut blobs))?;
            plain(Reply::Done)
        }
        Request::Reference(reference) => {
            Ok((Reply::Done, backend.reference(&reference, only(&blobs)?)?))
        }
        Request::Advance { actions, first } => {
            Ok((Reply::Done, backend.advance(&actions, only(&blobs)?, first)?))
        }
        Request::Measure { candidate, policy } => {
            let times = backend.measure(&candidate, only(&blobs)?, &policy)?;
            plain(Reply::Measured(Measured::Times(times)))
        }
        Request::Race { candidates, .. } if candidates.len() != blobs.len() => {
            bad("a race needs one binary a candidate")
        }
        Request::Race { candidates, rounds, policy } => {
            plain(Reply::Raced(backend.race(&candidates, &blobs, rounds, &policy)?))
        }
        Request::Limits { bytes } => plain(Reply::Limits(backend.limits(bytes)?)),
        Request::Product(product) => plain(Reply::Product(backend.product(&product)?)),
        Request::Occupancy { kernel, shapes } => {
            plain(Reply::Occupancy(backend.occupancy(only(&blobs)?, &kernel, &shapes)?))
        }
    }
}

fn only(blobs: &[Vec<u8>]) -> Result<&[u8], Fault> {
    match blobs {
        [one] => Ok(one),
        _ => bad("the request needs one binary"),
    }
}

fn bad<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Invalid(Invalid::new(Reason::Runtime, why)))
}
