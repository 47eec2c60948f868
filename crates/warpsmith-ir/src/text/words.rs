//! The words for enumerations.

use crate::expr::{Axis, BinaryOp, BindLevel, Builtin, ReduceOp};
use crate::module::{FunctionKind, VarKind};
use crate::stmt::{AtomicOp, BarrierKind, CopyWay, Filler, Scope, StreamOrder, WarpOp};
use crate::types::Space;

/// An enumeration with a word for each variant.
pub(crate) trait Words: Sized + Copy + PartialEq + 'static {
    const TABLE: &'static [(Self, &'static str)];

    fn word(self) -> &'static str {
        Self::TABLE.iter().find(|(v, _)| *v == self).map_or("?", |(_, word)| word)
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::TABLE.iter().find(|(_, w)| *w == word).map(|(v, _)| *v)
    }
}

macro_rules! words {
    ($ty:ident: $($variant:ident $word:literal),* $(,)?) => {
        impl Words for $ty {
            const TABLE: &'static [($ty, &'static str)] = &[$(($ty::$variant, $word)),*];
        }
    };
}

words!(FunctionKind: Kernel "kernel", Device "device", Host "host");
words!(VarKind: Param "param", Local "var", Shared "shared", DynamicShared "dynamic_shared");
words!(Space: Generic "generic", Global "global", Shared "shared", Constant "constant", Local "local");
words!(AtomicOp: Add "add", Sub "sub", Mul "mul", Min "min", Max "max", Lower "lower",
    Raise "raise", And "and", Or "or", Xor "xor", Exchange "exchange", Cas "cas", Inc "inc", Dec "dec", Load "load", Store "store");
words!(Scope: Block "block", Device "device", System "system");
words!(WarpOp: Shuffle "shuffle", ShuffleUp "shuffle_up", ShuffleDown "shuffle_down",
    ShuffleXor "shuffle_xor", Ballot "ballot", All "all", Any "any", MatchAny "match_any",
    MatchAll "match_all", ReduceAdd "reduce_add", ReduceMin "reduce_min", ReduceMax "reduce_max",
    ReduceAnd "reduce_and", ReduceOr "reduce_or", ReduceXor "reduce_xor");
words!(BarrierKind: Block "block", BlockCount "block_count", BlockAnd "block_and",
    BlockOr "block_or", Warp "warp", Grid "grid", ClusterWait "cluster_wait", ClusterArrive "cluster_arrive",
    Named "named", NamedArrive "named_arrive");
words!(BindLevel: Grid "grid", Block "block", Thread "thread", Warp "warp", Lane "lane");
words!(
    StreamOrder: Into "into", Create "create", CreateApart "create_apart", CreateEvent "create_event",
    Record "record", Wait "wait", Stream "stream", Event "event", All "all"
);
words!(CopyWay: ToDevice "to_device", ToHost "to_host", OnDevice "on_device", Any "any", ByHost "by_host");
words!(Filler: Host "memset", Device "fill", DeviceLater "start_fill");
words!(Axis: X "x", Y "y", Z "z");
words!(ReduceOp: Add "+", Mul "*", Min "min", Max "max", BitAnd "&", BitOr "|", BitXor "^",
    LogicalAnd "&&", LogicalOr "||");

/// Hardware values that have an axis.
pub(crate) fn axis_builtin(word: &str, axis: Axis) -> Option<Builtin> {
    Some(match word {
        "threadIdx" => Builtin::ThreadIdx(axis),
        "blockIdx" => Builtin::BlockIdx(axis),
        "blockDim" => Builtin::BlockDim(axis),
        "gridDim" => Builtin::GridDim(axis),
        "clusterDim" => Builtin::ClusterDim(axis),
        _ => return None,
    })
}

/// Hardware values without one.
pub(crate) fn plain_builtin(word: &str) -> Option<Builtin> {
    Some(match word {
        "laneId" => Builtin::LaneId,
        "warpSize" => Builtin::WarpSize,
        "activeMask" => Builtin::ActiveMask,
        "dynamicSharedBytes" => Builtin::DynamicSharedBytes,
        "clock" => Builtin::Clock,
        "clock64" => Builtin::Clock64,
        _ => return None,
    })
}

pub(crate) fn builtin_name(b: Builtin) -> String {
    let (word, axis) = match b {
        Builtin::ThreadIdx(a) => ("threadIdx", a),
        Builtin::BlockIdx(a) => ("blockIdx", a),
        Builtin::BlockDim(a) => ("blockDim", a),
        Builtin::GridDim(a) => ("gridDim", a),
        Builtin::ClusterDim(a) => ("clusterDim", a),
        Builtin::LaneId => return "laneId".into(),
        Builtin::WarpSize => return "warpSize".into(),
        Builtin::ActiveMask => return "activeMask".into(),
        Builtin::DynamicSharedBytes => return "dynamicSharedBytes".into(),
        Builtin::Clock => return "clock".into(),
        Builtin::Clock64 => return "clock64".into(),
    };
    format!("{word}.{}", axis.name())
}

/// How tightly an operator binds, as in C; larger is tighter.
pub(crate) fn precedence(op: BinaryOp) -> u8 {
    use BinaryOp::*;
    match op {
        LogicalOr => 1,
        LogicalAnd => 2,
        BitOr => 3,
        BitXor => 4,
        BitAnd => 5,
        Eq | Ne => 6,
        Lt | Le | Gt | Ge => 7,
        Shl | Shr => 8,
        Add | Sub => 9,
        Mul | Div | Rem => 10,
    }
}

/// `e as type`.
pub(crate) const CAST: u8 = 11;
/// Prefix operators and negative literals.
pub(crate) const PREFIX: u8 = 12;
/// What may be followed by `[` or `.`.
pub(crate) const POSTFIX: u8 = 13;

const OPERATORS: [BinaryOp; 18] = {
    use BinaryOp::*;
    [
        Add, Sub, Mul, Div, Rem, Shl, Shr, BitAnd, BitOr, BitXor, Lt, Le, Gt, Ge, Eq, Ne,
        LogicalAnd, LogicalOr,
    ]
};

pub(crate) fn operator(symbol: &str) -> Option<BinaryOp> {
    OPERATORS.into_iter().find(|op| op.symbol() == symbol)
}

/// The word between the bounds of a counted loop.
pub(crate) fn range_symbol(compare: BinaryOp) -> &'static str {
    match compare {
        BinaryOp::Lt => "..",
        BinaryOp::Le => "..=",
        BinaryOp::Gt => "..>",
        BinaryOp::Ge => "..>=",
        BinaryOp::Ne => "..!=",
        _ => "..?",
    }
}

pub(crate) fn range_compare(symbol: &str) -> Option<BinaryOp> {
    use BinaryOp::*;
    [Lt, Le, Gt, Ge, Ne].into_iter().find(|op| range_symbol(*op) == symbol)
}
