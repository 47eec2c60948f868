//! Elements of arrays as people write them: plainly, or by a macro of the file that is one.

use warpsmith_front::pp::Piece;

use super::marks;

/// Macros in macros that are followed.
const MAX_DEPTH: u32 = 4;

/// `name[…]`, perhaps with several subscripts: what an expression is when macros defined before a byte of the text are written
/// out. `None`: it is something else, or which macro is meant is not certain.
pub fn element(text: &str, expression: &str, before: usize) -> Option<String> {
    written_out(text, expression, before, MAX_DEPTH)
}

fn written_out(text: &str, expression: &str, before: usize, depth: u32) -> Option<String> {
    let pieces = pieces(expression);
    let inner = match (pieces.first(), pieces.last()) {
        (Some(&"("), Some(&")")) if closes(&pieces) == pieces.len() - 1 => {
            return written_out(text, &pieces[1..pieces.len() - 1].join(" "), before, depth);
        }
        (Some(_), Some(&"]")) if is_plain(&pieces) => return Some(pieces.join(" ")),
        (Some(_), Some(&")")) if pieces.get(1) == Some(&"(") => &pieces[1..],
        _ => return None,
    };
    if depth == 0 || closes(inner) != inner.len() - 1 {
        return None;
    }
    let (names, body) = definition(text, pieces[0], before)?;
    let values = arguments(&inner[1..inner.len() - 1]);
    if names.len() != values.len() {
        return None;
    }
    let value = |piece: &&str| match names.iter().position(|n| n == piece) {
        Some(at) => values[at].clone(),
        None => (*piece).to_string(),
    };
    let body: Vec<String> = self::pieces(&body).iter().map(value).collect();
    written_out(text, &body.join(" "), before, depth - 1)
}

fn pieces(text: &str) -> Vec<&str> {
    marks::tokens(text).into_iter().map(|t| &text[t.at]).collect()
}

/// The number of the piece that closes the bracket that the first opens.
fn closes(pieces: &[&str]) -> usize {
    let mut depth = 0;
    for (i, piece) in pieces.iter().enumerate() {
        match *piece {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    pieces.len()
}

/// A name, and nothing outside of brackets after it.
fn is_plain(pieces: &[&str]) -> bool {
    let word = |c: char| c.is_ascii_alphabetic() || c == '_';
    let mut rest = &pieces[1..];
    while rest.first() == Some(&"[") {
        let end = closes(rest);
        rest = rest.get(end + 1..).unwrap_or(&["unclosed"]);
    }
    pieces[0].starts_with(word) && pieces.len() > 3 && rest.is_empty()
}

/// Arguments of a call, without its parentheses.
fn arguments(pieces: &[&str]) -> Vec<String> {
    let (mut all, mut depth) = (vec![String::new()], 0);
    for piece in pieces {
        match *piece {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        match (*piece, all.last_mut()) {
            (",", _) if depth == 0 => all.push(String::new()),
            (_, Some(last)) => {
                last.push_str(if last.is_empty() { "" } else { " " });
                last.push_str(piece);
            }
            _ => {}
        }
    }
    all
}

/// Parameters and body of a macro with parameters, when it is defined once, before a byte of the text, and its body is plain text.
fn definition(text: &str, name: &str, before: usize) -> Option<(Vec<String>, String)> {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map(|t| &text[t.at.clone()]);
    let named = |i: &usize| {
        let directive = tokens[*i].directive && tokens[*i].piece == Piece::Word;
        directive && matches!(word(*i), Some("define" | "undef")) && word(*i + 1) == Some(name)
    };
    let mut found = (0..tokens.len()).filter(named);
    let (at, None) = (found.next()?, found.next()) else { return None };
    let (name, open) = (tokens.get(at + 1)?, tokens.get(at + 2)?);
    let with_parameters = word(at + 2) == Some("(") && open.at.start == name.at.end;
    if word(at) != Some("define") || !with_parameters || open.at.start >= before {
        return None;
    }
    let line = logical_line(&text[open.at.start..]);
    let (parameters, body) = line[1..].split_once(')')?;
    let parameters: Vec<String> = parameters.split(',').map(|p| p.trim().to_string()).collect();
    let plain = !body.contains(['#', '"', '\'']) && !parameters.iter().any(|p| p == "...");
    plain.then(|| (parameters, body.to_string()))
}

/// The text up to the end of a line that no backslash continues, in one line.
fn logical_line(text: &str) -> String {
    let mut line = String::new();
    for part in text.split_inclusive('\n') {
        let part = part.trim_end_matches(['\n', '\r']);
        match part.strip_suffix('\\') {
            Some(more) => line += &format!("{more} "),
            None => return line + part,
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#define IDX(x, y) ((y) * pitch + (x))
#define AT(a, x, y) a[IDX(x, y)] // an element
#define TILE(r, c) \\
    (tile[(r) + 2][(c) + 2])
#define SUM(a, b) a[0] + b[0]
#define TEXT(a) a[#a[0]]
#define TWICE(i) a[i]
#undef TWICE
";

    #[test]
    fn macros_of_the_file_are_written_out() {
        let element = |e: &str| element(TEXT, e, TEXT.len());
        assert_eq!(element("a[i][j + 1]").as_deref(), Some("a [ i ] [ j + 1 ]"));
        assert_eq!(
            element("AT(in, x - 1, f(y, 2))").as_deref(),
            Some("in [ IDX ( x - 1 , f ( y , 2 ) ) ]")
        );
        assert_eq!(element("TILE(0, -1)").as_deref(), Some("tile [ ( 0 ) + 2 ] [ ( - 1 ) + 2 ]"));
        for other in [
            "a",
            "a.b[0]",
            "SUM(a, b)",
            "TEXT(a)",
            "TWICE(1)",
            "AT(a, 1)",
            "f(x)[0]",
            "a[0] + b[0]",
        ] {
            assert_eq!(element(other), None, "{other}");
        }
    }

    #[test]
    fn a_macro_that_comes_later_is_none() {
        assert_eq!(element(TEXT, "AT(in, 0, 0)", 20), None);
        assert!(element(TEXT, "AT(in, 0, 0)", TEXT.len()).is_some());
    }
}
