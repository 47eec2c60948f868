//! What files for verifiers leave open, before anything is lowered: functions without bodies, and numbers that nobody gives.

use super::annotations::ASSUMED;
use crate::ast;

/// Where a launch's clock begins for the first results of functions without bodies to differ between all threads. As a
/// multiple of 13 it leaves the turns of threads as they are.
pub const ALL_DIFFER_FROM: u64 = 13 << 32;

/// How long they do: some 45 calls.
pub(super) const ALL_DIFFER_FOR: u64 = 1024;

/// Whether some function of the device has no body where it is declared.
pub fn declares_only(unit: &ast::TranslationUnit) -> bool {
    let open = |f: &ast::FunctionDecl| f.attrs.device && f.body.is_none();
    unit.items.iter().any(|i| matches!(&i.kind, ast::ItemKind::Function(f) if open(f)))
}

/// Reads a file as verifiers do.
///
/// Functions of the device without a body count as promised by a verifier's `__spec`, whatever they do: files for verifiers
/// leave out what they mean to be arbitrary. What CUDA has under the name of such a declaration is called all the same.
/// Variables are the device's, whether they say so or not.
pub fn read_as_verifiers_do(unit: &mut ast::TranslationUnit) {
    for item in &mut unit.items {
        match &mut item.kind {
            ast::ItemKind::Function(f) => f.attrs.is_spec |= f.attrs.device && f.body.is_none(),
            ast::ItemKind::Vars(v) => {
                let attrs = &mut v.attrs;
                attrs.device |= !(attrs.shared || attrs.constant || attrs.is_constexpr);
            }
            _ => {}
        }
    }
}

/// A number for one parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterValue {
    /// The kernel's name, without namespaces.
    pub kernel: String,
    /// The parameter's name.
    pub parameter: String,
    /// The number.
    pub value: u64,
}

/// Whole numbers that the conditions of a file's kernels name: what their parameters may be meant to be.
pub fn numbers_of_conditions(unit: &ast::TranslationUnit) -> Vec<u64> {
    let mut all = vec![];
    each_assumption(unit, &mut |_, condition| {
        super::walk::expr(condition, &mut |e| all.extend(whole_number(e)));
    });
    all
}

/// The parameters of kernels that conditions give one value, `__requires(n == 64 && m == 8)`.
pub fn values_of_conditions(unit: &ast::TranslationUnit) -> Vec<ParameterValue> {
    let mut all = vec![];
    each_assumption(unit, &mut |f, condition| {
        let mut values = vec![];
        equalities(condition, &mut values);
        all.extend(values.into_iter().filter_map(|(name, value)| of_parameter(f, name, value)));
    });
    all
}

/// Numbers for one parameter at a time that lead somewhere: those that it is compared with for equality, and sums and
/// differences of two numbers that its kernel compares anything with. Where one thread is `15` and another `200`, an offset of
/// 185 makes them meet.
pub fn values_of_comparisons(unit: &ast::TranslationUnit) -> Vec<ParameterValue> {
    let mut all: Vec<ParameterValue> = vec![];
    super::program::each_function(&unit.items, &mut |f| {
        let Some(body) = f.body.as_ref().filter(|_| f.attrs.global) else { return };
        let (mut direct, mut numbers) = (vec![], vec![]);
        super::walk::block(body, &mut |e| {
            for (side, number) in comparison(e) {
                direct.extend(name_of(side).and_then(|name| of_parameter(f, name, number)));
                numbers.push(number);
            }
        });
        numbers.sort_unstable();
        numbers.dedup();
        let pairs = numbers.iter().enumerate();
        let pairs = pairs.flat_map(|(i, a)| {
            numbers[i + 1..].iter().map(move |b| [Some(b - a), a.checked_add(*b)])
        });
        let met: Vec<u64> = pairs.flatten().flatten().collect();
        let integers = f.params.iter().filter(|p| is_integer(&p.ty));
        for name in integers.filter_map(|p| p.name.as_deref()) {
            direct.extend(met.iter().filter_map(|n| of_parameter(f, name, *n)));
        }
        for value in direct {
            if !all.contains(&value) {
                all.push(value);
            }
        }
    });
    all
}

/// The number as one for a parameter of that name, if it is passed by value.
fn of_parameter(f: &ast::FunctionDecl, name: &str, value: u64) -> Option<ParameterValue> {
    let parameter = f.params.iter().find(|p| p.name.as_deref() == Some(name))?;
    let by_value = match &parameter.ty.kind {
        ast::TypeKind::Builtin(words) => value <= largest(words),
        ast::TypeKind::Named(_) => true,
        _ => false,
    };
    let ast::FunctionName::Plain(path) = &f.name else { return None };
    let kernel = path.segments.last()?.name.clone();
    by_value.then(|| ParameterValue { kernel, parameter: name.to_string(), value })
}

/// The largest number of a type of these words.
fn largest(words: &[String]) -> u64 {
    let has = |word: &str| words.iter().any(|w| w == word);
    let bits = match () {
        () if has("bool") => return 1,
        () if has("float") || has("double") => return u64::MAX,
        () if has("char") => 8,
        () if has("short") => 16,
        () if has("long") => 64,
        () => 32,
    };
    u64::MAX >> (64 - bits + u32::from(!has("unsigned")))
}

fn is_integer(ty: &ast::TypeName) -> bool {
    match &ty.kind {
        ast::TypeKind::Builtin(words) => !words.iter().any(|w| w == "float" || w == "double"),
        ast::TypeKind::Named(path) => {
            matches!(path.as_name(), Some("size_t" | "uint" | "uint32_t" | "int32_t" | "uint64_t"))
        }
        _ => false,
    }
}

/// Conditions that say which launches of a kernel are meant.
fn each_assumption(
    unit: &ast::TranslationUnit,
    see: &mut dyn FnMut(&ast::FunctionDecl, &ast::Expr),
) {
    super::program::each_function(&unit.items, &mut |f| {
        let Some(body) = f.body.as_ref().filter(|_| f.attrs.global) else { return };
        super::walk::block(body, &mut |e| {
            let ast::ExprKind::Call { callee, args } = &*e.kind else { return };
            let ast::ExprKind::Path(path) = &*callee.kind else { return };
            if path.as_name().is_some_and(|name| ASSUMED.contains(&name)) {
                args.iter().for_each(|arg| see(f, arg));
            }
        });
    });
}

/// `name == number` wherever it must hold for the whole to hold.
fn equalities<'e>(e: &'e ast::Expr, into: &mut Vec<(&'e str, u64)>) {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => equalities(inner, into),
        ast::ExprKind::Binary { op, left, right } if op == "&&" || op == "&" => {
            equalities(left, into);
            equalities(right, into);
        }
        ast::ExprKind::Binary { op, .. } if op == "==" => {
            into.extend(comparison(e).filter_map(|(side, n)| Some((name_of(side)?, n))));
        }
        _ => {}
    }
}

/// What a comparison for equality compares with a number.
fn comparison(e: &ast::Expr) -> impl Iterator<Item = (&ast::Expr, u64)> {
    let sides = match &*e.kind {
        ast::ExprKind::Binary { op, left, right } if op == "==" || op == "!=" => {
            vec![(left, right), (right, left)]
        }
        _ => vec![],
    };
    sides.into_iter().filter_map(|(side, number)| Some((side, whole_number(number)?)))
}

fn name_of(e: &ast::Expr) -> Option<&str> {
    let ast::ExprKind::Path(path) = &*e.kind else { return None };
    path.as_name()
}

fn whole_number(e: &ast::Expr) -> Option<u64> {
    let ast::ExprKind::Number(text) = &*e.kind else { return None };
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}
