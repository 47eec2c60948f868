//! Values of whole numbers and of constants of a file, as far as its text says them.

use warpsmith_front::ast::{self, ExprKind, Initializer, ItemKind, Member, TranslationUnit};

use super::marks;
use super::scope::is_constant;

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
        return word.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok();
    }
    if depth >= MAX_NESTED {
        return None;
    }
    let mut path = vec![word];
    while let [":", ":", member, ..] = words[*at..] {
        path.push(member);
        *at += 3;
    }
    if let [.., owner, name] = path.as_slice()
        && let Some(members) = members(&unit.items, owner)
    {
        return of_member(unit, members, name, depth);
    }
    let word = path[path.len() - 1];
    let inner = match unit.macros.get(word) {
        Some(text) => text.clone(),
        None => return constant_value(unit, &unit.items, word, depth),
    };
    let tokens = marks::tokens(&inner);
    let words: Vec<&str> = tokens.iter().map(|t| &inner[t.at.clone()]).collect();
    let mut at = 0;
    let value = sum(unit, &words, &mut at, depth + 1)?;
    (at == words.len()).then_some(value)
}

/// The value of a constant outside of all functions whose initialiser is a number or another constant.
fn constant_value(
    unit: &TranslationUnit,
    items: &[ast::Item],
    name: &str,
    depth: u32,
) -> Option<i64> {
    if !is_constant(items, name, true) {
        return None;
    }
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Vars(v) => {
            let d = v.declarators.iter().find(|d| d.name == name)?;
            match &d.init {
                Some(Initializer::Expr(e)) => constant_expr(unit, e, depth + 1),
                _ => None,
            }
        }
        ItemKind::Enum(e) => enumerator(unit, e, name, depth),
        ItemKind::Namespace { items, .. } => constant_value(unit, items, name, depth),
        _ => None,
    })
}

/// What a structure of the file declares.
fn members<'a>(items: &'a [ast::Item], name: &str) -> Option<&'a [Member]> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Struct(s) if s.name.as_deref() == Some(name) && s.template.is_none() => {
            s.members.as_deref()
        }
        ItemKind::Namespace { items, .. } => members(items, name),
        _ => None,
    })
}

/// The names of the fields of a structure, in their order.
pub fn fields(unit: &TranslationUnit, name: &str) -> Option<Vec<String>> {
    let one = |member: &Member| match member {
        Member::Field(v) if !v.attrs.is_constexpr => {
            v.declarators.iter().map(|d| d.name.clone()).collect()
        }
        _ => vec![],
    };
    Some(members(&unit.items, name)?.iter().flat_map(one).collect())
}

/// The value of a constant that a structure declares.
fn of_member(unit: &TranslationUnit, members: &[Member], name: &str, depth: u32) -> Option<i64> {
    members.iter().find_map(|member| match member {
        Member::Field(v) if v.attrs.is_constexpr => {
            match &v.declarators.iter().find(|d| d.name == name)?.init {
                Some(Initializer::Expr(e)) => constant_expr(unit, e, depth + 1),
                _ => None,
            }
        }
        Member::Enum(e) => enumerator(unit, e, name, depth),
        _ => None,
    })
}

/// The value of an enumerator: its own, or one more than that of the one before.
fn enumerator(unit: &TranslationUnit, e: &ast::EnumDecl, name: &str, depth: u32) -> Option<i64> {
    let mut next = Some(0i64);
    for (own, value, _) in &e.variants {
        let value = match value {
            Some(value) => constant_expr(unit, value, depth + 1),
            None => next,
        };
        if own == name {
            return value;
        }
        next = value.and_then(|v| v.checked_add(1));
    }
    None
}

fn constant_expr(unit: &TranslationUnit, e: &ast::Expr, depth: u32) -> Option<i64> {
    match &*e.kind {
        ExprKind::Number(n) => n.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok(),
        ExprKind::Paren(e) => constant_expr(unit, e, depth),
        ExprKind::Path(p) if depth < MAX_NESTED => {
            constant_value(unit, &unit.items, p.as_name()?, depth)
        }
        ExprKind::Binary { op, left, right } => {
            let (a, b) = (constant_expr(unit, left, depth)?, constant_expr(unit, right, depth)?);
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

    #[test]
    fn enumerators_and_members_have_values() {
        let text = "enum { A = 4, B, C = B * 2, D };
struct Tile { enum { X = 32, Y }; static constexpr int Z = X / 4; int W; };
namespace inner { struct Other { static constexpr int N = 7; }; }
__global__ void f() {}
";
        let compiler = Compiler::new(Settings { path: "f.cu".into(), ..Settings::default() });
        let unit = compiler.parse(text, &[], &mut SourceMap::new()).expect("it is parsed");
        let known = ["A + B", "C - D", "Tile::X * 2", "Tile::Y", "inner::Other::N", "Tile::W", "X"];
        let expected = [Some(9), Some(-1), Some(64), Some(33), Some(7), None, None];
        assert_eq!(known.map(|t| value_of(&unit, t)), expected);
    }
}
