//! What a call of the math library takes.
//!
//! Counted in the code that nvcc 13.0 makes for sm_90 of `y[i] = f(x[i])`, less that of `y[i] = x[i]`: the instructions that an
//! ordinary argument meets, and those that stand there. Ways for large arguments (the reduction of an angle by many bits of π)
//! are copied into the code wherever a function is called, and jumped over.

use warpsmith_ir::MathFn;

/// Instructions of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Of the unit that computes with the type.
    pub own: f64,
    /// Of the integer unit, beside them.
    pub int: f64,
    /// Of the unit for special functions.
    pub special: f64,
    /// Instructions in the code.
    pub code: f64,
}

/// Of a function of 32 bits, or of 64 if `wide`.
pub fn cost(f: MathFn, wide: bool) -> Cost {
    if bits(f) {
        return Cost { own: 0.0, int: 0.0, special: 1.0, code: 1.0 };
    }
    if wide {
        let (own, int, code) = of_double(f);
        return Cost { own, int, special: 0.0, code };
    }
    let (own, special, code) = of_float(f);
    Cost { own, int: 0.0, special, code }
}

/// Counts and positions of bits come from the unit for special functions.
fn bits(f: MathFn) -> bool {
    matches!(f, MathFn::Popc | MathFn::Clz | MathFn::Ffs | MathFn::Brev)
}

/// Instructions on the way, those of them for special functions, and in the code.
fn of_float(f: MathFn) -> (f64, f64, f64) {
    use MathFn::*;
    match f {
        Exp2 | Rsqrt => (3.0, 1.0, 4.0),
        Exp | Exp10 => (9.0, 1.0, 10.0),
        Expm1 => (28.0, 1.0, 29.0),
        Log | Log2 | Log10 => (28.0, 0.0, 29.0),
        Log1p => (30.0, 0.0, 33.0),
        Sin | Cos => (31.0, 0.0, 137.0),
        Tan => (35.0, 1.0, 134.0),
        Sinpi | Cospi => (20.0, 0.0, 20.0),
        Sqrt | Rcp => (9.0, 1.0, 12.0),
        Cbrt | Rcbrt | Cosh => (15.0, 2.0, 16.0),
        Tanh => (16.0, 2.0, 17.0),
        Sinh => (24.0, 2.0, 25.0),
        Atan => (18.0, 1.0, 19.0),
        Asin | Acos => (25.0, 1.0, 26.0),
        Atan2 => (45.0, 1.0, 60.0),
        Asinh | Acosh | Atanh => (42.0, 1.0, 46.0),
        Hypot => (29.0, 1.0, 54.0),
        Erf => (29.0, 1.0, 30.0),
        Erfc => (47.0, 3.0, 48.0),
        Normcdf => (64.0, 3.0, 65.0),
        Pow => (70.0, 1.0, 98.0),
        Fmod | Remainder => (35.0, 2.0, 77.0),
        Lgamma => (70.0, 2.0, 216.0),
        Tgamma => (70.0, 4.0, 164.0),
        _ => (1.0, 0.0, 1.0),
    }
}

/// Instructions with double precision on the way, others, and in the code.
fn of_double(f: MathFn) -> (f64, f64, f64) {
    use MathFn::*;
    match f {
        Rsqrt | Rcp => (5.0, 10.0, 15.0),
        Sqrt => (8.0, 13.0, 21.0),
        Exp | Exp2 | Exp10 => (19.0, 42.0, 61.0),
        Expm1 | Cosh => (21.0, 40.0, 65.0),
        Log | Log2 | Log10 => (31.0, 54.0, 88.0),
        Log1p => (53.0, 85.0, 138.0),
        Sin | Cos => (17.0, 33.0, 50.0),
        Sinpi | Cospi => (17.0, 25.0, 42.0),
        Tan => (32.0, 56.0, 88.0),
        Cbrt | Rcbrt => (13.0, 30.0, 44.0),
        Tanh => (34.0, 67.0, 102.0),
        Sinh => (39.0, 83.0, 122.0),
        Atan => (28.0, 53.0, 82.0),
        Asin | Acos => (44.0, 75.0, 125.0),
        Atan2 => (39.0, 83.0, 122.0),
        Asinh | Acosh | Atanh => (65.0, 100.0, 165.0),
        Hypot => (15.0, 31.0, 47.0),
        Erf => (42.0, 80.0, 123.0),
        Erfc => (63.0, 104.0, 168.0),
        Normcdf => (74.0, 113.0, 188.0),
        Pow => (85.0, 110.0, 80.0),
        Fmod | Remainder => (9.0, 120.0, 258.0),
        Lgamma => (90.0, 100.0, 233.0),
        Tgamma => (242.0, 370.0, 616.0),
        _ => (1.0, 0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_take_more_code_than_they_run() {
        let sine = cost(MathFn::Sin, false);
        assert!(sine.code > 4.0 * sine.own);
        assert!(cost(MathFn::Log, true).own > cost(MathFn::Log, false).own);
        assert_eq!(cost(MathFn::Max, false).own, 1.0);
        assert_eq!(cost(MathFn::Popc, false).special, 1.0);
    }
}
