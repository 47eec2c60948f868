//! Address patterns of loads, worked out once and used while the index does not change.
//!
//! In a loop over a tile the index of a load is the same in every iteration (`threadIdx.x`, a row that
//! the thread owns) and only a scalar moves. A plan remembers the index row of one instruction with its
//! extremes, the shape of each group of eight lanes, and the distinct elements with two threads that
//! read each: so neither bounds nor shadow memory need a look at every lane again.

use std::collections::HashMap;

use super::word_loads::{self, WordLoad};

/// How eight neighbouring lanes read.
pub const SAME: u8 = 0;
pub const ROW: u8 = 1;
pub const GATHER: u8 = 2;

/// An element that the block reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub index: i64,
    /// Two threads that read it, of different warps where there are such; the same one twice where it is alone.
    pub threads: [u32; 2],
}

/// The pattern of one load instruction.
#[derive(Debug, Default)]
pub struct Plan {
    row: Vec<u32>,
    /// Worked out below; a row is worth it when it comes a second time.
    ready: bool,
    low: i64,
    high: i64,
    shapes: Vec<u8>,
    pub elements: Vec<Element>,
}

impl Plan {
    /// Whether the plan is for this index row and worked out. Remembers the row for the next time.
    pub fn fits(&mut self, row: &[u32], signed: bool, scale: i64) -> bool {
        if self.row != row {
            self.row.clear();
            self.row.extend_from_slice(row);
            self.ready = false;
            return false;
        }
        if !self.ready {
            self.prepare(signed, scale);
        }
        true
    }

    fn prepare(&mut self, signed: bool, scale: i64) {
        let wide = |v: u32| if signed { i64::from(v as i32) } else { i64::from(v) };
        let mut seen: HashMap<i64, usize> = HashMap::new();
        self.elements.clear();
        for (thread, v) in self.row.iter().enumerate() {
            let (index, thread) = (wide(*v), thread as u32);
            let at = *seen.entry(index).or_insert_with(|| {
                self.elements.push(Element { index, threads: [thread; 2] });
                self.elements.len() - 1
            });
            let [first, second] = &mut self.elements[at].threads;
            // A second warp says more than a second lane.
            if thread != *first && (*second == *first || *second / 32 == *first / 32) {
                *second = thread;
            }
        }
        self.low = self.elements.iter().map(|e| e.index).min().unwrap_or(0);
        self.high = self.elements.iter().map(|e| e.index).max().unwrap_or(0);
        self.shapes = self.row.chunks(8).map(|part| shape(part, scale)).collect();
        self.ready = true;
    }

    /// All elements lie inside of the object.
    fn inside(&self, l: &WordLoad) -> bool {
        let at = |index: i64| l.offset.wrapping_add(index.wrapping_mul(l.scale));
        let (first, last) = (at(self.low).min(at(self.high)), at(self.low).max(at(self.high)));
        let outside = first < 0 || last < 0 || (last as u64).saturating_add(4) > l.len;
        !outside
    }

    /// All elements lie inside of the object and are defined.
    ///
    /// # Safety
    /// `poison` is valid for `l.len` bytes.
    pub unsafe fn is_defined(&self, l: &WordLoad, poison: *const u8) -> bool {
        self.inside(l)
            && self.elements.iter().all(|e| {
                let at = l.offset.wrapping_add(e.index.wrapping_mul(l.scale));
                // SAFETY: the offset lies between the lowest and the highest.
                unsafe { poison.offset(at as isize).cast::<u32>().read_unaligned() == 0 }
            })
    }

    /// Loads all lanes. False, and nothing done: some element lies outside of the object.
    ///
    /// # Safety
    /// As [`word_loads::load_words`], with `l.index` the row of the plan.
    pub unsafe fn load(&self, l: WordLoad) -> bool {
        if !self.inside(&l) {
            return false;
        }
        // SAFETY: every offset lies in the object; the rest is the caller's promise.
        unsafe { word_loads::move_words(l, &self.shapes) };
        true
    }
}

fn shape(part: &[u32], scale: i64) -> u8 {
    let first = part[0];
    if part.iter().all(|v| *v == first) {
        SAME
    } else if scale == 4 && part.iter().zip(0u32..).all(|(v, k)| *v == first.wrapping_add(k)) {
        ROW
    } else {
        GATHER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_worked_out_when_it_comes_again() {
        let row: Vec<u32> = (0..64).map(|t| t % 16).collect();
        let mut plan = Plan::default();
        assert!(!plan.fits(&row, true, 4));
        assert!(plan.fits(&row, true, 4));
        assert_eq!(plan.elements.len(), 16);
        assert_eq!(plan.elements[3], Element { index: 3, threads: [3, 35] });
        assert_eq!(plan.shapes, [ROW; 8]);
        let other: Vec<u32> = (0..64).map(|t| t / 8).collect();
        assert!(!plan.fits(&other, true, 4) && plan.fits(&other, true, 4));
        assert_eq!(plan.shapes, [SAME; 8]);
        assert_eq!(plan.elements[0].threads, [0, 7]);
    }

    #[test]
    fn elements_outside_are_left_to_a_closer_look() {
        let row: Vec<u32> = (0..32).collect();
        let mut plan = Plan::default();
        plan.fits(&row, true, 4);
        assert!(plan.fits(&row, true, 4));
        let memory = [7u32; 32];
        let mut dst = [0u32; 32];
        let mut load = |len, offset| {
            let l = WordLoad {
                bytes: memory.as_ptr().cast(),
                len,
                offset,
                scale: 4,
                signed: true,
                index: row.as_ptr(),
                dst: dst.as_mut_ptr(),
            };
            // SAFETY: the arrays have 32 elements; offsets beyond `len` are refused.
            unsafe { plan.load(l) }
        };
        assert!(!load(127, 0) && !load(128, -4) && !load(128, 4));
        assert!(load(128, 0));
        assert_eq!(dst, memory);
    }
}
