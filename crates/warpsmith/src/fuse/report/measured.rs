//! What was measured, and how good the prediction was.

use serde_json::{Value, json};
use warpsmith_fuse::plan::{Covered, kernels};

use crate::fuse::measure::Measured;
use crate::search::Told;

/// The part of `result.json`: covers fastest first.
pub fn json(measured: &Measured, found: &[Covered]) -> Value {
    let cover = |at: &usize| {
        let f = measured.figures[*at].as_ref()?;
        let kernels = kernels(&found[*at].launches);
        let barriers: usize = kernels.iter().map(|k| k.barriers()).sum();
        let homes: usize = kernels.iter().map(|k| k.registers()).sum();
        Some(json!({
            "predicted_rank": at + 1, "predicted_ms": found[*at].seconds * 1e3, "ms": f.ms,
            "share_of_copy": measured.share_of_copy(f.ms), "kernels": kernels.len(),
            "barriers": barriers, "variables_in_registers": homes,
            "registers": f.registers, "spilled_bytes": f.spills, "local_bytes": f.local,
        }))
    };
    let covers: Vec<Value> = measured.order.iter().filter_map(cover).collect();
    json!({
        "device": measured.hello.device, "driver": measured.hello.driver,
        "compiler": measured.hello.compiler, "elements": measured.count, "bytes": measured.bytes,
        "copy_gb_s": measured.copy_gb_s, "covers": covers,
        "failed": measured.figures.iter().filter(|f| f.is_none()).count(),
        "rank_correlation": rank_correlation(measured, found),
        "elements_computed_on_cpu": measured.computed_on_cpu, "notes": measured.notes,
        "store": measured.store.display().to_string(),
    })
}

/// The lines on the terminal; with `list` one for each cover.
pub fn human(measured: &Measured, found: &[Covered], list: bool) -> String {
    let told = Told::by(&measured.hello);
    let mut text = format!("{}, {} elements\n", told.on(&measured.hello.device), measured.count);
    let share = |ms: f64| match measured.share_of_copy(ms) {
        Some(share) => format!(", {:.1} % of a copy of the same size", share * 100.0),
        None => String::new(),
    };
    for at in measured.order.iter().take(if list { found.len() } else { 1 }) {
        let Some(f) = &measured.figures[*at] else { continue };
        text += &format!(
            "  predicted as number {}: {} {:.1} us{}; {} registers a thread, {} bytes spilled\n",
            at + 1,
            told.word(),
            f.ms * 1e3,
            share(f.ms),
            f.registers,
            f.spills
        );
    }
    let ran = measured.figures.iter().flatten().count();
    text += &format!("  {ran} of {} covers ran and gave the same results", found.len());
    if let Some(r) = rank_correlation(measured, found) {
        text += &format!("; rank correlation of predicted and {} times {r:.2}", told.word());
    }
    text += &format!(
        "\n  {} elements of the results are those that the CPU computes\n",
        measured.computed_on_cpu
    );
    for note in &measured.notes {
        text += &format!("  note: {note}\n");
    }
    text
}

/// Spearman's: 1 where the order of prediction is that of measurement. Equal predictions share their ranks.
fn rank_correlation(measured: &Measured, found: &[Covered]) -> Option<f64> {
    let both =
        measured.figures.iter().zip(found).filter_map(|(f, c)| Some((c.seconds, f.as_ref()?.ms)));
    let (predicted, taken): (Vec<f64>, Vec<f64>) = both.unzip();
    spearman(&predicted, &taken)
}

fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let n = a.len() as f64;
    let mean = (n - 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let scale = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (scale > 0.0).then(|| sum(&a, &b) / scale)
}

/// From 0 on; equal values have the mean of their places.
fn ranks(values: &[f64]) -> Vec<f64> {
    let less = |v: f64| values.iter().filter(|x| **x < v).count();
    let same = |v: f64| values.iter().filter(|x| **x == v).count();
    values.iter().map(|v| less(*v) as f64 + (same(*v) as f64 - 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correlation_is_that_of_ranks() {
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 11.0, 90.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[9.0, 8.0, 7.0]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 1.0], &[9.0, 8.0]), None);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
    }
}
