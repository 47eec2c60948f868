//! Data near the numbers of a text: what a kernel does with elements above 100 is seen where some are.

use warpsmith_emu::Arg;
use warpsmith_ir::{Diagnostic, Expr, ExprKind, Module, Scalar, StmtKind, Type, Value, visit};

use super::{Data, Lengths, Prepared, SEEDS_A_WAY, Values, parts};
use crate::launch::Launch;
use crate::mix::Mix;
use crate::program::Program;
use warpsmith_ir::layout::layout_of;

/// Ways in which data come near the numbers of a text, or are beyond all that small ones show.
const NEAR_WAYS: u64 = 9;
/// The first way: those before it are of other data.
const FIRST_WAY: u64 = 20;
/// Those in which all data are alike: what goes on until they differ goes on to the end.
const ALIKE: u64 = 3;
/// From this one on data are any that their types hold: in the first of these ways all, in the others those of marked arrays, which subscripts
/// need not be made from.
const ANY: u64 = 7;

/// Seeds of data in all these ways.
pub fn near_seeds(seed: u64) -> impl Iterator<Item = u64> {
    (FIRST_WAY..FIRST_WAY + NEAR_WAYS).map(move |way| seed + way * SEEDS_A_WAY)
}

/// Memory for a program that is compared with the unmodified kernel, near whose numbers data of that kind come.
///
/// # Errors
/// As [`prepare`](super::prepare).
pub fn prepare_beside(
    program: &Program,
    reference: &Program,
    launch: &Launch,
    lengths: &Lengths,
    data: Data<'_>,
) -> Result<Prepared, Diagnostic> {
    let mut p = super::prepare(program, launch, Some(lengths), data)?;
    if data.kind == Values::Near {
        come_near(&mut p, reference, data);
    }
    Ok(p)
}

/// Has about half of the numbers in the arrays of a launch, and of the reals among its arguments, lie at, above and below what the unmodified kernel compares
/// something with, or be zero, of either sign where they are reals. Arguments may be no number, or beyond all. In some ways all
/// data are one number; in others about half of them are any that there are.
fn come_near(prepared: &mut Prepared, reference: &Program, data: Data<'_>) {
    let seed = data.seed;
    let mut numbers = compared(&reference.module);
    numbers.extend([0.0, -0.0]);
    let mut mix = Mix(seed);
    let way = seed / SEEDS_A_WAY % NEAR_WAYS;
    let one = numbers[way as usize % numbers.len()];
    let arrays = prepared.memory.buffers.iter_mut().zip(&prepared.arrays);
    for (buffer, _) in arrays.filter(|(_, name)| way <= ANY || data.is_tagged(name)) {
        let Some(element) = buffer.element.clone() else { continue };
        let change = |s| match way {
            ..ALIKE => Some(number(s, one)),
            ALIKE..ANY => near(&numbers, s, &mut mix),
            _ => any(s, &mut mix),
        };
        put(reference, &element, &mut buffer.bytes, change);
    }
    // A sequence of their own: what arrays hold does not depend on which arguments there are.
    let mut mix = Mix(!seed);
    let mut change = |s: Scalar| s.is_float().then(|| passed(&numbers, way, s, &mut mix)).flatten();
    let function = &reference.module.functions[reference.kernel.0 as usize];
    for (param, arg) in function.params.iter().zip(&mut prepared.config.args) {
        let ty = &function.var(*param).ty;
        if let Arg::Bytes(bytes) = arg
            && !bytes.is_empty()
        {
            put(reference, ty, bytes, &mut change);
        }
    }
    for object in prepared.memory.buffers.iter_mut().skip(prepared.arrays.len()) {
        let Some(element) = object.element.clone() else { continue };
        put(reference, &element, &mut object.bytes, &mut change);
    }
    let unset = reference.module.globals.iter().zip(&mut prepared.memory.globals);
    for (global, buffer) in unset.filter(|(g, _)| g.init.is_none()) {
        put(reference, &global.ty, &mut buffer.bytes, &mut change);
    }
}

/// Puts other numbers in the place of those that values of a type are made of, where `change` has one.
fn put(
    program: &Program,
    ty: &Type,
    bytes: &mut [u8],
    mut change: impl FnMut(Scalar) -> Option<Value>,
) {
    let mut scalars = vec![];
    parts(program, ty, 0, &mut scalars);
    let size = (layout_of(&program.module, ty).size as usize).max(1);
    for element in bytes.chunks_exact_mut(size) {
        for (at, s) in &scalars {
            let bytes = s.bytes() as usize;
            if let Some(value) = change(*s) {
                element[*at..*at + bytes].copy_from_slice(&value.bits.to_le_bytes()[..bytes]);
            }
        }
    }
}

/// A real that is passed: what few expect, in the first ways all of one kind, or near a number of the text.
fn passed(numbers: &[f64], way: u64, ty: Scalar, mix: &mut Mix) -> Option<Value> {
    const UNEXPECTED: [f64; 3] = [f64::NAN, 1e30, -1e30];
    let kind = if way < UNEXPECTED.len() as u64 { way } else { mix.below(8) };
    match UNEXPECTED.get(kind as usize) {
        Some(value) => Some(Value::float(ty, *value)),
        None => near(numbers, ty, mix),
    }
}

/// A number about one of these, every other time.
fn near(numbers: &[f64], ty: Scalar, mix: &mut Mix) -> Option<Value> {
    let one = numbers[mix.below(2 * numbers.len() as u64) as usize % numbers.len()];
    let apart = [0.0, 1.0, -1.0, 0.25 * one, -2.0 * one][mix.below(5) as usize];
    // A sum would have no sign.
    let value = if apart == 0.0 { one } else { one + apart };
    let kept = mix.below(2) == 0;
    (!kept).then(|| number(ty, value))
}

/// Sums of some integers with signs stay in their type, where those are below this: C does not say what becomes of others.
const SIGNED: [i64; 2] = [1 << 25, 1 << 45];

/// Any number that the type holds, every other time; of signed integers any that some may be added of.
fn any(ty: Scalar, mix: &mut Mix) -> Option<Value> {
    let bits = mix.next() & (u64::MAX >> (64 - 8 * ty.bytes()));
    let kept = ty == Scalar::Bool || mix.below(2) == 0;
    let most = SIGNED[usize::from(ty.bytes() == 8)];
    let value = match ty.is_integer() && ty.is_signed() && ty.bytes() >= 4 {
        true => Value::int(ty, bits as i64 % most - (mix.below(2) as i64) * most / 2),
        false => Value { ty, bits },
    };
    (!kept).then_some(value)
}

fn number(ty: Scalar, value: f64) -> Value {
    match ty.is_float() {
        true => Value::float(ty, value),
        false => Value::int(ty, value as i64),
    }
}

/// The numbers that a kernel and its functions compare something with.
fn compared(module: &Module) -> Vec<f64> {
    let mut all: Vec<f64> = vec![];
    let mut add = |n: f64| {
        if n.is_finite() && !all.contains(&n) {
            all.push(n);
        }
    };
    for function in &module.functions {
        visit::for_each_expr(&function.body, &mut |e| match &*e.kind {
            ExprKind::Binary(op, a, b) if op.is_comparison() => {
                [a, b].into_iter().filter_map(constant).for_each(&mut add);
            }
            ExprKind::Call(_, args) => args.iter().filter_map(constant).for_each(&mut add),
            _ => {}
        });
        visit::for_each_stmt(&function.body, &mut |s| {
            if let StmtKind::Switch { cases, .. } = &s.kind {
                cases.iter().flat_map(|c| &c.values).for_each(|n| add(*n as f64));
            }
        });
    }
    all
}

fn constant(e: &Expr) -> Option<f64> {
    match &*e.kind {
        ExprKind::Const(value) if value.ty.is_float() => Some(value.as_f64()),
        ExprKind::Const(value) => Some(value.as_i64() as f64),
        ExprKind::Cast(inner) => constant(inner),
        _ => None,
    }
}
