//! Elements that an earlier iteration put there: planes that a loop keeps in turn, `tile[k % 3][…]`.
//!
//! In an iteration before, all is as in this one but the number of the iteration; so only what is made of that, of threads and of sizes is
//! looked at. Nothing may put another element there in between, in whichever iteration.

use super::super::formula::{Sum, Truth};
use super::super::poly::Poly;
use super::super::tree::Tree;
use super::super::walk::{Event, What};
use super::{AXES, Assumed, Claims, Said, Store, Wanted, is_of_launch};

/// Iterations that are gone back, at most: five planes in turn.
const MAX_BACK: i64 = 4;

impl<'a> Claims<'a> {
    /// What all has to be so when a read finds nothing or something else: this iteration's stores leave it bad, `now`, and so do those of
    /// earlier ones, each time as many iterations ago.
    pub(super) fn with_earlier(&mut self, wanted: &Wanted, now: Truth) -> Vec<Truth> {
        let Some((turn, here)) = self.in_turn(wanted) else { return vec![now] };
        let mut ways = vec![(now.negated(), now)];
        for back in (1..=MAX_BACK).map(|n| (turn, n)) {
            let there = Truth::any(here.iter().map(|s| self.put_there(s, wanted, back)));
            let since = Truth::any(here.iter().map(|s| self.put_since(s, wanted, back)));
            ways.push((there.clone(), there.negated().or(&since)));
        }
        // What never serves it makes the question longer only.
        ways.retain(|(there, _)| !self.is_impossible(&[wanted.when.clone(), there.clone()]));
        ways.into_iter().map(|(_, bad)| bad).collect()
    }

    /// The loop whose iterations put elements to other places each time that a read finds, and its stores.
    fn in_turn(&self, wanted: &Wanted) -> Option<(usize, Vec<Store<'a>>)> {
        let reader = &self.walked.events[wanted.event];
        let turn = reader.loops.last().copied()?;
        let counter = &self.walked.loops[turn].counter;
        if !self.is_counted(turn) {
            return None;
        }
        let mut changes = false;
        wanted.place.sum().names(&mut |n| changes |= n == counter);
        let stores = self.stores(&wanted.array);
        let (here, others): (Vec<_>, Vec<_>) =
            stores.into_iter().partition(|s| s.event.loops == reader.loops);
        // Those before the loop are over; others may come in between.
        let is_over = |s: &Store<'_>| {
            s.at < self.walked.loops[turn].first && here.iter().all(|h| self.ordered(s.at, h.at))
        };
        let fine = changes && !here.is_empty() && others.iter().all(is_over);
        fine.then_some((turn, here))
    }

    /// Whether conditions cannot hold together in launches that keep to all that may be assumed.
    pub(super) fn is_impossible(&mut self, conditions: &[Truth]) -> bool {
        let all = Assumed { sizes: true, covers: !self.covers.is_empty() };
        let mut asked = conditions.to_vec();
        asked.extend(self.facts(conditions, &all));
        matches!(self.solver.ask(&asked), Said::Impossible)
    }

    /// That a certain thread put the element there so many iterations ago.
    fn put_there(&self, s: &Store<'_>, wanted: &Wanted, (turn, back): (usize, i64)) -> Truth {
        if !self.wraps(s.at, wanted.event, turn) || !self.is_alike(s.event, s.place, s.value) {
            return Truth::Never;
        }
        let counter = &self.walked.loops[turn].counter;
        let earlier = Sum::name(counter).plus(&Sum::number(back), -1);
        let place = s.place.renamed(&|name| (name == counter).then(|| earlier.clone()));
        let wanted_place = wanted.place.sum();
        let then = Store {
            at: s.at,
            event: s.event,
            array: s.array,
            place: &place,
            value: s.value,
            extra: s.extra,
        };
        let one = |thread: [Sum; 3]| {
            let rename = |name: &str| match AXES.iter().position(|a| *a == name) {
                Some(axis) => Some(thread[axis].clone()),
                None => (name == counter).then(|| earlier.clone()),
            };
            let mut parts = self.in_block(&thread);
            parts.push(Truth::at_most(&Sum::default(), &earlier));
            parts.push(s.event.when.renamed(&rename));
            parts.push(Truth::equal(&s.place.renamed(&rename).sum(), &wanted_place));
            parts.push(self.is_earlier_value(s, &rename, &wanted.value, (wanted.event, turn)));
            Truth::all(parts)
        };
        Truth::any(self.guesses(&then, &wanted_place).into_iter().map(one))
    }

    /// That some thread put something else there since, in that iteration, in this one before the read, or in between.
    fn put_since(&self, s: &Store<'_>, wanted: &Wanted, (turn, back): (usize, i64)) -> Truth {
        let counter = &self.walked.loops[turn].counter;
        let moment = Sum::name(&format!("p{back}_m"));
        let rename = self.another_in(turn, &moment, format!("p{back}_"));
        let now = Sum::name(counter);
        let over = s.at > wanted.event && self.ordered(wanted.event, s.at);
        let last = if over { now.plus(&Sum::number(1), -1) } else { now.clone() };
        let fine = self.is_earlier_value(s, &rename, &wanted.value, (wanted.event, turn));
        Truth::all([
            Truth::at_most(&now.plus(&Sum::number(back), -1), &moment),
            Truth::at_most(&Sum::default(), &moment),
            Truth::at_most(&moment, &last),
            s.event.when.renamed(&rename),
            Truth::equal(&s.place.renamed(&rename).sum(), &wanted.place.sum()),
            // What this iteration stores is not there yet for the read of the unmodified kernel.
            fine.negated().or(&Truth::equal(&moment, &now)),
        ])
    }

    /// Whether what a store puts there in an earlier iteration is what is wanted.
    fn is_earlier_value(
        &self,
        s: &Store<'_>,
        rename: &dyn Fn(&str) -> Option<Sum>,
        value: &Tree,
        (read, turn): (usize, usize),
    ) -> Truth {
        let loops = &self.walked.events[read].loops;
        let alike = |e: &Event| match &e.what {
            What::Result { at, value, .. } => self.is_alike(e, at, value),
            _ => false,
        };
        self.is_value_of(s, rename, value, &|i, e| {
            e.loops == *loops && self.wraps(i, read, turn) && alike(e)
        })
    }

    /// Whether all that an event depends on is the same in all iterations, or follows from the number of the iteration and the thread.
    fn is_alike(&self, event: &Event, place: &Poly, value: &Tree) -> bool {
        let turn = event.loops.last().copied().unwrap_or_default();
        let mut alike = true;
        let mut see = |name: &str| {
            let known = AXES.contains(&name) || name == self.walked.loops[turn].counter;
            alike &= known || self.is_fixed(name, turn);
        };
        event.when.names(&mut see);
        place.sum().names(&mut see);
        value.names(&mut see);
        alike
    }

    /// Whether iterations of a loop have numbers, one after the other.
    pub(super) fn is_counted(&self, turn: usize) -> bool {
        self.walked.loops[turn].counter.starts_with("u_n")
    }

    /// That another thread stores to the place already in the next iteration.
    pub(super) fn meets_next(&self, s: &Store<'_>, wanted: &Wanted, turn: usize) -> Truth {
        let counter = &self.walked.loops[turn].counter;
        let next = Sum::name(counter).plus(&Sum::number(1), 1);
        let rename = self.another_in(turn, &next, "pn_".into());
        let another = AXES.map(|a| Sum::name(a).renamed(&rename));
        Truth::all([
            s.event.when.renamed(&rename),
            Truth::equal(&s.place.renamed(&rename).sum(), &wanted.place.sum()),
            self.same(&another).negated(),
        ])
    }

    /// Any thread's names in the iteration `moment` of a loop: its own begin with `prefix`.
    fn another_in(
        &self,
        turn: usize,
        moment: &Sum,
        prefix: String,
    ) -> impl Fn(&str) -> Option<Sum> + use<'_, 'a> {
        let moment = moment.clone();
        move |name: &str| match AXES.contains(&name) {
            true => Some(Sum::name(&format!("{prefix}{}", &name[2..]))),
            false if name == self.walked.loops[turn].counter => Some(moment.clone()),
            false if self.is_fixed(name, turn) => None,
            false => Some(Sum::name(&format!("{prefix}{}", name.replace('_', "")))),
        }
    }

    /// Whether a name stands for one value while a loop goes on: blocks, parameters, and iterations of loops around.
    fn is_fixed(&self, name: &str, turn: usize) -> bool {
        let around = self.walked.loops[..turn].iter();
        let mut around = around.filter(|l| l.end >= self.walked.loops[turn].end);
        is_of_launch(name) || around.any(|l| l.counter == name)
    }
}
