//! Whether iterations only contribute to a variable that a loop reduces.
//!
//! The threads of a reduction begin at the identity of its operation, and their values are combined afterwards. That is
//! what the serial loop computes where every statement that concerns the variable `v` has the form `v = v op e`, or
//! stands for it (`if (e > v) v = e;` for a maximum), and nothing else depends on what `v` has come to. The body is
//! followed on all ways, with the functions that it calls; data decide on nothing here.

mod forms;

use std::collections::BTreeMap;

use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, FuncId, Function, Module, Origin, Place, PlaceKind, ReduceOp,
    Reduction, Scalar, Stmt, StmtKind, Type, VarId,
};

use crate::analysis::loops::reduced_type;
use crate::walk;

/// A statement by which a variable is more than the target of a reduction.
#[derive(Clone, Debug)]
pub struct Misuse {
    /// Where.
    pub at: Origin,
    /// What is wrong there.
    pub why: Why,
}

/// What is wrong with a statement about a reduced variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It sets the variable to something else than the variable combined with a value.
    Replaces,
    /// What the iteration does depends on what the variable has come to.
    Decides,
    /// What the variable has come to goes somewhere else.
    Leaves,
    /// `&&` and `||` make 0 or 1 of a variable that may be another number before the loop.
    NoTruth,
}

/// Calls inside calls are followed this far.
const MAX_DEPTH: usize = 8;

/// How a value depends on the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Not at all.
    Free,
    /// It is the variable, combined with values that do not depend on it.
    Own,
    /// In another way.
    Mixed,
}

impl Form {
    fn join(self, other: Form) -> Form {
        if self == other { self } else { Form::Mixed }
    }
}

/// The first statement of a loop's body, or before it, that makes a clause `reduction(op: v)` wrong. `own`: variables that
/// each iteration has for itself.
pub fn misuse(
    module: &Module,
    function: &Function,
    l: &ForLoop,
    reduction: &Reduction,
    own: &[VarId],
) -> Option<Misuse> {
    let ty = reduced_type(&function.var(reduction.var).ty)?.scalar()?;
    let logical = matches!(reduction.op, ReduceOp::LogicalAnd | ReduceOp::LogicalOr);
    if logical
        && ty != Scalar::Bool
        && let Some(at) = no_truth_before(function, l, reduction.var)
    {
        return Some(Misuse { at, why: Why::NoTruth });
    }
    let mut own = own.to_vec();
    own.extend(walk::declared(&l.body));
    let mut follow = Follow {
        module,
        op: reduction.op,
        ty,
        target: Some(reduction.var),
        own,
        forms: BTreeMap::new(),
        returned: None,
        depth: 0,
    };
    follow.block(&l.body).err().map(|found| *found)
}

/// Where a variable gets a value outside the loop that may be no truth value.
fn no_truth_before(function: &Function, l: &ForLoop, var: VarId) -> Option<Origin> {
    fn search(block: &Block, l: &ForLoop, var: VarId) -> Option<Origin> {
        block.stmts.iter().find_map(|stmt| {
            let value = match &stmt.kind {
                StmtKind::For(own) if own.id == l.id => return None,
                StmtKind::Decl { var: v, init: Some(init) } if *v == var => Some(init),
                StmtKind::Assign { place, value } if *place.kind == PlaceKind::Var(var) => {
                    Some(value)
                }
                _ => None,
            };
            match value {
                Some(value) if !forms::is_truth(value, &|v| v == var) => Some(stmt.origin.clone()),
                _ => walk::blocks(stmt).into_iter().find_map(|b| search(b, l, var)),
            }
        })
    }
    match function.params.contains(&var) {
        true => Some(function.var(var).origin.clone()),
        false => search(&function.body, l, var),
    }
}

type Followed = Result<(), Box<Misuse>>;

fn wrong<T>(why: Why, at: &Origin) -> Result<T, Box<Misuse>> {
    Err(Box::new(Misuse { at: at.clone(), why }))
}

/// The state on a way through a function.
struct Follow<'a> {
    module: &'a Module,
    op: ReduceOp,
    /// The type of the reduced value.
    ty: Scalar,
    /// The variable, or a pointer to it.
    target: Option<VarId>,
    /// Variables that each iteration has for itself.
    own: Vec<VarId>,
    /// What other variables hold, where it depends on the target.
    forms: BTreeMap<VarId, Form>,
    /// What the function returned so far.
    returned: Option<Form>,
    depth: usize,
}

impl Follow<'_> {
    fn block(&mut self, block: &Block) -> Followed {
        let mut stmts = block.stmts.iter().peekable();
        while let Some(stmt) = stmts.next() {
            // `if (a > b) return a; return b;` is a choice.
            if let (Some((cond, a)), Some(b)) = (returns_if(stmt), stmts.peek().and_then(returned))
            {
                let form = self.choice(cond, a, b);
                self.returns(form);
                return Ok(());
            }
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Followed {
        let at = &stmt.origin;
        match &stmt.kind {
            StmtKind::Decl { var, init } => {
                let form = init.as_ref().map_or(Form::Free, |e| self.form(e));
                self.set(*var, form);
                Ok(())
            }
            StmtKind::Assign { place, value } => {
                self.assign(place, self.form(value), Some(value), at)
            }
            StmtKind::If { cond, then, otherwise } => self.branch(stmt, cond, then, otherwise),
            StmtKind::For(l) => {
                self.decides([&l.first, &l.limit, &l.step], at)?;
                self.repeated(&[&l.body])
            }
            StmtKind::Loop { condition, body, step, .. } => {
                let before = condition.iter().map(|c| &c.before);
                let blocks: Vec<&Block> = before.chain([body, step]).collect();
                self.repeated(&blocks)?;
                self.decides(condition.iter().map(|c| &c.expr), at)
            }
            StmtKind::Switch { selector, cases } => {
                self.decides([selector], at)?;
                let mut all = self.forms.clone();
                for case in cases {
                    // Control comes from the case before, too.
                    self.block(&case.body)?;
                    all = joined(&all, &self.forms);
                    self.forms = all.clone();
                }
                Ok(())
            }
            StmtKind::Scope(inner) => self.block(inner),
            StmtKind::Return(value) => {
                let form = value.as_ref().map_or(Form::Free, |e| self.form(e));
                self.returns(form);
                Ok(())
            }
            StmtKind::Call { function, args, result } => {
                let form = self.call(*function, args)?;
                match result {
                    Some(place) => self.assign(place, form, None, at),
                    None => Ok(()),
                }
            }
            StmtKind::Assert { cond, .. } | StmtKind::Assume { cond, .. } => {
                self.decides([cond], at)
            }
            _ => self.leaves(walk::operands(stmt).reads, at),
        }
    }

    /// Expressions that decide what an iteration does.
    fn decides<'e>(&self, all: impl IntoIterator<Item = &'e Expr>, at: &Origin) -> Followed {
        match all.into_iter().all(|e| self.form(e) == Form::Free) {
            true => Ok(()),
            false => wrong(Why::Decides, at),
        }
    }

    /// Expressions whose values are seen outside the iteration.
    fn leaves<'e>(&self, all: impl IntoIterator<Item = &'e Expr>, at: &Origin) -> Followed {
        match all.into_iter().all(|e| self.form(e) == Form::Free) {
            true => Ok(()),
            false => wrong(Why::Leaves, at),
        }
    }

    fn returns(&mut self, form: Form) {
        self.returned = Some(self.returned.map_or(form, |other| other.join(form)));
    }

    fn set(&mut self, var: VarId, form: Form) {
        match form {
            Form::Free => _ = self.forms.remove(&var),
            _ => _ = self.forms.insert(var, form),
        }
    }

    /// `value` is what the form is of, where it is an expression.
    fn assign(&mut self, place: &Place, form: Form, value: Option<&Expr>, at: &Origin) -> Followed {
        if self.is_target(place) {
            let absorbs = value.is_some_and(|e| self.absorbs(e));
            if form != Form::Own && !absorbs {
                return wrong(Why::Replaces, at);
            }
            // A copy from before is no longer what the variable is.
            self.forms.values_mut().for_each(|f| *f = Form::Mixed);
            return Ok(());
        }
        let own = place.root_var().filter(|v| self.own.contains(v));
        let free = form == Form::Free && self.operands_free(place);
        match (&*place.kind, own) {
            (PlaceKind::Var(v), Some(_)) => {
                self.set(*v, form);
                Ok(())
            }
            _ if free => Ok(()),
            (_, Some(v)) => {
                self.set(v, Form::Mixed);
                Ok(())
            }
            _ => wrong(Why::Leaves, at),
        }
    }

    fn operands_free(&self, place: &Place) -> bool {
        let mut free = true;
        walk::each_expr_of_place(place, &mut |e| free &= self.form(e) == Form::Free);
        free
    }

    fn branch(&mut self, stmt: &Stmt, cond: &Expr, then: &Block, otherwise: &Block) -> Followed {
        if self.form(cond) != Form::Free {
            return match self.chosen(cond, then, otherwise) || self.flagged(cond, then, otherwise) {
                true => Ok(()),
                false => wrong(Why::Decides, &stmt.origin),
            };
        }
        let before = self.forms.clone();
        self.block(then)?;
        let after = std::mem::replace(&mut self.forms, before);
        self.block(otherwise)?;
        self.forms = joined(&after, &self.forms);
        Ok(())
    }

    /// Whether `if (e > m) m = e;` keeps the least or greatest value; what is set with it depends on the variable.
    fn chosen(&mut self, cond: &Expr, then: &Block, otherwise: &Block) -> bool {
        let Some(set) = only_assignments(then).filter(|_| otherwise.stmts.is_empty()) else {
            return false;
        };
        let (own, others): (Vec<_>, Vec<_>) = set.into_iter().partition(|(place, value)| {
            self.is_own(place) && self.prefers(cond, value) && self.form(value) == Form::Free
        });
        let ([(kept, _)], true) = (&own[..], others.iter().all(|(p, _)| self.is_private(p))) else {
            return false;
        };
        if self.is_target(kept) {
            self.forms.values_mut().for_each(|f| *f = Form::Mixed);
        }
        for (place, _) in others {
            if let Some(v) = place.root_var() {
                self.set(v, Form::Mixed);
            }
        }
        true
    }

    fn is_private(&self, place: &Place) -> bool {
        matches!(*place.kind, PlaceKind::Var(v) if self.own.contains(&v)) && !self.is_target(place)
    }

    /// Whether a place holds the variable combined with other values.
    fn is_own(&self, place: &Place) -> bool {
        self.is_target(place)
            || matches!(*place.kind, PlaceKind::Var(v) if self.forms.get(&v) == Some(&Form::Own))
    }

    /// `if (ok && e) ok = 0;`, `if (ok) ok = e;` of a conjunction, and the like of a disjunction: what the variable was
    /// decides only whether it is looked at again.
    fn flagged(&self, cond: &Expr, then: &Block, otherwise: &Block) -> bool {
        let parts = walk::conjuncts(cond);
        let (asks, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(|e| self.undecided(e));
        let free = others.iter().all(|e| self.form(e) == Form::Free);
        let Some(set) = only_assignments(then).filter(|_| otherwise.stmts.is_empty()) else {
            return false;
        };
        let right = |(place, value): &(&Place, &Expr)| {
            let whole = others.is_empty()
                && self.form(value) == Form::Free
                && forms::is_truth(value, &|_| false);
            self.is_target(place) && (self.absorbs(value) || whole)
        };
        !asks.is_empty() && free && set.iter().all(right)
    }

    /// Statements that are run any number of times.
    fn repeated(&mut self, blocks: &[&Block]) -> Followed {
        loop {
            let before = self.forms.clone();
            for block in blocks {
                self.block(block)?;
            }
            self.forms = joined(&before, &self.forms);
            if self.forms == before {
                return Ok(());
            }
        }
    }

    /// What a called function returns.
    fn call(&mut self, id: FuncId, args: &[Expr]) -> Result<Form, Box<Misuse>> {
        let leads_there: Vec<bool> = args.iter().map(|a| self.leads_to_target(a)).collect();
        let forms: Vec<Form> = args.iter().map(|a| self.form(a)).collect();
        let free = |k: usize| !leads_there[k] && forms[k] == Form::Free;
        if (0..args.len()).all(free) {
            return Ok(Form::Free);
        }
        let callee = self.module.function(id);
        let mut inner = Follow {
            target: None,
            own: (0..callee.vars.len() as u32).map(VarId).collect(),
            forms: BTreeMap::new(),
            returned: None,
            depth: self.depth + 1,
            ..*self
        };
        for (k, param) in callee.params.iter().enumerate().take(args.len()) {
            match leads_there[k] {
                // Two pointers to the variable are too many to follow.
                true if inner.target.is_some() => return wrong(Why::Leaves, &args[k].origin),
                true => inner.target = Some(*param),
                false => inner.set(*param, forms[k]),
            }
        }
        if self.depth >= MAX_DEPTH {
            return wrong(Why::Leaves, &callee.origin);
        }
        inner.block(&callee.body)?;
        let changed = inner.target.is_some();
        let form = inner.returned.unwrap_or(Form::Free);
        if changed {
            self.forms.values_mut().for_each(|f| *f = Form::Mixed);
        }
        Ok(form)
    }
}

/// What variables hold after one of two ways.
fn joined(a: &BTreeMap<VarId, Form>, b: &BTreeMap<VarId, Form>) -> BTreeMap<VarId, Form> {
    let form = |of: &BTreeMap<VarId, Form>, v: &VarId| of.get(v).copied().unwrap_or(Form::Free);
    let vars = a.keys().chain(b.keys());
    vars.map(|v| (*v, form(a, v).join(form(b, v)))).filter(|(_, f)| *f != Form::Free).collect()
}

fn returns_if(stmt: &Stmt) -> Option<(&Expr, &Expr)> {
    let StmtKind::If { cond, then, otherwise } = &stmt.kind else { return None };
    let [only] = then.stmts.as_slice() else { return None };
    Some((cond, returned(&only)?)).filter(|_| otherwise.stmts.is_empty())
}

fn returned<'s>(stmt: &&'s Stmt) -> Option<&'s Expr> {
    match &stmt.kind {
        StmtKind::Return(value) => value.as_ref(),
        _ => None,
    }
}

/// What a block assigns, where it does nothing else.
fn only_assignments(block: &Block) -> Option<Vec<(&Place, &Expr)>> {
    let mut found = vec![];
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Assign { place, value } => found.push((place, value)),
            StmtKind::Scope(inner) => found.extend(only_assignments(inner)?),
            _ => return None,
        }
    }
    Some(found)
}

impl Follow<'_> {
    /// Whether a place is the variable itself.
    fn is_target(&self, place: &Place) -> bool {
        let Some(target) = self.target else { return false };
        match &*place.kind {
            PlaceKind::Var(v) => *v == target && !matches!(place.ty, Type::Pointer { .. }),
            _ => walk::single_element(place) == Some(target),
        }
    }

    /// Whether an argument is a pointer to the variable.
    fn leads_to_target(&self, e: &Expr) -> bool {
        match &*e.kind {
            ExprKind::AddressOf(place) => self.is_target(place),
            ExprKind::Cast(inner) => self.leads_to_target(inner),
            ExprKind::Read(place) if place.ty.is_pointer() => {
                matches!(*place.kind, PlaceKind::Var(v) if Some(v) == self.target)
            }
            _ => false,
        }
    }
}
