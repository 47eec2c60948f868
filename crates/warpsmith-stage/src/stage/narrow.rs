//! Tiles of a type that does not hold all values of the elements: data that were tried say nothing of others.

use warpsmith_front::sema::scalar_text;
use warpsmith_ir::{Diagnostic, Module, Scalar, Type, Var, VarKind};

use super::{Access, Verdict};
use crate::launch::Launch;
use crate::session::{Refusal, Session, place};
use crate::source::scope;

/// Refuses reads that are not proved from tiles of such types.
///
/// # Errors
/// W713 for the first.
pub(super) fn refused(
    session: &mut Session,
    launches: &[Launch],
    accesses: &[Access],
) -> Result<(), Refusal> {
    let Some(launch) = launches.first() else { return Ok(()) };
    let shaped = session.shaped(launch)?;
    let of = |text: &str, is: fn(&Var) -> bool| named_in(&shaped.reference.module, text, is);
    for access in accesses.iter().filter(|a| a.verdict == Verdict::Checked) {
        let tile = of(&access.replacement, is_shared);
        let (Some(tile), Some(own)) = (tile, of(&access.original, |v| v.ty.is_pointer())) else {
            continue;
        };
        if !holds(tile, own) {
            let [tile, own] = [tile, own].map(scalar_text);
            let what = format!("a tile of `{tile}` does not hold all values of `{own}`");
            let error = Diagnostic::error("W713", what)
                .label(place(&access.at), "this read is not proved to give what the element is")
                .help(format!("declare the tile with elements of `{own}`"));
            return Err(session.refuse(true, vec![error]));
        }
    }
    Ok(())
}

/// What to do about a tile whose elements are of another type than those that are read: where they are converted, none is found there.
pub(super) fn converted(session: &mut Session, launch: &Launch, mark: usize) -> Option<String> {
    let shaped = session.shaped(launch).ok()?;
    let module = &shaped.reference.module;
    let read = session.plan.slice(&session.plan.mark(mark).global());
    let own = named_in(module, read, |v| v.ty.is_pointer())?;
    let tile = match &session.plan.reads[mark].site.arrays[..] {
        [tile] => &tile.name,
        _ => return None,
    };
    let of_tile = named_in(module, tile, is_shared).filter(|s| *s != own)?;
    let [of_tile, own] = [of_tile, own].map(scalar_text);
    Some(format!(
        "`{tile}` has elements of `{of_tile}` and the array of `{own}`: mark what is converted, `__opt__(({of_tile}){read})`"
    ))
}

/// The scalars of the first variable of a kind that a text names.
fn named_in(module: &Module, text: &str, is: fn(&Var) -> bool) -> Option<Scalar> {
    let vars: Vec<&Var> = module.functions.iter().flat_map(|f| &f.vars).collect();
    let named = |n: &String| vars.iter().find(|v| is(v) && v.name.trim_start_matches("::") == n);
    scope::names(text).iter().find_map(named).and_then(|v| element(&v.ty))
}

fn is_shared(v: &Var) -> bool {
    matches!(v.kind, VarKind::Shared | VarKind::DynamicShared)
}

fn element(ty: &Type) -> Option<Scalar> {
    ty.pointee().unwrap_or(ty).innermost().scalar()
}

/// Whether a type has all values of another one, or, of whole numbers, as many.
fn holds(tile: Scalar, own: Scalar) -> bool {
    let digits = |s: Scalar| match s {
        Scalar::F16 => 11,
        Scalar::BF16 => 8,
        Scalar::F32 => 24,
        Scalar::F64 => 53,
        Scalar::Bool => 1,
        s => 8 * s.bytes() - u32::from(s.is_signed()),
    };
    match (tile.is_float(), own.is_float()) {
        (false, true) => false,
        (true, true) => tile == own || tile.bytes() > own.bytes(),
        (true, false) => digits(tile) >= digits(own),
        (false, false) => tile.bytes() >= own.bytes() && (tile != Scalar::Bool || own == tile),
    }
}

#[cfg(test)]
mod tests {
    use super::holds;
    use warpsmith_ir::Scalar::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32};

    #[test]
    fn tiles_hold_what_has_as_many_digits() {
        for (tile, own) in [
            (F32, F16),
            (F32, I16),
            (F32, U16),
            (F64, I32),
            (I32, U32),
            (I32, U8),
            (BF16, U8),
            (F16, I8),
        ] {
            assert!(holds(tile, own), "{tile:?} {own:?}");
        }
        for (tile, own) in [
            (F32, I32),
            (I32, I64),
            (F64, I64),
            (F32, F64),
            (I32, F32),
            (F16, BF16),
            (BF16, F16),
            (Bool, U8),
        ] {
            assert!(!holds(tile, own), "{tile:?} {own:?}");
        }
    }
}
