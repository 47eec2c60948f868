//! Cases of a step, from a file: functions before and after it, and functions that it is refused for.
//!
//! ```text
//! === what is special about the case
//! void f(int n, float a[n]) { … }
//! --- steps
//! split k by 4
//! --- then
//! bind i -> x block 32
//! --- at
//! n=0 m=3
//! --- after
//! …
//! === why it is refused
//! --- steps
//! split k by 0
//! --- refused
//! …
//! ```
//!
//! A case without a function has that of the case before it. `then` are steps that only serve to run the result.

use std::fmt::Write;
use std::path::PathBuf;

/// A function, a schedule whose last step is the one that the file is about, and what comes of it.
pub struct Case {
    pub title: String,
    /// Empty in the file where it is the one before.
    own_source: String,
    pub source: String,
    pub steps: String,
    pub then: String,
    pub sizes: Vec<Vec<(&'static str, i64)>>,
    pub outcome: Outcome,
}

/// The function after the steps, or the message.
#[derive(Clone, PartialEq, Eq)]
pub enum Outcome {
    After(String),
    Refused(String),
}

/// Where the cases of a step stand.
pub fn file(step: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/laws/cases");
    PathBuf::from(folder).join(step).with_extension("txt")
}

/// The cases of a step.
pub fn read(step: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(file(step)).unwrap_or_default();
    let mut cases: Vec<Case> = vec![];
    for (title, body) in parts(&text, "=== ") {
        let case = case(step, title, &body, cases.last().map_or("", |c| &c.source));
        cases.push(case);
    }
    cases
}

/// What stands behind lines that begin with a marker, each with the rest of that line.
fn parts<'a>(text: &'a str, marker: &str) -> Vec<(&'a str, String)> {
    let mut parts: Vec<(&str, String)> = vec![];
    for line in text.split_inclusive('\n') {
        match line.strip_prefix(marker) {
            Some(head) => parts.push((head.trim_end(), String::new())),
            None => parts.last_mut().into_iter().for_each(|(_, body)| body.push_str(line)),
        }
    }
    parts
}

fn case(step: &str, title: &str, body: &str, before: &str) -> Case {
    let own_source = body.split("--- steps\n").next().unwrap_or_default();
    let source = if own_source.is_empty() { before } else { own_source };
    let mut case = Case {
        title: title.to_string(),
        own_source: own_source.to_string(),
        source: source.to_string(),
        steps: String::new(),
        then: String::new(),
        sizes: vec![],
        outcome: Outcome::After(String::new()),
    };
    for (name, text) in parts(body, "--- ") {
        match name {
            "steps" => case.steps = text.trim_end().to_string(),
            "then" => case.then = text.trim_end().to_string(),
            "at" => case.sizes = text.lines().map(point).collect(),
            "after" => case.outcome = Outcome::After(text),
            "refused" => case.outcome = Outcome::Refused(text),
            other => panic!("{step}, {title}: a section `{other}`"),
        }
    }
    case
}

fn point(line: &str) -> Vec<(&'static str, i64)> {
    let sizes = line.split_whitespace().map(|size| {
        let (name, value) = size.split_once('=').expect("a size");
        (&*name.to_string().leak(), value.parse().expect("a number"))
    });
    sizes.collect()
}

impl Case {
    /// The case as its file has it.
    pub fn text(&self) -> String {
        let mut text =
            format!("=== {}\n{}--- steps\n{}\n", self.title, self.own_source, self.steps);
        if !self.then.is_empty() {
            let _ = writeln!(text, "--- then\n{}", self.then);
        }
        if !self.sizes.is_empty() {
            text += "--- at\n";
        }
        for point in &self.sizes {
            let sizes: Vec<String> = point.iter().map(|(n, v)| format!("{n}={v}")).collect();
            let _ = writeln!(text, "{}", sizes.join(" "));
        }
        let (name, outcome) = match &self.outcome {
            Outcome::After(text) => ("after", text),
            Outcome::Refused(text) => ("refused", text),
        };
        text + &format!("--- {name}\n{outcome}")
    }
}
