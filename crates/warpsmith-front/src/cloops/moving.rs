//! Pointers that move: `p++`, `p += stride`, `*p++`.
//!
//! A pointer that stays in one array is that array and a number of elements, which is a variable like any other. Loops
//! that advance it by the same amount in every iteration lose it again, see [`super::induction`].

use warpsmith_ir::{
    BinaryOp, Diagnostic, Expr, ExprKind, Place, PlaceKind, Scalar, Span, StmtKind, Type, VarId,
};

use super::access::Pointer;
use super::cx::{Binding, Cx, Low, Reported};
use super::scan;
use crate::ast;

/// Is every change of the pointer `name` in the statements a step within its own array? `roots` are names that lead into
/// that array.
pub fn only_steps(stmts: &[ast::Stmt], name: &str, roots: &[&str]) -> bool {
    let mut steps = true;
    for stmt in stmts {
        scan::for_each_expr(stmt, &mut |e| steps &= within(e, name, roots));
    }
    steps
}

fn within(e: &ast::Expr, name: &str, roots: &[&str]) -> bool {
    let own = match &*e.kind {
        ast::ExprKind::Assign { op, target, value } if is_name(target, name) => match op.as_str() {
            "+=" | "-=" => true,
            "=" => scan::root_name(value).is_some_and(|r| r == name || roots.contains(&r)),
            _ => false,
        },
        ast::ExprKind::Unary { op, operand } => op != "&" || !is_name(operand, name),
        _ => true,
    };
    let mut all = own;
    scan::for_each_child(e, &mut |c| all &= within(c, name, roots));
    all
}

/// The first value that is assigned to a name.
fn first_value(stmts: &[ast::Stmt], name: &str) -> Option<ast::Expr> {
    fn walk(e: &ast::Expr, name: &str, found: &mut Option<ast::Expr>) {
        if let ast::ExprKind::Assign { op, target, value } = &*e.kind
            && op == "="
            && is_name(target, name)
        {
            found.get_or_insert_with(|| value.clone());
        }
        scan::for_each_child(e, &mut |c| walk(c, name, found));
    }
    let mut found = None;
    stmts.iter().for_each(|s| scan::for_each_expr(s, &mut |e| walk(e, name, &mut found)));
    found
}

/// The part of a pointer's value that is nothing but the name it leads into.
fn root_of<'a>(e: &'a ast::Expr, root: &str) -> Option<&'a ast::Expr> {
    use ast::ExprKind as A;
    match &*e.kind {
        A::Path(path) => (path.as_name() == Some(root)).then_some(e),
        A::Paren(inner) => root_of(inner, root),
        A::Index { base, .. } => root_of(base, root),
        A::Unary { op, operand } if op == "&" => root_of(operand, root),
        A::Binary { left, right, .. } => root_of(left, root).or_else(|| root_of(right, root)),
        _ => None,
    }
}

fn is_name(e: &ast::Expr, name: &str) -> bool {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => is_name(inner, name),
        ast::ExprKind::Path(path) => path.as_name() == Some(name),
        _ => false,
    }
}

impl<'u> Cx<'u> {
    /// Parameters of the function that its body moves get an offset each.
    pub fn moving_params(&mut self, body: &[ast::Stmt], span: Span) {
        let assigned = scan::effects_of(body).assigned;
        for id in self.function.params.clone() {
            let name = self.function.var(id).name.clone();
            let Type::Pointer { pointee, readonly, .. } = self.var_type(id).clone() else {
                continue;
            };
            if !assigned.contains(&name) || !only_steps(body, &name, &[]) {
                continue;
            }
            let pointer = Pointer {
                base: Expr::var(id, self.var_type(id).clone()),
                element: (*pointee).clone(),
                dims: self.dims.get(&id).cloned().unwrap_or_default(),
                index: vec![],
                offset: None,
                readonly,
            };
            self.declare_moving(&name, pointer, span);
        }
    }

    /// Declares `name` as a pointer that starts there and moves.
    pub fn declare_moving(&mut self, name: &str, pointer: Pointer, span: Span) {
        let start = flat_offset(&pointer).unwrap_or_else(|| Expr::int(Scalar::I64, 0));
        let wished = format!("{name}_offset");
        let offset = self.temp(&wished, Type::I64, Some(start.cast(Type::I64)), span);
        if let ExprKind::Read(place) = &*offset.kind {
            self.moving.extend(place.root_var());
        }
        let (dims, index) = (vec![], vec![]);
        let pointer = Pointer { dims, index, offset: Some(offset), ..pointer };
        self.bind(name, Binding::Alias(pointer));
    }

    /// Declares `name`, which has no value yet, as a pointer that moves: where all that it is ever set to leads into one
    /// array. False where that is not so.
    pub fn declare_later(&mut self, name: &str, span: Span) -> Low<bool> {
        let Some(value) = first_value(self.following, name) else { return Ok(false) };
        let Some(root) = scan::root_name(&value).filter(|r| *r != name) else { return Ok(false) };
        let Some(array) = root_of(&value, root) else { return Ok(false) };
        if !only_steps(self.following, name, &[root]) || !self.is_pointer(array) {
            return Ok(false);
        }
        let Some(pointer) = self.decayed(array)? else { return Ok(false) };
        let offset = self.temp(&format!("{name}_offset"), Type::I64, None, span);
        if let ExprKind::Read(place) = &*offset.kind {
            self.moving.extend(place.root_var());
        }
        let pointer = Pointer { dims: vec![], index: vec![], offset: Some(offset), ..pointer };
        self.bind(name, Binding::Alias(pointer));
        Ok(true)
    }

    /// Elements from the start of the array that `of` points into to where another pointer into it points.
    pub fn offset_within(&mut self, e: &ast::Expr, of: &Pointer) -> Low<Expr> {
        self.new_offset(of, e)
    }

    /// The offsets of two pointers into one array, which compare and differ as they do.
    pub fn offsets_of(&mut self, a: &ast::Expr, b: &ast::Expr) -> Low<Option<(Expr, Expr)>> {
        let (Some(x), Some(y)) = (self.decayed(a)?, self.decayed(b)?) else { return Ok(None) };
        if x.base.kind != y.base.kind || x.element != y.element {
            return Ok(None);
        }
        let of = |p: &Pointer| {
            flat_offset(p).unwrap_or_else(|| Expr::int(Scalar::I64, 0)).cast(Type::I64)
        };
        // Pointers to rows differ by rows.
        let flat = x.dims.len() == x.index.len() && y.dims.len() == y.index.len();
        Ok(flat.then(|| (of(&x), of(&y))))
    }

    /// The offset of a pointer that moves, and where it points.
    pub fn moving_pointer(&mut self, e: &ast::Expr) -> Option<(VarId, Pointer)> {
        match &*e.kind {
            ast::ExprKind::Paren(inner) => self.moving_pointer(inner),
            ast::ExprKind::Path(path) => {
                let Ok(Some(Binding::Alias(p))) = self.lookup_quietly(path.as_name()?) else {
                    return None;
                };
                let var = self.moving_offset(p.offset.as_ref()?)?;
                Some((var, p))
            }
            _ => None,
        }
    }

    /// The variable that an offset is, where a pointer moves by it.
    pub fn moving_offset(&self, offset: &Expr) -> Option<VarId> {
        let ExprKind::Read(place) = &*offset.kind else { return None };
        place.root_var().filter(|v| self.moving.contains(v))
    }

    /// The pointer `name`, where it is the counter `var` of a loop.
    pub fn pointer_counting(&mut self, name: &str, var: VarId) -> Option<Pointer> {
        match self.lookup_quietly(name) {
            Ok(Some(Binding::Alias(p))) if self.moving_offset(p.offset.as_ref()?) == Some(var) => {
                Some(p)
            }
            _ => None,
        }
    }

    /// `p++`, `p += n`, `p = p + n`: gives the place of the offset; `None` for anything but a moving pointer.
    pub fn move_pointer(
        &mut self,
        op: &str,
        target: &ast::Expr,
        value: Option<&ast::Expr>,
        span: Span,
    ) -> Low<Option<Place>> {
        let Some((var, pointer)) = self.moving_pointer(target) else { return Ok(None) };
        let place = Place::new(PlaceKind::Var(var), Type::I64, span);
        self.check_replicated(&place, span)?;
        let old = Expr::var(var, Type::I64).with_origin(span);
        let amount = |cx: &mut Self| match value {
            None => Ok(Expr::int(Scalar::I64, 1)),
            Some(e) => cx.index_value(e).map(|v| v.cast(Type::I64)),
        };
        let new = match op {
            "++" | "+=" => Expr::binary(BinaryOp::Add, old, amount(self)?),
            "--" | "-=" => Expr::binary(BinaryOp::Sub, old, amount(self)?),
            "=" => {
                let Some(value) = value else { return Err(self.unknown_base(span)) };
                self.new_offset(&pointer, value)?
            }
            _ => return Err(self.unsupported("this operator", span)),
        };
        self.push(StmtKind::Assign { place: place.clone(), value: new.with_origin(span) }, span);
        Ok(Some(place))
    }

    fn new_offset(&mut self, pointer: &Pointer, value: &ast::Expr) -> Low<Expr> {
        let Some(to) = self.decayed(value)? else { return Err(self.unknown_base(value.span)) };
        if to.base.kind != pointer.base.kind {
            return Err(self.elsewhere(value.span));
        }
        Ok(flat_offset(&to).unwrap_or_else(|| Expr::int(Scalar::I64, 0)).cast(Type::I64))
    }

    fn elsewhere(&mut self, span: Span) -> Reported {
        let d = Diagnostic::error("W143", "the pointer would leave its array")
            .label(span, "another array");
        self.fail(d.help("keep a pointer for each array"))
    }

    /// `p++` and the like as a value: the pointer before or after the step, which is a statement.
    pub fn stepped(
        &mut self,
        op: &str,
        prefix: bool,
        operand: &ast::Expr,
        span: Span,
    ) -> Low<Option<Pointer>> {
        if self.move_pointer(op, operand, None, span)?.is_none() {
            return Ok(None);
        }
        let Some((_, mut p)) = self.moving_pointer(operand) else { return Ok(None) };
        if !prefix {
            let back = if op == "++" { BinaryOp::Sub } else { BinaryOp::Add };
            p.offset = p.offset.map(|o| Expr::binary(back, o, Expr::int(Scalar::I64, 1)));
        }
        Ok(Some(p))
    }
}

/// Elements between the start of the array and where the pointer points; `None`: none.
fn flat_offset(p: &Pointer) -> Option<Expr> {
    let mut index = p.index.clone();
    index.extend(p.offset.clone());
    let mut sum: Option<Expr> = None;
    for k in 0..=p.dims.len() {
        let scaled = match (sum, k.checked_sub(1).and_then(|k| p.dims.get(k))) {
            (Some(s), Some(d)) => {
                Some(Expr::binary(BinaryOp::Mul, s.cast(Type::I64), d.clone().cast(Type::I64)))
            }
            (s, _) => s,
        };
        sum = match (scaled, index.get(k)) {
            (Some(s), Some(i)) => {
                Some(Expr::binary(BinaryOp::Add, s.cast(Type::I64), i.clone().cast(Type::I64)))
            }
            (None, Some(i)) => Some(i.clone()),
            (s, None) => s,
        };
    }
    sum
}
