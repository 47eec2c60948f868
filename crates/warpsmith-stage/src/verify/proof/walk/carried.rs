//! Values that a loop hands on from each iteration to the next, as planes in registers are: a variable holds what it was given in the
//! iteration before, and in the first one what it held before the loop.

use std::collections::HashMap;

use warpsmith_ir::Block;

use super::statements::{has_jump, has_return, set_by};
use super::{Tree, Truth, Walker};
use crate::verify::proof::eval::Held;
use crate::verify::proof::formula::Sum;

/// Iterations that a value is followed back through, at most: as many planes as the widest stencils keep.
const MAX_BACK: usize = 10;
/// Nodes of such a value, at most.
const MAX_NODES: usize = 60;

/// A loop whose values are looked at.
pub(super) struct Carrying<'l, 'a> {
    /// Variables as they were before it.
    pub before: &'l HashMap<u32, Held>,
    /// The name of the number of the iteration.
    pub name: &'l str,
    /// It has a barrier.
    pub barred: bool,
    /// What is run in each iteration, of both kernels.
    pub parts: &'l [(&'a Block, &'a Block)],
    /// Unknown values up to this number are of the time before the loop.
    pub fresh: u32,
}

/// What variables hold at the end of an iteration, made from what they hold at its start.
struct Ends {
    /// For each variable the number of what it holds at the start.
    starts: HashMap<u32, u32>,
    ends: HashMap<u32, Tree>,
}

impl<'a> Walker<'a> {
    /// Gives variables that hold anything at the start of an iteration what the one before left them.
    pub(super) fn carry(&mut self, of: &Carrying<'_, 'a>) {
        let blocks: Vec<&Block> = of.parts.iter().map(|(old, _)| *old).collect();
        if blocks.iter().any(|b| has_jump(b) || has_return(b)) {
            return;
        }
        let start = |v: &u32| match (of.before.get(v), self.eval.frame.vars.get(v)) {
            (Some(Held::Tree(_)), Some(Held::Tree(Tree::Own(id)))) => Some((*v, *id)),
            _ => None,
        };
        let starts: HashMap<u32, u32> = set_by(&blocks).iter().filter_map(start).collect();
        if starts.is_empty() {
            return;
        }
        let ends = Ends { ends: self.ends(of, &starts), starts };
        let n = Sum::name(of.name);
        let mut all: Vec<u32> = ends.ends.keys().copied().collect();
        all.sort_unstable();
        for v in all {
            let tree = self.start(of, &ends, v, &n, &mut vec![]);
            if tree.size() <= MAX_NODES {
                self.eval.frame.vars.insert(v, Held::Tree(tree));
            }
        }
    }

    /// What variables hold at the end of an iteration: it is walked once, and nothing of that is kept.
    fn ends(&mut self, of: &Carrying<'_, 'a>, starts: &HashMap<u32, u32>) -> HashMap<u32, Tree> {
        let (frame, path, known) =
            (self.eval.frame.clone(), self.eval.path.clone(), self.eval.known.clone());
        let (fresh, depth, calls) = (self.eval.fresh, self.depth, self.calls);
        let (turns, around) = (self.turns.clone(), self.unbarred);
        let noted = [self.eval.loads.len(), self.eval.shared_reads.len()];
        let walked = [self.out.events.len(), self.out.loops.len(), self.out.dropped.len()];
        let unbarred = self.out.unbarred;
        let counter = of.barred.then(|| of.name.to_string());
        let done = self.turn(counter, Truth::Always, of.parts);
        let after = std::mem::replace(&mut self.eval.frame, frame);
        (self.eval.path, self.eval.known, self.eval.fresh) = (path, known, fresh);
        (self.depth, self.calls) = (depth, calls);
        (self.turns, self.unbarred) = (turns, around);
        self.out.unbarred = unbarred;
        self.eval.loads.truncate(noted[0]);
        self.eval.shared_reads.truncate(noted[1]);
        self.out.events.truncate(walked[0]);
        self.out.loops.truncate(walked[1]);
        self.out.dropped.truncate(walked[2]);
        if done.is_err() {
            return HashMap::new();
        }
        let end = |(v, id): (&u32, &u32)| match after.vars.get(v) {
            Some(Held::Tree(tree)) if *tree != Tree::Own(*id) && lasts(of, starts, tree) => {
                Some((*v, tree.clone()))
            }
            _ => None,
        };
        starts.iter().filter_map(end).collect()
    }

    /// What a variable holds at the start of the iteration of a number.
    fn start(
        &mut self,
        of: &Carrying<'_, 'a>,
        ends: &Ends,
        v: u32,
        n: &Sum,
        back: &mut Vec<u32>,
    ) -> Tree {
        let end = ends.ends.get(&v).filter(|_| back.len() < MAX_BACK && !back.contains(&v));
        let (Some(end), Some(Held::Tree(first))) = (end, of.before.get(&v)) else {
            return self.any();
        };
        let before = n.plus(&Sum::number(1), -1);
        let shifted = end.renamed(&|name: &str| (name == of.name).then(|| before.clone()));
        back.push(v);
        let of_start = |id: u32| ends.starts.iter().find(|(_, s)| **s == id).map(|(w, _)| *w);
        let last = shifted
            .with_own(&mut |id| of_start(id).map(|w| self.start(of, ends, w, &before, back)));
        back.pop();
        Tree::choose(&Truth::equal(n, &Sum::default()), first.clone(), last)
    }

    /// A value of one moment.
    fn any(&mut self) -> Tree {
        self.eval.fresh += 1;
        Tree::Own(self.eval.fresh)
    }
}

/// Whether a value can be told of another iteration by its number: it is made from elements that the kernel does not change, numbers
/// that all iterations have, and what variables hold at the start.
fn lasts(of: &Carrying<'_, '_>, starts: &HashMap<u32, u32>, tree: &Tree) -> bool {
    let mut fine = tree.size() <= MAX_NODES;
    let mut name = |name: &str| fine &= name == of.name || is_older(name, of.fresh);
    tree.names(&mut name);
    tree.each(&mut |t| match t {
        Tree::Changing(..) | Tree::Shared(..) => fine = false,
        Tree::Own(id) => fine &= *id <= of.fresh || starts.values().any(|s| s == id),
        _ => {}
    });
    fine
}

/// Whether a name is of a launch or a thread, or was made up no later than a number says: `t_f12` is the twelfth.
fn is_older(name: &str, fresh: u32) -> bool {
    let tail = name.get(2..).unwrap_or("");
    let letters = tail.trim_end_matches(|c: char| c.is_ascii_digit());
    match tail[letters.len()..].parse::<u32>() {
        Ok(number) if letters.chars().all(|c| c.is_ascii_alphabetic()) && !letters.is_empty() => {
            number <= fresh
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn names_that_were_made_up_have_an_age() {
        assert!(is_older("t_x", 3) && is_older("u_bx", 3) && is_older("u_7", 3));
        assert!(is_older("u_7_12", 3) && is_older("t_f3", 3));
        assert!(!is_older("t_f4", 3) && !is_older("u_n12", 3) && !is_older("t_b4", 3));
    }
}
