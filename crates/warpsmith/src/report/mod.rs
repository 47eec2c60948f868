//! Reports of findings: one model, three ways to write it.

mod counters;
mod fingerprint;
mod human;
mod json;
mod sarif;

use warpsmith_emu::counters::Counters;
use warpsmith_ir::{SourceMap, Span};

pub use fingerprint::give_fingerprints;
pub use human::human;
pub use json::json;
pub use sarif::{failed_sarif, sarif};

use crate::status::Status;

/// What a run of `check` found.
#[derive(Debug)]
pub struct Report {
    /// The command whose report it is: `check`.
    pub command: &'static str,
    /// How the command ends: `No` with findings; without any, `Limit` where launches were left out and `BadInput` where they were
    /// lost.
    pub status: Status,
    /// Every launch ran to its end.
    pub complete: bool,
    /// Defects, each once however often it was seen.
    pub findings: Vec<Item>,
    /// Notes never change the status.
    pub notes: Vec<Item>,
    /// Findings a comment in the source allows, with the reason.
    pub allowed: Vec<(Item, String)>,
    /// Launches run, as `file: kernel<<<grid, block>>>`.
    pub launches: Vec<String>,
    /// How many those are; one in a loop is listed once.
    pub launched: u64,
    /// Nothing was run: the launches are those that would be.
    pub dry_run: bool,
    /// Kernels and launches, one a line, when nothing else was asked for.
    pub listed: Option<String>,
    /// Files without a launch, in a folder.
    pub skipped: Vec<(String, String)>,
    /// What the result rests on, for example arrays without bounds.
    pub assumptions: Vec<String>,
    /// Paths written.
    pub outputs: Vec<String>,
    /// Text of device `printf`.
    pub printed: String,
    /// Limits that were reached.
    pub limits: Vec<String>,
    /// Launches of host code that were not run, and why.
    pub lost: Vec<String>,
    /// Repetitions of launches that were not run: no claim is made about them.
    pub left_out: Vec<String>,
    /// Launches of which only some blocks were run.
    pub in_part: Vec<String>,
    /// Performance counters of each launch, when they were asked for.
    pub counters: Vec<(String, Counters)>,
    /// The answer of `--same-as`.
    pub same_as: Option<SameAs>,
}

/// Whether a kernel computes what a reference does.
#[derive(Debug, Clone)]
pub struct SameAs {
    /// `ref.c: gemm`.
    pub reference: String,
    /// `equal`, `equal within rounding`, `different`, or `unknown`.
    pub verdict: &'static str,
    /// Arrays that some side wrote.
    pub compared: Vec<String>,
    /// The sizes at which both were run, in words.
    pub sizes: String,
    /// What a device said at the full size.
    pub device: Option<OnDevice>,
}

/// Both sides at the full size.
#[derive(Debug, Clone)]
pub struct OnDevice {
    /// The device, by its name.
    pub device: String,
    /// What times are: `measured`, `emulated`, `recorded`.
    pub times: &'static str,
    /// The sizes: `n=1024, m=512`.
    pub sizes: String,
    /// The kernel's time in milliseconds; `None` where it is not the same.
    pub ms: Option<f64>,
    /// The reference's, where it is a kernel.
    pub reference_ms: Option<f64>,
    /// What is not the same.
    pub differs: Option<String>,
}

/// One finding or note.
#[derive(Debug, Clone)]
pub struct Item {
    /// Stable across runs: rule, place and array.
    pub id: String,
    /// Stable across versions of a file: rule, kernel and the text of its lines; empty where the report is not of `check`'s
    /// own findings.
    pub fingerprint: String,
    /// The rule that is broken, such as `race-global`.
    pub rule: &'static str,
    /// It is no defect, but worth knowing.
    pub is_note: bool,
    /// A refinement of the rule, such as `write-write`.
    pub kind: Option<&'static str>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Thread occurrences, over all launches.
    pub count: u64,
    /// The two ends of a race, earlier first; one place for most other rules.
    pub places: Vec<Place>,
    /// The array or variable.
    pub array: Option<String>,
    /// Index of its element, one number for each dimension; empty where there is none.
    pub index: Vec<i64>,
    /// Number of barriers that the block had passed.
    pub interval: Option<u32>,
    /// The launch in which it was seen first.
    pub launch: String,
}

/// One end of a finding.
#[derive(Debug, Clone)]
pub struct Place {
    /// The place in the source, where it is known.
    pub span: Option<Span>,
    /// `write`, `read`, `barrier` …
    pub what: &'static str,
    /// Block and thread.
    pub thread: Option<([u32; 3], [u32; 3])>,
}

impl Item {
    /// Whether two items are the same defect.
    pub fn same_as(&self, other: &Item) -> bool {
        self.id == other.id && self.kind == other.kind
    }
}

/// The id of a defect: its rule and a hash of file, lines, columns and array.
pub fn stable_id(rule: &str, places: &[Place], array: Option<&str>, sources: &SourceMap) -> String {
    let mut text = String::from(rule);
    for place in places {
        if let Some(span) = place.span {
            let (line, column) = sources.line_column(span.file, span.start);
            let path = sources.get(span.file).map_or("", |f| f.path.as_str());
            text += &format!("|{path}:{line}:{column}");
        }
    }
    text += array.unwrap_or("");
    let hash = crate::data::name_hash(&text);
    format!("{rule}-{:08x}", (hash ^ (hash >> 32)) as u32)
}

/// `tile[3][4]`, as findings write an element.
pub fn element(item: &Item) -> Option<String> {
    let array = item.array.as_ref()?;
    Some(item.index.iter().fold(array.clone(), |text, i| format!("{text}[{i}]")))
}

/// `block (0,0,0) thread (5,0,0)`, without the axes that are 0 in both.
pub fn thread_name(block: [u32; 3], thread: [u32; 3]) -> String {
    format!("block {} thread {}", triple(block), triple(thread))
}

fn triple(t: [u32; 3]) -> String {
    match t {
        [x, 0, 0] => format!("{x}"),
        [x, y, 0] => format!("({x},{y})"),
        [x, y, z] => format!("({x},{y},{z})"),
    }
}
