//! Elements that another thread reads: who copies beyond a border reads what the thread does whose element it is.

use super::super::eval::Loaded;
use super::super::formula::{Sum, Truth};
use super::super::poly::Poly;
use super::{AXES, Claims};

/// Threads along an axis that are looked at to each side.
const MAX_AWAY: i64 = 16;

/// Threads that are asked about; where more read the element, those in the middle and at the ends of each axis.
const MAX_THREADS: usize = 17;

const BLOCKS: [&str; 3] = ["u_bx", "u_by", "u_bz"];

impl Claims<'_> {
    /// That a thread near this one, in its block or in one before, reads an element in some of the loads of this array.
    pub(super) fn read_beside(&self, load: &Loaded, known: &[(Truth, Poly)]) -> Truth {
        let (mut near, mut owners) = (vec![], vec![]);
        for one in known {
            let away = self.away(&one.1, &load.at);
            near.extend(away.filter(|c| *c != [0; 3]).map(|c| (c, one)));
            if let Some(first) = self.owner(&one.1, &load.at) {
                owners
                    .extend(self.beside_owner(&first, &one.1, &load.at).map(|c| (c, (first, one))));
            }
        }
        let mut all = vec![];
        for (away, one) in meant(near) {
            let thread = [0, 1, 2].map(|a| moved(&Sum::name(AXES[a]), away[a]));
            all.extend(self.reads(&thread, &blocks_before(|a| away[a] < 0), one, &load.at));
        }
        let blocks = blocks_before(|a| self.block[a] > 1);
        for (away, (owner, one)) in meant(owners) {
            let thread = [0, 1, 2].map(|a| moved(&owner[a], away[a]));
            all.extend(self.reads(&thread, &blocks, one, &load.at));
        }
        Truth::any(all)
    }

    /// How far away the thread is that has another address where this one has its own.
    fn away(&self, own: &Poly, wanted: &Poly) -> Option<[i64; 3]> {
        let found = self.steps(own, [own, wanted].map(|p| p.sum().value(&number)), &number);
        let to =
            |c: &[i64; 3]| self.renamed(own, &[0, 1, 2].map(|a| moved(&Sum::name(AXES[a]), c[a])));
        found.into_iter().find(|c| to(c).equal(wanted) == Truth::Always)
    }

    /// The thread whose position an address is, where it is positions along the axes times sizes: the coefficients say which.
    fn owner(&self, own: &Poly, wanted: &Poly) -> Option<[Sum; 3]> {
        let mut thread = AXES.map(Sum::name);
        for axis in (0..3).filter(|a| self.block[*a] > 1) {
            let [_, at] = own.coefficients(AXES[axis], wanted)?;
            thread[axis] = at.plus(&Sum::name(BLOCKS[axis]), -i64::from(self.block[axis]));
        }
        Some(thread)
    }

    /// How far away from an owner the thread is that reads the element in this load, where all is far from borders.
    fn beside_owner(&self, owner: &[Sum; 3], own: &Poly, wanted: &Poly) -> Option<[i64; 3]> {
        let there = self.renamed(own, owner).sum().value(&inside);
        self.steps(own, [there, wanted.sum().value(&inside)], &inside).into_iter().next()
    }

    /// Steps along the axes from one address to another, where names are certain numbers.
    fn steps(&self, own: &Poly, [from, to]: [i64; 2], of: &dyn Fn(&str) -> i64) -> Vec<[i64; 3]> {
        let own = own.sum();
        let here = own.value(of);
        let strides = [0, 1, 2].map(|a| match self.block[a] {
            1 => 0,
            _ => own.value(&|n| of(n) + i64::from(AXES[a] == n)).wrapping_sub(here),
        });
        let range = |a: usize| if strides[a] == 0 { 0..=0 } else { -MAX_AWAY..=MAX_AWAY };
        let rest = to.wrapping_sub(from);
        let all = range(2).flat_map(|z| range(1).map(move |y| (y, z)));
        let found = all.filter_map(|(y, z)| {
            let rest = rest.wrapping_sub(y.wrapping_mul(strides[1]));
            let rest = rest.wrapping_sub(z.wrapping_mul(strides[2]));
            let x = match strides[0] {
                0 => (rest == 0).then_some(0),
                stride => rest.checked_div(stride).filter(|x| x.wrapping_mul(stride) == rest),
            };
            x.filter(|x| x.abs() <= MAX_AWAY).map(|x| [x, y, z])
        });
        found.collect()
    }

    fn renamed(&self, at: &Poly, thread: &[Sum; 3]) -> Poly {
        at.renamed(&|name: &str| AXES.iter().position(|a| *a == name).map(|a| thread[a].clone()))
    }

    /// That a thread, counted in this block, is in it or in one before, and its load is made.
    fn reads(
        &self,
        thread: &[Sum; 3],
        blocks: &[[i64; 3]],
        load: &(Truth, Poly),
        wanted: &Poly,
    ) -> Vec<Truth> {
        let one = |back: &[i64; 3]| {
            let block = |a: usize| Sum::name(BLOCKS[a]).plus(&Sum::number(back[a]), -1);
            let there = |a: usize| {
                let moved = back[a] * i64::from(self.block[a]);
                thread[a].plus(&Sum::number(moved), 1)
            };
            let rename = |name: &str| match AXES.iter().position(|a| *a == name) {
                Some(a) => Some(there(a)),
                None => match BLOCKS.iter().position(|b| *b == name) {
                    Some(a) => Some(block(a)),
                    // Whatever the other thread has of its own.
                    None => name.strip_prefix("t_").map(|own| Sum::name(&format!("w_{own}"))),
                },
            };
            let mut parts = self.in_block(&[0, 1, 2].map(there));
            parts.extend((0..3).map(|a| Truth::at_most(&Sum::default(), &block(a))));
            parts.extend([load.0.renamed(&rename), load.1.renamed(&rename).equal(wanted)]);
            Truth::all(parts)
        };
        blocks.iter().map(one).collect()
    }
}

/// This block, and those before it along some axes.
fn blocks_before(axes: impl Fn(usize) -> bool) -> Vec<[i64; 3]> {
    let mut blocks = vec![[0; 3]];
    for axis in (0..3).filter(|a| axes(*a)) {
        let one = |b: &[i64; 3]| {
            let mut b = *b;
            b[axis] = 1;
            b
        };
        let before: Vec<[i64; 3]> = blocks.iter().map(one).collect();
        blocks.extend(before);
    }
    blocks
}

/// Of steps with something each, where they are many, those in the middle and at the ends of each axis.
fn meant<T>(mut found: Vec<([i64; 3], T)>) -> Vec<([i64; 3], T)> {
    if found.len() <= MAX_THREADS {
        return found;
    }
    let along = |a: usize| found.iter().map(move |(c, _)| c[a]);
    let ends = [0, 1, 2].map(|a| along(a).min().zip(along(a).max()).unwrap_or_default());
    let middle = ends.map(|(first, last)| (first + last).div_euclid(2));
    found.retain(|(c, _)| (0..3).all(|a| [ends[a].0, middle[a], ends[a].1].contains(&c[a])));
    found.sort_by_key(|(c, _)| (0..3).map(|a| (c[a] - middle[a]).abs()).sum::<i64>());
    found.truncate(MAX_THREADS);
    found
}

fn moved(at: &Sum, by: i64) -> Sum {
    at.plus(&Sum::number(by), 1)
}

/// A number for a name, so that positions are far from the borders of everything.
fn inside(name: &str) -> i64 {
    match name {
        _ if AXES.contains(&name) => 7,
        _ if BLOCKS.contains(&name) => 9,
        _ => number(name),
    }
}

/// A number for a name, large and without pattern: what is equal with it is most likely equal.
fn number(name: &str) -> i64 {
    let mixed = name.bytes().fold(17_i64, |n, b| (n * 131 + i64::from(b)) % 1_000_003);
    1_000 + mixed
}
