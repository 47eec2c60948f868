//! Loops over lanes: the arithmetic that the host's SIMD units do.
//!
//! All loops run over whole warps and read a chunk before they write it, so a destination may be
//! the same lane vector as an operand. The instruction set is chosen at run time.

use multiversion::multiversion;
use warpsmith_ir::BinaryOp;

/// Lanes that are loaded, computed and stored together.
const CHUNK: usize = 16;

/// An operand of a lane loop.
#[derive(Clone, Copy)]
pub enum Src<T> {
    /// The first lane of a vector.
    V(*const T),
    /// One value for all lanes.
    S(T),
}

/// Calls `f` on `n` lanes.
///
/// # Safety
/// The pointers are valid for `n` lanes, `n` is a multiple of 32, and vectors are equal or disjoint.
#[inline(always)]
unsafe fn map1<T: Copy, U: Copy>(d: *mut U, a: *const T, n: usize, f: impl Fn(T) -> U) {
    for i in (0..n).step_by(CHUNK) {
        // SAFETY: `i + CHUNK <= n`, by the contract of the function.
        unsafe {
            let x = a.add(i).cast::<[T; CHUNK]>().read_unaligned();
            let r: [U; CHUNK] = std::array::from_fn(|k| f(x[k]));
            d.add(i).cast::<[U; CHUNK]>().write_unaligned(r);
        }
    }
}

/// As [`map1`], with two operands.
///
/// # Safety
/// As [`map1`].
#[inline(always)]
unsafe fn map2<T: Copy, V: Copy, U: Copy>(
    d: *mut U,
    a: *const T,
    b: Src<V>,
    n: usize,
    f: impl Fn(T, V) -> U,
) {
    match b {
        // SAFETY: as the caller promises.
        Src::S(y) => unsafe { map1(d, a, n, |x| f(x, y)) },
        Src::V(b) => {
            for i in (0..n).step_by(CHUNK) {
                // SAFETY: `i + CHUNK <= n`, by the contract of the function.
                unsafe {
                    let x = a.add(i).cast::<[T; CHUNK]>().read_unaligned();
                    let y = b.add(i).cast::<[V; CHUNK]>().read_unaligned();
                    let r: [U; CHUNK] = std::array::from_fn(|k| f(x[k], y[k]));
                    d.add(i).cast::<[U; CHUNK]>().write_unaligned(r);
                }
            }
        }
    }
}

macro_rules! integer_ops {
    ($name:ident, $compare:ident, $u:ty, $i:ty, $bits:expr) => {
        /// Integer arithmetic on `n` lanes; false: the operation is no arithmetic.
        ///
        /// # Safety
        /// As [`map1`].
        #[multiversion(targets(
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
        ))]
        pub unsafe fn $name(
            op: BinaryOp,
            signed: bool,
            d: *mut $u,
            a: *const $u,
            b: Src<$u>,
            n: usize,
        ) -> bool {
            // SAFETY: as the caller promises.
            unsafe {
                match (op, signed) {
                    (BinaryOp::Add, _) => map2(d, a, b, n, |x, y: $u| x.wrapping_add(y)),
                    (BinaryOp::Sub, _) => map2(d, a, b, n, |x, y: $u| x.wrapping_sub(y)),
                    (BinaryOp::Mul, _) => map2(d, a, b, n, |x, y: $u| x.wrapping_mul(y)),
                    (BinaryOp::BitAnd, _) => map2(d, a, b, n, |x, y| x & y),
                    (BinaryOp::BitOr, _) => map2(d, a, b, n, |x, y| x | y),
                    (BinaryOp::BitXor, _) => map2(d, a, b, n, |x, y| x ^ y),
                    (BinaryOp::Shl, _) => {
                        map2(d, a, b, n, |x, y| if y < $bits { x << (y & ($bits - 1)) } else { 0 });
                    }
                    (BinaryOp::Shr, false) => {
                        map2(d, a, b, n, |x, y| if y < $bits { x >> (y & ($bits - 1)) } else { 0 });
                    }
                    (BinaryOp::Shr, true) => {
                        map2(d, a, b, n, |x: $u, y: $u| ((x as $i) >> y.min($bits - 1)) as $u);
                    }
                    (BinaryOp::Div, false) => {
                        map2(d, a, b, n, |x: $u, y: $u| x.checked_div(y).unwrap_or(<$u>::MAX));
                    }
                    (BinaryOp::Rem, false) => {
                        map2(d, a, b, n, |x: $u, y: $u| x.checked_rem(y).unwrap_or(x));
                    }
                    (BinaryOp::Div, true) => map2(d, a, b, n, |x: $u, y: $u| {
                        if y == 0 { <$u>::MAX } else { (x as $i).wrapping_div(y as $i) as $u }
                    }),
                    (BinaryOp::Rem, true) => map2(d, a, b, n, |x: $u, y: $u| {
                        if y == 0 { x } else { (x as $i).wrapping_rem(y as $i) as $u }
                    }),
                    _ => return false,
                }
                true
            }
        }

        /// Integer comparison on `n` lanes, to 0 or 1.
        ///
        /// # Safety
        /// As [`map1`].
        #[multiversion(targets(
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
        ))]
        pub unsafe fn $compare(
            op: BinaryOp,
            signed: bool,
            d: *mut u32,
            a: *const $u,
            b: Src<$u>,
            n: usize,
        ) {
            // SAFETY: as the caller promises.
            unsafe {
                match (op, signed) {
                    (BinaryOp::Lt, false) => map2(d, a, b, n, |x, y| (x < y).into()),
                    (BinaryOp::Le, false) => map2(d, a, b, n, |x, y| (x <= y).into()),
                    (BinaryOp::Gt, false) => map2(d, a, b, n, |x, y| (x > y).into()),
                    (BinaryOp::Ge, false) => map2(d, a, b, n, |x, y| (x >= y).into()),
                    (BinaryOp::Lt, true) => map2(d, a, b, n, |x, y| ((x as $i) < y as $i).into()),
                    (BinaryOp::Le, true) => map2(d, a, b, n, |x, y| (x as $i <= y as $i).into()),
                    (BinaryOp::Gt, true) => map2(d, a, b, n, |x, y| (x as $i > y as $i).into()),
                    (BinaryOp::Ge, true) => map2(d, a, b, n, |x, y| (x as $i >= y as $i).into()),
                    (BinaryOp::Eq, _) => map2(d, a, b, n, |x, y| (x == y).into()),
                    _ => map2(d, a, b, n, |x, y| (x != y).into()),
                }
            }
        }
    };
}

integer_ops!(int32, compare_int32, u32, i32, 32);
integer_ops!(int64, compare_int64, u64, i64, 64);

macro_rules! real_ops {
    ($name:ident, $compare:ident, $mul_add:ident, $f:ty, $u:ty) => {
        /// Arithmetic of reals on `n` lanes; false: the operation is no arithmetic.
        ///
        /// # Safety
        /// As [`map1`].
        #[multiversion(targets(
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
        ))]
        pub unsafe fn $name(op: BinaryOp, d: *mut $f, a: *const $f, b: Src<$f>, n: usize) -> bool {
            // SAFETY: as the caller promises.
            unsafe {
                match op {
                    BinaryOp::Add => map2(d, a, b, n, |x, y: $f| x + y),
                    BinaryOp::Sub => map2(d, a, b, n, |x, y: $f| x - y),
                    BinaryOp::Mul => map2(d, a, b, n, |x, y: $f| x * y),
                    BinaryOp::Div => map2(d, a, b, n, |x, y: $f| x / y),
                    BinaryOp::Rem => map2(d, a, b, n, |x, y: $f| x % y),
                    _ => return false,
                }
                true
            }
        }

        /// Comparison of reals on `n` lanes, to 0 or 1.
        ///
        /// # Safety
        /// As [`map1`].
        #[multiversion(targets(
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
        ))]
        pub unsafe fn $compare(op: BinaryOp, d: *mut u32, a: *const $f, b: Src<$f>, n: usize) {
            // SAFETY: as the caller promises.
            unsafe {
                match op {
                    BinaryOp::Lt => map2(d, a, b, n, |x, y| (x < y).into()),
                    BinaryOp::Le => map2(d, a, b, n, |x, y| (x <= y).into()),
                    BinaryOp::Gt => map2(d, a, b, n, |x, y| (x > y).into()),
                    BinaryOp::Ge => map2(d, a, b, n, |x, y| (x >= y).into()),
                    BinaryOp::Eq => map2(d, a, b, n, |x, y| (x == y).into()),
                    _ => map2(d, a, b, n, |x, y| (x != y).into()),
                }
            }
        }

        /// `a * b + c`, each operation rounded, on `n` lanes.
        ///
        /// # Safety
        /// As [`map1`].
        #[multiversion(targets(
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
        ))]
        pub unsafe fn $mul_add(d: *mut $f, a: *const $f, b: Src<$f>, c: Src<$f>, n: usize) {
            for i in (0..n).step_by(CHUNK) {
                // SAFETY: `i + CHUNK <= n`, by the contract of the function.
                unsafe {
                    let x = a.add(i).cast::<[$f; CHUNK]>().read_unaligned();
                    let y = chunk(b, i);
                    let z = chunk(c, i);
                    let r: [$f; CHUNK] = std::array::from_fn(|k| x[k] * y[k] + z[k]);
                    d.add(i).cast::<[$f; CHUNK]>().write_unaligned(r);
                }
            }
        }
    };
}

/// The chunk of an operand at lane `i`.
///
/// # Safety
/// A vector is valid for `i + CHUNK` lanes.
#[inline(always)]
unsafe fn chunk<T: Copy>(s: Src<T>, i: usize) -> [T; CHUNK] {
    match s {
        Src::S(v) => [v; CHUNK],
        // SAFETY: as the caller promises.
        Src::V(p) => unsafe { p.add(i).cast::<[T; CHUNK]>().read_unaligned() },
    }
}

real_ops!(real32, compare_real32, mul_add32, f32, u32);
real_ops!(real64, compare_real64, mul_add64, f64, u64);

macro_rules! moves {
    ($select:ident, $blend:ident, $fill:ident, $u:ty) => {
        /// `c ? a : b` on `n` lanes.
        ///
        /// # Safety
        /// As [`map1`].
        #[multiversion(targets(
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
        ))]
        pub unsafe fn $select(d: *mut $u, c: *const u32, a: Src<$u>, b: Src<$u>, n: usize) {
            for i in (0..n).step_by(CHUNK) {
                // SAFETY: `i + CHUNK <= n`, by the contract of the function.
                unsafe {
                    let c = c.add(i).cast::<[u32; CHUNK]>().read_unaligned();
                    let (x, y) = (chunk(a, i), chunk(b, i));
                    let r: [$u; CHUNK] =
                        std::array::from_fn(|k| if c[k] != 0 { x[k] } else { y[k] });
                    d.add(i).cast::<[$u; CHUNK]>().write_unaligned(r);
                }
            }
        }

        /// Copies the lanes of one warp that the mask names.
        ///
        /// # Safety
        /// Both pointers are valid for 32 lanes.
        #[multiversion(targets(
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
            "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
        ))]
        pub unsafe fn $blend(d: *mut $u, s: *const $u, mask: u32) {
            // SAFETY: as the caller promises.
            unsafe {
                let x = s.cast::<[$u; 32]>().read_unaligned();
                let y = d.cast::<[$u; 32]>().read_unaligned();
                let r: [$u; 32] =
                    std::array::from_fn(|k| if mask >> k & 1 != 0 { x[k] } else { y[k] });
                d.cast::<[$u; 32]>().write_unaligned(r);
            }
        }

        /// Gives `n` lanes one value.
        ///
        /// # Safety
        /// The pointer is valid for `n` lanes.
        pub unsafe fn $fill(d: *mut $u, v: $u, n: usize) {
            // SAFETY: as the caller promises.
            unsafe { std::slice::from_raw_parts_mut(d, n) }.fill(v);
        }
    };
}

moves!(select32, blend32, fill32, u32);
moves!(select64, blend64, fill64, u64);

/// Conversions done by SIMD units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastCast {
    I32ToI64,
    U32ToU64,
    I64ToI32,
    I32ToF32,
    U32ToF32,
    F32ToI32,
    F32ToU32,
    F32ToF64,
    F64ToF32,
    I32ToF64,
    U32ToF64,
    F64ToI32,
    AnyToBool32,
}

/// Converts `n` lanes.
///
/// # Safety
/// As [`map1`], for lanes of the widths of the two types.
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn cast(kind: FastCast, d: *mut u32, a: *const u32, n: usize) {
    let (d32f, d64, d64f) = (d.cast::<f32>(), d.cast::<u64>(), d.cast::<f64>());
    let (a32f, a64, a64f) = (a.cast::<f32>(), a.cast::<u64>(), a.cast::<f64>());
    // SAFETY: as the caller promises.
    unsafe {
        match kind {
            FastCast::I32ToI64 => map1(d64, a, n, |x| x as i32 as i64 as u64),
            FastCast::U32ToU64 => map1(d64, a, n, |x| x.into()),
            FastCast::I64ToI32 => map1(d, a64, n, |x| x as u32),
            FastCast::I32ToF32 => map1(d32f, a, n, |x| x as i32 as f32),
            FastCast::U32ToF32 => map1(d32f, a, n, |x| x as f32),
            FastCast::F32ToI32 => map1(d, a32f, n, |x| x as i32 as u32),
            FastCast::F32ToU32 => map1(d, a32f, n, |x| x as u32),
            FastCast::F32ToF64 => map1(d64f, a32f, n, |x| x.into()),
            FastCast::F64ToF32 => map1(d32f, a64f, n, |x| x as f32),
            FastCast::I32ToF64 => map1(d64f, a, n, |x| (x as i32).into()),
            FastCast::U32ToF64 => map1(d64f, a, n, |x| x.into()),
            FastCast::F64ToI32 => map1(d, a64f, n, |x| x as i32 as u32),
            FastCast::AnyToBool32 => map1(d, a, n, |x| (x != 0).into()),
        }
    }
}

/// The lanes of one warp whose value is not zero, as bits.
///
/// # Safety
/// The pointer is valid for 32 lanes.
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn truth(c: *const u32) -> u32 {
    // SAFETY: as the caller promises.
    let c = unsafe { c.cast::<[u32; 32]>().read_unaligned() };
    let mut bits = 0;
    for (k, v) in c.iter().enumerate() {
        bits |= u32::from(*v != 0) << k;
    }
    bits
}

/// Adds `index * scale` to the 32 addresses of a warp.
///
/// # Safety
/// The index is valid for 32 lanes of its width.
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn add_index(addresses: &mut [u64; 32], index: *const u32, width: Index, scale: i64) {
    // SAFETY: as the caller promises.
    unsafe {
        match width {
            Index::I32 => {
                let x = index.cast::<[i32; 32]>().read_unaligned();
                for k in 0..32 {
                    addresses[k] =
                        addresses[k].wrapping_add(i64::from(x[k]).wrapping_mul(scale) as u64);
                }
            }
            Index::U32 => {
                let x = index.cast::<[u32; 32]>().read_unaligned();
                for k in 0..32 {
                    addresses[k] =
                        addresses[k].wrapping_add(i64::from(x[k]).wrapping_mul(scale) as u64);
                }
            }
            Index::I64 => {
                let x = index.cast::<[u64; 32]>().read_unaligned();
                for k in 0..32 {
                    addresses[k] = addresses[k].wrapping_add(x[k].wrapping_mul(scale as u64));
                }
            }
        }
    }
}

/// How an index register extends to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    I32,
    U32,
    I64,
}

/// How the lanes of a warp lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Some lane is out of bounds, misaligned, or in another object than the first.
    Bad,
    /// All lanes at one address.
    Same,
    /// Each lane right after the one before; all 32 take part.
    Row,
    Scattered,
}

/// Turns addresses into offsets from `base` and classifies them. Lanes that take no part get the
/// offset of the first one that does. `limit` is the largest offset that fits, `align` the mask of
/// bits that must be zero, `size` the bytes of an access.
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub fn classify(
    addresses: &mut [u64; 32],
    mask: u32,
    base: u64,
    limit: u64,
    align: u64,
    size: u64,
) -> Pattern {
    let first = addresses[(mask.trailing_zeros() & 31) as usize].wrapping_sub(base);
    if mask == u32::MAX {
        for a in addresses.iter_mut() {
            *a = a.wrapping_sub(base);
        }
    } else {
        for (k, a) in addresses.iter_mut().enumerate() {
            *a = if mask >> k & 1 != 0 { a.wrapping_sub(base) } else { first };
        }
    }
    let (mut bad, mut unequal, mut broken) = (false, false, false);
    for (k, a) in addresses.iter().enumerate() {
        bad |= (*a > limit) | (*a & align != 0);
        unequal |= *a != first;
        broken |= *a != first.wrapping_add(size.wrapping_mul(k as u64));
    }
    match (bad, unequal, broken | (mask != u32::MAX)) {
        (true, ..) => Pattern::Bad,
        (_, false, _) => Pattern::Same,
        (_, _, false) => Pattern::Row,
        _ => Pattern::Scattered,
    }
}

/// The smaller or larger of two integers, on `n` lanes.
///
/// # Safety
/// As [`map1`].
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn extremum32(
    max: bool,
    signed: bool,
    d: *mut u32,
    a: *const u32,
    b: Src<u32>,
    n: usize,
) {
    // SAFETY: as the caller promises.
    unsafe {
        match (max, signed) {
            (false, false) => map2(d, a, b, n, |x: u32, y: u32| x.min(y)),
            (true, false) => map2(d, a, b, n, |x: u32, y: u32| x.max(y)),
            (false, true) => map2(d, a, b, n, |x: u32, y: u32| (x as i32).min(y as i32) as u32),
            (true, true) => map2(d, a, b, n, |x: u32, y: u32| (x as i32).max(y as i32) as u32),
        }
    }
}

/// Square roots of `n` lanes, correctly rounded.
///
/// # Safety
/// As [`map1`].
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn sqrt32(d: *mut f32, a: *const f32, n: usize) {
    // SAFETY: as the caller promises.
    unsafe { map1(d, a, n, f32::sqrt) };
}

/// `a * b + c` rounded once, on `n` lanes.
///
/// # Safety
/// As [`map1`].
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn fma32(d: *mut f32, a: *const f32, b: Src<f32>, c: Src<f32>, n: usize) {
    for i in (0..n).step_by(CHUNK) {
        // SAFETY: `i + CHUNK <= n`, by the contract of the function.
        unsafe {
            let x = a.add(i).cast::<[f32; CHUNK]>().read_unaligned();
            let (y, z) = (chunk(b, i), chunk(c, i));
            let r: [f32; CHUNK] = std::array::from_fn(|k| x[k].mul_add(y[k], z[k]));
            d.add(i).cast::<[f32; CHUNK]>().write_unaligned(r);
        }
    }
}
