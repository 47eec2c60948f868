//! One function of the library: its file read, its routines found by name, everything checked against the contract.

use std::ops::Range;
use std::path::PathBuf;

use warpsmith_front::ast::{FunctionDecl, FunctionName, Item, ItemKind, TypeKind};
use warpsmith_front::parse::{Language, ParseOptions, parse};
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use super::leftover::{Leftover, definitions, leftover};
use super::metadata::{Metadata, scan};
use super::routine::{compute_params, move_params};
use super::{Function, Implementation, Library, Pattern, Reference, Role, Routine, TypeId};

/// A parsed `NAME.cu`.
struct Unit<'a> {
    name: &'a str,
    library: &'a Library,
    file: FileId,
    text: &'a str,
    /// Functions with bodies that stand in the file itself.
    functions: Vec<(String, &'a FunctionDecl, Span)>,
    metadata: Vec<Metadata>,
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
    let parsed = parse(&files.path(&file_name), text.as_bytes(), &options, files, sources)?;
    let metadata = scan(&text, file).map_err(|d| vec![d])?;
    let functions =
        parsed.unit.items.iter().filter_map(|item| plain_function(item, file, &text)).collect();
    let unit = Unit { name, library, file, text: &text, functions, metadata };
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
    let (reference, taken) = unit.reference(inputs.len(), sources)?;
    let leftover = unit.leftover(taken);
    Ok(Function { name: name.into(), inputs, output, implementations, reference, leftover })
}

fn plain_function<'u>(
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
    fn function(&self, name: &str) -> Option<(&'a FunctionDecl, Span)> {
        self.functions.iter().find(|(n, ..)| n == name).map(|(_, f, span)| (*f, *span))
    }

    fn metadata(&self, subject: &str) -> Option<&Metadata> {
        self.metadata.iter().find(|m| m.subject == subject)
    }

    fn missing(&self, name: &str, what: &str) -> Diagnostic {
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
        let known = |key: &str| {
            matches!(key, "GX" | "GY" | "GZ" | "BX" | "BY" | "BZ" | "BATCH" | "OUTPATTERN")
                || key
                    .strip_prefix("INPATTERN ")
                    .and_then(|k| k.parse::<usize>().ok())
                    .is_some_and(|k| k < count)
        };
        metadata.only(
            &known,
            "GX, GY, GZ, BX, BY, BZ, BATCH, OUTPATTERN and INPATTERN with the number of an input",
        )?;
        let three = |names: [&str; 3]| -> Result<_, Diagnostic> {
            let [x, y, z] = names;
            let all = [metadata.extent(x)?, metadata.extent(y)?, metadata.extent(z)?];
            let free = all.iter().filter(|e| matches!(e, super::Extent::Free { .. })).count();
            match free {
                0 | 1 => Ok(all),
                _ => Err(Diagnostic::error(
                    "W524",
                    format!("more than one of {x}, {y} and {z} is `size`"),
                )
                .label(metadata.span, "in these metadata")),
            }
        };
        let grid = three(["GX", "GY", "GZ"])?;
        let block = three(["BX", "BY", "BZ"])?;
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

    fn types_differ(&self, routine: &Routine, moves: &str, other: &str, does: &str) -> Diagnostic {
        Diagnostic::error(
            "W526",
            format!("`{}` moves a `{moves}`, but the kernel {does} a `{other}`", routine.name),
        )
        .label(routine.span, "types do not agree")
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

    fn loads(&self, stem: &str) -> Result<Vec<Routine>, Diagnostic> {
        let mut loads = vec![];
        loop {
            let name = format!("d_{stem}_load_{}", loads.len() + 1);
            if self.function(&name).is_none() {
                break;
            }
            loads.push(self.moving(&name, Role::Load, stem)?);
        }
        match loads.is_empty() {
            false => Ok(loads),
            true => Err(self.missing(&format!("d_{stem}_load_1"), "the load of its first input")),
        }
    }

    /// The load that serves each input: that of its number, or, where there are fewer, the one of its type.
    fn load_of(
        &self,
        stem: &str,
        inputs: &[TypeId],
        loads: &[Routine],
        kernel: &FunctionDecl,
    ) -> Result<Vec<usize>, Diagnostic> {
        if loads.len() > inputs.len() {
            let extra = &loads[inputs.len()];
            return Err(Diagnostic::error(
                "W523",
                format!("`{}` is a load without an input", extra.name),
            )
            .label(extra.span, "one too many")
            .label(kernel.head_span, format!("{} inputs", inputs.len())));
        }
        let serve = |(k, ty): (usize, &TypeId)| {
            let fits = |l: &Routine| l.data_type == Some(*ty);
            if loads.len() == inputs.len() && !fits(&loads[k]) {
                let moves = loads[k].data_type.map_or("?", |t| self.library.type_name(t));
                let takes = self.library.type_name(*ty);
                return Err(self.types_differ(&loads[k], moves, takes, "takes"));
            }
            let own = loads.get(k).is_some_and(fits).then_some(k);
            let other = || loads.iter().position(fits);
            own.or_else(other).ok_or_else(|| {
                let what =
                    format!("a load of a `{}` for input {}", self.library.type_name(*ty), k + 1);
                self.missing(&format!("d_{stem}_load_{}", k + 1), &what)
            })
        };
        inputs.iter().enumerate().map(serve).collect()
    }

    fn routine(
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
        let text = self.text[span.start as usize..span.end as usize].to_string();
        let routine = Routine {
            name: name.into(),
            role,
            macros: stem.to_ascii_uppercase(),
            params: vec![],
            names,
            data_type: None,
            patterns: vec![],
            text,
            span: decl.head_span,
        };
        Ok((routine, decl))
    }

    fn moving(&self, name: &str, role: Role, stem: &str) -> Result<Routine, Diagnostic> {
        let what = if role == Role::Load { "a load of an input" } else { "what saves the result" };
        let (mut routine, decl) = self.routine(name, role, stem, what)?;
        let subject = name.strip_prefix("d_").unwrap_or(name);
        let metadata = self.metadata(subject);
        if let Some(metadata) = metadata {
            let known = |key: &str| {
                matches!(key, "Data type" | "Data location" | "Other parameters" | "LSPATTERN")
            };
            metadata.only(&known, "Data type, Data location, Other parameters and LSPATTERN")?;
            let location = metadata.line("Data location").filter(|l| l.value != "shared");
            if let Some(location) = location {
                let what = format!("data cannot be in `{}`", location.value);
                return Err(
                    Diagnostic::error("W524", what).label(location.span, "expected `shared`")
                );
            }
        }
        routine.params = move_params(decl, name, role, metadata)?;
        routine.data_type = Some(self.moved_type(name, role, decl, metadata)?);
        let pattern = metadata.map(|m| self.pattern(m, "LSPATTERN")).transpose()?;
        routine.patterns = vec![pattern.flatten()];
        Ok(routine)
    }

    /// The type that a load or save moves: that of its array in global memory, and what the metadata say, where they say it.
    fn moved_type(
        &self,
        name: &str,
        role: Role,
        decl: &FunctionDecl,
        metadata: Option<&Metadata>,
    ) -> Result<TypeId, Diagnostic> {
        let array = &decl.params[if role == Role::Load { 0 } else { 1 }];
        let library = self.library;
        let taken = match &array.ty.kind {
            TypeKind::Named(path) => Some(path.as_name().and_then(|n| library.find_type(n))),
            _ => None,
        };
        let unknown = |span: Span, what: String| {
            let d = Diagnostic::error("W526", what).label(span, "unknown type");
            d.help(format!("the library has {}", library.type_names().join(", ")))
        };
        let Some(line) = metadata.and_then(|m| m.line("Data type")) else {
            let nothing = "nothing says which element type `float *` is";
            return match taken {
                Some(Some(ty)) => Ok(ty),
                Some(None) => Err(unknown(array.span, format!("`{name}` moves no element type"))),
                None => Err(Diagnostic::error("W524", format!("`{name}` has no `Data type`"))
                    .label(array.span, nothing)
                    .help("name the type here, or in metadata before the routine")),
            };
        };
        let Some(said) = library.find_type(&line.value) else {
            return Err(unknown(line.span, format!("`{}` is no type of the library", line.value)));
        };
        if taken.is_none_or(|taken| taken == Some(said)) {
            return Ok(said);
        }
        let moves = library.type_name(said);
        let what = format!("`{name}` moves a `{moves}` by its metadata, but takes another type");
        Err(Diagnostic::error("W526", what)
            .label(array.span, format!("not a `{moves}`"))
            .label(line.span, "said here"))
    }

    fn pattern(&self, metadata: &Metadata, key: &str) -> Result<Option<Pattern>, Diagnostic> {
        metadata.line(key).map(|line| Pattern::parse(&line.value, line.span)).transpose()
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

    /// The CPU reference, and what of this file it takes.
    fn reference(
        &self,
        inputs: usize,
        sources: &mut SourceMap,
    ) -> Result<(Reference, Option<Range<usize>>), Vec<Diagnostic>> {
        let name = format!("{}_cpu", self.name);
        if let Some((decl, span)) = self.function(&name) {
            self.check_reference(decl, &name, inputs).map_err(|d| vec![d])?;
            let range = span.start as usize..span.end as usize;
            let path = PathBuf::from(self.library.files.path(&format!("{}.cu", self.name)));
            let own = self.leftover(Some(range.clone()));
            let hosts = self.functions.iter().filter(|(n, f, _)| *n != name && is_of_host(f));
            let hosts = hosts.map(|(.., s)| &self.text[s.start as usize..s.end as usize]);
            let function = &self.text[range.clone()];
            let functions: String = hosts.chain([function]).map(|f| format!("{f}\n")).collect();
            let source =
                Leftover { text: format!("{}{functions}", own.text), headers: own.headers };
            // What the device uses, too, is in the emitted file already; macros have been taken back there.
            let beside_kernels = format!("{}{functions}", definitions(&own.text));
            let (beside_implementations, span) = (true, decl.head_span);
            let reference =
                Reference { path, source, beside_kernels, beside_implementations, span };
            return Ok((reference, Some(range)));
        }
        let files = &self.library.files;
        let file_name = format!("{}.cpp", self.name);
        let what = "the reference on the CPU, in `NAME.cpp` or in this file";
        let Some(text) = files.get(&file_name) else { return Err(vec![self.missing(&name, what)]) };
        let file = FileId(sources.files().count() as u32);
        let path = files.path(&file_name);
        let parsed =
            parse(&path, text.as_bytes(), &ParseOptions::new(Language::Cuda), files, sources)?;
        let found = parsed
            .unit
            .items
            .iter()
            .filter_map(|i| plain_function(i, file, text))
            .find(|(n, ..)| *n == name);
        let Some((_, decl, _)) = found else {
            return Err(vec![
                Diagnostic::error("W522", format!("the function `{}` has no `{name}`", self.name))
                    .label(Span { file, start: 0, end: 0 }, "missing in this file")
                    .note("it would be the reference on the CPU"),
            ]);
        };
        self.check_reference(decl, &name, inputs).map_err(|d| vec![d])?;
        let source = leftover(text, &[], files);
        let beside_kernels = source.text.clone();
        let path = PathBuf::from(path);
        let (beside_implementations, span) = (false, decl.head_span);
        Ok((Reference { path, source, beside_kernels, beside_implementations, span }, None))
    }

    fn check_reference(
        &self,
        decl: &FunctionDecl,
        name: &str,
        inputs: usize,
    ) -> Result<(), Diagnostic> {
        let pointers = decl.params.iter().all(|p| super::types::is_float_pointer(&p.ty));
        let void = decl.ret.as_ref().is_some_and(|r| r.kind == TypeKind::Void);
        if pointers && void && decl.params.len() == inputs + 1 {
            return Ok(());
        }
        Err(Diagnostic::error(
            "W523",
            format!("`{name}` is no reference of a function with {inputs} inputs"),
        )
        .label(decl.head_span, "not the contract's signature")
        .help("write `void NAME_cpu(const float *in0, …, float *out)`"))
    }

    fn leftover(&self, reference: Option<Range<usize>>) -> Leftover {
        let contract = [format!("d_{}_", self.name), format!("cu_{}_", self.name)];
        let own = self.functions.iter().filter(|(n, ..)| contract.iter().any(|c| n.starts_with(c)));
        // Nothing on the device calls a function of the host.
        let hosts = self.functions.iter().filter(|(_, f, _)| is_of_host(f));
        let ranges = own.chain(hosts).map(|(_, _, span)| span.start as usize..span.end as usize);
        let taken: Vec<Range<usize>> = ranges.chain(reference).collect();
        leftover(self.text, &taken, &self.library.files)
    }
}

fn is_of_host(f: &FunctionDecl) -> bool {
    !f.attrs.device && !f.attrs.global
}

/// Whether a name may be a misspelling of another.
fn close(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    common + 4 >= a.len().max(b.len()) && a.len().abs_diff(b.len()) <= 3
}
