//! A forest of randomised regression trees (Geurts, Ernst, Wehenkel, *Extremely randomized trees*, 2006), whose trees'
//! disagreement is the uncertainty.

use super::features::{Features, Sample};
use crate::rng::Rng;

/// Trees of one forest.
const TREES: usize = 24;
/// A node of fewer samples is a leaf.
const SMALLEST: usize = 3;

enum Node {
    Leaf {
        mean: f64,
        variance: f64,
    },
    /// Left below the threshold; of a categorical axis, where equal.
    Split {
        axis: usize,
        threshold: f64,
        equal: bool,
        left: usize,
        right: usize,
    },
}

/// Trees that were grown on the same samples with different random splits.
pub struct Forest {
    trees: Vec<Vec<Node>>,
}

impl Forest {
    /// Grows the trees on samples with their values.
    pub fn fit(features: &Features, points: &[Sample], values: &[f64], rng: &mut Rng) -> Forest {
        let trees = (0..TREES)
            .map(|_| {
                let mut tree = Grower { features, points, values, nodes: vec![] };
                let mut all: Vec<usize> = (0..points.len()).collect();
                tree.grow(&mut all, rng, 0);
                tree.nodes
            })
            .collect();
        Forest { trees }
    }

    /// Mean and standard deviation at a point.
    pub fn predict(&self, point: &Sample) -> (f64, f64) {
        let (mut sum, mut squares, mut inside) = (0.0, 0.0, 0.0);
        for tree in &self.trees {
            let mut at = 0;
            while let Node::Split { axis, threshold, equal, left, right } = &tree[at] {
                let x = point.numbers[*axis];
                let to_left = if *equal { x == *threshold } else { x < *threshold };
                at = if to_left { *left } else { *right };
            }
            if let Node::Leaf { mean, variance } = &tree[at] {
                sum += mean;
                squares += mean * mean;
                inside += variance;
            }
        }
        let n = self.trees.len().max(1) as f64;
        let mean = sum / n;
        let variance = (squares / n - mean * mean).max(0.0) + inside / n;
        (mean, variance.sqrt())
    }
}

struct Grower<'a> {
    features: &'a Features,
    points: &'a [Sample],
    values: &'a [f64],
    nodes: Vec<Node>,
}

/// Where to divide samples, and how much of the squared deviation that explains.
struct Cut {
    axis: usize,
    threshold: f64,
    equal: bool,
    gain: f64,
}

impl Grower<'_> {
    fn grow(&mut self, samples: &mut [usize], rng: &mut Rng, depth: usize) -> usize {
        let place = self.nodes.len();
        let (mean, variance) = self.moments(samples);
        self.nodes.push(Node::Leaf { mean, variance });
        if samples.len() < SMALLEST || variance < 1e-12 || depth > 30 {
            return place;
        }
        let cuts = (0..self.features.count()).filter_map(|axis| self.cut(samples, axis, rng));
        let Some(cut) = cuts.max_by(|a, b| a.gain.total_cmp(&b.gain)) else { return place };
        let goes_left = |i: &usize| {
            let x = self.points[*i].numbers[cut.axis];
            if cut.equal { x == cut.threshold } else { x < cut.threshold }
        };
        samples.sort_by_key(|i| !goes_left(i));
        let middle = samples.iter().filter(|i| goes_left(i)).count();
        let (below, above) = samples.split_at_mut(middle);
        let left = self.grow(below, rng, depth + 1);
        let right = self.grow(above, rng, depth + 1);
        let Cut { axis, threshold, equal, .. } = cut;
        self.nodes[place] = Node::Split { axis, threshold, equal, left, right };
        place
    }

    fn moments(&self, samples: &[usize]) -> (f64, f64) {
        let n = samples.len().max(1) as f64;
        let mean = samples.iter().map(|&i| self.values[i]).sum::<f64>() / n;
        let square = samples.iter().map(|&i| (self.values[i] - mean).powi(2)).sum::<f64>();
        (mean, square / n)
    }

    /// A random cut of one axis; `None` when the samples do not differ there.
    fn cut(&self, samples: &[usize], axis: usize, rng: &mut Rng) -> Option<Cut> {
        let at = |i: &usize| self.points[*i].numbers[axis];
        let least = samples.iter().map(at).fold(f64::INFINITY, f64::min);
        let most = samples.iter().map(at).fold(f64::NEG_INFINITY, f64::max);
        if least >= most {
            return None;
        }
        let equal = self.features.is_categorical(axis);
        let threshold = if equal {
            at(rng.pick(samples)?)
        } else {
            // In (least, most], so that both sides get samples.
            most - rng.unit() * (most - least)
        };
        let (mut n, mut sum, mut left_n, mut left_sum) = (0.0, 0.0, 0.0, 0.0);
        for i in samples {
            n += 1.0;
            sum += self.values[*i];
            if if equal { at(i) == threshold } else { at(i) < threshold } {
                left_n += 1.0;
                left_sum += self.values[*i];
            }
        }
        let right_n: f64 = n - left_n;
        if left_n == 0.0 || right_n == 0.0 {
            return None;
        }
        let right_sum: f64 = sum - left_sum;
        let gain = left_sum * left_sum / left_n + right_sum * right_sum / right_n - sum * sum / n;
        Some(Cut { axis, threshold, equal, gain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Parameter, Space};
    use crate::value::Value;

    #[test]
    fn it_learns_a_step_and_a_category() {
        let parameters = vec![
            Parameter::new("x", (0..11).map(Value::Int)),
            Parameter::new("c", ["a", "b", "c"].map(Value::from)),
        ];
        let features = Features::new(&Space::new(parameters, &[]).unwrap());
        let mut rng = Rng::new(9);
        let truth = |x: u16, c: u16| f64::from(u8::from(x > 5)) + 2.0 * f64::from(u8::from(c == 1));
        let drawn: Vec<[u16; 2]> =
            (0..60).map(|_| [rng.index(11) as u16, rng.index(3) as u16]).collect();
        let points: Vec<Sample> = drawn.iter().map(|p| features.of(p)).collect();
        let values: Vec<f64> = drawn.iter().map(|p| truth(p[0], p[1])).collect();
        let forest = Forest::fit(&features, &points, &values, &mut rng);
        for (x, c) in [(0, 0), (10, 0), (0, 1), (10, 1), (10, 2)] {
            let (mean, _) = forest.predict(&features.of(&[x, c]));
            assert!((mean - truth(x, c)).abs() < 0.3, "{x} {c}: {mean}");
        }
    }
}
