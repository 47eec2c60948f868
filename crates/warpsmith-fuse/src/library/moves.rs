//! Loads and saves of a function's implementations.

use warpsmith_front::ast::{FunctionDecl, TypeKind};
use warpsmith_ir::{Diagnostic, Span};

use super::function::Unit;
use super::metadata::Metadata;
use super::routine::move_params;
use super::{Role, Routine, TypeId};

impl Unit<'_> {
    pub(super) fn loads(&self, stem: &str) -> Result<Vec<Routine>, Diagnostic> {
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
    pub(super) fn load_of(
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

    pub(super) fn moving(&self, name: &str, role: Role, stem: &str) -> Result<Routine, Diagnostic> {
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

    pub(super) fn types_differ(
        &self,
        routine: &Routine,
        moves: &str,
        other: &str,
        does: &str,
    ) -> Diagnostic {
        Diagnostic::error(
            "W526",
            format!("`{}` moves a `{moves}`, but the kernel {does} a `{other}`", routine.name),
        )
        .label(routine.span, "types do not agree")
    }
}
