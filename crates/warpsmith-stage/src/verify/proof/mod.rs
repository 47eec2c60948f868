//! Proofs for all sizes, at one block shape: every read that differs gives what the unmodified kernel reads.
//!
//! Both texts are parsed again and walked side by side by one thread whose number is a symbol ([`walk`]). For each read of
//! shared memory in the place of one of global memory the solver is asked for sizes, blocks and threads at which the place
//! does not hold the element: that no thread put it there since the last iteration, or that one put something else there.
//! Barriers are part of the question, and copies that were put in must stay inside of their array, read nothing that the
//! unmodified kernel does not, and meet no store without a barrier between.
//!
//! Whole numbers are exact, so that a proof is about launches in which no index leaves the range of `int`.

pub(crate) mod claims;
pub(crate) mod differ;
pub(crate) mod eval;
pub(crate) mod formula;
pub(crate) mod inline;
pub(crate) mod poly;
pub mod solver;
pub(crate) mod tree;
pub(crate) mod walk;

use std::collections::BTreeSet;

use warpsmith_ir::{Span, Type, VarKind};

use crate::program::Program;
use crate::source::ties::{Made, Tie};
use claims::{Assumed, Claims, Covers, Instance, Unproved};
use formula::{Sum, Truth};
use solver::Solver;
use tree::{Array, Tree};
use walk::{Walked, What};

/// What was proved of one text at one block shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Reads that differ: where they and their parts stand in the rewritten text, and why they are not proved.
    pub reads: Vec<(Vec<Span>, Option<Unproved>)>,
    /// What launches have to keep to.
    pub assumed: BTreeSet<String>,
    /// Where something may be wrong in launches that do not.
    pub doubts: Vec<Instance>,
    /// A read is of an array that the kernel stores to: that it stores one value to an element is assumed.
    pub changing: bool,
}

/// Names of sizes that bound positions along an axis: axis and parameter.
pub type Bounds = [(usize, String)];

/// What is known beside the two texts.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Sizes that bound positions.
    pub bounds: &'a Bounds,
    /// What parameters are made of wherever the kernel is launched.
    pub ties: &'a [Tie],
    /// Arrays that stores to may be gone.
    pub dropped: &'a [String],
}

/// Proves what can be proved of a rewritten text.
///
/// # Errors
/// Why nothing is proved of the kernel as a whole.
pub fn prove(
    solver: &mut Solver,
    reference: &Program,
    rewritten: &Program,
    block: [u32; 3],
    known: Known<'_>,
) -> Result<Proof, Unproved> {
    let Known { bounds, dropped, ties } = known;
    let (before, after) = (reference.kernel, rewritten.kernel);
    let plain = walk::walk((&reference.module, before), (&rewritten.module, after), block);
    let inlined;
    let (walked, function) = match plain {
        Ok(walked) => (walked, rewritten.module.function(after)),
        Err(why) => {
            let old = inline::kernel(&reference.module, before).ok_or(why.clone())?;
            inlined = inline::kernel(&rewritten.module, after).ok_or(why)?;
            let walked = walk::walk((&old, before), (&inlined, after), block)?;
            (walked, inlined.function(after))
        }
    };
    refuse_changes(&walked)?;
    let may_go = |a: &Array| matches!(a, Array::Variable(v) if dropped.contains(&function.vars[*v as usize].name));
    if !walked.dropped.iter().all(may_go) {
        return Err("a result is not stored any more".into());
    }
    let length = |a: &Array| match a {
        Array::Variable(v) => {
            let var = &function.vars[*v as usize];
            let constant = var.kind == VarKind::Shared && matches!(var.ty, Type::Array(..));
            constant.then(|| var.ty.extents().iter().product::<u64>() as i64)
        }
        Array::Global(_) | Array::Member(_) => None,
    };
    let covers = covers(&walked, bounds);
    let mut claims = Claims {
        walked: &walked,
        block,
        covers,
        ties: ties.iter().filter_map(|t| tie(&walked, t)).collect(),
        solver,
        assumed: Assumed::default(),
        doubts: vec![],
        length: &length,
    };
    claims.copies()?;
    let mut proof = Proof::default();
    for (i, e) in walked.events.iter().enumerate() {
        if let What::Read { at, .. } = &e.what {
            proof.reads.push((at.clone(), claims.read(i).err()));
        }
    }
    proof.doubts = std::mem::take(&mut claims.doubts);
    let assumed = std::mem::take(&mut claims.assumed);
    let covers = std::mem::take(&mut claims.covers);
    proof.assumed = said(&walked, &assumed, &covers, function);
    proof.changing = !changing(&walked).is_empty();
    Ok(proof)
}

/// Arrays that are written must be known to be when they are read.
fn refuse_changes(walked: &Walked) -> Result<(), String> {
    let mut written: Vec<&Array> = vec![];
    for e in &walked.events {
        if let What::Result { array, .. } = &e.what {
            written.push(array);
        }
    }
    let mut unstable = false;
    let mut see = |tree: &Tree| {
        tree.each(&mut |t| unstable |= matches!(t, Tree::Load(a, _) if written.contains(&a)));
    };
    for e in &walked.events {
        match &e.what {
            What::Store { value, .. } | What::Result { value, .. } => see(value),
            What::Read { old, new, .. } => {
                see(old);
                see(new);
            }
            What::Barrier => {}
        }
    }
    if unstable {
        return Err("the kernel changes an array that its marked reads need".into());
    }
    if walked.unbarred && !walked.shared_reads.is_empty() {
        return Err("a barrier is gone, and shared memory is read by more than marked reads".into());
    }
    Ok(())
}

/// Bounds on blocks that kernels with overlapping blocks need: none begins beyond the sizes.
fn covers(walked: &Walked, bounds: &Bounds) -> Vec<Covers> {
    let mut all = vec![];
    for (axis, parameter) in bounds {
        let Some(size) = walked.sizes.iter().find(|(_, text)| text == parameter) else { continue };
        let mut steps = BTreeSet::new();
        for e in &walked.events {
            if let What::Result { at, .. } | What::Store { at, .. } = &e.what {
                at.sum().multiples(["u_bx", "u_by", "u_bz"][*axis], &mut |n| _ = steps.insert(n));
            }
            e.when.multiples(["u_bx", "u_by", "u_bz"][*axis], &mut |n| _ = steps.insert(n.abs()));
        }
        if let Some(step) = steps.into_iter().find(|n| *n > 1) {
            all.push(Covers { axis: *axis, step, size: size.clone() });
        }
    }
    all
}

/// What a parameter is made of, in formulas: with its name there.
fn tie(walked: &Walked, tie: &Tie) -> Option<(String, Truth)> {
    let named = |text: &str| walked.sizes.iter().find(|(_, t)| t == text).map(|(n, _)| n.clone());
    let name = named(&tie.parameter)?;
    let value = made(&tie.value, &|n| named(n).map(|n| Sum::name(&n)))?;
    Some((name.clone(), Truth::equal(&Sum::name(&name), &value)))
}

fn made(value: &Made, of: &dyn Fn(&str) -> Option<Sum>) -> Option<Sum> {
    let (op, a, b) = match value {
        Made::Number(n) => return Some(Sum::number(*n)),
        Made::Parameter(name) => return of(name),
        Made::Of(op, a, b) => (op, made(a, of)?, made(b, of)?),
    };
    Some(match (op, b.constant()) {
        ('+', _) => a.plus(&b, 1),
        ('-', _) => a.plus(&b, -1),
        ('*', Some(n)) => a.times(n),
        // Towards zero.
        ('/', Some(n)) if n > 0 => {
            let (up, down) = (a.divided(n).0, a.times(-1).divided(n).0.times(-1));
            Sum::choose(&Truth::at_most(&Sum::default(), &a), &up, &down)
        }
        _ => return None,
    })
}

/// Arrays that the kernel stores to and marked reads are of.
fn changing(walked: &Walked) -> BTreeSet<Array> {
    let mut all = BTreeSet::new();
    for e in &walked.events {
        if let What::Read { old, .. } = &e.what {
            old.each(&mut |t| {
                if let Tree::Changing(array, _) = t {
                    all.insert(array.clone());
                }
            });
        }
    }
    all
}

/// Assumptions in words.
fn said(
    walked: &Walked,
    assumed: &Assumed,
    covers: &[Covers],
    function: &warpsmith_ir::Function,
) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    if assumed.sizes {
        let names: Vec<&str> = walked.sizes.iter().map(|(_, n)| n.as_str()).collect();
        all.insert(match names.as_slice() {
            [one] => format!("{one} is at least 1"),
            names => format!("{} are at least 1", names.join(", ")),
        });
    }
    if assumed.covers {
        for c in covers {
            let axis = ["x", "y", "z"][c.axis];
            all.insert(format!(
                "no block begins beyond the data: blockIdx.{axis} * {} < {}",
                c.step, c.size.1
            ));
        }
    }
    for e in &walked.events {
        if let What::Store { array: Array::Variable(v), extra: true, .. } = &e.what
            && function.vars[*v as usize].kind == VarKind::DynamicShared
        {
            let name = &function.vars[*v as usize].name;
            all.insert(format!("launches make `{name}` as long as the plan's own reads need"));
        }
    }
    all.extend(changing(walked).into_iter().map(|array| {
        let array = match array {
            Array::Variable(v) => format!("`{}`", function.vars[v as usize].name),
            Array::Member(name) => format!("`{name}`"),
            Array::Global(_) => "arrays of the module".into(),
        };
        format!("the unmodified kernel stores one value to an element of {array}")
    }));
    all
}
