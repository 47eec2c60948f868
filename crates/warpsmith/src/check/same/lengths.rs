//! How long arrays are at each size, where nobody says it.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::layout::layout_of;

use super::Comparison;
use super::extents::{self, Formula};
use super::pairs::Place;
use super::run::{self, Inputs, Nothing};
use super::variety::Sort;
use crate::data::{self, Init};
use crate::status::Failure;
use warpsmith_translate::tune::sizes::Point;

/// Launches of the reference that tell how long its arrays are.
const PROBES: usize = 6;

impl Comparison<'_> {
    /// Launches the reference to see how long its arrays are.
    pub fn probe(&mut self, points: &[Point]) -> Result<(), Failure> {
        let apart = |p: &&Point| {
            let mut values: Vec<i64> = p.values().copied().filter(|v| *v > 2).collect();
            values.sort_unstable();
            values.dedup();
            values.len() == p.len()
        };
        let names: Vec<String> = points.first().map_or(vec![], |p| p.keys().cloned().collect());
        let mut touched: BTreeMap<usize, Vec<(Point, u64)>> = BTreeMap::new();
        let mut chosen_by_data: BTreeSet<usize> = BTreeSet::new();
        let chosen: Vec<&Point> = points.iter().filter(apart).take(PROBES).collect();
        let chosen = if chosen.is_empty() { points.iter().take(PROBES).collect() } else { chosen };
        for point in chosen {
            let inputs = match self.data.inputs(point, 0, Sort::Plain) {
                Ok(inputs) => inputs,
                Err(Nothing::Failed(failure)) => return Err(failure),
                Err(_) => continue,
            };
            if !self.data.reference.is_kernel() {
                for (i, count) in self.inferred(&inputs) {
                    touched.entry(i).or_default().push((point.clone(), count));
                }
                continue;
            }
            let Ok(Some(shapes)) = self.shapes(&inputs, false) else { continue };
            let Ok(computed) = self.reference_kernels(&inputs, &shapes) else { continue };
            let other = self.data.inputs(point, 1, Sort::Plain).ok();
            let other = other.and_then(|i| self.reference_kernels(&i, &shapes).ok());
            for (i, bytes) in computed.arrays.iter().enumerate() {
                if let (Some(bytes), run::Content::Grows(_)) = (bytes, &inputs.arrays[i]) {
                    let count = bytes.len() as u64 / self.element_size(i);
                    let again = other.as_ref().and_then(|o| o.arrays[i].as_ref());
                    if again.is_some_and(|b| b.len() != bytes.len()) {
                        chosen_by_data.insert(i);
                    }
                    touched.entry(i).or_default().push((point.clone(), count));
                }
            }
        }
        for (i, touched) in touched {
            let name = &self.data.pairs.arrays[i].name;
            if chosen_by_data.contains(&i) {
                let most = touched.iter().map(|(_, n)| *n).max().unwrap_or(1);
                let times = (2 * most).next_power_of_two().max(256);
                self.runner.assume(format!(
                    "data decide which elements of `{name}` the reference touches: it was run with {times}"
                ));
                self.formulas.insert(i, Formula { times, factors: vec![] });
                continue;
            }
            let Some(formula) = extents::fit(&names, &touched) else { continue };
            self.runner.assume(format!(
                "`{name}` has {} elements: so many does the reference touch",
                formula.text()
            ));
            self.formulas.insert(i, formula);
        }
        Ok(())
    }

    /// Elements of the arrays of a C function of which nobody but its accesses says how long they are.
    fn inferred(&self, inputs: &Inputs) -> Vec<(usize, u64)> {
        let slots = &self.data.reference.slots;
        let arrays = self.data.pairs.arrays.iter().zip(&inputs.arrays).enumerate();
        let counts = arrays.filter_map(|(i, (a, content))| match (a.reference, content) {
            (Some(Place::Param(at)), run::Content::Bytes(bytes)) if slots[at].inferred => {
                Some((i, bytes.len() as u64 / self.element_size(i)))
            }
            _ => None,
        });
        counts.collect()
    }

    /// Makes arrays as long as they are at sizes at which the reference touches all of them.
    pub fn lengthen(&self, inputs: &mut Inputs) {
        for (i, formula) in &self.formulas {
            let want = formula.at(&inputs.point);
            let (module, element) = self.data.element(&self.data.pairs.arrays[*i]);
            if let run::Content::Bytes(bytes) = &mut inputs.arrays[*i] {
                let all = data::fill(module, &element, want, &Init::Random(None), inputs.seed);
                let known = bytes.len().min(all.len());
                bytes.extend_from_slice(&all[known..]);
            }
        }
    }

    pub fn element_size(&self, array: usize) -> u64 {
        let (module, element) = self.data.element(&self.data.pairs.arrays[array]);
        layout_of(module, &element).size.max(1)
    }

    /// Bytes of an array as runs of the reference showed, where nobody says how long it is.
    pub fn assumed_length(&self, array: usize, point: &Point) -> Option<u64> {
        let formula = self.formulas.get(&array)?;
        Some(formula.at(point).saturating_mul(self.element_size(array)))
    }
}
