//! The tree with fields in the place of structures.

use std::collections::BTreeMap;

use warpsmith_ir::Span;

use super::uses::{self, Path, Step};
use super::{Held, Plan, Slot};
use crate::ast::{
    Block, Expr, ExprKind, FunctionDecl, FunctionName, InitItem, Initializer, Item, ItemKind,
    PathSegment, Stmt, StmtKind, TranslationUnit,
};

/// The name of a function that C could have.
pub fn plain_name(f: &FunctionDecl) -> Option<&str> {
    match &f.name {
        FunctionName::Plain(path) => path.as_name(),
        _ => None,
    }
}

/// The file with every function of the plan rewritten.
pub fn file(file: &TranslationUnit, plan: &Plan<'_>) -> TranslationUnit {
    let mut file = file.clone();
    let mut pragmas = vec![];
    let mut texts = vec![];
    for (at, item) in file.items.iter_mut().enumerate() {
        match &mut item.kind {
            ItemKind::Pragma(_) => pragmas.push(at),
            ItemKind::Function(f) if f.body.is_some() => {
                let before = std::mem::take(&mut pragmas);
                if let Some(fields) = Fields::of(plan, f) {
                    fields.function(f);
                    texts.extend(before.into_iter().map(|at| (at, fields.clone())));
                }
            }
            _ => {}
        }
    }
    for (at, fields) in texts {
        if let Item { kind: ItemKind::Pragma(text), .. } = &mut file.items[at] {
            *text = fields.pragma(text);
        }
    }
    file
}

/// What replaces the fields of one function's parameters.
#[derive(Clone)]
struct Fields<'p> {
    plan: &'p Plan<'p>,
    /// By the parameter's name.
    slots: BTreeMap<String, &'p Slot>,
}

impl<'p> Fields<'p> {
    fn of(plan: &'p Plan<'p>, f: &FunctionDecl) -> Option<Fields<'p>> {
        let own = plain_name(f)?;
        let slots = plan.slots.keys().filter(|(name, _)| name == own);
        let named = slots.filter_map(|slot| Some((f.params.get(slot.1)?.name.clone()?, slot)));
        let slots: BTreeMap<String, &Slot> = named.collect();
        (!slots.is_empty()).then_some(Fields { plan, slots })
    }

    fn function(&self, f: &mut FunctionDecl) {
        for stmt in f.body.iter_mut().flat_map(|b| &mut b.stmts) {
            self.stmt(stmt);
        }
        let mut params = vec![];
        for param in std::mem::take(&mut f.params) {
            match param.name.as_ref().and_then(|n| self.slots.get(n)) {
                Some(slot) => params.extend(self.plan.params(slot, param.span)),
                None => params.push(param),
            }
        }
        f.params = params;
    }

    fn name(&self, slot: &Slot, path: &Path) -> Option<&'p String> {
        self.plan.names.get(&(slot.clone(), path.clone()))
    }

    /// The field at a path, as a value: a parameter, or a part of one.
    fn value(&self, root: &str, path: &Path, at: &Expr) -> Option<Expr> {
        let slot = self.slots.get(root)?;
        let uses = self.plan.slots.get(*slot)?;
        let (whole, field) = uses.iter().find(|(p, _)| path.starts_with(p))?;
        let of = |kind: ExprKind| Expr { kind: Box::new(kind), span: at.span };
        let mut value = named(self.name(slot, whole)?, at.span);
        if field.held() == Held::Address {
            let place = of(ExprKind::Unary { op: "*".into(), operand: value });
            value = of(ExprKind::Paren(place));
        }
        for step in &path[whole.len()..] {
            let member = PathSegment { name: step.field.clone(), args: None };
            value = of(ExprKind::Member { base: value, arrow: step.arrow, member, class: None });
        }
        Some(value)
    }

    /// What a function gets for a structure of ours.
    fn handed(&self, arg: &Expr, to: &Slot) -> Option<Vec<Expr>> {
        let wanted = self.plan.slots.get(to)?;
        let own = uses::given(arg)?;
        let slot = self.slots.get(own.root)?;
        let args = wanted.iter().map(|(path, field)| {
            let path = own.then(path)?;
            match field.held() {
                Held::Address => Some(named(self.name(slot, &path)?, arg.span)),
                _ => self.value(own.root, &path, arg),
            }
        });
        args.collect()
    }

    fn expr(&self, e: &mut Expr) {
        if let Some((root, path)) = uses::chain(e)
            && let Some(value) = self.value(root, &path, e)
        {
            *e = value;
            return;
        }
        if let ExprKind::Call { callee, args } = &mut *e.kind
            && let ExprKind::Path(path) = &*callee.kind
            && let Some(name) = path.as_name()
        {
            let given = std::mem::take(args);
            for (at, mut arg) in given.into_iter().enumerate() {
                match self.handed(&arg, &(name.to_string(), at)) {
                    Some(several) => args.extend(several),
                    None => {
                        self.expr(&mut arg);
                        args.push(arg);
                    }
                }
            }
            return;
        }
        each_child(e, &mut |c| self.expr(c));
    }

    fn stmt(&self, stmt: &mut Stmt) {
        for pragma in &mut stmt.pragmas {
            pragma.text = self.pragma(&pragma.text);
        }
        each_part(stmt, &mut |part| match part {
            Part::Expr(e) => self.expr(e),
            Part::Stmt(s) => self.stmt(s),
        });
    }

    /// A pragma that names fields, or a structure for all of them.
    fn pragma(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, word, after)) = next_word(rest) {
            out.push_str(before);
            rest = after;
            match self.slots.get(word) {
                Some(slot) => rest = self.field_list(slot, rest, &mut out),
                None => out.push_str(word),
            }
        }
        out + rest
    }

    /// Writes the names for what stands behind a structure's name; what is left of the text.
    fn field_list<'t>(&self, slot: &Slot, text: &'t str, out: &mut String) -> &'t str {
        let mut path = vec![];
        let mut rest = text;
        loop {
            let (arrow, after) = match rest.trim_start() {
                t if t.starts_with("->") => (true, &t[2..]),
                t if t.starts_with('.') => (false, &t[1..]),
                _ => break,
            };
            let (field, after) = split_word(after.trim_start());
            path.push(Step { arrow, field: field.to_string() });
            rest = after;
            if let Some(name) = self.name(slot, &path) {
                out.push_str(name);
                return rest;
            }
        }
        let uses = self.plan.slots.get(slot).into_iter().flatten();
        let names: Vec<&str> =
            uses.filter_map(|(p, _)| self.name(slot, p)).map(String::as_str).collect();
        out.push_str(&names.join(", "));
        text
    }
}

/// What stands before the next word, the word, and what comes after it.
fn next_word(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(|c: char| c.is_alphabetic() || c == '_')?;
    let (word, after) = split_word(&text[start..]);
    Some((&text[..start], word, after))
}

/// The text with other words.
pub fn each_word(text: &str, f: &mut dyn FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, word, after)) = next_word(rest) {
        out += before;
        out += &f(word);
        rest = after;
    }
    out + rest
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len()))
}

pub fn named(name: &str, span: Span) -> Expr {
    let segments = vec![PathSegment { name: name.to_string(), args: None }];
    let path = crate::ast::Path { segments, global: false, span };
    Expr { kind: Box::new(ExprKind::Path(path)), span }
}

/// An operand or a statement inside a statement.
pub enum Part<'s> {
    Expr(&'s mut Expr),
    Stmt(&'s mut Stmt),
}

/// Calls `f` with what a statement is made of.
pub fn each_part(stmt: &mut Stmt, f: &mut dyn FnMut(Part<'_>)) {
    match &mut stmt.kind {
        StmtKind::Expr(e) | StmtKind::Case(e) => f(Part::Expr(e)),
        StmtKind::Vars(decl) => {
            let inits = decl.declarators.iter_mut().filter_map(|d| d.init.as_mut());
            inits.for_each(|i| each_initial(i, &mut |e| f(Part::Expr(e))));
        }
        StmtKind::Block(Block { stmts, .. }) => stmts.iter_mut().for_each(|s| f(Part::Stmt(s))),
        StmtKind::If { init, cond, then, otherwise, .. } => {
            init.iter_mut().for_each(|s| f(Part::Stmt(s)));
            f(Part::Expr(cond));
            f(Part::Stmt(then));
            otherwise.iter_mut().for_each(|s| f(Part::Stmt(s)));
        }
        StmtKind::For { init, cond, step, body } => {
            init.iter_mut().for_each(|s| f(Part::Stmt(s)));
            cond.iter_mut().chain(step).for_each(|e| f(Part::Expr(e)));
            f(Part::Stmt(body));
        }
        StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
            f(Part::Expr(cond));
            f(Part::Stmt(body));
        }
        StmtKind::Switch { selector, body } => {
            f(Part::Expr(selector));
            f(Part::Stmt(body));
        }
        StmtKind::Return(Some(init)) => each_initial(init, &mut |e| f(Part::Expr(e))),
        _ => {}
    }
}

pub fn each_initial(init: &mut Initializer, f: &mut dyn FnMut(&mut Expr)) {
    match init {
        Initializer::Expr(e) => f(e),
        Initializer::List(items, _) => each_item(items, f),
        Initializer::Call(args, _) => args.iter_mut().for_each(f),
    }
}

fn each_item(items: &mut [InitItem], f: &mut dyn FnMut(&mut Expr)) {
    items.iter_mut().for_each(|i| each_initial(&mut i.value, f));
}

/// Calls `f` with every direct operand.
pub fn each_child(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    match &mut *e.kind {
        ExprKind::Paren(a)
        | ExprKind::Unary { operand: a, .. }
        | ExprKind::IncDec { operand: a, .. }
        | ExprKind::Member { base: a, .. }
        | ExprKind::Cast { operand: a, .. }
        | ExprKind::SizeofExpr(a) => f(a),
        ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Assign { target: a, value: b, .. }
        | ExprKind::Comma(a, b)
        | ExprKind::Index { base: a, index: b } => {
            f(a);
            f(b);
        }
        ExprKind::Conditional { cond, then, otherwise } => {
            f(cond);
            f(then);
            f(otherwise);
        }
        ExprKind::Call { callee, args } => {
            f(callee);
            args.iter_mut().for_each(f);
        }
        ExprKind::AssignList { target, items } => {
            f(target);
            each_item(items, f);
        }
        ExprKind::CompoundLiteral { items, .. } | ExprKind::InitList(items) => each_item(items, f),
        ExprKind::Construct { args, .. } => args.iter_mut().for_each(|a| each_initial(a, f)),
        _ => {}
    }
}
