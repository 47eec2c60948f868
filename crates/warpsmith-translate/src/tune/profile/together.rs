//! Global loads that a thread has under way at the same time.
//!
//! A thread has used what one loop loads before it begins the next: of a kernel of several loops, the loads of one are not under way
//! beside those of another.

use std::collections::BTreeMap;

/// Loads by the number of the innermost loop around them that remains a loop; those outside of all loops.
#[derive(Debug, Default)]
pub struct Together(BTreeMap<Option<usize>, Loads>);

/// Of one loop.
#[derive(Clone, Copy, Debug, Default)]
struct Loads {
    /// Warp instructions of the block.
    requests: f64,
    /// Of one iteration.
    together: f64,
}

impl Together {
    /// Adds an access of a loop: its requests in all, and its loads of one iteration.
    pub fn add(&mut self, of: Option<usize>, requests: f64, together: f64) {
        let loads = self.0.entry(of).or_default();
        loads.requests += requests;
        loads.together += together;
    }

    /// Loads of one iteration of each loop.
    pub fn all(&self) -> f64 {
        self.0.values().map(|l| l.together).sum()
    }

    /// Loads under way, on average over the waits of all loops; of a loop no more than so many.
    pub fn mean(&self, most: f64) -> f64 {
        let waits = |l: &Loads| l.requests / l.together.clamp(1.0, most);
        let requests: f64 = self.0.values().map(|l| l.requests).sum();
        let waits: f64 = self.0.values().map(waits).sum();
        if waits > 0.0 { requests / waits } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::profile::arrays::tests::{GRADIENT, VARIANCE};
    use crate::tune::profile::rows::tests::launched;

    #[test]
    fn loads_of_two_loops_are_waited_for_one_loop_after_the_other() {
        let mut loads = Together::default();
        assert_eq!(loads.mean(14.0), 1.0, "none");
        loads.add(Some(0), 100.0, 4.0);
        loads.add(Some(0), 100.0, 4.0);
        assert_eq!(loads.mean(14.0), 8.0);
        assert_eq!(loads.mean(5.0), 5.0, "a thread has no more under way");
        loads.add(Some(1), 200.0, 8.0);
        assert_eq!(loads.mean(14.0), 8.0, "a second pass of the same kind");
        loads.add(Some(2), 200.0, 1.0);
        assert_eq!(
            (loads.mean(14.0), loads.all()),
            (600.0 / 250.0, 17.0),
            "and a third one, load by load"
        );
    }

    /// The second pass begins when the first has ended: loads of both are not under way together.
    #[test]
    fn loads_are_under_way_beside_those_of_their_own_loop() {
        let steps = "bind i -> y block 1x1\nshare j, j#2 -> x by 128\n";
        let of = |source, steps: &str| launched(source, steps, [("n", 1024), ("m", 4096)]).profile;
        assert_eq!(of(VARIANCE, steps).parallelism.global_loads, 1.0);
        assert_eq!(of(GRADIENT, steps).parallelism.global_loads, 3.0);
        // Rows side by side, each guarded: what one of them loads waits for the guard of the next.
        let rows = of(GRADIENT, &format!("{steps}register_tile i by 4\n"));
        assert_eq!(rows.parallelism.global_loads, 3.0);
    }
}
