//! The driver, loaded at run time: the few calls that checking and timing need, each safe to use.
//!
//! A [`Gpu`] makes its device's primary context current on the thread that opens it; it and all that it hands out stay
//! on that thread (none of them is `Send`).

mod event;
mod memory;
mod module;

use std::marker::PhantomData;
use std::rc::Rc;

use cudarc::driver::result::{self, device, primary_ctx};
use cudarc::driver::sys::{self, CUdevice_attribute};

pub use event::Event;
pub use memory::Buffer;
pub use module::{Function, Module};

use crate::error::GpuError;

type Result<T> = std::result::Result<T, GpuError>;

/// A device with its context.
#[derive(Clone)]
pub struct Gpu {
    context: Rc<Context>,
}

struct Context {
    device: sys::CUdevice,
    /// Contexts are current for a thread.
    _on_this_thread: PhantomData<*const ()>,
}

/// What the driver says of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The product's name.
    pub name: String,
    /// For example `sm_90`.
    pub arch: String,
    /// CUDA version of the driver, for example `13.0`.
    pub driver: String,
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// In bytes.
    pub l2: u64,
    /// In bytes.
    pub memory: u64,
    /// Highest clock of the multiprocessors in kHz.
    pub clock: u32,
}

/// Whether the driver's library is there. Nothing else may be called where it is not.
pub fn is_present() -> bool {
    // SAFETY: opens a library and looks at nothing in it.
    unsafe { sys::is_culib_present() }
}

/// How many devices the driver sees.
///
/// # Errors
/// No driver, or one that does not start.
pub fn count() -> Result<u32> {
    start()?;
    Ok(device::get_count()?.max(0).cast_unsigned())
}

fn start() -> Result<()> {
    if !is_present() {
        return Err(GpuError::Absent {
            what: "the NVIDIA driver's library (libcuda.so)",
            hint: "install the NVIDIA driver, or make its folder known through LD_LIBRARY_PATH"
                .into(),
        });
    }
    result::init()?;
    let version = version()?;
    if version < OLDEST {
        return Err(GpuError::Absent {
            what: "a driver that is new enough",
            hint: format!("this one is for CUDA {}, needed is {}", named(version), named(OLDEST)),
        });
    }
    Ok(())
}

/// The first version that has every call we make (`cuEventElapsedTime_v2`).
const OLDEST: i32 = 12080;

fn version() -> Result<i32> {
    let mut version = 0;
    // SAFETY: writes one int.
    unsafe { sys::cuDriverGetVersion(&mut version).result()? };
    Ok(version)
}

fn named(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

impl Gpu {
    /// Opens the device with this number among those that `CUDA_VISIBLE_DEVICES` leaves visible.
    ///
    /// # Errors
    /// No driver, no such device, or one that cannot be used.
    pub fn open(ordinal: u32) -> Result<Gpu> {
        let count = count()?;
        if ordinal >= count {
            return Err(GpuError::Absent {
                what: "the GPU that was asked for",
                hint: format!("device {ordinal} was asked for, and the driver sees {count}"),
            });
        }
        let device = device::get(ordinal.cast_signed())?;
        // SAFETY: the device exists; the context is released when the last user drops it.
        unsafe {
            let context = primary_ctx::retain(device)?;
            result::ctx::set_current(context)?;
        }
        let context = Rc::new(Context { device, _on_this_thread: PhantomData });
        Ok(Gpu { context })
    }

    /// # Errors
    /// The driver's.
    pub fn device(&self) -> Result<Device> {
        use CUdevice_attribute::*;
        let major = self.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Device {
            name: device::get_name(self.context.device)?,
            arch: format!("sm_{major}{minor}"),
            driver: named(version()?),
            multiprocessors: self.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            l2: self.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
            // SAFETY: the device exists.
            memory: unsafe { device::total_mem(self.context.device)? } as u64,
            clock: self.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
        })
    }

    fn attribute(&self, which: CUdevice_attribute) -> Result<u32> {
        // SAFETY: the device exists.
        let value = unsafe { device::get_attribute(self.context.device, which)? };
        Ok(value.max(0).cast_unsigned())
    }

    /// Waits for everything that was started.
    ///
    /// # Errors
    /// What a kernel since the last wait did wrong.
    pub fn synchronize(&self) -> Result<()> {
        Ok(result::ctx::synchronize()?)
    }

    /// Free memory in bytes.
    ///
    /// # Errors
    /// The driver's.
    pub fn free_memory(&self) -> Result<u64> {
        Ok(result::mem_get_info()?.0 as u64)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained in `open`. A failure has nobody to hear of it: the process is about to end.
        let _ = unsafe { primary_ctx::release(self.device) };
    }
}
