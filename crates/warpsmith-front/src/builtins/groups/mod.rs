//! Cooperative groups: the block, the grid, tiles of a warp, and the lanes that happen to be together.
//!
//! A group is an object without fields, except the coalesced group, which carries its mask, and `thread_group`, which
//! may be a block or lanes of a warp and says at run time which. Tiles are aligned parts of a warp, so everything about
//! them follows from the lane.

use warpsmith_ir::{
    Axis, BarrierKind, BinaryOp, Block, Builtin, Diagnostic, Expr, MathFn, Scalar, Stmt, StmtKind,
    Type, Value, WarpOp,
};

mod cluster;
mod coalesced;
mod reduce;

use super::call::{Call, Lowered};
use super::shuffle;
use crate::sema::builtin_api::{BuiltinResult, BuiltinTemplateArg, BuiltinType};
use crate::sema::refused;

pub use cluster::names as cluster_names;

const NAMESPACE: &str = "cooperative_groups::";

/// Operators of the library.
const OPERATORS: &[&str] = &["plus", "less", "greater", "bit_and", "bit_or", "bit_xor"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Block,
    Grid,
    Cluster,
    Tile(u32),
    Coalesced,
    /// `thread_group`: the block when field 0 is 0, else the lanes in field 1.
    Any,
}

/// The library type of that name.
pub fn type_named(path: &str, template_args: &[BuiltinTemplateArg]) -> Option<BuiltinType> {
    let name = path.strip_prefix(NAMESPACE)?;
    match name {
        "thread_block" => Some(object_type(Group::Block)),
        "grid_group" => Some(object_type(Group::Grid)),
        "cluster_group" => Some(object_type(Group::Cluster)),
        "coalesced_group" => Some(object_type(Group::Coalesced)),
        "thread_group" => Some(object_type(Group::Any)),
        "thread_block_tile" => tile_size(template_args).map(|n| object_type(Group::Tile(n))),
        _ if OPERATORS.contains(&name) => Some(operator_type(name)),
        _ => None,
    }
}

/// The size of a tile: a power of two up to a warp.
fn tile_size(args: &[BuiltinTemplateArg]) -> Option<u32> {
    match args.first()? {
        BuiltinTemplateArg::Value(v) => valid_tile(v.as_i64()),
        BuiltinTemplateArg::Type(_) => None,
    }
}

fn valid_tile(n: i64) -> Option<u32> {
    u32::try_from(n).ok().filter(|n| n.is_power_of_two() && *n <= 32)
}

fn object_type(group: Group) -> BuiltinType {
    let (name, args, fields) = match group {
        Group::Block => ("thread_block", vec![], vec![]),
        Group::Grid => ("grid_group", vec![], vec![]),
        Group::Cluster => ("cluster_group", vec![], vec![]),
        Group::Coalesced => ("coalesced_group", vec![], vec![("mask".to_string(), Type::U32)]),
        Group::Any => {
            let fields = ["of_warp", "mask"].map(|n| (n.to_string(), Type::U32));
            ("thread_group", vec![], fields.to_vec())
        }
        Group::Tile(n) => {
            let size = BuiltinTemplateArg::Value(Value::int(Scalar::U32, n.into()));
            ("thread_block_tile", vec![size], vec![])
        }
    };
    BuiltinType { name: format!("{NAMESPACE}{name}"), args, fields }
}

fn operator_type(name: &str) -> BuiltinType {
    BuiltinType { name: format!("{NAMESPACE}{name}"), args: vec![], fields: vec![] }
}

fn group_of(ty: &BuiltinType) -> Option<Group> {
    match ty.name.strip_prefix(NAMESPACE)? {
        "thread_block" => Some(Group::Block),
        "grid_group" => Some(Group::Grid),
        "cluster_group" => Some(Group::Cluster),
        "coalesced_group" => Some(Group::Coalesced),
        "thread_group" => Some(Group::Any),
        "thread_block_tile" => tile_size(&ty.args).map(Group::Tile),
        _ => None,
    }
}

/// Whether an object of one type converts to another: every group inside a block is a `thread_group`.
pub fn converts(from: &BuiltinType, to: &BuiltinType) -> bool {
    let inside = |g| !matches!(g, Group::Grid | Group::Cluster);
    group_of(to) == Some(Group::Any) && group_of(from).is_some_and(inside)
}

/// Functions of the namespace.
pub fn lower(c: &mut Call<'_>) -> Option<Lowered> {
    let path = c.path.strip_prefix("::").unwrap_or(c.path);
    let Some(name) = path.strip_prefix(NAMESPACE) else { return cluster::lower(c) };
    Some(match name {
        "this_thread_block" => c.arity(0).map(|()| Some(object(c, Group::Block, vec![]))),
        "this_cluster" => c.arity(0).map(|()| Some(object(c, Group::Cluster, vec![]))),
        "this_grid" => c.arity(0).map(|()| Some(object(c, Group::Grid, vec![]))),
        "coalesced_threads" => coalesced(c),
        "tiled_partition" => partition(c),
        "thread_group" => any_group(c),
        "sync" | "synchronize" => group_argument(c).and_then(|(g, e)| sync(c, g, e)),
        "binary_partition" => coalesced::binary_partition(c),
        "labeled_partition" => coalesced::labeled_partition(c),
        "reduce" => reduce::call(c),
        _ if OPERATORS.contains(&name) => {
            let ty = c.cx.object_type(&operator_type(name));
            Ok(Some(c.make(vec![], ty)))
        }
        "thread_rank" | "group_size" | "num_threads" => group_argument(c).and_then(|(g, e)| {
            let what = if name == "thread_rank" { "thread_rank" } else { "size" };
            c.args.remove(0);
            group_method(c, g, e, what)
        }),
        _ => Err(super::math::unsupported(c)),
    })
}

/// Methods of groups.
pub fn method(c: &mut Call<'_>, object: &BuiltinType, receiver: Expr) -> BuiltinResult {
    let group = group_of(object)?;
    let name = c.name;
    Some(group_method(c, group, receiver, name))
}

fn object(c: &mut Call<'_>, group: Group, fields: Vec<Expr>) -> Expr {
    let ty = c.cx.object_type(&object_type(group));
    c.make(fields, ty)
}

/// The first argument, a group.
fn group_argument(c: &Call<'_>) -> Result<(Group, Expr), Diagnostic> {
    let group = c.args.first().and_then(|e| c.cx.object_of(&e.ty)).and_then(|t| group_of(&t));
    match group {
        Some(g) => Ok((g, c.args[0].clone())),
        None => Err(c.wrong_type(0, "a group")),
    }
}

/// A group as a `thread_group`.
fn any_group(c: &mut Call<'_>) -> Lowered {
    c.arity(1)?;
    let (group, receiver) = group_argument(c)?;
    let (of_warp, mask) = match group {
        Group::Any => return Ok(Some(receiver)),
        Group::Block => (0, c.u32(0)),
        Group::Tile(n) => (1, tile_mask(c, n)),
        Group::Coalesced => (1, coalesced::mask(c, receiver)),
        Group::Grid | Group::Cluster => {
            return Err(c.wrong_type(0, "a block or a part of a warp"));
        }
    };
    let of_warp = c.u32(of_warp);
    Ok(Some(object(c, Group::Any, vec![of_warp, mask])))
}

/// Whether a `thread_group` is the block.
fn is_block(c: &Call<'_>, receiver: Expr) -> Expr {
    let of_warp = c.member(receiver, 0, Type::U32);
    c.binary(BinaryOp::Eq, of_warp, c.u32(0))
}

fn coalesced(c: &mut Call<'_>) -> Lowered {
    c.arity(0)?;
    let mask = c.held(Expr::builtin(Builtin::ActiveMask).with_origin(c.span));
    Ok(Some(object(c, Group::Coalesced, vec![mask])))
}

/// `tiled_partition<N>(group)`, `tiled_partition(group, N)`.
fn partition(c: &mut Call<'_>) -> Lowered {
    let (parent, _) = group_argument(c)?;
    let size = match (c.template_args.is_empty(), c.args.len()) {
        (false, 1) => tile_size(c.template_args),
        (true, 2) => valid_tile(c.constant(1)?),
        _ => None,
    };
    let fits = match (parent, size) {
        (Group::Block, Some(_)) => true,
        (Group::Tile(n), Some(m)) => m <= n,
        (Group::Any, Some(_)) => true,
        _ => false,
    };
    match size.filter(|_| fits) {
        Some(n) => Ok(Some(object(c, Group::Tile(n), vec![]))),
        None => Err(c.refused(refused::PARTITION, c.path)),
    }
}

fn group_method(c: &mut Call<'_>, group: Group, receiver: Expr, name: &str) -> Lowered {
    match name {
        "sync" => {
            c.arity(0)?;
            return sync(c, group, receiver);
        }
        "thread_rank" => {
            c.arity(0)?;
            return Ok(Some(thread_rank(c, group, receiver)));
        }
        "size" | "num_threads" => {
            c.arity(0)?;
            return Ok(Some(size(c, group, receiver)));
        }
        "barrier_arrive" if is_split(group) => {
            c.arity(0)?;
            // The token, of which there is one at a time.
            return Ok(Some(c.u32(0)));
        }
        "barrier_wait" if is_split(group) => {
            c.arity_between(0, 1)?;
            return sync(c, group, receiver);
        }
        _ => {}
    }
    let lowered = match group {
        Group::Block => block_method(c, name),
        Group::Grid => grid_method(c, name).or_else(|| cluster::of_grid(c, name)),
        Group::Cluster => cluster::method(c, name),
        Group::Tile(n) => tile_method(c, n, name),
        Group::Coalesced => coalesced::method(c, receiver, name),
        Group::Any => None,
    };
    lowered.unwrap_or_else(|| Err(super::math::unsupported(c)))
}

/// Whether threads may do other work between coming to the group's barrier and waiting there. What they do in between counts
/// as before the barrier, as for clusters.
fn is_split(group: Group) -> bool {
    matches!(group, Group::Block | Group::Grid)
}

fn sync(c: &mut Call<'_>, group: Group, receiver: Expr) -> Lowered {
    let (kind, operand) = match group {
        Group::Block => (BarrierKind::Block, None),
        Group::Grid => (BarrierKind::Grid, None),
        Group::Cluster => {
            cluster::sync(c);
            return Ok(None);
        }
        Group::Tile(n) => (BarrierKind::Warp, Some(tile_mask(c, n))),
        Group::Coalesced => (BarrierKind::Warp, Some(coalesced::mask(c, receiver))),
        Group::Any => {
            let barrier = |kind, operand| {
                let kind = StmtKind::Barrier { kind, operand, result: None };
                Block::new(vec![Stmt::new(kind, c.span)])
            };
            let mask = c.member(receiver.clone(), 1, Type::U32);
            let then = barrier(BarrierKind::Block, None);
            let otherwise = barrier(BarrierKind::Warp, Some(mask));
            let cond = is_block(c, receiver);
            c.emit(StmtKind::If { cond, then, otherwise });
            return Ok(None);
        }
    };
    c.emit(StmtKind::Barrier { kind, operand, result: None });
    Ok(None)
}

// ---- numbers of threads and blocks

fn u32_op(c: &Call<'_>, op: BinaryOp, a: Expr, b: Expr) -> Expr {
    c.binary(op, a, b)
}

fn axes(f: fn(Axis) -> Builtin) -> [Expr; 3] {
    Axis::ALL.map(|a| Expr::builtin(f(a)))
}

/// Product of the extents along the axes.
fn volume(c: &Call<'_>, f: fn(Axis) -> Builtin, ty: Type) -> Expr {
    let [x, y, z] = axes(f).map(|e| e.cast(ty.clone()));
    let xy = u32_op(c, BinaryOp::Mul, x, y);
    u32_op(c, BinaryOp::Mul, xy, z)
}

/// `x + dim.x * (y + dim.y * z)`.
fn flat(c: &Call<'_>, index: fn(Axis) -> Builtin, dim: fn(Axis) -> Builtin, ty: Type) -> Expr {
    let cast = |e: Expr| e.cast(ty.clone());
    flat_of(c, axes(index).map(cast), axes(dim).map(cast))
}

fn flat_of(c: &Call<'_>, [x, y, z]: [Expr; 3], [dx, dy, _]: [Expr; 3]) -> Expr {
    let plane = u32_op(c, BinaryOp::Mul, dy, z);
    let row = u32_op(c, BinaryOp::Add, y, plane);
    let rows = u32_op(c, BinaryOp::Mul, dx, row);
    u32_op(c, BinaryOp::Add, x, rows)
}

fn thread_in_block(c: &Call<'_>) -> Expr {
    flat(c, Builtin::ThreadIdx, Builtin::BlockDim, Type::U32)
}

fn thread_rank(c: &mut Call<'_>, group: Group, receiver: Expr) -> Expr {
    match group {
        Group::Block => thread_in_block(c),
        Group::Cluster => cluster::thread_rank(c),
        Group::Tile(n) => {
            let lane = Expr::builtin(Builtin::LaneId);
            u32_op(c, BinaryOp::BitAnd, lane, c.u32(n - 1))
        }
        Group::Grid => {
            let block = flat(c, Builtin::BlockIdx, Builtin::GridDim, Type::U64);
            let threads = volume(c, Builtin::BlockDim, Type::U64);
            let before = u32_op(c, BinaryOp::Mul, block, threads);
            u32_op(c, BinaryOp::Add, before, thread_in_block(c).cast(Type::U64))
        }
        Group::Coalesced => {
            let mask = coalesced::mask(c, receiver);
            coalesced::rank_in(c, mask)
        }
        Group::Any => {
            let mask = c.member(receiver.clone(), 1, Type::U32);
            let in_block = thread_in_block(c);
            let in_mask = coalesced::rank_in(c, mask);
            let cond = is_block(c, receiver);
            c.select(cond, in_block, in_mask)
        }
    }
}

fn size(c: &mut Call<'_>, group: Group, receiver: Expr) -> Expr {
    match group {
        Group::Block => volume(c, Builtin::BlockDim, Type::U32),
        Group::Cluster => cluster::num_threads(c),
        Group::Tile(n) => c.u32(n),
        Group::Grid => {
            let blocks = volume(c, Builtin::GridDim, Type::U64);
            let threads = volume(c, Builtin::BlockDim, Type::U64);
            u32_op(c, BinaryOp::Mul, blocks, threads)
        }
        Group::Coalesced => {
            let mask = coalesced::mask(c, receiver);
            c.math(MathFn::Popc, vec![mask], Type::I32).cast(Type::U32)
        }
        Group::Any => {
            let mask = c.member(receiver.clone(), 1, Type::U32);
            let of_block = volume(c, Builtin::BlockDim, Type::U32);
            let of_mask = c.math(MathFn::Popc, vec![mask], Type::I32).cast(Type::U32);
            let cond = is_block(c, receiver);
            c.select(cond, of_block, of_mask)
        }
    }
}

/// A `dim3` of hardware values.
fn dim3(c: &Call<'_>, f: fn(Axis) -> Builtin) -> Lowered {
    c.arity(0)?;
    Ok(Some(c.make(axes(f).to_vec(), Type::Vector(Scalar::U32, 3))))
}

fn block_method(c: &mut Call<'_>, name: &str) -> Option<Lowered> {
    match name {
        "group_index" => Some(dim3(c, Builtin::BlockIdx)),
        "thread_index" => Some(dim3(c, Builtin::ThreadIdx)),
        "dim_threads" | "group_dim" => Some(dim3(c, Builtin::BlockDim)),
        _ => None,
    }
}

fn grid_method(c: &mut Call<'_>, name: &str) -> Option<Lowered> {
    Some(match name {
        "is_valid" => c.arity(0).map(|()| Some(Expr::constant(Value::bool(true)))),
        "group_dim" | "dim_blocks" => dim3(c, Builtin::GridDim),
        "block_index" => dim3(c, Builtin::BlockIdx),
        "num_blocks" => c.arity(0).map(|()| Some(volume(c, Builtin::GridDim, Type::U64))),
        "block_rank" => {
            c.arity(0).map(|()| Some(flat(c, Builtin::BlockIdx, Builtin::GridDim, Type::U64)))
        }
        _ => return None,
    })
}

// ---- tiles of a warp

/// The first lane of this thread's tile.
fn tile_base(c: &Call<'_>, n: u32) -> Expr {
    u32_op(c, BinaryOp::BitAnd, Expr::builtin(Builtin::LaneId), c.u32(!(n - 1)))
}

/// The lanes of this thread's tile.
fn tile_mask(c: &Call<'_>, n: u32) -> Expr {
    if n == 32 {
        return c.u32(u32::MAX);
    }
    u32_op(c, BinaryOp::Shl, c.u32((1 << n) - 1), tile_base(c, n))
}

/// A warp's mask as seen from the tile: its own lanes, moved to the front.
fn own_lanes(c: &Call<'_>, n: u32, mask: Expr) -> Expr {
    if n == 32 {
        return mask;
    }
    let own = u32_op(c, BinaryOp::BitAnd, mask, tile_mask(c, n));
    u32_op(c, BinaryOp::Shr, own, tile_base(c, n))
}

fn tile_method(c: &mut Call<'_>, n: u32, name: &str) -> Option<Lowered> {
    let shuffle_op = match name {
        "shfl" => Some(WarpOp::Shuffle),
        "shfl_up" => Some(WarpOp::ShuffleUp),
        "shfl_down" => Some(WarpOp::ShuffleDown),
        "shfl_xor" => Some(WarpOp::ShuffleXor),
        _ => None,
    };
    if let Some(op) = shuffle_op {
        return Some(tile_shuffle(c, n, op));
    }
    Some(match name {
        "any" => tile_vote(c, n, WarpOp::Any),
        "all" => tile_vote(c, n, WarpOp::All),
        "ballot" => tile_vote(c, n, WarpOp::Ballot),
        "match_any" => tile_match(c, n),
        "match_all" => tile_match_all(c, n),
        "meta_group_rank" => c.arity(0).map(|()| {
            let thread = thread_in_block(c);
            Some(u32_op(c, BinaryOp::Div, thread, c.u32(n)))
        }),
        "meta_group_size" => c.arity(0).map(|()| {
            let threads = volume(c, Builtin::BlockDim, Type::U32);
            let up = u32_op(c, BinaryOp::Add, threads, c.u32(n - 1));
            Some(u32_op(c, BinaryOp::Div, up, c.u32(n)))
        }),
        _ => return None,
    })
}

fn tile_shuffle(c: &mut Call<'_>, n: u32, op: WarpOp) -> Lowered {
    c.arity(2)?;
    let value = c.args[0].clone();
    let lane = shuffle::lane_operand(c, 1, op)?;
    let mask = tile_mask(c, n);
    shuffle::exchange(c, op, &mask, value, &lane, n).map(Some)
}

fn tile_vote(c: &mut Call<'_>, n: u32, op: WarpOp) -> Lowered {
    c.arity(1)?;
    let predicate = c.scalar_arg(0, Scalar::Bool)?;
    let mask = tile_mask(c, n);
    let result = shuffle::vote(c, op, mask, predicate);
    Ok(Some(if op == WarpOp::Ballot { own_lanes(c, n, result) } else { result }))
}

fn tile_match(c: &mut Call<'_>, n: u32) -> Lowered {
    c.arity(1)?;
    let value = shuffle::match_operand(c, 0)?;
    let mask = tile_mask(c, n);
    let lanes = shuffle::match_lanes(c, WarpOp::MatchAny, mask, value);
    Ok(Some(own_lanes(c, n, lanes)))
}

/// `match_all(value, predicate)`: the tile's lanes where all have the value, none otherwise.
fn tile_match_all(c: &mut Call<'_>, n: u32) -> Lowered {
    let mask = tile_mask(c, n);
    let lanes = coalesced::lanes_of_one_value(c, mask)?;
    Ok(Some(own_lanes(c, n, lanes)))
}
