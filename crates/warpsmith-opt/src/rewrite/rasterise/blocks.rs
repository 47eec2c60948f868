//! Which tile has a number: blocks of a tiled nest are counted along x only, in rows or in groups of rows.

use warpsmith_ir::{BinaryOp, Expr, ExprKind, ForLoop, MathFn, Origin, Stmt, Type};

use crate::build::stmts::declare;
use crate::build::{counters, trips};
use crate::kernel::{Nest, Order};
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::tile::Tile;

impl Draft<'_> {
    /// The number along each loop of the tile with this number.
    pub(crate) fn block_numbers(
        &mut self,
        nest: &Nest,
        outer: &[ForLoop],
        tiles: &[Tile],
        number: Expr,
    ) -> Vec<Stmt> {
        if let Order::Groups(rows) = nest.order {
            return self.grouped_blocks(rows, outer, tiles, number);
        }
        self.numbers_of(outer, tiles, number, true)
    }

    /// The numbers along loops of which the innermost is counted first.
    fn numbers_of(
        &mut self,
        outer: &[ForLoop],
        tiles: &[Tile],
        mut number: Expr,
        comment: bool,
    ) -> Vec<Stmt> {
        let mut stmts = vec![];
        for (k, tile) in tiles.iter().enumerate().rev() {
            let value = match k {
                0 if outer.is_empty() => number.clone(),
                _ => {
                    let comment = comment && k + 1 == tiles.len();
                    let blocks = self.blocks_along(tile, comment, &mut stmts);
                    let value = Expr::binary(BinaryOp::Rem, number.clone(), blocks.clone());
                    number = Expr::binary(BinaryOp::Div, number, blocks);
                    value
                }
            };
            stmts.push(declare(tile.place.number, value));
        }
        stmts.extend(self.outer_counters(outer, number));
        stmts
    }

    /// Declares a constant of the kernel.
    pub(crate) fn named(&mut self, stmts: &mut Vec<Stmt>, name: &str, value: Expr) -> Expr {
        let ty = value.ty.clone();
        let var = self.scope.local(name, ty.clone());
        self.scope.host.vars[var.0 as usize].constant = true;
        stmts.push(declare(var, value));
        Expr::var(var, ty)
    }

    /// Declares how many blocks there are along a loop.
    fn blocks_along(&mut self, tile: &Tile, comment: bool, stmts: &mut Vec<Stmt>) -> Expr {
        let name = self.scope.host.var(tile.source.var).name.clone();
        let count = trips::count(&self.scope.host, &tile.source);
        let blocks = trips::blocks(&self.scope.host, count, tile.extent.clone());
        let var = self.scope.local(&format!("{name}_blocks"), Type::U32);
        self.scope.host.vars[var.0 as usize].constant = true;
        let mut declare = declare(var, blocks.cast(Type::U32));
        if comment {
            let why = "blocks are numbered along x: a grid has at most 65535 along y";
            declare.comment.push(why.into());
        }
        stmts.push(declare);
        Expr::var(var, Type::U32)
    }

    /// The numbers of the block where those along the innermost two loops are counted in groups of rows.
    fn grouped_blocks(
        &mut self,
        group: u32,
        others: &[ForLoop],
        tiles: &[Tile],
        mut number: Expr,
    ) -> Vec<Stmt> {
        let [.., outer, inner] = tiles else { return vec![] };
        let both = |op, a: &Expr, b: &Expr| Expr::binary(op, a.clone(), b.clone());
        let mut stmts = vec![];
        let columns = self.blocks_along(inner, true, &mut stmts);
        let rows = self.blocks_along(outer, false, &mut stmts);
        if tiles.len() > 2 || !others.is_empty() {
            let plane = both(BinaryOp::Mul, &rows, &columns);
            let own =
                self.named(&mut stmts, "block_in_plane", both(BinaryOp::Rem, &number, &plane));
            let rest = both(BinaryOp::Div, &number, &plane);
            number = own;
            stmts.extend(self.numbers_of(others, &tiles[..tiles.len() - 2], rest, false));
        }
        let comment = format!(
            "rows of blocks along `{}` that run together, to share what is in L2",
            self.scope.host.var(outer.source.var).name
        );
        let group = self.scope.constant("GROUP", group, &comment).cast(Type::U32);
        let blocks = both(BinaryOp::Mul, &group, &columns);
        let first = both(BinaryOp::Mul, &both(BinaryOp::Div, &number, &blocks), &group);
        let first = self.named(&mut stmts, "first_row", first);
        let left = both(BinaryOp::Sub, &rows, &first);
        let kind = ExprKind::Call(MathFn::Min, vec![left, group.clone()]);
        let rows =
            self.named(&mut stmts, "group_rows", Expr::new(kind, Type::U32, Origin::default()));
        let inside =
            self.named(&mut stmts, "block_in_group", both(BinaryOp::Rem, &number, &blocks));
        let row = both(BinaryOp::Add, &first, &both(BinaryOp::Rem, &inside, &rows));
        stmts.push(declare(inner.place.number, both(BinaryOp::Div, &inside, &rows)));
        stmts.push(declare(outer.place.number, row));
        stmts
    }

    /// The counters of the loops around the bound ones, from what is left of the block's number.
    fn outer_counters(&mut self, outer: &[ForLoop], number: Expr) -> Vec<Stmt> {
        let counts: Vec<Expr> =
            outer.iter().map(|l| trips::count(&self.scope.host, l).cast(Type::U32)).collect();
        let mut stmts = vec![];
        for (l, own) in outer.iter().zip(counters::digits(number, &counts)).rev() {
            let ty = Type::Scalar(counters::counter_type(&self.scope.host, l));
            self.scope.host.vars[l.var.0 as usize].constant = true;
            stmts.push(declare(l.var, counters::counter_of(l, own.cast(ty))));
        }
        stmts
    }
}
