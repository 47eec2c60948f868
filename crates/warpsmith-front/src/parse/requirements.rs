//! `requires (T t) { … }`, as an expression.

use tree_sitter::Node;

use super::context::{Cx, field, kids};
use crate::ast::{Expr, ExprKind, Requirements, TemplateArg, TypeKind};

impl<'t> Cx<'t> {
    pub fn requires(&mut self, node: Node<'t>) -> ExprKind {
        let mut asked = Requirements::default();
        if let Some(list) = field(node, "parameters") {
            asked.params = self.params(list).0;
        }
        for one in field(node, "requirements").map_or(vec![], kids) {
            if one.children(&mut one.walk()).any(|n| n.kind() == "noexcept") {
                return ExprKind::Unsupported { what: "`noexcept` in `requires`".to_owned() };
            }
            if !self.requirement(one, &mut asked) {
                return ExprKind::Unsupported { what: "this requirement of `requires`".to_owned() };
            }
        }
        ExprKind::Requires(asked)
    }

    /// Adds a requirement; false: it is not understood.
    fn requirement(&mut self, node: Node<'t>, asked: &mut Requirements) -> bool {
        let inner = kids(node);
        match (node.kind(), inner.as_slice()) {
            ("simple_requirement", [clause]) if clause.kind() == "requires_clause" => {
                asked.holds.extend(self.constraint(*clause));
            }
            // `requires a >= b` without parentheses is read as something else.
            ("simple_requirement", _) if self.str(node).starts_with("requires") => return false,
            ("simple_requirement", [e]) => asked.valid.push(self.expr(*e)),
            ("type_requirement", [name]) => asked.types.push(self.type_descriptor(*name)),
            ("compound_requirement", [e, rest @ ..]) => {
                let value = self.expr(*e);
                let gives = rest.iter().find(|n| n.kind() == "trailing_return_type");
                if let Some(gives) = gives {
                    let Some(condition) = self.gives(&value, *gives) else { return false };
                    asked.holds.push(condition);
                }
                asked.valid.push(value);
            }
            _ => return false,
        }
        true
    }

    /// `-> C<A>` as the condition `C<decltype((value)), A>`.
    fn gives(&mut self, value: &Expr, arrow: Node<'t>) -> Option<Expr> {
        let concept = self.type_descriptor(*kids(arrow).first()?);
        let TypeKind::Named(mut path) = concept.kind else { return None };
        let value = self.make(ExprKind::Paren(value.clone()), arrow);
        let of_value = TypeKind::Decltype(Box::new(value));
        let of_value = TemplateArg::Type(self.type_name(of_value, arrow));
        path.segments.last_mut()?.args.get_or_insert_default().insert(0, of_value);
        Some(self.make(ExprKind::Path(path), arrow))
    }
}
