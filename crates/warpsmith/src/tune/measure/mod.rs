//! Measuring candidates on a device: the text of the emitted file is compiled, the launches of its launcher are made by
//! a worker process, and outputs are compared with those of the direct translation.

mod device_text;
mod element;
mod plan;
mod session;

pub use device_text::{DeviceText, device_text};
pub use element::{element, scalar_of};
pub use session::{Session, SessionOptions, Subject};
