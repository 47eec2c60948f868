//! What has to hold for a rewritten kernel to be right, put as questions that must have no answer.

mod beside;
mod copies;
mod earlier;

use std::collections::{BTreeMap, BTreeSet};

use super::formula::{Sum, Truth};
use super::poly::Poly;
use super::solver::{Model, Said, Solver};
use super::tree::{Array, Moments, Tree};
use super::walk::{Event, Walked, What};

/// Bounds of grid positions by sizes: `blockIdx.x * step < size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covers {
    pub axis: usize,
    pub step: i64,
    /// The size's name in formulas, and in the text.
    pub size: (String, String),
}

/// What launches are claimed to keep to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// Sizes are at least one.
    pub sizes: bool,
    /// No block lies beyond the sizes.
    pub covers: bool,
}

/// Asks the questions of one kernel at one block shape.
pub struct Claims<'a> {
    pub walked: &'a Walked,
    pub block: [u32; 3],
    pub covers: Vec<Covers>,
    /// What sizes are made of, by name.
    pub ties: Vec<(String, Truth)>,
    pub solver: &'a mut Solver,
    pub assumed: Assumed,
    /// Where something may be wrong in launches that do not keep to what is assumed.
    pub doubts: Vec<Instance>,
    /// Elements of shared arrays of constant size.
    pub length: &'a dyn Fn(&Array) -> Option<i64>,
}

/// A shared store as seen by a read.
struct Store<'a> {
    at: usize,
    event: &'a Event,
    array: &'a Array,
    place: &'a Poly,
    value: &'a Tree,
    extra: bool,
}

/// A read of shared memory that has to give a value.
struct Wanted {
    event: usize,
    when: Truth,
    array: Array,
    place: Poly,
    value: Tree,
}

/// Why something is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproved {
    pub why: String,
    /// Where it may be wrong: what is asked is enough for a proof, but not all of it is needed.
    pub instance: Option<Instance>,
}

/// A thread of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// Values of integer parameters by name.
    pub integers: BTreeMap<String, i64>,
    pub block: [i64; 3],
    pub thread: [i64; 3],
}

impl From<String> for Unproved {
    fn from(why: String) -> Unproved {
        Unproved { why, instance: None }
    }
}

impl From<&str> for Unproved {
    fn from(why: &str) -> Unproved {
        why.to_string().into()
    }
}

type Answer = Result<(), Unproved>;

/// Sizes up to which values are looked for that show a mistake.
const SMALL: [i64; 2] = [300, 5000];

/// Instances of launches that do not keep to what is assumed, at most.
const MAX_DOUBTS: usize = 4;

const NOT_APART: &str = "no barrier parts an iteration from the next";

const AXES: [&str; 3] = ["t_x", "t_y", "t_z"];

impl<'a> Claims<'a> {
    /// Proves one read that differs.
    ///
    /// # Errors
    /// What was not proved.
    pub fn read(&mut self, event: usize) -> Answer {
        let walked = self.walked;
        let What::Read { old, new, .. } = &walked.events[event].what else { return Ok(()) };
        let mut wanted = vec![];
        let mut equal = vec![];
        self.leaves(event, new, old, &walked.events[event].when, &mut wanted, &mut equal)?;
        for (when, same) in equal {
            self.must(&[when, same.negated()], "the value that is read instead is another one")?;
        }
        wanted.iter().try_for_each(|w| self.served(w))
    }

    /// Splits what is read now into reads of shared memory and values that must be equal.
    fn leaves(
        &self,
        event: usize,
        new: &Tree,
        old: &Tree,
        when: &Truth,
        wanted: &mut Vec<Wanted>,
        equal: &mut Vec<(Truth, Truth)>,
    ) -> Answer {
        match (new, old) {
            (Tree::Choose(c, a, b), _) => {
                self.leaves(event, a, old, &when.and(c), wanted, equal)?;
                self.leaves(event, b, old, &when.and(&c.negated()), wanted, equal)
            }
            (Tree::Shared(array, place), _) => {
                wanted.push(Wanted {
                    event,
                    when: when.clone(),
                    array: array.clone(),
                    place: place.clone(),
                    value: old.clone(),
                });
                Ok(())
            }
            (Tree::Apply(f, a), Tree::Apply(g, b)) if f == g && a.len() == b.len() => {
                a.iter().zip(b).try_for_each(|(a, b)| self.leaves(event, a, b, when, wanted, equal))
            }
            _ => {
                let mut gone = false;
                new.loads(when, &mut |array, _, _| gone |= self.walked.dropped.contains(array));
                if gone {
                    return Err("an array whose stores are gone is read".into());
                }
                equal.push((when.clone(), new.equal(old, Moments::One)));
                Ok(())
            }
        }
    }

    fn stores(&self, array: &Array) -> Vec<Store<'a>> {
        let all = self.walked.events.iter().enumerate();
        all.filter_map(|(at, event)| match &event.what {
            What::Store { array: a, at: place, value, extra } if a == array => {
                Some(Store { at, event, array: a, place, value, extra: *extra })
            }
            _ => None,
        })
        .collect()
    }

    /// The element is there when it is read: some thread has put it there, and nobody anything else.
    fn served(&mut self, wanted: &Wanted) -> Answer {
        let stores = self.stores(&wanted.array);
        let loops = &self.walked.events[wanted.event].loops;
        let (mut wrong, mut meet) = (vec![], vec![]);
        // By how many of the loops around the read the store is in, too.
        let mut missing = vec![vec![]; loops.len() + 1];
        for (k, s) in stores.iter().enumerate() {
            meet.extend(self.apart(s, wanted)?);
            let ordered = self.ordered(s.at.min(wanted.event), s.at.max(wanted.event));
            let before = s.at < wanted.event;
            if before && loops.starts_with(&s.event.loops) {
                missing[s.event.loops.len()].extend(self.witnesses(s, wanted, k, ordered));
            }
            if before || !ordered {
                wrong.push(self.spoils(s, wanted, ordered, before));
            }
        }
        // What was put there before a loop has to be there still, whatever earlier iterations did.
        let absent = Truth::all(missing.iter().enumerate().map(|(depth, here)| {
            let absent = Truth::all(here.iter().map(Truth::negated));
            absent.or(&self.spoilt_earlier(&stores, wanted, depth))
        }));
        self.must(&[wanted.when.clone(), Truth::any(meet)], NOT_APART)?;
        let bad = absent.or(&Truth::any(wrong));
        let mut asked = self.with_earlier(wanted, bad);
        asked.push(wanted.when.clone());
        self.must(&asked, "it is not certain that the element is there")
    }

    /// A store in another iteration than the read's has a barrier between; where none parts it from the read before, the condition under
    /// which both meet.
    fn apart(&self, s: &Store<'_>, wanted: &Wanted) -> Result<Option<Truth>, Unproved> {
        let reader = &self.walked.events[wanted.event];
        let common = common(&s.event.loops, &reader.loops);
        let Some(last) = common.last().copied() else { return Ok(None) };
        let others = self.stores(s.array);
        let fine = others.iter().all(|o| {
            let shared = self::common(&s.event.loops, &o.event.loops);
            shared.last().is_none_or(|l| self.wraps(s.at, o.at, *l))
        });
        match self.wraps(wanted.event, s.at, last) {
            true if fine => Ok(None),
            false if fine && self.is_counted(last) => Ok(Some(self.meets_next(s, wanted, last))),
            _ => Err(NOT_APART.into()),
        }
    }

    /// Whether a barrier is certain between two events of one iteration.
    fn ordered(&self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.walked.events[first].loops, &self.walked.events[second].loops);
        (first + 1..second).any(|p| {
            let e = &self.walked.events[p];
            matches!(e.what, What::Barrier) && (a.starts_with(&e.loops) || b.starts_with(&e.loops))
        })
    }

    /// Whether a barrier is certain from an event to one in the next iteration of a loop.
    fn wraps(&self, from: usize, to: usize, turn: usize) -> bool {
        let turns = &self.walked.loops[turn];
        let (a, b) = (&self.walked.events[from].loops, &self.walked.events[to].loops);
        let barrier = |p: usize, near: &[usize]| {
            let e = &self.walked.events[p];
            matches!(e.what, What::Barrier) && near.starts_with(&e.loops)
        };
        (from + 1..turns.end).any(|p| barrier(p, a)) || (turns.first..to).any(|p| barrier(p, b))
    }

    /// That a certain thread has put the element there; several guesses at which one.
    fn witnesses(&self, s: &Store<'_>, wanted: &Wanted, k: usize, ordered: bool) -> Vec<Truth> {
        let mut all = vec![];
        let place = wanted.place.sum();
        for (g, thread) in self.guesses(s, &place).into_iter().enumerate() {
            let rename = |name: &str| -> Option<Sum> {
                if let Some(axis) = AXES.iter().position(|a| *a == name) {
                    return Some(thread[axis].clone());
                }
                let own = name.strip_prefix("t_")?;
                Some(Sum::name(&format!("w{k}_{g}_{own}")))
            };
            let same = self.same(&thread);
            let mut parts = self.in_block(&thread);
            parts.push(s.event.when.renamed(&rename));
            parts.push(Truth::equal(&s.place.renamed(&rename).sum(), &place));
            parts.push(self.is_value(s, &rename, &wanted.value, wanted.event));
            if !ordered {
                parts.push(same);
            }
            all.push(Truth::all(parts));
        }
        all
    }

    /// Threads that may have written a place: where it goes by thread is mostly a sum with strides.
    fn guesses(&self, s: &Store<'_>, place: &Sum) -> Vec<[Sum; 3]> {
        let own = s.place.sum();
        let at = |thread: [i64; 3]| {
            own.value(&|n| AXES.iter().position(|a| *a == n).map_or(0, |a| thread[a]))
        };
        let start = own.renamed(&|n| AXES.contains(&n).then(Sum::default));
        let origin = at([0; 3]);
        let mut strides: Vec<(i64, usize)> = (0..3)
            .filter(|a| self.block[*a] > 1)
            .map(|a| {
                let mut thread = [0; 3];
                thread[a] = 1;
                (at(thread) - origin, a)
            })
            .collect();
        strides.sort_by_key(|(n, _)| -n.abs());
        let mut rest = place.plus(&start, -1);
        let mut thread: [Sum; 3] = Default::default();
        let mut free = vec![];
        for (stride, axis) in strides {
            if stride == 0 {
                free.push(axis);
                continue;
            }
            // What falls along an axis rises when threads are counted from the last one.
            let last = Sum::number(i64::from(self.block[axis]) - 1);
            if stride < 0 {
                rest = rest.plus(&last, -stride);
            }
            let (quotient, left) = rest.divided(stride.abs());
            thread[axis] = if stride < 0 { last.plus(&quotient, -1) } else { quotient };
            rest = left;
        }
        let mut all = vec![thread.clone()];
        for axis in free {
            let last = i64::from(self.block[axis]) - 1;
            let others: Vec<[Sum; 3]> = all
                .iter()
                .flat_map(|t| {
                    [Sum::name(AXES[axis]), Sum::number(last)].map(|v| {
                        let mut t = t.clone();
                        t[axis] = v;
                        t
                    })
                })
                .collect();
            all.extend(others);
        }
        all
    }

    /// That there is such a thread in the block.
    fn in_block(&self, thread: &[Sum; 3]) -> Vec<Truth> {
        let within = (0..3).flat_map(|a| {
            let end = Sum::number(self.block[a].into());
            [Truth::at_most(&Sum::default(), &thread[a]), Truth::below(&thread[a], &end)]
        });
        within.collect()
    }

    fn same(&self, thread: &[Sum; 3]) -> Truth {
        Truth::all(
            (0..3)
                .filter(|a| self.block[*a] > 1)
                .map(|a| Truth::equal(&thread[a], &Sum::name(AXES[a]))),
        )
    }

    /// Another thread, in any iteration of the loops that are not common.
    fn other(&self, s: &Event, read: &[usize]) -> impl Fn(&str) -> Option<Sum> + use<> {
        let foreign: Vec<String> = s
            .loops
            .iter()
            .filter(|l| !read.contains(l))
            .map(|l| self.walked.loops[*l].counter.clone())
            .collect();
        move |name: &str| {
            let own = name.starts_with("t_") || foreign.iter().any(|f| f == name);
            own.then(|| Sum::name(&format!("p_{}", &name[2..])))
        }
    }

    fn another(&self) -> [Sum; 3] {
        AXES.map(|a| Sum::name(&format!("p_{}", &a[2..])))
    }

    /// That some thread's store puts something else there.
    fn spoils(&self, s: &Store<'_>, wanted: &Wanted, ordered: bool, before: bool) -> Truth {
        let rename = self.other(s.event, &self.walked.events[wanted.event].loops);
        let same = self.same(&self.another());
        let read = &self.walked.events[wanted.event];
        let again = s.event.unbarred.is_some() && s.event.unbarred == read.unbarred;
        let fine = match (before, ordered) {
            // What a thread stores behind its read is there in the next iteration.
            (false, _) if again => {
                same.and(&self.is_value(s, &rename, &wanted.value, wanted.event))
            }
            (true, true) => self.is_value(s, &rename, &wanted.value, wanted.event),
            (true, false) => same.and(&self.is_value(s, &rename, &wanted.value, wanted.event)),
            (false, _) => same,
        };
        Truth::all([
            s.event.when.renamed(&rename),
            Truth::equal(&s.place.renamed(&rename).sum(), &wanted.place.sum()),
            fine.negated(),
        ])
    }

    /// That some thread has put something else there in an earlier iteration of the loops around the read but the outer ones of these.
    fn spoilt_earlier(&self, stores: &[Store<'_>], wanted: &Wanted, outer: usize) -> Truth {
        let loops = &self.walked.events[wanted.event].loops;
        let around: Vec<&str> =
            loops[..outer].iter().map(|l| self.walked.loops[*l].counter.as_str()).collect();
        let free = |name: &str| Sum::name(&format!("p{outer}_{}", name.replace('_', "")));
        let rename = |name: &str| match AXES.iter().position(|a| *a == name) {
            Some(_) => Some(Sum::name(&format!("p{outer}_{}", &name[2..]))),
            None if around.contains(&name) || is_of_launch(name) => None,
            None if self.walked.loops.iter().any(|l| l.counter == name) => {
                Some(Sum::name(&format!("p{outer}_{}", &name[2..])))
            }
            None => Some(free(name)),
        };
        let inside = stores.iter().filter(|s| common(&s.event.loops, loops).len() > outer);
        Truth::any(inside.map(|s| {
            // Others than numbers of iterations say nothing of what is earlier.
            let now = &self.walked.loops[loops[outer]].counter;
            let earlier = self.is_counted(loops[outer]).then(|| {
                let over = s.at > wanted.event && loops.len() == outer + 1;
                let last = Sum::name(now).plus(&Sum::number(i64::from(over)), -1);
                Truth::at_most(&Sum::name(now).renamed(&rename), &last)
            });
            Truth::all([
                earlier.unwrap_or(Truth::Always),
                s.event.when.renamed(&rename),
                Truth::equal(&s.place.renamed(&rename).sum(), &wanted.place.sum()),
                self.is_value(s, &rename, &wanted.value, wanted.event).negated(),
            ])
        }))
    }

    /// Whether what a store puts there is what is wanted.
    fn is_value(
        &self,
        s: &Store<'_>,
        rename: &dyn Fn(&str) -> Option<Sum>,
        value: &Tree,
        read: usize,
    ) -> Truth {
        let loops = &self.walked.events[read].loops;
        self.is_value_of(s, rename, value, &|i, e| {
            i < read && loops.starts_with(&e.loops) && self.ordered(i, read)
        })
    }

    /// The same, where some results of the unmodified kernel are known to be stored when it reads.
    fn is_value_of(
        &self,
        s: &Store<'_>,
        rename: &dyn Fn(&str) -> Option<Sum>,
        value: &Tree,
        known: &dyn Fn(usize, &Event) -> bool,
    ) -> Truth {
        match value {
            Tree::Choose(c, a, b) => {
                let [a, b] = [a, b].map(|part| self.is_value_of(s, rename, part, known));
                c.negated().or(&a).and(&c.or(&b))
            }
            Tree::Changing(array, at) => {
                let results = self.walked.events.iter().enumerate().filter(|(i, e)| known(*i, e));
                Truth::any(results.filter_map(|(_, e)| match &e.what {
                    What::Result { array: a, at: place, value, .. } if a == array => {
                        let (stored, put) = (value.renamed(rename), s.value.renamed(rename));
                        Some(Truth::all([
                            e.when.renamed(rename),
                            stored.equal(&put, Moments::OneThread),
                            place.renamed(rename).equal(at),
                        ]))
                    }
                    _ => None,
                }))
            }
            _ => s.value.renamed(rename).equal(value, Moments::Apart),
        }
    }

    /// Asks whether conditions can hold together; takes up assumptions as they are needed.
    fn must(&mut self, bad: &[Truth], what: &str) -> Answer {
        let tried = [
            Assumed::default(),
            Assumed { sizes: true, covers: false },
            Assumed { sizes: true, covers: true },
        ];
        let mut possible: Vec<Vec<Truth>> = vec![];
        // What overlaps needs all of it for nearly everything, and takes long without.
        let known = self.assumed.covers;
        let lawful = |a: &&Assumed| if a.covers { !self.covers.is_empty() } else { !known };
        for assumed in tried.iter().filter(lawful).collect::<Vec<_>>() {
            let mut all = bad.to_vec();
            all.extend(self.facts(bad, assumed));
            match self.solver.ask(&all) {
                Said::Impossible => {
                    self.assumed.sizes |= assumed.sizes;
                    self.assumed.covers |= assumed.covers;
                    // Blocks beyond the data are none that anybody means to launch.
                    let more = !assumed.covers && self.doubts.len() < MAX_DOUBTS;
                    if let Some(first) = possible.first().filter(|_| more) {
                        let doubt = self.small_instance(first);
                        self.doubts.extend(doubt);
                    }
                    return Ok(());
                }
                Said::Possible(_) => possible.push(all),
                Said::Unknown => return Err(what.into()),
            }
        }
        let instance = possible.last().and_then(|last| self.small_instance(last));
        Err(Unproved { why: what.into(), instance })
    }

    /// An instance with small sizes, so that its launch can be emulated.
    fn small_instance(&mut self, conditions: &[Truth]) -> Option<Instance> {
        SMALL.iter().find_map(|limit| {
            let mut all = conditions.to_vec();
            all.extend(self.small(conditions, *limit));
            match self.solver.ask(&all) {
                Said::Possible(model) => Some(self.instance(&model)),
                _ => None,
            }
        })
    }

    fn instance(&self, model: &Model) -> Instance {
        let sizes = self.walked.sizes.iter();
        let of = |name: &str| model.get(name).copied().unwrap_or(0);
        let known = sizes.filter_map(|(name, text)| Some((text.clone(), *model.get(name)?)));
        Instance {
            integers: known.collect(),
            block: ["u_bx", "u_by", "u_bz"].map(of),
            thread: AXES.map(of),
        }
    }

    /// Bounds of sizes, blocks and iterations.
    fn small(&self, conditions: &[Truth], limit: i64) -> Vec<Truth> {
        let mut names = BTreeSet::new();
        conditions.iter().for_each(|c| c.names(&mut |n| _ = names.insert(n.to_string())));
        let shared = names.iter().filter(|n| n.starts_with("u_"));
        let limit = Sum::number(limit);
        shared.map(|n| Truth::at_most(&Sum::name(n), &limit)).collect()
    }

    /// What is known of the names in conditions.
    fn facts(&self, conditions: &[Truth], assumed: &Assumed) -> Vec<Truth> {
        let mut names = BTreeSet::new();
        conditions.iter().for_each(|c| c.names(&mut |n| _ = names.insert(n.to_string())));
        let mut facts = vec![];
        for (name, made) in &self.ties {
            if !names.contains(name) {
                continue;
            }
            made.names(&mut |n| _ = names.insert(n.to_string()));
            facts.push(made.clone());
        }
        let (zero, one) = (Sum::default(), Sum::number(1));
        for name in &names {
            let sum = Sum::name(name);
            let tail = name.split('_').next_back().unwrap_or("");
            if let ("t" | "p", Some(a)) =
                (&name[..1], ["x", "y", "z"].iter().position(|x| *x == tail))
            {
                let last = Sum::number(i64::from(self.block[a]) - 1);
                facts.extend([Truth::at_most(&zero, &sum), Truth::at_most(&sum, &last)]);
            }
            let counts = tail.starts_with('n') || name.starts_with("u_b");
            if counts || self.walked.naturals.contains(name) {
                facts.push(Truth::at_most(&zero, &sum));
            }
            if name.starts_with("u_g") {
                facts.push(Truth::at_most(&one, &sum));
            }
            if assumed.sizes && self.walked.sizes.iter().any(|(n, _)| n == name) {
                facts.push(Truth::at_most(&one, &sum));
            }
        }
        if assumed.covers {
            for c in &self.covers {
                let first = Sum::name(["u_bx", "u_by", "u_bz"][c.axis]).times(c.step);
                facts.push(Truth::below(&first, &Sum::name(&c.size.0)));
            }
        }
        facts
    }
}

/// Whether a name stands for one value in a launch: blocks, and parameters by their numbers.
fn is_of_launch(name: &str) -> bool {
    name.strip_prefix("u_").is_some_and(|own| {
        let blocks = ["bx", "by", "bz", "gx", "gy", "gz"].contains(&own);
        blocks || !own.is_empty() && own.bytes().all(|b| b.is_ascii_digit())
    })
}

fn common(a: &[usize], b: &[usize]) -> Vec<usize> {
    a.iter().zip(b).take_while(|(x, y)| x == y).map(|(x, _)| *x).collect()
}
