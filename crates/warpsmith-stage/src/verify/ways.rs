//! The ways of the kernel that launches went.

use std::collections::BTreeMap;

use warpsmith_ir::Way;

/// Ways that threads took, each with sizes of some of the launches.
#[derive(Clone, Debug, Default)]
pub struct Ways(BTreeMap<Way, Vec<BTreeMap<String, i64>>>);

/// Launches of different sizes that are enough to show what a way leads to.
const ENOUGH: usize = 6;

impl Ways {
    /// Takes up a way that threads took at these sizes.
    pub fn insert(&mut self, way: Way, sizes: &BTreeMap<String, i64>) {
        let known = self.0.entry(way).or_default();
        if known.len() < ENOUGH && !known.contains(sizes) {
            known.push(sizes.clone());
        }
    }

    /// Takes up those of others.
    pub fn extend(&mut self, others: &Ways) {
        for (way, all) in &others.0 {
            all.iter().for_each(|sizes| self.insert(*way, sizes));
        }
    }

    /// Whether a thread took a way.
    pub fn contains(&self, way: &Way) -> bool {
        self.0.contains_key(way)
    }

    /// Whether threads took a way, but in hardly any launch.
    pub fn is_rare(&self, way: &Way) -> bool {
        self.0.get(way).is_some_and(|all| all.len() < ENOUGH)
    }
}
