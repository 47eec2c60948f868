//! One function of the library: its file read, its routines found by name, everything checked against the contract.

use std::collections::HashMap;

use warpsmith_front::ast::{FunctionDecl, FunctionName, Item, ItemKind, TypeKind};
use warpsmith_front::parse::{Language, ParseOptions, parse};
use warpsmith_front::pp::{Piece, Scanner};
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use super::leftover::{constants, definitions, leftover, second_meaning};
use super::macros::Macros;
use super::metadata::{Metadata, scan};
use super::routine::compute_params;
use super::{
    Coordinate, Expr, Extent, Function, Implementation, Library, Pattern, Role, Routine, TypeId,
};

/// A parsed `NAME.cu`.
pub(super) struct Unit<'a> {
    pub name: &'a str,
    pub library: &'a Library,
    pub file: FileId,
    pub text: &'a str,
    /// Functions with bodies that stand in the file itself.
    pub functions: Vec<(String, &'a FunctionDecl, Span)>,
    pub metadata: Vec<Metadata>,
    /// Macros that are numbers.
    pub constants: HashMap<String, Expr>,
    /// Macros of the file and its headers, as text.
    pub macros: String,
}

/// Reads a function.
///
/// # Errors
/// The first layer at which something is wrong: syntax, names, metadata, signatures, types.
pub(super) fn read(
    name: &str,
    library: &Library,
    sources: &mut SourceMap,
) -> Result<Function, Vec<Diagnostic>> {
    let files = &library.files;
    let file_name = format!("{name}.cu");
    let text = files.get(&file_name).cloned().unwrap_or_default();
    let file = FileId(sources.files().count() as u32);
    let options = ParseOptions::new(Language::Cuda);
    let parsed = parse(&files.path(&file_name), text.as_bytes(), &options, files, sources)
        .map_err(in_the_folder)?;
    let metadata = scan(&text, file).map_err(|d| vec![d])?;
    let functions =
        parsed.unit.items.iter().filter_map(|item| plain_function(item, file, &text)).collect();
    let macros = definitions(&leftover(&text, &[], files).whole());
    let constants = constants(&macros);
    let unit = Unit { name, library, file, text: &text, functions, metadata, constants, macros };
    unit.each_once().map_err(|d| vec![d])?;
    let read = unit.implementations().map_err(|d| vec![d])?;
    let (mut implementations, mut signatures) = (vec![], vec![]);
    for (one, inputs, output) in read {
        implementations.push(one);
        signatures.push((inputs, output));
    }
    let Some((inputs, output)) = signatures.first().cloned() else {
        return Err(vec![
            unit.missing(&format!("cu_{name}_1"), "a kernel that names an implementation"),
        ]);
    };
    for (one, signature) in implementations.iter().zip(&signatures) {
        if *signature != (inputs.clone(), output) {
            let message = format!(
                "implementation `{}` of `{name}` has other types than the first one",
                one.name
            );
            return Err(vec![Diagnostic::error("W526", message).label(one.span, "this one")]);
        }
    }
    unit.no_sizes_in_helpers(&implementations).map_err(|d| vec![d])?;
    let (reference, taken) = unit.reference(inputs.len(), sources)?;
    let leftover = unit.leftover(taken);
    Ok(Function { name: name.into(), inputs, output, implementations, reference, leftover })
}

pub(super) fn plain_function<'u>(
    item: &'u Item,
    file: FileId,
    text: &str,
) -> Option<(String, &'u FunctionDecl, Span)> {
    let ItemKind::Function(f) = &item.kind else { return None };
    let FunctionName::Plain(path) = &f.name else { return None };
    let name = path.as_name()?.to_string();
    let span = Span { start: with_qualifiers(text, item.span.start as usize) as u32, ..item.span };
    (f.body.is_some() && item.span.file == file).then_some((name, f, span))
}

/// Where a function begins whose qualifiers stand before what the grammar takes for it.
fn with_qualifiers(text: &str, start: usize) -> usize {
    const QUALIFIERS: [&str; 9] = [
        "__device__",
        "__global__",
        "__host__",
        "__forceinline__",
        "__noinline__",
        "inline",
        "static",
        "extern",
        "\"C\"",
    ];
    let mut at = start.min(text.len());
    loop {
        let before = text[..at].trim_end();
        let Some(word) = QUALIFIERS.iter().find(|q| before.ends_with(**q)) else { return at };
        at = before.len() - word.len();
    }
}

type Read = (Implementation, Vec<TypeId>, TypeId);

impl<'a> Unit<'a> {
    pub(super) fn function(&self, name: &str) -> Option<(&'a FunctionDecl, Span)> {
        self.functions.iter().find(|(n, ..)| n == name).map(|(_, f, span)| (*f, *span))
    }

    pub(super) fn metadata(&self, subject: &str) -> Option<&Metadata> {
        self.metadata.iter().find(|m| m.subject == subject)
    }

    pub(super) fn missing(&self, name: &str, what: &str) -> Diagnostic {
        let at = Span { file: self.file, start: 0, end: 0 };
        let near = self.functions.iter().map(|(n, ..)| n.as_str()).filter(|n| close(n, name));
        let near: Vec<String> = near.map(|n| format!("`{n}`")).collect();
        let d = Diagnostic::error("W522", format!("the function `{}` has no `{name}`", self.name))
            .label(at, "missing in this file")
            .note(format!("it would be {what}"));
        match near.is_empty() {
            true => d,
            false => d.help(format!("is {} meant to be it?", near.join(" or "))),
        }
    }

    /// A macro has one meaning, and each function of the contract one body: routines are put together anew.
    fn each_once(&self) -> Result<(), Diagnostic> {
        if let Some((name, range)) = second_meaning(self.text) {
            let span = Span { file: self.file, start: range.start as u32, end: range.end as u32 };
            return Err(Diagnostic::error("W527", format!("the macro `{name}` has two meanings"))
                .label(span, "defined again here")
                .help("routines are put together anew, so that a macro means the same in all of a file: give this one another name"));
        }
        let contract = [format!("d_{}_", self.name), format!("cu_{}_", self.name)];
        let own = |n: &str| contract.iter().any(|c| n.starts_with(c));
        let reference = format!("{}_cpu", self.name);
        let mut seen = vec![];
        for (name, decl, _) in self.functions.iter().filter(|(n, ..)| own(n) || *n == reference) {
            if seen.contains(&name) {
                return Err(twice(name, decl));
            }
            seen.push(name);
        }
        Ok(())
    }

    /// The implementations, in the order of their kernels.
    fn implementations(&self) -> Result<Vec<Read>, Diagnostic> {
        let prefix = format!("cu_{}_", self.name);
        let mut all = vec![];
        for (name, decl, _) in self.functions.iter().filter(|(_, f, _)| f.attrs.global) {
            let Some(implementation) = name.strip_prefix(&prefix).filter(|i| !i.is_empty()) else {
                return Err(Diagnostic::error(
                    "W523",
                    format!("`{name}` is no kernel of `{}`", self.name),
                )
                .label(decl.head_span, format!("expected a name that begins with `{prefix}`"))
                .help("kernels are called cu_NAME_IMPL, in NAME.cu"));
            };
            all.push(self.implementation(implementation, decl)?);
        }
        self.no_strangers(&all)?;
        Ok(all)
    }

    /// Routines and metadata that belong to no implementation are misspelled.
    fn no_strangers(&self, all: &[Read]) -> Result<(), Diagnostic> {
        let known = |name: &str| {
            all.iter().any(|(one, ..)| {
                let routines = one.loads.iter().chain([&one.compute, &one.save]);
                routines
                    .map(|r| r.name.as_str())
                    .any(|n| n == name || n.strip_prefix("d_") == Some(name))
                    || name == format!("{}_{}", self.name, one.name)
            })
        };
        let prefix = format!("d_{}_", self.name);
        for (name, decl, _) in
            self.functions.iter().filter(|(n, f, _)| n.starts_with(&prefix) && !f.attrs.global)
        {
            if !known(name) {
                return Err(Diagnostic::error("W523", format!("`{name}` belongs to no implementation"))
                    .label(decl.head_span, "no kernel has such a routine")
                    .help("routines are called d_NAME_IMPL_load_K (K from 1 on), d_NAME_IMPL_compute and d_NAME_IMPL_save"));
            }
        }
        match self.metadata.iter().find(|m| !known(&m.subject)) {
            None => Ok(()),
            Some(m) => Err(Diagnostic::error(
                "W524",
                format!("metadata of `{}`, which is not in this file", m.subject),
            )
            .label(m.span, "of what?")),
        }
    }

    /// Helper functions are written once, whatever blocks there are: they know no sizes of blocks. Macros do, since they are
    /// expanded where they are used.
    fn no_sizes_in_helpers(&self, all: &[Implementation]) -> Result<(), Diagnostic> {
        let routines = all.iter().flat_map(|one| one.loads.iter().chain([&one.compute, &one.save]));
        let own: Vec<Span> =
            routines.filter_map(|r| self.function(&r.name)).map(|(_, span)| span).collect();
        let (mut directive, mut line_begins) = (false, true);
        for (piece, range) in Scanner::new(self.text, true) {
            match piece {
                Piece::Newline => {
                    (directive, line_begins) = (false, true);
                    continue;
                }
                Piece::Other(b'#') if line_begins => directive = true,
                _ => {}
            }
            line_begins = false;
            let at = range.start as u32;
            let inside = own.iter().any(|s| (s.start..s.end).contains(&at));
            let word = &self.text[range.clone()];
            let is_size = |one: &Implementation| is_contract(word, &one.compute.macros);
            if piece == Piece::Word && !directive && !inside && all.iter().any(is_size) {
                let span = Span { file: self.file, start: at, end: range.end as u32 };
                let what = format!("a helper function cannot use `{word}`");
                return Err(Diagnostic::error("W523", what)
                    .label(span, "it has another value in each block")
                    .help("give it to the helper as an argument, or make the helper a macro"));
            }
        }
        Ok(())
    }

    fn implementation(
        &self,
        implementation: &str,
        kernel: &FunctionDecl,
    ) -> Result<Read, Diagnostic> {
        let stem = format!("{}_{implementation}", self.name);
        let (inputs, output) = self.kernel_types(kernel)?;
        let Some(metadata) = self.metadata(&stem) else {
            return Err(Diagnostic::error(
                "W524",
                format!("the kernel `cu_{stem}` has no metadata"),
            )
            .label(kernel.head_span, "no comment `/*# … metadata` before it")
            .help(format!(
                "write `/*# {stem} metadata` with GX, GY, GZ, BX, BY, BZ and BATCH before it"
            )));
        };
        let count = inputs.len();
        only_known_keys(metadata, count)?;
        let grid = three(metadata, ["GX", "GY", "GZ"])?;
        let block = three(metadata, ["BX", "BY", "BZ"])?;
        let batch = metadata.extent("BATCH")?;
        let loads = self.loads(&stem)?;
        let load_of = self.load_of(&stem, &inputs, &loads, kernel)?;
        let compute = self.compute(&stem, count, metadata)?;
        let save = self.moving(&format!("d_{stem}_save"), Role::Save, &stem)?;
        if save.data_type != Some(output) {
            let given = save.data_type.map_or("?", |t| self.library.type_name(t));
            return Err(self.types_differ(&save, given, self.library.type_name(output), "gives"));
        }
        let one = Implementation {
            name: implementation.into(),
            grid,
            block,
            batch,
            load_of,
            loads,
            compute,
            save,
            span: metadata.span,
        };
        Ok((one, inputs, output))
    }

    /// Types of the inputs and the output, from the parameters of the empty kernel.
    fn kernel_types(&self, kernel: &FunctionDecl) -> Result<(Vec<TypeId>, TypeId), Diagnostic> {
        let mut types = vec![];
        for param in &kernel.params {
            let name = match &param.ty.kind {
                TypeKind::Named(path) => path.as_name().unwrap_or(""),
                _ => "",
            };
            let exact = self.library.type_names().iter().position(|n| *n == name);
            let Some(id) = exact else {
                return Err(Diagnostic::error(
                    "W526",
                    "a kernel's parameters are element types".to_string(),
                )
                .label(param.span, "no element type")
                .help(format!("the library has {}", self.library.type_names().join(", "))));
            };
            types.push(TypeId(id));
        }
        match types.pop() {
            Some(output) if !types.is_empty() => Ok((types, output)),
            _ => Err(Diagnostic::error(
                "W523",
                "a kernel has at least one input, and then the output",
            )
            .label(kernel.head_span, "too few parameters")),
        }
    }

    pub(super) fn routine(
        &self,
        name: &str,
        role: Role,
        stem: &str,
        what: &str,
    ) -> Result<(Routine, &'a FunctionDecl), Diagnostic> {
        let Some((decl, span)) = self.function(name) else { return Err(self.missing(name, what)) };
        if !decl.attrs.device || decl.template.is_some() {
            return Err(Diagnostic::error(
                "W523",
                format!("`{name}` is no plain `__device__` function"),
            )
            .label(decl.head_span, "here"));
        }
        if let Some(ret) = decl.ret.as_ref().filter(|r| r.kind != TypeKind::Void) {
            return Err(Diagnostic::error("W523", format!("`{name}` returns something"))
                .label(ret.span, "expected `void`"));
        }
        let names = decl.params.iter().map(|p| p.name.clone().unwrap_or_default()).collect();
        let macros = stem.to_ascii_uppercase();
        let text = &self.text[span.start as usize..span.end as usize];
        let names: Vec<String> = names;
        let is_own = |word: &str| is_contract(word, &macros) || names.iter().any(|n| n == word);
        let text = Macros::of(&self.macros, &is_own).expand(text);
        let routine = Routine {
            name: name.into(),
            role,
            macros,
            params: vec![],
            names,
            data_type: None,
            patterns: vec![],
            text,
            span: decl.head_span,
        };
        Ok((routine, decl))
    }

    /// The pattern of a key. Macros of the file and of headers that it includes are put in.
    pub(super) fn pattern(
        &self,
        metadata: &Metadata,
        key: &str,
    ) -> Result<Option<Pattern>, Diagnostic> {
        let Some(line) = metadata.line(key) else { return Ok(None) };
        let pattern = Pattern::parse(&line.value, line.span)?;
        // Sizes of blocks are the generator's to say, whatever a file defines for itself.
        let is_size = |name: &str| ["BX", "BY", "BZ"].iter().any(|size| name.ends_with(size));
        let known = |name: &str| {
            let own = Coordinate::named(name).is_some() || is_size(name);
            self.constants.get(name).filter(|_| !own).cloned()
        };
        Ok(Some(pattern.with(&known)))
    }

    fn compute(
        &self,
        stem: &str,
        inputs: usize,
        metadata: &Metadata,
    ) -> Result<Routine, Diagnostic> {
        let name = format!("d_{stem}_compute");
        let (mut routine, decl) =
            self.routine(&name, Role::Compute, stem, "what computes the result")?;
        routine.params = compute_params(decl, &name, inputs)?;
        let keys = (0..inputs).map(|k| format!("INPATTERN {k}")).chain(["OUTPATTERN".to_string()]);
        routine.patterns =
            keys.map(|key| self.pattern(metadata, &key)).collect::<Result<_, _>>()?;
        Ok(routine)
    }
}

/// Refuses keys that a kernel with so many inputs has not.
///
/// # Errors
/// W524.
fn only_known_keys(metadata: &Metadata, inputs: usize) -> Result<(), Diagnostic> {
    let known = |key: &str| {
        let input = key.strip_prefix("INPATTERN ").and_then(|k| k.parse::<usize>().ok());
        matches!(key, "GX" | "GY" | "GZ" | "BX" | "BY" | "BZ" | "BATCH" | "OUTPATTERN")
            || input.is_some_and(|k| k < inputs)
    };
    metadata.only(
        &known,
        "GX, GY, GZ, BX, BY, BZ, BATCH, OUTPATTERN and INPATTERN with the number of an input",
    )
}

/// Three sizes, of which at most one is free.
///
/// # Errors
/// W524.
fn three(metadata: &Metadata, [x, y, z]: [&str; 3]) -> Result<[Extent; 3], Diagnostic> {
    let all = [metadata.extent(x)?, metadata.extent(y)?, metadata.extent(z)?];
    match all.iter().filter(|e| matches!(e, Extent::Free { .. })).count() {
        0 | 1 => Ok(all),
        _ => {
            let what = format!("more than one of {x}, {y} and {z} is `size`");
            Err(Diagnostic::error("W524", what).label(metadata.span, "in these metadata"))
        }
    }
}

/// Words that the generator puts in: sizes of an implementation's block, and starts of patterns.
fn is_contract(word: &str, macros: &str) -> bool {
    let size = word.strip_prefix(macros).is_some_and(|w| matches!(w, "_BX" | "_BY" | "_BZ"));
    let input = word.strip_prefix("APIN").and_then(|k| k.parse::<u32>().ok());
    size || input.is_some() || matches!(word, "APLS" | "APOUT")
}

/// Errors of reading a file, where headers are sought in the library's folder only.
pub(super) fn in_the_folder(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for d in &mut errors {
        if d.help.iter().any(|h| h.contains("-I")) {
            d.help = vec!["headers of a library stand in its folder".into()];
        }
    }
    errors
}

/// The error about a second definition.
pub(super) fn twice(name: &str, decl: &FunctionDecl) -> Diagnostic {
    Diagnostic::error("W523", format!("`{name}` is defined twice"))
        .label(decl.head_span, "again here")
        .help("keep one of them, or give one another name")
}

/// Whether a name may be a misspelling of another.
fn close(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    common + 4 >= a.len().max(b.len()) && a.len().abs_diff(b.len()) <= 3
}
