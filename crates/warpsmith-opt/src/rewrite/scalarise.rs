//! Puts variables in place of the structures that an iteration has for itself.
//!
//! ```text
//!     for i in I { P s = p[i]; S(s.x, s.y); p[i] = s; }
//!       ==> scalarise i
//!     for i in I { s_x = p[i].x; s_y = p[i].y; S(s_x, s_y); p[i].x = s_x; p[i].y = s_y; }
//! ```
//!
//! Steps that work on many iterations at a time know numbers and elements of arrays; what a structure as a whole is copied
//! to and from is then seen field by field (scalar replacement of aggregates).
//!
//! Legal for a loop that is not bound, in whose body structures are declared, or copied as a whole, that hold numbers and
//! nothing else. Padding between fields is not copied.

use std::collections::BTreeMap;
use warpsmith_ir::{
    Block, Expr, ExprKind, ForLoop, LoopId, Place, PlaceKind, Scalar, Stmt, StmtKind, Type, Var,
    VarId, visit,
};

use super::Rewritten;
use super::step::{About, Law, LoopArgs, OfLoop};
use crate::analysis::scalars;
use crate::kernel::Kernel;
use crate::refusal::Refusal;
use crate::walk;

/// The step, which names one loop: the loop in whose iterations structures are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {}

/// What the step is told.
pub type Args = LoopArgs<Step>;

impl OfLoop for Step {
    const ABOUT: About = About {
        name: "scalarise",
        example: "scalarise i",
        does: "puts a variable for each field in place of the structures that an iteration has for itself, and copies structures field by field: steps that follow know numbers",
        legal: "the loop is not bound, and its iterations declare or copy structures that hold numbers and nothing else; they are used by their fields and copied as a whole, and nothing has their addresses",
        law: Law {
            before: "\
typedef struct { float x, v; } Particle;
void advance(int n, Particle p[n]) {
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        Particle s = p[i];
        s.x += s.v;
        p[i] = s;
    }
}
",
            steps: "scalarise i",
            after: "\
struct Particle {
    float x;
    float v;
};

void advance(int n, Particle *p) {
    // parallel
    for (int i = 0; i < n; ++i) {
        float s_x = p[i].x;
        const float s_v = p[i].v;
        s_x += s_v;
        p[i].x = s_x;
        p[i].v = s_v;
    }
}
",
        },
    };

    fn take(kernel: &Kernel, target: LoopId) -> Result<Rewritten, Refusal> {
        Ok(apply(check(kernel, target)?))
    }
}

/// The verdict on a `scalarise`, which alone allows it.
pub struct LegalScalarise<'k> {
    kernel: &'k Kernel,
    target: &'k ForLoop,
    /// Structures that variables are put in place of.
    own: Vec<VarId>,
}

/// Asks whether the structures of a loop's iterations can be told apart.
///
/// # Errors
/// The first reason why not.
pub fn check(kernel: &Kernel, target: LoopId) -> Result<LegalScalarise<'_>, Refusal> {
    let refuse = |why: String| Err(Refusal::of_loop("scalarise", target, why));
    let Some(l) = kernel.find_loop(target) else { return refuse("it is gone".into()) };
    if kernel.loops_around(target).iter().chain([&l]).any(|l| kernel.nests.contains_key(&l.id)) {
        return refuse("its nest is bound already".into());
    }
    let declared = walk::declared(&l.body).into_iter();
    let structures = declared.filter(|v| matches!(kernel.func().var(*v).ty, Type::Struct(_)));
    let mut own = vec![];
    for v in structures {
        if !used_by_fields(kernel, &l.body, v) {
            let name = kernel.name_of(v);
            return refuse(format!("`{name}` is used in another way than by its fields"));
        }
        own.push(v);
    }
    let mut copies = false;
    walk::each_stmt(&l.body, &mut |s| copies |= copied(kernel, s).is_some());
    match own.is_empty() && !copies {
        true => refuse("its iterations have no structures of their own".into()),
        false => Ok(LegalScalarise { kernel, target: l, own }),
    }
}

/// The fields of a structure of numbers, each with its name.
fn fields(kernel: &Kernel, ty: &Type) -> Option<Vec<(String, Scalar)>> {
    let Type::Struct(id) = ty else { return None };
    let def = kernel.module.structs.get(id.0 as usize)?;
    let apart = def.fields.windows(2).all(|pair| pair[0].offset < pair[1].offset);
    let field = |f: &warpsmith_ir::StructField| Some((f.name.clone(), f.ty.scalar()?));
    def.fields.iter().map(field).collect::<Option<Vec<_>>>().filter(|f| apart && !f.is_empty())
}

/// Whether a structure's fields are read and written, and it is copied as a whole, and nothing else happens to it.
fn used_by_fields(kernel: &Kernel, body: &Block, var: VarId) -> bool {
    if fields(kernel, &kernel.func().var(var).ty).is_none() {
        return false;
    }
    let (mut mentioned, mut known) = (0usize, 0usize);
    visit::for_each_place(body, &mut |p, access| {
        if p.root_var() != Some(var) {
            return;
        }
        mentioned += 1;
        let field = matches!(&*p.kind, PlaceKind::Field(inner, _) if is_var(inner, var));
        let number = matches!(p.ty, Type::Scalar(_)) && access != visit::Access::Address;
        known += usize::from(field && number);
    });
    walk::each_stmt(body, &mut |s| {
        let (place, value) = match &s.kind {
            StmtKind::Decl { init: Some(value), .. } => (None, value),
            StmtKind::Assign { place, value } => (Some(place), value),
            _ => return,
        };
        let splits = parts(kernel, value).is_some();
        known += usize::from(splits && place.is_some_and(|p| is_var(p, var)));
        known += usize::from(splits && scalars::reads(value, var));
        // An initial value that is no copy stays whole.
        let own = matches!(&s.kind, StmtKind::Decl { var: declared, .. } if *declared == var);
        mentioned += usize::from(own && !splits);
    });
    mentioned == known
}

fn is_var(p: &Place, var: VarId) -> bool {
    *p.kind == PlaceKind::Var(var)
}

/// The values of the fields of a structure that is read somewhere or put together.
fn parts(kernel: &Kernel, value: &Expr) -> Option<Vec<Expr>> {
    let fields = fields(kernel, &value.ty)?;
    match &*value.kind {
        ExprKind::Read(p) if is_fixed(p) => {
            let part = |(k, (_, s)): (usize, &(String, Scalar))| {
                Expr::read(field(p, k, *s)).with_origin(value.origin.clone())
            };
            Some(fields.iter().enumerate().map(part).collect())
        }
        ExprKind::Make(values) if values.len() == fields.len() => Some(values.clone()),
        _ => None,
    }
}

/// Whether no store can change which structure a place is.
fn is_fixed(p: &Place) -> bool {
    let mut fixed = true;
    visit::for_each_place_in_expr(&Expr::read(p.clone()), &mut |inner, _| {
        fixed &= inner == p
            || inner.root_var().is_some() && !matches!(&*inner.kind, PlaceKind::Field(..));
    });
    fixed
}

fn field(p: &Place, k: usize, scalar: Scalar) -> Place {
    let kind = PlaceKind::Field(p.clone(), u32::try_from(k).unwrap_or(u32::MAX));
    Place::new(kind, Type::Scalar(scalar), p.origin.clone())
}

/// The place and the fields' values, where a statement copies a structure as a whole.
fn copied<'s>(kernel: &Kernel, stmt: &'s Stmt) -> Option<(&'s Place, Vec<Expr>)> {
    match &stmt.kind {
        StmtKind::Assign { place, value } if is_fixed(place) => {
            Some((place, parts(kernel, value)?))
        }
        _ => None,
    }
}

/// Puts the variables in place of the structures.
pub fn apply(legal: LegalScalarise<'_>) -> Rewritten {
    let mut kernel = legal.kernel.clone();
    let mut body = legal.target.body.clone();
    let mut variables = BTreeMap::new();
    for var in legal.own {
        let old = kernel.func().var(var).clone();
        let fields = fields(&kernel, &old.ty).unwrap_or_default();
        let one = |(name, scalar): (String, Scalar)| {
            let name = kernel.fresh_name(&format!("{}_{name}", old.name));
            let new = Var { name, ty: Type::Scalar(scalar), ..old.clone() };
            (kernel.func_mut().add_var(new), scalar)
        };
        let vars: Vec<(VarId, Scalar)> = fields.into_iter().map(one).collect();
        variables.insert(var, vars);
    }
    split(&mut kernel, &variables, &mut body);
    visit::Rewriter::block(&mut Fields(&variables), &mut body);
    walk::with_loop(&mut kernel.func_mut().body, legal.target.id, &mut |stmt| {
        if let StmtKind::For(l) = &mut stmt.kind {
            l.body = body.clone();
        }
    });
    Rewritten::same_loops(kernel)
}

type Variables = BTreeMap<VarId, Vec<(VarId, Scalar)>>;

/// Declares, and copies, each field by itself.
fn split(kernel: &mut Kernel, variables: &Variables, block: &mut Block) {
    let mut stmts = vec![];
    for mut stmt in std::mem::take(&mut block.stmts) {
        walk::blocks_mut(&mut stmt).into_iter().for_each(|b| split(kernel, variables, b));
        let like = |kind| Stmt { kind, origin: stmt.origin.clone(), comment: vec![] };
        let from = stmts.len();
        if let StmtKind::Decl { var, init } = &stmt.kind
            && let Some(vars) = variables.get(var)
        {
            let values = init.as_ref().and_then(|v| parts(kernel, v));
            for (k, (var, _)) in vars.iter().enumerate() {
                let init = values.as_ref().and_then(|v| v.get(k)).cloned();
                stmts.push(like(StmtKind::Decl { var: *var, init }));
            }
        } else if let Some((place, values)) = copied(kernel, &stmt) {
            let values = held(kernel, values, &mut stmts, &stmt);
            for (k, value) in values.into_iter().enumerate() {
                let scalar = value.ty.scalar().unwrap_or(Scalar::I32);
                let place = field(place, k, scalar);
                stmts.push(like(StmtKind::Assign { place, value }));
            }
        } else {
            stmts.push(stmt.clone());
            continue;
        }
        if let Some(first) = stmts.get_mut(from) {
            first.comment.clone_from(&stmt.comment);
        }
    }
    block.stmts = stmts;
}

/// The values in variables of their own, where one is computed of what a store before it may change.
fn held(kernel: &mut Kernel, values: Vec<Expr>, stmts: &mut Vec<Stmt>, of: &Stmt) -> Vec<Expr> {
    let copies = matches!(&of.kind, StmtKind::Assign { value, .. } if matches!(*value.kind, ExprKind::Read(_)));
    let simple = |e: &Expr| !walk::reads_memory(e) && !reads_fields(e);
    if copies || values.iter().all(simple) {
        return values;
    }
    let hold = |value: Expr| {
        let name = kernel.fresh_name("field");
        let var = Var::new(name, value.ty.clone(), warpsmith_ir::VarKind::Local);
        let var = kernel.func_mut().add_var(var);
        let ty = value.ty.clone();
        stmts.push(Stmt::new(StmtKind::Decl { var, init: Some(value) }, of.origin.clone()));
        Expr::var(var, ty)
    };
    values.into_iter().map(hold).collect()
}

/// Whether an expression reads fields of structures.
fn reads_fields(e: &Expr) -> bool {
    let mut found = false;
    visit::for_each_place_in_expr(e, &mut |p, _| {
        found |= matches!(&*p.kind, PlaceKind::Field(..));
    });
    found
}

/// Variables in place of the fields of structures.
struct Fields<'a>(&'a Variables);

impl visit::Rewriter for Fields<'_> {
    fn place(&mut self, place: &mut Place) {
        visit::rewrite_place(self, place);
        let PlaceKind::Field(inner, k) = &*place.kind else { return };
        let PlaceKind::Var(v) = &*inner.kind else { return };
        if let Some((var, _)) = self.0.get(v).and_then(|vars| vars.get(*k as usize)) {
            *place.kind = PlaceKind::Var(*var);
        }
    }
}
