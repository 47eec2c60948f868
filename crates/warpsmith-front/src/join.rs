//! Several files as one program: what they share once, and what each has for itself in a scope of its own.
//!
//! A header that two files include is one set of declarations, so that a class is the same class in both. What a file
//! defines itself it sees before the others' definitions of that name; the others' are found where it only declares.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::SourceMap;

use crate::ast::{FunctionName, Item, ItemKind, Member, StructDecl, TranslationUnit, VarDecl};

/// Joins the files of a program. Items of headers that several of them hold, and equal types, become common to all.
///
/// Each comes with its path, as messages show it.
pub fn join(units: Vec<(String, TranslationUnit)>, sources: &SourceMap) -> TranslationUnit {
    let own: Vec<&str> = units.iter().map(|(path, _)| path.as_str()).collect();
    let keys: Vec<Vec<Option<String>>> = units
        .iter()
        .map(|(_, u)| u.items.iter().map(|i| common_key(i, &own, sources)).collect())
        .collect();
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for unit in &keys {
        let once: HashSet<&str> = unit.iter().flatten().map(String::as_str).collect();
        once.into_iter().for_each(|key| *holders.entry(key).or_default() += 1);
    }
    let shared: HashSet<String> =
        holders.into_iter().filter(|(_, n)| *n > 1).map(|(key, _)| key.to_string()).collect();
    let mut joined = TranslationUnit::default();
    let (mut common, mut files, mut seen) = (vec![], vec![], HashSet::new());
    for ((_, unit), keys) in units.into_iter().zip(keys) {
        let Some(span) = unit.items.first().map(|i| i.span) else { continue };
        let mut items = vec![];
        for (item, key) in unit.items.into_iter().zip(keys) {
            match key.filter(|k| shared.contains(k)) {
                Some(key) if seen.insert(key.clone()) => common.push(item),
                Some(_) => {}
                None => items.push(item),
            }
        }
        files.push(Item { kind: ItemKind::File(items), span });
        joined.comments.extend(unit.comments);
        joined.instantiations.extend(unit.instantiations);
        joined.macros.extend(unit.macros);
        joined.missing_headers.extend(unit.missing_headers);
        joined.library_files.extend(unit.library_files);
    }
    joined.items = common;
    joined.items.append(&mut files);
    joined
}

/// By what an item is known again in another file: items of headers by all they say, types of the files themselves, too.
fn common_key(item: &Item, own: &[&str], sources: &SourceMap) -> Option<String> {
    let path = sources.get(item.span.file)?.path.as_str();
    let is_type = matches!(item.kind, ItemKind::Struct(_) | ItemKind::Enum(_) | ItemKind::Alias(_));
    match own.contains(&path) {
        true if !is_type => None,
        true => Some(without_spans(&item.kind)),
        false => Some(format!("{path}:{}:{}", item.span.start, without_spans(&item.kind))),
    }
}

/// The syntax as text, without places: the same header read twice has two numbers.
fn without_spans(kind: &ItemKind) -> String {
    const SPAN: &str = "Span {";
    let text = format!("{kind:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(SPAN) {
        out.push_str(&rest[..at]);
        rest = rest[at..].find('}').map_or("", |end| &rest[at + end + 1..]);
    }
    out + rest
}

/// Names of functions and variables that a file declares and does not define; of methods `Class::method`.
pub fn undefined(unit: &TranslationUnit) -> HashSet<String> {
    let (mut declared, mut defined) = (HashSet::new(), HashSet::new());
    names(&unit.items, &mut declared, &mut defined);
    &declared - &defined
}

/// Names of functions and variables that a file defines for others, too.
pub fn defined(unit: &TranslationUnit) -> HashSet<String> {
    let (mut declared, mut defined) = (HashSet::new(), HashSet::new());
    names(&unit.items, &mut declared, &mut defined);
    defined
}

fn names(items: &[Item], declared: &mut HashSet<String>, defined: &mut HashSet<String>) {
    for item in items {
        match &item.kind {
            ItemKind::Function(f) if !f.attrs.is_static => {
                let FunctionName::Plain(path) = &f.name else { continue };
                let list = if f.body.is_some() { &mut *defined } else { &mut *declared };
                if let [.., class, last] = path.segments.as_slice() {
                    list.insert(format!("{}::{}", class.name, last.name));
                }
                list.extend(path.segments.last().map(|last| last.name.clone()));
            }
            ItemKind::Struct(s) => declared.extend(methods_elsewhere(s)),
            ItemKind::Vars(vars) if vars.attrs.is_extern && !vars.attrs.shared => {
                declared.extend(variables(vars));
            }
            ItemKind::Vars(vars) if !vars.attrs.is_static && !vars.attrs.shared => {
                defined.extend(variables(vars));
            }
            ItemKind::Namespace { name: Some(_), items } | ItemKind::File(items) => {
                names(items, declared, defined);
            }
            _ => {}
        }
    }
}

/// `Class::method` of those that the class only declares.
fn methods_elsewhere(class: &StructDecl) -> impl Iterator<Item = String> {
    let name = class.name.as_deref().unwrap_or_default();
    class.members.iter().flatten().filter_map(move |member| {
        let Member::Method(f) = member else { return None };
        let method = match &f.name {
            FunctionName::Plain(path) => path.segments.last()?.name.clone(),
            FunctionName::Operator(operator) => format!("operator{operator}"),
            FunctionName::Constructor => name.to_string(),
            _ => return None,
        };
        f.body.is_none().then(|| format!("{name}::{method}"))
    })
}

fn variables(vars: &VarDecl) -> impl Iterator<Item = String> {
    vars.declarators.iter().map(|d| d.name.clone())
}
