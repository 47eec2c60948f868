//! Asynchronous copies to shared memory: the `__pipeline_…` primitives.

use warpsmith_ir::{Diagnostic, Expr, Scalar, StmtKind};

use super::call::{Call, Lowered};

const NAMES: &[&str] = &["__pipeline_memcpy_async", "__pipeline_commit", "__pipeline_wait_prior"];

pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    match c.name {
        "__pipeline_memcpy_async" => Some(copy(c)),
        "__pipeline_commit" => Some(commit(c)),
        "__pipeline_wait_prior" => Some(wait(c)),
        _ => None,
    }
}

fn copy(c: &mut Call<'_>) -> Lowered {
    c.arity_between(3, 4)?;
    c.pointee(0)?;
    c.pointee(1)?;
    check_size(c, c.constant(2)?)?;
    let bytes = c.scalar_arg(2, Scalar::I32)?;
    let zero_fill = if c.args.len() == 4 { Some(c.scalar_arg(3, Scalar::I32)?) } else { None };
    emit_copy(c, 0, 1, bytes, zero_fill);
    Ok(None)
}

/// W103 unless the hardware copies that many bytes at once.
pub fn check_size(c: &Call<'_>, bytes: i64) -> Result<(), Diagnostic> {
    if matches!(bytes, 4 | 8 | 16) {
        return Ok(());
    }
    Err(c.error("W103", format!("an asynchronous copy moves 4, 8 or 16 bytes, not {bytes}")))
}

pub fn emit_copy(c: &mut Call<'_>, to: usize, from: usize, bytes: Expr, zero_fill: Option<Expr>) {
    let (destination, source) = (c.args[to].clone(), c.args[from].clone());
    c.emit(StmtKind::AsyncCopy { destination, source, bytes, zero_fill });
}

fn commit(c: &mut Call<'_>) -> Lowered {
    c.arity(0)?;
    c.emit(StmtKind::AsyncCommit);
    Ok(None)
}

fn wait(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    match u32::try_from(c.constant(0)?) {
        Ok(n) => {
            c.emit(StmtKind::AsyncWait(n));
            Ok(None)
        }
        Err(_) => Err(
            c.error("W103", format!("`{}` takes a number of groups that is not negative", c.path))
        ),
    }
}
