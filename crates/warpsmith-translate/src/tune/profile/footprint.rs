//! The sectors a block touches, as sets that grow by the loops around an access.

/// Bytes of a sector, what a request to memory is counted in.
pub const SECTOR: i64 = 32;

/// Bytes of a line of the L1 cache: it has room for whole lines, however few of their sectors are there (Jia et al., "Dissecting the
/// NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, 3.3).
const LINE: i64 = 128;

/// Sets larger than this are extrapolated.
const MOST: usize = 1 << 14;

/// Distinct sectors over all iterations, and the room in the L1 cache, in sectors, of what is touched before a sector is touched again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grown {
    pub sectors: f64,
    /// 0: none is touched twice.
    pub reuse: f64,
}

/// The sectors of byte ranges, in order.
pub fn sectors(addresses: impl IntoIterator<Item = i64>, bytes: i64) -> Vec<i64> {
    let of = |a: i64| a.div_euclid(SECTOR)..=(a + bytes.max(1) - 1).div_euclid(SECTOR);
    let mut set: Vec<i64> = addresses.into_iter().flat_map(of).collect();
    in_order(&mut set);
    set
}

/// Makes a list an ordered set.
pub fn in_order(set: &mut Vec<i64>) {
    set.sort_unstable();
    set.dedup();
}

/// Lets the set of one iteration grow by loops, innermost first, each with its shift in bytes and its trips.
pub fn grow(first: &[i64], loops: &[(i64, f64)]) -> Grown {
    let mut set = first.to_vec();
    let mut scale = 1.0;
    let mut reuse = 0.0;
    for (shift, trips) in loops {
        if *trips <= 1.0 {
            continue;
        }
        let size = room(&set) * scale;
        // Several iterations within a sector move on once they leave it.
        let (step, per_step) = match shift.unsigned_abs() {
            0 => (0, 1.0),
            s if s < SECTOR as u64 => (shift.signum(), SECTOR as f64 / s as f64),
            s => (shift.signum() * ((s as i64 + SECTOR / 2) / SECTOR), 1.0),
        };
        let steps = ((trips - 1.0) / per_step).ceil() + 1.0;
        let new = new_when_moved(&set, step);
        if reuse == 0.0 && (step == 0 || per_step > 1.0 || new < set.len()) {
            reuse = size;
        }
        if step == 0 || new == 0 {
            continue;
        }
        if (set.len() as f64 * steps) < MOST as f64 {
            let times = 0..(steps.round() as i64).max(1);
            set = times.flat_map(|k| set.iter().map(move |s| s + k * step)).collect();
            in_order(&mut set);
        } else {
            scale *= 1.0 + new as f64 / set.len() as f64 * (steps - 1.0);
        }
    }
    Grown { sectors: set.len() as f64 * scale, reuse }
}

/// The sectors of all lines in which an ordered set has one, where it has few of each, as of columns. Lines at the ends of rows are in the
/// fit of the model, which counts sectors.
fn room(set: &[i64]) -> f64 {
    let each = LINE / SECTOR;
    let mut lines: Vec<i64> = set.iter().map(|s| s.div_euclid(each)).collect();
    lines.dedup();
    let all = lines.len() * each as usize;
    if all >= 2 * set.len() { all as f64 } else { set.len() as f64 }
}

/// How many numbers of an ordered set are not in it any more once all are moved.
fn new_when_moved(set: &[i64], step: i64) -> usize {
    let mut left = set.iter().peekable();
    let is_new = |s: &&i64| {
        let moved = *s + step;
        while left.next_if(|t| **t < moved).is_some() {}
        left.peek() != Some(&&moved)
    };
    set.iter().filter(is_new).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: i64) -> Vec<i64> {
        sectors((0..n).map(|k| 4 * k), 4)
    }

    #[test]
    fn sets_grow_by_what_is_new() {
        assert_eq!(row(32).len(), 4);
        assert_eq!(sectors([28], 8).len(), 2, "across a boundary");
        // A row after the other.
        assert_eq!(grow(&row(32), &[(4096, 10.0)]), Grown { sectors: 40.0, reuse: 0.0 });
        // Along the row, element by element: 32 + 32 elements.
        let along = grow(&row(32), &[(4, 33.0)]);
        assert_eq!((along.sectors, along.reuse), (8.0, 4.0));
        // The same again and again.
        assert_eq!(grow(&row(32), &[(0, 9.0)]), Grown { sectors: 4.0, reuse: 4.0 });
        // A column of a matrix, along its rows: a line each.
        let column = sectors((0..32).map(|k| 4096 * k), 4);
        assert_eq!(grow(&column, &[(4, 64.0)]).reuse, 32.0 * 4.0);
        // Large sets are extrapolated.
        let large = grow(&row(32), &[(128, 1e6)]);
        assert!((large.sectors - 4e6).abs() < 1.0, "{large:?}");
    }
}
