//! Numbers as bytes, and the generators `zeros`, `iota` and `random`.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{Module, Scalar, Type, Value};

use super::spec::Init;

/// Little-endian bytes of a scalar.
pub fn scalar_bytes(value: Value) -> Vec<u8> {
    value.bits.to_le_bytes()[..value.ty.bytes() as usize].to_vec()
}

/// A scalar from as many little-endian bytes as its type has; missing ones are zero.
pub fn scalar_from_bytes(ty: Scalar, bytes: &[u8]) -> Value {
    let mut all = [0u8; 8];
    let n = bytes.len().min(ty.bytes() as usize);
    all[..n].copy_from_slice(&bytes[..n]);
    Value { ty, bits: u64::from_le_bytes(all) }
}

/// A number as a user writes it – `256`, `0xff`, `1e-3f`, `true` – as a value of `ty`.
///
/// # Errors
/// A sentence when it is no number or does not fit the type.
pub fn parse_scalar(text: &str, ty: Scalar) -> Result<Value, String> {
    let text = text.trim();
    match text {
        "true" => return Ok(Value::int(ty, 1)),
        "false" => return Ok(Value::int(ty, 0)),
        _ => {}
    }
    if ty.is_float() {
        let real = parse_real(text).ok_or_else(|| format!("`{text}` is not a number"))?;
        return Ok(Value::float(ty, real));
    }
    let wide = parse_integer(text).ok_or_else(|| format!("`{text}` is not a whole number"))?;
    let (low, high) = range(ty);
    if wide < low || wide > high {
        return Err(format!("{wide} does not fit the type {ty} ({low} … {high})"));
    }
    Ok(Value::int(ty, wide as i64))
}

fn parse_real(text: &str) -> Option<f64> {
    if let Some(i) = parse_integer(text) {
        return Some(i as f64);
    }
    let body = text.strip_suffix(['f', 'F']).filter(|b| b.parse::<f64>().is_ok()).unwrap_or(text);
    match body {
        "INFINITY" | "+INFINITY" => Some(f64::INFINITY),
        "-INFINITY" => Some(f64::NEG_INFINITY),
        "NAN" => Some(f64::NAN),
        _ => body.parse().ok(),
    }
}

fn parse_integer(text: &str) -> Option<i128> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let body = body.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => {
            body.parse::<i128>().ok().filter(|_| body.starts_with(|c: char| c.is_ascii_digit()))?
        }
    };
    Some(if negative { -value } else { value })
}

/// Smallest and largest value of an integer type.
fn range(ty: Scalar) -> (i128, i128) {
    let bits = ty.bytes() * 8;
    match ty {
        Scalar::Bool => (0, 1),
        _ if ty.is_signed() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    }
}

/// Bytes of `count` elements of a type.
///
/// `iota` counts scalars from 0; `random` gives reals uniform in [−1, 1) and integers uniform in 0 … 99
/// (0 or 1 for `bool`), `uniform` numbers between two others, from `seed` unless the initialiser has its own. Pointers in structs are null.
/// `File` is the caller's to handle and gives zeros here.
pub fn fill(module: &Module, element: &Type, count: u64, init: &Init, seed: u64) -> Vec<u8> {
    let size = layout_of(module, element).size;
    let mut bytes = vec![0u8; (size * count) as usize];
    let seed = match init {
        Init::Zeros | Init::Uninit | Init::File(_) => return bytes,
        Init::Random(Some(own)) => *own,
        Init::Iota | Init::Random(None) | Init::Uniform(..) => seed,
    };
    let scalars = scalars_of(module, element, 0);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut next = 0i64;
    for i in 0..count {
        for (offset, ty) in &scalars {
            let value = match init {
                Init::Iota => Value::int(*ty, next),
                Init::Uniform(low, high) => between(&mut rng, (*low, *high), *ty),
                _ => random_value(&mut rng, *ty),
            };
            next += 1;
            let at = (i * size + offset) as usize;
            bytes[at..at + ty.bytes() as usize].copy_from_slice(&scalar_bytes(value));
        }
    }
    bytes
}

/// A number from the first one on, below the second; a whole one where there is one.
fn between(rng: &mut Xoshiro256PlusPlus, (low, high): (f64, f64), ty: Scalar) -> Value {
    let share = (random_value(rng, Scalar::F64).as_f64() + 1.0) / 2.0;
    if ty.is_float() {
        return Value::float(ty, low + (high - low) * share);
    }
    let (least, most) = range(ty);
    let first = low.ceil();
    let value = (first + ((high.ceil() - first) * share).floor()) as i128;
    Value::int(ty, value.clamp(least, most) as i64)
}

fn random_value(rng: &mut Xoshiro256PlusPlus, ty: Scalar) -> Value {
    let bits = rng.next_u64() >> 11;
    match ty {
        Scalar::Bool => Value::int(ty, (bits & 1) as i64),
        _ if ty.is_float() => Value::float(ty, bits as f64 / (1u64 << 52) as f64 - 1.0),
        _ => Value::int(ty, (bits % 100) as i64),
    }
}

/// Byte offset and type of every scalar in a type, in order of memory.
pub fn scalars_of(module: &Module, ty: &Type, base: u64) -> Vec<(u64, Scalar)> {
    match ty {
        Type::Scalar(s) => vec![(base, *s)],
        Type::Vector(s, n) => {
            (0..u64::from(*n)).map(|i| (base + i * u64::from(s.bytes()), *s)).collect()
        }
        Type::Array(element, n) => {
            let size = layout_of(module, element).size;
            (0..*n).flat_map(|i| scalars_of(module, element, base + i * size)).collect()
        }
        Type::Struct(id) => {
            let fields = module.structs.get(id.0 as usize).map_or(&[][..], |s| &s.fields);
            fields.iter().flat_map(|f| scalars_of(module, &f.ty, base + f.offset)).collect()
        }
        Type::Pointer { .. } | Type::Void => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_writes_them() {
        assert_eq!(parse_scalar("0xff", Scalar::U8), Ok(Value::int(Scalar::U8, 255)));
        assert_eq!(parse_scalar("-7", Scalar::I64), Ok(Value::int(Scalar::I64, -7)));
        assert_eq!(parse_scalar("1.5f", Scalar::F32), Ok(Value::float(Scalar::F32, 1.5)));
        assert_eq!(parse_scalar("3", Scalar::F64), Ok(Value::float(Scalar::F64, 3.0)));
        assert!(parse_scalar("300", Scalar::U8).unwrap_err().contains("does not fit"));
        assert!(parse_scalar("1.5", Scalar::I32).unwrap_err().contains("whole number"));
        assert!(parse_scalar("99999999999999999999999", Scalar::U64).is_err());
    }

    #[test]
    fn random_data_depends_on_the_seed_alone() {
        let module = Module::default();
        let draw = |seed| fill(&module, &Type::F32, 100, &Init::Random(None), seed);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        for chunk in draw(3).chunks(4) {
            let x = scalar_from_bytes(Scalar::F32, chunk).as_f64();
            assert!((-1.0..=1.0).contains(&x));
        }
    }

    #[test]
    fn uniform_reals_lie_between_two_numbers() {
        let init = Init::Uniform(0.25, 0.75);
        let bytes = fill(&Module::default(), &Type::F64, 200, &init, 7);
        let of = |b: &[u8]| scalar_from_bytes(Scalar::F64, b).as_f64();
        let all: Vec<f64> = bytes.chunks(8).map(of).collect();
        assert!(all.iter().all(|x| (0.25..0.75).contains(x)));
        assert!(all.iter().any(|x| *x < 0.3) && all.iter().any(|x| *x > 0.7));
    }

    #[test]
    fn uniform_integers_lie_between_two_numbers_too() {
        let of = |ty: Scalar, low: f64, high: f64| {
            let element = Type::Scalar(ty);
            let bytes = fill(&Module::default(), &element, 500, &Init::Uniform(low, high), 7);
            let size = ty.bytes() as usize;
            let all = bytes.chunks(size).map(|b| scalar_from_bytes(ty, b).as_i64());
            let all: Vec<i64> = all.collect();
            (*all.iter().min().expect("some"), *all.iter().max().expect("some"))
        };
        assert_eq!(of(Scalar::I32, -3.0, 4.0), (-3, 3));
        let (least, most) = of(Scalar::I64, -2e9, 2e9);
        assert!((-2_000_000_000..-1_900_000_000).contains(&least));
        assert!((1_900_000_000..2_000_000_000).contains(&most));
        assert_eq!(of(Scalar::U8, -3.0, 1000.0), (0, 255));
    }

    #[test]
    fn iota_counts_scalars() {
        let bytes = fill(&Module::default(), &Type::Vector(Scalar::I32, 2), 2, &Init::Iota, 0);
        assert_eq!(bytes, [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    }
}
