//! The preprocessor: from the user's files to tokens that know where they come from.
//!
//! `rucc_pp` does the work; this module gives it files, bounds what it may do, and turns its
//! tokens and messages into ours. Its interface is declared unstable, so nothing of it leaves
//! this module.

mod comments;
mod files;
mod headers;
mod limits;
mod messages;
mod scan;
mod tokens;

pub(crate) use files::SYSTEM_DIR;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use rucc_base::Interner;
use rucc_pp::{Builtin, Context, Preprocessor};
use rucc_session::SearchPath;
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use crate::deep;

pub use comments::collect as collect_comments;
pub(crate) use files::printable;
pub use files::{DiskLoader, FileLoader, MAX_FILE};
pub use scan::{Piece, Scanner};
pub use tokens::{PragmaLine, Preprocessed, Token, TokenKind};

/// The language a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// C99 with the usual GNU extensions.
    C,
    /// CUDA C++.
    Cuda,
}

/// What a run needs beside the text.
#[derive(Clone, Debug)]
pub struct Options {
    /// C or CUDA C++.
    pub language: Language,
    /// `-D`: a name with optional parameters, and its value.
    pub defines: Vec<(String, String)>,
    /// `-I`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// `__CUDA_ARCH__`, for example 900.
    pub cuda_arch: u32,
    /// Go on without headers that are not found: what they would have declared may not be needed.
    pub without_missing: bool,
}

/// How many headers may be missing.
const MAX_MISSING: usize = 50;

/// How many tokens a whole program may have after expansion.
const MAX_TOKENS: usize = 4 << 20;
/// Stack of the thread that preprocesses; nesting is bounded so that this suffices.
const STACK: usize = 256 << 20;

/// Preprocesses a file that is registered in `sources` already.
///
/// All files it includes are added to `sources`. Errors are at most a handful; the warnings of a
/// run that succeeds come with the result.
pub fn preprocess(
    file: FileId,
    options: &Options,
    loader: &dyn FileLoader,
    sources: &mut SourceMap,
) -> Result<Preprocessed, Vec<Diagnostic>> {
    let Some(source) = sources.get(file) else {
        return Ok(Preprocessed::default());
    };
    let (path, text) = (source.path.clone(), source.text.clone());
    let cuda = options.language == Language::Cuda;
    check_defines(&options.defines, file)?;
    let mut fs = files::Files::new(loader, options.language, &options.include_dirs, &path, &text);
    check_limits(&text, file, &fs, cuda)?;
    let mut missing: Vec<Diagnostic> = vec![];
    loop {
        match preprocess_once(file, (&path, &text), options, &fs, sources) {
            Err(list) if options.without_missing && list.iter().all(|d| d.code == "W007") => {
                let names: Vec<String> = list.iter().filter_map(missing_header).collect();
                let known = missing.len();
                for (diagnostic, name) in list.into_iter().zip(&names) {
                    let sought = fs.do_without(name, &path);
                    missing.push(diagnostic.note(format!("sought as {sought}")));
                }
                if missing.len() == known || missing.len() > MAX_MISSING {
                    return Err(missing);
                }
            }
            result => return result.map(|p| Preprocessed { missing, ..p }),
        }
    }
}

/// The name in "cannot include `x.h`".
fn missing_header(diagnostic: &Diagnostic) -> Option<String> {
    diagnostic.message.split('`').nth(1).map(str::to_owned)
}

fn preprocess_once(
    file: FileId,
    (path, text): (&str, &str),
    options: &Options,
    fs: &files::Files<'_>,
    sources: &mut SourceMap,
) -> Result<Preprocessed, Vec<Diagnostic>> {
    let cuda = options.language == Language::Cuda;
    let job = Job { path, text, options, fs };
    let stopped = |_| Err("it stopped unexpectedly".to_owned());
    let run = || catch_unwind(AssertUnwindSafe(|| job.run())).unwrap_or_else(stopped);
    let raw = deep::with(STACK, run).unwrap_or_else(|e| Err(e.to_string()));
    let raw = raw.map_err(|why| {
        vec![
            Diagnostic::error("W049", format!("the preprocessor could not read this file: {why}"))
                .label(Span { file, start: 0, end: 0 }, ""),
        ]
    })?;
    let macros = raw.macros.clone();
    let converted = tokens::convert(raw, file, cuda, sources)?;
    Ok(Preprocessed { macros, ..converted })
}

/// A run of the library, made so that it can move to another thread.
struct Job<'a> {
    path: &'a str,
    text: &'a str,
    options: &'a Options,
    fs: &'a files::Files<'a>,
}

/// What the library hands back.
struct Raw {
    tokens: Vec<rucc_pp::Tok>,
    diagnostics: Vec<rucc_diag::Diagnostic>,
    interner: Interner,
    sources: rucc_diag::SourceMap,
    /// Of the main file.
    main: rucc_diag::FileId,
    /// Raw strings that were hidden from the library: where, and as written.
    raw_strings: Vec<(u32, String)>,
    /// Macros without parameters that are defined at the end.
    macros: HashMap<String, String>,
}

impl Job<'_> {
    fn run(&self) -> Result<Raw, String> {
        let mut interner = Interner::new();
        let mut sources = rucc_diag::SourceMap::new();
        let full = |_| "its files are too large together".to_owned();
        let prelude = self.prelude();
        let prelude = sources.add("<built-in>", prelude.into_bytes()).map_err(full)?;
        let (text, raw_strings) = self.hide_raw_strings();
        let main = sources.add(self.path, files::closed(text.into_bytes())).map_err(full)?;
        let mut search = SearchPath::new();
        for dir in &self.options.include_dirs {
            search.push_bracket(dir);
        }
        search.push_system(files::SYSTEM_DIR);
        let mut pp = Preprocessor::new();
        let mut cx = Context::new(&mut interner, &mut sources, self.fs, &search);
        cx.lex.digit_separators = self.options.language == Language::Cuda;
        cx.max_include_depth = 100;
        for (name, builtin) in Builtin::ALL {
            let name = cx.interner.intern(name);
            pp.macros_mut().define_builtin(name, builtin, rucc_diag::Span::new(0, 0));
        }
        pp.run(prelude, &mut cx);
        let before = pp.take_diagnostics();
        if let Some(bad) = before.into_iter().find(|d| d.severity.is_fatal()) {
            return Err(format!("a definition with `-D` is not understood: {}", bad.message));
        }
        let tokens = pp.run(main, &mut cx);
        let diagnostics = pp.take_diagnostics();
        let macros = object_macros(&rucc_pp::dump_macros(pp.macros(), cx.interner));
        Ok(Raw { tokens, diagnostics, interner, sources, main, raw_strings, macros })
    }

    /// The definitions that are there before the first line.
    fn prelude(&self) -> String {
        let cuda = self.options.language == Language::Cuda;
        let mut text = String::new();
        if cuda {
            text.push_str(
                "#define __cplusplus 201703L\n#define __CUDACC__ 1\n#define __NVCC__ 1\n",
            );
            text.push_str(&format!("#define __CUDA_ARCH__ {}\n", self.options.cuda_arch));
            text.push_str("#define __CUDACC_VER_MAJOR__ 13\n#define __CUDACC_VER_MINOR__ 0\n");
            text.push_str("#define CUDART_VERSION 13000\n#define CUDA_VERSION 13000\n");
        } else {
            text.push_str("#define __STDC_VERSION__ 199901L\n");
        }
        text.push_str("#define __STDC__ 1\n#define __STDC_HOSTED__ 1\n");
        let (words, defined) = self.words();
        let given: HashSet<&str> =
            self.options.defines.iter().map(|(n, _)| macro_name(n)).collect();
        text.push_str(&headers::implied(self.options.language, |name| {
            words.contains(name) && !defined.contains(name) && !given.contains(name)
        }));
        for (name, value) in &self.options.defines {
            text.push_str(&format!("#define {name} {value}\n"));
        }
        text
    }

    /// The names that occur in any text of the program, and those a `#define` gives a meaning.
    fn words(&self) -> (HashSet<&str>, HashSet<&str>) {
        let (mut words, mut defined) = (HashSet::new(), HashSet::new());
        let cuda = self.options.language == Language::Cuda;
        for text in std::iter::once(self.text).chain(self.fs.preloaded()) {
            let mut define = false;
            for (piece, range) in Scanner::new(text, cuda) {
                let word = &text[range];
                if piece == Piece::Word && define {
                    defined.insert(word);
                } else if piece == Piece::Word {
                    words.insert(word);
                }
                define = piece == Piece::Word && word == "define";
            }
        }
        (words, defined)
    }

    /// The text with every C++ raw string replaced by `""` and blanks; the library knows C only.
    fn hide_raw_strings(&self) -> (String, Vec<(u32, String)>) {
        let mut text = self.text.to_owned();
        let mut hidden = vec![];
        if text.starts_with('\u{feff}') {
            text.replace_range(0..3, "   ");
        }
        if self.options.language == Language::C || !text.contains("R\"") {
            return (text, hidden);
        }
        for (piece, range) in Scanner::new(self.text, true) {
            if piece == Piece::RawString {
                let literal = &self.text[range.clone()];
                let blank: String =
                    literal.bytes().skip(2).map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
                text.replace_range(range.clone(), &format!("\"\"{blank}"));
                hidden.push((range.start as u32, literal.to_owned()));
            }
        }
        (text, hidden)
    }
}

/// Names and values of the macros without parameters in a list of `#define` lines.
fn object_macros(lines: &str) -> HashMap<String, String> {
    let definitions = lines.lines().filter_map(|l| l.strip_prefix("#define "));
    let plain = definitions.filter_map(|d| d.split_once(' ')).filter(|(n, _)| !n.contains('('));
    plain.map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

fn macro_name(definition: &str) -> &str {
    definition.split('(').next().unwrap_or(definition)
}

/// Names given with `-D` must be names, and must not smuggle in further lines.
fn check_defines(defines: &[(String, String)], file: FileId) -> Result<(), Vec<Diagnostic>> {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    for (name, value) in defines {
        if !is_name(macro_name(name)) || name.contains('\n') || value.contains(['\n', '\r']) {
            return Err(vec![
                Diagnostic::error("W013", format!("`-D {name}={value}` does not define a name"))
                    .label(Span { file, start: 0, end: 0 }, "")
                    .help("write `-D NAME` or `-D NAME=VALUE`"),
            ]);
        }
    }
    Ok(())
}

fn check_limits(
    text: &str,
    file: FileId,
    fs: &files::Files<'_>,
    cuda: bool,
) -> Result<(), Vec<Diagnostic>> {
    let mut estimate = limits::Estimate::default();
    let mut verdict = estimate.add(text, cuda);
    for other in fs.preloaded() {
        verdict = verdict.and_then(|()| estimate.add(other, cuda));
    }
    verdict = verdict.and_then(|()| estimate.check(text, cuda));
    for other in fs.preloaded() {
        verdict = verdict.and_then(|()| estimate.check(other, cuda));
    }
    let at = |range: std::ops::Range<usize>| Span {
        file,
        start: range.start as u32,
        end: range.end as u32,
    };
    let start = Span { file, start: 0, end: 0 };
    verdict.map_err(|excess| {
        vec![match excess {
            limits::Excess::Brackets(range) => {
                Diagnostic::error("W005", "brackets are nested too deep")
                    .label(at(range), "this one is too many")
            }
            limits::Excess::Condition(range) => {
                Diagnostic::error("W005", "the condition of this directive is too long")
                    .label(at(range), "")
            }
            limits::Excess::Expansion => {
                Diagnostic::error("W006", "the macros of this file expand to too much text")
                    .label(start, "in this file or one it includes")
                    .note("more than a million tokens, or macros nested more than 200 deep")
            }
        }]
    })
}
