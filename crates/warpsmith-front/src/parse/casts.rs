//! Casts, and what only looks like one: `(n)-1` where `n` is no type, `(T)(e)[i]` where `T` is one.

use tree_sitter::Node;

use super::context::{Cx, field, kids};
use crate::ast::{Expr, ExprKind, Path, PathSegment, TypeKind, TypeName};

impl<'t> Cx<'t> {
    /// `(T)` where `T` is the name of a type and nothing else.
    pub(super) fn type_in_parentheses(&mut self, node: Node<'t>) -> Option<TypeName> {
        if node.kind() != "parenthesized_expression" {
            return None;
        }
        let inner = *kids(node).first()?;
        if inner.kind() != "identifier" || !self.names.is_type(self.str(inner)) {
            return None;
        }
        let path = self.path(inner);
        Some(self.type_name(TypeKind::Named(path), inner))
    }

    /// `(T)(e)[i]` and `(T)(e).m` with the name of a type: what follows `(e)` belongs to the operand, while the grammar sees
    /// `(T)(e)` as a call.
    pub(super) fn cast_of_chain(&mut self, node: Node<'t>) -> Option<ExprKind> {
        let mut head = node;
        loop {
            head = match head.kind() {
                "subscript_expression" | "field_expression" => field(head, "argument")?,
                "call_expression" => match field(head, "function")? {
                    f if matches!(f.kind(), "subscript_expression" | "field_expression") => f,
                    _ if head.id() == node.id() => return None,
                    _ => break,
                },
                _ => return None,
            };
        }
        let function = field(head, "function")?;
        if kids(field(head, "arguments")?).len() != 1 || self.operand_of_cast == Some(head.id()) {
            return None;
        }
        let ty = self.type_in_parentheses(function)?;
        let before = self.operand_of_cast.replace(head.id());
        let kind = self.expr_kind(node);
        self.operand_of_cast = before;
        let span = self.span_of(function.end_byte()..node.end_byte());
        Some(ExprKind::Cast { style: "c", ty, operand: Expr { kind: Box::new(kind), span } })
    }

    /// `static_cast<T>(e)` and its relatives.
    pub(super) fn named_cast(&mut self, callee: Node<'t>, args: &[Node<'t>]) -> Option<ExprKind> {
        let style = match self.str(field(callee, "name")?) {
            "static_cast" => "static",
            "reinterpret_cast" => "reinterpret",
            "const_cast" => "const",
            "dynamic_cast" => "dynamic",
            _ => return None,
        };
        let (ty, [operand]) = (*kids(field(callee, "arguments")?).first()?, args) else {
            return None;
        };
        let ty = match ty.kind() {
            "identifier" | "qualified_identifier" => {
                let path = self.path(ty);
                self.type_name(TypeKind::Named(path), ty)
            }
            _ => self.type_descriptor(ty),
        };
        let operand = self.expr(*operand);
        Some(ExprKind::Cast { style, ty, operand })
    }

    /// A cast, or what only looks like one: `(n)-1` where `n` is no type is a subtraction.
    pub(super) fn cast(&mut self, node: Node<'t>) -> ExprKind {
        let Some(ty_node) = field(node, "type") else {
            return ExprKind::Unsupported { what: "a cast".to_owned() };
        };
        let ty = self.type_descriptor(ty_node);
        let operand = self.part(node, "value");
        let plain = match &ty.kind {
            TypeKind::Named(path) if !ty.is_const => path.as_name().map(str::to_owned),
            _ => None,
        };
        let Some(name) = plain.filter(|n| self.names.is_variable(n) && !self.names.is_type(n))
        else {
            return ExprKind::Cast { style: "c", ty, operand };
        };
        match *operand.kind {
            ExprKind::Unary { op, operand } if matches!(op.as_str(), "-" | "+" | "*" | "&") => {
                let path = Path {
                    segments: vec![PathSegment { name, args: None }],
                    global: false,
                    span: ty.span,
                };
                let inner = Expr { kind: Box::new(ExprKind::Path(path)), span: ty.span };
                let left = Expr { kind: Box::new(ExprKind::Paren(inner)), span: ty.span };
                ExprKind::Binary { op, left, right: operand }
            }
            _ => ExprKind::Cast { style: "c", ty, operand },
        }
    }
}
