//! Device functions for atomic operations that CUDA does not have: loops of compare-and-swaps on the bits.

use warpsmith_ir::Scalar;

use crate::types;

/// How a type is seen as bits that `atomicCAS` takes.
struct Bits {
    ty: &'static str,
    /// From a value to its bits, and back; empty where they are the same.
    to: &'static str,
    from: &'static str,
}

fn bits(ty: Scalar) -> Bits {
    match ty {
        Scalar::F32 => Bits { ty: "int", to: "__float_as_int", from: "__int_as_float" },
        Scalar::F64 => Bits {
            ty: "unsigned long long",
            to: "__double_as_longlong",
            from: "__longlong_as_double",
        },
        Scalar::I64 => Bits {
            ty: "unsigned long long",
            to: "static_cast<unsigned long long>",
            from: "static_cast<long long>",
        },
        // A product of unsigned numbers may pass the range, in any order.
        Scalar::I32 => {
            Bits { ty: "unsigned", to: "static_cast<unsigned>", from: "static_cast<int>" }
        }
        Scalar::U64 => Bits { ty: "unsigned long long", to: "", from: "" },
        _ => Bits { ty: "unsigned", to: "", from: "" },
    }
}

impl Bits {
    fn to(&self, value: &str) -> String {
        if self.to.is_empty() { value.to_string() } else { format!("{}({value})", self.to) }
    }

    fn from(&self, bits: &str) -> String {
        if self.from.is_empty() { bits.to_string() } else { format!("{}({bits})", self.from) }
    }
}

/// The function's head and the first look at memory, which other threads may change meanwhile.
fn begin(ty: Scalar, bits: &Bits, name: &str) -> String {
    let (own, raw) = (types::scalar(ty), bits.ty);
    format!(
        "__device__ {own} {name}({own} *p, {own} x) {{\n    \
         {raw} *bits = reinterpret_cast<{raw} *>(p);\n    \
         {raw} old = *reinterpret_cast<volatile {raw} *>(p);\n"
    )
}

/// `*p = f(*p, x)` until no other thread comes in between.
fn repeat(ty: Scalar, name: &str, comment: &str, new: &str) -> String {
    let bits = bits(ty);
    format!(
        "// {comment}; returns the old value.\n{}    while (true) {{\n        \
         const {} seen = old;\n        \
         old = atomicCAS(bits, seen, {new});\n        \
         if (old == seen) return {};\n    }}\n}}\n",
        begin(ty, &bits, name),
        bits.ty,
        bits.from("old"),
    )
}

/// The smaller or larger of two reals.
pub(crate) fn pick(ty: Scalar, what: &str, name: &str, function: &str) -> String {
    let bits = bits(ty);
    let new = bits.to(&format!("{function}({}, x)", bits.from("seen")));
    repeat(ty, name, &format!("Atomically replaces *p by the {what} of *p and x"), &new)
}

pub(crate) fn multiply(ty: Scalar, name: &str) -> String {
    let bits = bits(ty);
    let new = match ty {
        Scalar::F32 | Scalar::F64 => bits.to(&format!("{} * x", bits.from("seen"))),
        _ => format!("seen * {}", bits.to("x")),
    };
    repeat(ty, name, "Atomically multiplies *p by x", &new)
}

/// `if (x < *p) *p = x`, and the same with `>`.
pub(crate) fn replace(ty: Scalar, name: &str, compare: char) -> String {
    let bits = bits(ty);
    format!(
        "// Atomically replaces *p by x where x {compare} *p; returns the old value.\n{}    \
         while (x {compare} {}) {{\n        \
         const {} seen = old;\n        \
         old = atomicCAS(bits, seen, {});\n        \
         if (old == seen) break;\n    }}\n    return {};\n}}\n",
        begin(ty, &bits, name),
        bits.from("old"),
        bits.ty,
        bits.to("x"),
        bits.from("old"),
    )
}
