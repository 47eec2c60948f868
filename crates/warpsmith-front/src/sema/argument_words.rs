//! Words that a program wants among its arguments, as its comparisons say: `strcmp(argv[1], "-n")`.

use std::collections::BTreeMap;

use super::program::each_function;
use crate::ast::{self, ExprKind, Initializer, TranslationUnit};

/// Functions that compare two strings.
const COMPARE: &[&str] = &["strcmp", "strncmp", "strcasecmp", "strncasecmp"];

/// The first word that each argument is compared with, by its number.
pub fn argument_words(unit: &TranslationUnit) -> BTreeMap<usize, String> {
    let mut words = BTreeMap::new();
    each_function(&unit.items, &mut |f| {
        let Some(body) = &f.body else { return };
        super::walk::block(body, &mut |e| {
            let Some((a, b)) = compared(e) else { return };
            let pairs = [(a, b), (b, a)];
            let found = pairs.iter().find_map(|(a, b)| Some((position(a)?, text(b)?)));
            if let Some((at, word)) = found {
                words.entry(at).or_insert_with(|| word.to_string());
            }
        });
    });
    words
}

/// Options that take a value, as the program's texts name them: `-s size` in a line about its use.
pub fn option_words(unit: &TranslationUnit) -> Vec<String> {
    let mut options: Vec<String> = vec![];
    each_function(&unit.items, &mut |f| {
        let Some(body) = &f.body else { return };
        super::walk::block(body, &mut |e| {
            let ExprKind::Str(text) = &*e.kind else { return };
            let words: Vec<&str> = text.split_whitespace().collect();
            for pair in words.windows(2) {
                let option = pair[0].trim_start_matches(['[', '(']);
                let value = pair[1].trim_start_matches(['<', '[', '(']);
                let takes = value.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '#');
                if is_option(option) && takes && !options.iter().any(|o| o == option) {
                    options.push(option.to_string());
                }
            }
        });
    });
    options
}

/// `-n`, `--size`.
fn is_option(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    name.is_some_and(|n| {
        n.starts_with(|c: char| c.is_ascii_alphabetic())
            && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    })
}

/// The two sides of a comparison of strings.
fn compared(e: &ast::Expr) -> Option<(&ast::Expr, &ast::Expr)> {
    match &*e.kind {
        ExprKind::Call { callee, args } => {
            let ExprKind::Path(path) = &*callee.kind else { return None };
            let name = &path.segments.last()?.name;
            let [a, b, ..] = args.as_slice() else { return None };
            COMPARE.contains(&name.as_str()).then_some((a, b))
        }
        ExprKind::Binary { op, left, right } if op == "==" || op == "!=" => Some((left, right)),
        _ => None,
    }
}

/// The number of `argv[2]`, also as a string of the library.
fn position(e: &ast::Expr) -> Option<usize> {
    match &*e.kind {
        ExprKind::Index { base, index } => {
            let ExprKind::Path(path) = &*base.kind else { return None };
            let ExprKind::Number(digits) = &*index.kind else { return None };
            let at = digits.parse().ok()?;
            (path.as_name()? == "argv" && at > 0).then_some(at)
        }
        ExprKind::Paren(inner) | ExprKind::Cast { operand: inner, .. } => position(inner),
        ExprKind::Construct { args, .. } => match args.as_slice() {
            [Initializer::Expr(only)] => position(only),
            _ => None,
        },
        ExprKind::Call { args, .. } => match args.as_slice() {
            [only] => position(only),
            _ => None,
        },
        _ => None,
    }
}

fn text(e: &ast::Expr) -> Option<&str> {
    match &*e.kind {
        ExprKind::Str(text) => Some(text),
        ExprKind::Paren(inner) => self::text(inner),
        _ => None,
    }
}
