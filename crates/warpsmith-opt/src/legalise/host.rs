//! The launcher: what the host runs, launches and computes.

use warpsmith_ir::{
    AtomicOp, Block, Diagnostic, Expr, ExprKind, ForLoop, FuncId, Launch, LoopKind, Origin, Place,
    PlaceKind, Scalar, Stmt, StmtKind, Type, VarId, visit,
};

use super::outline::Outlined;
use super::scope::Lowered;
use super::{Lowering, outline, place, serialise};
use crate::analysis::access::{Base, base_of_pointer};
use crate::analysis::loops::is_grid;
use crate::kernel::is_marked;
use crate::walk;

/// Statements that wait to become one kernel of one thread.
#[derive(Default)]
pub(super) struct Pending {
    pub stmts: Vec<Stmt>,
}

impl Lowering<'_> {
    /// The body of the C function.
    pub(super) fn top(&mut self, body: &Block) -> Lowered<Vec<Stmt>> {
        let mut out = vec![];
        for required in &self.source.requires {
            let (cond, text) =
                (required.condition(&self.scope.host), required.text(self.source.func()));
            let stmt = Stmt::new(StmtKind::Assume { cond, text }, Origin::default());
            out.push(stmt.comment(required.why.clone()));
        }
        let mut pending = Pending::default();
        for p in self.scope.host.params.clone() {
            if self.placement.device.contains(&p) && self.scope.host.var(p).ty.scalar().is_some() {
                let pointer = self.scope.pointer_to(p);
                let value = Expr::var(p, self.scope.host.var(p).ty.clone());
                let place = self.scope.deref(pointer);
                let origin = self.scope.host.var(p).origin.clone();
                let store = Stmt::new(StmtKind::Assign { place, value }, origin);
                self.single_thread(vec![store], &mut out);
            }
        }
        let last = body.stmts.len().saturating_sub(1);
        for (k, stmt) in body.stmts.iter().enumerate() {
            if let StmtKind::Return(value) = &stmt.kind {
                self.give_back(value.as_ref(), stmt, &mut pending);
                self.flush(&mut pending, &mut out)?;
                if k < last {
                    out.push(Stmt::new(StmtKind::Return(None), stmt.origin.clone()));
                }
                break;
            }
            self.stmt(stmt, &mut out, &mut pending)?;
        }
        self.flush(&mut pending, &mut out)?;
        Ok(out)
    }

    pub(super) fn block(&mut self, block: &Block) -> Lowered<Block> {
        let mut out = vec![];
        let mut pending = Pending::default();
        for stmt in &block.stmts {
            self.stmt(stmt, &mut out, &mut pending)?;
        }
        self.flush(&mut pending, &mut out)?;
        Ok(Block::new(out))
    }

    /// A nest whose loops are bound now that it is met.
    fn met_nest(
        &mut self,
        l: &ForLoop,
        stmt: &Stmt,
        out: &mut Vec<Stmt>,
        pending: &mut Pending,
    ) -> Lowered<()> {
        let (nests, takes) = (self.nests, self.nests.takes_first_values(l));
        if !takes {
            self.flush_before(stmt, pending, out)?;
        }
        let mut none = vec![];
        let waiting = if takes { &mut pending.stmts } else { &mut none };
        let bound = nests.bound(&mut self.scope, l, stmt, waiting)?;
        if takes {
            self.flush(pending, out)?;
        }
        bound.into_iter().try_for_each(|stmt| self.launched(stmt, out))
    }

    /// Statements of the host with nests that are bound in the tree.
    fn launched(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) -> Lowered<()> {
        match stmt.kind {
            StmtKind::For(l) if is_grid(&l) => {
                let nest = Stmt {
                    kind: StmtKind::For(ForLoop { body: Block::default(), ..l.clone() }),
                    ..stmt
                };
                self.bound_nest(&l, &nest, out)
            }
            StmtKind::If { cond, then, otherwise } => {
                let mut inner = vec![];
                for s in then.stmts {
                    self.launched(s, &mut inner)?;
                }
                let kind = StmtKind::If { cond, then: Block::new(inner), otherwise };
                out.push(Stmt { kind, ..stmt });
                Ok(())
            }
            kind => {
                out.push(Stmt { kind, ..stmt });
                Ok(())
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>, pending: &mut Pending) -> Lowered<()> {
        if self.moved_to_parameter(stmt) {
            return Ok(());
        }
        match &stmt.kind {
            StmtKind::For(l) if is_grid(l) => {
                self.flush_before(stmt, pending, out)?;
                self.bound_nest(l, stmt, out)
            }
            StmtKind::For(l) if self.nests.begins(l) => self.met_nest(l, stmt, out, pending),
            StmtKind::Return(value) => {
                self.give_back(value.as_ref(), stmt, pending);
                self.flush(pending, out)?;
                out.push(Stmt::new(StmtKind::Return(None), stmt.origin.clone()));
                Ok(())
            }
            StmtKind::Scope(block) if place::contains_nest(self.nests, stmt) => {
                block.stmts.iter().try_for_each(|s| self.stmt(s, out, pending))
            }
            _ if place::contains_nest(self.nests, stmt) => {
                self.flush_before(stmt, pending, out)?;
                self.control(stmt, out)
            }
            StmtKind::Break | StmtKind::Continue => {
                self.flush(pending, out)?;
                out.push(stmt.clone());
                Ok(())
            }
            // What waits must run before control goes elsewhere.
            _ if self.returns_inside(stmt) || escapes(stmt) => {
                self.flush(pending, out)?;
                self.control(stmt, out)
            }
            StmtKind::Decl { var, init } if self.placement.device.contains(var) => {
                if init.is_some() || self.scope.host.var(*var).ty.scalar().is_some() {
                    pending.stmts.push(stmt.clone());
                }
                Ok(())
            }
            _ if self.placement.needs_device(self.source, stmt) => {
                pending.stmts.push(stmt.clone());
                Ok(())
            }
            _ => {
                if self.changes_what_waits(stmt, pending) {
                    self.flush(pending, out)?;
                }
                let mut own = Block::new(vec![stmt.clone()]);
                serialise(&mut own);
                out.extend(own.stmts);
                Ok(())
            }
        }
    }

    fn returns_inside(&self, stmt: &Stmt) -> bool {
        walk::blocks(stmt).into_iter().any(|b| walk::returns(b).is_some())
    }

    /// A host statement that assigns a variable which waiting statements read.
    fn changes_what_waits(&self, stmt: &Stmt, pending: &Pending) -> bool {
        let mut written = vec![];
        walk::each_stmt(&Block::new(vec![stmt.clone()]), &mut |s| {
            let o = walk::operands(s);
            written.extend(o.results);
            written.extend(o.writes.and_then(|p| p.root_var()));
        });
        let mut conflict = false;
        let waiting = Block::new(pending.stmts.clone());
        walk::each_var_of_block(&waiting, &mut |v| conflict |= written.contains(&v));
        conflict
    }

    /// `*p = v` where `v` lives in `*p`.
    fn moved_to_parameter(&self, stmt: &Stmt) -> bool {
        let StmtKind::Assign { place, value } = &stmt.kind else { return false };
        let warpsmith_ir::ExprKind::Read(read) = &*value.kind else { return false };
        let PlaceKind::Var(v) = &*read.kind else { return false };
        let target = walk::single_element(place);
        target.is_some() && self.placement.in_parameter.get(v).copied() == target
    }

    /// The returned value goes to the result parameter.
    fn give_back(&mut self, value: Option<&Expr>, stmt: &Stmt, pending: &mut Pending) {
        let (Some(value), Some(result)) = (value, self.result) else { return };
        let mut own = false;
        if let warpsmith_ir::ExprKind::Read(p) = &*value.kind {
            own = p.root_var().is_some() && p.root_var() == self.placement.returned;
        }
        if !own {
            let place = self.scope.deref(result);
            let kind = StmtKind::Assign { place, value: value.clone() };
            pending.stmts.push(Stmt::new(kind, stmt.origin.clone()));
        }
    }

    /// Launches what waits before a statement with nests. Start values of later reductions may wait on.
    fn flush_before(
        &mut self,
        next: &Stmt,
        pending: &mut Pending,
        out: &mut Vec<Stmt>,
    ) -> Lowered<()> {
        let next = Block::new(vec![next.clone()]);
        let all = Block::new(pending.stmts.clone());
        let waits = |s: &Stmt| {
            let var = match &s.kind {
                StmtKind::Decl { var, init: Some(e) } if e.as_const().is_some() => *var,
                StmtKind::Assign { place, value } if value.as_const().is_some() => {
                    match &*place.kind {
                        PlaceKind::Var(v) => *v,
                        _ => return false,
                    }
                }
                _ => return false,
            };
            walk::times_mentioned(&all, var) == 1 && walk::times_mentioned(&next, var) == 0
        };
        let (later, now) = std::mem::take(&mut pending.stmts).into_iter().partition(waits);
        pending.stmts = now;
        self.flush(pending, out)?;
        pending.stmts = later;
        Ok(())
    }

    /// Launches what waits as a kernel of one thread.
    pub(super) fn flush(&mut self, pending: &mut Pending, out: &mut Vec<Stmt>) -> Lowered<()> {
        let stmts = std::mem::take(&mut pending.stmts);
        let useful = |s: &Stmt| !matches!(&s.kind, StmtKind::Decl { init: None, .. });
        if !stmts.iter().any(useful) {
            return Ok(());
        }
        let whole = Block::new(stmts);
        self.warn_about_loops(&whole);
        let mut block = self.keep_local(whole);
        self.move_to_device(&mut block);
        self.single_thread(block.stmts, out);
        Ok(())
    }

    fn warn_about_loops(&mut self, block: &Block) {
        for stmt in &block.stmts {
            let StmtKind::For(l) = &stmt.kind else { continue };
            let name = self.source.loop_name(l.id);
            // Under a schedule that does not bind it, a loop keeps its mark.
            let known = self.source.find_loop(l.id);
            let marked = known.is_some_and(|l| matches!(l.kind, LoopKind::Parallel(_)));
            let (what, help) = match marked {
                true => ("is bound to no threads", self.nests.advice(&name)),
                false => (
                    "is not parallel and works on arrays",
                    "mark it with `#pragma omp parallel for` if its iterations are independent"
                        .to_string(),
                ),
            };
            let message = format!("loop `{name}` {what}: one thread of the device runs it");
            let mut d = Diagnostic::warning("W252", message);
            if let Some(span) = l.first.origin.span.or(stmt.origin.span) {
                d = d.label(span, "correct, but slow");
            }
            self.notes.push(d.help(help));
        }
    }

    /// Variables that nothing but these statements mentions stay variables of the one thread. Declarations of the
    /// others fall away, or become assignments.
    fn keep_local(&mut self, mut block: Block) -> Block {
        let function = self.source.func();
        let whole = block.clone();
        let private = |v: VarId| {
            walk::times_mentioned(&function.body, v) == walk::times_mentioned(&whole, v)
                && !function.params.contains(&v)
                && !function.var(v).ty.is_pointer()
        };
        let mut stmts = vec![];
        for stmt in block.stmts {
            match stmt.kind {
                StmtKind::Decl { var, .. } if private(var) => stmts.push(stmt),
                StmtKind::Decl { var, init } if self.placement.device.contains(&var) => {
                    if let Some(value) = init {
                        let ty = function.var(var).ty.clone();
                        let place = Place::new(PlaceKind::Var(var), ty, stmt.origin.clone());
                        let first = stmts.len();
                        assign(place, value, &stmt.origin, &mut stmts);
                        if let Some(first) = stmts.get_mut(first) {
                            first.comment = stmt.comment;
                        }
                    }
                }
                _ => stmts.push(stmt),
            }
        }
        block.stmts = stmts;
        block
    }

    /// Puts `*pointer` in place of variables that live on the device, those declared in the block excepted.
    pub(super) fn move_to_device(&mut self, block: &mut Block) {
        let mut declared = std::collections::BTreeSet::new();
        let mut mentioned = std::collections::BTreeSet::new();
        walk::each_stmt(block, &mut |s| {
            if let StmtKind::Decl { var, .. } = &s.kind {
                declared.insert(*var);
            }
        });
        walk::each_var_of_block(block, &mut |v| _ = mentioned.insert(v));
        for v in mentioned {
            if self.placement.device.contains(&v) && !declared.contains(&v) {
                let pointer = self.scope.pointer_to(v);
                let ty = self.scope.host.var(pointer).ty.clone();
                outline::to_device(block, v, pointer, &ty);
            }
        }
    }

    /// Launches statements as a kernel of one thread.
    pub(super) fn single_thread(&mut self, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
        let written = stmts.iter().find_map(|s| match &s.kind {
            StmtKind::Assign { place, .. } => Some(self.scope.target_name(place)),
            _ => None,
        });
        let wanted = match written {
            Some(name) if !name.is_empty() => format!("{}_set_{name}", self.scope.host.name),
            _ => format!("{}_serial", self.scope.host.name),
        };
        let one = || Expr::int(warpsmith_ir::Scalar::U32, 1);
        let text = Block::new(stmts.clone());
        let unbound = walk::for_loops(&text).into_iter().any(is_marked);
        let launch = self.launch_of(stmts, &wanted, [one(), one(), one()], [one(), one(), one()]);
        out.push(launch.comment(match unbound {
            true => "nothing binds its loops to threads: one runs them all",
            false => "depends on values that only the device has",
        }));
    }

    /// Cuts a kernel out and gives the statement that launches it.
    pub(super) fn launch_of(
        &mut self,
        stmts: Vec<Stmt>,
        wanted: &str,
        grid: [Expr; 3],
        block: [Expr; 3],
    ) -> Stmt {
        self.scope.reassociated.extend(reordered(&stmts));
        let name = self.scope.fresh_name(wanted);
        let origin =
            stmts.iter().map(|s| s.origin.clone()).find(|o| o.span.is_some()).unwrap_or_default();
        let Outlined { mut kernel, args, reads, writes } =
            outline::outline(&self.scope.host, &name, stmts, self.scope.distinct_pointers);
        let map = self.call_map();
        super::remap(&mut kernel.body, &map);
        serialise(&mut kernel.body);
        kernel.next_loop = self.scope.host.next_loop;
        kernel.origin = origin.clone();
        let values: Vec<Expr> = args
            .iter()
            .zip(&kernel.params)
            .map(|(host, param)| {
                let value = self.scope.first_values.get(host).copied().unwrap_or(*host);
                Expr::var(value, self.scope.host.var(value).ty.clone())
                    .cast(kernel.var(*param).ty.clone())
            })
            .collect();
        self.flows.push((reads, writes));
        let id: FuncId = self.scope.module.add_function(kernel);
        self.kernels.push(id);
        let shared = Expr::int(warpsmith_ir::Scalar::U32, 0);
        let launch = Launch { kernel: id, grid, block, shared, cluster: None, args: values };
        Stmt::new(StmtKind::Launch(launch), origin)
    }
}

/// Gives a place a value, each element of an array its own.
fn assign(place: Place, value: Expr, origin: &Origin, out: &mut Vec<Stmt>) {
    match (*value.kind, &place.ty) {
        (ExprKind::Make(parts), Type::Array(element, _)) => {
            for (k, part) in parts.into_iter().enumerate() {
                let index = Expr::int(Scalar::I32, k as i64);
                let kind = PlaceKind::Index(place.clone(), index);
                assign(Place::new(kind, (**element).clone(), origin.clone()), part, origin, out);
            }
        }
        (kind, _) => {
            let value = Expr { kind: Box::new(kind), ..value };
            out.push(Stmt::new(StmtKind::Assign { place, value }, origin.clone()));
        }
    }
}

/// Arrays whose elements threads add to in any order, where it shows in the last bits.
fn reordered(stmts: &[Stmt]) -> Vec<VarId> {
    let mut found = vec![];
    walk::each_stmt(&Block::new(stmts.to_vec()), &mut |s| {
        if let StmtKind::Atomic { op, pointer, .. } = &s.kind
            && matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::Mul)
            && pointer.ty.pointee().is_some_and(Type::is_float)
            && let Base::Var(v) = base_of_pointer(pointer)
        {
            found.push(v);
        }
    });
    found
}

/// Whether a `break` or `continue` in the statement belongs to a loop around it.
fn escapes(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break | StmtKind::Continue => true,
        StmtKind::For(_) | StmtKind::Loop { .. } | StmtKind::Switch { .. } => false,
        _ => walk::blocks(stmt).into_iter().any(|b| b.stmts.iter().any(escapes)),
    }
}

/// Every loop inside runs serially in its thread; a counter that only these loops use becomes theirs.
pub(super) fn own_counters(host: &mut warpsmith_ir::Function, block: &mut Block) {
    let whole = block.clone();
    let mut fresh: Vec<(VarId, VarId)> = vec![];
    adopt(host, &whole, block, &mut fresh);
}

fn adopt(
    host: &mut warpsmith_ir::Function,
    whole: &Block,
    block: &mut Block,
    seen: &mut Vec<(VarId, VarId)>,
) {
    for stmt in &mut block.stmts {
        if let StmtKind::For(l) = &mut stmt.kind
            && !l.declares
            && counts_only(whole, l.var)
        {
            l.declares = true;
            // A second loop with the same counter declares one of its own.
            let again = seen.iter().any(|(v, _)| *v == l.var);
            if again {
                let copy = host.add_var(host.var(l.var).clone());
                let (old, body) = (l.var, &mut l.body);
                l.var = copy;
                visit::rename_vars(body, &mut |v| if v == old { copy } else { v });
            } else {
                seen.push((l.var, l.var));
            }
        }
        for inner in walk::blocks_mut(stmt) {
            adopt(host, whole, inner, seen);
        }
    }
}

/// The variable is set by nothing but counted loops, and read only inside them.
fn counts_only(block: &Block, var: VarId) -> bool {
    let mut other = false;
    walk::each_stmt(block, &mut |s| {
        let o = walk::operands(s);
        let counts = matches!(&s.kind, StmtKind::For(l) if l.var == var && matches!(l.kind, LoopKind::Serial | LoopKind::Unrolled(_) | LoopKind::Parallel(_)));
        other |= o.writes.and_then(|p| p.root_var()) == Some(var);
        other |= o.results.contains(&var) && !counts;
    });
    !other && !crate::analysis::scalars::read_outside_its_loops(block, var)
}
