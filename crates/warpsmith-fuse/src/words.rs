//! Words of C text replaced, comments and literals left alone.

use warpsmith_front::pp::{Piece, Scanner};

/// The text with each word for which `replace` knows something else replaced.
pub fn replace_words(text: &str, replace: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (piece, range) in Scanner::new(text, true) {
        if piece != Piece::Word {
            continue;
        }
        if let Some(new) = replace(&text[range.clone()]) {
            out.push_str(&text[done..range.start]);
            out.push_str(&new);
            done = range.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Whether a word stands in a text outside of comments and literals.
pub fn has_word(text: &str, word: &str) -> bool {
    Scanner::new(text, true).any(|(piece, range)| piece == Piece::Word && &text[range] == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_outside_of_comments_and_literals() {
        let twice = |word: &str| (word == "n").then(|| "(2)".to_string());
        let text = "a[n] = n1 + n; // n\nputs(\"n\"); /* n */";
        assert_eq!(replace_words(text, &twice), "a[(2)] = n1 + (2); // n\nputs(\"n\"); /* n */");
        assert!(has_word(text, "n") && !has_word("// n", "n"));
    }
}
