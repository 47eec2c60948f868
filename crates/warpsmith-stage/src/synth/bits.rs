//! Sets of rows.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Tables that are looked up by sets of rows: these are many, and nobody chooses them to collide.
pub type ByBits<V> = HashMap<Bits, V, BuildHasherDefault<Words>>;
pub type SeenBits<'a> = HashSet<&'a Bits, BuildHasherDefault<Words>>;

/// A hasher that takes words of 64 bits at a time.
#[derive(Default)]
pub struct Words(u64);

impl Hasher for Words {
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// A set of rows of a fixed number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    pub fn from_fn(len: usize, mut holds: impl FnMut(usize) -> bool) -> Bits {
        let word = |w: usize| {
            let rows = w * 64..len.min(w * 64 + 64);
            rows.rev().fold(0, |word, i| word << 1 | u64::from(holds(i)))
        };
        Bits { words: (0..len.div_ceil(64)).map(word).collect(), len }
    }

    /// The rows whose values equal a number, and those whose are below it.
    #[inline]
    pub fn compared(values: &[i64], number: i64) -> (Bits, Bits) {
        let mut equal = Vec::with_capacity(values.len().div_ceil(64));
        let mut below = Vec::with_capacity(values.len().div_ceil(64));
        for part in values.chunks(64) {
            let (mut e, mut b) = (0u64, 0u64);
            for (i, v) in part.iter().enumerate() {
                e |= u64::from(*v == number) << i;
                b |= u64::from(*v < number) << i;
            }
            equal.push(e);
            below.push(b);
        }
        let len = values.len();
        (Bits { words: equal, len }, Bits { words: below, len })
    }

    pub fn none(len: usize) -> Bits {
        Bits { words: vec![0; len.div_ceil(64)], len }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    #[inline]
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    #[inline]
    pub fn get(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    #[inline]
    pub fn set(&mut self, i: usize) {
        self.words[i / 64] |= 1 << (i % 64);
    }

    pub fn remove(&mut self, i: usize) {
        self.words[i / 64] &= !(1 << (i % 64));
    }

    pub fn first(&self) -> Option<usize> {
        let at = self.words.iter().position(|w| *w != 0)?;
        Some(at * 64 + self.words[at].trailing_zeros() as usize)
    }

    #[inline]
    fn zip(&self, other: &Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| f(*a, *b)).collect();
        Bits { words, len: self.len }
    }

    #[inline]
    pub fn and(&self, other: &Bits) -> Bits {
        self.zip(other, |a, b| a & b)
    }

    #[inline]
    pub fn or(&self, other: &Bits) -> Bits {
        self.zip(other, |a, b| a | b)
    }

    #[inline]
    pub fn minus(&self, other: &Bits) -> Bits {
        self.zip(other, |a, b| a & !b)
    }

    pub fn complement(&self) -> Bits {
        let mut words: Vec<u64> = self.words.iter().map(|w| !w).collect();
        if let Some(last) = words.last_mut().filter(|_| !self.len.is_multiple_of(64)) {
            *last &= (1 << (self.len % 64)) - 1;
        }
        Bits { words, len: self.len }
    }

    pub fn is_full(&self) -> bool {
        self.count() == self.len
    }

    /// Takes what another set has, too.
    #[inline]
    pub fn include(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    /// Takes out what another set does not have.
    #[inline]
    pub fn keep(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
    }

    #[inline]
    pub fn is_subset(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    #[inline]
    pub fn is_disjoint(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & b == 0)
    }
}
