//! The kernels and host functions that are asked for, by name or all of them.

use warpsmith_ir::{Diagnostic, FuncId, FunctionKind, Span};

use super::model::*;
use super::overload::Chosen;
use super::types;
use super::{KernelInfo, ParsedName, Sema, expr};
use crate::ast;

impl<'a> Sema<'a> {
    pub(super) fn all_kernels(&mut self) -> Vec<KernelInfo> {
        let mut all = vec![];
        for f in self.functions_in_order.clone() {
            let is_template = f.decl.template.is_some();
            if !f.decl.attrs.global || f.decl.body.is_none() || is_template {
                continue;
            }
            let chosen = Chosen::plain(f);
            match self.instance(chosen, FunctionKind::Kernel, f.decl.head_span) {
                Ok(instance) => {
                    let name = self.module.function(instance.id).name.clone();
                    all.push(KernelInfo { id: instance.id, name, span: f.decl.head_span });
                }
                Err(Failure::New(d)) => self.report(*d),
                Err(Failure::Reported) => {}
            }
        }
        all
    }

    pub(super) fn named_kernels(&mut self, names: &'a [ParsedName]) -> Vec<KernelInfo> {
        let mut all = vec![];
        for (text, path) in names {
            match self.named_kernel(text, path) {
                Ok(info) => all.push(info),
                Err(Failure::New(d)) => self.report(*d),
                Err(Failure::Reported) => {}
            }
        }
        all
    }

    fn named_kernel(&mut self, text: &str, path: &'a ast::Path) -> Res<KernelInfo> {
        let root = self.root;
        let found = self.resolve_path(root, path)?;
        let types::Found::Entities(entities, args) = found else {
            return Err(self.no_kernel(text, path.span));
        };
        let fns: Vec<FnDecl<'a>> = expr::functions(&entities)
            .into_iter()
            .filter(|f| f.decl.attrs.global && f.decl.body.is_some())
            .collect();
        let args = match args {
            Some(list) => Some(self.resolve_args(root, list)?),
            None => None,
        };
        let mut failure = None;
        for f in fns {
            let head = f.decl.head_span;
            let span = path.span;
            let header = f.decl.template.as_ref().filter(|t| !t.params.is_empty());
            let bound = match (header, &args) {
                (Some(header), _) => {
                    self.bind_params(header, args.clone().unwrap_or_default(), f.scope, span)
                }
                (None, None) => Ok((f.scope, vec![])),
                (None, Some(_)) => {
                    let d =
                        error("W056", span, format!("`{}` is no template", types::path_text(path)));
                    let d = d.label(head, "declared here");
                    Err(d.help("leave the template arguments out").into())
                }
            };
            match bound {
                Ok((scope, args)) => {
                    let instance =
                        self.instance(Chosen::bound(f, scope, args), FunctionKind::Kernel, head)?;
                    return Ok(KernelInfo { id: instance.id, name: text.to_string(), span: head });
                }
                Err(Failure::New(d)) => {
                    // Whose arguments are wrong, and how they are written.
                    let known = d.labels.iter().any(|l| l.span.file == head.file && l.span != span);
                    let d = if known { *d } else { d.label(head, "the kernel") };
                    let d = if d.help.is_empty() { d.help(arguments_help(f.decl)) } else { d };
                    failure = Some(d.into());
                }
                Err(e) => failure = Some(e),
            }
        }
        Err(failure.unwrap_or_else(|| self.no_kernel(text, path.span)))
    }

    fn no_kernel(&self, text: &str, span: Span) -> Failure {
        let names: Vec<String> = self
            .functions_in_order
            .iter()
            .filter(|f| f.decl.attrs.global)
            .filter_map(|f| match &f.decl.name {
                ast::FunctionName::Plain(p) => Some(types::path_text(p)),
                _ => None,
            })
            .collect();
        let d = error("W050", span, format!("there is no kernel `{text}`"));
        let plain = text.split('<').next().unwrap_or(text);
        let d = match crate::spelling::nearest(plain, names.iter().map(String::as_str)) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => d.help("the file has no kernel"),
            None => d.help(format!("the file has: {}", names.join(", "))),
        };
        d.into()
    }

    pub(super) fn named_hosts(&mut self, names: &[String], span: Span) -> Vec<FuncId> {
        let mut all = vec![];
        for name in names {
            let found = self.lookup(self.root, name);
            let host = expr::functions(&found)
                .into_iter()
                .find(|f| f.decl.body.is_some() && f.decl.template.is_none());
            let result = match host {
                Some(f) => self.instance(Chosen::plain(f), FunctionKind::Host, span),
                None => {
                    Err(Diagnostic::error("W050", format!("there is no host function `{name}`"))
                        .into())
                }
            };
            match result {
                Ok(instance) => all.push(instance.id),
                Err(Failure::New(d)) => self.report(*d),
                Err(Failure::Reported) => {}
            }
        }
        all
    }
}

/// How the template arguments of a kernel are given.
fn arguments_help(decl: &ast::FunctionDecl) -> String {
    let params = decl.template.iter().flat_map(|t| &t.params);
    let names: Vec<&str> = params.map(|p| p.name.as_deref().unwrap_or("…")).collect();
    format!("its template parameters are <{}>", names.join(", "))
}
