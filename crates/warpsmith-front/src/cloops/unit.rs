//! What the file declares, and which of its functions is meant.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use warpsmith_ir::{Diagnostic, Span};

use super::pragma::{self, AtomicKind, Directive};
use super::scan;
use super::structs::Table;
use crate::ast::{
    Declarator, Expr, FunctionDecl, FunctionName, InlineType, Item, ItemKind, Member, Pragma, Stmt,
    StmtKind, StructDecl, TranslationUnit, TypeKind, TypeName, VarDecl,
};

/// Declarations of a C file by name.
#[derive(Default)]
pub struct Unit<'a> {
    pub functions: Vec<(&'a str, &'a FunctionDecl, Span)>,
    pub aliases: HashMap<&'a str, &'a TypeName>,
    pub enums: HashSet<&'a str>,
    /// Constants of enumerations: the expression, or the constant before it plus one.
    pub enumerators: HashMap<&'a str, Enumerator<'a>>,
    /// Definitions of structures by tag; none for a tag that is only declared.
    pub tags: HashMap<&'a str, Vec<&'a StructDecl>>,
    /// Names that `typedef` gives to structures at their definition.
    pub struct_aliases: HashMap<Span, &'a str>,
    /// The first `#pragma pack` of the file.
    pub packed: Option<Span>,
    pub table: Table,
    pub globals: HashMap<&'a str, (&'a VarDecl, &'a Declarator)>,
    /// `#pragma ws bounds` that stand before a function, with the span of the function they belong to.
    pub pragmas_before: HashMap<&'a str, Vec<Pragma>>,
}

/// How an enumeration's constant is defined.
pub enum Enumerator<'a> {
    Value(&'a Expr),
    /// Steps after the named constant; `None`: after nothing, so the count itself.
    After(Option<&'a str>, i64),
    /// Of an enumeration that states another type than `int`.
    OfType,
}

impl<'a> Unit<'a> {
    pub fn new(ast: &'a TranslationUnit) -> Unit<'a> {
        let mut unit = Unit::default();
        let mut pending = vec![];
        for item in &ast.items {
            unit.item(item, &mut pending);
        }
        unit
    }

    fn item(&mut self, item: &'a Item, pending: &mut Vec<Pragma>) {
        match &item.kind {
            ItemKind::Function(f) => {
                f.params.iter().map(|p| &p.ty).chain(&f.ret).for_each(|ty| self.inline_type(ty));
                if let FunctionName::Plain(path) = &f.name
                    && let Some(name) = path.as_name()
                    && let Some(body) = &f.body
                {
                    body.stmts.iter().for_each(|s| self.local_types(s));
                    self.functions.push((name, f, item.span));
                    self.pragmas_before.insert(name, std::mem::take(pending));
                }
            }
            ItemKind::Vars(vars) => {
                for d in &vars.declarators {
                    self.inline_type(&d.ty);
                    self.globals.insert(&d.name, (vars, d));
                }
            }
            ItemKind::Struct(s) => self.structure_of(s),
            ItemKind::Enum(e) => self.enumeration(e),
            ItemKind::Alias(a) => self.alias(a),
            ItemKind::Namespace { items, .. } | ItemKind::File(items) => {
                items.iter().for_each(|i| self.item(i, pending));
            }
            ItemKind::Pragma(text) => {
                if text.trim_start().starts_with("pack") {
                    self.packed.get_or_insert(item.span);
                }
                pending.push(Pragma { text: text.clone(), span: item.span });
            }
            ItemKind::Using { .. }
            | ItemKind::StaticAssert(_)
            | ItemKind::Axiom(_)
            | ItemKind::Unsupported { .. } => {}
        }
    }

    /// Names of types that a function declares inside. One name with two meanings keeps the first, and the host compiler,
    /// which knows better, disagrees when they are compared.
    fn local_types(&mut self, stmt: &'a Stmt) {
        use StmtKind as S;
        match &stmt.kind {
            S::Item(local) => match &local.0.kind {
                ItemKind::Enum(e) => self.enums.extend(e.name.as_deref()),
                ItemKind::Struct(s) => self.structure_of(s),
                ItemKind::Alias(a) => self.alias(a),
                _ => {}
            },
            S::Vars(vars) => vars.declarators.iter().for_each(|d| self.inline_type(&d.ty)),
            S::Block(b) => b.stmts.iter().for_each(|s| self.local_types(s)),
            S::If { then, otherwise, .. } => {
                self.local_types(then);
                otherwise.iter().for_each(|s| self.local_types(s));
            }
            S::For { body, .. } | S::While { body, .. } | S::DoWhile { body, .. } => {
                self.local_types(body)
            }
            _ => {}
        }
    }

    /// Whether some function of the file may write the variable, or hand out its address.
    pub fn writes(&self, name: &str) -> bool {
        self.functions.iter().filter_map(|(_, f, _)| f.body.as_ref()).any(|body| {
            let e = scan::effects_of(&body.stmts);
            e.assigned.contains(name) || e.stored.contains(name)
        })
    }

    fn inline_type(&mut self, ty: &'a TypeName) {
        match &ty.kind {
            TypeKind::Inline(inline) => match &**inline {
                InlineType::Enum(e) => self.enumeration(e),
                InlineType::Struct(s) => self.structure_of(s),
            },
            TypeKind::Pointer { to: inner, .. } | TypeKind::Array { element: inner, .. } => {
                self.inline_type(inner);
            }
            _ => {}
        }
    }

    fn alias(&mut self, a: &'a crate::ast::AliasDecl) {
        self.inline_type(&a.ty);
        if let TypeKind::Inline(inline) = &a.ty.kind
            && let InlineType::Struct(s) = &**inline
        {
            self.struct_aliases.entry(s.span).or_insert(&a.name);
        }
        self.aliases.entry(&a.name).or_insert(&a.ty);
    }

    /// Registers a structure and those defined inside it.
    fn structure_of(&mut self, s: &'a StructDecl) {
        let defined = s.name.as_deref().map(|name| self.tags.entry(name).or_default());
        if let (Some(list), Some(_)) = (defined, &s.members)
            && list.iter().all(|other| other.span != s.span)
        {
            list.push(s);
        }
        for member in s.members.iter().flatten() {
            match member {
                Member::Struct(inner) => self.structure_of(inner),
                Member::Enum(e) => self.enumeration(e),
                Member::Field(vars) => {
                    vars.declarators.iter().for_each(|d| self.inline_type(&d.ty));
                }
                _ => {}
            }
        }
    }

    fn enumeration(&mut self, e: &'a crate::ast::EnumDecl) {
        self.enums.extend(e.name.as_deref());
        let (mut last, mut steps) = (None, 0);
        if e.underlying.is_some() {
            let typed = e.variants.iter().map(|(name, ..)| (name.as_str(), Enumerator::OfType));
            self.enumerators.extend(typed);
            return;
        }
        for (name, value, _) in &e.variants {
            match value {
                Some(v) => {
                    self.enumerators.insert(name, Enumerator::Value(v));
                    (last, steps) = (Some(name.as_str()), 1);
                }
                None => {
                    self.enumerators.insert(name, Enumerator::After(last, steps));
                    steps += 1;
                }
            }
        }
    }

    pub fn function(&self, name: &str) -> Option<&'a FunctionDecl> {
        self.functions.iter().find(|(n, ..)| *n == name).map(|(_, f, _)| *f)
    }

    /// Names of functions that hold a marked loop, themselves or through functions they call.
    pub fn candidates(&self) -> Vec<&'a str> {
        let marked: Vec<&str> =
            self.functions.iter().filter(|(_, f, _)| has_mark(f)).map(|(n, ..)| *n).collect();
        self.functions
            .iter()
            .map(|(n, ..)| *n)
            .filter(|n| marked.iter().any(|m| m == n || self.reaches(n, m)))
            .collect()
    }

    /// Does the function, or one that it calls, hold an `atomic` or `critical` pragma?
    pub fn updates_atomically(&self, name: &str) -> bool {
        let holds = |f: &FunctionDecl| {
            f.body.as_ref().is_some_and(|b| b.stmts.iter().any(|s| stmt_has(s, &is_exclusive)))
        };
        self.functions.iter().any(|(n, f, _)| holds(f) && (*n == name || self.reaches(name, n)))
    }

    /// Where a marked loop of the function keeps what an atomic update found.
    pub fn captures(&self, name: &str) -> Option<Span> {
        let at = Cell::new(None);
        let marked = |s: &Stmt| {
            at.set(captures(s).filter(|_| s.pragmas.iter().any(is_mark)));
            at.get().is_some()
        };
        self.function(name)?.body.as_ref()?.stmts.iter().any(|s| any_stmt(s, &marked));
        at.get()
    }

    /// Candidates that may be meant where nobody says which: those with a loop of their own, and those whose callees have
    /// one and that do nothing else than compute. What allocates, prints or takes times is the program around.
    fn meant(&self) -> Vec<&'a str> {
        let computes = |name: &str| {
            let calls = |f: &str| {
                let mut calls = vec![];
                let body = self.function(f).and_then(|f| f.body.as_ref());
                body.into_iter()
                    .flat_map(|b| &b.stmts)
                    .for_each(|s| scan::called_names(s, &mut calls));
                calls
            };
            let known = |f: &str| {
                self.function(f).is_some() || crate::builtins::c_math::lookup(f).is_some()
            };
            let all = self.functions.iter().map(|(n, ..)| *n);
            let mut involved = all.filter(|n| *n == name || self.reaches(name, n));
            involved.all(|f| calls(f).iter().all(|(callee, _)| known(callee)))
        };
        let marked = |name: &str| self.function(name).is_some_and(has_mark);
        let mut names = self.candidates();
        names.retain(|n| *n != "main" && (marked(n) || computes(n)));
        names
    }

    /// The message for marked loops in `main`.
    fn in_main(&self) -> Option<Box<Diagnostic>> {
        let (_, f, _) = self.functions.iter().find(|(n, f, _)| *n == "main" && has_mark(f))?;
        let d = Diagnostic::error("W130", "the marked loops stand in `main`")
            .label(f.head_span, "not called by anybody, and it does more than these loops")
            .help("move the loops to a function of their own, with their sizes and arrays as parameters, and call it here")
            .help("such as `static void step(int n, const float x[n], float y[n])`");
        Some(Box::new(d))
    }

    /// Does `from` call `to`, directly or through others?
    fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen = HashSet::new();
        let mut todo = vec![from.to_string()];
        while let Some(name) = todo.pop() {
            for (callee, _) in self.callees(&name) {
                if callee == to {
                    return true;
                }
                if seen.insert(callee.clone()) {
                    todo.push(callee);
                }
            }
        }
        false
    }

    /// The function and those of the file that it calls, directly or through others.
    pub fn involved(&self, name: &str) -> Vec<&'a FunctionDecl> {
        let functions = self.functions.iter();
        let called = functions.filter(|(n, ..)| *n == name || self.reaches(name, n));
        called.map(|(_, f, _)| *f).collect()
    }

    /// Functions of this file that `name` calls, with the place of each call.
    pub fn callees(&self, name: &str) -> Vec<(String, Span)> {
        let mut calls = vec![];
        if let Some(body) = self.function(name).and_then(|f| f.body.as_ref()) {
            body.stmts.iter().for_each(|s| scan::called_names(s, &mut calls));
        }
        calls.retain(|(n, _)| self.function(n).is_some());
        calls
    }

    /// The function to translate. Where nothing is marked it is the only one with loops, with the message that there is
    /// no mark.
    ///
    /// # Errors
    /// W130: no function of that name, or no function or several with a marked loop.
    pub fn select(
        &self,
        wanted: Option<&str>,
    ) -> Result<(&'a str, Option<Diagnostic>), Box<Diagnostic>> {
        let all: Vec<&str> = self.functions.iter().map(|(n, ..)| *n).collect();
        if let Some(wanted) = wanted {
            return Ok((self.named(wanted, &all)?, None));
        }
        match self.roots(self.meant()).as_slice() {
            [only] => Ok((only, None)),
            [] if all.is_empty() => Err(Diagnostic::error("W130", "no function in this file")
                .help("warpsmith tune translates a C function with a loop nest")
                .into()),
            [] => match (self.in_main(), self.roots(self.with_loops()).as_slice()) {
                (Some(d), _) => Err(d),
                (None, [only]) => Ok((only, Some(self.no_marked_loop(&all)))),
                (None, []) => Err(self.no_marked_loop(&all).into()),
                (None, several) => {
                    let one =
                        format!("or choose one: --function {}", several.join(" or --function "));
                    Err(self.no_marked_loop(&all).help(one).into())
                }
            },
            several => {
                let mut d = Diagnostic::error("W130", "several functions have marked loops");
                for (name, f, _) in self.functions.iter().filter(|(n, ..)| several.contains(n)) {
                    d = d.label(f.head_span, format!("`{name}` is one"));
                }
                Err(d
                    .help(format!("choose one: --function {}", several.join(" or --function ")))
                    .into())
            }
        }
    }

    fn named(&self, wanted: &str, all: &[&'a str]) -> Result<&'a str, Box<Diagnostic>> {
        match all.iter().find(|n| **n == wanted) {
            Some(name) if **name == *"main" && self.in_main().is_some() => {
                self.in_main().map_or(Ok(*name), Err)
            }
            Some(name) => Ok(name),
            None => {
                let mut d =
                    Diagnostic::error("W130", format!("no function `{wanted}` in this file"));
                if let Some(near) = crate::spelling::nearest(wanted, all.iter().copied()) {
                    d = d.help(format!("did you mean `{near}`?"));
                } else if !all.is_empty() {
                    d = d.help(format!("functions of this file: {}", all.join(", ")));
                }
                Err(d.into())
            }
        }
    }

    /// A function that only serves another candidate is not meant by itself.
    fn roots(&self, candidates: Vec<&'a str>) -> Vec<&'a str> {
        let serves = |c: &str| candidates.iter().any(|o| *o != c && self.reaches(o, c));
        candidates.iter().copied().filter(|c| !serves(c)).collect()
    }

    /// Functions that have loops, the program around them aside.
    fn with_loops(&self) -> Vec<&'a str> {
        let is_loop = |s: &Stmt| matches!(s.kind, StmtKind::For { .. });
        let has_loop = |f: &FunctionDecl| {
            f.body.as_ref().is_some_and(|b| b.stmts.iter().any(|s| any_stmt(s, &is_loop)))
        };
        let named = self.functions.iter().filter(|(n, f, _)| *n != "main" && has_loop(f));
        named.map(|(n, ..)| *n).collect()
    }

    fn no_marked_loop(&self, all: &[&str]) -> Diagnostic {
        let mut d = Diagnostic::error("W130", "no loop is marked as parallel");
        if let Some((_, f, _)) = self.functions.first() {
            d = d.label(f.head_span, format!("no marked loop in `{}`", all.join("`, `")));
        }
        d.help("write `#pragma omp parallel for` before the loops whose iterations are independent")
    }
}

/// Does the function's own body hold a marked loop (or a pragma that tries to mark one)?
pub fn has_mark(f: &FunctionDecl) -> bool {
    f.body.as_ref().is_some_and(|b| b.stmts.iter().any(|s| stmt_has(s, &is_mark)))
}

fn is_mark(p: &Pragma) -> bool {
    match pragma::parse(p) {
        Ok(Directive::Loop(_) | Directive::Independent) => true,
        Ok(_) => false,
        // A malformed mark still says which function is meant; the error comes when it is lowered.
        Err(_) => true,
    }
}

fn is_exclusive(p: &Pragma) -> bool {
    matches!(pragma::parse(p), Ok(Directive::Atomic(..) | Directive::Critical(_)))
}

/// Where a statement, or one inside, keeps what an atomic update found.
pub fn captures(stmt: &Stmt) -> Option<Span> {
    let at = Cell::new(None);
    let captured = |p: &Pragma| match pragma::parse(p) {
        Ok(Directive::Atomic(AtomicKind::Capture, span)) => {
            at.set(Some(span));
            true
        }
        _ => false,
    };
    stmt_has(stmt, &captured);
    at.get()
}

/// Is there such a pragma in the statement?
fn stmt_has(stmt: &Stmt, wanted: &dyn Fn(&Pragma) -> bool) -> bool {
    any_stmt(stmt, &|s| s.pragmas.iter().any(wanted))
}

/// Whether the statement or one inside is meant.
fn any_stmt(stmt: &Stmt, wanted: &dyn Fn(&Stmt) -> bool) -> bool {
    let within = |s: &Stmt| any_stmt(s, wanted);
    wanted(stmt)
        || match &stmt.kind {
            StmtKind::Block(b) => b.stmts.iter().any(within),
            StmtKind::If { then, otherwise, .. } => {
                within(then) || otherwise.as_deref().is_some_and(within)
            }
            StmtKind::For { body, .. }
            | StmtKind::RangeFor { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::Switch { body, .. } => within(body),
            _ => false,
        }
}
