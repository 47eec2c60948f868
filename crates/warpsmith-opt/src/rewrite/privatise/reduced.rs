//! What the iterations of a nest reduce beside the array that blocks copy: each block leaves a part, and a loop behind the nest combines
//! these.

use warpsmith_ir::{
    Axis, BinaryOp, BindLevel, Block, Collective, Combine, Expr, LoopKind, Origin, Parallel, Place,
    PlaceKind, ReduceOp, Reduction, Scalar, Stmt, StmtKind, Type, VarId, visit,
};

use crate::analysis::loops::reduced_type;
use crate::build::{operators, stmts, threads};
use crate::kernel::Kernel;
use crate::rewrite::edit::copy;
use crate::rewrite::reduce::partial::own_value;

/// A variable that the nest reduces.
pub(super) struct Reduced {
    reduction: Reduction,
    scalar: Scalar,
    /// The thread's own value.
    own: VarId,
    /// A value for each block, in the workspace.
    parts: VarId,
}

/// Bytes of shared memory in which the warps of a block of so many threads combine what they reduce.
///
/// # Errors
/// Why they cannot.
pub(super) fn room(kernel: &Kernel, reductions: &[Reduction], block: u32) -> Result<u64, String> {
    let whole_warps = block.is_power_of_two() && block >= threads::WARP;
    if !reductions.is_empty() && !whole_warps {
        let why = "what its loop reduces is combined by a power of two threads, 32 or more";
        return Err(why.into());
    }
    let bytes = |r: &Reduction| match scalar_of(kernel, r).map(|s| u64::from(s.bytes())) {
        Some(bytes @ (4 | 8)) => Ok(bytes * u64::from(block / threads::WARP)),
        _ => Err(format!("`{}` is no number of four or eight bytes", kernel.name_of(r.var))),
    };
    reductions.iter().map(bytes).sum()
}

fn scalar_of(kernel: &Kernel, r: &Reduction) -> Option<Scalar> {
    reduced_type(&kernel.func().var(r.var).ty).and_then(Type::scalar)
}

impl Reduced {
    /// With a value of the workspace for each of `blocks` blocks at most.
    pub(super) fn of(kernel: &mut Kernel, reduction: &Reduction, blocks: u32) -> Option<Reduced> {
        let scalar = scalar_of(kernel, reduction)?;
        let name = kernel.name_of(reduction.var).to_string();
        let ty = Type::Scalar(scalar);
        let own = stmts::local(kernel.func_mut(), &format!("{name}_own"), ty.clone());
        let comment = format!("`{name}` of each block");
        let extents = vec![Expr::int(Scalar::I32, blocks.into())];
        let parts = kernel.add_scratch(&format!("{name}_parts"), ty, extents, comment);
        if scalar.is_float() && matches!(reduction.op, ReduceOp::Add | ReduceOp::Mul) {
            kernel.reassociated.insert(parts);
        }
        Some(Reduced { reduction: reduction.clone(), scalar, own, parts })
    }

    /// `T own = identity;`
    pub(super) fn begun(&self) -> Stmt {
        let none = operators::identity(self.reduction.op, self.scalar);
        stmts::declare(self.own, Expr::constant(none))
    }

    /// Iterations combine with the thread's own value.
    pub(super) fn redirect(&self, kernel: &Kernel, body: &mut Block) {
        let var = self.reduction.var;
        match kernel.func().var(var).ty.is_pointer() {
            true => own_value(body, var, self.own, &Type::Scalar(self.scalar)),
            false => visit::rename_vars(body, &mut |v| if v == var { self.own } else { v }),
        }
    }

    /// The value of all threads together, left by the first.
    pub(super) fn left(&self, kernel: &Kernel, block: VarId, thread: VarId) -> [Stmt; 2] {
        let over = vec![(BindLevel::Block, Axis::X)];
        let (op, value) = (self.reduction.op, self.own);
        let combine = Combine { op, value, at: None, before: None, slope: None, over };
        let combine = StmtKind::Collective(Collective::Combine(combine));
        let number = |v| Expr::var(v, Type::I32);
        let own = Expr::var(self.own, Type::Scalar(self.scalar));
        let store = stmts::set(self.part(kernel, number(block)), own);
        let first = Expr::binary(BinaryOp::Eq, number(thread), Expr::i32(0));
        [Stmt::new(combine, Origin::default()), stmts::when(first, vec![store])]
    }

    fn part(&self, kernel: &Kernel, block: Expr) -> Place {
        copy::element(kernel.func(), self.parts, vec![block])
    }

    /// `x = x op parts[block];`
    fn combined(&self, kernel: &Kernel, block: Expr) -> Stmt {
        let (var, ty) = (self.reduction.var, Type::Scalar(self.scalar));
        let place = match kernel.func().var(var).ty.is_pointer() {
            true => copy::element(kernel.func(), var, vec![Expr::i32(0)]),
            false => Place::new(PlaceKind::Var(var), ty, Origin::default()),
        };
        let (before, part) = (Expr::read(place.clone()), Expr::read(self.part(kernel, block)));
        let value = operators::combine(self.reduction.op, self.scalar, before, part);
        stmts::set(place, value)
    }
}

/// The parallel loop over `blocks` blocks that combines what they left; later steps bind it.
pub(super) fn finish(kernel: &mut Kernel, reduced: &[Reduced], blocks: VarId) -> Option<Stmt> {
    let reductions: Vec<Reduction> = reduced.iter().map(|r| r.reduction.clone()).collect();
    if reductions.is_empty() {
        return None;
    }
    let part = stmts::local(kernel.func_mut(), "part", Type::I32);
    let at = || Expr::var(part, Type::I32);
    let body = reduced.iter().map(|r| r.combined(kernel, at())).collect();
    let kind = LoopKind::Parallel(Parallel { reductions, ..Parallel::default() });
    let limit = Expr::var(blocks, Type::I32);
    let l = stmts::counted(kernel.func_mut(), part, limit, kind, body);
    Some(stmts::looped(l).comment("what the blocks have of it, combined"))
}
