//! Registers or shared memory.

use crate::access::{ArgumentAccess, Numbering, TouchId, Touches};

/// One use of a variable: the routine's name, its threads, what it touches.
pub(super) struct Use<'a> {
    pub name: &'a str,
    pub threads: u32,
    pub access: &'a ArgumentAccess,
}

/// A variable that can live in registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct InRegisters {
    pub touch: TouchId,
    /// Floats of a thread's array.
    pub width: u32,
    /// Those of them that it touches: the others take no registers.
    pub floats: u32,
}

/// More than a thread has.
const MAX_WIDTH: u32 = 1024;

/// Whether a variable can live in registers: all uses have the same number of threads, every thread touches the same offsets
/// in each, and none forbids it.
///
/// # Errors
/// The reason why not.
pub(super) fn in_registers(uses: &[Use<'_>], touches: &Touches) -> Result<InRegisters, String> {
    let Some(first) = uses.first() else { return Err("nothing uses it".into()) };
    for one in uses {
        if let Err(why) = one.access.numbering {
            return Err(format!("{}: {why}", one.name));
        }
        if one.threads != first.threads {
            let (a, b) = (first.threads, one.threads);
            return Err(format!("{} runs on {a} threads, {} on {b}", first.name, one.name));
        }
        if one.access.touch != first.access.touch {
            return Err(format!(
                "a thread touches other offsets in {} than in {}",
                first.name, one.name
            ));
        }
    }
    let Some(touch) = first.access.touch else { return Err("what is touched is not known".into()) };
    let (width, floats) = (touches.get(touch).width(), touches.get(touch).floats());
    match width <= MAX_WIDTH {
        true => Ok(InRegisters { touch, width, floats }),
        false => Err(format!("a thread would need {width} registers")),
    }
}

/// How the text of a routine numbers registers; only asked where there is an answer.
pub(super) fn numbering(access: &ArgumentAccess) -> Numbering {
    access.numbering.unwrap_or(Numbering::Placeholder)
}
