//! What a class takes from its bases by name: `using Base::f;`, and packs of bases.

use warpsmith_ir::StructId;

use super::Sema;
use super::model::*;
use crate::ast::{self, Member};

impl<'a> Sema<'a> {
    /// The scopes in which a base is looked up: one for each element of its pack.
    pub(crate) fn scopes_of_base(
        &mut self,
        scope: ScopeId,
        base: &'a ast::Base,
    ) -> Res<Vec<ScopeId>> {
        match base.expands {
            true => {
                let names = super::templates::names_in_type(&base.ty);
                self.pack_scopes(scope, &names, base.ty.span)
            }
            false => Ok(vec![scope]),
        }
    }

    /// Adds the functions that `using Base::f;` names to the class's own, but for those that its own ones hide. All other
    /// members of bases are found without it.
    pub(crate) fn bring_in(&mut self, class: StructId, members: &'a [Member]) {
        for member in members {
            let Member::Using(path) = member else { continue };
            let [qualifier @ .., last] = path.segments.as_slice() else { continue };
            let Some(base) = qualifier.last() else { continue };
            self.bring_in_functions(class, &base.name, &last.name);
        }
    }

    fn bring_in_functions(&mut self, class: StructId, base: &str, name: &str) {
        let scope = self.class(class).scope;
        let of_pack = matches!(self.lookup(scope, base).first(), Some(Entity::Pack(_)));
        for info in self.class(class).bases.clone() {
            if !of_pack && self.base_name(info.class) != base {
                continue;
            }
            for entity in self.lookup_in(self.class(info.class).scope, name) {
                let Entity::Function(f) = entity else { continue };
                if self.own_method_like(class, name, f).is_none() {
                    self.declare(scope, name, Entity::Function(f));
                }
            }
        }
    }
}
