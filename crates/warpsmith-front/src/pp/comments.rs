//! The comments of a file, which later phases read for directives.

use warpsmith_ir::{FileId, Span};

use super::scan::{Piece, Scanner};
use crate::ast::Comment;

/// Every comment of `text` in order, without its marks and outer blanks.
pub fn collect(text: &str, file: FileId, raw_strings: bool) -> Vec<Comment> {
    Scanner::new(text, raw_strings)
        .filter(|(piece, _)| *piece == Piece::Comment)
        .map(|(_, range)| Comment {
            text: strip(&text[range.clone()]).to_owned(),
            span: Span { file, start: range.start as u32, end: range.end as u32 },
        })
        .collect()
}

fn strip(comment: &str) -> &str {
    let inner = match comment.strip_prefix("/*") {
        Some(block) => block.strip_suffix("*/").unwrap_or(block),
        None => comment.trim_start_matches('/'),
    };
    inner.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_lose_their_marks() {
        let found = collect("a; // warpsmith: grid=4 \n/* b */ \"//no\"", FileId(0), true);
        let texts: Vec<&str> = found.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["warpsmith: grid=4", "b"]);
        assert_eq!(found[0].span.start, 3);
    }
}
