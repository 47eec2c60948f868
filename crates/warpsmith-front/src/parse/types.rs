//! Types: the words before a declarator, and the declarator around a name.

use tree_sitter::Node;

use super::context::{Cx, all_kids, field, has_token, kids};
use crate::ast::{Attrs, Expr, FunctionName, InlineType, Param, Path, TypeKind, TypeName};

/// What stands before a declarator.
pub struct Specifiers {
    /// Absent for constructors and the like.
    pub ty: Option<TypeName>,
    pub attrs: Attrs,
}

/// A declarator taken apart.
pub struct Declared {
    pub name: DeclaredName,
    pub ty: TypeName,
    /// Present when the declared thing is a function; `ty` is then what it returns.
    pub function: Option<FunctionParts>,
}

pub enum DeclaredName {
    None,
    Path(Path),
    Special(FunctionName),
    /// `auto [a, b]`.
    Binding(Vec<String>),
}

#[derive(Default)]
pub struct FunctionParts {
    pub params: Vec<Param>,
    pub variadic: bool,
    pub is_const: bool,
}

impl<'t> Cx<'t> {
    pub fn type_name(&self, kind: TypeKind, node: Node<'t>) -> TypeName {
        TypeName { kind, is_const: false, is_volatile: false, span: self.span(node) }
    }

    /// The words before the declarators of a declaration, parameter or type name.
    pub fn specifiers(&mut self, node: Node<'t>) -> Specifiers {
        let mut attrs = Attrs::default();
        let (mut is_const, mut is_volatile) = (false, false);
        let declarator = field(node, "declarator").map_or(node.end_byte(), |d| d.start_byte());
        for child in all_kids(node) {
            if child.start_byte() >= declarator {
                break;
            }
            if !matches!(child.kind(), "type_qualifier" | "storage_class_specifier") {
                continue;
            }
            match self.str(child) {
                "const" => is_const = true,
                "volatile" => {
                    is_volatile = true;
                    attrs.is_volatile = true;
                }
                "static" => attrs.is_static = true,
                "extern" => attrs.is_extern = true,
                "inline" => attrs.is_inline = true,
                "mutable" => attrs.is_mutable = true,
                "constexpr" | "consteval" | "constinit" => attrs.is_constexpr = true,
                _ => {}
            }
        }
        let ty = field(node, "type").map(|n| self.type_specifier(n));
        let ty = ty.map(|mut ty| {
            ty.is_const |= is_const;
            ty.is_volatile |= is_volatile;
            ty
        });
        Specifiers { ty, attrs }
    }

    /// A type without a declarator.
    pub fn type_specifier(&mut self, node: Node<'t>) -> TypeName {
        let kind = self.deeper(node, |cx| cx.type_kind(node)).unwrap_or(TypeKind::Void);
        let mut ty = self.type_name(kind, node);
        if node.kind() == "sized_type_specifier" {
            let text = self.str(node);
            ty.is_const = text.split_whitespace().any(|w| w == "const");
            ty.is_volatile = text.split_whitespace().any(|w| w == "volatile");
        }
        ty
    }

    fn type_kind(&mut self, node: Node<'t>) -> TypeKind {
        let text = self.str(node);
        match node.kind() {
            "primitive_type" => self.primitive(text, node),
            "sized_type_specifier" => {
                let words = text.split_whitespace().filter(|w| !matches!(*w, "const" | "volatile"));
                TypeKind::Builtin(words.map(str::to_owned).collect())
            }
            "placeholder_type_specifier" => {
                match kids(node).into_iter().find(|n| n.kind() == "decltype") {
                    Some(inner) => self.decltype(inner),
                    None => TypeKind::Auto,
                }
            }
            "auto" => TypeKind::Auto,
            "decltype" => self.decltype(node),
            "struct_specifier" | "class_specifier" | "union_specifier" => {
                if field(node, "body").is_none()
                    && let Some(name) = field(node, "name")
                {
                    return TypeKind::Named(self.path(name));
                }
                TypeKind::Inline(Box::new(InlineType::Struct(self.struct_decl(node, None))))
            }
            "enum_specifier" => {
                if field(node, "body").is_none()
                    && let Some(name) = field(node, "name")
                {
                    return TypeKind::Named(self.path(name));
                }
                TypeKind::Inline(Box::new(InlineType::Enum(self.enum_decl(node))))
            }
            "dependent_type" => match kids(node).first() {
                Some(inner) => self.type_specifier(*inner).kind,
                None => TypeKind::Named(self.path(node)),
            },
            _ => TypeKind::Named(self.path(node)),
        }
    }

    /// The grammar calls many library names primitive; only the language's own words are.
    fn primitive(&mut self, text: &str, node: Node<'t>) -> TypeKind {
        match text {
            "void" => TypeKind::Void,
            "auto" => TypeKind::Auto,
            "int" | "char" | "float" | "double" | "bool" | "short" | "long" | "signed"
            | "unsigned" | "wchar_t" | "char16_t" | "char32_t" | "char8_t" => {
                TypeKind::Builtin(vec![text.to_owned()])
            }
            _ => TypeKind::Named(self.path(node)),
        }
    }

    fn decltype(&mut self, node: Node<'t>) -> TypeKind {
        match kids(node).first() {
            Some(inner) if inner.kind() != "auto" => {
                TypeKind::Decltype(Box::new(self.expr(*inner)))
            }
            _ => TypeKind::DecltypeAuto,
        }
    }

    /// A complete type without a name, as in a cast.
    pub fn type_descriptor(&mut self, node: Node<'t>) -> TypeName {
        if node.kind() != "type_descriptor" {
            return self.type_specifier(node);
        }
        let base = self.specifiers(node).ty.unwrap_or_else(|| self.type_name(TypeKind::Auto, node));
        let span = self.span(node);
        let mut ty = match field(node, "declarator") {
            Some(declarator) => self.abstract_type(base, declarator),
            None => base,
        };
        ty.span = span;
        ty
    }

    /// The type that an abstract declarator makes of `base`.
    fn abstract_type(&mut self, base: TypeName, node: Node<'t>) -> TypeName {
        let declared = self.declarator(base, node);
        match declared.function {
            None => declared.ty,
            Some(parts) => {
                let kind = TypeKind::Function { ret: Box::new(declared.ty), params: parts.params };
                self.type_name(kind, node)
            }
        }
    }

    /// Takes a declarator apart from the outside in.
    pub fn declarator(&mut self, base: TypeName, node: Node<'t>) -> Declared {
        let fallback = base.clone();
        self.deeper(node, |cx| cx.declarator_loop(base, node)).unwrap_or(Declared {
            name: DeclaredName::None,
            ty: fallback,
            function: None,
        })
    }

    fn declarator_loop(&mut self, base: TypeName, node: Node<'t>) -> Declared {
        let mut ty = base;
        let mut node = node;
        let mut levels = 0usize;
        loop {
            levels += 1;
            if levels > 64 {
                self.diagnostics.push(
                    warpsmith_ir::Diagnostic::error("W023", "this declarator is nested too deep")
                        .label(self.span(node), "more than 64 levels here"),
                );
                return Declared { name: DeclaredName::None, ty, function: None };
            }
            let inner = inner_declarator(node);
            match node.kind() {
                "pointer_declarator"
                | "abstract_pointer_declarator"
                | "pointer_type_declarator" => {
                    ty = self.pointer(ty, node);
                }
                "reference_declarator" | "abstract_reference_declarator" => {
                    let rvalue = has_token(node, "&&");
                    ty = self.type_name(TypeKind::Reference { to: Box::new(ty), rvalue }, node);
                }
                "array_declarator" | "abstract_array_declarator" => {
                    let extent = field(node, "size").filter(|n| n.is_named());
                    let extent = extent.map(|n| Box::new(self.expr(n)));
                    ty = self.type_name(TypeKind::Array { element: Box::new(ty), extent }, node);
                }
                "function_declarator" | "abstract_function_declarator" => {
                    let (parts, trailing) = self.function_parts(node);
                    let ret = trailing.unwrap_or(ty);
                    if inner.is_none_or(is_name) {
                        let name = inner.map_or(DeclaredName::None, |n| self.declared_name(n));
                        return Declared { name, ty: ret, function: Some(parts) };
                    }
                    ty = self.type_name(
                        TypeKind::Function { ret: Box::new(ret), params: parts.params },
                        node,
                    );
                }
                "parenthesized_declarator"
                | "abstract_parenthesized_declarator"
                | "attributed_declarator"
                | "variadic_declarator" => {}
                "structured_binding_declarator" => {
                    let parts = kids(node).into_iter().map(|n| self.name(n)).collect();
                    return Declared { name: DeclaredName::Binding(parts), ty, function: None };
                }
                "operator_cast" => return self.conversion(node),
                _ => {
                    let name = self.declared_name(node);
                    return Declared { name, ty, function: None };
                }
            }
            match inner {
                Some(next) => node = next,
                None => return Declared { name: DeclaredName::None, ty, function: None },
            }
        }
    }

    fn pointer(&mut self, to: TypeName, node: Node<'t>) -> TypeName {
        let mut restrict = false;
        let (mut is_const, mut is_volatile) = (false, false);
        for child in kids(node).into_iter().filter(|n| n.kind() == "type_qualifier") {
            match self.str(child) {
                "const" => is_const = true,
                "volatile" => is_volatile = true,
                "__restrict__" => restrict = true,
                _ => {}
            }
        }
        let kind = TypeKind::Pointer { to: Box::new(to), restrict };
        TypeName { is_const, is_volatile, ..self.type_name(kind, node) }
    }

    fn declared_name(&mut self, node: Node<'t>) -> DeclaredName {
        match node.kind() {
            "operator_name" => {
                DeclaredName::Special(FunctionName::Operator(self.operator_symbol(node)))
            }
            "destructor_name" => DeclaredName::Special(FunctionName::Destructor),
            "parenthesized_declarator" => match kids(node).first() {
                Some(inner) => {
                    self.deeper(*inner, |cx| cx.declared_name(*inner)).unwrap_or(DeclaredName::None)
                }
                None => DeclaredName::None,
            },
            _ => DeclaredName::Path(self.path(node)),
        }
    }

    /// `operator+`, `operator()`, `operator new`: what follows the word.
    fn operator_symbol(&self, node: Node<'t>) -> String {
        let text = self.str(node);
        let symbol = text.strip_prefix("operator").unwrap_or(text);
        symbol.chars().filter(|c| !c.is_whitespace()).collect()
    }

    /// `operator float() const`.
    fn conversion(&mut self, node: Node<'t>) -> Declared {
        let base = self.specifiers(node).ty.unwrap_or_else(|| self.type_name(TypeKind::Auto, node));
        let declarator = field(node, "declarator");
        let declared = declarator.map(|d| self.declarator(base.clone(), d));
        let (ty, parts) = match declared {
            Some(d) => (d.ty, d.function.unwrap_or_default()),
            None => (base, FunctionParts::default()),
        };
        let name = DeclaredName::Special(FunctionName::Conversion(ty.clone()));
        Declared { name, ty, function: Some(parts) }
    }

    /// Parameters and what follows them, with a trailing return type.
    pub fn function_parts(&mut self, node: Node<'t>) -> (FunctionParts, Option<TypeName>) {
        let mut parts = FunctionParts::default();
        if let Some(list) = field(node, "parameters") {
            (parts.params, parts.variadic) = self.params(list);
        }
        let mut trailing = None;
        for child in kids(node) {
            match child.kind() {
                "type_qualifier" if self.str(child) == "const" => parts.is_const = true,
                "trailing_return_type" => {
                    trailing = kids(child).first().map(|n| self.type_descriptor(*n));
                }
                _ => {}
            }
        }
        (parts, trailing)
    }

    pub fn params(&mut self, list: Node<'t>) -> (Vec<Param>, bool) {
        let variadic = has_token(list, "...");
        let mut params = vec![];
        for child in kids(list) {
            if let Some(param) = self.param(child) {
                params.push(param);
            }
        }
        if let [only] = params.as_slice()
            && only.name.is_none()
            && only.ty.kind == TypeKind::Void
        {
            params.clear();
        }
        (params, variadic)
    }

    pub fn param(&mut self, node: Node<'t>) -> Option<Param> {
        if !matches!(
            node.kind(),
            "parameter_declaration"
                | "optional_parameter_declaration"
                | "variadic_parameter_declaration"
        ) {
            return None;
        }
        let span = self.span(node);
        let base = self.specifiers(node).ty.unwrap_or_else(|| self.type_name(TypeKind::Auto, node));
        let (name, ty) = match field(node, "declarator") {
            Some(declarator) => {
                let declared = self.declarator(base, declarator);
                let name = match declared.name {
                    DeclaredName::Path(path) => path.segments.last().map(|s| s.name.clone()),
                    _ => None,
                };
                let ty = match declared.function {
                    Some(parts) => {
                        let kind =
                            TypeKind::Function { ret: Box::new(declared.ty), params: parts.params };
                        self.type_name(kind, declarator)
                    }
                    None => declared.ty,
                };
                (name.filter(|n| !n.is_empty()), ty)
            }
            None => (None, base),
        };
        let default: Option<Expr> = field(node, "default_value").map(|n| self.expr(n));
        Some(Param { name, ty, default, span })
    }
}

/// The declarator inside a declarator.
pub fn inner_declarator(node: Node<'_>) -> Option<Node<'_>> {
    field(node, "declarator").or_else(|| match node.kind() {
        "parenthesized_declarator"
        | "reference_declarator"
        | "attributed_declarator"
        | "variadic_declarator"
        | "abstract_parenthesized_declarator"
        | "abstract_reference_declarator" => kids(node).into_iter().find(|n| {
            n.kind().ends_with("declarator")
                || n.kind().ends_with("identifier")
                || n.kind().ends_with("_name")
        }),
        _ => None,
    })
}

/// True for what stands for the name itself, possibly in parentheses.
fn is_name(mut node: Node<'_>) -> bool {
    loop {
        match node.kind() {
            "parenthesized_declarator" => match inner_declarator(node) {
                Some(inner) => node = inner,
                None => return false,
            },
            kind => return !kind.ends_with("_declarator"),
        }
    }
}
