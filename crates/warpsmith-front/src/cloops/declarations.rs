//! Variables and what they begin with.

use warpsmith_ir::{
    BinaryOp, Block, Diagnostic, Expr, ExprKind, ForLoop, LoopKind, Place, PlaceKind, Scalar, Span,
    StmtKind, Type, VarKind,
};

use super::cx::{Binding, Cx, Low};
use super::types::CType;
use super::{globals, swaps};
use crate::ast;

/// Initialised local arrays up to this many elements are written as a list.
const LISTED_ELEMENTS: u64 = 64;
/// Local arrays live in each thread's registers or local memory.
const MAX_LOCAL_BYTES: u64 = 256 << 10;

impl<'u> Cx<'u> {
    pub fn vars(&mut self, decl: &'u ast::VarDecl) -> Low<()> {
        let mut result = Ok(());
        for d in &decl.declarators {
            // What is wrong with one variable of a declaration is mostly wrong with the next.
            result = result.and_then(|()| self.variable(decl, d));
            if result.is_err() {
                self.bind(&d.name, Binding::Poison);
            }
        }
        result
    }

    pub(super) fn variable(&mut self, decl: &'u ast::VarDecl, d: &'u ast::Declarator) -> Low<()> {
        let a = &decl.attrs;
        if a.is_extern || (a.is_static && !globals::is_const(&d.ty)) {
            let e = Diagnostic::error("W146", format!("`{}` outlives the call", d.name))
                .label(d.span, "declared here");
            return Err(self.fail(e.help("pass it as a parameter")));
        }
        match self.read_type(&d.ty, false)? {
            CType::Scalar(scalar) => self.scalar_variable(d, scalar),
            CType::Struct(id) => self.struct_variable(d, id),
            CType::Array { element, extents, .. } if a.is_static => {
                let table = globals::table(self, d, &element, &extents)?;
                self.bind(&d.name, Binding::Global(table));
                Ok(())
            }
            CType::Array { element, readonly, extents } => {
                self.array_variable(d, element, readonly, &extents)
            }
            CType::Pointer { .. } => match &d.init {
                Some(ast::Initializer::Expr(init)) => self.declare_alias(&d.name, init, d.span),
                // It is looked at where arrays change places.
                None if swaps::only_keeps(&d.name, self.following) => Ok(()),
                None if self.declare_later(&d.name, d.span)? => Ok(()),
                _ => {
                    let e =
                        Diagnostic::error("W143", format!("the pointer `{}` has no array", d.name))
                            .label(d.span, "nothing to point to");
                    Err(self.fail(
                        e.help("give it a value where it is declared, as in `float *row = A[i];`"),
                    ))
                }
            },
            CType::Void => {
                Err(self.error("W144", "a variable of type `void`", d.span, "this variable"))
            }
        }
    }

    pub(super) fn scalar_variable(&mut self, d: &'u ast::Declarator, scalar: Scalar) -> Low<()> {
        let ty = Type::Scalar(scalar);
        let init = match &d.init {
            None => None,
            Some(ast::Initializer::Expr(e)) => Some(e),
            Some(ast::Initializer::List(items, _)) if items.len() == 1 => match &items[0].value {
                ast::Initializer::Expr(e) => Some(e),
                _ => return Err(self.unsupported("this initialiser", d.span)),
            },
            Some(_) => return Err(self.unsupported("this initialiser", d.span)),
        };
        let value = match init {
            Some(e) if self.is_user_call(e, &ty) => {
                let var = self.declare(&d.name, ty.clone(), d.span);
                self.push(StmtKind::Decl { var, init: None }, d.span);
                self.call_into(&Place::new(PlaceKind::Var(var), ty, d.span), e)?;
                return Ok(());
            }
            Some(e) => {
                let v = self.scalar(e)?;
                Some(self.convert(v, scalar))
            }
            None => None,
        };
        let var = self.declare(&d.name, ty, d.span);
        if d.ty.is_const
            && let Some(v) = &value
        {
            self.function.vars[var.0 as usize].constant = true;
            if let Some(folded) = self.fold(v) {
                self.constants.insert(var, folded);
            }
        }
        self.push(StmtKind::Decl { var, init: value }, d.span);
        Ok(())
    }

    pub fn is_user_call(&self, e: &ast::Expr, ty: &Type) -> bool {
        let ast::ExprKind::Call { callee, .. } = &*e.kind else { return false };
        let ast::ExprKind::Path(path) = &*callee.kind else { return false };
        path.as_name()
            .and_then(|n| self.lowered.get(n))
            .is_some_and(|id| self.module.function(*id).ret == *ty)
    }

    pub(super) fn array_variable(
        &mut self,
        d: &'u ast::Declarator,
        element: Type,
        readonly: bool,
        extents: &[Option<&ast::Expr>],
    ) -> Low<()> {
        let items = match &d.init {
            None => None,
            Some(ast::Initializer::List(items, _)) => Some(items.as_slice()),
            Some(_) => return Err(self.unsupported("this initialiser", d.span)),
        };
        let mut lengths = vec![];
        for extent in extents {
            lengths.push(match (extent, items) {
                (Some(e), _) => self.array_length(e)?,
                (None, Some(items)) if lengths.is_empty() && !items.is_empty() => {
                    items.len() as u64
                }
                _ => {
                    return Err(self.error(
                        "W149",
                        "the array has no extent",
                        d.span,
                        "declared here",
                    ));
                }
            });
        }
        let size = warpsmith_ir::layout::layout_of(self.module, &element).size;
        let bytes = lengths.iter().try_fold(size, |a, b| a.checked_mul(*b));
        if bytes.is_none_or(|b| b > MAX_LOCAL_BYTES) {
            let e = Diagnostic::error("W149", format!("the local array `{}` is too large", d.name))
                .label(d.span, "every iteration would need its own copy");
            return Err(self.fail(e.help("pass it as a parameter")));
        }
        let ty = lengths.iter().rev().fold(element, |t, n| Type::array(t, *n));
        let value = items.map(|items| self.list_value(items, &ty, d.span)).transpose()?;
        let var = self.declare(&d.name, ty.clone(), d.span);
        self.function.vars[var.0 as usize].constant = readonly;
        let listed = lengths.iter().product::<u64>() <= LISTED_ELEMENTS;
        match value {
            Some(init) if listed => self.push(StmtKind::Decl { var, init: Some(init) }, d.span),
            value => {
                self.push(StmtKind::Decl { var, init: None }, d.span);
                let place = Place::new(PlaceKind::Var(var), ty, d.span);
                let mut elements = vec![];
                value.into_iter().for_each(|v| flatten(v, &mut elements));
                if let Some(value) = all_alike(&elements).cloned() {
                    self.fill(place, value, d.span);
                    return Ok(());
                }
                for (i, value) in elements.into_iter().enumerate() {
                    let place = element_at(place.clone(), i as u64, d.span);
                    self.push(StmtKind::Assign { place, value }, d.span);
                }
            }
        }
        Ok(())
    }

    /// Gives every element of nested arrays one value.
    pub(super) fn fill(&mut self, place: Place, value: Expr, span: Span) {
        let Type::Array(inner, n) = place.ty.clone() else {
            self.push(StmtKind::Assign { place, value }, span);
            return;
        };
        let var = self.function.add_var(warpsmith_ir::Var::new("k", Type::I32, VarKind::Local));
        let index = Expr::var(var, Type::I32).with_origin(span);
        let element = Place::new(PlaceKind::Index(place, index), (*inner).clone(), span);
        let ((), body) = self.collect(|cx| cx.fill(element, value, span));
        let fill = ForLoop {
            id: self.fresh_loop(),
            var,
            declares: true,
            first: Expr::i32(0).with_origin(span),
            compare: BinaryOp::Lt,
            limit: Expr::int(Scalar::I32, i64::try_from(n).unwrap_or(i64::MAX)),
            step: Expr::i32(1),
            kind: LoopKind::Serial,
            body: Block::new(body),
        };
        self.push(StmtKind::For(fill), span);
    }
}

/// The elements of a value of nested arrays, in order.
fn flatten(value: Expr, into: &mut Vec<Expr>) {
    match (*value.kind, &value.ty) {
        (ExprKind::Make(parts), Type::Array(..)) => {
            parts.into_iter().for_each(|p| flatten(p, into));
        }
        (kind, _) => into.push(Expr::new(kind, value.ty, value.origin)),
    }
}

/// The constant that all of the values are.
fn all_alike(values: &[Expr]) -> Option<&Expr> {
    let first = values.first().filter(|v| v.as_const().is_some())?;
    values.iter().all(|v| v.as_const() == first.as_const()).then_some(first)
}

/// The element of nested arrays at a row-major position.
fn element_at(place: Place, at: u64, span: Span) -> Place {
    let Type::Array(inner, _) = place.ty.clone() else { return place };
    let row: u64 = inner.extents().iter().product();
    let index = Expr::int(Scalar::I32, (at / row) as i64);
    element_at(Place::new(PlaceKind::Index(place, index), (*inner).clone(), span), at % row, span)
}
