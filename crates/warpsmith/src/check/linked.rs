//! Programs of several files: which files one is made of, found by what each declares and does not define.

use std::path::{Path, PathBuf};

use warpsmith_front::ast::TranslationUnit;
use warpsmith_front::{join, sema};
use warpsmith_ir::SourceMap;

use super::args::{HostCode, SourceArgs};
use super::program::parse_part;
use super::runner::Runner;
use super::{files, host, plan, shown};
use crate::status::Failure;

/// What files with code of the host are called.
const SUFFIXES: [&str; 6] = ["cu", "cpp", "cc", "cxx", "c", "C"];

/// A program of several files.
pub struct Linked {
    pub unit: TranslationUnit,
    /// Its files; the first has `main`.
    pub paths: Vec<PathBuf>,
}

/// The files that may belong together: those of the command line, and what lies beside a file.
pub struct Neighbours<'a> {
    pub given: &'a [PathBuf],
    pub source: &'a SourceArgs,
}

impl Neighbours<'_> {
    /// The program that a file is a part of, if it has other parts; `unit` is the file's syntax.
    pub fn program_of(
        &self,
        path: &Path,
        unit: &TranslationUnit,
        sources: &mut SourceMap,
    ) -> Option<Linked> {
        if sema::has_host_function(unit, "main") {
            return self.completed(path, unit.clone(), sources);
        }
        let defined = join::defined(unit);
        for main in self.beside(path) {
            let Some(text) = readable(&main) else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // What the command line names may be needed by way of others.
            let given = self.given.iter().any(|p| same(p, &main));
            let used = given || text.contains(&*name) || defined.iter().any(|d| mentions(&text, d));
            if !text.contains("main") || !used {
                continue;
            }
            let (first, Some(unit)) = (sources.files().count(), self.parsed(&main, sources)) else {
                continue;
            };
            if !sema::has_host_function(&unit, "main") {
                continue;
            }
            let includes = sources.files().skip(first).any(|(_, f)| same(Path::new(&f.path), path));
            let program = self.completed(&main, unit.clone(), sources);
            let program = program.unwrap_or(Linked { unit, paths: vec![main] });
            if includes || program.paths.iter().any(|p| same(p, path)) {
                return Some(program);
            }
        }
        None
    }

    /// The file with those that define what it only declares; `None` when it needs none or there are none.
    fn completed(
        &self,
        path: &Path,
        unit: TranslationUnit,
        sources: &mut SourceMap,
    ) -> Option<Linked> {
        let mut parts = vec![(path.to_path_buf(), unit)];
        let mut candidates = self.beside(path);
        loop {
            let mut wanted = join::undefined(&parts[0].1);
            wanted.extend(parts[1..].iter().flat_map(|(_, u)| join::undefined(u)));
            for (_, unit) in &parts {
                join::defined(unit).iter().for_each(|name| {
                    wanted.remove(name);
                });
            }
            let found = candidates.iter().enumerate().find_map(|(i, candidate)| {
                let text = readable(candidate)?;
                let mentioned = wanted.iter().any(|name| mentions(&text, name));
                let unit = mentioned.then(|| self.parsed(candidate, sources)).flatten()?;
                let fits = !sema::has_host_function(&unit, "main")
                    && join::defined(&unit).iter().any(|name| wanted.contains(name));
                fits.then_some((i, unit))
            });
            let Some((i, unit)) = found else { break };
            parts.push((candidates.remove(i), unit));
        }
        if parts.len() == 1 {
            return None;
        }
        let paths = parts.iter().map(|(p, _)| p.clone()).collect();
        let units = parts.into_iter().map(|(p, u)| (shown(&p), u)).collect();
        Some(Linked { unit: join::join(units, sources), paths })
    }

    /// Other files, those of the command line first.
    fn beside(&self, path: &Path) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = self.given.iter().filter(|p| p.is_file()).cloned().collect();
        let folder = path.parent().unwrap_or(Path::new(""));
        let listed = match folder.as_os_str().is_empty() {
            true => std::fs::read_dir("."),
            false => std::fs::read_dir(folder),
        };
        let names = listed.into_iter().flatten().flatten().map(|e| folder.join(e.file_name()));
        let mut names: Vec<PathBuf> = names.filter(|p| p.is_file()).collect();
        names.sort();
        all.extend(names);
        all.retain(|p| {
            let suffix = p.extension().and_then(|e| e.to_str()).unwrap_or("");
            SUFFIXES.contains(&suffix) && !same(p, path)
        });
        let mut once: Vec<PathBuf> = vec![];
        for p in all {
            if !once.iter().any(|known| same(known, &p)) {
                once.push(p);
            }
        }
        once
    }

    fn parsed(&self, path: &Path, sources: &mut SourceMap) -> Option<TranslationUnit> {
        let text = files::read(path).ok()?;
        parse_part(path, &text, self.source, sources).ok()
    }
}

/// Whether a text may define or use what has the name, of methods `Class::method`.
fn mentions(text: &str, name: &str) -> bool {
    text.contains(name.rsplit("::").next().unwrap_or(name))
}

impl Runner<'_> {
    /// The program of several files that a file belongs to, if host code is run at all.
    pub(super) fn linked(
        &self,
        path: &Path,
        unit: &TranslationUnit,
        sources: &mut SourceMap,
    ) -> Option<Linked> {
        let no_launch = self.args.host == HostCode::Auto && self.args.launch.grid.is_none();
        let given: Vec<_> = self.args.paths.iter().filter(|p| !same(p, path)).cloned().collect();
        let neighbours = Neighbours { given: &given, source: &self.args.source };
        no_launch.then(|| neighbours.program_of(path, unit, sources)).flatten()
    }

    /// Runs a program of several files, once for all of them.
    pub(super) fn linked_program(
        &mut self,
        linked: &Linked,
        libraries: &sema::Libraries<'_>,
        sources: &SourceMap,
    ) -> Result<(), Failure> {
        self.programs.extend(linked.paths.iter().cloned());
        let Some(main) = linked.paths.first() else { return Ok(()) };
        let unit = &linked.unit;
        let Some(program) = host::load(unit, libraries)? else {
            return Err(Failure::input(
                "W303",
                format!("the program of `{}` has no launch", shown(main)),
            ));
        };
        if linked.paths.len() > 1 {
            let names: Vec<String> = linked.paths.iter().map(|p| shown(p)).collect();
            self.assume(format!("one program: {}", names.join(", ")));
        }
        let allows = plan::make(unit, &self.args.launch, &self.args.source)?.allows;
        self.program(main, &program, unit, &allows, sources)
    }
}

fn readable(path: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&files::read(path).ok()?).into_owned())
}

/// Whether two paths lead to one file.
pub fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
