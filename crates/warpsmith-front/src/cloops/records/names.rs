//! One name for one structure: local pointers to a structure of the parameters, or to one inside it, are replaced by what
//! they are set to, variables of the same name get another one, and a structure is never null.
//!
//! ```text
//! RunState *s = &t->state;                 (nothing)
//! if (!t) return;                  ==>     if (0) return;
//! s->hb[i] = s->xb[i];                     (&t->state)->hb[i] = (&t->state)->xb[i];
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::scan;
use super::super::unit::Unit;
use super::rewrite::{self, Part};
use super::uses::{self, Given, Path};
use crate::ast::{
    Declarator, Expr, ExprKind, FunctionDecl, Initializer, ItemKind, Stmt, StmtKind,
    TranslationUnit, TypeName,
};

/// The file with such names resolved, and for each function the parameters that are taken for not null.
pub fn resolve(
    file: &TranslationUnit,
    unit: &Unit<'_>,
) -> (TranslationUnit, BTreeSet<(String, String)>) {
    let mut file = file.clone();
    let mut never_null = BTreeSet::new();
    for item in &mut file.items {
        let ItemKind::Function(f) = &mut item.kind else { continue };
        let Some(name) = rewrite::plain_name(f).map(str::to_string) else { continue };
        let structures: Vec<String> = structures(unit, f);
        if f.body.is_none() || structures.is_empty() {
            continue;
        }
        // What a copy is of is written in the names that pointers have been replaced by.
        for copies in [false, true] {
            let known = structures.iter().map(|n| (n.clone(), Meaning::Structure));
            let mut names = Names {
                unit,
                scopes: vec![known.collect()],
                written: Written::of(f),
                copies,
                taken: super::names_in(unit, f),
                never_null: BTreeSet::new(),
            };
            f.body.iter_mut().for_each(|b| names.block(&mut b.stmts));
            never_null.extend(names.never_null.into_iter().map(|param| (name.clone(), param)));
        }
    }
    (file, never_null)
}

/// The parameters that are structures or lead to one.
fn structures(unit: &Unit<'_>, f: &FunctionDecl) -> Vec<String> {
    let is_one = |ty: &TypeName| is_structure(unit, ty);
    f.params.iter().filter(|p| is_one(&p.ty)).filter_map(|p| p.name.clone()).collect()
}

fn is_structure(unit: &Unit<'_>, ty: &TypeName) -> bool {
    uses::structure(unit, uses::behind(unit, ty)).is_some()
}

/// The places that a function changes, or whose addresses leave it.
#[derive(Default)]
struct Written(Vec<(String, Path)>);

impl Written {
    fn of(f: &FunctionDecl) -> Written {
        let mut written = Written::default();
        for stmt in f.body.iter().flat_map(|b| &b.stmts) {
            scan::for_each_expr(stmt, &mut |e| written.walk(e));
        }
        written
    }

    fn walk(&mut self, e: &Expr) {
        match &*e.kind {
            ExprKind::Assign { target, .. } | ExprKind::AssignList { target, .. } => {
                self.note(target);
            }
            ExprKind::IncDec { operand, .. } => self.note(operand),
            ExprKind::Call { args, .. } => {
                for arg in args {
                    // An address, or an array.
                    if uses::given(arg).is_some_and(|g| g.level == 1 || !g.path.is_empty()) {
                        self.note(arg);
                    }
                }
            }
            _ if uses::given(e).is_some_and(|g| g.level < 1) => return,
            ExprKind::Unary { op, operand } if op == "&" => self.note(operand),
            _ => {}
        }
        scan::for_each_child(e, &mut |c| self.walk(c));
    }

    fn note(&mut self, place: &Expr) {
        if let Some(given) = uses::given(place) {
            return self.0.push((given.root.to_string(), given.path));
        }
        if let ExprKind::Index { base: inner, .. }
        | ExprKind::Member { base: inner, .. }
        | ExprKind::Paren(inner)
        | ExprKind::Unary { operand: inner, .. } = &*place.kind
        {
            self.note(inner);
        }
    }

    /// Whether a variable is set after its declaration.
    fn sets(&self, name: &str) -> bool {
        self.0.iter().any(|(root, path)| root == name && path.is_empty())
    }

    /// Whether something at or inside a place may change, or what it is inside of.
    fn touches(&self, name: &str, at: &Path) -> bool {
        let of = self.0.iter().filter(|(root, _)| root == name);
        of.map(|(_, path)| path).any(|p| p.starts_with(at) || at.starts_with(p))
    }
}

/// What a name means in a scope.
#[derive(Clone)]
enum Meaning {
    /// A parameter that is a structure or leads to one.
    Structure,
    /// Another name for this.
    Is(Expr),
    Other,
}

struct Names<'w, 'u> {
    unit: &'w Unit<'u>,
    scopes: Vec<HashMap<String, Meaning>>,
    written: Written,
    /// Copies are resolved as well.
    copies: bool,
    taken: HashSet<String>,
    never_null: BTreeSet<String>,
}

impl Names<'_, '_> {
    fn meaning(&self, name: &str) -> &Meaning {
        let found = self.scopes.iter().rev().find_map(|s| s.get(name));
        found.unwrap_or(&Meaning::Other)
    }

    fn declare(&mut self, name: String, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, meaning);
        }
    }

    fn block(&mut self, stmts: &mut [Stmt]) {
        self.scopes.push(HashMap::new());
        stmts.iter_mut().for_each(|s| self.stmt(s));
        self.scopes.pop();
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        for pragma in &mut stmt.pragmas {
            pragma.text = self.pragma(&pragma.text);
        }
        match &mut stmt.kind {
            StmtKind::Block(b) => return self.block(&mut b.stmts),
            StmtKind::Vars(decl) => {
                let all = std::mem::take(&mut decl.declarators);
                decl.declarators = all.into_iter().filter_map(|d| self.declarator(d)).collect();
                if decl.declarators.is_empty() {
                    stmt.kind = StmtKind::Empty;
                }
                return;
            }
            _ => {}
        }
        // The variables of a loop's head are seen in the loop alone.
        self.scopes.push(HashMap::new());
        rewrite::each_part(stmt, &mut |part| match part {
            Part::Expr(e) => self.expr(e),
            Part::Stmt(s) => self.stmt(s),
        });
        self.scopes.pop();
        if let StmtKind::If { cond, .. }
        | StmtKind::While { cond, .. }
        | StmtKind::DoWhile { cond, .. }
        | StmtKind::For { cond: Some(cond), .. } = &mut stmt.kind
        {
            self.null_test(cond);
        }
    }

    /// The declaration as it is to be; `None` for another name of a structure.
    fn declarator(&mut self, mut d: Declarator) -> Option<Declarator> {
        if let Some(init) = &mut d.init {
            rewrite::each_initial(init, &mut |e| self.expr(e));
        }
        if let Some(Initializer::Expr(init)) = &d.init
            && self.is_other_name(&d, init)
        {
            let kind = Box::new(ExprKind::Paren(init.clone()));
            let meaning = Meaning::Is(Expr { kind, span: init.span });
            self.declare(d.name, meaning);
            return None;
        }
        let meaning = match self.meaning(&d.name) {
            Meaning::Other => Meaning::Other,
            _ => {
                let mut name = d.name.clone() + "_";
                while !self.taken.insert(name.clone()) {
                    name.push('_');
                }
                Meaning::Is(rewrite::named(&name, d.span))
            }
        };
        self.declare(d.name.clone(), meaning.clone());
        if let Meaning::Is(e) = meaning {
            d.name = scan::root_name(&e).unwrap_or_default().to_string();
        }
        Some(d)
    }

    /// Whether a variable always means what it is set to: a pointer that is not set again, or a copy of a structure of
    /// which nothing changes.
    fn is_other_name(&self, d: &Declarator, init: &Expr) -> bool {
        let Some(given) = uses::given(init) else { return false };
        if !matches!(self.meaning(given.root), Meaning::Structure)
            || self.written.sets(given.root)
            || !is_structure(self.unit, &d.ty)
        {
            return false;
        }
        match uses::is_address(self.unit, &d.ty) {
            true => given.level >= 0 && !self.written.sets(&d.name),
            false => {
                self.copies
                    && given.level <= 0
                    && !self.written.touches(&d.name, &vec![])
                    && !self.written.touches(given.root, &given.path)
            }
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        rewrite::each_child(e, &mut |c| self.expr(c));
        match &mut *e.kind {
            ExprKind::Path(path) => {
                if let Some(Meaning::Is(value)) = path.as_name().map(|n| self.meaning(n)) {
                    *e = Expr { kind: value.kind.clone(), span: e.span };
                }
            }
            ExprKind::Unary { op, operand } if op == "!" => self.null_test(operand),
            ExprKind::Binary { op, left, right } if op == "&&" || op == "||" => {
                self.null_test(left);
                self.null_test(right);
            }
            ExprKind::Conditional { cond, .. } => self.null_test(cond),
            ExprKind::Binary { op, left, right } if op == "==" || op == "!=" => {
                let pointer = match (scan::is_null(left), scan::is_null(right)) {
                    (false, true) => self.structure_pointer(left),
                    (true, false) => self.structure_pointer(right),
                    _ => None,
                };
                if let Some(name) = pointer {
                    let given = op == "!=";
                    self.never_null.insert(name);
                    *e = number(given, e);
                }
            }
            _ => {}
        }
    }

    /// A structure where a condition is asked for.
    fn null_test(&mut self, e: &mut Expr) {
        if let Some(name) = self.structure_pointer(e) {
            self.never_null.insert(name);
            *e = number(true, e);
        }
    }

    /// The parameter that leads to a structure and that a value is.
    fn structure_pointer(&self, e: &Expr) -> Option<String> {
        let is_parameter = |g: &Given<'_>| {
            g.path.is_empty() && g.level == 0 && matches!(self.meaning(g.root), Meaning::Structure)
        };
        uses::given(e).filter(is_parameter).map(|g| g.root.to_string())
    }

    /// A pragma with the names that variables have now.
    fn pragma(&self, text: &str) -> String {
        rewrite::each_word(text, &mut |word| match self.meaning(word) {
            Meaning::Is(e) => scan::root_name(e).unwrap_or(word).to_string(),
            _ => word.to_string(),
        })
    }
}

fn number(yes: bool, at: &Expr) -> Expr {
    let text = if yes { "1" } else { "0" };
    Expr { kind: Box::new(ExprKind::Number(text.into())), span: at.span }
}
