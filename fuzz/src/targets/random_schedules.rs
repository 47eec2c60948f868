//! A random function under random legal schedules, through all of `tune`: the kernels compute what the function does. The
//! comparison with C is the property test `random_schedules` of the command's crate.

use warpsmith_testgen::{TunableProgram, random_schedule};

use crate::state::{State, kinds};
use crate::tuned;

/// Looks at one input: its first byte says how many of the others choose the function.
pub fn run(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let (program, steps) = rest.split_at(usize::from(*first).min(rest.len()));
    let source = TunableProgram::new(program).source();
    let mut state = State::new(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let steps = random_schedule(steps, &kinds(), &mut state).join("\n");
    let sizes = [("n", 17), ("m", 9), ("k", 6)];
    tuned(source.as_bytes(), Some(steps.as_bytes()), &sizes);
}
