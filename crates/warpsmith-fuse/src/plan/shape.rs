//! Coordinates of a routine's threads in a kernel whose block has another shape.

/// Where a coordinate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `threadIdx` along the axis.
    Thread,
    /// From the flat index of the thread: `f / divisor % size`, without the remainder for the last one that counts.
    Flat {
        /// What the thread's number is divided by.
        divisor: u32,
        /// And then taken modulo.
        modulo: Option<u32>,
    },
    /// Always 0.
    Zero,
}

/// How a routine with one shape runs in a block of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinates {
    /// For x, y and z.
    pub of: [Source; 3],
    /// Threads that have work, where not all of the block's have: those with a flat index below it.
    pub guard: Option<u32>,
}

impl Coordinates {
    /// Whether the flat index of the thread is needed, given the coordinates that a routine takes.
    pub fn need_flat(&self, taken: &[usize]) -> bool {
        self.guard.is_some()
            || taken.iter().any(|axis| matches!(self.of[*axis], Source::Flat { .. }))
    }
}

/// Coordinates of a routine of shape `own` in a block of shape `kernel`, which has at least as many threads.
///
/// A coordinate is that of the hardware only if its own size and those of all lower dimensions are the same: in a block of
/// 9x32 threads a routine of 3x32 must not take `threadIdx.y`, or the threads 3 to 8 of a row would have no place and the
/// rows after the tenth none at all. The highest dimension that is used may be smaller: the guard leaves out what is beyond.
pub fn coordinates(own: [u32; 3], kernel: [u32; 3]) -> Coordinates {
    let threads = |s: [u32; 3]| s.iter().product::<u32>();
    let highest = (0..3).rev().find(|axis| own[*axis] > 1).unwrap_or(0);
    let lower_agree = |axis: usize| own[..axis] == kernel[..axis];
    let of = [0, 1, 2].map(|axis| {
        let last = axis == highest;
        let same = own[axis] == kernel[axis] || (last && own[axis] <= kernel[axis]);
        if own[axis] == 1 && !(kernel[axis] == 1 && lower_agree(axis)) {
            Source::Zero
        } else if lower_agree(axis) && same {
            Source::Thread
        } else {
            let divisor = own[..axis].iter().product();
            Source::Flat { divisor, modulo: (!last).then_some(own[axis]) }
        }
    });
    let guard = (threads(own) < threads(kernel)).then_some(threads(own));
    Coordinates { of, guard }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The coordinates that the threads of a block get, for those that have work.
    fn mapped(own: [u32; 3], kernel: [u32; 3]) -> Vec<[u32; 3]> {
        let c = coordinates(own, kernel);
        let mut all = vec![];
        for z in 0..kernel[2] {
            for y in 0..kernel[1] {
                for x in 0..kernel[0] {
                    let flat = x + kernel[0] * (y + kernel[1] * z);
                    if c.guard.is_some_and(|g| flat >= g) {
                        continue;
                    }
                    let value = |axis: usize| match c.of[axis] {
                        Source::Thread => [x, y, z][axis],
                        Source::Zero => 0,
                        Source::Flat { divisor, modulo } => {
                            modulo.map_or(flat / divisor, |m| flat / divisor % m)
                        }
                    };
                    all.push([value(0), value(1), value(2)]);
                }
            }
        }
        all
    }

    #[test]
    fn every_thread_of_a_routine_is_there_once_in_flat_order() {
        let shapes = [
            [9, 32, 1],
            [3, 32, 1],
            [3, 96, 1],
            [96, 1, 1],
            [64, 1, 1],
            [5, 8, 2],
            [1, 32, 1],
            [3, 8, 4],
            [1, 1, 32],
        ];
        for kernel in shapes {
            for own in shapes {
                if own.iter().product::<u32>() > kernel.iter().product::<u32>() {
                    continue;
                }
                let threads = mapped(own, kernel);
                let [a, b, _] = own;
                let flat: Vec<u32> = threads.iter().map(|[x, y, z]| x + a * (y + b * z)).collect();
                let expected: Vec<u32> = (0..own.iter().product()).collect();
                assert_eq!(flat, expected, "{own:?} in {kernel:?}");
            }
        }
    }

    #[test]
    fn the_trap_of_9x32_and_3x32() {
        let c = coordinates([3, 32, 1], [9, 32, 1]);
        assert_eq!(
            c.of[1],
            Source::Flat { divisor: 3, modulo: None },
            "the sizes along y agree, those along x do not"
        );
        let distinct: BTreeSet<[u32; 3]> = mapped([3, 32, 1], [9, 32, 1]).into_iter().collect();
        assert_eq!(distinct.len(), 96);
    }

    #[test]
    fn only_what_is_needed_is_recomputed() {
        let same = coordinates([3, 96, 1], [3, 96, 1]);
        assert_eq!((same.of[0], same.of[1], same.guard), (Source::Thread, Source::Thread, None));
        let shorter = coordinates([3, 64, 1], [3, 96, 1]);
        assert_eq!(
            (shorter.of[0], shorter.of[1], shorter.guard),
            (Source::Thread, Source::Thread, Some(192))
        );
        let other = coordinates([96, 1, 1], [3, 96, 1]);
        assert_eq!(other.of[0], Source::Flat { divisor: 1, modulo: None });
    }
}
