//! Random modules with every kind of node. Types of places and of their bases are consistent, because
//! the text form relies on it; everything else is arbitrary, right or wrong.

mod statements;

use crate::collective::*;
use crate::expr::*;
use crate::layout::lay_out;
use crate::module::*;
use crate::span::Origin;
use crate::stmt::*;
use crate::types::{Scalar, Space, Type};
use crate::typing::Env;
use crate::value::Value;

/// A small generator; what matters is that one number gives one module.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn flip(&mut self) -> bool {
        self.next() & 1 == 1
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

struct Maker {
    random: Random,
    module: Module,
    vars: Vec<Var>,
    next_loop: u32,
}

const NAMES: [&str; 10] = ["i", "i", "acc", "for", "a b", "tick`\\", "x", "float4", "f32", "step"];

pub(crate) fn random_module(seed: u64) -> Module {
    let mut m =
        Maker { random: Random(seed), module: Module::default(), vars: vec![], next_loop: 0 };
    for _ in 0..m.random.below(3) {
        m.struct_def();
    }
    for _ in 0..m.random.below(3) {
        let (name, ty) = (m.name(), m.ty(2));
        let space = m.random.pick(&[Space::Constant, Space::Global]);
        let init = m
            .random
            .flip()
            .then(|| (0..m.random.below(5)).map(|_| m.random.next() as u8).collect());
        m.module.globals.push(Global { name, ty, space, init, origin: Origin::default() });
    }
    for _ in 0..m.random.below(3) {
        let (name, value) = (m.name(), m.value());
        let comment = m.random.pick(&["", "rows", "say \"what\""]).into();
        m.module.constants.push(NamedConst { name, value, comment });
    }
    let count = 1 + m.random.below(3);
    let headers: Vec<(String, FunctionKind)> = (0..count)
        .map(|_| {
            let kinds = [FunctionKind::Kernel, FunctionKind::Device, FunctionKind::Host];
            (m.name(), m.random.pick(&kinds))
        })
        .collect();
    for (name, kind) in headers {
        let f = m.function(name, kind, count);
        m.module.functions.push(f);
    }
    m.module
}

impl Maker {
    fn name(&mut self) -> String {
        self.random.pick(&NAMES).to_string()
    }

    fn struct_def(&mut self) {
        let name = self.name();
        let types: Vec<Type> = (0..self.random.below(4)).map(|_| self.ty(2)).collect();
        let (offsets, layout) = lay_out(&self.module, &types, 1);
        let fields = types
            .into_iter()
            .zip(offsets)
            .map(|(ty, offset)| StructField { name: self.name(), ty, offset })
            .collect();
        let (size, align) = (layout.size, layout.align);
        self.module.structs.push(StructDef {
            name,
            fields,
            size,
            align,
            origin: Origin::default(),
        });
    }

    fn scalar(&mut self) -> Scalar {
        self.random.pick(&Scalar::ALL)
    }

    fn ty(&mut self, depth: u32) -> Type {
        match self.random.below(if depth == 0 { 4 } else { 7 }) {
            0..=2 => Type::Scalar(self.scalar()),
            3 => Type::Vector(self.scalar(), 1 + self.random.below(4) as u8),
            4 => Type::Pointer {
                pointee: self.ty(depth - 1).into(),
                space: self.random.pick(&[
                    Space::Generic,
                    Space::Global,
                    Space::Shared,
                    Space::Constant,
                    Space::Local,
                ]),
                volatile: self.random.flip(),
                readonly: self.random.flip(),
            },
            5 => Type::array(self.ty(depth - 1), self.random.below(40) as u64),
            _ => match self.module.structs.len() {
                0 => Type::Void,
                n => Type::Struct(StructId(self.random.below(n) as u32)),
            },
        }
    }

    fn value(&mut self) -> Value {
        let ty = self.scalar();
        match self.random.below(4) {
            0 => Value::int(ty, self.random.below(9) as i64 - 4),
            1 => Value::float(ty, self.random.next() as i32 as f64 / 1024.0),
            2 => Value { ty, bits: self.random.next() & crate::value::mask(ty) },
            _ => Value::float(ty, self.random.pick(&[f64::INFINITY, f64::NAN, -0.0, 1e-30, 0.1])),
        }
    }

    fn var_id(&mut self) -> VarId {
        VarId(self.random.below(self.vars.len()) as u32)
    }

    fn function(&mut self, name: String, kind: FunctionKind, functions: usize) -> Function {
        let mut f = Function::new(name, kind);
        self.vars.clear();
        for _ in 0..3 + self.random.below(6) {
            let kinds = [VarKind::Param, VarKind::Local, VarKind::Shared, VarKind::DynamicShared];
            let mut var = Var::new(self.name(), self.ty(2), self.random.pick(&kinds));
            var.reference = self.random.flip();
            var.constant = self.random.flip();
            var.restrict = self.random.flip();
            var.pitched = self.random.flip();
            var.inferred = self.random.flip();
            var.not_null = self.random.flip();
            var.narrow = self.random.flip();
            var.layout = Layout {
                pad: self.random.below(3) as u32,
                order: self.random.pick(&DimOrder::ALL),
                swizzled: self.random.flip(),
            };
            var.align = self.random.pick(&[0, 16]);
            // A parameter that is not one in the list is allowed by the text form.
            if var.kind == VarKind::Param && self.random.below(4) > 0 {
                f.params.push(VarId(self.vars.len() as u32));
            }
            self.vars.push(var);
        }
        if self.random.flip() {
            f.params.reverse();
        }
        for i in 0..self.vars.len() {
            if self.random.below(4) == 0 {
                let shape = (0..self.random.below(3)).map(|_| self.expr(1)).collect();
                self.vars[i].shape = Some(shape);
            }
        }
        if self.random.flip() {
            f.ret = self.ty(1);
        }
        if self.random.flip() {
            let min_blocks = self.random.flip().then_some(2);
            f.launch_bounds = Some(LaunchBounds { max_threads: 128, min_blocks });
        }
        f.cluster = self.random.flip().then_some([2, 1, 4]);
        self.next_loop = self.random.below(2) as u32;
        f.body = self.block(3, functions);
        f.next_loop = self.next_loop + self.random.below(2) as u32;
        f.vars = std::mem::take(&mut self.vars);
        f
    }

    fn exprs(&mut self, n: usize, depth: u32) -> Vec<Expr> {
        (0..n).map(|_| self.expr(depth)).collect()
    }

    fn expr(&mut self, depth: u32) -> Expr {
        let kind = self.expr_kind(depth);
        let stated = self.random.below(8) == 0
            || matches!(kind, ExprKind::Cast(_) | ExprKind::Bitcast(_) | ExprKind::Make(_));
        let env = Env { module: &self.module, vars: &self.vars };
        let own = env.expr(&kind).unwrap_or(Type::Void);
        let ty = if stated { self.ty(2) } else { own };
        Expr::new(kind, ty, Origin::default())
    }

    fn expr_kind(&mut self, depth: u32) -> ExprKind {
        let Some(depth) = depth.checked_sub(1) else {
            return ExprKind::Const(self.value());
        };
        match self.random.below(17) {
            0 => ExprKind::Const(self.value()),
            1 if !self.module.constants.is_empty() => {
                ExprKind::Named(ConstId(self.random.below(self.module.constants.len()) as u32))
            }
            2 => ExprKind::AddressOf(self.place(depth)),
            3 => {
                let op = self.random.pick(&[UnaryOp::Neg, UnaryOp::Not, UnaryOp::BitNot]);
                ExprKind::Unary(op, self.expr(depth))
            }
            4..=6 => {
                use BinaryOp::*;
                let ops = [
                    Add, Sub, Mul, Div, Rem, Shl, Shr, BitAnd, BitOr, BitXor, Lt, Le, Gt, Ge, Eq,
                    Ne, LogicalAnd, LogicalOr,
                ];
                ExprKind::Binary(self.random.pick(&ops), self.expr(depth), self.expr(depth))
            }
            7 => ExprKind::PtrOffset(self.expr(depth), self.expr(depth)),
            8 => ExprKind::PtrDiff(self.expr(depth), self.expr(depth)),
            9 => ExprKind::Cast(self.expr(depth)),
            10 => ExprKind::Bitcast(self.expr(depth)),
            11 => ExprKind::Select(self.expr(depth), self.expr(depth), self.expr(depth)),
            12 => {
                let function = self.random.pick(MathFn::ALL);
                ExprKind::Call(function, self.exprs(function.arity(), depth))
            }
            13 => {
                let axis = self.random.pick(&Axis::ALL);
                ExprKind::Builtin(self.random.pick(&[
                    Builtin::ThreadIdx(axis),
                    Builtin::BlockIdx(axis),
                    Builtin::BlockDim(axis),
                    Builtin::GridDim(axis),
                    Builtin::ClusterDim(axis),
                    Builtin::LaneId,
                    Builtin::WarpSize,
                    Builtin::ActiveMask,
                    Builtin::DynamicSharedBytes,
                    Builtin::Clock,
                    Builtin::Clock64,
                ]))
            }
            14 => {
                let n = self.random.below(4);
                ExprKind::Make(self.exprs(n, depth))
            }
            15 => ExprKind::Member(self.expr(depth), self.random.below(4) as u32),
            _ => ExprKind::Read(self.place(depth)),
        }
    }

    fn place(&mut self, depth: u32) -> Place {
        let kind = self.place_kind(depth);
        let env = Env { module: &self.module, vars: &self.vars };
        let own = env.place(&kind).unwrap_or(Type::Void);
        let ty = if self.random.below(8) == 0 { self.ty(2) } else { own };
        Place::new(kind, ty, Origin::default())
    }

    fn place_kind(&mut self, depth: u32) -> PlaceKind {
        if let Some(depth) = depth.checked_sub(1) {
            match self.random.below(5) {
                0 => return PlaceKind::Deref(self.expr(depth)),
                1 => {
                    let pointer = self.expr(depth);
                    // An array where a pointer belongs would read as an array place.
                    if !matches!(pointer.ty, Type::Array(..)) {
                        let n = 1 + self.random.below(3);
                        let (index, dims) = (self.exprs(n, depth), self.exprs(n - 1, depth));
                        return PlaceKind::Elem { pointer, index, dims };
                    }
                }
                2 | 3 => {
                    let inner = self.place(depth);
                    match &inner.ty {
                        Type::Array(..) => return PlaceKind::Index(inner, self.expr(depth)),
                        Type::Struct(_) => {
                            return PlaceKind::Field(inner, self.random.below(4) as u32);
                        }
                        Type::Vector(..) => {
                            return PlaceKind::Component(inner, self.random.below(4) as u8);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        match self.module.globals.len() {
            n if n > 0 && self.random.below(4) == 0 => {
                PlaceKind::Global(GlobalId(self.random.below(n) as u32))
            }
            _ => PlaceKind::Var(self.var_id()),
        }
    }

    fn collective(&mut self) -> Collective {
        use BindLevel::{Block, Lane, Warp};
        if self.random.flip() {
            let over = (self.random.pick(&[Block, Warp, Lane]), self.random.pick(&Axis::ALL));
            return Collective::Combine(Combine {
                op: self.random.pick(&[ReduceOp::Add, ReduceOp::Max, ReduceOp::LogicalOr]),
                value: self.var_id(),
                at: self.random.flip().then(|| self.var_id()),
                before: self.random.flip().then(|| self.var_id()),
                slope: self.random.flip().then(|| self.var_id()),
                over: vec![over],
            });
        }
        let n = self.random.below(3);
        Collective::Fill(Fill {
            counters: (0..n).map(|k| (self.var_id(), 1 << k)).collect(),
            destination: self.place(2),
            source: self.expr(2),
            within: self.random.flip().then(|| self.expr(2)),
            vector: self.random.pick(&[1, 4]),
            asynchronous: self.random.flip(),
        })
    }

    fn block(&mut self, depth: u32, functions: usize) -> Block {
        let n = self.random.below(4);
        Block::new((0..n).map(|_| self.stmt(depth, functions)).collect())
    }
}
