//! Where included files come from, and the file system the preprocessor sees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rucc_diag::SourceBytes;
use rucc_session::FileSystem;

use super::scan::{Piece, Scanner};
use super::{Language, headers};

/// The largest file that is read, in bytes.
pub const MAX_FILE: usize = 64 << 20;
/// How many times files may be opened in one run: a header that includes itself twice without a
/// guard would otherwise take time exponential in the nesting limit.
const MAX_OPENS: usize = 4096;
/// How many distinct files are looked at ahead of the run.
const MAX_PRELOAD: usize = 512;
/// The folder under which the stand-ins of system headers appear to live.
pub const SYSTEM_DIR: &str = "<system>";

/// Reads the files that the program includes with double quotes or from `-I` folders.
pub trait FileLoader: Sync {
    /// The bytes of a file; [`io::ErrorKind::NotFound`] is the ordinary answer while searching.
    fn load(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// Reads from the disk, regular files of at most 64 MiB only.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskLoader;

impl FileLoader for DiskLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let about = std::fs::metadata(path)?;
        if !about.is_file() || about.len() > MAX_FILE as u64 {
            return Err(io::Error::other("not a regular file of at most 64 MiB"));
        }
        std::fs::read(path)
    }
}

/// What `rucc_pp` reads from: the loader, with system headers replaced.
pub struct Files<'a> {
    loader: &'a dyn FileLoader,
    language: Language,
    include_dirs: &'a [PathBuf],
    /// Files read ahead, so that the run sees what the limits were checked on.
    cache: BTreeMap<PathBuf, Vec<u8>>,
    /// Names written in angle brackets: never an error, found or not.
    angled: BTreeSet<String>,
    /// Headers that are not found and count as empty.
    missing: BTreeSet<String>,
    opens: AtomicUsize,
}

impl fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files").field("cached", &self.cache.len()).finish_non_exhaustive()
    }
}

impl<'a> Files<'a> {
    /// Looks through `main` and, as far as they can be found, through the files it includes.
    pub fn new(
        loader: &'a dyn FileLoader,
        language: Language,
        include_dirs: &'a [PathBuf],
        main_path: &str,
        main: &str,
    ) -> Files<'a> {
        let mut files = Files {
            loader,
            language,
            include_dirs,
            cache: BTreeMap::new(),
            angled: BTreeSet::new(),
            missing: BTreeSet::new(),
            opens: AtomicUsize::new(0),
        };
        files.preload(main_path, main);
        files
    }

    /// A header that is not found counts as empty from now on; says where it was sought.
    pub fn do_without(&mut self, name: &str, main_path: &str) -> String {
        self.missing.insert(name.to_owned());
        let dir = Path::new(main_path).parent().map(Path::to_path_buf).unwrap_or_default();
        let places =
            std::iter::once(dir.as_path()).chain(self.include_dirs.iter().map(PathBuf::as_path));
        let paths: Vec<String> = places.map(|d| format!("`{}`", d.join(name).display())).collect();
        paths.join(", ")
    }

    /// The texts of the files read ahead.
    pub fn preloaded(&self) -> impl Iterator<Item = &str> {
        self.cache.values().filter_map(|bytes| std::str::from_utf8(bytes).ok())
    }

    fn preload(&mut self, main_path: &str, main: &str) {
        let dir = Path::new(main_path).parent().map(Path::to_path_buf).unwrap_or_default();
        let mut queue = self.wanted(main, &dir);
        let mut total = main.len();
        while let Some((name, candidates)) = queue.pop() {
            if headers::is_toolkit(&name) || self.cache.len() >= MAX_PRELOAD || total > MAX_FILE {
                continue;
            }
            for path in candidates {
                if self.cache.contains_key(&path) {
                    break;
                }
                let Ok(bytes) = self.loader.load(&path) else {
                    continue;
                };
                total += bytes.len();
                let bytes = printable(bytes);
                if let Ok(text) = String::from_utf8(bytes.clone()) {
                    let parent = path.parent().map(Path::to_path_buf).unwrap_or_default();
                    let more = self.wanted(&text, &parent);
                    queue.extend(more);
                }
                self.cache.insert(path, closed(bytes));
                break;
            }
        }
    }

    /// The files a text includes: each with the paths it may have, best first.
    fn wanted(&mut self, text: &str, dir: &Path) -> Vec<(String, Vec<PathBuf>)> {
        let mut found = vec![];
        for include in includes(text, self.language == Language::Cuda) {
            let mut paths: Vec<PathBuf> = vec![];
            match include {
                Include::Quoted(ref name) => paths.push(dir.join(name)),
                Include::Angled(ref name) => {
                    self.angled.insert(name.clone());
                }
            }
            let (Include::Quoted(name) | Include::Angled(name)) = include;
            paths.extend(self.include_dirs.iter().map(|d| d.join(&name)));
            found.push((name, paths));
        }
        found
    }
}

impl FileSystem for Files<'_> {
    fn read(&self, path: &Path) -> io::Result<SourceBytes> {
        if self.opens.fetch_add(1, Ordering::Relaxed) > MAX_OPENS {
            return Err(io::Error::other("too many includes"));
        }
        let shown = path.to_string_lossy();
        if headers::is_toolkit(&shown) {
            return Ok(SourceBytes::new(headers::stub_text(&shown, self.language).into_bytes()));
        }
        if let Ok(name) = path.strip_prefix(SYSTEM_DIR) {
            let name = name.to_string_lossy();
            let known = headers::is_library(&name) || headers::stand_in(&name).is_some();
            if self.angled.contains(name.as_ref()) || known {
                return Ok(SourceBytes::new(headers::stub_text(&name, self.language).into_bytes()));
            }
            return Err(io::ErrorKind::NotFound.into());
        }
        if let Some(bytes) = self.cache.get(path) {
            return Ok(SourceBytes::new(bytes.clone()));
        }
        // The folder of a stand-in is not a folder of the user's.
        if shown.starts_with('<') {
            return Err(io::ErrorKind::NotFound.into());
        }
        let absent =
            |name: &String| path.ends_with(Path::new(name)) || shown.ends_with(name.as_str());
        let bytes = match self.loader.load(path) {
            Err(_) if self.missing.iter().any(absent) => vec![],
            bytes => bytes?,
        };
        if bytes.len() > MAX_FILE {
            return Err(io::Error::other("larger than 64 MiB"));
        }
        Ok(SourceBytes::new(closed(printable(bytes))))
    }
}

/// The text with a line end more when it ends in a spliced one: in an open comment the lexer would not see its end.
pub(super) fn closed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.ends_with(b"\\\n") || bytes.ends_with(b"\\\r\n") {
        bytes.push(b'\n');
    }
    bytes
}

/// Bytes that are valid UTF-8 and keep their offsets: what is not text becomes `?`.
pub(crate) fn printable(bytes: Vec<u8>) -> Vec<u8> {
    if std::str::from_utf8(&bytes).is_ok() {
        return bytes;
    }
    let mut text = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.extend_from_slice(chunk.valid().as_bytes());
        text.resize(text.len() + chunk.invalid().len(), b'?');
    }
    text
}

enum Include {
    Quoted(String),
    Angled(String),
}

/// The `#include` lines of a text, whether or not a conditional leaves them out.
fn includes(text: &str, raw_strings: bool) -> Vec<Include> {
    let mut found = vec![];
    let mut pieces = Scanner::new(text, raw_strings).peekable();
    let mut line_start = true;
    while let Some((piece, _)) = pieces.next() {
        let hash = line_start && piece == Piece::Other(b'#');
        line_start = piece == Piece::Newline || (line_start && piece == Piece::Comment);
        if !hash {
            continue;
        }
        let Some((_, word)) = pieces.next_if(|(p, _)| *p == Piece::Word) else {
            continue;
        };
        if !matches!(&text[word.clone()], "include" | "include_next") {
            continue;
        }
        let rest = text[word.end..].lines().next().unwrap_or("").trim_start();
        if let Some((name, _)) = rest.strip_prefix('"').and_then(|r| r.split_once('"')) {
            found.push(Include::Quoted(name.to_owned()));
        } else if let Some((name, _)) = rest.strip_prefix('<').and_then(|r| r.split_once('>')) {
            found.push(Include::Angled(name.to_owned()));
        }
    }
    found
}
