//! What fixes the shape of a block: named constants of the file, numbers in host code, or nothing.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind, Initializer, ItemKind, StmtKind, TranslationUnit};
use warpsmith_front::pp::Piece;
use warpsmith_front::sema::walk;
use warpsmith_ir::{SourceMap, Span};

use super::deduced;
use super::hosts;
use super::marks::{self, Tok};
use super::patch::Patch;
use super::scope::{self, SharedArray, Site};
use super::values;

/// What one extent of the block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing says it: the kernel asks `blockDim`.
    Free,
    /// A constant of the file with this name.
    Constant(String),
    /// That many threads.
    Number(u32),
}

impl Extent {
    /// What further axes have where this is all that stands there.
    fn unless_number(self) -> Extent {
        if self == Extent::Free { self } else { Extent::Number(1) }
    }

    /// The name of the constant that it is.
    pub fn constant(&self) -> Option<&String> {
        match self {
            Extent::Constant(name) => Some(name),
            _ => None,
        }
    }
}

/// The three extents of the block, as the host code of the file launches a kernel.
pub fn of_host(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Option<[Extent; 3]> {
    let mut found = None;
    hosts::each_function(unit, sources, &mut |body, names| {
        let mut dims: HashMap<String, Vec<String>> = HashMap::new();
        declared_dims(body, sources, &mut dims);
        walk::block(body, &mut |e| {
            if let ExprKind::Launch { callee, config, .. } = &*e.kind
                && base_name(sources.text(callee.span)) == kernel
                && let Some(block) = config.get(1)
                && found.is_none()
            {
                let texts = dims_of(block, sources, &dims);
                let known = |t: &String| extent(&names.put_in(t), unit);
                let all = texts.iter().map(known).collect::<Vec<_>>();
                // A name or a call may be all three.
                let rest = match all.as_slice() {
                    [only] => only.clone().unless_number(),
                    _ => Extent::Number(1),
                };
                found = Some([0, 1, 2].map(|i| all.get(i).unwrap_or(&rest).clone()));
            }
        });
    });
    found
}

/// An instance of a kernel that host code launches.
pub struct Instance {
    /// As it is written, with the function's constants and template parameters put in.
    pub name: String,
    /// A name in it that stands for something unknown.
    pub unknown: Option<String>,
}

/// The instances of a kernel that the host code of the file launches.
pub fn instances(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Vec<Instance> {
    let mut all = vec![];
    hosts::each_function(unit, sources, &mut |body, names| {
        walk::block(body, &mut |e| {
            if let ExprKind::Launch { callee, args, .. } = &*e.kind {
                let text = sources.text(callee.span);
                let plain = base_name(text) == kernel && !text.contains('<');
                let function = scope::kernel(unit, kernel).filter(|_| plain);
                if let Some(found) =
                    function.and_then(|f| deduced::arguments(f, args, body, sources))
                {
                    let name = names.put_in(&format!("{text}<{}>", found.join(", ")));
                    all.push(Instance { name, unknown: None });
                } else if base_name(text) == kernel {
                    let unknown = names.unknown_in(text).map(str::to_string);
                    all.push(Instance { name: names.put_in(text), unknown });
                }
            }
        });
    });
    all
}

/// A kernel with template arguments, by its name from outside of all namespaces: launches stand within some.
pub fn qualified(kernel: &str, name: &str) -> String {
    let arguments = kernel.find('<').map_or("", |at| &kernel[at..]);
    format!("{name}{arguments}")
}

/// The template arguments of a name as they stand there, without blanks.
pub fn squeezed_arguments(kernel: &str) -> String {
    let given = kernel.find('<').map_or("", |at| &kernel[at..]);
    given.split_whitespace().collect()
}

/// The name before template arguments and behind namespaces.
pub fn base_name(kernel: &str) -> &str {
    let plain = kernel.split('<').next().unwrap_or(kernel).trim();
    plain.rsplit("::").next().unwrap_or(plain)
}

/// Shows the bodies of all functions of a file that are no kernels.
pub fn each_body(items: &[ast::Item], see: &mut dyn FnMut(&ast::Block)) {
    for item in items {
        match &item.kind {
            ItemKind::Function(f) if !f.attrs.global => f.body.iter().for_each(&mut *see),
            ItemKind::Namespace { items, .. } => each_body(items, see),
            _ => {}
        }
    }
}

/// Variables of type `dim3` with the texts of what they are made from.
fn declared_dims(block: &ast::Block, sources: &SourceMap, dims: &mut HashMap<String, Vec<String>>) {
    for s in &block.stmts {
        match &s.kind {
            StmtKind::Vars(vars) => {
                for d in &vars.declarators {
                    let texts = match &d.init {
                        Some(Initializer::Call(args, _)) => {
                            args.iter().map(|a| sources.text(a.span).to_string()).collect()
                        }
                        Some(Initializer::Expr(e)) => dims_of(e, sources, dims),
                        Some(Initializer::List(items, _)) => items
                            .iter()
                            .filter_map(|i| match &i.value {
                                Initializer::Expr(e) => Some(sources.text(e.span).to_string()),
                                _ => None,
                            })
                            .collect(),
                        None => continue,
                    };
                    dims.insert(d.name.clone(), texts);
                }
            }
            StmtKind::Block(b) => declared_dims(b, sources, dims),
            _ => {}
        }
    }
}

fn dims_of(e: &ast::Expr, sources: &SourceMap, dims: &HashMap<String, Vec<String>>) -> Vec<String> {
    let text = |e: &ast::Expr| sources.text(e.span).to_string();
    match &*e.kind {
        ExprKind::Paren(inner) => dims_of(inner, sources, dims),
        ExprKind::Call { callee, args } if sources.text(callee.span).ends_with("dim3") => {
            args.iter().map(text).collect()
        }
        ExprKind::Construct { args, .. } => args
            .iter()
            .filter_map(|a| match a {
                Initializer::Expr(e) => Some(text(e)),
                _ => None,
            })
            .collect(),
        ExprKind::Path(path) => match path.as_name().and_then(|n| dims.get(n)) {
            Some(known) => known.clone(),
            None => vec![text(e)],
        },
        _ => vec![text(e)],
    }
}

/// A number, a constant that can be given another value, or something that is not followed further.
fn extent(text: &str, unit: &TranslationUnit) -> Extent {
    let text = text.trim();
    if let Ok(n) = text.parse() {
        return Extent::Number(n);
    }
    match scope::constants(unit, text).as_slice() {
        [only] if only == text => Extent::Constant(only.clone()),
        _ if scope::is_qualified_constant(unit, text) => {
            Extent::Constant(text.rsplit("::").next().unwrap_or(text).to_string())
        }
        // That of a structure, as no other constant of the file is called.
        _ if text.contains("::") => match is_path(text) && values::value_of(unit, text).is_some() {
            true => Extent::Constant(text.to_string()),
            false => Extent::Free,
        },
        // A product of constants is what it is with the constants of the file: they cannot be chosen one by one.
        _ => match values::value_of(unit, text).and_then(|n| u32::try_from(n).ok()) {
            Some(n) if n > 0 => Extent::Number(n),
            _ => Extent::Free,
        },
    }
}

fn is_path(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
}

/// What a kernel multiplies `blockIdx` with, when no host code launches it: constants, and arguments of its template that its shared
/// arrays are long by.
pub fn of_positions(
    unit: &TranslationUnit,
    kernel: &str,
    sources: &SourceMap,
    arrays: &[&SharedArray],
) -> [Extent; 3] {
    let mut shape = [Extent::Free, Extent::Free, Extent::Free];
    let Some(function) = scope::kernel(unit, base_name(kernel)) else { return shape };
    let Some(body) = &function.body else { return shape };
    let (apart, beside) = (not_blocks(body, sources), threads_beside(body, sources));
    // An instance has one block.
    let params = function.template.iter().flat_map(|t| &t.params).map(|p| p.name.as_deref());
    let arguments = hosts::template_arguments(kernel).unwrap_or_default();
    let given: Vec<_> = params.zip(&arguments).collect();
    let long = |name: &str| {
        arrays.iter().flat_map(|a| &a.extents).any(|e| scope::names(e).iter().any(|n| n == name))
    };
    let argument = |text: &str| {
        let own = given.iter().find(|(name, _)| *name == Some(text.trim()));
        let own = own.filter(|(name, _)| name.is_some_and(long));
        own.and_then(|(_, value)| value.trim().parse().ok()).map(Extent::Number)
    };
    walk::block(body, &mut |e| {
        let ExprKind::Binary { op, left, right } = &*e.kind else { return };
        for (a, b) in [(left, right), (right, left)] {
            let text = sources.text(a.span);
            let axis = ["x", "y", "z"].iter().position(|x| text == format!("blockIdx.{x}"));
            if let Some(axis) = axis.filter(|_| op == "*" && !apart.contains(&e.span)) {
                let text = sources.text(b.span);
                let axis = beside.get(&e.span).copied().unwrap_or(axis);
                shape[axis] = argument(text).unwrap_or_else(|| extent(text, unit));
            }
        }
    });
    shape
}

/// Products that are no number of threads: those that are multiplied once more, by the results of a thread, and those that what is
/// made from a thread's number is added to: `blockIdx.x * W + threadIdx.x % W`.
fn not_blocks(body: &ast::Block, sources: &SourceMap) -> Vec<Span> {
    let declared = scope::declared(body);
    let derived = |e: &ast::Expr| {
        let text = sources.text(e.span);
        text.contains("threadIdx") && text.contains(['%', '/', '&', '>'])
    };
    let made = |e: &ast::Expr| match &*e.kind {
        ExprKind::Path(path) => {
            let values = path.as_name().and_then(|n| declared.get(n));
            values.into_iter().flatten().flatten().any(&derived)
        }
        _ => derived(e),
    };
    let mut all = vec![];
    walk::block(body, &mut |e| {
        let ExprKind::Binary { op, left, right } = &*e.kind else { return };
        for (a, b) in
            [(scope::plain(left), scope::plain(right)), (scope::plain(right), scope::plain(left))]
        {
            let product = matches!(&*a.kind, ExprKind::Binary { op, .. } if op == "*");
            let again = op == "*" || op == "+" && made(b);
            all.extend((product && again).then_some(a.span));
        }
    });
    all
}

/// The axis of the thread's number that is added to a product, where there is one: `blockIdx.x * WARPS + threadIdx.y` counts along y.
fn threads_beside(body: &ast::Block, sources: &SourceMap) -> HashMap<Span, usize> {
    let declared = scope::declared(body);
    let axis = |e: &ast::Expr| {
        let text = sources.text(scope::plain(e).span);
        ["threadIdx.x", "threadIdx.y", "threadIdx.z"].iter().position(|t| *t == text)
    };
    let named = |e: &ast::Expr| match &*scope::plain(e).kind {
        ExprKind::Path(path) => match declared.get(path.as_name()?)?.as_slice() {
            [Some(only)] => axis(only),
            _ => None,
        },
        _ => axis(e),
    };
    let mut all = HashMap::new();
    walk::block(body, &mut |e| {
        let ExprKind::Binary { op, left, right } = &*e.kind else { return };
        for (a, b) in [(left, right), (right, left)].into_iter().filter(|_| op == "+") {
            all.extend(named(b).map(|axis| (scope::plain(a).span, axis)));
        }
    });
    all
}

/// Constants that make rows long: those that numbers of threads along y are multiplied with, as in `threadIdx.y * (BX + 2)`.
pub fn row_constants(unit: &TranslationUnit, kernel: &str, sources: &SourceMap) -> Vec<String> {
    let function = scope::kernel(unit, kernel);
    let Some(body) = function.and_then(|f| f.body.as_ref()) else { return vec![] };
    let declared = scope::declared(body);
    let along_y = |e: &ast::Expr| sources.text(e.span).contains("threadIdx.y");
    let mut all = vec![];
    walk::block(body, &mut |e| {
        let ExprKind::Binary { op, left, right } = &*e.kind else { return };
        for (a, b) in [(left, right), (right, left)] {
            let name = match &*scope::plain(a).kind {
                ExprKind::Path(path) => path.as_name().and_then(|n| declared.get(n)),
                _ => None,
            };
            let named = name.into_iter().flatten().flatten().any(along_y);
            if op == "*" && (along_y(a) || named) && !sources.text(a.span).contains("blockIdx") {
                all.extend(scope::constants(unit, sources.text(b.span)));
            }
        }
    });
    all
}

/// What the extents of shared arrays say about the block when no host code does: in `tile[BY + 2][BX + 2]` the last names x. Of a
/// flat array `tile[(BX + 2) * (BY + 2)]` x is what is among `rows`, and y another one where there is one.
pub fn of_arrays(
    site: &Site,
    unit: &TranslationUnit,
    [_, uses_y, uses_z]: [bool; 3],
    rows: &[String],
) -> [Extent; 3] {
    let mut shape = [Extent::Free, Extent::Free, Extent::Number(1)];
    for array in &site.arrays {
        let named: Vec<Vec<String>> = array
            .extents
            .iter()
            .map(|e| {
                scope::constants(unit, e).into_iter().filter(|n| !is_rest(unit, e, n)).collect()
            })
            .collect();
        let all: Vec<&String> = named.iter().flatten().collect();
        let by_suffix = |ends: [char; 2]| {
            all.iter().find(|n| n.ends_with(ends)).map(|n| Extent::Constant((*n).clone()))
        };
        let from_end = |i: usize| {
            let at = named.len().checked_sub(i + 1)?;
            let row = named[at].iter().find(|n| i == 0 && named.len() == 1 && rows.contains(n));
            row.or_else(|| named[at].first()).map(|n| Extent::Constant(n.clone()))
        };
        let other = |x: &Extent| {
            let flat = named.last().filter(|_| named.len() == 1)?;
            let second = flat.iter().find(|n| Some(*n) != x.constant())?;
            Some(Extent::Constant(second.clone()))
        };
        if shape[0] == Extent::Free
            && let Some(x) = by_suffix(['x', 'X']).or_else(|| from_end(0))
        {
            shape[0] = x;
        }
        if shape[1] == Extent::Free
            && uses_y
            && let Some(y) = by_suffix(['y', 'Y'])
                .or_else(|| from_end(1))
                .or_else(|| other(&shape[0]))
                .or_else(|| from_end(0))
        {
            shape[1] = y;
        }
    }
    if uses_z {
        let whole = site.arrays.iter().map(|a| a.extents.as_slice()).find(|e| e.len() > 2);
        let named = whole.map(|e| scope::constants(unit, &e[e.len() - 3]));
        shape[2] = match named.as_deref() {
            Some([first, ..]) => Extent::Constant(first.clone()),
            _ => Extent::Free,
        };
    }
    if !uses_y && shape[0] != Extent::Free {
        shape[1] = Extent::Number(1);
    }
    shape
}

/// Whether a constant is little beside a number in an extent, as the radius in `256 + 2 * R` is: the number is the block then.
fn is_rest(unit: &TranslationUnit, extent: &str, name: &str) -> bool {
    let tokens = marks::tokens(extent);
    let most = tokens.iter().filter_map(|t| extent[t.at.clone()].parse::<i64>().ok()).max();
    values::value_of(unit, name).zip(most).is_some_and(|(n, most)| LITTLE * n < most)
}

/// How many times a constant is in a number that it is little beside.
const LITTLE: i64 = 8;

/// Gives constants of a text other values: in `#define NAME value`, in `const int NAME = value` and in `enum { NAME = value }`. Those of
/// structures come with their names, `Tile::X`.
pub fn constants<V: std::fmt::Display>(text: &str, values: &[(String, V)]) -> Patch {
    let tokens = marks::tokens(text);
    let mut patch = Patch::default();
    let word =
        |i: usize| tokens.get(i).filter(|t| t.piece == Piece::Word).map(|t| &text[t.at.clone()]);
    for (i, t) in tokens.iter().enumerate() {
        let own = |n: &str| n.rsplit("::").next() == Some(&text[t.at.clone()]);
        let known = values.iter().find(|(n, _)| t.piece == Piece::Word && own(n));
        let Some((_, value)) = known else { continue };
        if t.directive && i > 0 && word(i - 1) == Some("define") {
            let line_end = text[t.at.end..].find('\n').map_or(text.len(), |n| t.at.end + n);
            let rest: Vec<&Tok> = tokens[i + 1..]
                .iter()
                .take_while(|t| t.directive && t.at.end <= line_end)
                .collect();
            let at = match (rest.first(), rest.last()) {
                (Some(a), Some(b)) => a.at.start..b.at.end,
                _ => t.at.end..t.at.end,
            };
            patch.replace(at, format!(" {value}"));
        } else if !t.directive
            && tokens.get(i + 1).is_some_and(|n| n.piece == Piece::Other(b'='))
            && (is_constant(&tokens, text, i) || is_enumerator(&tokens, text, i))
        {
            let ends = |t: &&Tok| matches!(t.piece, Piece::Other(b';' | b',' | b'}'));
            let end = tokens[i + 2..].iter().find(ends);
            if let (Some(first), Some(end)) = (tokens.get(i + 2), end) {
                patch.replace(first.at.start..end.at.start, value.to_string());
            }
        }
    }
    patch
}

/// Whether a name with a value is declared here as a constant whole number, the first of its declaration or a later one.
fn is_constant(tokens: &[Tok], text: &str, at: usize) -> bool {
    let start = tokens[..at]
        .iter()
        .rposition(|t| matches!(t.piece, Piece::Other(b';' | b'{' | b'}')) || t.directive);
    let before = &tokens[start.map_or(0, |s| s + 1)..at];
    let words = before.iter().map(|t| &text[t.at.clone()]);
    let fixed = words.clone().any(|w| matches!(w, "const" | "constexpr"));
    let whole = words.clone().any(|w| matches!(w, "int" | "unsigned" | "size_t" | "long"));
    let last = before.last().map(|t| &text[t.at.clone()]);
    let listed = last.is_some_and(|w| matches!(w, "int" | "unsigned" | "size_t" | "long" | ","));
    fixed && whole && listed
}

/// Whether a name with a value stands in the braces of an enumeration.
fn is_enumerator(tokens: &[Tok], text: &str, at: usize) -> bool {
    let open = tokens[..at]
        .iter()
        .rposition(|t| matches!(t.piece, Piece::Other(b';' | b'{' | b'}')) || t.directive);
    let Some(open) = open.filter(|o| tokens[*o].piece == Piece::Other(b'{')) else { return false };
    let head = tokens[..open]
        .iter()
        .rev()
        .take_while(|t| !matches!(t.piece, Piece::Other(b';' | b'{' | b'}')) && !t.directive);
    head.map(|t| &text[t.at.clone()]).any(|w| w == "enum")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_get_other_values_where_they_are_defined() {
        let text = "#define BX 32 // wide\n#define BY\nconstexpr int S = 3, T = 8 * 2;\nint BX = 3; a(T == 4);\nenum { U = 3, V = 2 };\n";
        let values =
            [("BX".into(), 5), ("BY".into(), 4), ("T".into(), 7), ("U".into(), 6), ("V".into(), 8)];
        let expected = "#define BX  5 // wide\n#define BY 4\nconstexpr int S = 3, T = 7;\nint BX = 3; a(T == 4);\nenum { U = 6, V = 8};\n";
        assert_eq!(constants(text, &values).apply(text).as_deref(), Ok(expected));
    }
}
