//! The values of character and string literals.

/// The bytes of the inside of a literal with its escapes resolved, as characters.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(kind) = chars.next() else {
            break;
        };
        let mut digits = |radix: u32, most: usize, first: Option<u32>| {
            let mut value = first.unwrap_or(0);
            for _ in 0..most {
                let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
                    break;
                };
                value = value.wrapping_mul(radix).wrapping_add(digit);
                chars.next();
            }
            char::from_u32(value).unwrap_or('\u{fffd}')
        };
        out.push(match kind {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'e' => '\u{1b}',
            'x' => digits(16, 8, None),
            'u' => digits(16, 4, None),
            'U' => digits(16, 8, None),
            '0'..='7' => digits(8, 2, kind.to_digit(8)),
            other => other,
        });
    }
    out
}

/// The text of one string literal, raw or not, without its prefix.
pub fn string(literal: &str) -> String {
    let Some(open) = literal.find('"') else {
        return literal.to_owned();
    };
    let (prefix, rest) = literal.split_at(open);
    let inner = rest.strip_prefix('"').unwrap_or(rest);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !prefix.ends_with('R') {
        return unescape(inner);
    }
    let Some((delimiter, body)) = inner.split_once('(') else {
        return inner.to_owned();
    };
    let body = body.strip_suffix(delimiter).unwrap_or(body);
    body.strip_suffix(')').unwrap_or(body).to_owned()
}

/// The value of a character constant; several characters count as the compilers for this platform
/// count them, the first one highest.
pub fn character(literal: &str) -> i64 {
    let wide = !literal.starts_with('\'');
    let inner = literal.split_once('\'').map_or("", |(_, rest)| rest);
    let text = unescape(inner.strip_suffix('\'').unwrap_or(inner));
    let mut value = 0i64;
    for c in text.chars() {
        let code = c as u32;
        if wide {
            return i64::from(code);
        }
        if code < 256 {
            value = (value << 8) | i64::from(code);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                value = (value << 8) | i64::from(byte);
            }
        }
    }
    match text.chars().count() {
        // A plain `char` is signed here.
        1 if value < 256 => i64::from(value as u8 as i8),
        _ => i64::from(value as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(string(r#""a\n\x41\101\"""#), "a\nAA\"");
        assert_eq!(string("R\"x(a\\n\")x\""), "a\\n\"");
        assert_eq!(character("'a'"), 97);
        assert_eq!(character("'\\0'"), 0);
        assert_eq!(character("'\\xff'"), -1);
        assert_eq!(character("L'\\xff'"), 255);
        assert_eq!(character("'ab'"), 0x6162);
    }
}
