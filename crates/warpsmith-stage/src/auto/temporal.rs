//! Two time steps a launch: blocks compute the first one for what the second one reads, and keep it in shared memory.
//!
//! The kernel is written beside the one of the file with an array between the steps, and the reads of that array are marked:
//! from there on it is a plan as users write them. What is staged loses the array again.

mod parts;

use warpsmith_front::ast::{self, ExprKind, StmtKind};

use super::elements;
use super::find::{self, Access};
use super::launches::File;
use super::outer;
use super::plans::Kernel;
use super::positions::{self, Position};
use super::time_loop;
use parts::Parts;

use crate::launch::Launch;
use crate::source::marks::{self, Bytes};
use crate::source::patch::Patch;
use crate::source::scope;
use crate::source::shape::Extent;
use crate::usage::Usage;

/// Blocks that overlap.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// The kernel of two steps, with template arguments.
    pub kernel: String,
    pub axes: [bool; 3],
    /// How far a step reads.
    pub reach: u32,
    /// The parameter that bounds positions along each axis: launches whose blocks do not cover it stay single steps.
    pub bounds: [Option<String>; 3],
}

impl Overlap {
    /// A launch with enough blocks to cover all positions: with fewer the host does single steps.
    pub fn covering(&self, launch: &Launch) -> Launch {
        let mut launch = launch.clone();
        for a in 0..3 {
            let size = self.bounds[a].as_ref().and_then(|name| launch.integers.get(name));
            let Some(size) = size.and_then(|n| u32::try_from(*n).ok()) else { continue };
            launch.grid[a] = launch.grid[a].max(size.div_ceil(launch.block[a].max(1)));
        }
        launch
    }

    /// The grid in the place of one whose blocks do not overlap; `None` where halos leave nothing of a block.
    pub fn grid(&self, grid: [u32; 3], block: [u32; 3]) -> Option<[u32; 3]> {
        let mut wide = grid;
        for a in (0..3).filter(|a| self.axes[*a]) {
            let own = block[a].checked_sub(2 * self.reach).filter(|n| *n > 0)?;
            wide[a] = (grid[a] * block[a]).div_ceil(own);
        }
        Some(wide)
    }
}

/// A file with a kernel of two steps.
#[derive(Clone, Debug)]
pub struct Blocked {
    pub text: String,
    /// Reads of the second step are marked; else they are written as places of the tile already.
    pub marked: bool,
    pub overlap: Overlap,
    /// Parameters: what a step reads and what it writes.
    pub input: String,
    pub output: String,
    /// The array between the steps, its declaration as a parameter, and the statements that store to it.
    pub between: String,
    parameter: String,
    stores: Vec<String>,
    /// Both arrays hold the same before the first step, as the host code says.
    pub alike: bool,
}

impl Blocked {
    /// The staged text without the array between the steps: elements that no step computes are in the output as they were.
    pub fn finished(&self, text: &str) -> String {
        let mut text = text.replacen(&self.parameter, "", 1);
        for store in &self.stores {
            if let Some(at) = text.find(store.as_str()) {
                let line = text[..at].rfind('\n').map_or(0, |i| i + 1);
                let start = if text[line..at].trim().is_empty() { line.max(1) - 1 } else { at };
                text.replace_range(start..at + store.len(), "");
            }
        }
        let mut patch = Patch::default();
        for t in marks::tokens(&text).iter().filter(|t| text[t.at.clone()] == *self.between) {
            patch.replace(t.at.clone(), self.output.clone());
        }
        patch.apply(&text).unwrap_or(text)
    }
}

/// How far a step may read.
const MAX_REACH: u32 = 3;

/// The kernel of two steps for the reaches that are worth a try, the least first.
///
/// # Errors
/// Why there is none.
pub fn blocked(
    kernel: &Kernel<'_>,
    name: &str,
    file: &File<'_>,
    usage: &Usage,
) -> Result<Vec<Blocked>, String> {
    let stores: Vec<&Access> = kernel.accesses.iter().filter(|a| a.stored).collect();
    let output = stores.first().ok_or_else(|| kernel.no_store())?.array.clone();
    if stores.iter().any(|s| s.array != output) {
        return Err("it stores to several arrays".into());
    }
    let looped = in_loop(kernel, &stores);
    let host = time_loop::find(file, &output)?;
    if let Some([a, b]) = kernel.aliased.of(|n| n == output || n == host.input).next() {
        return Err(format!("the file passes parts of one array for `{a}` and `{b}`"));
    }
    if looped {
        return Err("each thread goes through a loop of elements, of which a block would have to keep whole planes".into());
    }
    let mut writer = Writer::new(kernel, file, &output, &host.input)?;
    writer.bounds = bounds(kernel, usage)?;
    let least = writer.reach();
    if least > MAX_REACH {
        return Err(format!("a step reads {least} elements away"));
    }
    let mut all = vec![];
    for reach in least..=MAX_REACH.min(least + 1) {
        match writer.written(name, reach, &host, true) {
            Ok(made) => all.push(made),
            Err(why) if all.is_empty() => return Err(why),
            Err(_) => break,
        }
        // Where no search finds the places, rows and columns of the subscript may say them.
        if let Some(places) = writer.places() {
            all.extend(Writer { places, ..writer.clone() }.written(name, reach, &host, false));
        }
    }
    Ok(all)
}

/// The parameter that bounds positions along each axis that the kernel uses.
fn bounds(kernel: &Kernel<'_>, usage: &Usage) -> Result<[Option<String>; 3], String> {
    let mut all = [None, None, None];
    for a in (0..3).filter(|a| kernel.blocks[*a]) {
        let mut names = usage.roles.iter().filter(|(_, r)| r.axes[a]).map(|(n, _)| n);
        match (names.next(), names.next()) {
            (Some(only), None) => all[a] = Some(only.clone()),
            _ => {
                let x = super::cut::AXES[a];
                return Err(format!("no parameter alone bounds the positions along {x}"));
            }
        }
    }
    Ok(all)
}

/// Whether stores are in loops.
fn in_loop(kernel: &Kernel<'_>, stores: &[&Access]) -> bool {
    let mut inside = false;
    let mut loops = vec![];
    loops_of(&kernel.body.stmts, &mut loops);
    for s in loops {
        let holds =
            |a: &&Access| (s.span.start as usize..s.span.end as usize).contains(&a.whole.start);
        inside |= stores.iter().any(holds);
    }
    inside
}

/// All loops, outer ones first, without those in loops.
pub fn loops_of<'a>(stmts: &'a [ast::Stmt], all: &mut Vec<&'a ast::Stmt>) {
    for s in stmts {
        match &s.kind {
            StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::DoWhile { .. }
            | StmtKind::RangeFor { .. } => all.push(s),
            StmtKind::Block(b) => loops_of(&b.stmts, all),
            StmtKind::If { then, otherwise, .. } => {
                loops_of(std::slice::from_ref(then), all);
                otherwise.iter().for_each(|o| loops_of(std::slice::from_ref(o), all));
            }
            _ => {}
        }
    }
}

/// What the kernel of two steps is made from.
#[derive(Clone)]
struct Writer<'a> {
    kernel: &'a Kernel<'a>,
    file: &'a File<'a>,
    input: String,
    output: String,
    element: String,
    positions: Vec<Position>,
    /// The first byte of statements that both steps do, and the end of the last.
    rest: Bytes,
    /// Statements before that end a thread, with their conditions.
    returns: Vec<(Bytes, String)>,
    reads: Vec<&'a Access>,
    stores: Vec<Store<'a>>,
    /// For each read, how far it is from the thread along each axis, x first.
    places: Vec<Vec<String>>,
    bounds: [Option<String>; 3],
}

/// A statement that stores to the output.
#[derive(Clone)]
struct Store<'a> {
    access: &'a Access,
    end: usize,
    /// It is a branch without braces.
    bare: bool,
    start: usize,
}

impl<'a> Writer<'a> {
    fn new(
        kernel: &'a Kernel<'a>,
        file: &'a File<'a>,
        output: &str,
        input: &str,
    ) -> Result<Writer<'a>, String> {
        let of =
            |name: &str| kernel.accesses.iter().filter(|a| a.array == name).collect::<Vec<_>>();
        let (reads, stored) = (of(input), of(output));
        let body = body_bytes(kernel);
        let words = |name: &str| {
            let tokens = marks::tokens(kernel.text);
            tokens
                .iter()
                .filter(|t| body.contains(&t.at.start) && kernel.text[t.at.clone()] == *name)
                .count()
        };
        if reads.is_empty() || reads.iter().any(|a| a.stored) || words(input) != reads.len() {
            return Err(format!("`{input}` is used by more than reads of its elements"));
        }
        if stored.iter().any(|a| !a.stored) || words(output) != stored.len() {
            return Err(format!("`{output}` is used by more than stores to its elements"));
        }
        let element = elements::element_type(kernel.function, output, kernel.unit, kernel.sources);
        let element = element.ok_or("the type of its elements is not understood")?;
        let positions = alone(kernel)?;
        let (returns, rest) = steps(kernel)?;
        if positions.iter().any(|p| rest.contains(&p.at.start)) {
            return Err("the kernel asks for its position after its declarations".into());
        }
        let mut stores = vec![];
        statements(&kernel.body.stmts, false, &mut |s, bare| {
            let StmtKind::Expr(e) = &s.kind else { return };
            let ExprKind::Assign { op, target, .. } = &*e.kind else { return };
            let found = stored.iter().find(|a| a.whole.start == target.span.start as usize);
            if let Some(access) = found.filter(|_| op == "=") {
                let (start, end) = (s.span.start as usize, s.span.end as usize);
                stores.push(Store { access, end, bare, start });
            }
        });
        if stores.len() != stored.len() || stores.iter().any(|s| s.start != s.access.whole.start) {
            return Err(format!("`{output}` is stored to by more than plain assignments"));
        }
        Ok(Writer {
            kernel,
            file,
            input: input.into(),
            output: output.into(),
            element,
            positions,
            rest,
            returns,
            reads,
            stores,
            places: vec![],
            bounds: [None, None, None],
        })
    }

    /// How far each read is from its thread, where subscripts are plainly a row times a length plus a column, or positions.
    fn places(&self) -> Option<Vec<Vec<String>>> {
        let kernel = self.kernel;
        let mut own = vec![];
        for (name, text) in find::initialisers(kernel.body, kernel.sources) {
            let is = |p: &&Position| kernel.text[p.at.clone()] == text;
            own.extend(self.positions.iter().find(is).map(|p| (p.axis, name)));
        }
        let axes: Vec<usize> = (0..3).filter(|a| kernel.blocks[*a]).collect();
        let mut all = vec![];
        for read in &self.reads {
            let mut parts = vec![read.index.clone()];
            if axes.len() == 2 {
                let values = find::initialisers(kernel.body, kernel.sources);
                let index = match values.get(&read.index) {
                    Some(value) => value.clone(),
                    None => read.index.clone(),
                };
                let (row, column) = row_and_column(&index)?;
                parts = vec![column, row];
            }
            if axes.len() != parts.len() {
                return None;
            }
            let far = |(part, axis): (&String, &usize)| {
                let (_, name) = own.iter().find(|(a, _)| a == axis)?;
                Some(format!("{} - {name}", super::cut::operand(part)))
            };
            all.push(parts.iter().zip(&axes).map(far).collect::<Option<Vec<_>>>()?);
        }
        Some(all)
    }

    /// How far reads are from what the thread stores, as far as that is known; at least one element.
    fn reach(&self) -> u32 {
        let mut far = 1;
        for read in &self.reads {
            for store in &self.stores {
                for d in read.offset(store.access).into_iter().flatten() {
                    far = far.max(d.unsigned_abs() as u32);
                }
            }
        }
        far
    }

    fn extent(&self, axis: usize, reach: u32) -> Result<String, String> {
        let letter = super::cut::AXES[axis];
        match &self.kernel.extents[axis] {
            Extent::Constant(name) => Ok(name.clone()),
            Extent::Number(n) if *n > 2 * reach => Ok(n.to_string()),
            Extent::Number(n) => Err(format!(
                "a block has {n} threads along {letter}, and halos of {reach} on both sides leave none"
            )),
            Extent::Free => match self.kernel.given {
                Some(block) => Ok(block[axis].to_string()),
                None => Err(format!(
                    "nothing in the file says how many threads a block has along {letter}"
                )),
            },
        }
    }

    fn written(
        &self,
        name: &str,
        reach: u32,
        host: &time_loop::TimeLoop,
        marked: bool,
    ) -> Result<Blocked, String> {
        let axes = self.kernel.blocks;
        let mut extents = [None, None, None];
        for a in (0..3).filter(|a| axes[*a]) {
            extents[a] = Some(self.extent(a, reach)?);
        }
        let twice = format!("{}_two_steps", self.file.name);
        let between = format!("{}_between", self.output);
        let tile = format!("{}_tile", self.output);
        let used = scope::names(self.kernel.text);
        if let Some(taken) = [&twice, &between, &tile].into_iter().find(|n| used.contains(n)) {
            return Err(format!("the name `{taken}` is taken"));
        }
        let parameter = format!(", {} *{between}", self.element);
        let parts = Parts {
            writer: self,
            extents: &extents,
            reach,
            between: &between,
            tile: &tile,
            marked,
        };
        let text = self.kernel.text;
        let body = body_bytes(self.kernel);
        let more = if marked { parameter.as_str() } else { "" };
        let head = self.kernel.head(self.file.name, &twice, more)?;
        let made = format!("\n\n{head}{}", parts.body());
        let mut patch = host.edited(self.file, &twice, (&extents, &self.bounds), reach)?;
        patch.replace(body.end..body.end, made);
        let text = patch.apply(text).map_err(|_| "the edits overlap")?;
        let kernel = name.replacen(self.file.name, &twice, 1);
        Ok(Blocked {
            text,
            marked,
            overlap: Overlap { kernel, axes, reach, bounds: self.bounds.clone() },
            input: self.input.clone(),
            output: self.output.clone(),
            stores: parts.stores(),
            between,
            parameter,
            alike: host.alike,
        })
    }
}

/// The row and the column of `row * length + column`: the text is a sum of two parts at its outermost, one of which is a product.
fn row_and_column(text: &str) -> Option<(String, String)> {
    let split = |text: &str, op: &str| -> Option<(String, String)> {
        let mut depth = 0;
        let mut found = None;
        for t in marks::tokens(text) {
            match &text[t.at.clone()] {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                word if word == op && depth == 0 => {
                    if found.is_some() && op == "+" {
                        continue;
                    }
                    found = Some(t.at.clone());
                }
                _ => {}
            }
        }
        let at = found?;
        Some((text[..at.start].trim().to_string(), text[at.end..].trim().to_string()))
    };
    let (left, right) = split(text, "+")?;
    for (product, column) in [(&left, &right), (&right, &left)] {
        let Some((a, b)) = split(product, "*") else { continue };
        let plain = |t: &str| t.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        // The length of a row is a plain name.
        if plain(&b) {
            return Some((a, column.clone()));
        }
        if plain(&a) {
            return Some((b, column.clone()));
        }
    }
    None
}

/// From `{` to `}`.
fn body_bytes(kernel: &Kernel<'_>) -> Bytes {
    kernel.body.span.map_or(0..0, |s| s.start as usize..s.end as usize)
}

/// All positions of threads; nothing else may ask for the thread or the block.
fn alone(kernel: &Kernel<'_>) -> Result<Vec<Position>, String> {
    let all = positions::positions(kernel);
    let body = body_bytes(kernel);
    let aliases = positions::aliases(kernel);
    let within = |at: usize| all.iter().any(|p| p.at.contains(&at));
    let text = |t: &marks::Tok| kernel.text[t.at.clone()].to_string();
    let tokens: Vec<marks::Tok> = marks::tokens(kernel.text)
        .into_iter()
        .filter(|t| body.contains(&t.at.start) && !within(t.at.start))
        .collect();
    // `int tx = threadIdx.x` declares another name for it.
    let declares = |n: usize| {
        let named = |back: usize| n.checked_sub(back).map(|k| text(&tokens[k]));
        let cast = named(1).as_deref() == Some(")");
        let back = if cast { 5 } else { 2 };
        named(back).is_some_and(|name| aliases.contains(&name))
    };
    let special = ["threadIdx", "blockIdx", "blockDim", "gridDim"];
    for (n, t) in tokens.iter().enumerate() {
        let name = text(t);
        let declared = tokens.get(n + 1).is_some_and(|next| text(next) == "=");
        if special.contains(&name.as_str()) && !declares(n) || aliases.contains(&name) && !declared
        {
            return Err(format!("the kernel asks for `{name}` beside its position"));
        }
    }
    for a in (0..3).filter(|a| kernel.blocks[*a]) {
        if !all.iter().any(|p| p.axis == a) {
            let x = super::cut::AXES[a];
            return Err(format!(
                "the position along {x} is not `blockIdx.{x} * blockDim.{x} + threadIdx.{x}`"
            ));
        }
    }
    Ok(all)
}

/// Statements that end a thread, with their conditions, and what both steps do after declarations.
type Steps = (Vec<(Bytes, String)>, Bytes);

fn steps(kernel: &Kernel<'_>) -> Result<Steps, String> {
    let stmts = &kernel.body.stmts;
    let bytes = |s: &ast::Stmt| s.span.start as usize..s.span.end as usize;
    let mut returns = vec![];
    let mut first = 0;
    for (n, s) in stmts.iter().enumerate() {
        let accesses = kernel.accesses.iter().any(|a| bytes(s).contains(&a.whole.start));
        let after = &stmts[n + 1..];
        let later: Vec<String> = outer::assignments(after).into_iter().map(|(n, _)| n).collect();
        let kept = match &s.kind {
            StmtKind::Vars(vars) => {
                !accesses && vars.declarators.iter().all(|d| !later.contains(&d.name))
            }
            StmtKind::If { cond, then, otherwise: None, init: None, .. } if ends(then) => {
                let text = kernel.sources.text(cond.span).to_string();
                returns.push((bytes(s), text));
                !accesses && cond.span.file.0 == 0
            }
            _ => false,
        };
        if !kept {
            break;
        }
        first = n + 1;
    }
    let (Some(from), Some(to)) = (stmts.get(first), stmts.last()) else {
        return Err("it does nothing but declare".into());
    };
    returns.retain(|(at, _)| at.start < from.span.start as usize);
    let rest = from.span.start as usize..to.span.end as usize;
    let forbidden = ["return", "goto", "__syncthreads", "__shared__", "asm"];
    let tokens = marks::tokens(kernel.text);
    let found = tokens.iter().find(|t| {
        let word = &kernel.text[t.at.clone()];
        rest.contains(&t.at.start) && (forbidden.contains(&word) || word.starts_with("atomic"))
    });
    match found {
        Some(t) => Err(format!("it has `{}` between its stores", &kernel.text[t.at.clone()])),
        None => Ok((returns, rest)),
    }
}

/// Whether a statement is `return;`.
pub fn ends(s: &ast::Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(None) => true,
        StmtKind::Block(b) => matches!(b.stmts.as_slice(), [only] if ends(only)),
        _ => false,
    }
}

/// Shows all statements, and whether each is a branch without braces.
pub fn statements<'a>(
    stmts: &'a [ast::Stmt],
    bare: bool,
    see: &mut dyn FnMut(&'a ast::Stmt, bool),
) {
    for s in stmts {
        see(s, bare);
        match &s.kind {
            StmtKind::Block(b) => statements(&b.stmts, false, see),
            StmtKind::If { then, otherwise, .. } => {
                statements(std::slice::from_ref(then), true, see);
                otherwise.iter().for_each(|o| statements(std::slice::from_ref(o), true, see));
            }
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                statements(std::slice::from_ref(body), true, see);
            }
            _ => {}
        }
    }
}
