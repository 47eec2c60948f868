//! Small statements and places.

use warpsmith_ir::{
    Axis, BarrierKind, BinaryOp, BindLevel, Binding, Block, Expr, ForLoop, Function, LoopKind,
    Origin, Place, PlaceKind, Stmt, StmtKind, Type, Var, VarId, VarKind,
};

/// `const T var = value;`
pub fn declare(var: VarId, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Decl { var, init: Some(value) }, Origin::default())
}

/// `T var;`
pub fn undefined(var: VarId) -> Stmt {
    Stmt::new(StmtKind::Decl { var, init: None }, Origin::default())
}

/// `place = value;`
pub fn set(place: Place, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Assign { place, value }, Origin::default())
}

/// `if (cond) { … }`
pub fn when(cond: Expr, stmts: Vec<Stmt>) -> Stmt {
    let then = Block::new(stmts);
    let kind = StmtKind::If { cond, then, otherwise: Block::default() };
    Stmt::new(kind, Origin::default())
}

/// `__syncthreads()` with the reason for it.
pub fn barrier(why: &str) -> Stmt {
    let kind = StmtKind::Barrier { kind: BarrierKind::Block, operand: None, result: None };
    Stmt::new(kind, Origin::default()).comment(why)
}

/// An element of a variable that is an array of one dimension.
pub fn element_of(function: &Function, array: VarId, index: Expr) -> Place {
    let ty = function.var(array).ty.clone();
    let element = ty.innermost().clone();
    let kind = PlaceKind::Index(Place::var(array, ty), index);
    Place::new(kind, element, Origin::default())
}

/// An element of a variable that is an array of several dimensions.
pub fn element_at(function: &Function, array: VarId, at: impl IntoIterator<Item = Expr>) -> Place {
    let mut place = Place::var(array, function.var(array).ty.clone());
    for i in at {
        if let Type::Array(inner, _) = place.ty.clone() {
            let kind = PlaceKind::Index(place, i);
            place = Place::new(kind, inner.as_ref().clone(), Origin::default());
        }
    }
    place
}

/// A new variable of a thread.
pub fn local(function: &mut Function, name: &str, ty: Type) -> VarId {
    function.add_var(Var::new(name, ty, VarKind::Local))
}

/// A loop as a statement.
pub fn looped(l: ForLoop) -> Stmt {
    Stmt::new(StmtKind::For(l), Origin::default())
}

/// `for (int var = 0; var < limit; ++var) { … }`
pub fn counted(
    function: &mut Function,
    var: VarId,
    limit: Expr,
    kind: LoopKind,
    body: Vec<Stmt>,
) -> ForLoop {
    let (id, body) = (function.fresh_loop(), Block::new(body));
    let (first, step) = (Expr::i32(0), Expr::i32(1));
    ForLoop { id, var, declares: true, first, compare: BinaryOp::Lt, limit, step, kind, body }
}

/// The same for so many iterations, written out.
pub fn unrolled(function: &mut Function, var: VarId, count: u32, body: Vec<Stmt>) -> Stmt {
    let limit = Expr::i32(count as i32);
    looped(counted(function, var, limit, LoopKind::Unrolled(None), body))
}

/// The same for members of the machine; `extent` is their number, where it is fixed.
pub fn bound(
    function: &mut Function,
    var: VarId,
    (level, axis): (BindLevel, Axis),
    extent: Option<u32>,
    limit: Expr,
    body: Vec<Stmt>,
) -> ForLoop {
    counted(function, var, limit, LoopKind::Bound(Binding { level, axis, extent }), body)
}
