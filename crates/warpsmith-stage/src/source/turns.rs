//! Marked reads written with what is declared behind the place for their copies: what they are without it, once for each iteration
//! of loops of constant length between the two.

use warpsmith_front::ast::{self, StmtKind, TranslationUnit};
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::constants::Constant;
use super::put::put;
use super::scope::{self, Site};
use super::{adjusted, counted, guards, values};

/// Iterations of a read that are looked at, at most: a window of 11 by 11.
const MAX_TURNS: usize = 128;
/// Names in names that are followed.
const MAX_DEPTH: usize = 8;

/// A marked read in one iteration of the loops around it; the read itself where its copies stand in the same ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Which of the marks it is.
    pub mark: usize,
    /// The counters of the loops with their values.
    pub counters: Vec<(String, i64)>,
    /// The read of shared memory, without anything that is declared behind the place for copies.
    pub shared: String,
    /// The read of global memory that it stands for.
    pub global: String,
    /// What holds where a thread comes to it.
    pub guard: Vec<String>,
}

/// A counter that takes the same values whoever comes by, with how each is written.
struct Counter {
    name: String,
    values: Vec<(i64, String)>,
}

/// A file, and the constants of its kernel.
#[derive(Clone, Copy)]
pub struct File<'a> {
    pub unit: &'a TranslationUnit,
    pub sources: &'a SourceMap,
    pub constants: &'a [Constant],
}

impl File<'_> {
    /// The iterations of a mark that stands at a byte of the text, for copies at a place before its loops. None: it is written with
    /// nothing that the place does not know, or with counters that have no constant values, or variables that change.
    pub fn turns(
        &self,
        mark: usize,
        (byte, site, place): (usize, &Site, &Site),
        (given, guards): ([&str; 2], &[String]),
    ) -> Vec<Turn> {
        let Some(body) = scope::body_at(self.unit, byte) else { return vec![] };
        let later = |n: &str| is_later(n, site, place);
        let Some((counters, texts)) = self.unrolled(body, byte, &later, given) else {
            return vec![];
        };
        let known = |n: &str| !later(n) || counters.iter().any(|c| c.name == n);
        let guards: Vec<String> =
            guards.iter().filter_map(|g| self.said((body, byte), g.clone(), &known)).collect();
        let one = |counters: Vec<(String, i64, String)>| {
            let at = |text: &String| {
                counters.iter().fold(text.clone(), |text, (name, _, value)| put(&text, name, value))
            };
            let [shared, global] = texts.each_ref().map(at);
            let guard = guards.iter().map(at).collect();
            let counters = counters.iter().map(|(name, value, _)| (name.clone(), *value)).collect();
            Turn { mark, counters, shared, global, guard }
        };
        product(&counters).into_iter().map(one).collect()
    }

    /// The conditions that threads meet between a place for copies and a mark, by their bytes.
    pub fn between(&self, place: usize, byte: usize) -> Vec<String> {
        let body = scope::body_at(self.unit, byte);
        body.map_or(vec![], |body| guards::between(body, place, byte, self.sources))
    }

    /// The conditions around a mark that are said with what a place before it knows.
    pub fn guard(
        &self,
        (byte, site, place): (usize, &Site, &Site),
        guards: &[String],
    ) -> Vec<String> {
        let Some(body) = scope::body_at(self.unit, byte) else { return vec![] };
        let known = |n: &str| !is_later(n, site, place);
        guards.iter().filter_map(|g| self.said((body, byte), g.clone(), &known)).collect()
    }

    fn unrolled(
        &self,
        body: &ast::Block,
        byte: usize,
        later: &dyn Fn(&str) -> bool,
        given: [&str; 2],
    ) -> Option<(Vec<Counter>, [String; 2])> {
        let mut texts = given.map(str::to_string);
        let mut counters: Vec<Counter> = vec![];
        for _ in 0..MAX_DEPTH {
            let names = texts.iter().flat_map(|t| scope::names(t));
            let unknown = |n: &String| later(n) && counters.iter().all(|c| c.name != *n);
            let Some(name) = names.into_iter().find(unknown) else { break };
            match self.counter(body, byte, &name) {
                Some(counter) => counters.push(counter),
                None => texts = self.known(body, byte, texts, &name)?,
            }
        }
        let count: usize = counters.iter().map(|c| c.values.len()).product();
        ((!counters.is_empty() || texts != given) && count <= MAX_TURNS)
            .then_some((counters, texts))
    }

    /// A text in which what is declared stands for names that are not known.
    fn said(
        &self,
        (body, byte): (&ast::Block, usize),
        text: String,
        known: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let mut texts = [text];
        for _ in 0..MAX_DEPTH {
            let Some(name) = scope::names(&texts[0]).into_iter().find(|n| !known(n)) else { break };
            texts = self.known(body, byte, texts, &name)?;
        }
        let [text] = texts;
        scope::names(&text).iter().all(|n| known(n)).then_some(text)
    }

    /// What a variable is at a byte, in its place.
    fn known<const N: usize>(
        &self,
        body: &ast::Block,
        byte: usize,
        texts: [String; N],
        name: &str,
    ) -> Option<[String; N]> {
        let value = match counted::kept(body, name) {
            Some(value) => self.sources.text(value.span).trim().to_string(),
            None => adjusted::adjusted(body, (name, byte), self.sources)?,
        };
        Some(texts.map(|text| put(&text, name, &value)))
    }

    /// The counter of a loop around a byte, if constants say how far it goes.
    fn counter(&self, body: &ast::Block, byte: usize, name: &str) -> Option<Counter> {
        let mut found = None;
        scope::each_stmt(&body.stmts, &mut |s| {
            let around = (s.span.start as usize..s.span.end as usize).contains(&byte);
            if around && let Some(own) = self.counted(s, name) {
                found = Some(own);
            }
        });
        found
    }

    fn counted(&self, s: &ast::Stmt, name: &str) -> Option<Counter> {
        let StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), body, .. } =
            &s.kind
        else {
            return None;
        };
        let (own, first, true) = counted::begin(init)? else { return None };
        let (end, inclusive) = counted::bound(cond, own)?;
        let mut changes = false;
        walk::stmt(body, &mut |e| changes |= counted::changes(e, own));
        if own != name || changes || !counted::is_increment(step, own) {
            return None;
        }
        let [from, end] = [first, end].map(|e| self.sources.text(e.span).trim());
        let less = if inclusive { 0 } else { 1 };
        let (first, last) = (self.number(from)?, self.number(end)?.checked_sub(less)?);
        let count = usize::try_from(last.checked_sub(first)?.checked_add(1)?).ok()?;
        let number = end.parse::<i64>().is_ok();
        let text = |value: i64| match () {
            () if value == first => from.to_string(),
            () if value == last && inclusive => end.to_string(),
            () if value == last && !number => format!("{end} - 1"),
            () => value.to_string(),
        };
        let values = (first..=last).map(|v| (v, text(v))).collect();
        (count <= MAX_TURNS).then(|| Counter { name: name.to_string(), values })
    }

    fn number(&self, text: &str) -> Option<i64> {
        let known = |text: String, c: &Constant| put(&text, &c.name, &c.value.to_string());
        values::value_of(self.unit, &self.constants.iter().fold(text.to_string(), known))
    }
}

/// Whether a name is declared between a place and a site.
fn is_later(name: &str, site: &Site, place: &Site) -> bool {
    let of = |s: &Site| s.declared.iter().filter(|d| *d == name).count();
    of(site) != of(place)
}

/// All ways to give each counter one of its values: name, value and text.
fn product(counters: &[Counter]) -> Vec<Vec<(String, i64, String)>> {
    counters.iter().fold(vec![vec![]], |all, c| {
        let with = |known: &Vec<(String, i64, String)>, (v, text): &(i64, String)| {
            let mut known = known.clone();
            known.push((c.name.clone(), *v, text.clone()));
            known
        };
        all.iter().flat_map(|known| c.values.iter().map(|v| with(known, v))).collect()
    })
}
