//! Many iterations of a loop at once.
//!
//! A loop that went round a few times has one of its iterations noted ([`trace`]): the operations that ran, one after the other. A
//! strip is some hundred iterations of which all are supposed to go that way: each operation is done for all of them before
//! the next, but for those that need what the iteration before has made of them – counters, sums, states of random numbers –,
//! which go one iteration after the other, in their order. Nothing is written before it is known how many of the iterations
//! went the noted way: the first that branches off, or that cannot go on, ends the strip, and is run by itself. Where an
//! iteration would read what one before it in the strip has written, nothing of the strip counts.
//!
//! So a strip leaves what as many iterations would have left, bit by bit; but which payload a sum or a product of two NaNs has is the
//! compiler's choice, here and there.

mod access;
mod lanes;
mod trace;

use std::cell::{Cell, RefCell};

use self::trace::Strip;
use super::super::bounds::Track;
use super::super::exec::{Interp, Run};
use super::code::{Code, Op, Pc};
use super::run::{Next, Registers};
use crate::span::Origin;

/// Iterations of a strip, and as few as make one worth it.
const LANES: usize = 256;
const WORTH: usize = 12;
/// Operations of an iteration that is noted.
const LONGEST: usize = 400;
/// Iterations before the first is noted, and between two that led to nothing: twice as many each time, up to the last.
const FIRST_WAIT: u32 = 24;
const LAST_WAIT: u32 = 1 << 14;

/// The beginning of a loop: its iterations until something is tried, and what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Head {
    left: Cell<u32>,
    noted: RefCell<Noted>,
}

/// The operations that ran, and where it ended.
type Iteration = (Vec<Pc>, Pc);

#[derive(Clone, Debug, Default)]
struct Noted {
    strip: Option<Box<Strip>>,
    wait: u32,
}

impl Default for Head {
    fn default() -> Head {
        Head { left: Cell::new(FIRST_WAIT), noted: RefCell::default() }
    }
}

impl Head {
    /// That way led to nothing: another is looked for, later.
    fn gives_up(&self, noted: &mut Noted) {
        noted.strip = None;
        noted.wait = (noted.wait * 2).clamp(FIRST_WAIT, LAST_WAIT);
        self.left.set(noted.wait);
    }
}

#[cfg(test)]
thread_local! {
    /// Iterations of this thread's interpreters that were run in strips.
    pub(super) static DONE: Cell<usize> = const { Cell::new(0) };
}

impl<T: Track> Interp<'_, '_, T> {
    /// Begins one more iteration, after as many strips as go.
    #[inline]
    pub(super) fn again(
        &mut self,
        code: &Code<'_>,
        r: &mut Registers,
        (to, head): (Pc, u32),
        origin: &Origin,
    ) -> Run<Next> {
        let at = &code.heads[head as usize];
        let left = at.left.get();
        if left > 0 {
            at.left.set(left - 1);
            return Ok(Next::At(to));
        }
        self.by_strips(code, r, (to, head), origin)
    }

    fn by_strips(
        &mut self,
        code: &Code<'_>,
        r: &mut Registers,
        (to, head): (Pc, u32),
        origin: &Origin,
    ) -> Run<Next> {
        let at = &code.heads[head as usize];
        let mut noted = at.noted.borrow_mut();
        if noted.strip.is_none() {
            let (next, ops) = self.note(code, r, (to, head), origin)?;
            noted.strip = ops.and_then(|ops| trace::strip(code, &ops.0, ops.1)).map(Box::new);
            if noted.strip.is_none() {
                at.gives_up(&mut noted);
                return Ok(next);
            }
        }
        let Some(strip) = &noted.strip else { return Ok(Next::At(to)) };
        match self.strips(strip, r, origin)? {
            done if done < WORTH => at.gives_up(&mut noted),
            _ => noted.wait = 0,
        }
        Ok(Next::At(to))
    }

    /// Runs one iteration and notes its operations and where it ends; `None`: it is no such one.
    fn note(
        &mut self,
        code: &Code<'_>,
        r: &mut Registers,
        (to, head): (Pc, u32),
        origin: &Origin,
    ) -> Run<(Next, Option<Iteration>)> {
        let (mut pc, mut ops) = (to, vec![]);
        while ops.len() < LONGEST {
            let op = &code.ops[pc as usize];
            if matches!(op, Op::Again { head: h, .. } if *h == head) {
                return Ok((Next::At(to), Some((ops, pc))));
            }
            ops.push(pc);
            match self.step(code, r, (pc, op), origin)? {
                Next::At(next) => pc = next,
                stops => return Ok((stops, None)),
            }
        }
        Ok((Next::At(pc), None))
    }

    /// Runs strips until one ends before its last iteration; how many iterations that were.
    fn strips(&mut self, strip: &Strip, r: &mut Registers, origin: &Origin) -> Run<usize> {
        if !strip.needs.iter().all(|reg| r.known[*reg as usize]) {
            return Ok(0);
        }
        let mut lanes = std::mem::take(&mut r.lanes);
        if lanes.len() < strip.values {
            lanes.resize_with(strip.values, || vec![0; LANES]);
        }
        let (mut all, mut result) = (0, Ok(()));
        if self.uniform(strip, r, &mut lanes) {
            while result.is_ok() && self.has_room(strip.steps * LANES as u64) {
                let done = self.one_strip(strip, r, &mut lanes);
                all += done;
                result = self.ticks(strip.steps * done as u64, origin);
                if done < LANES {
                    break;
                }
            }
        }
        r.lanes = lanes;
        #[cfg(test)]
        DONE.with(|done| done.set(done.get() + all));
        result.map(|()| all)
    }

    /// Whether so many steps end nothing.
    fn has_room(&self, steps: u64) -> bool {
        let end =
            self.patient_until.map_or(self.limits.max_steps, |p| p.min(self.limits.max_steps));
        self.steps.saturating_add(steps) <= end
    }

    /// Runs one strip; how many iterations of it count.
    fn one_strip(&mut self, strip: &Strip, r: &mut Registers, lanes: &mut [Vec<u64>]) -> usize {
        let Some(first) = self.first_values(strip, r, lanes) else { return 0 };
        let mut ways = vec![];
        let mut n = LANES;
        for unit in &strip.units {
            n = match unit {
                trace::Unit::Each(op) => self.each(strip, *op, (r, lanes, &mut ways), n),
                trace::Unit::Cycle(cycle) => lanes::cycle(strip, cycle, &first, lanes, n),
            };
            if n == 0 {
                return 0;
            }
        }
        if !self.spots_apart(strip, r, lanes, &mut ways) || !access::apart(&ways, lanes, n) {
            return 0;
        }
        self.leave(strip, r, lanes, &ways, n);
        for (reg, value) in &strip.written {
            r.bits[*reg as usize] = lanes[*value as usize][n - 1];
        }
        for (reg, known) in &strip.known {
            r.known[*reg as usize] = *known;
        }
        n
    }
}
