//! What one routine touches: its IR run with coordinates for numbers and nothing for data.
//!
//! Integers are linear in the coordinates as long as that goes, so that one run tells all threads; where a routine divides or
//! asks which thread it is, each thread is run for itself. Reals are not known: of a branch that depends on them both ways
//! are taken, and what either touches counts.

use std::collections::HashMap;

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, ForLoop, FuncId, Module, Place, PlaceKind, Scalar, Stmt,
    StmtKind, Type, UnaryOp, Value, VarId, eval,
};

use super::affine::Affine;

/// Why a run says nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// Something depends on the thread in a way that is not linear: run each thread for itself.
    NotLinear,
    /// What is touched depends on data.
    Unknown(String),
    /// The routine does something that no routine may do.
    Refused(&'static str),
}

/// An access to an argument: offset and length in floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Access {
    pub argument: usize,
    pub at: Affine,
    pub length: i64,
    pub write: bool,
    /// The float of another argument that is written here, unchanged.
    pub copies: Option<(usize, Affine)>,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    pub accesses: Vec<Access>,
    /// Arithmetic on reals.
    pub flops: u64,
    pub functions: u64,
}

/// An argument of the run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given {
    Array,
    Number(Affine),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Val {
    Int(Affine),
    /// Into an argument or a variable, in bytes.
    Pointer(Base, Affine),
    /// What an argument holds: floats from there on.
    Element {
        argument: usize,
        at: Affine,
        length: i64,
    },
    /// Data.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    Argument(usize),
    Object(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

/// A variable: what is known at byte offsets.
type Object = HashMap<i64, Val>;
type Frame = HashMap<VarId, usize>;

/// Runs a device function. `linear` allows coordinates that are not numbers.
pub(super) fn trace(
    module: &Module,
    function: FuncId,
    given: &[Given],
    linear: bool,
) -> Result<Trace, Stop> {
    let mut run =
        Run { module, linear, objects: vec![], trace: Trace::default(), steps: 0, depth: 0 };
    let values = given.iter().enumerate().map(|(i, g)| match g {
        Given::Array => Val::Pointer(Base::Argument(i), Affine::default()),
        Given::Number(n) => Val::Int(*n),
    });
    run.call(function, values.collect())?;
    Ok(run.trace)
}

struct Run<'a> {
    module: &'a Module,
    linear: bool,
    objects: Vec<Object>,
    trace: Trace,
    steps: u64,
    depth: u32,
}

const MAX_STEPS: u64 = 200_000;

fn unknown<T>(what: &str) -> Result<T, Stop> {
    Err(Stop::Unknown(what.into()))
}

impl Run<'_> {
    fn call(&mut self, id: FuncId, args: Vec<Val>) -> Result<Option<Val>, Stop> {
        self.depth += 1;
        if self.depth > 32 {
            return unknown("it calls too deeply");
        }
        let function = self.module.function(id);
        let mut frame = Frame::new();
        for (param, value) in function.params.iter().zip(args) {
            let object = self.object(&mut frame, *param);
            self.objects[object].insert(0, value);
        }
        let mut result = None;
        self.block(&function.body, &mut frame, &mut result)?;
        self.depth -= 1;
        Ok(result)
    }

    fn object(&mut self, frame: &mut Frame, var: VarId) -> usize {
        *frame.entry(var).or_insert_with(|| {
            self.objects.push(Object::new());
            self.objects.len() - 1
        })
    }

    fn block(
        &mut self,
        block: &Block,
        frame: &mut Frame,
        result: &mut Option<Val>,
    ) -> Result<Flow, Stop> {
        for stmt in &block.stmts {
            match self.stmt(stmt, frame, result)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(
        &mut self,
        stmt: &Stmt,
        frame: &mut Frame,
        result: &mut Option<Val>,
    ) -> Result<Flow, Stop> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return unknown("it does too much to be followed");
        }
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                let value = init.as_ref().map(|e| self.expr(e, frame)).transpose()?;
                let object = self.object(frame, *var);
                self.objects[object].clear();
                if let Some(value) = value {
                    self.objects[object].insert(0, value);
                }
                Ok(Flow::Next)
            }
            StmtKind::Assign { place, value } => {
                let value = self.expr(value, frame)?;
                self.store(place, value, frame)?;
                Ok(Flow::Next)
            }
            StmtKind::If { cond, then, otherwise } => {
                self.branch(cond, then, otherwise, frame, result)
            }
            StmtKind::For(f) => self.for_loop(f, frame, result),
            StmtKind::Loop { condition, body, step, .. } => loop {
                let test = |run: &mut Self, frame: &mut Frame, result: &mut Option<Val>| {
                    let Some(c) = condition else { return Ok(true) };
                    run.block(&c.before, frame, result)?;
                    run.known(&c.expr, frame)
                };
                let at_end = condition.as_ref().is_some_and(|c| c.at_end);
                if !at_end && !test(self, frame, result)? {
                    return Ok(Flow::Next);
                }
                match self.block(body, frame, result)? {
                    Flow::Break => return Ok(Flow::Next),
                    Flow::Return => return Ok(Flow::Return),
                    _ => self.block(step, frame, result)?,
                };
                if at_end && !test(self, frame, result)? {
                    return Ok(Flow::Next);
                }
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return unknown("it does too much to be followed");
                }
            },
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Return(value) => {
                *result = value.as_ref().map(|e| self.expr(e, frame)).transpose()?;
                Ok(Flow::Return)
            }
            StmtKind::Scope(inner) => self.block(inner, frame, result),
            StmtKind::Call { function, args, result: place } => {
                let args =
                    args.iter().map(|a| self.expr(a, frame)).collect::<Result<Vec<_>, _>>()?;
                let value = self.call(*function, args)?;
                if let Some(place) = place {
                    self.store(place, value.unwrap_or(Val::Other), frame)?;
                }
                Ok(Flow::Next)
            }
            StmtKind::Barrier { .. } | StmtKind::Warp { .. } => Err(Stop::Refused(
                "it makes threads wait for each other, and some may be idle there",
            )),
            _ => unknown("it does something that access patterns cannot say"),
        }
    }

    fn branch(
        &mut self,
        cond: &Expr,
        then: &Block,
        otherwise: &Block,
        frame: &mut Frame,
        result: &mut Option<Val>,
    ) -> Result<Flow, Stop> {
        match self.expr(cond, frame)? {
            Val::Int(n) => match (n.as_constant(), self.linear) {
                (Some(0), _) => self.block(otherwise, frame, result),
                (Some(_), _) => self.block(then, frame, result),
                (None, true) => Err(Stop::NotLinear),
                (None, false) => unknown("what it does depends on the block"),
            },
            _ => {
                let before = self.objects.clone();
                let one = self.block(then, frame, result)?;
                let after = std::mem::replace(&mut self.objects, before);
                let two = self.block(otherwise, frame, result)?;
                if one != Flow::Next || two != Flow::Next {
                    return unknown("it leaves a loop or returns depending on data");
                }
                self.merge(after);
                Ok(Flow::Next)
            }
        }
    }

    /// What is known after either of two ways.
    fn merge(&mut self, other: Vec<Object>) {
        for (mine, theirs) in self.objects.iter_mut().zip(&other) {
            for (at, value) in theirs {
                let same = mine.get(at) == Some(value);
                if !same {
                    mine.insert(*at, Val::Other);
                }
            }
            for (at, value) in mine.iter_mut() {
                if theirs.get(at) != Some(value) {
                    *value = Val::Other;
                }
            }
        }
    }

    fn for_loop(
        &mut self,
        f: &ForLoop,
        frame: &mut Frame,
        result: &mut Option<Val>,
    ) -> Result<Flow, Stop> {
        let ty = f.first.ty.scalar().unwrap_or(Scalar::I32);
        let mut at = self.number(&f.first, frame)?;
        let limit = self.number(&f.limit, frame)?;
        let step = self.number(&f.step, frame)?;
        let value = |n: i64| Value::int(ty, n);
        let object = self.object(frame, f.var);
        while eval::binary(f.compare, value(at), value(limit)).is_true() {
            self.objects[object].insert(0, Val::Int(Affine::constant(at)));
            match self.block(&f.body, frame, result)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                _ => at = eval::binary(BinaryOp::Add, value(at), value(step)).as_i64(),
            }
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return unknown("it does too much to be followed");
            }
        }
        self.objects[object].insert(0, Val::Int(Affine::constant(at)));
        Ok(Flow::Next)
    }

    /// A number that is the same for all threads.
    fn number(&mut self, e: &Expr, frame: &mut Frame) -> Result<i64, Stop> {
        match self.expr(e, frame)? {
            Val::Int(n) => match (n.as_constant(), self.linear) {
                (Some(n), _) => Ok(n),
                (None, true) => Err(Stop::NotLinear),
                (None, false) => unknown("how often it loops depends on the block"),
            },
            _ => unknown("how often it loops depends on data"),
        }
    }

    fn known(&mut self, e: &Expr, frame: &mut Frame) -> Result<bool, Stop> {
        self.number(e, frame).map(|n| n != 0)
    }

    fn expr(&mut self, e: &Expr, frame: &mut Frame) -> Result<Val, Stop> {
        match &*e.kind {
            ExprKind::Const(v) if !v.ty.is_float() => Ok(Val::Int(Affine::constant(v.as_i64()))),
            ExprKind::Const(_) => Ok(Val::Other),
            ExprKind::Named(id) => {
                let value = self.module.constants[id.0 as usize].value;
                let float = value.ty.is_float();
                Ok(if float { Val::Other } else { Val::Int(Affine::constant(value.as_i64())) })
            }
            ExprKind::Read(place) => self.read(place, frame),
            ExprKind::AddressOf(place) => {
                let address = self.address(place, frame)?;
                Ok(address.map_or(Val::Other, |(base, at)| Val::Pointer(base, at)))
            }
            ExprKind::Unary(op, a) => {
                let value = self.expr(a, frame)?;
                self.count(&e.ty);
                match (op, value) {
                    (UnaryOp::Neg, Val::Int(n)) => self.linear_or(n.times(-1)),
                    (_, Val::Int(n)) => match (n.as_constant(), a.ty.scalar()) {
                        (Some(n), Some(ty)) => Ok(int(eval::unary(*op, Value::int(ty, n)))),
                        _ => self.linear_or(None),
                    },
                    _ => Ok(Val::Other),
                }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, frame),
            ExprKind::PtrOffset(pointer, index) => {
                let size = self.size(e.ty.pointee());
                let (pointer, index) = (self.expr(pointer, frame)?, self.expr(index, frame)?);
                match (pointer, index) {
                    (Val::Pointer(base, at), Val::Int(n)) => {
                        let moved = n.times(size).and_then(|n| at.plus(&n));
                        match moved {
                            Some(at) => Ok(Val::Pointer(base, at)),
                            None => self.linear_or(None),
                        }
                    }
                    _ => Ok(Val::Other),
                }
            }
            ExprKind::Cast(a) => self.cast(a, &e.ty, frame),
            ExprKind::Select(cond, a, b) => match self.expr(cond, frame)? {
                Val::Int(n) => match n.as_constant() {
                    Some(0) => self.expr(b, frame),
                    Some(_) => self.expr(a, frame),
                    None => self.linear_or(None),
                },
                _ => {
                    let (a, b) = (self.expr(a, frame)?, self.expr(b, frame)?);
                    Ok(if a == b { a } else { Val::Other })
                }
            },
            ExprKind::Call(_, args) => {
                for arg in args {
                    self.expr(arg, frame)?;
                }
                self.trace.functions += 1;
                Ok(Val::Other)
            }
            ExprKind::Make(parts) => {
                for part in parts {
                    self.expr(part, frame)?;
                }
                Ok(Val::Other)
            }
            ExprKind::PtrDiff(a, b) => {
                self.expr(a, frame)?;
                self.expr(b, frame)?;
                Ok(Val::Other)
            }
            ExprKind::Bitcast(a) | ExprKind::Member(a, _) => {
                self.expr(a, frame)?;
                Ok(Val::Other)
            }
            ExprKind::Builtin(_) => Err(Stop::Refused(
                "it asks the hardware for coordinates, which are others in a fused kernel",
            )),
        }
    }

    fn count(&mut self, ty: &Type) {
        self.trace.flops += u64::from(ty.is_float());
    }

    /// A linear value; where it is none, each thread must be run for itself, or the value is not known.
    fn linear_or(&self, value: Option<Affine>) -> Result<Val, Stop> {
        match (value, self.linear) {
            (Some(n), _) => Ok(Val::Int(n)),
            (None, true) => Err(Stop::NotLinear),
            (None, false) => Ok(Val::Other),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, frame: &mut Frame) -> Result<Val, Stop> {
        let left = self.expr(a, frame)?;
        if op.is_logical()
            && let Val::Int(n) = left
            && let Some(n) = n.as_constant()
            && (n != 0) == (op == BinaryOp::LogicalOr)
        {
            return Ok(left);
        }
        let right = self.expr(b, frame)?;
        self.count(&a.ty);
        let (Val::Int(x), Val::Int(y)) = (left, right) else { return Ok(Val::Other) };
        if let (Some(x), Some(y), Some(s), Some(t)) =
            (x.as_constant(), y.as_constant(), a.ty.scalar(), b.ty.scalar())
        {
            return Ok(int(eval::binary(op, Value::int(s, x), Value::int(t, y))));
        }
        let linear = match op {
            BinaryOp::Add => x.plus(&y),
            BinaryOp::Sub => x.minus(&y),
            BinaryOp::Mul => match (x.as_constant(), y.as_constant()) {
                (Some(n), _) => y.times(n),
                (_, Some(n)) => x.times(n),
                _ => None,
            },
            BinaryOp::Shl => {
                let shift = y.as_constant().filter(|n| (0..31).contains(n));
                shift.and_then(|n| x.times(1 << n))
            }
            _ => None,
        };
        self.linear_or(linear)
    }

    fn cast(&mut self, a: &Expr, to: &Type, frame: &mut Frame) -> Result<Val, Stop> {
        let value = self.expr(a, frame)?;
        Ok(match (value, to.scalar()) {
            (Val::Int(n), Some(ty)) if !ty.is_float() => match (n.as_constant(), a.ty.scalar()) {
                (Some(n), Some(from)) => int(eval::cast(Value::int(from, n), ty)),
                // Coordinates and offsets are small: no conversion changes them, but that to `bool` does.
                _ if ty == Scalar::Bool => return self.linear_or(None),
                _ => value,
            },
            (Val::Pointer(..), None) if to.is_pointer() => value,
            (Val::Element { .. }, _) if a.ty == *to => value,
            _ => Val::Other,
        })
    }

    fn size(&self, ty: Option<&Type>) -> i64 {
        ty.map_or(1, |t| layout_of(self.module, t).size as i64)
    }

    /// Where a place is, in bytes. `None`: it is not known.
    fn address(
        &mut self,
        place: &Place,
        frame: &mut Frame,
    ) -> Result<Option<(Base, Affine)>, Stop> {
        match &*place.kind {
            PlaceKind::Var(id) => {
                let object = self.object(frame, *id);
                Ok(Some((Base::Object(object), Affine::default())))
            }
            PlaceKind::Global(_) => Ok(None),
            PlaceKind::Deref(pointer) => match self.expr(pointer, frame)? {
                Val::Pointer(base, at) => Ok(Some((base, at))),
                _ => unknown("it reads or writes through a pointer that depends on data"),
            },
            PlaceKind::Elem { pointer, index, .. } => {
                let pointer = self.expr(pointer, frame)?;
                let [index] = index.as_slice() else {
                    return unknown("it has arrays of several dimensions");
                };
                let index = self.expr(index, frame)?;
                let Val::Pointer(base, at) = pointer else {
                    return unknown("it reads or writes through a pointer that depends on data");
                };
                self.moved(base, at, index, self.size(Some(&place.ty)))
            }
            PlaceKind::Index(inner, index) => {
                let Some((base, at)) = self.address(inner, frame)? else { return Ok(None) };
                let index = self.expr(index, frame)?;
                self.moved(base, at, index, self.size(Some(&place.ty)))
            }
            PlaceKind::Component(inner, n) => {
                let Some((base, at)) = self.address(inner, frame)? else { return Ok(None) };
                let offset = i64::from(*n) * self.size(Some(&place.ty));
                Ok(at.plus(&Affine::constant(offset)).map(|at| (base, at)))
            }
            PlaceKind::Field(inner, n) => {
                let Some((base, at)) = self.address(inner, frame)? else { return Ok(None) };
                let Type::Struct(id) = &inner.ty else { return Ok(None) };
                let offset = self.module.structs[id.0 as usize].fields[*n as usize].offset as i64;
                Ok(at.plus(&Affine::constant(offset)).map(|at| (base, at)))
            }
        }
    }

    fn moved(
        &self,
        base: Base,
        at: Affine,
        index: Val,
        size: i64,
    ) -> Result<Option<(Base, Affine)>, Stop> {
        let moved = match index {
            Val::Int(n) => n.times(size).and_then(|n| at.plus(&n)),
            _ if matches!(base, Base::Object(_)) => return Ok(None),
            _ => return unknown("its subscripts depend on data"),
        };
        match moved {
            Some(at) => Ok(Some((base, at))),
            None if self.linear => Err(Stop::NotLinear),
            None => unknown("its subscripts are too large"),
        }
    }

    /// Offset and length in floats of an access to an argument.
    fn floats(&self, at: Affine, ty: &Type) -> Result<(Affine, i64), Stop> {
        let size = self.size(Some(ty));
        let whole = at.constant % 4 == 0 && at.by.iter().all(|c| c % 4 == 0) && size % 4 == 0;
        if !whole {
            return unknown("it touches parts of floats");
        }
        let mut floats = Affine::constant(at.constant / 4);
        floats.by = at.by.map(|c| c / 4);
        Ok((floats, size / 4))
    }

    fn read(&mut self, place: &Place, frame: &mut Frame) -> Result<Val, Stop> {
        match self.address(place, frame)? {
            None => Ok(Val::Other),
            Some((Base::Object(object), at)) => {
                let known = at.as_constant().and_then(|at| self.objects[object].get(&at).copied());
                if let Some(value) = known {
                    return Ok(value);
                }
                // An array decays to a pointer to its first element.
                Ok(Val::Other)
            }
            Some((Base::Argument(argument), at)) => {
                let (at, length) = self.floats(at, &place.ty)?;
                let access = Access { argument, at, length, write: false, copies: None };
                self.trace.accesses.push(access);
                Ok(Val::Element { argument, at, length })
            }
        }
    }

    fn store(&mut self, place: &Place, value: Val, frame: &mut Frame) -> Result<(), Stop> {
        match self.address(place, frame)? {
            None => {
                self.objects.iter_mut().for_each(|o| o.retain(|_, v| matches!(v, Val::Pointer(..))))
            }
            Some((Base::Object(object), at)) => match at.as_constant() {
                Some(at) => {
                    self.objects[object].insert(at, value);
                }
                None => self.objects[object].clear(),
            },
            Some((Base::Argument(argument), at)) => {
                let (at, length) = self.floats(at, &place.ty)?;
                let copies = match value {
                    Val::Element { argument, at, length: l } if l == length => Some((argument, at)),
                    _ => None,
                };
                self.trace.accesses.push(Access { argument, at, length, write: true, copies });
            }
        }
        Ok(())
    }
}

fn int(value: Value) -> Val {
    Val::Int(Affine::constant(value.as_i64()))
}
