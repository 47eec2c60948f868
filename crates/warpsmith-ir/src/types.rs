//! Types of values and of memory.

use std::fmt;
use std::sync::Arc;

use crate::module::StructId;

/// A machine number. `Bool` is one byte in memory, 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// C++'s `bool`, C's `_Bool`.
    Bool,
    /// Signed, 8 bits: `signed char`, and `char`.
    I8,
    /// Unsigned, 8 bits: `unsigned char`.
    U8,
    /// Signed, 16 bits: `short`.
    I16,
    /// Unsigned, 16 bits: `unsigned short`.
    U16,
    /// Signed, 32 bits: `int`.
    I32,
    /// Unsigned, 32 bits: `unsigned int`.
    U32,
    /// Signed, 64 bits: `long`, `long long`.
    I64,
    /// Unsigned, 64 bits: `unsigned long`, `size_t`.
    U64,
    /// IEEE binary16: `__half`, `_Float16`.
    F16,
    /// A binary32 without its lower 16 bits: `__nv_bfloat16`.
    BF16,
    /// IEEE binary32: `float`.
    F32,
    /// IEEE binary64: `double`.
    F64,
}

impl Scalar {
    /// Size in memory, in bytes; also its alignment.
    pub fn bytes(self) -> u32 {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::BF16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Whether it is one of `F16`, `BF16`, `F32` and `F64`.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64)
    }

    /// Whether it is an integer; `Bool` is one.
    pub fn is_integer(self) -> bool {
        !self.is_float()
    }

    /// Signed two's-complement integer (not `Bool`, not floating).
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// The name in the text form, for example `f32`.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::U8 => "u8",
            Scalar::I16 => "i16",
            Scalar::U16 => "u16",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::BF16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// All scalars, in the order of their declaration.
    pub const ALL: [Scalar; 13] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F16,
        Scalar::BF16,
        Scalar::F32,
        Scalar::F64,
    ];
}

/// Which memory a pointer is known to point into. `Generic` means that it is not known statically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Any of the others.
    Generic,
    /// Device memory: arrays of the caller, `__device__` variables.
    Global,
    /// `__shared__` memory of a block.
    Shared,
    /// `__constant__` memory, read-only for kernels.
    Constant,
    /// Memory of one thread: variables whose address is taken.
    Local,
}

/// The type of a value, a variable or a piece of memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value: what a function returns that returns nothing.
    Void,
    /// A number.
    Scalar(Scalar),
    /// CUDA's `float4` and its like: 1 to 4 components, with CUDA's alignment (a power of two for
    /// 2 and 4 components up to 16 bytes, that of the component for 1 and 3).
    Vector(Scalar, u8),
    /// A pointer is (object, byte offset): 8 bytes. The null pointer compares equal to 0.
    Pointer {
        /// Type of what it points to.
        pointee: Arc<Type>,
        /// Memory that it points into.
        space: Space,
        /// Reads and writes through it may not be cached or reordered (C's `volatile`).
        volatile: bool,
        /// The program may not write through it (C's pointer to const).
        readonly: bool,
    },
    /// A constant number of elements, row-major, no padding between.
    Array(Arc<Type>, u64),
    /// A structure or union of the module.
    Struct(StructId),
}

impl Type {
    /// [`Scalar::Bool`] as a type.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);
    /// [`Scalar::I32`] as a type.
    pub const I32: Type = Type::Scalar(Scalar::I32);
    /// [`Scalar::U32`] as a type.
    pub const U32: Type = Type::Scalar(Scalar::U32);
    /// [`Scalar::I64`] as a type.
    pub const I64: Type = Type::Scalar(Scalar::I64);
    /// [`Scalar::U64`] as a type.
    pub const U64: Type = Type::Scalar(Scalar::U64);
    /// [`Scalar::F32`] as a type.
    pub const F32: Type = Type::Scalar(Scalar::F32);
    /// [`Scalar::F64`] as a type.
    pub const F64: Type = Type::Scalar(Scalar::F64);

    /// A pointer through which the program may read and write, not `volatile`.
    pub fn pointer(pointee: Type, space: Space) -> Type {
        Type::Pointer { pointee: Arc::new(pointee), space, volatile: false, readonly: false }
    }

    /// An array of `length` elements.
    pub fn array(element: Type, length: u64) -> Type {
        Type::Array(Arc::new(element), length)
    }

    /// The scalar; `None` for all other types, vectors included.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    /// Whether it is a floating-point scalar.
    pub fn is_float(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_float)
    }

    /// Whether it is an integer scalar; `Bool` is one.
    pub fn is_integer(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_integer)
    }

    /// Whether it is a pointer.
    pub fn is_pointer(&self) -> bool {
        matches!(self, Type::Pointer { .. })
    }

    /// Whether a value of it has parts: an array, a structure or a vector.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Type::Array(..) | Type::Struct(_) | Type::Vector(..))
    }

    /// What a pointer points to; `None` for other types.
    pub fn pointee(&self) -> Option<&Type> {
        match self {
            Type::Pointer { pointee, .. } => Some(pointee),
            _ => None,
        }
    }

    /// The innermost element of nested arrays; the type itself when it is no array.
    pub fn innermost(&self) -> &Type {
        match self {
            Type::Array(element, _) => element.innermost(),
            other => other,
        }
    }

    /// Extents of nested arrays, outermost first; empty when it is no array.
    pub fn extents(&self) -> Vec<u64> {
        let mut extents = vec![];
        let mut at = self;
        while let Type::Array(element, length) = at {
            extents.push(*length);
            at = element;
        }
        extents
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
