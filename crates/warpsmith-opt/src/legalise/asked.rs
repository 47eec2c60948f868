//! What the launcher asks of its arrays before it launches anything.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{BinaryOp, Expr, ExprKind, MathFn, Origin, Scalar, Stmt, StmtKind, Type, VarId};

use super::Lowering;
use crate::assumption::Assumption;
use crate::build::conditions::all_of;

impl Lowering<'_> {
    /// The questions.
    pub(super) fn asked_of_arrays(&self) -> Vec<Stmt> {
        let aligned = self.moved_arrays().into_iter().map(|(array, bytes)| {
            let address = self.address(array);
            let number = |n: u64| Expr::int(Scalar::U64, n as i64);
            let rest = Expr::binary(BinaryOp::Rem, address, number(bytes));
            let cond = Expr::binary(BinaryOp::Eq, rest, number(0));
            let text = format!("`{}` begins at a multiple of {bytes} bytes", self.name(array));
            ask(cond, text, "one access moves a whole structure".into())
        });
        let there = self.not_null().map(|array| {
            let cond = Expr::binary(BinaryOp::Ne, self.address(array), Expr::int(Scalar::U64, 0));
            let text = format!("`{}` is not null", self.name(array));
            ask(cond, text, "the kernels do not ask whether it is there".into())
        });
        let narrow = self.narrow().into_iter().map(|(array, cond)| {
            let name = self.name(array);
            let why = format!("subscripts of `{name}` are `unsigned` in C: more would wrap around");
            ask(cond, format!("`{name}` has at most 2^32 elements"), why)
        });
        aligned.chain(there).chain(narrow).collect()
    }

    /// What header and result say about them.
    pub(super) fn said_of_arrays(&self) -> Vec<Assumption> {
        let named = |a| self.name(a).to_string();
        let there = self.not_null().map(|a| Assumption::NotNull { array: named(a) });
        let narrow = self.narrow().into_iter();
        let narrow = narrow.map(|(a, _)| Assumption::FewElements { array: named(a) });
        let moved = self.moved_arrays().into_iter();
        let aligned = moved.map(|(a, bytes)| Assumption::Aligned { array: named(a), bytes });
        there.chain(narrow).chain(aligned).collect()
    }

    fn name(&self, array: VarId) -> &str {
        &self.scope.host.var(array).name
    }

    fn address(&self, array: VarId) -> Expr {
        Expr::var(array, self.scope.host.var(array).ty.clone()).cast(Type::U64)
    }

    /// Arrays of the launcher whose structures [`Lowering::align_structs`] moved, with the bytes.
    fn moved_arrays(&self) -> Vec<(VarId, u64)> {
        let aligned = self.scope.host.params.iter().filter_map(|p| {
            let Some(Type::Struct(id)) = self.scope.host.var(*p).ty.pointee() else { return None };
            let now = self.scope.module.structs.get(id.0 as usize)?.align;
            let before = self.source.module.structs.get(id.0 as usize)?.align;
            (now != before).then_some((*p, now))
        });
        aligned.collect()
    }

    /// An extent in 64 bits; a negative one is none.
    fn count(&self, extent: &Expr) -> Expr {
        let signed = extent.ty.scalar().is_some_and(Scalar::is_signed);
        let ty = if signed { Scalar::I64 } else { Scalar::U64 };
        let own = |v: VarId| self.scope.host.var(v).ty.scalar().unwrap_or(ty);
        // The factors of a product are widened, not the product.
        let poly = Poly::from_expr(extent);
        let wide = match poly {
            Some(p) => p.to_expr(ty, &own),
            None => extent.clone().cast(Type::Scalar(ty)),
        };
        if !signed || extent.as_const().is_some() {
            return wide.cast(Type::U64);
        }
        let kind = ExprKind::Call(MathFn::Max, vec![wide, Expr::int(Scalar::I64, 0)]);
        Expr::new(kind, Type::I64, Origin::default()).cast(Type::U64)
    }

    /// Arrays that callers must pass.
    fn not_null(&self) -> impl Iterator<Item = VarId> + use<'_> {
        self.scope.host.params.iter().copied().filter(|p| self.scope.host.var(*p).not_null)
    }

    /// Arrays that may have up to 2³² elements, and the condition for that: of products of ever more extents, so that
    /// none leaves 64 bits where those before it are small enough.
    fn narrow(&self) -> Vec<(VarId, Expr)> {
        let condition = |array: VarId| {
            let shape = self.scope.host.var(array).shape.as_deref().unwrap_or_default();
            let mut product: Option<Expr> = None;
            let mut few = vec![];
            for extent in shape {
                let extent = self.count(extent);
                let all = match product {
                    Some(before) => Expr::binary(BinaryOp::Mul, before, extent),
                    None => extent,
                };
                product = Some(all.clone());
                // A number of 32 bits is none too many.
                if !matches!(&*all.kind, ExprKind::Cast(e) if matches!(&*e.kind, ExprKind::Read(_)))
                {
                    few.push(Expr::binary(BinaryOp::Le, all, Expr::int(Scalar::U64, 1 << 32)));
                }
            }
            let cond = all_of(few);
            cond.map(|cond| (array, cond))
        };
        let params = self.scope.host.params.iter().copied();
        params.filter(|p| self.scope.host.var(*p).narrow).filter_map(condition).collect()
    }
}

fn ask(cond: Expr, text: String, why: String) -> Stmt {
    Stmt::new(StmtKind::Assume { cond, text }, Origin::default()).comment(why)
}
