//! What one routine touches: its IR run with coordinates for numbers and nothing for data.
//!
//! Integers are linear in the coordinates as long as that goes, so that one run tells all threads; where a routine divides or
//! asks which thread it is, each thread is run for itself. Reals are not known: of a branch that depends on them both ways
//! are taken, and what either touches counts.

mod memory;
mod value;

use std::collections::HashMap;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, FuncId, LoopCondition, Module, Scalar, Stmt, StmtKind, Value,
    VarId, eval,
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
            StmtKind::Loop { condition, body, step, .. } => {
                self.while_loop(condition.as_ref(), (body, step), frame, result)
            }
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
                // What the first way declared keeps its number in the frame.
                self.objects.resize(after.len(), Object::new());
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

    /// A loop that goes on as long as a condition holds.
    fn while_loop(
        &mut self,
        condition: Option<&LoopCondition>,
        (body, step): (&Block, &Block),
        frame: &mut Frame,
        result: &mut Option<Val>,
    ) -> Result<Flow, Stop> {
        let at_end = condition.is_some_and(|c| c.at_end);
        loop {
            if !at_end && !self.test(condition, frame, result)? {
                return Ok(Flow::Next);
            }
            match self.block(body, frame, result)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                _ => self.block(step, frame, result)?,
            };
            if at_end && !self.test(condition, frame, result)? {
                return Ok(Flow::Next);
            }
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return unknown("it does too much to be followed");
            }
        }
    }

    fn test(
        &mut self,
        condition: Option<&LoopCondition>,
        frame: &mut Frame,
        result: &mut Option<Val>,
    ) -> Result<bool, Stop> {
        let Some(c) = condition else { return Ok(true) };
        self.block(&c.before, frame, result)?;
        self.known(&c.expr, frame)
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
}
