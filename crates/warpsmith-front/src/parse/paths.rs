//! Names with qualifiers and template arguments, and template headers.

use tree_sitter::Node;

use super::angles::TYPE_ARGUMENT;
use super::context::{Cx, field, has_token, kids};
use crate::ast::{
    Expr, ExprKind, Path, PathSegment, TemplateArg, TemplateHeader, TemplateParam,
    TemplateParamKind, TypeKind,
};

impl<'t> Cx<'t> {
    /// A name of any shape; an unknown shape becomes one segment with its text.
    pub fn path(&mut self, node: Node<'t>) -> Path {
        let mut path = Path { segments: vec![], global: false, span: self.span(node) };
        path.global = node.kind() == "qualified_identifier" && field(node, "scope").is_none();
        self.segments(node, &mut path.segments);
        self.resolve_alias(&mut path);
        path
    }

    /// Writes `cg::x` as `cooperative_groups::x`, so that no later phase needs the alias.
    fn resolve_alias(&self, path: &mut Path) {
        let [first, _, ..] = path.segments.as_slice() else {
            return;
        };
        if let Some(parts) = self.names.namespace_alias(&first.name) {
            let parts = parts.iter().map(|p| PathSegment { name: p.clone(), args: None });
            path.segments.splice(0..1, parts);
        }
    }

    fn segments(&mut self, mut node: Node<'t>, out: &mut Vec<PathSegment>) {
        loop {
            match node.kind() {
                "qualified_identifier" => {
                    if let Some(scope) = field(node, "scope") {
                        let segment = self.segment(scope);
                        out.push(segment);
                    }
                    // A field may hold the word `template` beside the name.
                    let mut cursor = node.walk();
                    let names: Vec<Node> = node
                        .children_by_field_name("name", &mut cursor)
                        .filter(Node::is_named)
                        .collect();
                    match names.last() {
                        Some(name) => node = *name,
                        None => return,
                    }
                }
                "nested_namespace_specifier" => {
                    for part in kids(node) {
                        self.segments_of_namespace(part, out);
                    }
                    return;
                }
                _ => {
                    let segment = self.segment(node);
                    out.push(segment);
                    return;
                }
            }
        }
    }

    fn segments_of_namespace(&mut self, node: Node<'t>, out: &mut Vec<PathSegment>) {
        let _ = self.deeper(node, |cx| cx.segments(node, out));
    }

    /// One part of a name.
    pub fn segment(&mut self, node: Node<'t>) -> PathSegment {
        match node.kind() {
            "template_type" | "template_function" | "template_method" => {
                let name = field(node, "name").map_or_else(String::new, |n| self.name(n));
                let args = field(node, "arguments").map(|n| self.template_args(n));
                PathSegment { name, args }
            }
            "dependent_name" | "dependent_type" | "template" => match kids(node).last() {
                Some(inner) => {
                    let inner = *inner;
                    self.deeper(node, |cx| cx.segment(inner))
                        .unwrap_or(PathSegment { name: String::new(), args: None })
                }
                None => PathSegment { name: self.name(node), args: None },
            },
            // The type of an expression, whose members are named.
            "decltype" => {
                let inner = kids(node).into_iter().next().map(|e| TemplateArg::Value(self.expr(e)));
                PathSegment { name: "decltype".to_owned(), args: inner.map(|e| vec![e]) }
            }
            // `V::operator +` is the name `operator+`.
            "operator_name" | "destructor_name" => {
                PathSegment { name: self.str(node).split_whitespace().collect(), args: None }
            }
            _ => PathSegment { name: self.name(node), args: None },
        }
    }

    pub fn template_args(&mut self, node: Node<'t>) -> Vec<TemplateArg> {
        let mut args = vec![];
        for arg in kids(node) {
            if self.str(arg) == TYPE_ARGUMENT {
                continue;
            }
            if let Some(arg) = self.deeper(arg, |cx| cx.template_arg(arg)) {
                args.push(arg);
            }
        }
        args
    }

    fn template_arg(&mut self, node: Node<'t>) -> TemplateArg {
        match node.kind() {
            "type_descriptor" => {
                let ty = self.type_descriptor(node);
                match ty.kind {
                    TypeKind::Named(path)
                        if !ty.is_const && !ty.is_volatile && path.as_name().is_some() =>
                    {
                        TemplateArg::Name(path)
                    }
                    kind => TemplateArg::Type(crate::ast::TypeName { kind, ..ty }),
                }
            }
            "identifier" | "qualified_identifier" | "type_identifier" => {
                TemplateArg::Name(self.path(node))
            }
            // The name of a pack of types stands for all of them.
            "parameter_pack_expansion"
                if field(node, "pattern").is_some_and(|p| p.kind() == "type_descriptor") =>
            {
                match field(node, "pattern").map(|p| self.template_arg(p)) {
                    Some(TemplateArg::Name(path)) => TemplateArg::Name(path),
                    Some(pattern) => TemplateArg::Each(pattern.into(), self.span(node)),
                    None => TemplateArg::Value(self.expr(node)),
                }
            }
            _ => TemplateArg::Value(self.expr(node)),
        }
    }

    pub fn template_header(&mut self, node: Node<'t>) -> TemplateHeader {
        let mut header = TemplateHeader { params: vec![], requires: vec![] };
        for node in kids(node) {
            if let Some((param, condition)) = self.constrained(node) {
                header.params.push(param);
                header.requires.push(condition);
            } else if let Some(Some(param)) = self.deeper(node, |cx| cx.template_param(node)) {
                header.params.push(param);
            }
        }
        header
    }

    /// `C T` with a concept: a type, and the condition `C<T>`.
    fn constrained(&mut self, node: Node<'t>) -> Option<(TemplateParam, Expr)> {
        let concept = field(node, "type").filter(|_| node.kind() == "parameter_declaration")?;
        let named =
            matches!(concept.kind(), "type_identifier" | "template_type" | "qualified_identifier");
        let mut path = Some(concept).filter(|_| named).map(|n| self.path(n))?;
        let last = path.segments.last_mut()?;
        if !self.names.is_concept(&last.name) {
            return None;
        }
        let name = self.name(field(node, "declarator")?);
        let span = self.span(node);
        let segments = vec![PathSegment { name: name.clone(), args: None }];
        let argument = TemplateArg::Name(Path { segments, global: false, span });
        last.args.get_or_insert_default().insert(0, argument);
        let kind = TemplateParamKind::Type { default: None };
        let param = TemplateParam { name: Some(name), kind, pack: false, span };
        Some((param, Expr { kind: Box::new(ExprKind::Path(path)), span }))
    }

    fn template_param(&mut self, node: Node<'t>) -> Option<TemplateParam> {
        let span = self.span(node);
        let first_name = kids(node).first().map(|n| self.name(*n));
        let (name, kind, pack) = match node.kind() {
            "type_parameter_declaration" => {
                (first_name, TemplateParamKind::Type { default: None }, false)
            }
            "variadic_type_parameter_declaration" => {
                (first_name, TemplateParamKind::Type { default: None }, true)
            }
            "optional_type_parameter_declaration" => {
                let name = field(node, "name").map(|n| self.name(n));
                let default = field(node, "default_type").map(|n| self.type_specifier(n));
                (name, TemplateParamKind::Type { default }, false)
            }
            "parameter_declaration"
            | "optional_parameter_declaration"
            | "variadic_parameter_declaration" => {
                let pack = node.kind() == "variadic_parameter_declaration";
                let param = self.param(node)?;
                (
                    param.name,
                    TemplateParamKind::Value { ty: param.ty, default: param.default },
                    pack,
                )
            }
            "template_template_parameter_declaration" => {
                let last = kids(node).last().copied();
                let name = last.and_then(|n| kids(n).first().map(|n| self.name(*n)));
                let default = last.and_then(|n| field(n, "default_type"));
                let default = default.map(|n| self.path(n));
                (name, TemplateParamKind::Template { default }, has_token(node, "..."))
            }
            _ => return None,
        };
        Some(TemplateParam { name, kind, pack, span })
    }
}
