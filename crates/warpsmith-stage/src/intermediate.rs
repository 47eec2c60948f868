//! Arrays between two steps: once all reads come from shared memory, their stores go.

use warpsmith_front::pp::Piece;

use crate::search::Found;
use crate::session::Session;
use crate::source::marks::{self, Bytes, Tok};
use crate::source::patch::Patch;
use crate::source::scope;

/// Takes out the stores to parameters of which no read is left, and gives their names.
pub fn drop_stores(session: &Session, found: &[Found], edits: &mut Patch) -> Vec<String> {
    // Elsewhere an array that is written is a result, even when the kernel reads it, too.
    if !session.usage.overlaps {
        return vec![];
    }
    let plan = &session.plan;
    let Some(body) = plan.reads.first().and_then(|p| p.site.body) else { return vec![] };
    let body = body.start as usize..body.end as usize;
    let tokens: Vec<Tok> = marks::tokens(&plan.text)
        .into_iter()
        .filter(|t| {
            body.contains(&t.at.start) && !plan.marks.reads.iter().any(|m| inside(&t.at, &m.whole))
        })
        .collect();
    let mut dropped = vec![];
    for name in read_arrays(session, found) {
        let uses: Vec<usize> = (0..tokens.len())
            .filter(|i| tokens[*i].piece == Piece::Word && plan.text[tokens[*i].at.clone()] == name)
            .collect();
        let stores: Option<Vec<Bytes>> =
            uses.iter().map(|u| store(&plan.text, &tokens, *u)).collect();
        let Some(stores) = stores.filter(|s| !s.is_empty()) else { continue };
        if stores.iter().any(|s| plan.marks.reads.iter().any(|m| inside(&m.whole, s))) {
            continue;
        }
        stores.iter().for_each(|s| remove(&plan.text, s, &tokens, edits));
        dropped.push(name);
    }
    dropped
}

fn inside(inner: &Bytes, outer: &Bytes) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Arrays whose marked reads all come from shared memory now.
fn read_arrays(session: &Session, found: &[Found]) -> Vec<String> {
    let plan = &session.plan;
    let mut all: Vec<(String, bool)> = vec![];
    for (m, f) in found.iter().enumerate() {
        let text = plan.slice(&plan.mark(m).global());
        let Some(name) = scope::names(text).into_iter().next() else { continue };
        let gone = plan.given(m).is_some() || f.answer.as_ref().is_some_and(|a| a.guard.is_none());
        match all.iter_mut().find(|(n, _)| *n == name) {
            Some((_, every)) => *every &= gone,
            None => all.push((name, gone)),
        }
    }
    all.into_iter().filter(|(_, gone)| *gone).map(|(n, _)| n).collect()
}

/// The statement `name[…] = …;` that begins here.
fn store(text: &str, tokens: &[Tok], at: usize) -> Option<Bytes> {
    let is = |i: usize, b: u8| tokens.get(i).is_some_and(|t| t.piece == Piece::Other(b));
    let begins = at > 0 && [b';', b'{', b'}', b')'].iter().any(|b| is(at - 1, *b));
    if !begins || !is(at + 1, b'[') {
        return None;
    }
    let mut depth = 0;
    let mut close = at + 1;
    loop {
        match tokens.get(close)?.piece {
            Piece::Other(b'[') => depth += 1,
            Piece::Other(b']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        close += 1;
    }
    if !is(close + 1, b'=') || is(close + 2, b'=') {
        return None;
    }
    let end = (close..tokens.len()).find(|i| is(*i, b';'))?;
    let effects = (close + 2..end).any(|i| {
        let glued = |b| is(i, b) && is(i + 1, b) && tokens[i].at.end == tokens[i + 1].at.start;
        is(i, b'=')
            || glued(b'+')
            || glued(b'-')
            || is(i, b'(') && tokens[i - 1].piece == Piece::Word
    });
    let _ = text;
    (!effects).then(|| tokens[at].at.start..tokens[end].at.end)
}

fn remove(text: &str, store: &Bytes, tokens: &[Tok], edits: &mut Patch) {
    let before = tokens.iter().rev().find(|t| t.at.end <= store.start);
    let listed = before.is_some_and(|t| matches!(t.piece, Piece::Other(b';' | b'{' | b'}')));
    if !listed {
        edits.replace(store.clone(), ";");
        return;
    }
    let line_start = text[..store.start].rfind('\n').map_or(0, |i| i + 1);
    let line_end = text[store.end..].find('\n').map_or(text.len(), |i| store.end + i + 1);
    let alone = text[line_start..store.start].trim().is_empty()
        && text[store.end..line_end].trim().is_empty();
    edits.replace(if alone { line_start..line_end } else { store.clone() }, "");
}
