//! Variables of an iteration that the workspace keeps between loops.

use warpsmith_ir::{
    Block, Expr, ForLoop, Origin, Place, Scalar, Stmt, StmtKind, Type, Value, Var, VarId, VarKind,
    visit,
};

use crate::kernel::Kernel;
use crate::rewrite::edit::{copy, slots};
use crate::walk;

/// An array of the workspace, with an element or with rows for each iteration of the loops.
pub(super) struct Left {
    var: VarId,
    array: VarId,
    loops: Vec<ForLoop>,
}

impl Left {
    /// In place of a variable, a number or an array of the body.
    pub(super) fn of(kernel: &mut Kernel, loops: &[ForLoop], var: VarId) -> Left {
        let (name, ty) = (kernel.name_of(var).to_string(), kernel.func().var(var).ty.clone());
        let mut extents = slots::extents(kernel, loops);
        let mut element = &ty;
        while let Type::Array(inner, length) = element {
            extents.push(Expr::constant(Value::int(Scalar::I32, *length as i64)));
            element = inner;
        }
        let comment = format!("`{name}` of each iteration");
        let array = kernel.add_scratch(&format!("{name}_left"), element.clone(), extents, comment);
        Left { var, array, loops: loops.to_vec() }
    }

    fn element(&self, kernel: &Kernel, subscripts: Vec<Expr>) -> Place {
        let own = slots::numbers(kernel, &self.loops);
        copy::element(kernel.func(), self.array, own.into_iter().chain(subscripts).collect())
    }

    /// The part that sets the number stores it at its end; one that reads it declares it with what is stored.
    pub(super) fn keep(&self, kernel: &mut Kernel, part: &mut Block) {
        let element = self.element(kernel, vec![]);
        let declared = walk::declared(part).contains(&self.var);
        let var = kernel.func().var(self.var).clone();
        if declared {
            let value = Expr::var(self.var, var.ty);
            let kind = StmtKind::Assign { place: element, value };
            part.stmts.push(Stmt::new(kind, Origin::default().by("distribute")));
        } else if walk::times_mentioned(part, self.var) > 0 {
            let own = Var::new(var.name, var.ty, VarKind::Local);
            let own = kernel.func_mut().add_var(own);
            visit::rename_vars(part, &mut |v| if v == self.var { own } else { v });
            let kind = StmtKind::Decl { var: own, init: Some(Expr::read(element)) };
            declare(part, Stmt::new(kind, Origin::default().by("distribute")), own);
        }
    }

    /// A part uses the elements in the workspace instead of those of the array in its body.
    pub(super) fn move_elements(&self, kernel: &Kernel, part: &mut Block) {
        let declares = |s: &Stmt| matches!(&s.kind, StmtKind::Decl { var, .. } if *var == self.var);
        part.stmts.retain(|s| !declares(s));
        struct Mover<'a>(&'a Left, &'a Kernel);
        impl visit::Rewriter for Mover<'_> {
            fn place(&mut self, place: &mut Place) {
                visit::rewrite_place(self, place);
                if place.root_var() == Some(self.0.var) && matches!(place.ty, Type::Scalar(_)) {
                    let subscripts = walk::subscripts(place).into_iter().cloned().collect();
                    *place = self.0.element(self.1, subscripts);
                }
            }
        }
        visit::rewrite_block(&mut Mover(self, kernel), part);
    }
}

/// Declares a variable where it is used first; in a loop around others, which can then have an axis, if nothing else uses it.
pub(super) fn declare(block: &mut Block, stmt: Stmt, var: VarId) {
    let mentions = |s: &Stmt| walk::times_mentioned(&Block::new(vec![s.clone()]), var) > 0;
    let first = block.stmts.iter().position(mentions).unwrap_or(0);
    let alone = block.stmts.iter().filter(|s| mentions(s)).count() == 1;
    match block.stmts.get_mut(first).map(|s| &mut s.kind) {
        Some(StmtKind::For(l))
            if alone
                && !walk::for_loops(&l.body).is_empty()
                && ![&l.first, &l.limit, &l.step].iter().any(|e| walk::mentions(e, var)) =>
        {
            declare(&mut l.body, stmt, var);
        }
        _ => block.stmts.insert(first, stmt),
    }
}
