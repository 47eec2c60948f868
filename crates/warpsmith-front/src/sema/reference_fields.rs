//! Members that are references, in lists of first values: they are bound to what stands there.

use warpsmith_ir::{Expr, Span, Type};

use super::Sema;
use super::init::Entry;
use super::model::*;
use crate::ast::Initializer;

impl<'a> Sema<'a> {
    /// The member at a place of an aggregate, where it is a reference.
    pub(super) fn reference_field(&self, ty: &Type, index: u64) -> Option<FieldInfo<'a>> {
        let class = self.is_class(ty)?;
        let fields = &self.class(class).fields;
        let found = fields.iter().find(|f| u64::from(f.index) == index && f.ty.is_reference());
        found.cloned()
    }

    /// What such a member holds, from an entry of the list.
    pub(super) fn bound_to_entry(
        &mut self,
        field: &FieldInfo<'a>,
        entry: Option<Entry<'a>>,
        span: Span,
    ) -> Res<Expr> {
        let operand = match entry {
            None => None,
            Some(Entry::Ready(operand, _)) => Some(operand),
            Some(Entry::Source(item)) => match &item.value {
                Initializer::Expr(e) => Some(self.expr(e)?),
                Initializer::List(items, _) => Some(Operand::List(items)),
                Initializer::Call(_, at) => {
                    return fail("W075", *at, "this is not understood in a list");
                }
            },
        };
        self.bound(field, operand, span)
    }

    /// What a member that is a reference holds: where the operand is.
    pub(super) fn bound(
        &mut self,
        field: &FieldInfo<'a>,
        to: Option<Operand<'a>>,
        span: Span,
    ) -> Res<Expr> {
        match to {
            Some(operand) => self.pass(operand, &field.ty, span),
            None => fail(
                "W063",
                span,
                format!("the reference `{}` needs something to refer to", field.name),
            ),
        }
    }
}
