//! Ctrl-C: a command that looks at the flag is asked to stop, others end at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::progress;
use crate::status::Status;

/// Commands that look at the flag, and those of them that have something to show by now.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
static SHOWING: AtomicUsize = AtomicUsize::new(0);

/// Set when the user has asked to stop.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(Arc::default).clone()
}

/// Takes Ctrl-C over from the system, once for the program.
pub fn listen() {
    let handled = ctrlc::set_handler(|| {
        progress::hide();
        let first = !flag().swap(true, Ordering::SeqCst);
        if first && LISTENING.load(Ordering::SeqCst) > 0 {
            let what = match SHOWING.load(Ordering::SeqCst) {
                0 => "",
                _ => "; here is what was done so far",
            };
            eprintln!("warpsmith: interrupted{what} (again to end at once)");
            return;
        }
        warpsmith_gpu::client::end_all();
        eprintln!("warpsmith: interrupted; files were written whole or not at all");
        std::process::exit(Status::Interrupted.code());
    });
    if let Err(error) = handled {
        eprintln!("warpsmith: Ctrl-C will end the program without a message: {error}");
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
