//! Loops with many iterations are verified with a few: an emulator takes too long for all. How many there are changes nothing in
//! kernels, and in host code only the limit of the loop and, by its parity, which of two buffers is written first.

use warpsmith_fuse::plan::{Covered, Launch};
use warpsmith_fuse::script::{Loop, Node, Program, Region};

/// Calls of references up to which a cover is verified as it is: some seconds.
const MOST: u64 = 100_000;

/// Whether running a cover on so many elements takes too many calls.
pub fn is_needed(cover: &Covered, elements: usize) -> bool {
    calls(&cover.launches).saturating_mul(elements as u64) > MOST
}

fn calls(list: &[Launch]) -> u64 {
    let one = |launch: &Launch| match launch {
        Launch::Kernel(kernel) => kernel.calls.len() as u64,
        Launch::Loop { source, body } => source.trips.saturating_mul(calls(body)),
    };
    list.iter().map(one).fold(0, u64::saturating_add)
}

/// Three iterations or four, whichever has the same parity; two or three of a loop with loops inside, which multiply.
fn few(source: &Loop) -> u64 {
    let has_loops = source.body.nodes.iter().any(|n| matches!(n, Node::Loop(_)));
    let odd = source.trips % 2;
    source.trips.min(if has_loops { 2 + odd } else { 4 - odd })
}

/// The program with few iterations of every loop.
pub fn program(program: &Program) -> Program {
    Program { body: region(&program.body), ..program.clone() }
}

fn region(all: &Region) -> Region {
    let node = |node: &Node| match node {
        Node::Call(call) => Node::Call(call.clone()),
        Node::Loop(l) => Node::Loop(Loop { trips: few(l), body: region(&l.body), ..l.clone() }),
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
            let source = Loop { trips: few(source), ..source.clone() };
            Launch::Loop { source, body: shortened(body) }
        }
    };
    list.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith_ir::{FileId, Span};

    fn a_loop(trips: u64, inside: Vec<Node>) -> Loop {
        let span = Span { file: FileId(0), start: 0, end: 0 };
        let body = Region { nodes: inside };
        Loop { trips, carried: vec![], results: vec![], body, span }
    }

    #[test]
    fn the_parity_stays() {
        let alone = |trips| few(&a_loop(trips, vec![]));
        assert_eq!([1, 2, 3, 4, 5, 6, 1001, 1000].map(alone), [1, 2, 3, 4, 3, 4, 3, 4]);
        let outer = |trips| few(&a_loop(trips, vec![Node::Loop(a_loop(9, vec![]))]));
        assert_eq!([1, 2, 3, 4, 5, 1001, 1000].map(outer), [1, 2, 3, 2, 3, 3, 2]);
    }
}
