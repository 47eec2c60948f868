//! Makes a kernel of its own for some sizes.
//!
//! ```text
//!     for i in 0..n { S(i, n) }
//!       ==> specialise n=1024
//!     if (n == 1024) { for i in 0..1024 { S(i, 1024) } } else { for i in 0..n { S(i, n) } }
//! ```
//!
//! `n=1024` puts the number in place of the parameter, `n%32=0` only says that it is a multiple, which spares guards
//! where blocks divide the loops. Of an array, `A%16=0` says that its address is a multiple of so many bytes, which wide
//! accesses need. The launcher chooses, so that every size stays right. Later steps see both nests: the
//! special one first (`i`), then the general one (`i#2`).
//!
//! Legal for by-value integer parameters and arrays that nothing assigns, in nests that are bound or reduced.

use std::collections::BTreeMap;
use std::fmt;

use warpsmith_ir::{
    BinaryOp, Block, Expr, ExprKind, LoopId, Place, PlaceKind, Scalar, SourceMap, Stmt, StmtKind,
    Type, VarId, visit,
};

use super::Rewritten;
use super::edit::copy::general_copy;
use super::question::conditions;
use super::step::grammar::{comma, name, number, wanted};
use super::step::{About, Law, Rewrite, StepError};
use crate::build::conditions::all_of;
use crate::kernel::{Kernel, Nest};
use crate::refusal::Refusal;
use crate::walk;
use winnow::ModalResult;
use winnow::Parser;
use winnow::ascii::space0;
use winnow::combinator::{alt, preceded, separated};

/// What the step is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    /// Parameters, and what is known of each.
    pub facts: Vec<(String, Fact)>,
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.facts.iter().map(|(name, fact)| match fact {
            Fact::Equals(n) => format!("{name}={n}"),
            Fact::Multiple(n) => format!("{name}%{n}=0"),
        });
        f.write_str(&facts.collect::<Vec<_>>().join(", "))
    }
}

impl Rewrite for Args {
    const ABOUT: About = About {
        name: "specialise",
        example: "specialise n=1024, m%32=0",
        does: "makes a second kernel for sizes that are known, or known to be multiples; the launcher chooses",
        legal: "the sizes are integer parameters that nothing assigns, and their nests are bound",
        law: Law {
            before: "\
void scale(int n, float x[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 2.0f * x[i];
}
",
            steps: "bind i -> x block 256\nspecialise n=1024",
            after: "\
void scale(int n, float *x) {
    // a kernel that knows these sizes; the general one takes the rest
    if (n == 1024) {
        // threads of the grid along x, 256 a block
        for (int i = 0; i < 1024; ++i) {
            x[i] = 2.0f * x[i];
        }
    } else {
        // threads of the grid along x, 256 a block
        for (int i = 0; i < n; ++i) {
            x[i] = 2.0f * x[i];
        }
    }
}
",
        },
    };

    fn parse(input: &mut &str) -> ModalResult<Args> {
        let facts = separated(1.., fact, comma()).parse_next(input)?;
        Ok(Args { facts })
    }

    fn take(&self, kernel: &Kernel, _: &SourceMap) -> Result<Rewritten, StepError> {
        Ok(apply(check(kernel, &self.facts)?))
    }
}

/// `n=1024` or `n%32=0`.
fn fact(input: &mut &str) -> ModalResult<(String, Fact)> {
    let var = name.parse_next(input)?;
    let fact = alt((
        preceded((space0, '=', space0), number).map(Fact::Equals),
        (preceded((space0, '%', space0), number), (space0, '=', space0, '0'))
            .map(|(n, _)| Fact::Multiple(n)),
    ))
    .context(wanted("`=` and a number, or `%`, a number and `=0` are wanted here"))
    .parse_next(input)?;
    Ok((var, fact))
}

/// What a kernel knows about a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// It is this number.
    Equals(u32),
    /// A multiple of this, which is at least 1.
    Multiple(u32),
}

/// The verdict on a `specialise`, which alone allows it.
pub struct LegalSpecialise<'k> {
    kernel: &'k Kernel,
    facts: Vec<(VarId, Fact)>,
    roots: Vec<LoopId>,
}

/// Asks whether the bound nests can have kernels of their own for these sizes.
///
/// # Errors
/// The first parameter that cannot be known, or that there is no nest to make a kernel of.
pub fn check<'k>(
    kernel: &'k Kernel,
    facts: &[(String, Fact)],
) -> Result<LegalSpecialise<'k>, Refusal> {
    let function = kernel.func();
    let known = known(kernel, facts)?;
    let nests = kernel.nests.iter().filter(|(_, n)| n.label.is_empty());
    let mentions = |root: LoopId| {
        let mut found = false;
        if let Some(stmt) = walk::loop_stmt(&function.body, root) {
            let block = Block::new(vec![stmt.clone()]);
            walk::each_var_of_block(&block, &mut |v| found |= known.iter().any(|(k, _)| *k == v));
        }
        found
    };
    let mut roots: Vec<LoopId> =
        nests.map(|(root, _)| *root).filter(|root| mentions(*root)).collect();
    // The general kernel of a nest has its turn again where no nest is left that has no special one.
    if roots.iter().any(|root| !kernel.general.contains(root)) {
        roots.retain(|root| !kernel.general.contains(root));
    }
    // So has what an earlier step left for where one of the facts does not hold.
    let known_now = conditions(&known, function);
    let left = |root: &LoopId| is_left(&function.body, *root, &known_now);
    if !roots.iter().all(left) {
        roots.retain(|root| !left(root));
    }
    if roots.is_empty() {
        let name = facts.first().map(|(n, _)| n.clone()).unwrap_or_default();
        let why = "no bound nest uses it: bind its loops first".to_string();
        return Err(Refusal::SizeRefused { name, why });
    }
    let legal = LegalSpecialise { kernel, facts: known, roots };
    let special = specialised(&legal);
    for root in &legal.roots {
        // Reads that differ by a parameter may differ by a constant now.
        if let Some(nest) = special.nests.get(root).filter(|n| !n.stages.is_empty()) {
            conditions::check(&special, *root, nest)?;
        }
    }
    Ok(legal)
}

/// The facts by the parameters that they are about.
fn known(kernel: &Kernel, facts: &[(String, Fact)]) -> Result<Vec<(VarId, Fact)>, Refusal> {
    let function = kernel.func();
    let mut known: Vec<(VarId, Fact)> = vec![];
    for (name, fact) in facts {
        let refuse =
            |why: &str| Err(Refusal::SizeRefused { name: name.clone(), why: why.to_string() });
        let var = function.params.iter().copied().find(|v| function.var(*v).name == *name);
        let Some(var) = var else { return refuse("the function has no parameter of this name") };
        let array = function.var(var).ty.is_pointer();
        let Some(ty) = number_type(&function.var(var).ty).filter(|t| t.is_integer()) else {
            return refuse("it is no integer");
        };
        if array && !matches!(fact, Fact::Multiple(2..=ALIGNMENT)) {
            return refuse(
                "of an array, only that its address is a multiple of 2 to 256 bytes can be known",
            );
        }
        if walk::writes_var(&function.body, var) {
            return refuse("the function changes it");
        }
        if known.iter().any(|(v, _)| *v == var) {
            return refuse("it is named twice");
        }
        let (Fact::Equals(n) | Fact::Multiple(n)) = fact;
        if Expr::int(ty, (*n).into()).as_const().map(|v| v.as_i64()) != Some((*n).into()) {
            return refuse("its type is too small for this number");
        }
        if *fact == Fact::Multiple(0) {
            return refuse("no number but zero is a multiple of zero");
        }
        known.push((var, *fact));
    }
    Ok(known)
}

/// Addresses that the runtime gives out are multiples of this.
const ALIGNMENT: u32 = 256;

/// The type in which a parameter is compared with a number: that of its value, or of an array's address.
fn number_type(ty: &Type) -> Option<Scalar> {
    if ty.is_pointer() { Some(Scalar::U64) } else { ty.scalar() }
}

/// Makes the second copies, and lets the host choose between the two.
pub fn apply(legal: LegalSpecialise<'_>) -> Rewritten {
    Rewritten::same_loops(specialised(&legal))
}

fn specialised(legal: &LegalSpecialise<'_>) -> Kernel {
    let mut kernel = legal.kernel.clone();
    for root in &legal.roots {
        let Some(stmt) = walk::loop_stmt(&kernel.func().body, *root).cloned() else { continue };
        let Some(nest) = kernel.nests.get(root).cloned() else { continue };
        let (general, ids, vars) = general_copy(&mut kernel, &stmt);
        kernel.general.extend(ids.values());
        let special = special_copy(&stmt, &legal.facts, kernel.func());
        let cond = condition(legal, kernel.func());
        let origin = stmt.origin.by("specialise");
        let kind = StmtKind::If {
            cond,
            then: Block::new(vec![special]),
            otherwise: Block::new(vec![general]),
        };
        let choice = Stmt::new(kind, origin)
            .comment("a kernel that knows these sizes; the general one takes the rest");
        walk::with_loop(&mut kernel.func_mut().body, *root, &mut |s| *s = choice.clone());
        kernel.nests.insert(ids.get(root).copied().unwrap_or(*root), renamed(&nest, &ids, &vars));
        if let Some(nest) = kernel.nests.get_mut(root) {
            nest.label = label(legal, legal.kernel);
            for (var, fact) in &legal.facts {
                if let Fact::Multiple(n) = fact {
                    nest.multiples.insert(*var, *n);
                }
            }
        }
    }
    kernel
}

/// The nest with numbers in place of the parameters.
fn special_copy(stmt: &Stmt, facts: &[(VarId, Fact)], function: &warpsmith_ir::Function) -> Stmt {
    let mut block = Block::new(vec![stmt.clone()]);
    visit::map_exprs(&mut block, &mut |e| {
        let ExprKind::Read(p) = &*e.kind else { return };
        let PlaceKind::Var(v) = *p.kind else { return };
        if let Some((_, Fact::Equals(n))) = facts.iter().find(|(k, _)| *k == v) {
            let scalar = function.var(v).ty.scalar().unwrap_or(Scalar::I32);
            *e = Expr::int(scalar, (*n).into()).with_origin(e.origin.clone());
        }
    });
    block.stmts.remove(0)
}

fn condition(legal: &LegalSpecialise<'_>, function: &warpsmith_ir::Function) -> Expr {
    let facts = conditions(&legal.facts, function).into_iter();
    let all = all_of(facts);
    all.unwrap_or_else(|| Expr::constant(warpsmith_ir::Value::bool(true)))
}

/// The facts as the launcher asks for them.
fn conditions(facts: &[(VarId, Fact)], function: &warpsmith_ir::Function) -> Vec<Expr> {
    let of = |(var, fact): &(VarId, Fact)| {
        let own = &function.var(*var).ty;
        let ty = number_type(own).unwrap_or(Scalar::I32);
        let value = Expr::read(Place::var(*var, own.clone())).cast(Type::Scalar(ty));
        let number = |n: u32| Expr::int(ty, n.into());
        match fact {
            Fact::Equals(n) => Expr::binary(BinaryOp::Eq, value, number(*n)),
            Fact::Multiple(n) => {
                let rest = Expr::binary(BinaryOp::Rem, value, number(*n));
                Expr::binary(BinaryOp::Eq, rest, number(0))
            }
        }
    };
    facts.iter().map(of).collect()
}

/// Whether a nest is only there for where one of the facts, or another alignment, does not hold.
fn is_left(block: &Block, root: LoopId, facts: &[Expr]) -> bool {
    block.stmts.iter().any(|s| match &s.kind {
        StmtKind::If { cond, otherwise, .. }
            if walk::find_loop(otherwise, root).is_some()
                && walk::conjuncts(cond).into_iter().all(is_alignment)
                && walk::conjuncts(cond).into_iter().any(|c| facts.contains(c)) =>
        {
            true
        }
        _ => walk::blocks(s).into_iter().any(|b| is_left(b, root, facts)),
    })
}

/// Whether a condition asks for a multiple, or for no more than can be counted.
fn is_alignment(cond: &Expr) -> bool {
    let constant = |e: &Expr| e.as_const().map(|v| v.as_i64());
    match &*cond.kind {
        ExprKind::Binary(BinaryOp::Eq, a, b) => {
            matches!(*a.kind, ExprKind::Binary(BinaryOp::Rem, ..)) && constant(b) == Some(0)
        }
        ExprKind::Binary(BinaryOp::Le, _, most) => constant(most).is_some_and(|n| n >= 1 << 30),
        _ => false,
    }
}

/// What the special kernel's name ends in.
fn label(legal: &LegalSpecialise<'_>, kernel: &Kernel) -> String {
    let sizes = legal.facts.iter().filter(|(v, _)| !kernel.func().var(*v).ty.is_pointer());
    let parts = sizes.map(|(var, fact)| {
        let name = kernel.name_of(*var);
        match fact {
            Fact::Equals(n) => format!("_{name}{n}"),
            Fact::Multiple(n) => format!("_{name}_by{n}"),
        }
    });
    let parts: String = parts.collect();
    if parts.is_empty() { "_aligned".into() } else { parts }
}

/// What was decided about a nest, for its copy.
fn renamed(nest: &Nest, ids: &BTreeMap<LoopId, LoopId>, vars: &BTreeMap<VarId, VarId>) -> Nest {
    let new = |id: LoopId| ids.get(&id).copied().unwrap_or(id);
    let mut copy = nest.clone();
    copy.axes.iter_mut().for_each(|(id, _)| *id = new(*id));
    let moved =
        |known: &BTreeMap<LoopId, u32>| known.iter().map(|(id, n)| (new(*id), *n)).collect();
    copy.tiles = moved(&nest.tiles);
    copy.vectors = moved(&nest.vectors);
    copy.aligned = moved(&nest.aligned);
    copy.streams = nest.streams.iter().map(|(inner, along)| (new(*inner), new(*along))).collect();
    for shared in copy.team.iter_mut().flat_map(|t| &mut t.loops) {
        (shared.target, shared.region) = (new(shared.target), new(shared.region));
        let new = |v: VarId| vars.get(&v).copied().unwrap_or(v);
        for sum in &mut shared.sums {
            (sum.var, sum.at) = (new(sum.var), sum.at.map(new));
        }
    }
    for stage in &mut copy.stages {
        stage.strip = stage.strip.map(|(id, n)| (new(id), n));
    }
    copy
}
