//! Numbers for the positions in shared memory that reads with a given place need, and for the threads that come by: whoever chooses
//! copies compares them again and again.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::bits::{Bits, Words};
use crate::profile::rows::{Offer, Row};

/// A position in an array of shared memory at one visit of a block to a place for copies.
pub type Spot = usize;

/// What a place offers for a mark.
#[derive(Debug)]
struct Offered {
    /// Which of the offers of each row it is.
    column: usize,
    /// Where each row would put its element, if some read needs that position.
    spots: Vec<Option<Spot>>,
}

/// The numbers of one profile.
#[derive(Debug)]
pub struct Spots {
    /// For each row of each mark, the position that it reads.
    read: HashMap<usize, Vec<Option<Spot>>>,
    /// By place and mark.
    offered: HashMap<(usize, usize), Offered>,
    /// For each row of everything, the same number where a thread comes by again in a launch that differs in data alone.
    visitors: Vec<Vec<usize>>,
    visitor_count: usize,
    /// The element that is read at each position.
    pub needed: Vec<i64>,
}

/// What numbers are given to.
pub struct Profiled<'a> {
    /// Rows of marks, places and iterations.
    pub profile: &'a [Vec<Row>],
    /// Marks with the arrays that their places are in.
    pub marks: &'a [(usize, usize)],
    /// Threads in a block of a launch.
    pub threads: &'a dyn Fn(usize) -> u32,
    /// The first of the launches that differ from one in data alone.
    pub alike: &'a [usize],
}

/// What is the same of some rows: a number for each kind.
#[derive(Debug, Default)]
struct Numbers(HashMap<[u64; 3], usize, BuildHasherDefault<Words>>);

impl Numbers {
    fn of(&mut self, key: [u64; 3]) -> usize {
        let next = self.0.len();
        *self.0.entry(key).or_insert(next)
    }

    /// For each row of a profile.
    fn each(&mut self, profile: &[Vec<Row>], key: impl Fn(&Row) -> [u64; 3]) -> Vec<Vec<usize>> {
        profile.iter().map(|rows| rows.iter().map(|r| self.of(key(r))).collect()).collect()
    }
}

impl Spots {
    /// Numbers what all rows are about.
    pub fn new(of: &Profiled<'_>) -> Spots {
        let (mut visits, mut visitors, mut spots) = <(Numbers, Numbers, Numbers)>::default();
        let visits = visits.each(of.profile, |r| {
            let block = r.thread / (of.threads)(r.launch).max(1);
            [r.launch as u64, block.into(), r.visit as u64]
        });
        let who = |r: &Row| [of.alike[r.launch] as u64, r.thread.into(), r.visit as u64];
        let each = visitors.each(of.profile, who);
        let key =
            |visit: usize, array: usize, place: i64| [visit as u64, array as u64, place as u64];
        let mut needed = vec![];
        let mut read = |(mark, array): &(usize, usize)| {
            let one = |r: &Row| {
                let ((place, row), given) = (r.insert?, r.given.as_ref()?);
                let spot = spots.of(key(visits[place][row], *array, given.place));
                needed.resize(needed.len().max(spot + 1), 0);
                needed[spot] = given.element;
                Some(spot)
            };
            (*mark, of.profile[*mark].iter().map(one).collect())
        };
        let read = of.marks.iter().map(&mut read).collect();
        let mut offered = HashMap::new();
        for (place, rows) in of.profile.iter().enumerate() {
            for (column, offer) in rows.first().map_or(&[][..], |r| &r.offers).iter().enumerate() {
                let array = of.marks.iter().find(|(m, _)| *m == offer.mark).map(|(_, a)| *a);
                let one = |(r, visit): (&Row, &usize)| {
                    spots.0.get(&key(*visit, array?, r.offers[column].place)).copied()
                };
                let spots = rows.iter().zip(&visits[place]).map(one).collect();
                offered.insert((place, offer.mark), Offered { column, spots });
            }
        }
        Spots { read, offered, visitors: each, visitor_count: visitors.0.len(), needed }
    }

    /// The position that a row of a mark reads; `None`: it comes after no place for copies.
    pub fn read(&self, mark: usize, row: usize) -> Option<Spot> {
        self.read.get(&mark)?[row]
    }

    /// What the rows of a place offer for a mark, and where that goes if some read needs the position; none where nothing can be copied
    /// there.
    pub fn offers<'a>(
        &'a self,
        (mark, place): (usize, usize),
        rows: &'a [Row],
    ) -> Option<impl Iterator<Item = (&'a Offer, Option<Spot>)> + 'a> {
        let Offered { column, spots } = self.offered.get(&(place, mark))?;
        Some(rows.iter().zip(spots).map(|(r, spot)| (&r.offers[*column], *spot)))
    }

    /// How many threads have some rows of a mark: one that has them with several data counts once.
    pub fn threads(&self, mark: usize, rows: &[usize]) -> usize {
        let mut all: Vec<usize> = rows.iter().map(|r| self.visitors[mark][*r]).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// Rows whose threads are among those of some rows in any launch that differs in data alone.
    pub fn ever(&self, place: usize, rows: &Bits) -> Bits {
        let who = &self.visitors[place];
        let mut here = vec![false; self.visitor_count];
        who.iter().enumerate().filter(|(i, _)| rows.get(*i)).for_each(|(_, v)| here[*v] = true);
        Bits::from_fn(who.len(), |i| here[who[i]])
    }
}
