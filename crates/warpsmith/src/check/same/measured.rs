//! How long the arrays of a C function are whose extents neither the text nor its accesses tell: what it touches in runs at
//! a few sizes, as a product of these.

use warpsmith_front::cloops::CInput;
use warpsmith_ir::interp::{self, InterpErrorKind, Limits, Memory};
use warpsmith_ir::layout::layout_of;
use warpsmith_ir::{BinaryOp, Expr, FuncId, Module, Scalar, Type, VarId};
use warpsmith_opt::analysis::extents::without_extents;

use super::extents::{self, Formula};
use warpsmith_translate::tune::sizes::Point;
use warpsmith_translate::tune::verify::host_c::ArgBytes;
use warpsmith_translate::tune::verify::inputs::{self, Sources};

/// Elements of the arrays while it is measured how many are needed.
const ROOM: u64 = 1 << 14;
/// Sizes that differ from each other, for as many runs.
const SIZES: [i64; 6] = [5, 7, 11, 13, 6, 9];
const STEPS: u64 = 2_000_000;

/// Gives arrays without extents those that runs show, and says so. What stays open is asked for later.
pub fn open_extents(input: &mut CInput) {
    let f = input.module.function(input.function);
    let open: Vec<VarId> = without_extents(f).collect();
    if open.is_empty() {
        return;
    }
    let sizes: Vec<(String, VarId)> = f
        .params
        .iter()
        .filter(|p| f.var(**p).ty.is_integer())
        .map(|p| (f.var(*p).name.clone(), *p))
        .collect();
    let names: Vec<String> = sizes.iter().map(|(n, _)| n.clone()).collect();
    let mut module = input.module.clone();
    for v in &open {
        let var = &mut module.functions[input.function.0 as usize].vars[v.0 as usize];
        var.shape = Some(vec![Expr::int(Scalar::I32, ROOM as i64)]);
    }
    let mut touched: Vec<Vec<(Point, u64)>> = vec![vec![]; open.len()];
    for run in 0..SIZES.len() {
        let at = |i: usize| SIZES[(run + 2 * i + i / 3) % SIZES.len()];
        let point: Point = names.iter().enumerate().map(|(i, n)| (n.clone(), at(i))).collect();
        for (found, v) in touched.iter_mut().zip(&open) {
            found.extend(needed(&module, input.function, &point, *v).map(|n| (point.clone(), n)));
        }
    }
    for (v, touched) in open.iter().zip(&touched) {
        let Some(formula) = extents::fit(&names, touched) else { continue };
        let var = &mut input.module.functions[input.function.0 as usize].vars[v.0 as usize];
        var.shape = Some(vec![expression(&formula, &sizes)]);
        var.inferred = true;
        input.assumed.push(format!(
            "`{}` has {} elements: so many does `{}` touch",
            var.name,
            formula.text(),
            input.name
        ));
    }
}

/// The least number of elements with which the function runs; `None` where it does not run at all.
fn needed(module: &Module, function: FuncId, point: &Point, array: VarId) -> Option<u64> {
    let f = module.function(function);
    let sources = Sources { module, function: f, specs: &[], seed: 0, max_memory: 1 << 30 };
    let given = inputs::arguments(&sources, point).ok()?;
    let which = f.params.iter().position(|p| *p == array)?;
    let element = f.var(array).ty.pointee().cloned().unwrap_or(Type::Void);
    let size = layout_of(module, &element).size.max(1);
    let runs = |count: u64| -> Option<bool> {
        let (mut args, mut buffers) = (vec![], vec![]);
        for (k, (arg, param)) in given.iter().zip(&f.params).enumerate() {
            args.push(match arg {
                ArgBytes::Array(bytes) => {
                    let most = if k == which { (count * size) as usize } else { bytes.len() };
                    buffers.push(bytes[..most.min(bytes.len())].to_vec());
                    interp::Arg::Pointer { buffer: buffers.len() - 1, offset: 0 }
                }
                ArgBytes::Value(bytes) => match f.var(*param).ty.scalar() {
                    Some(s) => interp::Arg::Value(crate::data::scalar_from_bytes(s, bytes)),
                    None => interp::Arg::Bytes(bytes.clone()),
                },
            });
        }
        let own = args.get(which).and_then(|a| match a {
            interp::Arg::Pointer { buffer, .. } => Some(*buffer),
            _ => None,
        });
        let mut memory = Memory::new(buffers);
        let limits = Limits { max_steps: STEPS, ..Limits::default() };
        let run =
            interp::call(module, function, &args, &mut memory, &limits, &mut interp::NoLaunch);
        match run {
            Ok(_) => Some(true),
            Err(e) => match e.kind {
                InterpErrorKind::OutOfBounds { buffer, .. } if buffer == own => Some(false),
                _ => None,
            },
        }
    };
    if !runs(ROOM)? {
        return None;
    }
    let (mut low, mut high) = (0, ROOM);
    while low < high {
        let middle = low.midpoint(high);
        match runs(middle)? {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}

fn expression(formula: &Formula, sizes: &[(String, VarId)]) -> Expr {
    let wide = Type::Scalar(Scalar::I64);
    let whole = |n: i64| Expr::int(Scalar::I64, n);
    let factor = |(name, more): &(String, i64)| {
        let var = sizes.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
        let size = var.map_or(whole(0), |v| Expr::var(v, Type::I32).cast(wide.clone()));
        Expr::binary(BinaryOp::Add, size, whole(*more))
    };
    let times = whole(i64::try_from(formula.times).unwrap_or(i64::MAX));
    formula.factors.iter().map(factor).fold(times, |a, b| Expr::binary(BinaryOp::Mul, a, b))
}
