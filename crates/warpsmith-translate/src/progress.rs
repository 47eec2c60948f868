//! What is being done, on a terminal, for everything that takes longer than a moment; nothing when stderr is piped, or
//! unless the program asks for it ([`show`]).
//!
//! Phases lie within each other: a command has one, a search in it another. One thread draws all of them as one line,
//! which vanishes when the last phase ends. It draws whether or not the phases have anything new to say, so that one
//! long step is seen to go on.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpsmith_ir::printable;

/// What takes less time is not worth a line.
const QUIET: Duration = Duration::from_millis(500);
/// How often the line is drawn.
const EVERY: Duration = Duration::from_millis(200);
/// How often a terminal that cannot take a line back gets one: each stays.
const EVERY_PLAIN: Duration = Duration::from_secs(5);
/// Longer lines end in dots.
const WIDEST: usize = 200;

/// The phases at work, the outermost first.
static PHASES: Mutex<Vec<Entry>> = Mutex::new(vec![]);
static NEXT: AtomicU64 = AtomicU64::new(0);
/// A program wants the line; a library that is called by one says nothing unasked.
static WANTED: AtomicBool = AtomicBool::new(false);
/// A line stands on the terminal.
static DRAWN: AtomicBool = AtomicBool::new(false);

struct Entry {
    id: u64,
    what: String,
    detail: String,
}

/// How lines can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminal {
    /// There is none.
    None,
    /// It cannot go back to the beginning of a line.
    Plain,
    Full,
}

impl Terminal {
    fn of_stderr() -> Terminal {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match (std::io::stderr().is_terminal(), dumb) {
            (false, _) => Terminal::None,
            (true, true) => Terminal::Plain,
            (true, false) => Terminal::Full,
        }
    }
}

/// A part of the work; it is shown until this is dropped.
#[derive(Debug)]
pub struct Phase {
    id: u64,
}

impl Phase {
    /// Begins a phase within those that have begun.
    pub fn new(what: impl Into<String>) -> Phase {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut phases = phases();
        phases.push(Entry { id, what: what.into(), detail: String::new() });
        if phases.len() == 1 {
            start_drawing(id);
        }
        Phase { id }
    }

    /// How far it has come.
    pub fn say(&self, detail: impl Into<String>) {
        let mut phases = phases();
        if let Some(entry) = phases.iter_mut().find(|e| e.id == self.id) {
            entry.detail = detail.into();
        }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        let mut phases = phases();
        phases.retain(|e| e.id != self.id);
        // Before anything else is written there.
        if phases.is_empty() {
            erase();
        }
    }
}

/// Shows phases on stderr from now on.
pub fn show() {
    WANTED.store(true, Ordering::SeqCst);
}

/// Takes the line away, for a message that comes while phases are at work; it is drawn again behind the message.
pub fn hide() {
    let _phases = phases();
    erase();
}

fn phases() -> MutexGuard<'static, Vec<Entry>> {
    PHASES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn erase() {
    if !DRAWN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A terminal that has gone away shows nothing.
    let _ = std::io::stderr().write_all(b"\r\x1b[2K");
}

/// Draws from now on, as long as the phase with this number, the outermost, is at work.
fn start_drawing(outermost: u64) {
    let terminal = Terminal::of_stderr();
    if terminal == Terminal::None || !WANTED.load(Ordering::SeqCst) {
        return;
    }
    let drawing = move || {
        let start = Instant::now();
        std::thread::sleep(QUIET);
        let mut said = String::new();
        loop {
            {
                let phases = phases();
                if phases.first().is_none_or(|e| e.id != outermost) {
                    return;
                }
                draw(terminal, &line(start.elapsed(), &phases), &mut said);
            }
            std::thread::sleep(if terminal == Terminal::Full { EVERY } else { EVERY_PLAIN });
        }
    };
    // Without a thread there is no line, and the work goes on.
    let _ = std::thread::Builder::new().name("progress".into()).spawn(drawing);
}

fn draw(terminal: Terminal, line: &str, said: &mut String) {
    let text = match terminal {
        Terminal::None => return,
        Terminal::Plain if said == line => return,
        Terminal::Plain => format!("{line}\n"),
        // Without wrapping: a line that is wider than the terminal could not be taken back.
        Terminal::Full => format!("\r\x1b[2K\x1b[?7l{line}\x1b[?7h\r"),
    };
    DRAWN.store(terminal == Terminal::Full, Ordering::SeqCst);
    line.clone_into(said);
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// All phases, one after the other.
fn line(elapsed: Duration, phases: &[Entry]) -> String {
    let part = |e: &Entry| match e.detail.is_empty() {
        true => e.what.clone(),
        false => format!("{} {}", e.what, e.detail),
    };
    let parts: Vec<String> = phases.iter().map(part).collect();
    let text = format!("[{:>2} s] {}", elapsed.as_secs(), printable(&parts.join(": ")));
    match text.char_indices().nth(WIDEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A phase of a known number of steps.
#[derive(Debug)]
pub struct Progress {
    phase: Phase,
    total: usize,
    done: usize,
}

impl Progress {
    /// Begins a phase of `total` steps, none of which is done.
    pub fn new(what: &str, total: usize) -> Progress {
        Progress { phase: Phase::new(what), total, done: 0 }
    }

    /// There are so many steps, as is known by now.
    pub fn total(&mut self, total: usize) {
        self.total = total;
    }

    /// One more step begins; `name` says which.
    pub fn step(&mut self, name: &str) {
        self.done += 1;
        self.phase.say(format!("{}/{} {name}", self.done, self.total.max(self.done)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_one_line() {
        let entry =
            |what: &str, detail: &str| Entry { id: 0, what: what.into(), detail: detail.into() };
        let phases = [entry("tune", ""), entry("verifying", "2/9 n=3\u{1b}[2J")];
        let text = line(Duration::from_secs(3), &phases);
        assert!(text.starts_with("[ 3 s] tune: verifying 2/9 n=3"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let long = line(Duration::ZERO, &[entry(&"x".repeat(500), "")]);
        assert_eq!(long.chars().count(), WIDEST + 1);
    }

    #[test]
    fn what_cannot_take_a_line_back_gets_each_once() {
        let mut said = String::new();
        draw(Terminal::None, "a", &mut said);
        assert_eq!(said, "");
        draw(Terminal::Plain, "a", &mut said);
        assert_eq!(said, "a");
    }
}
