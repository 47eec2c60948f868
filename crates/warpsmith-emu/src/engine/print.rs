//! Device `printf`.

use warpsmith_ir::Scalar;

use super::block::{Block, Group};
use super::launch::Machine;
use crate::compile::lir::{Opd, from_register, words};

/// Bytes of output that a launch keeps, as the device's buffer does.
pub const MAX_OUTPUT: usize = 1 << 20;

impl Machine<'_> {
    pub fn printf(&mut self, b: &mut Block, g: &Group, format: u32, args: &[(Opd, Scalar)]) {
        if !self.options.collect_printf {
            return;
        }
        let Some(format) = self.program.names.get(format as usize) else { return };
        for t in g.mask.threads() {
            if self.found.printed_bytes > MAX_OUTPUT {
                return;
            }
            let values: Vec<(u64, Scalar)> = args
                .iter()
                .map(|(o, ty)| (self.lane_value(b, g, *o, words(*ty) == 2, t), *ty))
                .collect();
            let text = render(format, &values);
            self.found.printed_bytes += text.len();
            b.printed.push((t, text));
        }
    }
}

/// A conversion specification of C.
#[derive(Default)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternative: bool,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

fn render(format: &str, values: &[(u64, Scalar)]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        let mut star = || values.next().map_or(0, |(v, ty)| from_register(*ty, *v).as_i64());
        let spec = parse(&mut chars, &mut star);
        match values.next() {
            Some(&(v, ty)) => out.push_str(&convert(&spec, v, ty)),
            None => out.push_str("(missing)"),
        }
    }
    out
}

fn parse(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    star: &mut dyn FnMut() -> i64,
) -> Spec {
    let mut s = Spec::default();
    while let Some(&c) = chars.peek() {
        match c {
            '-' => s.minus = true,
            '+' => s.plus = true,
            ' ' => s.space = true,
            '0' => s.zero = true,
            '#' => s.alternative = true,
            _ => break,
        }
        chars.next();
    }
    s.width = number(chars, star).unwrap_or(0).min(512);
    if chars.peek() == Some(&'.') {
        chars.next();
        s.precision = Some(number(chars, star).unwrap_or(0).min(512));
    }
    while chars.peek().is_some_and(|c| "hlLzjtq".contains(*c)) {
        chars.next();
    }
    s.conversion = chars.next().unwrap_or('d');
    s
}

fn number(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    star: &mut dyn FnMut() -> i64,
) -> Option<usize> {
    if chars.peek() == Some(&'*') {
        chars.next();
        return usize::try_from(star()).ok();
    }
    let mut n = None;
    while let Some(d) = chars.peek().and_then(|c| c.to_digit(10)) {
        n = Some((n.unwrap_or(0usize).saturating_mul(10)).saturating_add(d as usize));
        chars.next();
    }
    n
}

fn convert(s: &Spec, bits: u64, ty: Scalar) -> String {
    let v = from_register(ty, bits);
    let unsigned = || match ty.bytes() {
        8 => v.bits,
        _ => (v.as_i64() as u32).into(),
    };
    let (sign, digits) = match s.conversion {
        'd' | 'i' => {
            let x = v.as_i64();
            (sign_text(s, x < 0), x.unsigned_abs().to_string())
        }
        'u' => (String::new(), unsigned().to_string()),
        'x' => (String::from(if s.alternative { "0x" } else { "" }), format!("{:x}", unsigned())),
        'X' => (String::from(if s.alternative { "0X" } else { "" }), format!("{:X}", unsigned())),
        'o' => (String::new(), format!("{:o}", unsigned())),
        'p' => ("0x".to_string(), format!("{:x}", v.bits)),
        'c' => (String::new(), char::from(v.bits as u8).to_string()),
        's' => (String::new(), "(string)".to_string()),
        _ => {
            let x = v.as_f64();
            (sign_text(s, x.is_sign_negative() && !x.is_nan()), real(s, x.abs()))
        }
    };
    let digits = match (s.precision, s.conversion) {
        (Some(p), 'd' | 'i' | 'u' | 'x' | 'X' | 'o') => format!("{digits:0>p$}"),
        _ => digits,
    };
    pad(s, sign, digits)
}

fn sign_text(s: &Spec, negative: bool) -> String {
    match (negative, s.plus, s.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
    .to_string()
}

fn pad(s: &Spec, sign: String, digits: String) -> String {
    let fill = s.width.saturating_sub(sign.len() + digits.len());
    if s.minus {
        return format!("{sign}{digits}{}", " ".repeat(fill));
    }
    if s.zero && !"cs".contains(s.conversion) {
        return format!("{sign}{}{digits}", "0".repeat(fill));
    }
    format!("{}{sign}{digits}", " ".repeat(fill))
}

fn real(s: &Spec, x: f64) -> String {
    let text = if x.is_nan() {
        "nan".to_string()
    } else if x.is_infinite() {
        "inf".to_string()
    } else {
        let p = s.precision.unwrap_or(6);
        match s.conversion.to_ascii_lowercase() {
            'e' => exponent(x, p),
            'g' => shortest(x, p.max(1), s.alternative),
            _ => format!("{x:.p$}"),
        }
    };
    if s.conversion.is_ascii_uppercase() { text.to_uppercase() } else { text }
}

fn exponent(x: f64, p: usize) -> String {
    let text = format!("{x:.p$e}");
    match text.split_once('e') {
        Some((m, e)) => {
            let e: i32 = e.parse().unwrap_or(0);
            format!("{m}e{}{:02}", if e < 0 { '-' } else { '+' }, e.abs())
        }
        None => text,
    }
}

/// `%g`: fixed or exponent form with `p` significant digits, without trailing zeros.
fn shortest(x: f64, p: usize, keep_zeros: bool) -> String {
    let scientific = exponent(x, p - 1);
    let e: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |t: &str| {
        if keep_zeros || !t.contains('.') {
            return t.to_string();
        }
        t.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if e < -4 || e >= p as i32 {
        return match scientific.split_once('e') {
            Some((m, e)) => format!("{}e{e}", trim(m)),
            None => scientific,
        };
    }
    trim(&format!("{x:.*}", (p as i32 - 1 - e).max(0) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        let i = |v: i32| (v as u32 as u64, Scalar::I32);
        let d = |v: f64| (v.to_bits(), Scalar::F64);
        assert_eq!(
            render("%d|%5d|%-5d|%05d", &[i(-3), i(42), i(42), i(-42)]),
            "-3|   42|42   |-0042"
        );
        assert_eq!(
            render("%u %x %#X %c%%", &[i(-1), i(255), i(255), i(65)]),
            "4294967295 ff 0XFF A%"
        );
        assert_eq!(
            render("%f %.2f %8.3f", &[d(1.5), d(-0.125), d(3.15159)]),
            "1.500000 -0.12    3.152"
        );
        assert_eq!(
            render("%e %g %g %g", &[d(12345.678), d(0.0001), d(1e10), d(100000.0)]),
            "1.234568e+04 0.0001 1e+10 100000"
        );
        assert_eq!(render("%lld %zu", &[(u64::MAX, Scalar::I64), (7, Scalar::U64)]), "-1 7");
        assert_eq!(render("%*d|%d", &[i(4), i(7)]), "   7|(missing)");
    }
}
