//! A value in the place of a name in a text, as a person would write it.

use warpsmith_front::pp::Piece;

use super::marks;

/// A text in which a value stands in the place of a name, in parentheses where it has to.
pub fn put(text: &str, name: &str, value: &str) -> String {
    let tokens = marks::tokens(text);
    let piece = |i: Option<usize>| i.and_then(|i| tokens.get(i)).map(|t| &text[t.at.clone()]);
    let is_product = |i: usize| matches!(piece(Some(i)), Some("*" | "/" | "%"));
    let mut all = String::new();
    let mut end = 0;
    for (i, t) in tokens.iter().enumerate() {
        let before = piece(i.checked_sub(1));
        let member =
            before == Some(".") || before == Some(">") && piece(i.checked_sub(2)) == Some("-");
        if t.piece != Piece::Word || &text[t.at.clone()] != name || member {
            continue;
        }
        all += &text[end..t.at.start];
        end = t.at.end;
        let after = piece(Some(i + 1));
        let loose = ["(", "[", ",", ")", "]", "<", ">", "=", "!", "?", ":", "&", "|"];
        let opens = before.is_none_or(|b| loose.contains(&b) && b != "!" && b != ")");
        let closes = after.is_none_or(|a| [&loose[..], &["+", "-"]].concat().contains(&a));
        let taken_back = format!("+ {value} -");
        match value.strip_prefix('-') {
            // `x + 0`
            None if value == "0" && closes && matches!(before, Some("+" | "-")) => {
                all.truncate(all.trim_end().len() - 1);
                all.truncate(all.trim_end().len());
                // `(y + 0) * w`
                if after == Some(")")
                    && let Some(open) = alone(&all)
                {
                    all.remove(open);
                    end = tokens[i + 1].at.end;
                }
            }
            // `x + K - 1 - (K - 1)`
            None if closes && all.trim_end().ends_with(&taken_back) => {
                all.truncate(all.trim_end().len() - taken_back.len());
                all.truncate(all.trim_end().len());
            }
            // `x - R + R`
            Some(rest)
                if before == Some("+")
                    && after == Some("+")
                    && piece(Some(i + 2)) == Some(rest)
                    && !is_product(i + 3) =>
            {
                all.truncate(all.trim_end().len() - 1);
                all.truncate(all.trim_end().len());
                end = tokens[i + 2].at.end;
            }
            // `x + -2`
            Some(rest) if closes && before == Some("+") && is_sum(rest) && !rest.contains('+') => {
                all.truncate(all.trim_end().len() - 1);
                all += &format!("- {}", rest.trim());
            }
            _ if marks::tokens(value).len() == 1
                || closes && (opens || before == Some("+")) && is_sum(value) =>
            {
                all += value;
            }
            _ => all += &format!("({value})"),
        }
    }
    all + &text[end..]
}

/// The parenthesis that one name alone stands behind at the end of a text, where it is no call and no conversion.
fn alone(text: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let open = text.trim_end_matches(word).len().checked_sub(1)?;
    let before = text[..open].trim_end();
    (text[open..].starts_with('(')
        && open + 1 < text.len()
        && !before.ends_with(|c| word(c) || c == ')'))
    .then_some(open)
}

/// Whether a text is a sum of names, numbers and products.
fn is_sum(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " _.+-*".contains(c);
    text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::put;

    #[test]
    fn values_stand_in_the_place_of_names() {
        for (text, value, expected) in [
            ("t[x + dx + 2]", "-R", "t[x - R + 2]"),
            ("t[x + dx]", "2", "t[x + 2]"),
            ("t[x - dx]", "K - 1", "t[x - (K - 1)]"),
            ("t[x + dx]", "K - 1", "t[x + K - 1]"),
            ("t[x + dx * w]", "K - 1", "t[x + (K - 1) * w]"),
            ("t[dx].dx", "-2", "t[-2].dx"),
            ("f(dx, sdx)", "a < b ? a : b", "f((a < b ? a : b), sdx)"),
            ("x + dx", "-R + 1", "x + -R + 1"),
            ("dx < 0 ? -dx : dx", "x - R", "x - R < 0 ? -(x - R) : x - R"),
            ("!dx && dx == 2 * dx", "x - R", "!(x - R) && x - R == 2 * (x - R)"),
            ("t[x + dx + R][dx]", "-R", "t[x][-R]"),
            ("t[x + dx + R * 2]", "-R", "t[x - R + R * 2]"),
            ("t[x + K - 1 - dx]", "K - 1", "t[x]"),
            ("t[2 * x + dx] + u[y - dx]", "0", "t[2 * x] + u[y]"),
            ("u[(y + dx) * w] + f(y + dx) + (y + 1 + dx)", "0", "u[y * w] + f(y) + (y + 1)"),
        ] {
            assert_eq!(put(text, "dx", value), expected);
        }
    }
}
