//! Nests that steps noted something about, on their way into the tree: loops over blocks and threads around the text of one
//! thread.

use warpsmith_ir::{
    Axis, BindLevel, Binding, Block, Builtin, Diagnostic, Expr, ForLoop, LoopKind, Origin, Scalar,
    Stmt, StmtKind, Type, VarKind,
};

use crate::build::counters;
use crate::build::stmts::counted;
use crate::kernel::{Kernel, Nest};
use crate::legalise::scope::{About, Lowered, Scope};

/// A nest in the making.
pub struct Draft<'d> {
    pub(crate) source: &'d Kernel,
    pub(crate) scope: &'d mut Scope,
}

/// What runs the text of a thread.
pub(crate) struct Machine {
    /// Blocks along x, y, z.
    pub grid: [Expr; 3],
    /// Threads of a block along x, y, z, and how many these are.
    pub block: [Expr; 3],
    pub threads: [u32; 3],
}

impl Draft<'_> {
    /// The loops of a nest that are bound, outermost first.
    pub(crate) fn bound_loops(&self, nest: &Nest) -> Vec<ForLoop> {
        nest.axes.iter().filter_map(|(id, _)| self.source.find_loop(*id).cloned()).collect()
    }

    /// The bounds of a bound loop, which the host needs for the grid.
    pub(crate) fn must_know_bounds(&self, l: &ForLoop, stmt: &Stmt) -> Lowered<()> {
        for e in [&l.first, &l.limit, &l.step] {
            if !self.scope.host_known(e) {
                let span = e.origin.span.or(stmt.origin.span);
                let name = self.source.loop_name(l.id);
                let message = format!(
                    "the bounds of the parallel loop `{name}` depend on values that only the device has"
                );
                let d = Diagnostic::error("W242", message);
                let d = match span {
                    Some(span) => {
                        d.label(span, "read from an array or computed by a parallel loop")
                    }
                    None => d,
                };
                return Err(Box::new(d.help("pass the size as a parameter of the function")));
            }
        }
        Ok(())
    }

    /// Loops over blocks and threads around the text of one, whose place in them are the hardware's numbers. Arrays that
    /// the text begins with and that are shared stand in the loop over blocks.
    pub(crate) fn on(&mut self, machine: Machine, text: Vec<Stmt>, about: About) -> Stmt {
        let first = text.iter().take_while(|s| self.declares_shared(s)).count();
        let mut body = text;
        let inner = body.split_off(first);
        let declared = std::mem::replace(&mut body, inner);
        for (axis, size) in Axis::ALL.into_iter().zip(machine.block) {
            let threads = machine.threads[axis.index()];
            if threads > 1 || axis == Axis::X {
                let binding = Binding { level: BindLevel::Block, axis, extent: Some(threads) };
                body = vec![self.looped(Builtin::ThreadIdx(axis), size, binding, body)];
            }
        }
        body.splice(0..0, declared);
        for (axis, blocks) in Axis::ALL.into_iter().zip(machine.grid).rev() {
            if axis == Axis::X || !counters::is_const(&blocks, 1) {
                let binding = Binding { level: BindLevel::Grid, axis, extent: None };
                body = vec![self.looped(Builtin::BlockIdx(axis), blocks, binding, body)];
            }
        }
        let nest = body
            .pop()
            .unwrap_or_else(|| Stmt::new(StmtKind::Scope(Block::default()), Origin::default()));
        if let StmtKind::For(l) = &nest.kind {
            self.scope.launches.insert(l.id, about);
        }
        nest
    }

    /// Whether a statement declares an array in shared memory.
    pub(crate) fn declares_shared(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Decl { var, init: None } => self.scope.host.var(*var).kind == VarKind::Shared,
            _ => false,
        }
    }

    /// A loop over the members of a level, whose number in the text is the hardware's.
    fn looped(&mut self, number: Builtin, limit: Expr, binding: Binding, body: Vec<Stmt>) -> Stmt {
        let ty = limit.ty.scalar().unwrap_or(Scalar::I32);
        let name = match number {
            Builtin::BlockIdx(_) => "block_number",
            _ => "thread_number",
        };
        let var = self.scope.local(name, Type::Scalar(ty));
        let l = counted(&mut self.scope.host, var, limit, LoopKind::Bound(binding), body);
        let (first, step) = (Expr::int(ty, 0), Expr::int(ty, 1));
        Stmt::new(StmtKind::For(ForLoop { first, step, ..l }), Origin::default())
    }
}
