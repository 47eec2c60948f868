//! What a version gives up, and why it is predicted to be slower than the one before.

use warpsmith_device::Bound;

use super::page::{fma_share, sums};
use super::{Ladder, Version};
use crate::search::Told;
use warpsmith_translate::tune::choice::Predicted;
use warpsmith_translate::units::time;

/// The steps of a schedule that the next one does not take in any form: the numbers of a step may differ.
pub fn given_up(before: &str, now: &str) -> Vec<String> {
    let kinds = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let kept: Vec<String> = now.lines().map(kinds).collect();
    let gone = before.lines().filter(|line| !kept.contains(&kinds(line)));
    gone.map(str::to_string).collect()
}

/// The launch that takes longest; the others are what surrounds it.
fn main_launch(version: &Version) -> Option<&Predicted> {
    version.predicted.iter().max_by(|a, b| seconds(a).total_cmp(&seconds(b)))
}

fn seconds(p: &Predicted) -> f64 {
    p.times * p.prediction.time_s
}

/// Says of each version that is slower than the one before why it is.
pub fn explain(ladder: &mut Ladder) {
    for k in 1..ladder.versions.len() {
        let (before, now) = (&ladder.versions[k - 1], &ladder.versions[k]);
        let predicted = slower(before, now);
        let told = ladder.on.as_ref().map(|on| on.told);
        let measured = told.and_then(|told| slower_on_device(before, now, told));
        let parts = [measured, predicted].into_iter().flatten().collect::<Vec<_>>();
        let mut remarks: Vec<String> = conflicts(before, now).into_iter().collect();
        if parts.is_empty() {
            remarks.extend(unchanged(before, now));
        }
        let now = &mut ladder.versions[k];
        now.slower = (!parts.is_empty()).then(|| parts.join("; "));
        now.remarks = remarks;
    }
}

/// Bank conflicts, where a version has more of them than the one before.
fn conflicts(before: &Version, now: &Version) -> Option<String> {
    let (a, b) = (sums(before), sums(now));
    (b.conflicts > a.conflicts).then(|| {
        format!(
            "{} of its {} wavefronts of shared memory are bank conflicts (before: {} of {})",
            b.conflicts, b.wavefronts, a.conflicts, a.wavefronts
        )
    })
}

/// That counters and device model know nothing of an idea.
fn unchanged(before: &Version, now: &Version) -> Option<String> {
    let total = |v: &Version| time(v.predicted.iter().map(seconds).sum::<f64>());
    let counted = |v: &Version| {
        let s = sums(v);
        (s.sectors, s.wavefronts.to_bits(), s.conflicts.to_bits(), fma_share(v))
    };
    (total(before) == total(now) && counted(before) == counted(now)).then(|| {
        let mut text = "neither its counters nor its predicted time differ from the version before"
            .to_string();
        if now.tuned.schedule.contains("unroll ") && !before.tuned.schedule.contains("unroll ") {
            text += ": compilers unroll such a loop by themselves";
        }
        text
    })
}

/// What counters say where a device is slower.
fn slower_on_device(before: &Version, now: &Version, told: Told) -> Option<String> {
    let (old, new) = (before.ms?, now.ms?);
    if new <= old {
        return None;
    }
    let (a, b) = (sums(before), sums(now));
    let grown = [
        ("global sectors", a.sectors as f64, b.sectors as f64),
        ("shared wavefronts", a.wavefronts, b.wavefronts),
        ("bank conflicts", a.conflicts, b.conflicts),
    ];
    let grown = grown.iter().filter(|(_, x, y)| y > x);
    let mut reasons: Vec<String> = grown.map(|(what, x, y)| format!("{what} {x} -> {y}")).collect();
    let warps = |v: &Version| main_launch(v).map(|p| p.prediction.occupancy.warps);
    if let (Some(x), Some(y)) = (warps(before), warps(now))
        && y < x
    {
        reasons.push(format!("warps on a multiprocessor {x} -> {y}"));
    }
    if reasons.is_empty() {
        reasons.push("no counter grew: the difference is in the instructions".into());
    }
    Some(format!(
        "{} slower than the version before ({} instead of {}): {}",
        told.word(),
        time(new / 1e3),
        time(old / 1e3),
        reasons.join(", ")
    ))
}

/// Why the prediction is worse than that of the version before: what its other launches take, and the unit of the GPU
/// that has more to do; `None` where it is not worse.
fn slower(before: &Version, now: &Version) -> Option<String> {
    let total = |v: &Version| v.predicted.iter().map(seconds).sum::<f64>();
    let (old, new) = (total(before), total(now));
    let (Some(a), Some(b)) = (main_launch(before), main_launch(now)) else { return None };
    if new <= old {
        return None;
    }
    let mut text = format!(
        "predicted slower than the version before ({} instead of {})",
        time(new),
        time(old)
    );
    let length = text.len();
    let (around, was) = (new - seconds(b), old - seconds(a));
    // Figures that read alike are no reason.
    let alike = |x: f64, y: f64| time(x) == time(y);
    if around > was && !alike(around, was) {
        let kernel = match alike(seconds(a), seconds(b)) {
            true => format!("`{}` takes as long as before", b.kernel),
            false => format!(
                "`{}` alone takes {} (before: {})",
                b.kernel,
                time(seconds(b)),
                time(seconds(a))
            ),
        };
        let before = if was > 0.0 { format!(" (before: {})", time(was)) } else { String::new() };
        text += &format!(": {kernel}, the launches around it {}{before}", time(around));
    }
    let grown = |bound: Bound| b.prediction.part(bound) - a.prediction.part(bound);
    let most =
        b.prediction.parts.iter().map(|p| p.bound).max_by(|x, y| grown(*x).total_cmp(&grown(*y)));
    if let Some(bound) = most.filter(|bound| {
        grown(*bound) > 0.0
            && !alike(seconds(b), seconds(a))
            && !alike(a.prediction.part(*bound), b.prediction.part(*bound))
            && seconds(b) > seconds(a)
    }) {
        text += &format!(
            "; in the kernel, {} alone would take {} (before: {})",
            bound.name(),
            time(b.prediction.part(bound)),
            time(a.prediction.part(bound))
        );
    }
    let warps = [a, b].map(|p| p.prediction.occupancy.warps);
    if warps[1] < warps[0] {
        text += &format!("; {} warps are on a multiprocessor instead of {}", warps[1], warps[0]);
    }
    if text.len() == length {
        text += ": what it adds costs instructions, and what it gains is nothing that the model knows at this size";
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_step_is_given_up_when_the_next_schedule_has_it_in_no_form() {
        let before = "bind i -> x block 32\nstage A at l tile 32\nbounds pad\n";
        let now = "bind i -> x block 64\nstage A at l tile 16 pad 1\n";
        assert_eq!(super::given_up(before, now), ["bounds pad"]);
        assert!(super::given_up(now, before).is_empty());
    }
}
