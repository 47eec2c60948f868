//! The end of lowering: drops functions that only ran at compile time, and gives recursive ones their stack.

use warpsmith_ir::visit::for_each_stmt;
use warpsmith_ir::{Diagnostic, FuncId, Function, StmtKind};

use super::model::error;
use super::{KernelInfo, Lowered, Sema};

impl Sema<'_> {
    pub(crate) fn finish(
        mut self,
        mut kernels: Vec<KernelInfo>,
        hosts: Vec<FuncId>,
    ) -> Result<Lowered, Vec<Diagnostic>> {
        let function_addresses = self.function_addresses();
        let mut roots: Vec<FuncId> = kernels.iter().map(|k| k.id).collect();
        roots.extend(&hosts);
        let order = reachable(&self.module.functions, &roots);
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
        if let Err(f) = crate::machine::without_recursion(&mut self.module) {
            let f = self.module.function(f);
            let message = format!("`{}` calls itself and has shared variables of its own", f.name);
            let d = match f.origin.span {
                Some(span) => error("W066", span, message),
                None => Diagnostic::error("W066", message),
            };
            return Err(vec![d.help("declare them in the kernel and pass a pointer to them")]);
        }
        Ok(Lowered {
            module: self.module,
            kernels,
            host_functions,
            warnings: self.warnings,
            function_addresses,
        })
    }
}

/// Functions reached from the roots, in their present order.
fn reachable(functions: &[Function], roots: &[FuncId]) -> Vec<FuncId> {
    let mut seen = vec![false; functions.len()];
    let mut open = roots.to_vec();
    while let Some(id) = open.pop() {
        let Some(state) = seen.get_mut(id.0 as usize) else { continue };
        if std::mem::replace(state, true) {
            continue;
        }
        for_each_stmt(&functions[id.0 as usize].body, &mut |s| match &s.kind {
            StmtKind::Call { function, .. } => open.push(*function),
            StmtKind::Launch(l) => open.push(l.kernel),
            _ => {}
        });
    }
    let all = (0..functions.len() as u32).map(FuncId);
    all.filter(|id| seen[id.0 as usize]).collect()
}
