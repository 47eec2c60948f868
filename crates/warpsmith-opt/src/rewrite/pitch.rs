//! Gives the rows of an array a length that is a multiple of a number.
//!
//! ```text
//!     … A[i][j] …
//!       ==> pitch A 32
//!     A_pitch = (m + 31) / 32 * 32; copy A to A_pitched;  … A_pitched[i * A_pitch + j] …;  copy A_pitched back
//! ```
//!
//! Every row then begins at a multiple of as many elements, so that the threads of a warp that read one row side by side
//! need no more sectors than their elements have, and adjacent elements can be read together. The copy lives in the
//! workspace; it is made once, before everything else, and goes back at the end where the function writes the array.
//!
//! Legal for an array parameter with at least two declared extents that the launcher knows at its start, which the
//! function uses by its elements only; a function that writes it must not return before its end.

use std::fmt;
use warpsmith_ir::{BinaryOp, Block, Expr, SourceMap, Stmt, StmtKind, VarId};

use super::Rewritten;
use super::edit::copy::{self, Side, Uses};
use super::step::grammar::{name, number, wanted};
use super::step::{About, Law, Rewrite, StepError};
use crate::assumption::Assumption;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space1;
use winnow::combinator::preceded;

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// The array whose rows get longer.
    pub array: String,
    /// Elements, a multiple of which each row has.
    pub unit: u32,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.array, self.unit)
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "pitch",
        example: "pitch A 32",
        does: "lets the rows of an array begin at multiples of so many elements: the function works on a copy in the workspace, `A_pitched` for later steps",
        legal: "the array has two or more extents that the launcher knows at its start, is used by its elements only, and is not staged yet",
        law: Law {
            before: "\
void double_rows(int n, int m, float A[n][m]) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i][j] = 2.0f * A[i][j];
}
",
            steps: "pitch A 32",
            after: "\
void double_rows(int n, int m, float *A, int A_pitch, float *__restrict__ A_pitched) {
    // with zeros between the end of a row and the next one
    // threads of the grid along y, 8 a block
    for (int row = 0; row < n; ++row) {
        // threads of the grid along x, 32 a block
        for (int column = 0; column < A_pitch; ++column) {
            A_pitched[(size_t)row * A_pitch + column] = column < m ? A[(size_t)row * m + column]
                                                            : 0.0f;
        }
    }

    // parallel
    for (int i = 0; i < n; ++i) {
        // parallel
        for (int j = 0; j < m; ++j) {
            A_pitched[(size_t)i * A_pitch + j] = 2.0f * A_pitched[(size_t)i * A_pitch + j];
        }
    }

    // back to where the caller looks
    // threads of the grid along y, 8 a block
    for (int row = 0; row < n; ++row) {
        // threads of the grid along x, 32 a block
        for (int column = 0; column < m; ++column) {
            A[(size_t)row * m + column] = A_pitched[(size_t)row * A_pitch + column];
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let array = name.parse_next(input)?;
        let unit = preceded(space1, number)
            .context(wanted(
                "a number of elements, a multiple of which each row has, is wanted here",
            ))
            .parse_next(input)?;
        Ok(Args { array, unit })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, &self.array, self.unit)?))
    }
}

/// Largest multiple, in elements.
const MOST: u32 = 1024;

/// The verdict on a `pitch`, which alone allows it.
pub struct LegalPitch<'k> {
    kernel: &'k Kernel,
    array: VarId,
    unit: u32,
    uses: Uses,
}

/// Asks whether the rows of the array `name` can begin at multiples of `unit` elements.
///
/// # Errors
/// [`Refusal::CannotCopy`] with the first reason why not.
pub fn check<'k>(kernel: &'k Kernel, name: &str, unit: u32) -> Result<LegalPitch<'k>, Refusal> {
    let refuse = |why: &str| {
        Err(Refusal::CannotCopy {
            name: name.into(),
            verb: "pitch",
            why: why.into(),
            at: Box::default(),
        })
    };
    let function = kernel.func();
    let array = function.params.iter().copied().find(|v| function.var(*v).name == name);
    let Some(array) = array.filter(|v| function.var(*v).ty.is_pointer()) else {
        return refuse("the function has no array parameter of this name");
    };
    if !(2..=MOST).contains(&unit) {
        return refuse("its rows can begin at multiples of 2 to 1024 elements");
    }
    if function.var(array).ty.pointee().and_then(|ty| ty.scalar()).is_none() {
        return refuse("its elements are structures");
    }
    let shape = function.var(array).shape.as_deref().unwrap_or_default();
    if shape.len() < 2 {
        return refuse("it has no rows: an array with two extents or more is wanted");
    }
    if !shape.iter().all(|e| kernel.known_at_start(e)) {
        return refuse("its extents are not known when the launcher starts");
    }
    let scratch = kernel.scratch.iter().any(|s| s.var == array);
    if function.var(array).pitched {
        return refuse("its rows lie apart already");
    }
    if kernel.constants.contains(&array) {
        return refuse("it is read from constant memory");
    }
    let staged = kernel.nests.values().any(|n| n.stages.iter().any(|s| s.array == array));
    if staged && !scratch {
        return refuse("it is staged already: pitch it first");
    }
    let uses = copy::uses(&function.body, array, shape);
    if uses.otherwise {
        return refuse("it is used otherwise than by its elements");
    }
    if uses.writes && !scratch && returns_early(&function.body) {
        return refuse("the function may return before the copy goes back");
    }
    Ok(LegalPitch { kernel, array, unit, uses })
}

fn returns_early(body: &Block) -> bool {
    let (last, rest) = match body.stmts.split_last() {
        Some((last, rest)) => (Some(last), rest),
        None => (None, &body.stmts[..]),
    };
    let rest = Block::new(rest.to_vec());
    let inner = last.into_iter().flat_map(walk::blocks).any(|b| walk::returns(b).is_some());
    inner || walk::returns(&rest).is_some()
}

/// Makes the copy and lets the function work on it.
pub fn apply(legal: LegalPitch<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let var = kernel.func().var(legal.array).clone();
    let shape = var.shape.clone().unwrap_or_default();
    let scratch = kernel.scratch.iter().any(|s| s.var == legal.array);
    let element = var.ty.pointee().cloned().unwrap_or(warpsmith_ir::Type::Void);
    let Some(row) = shape.last() else { return Rewritten::same_loops(kernel) };
    let comment = format!("rows of `{}` begin at multiples of {} elements", var.name, legal.unit);
    let length = rounded_up(row, legal.unit);
    kernel.assume(Assumption::RoundedRow { array: var.name.clone(), unit: legal.unit });
    kernel.numbers.push(legal.unit);
    let pitch = kernel.add_length(&format!("{}_pitch", var.name), length, comment);
    let mut extents = shape.clone();
    if let Some(last) = extents.last_mut() {
        *last = Expr::var(pitch, kernel.func().var(pitch).ty.clone());
    }
    if scratch {
        move_rows_apart(&mut kernel, legal.array, extents);
        known_multiple(&mut kernel, pitch, legal.unit);
        return Rewritten::same_loops(kernel);
    }
    let comment = format!("`{}` with its rows apart", var.name);
    let copy =
        kernel.add_scratch(&format!("{}_pitched", var.name), element, extents.clone(), comment);
    kernel.func_mut().vars[copy.0 as usize].pitched = true;
    let mut body = std::mem::take(&mut kernel.func_mut().body);
    copy::use_copy(&kernel, &mut body, legal.array, copy);
    kernel.func_mut().body = body;
    let side = |array: VarId| Side { array, extents: shape.clone() };
    let comment = "with zeros between the end of a row and the next one".to_string();
    let whole = Side { array: copy, extents };
    let there = copy::copy_nest(&mut kernel, &whole, &side(legal.array), comment);
    kernel.func_mut().body.stmts.insert(0, there);
    if legal.uses.writes {
        let comment = "back to where the caller looks".to_string();
        let back = copy::copy_nest(&mut kernel, &side(legal.array), &side(copy), comment);
        let stmts = &mut kernel.func_mut().body.stmts;
        let returns = |s: &Stmt| matches!(s.kind, StmtKind::Return(_));
        let at = if stmts.last().is_some_and(returns) { stmts.len() - 1 } else { stmts.len() };
        stmts.insert(at, back);
    }
    // Of the copies, too: a guard that no thread fails would be run at no size.
    known_multiple(&mut kernel, pitch, legal.unit);
    Rewritten::same_loops(kernel)
}

/// All nests know what the length of a row is a multiple of.
fn known_multiple(kernel: &mut Kernel, pitch: VarId, unit: u32) {
    for nest in kernel.nests.values_mut() {
        nest.multiples.insert(pitch, unit);
    }
}

/// Gives an array of the workspace longer rows, of which nobody uses the ends.
fn move_rows_apart(kernel: &mut Kernel, array: VarId, extents: Vec<Expr>) {
    let mut body = std::mem::take(&mut kernel.func_mut().body);
    copy::use_rows(kernel, &mut body, array, &extents);
    let function = kernel.func_mut();
    function.body = body;
    let var = &mut function.vars[array.0 as usize];
    (var.shape, var.pitched) = (Some(extents), true);
}

/// The least multiple of `unit` that is not less than `e`.
pub(super) fn rounded_up(e: &Expr, unit: u32) -> Expr {
    let ty = e.ty.scalar().unwrap_or(warpsmith_ir::Scalar::I32);
    let number = |n: u32| Expr::int(ty, n.into());
    if let Some(v) = e.as_const() {
        let unit = i64::from(unit);
        return Expr::int(ty, (v.as_i64() + unit - 1) / unit * unit);
    }
    let up = Expr::binary(BinaryOp::Add, e.clone(), number(unit - 1));
    Expr::binary(BinaryOp::Mul, Expr::binary(BinaryOp::Div, up, number(unit)), number(unit))
}
