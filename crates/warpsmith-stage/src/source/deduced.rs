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

/// The type of a variable: what stands before a declarator's `*` is no part of its text.
fn declared(ty: &ast::TypeName, sources: &SourceMap) -> String {
    match &ty.kind {
        TypeKind::Pointer { to, .. } => format!("{}*", declared(to, sources)),
        TypeKind::Reference { to, .. } => declared(to, sources),
        _ => plain_text(ty, sources),
    }
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
                    found = Some(declared(&d.ty, sources)).filter(|t| !t.starts_with("auto"));
                }
            });
            found
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use warpsmith_front::sema::walk;

    use super::*;
    use crate::program::{Compiler, Settings};

    /// What is found for the launch in a host function that ends with it.
    fn of(kernel: &str, host: &str) -> Option<Vec<String>> {
        let text =
            format!("struct Average {{ int n; }};\n{kernel} {{ }}\nvoid run() {{ {host}; }}\n");
        let compiler = Compiler::new(Settings { path: "f.cu".into(), ..Settings::default() });
        let mut sources = SourceMap::new();
        let unit = compiler.parse(&text, &[], &mut sources).expect("it is parsed");
        let kernel = scope::kernel(&unit, "apply").expect("a kernel");
        let mut found = None;
        for item in &unit.items {
            let ast::ItemKind::Function(f) = &item.kind else { continue };
            let Some(body) = f.body.as_ref().filter(|_| !f.attrs.global) else { continue };
            walk::block(body, &mut |e| {
                if let ExprKind::Launch { args, .. } = &*e.kind {
                    found = arguments(kernel, args, body, &sources);
                }
            });
        }
        found
    }

    fn texts(list: &[&str]) -> Option<Vec<String>> {
        Some(list.iter().map(|t| t.to_string()).collect())
    }

    const KERNEL: &str =
        "template <typename T, class Op> __global__ void apply(const T *in, T *out, Op op)";

    #[test]
    fn pointers_and_objects_say_the_types() {
        let host = "const double *a; double *b; apply<<<1, 32>>>(a, b, Average())";
        assert_eq!(of(KERNEL, host), texts(&["double", "Average"]));
        let host = "float *a, *b; Average op; apply<<<1, 32>>>((a), b, op)";
        assert_eq!(of(KERNEL, host), texts(&["float", "Average"]));
        let host = "void *p; apply<<<1, 32>>>((const float *)p, (float *)p, Average{3})";
        assert_eq!(of(KERNEL, host), texts(&["float", "Average"]));
    }

    #[test]
    fn values_say_their_own_type() {
        let kernel = "template <typename T> __global__ void apply(T value)";
        assert_eq!(of(kernel, "unsigned int n = 3; apply<<<1, 32>>>(n)"), texts(&["unsigned int"]));
        assert_eq!(of(kernel, "const float f = 3; apply<<<1, 32>>>(f)"), texts(&["float"]));
    }

    #[test]
    fn what_is_not_plain_is_not_guessed() {
        for host in [
            // A number, a call, a sum: their types are not looked into.
            "float *a; apply<<<1, 32>>>(a, a, 3)",
            "float *a; apply<<<1, 32>>>(a, a, average())",
            "float *a; apply<<<1, 32>>>(a + 1, a + 2, Average())",
            "auto a = get(); apply<<<1, 32>>>(a, a, Average())",
            "float a; apply<<<1, 32>>>(a, a, Average())",
        ] {
            assert_eq!(of(KERNEL, host), None, "{host}");
        }
        // Numbers and packs are written out by whoever launches.
        let sized = "template <typename T, int N> __global__ void apply(T *in)";
        assert_eq!(of(sized, "float *a; apply<<<1, 32>>>(a)"), None);
        let pack = "template <typename... T> __global__ void apply(T... all)";
        assert_eq!(of(pack, "float a = 1; apply<<<1, 32>>>(a)"), None);
        assert_eq!(of("__global__ void apply(int n)", "apply<<<1, 32>>>(1)"), None);
    }
}
