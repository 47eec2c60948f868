//! The sizes that a program calls the function with: those to tune for where nobody gives others.

use std::collections::HashMap;

use super::directives::SizeDefault;
use super::scan;
use super::unit::Unit;
use crate::ast::{Block, Expr, ExprKind, Initializer, Stmt, StmtKind};

/// For each parameter that the first call of the function gives a positive constant, or a variable that is declared with
/// one, as `main` does in `int n = N; … kernel(n, A);`. Nothing rests on these numbers: they are sizes like any other.
pub fn sizes(unit: &Unit<'_>, name: &str) -> Vec<SizeDefault> {
    let Some(function) = unit.function(name) else { return vec![] };
    let bodies = unit.functions.iter().filter(|(n, ..)| *n != name);
    let Some((call, locals)) = bodies
        .filter_map(|(_, f, _)| f.body.as_ref())
        .find_map(|body| Some((call_in(body, name)?, constants(unit, body))))
    else {
        return vec![];
    };
    let ExprKind::Call { args, .. } = &*call.kind else { return vec![] };
    let given = function.params.iter().zip(args).filter_map(|(param, arg)| {
        let value = unit.constant(arg).or_else(|| locals.get(scan::root_name(arg)?).copied())?;
        let value = u64::try_from(value).ok().filter(|v| *v > 0)?;
        Some(SizeDefault { name: param.name.clone()?, values: vec![value], span: arg.span })
    });
    given.collect()
}

fn call_in(body: &Block, name: &str) -> Option<Expr> {
    fn walk(e: &Expr, name: &str, found: &mut Option<Expr>) {
        if let ExprKind::Call { callee, .. } = &*e.kind
            && scan::root_name(callee) == Some(name)
        {
            found.get_or_insert_with(|| e.clone());
        }
        scan::for_each_child(e, &mut |child| walk(child, name, found));
    }
    let mut found = None;
    body.stmts.iter().for_each(|s| scan::for_each_expr(s, &mut |e| walk(e, name, &mut found)));
    found
}

/// Local variables that are declared with a constant.
fn constants<'a>(unit: &Unit<'_>, body: &'a Block) -> HashMap<&'a str, i64> {
    fn walk<'a>(unit: &Unit<'_>, stmt: &'a Stmt, found: &mut HashMap<&'a str, i64>) {
        match &stmt.kind {
            StmtKind::Vars(vars) => {
                for d in &vars.declarators {
                    if let Some(Initializer::Expr(e)) = &d.init
                        && let Some(value) = unit.constant(e)
                    {
                        found.entry(&d.name).or_insert(value);
                    }
                }
            }
            StmtKind::Block(b) => b.stmts.iter().for_each(|s| walk(unit, s, found)),
            _ => {}
        }
    }
    let mut found = HashMap::new();
    body.stmts.iter().for_each(|s| walk(unit, s, &mut found));
    found
}
