//! Structs, unions, classes and enums.

use tree_sitter::Node;

use super::context::{Cx, all_kids, field, fields, kids};
use super::items::unsupported;
use super::mask::UNNAMED;
use crate::ast::{
    Base, Declarator, EnumDecl, ItemKind, Member, PathSegment, StructDecl, TemplateHeader,
    TypeKind, TypeName, VarDecl,
};

impl<'t> Cx<'t> {
    pub fn struct_decl(&mut self, node: Node<'t>, template: Option<TemplateHeader>) -> StructDecl {
        let body = field(node, "body");
        let head_end = body.map_or(node.end_byte(), |b| b.start_byte());
        // Attributes stand before the name, or after the fields.
        let after = body.map(|_| node.end_byte()..node.end_byte() + 1);
        let align = self.take_align(node.start_byte()..head_end);
        let align = align.or_else(|| after.and_then(|range| self.take_align(range)));
        let segment: Option<PathSegment> =
            field(node, "name").and_then(|n| self.path(n).segments.pop());
        let (name, specialisation) = match segment {
            Some(PathSegment { name, args }) => (Some(name), args),
            None => (None, None),
        };
        let clause = kids(node).into_iter().find(|n| n.kind() == "base_class_clause");
        let bases = clause.map(|clause| self.bases(clause)).unwrap_or_default();
        let hidden = node.kind() == "class_specifier";
        let members = body.map(|b| self.members(b, hidden));
        StructDecl {
            name,
            template,
            specialisation,
            is_union: node.kind() == "union_specifier",
            align,
            bases,
            members,
            span: self.span(node),
        }
    }

    fn bases(&mut self, clause: Node<'t>) -> Vec<Base> {
        let mut bases: Vec<Base> = vec![];
        for n in all_kids(clause) {
            if n.kind() == "..."
                && let Some(base) = bases.last_mut()
            {
                base.expands = true;
            }
            if n.is_named() && !matches!(n.kind(), "access_specifier" | "comment") {
                bases.push(Base { ty: self.type_specifier(n), expands: false });
            }
        }
        bases
    }

    /// `hidden`: until an access specifier says otherwise.
    fn members(&mut self, body: Node<'t>, mut hidden: bool) -> Vec<Member> {
        let mut members = vec![];
        let nodes = kids(body);
        let has_friends = nodes.iter().any(|n| n.kind() == "friend_declaration");
        for node in nodes {
            self.pragmas_before(node.start_byte());
            if node.kind() == "access_specifier" {
                hidden = !self.str(node).starts_with("public");
            }
            let before = members.len();
            self.deeper(node, |cx| cx.member_of(node, &mut members));
            for member in members.iter_mut().skip(before) {
                match member {
                    Member::Field(v) => v.attrs.is_hidden = hidden && !has_friends,
                    Member::Method(f) => f.attrs.is_hidden = hidden && !has_friends,
                    _ => {}
                }
            }
        }
        members
    }

    fn member_of(&mut self, node: Node<'t>, out: &mut Vec<Member>) {
        if all_kids(node).into_iter().any(|n| n.kind() == "virtual") {
            self.plain_member(node, out);
            if let Some(Member::Method(f)) = out.last_mut() {
                f.attrs.is_virtual = true;
            }
            return;
        }
        self.plain_member(node, out);
    }

    fn plain_member(&mut self, node: Node<'t>, out: &mut Vec<Member>) {
        match node.kind() {
            "access_specifier" => {}
            "field_declaration" => self.field_declaration(node, out),
            "function_definition" => self.method(node, None, out),
            "template_declaration" => self.member_template(node, out),
            "declaration" => {
                // Constructors and destructors without a body have no type.
                if field(node, "type").is_none() {
                    self.method(node, None, out);
                } else {
                    self.other_member(node, out);
                }
            }
            "friend_declaration" => {
                let inner = kids(node).into_iter().find(|n| n.kind() == "function_definition");
                if let Some(inner) = inner {
                    self.method(inner, None, out);
                    self.befriend(node, out);
                }
            }
            "using_declaration" => {
                let path = kids(node).last().map(|n| self.path(*n));
                out.extend(path.map(Member::Using));
            }
            _ => self.other_member(node, out),
        }
    }

    /// The function just read is a friend; words before `friend` are its own.
    fn befriend(&mut self, node: Node<'t>, out: &mut [Member]) {
        if let Some(Member::Method(f)) = out.last_mut() {
            self.take_attrs(node, node.end_byte(), &mut f.attrs);
            f.attrs.is_friend = true;
        }
    }

    fn other_member(&mut self, node: Node<'t>, out: &mut Vec<Member>) {
        let mut kinds = vec![];
        self.item_kinds(node, false, &mut kinds);
        self.push_members(kinds, node, out);
    }

    fn push_members(&mut self, kinds: Vec<ItemKind>, node: Node<'t>, out: &mut Vec<Member>) {
        let span = self.span(node);
        out.extend(kinds.into_iter().map(|kind| match kind {
            ItemKind::Function(f) => Member::Method(f),
            ItemKind::Vars(v) => Member::Field(v),
            ItemKind::Struct(s) => Member::Struct(s),
            ItemKind::Enum(e) => Member::Enum(e),
            ItemKind::Alias(a) => Member::Alias(a),
            ItemKind::StaticAssert(e) => Member::StaticAssert(e),
            ItemKind::Unsupported { what } => Member::Unsupported { what, span },
            _ => Member::Unsupported { what: "this member".to_owned(), span },
        }));
    }

    fn method(&mut self, node: Node<'t>, template: Option<TemplateHeader>, out: &mut Vec<Member>) {
        match self.function(node, template, true) {
            Some(function) => out.push(Member::Method(function)),
            None => out.push(Member::Unsupported {
                what: "this member function".to_owned(),
                span: self.span(node),
            }),
        }
    }

    fn member_template(&mut self, node: Node<'t>, out: &mut Vec<Member>) {
        let friend = kids(node).into_iter().find(|n| n.kind() == "friend_declaration");
        let befriended =
            friend.and_then(|f| kids(f).into_iter().find(|n| n.kind() == "function_definition"));
        if let Some(inner) = befriended {
            let header = field(node, "parameters").map(|n| self.template_header(n));
            self.method(inner, header, out);
            return self.befriend(node, out);
        }
        let inner = kids(node).into_iter().find(|n| {
            matches!(n.kind(), "function_definition" | "declaration" | "field_declaration")
        });
        match inner {
            Some(inner) if fields(inner, "declarator").first().is_some_and(|d| is_function(*d)) => {
                let header = field(node, "parameters").map(|n| self.template_header(n));
                self.method(inner, header, out);
            }
            _ => self.other_member(node, out),
        }
    }

    /// Fields, member functions without a body, and types defined inside.
    fn field_declaration(&mut self, node: Node<'t>, out: &mut Vec<Member>) {
        let declarators = fields(node, "declarator");
        if declarators.first().is_some_and(|d| is_function(*d)) {
            return self.method(node, None, out);
        }
        let Some(ty) = field(node, "type") else {
            return self.push_members(vec![unsupported("this member")], node, out);
        };
        let named = field(ty, "name").is_some();
        let defines = ty.kind().ends_with("_specifier")
            && (field(ty, "body").is_some() || ty.kind() == "enum_specifier");
        if declarators.is_empty() && defines && (named || ty.kind() == "enum_specifier") {
            return self.other_member(ty, out);
        }
        let mut specifiers = self.specifiers(node);
        let base = specifiers.ty.take().unwrap_or_else(|| self.type_name(TypeKind::Auto, node));
        let mut list = self.fields_of(node, &base);
        if list.is_empty() {
            // An anonymous struct or union, whose members are the outer one's; or an unnamed bit-field.
            let span = self.span(node);
            list.push(Declarator {
                specialisation: None,
                of: None,
                name: String::new(),
                ty: base,
                init: None,
                bits: self.bit_width(node),
                parts: vec![],
                span,
            });
        }
        self.take_attrs(node, node.end_byte(), &mut specifiers.attrs);
        out.push(Member::Field(VarDecl {
            template: None,
            attrs: specifiers.attrs,
            declarators: list,
            span: self.span(node),
        }));
    }

    fn bit_width(&mut self, node: Node<'t>) -> Option<crate::ast::Expr> {
        let clause = kids(node).into_iter().find(|n| n.kind() == "bitfield_clause")?;
        kids(clause).first().map(|n| self.expr(*n))
    }

    /// The declarators of a field declaration with the widths and values that follow each.
    fn fields_of(&mut self, node: Node<'t>, base: &TypeName) -> Vec<Declarator> {
        let mut list: Vec<Declarator> = vec![];
        let mut cursor = node.walk();
        if !cursor.goto_first_child() {
            return list;
        }
        loop {
            let child = cursor.node();
            match cursor.field_name() {
                Some("declarator") => {
                    let unnamed = self.str(child) == UNNAMED;
                    let found = self.variable(base.clone(), child).into_iter();
                    list.extend(found.map(|d| match unnamed {
                        true => Declarator { name: String::new(), ..d },
                        false => d,
                    }));
                }
                Some("default_value") => {
                    let value = self.initializer(child);
                    if let Some(last) = list.last_mut() {
                        last.init = Some(value);
                    }
                }
                _ if child.kind() == "bitfield_clause" => {
                    let width = kids(child).first().map(|n| self.expr(*n));
                    if let Some(last) = list.last_mut() {
                        last.bits = width;
                    }
                }
                _ => {}
            }
            if !cursor.goto_next_sibling() {
                return list;
            }
        }
    }

    pub fn enum_decl(&mut self, node: Node<'t>) -> EnumDecl {
        let name = field(node, "name").map(|n| self.name(n)).filter(|name| name != UNNAMED);
        let underlying = field(node, "base").map(|n| self.type_specifier(n));
        let text = self.str(node);
        let head = text.split('{').next().unwrap_or(text);
        let scoped = head.split_whitespace().any(|w| matches!(w, "class" | "struct"));
        let mut variants = vec![];
        for variant in field(node, "body").map(kids).unwrap_or_default() {
            if variant.kind() != "enumerator" {
                continue;
            }
            let value = field(variant, "value").map(|n| self.expr(n));
            let name = field(variant, "name").map_or_else(String::new, |n| self.name(n));
            variants.push((name, value, self.span(variant)));
        }
        EnumDecl { name, scoped, underlying, variants, span: self.span(node) }
    }
}

/// True for a declarator of a member function.
fn is_function(mut node: Node<'_>) -> bool {
    loop {
        match node.kind() {
            "function_declarator" => {
                return super::types::inner_declarator(node)
                    .is_none_or(|n| n.kind() != "parenthesized_declarator");
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
