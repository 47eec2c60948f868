//! The parts of a `for` by their form: `for (counter = first; counter compare limit; counter ± amount)`.

use warpsmith_ir::{BinaryOp, Span};

use super::scan::{self, Effects};
use crate::ast;

/// Why a loop is not a counted one.
pub struct Why {
    pub reason: String,
    pub span: Span,
    pub help: Option<&'static str>,
}

impl Why {
    pub fn new(reason: impl Into<String>, span: Span) -> Why {
        Why { reason: reason.into(), span, help: None }
    }

    pub fn help(mut self, help: &'static str) -> Why {
        self.help = Some(help);
        self
    }
}

/// Whether something is added or taken away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Plus,
    Minus,
}

/// The parts of `for (name = first; name compare limit; name ± amount)`.
pub struct Head<'u> {
    pub name: &'u str,
    pub name_span: Span,
    /// The counter is declared by the loop, with this type.
    pub declared: Option<&'u ast::TypeName>,
    /// Declarators after the counter's in the first part.
    pub others: Option<&'u ast::VarDecl>,
    pub first: Option<&'u ast::Expr>,
    /// What else is done in the first part.
    pub before: Vec<&'u ast::Expr>,
    /// What else is done in the step.
    pub after: Vec<&'u ast::Expr>,
    pub compare: BinaryOp,
    pub limit: &'u ast::Expr,
    /// What is added to the counter before it is compared, or taken from it.
    pub offset: Option<(Sign, &'u ast::Expr)>,
    pub down: bool,
    /// The body may end the loop before its limit is reached.
    pub leaves: bool,
    /// `None`: one.
    pub amount: Option<&'u ast::Expr>,
    pub cond_span: Span,
    pub step_span: Span,
}

/// Takes the three parts of a `for` apart by form and by what the body may change.
pub fn head<'u>(
    init: Option<&'u ast::Stmt>,
    cond: Option<&'u ast::Expr>,
    step: Option<&'u ast::Expr>,
    body: &'u ast::Stmt,
) -> Result<Head<'u>, Why> {
    let nowhere = body.span;
    let step = step.ok_or_else(|| Why::new("the loop has no step", nowhere))?;
    let cond = cond.ok_or_else(|| Why::new("the loop has no condition", nowhere))?;
    let steps = parts(step);
    let counts =
        |e: &&'u ast::Expr| step_form(e).is_ok_and(|(name, ..)| condition_form(cond, name).is_ok());
    let own = steps.iter().position(counts).unwrap_or(0);
    let (name, name_span, down, amount) = step_form(steps[own])?;
    let (compare, limit, offset) = condition_form(cond, name)?;
    let after = steps.iter().enumerate().filter(|(k, _)| *k != own).map(|(_, e)| *e).collect();
    let mut h = Head {
        name,
        name_span,
        declared: None,
        others: None,
        first: None,
        before: vec![],
        after,
        compare,
        limit,
        offset,
        down,
        leaves: scan::leaves(body),
        amount,
        cond_span: cond.span,
        step_span: step.span,
    };
    first_form(&mut h, init)?;
    let effects = scan::effects_of_all([body], &h.after);
    if effects.has_continue && !h.after.is_empty() {
        return Err(Why::new("`continue` leads to a step of several parts", step.span));
    }
    check_fixed(&h, &effects)?;
    Ok(h)
}

/// The parts of `a, b, c`.
fn parts(e: &ast::Expr) -> Vec<&ast::Expr> {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => parts(inner),
        ast::ExprKind::Comma(a, b) => [parts(a), parts(b)].concat(),
        _ => vec![e],
    }
}

/// `i++`, `i += c`, `i = i + c` and the like: counter, its place, direction, amount.
fn step_form(step: &ast::Expr) -> Result<(&str, Span, bool, Option<&ast::Expr>), Why> {
    use ast::ExprKind as A;
    let other = || Why::new("this step is not `i++`, `i += c` or `i = i + c`", step.span);
    match &*step.kind {
        A::Paren(inner) => step_form(inner),
        A::IncDec { op, operand, .. } => {
            Ok((variable(operand).ok_or_else(other)?, operand.span, op == "--", None))
        }
        A::Assign { op, target, value } => {
            let name = variable(target).ok_or_else(other)?;
            match op.as_str() {
                "+=" | "-=" => Ok((name, target.span, op == "-=", Some(value))),
                "=" => {
                    let A::Binary { op, left, right } = &*unparen(value).kind else {
                        return Err(other());
                    };
                    if (op == "+" || op == "-") && variable(left) == Some(name) {
                        Ok((name, target.span, op == "-", Some(right)))
                    } else if op == "+" && variable(right) == Some(name) {
                        Ok((name, target.span, false, Some(left)))
                    } else {
                        Err(other())
                    }
                }
                _ => Err(other()),
            }
        }
        _ => Err(other()),
    }
}

/// What a counter is compared with, and how.
type Condition<'u> = (BinaryOp, &'u ast::Expr, Option<(Sign, &'u ast::Expr)>);

/// `i < limit`, `limit > i`, or the same with `i + c` or `i - c`.
fn condition_form<'u>(cond: &'u ast::Expr, name: &str) -> Result<Condition<'u>, Why> {
    use BinaryOp::*;
    let e = unparen(cond);
    let other = || {
        Why::new(
            format!("this condition is not a single comparison of `{name}` with a limit"),
            cond.span,
        )
    };
    let ast::ExprKind::Binary { op, left, right } = &*e.kind else { return Err(other()) };
    let (op, turned) = match op.as_str() {
        "<" => (Lt, Gt),
        "<=" => (Le, Ge),
        ">" => (Gt, Lt),
        ">=" => (Ge, Le),
        "!=" => (Ne, Ne),
        _ => return Err(other()),
    };
    match (counter_with(left, name), counter_with(right, name)) {
        (Some(offset), _) => Ok((op, right, offset)),
        (None, Some(offset)) => Ok((turned, left, offset)),
        (None, None) => Err(other()),
    }
}

/// `i`, `i + c`, `c + i` or `i - c`: what is added to the counter, if anything is.
fn counter_with<'u>(e: &'u ast::Expr, name: &str) -> Option<Option<(Sign, &'u ast::Expr)>> {
    if variable(e) == Some(name) {
        return Some(None);
    }
    let ast::ExprKind::Binary { op, left, right } = &*unparen(e).kind else { return None };
    match op.as_str() {
        "+" if variable(left) == Some(name) => Some(Some((Sign::Plus, right))),
        "+" if variable(right) == Some(name) => Some(Some((Sign::Plus, left))),
        "-" if variable(left) == Some(name) => Some(Some((Sign::Minus, right))),
        _ => None,
    }
}

fn first_form<'u>(h: &mut Head<'u>, init: Option<&'u ast::Stmt>) -> Result<(), Why> {
    let Some(init) = init else { return Ok(()) };
    match &init.kind {
        ast::StmtKind::Empty => Ok(()),
        ast::StmtKind::Vars(vars) => {
            let Some(d) = vars.declarators.first().filter(|d| d.name == h.name) else {
                return Err(Why::new(
                    "the loop declares another variable than it counts with",
                    init.span,
                ));
            };
            let Some(ast::Initializer::Expr(first)) = &d.init else {
                return Err(Why::new("the counter has no first value", d.span));
            };
            h.declared = Some(&d.ty);
            h.name_span = d.span;
            h.first = Some(first);
            h.others = (vars.declarators.len() > 1).then_some(vars);
            Ok(())
        }
        ast::StmtKind::Expr(e) => {
            for part in parts(e) {
                match &*part.kind {
                    ast::ExprKind::Assign { op, target, value }
                        if op == "=" && variable(target) == Some(h.name) && h.first.is_none() =>
                    {
                        h.first = Some(value);
                    }
                    _ => h.before.push(part),
                }
            }
            let others = h.before.iter().copied();
            let touched = scan::effects_of_all([], &others.collect::<Vec<_>>());
            let first = h.first.map(scan::reads_of);
            if first.is_some_and(|r| !r.opaque && !touched.disturb(&r))
                && !touched.assigned.contains(h.name)
            {
                return Ok(());
            }
            Err(Why::new("the loop does not begin with the counter's first value", e.span))
        }
        _ => Err(Why::new("the loop does not begin with the counter's first value", init.span)),
    }
}

/// Limit and step are evaluated once, and the body leaves the counter alone.
fn check_fixed(h: &Head<'_>, body: &Effects) -> Result<(), Why> {
    if body.assigned.contains(h.name) {
        let why = Why::new(format!("the body changes the counter `{}`", h.name), h.name_span);
        return Err(why.help("use a second variable in the body"));
    }
    let offset = h.offset.map(|(_, e)| e);
    for (what, e) in [("limit", Some(h.limit)), ("limit", offset), ("step", h.amount)] {
        let Some(e) = e else { continue };
        let reads = scan::reads_of(e);
        if reads.variables.contains(h.name) {
            return Err(Why::new(format!("the {what} depends on the counter"), e.span));
        }
        if reads.opaque {
            let why =
                Why::new(format!("the {what} is computed by a call or an assignment"), e.span);
            return Err(why.help("compute it before the loop"));
        }
        if body.disturb(&reads) {
            let why = Why::new(format!("the {what} may change in the body"), e.span);
            return Err(why.help("keep its value in a variable before the loop"));
        }
    }
    Ok(())
}

/// What OpenMP asks of a marked loop beyond a counted one.
pub fn check_marked_head(h: &Head<'_>) -> Result<(), Why> {
    if h.first.is_none() {
        return Err(Why::new("the loop does not say where its counter begins", h.cond_span));
    }
    if let Some(part) = h.before.first().or(h.after.first()) {
        let why = Why::new("a marked loop changes its counter only", part.span);
        return Err(why.help("compute the other value from the counter inside the loop"));
    }
    if let Some(vars) = h.others {
        let why = Why::new("a marked loop declares one counter only", vars.span);
        return Err(why.help("declare the other variables before or inside the loop"));
    }
    Ok(())
}

fn unparen(e: &ast::Expr) -> &ast::Expr {
    match &*e.kind {
        ast::ExprKind::Paren(inner) => unparen(inner),
        _ => e,
    }
}

fn variable(e: &ast::Expr) -> Option<&str> {
    match &*unparen(e).kind {
        ast::ExprKind::Path(path) => path.as_name(),
        _ => None,
    }
}
