//! Guesses what a misspelt name was meant to be.

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut before: Vec<usize> = vec![];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// The known name closest to `word`, if it is close enough to be a slip of the keyboard; the first of equals.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let limit = (word.len() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter(|k| k.len().abs_diff(word.len()) <= limit)
        .map(|k| (edit_distance(word, k), k))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_one_slip() {
        assert_eq!(edit_distance("colapse", "collapse"), 1);
        assert_eq!(edit_distance("reudction", "reduction"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
    }

    #[test]
    fn only_close_names_are_suggested() {
        assert_eq!(nearest("__shfl_synk", ["__shfl_sync", "__ballot_sync"]), Some("__shfl_sync"));
        assert_eq!(nearest("frobnicate", ["__shfl_sync", "atomicAdd"]), None);
    }
}
