//! What changes from one version of a kernel to the next, line by line.

use std::ops::Range;

/// Lines shown before and after a change.
const CONTEXT: usize = 2;
/// Texts with more lines than this are shown as removed and added: the table of the comparison would be large.
const MOST_LINES: usize = 4000;

/// Which of two texts has a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Both have it.
    Both,
    /// The old text alone: it was removed.
    Old,
    /// The new text alone: it was added.
    New,
}

/// The lines that differ, `-` from the old text and `+` from the new one, with a few lines around them; `@@` and the
/// line number in the new text stand before each piece. Empty when the texts are equal.
pub fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let lines = compared(&old, &new);
    let mut text = String::new();
    for piece in pieces(&lines) {
        let before = lines[..piece.start].iter().filter(|(s, _)| *s != Side::Old).count();
        text += &format!("@@ line {} @@\n", before + 1);
        for (side, line) in &lines[piece] {
            let mark = match side {
                Side::Both => ' ',
                Side::Old => '-',
                Side::New => '+',
            };
            text += format!("{mark}{line}").trim_end();
            text.push('\n');
        }
    }
    text
}

/// The whole new text, its own lines marked `+` and the old one's `-`.
pub fn marked(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let line = |(side, line): (Side, &str)| {
        let mark = match side {
            Side::Both => ' ',
            Side::Old => '-',
            Side::New => '+',
        };
        format!("{mark} {line}").trim_end().to_string() + "\n"
    };
    compared(&old, &new).into_iter().map(line).collect()
}

/// All lines of both texts, along a longest common subsequence.
pub fn compared<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(Side, &'a str)> {
    let (n, m) = (old.len(), new.len());
    let mut lines = vec![];
    if n.max(m) > MOST_LINES {
        lines.extend(old.iter().map(|l| (Side::Old, *l)));
        lines.extend(new.iter().map(|l| (Side::New, *l)));
        return lines;
    }
    // Row i, column j: length of the longest common subsequence of what follows line i and line j.
    let mut common = vec![0u16; (n + 1) * (m + 1)];
    let at = |i: usize, j: usize| i * (m + 1) + j;
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            common[at(i, j)] = match old[i] == new[j] {
                true => common[at(i + 1, j + 1)] + 1,
                false => common[at(i + 1, j)].max(common[at(i, j + 1)]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < n || j < m {
        if i < n && j < m && old[i] == new[j] {
            lines.push((Side::Both, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == m || i < n && common[at(i + 1, j)] >= common[at(i, j + 1)] {
            lines.push((Side::Old, old[i]));
            i += 1;
        } else {
            lines.push((Side::New, new[j]));
            j += 1;
        }
    }
    lines
}

/// The ranges of lines to show: changes with their surroundings, those that touch as one.
fn pieces(lines: &[(Side, &str)]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = vec![];
    for (k, _) in lines.iter().enumerate().filter(|(_, (side, _))| *side != Side::Both) {
        let (start, end) = (k.saturating_sub(CONTEXT), (k + CONTEXT + 1).min(lines.len()));
        match pieces.last_mut() {
            Some(last) if last.end >= start => last.end = end,
            _ => pieces.push(start..end),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn differences_are_shown_with_what_is_around_them() {
        assert_eq!(diff("a\nb\n", "a\nb\n"), "");
        assert_eq!(diff("", "x\n"), "@@ line 1 @@\n+x\n");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\nfour\n5\n6\n7\n8\n9\n10\n";
        let expected = "@@ line 2 @@\n 2\n 3\n-4\n+four\n 5\n 6\n@@ line 8 @@\n 8\n 9\n+10\n";
        assert_eq!(diff(old, new), expected);
        let long = "line\n".repeat(5000);
        assert_eq!(diff(&long, "other\n").lines().count(), 5002);
    }
}
