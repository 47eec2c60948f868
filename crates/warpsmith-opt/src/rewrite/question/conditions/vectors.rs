//! Whether a copy can move as many elements at a time as it says.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{DimOrder, PlaceKind, Type};

use super::refused::refused;
use crate::analysis::footprint::{Counter, Dim, Footprint};
use crate::build::vectors::{WIDEST, has_vector};
use crate::kernel::{Kernel, Nest, Stage};
use crate::refusal::Refusal;

/// Whether a stage's copy can move as many elements at a time as it says.
///
/// # Errors
/// [`Refusal::CannotVectorise`]
pub(super) fn check(
    kernel: &Kernel,
    nest: &Nest,
    stage: &Stage,
    f: &Footprint,
) -> Result<(), Refusal> {
    let width = stage.vector;
    if width == 1 {
        return Ok(());
    }
    let name = kernel.name_of(stage.array).to_string();
    let refuse = |why: String| Err(Refusal::CannotVectorise { name: name.clone(), why });
    let element = kernel.func().var(stage.array).ty.pointee().and_then(Type::scalar);
    let Some(element) = element.filter(|e| has_vector(*e, width)) else {
        return refuse(format!("{width} of its elements are no vector of at most {WIDEST} bytes"));
    };
    let bytes = element.bytes() * width;
    if !nest.multiples.aligned(stage.array, bytes) {
        return refuse(format!(
            "its address is not known to be a multiple of {bytes}: take `specialise {name}%{bytes}=0` first"
        ));
    }
    let PlaceKind::Elem { dims, .. } = &*f.reads[0].0.kind else {
        return refuse("it is no array".into());
    };
    let rows: Vec<Option<Poly>> = match &f.rows {
        Some(rows) => rows.iter().cloned().map(Some).collect(),
        None => dims.iter().map(Poly::from_expr).collect(),
    };
    let whole =
        |p: &Option<Poly>| p.as_ref().is_some_and(|p| nest.multiples.divide(p, width.into()));
    if !rows.last().is_none_or(whole) {
        return refuse(format!(
            "its rows are not known to have a multiple of {width} elements: take `specialise` with the length of a row first"
        ));
    }
    if f.partial {
        return refuse("it is read under a condition: its elements are copied one by one".into());
    }
    let Some(last) = f.dims.last() else { return refuse("it is no array".into()) };
    if !last.extent.is_multiple_of(width.into()) || last.constants.0 % i128::from(width) != 0 {
        return refuse(format!(
            "the rows that a block copies do not begin and end at multiples of {width}"
        ));
    }
    match starts_and_ends(kernel, nest, last, width) {
        true => Ok(()),
        false => refuse(format!(
            "where the rows that a block copies begin and end is not known to be a multiple of {width}"
        )),
    }
}

/// All subscripts of a dimension begin and end at multiples of the width, whatever the block and the strip.
fn starts_and_ends(kernel: &Kernel, nest: &Nest, d: &Dim, width: u32) -> bool {
    let multiple = |p: &Poly| nest.multiples.divide(p, width.into());
    multiple(&d.invariant)
        && d.terms.iter().all(|(c, factor)| match c {
            Counter::Constant(_, first, _) => first * factor % i128::from(width) == 0,
            _ if *factor < 0 => false,
            _ if factor % i128::from(width) == 0 => true,
            Counter::Bound(id, n) | Counter::Strip(id, n) => {
                n.is_multiple_of(width)
                    && kernel.find_loop(*id).is_some_and(|l| nest.multiples.whole_groups(l, width))
            }
        })
}

/// Whether the hardware can make the copies of a stage that runs ahead or is asynchronous, to rows of so many elements.
pub(super) fn check_asynchronous(kernel: &Kernel, stage: &Stage, row: u64) -> Result<(), Refusal> {
    if stage.slots == 1 && !stage.asynchronous {
        return Ok(());
    }
    let refuse = |why: String| refused(kernel, stage, why);
    let element = kernel.func().var(stage.array).ty.pointee().and_then(Type::scalar);
    let bytes = element.map_or(0, |s| s.bytes()) * stage.vector;
    let order = stage.layout.order;
    if order != DimOrder::Straight && stage.vector > 1 {
        return refuse(format!(
            "`cp.async` cannot take a vector apart, as a {} copy must",
            order.word()
        ));
    }
    if !row.is_multiple_of(stage.vector.into()) {
        return refuse(format!(
            "a row in shared memory has {row} elements, no multiple of the {} that a copy takes at a time",
            stage.vector
        ));
    }
    match bytes {
        4 | 8 | 16 => Ok(()),
        _ => refuse(format!(
            "`cp.async` takes 4, 8 or 16 bytes at a time, and an element has {bytes}"
        )),
    }
}
