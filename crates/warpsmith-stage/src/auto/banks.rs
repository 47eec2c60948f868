//! Longer rows of tiles, where blocks are narrower than a warp.
//!
//! A warp then reads several rows at a time. They lie in different banks where the next row begins an odd number of block widths
//! further: a row of 22 places of 4 bytes, for blocks of 16 threads, is served in two turns, one of 48 in one.

use crate::auto::plans::Kernel;

/// Bytes that the banks of shared memory serve in a turn.
const TURN: i64 = 128;

/// What the declaration of a tile with longer rows says.
const WHY: &str = " // so that banks do not conflict";

/// What stands behind the length of a tile's rows, and behind the declaration of the tile.
pub(super) fn padding(
    kernel: &Kernel<'_>,
    element: &str,
    threads: &str,
    length: &str,
) -> Option<[String; 2]> {
    let lanes = TURN / bytes(element)?;
    let (threads, length) = (kernel.value(threads)?, kernel.value(length)?);
    let several = kernel.axes[1] && threads > 1 && threads < lanes && lanes % threads == 0;
    let more = several.then(|| places(lanes, threads, length))?;
    (more > 0).then(|| [format!(" + {more}"), WHY.to_string()])
}

/// A text without what only banks ask for: it holds with other extents, too.
pub(super) fn unpadded(text: &str) -> String {
    let line = |line: &str| {
        let longer = line.strip_suffix(WHY).and_then(|l| l.rsplit_once(" + "));
        longer.map_or(line.to_string(), |(declared, _)| format!("{declared}];"))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// How many places a row is to be longer, where so many lanes are served in a turn and so many threads stand in a row.
fn places(lanes: i64, threads: i64, length: i64) -> i64 {
    let apart = |n: &i64| {
        let begin = (length + n) % lanes;
        begin % threads == 0 && begin / threads % 2 == 1
    };
    (0..lanes).find(apart).unwrap_or(0)
}

/// The size of an element of one to four words.
fn bytes(element: &str) -> Option<i64> {
    match element {
        "float" | "int" | "unsigned" | "unsigned int" | "uchar4" | "half2" | "__half2" => Some(4),
        "double" | "long long" | "unsigned long long" | "float2" | "int2" => Some(8),
        "float4" | "int4" | "double2" => Some(16),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{WHY, places, unpadded};

    #[test]
    fn declarations_lose_what_banks_ask_for() {
        let text = format!("a\n  float t[8 + R][8 + R + 10];{WHY}\nb + 1");
        assert_eq!(unpadded(&text), "a\n  float t[8 + R][8 + R];\nb + 1");
    }

    /// Each word of a turn's rows is in a bank of its own.
    #[test]
    fn rows_of_a_warp_share_no_bank() {
        for lanes in [32, 16, 8] {
            for threads in [2, 4, 8, 16].into_iter().filter(|t| *t < lanes) {
                for length in threads..3 * lanes {
                    let row = length + places(lanes, threads, length);
                    let words = (0..lanes).map(|l| (l / threads * row + l % threads) % lanes);
                    assert_eq!(words.collect::<HashSet<i64>>().len() as i64, lanes);
                }
            }
        }
        assert_eq!([places(32, 16, 22), places(32, 8, 14), places(32, 16, 16)], [26, 10, 0]);
    }
}
