//! The statements that every lane does, and the guards around them.

use warpsmith_front::ast::{self, ExprKind, StmtKind};

use super::forms::{Edge, Forms};
use crate::auto::find::{self, Access};
use crate::auto::outer::{self, Outer};
use crate::auto::plans::Kernel;
use crate::auto::{positions, temporal};
use crate::source::marks::{self, Bytes};
use crate::source::patch::Patch;

/// What lanes do.
pub struct Region<'a> {
    pub at: Bytes,
    pub stmts: &'a [ast::Stmt],
    /// It is a branch without braces.
    pub bare: bool,
    /// The loop around.
    pub outer: Option<Outer<'a>>,
    /// The region stands in the body of that loop itself, under no condition.
    pub whole: bool,
    /// The parameter that bounds positions along x.
    pub size: Option<String>,
    /// Comparisons that hold for some lanes of a vector only, each with whether it holds or not.
    pub ragged: Vec<(ast::Expr, bool)>,
    guards: Vec<Guard>,
    /// Names that its statements declare.
    pub declared: Vec<String>,
    /// Names that one lane hands on to the next: lanes are iterations in their order.
    pub handed: Vec<String>,
}

/// A condition with comparisons that lanes ask themselves.
struct Guard {
    at: Bytes,
    /// What is left of it.
    rest: Vec<String>,
    /// It ends threads where it is true.
    ends: bool,
}

impl<'a> Region<'a> {
    fn new(at: Bytes, stmts: &'a [ast::Stmt]) -> Region<'a> {
        Region {
            at,
            stmts,
            bare: false,
            outer: None,
            whole: false,
            size: None,
            ragged: vec![],
            guards: vec![],
            declared: find::names_declared(stmts),
            handed: vec![],
        }
    }

    /// Takes comparisons from guards that lanes ask themselves.
    pub fn open_guards(&self, patch: &mut Patch) {
        for g in &self.guards {
            let left = match (g.rest.is_empty(), g.ends) {
                (true, true) => "false".to_string(),
                (true, false) => "true".to_string(),
                (false, true) => g.rest.join(" || "),
                (false, false) => g.rest.join(" && "),
            };
            patch.replace(g.at.clone(), left);
        }
    }
}

/// What a lane must not do.
const FORBIDDEN: [&str; 8] =
    ["return", "goto", "break", "continue", "asm", "__shared__", "static", "__shfl_sync"];

/// Finds the statements that lanes do.
///
/// # Errors
/// Why there are none.
pub fn find<'a>(kernel: &'a Kernel<'a>, forms: &mut Forms<'a>) -> Result<Region<'a>, String> {
    let stores: Vec<&Access> = kernel.accesses.iter().filter(|a| a.stored).collect();
    let mut finder = Finder { kernel, forms, edges: vec![], guards: vec![], ragged: vec![] };
    let found = finder.descend(&stores)?;
    let (edges, guards, ragged) = (finder.edges, finder.guards, finder.ragged);
    let mut sizes: Vec<String> = edges
        .into_iter()
        .filter_map(|e| match e {
            Edge::Whole(name) | Edge::Ragged(name) => name,
        })
        .collect();
    sizes.dedup();
    if sizes.len() > 1 {
        return Err(format!("`{}` bound positions along x", sizes.join("` and `")));
    }
    let region = Region { size: sizes.pop(), guards, ragged, ..found };
    uninterrupted(kernel, &region)?;
    if let Some(name) = handed(kernel, &region).first() {
        return Err(format!("lanes would hand `{name}` on to the next"));
    }
    forms.forget(changed(kernel, region.stmts).into_iter());
    Ok(region)
}

/// The iterations of a loop as lanes.
///
/// # Errors
/// Why they cannot be lanes.
pub fn of_loop<'a>(
    kernel: &'a Kernel<'a>,
    forms: &mut Forms<'a>,
    stmts: &'a [ast::Stmt],
) -> Result<Region<'a>, String> {
    let (Some(first), Some(last)) = (stmts.first(), stmts.last()) else {
        return Err("the loop does nothing".into());
    };
    let mut region = Region::new(bytes(first).start..bytes(last).end, stmts);
    uninterrupted(kernel, &region)?;
    region.handed = handed(kernel, &region);
    forms.forget(changed(kernel, stmts).into_iter());
    Ok(region)
}

/// The first statement of a region, with declarations of what its statements assign: `float sum = 0;`.
fn with_declarations(kernel: &Kernel<'_>, list: &[ast::Stmt], first: usize, last: usize) -> usize {
    let assigned = changed(kernel, &list[first..=last]);
    let declares = |s: &ast::Stmt| {
        find::names_declared(std::slice::from_ref(s)).iter().any(|n| assigned.contains(n))
    };
    let plain = |s: &ast::Stmt| matches!(s.kind, StmtKind::Vars(_));
    let begin = (0..first).rev().take_while(|n| plain(&list[*n]));
    begin.filter(|n| declares(&list[*n])).last().unwrap_or(first)
}

/// Variables that statements assign.
fn changed(kernel: &Kernel<'_>, stmts: &[ast::Stmt]) -> Vec<String> {
    let array = |n: &String| kernel.accesses.iter().any(|a| a.array == *n);
    let all = outer::assignments(stmts).into_iter().map(|(n, _)| n);
    all.filter(|n| !array(n)).collect()
}

struct Finder<'b, 'a> {
    kernel: &'a Kernel<'a>,
    forms: &'b Forms<'a>,
    edges: Vec<Edge>,
    guards: Vec<Guard>,
    ragged: Vec<(ast::Expr, bool)>,
}

impl<'a> Finder<'_, 'a> {
    fn descend(&mut self, stores: &[&Access]) -> Result<Region<'a>, String> {
        let mut list: &'a [ast::Stmt] = &self.kernel.body.stmts;
        let (mut bare, mut outer, mut whole) = (false, None, false);
        loop {
            let has = |s: &ast::Stmt, a: &Access| bytes(s).contains(&a.whole.start);
            let holders: Vec<usize> =
                (0..list.len()).filter(|n| stores.iter().any(|a| has(&list[*n], a))).collect();
            let first = *holders.first().ok_or("its stores come from macros")?;
            self.returns(&list[..first])?;
            let only = holders.len() == 1;
            match &list[first].kind {
                StmtKind::Block(b) if only => (list, bare) = (&b.stmts, false),
                StmtKind::If { cond, then, otherwise: None, init: None, .. } if only => {
                    if !self.guard(cond, true)? {
                        break;
                    }
                    (list, bare, whole) = (std::slice::from_ref(&**then), true, false);
                }
                StmtKind::For { init, cond: Some(cond), step, body } if only => {
                    let fixed = |e: &ast::Expr| !self.forms.varies(e);
                    let begins = init.as_deref().and_then(outer::begin);
                    if !fixed(cond)
                        || !step.iter().all(fixed_step(self.forms))
                        || begins.is_some_and(|(_, e, _)| !fixed(e))
                    {
                        break;
                    }
                    outer = Outer::around(self.kernel, stores)
                        .filter(|o| std::ptr::eq(o.stmt, &list[first]));
                    whole = true;
                    (list, bare) = match &body.kind {
                        StmtKind::Block(b) => (b.stmts.as_slice(), false),
                        _ => (std::slice::from_ref(&**body), true),
                    };
                }
                _ => break,
            }
        }
        let reads =
            |s: &&ast::Stmt| self.kernel.accesses.iter().any(|a| bytes(s).contains(&a.whole.start));
        let first = list.iter().position(|s| reads(&s)).unwrap_or(0);
        let last = list.iter().rposition(|s| reads(&s)).unwrap_or(0);
        let first = with_declarations(self.kernel, list, first, last);
        let stmts = &list[first..=last];
        let at = bytes(&stmts[0]).start..bytes(&stmts[stmts.len() - 1]).end;
        let outer = outer.filter(|o: &Outer<'_>| !whole || o.stmts().as_ptr() == list.as_ptr());
        Ok(Region { bare, outer, whole, ..Region::new(at, stmts) })
    }

    /// Statements that end threads.
    fn returns(&mut self, stmts: &'a [ast::Stmt]) -> Result<(), String> {
        for s in stmts {
            match &s.kind {
                StmtKind::If { cond, then, otherwise: None, init: None, .. }
                    if temporal::ends(then) =>
                {
                    if !self.guard(cond, false)? {
                        return Err("threads end by more than comparisons with sizes".into());
                    }
                }
                _ => {
                    let text = self.kernel.sources.text(s.span);
                    if crate::source::scope::names(text).iter().any(|n| n == "return") {
                        return Err("threads end in an unusual place".into());
                    }
                }
            }
        }
        Ok(())
    }

    /// What a guard says of positions along x; false: it is not understood.
    fn guard(&mut self, cond: &ast::Expr, holds: bool) -> Result<bool, String> {
        if !self.forms.varies(cond) {
            return Ok(true);
        }
        let mut parts = vec![];
        split(cond, if holds { "&&" } else { "||" }, &mut parts);
        let (mut rest, mut own) = (vec![], false);
        for part in parts {
            let Some(bounds) = self.forms.bounds(part, holds) else { return Ok(false) };
            let mut ragged = false;
            for b in &bounds {
                let Some(edge) = self.forms.edge(b) else { return Ok(false) };
                ragged |= matches!(edge, Edge::Ragged(_));
                self.edges.push(edge);
            }
            match ragged {
                true => {
                    self.ragged.push((part.clone(), holds));
                    own = true;
                }
                false => rest.push(self.kernel.sources.text(part.span).to_string()),
            }
        }
        if own {
            let at = cond.span.start as usize..cond.span.end as usize;
            self.guards.push(Guard { at, rest, ends: !holds });
        }
        Ok(true)
    }
}

/// Whether a step of a loop does not vary along x.
fn fixed_step<'b>(forms: &'b Forms<'_>) -> impl Fn(&ast::Expr) -> bool + 'b {
    move |e| {
        let mut parts = vec![];
        commas(e, &mut parts);
        parts.into_iter().all(|e| match &*e.kind {
            ExprKind::Assign { value, .. } => !forms.varies(value),
            ExprKind::IncDec { .. } => true,
            _ => !forms.varies(e),
        })
    }
}

fn commas<'a>(e: &'a ast::Expr, all: &mut Vec<&'a ast::Expr>) {
    match &*e.kind {
        ExprKind::Comma(a, b) => {
            commas(a, all);
            commas(b, all);
        }
        _ => all.push(e),
    }
}

/// The parts of a condition that an operator joins.
fn split<'a>(e: &'a ast::Expr, joined: &str, all: &mut Vec<&'a ast::Expr>) {
    match &*e.kind {
        ExprKind::Binary { op, left, right } if op == joined => {
            split(left, joined, all);
            split(right, joined, all);
        }
        ExprKind::Paren(inner) if matches!(&*inner.kind, ExprKind::Binary { op, .. } if op == joined) =>
        {
            split(inner, joined, all);
        }
        _ => all.push(e),
    }
}

pub fn bytes(s: &ast::Stmt) -> Bytes {
    s.span.start as usize..s.span.end as usize
}

/// Whether lanes come to all statements of a region, and nobody waits in them.
fn uninterrupted(kernel: &Kernel<'_>, region: &Region<'_>) -> Result<(), String> {
    let tokens = marks::tokens(kernel.text);
    let found = tokens.iter().filter(|t| region.at.contains(&t.at.start)).find(|t| {
        let word = &kernel.text[t.at.clone()];
        let together = ["atomic", "__sync", "__shfl"].iter().any(|s| word.starts_with(s));
        FORBIDDEN.contains(&word) || together
    });
    match found {
        Some(t) => Err(format!("it has `{}` between its stores", &kernel.text[t.at.clone()])),
        None => Ok(()),
    }
}

/// Variables from outside that statements of a region assign.
fn handed(kernel: &Kernel<'_>, region: &Region<'_>) -> Vec<String> {
    let mut all = vec![];
    for (name, e) in outer::assignments(region.stmts) {
        let whole = e.span.start as usize..e.span.end as usize;
        let element = kernel.accesses.iter().any(|a| {
            let both = whole.contains(&a.whole.start) || a.whole.contains(&whole.start);
            a.array == name && both
        });
        if !element && !region.declared.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Whether only positions ask for the thread and the block along x.
///
/// # Errors
/// What else does.
pub fn alone(kernel: &Kernel<'_>, forms: &Forms<'_>) -> Result<(), String> {
    let body = kernel.body.span.map_or(0..0, |s| s.start as usize..s.end as usize);
    let tokens: Vec<marks::Tok> =
        marks::tokens(kernel.text).into_iter().filter(|t| body.contains(&t.at.start)).collect();
    let text = |n: usize| tokens.get(n).map_or("", |t| &kernel.text[t.at.clone()]);
    let inside = |at: usize| forms.positions.iter().any(|p| p.at.contains(&at));
    let aliases = positions::aliases(kernel);
    for n in (0..tokens.len()).filter(|n| !inside(tokens[*n].at.start)) {
        let special = ["threadIdx", "blockIdx", "blockDim", "gridDim"].contains(&text(n));
        let declared = n >= 2 && text(n - 1) == "=" && aliases.iter().any(|a| a == text(n - 2));
        if special && text(n + 1) == "." && text(n + 2) == "x" && !declared {
            return Err(format!("the kernel asks for `{}.x` beside its position", text(n)));
        }
        if aliases.iter().any(|a| a == text(n)) && text(n + 1) != "=" && is_x(kernel, text(n)) {
            return Err(format!("the kernel asks for `{}` beside its position", text(n)));
        }
    }
    match forms.positions.iter().any(|p| p.axis == 0) {
        true => Ok(()),
        false => Err("the position along x is not `blockIdx.x * blockDim.x + threadIdx.x`".into()),
    }
}

/// Whether another name for a thread or block is one along x.
fn is_x(kernel: &Kernel<'_>, name: &str) -> bool {
    let values = find::initialisers(kernel.body, kernel.sources);
    values.get(name).is_some_and(|v| v.trim().ends_with(".x"))
}
