//! Arrays of which a loop only updates elements, in any order of its iterations.

use super::{Update, Why, base_of, base_of_pointer, update_of};
use crate::typing::Env;
use crate::{
    Block, Expr, ExprKind, Origin, PlaceKind, ReduceOp, Scope, Span, Stmt, StmtKind, Type, VarId,
    visit,
};

/// Makes the updates of an array's elements in a loop's body atomic.
///
/// # Errors
/// Where the body does something else with the array, and what; it is left alone then.
pub fn atomic_elements(
    env: &Env<'_>,
    body: &mut Block,
    array: VarId,
    op: ReduceOp,
) -> Result<(), (Option<Span>, Why)> {
    let mut new = body.clone();
    let mut wrong = None;
    outermost_first(&mut new, &mut |s| {
        let Some(result) = update_of(s) else { return false };
        match result {
            Ok(update) if base_of(&update.place) == Some(array) => match update.class() == op {
                true => *s = atomic_of(env, update, &s.origin),
                false => {
                    let why = Why {
                        reason: "another operation",
                        help: "one clause has one operator; collect the other in an array of its own",
                    };
                    wrong.get_or_insert((s.origin.span, why));
                }
            },
            Err(why) if assigns(s, array) => _ = wrong.get_or_insert((s.origin.span, why)),
            _ => return false,
        }
        true
    });
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if let Some(at) = other_mention(&new, array, &|s| updates_array(s, array)) {
        let why = Why {
            reason: "used other than by updates",
            help: "what an array is reduced to is known after the loop",
        };
        return Err((at, why));
    }
    *body = new;
    Ok(())
}

/// Calls `f` on every statement, and on those inside the ones for which it says no.
fn outermost_first(block: &mut Block, f: &mut dyn FnMut(&mut Stmt) -> bool) {
    for stmt in &mut block.stmts {
        if f(stmt) {
            continue;
        }
        match &mut stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                outermost_first(then, f);
                outermost_first(otherwise, f);
            }
            StmtKind::For(l) => outermost_first(&mut l.body, f),
            StmtKind::Loop { body, step, condition, .. } => {
                outermost_first(body, f);
                outermost_first(step, f);
                condition.iter_mut().for_each(|c| outermost_first(&mut c.before, f));
            }
            StmtKind::Switch { cases, .. } => {
                cases.iter_mut().for_each(|c| outermost_first(&mut c.body, f));
            }
            StmtKind::Scope(inner) => outermost_first(inner, f),
            _ => {}
        }
    }
}

/// Whether a statement assigns to what the variable holds, or to what is behind it.
pub fn assigns(s: &Stmt, var: VarId) -> bool {
    matches!(&s.kind, StmtKind::Assign { place, .. } if base_of(place) == Some(var))
}

/// Whether a statement is an atomic operation on an element of the array.
pub fn updates_array(s: &Stmt, var: VarId) -> bool {
    let StmtKind::Atomic { pointer, .. } = &s.kind else { return false };
    match &*pointer.kind {
        ExprKind::AddressOf(place) => base_of(place) == Some(var),
        _ => base_of_pointer(pointer) == Some(var),
    }
}

/// Where a block assigns to the variable, or to what is behind it, for the first time.
pub fn first_write(block: &Block, var: VarId) -> Option<Span> {
    let mut found = None;
    visit::for_each_stmt(block, &mut |s| {
        if found.is_none() && assigns(s, var) {
            found = s.origin.span;
        }
    });
    found
}

/// The one operation by which all statements that mention the variable, or array, update it.
pub fn accumulation(block: &Block, var: VarId) -> Option<ReduceOp> {
    let mut found: Vec<ReduceOp> = vec![];
    let mut spans = vec![];
    visit::for_each_stmt(block, &mut |s| {
        if let Some(Ok(u)) = update_of(s)
            && base_of(&u.place) == Some(var)
        {
            spans.extend(s.origin.span);
            if !found.contains(&u.class()) {
                found.push(u.class());
            }
        }
    });
    let [only] = found.as_slice() else { return None };
    let other = other_mention(block, var, &|s| s.origin.span.is_some_and(|at| spans.contains(&at)));
    other.is_none().then_some(*only)
}

/// Where a variable is mentioned outside of the updates that `is_update` names; `Some(None)` where the text is not known.
pub fn other_mention(
    block: &Block,
    var: VarId,
    is_update: &dyn Fn(&Stmt) -> bool,
) -> Option<Option<Span>> {
    let mut rest = block.clone();
    visit::map_stmts(&mut rest, &mut |s| {
        let update = matches!(update_of(s), Some(Ok(u)) if base_of(&u.place) == Some(var));
        if is_update(s) && (update || updates_array(s, var)) {
            s.kind = StmtKind::Scope(Block::default());
        }
    });
    let mut mentioned = false;
    visit::rename_vars(&mut rest.clone(), &mut |v| {
        mentioned |= v == var;
        v
    });
    if !mentioned {
        return None;
    }
    let mut at = None;
    visit::for_each_expr(&rest, &mut |e| {
        if let ExprKind::Read(p) = &*e.kind
            && base_of(p) == Some(var)
            && at.is_none()
        {
            at = p.origin.span;
        }
    });
    Some(at.or_else(|| first_write(&rest, var)))
}

/// The atomic operation that does an update.
pub fn atomic_of(env: &Env<'_>, update: Update, origin: &Origin) -> Stmt {
    let Update { place, op, value } = update;
    let pointer = match &*place.kind {
        PlaceKind::Deref(pointer) => pointer.clone(),
        _ => {
            let origin = place.origin.clone();
            let kind = ExprKind::AddressOf(place);
            let ty = env.expr(&kind).unwrap_or(Type::Void);
            Expr::new(kind, ty, origin)
        }
    };
    let (compare, result, scope) = (None, None, Scope::Device);
    Stmt::new(StmtKind::Atomic { op, pointer, value, compare, result, scope }, origin.clone())
}
