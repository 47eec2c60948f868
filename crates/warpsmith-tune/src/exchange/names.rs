//! The names in the outermost object of a JSON text, also of one that is damaged or was cut short.

/// The names, in their order. What is written with escapes is left as it is.
pub fn outermost(text: &str) -> impl Iterator<Item = &str> {
    Names { text, at: 0, depth: 0 }
}

struct Names<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Names<'t> {
    /// The string that begins here, without its quotes; the place goes behind it.
    fn string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = start;
        while *bytes.get(at)? != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.at = at + 1;
        self.text.get(start..at)
    }

    /// Whether a colon is next.
    fn is_name(&self) -> bool {
        self.text.get(self.at..).is_some_and(|rest| rest.trim_start().starts_with(':'))
    }
}

impl<'t> Iterator for Names<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            match *self.text.as_bytes().get(self.at)? {
                b'"' => {
                    let string = self.string()?;
                    if self.depth == 1 && self.is_name() {
                        return Some(string);
                    }
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_outermost_object_are_found() {
        let text = r#"{"a": {"b": ["c", {"d": 1}]}, "e\"f": "g", "h" : null, "i"#;
        assert_eq!(outermost(text).collect::<Vec<_>>(), ["a", "e\\\"f", "h"]);
        assert_eq!(outermost("").count() + outermost("}{\"\\").count(), 0);
    }
}
