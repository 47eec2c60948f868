//! The file of a problem, and the texts beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpsmith_front::spelling::nearest;
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};
use warpsmith_tune::exchange::{self, Kind, place_of, t1};

use super::kernel::Kernel;
use crate::status::Failure;

/// A problem with the file it was read from.
#[derive(Clone, Debug)]
pub struct Source {
    pub problem: t1::Problem,
    pub text: Arc<str>,
    pub file: FileId,
    /// Of the file; names in it are relative to this.
    pub folder: PathBuf,
}

impl Source {
    /// Reads a problem.
    ///
    /// # Errors
    /// W410 to W412: the file cannot be read or is no T1; W440: its kernel is in another language.
    pub fn read(path: &Path, sources: &mut SourceMap) -> Result<Source, Failure> {
        let file = exchange::open(path, sources)?;
        let text: Arc<str> = sources.get(file).map(|f| f.text.clone()).unwrap_or_default();
        if let Some(kind @ (Kind::T4 | Kind::KernelTunerCache)) = exchange::kind(&text) {
            let what = if kind == Kind::T4 { "T4 results" } else { "a cache of Kernel Tuner" };
            let text = format!("`{}` holds {what}, not a problem to tune", path.display());
            return Err(Diagnostic::error("W440", text)
                .help("`warpsmith results --import` takes results into the store; a problem is a T1 file")
                .into());
        }
        let problem = t1::Problem::read(&text, file)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let source = Source { problem, text, file, folder };
        let language = &source.problem.kernel.language;
        if language != "CUDA" {
            let what = format!("kernels in {language} cannot be tuned");
            return Err(source.message("W440", &what, language, "CUDA is wanted").into());
        }
        for p in &source.problem.parameters {
            let plain = !p.name.is_empty()
                && !p.name.starts_with(|c: char| c.is_ascii_digit())
                && p.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !plain {
                let what = "a parameter becomes a macro, and this is no name of one";
                return Err(source
                    .message("W440", what, &p.name, "letters, digits and `_`")
                    .into());
            }
        }
        Ok(source)
    }

    /// A warning for each name in the file that nobody reads.
    pub fn unread(&self) -> Vec<Diagnostic> {
        let warn = |unknown: &t1::Unknown| {
            let what = format!("`{}` is not known here, and nothing reads it", unknown.name);
            let near = nearest(&unknown.name, unknown.known.iter().copied());
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", unknown.known.join(", ")),
            };
            Diagnostic::warning("W449", what).label(unknown.place, "this name").help(help)
        };
        self.problem.unknown.iter().map(warn).collect()
    }

    /// A message at a string of the file; at its first line where the string is not found.
    pub fn message(&self, code: &'static str, what: &str, at: &str, why: &str) -> Diagnostic {
        let found = if at.is_empty() { None } else { place_of(&self.text, at) };
        let (start, end) = match found {
            Some(start) => (start, start + at.len()),
            None => (0, self.text.find('\n').unwrap_or(self.text.len())),
        };
        let offset = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        let span = Span { file: self.file, start: offset(start), end: offset(end) };
        Diagnostic::error(code, what).label(span, why)
    }

    /// The kernel's text. Its file is looked for beside the problem, then a folder further up, then in the working folder.
    ///
    /// # Errors
    /// W447: there is no such file, or it is no text.
    pub fn kernel(&self) -> Result<Kernel, Failure> {
        let spec = &self.problem.kernel;
        let mut places = vec![self.folder.join(&spec.file)];
        places.push(self.folder.join("..").join(&spec.file));
        places.push(PathBuf::from(&spec.file));
        let wrong = |what: &str, why: &str| self.message("W447", what, &spec.file, why);
        let Some(path) = places.iter().find(|p| p.is_file()) else {
            return Err(wrong(
                "the kernel's file is not there",
                "neither beside this file, nor a folder further up",
            )
            .help("`KernelFile` is relative to the problem's file")
            .into());
        };
        let bytes = std::fs::read(path)
            .map_err(|e| wrong("the kernel's file cannot be read", &e.to_string()))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| wrong("the kernel's file cannot be read", "it is no UTF-8 text"))?;
        let mut name = spec.name.clone();
        if !spec.type_names.is_empty() && !name.contains('<') {
            name += &format!("<{}>", spec.type_names.join(", "));
        }
        Ok(Kernel::new(path.clone(), text, name, &spec.compiler_options, &self.folder))
    }
}
