//! Expressions and places.
//!
//! Expressions are pure: evaluating one changes nothing. Reading memory is allowed, so an
//! expression may not be moved across a store or barrier without a check. The right operand of
//! `LogicalAnd`/`LogicalOr` and the arms of `Select` are evaluated only by the threads that need them.

use crate::module::{ConstId, GlobalId, VarId};
use crate::span::Origin;
use crate::types::{Scalar, Type};
use crate::value::Value;

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What is computed.
    pub kind: Box<ExprKind>,
    /// Type of the value.
    pub ty: Type,
    /// Where it comes from; takes no part in comparisons.
    pub origin: Origin,
}

/// What an expression computes. `ty` of the surrounding [`Expr`] is the result type.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A scalar constant of the expression's type.
    Const(Value),
    /// A named constant of the module, of the expression's type.
    Named(ConstId),
    /// The value held by a variable or a piece of memory; type of the place.
    Read(Place),
    /// A pointer to a place. For an array place use `Index(place, 0)` inside, so that the pointee is the element.
    AddressOf(Place),
    /// Operand and result have the same type; `Not` takes and gives `bool`.
    Unary(UnaryOp, Expr),
    /// Both operands have the same type (after C's usual conversions), except that the right operand
    /// of a shift is any integer. Comparisons give `bool`; logical operators take and give `bool`.
    /// Two pointers may be compared. Integer arithmetic wraps; division by zero gives all ones and
    /// remainder by zero the dividend, as on the device.
    Binary(BinaryOp, Expr, Expr),
    /// `pointer + index` in units of the pointee; the index is any integer, sign-extended to 64 bits.
    PtrOffset(Expr, Expr),
    /// Difference of two pointers into one object in units of the pointee; `i64`.
    PtrDiff(Expr, Expr),
    /// Value conversion to the expression's type: between scalars as C converts (float to integer
    /// saturates as on the device), between pointers, and between pointers and 64-bit integers.
    Cast(Expr),
    /// The same bits as another type of the same size (`__float_as_int`).
    Bitcast(Expr),
    /// `condition ? a : b`; the condition is `bool`.
    Select(Expr, Expr, Expr),
    /// A function of the math or integer intrinsic library.
    Call(MathFn, Vec<Expr>),
    /// A hardware value of the running thread.
    Builtin(Builtin),
    /// A vector, struct or array value from its parts, in order, one for each component, field or element.
    Make(Vec<Expr>),
    /// A component of a vector value or a field of a struct value.
    Member(Expr, u32),
}

/// Something that can be read, written, or pointed to.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Which variable or piece of memory.
    pub kind: Box<PlaceKind>,
    /// Type of what lies there.
    pub ty: Type,
    /// Where it comes from; takes no part in comparisons.
    pub origin: Origin,
}

/// Which variable, memory or part of one a [`Place`] is. `ty` of the surrounding place is the type of what lies there.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceKind {
    /// A parameter or variable of the function, whatever its storage.
    Var(VarId),
    /// A module-level variable (`__constant__`, `__device__`).
    Global(GlobalId),
    /// `*pointer`.
    Deref(Expr),
    /// `pointer[index…]`. With several indices the pointer is to the first element of a row-major
    /// array whose extents, without the outermost, are `dims` (one fewer than indices): the element
    /// is `(…(index[0] * dims[0] + index[1]) * dims[1] + …)`. C99's variable-length array parameters
    /// keep their shape this way. Indices are integers; the arithmetic is 64-bit.
    Elem {
        /// To the first element.
        pointer: Expr,
        /// Subscripts, the outermost first; at least one.
        index: Vec<Expr>,
        /// Extents of all dimensions without the outermost.
        dims: Vec<Expr>,
    },
    /// Element of an array place.
    Index(Place, Expr),
    /// Field of a struct place.
    Field(Place, u32),
    /// Component of a vector place.
    Component(Place, u8),
}

/// Operations on one scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`; integers wrap.
    Neg,
    /// Logical negation of a `bool`.
    Not,
    /// `~a`, of an integer.
    BitNot,
}

/// Operations on two scalars, named as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`; of integers truncated toward zero.
    Div,
    /// `a % b`, of integers, with the sign of `a`.
    Rem,
    /// `a << b`.
    Shl,
    /// Arithmetic for signed, logical for unsigned operands.
    Shr,
    /// `a & b`.
    BitAnd,
    /// `a | b`.
    BitOr,
    /// `a ^ b`.
    BitXor,
    /// `a < b`; as all comparisons with a NaN but `Ne`, false for one.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `a && b` of two `bool`.
    LogicalAnd,
    /// `a || b` of two `bool`.
    LogicalOr,
}

impl BinaryOp {
    /// Whether it compares: `<`, `<=`, `>`, `>=`, `==` or `!=`.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::*;
        matches!(self, Lt | Le | Gt | Ge | Eq | Ne)
    }

    /// Whether it is `&&` or `||`.
    pub fn is_logical(self) -> bool {
        matches!(self, BinaryOp::LogicalAnd | BinaryOp::LogicalOr)
    }

    /// C's spelling.
    pub fn symbol(self) -> &'static str {
        use BinaryOp::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            Shl => "<<",
            Shr => ">>",
            BitAnd => "&",
            BitOr => "|",
            BitXor => "^",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Eq => "==",
            Ne => "!=",
            LogicalAnd => "&&",
            LogicalOr => "||",
        }
    }
}

/// An axis of the grid or the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// The first component, along which threads of a warp are neighbours.
    X,
    /// The second component.
    Y,
    /// The third component.
    Z,
}

impl Axis {
    /// All axes, in order.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// 0 for x, 1 for y, 2 for z.
    pub fn index(self) -> usize {
        self as usize
    }

    /// `x`, `y` or `z`.
    pub fn name(self) -> &'static str {
        ["x", "y", "z"][self as usize]
    }
}

/// What the members of the machine are, whose number a loop is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindLevel {
    /// `blockIdx`.
    Grid,
    /// `threadIdx`.
    Block,
    /// `blockIdx * blockDim + threadIdx`.
    Thread,
    /// Warp of the block, from the flat thread index.
    Warp,
    /// Lane of the warp.
    Lane,
}

/// The operation by which a reduction combines values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Smallest value; of a NaN and a number, the number.
    Min,
    /// Largest value; of a NaN and a number, the number.
    Max,
    /// `&` of integers.
    BitAnd,
    /// `|` of integers.
    BitOr,
    /// `^` of integers.
    BitXor,
    /// `&&`: 1 when all values are true, else 0.
    LogicalAnd,
    /// `||`: 1 when any value is true, else 0.
    LogicalOr,
}

/// Hardware values; all `u32` except `Clock64` (`u64`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// `threadIdx`: position of the thread in its block.
    ThreadIdx(Axis),
    /// `blockIdx`: position of the block in the grid.
    BlockIdx(Axis),
    /// `blockDim`: threads of a block along the axis.
    BlockDim(Axis),
    /// `gridDim`: blocks of the grid along the axis.
    GridDim(Axis),
    /// Blocks of the cluster along the axis; 1 without clusters.
    ClusterDim(Axis),
    /// Lane in the warp: flat thread index modulo 32.
    LaneId,
    /// 32.
    WarpSize,
    /// The mask of lanes that execute this together (`__activemask()`).
    ActiveMask,
    /// Bytes of dynamic shared memory of the launch (`%dynamic_smem_size`).
    DynamicSharedBytes,
    /// `clock()`: the lower half of the multiprocessor's cycle counter.
    Clock,
    /// `clock64()`: the multiprocessor's cycle counter.
    Clock64,
}

macro_rules! math_functions {
    ($($variant:ident $name:literal $arity:literal),* $(,)?) => {
        /// Pure library functions. Operands have one common type unless the comment says otherwise.
        ///
        /// Integer ones: `Abs Min Max Popc Clz Ffs Brev MulHi Mul24 Sad` and those after them; `Popc Clz Ffs`
        /// give `i32`. `IsNan IsInf IsFinite SignBit` give `bool`. `Ldexp` takes an `i32` second, `Lround`
        /// and its like are expressed as a cast of `Round`/`Rint`. `Fma` rounds once.
        ///
        /// `Settled` is its operand, an integer, and counts as defined where that is not: what a store keeps of a word
        /// of which it writes some bits.
        ///
        /// `MapShared` takes an address in shared memory and a rank, both `u64`, and gives the address of the same variable in the
        /// block of that rank in the cluster; `SharedRank` gives the rank of the block that an address belongs to.
        ///
        /// Each computes what C's `math.h` or CUDA's intrinsic of its name does; `Saturate` clamps to 0 … 1 and gives 0 for a NaN.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum MathFn {
            $(
                #[doc = concat!("`", $name, "` in the text form; takes ", $arity, " operand(s).")]
                $variant
            ),*
        }

        impl MathFn {
            /// All functions, in the order of their declaration.
            pub const ALL: &'static [MathFn] = &[$(MathFn::$variant),*];

            /// The name in the text form: C's name of the double-precision function, or the intrinsic's without underscores.
            pub fn name(self) -> &'static str {
                match self { $(MathFn::$variant => $name),* }
            }

            /// How many operands it takes: 1, 2 or 3.
            pub fn arity(self) -> usize {
                match self { $(MathFn::$variant => $arity),* }
            }

            /// The function of this name in the text form; `None` when there is none.
            pub fn from_name(name: &str) -> Option<MathFn> {
                match name { $($name => Some(MathFn::$variant),)* _ => None }
            }
        }
    };
}

math_functions! {
    Sqrt "sqrt" 1, Rsqrt "rsqrt" 1, Cbrt "cbrt" 1, Rcbrt "rcbrt" 1, Rcp "rcp" 1,
    Exp "exp" 1, Exp2 "exp2" 1, Exp10 "exp10" 1, Expm1 "expm1" 1,
    Log "log" 1, Log2 "log2" 1, Log10 "log10" 1, Log1p "log1p" 1,
    Sin "sin" 1, Cos "cos" 1, Tan "tan" 1, Sinpi "sinpi" 1, Cospi "cospi" 1,
    Asin "asin" 1, Acos "acos" 1, Atan "atan" 1, Atan2 "atan2" 2,
    Sinh "sinh" 1, Cosh "cosh" 1, Tanh "tanh" 1, Asinh "asinh" 1, Acosh "acosh" 1, Atanh "atanh" 1,
    Pow "pow" 2, Fmod "fmod" 2, Remainder "remainder" 2, Hypot "hypot" 2, Ldexp "ldexp" 2,
    Erf "erf" 1, Erfc "erfc" 1, Tgamma "tgamma" 1, Lgamma "lgamma" 1, Normcdf "normcdf" 1,
    Floor "floor" 1, Ceil "ceil" 1, Trunc "trunc" 1, Round "round" 1, Rint "rint" 1,
    Abs "abs" 1, Min "min" 2, Max "max" 2, Fma "fma" 3, Copysign "copysign" 2, Fdim "fdim" 2,
    Nextafter "nextafter" 2, Saturate "saturate" 1,
    IsNan "isnan" 1, IsInf "isinf" 1, IsFinite "isfinite" 1, SignBit "signbit" 1,
    Popc "popc" 1, Clz "clz" 1, Ffs "ffs" 1, Brev "brev" 1, MulHi "mulhi" 2, Mul24 "mul24" 2,
    Sad "sad" 3, BytePerm "byte_perm" 3, FunnelShiftLeft "funnelshift_l" 3, FunnelShiftRight "funnelshift_r" 3,
    Dp4a "dp4a" 3, Settled "settled" 1, MapShared "map_shared" 2, SharedRank "shared_rank" 1,
}

impl MathFn {
    /// Whether the result is the same on every machine: correctly rounded, or without any rounding.
    pub fn is_exact(self) -> bool {
        use MathFn::*;
        let rounded = matches!(self, Sqrt | Fma | Fmod | Remainder | Ldexp | Fdim | Nextafter);
        let plain = matches!(
            self,
            Floor | Ceil | Trunc | Round | Rint | Abs | Min | Max | Copysign | Saturate
        );
        rounded || plain || self.on_integers() || matches!(self, IsNan | IsInf | IsFinite | SignBit)
    }

    /// The functions on bits and integers.
    fn on_integers(self) -> bool {
        use MathFn::*;
        matches!(
            self,
            Popc | Clz
                | Ffs
                | Brev
                | MulHi
                | Mul24
                | Sad
                | BytePerm
                | FunnelShiftLeft
                | FunnelShiftRight
                | Dp4a
                | Settled
                | MapShared
                | SharedRank
        )
    }
}

impl Expr {
    /// An expression; `ty` must be the one that [`crate::verify`] expects of `kind`.
    pub fn new(kind: ExprKind, ty: Type, origin: impl Into<Origin>) -> Expr {
        Expr { kind: Box::new(kind), ty, origin: origin.into() }
    }

    /// The constant `value`, of its type.
    pub fn constant(value: Value) -> Expr {
        Expr::new(ExprKind::Const(value), Type::Scalar(value.ty), Origin::default())
    }

    /// A constant of type `i32`.
    pub fn i32(value: i32) -> Expr {
        Expr::constant(Value::i32(value))
    }

    /// A constant of type `ty`; wraps when the integer does not fit.
    pub fn int(ty: Scalar, value: i64) -> Expr {
        Expr::constant(Value::int(ty, value))
    }

    /// The value held by `place`, with the place's type and origin.
    pub fn read(place: Place) -> Expr {
        let (ty, origin) = (place.ty.clone(), place.origin.clone());
        Expr::new(ExprKind::Read(place), ty, origin)
    }

    /// The value of a variable.
    pub fn var(id: VarId, ty: Type) -> Expr {
        Expr::read(Place::var(id, ty))
    }

    /// A hardware value, of type `u32`, or `u64` for `Clock64`.
    pub fn builtin(b: Builtin) -> Expr {
        let ty = if b == Builtin::Clock64 { Type::U64 } else { Type::U32 };
        Expr::new(ExprKind::Builtin(b), ty, Origin::default())
    }

    /// `a op b`; the result is `bool` for comparisons and logical operators, else the type of `a`.
    pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
        let ty = if op.is_comparison() || op.is_logical() { Type::BOOL } else { a.ty.clone() };
        let origin = a.origin.clone();
        Expr::new(ExprKind::Binary(op, a, b), ty, origin)
    }

    /// A conversion, or the expression itself when it already has the type.
    pub fn cast(self, ty: Type) -> Expr {
        if self.ty == ty {
            return self;
        }
        let origin = self.origin.clone();
        Expr::new(ExprKind::Cast(self), ty, origin)
    }

    /// The value when the expression is a literal constant; `None` for everything else, named constants included.
    pub fn as_const(&self) -> Option<Value> {
        match &*self.kind {
            ExprKind::Const(v) => Some(*v),
            _ => None,
        }
    }

    /// What the outermost conversions are of.
    pub fn without_casts(&self) -> &Expr {
        match &*self.kind {
            ExprKind::Cast(inner) => inner.without_casts(),
            _ => self,
        }
    }

    /// The same expression, said to come from elsewhere.
    pub fn with_origin(mut self, origin: impl Into<Origin>) -> Expr {
        self.origin = origin.into();
        self
    }
}

impl Place {
    /// A place; `ty` must be the one that [`crate::verify`] expects of `kind`.
    pub fn new(kind: PlaceKind, ty: Type, origin: impl Into<Origin>) -> Place {
        Place { kind: Box::new(kind), ty, origin: origin.into() }
    }

    /// A variable of the function, whose type is `ty`.
    pub fn var(id: VarId, ty: Type) -> Place {
        Place::new(PlaceKind::Var(id), ty, Origin::default())
    }

    /// The variable at the root of a place that involves no pointer; `None` behind a pointer.
    pub fn root_var(&self) -> Option<VarId> {
        match &*self.kind {
            PlaceKind::Var(id) => Some(*id),
            PlaceKind::Index(p, _) | PlaceKind::Field(p, _) | PlaceKind::Component(p, _) => {
                p.root_var()
            }
            PlaceKind::Global(_) | PlaceKind::Deref(_) | PlaceKind::Elem { .. } => None,
        }
    }
}
