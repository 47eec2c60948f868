//! What host code is made of where its numbers are worked out from the text: expressions, declarations, constants.

use warpsmith_front::ast::{
    Block, Declarator, Expr, ExprKind, FunctionDecl, FunctionName, InitItem, Initializer, Item,
    ItemKind, StmtKind, TypeKind, TypeName,
};

/// A number that host code computes.
#[derive(Clone, Copy, Debug)]
pub enum Num {
    Whole(i128),
    Real(f64),
}

impl Num {
    pub fn whole(self) -> i128 {
        match self {
            Num::Whole(n) => n,
            Num::Real(x) => x as i128,
        }
    }

    pub fn real(self) -> f64 {
        match self {
            Num::Whole(n) => n as f64,
            Num::Real(x) => x,
        }
    }
}

pub fn plain(e: &Expr) -> &Expr {
    match &*e.kind {
        ExprKind::Paren(inner) => plain(inner),
        _ => e,
    }
}

/// The last name of a path: `std::min` and `min`, `f<float>` and `f`.
pub fn path_name(e: &Expr) -> Option<&str> {
    match &*e.kind {
        ExprKind::Path(path) => path.segments.last().map(|s| s.name.as_str()),
        ExprKind::Paren(inner) => path_name(inner),
        _ => None,
    }
}

pub fn is_sum(e: &Expr) -> bool {
    matches!(&*plain(e).kind, ExprKind::Binary { op, .. } if op == "+" || op == "-")
}

pub fn names_dim3(ty: &TypeName) -> bool {
    matches!(&ty.kind, TypeKind::Named(p) if p.segments.last().is_some_and(|s| s.name == "dim3"))
}

pub fn is_dim3(e: &Expr) -> bool {
    match &*e.kind {
        ExprKind::Construct { ty, .. } => names_dim3(ty),
        ExprKind::Call { callee, .. } => path_name(callee) == Some("dim3"),
        _ => false,
    }
}

pub fn init_expr(init: &Initializer) -> Option<&Expr> {
    match init {
        Initializer::Expr(e) => Some(e),
        _ => None,
    }
}

/// The value of `(e)` and `{e}`.
pub fn single(init: &Initializer) -> Option<&Expr> {
    match init {
        Initializer::Call(args, _) if args.len() == 1 => args.first(),
        Initializer::List(items, _) if items.len() == 1 => init_expr(&items[0].value),
        _ => None,
    }
}

pub fn list(items: &[InitItem]) -> Option<Vec<&Expr>> {
    items.iter().map(|i| init_expr(&i.value).filter(|_| i.designator.is_none())).collect()
}

pub fn number_text(text: &str) -> Option<Num> {
    let text = text.replace('\'', "");
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let suffix: &[char] = if hex { &['u', 'U', 'l', 'L'] } else { &['u', 'U', 'l', 'L', 'f', 'F'] };
    let digits = text.trim_end_matches(suffix);
    if hex {
        return i128::from_str_radix(&digits[2..], 16).ok().map(Num::Whole);
    }
    if let Some(bits) = digits.strip_prefix("0b").or_else(|| digits.strip_prefix("0B")) {
        return i128::from_str_radix(bits, 2).ok().map(Num::Whole);
    }
    let octal = digits.len() > 1 && digits.starts_with('0');
    match digits.bytes().all(|b| b.is_ascii_digit()) {
        true => i128::from_str_radix(digits, if octal { 8 } else { 10 }).ok().map(Num::Whole),
        false => digits.parse().ok().map(Num::Real),
    }
}

/// A number as a value of a type: reals become whole where the type is.
pub fn as_type(ty: &TypeName, value: Num) -> Num {
    let real = |words: &[String]| words.iter().any(|w| w == "float" || w == "double");
    match &ty.kind {
        TypeKind::Builtin(words) if real(words) => Num::Real(value.real()),
        TypeKind::Builtin(_) | TypeKind::Named(_) => Num::Whole(value.whole()),
        _ => value,
    }
}

pub fn size_of(ty: &TypeName) -> Option<i128> {
    match &ty.kind {
        TypeKind::Pointer { .. } => Some(8),
        TypeKind::Builtin(words) => {
            let has = |w: &str| words.iter().any(|x| x == w);
            Some(match () {
                () if has("double") => 8,
                () if has("char") || has("bool") => 1,
                () if has("short") => 2,
                () if has("long") => 8,
                () => 4,
            })
        }
        TypeKind::Named(p) => {
            let name = p.as_name()?;
            let width = name.chars().last()?.to_digit(10).filter(|n| (2..=4).contains(n));
            let base = match name.trim_end_matches(char::is_numeric) {
                "float" | "int" | "uint" => 4,
                "double" => 8,
                _ => return None,
            };
            width.map(|n| base * i128::from(n))
        }
        _ => None,
    }
}

pub fn each_declarator(block: &Block, see: &mut dyn FnMut(&Declarator)) {
    fn stmt(s: &warpsmith_front::ast::Stmt, see: &mut dyn FnMut(&Declarator)) {
        match &s.kind {
            StmtKind::Vars(v) => v.declarators.iter().for_each(&mut *see),
            StmtKind::Block(b) => each_declarator(b, see),
            StmtKind::If { init, then, otherwise, .. } => {
                [init.as_ref(), Some(then), otherwise.as_ref()]
                    .into_iter()
                    .flatten()
                    .for_each(|s| stmt(s, see));
            }
            StmtKind::For { init, body, .. } => {
                init.iter().for_each(|s| stmt(s, see));
                stmt(body, see);
            }
            StmtKind::RangeFor { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::Switch { body, .. } => stmt(body, see),
            _ => {}
        }
    }
    block.stmts.iter().for_each(|s| stmt(s, see));
}

/// A constant of the file: a variable with a value, or a member of an enumeration.
pub fn constant(items: &[Item], name: &str) -> Option<(Option<TypeName>, Expr)> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Vars(v) => {
            let d = v.declarators.iter().find(|d| d.name == name)?;
            let init = d.init.as_ref()?;
            let fixed = v.attrs.is_constexpr || d.ty.is_const;
            let e = init_expr(init).or_else(|| single(init)).filter(|_| fixed)?;
            Some((Some(d.ty.clone()), e.clone()))
        }
        ItemKind::Enum(e) => {
            let (_, value, _) = e.variants.iter().find(|(n, ..)| n == name)?;
            Some((None, value.clone()?))
        }
        ItemKind::Namespace { items, .. } | ItemKind::File(items) => constant(items, name),
        _ => None,
    })
}

pub fn function<'a>(items: &'a [Item], name: &str) -> Option<&'a FunctionDecl> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Function(f) if f.body.is_some() => match &f.name {
            FunctionName::Plain(p) if p.segments.last().is_some_and(|s| s.name == name) => Some(f),
            _ => None,
        },
        ItemKind::Namespace { items, .. } | ItemKind::File(items) => function(items, name),
        _ => None,
    })
}
