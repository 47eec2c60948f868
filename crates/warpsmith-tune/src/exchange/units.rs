//! Units of time in files.

/// A unit's milliseconds and its short name; the misspelling is common. `None`: it is none of time.
pub fn of_time(unit: &str) -> Option<(f64, &'static str)> {
    Some(match unit.trim().to_lowercase().as_str() {
        "milliseconds" | "miliseconds" | "millisecond" | "msec" | "ms" => (1.0, "ms"),
        "seconds" | "second" | "sec" | "s" => (1e3, "s"),
        "microseconds" | "microsecond" | "usec" | "us" | "\u{b5}s" | "\u{3bc}s" => (1e-3, "us"),
        "nanoseconds" | "nanosecond" | "nsec" | "ns" => (1e-6, "ns"),
        _ => return None,
    })
}

/// The known ones, for messages.
pub const KNOWN: &str = "nano-, micro-, milliseconds or seconds is wanted";
