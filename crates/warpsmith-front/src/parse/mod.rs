//! The parser: from the bytes of a file to [`crate::ast`].
//!
//! Preprocess ([`crate::pp`]), take out what the grammar has no rule for (`mask`), let
//! tree-sitter parse, and convert its tree; one file per noun. Every span of the result is a
//! place in a file of the user's.

mod angles;
mod casts;
mod context;
mod conversions;
mod default_types;
mod errors;
mod exprs;
mod items;
mod literals;
mod map;
mod mask;
mod member_pointers;
mod names;
mod new_pointers;
mod parens;
mod paths;
mod requirements;
mod stmts;
mod structs;
mod types;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tree_sitter::Parser;
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use crate::ast::{Comment, TranslationUnit};
use crate::deep;
use crate::pp::{self, Preprocessed};
pub use crate::pp::{DiskLoader, FileLoader, Language};
use context::Cx;
pub use map::Expansions;
pub use mask::{COMPLEX_DOUBLE, COMPLEX_FLOAT, IMAGINARY, THROUGH as THROUGH_MEMBER};
use mask::{MarkKind, Masked};
pub use member_pointers::MEMBER_OF;
use names::Names;

/// How the text is to be read.
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// C or CUDA C++.
    pub language: Language,
    /// `-D`: name, with parameters if any, and value.
    pub defines: Vec<(String, String)>,
    /// `-I`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// What `__CUDA_ARCH__` is: 900 for sm_90. Unused in C.
    pub cuda_arch: u32,
    /// Go on without headers that are not found, see [`TranslationUnit::missing_headers`].
    pub without_missing: bool,
    /// The file may hold host code only: what of it is not understood is left out.
    pub part_of_program: bool,
}

impl ParseOptions {
    /// Without macros and folders of headers.
    pub fn new(language: Language) -> ParseOptions {
        ParseOptions {
            language,
            defines: vec![],
            include_dirs: vec![],
            cuda_arch: 900,
            without_missing: false,
            part_of_program: false,
        }
    }
}

/// A file that was understood.
#[derive(Clone, Debug, Default)]
pub struct ParsedUnit {
    /// The syntax tree.
    pub unit: TranslationUnit,
    /// What does not stop the parse.
    pub warnings: Vec<Diagnostic>,
    /// Syntax errors of host code that no kernel seemed to need. When something later turns out
    /// to be missing, these may say why.
    pub suppressed: Vec<Diagnostic>,
    /// Which spans are uses of macros, and what came out of them.
    pub expansions: Expansions,
}

/// Stack of the thread that converts the tree; nesting is bounded so that this suffices.
const STACK: usize = 256 << 20;
/// How long the grammar may take. It reads some megabytes a second.
const MAX_PARSE_TIME: Duration = Duration::from_secs(20);

/// Parses one file and all it includes.
///
/// The file is added to `sources` first, then the files it includes. Errors are at most five.
pub fn parse(
    path: &str,
    text: &[u8],
    options: &ParseOptions,
    loader: &dyn FileLoader,
    sources: &mut SourceMap,
) -> Result<ParsedUnit, Vec<Diagnostic>> {
    let file = add_file(path, text, sources)?;
    let pp_options = pp::Options {
        language: options.language,
        defines: options.defines.clone(),
        include_dirs: options.include_dirs.clone(),
        cuda_arch: options.cuda_arch,
        without_missing: options.without_missing,
    };
    let program = pp::preprocess(file, &pp_options, loader, sources)?;
    let source = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
    let comments = pp::collect_comments(&source, file, options.language == Language::Cuda);
    let job = Job {
        program: &program,
        comments: &comments,
        language: options.language,
        file,
        part: options.part_of_program,
    };
    let mut parsed = deep::with(STACK, || job.run()).unwrap_or_else(|error| {
        Err(vec![failure(file, &format!("no thread could be started: {error}"))])
    })?;
    parsed.unit.comments = comments;
    parsed.unit.macros = program.macros;
    parsed.unit.missing_headers = program.missing;
    let stands_in = |path: &str| path.starts_with(pp::SYSTEM_DIR);
    let files = sources.files().filter(|(_, f)| stands_in(&f.path));
    parsed.unit.library_files = files.map(|(id, _)| id).collect();
    parsed.warnings = program.warnings;
    Ok(parsed)
}

/// Checks that the bytes are text, and gives the file its id.
fn add_file(path: &str, text: &[u8], sources: &mut SourceMap) -> Result<FileId, Vec<Diagnostic>> {
    let problem = match std::str::from_utf8(text) {
        _ if text.len() > pp::MAX_FILE => {
            Some(("W004", "this file is larger than 64 MiB".to_owned(), ""))
        }
        Ok(text) if text.contains('\0') => Some((
            "W001",
            "this is a binary file, not source text".to_owned(),
            "it contains NUL bytes",
        )),
        Ok(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => Some((
            "W003",
            "this file is empty".to_owned(),
            "save what belongs there, or name another file",
        )),
        Ok(_) => None,
        // Comments in an older encoding, say: what is not text becomes `?`, at the same offsets.
        Err(_) if mostly_text(text) => None,
        Err(_) if text.contains(&0) => Some((
            "W001",
            "this is a binary file, not source text".to_owned(),
            "it contains NUL bytes",
        )),
        Err(error) => {
            let line = text[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            Some((
                "W001",
                format!("line {line} of this file is not UTF-8 text"),
                "save it as UTF-8",
            ))
        }
    };
    match problem {
        None => {
            let text = pp::printable(text.to_vec());
            Ok(sources.add(path, String::from_utf8_lossy(&text).into_owned()))
        }
        Some((code, message, help)) => {
            // The bytes are of no use on a terminal.
            let file = sources.add(path, "");
            let mut error =
                Diagnostic::error(code, message).label(Span { file, start: 0, end: 0 }, "");
            if !help.is_empty() {
                error = error.help(help);
            }
            Err(vec![error])
        }
    }
}

/// Whether bytes that are no UTF-8 are text in another encoding: few are strange, and none belongs to no text at all.
fn mostly_text(bytes: &[u8]) -> bool {
    let control = |b: &u8| *b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
    let strange = bytes.iter().filter(|b| **b >= 0x80).count();
    !bytes.iter().any(control) && strange * 4 < bytes.len()
}

fn failure(file: FileId, why: &str) -> Diagnostic {
    Diagnostic::error("W049", format!("this file could not be parsed: {why}"))
        .label(Span { file, start: 0, end: 0 }, "")
}

/// The work on one program after preprocessing.
struct Job<'a> {
    program: &'a Preprocessed,
    comments: &'a [Comment],
    language: Language,
    file: FileId,
    part: bool,
}

impl Job<'_> {
    fn run(&self) -> Result<ParsedUnit, Vec<Diagnostic>> {
        let tokens = &self.program.tokens;
        let groups = names::bracket_ends(tokens);
        let names = Names::collect(tokens, &groups);
        let masked = mask::mask(self.program, &groups, self.comments, self.language, &names);
        let tree = self.tree(&masked.text)?;
        let mut cx = Cx::new(&masked, &names, self.language);
        let root = tree.root_node();
        cx.read_argument_lists(root);
        let mut items = cx.items(root);
        cx.pragma_items(masked.text.len(), &mut items);
        let (mut errors, mut suppressed) = (cx.diagnostics, cx.suppressed);
        let kernels = masked.marks.iter().any(|m| m.kind == MarkKind::Global);
        if !kernels && !self.part {
            errors.append(&mut suppressed);
        }
        if !errors.is_empty() {
            self.explain_brackets(&masked, &mut errors);
            errors.truncate(errors::MAX_ERRORS);
            return Err(errors);
        }
        let unit = TranslationUnit {
            items,
            comments: vec![],
            instantiations: cx.instantiations,
            macros: Default::default(),
            missing_headers: vec![],
            not_understood: suppressed.clone(),
            library_files: vec![],
        };
        Ok(ParsedUnit { unit, warnings: vec![], suppressed, expansions: masked.expansions })
    }

    fn tree(&self, text: &str) -> Result<tree_sitter::Tree, Vec<Diagnostic>> {
        let mut parser = Parser::new();
        if let Err(error) = parser.set_language(&tree_sitter_cuda::LANGUAGE.into()) {
            return Err(vec![failure(self.file, &error.to_string())]);
        }
        let deadline = Instant::now() + MAX_PARSE_TIME;
        let mut late = |_: &tree_sitter::ParseState| match Instant::now() > deadline {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = tree_sitter::ParseOptions::new().progress_callback(&mut late);
        let bytes = text.as_bytes();
        let tree = parser.parse_with_options(
            &mut |at, _| bytes.get(at..).unwrap_or(&[]),
            None,
            Some(options),
        );
        tree.ok_or_else(|| {
            let seconds = MAX_PARSE_TIME.as_secs();
            let place = Span { file: self.file, start: 0, end: 0 };
            vec![
                Diagnostic::error("W024", "this file takes too long to parse")
                    .label(place, format!("stopped after {seconds} seconds")),
            ]
        })
    }

    /// When brackets do not match, that is the one thing to say: the rest follows from it.
    fn explain_brackets(&self, masked: &Masked, errors: &mut Vec<Diagnostic>) {
        let syntax = |d: &Diagnostic| matches!(d.code, "W020" | "W021");
        if masked.text.is_empty() || !errors.iter().any(syntax) {
            return;
        }
        let found = mask::unbalanced(&self.program.tokens);
        if let Some(error) = found.and_then(|f| errors::bracket_error(&self.program.tokens, f)) {
            errors.retain(|d| !syntax(d));
            errors.insert(0, error);
        }
    }
}
