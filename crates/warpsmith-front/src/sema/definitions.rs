//! Where the body of a function is: its own declaration, another one, an explicit specialisation, outside of its class.

use warpsmith_ir::Span;

use super::Sema;
use super::model::*;
use crate::ast;

/// What a member function is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Constructor,
    Destructor,
    Other,
}

impl<'a> Sema<'a> {
    /// The explicit specialisation of a function template for arguments, if there is one.
    pub(super) fn specialisation(
        &mut self,
        f: FnDecl<'a>,
        scope: ScopeId,
        args: &[TArg],
    ) -> Res<Option<FnDecl<'a>>> {
        let ast::FunctionName::Plain(path) = &f.decl.name else { return Ok(None) };
        let Some(last) = path.segments.last().filter(|_| !args.is_empty()) else { return Ok(None) };
        let candidates = match f.class {
            Some(_) => super::expr::functions(&self.lookup_in(f.scope, &last.name)),
            None => self.lookup_all_functions(f.scope, &last.name),
        };
        let wanted = self.param_types(f, scope)?;
        for c in candidates {
            if !is_specialisation(c.decl) || c.decl.body.is_none() {
                continue;
            }
            let given = match &c.decl.name {
                ast::FunctionName::Plain(p) => p.segments.last().and_then(|s| s.args.as_deref()),
                _ => None,
            };
            let fits = match given {
                Some(list) => {
                    let list = self.resolve_args(c.scope, list)?;
                    let same = |(a, b)| super::templates::same_arg(a, b);
                    list.iter().zip(args).all(same)
                }
                None => true,
            };
            if fits && self.param_types(c, c.scope)? == wanted && self.returns_same(c, f, scope) {
                return Ok(Some(c));
            }
        }
        Ok(None)
    }

    /// Whether a specialisation returns what its template does in `scope`: `template <> int2 zero(int)` is the one of
    /// `template <class T> T zero(int)` for `int2`.
    fn returns_same(&mut self, special: FnDecl<'a>, f: FnDecl<'a>, scope: ScopeId) -> bool {
        let (Some(ours), Some(wanted)) = (&special.decl.ret, &f.decl.ret) else { return true };
        let types = (self.resolve_type(special.scope, ours), self.resolve_type(scope, wanted));
        let (Ok(ours), Ok(wanted)) = types else { return true };
        super::templates::despaced(ours) == super::templates::despaced(wanted)
    }

    /// `template <> float S<float>::get()`: what a member function of a class template is for arguments of the class.
    fn member_specialisation(&mut self, f: FnDecl<'a>, scope: ScopeId) -> Res<Option<FnDecl<'a>>> {
        let (ast::FunctionName::Plain(path), Some(class)) = (&f.decl.name, f.class) else {
            return Ok(None);
        };
        let Some((_, own)) = self.class(class).template.clone() else { return Ok(None) };
        let Some(last) = path.segments.last() else { return Ok(None) };
        let outside = self.out_of_class(f, &last.name);
        let special =
            outside.into_iter().filter(|c| is_specialisation(c.decl) && c.decl.body.is_some());
        for c in special {
            let ast::FunctionName::Plain(path) = &c.decl.name else { continue };
            let of_class = path.segments.iter().rev().nth(1).and_then(|s| s.args.as_deref());
            let given = self.resolve_args(c.scope, of_class.unwrap_or_default())?;
            let same = given.len() == own.len()
                && given.iter().zip(&own).all(|(a, b)| super::templates::same_arg(a, b));
            let scope_of_class = self.class(class).scope;
            if same && self.param_types(c, scope_of_class)? == self.param_types(f, scope)? {
                let place =
                    FnDecl { scope: scope_of_class, class: f.class, is_static: f.is_static, ..c };
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The declaration with the body: itself, another declaration of it, or one out of its class.
    pub(super) fn with_body(
        &mut self,
        f: FnDecl<'a>,
        scope: ScopeId,
        args: &[TArg],
        span: Span,
    ) -> Res<(FnDecl<'a>, ScopeId)> {
        if let Some(special) = self.member_specialisation(f, scope)? {
            return Ok((special, special.scope));
        }
        if f.decl.body.is_some() {
            return Ok((f, scope));
        }
        let name = match &f.decl.name {
            ast::FunctionName::Plain(p) => p.segments.last().map(|s| s.name.clone()),
            ast::FunctionName::Operator(op) => Some(format!("operator{op}")),
            ast::FunctionName::Constructor => self.name_of_class(f),
            ast::FunctionName::Destructor => self.name_of_class(f).map(|n| format!("~{n}")),
            ast::FunctionName::Conversion(_) => None,
        };
        let wanted = self.param_types(f, scope)?;
        let candidates = match (&name, f.class) {
            (Some(n), Some(_)) => self.out_of_class(f, n),
            (Some(n), None) => self.lookup_all_functions(f.scope, n),
            _ => vec![],
        };
        let mut candidates = candidates;
        let file = self.file_around(f.scope);
        candidates.sort_by_key(|c| self.file_around(c.scope) != file);
        for c in candidates {
            let unlinked = c.decl.attrs.is_static && c.scope != f.scope
                || self.is_users_of_device(f) && self.is_library_of_host(c);
            if c.decl.body.is_none() || unlinked || c.decl.params.len() != f.decl.params.len() {
                continue;
            }
            let bound = match (&c.decl.template, f.class) {
                (Some(header), Some(class)) if f.decl.template.is_none() => {
                    let own =
                        self.class(class).template.clone().map(|(_, a)| a).unwrap_or_default();
                    self.bind_params(header, own, self.class(class).scope, span).map(|(s, _)| s)
                }
                (Some(header), _) if !header.params.is_empty() => {
                    self.bind_params(header, args.to_vec(), c.scope, span).map(|(s, _)| s)
                }
                (_, Some(class)) => Ok(self.class(class).scope),
                _ => Ok(c.scope),
            };
            let Ok(bound) = bound else { continue };
            let found = FnDecl {
                scope: if f.class.is_some() { bound } else { c.scope },
                class: f.class,
                is_static: f.is_static,
                ..c
            };
            if self.param_types(found, bound).is_ok_and(|p| p == wanted) {
                return Ok((found, bound));
            }
        }
        let name = name.unwrap_or_else(|| "this function".into());
        if f.decl.attrs.is_spec {
            let text = format!(
                "`{name}` has no body: it sets what it gets of the thread's own, a number to the thread's, also in structures, and all else to zero, writes nothing else, and returns another number in every thread and call, or zero in some threads, of those that are tried and keep its promises"
            );
            self.warn(super::NOT_RUN, f.decl.head_span, &text);
            return Ok((f, scope));
        }
        let d = error("W069", span, format!("`{name}` is declared but has no body here"));
        let d = d.label(f.decl.head_span, "declared here");
        Err(d
            .help(
                "define it in this file, include the file it is defined in, or give that file, too",
            )
            .into())
    }

    /// Whether no file has a body for a function that is no method.
    pub(crate) fn is_only_declared(&self, f: FnDecl<'a>) -> bool {
        let ast::FunctionName::Plain(path) = &f.decl.name else { return false };
        let Some(name) = path.segments.last().filter(|_| f.decl.body.is_none()) else {
            return false;
        };
        let all = self.lookup_all_functions(f.scope, &name.name);
        let of_device = self.is_users_of_device(f);
        all.iter()
            .all(|other| other.decl.body.is_none() || of_device && self.is_library_of_host(*other))
    }

    /// Whether a file declares a function for the device: what the libraries have for the host under that name is another one.
    pub(crate) fn is_users_of_device(&self, f: FnDecl<'a>) -> bool {
        f.decl.attrs.device && Some(f.decl.head_span.file) != self.prelude_file()
    }

    /// Whether a function is one of the libraries for the host alone.
    pub(crate) fn is_library_of_host(&self, f: FnDecl<'a>) -> bool {
        let attrs = &f.decl.attrs;
        !attrs.device && !attrs.is_constexpr && Some(f.decl.head_span.file) == self.prelude_file()
    }

    /// Declarations of a member of a method's class that stand outside of it.
    fn out_of_class(&self, f: FnDecl<'a>, member: &str) -> Vec<FnDecl<'a>> {
        let class = self.name_of_class(f).unwrap_or_default();
        self.out_of_line.get(&(class, member.to_string())).cloned().unwrap_or_default()
    }

    /// The name that the class of a method was declared with.
    fn name_of_class(&self, f: FnDecl<'a>) -> Option<String> {
        f.class.and_then(|c| self.class(c).decl).and_then(|d| d.name.clone())
    }

    /// What a member function is for; outside of its class a constructor looks like any other function.
    pub(super) fn role(&self, f: FnDecl<'a>) -> Role {
        let named = match &f.decl.name {
            ast::FunctionName::Constructor => return Role::Constructor,
            ast::FunctionName::Destructor => return Role::Destructor,
            ast::FunctionName::Plain(path) if path.segments.len() > 1 && f.decl.ret.is_none() => {
                path.segments.last().map(|s| s.name.as_str())
            }
            _ => None,
        };
        match (named, self.name_of_class(f)) {
            (Some(name), Some(class)) if name == class => Role::Constructor,
            (Some(name), Some(class)) if name.strip_prefix('~') == Some(&class) => Role::Destructor,
            _ => Role::Other,
        }
    }
}

/// `template <> …`
pub(crate) fn is_specialisation(decl: &ast::FunctionDecl) -> bool {
    decl.template.as_ref().is_some_and(|t| t.params.is_empty())
}
