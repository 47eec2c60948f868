//! Random statements.

use super::Maker;
use crate::expr::*;
use crate::module::*;
use crate::span::Origin;
use crate::stmt::*;
use crate::text::words::Words;

impl Maker {
    pub(super) fn stmt(&mut self, depth: u32, functions: usize) -> Stmt {
        let mut stmt = Stmt::new(self.stmt_kind(depth, functions), Origin::default());
        for _ in 0..self.random.below(3) {
            stmt.comment.push(self.random.pick(&["", "why", "  indented // twice"]).into());
        }
        stmt
    }

    pub(super) fn stmt_kind(&mut self, depth: u32, functions: usize) -> StmtKind {
        if let Some(depth) = depth.checked_sub(1)
            && self.random.flip()
        {
            return self.compound(depth, functions);
        }
        let function = FuncId(self.random.below(functions) as u32);
        let result = self.random.flip().then(|| self.var_id());
        match self.random.below(22) {
            20 => StmtKind::Collective(self.collective()),
            0 => {
                let init = self.random.flip().then(|| self.expr(2));
                StmtKind::Decl { var: self.var_id(), init }
            }
            1 | 2 => StmtKind::Assign { place: self.place(2), value: self.expr(3) },
            3 => StmtKind::Break,
            4 => StmtKind::Continue,
            5 => StmtKind::Return(self.random.flip().then(|| self.expr(2))),
            6 => {
                let n = self.random.below(3);
                let result = self.random.flip().then(|| self.place(2));
                StmtKind::Call { function, args: self.exprs(n, 2), result }
            }
            7 => self.atomic(result),
            8 => self.warp(result),
            9 => self.barrier(result),
            10 => StmtKind::Fence(self.scope()),
            11 => StmtKind::AsyncCopy {
                destination: self.expr(2),
                source: self.expr(2),
                bytes: self.expr(1),
                zero_fill: self.random.flip().then(|| self.expr(1)),
            },
            12 => StmtKind::AsyncCommit,
            13 => StmtKind::AsyncWait(self.random.below(5) as u32),
            14 => {
                let n = self.random.below(3);
                StmtKind::Printf { format: "%d \"q\"\n\\".into(), args: self.exprs(n, 2) }
            }
            15 => StmtKind::Assert { cond: self.expr(2), text: "a < \"b\"".into() },
            16 => StmtKind::Assume { cond: self.expr(2), text: "tab\t".into() },
            17 => StmtKind::Trap,
            18 => StmtKind::CopyToGlobal { destination: self.place(2), source: self.expr(2) },
            19 => StmtKind::Runtime(self.runtime()),
            _ => {
                let n = self.random.below(3);
                StmtKind::Launch(Launch {
                    kernel: function,
                    grid: [self.expr(1), self.expr(1), self.expr(1)],
                    block: [self.expr(1), self.expr(1), self.expr(1)],
                    shared: self.expr(1),
                    cluster: self
                        .random
                        .flip()
                        .then(|| Box::new([self.expr(1), self.expr(1), self.expr(1)])),
                    args: self.exprs(n, 2),
                })
            }
        }
    }

    /// One of the variants that have a word.
    fn any<T: Words>(&mut self) -> T {
        self.random.pick(T::TABLE).0
    }

    pub(super) fn scope(&mut self) -> Scope {
        self.any()
    }

    pub(super) fn atomic(&mut self, result: Option<VarId>) -> StmtKind {
        StmtKind::Atomic {
            op: self.any(),
            pointer: self.expr(2),
            value: self.expr(2),
            compare: self.random.flip().then(|| self.expr(1)),
            result,
            scope: self.scope(),
        }
    }

    pub(super) fn warp(&mut self, result: Option<VarId>) -> StmtKind {
        let n = self.random.below(4);
        StmtKind::Warp { op: self.any(), mask: self.expr(1), args: self.exprs(n, 2), result }
    }

    pub(super) fn runtime(&mut self) -> Runtime {
        match self.random.below(13) {
            0 => Runtime::Allocate { pointer: self.place(2), bytes: self.expr(2) },
            1 => Runtime::Free { pointer: self.expr(2) },
            2 => Runtime::Synchronize,
            3 => Runtime::AllocateHost {
                pointer: self.place(2),
                bytes: self.expr(2),
                shared: self.random.flip(),
            },
            4 => Runtime::Fill {
                pointer: self.expr(2),
                value: self.expr(1),
                bytes: self.expr(1),
                by: self.any(),
            },
            7 => Runtime::ForgetMemory { pointer: self.expr(2) },
            11 => Runtime::Pin { pointer: self.expr(2), on: self.random.flip() },
            5 => Runtime::Forget { place: self.place(2) },
            8 => Runtime::Capture { on: self.random.flip(), noted: self.place(2) },
            9 => Runtime::Replay { noted: self.expr(1) },
            10 => {
                let what: StreamOrder = self.any();
                let operands = self.exprs(what.takes(), 1);
                let made = self.random.flip().then(|| self.place(2));
                Runtime::Order { what, operands, made }
            }
            6 => Runtime::Skipped { what: "a \"word\"".into(), launches: self.random.flip() },
            _ => Runtime::Copy {
                way: self.any(),
                destination: self.expr(2),
                source: self.expr(2),
                bytes: self.expr(1),
                asynchronous: self.random.flip(),
            },
        }
    }

    pub(super) fn barrier(&mut self, result: Option<VarId>) -> StmtKind {
        let operand = self.random.flip().then(|| self.expr(1));
        StmtKind::Barrier { kind: self.any(), operand, result }
    }

    pub(super) fn loop_id(&mut self) -> LoopId {
        // Mostly in order, now and then with a gap.
        self.next_loop += 1 + u32::from(self.random.below(5) == 0);
        LoopId(self.next_loop - 1)
    }

    pub(super) fn compound(&mut self, depth: u32, functions: usize) -> StmtKind {
        match self.random.below(5) {
            0 => StmtKind::If {
                cond: self.expr(2),
                then: self.block(depth, functions),
                otherwise: self.block(depth, functions),
            },
            1 => self.for_loop(depth, functions),
            2 => {
                let id = self.loop_id();
                let condition = self.random.flip().then(|| LoopCondition {
                    before: self.block(depth, functions),
                    expr: self.expr(2),
                    at_end: self.random.flip(),
                });
                let (body, step) = (self.block(depth, functions), self.block(depth, functions));
                StmtKind::Loop { id, condition, body, step }
            }
            3 => {
                let cases = (0..self.random.below(4))
                    .map(|_| Case {
                        values: (0..self.random.below(3))
                            .map(|_| self.random.next() as i32 as i64)
                            .collect(),
                        is_default: self.random.flip(),
                        body: self.block(depth, functions),
                    })
                    .collect();
                StmtKind::Switch { selector: self.expr(2), cases }
            }
            _ => StmtKind::Scope(self.block(depth, functions)),
        }
    }

    pub(super) fn for_loop(&mut self, depth: u32, functions: usize) -> StmtKind {
        use BinaryOp::{Ge, Gt, Le, Lt, Ne};
        let id = self.loop_id();
        let var = self.var_id();
        let one = self.vars[var.0 as usize].ty.scalar().map(|s| Expr::int(s, 1));
        let step = one.filter(|_| self.random.flip()).unwrap_or_else(|| self.expr(1));
        StmtKind::For(ForLoop {
            id,
            var,
            declares: self.random.flip(),
            first: self.expr(2),
            compare: self.random.pick(&[Lt, Le, Gt, Ge, Ne]),
            limit: self.expr(2),
            step,
            kind: self.loop_kind(),
            body: self.block(depth, functions),
        })
    }

    pub(super) fn loop_kind(&mut self) -> LoopKind {
        match self.random.below(6) {
            3 => LoopKind::Vector,
            0 => LoopKind::Unrolled(self.random.flip().then_some(4)),
            1 => {
                let extent = self.random.flip().then_some(32);
                LoopKind::Bound(Binding { level: self.any(), axis: self.any(), extent })
            }
            2 => {
                let mut p = Parallel {
                    group: self.random.flip().then_some(LoopId(0)),
                    independent: self.random.flip(),
                    ..Parallel::default()
                };
                for _ in 0..self.random.below(3) {
                    p.reductions.push(Reduction { op: self.any(), var: self.var_id() });
                    p.private.push(self.var_id());
                    p.first_private.push(self.var_id());
                    p.last_private.push(self.var_id());
                    p.apart.push(self.var_id());
                }
                LoopKind::Parallel(p)
            }
            _ => LoopKind::Serial,
        }
    }
}
