//! Where the variables of the host function live: with the host, or in device memory.
//!
//! A scalar whose value depends on nothing but by-value parameters stays with the host. One that depends on the
//! contents of an array, on a reduction, or on a last iteration is known only on the device: it lives in a slot of
//! the workspace, or directly where the function puts its value in the end.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_ir::{Block, Expr, ExprKind, FunctionKind, PlaceKind, Stmt, StmtKind, Type, VarId};

use super::nests::Nests;
use super::scope::host_known;
use crate::analysis::loops::is_grid;
use crate::kernel::Kernel;
use crate::walk;
use crate::walk::single_element;

/// Variables that live on the device.
#[derive(Debug, Default)]
pub struct Placement {
    pub device: BTreeSet<VarId>,
    /// Variables that live in `*pointer` of a parameter, with the statement `*pointer = variable` dropped.
    pub in_parameter: BTreeMap<VarId, VarId>,
    /// The variable that is the returned value and nothing else.
    pub returned: Option<VarId>,
}

impl Placement {
    pub fn of(kernel: &Kernel, nests: &dyn Nests) -> Placement {
        let mut placement = Placement::default();
        let body = &kernel.func().body;
        let kept = nests.kept().into_iter();
        placement.device.extend(kept.filter(|v| !kernel.func().var(*v).ty.is_pointer()));
        for (k, var) in kernel.func().vars.iter().enumerate() {
            if matches!(var.ty, Type::Array(..)) {
                placement.device.insert(VarId(k as u32));
            }
        }
        loop {
            let before = placement.device.len();
            placement.spread(kernel, nests, body);
            if placement.device.len() == before {
                break;
            }
        }
        placement.find_parameters(kernel, nests);
        placement
    }

    /// One round: what a device statement writes lives on the device.
    fn spread(&mut self, kernel: &Kernel, nests: &dyn Nests, block: &Block) {
        for stmt in &block.stmts {
            if is_nest(nests, stmt) {
                continue;
            }
            if contains_nest(nests, stmt) {
                walk::blocks(stmt).into_iter().for_each(|b| self.spread(kernel, nests, b));
            } else if self.needs_device(kernel, stmt) {
                let mut written = BTreeSet::new();
                let mut declared = BTreeSet::new();
                let whole = Block::new(vec![stmt.clone()]);
                walk::each_stmt(&whole, &mut |s| {
                    let o = walk::operands(s);
                    written.extend(o.results);
                    written.extend(o.writes.and_then(|p| p.root_var()));
                    let inner = !std::ptr::eq(s, &whole.stmts[0]);
                    match &s.kind {
                        StmtKind::Decl { var, .. } if inner => _ = declared.insert(*var),
                        StmtKind::For(l) if l.declares => _ = declared.insert(l.var),
                        _ => {}
                    }
                });
                self.device.extend(written.difference(&declared));
            }
        }
    }

    /// Whether a statement without nests in it must run on the device.
    pub fn needs_device(&self, kernel: &Kernel, stmt: &Stmt) -> bool {
        let mut needs = false;
        let whole = Block::new(vec![stmt.clone()]);
        walk::each_stmt(&whole, &mut |s| {
            let o = walk::operands(s);
            needs |= o.reads.iter().any(|e| !self.host_known(e));
            needs |= o.writes.is_some_and(|p| match &*p.kind {
                PlaceKind::Var(v) => self.device.contains(v),
                _ => p.root_var().is_none_or(|v| self.device.contains(&v)),
            });
            needs |= o.results.iter().any(|v| self.device.contains(v));
            needs |= match &s.kind {
                StmtKind::Call { function, args, .. } => {
                    args.iter().any(|a| a.ty.is_pointer())
                        || kernel.module.function(*function).kind != FunctionKind::Host
                }
                StmtKind::Printf { .. } | StmtKind::Atomic { .. } => true,
                _ => false,
            };
        });
        needs
    }

    /// Whether the host can compute the expression.
    pub fn host_known(&self, e: &Expr) -> bool {
        host_known(&self.device, e)
    }

    /// Finds variables that only carry a value to `*p = v` or `return v`: they may live there at once.
    fn find_parameters(&mut self, kernel: &Kernel, nests: &dyn Nests) {
        let function = kernel.func();
        for var in self.device.clone() {
            let scalar = function.var(var).ty.scalar().is_some();
            if !scalar || function.params.contains(&var) {
                continue;
            }
            let mut uses = vec![];
            for stmt in &function.body.stmts {
                readers(nests, stmt, var, &mut uses);
            }
            let [only] = uses.as_slice() else { continue };
            if !walk::stands_at_top(&function.body, &|s| std::ptr::eq(s, *only)) {
                continue;
            }
            match &only.kind {
                StmtKind::Assign { place, value } if is_read(value, var) => {
                    if let Some(p) = single_element(place)
                        && place.ty == function.var(var).ty
                        && walk::times_mentioned(&function.body, p) == 1
                        && leaves_at_end(&function.body)
                        && !self.in_parameter.values().any(|q| *q == p)
                    {
                        self.in_parameter.insert(var, p);
                    }
                }
                StmtKind::Return(Some(value))
                    if is_read(value, var) && returns(&function.body) == 1 =>
                {
                    self.returned = Some(var);
                }
                _ => {}
            }
        }
    }
}

/// Whether the function returns nowhere but at its end.
fn leaves_at_end(body: &Block) -> bool {
    let last = body.stmts.last().is_some_and(|s| matches!(s.kind, StmtKind::Return(_)));
    returns(body) == usize::from(last)
}

/// Statements that read the variable, nests that reduce it excepted.
fn readers<'a>(nests: &dyn Nests, stmt: &'a Stmt, var: VarId, found: &mut Vec<&'a Stmt>) {
    if matches!(&stmt.kind, StmtKind::For(l) if nests.combines(l, var)) {
        return;
    }
    let o = walk::operands(stmt);
    let mut reads = o.reads.iter().any(|e| walk::mentions(e, var));
    if let Some(place) = o.writes {
        walk::each_expr_of_place(place, &mut |e| {
            if let ExprKind::Read(p) = &*e.kind {
                reads |= p.root_var() == Some(var);
            }
        });
    }
    if reads {
        found.push(stmt);
    }
    for block in walk::blocks(stmt) {
        block.stmts.iter().for_each(|s| readers(nests, s, var, found));
    }
}

fn is_read(e: &Expr, var: VarId) -> bool {
    matches!(&*e.kind, ExprKind::Read(p) if *p.kind == PlaceKind::Var(var))
}

fn returns(block: &Block) -> usize {
    let mut count = 0;
    walk::each_stmt(block, &mut |s| count += usize::from(matches!(s.kind, StmtKind::Return(_))));
    count
}

/// Whether a statement is a nest: one that is bound in the tree, or will be.
fn is_nest(nests: &dyn Nests, stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::For(l) if is_grid(l) || nests.begins(l))
}

pub fn contains_nest(nests: &dyn Nests, stmt: &Stmt) -> bool {
    let inside = walk::blocks(stmt);
    inside.into_iter().any(|b| b.stmts.iter().any(|s| is_nest(nests, s) || contains_nest(nests, s)))
}
