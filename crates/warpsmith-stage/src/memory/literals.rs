//! Data near the numbers of a text: what a kernel does with elements above 100 is seen where some are.

use warpsmith_ir::{Expr, ExprKind, Module, Scalar, StmtKind, Value, visit};

use super::{Prepared, parts};
use crate::mix::Mix;
use crate::program::Program;
use warpsmith_ir::layout::layout_of;

/// Has about half of the numbers in the arrays of a launch lie at, above and below what the unmodified kernel compares something with, or be zero, of
/// either sign where they are reals.
pub fn come_near(prepared: &mut Prepared, reference: &Program, seed: u64) {
    let mut numbers = compared(&reference.module);
    numbers.extend([0.0, -0.0]);
    let mut mix = Mix(seed);
    for buffer in prepared.memory.buffers.iter_mut().take(prepared.arrays.len()) {
        let Some(element) = buffer.element.clone() else { continue };
        let mut scalars = vec![];
        parts(reference, &element, 0, &mut scalars);
        let size = (layout_of(&reference.module, &element).size as usize).max(1);
        for element in buffer.bytes.chunks_exact_mut(size) {
            for (at, s) in &scalars {
                let bytes = s.bytes() as usize;
                if let Some(value) = near(&numbers, *s, &mut mix) {
                    element[*at..*at + bytes].copy_from_slice(&value.bits.to_le_bytes()[..bytes]);
                }
            }
        }
    }
}

/// A number about one of these, every other time.
fn near(numbers: &[f64], ty: Scalar, mix: &mut Mix) -> Option<Value> {
    let number = numbers[mix.below(2 * numbers.len() as u64) as usize % numbers.len()];
    let apart = [0.0, 1.0, -1.0, 0.25 * number, -2.0 * number][mix.below(5) as usize];
    // A sum would have no sign.
    let value = if apart == 0.0 { number } else { number + apart };
    let kept = mix.below(2) == 0;
    (!kept).then(|| match ty.is_float() {
        true => Value::float(ty, value),
        false => Value::int(ty, value as i64),
    })
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
