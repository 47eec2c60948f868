//! Being asked to stop: a flag for all work, and whether anybody looks at it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Commands that look at the flag, and those of them that have something to show by now.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
static SHOWING: AtomicUsize = AtomicUsize::new(0);

/// Set when the user has asked to stop.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(Arc::default).clone()
}

/// What a first Ctrl-C does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nobody looks at the flag: the program ends.
    End,
    /// The work ends soon and says so.
    Ends,
    /// The work ends soon and shows what was done so far.
    Shows,
}

/// What a first Ctrl-C does now.
pub fn answer() -> Answer {
    match (LISTENING.load(Ordering::SeqCst), SHOWING.load(Ordering::SeqCst)) {
        (0, _) => Answer::End,
        (_, 0) => Answer::Ends,
        _ => Answer::Shows,
    }
}

/// While it lives, the first Ctrl-C sets the flag and does not end the program.
pub struct Gently {
    showing: bool,
}

/// For work that is shown as far as it is done.
pub fn gently() -> Gently {
    SHOWING.fetch_add(1, Ordering::SeqCst);
    LISTENING.fetch_add(1, Ordering::SeqCst);
    Gently { showing: true }
}

/// For work that ends soon and says so.
pub fn in_words() -> Gently {
    LISTENING.fetch_add(1, Ordering::SeqCst);
    Gently { showing: false }
}

impl Drop for Gently {
    fn drop(&mut self) {
        LISTENING.fetch_sub(1, Ordering::SeqCst);
        if self.showing {
            SHOWING.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
