//! What the stand-ins of captured streams (`prelude/graphs.cuh`) are made of.

use warpsmith_ir::{Expr, Place, PlaceKind, Runtime, Span, StmtKind, Type};

use super::Sema;
use super::model::*;
use crate::ast;

impl<'a> Sema<'a> {
    /// From here on what streams are asked for is noted, or done; how many have been noted so far.
    pub(crate) fn note_streams(&mut self, on: bool, span: Span) -> Operand<'a> {
        let temp = self.new_temp(Type::U64, span);
        let noted = Place::new(PlaceKind::Var(temp), Type::U64, span);
        self.emit(StmtKind::Runtime(Runtime::Capture { on, noted: noted.clone() }), span);
        Operand::Value(Expr::read(noted).with_origin(span))
    }

    /// Does what was noted under this number.
    pub(crate) fn replay_note(&mut self, at: &'a ast::Expr, span: Span) -> Res<Operand<'a>> {
        let at = self.rvalue(at)?;
        let noted = self.convert_to(at, &Type::U64, span)?;
        self.emit(StmtKind::Runtime(Runtime::Replay { noted }), span);
        Ok(Operand::Value(Expr::i32(0).with_origin(span)))
    }
}
