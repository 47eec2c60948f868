//! What a finding is known by in later versions of a file: rule, kernel and the text of its lines, not where those stand.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use warpsmith_ir::{SourceMap, Span};

use super::Item;

/// Gives each item its fingerprint. Of items that are the same but for their places, each has the next number, in the order
/// of the list.
pub fn give_fingerprints(items: &mut [Item], sources: &SourceMap) {
    let mut times: HashMap<String, u32> = HashMap::new();
    for item in items {
        let mut text =
            format!("{}|{}|{}", item.rule, item.kind.unwrap_or(""), kernel(&item.launch));
        if item.places.is_empty() {
            text += item.array.as_deref().unwrap_or("");
        }
        for span in item.places.iter().filter_map(|p| p.span) {
            let path = sources.get(span.file).map_or("", |f| f.path.as_str());
            text += &format!("|{}|{}", normal(path), line_without_blanks(span, sources));
        }
        let number = times.entry(text.clone()).or_default();
        let hash = crate::data::name_hash(&format!("{text}|{number}"));
        *number += 1;
        item.fingerprint = format!("{}-{hash:016x}", item.rule);
    }
}

/// The kernel in the words for a launch: `file.cu:4: k<float><<<1, 32>>>`.
fn kernel(launch: &str) -> &str {
    let name = launch.split("<<<").next().unwrap_or("");
    name.rsplit(": ").next().unwrap_or("")
}

fn line_without_blanks(span: Span, sources: &SourceMap) -> String {
    let Some(file) = sources.get(span.file) else { return String::new() };
    let (line, _) = sources.line_column(span.file, span.start);
    let text = file.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("");
    text.split_whitespace().collect()
}

/// The path from the current folder, without steps that lead back: `./a.cu`, `b/../a.cu` and the whole path of `a.cu` are
/// one.
fn normal(path: &str) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    let here = std::env::current_dir().unwrap_or_default();
    let from_here: &Path = plain.strip_prefix(&here).unwrap_or(&plain);
    from_here.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::{kernel, normal};

    #[test]
    fn kernels_are_read_from_launches() {
        assert_eq!(kernel("a.cu:4: k<float><<<1, 32>>> with n=3"), "k<float>");
        assert_eq!(kernel("dir/a.cu: scale<<<(2,2), 32>>>"), "scale");
        assert_eq!(kernel("host code of a.cu"), "host code of a.cu");
    }

    #[test]
    fn ways_to_a_file_are_one() {
        let whole = std::env::current_dir().expect("a folder").join("a/b.cu");
        for path in ["a/b.cu", "./a/b.cu", "c/../a//b.cu", &whole.to_string_lossy()] {
            assert_eq!(normal(path), "a/b.cu", "{path}");
        }
    }
}
