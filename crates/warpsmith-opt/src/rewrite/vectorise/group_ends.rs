//! Which of a group of neighbouring iterations exist, at the ends of a row.

use std::collections::BTreeSet;

use warpsmith_ir::{BinaryOp, Expr};

use crate::build::arithmetic::offset;
use crate::build::conditions::all_of;
use crate::kernel::Nest;
use crate::rewrite::register_tile::tile::Tile;

/// Which iterations of a group exist, where at least one does.
pub struct Ends<'t> {
    pub tile: &'t Tile,
    /// The first iteration of the loop, where it may lie inside of a group; and its place in the group if that is known.
    begin: Option<(Expr, Option<u32>)>,
    /// The loop may end inside of a group, and how many iterations its last group then has if that is known.
    end: Option<Option<u32>>,
}

impl<'t> Ends<'t> {
    /// `None`: groups do not begin at multiples of their width.
    pub fn new(nest: &Nest, tile: &'t Tile) -> Option<Ends<'t>> {
        let past = |e: &Expr| nest.multiples.past_multiple(e, tile.width);
        let begin = match &tile.begin {
            Some(b) if b.width.is_multiple_of(tile.width) => Some((b.first.clone(), b.past)),
            None if past(&tile.source.first) == Some(0) => None,
            _ => return None,
        };
        let inclusive = u32::from(tile.source.compare == BinaryOp::Le);
        let end = past(&tile.source.limit).map(|rest| (rest + inclusive) % tile.width);
        let end = (!tile.filled && end != Some(0)).then_some(end);
        Some(Ends { tile, begin, end })
    }

    /// Whether some may be missing.
    pub fn open(&self) -> bool {
        self.begin.is_some() || self.end.is_some()
    }

    /// The condition under which an iteration of the group between these two exists; `None`: one always does.
    pub fn one_of(&self, from: u32, to: u32) -> Option<Expr> {
        let counter = || self.tile.value(self.tile.source.var);
        let last = self.tile.width - 1;
        let begun = self.begin.as_ref().and_then(|(first, past)| match past {
            Some(past) if to >= *past => None,
            // Groups begin at multiples: the one with the first iteration is the only one that begins before it.
            Some(_) => Some(Expr::binary(BinaryOp::Ge, counter(), first.clone())),
            None if to == last => None,
            None => Some(Expr::binary(BinaryOp::Ge, offset(counter(), to.into()), first.clone())),
        });
        let open = self.end.and_then(|past| match past {
            _ if from == 0 => None,
            Some(past) if from < past => None,
            _ => {
                let at = offset(counter(), from.into());
                Some(Expr::binary(self.tile.source.compare, at, self.tile.source.limit.clone()))
            }
        });
        all_of(begun.into_iter().chain(open))
    }

    /// The condition under which all iterations of the group exist.
    pub fn whole(&self) -> Option<Expr> {
        let ends = [self.one_of(0, 0), self.one_of(self.tile.width - 1, self.tile.width - 1)];
        let ends = ends.into_iter().flatten();
        all_of(ends)
    }

    /// The condition under which one of these iterations of the group exists; `None`: one always does.
    pub fn any_of(&self, iterations: &BTreeSet<u32>) -> Option<Expr> {
        let mut runs: Vec<(u32, u32)> = vec![];
        for k in iterations {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == *k => *last = *k,
                _ => runs.push((*k, *k)),
            }
        }
        let runs: Option<Vec<Expr>> = runs.into_iter().map(|(a, b)| self.one_of(a, b)).collect();
        runs?.into_iter().reduce(|a, b| Expr::binary(BinaryOp::LogicalOr, a, b))
    }

    /// Whether the loop may end inside of a group.
    pub fn open_at_end(&self) -> bool {
        self.end.is_some()
    }

    /// The iteration never exists where others of its group do not.
    pub fn never_alone(&self, k: u32) -> bool {
        match (&self.begin, self.end) {
            (Some((_, Some(past))), None) => k < *past,
            (None, Some(Some(past))) => k >= past,
            _ => false,
        }
    }
}
