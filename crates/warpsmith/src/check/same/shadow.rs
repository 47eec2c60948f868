//! Σ|terms| of what a kernel computes: its threads run one after the other in the interpreter, which keeps the bounds.
//!
//! The interpreter runs functions of the host. So the kernel becomes a function of the device, the hardware's numbers
//! become variables, and loops over blocks and threads call it. Kernels whose threads need each other – barriers, shuffles,
//! shared memory – become nests that are bound to the machine ([`blocks`]), whose threads the interpreter runs together.

use warpsmith_ir::interp::{self, Arg, InterpErrorKind, Limits, Memory};
use warpsmith_ir::visit::{self, Rewriter};
use warpsmith_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ExprKind, ForLoop, FuncId, Function, FunctionKind,
    Global, GlobalId, LoopId, LoopKind, Module, Origin, Place, PlaceKind, Scalar, Space, Stmt,
    StmtKind, Type, Var, VarId, VarKind,
};

use super::blocks;
use super::launching::Shape;

/// Runs a kernel on the arrays with bounds.
///
/// # Errors
/// A sentence: why the reference cannot be followed so.
pub fn of_kernel(
    module: &Module,
    kernel: FuncId,
    shape: &Shape,
    args: &[Arg],
    memory: &mut Memory,
    limits: &Limits,
) -> Result<(), String> {
    let (module, driver) = match cooperates(module) {
        true => blocks::bound(module, kernel, shape)?,
        false => serial(module, kernel, shape),
    };
    // The emulator has looked for races already.
    let limits = Limits { track_bounds: true, watch_races: false, ..limits.clone() };
    match interp::call(&module, driver, args, memory, &limits, &mut interp::NoLaunch) {
        Ok(_) => Ok(()),
        Err(e) if matches!(e.kind, InterpErrorKind::StepLimit(_)) => {
            Err("it does too much for the interpreter".to_string())
        }
        Err(e) => Err(e.to_string()),
    }
}

/// Whether the threads of a block do something together.
fn cooperates(module: &Module) -> bool {
    module.functions.iter().any(function_cooperates)
}

/// Shared memory, barriers or exchanges between lanes.
pub fn function_cooperates(f: &Function) -> bool {
    let shared = |v: &Var| matches!(v.kind, VarKind::Shared | VarKind::DynamicShared);
    let mut found = f.vars.iter().any(shared);
    visit::for_each_stmt(&f.body, &mut |s| {
        found |= matches!(s.kind, StmtKind::Barrier { .. } | StmtKind::Warp { .. });
    });
    found
}

/// A module whose driver calls the kernel for every thread.
fn serial(module: &Module, kernel: FuncId, shape: &Shape) -> (Module, FuncId) {
    let mut module = module.clone();
    let first = module.globals.len() as u32;
    for name in ["threadIdx", "blockIdx"] {
        for axis in Axis::ALL {
            module.globals.push(Global {
                name: format!("{name}.{}", axis.name()),
                ty: Type::U32,
                space: Space::Global,
                init: Some(vec![0; 4]),
                origin: Origin::default(),
            });
        }
    }
    let variable = |at: usize| Expr::read(global(first + at as u32));
    let mut numbers = Numbers { variable: &variable, shape: *shape };
    for f in &mut module.functions {
        numbers.block(&mut f.body);
    }
    let driver = driver(&mut module, kernel, first, shape);
    (module, driver)
}

/// Puts numbers and variables in the place of what the hardware tells.
pub struct Numbers<'a> {
    /// `threadIdx` x, y, z, then `blockIdx`.
    pub variable: &'a dyn Fn(usize) -> Expr,
    pub shape: Shape,
}

impl Numbers<'_> {
    fn extent(&self, n: u32) -> Expr {
        Expr::int(Scalar::U32, n.into())
    }

    fn value(&self, b: Builtin) -> Option<Expr> {
        let [bx, by, _] = self.shape.block;
        let along = |a: Axis| a.index();
        Some(match b {
            Builtin::ThreadIdx(a) => (self.variable)(along(a)),
            Builtin::BlockIdx(a) => (self.variable)(3 + along(a)),
            Builtin::BlockDim(a) => self.extent(self.shape.block[along(a)]),
            Builtin::GridDim(a) => self.extent(self.shape.grid[along(a)]),
            Builtin::ClusterDim(_) => self.extent(1),
            Builtin::LaneId => {
                let binary =
                    |op, a, b| Expr::new(ExprKind::Binary(op, a, b), Type::U32, Origin::default());
                let plane = binary(BinaryOp::Mul, (self.variable)(2), self.extent(by));
                let row = binary(BinaryOp::Add, plane, (self.variable)(1));
                let rows = binary(BinaryOp::Mul, row, self.extent(bx));
                let flat = binary(BinaryOp::Add, rows, (self.variable)(0));
                binary(BinaryOp::Rem, flat, self.extent(32))
            }
            _ => return None,
        })
    }
}

impl Rewriter for Numbers<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let ExprKind::Builtin(b) = &*expr.kind
            && let Some(value) = self.value(*b)
        {
            *expr = value;
            return;
        }
        visit::rewrite_expr(self, expr);
    }
}

fn global(id: u32) -> Place {
    Place::new(PlaceKind::Global(GlobalId(id)), Type::U32, Origin::default())
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, origin: Origin::default(), comment: vec![] }
}

/// A loop over blocks or threads along an axis.
pub fn around(id: u32, var: VarId, extent: u32, kind: LoopKind, body: Block) -> Stmt {
    let of = |n: u32| Expr::int(Scalar::U32, n.into());
    stmt(StmtKind::For(ForLoop {
        id: LoopId(id),
        var,
        declares: true,
        first: of(0),
        compare: BinaryOp::Lt,
        limit: of(extent),
        step: of(1),
        kind,
        body,
    }))
}

fn driver(module: &mut Module, kernel: FuncId, first: u32, shape: &Shape) -> FuncId {
    let callee = &mut module.functions[kernel.0 as usize];
    callee.kind = FunctionKind::Device;
    let mut vars: Vec<Var> = callee.params.iter().map(|p| callee.var(*p).clone()).collect();
    let params: Vec<VarId> = (0..vars.len() as u32).map(VarId).collect();
    let args = params.iter().map(|p| Expr::var(*p, vars[p.0 as usize].ty.clone())).collect();
    let mut body = vec![stmt(StmtKind::Call { function: kernel, args, result: None })];
    // Threads within blocks, and of both the first axis innermost, as they are numbered.
    let extents = shape.block.into_iter().chain(shape.grid);
    for (at, extent) in extents.enumerate() {
        let var = VarId(vars.len() as u32);
        vars.push(Var::new(format!("i{at}"), Type::U32, VarKind::Local));
        let set =
            StmtKind::Assign { place: global(first + at as u32), value: Expr::var(var, Type::U32) };
        body.insert(0, stmt(set));
        body = vec![around(at as u32, var, extent, LoopKind::Serial, Block::new(body))];
    }
    module.functions.push(Function {
        name: "every thread".to_string(),
        kind: FunctionKind::Host,
        params,
        ret: Type::Void,
        vars,
        body: Block::new(body),
        launch_bounds: None,
        cluster: None,
        of_library: false,
        next_loop: 6,
        origin: Origin::default(),
    });
    FuncId(module.functions.len() as u32 - 1)
}
