//! Where a node comes from: byte ranges in the user's files.

use std::sync::Arc;

/// Index of a file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A half-open byte range in one file of the user's source.
///
/// For text that comes from a macro expansion this is the place the user wrote the macro's name;
/// the front end keeps the chain of expansions beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file, by its id in the [`SourceMap`].
    pub file: FileId,
    /// First byte, from 0.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// The span from the start of `self` to the end of `other`; `self` when they are in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// What a node of the IR goes back to: the user's text and, if a rewrite made it, which one.
///
/// Origins take no part in comparisons: two nodes are equal when they mean the same, wherever
/// they come from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The user's text; `None` for what has none, such as a launcher.
    pub span: Option<Span>,
    /// The name of the rewrite that created the node, for example `bind`.
    pub rewrite: Option<&'static str>,
}

impl Origin {
    /// From the user's text, not from a rewrite.
    pub fn at(span: Span) -> Origin {
        Origin { span: Some(span), rewrite: None }
    }

    /// The same place in the source, now credited to a rewrite.
    pub fn by(&self, rewrite: &'static str) -> Origin {
        Origin { span: self.span, rewrite: Some(rewrite) }
    }
}

impl From<Span> for Origin {
    fn from(span: Span) -> Origin {
        Origin::at(span)
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Eq for Origin {}

/// One file the user handed us, or one that it includes.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as the user wrote it; used in every message.
    pub path: String,
    /// The content that spans count bytes in.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

/// All files of one run. Spans point into it.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file and gives it an id.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1))
            .collect();
        self.files.push(SourceFile { path: path.into(), text, line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file; `None` when the id is of another map.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// All files with their ids, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// Line and column, both from 1, of a byte; columns count characters. `(0, 0)` for an unknown file.
    pub fn line_column(&self, file: FileId, byte: u32) -> (u32, u32) {
        let Some(f) = self.get(file) else {
            return (0, 0);
        };
        let line = f.line_starts.partition_point(|&s| s <= byte).max(1);
        let start = f.line_starts[line - 1] as usize;
        let end = (byte as usize).min(f.text.len());
        let column =
            f.text.get(start..end).map_or(end.saturating_sub(start), |t| t.chars().count());
        (line as u32, column as u32 + 1)
    }

    /// The text of a span; empty when the span does not fit the file.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file)
            .and_then(|f| f.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }
}
