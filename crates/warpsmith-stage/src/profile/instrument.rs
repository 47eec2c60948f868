//! The text that takes down what happens at its marks.
//!
//! The kernel is made to write its own profile: a marked read becomes a call that stores a row in a buffer and gives the value
//! back. So the emulator needs to know nothing of it, and what is recorded is what the language says at that place.

use std::fmt::Write;

use crate::plan::{Plan, Point};
use crate::source::elements;
use crate::source::forks::Fork;
use crate::source::padded;
use crate::source::patch::Patch;
use crate::source::scope::{self, SharedArray};

/// How the rows of one mark or place for copies are laid out, in words of 64 bits.
///
/// One word a symbol. For a read follows what is read; for one with a given place, where that is in its array, whether the element is
/// there, and its bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub symbols: usize,
    /// Arrays that are looked through for what is read: what they hold follows the rows of all threads that come by together.
    pub arrays: usize,
    /// Words for what those hold.
    pub held: usize,
    pub given: bool,
    /// For a place for copies: what could be copied there. Each has its position in the array and the address of the element; where it
    /// may be a constant, the address or the name of that, and which of the two it is.
    pub offers: Vec<Offered>,
}

/// A copy that could be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The marked read whose expressions it is made of, or an iteration of one.
    pub mark: usize,
    /// Elements of the array that it goes to.
    pub length: i64,
    /// It may be a constant.
    pub padded: bool,
}

impl Offered {
    /// Words of it in a row.
    pub fn words(&self) -> usize {
        2 + usize::from(self.padded)
    }
}

impl Layout {
    /// Words of a row.
    pub fn words(&self) -> usize {
        self.symbols
            + usize::from(self.arrays > 0)
            + 3 * usize::from(self.given)
            + self.offers.iter().map(Offered::words).sum::<usize>()
    }
}

/// The instrumented text, and how its rows are to be read: marks first, then places for copies.
#[derive(Clone, Debug)]
pub struct Instrumented {
    pub text: String,
    pub layouts: Vec<Layout>,
}

/// Instruments the marks of a plan, for a block shape in which shared arrays have so many elements.
pub fn instrument(
    plan: &Plan,
    block: [u32; 3],
    elements: &dyn Fn(&SharedArray) -> usize,
) -> Instrumented {
    let points = plan.reads.iter().chain(&plan.inserts);
    let layouts: Vec<Layout> = points
        .clone()
        .enumerate()
        .map(|(i, p)| {
            let given = i < plan.reads.len() && plan.given(i).is_some();
            // Where the place is given, nothing is looked for.
            let looked = i < plan.reads.len() && !given;
            let list = if looked { &p.site.arrays[..] } else { &[] };
            let held = list.iter().map(|a| 1 + elements(a)).sum();
            let offers = match i.checked_sub(plan.reads.len()) {
                Some(insert) => offered(plan, insert, elements),
                None => vec![],
            };
            Layout { symbols: p.symbols.len(), arrays: list.len(), held, given, offers }
        })
        .collect();
    let mut head = String::new();
    let mut patch = plan.extents(block);
    for (i, (point, layout)) in points.zip(&layouts).enumerate() {
        declare(&mut head, i, layout);
        let at = i.checked_sub(plan.reads.len());
        match at {
            None => read(plan, i, point, &mut patch),
            Some(insert) => {
                let at = plan.marks.inserts[insert].start;
                let offers = layout.offers.iter().flat_map(|o| offer(plan, o.mark, at)).collect();
                let call = call(&format!("__ws_visit{i}"), offers, point, false);
                patch.replace(plan.marks.inserts[insert].clone(), call);
            }
        }
    }
    forks(plan, &mut patch);
    let body = patch.apply(&plan.text).unwrap_or_default();
    Instrumented { text: format!("{head}\n{body}"), layouts }
}

/// What data decide may be given: [`Run::taken`](super::rows::Run).
fn forks(plan: &Plan, patch: &mut Patch) {
    let mut order: Vec<usize> = (0..plan.forks.forks.len()).collect();
    // Of two that begin together the outer one is around the other.
    order.sort_by_key(|n| std::cmp::Reverse(plan.forks.forks[*n].at.end));
    for n in order {
        let Fork { at, selects } = &plan.forks.forks[n];
        let kind = if *selects { "" } else { "(bool)" };
        patch.replace(at.start..at.start, format!("__ws_fork({n}, {kind}("));
        patch.replace(at.end..at.end, "))");
    }
}

fn read(plan: &Plan, i: usize, point: &Point, patch: &mut Patch) {
    let mark = plan.mark(i);
    let value = format!("({})", plan.slice(&mark.global()));
    let mut first = vec![value];
    if let Some((shared, _)) = plan.given(i) {
        let shared = plan.slice(shared);
        first.push(format!("&({shared})"));
        first.push(format!(
            "&{}",
            given_array(plan, i).map_or(shared.to_string(), |a| point.site.arrays[a].first())
        ));
    }
    let looked = plan.given(i).is_none();
    let visit = call(&format!("__ws_visit{i}"), first, point, looked);
    patch.replace(mark.whole.clone(), format!("{visit}{}", plan.slice(&mark.member)));
}

/// The reads whose expressions mean something at a place for copies, and name elements plainly.
fn offered(plan: &Plan, insert: usize, elements: &dyn Fn(&SharedArray) -> usize) -> Vec<Offered> {
    let here = &plan.inserts[insert].site;
    let place = plan.marks.inserts[insert].start;
    let one = |mark: usize| {
        let [shared, global] = plan.copied(mark)?;
        let site = &plan.reads[plan.origin(mark)].site;
        let shared = scope::names(&elements::element(&plan.text, shared, place)?);
        let global = padded::padded(&plan.text, global, place)?;
        // What macros are written out to has names of its own.
        let known = |n: &String| here.declared.contains(n) || !site.declared.contains(n);
        let fits = shared.iter().chain(&global.names()).all(known);
        let array = given_array(plan, plan.origin(mark)).filter(|_| fits)?;
        let length = elements(&site.arrays[array]) as i64;
        Some(Offered { mark, length, padded: global.is_padded() })
    };
    plan.sources().filter_map(one).collect()
}

fn offer(plan: &Plan, mark: usize, before: usize) -> Vec<String> {
    let Some([shared, global]) = plan.copied(mark) else { return vec![] };
    let Some(global) = padded::padded(&plan.text, global, before) else { return vec![] };
    let mark = plan.origin(mark);
    let point = &plan.reads[mark];
    let first = given_array(plan, mark).map_or(String::new(), |a| point.site.arrays[a].first());
    let at = format!("(long long)(&({shared}) - &{first})");
    let [found, constant] = global.found();
    if global.is_padded() { vec![at, found, constant] } else { vec![at, found] }
}

/// The array that the given place of a marked read is an element of.
pub fn given_array(plan: &Plan, mark: usize) -> Option<usize> {
    let (shared, _) = plan.given(mark)?;
    let text = plan.slice(shared);
    let written = elements::element(&plan.text, text, shared.start);
    let name = scope::names(written.as_deref().unwrap_or(text)).into_iter().next()?;
    plan.reads[mark].site.arrays.iter().position(|a| a.name == name)
}

fn call(name: &str, mut args: Vec<String>, point: &Point, arrays: bool) -> String {
    args.extend(point.symbols.iter().map(|s| format!("(long long)({})", s.text)));
    for array in point.site.arrays.iter().filter(|_| arrays) {
        args.extend([format!("&{}", array.first()), array.length()]);
    }
    format!("{name}({})", args.join(", "))
}

/// The function that stores the row of one mark.
fn declare(head: &mut String, i: usize, layout: &Layout) {
    let is_read = layout.given || layout.arrays > 0;
    let (mut types, mut params, mut stores) = (vec![], vec![], String::new());
    let at = layout.symbols;
    if is_read {
        types.push("class T".to_string());
        params.push("T value".to_string());
        stores += " T copy = value;";
    }
    if layout.given {
        types.push("class G".to_string());
        params.push("G *given, G *base".to_string());
        let there = "__ws_at(given) == __ws_at(&copy)";
        let _ = write!(stores, " row[{at}] = given - base; row[{}] = {there};", at + 1);
        let _ = write!(stores, " row[{}] = __ws_at(&copy);", at + 2);
    }
    for o in 0..layout.offers.iter().map(Offered::words).sum() {
        params.push(format!("long long o{o}"));
        let _ = write!(stores, " row[{}] = o{o};", at + o);
    }
    for s in 0..layout.symbols {
        params.push(format!("long long s{s}"));
        let _ = write!(stores, " row[{s}] = s{s};");
    }
    let mut held = "0".to_string();
    if layout.arrays > 0 {
        let _ = write!(stores, " row[{at}] = __ws_at(&copy);");
        let _ = write!(stores, " row += (count - rank) * {};", layout.words());
    }
    for a in 0..layout.arrays {
        types.push(format!("class A{a}"));
        params.push(format!("A{a} *a{a}, int n{a}"));
        let _ = write!(held, " + 1 + n{a}");
        let _ = write!(stores, " __ws_hold(row, &copy, a{a}, n{a}, rank, count); row += 1 + n{a};");
    }
    let (template, result, back) = match is_read {
        true => (format!("template <{}> ", types.join(", ")), "T", " value"),
        false => (String::new(), "void", ""),
    };
    let (params, words) = (params.join(", "), layout.words());
    let row =
        format!("int rank, count; long long *row = __ws_row({i}, {words}, {held}, rank, count);");
    let body = format!("{row} if (!row) return{back};{stores} return{back};");
    let _ = writeln!(head, "{template}__device__ {result} __ws_visit{i}({params}) {{ {body} }}");
}
