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

/// A parameter of a kernel that is a texture or surface object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureParameter {
    /// The kernel, without its namespaces.
    pub kernel: String,
    /// The parameter.
    pub name: String,
    /// A surface, which kernels may write.
    pub is_surface: bool,
}

/// Those of all kernels of a file: in IR they are numbers like others.
pub fn texture_parameters(unit: &TranslationUnit) -> Vec<TextureParameter> {
    let mut all = vec![];
    super::program::each_function(&unit.items, &mut |f| {
        let ast::FunctionName::Plain(path) = &f.name else { return };
        let Some(last) = path.segments.last().filter(|_| f.attrs.global) else { return };
        for param in &f.params {
            let is_surface = match type_word(&param.ty) {
                Some("cudaTextureObject_t") => false,
                Some("cudaSurfaceObject_t") => true,
                _ => continue,
            };
            let Some(name) = param.name.clone() else { continue };
            all.push(TextureParameter { kernel: last.name.clone(), name, is_surface });
        }
    });
    all
}

/// The last word of a type that has a name.
fn type_word(ty: &ast::TypeName) -> Option<&str> {
    let ast::TypeKind::Named(path) = &ty.kind else { return None };
    path.segments.last().map(|s| s.name.as_str())
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
