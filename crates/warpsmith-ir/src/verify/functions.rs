//! Rule 16: the graph of calls has no cycle.

use std::collections::BTreeSet;

use super::Violation;
use crate::module::{FuncId, Module};
use crate::stmt::StmtKind;
use crate::visit::for_each_stmt;

pub(super) fn recursion(module: &Module) -> Vec<Violation> {
    let calls: Vec<BTreeSet<usize>> = module
        .functions
        .iter()
        .map(|f| {
            let mut calls = BTreeSet::new();
            for_each_stmt(&f.body, &mut |stmt| {
                if let StmtKind::Call { function, .. } = &stmt.kind {
                    calls.insert(function.0 as usize);
                }
            });
            calls
        })
        .collect();
    (0..calls.len())
        .filter(|start| reaches(&calls, *start))
        .map(|i| Violation {
            rule: 16,
            function: Some(FuncId(i as u32)),
            name: module.functions[i].name.clone(),
            span: module.functions[i].origin.span,
            message: "it calls itself, directly or through others".into(),
        })
        .collect()
}

/// Whether a function is among those that it calls in the end.
fn reaches(calls: &[BTreeSet<usize>], start: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for &next in calls.get(at).into_iter().flatten() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}
