//! Arrays between two steps: once all reads come from shared memory, their stores go.

use warpsmith_front::pp::Piece;

use crate::search::Found;
use crate::session::Session;
use crate::source::marks::{self, Bytes, Tok};
use crate::source::patch::Patch;
use crate::source::scope;

/// Takes out the stores to parameters of which no read is left, and gives their names.
pub fn drop_stores(session: &Session, found: &[Found], edits: &mut Patch) -> Vec<String> {
    let tokens = unmarked(session);
    let mut dropped = vec![];
    for Between { name, stores, read } in between(session, found, &tokens) {
        if read.is_some() || stores.is_empty() {
            continue;
        }
        stores.iter().for_each(|s| remove(&session.plan.text, s, &tokens, edits));
        dropped.push(name);
    }
    dropped
}

/// Arrays between two steps whose stores stay for a read that has no mark, with that read.
pub fn kept(session: &Session, found: &[Found]) -> Vec<(String, Bytes)> {
    let all = between(session, found, &unmarked(session)).into_iter();
    all.filter_map(|b| Some((b.name, b.read?))).collect()
}

/// An array whose marked reads all come from shared memory.
struct Between {
    name: String,
    stores: Vec<Bytes>,
    /// The first use of it that is no store and has no mark.
    read: Option<Bytes>,
}

fn between(session: &Session, found: &[Found], tokens: &[Tok]) -> Vec<Between> {
    // Elsewhere an array that is written is a result, even when the kernel reads it, too.
    if !session.usage.overlaps {
        return vec![];
    }
    let plan = &session.plan;
    let one = |name: String| {
        let mut between = Between { name, stores: vec![], read: None };
        for (i, token) in tokens.iter().enumerate() {
            let named = plan.text[token.at.clone()] == between.name;
            if token.piece != Piece::Word || !named {
                continue;
            }
            let marked = |s: &Bytes| plan.marks.reads.iter().any(|m| inside(&m.whole, s));
            match store(tokens, i).filter(|s| !marked(s)) {
                Some(store) => between.stores.push(store),
                None => between.read = between.read.or(Some(token.at.clone())),
            }
        }
        between
    };
    read_arrays(session, found).into_iter().map(one).collect()
}

/// What stands in the kernel outside of marks.
fn unmarked(session: &Session) -> Vec<Tok> {
    let plan = &session.plan;
    let Some(body) = plan.reads.first().and_then(|p| p.site.body) else { return vec![] };
    let body = body.start as usize..body.end as usize;
    let marked = |at: &Bytes| plan.marks.reads.iter().any(|m| inside(at, &m.whole));
    let tokens = marks::tokens(&plan.text).into_iter();
    tokens.filter(|t| body.contains(&t.at.start) && !marked(&t.at)).collect()
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
fn store(tokens: &[Tok], at: usize) -> Option<Bytes> {
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
