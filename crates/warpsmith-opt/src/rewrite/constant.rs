//! Reads a small array from constant memory.
//!
//! ```text
//!     for a in 0..5 { s += u[i + a] * f[a] }
//!       ==> constant f
//!     for a in 0..5 { s += u[i + a] * f_constant[a] }        the launcher copies f to f_constant on the stream
//! ```
//!
//! Constant memory has a cache of its own that gives one element to all threads of a warp at once. Launches on different
//! streams share the copy: that they do not overlap is an assumption of the launcher.
//!
//! Legal for an array parameter with constant extents, together with the others at most 64 KB, that the function does not
//! write and uses in no other way than by its elements, where in every nest of the device the subscripts are the same for all
//! threads of a warp and read no memory.

use std::collections::BTreeMap;
use std::fmt;

use warpsmith_ir::{Axis, Block, Expr, ExprKind, Origin, PlaceKind, SourceMap, VarId};

use super::Rewritten;
use super::step::grammar::name;
use super::step::{About, Law, Rewrite, StepError};
use crate::analysis::access::{Base, base_of};
use crate::analysis::arrays::{extents, subscripts};
use crate::analysis::axes;
use crate::assumption::Assumption;
use crate::build::threads::WARP;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// An array of constant extents.
    pub array: String,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.array)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "constant",
        example: "constant f",
        does: "reads a small array from constant memory, to which the launcher copies it on the stream",
        legal: "the array has constant extents and at most 64 KB, nothing writes it, and the threads of a warp read one element at a time",
        law: Law {
            before: "\
void filtered(int n, const float u[n + 2], const float f[3], float v[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int k = 0; k < 3; k++)
            s += f[k] * u[i + k];
        v[i] = s;
    }
}
",
            steps: "bind i -> x block 256\nconstant f",
            after: "\
void filtered(int n, const float *u, const float *f, float *v) {
    // `f` is in constant memory
    // threads of the grid along x, 256 a block
    for (int i = 0; i < n; ++i) {
        float s = 0.0f;
        for (int k = 0; k < 3; ++k) {
            s += f[k] * u[i + k];
        }
        v[i] = s;
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        name.map(|array| Args { array }).parse_next(input)
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, &self.array)?))
    }
}

/// Bytes of constant memory.
const CONSTANT_BYTES: u64 = 64 * 1024;
/// The verdict on a `constant`, which alone allows it.
pub struct LegalConstant<'k> {
    kernel: &'k Kernel,
    array: VarId,
}

/// Asks whether the array `name` can be read from constant memory.
///
/// # Errors
/// The first reason why not.
pub fn check<'k>(kernel: &'k Kernel, name: &str) -> Result<LegalConstant<'k>, Refusal> {
    let refuse = |why: String, at: Option<Origin>| {
        Err(Refusal::CannotBeConstant { name: name.into(), why, at: Box::new(at) })
    };
    let function = kernel.func();
    let array = function.params.iter().copied().find(|v| function.var(*v).name == name);
    let Some(array) = array.filter(|v| function.var(*v).ty.is_pointer()) else {
        return refuse("the function has no array parameter of this name".into(), None);
    };
    if kernel.constants.contains(&array) {
        return refuse("it is there already".into(), None);
    }
    let Some(own) = bytes(kernel, array) else {
        return refuse("its extents are not constant".into(), None);
    };
    let all = kernel.constants.iter().filter_map(|v| bytes(kernel, *v));
    let total = all.fold(own, u64::saturating_add);
    if total > CONSTANT_BYTES {
        let why = format!(
            "the constant arrays would take {total} bytes, of which there are {CONSTANT_BYTES}"
        );
        return refuse(why, None);
    }
    if let Some((why, at)) = changes(kernel, array) {
        return refuse(why.into(), Some(at));
    }
    let mut read = false;
    for (root, nest) in &kernel.nests {
        let Some(stmt) = walk::loop_stmt(&function.body, *root) else { continue };
        let body = Block::new(vec![stmt.clone()]);
        read |= walk::times_mentioned(&body, array) > 0;
        if let Some((why, at)) = differs(kernel, nest, &body, array) {
            return refuse(why, Some(at));
        }
    }
    match read {
        true => Ok(LegalConstant { kernel, array }),
        false => refuse("no bound nest reads it: bind its loops first".into(), None),
    }
}

/// Notes the array; reads are replaced when the nests are lowered.
pub fn apply(legal: LegalConstant<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let array = kernel.name_of(legal.array).to_string();
    kernel.constants.insert(legal.array);
    kernel.assume(Assumption::ConstantCopy { array });
    Rewritten::same_loops(kernel)
}

/// Size of an array with constant extents.
fn bytes(kernel: &Kernel, array: VarId) -> Option<u64> {
    let var = kernel.func().var(array);
    let element = var.ty.pointee()?;
    element.scalar()?;
    let size = warpsmith_ir::layout::layout_of(&kernel.module, element).size;
    extents(var.shape.as_deref()?)?.into_iter().try_fold(size, u64::checked_mul)
}

/// Where the function writes the array, or uses it otherwise than by its elements.
fn changes(kernel: &Kernel, array: VarId) -> Option<(&'static str, Origin)> {
    let function = kernel.func();
    let rank = function.var(array).shape.as_ref().map_or(0, Vec::len);
    let mut found = None;
    walk::each_stmt(&function.body, &mut |s| {
        let o = walk::operands(s);
        if let Some(place) = o.writes
            && [Base::Var(array), Base::Anything].contains(&base_of(place))
        {
            found = found.take().or(Some(("the function may write it", s.origin.clone())));
        }
        let (mut uses, mut elements) = (0, 0);
        let mut look = |e: &Expr| match &*e.kind {
            ExprKind::Read(p) | ExprKind::AddressOf(p) => {
                uses += u32::from(*p.kind == PlaceKind::Var(array));
                let read = matches!(&*e.kind, ExprKind::Read(_));
                elements += u32::from(read && subscripts(p, array, rank).is_some());
            }
            _ => {}
        };
        o.reads.iter().for_each(|e| walk::each_expr(e, &mut look));
        o.writes.into_iter().for_each(|p| walk::each_expr_of_place(p, &mut look));
        if uses != elements && found.is_none() {
            found = Some(("it is used otherwise than by its elements", s.origin.clone()));
        }
    });
    found
}

/// A subscript that is not the same for all threads of a warp.
fn differs(kernel: &Kernel, nest: &Nest, body: &Block, array: VarId) -> Option<(String, Origin)> {
    let mut depends = BTreeMap::new();
    for (k, (id, axis)) in nest.axes.iter().enumerate() {
        // Threads are numbered along x first, then y, then z; all loops of a reduction are bound to x.
        let before: u32 = Axis::ALL[..axis.index()].iter().map(|a| nest.block[a.index()]).product();
        if before < WARP
            && let Some(l) = kernel.find_loop(*id)
        {
            depends.insert(l.var, 1u8 << k);
        }
    }
    axes::spread(body, &mut depends);
    let rank = kernel.func().var(array).shape.as_ref().map_or(0, Vec::len);
    let mut found = None;
    let mut look = |e: &Expr| {
        let ExprKind::Read(p) = &*e.kind else { return };
        for index in subscripts(p, array, rank).into_iter().flatten() {
            let mut culprit = None;
            walk::each_var(index, &mut |v| {
                culprit = culprit.or(depends.contains_key(&v).then_some(v));
            });
            let why = match culprit {
                Some(v) => {
                    let name = kernel.name_of(v);
                    Some(format!(
                        "its subscript depends on `{name}`, which differs between the threads of a warp"
                    ))
                }
                None if walk::reads_memory(index) => {
                    Some("its subscript is read from memory".into())
                }
                None => None,
            };
            if let Some(why) = why {
                found = found.take().or(Some((why, e.origin.clone())));
            }
        }
    };
    walk::each_stmt(body, &mut |s| {
        let o = walk::operands(s);
        o.reads.iter().for_each(|e| walk::each_expr(e, &mut look));
        o.writes.into_iter().for_each(|p| walk::each_expr_of_place(p, &mut look));
    });
    found
}
