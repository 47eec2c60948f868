//! Host functions that launch several kernels one after the other, or clear arrays before: what each launch gets.

use std::collections::{BTreeMap, BTreeSet};

use warpsmith_front::ast::{
    Block, Expr, ExprKind, FunctionDecl, FunctionName, Initializer, Item, ItemKind, StmtKind,
    TranslationUnit, TypeKind,
};
use warpsmith_front::sema::walk;
use warpsmith_ir::Span;

use super::host_numbers::HostLaunch;
use super::host_text::{self, path_name, plain};

/// A host function whose launches and clearings stand in a row.
#[derive(Clone, Debug)]
pub struct HostRun {
    pub name: String,
    /// Its parameters that are whole numbers.
    pub sizes: Vec<String>,
    pub steps: Vec<HostStep>,
    /// A launch inside of a loop or a condition, if there is one.
    pub tangled: Option<Span>,
    /// It has arrays among its parameters.
    has_arrays: bool,
    /// A launch gets a pointer of which the text alone does not tell what it points to.
    unknown: bool,
    /// Functions that it calls.
    calls: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub enum HostStep {
    Launch {
        kernel: String,
        launch: Box<HostLaunch>,
        span: Span,
    },
    /// `cudaMemset(array, value, …)`.
    Fill {
        array: String,
        value: u8,
    },
}

/// What the host passes for a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A variable that holds an array, or a size that nothing is computed for.
    Name(String),
    /// Something that is computed from sizes.
    Value,
    /// Nobody can tell which array.
    Unknown,
}

/// The host functions that launch something.
pub fn runs(unit: &TranslationUnit) -> Vec<HostRun> {
    let mut all = vec![];
    each_function(&unit.items, &mut |f| {
        let Some(body) = &f.body else { return };
        let (mut launches, mut steps, mut spans) = (0, vec![], vec![]);
        walk::block(body, &mut |e| {
            if let ExprKind::Launch { .. } = &*e.kind {
                launches += 1;
                spans.push(e.span);
            }
        });
        if launches == 0 {
            return;
        }
        in_a_row(body, body, &mut steps);
        let found = |s: &Span| {
            steps.iter().any(|step| matches!(step, HostStep::Launch { span, .. } if span == s))
        };
        let tangled = spans.iter().find(|s| !found(s)).copied();
        let whole = |p: &warpsmith_front::ast::Param| {
            let is_int = match &p.ty.kind {
                TypeKind::Builtin(words) => !words.iter().any(|w| w == "float" || w == "double"),
                TypeKind::Named(path) => {
                    path.segments.last().is_some_and(|s| s.name.ends_with("_t"))
                }
                _ => false,
            };
            p.name.clone().filter(|_| is_int)
        };
        let sizes = f.params.iter().filter_map(whole).collect();
        let name = match &f.name {
            FunctionName::Plain(p) => p.segments.last().map_or(String::new(), |s| s.name.clone()),
            _ => String::new(),
        };
        let calls = calls_of(body);
        let is_array =
            |ty: &TypeKind| matches!(ty, TypeKind::Pointer { .. } | TypeKind::Array { .. });
        let has_arrays = f.params.iter().any(|p| is_array(&p.ty.kind));
        let mut run = HostRun { name, sizes, steps, tangled, has_arrays, unknown: false, calls };
        run.unknown = run.passes_unknown(unit);
        all.push(run);
    });
    all
}

fn calls_of(body: &Block) -> BTreeSet<String> {
    let mut calls = BTreeSet::new();
    walk::block(body, &mut |e| {
        if let ExprKind::Call { callee, .. } = &*e.kind {
            calls.extend(path_name(callee).map(str::to_string));
        }
    });
    calls
}

impl HostRun {
    fn passes_unknown(&self, unit: &TranslationUnit) -> bool {
        self.steps.iter().any(|step| {
            let HostStep::Launch { kernel, launch, .. } = step else { return false };
            let mut all = params(unit, kernel).into_iter().enumerate();
            all.any(|(at, param)| {
                param.array && launch.passed(unit, at, true, &self.sizes) == Passed::Unknown
            })
        })
    }
}

/// Functions of the host that launch kernels, themselves or through others.
pub fn launching(unit: &TranslationUnit) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = runs(unit).into_iter().map(|r| r.name).collect();
    let mut callers: Vec<(String, BTreeSet<String>)> = vec![];
    each_function(&unit.items, &mut |f| {
        let (Some(body), FunctionName::Plain(path)) = (&f.body, &f.name) else { return };
        let Some(name) = path.segments.last().map(|s| s.name.clone()) else { return };
        callers.push((name, calls_of(body)));
    });
    loop {
        let before = found.len();
        for (name, calls) in &callers {
            if !calls.is_disjoint(&found) {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The function that is to be run to know what it launches: the only one that no other of them calls, where its launches
/// stand in loops or conditions, or it calls others that launch, or nothing but a run tells which arrays kernels get, or how much
/// of an array is cleared.
pub fn to_be_run(unit: &TranslationUnit) -> Option<String> {
    let runs = runs(unit);
    let launching = launching(unit);
    let called = |name: &str| runs.iter().any(|r| r.name != name && r.calls.contains(name));
    let roots: Vec<&HostRun> =
        runs.iter().filter(|r| r.name != "main" && !called(&r.name)).collect();
    let [run] = roots.as_slice() else { return None };
    let through_others = !run.calls.is_disjoint(&launching);
    let clears = run.steps.iter().any(|step| matches!(step, HostStep::Fill { .. }));
    let needed = run.tangled.is_some() || run.unknown || through_others || clears;
    (needed && run.has_arrays).then(|| run.name.clone())
}

fn each_function<'a>(items: &'a [Item], see: &mut dyn FnMut(&'a FunctionDecl)) {
    for item in items {
        match &item.kind {
            ItemKind::Function(f) if !f.attrs.global => see(f),
            ItemKind::Namespace { items, .. } | ItemKind::File(items) => each_function(items, see),
            _ => {}
        }
    }
}

/// Launches and clearings that are statements of the body, not of loops or conditions in it.
fn in_a_row(body: &Block, within: &Block, steps: &mut Vec<HostStep>) {
    for s in &within.stmts {
        match &s.kind {
            StmtKind::Block(inner) => in_a_row(body, inner, steps),
            StmtKind::Expr(e) => match &*e.kind {
                ExprKind::Launch { callee, config, args } => {
                    let launch = HostLaunch::of(body, config, args);
                    steps.extend(path_name(callee).map(|kernel| HostStep::Launch {
                        kernel: kernel.to_string(),
                        launch: launch.into(),
                        span: e.span,
                    }));
                }
                _ => steps.extend(cleared(e)),
            },
            _ => {}
        }
    }
}

/// `cudaMemset(array, 0, …)`, also inside of the macros and functions that check calls.
fn cleared(e: &Expr) -> Option<HostStep> {
    let ExprKind::Call { callee, args } = &*plain(e).kind else { return None };
    match path_name(callee)? {
        "cudaMemset" | "cudaMemsetAsync" => {
            let array = named(args.first()?)?;
            let ExprKind::Number(text) = &*plain(args.get(1)?).kind else { return None };
            let value = match text.strip_prefix("0x") {
                Some(hex) => u8::from_str_radix(hex, 16).ok()?,
                None => text.parse().ok()?,
            };
            Some(HostStep::Fill { array, value })
        }
        _ => args.iter().find_map(cleared),
    }
}

/// The variable that an argument is, perhaps as another type.
fn named(e: &Expr) -> Option<String> {
    match &*plain(e).kind {
        ExprKind::Cast { operand, .. } => named(operand),
        ExprKind::Path(_) => path_name(e).map(str::to_string),
        _ => None,
    }
}

impl HostLaunch {
    /// What is passed for a parameter; `array` where it is a pointer.
    pub fn passed(
        &self,
        unit: &TranslationUnit,
        at: usize,
        array: bool,
        sizes: &[String],
    ) -> Passed {
        let Some(arg) = self.args().get(at) else { return Passed::Unknown };
        let Some(name) = named(arg) else {
            return if array { Passed::Unknown } else { Passed::Value };
        };
        if array {
            return match self.is_fixed_pointer(&name) {
                true => Passed::Name(name),
                false => Passed::Unknown,
            };
        }
        // A constant is a size that may be another one only where the function has none.
        let constant = self.number(unit, &BTreeMap::new(), at).is_some();
        let free = match sizes.contains(&name) {
            true => true,
            false if constant => sizes.is_empty(),
            false => !self.declares(&name),
        };
        match free {
            true => Passed::Name(name),
            false => Passed::Value,
        }
    }

    /// Whether a pointer of the function is one array all along: a parameter, or a variable that an allocation fills.
    fn is_fixed_pointer(&self, name: &str) -> bool {
        let mut fixed = true;
        host_text::each_declarator(self.body(), &mut |d| {
            let nothing = |init: &Initializer| match init {
                Initializer::Expr(e) => {
                    matches!(&*plain(e).kind, ExprKind::Number(_) | ExprKind::NullPtr)
                        || path_name(e).is_some_and(|n| n == "NULL" || n == "nullptr")
                }
                _ => false,
            };
            fixed &= d.name != name || d.init.as_ref().is_none_or(nothing);
        });
        walk::block(self.body(), &mut |e| {
            if let ExprKind::Assign { target, .. } = &*e.kind {
                fixed &= path_name(plain(target)) != Some(name);
            }
        });
        fixed
    }

    fn declares(&self, name: &str) -> bool {
        let mut found = false;
        host_text::each_declarator(self.body(), &mut |d| found |= d.name == name);
        found
    }
}

/// A parameter of a kernel in the text.
pub struct KernelParam {
    pub name: String,
    pub array: bool,
}

/// The parameters of a kernel, by its name without template arguments.
pub fn params(unit: &TranslationUnit, kernel: &str) -> Vec<KernelParam> {
    let Some(f) = kernel_named(&unit.items, kernel) else { return vec![] };
    let array = |ty: &TypeKind| matches!(ty, TypeKind::Pointer { .. } | TypeKind::Array { .. });
    let one = |p: &warpsmith_front::ast::Param| KernelParam {
        name: p.name.clone().unwrap_or_default(),
        array: array(&p.ty.kind),
    };
    f.params.iter().map(one).collect()
}

fn kernel_named<'a>(items: &'a [Item], name: &str) -> Option<&'a FunctionDecl> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Function(f) if f.attrs.global => match &f.name {
            FunctionName::Plain(p) if p.segments.last().is_some_and(|s| s.name == name) => Some(f),
            _ => None,
        },
        ItemKind::Namespace { items, .. } | ItemKind::File(items) => kernel_named(items, name),
        _ => None,
    })
}
