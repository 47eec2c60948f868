//! Expressions to registers.

use warpsmith_ir::{
    Axis, BinaryOp, Builtin, Expr, ExprKind, MathFn, Place, PlaceKind, Scalar, Space, Type, UnaryOp,
};

use super::facts;
use super::lir::*;
use super::lower::{Lower, Result, constant};
use super::places::{Addr, PlaceRef};
use super::walk::{self, Node};

/// Expressions with more nodes than this are worth a branch around them.
const CHEAP: u32 = 12;

impl Lower<'_> {
    /// The leaves of an expression's value.
    pub fn value(&mut self, e: &Expr) -> Result<Vec<Opd>> {
        match &*e.kind {
            ExprKind::Read(p) => {
                let site = self.site;
                self.at(p.origin.span.or(e.origin.span));
                let place = self.place(p)?;
                self.at(p.origin.span.or(e.origin.span));
                let values = self.read(&place, &p.ty);
                self.site = site;
                values
            }
            ExprKind::Make(parts) => self.make(e, parts),
            ExprKind::Member(a, i) => self.member(a, *i),
            ExprKind::Select(c, a, b) => self.choose(e, c, a, b),
            ExprKind::Cast(a) if e.ty == a.ty => self.value(a),
            ExprKind::Bitcast(a) => self.reinterpret(e, a),
            _ => Ok(vec![self.scalar_expr(e)?]),
        }
    }

    /// The value of a scalar or pointer expression.
    pub fn scalar(&mut self, e: &Expr) -> Result<Opd> {
        match self.value(e)?.as_slice() {
            [one] => Ok(*one),
            _ => self.unsupported("an aggregate where a scalar is needed"),
        }
    }

    fn ty(&self, e: &Expr) -> Result<Scalar> {
        match register_type(&e.ty) {
            Some(s) => Ok(s),
            None => self.unsupported("an operation on a value that is neither number nor pointer"),
        }
    }

    fn scalar_expr(&mut self, e: &Expr) -> Result<Opd> {
        match &*e.kind {
            ExprKind::Const(v) => Ok(constant(*v)),
            ExprKind::Named(c) => match self.module.constants.get(c.0 as usize) {
                Some(c) => Ok(constant(c.value)),
                None => self.unsupported("a constant that does not exist"),
            },
            ExprKind::AddressOf(_) | ExprKind::PtrOffset(..) => {
                let addr = self.pointer(e)?;
                self.address_value(&addr)
            }
            ExprKind::Unary(op, a) => {
                let ty = self.ty(a)?;
                let a = self.scalar(a)?;
                let op = if ty == Scalar::Bool { UnaryOp::Not } else { *op };
                self.un(op, ty, a)
            }
            ExprKind::Binary(op, a, b) if op.is_logical() => self.logical(*op, a, b),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b),
            ExprKind::PtrDiff(a, b) => {
                let size = self.size_of(a.ty.pointee().unwrap_or(&Type::Void)).max(1);
                let (a, b) = (self.scalar(a)?, self.scalar(b)?);
                let bytes = self.bin(BinaryOp::Sub, Scalar::I64, a, b)?;
                self.bin(BinaryOp::Div, Scalar::I64, bytes, Opd::K(size as u64))
            }
            ExprKind::Cast(a) => {
                let (from, to) = (self.ty(a)?, self.ty(e)?);
                let a = self.scalar(a)?;
                self.cast(from, to, a)
            }
            ExprKind::Call(f, args) => self.call_math(e, *f, args),
            ExprKind::Builtin(b) => self.builtin(*b),
            _ => self.unsupported("an expression of this kind"),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<Opd> {
        let (ty, count_ty) = (self.ty(a)?, self.ty(b)?);
        if op == BinaryOp::Add && matches!(ty, Scalar::F32 | Scalar::F64) {
            if let ExprKind::Binary(BinaryOp::Mul, x, y) = &*b.kind {
                let c = self.scalar(a)?;
                return self.sum_of_product(ty, x, y, c);
            }
            if let ExprKind::Binary(BinaryOp::Mul, x, y) = &*a.kind
                && is_quiet(b)
            {
                let c = self.scalar(b)?;
                return self.sum_of_product(ty, x, y, c);
            }
        }
        let a = self.scalar(a)?;
        let b = self.scalar(b)?;
        self.bin_counted(op, ty, a, b, count_ty)
    }

    /// `x * y + c`, rounded after the product and after the sum.
    fn sum_of_product(&mut self, ty: Scalar, x: &Expr, y: &Expr, c: Opd) -> Result<Opd> {
        let (x, y) = (self.scalar(x)?, self.scalar(y)?);
        if matches!((x, y), (Opd::K(_), Opd::K(_))) {
            let product = self.bin(BinaryOp::Mul, ty, x, y)?;
            return self.bin(BinaryOp::Add, ty, c, product);
        }
        self.mul_add(ty, x, y, c)
    }

    /// `a && b`, `a || b`: the right side runs only where it decides.
    fn logical(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Result<Opd> {
        let left = self.scalar(a)?;
        let and = op == BinaryOp::LogicalAnd;
        if let Opd::K(k) = left {
            return if (k != 0) == and { self.scalar(b) } else { Ok(Opd::K(u64::from(!and))) };
        }
        if self.is_free(b) {
            let right = self.unasked(|l| l.scalar(b))?;
            let op = if and { BinaryOp::BitAnd } else { BinaryOp::BitOr };
            return self.bin(op, Scalar::Bool, left, right);
        }
        let result = self.register(Scalar::Bool);
        self.emit(Op::Mov { ty: Scalar::Bool, dst: result, a: left })?;
        let end = self.label();
        let branch = if and {
            Op::BranchFalse { cond: left, label: end }
        } else {
            Op::BranchTrue { cond: left, label: end }
        };
        self.emit(branch)?;
        self.enter(vec![left], 0);
        let right = self.scalar(b)?;
        self.assign(Scalar::Bool, result, right)?;
        self.leave();
        self.emit(Op::Label(end))?;
        Ok(result)
    }

    /// It may be computed where it is not needed: that is cheap, and nothing is computed from a variable that holds nothing there.
    fn is_free(&self, e: &Expr) -> bool {
        let read = matches!(&*e.kind, ExprKind::Read(_));
        let unset = || {
            let facts = self.facts.get(self.frame().id);
            facts.is_some_and(|f| facts::mentions(e, &f.unset))
        };
        is_cheap(e) && (read || !unset())
    }

    /// Computes what threads may not have asked for: nothing that is wrong there is a mistake.
    fn unasked<T>(&mut self, compute: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.speculates, true);
        let computed = compute(self);
        self.speculates = before;
        computed
    }

    /// `c ? a : b`: each arm runs only where it is chosen, unless it is free to compute both.
    fn choose(&mut self, e: &Expr, c: &Expr, a: &Expr, b: &Expr) -> Result<Vec<Opd>> {
        let cond = self.scalar(c)?;
        self.decide(e.origin.span, cond)?;
        if let Opd::K(k) = cond {
            return self.value(if k != 0 { a } else { b });
        }
        let Some(leaves) = self.leaves(&e.ty) else {
            return self.unsupported("a conditional value of this size");
        };
        if self.is_free(a) && self.is_free(b) {
            let (x, y) = (self.unasked(|l| l.value(a))?, self.unasked(|l| l.value(b))?);
            let mut out = vec![];
            for ((l, x), y) in leaves.iter().zip(x).zip(y) {
                out.push(self.select(l.ty, cond, x, y)?);
            }
            return Ok(out);
        }
        let result: Vec<Opd> = leaves.iter().map(|l| self.register(l.ty)).collect();
        let place = PlaceRef::Registers(result.clone());
        let (otherwise, end) = (self.label(), self.label());
        self.branches += 1;
        let branch = self.branches;
        self.emit(Op::BranchFalse { cond, label: otherwise })?;
        self.enter(vec![cond], branch);
        let x = self.value(a)?;
        self.write(&place, &e.ty, &x)?;
        self.emit(Op::Jump(end))?;
        self.leave();
        self.emit(Op::Label(otherwise))?;
        self.enter(vec![cond], branch);
        let y = self.value(b)?;
        self.write(&place, &e.ty, &y)?;
        self.leave();
        self.emit(Op::Label(end))?;
        Ok(result)
    }

    fn make(&mut self, e: &Expr, parts: &[Expr]) -> Result<Vec<Opd>> {
        if super::values::has_overlap(self.module, &e.ty) {
            return self.make_union(e, parts);
        }
        let mut out = vec![];
        for p in parts {
            out.extend(self.value(p)?);
        }
        Ok(out)
    }

    /// A union from its first parts, by way of memory.
    fn make_union(&mut self, e: &Expr, parts: &[Expr]) -> Result<Vec<Opd>> {
        let pointer = self.local_object("(union)", &e.ty)?;
        for (i, p) in parts.iter().enumerate() {
            let v = self.value(p)?;
            let at = self.union_field(pointer, &e.ty, i as u32)?;
            self.write(&PlaceRef::Memory(at), &p.ty, &v)?;
        }
        self.read(&PlaceRef::Memory(Addr::constant(pointer, Space::Local)), &e.ty)
    }

    fn union_field(&self, pointer: u64, ty: &Type, field: u32) -> Result<Addr> {
        let offset = match ty {
            Type::Struct(id) => warpsmith_ir::layout::field_of(self.module, *id, field),
            _ => None,
        };
        match offset {
            Some((offset, _)) => {
                let mut a = Addr::constant(pointer, Space::Local);
                a.disp = offset as i64;
                Ok(a)
            }
            None => self.unsupported("a field that its struct does not have"),
        }
    }

    fn member(&mut self, a: &Expr, i: u32) -> Result<Vec<Opd>> {
        if let ExprKind::Read(p) = &*a.kind {
            // Read only the part: `v.x` of a vector in memory moves one component.
            return self.read_part(a, p, i);
        }
        let values = self.value(a)?;
        let (start, n) = match &a.ty {
            Type::Struct(id) => {
                if super::values::has_overlap(self.module, &a.ty) {
                    let pointer = self.local_object("(union)", &a.ty)?;
                    let whole = PlaceRef::Memory(Addr::constant(pointer, Space::Local));
                    self.write(&whole, &a.ty, &values)?;
                    let at = self.union_field(pointer, &a.ty, i)?;
                    let ty = warpsmith_ir::layout::field_of(self.module, *id, i)
                        .map_or(Type::Void, |f| f.1.clone());
                    return self.read(&PlaceRef::Memory(at), &ty);
                }
                let def = self.module.structs.get(id.0 as usize);
                let ty = def.and_then(|d| d.fields.get(i as usize)).map(|f| f.ty.clone());
                let n = ty.map_or(0, |t| super::values::leaf_count(self.module, &t));
                (self.field_start(*id, i), n)
            }
            Type::Vector(..) => (i as usize, 1),
            _ => return self.unsupported("a member of something that has none"),
        };
        match values.get(start..start + n) {
            Some(part) => Ok(part.to_vec()),
            None => self.unsupported("a member that its value does not have"),
        }
    }

    fn read_part(&mut self, a: &Expr, p: &Place, i: u32) -> Result<Vec<Opd>> {
        let (kind, ty) = match &p.ty {
            Type::Struct(id) => {
                let Some((_, ty)) = warpsmith_ir::layout::field_of(self.module, *id, i) else {
                    return self.unsupported("a field that its struct does not have");
                };
                (PlaceKind::Field(p.clone(), i), ty.clone())
            }
            Type::Vector(s, _) => (PlaceKind::Component(p.clone(), i as u8), Type::Scalar(*s)),
            _ => return self.unsupported("a member of something that has none"),
        };
        let origin = if p.origin.span.is_some() { p.origin.clone() } else { a.origin.clone() };
        let part = Place::new(kind, ty.clone(), origin.clone());
        self.value(&Expr::new(ExprKind::Read(part), ty, origin))
    }

    fn reinterpret(&mut self, e: &Expr, a: &Expr) -> Result<Vec<Opd>> {
        if let (Some(from), Some(to)) = (register_type(&a.ty), register_type(&e.ty)) {
            let v = self.scalar(a)?;
            return Ok(vec![self.bitcast(from, to, v)?]);
        }
        // Aggregates go by way of memory, where only bytes count.
        let values = self.value(a)?;
        let larger = if self.size_of(&a.ty) >= self.size_of(&e.ty) { &a.ty } else { &e.ty };
        let pointer = self.local_object("(bits)", larger)?;
        let place = PlaceRef::Memory(Addr::constant(pointer, Space::Local));
        self.write(&place, &a.ty, &values)?;
        self.read(&place, &e.ty)
    }

    fn call_math(&mut self, e: &Expr, f: MathFn, args: &[Expr]) -> Result<Opd> {
        let Some(first) = args.first() else {
            return self.unsupported("a function without operands");
        };
        let (ty, result) = (self.ty(first)?, self.ty(e)?);
        let mut operands = [Opd::K(0); 3];
        for (slot, a) in operands.iter_mut().zip(args) {
            *slot = self.scalar(a)?;
        }
        if let MathFn::MapShared | MathFn::SharedRank = f {
            let [pointer, rank, _] = operands;
            return self.in_cluster(pointer, (f == MathFn::MapShared).then_some(rank));
        }
        let natural = warpsmith_ir::eval::math_result(f, ty);
        let v = self.math(f, ty, natural, operands)?;
        self.cast(natural, result, v)
    }

    fn builtin(&mut self, b: Builtin) -> Result<Opd> {
        let dims = |v: [u32; 3], a: Axis| Ok(Opd::K(v[a.index()].into()));
        match b {
            Builtin::BlockDim(a) => dims(self.launch.block, a),
            Builtin::GridDim(a) => dims(self.launch.grid, a),
            Builtin::ClusterDim(a) => dims(self.out.cluster, a),
            Builtin::WarpSize => Ok(Opd::K(32)),
            Builtin::DynamicSharedBytes => Ok(Opd::K(self.launch.dynamic_shared.into())),
            Builtin::ThreadIdx(a) if self.launch.block[a.index()] == 1 => Ok(Opd::K(0)),
            Builtin::BlockIdx(a) if self.launch.grid[a.index()] == 1 => Ok(Opd::K(0)),
            Builtin::ThreadIdx(a) => self.special(Special::ThreadIdx(a), Scalar::U32),
            Builtin::BlockIdx(a) => self.special(Special::BlockIdx(a), Scalar::U32),
            Builtin::LaneId => self.special(Special::Lane, Scalar::U32),
            Builtin::ActiveMask => self.special(Special::ActiveMask, Scalar::U32),
            Builtin::Clock => {
                let wide = self.special(Special::Clock, Scalar::U64)?;
                self.cast(Scalar::U64, Scalar::U32, wide)
            }
            Builtin::Clock64 => self.special(Special::Clock, Scalar::U64),
        }
    }
}

/// Evaluating it where it is not needed changes nothing and costs little: no memory is read.
fn is_cheap(e: &Expr) -> bool {
    let mut nodes = 0;
    let mut pure = true;
    walk::expr(e, &mut |n| {
        nodes += 1;
        match n {
            Node::Place(p, _) => {
                pure &= matches!(&*p.kind, PlaceKind::Var(_)) && !p.ty.is_aggregate()
            }
            Node::Expr(e) => match &*e.kind {
                ExprKind::Binary(op, a, b) => {
                    let costly = match op {
                        BinaryOp::Div | BinaryOp::Rem => true,
                        // A count that is no constant may be one that has no result.
                        BinaryOp::Shl | BinaryOp::Shr => b.as_const().is_none(),
                        _ => false,
                    };
                    pure &= !(op.is_logical() || costly && a.ty.is_integer());
                }
                ExprKind::Select(..) | ExprKind::AddressOf(_) => pure = false,
                ExprKind::Call(..) => nodes += CHEAP,
                _ => {}
            },
            Node::Stmt(_) => {}
        }
    });
    pure && nodes <= CHEAP
}

/// Reads no memory, so it may be evaluated before its left neighbour.
fn is_quiet(e: &Expr) -> bool {
    let mut quiet = true;
    walk::expr(e, &mut |n| {
        if let Node::Place(p, _) = n {
            quiet &= p.root_var().is_some();
        }
        if let Node::Expr(e) = n {
            quiet &= !matches!(&*e.kind, ExprKind::Select(..))
                && !matches!(&*e.kind, ExprKind::Binary(op, ..) if op.is_logical());
        }
    });
    quiet
}
