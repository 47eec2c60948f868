//! Specialisations of class templates whose primary template the text does not have: `namespace std { template <> struct
//! hash<Key> {…}; }`. For other arguments the library's own is meant.

use warpsmith_ir::{Span, StructId};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// A class that is no template, or the specialisation that fits the arguments.
    pub(super) fn class_without_primary(
        &mut self,
        decls: &[(&'a ast::StructDecl, ScopeId)],
        args: Option<Vec<TArg>>,
        span: Span,
    ) -> Res<StructId> {
        let Some(&(decl, scope)) = decls.first() else {
            return fail("W052", span, "this is no class");
        };
        let Some(args) = args else { return self.class_instance(decl, scope, vec![], span) };
        let Some((chosen, inner)) = self.best_specialisation(decls, &args, span)? else {
            let name = decl.name.as_deref().unwrap_or("this class");
            return fail("W056", span, format!("`{name}` is no template"));
        };
        let key = (std::ptr::from_ref(chosen) as usize, scope, args.clone());
        if let Some(id) = self.class_memo.get(&key) {
            return Ok(*id);
        }
        let id = self.new_class(chosen, inner, Some(args), chosen.span);
        self.class_memo.insert(key, id);
        self.define_class(id, chosen, span)?;
        Ok(id)
    }

    /// What a namespace says of a name. Nothing where that is specialisations for other arguments, of a template that only
    /// the library has.
    pub(super) fn named_in(
        &mut self,
        id: ScopeId,
        scope: ScopeId,
        segment: &'a ast::PathSegment,
        span: Span,
    ) -> Res<Vec<Entity<'a>>> {
        let found = self.lookup_in(id, &segment.name);
        let decls = classes(&found);
        let only = !decls.is_empty() && decls.iter().all(|(d, _)| d.specialisation.is_some());
        let Some(list) = segment.args.as_ref().filter(|_| only && self.library(id).is_some())
        else {
            return Ok(found);
        };
        let args = self.resolve_args(scope, list)?;
        let fits = self.best_specialisation(&decls, &args, span)?.is_some();
        Ok(if fits { found } else { vec![] })
    }
}

/// Those of the entities that are classes.
pub(super) fn classes<'a>(entities: &[Entity<'a>]) -> Vec<(&'a ast::StructDecl, ScopeId)> {
    let class = |e: &Entity<'a>| match e {
        Entity::Class { decl, scope } => Some((*decl, *scope)),
        _ => None,
    };
    entities.iter().filter_map(class).collect()
}

/// Whether a declaration is that of a template itself.
pub(super) fn is_primary(d: &ast::StructDecl) -> bool {
    d.specialisation.is_none() && d.template.as_ref().is_some_and(|t| !t.params.is_empty())
}
