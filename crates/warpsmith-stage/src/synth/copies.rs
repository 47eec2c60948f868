//! Copies to a halo: which threads have a wrong value where they read, and how that is said.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::bits::Bits;
use super::condition::{Condition, Conditions};
use super::positions::spread;
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

/// A position in shared memory at one visit to the place for copies: launch, block, visit, array and position.
pub type Spot = (usize, u32, usize, usize, i64);

/// What copies have put where: the element, and the row that needed it.
type Known = HashMap<Spot, (i64, (usize, usize))>;

/// A mark with its array and the rows that are wrong yet, and how many threads have some.
struct Wrong {
    mark: (usize, usize),
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
    /// The elements that are read at positions in shared memory, once they were asked for.
    pub needed: OnceCell<HashMap<Spot, i64>>,
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
    fn spot(&self, (mark, array): (usize, usize), row: usize) -> Option<Spot> {
        let r = &self.profile[mark][row];
        let (place, at) = r.insert?;
        Some(self.spot_at(&self.profile[place][at], array, r.given.as_ref()?.place))
    }

    /// A position in an array when a thread comes by a place for copies.
    fn spot_at(&self, r: &Row, array: usize, place: i64) -> Spot {
        (r.launch, r.thread / (self.threads)(r.launch).max(1), r.visit, array, place)
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
        let array = |mark: usize| self.marks.iter().find(|(m, _)| *m == mark);
        let wrong = |c: &&Copy| {
            let harm = array(c.mark).and_then(|mark| self.harmful(*mark, c.place));
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
        let mut copied = Known::new();
        let all = |mark: &(usize, usize)| (*mark, (0..self.profile[mark.0].len()).collect());
        let mut left: Vec<((usize, usize), Vec<usize>)> = self.marks.iter().map(all).collect();
        let mut copies = vec![];
        while !left.is_empty() {
            let mut wrong: Vec<Wrong> = vec![];
            for (mark, rows) in &left {
                let rows = self.wrong(*mark, rows, &copied)?;
                let threads = self.threads_of(mark.0, &rows);
                // What is right stays so, or is found to be disturbed in the end.
                if threads > 0 {
                    wrong.push(Wrong { mark: *mark, threads, rows });
                }
            }
            left = wrong.iter().map(|w| (w.mark, w.rows.clone())).collect();
            let missing = self.missing(&wrong);
            let rank = |w: &Wrong| {
                let before = first.iter().position(|m| *m == w.mark.0).unwrap_or(first.len());
                (before, (self.rank)(w.mark.0))
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
                let r = &self.profile[mark.0][row];
                if let (Some(spot), Some(given)) = (self.spot(mark, row), &r.given) {
                    let known = copied.insert(spot, (given.element, (mark.0, row)));
                    if let Some((element, who)) = known
                        && element != given.element
                    {
                        return Err(Trouble::Taken(who, (mark.0, row)));
                    }
                }
            }
        }
        self.disturbed(&copied)?;
        Ok(copies)
    }

    /// Positions that hold a wrong value for some read in a loop.
    fn missing(&self, wrong: &[Wrong]) -> HashSet<Spot> {
        let in_loops = wrong.iter().filter(|w| (self.rank)(w.mark.0) > 0);
        in_loops.flat_map(|w| w.rows.iter().filter_map(|r| self.spot(w.mark, *r))).collect()
    }

    /// How many threads bring what is missing by the copy for an iteration.
    fn served(&self, wrong: &Wrong, missing: &HashSet<Spot>) -> usize {
        let first = wrong.rows.first().and_then(|r| self.profile[wrong.mark.0][*r].insert);
        first.map_or(0, |(place, _)| self.serving(wrong.mark, place, missing).count())
    }

    /// Rows of a place whose threads bring what is missing, whoever of the block reads it in a loop.
    fn serving(&self, mark: (usize, usize), place: usize, missing: &HashSet<Spot>) -> Bits {
        let needed = self.needed();
        let rows = &self.profile[place];
        Bits::from_fn(rows.len(), |i| {
            rows[i].offers.iter().filter(|o| o.mark == mark.0 && o.element.is_some()).any(|o| {
                let spot = self.spot_at(&rows[i], mark.1, o.place);
                missing.contains(&spot) && needed.get(&spot).copied() == o.element
            })
        })
    }

    /// How many threads have some rows of a mark: one that has them with several data counts once.
    fn threads_of(&self, mark: usize, rows: &[usize]) -> usize {
        let all = rows.iter().map(|i| &self.profile[mark][*i]);
        all.map(|r| (self.alike[r.launch], r.thread, r.visit)).collect::<HashSet<_>>().len()
    }

    /// Of some rows of a mark, those that read a wrong value after what is copied so far.
    fn wrong(
        &self,
        mark: (usize, usize),
        rows: &[usize],
        copied: &Known,
    ) -> Result<Vec<usize>, Trouble> {
        let mut all = vec![];
        for i in rows.iter().copied() {
            let r = &self.profile[mark.0][i];
            let Some(given) = &r.given else { continue };
            let spot = self.spot(mark, i);
            let right = match spot.and_then(|s| copied.get(&s)) {
                Some((element, _)) => *element == given.element,
                None => given.right,
            };
            if right {
                continue;
            }
            if spot.is_none() {
                return Err(Trouble::NoPlace(mark.0, i));
            }
            all.push(i);
        }
        Ok(all)
    }

    /// No copy may put an element where another read has its own.
    fn disturbed(&self, copied: &Known) -> Result<(), Trouble> {
        for mark in &self.marks {
            for (i, r) in self.profile[mark.0].iter().enumerate() {
                let (Some(spot), Some(given)) = (self.spot(*mark, i), &r.given) else { continue };
                if let Some((element, who)) = copied.get(&spot)
                    && *element != given.element
                {
                    return Err(Trouble::Taken(*who, (mark.0, i)));
                }
            }
        }
        Ok(())
    }

    /// What a copy does beside the reads that are wrong without it.
    fn offered(&self, mark: (usize, usize), copy: &Copy, first: usize, copied: &mut Known) {
        let readers = copy.guarded.then(|| self.readers(mark, copy.place, false));
        for (i, r) in self.profile[copy.place].iter().enumerate() {
            let made = copy.condition.as_ref().is_none_or(|c| c.holds(&r.values) == Some(true))
                && readers.as_ref().is_none_or(|readers| readers.get(i));
            let offer = r.offers.iter().find(|o| o.mark == mark.0).filter(|_| made);
            if let Some(Offer { place, element: Some(element), .. }) = offer {
                copied
                    .entry(self.spot_at(r, mark.1, *place))
                    .or_insert((*element, (mark.0, first)));
            }
        }
    }

    /// Rows of a place whose threads come to a read after it; `unaided`: only those that read what is there without any copy.
    fn readers(&self, mark: (usize, usize), place: usize, unaided: bool) -> Bits {
        let mut reads = Bits::none(self.profile[place].len());
        let right = |r: &&Row| r.given.as_ref().is_some_and(|g| g.right) || !unaided;
        let of_mark = self.profile[mark.0].iter().filter(right).filter_map(|r| r.insert);
        of_mark.filter(|i| i.0 == place).for_each(|i| reads.set(i.1));
        reads
    }

    /// Rows of a place whose threads must not make a copy: those for which the element does not exist, or whose place is one
    /// that another element is needed in, or, in some launches, none. `None`: it is not known.
    fn harmful(&self, mark: (usize, usize), place: usize) -> Option<Bits> {
        let rows = &self.profile[place];
        if rows.iter().all(|r| r.offers.iter().all(|o| o.mark != mark.0)) {
            return None;
        }
        let needed = self.needed();
        let missing = self.never((mark.0, place), |_, o| o.element.is_some());
        let harms = |i: usize| {
            let r = &rows[i];
            let offer = r.offers.iter().find(|o| o.mark == mark.0)?;
            let wanted = needed.get(&self.spot_at(r, mark.1, offer.place));
            Some(match wanted {
                Some(wanted) => Some(*wanted) != offer.element,
                None => missing.get(i) || self.strict.contains(&r.launch),
            })
        };
        Some(Bits::from_fn(rows.len(), |i| harms(i) != Some(false)))
    }

    /// Rows of a place for which nothing holds of what they offer for a mark, whatever data say.
    fn never(&self, (mark, place): (usize, usize), holds: impl Fn(&Row, &Offer) -> bool) -> Bits {
        let rows = &self.profile[place];
        let key = |r: &Row| (self.alike[r.launch], r.thread, r.visit);
        let own = |r: &&Row| r.offers.iter().any(|o| o.mark == mark && holds(r, o));
        let all: HashSet<_> = rows.iter().filter(own).map(key).collect();
        Bits::from_fn(rows.len(), |i| !all.contains(&key(&rows[i])))
    }

    /// Rows of a place whose threads bring nothing that is needed: what they would read may exist by accident.
    fn idle(&self, mark: (usize, usize), place: usize) -> Bits {
        let needed = self.needed();
        let serves = |r: &Row, o: &Offer| {
            let wanted = needed.get(&self.spot_at(r, mark.1, o.place));
            o.element.is_some() && wanted.copied() == o.element
        };
        self.never((mark.0, place), serves)
    }

    /// Whether data decide on these rows of a place: a thread has one in some run of a launch, and not in another.
    fn data_decide(&self, place: usize, rows: &Bits) -> bool {
        self.ever(place, rows) != *rows
    }

    /// Rows of a place whose threads are among some in any run of their launch.
    fn ever(&self, place: usize, rows: &Bits) -> Bits {
        let all = &self.profile[place];
        let key = |i: usize| (self.alike[all[i].launch], all[i].thread, all[i].visit);
        let here: HashSet<_> = (0..all.len()).filter(|i| rows.get(*i)).map(key).collect();
        Bits::from_fn(all.len(), |i| here.contains(&key(i)))
    }

    /// Whether a copy by some rows of a place would put something where another element is read.
    fn clashes(&self, mark: (usize, usize), place: usize, rows: &Bits) -> bool {
        let needed = self.needed();
        let all = self.profile[place].iter().enumerate().filter(|(i, _)| rows.get(*i));
        all.filter_map(|(_, r)| Some((r, r.offers.iter().find(|o| o.mark == mark.0)?))).any(
            |(r, o)| {
                let wanted = needed.get(&self.spot_at(r, mark.1, o.place));
                o.element.is_none() || wanted.is_some_and(|w| Some(*w) != o.element)
            },
        )
    }

    /// The elements that are read at positions in shared memory.
    fn needed(&self) -> &HashMap<Spot, i64> {
        self.needed.get_or_init(|| {
            let of = |m: &(usize, usize)| {
                let (m, rows) = (*m, &self.profile[m.0]);
                let one = move |(i, r): (usize, &Row)| {
                    Some((self.spot(m, i)?, r.given.as_ref()?.element))
                };
                rows.iter().enumerate().filter_map(one)
            };
            self.marks.iter().flat_map(of).collect()
        })
    }

    fn copy(
        &self,
        mark: (usize, usize),
        wrong: &[usize],
        missing: &HashSet<Spot>,
    ) -> Result<Vec<Copy>, Trouble> {
        let inserts: Vec<(usize, usize)> =
            wrong.iter().filter_map(|r| self.profile[mark.0][*r].insert).collect();
        let place = inserts.first().map_or(0, |i| i.0);
        let rows = &self.profile[place];
        let mut yes = Bits::none(rows.len());
        inserts.iter().filter(|i| i.0 == place).for_each(|i| yes.set(i.1));
        let origin = (self.origin)(mark.0);
        let known = self.forks.decide(origin);
        let mut decided = known || self.data_decide(place, &yes);
        if self.guarded.contains(&mark.0) && !decided {
            return self.by_readers(mark, place, &yes);
        }
        // Threads that some data send to the read copy whatever they are, where it is known which threads may be.
        if known && self.forks.sends_all(origin) {
            let all = self.ever(place, &yes);
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
        let copy = |condition| Copy { mark: mark.0, place, condition, guarded: false };
        match self.said(mark, place, (&yes, &no), decided) {
            Some(condition) => Ok(vec![copy(condition)]),
            None => Err(unsaid(mark.0, &yes, &yes.complement())),
        }
    }

    /// What a copy for some rows of a place and not for others is under: nothing, or the condition that tells these apart, unless it
    /// is far-fetched or long, and one that holds for more rows than it should without harm is not.
    #[expect(clippy::option_option, reason = "no condition is one of the answers")]
    fn said(
        &self,
        mark: (usize, usize),
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
        let read = [&right, &unaided, &none].into_iter();
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
    fn by_readers(
        &self,
        mark: (usize, usize),
        place: usize,
        yes: &Bits,
    ) -> Result<Vec<Copy>, Trouble> {
        let no = self.readers(mark, place, false).minus(yes);
        let copy = |condition| Copy { mark: mark.0, place, condition, guarded: true };
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
            None => Err(unsaid(mark.0, yes, &no)),
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
