//! What is in scope where a mark stands: integer variables, shared arrays, and the subscripts that the user writes.

use std::collections::{HashMap, HashSet};

use warpsmith_front::ast::{
    self, ExprKind, Initializer, ItemKind, StmtKind, TranslationUnit, TypeKind,
};
use warpsmith_front::sema::walk;
use warpsmith_ir::{SourceMap, Span};

use super::marks::{self, Tok};
use super::passed;
use super::{arrays, values};
use warpsmith_front::pp::Piece;

/// A shared array as declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedArray {
    pub name: String,
    /// The text of each extent, outermost first; empty for `extern __shared__ T a[]`.
    pub extents: Vec<String>,
    /// Where the extents stand.
    pub extent_spans: Vec<Span>,
    pub rank: usize,
    /// Of a parameter: the name of the array that is passed, whose type says more.
    pub passed: Option<String>,
    /// Of a pointer into an array of dynamic size, `int *b = (int *)(a + n)`: that array.
    pub within: Option<String>,
}

impl SharedArray {
    pub fn is_dynamic(&self) -> bool {
        self.extents.len() < self.rank
    }

    /// The text of the first element.
    pub fn first(&self) -> String {
        format!("{}{}", self.name, "[0]".repeat(self.rank))
    }

    /// What it is called where it is declared.
    pub fn declared(&self) -> &str {
        self.passed.as_ref().unwrap_or(&self.name)
    }

    /// The text of how many elements it has.
    pub fn length(&self) -> String {
        let first = self.first();
        if let Some(whole) = &self.within {
            let before = format!("(int)((const char *){} - (const char *){whole})", self.name);
            return format!("(__ws_dynamic - {before}) / (int)sizeof({first})");
        }
        match (self.is_dynamic(), self.passed.is_some()) {
            (true, _) => format!("(int)(__ws_dynamic / sizeof({first}))"),
            (false, true) => format!("(int)(({}))", self.extents.join(") * (")),
            (false, false) => format!("(int)(sizeof({}) / sizeof({first}))", self.name),
        }
    }
}

/// A subscript of a shared array in the user's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscript {
    pub array: String,
    pub dimension: usize,
    pub text: String,
}

/// The surroundings of a place in a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Variables that may hold integers, parameters first.
    pub variables: Vec<String>,
    /// Those whose type is `int`.
    pub ints: Vec<String>,
    /// Those whose type may have 64 bits.
    pub longs: Vec<String>,
    /// Those whose type is `bool`.
    pub truths: Vec<String>,
    pub arrays: Vec<SharedArray>,
    /// All names that the function declares before the place.
    pub declared: Vec<String>,
    /// The statements around the place that stand in a list, outermost first.
    pub statements: Vec<Span>,
    /// The function's body.
    pub body: Option<Span>,
    /// Subscripts of shared arrays in the function.
    pub subscripts: Vec<Subscript>,
    /// The function is a kernel.
    pub kernel: bool,
    /// Value parameters of the function's template.
    pub template_values: Vec<String>,
    pub function: String,
}

/// The surroundings of a byte of the main file; `None` when it is in no function that was understood.
pub fn site(unit: &TranslationUnit, sources: &SourceMap, at: usize) -> Option<Site> {
    site_in(unit, sources, at, 0)
}

/// The same behind so many calls.
pub fn site_in(unit: &TranslationUnit, sources: &SourceMap, at: usize, depth: u32) -> Option<Site> {
    let mut file_arrays = vec![];
    let found = in_items(&unit.items, at as u32, &mut file_arrays, sources)?;
    let (function, body) = found;
    let assigned = arrays::assigned(body);
    let mut walker = Walker { at: at as u32, sources, site: Site::default(), assigned };
    walker.site.kernel = function.attrs.global;
    walker.site.body = body.span;
    if let ast::FunctionName::Plain(path) = &function.name {
        walker.site.function = path.segments.last().map_or(String::new(), |s| s.name.clone());
    }
    for p in function.template.iter().flat_map(|t| &t.params) {
        if let (Some(name), ast::TemplateParamKind::Value { .. }) = (&p.name, &p.kind) {
            walker.site.template_values.push(name.clone());
        }
    }
    walker.site.arrays = file_arrays;
    for p in &function.params {
        if let Some(name) = &p.name {
            walker.declare(name, &p.ty, None);
        }
    }
    if !function.attrs.global {
        walker.site.arrays.extend(passed::arrays(function, unit, sources, depth));
    }
    walker.block(body);
    let mut site = walker.site;
    // What the function does not ask for says nothing of where elements are.
    let mentioned = mentioned(body);
    let is_param = |v: &String| function.params.iter().any(|p| p.name.as_ref() == Some(v));
    site.variables.retain(|v| !is_param(v) || mentioned.contains(v));
    site.subscripts = subscripts(body, &site.arrays, sources);
    Some(site)
}

/// A kernel of a file, by its name without template arguments.
pub fn kernel<'a>(unit: &'a TranslationUnit, name: &str) -> Option<&'a ast::FunctionDecl> {
    in_namespace(&unit.items, name)
}

/// Whether types are among the parameters of a kernel's template.
pub fn has_types(unit: &TranslationUnit, kernel_name: &str) -> bool {
    let function = kernel(unit, super::shape::base_name(kernel_name));
    let mut params = function.iter().flat_map(|f| &f.template).flat_map(|t| &t.params);
    params.any(|p| matches!(p.kind, ast::TemplateParamKind::Type { .. }))
}

fn in_namespace<'a>(items: &'a [ast::Item], name: &str) -> Option<&'a ast::FunctionDecl> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Function(f) if f.attrs.global && f.body.is_some() => match &f.name {
            ast::FunctionName::Plain(p) if p.segments.last().is_some_and(|s| s.name == name) => {
                Some(f)
            }
            _ => None,
        },
        ItemKind::Namespace { items, .. } => in_namespace(items, name),
        _ => None,
    })
}

pub type Found<'a> = (&'a ast::FunctionDecl, &'a ast::Block);

fn in_items<'a>(
    items: &'a [ast::Item],
    at: u32,
    arrays: &mut Vec<SharedArray>,
    sources: &SourceMap,
) -> Option<Found<'a>> {
    for item in items {
        match &item.kind {
            ItemKind::Vars(vars) if vars.attrs.shared => {
                arrays.extend(vars.declarators.iter().filter_map(|d| arrays::shared(d, sources)));
            }
            ItemKind::Function(f) => {
                if let Some(body) = f.body.as_ref().filter(|b| b.span.is_some_and(|s| holds(s, at)))
                {
                    return Some((f, body));
                }
            }
            ItemKind::Namespace { items, .. } => {
                if let Some(found) = in_items(items, at, arrays, sources) {
                    return Some(found);
                }
            }
            ItemKind::Struct(s) => {
                for member in s.members.iter().flatten() {
                    if let ast::Member::Method(f) = member
                        && let Some(body) =
                            f.body.as_ref().filter(|b| b.span.is_some_and(|s| holds(s, at)))
                    {
                        return Some((f, body));
                    }
                }
            }
            _ => {}
        }
    }
    None
}

/// The body of the function that a byte of the main file is in.
pub fn body_at(unit: &TranslationUnit, at: usize) -> Option<&ast::Block> {
    function_at(unit, at).map(|(_, body)| body)
}

/// The same with the function.
pub fn function_at(unit: &TranslationUnit, at: usize) -> Option<Found<'_>> {
    in_items(&unit.items, at as u32, &mut vec![], &SourceMap::new())
}

/// The main file is the first one of a parse.
fn holds(span: Span, at: u32) -> bool {
    span.file.0 == 0 && span.start <= at && at < span.end
}

struct Walker<'a> {
    at: u32,
    sources: &'a SourceMap,
    site: Site,
    /// Variables that change after their declarations.
    assigned: HashSet<String>,
}

impl Walker<'_> {
    fn declare(&mut self, name: &str, ty: &ast::TypeName, init: Option<&ast::Initializer>) {
        self.site.declared.push(name.to_string());
        self.site.variables.retain(|v| v != name);
        let Site { ints, truths, longs, .. } = &mut self.site;
        let only = |word| matches!(&ty.kind, TypeKind::Builtin(w) if w.iter().all(|w| w == word));
        for (list, is) in
            [(ints, only("int")), (truths, only("bool")), (longs, values::is_long(ty))]
        {
            list.retain(|v| v != name);
            if is {
                list.push(name.to_string());
            }
        }
        self.site.arrays.retain(|a| a.name != name);
        let part = self.part(name, ty, init);
        self.site.arrays.extend(part);
        let mut ty = ty;
        while let TypeKind::Reference { to, .. } = &ty.kind {
            ty = to;
        }
        let integer = match &ty.kind {
            TypeKind::Builtin(words) => {
                !words.iter().any(|w| matches!(w.as_str(), "float" | "double" | "void"))
            }
            TypeKind::Auto => match init {
                Some(ast::Initializer::Expr(e)) => {
                    let text = self.sources.text(e.span);
                    ["threadIdx.", "blockIdx.", "blockDim."].iter().any(|b| text.contains(b))
                }
                _ => false,
            },
            TypeKind::Named(path) => path.segments.last().is_some_and(|s| {
                let n = s.name.as_str();
                n.ends_with("_t")
                    || matches!(n, "uint" | "ushort" | "uchar" | "ulong" | "Index" | "index" | "I")
            }),
            _ => false,
        };
        if integer {
            self.site.variables.push(name.to_string());
        }
    }

    /// A pointer that stays where it is in an array of dynamic size.
    fn part(
        &self,
        name: &str,
        ty: &ast::TypeName,
        init: Option<&ast::Initializer>,
    ) -> Option<SharedArray> {
        let (TypeKind::Pointer { .. }, Some(Initializer::Expr(e))) = (&ty.kind, init) else {
            return None;
        };
        let root = arrays::pointed(e)?;
        let whole = self.site.arrays.iter().find(|a| a.name == root && a.is_dynamic())?;
        let within = Some(whole.within.clone().unwrap_or_else(|| whole.name.clone()));
        let one = SharedArray { name: name.to_string(), within, rank: 1, ..SharedArray::default() };
        (!self.assigned.contains(name)).then_some(one)
    }

    fn vars(&mut self, vars: &ast::VarDecl) {
        for d in &vars.declarators {
            if d.span.start >= self.at {
                return;
            }
            match vars.attrs.shared {
                true => {
                    self.site.declared.push(d.name.clone());
                    self.site.arrays.retain(|a| a.name != d.name);
                    self.site.arrays.extend(arrays::shared(d, self.sources));
                }
                // A variable in its own initialiser has no value yet.
                false if holds(d.span, self.at) => {}
                false => self.declare(&d.name, &d.ty, d.init.as_ref()),
            }
        }
    }

    fn block(&mut self, block: &ast::Block) {
        for s in &block.stmts {
            if s.span.start > self.at {
                return;
            }
            if holds(s.span, self.at) {
                self.site.statements.push(s.span);
                self.stmt(s);
                return;
            }
            if let StmtKind::Vars(vars) = &s.kind {
                self.vars(vars);
            }
        }
    }

    /// The way down to the place, through the statement that holds it.
    fn stmt(&mut self, s: &ast::Stmt) {
        match &s.kind {
            StmtKind::Block(b) => self.block(b),
            StmtKind::Vars(vars) => self.vars(vars),
            StmtKind::If { init, then, otherwise, .. } => {
                self.init(init.as_deref());
                self.inner(then);
                if let Some(o) = otherwise {
                    self.inner(o);
                }
            }
            StmtKind::For { init, body, .. } => {
                self.init(init.as_deref());
                self.inner(body);
            }
            StmtKind::RangeFor { decl, body, .. } => {
                self.vars(decl);
                self.inner(body);
            }
            StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::Switch { body, .. } => {
                self.inner(body);
            }
            _ => {}
        }
    }

    fn init(&mut self, init: Option<&ast::Stmt>) {
        if let Some(ast::Stmt { kind: StmtKind::Vars(vars), .. }) = init {
            self.vars(vars);
        }
    }

    fn inner(&mut self, s: &ast::Stmt) {
        if holds(s.span, self.at) {
            self.stmt(s);
        }
    }
}

/// Subscripts of the arrays in a function, without effects, each once.
fn subscripts(body: &ast::Block, arrays: &[SharedArray], sources: &SourceMap) -> Vec<Subscript> {
    let mut all: Vec<Subscript> = vec![];
    walk::block(body, &mut |e| {
        let mut indices = vec![];
        let mut at = e;
        while let ExprKind::Index { base, index } = &*at.kind {
            indices.push(index);
            at = base;
        }
        let ExprKind::Path(path) = &*at.kind else { return };
        let Some(array) = path.as_name().and_then(|n| arrays.iter().find(|a| a.name == n)) else {
            return;
        };
        if indices.len() != array.rank {
            return;
        }
        for (dimension, index) in indices.iter().rev().enumerate() {
            let text = sources.text(index.span).to_string();
            let found = Subscript { array: array.name.clone(), dimension, text };
            if pure(index) && !all.contains(&found) {
                all.push(found);
            }
        }
    });
    all
}

fn pure(e: &ast::Expr) -> bool {
    let mut pure = true;
    walk::expr(e, &mut |e| {
        pure &= !matches!(
            &*e.kind,
            ExprKind::IncDec { .. }
                | ExprKind::Assign { .. }
                | ExprKind::Call { .. }
                | ExprKind::Index { .. }
        );
    });
    pure
}

/// The words of a text that no member access brings: names that must be in scope.
pub fn names(text: &str) -> Vec<String> {
    let tokens = marks::tokens(text);
    let word = |t: &Tok| t.piece == Piece::Word;
    let mut all: Vec<String> = vec![];
    for (i, t) in tokens.iter().enumerate() {
        let member = i > 0
            && (tokens[i - 1].piece == Piece::Other(b'.')
                || i > 1
                    && tokens[i - 1].piece == Piece::Other(b'>')
                    && tokens[i - 2].piece == Piece::Other(b'-'));
        let name = &text[t.at.clone()];
        if word(t) && !member && !all.iter().any(|n| n == name) {
            all.push(name.to_string());
        }
    }
    all
}

/// Named integer constants of a file that a text uses, in order of use: macros, and constants at file level.
pub fn constants(unit: &TranslationUnit, text: &str) -> Vec<String> {
    let known = |n: &String| integer_macro(unit, n, 0) || is_constant(&unit.items, n, false);
    names(text).into_iter().filter(known).collect()
}

/// Whether a name with namespaces before it is an integer constant of one.
pub fn is_qualified_constant(unit: &TranslationUnit, text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    text.rsplit_once("::").is_some_and(|(before, name)| {
        before.chars().all(plain) && is_constant(&unit.items, name, true)
    })
}

/// Whether a name is an integer constant outside of all functions; `inside`: also in namespaces.
pub(super) fn is_constant(items: &[ast::Item], name: &str, inside: bool) -> bool {
    items.iter().any(|item| match &item.kind {
        ItemKind::Vars(v) => {
            let d = v.declarators.iter().find(|d| d.name == name);
            d.is_some_and(|d| {
                let fixed = v.attrs.is_constexpr || d.ty.is_const;
                let integer = matches!(&d.ty.kind, TypeKind::Builtin(w) if !w.iter().any(|w| matches!(w.as_str(), "float" | "double")));
                fixed && integer && !v.attrs.shared && !v.attrs.constant
            })
        }
        ItemKind::Enum(e) => e.variants.iter().any(|(n, _, _)| n == name),
        ItemKind::Namespace { items, .. } => inside && is_constant(items, name, inside),
        _ => false,
    })
}

fn integer_macro(unit: &TranslationUnit, name: &str, depth: u32) -> bool {
    let Some(value) = unit.macros.get(name) else { return false };
    let tokens = marks::tokens(value);
    let fine = |t: &Tok| match t.piece {
        Piece::Number => {
            !value[t.at.clone()].contains(['.', 'f', 'F']) || value[t.at.clone()].starts_with("0x")
        }
        Piece::Word => integer_macro(unit, &value[t.at.clone()], depth + 1),
        Piece::Other(b) => b"()+-*/%<>&|~".contains(&b),
        _ => false,
    };
    depth < 8 && !tokens.is_empty() && tokens.iter().all(fine)
}

/// Functions of a file with a name, in namespaces, too, that have a body and are no kernels.
pub fn device_functions<'a>(items: &'a [ast::Item], name: &str) -> Vec<&'a ast::FunctionDecl> {
    let mut all = vec![];
    for item in items {
        match &item.kind {
            ItemKind::Function(f) if !f.attrs.global && f.body.is_some() => {
                let own = matches!(&f.name, ast::FunctionName::Plain(p)
                    if p.segments.last().is_some_and(|s| s.name == name));
                all.extend(own.then_some(f));
            }
            ItemKind::Namespace { items, .. } => all.extend(device_functions(items, name)),
            _ => {}
        }
    }
    all
}

/// The names in a function's body.
fn mentioned(body: &ast::Block) -> HashSet<String> {
    let mut all = HashSet::new();
    walk::block(body, &mut |e| {
        if let ExprKind::Path(path) = &*e.kind {
            all.extend(path.as_name().map(str::to_string));
        }
    });
    all
}

/// An expression without the parentheses around it.
pub fn plain(e: &ast::Expr) -> &ast::Expr {
    match &*e.kind {
        ExprKind::Paren(inner) => plain(inner),
        _ => e,
    }
}

/// What variables are declared as, by name: once for each declaration, `None` without a plain initialiser.
pub fn declared(body: &ast::Block) -> HashMap<String, Vec<Option<ast::Expr>>> {
    let mut all: HashMap<String, Vec<Option<ast::Expr>>> = HashMap::new();
    each_vars(&body.stmts, &mut |vars| {
        for d in &vars.declarators {
            let init = match &d.init {
                Some(Initializer::Expr(e)) => Some(e.clone()),
                _ => None,
            };
            all.entry(d.name.clone()).or_default().push(init);
        }
    });
    all
}

/// Shows all declarations of statements, at any depth.
pub fn each_vars(stmts: &[ast::Stmt], see: &mut dyn FnMut(&ast::VarDecl)) {
    each_stmt(stmts, &mut |s| match &s.kind {
        StmtKind::Vars(vars) | StmtKind::RangeFor { decl: vars, .. } => see(vars),
        _ => {}
    });
}

/// Shows all statements, at any depth.
pub fn each_stmt(stmts: &[ast::Stmt], see: &mut dyn FnMut(&ast::Stmt)) {
    for s in stmts {
        see(s);
        let mut inner = |s: &ast::Stmt| each_stmt(std::slice::from_ref(s), see);
        match &s.kind {
            StmtKind::Block(b) => each_stmt(&b.stmts, see),
            StmtKind::If { init, then, otherwise, .. } => {
                init.iter().for_each(|i| inner(i));
                inner(then);
                otherwise.iter().for_each(|o| inner(o));
            }
            StmtKind::For { init, body, .. } => {
                init.iter().for_each(|i| inner(i));
                inner(body);
            }
            StmtKind::RangeFor { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::DoWhile { body, .. }
            | StmtKind::Switch { body, .. } => inner(body),
            _ => {}
        }
    }
}

/// Names that lambdas and declarations of types in a body have for something of their own, so that they hide those of the file.
pub fn hiding(body: &ast::Block) -> HashSet<String> {
    let mut all = HashSet::new();
    each_stmt(&body.stmts, &mut |s| {
        let StmtKind::Item(item) = &s.kind else { return };
        match &item.0.kind {
            ItemKind::Struct(s) => all.extend(s.name.clone()),
            ItemKind::Alias(a) => all.extend([a.name.clone()]),
            ItemKind::Enum(e) => all.extend(e.variants.iter().map(|(name, ..)| name.clone())),
            _ => {}
        }
    });
    walk::block(body, &mut |e| {
        if let ExprKind::Lambda(lambda) = &*e.kind {
            all.extend(lambda.params.iter().filter_map(|p| p.name.clone()));
            each_vars(&lambda.body.stmts, &mut |vars| {
                all.extend(vars.declarators.iter().map(|d| d.name.clone()));
            });
        }
    });
    all
}
