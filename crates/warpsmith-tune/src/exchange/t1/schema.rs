//! Which names a T1 file may have and of what kind their values are: a value of another kind is an error at its place,
//! and a name that nobody knows is reported, so that nothing in a file is left out in silence.

use serde_json::Value as Json;
use warpsmith_ir::{Diagnostic, FileId, Span};

use super::super::{Object, span};

/// What a value may be. `null` is as good as no value anywhere.
enum Shape {
    /// Not looked into.
    Any,
    Text,
    Number,
    /// A whole number that is not negative.
    Count,
    /// The text of an expression, or its value.
    Size,
    /// Texts or numbers, a list of them or a single one.
    Sizes,
    /// The values of a parameter: a list, or the text of one.
    Values,
    Object(&'static [Key]),
    List(&'static [Key]),
    /// Older files hold a single object in place of a list.
    OneOrList(&'static [Key]),
}

type Key = (&'static str, Shape);

const FILE: &[Key] = &[
    ("ConfigurationSpace", Shape::Object(SPACE)),
    ("KernelSpecification", Shape::Object(KERNEL)),
    ("Search", Shape::Object(&[("Name", Shape::Text), ("Attributes", Shape::Any)])),
    ("Budget", Shape::OneOrList(&[("Type", Shape::Text), ("BudgetValue", Shape::Number)])),
    ("General", Shape::Any),
];

const SPACE: &[Key] = &[
    (
        "TuningParameters",
        Shape::List(&[
            ("Name", Shape::Text),
            ("Type", Shape::Text),
            ("Values", Shape::Values),
            ("Default", Shape::Any),
        ]),
    ),
    ("Conditions", Shape::List(&[("Parameters", Shape::Sizes), ("Expression", Shape::Text)])),
];

const AXES: &[Key] = &[("X", Shape::Size), ("Y", Shape::Size), ("Z", Shape::Size)];

const KERNEL: &[Key] = &[
    ("Language", Shape::Text),
    ("KernelName", Shape::Text),
    ("KernelTypeNames", Shape::Sizes),
    ("KernelFile", Shape::Text),
    ("BenchmarkName", Shape::Any),
    ("CompilerOptions", Shape::Sizes),
    ("GlobalSizeType", Shape::Text),
    ("GlobalSize", Shape::Object(AXES)),
    ("LocalSize", Shape::Object(AXES)),
    ("GridDivX", Shape::Sizes),
    ("GridDivY", Shape::Sizes),
    ("GridDivZ", Shape::Sizes),
    ("ProblemSize", Shape::Sizes),
    ("SharedMemory", Shape::Size),
    ("Stream", Shape::Any),
    ("SimulationInput", Shape::Any),
    (
        "Device",
        Shape::Object(&[
            ("Name", Shape::Text),
            ("PlatformId", Shape::Any),
            ("DeviceId", Shape::Any),
        ]),
    ),
    ("Arguments", Shape::List(ARGUMENT)),
    ("ReferenceArguments", Shape::List(REFERENCE)),
];

const ARGUMENT: &[Key] = &[
    ("Name", Shape::Text),
    ("Type", Shape::Text),
    ("TypeSize", Shape::Count),
    ("MemoryType", Shape::Text),
    ("MemType", Shape::Text),
    ("AccessType", Shape::Text),
    ("FillType", Shape::Text),
    ("FillValue", Shape::Any),
    ("DataSource", Shape::Text),
    ("RandomSeed", Shape::Count),
    ("Size", Shape::Size),
    ("Output", Shape::Any),
];

const REFERENCE: &[Key] = &[
    ("Name", Shape::Text),
    ("TargetName", Shape::Text),
    ("Type", Shape::Any),
    ("Size", Shape::Any),
    ("MemoryType", Shape::Any),
    ("AccessType", Shape::Any),
    ("FillType", Shape::Text),
    ("FillValue", Shape::Any),
    ("DataSource", Shape::Text),
    ("RandomSeed", Shape::Count),
    ("ValidationMethod", Shape::Text),
    ("ValidationThreshold", Shape::Number),
];

/// A name in a file that means nothing there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name as written.
    pub name: String,
    /// Where it stands.
    pub place: Span,
    /// The names that are known there.
    pub known: Vec<&'static str>,
}

/// Looks at all names of a file.
///
/// # Errors
/// W411 at the first value that is of another kind than its name wants.
pub fn check(text: &str, file: FileId, document: &Object) -> Result<Vec<Unknown>, Diagnostic> {
    let mut checker = Checker { text, file, path: vec![], unknown: vec![] };
    checker.object(document, FILE)?;
    Ok(checker.unknown)
}

/// The way to a value from the top of the file.
#[derive(Clone)]
enum Step {
    Name(String),
    Index(usize),
}

struct Checker<'a> {
    text: &'a str,
    file: FileId,
    path: Vec<Step>,
    unknown: Vec<Unknown>,
}

impl Checker<'_> {
    fn object(&mut self, object: &Object, keys: &'static [Key]) -> Result<(), Diagnostic> {
        for (name, value) in object {
            self.path.push(Step::Name(name.clone()));
            match keys.iter().find(|(known, _)| known == name) {
                Some((_, shape)) => self.value(name, value, shape)?,
                None => self.unknown.push(Unknown {
                    name: name.clone(),
                    place: self.place(),
                    known: keys.iter().map(|(known, _)| *known).collect(),
                }),
            }
            self.path.pop();
        }
        Ok(())
    }

    fn value(&mut self, name: &str, value: &Json, shape: &'static Shape) -> Result<(), Diagnostic> {
        let size = |v: &Json| v.is_string() || v.is_number();
        let wanted = match (shape, value) {
            (Shape::Any, _) | (_, Json::Null) => return Ok(()),
            (Shape::Object(keys), Json::Object(object)) => return self.object(object, keys),
            (Shape::OneOrList(keys), one @ Json::Object(_)) => {
                return self.entries(name, std::slice::from_ref(one), keys, false);
            }
            (Shape::List(keys) | Shape::OneOrList(keys), Json::Array(list)) => {
                return self.entries(name, list, keys, true);
            }
            (Shape::Text, Json::String(_)) | (Shape::Number, Json::Number(_)) => return Ok(()),
            (Shape::Values, Json::String(_) | Json::Array(_)) => return Ok(()),
            (Shape::Count, v) if v.is_u64() => return Ok(()),
            (Shape::Size | Shape::Sizes, v) if size(v) => return Ok(()),
            (Shape::Sizes, Json::Array(list)) if list.iter().all(size) => return Ok(()),
            (Shape::Object(_), _) => "an object",
            (Shape::List(_), _) => "a list of objects",
            (Shape::OneOrList(_), _) => "a list of objects, or one",
            (Shape::Text, _) => "a text",
            (Shape::Number, _) => "a number",
            (Shape::Values, _) => "a list, or the text of one",
            (Shape::Count, _) => "a whole number that is not negative",
            (Shape::Size, _) => "a number, or the text of an expression",
            (Shape::Sizes, _) => "a text or a number, or a list of them",
        };
        Err(self.wrong(name, wanted, value))
    }

    /// `listed`: the entries are those of a list, and not the value itself.
    fn entries(
        &mut self,
        name: &str,
        list: &[Json],
        keys: &'static [Key],
        listed: bool,
    ) -> Result<(), Diagnostic> {
        for (at, entry) in list.iter().enumerate() {
            if listed {
                self.path.push(Step::Index(at));
            }
            match entry {
                Json::Object(object) => self.object(object, keys)?,
                other => return Err(self.wrong(name, "an object for each entry", other)),
            }
            if listed {
                self.path.pop();
            }
        }
        Ok(())
    }

    fn wrong(&self, name: &str, wanted: &str, value: &Json) -> Diagnostic {
        let is = match value {
            Json::Null => "nothing",
            Json::Bool(_) => "true or false",
            Json::Number(_) => "a number",
            Json::String(_) => "a text",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        };
        Diagnostic::error("W411", format!("`{name}` has a value of the wrong kind"))
            .label(self.place(), format!("{wanted} is wanted, and this is {is}"))
    }

    /// Of the name or entry to which the path leads.
    fn place(&self) -> Span {
        let found = Scanner { text: self.text, at: 0 }.find(&self.path);
        let (start, end) = found.unwrap_or((0, super::first_line(self.text)));
        span(self.file, start, end)
    }
}

/// Walks through a text that is known to be JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    /// The place of the last name or entry of a path.
    fn find(mut self, path: &[Step]) -> Option<(usize, usize)> {
        let mut place = None;
        for step in path {
            self.blanks();
            self.at += 1;
            // Of a name that is there twice, the last counts, as for the parser.
            let mut found = None;
            let mut index = 0;
            loop {
                self.blanks();
                let mut here = (self.at, self.at + 1);
                match (self.peek()?, step) {
                    (b'}' | b']', _) => break,
                    (b',', _) => {
                        self.at += 1;
                        continue;
                    }
                    (_, Step::Index(wanted)) if index == *wanted => found = Some((here, self.at)),
                    (_, Step::Index(_)) => {}
                    (_, Step::Name(wanted)) => {
                        self.value()?;
                        here.1 = self.at;
                        let name: String =
                            serde_json::from_str(self.text.get(here.0..here.1)?).ok()?;
                        self.blanks();
                        self.at += 1;
                        self.blanks();
                        if name == *wanted {
                            found = Some((here, self.at));
                        }
                    }
                }
                self.value()?;
                index += 1;
            }
            let (here, value) = found?;
            place = Some(here);
            self.at = value;
        }
        place
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Passes over one value: a text, or everything up to the end of its brackets or its word.
    fn value(&mut self) -> Option<()> {
        let mut depth = 0;
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' | b',' if depth == 0 => return Some(()),
                b']' | b'}' => {
                    depth -= 1;
                    self.at += 1;
                }
                b if depth == 0 && b.is_ascii_whitespace() => return Some(()),
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                _ => self.at += 1,
            }
        }
    }
}
