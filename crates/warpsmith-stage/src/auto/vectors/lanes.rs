//! What lanes of a vector read and store: which of it comes and goes as vectors, and the text of the rest.

use std::collections::{BTreeSet, HashMap};

use warpsmith_front::ast::{self, ExprKind, StmtKind};
use warpsmith_front::sema::walk;

use super::forms::{Along, Forms, Poly};
use super::region::{Region, bytes};
use super::{PARTS, vector_of};
use crate::auto::elements;
use crate::auto::find::{self, Access};
use crate::auto::plans::{Kernel, replaced};
use crate::auto::read_only;
use crate::auto::registers::{Queue, Reader};
use crate::source::marks::Bytes;
use crate::source::patch::{Patch, indentation};
use crate::source::scope;

/// A vector that is read: what it is, and the variable that holds it.
struct Held {
    array: String,
    key: Key,
    name: String,
    /// The subscript, where it is read before the lanes.
    index: Option<String>,
}

/// What a subscript is on the first lane: equal ones name equal elements.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Sum(Poly),
    /// All lanes agree on a condition.
    Choice(String, Box<Key>, Box<Key>),
}

/// Reads and stores of a region, as vectors where that is possible.
pub struct Lanes<'a> {
    kernel: &'a Kernel<'a>,
    forms: &'a Forms<'a>,
    region: &'a Region<'a>,
    pub count: i64,
    /// The variable that counts lanes where they go one by one.
    counter: String,
    pub multiples: BTreeSet<String>,
    element: String,
    /// The type of vectors.
    pub vector: &'static str,
    /// Subscripts by where the element begins.
    indices: HashMap<usize, ast::Expr>,
    held: Vec<Held>,
    /// Places that are come to under conditions only.
    zones: Vec<Bytes>,
}

impl<'a> Lanes<'a> {
    pub fn new(
        kernel: &'a Kernel<'a>,
        forms: &'a Forms<'a>,
        region: &'a Region<'a>,
        element: &str,
    ) -> Result<Lanes<'a>, String> {
        let mut indices = HashMap::new();
        walk::block(kernel.body, &mut |e| {
            if let ExprKind::Index { index, .. } = &*e.kind {
                indices.insert(e.span.start as usize, index.clone());
            }
        });
        let mut zones = vec![];
        region.stmts.iter().for_each(|s| zones_of(s, &mut zones));
        let (vector, count) = vector_of(element).ok_or("vectors of its elements are not known")?;
        let used = scope::names(kernel.text);
        let counter =
            ["v", "lane", "own_lane"].into_iter().find(|n| !used.contains(&n.to_string()));
        let mut lanes = Lanes {
            kernel,
            forms,
            region,
            count,
            counter: counter.unwrap_or("v").to_string(),
            multiples: region.size.iter().cloned().collect(),
            element: element.to_string(),
            vector,
            indices,
            held: vec![],
            zones,
        };
        lanes.find_vectors()?;
        Ok(lanes)
    }

    /// Arrays that are read as vectors.
    pub fn read_arrays(&self) -> Vec<String> {
        let mut all: Vec<String> = self.held.iter().map(|h| h.array.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Arrays that vectors are read from or written to.
    pub fn arrays(&self) -> Vec<String> {
        let mut all = self.read_arrays();
        all.extend(self.stores().into_iter().map(|a| a.array.clone()));
        all.sort();
        all.dedup();
        all
    }

    fn inside(&self, a: &Access) -> bool {
        self.region.at.contains(&a.whole.start)
    }

    fn index(&self, a: &Access) -> Option<&ast::Expr> {
        let starts = self.indices.iter().filter(|(at, _)| a.whole.contains(at));
        starts.min_by_key(|(at, _)| **at).map(|(_, e)| e)
    }

    /// Reads that are vectors, each under a name.
    fn find_vectors(&mut self) -> Result<(), String> {
        let kernel = self.kernel;
        for a in kernel.accesses.iter().filter(|a| !self.inside(a)) {
            let varies = self.index(a).is_none_or(|e| self.forms.varies(e));
            if varies && self.forms.along == Along::Positions {
                return Err(format!("`{}` is read before what lanes do", a.array));
            }
        }
        for a in kernel.accesses.iter().filter(|a| !a.stored) {
            if !self.inside(a) {
                continue;
            }
            if self.by_data(a) {
                let why = match a.by_data {
                    true => "data decide on its subscripts",
                    false => "its subscripts are no sums of positions",
                };
                return Err(format!("`{}`: {why}", a.array));
            }
            let Some(key) = self.key_of(a) else { continue };
            if self.held.iter().any(|h| h.array == a.array && h.key == key) {
                continue;
            }
            let Some(index) = self.outside(&a.index) else { continue };
            let number = self.held.iter().filter(|h| h.array == a.array).count() + 1;
            let name = format!("{}_row{number}", a.array);
            self.held.push(Held { array: a.array.clone(), key, name, index: Some(index) });
        }
        let used = scope::names(kernel.text);
        if let Some(h) = self.held.iter().find(|h| used.contains(&h.name)) {
            return Err(format!("the name `{}` is taken", h.name));
        }
        match self.held.is_empty() {
            true => Err("no read of it is a vector that begins at a multiple of 16 bytes".into()),
            false => Ok(()),
        }
    }

    /// Whether a subscript comes from memory.
    fn by_data(&self, a: &Access) -> bool {
        let mut found = a.at.is_some() && a.loops().is_none();
        if let Some(index) = self.index(a) {
            walk::expr(index, &mut |e| found |= matches!(&*e.kind, ExprKind::Index { .. }));
        }
        found
    }

    /// What a read is, if it is a vector that is read whatever happens.
    fn key_of(&mut self, a: &Access) -> Option<Key> {
        let shared = read_only(self.kernel).contains(&a.array.as_str());
        let conditional = self.zones.iter().any(|z| z.contains(&a.whole.start));
        let element = elements::plain_element(
            self.kernel.function,
            &a.array,
            self.kernel.unit,
            self.kernel.sources,
        )?;
        if !shared || conditional || element != self.element {
            return None;
        }
        let index = self.index(a)?.clone();
        let mut multiples = self.multiples.clone();
        let key = self.key(&index, &mut multiples)?;
        self.multiples = multiples;
        Some(key)
    }

    fn key(&self, e: &ast::Expr, multiples: &mut BTreeSet<String>) -> Option<Key> {
        match &*e.kind {
            ExprKind::Paren(e) => self.key(e, multiples),
            ExprKind::Conditional { cond, then, otherwise } if !self.forms.varies(cond) => {
                let cond = self.kernel.sources.text(cond.span).to_string();
                let names = scope::names(&cond);
                if names.iter().any(|n| self.region.declared.contains(n)) {
                    return None;
                }
                let then = Box::new(self.key(then, multiples)?);
                Some(Key::Choice(cond, then, Box::new(self.key(otherwise, multiples)?)))
            }
            // What is declared once is what it is declared as.
            ExprKind::Path(path)
                if self.forms.poly(e).is_none()
                    && path.as_name().is_some_and(|n| self.forms.value(n).is_some()) =>
            {
                let value = self.forms.value(path.as_name()?)?.clone();
                self.key(&value, multiples)
            }
            _ => {
                let p = self.forms.poly(e)?;
                let aligned = p.slope() == Some(1) && self.forms.residue(&p, multiples) == Some(0);
                aligned.then_some(Key::Sum(p))
            }
        }
    }

    /// A subscript from what is declared before the region.
    fn outside(&self, index: &str) -> Option<String> {
        let values = find::initialisers(self.kernel.body, self.kernel.sources);
        let mut text = index.to_string();
        for _ in 0..4 {
            let names = scope::names(&text);
            if !names.iter().any(|n| self.region.declared.contains(n)) {
                return Some(text);
            }
            text = replaced(&text, &values);
        }
        None
    }

    pub fn is_vector(&self, a: &Access) -> bool {
        let key = self.index(a).and_then(|e| self.key(e, &mut self.multiples.clone()));
        key.is_some_and(|k| self.held.iter().any(|h| h.array == a.array && h.key == k))
    }

    /// From now on, a variable of a queue holds what a read is.
    pub fn hold(&mut self, a: &Access, name: &str) {
        let key = self.index(a).and_then(|e| self.key(e, &mut self.multiples.clone()));
        for h in self.held.iter_mut().filter(|h| h.array == a.array) {
            if Some(&h.key) == key.as_ref() {
                h.name = name.to_string();
                h.index = None;
            }
        }
    }

    /// Stores of the region itself that are vectors.
    fn stores(&self) -> Vec<&'a Access> {
        let mut all: Vec<&Access> = vec![];
        if self.forms.along != Along::Positions {
            return all;
        }
        for s in self.region.stmts {
            let StmtKind::Expr(e) = &s.kind else { continue };
            let ExprKind::Assign { op, target, .. } = &*e.kind else { continue };
            let at = target.span.start as usize;
            let found = self.kernel.accesses.iter().find(|a| a.stored && a.whole.start == at);
            let Some(a) = found.filter(|_| op == "=") else { continue };
            let once = self.kernel.accesses.iter().filter(|b| b.array == a.array).count() == 1;
            let key = self.index(a).and_then(|e| self.key(e, &mut self.multiples.clone()));
            let element = elements::plain_element(
                self.kernel.function,
                &a.array,
                self.kernel.unit,
                self.kernel.sources,
            );
            let own = element.as_ref() == Some(&self.element);
            if once && own && key.is_some() && self.outside(&a.index).is_some() {
                all.push(a);
            }
        }
        all
    }

    /// The statements of the region for all lanes.
    pub fn text(&self, kept: &[(String, Queue<'_>)]) -> Result<String, String> {
        let text = self.kernel.text;
        let indent = indentation(text, self.region.at.start).to_string();
        let deeper = format!("{indent}    ");
        let ragged = !self.region.ragged.is_empty();
        let inner = if ragged { &deeper } else { &indent };
        let mut all = self.as_vectors(kept, inner)?;
        if ragged {
            let first = self.inside_on("0")?;
            let last = self.inside_on(&(self.count - 1).to_string())?;
            let own = self.inside_on(&self.counter)?;
            let alone = self.shifted(&self.counter, &Patch::default())?;
            // It stands three levels deeper than it did.
            let body = alone.replace('\n', "\n            ");
            all = format!(
                "if ({first} && {last}) {{\n{deeper}{all}\n{indent}}} else {{\n{deeper}// At the ends of a row, lane by lane.\n{deeper}for (int {v} = 0; {v} < {n}; {v}++) {{\n{deeper}    if ({own}) {{\n{deeper}        {body}\n{deeper}    }}\n{deeper}}}\n{indent}}}",
                v = self.counter,
                n = self.count,
            );
        }
        Ok(match self.region.bare {
            true => format!("{{\n{indent}    {}\n{indent}}}", all.replace('\n', "\n    ")),
            false => all,
        })
    }

    /// The comparisons that lanes ask themselves, on one of them.
    fn inside_on(&self, lane: &str) -> Result<String, String> {
        let mut parts = vec![];
        for (cond, holds) in &self.region.ragged {
            let at = cond.span.start as usize..cond.span.end as usize;
            let text = self.deep(&self.kernel.text[at], lane, 0)?;
            parts.push(match holds {
                true => format!("({text})"),
                false => format!("!({text})"),
            });
        }
        Ok(parts.join(" && "))
    }

    /// The vectors that are read, what each lane does, and the vectors that are written.
    pub fn as_vectors(&self, kept: &[(String, Queue<'_>)], indent: &str) -> Result<String, String> {
        let ty = self.vector;
        let mut lines: Vec<String> = kept.iter().flat_map(|(_, q)| q.reads.clone()).collect();
        for h in &self.held {
            let Some(index) = &h.index else { continue };
            let reader = Reader { array: &h.array, element: ty, vector: true };
            lines.push(format!("const {ty} {} = {};", h.name, reader.read(index)));
        }
        let (mut written, mut after) = (vec![], vec![]);
        for a in self.stores() {
            let name = format!("{}_row", a.array);
            let index = self.outside(&a.index).ok_or("a subscript is not understood")?;
            lines.push(format!("{ty} {name};"));
            after.push(format!("*({ty} *)&{}[{index}] = {name};", a.array));
            written.push((a, name));
        }
        after.extend(kept.iter().flat_map(|(_, q)| q.turns.clone()));
        for lane in 0..self.count {
            lines.push(self.one(lane, &written, indent)?);
        }
        lines.extend(after);
        Ok(lines.join(&format!("\n{indent}")))
    }

    /// What one lane does.
    fn one(
        &self,
        lane: i64,
        written: &[(&Access, String)],
        indent: &str,
    ) -> Result<String, String> {
        let mut patch = Patch::default();
        let base = self.region.at.start;
        let part = PARTS[lane as usize];
        for a in self.kernel.accesses.iter().filter(|a| self.inside(a) && !a.stored) {
            if let Some(text) = self.read(a, lane)? {
                patch.replace(a.whole.start - base..a.whole.end - base, text);
            }
        }
        for (a, name) in written {
            patch.replace(a.whole.start - base..a.whole.end - base, format!("{name}.{part}"));
        }
        let body = self.shifted(&lane.to_string(), &patch)?;
        let own = indentation(self.kernel.text, base);
        let scoped = !self.region.declared.is_empty();
        let deeper = if scoped { format!("\n{indent}    ") } else { format!("\n{indent}") };
        let body = body.replace(&format!("\n{own}"), &deeper);
        Ok(match scoped {
            true => format!("{{\n{indent}    {body}\n{indent}}}"),
            false => body,
        })
    }

    /// What a lane reads: of a vector, or where no vector has it, of memory. `None`: all lanes read one element.
    fn read(&self, a: &Access, lane: i64) -> Result<Option<String>, String> {
        let Some(index) = self.index(a) else { return Ok(None) };
        if let Some(key) = self.key(index, &mut self.multiples.clone()) {
            let held = self.held.iter().find(|h| h.array == a.array && h.key == key);
            if let Some(h) = held {
                return Ok(Some(format!("{}.{}", h.name, PARTS[lane as usize])));
            }
        }
        if !self.forms.varies(index) {
            return Ok(None);
        }
        match self.beside(a, index, lane) {
            Some(text) => Ok(Some(text)),
            None => self.deep(&self.kernel.text[a.whole.clone()], &lane.to_string(), 0).map(Some),
        }
    }

    /// The element of a vector that another lane has.
    fn beside(&self, a: &Access, index: &ast::Expr, lane: i64) -> Option<String> {
        let p = self.forms.on_lane(index, lane, self.region.size.as_ref())?;
        self.held.iter().filter(|h| h.array == a.array).find_map(|h| {
            let Key::Sum(k) = &h.key else { return None };
            let other = lane + p.clone().plus(k, -1).only_number()?;
            let part = PARTS[..self.count as usize].get(usize::try_from(other).ok()?)?;
            Some(format!("{}.{part}", h.name))
        })
    }

    /// The region as a lane does it, with edits of its own.
    fn shifted(&self, lane: &str, edits: &Patch) -> Result<String, String> {
        let piece = &self.kernel.text[self.region.at.clone()];
        let mut patch = edits.clone();
        let tokens = crate::source::marks::tokens(piece);
        for (i, t) in tokens.iter().enumerate() {
            let member = i > 0 && piece[tokens[i - 1].at.clone()] == *".";
            if member || edits.covers(t.at.start) {
                continue;
            }
            if let Some(value) = self.name_on_lane(&piece[t.at.clone()], lane, 0)? {
                patch.replace(t.at.clone(), value);
            }
        }
        patch.apply(piece).map_err(|_| "the edits overlap".into())
    }

    /// A text on a lane.
    fn deep(&self, text: &str, lane: &str, depth: u32) -> Result<String, String> {
        let mut patch = Patch::default();
        let tokens = crate::source::marks::tokens(text);
        for (i, t) in tokens.iter().enumerate() {
            let member = i > 0 && text[tokens[i - 1].at.clone()] == *".";
            if member {
                continue;
            }
            if let Some(value) = self.name_on_lane(&text[t.at.clone()], lane, depth)? {
                patch.replace(t.at.clone(), value);
            }
        }
        patch.apply(text).map_err(|_| "the edits overlap".into())
    }

    /// A variable on a lane; `None`: it is the same on all of them.
    fn name_on_lane(&self, name: &str, lane: &str, depth: u32) -> Result<Option<String>, String> {
        let own = |list: &[String]| list.iter().any(|n| n == name);
        if !self.forms.is_varying(name) || own(&self.region.declared) || own(&self.region.handed) {
            return Ok(None);
        }
        if self.kernel.accesses.iter().any(|a| a.array == *name) {
            return Ok(None);
        }
        match self.forms.of_name(name).and_then(|p| p.slope()) {
            Some(0) => return Ok(None),
            Some(1) if lane == "0" => return Ok(None),
            Some(1) => return Ok(Some(format!("({name} + {lane})"))),
            Some(n) => return Ok(Some(format!("({name} + {n} * {lane})"))),
            None => {}
        }
        let value = self.forms.value(name).filter(|_| depth < 4);
        let value = value.ok_or(format!("what `{name}` is on other lanes is not known"))?;
        let text = self.kernel.sources.text(value.span);
        Ok(Some(format!("({})", self.deep(text, lane, depth + 1)?)))
    }
}

/// Places in a statement that are come to under conditions only, or more than once.
fn zones_of(s: &ast::Stmt, all: &mut Vec<Bytes>) {
    match &s.kind {
        StmtKind::Block(b) => return b.stmts.iter().for_each(|s| zones_of(s, all)),
        StmtKind::Expr(_) | StmtKind::Vars(_) | StmtKind::Empty => {}
        _ => return all.push(bytes(s)),
    }
    let mut zone = |e: &ast::Expr| all.push(e.span.start as usize..e.span.end as usize);
    walk::stmt(s, &mut |e| match &*e.kind {
        ExprKind::Conditional { then, otherwise, .. } => {
            zone(then);
            zone(otherwise);
        }
        ExprKind::Binary { op, right, .. } if op == "&&" || op == "||" => zone(right),
        _ => {}
    });
}
