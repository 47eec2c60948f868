//! How times came about: measured on a GPU, emulated, or recorded earlier. Nothing that a person or a program reads calls
//! one of them by another's name.

use warpsmith_gpu::protocol::Hello;
use warpsmith_tune::outcome::{Record, Status};

/// A time is suspicious when a copy of as many bytes takes so many times as long: reading alone is faster than reading and
/// writing (a sum of the same bytes by 2 to 5 % on an H200), and times vary.
pub const FASTER_THAN_A_COPY: f64 = 1.1;

/// What the times of a search are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A GPU's.
    Measured,
    /// The device model's, from what the emulator counted.
    Emulated,
    /// Those that another run has left behind.
    Recorded,
}

impl Told {
    /// What the worker behind a search tells.
    pub fn by(hello: &Hello) -> Told {
        match hello.backend.as_str() {
            "gpu" => Told::Measured,
            "replay" => Told::Recorded,
            _ => Told::Emulated,
        }
    }

    /// The participle; also the key in JSON reports.
    pub fn word(self) -> &'static str {
        match self {
            Told::Measured => "measured",
            Told::Emulated => "emulated",
            Told::Recorded => "recorded",
        }
    }

    /// What is done with configurations, for the line on the terminal.
    pub fn doing(self) -> &'static str {
        match self {
            Told::Measured => "measuring",
            Told::Emulated => "emulating",
            Told::Recorded => "looking up",
        }
    }

    /// The level of verification that equal outputs amount to.
    pub fn level(self) -> &'static str {
        match self {
            Told::Measured => "measured equal",
            Told::Emulated | Told::Recorded => "checked",
        }
    }

    /// Device and word, without saying "emulated" twice.
    pub fn on(self, device: &str) -> String {
        let at = if self == Told::Measured { "on" } else { "for" };
        format!("{} {at} {}", self.word(), device.trim_start_matches("emulated "))
    }
}

/// How many results are of each kind that cannot be used, each with the first line of one reason.
pub fn failures(records: &[Record]) -> Vec<(Status, usize, String)> {
    let of = |status: Status| {
        let mut all = records.iter().filter(move |r| r.outcome.status == status).peekable();
        all.peek()?;
        let reasons: Vec<&Record> = all.collect();
        let reason = reasons.iter().find_map(|r| r.outcome.message.as_deref());
        let line = reason.and_then(|m| m.lines().find(|l| !l.trim().is_empty()));
        Some((status, reasons.len(), line.unwrap_or_default().trim().to_string()))
    };
    let bad = Status::ALL.into_iter().filter(|s| *s != Status::Correct);
    bad.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_once() {
        assert_eq!(Told::Measured.on("H200"), "measured on H200");
        assert_eq!(Told::Emulated.on("emulated H200"), "emulated for H200");
        assert_eq!(Told::Recorded.on("A100"), "recorded for A100");
    }

    #[test]
    fn reasons_stand_beside_counts() {
        let failed = |status, why: &str| Record {
            configuration: Default::default(),
            outcome: warpsmith_tune::outcome::Outcome::failed(status, why.to_string()),
        };
        let records =
            [failed(Status::Compile, "\nno such type\nmore"), failed(Status::Compile, "other")];
        assert_eq!(failures(&records), [(Status::Compile, 2, "no such type".to_string())]);
        assert!(failures(&[]).is_empty());
    }
}
