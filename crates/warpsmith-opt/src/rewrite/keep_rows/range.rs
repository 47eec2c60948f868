//! Where rows begin and end, and how long they are.

use warpsmith_ir::ForLoop;

use super::Shape;
use crate::build::trips;
use crate::kernel::Kernel;

/// Asks whether threads can go through rows of this range together, strip by strip or as a whole.
pub fn check_length(
    kernel: &Kernel,
    range: &ForLoop,
    shape: Shape,
    strips: bool,
) -> Result<(), &'static str> {
    let own_ends = !knows_ends(kernel, range);
    match trips::sum_if_it_runs(range) {
        _ if own_ends && shape.rows > 1 => Err(
            "its rows are of several lengths, and threads of all rows of a block wait for each other",
        ),
        None if !own_ends => Err("its rows have no length that is a sum of sizes"),
        Some(n) if !strips && n.as_constant().is_some_and(|n| n > shape.longest().into()) => {
            Err("its rows are longer than what the threads would keep")
        }
        _ => Ok(()),
    }
}

/// Whether the launcher knows where a loop begins and ends.
pub fn knows_ends(kernel: &Kernel, l: &ForLoop) -> bool {
    [&l.first, &l.limit].iter().all(|e| kernel.known_at_start(e))
}
