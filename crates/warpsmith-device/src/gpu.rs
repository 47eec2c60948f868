//! Boards: how many multiprocessors, how fast, how much memory.
//!
//! Multiprocessors, boost clock, memory size and bandwidth, and L2 size are those of NVIDIA's data sheets and
//! architecture white papers for the board. The bandwidth of L2 is in none of them: it is an estimate from
//! published micro-benchmarks, scaled by L2 slices and clock where a board has none of its own; for the H200 it
//! is what stencils with many halo reads reached.

use crate::architecture::Architecture;

/// One board.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// Name as on the data sheet, without the vendor's.
    pub name: &'static str,
    /// Name of its architecture.
    pub arch: &'static str,
    /// Multiprocessors.
    pub sms: u32,
    /// Boost clock in MHz.
    pub clock_mhz: f64,
    /// Peak bandwidth of device memory in GB/s (10⁹ bytes).
    pub dram_gb_s: f64,
    /// Estimated read bandwidth of L2 in GB/s.
    pub l2_gb_s: f64,
    /// L2 in MiB.
    pub l2_mib: f64,
    /// Device memory in GiB.
    pub memory_gib: u32,
}

const fn gpu(
    name: &'static str,
    arch: &'static str,
    (sms, clock_mhz): (u32, f64),
    (dram_gb_s, l2_gb_s): (f64, f64),
    (l2_mib, memory_gib): (f64, u32),
) -> Gpu {
    Gpu { name, arch, sms, clock_mhz, dram_gb_s, l2_gb_s, l2_mib, memory_gib }
}

/// All known boards; the first of an architecture stands for it.
pub static GPUS: [Gpu; 30] = [
    gpu("T4", "sm_75", (40, 1590.0), (320.0, 1270.0), (4.0, 16)),
    gpu("RTX 2080 Ti", "sm_75", (68, 1545.0), (616.0, 1900.0), (5.5, 11)),
    gpu("Quadro RTX 8000", "sm_75", (72, 1770.0), (672.0, 2200.0), (6.0, 48)),
    gpu("A100 SXM 80GB", "sm_80", (108, 1410.0), (2039.0, 4000.0), (40.0, 80)),
    gpu("A100 SXM 40GB", "sm_80", (108, 1410.0), (1555.0, 4000.0), (40.0, 40)),
    gpu("A100 PCIe 80GB", "sm_80", (108, 1410.0), (1935.0, 4000.0), (40.0, 80)),
    gpu("A100 PCIe 40GB", "sm_80", (108, 1410.0), (1555.0, 4000.0), (40.0, 40)),
    gpu("A30", "sm_80", (56, 1440.0), (933.0, 2100.0), (24.0, 24)),
    gpu("RTX 3090", "sm_86", (82, 1695.0), (936.0, 2300.0), (6.0, 24)),
    gpu("RTX 3080", "sm_86", (68, 1710.0), (760.0, 1900.0), (5.0, 10)),
    gpu("A10", "sm_86", (72, 1695.0), (600.0, 2100.0), (6.0, 24)),
    gpu("A40", "sm_86", (84, 1740.0), (696.0, 2300.0), (6.0, 48)),
    gpu("RTX A4000", "sm_86", (48, 1560.0), (448.0, 1400.0), (4.0, 16)),
    gpu("RTX A6000", "sm_86", (84, 1800.0), (768.0, 2300.0), (6.0, 48)),
    gpu("RTX 4090", "sm_89", (128, 2520.0), (1008.0, 5000.0), (72.0, 24)),
    gpu("RTX 4080", "sm_89", (76, 2505.0), (717.0, 3300.0), (64.0, 16)),
    gpu("RTX 4070", "sm_89", (46, 2475.0), (504.0, 2000.0), (36.0, 12)),
    gpu("L4", "sm_89", (58, 2040.0), (300.0, 2000.0), (48.0, 24)),
    gpu("L40S", "sm_89", (142, 2520.0), (864.0, 5000.0), (96.0, 48)),
    gpu("H200", "sm_90", (132, 1980.0), (4800.0, 8000.0), (60.0, 141)),
    gpu("H100 SXM", "sm_90", (132, 1980.0), (3352.0, 7500.0), (50.0, 80)),
    gpu("H100 PCIe", "sm_90", (114, 1755.0), (2039.0, 6000.0), (50.0, 80)),
    gpu("H100 NVL", "sm_90", (132, 1785.0), (3938.0, 7000.0), (60.0, 94)),
    gpu("GH200", "sm_90", (132, 1980.0), (4000.0, 8000.0), (60.0, 96)),
    gpu("B200", "sm_100", (148, 1965.0), (8000.0, 12000.0), (126.0, 180)),
    gpu("GB200", "sm_100", (152, 2062.0), (8000.0, 12500.0), (126.0, 186)),
    gpu("RTX 5090", "sm_120", (170, 2407.0), (1792.0, 6500.0), (96.0, 32)),
    gpu("RTX 5080", "sm_120", (84, 2617.0), (960.0, 3600.0), (64.0, 16)),
    gpu("RTX 5070", "sm_120", (48, 2512.0), (672.0, 2400.0), (48.0, 12)),
    gpu("RTX PRO 6000", "sm_120", (188, 2617.0), (1792.0, 7500.0), (128.0, 96)),
];

impl Gpu {
    /// The board of a name, or the one that stands for an architecture: `H200` and `sm_90` are the same. Case and
    /// spaces do not matter, nor do the vendor's names before it, so the driver's spelling `NVIDIA H200` is found.
    pub fn find(name: &str) -> Option<&'static Gpu> {
        let wanted = key(name);
        GPUS.iter().find(|g| key(g.name) == wanted || g.arch == wanted)
    }

    /// The boards whose names begin so: `h100` is several.
    pub fn beginning(name: &str) -> Vec<&'static Gpu> {
        let wanted = key(name);
        if wanted.is_empty() {
            return vec![];
        }
        GPUS.iter().filter(|g| key(g.name).starts_with(&wanted)).collect()
    }

    /// Limits and rates of the board's architecture.
    pub fn architecture(&self) -> &'static Architecture {
        // Every name in the table is one of the seven; a test says so.
        Architecture::find(self.arch).unwrap_or(&crate::ARCHITECTURES[0])
    }

    /// Clock in Hz.
    pub fn clock_hz(&self) -> f64 {
        self.clock_mhz * 1e6
    }

    /// L2 in bytes.
    pub fn l2_bytes(&self) -> f64 {
        self.l2_mib * 1024.0 * 1024.0
    }

    /// Device memory in bytes.
    pub fn memory_bytes(&self) -> u64 {
        u64::from(self.memory_gib) << 30
    }
}

/// A name without what spellings differ in.
fn key(name: &str) -> String {
    let lower = name.to_lowercase();
    let own = lower.trim().trim_start_matches("nvidia").trim_start().trim_start_matches("geforce");
    own.chars().filter(|c| !c.is_whitespace() && *c != '-').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ARCHITECTURES;

    #[test]
    fn every_board_has_a_known_architecture_and_every_architecture_a_board() {
        for gpu in &GPUS {
            assert_eq!(gpu.architecture().name, gpu.arch, "{}", gpu.name);
        }
        for arch in &ARCHITECTURES {
            assert_eq!(Gpu::find(arch.name).unwrap().arch, arch.name);
        }
    }

    #[test]
    fn names_are_found_however_they_are_spelled() {
        assert_eq!(Gpu::find("sm_90").unwrap().name, "H200");
        assert_eq!(Gpu::find("NVIDIA H200").unwrap().name, "H200");
        assert_eq!(Gpu::find("NVIDIA GeForce RTX 4090").unwrap().name, "RTX 4090");
        assert_eq!(Gpu::find("rtx4070").unwrap().name, "RTX 4070");
        assert!(Gpu::find("Voodoo 2").is_none());
        assert!(Gpu::find("").is_none());
    }

    #[test]
    fn the_boards_differ() {
        for (i, gpu) in GPUS.iter().enumerate() {
            assert!(GPUS[..i].iter().all(|g| g.name != gpu.name), "{} twice", gpu.name);
            assert!(gpu.l2_gb_s > gpu.dram_gb_s, "{}: L2 is faster than memory", gpu.name);
        }
    }
}
