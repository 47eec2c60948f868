//! Clusters of blocks: their barrier, who is who in them, and the shared memory of the other blocks.

use warpsmith_ir::{
    Axis, BarrierKind, BinaryOp, Builtin, Expr, MathFn, Scalar, Space, StmtKind, Type,
};

use super::{axes, flat_of, thread_in_block, u32_op, volume};
use crate::builtins::call::{Call, Lowered};

/// Functions that the methods are made of.
const NAMES: &[&str] = &[
    "__cluster_barrier_arrive",
    "__cluster_barrier_wait",
    "__cluster_map_shared_rank",
    "__cluster_query_shared_rank",
    "__clusterDim",
    "__clusterRelativeBlockIdx",
    "__clusterRelativeBlockRank",
    "__clusterSizeInBlocks",
    "__clusterIdx",
    "__clusterGridDimInClusters",
];

pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}

pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    let method = match c.name {
        "__cluster_barrier_arrive" => "barrier_arrive",
        "__cluster_barrier_wait" => "barrier_wait",
        "__cluster_map_shared_rank" => "map_shared_rank",
        "__cluster_query_shared_rank" => "query_shared_rank",
        "__clusterDim" => "dim_blocks",
        "__clusterRelativeBlockIdx" => "block_index",
        "__clusterRelativeBlockRank" => "block_rank",
        "__clusterSizeInBlocks" => "num_blocks",
        "__clusterIdx" => return Some(vector(c, cluster_index)),
        "__clusterGridDimInClusters" => return Some(vector(c, clusters)),
        _ => return None,
    };
    self::method(c, method)
}

pub fn method(c: &mut Call<'_>, name: &str) -> Option<Lowered> {
    Some(match name {
        "barrier_arrive" => c.arity(0).map(|()| {
            barrier(c, BarrierKind::ClusterArrive);
            // The token, of which there is one at a time.
            Some(c.u32(0))
        }),
        "barrier_wait" => c.arity_between(0, 1).map(|()| {
            barrier(c, BarrierKind::ClusterWait);
            None
        }),
        "num_blocks" => c.arity(0).map(|()| Some(volume(c, Builtin::ClusterDim, Type::U32))),
        "block_rank" => c.arity(0).map(|()| Some(block_rank(c))),
        "dim_blocks" => vector(c, |_, a| Expr::builtin(Builtin::ClusterDim(a))),
        "block_index" => vector(c, block_index),
        "dim_threads" => {
            vector(c, |c, a| both(c, BinaryOp::Mul, Builtin::ClusterDim, Builtin::BlockDim, a))
        }
        "thread_index" => vector(c, |c, a| {
            let blocks = block_index(c, a);
            let before = u32_op(c, BinaryOp::Mul, blocks, Expr::builtin(Builtin::BlockDim(a)));
            u32_op(c, BinaryOp::Add, before, Expr::builtin(Builtin::ThreadIdx(a)))
        }),
        "map_shared_rank" => map(c),
        "query_shared_rank" => c.arity(1).and_then(|()| {
            c.pointee(0)?;
            let address = c.args[0].clone().cast(Type::U64);
            let rank = c.math(MathFn::SharedRank, vec![address], Type::U64);
            Ok(Some(rank.cast(Type::U32)))
        }),
        _ => return None,
    })
}

/// Methods of the grid about its clusters.
pub fn of_grid(c: &mut Call<'_>, name: &str) -> Option<Lowered> {
    Some(match name {
        "dim_clusters" => vector(c, clusters),
        "cluster_index" => vector(c, cluster_index),
        "num_clusters" => c.arity(0).map(|()| {
            let [x, y, z] = Axis::ALL.map(|a| clusters(c, a).cast(Type::U64));
            let xy = u32_op(c, BinaryOp::Mul, x, y);
            Some(u32_op(c, BinaryOp::Mul, xy, z))
        }),
        "cluster_rank" => c.arity(0).map(|()| {
            let index = Axis::ALL.map(|a| cluster_index(c, a).cast(Type::U64));
            let dims = Axis::ALL.map(|a| clusters(c, a).cast(Type::U64));
            Some(flat_of(c, index, dims))
        }),
        _ => return None,
    })
}

pub fn sync(c: &mut Call<'_>) {
    barrier(c, BarrierKind::ClusterArrive);
    barrier(c, BarrierKind::ClusterWait);
}

pub fn thread_rank(c: &Call<'_>) -> Expr {
    let threads = volume(c, Builtin::BlockDim, Type::U32);
    let before = u32_op(c, BinaryOp::Mul, block_rank(c), threads);
    u32_op(c, BinaryOp::Add, before, thread_in_block(c))
}

pub fn num_threads(c: &Call<'_>) -> Expr {
    let blocks = volume(c, Builtin::ClusterDim, Type::U32);
    u32_op(c, BinaryOp::Mul, blocks, volume(c, Builtin::BlockDim, Type::U32))
}

fn barrier(c: &mut Call<'_>, kind: BarrierKind) {
    c.emit(StmtKind::Barrier { kind, operand: None, result: None });
}

fn block_rank(c: &Call<'_>) -> Expr {
    flat_of(c, Axis::ALL.map(|a| block_index(c, a)), axes(Builtin::ClusterDim))
}

fn both(
    c: &Call<'_>,
    op: BinaryOp,
    f: fn(Axis) -> Builtin,
    g: fn(Axis) -> Builtin,
    a: Axis,
) -> Expr {
    u32_op(c, op, Expr::builtin(f(a)), Expr::builtin(g(a)))
}

fn block_index(c: &Call<'_>, a: Axis) -> Expr {
    both(c, BinaryOp::Rem, Builtin::BlockIdx, Builtin::ClusterDim, a)
}

fn cluster_index(c: &Call<'_>, a: Axis) -> Expr {
    both(c, BinaryOp::Div, Builtin::BlockIdx, Builtin::ClusterDim, a)
}

fn clusters(c: &Call<'_>, a: Axis) -> Expr {
    both(c, BinaryOp::Div, Builtin::GridDim, Builtin::ClusterDim, a)
}

fn vector(c: &mut Call<'_>, f: fn(&Call<'_>, Axis) -> Expr) -> Lowered {
    c.arity(0)?;
    let parts = Axis::ALL.map(|a| f(c, a)).to_vec();
    Ok(Some(c.make(parts, Type::Vector(Scalar::U32, 3))))
}

/// The same variable in the block of that rank.
fn map(c: &mut Call<'_>) -> Lowered {
    c.arity(2)?;
    let pointee = c.pointee(0)?;
    let address = c.args[0].clone().cast(Type::U64);
    let rank = c.scalar_arg(1, Scalar::U32)?.cast(Type::U64);
    let mapped = c.math(MathFn::MapShared, vec![address, rank], Type::U64);
    Ok(Some(mapped.cast(Type::pointer(pointee, Space::Generic))))
}
