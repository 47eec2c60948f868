//! Loops with many iterations are verified with a few: an emulator takes too long for all. How many there are changes nothing in
//! kernels, and in host code only the limit of the loop and, by its parity, which of two buffers is written first.

use warpsmith_fuse::plan::{Covered, Launch};
use warpsmith_fuse::script::{Loop, Node, Program, Region};

/// Launches of a cover up to which it is verified as it is.
const MOST: u64 = 2000;

/// Whether a cover launches too many kernels.
pub fn is_needed(cover: &Covered) -> bool {
    launches(&cover.launches) > MOST
}

fn launches(list: &[Launch]) -> u64 {
    let one = |launch: &Launch| match launch {
        Launch::Kernel(_) => 1,
        Launch::Loop { source, body } => source.trips.saturating_mul(launches(body)),
    };
    list.iter().map(one).fold(0, u64::saturating_add)
}

/// Three iterations or four, whichever has the same parity.
fn few(trips: u64) -> u64 {
    trips.min(4 - trips % 2)
}

/// The program with few iterations of every loop.
pub fn program(program: &Program) -> Program {
    Program { body: region(&program.body), ..program.clone() }
}

fn region(all: &Region) -> Region {
    let node = |node: &Node| match node {
        Node::Call(call) => Node::Call(call.clone()),
        Node::Loop(l) => {
            Node::Loop(Loop { trips: few(l.trips), body: region(&l.body), ..l.clone() })
        }
    };
    Region { nodes: all.nodes.iter().map(node).collect() }
}

/// The cover of that program.
pub fn cover(cover: &Covered) -> Covered {
    Covered { launches: shortened(&cover.launches), seconds: cover.seconds }
}

fn shortened(list: &[Launch]) -> Vec<Launch> {
    let one = |launch: &Launch| match launch {
        Launch::Kernel(kernel) => Launch::Kernel(kernel.clone()),
        Launch::Loop { source, body } => {
            let source = Loop { trips: few(source.trips), ..source.clone() };
            Launch::Loop { source, body: shortened(body) }
        }
    };
    list.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parity_stays() {
        assert_eq!([1, 2, 3, 4, 5, 6, 1001, 1000].map(few), [1, 2, 3, 4, 3, 4, 3, 4]);
    }
}
