//! Stack for deeply nested texts: more of it than threads usually have.
//!
//! A thread is started for it, unless the one that asks has enough left: who reads a text in several steps, or several texts, does
//! so in [`with_room`] and pays for one thread.

use std::cell::Cell;

thread_local! {
    /// About where the stack of this thread begins, and its bytes, if it was started here.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Stack for the deepest that is asked for, and for what is between.
const ROOM: usize = (1 << 30) + (64 << 20);
/// Stack that may be in use beside what is seen of it.
const MARGIN: usize = 1 << 20;

/// Runs something that needs so many bytes of stack.
///
/// # Errors
/// No thread could be started.
pub(crate) fn with<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    if left() >= bytes {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let begin = || {
            STACK.set((here(), bytes));
            work()
        };
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, begin)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Runs something that parses and lowers on one thread; each step starts one of its own where none could be started for all.
pub fn with_room<T: Send>(work: impl Fn() -> T + Sync) -> T {
    if left() >= ROOM - (ROOM >> 6) {
        return work();
    }
    with(ROOM, &work).unwrap_or_else(|_| work())
}

/// Stack that is left to this thread, as far as that is known.
fn left() -> usize {
    let (start, bytes) = STACK.get();
    bytes.saturating_sub(start.abs_diff(here())).saturating_sub(MARGIN)
}

/// About where the stack ends now.
#[inline(never)]
fn here() -> usize {
    let mark = 0u8;
    std::ptr::from_ref(std::hint::black_box(&mark)).addr()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{ROOM, with, with_room};

    #[test]
    fn steps_with_room_share_a_thread() {
        let own = thread::current().id();
        let (outer, inner, again) = with_room(|| {
            let inner = with(1 << 30, || thread::current().id()).ok();
            (thread::current().id(), inner, with_room(|| thread::current().id()))
        });
        assert_ne!(own, outer);
        assert_eq!(Some(outer), inner);
        assert_eq!(outer, again);
    }

    #[test]
    fn a_thread_without_enough_left_starts_another() {
        let (outer, inner) = with_room(|| {
            let inner = with(ROOM, || thread::current().id()).ok();
            (thread::current().id(), inner)
        });
        assert!(inner.is_some_and(|inner| inner != outer));
    }
}
