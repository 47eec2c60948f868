//! Static data members that are defined outside of their class: `int G::n = 40;`, `template <class T> int R<T>::n = 3;`.

use std::collections::HashMap;

use super::Sema;
use super::model::*;
use crate::ast;

/// A variable that is declared with the name of a class or namespace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Qualified<'a> {
    decl: &'a ast::VarDecl,
    item: &'a ast::Declarator,
    of: &'a ast::PathSegment,
    scope: ScopeId,
}

/// Definitions by class and member.
pub(crate) type StaticMembers<'a> = HashMap<(String, String), Vec<Qualified<'a>>>;

impl<'a> Sema<'a> {
    /// `int G::n = 40;`: the definition of a member, or of a variable that a namespace declares.
    pub(crate) fn declare_qualified(
        &mut self,
        scope: ScopeId,
        decl: &'a ast::VarDecl,
        item: &'a ast::Declarator,
        of: &'a ast::PathSegment,
    ) {
        let found = self.lookup(scope, &of.name).into_iter().find_map(|e| match e {
            Entity::Namespace(id) => Some(id),
            _ => None,
        });
        if let Some(scope) = found {
            let entity = Entity::Lazy { decl, item, scope };
            self.scope_mut(scope).names.insert(item.name.clone(), vec![entity]);
            return;
        }
        let key = (of.name.clone(), item.name.clone());
        self.static_members.entry(key).or_default().push(Qualified { decl, item, of, scope });
    }

    /// The definition of a static member, and where its names are looked up; without one, what the class says.
    pub(crate) fn member_definition(
        &mut self,
        item: &'a ast::Declarator,
        scope: ScopeId,
    ) -> Res<(&'a ast::Declarator, ScopeId)> {
        let ScopeKind::Class(class) = self.scope(scope).kind else { return Ok((item, scope)) };
        let name = self.class(class).decl.and_then(|d| d.name.clone());
        let key = (name.unwrap_or_default(), item.name.clone());
        let mut all = self.static_members.get(&key).cloned().unwrap_or_default();
        let own = self.class(class).template.clone().map(|(_, args)| args).unwrap_or_default();
        // A definition for some arguments goes before that for all.
        let params = |q: &Qualified<'_>| q.decl.template.as_ref().map_or(0, |t| t.params.len());
        all.sort_by_key(params);
        for q in all {
            match &q.decl.template {
                Some(header) if !header.params.is_empty() => {
                    let (bound, _) = self.bind_params(header, own, scope, item.span)?;
                    return Ok((q.item, bound));
                }
                Some(_) if !self.names_arguments(&q, &own)? => {}
                _ => return Ok((q.item, scope)),
            }
        }
        Ok((item, scope))
    }

    /// Whether a definition names the class with these arguments.
    fn names_arguments(&mut self, q: &Qualified<'a>, own: &[TArg]) -> Res<bool> {
        let given = self.resolve_args(q.scope, q.of.args.as_deref().unwrap_or_default())?;
        let same = |(a, b)| super::templates::same_arg(a, b);
        Ok(given.len() == own.len() && given.iter().zip(own).all(same))
    }
}
