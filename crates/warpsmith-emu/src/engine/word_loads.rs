//! Loads of words by all lanes, where their addresses are one scalar and an index.

use multiversion::multiversion;

/// A load of 4-byte values whose address is one scalar plus an index in 32-bit lanes.
#[derive(Clone, Copy)]
pub struct WordLoad {
    /// The object's bytes.
    pub bytes: *const u8,
    pub len: u64,
    /// Offset of index 0 in the object; a multiple of 4.
    pub offset: i64,
    /// Bytes between indices; a multiple of 4.
    pub scale: i64,
    pub signed: bool,
    pub index: *const u32,
    pub dst: *mut u32,
}

/// Loads all lanes of `n` lanes, whole warps. False: some address lies outside of the object, and
/// the lanes of that warp and later ones are not loaded.
///
/// # Safety
/// `index` and `dst` are valid for `n` lanes and equal or disjoint, `bytes` for `len` bytes apart
/// from `dst`, and `n` is a multiple of 32.
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn load_words(l: WordLoad, n: usize) -> bool {
    let flip: u32 = if l.signed { 0 } else { 1 << 31 };
    let steps: [u32; 8] = std::array::from_fn(|k| k as u32);
    for at in (0..n).step_by(32) {
        // SAFETY: `at + 32 <= n`.
        let x = unsafe { l.index.add(at).cast::<[[u32; 8]; 4]>().read_unaligned() };
        let (mut low, mut high) = ([i32::MAX; 8], [i32::MIN; 8]);
        for part in &x {
            for k in 0..8 {
                let ordered = (part[k] ^ flip) as i32;
                low[k] = low[k].min(ordered);
                high[k] = high[k].max(ordered);
            }
        }
        let low = low.into_iter().min().unwrap_or(0);
        let high = high.into_iter().max().unwrap_or(0);
        let wide = |v: i32| {
            if l.signed { i64::from(v) } else { i64::from(v as u32 ^ flip) }
        };
        let first = l.offset.wrapping_add(wide(low).wrapping_mul(l.scale));
        let last = l.offset.wrapping_add(wide(high).wrapping_mul(l.scale));
        let (first, last) = (first.min(last), first.max(last));
        if first < 0 || last < 0 || (last as u64).saturating_add(4) > l.len {
            return false;
        }
        let offset = |v: u32| {
            let v = if l.signed { i64::from(v as i32) } else { i64::from(v) };
            l.offset.wrapping_add(v.wrapping_mul(l.scale)) as isize
        };
        // Blocks narrower than a warp read several short rows: look at eight lanes at a time.
        for (part, x) in x.iter().enumerate() {
            let (mut unequal, mut broken) = (0, 0);
            for k in 0..8 {
                unequal |= x[k] ^ x[0];
                broken |= x[k] ^ x[0].wrapping_add(steps[k]);
            }
            let start = offset(x[0]);
            // SAFETY: all offsets lie between `first` and `last`, which are inside of the object;
            // `at + 32 <= n`.
            unsafe {
                let d = l.dst.add(at + 8 * part).cast::<[u32; 8]>();
                if unequal == 0 {
                    d.write_unaligned([l.bytes.offset(start).cast::<u32>().read_unaligned(); 8]);
                } else if broken == 0 && l.scale == 4 {
                    d.write_unaligned(l.bytes.offset(start).cast::<[u32; 8]>().read_unaligned());
                } else {
                    let mut r = [0; 8];
                    for k in 0..8 {
                        r[k] = l.bytes.offset(offset(x[k])).cast::<u32>().read_unaligned();
                    }
                    d.write_unaligned(r);
                }
            }
        }
    }
    true
}

/// As [`load_words`], for offsets known to be inside: `shapes` says how each eight lanes read.
///
/// # Safety
/// `index` and `dst` are valid for eight lanes a shape and equal or disjoint; all offsets lie inside
/// of the object, which is apart from `dst`.
#[multiversion(targets(
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+avx512f+avx512bw+avx512dq+avx512vl+avx512cd",
    "x86_64+avx2+bmi1+bmi2+lzcnt+popcnt+fma"
))]
pub unsafe fn move_words(l: WordLoad, shapes: &[u8]) {
    let offset = |v: u32| {
        let v = if l.signed { i64::from(v as i32) } else { i64::from(v) };
        l.offset.wrapping_add(v.wrapping_mul(l.scale)) as isize
    };
    for (part, shape) in shapes.iter().enumerate() {
        // SAFETY: by the contract of the function.
        unsafe {
            let x = l.index.add(8 * part);
            let d = l.dst.add(8 * part).cast::<[u32; 8]>();
            let start = l.bytes.offset(offset(x.read()));
            match *shape {
                super::plans::SAME => d.write_unaligned([start.cast::<u32>().read_unaligned(); 8]),
                super::plans::ROW => d.write_unaligned(start.cast::<[u32; 8]>().read_unaligned()),
                _ => {
                    let x = x.cast::<[u32; 8]>().read_unaligned();
                    let word = |v: u32| l.bytes.offset(offset(v)).cast::<u32>().read_unaligned();
                    d.write_unaligned(x.map(word));
                }
            }
        }
    }
}
