//! Loops of the host that launch a kernel again and again on what it computed before: time steps.
//!
//! A loop that launches a kernel of two steps launches it in pairs, and ends with launches of the kernel as it was. Then every
//! array holds in the end what it holds without, whoever looks at it afterwards.

mod filling;

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind};
use warpsmith_front::sema::walk;

use super::launches::File;
use super::{find, outer};
use crate::source::marks::Bytes;
use crate::source::patch::{Patch, indentation};
use crate::source::{loops, scope, shape};
use filling::Filling;

/// A loop of time steps.
#[derive(Debug)]
pub struct TimeLoop {
    whole: Bytes,
    body: Bytes,
    init: String,
    counter: String,
    bound: String,
    inclusive: bool,
    launches: Vec<Launched>,
    /// The parameter that is read, and the arguments of the first launch for what is read and what is written.
    pub input: String,
    /// Both arrays hold the same before the first step, as the host code says.
    pub alike: bool,
}

/// A launch in the loop.
#[derive(Clone, Debug)]
struct Launched {
    callee: Bytes,
    grid: ast::Expr,
    grid_type: Option<String>,
    config: String,
    args: Vec<String>,
}

/// Host calls that a loop of steps may have beside launches: they only wait or ask for errors.
const HARMLESS: [&str; 5] = [
    "cudaDeviceSynchronize",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaStreamSynchronize",
    "getLastCudaError",
];

/// Finds the loop that launches a kernel in steps; `output` is the parameter that it writes.
///
/// # Errors
/// Why there is none.
pub fn find(file: &File<'_>, output: &str) -> Result<TimeLoop, String> {
    let mut found = Err("no loop of the host code launches the kernel in steps".to_string());
    shape::each_body(&file.unit.items, &mut |body| {
        let mut loops = vec![];
        collect(&body.stmts, &mut loops);
        for s in loops.into_iter().rev() {
            if found.is_err() && launches_in(file, s) > 0 {
                found = Reader { file, function: body }.read(s, output);
            }
        }
    });
    found
}

/// All `for` loops of a list, outer ones first.
fn collect<'a>(stmts: &'a [ast::Stmt], all: &mut Vec<&'a ast::Stmt>) {
    for s in stmts {
        match &s.kind {
            StmtKind::For { body, .. } => {
                all.push(s);
                collect(std::slice::from_ref(body), all);
            }
            StmtKind::Block(b) => collect(&b.stmts, all),
            StmtKind::If { then, otherwise, .. } => {
                collect(std::slice::from_ref(then), all);
                otherwise.iter().for_each(|o| collect(std::slice::from_ref(o), all));
            }
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
                collect(std::slice::from_ref(body), all);
            }
            _ => {}
        }
    }
}

fn launches_in(file: &File<'_>, s: &ast::Stmt) -> usize {
    let mut count = 0;
    walk::stmt(s, &mut |e| count += usize::from(is_launch(file, e)));
    count
}

fn is_launch(file: &File<'_>, e: &ast::Expr) -> bool {
    matches!(&*e.kind, ExprKind::Launch { callee, .. } if shape::base_name(file.sources.text(callee.span)) == file.name)
}

struct Reader<'a> {
    file: &'a File<'a>,
    function: &'a ast::Block,
}

/// What the body of a loop does.
#[derive(Default)]
struct Body {
    launches: Vec<Launched>,
    swaps: Vec<[String; 2]>,
    moves: Vec<[String; 2]>,
}

impl Reader<'_> {
    fn text(&self, e: &ast::Expr) -> String {
        self.file.sources.text(e.span).trim().to_string()
    }

    fn line(&self, at: u32) -> usize {
        let before = self.file.text.get(..at as usize).unwrap_or("");
        before.matches('\n').count() + 1
    }

    fn read(&self, s: &ast::Stmt, output: &str) -> Result<TimeLoop, String> {
        let line = self.line(s.span.start);
        let unusual = || format!("line {line}: the loop of steps does not count up by one");
        let StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), body } = &s.kind
        else {
            return Err(unusual());
        };
        let (counter, first, _) = outer::begin(init).ok_or_else(unusual)?;
        let (bound, inclusive) = outer::bound(cond, counter).ok_or_else(unusual)?;
        let here = |span: warpsmith_ir::Span| span.file.0 == 0;
        if !outer::is_increment(step, counter) || !s.pragmas.is_empty() || !here(s.span) {
            return Err(unusual());
        }
        let stmts = match &body.kind {
            StmtKind::Block(b) => b.stmts.as_slice(),
            _ => std::slice::from_ref(&**body),
        };
        let mut found = self.body(stmts, counter)?;
        found.swapped().map_err(|()| {
            format!("line {line}: the loop assigns to more than the arrays that it swaps")
        })?;
        let (input, [read, written]) = self.arrays(&found, output).ok_or_else(|| {
            format!("line {line}: what a launch writes is not what the next one reads")
        })?;
        if self.is_passed_again(&found, [&read, &written]) {
            return Err(format!(
                "line {line}: an array that is swapped is passed by another name, too"
            ));
        }
        let pure = |e: &ast::Expr| {
            let mut pure = true;
            walk::expr(e, &mut |e| {
                pure &= !matches!(
                    &*e.kind,
                    ExprKind::Call { .. } | ExprKind::Assign { .. } | ExprKind::IncDec { .. }
                );
            });
            let names = scope::names(&self.text(e));
            pure && !names.iter().any(|n| n == counter || *n == read || *n == written)
        };
        if !pure(bound) || !pure(first) {
            return Err(format!("line {line}: the number of steps may change in the loop"));
        }
        let init = self.file.sources.text(init.span).trim().trim_end_matches(';').to_string();
        Ok(TimeLoop {
            whole: s.span.start as usize..s.span.end as usize,
            body: body.span.start as usize..body.span.end as usize,
            init,
            counter: counter.to_string(),
            bound: self.text(bound),
            inclusive,
            launches: found.launches,
            input,
            alike: self.alike(s.span.start, [&read, &written]),
        })
    }

    fn body(&self, stmts: &[ast::Stmt], counter: &str) -> Result<Body, String> {
        let mut found = Body::default();
        for s in stmts {
            let text = self.file.sources.text(s.span);
            let counted = scope::names(text).iter().any(|n| n == counter);
            let other = || {
                let line = self.line(s.span.start);
                let what = if counted {
                    "asks for the step"
                } else {
                    "does more than launching and swapping"
                };
                format!("line {line}: the loop of steps {what}")
            };
            if counted {
                return Err(other());
            }
            match &s.kind {
                StmtKind::Empty => {}
                StmtKind::Expr(e) if is_launch(self.file, e) => {
                    found.launches.push(self.launched(e).ok_or_else(other)?);
                }
                StmtKind::Expr(e) => match &*e.kind {
                    ExprKind::Call { callee, args } => {
                        let name = self.text(callee);
                        match args.as_slice() {
                            [a, b] if matches!(name.as_str(), "swap" | "std::swap") => {
                                found.swaps.push([self.text(a), self.text(b)]);
                            }
                            _ if scope::names(text)
                                .iter()
                                .any(|n| HARMLESS.contains(&n.as_str())) => {}
                            _ => return Err(other()),
                        }
                    }
                    ExprKind::Assign { op, target, value } if op == "=" => {
                        found.moves.push([self.text(target), self.text(value)]);
                    }
                    _ => return Err(other()),
                },
                StmtKind::Vars(vars) => match vars.declarators.as_slice() {
                    [d] => match &d.init {
                        Some(Initializer::Expr(e)) => {
                            found.moves.push([d.name.clone(), self.text(e)]);
                        }
                        _ => return Err(other()),
                    },
                    _ => return Err(other()),
                },
                _ => return Err(other()),
            }
        }
        Ok(found)
    }

    fn launched(&self, e: &ast::Expr) -> Option<Launched> {
        let ExprKind::Launch { callee, config, args } = &*e.kind else { return None };
        let grid = config.first().filter(|g| self.file.is_own(g))?;
        let own = |e: &ast::Expr| e.span.file.0 == 0;
        let mut pure = own(callee);
        args.iter().for_each(|a| {
            walk::expr(a, &mut |e| {
                pure &= !matches!(
                    &*e.kind,
                    ExprKind::Call { .. } | ExprKind::Assign { .. } | ExprKind::IncDec { .. }
                );
            });
        });
        let variable = outer::name(grid);
        pure.then(|| Launched {
            callee: callee.span.start as usize..callee.span.end as usize,
            grid: grid.clone(),
            grid_type: variable
                .and_then(|n| find::declared_type(self.function, n, self.file.sources)),
            config: config.iter().map(|c| self.text(c)).collect::<Vec<_>>().join(","),
            args: args.iter().map(|a| self.text(a)).collect(),
        })
    }

    /// The parameter that is read, and the arguments for it and for what is written.
    fn arrays(&self, found: &Body, output: &str) -> Option<(String, [String; 2])> {
        let names: Vec<&str> =
            self.file.kernel.params.iter().map(|p| p.name.as_deref().unwrap_or("")).collect();
        let out = names.iter().position(|n| *n == output)?;
        let first = found.launches.first()?;
        let written = first.args.get(out)?;
        let read = match (found.launches.as_slice(), found.swaps.as_slice()) {
            ([_], [[a, b]]) if a == written => b,
            ([_], [[a, b]]) if b == written => a,
            // Back and forth: the second launch writes what the first one read.
            ([_, second], []) => second.args.get(out)?,
            _ => return None,
        };
        let only = |args: &[String], name: &String| {
            let mut all = args.iter().enumerate().filter(|(_, a)| *a == name).map(|(i, _)| i);
            all.next().filter(|_| all.next().is_none())
        };
        let input = only(&first.args, read)?;
        (only(&first.args, written)? == out && input != out && read != written).then_some(())?;
        if let [_, second] = found.launches.as_slice() {
            let mut expected = first.args.clone();
            expected.swap(input, out);
            (second.args == expected && second.config == first.config).then_some(())?;
        }
        Some((names.get(input)?.to_string(), [read.clone(), written.clone()]))
    }

    /// Whether another argument may be one of the arrays that are swapped: it is made of one of them.
    fn is_passed_again(&self, found: &Body, arrays: [&String; 2]) -> bool {
        let own = Filling::of(&self.function.stmts, self.file.sources, arrays).arrays;
        let others = found.launches.iter().flat_map(|l| &l.args).filter(|a| !arrays.contains(a));
        let mut names: Vec<String> = others.flat_map(|a| scope::names(a)).collect();
        let declared = scope::declared(self.function);
        let mut made: Vec<_> =
            names.iter().filter_map(|n| declared.get(n)).flatten().flatten().cloned().collect();
        walk::block(self.function, &mut |e| {
            if let ExprKind::Assign { target, value, .. } = &*e.kind
                && names.contains(&self.text(target))
            {
                made.push(value.clone());
            }
        });
        names.extend(made.iter().flat_map(|e| scope::names(&self.text(e))));
        names.iter().any(|n| own.contains(n) || arrays.contains(&n))
    }

    /// Whether the host plainly gives two arrays of one length the same contents before a place.
    fn alike(&self, before: u32, arrays: [&String; 2]) -> bool {
        let mut filling = Filling::of(&self.function.stmts, self.file.sources, arrays);
        let [a, b] = &filling.arrays;
        if self.is_repeated(before) || self.is_handed_on(&[arrays[0], arrays[1], a, b]) {
            return false;
        }
        let mut calls = vec![];
        walk::block(self.function, &mut |e| {
            if e.span.start < before
                && let ExprKind::Call { .. } | ExprKind::Launch { .. } = &*e.kind
            {
                calls.push(e.clone());
            }
        });
        calls.sort_by_key(|e| e.span.start);
        for e in &calls {
            let (name, args) = match &*e.kind {
                ExprKind::Call { callee, args } => (self.text(callee), args),
                ExprKind::Launch { args, .. } => (String::new(), args),
                _ => continue,
            };
            let texts: Vec<String> = args.iter().map(|a| self.text(a)).collect();
            filling.call(&name, &texts, e.span, self.is_certain(e));
        }
        let same = filling.same();
        // What comes from the host must not change between the copies.
        same.is_some_and(|(from, between)| {
            let between = self.file.text.get(between).unwrap_or("");
            from.is_none_or(|f| !scope::names(between).contains(&f))
        })
    }

    /// Whether a place is in a loop, whose later rounds find what earlier ones left.
    fn is_repeated(&self, at: u32) -> bool {
        let mut repeated = false;
        loops::each(&self.function.stmts, &mut |s| {
            repeated |= s.span.start < at && at < s.span.end;
        });
        repeated
    }

    /// Whether pointers go to where they are not followed: lists, structures, functions without a name.
    fn is_handed_on(&self, arrays: &[&String]) -> bool {
        let named = |span: warpsmith_ir::Span| {
            let names = scope::names(self.file.sources.text(span));
            arrays.iter().any(|a| names.contains(a))
        };
        let mut handed_on = false;
        scope::each_vars(&self.function.stmts, &mut |vars| {
            let listed = |d: &&ast::Declarator| matches!(d.init, Some(Initializer::List(..)));
            handed_on |= vars.declarators.iter().filter(listed).any(|d| named(d.span));
        });
        walk::block(self.function, &mut |e| {
            handed_on |= match &*e.kind {
                ExprKind::InitList(_)
                | ExprKind::CompoundLiteral { .. }
                | ExprKind::AssignList { .. }
                | ExprKind::Lambda(_) => named(e.span),
                // A member or an element that a pointer is stored to.
                ExprKind::Assign { target, value, .. } => {
                    outer::name(target).is_none() && named(value.span)
                }
                _ => false,
            };
        });
        handed_on
    }

    /// Whether a call is made whenever the function runs.
    fn is_certain(&self, e: &ast::Expr) -> bool {
        let holds = |s: &&ast::Stmt| s.span.start <= e.span.start && e.span.end <= s.span.end;
        let around = self.function.stmts.iter().find(holds);
        around.is_some_and(|s| {
            matches!(
                &s.kind,
                StmtKind::Expr(_)
                    | StmtKind::Vars(_)
                    | StmtKind::DoWhile { .. }
                    | StmtKind::Block(_)
            )
        })
    }
}

impl Body {
    /// Three assignments through a third variable are a swap.
    fn swapped(&mut self) -> Result<(), ()> {
        match self.moves.as_slice() {
            [] => {}
            [[third, a], [to_a, b], [to_b, from]]
                if third == from && a == to_a && b == to_b && self.swaps.is_empty() =>
            {
                self.swaps.push([a.clone(), b.clone()]);
            }
            _ => return Err(()),
        }
        Ok(())
    }
}

/// A number of blocks when blocks overlap, from the number of those that do not.
pub fn overlapping(blocks: &str, extent: &str, reach: u32) -> String {
    let (by, rest) = (2 * reach, 2 * reach + 1);
    let blocks = super::cut::operand(blocks);
    match extent.parse::<u32>() {
        Ok(n) => {
            format!("({blocks} * {n} + {}) / {}", n.saturating_sub(rest), n.saturating_sub(by))
        }
        Err(_) => format!("({blocks} * {extent} + {extent} - {rest}) / ({extent} - {by})"),
    }
}

impl TimeLoop {
    /// What a launch passes for a parameter, or for a member of one.
    fn argument(&self, file: &File<'_>, launched: &Launched, name: &str) -> Option<String> {
        let (base, member) = name.split_once('.').unwrap_or((name, ""));
        let at = file.kernel.params.iter().position(|p| p.name.as_deref() == Some(base))?;
        let text = super::cut::operand(launched.args.get(at)?);
        Some(if member.is_empty() { text } else { format!("{text}.{member}") })
    }

    /// Host code that launches another kernel for two steps; `extents` of the block where blocks overlap.
    ///
    /// # Errors
    /// Why launches cannot be written.
    pub fn edited(
        &self,
        file: &File<'_>,
        kernel: &str,
        (extents, bounds): (&[Option<String>; 3], &[Option<String>; 3]),
        reach: u32,
    ) -> Result<Patch, String> {
        let mut whole = vec![];
        let base = self.body.start;
        let mut inner = Patch::default();
        for l in &self.launches {
            let at = l.callee.start - base..l.callee.end - base;
            let callee = &file.text[l.callee.clone()];
            inner.replace(at, callee.replacen(file.name, kernel, 1));
            let mut dims = file
                .dims(&l.grid, l.grid_type.as_deref())
                .ok_or("the grid of the launch is not understood")?;
            for (a, extent) in extents.iter().enumerate() {
                let Some(extent) = extent else { continue };
                dims.resize(dims.len().max(a + 1), "1".into());
                if let Some(bound) = &bounds[a] {
                    let size = self.argument(file, l, bound).ok_or("an argument is missing")?;
                    let dim = super::cut::operand(&dims[a]);
                    whole.push(format!("(long long){dim} * {extent} >= {size}"));
                }
                dims[a] = overlapping(&dims[a], extent, reach);
            }
            let at = l.grid.span.start as usize - base..l.grid.span.end as usize - base;
            inner.replace(at, format!("dim3({})", dims.join(", ")));
        }
        let own = file.text[self.body.clone()].to_string();
        let twice = inner.apply(&own).map_err(|_| "the launch comes from a macro")?;
        let indent = indentation(file.text, self.whole.start);
        let deeper = |text: &str, by: &str| text.replace('\n', &format!("\n{by}"));
        let (counter, bound) = (&self.counter, &self.bound);
        let less = if self.inclusive { "<=" } else { "<" };
        let pairs = self.launches.len() == 2;
        let at_once = if pairs { 2 } else { 4 };
        let again = match pairs {
            true => format!(" {}", deeper(&twice, "    ")),
            false => {
                let name =
                    if scope::names(&own).iter().any(|n| n == "half") { "half_" } else { "half" };
                format!(
                    "\n{indent}        for (int {name} = 0; {name} < 2; {name}++) {}",
                    deeper(&twice, "        ")
                )
            }
        };
        whole.dedup();
        whole.truncate(extents.iter().flatten().count());
        let covered =
            if scope::names(&own).iter().any(|n| n == "whole") { "whole_" } else { "whole" };
        let mut patch = Patch::default();
        let text = format!(
            "{{\n{indent}    // Two steps a launch, two launches at a time and the last steps one by one: in the end both arrays hold what they\n{indent}    // hold without.\n{indent}    const bool {covered} = {};\n{indent}    {};\n{indent}    for (; {covered} && {counter} + {at_once} {less} {bound}; {counter} += {at_once}){again}\n{indent}    for (; {counter} {less} {bound}; {counter}++) {}\n{indent}}}",
            whole.join(" && "),
            self.init,
            deeper(&own, "    "),
        );
        patch.replace(self.whole.clone(), text);
        Ok(patch)
    }
}
