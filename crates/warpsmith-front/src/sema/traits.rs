//! The value members of `<type_traits>`.

use warpsmith_ir::{Expr, ExprKind, Scalar, Type, Value};

use super::Sema;
use super::model::*;

impl<'a> Sema<'a> {
    /// `std::is_same_v<A, B>` and the like; `None`: no trait that is known.
    pub(crate) fn trait_value(&mut self, name: &str, args: &[TArg]) -> Option<Value> {
        let name = name.strip_prefix("std::").or(name.strip_prefix("cuda::std::"))?;
        let base = name.strip_suffix("::value").or(name.strip_suffix("_v")).unwrap_or(name);
        let is_trait = base.len() < name.len();
        let truth = match args {
            [TArg::Type(t)] if is_trait => self.property(base, t)?,
            [TArg::Type(t)] => match name {
                "integral" => self.property("is_integral", t)?,
                "floating_point" => self.property("is_floating_point", t)?,
                "signed_integral" => {
                    self.property("is_integral", t)? && self.property("is_signed", t)?
                }
                "unsigned_integral" => {
                    self.property("is_integral", t)? && self.property("is_unsigned", t)?
                }
                _ => return None,
            },
            [TArg::Type(a), TArg::Type(b)] => match base {
                "is_same" | "same_as" if is_trait == (base == "is_same") => a == b,
                "is_convertible" if is_trait => self.is_convertible(a, b),
                "convertible_to" if !is_trait => self.is_convertible(a, b),
                "is_base_of" if is_trait => self.is_base_of(&a.ty, &b.ty),
                "derived_from" if !is_trait => self.is_base_of(&b.ty, &a.ty),
                _ => return None,
            },
            _ => return None,
        };
        Some(Value::bool(truth))
    }

    /// A trait of one type.
    fn property(&self, name: &str, t: &QualType) -> Option<bool> {
        let value = !t.is_reference();
        let scalar = t.ty.scalar().filter(|_| value);
        let integer = t.ty.is_integer() && value;
        let real = matches!(scalar, Some(Scalar::F32 | Scalar::F64));
        Some(match name {
            "is_floating_point" => real,
            "is_integral" => integer,
            "is_arithmetic" | "is_fundamental" => integer || real,
            "is_signed" => scalar.is_some_and(|s| s.is_signed() || s.is_float()),
            "is_unsigned" => scalar.is_some_and(|s| s.is_integer() && !s.is_signed()),
            "is_pointer" => t.ty.is_pointer() && value,
            "is_array" => matches!(t.ty, Type::Array(..)) && value,
            "is_reference" => t.is_reference(),
            "is_lvalue_reference" => t.reference == RefKind::Lvalue,
            "is_const" => t.is_const && value,
            "is_void" => t.ty == Type::Void,
            _ => return None,
        })
    }

    fn is_convertible(&mut self, from: &QualType, to: &QualType) -> bool {
        if from.ty == Type::Void || to.ty == Type::Void {
            return from.ty == to.ty;
        }
        let span = self.f_span();
        let value = Expr::new(ExprKind::Make(vec![]), from.ty.clone(), span);
        self.rank(&Operand::Value(value), to).is_some()
    }

    fn is_base_of(&self, base: &Type, derived: &Type) -> bool {
        match (self.is_class(derived), self.is_class(base)) {
            (Some(from), Some(to)) => self.base_path(from, to).is_some(),
            _ => false,
        }
    }
}
