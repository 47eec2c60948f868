//! Permutes the columns of a staged tile from row to row, so that a column's elements lie in different banks.
//!
//! ```text
//!     A_shared[row][column]
//!       ==> stage A at k tile 32 swizzled
//!     A_shared[row][column ^ row % 32]
//! ```
//!
//! Shared memory has 32 banks of 4 bytes. Threads that access a column of a tile whose rows have 32 elements of 4 bytes
//! meet in one bank; with the exclusive or they meet in none, and those that access a row still do not. A padding column
//! does the same and takes memory, and with it no row begins at a multiple of 16 bytes. Where rows are accessed in
//! vectors the permutation moves whole vectors; where several rows lie side by side in the banks it moves them alike.
//!
//! Legal for a tile of two or more dimensions whose rows in shared memory have a power of two of elements, at least two
//! vectors, and no padding: the exclusive or then stays in the row, and every element keeps a place of its own.

use warpsmith_ir::Type;

use crate::analysis::footprint::{Counter, Footprint, shared_shape};
use crate::kernel::{Kernel, Nest, Stage};

/// Bytes of all banks side by side.
const BANKS: u64 = 128;

/// The element in a row and column lies at `column ^ row / group % period * unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// Rows side by side in the banks.
    pub group: u64,
    /// Permutations until the first one comes again; a power of two.
    pub period: u64,
    /// Neighbouring elements that stay together.
    pub unit: u64,
}

/// Asks whether the columns of a copy can be permuted as its layout wants.
///
/// # Errors
/// The reason why not.
pub fn check(nest: &Nest, stage: &Stage, f: &Footprint) -> Result<(), String> {
    if !stage.layout.swizzled {
        return Ok(());
    }
    let refuse = |why: String| Err(why);
    let shape = shared_shape(f, stage);
    let row = match shape.as_slice() {
        [] | [_] => return refuse("a copy of one dimension has no rows to swizzle".into()),
        [.., row] => *row,
    };
    if stage.layout.pad > 0 {
        return refuse("a swizzled copy has no bank conflicts that padding could help".into());
    }
    if !row.is_power_of_two() {
        return refuse(format!(
            "a swizzled row has a power of two of elements, and this one {row}"
        ));
    }
    let unit = unit(nest, stage, f);
    if row < 2 * unit {
        return refuse(format!(
            "a row of {row} elements is too short to be swizzled: it must have two vectors of {unit}"
        ));
    }
    Ok(())
}

/// The permutation of a copy whose layout was found legal; `None`: its layout wants none.
pub fn of(kernel: &Kernel, nest: &Nest, stage: &Stage, f: &Footprint) -> Option<Swizzle> {
    if !stage.layout.swizzled {
        return None;
    }
    let element = kernel.func().var(stage.array).ty.pointee().and_then(Type::scalar)?;
    let bytes = u64::from(element.bytes());
    let row = *shared_shape(f, stage).last()?;
    let unit = unit(nest, stage, f);
    let group = (BANKS / (row * bytes)).max(1);
    let period = (row / unit).min((BANKS / (unit * bytes)).max(2));
    Some(Swizzle { group, period, unit })
}

/// Elements of the widest vector in which a row in shared memory may be accessed.
fn unit(nest: &Nest, stage: &Stage, f: &Footprint) -> u64 {
    let n = f.dims.len();
    let last = stage.layout.order.last(n);
    let copied = if last == n.checked_sub(1) { stage.vector } else { 1 };
    let columns = last.and_then(|k| f.dims.get(k));
    let read = columns.into_iter().flat_map(|d| &d.terms).filter_map(|(c, _)| match c {
        Counter::Bound(id, _) => nest.vectors.get(id).copied(),
        _ => None,
    });
    read.chain([copied]).max().unwrap_or(1).into()
}
