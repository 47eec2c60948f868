//! `printf`.

use crate::types::Scalar;
use crate::value::Value;

/// One conversion: `%[flags][width][.precision]conv`.
#[derive(Default)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

/// The text that C's `printf` would write. A conversion without an argument is left as it stands.
pub(crate) fn render(format: &str, args: &[Value]) -> String {
    let mut out = String::new();
    let mut args = args.iter().copied();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let (spec, conversion, used) = parse(tail, &mut args);
        rest = &tail[used..];
        let Some(conversion) = conversion else {
            out.push('%');
            break;
        };
        if conversion == '%' {
            out.push('%');
            continue;
        }
        match args.next() {
            Some(v) => out.push_str(&pad(&spec, convert(&spec, conversion, v))),
            None => out.extend(["%", &tail[..used]]),
        }
    }
    out.push_str(rest);
    out
}

/// Reads a conversion; returns it with the number of bytes it takes. `*` takes its number from the arguments.
fn parse(text: &str, args: &mut impl Iterator<Item = Value>) -> (Spec, Option<char>, usize) {
    let mut spec = Spec::default();
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.peek() {
        match c {
            '-' => spec.minus = true,
            '+' => spec.plus = true,
            ' ' => spec.space = true,
            '0' => spec.zero = true,
            '#' => spec.alternate = true,
            _ => break,
        }
        chars.next();
    }
    // Wider fields than this are a mistake, not a layout.
    let limit = |n: usize| n.min(4096);
    let mut number = |chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>| {
        if chars.next_if(|(_, c)| *c == '*').is_some() {
            return args.next().map_or(0, |v| usize::try_from(v.as_i64()).unwrap_or(0));
        }
        let mut n = 0usize;
        while let Some((_, c)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
            n = n.saturating_mul(10).saturating_add(c as usize - '0' as usize);
        }
        n
    };
    spec.width = limit(number(&mut chars));
    if chars.next_if(|(_, c)| *c == '.').is_some() {
        spec.precision = Some(limit(number(&mut chars)));
    }
    while chars.next_if(|(_, c)| "hlLqjzt".contains(*c)).is_some() {}
    match chars.next() {
        Some((at, c)) => (spec, Some(c), at + c.len_utf8()),
        None => (spec, None, text.len()),
    }
}

/// Sign and digits of one argument.
fn convert(spec: &Spec, conversion: char, v: Value) -> (String, String) {
    let sign = |negative: bool| match negative {
        true => "-",
        false if spec.plus => "+",
        false if spec.space => " ",
        false => "",
    };
    let bits = if v.ty.is_float() { v.as_i64() as u64 } else { unsigned(v) };
    let radix = |digits: String, prefix: &str| {
        let prefix = if spec.alternate && bits != 0 { prefix } else { "" };
        (prefix.to_string(), digits)
    };
    match conversion {
        'd' | 'i' => {
            let n = if v.ty == Scalar::U64 { v.bits as i64 } else { v.as_i64() };
            (sign(n < 0).into(), n.unsigned_abs().to_string())
        }
        'u' => (String::new(), bits.to_string()),
        'x' => radix(format!("{bits:x}"), "0x"),
        'X' => radix(format!("{bits:X}"), "0X"),
        'o' => radix(format!("{bits:o}"), "0"),
        'p' => ("0x".into(), format!("{bits:x}")),
        'c' => (String::new(), char::from(v.bits as u8).to_string()),
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' => {
            let x = v.as_f64();
            let text = real(spec, conversion.to_ascii_lowercase(), x.abs());
            let upper = conversion.is_ascii_uppercase();
            let negative = x.is_sign_negative() && !x.is_nan();
            (sign(negative).into(), if upper { text.to_uppercase() } else { text })
        }
        _ => (String::new(), format!("%{conversion}")),
    }
}

/// The bits as C's unsigned type of the argument after promotion.
fn unsigned(v: Value) -> u64 {
    if v.ty.is_signed() && v.ty.bytes() <= 4 { u64::from(v.as_i64() as u32) } else { v.bits }
}

fn real(spec: &Spec, conversion: char, x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return "inf".into();
    }
    let precision = spec.precision.unwrap_or(6);
    match conversion {
        'f' => format!("{x:.precision$}"),
        'e' => exponential(x, precision),
        _ => general(x, precision.max(1), spec.alternate),
    }
}

/// C's `%e`: at least two digits of exponent, with a sign.
fn exponential(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// C's `%g`: the shorter style for the exponent that the rounded value has, without trailing zeros.
fn general(x: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponential(x, precision - 1);
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |digits: &str| {
        if keep_zeros || !digits.contains('.') {
            return digits.to_string();
        }
        digits.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, tail) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{tail}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{x:.decimals$}"))
}

fn pad(spec: &Spec, (sign, digits): (String, String)) -> String {
    let length = sign.chars().count() + digits.chars().count();
    let fill = spec.width.saturating_sub(length);
    if spec.minus {
        format!("{sign}{digits}{}", " ".repeat(fill))
    } else if spec.zero && digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        format!("{sign}{}{digits}", "0".repeat(fill))
    } else {
        format!("{}{sign}{digits}", " ".repeat(fill))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_c_does() {
        let i = Value::i32;
        let d = |x| Value::float(Scalar::F64, x);
        let known: [(&str, &[Value], &str); 14] = [
            ("%d|%5d|%-5d|%05d", &[i(7), i(7), i(7), i(-7)], "7|    7|7    |-0007"),
            ("%u %x %#X", &[i(-1), i(255), i(255)], "4294967295 ff 0XFF"),
            ("%f %.2f %8.3f", &[d(1.5), d(2.0), d(-3.25)], "1.500000 2.00   -3.250"),
            ("%e", &[d(12345.678)], "1.234568e+04"),
            (
                "%g %g %g %g",
                &[d(0.0001), d(1e-5), d(123456789.0), d(0.5)],
                "0.0001 1e-05 1.23457e+08 0.5",
            ),
            ("%g", &[d(999999.5)], "1e+06"),
            ("100%%", &[], "100%"),
            ("%lld %zu", &[Value::int(Scalar::I64, -5), i(3)], "-5 3"),
            ("%c", &[i(65)], "A"),
            ("%*d", &[i(4), i(1)], "   1"),
            ("%+d", &[i(1)], "+1"),
            ("%d", &[], "%d"),
            ("tail%", &[], "tail%"),
            ("%f", &[d(f64::NEG_INFINITY)], "-inf"),
        ];
        for (format, args, expected) in known {
            assert_eq!(render(format, args), expected, "{format}");
        }
    }
}
