//! Template arguments that a launch does not write: `apply<<<grid, block>>>(in, out, n, Average())`.

use warpsmith_front::ast::{self, ExprKind, TemplateParamKind, TypeKind};
use warpsmith_ir::SourceMap;

use super::scope;

/// The arguments of a kernel's template, as text, from what a function passes to the kernel; `None`: one of them is not plain.
pub fn arguments(
    kernel: &ast::FunctionDecl,
    passed: &[ast::Expr],
    body: &ast::Block,
    sources: &SourceMap,
) -> Option<Vec<String>> {
    let template = kernel.template.as_ref()?;
    let one = |t: &ast::TemplateParam| {
        let name = t.name.as_deref().filter(|_| !t.pack)?;
        matches!(t.kind, TemplateParamKind::Type { .. }).then_some(())?;
        let mut pairs = kernel.params.iter().zip(passed);
        pairs.find_map(|(p, value)| {
            let is = |ty: &ast::TypeName| plain_text(ty, sources) == name;
            match &p.ty.kind {
                TypeKind::Pointer { to, .. } if is(to) => {
                    let ty = type_of(value, body, sources)?;
                    ty.strip_suffix('*').map(|t| t.trim().to_string())
                }
                TypeKind::Reference { to, .. } if is(to) => type_of(value, body, sources),
                _ if is(&p.ty) => type_of(value, body, sources),
                _ => None,
            }
        })
    };
    template.params.iter().map(one).collect()
}

fn plain_text(ty: &ast::TypeName, sources: &SourceMap) -> String {
    let words = sources.text(ty.span).split_whitespace().filter(|w| *w != "const");
    words.collect::<Vec<_>>().join(" ")
}

/// The type of a value that a host function passes, where that is plain.
fn type_of(e: &ast::Expr, body: &ast::Block, sources: &SourceMap) -> Option<String> {
    match &*e.kind {
        ExprKind::Paren(inner) => type_of(inner, body, sources),
        ExprKind::Construct { ty, .. } | ExprKind::CompoundLiteral { ty, .. } => {
            Some(plain_text(ty, sources))
        }
        // `Average()` is a call as far as the grammar goes.
        ExprKind::Call { callee, args } if args.is_empty() => {
            let text = sources.text(callee.span);
            text.starts_with(char::is_uppercase).then(|| text.to_string())
        }
        ExprKind::Cast { ty, .. } => Some(plain_text(ty, sources)),
        ExprKind::Path(path) => {
            let name = path.as_name()?;
            let mut found = None;
            scope::each_vars(&body.stmts, &mut |vars| {
                for d in vars.declarators.iter().filter(|d| d.name == name) {
                    found = Some(plain_text(&d.ty, sources)).filter(|t| t != "auto");
                }
            });
            found
        }
        _ => None,
    }
}
