//! Work for threads, which can be taken back before a thread has begun with it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue with many takers, first come, first served.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub fn new() -> Queue<T> {
        let state = State { items: VecDeque::new(), closed: false };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A taker that panicked left nothing half done: the queue is always whole.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, item: T) {
        self.lock().items.push_back(item);
        self.changed.notify_one();
    }

    /// To the front: what was begun and could not be finished.
    pub fn push_back_in(&self, item: T) {
        self.lock().items.push_front(item);
        self.changed.notify_one();
    }

    /// Waits for an item; `None`: there will be no more.
    pub fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What nobody has begun with.
    pub fn drain(&self) -> Vec<T> {
        self.lock().items.drain(..).collect()
    }

    /// Takers leave when nothing is left.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}
