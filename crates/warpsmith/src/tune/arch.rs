//! The architectures a kernel can be made for.

use warpsmith_ir::Diagnostic;

use crate::status::Failure;

/// What `tune` must know of an architecture before it has a device model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    /// As compilers name it.
    pub name: &'static str,
    /// Memory of the largest board with it, in bytes: sizes beyond it are refused. Vendor data sheets
    /// (T4/Quadro RTX 8000, A100, A40, L40S, H200, B200, RTX PRO 6000).
    pub memory: u64,
}

impl Arch {
    /// The GPU that stands for the architecture where none is named.
    pub fn gpu(&self) -> &'static warpsmith_device::Gpu {
        warpsmith_device::Gpu::find(self.name).unwrap_or(&warpsmith_device::GPUS[0])
    }
}

const GIB: u64 = 1 << 30;

/// All known architectures, oldest first.
pub const ARCHS: [Arch; 7] = [
    Arch { name: "sm_75", memory: 48 * GIB },
    Arch { name: "sm_80", memory: 80 * GIB },
    Arch { name: "sm_86", memory: 48 * GIB },
    Arch { name: "sm_89", memory: 48 * GIB },
    Arch { name: "sm_90", memory: 141 * GIB },
    Arch { name: "sm_100", memory: 192 * GIB },
    Arch { name: "sm_120", memory: 96 * GIB },
];

/// The architecture of a name.
///
/// # Errors
/// W310 with the list of known names.
pub fn find(name: &str) -> Result<Arch, Failure> {
    ARCHS.into_iter().find(|a| a.name == name).ok_or_else(|| {
        let names: Vec<&str> = ARCHS.iter().map(|a| a.name).collect();
        Diagnostic::error("W310", format!("unknown architecture `{name}`"))
            .help(format!("known are {}", names.join(", ")))
            .into()
    })
}
