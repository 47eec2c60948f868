//! Pointers that a text is right for where they lead to different arrays alone.
//!
//! Nobody passes one array for both pointers of a stencil, whose threads would read what others write. Where a kernel is right with that all
//! the same, since barriers stand between, a tile has what was in the array before it was changed, and the text says what it assumes.

use warpsmith_ir::{Diagnostic, Type};

use crate::launch::{Fit, Launch};
use crate::session::{Refusal, Session, Suited};
use crate::source::patch::Patch;
use crate::verify::check::{self, Checker};

/// Pairs of pointers that are looked at, at most.
const PAIRS: usize = 6;

/// The pairs that must not overlap: the array of a marked read, and one that the kernel may store to.
///
/// # Errors
/// What the emulator refuses.
pub(super) fn forbidden(
    session: &mut Session,
    checker: &Checker,
    edits: &Patch,
) -> Result<Vec<[String; 2]>, Refusal> {
    if session.input.quick && !session.input.chosen {
        return Ok(vec![]);
    }
    let all = differing(session, &checker.launches, &mut |session, suited| {
        let checked = checker.of(vec![suited]).check(session, edits, 1)?;
        Ok(!checked.problems.is_empty())
    })?;
    match all.iter().find(|pair| session.aliased.parts.contains(pair)) {
        Some(pair) => Err(parts(session, pair)),
        None => Ok(all),
    }
}

/// Tells whether a text is wrong in a launch.
type Wrong<'a> = dyn FnMut(&mut Session, Suited) -> Result<bool, Refusal> + 'a;

/// The pairs with one array for both of which a text is wrong in launches like these.
///
/// # Errors
/// What the emulator refuses.
pub(crate) fn differing(
    session: &mut Session,
    launches: &[Suited],
    wrong: &mut Wrong<'_>,
) -> Result<Vec<[String; 2]>, Refusal> {
    let mut like = check::of_own_block(session, launches);
    let Some(first) = like.first().cloned() else { return Ok(vec![]) };
    // What neighbours read across blocks is a race with several.
    like.extend(session.suited(first.block, 1, Fit::Part)?.map(|s| s.launch));
    let mut all = vec![];
    for pair in pairs(session, &first)?.into_iter().take(PAIRS) {
        for launch in &like {
            let launch = Launch { aliased: vec![pair.clone()], ..launch.clone() };
            let Some(suited) = session.suit_silently(launch)? else { continue };
            if wrong(session, suited)? {
                all.push(pair);
                break;
            }
        }
    }
    Ok(all)
}

/// The file may pass what the text is wrong with: it does not say how far apart the parts are.
fn parts(session: &Session, pair: &[String; 2]) -> Refusal {
    let [first, second] = pair;
    let error = Diagnostic::error(
        "W713",
        format!("a launch of the file passes parts of one array for `{first}` and `{second}`"),
    )
    .note(format!("the plan is right only where {}", said(pair)))
    .help("declare the pointers `__restrict__` if the parts lie apart");
    session.refuse(true, vec![error])
}

/// A pointer that a launch passes: its name, `a` or `grid.data`, what it leads to, and whether nothing is stored through it.
type Pointer<'a> = (String, &'a Type, bool);

/// Arrays of marked reads, or all where nobody marked any, with others of such elements that the kernel may store to, in the order of the parameters.
fn pairs(session: &mut Session, launch: &Launch) -> Result<Vec<[String; 2]>, Refusal> {
    let shaped = session.shaped(launch)?;
    let module = &shaped.reference.module;
    let function = module.function(shaped.reference.kernel);
    let mut pointers: Vec<Pointer<'_>> = vec![];
    for var in function.params.iter().map(|p| function.var(*p)).filter(|v| !v.restrict) {
        pointers.extend(pointer(&var.name, &var.ty));
        if let Type::Struct(id) = &var.ty {
            let fields = &module.structs[id.0 as usize].fields;
            let name = |field: &str| format!("{}.{field}", var.name);
            pointers.extend(fields.iter().filter_map(|f| pointer(&name(&f.name), &f.ty)));
        }
    }
    let read = |name: &str| {
        let marks = 0..session.plan.reads.len();
        let named = |m: usize| session.plan.slice(&session.plan.mark(m).global()).contains(name);
        let base = name.split('.').next().unwrap_or(name);
        session.plan.reads.is_empty()
            || session.tagged.iter().any(|t| t == base) && marks.into_iter().any(named)
    };
    let mut all = vec![];
    for (n, (second, of, fixed)) in pointers.iter().enumerate() {
        for (first, other, other_fixed) in &pointers[..n] {
            let stored = read(first) && !fixed || read(second) && !other_fixed;
            if stored && of.innermost() == other.innermost() {
                all.push([first.clone(), second.clone()]);
            }
        }
    }
    Ok(all)
}

fn pointer<'a>(name: &str, ty: &'a Type) -> Option<Pointer<'a>> {
    match ty {
        Type::Pointer { pointee, readonly, .. } => Some((name.to_string(), pointee, *readonly)),
        _ => None,
    }
}

/// What is assumed of a pair.
pub(crate) fn said([first, second]: &[String; 2]) -> String {
    format!("`{first}` and `{second}` do not overlap")
}
