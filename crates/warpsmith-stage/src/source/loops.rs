//! The loops of a function.

use warpsmith_front::ast::{self, ExprKind, StmtKind};

use super::scope;

/// All loops of a list, of any kind.
pub fn each<'a>(stmts: &'a [ast::Stmt], see: &mut dyn FnMut(&'a ast::Stmt)) {
    for s in stmts {
        match &s.kind {
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::RangeFor { body, .. } => {
                see(s);
                each(std::slice::from_ref(body), see);
            }
            StmtKind::DoWhile { body, cond } => {
                // `do { … } while (0)` is what macros write.
                if !matches!(&*scope::plain(cond).kind, ExprKind::Number(n) if n == "0") {
                    see(s);
                }
                each(std::slice::from_ref(body), see);
            }
            StmtKind::Block(b) => each(&b.stmts, see),
            StmtKind::If { then, otherwise, .. } => {
                each(std::slice::from_ref(then), see);
                otherwise.iter().for_each(|o| each(std::slice::from_ref(o), see));
            }
            _ => {}
        }
    }
}
