//! The arithmetic of launches beside the time that they took.

use warpsmith_device::{Architecture, Work};
use warpsmith_emu::counters::{Counters, InstructionClass as Class};
use warpsmith_gpu::protocol::Limits;

use crate::units::time;

/// A time is suspicious when the arithmetic alone takes so many times as long at the peak that was measured: compilers leave
/// out some of what the text says.
const FASTER_THAN_ARITHMETIC: f64 = 1.25;

/// Lanes of a warp, and what a multiply-add counts in TFLOP/s.
const WARP: f64 = Architecture::WARP as f64;
const FLOPS: f64 = 2.0;

/// Floating-point instructions of warps, a multiply-add as one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arithmetic {
    /// In single precision.
    pub fp32: f64,
    /// In double precision.
    pub fp64: f64,
}

impl Arithmetic {
    /// What the device model is told of a launch that happens so many times.
    pub fn of_work(work: &Work, times: f64) -> Arithmetic {
        Arithmetic { fp32: times * work.fp32, fp64: times * work.fp64 }
    }

    /// What the emulator has counted. It never contracts; a compiler makes a multiply-add of a product and the sum behind it, so
    /// of products and sums the fewer ones cost nothing.
    pub fn counted(c: &Counters) -> Arithmetic {
        let n = |class: Class| c.class(class).warps as f64;
        let sum = |[add, mul, fma, other]: [Class; 4]| n(add).max(n(mul)) + n(fma) + n(other);
        Arithmetic {
            fp32: sum([Class::Fp32Add, Class::Fp32Mul, Class::Fp32Fma, Class::Fp32Other]),
            fp64: sum([Class::Fp64Add, Class::Fp64Mul, Class::Fp64Fma, Class::Fp64Other]),
        }
    }

    /// Both one after the other.
    pub fn plus(self, other: Arithmetic) -> Arithmetic {
        Arithmetic { fp32: self.fp32 + other.fp32, fp64: self.fp64 + other.fp64 }
    }

    /// The least milliseconds that it takes where nothing else is to be done.
    fn least_ms(&self, limits: &Limits, arch: &Architecture) -> f64 {
        let ms = |warps: f64, share: f64| warps * WARP * FLOPS / (limits.fma_tflop_s * share) / 1e9;
        let fp64 = arch.rates.fp64 / arch.rates.fp32;
        ms(self.fp32, 1.0).max(ms(self.fp64, fp64))
    }

    /// What is said of a time in which it cannot have been done, on an architecture such as `sm_90`.
    pub fn too_fast(&self, limits: &Limits, arch: &str, ms: f64) -> Option<String> {
        let least = self.least_ms(limits, Architecture::find(arch)?);
        (least > FASTER_THAN_ARITHMETIC * ms).then(|| {
            format!(
                "faster than its arithmetic can be done ({:.0} % of that limit): at the peak that was measured, the \
                 multiply-adds of its text alone take {}. It may not do all of them: are launch and sizes right?",
                100.0 * least / ms,
                time(least / 1e3)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { copy_gb_s: 4000.0, fma_tflop_s: 64.0 };

    #[test]
    fn a_time_in_which_the_arithmetic_cannot_be_done_is_marked() {
        // 64e9 floating-point operations take a millisecond.
        let one = Arithmetic { fp32: 1e9, fp64: 0.0 };
        assert!(one.too_fast(&LIMITS, "sm_90", 1.0).is_none());
        assert!(one.too_fast(&LIMITS, "sm_90", 0.9).is_none());
        let said = one.too_fast(&LIMITS, "sm_90", 0.5).unwrap();
        assert!(said.contains("(200 % of that limit)") && said.contains("take 1.00 ms"), "{said}");
    }

    #[test]
    fn double_precision_has_a_peak_of_its_own() {
        let one = Arithmetic { fp32: 0.0, fp64: 1e9 };
        assert!(one.too_fast(&LIMITS, "sm_90", 1.9).is_none(), "half of the rate");
        assert!(one.too_fast(&LIMITS, "sm_90", 1.0).is_some());
        assert!(one.too_fast(&LIMITS, "sm_89", 30.0).is_some(), "a 64th of it");
    }
}
