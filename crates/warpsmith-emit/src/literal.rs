//! Numbers as C writes them.

use warpsmith_ir::{Scalar, Value};

/// A literal and the type C gives it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Literal {
    pub text: String,
    pub ty: Scalar,
    /// It begins with a minus sign.
    pub negative: bool,
    /// It needs `INFINITY` or `NAN` of `<math.h>`.
    pub math: bool,
}

/// The shortest literal that is `value` after C's conversion to the type: plain where an `int` will do.
pub(crate) fn natural(value: Value) -> Literal {
    if value.ty.is_float() || value.ty == Scalar::Bool {
        return exact(value);
    }
    let small = match value.ty {
        Scalar::U64 => i32::try_from(value.bits).ok(),
        _ => i32::try_from(value.as_i64()).ok(),
    };
    match small {
        Some(v) => integer(Value::i32(v)),
        None => integer(value),
    }
}

/// A literal of exactly the value's type; small integers, which have none, are of type `int`.
pub(crate) fn exact(value: Value) -> Literal {
    match value.ty {
        Scalar::Bool => {
            let text = if value.is_true() { "true" } else { "false" };
            Literal { text: text.into(), ty: Scalar::Bool, negative: false, math: false }
        }
        t if t.is_float() => real(value),
        _ => integer(value),
    }
}

fn integer(value: Value) -> Literal {
    let (ty, suffix) = match value.ty {
        Scalar::U32 => (Scalar::U32, "u"),
        Scalar::U64 => (Scalar::U64, "ull"),
        Scalar::I64 => (Scalar::I64, "ll"),
        _ => (Scalar::I32, ""),
    };
    let text = match value.ty {
        Scalar::U32 | Scalar::U64 if is_bit_pattern(value) => format!("{:#x}{suffix}", value.bits),
        Scalar::U64 => format!("{}{suffix}", value.bits),
        _ => match value.as_i64() {
            // The digits alone would be a positive number too large for the type.
            v if v == i64::MIN => format!("(-{}{suffix} - 1)", i64::MAX),
            v if v == i64::from(i32::MIN) && ty == Scalar::I32 => format!("(-{} - 1)", i32::MAX),
            v if v == i64::from(i32::MAX) => format!("{v:#x}{suffix}"),
            v => format!("{v}{suffix}"),
        },
    };
    let negative = text.starts_with('-');
    Literal { text, ty, negative, math: false }
}

/// Large unsigned numbers are masks more often than quantities.
fn is_bit_pattern(value: Value) -> bool {
    match value.ty {
        Scalar::U32 => value.bits > i32::MAX as u64,
        _ => value.bits > i64::MAX as u64,
    }
}

/// Half precision has no literals: the text is that of the same number as a `float`.
fn real(value: Value) -> Literal {
    let ty = if value.ty == Scalar::F64 { Scalar::F64 } else { Scalar::F32 };
    let v = value.as_f64();
    let (mut text, math) = if v.is_nan() {
        (String::from("NAN"), true)
    } else if v.is_infinite() {
        (String::from("INFINITY"), true)
    } else if ty == Scalar::F64 {
        (format!("{:?}", v.abs()), false)
    } else {
        (format!("{:?}f", v.abs() as f32), false)
    };
    let negative = v.is_sign_negative() && !v.is_nan();
    if negative {
        text.insert(0, '-');
    }
    // `INFINITY` and `NAN` are floats in C.
    let ty = if math { Scalar::F32 } else { ty };
    Literal { text, ty, negative, math }
}

/// A string literal, quotes included.
pub(crate) fn string(s: &str) -> String {
    let mut out = String::from("\"");
    for b in s.bytes() {
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            b'?' => out.push('?'),
            0x20..=0x7e => out.push(char::from(b)),
            // Octal: at most three digits, so that what follows is never taken for a part of it.
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: Value) -> String {
        exact(value).text
    }

    #[test]
    fn integers_have_the_suffix_of_their_type() {
        assert_eq!(of(Value::i32(7)), "7");
        assert_eq!(of(Value::int(Scalar::U32, 7)), "7u");
        assert_eq!(of(Value::int(Scalar::U32, -1)), "0xffffffffu");
        assert_eq!(of(Value::int(Scalar::I64, -7)), "-7ll");
        assert_eq!(of(Value::int(Scalar::U64, -1)), "0xffffffffffffffffull");
        assert_eq!(of(Value::i32(i32::MAX)), "0x7fffffff");
        assert_eq!(of(Value::i32(i32::MIN)), "(-2147483647 - 1)");
        assert_eq!(of(Value::int(Scalar::I64, i64::MIN)), "(-9223372036854775807ll - 1)");
    }

    #[test]
    fn a_plain_literal_is_used_where_an_int_will_do() {
        assert_eq!(natural(Value::int(Scalar::I64, 3)).text, "3");
        assert_eq!(natural(Value::int(Scalar::U32, 3)).text, "3");
        assert_eq!(natural(Value::int(Scalar::U32, -1)).text, "0xffffffffu");
        assert_eq!(natural(Value::int(Scalar::I64, 1 << 40)).text, "1099511627776ll");
        assert_eq!(natural(Value::int(Scalar::I8, -3)).text, "-3");
    }

    #[test]
    fn reals_are_the_shortest_that_read_back() {
        assert_eq!(of(Value::float(Scalar::F32, 1.0)), "1.0f");
        assert_eq!(of(Value::float(Scalar::F32, 0.1)), "0.1f");
        assert_eq!(of(Value::float(Scalar::F64, 0.1)), "0.1");
        assert_eq!(of(Value::float(Scalar::F32, 2.5e-30)), "2.5e-30f");
        assert_eq!(of(Value::float(Scalar::F64, -0.0)), "-0.0");
        assert_eq!(of(Value::float(Scalar::F32, f64::NEG_INFINITY)), "-INFINITY");
        assert_eq!(of(Value::float(Scalar::F64, f64::NAN)), "NAN");
    }

    #[test]
    fn strings_escape_what_c_would_misread() {
        assert_eq!(string("a\"b\\\n\u{1}2"), "\"a\\\"b\\\\\\n\\0012\"");
    }
}
