//! Configurations as numbers that models can compare.

use crate::space::{Parameter, Space};
use crate::value::Value;

/// How a parameter's values become numbers in `[0, 1]`.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Position of the parameter in the space.
    pub parameter: usize,
    /// The number of each value.
    pub scale: Vec<f64>,
    /// Whether only being equal or not means something.
    pub categorical: bool,
}

/// The parameters with more than one value.
#[derive(Clone, Debug)]
pub struct Features {
    pub axes: Vec<Axis>,
    /// Further numbers, between 0 and 1, that callers append to those of a point.
    pub appended: usize,
}

impl Features {
    pub fn new(space: &Space) -> Features {
        let axes =
            space.free_parameters().into_iter().map(|i| Axis::new(i, &space.parameters()[i]));
        Features { axes: axes.collect(), appended: 0 }
    }

    /// The numbers of a point, an axis after the other.
    pub fn of(&self, point: &[u16]) -> Vec<f64> {
        self.axes.iter().map(|a| a.scale[usize::from(point[a.parameter])]).collect()
    }

    pub fn count(&self) -> usize {
        self.axes.len() + self.appended
    }

    pub fn is_categorical(&self, axis: usize) -> bool {
        self.axes.get(axis).is_some_and(|a| a.categorical)
    }
}

impl Axis {
    /// Numbers are scaled by the mean of their rank and their logarithm (or value, where one is not positive): tuning
    /// values are chosen about evenly in what matters, and mostly mean sizes. Everything else is categorical.
    fn new(parameter: usize, p: &Parameter) -> Axis {
        let numbers: Option<Vec<f64>> =
            p.values.iter().map(Value::number).map(|x| x.filter(|x| x.is_finite())).collect();
        let last = (p.values.len() - 1).max(1) as f64;
        let Some(numbers) = numbers else {
            let scale = (0..p.values.len()).map(|i| i as f64 / last).collect();
            return Axis { parameter, scale, categorical: true };
        };
        let positive = numbers.iter().all(|x| *x > 0.0);
        let sizes: Vec<f64> = numbers.iter().map(|x| if positive { x.ln() } else { *x }).collect();
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = sizes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rank = |x: &f64| sizes.iter().filter(|y| *y < x).count() as f64 / last;
        let scale =
            sizes.iter().map(|x| 0.5 * rank(x) + 0.5 * (x - least) / (most - least)).collect();
        Axis { parameter, scale, categorical: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_spread_and_names_are_not_ordered() {
        let space = Space::new(
            vec![
                Parameter::by_rule("size", 1, 5, |x| Some(2 * x)),
                Parameter::new("fixed", [Value::Int(3)]),
                Parameter::new("order", ["row", "col"].map(Value::from)),
                Parameter::new("flag", [false, true].map(Value::Bool)),
            ],
            &[],
        )
        .unwrap();
        let features = Features::new(&space);
        assert_eq!(features.axes[0].scale, [0.0, 0.25, 0.5, 0.75, 1.0]);
        let categorical: Vec<bool> = features.axes.iter().map(|a| a.categorical).collect();
        assert_eq!(categorical, [false, true, false]);
        assert_eq!(features.of(&[2, 0, 1, 0]), [0.5, 1.0, 0.0]);
    }
}
