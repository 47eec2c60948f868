//! Points in time on the device.

use cudarc::driver::result::event;
use cudarc::driver::sys::{CUevent, CUevent_flags};

use super::{Gpu, Result};

/// An event of the default stream.
pub struct Event {
    raw: CUevent,
    _gpu: Gpu,
}

impl Gpu {
    /// # Errors
    /// The driver's.
    pub fn event(&self) -> Result<Event> {
        let raw = event::create(CUevent_flags::CU_EVENT_DEFAULT)?;
        Ok(Event { raw, _gpu: self.clone() })
    }
}

impl Event {
    /// Happens when everything started before has ended.
    ///
    /// # Errors
    /// The driver's.
    pub fn record(&self) -> Result<()> {
        // SAFETY: the event exists until dropped; null is the default stream.
        unsafe { event::record(self.raw, std::ptr::null_mut()) }.map_err(Into::into)
    }

    /// Waits until it has happened.
    ///
    /// # Errors
    /// What a kernel before it did wrong.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: as above.
        unsafe { event::synchronize(self.raw) }.map_err(Into::into)
    }

    /// Milliseconds from another event to this one; both have happened.
    ///
    /// # Errors
    /// The driver's.
    pub fn since(&self, start: &Event) -> Result<f64> {
        // SAFETY: both exist and are of the same stream.
        Ok(f64::from(unsafe { event::elapsed(start.raw, self.raw)? }))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created in `event`.
        let _ = unsafe { event::destroy(self.raw) };
    }
}
