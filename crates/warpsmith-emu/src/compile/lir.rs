//! The linear register code that kernels are compiled to.
//!
//! The same instructions are used before and after register assignment: lowering writes virtual
//! registers ([`Opd::R`]), assignment replaces them by lane vectors ([`Opd::V`]) and by scalars that
//! a group of threads shares ([`Opd::S`]).

use super::places::VARIABLE_NUMBERS;
use super::split_pointer;
use warpsmith_ir::{
    AtomicOp, Axis, BarrierKind, BinaryOp, MathFn, Scalar, Scope, Space, Span, Turn, Type, UnaryOp,
    Value, WarpOp,
};

pub type Label = u32;
pub type RegionId = u32;

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opd {
    /// A virtual register; only before assignment.
    R(u32),
    /// A constant in register form, see [`to_register`].
    K(u64),
    /// A lane vector: its offset in the register file, in 32-bit words of one lane.
    V(u32),
    /// A scalar of the group.
    S(u32),
}

/// Values that the machine provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    ThreadIdx(Axis),
    BlockIdx(Axis),
    FlatThread,
    Lane,
    ActiveMask,
    Clock,
    /// The block's rank in its cluster, as what pointers to its shared memory add.
    ClusterOffset,
}

/// One instruction. `ty` is the type of the operands, except where said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Bin {
        op: BinaryOp,
        ty: Scalar,
        dst: Opd,
        a: Opd,
        b: Opd,
        count_ty: Scalar,
    },
    /// Behind a sum, difference or product of `int`: reported where it is none. `result` is the register it went to.
    Overflow {
        op: BinaryOp,
        a: Opd,
        b: Opd,
        result: u32,
    },
    /// `a * b + c` with two roundings, for `F32` and `F64`, and on integers.
    MulAdd {
        ty: Scalar,
        dst: Opd,
        a: Opd,
        b: Opd,
        c: Opd,
    },
    Un {
        op: UnaryOp,
        ty: Scalar,
        dst: Opd,
        a: Opd,
    },
    Cast {
        from: Scalar,
        to: Scalar,
        dst: Opd,
        a: Opd,
    },
    Bitcast {
        from: Scalar,
        to: Scalar,
        dst: Opd,
        a: Opd,
    },
    Math {
        f: MathFn,
        ty: Scalar,
        result: Scalar,
        dst: Opd,
        args: [Opd; 3],
    },
    Mov {
        ty: Scalar,
        dst: Opd,
        a: Opd,
    },
    Select {
        ty: Scalar,
        dst: Opd,
        c: Opd,
        a: Opd,
        b: Opd,
    },
    Special {
        what: Special,
        dst: Opd,
    },
    /// The variable comes into being without a value. `name` indexes [`Program::names`].
    Undef {
        ty: Scalar,
        dst: Opd,
        name: u32,
    },
    /// The local object comes into being without a value.
    UndefLocal {
        object: u32,
    },
    /// The scope of the local object ends: what is read of it afterwards is read too late.
    EndLocal {
        object: u32,
    },
    Load {
        access: u32,
    },
    Store {
        access: u32,
    },
    Atomic {
        op: AtomicOp,
        access: u32,
        value: Opd,
        compare: Opd,
        result: Option<Opd>,
        scope: Scope,
    },
    Warp {
        op: WarpOp,
        ty: Scalar,
        mask: Opd,
        args: [Opd; 3],
        result: Option<Opd>,
    },
    Barrier {
        kind: BarrierKind,
        operand: Opd,
        result: Option<Opd>,
    },
    Fence(Scope),
    AsyncCopy {
        destination: u32,
        source: u32,
        bytes: Opd,
        zero_fill: Opd,
    },
    AsyncCommit,
    AsyncWait(u32),
    /// Memory of the heap: a pointer for each thread.
    HeapAllocate {
        bytes: Opd,
        result: Opd,
    },
    HeapFree {
        pointer: Opd,
    },
    Printf {
        format: u32,
        args: Vec<(Opd, Scalar)>,
    },
    Assert {
        cond: Opd,
        text: u32,
    },
    Assume {
        cond: Opd,
        text: u32,
    },
    Trap,
    /// Takes down whether the condition holds, for the place named by the index into [`Program::divides`].
    Decide {
        cond: Opd,
        divide: u32,
    },
    Label(Label),
    Jump(Label),
    /// Backward jump of the loop named by the index into [`Program::loops`].
    LoopBack {
        label: Label,
        loop_id: u32,
    },
    /// Threads for which the condition is false go to the label.
    BranchFalse {
        cond: Opd,
        label: Label,
    },
    BranchTrue {
        cond: Opd,
        label: Label,
    },
    /// The thread ends; `explicit`: by a return statement of the kernel.
    Exit {
        explicit: bool,
    },
}

/// An operand's part in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Use,
    Def,
}

/// A place in memory that an instruction reads or writes: `base + Σ index·scale + disp`.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub base: Opd,
    pub terms: Vec<Term>,
    pub disp: i64,
    pub elem: Scalar,
    /// Number of elements moved at once: 1, or those of a vector.
    pub count: u8,
    /// Destinations of a load, sources of a store.
    pub values: Vec<Opd>,
    pub space: Space,
    pub volatile: bool,
    /// A volatile load whose value decides a branch.
    pub polling: bool,
    /// A store of a value, whose poison is a finding unless it goes to local memory.
    pub is_store: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    pub index: Opd,
    pub ty: Scalar,
    pub scale: i64,
}

/// An instruction with its place in the source and its region.
#[derive(Clone, Debug, PartialEq)]
pub struct Ins {
    pub op: Op,
    pub site: u32,
    pub region: RegionId,
}

/// A part of the structured program that some threads may skip or leave early.
#[derive(Clone, Debug, Default)]
pub struct Region {
    pub parent: RegionId,
    /// Threads disagree about entering or staying when one of these is varying.
    pub conditions: Vec<Opd>,
    /// Regions from which control leaves this one early.
    pub escapes: Vec<RegionId>,
    /// Arms of one `if` share the number; 0: no arm.
    pub branch: u32,
}

/// An allocation as the kernel's pointers see it.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: String,
    pub home: Home,
    pub element_bytes: u64,
    /// For findings, outermost first.
    pub extents: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    Invalid,
    /// Index into the buffers of the device memory.
    Buffer(u32),
    /// Index into the module variables of the device memory.
    Variable {
        index: u32,
        constant: bool,
    },
    /// Bytes of the block's shared memory.
    Shared {
        base: u32,
        size: u32,
    },
    /// Bytes of the shared memory of a block of the cluster, where others reach it.
    Cluster {
        rank: u32,
        base: u32,
        size: u32,
    },
    /// Bytes of each thread's local memory.
    Local {
        base: u32,
        size: u32,
    },
}

/// A place where control divides, see [`Op::Decide`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Divide {
    pub span: Span,
    /// Of the outcomes only that the condition holds is looked at, and is this way.
    pub only: Option<Turn>,
}

/// A kernel made ready for one launch.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub code: Vec<Op>,
    pub sites: Vec<u32>,
    /// The destination is visible beyond straight-line code: inactive lanes keep their value.
    pub masked: Vec<bool>,
    pub regions_of: Vec<RegionId>,
    pub accesses: Vec<Access>,
    pub regions: Vec<Region>,
    pub objects: Vec<Object>,
    pub spans: Vec<Option<Span>>,
    pub names: Vec<String>,
    /// Places where control divides: the span, and whether it is about one more stride.
    pub divides: Vec<Divide>,
    /// Span of each loop.
    pub loops: Vec<u32>,
    /// The loop holds atomics or volatile reads: it may wait for others.
    pub loop_polls: Vec<bool>,
    /// Program counter of each label.
    pub labels: Vec<u32>,
    /// For each program counter of a label: index into `live`.
    pub live_at: Vec<u32>,
    /// Scalars live at labels and synchronisation points.
    pub live: Vec<Vec<u32>>,
    /// 32-bit words a lane needs for registers.
    pub register_words: u32,
    pub scalars: u32,
    pub shared_bytes: u32,
    pub local_bytes: u32,
    /// Code before assignment, for questions about where a value comes from.
    pub virtual_code: Vec<Ins>,
    pub virtual_accesses: Vec<Access>,
    pub has_fences: bool,
    pub has_async: bool,
    /// Blocks of a cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Blocks of a cluster reach each other's shared memory: its homes are [`Home::Cluster`], those of one array in a row.
    pub reaches_clusters: bool,
    /// The object that is the heap of the device.
    pub heap: Option<u64>,
    /// The object that is the first variable of the module; the others follow it.
    pub first_variable: u64,
}

impl Program {
    /// The object that a pointer leads to, and its byte offset there.
    #[inline]
    pub fn locate(&self, pointer: u64) -> (u64, i64) {
        let (number, offset) = split_pointer(pointer);
        match number.checked_sub(VARIABLE_NUMBERS) {
            Some(variable) => (self.first_variable + variable, offset),
            None => (number, offset),
        }
    }
}

/// Register form: narrow integers are extended to 32 bits by their sign, the rest by zeros.
pub fn to_register(v: Value) -> u64 {
    match v.ty {
        Scalar::I8 => v.bits as i8 as i32 as u32 as u64,
        Scalar::I16 => v.bits as i16 as i32 as u32 as u64,
        Scalar::Bool => u64::from(v.bits & 0xff != 0),
        _ if v.ty.bytes() == 8 => v.bits,
        _ => v.bits & (u64::MAX >> (64 - 8 * v.ty.bytes())),
    }
}

/// The constant that a register of the type holds.
#[inline]
pub fn from_register(ty: Scalar, bits: u64) -> Value {
    let bits = match ty.bytes() {
        8 => bits,
        n => bits & (u64::MAX >> (64 - 8 * n)),
    };
    Value { ty, bits }
}

/// Words of a lane that a register of the type takes.
pub fn words(ty: Scalar) -> u32 {
    ty.bytes().div_ceil(4)
}

/// Scalars of a type in the order they lie in memory: `(byte offset, scalar)`.
pub struct Leaf {
    pub offset: u64,
    pub ty: Scalar,
}

/// The scalar that holds a pointer or a scalar type.
pub fn register_type(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(s) => Some(*s),
        Type::Pointer { .. } => Some(Scalar::U64),
        _ => None,
    }
}

impl Op {
    /// Calls `f` with every operand, those of memory accesses included.
    pub fn operands(&mut self, accesses: &mut [Access], f: &mut dyn FnMut(&mut Opd, Role)) {
        use Role::{Def, Use};
        match self {
            Op::Bin { dst, a, b, .. } => {
                f(a, Use);
                f(b, Use);
                f(dst, Def);
            }
            Op::MulAdd { dst, a, b, c, .. } | Op::Select { dst, c: a, a: b, b: c, .. } => {
                f(a, Use);
                f(b, Use);
                f(c, Use);
                f(dst, Def);
            }
            Op::Un { dst, a, .. }
            | Op::Cast { dst, a, .. }
            | Op::Bitcast { dst, a, .. }
            | Op::Mov { dst, a, .. } => {
                f(a, Use);
                f(dst, Def);
            }
            Op::Math { dst, args, .. } => {
                args.iter_mut().for_each(|a| f(a, Use));
                f(dst, Def);
            }
            Op::Special { dst, .. } | Op::Undef { dst, .. } => f(dst, Def),
            Op::Load { access } => access_operands(&mut accesses[*access as usize], Def, f),
            Op::Store { access } => access_operands(&mut accesses[*access as usize], Use, f),
            Op::Atomic { access, value, compare, result, .. } => {
                access_operands(&mut accesses[*access as usize], Use, f);
                f(value, Use);
                f(compare, Use);
                result.iter_mut().for_each(|r| f(r, Def));
            }
            Op::Warp { mask, args, result, .. } => {
                f(mask, Use);
                args.iter_mut().for_each(|a| f(a, Use));
                result.iter_mut().for_each(|r| f(r, Def));
            }
            Op::Barrier { operand, result, .. } => {
                f(operand, Use);
                result.iter_mut().for_each(|r| f(r, Def));
            }
            Op::AsyncCopy { destination, source, bytes, zero_fill } => {
                access_operands(&mut accesses[*destination as usize], Use, f);
                access_operands(&mut accesses[*source as usize], Use, f);
                f(bytes, Use);
                f(zero_fill, Use);
            }
            Op::HeapAllocate { bytes, result } => {
                f(bytes, Use);
                f(result, Def);
            }
            Op::HeapFree { pointer } => f(pointer, Use),
            Op::Overflow { a, b, .. } => {
                f(a, Use);
                f(b, Use);
            }
            Op::Printf { args, .. } => args.iter_mut().for_each(|(a, _)| f(a, Use)),
            Op::Assert { cond, .. }
            | Op::Assume { cond, .. }
            | Op::Decide { cond, .. }
            | Op::BranchFalse { cond, .. }
            | Op::BranchTrue { cond, .. } => f(cond, Use),
            Op::UndefLocal { .. }
            | Op::EndLocal { .. }
            | Op::Fence(_)
            | Op::AsyncCommit
            | Op::AsyncWait(_)
            | Op::Trap
            | Op::Label(_)
            | Op::Jump(_)
            | Op::LoopBack { .. }
            | Op::Exit { .. } => {}
        }
    }

    /// Computes a value from its operands and nothing else.
    pub fn is_pure(&self) -> bool {
        matches!(
            self,
            Op::Bin { .. }
                | Op::MulAdd { .. }
                | Op::Un { .. }
                | Op::Cast { .. }
                | Op::Bitcast { .. }
                | Op::Math { .. }
                | Op::Mov { .. }
                | Op::Select { .. }
        )
    }

    /// Straight-line code ends here: other threads may run before the next instruction.
    pub fn ends_segment(&self) -> bool {
        matches!(
            self,
            Op::Label(_)
                | Op::Jump(_)
                | Op::LoopBack { .. }
                | Op::BranchFalse { .. }
                | Op::BranchTrue { .. }
                | Op::Warp { .. }
                | Op::Barrier { .. }
                | Op::Exit { .. }
                | Op::Assert { .. }
                | Op::Trap
        )
    }
}

fn access_operands(access: &mut Access, values: Role, f: &mut dyn FnMut(&mut Opd, Role)) {
    f(&mut access.base, Role::Use);
    access.terms.iter_mut().for_each(|t| f(&mut t.index, Role::Use));
    access.values.iter_mut().for_each(|v| f(v, values));
}
