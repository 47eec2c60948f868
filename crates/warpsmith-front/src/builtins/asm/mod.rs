//! Inline PTX: the instructions that people write by hand because C++ has no name for them.
//!
//! The template is cut into instructions ([`text`]), whose registers stand for values: operands of the statement,
//! registers declared in it, and special registers. Arithmetic is in [`arith`], memory in [`memory`], barriers, votes
//! and fences in [`sync`], barriers in memory in [`mbarrier`], matrices in [`matrix`]. Outputs are assigned after the last instruction. Source: PTX ISA 8.5.

mod arith;
mod carry;
mod matrix;
mod mbarrier;
mod memory;
mod sync;
mod text;

use std::collections::HashMap;

use warpsmith_ir::{
    Axis, BinaryOp, Block, Builtin, Diagnostic, Expr, ExprKind, Place, Scalar, Span, Stmt,
    StmtKind, Type,
};

use crate::sema::builtin_api::BuiltinContext;
use crate::sema::refused;
use text::Instruction;

/// An operand of the statement.
pub struct Operand {
    /// The value it has before; none for an output that is only written.
    pub value: Option<Expr>,
    /// Where an output goes.
    pub place: Option<Place>,
}

/// Lowers the statement. `carry` is what the one before left in the carry flag; the result is what this one leaves.
///
/// # Errors
/// W109 for PTX outside the supported forms.
pub fn lower(
    template: &str,
    operands: Vec<Operand>,
    carry: Option<Expr>,
    span: Span,
    cx: &mut dyn BuiltinContext,
) -> Result<Option<Expr>, Diagnostic> {
    let mut values = HashMap::new();
    values.extend(carry.map(|value| (carry::CARRY.to_string(), value)));
    for (i, operand) in operands.iter().enumerate() {
        if let Some(value) = &operand.value {
            values.insert(format!("%{i}"), value.clone());
        }
    }
    let mut m = Machine { cx, span, values, guard: None, whole: String::new() };
    for instruction in mbarrier::with_waits(text::instructions(template)) {
        m.run(&instruction)?;
    }
    for (i, operand) in operands.into_iter().enumerate() {
        let (Some(place), Some(value)) = (operand.place, m.values.remove(&format!("%{i}"))) else {
            continue;
        };
        let value = m.as_type(value, &place.ty);
        m.cx.emit(StmtKind::Assign { place, value }, span);
    }
    Ok(m.values.remove(carry::CARRY))
}

/// Executes instructions by emitting what they mean.
struct Machine<'c> {
    cx: &'c mut dyn BuiltinContext,
    span: Span,
    /// Registers by name; operands as `%0`.
    values: HashMap<String, Expr>,
    /// The predicate of the instruction under way.
    guard: Option<Expr>,
    /// Its text, for messages.
    whole: String,
}

impl Machine<'_> {
    fn run(&mut self, i: &Instruction) -> Result<(), Diagnostic> {
        self.whole.clone_from(&i.whole);
        self.guard = match &i.guard {
            None => None,
            Some((name, negated)) => {
                let p = self.read(name)?;
                let p = self.truth(p);
                Some(if *negated { Expr::binary(BinaryOp::Eq, p, bool_value(false)) } else { p })
            }
        };
        let done = i.words[0].starts_with('.')
            || i.as_label().is_some()
            || mbarrier::run(self, i)?
            || matrix::run(self, i)?
            || memory::run(self, i)?
            || sync::run(self, i)?
            || carry::run(self, i)?
            || arith::run(self, i)?;
        if done { Ok(()) } else { Err(self.unsupported()) }
    }

    fn unsupported(&self) -> Diagnostic {
        let matrix = ["mma", "wmma", "wgmma", "ldmatrix", "stmatrix", "tcgen05"];
        let refusal = if matrix.iter().any(|n| self.whole.starts_with(n)) {
            refused::PTX_OF_MATRICES
        } else if self.whole.contains("tensor") {
            refused::PTX_OF_TENSOR_MAPS
        } else {
            refused::PTX
        };
        refusal.of(&self.whole, self.span, "inline assembly")
    }

    /// Emits under the instruction's predicate.
    fn put(&mut self, kind: StmtKind) {
        let kind = match &self.guard {
            None => kind,
            Some(cond) => StmtKind::If {
                cond: cond.clone(),
                then: Block::new(vec![Stmt::new(kind, self.span)]),
                otherwise: Block::default(),
            },
        };
        self.cx.emit(kind, self.span);
    }

    /// A fresh variable, and what puts its value there.
    fn result(&mut self, ty: Type, kind: impl FnOnce(warpsmith_ir::VarId) -> StmtKind) -> Expr {
        let var = self.cx.temp(ty.clone(), self.span);
        self.put(kind(var));
        Expr::var(var, ty).with_origin(self.span)
    }

    /// Calls what stands in for an instruction, whatever the predicate says.
    fn call(&mut self, name: &str, args: Vec<Expr>) -> Result<Option<Expr>, Diagnostic> {
        match self.cx.call_library(name, args, self.span) {
            Some(result) => result,
            None => Err(self.unsupported()),
        }
    }

    /// The predicate as a value.
    fn predicate(&mut self) -> Expr {
        self.guard.take().unwrap_or_else(|| bool_value(true))
    }

    /// A register, a number or a special register.
    fn read(&mut self, name: &str) -> Result<Expr, Diagnostic> {
        if let Some(value) = self.values.get(name) {
            return Ok(value.clone());
        }
        if let Some(value) = number(name) {
            return Ok(value);
        }
        match special(name) {
            Some(value) => Ok(self.cx.hold(value, self.span)),
            None => Err(self.unsupported()),
        }
    }

    /// Writes a register; under a predicate it keeps what it had otherwise.
    fn write(&mut self, name: &str, value: Expr) {
        if name == "_" {
            return;
        }
        let value = match (&self.guard, self.values.get(name)) {
            (Some(p), Some(old)) => {
                let (p, old, ty) = (p.clone(), old.clone(), value.ty.clone());
                let old = self.as_type(old, &ty);
                Expr::new(ExprKind::Select(p, value, old), ty, self.span)
            }
            _ => value,
        };
        // An address keeps the pointer it was made of.
        let is_address = crate::builtins::memory::underlying_pointer(&value).is_some();
        let value = if is_address { value } else { self.cx.hold(value, self.span) };
        self.values.insert(name.to_string(), value);
    }

    /// An operand's bits as a scalar type.
    fn operand(&mut self, name: &str, ty: Scalar) -> Result<Expr, Diagnostic> {
        let value = self.read(name)?;
        Ok(self.as_type(value, &Type::Scalar(ty)))
    }

    /// The value of an operand that is constant.
    fn constant(&mut self, name: &str) -> Result<i64, Diagnostic> {
        let value = self.read(name)?;
        self.cx.fold(&value).map(|v| v.as_i64()).ok_or_else(|| self.unsupported())
    }

    /// Registers are bits: the same bits as another type, cut or extended to its size.
    fn as_type(&mut self, value: Expr, ty: &Type) -> Expr {
        if value.ty == *ty {
            return value;
        }
        let (from, to) = (value.ty.scalar(), ty.scalar());
        let bits = |s: Scalar| match s.bytes() {
            1 => Scalar::U8,
            2 => Scalar::U16,
            4 => Scalar::U32,
            _ => Scalar::U64,
        };
        let cast = |e: Expr, ty: Type| Expr::new(ExprKind::Cast(e), ty, self.span);
        let bitcast = |e: Expr, ty: Type| Expr::new(ExprKind::Bitcast(e), ty, self.span);
        match (from, to) {
            (Some(f), Some(t)) if f.is_float() && t.is_float() => cast(value, ty.clone()),
            (Some(f), Some(t)) if f.is_float() => {
                cast(bitcast(value, Type::Scalar(bits(f))), Type::Scalar(t))
            }
            (Some(_), Some(t)) if t.is_float() => {
                bitcast(cast(value, Type::Scalar(bits(t))), ty.clone())
            }
            (None, _) if matches!(value.ty, Type::Vector(..)) => {
                let word = match value.ty.vector_bytes() {
                    Some(4) => Type::U32,
                    Some(2) => Type::Scalar(Scalar::U16),
                    _ => Type::U64,
                };
                let word = bitcast(value, word);
                self.as_type(word, ty)
            }
            (Some(_), None) if matches!(ty, Type::Vector(..)) => {
                let word = match ty.vector_bytes() {
                    Some(4) => Type::U32,
                    Some(2) => Type::Scalar(Scalar::U16),
                    _ => Type::U64,
                };
                let word = self.as_type(value, &word);
                Expr::new(ExprKind::Bitcast(word), ty.clone(), self.span)
            }
            (None, Some(_)) => {
                let number = cast(value, Type::U64);
                if *ty == Type::U64 { number } else { cast(number, ty.clone()) }
            }
            _ => cast(value, ty.clone()),
        }
    }

    fn truth(&mut self, value: Expr) -> Expr {
        if value.ty == Type::BOOL {
            return value;
        }
        let zero = match value.ty.scalar() {
            Some(s) => Expr::int(s, 0),
            None => Expr::i32(0),
        };
        Expr::binary(BinaryOp::Ne, value, zero).with_origin(self.span)
    }
}

/// Bytes of a vector of numbers that fit one register.
trait VectorBytes {
    fn vector_bytes(&self) -> Option<u32>;
}

impl VectorBytes for Type {
    fn vector_bytes(&self) -> Option<u32> {
        match self {
            Type::Vector(s, n) => Some(s.bytes() * u32::from(*n)),
            _ => None,
        }
    }
}

fn bool_value(v: bool) -> Expr {
    Expr::constant(warpsmith_ir::Value::bool(v))
}

/// `12`, `-3`, `0x1f`, `1.5`, `0f3F800000`, `0d…`.
fn number(text: &str) -> Option<Expr> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let hex = |p: [&str; 2]| digits.strip_prefix(p[0]).or(digits.strip_prefix(p[1]));
    if let Some(bits) = hex(["0f", "0F"]).filter(|b| b.len() == 8) {
        let value = f32::from_bits(u32::from_str_radix(bits, 16).ok()?);
        return Some(real(Scalar::F32, negative, value.into()));
    }
    if let Some(bits) = hex(["0d", "0D"]).filter(|b| b.len() == 16) {
        let value = f64::from_bits(u64::from_str_radix(bits, 16).ok()?);
        return Some(real(Scalar::F64, negative, value));
    }
    if digits.contains('.') {
        return Some(real(Scalar::F64, negative, digits.parse().ok()?));
    }
    let digits = digits.trim_end_matches(['U', 'u']);
    let value = match hex(["0x", "0X"]) {
        Some(rest) => u64::from_str_radix(rest.trim_end_matches(['U', 'u']), 16).ok()?,
        None => digits.parse().ok()?,
    } as i64;
    let value = if negative { value.wrapping_neg() } else { value };
    let ty = if i32::try_from(value).is_ok() { Scalar::I32 } else { Scalar::I64 };
    Some(Expr::int(ty, value))
}

fn real(ty: Scalar, negative: bool, value: f64) -> Expr {
    Expr::constant(warpsmith_ir::Value::float(ty, if negative { -value } else { value }))
}

/// Of the device that is spoken of where a kernel asks.
const MULTIPROCESSORS: u32 = 132;

/// `%laneid`, `%tid.x` and their kin.
fn special(name: &str) -> Option<Expr> {
    let u32_const = |v: u32| Expr::int(Scalar::U32, v.into());
    let lane = || Expr::builtin(Builtin::LaneId);
    let bit = || Expr::binary(BinaryOp::Shl, u32_const(1), lane());
    let below = || Expr::binary(BinaryOp::Sub, bit(), u32_const(1));
    let not = |e: Expr| Expr::binary(BinaryOp::BitXor, e, u32_const(u32::MAX));
    let up_to = || Expr::binary(BinaryOp::BitOr, below(), bit());
    Some(match name {
        "%laneid" => lane(),
        "%warpid" => {
            let row = |of: Expr, by: Expr, size: Builtin| {
                let scaled = Expr::binary(BinaryOp::Mul, Expr::builtin(size), by);
                Expr::binary(BinaryOp::Add, of, scaled)
            };
            let t = |a| Expr::builtin(Builtin::ThreadIdx(a));
            let plane = row(t(Axis::Y), t(Axis::Z), Builtin::BlockDim(Axis::Y));
            let flat = row(t(Axis::X), plane, Builtin::BlockDim(Axis::X));
            Expr::binary(BinaryOp::Div, flat, u32_const(32))
        }
        "%lanemask_eq" => bit(),
        "%lanemask_lt" => below(),
        "%lanemask_le" => up_to(),
        "%lanemask_gt" => not(up_to()),
        "%lanemask_ge" => not(below()),
        "%clock" | "%clock_lo" => Expr::builtin(Builtin::Clock),
        "%clock64" | "%globaltimer" => Expr::builtin(Builtin::Clock64),
        "%dynamic_smem_size" => Expr::builtin(Builtin::DynamicSharedBytes),
        // Which multiprocessor runs a block is nobody's choice; blocks go round those of a large device.
        "%smid" => {
            let block = Expr::builtin(Builtin::BlockIdx(Axis::X));
            Expr::binary(BinaryOp::Rem, block, u32_const(MULTIPROCESSORS))
        }
        "%nsmid" => u32_const(MULTIPROCESSORS),
        "WARP_SZ" => u32_const(32),
        _ => {
            let (base, axis) = name.split_once('.')?;
            let axis = match axis {
                "x" => Axis::X,
                "y" => Axis::Y,
                "z" => Axis::Z,
                _ => return None,
            };
            let parts = |op, whole: fn(Axis) -> Builtin| {
                Expr::binary(
                    op,
                    Expr::builtin(whole(axis)),
                    Expr::builtin(Builtin::ClusterDim(axis)),
                )
            };
            match base {
                "%cluster_ctaid" => return Some(parts(BinaryOp::Rem, Builtin::BlockIdx)),
                "%clusterid" => return Some(parts(BinaryOp::Div, Builtin::BlockIdx)),
                "%nclusterid" => return Some(parts(BinaryOp::Div, Builtin::GridDim)),
                _ => {}
            }
            Expr::builtin(match base {
                "%tid" => Builtin::ThreadIdx(axis),
                "%ntid" => Builtin::BlockDim(axis),
                "%ctaid" => Builtin::BlockIdx(axis),
                "%nctaid" => Builtin::GridDim(axis),
                "%cluster_nctaid" => Builtin::ClusterDim(axis),
                _ => return None,
            })
        }
    })
}

/// The scalar that a type suffix names; untyped bits are unsigned.
fn scalar(suffix: &str) -> Option<Scalar> {
    Some(match suffix {
        "u8" | "b8" => Scalar::U8,
        "s8" => Scalar::I8,
        "u16" | "b16" => Scalar::U16,
        "s16" => Scalar::I16,
        "u32" | "b32" => Scalar::U32,
        "s32" => Scalar::I32,
        "u64" | "b64" => Scalar::U64,
        "s64" => Scalar::I64,
        "f16" => Scalar::F16,
        "bf16" => Scalar::BF16,
        "f32" => Scalar::F32,
        "f64" => Scalar::F64,
        "pred" => Scalar::Bool,
        _ => return None,
    })
}
