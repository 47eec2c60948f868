//! Values of whole numbers and of constants of a file, as far as its text says them.

use warpsmith_front::ast::{
    self, ExprKind, Initializer, ItemKind, Member, TranslationUnit, TypeKind,
};

use super::marks;

/// The value of whole numbers and constants of the file that are added, subtracted, multiplied and divided.
pub fn value_of(unit: &TranslationUnit, text: &str) -> Option<i64> {
    let tokens = marks::tokens(text);
    let words: Vec<&str> = tokens.iter().map(|t| &text[t.at.clone()]).collect();
    let mut at = 0;
    let value = sum(unit, &words, &mut at, 0)?;
    (at == words.len()).then_some(value)
}

/// Constants in constants that are followed.
const MAX_NESTED: u32 = 8;

fn sum(unit: &TranslationUnit, words: &[&str], at: &mut usize, depth: u32) -> Option<i64> {
    let mut value = product(unit, words, at, depth)?;
    while let Some(op @ ("+" | "-")) = words.get(*at).copied() {
        *at += 1;
        let other = product(unit, words, at, depth)?;
        value = if op == "+" { value.checked_add(other)? } else { value.checked_sub(other)? };
    }
    Some(value)
}

fn product(unit: &TranslationUnit, words: &[&str], at: &mut usize, depth: u32) -> Option<i64> {
    let mut value = factor(unit, words, at, depth)?;
    while let Some(op @ ("*" | "/")) = words.get(*at).copied() {
        *at += 1;
        let other = factor(unit, words, at, depth)?;
        value = if op == "*" { value.checked_mul(other)? } else { value.checked_div(other)? };
    }
    Some(value)
}

fn factor(unit: &TranslationUnit, words: &[&str], at: &mut usize, depth: u32) -> Option<i64> {
    let word = *words.get(*at)?;
    *at += 1;
    if word == "-" {
        return factor(unit, words, at, depth)?.checked_neg();
    }
    if word == "(" {
        let value = sum(unit, words, at, depth)?;
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return closed.then_some(value);
    }
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return whole(word);
    }
    if depth >= MAX_NESTED {
        return None;
    }
    let mut path = vec![word];
    while let [":", ":", member, ..] = words[*at..] {
        path.push(member);
        *at += 3;
    }
    let Some(inner) = unit.macros.get(word).filter(|_| path.len() == 1) else {
        return constant_value(unit, &path, &[], depth);
    };
    let tokens = marks::tokens(inner);
    // A macro is text: `K / 2` is not half of a sum.
    let alone = words.len() == 1;
    let words: Vec<&str> = tokens.iter().map(|t| &inner[t.at.clone()]).collect();
    let mut at = 0;
    let value = match alone {
        true => sum(unit, &words, &mut at, depth + 1)?,
        false => factor(unit, &words, &mut at, depth + 1)?,
    };
    (at == words.len()).then_some(value)
}

/// A whole number as C writes it; `None` for what is none, or is written in another way.
pub fn whole(text: &str) -> Option<i64> {
    let plain = text.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hex) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        return i64::from_str_radix(hex, 16).ok();
    }
    match is_octal(text) {
        true => i64::from_str_radix(plain, 8).ok(),
        false => plain.parse().ok(),
    }
}

/// Whether a number begins with a zero that says how to read it.
pub fn is_octal(text: &str) -> bool {
    let plain = text.trim_end_matches(['u', 'U', 'l', 'L']);
    plain.len() > 1 && plain.starts_with('0') && plain.bytes().all(|b| b.is_ascii_digit())
}

/// Types of headers whose names say what they hold, by the bits of numbers above zero.
const OF_HEADERS: &[(&str, u32)] = &[
    ("size_t", 62),
    ("ptrdiff_t", 62),
    ("ssize_t", 62),
    ("int64_t", 62),
    ("uint64_t", 62),
    ("int32_t", 31),
    ("uint32_t", 31),
    ("uint", 31),
];

/// Whether numbers of a type have 64 bits, as it is written.
pub fn is_long(ty: &ast::TypeName) -> bool {
    match &ty.kind {
        TypeKind::Builtin(words) => words.iter().any(|w| w == "long"),
        TypeKind::Named(path) => {
            let name = path.segments.last().map(|s| s.name.as_str());
            OF_HEADERS.iter().any(|(own, bits)| *bits > 32 && Some(*own) == name)
        }
        _ => false,
    }
}

/// A whole number in a variable of a type; `None` where that may not hold it, or is not known.
pub fn held(value: i64, ty: &ast::TypeName) -> Option<i64> {
    let (bits, signed) = match &ty.kind {
        TypeKind::Builtin(words) => {
            let has = |word: &str| words.iter().any(|w| w == word);
            let bits = match () {
                () if has("float") || has("double") => return None,
                () if has("bool") => return Some((value != 0).into()),
                () if has("char") => 7,
                () if has("short") => 15,
                () if has("long") => 62,
                () => 31,
            };
            (bits, !has("unsigned"))
        }
        TypeKind::Named(path) => {
            let name = path.segments.last()?.name.as_str();
            (OF_HEADERS.iter().find(|(own, _)| *own == name)?.1, false)
        }
        _ => return None,
    };
    let least = if signed { -(1i64 << bits) } else { 0 };
    (least..1 << bits).contains(&value).then_some(value)
}

/// A constant with a name.
struct Constant<'a> {
    /// Names that it stands in: namespaces, then types.
    scope: Vec<&'a str>,
    /// How many of these are types, without which nobody outside of them knows it.
    types: usize,
    /// What another name says, beside that of its scope: that of its enumeration.
    enumeration: Option<&'a str>,
    value: Value<'a>,
}

enum Value<'a> {
    Variable(&'a ast::VarDecl, &'a ast::Declarator),
    Enumerator(&'a ast::EnumDecl),
    /// Of a template, which has many.
    Unknown,
}

/// The value of a constant outside of all functions, as others in the types `inside` name it. Of several with one name none is known.
fn constant_value(
    unit: &TranslationUnit,
    path: &[&str],
    inside: &[&str],
    depth: u32,
) -> Option<i64> {
    let (name, owners) = path.split_last()?;
    let mut all = vec![];
    constants(&unit.items, name, &mut vec![], &mut all);
    let [only] = all.as_slice() else { return None };
    let types = &only.scope[only.scope.len() - only.types..];
    let meant = match owners {
        [] => types.is_empty() || types == inside,
        [of] if only.enumeration == Some(of) => types.is_empty(),
        _ => only.scope.ends_with(owners) && owners.len() >= only.types,
    };
    match only.value {
        _ if !meant => None,
        Value::Unknown => None,
        Value::Enumerator(e) => enumerator(unit, e, name, types, depth),
        Value::Variable(v, d) => {
            let fixed = v.attrs.is_constexpr || d.ty.is_const;
            let Some(Initializer::Expr(e)) =
                d.init.as_ref().filter(|_| fixed && !v.attrs.shared && !v.attrs.constant)
            else {
                return None;
            };
            held(constant_expr(unit, e, types, depth + 1)?, &d.ty)
        }
    }
}

/// Everything outside of functions that has a name and, if it is a constant, a value.
fn constants<'a>(
    items: &'a [ast::Item],
    name: &str,
    namespaces: &mut Vec<&'a str>,
    all: &mut Vec<Constant<'a>>,
) {
    for item in items {
        match &item.kind {
            ItemKind::Vars(v) => variable(v, name, (namespaces, 0), all),
            ItemKind::Enum(e) => enumerators(e, name, (namespaces, 0), all),
            ItemKind::Struct(s) => members(s, name, (namespaces, 0), all),
            ItemKind::File(items) => constants(items, name, namespaces, all),
            ItemKind::Namespace { name: own, items } => {
                namespaces.extend(own.as_deref());
                constants(items, name, namespaces, all);
                namespaces.truncate(namespaces.len() - usize::from(own.is_some()));
            }
            _ => {}
        }
    }
}

fn variable<'a>(
    v: &'a ast::VarDecl,
    name: &str,
    (scope, types): (&[&'a str], usize),
    all: &mut Vec<Constant<'a>>,
) {
    let own = v.declarators.iter().filter(|d| d.name == name);
    all.extend(own.map(|d| {
        let value = match v.template {
            Some(_) => Value::Unknown,
            None => Value::Variable(v, d),
        };
        Constant { scope: scope.to_vec(), types, enumeration: None, value }
    }));
}

fn enumerators<'a>(
    e: &'a ast::EnumDecl,
    name: &str,
    (scope, types): (&[&'a str], usize),
    all: &mut Vec<Constant<'a>>,
) {
    if e.variants.iter().all(|(own, ..)| own != name) {
        return;
    }
    let mut one = Constant {
        scope: scope.to_vec(),
        types,
        enumeration: e.name.as_deref(),
        value: Value::Enumerator(e),
    };
    if e.scoped {
        one.scope.extend(one.enumeration.take());
        one.types += 1;
    }
    all.push(one);
}

/// What a structure declares beside its fields, and what those inside of it do.
fn members<'a>(
    s: &'a ast::StructDecl,
    name: &str,
    (scope, types): (&[&'a str], usize),
    all: &mut Vec<Constant<'a>>,
) {
    let mut scope = scope.to_vec();
    scope.push(s.name.as_deref().unwrap_or(""));
    let (scope, before) = ((scope.as_slice(), types + 1), all.len());
    for member in s.members.iter().flatten() {
        match member {
            Member::Field(v) if v.attrs.is_static || v.attrs.is_constexpr => {
                variable(v, name, scope, all);
            }
            Member::Enum(e) => enumerators(e, name, scope, all),
            Member::Struct(s) => members(s, name, scope, all),
            _ => {}
        }
    }
    if s.template.is_some() {
        all[before..].iter_mut().for_each(|c| c.value = Value::Unknown);
    }
}

/// The fields of a structure of numbers, in their order with their types. `None` where numbers in braces may be for anything else:
/// it is one of several with that name, or has a base, functions, arrays, structures or what all objects share.
pub fn fields(unit: &TranslationUnit, name: &str) -> Option<Vec<(String, ast::TypeName)>> {
    let mut all = vec![];
    structures(&unit.items, name, &mut all);
    let [Some(only)] = all.as_slice() else { return None };
    if only.template.is_some() || only.is_union || !only.bases.is_empty() {
        return None;
    }
    let mut fields = vec![];
    for member in only.members.iter().flatten() {
        let Member::Field(v) = member else { return None };
        let shared = v.attrs.is_static || v.attrs.is_constexpr || v.attrs.is_mutable;
        let number =
            |d: &ast::Declarator| matches!(d.ty.kind, TypeKind::Builtin(_)) && d.bits.is_none();
        if shared || !v.declarators.iter().all(number) {
            return None;
        }
        fields.extend(v.declarators.iter().map(|d| (d.name.clone(), d.ty.clone())));
    }
    Some(fields)
}

/// Structures with a name and members, and other types of that name, which are none.
fn structures<'a>(items: &'a [ast::Item], name: &str, all: &mut Vec<Option<&'a ast::StructDecl>>) {
    for item in items {
        match &item.kind {
            ItemKind::Struct(s) if s.name.as_deref() == Some(name) && s.members.is_some() => {
                all.push(Some(s));
            }
            ItemKind::Alias(a) if a.name == name => all.push(None),
            ItemKind::Namespace { items, .. } | ItemKind::File(items) => {
                structures(items, name, all);
            }
            _ => {}
        }
    }
}

/// The value of an enumerator: its own, or one more than that of the one before.
fn enumerator(
    unit: &TranslationUnit,
    e: &ast::EnumDecl,
    name: &str,
    types: &[&str],
    depth: u32,
) -> Option<i64> {
    let mut next = Some(0i64);
    for (own, value, _) in &e.variants {
        let value = match value {
            Some(value) => constant_expr(unit, value, types, depth + 1),
            None => next,
        };
        if own == name {
            return value;
        }
        next = value.and_then(|v| v.checked_add(1));
    }
    None
}

/// The value of an expression in types.
fn constant_expr(unit: &TranslationUnit, e: &ast::Expr, types: &[&str], depth: u32) -> Option<i64> {
    let of = |e: &ast::Expr| constant_expr(unit, e, types, depth);
    match &*e.kind {
        ExprKind::Number(n) => whole(n),
        ExprKind::Paren(e) => of(e),
        ExprKind::Path(p) if depth < MAX_NESTED => {
            constant_value(unit, &[p.as_name()?], types, depth)
        }
        ExprKind::Binary { op, left, right } => {
            let (a, b) = (of(left)?, of(right)?);
            match op.as_str() {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                "/" => a.checked_div(b),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Compiler, Settings};
    use warpsmith_ir::SourceMap;

    fn known<const N: usize>(text: &str, names: [&str; N]) -> [Option<i64>; N] {
        let compiler = Compiler::new(Settings { path: "f.cu".into(), ..Settings::default() });
        let text = format!("{text}\n__global__ void f() {{}}\n");
        let unit = compiler.parse(&text, &[], &mut SourceMap::new()).expect("it is parsed");
        names.map(|name| value_of(&unit, name))
    }

    #[test]
    fn of_several_constants_with_a_name_none_is_known() {
        for (text, name) in [
            ("namespace p { const int N = 3; } namespace q { const int N = 7; }", "q::N"),
            (
                "namespace p { struct T { enum { M = 3 }; }; } namespace q { struct T { enum { M = 7 }; }; }",
                "q::T::M",
            ),
            ("const int X = 3; struct Tile { static constexpr int X = 7, Y = X; };", "Tile::Y"),
            ("enum class G0 { N = 3 }; enum class G { N = 7 };", "G::N"),
            ("const int N = 3; enum class G { N = 7 };", "N"),
            ("struct S { enum { N = 3 }; }; int N;", "N"),
            ("template <int K> struct S { enum { N = K }; };", "S::N"),
            ("struct S { enum { N = 3 }; }; struct T { enum { M = N }; };", "T::M"),
            ("const unsigned char N = 352;", "N"),
            ("typedef unsigned char T; const T N = 352;", "N"),
            ("enum { N = 09 };", "N"),
        ] {
            assert_eq!(known(text, [name]), [None], "{text}");
        }
    }

    #[test]
    fn names_are_looked_up_where_they_stand() {
        let text = "namespace p { struct T { enum { M = 0100, L = M / 2 }; }; const int N = 7; }
enum class G { A = 5, B = A + 1 };
enum E { C = 9 };
#define K 100 + 28
";
        let names = ["p::T::M", "T::L", "p::N", "N", "G::B", "B", "E::C", "C", "K", "K / 4"];
        let expected = [64, 32, 7, 7, 6].map(Some).into_iter();
        let expected = expected.chain([None, Some(9), Some(9), Some(128), None]);
        assert_eq!(known(text, names).to_vec(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn enumerators_and_members_have_values() {
        let text = "enum { A = 4, B, C = B * 2, D };
struct Tile { enum { X = 32, Y }; static constexpr int Z = X / 4; int W; };
namespace inner { struct Other { static constexpr int N = 7; }; }
";
        let names = ["A + B", "C - D", "Tile::X * 2", "Tile::Y", "inner::Other::N", "Tile::W", "X"];
        let expected = [Some(9), Some(-1), Some(64), Some(33), Some(7), None, None];
        assert_eq!(known(text, names), expected);
    }
}
