//! The loop over tiles that each block of a tiled nest goes through in strides of the grid.

use warpsmith_ir::{
    Axis, BinaryOp, Block, Builtin, Expr, ForLoop, LoopKind, Origin, Scalar, Stmt, StmtKind, Type,
    VarId,
};

use crate::build::stmts::{barrier, declare};
use crate::rewrite::bind::plain::at_most;
use crate::rewrite::edit::draft::Draft;

/// Variables of a nest whose blocks go over several tiles.
#[derive(Clone, Copy)]
pub(crate) struct TileNumbers {
    /// How many tiles there are; the launcher says it.
    pub all: VarId,
    /// The one that a block computes.
    pub tile: VarId,
}

impl Draft<'_> {
    pub(crate) fn tile_numbers(&mut self) -> TileNumbers {
        let all = self.scope.local("tiles", Type::U32);
        self.scope.host.vars[all.0 as usize].constant = true;
        TileNumbers { all, tile: self.scope.local("tile", Type::U32) }
    }

    /// Statements of the launcher that count the tiles, and the blocks that go over them.
    pub(crate) fn at_most_resident(
        &mut self,
        numbers: TileNumbers,
        tiles: Expr,
        most: u32,
        launch: &mut Vec<Stmt>,
    ) -> Expr {
        let comment = "blocks that run at the same time, and go over all tiles";
        let limit = self.scope.constant("RESIDENT", most, comment).cast(Type::U32);
        let count = self.scope.local("tiles_in_all", Type::I64);
        self.scope.host.vars[count.0 as usize].constant = true;
        let count_of = || Expr::var(count, Type::I64);
        launch.push(declare(count, tiles.cast(Type::I64)));
        // As a grid of so many blocks could not be launched. The last stride must not pass the end of 32 bits.
        let last = i64::from(u32::MAX - most);
        let cond = Expr::binary(BinaryOp::Le, count_of(), Expr::int(Scalar::I64, last));
        let text = "the tiles can be numbered in 32 bits".to_string();
        launch.push(Stmt::new(StmtKind::Assume { cond, text }, Origin::default()));
        launch.push(declare(numbers.all, count_of().cast(Type::U32)));
        let blocks = self.scope.local("blocks", Type::U32);
        launch.extend(at_most(blocks, Type::U32, Expr::var(numbers.all, Type::U32), limit));
        Expr::var(blocks, Type::U32)
    }

    /// `for (tile = blockIdx.x; tile < tiles; tile += gridDim.x) text`, after what is declared for all tiles.
    pub(crate) fn over_tiles(
        &mut self,
        numbers: TileNumbers,
        mut declared: Vec<Stmt>,
        mut text: Vec<Stmt>,
    ) -> Vec<Stmt> {
        let first = text.iter().take_while(|s| self.declares_shared(s)).count();
        declared.extend(text.drain(..first));
        if !declared.is_empty() {
            text.push(barrier("everyone has read what is shared before the next tile replaces it"));
        }
        let body = Block::new(text);
        let l = ForLoop {
            id: self.scope.host.fresh_loop(),
            var: numbers.tile,
            declares: true,
            first: Expr::builtin(Builtin::BlockIdx(Axis::X)),
            compare: BinaryOp::Lt,
            limit: Expr::var(numbers.all, Type::U32),
            step: Expr::builtin(Builtin::GridDim(Axis::X)),
            kind: LoopKind::Serial,
            body,
        };
        let all = Stmt::new(StmtKind::For(l), Origin::default());
        declared.push(all.comment("in strides of the grid until no tile is left"));
        declared
    }
}
