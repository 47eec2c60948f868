//! Covers: sets of calls that together hold every call once, the cheapest first.
//!
//! A cover is a path: from the nodes covered so far, by a set that holds the lowest one that is not, to all. So each cover is
//! one path, and none is found twice. What is still to be paid is known exactly for every state (a dynamic programme from the
//! end), so that a best-first search pops complete paths in the order of their costs. Covers whose kernels wait for each other
//! are dropped on the way out.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use crate::graph::{Graph, Set, members};

/// A set that may be one kernel, and its predicted time in seconds. Several candidates may have the same set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub set: Set,
    pub seconds: f64,
    /// Tells equally fast ones apart: less is better.
    pub work: f64,
}

/// A cover: candidates by their numbers, in the order in which they can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cover {
    pub kernels: Vec<usize>,
    pub seconds: f64,
}

/// There are too many states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// The `count` cheapest covers, cheapest first; of equally cheap ones those with fewer kernels, then those with less work.
///
/// # Errors
/// When more than `limit` sets of covered nodes are possible.
pub fn best(
    graph: &Graph,
    candidates: &[Candidate],
    count: usize,
    limit: usize,
) -> Result<Vec<Cover>, TooMany> {
    let mut search =
        Search { graph, by_lowest: HashMap::new(), candidates, rest: HashMap::new(), limit };
    for (i, c) in candidates.iter().enumerate() {
        search.by_lowest.entry(c.set.trailing_zeros()).or_default().push(i);
    }
    search.rest(0)?;
    Ok(search.covers(count))
}

struct Search<'a> {
    graph: &'a Graph,
    candidates: &'a [Candidate],
    /// Candidates by their lowest node.
    by_lowest: HashMap<u32, Vec<usize>>,
    /// What covering the rest costs at least; infinite where it cannot be covered.
    rest: HashMap<Set, Cost>,
    limit: usize,
}

/// Time, then kernels, then work; times in picoseconds, so that sums are exact and equal ones are seen to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost(u64, u32, u64);

impl Cost {
    const NOTHING: Cost = Cost(0, 0, 0);
    const NEVER: Cost = Cost(u64::MAX, 0, 0);

    fn of(candidate: &Candidate) -> Cost {
        // What is no time (infinite, or no number) is one that is never taken.
        let picoseconds = |s: f64| if s.is_nan() { u64::MAX } else { (s * 1e12) as u64 };
        Cost(picoseconds(candidate.seconds), 1, picoseconds(candidate.work))
    }

    fn plus(self, other: Cost) -> Cost {
        let time = self.0.saturating_add(other.0);
        Cost(time, self.1 + other.1, self.2.saturating_add(other.2))
    }

    fn is_finite(&self) -> bool {
        self.0 < u64::MAX
    }
}

/// A path in the queue: the one with the lowest total comes first, then the one that is closest to its end, or as many as there
/// are ways to be equally good would be followed side by side; then the one that was queued first.
struct Path {
    total: Cost,
    paid: Cost,
    number: u64,
    covered: Set,
    kernels: Vec<usize>,
}

impl Ord for Path {
    fn cmp(&self, other: &Path) -> Ordering {
        let covered = self.covered.count_ones().cmp(&other.covered.count_ones());
        other.total.cmp(&self.total).then(covered).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Path) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Path {}

impl Search<'_> {
    fn next(&self, covered: Set) -> Vec<usize> {
        let lowest = (!covered).trailing_zeros();
        let list = self.by_lowest.get(&lowest).map_or(&[][..], Vec::as_slice);
        list.iter().copied().filter(|i| self.candidates[*i].set & covered == 0).collect()
    }

    fn cost(&self, candidate: usize) -> Cost {
        Cost::of(&self.candidates[candidate])
    }

    /// The recursion is as deep as there are nodes: each step covers one more at least.
    fn rest(&mut self, covered: Set) -> Result<Cost, TooMany> {
        if covered == self.graph.all() {
            return Ok(Cost::NOTHING);
        }
        if let Some(known) = self.rest.get(&covered) {
            return Ok(*known);
        }
        let mut best = Cost::NEVER;
        for i in self.next(covered) {
            let with = self.cost(i).plus(self.rest(covered | self.candidates[i].set)?);
            if with < best {
                best = with;
            }
        }
        if self.rest.len() >= self.limit {
            return Err(TooMany);
        }
        self.rest.insert(covered, best);
        Ok(best)
    }

    fn known_rest(&self, covered: Set) -> Cost {
        if covered == self.graph.all() {
            return Cost::NOTHING;
        }
        self.rest.get(&covered).copied().unwrap_or(Cost::NEVER)
    }

    fn covers(&self, count: usize) -> Vec<Cover> {
        let mut queue = BinaryHeap::new();
        let start = Path {
            total: self.known_rest(0),
            paid: Cost::NOTHING,
            number: 0,
            covered: 0,
            kernels: vec![],
        };
        queue.push(start);
        let (mut number, mut found) = (0, vec![]);
        while let Some(path) = queue.pop() {
            if path.covered == self.graph.all() {
                found.extend(self.finished(&path));
                if found.len() >= count {
                    break;
                }
                continue;
            }
            for i in self.next(path.covered) {
                if path.kernels.iter().any(|k| self.wait_for_each_other(*k, i)) {
                    continue;
                }
                let covered = path.covered | self.candidates[i].set;
                let paid = path.paid.plus(self.cost(i));
                let total = paid.plus(self.known_rest(covered));
                if total.is_finite() {
                    number += 1;
                    let kernels = [path.kernels.as_slice(), &[i]].concat();
                    queue.push(Path { total, paid, number, covered, kernels });
                }
            }
        }
        found
    }

    /// Whether each of two sets needs something that the other makes. (Longer circles are found when a path is complete.)
    fn wait_for_each_other(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.candidates[a].set, self.candidates[b].set);
        let below = |set: Set| members(set).fold(0, |all, n| all | self.graph.descendants[n]);
        below(a) & b != 0 && below(b) & a != 0
    }

    /// A complete path as a cover, where its kernels can be put in an order.
    fn finished(&self, path: &Path) -> Option<Cover> {
        let sets: Vec<Set> = path.kernels.iter().map(|i| self.candidates[*i].set).collect();
        let order = self.graph.ordered(&sets)?;
        let at = |set: &Set| sets.iter().position(|s| s == set).map(|p| path.kernels[p]);
        let kernels: Vec<usize> = order.iter().filter_map(at).collect();
        let seconds = kernels.iter().map(|k| self.candidates[*k].seconds).sum();
        Some(Cover { kernels, seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All covers, by trying every subset of candidates.
    fn all(graph: &Graph, candidates: &[Candidate]) -> Vec<f64> {
        fn go(
            graph: &Graph,
            candidates: &[Candidate],
            from: usize,
            chosen: &mut Vec<usize>,
            costs: &mut Vec<f64>,
        ) {
            let covered = chosen.iter().fold(0, |all, i| all | candidates[*i].set);
            if covered == graph.all() {
                let sets: Vec<Set> = chosen.iter().map(|i| candidates[*i].set).collect();
                if graph.ordered(&sets).is_some() {
                    costs.push(chosen.iter().map(|i| candidates[*i].seconds).sum());
                }
                return;
            }
            for i in from..candidates.len() {
                if candidates[i].set & covered == 0 {
                    chosen.push(i);
                    go(graph, candidates, i + 1, chosen, costs);
                    chosen.pop();
                }
            }
        }
        let mut costs = vec![];
        go(graph, candidates, 0, &mut vec![], &mut costs);
        costs.sort_by(f64::total_cmp);
        costs
    }

    proptest! {
        #[test]
        fn covers_come_in_order_and_none_twice(
            edges in proptest::collection::vec(any::<u64>(), 1..7),
            costs in proptest::collection::vec(1u32..50, 64),
        ) {
            let before: Vec<Set> = edges.iter().enumerate().map(|(i, e)| e & (e >> 30) & ((1 << i) - 1)).collect();
            let everything = (1 << before.len()) - 1;
            let graph = Graph::from_edges(&before, &[everything], everything);
            let sets = graph.convex_sets(4, 64, 1000).unwrap();
            let candidates: Vec<Candidate> = sets.iter().enumerate()
                .flat_map(|(i, set)| [0, 1 + i % 2].map(|way| (i + way, *set)))
                .map(|(i, set)| Candidate { set, seconds: f64::from(costs[i % 64]), work: 0.0 }).collect();
            let covers = best(&graph, &candidates, 100, 10_000).unwrap();
            let expected = all(&graph, &candidates);
            let found: Vec<f64> = covers.iter().map(|c| c.seconds).collect();
            prop_assert_eq!(&found[..], &expected[..found.len()]);
            prop_assert_eq!(found.len(), expected.len().min(100));
            let different: BTreeSet<Vec<usize>> = covers.iter().map(|c| {
                let mut k = c.kernels.clone();
                k.sort_unstable();
                k
            }).collect();
            prop_assert_eq!(different.len(), covers.len());
        }
    }

    #[test]
    fn many_equally_good_covers_are_not_followed_side_by_side() {
        // 40 calls of one input; all sets of up to 3 neighbours cost the same for each call.
        let graph = Graph::from_edges(&[0; 40], &[(1 << 40) - 1], (1 << 40) - 1);
        let sets = graph.convex_sets(3, 4, 10_000).unwrap();
        let candidate = |set: &Set| {
            let seconds = 1e-5 / 3.0 * f64::from(set.count_ones());
            Candidate { set: *set, seconds, work: 0.0 }
        };
        let candidates: Vec<Candidate> = sets.iter().map(candidate).collect();
        let start = std::time::Instant::now();
        assert_eq!(best(&graph, &candidates, 50, 200_000).unwrap().len(), 50);
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
