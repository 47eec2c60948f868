//! Calls whose results no output needs are left out.

use std::collections::{HashMap, HashSet};

use warpsmith_ir::{Diagnostic, Span};

use super::resolve::{Node, Program, Region, VarId};

/// Removes what no output needs; a statement of which nothing is left is a warning, W511.
pub(super) fn remove(program: &mut Program, warnings: &mut Vec<Diagnostic>) {
    let mut live: HashSet<VarId> = program.outputs.iter().copied().collect();
    // Around a loop what one iteration needs the one before it must give: until nothing is new.
    loop {
        let before = live.len();
        mark(&program.body, &mut live);
        if live.len() == before {
            break;
        }
    }
    let mut kept: HashMap<Span, bool> = HashMap::new();
    sweep(&mut program.body, &live, &mut kept);
    let mut dead: Vec<Span> =
        kept.into_iter().filter(|(_, kept)| !kept).map(|(span, _)| span).collect();
    dead.sort_by_key(|span| span.start);
    for span in dead {
        warnings.push(
            Diagnostic::warning("W511", "no output needs this call: it is left out")
                .label(span, "never used"),
        );
    }
}

fn mark(region: &Region, live: &mut HashSet<VarId>) {
    for node in region.nodes.iter().rev() {
        match node {
            Node::Call(call) if live.contains(&call.result) => live.extend(&call.arguments),
            Node::Call(_) => {}
            Node::Loop(l) => {
                for (inner, after) in &l.results {
                    if live.contains(after) {
                        live.insert(*inner);
                    }
                }
                mark(&l.body, live);
                for c in &l.carried {
                    if live.contains(&c.inside) {
                        live.extend([c.next, c.before]);
                    }
                }
            }
        }
    }
}

fn sweep(region: &mut Region, live: &HashSet<VarId>, kept: &mut HashMap<Span, bool>) {
    region.nodes.retain_mut(|node| match node {
        Node::Call(call) => {
            let keep = live.contains(&call.result);
            *kept.entry(call.span).or_insert(false) |= keep;
            keep
        }
        Node::Loop(l) => {
            l.carried.retain(|c| live.contains(&c.inside));
            l.results.retain(|(_, after)| live.contains(after));
            sweep(&mut l.body, live, kept);
            !l.body.nodes.is_empty()
        }
    });
}
