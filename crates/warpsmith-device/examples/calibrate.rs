//! How well the model orders the measured kernels: per family the rank correlation, where the best one stands, and
//! the spread of predicted over measured time. With an argument, a search for better constants of so many steps.

#[path = "../tests/recorded/mod.rs"]
mod recorded;

use recorded::{Recorded, spearman};
use warpsmith_device::Gpu;
use warpsmith_device::predict::{Calibration, predict_with};

fn main() {
    let kernels: Vec<Recorded> = recorded::all().into_iter().filter(|k| k.local == 0).collect();
    let steps: u32 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(0);
    let fit = search(&kernels, steps);
    if steps > 0 {
        println!("{fit:#?}");
    }
    for family in ["gemm", "conv", "stencil"] {
        report(&kernels, family, &fit);
    }
    if std::env::args().nth(2).is_some() {
        for k in &kernels {
            let p = predict_with(gpu(), &k.profile, &fit).expect("a time");
            println!(
                "{} {} {:.3} {:.3} {:.2} {:?} {:?}",
                k.family,
                k.config,
                k.seconds * 1e3,
                p.time_s * 1e3,
                p.time_s / k.seconds,
                p.occupancy.warps,
                p.parts
                    .iter()
                    .take(4)
                    .map(|p| format!("{:?} {:.3}", p.bound, p.seconds * 1e3))
                    .collect::<Vec<_>>()
            );
        }
    }
}

fn gpu() -> &'static Gpu {
    Gpu::find("H200").expect("it is in the table")
}

/// Predicted and measured seconds of a family.
fn pairs(kernels: &[Recorded], family: &str, fit: &Calibration) -> Vec<(f64, f64)> {
    let of = kernels.iter().filter(|k| k.family == family);
    of.map(|k| (predict_with(gpu(), &k.profile, fit).map_or(1.0, |p| p.time_s), k.seconds))
        .collect()
}

/// Where the fastest stands in the predicted order, from 1.
fn place_of_best(pairs: &[(f64, f64)]) -> usize {
    let best = pairs.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("some kernels");
    1 + pairs.iter().filter(|p| p.0 < best.0).count()
}

fn ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    let mut ratios: Vec<f64> = pairs.iter().map(|p| p.0 / p.1).collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

fn report(kernels: &[Recorded], family: &str, fit: &Calibration) {
    let pairs = pairs(kernels, family, fit);
    let r = ratios(&pairs);
    println!(
        "{family}: {} kernels, correlation {:.3}, best at {}, predicted/measured 5 % {:.2}, median {:.2}, 95 % {:.2}",
        pairs.len(),
        spearman(&pairs),
        place_of_best(&pairs),
        r[r.len() / 20],
        r[r.len() / 2],
        r[r.len() * 19 / 20]
    );
}

/// What a set of constants is worth: order first, then the scale.
fn worth(kernels: &[Recorded], fit: &Calibration) -> f64 {
    let mut sum = 0.0;
    for family in ["gemm", "conv", "stencil"] {
        let pairs = pairs(kernels, family, fit);
        let spread: f64 =
            pairs.iter().map(|p| (p.0 / p.1).ln().powi(2)).sum::<f64>() / pairs.len() as f64;
        sum += spearman(&pairs) - 0.02 * (place_of_best(&pairs) as f64).ln() - 0.3 * spread.sqrt();
    }
    sum
}

/// Changes one constant at a time by a random factor and keeps what helps.
fn search(kernels: &[Recorded], steps: u32) -> Calibration {
    let mut best = Calibration::default();
    let mut score = worth(kernels, &best);
    let mut state = 88172645463325252u64;
    for _ in 0..steps {
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut next = best.clone();
        let factor = 0.6 + 0.9 * random();
        let field = match (random() * 10.0) as u32 {
            0 => &mut next.block_start,
            1 => &mut next.barrier,
            2 => &mut next.warp_start,
            3 => &mut next.l2_share,
            4 => &mut next.l1_share,
            5 => &mut next.overlap,
            6 => &mut next.overlap_per_block,
            7 => &mut next.constant_miss,
            8 => &mut next.l1_sharing,
            _ => &mut next.issue_share,
        };
        *field *= factor;
        next.overlap = next.overlap.max(1.0);
        // Where the data says little, physics decides.
        next.issue_share = next.issue_share.clamp(0.7, 1.0);
        next.barrier = next.barrier.max(8.0);
        next.warp_start = next.warp_start.max(4.0);
        next.l1_sharing = next.l1_sharing.min(1.0);
        next.l2_share = next.l2_share.min(1.0);
        next.l1_share = next.l1_share.min(1.0);
        let new = worth(kernels, &next);
        if new > score {
            (best, score) = (next, new);
        }
    }
    best
}
