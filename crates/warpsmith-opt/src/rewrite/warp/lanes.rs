//! Where a thread stands in its block's tile: by its own coordinates, or by its warp's and its lane's.

use warpsmith_ir::{Axis, BinaryOp, Builtin, Expr, Stmt, Type, VarId};

use crate::build::arithmetic::times;
use crate::build::counters;
use crate::build::stmts::declare;
use crate::build::threads::WARP;
use crate::kernel::Nest;
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::tile::Tile;

impl Draft<'_> {
    /// The thread's first iteration of each loop, counted from the block's.
    pub(crate) fn thread_starts(
        &mut self,
        nest: &Nest,
        tiles: &[Tile],
        thread: VarId,
    ) -> Vec<Stmt> {
        let mut stmts = vec![];
        let places = nest.lanes.map(|lanes| {
            let mut part = |name: &str, op| {
                let thread = Expr::var(thread, Type::I32);
                self.named(&mut stmts, name, Expr::binary(op, thread, Expr::i32(WARP as i32)))
            };
            let (lane, warp) = (part("lane", BinaryOp::Rem), part("warp", BinaryOp::Div));
            let why = "each warp computes a tile of its own, its lanes side by side in a rectangle";
            stmts[0].comment.push(why.into());
            let lane = match &nest.team {
                Some(team) => {
                    let size = self.team_size(team);
                    self.named(&mut stmts, "team", Expr::binary(BinaryOp::Div, lane, size))
                }
                None => lane,
            };
            let warps = sizes_along(
                tiles,
                |t| nest.block[t.axis.index()] / lanes[t.axis.index()],
                |t| over(t.threads.clone(), t.abreast.clone()),
            );
            let warps = Axis::ALL.map(|axis| position(warp.clone(), axis, &warps));
            (self.lanes_along(lanes, tiles, lane, &mut stmts), warps)
        });
        for tile in tiles {
            let Some(own) = tile.own else { continue };
            let width = Expr::i32(tile.width as i32);
            let value = match &places {
                None => {
                    let thread = Expr::builtin(Builtin::ThreadIdx(tile.axis)).cast(Type::I32);
                    times(thread, width)
                }
                Some((lanes, warps)) => {
                    let inner = lanes[tile.axis.index()].clone().map(|lane| times(lane, width));
                    let outer = warps[tile.axis.index()].clone().map(|warp| {
                        times(warp, times(tile.abreast.clone(), tile.factor_expr.clone()))
                    });
                    let sum = outer.into_iter().chain(inner);
                    let sum = sum.reduce(|a, b| Expr::binary(BinaryOp::Add, a, b));
                    sum.unwrap_or_else(|| Expr::i32(0))
                }
            };
            stmts.push(declare(own, value.cast(Type::Scalar(tile.ty))));
        }
        stmts
    }

    /// Where a lane stands along each axis; `None` where there is one.
    ///
    /// In a rectangle the lanes are numbered in squares of four. Shared memory serves 16 bytes for each of eight lanes at a
    /// time, and for sixteen where each wants the same as a neighbour of its square: then rows and columns of the
    /// rectangle are both read twice as fast as they would be row by row.
    fn lanes_along(
        &mut self,
        lanes: [u32; 3],
        tiles: &[Tile],
        lane: Expr,
        stmts: &mut Vec<Stmt>,
    ) -> [Option<Expr>; 3] {
        let sizes = sizes_along(tiles, |t| lanes[t.axis.index()], |t| t.abreast.clone());
        let several: Vec<usize> = (0..3).filter(|k| sizes[*k].is_some()).collect();
        let [first, second] = several[..] else {
            return Axis::ALL.map(|axis| position(lane.clone(), axis, &sizes));
        };
        let Some(width) = sizes[first].clone() else { return [None, None, None] };
        let both = |op, a: Expr, b: Expr| Expr::binary(op, a, b);
        let two = || Expr::i32(2);
        let squares = |inside: Expr, outside: Expr, count: u32| match count {
            2 => inside,
            _ => both(BinaryOp::Add, inside, both(BinaryOp::Mul, outside, two())),
        };
        let along = both(BinaryOp::Div, lane.clone(), Expr::i32(4));
        let along = both(BinaryOp::Rem, along, both(BinaryOp::Div, width.clone(), two()));
        let inside = both(BinaryOp::Rem, lane.clone(), two());
        let one = squares(inside, along, lanes[first]);
        let inside = both(BinaryOp::Rem, both(BinaryOp::Div, lane.clone(), two()), two());
        let across = both(BinaryOp::Div, lane, both(BinaryOp::Mul, two(), width));
        let other = squares(inside, across, lanes[second]);
        let name = |axis: usize| format!("lane_{}", Axis::ALL[axis].name());
        let at = stmts.len();
        let mut places = [None, None, None];
        places[first] = Some(self.named(stmts, &name(first), one));
        places[second] = Some(self.named(stmts, &name(second), other));
        let why = "numbered in squares of four: shared memory serves neighbours that read the same together";
        stmts[at].comment.push(why.into());
        places
    }
}

/// For each axis, how many there are of something; `None` for one.
fn sizes_along(
    tiles: &[Tile],
    count: impl Fn(&Tile) -> u32,
    named: impl Fn(&Tile) -> Expr,
) -> [Option<Expr>; 3] {
    Axis::ALL.map(|axis| {
        let tile = tiles.iter().find(|t| t.axis == axis && count(t) > 1)?;
        Some(named(tile))
    })
}

/// A quotient without a divisor of one.
fn over(a: Expr, b: Expr) -> Expr {
    match counters::is_const(&b, 1) {
        true => a,
        false => Expr::binary(BinaryOp::Div, a, b),
    }
}

/// The coordinate along an axis of the member with a number, where members are counted along x first; `None` where
/// there is one along the axis.
fn position(number: Expr, axis: Axis, sizes: &[Option<Expr>; 3]) -> Option<Expr> {
    let size = sizes[axis.index()].clone()?;
    let before = sizes[..axis.index()].iter().flatten().cloned();
    let outside = sizes[axis.index() + 1..].iter().flatten().count();
    let row = match before.reduce(times) {
        Some(before) => Expr::binary(BinaryOp::Div, number, before),
        None => number,
    };
    Some(match outside {
        0 => row,
        _ => Expr::binary(BinaryOp::Rem, row, size),
    })
}
