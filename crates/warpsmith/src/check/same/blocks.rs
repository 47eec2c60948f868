//! A kernel whose threads work together, as a nest of a host function that is bound to the machine: the interpreter runs
//! the threads of a block together there, and keeps the bounds of what they compute.

use warpsmith_ir::layout::layout_of;
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Axis, BindLevel, Binding, Block, Expr, ExprKind, FuncId, FunctionKind, LoopKind, Module,
    StmtKind, Type, Var, VarId, VarKind,
};
use warpsmith_opt::inline;

use super::launching::Shape;
use super::shadow::{self, Numbers, function_cooperates};

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
    let next_loop = &mut f.next_loop;
    let mut bound = |level, axis, var, extent: u32, body| {
        let extents = (level == BindLevel::Block).then_some(extent);
        let kind = LoopKind::Bound(Binding { level, axis, extent: extents });
        *next_loop += 1;
        Block::new(vec![shadow::around(*next_loop - 1, var, extent, kind, body)])
    };
    for (at, axis) in Axis::ALL.into_iter().enumerate() {
        body = bound(BindLevel::Block, axis, counters[at], shape.block[at], body);
    }
    let vars = &f.vars;
    let shared = (0..vars.len() as u32).map(VarId);
    let shared = shared.filter(|v| vars[v.0 as usize].kind == VarKind::Shared);
    let decls = shared.map(|var| shadow::stmt(StmtKind::Decl { var, init: None }));
    body.stmts.splice(0..0, decls.collect::<Vec<_>>());
    for (at, axis) in Axis::ALL.into_iter().enumerate() {
        body = bound(BindLevel::Grid, axis, counters[3 + at], shape.grid[at], body);
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
