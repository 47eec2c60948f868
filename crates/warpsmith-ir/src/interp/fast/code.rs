//! What a loop of the host is translated to.

use super::strips::Head;
use crate::expr::{BinaryOp, Expr, MathFn, UnaryOp};
use crate::module::{FuncId, Function, VarId};
use crate::stmt::Stmt;
use crate::types::Scalar;

/// A register: the bits of a [`crate::Value`], or of a pointer as it lies in memory.
pub(super) type Reg = u32;
/// An index into [`Code::ops`].
pub(super) type Pc = u32;
/// An index into [`Code::sites`].
pub(super) type SiteId = u32;

/// An operator of two operands whose types are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Binary {
    pub one: fn(u64, u64) -> u64,
    /// The same for as many operands as there are places for results.
    pub many: fn(&[u64], &[u64], &mut [u64]),
    pub op: BinaryOp,
    pub ty: Scalar,
}

/// Where an access goes: `base + index * scale + offset`; a narrow index counts with the sign of its low half.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub base: Reg,
    pub index: Option<Index>,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    pub of: Reg,
    pub scale: i64,
    pub narrow: bool,
}

/// One operation. What cannot go on as planned hands its statement to the interpreter, see [`Site`].
#[derive(Clone, Debug)]
pub(super) enum Op {
    Copy {
        to: Reg,
        a: Reg,
    },
    /// The variable must hold something.
    Check {
        a: Reg,
    },
    Binary {
        f: Binary,
        to: Reg,
        a: Reg,
        b: Reg,
    },
    /// An operator on types that are rare in loops.
    AnyBinary {
        op: BinaryOp,
        types: [Scalar; 2],
        to: Reg,
        a: Reg,
        b: Reg,
    },
    Unary {
        op: UnaryOp,
        ty: Scalar,
        to: Reg,
        a: Reg,
    },
    Cast {
        from: Scalar,
        ty: Scalar,
        to: Reg,
        a: Reg,
    },
    /// The same bits as another type.
    Bits {
        ty: Scalar,
        to: Reg,
        a: Reg,
    },
    /// The low half, its sign in the upper one: an index of 32 bits as one of 64.
    Extend {
        to: Reg,
        a: Reg,
    },
    Math {
        function: MathFn,
        to: Reg,
        args: [(Reg, Scalar); 3],
        count: u8,
    },
    /// The pointer to where an access would go.
    Offset {
        to: Reg,
        at: Address,
    },
    /// `(a - b) / size` of pointers.
    Difference {
        to: Reg,
        a: Reg,
        b: Reg,
        size: i64,
    },
    /// A subscript must be below `length`, or with `end` equal to it.
    InRange {
        index: Reg,
        length: Reg,
        end: bool,
    },
    Load {
        ty: Scalar,
        to: Reg,
        at: Address,
    },
    Store {
        ty: Scalar,
        at: Address,
        a: Reg,
    },
    Jump {
        to: Pc,
    },
    /// The jump back to where a loop begins: one more iteration.
    Again {
        to: Pc,
        /// An index into [`Code::heads`].
        head: u32,
    },
    JumpIf {
        a: Reg,
        when: bool,
        to: Pc,
    },
    /// Compares and jumps.
    Branch {
        f: Binary,
        a: Reg,
        b: Reg,
        when: bool,
        to: Pc,
    },
    /// Counts the steps of what comes up to the next one.
    Tick {
        steps: u32,
    },
    /// Variables from `first` up to `end` hold nothing.
    Unset {
        first: Reg,
        end: Reg,
    },
    /// A function of a library begins or ends.
    Library {
        enters: bool,
        site: SiteId,
    },
    /// A function ended without its value.
    NoValue {
        call: SiteId,
    },
    /// The interpreter runs the statement.
    Interpret,
    End,
}

/// Who goes on where an operation cannot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work<'m> {
    /// The interpreter runs the statement, which has not changed anything yet.
    Stmt(&'m Stmt),
    /// It evaluates the condition of the loop; where that fails, the loop is left out.
    Condition { of: &'m Stmt, expr: &'m Expr, holds: Pc, fails: Pc },
    /// The loop itself, of which nothing ran yet.
    Root,
}

/// A place in the program, and where the translation goes on after it.
#[derive(Clone, Debug)]
pub(super) struct Site<'m> {
    pub work: Work<'m>,
    pub frame: usize,
    pub next: Pc,
    pub breaks: Pc,
    pub continues: Pc,
    /// The variables that the operations after it take for set.
    pub known: Vec<Reg>,
}

/// The variables of a function that runs: the loop's own, or one that was put in its place.
#[derive(Clone, Debug)]
pub(super) struct Frame<'m> {
    pub id: FuncId,
    pub function: &'m Function,
    /// The call whose place it takes.
    pub call: Option<SiteId>,
    pub vars: Vec<(VarId, Reg)>,
    /// Where a returned value goes, and where its function ends.
    pub result: Option<Reg>,
    pub end: Pc,
}

/// A translated loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Code<'m> {
    pub ops: Vec<Op>,
    /// The site of each operation.
    pub at: Vec<SiteId>,
    pub sites: Vec<Site<'m>>,
    pub frames: Vec<Frame<'m>>,
    pub registers: Reg,
    pub constants: Vec<(Reg, u64)>,
    /// Registers that hold the addresses of variables of the loop's function, and of the file's.
    pub addresses: Vec<(Reg, Result<VarId, u32>)>,
    /// Variables that must be set when the loop begins.
    pub needs: Vec<Reg>,
    /// What is known of its loops' iterations, see [`super::strips`].
    pub heads: Vec<Head>,
}

impl Code<'_> {
    /// A frame, and those that it is inside of: the loop's own comes last.
    pub fn around(&self, frame: usize) -> impl Iterator<Item = usize> {
        let caller = |inner: &usize| Some(self.sites[self.frames[*inner].call? as usize].frame);
        std::iter::successors(Some(frame), caller)
    }
}
