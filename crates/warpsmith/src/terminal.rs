//! What commands have in common when they say something: formats, colours, messages, the dump of a bug.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};

use clap::ValueEnum;
use warpsmith_ir::printable::acts;
use warpsmith_ir::{SourceMap, printable};

use crate::status::{Failure, Status};

/// How results are written to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Human,
    Json,
}

/// Writes an answer to stdout, all of it: where that cannot be, the panic of `print!` becomes what `cli` makes of it.
///
/// # Panics
/// As `print!`: nobody takes what is written, or the disk is full.
pub fn say(text: &str) {
    print!("{text}");
    if let Err(error) = std::io::stdout().flush() {
        panic!("failed printing to stdout: {error}");
    }
}

/// Whether messages on stderr may use colour.
pub fn color_on_stderr() -> bool {
    colored(std::io::stderr().is_terminal(), |name| std::env::var_os(name))
}

/// Whether text on stdout may use colour.
pub fn color_on_stdout() -> bool {
    colored(std::io::stdout().is_terminal(), |name| std::env::var_os(name))
}

/// Colours are for terminals that can show them, where nobody asks for none.
fn colored(terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let dumb = variable("TERM").is_some_and(|term| term == "dumb");
    terminal && !dumb && variable("NO_COLOR").is_none()
}

/// JSON in which no character acts on a terminal: those that JSON lets stand as they are become escapes.
pub fn inert_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(acts) {
        return json.into();
    }
    // All of them have four digits.
    let spelled = |c: char| match acts(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    json.chars().map(spelled).collect::<String>().into()
}

/// Writes the dump of a bug of ours and tells the user where it is.
pub(crate) fn report_bug(text: &str) {
    let asked: Vec<String> = std::env::args().collect();
    let dump = format!(
        "warpsmith {}\ncommand: {}\n\n{text}\n",
        env!("CARGO_PKG_VERSION"),
        asked.join(" ")
    );
    let path = std::env::temp_dir().join(format!("warpsmith-bug-{}.txt", std::process::id()));
    match std::fs::write(&path, dump) {
        Ok(()) => eprintln!(
            "warpsmith: this is a bug in warpsmith, not in your input; details are in {}",
            path.display()
        ),
        Err(_) => eprintln!("warpsmith: this is a bug in warpsmith, not in your input\n{text}"),
    }
}

/// Saying why a command ended.
pub trait Reported {
    /// On stderr, and as an object on stdout where a machine reads; a person has what was made until then there. Of a bug
    /// of ours a person is told where its dump is.
    fn report(&self, command: &str, json: bool, sources: &SourceMap) -> Status;
}

impl Reported for Failure {
    fn report(&self, command: &str, json: bool, sources: &SourceMap) -> Status {
        if !json {
            print!("{}", printable(&self.made));
        }
        match self.status {
            Status::Bug => _ = bug(&self.render(sources, false)),
            _ => eprint!("{}", self.render(sources, color_on_stderr())),
        }
        if json {
            println!("{}", inert_json(&self.json(command, sources).to_string()));
        }
        self.status
    }
}

/// A bug found by our own checks (a verifier failure, say) rather than by a panic.
pub fn bug(what: &str) -> Status {
    report_bug(what);
    Status::Bug
}

#[cfg(test)]
mod tests {
    use super::colored;

    #[test]
    fn colours_are_for_terminals_that_can_show_them() {
        let with = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| value.into())
        };
        assert!(colored(true, with("TERM", "xterm")));
        assert!(colored(true, |_| None));
        assert!(!colored(false, with("TERM", "xterm")));
        assert!(!colored(true, with("TERM", "dumb")));
        assert!(!colored(true, with("NO_COLOR", "1")));
    }
}
