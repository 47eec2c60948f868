//! Numbers that do not fit their 32 bits where addresses, conditions and launches are made of them.
//!
//! No run shows them before an array has 2³¹ elements. So nothing is run here: the launcher, and threads at the corners
//! of what it launches, are followed at such sizes with every integer twice, as the machine computes it and as it is in
//! arithmetic without bounds. Where the two differ because a sum or product was too large, the number is wrong.

use std::collections::HashMap;

use warpsmith_ir::{
    BinaryOp, Expr, FuncId, Function, Launch, MathFn, Module, Scalar, Span, UnaryOp, Value, VarId,
    VarKind, eval,
};

use super::address::Object;
use super::run::{Request, Run, Watch};
use super::values::{Extents, Number, Single, Thread, Vars};

/// Statements of threads followed in the launcher, and in each launch.
const STEPS: u64 = 100_000;

/// Launches that are followed.
const MOST_LAUNCHES: usize = 64;

/// The most blocks along x, and along y and z: more cannot be launched.
const MOST_BLOCKS_X: i128 = (1 << 31) - 1;
const MOST_BLOCKS_YZ: i128 = 65_535;

/// An integer by the machine, and without bounds.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    machine: Value,
    exact: i128,
    /// They differ since something was too large for 32 bits. Differences that unsigned numbers make below zero are meant.
    lost: bool,
    /// A signed number on the way to it was too large: C says nothing about what follows, whether the outcome is the same
    /// or not.
    undefined: bool,
}

impl Wide {
    fn new(machine: Value, exact: i128, lost: bool) -> Wide {
        let lost = lost && exact != of_machine(machine);
        Wide { machine, exact, lost, undefined: false }
    }

    /// The number with what happened on the way to it.
    fn of(self, parts: &[Wide]) -> Wide {
        let ty = self.machine.ty;
        let too_large = ty == Scalar::I32 && i32::try_from(self.exact).is_err();
        Wide { undefined: too_large || parts.iter().any(|p| p.undefined), ..self }
    }

    /// The machine's number, whatever was meant.
    fn meant(machine: Value) -> Wide {
        Wide { machine, exact: of_machine(machine), lost: false, undefined: false }
    }

    fn agrees(self) -> bool {
        self.exact == of_machine(self.machine)
    }

    /// A result of this operation: it is lost if it is too large for its type.
    fn result(machine: Value, exact: i128, lost: bool) -> Wide {
        let too_large = machine.ty.bytes() == 4 && exact.unsigned_abs() >= 1 << 31;
        Wide::new(machine, exact, lost || too_large)
    }
}

/// The value of an integer; what is beyond 63 bits counts as negative, as in sums that are meant to wrap.
fn of_machine(v: Value) -> i128 {
    if v.ty.is_float() { 0 } else { i128::from(v.as_i64()) }
}

impl Single for Wide {
    fn value(self) -> Value {
        self.machine
    }
}

impl Number for Wide {
    fn constant(value: Value) -> Wide {
        Wide::meant(value)
    }

    fn int(ty: Scalar, value: i64) -> Wide {
        Wide::result(Value::int(ty, value), i128::from(value), false)
    }

    fn same(&self) -> Option<Value> {
        Some(self.machine)
    }

    fn unary(op: UnaryOp, a: Wide) -> Wide {
        Wide::unary_of(op, a).of(&[a])
    }

    fn binary(op: BinaryOp, a: Wide, b: Wide) -> Wide {
        Wide::binary_of(op, a, b).of(&[a, b])
    }

    fn cast(self, to: Scalar) -> Wide {
        Wide { undefined: self.undefined, ..self.cast_to(to) }
    }

    fn math(function: MathFn, args: &[Wide]) -> Wide {
        Wide::math_of(function, args).of(args)
    }
}

/// The operations, whatever happened before.
impl Wide {
    fn unary_of(op: UnaryOp, a: Wide) -> Wide {
        let machine = eval::unary(op, a.machine);
        match op {
            UnaryOp::Neg if !machine.ty.is_float() => Wide::result(machine, -a.exact, a.lost),
            UnaryOp::Not => Wide::new(machine, i128::from(a.exact == 0), a.lost),
            _ => Wide::meant(machine),
        }
    }

    fn binary_of(op: BinaryOp, a: Wide, b: Wide) -> Wide {
        let machine = eval::binary(op, a.machine, b.machine);
        if a.machine.ty.is_float() {
            return Wide::meant(machine);
        }
        let lost = a.lost || b.lost;
        let (x, y) = (a.exact, b.exact);
        match op {
            BinaryOp::Add => Wide::result(machine, x.saturating_add(y), lost),
            BinaryOp::Sub => Wide::result(machine, x.saturating_sub(y), lost),
            BinaryOp::Mul => Wide::result(machine, x.saturating_mul(y), lost),
            BinaryOp::Shl if (0..64).contains(&y) => {
                Wide::result(machine, x.saturating_mul(1 << y), lost)
            }
            BinaryOp::Div if lost => Wide::new(machine, x.checked_div(y).unwrap_or(0), lost),
            BinaryOp::Rem if lost => Wide::new(machine, x.checked_rem(y).unwrap_or(0), lost),
            _ if op.is_comparison() && lost => {
                let truth = match op {
                    BinaryOp::Lt => x < y,
                    BinaryOp::Le => x <= y,
                    BinaryOp::Gt => x > y,
                    BinaryOp::Ge => x >= y,
                    BinaryOp::Eq => x == y,
                    _ => x != y,
                };
                Wide::new(machine, truth.into(), lost)
            }
            _ => Wide::meant(machine),
        }
    }

    fn cast_to(self, to: Scalar) -> Wide {
        let machine = eval::cast(self.machine, to);
        let narrow = to.bytes() < 4 && to != Scalar::Bool;
        if to.is_float() || self.machine.ty.is_float() || narrow {
            return Wide::meant(machine);
        }
        if to == Scalar::Bool {
            return Wide::new(machine, i128::from(self.exact != 0), self.lost);
        }
        // A number that becomes unsigned is meant to; one that loses its upper half is not.
        match self.agrees() && self.machine.ty.bytes() <= to.bytes() {
            true => Wide::meant(machine),
            false => Wide::result(machine, self.exact, self.lost),
        }
    }

    fn math_of(function: MathFn, args: &[Wide]) -> Wide {
        let values: Vec<Value> = args.iter().map(|a| a.machine).collect();
        let machine = eval::math(function, &values);
        let exact = args.iter().map(|a| a.exact);
        let exact = match function {
            MathFn::Min => exact.min(),
            MathFn::Max => exact.max(),
            _ => None,
        };
        match exact {
            Some(exact) if !machine.ty.is_float() => {
                Wide::new(machine, exact, args.iter().any(|a| a.lost))
            }
            _ => Wide::meant(machine),
        }
    }
}

/// A number that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Overflow {
    /// What it is, and what it should be.
    pub what: String,
    pub span: Option<Span>,
}

/// The first number that is too large in a function called with some arguments, and in what it launches. `None` as an
/// argument: an array, or a number that depends on data.
pub fn overflow(module: &Module, function: FuncId, args: &[Option<Value>]) -> Option<Overflow> {
    let Finder { found, launches, .. } = followed(module, function, args, Finder::default());
    found.or_else(|| launches.iter().find_map(|l| l.overflow(module)))
}

/// Whether a C function computes a signed number that is too large, even if nothing came of it on this machine.
pub fn undefined(module: &Module, function: FuncId, args: &[Option<Value>]) -> bool {
    let finder = Finder { undefined: true, ..Finder::default() };
    followed(module, function, args, finder).found.is_some()
}

fn followed(module: &Module, function: FuncId, args: &[Option<Value>], finder: Finder) -> Finder {
    let host = module.function(function);
    let mut vars = Vars::default();
    for (param, arg) in host.params.iter().zip(args) {
        vars.set(*param, arg.map(Wide::meant));
    }
    let at = Extents { grid: [1; 3], block: [1; 3] };
    let mut run = Run::new(module, host, at, finder, STEPS);
    run.one_block([0; 3], &[[0; 3]], &vars);
    run.watch
}

/// Whether the extents of a function's arrays are too large for the type they are written in.
pub fn in_extents(module: &Module, function: &Function, args: &[Option<Value>]) -> bool {
    let mut thread = Thread::<Wide>::default();
    for (param, arg) in function.params.iter().zip(args) {
        thread.vars.set(*param, arg.map(Wide::meant));
    }
    let at = Extents { grid: [1; 3], block: [1; 3] };
    let shapes = function.params.iter().filter_map(|p| function.var(*p).shape.as_ref());
    let lost = |e: &Expr| thread.eval(module, at, e).is_some_and(|v| v.lost);
    shapes.flatten().any(lost)
}

/// Looks for the first number that is lost.
#[derive(Default)]
struct Finder {
    /// Numbers count that C does not define, too.
    undefined: bool,
    found: Option<Overflow>,
    launches: Vec<Launched>,
}

/// What a launch was given.
struct Launched {
    kernel: FuncId,
    at: Extents,
    vars: Vars<Wide>,
    /// To tell launches apart.
    key: Vec<Option<Value>>,
}

impl Finder {
    fn note(&mut self, what: impl Fn() -> String, number: Wide, span: Option<Span>) {
        let counts = number.lost || (self.undefined && number.undefined);
        if counts && self.found.is_none() {
            let (exact, machine) = (number.exact, of_machine(number.machine));
            let what = format!("{} is {machine} where it should be {exact}", what());
            self.found = Some(Overflow { what, span });
        }
    }
}

impl Watch<Wide> for Finder {
    const ENDS: bool = true;

    fn request(&mut self, r: &Request<'_, Wide>) {
        let name = |object: Object| match object {
            Object::Var(v) => r.function.var(v).name.clone(),
            Object::Global(g) => {
                r.module.globals.get(g.0 as usize).map_or(String::new(), |g| g.name.clone())
            }
        };
        for address in r.lanes.iter().flatten().flatten() {
            let what = || format!("the byte of `{}` that is accessed", name(address.object));
            self.note(what, address.offset, r.span);
        }
    }

    fn decision(&mut self, values: &[Option<Wide>], span: Option<Span>) {
        for value in values.iter().flatten() {
            self.note(|| "a condition".to_string(), *value, span);
        }
    }

    fn launch(&mut self, module: &Module, l: &Launch, host: &Thread<Wide>) {
        let one = Extents { grid: [1; 3], block: [1; 3] };
        let eval = |e: &Expr| host.eval(module, one, e);
        let (grid, block) = (l.grid.each_ref().map(eval), l.block.each_ref().map(eval));
        let ([Some(gx), Some(gy), Some(gz)], [Some(bx), Some(by), Some(bz)]) = (grid, block) else {
            return;
        };
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        // No loop could go on in strides of so many blocks: this is an error of the launch, and no wrong result.
        if gx.exact > MOST_BLOCKS_X {
            return;
        }
        let most = gy.exact.max(gz.exact);
        if most > MOST_BLOCKS_YZ && self.found.is_none() {
            let what =
                format!("{most} blocks along y or z are launched, of {MOST_BLOCKS_YZ} at most");
            self.found = Some(Overflow { what, span: None });
        }
        for extent in grid.into_iter().chain(block) {
            self.note(|| "an extent of the grid".to_string(), extent, None);
        }
        let positive = |v: Wide| u32::try_from(v.machine.as_i64()).ok().filter(|n| *n > 0);
        let ([Some(gx), Some(gy), Some(gz)], [Some(bx), Some(by), Some(bz)]) =
            (grid.map(positive), block.map(positive))
        else {
            return;
        };
        let at = Extents { grid: [gx, gy, gz], block: [bx, by, bz] };
        let mut vars = Vars::default();
        let mut key: Vec<Option<Value>> =
            grid.iter().chain(&block).map(|v| Some(v.machine)).collect();
        let kernel = module.function(l.kernel);
        for (param, arg) in kernel.params.iter().zip(&l.args) {
            let value = if arg.ty.is_pointer() { None } else { eval(arg) };
            vars.set(*param, value);
            key.push(value.map(|v| v.machine));
        }
        let known = |other: &Launched| other.kernel == l.kernel && other.key == key;
        if self.launches.len() < MOST_LAUNCHES && !self.launches.iter().any(known) {
            self.launches.push(Launched { kernel: l.kernel, at, vars, key });
        }
    }
}

impl Launched {
    /// The first number that is too large in a thread at a corner of a block at a corner of the grid.
    fn overflow(&self, module: &Module) -> Option<Overflow> {
        let kernel = module.function(self.kernel);
        let mut run = Run::new(module, kernel, self.at, Finder::default(), STEPS);
        let threads = corners(self.at.block);
        for block in corners(self.at.grid).into_iter().chain([self.at.grid.map(|g| g / 2)]) {
            run.one_block(block, &threads, &self.vars);
            if run.watch.found.is_some() {
                break;
            }
        }
        run.watch.found
    }
}

/// The numbers with the least or the greatest component along each axis.
fn corners(extents: [u32; 3]) -> Vec<[u32; 3]> {
    let mut found: Vec<[u32; 3]> = vec![];
    for choice in 0..8u32 {
        let at = |axis: usize| if choice >> axis & 1 == 1 { extents[axis] - 1 } else { 0 };
        let corner = [at(0), at(1), at(2)];
        if !found.contains(&corner) {
            found.push(corner);
        }
    }
    found
}

/// Integers that a function multiplies or shifts again and again, such as a hash: they are meant to wrap.
pub fn grows(function: &Function) -> bool {
    let mut own: HashMap<VarId, bool> = HashMap::new();
    warpsmith_ir::visit::for_each_stmt(&function.body, &mut |s| {
        let warpsmith_ir::StmtKind::Assign { place, value } = &s.kind else { return };
        let Some(var) = place.root_var().filter(|v| function.var(*v).kind == VarKind::Local) else {
            return;
        };
        let (mut itself, mut scaled) = (false, false);
        warpsmith_ir::visit::for_each_subexpr(value, &mut |e| match &*e.kind {
            warpsmith_ir::ExprKind::Read(p) => itself |= p.root_var() == Some(var),
            warpsmith_ir::ExprKind::Binary(BinaryOp::Mul | BinaryOp::Shl, ..) => {
                scaled |= e.ty.is_integer();
            }
            _ => {}
        });
        *own.entry(var).or_default() |= itself && scaled;
    });
    own.values().any(|grows| *grows)
}
