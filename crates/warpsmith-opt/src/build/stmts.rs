//! Small statements and places.

use warpsmith_ir::{Block, Expr, Function, Origin, Place, PlaceKind, Stmt, StmtKind, VarId};

/// `const T var = value;`
pub fn declare(var: VarId, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Decl { var, init: Some(value) }, Origin::default())
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

/// An element of a variable that is an array of one dimension.
pub fn element_of(function: &Function, array: VarId, index: Expr) -> Place {
    let ty = function.var(array).ty.clone();
    let element = ty.innermost().clone();
    let kind = PlaceKind::Index(Place::var(array, ty), index);
    Place::new(kind, element, Origin::default())
}
