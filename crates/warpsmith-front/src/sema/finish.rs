//! The end of lowering: drops functions that only ran at compile time, and refuses recursion.

use warpsmith_ir::visit::for_each_stmt;
use warpsmith_ir::{Diagnostic, FuncId, Function, FunctionKind, StmtKind};

use super::model::error;
use super::{KernelInfo, Lowered, Sema};

impl Sema<'_> {
    pub(crate) fn finish(
        mut self,
        mut kernels: Vec<KernelInfo>,
        hosts: Vec<FuncId>,
    ) -> Result<Lowered, Vec<Diagnostic>> {
        let mut roots: Vec<FuncId> = kernels.iter().map(|k| k.id).collect();
        roots.extend(&hosts);
        let order = match reachable(&self.module.functions, &roots) {
            Ok(order) => order,
            Err(f) => {
                let name = self.module.function(f).name.clone();
                let message =
                    format!("`{name}` calls itself at run time: recursion is not supported");
                let d = match self.module.function(f).origin.span {
                    Some(span) => error("W066", span, message),
                    None => Diagnostic::error("W066", message),
                };
                return Err(vec![d.help("turn it into a loop, or call it with constants only")]);
            }
        };
        let renamed =
            |id: FuncId| order.iter().position(|k| *k == id).map_or(id, |i| FuncId(i as u32));
        let mut functions = vec![];
        for id in &order {
            let mut f = self.module.function(*id).clone();
            warpsmith_ir::visit::map_stmts(&mut f.body, &mut |s| match &mut s.kind {
                StmtKind::Call { function, .. } => *function = renamed(*function),
                StmtKind::Launch(l) => l.kernel = renamed(l.kernel),
                _ => {}
            });
            super::optimistic::mark(&mut f);
            functions.push(f);
        }
        for k in &mut kernels {
            k.id = renamed(k.id);
        }
        let host_functions = hosts.into_iter().map(renamed).collect();
        self.module.functions = functions;
        Ok(Lowered { module: self.module, kernels, host_functions, warnings: self.warnings })
    }
}

/// Functions reached from the roots in their present order; an error names one of the device that calls itself.
fn reachable(functions: &[Function], roots: &[FuncId]) -> Result<Vec<FuncId>, FuncId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; functions.len()];
    // Each entry: a function, and whether its callees are done.
    let mut stack: Vec<(FuncId, bool)> = roots.iter().map(|r| (*r, false)).collect();
    while let Some((id, leaving)) = stack.pop() {
        let Some(state) = seen.get_mut(id.0 as usize) else { continue };
        if leaving {
            *state = Seen::Done;
            continue;
        }
        let on_device = functions[id.0 as usize].kind != FunctionKind::Host;
        match state {
            Seen::Done => continue,
            Seen::Open if on_device => return Err(id),
            Seen::Open => continue,
            Seen::No => *state = Seen::Open,
        }
        stack.push((id, true));
        let mut callees = vec![];
        for_each_stmt(&functions[id.0 as usize].body, &mut |s| match &s.kind {
            StmtKind::Call { function, .. } => callees.push(*function),
            StmtKind::Launch(l) => callees.push(l.kernel),
            _ => {}
        });
        callees.sort();
        callees.dedup();
        for callee in callees {
            match seen.get(callee.0 as usize) {
                Some(Seen::Open) if functions[callee.0 as usize].kind != FunctionKind::Host => {
                    return Err(callee);
                }
                Some(Seen::No) => stack.push((callee, false)),
                _ => {}
            }
        }
    }
    let all = (0..functions.len() as u32).map(FuncId);
    Ok(all.filter(|id| seen[id.0 as usize] == Seen::Done).collect())
}
