//! Why there is no plan.

use warpsmith_front::ast::ExprKind;
use warpsmith_front::sema::walk;

use super::plans::Kernel;
use super::{find, in_kernel, read_only, suits_any_block, together, with_function};
use crate::session::{Refusal, Session};
use crate::source::scope;

const NO_BLOCK: &str =
    "the kernel does not ask how large a block is, and no host code says it: name it with --block";

/// Why there is no plan, array by array.
pub(super) fn reasons(session: &Session) -> Result<Vec<String>, Refusal> {
    if let Some((together, _)) = together(session)? {
        return as_it_is(&together);
    }
    as_it_is(session)
}

fn as_it_is(session: &Session) -> Result<Vec<String>, Refusal> {
    let mut reasons = vec![];
    in_kernel(session, &mut |kernel| {
        for array in read_only(kernel) {
            let reads: Vec<_> = kernel.elements().filter(|a| a.array == array).collect();
            reasons.push(find::unshared(&reads, kernel.shares_elements(&reads), kernel.axes[1]));
        }
        let stores = kernel.elements().filter(|a| a.stored);
        let first = stores.filter_map(find::scattered).next();
        reasons.extend(first);
        if !suits_any_block(session, kernel) {
            reasons.push(NO_BLOCK.to_string());
        }
    })?;
    if reasons.is_empty() {
        with_function(session, &mut |kernel| reasons = unseen(kernel))?;
    }
    Ok(reasons)
}

/// Why no read was looked at.
fn unseen(kernel: &Kernel<'_>) -> Vec<String> {
    if kernel.shared {
        return vec!["the kernel has tiles already".to_string()];
    }
    let params = find::pointers(kernel.function);
    let mut reasons: Vec<String> = vec![];
    walk::block(kernel.body, &mut |e| {
        let ExprKind::Call { callee, args } = &*e.kind else { return };
        let given = args.iter().flat_map(|a| scope::names(kernel.sources.text(a.span)));
        for param in given.filter(|n| params.contains(&n)) {
            let why = format!(
                "`{param}` is passed to `{}`, and of functions only those that return one element of one array are looked into: read it in \
                 the kernel, by its subscript",
                kernel.sources.text(callee.span)
            );
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
    });
    reasons.extend(moved(kernel, &params));
    if reasons.is_empty() {
        reasons
            .push("the kernel reads no parameter by subscripts that it does not store to".into());
    }
    reasons
}

/// Local pointers into parameters that the kernel moves.
fn moved(kernel: &Kernel<'_>, params: &[&String]) -> Vec<String> {
    let mut changed: Vec<String> = vec![];
    walk::block(kernel.body, &mut |e| {
        let (ExprKind::Assign { target: e, .. } | ExprKind::IncDec { operand: e, .. }) = &*e.kind
        else {
            return;
        };
        if let ExprKind::Path(path) = &*scope::plain(e).kind {
            changed.extend(path.as_name().map(str::to_string));
        }
    });
    let mut reasons = vec![];
    for (name, values) in scope::declared(kernel.body) {
        let from = values.iter().flatten().flat_map(|v| scope::names(kernel.sources.text(v.span)));
        let param = from.into_iter().find(|n| params.contains(&n));
        if let Some(param) = param.filter(|_| changed.contains(&name)) {
            reasons.push(format!(
                "`{param}` is read through `{name}`, which moves, and what moves is not followed: read it by a subscript of `{param}`"
            ));
        }
    }
    reasons.sort();
    reasons
}
