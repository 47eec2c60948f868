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

/// A configuration as models see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// One an axis, then what callers append.
    pub numbers: Vec<f64>,
    /// Where the axis has its number from, for all but the appended ones.
    places: Vec<u16>,
}

impl Sample {
    /// The position of an axis's number in its scale.
    pub fn place(&self, axis: usize) -> usize {
        usize::from(self.places[axis])
    }
}

/// The parameters with more than one value; those whose numbers are not equally even have a second axis.
#[derive(Clone, Debug)]
pub struct Features {
    /// The axes, in the order of the numbers of a sample.
    pub axes: Vec<Axis>,
    /// Further numbers, between 0 and 1, that callers append to those of a point.
    pub appended: usize,
}

impl Features {
    /// Axes for the parameters of a space that have more than one value.
    pub fn new(space: &Space) -> Features {
        let axes = space.free_parameters().into_iter().flat_map(|i| {
            let parameter = &space.parameters()[i];
            [Some(Axis::new(i, parameter)), Axis::of_evenness(i, parameter)]
        });
        Features { axes: axes.flatten().collect(), appended: 0 }
    }

    /// What models see of a point.
    pub fn of(&self, point: &[u16]) -> Sample {
        let places: Vec<u16> = self.axes.iter().map(|a| point[a.parameter]).collect();
        let numbers = self.axes.iter().zip(&places).map(|(a, i)| a.scale[usize::from(*i)]);
        Sample { numbers: numbers.collect(), places }
    }

    /// All numbers of an axis; `None` for an appended one.
    pub fn scale(&self, axis: usize) -> Option<&[f64]> {
        self.axes.get(axis).map(|a| a.scale.as_slice())
    }

    /// Numbers of a sample, appended ones included.
    pub fn count(&self) -> usize {
        self.axes.len() + self.appended
    }

    /// Whether the values of an axis are in no order; appended numbers never are.
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

    /// How often the values can be halved: warps, vectors and problems are powers of two, so 96 and 160 threads may have
    /// more in common than 96 and 112. `None` where that follows from the order of the values, or means nothing.
    fn of_evenness(parameter: usize, p: &Parameter) -> Option<Axis> {
        let halvings = |value: &Value| match value {
            Value::Int(n) if *n > 0 => Some(f64::from(n.trailing_zeros())),
            _ => None,
        };
        let numbers: Vec<f64> = p.values.iter().map(halvings).collect::<Option<_>>()?;
        // Of three values a step alone tells as much.
        if numbers.len() < 4 || numbers.is_sorted() || numbers.iter().rev().is_sorted() {
            return None;
        }
        let most = numbers.iter().copied().fold(0.0, f64::max);
        let least = numbers.iter().copied().fold(most, f64::min);
        let scale = numbers.iter().map(|x| (x - least) / (most - least)).collect();
        Some(Axis { parameter, scale, categorical: false })
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
        assert_eq!(features.of(&[2, 0, 1, 0]).numbers, [0.5, 1.0, 0.0]);
    }

    #[test]
    fn values_that_can_be_halved_as_often_are_alike_on_an_axis_of_their_own() {
        let ints = |name: &str, values: &[i64]| {
            Parameter::new(name, values.iter().copied().map(Value::Int))
        };
        let parameters = vec![
            ints("threads", &[32, 48, 64, 96, 128]),
            ints("powers", &[1, 2, 4, 8]),
            ints("zero", &[0, 1, 2, 3]),
        ];
        let features = Features::new(&Space::new(parameters, &[]).unwrap());
        assert_eq!(features.axes.iter().map(|a| a.parameter).collect::<Vec<_>>(), [0, 0, 1, 2]);
        let third = 1.0 / 3.0;
        assert_eq!(features.axes[1].scale, [third, 0.0, 2.0 * third, third, 1.0]);
        assert_eq!(features.of(&[3, 0, 0, 0]).numbers[1], third);
    }
}
