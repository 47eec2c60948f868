//! What a buffer holds at the start: the fill types of a problem.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use warpsmith_ir::{Scalar, Value as Number};
use warpsmith_tune::exchange::t1::Problem;
use warpsmith_tune::expr::{Expr, Meaning};
use warpsmith_tune::rng::Rng;
use warpsmith_tune::value::{Val, Value};

use super::elements::Kind;
use crate::data::{name_hash, read_npy, scalar_bytes};

/// How a buffer is filled, and with what.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'f> {
    /// For the random numbers, so that two buffers differ.
    pub name: &'f str,
    pub fill: &'f str,
    pub value: &'f Json,
    /// A file, or the expression of a generator.
    pub source: Option<&'f str>,
    /// The problem's own seed.
    pub seed: Option<u64>,
}

/// Where the data come from.
#[derive(Clone, Copy)]
pub struct Sources<'s> {
    pub problem: &'s Problem,
    /// Of the problem's file.
    pub folder: &'s Path,
    pub seed: u64,
    /// Asked now and then: whether to give up.
    pub stop: &'s dyn Fn() -> bool,
}

/// Elements between two questions whether to give up.
const PATIENCE: u64 = 1 << 16;

impl Sources<'_> {
    fn ask(&self, element: u64) -> Result<(), String> {
        match element % PATIENCE == PATIENCE - 1 && (self.stop)() {
            true => Err("it was given up".into()),
            false => Ok(()),
        }
    }
}

/// The bytes of a buffer. `count` is the number of elements; a file may say it, too.
///
/// # Errors
/// A sentence.
pub fn bytes(
    fill: &Fill,
    kind: Kind,
    count: Option<u64>,
    sources: &Sources,
) -> Result<Vec<u8>, String> {
    let counted = || count.ok_or_else(|| "its `Size` is missing".to_string());
    let numbers = || match kind {
        Kind::Numbers(scalar, lanes) => Ok((scalar, lanes)),
        Kind::Opaque(_) => {
            Err(format!("elements of the type `custom` cannot be filled by `{}`", fill.fill))
        }
    };
    match fill.fill {
        "Constant" => match (kind, fill.value) {
            (Kind::Opaque(bytes), Json::Null) => Ok(vec![0; length(counted()?, bytes)?]),
            (Kind::Opaque(bytes), Json::Number(x)) if x.as_f64() == Some(0.0) => {
                Ok(vec![0; length(counted()?, bytes)?])
            }
            _ => {
                let (scalar, lanes) = numbers()?;
                let one = scalar_bytes(constant(fill.value, scalar, sources.problem)?);
                Ok(one.repeat(length(counted()?, lanes)?))
            }
        },
        "Random" => {
            let (scalar, lanes) = numbers()?;
            random(fill, scalar, length(counted()?, lanes)?, sources)
        }
        "Generator" => {
            let (scalar, lanes) = numbers()?;
            generated(fill, scalar, lanes, counted()?, sources)
        }
        "BinaryRaw" => from_file(fill, kind, count, sources.folder),
        "BinaryHDF" => {
            Err("HDF5 files are not read; save the data as raw binary (`BinaryRaw`) or .npy".into())
        }
        "Script" => {
            Err("scripts are not run; use `Generator` with an expression in `i`, or `BinaryRaw`"
                .into())
        }
        other => Err(format!(
            "`{other}` is no fill type; Constant, Random, Generator and BinaryRaw are known"
        )),
    }
}

fn length(count: u64, each: u64) -> Result<usize, String> {
    let length = count.checked_mul(each).and_then(|n| usize::try_from(n).ok());
    length.ok_or_else(|| format!("{count} elements do not fit the memory"))
}

/// A number of the file as one of the type. A text is an expression, as sizes are.
pub fn constant(value: &Json, scalar: Scalar, problem: &Problem) -> Result<Number, String> {
    let value = match value {
        Json::Null => Value::Int(0),
        Json::String(text) => {
            problem.argument_size(text).map_err(|e| format!("`{text}`: {}", e.message))?
        }
        other => Value::from_json(other).ok_or_else(|| format!("`{other}` is no number"))?,
    };
    number(&value, scalar)
}

fn number(value: &Value, scalar: Scalar) -> Result<Number, String> {
    let real = value.number().ok_or_else(|| format!("{} is no number", value.literal()))?;
    if scalar.is_float() {
        return Ok(Number::float(scalar, real));
    }
    let whole = match value {
        Value::Int(x) => Some(*x),
        _ => Some(real).filter(|x| x.fract() == 0.0 && x.abs() < 9e15).map(|x| x as i64),
    };
    let whole = whole.ok_or_else(|| format!("{value} is no whole number"))?;
    let made = Number::int(scalar, whole);
    let kept = if scalar.is_signed() || scalar == Scalar::Bool {
        made.as_i64() == whole
    } else {
        whole >= 0 && made.bits == whole as u64
    };
    if kept { Ok(made) } else { Err(format!("{whole} does not fit the type {scalar}")) }
}

/// Uniform from 0 to the fill value, as KTT draws; without one to 1, integers to 99. A negative value is the lower end.
fn random(fill: &Fill, scalar: Scalar, count: usize, sources: &Sources) -> Result<Vec<u8>, String> {
    let limit = match fill.value {
        Json::Null if scalar.is_float() => 1.0,
        Json::Null if scalar == Scalar::Bool => 1.0,
        Json::Null => 99.0,
        other => other.as_f64().ok_or_else(|| format!("`{other}` is no number"))?,
    };
    if !scalar.is_float() {
        number(&Value::Float(limit.trunc()), scalar)?;
    }
    let mut rng = Rng::new(fill.seed.unwrap_or(sources.seed ^ name_hash(fill.name)));
    let mut bytes = Vec::with_capacity(count.saturating_mul(scalar.bytes() as usize));
    for at in 0..count {
        sources.ask(at as u64)?;
        let value = if scalar.is_float() {
            Number::float(scalar, rng.unit() * limit)
        } else {
            let drawn = rng.below(limit.trunc().abs() as u64 + 1) as i64;
            Number::int(scalar, if limit < 0.0 { -drawn } else { drawn })
        };
        bytes.extend(scalar_bytes(value));
    }
    Ok(bytes)
}

/// An expression in `i`, the number of the element. Of a vector type all parts get the same value.
fn generated(
    fill: &Fill,
    scalar: Scalar,
    lanes: u64,
    count: u64,
    sources: &Sources,
) -> Result<Vec<u8>, String> {
    let text = fill.source.ok_or("`DataSource`, an expression in `i`, is missing")?;
    let wrong = |message: &str| format!("`{text}`: {message}");
    let fixed = |name: &str| match name {
        "i" => Some(Meaning::Slot(0)),
        // Sizes, and parameters with a single value.
        _ => sources.problem.argument_size(name).ok().map(Meaning::Const),
    };
    let expr = Expr::parse(text).and_then(|e| e.bind(&fixed)).map_err(|e| wrong(&e.message))?;
    let mut bytes = Vec::with_capacity(length(count, lanes * u64::from(scalar.bytes()))?);
    for i in 0..count {
        sources.ask(i)?;
        let index = [Val::Int(i64::try_from(i).unwrap_or(i64::MAX))];
        let value = expr.eval(&index);
        let value = value.map_err(|e| wrong(&format!("for i = {i}: {}", e.reason)))?.owned();
        // An element of an integer type is what C makes of a real number.
        let value = match value {
            Value::Float(x) if !scalar.is_float() => Value::Float(x.trunc()),
            other => other,
        };
        let one =
            scalar_bytes(number(&value, scalar).map_err(|e| wrong(&format!("for i = {i}: {e}")))?);
        for _ in 0..lanes {
            bytes.extend_from_slice(&one);
        }
    }
    Ok(bytes)
}

/// The file's bytes, as many as the size asks for; a `.npy` file's type must be that of the argument.
fn from_file(
    fill: &Fill,
    kind: Kind,
    count: Option<u64>,
    folder: &Path,
) -> Result<Vec<u8>, String> {
    let name = fill.source.ok_or("`DataSource`, the name of a file, is missing")?;
    let path: PathBuf = folder.join(name);
    let bytes = if path.extension().is_some_and(|e| e == "npy") {
        let array = read_npy(&path)?;
        match kind {
            Kind::Numbers(scalar, _) if scalar != array.ty => {
                return Err(format!("`{name}` holds elements of type {}, not {scalar}", array.ty));
            }
            _ => array.bytes,
        }
    } else {
        std::fs::read(&path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))?
    };
    let each = kind.bytes();
    let wanted = match count {
        Some(count) => length(count, each)?,
        None if (bytes.len() as u64).is_multiple_of(each) => bytes.len(),
        None => {
            let length = bytes.len();
            return Err(format!(
                "`{name}` has {length} bytes: no whole number of elements of {each} bytes"
            ));
        }
    };
    if bytes.len() != wanted {
        let length = bytes.len();
        let elements = wanted as u64 / each;
        // Where the numbers agree, somebody took one for the other.
        let mistaken = match (length as u64 == elements, each) {
            (true, 2..) => ": `Size` counts elements, not bytes",
            _ => "",
        };
        return Err(format!(
            "`{name}` has {length} bytes, and the argument {wanted}, {elements} elements of {each} bytes{mistaken}"
        ));
    }
    Ok(bytes)
}
