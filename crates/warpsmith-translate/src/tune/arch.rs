//! The architectures a kernel can be made for.

use warpsmith_device::Gpu;
use warpsmith_ir::{Diagnostic, FuncId, Module};
use warpsmith_opt::Kernel;
use warpsmith_opt::analysis::far;
use warpsmith_opt::kernel::OfGpu;
use warpsmith_opt::rewrite::question::independence;

use crate::status::Failure;

/// What `tune` must know of an architecture before it has a device model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arch {
    /// As compilers name it.
    pub name: &'static str,
    /// Memory of the largest board with it, in bytes: sizes beyond it are refused. Vendor data sheets
    /// (T4/Quadro RTX 8000, A100, A40, L40S, H200, B200, RTX PRO 6000).
    pub memory: u64,
    /// The board that is there, where it is known.
    pub board: Option<&'static Gpu>,
}

impl Arch {
    /// The board, or the GPU that stands for the architecture where none is named.
    pub fn gpu(&self) -> &'static Gpu {
        self.board.or_else(|| Gpu::find(self.name)).unwrap_or(&warpsmith_device::GPUS[0])
    }

    /// A function to be scheduled within the limits of the architecture, for sizes at which its marks are right and no counter gets near the
    /// end of its 64 bits.
    pub fn kernel(&self, module: Module, function: FuncId) -> Kernel {
        let gpu = self.gpu();
        let of_gpu =
            OfGpu { shared: gpu.architecture().shared_per_block_optin, multiprocessors: gpu.sms };
        let kernel = Kernel { gpu: of_gpu, ..Kernel::new(module, function) };
        let requires = [independence::requirements(&kernel), far::requirements(kernel.func())];
        Kernel { requires: requires.concat(), ..kernel }
    }
}

const fn arch(name: &'static str, memory: u64) -> Arch {
    Arch { name, memory, board: None }
}

const GIB: u64 = 1 << 30;

/// All known architectures, oldest first.
pub const ARCHS: [Arch; 7] = [
    arch("sm_75", 48 * GIB),
    arch("sm_80", 80 * GIB),
    arch("sm_86", 48 * GIB),
    arch("sm_89", 48 * GIB),
    arch("sm_90", 141 * GIB),
    arch("sm_100", 192 * GIB),
    arch("sm_120", 96 * GIB),
];

/// The architecture of a name, or that of a board: `rtx4070`, `H100 SXM`; the start of a board's name where it has no other.
///
/// # Errors
/// W310 with the list of known names, or of the boards that may be meant.
pub fn find(name: &str) -> Result<Arch, Failure> {
    let named = |name: &str| ARCHS.into_iter().find(|a| a.name == name);
    let beginning = Gpu::beginning(name);
    let board = || {
        let gpu = match (Gpu::find(name), beginning.as_slice()) {
            (None, [only]) => only,
            (found, _) => found?,
        };
        Some(Arch { board: Some(gpu), memory: gpu.memory_bytes(), ..named(gpu.arch)? })
    };
    named(name).or_else(board).ok_or_else(|| {
        if !beginning.is_empty() {
            let boards: Vec<&str> = beginning.iter().map(|g| g.name).collect();
            let own = Diagnostic::error("W310", format!("`{name}` may be several boards"));
            return own.help(format!("name one: {}", boards.join(", "))).into();
        }
        let names: Vec<&str> = ARCHS.iter().map(|a| a.name).collect();
        let boards: Vec<&str> = warpsmith_device::GPUS.iter().map(|g| g.name).collect();
        let message = match is_older(name) {
            true => format!("`{name}` is too old: the oldest architecture is {}", ARCHS[0].name),
            false => format!("unknown architecture `{name}`"),
        };
        Diagnostic::error("W310", message)
            .help(format!("known are {}", names.join(", ")))
            .help(format!("or a board, however it is spelled: {}", boards.join(", ")))
            .into()
    })
}

/// Whether an architecture is one before all that are known.
fn is_older(name: &str) -> bool {
    let number = |name: &str| name.strip_prefix("sm_")?.parse::<u32>().ok();
    number(name).zip(number(ARCHS[0].name)).is_some_and(|(own, oldest)| own < oldest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_name_is_a_board_or_a_question() {
        let boards = Gpu::beginning("h100");
        assert!(boards.len() > 1, "{boards:?}");
        let failure = find("H100").unwrap_err();
        assert_eq!(failure.diagnostics[0].message, "`H100` may be several boards");
        assert!(failure.diagnostics[0].help[0].contains(boards[1].name));
        assert_eq!(find("H200").unwrap().board.map(|b| b.name), Some("H200"));
        assert!(find("").is_err() && find("no such board").is_err());
        let of = |name: &str| find(name).unwrap_err().diagnostics[0].message.clone();
        assert_eq!(of("sm_35"), "`sm_35` is too old: the oldest architecture is sm_75");
        assert_eq!(of("sm_99"), "unknown architecture `sm_99`");
    }
}
