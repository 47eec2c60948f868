//! The architectures: limits that decide whether a kernel runs, and rates that decide how fast.
//!
//! Sources, cited below by letter:
//!
//! * \[G\] CUDA C++ Programming Guide 13.0, "Compute Capabilities": table "Technical Specifications per Compute
//!   Capability" and the sections on shared memory of each generation.
//! * \[T\] the same guide, table "Throughput of Native Arithmetic Instructions" (results a clock a multiprocessor).
//! * \[O\] the occupancy calculator's data, as in `cuda_occupancy.h` of the CUDA 13.0 toolkit.
//! * \[W\] NVIDIA's architecture white papers: Turing, GA100, GA102, AD102, GH100, Blackwell.
//! * \[J\] Jia, Maggioni, Smith, Scarpazza: "Dissecting the NVIDIA Turing T4 GPU via Microbenchmarking", 2019.
//! * \[L\] Luo et al.: "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024.

const KIB: u32 = 1024;

/// Limits and rates of one compute capability. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    /// As compilers name it, for example `sm_90`.
    pub name: &'static str,
    /// Marketing name of the generation.
    pub generation: &'static str,
    /// Compute capability, major and minor.
    pub capability: (u32, u32),
    /// Resident warps a multiprocessor \[G\].
    pub max_warps: u32,
    /// Resident blocks a multiprocessor \[G\]\[O\].
    pub max_blocks: u32,
    /// Threads a block \[G\].
    pub max_threads_per_block: u32,
    /// 32-bit registers a multiprocessor \[G\].
    pub registers_per_sm: u32,
    /// 32-bit registers a block \[G\].
    pub registers_per_block: u32,
    /// Registers that the compiler can give a thread: 256 encodings, one of which is the zero register \[G\].
    pub max_registers_per_thread: u32,
    /// Registers are handed to warps in multiples of this \[O\].
    pub register_unit: u32,
    /// Warp schedulers, each with its own quarter of the register file \[G\]\[O\].
    pub schedulers: u32,
    /// Shared memory a multiprocessor at the largest carve-out \[G\].
    pub shared_per_sm: u32,
    /// Shared memory a block may have without opting in \[G\].
    pub shared_per_block: u32,
    /// Shared memory a block may have after `cudaFuncAttributeMaxDynamicSharedMemorySize` \[G\].
    pub shared_per_block_optin: u32,
    /// Shared memory that the system takes of every block \[G\]\[O\].
    pub shared_reserved: u32,
    /// Shared memory is handed to blocks in multiples of this \[O\].
    pub shared_unit: u32,
    /// Sizes that the shared part of the unified memory can have \[G\]\[O\], ascending.
    pub carveouts: &'static [u32],
    /// L1 and shared memory together \[G\].
    pub unified: u32,
    /// Rates a clock a multiprocessor.
    pub rates: Rates,
    /// Clocks until a result can be used.
    pub latencies: Latencies,
}

/// What one multiprocessor does a clock, in lanes (32 to a warp) unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Single-precision additions, multiplications and fused multiply-adds \[T\].
    pub fp32: f64,
    /// The same in double precision \[T\].
    pub fp64: f64,
    /// Half-precision operations; a packed pair counts as two \[T\].
    pub fp16: f64,
    /// 32-bit integer additions, comparisons and logic \[T\].
    pub int: f64,
    /// Whether integer operations take their lanes from the single-precision ones \[W\] (GA102, AD102, GB202).
    pub int_shares_fp32: bool,
    /// Reciprocal, square root, sine, exponential of the special function units, and conversions \[T\].
    pub sfu: f64,
    /// Load/store units: addresses a clock \[W\].
    pub lsu: f64,
    /// Lanes a clock of warp shuffles \[T\].
    pub shuffle: f64,
    /// Bytes a clock from shared memory, and from L1 on a hit \[W\]\[J\].
    pub shared_bytes: f64,
}

/// Clocks from issue to use of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// Single precision and integer \[J\]\[L\].
    pub arithmetic: f64,
    /// Double precision \[J\]\[L\].
    pub fp64: f64,
    /// Special functions \[J\].
    pub sfu: f64,
    /// Shared memory without conflicts \[J\]\[L\].
    pub shared: f64,
    /// A hit in L1 \[J\]\[L\].
    pub l1: f64,
    /// A hit in L2 \[J\]\[L\].
    pub l2: f64,
    /// A read of device memory, unloaded \[J\]\[L\].
    pub dram: f64,
}

impl Architecture {
    /// Lanes of a warp.
    pub const WARP: u32 = 32;
    /// Banks of shared memory, each 4 bytes wide \[G\].
    pub const BANKS: u32 = 32;
    /// Width of a bank in bytes \[G\].
    pub const BANK_BYTES: u32 = 4;
    /// Unit of transfer between L1, L2 and device memory in bytes \[G\].
    pub const SECTOR: u32 = 32;
    /// Line of L1 and L2 in bytes: four sectors that share a tag \[G\].
    pub const LINE: u32 = 128;

    /// The architecture of a name such as `sm_90`.
    pub fn find(name: &str) -> Option<&'static Architecture> {
        ARCHITECTURES.iter().find(|a| a.name == name)
    }

    /// Resident threads a multiprocessor \[G\].
    pub fn max_threads(&self) -> u32 {
        self.max_warps * Architecture::WARP
    }

    /// The most registers a thread can have so that a block of this many threads can be launched at all.
    ///
    /// The hardware takes registers for warps rounded up to the schedulers, in units of [`Self::register_unit`], hence
    /// multiples of 8 a thread \[O\]. Zero threads are treated as one.
    pub fn register_cap(&self, block_threads: u32) -> u32 {
        let warps =
            block_threads.max(1).div_ceil(Architecture::WARP).next_multiple_of(self.schedulers);
        let per_warp = self.registers_per_block / warps / self.register_unit * self.register_unit;
        (per_warp / Architecture::WARP).min(self.max_registers_per_thread)
    }

    /// L1 that remains when the shared part must hold at least `shared` bytes: the smallest carve-out that does is
    /// taken, as the driver does by default \[G\].
    pub fn l1_beside(&self, shared: u32) -> u32 {
        let carveout = self.carveouts.iter().copied().find(|c| *c >= shared);
        self.unified - carveout.unwrap_or(self.shared_per_sm)
    }
}

const TURING_CARVEOUTS: [u32; 2] = [32 * KIB, 64 * KIB];
const GA102_CARVEOUTS: [u32; 6] = [0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB];
const GA100_CARVEOUTS: [u32; 8] =
    [0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB];
const HOPPER_CARVEOUTS: [u32; 10] = [
    0,
    8 * KIB,
    16 * KIB,
    32 * KIB,
    64 * KIB,
    100 * KIB,
    132 * KIB,
    164 * KIB,
    196 * KIB,
    228 * KIB,
];

/// Ampere's GA102 and what followed it in the consumer line, which share most limits.
const GA102: Architecture = Architecture {
    name: "sm_86",
    generation: "Ampere",
    capability: (8, 6),
    max_warps: 48,
    max_blocks: 16,
    max_threads_per_block: 1024,
    registers_per_sm: 65536,
    registers_per_block: 65536,
    max_registers_per_thread: 255,
    register_unit: 256,
    schedulers: 4,
    shared_per_sm: 100 * KIB,
    shared_per_block: 48 * KIB,
    shared_per_block_optin: 99 * KIB,
    shared_reserved: KIB,
    shared_unit: 128,
    carveouts: &GA102_CARVEOUTS,
    unified: 128 * KIB,
    rates: Rates {
        fp32: 128.0,
        fp64: 2.0,
        fp16: 128.0,
        int: 64.0,
        int_shares_fp32: true,
        sfu: 16.0,
        lsu: 16.0,
        shuffle: 32.0,
        shared_bytes: 128.0,
    },
    latencies: Latencies {
        arithmetic: 4.0,
        fp64: 40.0,
        sfu: 20.0,
        shared: 29.0,
        l1: 38.0,
        l2: 250.0,
        dram: 560.0,
    },
};

/// Hopper, from which Blackwell's data-centre line differs little in these limits.
const GH100: Architecture = Architecture {
    name: "sm_90",
    generation: "Hopper",
    capability: (9, 0),
    max_warps: 64,
    max_blocks: 32,
    shared_per_sm: 228 * KIB,
    shared_per_block_optin: 227 * KIB,
    carveouts: &HOPPER_CARVEOUTS,
    unified: 256 * KIB,
    rates: Rates { fp64: 64.0, fp16: 256.0, int_shares_fp32: false, lsu: 32.0, ..GA102.rates },
    latencies: Latencies {
        fp64: 8.0,
        shared: 30.0,
        l1: 38.0,
        l2: 260.0,
        dram: 660.0,
        ..GA102.latencies
    },
    ..GA102
};

/// All known architectures, oldest first.
pub static ARCHITECTURES: [Architecture; 7] = [
    Architecture {
        name: "sm_75",
        generation: "Turing",
        capability: (7, 5),
        max_warps: 32,
        max_blocks: 16,
        shared_per_sm: 64 * KIB,
        shared_per_block_optin: 64 * KIB,
        shared_reserved: 0,
        shared_unit: 256,
        carveouts: &TURING_CARVEOUTS,
        unified: 96 * KIB,
        rates: Rates { fp32: 64.0, int_shares_fp32: false, shared_bytes: 64.0, ..GA102.rates },
        latencies: Latencies { shared: 19.0, l1: 32.0, l2: 188.0, dram: 434.0, ..GA102.latencies },
        ..GA102
    },
    Architecture {
        name: "sm_80",
        capability: (8, 0),
        max_warps: 64,
        max_blocks: 32,
        shared_per_sm: 164 * KIB,
        shared_per_block_optin: 163 * KIB,
        carveouts: &GA100_CARVEOUTS,
        unified: 192 * KIB,
        rates: Rates {
            fp32: 64.0,
            fp64: 32.0,
            fp16: 256.0,
            int_shares_fp32: false,
            lsu: 32.0,
            ..GA102.rates
        },
        latencies: Latencies { fp64: 8.0, l2: 240.0, ..GA102.latencies },
        ..GA102
    },
    GA102,
    Architecture {
        name: "sm_89",
        generation: "Ada Lovelace",
        capability: (8, 9),
        max_blocks: 24,
        latencies: Latencies { l2: 270.0, dram: 540.0, ..GA102.latencies },
        ..GA102
    },
    GH100,
    Architecture { name: "sm_100", generation: "Blackwell", capability: (10, 0), ..GH100 },
    Architecture {
        name: "sm_120",
        generation: "Blackwell",
        capability: (12, 0),
        max_blocks: 24,
        rates: Rates { int: 128.0, ..GA102.rates },
        latencies: Latencies { l2: 280.0, dram: 560.0, ..GA102.latencies },
        ..GA102
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_capability() {
        for arch in &ARCHITECTURES {
            assert_eq!(arch.name, format!("sm_{}{}", arch.capability.0, arch.capability.1));
            assert_eq!(Architecture::find(arch.name), Some(arch));
        }
        assert_eq!(Architecture::find("sm_91"), None);
    }

    #[test]
    fn sizes_are_consistent() {
        for arch in &ARCHITECTURES {
            assert_eq!(arch.carveouts.last(), Some(&arch.shared_per_sm), "{}", arch.name);
            assert!(arch.carveouts.is_sorted(), "{}", arch.name);
            assert_eq!(
                arch.shared_per_block_optin + arch.shared_reserved,
                arch.shared_per_sm,
                "{}: a block may have all but what is reserved",
                arch.name
            );
            assert!(arch.shared_per_sm < arch.unified, "{}: some L1 remains", arch.name);
        }
    }

    #[test]
    fn peaks_of_data_sheets() {
        // TFLOP/s of fused multiply-adds: T4 8.1, A100 19.5, H200 67; FP64 of the A100 9.7.
        let peak = |gpu: &str, rate: fn(&Rates) -> f64| {
            let gpu = crate::Gpu::find(gpu).unwrap();
            gpu.sms as f64 * rate(&gpu.architecture().rates) * 2.0 * gpu.clock_hz() / 1e12
        };
        assert!((peak("T4", |r| r.fp32) - 8.1).abs() < 0.1);
        assert!((peak("A100 SXM 40GB", |r| r.fp32) - 19.5).abs() < 0.1);
        assert!((peak("A100 SXM 40GB", |r| r.fp64) - 9.7).abs() < 0.1);
        assert!((peak("H200", |r| r.fp32) - 66.9).abs() < 0.1);
    }

    #[test]
    fn register_caps_are_those_a_block_can_be_launched_with() {
        let arch = Architecture::find("sm_90").unwrap();
        assert_eq!(arch.register_cap(1024), 64);
        assert_eq!(arch.register_cap(512), 128);
        assert_eq!(arch.register_cap(256), 255);
        assert_eq!(arch.register_cap(768), 80);
        assert_eq!(arch.register_cap(0), 255);
    }

    #[test]
    fn l1_is_what_the_carve_out_leaves() {
        let arch = Architecture::find("sm_90").unwrap();
        assert_eq!(arch.l1_beside(0), 256 * KIB);
        assert_eq!(arch.l1_beside(1), 248 * KIB);
        assert_eq!(arch.l1_beside(101 * KIB), 124 * KIB);
        assert_eq!(arch.l1_beside(u32::MAX), 28 * KIB);
    }
}
