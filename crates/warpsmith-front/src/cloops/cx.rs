//! The function under construction: scopes, statements so far, messages.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::typing::Env;
use warpsmith_ir::{
    BinaryOp, ConstId, Diagnostic, Expr, ExprKind, FuncId, Function, GlobalId, LoopId, Module,
    NamedConst, Parallel, Place, PlaceKind, ReduceOp, Scalar, Span, Stmt, StmtKind, Type, UnaryOp,
    Value, Var, VarId, VarKind,
};

use super::access::Pointer;
use super::order::Unfinished;
use super::types::{self, CType};
use super::unit::{Enumerator, Unit};
use crate::ast;

/// A message has been recorded; the caller only has to give up on its node.
#[derive(Clone, Copy, Debug)]
pub struct Reported;

pub type Low<T> = Result<T, Reported>;

/// What a name means.
// One lives for each name in sight: their size does not count.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum Binding {
    Var(VarId),
    /// A local pointer that never changes: it stands for the place it was made from.
    Alias(Pointer),
    Const(ConstId),
    Global(GlobalId),
    /// Its declaration was wrong, which has been said.
    Poison,
}

/// What `break`, `continue` and `return` would leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    Loop,
    Marked(Span),
    Switch,
}

/// `reduction(op: h[:n])`.
#[derive(Clone, Copy, Debug)]
pub struct ArrayReduction {
    pub op: ReduceOp,
    pub var: VarId,
    pub span: Span,
}

/// The outermost marked loop, while it is being built.
#[derive(Clone, Debug)]
pub struct Marked {
    pub span: Span,
    /// Variables from this one on were declared inside, so each iteration has its own.
    pub first_inside: u32,
    /// Variables of its private clauses.
    pub private: Vec<VarId>,
    pub arrays: Vec<ArrayReduction>,
    /// Updates under `atomic` or `critical` of one variable, or of what one pointer points to.
    pub kept: Vec<Kept>,
}

/// An update that all iterations make to one place.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// The variable or pointer.
    pub base: VarId,
    pub class: ReduceOp,
    pub span: Span,
}

/// An OpenMP region whose statements outside work-sharing loops are run by every thread.
#[derive(Clone, Debug)]
pub struct Region {
    pub clauses: Parallel,
    /// Variables from this one on were declared inside, so each thread has its own.
    pub first_inside: u32,
    pub span: Span,
    pub arrays: Vec<ArrayReduction>,
    /// Variables of each thread that hold the thread's part of a result, until an update combines them.
    pub parts: Vec<(VarId, ReduceOp)>,
    /// What threads may still be doing when others go on.
    pub unfinished: Vec<Unfinished>,
}

impl Region {
    /// Whether each thread has its own of a variable.
    pub fn owns(&self, id: VarId) -> bool {
        let c = &self.clauses;
        id.0 >= self.first_inside || c.private.contains(&id) || c.first_private.contains(&id)
    }
}

pub struct Cx<'u> {
    pub unit: &'u Unit<'u>,
    pub module: &'u mut Module,
    /// Functions of the file that are lowered already.
    pub lowered: &'u HashMap<String, FuncId>,
    pub function: Function,
    pub scopes: Vec<HashMap<String, Binding>>,
    /// The statements of the block under construction.
    pub out: Vec<Stmt>,
    pub diagnostics: Vec<Diagnostic>,
    /// Extents of array parameters without the outermost.
    pub dims: HashMap<VarId, Vec<Expr>>,
    /// Parameters that extents mention; they must not change.
    pub frozen: HashMap<VarId, String>,
    /// Offsets of pointers that move.
    pub moving: HashSet<VarId>,
    /// Values of variables that are `const` with a constant initialiser.
    pub constants: HashMap<VarId, Value>,
    pub frames: Vec<Frame>,
    pub regions: Vec<Region>,
    pub marked: Option<Marked>,
    /// `critical` and `atomic` around the statement at hand.
    pub exclusive: usize,
    /// Variables that hold times of day.
    pub clocks: HashSet<VarId>,
    /// Statements after the one being lowered, of the innermost block; a pointer declared now is used there.
    pub following: &'u [ast::Stmt],
    /// Functions whose bodies are being put in place of their calls.
    pub inlining: Vec<String>,
    /// Structures passed by value that nothing changes: their numbers are read into variables at the start.
    pub unpacked: Vec<VarId>,
    /// Pointers that are compared with null.
    pub never_null: std::collections::BTreeSet<String>,
    /// Parameters for variables of the file.
    pub outside: HashMap<String, VarId>,
    /// Those variables, by structure and field names.
    pub parts: HashMap<(VarId, String), VarId>,
    /// Their declarations.
    pub prologue: Vec<Stmt>,
}

impl<'u> Cx<'u> {
    /// What types of expressions depend on.
    pub fn env(&self) -> Env<'_> {
        Env { module: self.module, vars: &self.function.vars }
    }

    pub fn fail(&mut self, d: Diagnostic) -> Reported {
        self.diagnostics.push(d);
        Reported
    }

    /// Records a message with one label and gives the error to return.
    pub fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: &str,
    ) -> Reported {
        self.fail(Diagnostic::error(code, message).label(span, label))
    }

    /// Reads a type, see [`types::read`]; the module then has the structures that it is made of.
    pub fn read_type<'t>(&mut self, ty: &'t ast::TypeName, parameter: bool) -> Low<CType<'t>>
    where
        'u: 't,
    {
        let read = types::read(self.unit, ty, parameter);
        self.take_structs();
        read.map_err(|d| self.fail(*d))
    }

    /// Gives the module the structures that were used since the last time.
    pub fn take_structs(&mut self) {
        let made = self.module.structs.len();
        self.module.structs.extend(self.unit.structs().into_iter().skip(made));
    }

    pub fn push(&mut self, kind: StmtKind, span: Span) {
        self.out.push(Stmt::new(kind, span));
    }

    /// Runs `f` with an empty statement list and a new scope, and gives the statements it made.
    pub fn block(&mut self, f: impl FnOnce(&mut Cx<'u>)) -> warpsmith_ir::Block {
        let outer = std::mem::take(&mut self.out);
        self.scopes.push(HashMap::new());
        f(self);
        self.scopes.pop();
        warpsmith_ir::Block::new(std::mem::replace(&mut self.out, outer))
    }

    /// Runs `f` with an empty statement list in the present scope.
    pub fn collect<T>(&mut self, f: impl FnOnce(&mut Cx<'u>) -> T) -> (T, Vec<Stmt>) {
        let outer = std::mem::take(&mut self.out);
        let result = f(self);
        (result, std::mem::replace(&mut self.out, outer))
    }

    pub fn bind(&mut self, name: &str, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), binding);
        }
    }

    pub fn declare(&mut self, name: &str, ty: Type, span: Span) -> VarId {
        let mut var = Var::new(name, ty, VarKind::Local);
        var.origin = span.into();
        let id = self.function.add_var(var);
        self.bind(name, Binding::Var(id));
        id
    }

    /// A variable that the user's code has no name for, declared at this point.
    pub fn temp(&mut self, name: &str, ty: Type, init: Option<Expr>, span: Span) -> Expr {
        let mut var = Var::new(name, ty.clone(), VarKind::Local);
        var.origin = span.into();
        let id = self.function.add_var(var);
        self.push(StmtKind::Decl { var: id, init }, span);
        Expr::var(id, ty).with_origin(span)
    }

    /// As [`Cx::temp`], with the place to assign it.
    pub fn temp_place(
        &mut self,
        name: &str,
        ty: Type,
        init: Option<Expr>,
        span: Span,
    ) -> (Expr, Place) {
        let var = VarId(self.function.vars.len() as u32);
        let value = self.temp(name, ty.clone(), init, span);
        (value, Place::new(PlaceKind::Var(var), ty, span))
    }

    pub fn fresh_loop(&mut self) -> LoopId {
        self.function.fresh_loop()
    }

    pub fn var_type(&self, id: VarId) -> &Type {
        &self.function.var(id).ty
    }

    /// Finds what a name means, from the innermost scope to the file.
    ///
    /// # Errors
    /// W145 when nothing of that name is declared.
    pub fn lookup(&mut self, name: &str, span: Span) -> Low<Binding> {
        if let Some(found) = self.lookup_quietly(name)? {
            return Ok(found);
        }
        if self.unit.enumerators.contains_key(name) {
            let message = format!("the value of `{name}` is not known as an `int`");
            let d =
                Diagnostic::error("W149", message).label(span, "this constant of an enumeration");
            return Err(self.fail(d.help("write the number, or declare it `const` with its type")));
        }
        let mut d = Diagnostic::error("W145", format!("`{name}` is not declared"))
            .label(span, "unknown name");
        let known: Vec<String> = self.names_in_scope();
        if let Some(near) = crate::spelling::nearest(name, known.iter().map(String::as_str)) {
            d = d.help(format!("did you mean `{near}`?"));
        }
        Err(self.fail(d))
    }

    /// As [`Cx::lookup`]; `Ok(None)` for an unknown name.
    pub fn lookup_quietly(&mut self, name: &str) -> Low<Option<Binding>> {
        if let Some(found) = self.scopes.iter().rev().find_map(|s| s.get(name)) {
            return match found {
                Binding::Poison => Err(Reported),
                other => Ok(Some(other.clone())),
            };
        }
        if let Some(value) = self.enumerator(name, 0) {
            return Ok(Some(Binding::Const(self.named_const(name, value))));
        }
        if self.unit.globals.contains_key(name) {
            return super::globals::bind(self, name).map(Some);
        }
        Ok(None)
    }

    pub fn names_in_scope(&self) -> Vec<String> {
        let mut names: Vec<String> = self.scopes.iter().flat_map(|s| s.keys().cloned()).collect();
        names.extend(
            self.unit.globals.keys().chain(self.unit.enumerators.keys()).map(|n| n.to_string()),
        );
        names.sort();
        names
    }

    /// The constant of that name in the module, added at its first use.
    pub fn named_const(&mut self, name: &str, value: Value) -> ConstId {
        let same = |c: &NamedConst| c.name == name && c.value == value;
        let at = self.module.constants.iter().position(same).unwrap_or_else(|| {
            self.module.constants.push(NamedConst {
                name: name.into(),
                value,
                comment: String::new(),
            });
            self.module.constants.len() - 1
        });
        ConstId(at as u32)
    }

    /// A constant where it is read: an integer as its value, since extents, bounds and alignment follow from it; a real by its name.
    pub fn constant(&self, id: ConstId) -> Expr {
        let value = self.module.constants[id.0 as usize].value;
        match value.ty.is_integer() {
            true => Expr::constant(value),
            false => Expr::new(
                ExprKind::Named(id),
                Type::Scalar(value.ty),
                warpsmith_ir::Origin::default(),
            ),
        }
    }

    /// The value of an enumeration's constant; `depth` bounds definitions that mention each other.
    fn enumerator(&mut self, name: &str, depth: usize) -> Option<Value> {
        if depth > 64 {
            return None;
        }
        let at = match self.unit.enumerators.get(name)? {
            Enumerator::Value(e) => {
                let messages = self.diagnostics.len();
                let (value, _) = self.collect(|cx| cx.scalar(e));
                let folded = value.ok().and_then(|v| self.fold(&v));
                self.diagnostics.truncate(messages);
                let folded = folded.filter(|v| v.ty != Scalar::U64 || v.bits <= i32::MAX as u64)?;
                folded.as_i64()
            }
            Enumerator::After(None, steps) => *steps,
            Enumerator::After(Some(before), steps) => {
                let before = before.to_string();
                self.enumerator(&before, depth + 1)?.as_i64().wrapping_add(*steps)
            }
            Enumerator::OfType => return None,
        };
        i32::try_from(at).is_ok().then(|| Value::int(Scalar::I32, at))
    }

    /// The value of an expression that is constant in C's sense, or reads `const` variables with constant values.
    pub fn fold(&self, e: &Expr) -> Option<Value> {
        match &*e.kind {
            ExprKind::Const(v) => Some(*v),
            ExprKind::Named(id) => self.module.constants.get(id.0 as usize).map(|c| c.value),
            ExprKind::Read(place) => match &*place.kind {
                PlaceKind::Var(id) => self.constants.get(id).copied(),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::Neg, a) => negate(self.fold(a)?),
            ExprKind::Cast(a) => {
                let (v, to) = (self.fold(a)?, e.ty.scalar()?);
                v.convert(to)
            }
            ExprKind::Binary(op, a, b) => fold_binary(*op, self.fold(a)?, self.fold(b)?),
            ExprKind::Select(cond, a, b) => {
                self.fold(if self.fold(cond)?.is_true() { a } else { b })
            }
            _ => None,
        }
    }

    /// Converts a scalar as C does in an assignment.
    pub fn convert(&self, e: Expr, to: Scalar) -> Expr {
        let from = e.ty.scalar();
        if from == Some(to) {
            return e;
        }
        let origin = e.origin.clone();
        if let Some(v) = e.as_const().and_then(|v| v.convert(to)) {
            return Expr::constant(v).with_origin(origin);
        }
        if to == Scalar::Bool {
            let zero = Expr::int(from.unwrap_or(Scalar::I32), 0);
            return Expr::binary(BinaryOp::Ne, e, zero).with_origin(origin);
        }
        e.cast(Type::Scalar(to))
    }

    /// The innermost region, when the statement at hand is run by every thread of it.
    pub fn replicated(&self) -> Option<&Region> {
        self.regions.last().filter(|_| {
            self.exclusive == 0 && !self.frames.iter().any(|f| matches!(f, Frame::Marked(_)))
        })
    }
}

fn negate(v: Value) -> Option<Value> {
    Some(if v.ty.is_float() {
        Value::float(v.ty, -v.as_f64())
    } else {
        Value::int(v.ty, v.as_i64().wrapping_neg())
    })
}

/// Integer arithmetic on constants, wrapping to the type as the IR does.
pub fn fold_binary(op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    use BinaryOp::*;
    let shift = matches!(op, Shl | Shr);
    if a.ty.is_float() || b.ty.is_float() || (a.ty != b.ty && !shift) {
        return None;
    }
    if a.ty == Scalar::U64
        && matches!(op, Div | Rem | Shr | Lt | Le | Gt | Ge)
        && (a.bits | b.bits) >> 63 != 0
    {
        return None;
    }
    let (x, y) = (a.as_i64(), b.as_i64());
    let amount = u32::try_from(y).ok().filter(|y| *y < 8 * a.ty.bytes());
    let truth = |t: bool| Some(Value::bool(t));
    let result = match op {
        Add => x.wrapping_add(y),
        Sub => x.wrapping_sub(y),
        Mul => x.wrapping_mul(y),
        Div => x.checked_div(y)?,
        Rem => x.checked_rem(y)?,
        Shl => x.checked_shl(amount?)?,
        Shr => x.checked_shr(amount?)?,
        BitAnd => x & y,
        BitOr => x | y,
        BitXor => x ^ y,
        Lt => return truth(x < y),
        Le => return truth(x <= y),
        Gt => return truth(x > y),
        Ge => return truth(x >= y),
        Eq => return truth(x == y),
        Ne => return truth(x != y),
        LogicalAnd => return truth(a.is_true() && b.is_true()),
        LogicalOr => return truth(a.is_true() || b.is_true()),
    };
    Some(Value::int(a.ty, result))
}
