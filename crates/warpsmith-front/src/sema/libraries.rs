//! The names of what stands in for libraries, declared once for all the texts that are lowered with it.

use std::borrow::Cow;
use std::collections::HashMap;

use warpsmith_ir::FileId;

use super::model::*;
use super::request::Arena;
use super::{MAX_DEPTH, OutOfLine, Sema};
use crate::ast::{self, TranslationUnit};

/// Nothing that is declared needs syntax of its own.
static NO_SYNTAX: Arena = Arena::new();

/// [`crate::prelude`] with its names in scopes. A lowering reads the scopes where they are and copies one only to add to it.
#[derive(Debug)]
pub struct Libraries<'p> {
    /// The source of the prelude.
    pub(super) file: Option<FileId>,
    /// The first is empty and stands for the file to come, the second is around everything else.
    scopes: Vec<Scope<'p>>,
    out_of_line: OutOfLine<'p>,
    functions: Vec<FnDecl<'p>>,
    static_asserts: Vec<(&'p ast::Expr, ScopeId)>,
    axioms: Vec<(&'p ast::Expr, ScopeId)>,
    /// Namespaces, with their names.
    names: HashMap<ScopeId, String>,
}

impl<'p> Libraries<'p> {
    /// Declares everything that the prelude names.
    pub fn new(prelude: &'p TranslationUnit) -> Libraries<'p> {
        let mut sema = Sema::new(&NO_SYNTAX, MAX_DEPTH);
        let outer = sema.new_scope(None, ScopeKind::Namespace);
        sema.declare_items(outer, &prelude.items);
        let mut names = HashMap::new();
        for (name, id) in sema.namespaces(outer) {
            sema.note_library(id, name, &mut names);
        }
        Libraries {
            file: prelude.items.first().map(|i| i.span.file),
            scopes: sema.scopes.into_iter().map(Cow::into_owned).collect(),
            out_of_line: sema.out_of_line.into_owned(),
            functions: sema.functions_in_order,
            static_asserts: sema.static_asserts,
            axioms: sema.axioms,
            names,
        }
    }
}

impl<'a> Sema<'a> {
    /// Puts libraries outside of everything the file declares; nothing of the file may be declared yet.
    pub(super) fn use_libraries(&mut self, libraries: &'a Libraries<'a>) {
        let (root, around) = (self.root, ScopeId(1));
        self.scopes.truncate(1);
        self.scopes.extend(libraries.scopes.iter().skip(1).map(Cow::Borrowed));
        self.scope_mut(root).parent = Some(around);
        self.out_of_line = Cow::Borrowed(&libraries.out_of_line);
        self.functions_in_order.clone_from(&libraries.functions);
        self.static_asserts.clone_from(&libraries.static_asserts);
        self.axioms.clone_from(&libraries.axioms);
        self.libraries = Some(libraries);
    }

    /// A namespace of the prelude stands beside what the built-in functions know of it.
    fn note_library(&self, id: ScopeId, name: String, names: &mut HashMap<ScopeId, String>) {
        for (part, inner) in self.namespaces(id) {
            self.note_library(inner, format!("{name}::{part}"), names);
        }
        names.insert(id, name);
    }

    /// The namespaces in a scope.
    fn namespaces(&self, scope: ScopeId) -> Vec<(String, ScopeId)> {
        let inner = |(name, list): (&String, &Vec<Entity<'a>>)| match list.first() {
            Some(Entity::Namespace(id)) => Some((name.clone(), *id)),
            _ => None,
        };
        self.scope(scope).names.iter().filter_map(inner).collect()
    }

    /// The library that a namespace of the prelude is a part of, or that one of the source adds to.
    pub(crate) fn library(&self, id: ScopeId) -> Option<&str> {
        let id = self.scope(id).extends.unwrap_or(id);
        self.libraries?.names.get(&id).map(String::as_str)
    }

    /// The source of the prelude.
    pub(crate) fn prelude_file(&self) -> Option<FileId> {
        self.libraries?.file
    }
}
