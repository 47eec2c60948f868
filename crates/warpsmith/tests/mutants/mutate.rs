//! One small change to a kernel: a barrier deleted or moved, a bound shifted, an index changed by one.

use warpsmith_ir::visit::{Rewriter, rewrite_expr, rewrite_place, rewrite_stmt};
use warpsmith_ir::{
    BarrierKind, BinaryOp, Block, Expr, ExprKind, FunctionKind, Module, Origin, Place, PlaceKind,
    Scalar, Span, Stmt, StmtKind,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    DeleteBarrier,
    /// The barrier changes places with the statement before it.
    MoveBarrierUp,
    /// … with the statement after it.
    MoveBarrierDown,
    /// `<` becomes `<=`, `>=` becomes `>`, and the reverse.
    ShiftBound,
    IndexPlusOne,
    IndexMinusOne,
}

impl Kind {
    pub fn concerns_barrier(self) -> bool {
        matches!(self, Kind::DeleteBarrier | Kind::MoveBarrierUp | Kind::MoveBarrierDown)
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::DeleteBarrier => "delete barrier",
            Kind::MoveBarrierUp => "move barrier up",
            Kind::MoveBarrierDown => "move barrier down",
            Kind::ShiftBound => "shift bound",
            Kind::IndexPlusOne => "index + 1",
            Kind::IndexMinusOne => "index - 1",
        }
    }
}

/// A place where a module can be changed.
#[derive(Clone, Debug)]
pub struct Site {
    pub kind: Kind,
    pub span: Option<Span>,
    number: usize,
}

/// Every possible change of the kernels and device functions, in order of the IR.
pub fn sites(module: &Module) -> Vec<Site> {
    let mut walk = Walk { target: None, count: 0, sites: vec![] };
    walk.module(&mut module.clone());
    walk.sites
}

/// The module with one change made.
pub fn mutate(module: &Module, site: &Site) -> Module {
    let mut mutant = module.clone();
    Walk { target: Some(site.number), count: 0, sites: vec![] }.module(&mut mutant);
    mutant
}

/// Counts sites in a fixed order and changes the one whose number is the target.
struct Walk {
    target: Option<usize>,
    count: usize,
    sites: Vec<Site>,
}

impl Walk {
    fn module(&mut self, module: &mut Module) {
        for function in &mut module.functions {
            if function.kind != FunctionKind::Host {
                self.block(&mut function.body);
            }
        }
    }

    /// Notes a site; true when this is the one to change.
    fn here(&mut self, kind: Kind, origin: &Origin) -> bool {
        self.count += 1;
        self.sites.push(Site { kind, span: origin.span, number: self.count - 1 });
        self.target == Some(self.count - 1)
    }

    fn index(&mut self, index: &mut Expr, origin: &Origin) {
        for (kind, step) in [(Kind::IndexPlusOne, 1), (Kind::IndexMinusOne, -1)] {
            if self.here(kind, origin) {
                let scalar = index.ty.scalar().unwrap_or(Scalar::I32);
                let one = Expr::int(scalar, step);
                *index = Expr::binary(BinaryOp::Add, index.clone(), one);
            }
        }
    }
}

fn is_barrier(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::Barrier { kind: BarrierKind::Block | BarrierKind::Warp, result: None, .. }
    )
}

impl Rewriter for Walk {
    fn block(&mut self, block: &mut Block) {
        let mut i = 0;
        while i < block.stmts.len() {
            if !is_barrier(&block.stmts[i]) {
                self.stmt(&mut block.stmts[i]);
                i += 1;
                continue;
            }
            let origin = block.stmts[i].origin.clone();
            let movable =
                |s: &Stmt| !matches!(s.kind, StmtKind::Decl { init: None, .. }) && !is_barrier(s);
            let up = i > 0 && movable(&block.stmts[i - 1]);
            let down = i + 1 < block.stmts.len()
                && movable(&block.stmts[i + 1])
                && !matches!(
                    block.stmts[i + 1].kind,
                    StmtKind::Break | StmtKind::Continue | StmtKind::Return(_)
                );
            let delete = self.here(Kind::DeleteBarrier, &origin);
            let move_up = up && self.here(Kind::MoveBarrierUp, &origin);
            let move_down = down && self.here(Kind::MoveBarrierDown, &origin);
            if delete {
                block.stmts.remove(i);
                continue;
            }
            if move_up {
                block.stmts.swap(i - 1, i);
            }
            if move_down {
                block.stmts.swap(i, i + 1);
            }
            i += 1;
        }
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        if let StmtKind::For(l) = &mut stmt.kind
            && let Some(shifted) = shifted(l.compare)
        {
            let origin = l.limit.origin.clone();
            if self.here(Kind::ShiftBound, &origin) {
                l.compare = shifted;
            }
        }
        rewrite_stmt(self, stmt);
    }

    fn expr(&mut self, expr: &mut Expr) {
        if let ExprKind::Binary(op, a, _) = &mut *expr.kind
            && a.ty.is_integer()
            && let Some(shifted) = shifted(*op)
        {
            let origin = expr.origin.clone();
            if self.here(Kind::ShiftBound, &origin)
                && let ExprKind::Binary(op, ..) = &mut *expr.kind
            {
                *op = shifted;
            }
        }
        rewrite_expr(self, expr);
    }

    fn place(&mut self, place: &mut Place) {
        let origin = place.origin.clone();
        match &mut *place.kind {
            PlaceKind::Elem { index, .. } => {
                if let Some(last) = index.last_mut() {
                    self.index(last, &origin);
                }
            }
            PlaceKind::Index(_, index) => self.index(index, &origin),
            _ => {}
        }
        rewrite_place(self, place);
    }
}

fn shifted(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Gt,
        _ => return None,
    })
}
