//! Scopes: declaring the names of a file, and finding them again.

use std::borrow::Cow;
use std::collections::HashMap;

use warpsmith_ir::Span;

use super::Sema;
use super::model::*;
use crate::ast::{self, ItemKind};

impl<'a> Sema<'a> {
    pub(crate) fn new_scope(&mut self, parent: Option<ScopeId>, kind: ScopeKind) -> ScopeId {
        let (names, using, using_foreign) = (HashMap::new(), vec![], vec![]);
        let scope = Scope { parent, kind, names, using, using_foreign, extends: None };
        self.scopes.push(Cow::Owned(scope));
        ScopeId(self.scopes.len() as u32 - 1)
    }

    pub(crate) fn scope(&self, id: ScopeId) -> &Scope<'a> {
        &self.scopes[id.0 as usize]
    }

    pub(crate) fn scope_mut(&mut self, id: ScopeId) -> &mut Scope<'a> {
        self.scopes[id.0 as usize].to_mut()
    }

    /// Adds a meaning of a name to a scope; functions overload, everything else hides what was there.
    pub(crate) fn declare(&mut self, scope: ScopeId, name: &str, entity: Entity<'a>) {
        let list = self.scope_mut(scope).names.entry(name.to_string()).or_default();
        if matches!(
            entity,
            Entity::Place { .. } | Entity::Const(_) | Entity::Type(_) | Entity::Poisoned
        ) {
            list.clear();
        }
        list.push(entity);
    }

    /// Declares everything a list of items names; nothing is looked into yet.
    pub(crate) fn declare_items(&mut self, scope: ScopeId, items: &'a [ast::Item]) {
        for item in items {
            self.declare_item(scope, item);
        }
    }

    pub(crate) fn declare_item(&mut self, scope: ScopeId, item: &'a ast::Item) {
        match &item.kind {
            ItemKind::Function(f) => match self.misread_variable(scope, f) {
                Some(vars) => self.declare_variables(scope, vars),
                None => self.declare_function(scope, f),
            },
            ItemKind::Vars(vars) => self.declare_variables(scope, vars),
            ItemKind::Struct(s) => self.declare_struct(scope, s),
            ItemKind::Enum(e) => self.declare_enum(scope, e),
            ItemKind::Alias(a) => self.declare_alias(scope, a),
            ItemKind::Namespace { name, items } => {
                self.declare_namespace(scope, name.as_deref(), items)
            }
            ItemKind::File(items) => {
                // Other files find here what they only declare.
                let file = self.new_scope(Some(scope), ScopeKind::Namespace);
                self.scope_mut(scope).using.push(file);
                self.files.push(file);
                self.shared_by.push((file, scope));
                self.declare_items(file, items);
            }
            ItemKind::Using { path, namespace } => self.declare_using(scope, path, *namespace),
            ItemKind::StaticAssert(cond) => self.static_asserts.push((cond, scope)),
            ItemKind::Axiom(cond) => self.axioms.push((cond, scope)),
            ItemKind::Pragma(_) | ItemKind::Unsupported { .. } => {}
        }
    }

    fn declare_variables(&mut self, scope: ScopeId, vars: &'a ast::VarDecl) {
        self.declare_inline_type(scope, vars);
        for d in &vars.declarators {
            if let Some(of) = &d.of {
                self.declare_qualified(scope, vars, d, of);
                continue;
            }
            let entity = Entity::Lazy { decl: vars, item: d, scope };
            let known = self.scope(scope).names.get(&d.name);
            // Specialisations of a template stand behind it.
            if known.is_some() && d.specialisation.is_some() {
                self.scope_mut(scope).names.entry(d.name.clone()).or_default().push(entity);
                continue;
            }
            // A definition replaces an earlier `extern` declaration of the same variable.
            if known.is_some() && vars.attrs.is_extern && !vars.attrs.shared {
                continue;
            }
            self.scope_mut(scope).names.insert(d.name.clone(), vec![entity]);
        }
    }

    fn declare_function(&mut self, scope: ScopeId, decl: &'a ast::FunctionDecl) {
        let fn_decl = FnDecl { decl, scope, class: None, is_static: false };
        let name = match &decl.name {
            ast::FunctionName::Plain(path) => match path.segments.as_slice() {
                [only] => only.name.clone(),
                [.., class, method] => {
                    let key = (class.name.clone(), method.name.clone());
                    self.out_of_line.to_mut().entry(key).or_default().push(fn_decl);
                    return;
                }
                [] => return,
            },
            ast::FunctionName::Operator(op) => format!("operator{op}"),
            _ => return,
        };
        self.declare(scope, &name, Entity::Function(fn_decl));
        self.functions_in_order.push(fn_decl);
    }

    pub(crate) fn declare_struct(&mut self, scope: ScopeId, decl: &'a ast::StructDecl) {
        let Some(name) = &decl.name else { return };
        let list = self.scope_mut(scope).names.entry(name.clone()).or_default();
        // The definition comes before a forward declaration of the same class.
        let entity = Entity::Class { decl, scope };
        if decl.members.is_some() { list.insert(0, entity) } else { list.push(entity) }
    }

    pub(crate) fn declare_enum(&mut self, scope: ScopeId, decl: &'a ast::EnumDecl) {
        if let Some(name) = &decl.name {
            self.declare(scope, name, Entity::Enum { decl, scope });
        }
        if !decl.scoped {
            for (index, (name, _, _)) in decl.variants.iter().enumerate() {
                self.declare(scope, name, Entity::Enumerator { decl, index, scope });
            }
        }
    }

    pub(crate) fn declare_alias(&mut self, scope: ScopeId, decl: &'a ast::AliasDecl) {
        if let ast::TypeKind::Inline(inline) = &innermost(&decl.ty).kind {
            self.declare_inline(scope, inline);
        }
        // `typedef struct S S;` must not hide the struct behind itself.
        let own_name = matches!(&decl.ty.kind, ast::TypeKind::Named(p)
            if p.segments.len() == 1 && p.segments[0].name == decl.name && p.segments[0].args.is_none());
        let own_tag = match &decl.ty.kind {
            ast::TypeKind::Inline(inline) => match &**inline {
                ast::InlineType::Struct(s) => s.name.as_deref() == Some(&decl.name),
                ast::InlineType::Enum(e) => e.name.as_deref() == Some(&decl.name),
            },
            _ => false,
        };
        if !(own_name || own_tag) {
            self.declare(scope, &decl.name, Entity::Alias { decl, scope });
        }
    }

    /// Names that a declaration's own type introduces: `struct P { … } a, b;`.
    pub(crate) fn declare_inline_type(&mut self, scope: ScopeId, vars: &'a ast::VarDecl) {
        if let Some(first) = vars.declarators.first()
            && let ast::TypeKind::Inline(inline) = &innermost(&first.ty).kind
        {
            self.declare_inline(scope, inline);
        }
    }

    fn declare_inline(&mut self, scope: ScopeId, inline: &'a ast::InlineType) {
        match inline {
            ast::InlineType::Struct(s) => self.declare_struct(scope, s),
            ast::InlineType::Enum(e) => self.declare_enum(scope, e),
        }
    }

    fn declare_namespace(&mut self, scope: ScopeId, name: Option<&str>, items: &'a [ast::Item]) {
        let Some(name) = name else {
            let inner = self.new_scope(Some(scope), ScopeKind::Namespace);
            self.scope_mut(scope).using.push(inner);
            return self.declare_items(inner, items);
        };
        let known = self.scope(scope).names.get(name).and_then(|list| {
            list.iter().find_map(|e| if let Entity::Namespace(id) = e { Some(*id) } else { None })
        });
        let inner = known.unwrap_or_else(|| self.new_namespace(scope, name));
        self.declare_items(inner, items);
    }

    /// A namespace; that of one of several files sees what the files share of it, and the others find there what it
    /// defines.
    fn new_namespace(&mut self, scope: ScopeId, name: &str) -> ScopeId {
        let inner = self.new_scope(Some(scope), ScopeKind::Namespace);
        let extends = self.library_namespace(scope, name);
        self.scope_mut(inner).extends = extends;
        let around = self.shared_by.iter().find(|(of_file, _)| *of_file == scope).map(|(_, s)| *s);
        if let Some(around) = around {
            let mut list = self.scope(around).names.get(name).into_iter().flatten();
            let known = list.find_map(|e| match e {
                Entity::Namespace(id) => Some(*id),
                _ => None,
            });
            let shared = known.unwrap_or_else(|| {
                let shared = self.new_scope(Some(around), ScopeKind::Namespace);
                self.scope_mut(shared).extends = extends;
                self.declare(around, name, Entity::Namespace(shared));
                shared
            });
            self.scope_mut(inner).using.push(shared);
            self.scope_mut(shared).using.push(inner);
            self.shared_by.push((inner, shared));
        }
        self.declare(scope, name, Entity::Namespace(inner));
        inner
    }

    /// The library's namespace of that name, where one in this scope adds to it.
    fn library_namespace(&self, scope: ScopeId, name: &str) -> Option<ScopeId> {
        let found = match self.scope(scope).extends {
            Some(outer) => self.lookup_in(outer, name),
            None if scope == self.root || self.files.contains(&scope) => self.lookup(scope, name),
            None => vec![],
        };
        found.into_iter().find_map(|e| match e {
            Entity::Namespace(id) if self.library(id).is_some() => {
                Some(self.scope(id).extends.unwrap_or(id))
            }
            _ => None,
        })
    }

    /// What a namespace says of a name, with what the library's has that it adds to.
    fn named(&self, id: ScopeId, name: &str) -> Vec<Entity<'a>> {
        let scope = self.scope(id);
        let own = scope.names.get(name).into_iter().flatten();
        let library = scope.extends.map(|e| self.scope(e));
        let library = library.and_then(|e| e.names.get(name)).into_iter().flatten();
        own.chain(library).cloned().collect()
    }

    fn declare_using(&mut self, scope: ScopeId, path: &'a [String], namespace: bool) {
        if namespace {
            match self.find_namespace(scope, path) {
                Ok(id) => {
                    self.scope_mut(scope).using.push(id);
                    if let Some(library) = self.library(id).map(str::to_owned) {
                        self.scope_mut(scope).using_foreign.push(library);
                    }
                }
                Err(foreign) => self.scope_mut(scope).using_foreign.push(foreign),
            }
            return;
        }
        let Some((last, outer)) = path.split_last() else { return };
        // `::x::y` is looked up outside of all namespaces.
        let (from, outer) = match outer.split_first() {
            Some((first, rest)) if first.is_empty() => (self.outermost(scope), rest),
            _ => (scope, outer),
        };
        match self.find_namespace(from, outer) {
            Ok(id) => {
                let found = self.named(id, last);
                if let (true, Some(library)) = (found.is_empty(), self.library(id)) {
                    let full = format!("{library}::{last}");
                    return self.declare(scope, last, Entity::ForeignNamespace(full));
                }
                self.scope_mut(scope).names.entry(last.clone()).or_default().extend(found);
            }
            Err(foreign) => {
                let full =
                    if foreign.is_empty() { last.clone() } else { format!("{foreign}::{last}") };
                self.declare(scope, last, Entity::ForeignNamespace(full));
            }
        }
    }

    /// The file that a scope is in, or what is around all files.
    fn outermost(&self, scope: ScopeId) -> ScopeId {
        let mut at = scope;
        while let Some(parent) = self.scope(at).parent
            && at != self.root
            && !self.files.contains(&at)
        {
            at = parent;
        }
        at
    }

    /// The namespace a path names, or its canonical text when it is not in the source.
    fn find_namespace(&self, scope: ScopeId, path: &[String]) -> Result<ScopeId, String> {
        let Some((first, rest)) = path.split_first() else { return Ok(self.root) };
        let mut at = match self.lookup(scope, first).first() {
            Some(Entity::Namespace(id)) => *id,
            Some(Entity::ForeignNamespace(full)) => {
                return Err([std::slice::from_ref(full), rest].concat().join("::"));
            }
            _ => return Err(path.join("::")),
        };
        for name in rest {
            let inner = self.scope(at).names.get(name).and_then(|l| l.first());
            let Some(Entity::Namespace(id)) = inner else { return Err(path.join("::")) };
            at = *id;
        }
        Ok(at)
    }

    /// All meanings of a name in the innermost scope that knows it; empty when none does.
    pub(crate) fn lookup(&self, scope: ScopeId, name: &str) -> Vec<Entity<'a>> {
        let mut at = Some(scope);
        while let Some(id) = at {
            let mut found = self.lookup_in(id, name);
            if self.files.contains(&id) && matches!(found.first(), Some(Entity::Function(_))) {
                // Functions of one name that a common header declares and the file defines are one set.
                let common = self.scope(self.root).names.get(name).into_iter().flatten();
                found.extend(common.filter(|e| matches!(e, Entity::Function(_))).cloned());
            }
            if !found.is_empty() {
                return found;
            }
            at = self.scope(id).parent;
        }
        vec![]
    }

    /// Meanings of a name in one scope, with its `using namespace` and, for a class, its members and bases.
    pub(crate) fn lookup_in(&self, id: ScopeId, name: &str) -> Vec<Entity<'a>> {
        let scope = self.scope(id);
        let mut found = self.named(id, name);
        if let ScopeKind::Class(class) = scope.kind
            && found.is_empty()
        {
            found = self.member_entities(class, name);
        }
        for used in &scope.using {
            found.extend(self.named(*used, name));
        }
        found
    }

    /// Where `::name` is looked up: the file that a scope is in, or what all files share.
    pub(crate) fn file_around(&self, scope: ScopeId) -> ScopeId {
        let mut at = Some(scope);
        while let Some(id) = at.filter(|id| !self.files.contains(id)) {
            at = self.scope(id).parent;
        }
        at.unwrap_or(self.root)
    }

    /// The definition, in any file of the program, of a variable that is only declared.
    pub(crate) fn variable_definition(
        &self,
        name: &str,
        scope: ScopeId,
    ) -> Option<(&'a ast::VarDecl, &'a ast::Declarator, ScopeId)> {
        let shared = std::iter::once(self.root);
        let of_files = self.shared_by.iter().map(|(of_file, _)| *of_file);
        let scopes = shared.chain(of_files).filter(|id| *id != scope);
        scopes.flat_map(|id| self.scope(id).names.get(name).into_iter().flatten()).find_map(|e| {
            match e {
                Entity::Lazy { decl, item, scope }
                    if !decl.attrs.is_extern && !decl.attrs.is_static =>
                {
                    Some((*decl, *item, *scope))
                }
                _ => None,
            }
        })
    }

    /// Functions of that name in all scopes around, innermost first: how operators are looked up.
    pub(crate) fn lookup_all_functions(&self, scope: ScopeId, name: &str) -> Vec<FnDecl<'a>> {
        let mut all: Vec<FnDecl<'a>> = vec![];
        let mut at = Some(scope);
        while let Some(id) = at {
            let scope = self.scope(id);
            if scope.kind == ScopeKind::Namespace || scope.kind == ScopeKind::Block {
                for entity in self.lookup_in(id, name) {
                    if let Entity::Function(f) = entity
                        && !all.iter().any(|known| known.key() == f.key())
                    {
                        all.push(f);
                    }
                }
            }
            at = scope.parent;
        }
        all
    }

    /// Library namespaces that `using namespace` opened around a scope.
    pub(crate) fn foreign_namespaces(&self, scope: ScopeId) -> Vec<String> {
        let mut all = vec![];
        let mut at = Some(scope);
        while let Some(id) = at {
            all.extend(self.scope(id).using_foreign.iter().cloned());
            at = self.scope(id).parent;
        }
        all
    }

    /// Names visible from a scope, for "did you mean".
    pub(crate) fn visible_names(&self, scope: ScopeId) -> Vec<String> {
        let mut all: Vec<String> = vec![];
        let mut at = Some(scope);
        while let Some(id) = at {
            let scope = self.scope(id);
            all.extend(scope.names.keys().cloned());
            if let ScopeKind::Class(class) = scope.kind {
                all.extend(self.member_names(class));
            }
            at = scope.parent;
        }
        all.sort();
        all.dedup();
        all
    }

    /// "undeclared name", with a guess at what was meant.
    pub(crate) fn undeclared(&self, scope: ScopeId, name: &str, span: Span) -> Failure {
        if matches!(name, "__int128" | "__int128_t" | "__uint128_t") {
            let d = super::refused::WIDE;
            return error(d.code, span, d.says).help(d.instead).into();
        }
        let names = self.visible_names(scope);
        let d = error("W050", span, format!("`{name}` is not declared"));
        if let Some(advice) = super::instead::instead(name) {
            return d.help(advice).into();
        }
        match crate::spelling::nearest(name, names.iter().map(String::as_str)) {
            Some(near) => d.help(format!("did you mean `{near}`?")).into(),
            None if is_constant_name(name) => {
                d.help(format!("if it is a macro, give it a value with `-D {name}=…`")).into()
            }
            None => d.into(),
        }
    }
}

/// Written as people write macros: `BLOCK_SIZE`.
fn is_constant_name(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The type at the bottom of pointers, references and arrays.
fn innermost(ty: &ast::TypeName) -> &ast::TypeName {
    match &ty.kind {
        ast::TypeKind::Pointer { to, .. } | ast::TypeKind::Reference { to, .. } => innermost(to),
        ast::TypeKind::Array { element, .. } => innermost(element),
        _ => ty,
    }
}
