//! Copies to a halo: which threads have a wrong value where they read, and how that is said.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::bits::Bits;
use super::condition::{Condition, Conditions};
use super::positions::spread;
use super::spots::{Profiled, Spot, Spots};
use super::table::Table;
use crate::plan::Point;
use crate::profile::rows::{Offer, Row};
use crate::source::forks::Forks;

/// A copy at a place for copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Number of the marked read whose expressions are copied, or of an iteration of one.
    pub mark: usize,
    /// Number of the place among the marks of a profile.
    pub place: usize,
    /// `None`: every thread copies.
    pub condition: Option<Condition>,
    /// Only threads that come to the read do.
    pub guarded: bool,
}

/// Why copies cannot make a read right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A read comes after no place for copies; its row.
    NoPlace(usize, usize),
    /// Two elements are needed in one place; the rows of both reads.
    Taken((usize, usize), (usize, usize)),
    /// No condition tells the threads apart that have to copy; the mark, and one row of each side at the place.
    NoCondition(usize, usize, usize),
}

/// What copies have put where: the element, and the row that needed it.
type Known = Vec<Option<(i64, (usize, usize))>>;

/// A mark with the rows that are wrong yet, and how many threads have some.
struct Wrong {
    mark: usize,
    threads: usize,
    rows: Vec<usize>,
}

/// Rows of each side that a condition is looked for on at first, and of those that it is wrong on.
const MAX_ROWS: usize = 200;
const MAX_FAILING: usize = 96;

/// Comparisons of a condition that another one is looked for in the place of.
const LONG: usize = 3;

/// What the copies are chosen from.
pub struct Problem<'a> {
    /// Rows of all marks, then of all places, then of iterations.
    pub profile: &'a [Vec<Row>],
    /// Marks with a given place, and the arrays that these are in.
    pub marks: Vec<(usize, usize)>,
    /// What is in scope at a place.
    pub point: &'a dyn Fn(usize) -> &'a Point,
    /// Threads in a block of a launch.
    pub threads: &'a dyn Fn(usize) -> u32,
    /// The first of the launches that differ from one in data alone.
    pub alike: &'a [usize],
    /// What data decide before marked reads.
    pub forks: &'a Forks,
    /// The mark that an iteration is of.
    pub origin: &'a dyn Fn(usize) -> usize,
    /// Which marks have their copies first: the lowest.
    pub rank: &'a dyn Fn(usize) -> usize,
    /// Numbers for positions and threads, once they were asked for.
    pub spots: OnceCell<Spots>,
    /// Launches in which a place that nobody reads was one that several threads wrote to.
    pub strict: &'a BTreeSet<usize>,
    /// Marks whose copies are made by threads that read what they copy.
    pub guarded: BTreeSet<usize>,
    /// All threads that read an element copy it where nothing tells those apart that have to.
    pub all_readers: bool,
    /// A copy for an iteration is made by all threads that bring something missing by it; else some of these may.
    pub serve_all: bool,
}

impl Problem<'_> {
    /// Positions in shared memory and threads by number.
    fn spots(&self) -> &Spots {
        self.spots.get_or_init(|| {
            Spots::new(&Profiled {
                profile: self.profile,
                marks: &self.marks,
                threads: self.threads,
                alike: self.alike,
            })
        })
    }

    /// Chooses copies for all marks: those that fewest threads need first, so that what others copy is not copied again. Where
    /// what is left for a mark then cannot be said, it is left to those who read it, and then comes before others.
    ///
    /// # Errors
    /// [`Trouble`].
    pub fn solve(&mut self) -> Result<Vec<Copy>, Trouble> {
        let guarded = self.guarded.clone();
        let found = self.served_so();
        if self.marks.iter().all(|m| (self.rank)(m.0) == 0) {
            return found;
        }
        let those = std::mem::replace(&mut self.guarded, guarded);
        self.serve_all = false;
        let other = self.served_so();
        let length = |c: &Copy| c.condition.as_ref().map_or(0, Condition::comparisons);
        let cost = |all: &Vec<Copy>| (all.len(), all.iter().map(length).sum::<usize>());
        match (found, other) {
            (Ok(a), Ok(b)) if cost(&b) < cost(&a) => Ok(b),
            (Err(_), Ok(b)) => Ok(b),
            (found, _) => {
                self.guarded = those;
                found
            }
        }
    }

    fn served_so(&mut self) -> Result<Vec<Copy>, Trouble> {
        let mut first: Vec<usize> = vec![];
        loop {
            match self.in_order(&first) {
                Err(Trouble::NoCondition(mark, ..)) if self.guarded.insert(mark) => {}
                Err(Trouble::NoCondition(mark, ..)) if !first.contains(&mark) => first.push(mark),
                result => return result,
            }
        }
    }

    /// The marks of copies that some thread must not make.
    pub fn wrongly_made(&self, copies: &[Copy]) -> Vec<usize> {
        let is_marked = |mark: usize| self.marks.iter().any(|(m, _)| *m == mark);
        let wrong = |c: &&Copy| {
            let harm = is_marked(c.mark).then(|| self.harmful(c.mark, c.place)).flatten();
            let made =
                |r: &Row| c.condition.as_ref().is_none_or(|c| c.holds(&r.values) == Some(true));
            let rows = self.profile[c.place].iter().enumerate();
            !c.guarded
                && harm.is_some_and(|harm| rows.into_iter().any(|(i, r)| harm.get(i) && made(r)))
        };
        copies.iter().filter(wrong).map(|c| c.mark).collect()
    }

    /// Chooses copies, for some marks before all others.
    fn in_order(&self, first: &[usize]) -> Result<Vec<Copy>, Trouble> {
        let mut copied: Known = vec![None; self.spots().needed.len()];
        let all = |(mark, _): &(usize, usize)| (*mark, (0..self.profile[*mark].len()).collect());
        let mut left: Vec<(usize, Vec<usize>)> = self.marks.iter().map(all).collect();
        let mut copies = vec![];
        while !left.is_empty() {
            let mut wrong: Vec<Wrong> = vec![];
            for (mark, rows) in &left {
                let rows = self.wrong(*mark, rows, &copied)?;
                let threads = self.spots().threads(*mark, &rows);
                // What is right stays so, or is found to be disturbed in the end.
                if threads > 0 {
                    wrong.push(Wrong { mark: *mark, threads, rows });
                }
            }
            left = wrong.iter().map(|w| (w.mark, w.rows.clone())).collect();
            let missing = self.missing(&wrong);
            let rank = |w: &Wrong| {
                let before = first.iter().position(|m| *m == w.mark).unwrap_or(first.len());
                (before, (self.rank)(w.mark))
            };
            let Some(lowest) = wrong.iter().map(rank).min() else { break };
            wrong.retain(|w| rank(w) == lowest);
            let most = |w: &Wrong| match lowest.1 {
                0 => w.threads,
                // Of iterations the one whose copy serves most of them.
                _ => usize::MAX - self.served(w, &missing),
            };
            let Some(Wrong { mark, rows, .. }) = wrong.into_iter().min_by_key(most) else { break };
            left.retain(|(m, _)| *m != mark);
            for copy in self.copy(mark, &rows, &missing)? {
                self.offered(mark, &copy, rows[0], &mut copied);
                copies.push(copy);
            }
            for row in rows {
                let r = &self.profile[mark][row];
                if let (Some(spot), Some(given)) = (self.spots().read(mark, row), &r.given) {
                    let known = copied[spot].replace((given.element, (mark, row)));
                    if let Some((element, who)) = known
                        && element != given.element
                    {
                        return Err(Trouble::Taken(who, (mark, row)));
                    }
                }
            }
        }
        self.disturbed(&copied)?;
        Ok(copies)
    }

    /// Positions that hold a wrong value for some read in a loop; none where there is none.
    fn missing(&self, wrong: &[Wrong]) -> Vec<bool> {
        let mut missing = vec![];
        for w in wrong.iter().filter(|w| (self.rank)(w.mark) > 0 && !w.rows.is_empty()) {
            missing.resize(self.spots().needed.len(), false);
            let spots = w.rows.iter().filter_map(|r| self.spots().read(w.mark, *r));
            spots.for_each(|s| missing[s] = true);
        }
        missing
    }

    /// How many threads bring what is missing by the copy for an iteration.
    fn served(&self, wrong: &Wrong, missing: &[bool]) -> usize {
        let first = wrong.rows.first().and_then(|r| self.profile[wrong.mark][*r].insert);
        first.map_or(0, |(place, _)| self.serving(wrong.mark, place, missing).count())
    }

    /// Rows of a place whose threads bring what is missing, whoever of the block reads it in a loop.
    fn serving(&self, mark: usize, place: usize, missing: &[bool]) -> Bits {
        self.offering(mark, place, |o, spot| {
            spot.is_some_and(|s| missing[s] && Some(self.spots().needed[s]) == o.element)
        })
    }

    /// Rows of a place for which something holds of what they offer for a mark.
    fn offering(
        &self,
        mark: usize,
        place: usize,
        holds: impl Fn(&Offer, Option<Spot>) -> bool,
    ) -> Bits {
        let rows = &self.profile[place];
        let mut all = Bits::none(rows.len());
        let offers = self.spots().offers((mark, place), rows).into_iter().flatten();
        offers.enumerate().filter(|(_, (o, s))| holds(o, *s)).for_each(|(i, _)| all.set(i));
        all
    }

    /// Of some rows of a mark, those that read a wrong value after what is copied so far.
    fn wrong(&self, mark: usize, rows: &[usize], copied: &Known) -> Result<Vec<usize>, Trouble> {
        let mut all = vec![];
        for i in rows.iter().copied() {
            let r = &self.profile[mark][i];
            let Some(given) = &r.given else { continue };
            let spot = self.spots().read(mark, i);
            let right = match spot.and_then(|s| copied[s]) {
                Some((element, _)) => element == given.element,
                None => given.right,
            };
            if right {
                continue;
            }
            if spot.is_none() {
                return Err(Trouble::NoPlace(mark, i));
            }
            all.push(i);
        }
        Ok(all)
    }

    /// No copy may put an element where another read has its own.
    fn disturbed(&self, copied: &Known) -> Result<(), Trouble> {
        for (mark, _) in &self.marks {
            for (i, r) in self.profile[*mark].iter().enumerate() {
                let (Some(spot), Some(given)) = (self.spots().read(*mark, i), &r.given) else {
                    continue;
                };
                if let Some((element, who)) = copied[spot]
                    && element != given.element
                {
                    return Err(Trouble::Taken(who, (*mark, i)));
                }
            }
        }
        Ok(())
    }

    /// What a copy does beside the reads that are wrong without it.
    fn offered(&self, mark: usize, copy: &Copy, first: usize, copied: &mut Known) {
        let readers = copy.guarded.then(|| self.readers(mark, copy.place, false));
        let rows = &self.profile[copy.place];
        let Some(offers) = self.spots().offers((mark, copy.place), rows) else { return };
        for (i, (offer, spot)) in offers.enumerate() {
            let (Some(spot), Some(element)) = (spot, offer.element) else { continue };
            let made = |c: &Condition| c.holds(&rows[i].values) == Some(true);
            if copied[spot].is_none()
                && copy.condition.as_ref().is_none_or(made)
                && readers.as_ref().is_none_or(|readers| readers.get(i))
            {
                copied[spot] = Some((element, (mark, first)));
            }
        }
    }

    /// Rows of a place whose threads come to a read after it; `unaided`: only those that read what is there without any copy.
    fn readers(&self, mark: usize, place: usize, unaided: bool) -> Bits {
        let mut reads = Bits::none(self.profile[place].len());
        let right = |r: &&Row| r.given.as_ref().is_some_and(|g| g.right) || !unaided;
        let of_mark = self.profile[mark].iter().filter(right).filter_map(|r| r.insert);
        of_mark.filter(|i| i.0 == place).for_each(|i| reads.set(i.1));
        reads
    }

    /// Rows of a place whose threads must not make a copy: those for which the element does not exist, or whose place is one
    /// that another element is needed in, or, in some launches, none. `None`: it is not known.
    fn harmful(&self, mark: usize, place: usize) -> Option<Bits> {
        let rows = &self.profile[place];
        let offers = self.spots().offers((mark, place), rows)?;
        let missing = self.never((mark, place), |o, _| o.element.is_some());
        let mut all = Bits::none(rows.len());
        for (i, (offer, spot)) in offers.enumerate() {
            let harms = match spot {
                Some(spot) => Some(self.spots().needed[spot]) != offer.element,
                None => missing.get(i) || self.strict.contains(&rows[i].launch),
            };
            if harms {
                all.set(i);
            }
        }
        Some(all)
    }

    /// Rows of a place for which nothing holds of what they offer for a mark, whatever data say.
    fn never(
        &self,
        (mark, place): (usize, usize),
        holds: impl Fn(&Offer, Option<Spot>) -> bool,
    ) -> Bits {
        self.spots().ever(place, &self.offering(mark, place, holds)).complement()
    }

    /// Rows of a place whose threads bring nothing that is needed: what they would read may exist by accident.
    fn idle(&self, mark: usize, place: usize) -> Bits {
        let needed = &self.spots().needed;
        self.never((mark, place), |o, spot| {
            o.element.is_some() && spot.map(|s| needed[s]) == o.element
        })
    }

    /// Whether data decide on these rows of a place: a thread has one in some run of a launch, and not in another.
    fn data_decide(&self, place: usize, rows: &Bits) -> bool {
        self.spots().ever(place, rows) != *rows
    }

    /// Whether a copy by some rows of a place would put something where another element is read.
    fn clashes(&self, mark: usize, place: usize, rows: &Bits) -> bool {
        let needed = &self.spots().needed;
        let clashing = self.offering(mark, place, |o, spot| {
            o.element.is_none() || spot.is_some_and(|s| Some(needed[s]) != o.element)
        });
        !clashing.is_disjoint(rows)
    }

    fn copy(&self, mark: usize, wrong: &[usize], missing: &[bool]) -> Result<Vec<Copy>, Trouble> {
        let inserts: Vec<(usize, usize)> =
            wrong.iter().filter_map(|r| self.profile[mark][*r].insert).collect();
        let place = inserts.first().map_or(0, |i| i.0);
        let rows = &self.profile[place];
        let mut yes = Bits::none(rows.len());
        inserts.iter().filter(|i| i.0 == place).for_each(|i| yes.set(i.1));
        let origin = (self.origin)(mark);
        let known = self.forks.decide(origin);
        let mut decided = known || self.data_decide(place, &yes);
        if self.guarded.contains(&mark) && !decided {
            return self.by_readers(mark, place, &yes);
        }
        // Threads that some data send to the read copy whatever they are, where it is known which threads may be.
        if known && self.forks.sends_all(origin) {
            let all = self.spots().ever(place, &yes);
            if !self.clashes(mark, place, &all) {
                (yes, decided) = (all, false);
            }
        }
        let mut no = yes.complement();
        if !decided && !missing.is_empty() {
            let serving = self.serving(mark, place, missing);
            no = no.minus(&serving);
            if self.serve_all && yes.is_subset(&serving) {
                yes = serving;
            }
        }
        let copy = |condition| Copy { mark, place, condition, guarded: false };
        match self.said(mark, place, (&yes, &no), decided) {
            Some(condition) => Ok(vec![copy(condition)]),
            None => Err(unsaid(mark, &yes, &yes.complement())),
        }
    }

    /// What a copy for some rows of a place and not for others is under: nothing, or the condition that tells these apart, unless it
    /// is far-fetched or long, and one that holds for more rows than it should without harm is not.
    #[expect(clippy::option_option, reason = "no condition is one of the answers")]
    fn said(
        &self,
        mark: usize,
        place: usize,
        (yes, no): (&Bits, &Bits),
        decided: bool,
    ) -> Option<Option<Condition>> {
        if no.is_empty() {
            return Some(None);
        }
        let exact = if decided { None } else { self.condition(place, yes, no) };
        let far_fetched = |c: &Condition| c.is_far_fetched(&(self.point)(place).symbols);
        let bad = |c: &Condition| if far_fetched(c) { usize::MAX } else { c.comparisons() };
        let long = if self.serve_all { LONG } else { 2 };
        if let Some(exact) = exact.as_ref().filter(|c| bad(c) < long) {
            return Some(Some(exact.clone()));
        }
        // Threads that do not read may copy, if there is no other way to say it: what exists, to where nobody needs another.
        // Threads that read what other copies bring do so before those that read what is there without any.
        let right = self.readers(mark, place, false).minus(yes);
        let unaided = self.readers(mark, place, true).minus(yes);
        let harm = self.harmful(mark, place).map_or(right.clone(), |h| h.minus(yes));
        let none = Bits::none(yes.len());
        let mut against = vec![&harm];
        // Where data decide who reads, those that nothing made read yet may do so with others.
        let idle = harm.or(&self.idle(mark, place).minus(yes));
        if !decided {
            against.insert(0, &idle);
        }
        // For a shorter condition nobody reads again what is there.
        let fetched = exact.as_ref().is_none_or(far_fetched);
        let read = [&right, &unaided, &none].into_iter().take(if fetched { 3 } else { 1 });
        for away in read.flat_map(|read| against.iter().map(move |a| a.or(read))) {
            // Where nobody does harm no condition is needed.
            if away.is_empty() && exact.as_ref().is_none_or(|c| bad(c) >= LONG) {
                return Some(None);
            }
            let found = self.condition(place, yes, &away);
            if let Some(found) =
                found.filter(|c| exact.as_ref().is_none_or(|exact| bad(c) < bad(exact)))
            {
                return Some(Some(found));
            }
        }
        exact.map(Some)
    }

    /// The copy by those who read the element themselves and find another one: what others may do is not asked.
    fn by_readers(&self, mark: usize, place: usize, yes: &Bits) -> Result<Vec<Copy>, Trouble> {
        let no = self.readers(mark, place, false).minus(yes);
        let copy = |condition| Copy { mark, place, condition, guarded: true };
        if no.is_empty() {
            return Ok(vec![copy(None)]);
        }
        let one = self.condition(place, yes, &no);
        let symbols = &(self.point)(place).symbols;
        let meant = one.clone().filter(|c| !c.is_far_fetched(symbols)).map(|c| vec![c]);
        let pieces = || self.looked_for(place, yes, &no, |c, yes, no| c.pieces(yes, no));
        let found = meant.or_else(pieces).or(one.map(|c| vec![c]));
        match found {
            Some(found) => Ok(found.into_iter().map(|c| copy(Some(c))).collect()),
            // What is right already is written once more: the same value.
            None if self.all_readers => Ok(vec![copy(None)]),
            None => Err(unsaid(mark, yes, &no)),
        }
    }

    fn condition(&self, place: usize, yes: &Bits, no: &Bits) -> Option<Condition> {
        let one = |c: &mut Conditions<'_>, yes: &Bits, no: &Bits| Some(vec![c.find(yes, no)?]);
        self.looked_for(place, yes, no, one)?.pop()
    }

    /// Conditions that hold on some rows of a place and not on others, looked for on few rows, and on those that they were wrong on.
    fn looked_for(
        &self,
        place: usize,
        yes: &Bits,
        no: &Bits,
        find: fn(&mut Conditions<'_>, &Bits, &Bits) -> Option<Vec<Condition>>,
    ) -> Option<Vec<Condition>> {
        let rows = &self.profile[place];
        let all = |bits: &Bits| (0..rows.len()).filter(|i| bits.get(*i)).collect::<Vec<usize>>();
        let some = |all: Vec<usize>, most| spread(all.len(), most).into_iter().map(move |i| all[i]);
        let mut chosen: Vec<usize> =
            some(all(yes), MAX_ROWS).chain(some(all(no), MAX_ROWS)).collect();
        loop {
            chosen.sort_unstable();
            let few: Vec<Row> = chosen.iter().map(|i| rows[*i].clone()).collect();
            let table = Table::new(&(self.point)(place).symbols, &few);
            let of = |bits: &Bits| Bits::from_fn(few.len(), |i| bits.get(chosen[i]));
            let found = find(&mut Conditions::new(&table), &of(yes), &of(no))?;
            let wrong = |i: &usize| {
                let mut holds = found.iter().map(|c| c.holds(&rows[*i].values));
                yes.get(*i) && holds.clone().all(|h| h != Some(true))
                    || no.get(*i) && holds.any(|h| h != Some(false))
            };
            let failing: Vec<usize> = (0..rows.len()).filter(wrong).collect();
            if failing.is_empty() {
                return Some(found);
            }
            chosen.extend(some(failing, MAX_FAILING));
        }
    }
}

fn unsaid(mark: usize, yes: &Bits, no: &Bits) -> Trouble {
    Trouble::NoCondition(mark, yes.first().unwrap_or(0), no.first().unwrap_or(0))
}
