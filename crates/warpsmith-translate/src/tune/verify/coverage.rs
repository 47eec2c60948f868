//! What of the emitted text the verification has run: every kernel, and every way out of each place where control divides.
//!
//! A path that no run took is one of which nothing was shown. Such a kernel is not handed out, unless the path hangs on
//! data, or only returns an error.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use warpsmith_ir::{
    BinaryOp, Block, Case, Expr, ExprKind, FuncId, Function, FunctionKind, Module, Place,
    SourceMap, Span, StmtKind, Turn, VarId, Way, visit,
};
use warpsmith_opt::walk;

use super::by_data::ByData;
use super::ranges::{above, range};

/// What a program has that can be run, and which run was the first to do so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The launcher first, then functions in the order of the file.
    functions: Vec<Covered>,
}

/// A function of the emitted text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Covered {
    name: String,
    kernel: bool,
    host: bool,
    /// The first run of a kernel.
    run: Option<String>,
    /// Where the host launches a kernel.
    launches: Vec<Span>,
    paths: Vec<Path>,
}

/// One way out of a place where control divides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Path {
    way: Way,
    what: What,
    /// What is run on this way alone.
    arm: Option<Span>,
    /// The first run that took it.
    run: Option<String>,
    /// Why it need not be run.
    excused: Option<Excuse>,
}

/// What divides control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    If,
    Loop,
    Choice,
    Case,
    NoCase,
}

/// Why a path may be handed out that was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excuse {
    /// Contents of arrays, reals or given arguments decide.
    Data,
    /// The launcher returns an error there and launches nothing.
    Error,
    /// The launcher does nothing there.
    Nothing,
    /// No size from 0 on takes it.
    NoSize,
    /// All sizes that there are were run, and none takes it.
    Impossible,
    /// The user's own code, which goes this way at no size that was tried.
    Source,
    /// Of the only size some blocks were run, at corners, edges and inside, and none takes it.
    Sampled,
}

impl Excuse {
    fn text(self) -> &'static str {
        match self {
            Excuse::Data => "data decide, and those that were tried do not",
            Excuse::Error => "an error is returned there, and nothing is launched",
            Excuse::Nothing => "nothing is done there",
            Excuse::NoSize => "no size from 0 on takes it",
            Excuse::Impossible => "the only sizes that there are never take it",
            Excuse::Source => "the C function does not go there either at any size that was tried",
            Excuse::Sampled => "the blocks that were run of the only sizes do not take it",
        }
    }
}

impl Covered {
    /// Why a path need not be run: for a reason of its own, or as it stands on a way that need not be run and was not.
    fn excuse(&self, path: &Path) -> Option<Excuse> {
        path.excused.or_else(|| self.excuse_at(path.way.span))
    }

    /// Why what stands there need not be run: it is on a way that need not be run and was not.
    fn excuse_at(&self, span: Span) -> Option<Excuse> {
        let around = |p: &&Path| {
            let holds =
                |arm: Span| arm.file == span.file && arm.start <= span.start && span.end <= arm.end;
            p.run.is_none() && p.excused.is_some() && p.arm.is_some_and(holds)
        };
        self.paths.iter().find(around).and_then(|p| p.excused)
    }
}

impl Coverage {
    /// Nothing was run yet. `given` are parameters of the launcher with one value for all runs.
    pub fn of(module: &Module, launcher: FuncId, given: &[String]) -> Coverage {
        let by_data = ByData::new(module, launcher, given);
        let mut ids = reachable(module, launcher);
        ids.sort_by_key(|id| (*id != launcher, *id));
        let functions = ids.into_iter().map(|id| {
            let function = module.function(id);
            let fixed = fixed_vars(function);
            let mut paths = Paths { id, by_data: &by_data, fixed, found: vec![] };
            paths.of(function);
            let (kernel, host) =
                (function.kind == FunctionKind::Kernel, function.kind == FunctionKind::Host);
            let (name, launches) = (function.name.clone(), launches_of(module, id));
            Covered { name, kernel, host, run: None, launches, paths: paths.found }
        });
        Coverage { functions: functions.collect() }
    }

    /// Takes down what a run did that none did before; true: something.
    pub fn add<'k>(
        &mut self,
        run: &str,
        kernels: impl Iterator<Item = &'k String>,
        ways: &BTreeSet<Way>,
    ) -> bool {
        let launched: BTreeSet<&String> = kernels.collect();
        let mut news = false;
        for function in &mut self.functions {
            if function.run.is_none() && launched.contains(&function.name) {
                (function.run, news) = (Some(run.to_string()), true);
            }
            for path in function.paths.iter_mut().filter(|p| p.run.is_none()) {
                if ways.contains(&path.way) {
                    (path.run, news) = (Some(run.to_string()), true);
                }
            }
        }
        news
    }

    /// Whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.missing().next().is_none()
    }

    /// What must be run and was not: kernels, and paths of those that were run.
    fn missing(&self) -> impl Iterator<Item = (&Covered, Option<&Path>)> {
        self.functions.iter().flat_map(|f| {
            let idle = f.kernel && f.run.is_none();
            let own = (idle && !self.need_not_launch(f)).then_some((f, None));
            let paths =
                f.paths.iter().filter(move |p| p.run.is_none() && f.excuse(p).is_none() && !idle);
            own.into_iter().chain(paths.map(move |p| (f, Some(p))))
        })
    }

    /// Whether a kernel is launched on ways alone that need not be run.
    fn need_not_launch(&self, kernel: &Covered) -> bool {
        let excused =
            |at: &Span| self.functions.iter().any(|f| f.host && f.excuse_at(*at).is_some());
        !kernel.launches.is_empty() && kernel.launches.iter().all(excused)
    }

    /// Whether a run could add something that launches these kernels and whose launcher takes these ways.
    pub fn may_gain<'k>(
        &self,
        kernels: impl Iterator<Item = &'k String>,
        ways: &BTreeSet<Way>,
    ) -> bool {
        let kernels: BTreeSet<&String> = kernels.collect();
        self.missing().any(|(f, path)| match path {
            Some(path) if f.host => ways.contains(&path.way),
            // Functions that kernels call are in all of them.
            _ => !f.kernel || kernels.contains(&f.name),
        })
    }

    /// Kernels that were not launched.
    pub fn idle(&self) -> Vec<String> {
        let idle = self.functions.iter().filter(|f| f.kernel && f.run.is_none());
        idle.map(|f| f.name.clone()).collect()
    }

    /// All sizes that there are were run: what is missing cannot be taken, or not by the blocks that were run.
    pub fn excuse_the_rest(&mut self, all_blocks: bool) {
        let excuse = if all_blocks { Excuse::Impossible } else { Excuse::Sampled };
        for path in self.functions.iter_mut().flat_map(|f| &mut f.paths) {
            if path.run.is_none() {
                path.excused.get_or_insert(excuse);
            }
        }
    }

    /// Excuses what the user wrote and no run of the C function takes either: the same condition in the same words.
    pub fn excuse_as_in(&mut self, source: &Coverage, texts: &SourceMap) {
        let untaken: BTreeSet<(String, Turn)> = source
            .functions
            .iter()
            .flat_map(|f| &f.paths)
            .filter(|p| p.run.is_none())
            .map(|p| (condition(texts, p.way.span), p.way.turn))
            .collect();
        for path in self.functions.iter_mut().filter(|f| !f.host).flat_map(|f| &mut f.paths) {
            let own = || untaken.contains(&(condition(texts, path.way.span), path.way.turn));
            if path.run.is_none() && path.excused.is_none() && own() {
                path.excused = Some(Excuse::Source);
            }
        }
    }

    /// What must be run and was not, one line each.
    pub fn lines_missing(&self, sources: &SourceMap) -> Vec<String> {
        self.missing().map(|(f, path)| line(f, path, sources)).collect()
    }

    /// What was not run, and why that is no fault, one line each.
    pub fn exceptions(&self, sources: &SourceMap) -> Vec<String> {
        let all = self.functions.iter().flat_map(|f| f.paths.iter().map(move |p| (f, p)));
        let excused = all.filter(|(_, p)| {
            let told = matches!(p.excused, Some(Excuse::Data | Excuse::Sampled | Excuse::Source));
            p.run.is_none() && told
        });
        excused.map(|(f, p)| line(f, Some(p), sources)).collect()
    }

    /// For `result.json`; `printed` is the same program as it was written, for the lines of its text.
    pub fn json(&self, printed: &Coverage, sources: &SourceMap) -> Value {
        let functions = self.functions.iter().zip(&printed.functions).map(|(f, there)| {
            let paths = f.paths.iter().zip(&there.paths).map(|(path, there)| {
                let span = there.way.span;
                let mut entry = json!({
                    "line": sources.line_column(span.file, span.start).0,
                    "path": path.name(),
                    "code": code(sources, path.way.span),
                });
                match (&path.run, f.excuse(path)) {
                    (Some(run), _) => entry["run"] = json!(run),
                    (None, excuse) => {
                        entry["not_run"] = json!(excuse.map_or("no run reached it", Excuse::text));
                    }
                }
                entry
            });
            let paths: Vec<Value> = paths.collect();
            let mut entry = json!({"name": f.name, "paths": paths});
            if f.kernel {
                entry["run"] = json!(f.run);
            }
            entry
        });
        let functions: Vec<Value> = functions.collect();
        json!({"complete": self.is_complete(), "functions": functions})
    }
}

/// `` `k`: `if (x > y)` taken ``.
fn line(f: &Covered, path: Option<&Path>, sources: &SourceMap) -> String {
    match path {
        None => format!("kernel `{}`", f.name),
        Some(p) => format!("`{}`: `{}` {}", f.name, code(sources, p.way.span), p.name()),
    }
}

/// What stands before the arms, without blanks and parentheses.
fn condition(sources: &SourceMap, span: Span) -> String {
    let text = sources.text(span);
    let mut depth = 0;
    let mut found = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 && text.starts_with("if") => break,
            ')' => depth -= 1,
            '?' | '{' if depth == 0 => break,
            c if !c.is_whitespace() => found.push(c),
            _ => {}
        }
    }
    found
}

/// The first line of what a span covers.
fn code(sources: &SourceMap, span: Span) -> String {
    let text = sources.text(span).lines().next().unwrap_or("").trim();
    text.trim_end_matches('{').trim_end().to_string()
}

impl Path {
    fn name(&self) -> &'static str {
        match (self.what, self.way.turn) {
            (What::If, Turn::No) => "not taken",
            (What::If, _) => "taken",
            (What::Loop, Turn::Again) => "entered in a second stride of the grid",
            (What::Loop, _) => "entered",
            (What::Choice, Turn::No) => "its second value",
            (What::Choice, _) => "its first value",
            (What::Case, _) => "its case",
            (What::NoCase, _) => "none of its cases",
        }
    }
}

/// The functions that the launcher launches and calls, and those that they call.
fn reachable(module: &Module, launcher: FuncId) -> Vec<FuncId> {
    let mut list = vec![launcher];
    let mut at = 0;
    while let Some(id) = list.get(at).copied() {
        at += 1;
        visit::for_each_stmt(&module.function(id).body, &mut |s| {
            let callee = match &s.kind {
                StmtKind::Call { function, .. } => *function,
                StmtKind::Launch(launch) => launch.kernel,
                _ => return,
            };
            if !list.contains(&callee) && (callee.0 as usize) < module.functions.len() {
                list.push(callee);
            }
        });
    }
    list
}

/// Where functions of the host launch a kernel; none where a place is not known.
fn launches_of(module: &Module, kernel: FuncId) -> Vec<Span> {
    let mut found = vec![];
    for host in module.functions.iter().filter(|f| f.kind == FunctionKind::Host) {
        visit::for_each_stmt(&host.body, &mut |s| match &s.kind {
            StmtKind::Launch(launch) if launch.kernel == kernel => found.push(s.origin.span),
            _ => {}
        });
    }
    found.into_iter().collect::<Option<_>>().unwrap_or_default()
}

/// Collects the paths of a function.
struct Paths<'a> {
    id: FuncId,
    by_data: &'a ByData<'a>,
    /// Variables that take the same values whatever the sizes are.
    fixed: BTreeSet<VarId>,
    found: Vec<Path>,
}

impl Paths<'_> {
    fn of(&mut self, function: &Function) {
        let host = function.kind == FunctionKind::Host;
        visit::for_each_stmt(&function.body, &mut |s| {
            let Some(span) = s.origin.span else { return };
            match &s.kind {
                StmtKind::If { cond, then, otherwise } if !visit::is_fixed(cond) => {
                    self.both(span, What::If, cond, [extent(then), extent(otherwise)]);
                    if host {
                        self.excuse_errors(span, then, otherwise);
                        self.excuse_impossible(function, span, cond);
                    }
                }
                StmtKind::For(l) => {
                    let strides = by_the_grid(&l.step);
                    self.entered(span, &[&l.first, &l.limit], strides, &l.body);
                }
                StmtKind::Loop { condition: Some(c), step, body, .. }
                    if !visit::is_fixed(&c.expr) =>
                {
                    let mut strides = false;
                    visit::for_each_expr(step, &mut |e| strides |= is_grid(e));
                    self.entered(span, &[&c.expr], strides, body);
                }
                StmtKind::Switch { selector, cases } => self.cases(span, selector, cases),
                _ => {}
            }
        });
        visit::for_each_expr(&function.body, &mut |e| {
            if let (ExprKind::Select(cond, _, _), Some(span)) = (&*e.kind, e.origin.span)
                && !visit::is_fixed(cond)
            {
                self.both(span, What::Choice, cond, [None, None]);
                if host {
                    self.excuse_impossible(function, span, cond);
                }
            }
        });
    }

    fn both(&mut self, span: Span, what: What, cond: &Expr, arms: [Option<Span>; 2]) {
        let excused = self.excuse(&[cond]);
        for (turn, arm) in [Turn::Yes, Turn::No].into_iter().zip(arms) {
            self.push(Path { way: Way { span, turn }, what, arm, run: None, excused });
        }
    }

    fn entered(&mut self, span: Span, bounds: &[&Expr], strides: bool, body: &Block) {
        let (excused, arm) = (self.excuse(bounds), extent(body));
        let turns = [Some(Turn::Yes), strides.then_some(Turn::Again)];
        for turn in turns.into_iter().flatten() {
            let way = Way { span, turn };
            self.push(Path { way, what: What::Loop, arm, run: None, excused });
        }
    }

    fn cases(&mut self, span: Span, selector: &Expr, cases: &[Case]) {
        let excused = self.excuse(&[selector]);
        let mut path = |span, what, arm| {
            let way = Way { span, turn: Turn::Case };
            self.push(Path { way, what, arm, run: None, excused });
        };
        for case in cases {
            if let Some(first) = case.span() {
                path(first, What::Case, extent(&case.body));
            }
        }
        if cases.iter().all(|c| !c.is_default) {
            path(span, What::NoCase, None);
        }
    }

    /// Why the ways that such values decide on need not be run.
    fn excuse(&self, values: &[&Expr]) -> Option<Excuse> {
        if values.iter().any(|e| self.by_data.expr(self.id, e)) {
            return Some(Excuse::Data);
        }
        // Where control comes here at all, it goes all the ways that it ever goes.
        values.iter().all(|e| visit::is_fixed_beside(e, &self.fixed)).then_some(Excuse::NoSize)
    }

    fn push(&mut self, path: Path) {
        if self.found.iter().all(|p| p.way != path.way) {
            self.found.push(path);
        }
    }

    /// What sizes from 0 on never decide.
    fn excuse_impossible(&mut self, function: &Function, span: Span, cond: &Expr) {
        let never = match always(function, cond) {
            Some(true) => Turn::No,
            Some(false) => Turn::Yes,
            None => return,
        };
        let path = self.found.iter_mut().find(|p| p.way == Way { span, turn: never });
        if let Some(path) = path {
            path.excused = Some(Excuse::NoSize);
        }
    }

    /// The arms in which the launcher gives up, or does nothing.
    fn excuse_errors(&mut self, span: Span, then: &Block, otherwise: &Block) {
        for (turn, arm) in [(Turn::Yes, then), (Turn::No, otherwise)] {
            let excuse = match arm.stmts.as_slice() {
                [] => Excuse::Nothing,
                [s] if matches!(s.kind, StmtKind::Return(_)) => Excuse::Error,
                _ => continue,
            };
            let path = self.found.iter_mut().find(|p| p.way == Way { span, turn });
            if let Some(path) = path {
                path.excused = Some(excuse);
            }
        }
    }
}

/// What a condition is for all sizes from 0 on, where that is known.
fn always(function: &Function, cond: &Expr) -> Option<bool> {
    let ExprKind::Binary(op, a, b) = &*cond.kind else { return None };
    match op {
        BinaryOp::LogicalAnd => match (always(function, a), always(function, b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        BinaryOp::LogicalOr => match (always(function, a), always(function, b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        BinaryOp::Gt => above(range(function, a)?, range(function, b)?),
        BinaryOp::Le => Some(!above(range(function, a)?, range(function, b)?)?),
        BinaryOp::Lt => above(range(function, b)?, range(function, a)?),
        BinaryOp::Ge => Some(!above(range(function, b)?, range(function, a)?)?),
        _ => None,
    }
}

/// Variables with one definition that is made of constants and of such variables: counters of loops between constants,
/// and what is computed from them.
fn fixed_vars(function: &Function) -> BTreeSet<VarId> {
    let mut definitions = BTreeMap::<VarId, u32>::new();
    visit::for_each_stmt(&function.body, &mut |s| {
        let o = walk::operands(s);
        for var in o.results.iter().copied().chain(o.writes.and_then(Place::root_var)) {
            *definitions.entry(var).or_default() += 1;
        }
    });
    visit::for_each_place(&function.body, &mut |place, access| {
        if let Some(var) = place.root_var().filter(|_| access == visit::Access::Address) {
            *definitions.entry(var).or_default() += 2;
        }
    });
    let mut fixed = BTreeSet::new();
    loop {
        let before = fixed.len();
        visit::for_each_stmt(&function.body, &mut |s| {
            let (var, values) = match &s.kind {
                StmtKind::Decl { var, init: Some(e) } => (*var, vec![e]),
                StmtKind::For(l) => (l.var, vec![&l.first, &l.limit, &l.step]),
                _ => return,
            };
            if definitions.get(&var) == Some(&1)
                && values.into_iter().all(|e| visit::is_fixed_beside(e, &fixed))
            {
                fixed.insert(var);
            }
        });
        if fixed.len() == before {
            return fixed;
        }
    }
}

/// What the statements of an arm cover.
fn extent(arm: &Block) -> Option<Span> {
    let first = arm.stmts.first()?.origin.span?;
    let last = arm.stmts.last()?.origin.span?;
    (first.file == last.file).then_some(Span { end: last.end.max(first.end), ..first })
}

fn by_the_grid(step: &Expr) -> bool {
    let mut found = false;
    visit::for_each_subexpr(step, &mut |e| found |= is_grid(e));
    found
}

fn is_grid(e: &Expr) -> bool {
    matches!(&*e.kind, ExprKind::Builtin(warpsmith_ir::Builtin::GridDim(_)))
}
