//! Strip loops around where a walk through a nest stands.

use std::collections::BTreeMap;

use warpsmith_ir::{Block, Expr, ForLoop, LoopId, LoopKind, Stmt, Type, VarId};

use crate::build::counters;
use crate::build::stmts::declare;
use crate::rewrite::edit::draft::Draft;

/// What is known of the strip loops around.
#[derive(Default)]
pub(crate) struct Strips {
    /// The variable that counts from the start of the strip.
    pub starts: BTreeMap<LoopId, VarId>,
    /// The iteration of the strip that reads are for, where it is not that of the counter.
    pub offsets: BTreeMap<LoopId, Expr>,
    /// Which strip is meant, where several of them are in shared memory.
    pub slots: BTreeMap<LoopId, Expr>,
    /// The strip loop whose body the walk stands in, where it reads one iteration ahead.
    pub ahead: Option<Ahead>,
}

/// A strip loop that reads from shared memory one iteration ahead.
pub(crate) struct Ahead {
    pub id: LoopId,
    /// Its counter in the strip, and the iterations of a strip.
    pub counter: Expr,
    pub length: Expr,
    /// What is to be done before the loop.
    pub first: Vec<Stmt>,
}

impl Draft<'_> {
    /// The loop over the strips of `l`, which counts from `narrow.first` to `narrow.limit`; `start` has the first iteration of a strip in its body.
    pub(crate) fn over_strips(
        &mut self,
        l: &ForLoop,
        narrow: ForLoop,
        start: VarId,
        size: Expr,
        body: Vec<Stmt>,
    ) -> ForLoop {
        let own = counters::counter_type(&self.scope.host, l);
        let ty = counters::strips_type(l, own);
        let id = self.scope.host.fresh_loop();
        let strips = ForLoop {
            id,
            var: start,
            declares: true,
            step: size,
            kind: LoopKind::Serial,
            body: Block::new(body),
            ..narrow
        };
        if ty == own {
            return strips;
        }
        let stem = format!("{}s", self.scope.host.var(start).name);
        let var = self.scope.local(&stem, Type::Scalar(ty));
        self.scope.host.vars[start.0 as usize].constant = true;
        let mut strips = ForLoop { var, ..counters::wide(&strips) };
        let first = Expr::var(var, Type::Scalar(ty)).cast(Type::Scalar(own));
        strips.body.stmts.insert(0, declare(start, first));
        strips
    }
}
