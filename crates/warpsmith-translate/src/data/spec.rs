//! The `NAME=SPEC` of `--arg`.
//!
//! ```text
//! NAME  := parameter | parameter.field …     a field of a struct that is passed by value
//! SPEC  := number | {SPEC, …} | INIT | TYPE DIMS [= INIT]
//! TYPE  := float | double | int | uint | char | … | float4 | the name of a struct
//! DIMS  := [extent] …          an extent is a number or a sum, product … of numbers and scalar arguments
//! INIT  := zeros | iota | random | random(SEED) | uniform(LOW, HIGH) | @file.npy
//! ```

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use warpsmith_ir::{Scalar, Type};

/// One `--arg`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedSpec {
    /// The parameter or variable, as written before `=`; of a structure's field with its path, `grid.nx`.
    pub name: String,
    /// What it holds.
    pub spec: ArgSpec,
    /// What the array holds is written, too; else it is nobody's word.
    pub filled: bool,
}

impl NamedSpec {
    /// A value or an array whose content was written (`filled`).
    pub fn new(name: impl Into<String>, spec: ArgSpec) -> NamedSpec {
        NamedSpec { name: name.into(), spec, filled: true }
    }
}

/// What an argument holds at the start.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgSpec {
    /// A number as written; its type is the parameter's. Under `--same-as` also an expression of sizes.
    Number(String),
    /// The fields of a struct or the components of a vector, passed by value.
    Parts(Vec<ArgSpec>),
    /// An array of a type given here; `dims` as written.
    Array {
        /// Type of its elements.
        element: Element,
        /// Extents as written, the outermost first: numbers, or expressions of sizes.
        dims: Vec<String>,
        /// What the elements hold.
        init: Init,
    },
    /// An initialiser alone: the shape comes from the file or from the program.
    Init(Init),
    /// `&NAME`: the address of a function.
    Function(String),
}

/// The element type of an array argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// A type that the specification names: `f32`, `float4`.
    Type(Type),
    /// A struct of the file under check.
    Named(String),
}

/// What the elements of an array hold before the first launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Zero in every byte.
    Zeros,
    /// Nothing: for `check`, an element that is read before it is written is a finding; elsewhere zero.
    Uninit,
    /// Element `i` of the flat array holds `i`, converted to the element type.
    Iota,
    /// The seed, if one was written; else the run's seed.
    Random(Option<u64>),
    /// Random reals from the first number on, below the second; integers are as for `Random`.
    Uniform(f64, f64),
    /// Path of a `.npy` file.
    File(String),
}

impl FromStr for NamedSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedSpec, String> {
        let (name, spec) = text.split_once('=').ok_or_else(|| {
            format!("`{text}` has no `=`; write NAME=SPEC, for example n=256 or a=float[256]")
        })?;
        let name = name.trim();
        if !name.split('.').all(is_identifier) {
            return Err(format!("`{name}` is not the name of a parameter"));
        }
        // `TYPE[extent]` alone ends with its last extent.
        let filled = !spec.trim_end().ends_with(']');
        Ok(NamedSpec { name: name.to_string(), spec: spec.parse()?, filled })
    }
}

impl FromStr for ArgSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<ArgSpec, String> {
        let text = text.trim();
        if let Some(inner) = text.strip_prefix('{') {
            let inner = inner.strip_suffix('}').ok_or("`{` without `}`")?;
            let parts = split_top_level(inner);
            return Ok(ArgSpec::Parts(parts.iter().map(|p| p.parse()).collect::<Result<_, _>>()?));
        }
        if let Some(init) = parse_init(text)? {
            return Ok(ArgSpec::Init(init));
        }
        if let Some(name) = text.strip_prefix('&').filter(|name| is_identifier(name)) {
            return Ok(ArgSpec::Function(name.to_string()));
        }
        if looks_like_number(text) || is_expression(text) {
            return Ok(ArgSpec::Number(text.to_string()));
        }
        parse_array(text)
    }
}

/// `TYPE[d0][d1]=INIT`.
fn parse_array(text: &str) -> Result<ArgSpec, String> {
    let (head, init) = match text.rsplit_once('=') {
        Some((head, init)) => {
            let parsed = parse_init(init.trim())?;
            (head.trim(), parsed.ok_or_else(|| unknown_init(init.trim()))?)
        }
        None => (text, Init::Zeros),
    };
    let open = head.find('[').ok_or_else(|| {
        format!("`{text}` is neither a number nor an array; write 256, float[256] or float[64][64]=random")
    })?;
    let element = Element::from_name(head[..open].trim());
    let mut dims = vec![];
    let mut rest = head[open..].trim();
    while let Some(inner) = rest.strip_prefix('[') {
        let close = inner.find(']').ok_or_else(|| format!("`[` without `]` in `{head}`"))?;
        let extent = inner[..close].trim();
        if extent.is_empty() {
            return Err(format!("an extent is missing in `{head}`"));
        }
        dims.push(extent.to_string());
        rest = inner[close + 1..].trim_start();
    }
    if !rest.is_empty() {
        return Err(format!("`{rest}` is not expected after the extents in `{head}`"));
    }
    Ok(ArgSpec::Array { element, dims, init })
}

fn unknown_init(text: &str) -> String {
    format!(
        "`{text}` is not an initial value; use zeros, iota, random, random(SEED), uninit or @file.npy"
    )
}

/// An initialiser, or `None` when the text is something else.
fn parse_init(text: &str) -> Result<Option<Init>, String> {
    Ok(Some(match text {
        "zeros" => Init::Zeros,
        "uninit" => Init::Uninit,
        "iota" => Init::Iota,
        "random" => Init::Random(None),
        _ => {
            if let Some(path) = text.strip_prefix('@') {
                if path.is_empty() {
                    return Err("`@` must be followed by the path of a .npy file".to_string());
                }
                return Ok(Some(Init::File(path.to_string())));
            }
            if let Some(ends) = text.strip_prefix("uniform(").and_then(|t| t.strip_suffix(')')) {
                return parse_uniform(text, ends).map(Some);
            }
            let Some(seed) = text.strip_prefix("random(").and_then(|t| t.strip_suffix(')')) else {
                return Ok(None);
            };
            let seed = seed.trim().parse();
            Init::Random(Some(seed.map_err(|_| format!("`{text}`: the seed is not a number"))?))
        }
    }))
}

fn parse_uniform(text: &str, ends: &str) -> Result<Init, String> {
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    match ends.split_once(',').map(|(low, high)| (number(low), number(high))) {
        Some((Some(low), Some(high))) if low < high => Ok(Init::Uniform(low, high)),
        _ => Err(format!("`{text}`: two numbers are wanted, the smaller one first")),
    }
}

fn looks_like_number(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    body.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || ["true", "false", "inf", "nan", "INFINITY", "NAN"].contains(&body)
}

/// `(n + 63) / 64`: what only a comparison with a reference can work out, which knows sizes by name.
fn is_expression(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.+-*/() ".contains(c);
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
    text.chars().all(allowed) && words.any(|w| w.split('.').all(is_identifier))
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Splits at commas outside braces.
fn split_top_level(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (vec![], 0i32, 0);
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

impl Element {
    /// C's and CUDA's names; anything else is taken for a struct.
    pub fn from_name(name: &str) -> Element {
        let words: Vec<&str> = name.split_whitespace().filter(|w| *w != "const").collect();
        let joined = words.join(" ");
        match scalar_named(&joined) {
            Some(s) => Element::Type(Type::Scalar(s)),
            None => match vector_named(&joined) {
                Some(v) => Element::Type(v),
                None => Element::Named(words.last().copied().unwrap_or(name).to_string()),
            },
        }
    }
}

/// The scalar type of a C spelling.
fn scalar_named(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" | "_Bool" => Scalar::Bool,
        "char" | "signed char" | "schar" | "int8_t" | "i8" => Scalar::I8,
        "unsigned char" | "uchar" | "uint8_t" | "u8" => Scalar::U8,
        "short" | "short int" | "int16_t" | "i16" => Scalar::I16,
        "unsigned short" | "ushort" | "uint16_t" | "u16" => Scalar::U16,
        "int" | "signed" | "signed int" | "int32_t" | "i32" => Scalar::I32,
        "unsigned" | "unsigned int" | "uint" | "uint32_t" | "u32" => Scalar::U32,
        "long" | "long int" | "long long" | "long long int" | "longlong" | "int64_t" | "i64" => {
            Scalar::I64
        }
        "unsigned long"
        | "ulong"
        | "unsigned long long"
        | "unsigned long long int"
        | "ulonglong"
        | "uint64_t"
        | "size_t"
        | "u64" => Scalar::U64,
        "half" | "__half" | "_Float16" | "f16" => Scalar::F16,
        "__nv_bfloat16" | "bfloat16" | "bf16" => Scalar::BF16,
        "float" | "f32" => Scalar::F32,
        "double" | "f64" => Scalar::F64,
        _ => return None,
    })
}

/// The spelling of a scalar type that [`ArgSpec`] reads.
pub fn scalar_name(ty: Scalar) -> &'static str {
    match ty {
        Scalar::Bool => "bool",
        Scalar::I8 => "char",
        Scalar::U8 => "uchar",
        Scalar::I16 => "short",
        Scalar::U16 => "ushort",
        Scalar::I32 => "int",
        Scalar::U32 => "uint",
        Scalar::I64 => "long",
        Scalar::U64 => "ulong",
        Scalar::F16 => "half",
        Scalar::BF16 => "bfloat16",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// CUDA's vector types, `float4` and so on.
fn vector_named(name: &str) -> Option<Type> {
    let last = name.chars().last()?;
    let width = u8::try_from(last.to_digit(10)?).ok().filter(|w| (1..=4).contains(w))?;
    let base = &name[..name.len() - 1];
    let bases = [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "half",
        "float",
        "double",
    ];
    if !bases.contains(&base) {
        return None;
    }
    Some(Type::Vector(scalar_named(base)?, width))
}

/// Evaluates an extent such as `n*(m+1)` over scalar arguments.
///
/// # Errors
/// A sentence for a name that is not a known integer argument, bad syntax, or a value that is negative or overflows.
pub fn eval_extent(text: &str, scalars: &HashMap<String, i128>) -> Result<u64, String> {
    let value = eval_number(text, scalars)?;
    if value < 0 {
        return Err(format!("the extent `{text}` is negative ({value})"));
    }
    u64::try_from(value).map_err(|_| format!("the extent `{text}` is too large"))
}

/// Evaluates an expression such as `(n+63)/64` over scalar arguments; the result may be negative.
///
/// # Errors
/// As [`eval_extent`].
pub fn eval_number(text: &str, scalars: &HashMap<String, i128>) -> Result<i128, String> {
    let mut parser = Extent { rest: text, scalars, depth: 0 };
    let value = parser.sum()?;
    let rest = parser.rest.trim();
    match rest.is_empty() {
        true => Ok(value),
        false => Err(format!("`{rest}` is not expected in the extent `{text}`")),
    }
}

/// A recursive-descent reader of extents.
struct Extent<'a> {
    rest: &'a str,
    scalars: &'a HashMap<String, i128>,
    depth: u32,
}

impl Extent<'_> {
    fn eat(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<i128, String> {
        let mut value = self.product()?;
        loop {
            let next = if self.eat('+') {
                value.checked_add(self.product()?)
            } else if self.eat('-') {
                value.checked_sub(self.product()?)
            } else {
                return Ok(value);
            };
            value = next.ok_or("an extent overflows")?;
        }
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut value = self.atom()?;
        loop {
            let next = if self.eat('*') {
                value.checked_mul(self.atom()?)
            } else if self.eat('/') {
                value.checked_div(self.atom()?)
            } else {
                return Ok(value);
            };
            value = next.ok_or("an extent overflows or divides by zero")?;
        }
    }

    fn atom(&mut self) -> Result<i128, String> {
        if self.eat('(') {
            self.depth += 1;
            if self.depth > 64 {
                return Err("an extent is nested too deeply".to_string());
            }
            let value = self.sum()?;
            return if self.eat(')') {
                Ok(value)
            } else {
                Err("`(` without `)` in an extent".to_string())
            };
        }
        self.rest = self.rest.trim_start();
        let end = self
            .rest
            .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse().map_err(|_| format!("`{word}` is not a whole number"));
        }
        if word.is_empty() {
            return Err("a number or a name is missing in an extent".to_string());
        }
        let known = self.scalars.get(word).copied();
        known.ok_or_else(|| format!("`{word}` is not an integer argument with a value"))
    }
}

impl fmt::Display for Init {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Init::Zeros => f.write_str("zeros"),
            Init::Uninit => f.write_str("uninit"),
            Init::Iota => f.write_str("iota"),
            Init::Random(None) => f.write_str("random"),
            Init::Random(Some(seed)) => write!(f, "random({seed})"),
            Init::Uniform(low, high) => write!(f, "uniform({low}, {high})"),
            Init::File(path) => write!(f, "@{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form() {
        let array = |text: &str| text.parse::<ArgSpec>().unwrap();
        assert_eq!(array("256"), ArgSpec::Number("256".into()));
        assert_eq!(array("-1.5e3"), ArgSpec::Number("-1.5e3".into()));
        assert_eq!(array("&twice"), ArgSpec::Function("twice".into()));
        assert_eq!(array("(n + 63) / 64"), ArgSpec::Number("(n + 63) / 64".into()));
        assert!("flaot(4".parse::<ArgSpec>().is_ok() && "a,b".parse::<ArgSpec>().is_err());
        assert_eq!(array("random(7)"), ArgSpec::Init(Init::Random(Some(7))));
        assert_eq!(array("uniform(-0.5, 2)"), ArgSpec::Init(Init::Uniform(-0.5, 2.0)));
        let element = Element::Type(Type::F32);
        let dims = vec!["64".to_string(), "n+1".to_string()];
        assert_eq!(
            array("float[64][n+1]=iota"),
            ArgSpec::Array { element, dims, init: Init::Iota }
        );
        let element = Element::Type(Type::Scalar(Scalar::U8));
        assert_eq!(
            array("unsigned char[9]"),
            ArgSpec::Array { element, dims: vec!["9".into()], init: Init::Zeros }
        );
        assert_eq!(Element::from_name("float4"), Element::Type(Type::Vector(Scalar::F32, 4)));
        assert_eq!(Element::from_name("struct Particle"), Element::Named("Particle".into()));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!("float[4".parse::<ArgSpec>().unwrap_err(), "`[` without `]` in `float[4`");
        assert_eq!(
            "float[4]=sevens".parse::<ArgSpec>().unwrap_err(),
            "`sevens` is not an initial value; use zeros, iota, random, random(SEED), uninit or @file.npy"
        );
        assert!("n".parse::<NamedSpec>().unwrap_err().contains("has no `=`"));
    }

    #[test]
    fn extents_are_expressions_over_scalars() {
        let scalars = HashMap::from([("n".to_string(), 10i128)]);
        assert_eq!(eval_extent("n*(n+2)/3", &scalars), Ok(40));
        assert!(eval_extent("m", &scalars).unwrap_err().contains("`m` is not an integer argument"));
        assert!(eval_extent("n-11", &scalars).unwrap_err().contains("negative"));
        assert!(eval_extent("n/0", &scalars).is_err());
    }
}
