//! Calls and what they depend on, and the sets of calls that can be one kernel.

use std::collections::{HashMap, HashSet};

use crate::script::{Node, Region, VarId};

/// A set of nodes of one region, by their numbers; regions have at most [`MAX_NODES`].
pub type Set = u64;

/// What fits into a [`Set`].
pub const MAX_NODES: usize = 64;

/// The dependences of one region.
#[derive(Clone, Debug)]
pub struct Graph {
    /// For each node those that it reads from directly.
    pub before: Vec<Set>,
    /// Nodes that it depends on, directly or not.
    pub ancestors: Vec<Set>,
    pub descendants: Vec<Set>,
    /// Nodes that it shares an edge or an input with.
    pub beside: Vec<Set>,
    /// Calls; loops are nodes that fuse with nothing.
    pub calls: Set,
}

/// The numbers in a set, ascending.
pub fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..MAX_NODES).filter(move |n| set >> n & 1 == 1)
}

impl Graph {
    /// The graph of a region of at most [`MAX_NODES`] nodes.
    pub fn new(region: &Region) -> Graph {
        let count = region.nodes.len();
        let mut writer: HashMap<VarId, usize> = HashMap::new();
        let mut readers: HashMap<VarId, Set> = HashMap::new();
        let mut before = vec![0; count];
        let mut calls = 0;
        for (n, node) in region.nodes.iter().enumerate() {
            for read in node.reads() {
                *readers.entry(read).or_insert(0) |= 1 << n;
                if let Some(w) = writer.get(&read) {
                    before[n] |= 1 << w;
                }
            }
            writer.extend(node.writes().into_iter().map(|v| (v, n)));
            calls |= Set::from(matches!(node, Node::Call(_))) << n;
        }
        let sharing: Vec<Set> = readers.values().copied().collect();
        Graph::from_edges(&before, &sharing, calls)
    }

    /// `before`: for each node, in an order in which edges go forward, those it reads from; `sharing`: sets of nodes that
    /// read one value.
    pub fn from_edges(before: &[Set], sharing: &[Set], calls: Set) -> Graph {
        let count = before.len();
        let (mut after, mut ancestors, mut descendants) =
            (vec![0; count], vec![0; count], vec![0; count]);
        let mut beside = vec![0; count];
        for n in 0..count {
            for b in members(before[n]) {
                after[b] |= 1 << n;
                ancestors[n] |= ancestors[b] | 1 << b;
            }
        }
        for n in (0..count).rev() {
            for a in members(after[n]) {
                descendants[n] |= descendants[a] | 1 << a;
            }
        }
        for n in 0..count {
            let shared = sharing.iter().filter(|s| **s >> n & 1 == 1).fold(0, |all, s| all | s);
            beside[n] = (before[n] | after[n] | shared) & calls & !(1 << n);
        }
        Graph { before: before.to_vec(), ancestors, descendants, beside, calls }
    }

    /// Whether no path leaves the set and comes back.
    pub fn is_convex(&self, set: Set) -> bool {
        let below = members(set).fold(0, |all, n| all | self.descendants[n]);
        let above = members(set).fold(0, |all, n| all | self.ancestors[n]);
        below & above & !set == 0
    }

    /// All nodes.
    pub fn all(&self) -> Set {
        if self.before.len() >= MAX_NODES { Set::MAX } else { (1 << self.before.len()) - 1 }
    }

    /// Convex sets of at most `size` calls that hang together by edges or common inputs; and each loop for itself. Nodes
    /// of a set are at most `window` numbers apart. `None`: there are more than `limit`.
    ///
    /// A set is found by adding neighbours to its lowest member and closing under paths between members; a convex set that
    /// hangs together can be reached in this way, since between two members everything on a path is a member, too.
    pub fn convex_sets(&self, size: usize, window: usize, limit: usize) -> Option<Vec<Set>> {
        let mut found: Vec<Set> = vec![];
        for first in 0..self.before.len() {
            let mut seen: HashSet<Set> = HashSet::from([1 << first]);
            let mut waiting = vec![1 << first];
            let high = if first + window + 1 >= MAX_NODES {
                Set::MAX
            } else {
                (1 << (first + window + 1)) - 1
            };
            let allowed = high & !((1 << first) - 1) & self.calls;
            while let Some(set) = waiting.pop() {
                if self.is_convex(set) {
                    found.push(set);
                }
                if found.len() > limit || seen.len() > 8 * limit + 64 {
                    return None;
                }
                if set.count_ones() as usize >= size || self.calls >> first & 1 == 0 {
                    continue;
                }
                let near = members(set).fold(0, |all, n| all | self.beside[n]) & allowed & !set;
                for n in members(near) {
                    let larger = self.closed(set | 1 << n);
                    let fits = larger & !allowed == 0 && larger.count_ones() as usize <= size;
                    if fits && seen.insert(larger) {
                        waiting.push(larger);
                    }
                }
            }
        }
        found.sort_unstable();
        Some(found)
    }

    /// The smallest convex set around a set.
    fn closed(&self, set: Set) -> Set {
        let below = members(set).fold(0, |all, n| all | self.descendants[n]);
        let above = members(set).fold(0, |all, n| all | self.ancestors[n]);
        set | below & above
    }

    /// Whether kernels for these disjoint sets can be put in an order, and which: the sets, each after what it reads.
    pub fn ordered(&self, sets: &[Set]) -> Option<Vec<Set>> {
        let (mut left, mut done, mut order) = (sets.to_vec(), 0, vec![]);
        while !left.is_empty() {
            let ready = |s: &Set| members(*s).all(|n| self.before[n] & !(done | s) == 0);
            let at = left.iter().position(ready)?;
            let set = left.remove(at);
            done |= set;
            order.push(set);
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph() -> impl Strategy<Value = Graph> {
        (1usize..9).prop_flat_map(|n| {
            let edges = proptest::collection::vec(any::<u64>(), n);
            let sharing = proptest::collection::vec(any::<u64>(), 0..3);
            (edges, sharing).prop_map(move |(edges, sharing)| {
                let before: Vec<Set> =
                    edges.iter().enumerate().map(|(i, e)| e & (e >> 20) & ((1 << i) - 1)).collect();
                let all = (1 << n) - 1;
                let sharing: Vec<Set> = sharing.iter().map(|s| s & (s >> 16) & all).collect();
                Graph::from_edges(&before, &sharing, all)
            })
        })
    }

    fn hangs_together(g: &Graph, set: Set) -> bool {
        let mut reached = set & set.wrapping_neg();
        loop {
            let next = reached | members(reached).fold(0, |all, n| all | g.beside[n]) & set;
            if next == reached {
                return reached == set;
            }
            reached = next;
        }
    }

    proptest! {
        #[test]
        fn the_convex_sets_are_those_that_filtering_finds(g in graph(), size in 1usize..9) {
            let all: Vec<Set> = (1..=g.all())
                .filter(|s| s.count_ones() as usize <= size && g.is_convex(*s) && hangs_together(&g, *s))
                .collect();
            prop_assert_eq!(g.convex_sets(size, 64, 100_000), Some(all));
        }
    }

    #[test]
    fn a_diamond_without_a_side_is_not_convex() {
        let g = Graph::from_edges(&[0, 1, 1, 6], &[], 15);
        assert!(!g.is_convex(0b1011) && g.is_convex(0b1111) && g.is_convex(0b0110));
    }

    #[test]
    fn sets_that_wait_for_each_other_have_no_order() {
        // 0 -> 2, 1 -> 3: {0, 3} and {1, 2} wait for each other.
        let g = Graph::from_edges(&[0, 0, 1, 2], &[], 15);
        assert_eq!(g.ordered(&[0b1001, 0b0110]), None);
        assert_eq!(g.ordered(&[0b1100, 0b0011]), Some(vec![0b0011, 0b1100]));
    }
}
