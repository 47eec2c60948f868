//! How far asynchronous copies run ahead of what uses them.

/// Waits for copies, and how many others lie between a copy's start and its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// Copies were started since the innermost loop's iteration began.
    committed: bool,
    /// Whether there is a loop around.
    looping: bool,
    waits: f64,
    sum: f64,
}

impl Ahead {
    /// A loop that remains a loop is entered.
    pub fn iteration(&mut self) {
        (self.committed, self.looping) = (false, true);
    }

    pub fn commit(&mut self) {
        self.committed = true;
    }

    /// A wait until so many groups of copies are pending, made so many times. In a loop that starts its copies after it,
    /// the iteration's own have one wait more before theirs.
    pub fn wait(&mut self, pending: u32, times: f64) {
        let later = self.looping && !self.committed;
        self.waits += times;
        self.sum += times * (f64::from(pending) + if later { 1.0 } else { 0.0 });
    }

    /// Waits between a copy's start and its own, on average.
    pub fn mean(&self) -> f64 {
        if self.waits > 0.0 { self.sum / self.waits } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_started_after_the_wait_have_an_iteration() {
        let mut two_strips = Ahead::default();
        two_strips.commit();
        two_strips.iteration();
        two_strips.wait(0, 8.0);
        two_strips.commit();
        assert_eq!(two_strips.mean(), 1.0);
        let mut at_once = Ahead::default();
        at_once.iteration();
        at_once.commit();
        at_once.wait(0, 8.0);
        assert_eq!(at_once.mean(), 0.0);
        assert_eq!(Ahead::default().mean(), 0.0);
    }
}
