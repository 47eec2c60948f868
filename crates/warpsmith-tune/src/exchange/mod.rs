//! Files of the tuning community: T1 problems, T4 results, Kernel Tuner's caches, KTT's own results.

pub mod kernel_tuner;
pub mod ktt;
mod names;
mod origin;
pub mod t1;
pub mod t4;
mod units;

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use crate::outcome::Record;
use crate::space::{Configuration, Parameter};
use crate::value::Value;

pub use origin::Origin;

/// Our own field of a result: all of it, where the format's words do not give it back.
pub(crate) const EXACT: &str = "warpsmith_result";

/// A JSON object whose fields keep their order.
pub type Object = Map<String, Json>;

/// Reads a file as text and adds it to the source map; a file compressed by gzip is unpacked first.
///
/// # Errors
/// The file cannot be read, is damaged, or is no UTF-8.
pub fn open(path: &Path, sources: &mut SourceMap) -> Result<FileId, Diagnostic> {
    let name = path.display().to_string();
    let refuse = |why: String| Diagnostic::error("W410", format!("cannot read `{name}`: {why}"));
    let bytes = std::fs::read(path).map_err(|e| refuse(e.to_string()))?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = vec![];
        let unpacked = GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain);
        unpacked.map_err(|e| refuse(format!("damaged gzip data, {e}")))?;
        plain
    } else {
        bytes
    };
    let text = String::from_utf8(bytes).map_err(|_| refuse("it is no UTF-8 text".into()))?;
    if u32::try_from(text.len()).is_err() {
        return Err(refuse("it is longer than 4 GiB".into()));
    }
    Ok(sources.add(name, text))
}

/// What kind of file a JSON text is, by the names in its outermost object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tuning problem in the T1 format.
    T1,
    /// Results in the T4 format.
    T4,
    /// A cache file of Kernel Tuner.
    KernelTunerCache,
    /// KTT's own format of results.
    Ktt,
}

/// Looks at the names of a file up to the first that tells.
pub fn kind(text: &str) -> Option<Kind> {
    names::outermost(text).find_map(|name| match name {
        "ConfigurationSpace" | "KernelSpecification" => Some(Kind::T1),
        "tune_params_keys" => Some(Kind::KernelTunerCache),
        "results" | "schema_version" => Some(Kind::T4),
        "Results" => Some(Kind::Ktt),
        _ => None,
    })
}

/// Results of tuning, wherever they come from.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The device that took the times, where the file says it.
    pub device: Option<String>,
    /// The kernel's name, where the file says it.
    pub kernel: Option<String>,
    /// With all values that occur or that the file lists.
    pub parameters: Vec<Parameter>,
    /// The results, in the order of the file.
    pub records: Vec<Record>,
    /// Of a file that we wrote: the problem in the store that wrote it.
    pub origin: Option<Origin>,
}

/// Reads recorded results of any known kind.
///
/// # Errors
/// One diagnostic; the second part of the result warns of what was left out.
pub fn read_recording(
    sources: &SourceMap,
    file: FileId,
) -> Result<(Recording, Vec<Diagnostic>), Diagnostic> {
    let text = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
    match kind(&text) {
        Some(Kind::KernelTunerCache) => {
            let (cache, warnings) = kernel_tuner::read(&text, file)?;
            Ok((cache.into_recording(), warnings))
        }
        Some(Kind::T4) => Ok((t4::read(&text, file)?.into_recording(), vec![])),
        Some(Kind::Ktt) => ktt::read(&text, file),
        Some(Kind::T1) | None => Err(Diagnostic::error("W411", "these are no recorded results")
            .label(span(file, 0, first_line(&text)), "neither a Kernel Tuner cache nor T4 nor KTT's")
            .help("a cache has `tune_params_keys` and `cache`, T4 `schema_version` and `results`, KTT's `Metadata` and `Results`")),
    }
}

/// Parameters with the values that occur in configurations, numbers in ascending order.
pub fn parameters_of<'a>(
    configurations: impl Iterator<Item = &'a Configuration>,
) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = vec![];
    for configuration in configurations {
        for (i, (name, value)) in configuration.values.iter().enumerate() {
            let place = match parameters.get(i).filter(|p| p.name == *name) {
                Some(_) => Some(i),
                None => parameters.iter().position(|p| p.name == *name),
            };
            match place {
                Some(place) if parameters[place].values.contains(value) => {}
                Some(place) => parameters[place].values.push(value.clone()),
                None => parameters.push(Parameter::new(name.as_str(), [value.clone()])),
            }
        }
    }
    for p in parameters.iter_mut().filter(|p| p.is_ordered()) {
        let number = |v: &Value| v.number().unwrap_or(0.0);
        p.values.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    parameters
}

/// Parses JSON.
///
/// # Errors
/// One diagnostic at the place where the text stops being JSON of the wanted shape.
pub(crate) fn parse<T: DeserializeOwned>(text: &str, file: FileId) -> Result<T, Diagnostic> {
    serde_json::from_str(text).map_err(|error| damaged(text, file, &error))
}

pub(crate) fn damaged(text: &str, file: FileId, error: &serde_json::Error) -> Diagnostic {
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    // Columns of the parser count bytes, from 1.
    let at = (before + error.column().saturating_sub(1)).min(text.len());
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or_default();
    Diagnostic::error("W412", "this file is not what it should be")
        .label(span(file, at, at + 1), words.to_string())
}

/// The place of a string in a JSON text: its content, without the quotes, if it is written without escapes.
pub fn place_of(text: &str, content: &str) -> Option<usize> {
    let quoted = Json::from(content).to_string();
    let plain = quoted.len() == content.len() + 2;
    text.find(&quoted).filter(|_| plain).map(|at| at + 1)
}

/// The bytes from `start` to before `end` of a file; numbers beyond 32 bits are cut to the largest.
pub fn span(file: FileId, start: usize, end: usize) -> Span {
    let clamp = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
    Span { file, start: clamp(start), end: clamp(end) }
}

pub(crate) fn first_line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// A number as JSON: whole numbers without a point. Python's spelling in a string where JSON has no number.
pub(crate) fn number(x: f64) -> Json {
    if x.fract() == 0.0 && x.abs() < 9e15 {
        return Json::from(x as i64);
    }
    Value::Float(x).to_json()
}

/// A number, or the spelling of one that JSON does not have.
pub(crate) fn as_number(json: &Json) -> Option<f64> {
    match json {
        Json::Number(x) => x.as_f64(),
        Json::String(x) => match x.as_str() {
            "nan" | "NaN" => Some(f64::NAN),
            "inf" | "Infinity" => Some(f64::INFINITY),
            "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// JSON as Python writes and reads it may hold bare `NaN` and `Infinity`; here they become strings.
pub(crate) fn without_bare_nan(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return text.into();
    }
    let mut made = String::with_capacity(text.len() + 64);
    let (mut in_string, mut escaped) = (false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|w| rest.starts_with(w));
        if let Some(word) = word.filter(|_| !in_string) {
            made.extend(['"']);
            made.push_str(word);
            made.extend(['"']);
            rest = &rest[word.len()..];
            continue;
        }
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            in_string = c == '"';
        }
        made.push(c);
        rest = &rest[c.len_utf8()..];
    }
    made.into()
}

#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod units_and_ktt;
