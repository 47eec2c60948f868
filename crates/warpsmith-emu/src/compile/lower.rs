//! Lowering: the state that statements, expressions and places share, and how code is emitted.
//!
//! Pure instructions are value-numbered within their scope and placed before the outermost loop in
//! which their operands do not change, so that the address arithmetic of loops is done once.

use std::collections::HashMap;

use warpsmith_ir::{
    BinaryOp, Function, MathFn, Module, Scalar, Span, Type, UnaryOp, Value, VarId, eval,
};

use super::facts::AllFacts;
use super::lir::*;
use super::places::PlaceRef;
use crate::api::{EmuError, LaunchConfig};

/// More instructions than this are refused: inlining and unrolled templates can explode.
const MAX_CODE: usize = 2_000_000;

pub(super) type Result<T> = std::result::Result<T, EmuError>;

/// What a variable is bound to in the function instance being lowered.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Registers, one for each leaf of the type.
    Registers(Vec<Opd>),
    /// A value that never changes.
    Value(Vec<Opd>),
    /// Memory at a constant address.
    Memory(u64),
    /// A reference: the pointer variable stands for this place.
    Alias(PlaceRef),
}

/// One inlined instance of a function.
pub(super) struct Frame<'m> {
    pub function: &'m Function,
    pub id: warpsmith_ir::FuncId,
    pub slots: HashMap<VarId, Slot>,
    pub region: RegionId,
    pub returns: Vec<Opd>,
    pub end: Label,
    pub is_kernel: bool,
}

/// An enclosing statement that `break` or `continue` can leave.
pub(super) struct Exit {
    pub region: RegionId,
    pub break_label: Label,
    /// For loops: the region of the body and where its next iteration starts.
    pub body: Option<(RegionId, Label)>,
}

struct LoopState {
    preheader: Vec<Ins>,
    /// Code before the loop, set aside while the loop is lowered.
    before: Vec<Ins>,
    outer_scope: usize,
    region: RegionId,
    assigned: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    op: KeyOp,
    operands: [(Opd, u32); 3],
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum KeyOp {
    Bin(BinaryOp, Scalar, Scalar),
    Un(UnaryOp, Scalar),
    Cast(Scalar, Scalar),
    Bitcast(Scalar, Scalar),
    Math(MathFn, Scalar),
    Select(Scalar),
    MulAdd(Scalar),
    Special(Special),
}

pub(super) struct RegisterInfo {
    pub ty: Scalar,
    pub region: RegionId,
    version: u32,
    /// Number of open loops in the innermost of which it changes.
    depth: u32,
    /// It may hold nothing: what is computed from it is computed where the program does.
    pub unset: bool,
}

pub(super) struct Lower<'m> {
    pub module: &'m Module,
    pub launch: &'m LaunchConfig,
    pub facts: AllFacts,
    pub out: Program,
    pub code: Vec<Ins>,
    pub registers: Vec<RegisterInfo>,
    pub region: RegionId,
    pub site: u32,
    pub frames: Vec<Frame<'m>>,
    pub exits: Vec<Exit>,
    pub objects_by_var: HashMap<(warpsmith_ir::FuncId, VarId), u64>,
    pub labels: u32,
    pub branches: u32,
    loops: Vec<LoopState>,
    known: HashMap<Key, Opd>,
    scopes: Vec<Vec<Key>>,
    spans: HashMap<Option<Span>, u32>,
    emitted: usize,
    /// Whether instructions take down where threads go, and the numbers of the places that have one.
    pub ways: bool,
    /// Inside of a function that stands in for a library: sites stay those of its call.
    pub in_library: bool,
    /// What is computed may not be asked for.
    pub speculates: bool,
    /// Counters of loops that count up to a limit: first value, limit, step and type.
    pub counters: HashMap<u32, (Opd, Opd, Opd, Scalar)>,
    pub divides: HashMap<Divide, u32>,
}

impl<'m> Lower<'m> {
    pub fn new(module: &'m Module, launch: &'m LaunchConfig) -> Lower<'m> {
        let mut out = Program::default();
        out.regions.push(Region::default());
        out.spans.push(None);
        Lower {
            module,
            launch,
            facts: AllFacts::default(),
            out,
            code: vec![],
            registers: vec![],
            region: 0,
            site: 0,
            frames: vec![],
            exits: vec![],
            objects_by_var: HashMap::new(),
            labels: 0,
            branches: 0,
            loops: vec![],
            known: HashMap::new(),
            scopes: vec![vec![]],
            spans: HashMap::from([(None, 0)]),
            emitted: 0,
            ways: false,
            in_library: false,
            speculates: false,
            counters: HashMap::new(),
            divides: HashMap::new(),
        }
    }

    pub fn unsupported<T>(&self, message: impl Into<String>) -> Result<T> {
        let span = self.out.spans.get(self.site as usize).copied().flatten();
        Err(EmuError::Unsupported { message: message.into(), span })
    }

    /// Makes `span` the place that the following instructions belong to.
    pub fn at(&mut self, span: Option<Span>) {
        if span.is_none() || self.in_library {
            return;
        }
        let next = self.out.spans.len() as u32;
        let site = *self.spans.entry(span).or_insert(next);
        if site == next {
            self.out.spans.push(span);
        }
        self.site = site;
    }

    pub fn name(&mut self, name: impl Into<String>) -> u32 {
        self.out.names.push(name.into());
        self.out.names.len() as u32 - 1
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        self.labels - 1
    }

    pub fn frame(&self) -> &Frame<'m> {
        self.frames.last().expect("a function is being lowered")
    }

    pub fn frame_mut(&mut self) -> &mut Frame<'m> {
        self.frames.last_mut().expect("a function is being lowered")
    }

    /// A register that belongs to the current region.
    pub fn register(&mut self, ty: Scalar) -> Opd {
        let (region, depth) = (self.region, self.loops.len() as u32);
        self.registers.push(RegisterInfo { ty, region, version: 0, depth, unset: false });
        Opd::R(self.registers.len() as u32 - 1)
    }

    pub fn emit(&mut self, op: Op) -> Result<()> {
        self.emitted += 1;
        if self.emitted > MAX_CODE {
            return self.unsupported("the kernel is too large when its functions are inlined");
        }
        let ins = Ins { op, site: self.site, region: self.region };
        self.code.push(ins);
        Ok(())
    }

    /// Assigns a variable's register.
    pub fn assign(&mut self, ty: Scalar, dst: Opd, a: Opd) -> Result<()> {
        self.changed(dst);
        if dst == a {
            return Ok(());
        }
        self.emit(Op::Mov { ty, dst, a })
    }

    /// The register has a new value from here on.
    pub fn changed(&mut self, dst: Opd) {
        if let Opd::R(r) = dst {
            self.registers[r as usize].version += 1;
        }
    }

    // Regions and loops.

    /// Opens a region whose threads agree when `conditions` are uniform.
    pub fn enter(&mut self, conditions: Vec<Opd>, branch: u32) -> RegionId {
        self.out.regions.push(Region { parent: self.region, conditions, escapes: vec![], branch });
        self.region = self.out.regions.len() as u32 - 1;
        self.scopes.push(vec![]);
        self.region
    }

    pub fn leave(&mut self) {
        self.region = self.out.regions[self.region as usize].parent;
        for key in self.scopes.pop().unwrap_or_default() {
            self.known.remove(&key);
        }
    }

    /// Control goes from here to the end of `target`, past the rest of all regions between.
    pub fn escape(&mut self, target: RegionId) {
        let from = self.region;
        let mut at = from;
        loop {
            self.out.regions[at as usize].escapes.push(from);
            if at == target || at == 0 {
                break;
            }
            at = self.out.regions[at as usize].parent;
        }
    }

    /// Opens a loop: a region, and a place before it for what does not change in it.
    pub fn enter_loop(&mut self, assigned: Vec<u32>) -> RegionId {
        let before = std::mem::take(&mut self.code);
        let outer_scope = self.scopes.len() - 1;
        let outer = self.region;
        let region = self.enter(vec![], 0);
        let depth = self.loops.len() as u32 + 1;
        for &r in &assigned {
            let info = &mut self.registers[r as usize];
            info.version += 1;
            info.depth = depth;
        }
        self.loops.push(LoopState {
            preheader: vec![],
            before,
            outer_scope,
            region: outer,
            assigned,
        });
        region
    }

    pub fn leave_loop(&mut self) {
        let Some(state) = self.loops.pop() else { return };
        self.leave();
        let depth = self.loops.len() as u32;
        for r in state.assigned {
            let info = &mut self.registers[r as usize];
            info.version += 1;
            info.depth = depth;
        }
        let body = std::mem::replace(&mut self.code, state.before);
        self.code.extend(state.preheader);
        self.code.extend(body);
    }

    // Pure values.

    fn version(&self, o: Opd) -> (Opd, u32) {
        match o {
            Opd::R(r) => (o, self.registers[r as usize].version),
            _ => (o, 0),
        }
    }

    fn depth(&self, o: Opd) -> u32 {
        match o {
            Opd::R(r) => self.registers[r as usize].depth,
            _ => 0,
        }
    }

    /// The register that holds a pure value, computed now unless it is known already.
    fn pure(
        &mut self,
        op: KeyOp,
        ty: Scalar,
        operands: [Opd; 3],
        make: impl FnOnce(Opd) -> Op,
    ) -> Result<Opd> {
        let unset = |o: &Opd| matches!(o, Opd::R(r) if self.registers[*r as usize].unset);
        let stays = may_have_no_result(&op, operands[1]) || operands.iter().any(unset);
        let key = Key { op, operands: operands.map(|o| self.version(o)) };
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let depth = operands.iter().map(|&o| self.depth(o)).max().unwrap_or(0);
        let here = self.loops.len() as u32;
        if depth >= here || stays {
            let dst = self.register(ty);
            self.emit(make(dst))?;
            self.remember(self.scopes.len() - 1, key, dst);
            return Ok(dst);
        }
        let state = &mut self.loops[depth as usize];
        let (region, scope) = (state.region, state.outer_scope);
        self.registers.push(RegisterInfo { ty, region, version: 0, depth, unset: false });
        let dst = Opd::R(self.registers.len() as u32 - 1);
        self.emitted += 1;
        state.preheader.push(Ins { op: make(dst), site: self.site, region });
        self.remember(scope, key, dst);
        Ok(dst)
    }

    fn remember(&mut self, scope: usize, key: Key, dst: Opd) {
        self.scopes[scope].push(key.clone());
        self.known.insert(key, dst);
    }

    pub fn bin(&mut self, op: BinaryOp, ty: Scalar, a: Opd, b: Opd) -> Result<Opd> {
        self.bin_counted(op, ty, a, b, ty)
    }

    /// As [`Lower::bin`]; the right operand of a shift has its own type.
    pub fn bin_counted(
        &mut self,
        op: BinaryOp,
        ty: Scalar,
        a: Opd,
        b: Opd,
        count_ty: Scalar,
    ) -> Result<Opd> {
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr)
            && ty.bytes().max(4) != count_ty.bytes().max(4)
        {
            // Counts beyond the width are all alike.
            let (b, count_ty) = if ty.bytes() == 8 {
                (self.cast(count_ty, Scalar::I64, b)?, Scalar::I64)
            } else {
                let limit = [b, Opd::K(64), Opd::K(0)];
                let small = self.math(MathFn::Min, Scalar::U64, Scalar::U64, limit)?;
                (self.cast(Scalar::U64, Scalar::U32, small)?, Scalar::U32)
            };
            return self.bin_counted(op, ty, a, b, count_ty);
        }
        if let (Scalar::U32 | Scalar::U64, Opd::K(k)) = (ty, b)
            && k.is_power_of_two()
            && !matches!(a, Opd::K(_))
        {
            let log = Opd::K(k.trailing_zeros().into());
            match op {
                BinaryOp::Div => return self.bin_counted(BinaryOp::Shr, ty, a, log, ty),
                BinaryOp::Rem => return self.bin(BinaryOp::BitAnd, ty, a, Opd::K(k - 1)),
                _ => {}
            }
        }
        let result = if op.is_comparison() { Scalar::Bool } else { ty };
        let key = KeyOp::Bin(op, ty, count_ty);
        // What has no result stays, so that it is found when it is reached.
        if let (Opd::K(x), Opd::K(y)) = (a, b)
            && !may_have_no_result(&key, b)
            && !super::overflow::of_constants(op, ty, x, y)
        {
            let v = eval::binary(op, from_register(ty, x), from_register(count_ty, y));
            return Ok(Opd::K(to_register(v)));
        }
        if let Some(same) = neutral(op, ty, a, b) {
            return Ok(same);
        }
        let (a, b) = if commutes(op) && matches!(a, Opd::K(_)) { (b, a) } else { (a, b) };
        let before = self.emitted;
        let made = self.pure(key, result, [a, b, Opd::K(0)], |dst| Op::Bin {
            op,
            ty,
            dst,
            a,
            b,
            count_ty,
        })?;
        let may_overflow = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        if let (Opd::R(result), Scalar::I32, true) = (made, ty, may_overflow)
            && self.emitted > before
            && !self.in_library
            && !self.speculates
        {
            self.emit(Op::Overflow { op, a, b, result })?;
        }
        Ok(made)
    }

    pub fn un(&mut self, op: UnaryOp, ty: Scalar, a: Opd) -> Result<Opd> {
        if let Opd::K(x) = a {
            return Ok(Opd::K(to_register(eval::unary(op, from_register(ty, x)))));
        }
        self.pure(KeyOp::Un(op, ty), ty, [a, Opd::K(0), Opd::K(0)], |dst| Op::Un { op, ty, dst, a })
    }

    pub fn cast(&mut self, from: Scalar, to: Scalar, a: Opd) -> Result<Opd> {
        if from == to || (same_register(from, to) && to != Scalar::Bool) {
            return Ok(a);
        }
        if let Opd::K(x) = a {
            return Ok(Opd::K(to_register(eval::cast(from_register(from, x), to))));
        }
        let key = KeyOp::Cast(from, to);
        self.pure(key, to, [a, Opd::K(0), Opd::K(0)], |dst| Op::Cast { from, to, dst, a })
    }

    pub fn bitcast(&mut self, from: Scalar, to: Scalar, a: Opd) -> Result<Opd> {
        let same = from.bytes() == to.bytes() && from.bytes() >= 4;
        if from == to || same {
            return Ok(a);
        }
        if let Opd::K(x) = a {
            return Ok(Opd::K(to_register(eval::bitcast(from_register(from, x), to))));
        }
        let key = KeyOp::Bitcast(from, to);
        self.pure(key, to, [a, Opd::K(0), Opd::K(0)], |dst| Op::Bitcast { from, to, dst, a })
    }

    pub fn math(&mut self, f: MathFn, ty: Scalar, result: Scalar, args: [Opd; 3]) -> Result<Opd> {
        if let [Opd::K(a), Opd::K(b), Opd::K(c)] = args {
            let second = if f == MathFn::Ldexp { Scalar::I32 } else { ty };
            let n = f.arity().clamp(1, 3);
            let values = [from_register(ty, a), from_register(second, b), from_register(ty, c)];
            return Ok(Opd::K(to_register(eval::math(f, &values[..n]))));
        }
        self.pure(KeyOp::Math(f, ty), result, args, |dst| Op::Math { f, ty, result, dst, args })
    }

    pub fn select(&mut self, ty: Scalar, c: Opd, a: Opd, b: Opd) -> Result<Opd> {
        if let Opd::K(c) = c {
            return Ok(if c != 0 { a } else { b });
        }
        if a == b {
            return Ok(a);
        }
        self.pure(KeyOp::Select(ty), ty, [c, a, b], |dst| Op::Select { ty, dst, c, a, b })
    }

    pub fn mul_add(&mut self, ty: Scalar, a: Opd, b: Opd, c: Opd) -> Result<Opd> {
        self.pure(KeyOp::MulAdd(ty), ty, [a, b, c], |dst| Op::MulAdd { ty, dst, a, b, c })
    }

    pub fn special(&mut self, what: Special, ty: Scalar) -> Result<Opd> {
        if matches!(what, Special::ActiveMask | Special::Clock) {
            let dst = self.register(ty);
            self.emit(Op::Special { what, dst })?;
            return Ok(dst);
        }
        self.pure(KeyOp::Special(what), ty, [Opd::K(0); 3], |dst| Op::Special { what, dst })
    }

    /// The layout leaves of a type as registers hold them; `None` when it is too large for values.
    pub fn leaves(&self, ty: &Type) -> Option<Vec<Leaf>> {
        super::values::leaves(self.module, ty)
    }
}

/// Whether an operation has no result for some operands, which is found where it is reached, and not before a loop in which a condition
/// keeps threads from it.
fn may_have_no_result(op: &KeyOp, right: Opd) -> bool {
    let KeyOp::Bin(op, ty, _) = op else { return false };
    match (op, right) {
        (BinaryOp::Div | BinaryOp::Rem, Opd::K(k)) => !ty.is_float() && k == 0,
        (BinaryOp::Div | BinaryOp::Rem, _) => !ty.is_float(),
        (BinaryOp::Shl | BinaryOp::Shr, Opd::K(k)) => k >= u64::from(ty.bytes().max(4) * 8),
        (BinaryOp::Shl | BinaryOp::Shr, _) => true,
        _ => false,
    }
}

/// `a op b` when one operand changes nothing. Only integers: `x + 0.0` is not `x` for a negative zero.
fn neutral(op: BinaryOp, ty: Scalar, a: Opd, b: Opd) -> Option<Opd> {
    if ty.is_float() || ty == Scalar::Bool {
        return None;
    }
    use BinaryOp::*;
    match (op, a, b) {
        (Add | Sub | Shl | Shr | BitOr | BitXor, x, Opd::K(0)) => Some(x),
        (Add | BitOr | BitXor, Opd::K(0), x) => Some(x),
        (Mul | Div, x, Opd::K(1)) => Some(x),
        (Mul, Opd::K(1), x) => Some(x),
        (Mul, _, Opd::K(0)) | (Mul, Opd::K(0), _) => Some(Opd::K(0)),
        _ => None,
    }
}

fn commutes(op: BinaryOp) -> bool {
    use BinaryOp::*;
    // Not floating sums: with two NaNs the payload is that of the first operand. It is unobservable
    // on the device, where NaNs are canonical, and constants are no NaNs here, so they may move.
    matches!(op, Add | Mul | BitAnd | BitOr | BitXor | Eq | Ne)
}

/// Both types have the same register form for every value: the conversion changes no bits.
fn same_register(from: Scalar, to: Scalar) -> bool {
    use Scalar::*;
    matches!(
        (from, to),
        (I32, U32)
            | (U32, I32)
            | (I64, U64)
            | (U64, I64)
            | (I8 | I16 | U8 | U16 | Bool, I32 | U32)
            | (I8, I16)
            | (U8, U16 | I16)
            | (Bool, I8 | U8 | I16 | U16)
    )
}

/// A typed constant.
pub(super) fn constant(v: Value) -> Opd {
    Opd::K(to_register(v))
}
