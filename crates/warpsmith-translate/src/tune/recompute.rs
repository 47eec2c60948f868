//! Elements of large outputs, computed once more on the CPU.
//!
//! At full size all outputs are compared with those of the direct translation, which is verified at small sizes. What
//! both get wrong there (a number that overflows, a launch that is cut off) that comparison cannot see. So some
//! iterations of the C function's parallel nest, drawn at random, are run by the interpreter, and what they write is
//! compared with the device's. An iteration that depends on no other one gives the final values when it runs alone, which
//! is why functions of several nests, sums over all iterations and atomic updates are left out, with the reason.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::interp::{self, Arg, Limits, Memory, NoLaunch};
use warpsmith_ir::{
    BinaryOp, Block, Expr, ForLoop, FuncId, Function, LoopKind, Module, Scalar, Stmt, StmtKind,
    Type, Value, VarId, visit,
};
use warpsmith_opt::analysis::guards;
use warpsmith_tune::rng::Rng;
use warpsmith_tune::space::Configuration;

use super::measure::Nests;
use super::verify::compare::{of_a_sum, of_math_functions};
use crate::data::scalar_from_bytes;
use crate::search::{Engine, Workload};

/// Elements that are computed at each size, where the nest has so many.
pub const ELEMENTS: usize = 1024;
/// Steps of the interpreter at one size, a few seconds; then there are fewer elements.
const STEPS: u64 = 100_000_000;
/// Draws for each element that is wanted: some iterations do not exist or write nothing.
const DRAWS: usize = 4;
/// Draws that go through the first and last iterations of three loops.
const CORNERS: usize = 8;

/// An element as the CPU computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Position of the array among the function's arrays.
    pub buffer: usize,
    /// Flat index.
    pub index: u64,
    /// Type of the element.
    pub ty: Scalar,
    /// The value that the C function gives.
    pub value: Value,
    /// How far the device's may be off, absolute.
    pub allowed: f64,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Name of the array.
    pub array: String,
    /// Flat index.
    pub index: u64,
    /// What the device wrote.
    pub device: f64,
    /// What the CPU computed.
    pub cpu: f64,
}

/// What came of it at one size.
#[derive(Clone, Debug, PartialEq)]
pub enum Recomputed {
    /// So many elements were equal within rounding.
    Equal(usize),
    /// Why none could be computed alone.
    Not(String),
}

/// Compares what a configuration leaves behind on the device, at every size, with the CPU.
///
/// # Errors
/// An element that differs, with the size.
pub fn check(
    nests: &Nests,
    engine: &mut Engine,
    configuration: &Configuration,
) -> Result<Vec<Recomputed>, (String, Difference)> {
    let sizes = nests.tasks().len();
    (0..sizes).map(|size| at_size(nests, engine, configuration, size)).collect()
}

fn at_size(
    nests: &Nests,
    engine: &mut Engine,
    configuration: &Configuration,
    size: usize,
) -> Result<Recomputed, (String, Difference)> {
    if engine.device().backend == "replay" {
        return Ok(Recomputed::Not("recorded results have no outputs".into()));
    }
    let samples = match nests.recompute(size) {
        Ok(samples) => samples,
        Err(why) => return Ok(Recomputed::Not(why)),
    };
    let task = &nests.tasks()[size];
    let of_output = |buffer: usize| samples.iter().filter(move |s| s.buffer == buffer).copied();
    let each: Vec<Vec<Sample>> =
        task.outputs.iter().map(|o| of_output(o.buffer).collect()).collect();
    let elements = each.iter().map(|list| list.iter().map(|s| s.index).collect()).collect();
    let device = match engine.outputs(configuration, size, elements) {
        Ok(device) => device,
        Err(why) => return Ok(Recomputed::Not(why)),
    };
    for ((output, list), bytes) in task.outputs.iter().zip(&each).zip(&device) {
        let array = task.problem.buffers.get(output.buffer).map_or("?", |b| b.name.as_str());
        if let Some(difference) = compare(list, bytes, array) {
            return Err((task.label.clone(), difference));
        }
    }
    Ok(Recomputed::Equal(each.iter().map(Vec::len).sum()))
}

/// Computes elements of a function's outputs. `memory` holds its arrays in the order of the parameters.
///
/// # Errors
/// A sentence: why iterations of this function cannot be run alone.
pub fn samples(
    module: &Module,
    function: FuncId,
    args: &[Arg],
    memory: &mut Memory,
    seed: u64,
) -> Result<Vec<Sample>, String> {
    let mut module = module.clone();
    let nest = Nest::of(module.function(function), args)?;
    let mut rng = Rng::new(seed);
    let (mut seen, mut found) = (BTreeSet::new(), vec![]);
    memory.take_writes();
    for draw in 0..DRAWS * ELEMENTS {
        let steps_left = STEPS.saturating_sub(memory.steps);
        if found.len() >= ELEMENTS || steps_left == 0 {
            break;
        }
        let Some(iteration) = nest.draw(draw, &mut rng)? else { continue };
        if !seen.insert(iteration.clone()) {
            continue;
        }
        let body = &mut module.functions[function.0 as usize].body;
        pin(&mut body.stmts[nest.at], &iteration);
        let limits = Limits { max_steps: steps_left, track_bounds: true, ..Limits::default() };
        match interp::call(&module, function, args, memory, &limits, &mut NoLaunch) {
            Ok(_) => {}
            Err(e) if matches!(e.kind, interp::InterpErrorKind::StepLimit(_)) => break,
            Err(e) => return Err(e.to_string()),
        }
        let written = memory.take_writes();
        // Where another math library may take another branch, nothing can be said.
        if !std::mem::take(&mut memory.doubtful) {
            found.extend(
                written.into_iter().filter_map(|w| sample(module.function(function), memory, w)),
            );
        }
        module.functions[function.0 as usize].body.stmts[nest.at] = nest.stmt.clone();
    }
    if found.is_empty() {
        return Err("no iteration was short enough, or none writes anything".into());
    }
    // Rounding alone may make anything of these: whatever the device has would be equal.
    found.retain(|s: &Sample| s.allowed.is_finite());
    if found.is_empty() {
        return Err("rounding errors may grow beyond every bound in the iterations drawn".into());
    }
    found.truncate(ELEMENTS);
    Ok(found)
}

/// The element behind a write.
fn sample(function: &Function, memory: &Memory, w: interp::Written) -> Option<Sample> {
    let arrays = function.params.iter().map(|p| &function.var(*p).ty);
    let elements = arrays.filter_map(|ty| match ty {
        Type::Pointer { pointee, .. } => Some(pointee.scalar()),
        _ => None,
    });
    let ty = elements.collect::<Vec<_>>().get(w.buffer).copied().flatten()?;
    let width = u64::from(ty.bytes());
    if w.bytes != width || !w.offset.is_multiple_of(width) {
        return None;
    }
    let at = usize::try_from(w.offset).ok()?;
    let value = scalar_from_bytes(ty, memory.buffers.get(w.buffer)?.get(at..at + width as usize)?);
    let bound = memory.bound(w.buffer, w.offset, ty)?;
    let allowed = match ty.is_float() {
        // A recurrence multiplies the bound in each step, until it is infinite beside a value that is not.
        true if bound.magnitude.is_infinite() && value.as_f64().is_finite() => f64::INFINITY,
        true => of_a_sum(ty, bound) + of_math_functions(bound),
        false => bound.slack,
    };
    Some(Sample { buffer: w.buffer, index: w.offset / width, ty, value, allowed })
}

/// The first sample that the device's bytes, one element after the other, do not match.
pub fn compare(samples: &[Sample], device: &[u8], array: &str) -> Option<Difference> {
    let mut rest = device;
    samples.iter().find_map(|s| {
        let (own, after) = rest.split_at_checked(s.ty.bytes() as usize)?;
        rest = after;
        let (theirs, ours) = (scalar_from_bytes(s.ty, own).as_f64(), s.value.as_f64());
        let same = theirs == ours || (theirs.is_nan() && ours.is_nan());
        let near = (theirs - ours).abs() <= s.allowed;
        let differs = Difference { array: array.into(), index: s.index, device: theirs, cpu: ours };
        (!same && !near).then_some(differs)
    })
}

/// The one parallel nest of a function.
struct Nest {
    /// Position among the statements of the function.
    at: usize,
    stmt: Stmt,
    /// Integers that are known before the nest begins.
    known: BTreeMap<VarId, i128>,
}

/// Whether any iteration of the function's one parallel nest may be run alone: where its statement stands.
///
/// # Errors
/// A sentence: why it may not.
pub fn alone(function: &Function) -> Result<usize, String> {
    if function.ret.scalar().is_some() {
        return Err("the function returns a number made of all iterations".into());
    }
    let mut found = None;
    for (at, stmt) in function.body.stmts.iter().enumerate() {
        match &stmt.kind {
            StmtKind::For(l) if found.is_none() && is_parallel(l) => found = Some(at),
            StmtKind::Decl { .. } | StmtKind::Return(None) => {}
            _ => return Err("more than one nest writes the outputs".into()),
        }
    }
    let at = found.ok_or("no loop of it is parallel by itself")?;
    refuse_shared(&function.body.stmts[at])?;
    Ok(at)
}

impl Nest {
    fn of(function: &Function, args: &[Arg]) -> Result<Nest, String> {
        let at = alone(function)?;
        let mut known = BTreeMap::new();
        for (param, arg) in function.params.iter().zip(args) {
            if let Arg::Value(v) = arg
                && v.ty.is_integer()
            {
                known.insert(*param, i128::from(v.as_i64()));
            }
        }
        for stmt in &function.body.stmts[..at] {
            if let StmtKind::Decl { var, init } = &stmt.kind {
                let value =
                    init.as_ref().and_then(|e| guards::eval(e, &|v| known.get(&v).copied()));
                known.extend(value.map(|v| (*var, v)));
            }
        }
        Ok(Nest { at, stmt: function.body.stmts[at].clone(), known })
    }

    /// Numbers of one iteration, outermost loop first; `None` where the draw met none. The first draws are the corners.
    fn draw(&self, draw: usize, rng: &mut Rng) -> Result<Option<Vec<i64>>, String> {
        let mut known = self.known.clone();
        let mut iteration = vec![];
        let StmtKind::For(outermost) = &self.stmt.kind else { return Ok(None) };
        let mut next = Some(outermost);
        while let Some(l) = next {
            let found = iterations(l, &known).ok_or("the bounds of its nest depend on data")?;
            let (first, step, count) = found;
            let Some(count) = u64::try_from(count).ok().filter(|n| *n > 0) else { return Ok(None) };
            let place = match draw >> iteration.len() {
                _ if draw >= CORNERS => rng.below(count),
                bits if bits % 2 == 0 => 0,
                _ => count - 1,
            };
            let value = first + i128::from(place) * step;
            iteration.push(i64::try_from(value).map_err(|_| "its bounds are too large")?);
            known.insert(l.var, value);
            next = inner(&l.body);
        }
        Ok(Some(iteration))
    }
}

fn is_parallel(l: &ForLoop) -> bool {
    matches!(l.kind, LoopKind::Parallel(_))
}

/// The parallel loop that is all of a body.
fn inner(body: &Block) -> Option<&ForLoop> {
    match body.stmts.as_slice() {
        [Stmt { kind: StmtKind::For(l), .. }] if is_parallel(l) => Some(l),
        _ => None,
    }
}

/// What several iterations have in common has no final value after one of them.
fn refuse_shared(stmt: &Stmt) -> Result<(), String> {
    let mut why = None;
    let block = Block { stmts: vec![stmt.clone()] };
    visit::for_each_stmt(&block, &mut |s| match &s.kind {
        StmtKind::Atomic { .. } => why = Some("iterations update the same element"),
        StmtKind::For(ForLoop { kind: LoopKind::Parallel(p), .. }) if !p.reductions.is_empty() => {
            why = Some("a sum is taken over all iterations");
        }
        _ => {}
    });
    why.map_or(Ok(()), |why| Err(why.into()))
}

/// First value, step and number of iterations.
fn iterations(l: &ForLoop, known: &BTreeMap<VarId, i128>) -> Option<(i128, i128, i128)> {
    let value = |e: &Expr| guards::eval(e, &|v| known.get(&v).copied());
    let (first, limit, step) = (value(&l.first)?, value(&l.limit)?, value(&l.step)?);
    let (distance, step_size) =
        if step > 0 { (limit - first, step) } else { (first - limit, -step) };
    if step_size == 0 {
        return None;
    }
    let count = match (l.compare, step > 0) {
        (BinaryOp::Lt, true) | (BinaryOp::Gt, false) | (BinaryOp::Ne, _) => {
            (distance + step_size - 1).div_euclid(step_size)
        }
        (BinaryOp::Le, true) | (BinaryOp::Ge, false) => distance.div_euclid(step_size) + 1,
        _ => return None,
    };
    Some((first, step, count))
}

/// Leaves one iteration of a nest: each loop begins there and ends after it.
fn pin(stmt: &mut Stmt, iteration: &[i64]) {
    let StmtKind::For(l) = &mut stmt.kind else { return };
    let Some((value, rest)) = iteration.split_first() else { return };
    let ty = l.first.ty.scalar().unwrap_or(Scalar::I32);
    l.first = Expr::int(ty, *value);
    l.limit = Expr::int(ty, *value);
    // With `<=` a loop upwards runs once, with `>=` one downwards.
    l.compare = match l.compare {
        BinaryOp::Gt | BinaryOp::Ge => BinaryOp::Ge,
        BinaryOp::Ne => BinaryOp::Eq,
        _ => BinaryOp::Le,
    };
    if let [inner] = l.body.stmts.as_mut_slice() {
        pin(inner, rest);
    }
}
