//! Loops of 64-bit counters that could end near the end of their type: threads, strips and tiles count on for a while before they find that they
//! are past the limit, and must not come out at the other end.

use warpsmith_ir::poly::{Atom, Poly};
use warpsmith_ir::{ForLoop, Function, VarId};

use crate::build::counters::{counter_type, counts_up};
use crate::requirement::Requirement;
use crate::{sizes, walk};

/// No limit lies further from zero: as many numbers are left behind it as all threads of a grid can count in steps of a million.
const FAR: i128 = 1 << 62;

/// What sizes must satisfy so that no loop ends there. One that begins at a constant does not come there in anyone's lifetime.
pub fn requirements(function: &Function) -> Vec<Requirement> {
    let mut found: Vec<Requirement> = vec![];
    let wide =
        |l: &&ForLoop| l.first.as_const().is_none() && counter_type(function, l).bytes() == 8;
    for l in walk::for_loops(&function.body).into_iter().filter(wide) {
        let (at_most, parts) = (counts_up(l), parts_of_limit(function, l));
        let bound = FAR / parts.len().max(1) as i128;
        for var in parts {
            let why = format!("the loop over `{}` counts in 64 bits", function.var(l.var).name);
            let bound = Poly::constant(if at_most { bound } else { -bound });
            let at = l.limit.origin.span;
            let new = Requirement { var, bound, at_most, why, at };
            let known =
                |r: &Requirement| r.var == var && r.at_most == at_most && r.bound == new.bound;
            if !found.iter().any(known) {
                found.push(new);
            }
        }
    }
    found
}

/// The 64-bit parameters that are added up to a limit.
fn parts_of_limit(function: &Function, l: &ForLoop) -> Vec<VarId> {
    let limit = sizes::over_parameters(function, &l.limit);
    let Some(limit) = Poly::from_expr(&limit).filter(|_| sizes::follows(function, &limit)) else {
        return vec![];
    };
    let wide = |v: &VarId| function.var(*v).ty.scalar().is_some_and(|s| s.bytes() == 8);
    let part = |(atoms, factor): (&[Atom], i128)| match atoms {
        [Atom::Var(v)] if factor > 0 && wide(v) => Some(*v),
        _ => None,
    };
    limit.terms().filter_map(part).collect()
}
