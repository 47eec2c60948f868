//! Elements that another thread reads: who copies beyond a border reads what the thread does whose element it is.

use super::super::eval::Loaded;
use super::super::formula::{Sum, Truth};
use super::super::poly::Poly;
use super::{AXES, Claims};

/// Threads along an axis that are looked at to each side.
const MAX_AWAY: i64 = 16;

/// Threads that are asked about, those first that lie in the middle of all that read the element.
const MAX_THREADS: usize = 3;

const BLOCKS: [&str; 3] = ["u_bx", "u_by", "u_bz"];

impl Claims<'_> {
    /// That a thread near this one, in its block or in one before, reads an element in some of the loads of this array.
    pub(super) fn read_beside(&self, load: &Loaded, known: &[(Truth, Poly)]) -> Truth {
        let mut found: Vec<([i64; 3], &Truth)> = vec![];
        for (when, at) in known {
            let away = self.away(at, &load.at);
            found.extend(away.filter(|c| *c != [0; 3]).map(|c| (c, when)));
        }
        let total = |a: usize| found.iter().map(|(c, _)| c[a]).sum::<i64>();
        let (count, totals) = (found.len() as i64, [0, 1, 2].map(total));
        let off = |c: &[i64; 3]| (0..3).map(|a| (count * c[a] - totals[a]).abs()).sum::<i64>();
        found.sort_by_key(|(c, _)| off(c));
        found.truncate(MAX_THREADS);
        Truth::any(found.into_iter().flat_map(|(away, when)| self.reads(away, when)))
    }

    /// How far away the thread is that has another address where this one has its own.
    fn away(&self, own: &Poly, wanted: &Poly) -> Option<[i64; 3]> {
        let at = |p: &Poly, moved: Option<usize>| {
            p.sum().value(&|n| number(n) + i64::from(moved.is_some_and(|a| AXES[a] == n)))
        };
        let here = at(own, None);
        let strides = [0, 1, 2].map(|a| match self.block[a] {
            1 => 0,
            _ => at(own, Some(a)).wrapping_sub(here),
        });
        let range = |a: usize| if strides[a] == 0 { 0..=0 } else { -MAX_AWAY..=MAX_AWAY };
        let rest = at(wanted, None).wrapping_sub(here);
        let all = range(2).flat_map(|z| range(1).map(move |y| (y, z)));
        let found = all.filter_map(|(y, z)| {
            let rest = rest.wrapping_sub(y.wrapping_mul(strides[1]));
            let rest = rest.wrapping_sub(z.wrapping_mul(strides[2]));
            let x = if strides[0] == 0 {
                (rest == 0).then_some(0)
            } else {
                rest.checked_div(strides[0])
            };
            x.filter(|x| x.abs() <= MAX_AWAY).map(|x| [x, y, z])
        });
        let moved = |c: &[i64; 3]| {
            let to = |name: &str| {
                let axis = AXES.iter().position(|a| *a == name)?;
                Some(Sum::name(name).plus(&Sum::number(c[axis]), 1))
            };
            own.renamed(&to).equal(wanted) == Truth::Always
        };
        found.into_iter().find(moved)
    }

    /// That the thread so far away is in this block, or in one before, and its load is made.
    fn reads(&self, away: [i64; 3], when: &Truth) -> Vec<Truth> {
        let mut blocks = vec![[0; 3]];
        for axis in (0..3).filter(|a| away[*a] < 0) {
            let before: Vec<[i64; 3]> = blocks
                .iter()
                .map(|b| {
                    let mut b = *b;
                    b[axis] = 1;
                    b
                })
                .collect();
            blocks.extend(before);
        }
        blocks
            .into_iter()
            .map(|back| {
                let block = |a: usize| Sum::name(BLOCKS[a]).plus(&Sum::number(back[a]), -1);
                let thread = |a: usize| {
                    let moved = away[a] + back[a] * i64::from(self.block[a]);
                    Sum::name(AXES[a]).plus(&Sum::number(moved), 1)
                };
                let rename = |name: &str| match AXES.iter().position(|a| *a == name) {
                    Some(a) => Some(thread(a)),
                    None => match BLOCKS.iter().position(|b| *b == name) {
                        Some(a) => Some(block(a)),
                        // Whatever the other thread has of its own.
                        None => name.strip_prefix("t_").map(|own| Sum::name(&format!("w_{own}"))),
                    },
                };
                let mut parts = self.in_block(&[0, 1, 2].map(thread));
                parts.extend((0..3).map(|a| Truth::at_most(&Sum::default(), &block(a))));
                parts.push(when.renamed(&rename));
                Truth::all(parts)
            })
            .collect()
    }
}

/// A number for a name, large and without pattern: what is equal with it is most likely equal.
fn number(name: &str) -> i64 {
    let mixed = name.bytes().fold(17_i64, |n, b| (n * 131 + i64::from(b)) % 1_000_003);
    1_000 + mixed
}
