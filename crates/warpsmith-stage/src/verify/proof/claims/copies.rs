//! Copies that were put in.

use super::{Answer, Claims, Store};
use crate::verify::proof::eval::Loaded;
use crate::verify::proof::formula::{Sum, Truth};
use crate::verify::proof::tree::{Array, Moments};
use crate::verify::proof::walk::{Event, What};

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
            let Some(length) = (self.length)(&array) else {
                return Err("copies go to an array whose length is not constant".into());
            };
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

    fn inside(&mut self, s: &Store<'_>, length: i64) -> Answer {
        let place = s.place.sum();
        let inside = Truth::at_most(&Sum::default(), &place)
            .and(&Truth::below(&place, &Sum::number(length)));
        self.must(&[s.event.when.clone(), inside.negated()], "a copy may leave its array")
    }

    fn reads_no_more(&mut self, s: &Store<'_>) -> Answer {
        let mut loads: Vec<Loaded> = vec![];
        s.value.loads(&s.event.when, &mut |array, at, when| {
            let (array, at, when) = (array.clone(), at.clone(), when.clone());
            loads.push(Loaded { array, at, when, span: None });
        });
        for load in loads {
            let known = self.walked.loads.iter().filter(|l| l.array == load.array);
            let read = Truth::any(known.map(|l| l.when.and(&l.at.equal(&load.at))));
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

fn extra_array(e: &Event) -> Option<Array> {
    match &e.what {
        What::Store { array, extra: true, .. } => Some(array.clone()),
        _ => None,
    }
}
