//! Copies that were put in.

use super::{Answer, Claims, Store};
use crate::verify::proof::eval::Loaded;
use crate::verify::proof::formula::{Sum, Truth};
use crate::verify::proof::poly::Poly;
use crate::verify::proof::tree::{Array, Moments, Tree};
use crate::verify::proof::walk::{Event, What};

/// Iterations of a loop in which a copy's element may be read: a window of 11 by 11 in one loop.
const MAX_ITERATIONS: i64 = 128;

impl Claims<'_> {
    /// A copy that was put in stays in its array, reads what the unmodified kernel reads, and meets no other store.
    pub fn copies(&mut self) -> Answer {
        let all: Vec<Array> = self.walked.events.iter().filter_map(extra_array).collect();
        let mut arrays: Vec<Array> = vec![];
        for a in all {
            if !arrays.contains(&a) {
                arrays.push(a);
            }
        }
        for array in arrays {
            let length = (self.length)(&array);
            let stores = self.stores(&array);
            for s in stores.iter().filter(|s| s.extra) {
                self.inside(s, length)?;
                self.reads_no_more(s)?;
                self.collides(s, &stores)?;
            }
            self.undisturbed(&stores)?;
        }
        Ok(())
    }

    /// Of an array whose length a launch says, what the thread itself reads by the plan is inside.
    fn inside(&mut self, s: &Store<'_>, length: Option<i64>) -> Answer {
        let place = s.place.sum();
        let inside = match length {
            Some(length) => Truth::at_most(&Sum::default(), &place)
                .and(&Truth::below(&place, &Sum::number(length))),
            None => Truth::any(
                self.own_places(s.array).iter().map(|(when, at)| when.and(&at.equal(s.place))),
            ),
        };
        self.must(&[s.event.when.clone(), inside.negated()], "a copy may leave its array")
    }

    /// Where the user's text reads a shared array, in each iteration of loops of constant length.
    fn own_places(&self, array: &Array) -> Vec<(Truth, Poly)> {
        let mut all = vec![];
        for e in &self.walked.events {
            if let What::Read { new, .. } = &e.what {
                new.each(&mut |t| match t {
                    Tree::Shared(a, at) if a == array => {
                        all.extend(iterations(e.when.clone(), at.clone()));
                    }
                    _ => {}
                });
            }
        }
        let reads = self.walked.shared_reads.iter().filter(|r| r.array == *array);
        all.extend(reads.flat_map(|r| iterations(r.when.clone(), r.at.clone())));
        all
    }

    fn reads_no_more(&mut self, s: &Store<'_>) -> Answer {
        let mut loads: Vec<Loaded> = vec![];
        s.value.loads(&s.event.when, &mut |array, at, when| {
            let (array, at, when) = (array.clone(), at.clone(), when.clone());
            loads.push(Loaded { array, at, when, span: None });
        });
        for load in loads {
            let known = self.walked.loads.iter().filter(|l| l.array == load.array);
            let known: Vec<_> =
                known.flat_map(|l| iterations(l.when.clone(), l.at.clone())).collect();
            let own = known.iter().map(|(when, at)| when.and(&at.equal(&load.at)));
            let own = Truth::any(own);
            let read = match self.is_impossible(&[load.when.clone(), own.negated()]) {
                true => own,
                false => own.or(&self.read_beside(&load, &known)),
            };
            let what = "a copy may read what the unmodified kernel does not";
            self.must(&[load.when, read.negated()], what)?;
        }
        Ok(())
    }

    /// Two threads store different values to one place without a barrier between.
    fn collides(&mut self, s: &Store<'_>, stores: &[Store<'_>]) -> Answer {
        let mut bad = vec![];
        for o in stores {
            let ordered = o.at != s.at && self.ordered(o.at.min(s.at), o.at.max(s.at));
            if ordered {
                continue;
            }
            let rename = self.other(o.event, &s.event.loops);
            let same = self.same(&self.another());
            bad.push(Truth::all([
                o.event.when.renamed(&rename),
                Truth::equal(&o.place.renamed(&rename).sum(), &s.place.sum()),
                same.or(&o.value.renamed(&rename).equal(s.value, Moments::Apart)).negated(),
            ]));
        }
        self.must(
            &[s.event.when.clone(), Truth::any(bad)],
            "threads may copy different elements to one place",
        )
    }

    /// Reads of shared memory that are the user's find what they found.
    fn undisturbed(&mut self, stores: &[Store<'_>]) -> Answer {
        let reads: Vec<Loaded> = self.walked.shared_reads.clone();
        for read in reads.iter().filter(|r| stores.first().is_some_and(|s| *s.array == r.array)) {
            let bad = stores.iter().filter(|s| s.extra).map(|s| {
                let rename = self.other(s.event, &[]);
                let place = s.place.renamed(&rename).sum();
                s.event.when.renamed(&rename).and(&Truth::equal(&place, &read.at.sum()))
            });
            let bad = Truth::any(bad);
            self.must(&[read.when.clone(), bad], "a copy may change what the kernel reads itself")?;
        }
        Ok(())
    }
}

/// A load in each iteration of the loops of constant length that it is in.
fn iterations(when: Truth, at: Poly) -> Vec<(Truth, Poly)> {
    let mut counter = None;
    let mut see = |n: &str| {
        if n.starts_with("t_n") && counter.is_none() {
            counter = Some(n.to_string());
        }
    };
    at.sum().names(&mut see);
    let Some(counter) = counter else { return vec![(when, at)] };
    let mut all = vec![];
    for n in 0..MAX_ITERATIONS {
        let number = |name: &str| (name == counter).then(|| Sum::number(n));
        let when = when.renamed(&number);
        if when == Truth::Never {
            break;
        }
        all.extend(iterations(when, at.renamed(&number)));
    }
    all
}

fn extra_array(e: &Event) -> Option<Array> {
    match &e.what {
        What::Store { array, extra: true, .. } => Some(array.clone()),
        _ => None,
    }
}
