//! Proofs of a rewritten file: at each block shape that it was checked with, read by read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::session::{Refusal, Session};
use crate::source::patch::Patch;
use crate::verify::check::{Checked, Rewritten};
use crate::verify::proof::{self, solver::Solver};

/// What was proved at one block shape.
#[derive(Clone, Debug)]
pub struct ShapeProof {
    pub block: [u32; 3],
    /// For each marked read that differs: why it is not proved.
    pub reads: BTreeMap<usize, Option<String>>,
    pub assumed: BTreeSet<String>,
    pub time: Duration,
}

impl ShapeProof {
    pub fn proves(&self, mark: usize) -> bool {
        self.reads.get(&mark) == Some(&None)
    }
}

/// Tries to prove all reads at every block shape that the text was checked with, that of the file first.
///
/// # Errors
/// W720 for a text that does not compile: a bug of ours.
pub fn prove(
    session: &mut Session,
    checked: &Checked,
    dropped: &[String],
    edits: &Patch,
) -> Result<Vec<ShapeProof>, Refusal> {
    let Some(program) = session.input.solver.clone() else { return Ok(vec![]) };
    let mut launches = checked.launches.clone();
    let own = session.own;
    launches.sort_by_key(|l| (Some(l.block) != own, l.block));
    launches.dedup_by_key(|l| l.block);
    let bounds = bounds(session);
    let mut all = vec![];
    for launch in launches {
        let start = Instant::now();
        let rewritten = Rewritten::new(session, edits, &launch)?;
        let shaped = session.shaped(&launch)?;
        let Some(mut solver) = Solver::start(&program) else { return Ok(all) };
        let (old, new) = (&shaped.reference, &rewritten.program);
        let proof = proof::prove(&mut solver, old, new, launch.block, &bounds, dropped);
        let mut reads = BTreeMap::new();
        let mut assumed = BTreeSet::new();
        match proof {
            Ok(proof) => {
                assumed = proof.assumed;
                for (at, why) in proof.reads {
                    let byte = at.map(|s| rewritten.origin(s).start as usize);
                    let Some(mark) = byte.and_then(|b| mark_at(session, b)) else { continue };
                    let known = reads.entry(mark).or_insert(None);
                    *known = known.take().or(why);
                }
            }
            Err(why) => {
                reads.extend((0..session.plan.reads.len()).map(|m| (m, Some(why.clone()))));
            }
        }
        all.push(ShapeProof { block: launch.block, reads, assumed, time: start.elapsed() });
    }
    Ok(all)
}

fn mark_at(session: &Session, byte: usize) -> Option<usize> {
    session.plan.marks.reads.iter().position(|m| m.whole.start <= byte && byte < m.whole.end)
}

/// Parameters that bound positions along one axis.
fn bounds(session: &Session) -> Vec<(usize, String)> {
    let mut all = vec![];
    for (name, role) in &session.usage.roles {
        let axes: Vec<usize> = (0..3).filter(|a| role.axes[*a]).collect();
        if let [axis] = axes.as_slice() {
            all.push((*axis, name.clone()));
        }
    }
    all
}
