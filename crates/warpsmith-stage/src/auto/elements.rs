//! Types of elements, as they are written and as what they stand for.

use warpsmith_front::ast::{self, TranslationUnit, TypeKind};
use warpsmith_ir::SourceMap;

use crate::source::scope;

/// The type of an array's elements as it is written, without `const`; of a member's, too.
pub fn element_type(
    function: &ast::FunctionDecl,
    array: &str,
    unit: &TranslationUnit,
    sources: &SourceMap,
) -> Option<String> {
    let root = array.split(['.', '-']).next().unwrap_or(array);
    let param = function.params.iter().find(|p| p.name.as_deref() == Some(root));
    let mut ty = param.map(|p| p.ty.clone());
    if let (None, Some(body)) = (&ty, &function.body) {
        scope::each_vars(&body.stmts, &mut |vars| {
            let named = vars.declarators.iter().find(|d| d.name == array);
            ty = ty.take().or_else(|| named.map(|d| d.ty.clone()));
        });
    }
    let mut ty = ty?;
    if let Some(field) = array.rsplit(['.', '>']).next().filter(|f| *f != array) {
        ty = field_type(unit, &ty, field)?;
    }
    let TypeKind::Pointer { to, .. } = &ty.kind else { return None };
    let mut element: &ast::TypeName = to;
    while let TypeKind::Array { element: inner, .. } = &element.kind {
        element = inner;
    }
    let plain = plain_type(element, sources);
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ' ' || c == ':';
    (!plain.is_empty() && plain.chars().all(word)).then_some(plain)
}

/// As [`element_type`], with what names of the file stand for: `typedef double real;`.
pub fn plain_element(
    function: &ast::FunctionDecl,
    array: &str,
    unit: &TranslationUnit,
    sources: &SourceMap,
) -> Option<String> {
    let mut name = element_type(function, array, unit, sources)?;
    // What goes in circles ends.
    for _ in 0..8 {
        let alias = unit.items.iter().find_map(|i| match &i.kind {
            ast::ItemKind::Alias(a) if a.template.is_none() && a.name == name => Some(&a.ty),
            _ => None,
        });
        let Some(ty) = alias else { break };
        name = plain_type(ty, sources);
    }
    Some(name)
}

/// The type of a field of a structure of the file, which may be behind a pointer or a reference.
fn field_type(unit: &TranslationUnit, ty: &ast::TypeName, field: &str) -> Option<ast::TypeName> {
    let path = match &ty.kind {
        TypeKind::Pointer { to, .. } | TypeKind::Reference { to, .. } => {
            return field_type(unit, to, field);
        }
        TypeKind::Named(path) => path.as_name()?,
        _ => return None,
    };
    let named = |s: &&ast::StructDecl| s.name.as_deref() == Some(path) && s.template.is_none();
    let structs = unit.items.iter().filter_map(|i| match &i.kind {
        ast::ItemKind::Struct(s) => Some(s),
        _ => None,
    });
    let mut fields = structs.filter(named).flat_map(|s| s.members.iter().flatten());
    fields.find_map(|m| match m {
        ast::Member::Field(vars) => {
            vars.declarators.iter().find(|d| d.name == field).map(|d| d.ty.clone())
        }
        _ => None,
    })
}

/// A type as written, without `const`.
pub fn plain_type(ty: &ast::TypeName, sources: &SourceMap) -> String {
    let words = sources.text(ty.span).split_whitespace().filter(|w| *w != "const");
    words.collect::<Vec<_>>().join(" ")
}
