//! Numbers as C writes them.

use warpsmith_ir::{Scalar, UnaryOp, Value, eval};

/// The value and type of a C number with its suffix; `Err` says in the user's words what is wrong with it.
///
/// A sign that the grammar took for part of the number is accepted.
pub fn parse_number(text: &str) -> Result<Value, String> {
    if let Some(rest) = text.strip_prefix('+') {
        return parse_number(rest.trim_start());
    }
    if let Some(rest) = text.strip_prefix('-') {
        let v = parse_number(rest.trim_start())?;
        return Ok(eval::unary(UnaryOp::Neg, v));
    }
    let digits: String = text.chars().filter(|c| *c != '\'').collect();
    let lower = digits.to_ascii_lowercase();
    let hex = lower.starts_with("0x");
    let is_float = if hex { lower.contains(['p', '.']) } else { lower.contains(['.', 'e']) };
    if is_float || (!hex && !lower.starts_with("0b") && lower.ends_with('f')) {
        parse_float(&lower, hex)
    } else {
        parse_integer(&lower)
    }
}

fn parse_float(text: &str, hex: bool) -> Result<Value, String> {
    let (body, ty) = if let Some(body) = text.strip_suffix("f16") {
        (body, Scalar::F16)
    } else if let Some(body) = text.strip_suffix('f') {
        (body, Scalar::F32)
    } else if text.ends_with('l') {
        return Err("`long double` numbers are not supported".into());
    } else {
        (text, Scalar::F64)
    };
    if hex {
        return hex_float(body)
            .map(|v| Value::float(ty, v))
            .ok_or_else(|| format!("`{text}` is not a number"));
    }
    let bad = || format!("`{text}` is not a number");
    // Rust reads neither `1.` with an exponent nor a leading point the same way in all versions, so complete them.
    let padded = body
        .strip_prefix('.')
        .map_or_else(|| body.to_string(), |rest| format!("0.{rest}"))
        .replace(".e", ".0e");
    if !padded.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(bad());
    }
    match ty {
        // Directly to single precision: rounding twice could differ in the last bit.
        Scalar::F32 => {
            let v: f32 = padded.parse().map_err(|_| bad())?;
            Ok(Value { ty, bits: v.to_bits().into() })
        }
        _ => padded.parse().map(|v| Value::float(ty, v)).map_err(|_| bad()),
    }
}

/// `0x1.8p3`: hexadecimal digits times a power of two.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0f64;
    for c in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    let exponent: i32 = exponent.parse().ok()?;
    let scale = exponent.saturating_sub(i32::try_from(fraction.len()).ok()?.saturating_mul(4));
    Some(value * 2f64.powi(scale))
}

/// An integer takes the first type that holds it: `int`, `long` for decimals; the unsigned ones too for other bases.
fn parse_integer(text: &str) -> Result<Value, String> {
    let digits = text.trim_end_matches(['u', 'l']);
    let suffix = &text[digits.len()..];
    let unsigned = suffix.contains('u');
    let long = suffix.contains('l');
    if !matches!(suffix, "" | "u" | "l" | "ll" | "ul" | "ull" | "lu" | "llu") {
        return Err(format!("`{text}` is not a number"));
    }
    let (radix, body) = match digits.as_bytes() {
        [b'0', b'x', ..] => (16, &digits[2..]),
        [b'0', b'b', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    let value = u64::from_str_radix(body, radix).map_err(|e| match e.kind() {
        std::num::IntErrorKind::PosOverflow => format!("`{text}` does not fit in 64 bits"),
        _ => format!("`{text}` is not a number"),
    })?;
    let fits_unsigned = unsigned || radix != 10;
    let ty = if !long && !unsigned && i32::try_from(value).is_ok() {
        Scalar::I32
    } else if !long && fits_unsigned && u32::try_from(value).is_ok() {
        Scalar::U32
    } else if !unsigned && i64::try_from(value).is_ok() {
        Scalar::I64
    } else {
        Scalar::U64
    };
    Ok(Value { ty, bits: value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Scalar, f64) {
        let v = parse_number(text).unwrap();
        (v.ty, v.as_f64())
    }

    #[test]
    fn integers_take_the_first_type_that_holds_them() {
        assert_eq!(of("7"), (Scalar::I32, 7.0));
        assert_eq!(of("2147483648"), (Scalar::I64, 2147483648.0));
        assert_eq!(of("0xffffffff"), (Scalar::U32, 4294967295.0));
        assert_eq!(of("010"), (Scalar::I32, 8.0));
        assert_eq!(of("3UL"), (Scalar::U64, 3.0));
        assert!(parse_number("99999999999999999999").unwrap_err().contains("64 bits"));
        assert!(parse_number("08").is_err());
        assert_eq!(parse_number("-2").unwrap().as_i64(), -2);
    }

    #[test]
    fn floats_keep_their_precision() {
        assert_eq!(of("1.5f"), (Scalar::F32, 1.5));
        assert_eq!(of(".5"), (Scalar::F64, 0.5));
        assert_eq!(of("1.e-3"), (Scalar::F64, 1e-3));
        assert_eq!(of("0x1.8p1"), (Scalar::F64, 3.0));
        assert!(parse_number("1.0L").unwrap_err().contains("long double"));
    }
}
