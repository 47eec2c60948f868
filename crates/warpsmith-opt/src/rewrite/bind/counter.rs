//! The counter of a nest that is declared outside of it.

use warpsmith_ir::{
    BinaryOp, Diagnostic, Expr, ExprKind, ForLoop, Place, PlaceKind, Stmt, StmtKind, Type,
};

use crate::analysis::scalars;
use crate::build::{counters, trips};
use crate::kernel::only_loop;
use crate::legalise::scope::Lowered;
use crate::rewrite::edit::draft::Draft;

impl Draft<'_> {
    /// A counter declared outside its loop keeps the value it left with, where something reads it.
    pub(crate) fn counter_after(&self, l: &ForLoop, stmt: &Stmt) -> Lowered<Option<Stmt>> {
        let function = self.source.func();
        let mut last = None;
        let mut at = Some(l);
        let mut outermost = true;
        while let Some(l) = at {
            let read = scalars::counter_outlives(function, l);
            if read && !outermost {
                let message = "the counter of an inner parallel loop is read after the nest";
                let d = self.at_loop("W243", l, stmt, message);
                return Err(Box::new(d.help("set a variable to the loop's limit, and read that")));
            }
            if read {
                last = Some(self.final_counter(l, stmt));
            }
            outermost = false;
            at = only_loop(&l.body);
        }
        Ok(last)
    }

    fn final_counter(&self, l: &ForLoop, stmt: &Stmt) -> Stmt {
        let ty = Type::Scalar(counters::counter_type(&self.scope.host, l));
        let passed = counters::times(trips::count(&self.scope.host, l), &l.step);
        let end = Expr::binary(BinaryOp::Add, l.first.clone(), passed);
        let end =
            counters::tidy(&self.scope.host, end, counters::counter_type(&self.scope.host, l));
        let kind = ExprKind::Select(trips::runs(&self.scope.host, l), end, l.first.clone());
        let value = Expr::new(kind, ty.clone(), stmt.origin.clone());
        let place = Place::new(PlaceKind::Var(l.var), ty, stmt.origin.clone());
        Stmt::new(StmtKind::Assign { place, value }, stmt.origin.by("bind"))
            .comment("the value with which the loop leaves its counter")
    }

    fn at_loop(
        &self,
        code: &'static str,
        l: &ForLoop,
        stmt: &Stmt,
        message: &str,
    ) -> Box<Diagnostic> {
        let d = Diagnostic::error(code, message);
        let span = l.first.origin.span.or(stmt.origin.span);
        Box::new(match span {
            Some(span) => d.label(span, "this loop"),
            None => d,
        })
    }
}
