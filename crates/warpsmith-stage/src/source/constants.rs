//! Constants that a kernel is written with and that people change: the radius of a filter, say. What is right with one value of
//! them has to be right with others, or must not compile with these.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind, Initializer, ItemKind, TranslationUnit, TypeKind};
use warpsmith_ir::SourceMap;

use super::hosts;
use super::marks;
use super::scope;
use super::shape;

/// A whole number with a name that is defined by nothing but the number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// As the kernel calls it.
    pub name: String,
    /// As launches call it: the same, or which argument of the template it is.
    pub key: String,
    pub value: i64,
    /// It is declared in the kernel.
    pub local: bool,
}

/// What launches call an argument of the kernel's template.
fn argument(number: usize) -> String {
    format!("<{number}>")
}

/// An instance of a kernel with the arguments that constants of a launch give.
pub fn instance(kernel: &str, constants: &[(String, i64)]) -> String {
    let Some(mut arguments) = hosts::template_arguments(kernel) else { return kernel.to_string() };
    for (n, own) in arguments.iter_mut().enumerate() {
        if let Some((_, value)) = constants.iter().find(|(key, _)| *key == argument(n)) {
            *own = value.to_string();
        }
    }
    format!("{}<{}>", kernel.split('<').next().unwrap_or(kernel), arguments.join(", "))
}

/// The constants that a kernel depends on, by other constants and by functions and macros that it uses, too.
pub fn of_kernel(
    unit: &TranslationUnit,
    kernel: &str,
    text: &str,
    sources: &SourceMap,
    defines: &[(String, String)],
) -> Vec<Constant> {
    let Some(function) = scope::kernel(unit, shape::base_name(kernel)) else { return vec![] };
    let Some(span) = function.body.as_ref().and_then(|b| b.span) else { return vec![] };
    let body = sources.text(span);
    let own = locals(function.body.as_ref());
    let mut all = arguments(function, kernel);
    for name in reached(unit, text, sources, body) {
        let inside = body_names(body, &name);
        let local = own.get(&name).copied();
        let given = defines.iter().find(|(n, _)| *n == name).map(|(_, v)| number(v));
        let value = local
            .or_else(|| given.unwrap_or_else(|| unit.macros.get(&name).and_then(|v| number(v))))
            .or_else(|| of_items(&unit.items, &name, inside));
        let defined = !shape::constants(text, &[(name.clone(), 0)]).is_empty();
        let Some(value) = value.filter(|_| defined || given.is_some()) else { continue };
        if all.iter().all(|c| c.name != name) {
            all.push(Constant { key: name.clone(), name, value, local: local.is_some() });
        }
    }
    all
}

/// Arguments of the kernel's template that are written as numbers.
fn arguments(function: &ast::FunctionDecl, kernel: &str) -> Vec<Constant> {
    let params = function.template.iter().flat_map(|t| &t.params).enumerate();
    let given = hosts::template_arguments(kernel).unwrap_or_default();
    let one = |(n, p): (usize, &ast::TemplateParam)| {
        let (Some(name), ast::TemplateParamKind::Value { .. }) = (&p.name, &p.kind) else {
            return None;
        };
        let value = number(given.get(n)?)?;
        Some(Constant { name: name.clone(), key: argument(n), value, local: false })
    };
    params.filter_map(one).collect()
}

/// Names that a text uses, and those that what they stand for uses.
pub(super) fn reached(
    unit: &TranslationUnit,
    text: &str,
    sources: &SourceMap,
    body: &str,
) -> Vec<String> {
    let macros = definitions(text);
    let mut all = scope::names(body);
    let mut at = 0;
    while let Some(name) = all.get(at).cloned() {
        at += 1;
        let mut more: Vec<String> = macros.get(&name).cloned().unwrap_or_default();
        more.extend(unit.macros.get(&name).map(|m| scope::names(m)).unwrap_or_default());
        for function in scope::device_functions(&unit.items, &name) {
            let span = function.body.as_ref().and_then(|b| b.span);
            more.extend(span.map(|s| scope::names(sources.text(s))).unwrap_or_default());
        }
        more.extend(of_variable(&unit.items, &name, sources));
        for n in more {
            if !all.contains(&n) {
                all.push(n);
            }
        }
    }
    all
}

/// The words of each macro of a text, those with parameters included.
fn definitions(text: &str) -> HashMap<String, Vec<String>> {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let mut all: HashMap<String, Vec<String>> = HashMap::new();
    for i in (1..tokens.len()).filter(|i| tokens[*i].directive && word(i - 1) == "define") {
        let rest = tokens[i + 1..].iter().take_while(|t| t.directive);
        let line: Vec<&str> = rest.map(|t| &text[t.at.clone()]).take_while(|w| *w != "#").collect();
        let own = all.entry(word(i).to_string()).or_default();
        own.extend(scope::names(&line.join(" ")));
    }
    all
}

/// Names in the declaration of a variable outside of functions.
fn of_variable(items: &[ast::Item], name: &str, sources: &SourceMap) -> Vec<String> {
    let one = |item: &ast::Item| match &item.kind {
        ItemKind::Vars(v) if v.declarators.iter().any(|d| d.name == name) => {
            scope::names(sources.text(v.span))
        }
        ItemKind::Namespace { items, .. } => of_variable(items, name, sources),
        _ => vec![],
    };
    items.iter().flat_map(one).collect()
}

/// Whether a text has a name without namespaces before it.
fn body_names(text: &str, name: &str) -> bool {
    !text.contains(&format!("::{name}")) && scope::names(text).iter().any(|n| n == name)
}

/// Constants that a function declares with numbers.
fn locals(body: Option<&ast::Block>) -> HashMap<String, i64> {
    let mut all = HashMap::new();
    let mut several = vec![];
    scope::each_vars(body.map_or(&[], |b| &b.stmts), &mut |vars| {
        for d in &vars.declarators {
            let value = is_whole(vars, d).then(|| d.init.as_ref().and_then(initial)).flatten();
            match value {
                Some(value) if !all.contains_key(&d.name) => _ = all.insert(d.name.clone(), value),
                _ => several.push(d.name.clone()),
            }
        }
    });
    all.retain(|name, _| !several.contains(name));
    all
}

/// Whether a declaration is one of a constant whole number.
fn is_whole(vars: &ast::VarDecl, d: &ast::Declarator) -> bool {
    let real = |w: &String| matches!(w.as_str(), "float" | "double" | "bool");
    let whole = matches!(&d.ty.kind, TypeKind::Builtin(w) if !w.iter().any(real));
    let memory = vars.attrs.shared || vars.attrs.constant;
    whole && !memory && (vars.attrs.is_constexpr || d.ty.is_const)
}

/// The value of a constant outside of functions; `inside`: also in namespaces.
fn of_items(items: &[ast::Item], name: &str, inside: bool) -> Option<i64> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Vars(v) => {
            let d = v.declarators.iter().find(|d| d.name == name && is_whole(v, d))?;
            initial(d.init.as_ref()?)
        }
        ItemKind::Enum(e) if !e.scoped => {
            let (_, value, _) = e.variants.iter().find(|(n, ..)| n == name)?;
            literal(value.as_ref()?)
        }
        ItemKind::Namespace { items, .. } if inside => of_items(items, name, inside),
        _ => None,
    })
}

fn initial(init: &Initializer) -> Option<i64> {
    match init {
        Initializer::Expr(e) => literal(e),
        _ => None,
    }
}

fn literal(e: &ast::Expr) -> Option<i64> {
    match &*scope::plain(e).kind {
        ExprKind::Number(n) => number(n),
        _ => None,
    }
}

/// The value of a text that is a whole number, in parentheses or not.
fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text);
    inner.trim().trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_templates_get_other_values() {
        let other = [("<1>".to_string(), 5), ("R".to_string(), 2)];
        assert_eq!(instance("blur<float, 4>", &other), "blur<float, 5>");
        assert_eq!(instance("blur", &other), "blur");
    }

    #[test]
    fn macros_are_known_by_their_words() {
        let text = "#define R 4\n#define AT(a, i) a[(i) * W + R]\nint main() { return R; }\n";
        let found = definitions(text);
        assert_eq!(found["R"], Vec::<String>::new());
        assert!(found["AT"].contains(&"W".to_string()), "{found:?}");
        assert!(!found["AT"].contains(&"main".to_string()), "{found:?}");
    }

    #[test]
    fn only_numbers_are_constants_of_their_own() {
        assert_eq!([" 4 ", "(8u)", "2 * R", "0x10"].map(number), [Some(4), Some(8), None, None]);
    }
}
