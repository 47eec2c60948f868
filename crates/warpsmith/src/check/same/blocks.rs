//! A kernel whose threads work together, as a nest of a host function that is bound to the machine: the interpreter runs
//! the threads of a block together there, and keeps the bounds of what they compute.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Binding, Block, Expr, ExprKind, ForLoop, FuncId, FunctionKind,
    LoopKind, Module, Origin, Scalar, Stmt, StmtKind, Type, Var, VarId, VarKind,
};
use warpsmith_opt::inline;

use super::launching::Shape;
use super::shadow::{Numbers, function_cooperates};

/// The module with the kernel as a host function, and which one that is.
///
/// # Errors
/// A sentence: why the kernel cannot be run so.
pub fn bound(module: &Module, kernel: FuncId, shape: &Shape) -> Result<(Module, FuncId), String> {
    let mut module = module.clone();
    inline::named(&mut module, kernel, &needs_its_thread);
    let mut f = module.functions[kernel.0 as usize].clone();
    let mut out_of_reach = false;
    visit::for_each_stmt(&f.body, &mut |s| {
        if let StmtKind::Call { function, .. } = &s.kind {
            out_of_reach |= needs_its_thread(&module, *function);
        }
    });
    if out_of_reach {
        return Err("its threads work together in functions that return in several places".into());
    }
    share(&mut f.vars, &mut f.body);
    dynamic(&module, &mut f.vars, shape.shared)?;
    f.kind = FunctionKind::Host;
    let counters: Vec<VarId> =
        (0..6).map(|i| f.add_var(Var::new(format!("::{i}"), Type::U32, VarKind::Local))).collect();
    let variable = |at: usize| Expr::var(counters[at], Type::U32);
    Numbers { variable: &variable, shape: *shape }.block(&mut f.body);
    let mut body = std::mem::take(&mut f.body);
    for (at, axis) in Axis::ALL.into_iter().enumerate() {
        let l = (counters[at], BindLevel::Block, axis, shape.block[at]);
        body = Block::new(vec![around(&mut f.next_loop, l, body)]);
    }
    let shared = (0..f.vars.len() as u32).map(VarId);
    let shared = shared.filter(|v| f.vars[v.0 as usize].kind == VarKind::Shared);
    let decls = shared.map(|var| stmt(StmtKind::Decl { var, init: None }));
    body.stmts.splice(0..0, decls.collect::<Vec<_>>());
    for (at, axis) in Axis::ALL.into_iter().enumerate() {
        let l = (counters[3 + at], BindLevel::Grid, axis, shape.grid[at]);
        body = Block::new(vec![around(&mut f.next_loop, l, body)]);
    }
    f.body = body;
    module.functions[kernel.0 as usize] = f;
    Ok((module, kernel))
}

/// Whether a function asks which thread runs it, or works with others, itself or in what it calls.
fn needs_its_thread(module: &Module, id: FuncId) -> bool {
    let f = module.function(id);
    let mut needs = function_cooperates(f);
    visit::for_each_expr(&f.body, &mut |e| needs |= matches!(&*e.kind, ExprKind::Builtin(_)));
    visit::for_each_stmt(&f.body, &mut |s| {
        if let StmtKind::Call { function, .. } = &s.kind
            && *function != id
        {
            needs |= needs_its_thread(module, *function);
        }
    });
    needs
}

/// A variable of the block that several functions name is one.
fn share(vars: &mut [Var], body: &mut Block) {
    let first = |v: VarId| {
        let own = &vars[v.0 as usize];
        let same =
            |o: &Var| o.kind == own.kind && o.name == own.name && o.origin.span == own.origin.span;
        match own.kind {
            VarKind::Shared => vars.iter().position(same).map_or(v, |i| VarId(i as u32)),
            _ => v,
        }
    };
    visit::rename_vars(body, &mut |v| first(v));
}

/// Dynamic shared memory as an array of as many elements as the launch asks for.
fn dynamic(module: &Module, vars: &mut [Var], bytes: u32) -> Result<(), String> {
    let mut found = 0;
    for var in vars.iter_mut().filter(|v| v.kind == VarKind::DynamicShared) {
        found += 1;
        if let Type::Array(element, _) = &var.ty {
            let size = layout_of(module, element).size.max(1);
            var.ty = Type::array((**element).clone(), u64::from(bytes) / size);
        }
        var.kind = VarKind::Shared;
    }
    match found {
        0 | 1 => Ok(()),
        _ => Err("several arrays lie at one place in its dynamic shared memory".into()),
    }
}

fn around(
    next: &mut u32,
    (var, level, axis, extent): (VarId, BindLevel, Axis, u32),
    body: Block,
) -> Stmt {
    let of = |n: u32| Expr::int(Scalar::U32, n.into());
    let id = warpsmith_ir::LoopId(*next);
    *next += 1;
    let binding = Binding { level, axis, extent: (level == BindLevel::Block).then_some(extent) };
    stmt(StmtKind::For(ForLoop {
        id,
        var,
        declares: true,
        first: of(0),
        compare: BinaryOp::Lt,
        limit: of(extent),
        step: of(1),
        kind: LoopKind::Bound(binding),
        body,
    }))
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, origin: Origin::default(), comment: vec![] }
}
