//! Tiles that transpose where reads and stores stand in loops, or behind threads that have ended.
//!
//! ```text
//! for b in batches { if inside(x, y) { out[b][x][y] = in[b][y][x]; } }
//!   ==>
//! for b in batches {
//!     if inside(x, y) { tile[y'][x'] = in[b][y][x]; }
//!     barrier
//!     { x, y of the thread on the other side of the diagonal; if inside(x, y) { out[b][x][y] = tile[x'][y']; } }
//!     barrier
//! }
//! ```
//!
//! Loops whose bounds are the same for all threads stay around both halves. A loop that takes the block down its tile, row after
//! row (`for (j = 0; j < TILE; j += ROWS)`), is written in both: what it adds to the row is added to the column in the half where
//! threads have changed places. Conditions, and `return` or `continue` before the store, are asked again in each half, so that all
//! threads come to the barriers.

mod way;

use warpsmith_front::ast::{self, StmtKind};

use super::declarations::{declares, needed};
use super::find::{self, Access};
use super::plans::{Kernel, Plan, SQUARE};
use super::{outer, unused, windows};
use crate::source::marks::{self, Bytes};
use crate::source::patch::{Patch, indentation};
use crate::source::shape::Extent;
use crate::source::{scope, values};
use way::{Step, Way};

/// Elements from which on a store goes across rows.
const APART: i64 = 32;
/// Characters of a condition with its statement from which on these are two lines.
const LONG: usize = 80;
/// Stands for the place in the tile until threads are where they are then.
const HERE: &str = "place_in_the_tile";

/// The loop that takes a block down its tile.
struct Rows {
    /// `for (…; …; …)`.
    head: String,
    /// What is added to the row in each iteration: `j`, or `k * ROWS`.
    added: String,
    /// What constants of the file have to keep to, so that the block goes down the tile in whole steps.
    whole: Option<String>,
}

/// One half of the work: all threads copy, or all threads store.
struct Half {
    /// With the depth of each.
    lines: Vec<(usize, String)>,
    /// The declarations among them.
    variables: Vec<String>,
}

impl Half {
    /// How often it mentions a name that it declares itself.
    fn own_uses(&self, name: &str) -> usize {
        if !self.variables.iter().any(|v| declares(v, name)) {
            return 0;
        }
        self.lines.iter().map(|(_, l)| marks::mentions(l, name)).sum()
    }
}

/// The way to a store that goes across the rows in which its array is read.
struct Transpose<'a> {
    kernel: &'a Kernel<'a>,
    read: &'a Access,
    steps: Vec<Step<'a>>,
    /// Names that are others for each thread.
    moving: Vec<String>,
    /// The store's statement.
    store: &'a ast::Stmt,
    rows: Option<Rows>,
    /// Threads read neighbours, and change places to store; else the other way round.
    reads_rows: bool,
    /// What is written anew.
    region: Bytes,
    /// `return` before it, which becomes a condition.
    ends: Vec<Bytes>,
    block: Option<[u32; 3]>,
    /// The tile's rows and columns, as text.
    side: String,
}

/// Tiles for the only read of an array: with a mark, so that it is proved where it can be, and without one.
pub fn plans(kernel: &Kernel<'_>, array: &str, element: &str, all: &[&Access]) -> Vec<Plan> {
    let [read] = all else { return vec![] };
    let Some(transpose) = Transpose::new(kernel, read) else { return vec![] };
    let tile = format!("{}_tile", find::plain_name(array));
    if scope::names(kernel.text).contains(&tile) {
        return vec![];
    }
    let plan = |marked| transpose.plan(&tile, element, marked);
    [true, false].into_iter().filter_map(plan).collect()
}

impl<'a> Transpose<'a> {
    fn new(kernel: &'a Kernel<'a>, read: &'a Access) -> Option<Transpose<'a>> {
        let mut stores = kernel.elements().filter(|a| a.stored);
        let (Some(store), None) = (stores.next(), stores.next()) else { return None };
        let (r, w) = (read.strides()?, store.strides()?);
        let across = |a: [i64; 2]| a[1] == 1 && a[0].abs() >= APART;
        let reads_rows = match (r[0] == 1 && across(w), w[0] == 1 && across(r)) {
            (true, _) => true,
            (_, true) => false,
            _ => return None,
        };
        let mut way = Way::new(kernel, store.whole.start, read.whole.start);
        let store = way.walk(&kernel.body.stmts, true)?;
        let Way { steps, moving, ends, region, .. } = way;
        // Outside of loops, and where all threads come to the end, the plan is simpler.
        let looped = steps.iter().any(|s| matches!(s, Step::Loop(_) | Step::Rows(_)));
        if !looped && ends.is_empty() && reads_rows {
            return None;
        }
        let found = steps.iter().find_map(|s| match s {
            Step::Rows(s) => Some(*s),
            _ => None,
        });
        let (rows, block) =
            match found {
                // Other constants than those of the file need not go together.
                Some(s) => (
                    Some(Rows::new(kernel, s)?),
                    Some([0, 1, 2].map(|a| {
                        extent(kernel, a).and_then(|n| u32::try_from(n).ok()).unwrap_or(1)
                    })),
                ),
                None => (None, square(kernel)?),
            };
        let side = kernel.extent(0, block)?;
        Some(Transpose {
            kernel,
            read,
            steps,
            moving,
            store,
            rows,
            reads_rows,
            region,
            ends,
            block,
            side,
        })
    }

    fn plan(&self, tile: &str, element: &str, marked: bool) -> Option<Plan> {
        let text = self.kernel.text;
        let indent = indentation(text, self.region.start).to_string();
        let mut patch = Patch::default();
        for at in &self.ends {
            patch.replace(line_of(text, at), "");
        }
        // One element more a row keeps columns in different banks.
        let declared = format!("__shared__ {element} {tile}[{0}][{0} + 1];", self.side);
        let mut lines = vec![];
        let mut depth = 0;
        for s in &self.steps {
            match s {
                Step::Loop(s) => {
                    lines.push((depth, format!("{} {{", head(self.kernel, s)?)));
                    depth += 1;
                }
                Step::Variables(s, false) if depth > 0 && !self.moves(s) => {
                    lines.push((depth, self.kernel.sources.text(s.span).to_string()));
                }
                _ => {}
            }
        }
        let (copying, storing) = (self.half(tile, false, marked)?, self.half(tile, true, marked)?);
        let hidden = |name: &str| copying.own_uses(name) + storing.own_uses(name);
        let deeper = |half: &Half| {
            half.lines.iter().map(|(d, l)| (depth + d, l.clone())).collect::<Vec<_>>()
        };
        lines.extend(deeper(&copying));
        lines.push((depth, "__syncthreads();".into()));
        lines.extend(deeper(&storing));
        if depth > 0 {
            lines.push((depth, "__syncthreads();".into()));
        }
        lines.extend((0..depth).rev().map(|d| (d, "}".to_string())));
        let written: Vec<String> =
            lines.into_iter().map(|(d, l)| format!("{}{l}", "    ".repeat(d))).collect();
        patch.replace(self.region.clone(), written.join(&format!("\n{indent}")));
        unused::without(self.kernel, &self.region, &hidden, &mut patch);
        let start = self.kernel.body.span.map_or(0, |s| s.start as usize) + 1;
        let whole = self.rows.as_ref().and_then(|r| r.whole.clone());
        let asserted = whole.map_or(String::new(), |w| format!("\n{indent}{w}"));
        patch.replace(start..start, format!("\n{indent}{declared}{asserted}"));
        Some(Plan {
            name: format!("transposing tile of `{}`", self.read.array),
            text: patch.apply(text).ok()?,
            marked,
            block: self.block,
            ..Plan::default()
        })
    }

    /// What copies to the tile, or stores from it.
    fn half(&self, tile: &str, storing: bool, marked: bool) -> Option<Half> {
        let swapped = storing == self.reads_rows;
        let turned = |text: &str| match swapped {
            true => self.swapped(text),
            false => Some(text.to_string()),
        };
        let added = self.rows.as_ref().map_or(String::new(), |r| format!(" + {}", r.added));
        let place = match swapped {
            true => format!("{tile}[threadIdx.x][threadIdx.y{added}]"),
            false => format!("{tile}[threadIdx.y{added}][threadIdx.x]"),
        };
        let last = match storing {
            true => turned(&self.stored(marked)?)?,
            false => format!("{HERE} = {};", turned(&self.read.text())?),
        };
        let (variables, conditions) = self.before(storing, swapped, marked)?;
        let conditions = conditions.iter().map(|c| turned(c)).collect::<Option<Vec<_>>>()?;
        let asked = windows::asked(&conditions);
        let variables = variables.iter().map(|v| turned(v)).collect::<Option<Vec<_>>>()?;
        let variables = needed(variables, &format!("{asked}{last}"));
        let mut lines = vec![];
        let open = match &self.rows {
            Some(rows) => Some(format!("{} {{", rows.head)),
            None => (!variables.is_empty()).then(|| "{".to_string()),
        };
        let inner = usize::from(open.is_some());
        lines.extend(open.into_iter().map(|l| (0, l)));
        if swapped {
            lines.push((
                inner,
                "// Threads change places, so that a row of them goes along a row.".into(),
            ));
        }
        lines.extend(variables.iter().map(|v| (inner, v.clone())));
        match asked.len() + last.len() > LONG && !asked.is_empty() {
            true => {
                lines.extend([(inner, asked.trim_end().to_string()), (inner + 1, last)]);
            }
            false => lines.push((inner, asked + &last)),
        }
        if inner > 0 {
            lines.push((0, "}".into()));
        }
        let lines = lines.into_iter().map(|(d, l)| (d, l.replace(HERE, &place))).collect();
        Some(Half { lines, variables })
    }

    /// The variables and the conditions of one half.
    fn before(
        &self,
        storing: bool,
        swapped: bool,
        marked: bool,
    ) -> Option<(Vec<String>, Vec<String>)> {
        let (mut variables, mut conditions) = (vec![], vec![]);
        for s in &self.steps {
            match s {
                Step::Variables(s, there) => {
                    let reads = self.holds_read(s);
                    if reads && !storing {
                        break;
                    }
                    let again = swapped || !there || reads;
                    if !again || !self.moves(s) && !reads {
                        continue;
                    }
                    let text = self.kernel.sources.text(s.span);
                    variables.push(match reads {
                        true => self.served(s, marked)?,
                        false => text.to_string(),
                    });
                }
                Step::Condition(text) => conditions.push(text.clone()),
                _ => {}
            }
        }
        Some((variables, conditions))
    }

    /// A statement with the tile in the place of the read, or with a mark at it.
    fn served(&self, s: &ast::Stmt, marked: bool) -> Option<String> {
        let start = s.span.start as usize;
        let mut patch = Patch::default();
        let at = self.read.whole.start - start..self.read.whole.end - start;
        let read = match marked {
            true => format!("__opt__({})", self.read.text()),
            false => HERE.to_string(),
        };
        patch.replace(at, read);
        patch.apply(self.kernel.sources.text(s.span)).ok()
    }

    /// The store, before threads are where they are then.
    fn stored(&self, marked: bool) -> Option<String> {
        match self.holds_read(self.store) {
            true => self.served(self.store, marked),
            false => Some(self.kernel.sources.text(self.store.span).to_string()),
        }
    }

    fn holds_read(&self, s: &ast::Stmt) -> bool {
        (s.span.start as usize..s.span.end as usize).contains(&self.read.whole.start)
    }

    /// Whether variables are others for each thread.
    fn moves(&self, s: &ast::Stmt) -> bool {
        let names = scope::names(self.kernel.sources.text(s.span));
        self.moving.iter().any(|n| names.contains(n))
    }

    /// A text as it is for the thread on the other side of the diagonal.
    fn swapped(&self, text: &str) -> Option<String> {
        let text = match &self.rows {
            Some(rows) => without_added(text, &rows.added)?,
            None => text.to_string(),
        };
        let added = self.rows.as_ref().map(|r| r.added.as_str());
        let mut patch = Patch::default();
        let tokens = marks::tokens(&text);
        let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
        for i in 0..tokens.len() {
            if word(i) != "threadIdx" || word(i + 1) != "." {
                continue;
            }
            let at = tokens[i].at.start..tokens.get(i + 2)?.at.end;
            match (word(i + 2), added) {
                ("y", _) => patch.replace(at, "threadIdx.x"),
                ("x", None) => patch.replace(at, "threadIdx.y"),
                ("x", Some(added)) => {
                    let before = if i == 0 { "" } else { word(i - 1) };
                    let open = ["+", "=", "(", "[", ","].contains(&before)
                        && [")", ";", "+", "-", ",", "]"].contains(&word(i + 3));
                    patch.replace(
                        at,
                        match open {
                            true => format!("threadIdx.y + {added}"),
                            false => format!("(threadIdx.y + {added})"),
                        },
                    );
                }
                _ => {}
            }
        }
        patch.apply(&text).ok()
    }
}

/// Says that a number of rows is made of whole blocks.
pub(super) fn whole_steps(side: &str, rows: &str) -> String {
    let side = super::cut::operand(side);
    format!("static_assert({side} % {rows} == 0, \"blocks go down a tile in whole steps\");")
}

impl Rows {
    /// A loop that takes a block down its tile: its rows go into the tile's side in so many iterations.
    fn new(kernel: &Kernel<'_>, s: &ast::Stmt) -> Option<Rows> {
        let added = added(kernel, s)?;
        let names = [0, 1].map(|a| kernel.extents[a].constant());
        let whole = match names {
            [None, None] => None,
            _ => {
                let [side, rows] = [kernel.extent(0, None)?, kernel.extent(1, None)?];
                Some(whole_steps(&side, &rows))
            }
        };
        Some(Rows { head: head(kernel, s)?, added, whole })
    }
}

/// What a loop adds to the rows of a block to go down its tile.
fn added(kernel: &Kernel<'_>, s: &ast::Stmt) -> Option<String> {
    let StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), body } = &s.kind
    else {
        return None;
    };
    let (counter, first, true) = outer::begin(init)? else { return None };
    let (end, false) = outer::bound(cond, counter)? else { return None };
    let value = |text: &str| kernel.value(text);
    let text = |e: &ast::Expr| kernel.sources.text(e.span).to_string();
    let (side, rows) = (extent(kernel, 0)?, extent(kernel, 1)?);
    let named = |e: &ast::Expr| kernel.extents[1].constant().is_some_and(|n| text(e) == *n);
    let by_rows = matches!(&*step.kind, ast::ExprKind::Assign { value, .. } if named(value));
    // A block that is as high as the tile goes down it once, unless it is meant to have fewer rows.
    if value(&text(first)) != Some(0) || side == rows && !by_rows {
        return None;
    }
    let end = value(&text(end))?;
    if outer::is_increment(step, counter) {
        // `y + k * ROWS`.
        let by = factor_beside(&text_of(kernel, body), counter)?;
        let fits = value(&by) == Some(rows) && end * rows == side;
        return fits.then(|| format!("{counter} * {by}"));
    }
    let ast::ExprKind::Assign { op, target, value: by } = &*step.kind else { return None };
    let fits = op == "+="
        && outer::name(target) == Some(counter)
        && end == side
        && (value(&text(by)) == Some(rows) || text(by) == "blockDim.y");
    fits.then(|| counter.to_string())
}

fn text_of(kernel: &Kernel<'_>, s: &ast::Stmt) -> String {
    kernel.sources.text(s.span).to_string()
}

/// What a counter is multiplied by in a text: always the same name or number behind it.
fn factor_beside(text: &str, counter: &str) -> Option<String> {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let mut found: Option<&str> = None;
    for i in (0..tokens.len()).filter(|i| word(*i) == counter) {
        if word(i + 1) != "*" || found.is_some_and(|f| f != word(i + 2)) {
            return None;
        }
        found = Some(word(i + 2));
    }
    found.map(str::to_string)
}

/// A text without ` + j`; `None` where `j` stands otherwise.
fn without_added(text: &str, added: &str) -> Option<String> {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let parts: Vec<&str> = added.split(' ').collect();
    let here = |i: usize| parts.iter().enumerate().all(|(n, p)| word(i + n) == *p);
    let mut patch = Patch::default();
    for i in (0..tokens.len()).filter(|i| word(*i) == parts[0]) {
        let end = i + parts.len();
        if !here(i) || ["*", "/", "%"].contains(&word(end)) {
            return None;
        }
        let before = if i == 0 { "" } else { word(i - 1) };
        let at = if before == "+" && i > 1 {
            tokens[i - 2].at.end..tokens[end - 1].at.end
        } else if word(end) == "+" && ["(", "[", "=", ","].contains(&before) {
            tokens[i].at.start..tokens.get(end + 1)?.at.start
        } else {
            return None;
        };
        patch.replace(at, "");
    }
    Some(unwrapped(&patch.apply(text).ok()?))
}

/// A text in which no name stands alone in parentheses.
pub(super) fn unwrapped(text: &str) -> String {
    let tokens = marks::tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t| &text[t.at.clone()]);
    let name = |w: &str| w.chars().all(|c| c.is_alphanumeric() || c == '_') && !w.is_empty();
    let mut patch = Patch::default();
    for i in 1..tokens.len() {
        let alone = word(i) == "(" && name(word(i + 1)) && word(i + 2) == ")";
        // No call, no cast.
        let operand = !name(word(i - 1)) && !name(word(i + 3)) && word(i + 3) != "(";
        if alone && operand && word(i - 1) != ">" {
            patch.replace(tokens[i].at.clone(), "");
            patch.replace(tokens[i + 2].at.clone(), "");
        }
    }
    patch.apply(text).unwrap_or_else(|_| text.to_string())
}

/// Names that are others for each thread.
fn moving(kernel: &Kernel<'_>) -> Vec<String> {
    let mut names = vec!["threadIdx".to_string()];
    scope::each_vars(&kernel.body.stmts, &mut |vars| {
        for d in &vars.declarators {
            let Some(ast::Initializer::Expr(e)) = &d.init else { continue };
            let used = scope::names(kernel.sources.text(e.span));
            if used.iter().any(|n| names.contains(n)) {
                names.push(d.name.clone());
            }
        }
    });
    names
}

/// Threads of a block along an axis, where the file says it.
fn extent(kernel: &Kernel<'_>, axis: usize) -> Option<i64> {
    match &kernel.extents[axis] {
        Extent::Number(n) => Some(i64::from(*n)),
        Extent::Constant(name) => values::value_of(kernel.unit, name),
        Extent::Free => None,
    }
}

/// A square block: one that is written down, if there has to be one.
fn square(kernel: &Kernel<'_>) -> Option<Option<[u32; 3]>> {
    if !kernel.axes[1] {
        return None;
    }
    match (&kernel.extents[0], &kernel.extents[1]) {
        (Extent::Free, Extent::Free) => {
            let block = kernel.given.unwrap_or(SQUARE);
            (block[0] == block[1]).then_some(Some(block))
        }
        (a, b)
            if a == b || extent(kernel, 0).is_some() && extent(kernel, 0) == extent(kernel, 1) =>
        {
            Some(None)
        }
        _ => None,
    }
}

/// `for (…; …; …)`.
fn head(kernel: &Kernel<'_>, s: &ast::Stmt) -> Option<String> {
    let StmtKind::For { body, .. } = &s.kind else { return None };
    let text = kernel.text.get(s.span.start as usize..body.span.start as usize)?;
    Some(text.trim_end().to_string())
}

/// The line of something that stands alone in it, else only that.
fn line_of(text: &str, at: &Bytes) -> Bytes {
    let start = text[..at.start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at.end..].find('\n').map_or(text.len(), |i| at.end + i + 1);
    let alone = text[start..at.start].trim().is_empty() && text[at.end..end].trim().is_empty();
    if alone { start..end } else { at.clone() }
}
