//! Where `__syncthreads()` must stand.

use crate::access::TouchId;

/// An access of a step to a shared variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shared {
    pub variable: usize,
    /// First float and length in the buffer.
    pub offset: u32,
    pub length: u32,
    /// `None`: compatible with nothing.
    pub touch: Option<TouchId>,
    pub write: bool,
}

impl Shared {
    /// Whether two accesses need a barrier between them: their allocations overlap, one of them writes, and not every thread
    /// touches the same floats in both.
    fn conflicts(&self, other: &Shared) -> bool {
        let apart =
            self.offset + self.length <= other.offset || other.offset + other.length <= self.offset;
        let compatible =
            self.offset == other.offset && self.touch.is_some() && self.touch == other.touch;
        !apart && (self.write || other.write) && !compatible
    }
}

/// For each step, the earlier step and the variables that make a barrier before it necessary.
///
/// With `repeats` the steps are a loop's body: what the end of one iteration leaves open counts for the next.
pub(super) fn barriers(steps: &[Vec<Shared>], repeats: bool) -> Vec<Option<Cause>> {
    let mut needed: Vec<Option<Cause>> = vec![None; steps.len()];
    let mut open: Vec<(usize, &Shared)> = vec![];
    let rounds = if repeats { 2 } else { 1 };
    for _ in 0..rounds {
        for (s, accesses) in steps.iter().enumerate() {
            let cause = open.iter().find_map(|(from, earlier)| {
                let now = accesses.iter().find(|a| a.conflicts(earlier))?;
                Some(Cause {
                    from: *from,
                    earlier: earlier.variable,
                    now: now.variable,
                    reads: !now.write,
                })
            });
            // A barrier of the first round stands in the second, too: the text is the same.
            if cause.is_some() || needed[s].is_some() {
                open.clear();
            }
            if needed[s].is_none() {
                needed[s] = cause;
            }
            open.extend(accesses.iter().map(|a| (s, a)));
        }
    }
    needed
}

/// Why a barrier stands where it does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cause {
    /// The earlier step.
    pub from: usize,
    /// The variable that it touched, and the one that is touched now.
    pub earlier: usize,
    pub now: usize,
    pub reads: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(variable: usize, offset: u32, touch: u32, write: bool) -> Shared {
        let touch = (touch != 0).then_some(TouchId(touch));
        Shared { variable, offset, length: 10, touch, write }
    }

    fn count(steps: &[Vec<Shared>], repeats: bool) -> Vec<usize> {
        let found = barriers(steps, repeats);
        found.iter().enumerate().filter(|(_, b)| b.is_some()).map(|(i, _)| i).collect()
    }

    #[test]
    fn a_read_after_a_write_by_other_threads_waits() {
        let write = vec![access(0, 0, 1, true)];
        assert_eq!(count(&[write.clone(), vec![access(0, 0, 2, false)]], false), [1]);
        assert_eq!(count(&[write.clone(), vec![access(0, 0, 1, false)]], false), [] as [usize; 0]);
        assert_eq!(count(&[write, vec![access(0, 0, 0, false)]], false), [1]);
    }

    #[test]
    fn a_write_over_what_was_read_waits_whatever_the_variable() {
        let read = vec![access(0, 0, 1, false)];
        assert_eq!(
            count(&[read.clone(), vec![access(1, 5, 1, true)]], false),
            [1],
            "allocations overlap"
        );
        assert_eq!(count(&[read.clone(), vec![access(1, 10, 2, true)]], false), [] as [usize; 0]);
        assert_eq!(count(&[read.clone(), vec![access(1, 0, 1, true)]], false), [] as [usize; 0]);
        assert_eq!(count(&[read.clone(), vec![access(0, 0, 2, false)]], false), [] as [usize; 0]);
    }

    #[test]
    fn after_a_barrier_all_is_clean() {
        let steps = [
            vec![access(0, 0, 1, true), access(1, 10, 1, true)],
            vec![access(0, 0, 2, false)],
            vec![access(1, 10, 2, false)],
        ];
        assert_eq!(count(&steps, false), [1]);
    }

    #[test]
    fn the_back_edge_counts() {
        let steps = [vec![access(0, 0, 1, true)], vec![access(0, 0, 2, false)]];
        assert_eq!(count(&steps, false), [1]);
        assert_eq!(count(&steps, true), [0, 1]);
    }
}
