//! What the launcher asks of its arrays and of the ranges of loops before it launches anything.

use warpsmith_ir::poly::Poly;
use warpsmith_ir::{
    BinaryOp, Expr, ExprKind, ForLoop, LoopId, MathFn, Origin, Scalar, Stmt, StmtKind, Type, VarId,
};

use super::Lowering;
use crate::assumption::Assumption;
use crate::build::conditions::all_of;
use crate::build::{counters, trips};
use crate::sizes;

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

    /// Whether threads of all iterations have numbers of the counter's type.
    pub(super) fn asked_of_loops(&self) -> Vec<Stmt> {
        let mut asked: Vec<Stmt> = vec![];
        for (l, cond) in self.ranges() {
            let name = &self.source.func().var(l.var).name;
            let text = format!("the loop over `{name}` has less than 2^31 iterations");
            let why = "iterations are numbered in 32 bits".into();
            let of = |s: &Stmt| matches!(&s.kind, StmtKind::Assume { cond: c, .. } if *c == cond);
            if !asked.iter().any(of) {
                asked.push(ask(cond, text, why));
            }
        }
        asked
    }

    /// What header and result say about them: they are asked for, or only an earlier statement of the launcher knows their bounds.
    pub(super) fn said_of_loops(&self) -> Vec<Assumption> {
        let asked: Vec<LoopId> = self.ranges().into_iter().map(|(l, _)| l.id).collect();
        let open = self.wide_loops().any(|l| !asked.contains(&l.id));
        let said = [(!asked.is_empty(), true), (open, false)].into_iter();
        said.filter(|(there, _)| *there).map(|(_, asked)| Assumption::LoopRange { asked }).collect()
    }

    /// Loops of which that is not known.
    fn wide_loops(&self) -> impl Iterator<Item = &ForLoop> {
        let function = self.source.func();
        let loops = self.nests.loops().into_iter().filter_map(|id| self.source.find_loop(id));
        loops.filter(|l| !counters::count_fits(function, l) && !self.source.goes_on(l))
    }

    /// Those whose bounds the sizes tell, with the conditions.
    fn ranges(&self) -> Vec<(&ForLoop, Expr)> {
        let function = self.source.func();
        let known =
            |l: &&ForLoop| [&l.first, &l.limit].into_iter().all(|e| self.source.known_at_start(e));
        let range = |l| {
            let cond = trips::range_fits(function, l)?;
            Some((l, sizes::over_parameters(function, &cond)))
        };
        self.wide_loops().filter(known).filter_map(range).collect()
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
    pub(super) fn count(&self, extent: &Expr) -> Expr {
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
