//! A Gaussian process with one length scale an axis (Rasmussen and Williams, *Gaussian Processes for Machine Learning*,
//! algorithm 2.1; Matérn covariance with ν = 5/2, equation 4.17).

use super::features::Features;

/// Bounds of length scales in units of an axis, of what a step adds, and of the noise relative to the signal.
const SCALES: (f64, f64) = (0.05, 20.0);
const STEPS: (f64, f64) = (1e-3, 2.0);
const NOISES: (f64, f64) = (1e-6, 0.3);
/// What is expected of them.
const USUAL_SCALE: f64 = 0.5;
const USUAL_STEP: f64 = 0.3;
const USUAL_NOISE: f64 = 1e-2;

/// What the process believes about the function before it has seen any of it.
#[derive(Clone, Debug)]
pub struct Belief {
    /// Natural logarithms of length scales, then of the squared distance that a step adds, then of the noise's share.
    ///
    /// Values of a parameter are alike when they are close, and yet any two may differ by themselves: 3 rows a thread
    /// may be compiled in another way than 2 or 4. So two different values are farther apart than the axis says.
    logs: Vec<f64>,
}

impl Belief {
    pub fn new(axes: usize) -> Belief {
        let mut logs = vec![USUAL_SCALE.ln(); axes];
        logs.extend([USUAL_STEP.ln(), USUAL_NOISE.ln()]);
        Belief { logs }
    }

    /// Logarithms of the length scales, of the step and of the noise.
    fn parts(&self) -> (&[f64], f64, f64) {
        match self.logs.as_slice() {
            [scales @ .., step, noise] => (scales, *step, *noise),
            _ => (&[], USUAL_STEP.ln(), USUAL_NOISE.ln()),
        }
    }

    fn noise(&self) -> f64 {
        self.parts().2.exp()
    }

    fn metric(&self, categorical: &[bool]) -> Metric {
        let (scales, step, _) = self.parts();
        let weights = scales.iter().map(|log| (-2.0 * log).exp()).collect();
        Metric { weights, step: step.exp(), categorical: categorical.to_vec() }
    }

    /// Between what the part of this position may lie, as logarithms.
    fn bounds(&self, part: usize) -> (f64, f64) {
        let (least, most) = match self.logs.len() - part {
            1 => NOISES,
            2 => STEPS,
            _ => SCALES,
        };
        (least.ln(), most.ln())
    }

    /// Logarithm of the prior: length scales within a factor of three of the usual one, the others far less sure.
    fn log_prior(&self) -> f64 {
        let (scales, step, noise) = self.parts();
        let square =
            |log: f64, centre: f64, width: f64| -0.5 * ((log - centre.ln()) / width).powi(2);
        let of_scales: f64 = scales.iter().map(|log| square(*log, USUAL_SCALE, 1.1)).sum();
        of_scales + square(step, USUAL_STEP, 1.5) + square(noise, USUAL_NOISE, 1.5)
    }
}

/// How far apart points are.
struct Metric {
    weights: Vec<f64>,
    step: f64,
    categorical: Vec<bool>,
}

impl Metric {
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut square = 0.0;
        for i in 0..self.weights.len() {
            let d = a[i] - b[i];
            if d != 0.0 {
                square +=
                    self.weights[i] * if self.categorical[i] { 1.0 } else { d * d + self.step };
            }
        }
        square.sqrt()
    }
}

/// The process given what was seen.
pub struct Process {
    metric: Metric,
    points: Vec<Vec<f64>>,
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
        points: &[Vec<f64>],
        values: &[f64],
        belief: &mut Belief,
        sweeps: usize,
    ) -> Process {
        let categorical: Vec<bool> =
            (0..features.count()).map(|axis| features.is_categorical(axis)).collect();
        let mut score = score(&categorical, points, values, belief);
        for sweep in 0..sweeps {
            let step = if sweep == 0 { 0.9 } else { 0.45 };
            for i in 0..belief.logs.len() {
                let (least, most) = belief.bounds(i);
                for direction in [step, -step] {
                    let mut changed = belief.clone();
                    changed.logs[i] = (changed.logs[i] + direction).clamp(least, most);
                    let new = self::score(&categorical, points, values, &changed);
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
            metric: belief.metric(&categorical),
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
    fn extend(&mut self, point: &[f64], value: f64) {
        let row = self.whiten(point);
        let rest: f64 = row.iter().map(|x| x * x).sum();
        let diagonal = (1.0 + self.noise - rest).max(1e-10).sqrt();
        let known: f64 = row.iter().zip(&self.whitened).map(|(a, b)| a * b).sum();
        self.whitened.push((value - self.mean - known) / diagonal);
        let mut row = row;
        row.push(diagonal);
        self.factor.push(row);
        self.points.push(point.to_vec());
    }

    /// The factor's inverse times the covariances of a point with those that were seen.
    fn whiten(&self, point: &[f64]) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.points.len() + 1);
        self.whiten_further(point, &mut row);
        row
    }

    /// Continues a whitened row for the observations that came after it.
    pub fn whiten_further(&self, point: &[f64], row: &mut Vec<f64>) {
        for i in row.len()..self.points.len() {
            let covariance = matern(self.metric.distance(point, &self.points[i]));
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
    pub fn predict_at(&self, point: &[f64]) -> (f64, f64) {
        self.predict(&self.whiten(point))
    }

    /// Pretends to have seen its own expectation at a point, so that the next choice goes elsewhere.
    pub fn imagine(&mut self, point: &[f64]) {
        let (mean, _) = self.predict_at(point);
        self.extend(point, mean);
    }

    /// Adds an observation to the process as it is fitted.
    pub fn observe(&mut self, point: &[f64], value: f64) {
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

fn matern(distance: f64) -> f64 {
    let x = 5f64.sqrt() * distance;
    (1.0 + x + x * x / 3.0) * (-x).exp()
}

/// Logarithm of the belief's posterior, up to a constant, with the signal's variance at its best value.
fn score(categorical: &[bool], points: &[Vec<f64>], values: &[f64], belief: &Belief) -> f64 {
    let n = points.len();
    if n == 0 {
        return 0.0;
    }
    let (metric, noise) = (belief.metric(categorical), belief.noise());
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut factor: Vec<Vec<f64>> = Vec::with_capacity(n);
    let mut whitened: Vec<f64> = Vec::with_capacity(n);
    let mut log_determinant = 0.0;
    for i in 0..n {
        let mut row = Vec::with_capacity(i + 1);
        for j in 0..i {
            let covariance = matern(metric.distance(&points[i], &points[j]));
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

    #[test]
    fn it_interpolates_what_is_smooth() {
        let mut rng = Rng::new(5);
        let function = |p: &[f64]| (3.0 * p[0]).sin() + 0.5 * p[1];
        let points: Vec<Vec<f64>> = (0..40).map(|_| vec![rng.unit(), rng.unit()]).collect();
        let values: Vec<f64> = points.iter().map(|p| function(p)).collect();
        // It learns from the values that steps between neighbours are small here.
        let process = Process::fit(&features(2), &points, &values, &mut Belief::new(2), 8);
        let error = |p: &[f64]| (process.predict_at(p).0 - function(p)).abs();
        let mut errors: Vec<f64> = (0..50).map(|_| error(&[rng.unit(), rng.unit()])).collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[25] < 0.05 && errors[45] < 0.2, "{errors:?}");
        let (_, seen) = process.predict_at(&points[0]);
        let (_, unseen) = process.predict_at(&[3.0, 3.0]);
        assert!(seen < unseen);
    }

    #[test]
    fn an_axis_that_does_not_matter_gets_a_long_scale() {
        let mut rng = Rng::new(6);
        let points: Vec<Vec<f64>> = (0..40).map(|_| vec![rng.unit(), rng.unit()]).collect();
        let values: Vec<f64> = points.iter().map(|p| (6.0 * p[0]).sin()).collect();
        let mut belief = Belief::new(2);
        Process::fit(&features(2), &points, &values, &mut belief, 4);
        assert!(belief.logs[1] > belief.logs[0] + 0.5, "{:?}", belief.logs);
    }

    #[test]
    fn different_values_are_apart_however_close_they_are() {
        let metric = Belief::new(2).metric(&[false, true]);
        assert_eq!(metric.distance(&[0.3, 0.0], &[0.3, 0.0]), 0.0);
        let near = metric.distance(&[0.3, 0.0], &[0.3001, 0.0]);
        let far = metric.distance(&[0.3, 0.0], &[1.0, 0.0]);
        let other = metric.distance(&[0.3, 0.0], &[0.3, 1.0]);
        assert!(near * near > 0.9 * USUAL_STEP / USUAL_SCALE.powi(2), "{near}");
        assert!(near < far && far < other * 1.5, "{near} {far} {other}");
    }

    #[test]
    fn rows_can_be_continued() {
        let points = vec![vec![0.1], vec![0.5], vec![0.9]];
        let mut process =
            Process::fit(&features(1), &points, &[1.0, 0.0, 2.0], &mut Belief::new(1), 1);
        let mut row = vec![];
        process.whiten_further(&[0.3], &mut row);
        process.observe(&[0.35], 0.4);
        process.whiten_further(&[0.3], &mut row);
        assert_eq!(process.predict(&row), process.predict_at(&[0.3]));
    }
}
