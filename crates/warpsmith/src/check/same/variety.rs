//! Data of several sorts. Reals in [−1, 1) and whole numbers in 0 … 99 alone hide what is wrong for others: a maximum
//! that begins at 0, a remainder of something negative, a threshold that is met exactly, an order of equal keys.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_ir::{ExprKind, Module, Scalar, Value, visit};

use crate::data::{scalar_bytes, scalar_from_bytes};

/// What data are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Reals in [−1, 1), whole numbers in 0 … 99.
    Plain,
    /// Reals of several magnitudes, whole numbers of both signs and all widths.
    Spread,
    /// Below zero, and far from it, where the type allows.
    Negative,
    /// Few values, so that many are equal: the constants of both texts and what is next to them.
    Few,
    /// Some NaN, infinities, zeros with a sign, denormals.
    Special,
}

impl Sort {
    /// The sort of the data of the launch with this number. Plain data come first and every other time; the others in no
    /// order that sizes could follow.
    pub fn of(nth: usize) -> Sort {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(nth as u64);
        match (nth % 2, rng.next_u64() % 3) {
            (0, _) => Sort::Plain,
            (_, 0) => Sort::Spread,
            (_, 1) => Sort::Negative,
            _ => Sort::Few,
        }
    }

    /// For the description of a launch; plain data need none.
    pub fn text(self) -> &'static str {
        match self {
            Sort::Plain => "",
            Sort::Spread => "data of several magnitudes",
            Sort::Negative => "data below zero",
            Sort::Few => "data of few values",
            Sort::Special => "data with NaN and infinities",
        }
    }
}

/// What data are made from besides random numbers.
#[derive(Debug, Default)]
pub struct Constants {
    reals: Vec<f64>,
    whole: Vec<i64>,
}

/// Constants beyond so many are not looked at.
const MOST_CONSTANTS: usize = 24;
/// Sums of larger ones would be nothing but overflow.
const LARGEST_WHOLE: i64 = 1 << 16;

impl Constants {
    /// The numbers that functions of the texts compute or compare with.
    pub fn of(modules: [&Module; 2]) -> Constants {
        let mut found = Constants::default();
        for module in modules {
            for f in module.functions.iter().filter(|f| !f.of_library) {
                visit::for_each_expr(&f.body, &mut |e| match &*e.kind {
                    ExprKind::Const(v) => found.add(*v),
                    ExprKind::Named(id) => {
                        let value = module.constants.get(id.0 as usize).map(|c| c.value);
                        value.into_iter().for_each(|v| found.add(v));
                    }
                    _ => {}
                });
            }
        }
        found
    }

    fn add(&mut self, v: Value) {
        if v.ty.is_float() {
            let x = v.as_f64();
            // What is near zero stands there so that nobody divides by it.
            let usable = x.is_finite() && (1e-3..1e6).contains(&x.abs());
            if usable && !self.reals.contains(&x) && self.reals.len() < MOST_CONSTANTS {
                self.reals.push(x);
            }
        } else if v.ty.is_integer() {
            let n = v.as_i64();
            let usable = n.abs() <= LARGEST_WHOLE && v.ty != Scalar::Bool;
            if usable && !self.whole.contains(&n) && self.whole.len() < MOST_CONSTANTS {
                self.whole.push(n);
            }
        }
    }

    fn real(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let (pick, how) = (rng.next_u64() as usize >> 8, rng.next_u64() % 8);
        let all = self.reals.len() + 3;
        let c = self.reals.get(pick % all).copied().unwrap_or((pick % 3) as f64);
        match how {
            // Zero has no other sign here: which of two equal zeros a maximum takes is nobody's concern.
            0 if c != 0.0 => -c,
            1 => c * (1.0 + 1.0 / 1024.0),
            2 => c * (1.0 - 1.0 / 1024.0),
            _ => c,
        }
    }

    fn whole(&self, rng: &mut Xoshiro256PlusPlus) -> i64 {
        let (pick, how) = (rng.next_u64() as usize >> 8, rng.next_u64() % 8);
        let all = self.whole.len() + 3;
        let c = self.whole.get(pick % all).copied().unwrap_or((pick % 3) as i64);
        match how {
            0 => -c,
            1 => c + 1,
            2 => c - 1,
            _ => c,
        }
    }
}

/// Turns the plain random numbers at these places of an element of `size` bytes into data of a sort.
pub fn turn(
    sort: Sort,
    constants: &Constants,
    (size, slots): (usize, &[(u64, Scalar)]),
    bytes: &mut [u8],
    seed: u64,
) {
    if sort == Sort::Plain {
        return;
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
    let far = rng.next_u64() % 3;
    for element in bytes.chunks_exact_mut(size.max(1)) {
        for (offset, ty) in slots {
            let at = *offset as usize;
            let place = &mut element[at..at + ty.bytes() as usize];
            let plain = scalar_from_bytes(*ty, place);
            let value = match ty.is_float() {
                true => {
                    Value::float(*ty, real(sort, constants, plain.as_f64(), *ty, far, &mut rng))
                }
                false if *ty == Scalar::Bool => plain,
                false => {
                    Value::int(*ty, whole(sort, constants, plain.as_i64(), *ty, far, &mut rng))
                }
            };
            place.copy_from_slice(&scalar_bytes(value));
        }
    }
}

fn real(
    sort: Sort,
    constants: &Constants,
    plain: f64,
    ty: Scalar,
    far: u64,
    rng: &mut Xoshiro256PlusPlus,
) -> f64 {
    let narrow = ty == Scalar::F16;
    match sort {
        Sort::Plain => plain,
        Sort::Spread => {
            let most = if narrow { 1 } else { 3 };
            plain * 10f64.powi((rng.next_u64() % (2 * most + 1)) as i32 - most as i32)
        }
        Sort::Negative => {
            let scale = match (far, narrow) {
                (0, _) | (_, true) => 10.0,
                (1, _) => 1e4,
                _ => 1e10,
            };
            -(plain.abs() + 0.5) * scale
        }
        Sort::Few => constants.real(rng),
        Sort::Special => match rng.next_u64() % 32 {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            3 => -0.0,
            4 => 0.0,
            5 => 1e-40,
            _ => plain,
        },
    }
}

fn whole(
    sort: Sort,
    constants: &Constants,
    plain: i64,
    ty: Scalar,
    far: u64,
    rng: &mut Xoshiro256PlusPlus,
) -> i64 {
    let narrow = ty.bytes() < 4;
    let any = rng.next_u64();
    match sort {
        Sort::Plain | Sort::Special => plain,
        // All of a narrow type; of a wide one as many of each width.
        Sort::Spread if narrow || (any.is_multiple_of(4) && !ty.is_signed()) => (any >> 8) as i64,
        Sort::Spread => {
            // Not more: they may select elements.
            let bits = (any >> 8) % 17;
            let n = ((any >> 16) & ((1 << bits) - 1)) as i64;
            if ty.is_signed() && any.is_multiple_of(2) { -n } else { n }
        }
        Sort::Negative if !ty.is_signed() => (any >> 8) as i64,
        Sort::Negative if narrow => -(plain % 128) - 1,
        Sort::Negative => (-plain - 1) << [0, 10, 24][far as usize],
        Sort::Few => constants.whole(rng),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reals(sort: Sort, constants: &Constants) -> Vec<f32> {
        let plain: Vec<f32> = (0..400).map(|i| (i % 7) as f32 / 7.0 - 0.5).collect();
        let mut bytes: Vec<u8> = plain.iter().flat_map(|x| x.to_le_bytes()).collect();
        turn(sort, constants, (4, &[(0, Scalar::F32)]), &mut bytes, 3);
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn every_sort_is_what_it_says() {
        let constants = Constants { reals: vec![6.5], whole: vec![9] };
        assert!(reals(Sort::Negative, &constants).iter().all(|x| *x < -1.0));
        let spread = reals(Sort::Spread, &constants);
        assert!(spread.iter().any(|x| x.abs() > 100.0) && spread.iter().any(|x| x.abs() < 0.01));
        let few = reals(Sort::Few, &constants);
        assert!(few.contains(&6.5) && few.contains(&-6.5) && few.contains(&1.0));
        let special = reals(Sort::Special, &constants);
        assert!(special.iter().any(|x| x.is_nan()) && special.contains(&f32::INFINITY));
    }

    #[test]
    fn whole_numbers_fill_narrow_types_and_have_both_signs() {
        let constants = Constants { reals: vec![], whole: vec![77] };
        let turned = |sort, ty: Scalar| -> Vec<i64> {
            let size = ty.bytes() as usize;
            let mut bytes = vec![0; 3000 * size];
            turn(sort, &constants, (size, &[(0, ty)]), &mut bytes, 5);
            bytes.chunks_exact(size).map(|b| scalar_from_bytes(ty, b).as_i64()).collect()
        };
        let bytes = turned(Sort::Spread, Scalar::U8);
        assert!((0..256).all(|n| bytes.contains(&n)));
        let ints = turned(Sort::Spread, Scalar::I32);
        assert!(ints.iter().any(|n| *n < -1000) && ints.iter().any(|n| *n > 1000));
        assert!(turned(Sort::Negative, Scalar::I32).iter().all(|n| *n < 0));
        let few = turned(Sort::Few, Scalar::I32);
        assert!([76, 77, 78, -77, 0].iter().all(|n| few.contains(n)));
    }

    #[test]
    fn half_of_the_launches_have_plain_data() {
        let sorts: Vec<Sort> = (0..60).map(Sort::of).collect();
        assert_eq!(sorts.iter().filter(|s| **s == Sort::Plain).count(), 30);
        for sort in [Sort::Spread, Sort::Negative, Sort::Few] {
            assert!(sorts.iter().filter(|s| **s == sort).count() > 5);
        }
    }
}
