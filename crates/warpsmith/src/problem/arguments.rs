//! The arguments of a problem's kernel: buffers with their contents, scalars, and what lies in constant and shared memory.

use warpsmith_gpu::protocol::{
    Arg, BufferSpec, Contents, Element, Expected, Output, Problem as Memory, Tolerance,
};
use warpsmith_ir::{Diagnostic, Scalar, Value};
use warpsmith_tune::exchange::t1::{Argument, Reference};

use super::Source;
use super::contents::{self, Fill, Sources};
use super::elements::{Kind, usual_tolerance};
use crate::search::Compared;
use crate::status::{Failure, Status};

/// Everything that a launch gets.
#[derive(Debug)]
pub struct Arguments {
    /// Parameters of the kernel, in order.
    pub parameters: Vec<Arg>,
    /// Variables of the text and what they are set to before the first launch.
    pub symbols: Vec<(String, Vec<u8>)>,
    /// Bytes of dynamic shared memory: expressions over the parameters.
    pub local: Vec<String>,
    pub memory: Memory,
    pub blobs: Vec<Vec<u8>>,
    /// Outputs that are compared with those of the first configuration that runs; empty where the problem says what is
    /// right.
    pub outputs: Vec<Compared>,
    /// What was read of the file in another way than it may be meant.
    pub warnings: Vec<Diagnostic>,
    /// Sizes and contents in a short text.
    pub summary: String,
}

/// What making the arguments may take.
pub struct Allowed<'a> {
    /// Of all buffers together.
    pub bytes: u64,
    /// Asked now and then: whether to give up.
    pub stop: &'a dyn Fn() -> bool,
}

/// Makes the arguments. `listed` is how many parameters the text of the kernel lists, where that can be told.
///
/// # Errors
/// W441 to W445, at the argument.
pub fn arguments(
    source: &Source,
    seed: u64,
    listed: Option<usize>,
    allowed: &Allowed<'_>,
) -> Result<Arguments, Failure> {
    let all = &source.problem.kernel.arguments;
    let mut made = Maker {
        source,
        sources: Sources {
            problem: &source.problem,
            folder: &source.folder,
            seed,
            stop: allowed.stop,
        },
        most: allowed.bytes,
        // Kernel Tuner hands what lies in constant memory over as a parameter as well, if the kernel has one for it.
        symbols_are_parameters: listed == Some(all.iter().filter(|a| !beside(a)).count()),
        out: Arguments {
            parameters: vec![],
            symbols: vec![],
            local: vec![],
            memory: Memory { buffers: vec![], expected: vec![] },
            blobs: vec![],
            outputs: vec![],
            warnings: vec![],
            summary: String::new(),
        },
        vectors: vec![],
        summary: vec![],
    };
    for (at, argument) in all.iter().enumerate() {
        made.argument(at, argument)?;
    }
    for reference in &source.problem.kernel.references {
        made.reference(reference)?;
    }
    if source.problem.kernel.references.is_empty() {
        made.compare_written()?;
    }
    made.out.summary = made.summary.join(" ");
    Ok(made.out)
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".into(),
        0..1_048_576 => format!("{bytes} bytes"),
        more => format!("{} MiB", more.div_ceil(1 << 20)),
    }
}

/// Whether an argument is no parameter of the kernel, whatever the kernel lists.
fn beside(argument: &Argument) -> bool {
    ["Local", "Symbol"].contains(&argument.memory.as_str())
}

/// A buffer by the argument it belongs to.
struct Vector<'a> {
    argument: &'a Argument,
    kind: Kind,
    buffer: usize,
    count: u64,
}

struct Maker<'a> {
    source: &'a Source,
    sources: Sources<'a>,
    most: u64,
    symbols_are_parameters: bool,
    out: Arguments,
    vectors: Vec<Vector<'a>>,
    summary: Vec<String>,
}

impl<'a> Maker<'a> {
    fn argument(&mut self, at: usize, argument: &'a Argument) -> Result<(), Failure> {
        let name = if argument.name.is_empty() {
            format!("argument {}", at + 1)
        } else {
            argument.name.clone()
        };
        if let Some(special) = &argument.special {
            let why = format!("`{name}` would lie in {} memory", special.to_lowercase());
            return Err(self.refuse(
                argument,
                "W441",
                "this kind of memory is not supported",
                &why,
                Some("constant memory (`MemType` \"Constant\") and buffers are"),
            ));
        }
        let kind = Kind::named(&argument.kind, argument.type_size).ok_or_else(|| {
            let help = "int8 … uint64, half, float, double with 2, 4, 8 or 16 behind them, or custom with `TypeSize`";
            self.refuse(argument, "W442", &format!("`{}` is no type of an argument", argument.kind), &name, Some(help))
        })?;
        if let Some(stated) = argument.type_size.filter(|stated| *stated != kind.bytes()) {
            let what = format!("`{}` has {} bytes", argument.kind, kind.bytes());
            let why = format!("`TypeSize` of `{name}` says {stated} bytes for an element");
            let help = "leave `TypeSize` away; it is for the type custom";
            return Err(self.refuse(argument, "W442", &what, &why, Some(help)));
        }
        let count = match &argument.size {
            Some(text) => Some(self.count(argument, text)?),
            None => None,
        };
        match argument.memory.as_str() {
            "Scalar" => self.scalar(argument, &name, kind),
            "Local" => {
                let text = argument.size.as_deref().unwrap_or("1");
                self.out.local.push(format!("({text}) * {}", kind.bytes()));
                Ok(())
            }
            "Symbol" => {
                let bytes = self.bytes(argument, &name, kind, count.or(Some(1)))?;
                self.out.symbols.push((name, bytes));
                Ok(())
            }
            "Vector" => self.vector(argument, &name, kind, count),
            other => {
                let what = format!("`{other}` is no kind of memory");
                Err(self.refuse(
                    argument,
                    "W441",
                    &what,
                    &name,
                    Some("Scalar, Vector, Local and Symbol are known"),
                ))
            }
        }
    }

    fn scalar(&mut self, argument: &Argument, name: &str, kind: Kind) -> Result<(), Failure> {
        // A scalar is a vector of one: what fills one fills the other.
        let bytes = self.bytes(argument, name, kind, Some(1))?;
        if let (Kind::Numbers(scalar, _), fill) = (kind, &argument.fill_value) {
            let shown = match fill {
                serde_json::Value::Null => format!("{scalar}"),
                // An expression: its value says what was measured.
                serde_json::Value::String(_) => shown_value(scalar, &bytes),
                _ => fill.to_string(),
            };
            self.summary.push(format!("{name}={shown}"));
        }
        self.out.parameters.push(Arg::Bytes(bytes));
        Ok(())
    }

    fn vector(
        &mut self,
        argument: &'a Argument,
        name: &str,
        kind: Kind,
        count: Option<u64>,
    ) -> Result<(), Failure> {
        let unset = argument.access == "WriteOnly"
            && argument.fill == "Constant"
            && argument.fill_value.is_null();
        let (bytes, contents) = match (unset, count) {
            (true, Some(count)) => (None, Some(count.saturating_mul(kind.bytes()))),
            _ => (Some(self.bytes(argument, name, kind, count)?), None),
        };
        let length = bytes.as_ref().map_or(contents.unwrap_or(0), |b| b.len() as u64);
        self.keep_within(argument, length)?;
        self.summary.push(format!("{name}[{}]", length / kind.bytes()));
        if argument.constant {
            let bytes = bytes.unwrap_or_else(|| vec![0; usize::try_from(length).unwrap_or(0)]);
            self.out.symbols.push((name.to_string(), bytes.clone()));
            if !self.symbols_are_parameters {
                return Ok(());
            }
            self.add(argument, name, kind, Some(bytes), length);
            return Ok(());
        }
        self.add(argument, name, kind, bytes, length);
        Ok(())
    }

    fn add(
        &mut self,
        argument: &'a Argument,
        name: &str,
        kind: Kind,
        bytes: Option<Vec<u8>>,
        length: u64,
    ) {
        let buffer = self.out.memory.buffers.len();
        let contents = match bytes {
            Some(bytes) => {
                self.out.blobs.push(bytes);
                Contents::Blob(self.out.blobs.len() - 1)
            }
            None => Contents::Poison,
        };
        self.out.memory.buffers.push(BufferSpec { name: name.into(), bytes: length, contents });
        self.out.parameters.push(Arg::Buffer { buffer, offset: 0 });
        self.vectors.push(Vector { argument, kind, buffer, count: length / kind.bytes() });
    }

    /// What all written buffers must hold is what the first configuration leaves there.
    fn compare_written(&mut self) -> Result<(), Failure> {
        let written =
            self.vectors.iter().filter(|v| v.argument.access != "ReadOnly" && !v.argument.constant);
        self.out.outputs = written
            .map(|v| {
                let element = v.kind.compared();
                Compared {
                    buffer: v.buffer,
                    element,
                    tolerance: usual_tolerance(element),
                    of_largest: 0.0,
                }
            })
            .collect();
        if self.out.outputs.is_empty() {
            let text = "this problem's kernel writes nothing that could be compared";
            return Err(self
                .source
                .message("W443", text, "Arguments", "each of them is read only")
                .help("say \"AccessType\": \"WriteOnly\" or \"ReadWrite\" where the kernel writes")
                .into());
        }
        Ok(())
    }

    fn reference(&mut self, reference: &Reference) -> Result<(), Failure> {
        let text = |name: &str| reference.fields.get(name).and_then(serde_json::Value::as_str);
        let target = self.vectors.iter().find(|v| v.argument.name == reference.target);
        let Some(target) = target else {
            let why = "no buffer among the arguments has this name";
            let what = "a reference is for an argument that does not exist";
            return Err(self.source.message("W444", what, &reference.target, why).into());
        };
        let (kind, buffer, count) = (target.kind, target.buffer, target.count);
        let null = serde_json::Value::Null;
        let fill = Fill {
            name: text("Name").unwrap_or(&reference.target),
            fill: text("FillType").unwrap_or("Constant"),
            value: reference.fields.get("FillValue").unwrap_or(&null),
            source: text("DataSource"),
            seed: reference.fields.get("RandomSeed").and_then(serde_json::Value::as_u64),
        };
        let bytes = contents::bytes(&fill, kind, Some(count), &self.sources).map_err(|why| {
            let what = format!("the reference for `{}` cannot be made", reference.target);
            self.source.message("W444", &what, &reference.target, &why)
        })?;
        let element = kind.compared();
        let tolerance = self.tolerance(reference, element)?;
        let blob = self.out.blobs.len();
        self.out.blobs.push(bytes);
        let output = Output { buffer, element, tolerance };
        self.out.memory.expected.push(Expected { output, blob });
        Ok(())
    }

    /// How far an output may be off its reference. Thresholds without a value are KTT's.
    fn tolerance(&mut self, reference: &Reference, element: Element) -> Result<Tolerance, Failure> {
        let threshold = reference.threshold.unwrap_or(1e-4);
        if !(threshold >= 0.0 && threshold.is_finite()) {
            let why = format!("{threshold} is no distance");
            return Err(self
                .source
                .message("W444", "this threshold cannot be used", &reference.target, &why)
                .into());
        }
        // Integers are equal or not, unless the threshold lets them differ: bits have no distance.
        if matches!(element, Element::Bits(_)) {
            return Ok(Tolerance::default());
        }
        match reference.method.as_str() {
            "" | "SideBySideComparison" => {
                Ok(Tolerance { absolute: threshold, relative: 0.0, ..Tolerance::default() })
            }
            // Beside a reference of 0 every difference is infinitely large.
            "SideBySideRelativeComparison" => {
                Ok(Tolerance { absolute: 1e-7, relative: threshold, ..Tolerance::default() })
            }
            "AbsoluteDifference" => {
                let what = "the sum of differences is compared element by element";
                let why =
                    format!("each element of `{}` may differ by {threshold}", reference.target);
                let mut warning = self.source.message("W446", what, &reference.method, &why);
                warning.severity = warpsmith_ir::Severity::Warning;
                self.out.warnings.push(warning.help("SideBySideComparison says so itself"));
                Ok(Tolerance { absolute: threshold, relative: 0.0, ..Tolerance::default() })
            }
            other => {
                let why = "AbsoluteDifference, SideBySideComparison and SideBySideRelativeComparison are known";
                Err(self
                    .source
                    .message("W444", "this way of validation is not known", other, why)
                    .into())
            }
        }
    }

    fn count(&self, argument: &Argument, text: &str) -> Result<u64, Failure> {
        // Memory of a block may depend on the configuration; everything else has one size for all.
        if argument.memory == "Local" {
            return Ok(0);
        }
        let wrong = |why: String| {
            let what = format!("the size of `{}` is no number of elements", argument.name);
            Failure::from(self.source.message("W443", &what, text, &why))
        };
        let value = self.source.problem.argument_size(text).map_err(|e| wrong(e.message))?;
        let number = value.number().filter(|n| n.fract() == 0.0 && *n >= 1.0 && *n < 9e15);
        let number = number.ok_or_else(|| {
            wrong(match &value {
                warpsmith_tune::value::Value::List(_) => {
                    "a parameter with several values stands for their list: write max(…) around it"
                        .into()
                }
                other => format!("it is {other}"),
            })
        })?;
        let count = number as u64;
        let each = Kind::named(&argument.kind, argument.type_size).map_or(1, Kind::bytes);
        self.keep_within(argument, count.saturating_mul(each))?;
        Ok(count)
    }

    fn bytes(
        &self,
        argument: &Argument,
        name: &str,
        kind: Kind,
        count: Option<u64>,
    ) -> Result<Vec<u8>, Failure> {
        let fill = Fill {
            name,
            fill: &argument.fill,
            value: &argument.fill_value,
            source: argument.source.as_deref(),
            seed: argument.seed,
        };
        contents::bytes(&fill, kind, count, &self.sources).map_err(|why| {
            self.refuse(argument, "W443", &format!("`{name}` cannot be filled"), &why, None)
        })
    }

    /// Says no before memory is taken that the user has not allowed.
    fn keep_within(&self, argument: &Argument, bytes: u64) -> Result<(), Failure> {
        let taken: u64 = self.out.memory.buffers.iter().map(|b| b.bytes).sum();
        if taken.saturating_add(bytes) <= self.most {
            return Ok(());
        }
        let what = format!("the arguments take more than {}", size(self.most));
        let each = Kind::named(&argument.kind, argument.type_size).map_or(1, Kind::bytes);
        let (all, elements) = (size(bytes), bytes / each.max(1));
        let why = format!("`{}` takes {all}, {elements} elements of {each} bytes", argument.name);
        let help = "raise --max-memory, or make `Size` smaller: it counts elements";
        Err(self.refuse(argument, "W445", &what, &why, Some(help)).with_status(Status::Limit))
    }

    fn refuse(
        &self,
        argument: &Argument,
        code: &'static str,
        what: &str,
        why: &str,
        help: Option<&str>,
    ) -> Failure {
        let at = if argument.name.is_empty() { &argument.kind } else { &argument.name };
        let diagnostic = self.source.message(code, what, at, why);
        match help {
            Some(help) => diagnostic.help(help).into(),
            None => diagnostic.into(),
        }
    }
}

/// A number as the kernel gets it.
fn shown_value(scalar: Scalar, bytes: &[u8]) -> String {
    let mut bits = [0; 8];
    let width = bytes.len().min(scalar.bytes() as usize).min(8);
    bits[..width].copy_from_slice(&bytes[..width]);
    let value = Value { ty: scalar, bits: u64::from_le_bytes(bits) };
    match scalar {
        // The shortest digits that give this value in its own type, as a person would have written it.
        Scalar::F32 => (value.as_f64() as f32).to_string(),
        _ if scalar.is_float() => value.as_f64().to_string(),
        _ if scalar.is_signed() => value.as_i64().to_string(),
        _ => value.bits.to_string(),
    }
}
