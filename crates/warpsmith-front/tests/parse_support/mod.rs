//! Prints a syntax tree as short text that tests can compare, and runs the parser on texts.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use warpsmith_front::ast::*;
use warpsmith_front::parse::{FileLoader, Language, ParseOptions, ParsedUnit, parse};
use warpsmith_ir::{Diagnostic, SourceMap};

/// Files in memory.
#[derive(Default)]
pub struct Files(pub BTreeMap<PathBuf, Vec<u8>>);

impl FileLoader for Files {
    fn load(&self, path: &FilePath) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

pub fn files(list: &[(&str, &str)]) -> Files {
    Files(list.iter().map(|(p, t)| (PathBuf::from(p), t.as_bytes().to_vec())).collect())
}

pub fn run(
    text: &str,
    language: Language,
    files: &Files,
) -> (Result<ParsedUnit, Vec<Diagnostic>>, SourceMap) {
    let mut sources = SourceMap::new();
    let name = if language == Language::C { "t.c" } else { "t.cu" };
    let result = parse(name, text.as_bytes(), &ParseOptions::new(language), files, &mut sources);
    (result, sources)
}

pub fn rendered(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|d| d.render(sources, false) + "\n").collect()
}

/// The parsed unit; fails the test with the rendered diagnostics.
pub fn unit(text: &str, language: Language) -> (ParsedUnit, SourceMap) {
    let (result, sources) = run(text, language, &Files::default());
    match result {
        Ok(parsed) => (parsed, sources),
        Err(errors) => panic!("{}", rendered(&errors, &sources)),
    }
}

/// The rendered errors of a text that must not parse.
pub fn errors(text: &str, language: Language) -> String {
    let (result, sources) = run(text, language, &Files::default());
    match result {
        Ok(parsed) => panic!("parsed: {}", show(&parsed.unit)),
        Err(errors) => rendered(&errors, &sources),
    }
}

pub fn show(unit: &TranslationUnit) -> String {
    let mut p = Printer::default();
    p.items(&unit.items);
    p.out
}

/// The statements of the first function with a body.
pub fn show_body(text: &str) -> String {
    let (parsed, _) = unit(text, Language::Cuda);
    let body = parsed.unit.items.iter().find_map(|i| match &i.kind {
        ItemKind::Function(f) => f.body.as_ref(),
        _ => None,
    });
    let mut p = Printer::default();
    p.block(body.expect("a function with a body"));
    p.out
}

#[derive(Default)]
struct Printer {
    out: String,
    depth: usize,
}

fn join(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(", ")
}

pub fn path(p: &Path) -> String {
    let segments = p.segments.iter().map(segment).collect::<Vec<_>>().join("::");
    format!("{}{segments}", if p.global { "::" } else { "" })
}

fn segment(s: &PathSegment) -> String {
    match &s.args {
        None => s.name.clone(),
        Some(args) => format!("{}<{}>", s.name, join(args.iter().map(template_arg))),
    }
}

fn template_arg(a: &TemplateArg) -> String {
    match a {
        TemplateArg::Type(t) => format!("type {}", ty(t)),
        TemplateArg::Value(e) => format!("value {}", expr(e)),
        TemplateArg::Name(p) => path(p),
        TemplateArg::Each(of, _) => format!("{}...", template_arg(of)),
    }
}

pub fn ty(t: &TypeName) -> String {
    let mut s = String::new();
    if t.is_const {
        s += "const ";
    }
    if t.is_volatile {
        s += "volatile ";
    }
    s + &match &t.kind {
        TypeKind::DecltypeAuto => "decltype(auto)".to_string(),
        TypeKind::Void => "void".into(),
        TypeKind::Auto => "auto".into(),
        TypeKind::Builtin(words) => words.join("_"),
        TypeKind::Named(p) => path(p),
        TypeKind::Pointer { to, restrict } => {
            format!("ptr{}({})", if *restrict { "!" } else { "" }, ty(to))
        }
        TypeKind::Reference { to, rvalue } => {
            format!("ref{}({})", if *rvalue { "&&" } else { "" }, ty(to))
        }
        TypeKind::Array { element, extent } => {
            format!("array({}, {})", extent.as_deref().map_or("?".into(), expr), ty(element))
        }
        TypeKind::Function { ret, params } => {
            format!("fn({}) -> {}", join(params.iter().map(param)), ty(ret))
        }
        TypeKind::Decltype(e) => format!("decltype({})", expr(e)),
        TypeKind::Inline(_) => "inline".into(),
    }
}

fn param(p: &Param) -> String {
    let default = p.default.as_ref().map_or(String::new(), |d| format!(" = {}", expr(d)));
    format!("{}: {}{default}", p.name.as_deref().unwrap_or("_"), ty(&p.ty))
}

fn init(i: &Initializer) -> String {
    match i {
        Initializer::Expr(e) => expr(e),
        Initializer::List(items, _) => format!("{{{}}}", join(items.iter().map(item))),
        Initializer::Call(args, _) => format!("call({})", join(args.iter().map(expr))),
    }
}

fn item(i: &InitItem) -> String {
    match &i.designator {
        None => init(&i.value),
        Some(Designator::Field(f)) => format!(".{f} = {}", init(&i.value)),
        Some(Designator::Index(e)) => format!("[{}] = {}", expr(e), init(&i.value)),
    }
}

pub fn expr(e: &Expr) -> String {
    match &*e.kind {
        ExprKind::Number(n) => n.clone(),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Char(c) => format!("char {c}"),
        ExprKind::Str(s) => format!("{s:?}"),
        ExprKind::NullPtr => "null".into(),
        ExprKind::This => "this".into(),
        ExprKind::Path(p) => path(p),
        ExprKind::Paren(e) => format!("paren {}", expr(e)),
        ExprKind::Unary { op, operand } => format!("({op} {})", expr(operand)),
        ExprKind::IncDec { op, prefix: true, operand } => format!("({op}_ {})", expr(operand)),
        ExprKind::IncDec { op, operand, .. } => format!("(_{op} {})", expr(operand)),
        ExprKind::Binary { op, left, right } => format!("({op} {} {})", expr(left), expr(right)),
        ExprKind::Assign { op, target, value } => {
            format!("({op} {} {})", expr(target), expr(value))
        }
        ExprKind::AssignList { target, items } => {
            format!("(= {} {{{}}})", expr(target), join(items.iter().map(item)))
        }
        ExprKind::Conditional { cond, then, otherwise } => {
            format!("(? {} {} {})", expr(cond), expr(then), expr(otherwise))
        }
        ExprKind::Comma(a, b) => format!("(, {} {})", expr(a), expr(b)),
        ExprKind::Call { callee, args } => {
            format!("{}({})", expr(callee), join(args.iter().map(expr)))
        }
        ExprKind::Launch { callee, config, args } => {
            format!(
                "{}<<<{}>>>({})",
                expr(callee),
                join(config.iter().map(expr)),
                join(args.iter().map(expr))
            )
        }
        ExprKind::Index { base, index } => format!("{}[{}]", expr(base), expr(index)),
        ExprKind::Member { base, arrow, member, .. } => {
            format!("{}{}{}", expr(base), if *arrow { "->" } else { "." }, segment(member))
        }
        ExprKind::Cast { style, ty: t, operand } => {
            format!("{style}_cast<{}>({})", ty(t), expr(operand))
        }
        ExprKind::Construct { ty: t, args, braces } => {
            format!(
                "make{} {}({})",
                if *braces { "{}" } else { "" },
                ty(t),
                join(args.iter().map(init))
            )
        }
        ExprKind::CompoundLiteral { ty: t, items } => {
            format!("literal {}{{{}}}", ty(t), join(items.iter().map(item)))
        }
        ExprKind::SizeofType(t) => format!("sizeof type {}", ty(t)),
        ExprKind::SizeofExpr(e) => format!("sizeof {}", expr(e)),
        ExprKind::Offset { ty: t, member } => format!("offsetof {} {member}", ty(t)),
        ExprKind::Otherwise { value, otherwise } => {
            format!("(?: {} {})", expr(value), expr(otherwise))
        }
        ExprKind::AlignofType(t) => format!("alignof {}", ty(t)),
        ExprKind::InitList(items) => format!("{{{}}}", join(items.iter().map(item))),
        ExprKind::Lambda(l) => {
            let mut p = Printer::default();
            p.block(&l.body);
            format!(
                "lambda [{}] ({}) {{ {} }}",
                l.captures.join(" "),
                join(l.params.iter().map(param)),
                p.out.trim().replace('\n', "; ")
            )
        }
        ExprKind::New(new) => {
            let place = new.place.as_ref().map_or(String::new(), |p| format!("({}) ", expr(p)));
            let count = new.count.as_ref().map_or(String::new(), |n| format!("[{}]", expr(n)));
            format!("new {place}{}{count}({})", ty(&new.ty), join(new.args.iter().map(expr)))
        }
        ExprKind::Delete { pointer, .. } => format!("delete {}", expr(pointer)),
        ExprKind::PackExpansion(e) => format!("{}...", expr(e)),
        ExprKind::Fold { op, operand, init, right } => {
            let init = init.as_ref().map_or(String::new(), |e| format!(" from {}", expr(e)));
            format!("fold{}({op} {}{init})", if *right { "r" } else { "l" }, expr(operand))
        }
        ExprKind::PackLength(e) => format!("sizeof...({})", expr(e)),
        ExprKind::Requires(asked) => {
            format!(
                "requires({})",
                asked.valid.iter().chain(&asked.holds).map(expr).collect::<Vec<_>>().join("; ")
            )
        }
        ExprKind::Unsupported { what } => format!("unsupported[{what}]"),
    }
}

fn attrs(a: &Attrs) -> String {
    let flags = [
        ("global", a.global),
        ("device", a.device),
        ("host", a.host),
        ("shared", a.shared),
        ("constant", a.constant),
        ("managed", a.managed),
        ("static", a.is_static),
        ("extern", a.is_extern),
        ("inline", a.is_inline),
        ("constexpr", a.is_constexpr),
    ];
    let mut s: String =
        flags.iter().filter(|(_, on)| *on).map(|(name, _)| format!("{name} ")).collect();
    if let Some(e) = &a.align {
        let _ = write!(s, "align({}) ", expr(e));
    }
    if !a.launch_bounds.is_empty() {
        let _ = write!(s, "bounds({}) ", join(a.launch_bounds.iter().map(expr)));
    }
    s
}

fn vars(v: &VarDecl) -> String {
    let list = v.declarators.iter().map(|d| {
        let init = d.init.as_ref().map_or(String::new(), |i| format!(" = {}", init(i)));
        let bits = d.bits.as_ref().map_or(String::new(), |b| format!(" bits {}", expr(b)));
        format!("{}: {}{bits}{init}", d.name, ty(&d.ty))
    });
    format!("{}{}", attrs(&v.attrs), join(list))
}

fn header(t: &TemplateHeader) -> String {
    let params = t.params.iter().map(|p| {
        let pack = if p.pack { "..." } else { "" };
        let name = p.name.as_deref().unwrap_or("_");
        match &p.kind {
            TemplateParamKind::Type { default } => {
                format!(
                    "type{pack} {name}{}",
                    default.as_ref().map_or(String::new(), |d| format!(" = {}", ty(d)))
                )
            }
            TemplateParamKind::Value { ty: t, default } => format!(
                "value{pack} {name}: {}{}",
                ty(t),
                default.as_ref().map_or(String::new(), |d| format!(" = {}", expr(d)))
            ),
            TemplateParamKind::Template { .. } => format!("template {name}"),
        }
    });
    format!("template<{}> ", join(params))
}

impl Printer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(self.depth));
    }

    fn nested(&mut self, f: impl FnOnce(&mut Printer)) {
        self.depth += 1;
        f(self);
        self.depth -= 1;
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Function(f) => self.function(f),
            ItemKind::Axiom(e) => self.line(&format!("axiom {}", expr(e))),
            ItemKind::Vars(v) => self.line(&format!("vars {}", vars(v))),
            ItemKind::Struct(s) => self.structure(s),
            ItemKind::Enum(e) => self.enumeration(e),
            ItemKind::Alias(a) => self.line(&format!(
                "alias {}{} = {}",
                a.template.as_ref().map_or(String::new(), header),
                a.name,
                ty(&a.ty)
            )),
            ItemKind::Namespace { name, items } => {
                self.line(&format!("namespace {}", name.as_deref().unwrap_or("_")));
                self.nested(|p| p.items(items));
            }
            ItemKind::File(items) => {
                self.line("file");
                self.nested(|p| p.items(items));
            }
            ItemKind::Using { path, namespace } => {
                self.line(&format!(
                    "using {}{}",
                    if *namespace { "namespace " } else { "" },
                    path.join("::")
                ));
            }
            ItemKind::StaticAssert(e) => self.line(&format!("static_assert {}", expr(e))),
            ItemKind::Pragma(p) => self.line(&format!("pragma {p}")),
            ItemKind::Unsupported { what } => self.line(&format!("unsupported[{what}]")),
        }
    }

    fn function(&mut self, f: &FunctionDecl) {
        let name = match &f.name {
            FunctionName::Plain(p) => path(p),
            FunctionName::Operator(op) => format!("operator {op}"),
            FunctionName::Conversion(t) => format!("operator type {}", ty(t)),
            FunctionName::Constructor => "constructor".into(),
            FunctionName::Destructor => "destructor".into(),
        };
        let template = f.template.as_ref().map_or(String::new(), header);
        let ret = f.ret.as_ref().map_or(String::new(), |t| format!(" -> {}", ty(t)));
        let rest = if f.is_const { " const" } else { "" };
        let more = if f.variadic { ", ..." } else { "" };
        let inits =
            join(f.inits.iter().map(|(n, a, _)| format!("{n}({})", join(a.iter().map(expr)))));
        let inits = if inits.is_empty() { inits } else { format!(" : {inits}") };
        let end = if f.body.is_none() { ";" } else { "" };
        self.line(&format!(
            "{template}{}fn {name}({}{more}){rest}{ret}{inits}{end}",
            attrs(&f.attrs),
            join(f.params.iter().map(param))
        ));
        if let Some(body) = &f.body {
            self.nested(|p| p.block(body));
        }
    }

    fn structure(&mut self, s: &StructDecl) {
        let template = s.template.as_ref().map_or(String::new(), header);
        let args = s
            .specialisation
            .as_ref()
            .map_or(String::new(), |a| format!("<{}>", join(a.iter().map(template_arg))));
        let kind = if s.is_union { "union" } else { "struct" };
        let align = s.align.as_ref().map_or(String::new(), |a| format!(" align({})", expr(a)));
        let bases = if s.bases.is_empty() {
            String::new()
        } else {
            format!(
                " : {}",
                join(s.bases.iter().map(|b| ty(&b.ty) + if b.expands { "..." } else { "" }))
            )
        };
        self.line(&format!(
            "{template}{kind} {}{args}{align}{bases}",
            s.name.as_deref().unwrap_or("_")
        ));
        for member in s.members.iter().flatten() {
            self.nested(|p| match member {
                Member::Field(v) => {
                    p.line(&format!("field {}", vars(v)));
                    for d in &v.declarators {
                        if let TypeKind::Inline(inner) = &d.ty.kind {
                            p.nested(|p| p.inline(inner));
                        }
                    }
                }
                Member::Method(f) => p.function(f),
                Member::Struct(s) => p.structure(s),
                Member::Enum(e) => p.enumeration(e),
                Member::Alias(a) => p.line(&format!("alias {} = {}", a.name, ty(&a.ty))),
                Member::StaticAssert(e) => p.line(&format!("static_assert {}", expr(e))),
                Member::Using(name) => p.line(&format!("using {}", path(name))),
                Member::Unsupported { what, .. } => p.line(&format!("unsupported[{what}]")),
            });
        }
    }

    fn inline(&mut self, inner: &InlineType) {
        match inner {
            InlineType::Struct(s) => self.structure(s),
            InlineType::Enum(e) => self.enumeration(e),
        }
    }

    fn enumeration(&mut self, e: &EnumDecl) {
        let variants = e.variants.iter().map(|(n, v, _)| match v {
            None => n.clone(),
            Some(v) => format!("{n} = {}", expr(v)),
        });
        let base = e.underlying.as_ref().map_or(String::new(), |t| format!(" : {}", ty(t)));
        let scoped = if e.scoped { " class" } else { "" };
        self.line(&format!(
            "enum{scoped} {}{base} {{{}}}",
            e.name.as_deref().unwrap_or("_"),
            join(variants)
        ));
    }

    fn block(&mut self, b: &Block) {
        for s in &b.stmts {
            self.stmt(s);
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        for p in &s.pragmas {
            self.line(&format!("#{}", p.text));
        }
        match &s.kind {
            StmtKind::Empty => self.line("empty"),
            StmtKind::Expr(e) => self.line(&expr(e)),
            StmtKind::Vars(v) => {
                self.line(&format!("let {}", vars(v)));
                for d in &v.declarators {
                    if let TypeKind::Inline(inner) = &d.ty.kind {
                        self.nested(|p| p.inline(inner));
                    }
                }
            }
            StmtKind::Block(b) => {
                self.line("block");
                self.nested(|p| p.block(b));
            }
            StmtKind::If { constexpr, init, cond, then, otherwise } => {
                self.line(&format!(
                    "if{} {}",
                    if *constexpr { " constexpr" } else { "" },
                    expr(cond)
                ));
                self.nested(|p| {
                    if let Some(i) = init {
                        p.line("init");
                        p.nested(|p| p.stmt(i));
                    }
                    p.stmt(then);
                    if let Some(o) = otherwise {
                        p.line("else");
                        p.stmt(o);
                    }
                });
            }
            StmtKind::For { init, cond, step, body } => {
                let part = |e: &Option<Expr>| e.as_ref().map_or("-".into(), expr);
                self.line(&format!("for {}; {}", part(cond), part(step)));
                self.nested(|p| {
                    if let Some(i) = init {
                        p.stmt(i);
                    }
                    p.line("do");
                    p.stmt(body);
                });
            }
            StmtKind::RangeFor { decl, range, body } => {
                self.line(&format!("for {} in {}", vars(decl), expr(range)));
                self.nested(|p| p.stmt(body));
            }
            StmtKind::While { cond, body } => {
                self.line(&format!("while {}", expr(cond)));
                self.nested(|p| p.stmt(body));
            }
            StmtKind::DoWhile { body, cond } => {
                self.line(&format!("do while {}", expr(cond)));
                self.nested(|p| p.stmt(body));
            }
            StmtKind::Switch { selector, body } => {
                self.line(&format!("switch {}", expr(selector)));
                self.nested(|p| p.stmt(body));
            }
            StmtKind::Case(e) => self.line(&format!("case {}", expr(e))),
            StmtKind::Default => self.line("default"),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(v) => {
                self.line(&format!("return {}", v.as_ref().map_or(String::new(), init)))
            }
            StmtKind::Goto(l) => self.line(&format!("goto {l}")),
            StmtKind::LabelDef(l) => self.line(&format!("label {l}")),
            StmtKind::Item(i) => self.item(&i.0),
            StmtKind::Asm { template, operands } => {
                let constraints: Vec<&str> =
                    operands.iter().map(|o| o.constraint.as_str()).collect();
                self.line(&format!("asm {template:?} {constraints:?}"));
            }
            StmtKind::Unsupported { what } => self.line(&format!("unsupported[{what}]")),
        }
    }
}
