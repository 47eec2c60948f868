//! A Gaussian process over configurations whose covariance adds up what single parameters do, what pairs of them do
//! together, and what is left (Rasmussen and Williams, *Gaussian Processes for Machine Learning*, algorithm 2.1;
//! Duvenaud, Nickisch, Rasmussen, *Additive Gaussian Processes*, 2011).
//!
//! Two configurations of seven parameters hardly ever agree in most of them. A covariance that asks for that learns
//! nothing from the first dozens; sums learn from each what its value of every parameter is worth.

use super::features::{Features, Sample};

/// Bounds of length scales in units of an axis, of what a step adds, of the noise relative to the signal, and of the
/// shares of single parameters and of pairs relative to that of all at once.
const SCALES: (f64, f64) = (0.05, 20.0);
const STEPS: (f64, f64) = (1e-3, 2.0);
const NOISES: (f64, f64) = (1e-6, 0.3);
const SHARES: (f64, f64) = (0.01, 100.0);
/// What is expected of them.
const USUAL_SCALE: f64 = 2.0;
const USUAL_STEP: f64 = 0.3;
const USUAL_NOISE: f64 = 1e-2;
const USUAL_SHARE: f64 = 4.0;
/// Axes with up to so many values have their covariances in a table.
const TABLE: usize = 64;

/// What the process believes about the function before it has seen any of it.
#[derive(Clone, Debug)]
pub struct Belief {
    /// Natural logarithms of length scales, then of the squared distance that a step adds, of the noise's share, and of
    /// the shares of single parameters and of pairs.
    ///
    /// Values of a parameter are alike when they are close, and yet any two may differ by themselves: 3 rows a thread
    /// may be compiled in another way than 2 or 4. So two different values are farther apart than the axis says.
    logs: Vec<f64>,
}

/// The parts of a belief after its length scales.
const STEP: usize = 0;
const NOISE: usize = 1;
const SINGLES: usize = 2;
const PAIRS: usize = 3;
const OTHERS: usize = 4;

impl Belief {
    /// What is assumed before anything is known, for samples of so many numbers.
    pub fn new(axes: usize) -> Belief {
        let mut logs = vec![USUAL_SCALE.ln(); axes];
        let others = [USUAL_STEP, USUAL_NOISE, USUAL_SHARE, USUAL_SHARE];
        logs.extend(others.map(f64::ln));
        Belief { logs }
    }

    fn axes(&self) -> usize {
        self.logs.len().saturating_sub(OTHERS)
    }

    /// The logarithm of a part that is no length scale.
    fn other(&self, part: usize) -> f64 {
        self.logs[self.axes() + part]
    }

    fn noise(&self) -> f64 {
        self.other(NOISE).exp()
    }

    /// Between what the part of this position may lie, as logarithms.
    fn bounds(&self, position: usize) -> (f64, f64) {
        let (least, most) = match position.checked_sub(self.axes()) {
            None => SCALES,
            Some(STEP) => STEPS,
            Some(NOISE) => NOISES,
            Some(_) => SHARES,
        };
        (least.ln(), most.ln())
    }

    /// Logarithm of the prior: length scales within a factor of three of the usual one, the others far less sure.
    fn log_prior(&self) -> f64 {
        let square =
            |log: f64, centre: f64, width: f64| -0.5 * ((log - centre.ln()) / width).powi(2);
        let scales = self.logs[..self.axes()].iter();
        let of_scales: f64 = scales.map(|log| square(*log, USUAL_SCALE, 1.1)).sum();
        of_scales
            + square(self.other(STEP), USUAL_STEP, 1.5)
            + square(self.other(NOISE), USUAL_NOISE, 1.5)
            + square(self.other(SINGLES), USUAL_SHARE, 1.5)
            + square(self.other(PAIRS), USUAL_SHARE, 1.5)
    }
}

/// How the likeness of two values of an axis falls with their distance (Matérn with ν = 5/2, equation 4.17).
struct Curve {
    /// One over the squared length scale.
    weight: f64,
    step: f64,
    categorical: bool,
}

impl Curve {
    fn at(&self, a: f64, b: f64) -> f64 {
        if a == b {
            return 1.0;
        }
        let square = if self.categorical { 1.0 } else { (a - b).powi(2) + self.step };
        let x = (5.0 * self.weight * square).sqrt();
        (1.0 + x + x * x / 3.0) * (-x).exp()
    }
}

/// The likeness of values of one axis.
enum Likeness {
    /// For each pair of a short list's values.
    Table {
        values: usize,
        of: Vec<f64>,
    },
    Computed(Curve),
}

impl Likeness {
    fn new(curve: Curve, scale: Option<&[f64]>) -> Likeness {
        let Some(scale) = scale.filter(|scale| scale.len() <= TABLE) else {
            return Likeness::Computed(curve);
        };
        let of = scale.iter().flat_map(|a| scale.iter().map(|b| curve.at(*a, *b))).collect();
        Likeness::Table { values: scale.len(), of }
    }

    fn of(&self, axis: usize, a: &Sample, b: &Sample) -> f64 {
        match self {
            Likeness::Table { values, of } => of[a.place(axis) * values + b.place(axis)],
            Likeness::Computed(curve) => curve.at(a.numbers[axis], b.numbers[axis]),
        }
    }
}

/// The covariance of the process, in units of its variance.
struct Covariance {
    axes: Vec<Likeness>,
    /// Shares of single parameters and of pairs, and of all at once; their sum is 1.
    singles: f64,
    pairs: f64,
    all: f64,
}

impl Covariance {
    fn new(belief: &Belief, features: &Features) -> Covariance {
        let step = belief.other(STEP).exp();
        let likeness = |(axis, log): (usize, &f64)| {
            let categorical = features.is_categorical(axis);
            let curve = Curve { weight: (-2.0 * log).exp(), step, categorical };
            Likeness::new(curve, features.scale(axis))
        };
        let axes = belief.logs[..belief.axes()].iter().enumerate().map(likeness).collect();
        let (singles, pairs) = (belief.other(SINGLES).exp(), belief.other(PAIRS).exp());
        let sum = 1.0 + singles + pairs;
        Covariance { axes, singles: singles / sum, pairs: pairs / sum, all: 1.0 / sum }
    }

    fn of(&self, a: &Sample, b: &Sample) -> f64 {
        let (mut sum, mut squares, mut product) = (0.0, 0.0, 1.0);
        for (axis, likeness) in self.axes.iter().enumerate() {
            let alike = likeness.of(axis, a, b);
            sum += alike;
            squares += alike * alike;
            product *= alike;
        }
        let n = self.axes.len() as f64;
        // The mean of the axes, and that of the products of any two of them.
        let (single, pair) = match self.axes.len() {
            0 => (1.0, 1.0),
            1 => (sum, sum),
            _ => (sum / n, (sum * sum - squares) / (n * (n - 1.0))),
        };
        self.singles * single + self.pairs * pair + self.all * product
    }
}

/// The process given what was seen.
pub struct Process {
    covariance: Covariance,
    points: Vec<Sample>,
    /// Rows of the lower triangle of the Cholesky factor.
    factor: Vec<Vec<f64>>,
    noise: f64,
    /// The factor's inverse times the centred values.
    whitened: Vec<f64>,
    mean: f64,
    variance: f64,
}

impl Process {
    /// Conditions the process on values at points; `belief` is improved by `sweeps` rounds of search over its scales.
    pub fn fit(
        features: &Features,
        points: &[Sample],
        values: &[f64],
        belief: &mut Belief,
        sweeps: usize,
    ) -> Process {
        let mut score = score(features, points, values, belief);
        for sweep in 0..sweeps {
            let step = if sweep == 0 { 0.9 } else { 0.45 };
            for i in 0..belief.logs.len() {
                let (least, most) = belief.bounds(i);
                for direction in [step, -step] {
                    let mut changed = belief.clone();
                    changed.logs[i] = (changed.logs[i] + direction).clamp(least, most);
                    let new = self::score(features, points, values, &changed);
                    if new > score {
                        score = new;
                        *belief = changed;
                        break;
                    }
                }
            }
        }
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mut process = Process {
            covariance: Covariance::new(belief, features),
            points: vec![],
            factor: vec![],
            noise: belief.noise(),
            whitened: vec![],
            mean,
            variance: 1.0,
        };
        for (point, value) in points.iter().zip(values) {
            process.extend(point, *value);
        }
        let squares: f64 = process.whitened.iter().map(|w| w * w).sum();
        process.variance = (squares / values.len().max(1) as f64).max(1e-12);
        process
    }

    /// Adds an observation; mean and scale of the values stay.
    fn extend(&mut self, point: &Sample, value: f64) {
        let row = self.whiten(point);
        let rest: f64 = row.iter().map(|x| x * x).sum();
        let diagonal = (1.0 + self.noise - rest).max(1e-10).sqrt();
        let known: f64 = row.iter().zip(&self.whitened).map(|(a, b)| a * b).sum();
        self.whitened.push((value - self.mean - known) / diagonal);
        let mut row = row;
        row.push(diagonal);
        self.factor.push(row);
        self.points.push(point.clone());
    }

    /// The factor's inverse times the covariances of a point with those that were seen.
    fn whiten(&self, point: &Sample) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.points.len() + 1);
        self.whiten_further(point, &mut row);
        row
    }

    /// Continues a whitened row for the observations that came after it.
    pub fn whiten_further(&self, point: &Sample, row: &mut Vec<f64>) {
        for i in row.len()..self.points.len() {
            let covariance = self.covariance.of(point, &self.points[i]);
            let factor = &self.factor[i];
            let known = dot(row, &factor[..i]);
            row.push((covariance - known) / factor[i]);
        }
    }

    /// Mean and standard deviation, without noise, at the point of a whitened row.
    pub fn predict(&self, row: &[f64]) -> (f64, f64) {
        let mean = self.mean + dot(row, &self.whitened);
        let left = (1.0 - dot(row, row)).max(1e-9);
        (mean, (left * self.variance).sqrt())
    }

    /// Standard deviation of what is a configuration's own, of which no other one tells.
    pub fn own_deviation(&self) -> f64 {
        (self.noise * self.variance).sqrt()
    }

    /// Mean and standard deviation at a point.
    pub fn predict_at(&self, point: &Sample) -> (f64, f64) {
        self.predict(&self.whiten(point))
    }

    /// Adds an observation to the process as it is fitted.
    pub fn observe(&mut self, point: &Sample, value: f64) {
        self.extend(point, value);
    }
}

/// With eight partial sums, which the compiler computes side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let n = a.len().min(b.len());
    let (whole_a, rest_a) = a[..n].as_chunks::<LANES>();
    let (whole_b, rest_b) = b[..n].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in whole_a.iter().zip(whole_b) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// Logarithm of the belief's posterior, up to a constant, with the signal's variance at its best value.
fn score(features: &Features, points: &[Sample], values: &[f64], belief: &Belief) -> f64 {
    let n = points.len();
    if n == 0 {
        return 0.0;
    }
    let (covariances, noise) = (Covariance::new(belief, features), belief.noise());
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(n);
    let mut whitened: Vec<f64> = Vec::with_capacity(n);
    let mut log_determinant = 0.0;
    for i in 0..n {
        let mut row = Vec::with_capacity(i + 1);
        for j in 0..i {
            let covariance = covariances.of(&points[i], &points[j]);
            let known = dot(&row, &factor[j][..j]);
            row.push((covariance - known) / factor[j][j]);
        }
        let diagonal = (1.0 + noise - dot(&row, &row)).max(1e-10).sqrt();
        whitened.push((values[i] - mean - dot(&row, &whitened)) / diagonal);
        log_determinant += diagonal.ln();
        row.push(diagonal);
        factor.push(row);
    }
    let variance = (dot(&whitened, &whitened) / n as f64).max(1e-12);
    -0.5 * n as f64 * variance.ln() - log_determinant + belief.log_prior()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::space::{Parameter, Space};
    use crate::value::Value;

    fn features(axes: usize) -> Features {
        let parameter = |i| Parameter::new(format!("p{i}"), (0..21).map(Value::Int));
        Features::new(&Space::new((0..axes).map(parameter).collect(), &[]).unwrap())
    }

    fn drawn(features: &Features, rng: &mut Rng) -> Sample {
        let point: Vec<u16> = (0..features.count()).map(|_| rng.index(21) as u16).collect();
        features.of(&point)
    }

    #[test]
    fn it_interpolates_what_is_smooth() {
        let mut rng = Rng::new(5);
        let features = features(2);
        let function = |p: &Sample| (3.0 * p.numbers[0]).sin() + 0.5 * p.numbers[1];
        let points: Vec<Sample> = (0..40).map(|_| drawn(&features, &mut rng)).collect();
        let values: Vec<f64> = points.iter().map(function).collect();
        // It learns from the values that steps between neighbours are small here.
        let process = Process::fit(&features, &points, &values, &mut Belief::new(2), 8);
        let error = |p: &Sample| (process.predict_at(p).0 - function(p)).abs();
        let mut errors: Vec<f64> = (0..50).map(|_| error(&drawn(&features, &mut rng))).collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[25] < 0.05 && errors[45] < 0.2, "{errors:?}");
        let (_, seen) = process.predict_at(&points[0]);
        let unseen = (0..21).flat_map(|x| (0..21).map(move |y| [x, y]));
        let most = unseen.map(|p| process.predict_at(&features.of(&p)).1).fold(0.0, f64::max);
        assert!(seen < most);
    }

    #[test]
    fn it_learns_what_values_are_worth_from_configurations_that_share_nothing_else() {
        let mut rng = Rng::new(7);
        let features = features(8);
        let worth = |p: &Sample| p.numbers.iter().enumerate().map(|(i, x)| x * i as f64).sum();
        let points: Vec<Sample> = (0..24).map(|_| drawn(&features, &mut rng)).collect();
        let values: Vec<f64> = points.iter().map(worth).collect();
        let process = Process::fit(&features, &points, &values, &mut Belief::new(8), 4);
        let others: Vec<Sample> = (0..100).map(|_| drawn(&features, &mut rng)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = |guess: &dyn Fn(&Sample) -> f64| -> f64 {
            others.iter().map(|p| (guess(p) - worth(p)).powi(2)).sum()
        };
        let (left, all) = (squares(&|p| process.predict_at(p).0), squares(&|_| mean));
        assert!(left < 0.15 * all, "{left} of {all}");
    }

    #[test]
    fn an_axis_that_does_not_matter_gets_a_long_scale() {
        let mut rng = Rng::new(6);
        let features = features(2);
        let points: Vec<Sample> = (0..40).map(|_| drawn(&features, &mut rng)).collect();
        let values: Vec<f64> = points.iter().map(|p| (6.0 * p.numbers[0]).sin()).collect();
        let mut belief = Belief::new(2);
        Process::fit(&features, &points, &values, &mut belief, 4);
        assert!(belief.logs[1] > belief.logs[0] + 0.5, "{:?}", belief.logs);
    }

    #[test]
    fn different_values_are_apart_however_close_they_are() {
        let curve = |categorical| Curve { weight: 1.0, step: USUAL_STEP, categorical };
        let (near, far) = (curve(false).at(0.3, 0.3001), curve(false).at(0.3, 1.0));
        assert_eq!(curve(false).at(0.3, 0.3), 1.0);
        assert!(far < near && near < 0.9, "{near} {far}");
        assert_eq!(curve(true).at(0.1, 0.2), curve(true).at(0.1, 0.9));
    }

    #[test]
    fn long_axes_and_appended_ones_need_no_table() {
        let parameters =
            [21, 4000].map(|n| Parameter::new(format!("p{n}"), (0..n).map(Value::Int)));
        let mut features = Features::new(&Space::new(parameters.into(), &[]).unwrap());
        features.appended = 1;
        let covariance = Covariance::new(&Belief::new(3), &features);
        let sample = |x, y, appended| {
            let mut sample = features.of(&[x, y]);
            sample.numbers.push(appended);
            sample
        };
        let here = sample(3, 1000, 0.5);
        assert!((covariance.of(&here, &here) - 1.0).abs() < 1e-12);
        let near = covariance.of(&here, &sample(3, 1000, 0.6));
        let far = covariance.of(&here, &sample(3, 3000, 0.9));
        assert!(far < near && near < 1.0, "{near} {far}");
    }

    #[test]
    fn rows_can_be_continued() {
        let features = features(1);
        let [a, b, c, d, e] = [2, 10, 18, 6, 7].map(|x| features.of(&[x]));
        let mut process =
            Process::fit(&features, &[a, b, c], &[1.0, 0.0, 2.0], &mut Belief::new(1), 1);
        let mut row = vec![];
        process.whiten_further(&d, &mut row);
        process.observe(&e, 0.4);
        process.whiten_further(&d, &mut row);
        assert_eq!(process.predict(&row), process.predict_at(&d));
    }
}
