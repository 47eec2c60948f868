//! Models of what configurations cost, learned from those that were tried.

pub mod features;
pub mod forest;
pub mod gaussian;

/// Probability density of the standard normal distribution.
fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

/// Cumulative distribution of the standard normal distribution; absolute error below 1e-7 (Abramowitz and Stegun
/// 26.2.17).
fn cumulative(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let tail = density(z) * t * series.iter().fold(0.0, |sum, c| sum * t + c);
    if z >= 0.0 { 1.0 - tail } else { tail }
}

/// How far below `best` a normal value is expected to fall, where it does.
pub fn expected_improvement(mean: f64, deviation: f64, best: f64) -> f64 {
    if deviation <= 0.0 {
        return (best - mean).max(0.0);
    }
    let z = (best - mean) / deviation;
    deviation * (z * cumulative(z) + density(z)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_right() {
        assert!((cumulative(0.0) - 0.5).abs() < 1e-7);
        assert!((cumulative(1.96) - 0.975_002).abs() < 1e-6);
        assert!((cumulative(-1.0) - 0.158_655).abs() < 1e-6);
    }

    #[test]
    fn improvement_is_expected_where_it_can_happen() {
        assert_eq!(expected_improvement(1.0, 0.0, 3.0), 2.0);
        assert_eq!(expected_improvement(3.0, 0.0, 1.0), 0.0);
        assert!((expected_improvement(0.0, 1.0, 0.0) - 0.398_942).abs() < 1e-6);
        assert!(expected_improvement(0.0, 2.0, 0.0) > expected_improvement(0.0, 1.0, 0.0));
    }
}
