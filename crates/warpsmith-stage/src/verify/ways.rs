//! The ways of the kernel that launches went.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::Way;

/// Ways that threads took.
#[derive(Clone, Debug, Default)]
pub struct Ways(BTreeMap<Way, Taken>);

/// Launches in which a way was taken.
#[derive(Clone, Debug, Default)]
struct Taken {
    /// Sizes of some of them.
    sizes: Vec<BTreeMap<String, i64>>,
    /// Some values of each size.
    values: BTreeMap<String, BTreeSet<i64>>,
}

/// Launches of different sizes that are enough to show what a way leads to.
const ENOUGH: usize = 6;

impl Ways {
    /// Takes up a way that threads took at these sizes.
    pub fn insert(&mut self, way: Way, sizes: &BTreeMap<String, i64>) {
        let known = self.0.entry(way).or_default();
        if known.sizes.len() < ENOUGH && !known.sizes.contains(sizes) {
            known.sizes.push(sizes.clone());
        }
        for (name, value) in sizes {
            known.value(name, *value);
        }
    }

    /// Takes up those of others.
    pub fn extend(&mut self, others: &Ways) {
        for (way, taken) in &others.0 {
            taken.sizes.iter().for_each(|sizes| self.insert(*way, sizes));
            let own = self.0.entry(*way).or_default();
            for (name, values) in &taken.values {
                values.iter().for_each(|value| own.value(name, *value));
            }
        }
    }

    /// Whether a thread took a way.
    pub fn contains(&self, way: &Way) -> bool {
        self.0.contains_key(way)
    }

    /// Whether threads took a way, but in hardly any launch.
    pub fn is_rare(&self, way: &Way) -> bool {
        self.0.get(way).is_some_and(|all| all.sizes.len() < ENOUGH)
    }

    /// Sizes that had one value in all launches in which threads took a way, and others in launches in which they took another.
    pub fn pinned(&self, way: &Way) -> Vec<&str> {
        let Some(taken) = self.0.get(way) else { return vec![] };
        let one = taken.values.iter().filter(|(_, values)| values.len() == 1);
        let varies = |(name, values): &(&String, &BTreeSet<i64>)| {
            self.0.values().any(|t| t.values.get(*name).is_some_and(|all| !all.is_subset(values)))
        };
        one.filter(varies).map(|(name, _)| name.as_str()).collect()
    }
}

impl Taken {
    fn value(&mut self, name: &str, value: i64) {
        match self.values.get_mut(name) {
            Some(known) if known.len() < ENOUGH => _ = known.insert(value),
            Some(_) => {}
            None => _ = self.values.insert(name.to_string(), BTreeSet::from([value])),
        }
    }
}
