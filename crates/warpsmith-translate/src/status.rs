//! Exit statuses and the errors that lead to them.

use serde_json::json;
use warpsmith_gpu::stop::Stop;
use warpsmith_ir::{Diagnostic, Severity, SourceMap};

/// How a command ended; the numbers are the contract of all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Done, nothing to complain about.
    Done,
    /// The answer is "no": findings, a refused loop, a failed verification.
    No,
    /// Bad usage or bad input.
    BadInput,
    /// A work, memory or time limit was reached before a finding.
    Limit,
    /// A bug of ours.
    Bug,
    /// Ctrl-C.
    Interrupted,
}

impl Status {
    /// The process exit status.
    pub fn code(self) -> i32 {
        match self {
            Status::Done => 0,
            Status::No => 1,
            Status::BadInput => 2,
            Status::Limit => 3,
            Status::Bug => 70,
            Status::Interrupted => 130,
        }
    }

    /// The word in JSON reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Done => "done",
            Status::No => "no",
            Status::BadInput => "bad-input",
            Status::Limit => "limit",
            Status::Bug => "bug",
            Status::Interrupted => "interrupted",
        }
    }
}

/// Why a command could not do its work: one or more messages about the user's input, and the status.
#[derive(Debug)]
pub struct Failure {
    /// How the command ends: its exit code.
    pub status: Status,
    /// What is reported, at least one message, in the order of printing.
    pub diagnostics: Vec<Diagnostic>,
    /// The input is not what it should be: it may be of a kind that another command takes.
    pub unread: bool,
    /// What was made up to the failure, where that was asked for: printed for a person before the messages.
    pub made: String,
}

impl Failure {
    /// A bad-input failure with one message that has no place in a source file.
    pub fn input(code: &'static str, message: impl Into<String>) -> Failure {
        Diagnostic::error(code, message).into()
    }

    /// Prints the messages as a terminal shows them.
    pub fn render(&self, sources: &SourceMap, color: bool) -> String {
        self.diagnostics.iter().map(|d| d.render(sources, color) + "\n").collect()
    }

    /// One object, schema 1, as a command that writes JSON says it.
    pub fn json(&self, command: &str, sources: &SourceMap) -> serde_json::Value {
        let messages: Vec<&Diagnostic> = self.diagnostics.iter().collect();
        json!({
            "schema": 1, "command": command, "status": self.status.name(), "exit": self.status.code(),
            "complete": false, "findings": findings(&messages, sources), "notes": [], "outputs": [],
            "verification": null,
        })
    }

    /// The time for everything is over. `during` says what was going on: "while …".
    pub fn timed_out(during: &str) -> Failure {
        let message = format!("the time limit was reached (--timeout) {during}");
        let d = Diagnostic::error("W470", message).help("give more time with --timeout");
        Failure::from(d).with_status(Status::Limit)
    }

    /// Ctrl-C, as [`Failure::timed_out`].
    pub fn interrupted(during: &str) -> Failure {
        let d = Diagnostic::error("W463", format!("interrupted {during}"));
        let d = d.help("nothing was written; `tune --resume` goes on with a search whose results were recorded");
        Failure::from(d).with_status(Status::Interrupted)
    }

    /// Why work ends that is to end now.
    pub fn stopped(stop: &Stop, during: &str) -> Option<Failure> {
        match (stop.is_flagged(), stop.is_late()) {
            (true, _) => Some(Failure::interrupted(during)),
            (false, true) => Some(Failure::timed_out(during)),
            (false, false) => None,
        }
    }

    /// The answer to what the user asked for, with the reasons.
    pub fn no(errors: Vec<Diagnostic>) -> Failure {
        Failure::from(errors).with_status(Status::No)
    }

    /// The same messages with another status.
    pub fn with_status(mut self, status: Status) -> Failure {
        self.status = status;
        self
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        vec![diagnostic].into()
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Failure {
        Failure { status: Status::BadInput, diagnostics, unread: false, made: String::new() }
    }
}

/// The diagnostics of a run, as they are on stderr.
pub fn findings(messages: &[&Diagnostic], sources: &SourceMap) -> Vec<serde_json::Value> {
    messages
        .iter()
        .map(|d| {
            let locations: Vec<serde_json::Value> = d
                .labels
                .iter()
                .map(|l| {
                    let (line, column) = sources.line_column(l.span.file, l.span.start);
                    let file = sources.get(l.span.file).map_or("", |f| f.path.as_str());
                    json!({"file": file, "line": line, "column": column, "what": l.text})
                })
                .collect();
            let severity = match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                _ => "note",
            };
            json!({
                "id": d.code, "rule": d.code, "severity": severity, "message": d.message, "count": 1,
                "locations": locations, "notes": d.notes, "help": d.help,
            })
        })
        .collect()
}
