//! Values that tell elements apart, and numbers that subscripts are made from.

use warpsmith_ir::{Scalar, Value};

use crate::launch::Launch;
use crate::mix::Mix;

/// What arrays hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// What random values come from.
    pub seed: u64,
    /// Integer arrays whose elements are to be told apart; others get small numbers, which subscripts can be made from.
    pub tagged: &'a [String],
    /// What else they are good for.
    pub kind: Values,
}

impl Data<'_> {
    /// Whether the elements of an array, or of a member of a structure, are those that marks are of.
    pub(super) fn is_tagged(&self, name: &str) -> bool {
        let base = name.split('.').next().unwrap_or(name);
        self.tagged.iter().any(|t| t == base)
    }
}

/// What numbers do beside telling elements apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// Reals are above zero; integers that subscripts are made from are small.
    #[default]
    Tagged,
    /// Reals have both signs and all integers are small, so that branches which data decide on go both ways.
    Mixed,
    /// Integers that subscripts are made from go as far as threads along x do, or as sizes say.
    Wide,
    /// As mixed ones, and many lie near the numbers that the kernel compares something with.
    Near,
}

impl Values {
    /// Whether branches are to go both ways.
    pub fn mixed(mixed: bool) -> Values {
        if mixed { Values::Mixed } else { Values::Tagged }
    }
}

/// Seeds that send threads the same way where data are mixed: what few bits make equal by accident is told apart by several.
pub const SEEDS_A_WAY: u64 = 8;

/// Small numbers are below this, and those that go far below that, so that loops which they count end.
pub(super) const SMALL: u64 = 7;
const FAR: u64 = 600;

/// Numbers of fewer bits than this are not enough to tell all elements of an array apart.
const FEW_BITS: u32 = 20;

/// Element values that differ as long as the type has enough of them: reals between 1 and 2, or integers.
pub(super) struct Tags {
    next: u64,
    odd: u64,
    start: u64,
    /// Numbers that subscripts are made from are below this.
    pub span: u64,
    /// Which numbers are below zero; `None`: none.
    pub way: Option<u64>,
}

impl Tags {
    pub fn new(data: Data<'_>, launch: &Launch) -> Tags {
        let threads = u64::from(launch.grid[0]) * u64::from(launch.block[0]);
        let largest = launch.integers.values().copied().max().and_then(|n| u64::try_from(n).ok());
        let wide = threads.max(largest.unwrap_or(0)).clamp(SMALL, FAR);
        let span = if data.kind == Values::Wide { wide } else { SMALL };
        let mut mix = Mix(data.seed);
        Tags {
            next: 0,
            odd: mix.next() | 1,
            start: mix.next(),
            way: matches!(data.kind, Values::Mixed | Values::Near)
                .then_some(data.seed / SEEDS_A_WAY),
            span,
        }
    }

    /// The next of 2^`bits` numbers: in an order that visits each once, or, where they are too few for all elements, without
    /// one, so that elements which are equal for one seed are not for the next.
    #[inline]
    fn number(&mut self, bits: u32) -> u64 {
        self.next += 1;
        let mask = u64::MAX >> (64 - bits);
        let number = self.next.wrapping_mul(self.odd).wrapping_add(self.start);
        if bits < FEW_BITS { Mix(number).next() & mask } else { number & mask }
    }

    #[inline]
    pub fn value(&mut self, ty: Scalar) -> Value {
        let mut value = self.unsigned(ty);
        if let Some(way) = self.way.filter(|_| ty.is_float())
            && Mix(Mix(way).next() ^ self.next).next() & 1 == 1
        {
            value.bits |= 1 << (8 * ty.bytes() - 1);
        }
        value
    }

    #[inline]
    fn unsigned(&mut self, ty: Scalar) -> Value {
        match ty {
            Scalar::F64 => Value { ty, bits: 0x3ff0_0000_0000_0000 | self.number(52) },
            Scalar::F32 => Value { ty, bits: 0x3f80_0000 | self.number(23) },
            Scalar::F16 => Value { ty, bits: 0x3c00 | self.number(10) },
            Scalar::BF16 => Value { ty, bits: 0x3f80 | self.number(7) },
            Scalar::Bool => Value::bool(self.number(1) == 1),
            _ => {
                Value::int(ty, self.number(if ty.bytes() < 4 { 8 * ty.bytes() } else { 23 }) as i64)
            }
        }
    }
}
