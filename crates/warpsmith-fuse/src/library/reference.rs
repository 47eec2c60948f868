//! The CPU reference of a function, and what else stands in its file.

use std::ops::Range;
use std::path::PathBuf;

use warpsmith_front::ast::{FunctionDecl, TypeKind};
use warpsmith_front::parse::{Language, ParseOptions, parse};
use warpsmith_ir::{Diagnostic, FileId, SourceMap, Span};

use super::Reference;
use super::function::{Unit, in_the_folder, plain_function, twice};
use super::leftover::{Leftover, definitions, leftover};

impl Unit<'_> {
    /// The CPU reference, and what of this file it takes.
    pub(super) fn reference(
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
            parse(&path, text.as_bytes(), &ParseOptions::new(Language::Cuda), files, sources)
                .map_err(in_the_folder)?;
        let all = parsed.unit.items.iter().filter_map(|i| plain_function(i, file, text));
        let mut found = all.filter(|(n, ..)| *n == name);
        let (first, second) = (found.next(), found.next());
        if let Some((_, decl, _)) = second {
            return Err(vec![twice(&name, decl)]);
        }
        let Some((_, decl, _)) = first else {
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

    pub(super) fn leftover(&self, reference: Option<Range<usize>>) -> Leftover {
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
