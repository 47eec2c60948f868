//! Where pointers lead: the objects that each access of a program may touch.

use std::collections::{BTreeSet, HashMap};

use crate::compile::lir::{Home, Op, Opd, Program, Role};

/// The objects each virtual register may point into; `None`: any.
fn points_to(p: &Program) -> HashMap<u32, Option<BTreeSet<u64>>> {
    let mut sets: HashMap<u32, Option<BTreeSet<u64>>> = HashMap::new();
    let mut accesses = p.virtual_accesses.clone();
    loop {
        let mut changed = false;
        for ins in &p.virtual_code {
            let mut op = ins.op.clone();
            let pure = op.is_pure();
            let compare = matches!(&op, Op::Bin { op, .. } if op.is_comparison());
            let mut sum = Some(BTreeSet::new());
            let mut defs = vec![];
            op.operands(&mut accesses, &mut |o, role| match (role, *o) {
                (Role::Def, Opd::R(r)) => defs.push(r),
                (Role::Use, o) if pure && !compare => merge(&mut sum, &pointees(p, &sets, o)),
                _ => {}
            });
            if !pure && !matches!(op, Op::Special { .. } | Op::Undef { .. }) {
                sum = None;
            }
            for d in defs {
                let old = sets.entry(d).or_insert_with(|| Some(BTreeSet::new()));
                let mut new = old.clone();
                merge(&mut new, &sum);
                if new != *old {
                    *old = new;
                    changed = true;
                }
            }
        }
        if !changed {
            return sets;
        }
    }
}

fn merge(a: &mut Option<BTreeSet<u64>>, b: &Option<BTreeSet<u64>>) {
    match (a.as_mut(), b) {
        (Some(x), Some(y)) => x.extend(y),
        _ => *a = None,
    }
}

fn pointees(
    p: &Program,
    sets: &HashMap<u32, Option<BTreeSet<u64>>>,
    o: Opd,
) -> Option<BTreeSet<u64>> {
    match o {
        Opd::K(k) => {
            let handle = p.locate(k).0;
            let known = handle != 0 && handle < p.objects.len() as u64;
            Some(if known { of_cluster(p, handle).collect() } else { BTreeSet::new() })
        }
        Opd::R(r) => sets.get(&r).cloned().unwrap_or(Some(BTreeSet::new())),
        _ => None,
    }
}

/// The object, and where it is an array of one block of a cluster those of the others.
fn of_cluster(p: &Program, handle: u64) -> std::ops::Range<u64> {
    match p.objects[handle as usize].home {
        Home::Cluster { rank, .. } => {
            let first = handle - u64::from(rank);
            first..first + u64::from(p.cluster.iter().product::<u32>())
        }
        _ => handle..handle + 1,
    }
}

/// What an instruction does with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    Read,
    Write,
    Atomic,
}

/// One access of one instruction.
#[derive(Clone, Debug)]
pub struct Target {
    /// Index of the instruction.
    pub pc: usize,
    pub access: u32,
    pub usage: Usage,
    /// Bytes of the narrowest element that is moved.
    pub width: u32,
    /// The objects it may touch, by number; all when its pointer cannot be followed.
    pub objects: BTreeSet<u64>,
}

/// All accesses of a program, in the order of its instructions.
pub fn targets(p: &Program) -> Vec<Target> {
    let sets = points_to(p);
    let all: BTreeSet<u64> = (0..p.objects.len() as u64).collect();
    let mut list = vec![];
    for (pc, ins) in p.virtual_code.iter().enumerate() {
        let mut note = |access: u32, usage: Usage, narrow: Option<u32>| {
            let a = &p.virtual_accesses[access as usize];
            let mut set = pointees(p, &sets, a.base);
            for t in &a.terms {
                // An index may carry a pointer that was taken apart by hand.
                merge(&mut set, &pointees(p, &sets, t.index));
            }
            let objects = set.filter(|s| !s.is_empty()).unwrap_or_else(|| all.clone());
            let width = narrow.unwrap_or(a.elem.bytes());
            list.push(Target { pc, access, usage, width, objects });
        };
        match &ins.op {
            Op::Load { access } => note(*access, Usage::Read, None),
            Op::Store { access } => note(*access, Usage::Write, None),
            Op::Atomic { access, .. } => note(*access, Usage::Atomic, None),
            Op::AsyncCopy { destination, source, .. } => {
                note(*destination, Usage::Write, Some(4));
                note(*source, Usage::Read, Some(4));
            }
            _ => {}
        }
    }
    list
}

/// The granule of each object that may be written, and with `reads` of those that are only read: log2 of the narrowest access
/// to it, at most 4 bytes.
pub fn granules(p: &Program, targets: &[Target], reads: bool) -> Vec<Option<u32>> {
    let n = p.objects.len();
    let mut written = vec![false; n];
    let mut width = vec![2u32; n];
    for t in targets {
        for &h in &t.objects {
            written[h as usize] |= reads || t.usage != Usage::Read;
            width[h as usize] = width[h as usize].min(t.width.min(4).trailing_zeros());
        }
    }
    // Whoever frees memory ends what others do with it.
    if p.code.iter().any(|op| matches!(op, Op::HeapFree { .. }))
        && let Some(written) = p.heap.and_then(|heap| written.get_mut(heap as usize))
    {
        *written = true;
    }
    let local = |i: usize| matches!(p.objects[i].home, Home::Local { .. } | Home::Invalid);
    (0..n).map(|i| (written[i] && !local(i)).then_some(width[i])).collect()
}
