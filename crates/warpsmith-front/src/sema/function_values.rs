//! Functions used as values: `reduce(tile, x, combine)`, `map<square>(…)`.
//!
//! The value is an empty object whose type says which functions are meant, so that every call is resolved when it is
//! lowered. It becomes a number where a pointer is declared, see [`super::function_pointers`].

use warpsmith_ir::{Span, StructId, Type};

use super::Sema;
use super::model::*;

/// Begins the names of functions of the prelude that stand for those of the library as values.
pub(super) const AS_VALUE: &str = "valueOf_";

impl<'a> Sema<'a> {
    /// The type that stands for functions of one name; the same one for the same functions.
    pub(crate) fn function_type(
        &mut self,
        name: &str,
        fns: &[FnDecl<'a>],
        args: Option<&[TArg]>,
    ) -> StructId {
        let key = fns.first().map_or(0, FnDecl::key);
        let known = self.function_types.iter().find(|(k, a, _)| *k == key && a.as_deref() == args);
        if let Some((_, _, id)) = known {
            return *id;
        }
        let span = fns.first().map_or(self.f().span, |f| f.decl.head_span);
        let id = self.new_struct(name, span);
        let scope = self.new_scope(Some(self.root), ScopeKind::Class(id));
        let name = name.trim_start_matches(AS_VALUE);
        let function = FunctionValue {
            name: name.to_string(),
            fns: fns.to_vec(),
            args: args.map(<[TArg]>::to_vec),
        };
        let info = ClassInfo {
            name: name.to_string(),
            decl: None,
            scope,
            fields: vec![],
            bases: vec![],
            ctors: vec![],
            conversions: vec![],
            destructor: None,
            numbered: false,
            template: None,
            lambda: None,
            function: Some(function),
            complete: true,
        };
        self.classes.insert(id, info);
        self.function_types.push((key, args.map(<[TArg]>::to_vec), id));
        id
    }

    /// A function of the run-time library that is no more than a name for the lowerer, as the one that stands in for it where
    /// it is a value; any other operand as it is.
    pub(crate) fn as_value(&mut self, operand: Operand<'a>) -> Operand<'a> {
        self.function_of_library(&operand).unwrap_or(operand)
    }

    pub(crate) fn function_of_library(&self, operand: &Operand<'a>) -> Option<Operand<'a>> {
        let Operand::Foreign { names, args } = operand else { return None };
        let (name, fns) = self.library_value(self.f_scope(), names).filter(|_| args.is_empty())?;
        Some(Operand::Functions { name, fns, args: None, object: None })
    }

    /// The functions of the prelude that stand in for one of the library, and their name.
    pub(crate) fn library_value(
        &self,
        scope: ScopeId,
        names: &[String],
    ) -> Option<(String, Vec<FnDecl<'a>>)> {
        let name = format!("{AS_VALUE}{}", names.first()?.trim_start_matches("std::"));
        let fns = super::expr::functions(&self.lookup(scope, &name));
        (!fns.is_empty()).then_some((name, fns))
    }

    /// The functions that an operand names or stands for.
    pub(crate) fn functions_of(&mut self, operand: Operand<'a>) -> Option<FunctionValue<'a>> {
        if let Operand::Functions { name, fns, args, .. } = operand {
            return Some(FunctionValue { name, fns, args });
        }
        let q = self.operand_type(&operand)?;
        self.function_of(&q.ty)
    }

    /// The functions that a type stands for.
    pub(crate) fn function_of(&self, ty: &Type) -> Option<FunctionValue<'a>> {
        self.class(self.is_class(ty)?).function.clone()
    }

    pub(crate) fn call_function_value(
        &mut self,
        f: &FunctionValue<'a>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> Res<Operand<'a>> {
        let chosen =
            self.resolve_overload(&f.name, &f.fns, f.args.as_deref(), None, &args, span)?;
        self.call_chosen(chosen, None, args, span)
    }
}
