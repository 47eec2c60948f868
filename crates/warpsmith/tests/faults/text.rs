//! Faults of the emitter: one small change to the text of the emitted file.

/// Texts that an emitter could confuse: what stands there, what a wrong one would write, and the fault's name.
const SWAPS: [(&str, &str, &str); 30] = [
    ("(size_t)", "", "conversion lost"),
    ("(long long)", "", "conversion lost"),
    ("(int)", "", "conversion lost"),
    ("(unsigned)", "", "conversion lost"),
    ("(float)", "", "conversion lost"),
    ("(double)", "", "conversion lost"),
    ("unsigned ", "int ", "signed for unsigned"),
    ("long long ", "int ", "narrow type"),
    ("double ", "float ", "narrow type"),
    ("float ", "int ", "integer for real"),
    ("__shared__ ", "", "array of the thread"),
    (" + ", " - ", "wrong operator"),
    (" - ", " + ", "wrong operator"),
    (" * ", " + ", "wrong operator"),
    (" / ", " * ", "wrong operator"),
    (" % ", " / ", "wrong operator"),
    (" < ", " <= ", "wrong operator"),
    (" >= ", " > ", "wrong operator"),
    (" && ", " || ", "wrong operator"),
    (" || ", " && ", "wrong operator"),
    (" == ", " != ", "wrong operator"),
    (" += ", " = ", "wrong operator"),
    ("++", "--", "wrong operator"),
    ("fminf(", "fmaxf(", "wrong function"),
    ("fmaxf(", "fminf(", "wrong function"),
    ("min(", "max(", "wrong function"),
    ("sqrtf(", "fabsf(", "wrong function"),
    ("threadIdx", "blockIdx", "wrong variable"),
    ("blockDim", "gridDim", "wrong variable"),
    ("!", "", "negation lost"),
];

/// Every text with one change, and the change's name.
pub fn faults(text: &str) -> Vec<(&'static str, String)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut found = vec![];
    // What stands beside the launcher has faults of its own, in `programs.rs`.
    let host = lines.iter().position(|l| l.starts_with("// Device memory; the first error"));
    for (k, line) in lines.iter().enumerate().take(host.unwrap_or(lines.len())) {
        for (name, changed) in of_line(line) {
            let before: String = lines[..k].concat();
            found.push((name, before + &changed + &lines[k + 1..].concat()));
        }
    }
    found
}

/// The changes of one line. Comments, directives and blank lines mean nothing.
fn of_line(line: &str) -> Vec<(&'static str, String)> {
    let code = line.trim();
    let mut found = vec![];
    if code.is_empty() || code.starts_with('#') || code.starts_with("//") || code.starts_with('*') {
        return found;
    }
    let end = line.find("//").unwrap_or(line.len());
    for (wanted, given, name) in SWAPS {
        for (at, _) in line[..end].match_indices(wanted) {
            found.push((name, line[..at].to_string() + given + &line[at + wanted.len()..]));
        }
    }
    for at in parentheses(&line[..end]) {
        let (open, close) = at;
        let inside = &line[open + 1..close];
        found.push(("parentheses lost", line[..open].to_string() + inside + &line[close + 1..]));
    }
    for at in suffixes(&line[..end]) {
        found.push(("suffix lost", line[..at].to_string() + &line[at + 1..]));
    }
    if let Some(launch) = swapped_launch(&line[..end]) {
        found.push(("grid and block swapped", launch + &line[end..]));
    }
    if code.ends_with(';') && !code.contains("constexpr") && !code.contains('{') {
        found.push(("line lost", "\n".to_string()));
    }
    found
}

/// Pairs of parentheses that group: what stands before them is an operator or a bracket.
fn parentheses(line: &str) -> Vec<(usize, usize)> {
    let mut open = vec![];
    let mut pairs = vec![];
    for (at, c) in line.char_indices() {
        match c {
            '(' => open.push(at),
            ')' => pairs.extend(open.pop().map(|o| (o, at))),
            _ => {}
        }
    }
    let groups = |o: usize| {
        let before = line[..o].trim_end();
        let statement = ["if", "for", "while"].iter().any(|w| before.ends_with(w));
        !statement && before.ends_with(|c: char| "+-*/%=<>&|([,?:".contains(c))
    };
    // A conversion's type in parentheses is no group.
    let is_type = |o: usize, c: usize| {
        let inside = &line[o + 1..c];
        inside.chars().all(|c| c.is_alphanumeric() || c == ' ' || c == '_' || c == '*')
    };
    pairs.into_iter().filter(|(o, c)| groups(*o) && !is_type(*o, *c)).collect()
}

/// Places of the `f` of a literal.
fn suffixes(line: &str) -> Vec<usize> {
    let bytes = line.as_bytes();
    let is_digit = |k: usize| bytes.get(k).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).filter(|k| bytes[*k] == b'f' && is_digit(*k - 1)).collect()
}

/// `<<<a, b` with its first two parts swapped.
fn swapped_launch(line: &str) -> Option<String> {
    let start = line.find("<<<")? + 3;
    let rest = &line[start..];
    let mut depth = 0;
    let mut commas = vec![];
    let mut end = rest.find(">>>")?;
    for (at, c) in rest[..end].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    let first = *commas.first()?;
    end = commas.get(1).copied().unwrap_or(end);
    let (grid, block) = (rest[..first].trim(), rest[first + 1..end].trim());
    Some(format!("{}{block}, {grid}{}", &line[..start], &rest[end..]))
}
