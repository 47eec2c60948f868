//! The arrays in shared memory that staged copies go to: static ones, or parts of dynamic shared memory where a block
//! needs more than every architecture gives unasked.

use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, ForLoop, Origin, Place, PlaceKind, Scalar, Space, Stmt, StmtKind,
    Type, Var, VarKind,
};

use crate::analysis::footprint;
use crate::analysis::footprint::DYNAMIC_ALIGN;
use crate::analysis::swizzle;
use crate::build::arithmetic::offset;
use crate::build::counters;
use crate::build::stmts::declare;
use crate::kernel::Nest;
use crate::rewrite::edit::draft::Draft;
use crate::rewrite::register_tile::expansion::Expansion;
use crate::rewrite::register_tile::tile::Tile;
use crate::rewrite::stage::copied::Copy;

impl Draft<'_> {
    pub(crate) fn copies(&mut self, root: &ForLoop, nest: &Nest, tiles: &[Tile]) -> Vec<Copy> {
        let dynamic = footprint::is_dynamic(self.shared_bytes(root, nest));
        let mut copies = vec![];
        for s in &nest.stages {
            // Later steps may have enlarged the tile since the stage was asked for; the check saw to the rest.
            let Ok(footprint) = footprint::of(self.source, root.id, nest, s) else { continue };
            let var = self.scope.host.var(s.array);
            let array = var.name.clone();
            let name = self.scope.fresh_name(&format!("{array}_shared"));
            let element = var.ty.pointee().cloned().unwrap_or(Type::Void);
            let origin = var.origin.by("stage");
            let mut shape = footprint::shared_shape(&footprint, s);
            let strips = s.slots;
            if strips > 1 {
                shape.insert(0, strips.into());
            }
            let ty = shape.iter().rev().fold(element, |ty, n| Type::array(ty, *n));
            let mut extents = self.extents(&footprint, tiles);
            s.layout.order.arrange(&mut extents);
            if let Some(last) = extents.pop() {
                extents.push(offset(last, s.layout.pad.into()));
            }
            if strips > 1 {
                extents.insert(0, self.strips_in_flight(strips));
            }
            let mut shared = match (&ty, dynamic) {
                (Type::Array(first, _), true) => {
                    let pointer = Type::pointer(first.as_ref().clone(), Space::Shared);
                    Var::new(name, pointer, VarKind::Local)
                }
                _ => Var::new(name, ty.clone(), VarKind::Shared),
            };
            if !dynamic {
                shared.align = self.shared_alignment(nest, s);
            }
            shared.origin = origin;
            shared.shape = Some(extents);
            let shared = self.scope.host.add_var(shared);
            let swizzle = swizzle::of(self.source, nest, s, &footprint);
            let swizzle = swizzle.map(|w| (w, self.swizzle_constant(&array, w.period)));
            let reused = footprint.is_reused(nest);
            copies.push(Copy { stage: s.clone(), footprint, shared, ty, swizzle, reused });
        }
        copies
    }

    fn swizzle_constant(&mut self, array: &str, period: u64) -> Expr {
        let period = u32::try_from(period).unwrap_or(u32::MAX);
        self.scope.constant(
            &format!("SWIZZLE_{}", array.to_uppercase()),
            period,
            &format!("ways in which the columns of a tile of `{array}` are permuted"),
        )
    }

    /// Bytes of all copies of a block together.
    pub(crate) fn shared_bytes(&self, root: &ForLoop, nest: &Nest) -> u64 {
        let footprint = |s| footprint::of(self.source, root.id, nest, s).ok();
        let bytes = |s| Some(footprint::copy_bytes(self.source, s, &footprint(s)?));
        nest.stages.iter().filter_map(bytes).fold(0, u64::saturating_add)
    }

    /// The arrays of the copies; the parts of dynamic shared memory lie one behind the other.
    pub(crate) fn shared_declarations(
        &mut self,
        bytes: u64,
        copies: &[Copy],
        origin: &Origin,
    ) -> Vec<Stmt> {
        let dynamic = |c: &Copy| self.scope.host.var(c.shared).kind != VarKind::Shared;
        let mut stmts = vec![];
        if !copies.iter().any(dynamic) {
            for copy in copies {
                let kind = StmtKind::Decl { var: copy.shared, init: None };
                stmts.push(Stmt::new(kind, origin.clone()));
            }
        } else {
            let bytes = Type::array(Type::Scalar(Scalar::U8), bytes);
            let name = self.scope.fresh_name("tiles");
            let mut all = Var::new(name, bytes.clone(), VarKind::DynamicShared);
            all.align = DYNAMIC_ALIGN as u32;
            let all = self.scope.host.add_var(all);
            stmts.push(Stmt::new(StmtKind::Decl { var: all, init: None }, origin.clone()));
            let first = PlaceKind::Index(Place::var(all, bytes), Expr::i32(0));
            let first = Place::new(first, Type::Scalar(Scalar::U8), Origin::default());
            let ty = Type::pointer(Type::Scalar(Scalar::U8), Space::Shared);
            let mut free = Expr::new(ExprKind::AddressOf(first), ty, Origin::default());
            for copy in copies {
                let var = self.scope.host.var(copy.shared);
                let (ty, length) = (var.ty.clone(), var.shape.iter().flatten().next().cloned());
                let mut part = declare(copy.shared, free.cast(ty.clone()));
                part.origin = origin.clone();
                stmts.push(part);
                let own = Expr::var(copy.shared, ty.clone());
                let length = length.unwrap_or_else(|| Expr::i32(1));
                free = Expr::new(ExprKind::PtrOffset(own, length), ty, Origin::default());
            }
        }
        if let Some(first) = stmts.first_mut() {
            let why = match copies.iter().any(|c| c.reused) {
                true => "what the block's threads read several times",
                false => "the block's tile: read along its rows, used in another order",
            };
            first.comment.push(why.into());
            if copies.iter().any(|c| c.swizzle.is_some()) {
                let why = "columns of a tile are permuted from row to row: a column's elements lie in different banks";
                first.comment.push(why.into());
            }
        }
        stmts
    }
}

impl Expansion<'_, '_> {
    /// The element of a copy with these coordinates in the box, in the order and permutation of its layout.
    pub(crate) fn laid_out(&self, at: usize, mut index: Vec<Expr>) -> Place {
        let copy = &self.copies[at];
        copy.stage.layout.order.arrange(&mut index);
        if let (Some((swizzle, period)), [.., row, column]) = (&copy.swizzle, &mut index[..])
            && !counters::is_const(row, 0)
        {
            let ty = column.ty.scalar().unwrap_or(Scalar::I32);
            let number = |n: u64| Expr::int(ty, i64::try_from(n).unwrap_or(1));
            let mut moved = row.clone().cast(Type::Scalar(ty));
            if swizzle.group > 1 {
                moved = Expr::binary(BinaryOp::Div, moved, number(swizzle.group));
            }
            moved = Expr::binary(BinaryOp::Rem, moved, period.clone().cast(Type::Scalar(ty)));
            if swizzle.unit > 1 {
                moved = Expr::binary(BinaryOp::Mul, moved, number(swizzle.unit));
            }
            *column = Expr::binary(BinaryOp::BitXor, column.clone(), moved);
        }
        // Where several strips of a copy are in shared memory, the first subscript says which.
        let strip = copy.stage.strip;
        if let Some(slot) = strip.and_then(|(id, _)| self.strips.slots.get(&id)) {
            index.insert(0, slot.clone());
        }
        self.shared_place(at, index)
    }

    fn shared_place(&self, at: usize, index: Vec<Expr>) -> Place {
        let shared = self.copies[at].shared;
        let ty = self.draft.scope.host.var(shared).ty.clone();
        let mut index = index.into_iter();
        let mut place = match (ty.pointee(), index.len()) {
            (Some(part), 1..) => {
                let pointer = Expr::var(shared, ty.clone());
                let first = index.next().into_iter().collect();
                let kind = PlaceKind::Elem { pointer, index: first, dims: vec![] };
                Place::new(kind, part.clone(), Origin::default())
            }
            _ => Place::var(shared, ty),
        };
        for i in index {
            if let Type::Array(element, _) = place.ty.clone() {
                let kind = PlaceKind::Index(place, i);
                place = Place::new(kind, element.as_ref().clone(), Origin::default());
            }
        }
        place
    }
}
