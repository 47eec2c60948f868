//! Edits of a text by byte range: every other byte stays.

use super::marks::Bytes;

/// A range, with its line where nothing else stands in that.
pub fn with_its_line(text: &str, at: Bytes) -> Bytes {
    let start = text[..at.start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at.end..].find('\n').map_or(text.len(), |i| at.end + i + 1);
    let alone = text[start..at.start].trim().is_empty() && text[at.end..end].trim().is_empty();
    if alone { start..end } else { at }
}

/// Replacements in one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    edits: Vec<(Bytes, String)>,
}

impl Patch {
    /// Puts a text in the place of a range; an empty range inserts. Several at one place stand in the order given.
    pub fn replace(&mut self, at: Bytes, text: impl Into<String>) {
        self.edits.push((at, text.into()));
    }

    /// All edits of another patch after those of this one.
    pub fn extend(&mut self, other: &Patch) {
        self.edits.extend(other.edits.iter().cloned());
    }

    /// Whether an edit replaces a byte.
    pub fn covers(&self, at: usize) -> bool {
        self.edits.iter().any(|(range, _)| range.contains(&at))
    }

    /// Whether a place is inside of what an edit replaces.
    pub fn splits(&self, at: usize) -> bool {
        self.edits.iter().any(|(range, _)| range.start < at && at < range.end)
    }

    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Where a byte of the edited text comes from; inside of what an edit brought, where that edit begins.
    pub fn origin(&self, at: usize) -> usize {
        let mut edits: Vec<&(Bytes, String)> = self.edits.iter().collect();
        edits.sort_by_key(|(at, _)| (at.start, at.end));
        let (mut old, mut new) = (0, 0);
        for (range, text) in edits {
            let start = new + range.start.saturating_sub(old);
            if at < start {
                break;
            }
            if at < start + text.len() {
                return range.start;
            }
            (old, new) = (range.end, start + text.len());
        }
        old + (at - new.min(at))
    }

    /// The text with all edits made.
    ///
    /// # Errors
    /// The range of an edit that overlaps one before it.
    pub fn apply(&self, text: &str) -> Result<String, Bytes> {
        let mut edits: Vec<&(Bytes, String)> = self.edits.iter().collect();
        edits.sort_by_key(|(at, _)| (at.start, at.end));
        let mut out = String::with_capacity(text.len() + 256);
        let mut done = 0;
        for (at, new) in edits {
            let between = text.get(done..at.start).ok_or_else(|| at.clone())?;
            out.push_str(between);
            out.push_str(new);
            done = at.end;
        }
        out.push_str(&text[done..]);
        Ok(out)
    }
}

/// The blanks that the line of a byte begins with.
pub fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_stay() {
        let mut patch = Patch::default();
        patch.replace(4..7, "two");
        patch.replace(0..0, "> ");
        patch.replace(7..7, "!");
        assert_eq!(patch.apply("one 2   three").as_deref(), Ok("> one two! three"));
        assert_eq!([0, 2, 6, 8, 9, 11].map(|at| patch.origin(at)), [0, 0, 4, 4, 7, 8]);
        patch.replace(5..6, "x");
        assert!(patch.apply("one 2   three").is_err());
    }

    #[test]
    fn a_line_keeps_its_indentation() {
        assert_eq!(indentation("a\n \t b = 1;", 6), " \t ");
    }
}
