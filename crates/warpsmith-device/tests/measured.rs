//! The model against kernels measured on an H200: 200 random configurations each of a matrix product of 2048³, an
//! 11×11 convolution of 4096² and a seven-point stencil of 512³.

mod recorded;

use recorded::{Recorded, spearman};
use warpsmith_device::{Gpu, predict};

/// Kernels whose accumulators the compiler left in local memory are not in: their profiles do not count it.
fn pairs(family: &str) -> Vec<(f64, f64)> {
    let gpu = Gpu::find("H200").expect("it is in the table");
    let kernels = recorded::all().into_iter().filter(|k| k.family == family && k.local == 0);
    let time = |k: &Recorded| predict(gpu, &k.profile).expect("it ran").time_s;
    kernels.map(|k| (time(&k), k.seconds)).collect()
}

fn check(family: &str) {
    let pairs = pairs(family);
    assert!(pairs.len() >= 190, "{}", pairs.len());
    let correlation = spearman(&pairs);
    assert!(correlation >= 0.85, "{family}: rank correlation {correlation}");
    let best = pairs.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("some");
    let before = pairs.iter().filter(|p| p.0 < best.0).count();
    assert!(before < 10, "{family}: {before} are predicted to be faster than the fastest");
    let near = pairs.iter().filter(|p| (0.5..2.0).contains(&(p.0 / p.1))).count();
    assert!(
        near * 20 >= pairs.len() * 17,
        "{family}: {near} of {} within a factor of 2",
        pairs.len()
    );
}

#[test]
fn matrix_products_are_put_in_order() {
    check("gemm");
}

#[test]
fn convolutions_are_put_in_order() {
    check("conv");
}

#[test]
fn stencils_are_put_in_order() {
    check("stencil");
}
