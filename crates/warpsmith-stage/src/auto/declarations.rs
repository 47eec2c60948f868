//! Declarations as text: what is declared, and what of it is needed.

use crate::source::{marks, scope};

/// Declarations without what nothing behind them names.
pub fn needed(variables: Vec<String>, last: &str) -> Vec<String> {
    let mut used = scope::names(last);
    let mut kept = vec![];
    for v in variables.into_iter().rev() {
        if let Some(v) = only(&v, &mut used) {
            kept.push(v);
        }
    }
    kept.reverse();
    kept
}

/// What a declaration has of the names that are used, to which those are added that it mentions itself.
fn only(variable: &str, used: &mut Vec<String>) -> Option<String> {
    // An assignment is needed where what it changes is.
    if let [name, assigned, ..] = marks::tokens(variable).as_slice()
        && variable[assigned.at.clone()] == *"="
    {
        let needed = used.contains(&variable[name.at.clone()].to_string());
        used.extend(scope::names(variable).into_iter().filter(|_| needed));
        return needed.then(|| variable.to_string());
    }
    let (head, declarators) = declarators(variable)?;
    let mut kept = vec![];
    for d in declarators.iter().rev() {
        let names = scope::names(d);
        if names.iter().any(|n| used.contains(n) && declares(d, n)) {
            used.extend(names);
            kept.push(*d);
        }
    }
    kept.reverse();
    // A condition before it.
    used.extend(scope::names(head).into_iter().filter(|_| !kept.is_empty()));
    (!kept.is_empty()).then(|| format!("{head}{};", kept.join(", ")))
}

/// The type of a declaration, with the blanks behind it, and its declarators; these as one where the first is a pointer.
fn declarators(variable: &str) -> Option<(&str, Vec<&str>)> {
    let tokens = marks::tokens(variable);
    let word = |i: usize| tokens.get(i).map_or("", |t| &variable[t.at.clone()]);
    let first = (1..tokens.len()).find(|&i| ["=", "(", "{"].contains(&word(i + 1)))?;
    let (mut from, mut depth) = (tokens[first].at.start, 0);
    let (head, mut found) = (&variable[..from], vec![]);
    let one = ["*", "&"].contains(&word(first - 1));
    for (i, t) in tokens.iter().enumerate().skip(first) {
        match word(i) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 && !one => {
                found.push(&variable[from..t.at.start]);
                from = tokens.get(i + 1)?.at.start;
            }
            _ => {}
        }
    }
    found.push(variable[from..].trim_end().trim_end_matches(';'));
    Some((head, found))
}

/// Whether a declaration gives a name a value.
pub fn declares(text: &str, name: &str) -> bool {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    (0..tokens.len()).any(|i| word(i) == name && ["=", "(", "{"].contains(&word(i + 1)))
}

#[cfg(test)]
mod tests {
    use super::needed;

    #[test]
    fn declarators_that_nothing_names_go() {
        let all = [
            "int x = tx, y = ty;",
            "const int in = f(x, y), out = x + w * y;",
            "int *p = a, *q = b;",
        ];
        let kept = |last: &str| needed(all.map(String::from).to_vec(), last);
        assert_eq!(kept("a[in] = 1;"), ["int x = tx, y = ty;", "const int in = f(x, y);"]);
        assert_eq!(kept("a[y] = 1;"), ["int y = ty;"]);
        assert_eq!(kept("a[out] = *q;"), [all[0], "const int out = x + w * y;", all[2]]);
        let clamped =
            ["int lo = 0, hi = w;", "int x = tx;", "if (x < lo) x = lo;", "x = min(x, w);"];
        let kept = |last: &str| needed(clamped.map(String::from).to_vec(), last);
        assert_eq!(kept("a[x] = 1;"), ["int lo = 0;", clamped[1], clamped[2], clamped[3]]);
        assert!(kept("a[y] = 1;").is_empty());
    }
}
