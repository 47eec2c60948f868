//! The kernels that a file declares.

use warpsmith_ir::Span;

use crate::ast::{self, TranslationUnit};

/// The kernels a file declares: name, whether it is a template, where it stands.
pub fn kernels_of(unit: &TranslationUnit) -> Vec<KernelDecl> {
    let mut all = vec![];
    collect_kernels(&unit.items, "", &mut all);
    all
}

/// A `__global__` function as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelDecl {
    /// With its namespaces: `ns::f`.
    pub name: String,
    /// Without them: `f`.
    pub base: String,
    /// It has to be told its template arguments.
    pub is_template: bool,
    /// Name and parameters.
    pub span: Span,
    /// All of the definition, the template header included.
    pub item: Span,
}

fn collect_kernels(items: &[ast::Item], prefix: &str, all: &mut Vec<KernelDecl>) {
    for item in items {
        match &item.kind {
            ast::ItemKind::Function(f) if f.attrs.global && f.body.is_some() => {
                let ast::FunctionName::Plain(path) = &f.name else { continue };
                let is_template = f.template.as_ref().is_some_and(|t| !t.params.is_empty());
                let Some(last) = path.segments.last() else { continue };
                let name = format!("{prefix}{}", super::types::path_text(path));
                if !all.iter().any(|k| k.name == name && k.is_template == is_template) {
                    let (base, span) = (last.name.clone(), f.head_span);
                    all.push(KernelDecl { name, base, is_template, span, item: item.span });
                }
            }
            ast::ItemKind::Namespace { name: Some(n), items } => {
                collect_kernels(items, &format!("{prefix}{n}::"), all);
            }
            ast::ItemKind::Namespace { name: None, items } | ast::ItemKind::File(items) => {
                collect_kernels(items, prefix, all);
            }
            _ => {}
        }
    }
}
