//! Marked reads written with what is declared behind the place for their copies: what they are without it, once for each iteration
//! of loops of constant length between the two.

use warpsmith_front::ast::{self, StmtKind, TranslationUnit};
use warpsmith_front::pp::Piece;
use warpsmith_front::sema::walk;
use warpsmith_ir::SourceMap;

use super::constants::Constant;
use super::scope::{self, Site};
use super::{counted, guards, marks, values};

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
            guards.iter().filter_map(|g| self.said(body, g.clone(), &known)).collect();
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
        guards.iter().filter_map(|g| self.said(body, g.clone(), &known)).collect()
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
                None => texts = self.kept(body, texts, &name)?,
            }
        }
        let count: usize = counters.iter().map(|c| c.values.len()).product();
        ((!counters.is_empty() || texts != given) && count <= MAX_TURNS)
            .then_some((counters, texts))
    }

    /// A text in which what is declared stands for names that are not known.
    fn said(
        &self,
        body: &ast::Block,
        text: String,
        known: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        let mut texts = [text];
        for _ in 0..MAX_DEPTH {
            let Some(name) = scope::names(&texts[0]).into_iter().find(|n| !known(n)) else { break };
            texts = self.kept(body, texts, &name)?;
        }
        let [text] = texts;
        scope::names(&text).iter().all(|n| known(n)).then_some(text)
    }

    /// What a variable that keeps its value is declared as, in its place.
    fn kept<const N: usize>(
        &self,
        body: &ast::Block,
        texts: [String; N],
        name: &str,
    ) -> Option<[String; N]> {
        let value = counted::kept(body, name)?;
        let value = self.sources.text(value.span).trim();
        Some(texts.map(|text| put(&text, name, value)))
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

/// A text in which a value stands in the place of a name, in parentheses where it has to.
fn put(text: &str, name: &str, value: &str) -> String {
    let tokens = marks::tokens(text);
    let piece = |i: Option<usize>| i.and_then(|i| tokens.get(i)).map(|t| &text[t.at.clone()]);
    let is_product = |i: usize| matches!(piece(Some(i)), Some("*" | "/" | "%"));
    let mut all = String::new();
    let mut end = 0;
    for (i, t) in tokens.iter().enumerate() {
        let before = piece(i.checked_sub(1));
        let member =
            before == Some(".") || before == Some(">") && piece(i.checked_sub(2)) == Some("-");
        if t.piece != Piece::Word || &text[t.at.clone()] != name || member {
            continue;
        }
        all += &text[end..t.at.start];
        end = t.at.end;
        let after = piece(Some(i + 1));
        let opens = matches!(before, None | Some("(" | "[" | ","));
        let closes = matches!(after, None | Some(")" | "]" | "," | "+" | "-"));
        let taken_back = format!("+ {value} -");
        match value.strip_prefix('-') {
            // `x + 0`
            None if value == "0" && closes && matches!(before, Some("+" | "-")) => {
                all.truncate(all.trim_end().len() - 1);
                all.truncate(all.trim_end().len());
            }
            // `x + K - 1 - (K - 1)`
            None if closes && all.trim_end().ends_with(&taken_back) => {
                all.truncate(all.trim_end().len() - taken_back.len());
                all.truncate(all.trim_end().len());
            }
            // `x - R + R`
            Some(rest)
                if before == Some("+")
                    && after == Some("+")
                    && piece(Some(i + 2)) == Some(rest)
                    && !is_product(i + 3) =>
            {
                all.truncate(all.trim_end().len() - 1);
                all.truncate(all.trim_end().len());
                end = tokens[i + 2].at.end;
            }
            // `x + -2`
            Some(rest) if closes && before == Some("+") && is_sum(rest) && !rest.contains('+') => {
                all.truncate(all.trim_end().len() - 1);
                all += &format!("- {}", rest.trim());
            }
            _ if marks::tokens(value).len() == 1
                || closes && (opens || before == Some("+")) && is_sum(value) =>
            {
                all += value;
            }
            _ => all += &format!("({value})"),
        }
    }
    all + &text[end..]
}

/// Whether a text is a sum of names, numbers and products.
fn is_sum(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " _.+-*".contains(c);
    text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::put;

    #[test]
    fn values_stand_in_the_place_of_names() {
        for (text, value, expected) in [
            ("t[x + dx + 2]", "-R", "t[x - R + 2]"),
            ("t[x + dx]", "2", "t[x + 2]"),
            ("t[x - dx]", "K - 1", "t[x - (K - 1)]"),
            ("t[x + dx]", "K - 1", "t[x + K - 1]"),
            ("t[x + dx * w]", "K - 1", "t[x + (K - 1) * w]"),
            ("t[dx].dx", "-2", "t[-2].dx"),
            ("f(dx, sdx)", "a < b ? a : b", "f((a < b ? a : b), sdx)"),
            ("x + dx", "-R + 1", "x + -R + 1"),
            ("t[x + dx + R][dx]", "-R", "t[x][-R]"),
            ("t[x + dx + R * 2]", "-R", "t[x - R + R * 2]"),
            ("t[x + K - 1 - dx]", "K - 1", "t[x]"),
            ("t[2 * x + dx] + u[y - dx]", "0", "t[2 * x] + u[y]"),
        ] {
            assert_eq!(put(text, "dx", value), expected);
        }
    }
}
