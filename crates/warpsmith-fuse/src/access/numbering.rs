//! How the registers of an argument are numbered: from the start of its pattern.

use super::Numbering;
use super::touch::Touch;
use crate::library::subscripts::{Start, subscripts};
use crate::library::{Param, Routine};

/// Registers are numbered from the start of a pattern, which must be its lowest offset: then all that are compatible number
/// alike.
pub(super) fn from_lowest(touch: &Touch, starts: &[i64]) -> Result<Numbering, &'static str> {
    let lowest = |(offsets, start): (&Vec<u32>, &i64)| {
        offsets.first().is_none_or(|o| i64::from(*o) == *start)
    };
    match touch.threads.iter().zip(starts).all(lowest) {
        true => Ok(Numbering::Placeholder),
        false => Err("its pattern does not start at the lowest offset"),
    }
}

/// The start of a pattern that is written in subscripts.
pub(super) fn written<I: Iterator<Item = [u32; 3]>>(
    routine: &Routine,
    argument: usize,
    touch: &Touch,
    threads: impl Fn() -> I,
) -> Result<Numbering, &'static str> {
    let body = routine.text.find('{').map_or("", |at| &routine.text[at..]);
    if subscripts(body, routine.argument_name(argument)).is_none() {
        return Err("it is used otherwise than with subscripts");
    }
    let lowest: Vec<([u32; 3], i64)> = threads()
        .zip(&touch.threads)
        .filter_map(|(thread, offsets)| Some((thread, i64::from(*offsets.first()?))))
        .collect();
    let start =
        fitted(&lowest).ok_or("its lowest offset is not linear in the thread's coordinates")?;
    let used = (0..3).filter(|axis| start.by[*axis] != 0);
    let coordinate = |axis: usize| Param::Coordinate(crate::library::Coordinate::Thread(axis));
    for axis in used {
        if !routine.params.contains(&coordinate(axis)) {
            return Err("its start depends on a coordinate that it does not take");
        }
    }
    Ok(Numbering::Written(start))
}

/// The linear function through the lowest offsets of all threads.
fn fitted(lowest: &[([u32; 3], i64)]) -> Option<Start> {
    let (first, base) = lowest.first()?;
    let mut by = [0; 3];
    for (axis, slope) in by.iter_mut().enumerate() {
        let differs = |(t, _): &&([u32; 3], i64)| {
            (0..3).all(|a| if a == axis { t[a] != first[a] } else { t[a] == first[a] })
        };
        if let Some((t, at)) = lowest.iter().find(differs) {
            let (d, n) = (at - base, i64::from(t[axis]) - i64::from(first[axis]));
            (d % n == 0).then_some(())?;
            *slope = d / n;
        }
    }
    let value = |t: &[u32; 3]| -> i64 { by.iter().zip(t).map(|(c, t)| c * i64::from(*t)).sum() };
    let start = Start { constant: base - value(first), by };
    lowest.iter().all(|(t, at)| start.constant + value(t) == *at).then_some(start)
}
