//! A plan as a whole: the marks of a file with what is in scope at each of them.

use std::collections::BTreeSet;

use warpsmith_front::ast::TranslationUnit;
use warpsmith_ir::{Diagnostic, FileId, SourceMap};

use crate::source::constants::Constant;
use crate::source::forks::{Choices, Fork, Forks};
use crate::source::guards;
use crate::source::marks::{self, Bytes, Mark, MarkKind, Marks};
use crate::source::parts;
use crate::source::patch::Patch;
use crate::source::scope::{self, SharedArray, Site};
use crate::source::turns::{self, Turn};
use crate::usage::{Along, Usage};

/// A name or expression of whole numbers whose value is recorded where a mark stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Symbol {
    /// As it is written in the rewritten text.
    pub text: String,
    pub kind: SymbolKind,
    /// Its type is `int`.
    pub int: bool,
    /// Its type may have 64 bits.
    pub long: bool,
    /// What it goes along, where that is known.
    pub along: Option<Along>,
    /// It says how far elements are apart.
    pub shifts: bool,
}

impl Symbol {
    /// A name or expression of a kind, of which nothing else is known.
    pub fn new(text: &str, kind: SymbolKind) -> Symbol {
        let (text, along) = (text.to_string(), kind.along());
        Symbol { text, kind, int: false, long: false, along, shifts: false }
    }
}

/// What a symbol is; simpler kinds make better conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    Thread(u8),
    /// A constant: an extent of the block or of a tile, or how far reads go.
    Constant,
    /// `blockDim`.
    Block(u8),
    /// A subscript of a shared array that the user wrote.
    Subscript,
    Variable,
    /// `blockIdx`.
    Grid(u8),
    /// A number that the function divides by: `x / 3`.
    Divisor,
    /// A number that the function compares a position or a size with: `n < 3000`.
    Limit,
    /// A condition of the text, 1 where it holds.
    Guard,
}

impl SymbolKind {
    /// Whether it has one value wherever a thread is.
    pub fn is_number(self) -> bool {
        matches!(self, SymbolKind::Constant | SymbolKind::Divisor | SymbolKind::Limit)
    }

    fn along(self) -> Option<Along> {
        match self {
            SymbolKind::Thread(a) | SymbolKind::Block(a) | SymbolKind::Grid(a) => {
                Some(std::array::from_fn(|own| own == usize::from(a)))
            }
            _ => None,
        }
    }
}

/// What surrounds one mark or one place for copies.
#[derive(Clone, Debug, Default)]
pub struct Point {
    pub site: Site,
    pub symbols: Vec<Symbol>,
    /// Parts of what is read that are positions: symbols where names do not do.
    pub parts: Vec<String>,
}

/// The marks of one kernel.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The text as the user wrote it.
    pub text: String,
    pub marks: Marks,
    /// One for each marked read.
    pub reads: Vec<Point>,
    /// One for each place for copies.
    pub inserts: Vec<Point>,
    /// Where data decide which threads come to the marks.
    pub forks: Forks,
    /// Marked reads in loops, iteration by iteration, where their copies are made before these.
    pub turns: Vec<Turn>,
    /// For each marked read with a given place, what holds where threads come to it from the place for its copies.
    guards: Vec<Vec<String>>,
}

impl Plan {
    /// Reads the plan of a text whose reference was parsed.
    ///
    /// # Errors
    /// W701 for a mark that is in no function, W704 for a plan without shared memory.
    pub fn new(
        text: &str,
        marks: Marks,
        unit: &TranslationUnit,
        sources: &SourceMap,
        (usage, constants): (&Usage, &[Constant]),
    ) -> Result<Plan, Vec<Diagnostic>> {
        let mut errors = vec![];
        let mut point = |at: &Bytes, byte: usize, what: &str| match scope::site(unit, sources, byte)
        {
            Some(site) => {
                if site.arrays.is_empty() {
                    errors.push(
                        Diagnostic::error(
                            "W704",
                            format!("no shared array is in scope of this {what}"),
                        )
                        .label(marks::span(FileId(0), at), "here")
                        .help(
                            "declare a `__shared__` array before it, and copy to it; a function may get one as a parameter, where \
                             all calls pass arrays of the same constant extents",
                        ),
                    );
                }
                let mut symbols = symbols(&site, unit, sources, (usage, constants));
                let body = scope::body_at(unit, byte);
                symbols.extend(body.map_or(vec![], parts::divisors).into_iter().map(divisor));
                let parts = body.map_or(vec![], |body| parts::positions(unit, body, at, sources));
                Point { site, symbols, parts }
            }
            None => {
                errors.push(
                    Diagnostic::error(
                        "W701",
                        format!("this {what} is in no function of the file that is understood"),
                    )
                    .label(marks::span(FileId(0), at), "here"),
                );
                Point::default()
            }
        };
        let reads = marks.reads.iter().map(|m| point(&m.whole, m.whole.start, "mark")).collect();
        let place = |i: &Bytes| {
            let mut point = point(i, i.end, "place for copies");
            if let Some(body) = scope::body_at(unit, i.end) {
                let (site, own) = (&point.site, scope::declared(body));
                let known = |n: &String| !own.contains_key(n) || site.declared.contains(n);
                let mut all = guards::of_copies(body, i.start, &site.arrays, sources);
                all.retain(|g| scope::names(g).iter().all(known));
                point.symbols.extend(all.iter().map(|g| Symbol::new(g, SymbolKind::Guard)));
            }
            point
        };
        let inserts: Vec<Point> = marks.inserts.iter().map(place).collect();
        if errors.is_empty() {
            errors = misplaced(&marks, &inserts);
        }
        match errors.is_empty() {
            true => {
                let forks = Forks::of(unit, &marks, sources);
                let text = text.to_string();
                let (turns, guards) = (vec![], vec![]);
                let mut plan = Plan { forks, text, marks, reads, inserts, turns, guards };
                plan.brought_forward(turns::File { unit, sources, constants });
                Ok(plan)
            }
            false => Err(errors),
        }
    }

    /// What reads with a given place are at the place for their copies, in each iteration of the loops between the two.
    fn brought_forward(&mut self, file: turns::File<'_>) {
        self.guards = vec![vec![]; self.reads.len()];
        for m in 0..self.reads.len() {
            let Some((shared, global)) = self.given(m) else { continue };
            let byte = self.mark(m).whole.start;
            let Some(before) = self.marks.inserts.iter().rposition(|i| i.end <= byte) else {
                continue;
            };
            let place = self.marks.inserts[before].end;
            let guards = file.between(place, byte);
            let sites = (byte, &self.reads[m].site, &self.inserts[before].site);
            let given = [self.slice(shared), self.slice(global)];
            let turns = file.turns(m, sites, (given, &guards));
            self.guards[m] = file.guard(sites, &guards);
            self.turns.extend(turns);
        }
    }

    /// What holds where threads come to a read, or to one iteration of it, said with what the place for its copies knows.
    pub fn guard(&self, at: usize) -> &[String] {
        match at.checked_sub(self.first_turn()) {
            Some(turn) => self.turns.get(turn).map_or(&[], |t| &t.guard),
            None => self.guards.get(at).map_or(&[], |g| g),
        }
    }

    /// Whether there are some of these, and none is one of many iterations.
    pub fn are_single(&self, marks: &BTreeSet<usize>) -> bool {
        let turn = |m: &usize| m.checked_sub(self.first_turn()).and_then(|t| self.turns.get(t));
        !marks.is_empty() && marks.iter().filter_map(turn).all(|t| t.counters.is_empty())
    }

    /// Whether the text says under which conditions threads come to a read from the place for its copies.
    pub fn is_guarded(&self, mark: usize) -> bool {
        self.sources().filter(|at| self.origin(*at) == mark).any(|at| !self.guard(at).is_empty())
    }

    /// The first number that stands for an iteration of a read, where lower ones stand for marks and places for copies.
    pub fn first_turn(&self) -> usize {
        self.reads.len() + self.inserts.len()
    }

    /// The mark that is meant, or an iteration of which is.
    pub fn origin(&self, at: usize) -> usize {
        at.checked_sub(self.first_turn()).map_or(at, |turn| self.turns[turn].mark)
    }

    /// A mark that others stand for, in its iterations or without names that the place for copies does not know.
    pub fn is_brought_forward(&self, mark: usize) -> bool {
        self.turns.iter().any(|t| t.mark == mark)
    }

    /// The expressions that a copy for a read, or for one iteration of it, is made of.
    pub fn copied(&self, at: usize) -> Option<[&str; 2]> {
        match at.checked_sub(self.first_turn()) {
            Some(turn) => self.turns.get(turn).map(|t| [&*t.shared, &*t.global]),
            None => self.given(at).map(|(shared, global)| [self.slice(shared), self.slice(global)]),
        }
    }

    /// All that copies may be made of.
    pub fn sources(&self) -> impl Iterator<Item = usize> {
        (0..self.reads.len()).chain((self.first_turn()..).take(self.turns.len()))
    }

    /// All shared arrays that some mark can see, each once.
    pub fn arrays(&self) -> Vec<&SharedArray> {
        let mut all: Vec<&SharedArray> = vec![];
        for array in self.reads.iter().chain(&self.inserts).flat_map(|p| &p.site.arrays) {
            if !all.iter().any(|a| a.extent_spans == array.extent_spans && a.name == array.name) {
                all.push(array);
            }
        }
        all
    }

    /// Edits that make extents constant which ask for the block: `tile[blockDim.x * blockDim.y]`.
    pub fn extents(&self, block: [u32; 3]) -> Patch {
        let mut patch = Patch::default();
        for array in self.arrays() {
            for (text, span) in array.extents.iter().zip(&array.extent_spans) {
                if text.contains("blockDim") && span.file.0 == 0 {
                    patch.replace(
                        span.start as usize..span.end as usize,
                        constant_extent(text, block),
                    );
                }
            }
        }
        patch
    }

    /// Records members of structures that bound positions, too, wherever the structure is in scope.
    pub fn record(&mut self, members: &[String], usage: &Usage) {
        for point in self.reads.iter_mut().chain(&mut self.inserts) {
            let base = |m: &&String| {
                let base = m.split(['.', '-']).next().unwrap_or("");
                point.site.declared.iter().any(|d| d == base)
            };
            let symbol = |m: &String| {
                let along = usage.along(m);
                Symbol { along, ..Symbol::new(m, SymbolKind::Variable) }
            };
            let found: Vec<Symbol> = members.iter().filter(base).map(symbol).collect();
            point.symbols.extend(found);
        }
    }

    /// Records variables of the device, too, wherever nothing else has the name.
    pub fn record_variables(&mut self, names: &[String], usage: &Usage) {
        for point in self.reads.iter_mut().chain(&mut self.inserts) {
            let seen = names.iter().filter(|n| !point.site.declared.contains(n));
            let symbol = |n: &String| Symbol {
                along: usage.along(n),
                shifts: usage.shifts.contains(n),
                ..Symbol::new(n, SymbolKind::Variable)
            };
            point.symbols.extend(seen.map(symbol));
        }
    }

    /// Whether there are parts of what is read that could be recorded.
    pub fn has_parts(&self) -> bool {
        self.reads.iter().any(|p| !p.parts.is_empty())
    }

    /// Records parts of what is read, and extents that are sums: where data end a loop these alone bound what is in the tile. False:
    /// there are none that are not recorded.
    pub fn record_parts(&mut self) -> bool {
        let mut any = false;
        for (point, mark) in self.reads.iter_mut().zip(&self.marks.reads) {
            let parts = match mark.kind {
                MarkKind::Given { .. } => vec![],
                MarkKind::Read { .. } => std::mem::take(&mut point.parts),
            };
            let known = |s: &String| point.symbols.iter().any(|own| own.text == *s);
            let sums: Vec<String> =
                parts::sums(&point.site.arrays).into_iter().filter(|s| !known(s)).collect();
            any |= !parts.is_empty() || !sums.is_empty();
            let symbol = |text: &String| Symbol::new(text, SymbolKind::Variable);
            point.symbols.extend(parts.iter().map(symbol));
            let symbol = |text: &String| Symbol::new(text, SymbolKind::Constant);
            point.symbols.extend(sums.iter().map(symbol));
        }
        any
    }

    /// The program that the plan must not change, for a block shape.
    pub fn reference(&self, block: [u32; 3]) -> String {
        let plain = marks::reference(&self.text, &self.marks);
        self.extents(block).apply(&plain).unwrap_or(plain)
    }

    /// The edits that make the reference.
    pub fn original(&self) -> Patch {
        let mut edits = Patch::default();
        for mark in &self.marks.reads {
            let text = format!("({}){}", self.slice(&mark.global()), self.slice(&mark.member));
            edits.replace(mark.whole.clone(), text);
        }
        self.marks.inserts.iter().for_each(|i| edits.replace(i.clone(), ""));
        edits
    }

    /// Has all threads of an edited text go the way of some choices, whatever data say; not where an edit took the fork out.
    pub fn send(&self, choices: &Choices, edits: &mut Patch) {
        let mut order: Vec<usize> = choices.keys().copied().collect();
        // Of two that begin together the outer one is around the other.
        order.sort_by_key(|n| std::cmp::Reverse(self.forks.forks[*n].at.end));
        for n in order {
            let Fork { at, selects } = &self.forks.forks[n];
            if edits.splits(at.start) || edits.splits(at.end) {
                continue;
            }
            let value = choices[&n];
            let value = if *selects { value.to_string() } else { (value != 0).to_string() };
            edits.replace(at.start..at.start, "((");
            edits.replace(at.end..at.end, format!("), {value})"));
        }
    }

    pub fn given(&self, mark: usize) -> Option<(&Bytes, &Bytes)> {
        match &self.marks.reads[mark].kind {
            MarkKind::Given { shared, global } => Some((shared, global)),
            MarkKind::Read { .. } => None,
        }
    }

    pub fn mark(&self, at: usize) -> &Mark {
        &self.marks.reads[at]
    }

    pub fn slice(&self, at: &Bytes) -> &str {
        self.text.get(at.clone()).unwrap_or("")
    }
}

/// Places for copies that do not stand between statements.
fn misplaced(marks: &Marks, inserts: &[Point]) -> Vec<Diagnostic> {
    let own =
        |end: usize, p: &Point| p.site.statements.last().is_some_and(|s| s.start as usize == end);
    let all = marks.inserts.iter().zip(inserts).filter(|(at, point)| !own(at.end, point));
    all.map(|(at, _)| {
        Diagnostic::error("W700", "`__insert();` has to stand between other statements")
            .label(marks::span(FileId(0), at), "here")
            .help("put braces around it")
    })
    .collect()
}

/// An extent in which the block has numbers.
fn constant_extent(text: &str, block: [u32; 3]) -> String {
    let mut text = text.to_string();
    for (axis, n) in ["x", "y", "z"].iter().zip(block) {
        text = text.replace(&format!("blockDim.{axis}"), &n.to_string());
    }
    text
}

/// What is recorded at a place: thread and block, constants, subscripts, and every integer variable.
fn symbols(
    site: &Site,
    unit: &TranslationUnit,
    sources: &SourceMap,
    (usage, own): (&Usage, &[Constant]),
) -> Vec<Symbol> {
    // A constant of the function is one where it is declared before the mark.
    let local =
        |n: &String| site.variables.contains(n) && own.iter().any(|c| c.local && c.name == *n);
    let of_file = |c: &&Constant| !c.local && c.key == c.name && !site.declared.contains(&c.name);
    let mut all = vec![];
    let mut add = |text: String, kind: SymbolKind| {
        let int =
            site.ints.contains(&text) || kind == SymbolKind::Constant && is_int_macro(unit, &text);
        let along = if site.kernel { along(&text, kind, usage) } else { kind.along() };
        let shifts = site.kernel && usage.shifts.contains(&text);
        let long = scope::names(&text).iter().any(|n| site.longs.contains(n));
        let symbol = Symbol { text, kind, int, long, along, shifts };
        if !all.contains(&symbol) {
            all.push(symbol);
        }
    };
    let used = |a: &u8| usage.axes[usize::from(*a)];
    let axis = |a: u8| ["x", "y", "z"][usize::from(a)];
    for a in (0..3u8).filter(used) {
        add(format!("threadIdx.{}", axis(a)), SymbolKind::Thread(a));
    }
    let body = site.body.map_or("", |s| sources.text(s));
    let arrays: String =
        site.arrays.iter().flat_map(|a| &a.extents).map(|e| format!("{e} ")).collect();
    let constants = scope::constants(unit, &format!("{arrays} {body}"));
    for name in constants.into_iter().chain(site.template_values.iter().cloned()) {
        add(name, SymbolKind::Constant);
    }
    for name in own.iter().filter(of_file).map(|c| &c.name) {
        add(name.clone(), SymbolKind::Constant);
    }
    for name in site.variables.iter().filter(|n| local(n)) {
        add(name.clone(), SymbolKind::Constant);
    }
    for a in (0..3u8).filter(used) {
        add(format!("blockDim.{}", axis(a)), SymbolKind::Block(a));
    }
    let known: Vec<String> = all_names(site, unit);
    for s in &site.subscripts {
        let names = scope::names(&s.text);
        if names.len() > 1 && names.iter().all(|n| known.contains(n)) {
            add(s.text.clone(), SymbolKind::Subscript);
        }
    }
    for name in site.variables.iter().filter(|n| !local(n)) {
        // No number is made from what is true or not.
        let kind =
            if site.truths.contains(name) { SymbolKind::Guard } else { SymbolKind::Variable };
        add(name.clone(), kind);
    }
    for a in (0..3u8).filter(used) {
        add(format!("blockIdx.{}", axis(a)), SymbolKind::Grid(a));
    }
    if site.kernel {
        usage.limits.iter().for_each(|l| add(l.value.to_string(), SymbolKind::Limit));
    }
    all
}

/// What a variable goes along, and an expression: what any of its names does.
fn along(text: &str, kind: SymbolKind, usage: &Usage) -> Option<Along> {
    match kind {
        SymbolKind::Variable => usage.along(text),
        SymbolKind::Subscript => {
            let threads = (0..3u8).zip(["threadIdx.x", "threadIdx.y", "threadIdx.z"]);
            let threads = threads.filter(|(_, x)| text.contains(x));
            let threads = threads.filter_map(|(a, _)| SymbolKind::Thread(a).along());
            let known = scope::names(text).into_iter().filter_map(|n| usage.along(&n));
            known.chain(threads).reduce(|a, b| std::array::from_fn(|i| a[i] || b[i]))
        }
        _ => kind.along(),
    }
}

/// A number that positions are divided by.
fn divisor(number: i64) -> Symbol {
    Symbol { int: true, ..Symbol::new(&number.to_string(), SymbolKind::Divisor) }
}

/// Whether a macro is a plain decimal number.
fn is_int_macro(unit: &TranslationUnit, name: &str) -> bool {
    unit.macros.get(name).is_some_and(|v| v.trim().parse::<i32>().is_ok())
}

fn all_names(site: &Site, unit: &TranslationUnit) -> Vec<String> {
    let builtin = ["threadIdx", "blockIdx", "blockDim", "gridDim"].map(String::from);
    let mut all: Vec<String> =
        site.variables.iter().chain(&site.template_values).cloned().chain(builtin).collect();
    for s in &site.subscripts {
        all.extend(scope::constants(unit, &s.text));
    }
    all
}
