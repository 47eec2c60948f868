//! Expressions.

use tree_sitter::Node;

use super::context::{Cx, all_kids, field, fields, kids};
use super::conversions;
use super::literals;
use super::mask::THROUGH;
use crate::ast::{
    Designator, Expr, ExprKind, InitItem, Initializer, LambdaDecl, MadeCapture, NewObject,
    PathSegment, Stmt, StmtKind, TypeKind, TypeName,
};

/// Names that stand for the name of the function around them.
const FUNCTION_NAMES: [&str; 3] = ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"];

impl<'t> Cx<'t> {
    pub fn make(&self, kind: ExprKind, node: Node<'t>) -> Expr {
        Expr { kind: Box::new(kind), span: self.span(node) }
    }

    pub fn unsupported(&self, what: impl Into<String>, node: Node<'t>) -> Expr {
        self.make(ExprKind::Unsupported { what: what.into() }, node)
    }

    pub fn expr(&mut self, node: Node<'t>) -> Expr {
        let kind = self.deeper(node, |cx| cx.expr_kind(node));
        let kind = kind.unwrap_or(ExprKind::Unsupported { what: "deep nesting".to_owned() });
        self.make(kind, node)
    }

    /// The expression in a field; an empty place is an error of the syntax that is reported elsewhere.
    pub(super) fn part(&mut self, node: Node<'t>, name: &str) -> Expr {
        match field(node, name) {
            Some(inner) => self.expr(inner),
            None => self.unsupported("missing expression", node),
        }
    }

    fn exprs(&mut self, nodes: Vec<Node<'t>>) -> Vec<Expr> {
        nodes.into_iter().map(|n| self.expr(n)).collect()
    }

    fn first(&mut self, node: Node<'t>) -> Expr {
        match kids(node).first() {
            Some(inner) => self.expr(*inner),
            None => self.unsupported("missing expression", node),
        }
    }

    fn operator(&self, node: Node<'t>) -> String {
        let text = field(node, "operator").map_or("", |n| self.str(n));
        match text {
            "and" => "&&",
            "or" => "||",
            "not" => "!",
            "compl" => "~",
            "bitand" => "&",
            "bitor" => "|",
            "xor" => "^",
            "not_eq" => "!=",
            "and_eq" => "&=",
            "or_eq" => "|=",
            "xor_eq" => "^=",
            other => other,
        }
        .to_owned()
    }

    pub(super) fn expr_kind(&mut self, node: Node<'t>) -> ExprKind {
        if let Some(cast) = self.cast_of_chain(node) {
            return cast;
        }
        let text = self.str(node);
        match node.kind() {
            "identifier" if FUNCTION_NAMES.contains(&text) => {
                ExprKind::Str(self.name_of_function_around(node))
            }
            "identifier"
            | "qualified_identifier"
            | "template_function"
            | "type_identifier"
            | "field_identifier"
            | "template_type"
            | "namespace_identifier" => ExprKind::Path(self.path(node)),
            "number_literal" => ExprKind::Number(text.replace('\'', "")),
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null" => ExprKind::NullPtr,
            "this" => ExprKind::This,
            "char_literal" => ExprKind::Char(literals::character(text)),
            "string_literal" | "raw_string_literal" => ExprKind::Str(literals::string(text)),
            "concatenated_string" => self.joined_strings(node),
            "parenthesized_expression" => self.parenthesized(node),
            "unary_expression" | "pointer_expression" => {
                let operand = self.part(node, "argument");
                prefixed(self.operator(node), operand)
            }
            "update_expression" => self.update(node),
            "binary_expression" | "constraint_conjunction" | "constraint_disjunction" => {
                self.binary(node)
            }
            "assignment_expression" => self.assignment(node),
            "conditional_expression" => self.conditional(node),
            "comma_expression" => {
                ExprKind::Comma(self.part(node, "left"), self.part(node, "right"))
            }
            "call_expression" => self.call(node),
            "subscript_expression" => self.subscript(node),
            "field_expression" => self.member(node),
            "cast_expression" => self.cast(node),
            "compound_literal_expression" => self.compound_literal(node),
            "sizeof_expression" => match field(node, "type") {
                Some(ty) => ExprKind::SizeofType(self.type_descriptor(ty)),
                None if all_kids(node).iter().any(|k| k.kind() == "...") => {
                    ExprKind::PackLength(self.part(node, "value"))
                }
                None => ExprKind::SizeofExpr(self.part(node, "value")),
            },
            "alignof_expression" => match field(node, "type") {
                Some(ty) => ExprKind::AlignofType(self.type_descriptor(ty)),
                None => ExprKind::Unsupported { what: "`alignof` of an expression".to_owned() },
            },
            "offsetof_expression" => match (field(node, "type"), field(node, "member")) {
                (Some(ty), Some(member)) => ExprKind::Offset {
                    ty: self.type_descriptor(ty),
                    member: self.str(member).to_owned(),
                },
                _ => ExprKind::Unsupported { what: "this `offsetof`".to_owned() },
            },
            "initializer_list" => ExprKind::InitList(self.init_items(node)),
            "lambda_expression" => self.lambda(node),
            "parameter_pack_expansion" => match field(node, "pattern") {
                Some(pattern) if pattern.kind() != "type_descriptor" => {
                    ExprKind::PackExpansion(self.expr(pattern))
                }
                _ => ExprKind::Unsupported { what: "a pack of types".to_owned() },
            },
            "new_expression" => self.new_object(node),
            "delete_expression" => ExprKind::Delete {
                pointer: self.first(node),
                array: all_kids(node).iter().any(|n| n.kind() == "[" || n.kind() == "[]"),
            },
            "fold_expression" => self.fold(node),
            "requires_expression" => self.requires(node),
            "extension_expression" => *self.first(node).kind,
            _ => ExprKind::Unsupported { what: unsupported_name(node.kind(), text) },
        }
    }

    /// What `__func__` is: the plain name of the function.
    fn name_of_function_around(&self, node: Node<'t>) -> String {
        let mut around = node.parent();
        while let Some(n) = around.filter(|n| n.kind() != "function_definition") {
            around = n.parent();
        }
        let mut named = around.and_then(|f| field(f, "declarator"));
        while let Some(inner) = named.and_then(|n| field(n, "declarator").or(field(n, "name"))) {
            named = Some(inner);
        }
        named.map_or("", |n| self.str(n)).to_owned()
    }

    fn joined_strings(&mut self, node: Node<'t>) -> ExprKind {
        let mut joined = String::new();
        for part in kids(node) {
            if part.kind() == "identifier" {
                return ExprKind::Unsupported {
                    what: format!("the string macro `{}`", self.str(part)),
                };
            }
            joined.push_str(&literals::string(self.str(part)));
        }
        ExprKind::Str(joined)
    }

    fn parenthesized(&mut self, node: Node<'t>) -> ExprKind {
        match kids(node).first() {
            Some(inner) if inner.kind() == "compound_statement" => self.statements(*inner),
            Some(inner) => ExprKind::Paren(self.expr(*inner)),
            None => ExprKind::Unsupported { what: "empty parentheses".to_owned() },
        }
    }

    /// `({ int y = f(x); y > 0 ? y : -y; })`: a lambda that is called at once, whose last expression is its value.
    fn statements(&mut self, node: Node<'t>) -> ExprKind {
        let mut body = self.block(node);
        if body.stmts.iter().any(leaves) {
            return ExprKind::Unsupported { what: "a jump out of an expression".to_owned() };
        }
        if let Some(last) = body.stmts.last_mut()
            && let StmtKind::Expr(value) = &last.kind
        {
            last.kind = StmtKind::Return(Some(Initializer::Expr(value.clone())));
        }
        let lambda = LambdaDecl {
            captures: vec!["&".to_owned()],
            made: vec![],
            mutable: true,
            params: vec![],
            ret: None,
            body,
        };
        let callee = self.make(ExprKind::Lambda(Box::new(lambda)), node);
        ExprKind::Call { callee, args: vec![] }
    }

    fn update(&mut self, node: Node<'t>) -> ExprKind {
        let operator = field(node, "operator");
        let argument = field(node, "argument");
        let prefix = match (operator, argument) {
            (Some(op), Some(arg)) => op.start_byte() < arg.start_byte(),
            _ => true,
        };
        let operand = self.part(node, "argument");
        ExprKind::IncDec { op: self.operator(node), prefix, operand }
    }

    /// A binary operation, or what only looks like one: `(real)-x` is a cast.
    fn binary(&mut self, node: Node<'t>) -> ExprKind {
        let mut op = self.operator(node);
        if op == "<="
            && field(node, "operator").is_some_and(|n| self.masked.less.contains(&n.start_byte()))
        {
            op = "<".to_owned();
        }
        if matches!(op.as_str(), "-" | "+" | "*" | "&")
            && let Some(ty) = field(node, "left").and_then(|n| self.type_in_parentheses(n))
        {
            let operand = self.part(node, "right");
            let start = field(node, "operator").map_or(node.start_byte(), |n| n.start_byte());
            let span = self.span_of(start..node.end_byte());
            let operand = Expr { kind: Box::new(ExprKind::Unary { op, operand }), span };
            return ExprKind::Cast { style: "c", ty, operand };
        }
        let left = self.part(node, "left");
        let right = self.part(node, "right");
        ExprKind::Binary { op, left, right }
    }

    fn assignment(&mut self, node: Node<'t>) -> ExprKind {
        let target = self.part(node, "left");
        match field(node, "right") {
            Some(list) if list.kind() == "initializer_list" => {
                ExprKind::AssignList { target, items: self.init_items(list) }
            }
            _ => ExprKind::Assign {
                op: self.operator(node),
                target,
                value: self.part(node, "right"),
            },
        }
    }

    fn conditional(&mut self, node: Node<'t>) -> ExprKind {
        if field(node, "consequence").is_none() {
            return ExprKind::Otherwise {
                value: self.part(node, "condition"),
                otherwise: self.part(node, "alternative"),
            };
        }
        ExprKind::Conditional {
            cond: self.part(node, "condition"),
            then: self.part(node, "consequence"),
            otherwise: self.part(node, "alternative"),
        }
    }

    fn call(&mut self, node: Node<'t>) -> ExprKind {
        let Some(callee) = fields(node, "function").into_iter().find(|n| n.is_named()) else {
            return ExprKind::Unsupported { what: "a call".to_owned() };
        };
        let list = field(node, "arguments").map(kids).unwrap_or_default();
        if let Some(launch) = kids(node).into_iter().find(|n| n.kind() == "kernel_call_syntax") {
            let callee = self.expr(callee);
            let config = self.exprs(kids(launch));
            return ExprKind::Launch { callee, config, args: self.exprs(list) };
        }
        match callee.kind() {
            "primitive_type" | "sized_type_specifier" => {
                let ty = self.type_specifier(callee);
                let args = self.exprs(list).into_iter().map(Initializer::Expr).collect();
                return ExprKind::Construct { ty, args, braces: false };
            }
            "template_function" => {
                if let Some(kind) = self.named_cast(callee, &list) {
                    return kind;
                }
            }
            "parenthesized_expression" => {
                if let ([value], Some(ty)) = (list.as_slice(), self.type_in_parentheses(callee)) {
                    let inner = ExprKind::Paren(self.expr(*value));
                    if self.operand_of_cast == Some(node.id()) {
                        return inner;
                    }
                    let span = self.span_of(callee.end_byte()..node.end_byte());
                    let operand = Expr { kind: Box::new(inner), span };
                    return ExprKind::Cast { style: "c", ty, operand };
                }
            }
            _ => {}
        }
        let callee = self.expr(callee);
        conversions::cast_of(callee, self.exprs(list))
    }

    fn subscript(&mut self, node: Node<'t>) -> ExprKind {
        let base = self.part(node, "argument");
        let indices = field(node, "indices").map(kids).unwrap_or_default();
        match indices.as_slice() {
            [only] => ExprKind::Index { base, index: self.expr(*only) },
            _ => ExprKind::Unsupported { what: "an index with several parts".to_owned() },
        }
    }

    fn member(&mut self, node: Node<'t>) -> ExprKind {
        let base = self.part(node, "argument");
        let arrow = match self.operator(node).as_str() {
            "." => false,
            "->" => true,
            other => return ExprKind::Unsupported { what: format!("the operator `{other}`") },
        };
        let Some(name) = field(node, "field") else {
            return ExprKind::Unsupported { what: "a member access".to_owned() };
        };
        let mut class = None;
        let member = match name.kind() {
            // `x.Base::f`: the last part names the member.
            "qualified_identifier" => {
                let mut path = self.path(name);
                let member = path.segments.pop();
                class = Some(path).filter(|p| !p.segments.is_empty());
                member
            }
            "operator_name" | "destructor_name" => {
                Some(PathSegment { name: self.str(name).split_whitespace().collect(), args: None })
            }
            _ => Some(self.segment(name)),
        };
        let member = member.unwrap_or(PathSegment { name: String::new(), args: None });
        ExprKind::Member { base, arrow, member, class }
    }

    fn compound_literal(&mut self, node: Node<'t>) -> ExprKind {
        let ty_node = fields(node, "type").into_iter().find(|n| n.is_named());
        let (Some(ty_node), Some(list)) = (ty_node, field(node, "value")) else {
            return ExprKind::Unsupported { what: "a literal of a type".to_owned() };
        };
        let ty = match ty_node.kind() {
            "type_descriptor" => self.type_descriptor(ty_node),
            _ => self.type_specifier(ty_node),
        };
        if self.str(node).starts_with('(') {
            return ExprKind::CompoundLiteral { ty, items: self.init_items(list) };
        }
        let mut args = vec![];
        for item in self.init_items(list) {
            match item.designator {
                None => args.push(item.value),
                Some(_) => return ExprKind::CompoundLiteral { ty, items: self.init_items(list) },
            }
        }
        ExprKind::Construct { ty, args, braces: true }
    }

    /// The items of a braced list.
    pub fn init_items(&mut self, list: Node<'t>) -> Vec<InitItem> {
        kids(list).into_iter().map(|item| self.init_item(item)).collect()
    }

    fn init_item(&mut self, node: Node<'t>) -> InitItem {
        if node.kind() != "initializer_pair" {
            return InitItem { designator: None, value: self.initializer(node) };
        }
        let value = match field(node, "value") {
            Some(value) => self.initializer(value),
            None => Initializer::Expr(self.unsupported("missing value", node)),
        };
        let mut item = InitItem { designator: None, value };
        // `.a.b = v` is `.a = {.b = v}`.
        for (depth, designator) in fields(node, "designator").into_iter().rev().enumerate() {
            if depth > 0 {
                let span = self.span(node);
                item = InitItem { designator: None, value: Initializer::List(vec![item], span) };
            }
            item.designator = Some(match designator.kind() {
                "subscript_designator" => Designator::Index(self.first(designator)),
                "subscript_range_designator" => {
                    Designator::Index(self.unsupported("a range of elements", designator))
                }
                _ => Designator::Field(
                    self.str(designator).trim_start_matches('.').trim().to_owned(),
                ),
            });
        }
        item
    }

    /// The right side of `=`, or the value beside a name.
    pub fn initializer(&mut self, node: Node<'t>) -> Initializer {
        match node.kind() {
            "initializer_list" => {
                let items = self.deeper(node, |cx| cx.init_items(node)).unwrap_or_default();
                Initializer::List(items, self.span(node))
            }
            "argument_list" => Initializer::Call(self.exprs(kids(node)), self.span(node)),
            _ => Initializer::Expr(self.expr(node)),
        }
    }

    fn lambda(&mut self, node: Node<'t>) -> ExprKind {
        let captures = field(node, "captures").map(kids).unwrap_or_default();
        let (made, captures): (Vec<_>, Vec<_>) =
            captures.into_iter().partition(|c| c.kind() == "lambda_capture_initializer");
        let made = made.into_iter().filter_map(|c| self.made_capture(c)).collect();
        let captures = self.captures(node, captures);
        let declarator = field(node, "declarator");
        let (parts, ret) = declarator.map(|d| self.function_parts(d)).unwrap_or_default();
        let body = field(node, "body");
        let specifiers = declarator.map(kids).unwrap_or_default();
        let mutable =
            specifiers.iter().any(|s| s.kind() == "lambda_specifier" && self.str(*s) == "mutable");
        // `[=] __device__ (…)`: where a lambda runs follows from its use.
        self.drop_attrs(node.start_byte()..body.map_or(node.end_byte(), |b| b.start_byte()));
        let body = body.map(|b| self.block(b)).unwrap_or_default();
        ExprKind::Lambda(Box::new(LambdaDecl {
            captures,
            made,
            mutable,
            params: parts.params,
            ret,
            body,
        }))
    }

    fn made_capture(&mut self, node: Node<'t>) -> Option<MadeCapture> {
        let name = self.str(field(node, "left")?).to_owned();
        let value = self.expr(field(node, "right")?);
        Some(MadeCapture { name, by_ref: self.str(node).starts_with('&'), value })
    }

    /// The captures as written, by-reference ones with their `&`.
    fn captures(&mut self, node: Node<'t>, named: Vec<Node<'t>>) -> Vec<String> {
        let Some(list) = field(node, "captures") else {
            return vec![];
        };
        let mut captures: Vec<String> = named.iter().map(|n| self.str(*n).to_owned()).collect();
        // `&x` is a token and a name.
        let tokens = all_kids(list);
        for pair in tokens.windows(2) {
            if let [amp, name] = pair
                && amp.kind() == "&"
                && name.kind() == "identifier"
                && let Some(at) = named.iter().position(|n| n.id() == name.id())
            {
                captures[at].insert(0, '&');
            }
        }
        captures
    }

    /// `new T(args)`, `new T[count]`, `new T[count][extent]`, `new (p) T(args)`.
    fn new_object(&mut self, node: Node<'t>) -> ExprKind {
        let declarator = field(node, "declarator");
        let Some(ty) = field(node, "type") else {
            return ExprKind::Unsupported { what: "this `new`".to_owned() };
        };
        let mut ty = self.type_specifier(ty);
        for _ in 0..self.take_stars(node.byte_range()) {
            let kind = TypeKind::Pointer { to: Box::new(ty.clone()), restrict: false };
            ty = TypeName { kind, is_const: false, is_volatile: false, span: ty.span };
        }
        // Only the first extent counts elements: the others make their type.
        for extent in self.inner_extents(declarator).into_iter().rev() {
            let kind =
                TypeKind::Array { element: Box::new(ty.clone()), extent: Some(Box::new(extent)) };
            ty = TypeName { kind, is_const: false, is_volatile: false, span: ty.span };
        }
        let count = declarator.and_then(|d| field(d, "length")).map(|n| self.expr(n));
        let arguments = field(node, "arguments");
        let zeroed = arguments.is_some_and(|list| kids(list).is_empty());
        let args = match arguments {
            Some(list) if list.kind() == "argument_list" => self.exprs(kids(list)),
            Some(list) if !kids(list).is_empty() => {
                return ExprKind::Unsupported { what: "`new` with values in braces".to_owned() };
            }
            _ => vec![],
        };
        // Memory is never short: `new (std::nothrow) T` is `new T`.
        let place = field(node, "placement").filter(|n| {
            let words = self.str(*n).trim_matches(|c: char| c == '(' || c == ')' || c == ' ');
            !matches!(words, "std::nothrow" | "nothrow")
        });
        let mut places = place.map_or(vec![], |list| self.exprs(kids(list)));
        if places.len() > 1 {
            return ExprKind::Unsupported { what: "this `new`".to_owned() };
        }
        let place = places.pop();
        ExprKind::New(Box::new(NewObject { ty, place, count, args, zeroed }))
    }

    /// The extents of `new T[n][a][b]` behind the first.
    fn inner_extents(&mut self, declarator: Option<Node<'t>>) -> Vec<Expr> {
        let nested = |d: Node<'t>| kids(d).into_iter().find(|k| k.kind() == "new_declarator");
        let declarators = std::iter::successors(declarator.and_then(nested), |d| nested(*d));
        let lengths: Vec<Node<'t>> = declarators.filter_map(|d| field(d, "length")).collect();
        self.exprs(lengths)
    }

    fn fold(&mut self, node: Node<'t>) -> ExprKind {
        let (left, right) = (field(node, "left"), field(node, "right"));
        let is_dots = |n: Option<Node<'t>>| n.is_some_and(|n| n.kind() == "...");
        let op = self.operator(node);
        let operand = self.part(node, if is_dots(left) { "right" } else { "left" });
        // Which of two sides is the pack, its name will tell.
        let init = (!is_dots(left) && !is_dots(right)).then(|| self.part(node, "right"));
        ExprKind::Fold { op, operand, init, right: !is_dots(left) }
    }
}

/// What the user calls a construct that the grammar reads and the tool does not.
fn unsupported_name(kind: &str, text: &str) -> String {
    match kind {
        "user_defined_literal" => format!("the user-defined literal `{text}`"),
        "co_await_expression" => "`co_await`".to_owned(),
        "generic_expression" => "`_Generic`".to_owned(),
        "requires_clause" => "`requires`".to_owned(),
        "gnu_asm_expression" => "`asm` as an expression".to_owned(),
        "ERROR" => "text with a syntax error".to_owned(),
        other => format!("this {}", other.replace('_', " ")),
    }
}

/// An operator in front of an operand; `*p.*m`, which the text has as `*p.through(m)`, takes the member of `*p`.
fn prefixed(op: String, mut operand: Expr) -> ExprKind {
    if op == "*"
        && let ExprKind::Call { callee, .. } = &mut *operand.kind
        && let ExprKind::Member { base, arrow: false, member, .. } = &mut *callee.kind
        && member.name == THROUGH
    {
        let span = base.span;
        let object = std::mem::replace(base, Expr { kind: Box::new(ExprKind::This), span });
        *base = Expr { kind: Box::new(ExprKind::Unary { op, operand: object }), span };
        return *operand.kind;
    }
    ExprKind::Unary { op, operand }
}

/// Whether a function around a statement may end there, or go on somewhere else.
fn leaves(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) | StmtKind::Goto(_) => true,
        StmtKind::Block(b) => b.stmts.iter().any(leaves),
        StmtKind::If { then, otherwise, .. } => {
            leaves(then) || otherwise.as_deref().is_some_and(leaves)
        }
        StmtKind::For { body, .. }
        | StmtKind::RangeFor { body, .. }
        | StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::Switch { body, .. } => leaves(body),
        _ => false,
    }
}
