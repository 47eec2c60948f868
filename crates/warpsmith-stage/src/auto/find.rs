//! What a kernel reads: from where, in which statement, and how far from the thread's own element.

use std::collections::HashMap;

use warpsmith_front::ast::{self, ExprKind, Initializer, StmtKind, TranslationUnit, TypeKind};
use warpsmith_front::sema::walk;
use warpsmith_ir::{SourceMap, Span, VarKind};

pub use super::access::Access;
use super::{elements, indirect, outer};
use crate::program::Program;
use crate::source::marks::{self, Bytes};
use crate::source::scope;
use crate::verify::proof::formula::Sum;
use crate::verify::proof::walk::{self as proofs, What};

/// What a kernel reads and stores, each in the order of the text.
#[derive(Debug, Default)]
pub struct Accesses {
    /// Elements of arrays that are parameters: `a[i]`.
    pub own: Vec<Access>,
    /// Those of local pointers into them.
    pub through: Vec<Access>,
    /// Those that are written otherwise: members, several subscripts, macros, functions.
    pub indirect: Vec<Access>,
}

/// All that a kernel reads and stores.
pub fn accesses(
    function: &ast::FunctionDecl,
    unit: &TranslationUnit,
    sources: &SourceMap,
    program: &Program,
    text: &str,
) -> Accesses {
    let Some(body) = &function.body else { return Accesses::default() };
    let (places, loads) = places(program);
    let params = pointers(function);
    let locals = into(body, &params, sources);
    let of = |arrays: &[&String]| elements(&Finder::new(body, sources, arrays, &places), body);
    let named: Vec<&String> = function.params.iter().filter_map(|p| p.name.as_ref()).collect();
    let finder =
        Finder { text, loads, params: &named, ..Finder::new(body, sources, &params, &places) };
    let through = of(&locals.iter().map(|(name, _)| name).collect::<Vec<_>>());
    let mut indirect = indirect::accesses(&finder, body, unit);
    // What is read through a local pointer is an element of what that points into.
    indirect.extend(through.iter().filter_map(|a| {
        let (_, param) = locals.iter().find(|(name, _)| *name == a.array)?;
        Some(Access { array: (*param).clone(), ..a.clone() })
    }));
    indirect.sort_by_key(|a| a.whole.start);
    Accesses { own: of(&params), through, indirect }
}

/// Parameters that are pointers.
pub fn pointers(function: &ast::FunctionDecl) -> Vec<&String> {
    let pointers = function.params.iter().filter(|p| matches!(p.ty.kind, TypeKind::Pointer { .. }));
    pointers.filter_map(|p| p.name.as_ref()).collect()
}

/// Pointers that a body declares once, from one of some parameters, and never changes: `const float *a = A + b * n;`.
pub fn into<'a>(
    body: &ast::Block,
    params: &[&'a String],
    sources: &SourceMap,
) -> Vec<(String, &'a String)> {
    let values = initialisers(body, sources);
    let mut all = vec![];
    scope::each_vars(&body.stmts, &mut |vars| {
        for d in vars.declarators.iter().filter(|d| matches!(d.ty.kind, TypeKind::Pointer { .. })) {
            let Some(value) = values.get(&d.name) else { continue };
            let names = scope::names(value);
            let mut roots = params.iter().filter(|p| names.contains(p));
            if let (Some(param), None) = (roots.next(), roots.next()) {
                all.push((d.name.clone(), *param));
            }
        }
    });
    all
}

/// How an element is written.
pub struct Named {
    pub array: String,
    pub open: String,
    pub index: String,
    pub close: String,
    pub whole: Bytes,
    /// The type of what a function makes of it.
    pub value: Option<String>,
}

/// What accesses are made from.
pub struct Finder<'a> {
    pub sources: &'a SourceMap,
    pub text: &'a str,
    /// The names whose elements are meant.
    pub params: &'a [&'a String],
    /// What functions of the file read, in order.
    pub loads: Vec<(Span, Sum)>,
    places: &'a Places,
    targets: Vec<Span>,
    origins: Origins<'a>,
}

impl<'a> Finder<'a> {
    fn new(
        body: &ast::Block,
        sources: &'a SourceMap,
        params: &'a [&'a String],
        places: &'a Places,
    ) -> Finder<'a> {
        let mut targets = vec![];
        walk::block(body, &mut |e| match &*e.kind {
            ExprKind::Assign { target, .. } => targets.push(target.span),
            ExprKind::IncDec { operand, .. } => targets.push(operand.span),
            _ => {}
        });
        let origins = Origins { values: scope::declared(body), sources, arrays: params };
        Finder { sources, text: "", params, loads: vec![], places, targets, origins }
    }

    /// Whether a parameter is a pointer.
    pub fn is_pointer(&self, name: &str) -> bool {
        self.origins.arrays.iter().any(|a| *a == name)
    }

    /// The address of what stands at a byte.
    pub fn at(&self, start: u32) -> Option<Sum> {
        self.places.get(&start)?.last().cloned()
    }

    /// An element that is written so, with its address; `span`: the element itself.
    pub fn access(&self, named: Named, span: Span, at: Option<Sum>) -> Access {
        let Named { array, open, index, close, whole, value } = named;
        let (threads, by_data) = self.origins.of(&index, open.ends_with('(').then_some(&*array));
        // What a counter begins with is not part of its sum: one that begins at the thread says nothing of threads.
        let from_thread = at.as_ref().is_some_and(|at| threads && counts_alone(at));
        let at = at.filter(|_| !from_thread);
        let stored = self.targets.contains(&span);
        let several = self.places.get(&span.start).is_some_and(|all| all.len() > 1);
        Access {
            array,
            whole,
            open,
            close,
            index,
            value,
            at,
            several,
            by_data,
            stored,
            from_thread,
        }
    }
}

/// Elements of some arrays in the order of the text.
fn elements(finder: &Finder<'_>, body: &ast::Block) -> Vec<Access> {
    let through = cached(body);
    let (mut all, mut several) = (vec![], vec![]);
    walk::block(body, &mut |e| {
        let ExprKind::Index { base, .. } = &*e.kind else { return };
        // `a[i]` in `a[i][j]` is no element.
        if let ExprKind::Index { .. } = &*scope::plain(base).kind {
            several.push(scope::plain(base).span);
        }
        let ExprKind::Path(path) = &*base.kind else { return };
        let known = |n: &&str| finder.params.iter().any(|a| a == n);
        let Some(name) = path.as_name().filter(known) else { return };
        let text = finder.sources.text(e.span);
        // What a macro brings has no text of its own to edit.
        let plain = e.span.file.0 == 0 && text.ends_with(']') && text.starts_with(name);
        if !plain || several.contains(&e.span) {
            return;
        }
        let call = through.iter().find(|(inner, _)| *inner == e.span).map(|(_, call)| *call);
        let whole = call.unwrap_or(e.span);
        let at = finder.at(e.span.start).or_else(|| finder.at(whole.start));
        let named = Named {
            array: name.to_string(),
            open: format!("{name}["),
            index: subscript(text),
            close: "]".into(),
            whole: whole.start as usize..whole.end as usize,
            value: None,
        };
        all.push(finder.access(named, e.span, at));
    });
    all.sort_by_key(|a| a.whole.start);
    all
}

/// Whether a sum asks for no thread: a counter that begins at one is in it without where it begins.
fn counts_alone(at: &Sum) -> bool {
    let mut threads = false;
    let counts = |n: &str| n.starts_with("t_n") || n.starts_with("t_v");
    at.names(&mut |n| threads |= n.starts_with("t_") && !counts(n));
    !threads
}

/// What subscripts are made from, through the variables that a kernel declares.
struct Origins<'a> {
    values: HashMap<String, Vec<Option<ast::Expr>>>,
    sources: &'a SourceMap,
    arrays: &'a [&'a String],
}

impl Origins<'_> {
    /// Whether elements of a name are read somewhere.
    fn is_array(&self, name: &String) -> bool {
        self.arrays.contains(&name)
    }

    /// Whether a subscript asks for the thread, and whether for elements of arrays: of others than `own`, which a function is given.
    fn of(&self, index: &str, own: Option<&str>) -> (bool, bool) {
        let (mut threads, mut data) = (false, false);
        let own = own.filter(|own| marks::mentions(index, own) == 1);
        let mut seen: Vec<String> = vec![];
        let mut left = vec![index.to_string()];
        while let Some(text) = left.pop() {
            threads |= text.contains("threadIdx");
            for name in scope::names(&text) {
                data |= own != Some(&*name) && self.is_array(&name);
                let values = self.values.get(&name).filter(|_| !seen.contains(&name));
                let known = values.into_iter().flatten().flatten();
                left.extend(known.map(|e| self.sources.text(e.span).to_string()));
                seen.push(name);
            }
        }
        (threads, data)
    }
}

/// Elements that are read through the cache for constants, `__ldg(&a[i])`, with the whole calls.
fn cached(body: &ast::Block) -> Vec<(Span, Span)> {
    let mut all = vec![];
    walk::block(body, &mut |e| {
        let ExprKind::Call { callee, args } = &*e.kind else { return };
        let ([arg], Some("__ldg")) = (args.as_slice(), outer::name(callee)) else { return };
        if let ExprKind::Unary { op, operand } = &*scope::plain(arg).kind
            && op == "&"
            && let element @ ast::Expr { span, .. } = scope::plain(operand)
            && matches!(&*element.kind, ExprKind::Index { .. })
            && e.span.file.0 == 0
        {
            all.push((*span, e.span));
        }
    });
    all
}

/// Threads and iterations that are looked at for elements that two threads read.
const LOOKED_AT: i64 = 5;

/// Whether no two threads of a block read one element, in whichever iterations: of all loops together, and of each alone.
fn own(reads: &[&Access], planes: bool) -> bool {
    let all = 0..LOOKED_AT;
    let rows = if planes { all.clone() } else { 0..1 };
    let threads = rows.flat_map(|y| all.clone().map(move |x| [x, y, 0]));
    let mut readers: HashMap<i64, [i64; 3]> = HashMap::new();
    let mut mine = |thread, value: Option<i64>| {
        value.is_some_and(|v| *readers.entry(v).or_insert(thread) == thread)
    };
    let each = threads.flat_map(|t| all.clone().map(move |i| (t, i)));
    let mut each = each.flat_map(|(t, i)| reads.iter().map(move |a| (t, i, a)));
    each.all(|(t, i, a)| {
        let alone = |l: &str| a.value_in(t, &|n| if n == l { i } else { 0 });
        let loops = a.loops().unwrap_or_default();
        mine(t, a.value_at(t, i)) && loops.iter().all(|l| mine(t, alone(l)))
    }) && reads.iter().all(|a| !a.several)
}

/// Why no tile is worth it for the reads of an array; `shared`: threads of a block may read the same elements; `planes`: the kernel
/// asks for the thread along y.
pub fn unshared(reads: &[&Access], shared: bool, planes: bool) -> String {
    let name = reads.first().map_or("", |a| a.array.as_str());
    let moves = |a: &&&Access| a.strides().filter(|_| a.loops().is_some());
    let strides: Vec<[i64; 2]> = reads.iter().filter_map(|a| moves(&a)).collect();
    let call = reads.iter().find(|a| a.open.ends_with('(') && a.at.is_none());
    let repeats = reads.iter().any(|a| a.repeats(planes));
    match strides.len() == reads.len() {
        false if reads.iter().any(|a| a.by_data) => format!(
            "`{name}`: data decide on its subscripts, so that no tile is certain to hold what is read"
        ),
        false if call.is_some() => format!(
            "`{name}`: which element `{}…)` reads for a thread is not understood: read it in the kernel, by its subscript",
            call.map_or("", |a| a.open.as_str())
        ),
        false if reads.iter().any(|a| a.from_thread) => format!(
            "`{name}`: each thread goes through a loop from an element of its own and may leave it before others do, so that no barrier can \
             stand in it"
        ),
        false if name.contains(['.', '>']) => format!(
            "`{name}`: where the pointer in the structure leads is not followed: pass it to the kernel as a parameter of its own"
        ),
        false => format!(
            "`{name}`: how its subscripts depend on the thread is not understood, so that no tile is certain to hold what is read"
        ),
        true if reads.iter().all(|a| a.is_uniform()) && !repeats => format!(
            "`{name}`: all threads of a block read one element at a time, which takes one request and one sector of the cache a warp \
             without a tile, and one request with it"
        ),
        true if strides.iter().all(|s| *s == [0, 0]) && !repeats => format!(
            "`{name}`: what threads of a block read depends on how sizes lie to each other, and no plan for that is known"
        ),
        true if own(reads, planes) => {
            format!(
                "`{name}`: each thread reads elements of its own, which no other of the block reads"
            )
        }
        true if shared || repeats => format!(
            "`{name}`: threads of a block read what others read, too, but no plan for that is known, or none passed its checks"
        ),
        true if strides.iter().all(|s| s[0].abs() == 1) => format!(
            "`{name}`: no two threads of a block read one element, and rows of threads read rows"
        ),
        true => format!(
            "`{name}`: neighbours read elements that lie apart, and no plan is known that makes rows of them"
        ),
    }
}

/// Why stores of an array stay as they are, where neighbours do not store neighbours.
pub fn scattered(store: &Access) -> Option<String> {
    let apart = store.strides().is_some_and(|[x, _]| x.abs() > 1);
    apart.then(|| {
        format!(
            "`{}`: neighbours store elements that lie apart, and a tile that turns rows around is known for one read and one store a thread \
             outside of loops",
            store.array
        )
    })
}

/// What stands between the brackets of `a[…]`.
fn subscript(text: &str) -> String {
    let open = text.find('[').map_or(0, |i| i + 1);
    text.get(open..text.len() - 1).unwrap_or("").trim().to_string()
}

/// Addresses by where they stand in the text.
type Places = HashMap<u32, Vec<Sum>>;

/// Addresses by where they stand in the text, and those of loads in their order.
fn places(program: &Program) -> (Places, Vec<(Span, Sum)>) {
    let this = (&program.module, program.kernel);
    let Ok(walked) = proofs::walk(this, this, [64, 64, 64]) else { return Default::default() };
    let key = |s: Option<Span>| s.filter(|s| s.file.0 == 0).map(|s| s.start);
    let ordered = walked.loads.iter().filter_map(|l| Some((l.span?, l.at.sum())));
    let ordered = ordered.collect();
    let loads = walked.loads.iter().map(|l| (key(l.span), l.at.sum()));
    let stores = walked.events.iter().filter_map(|e| match &e.what {
        What::Result { at, span, .. } => Some((key(*span), at.sum())),
        _ => None,
    });
    let mut places = Places::new();
    for (k, sum) in loads.chain(stores) {
        let Some(k) = k else { continue };
        let known = places.entry(k).or_default();
        known.retain(|s| *s != sum);
        known.push(sum);
    }
    (places, ordered)
}

/// The name of an array in names of what is made for it: `f.u` is `f_u`.
pub fn plain_name(array: &str) -> String {
    array.replace("->", "_").replace('.', "_")
}

/// Whether a shared array is declared in the kernel already.
pub fn has_shared(program: &Program) -> bool {
    let function = program.module.function(program.kernel);
    function.vars.iter().any(|v| matches!(v.kind, VarKind::Shared | VarKind::DynamicShared))
}

/// A statement of a list around a place, and what is around it.
#[derive(Clone, Debug)]
pub struct Home {
    pub span: Bytes,
    /// It is inside of a loop.
    pub looped: bool,
    /// The condition, if it is an `if`.
    pub condition: Option<String>,
    /// The end of the last statement of the same list that holds one of the accesses.
    pub end: usize,
}

/// The place before which a copy can stand: as far outside as what it is made from allows, and under no condition.
pub fn home(
    body: &ast::Block,
    accesses: &[&Access],
    needed: &[String],
    unit: &TranslationUnit,
    sources: &SourceMap,
) -> Option<Home> {
    let first = accesses.first()?.whole.start as u32;
    let mut list: &[ast::Stmt] = &body.stmts;
    let mut looped = false;
    loop {
        let s = list.iter().find(|s| holds(s.span, first))?;
        let declared = scope::site(unit, sources, s.span.start as usize)?.declared;
        let text = sources.text(s.span);
        let ready =
            needed.iter().all(|n| declared.contains(n)) && !needed.iter().any(|n| changes(text, n));
        if ready {
            let spans: Vec<_> = accesses.iter().map(|a| a.whole.start as u32).collect();
            let unchanged = |c: &String| !scope::names(c).iter().any(|n| changes(text, n));
            let condition = condition(s, &spans, sources).filter(unchanged);
            let last = list
                .iter()
                .filter(|s| accesses.iter().any(|a| holds(s.span, a.whole.start as u32)))
                .map(|s| s.span.end as usize)
                .max()?;
            return Some(Home {
                span: s.span.start as usize..s.span.end as usize,
                looped,
                condition,
                end: last,
            });
        }
        let inner = match &s.kind {
            StmtKind::For { body, .. } => body,
            _ => return None,
        };
        let StmtKind::Block(b) = &inner.kind else { return None };
        looped = true;
        list = &b.stmts;
    }
}

/// Under which condition of a statement all of some accesses are made. None of one that only some of them stand in: the others are made without it.
fn condition(s: &ast::Stmt, accesses: &[u32], sources: &SourceMap) -> Option<String> {
    let StmtKind::If { cond, then, otherwise, .. } = &s.kind else { return None };
    let all_in = |span: Span| accesses.iter().all(|at| holds(span, *at));
    let text = sources.text(cond.span);
    let otherwise = otherwise.as_ref().filter(|other| all_in(other.span));
    match otherwise {
        None => all_in(then.span).then(|| text.to_string()),
        Some(other) => Some(match condition(other, accesses, sources) {
            None => format!("!({text})"),
            Some(more) => format!("!({text}) && ({more})"),
        }),
    }
}

fn holds(span: Span, at: u32) -> bool {
    span.file.0 == 0 && span.start <= at && at < span.end
}

/// Whether a text declares or assigns a name.
pub fn changes(text: &str, name: &str) -> bool {
    let tokens = marks::tokens(text);
    let other = |i: usize, b: u8| {
        tokens.get(i).is_some_and(|t| t.piece == warpsmith_front::pp::Piece::Other(b))
    };
    (0..tokens.len()).any(|i| {
        // A member of that name is another variable.
        let member =
            i >= 1 && other(i - 1, b'.') || i >= 2 && other(i - 1, b'>') && other(i - 2, b'-');
        if text[tokens[i].at.clone()] != *name || member {
            return false;
        }
        let assigned = other(i + 1, b'=') && !other(i + 2, b'=')
            || (b"+-*/%&|^".iter().any(|o| other(i + 1, *o)) && other(i + 2, b'='))
            || other(i + 1, b'+') && other(i + 2, b'+')
            || other(i + 1, b'-') && other(i + 2, b'-');
        let before = i >= 2
            && (other(i - 1, b'+') && other(i - 2, b'+')
                || other(i - 1, b'-') && other(i - 2, b'-'));
        assigned || before
    })
}

/// Initialisers of variables that are declared once and never assigned, by name.
pub fn initialisers(body: &ast::Block, sources: &SourceMap) -> HashMap<String, String> {
    let mut all: HashMap<String, Option<String>> = HashMap::new();
    scope::each_vars(&body.stmts, &mut |vars| {
        for d in &vars.declarators {
            let text = match &d.init {
                Some(Initializer::Expr(e)) => Some(sources.text(e.span).to_string()),
                _ => None,
            };
            // A name that stands for two variables has no value.
            all.entry(d.name.clone()).and_modify(|known| *known = None).or_insert(text);
        }
    });
    for (name, _) in outer::assignments(&body.stmts) {
        all.remove(&name);
    }
    all.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
}

/// Names that statements declare, at any depth.
pub fn names_declared(stmts: &[ast::Stmt]) -> Vec<String> {
    let mut all = vec![];
    scope::each_vars(stmts, &mut |vars| {
        all.extend(vars.declarators.iter().map(|d| d.name.clone()))
    });
    all
}

/// The declared type of a variable of a body, as written, without `const`.
pub fn declared_type(body: &ast::Block, name: &str, sources: &SourceMap) -> Option<String> {
    let mut found = None;
    scope::each_vars(&body.stmts, &mut |vars| {
        for d in vars.declarators.iter().filter(|d| d.name == name) {
            found = Some(elements::plain_type(&d.ty, sources));
        }
    });
    found
}
