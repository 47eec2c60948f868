//! Declarations: at file level, in namespaces, and in blocks.

use tree_sitter::Node;
use warpsmith_ir::Span;

use super::context::{Cx, all_kids, field, fields, has_token, kids};
use super::types::{Declared, DeclaredName, FunctionParts};
use crate::ast::{
    AliasDecl, Attrs, Declarator, Expr, ExprKind, FunctionDecl, FunctionName, Initializer,
    Instantiation, Item, ItemKind, Param, TemplateHeader, TypeKind, TypeName, VarDecl,
};

impl<'t> Cx<'t> {
    /// The items below a node, in order, with the pragmas between them.
    pub fn items(&mut self, parent: Node<'t>) -> Vec<Item> {
        let mut items = vec![];
        for node in kids(parent) {
            if self.is_argument_list(node) {
                continue;
            }
            self.pragma_items(node.start_byte(), &mut items);
            if !self.is_container(node) && node.has_error() && self.is_hurt_inside(node) {
                self.host_function_in_part(node, &mut items);
                continue;
            }
            if !self.is_container(node) && node.has_error() && self.is_damaged(node) {
                items.push(self.damaged(node));
                // Pragmas inside belong to what was not read.
                self.pragmas_before(node.end_byte().saturating_sub(1));
                continue;
            }
            let mut found = vec![];
            if self.deeper(node, |cx| cx.item_kinds(node, false, &mut found)).is_none() {
                return items;
            }
            let span = self.span(node);
            items.extend(found.into_iter().map(|kind| Item { kind, span }));
        }
        items
    }

    /// A function of the host, of which some statements are not understood: those are left out, each by itself.
    fn host_function_in_part(&mut self, node: Node<'t>, items: &mut Vec<Item>) {
        let around = std::mem::replace(&mut self.in_part, true);
        let mut found = vec![];
        self.deeper(node, |cx| cx.item_kinds(node, false, &mut found));
        self.in_part = around;
        let span = self.span(node);
        items.extend(found.into_iter().map(|kind| Item { kind, span }));
    }

    pub fn pragma_items(&mut self, before: usize, items: &mut Vec<Item>) {
        for (text, span) in Cx::texts(self.pragmas_before(before)) {
            items.push(Item { kind: ItemKind::Pragma(text), span });
        }
    }

    /// Holds items of its own, each of which is judged alone.
    fn is_container(&self, node: Node<'t>) -> bool {
        matches!(node.kind(), "namespace_definition" | "linkage_specification")
            && field(node, "body")
                .is_some_and(|b| b.kind() == "declaration_list" && !b.is_missing())
            && all_kids(node).iter().all(|n| !n.is_error() && !n.is_missing())
            && field(node, "body").is_some_and(|b| all_kids(b).iter().all(|n| !n.is_missing()))
    }

    /// What one declaration declares; `local` inside functions, where `T x(y);` is a variable.
    pub fn item_kinds(&mut self, node: Node<'t>, local: bool, out: &mut Vec<ItemKind>) {
        match node.kind() {
            "declaration" => self.declaration(node, local, None, out),
            "function_definition" => {
                if let Some(function) = self.function(node, None, false) {
                    out.push(ItemKind::Function(function));
                } else {
                    out.push(unsupported("this function definition"));
                }
            }
            "template_declaration" => self.template(node, local, out),
            // The instance is made where it is used.
            "template_instantiation" => self.instantiation(node),
            "struct_specifier" | "class_specifier" | "union_specifier" => {
                let mut decl = self.struct_decl(node, None);
                self.outer_align(node, &mut decl.align);
                out.push(ItemKind::Struct(decl));
            }
            "enum_specifier" => out.push(ItemKind::Enum(self.enum_decl(node))),
            "type_definition" => self.typedef(node, out),
            "alias_declaration" => out.extend(self.alias(node, None).map(ItemKind::Alias)),
            "namespace_definition" => {
                let path = field(node, "name").map(|n| self.path(n));
                let items = field(node, "body").map(|b| self.items(b)).unwrap_or_default();
                let path_of_inline = path.clone().filter(|_| has_token(node, "inline"));
                out.push(self.nested_namespaces(path, items, node));
                // What is in an inline namespace is in the one around it, too.
                out.extend(path_of_inline.map(|p| ItemKind::Using {
                    path: p.segments.into_iter().map(|s| s.name).collect(),
                    namespace: true,
                }));
            }
            // Names that use the alias are written out already.
            "namespace_alias_definition" => {}
            "using_declaration" => {
                let namespace = has_token(node, "namespace");
                let path = kids(node).last().map(|n| self.path(*n));
                let path = path.map(|p| {
                    let outside = (p.global && !namespace).then(String::new);
                    outside.into_iter().chain(p.segments.into_iter().map(|s| s.name)).collect()
                });
                out.push(ItemKind::Using { path: path.unwrap_or_default(), namespace });
            }
            "static_assert_declaration" => {
                if let Some(cond) = field(node, "condition") {
                    let cond = self.expr(cond);
                    out.push(ItemKind::StaticAssert(cond));
                }
            }
            "linkage_specification" => self.linkage(node, out),
            "expression_statement" if kids(node).is_empty() => {}
            "expression_statement" => match self.axiom(node) {
                Some(condition) => out.push(ItemKind::Axiom(condition)),
                None => out.push(unsupported("this expression statement")),
            },
            "ERROR" => out.push(unsupported("text with a syntax error")),
            other => out.push(unsupported(&format!("this {}", other.replace('_', " ")))),
        }
    }

    /// The condition of `__axiom(condition);`.
    fn axiom(&mut self, node: Node<'t>) -> Option<crate::ast::Expr> {
        let call = *kids(node).first()?;
        let e = self.expr(call);
        let crate::ast::ExprKind::Call { callee, args } = *e.kind else { return None };
        let crate::ast::ExprKind::Path(path) = &*callee.kind else { return None };
        let [condition] = <[_; 1]>::try_from(args).ok()?;
        (path.as_name() == Some("__axiom")).then_some(condition)
    }

    /// Notes the function that an explicit instantiation names with all its arguments.
    fn instantiation(&mut self, node: Node<'t>) {
        let mut at = field(node, "declarator");
        while let Some(inner) = at.and_then(|n| field(n, "declarator")) {
            at = Some(inner);
        }
        let Some(name) = at else { return };
        let text = self.str(name);
        if text.contains('<') && matches!(name.kind(), "template_function" | "qualified_identifier")
        {
            let name_text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let span = self.span(name);
            self.instantiations.push(Instantiation { name: name_text, span });
        }
    }

    /// `namespace a::b { … }` is one in the other.
    fn nested_namespaces(
        &self,
        path: Option<crate::ast::Path>,
        items: Vec<Item>,
        node: Node<'t>,
    ) -> ItemKind {
        let mut names: Vec<String> =
            path.map(|p| p.segments.into_iter().map(|s| s.name).collect()).unwrap_or_default();
        let span = self.span(node);
        let mut kind = ItemKind::Namespace { name: names.pop(), items };
        while let Some(name) = names.pop() {
            kind = ItemKind::Namespace { name: Some(name), items: vec![Item { kind, span }] };
        }
        kind
    }

    /// `extern "C"` says nothing that matters here; its declarations stand as they are.
    fn linkage(&mut self, node: Node<'t>, out: &mut Vec<ItemKind>) {
        match field(node, "body") {
            Some(body) if body.kind() == "declaration_list" => {
                out.extend(self.items(body).into_iter().map(|item| item.kind));
            }
            Some(body) => {
                self.deeper(node, |cx| cx.item_kinds(body, false, out));
            }
            None => {}
        }
    }

    fn template(&mut self, node: Node<'t>, local: bool, out: &mut Vec<ItemKind>) {
        let header = field(node, "parameters").map(|n| self.template_header(n));
        let mut header = header.unwrap_or(TemplateHeader { params: vec![], requires: vec![] });
        let inner = kids(node)
            .into_iter()
            .find(|n| !matches!(n.kind(), "template_parameter_list" | "requires_clause"));
        let Some(inner) = inner else {
            return;
        };
        let clause = kids(node).into_iter().find(|n| n.kind() == "requires_clause");
        header.requires.extend(clause.and_then(|n| self.constraint(n)));
        match inner.kind() {
            "concept_definition" => out.extend(self.concept(inner, header)),
            "function_definition" => match self.function(inner, Some(header), false) {
                Some(function) => out.push(ItemKind::Function(function)),
                None => out.push(unsupported("this function template")),
            },
            "declaration" => self.declaration(inner, local, Some(header), out),
            "struct_specifier" | "class_specifier" | "union_specifier" => {
                // Which specialisation is the better constrained one is not looked at.
                let constrained = !header.requires.is_empty();
                let mut decl = self.struct_decl(inner, Some(header));
                if constrained && decl.specialisation.is_some() {
                    return out.push(unsupported("a specialisation with `requires`"));
                }
                self.outer_align(inner, &mut decl.align);
                out.push(ItemKind::Struct(decl));
            }
            "alias_declaration" => out.extend(self.alias(inner, Some(header)).map(ItemKind::Alias)),
            // A member template of a template: only the inner header would be kept.
            "template_declaration" => out.push(unsupported("a template of a template's member")),
            other => out.push(unsupported(&format!("this {}", other.replace('_', " ")))),
        }
    }

    /// The condition of a `requires` clause.
    pub(super) fn constraint(&mut self, clause: Node<'t>) -> Option<Expr> {
        let named = field(clause, "constraint").filter(|n| n.is_named());
        let condition = named.or_else(|| kids(clause).last().copied());
        condition.map(|n| self.expr(n))
    }

    /// `concept C = e;` is a constant template, `constexpr bool C = e;`.
    fn concept(&mut self, node: Node<'t>, header: TemplateHeader) -> Option<ItemKind> {
        let name = self.name(field(node, "name")?);
        let value = self.expr(*kids(node).last()?);
        let span = self.span(node);
        let ty = self.type_name(TypeKind::Builtin(vec!["bool".to_owned()]), node);
        let init = Some(Initializer::Expr(value));
        let declared = Declarator {
            name,
            ty,
            init,
            of: None,
            bits: None,
            specialisation: None,
            parts: vec![],
            span,
        };
        let attrs = Attrs { is_constexpr: true, ..Attrs::default() };
        let declarators = vec![declared];
        Some(ItemKind::Vars(VarDecl { attrs, template: Some(header), declarators, span }))
    }

    /// An alignment written before `struct`.
    fn outer_align(&mut self, node: Node<'t>, align: &mut Option<Expr>) {
        let mut attrs = Attrs::default();
        self.take_attrs(node, node.start_byte(), &mut attrs);
        if let Some(outer) = attrs.align {
            *align = Some(*outer);
        }
    }

    /// A declaration: variables, function prototypes, or only a type.
    fn declaration(
        &mut self,
        node: Node<'t>,
        local: bool,
        template: Option<TemplateHeader>,
        out: &mut Vec<ItemKind>,
    ) {
        let declarators = fields(node, "declarator");
        let is_function = declarators.first().is_some_and(|d| self.declares_function(*d, local));
        if is_function {
            match self.function(node, template, false) {
                Some(function) => out.push(ItemKind::Function(function)),
                None => out.push(unsupported("this declaration")),
            }
            return;
        }
        if declarators.is_empty() {
            return self.bare_type(node, template, out);
        }
        let declared = VarDecl { template, ..self.var_decl(node, local) };
        out.push(match declared.declarators.is_empty() {
            true => unsupported("a structured binding"),
            false => ItemKind::Vars(declared),
        });
    }

    /// `struct S { … };` read as a declaration without a name.
    fn bare_type(
        &mut self,
        node: Node<'t>,
        template: Option<TemplateHeader>,
        out: &mut Vec<ItemKind>,
    ) {
        let Some(ty) = field(node, "type") else {
            return;
        };
        match ty.kind() {
            "struct_specifier" | "class_specifier" | "union_specifier" => {
                let mut decl = self.struct_decl(ty, template);
                self.outer_align(node, &mut decl.align);
                out.push(ItemKind::Struct(decl));
            }
            "enum_specifier" => out.push(ItemKind::Enum(self.enum_decl(ty))),
            _ => {}
        }
    }

    /// True for a declarator that declares a function and not a variable.
    fn declares_function(&self, node: Node<'t>, local: bool) -> bool {
        let mut node = node;
        loop {
            match node.kind() {
                "function_declarator" => {
                    let pointer = super::types::inner_declarator(node)
                        .is_some_and(|n| n.kind() == "parenthesized_declarator");
                    return !(pointer || local && self.is_construction(node));
                }
                "operator_cast" => return true,
                "pointer_declarator" | "reference_declarator" | "attributed_declarator" => {
                    match super::types::inner_declarator(node) {
                        Some(inner) => node = inner,
                        None => return false,
                    }
                }
                _ => return false,
            }
        }
    }

    /// `dim3 grid(n);` – parameters that are only names are arguments, inside a function.
    fn is_construction(&self, node: Node<'t>) -> bool {
        let params = field(node, "parameters").map(kids).unwrap_or_default();
        !params.is_empty()
            && params.iter().all(|p| {
                let ty = field(*p, "type");
                p.kind() == "parameter_declaration"
                    && field(*p, "declarator").is_none_or(|d| {
                        // `n * n` reads as a pointer to `n`.
                        let factor = d.kind() == "pointer_declarator"
                            && super::types::inner_declarator(d)
                                .is_some_and(|n| n.kind() == "identifier");
                        factor || d.kind() == "abstract_function_declarator"
                    })
                    && kids(*p).len() <= 2
                    && ty.is_some_and(|t| {
                        matches!(t.kind(), "type_identifier" | "qualified_identifier")
                            && !self.names.is_type(self.str(t))
                    })
            })
    }

    /// A declaration statement of variables.
    pub fn var_decl(&mut self, node: Node<'t>, local: bool) -> VarDecl {
        let mut specifiers = self.specifiers(node);
        let base = specifiers.ty.take().unwrap_or_else(|| self.type_name(TypeKind::Auto, node));
        let mut declarators: Vec<Declarator> = vec![];
        let mut last_end = 0;
        for child in fields(node, "declarator") {
            if let Some(declarator) = self.init_declarator(base.clone(), child, local) {
                declarators.push(declarator);
            }
            last_end = child.end_byte();
        }
        // In a condition the value stands beside the declarator.
        if let (Some(value), Some(last)) =
            (field(node, "value").or(field(node, "default_value")), declarators.last_mut())
            && value.start_byte() >= last_end
        {
            last.init = Some(self.initializer(value));
        }
        self.take_attrs(node, node.end_byte(), &mut specifiers.attrs);
        VarDecl { attrs: specifiers.attrs, template: None, declarators, span: self.span(node) }
    }

    fn init_declarator(
        &mut self,
        base: TypeName,
        node: Node<'t>,
        local: bool,
    ) -> Option<Declarator> {
        let span = self.span(node);
        if node.kind() == "init_declarator" {
            let mut declarator = self.variable(base, field(node, "declarator")?)?;
            declarator.init = field(node, "value").map(|n| self.initializer(n));
            declarator.span = span;
            if let Some(Initializer::Expr(e)) = &declarator.init
                && matches!(declarator.ty.kind, TypeKind::DecltypeAuto)
            {
                declarator.ty.kind = TypeKind::Decltype(Box::new(e.clone()));
            }
            return Some(declarator);
        }
        if local && node.kind() == "function_declarator" && self.is_construction(node) {
            let name = self.name(field(node, "declarator")?);
            let list = field(node, "parameters")?;
            let args = kids(list).into_iter().map(|p| self.name_as_argument(p)).collect();
            let init = Some(Initializer::Call(args, self.span(list)));
            return Some(Declarator {
                name,
                ty: base,
                init,
                of: None,
                bits: None,
                specialisation: None,
                parts: vec![],
                span,
            });
        }
        self.variable(base, node)
    }

    /// A parameter that is really an argument: a name, a product of two, or a call without arguments.
    fn name_as_argument(&mut self, node: Node<'t>) -> Expr {
        let Some(ty) = field(node, "type") else {
            return self.unsupported("this argument", node);
        };
        // Words of the language look like names here, too.
        let kind = match self.str(ty) {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "nullptr" => ExprKind::NullPtr,
            "this" => ExprKind::This,
            _ => ExprKind::Path(self.path(ty)),
        };
        let callee = self.make(kind, ty);
        match field(node, "declarator") {
            None => callee,
            Some(d) if d.kind() == "pointer_declarator" => {
                let Some(right) = super::types::inner_declarator(d) else { return callee };
                let right = self.expr(right);
                self.make(ExprKind::Binary { op: "*".into(), left: callee, right }, node)
            }
            Some(_) => self.make(ExprKind::Call { callee, args: vec![] }, node),
        }
    }

    /// A function, defined or declared. `member` inside a struct.
    pub fn function(
        &mut self,
        node: Node<'t>,
        mut template: Option<TemplateHeader>,
        member: bool,
    ) -> Option<FunctionDecl> {
        let declarator = field(node, "declarator")?;
        let mut specifiers = self.specifiers(node);
        let has_type = specifiers.ty.is_some();
        let base = specifiers.ty.take().unwrap_or_else(|| self.type_name(TypeKind::Void, node));
        let Declared { name, ty, function } = self.declarator(base, declarator);
        let FunctionParts { params, variadic, is_const } = function?;
        let clause = all_kids(declarator).into_iter().find(|n| n.kind() == "requires_clause");
        if let Some(clause) = clause {
            // A condition on what is no template would be one on its class.
            let condition = self.constraint(clause)?;
            template.as_mut()?.requires.push(condition);
        }
        let name = match name {
            DeclaredName::Special(name) => name,
            DeclaredName::Path(_) if !has_type && member => FunctionName::Constructor,
            DeclaredName::Path(path) => FunctionName::Plain(path),
            _ => return None,
        };
        let typed = !matches!(name, FunctionName::Constructor | FunctionName::Destructor);
        let ret = Some(ty)
            .filter(|_| typed && (has_type || matches!(name, FunctionName::Conversion(_))))
            .filter(|t| t.kind != TypeKind::Auto);
        // `int main() try { … } catch (…) { … }`: nothing is thrown here.
        let body = field(node, "body").and_then(|b| match b.kind() {
            "try_statement" => field(b, "body"),
            _ => Some(b),
        });
        let body = body.filter(|b| b.kind() == "compound_statement");
        let start = body.map_or(node.end_byte(), |b| b.start_byte());
        self.take_attrs(node, start, &mut specifiers.attrs);
        let head_span: Span = self.span_of(node.start_byte()..declarator.end_byte());
        let inits = self.constructor_inits(node);
        // Pragmas among the parameters say nothing about the body.
        self.pragmas_before(start);
        let body = body.map(|b| self.block(b));
        let attrs = specifiers.attrs;
        Some(FunctionDecl {
            name,
            template,
            attrs,
            ret,
            params,
            variadic,
            is_const,
            inits,
            body,
            head_span,
        })
    }

    /// `: a(x), b{y}`.
    fn constructor_inits(&mut self, node: Node<'t>) -> Vec<(String, Vec<Expr>, Span)> {
        let list = kids(node).into_iter().find(|n| n.kind() == "field_initializer_list");
        let mut inits = vec![];
        for init in list.map(kids).unwrap_or_default() {
            let [name, values, ..] = kids(init)[..] else {
                continue;
            };
            let args = match self.initializer(values) {
                Initializer::Call(args, _) => args,
                Initializer::List(..) => kids(values).into_iter().map(|n| self.expr(n)).collect(),
                Initializer::Expr(e) => vec![e],
            };
            let name = self.path(name).segments.pop().map(|s| s.name).unwrap_or_default();
            inits.push((name, args, self.span(init)));
        }
        inits
    }

    fn typedef(&mut self, node: Node<'t>, out: &mut Vec<ItemKind>) {
        let specifiers = self.specifiers(node);
        let Some(base) = specifiers.ty else {
            return out.push(unsupported("this typedef"));
        };
        for declarator in fields(node, "declarator") {
            let declared = self.declarator(base.clone(), declarator);
            let DeclaredName::Path(path) = declared.name else {
                continue;
            };
            let name = path.segments.last().map(|s| s.name.clone()).unwrap_or_default();
            let ty = match declared.function {
                Some(parts) => self.function_type(declared.ty, parts.params, declarator),
                None => declared.ty,
            };
            out.push(ItemKind::Alias(AliasDecl {
                name,
                template: None,
                ty,
                span: self.span(node),
            }));
        }
    }

    fn function_type(&self, ret: TypeName, params: Vec<Param>, node: Node<'t>) -> TypeName {
        self.type_name(TypeKind::Function { ret: Box::new(ret), params }, node)
    }

    pub fn alias(&mut self, node: Node<'t>, template: Option<TemplateHeader>) -> Option<AliasDecl> {
        let name = self.name(field(node, "name")?);
        let ty = self.type_descriptor(field(node, "type")?);
        Some(AliasDecl { name, template, ty, span: self.span(node) })
    }

    /// The argument lists of attributes, which stand in front of everything.
    pub fn read_argument_lists(&mut self, root: Node<'t>) {
        for node in kids(root) {
            if !self.is_argument_list(node) {
                // The lists come first.
                break;
            }
            let call = fields(node, "declarator").first().and_then(|d| field(*d, "value"));
            let args = call.and_then(|c| field(c, "arguments")).map(kids).unwrap_or_default();
            let args = args.into_iter().map(|n| self.expr(n)).collect();
            self.lists.push(args);
        }
    }

    /// An item that cannot be read and is not needed by any kernel.
    fn damaged(&mut self, node: Node<'t>) -> Item {
        let what = match all_kids(node).first() {
            Some(first) => format!(
                "host code from `{}` on",
                self.str(*first).chars().take(24).collect::<String>()
            ),
            None => "host code".to_owned(),
        };
        Item { kind: ItemKind::Unsupported { what }, span: self.span(node) }
    }
}

pub fn unsupported(what: &str) -> ItemKind {
    ItemKind::Unsupported { what: what.to_owned() }
}
