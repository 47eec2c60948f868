//! Declarations that the grammar takes for expressions: `ns::tile<32> t = e;` reads as `ns::tile < 32 > (t = e)`.

use warpsmith_ir::{Expr, Place, PlaceKind, Span, StmtKind, Type, Var, VarKind};

use super::Sema;
use super::model::*;
use super::types::Found;
use crate::ast;

impl<'a> Sema<'a> {
    /// Lowers an expression statement as the declaration it is, if the path before `<` names a type.
    pub(crate) fn misread_declaration(&mut self, e: &'a ast::Expr) -> Option<Res<()>> {
        if let Some(done) = self.misread_row_pointer(e) {
            return Some(done);
        }
        let ast::ExprKind::Binary { op, left, right } = &*e.kind else { return None };
        let ast::ExprKind::Binary { op: open, left: template, right: arg } = &*left.kind else {
            return None;
        };
        let ast::ExprKind::Assign { op: assign, target, value } = &*right.kind else { return None };
        if op != ">" || open != "<" || assign != "=" {
            return None;
        }
        let ast::ExprKind::Path(path) = &*template.kind else { return None };
        let ast::ExprKind::Path(name) = &*target.kind else { return None };
        let name = name.as_name()?;
        let scope = self.f_scope();
        let ty = match self.resolve_path(scope, path).ok()? {
            Found::Foreign(names, _) => {
                let v = self.const_value(scope, arg).ok()?;
                self.foreign_type(&names, &[TArg::Value(v)])?
            }
            Found::Entities(entities, None)
                if matches!(entities.first(), Some(Entity::Class { .. })) =>
            {
                let v = self.const_value(scope, arg).ok()?;
                Type::Struct(
                    self.class_from_entities(&entities, Some(vec![TArg::Value(v)]), e.span).ok()?,
                )
            }
            Found::Entities(..) => return None,
        };
        Some(self.declare_misread(name, ty, value, e.span))
    }

    /// `float (*row)[4] = m, (*other)[4], *p;` reads as `float(*row)[4] = m`, an element of a conversion of `*row`, and more
    /// such values; so does `float (&row)[4] = m[1];`.
    fn misread_row_pointer(&mut self, e: &'a ast::Expr) -> Option<Res<()>> {
        let mut items = vec![];
        in_list(e, &mut items);
        let (first, value) = declarator(items[0]);
        let (at, extents) = indexed(first);
        if extents.is_empty() {
            return None;
        }
        let scope = self.f_scope();
        let (element, declared) = match &*at.kind {
            ast::ExprKind::Construct { ty, args, braces: false } => match args.as_slice() {
                [ast::Initializer::Expr(arg)] => (self.resolve_type(scope, ty).ok()?.ty, arg),
                _ => return None,
            },
            ast::ExprKind::Call { callee, args } => match (&*callee.kind, args.as_slice()) {
                (ast::ExprKind::Path(path), [arg]) => {
                    let Ok(Operand::Type(q)) = self.path_operand(scope, path) else { return None };
                    (q.ty, arg)
                }
                _ => return None,
            },
            _ => return None,
        };
        let mut all = vec![self.row_pointer(declared, &extents, &element, value)?];
        for item in &items[1..] {
            let (target, value) = declarator(item);
            let (at, extents) = indexed(target);
            let inner = match &*at.kind {
                ast::ExprKind::Paren(inner) => inner,
                _ => at,
            };
            all.push(self.row_pointer(inner, &extents, &element, value)?);
        }
        for Row { name, ty, refers, value } in all {
            let done = match value {
                Some(value) if refers => self.row_reference(name, ty, value),
                Some(value) => self.declare_misread(name, ty, value, e.span),
                None => self.declare_value(name, ty, Ok(None), e.span),
            };
            if done.is_err() {
                return Some(done);
            }
        }
        Some(Ok(()))
    }

    fn row_reference(&mut self, name: &str, row: Type, value: &'a ast::Expr) -> Res<()> {
        let operand = self.expr(value)?;
        let q = QualType { reference: RefKind::Lvalue, ..QualType::plain(row) };
        self.bind_reference(&q, operand, name, value.span)
    }

    /// `*name` as a declarator of a pointer to rows, or to elements where there are no extents, and `&name` of a reference.
    fn row_pointer(
        &mut self,
        declared: &'a ast::Expr,
        extents: &[&'a ast::Expr],
        element: &Type,
        value: Option<&'a ast::Expr>,
    ) -> Option<Row<'a>> {
        let ast::ExprKind::Unary { op, operand } = &*declared.kind else { return None };
        let ast::ExprKind::Path(name) = &*operand.kind else { return None };
        let refers = op == "&" && value.is_some() && !extents.is_empty();
        let name = name.as_name().filter(|_| op == "*" || refers)?;
        let scope = self.f_scope();
        // The innermost extent was met first.
        let mut row = element.clone();
        for extent in extents {
            let length = self.array_length(scope, extent).ok()?;
            row = Type::array(row, length);
        }
        let ty = if refers { row } else { Type::pointer(row, warpsmith_ir::Space::Generic) };
        Some(Row { name, ty, refers, value })
    }

    /// `Point p(a, b[3]);` reads as the declaration of a function unless one knows that `a` is no type.
    ///
    /// A true declaration of a function needs nothing: its definition is found by name.
    pub(crate) fn misread_function(
        &mut self,
        name: &str,
        span: Span,
        ret: &'a ast::TypeName,
        params: &'a [ast::Param],
    ) -> Res<()> {
        let args: Option<Vec<ast::Expr>> = params.iter().map(argument).collect();
        let Some(args) = args.filter(|a| !a.is_empty()) else { return Ok(()) };
        let scope = self.f_scope();
        if params.iter().all(|p| self.resolve_type(scope, &p.ty).is_ok()) {
            return Ok(());
        }
        let ty = self.resolve_type(scope, ret)?.ty;
        let arena = self.arena;
        let operands = args.into_iter().map(|e| self.expr(arena.keep(e))).collect::<Res<Vec<_>>>();
        // Extents of `dim3` that are not given are 1.
        let ones = super::construct::type_is_dim3(ret);
        let value = operands.and_then(|list| self.construct(&ty, list, ones, span));
        self.declare_value(name, ty, value.map(Some), span)
    }

    /// The same outside of functions: the variable, if one of what reads as parameters names a variable.
    pub(crate) fn misread_variable(
        &mut self,
        scope: ScopeId,
        f: &'a ast::FunctionDecl,
    ) -> Option<&'a ast::VarDecl> {
        let ast::FunctionName::Plain(path) = &f.name else { return None };
        let (Some(name), Some(ret)) = (path.as_name(), &f.ret) else { return None };
        if f.body.is_some() || f.template.is_some() || f.variadic || f.params.is_empty() {
            return None;
        }
        let args: Vec<ast::Expr> = f.params.iter().map(argument).collect::<Option<_>>()?;
        let is_variable = |e: &ast::Expr| {
            let ast::ExprKind::Path(path) = &*e.kind else { return false };
            let found = path.as_name().map(|name| self.lookup(scope, name)).unwrap_or_default();
            matches!(found.first(), Some(Entity::Lazy { .. }))
        };
        if !args.iter().any(is_variable) {
            return None;
        }
        let declarator = ast::Declarator {
            name: name.to_string(),
            ty: ret.clone(),
            init: Some(ast::Initializer::Call(args, f.head_span)),
            of: None,
            bits: None,
            specialisation: None,
            parts: vec![],
            span: f.head_span,
        };
        Some(self.arena.keep_variable(ast::VarDecl {
            attrs: f.attrs.clone(),
            template: None,
            declarators: vec![declarator],
            span: f.head_span,
        }))
    }

    fn declare_misread(
        &mut self,
        name: &str,
        ty: Type,
        value: &'a ast::Expr,
        span: Span,
    ) -> Res<()> {
        let init = self.with_own_type((name, &ty, span), std::slice::from_ref(value), |s| {
            s.rvalue(value).and_then(|v| s.convert_to(v, &ty, value.span))
        });
        self.declare_value(name, ty, init.map(Some), span)
    }

    fn declare_value(
        &mut self,
        name: &str,
        ty: Type,
        init: Res<Option<Expr>>,
        span: Span,
    ) -> Res<()> {
        let scope = self.f_scope();
        let init = match init {
            Ok(init) => init,
            Err(failure) => {
                self.declare(scope, name, Entity::Poisoned);
                return Err(failure);
            }
        };
        let mut var = Var::new(name, ty.clone(), VarKind::Local);
        var.origin = span.into();
        let id = self.f().func.add_var(var);
        let owner = self.f().serial;
        self.emit(StmtKind::Decl { var: id, init }, span);
        let place = Place::new(PlaceKind::Var(id), ty, span);
        self.declare(scope, name, Entity::Place { owner, place, is_const: false, shape: None });
        Ok(())
    }
}

/// A declarator that was read as a value.
struct Row<'a> {
    name: &'a str,
    /// Of the pointer, or of what the reference names.
    ty: Type,
    refers: bool,
    value: Option<&'a ast::Expr>,
}

/// The parts of a list with commas.
fn in_list<'a>(e: &'a ast::Expr, all: &mut Vec<&'a ast::Expr>) {
    match &*e.kind {
        ast::ExprKind::Comma(left, right) => {
            in_list(left, all);
            in_list(right, all);
        }
        _ => all.push(e),
    }
}

/// What reads as an assignment is a declarator and its value.
fn declarator(e: &ast::Expr) -> (&ast::Expr, Option<&ast::Expr>) {
    match &*e.kind {
        ast::ExprKind::Assign { op, target, value } if op == "=" => (target, Some(value)),
        _ => (e, None),
    }
}

/// What stands before subscripts, and these, the last one first.
fn indexed(e: &ast::Expr) -> (&ast::Expr, Vec<&ast::Expr>) {
    let (mut at, mut extents) = (e, vec![]);
    while let ast::ExprKind::Index { base, index } = &*at.kind {
        extents.push(index);
        at = base;
    }
    (at, extents)
}

/// The expression that was taken for a parameter.
fn argument(p: &ast::Param) -> Option<ast::Expr> {
    let make = |kind| ast::Expr { kind: Box::new(kind), span: p.span };
    match (&p.name, &p.ty.kind) {
        (None, _) => type_as_expr(&p.ty),
        (Some(name), ast::TypeKind::Pointer { to, .. }) => {
            let segments = vec![ast::PathSegment { name: name.clone(), args: None }];
            let right =
                make(ast::ExprKind::Path(ast::Path { segments, global: false, span: p.span }));
            let left = type_as_expr(to)?;
            Some(make(ast::ExprKind::Binary { op: "*".into(), left, right }))
        }
        _ => None,
    }
}

fn type_as_expr(ty: &ast::TypeName) -> Option<ast::Expr> {
    let kind = match &ty.kind {
        ast::TypeKind::Named(path) if !ty.is_const => ast::ExprKind::Path(path.clone()),
        ast::TypeKind::Array { element, extent: Some(e) } => {
            ast::ExprKind::Index { base: type_as_expr(element)?, index: (**e).clone() }
        }
        _ => return None,
    };
    Some(ast::Expr { kind: Box::new(kind), span: ty.span })
}
