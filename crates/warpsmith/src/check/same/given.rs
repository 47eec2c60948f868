//! What options and directives give: values, expressions of sizes, and what must be given.

use std::collections::BTreeSet;

use warpsmith_ir::{Diagnostic, Scalar, VarId};
use warpsmith_opt::analysis::values;

use super::calls::Bind;
use super::host_function;
use super::pairs::{self, Pairs, Place};
use super::selecting;
use super::side::{Code, Side};
use crate::check::args::CheckArgs;
use crate::data::{self, ArgSpec, NamedSpec};
use crate::status::Failure;

/// A size at which host code launches all of its kernels.
const PROBED: i64 = 100;

/// Which arrays select elements of others, as far as the reference tells.
pub fn selecting(reference: &Side, pairs: &Pairs) -> Vec<bool> {
    let mut selecting = vec![false; reference.slots.len()];
    let mut ask = |function, binds: &[Bind]| {
        let f = reference.module.function(function);
        let told = values::of_arrays(&reference.module, f);
        let mut arrays: BTreeSet<VarId> = told.keys().map(|(array, _)| *array).collect();
        if reference.is_kernel() {
            arrays.extend(selecting::parameters(f));
        }
        for array in arrays {
            let at = f.params.iter().position(|p| *p == array);
            if let Some(Bind::Slots(places)) = at.and_then(|at| binds.get(at)) {
                places.iter().for_each(|(_, slot)| selecting[*slot] = true);
            }
        }
    };
    match &reference.code {
        Code::C(_, binds) => ask(reference.function, binds),
        Code::Kernels(_) => reference.stages().for_each(|s| ask(s.function, &s.binds)),
        Code::Host(_) => {
            let sizes = reference.slots.iter().map(|s| (s.name.clone(), PROBED)).collect();
            for launch in host_function::trace(reference, &sizes) {
                let binds: Vec<Bind> = launch
                    .arrays
                    .iter()
                    .map(|slot| match slot {
                        Some(slot) => Bind::Slots(vec![(0, *slot)]),
                        None => Bind::Host,
                    })
                    .collect();
                ask(launch.kernel, &binds);
            }
        }
    }
    let selects = |place| matches!(place, Some(Place::Param(at)) if selecting[at]);
    pairs.arrays.iter().map(|a| selects(a.reference)).collect()
}

/// `--arg`, then those of the directives; every name must be a parameter or a variable of either side.
pub fn specs(
    args: &CheckArgs,
    new: &Side,
    reference: &Side,
    pairs: &Pairs,
) -> Result<Vec<NamedSpec>, Failure> {
    let numbers = pairs.numbers.iter().flat_map(|n| &n.names);
    let arrays = pairs.arrays.iter().flat_map(|a| &a.names);
    let variables =
        [new, reference].into_iter().flat_map(|s| s.module.globals.iter().map(|g| &g.name));
    let known: Vec<&String> = numbers.chain(arrays).chain(variables).collect();
    if let Some(bad) = args.launch.args.iter().find(|a| !known.contains(&&a.name)) {
        let names: Vec<&str> = known.iter().map(|n| n.as_str()).collect();
        let d = Diagnostic::error("W306", format!("neither side has a parameter `{}`", bad.name));
        return Err(d.help(format!("there are {}", names.join(", "))).into());
    }
    expressions_of_sizes(args, pairs)?;
    let mut all = args.launch.args.clone();
    // Of directives the numbers say for what the launch was written, and arrays how long they were there.
    for spec in new.args.args.iter().chain(&reference.args.args) {
        let whole = pairs.numbers.iter().any(|n| n.ty.is_integer() && n.names.contains(&spec.name));
        let spec = match &spec.spec {
            ArgSpec::Array { init, dims, .. } if dims.iter().all(|d| d.parse::<u64>().is_ok()) => {
                NamedSpec { spec: ArgSpec::Init(init.clone()), ..spec.clone() }
            }
            _ => spec.clone(),
        };
        if !whole && spec.filled && all.iter().all(|a| a.name != spec.name) {
            all.push(spec);
        }
    }
    Ok(all)
}

/// Numbers may be given as expressions of the sizes of either side.
pub fn expressions_of_sizes(args: &CheckArgs, pairs: &Pairs) -> Result<(), Failure> {
    let own = |s: &&NamedSpec| pairs.numbers.iter().find(|n| n.names.contains(&s.name));
    for spec in &args.launch.args {
        let (Some(number), ArgSpec::Number(text)) = (own(&spec), &spec.spec) else { continue };
        if data::parse_scalar(text, number.ty).is_ok() {
            continue;
        }
        let others = pairs.numbers.iter().filter(|n| n.name != number.name && n.ty.is_integer());
        let values = others.flat_map(|n| n.names.iter().map(|name| (name.clone(), 64i128)));
        data::eval_number(text, &values.collect())
            .map_err(|why| Failure::input("W306", format!("`{}={text}`: {why}", spec.name)))?;
    }
    Ok(())
}

/// Numbers that only one side has must be given: nothing tells what they are.
pub fn all_told(
    new: &Side,
    reference: &Side,
    pairs: &Pairs,
    specs: &[NamedSpec],
) -> Result<(), Failure> {
    // What others are worked out from is a size like those that both have.
    let mentioned = |n: &pairs::Number| {
        specs.iter().any(|s| match &s.spec {
            ArgSpec::Number(text) if data::parse_scalar(text, Scalar::F64).is_err() => text
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
                .any(|word| n.names.iter().any(|name| name == word)),
            _ => false,
        })
    };
    for n in pairs.numbers.iter().filter(|n| n.new.is_none() || n.reference.is_none()) {
        if mentioned(n) || specs.iter().any(|s| n.names.contains(&s.name)) {
            continue;
        }
        let (has, lacks) = if n.new.is_some() { (new, reference) } else { (reference, new) };
        let message =
            format!("`{}` of `{}` has no counterpart in `{}`", n.name, has.name, lacks.name);
        return Err(Diagnostic::error("W309", message)
            .help(format!(
                "give its value, --arg {}=256, or say what it is called there: --map NEW=REFERENCE",
                n.name
            ))
            .into());
    }
    Ok(())
}
