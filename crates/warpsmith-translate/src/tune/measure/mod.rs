//! Measuring candidates on a device: the emitted text is compiled, the launches of its launcher are made by a worker
//! process, and outputs are compared with those of the direct translation.

mod candidates;
mod device_text;
mod plan;
mod prior;
mod terms;
mod workload;

pub use candidates::{Candidates, spelled};
pub use device_text::{DeviceText, device_text};
pub use plan::recorded;
pub(in crate::tune) use prior::Model;
pub use workload::{Nests, Source};
