//! Implementations, each run alone.
//!
//! What a script computes may hide what is wrong with one: results that are infinite whatever it gives, or zero. So every one that
//! is taken is run for itself, too. And where a body takes the start of a pattern from its metadata (`APIN0` and its like), body and pattern agree whatever the pattern
//! says. Only results tell, and those only of implementations that are taken: so every other one is run, too, before kernels are
//! planned, and one that does not give what its CPU reference gives is reported and left out.

use std::cell::RefCell;

use warpsmith_fuse::emit::{self, Heading};
use warpsmith_fuse::library::{Function, FunctionId, Implementation, Library, Routine};
use warpsmith_fuse::plan::{self, Found, Options, Planner, Unusable};
use warpsmith_fuse::script::{Call, Layout, Node, Program, Region, VarId, Variable};
use warpsmith_ir::{Diagnostic, FileId, Span};

use super::data::Data;
use super::reference::References;
use super::verify;

/// A script that calls a function once.
pub fn one_call(function: FunctionId, library: &Library) -> Program {
    let f = library.function(function);
    let variable = |name: String, ty| Variable { name, version: 1, ty, layout: Layout::Aos };
    let mut variables: Vec<Variable> =
        f.inputs.iter().enumerate().map(|(k, ty)| variable(format!("in{}", k + 1), *ty)).collect();
    variables.push(variable("out".into(), f.output));
    let inputs: Vec<VarId> = (0..f.inputs.len()).map(VarId).collect();
    let result = VarId(f.inputs.len());
    // It stands in no script.
    let span = Span { file: FileId(0), start: 0, end: 0 };
    let call = Call { function, arguments: inputs.clone(), result, span };
    Program {
        variables,
        inputs,
        outputs: vec![result],
        body: Region { nodes: vec![Node::Call(call)] },
    }
}

/// Notes implementations that are wrong by themselves in the planner's list of those that cannot be used.
///
/// # Errors
/// W541: a reference that cannot be run.
pub fn note_wrong_ones(planner: &Planner<'_>, heading: &Heading) -> Result<(), Vec<Diagnostic>> {
    let library = planner.library;
    for f in library.functions() {
        let Some(function) = library.find_function(&f.name) else { continue };
        for (k, one) in f.implementations.iter().enumerate() {
            let starts = given_starts(one);
            if starts.is_empty() {
                continue;
            }
            let Some(why) = wrong(planner, heading, function, k)? else { continue };
            let d = Diagnostic::error("W525", said(f, one)).note(why);
            let label = |d: Diagnostic, span: &Span| d.label(*span, "this start is taken as it is");
            let d = starts.iter().fold(d, label);
            let d = d.help(
                "correct the pattern, or write the offsets in the code, from which it is derived",
            );
            planner.unusable.borrow_mut().entry((function, k)).or_insert(d);
        }
    }
    Ok(())
}

/// What is wrong with an implementation by itself, if anything is.
///
/// # Errors
/// W541: a reference that cannot be run.
pub fn fault(
    planner: &Planner<'_>,
    heading: &Heading,
    (function, implementation): (FunctionId, usize),
) -> Result<Option<Diagnostic>, Vec<Diagnostic>> {
    let f = planner.library.function(function);
    let one = &f.implementations[implementation];
    let why = wrong(planner, heading, function, implementation)?;
    let fault = |why| Diagnostic::error("W540", said(f, one)).label(one.span, "this one").note(why);
    Ok(why.map(fault))
}

fn said(f: &Function, one: &Implementation) -> String {
    format!(
        "implementation `{}` of `{}` does not give what `{}_cpu` gives",
        one.name, f.name, f.name
    )
}

/// The patterns whose starts the code takes from them.
fn given_starts(one: &Implementation) -> Vec<Span> {
    let routines = one.loads.iter().chain([&one.compute, &one.save]);
    let of = |r: &Routine| -> Vec<Span> {
        let given = r.patterns.iter().enumerate().filter(|(k, _)| r.uses_placeholder(*k));
        given.filter_map(|(_, pattern)| pattern.as_ref().map(|p| p.span)).collect()
    };
    routines.flat_map(of).collect()
}

/// What an implementation gives that its reference does not, as a sentence. What keeps it from being run at all is said elsewhere.
fn wrong(
    planner: &Planner<'_>,
    heading: &Heading,
    function: FunctionId,
    implementation: usize,
) -> Result<Option<String>, Vec<Diagnostic>> {
    let library = planner.library;
    let f = library.function(function);
    let program = one_call(function, library);
    let asked = (f.name.clone(), f.implementations[implementation].name.clone());
    let implementations = vec![asked];
    let options = Options { keep_loads: true, implementations, ..planner.options.clone() };
    let options = Options { baseline: false, best: 1, ..options };
    let unusable = RefCell::new(Unusable::new());
    let alone = Planner { program: &program, options: &options, unusable: &unusable, ..*planner };
    let Ok(Found { covers, .. }) = plan::search(&alone) else { return Ok(None) };
    let Some(cover) = covers.first() else { return Ok(None) };
    let references = References::new(&program, library, &mut planner.sources.borrow_mut())?;
    let files = emit::files(&alone, heading, cover);
    let mut data = Data::new(&alone, &references, 0);
    match verify::verify(&heading.name, &files, &mut data, &verify::counts(cover)) {
        Ok(()) => Ok(None),
        Err(list) if list.iter().any(|d| d.code == "W541") => Err(list),
        Err(list) => Ok(list.first().map(|d| match d.notes.first() {
            Some(note) => format!("{}: {note}", d.message),
            None => d.message.clone(),
        })),
    }
}
