//! The clauses of a mark: names become variables, and what cannot be honoured is refused.

use warpsmith_ir::{Diagnostic, Parallel, ReduceOp, Reduction, Scalar, Span, Type, VarId};

use super::cx::{ArrayReduction, Binding, Cx, Low};
use super::pragma::{Clauses, Item, Section, Token};
use super::types;

impl<'u> Cx<'u> {
    /// What the clauses say, with the reductions of the regions around; arrays that are reduced are apart. `counter` is
    /// the loop's own variable, which is private by definition and may be listed though the loop declares it.
    pub fn parallel_of(
        &mut self,
        clauses: &Clauses,
        counter: Option<&str>,
        mark: Span,
    ) -> Low<(Parallel, Vec<ArrayReduction>)> {
        let independent = clauses.independent;
        let mut p = Parallel { origin: mark.into(), independent, ..Parallel::default() };
        let mut arrays = vec![];
        let mut failed = None;
        for (op, item) in &clauses.reductions {
            match self.reduction(*op, item) {
                Ok(r) if self.is_array(&r, item) => {
                    arrays.push(ArrayReduction { op: r.op, var: r.var, span: item.name.span });
                }
                Ok(r) => p.reductions.push(r),
                Err(reported) => failed = Some(reported),
            }
        }
        for (list, into) in [
            (&clauses.private, &mut p.private),
            (&clauses.first_private, &mut p.first_private),
            (&clauses.last_private, &mut p.last_private),
        ] {
            for item in list.iter().filter(|i| Some(i.name.text.as_str()) != counter) {
                // Every thread's own copy of a pointer leads to the same array.
                if std::ptr::eq(list, &clauses.first_private) && self.is_plain_pointer(item)? {
                    continue;
                }
                match self.listed(item) {
                    Ok(v) => into.push(v),
                    Err(reported) => failed = Some(reported),
                }
            }
        }
        for name in clauses.mentioned.iter().filter(|n| Some(n.text.as_str()) != counter) {
            if let Err(reported) = self.exists(name) {
                failed = Some(reported);
            }
        }
        if let Some(reported) = failed {
            return Err(reported);
        }
        for r in &self.regions {
            merge(&mut p, &r.clauses);
            arrays.extend(&r.arrays);
        }
        Ok((p, arrays))
    }

    fn is_array(&self, r: &Reduction, item: &Item) -> bool {
        item.section == Section::Elements || matches!(self.var_type(r.var), Type::Array(..))
    }

    /// The variable a clause names.
    fn clause_variable(&mut self, name: &Token) -> Low<VarId> {
        match self.lookup_quietly(&name.text)? {
            Some(Binding::Var(id)) => Ok(id),
            Some(_) => {
                let d = Diagnostic::error(
                    "W135",
                    format!("`{}` is no variable of the function", name.text),
                )
                .label(name.span, "named in this clause");
                Err(self.fail(d))
            }
            None => Err(self.unknown_name(name)),
        }
    }

    fn unknown_name(&mut self, name: &Token) -> super::cx::Reported {
        let mut d = Diagnostic::error(
            "W135",
            format!("`{}` is not declared before this pragma", name.text),
        )
        .label(name.span, "unknown variable");
        let known = self.names_in_scope();
        if let Some(near) = crate::spelling::nearest(&name.text, known.iter().map(String::as_str)) {
            d = d.help(format!("did you mean `{near}`?"));
        }
        self.fail(d)
    }

    fn exists(&mut self, name: &Token) -> Low<()> {
        let known = self.lookup_quietly(&name.text)?.is_some()
            || self.unit.function(&name.text).is_some()
            || crate::header_constants::constant(&name.text).is_some()
            || name.text.starts_with("omp_");
        if known { Ok(()) } else { Err(self.unknown_name(name)) }
    }

    fn is_plain_pointer(&mut self, item: &Item) -> Low<bool> {
        Ok(match self.lookup_quietly(&item.name.text)? {
            Some(Binding::Var(id)) => {
                item.section == Section::Whole && self.var_type(id).is_pointer()
            }
            _ => false,
        })
    }

    fn listed(&mut self, item: &Item) -> Low<VarId> {
        let id = self.clause_variable(&item.name)?;
        if item.section != Section::Whole || self.var_type(id).is_pointer() {
            let d = Diagnostic::error(
                "W136",
                format!("`{}` is a pointer to shared memory", item.name.text),
            )
            .label(item.name.span, "named in this clause");
            return Err(self.fail(d.help("declare a private array inside the loop")));
        }
        Ok(id)
    }

    fn reduction(&mut self, op: ReduceOp, item: &Item) -> Low<Reduction> {
        let var = self.clause_variable(&item.name)?;
        let name = &item.name.text;
        let ty = self.var_type(var).clone();
        let scalar = match (&ty, item.section) {
            (Type::Scalar(s), Section::Whole) => *s,
            (Type::Pointer { pointee, .. }, Section::One | Section::Elements) => {
                pointee.scalar().unwrap_or(Scalar::I32)
            }
            (Type::Array(..), _) => ty.innermost().scalar().unwrap_or(Scalar::I32),
            (Type::Scalar(_), _) => {
                let d = Diagnostic::error("W136", format!("`{name}` is a scalar, not an array"))
                    .label(item.name.span, "this section");
                return Err(self.fail(d.help(format!("write `{name}`"))));
            }
            (Type::Pointer { .. }, Section::Whole) => {
                let d = Diagnostic::error("W136", format!("`{name}` is a pointer, not a number"))
                    .label(item.name.span, "named in this clause");
                return Err(self.fail(d.help(format!(
                    "write `{name}[:1]` to reduce to the value behind it, `{name}[:n]` for n elements"
                ))));
            }
            _ => {
                let d = Diagnostic::error("W136", format!("`{name}` is no number"))
                    .label(item.name.span, "named in this clause");
                return Err(self.fail(d.help("reduce to numbers, or to arrays of them")));
            }
        };
        let bits = matches!(op, ReduceOp::BitAnd | ReduceOp::BitOr | ReduceOp::BitXor);
        if bits && scalar.is_float() {
            let message = format!(
                "`{name}` is a `{}`, and this operator needs an integer",
                types::c_name(&Type::Scalar(scalar))
            );
            return Err(self.error("W136", message, item.name.span, "named in this clause"));
        }
        Ok(Reduction { op, var })
    }
}

/// Adds the reductions of a region around to those of a loop inside it. Its private variables belong to the threads
/// for the whole region: what that means for the loop, the loop's body says.
fn merge(loop_clauses: &mut Parallel, region: &Parallel) {
    for r in &region.reductions {
        if !loop_clauses.reductions.iter().any(|own| own.var == r.var) {
            loop_clauses.reductions.push(r.clone());
        }
    }
}
