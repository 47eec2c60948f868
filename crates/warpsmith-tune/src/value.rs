//! Values of parameters, with Python's meaning and spelling: the files of tuners are made by Python programs.

use std::fmt;

/// What a parameter can be set to, and what a list of them is.
#[derive(Clone, Debug)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A real.
    Float(f64),
    /// `True` or `False`.
    Bool(bool),
    /// A text.
    Str(String),
    /// A list or a tuple.
    List(Vec<Value>),
}

impl Value {
    /// The borrowed form that expressions compute with.
    pub fn view(&self) -> Val<'_> {
        match self {
            Value::Int(x) => Val::Int(*x),
            Value::Float(x) => Val::Float(*x),
            Value::Bool(x) => Val::Bool(*x),
            Value::Str(x) => Val::Str(x),
            Value::List(x) => Val::List(x),
        }
    }

    /// The number that a value stands for; `True` is 1. `None` for strings and lists.
    pub fn number(&self) -> Option<f64> {
        self.view().number()
    }

    /// As JSON. A float that JSON cannot hold (NaN, infinity) becomes its Python spelling in a string.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Int(x) => (*x).into(),
            Value::Float(x) => serde_json::Number::from_f64(*x)
                .map_or_else(|| self.to_string().into(), serde_json::Value::Number),
            Value::Bool(x) => (*x).into(),
            Value::Str(x) => x.as_str().into(),
            Value::List(x) => x.iter().map(Value::to_json).collect(),
        }
    }

    /// From JSON; `None` for null and objects.
    pub fn from_json(json: &serde_json::Value) -> Option<Value> {
        Some(match json {
            serde_json::Value::Bool(x) => Value::Bool(*x),
            serde_json::Value::Number(x) => match x.as_i64() {
                Some(x) => Value::Int(x),
                None => Value::Float(x.as_f64()?),
            },
            serde_json::Value::String(x) => Value::Str(x.clone()),
            serde_json::Value::Array(x) => {
                Value::List(x.iter().map(Value::from_json).collect::<Option<_>>()?)
            }
            serde_json::Value::Null | serde_json::Value::Object(_) => return None,
        })
    }

    /// As a literal of a Python expression: strings are quoted.
    pub fn literal(&self) -> String {
        match self {
            Value::Str(x) => format!("'{}'", x.replace('\\', "\\\\").replace('\'', "\\'")),
            Value::List(x) => {
                let items: Vec<String> = x.iter().map(Value::literal).collect();
                format!("[{}]", items.join(", "))
            }
            _ => self.to_string(),
        }
    }
}

/// Python's `str(x)`, which names configurations in cache files.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(x) => write!(f, "{x}"),
            Value::Float(x) => f.write_str(&python_float(*x)),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Str(x) => f.write_str(x),
            Value::List(_) => f.write_str(&self.literal()),
        }
    }
}

/// Python's equality: `1 == 1.0 == True`, and a NaN equals nothing.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.view().equals(other.view())
    }
}

impl From<i64> for Value {
    fn from(x: i64) -> Value {
        Value::Int(x)
    }
}

impl From<&str> for Value {
    fn from(x: &str) -> Value {
        Value::Str(x.to_string())
    }
}

/// A float as Python's `repr`: the shortest digits that read back, an exponent from 1e16 and below 1e-4.
fn python_float(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{x}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// A value while an expression is computed: cheap to copy.
#[derive(Clone, Copy, Debug)]
pub enum Val<'a> {
    /// A whole number.
    Int(i64),
    /// A real.
    Float(f64),
    /// `True` or `False`.
    Bool(bool),
    /// A text.
    Str(&'a str),
    /// A list or a tuple.
    List(&'a [Value]),
}

impl<'a> Val<'a> {
    /// Python's truth: zero and what is empty are false.
    pub fn truth(self) -> bool {
        match self {
            Val::Int(x) => x != 0,
            Val::Float(x) => x != 0.0,
            Val::Bool(x) => x,
            Val::Str(x) => !x.is_empty(),
            Val::List(x) => !x.is_empty(),
        }
    }

    /// A number, or a bool as 0 or 1, as a real.
    pub fn number(self) -> Option<f64> {
        match self {
            Val::Int(x) => Some(x as f64),
            Val::Float(x) => Some(x),
            Val::Bool(x) => Some(f64::from(x)),
            Val::Str(_) | Val::List(_) => None,
        }
    }

    /// An integer or a bool as an integer.
    pub fn integer(self) -> Option<i64> {
        match self {
            Val::Int(x) => Some(x),
            Val::Bool(x) => Some(i64::from(x)),
            _ => None,
        }
    }

    /// Python's `==`: numbers and bools by their value, whatever their types.
    pub fn equals(self, other: Val) -> bool {
        match (self, other) {
            (Val::Str(a), Val::Str(b)) => a == b,
            (Val::List(a), Val::List(b)) => a == b,
            _ => match (self.integer(), other.integer()) {
                (Some(a), Some(b)) => a == b,
                _ => matches!((self.number(), other.number()), (Some(a), Some(b)) if a == b),
            },
        }
    }

    /// A copy that can be kept.
    pub fn owned(self) -> Value {
        match self {
            Val::Int(x) => Value::Int(x),
            Val::Float(x) => Value::Float(x),
            Val::Bool(x) => Value::Bool(x),
            Val::Str(x) => Value::Str(x.to_string()),
            Val::List(x) => Value::List(x.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        let spelled = |x: f64| Value::Float(x).to_string();
        assert_eq!(spelled(1.0), "1.0");
        assert_eq!(spelled(0.1), "0.1");
        assert_eq!(spelled(1e15), "1000000000000000.0");
        assert_eq!(spelled(1e16), "1e+16");
        assert_eq!(spelled(1.5e-5), "1.5e-05");
        assert_eq!(spelled(0.0001), "0.0001");
        assert_eq!(spelled(-2.5e300), "-2.5e+300");
        assert_eq!(spelled(f64::NAN), "nan");
    }

    #[test]
    fn numbers_are_equal_across_types() {
        assert_eq!(Value::Int(1), Value::Bool(true));
        assert_eq!(Value::Int(2), Value::Float(2.0));
        assert_ne!(Value::Int(1), Value::from("1"));
        // 2^53 + 1 is no double; integers compare as integers.
        assert_ne!(Value::Int(9_007_199_254_740_993), Value::Int(9_007_199_254_740_992));
    }

    #[test]
    fn literals_quote_strings() {
        let list = Value::List(vec![Value::from("it's"), Value::Int(3), Value::Bool(true)]);
        assert_eq!(list.literal(), r"['it\'s', 3, True]");
    }
}
