//! Objects that gather lambdas: `template <class... F> struct Overloaded : F... { using F::operator()...; };`. The lambda that
//! fits the arguments best is called, one with a parameter `auto` where no other fits.

use warpsmith_ir::{Span, StructId, Type};

use super::Sema;
use super::convert::USER;
use super::model::*;
use crate::ast;

/// A lambda among the bases of a class.
type Base<'a> = (StructId, &'a ast::LambdaDecl);

impl<'a> Sema<'a> {
    /// Calls one of the lambdas that the object's class is derived from; `None` where none of them fits, or two as well as
    /// each other.
    pub(super) fn call_base_lambda(
        &mut self,
        object: &Operand<'a>,
        class: StructId,
        list: &[Operand<'a>],
        span: Span,
    ) -> Option<Res<Operand<'a>>> {
        let mut fitting = vec![];
        for (base, lambda) in self.lambdas_of(class) {
            if let Some(rank) = self.lambda_rank(base, lambda, list) {
                fitting.push((rank, base, lambda));
            }
        }
        let best = fitting.iter().map(|(rank, ..)| *rank).min()?;
        fitting.retain(|(rank, ..)| *rank == best);
        let [(_, base, lambda)] = fitting.as_slice() else { return None };
        let path = self.base_path(class, *base)?;
        let (place, is_const) = match object.clone() {
            Operand::Place { place, is_const } => (place, is_const),
            other => match self.rvalue_of(other, span) {
                Ok(value) => (self.materialise(value, span), false),
                Err(failure) => return Some(Err(failure)),
            },
        };
        let place = self.base_place(place, &path, &Type::Struct(*base), span);
        let object = Operand::Place { place, is_const };
        Some(self.call_lambda(object, *base, lambda, list.to_vec(), span))
    }

    /// The lambdas that a class is derived from, those of its bases among them.
    fn lambdas_of(&self, class: StructId) -> Vec<Base<'a>> {
        let bases = self.class(class).bases.iter();
        let each = bases.flat_map(|base| match self.class(base.class).lambda {
            Some(lambda) => vec![(base.class, lambda)],
            None => self.lambdas_of(base.class),
        });
        each.collect()
    }

    /// How well arguments fit the parameters, all together; `None` when they do not.
    fn lambda_rank(
        &mut self,
        class: StructId,
        lambda: &'a ast::LambdaDecl,
        list: &[Operand<'a>],
    ) -> Option<u32> {
        if lambda.params.len() != list.len() {
            return None;
        }
        let scope = self.class(class).scope;
        let mut all = 0;
        for (param, arg) in lambda.params.iter().zip(list) {
            all += match super::functions::is_auto(&param.ty) {
                true => USER,
                false => {
                    let q = self.resolve_type(scope, &param.ty).ok()?;
                    self.rank(arg, &q)?
                }
            };
        }
        Some(all)
    }
}
