//! Clocks: `double t = omp_get_wtime();` around loops measures them, and says nothing about their results.

use std::collections::HashSet;

use warpsmith_ir::{Diagnostic, Expr, PlaceKind, Span, Stmt, StmtKind, Type, VarId, visit};

use super::cx::Cx;

impl Cx<'_> {
    /// A time of day: a variable that must not reach any result.
    pub fn time(&mut self, span: Span) -> Expr {
        let value = self.temp("time", Type::F64, None, span);
        if let Some(var) = visit::vars_of_expr(&value).into_iter().next() {
            self.clocks.insert(var);
        }
        value
    }

    /// Removes the statements that only compute with times; a time that decides or leaves anything is refused (W163).
    pub fn forget_times(&mut self) {
        if self.clocks.is_empty() {
            return;
        }
        let mut clocks = std::mem::take(&mut self.clocks);
        let mut body = std::mem::take(&mut self.function.body);
        loop {
            let known = clocks.len();
            let mut found = vec![];
            visit::for_each_stmt(&body, &mut |s| found.extend(carries(s, &clocks)));
            clocks.extend(found);
            if clocks.len() == known {
                break;
            }
        }
        let params = &self.function.params;
        clocks.retain(|v| !params.contains(v));
        visit::map_stmts(&mut body, &mut |s| {
            let target = match &s.kind {
                StmtKind::Decl { var, .. } => Some(*var),
                StmtKind::Assign { place, .. } => place.root_var(),
                _ => None,
            };
            if target.is_some_and(|v| clocks.contains(&v)) {
                s.kind = StmtKind::Scope(Default::default());
            }
        });
        let mut left = None;
        visit::for_each_expr(&body, &mut |e| {
            if left.is_none() && visit::vars_of_expr(e).iter().any(|v| clocks.contains(v)) {
                left = Some(e.origin.span);
            }
        });
        self.function.body = body;
        if let Some(at) = left {
            let d = Diagnostic::error("W163", "a result would depend on the time of day");
            let d = at.into_iter().fold(d, |d, at| d.label(at, "computed from a time"));
            self.fail(d.help("take the timing out of the function to be translated"));
        }
    }
}

/// The variable that an assignment makes a time of.
fn carries(s: &Stmt, clocks: &HashSet<VarId>) -> Option<VarId> {
    let (var, value) = match &s.kind {
        StmtKind::Decl { var, init: Some(value) } => (*var, value),
        StmtKind::Assign { place, value } => match &*place.kind {
            PlaceKind::Var(v) => (*v, value),
            _ => return None,
        },
        _ => return None,
    };
    visit::vars_of_expr(value).iter().any(|v| clocks.contains(v)).then_some(var)
}
