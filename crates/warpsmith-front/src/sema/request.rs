//! Small pieces of C++ that come as text: names of kernels with template arguments, numbers in pragmas.

use std::collections::HashMap;
use std::sync::OnceLock;

use warpsmith_ir::Span;

use crate::ast::{self, ExprKind, Path, PathSegment, TemplateArg, TypeKind, TypeName};

/// Keeps syntax made while lowering for as long as the rest of the program.
pub(crate) struct Arena {
    exprs: Kept<ast::Expr>,
    variables: Kept<ast::VarDecl>,
}

impl Arena {
    pub const fn new() -> Arena {
        Arena { exprs: Kept::new(), variables: Kept::new() }
    }

    pub fn keep(&self, expr: ast::Expr) -> &ast::Expr {
        self.exprs.keep(expr)
    }

    pub fn keep_variable(&self, decl: ast::VarDecl) -> &ast::VarDecl {
        self.variables.keep(decl)
    }
}

/// A list that grows while its elements are lent.
struct Kept<T> {
    head: OnceLock<Box<Node<T>>>,
}

struct Node<T> {
    value: T,
    next: OnceLock<Box<Node<T>>>,
}

impl<T> Kept<T> {
    const fn new() -> Kept<T> {
        Kept { head: OnceLock::new() }
    }

    fn keep(&self, value: T) -> &T {
        let mut at = &self.head;
        while let Some(node) = at.get() {
            at = &node.next;
        }
        &at.get_or_init(|| Box::new(Node { value, next: OnceLock::new() })).value
    }
}

/// A kernel as a user names it: `ns::f<float, 32>`.
pub(crate) struct KernelName {
    pub path: Path,
}

/// The text with macros without parameters replaced by their values, also in those.
pub(crate) fn with_macros(text: &str, macros: &HashMap<String, String>) -> String {
    let mut text = text.to_string();
    // A macro that names itself stays; so do chains of a length nobody writes.
    for _ in 0..16 {
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
            let tail = &rest[start..];
            let end = tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
            out.push_str(&rest[..start]);
            out.push_str(macros.get(&tail[..end]).map_or(&tail[..end], String::as_str));
            rest = &tail[end..];
        }
        out.push_str(rest);
        if out == text || out.len() > 4096 {
            break;
        }
        text = out;
    }
    text
}

/// Parses a kernel's name; the error says what is wrong with it.
pub(crate) fn kernel_name(text: &str, span: Span) -> Result<KernelName, String> {
    let mut p = Parser::new(text, span);
    let path = p.path().ok_or_else(|| format!("`{text}` is no kernel's name"))?;
    match p.at_end() {
        true => Ok(KernelName { path }),
        false => Err(format!("`{text}`: `{}` is not understood", p.rest())),
    }
}

/// Parses a simple expression: numbers, names, `+ - * / %`, `& *`, elements, members, calls.
pub(crate) fn expression(text: &str, span: Span) -> Option<ast::Expr> {
    let mut p = Parser::new(text, span);
    let e = p.sum()?;
    p.at_end().then_some(e)
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
    span: Span,
    depth: u32,
}

impl Parser {
    fn new(text: &str, span: Span) -> Parser {
        let mut tokens: Vec<String> = vec![];
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c.is_whitespace() {
                continue;
            }
            let mut token = String::from(c);
            if c.is_alphanumeric() || c == '_' {
                let number = c.is_ascii_digit();
                let part = |n: &char| n.is_alphanumeric() || *n == '_' || number && *n == '.';
                while let Some(n) = chars.next_if(part) {
                    token.push(n);
                }
            } else if c == ':' && chars.next_if_eq(&':').is_some() {
                token.push(':');
            }
            tokens.push(token);
        }
        Parser { tokens, at: 0, span, depth: 0 }
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn rest(&self) -> String {
        self.tokens.get(self.at..).unwrap_or_default().join(" ")
    }

    fn word(&mut self) -> Option<String> {
        let token = self.peek();
        let starts = token.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        let word = starts.then(|| token.to_string())?;
        self.at += 1;
        Some(word)
    }

    fn path(&mut self) -> Option<Path> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let global = self.take("::");
        let mut segments = vec![];
        loop {
            let name = self.word()?;
            let args = if self.take("<") { Some(self.args()?) } else { None };
            segments.push(PathSegment { name, args });
            if !self.take("::") {
                break;
            }
        }
        self.depth -= 1;
        Some(Path { segments, global, span: self.span })
    }

    /// Template arguments after `<`, up to and with `>`.
    fn args(&mut self) -> Option<Vec<TemplateArg>> {
        let mut list = vec![];
        if self.take(">") {
            return Some(list);
        }
        loop {
            list.push(self.arg()?);
            if self.take(">") {
                return Some(list);
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn arg(&mut self) -> Option<TemplateArg> {
        let start = self.at;
        if let Some(arg) = self.type_arg()
            && matches!(self.peek(), ">" | ",")
        {
            return Some(arg);
        }
        self.at = start;
        self.sum().map(TemplateArg::Value)
    }

    fn type_arg(&mut self) -> Option<TemplateArg> {
        const WORDS: [&str; 10] = [
            "unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "void",
        ];
        let mut is_const = false;
        while self.take("const") {
            is_const = true;
        }
        if matches!(self.peek(), "true" | "false") {
            return None;
        }
        let mut words = vec![];
        while WORDS.contains(&self.peek()) {
            words.extend(self.word());
        }
        let kind = match words.as_slice() {
            [] => TypeKind::Named(self.path()?),
            [one] if one == "void" => TypeKind::Void,
            _ => TypeKind::Builtin(words),
        };
        while self.take("const") {
            is_const = true;
        }
        let plain_name = matches!(kind, TypeKind::Named(_)) && !is_const;
        let mut ty = TypeName { kind, is_const, is_volatile: false, span: self.span };
        let mut is_pointer = false;
        while self.take("*") {
            is_pointer = true;
            ty = TypeName {
                kind: TypeKind::Pointer { to: Box::new(ty), restrict: false },
                is_const: self.take("const"),
                is_volatile: false,
                span: self.span,
            };
        }
        Some(match ty.kind {
            TypeKind::Named(path) if plain_name && !is_pointer => TemplateArg::Name(path),
            kind => TemplateArg::Type(TypeName { kind, ..ty }),
        })
    }

    fn make(&self, kind: ExprKind) -> ast::Expr {
        ast::Expr { kind: Box::new(kind), span: self.span }
    }

    fn sum(&mut self) -> Option<ast::Expr> {
        let mut left = self.product()?;
        while matches!(self.peek(), "+" | "-") {
            let op = self.peek().to_string();
            self.at += 1;
            let right = self.product()?;
            left = self.make(ExprKind::Binary { op, left, right });
        }
        Some(left)
    }

    fn product(&mut self) -> Option<ast::Expr> {
        let mut left = self.factor()?;
        while matches!(self.peek(), "*" | "/" | "%") {
            let op = self.peek().to_string();
            self.at += 1;
            let right = self.factor()?;
            left = self.make(ExprKind::Binary { op, left, right });
        }
        Some(left)
    }

    fn factor(&mut self) -> Option<ast::Expr> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        let e = self.factor_inner();
        self.depth -= 1;
        e
    }

    fn factor_inner(&mut self) -> Option<ast::Expr> {
        for op in ["-", "&", "*"] {
            if self.take(op) {
                let operand = self.factor()?;
                return Some(self.make(ExprKind::Unary { op: op.into(), operand }));
            }
        }
        let mut e = self.primary()?;
        loop {
            if self.take("[") {
                let index = self.sum()?;
                if !self.take("]") {
                    return None;
                }
                e = self.make(ExprKind::Index { base: e, index });
            } else if self.take("(") {
                let mut args = vec![];
                while !self.take(")") {
                    if !args.is_empty() && !self.take(",") {
                        return None;
                    }
                    args.push(self.sum()?);
                }
                e = self.make(ExprKind::Call { callee: e, args });
            } else if self.take(".") {
                let member = PathSegment { name: self.word()?, args: None };
                e = self.make(ExprKind::Member { base: e, arrow: false, member, class: None });
            } else {
                return Some(e);
            }
        }
    }

    fn primary(&mut self) -> Option<ast::Expr> {
        if self.take("(") {
            let inner = self.sum()?;
            return self.take(")").then_some(inner);
        }
        if self.take("true") {
            return Some(self.make(ExprKind::Bool(true)));
        }
        if self.take("false") {
            return Some(self.make(ExprKind::Bool(false)));
        }
        let token = self.peek().to_string();
        if token.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            self.at += 1;
            return Some(self.make(ExprKind::Number(token)));
        }
        // A comparison cannot be told from template arguments: names here are plain ones.
        let name = self.word()?;
        let mut segments = vec![PathSegment { name, args: None }];
        while self.take("::") {
            segments.push(PathSegment { name: self.word()?, args: None });
        }
        let path = Path { segments, global: false, span: self.span };
        Some(self.make(ExprKind::Path(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span() -> Span {
        Span { file: warpsmith_ir::FileId(0), start: 0, end: 0 }
    }

    #[test]
    fn kernel_names_have_types_and_values_as_arguments() {
        let name =
            kernel_name("ns::f<const float *, Power<3>, -2 * (N + 1), unsigned int>", span());
        let path = name.map(|n| n.path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(path.segments.len(), 2);
        let args = path.segments[1].args.as_ref().map_or(0, Vec::len);
        assert_eq!(args, 4);
    }

    #[test]
    fn macros_in_names_are_replaced() {
        let define = |n: &str, v: &str| (n.to_string(), v.to_string());
        let macros = HashMap::from([define("N", "(2 * M)"), define("M", "4"), define("X", "X")]);
        assert_eq!(with_macros("f<float, N, X>", &macros), "f<float, (2 * 4), X>");
    }

    #[test]
    fn damaged_names_are_refused() {
        for text in ["", "f<", "f<1", "f<>>", "f<,>", "3", "f g"] {
            assert!(kernel_name(text, span()).is_err(), "{text}");
        }
        assert!(kernel_name(&"f<".repeat(1000), span()).is_err());
        assert!(expression(&"(".repeat(1000), span()).is_none());
    }
}
