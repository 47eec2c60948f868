//! Registers, spills and shared memory from the log of `ptxas -v` (also `nvcc -Xptxas -v` and NVRTC's
//! `--ptxas-options=-v`).

/// What the assembler says of one kernel. Sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The mangled name, as in the log.
    pub kernel: String,
    /// The architecture, for example `sm_90`; empty if the log does not say.
    pub arch: String,
    /// Registers a thread.
    pub registers: u32,
    /// Local memory a thread: arrays that are not in registers, and spills.
    pub stack: u32,
    /// Bytes a thread stores when it spills registers.
    pub spill_stores: u32,
    /// Bytes a thread loads when it fills registers.
    pub spill_loads: u32,
    /// Static shared memory a block.
    pub shared: u32,
}

/// Reads a log. Lines that say nothing of the kind are skipped, so the rest of a compiler's output may stand between
/// them; a kernel is reported once its register count has been seen. Kernels are in the order of the log, one entry for
/// each architecture.
///
/// Three shapes occur: `Compiling entry function 'K' for 'sm_90'`, `Function properties for K` and, below it, the
/// line of spills; `Used N registers, …`. Device functions that were not inlined have properties but no line of registers.
pub fn parse(log: &str) -> Vec<Resources> {
    let mut found = vec![];
    let mut current: Option<Resources> = None;
    // Whether the properties being read are those of the kernel, not of a function it calls.
    let mut own = true;
    for line in log.lines() {
        if let Some(rest) = after(line, "Compiling entry function '") {
            let mut quoted = rest.split('\'');
            let kernel = quoted.next().unwrap_or("").to_string();
            let arch = quoted.nth(1).unwrap_or("").to_string();
            current = Some(Resources { kernel, arch, ..Resources::default() });
            own = true;
        } else if let Some(name) = after(line, "Function properties for ") {
            own = current.as_ref().is_none_or(|k| k.kernel == name.trim());
            if current.is_none() {
                let kernel = name.trim().to_string();
                current = Some(Resources { kernel, ..Resources::default() });
            }
        } else if line.contains("bytes stack frame") {
            if let Some(kernel) = current.as_mut().filter(|_| own) {
                kernel.stack = number_before(line, "bytes stack frame").unwrap_or(0);
                kernel.spill_stores = number_before(line, "bytes spill stores").unwrap_or(0);
                kernel.spill_loads = number_before(line, "bytes spill loads").unwrap_or(0);
            }
        } else if let Some(registers) = after(line, "Used ").and(number_before(line, "registers"))
            && let Some(mut kernel) = current.take()
        {
            kernel.registers = registers;
            // Up to CUDA 12 it could be `64+16 bytes smem`: the user's and the system's.
            kernel.shared = number_before(line, "bytes smem").unwrap_or(0);
            found.push(kernel);
        }
    }
    found
}

/// What follows a marker in a line.
fn after<'t>(line: &'t str, marker: &str) -> Option<&'t str> {
    line.split_once(marker).map(|(_, rest)| rest)
}

/// The number directly before a phrase, `384` in `384 bytes smem`; of `64+16` the first.
fn number_before(line: &str, phrase: &str) -> Option<u32> {
    let (before, _) = line.split_once(phrase)?;
    let word = before.trim_end().rsplit([' ', ',', '\t']).next()?;
    word.split('+').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
ptxas info    : 484 bytes gmem, 16 bytes cmem[3]
ptxas info    : Compiling entry function '_Z4convILi32EEvPKfPf' for 'sm_90'
ptxas info    : Function properties for _Z4convILi32EEvPKfPf
    24 bytes stack frame, 20 bytes spill stores, 36 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 7056 bytes smem
ptxas info    : Compile time = 93.689 ms
kernels.cu(12): warning #177-D: variable \"registers\" was declared but never referenced
ptxas info    : Compiling entry function 'copy' for 'sm_80'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 10 registers, 64+16 bytes smem, 360 bytes cmem[0]
";

    #[test]
    fn a_log_of_two_kernels_and_other_lines() {
        let expected = [
            Resources {
                kernel: "_Z4convILi32EEvPKfPf".into(),
                arch: "sm_90".into(),
                registers: 255,
                stack: 24,
                spill_stores: 20,
                spill_loads: 36,
                shared: 7056,
            },
            Resources {
                kernel: "copy".into(),
                arch: "sm_80".into(),
                registers: 10,
                shared: 64,
                ..Resources::default()
            },
        ];
        assert_eq!(parse(LOG), expected);
    }

    #[test]
    fn windows_line_ends_and_truncation_do_no_harm() {
        assert_eq!(parse(&LOG.replace('\n', "\r\n")), parse(LOG));
        for end in 0..LOG.len() {
            assert!(parse(&LOG[..end]).len() <= 2);
        }
        assert_eq!(parse("Used 99999999999999 registers\nUsed registers\n"), []);
    }
}
