//! Arrays, pointers and the places they lead to.

use warpsmith_ir::{
    BinaryOp, Diagnostic, Expr, ExprKind, Place, PlaceKind, Scalar, Span, Type, UnaryOp,
};

use super::cx::{Binding, Cx, Low};
use super::types::{self, CType};
use super::{moving, scan};
use crate::ast;

/// A pointer whose base is known: the start of an array plus indices.
///
/// `base` points to the first element of a row-major array of `dims.len() + 1` dimensions. `index` holds the
/// leading indices, `offset` is added to the next one. `A[i]` of `float A[n][m]` has the index `i`; `A + i` the
/// offset `i`; `&A[i][j]` the index `i` and the offset `j`.
#[derive(Clone, Debug)]
pub struct Pointer {
    pub base: Expr,
    pub element: Type,
    pub dims: Vec<Expr>,
    pub index: Vec<Expr>,
    pub offset: Option<Expr>,
    pub readonly: bool,
}

/// What an expression with an address designates.
#[derive(Clone, Debug)]
pub enum Designated {
    /// A scalar, or an array object of the function or the file.
    Place(Place),
    Pointer(Pointer),
}

impl Pointer {
    /// Is the next index the last one, so that it selects an element?
    fn is_flat(&self) -> bool {
        self.index.len() == self.dims.len()
    }

    fn is_untouched(&self) -> bool {
        self.index.is_empty() && self.offset.is_none()
    }

    /// `pointer[index]`.
    fn at(mut self, index: Expr, span: Span) -> Designated {
        let index = match self.offset.take() {
            Some(offset) => add_wide(offset, index),
            None => index,
        };
        let flat = self.is_flat();
        self.index.push(index);
        if !flat {
            return Designated::Pointer(self);
        }
        let kind = PlaceKind::Elem { pointer: self.base, index: self.index, dims: self.dims };
        Designated::Place(Place::new(kind, self.element, span))
    }

    /// `pointer + amount`.
    fn advance(mut self, amount: Expr) -> Pointer {
        self.offset = Some(match self.offset.take() {
            Some(offset) => add_wide(offset, amount),
            None => amount,
        });
        self
    }

    /// The pointer as a value, for an argument.
    pub fn into_expr(mut self, span: Span) -> Expr {
        if self.is_untouched() {
            return self.base;
        }
        let ty = self.base.ty.clone();
        let next = self.offset.take().unwrap_or_else(|| Expr::i32(0));
        self.index.push(next);
        while self.index.len() <= self.dims.len() {
            self.index.push(Expr::i32(0));
        }
        let kind = PlaceKind::Elem { pointer: self.base, index: self.index, dims: self.dims };
        let place = Place::new(kind, self.element, span);
        Expr::new(ExprKind::AddressOf(place), ty, span)
    }
}

/// The function of the C library that allocates what the expression points to.
fn allocator(e: &ast::Expr) -> Option<&str> {
    match &*e.kind {
        ast::ExprKind::Paren(inner) | ast::ExprKind::Cast { operand: inner, .. } => {
            allocator(inner)
        }
        ast::ExprKind::Call { callee, .. } => match &*callee.kind {
            ast::ExprKind::Path(path) => path.as_name().filter(|n| {
                matches!(*n, "malloc" | "calloc" | "realloc" | "aligned_alloc" | "alloca")
            }),
            _ => None,
        },
        _ => None,
    }
}

/// The sum of two offsets. Pointer arithmetic is done in 64 bits, so two 32-bit offsets are widened first.
fn add_wide(a: Expr, b: Expr) -> Expr {
    let is_zero = |e: &Expr| e.as_const().is_some_and(|v| v.as_i64() == 0);
    if is_zero(&a) {
        return b;
    }
    if is_zero(&b) {
        return a;
    }
    Expr::binary(BinaryOp::Add, a.cast(Type::I64), b.cast(Type::I64))
}

impl<'u> Cx<'u> {
    /// What `e` designates, if it is a variable, an element, or a pointer expression; `Ok(None)` for other values.
    pub fn designated(&mut self, e: &ast::Expr) -> Low<Option<Designated>> {
        match &*e.kind {
            ast::ExprKind::Paren(inner) => self.designated(inner),
            ast::ExprKind::Path(path) => match path.as_name() {
                Some(name) => self.named_place(name, e.span),
                None => Err(self.error("W146", "qualified names are not C", e.span, "this name")),
            },
            ast::ExprKind::Member { base, arrow, member, .. } => {
                self.member_place(base, *arrow, &member.name, e.span)
            }
            ast::ExprKind::Index { base, index } => self.element(base, index, e.span).map(Some),
            ast::ExprKind::Unary { op, operand } if op == "*" => {
                self.dereference(operand, e.span).map(Some)
            }
            ast::ExprKind::Unary { op, operand } if op == "&" => {
                self.address_of(operand, e.span).map(|p| Some(Designated::Pointer(p)))
            }
            ast::ExprKind::Binary { op, left, right } if op == "+" || op == "-" => {
                Ok(self.pointer_sum(op, left, right)?.map(Designated::Pointer))
            }
            ast::ExprKind::IncDec { op, prefix, operand } => {
                Ok(self.stepped(op, *prefix, operand, e.span)?.map(Designated::Pointer))
            }
            ast::ExprKind::Cast { ty, operand, .. } => {
                Ok(self.pointer_cast(ty, operand, e.span)?.map(Designated::Pointer))
            }
            _ => Ok(None),
        }
    }

    fn named_place(&mut self, name: &str, span: Span) -> Low<Option<Designated>> {
        if !self.knows(name) && crate::header_constants::constant(name).is_some() {
            return Ok(None);
        }
        Ok(Some(match self.lookup(name, span)? {
            Binding::Const(_) => return Ok(None),
            Binding::Poison => return Err(super::cx::Reported),
            Binding::Alias(pointer) => Designated::Pointer(pointer),
            Binding::Global(id) => {
                let ty = self.module.globals[id.0 as usize].ty.clone();
                Designated::Place(Place::new(PlaceKind::Global(id), ty, span))
            }
            Binding::Var(id) => {
                let ty = self.var_type(id).clone();
                let place = Place::new(PlaceKind::Var(id), ty.clone(), span);
                match &ty {
                    Type::Pointer { pointee, readonly, .. } => Designated::Pointer(Pointer {
                        element: (**pointee).clone(),
                        readonly: *readonly,
                        base: Expr::read(place),
                        dims: self.dims.get(&id).cloned().unwrap_or_default(),
                        index: vec![],
                        offset: None,
                    }),
                    _ => Designated::Place(place),
                }
            }
        }))
    }

    /// Is the name declared in the source?
    pub fn knows(&self, name: &str) -> bool {
        self.scopes.iter().any(|s| s.contains_key(name))
            || self.unit.globals.contains_key(name)
            || self.unit.enumerators.contains_key(name)
    }

    fn element(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Low<Designated> {
        let array = self.designated(base)?;
        let at = self.index_value(index)?;
        match array {
            Some(Designated::Pointer(p)) => Ok(p.at(at, span)),
            Some(Designated::Place(place)) => self.array_element(place, at, base.span, span),
            None => Err(self.not_an_array(base.span)),
        }
    }

    fn array_element(&mut self, place: Place, at: Expr, base: Span, span: Span) -> Low<Designated> {
        match place.ty.clone() {
            Type::Array(element, _) => Ok(Designated::Place(Place::new(
                PlaceKind::Index(place, at),
                (*element).clone(),
                span,
            ))),
            _ => Err(self.not_an_array(base)),
        }
    }

    fn not_an_array(&mut self, span: Span) -> super::cx::Reported {
        let d = Diagnostic::error("W148", "this is not an array, so it has no elements")
            .label(span, "a scalar");
        self.fail(d.help("declare all extents of the array, as in `float A[n][m]`"))
    }

    /// An index, an integer of any type.
    pub fn index_value(&mut self, e: &ast::Expr) -> Low<Expr> {
        let value = self.scalar(e)?;
        match value.ty.scalar() {
            Some(Scalar::Bool) => Ok(self.convert(value, Scalar::I32)),
            Some(s) if s.is_integer() => Ok(value),
            _ => {
                let d = Diagnostic::error("W148", "an index must be an integer")
                    .label(e.span, "not an integer");
                Err(self.fail(d.help("convert it: `(int)x`")))
            }
        }
    }

    pub fn dereference(&mut self, operand: &ast::Expr, span: Span) -> Low<Designated> {
        if let ast::ExprKind::IncDec { operand: moved, .. } = &*operand.kind {
            // A pointer whose declaration was refused has its message already.
            self.designated(moved)?;
        }
        match self.designated(operand)? {
            Some(Designated::Pointer(p)) if p.is_untouched() && p.dims.is_empty() => {
                Ok(Designated::Place(Place::new(PlaceKind::Deref(p.base), p.element, span)))
            }
            Some(Designated::Pointer(p)) => Ok(p.at(Expr::i32(0), span)),
            Some(Designated::Place(place)) if matches!(place.ty, Type::Array(..)) => {
                self.array_element(place, Expr::i32(0), operand.span, span)
            }
            _ => Err(self.unknown_base(operand.span)),
        }
    }

    /// The message for a pointer that cannot be traced to an array.
    pub fn unknown_base(&mut self, span: Span) -> super::cx::Reported {
        let d = Diagnostic::error("W143", "it is not known which array this pointer points into")
            .label(span, "pointer arithmetic with an unknown base");
        self.fail(d.help("index the array itself: `A[i*m + j]`, or `float A[n][m]` and `A[i][j]`"))
    }

    fn address_of(&mut self, operand: &ast::Expr, span: Span) -> Low<Pointer> {
        match self.designated(operand)? {
            // `&A[i]` where `A[i]` is a row: one step back, as an offset.
            Some(Designated::Pointer(mut p)) if p.offset.is_none() => match p.index.pop() {
                Some(last) => {
                    p.offset = Some(last);
                    Ok(p)
                }
                None => Err(self.unknown_base(span)),
            },
            Some(Designated::Place(place)) => self.address_of_place(place, span),
            _ => Err(self.unknown_base(span)),
        }
    }

    fn address_of_place(&mut self, place: Place, span: Span) -> Low<Pointer> {
        if matches!(place.ty, Type::Array(..)) {
            return Err(self.unknown_base(span));
        }
        let element = place.ty.clone();
        if let PlaceKind::Elem { pointer, index, dims } = &*place.kind {
            let mut index = index.clone();
            let readonly = matches!(pointer.ty, Type::Pointer { readonly: true, .. });
            let offset = index.pop();
            return Ok(Pointer {
                base: pointer.clone(),
                element,
                dims: dims.clone(),
                index,
                offset,
                readonly,
            });
        }
        if let PlaceKind::Deref(pointer) = &*place.kind {
            let readonly = matches!(pointer.ty, Type::Pointer { readonly: true, .. });
            return Ok(Pointer {
                base: pointer.clone(),
                element,
                dims: vec![],
                index: vec![],
                offset: None,
                readonly,
            });
        }
        let (base, readonly) = self.address(place, span);
        Ok(Pointer { base, element, dims: vec![], index: vec![], offset: None, readonly })
    }

    /// `pointer ± integer`; `None` when neither side is a pointer.
    fn pointer_sum(
        &mut self,
        op: &str,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Low<Option<Pointer>> {
        let (pointer, amount, span) = if self.is_pointer(left) {
            (left, right, right.span)
        } else if op == "+" && self.is_pointer(right) {
            (right, left, left.span)
        } else {
            return Ok(None);
        };
        if self.is_pointer(amount) {
            let d = Diagnostic::error("W143", "differences of pointers are not supported")
                .label(span, "this pointer");
            return Err(self.fail(d.help("use the indices that the pointers were made from")));
        }
        let Some(p) = self.decayed(pointer)? else { return Err(self.unknown_base(pointer.span)) };
        let mut amount = self.index_value(amount)?;
        if op == "-" {
            let wide = amount.cast(Type::I64);
            amount = Expr::new(ExprKind::Unary(UnaryOp::Neg, wide), Type::I64, span);
        }
        Ok(Some(p.advance(amount)))
    }

    /// A pointer value: an array object decays to a pointer to its first element.
    pub fn decayed(&mut self, e: &ast::Expr) -> Low<Option<Pointer>> {
        Ok(match self.designated(e)? {
            Some(Designated::Pointer(p)) => Some(p),
            Some(Designated::Place(place)) => self.decay_place(place, e.span),
            None => None,
        })
    }

    fn decay_place(&mut self, place: Place, span: Span) -> Option<Pointer> {
        let element = match &place.ty {
            Type::Array(..) => place.ty.innermost().clone(),
            _ => return None,
        };
        let extents = place.ty.extents();
        let mut at = place;
        while let Type::Array(inner, _) = at.ty.clone() {
            at = Place::new(PlaceKind::Index(at, Expr::i32(0)), (*inner).clone(), span);
        }
        let (base, readonly) = self.address(at, span);
        let dims = extents[1..].iter().map(|e| Expr::int(Scalar::I64, *e as i64)).collect();
        Some(Pointer { base, element, dims, index: vec![], offset: None, readonly })
    }

    /// The address of a place, into the memory that the place is in, and whether it may not be written there.
    fn address(&self, place: Place, span: Span) -> (Expr, bool) {
        let env = self.env();
        let kind = ExprKind::AddressOf(place);
        let ty = env.expr(&kind).unwrap_or(Type::Void);
        let readonly = matches!(ty, Type::Pointer { readonly: true, .. });
        (Expr::new(kind, ty, span), readonly)
    }

    /// Is this expression a pointer or an array? Decided by names, without lowering anything.
    pub fn is_pointer(&mut self, e: &ast::Expr) -> bool {
        self.pointer_levels(e).is_some_and(|n| n > 0)
    }

    /// How many times the expression can be indexed.
    fn pointer_levels(&mut self, e: &ast::Expr) -> Option<usize> {
        match &*e.kind {
            ast::ExprKind::Paren(inner) => self.pointer_levels(inner),
            ast::ExprKind::Path(path) => self.name_levels(path.as_name()?),
            ast::ExprKind::Index { base, .. } => self.pointer_levels(base)?.checked_sub(1),
            ast::ExprKind::Unary { op, operand } if op == "*" => {
                self.pointer_levels(operand)?.checked_sub(1)
            }
            ast::ExprKind::Unary { op, operand } if op == "&" => {
                Some(self.pointer_levels(operand)? + 1)
            }
            ast::ExprKind::Binary { op, left, right } if op == "+" || op == "-" => {
                let (l, r) = (
                    self.pointer_levels(left).unwrap_or(0),
                    self.pointer_levels(right).unwrap_or(0),
                );
                // The difference of two is a number.
                Some(if op == "-" && r > 0 { 0 } else { l.max(r) })
            }
            ast::ExprKind::Cast { ty, .. } => match types::read(self.unit, ty, true) {
                Ok(CType::Pointer { extents, .. }) => Some(extents.len()),
                _ => Some(0),
            },
            ast::ExprKind::IncDec { operand, .. } => self.pointer_levels(operand),
            ast::ExprKind::Member { .. } => self.member_levels(e),
            _ => Some(0),
        }
    }

    fn name_levels(&mut self, name: &str) -> Option<usize> {
        if !self.knows(name) {
            return Some(0);
        }
        Some(match self.lookup_quietly(name).ok()?? {
            Binding::Var(id) => match self.var_type(id) {
                Type::Pointer { .. } => 1 + self.dims.get(&id).map_or(0, Vec::len),
                ty => ty.extents().len(),
            },
            Binding::Alias(p) => 1 + p.dims.len() - p.index.len(),
            Binding::Global(id) => self.module.globals[id.0 as usize].ty.extents().len(),
            Binding::Const(_) | Binding::Poison => 0,
        })
    }

    /// `(float (*)[m])A`: the same memory seen with other extents.
    fn pointer_cast(
        &mut self,
        ty: &ast::TypeName,
        operand: &ast::Expr,
        span: Span,
    ) -> Low<Option<Pointer>> {
        if !self.is_pointer(operand) {
            return Ok(None);
        }
        let target = self.read_type(ty, true)?;
        let CType::Pointer { element, extents, readonly, .. } = target else {
            let d = Diagnostic::error("W143", "a pointer cannot be converted to a number here")
                .label(span, "this cast");
            return Err(self.fail(d));
        };
        let Some(p) = self.decayed(operand)? else { return Err(self.unknown_base(span)) };
        if p.element != element {
            let message = format!(
                "elements of type `{}` seen as `{}`",
                self.c_name(&p.element),
                self.c_name(&element)
            );
            let d = Diagnostic::error("W143", message).label(span, "this cast");
            return Err(self.fail(d.help("declare the array with the type of its elements")));
        }
        let mut dims = vec![];
        for extent in extents.iter().skip(1) {
            match extent {
                Some(e) => dims.push(self.index_value(e)?),
                None => return Err(self.unknown_base(span)),
            }
        }
        if dims.len() == p.dims.len() && p.index.is_empty() {
            return Ok(Some(Pointer { readonly, dims, ..p }));
        }
        if !p.is_untouched() {
            let d = Diagnostic::error("W143", "only a whole array can be seen with other extents")
                .label(span, "this cast");
            return Err(
                self.fail(d.help("declare the extents with the parameter, as in `float A[n][m]`"))
            );
        }
        Ok(Some(Pointer { readonly, dims, ..p }))
    }

    /// Declares `name` as another name of `pointer`, which no later statement of the block may change.
    ///
    /// Values the offset depends on are held in a variable when something assigns them afterwards.
    pub fn declare_alias(&mut self, name: &str, init: &ast::Expr, span: Span) -> Low<()> {
        if let Some(allocator) = allocator(init) {
            let message = format!("`{name}` is allocated here, with `{allocator}`");
            let d = Diagnostic::error("W143", message)
                .label(init.span, "the launcher does not allocate memory");
            return Err(self.fail(d.help(format!(
                "make `{name}` a parameter of the function, with its extents, as in `float {name}[n]`"
            ))));
        }
        let Some(mut pointer) = self.decayed(init)? else {
            return Err(self.unknown_base(init.span));
        };
        let after = scan::effects_of(self.following);
        if after.assigned.contains(name)
            && let Some(array) = self.renamed(name, init)
        {
            self.bind(name, Binding::Var(array));
            return Ok(());
        }
        if let Some(root) = scan::root_name(init).filter(|r| after.assigned.contains(*r)) {
            let d = Diagnostic::error(
                "W143",
                format!("`{root}` changes while `{name}` points into it"),
            )
            .label(span, "declared here");
            return Err(self.fail(d.help(format!("use `{root}` itself"))));
        }
        if after.assigned.contains(name) {
            let roots: Vec<&str> = scan::root_name(init).into_iter().collect();
            if moving::only_steps(self.following, name, &roots) {
                self.declare_moving(name, pointer, span);
                return Ok(());
            }
            let d = Diagnostic::error(
                "W143",
                format!("the pointer `{name}` changes after its declaration"),
            )
            .label(span, "a pointer with a moving base");
            return Err(
                self.fail(d.help("keep the pointer fixed and index it, or index the array itself"))
            );
        }
        if after.disturb(&scan::reads_of(init)) {
            for index in pointer
                .index
                .iter_mut()
                .chain(pointer.offset.as_mut())
                .chain(pointer.dims.iter_mut())
            {
                if self.fold(index).is_none() {
                    let held = format!("{name}_offset");
                    *index = self.temp(&held, index.ty.clone(), Some(index.clone()), span);
                }
            }
        }
        self.bind(name, Binding::Alias(pointer));
        Ok(())
    }
}
